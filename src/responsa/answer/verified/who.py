"""Guards on who is meant, and on what is named and quoted."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from responsa.answer.verified import words as lex
from responsa.answer.verified.figures import figures_of
from responsa.answer.verified.units import Cited, Unit
from responsa.corpus.references import parse
from responsa.text import folded, normalise

GENERIC = frozenset(["firm", "bank", "institution", "entity", "company", "undertaking"])


def addressee(text: str, cited: Cited) -> str:
    """Somebody made to act, or to be acted upon, whom the text does not name there."""
    words = lex.tokens(cited.text + cited.around)
    known = {word[:5] for word in words}
    strangers = [
        word
        for word in lex.content(text)
        if word in lex.actors() and word not in cited.meanings and word[:5] not in known and not _akin(word, words)
    ]
    if strangers and not (set(strangers) <= GENERIC and _nobody(cited)):
        return f"{strangers[0]!r} is not named in the text cited"
    for modal in lex.modals(text):
        who = agent(text, modal)
        theirs = [(source, other) for source, other in _same(text, modal, cited, 0.1)]
        if modal.passive:
            mine = subject(text, modal)
            others = [
                named
                for source, other in theirs
                if other.passive
                and (named := _listed(source, subject(source, other)))
                and not _doing(mine, named, text)
            ]
            full = {word for source, other in theirs for word in lex.content(source[: other.start])}
            if mine and others and set(mine) - full and all(set(each) - set(lex.content(text)) for each in others):
                return f"the text cited says this of {' '.join(others[0])!r}, not of {' '.join(mine)!r}"
        if not who or (modal.passive and _means(text, modal, who)):
            continue
        if not modal.passive and any(_swapped(text, modal, source, other) for source, other in theirs):
            return f"in the text cited {' '.join(who)!r} is acted upon"
        if any(who == each for source, other in theirs for each in _beside(source, other)):
            continue
        told = [
            doer
            for source, other in theirs
            if (doer := _listed(source, agent(source, other))) and not _doing(who, doer, text)
        ]
        said = set(lex.content(text))
        if told and all((_differ(who, doer) and set(doer) - said) or not set(who) & set(doer) for doer in told):
            return f"in the text cited {' '.join(told[0])!r} acts, not {' '.join(who)!r}"
        if any(_acted_upon(who, modal, source, other) for source, other in theirs):
            return f"in the text cited {' '.join(who)!r} is acted upon"
        new = [word for word in who if word not in cited.meanings and word not in GENERIC | _BESIDE]
        if told and new:
            return f"{new[0]!r} is not named in the text cited"
    return ""


_MEANS = re.compile(
    r"\bby (?:direct |credit |registered )?[a-z]+(?<!s)(?= (?:of|to|or|and|at|for|on|in|before|within|so)\b|[,.;]|\Z)"
)


def _means(text: str, modal: lex.Modal, who: Sequence[str]) -> bool:
    """Whether what stands after the first "by" has no article and is nobody: "by telephone"."""
    first = re.compile(r"\bby\b").search(text, modal.end)
    return first is not None and _MEANS.match(text, first.start()) is not None and not set(who) & lex.actors()


_BESIDE = frozenset(["concern", "involv"])  # "the worker concerned"


def _akin(word: str, words: Sequence[str]) -> bool:
    """Whether somebody is named by what he does: "a season ticket holder", "who holds a season ticket"."""
    return any(map(_verb_of(word).fullmatch, words))


def _verb_of(word: str) -> re.Pattern[str]:
    """What whoever is named so does: "hold", "holds", "holding" for "holder"; nothing where it is no such name."""
    stem = re.sub(r"(?:er|or)\Z", "", word)
    return re.compile(rf"{re.escape(stem)}(?:e|es|s|ing|ed)?" if len(stem) > 2 and stem != word else r"(?!)")


def _doing(who: Sequence[str], doer: Sequence[str], text: str) -> bool:
    """Whether a person is told of by what the doer of the text is named for: "a person hiring", "the hirer"."""
    return "person" in who and any(_akin(word, lex.tokens(text)) for word in doer)


def _listed(source: str, doer: tuple[str, ...]) -> tuple[str, ...]:
    """With what an item names: "the following persons may: (a) notaries"."""
    return doer + lex.content(source.split(":", 1)[1])[:4] if doer and ":" in source else doer


def _swapped(text: str, modal: lex.Modal, source: str, other: lex.Modal) -> bool:
    """Whether whoever acts differs by a word from whoever acts there, and that word is of what is acted upon there."""
    if other.passive:
        return False
    who, doer = set(subject(text, modal)), set(subject(source, other))
    extra = who - set(lex.content(source[: other.start]))
    return bool(extra and doer - who and extra & set(lex.content(source[other.end :])))


def _nobody(cited: Cited) -> bool:
    """Whether the text says nowhere who acts."""
    return not any(
        agent(normalise(unit.text), modal) for unit in cited.units for modal in lex.modals(normalise(unit.text))
    )


def _same(text: str, modal: lex.Modal, cited: Cited, slack: float) -> Iterator[tuple[str, lex.Modal]]:
    """The modal phrases of the nearest units that govern the same verb."""
    for unit in cited.near(text, slack):
        source = normalise(unit.text)
        for other in lex.modals(source):
            if other.verb == modal.verb:
                yield source, other


def _differ(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two descriptions each have a word that the other lacks."""
    return bool(set(one) - set(other)) and bool(set(other) - set(one))


def _acted_upon(who: Sequence[str], modal: lex.Modal, source: str, other: lex.Modal) -> bool:
    if modal.passive or ":" in source or agent(source, other):
        return False
    doer = set(who) if other.passive else set(who) & lex.actors()
    return bool(doer & set(lex.content(source[other.end :])) and not doer & set(lex.content(source[: other.start])))


def crossed(text: str, cited: Cited) -> str:
    """What the text says of one, said of another whom it names elsewhere."""
    for modal in lex.modals(text):
        who = () if modal.passive else agent(text, modal)
        _, end = lex.clause_at(text, modal.start)
        what = tuple(word for word in lex.content(text[modal.end : end]) if word not in who)
        if not who or len(set(what)) < 2:
            continue
        held = [(lex.share(what, unit.meanings), unit) for unit in cited.units]
        best, holder = max(held, key=lambda item: item[0], default=(0.0, None))
        if holder is None:
            return ""
        with_who = max((share for share, unit in held if set(who) & unit.meanings), default=0.0)
        source = normalise(holder.text)
        others = [doer for other in lex.modals(source) if (doer := agent(source, other))]
        if best > with_who + 0.3 and others and not any(set(who) & set(doer) for doer in others):
            return f"the text cited says this of {' '.join(others[0])!r}, not of {' '.join(who)!r}"
    return ""


_COORDINATED = re.compile(
    r"\b(?:and|or|but|while|whereas|although|unless|except|save|where|when|if|provided|even)\b|[;:]|,(?!\d)"
)
_BACK = re.compile(
    r"\W*(?:it|they|he|she|this|these|such|the|where|in (?:this|that|such)|those|its|their|doing)\b", re.I
)


def mixed(text: str, cited: Cited) -> str:
    """One statement put together from two rules that stand side by side."""
    if len(cited.units) < 2:
        return ""
    held = [cited.with_topic(unit) | lex.labels(unit.text) | _named(unit.text) for unit in cited.units]
    for piece in _COORDINATED.split(text):
        words = (set(lex.content(piece)) | lex.labels(piece) | _named(piece)) - lex.actors()
        owners: dict[int, set[str]] = {}
        for word in words:
            of = [place for place, own in enumerate(held) if word in own]
            if len(of) == 1:
                owners.setdefault(of[0], set()).add(word)
        for one, two in itertools.combinations(sorted(owners), 2):
            if _side_by_side(cited.units[one], cited.units[two]):
                first, second = min(owners[one]), min(owners[two])
                return f"{first!r} and {second!r} belong to different rules of the text cited"
    return ""


def _named(text: str) -> set[str]:
    """The figures of a text."""
    return {figure for _, figure in figures_of(text)}


def _side_by_side(one: Unit, two: Unit) -> bool:
    """Whether two sentences are of one pattern, neither going on from the other."""
    if _BACK.match(two.text) or (_BACK.match(one.text) and one.passage_id == two.passage_id):
        return False
    if re.search(r"\b(?:them|these)\b|\b(?:it|this)\W*\Z", two.text):
        return False
    first, second = lex.content(one.text), lex.content(two.text)
    if set(second[:2]) <= set(first[-4:]) or set(first[:2]) <= set(second[-4:]):
        return False
    return (
        len(one.meanings & two.meanings) >= 2
        and bool(one.meanings - two.meanings)
        and bool(two.meanings - one.meanings)
    )


def roles(text: str, cited: Cited) -> str:
    """Two whom a verb is about, changed about: "give the bank the right to audit the provider"."""
    for modal in lex.modals(text):
        mine = [word for word in lex.content(text[modal.end :]) if word in lex.actors()]
        if len(mine) != 2 or len(set(mine)) != 2:
            continue
        for source, other in _same(text, modal, cited, 0.05):
            theirs = [word for word in lex.content(source[other.end :]) if word in lex.actors()]
            if other.passive == modal.passive and theirs == mine[::-1]:
                return f"{mine[0]!r} and {mine[1]!r} stand the other way round in the text cited"
    return ""


_PRONOUN = re.compile(r"\b(?:it|they|he|she|this|these|that|such)\s*\Z", re.IGNORECASE)
# "With the consent of the meeting the chair may": no comma says where the subject begins.
_UNPARTED = re.compile(
    r"\W*(?:On|For|In|With|At|From|After|Before|Until|During|By|Under|Without|Upon|To|If|Where|When|Once)\b"
)
_HEAD = re.compile(
    r"\b(?:that|which|who|whose|with|without|of|from|for|in|to|under|below|above|than|before|after|during|until|"
    r"intending|wishing|holding)\b|(?:(?<=s\s)|(?<=person\s))\w{2,}ing\b|"
    r"\b\w+ed(?=\s(?:in|by|under|to|for|on|before|after|with|at)\b)|"
    r"\b\w{2,}ing(?=\s(?:the|an?|its|their|any|each|one|all|more|less|fewer|in|to|from|at|on)\b)"
)


_OR_MORE = re.compile(r"\bor (more|less|fewer|above|below|over|under|older|younger)\b")
# After "by": a time or a means, not somebody who acts.
_NO_DOER = (
    r"(?!(?:[\w-]+ ){0,3}?(?:days?|dates?|time|deadline)\b|(?:the |each |every )?(?:end(?! user)|month|quarter|year)\b|"
    r"(?:an? |the |any )?(?:e-?mail|post|letter|means|virtue|way)\b)"
)
# What ends the words for who does.
_DONE = re.compile(r"\b(?:before|after|at|on|within|no|not|every|where|when|if|unless|until|during|once|as|through)\b")


def agent(text: str, modal: lex.Modal) -> tuple[str, ...]:
    """The meanings of the words for who does what a modal verb says; none where that is not plain."""
    if not modal.passive:
        return subject(text, modal)
    found = re.search(
        rf"\bby {_NO_DOER}(?:(?:an?|the|its|their|each|any|every|all) )?([a-z][a-z' -]{{2,60}})",
        text[modal.end :],
        re.IGNORECASE,
    )
    return lex.content(_HEAD.split(_DONE.split(found[1], maxsplit=1)[0], maxsplit=1)[0])[:3] if found else ()


def subject(text: str, modal: lex.Modal) -> tuple[str, ...]:
    """The meanings of the words before a modal verb, up to what describes them further."""
    start, _ = lex.clause_at(text, modal.start)
    before = _THAT.split(_OR_MORE.sub(r"\1", text[start : modal.start]))[-1]
    earlier = [other for other in lex.modals(text) if other.start < modal.start]
    if earlier and re.search(r"\b(?:and|or)(?:,[^,]*,)?\s*\Z", before):
        return subject(text, earlier[-1])
    both = re.search(r"\w+ and (?:(?:its|their|the|any|an?) )?\w+\s*\Z", before)
    if not both or (earlier and earlier[-1].end > start):
        before = re.split(r"\b(?:and|or|but)\b", before)[-1]
    if _PRONOUN.search(before) or not before.strip() or _UNPARTED.match(before):
        return ()
    return lex.content(_HEAD.split(before, maxsplit=1)[0])[-3:]


_FIRST = re.compile(r"\W*(?:(?:an?|the|its|their|each|any|every|all|such|other|no)\s)*", re.IGNORECASE)
_LIST = re.compile(
    r",\s*(?=(?:an?|the|its|their|each|any|every|other|all)?\s*(?:[\w'-]+ ){1,4}(?:and|or)\b)|\b(?:and|or)\b"
)


def _beside(text: str, modal: lex.Modal) -> list[tuple[str, ...]]:
    """All that may be meant by who does what a modal verb says: each of "the bank, its agent or a broker", and what
    comes before a relative clause with "and" or "or" in it."""
    if modal.passive:
        found = re.search(r"\bby ([^,.;:]{2,120})", text[modal.end :], re.IGNORECASE)
        region = found[1] if found else ""
    else:
        start = max((cut.end() for cut in _SENTENCE.finditer(text, 0, modal.start)), default=0)
        region = text[start : modal.start]
    last = _LAST.search(region)
    pieces = [*_LIST.split(region), *([last[1]] if last else [])]
    return [lex.content(_HEAD.split(_FIRST.sub("", piece, count=1), maxsplit=1)[0])[-3:] for piece in pieces]


_LAST = re.compile(
    r"(?<!\bof )(?<!\bby )(?<!\bfor )(?<!\bto )(?<!\bwith )(?<!\bfrom )(?<!\bin )(?<!\bon )"
    r"\b(?:the|an?) ((?:[\w'-]+ ){1,3})\Z"
)
_SENTENCE = re.compile(r"[.;:]\s|\b(?:where|when|if|unless)\b[^,;:.]*,\s", re.IGNORECASE)
_THAT = re.compile(
    r"\b(?:aware|believe[sd]?|ensures?|ensuring|knows?|satisfied|fact|clear|considers?|requires?|provides?|states?|"
    r"indicates?|demonstrates?|shows?|understood|recommended|expected|agreed?|note|provided|grounds?|basis|likely)\s+that\b",
    re.IGNORECASE,
)


def provisions(text: str, cited: Cited) -> str:
    """A provision that neither stands in the cited text nor is the passage itself."""
    source = cited.text + "\n" + cited.around
    known = {reference.provision for reference in parse(source)} if any(map(str.isdigit, text)) else set()
    plain = re.sub(r"\W+", "", source.lower())
    for reference in parse(text):
        words = re.sub(r"\W+", "", text[reference.start : reference.end].lower())
        labels = re.findall(r"\d+[a-z]?|\b[ivxlc]+\b", text[reference.start : reference.end].lower())
        if reference.relative or reference.provision in known or words in plain or not labels:
            continue
        if not all(re.search(rf"(?<![\w]){re.escape(label)}(?!\w)", source.lower()) for label in labels):
            return f"{text[reference.start : reference.end]!r} is not named in the text cited"
    return ""


_LINK = re.compile(r"https?:/*\S+|www\.\S+|\S+@\S+\.\w+|\]\(", re.IGNORECASE)


def links(text: str, cited: Cited) -> str:
    """An address that does not stand in the cited text."""
    for match in _LINK.finditer(text):
        if match[0].rstrip(".,;)") not in cited.text:
            return f"{match[0]!r} does not stand in the text cited"
    return ""


_QUOTED = re.compile(r'"([^"]{3,}?)"')


def quotes(text: str, cited: Cited) -> str:
    """Words in quotation marks that do not stand in the cited text."""
    source = _plain(cited.text + "\n" + cited.around)
    for match in _QUOTED.finditer(normalise(text)):
        pieces = [_plain(piece) for piece in re.split(r"\[?\.\.\.\]?", match[1])]
        if not all(piece in source for piece in pieces):
            return f"the words {match[0]} do not stand in the text cited"
    return ""


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", folded(text)))
