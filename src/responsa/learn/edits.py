"""Sentences of regulation changed in one respect, with what follows: pairs for entailment without a writer.

Every kind of edit is a function of a `Rule` that yields nothing unless its pattern is safe: one modal verb, a subject
without side clauses, a sentence that ends where it should. Labels follow the project's guide: what says the same or
less follows; a changed number, deadline, condition, addressee or duty contradicts; what says more is neutral.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Literal

from responsa.obligations import RuleObligationDetector
from responsa.text import tidy
from responsa.types import Label

Relation = Literal["entailment", "contradiction", "neutral"]
SAME: Relation = "entailment"
BROKEN: Relation = "contradiction"
MORE: Relation = "neutral"

_SHORTEST, _LONGEST = 6, 60  # words of a sentence that is edited

_NUMBERING = re.compile(
    r"\A(?:\W*(?:\(\w{1,5}\)|[A-Z]?\d{1,3}[a-z]?(?:\.\d{1,3}){0,4}[A-Z]?\.?(?:\*\*)?(?:\(\w{1,5}\))?|[A-Z]\.)(?=\s)\s*)+"
)
_VERB = re.compile(r"\b(?:is|are|was|has|have|does|do|must|shall|may|can|should|will|means|includes|requires)\b")
_MODALS = re.compile(
    r"\b(?:must|shall|may|can|cannot|should|will|would|could|might|need|needs|(?:is|are) (?:not )?required)\b"
)
_UNSAFE = re.compile(
    r"[:;|\"“”\[\]…]|\be\.g|\bi\.e|\b[Ff]or example\b|\brespectively\b|^(?:Note|Guidance|Example)\b|\bMeans\b"
)
SIDE = re.compile(r"\b(?:which|who|whose|that|if|where|when|unless|whether|because|while|but|including)\b", re.I)
_RULE = re.compile(
    r"\A(?P<lead>(?:Where|If|When) [^,]+, )?(?P<subject>[A-Za-z][^,()]*?) (?P<modal>must|shall|may)(?P<no> not)?"
    r" (?P<rest>[a-z][^\n]+)\.\Z"
)
ANAPHORIC = re.compile(r"(?:it|they|he|she|that|those|such|this|these|there|one|both|either|neither|no|none|nothing|"
                        r"only|each of|nor|what|then|we|you|the (?:former|latter|same|said))\b", re.I)  # fmt: skip
_NO_SUBJECT = re.compile(r"(?:there|no|none|nothing|only|in|on|for|by|under|subject|where|if|when|to|at)\b", re.I)
LIMITED = re.compile(r"\b(?:only|either|neither|nor|even|unless|except|without prejudice|other than)\b", re.I)


@dataclass(frozen=True, slots=True)
class Edit:
    """A changed sentence. ``label`` is what it is to the original; ``back`` what the original is to it, "" where that
    is not certain."""

    kind: str
    text: str
    label: Relation
    back: Relation | Literal[""] = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A sentence fit to be edited. The parts are blank where it has no single rule that can be taken apart: ``lead``
    ends in ", ", ``force`` is what the sentence does by the rules of `obligations`, ``rest`` has no full stop."""

    text: str
    lead: str = ""
    subject: str = ""
    modal: str = ""
    negative: bool = False
    rest: str = ""
    force: Label = "other"

    @property
    def binds(self) -> bool:
        """Whether it lays a duty on somebody, other than not to do something."""
        return self.force == "obligation" and self.modal in ("must", "shall") and not self.negative

    @property
    def allows(self) -> bool:
        """Whether it permits somebody to act."""
        return self.force == "permission" and self.modal == "may" and not self.negative and active(self)

    def said(self, verb: str, rest: str = "", end: str = "") -> str:
        """The rule with another verb, other words after it, or words before the full stop."""
        return f"{self.lead}{self.subject} {verb} {rest or self.rest}{end}."


def unnumbered(sentence: str) -> str:
    """The sentence on one line, without the numbers and letters that it is listed under."""
    return _NUMBERING.sub("", tidy(sentence))


def parse(sentence: str) -> Rule | None:
    """The sentence without numbering, taken apart; None where it is a fragment, a list, a quotation or an example."""
    text = unnumbered(sentence)
    count = len(text.split())
    if not (_SHORTEST <= count <= _LONGEST and text[:1].isupper() and text.endswith(".") and text[-2:-1].isalnum()):
        return None
    if (
        _UNSAFE.search(text)
        or not _VERB.search(text)
        or text.count("(") != text.count(")")
        or re.search(r"[.?!] [A-Z(]", text)
    ):
        return None
    found, force = _RULE.match(text), RuleObligationDetector()([text])[0].label
    if not found or len(_MODALS.findall(text)) != 1 or force not in ("obligation", "permission"):
        return Rule(text)
    subject = found["subject"]
    if SIDE.search(subject) or len(subject.split()) > 9 or _NO_SUBJECT.match(subject):
        return Rule(text)
    return Rule(text, found["lead"] or "", subject, found["modal"], bool(found["no"]), found["rest"], force)


# --- what says the same ---------------------------------------------------------------------------------

NUMBER_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_WORD_OF = {str(place): word for place, word in enumerate(NUMBER_WORDS, 2)}
_DIGITS_OF = {word: digits for digits, word in _WORD_OF.items()}
_UNIT = r"(?:(?:[Bb]usiness|[Cc]alendar|[Ww]orking|[Cc]onsecutive) )?(?:[Dd]ays|months|years|weeks|hours)\b"
TIME = re.compile(rf"(?<![\w.,/-] )(?<![\w.,/-])(?P<n>\d{{1,3}}|{'|'.join(NUMBER_WORDS)})(?= {_UNIT})"
                   rf"|(?<=[a-z] )(?P<m>\d{{1,3}}|{'|'.join(NUMBER_WORDS)})(?= {_UNIT})")  # fmt: skip
SHARE = re.compile(r"(?<=[a-z] )(?P<n>\d{1,3})(?P<unit> ?%| per cent\b| percent\b)")

_SYNONYMS = (
    (r"\bprior to\b", "before"), (r"\bcommence\b", "begin"), (r"\bcommencing\b", "beginning"),
    (r"\bimmediately\b", "without delay"), (r"\bin the event that\b", "if"), (r"\bin the event of\b", "in case of"),
    (r"\bsubsequent to\b", "after"), (r"\bpursuant to\b", "under"), (r"\bin relation to\b", "in respect of"),
    (r"\bin respect of\b", "in relation to"), (r"\bfor the purposes? of\b", "for purposes of"),
    (r"\bwith regard to\b", "as regards"), (r"\bat least annually\b", "at least once a year"),
    (r"\bon an annual basis\b", "every year"), (r"\bon a quarterly basis\b", "every quarter"),
    (r"\bnot later than\b", "no later than"), (r"\bno later than\b", "not later than"),
    (r"\bin a timely manner\b", "in good time"), (r"\bensure that\b", "make sure that"),
    (r"\bnot less than (?=\d)", "at least "), (r"\bnot more than (?=\d)", "at most "),
    (r"\bobtain\b", "get"), (r"\bprovided that\b", "on condition that"),
    (r"\bshall not be less than\b", "shall be at least"),
    (r"\butilise\b", "use"), (r"\bforthwith\b", "at once"),
)  # fmt: skip


_ADVERBIAL = re.compile(
    r"(?:by|in|on|at|with|for|as|to|of|from|subject|also|not|where|if|when|within|under|upon|then)\b"
)


def duty(rule: Rule, chance: Random) -> Iterator[Edit]:
    """must = shall = is required to; may = is permitted to; must not = is not permitted to."""
    if not rule.modal or rule.rest.startswith(("only ", "either ", "be required", "be entitled", "be permitted")):
        return
    many = _number_of(rule.subject)
    be = "" if _ADVERBIAL.match(rule.rest) else {"one": "is", "many": "are"}.get(many, "")
    if rule.allows:
        verbs = [f"{be} permitted to", f"{be} allowed to"] if be else []
    elif rule.force == "obligation" and rule.negative:
        verbs = ["shall not" if rule.modal == "must" else "must not"]
        verbs += [f"{be} not permitted to", f"{be} not allowed to"] if be else []
    elif rule.binds:
        verbs = ["shall" if rule.modal == "must" else "must"]
        verbs += [f"{be} required to", {"is": "has to", "are": "have to"}[be]] if be else []
    else:
        return
    if verbs:
        yield Edit("duty", rule.said(chance.choice(verbs)), SAME, SAME)


def _number_of(subject: str) -> str:
    """``one``, ``many`` or blank where it cannot be told."""
    words = re.split(r" (?:of|in|for|under|with|to|at|on|from|by|referred|acting|making)\b", subject)[0].split()
    first, head = words[0].lower(), words[-1]
    plural = head.endswith("s") and not head.endswith(("ss", "us", "is", "'s", "’s"))
    if re.search(r"\b(?:and|or)\b|[’']$", subject):
        return ""
    if first in ("a", "an", "each", "every"):
        return "" if plural else "one"
    if first in ("the", "any") or head.isupper():
        return "" if head.endswith("s") and not plural else "many" if plural else "one"
    return "many" if plural and head.endswith(("persons", "Persons", "institutions", "Institutions", "firms", "Firms",
                                              "States", "authorities", "undertakings", "Bodies")) else ""  # fmt: skip


def synonym(rule: Rule, chance: Random) -> Iterator[Edit]:
    """A word or phrase for another that says the same; only what stands once in the sentence."""
    fits = [(old, new) for old, new in _SYNONYMS if len(re.findall(old, rule.text)) == 1]
    if fits:
        old, new = chance.choice(fits)
        yield Edit("synonym", re.sub(old, new, rule.text), SAME, SAME)


def figures(rule: Rule, chance: Random) -> Iterator[Edit]:
    """ten days = 10 days; 10 % = 10 per cent."""
    del chance
    for found in TIME.finditer(rule.text):
        value = found[0]
        if value in _WORD_OF or value in _DIGITS_OF:
            new = _WORD_OF.get(value) or _DIGITS_OF[value]
            yield Edit("figures", put(rule.text, found, new), SAME, SAME)
            return
    for found in SHARE.finditer(rule.text):
        unit = "%" if "er" in found["unit"] else " per cent"
        yield Edit("figures", put(rule.text, found, found["n"] + unit), SAME, SAME)
        return


_VERBS = (
    "maintain|keep|establish|implement|submit|provide|disclose|publish|appoint|notify|inform|calculate|conduct|document|"
    "retain|review|monitor|prepare|record|identify|assess|obtain|adopt|develop|verify|deliver|deduct|report|include|"
    "apply|use|update|produce|undertake"
)
_PAST = {"keep": "kept", "submit": "submitted", "notify": "notified", "identify": "identified", "verify": "verified",
         "apply": "applied", "undertake": "undertaken"}  # fmt: skip
_TORN = re.compile(
    r"(?:ed|able|ible|iate|ing|due|subject|equal|set|made|given|relevant|necessary)\Z"
)  # what "to" belongs to
_ACTIVE = re.compile(
    rf"\A(?!notify|inform)(?P<verb>{_VERBS})(?: and (?P<also>{_VERBS}))? (?P<object>(?:an?|the|its|their|any|all|"
    r"adequate|appropriate|effective|written|accurate|proper|sufficient)\b[^,()]*?)"
    r"(?P<tail> (?:to|within|before|prior to|no later than|from|on|in|by|at|for) [^,()]*)?\Z"
)
_AGENTS = re.compile(
    r"\b(?:Persons?|Body|Bodies|Institutions?|Regulators?|[Aa]uthority|[Aa]uthorities|[Ff]irms?|Managers?|Trustees?|"
    r"Operators?|Issuers?|Insurers?|Entity|Entities|[Aa]uditors?|EBA|ESMA|EIOPA|Commission|PRA|FCA|FSRA|Applicants?|"
    r"Boards?|Members?|Employees?|Custodians?|Compan(?:y|ies)|[Uu]ndertakings?|institutions?|persons?|Administrators?|"
    r"Actuary|Actuaries|Registrar|Sponsors?|States?|Court|Panel)\Z"
)
ARTICLE = re.compile(r"\A(?:An?|The|Each|Every|Any|All)\b")


def passive(rule: Rule, chance: Random) -> Iterator[Edit]:
    """ "A firm must keep the records" = "The records must be kept by a firm"."""
    del chance
    found = _ACTIVE.match(rule.rest)
    if not found or rule.lead or not rule.binds:
        return
    words = rule.rest.split()
    if found["tail"] and (found["verb"] in ("apply", "use") or _TORN.search(found["object"])):
        return  # "apply a haircut to"
    if re.search(
        r"\b(?:and|or|to be|in order|so|as|its|their|of its|than|not|with|about|between|except|referred)\b",
        found["object"] + (found["tail"] or ""),
    ):
        return
    if len(words) > 25 or SIDE.search(rule.rest) or not (2 <= len(found["object"].split()) <= 10):
        return
    if not active(rule):
        return
    verbs = " and ".join(_past(verb) for verb in (found["verb"], found["also"]) if verb)
    by = rule.subject[0].lower() + rule.subject[1:] if ARTICLE.match(rule.subject) else rule.subject
    subject = found["object"][0].upper() + found["object"][1:]
    yield Edit("passive", f"{subject} {rule.modal} be {verbs} by {by}{found['tail'] or ''}.", SAME, SAME)


def active(rule: Rule) -> bool:
    """Whether the subject is somebody who acts."""
    head = re.split(r" (?:of|in|for|under|with|to|referred|acting)\b", rule.subject)[0]
    return bool(_AGENTS.search(head)) and not re.match(r"(?:be|have)\b", rule.rest)


def _past(verb: str) -> str:
    return _PAST.get(verb) or verb + ("d" if verb.endswith("e") else "ed")


_ITEMS = re.compile(
    r"(?<= )(?P<before>the|its|their|of|for|with|adequate|appropriate|effective|any|all|such|by|in|on|to)"
    r" (?P<one>[a-z]{4,}s), (?P<two>[a-z]{4,}s),? (?P<word>and|or) (?P<three>[a-z]{4,}s)"
    r"(?P<after>(?=[.,])| (?=of|for|to|in|and|or|relating|must|shall|are|with|under|from|by|on)\b)"
)


def reordered(rule: Rule, chance: Random) -> Iterator[Edit]:
    """ "policies, procedures and controls" in another order; or the condition after the rule."""
    items = _ITEMS.search(rule.text)
    if items:
        order = [items["one"], items["two"], items["three"]]
        turned = [order[2], order[0], order[1]] if chance.random() < 0.5 else [order[1], order[2], order[0]]
        new = f"{items['before']} {turned[0]}, {turned[1]} {items['word']} {turned[2]}{items['after']}"
        yield Edit("order", put(rule.text, items, new), SAME, SAME)
    if rule.lead and not ANAPHORIC.match(rule.subject) and not re.search(r"[,()]", rule.rest):
        known = rule.subject.lower().startswith("the ") and rule.subject[4:].lower() in rule.lead.lower()
        if known or SIDE.search(rule.rest):
            return  # "the firm" before "where a firm", or a condition beside another clause
        condition = rule.lead[0].lower() + rule.lead[1:].removesuffix(", ")
        subject = rule.subject[0].upper() + rule.subject[1:]
        yield Edit(
            "order", f"{subject} {rule.modal}{' not' if rule.negative else ''} {rule.rest} {condition}.", SAME, SAME
        )


_DETAIL_END = re.compile(
    r",? (?:immediately|promptly|forthwith|without (?:undue )?delay|as soon as (?:reasonably )?(?:practicable|"
    rf"possible)|in writing|in a timely manner|on an ongoing basis|at all times|within (?:\d+|\w+) {_UNIT}|"
    r"at least annually|on (?:a regular|an annual|a quarterly|a monthly) basis)\Z"
)
_DETAIL_FIRST = re.compile(r"\A(?:immediately|promptly|forthwith|at all times|without (?:undue )?delay) (?=[a-z])")
_TWO_VERBS = re.compile(rf"\A(?P<one>{_VERBS}),? and (?P<two>{_VERBS}) (?=[a-z])")


def detail(rule: Rule, chance: Random) -> Iterator[Edit]:
    """A duty without its manner or deadline, or one of two duties: it follows, and not the other way round."""
    if not rule.binds or LIMITED.search(rule.text):
        return
    if re.search(r"\bnot\b", rule.rest):
        return
    rests = [pattern.sub("", rule.rest) for pattern in (_DETAIL_END, _DETAIL_FIRST) if pattern.search(rule.rest)]
    both = _TWO_VERBS.match(rule.rest)
    if both:
        rests.append(f"{both[chance.choice(['one', 'two'])]} {rule.rest[both.end() :]}")
    rests = [
        rest
        for rest in rests
        if len(rest.split()) > 2 and not rest.endswith((" and", " or", " be", " but", " event", " case"))
    ]
    if rests:
        yield Edit("detail", rule.said(rule.modal, chance.choice(rests)), SAME, MORE)


def put(text: str, found: re.Match[str], new: str) -> str:
    """The text with a match replaced."""
    return text[: found.start()] + new + text[found.end() :]


Kind = Callable[[Rule, Random], Iterator[Edit]]
PRESERVING: dict[str, Kind] = {
    "duty": duty,
    "synonym": synonym,
    "figures": figures,
    "passive": passive,
    "order": reordered,
    "detail": detail,
}
