"""Guards on how far a rule goes: conditions, exceptions, whom it describes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

from responsa.answer.verified import words as lex
from responsa.answer.verified.figures import figures_of
from responsa.answer.verified.units import Cited, Unit, spelled
from responsa.answer.verified.who import subject
from responsa.text import normalise

_EXCEPTION = re.compile(
    r"\b(?:unless|except(?: where| when| if| for| on| that)?|other than|save(?: where| as| for)?|provided that|"
    r"(?:(?<=, )|\A)provided(?= (?:it|they|he|she|the|this|these|such|an?)\b)|"
    r"only (?:if|where|when|after|once|with|within|on|for|to|in)|(?<!\bbe )(?<!\bis )(?<!\bare )subject to|"
    r"(?<!kept )(?<!keep )(?<!held )(?<!stored )(?<!set )apart from|"
    r"with the exception of|on (?:the )?condition that)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?<!only )(?<!even )(?:if|where|when(?! and how\b)|whenever|while (?=it|they|the|an?\b)|"
    r"once(?! (?:every|an?|per|each|in|by|only|more)\b)|"
    r"to the extent|in the event(?: of| that)|in cases?(?: of)?|as long as)\b",
    re.IGNORECASE,
)
_RELATIVE = re.compile(
    r"\b(?:that|which|who|whose|with|without|below|above|of (?:less|more|fewer)|under|"
    r"\w+ed (?:in|by|under|to|for|on|before|after|with|at)|"
    r"(?<=\w\s)\w{3,}ing (?:an?|any|at|by|for|from|in|its|less|more|on|the|to|under|with))\b",
    re.I,
)
_STOPS = re.compile(r"[,;:.]\s|[.;]\Z|,\Z|\b(?:shall|must|may)\b|\band (?=when\b)|\bor (?=(?:when|where|if)\b)")
_HELD = 0.34
_SLACK = 0.35


class _Tail(NamedTuple):
    """What a condition or an exception says. ``rest`` is what it limits, where that is only what follows it, and
    ``others`` are the conditions that are as good, joined to it by "or"."""

    word: str
    clause: str
    joined: bool
    rest: str
    others: tuple[str, ...]


_OR = re.compile(r"\W*or\b(?! (?:more|less|fewer)\b)(?: (?:if|where|when))?([^,;.]+)")
_JOINED = re.compile(r"\b(and|or),?(?: in addition| also| further| again)?\s*\Z")


def _tails(text: str, marker: re.Pattern[str]) -> Iterator[_Tail]:
    last = 0
    for match in marker.finditer(text):
        stop = _STOPS.search(text, match.end())
        end = stop.start() if stop else len(text)
        joined = _JOINED.search(text[: match.start()])
        after = _OR.match(text, end)
        others = [after[1]] if after else []
        others += _chained(match, text, end)
        if joined and joined[1] == "or" and last:
            others.append(text[last : joined.start()])
        rest = text[end:].split(".")[0] if joined else ""
        yield _Tail(match[0], text[match.end() : end], joined is not None, rest, tuple(others))
        last = match.end()


_ENDS = re.compile(r"[.;](?:\s|\Z)")
_BETWEEN = re.compile(r",\s(?:(?:and|or)\s)?|\s(?:and|or)\s")
_LAST = re.compile(r"\s(and|or)\s(?!\w+\Z)")


def _chained(marker: re.Match[str], text: str, end: int) -> list[str]:
    """What else a condition at a sentence's end lists: "may refuse if A, B or C". Each is as good where "or" joins
    them, and after "only" each may be told alone."""
    stop = _ENDS.search(text, end)
    rest = text[end : stop.start() if stop else len(text)]
    before = text[: marker.start()].rpartition(". ")[2]
    joins = {found[1] for found in _LAST.finditer(rest)}
    if not joins or not lex.modals(before) or lex.modals(rest):
        return []
    if not marker[0].lower().startswith("only") and (joins != {"or"} or marker.re is _EXCEPTION):
        return []
    return [part for part in _BETWEEN.split(rest) if part.strip()]


_BOTH = re.compile(r"\b(?:and|after having|after)\b")


def limits(text: str, cited: Cited) -> str:
    """A condition or an exception of the rule that the sentence does not have."""
    words = frozenset(lex.content(text))
    limited = _EXCEPTION.search(text) is not None
    for unit in _ruling(text, cited):
        for marker, name in ((_EXCEPTION, "exception"), (_CONDITION, "condition")):
            for found, clause, joined, rest, others in _tails(spelled(normalise(unit.text)), marker):
                if joined and (not lex.content(rest) or lex.share(lex.content(rest), words) < 0.5):
                    continue
                own = lex.content(clause)
                if name == "condition" and _aside(clause):
                    continue
                if (name == "condition" or found.lower().startswith("only")) and any(
                    _told(other, words) for other in others
                ):
                    continue
                lost = {each for other, each in figures_of(clause) if other.value != 1} - {
                    each for _, each in figures_of(text)
                }
                if not lost and _same_head(found, own, text):
                    continue
                if (
                    own
                    and lex.share(own, words) >= _HELD
                    and not lost
                    and _kept(name, found, own, text, normalise(unit.text))
                ):
                    if name == "exception" and _turned(text):
                        return f"the exception {found!r} of the text cited is lost"
                    continue
                if not own and not lost:
                    continue
                if name == "condition" and limited and not lex.content(clause):
                    continue
                if _elsewhere(text, unit, clause):
                    continue
                return f"the {name} {(found + clause).strip()!r} of the text cited is left out"
    return ""


_ASIDE = re.compile(r"\s*(?:applicable|appropriate|relevant|possible)\s*\Z|:|.*=")


def _aside(clause: str) -> bool:
    """Whether a clause limits nothing: "where applicable", or what the letters of a formula stand for."""
    return _ASIDE.match(clause) is not None


def _told(clause: str, words: frozenset[str]) -> bool:
    """Whether most of what a clause says is among the words of a sentence."""
    own = lex.content(clause)
    return bool(own) and lex.share(own, words) >= 0.6


def halved(text: str, cited: Cited) -> str:
    """One of two conditions, joined by "and" or by "after", without the other."""
    words = frozenset(lex.content(text))
    for unit in _ruling(text, cited):
        for marker in (_EXCEPTION, _CONDITION):
            for found, clause, joined, _, _ in _tails(normalise(unit.text), marker):
                first, *others = _BOTH.split(clause)
                if joined or not others or lex.share(lex.content(first), words) < 0.6:
                    continue
                for other in others:
                    own = lex.content(other)
                    if len(own) > 1 and lex.share(own, words) <= 0.25:
                        return f"of the condition {(found + clause).strip()!r} the text cited has more"
    return ""


def _kept(name: str, found: str, own: tuple[str, ...], text: str, source: str) -> bool:
    """Whether a sentence that holds words of a condition or an exception holds it as such."""
    if found.lower().startswith("only") or (lex.share(own, frozenset(lex.content(text))) >= 1 and name == "condition"):
        return True
    if (
        _CONDITION.search(text)
        or _EXCEPTION.search(text)
        or re.search(r"\b(?:only|requires?|needs?|whose|with|until|but (?:to|for))\b", text)
    ):
        return True
    denied = len(lex.NEGATION.findall(text))
    turned = bool((denied and denied != len(lex.NEGATION.findall(source))) or lex.LIMIT.search(text))
    if name == "exception":
        return turned
    share = lex.share(own, frozenset(lex.content(text)))
    return turned or share >= 0.8 or (share >= 0.6 and _RELATIVE.search(text) is not None)


_OPENING = re.compile(
    r"\W*(?:On|In|For|At|During|Upon|After|Before|From|With|Without)\b"
    r"(?! (?:accordance|addition|example|instance|particular|such|the|this|these|those)\b)"
    r"((?:(?! shall | must | may )[^,;:.])*),"
)


def opening(text: str, cited: Cited) -> str:
    """What a rule begins with ("On steep slopes, manure shall"), left out."""
    words = frozenset(lex.content(text))
    for unit in _ruling(text, cited):
        found = _OPENING.match(normalise(unit.text))
        own = lex.content(found[1]) if found else ()
        if found and own and lex.share(own, words) <= 0.2:
            return f"{found[0].strip(' ,')!r} of the text cited is left out"
    return ""


def inverted(text: str, cited: Cited) -> str:
    """ "unless it is" made "if it is", and nothing else turned with it."""
    for unit in _ruling(text, cited):
        source = normalise(unit.text)
        if "in which case" in source:
            continue
        forces = [{modal.force for modal in lex.modals(each)} for each in (text, source)]
        for one, other in ((_UNLESS, _IF), (_IF, _UNLESS)):
            theirs = [lex.content(match[1])[:4] for match in one.finditer(source)]
            mine = [lex.content(match[1])[:4] for match in other.finditer(text)]
            if forces[0] and forces[0] == forces[1] and any(each and each in theirs for each in mine):
                return "an exception of the text cited is made a condition, or the reverse"
    return ""


_UNLESS = re.compile(r"\b(?:unless|(?:except|save) (?:where|if|when))\b([^,;.]*)", re.IGNORECASE)
_IF = re.compile(r"\b(?<!except )(?<!save )(?<!only )(?:if|where|when)\b(?! not\b)([^,;.]*)", re.IGNORECASE)


def only(text: str, cited: Cited) -> str:
    """ "need only be told on request" made "must be told"."""
    for unit in _ruling(text, cited):
        if any(modal.only for modal in lex.modals(normalise(unit.text))) and not re.search(
            r"\b(?:only|solely|unless|except|not|no|if|where|when|requires?|needs?|after|until|at least|nobody|"
            r"without)\b",
            text,
            re.IGNORECASE,
        ):
            return "the text cited says so only in a case that is left out"
    return ""


def _same_head(found: str, own: tuple[str, ...], text: str) -> bool:
    """Whether the sentence has the same clause, if shorter: the same word for it and its first words."""
    place = text.lower().find(found.lower() + " ")
    return place >= 0 and bool(own) and set(own[:2]) & set(lex.content(text[place + len(found) :])[:2]) != set()


_NARROWING_WORDS = """
small large listed unlisted retail professional public private foreign domestic natural legal central systemic minor
home host regulated exempt non-executive executive eligible qualified new existing significant independent
"""
_NARROWING = frozenset(_NARROWING_WORDS.split())


def narrowed(text: str, cited: Cited) -> str:
    """A rule for some, said of all: "a small company may" without the "small"."""
    words = set(lex.tokens(text))
    for unit in _ruling(text, cited):
        source = normalise(unit.text)
        for modal in lex.modals(source):
            start, _ = lex.clause_at(source, modal.start)
            before = lex.tokens(source[start : modal.start])[:4]
            for kind, noun in itertools.pairwise(before):
                if kind in _NARROWING and kind not in words and {noun, lex.singular(noun), noun + "s"} & words:
                    return f"the text cited speaks only of {kind + ' ' + noun!r}"
    return ""


def _ruling(text: str, cited: Cited) -> list[Unit]:
    """The unit that holds most of a sentence, if there is any; one that holds less where that one is about another
    than the sentence, and this one about the same."""
    near = cited.near(text, _SLACK)
    mine = _subjects(text)
    own = [unit for unit in near if mine & (_subjects(unit.text) | cited.carried(unit))]
    return (own if mine and own and _subjects(near[0].text) else near)[:1]


def _subjects(text: str) -> set[str]:
    """The last word of each subject of a modal verb."""
    plain = normalise(text)
    return {found[-1] for modal in lex.modals(plain) if (found := subject(plain, modal))}


_PART = re.compile(
    r";|\b(?:and|or) (?:must|shall|may|should)\b|"
    r", and (?=(?:any|the|no|an?|such|each)\b[^,;.]{1,60}?\b(?:must|shall|may)\b)"
)


def _elsewhere(text: str, unit: Unit, clause: str) -> bool:
    """Whether the sentence speaks only of another part of the unit than the clause limits: "shall A; if x, may B"."""
    parts = _PART.split(normalise(unit.text))
    if len(parts) < 2:
        return False
    words = lex.content(text)
    own = [lex.share(words, frozenset(lex.content(part))) for part in parts]
    holds = [clause.strip() in part for part in parts]
    where = max((share for share, holding in zip(own, holds, strict=True) if holding), default=0.0)
    return where < max(own) - 0.2


def _turned(text: str) -> bool:
    """ "except" worded as "even where", "regardless of": its words are there, its sense is not."""
    said = re.search(
        r"\b(?:(?:even|also|including) (?:if|where|when|for)|regardless|irrespective|whether or not)\b",
        text,
        re.IGNORECASE,
    )
    return said is not None


def scope(text: str, cited: Cited) -> str:
    """ "all" or "always" that the text does not say, or the narrower description of whom a rule binds left out."""
    if lex.universals(text) and not lex.universals(cited.text) and not _generic(text, cited):
        return "it claims for all cases what the text cited does not"
    unit = next(iter(_ruling(text, cited)), None)
    if unit is None:
        return ""
    words = frozenset(lex.content(text))
    source = normalise(unit.text)
    narrowed = _RELATIVE.search(_subject(source))
    if narrowed:
        tail = _subject(source)[narrowed.end() :]
        own = lex.content(tail)
        told = set(re.findall(r"\d+", tail))
        if own and lex.share(own, words) < _HELD and not (told and told <= set(re.findall(r"\d+", text))):
            return f"the text cited speaks only of those {(narrowed[0] + tail).strip()!r}"
    return ""


_ALL = re.compile(r"\b(?:all|every)\s((?:[\w-]+\s?){1,3})", re.IGNORECASE)
_SOME = re.compile(r"\b(?:at least|one of|some|certain|several|only)\b", re.IGNORECASE)
_AFTER = re.compile(
    r"\s(?:that|which|who|whose|with|without|below|above|under|\w+(?:ed|ing))\b\s?"
    r"([^,.;]*?)(?=\s(?:must|shall|may|is|are|has|have)\b|[,.;]|\Z)"
)


_FOR = re.compile(r"\b(?:for|to)\s(\w+s)\s(?:that|who|which)\s([^,.;]*)", re.IGNORECASE)


def described(text: str, cited: Cited) -> str:
    """A rule for those described, said of all of them: "for groups that were fined" made "for groups"."""
    words = frozenset(lex.content(text))
    for unit in _ruling(text, cited):
        for match in _FOR.finditer(normalise(unit.text)):
            own = lex.content(match[2])
            plain = re.search(rf"\b(?:for|to)\s{re.escape(match[1])}\b", text, re.IGNORECASE)
            if plain and own and lex.share(own, words) < _HELD:
                return f"the text cited speaks only of {match[1] + ' that ' + match[2]!r}"
    return ""


def _generic(text: str, cited: Cited) -> bool:
    """Whether "all" or "every" only makes a general rule explicit: "emails must" as "every email must"."""
    found = _ALL.search(text)
    if not found:
        return re.search(r"\b(?:each|any)\b", cited.text, re.IGNORECASE) is not None
    nouns = lex.content(found[1])
    words = frozenset(lex.content(text))
    for unit in _ruling(text, cited):
        source = normalise(unit.text)
        for match in re.finditer(r"[\w-]+", source):
            if nouns and lex.meaning(match[0]) in nouns:
                after = _AFTER.match(source, match.end())
                tail = after and (lex.content(after[0].split()[0]) + lex.content(after[1]))
                if tail and lex.share(tail, words) < 0.67:
                    return False
        start = _subject(source) or source
        return (
            not _SOME.search(start)
            and lex.share(nouns, frozenset(lex.content(source))) >= 0.5
            and not re.match(r"\W*(?:if|where|when)\b", source, re.I)
        )
    return False


def _subject(text: str) -> str:
    """What stands before the first verb of the main clause; "" where that is not plain."""
    if _CONDITION.match(text) or _EXCEPTION.match(text):
        _, _, text = text.partition(",")
    found = lex.modals(text)
    verb = re.search(r"\b(?:is|are|does|do|has|have|qualifies|covers?|applies|requires?)\b", text)
    places = [found[0].start] if found else []
    if verb:
        places.append(verb.start())
    whole = text[: min(places)] if places else ""
    if verb and re.search(r"\b(?:that|who|which)\s\Z", text[: verb.start()]):
        after = re.search(
            r"\b(?:is|are|does|do|has|have|qualify|qualifies|covers?|applies|requires?|shall|must|may)\b",
            text[verb.end() :],
        )
        return text[: verb.end() + after.start()] if after and after.start() < 160 else ""
    relative = _RELATIVE.search(whole) or _RELATIVE.search(text[: (min(places) if places else 0) + 1])
    if relative and found and len(places) == 2 and places[1] < places[0]:  # "whose assets are below X shall ..."
        whole = text[: found[0].start]
    return whole if len(whole) < 240 else ""
