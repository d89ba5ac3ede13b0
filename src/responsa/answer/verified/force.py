"""Guards on what a rule does: duty, leave, ban, negation."""

from __future__ import annotations

import itertools
import re

from responsa.answer.verified import words as lex
from responsa.answer.verified.units import Cited, Unit
from responsa.text import normalise


def modality(text: str, cited: Cited) -> str:
    """A duty made a leave, a leave made a duty, a ban lifted."""
    for modal in lex.modals(text):
        if _ABLE.search(text, 0, modal.end):
            continue
        start, end = lex.clause_at(text, modal.start)
        near = cited.near(text[start:end] if len(lex.content(text[start:end])) > 2 else text, 0.1)
        held = [(other, unit) for unit in near for other in lex.modals(normalise(unit.text))]
        same = _nearest_object(
            text, modal, [(other, unit) for other, unit in held if other.verb == modal.verb and modal.verb]
        )
        if not held or _allowed(text, modal, cited):
            continue
        if not any(_fits(modal, other, text, unit.text) for other, unit in same or held):
            other = (same or held)[0][0]
            return f"{modal.force!r} where the text cited says {other.force!r}"
    return ""


def _allowed(text: str, modal: lex.Modal, cited: Cited) -> bool:
    """Whether a rule of the text says what a modal phrase and the words about it say, wherever the others stand: one
    sentence may join two rules."""
    words = lex.content(_about(text, modal))
    for unit in cited.units:
        if lex.share(words, unit.meanings | cited.carried(unit)) < 0.7:
            continue
        source = normalise(unit.text)
        others = lex.modals(source)
        same = [other for other in others if other.verb == modal.verb] if modal.verb else []
        if any(other.force == modal.force for other in same):
            return True
        if not same and others and {other.force for other in others} == {modal.force}:
            return True
    return False


def _about(text: str, modal: lex.Modal) -> str:
    """The words of a clause that belong to one of its modal phrases: no "and" leads to another one from there."""
    start, end = lex.clause_at(text, modal.start)
    for other in lex.modals(text):
        if start <= other.start < modal.start:
            cut = list(_AND.finditer(text, other.end, modal.start))
            start = cut[-1].end() if cut else start
        elif modal.start < other.start < end:
            cut = list(_AND.finditer(text, modal.end, other.start))
            end = cut[-1].start() if cut else end
            break
    return text[start:end]


_AND = re.compile(r"\b(?:and|or)\b")
# "unless it can prove": what somebody is able to do is no leave.
_ABLE = re.compile(
    r"\b(?:unless|if|where|when|once|until|who|which|that) "
    r"(?:(?:it|they|he|she|(?:(?:an?|the|its|their) )?[\w']+) )?c(?:an|ould)\Z",
    re.IGNORECASE,
)


def _nearest_object(text: str, modal: lex.Modal, held: list[tuple[lex.Modal, Unit]]) -> list[tuple[lex.Modal, Unit]]:
    """Those whose next words are most like the next words of the modal phrase."""
    mine = set(lex.content(text[modal.end :])[:4])
    shares = [len(mine & set(lex.content(normalise(unit.text)[other.end :])[:4])) for other, unit in held]
    return [each for each, share in zip(held, shares, strict=True) if share == max(shares)]


def _fits(modal: lex.Modal, other: lex.Modal, text: str, source: str) -> bool:
    """Whether a modal phrase may stand for another; what limits or negates may turn one into the other."""
    if other.force == modal.force or (modal.only and other.only):
        return True
    limited = lex.LIMIT.search(source) or lex.LIMIT.search(text) or other.only
    if {modal.force, other.force} == {"must not", "may"}:
        leave = text if modal.force == "may" else source
        if _AT_MOST.search(leave):
            return True  # "no more than 5 % may be": whether the bound is the same is for another guard
        if modal.only or other.only or (modal.force == "must not" and _but_not(source, text)):
            return True
        if (limiters := _limiters(source)) and _limiters(text) == limiters:
            return False  # "no one may without", "anyone may without"
        marked = re.search(r"\b(?:only|if|where|when|unless|except|with|without|once|until)\b", text, re.IGNORECASE)
        return bool(limited and marked and re.search(r"\b(?:unless|except|without|other than|after)\b", source + text))
    if {modal.force, other.force} == {"must", "must not"}:
        if modal.force == "must not" and set(_negations(source)) & set(lex.content(text)):
            return True  # "by those who did not": "those who did must not"
        if _BOUNDED.search(text) and _BOUNDED.search(source):
            return True  # "must not use more than", "must use no more than": the bound is for another guard
        turned = len(lex.NEGATION.findall(text)) != len(lex.NEGATION.findall(source)) and limited
        inner = modal.verb != other.verb and (lex.NEGATION.search(text) or lex.NEGATION.search(source))
        return bool(turned or inner)
    if modal.force == "may" and other.force == "must" and other.verb in map(lex.meaning, _GRANTS):
        return True  # "shall allow a break": "is entitled to a break"
    if {modal.force, other.force} == {"must", "may"}:
        if _AT_MOST.match(text) and _BOUNDED.search(source):
            return True  # "no more than six may": "to which no more than six"
        return bool(modal.only or other.only) and modal.verb != other.verb
    if modal.force == "need not":
        return bool(re.search(r"\b(?:exempt|not apply|only|instead|without)\b", source))
    if other.force == "need not" and modal.force == "may":
        return "not" in text.split() and modal.verb != other.verb
    return False


_AT_MOST = re.compile(r"\b(?:(?:no|not) (?:\w+ )?(?:more|longer|later) than|at most|up to|maximum)\b", re.IGNORECASE)
_GRANTS = ("allow", "grant", "permit")


def _but_not(source: str, text: str) -> bool:
    """ "are entitled to expenses but not to pay": "are not entitled to pay"."""
    words = frozenset(lex.content(text))
    return any(
        own and lex.share(own, words) >= 0.6
        for found in re.finditer(r"\bbut not\b([^,;.]*)", source)
        if (own := lex.content(found[1]))
    )


def _limiters(text: str) -> set[str]:
    return set(re.findall(r"\b(?:unless|except|without|other than|save|only)\b", text.lower()))


def negation(text: str, cited: Cited) -> str:
    """A "not" dropped or added where no other word makes up for it."""
    near = cited.near(text)
    whole = bool(near) and lex.share(lex.content(text), near[0].meanings) >= 1
    negated = {word for unit in (near if whole else cited.units) for word in _after_negations(normalise(unit.text))}
    told = [_negated(text, unit, negated) for unit in cited.near(text, 0.1)]
    return told[0] if told and all(told) else ""


def _negated(text: str, unit: Unit, negated: set[str]) -> str:
    limits = [{word.lower() for word in lex.LIMIT.findall(each)} for each in (text, unit.text)]
    if limits[0] - limits[1] or (limits[1] - limits[0] and _DENIED.search(text)):
        return ""
    if re.search(r"\b(?:need|require|necessary)", text) and re.search(r"\b(?:unless|only|without|until)\b", unit.text):
        return ""
    mine, theirs = _negations(text), _negations(normalise(unit.text))
    turned = mine and any(
        one.force != other.force and {one.force, other.force} <= {"must not", "may", "need not"}
        for one in lex.modals(text)
        for other in lex.modals(unit.text)
    )
    if re.search(r"\b(?:neither|nor)\b", text, re.IGNORECASE) and theirs:
        return ""  # one "neither" for several: "no X; no Y"
    if not mine and _PREVENTED.search(text):
        return ""
    if not mine and (_MOST.search(text) or _opened(text, unit)):
        return ""
    if len(mine) == len(theirs) or turned:
        return ""
    beside = _after_negations(text)
    missing = [word for word in theirs if word in set(lex.content(text)) and word not in mine and word not in beside]
    added = [word for word in mine if word in unit.meanings and word not in negated]
    if len(mine) < len(theirs) and missing:
        return f"the text cited negates {missing[0]!r}"
    if len(mine) > len(theirs) and added:
        return f"the text cited does not negate {added[0]!r}"
    return ""


_PREVENTED = re.compile(r"\b(?:prevent|exclud|forbid|bar(?:s|red)?\b|lack|rul(?:e|ed|es|ing) out)", re.IGNORECASE)


def _after_negations(text: str) -> set[str]:
    """The first three words that carry meaning after each negation."""
    return {word for match in lex.NEGATION.finditer(text) for word in lex.content(text[match.end() :])[:3]}


def _opened(text: str, unit: Unit) -> bool:
    """ "may, if" for "must not, unless": the exception said as leave."""
    exception = re.search(r"\b(?:unless|except|save|other than|without)\b([^.;]*)", unit.text)
    return (
        exception is not None
        and not _BOUNDED.search(text)
        and lex.share(lex.content(exception[1]), frozenset(lex.content(text))) >= 0.6
        and any(modal.force == "may" for modal in lex.modals(text))
        and any(modal.force == "must not" for modal in lex.modals(normalise(unit.text)))
    )


_BOUNDED = re.compile(
    r"\b(?:at (?:most|least)|up to|maximum|minimum|exceed\w*|(?:less|more|later|fewer|longer|lower|higher) than)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:must|shall|may|can|is|are|was|were|has|have|does|do|did|need) not|cannot|\bno(?:body|ne)?\b", re.IGNORECASE
)
_MOST = re.compile(r"\b(?:at most|no more than|not more than|up to|maximum|until)\b", re.IGNORECASE)


def opposite(text: str, cited: Cited) -> str:
    """ "announced" where the text cited says "unannounced", or the reverse."""
    mine, theirs = set(lex.tokens(text)), set(lex.tokens(cited.text))
    if lex.NEGATION.search(text) or lex.NEGATION.search(cited.text):
        return ""
    for word in sorted(mine - theirs):
        for prefix in ("un", "in", "non", "dis", "ir", "im"):
            other = word[len(prefix) :] if word.startswith(prefix) else prefix + word
            short = min(word, other, key=len)
            if other not in theirs - mine or len(short) <= 4 or (prefix == "dis" and short.startswith("count")):
                continue
            if lex.meaning(word) not in cited.meanings:
                return f"{word!r} where the text cited says {other!r}"
    return ""


# Words that make a rule its contrary, where one stands in a unit that a sentence is nearest to and the other in none.
_CONTRARY = """
include exclude
included excluded
inclusion exclusion
valid void
valid invalid
accept reject
accept refuse
grant refuse
increase decrease
rise fall
internal external
retail professional
home host
buy sell
buyer seller
borrower lender
gross net
direct indirect
public private
open close
short long
natural legal
upper lower
higher lower
maximum minimum
advance afterwards
advance arrears
asset liability
assets liabilities
first last
lapse remain
lapses remains
"""


_NONE = r"no (?:(?!of\b|to\b|in\b)[\w-]+ ){0,3}?(?:dut(?:y|ies)|obligations?|requirements?)\b"
_NO_DUTY = re.compile(
    rf"\bthere (?:is|are) {_NONE}|\b{_NONE}[^.;]*\b(?:exists?|appl(?:y|ies)|arises?)\b", re.IGNORECASE
)


def contrary(text: str, cited: Cited) -> str:
    """ "included" where the rule says "excluded", or that no duty exists where the text takes none away."""
    if _NO_DUTY.search(text) and not lex.NEGATION.search(cited.text) and not lex.LIMIT.search(cited.text):
        return "it says that there is no duty, the text cited takes none away"
    near = cited.near(text, 0.1)
    mine, held = set(lex.tokens(text)), {word for unit in near for word in lex.tokens(unit.text)}
    for unit in near:
        theirs = set(lex.tokens(unit.text))
        if len(lex.NEGATION.findall(text)) != len(lex.NEGATION.findall(unit.text)):
            continue
        for row in _CONTRARY.split("\n"):
            for one, other in itertools.permutations(row.split(), 2):
                if one in mine - held and other in theirs - mine:
                    return f"{one!r} where the text cited says {other!r}"
    return ""


_COMPLIES = re.compile(
    r"\b(?:is|are|was|were|be|been|remains?) (?:[a-z]+ )?(?:compliant|in (?:full )?compliance)\b|\bcomplies\b",
    re.IGNORECASE,
)


def complies(text: str, cited: Cited) -> str:
    """That somebody complies, which no duty says."""
    if _COMPLIES.search(text) and not re.search(r"\bcompl(?:y|ies|ied|iant|iance)", cited.text, re.IGNORECASE):
        return "the text cited does not say who complies"
    return ""


# After a "not" that bounds a figure or a way and negates nothing; after a "without" that says what is not asked for.
_UNTURNED = re.compile(
    r"\s(?:only\b|exceed\b|(?:\w+\s){0,2}(?:less|more|later|fewer|longer|lower|higher|earlier|frequently|often) than\b|"
    r"(?:one )?(?:below|under)\s[^a-z]*\d)"
)
_FREE = re.compile(r"\s(?:charge|cost|payment|(?:undue |any )?delay)\b")


def _negations(text: str) -> list[str]:
    """The first word that carries meaning after each negation, "not more than" and the like left out."""
    found = []
    for match in lex.NEGATION.finditer(text):
        after = text[match.end() :]
        if _UNTURNED.match(after) or (match[0].lower() == "without" and _FREE.match(after)):
            continue
        found.append(next(iter(lex.content(after[:120])), ""))
    return found
