"""Guards on how far a rule goes: conditions, exceptions, whom it describes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from responsa.answer import verified_words as lex
from responsa.answer.verified_units import Cited, Unit
from responsa.text import normalise

_EXCEPTION = re.compile(
    r"\b(?:unless|except(?: where| when| if| for| on| that)?|other than|save(?: where| as| for)?|provided that|"
    r"only (?:if|where|when|after|once|with|within|on|for|to|in)|subject to|apart from)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:if|where|when|in the event(?: of| that)|in case(?: of)?|as long as)\b", re.IGNORECASE)
_RELATIVE = re.compile(r"\b(?:that|which|who|whose|with|without|below|above|of (?:less|more|fewer)|under)\b", re.I)
_STOPS = re.compile(r"[,;:.]\s|[.;]\Z|,\Z|\b(?:shall|must|may)\b")
_MARKED = re.compile(
    rf"{_EXCEPTION.pattern}|{_CONDITION.pattern}|{lex.LIMIT.pattern}|{lex.NEGATION.pattern}|\b(?:whose|with|requires?)\b",
    re.IGNORECASE,
)
_HELD = 0.34


def _tails(text: str, marker: re.Pattern[str]) -> Iterator[tuple[str, str, bool]]:
    """(words of the marker, the clause after it, whether it limits only what follows it) for each marker."""
    for match in marker.finditer(text):
        stop = _STOPS.search(text, match.end())
        end = stop.start() if stop else len(text)
        joined = re.search(r"\b(?:and|or),?(?: in addition| also| further)?\s*\Z", text[: match.start()]) is not None
        rest = text[end:].split(".")[0] if joined else ""
        yield match[0], text[match.end() : end] if not joined else text[match.end() : end] + " \x00" + rest, joined


def limits(text: str, cited: Cited) -> str:
    """A condition or an exception of the rule that the sentence does not have."""
    words = frozenset(lex.content(text))
    limited = _EXCEPTION.search(text) is not None
    for unit in _ruling(text, cited):
        for marker, name in ((_EXCEPTION, "exception"), (_CONDITION, "condition")):
            for found, tail, joined in _tails(normalise(unit.text), marker):
                clause, _, rest = tail.partition("\x00")
                if joined and (not lex.content(rest) or lex.share(lex.content(rest), words) < 0.5):
                    continue
                own = lex.content(clause)
                unmarked = (
                    name == "exception"
                    and not found.lower().startswith("only")
                    and not _MARKED.search(text)
                    and lex.share(own, words) < 0.8
                )
                if _same_head(found, own, text):
                    continue
                if not own or (lex.share(own, words) >= _HELD and not unmarked):
                    if name == "exception" and own and _turned(found, text):
                        return f"the exception {found!r} of the text cited is lost"
                    continue
                if name == "condition" and limited and not lex.content(clause):
                    continue
                if _elsewhere(text, unit, clause):
                    continue
                return f"the {name} {(found + clause).strip()!r} of the text cited is left out"
    return ""


def _same_head(found: str, own: tuple[str, ...], text: str) -> bool:
    """Whether the sentence has the same clause, if shorter: the same word for it and its first words."""
    place = text.lower().find(found.lower() + " ")
    return place >= 0 and bool(own) and set(own[:2]) & set(lex.content(text[place + len(found) :])[:2]) != set()


_NARROWING = frozenset(
    ["small", "large", "listed", "unlisted", "retail", "professional", "public", "private", "foreign", "domestic", "natural",
     "legal", "central", "systemic", "minor", "home", "host", "regulated", "exempt", "non-executive", "executive",
     "eligible", "qualified", "new", "existing", "significant", "independent"]
)  # fmt: skip


def narrowed(text: str, cited: Cited) -> str:
    """A rule for some, said of all: "a small company may" without the "small"."""
    words = set(lex.tokens(text))
    for unit in cited.near(text)[:1]:
        source = normalise(unit.text)
        for modal in lex.modals(source):
            start, _ = lex.clause_at(source, modal.start)
            before = lex.tokens(source[start : modal.start])[:4]
            for kind, noun in itertools.pairwise(before):
                if kind in _NARROWING and kind not in words and {noun, lex.singular(noun), noun + "s"} & words:
                    return f"the text cited speaks only of {kind + ' ' + noun!r}"
    return ""


def _ruling(text: str, cited: Cited) -> list[Unit]:
    """The unit that holds most of a sentence, and what it needs of others to be held in full."""
    near = cited.near(text)
    if not near:
        return []
    best = near[0]
    # What the sentence itself words as a condition is no rule: the unit is found by all its words.
    return [best]


def _elsewhere(text: str, unit: Unit, clause: str) -> bool:
    """Whether the sentence speaks only of another part of the unit than the clause limits: "shall A; if x, may B"."""
    parts = re.split(r";|\band (?:must|shall|may)\b|\bor (?:must|shall|may)\b", normalise(unit.text))
    if len(parts) < 2:
        return False
    words = lex.content(text)
    own = [lex.share(words, frozenset(lex.content(part))) for part in parts]
    holds = [clause.strip() in part for part in parts]
    where = max((share for share, holding in zip(own, holds, strict=True) if holding), default=0.0)
    return where < max(own) - 0.2


def _turned(found: str, text: str) -> bool:
    """ "except" worded as "even where", "regardless of": its words are there, its sense is not."""
    said = re.search(r"\b(?:even (?:if|where|when)|regardless|irrespective|whether or not)\b", text, re.IGNORECASE)
    return said is not None


def scope(text: str, cited: Cited) -> str:
    """ "all" or "always" that the text does not say, or the narrower description of whom a rule binds left out."""
    if lex.universals(text) and not lex.universals(cited.text) and not re.search(r"\beach|any\b", cited.text, re.I):
        return "it claims for all cases what the text cited does not"
    unit = next(iter(cited.near(text)), None)
    if unit is None:
        return ""
    words = frozenset(lex.content(text))
    source = normalise(unit.text)
    narrowed = _RELATIVE.search(_subject(source))
    if narrowed:
        tail = _subject(source)[narrowed.end() :]
        own = lex.content(tail)
        if own and lex.share(own, words) < _HELD:
            return f"the text cited speaks only of those {(narrowed[0] + tail).strip()!r}"
    return ""


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
