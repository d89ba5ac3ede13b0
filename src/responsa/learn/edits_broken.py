"""Edits after which a rule is another rule, or says more than it did. See `edits`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from responsa.learn.edits import (
    ANAPHORIC,
    ARTICLE,
    BROKEN,
    LIMITED,
    MORE,
    NUMBER_WORDS,
    SAME,
    SHARE,
    SIDE,
    TIME,
    Edit,
    Kind,
    Rule,
    active,
    put,
)

_ADDRESSEES = ("auditor", "custodian", "issuer", "competent authority", "insurer", "trustee", "external actuary",
               "parent undertaking", "liquidator", "registrar", "exchange", "depositor")  # fmt: skip


_NOT_PLAIN = re.compile(
    r"(?:be (?:required|obliged|entitled|permitted|allowed)|also|always|not|in|for|by|at|on|with|immediately|promptly|"
    r"subject|where|if|have the)\b"
)


def _plain(rule: Rule) -> bool:
    """Whether the verb can be changed without a look at the rest."""
    return bool(rule.modal) and not LIMITED.search(rule.text) and not _NOT_PLAIN.match(rule.rest)


def modality(rule: Rule, chance: Random) -> Iterator[Edit]:
    """A duty made optional, a permission made a duty; one contradicts the other."""
    if not _plain(rule):
        return
    if rule.binds:
        verbs = ["need not", "may", *(["may choose not to"] if active(rule) else [])]
        yield Edit("modality", rule.said(chance.choice(verbs)), BROKEN, BROKEN)
    elif rule.allows and not re.search(r"\b(?:or|any|such)\b", rule.rest):
        yield Edit("modality", rule.said(chance.choice(["must", "shall"])), BROKEN, BROKEN)


def negation(rule: Rule, chance: Random) -> Iterator[Edit]:
    """A duty or permission denied, a prohibition lifted."""
    if not _plain(rule) or re.search(r"\b(?:not|no)\b", rule.rest):
        return
    if rule.negative and rule.force == "obligation":
        yield Edit(
            "negation", rule.said("may" if rule.modal == "may" else chance.choice(["may", rule.modal])), BROKEN, BROKEN
        )
    elif rule.binds:
        yield Edit("negation", rule.said(f"{rule.modal} not"), BROKEN, BROKEN)
    elif rule.allows:
        yield Edit("negation", rule.said(chance.choice(["may not", "must not"])), BROKEN, BROKEN)


_MONEY = re.compile(r"(?P<sign>(?:USD|EUR|GBP|US\$|[$€£]) ?)(?P<n>[1-9]\d{0,2}(?:,\d{3})*)(?![\d.,]?\d)")
_EXAMPLE = re.compile(r"\b(?:example|such as|illustrat\w+|Article|Articles)\b.{0,12}\Z")


def number(rule: Rule, chance: Random) -> Iterator[Edit]:
    """Another time, percentage or amount."""
    found = [match for pattern in (TIME, SHARE, _MONEY) for match in pattern.finditer(rule.text)]
    found = [match for match in found if not _EXAMPLE.search(rule.text[: match.start()])]
    if not found:
        return
    chosen = chance.choice(found)
    names = chosen.groupdict()
    old = names["n"] or names.get("m") or ""
    new = _other_number(old, chance, share="unit" in names)
    if new and not re.search(rf"(?<![\w,.]){re.escape(new)}(?![\w,.])", rule.text):
        start = chosen.start("n") if names["n"] else chosen.start("m")
        text = rule.text[:start] + new + rule.text[start + len(old) :]
        yield Edit("number", text, BROKEN, BROKEN)


def _other_number(old: str, chance: Random, share: bool) -> str:
    if old in NUMBER_WORDS:
        return chance.choice([word for word in NUMBER_WORDS if word != old])
    value = int(old.replace(",", ""))
    options = [value * 2, value * 3, value + 5, value // 2 if value % 2 == 0 else value + 10]
    fits = [option for option in options if option > 1 and option != value and not (share and option > 100)]
    return f"{chance.choice(fits):,}" if fits and "," in old else str(chance.choice(fits)) if fits else ""


_AT_ONCE = re.compile(r"\A(?:immediately|promptly|forthwith|without (?:undue )?delay) (?=[a-z])")
_AT_ONCE_END = re.compile(r",? (?:immediately|promptly|forthwith|without (?:undue )?delay|as soon as practicable)\Z")
_LATER = ("within twelve months", "within 90 days", "by the end of the following year", "at any time it likes")
_OFTEN = re.compile(
    r"\b(?:at least (?:once (?:a|every) (?:month|quarter|year)|monthly|quarterly|semi-annually|annually)|"
    r"on an? (?:monthly|quarterly|annual) basis)\b"
)
_BEFORE = re.compile(
    r"\b(?P<word>before|prior to|after) (?P<verb>(?!being|having|taking|considering|hearing|consult)[a-z]{3,}ing)\b"
)
_NO_TURN = re.compile(r"\b(?:before or|or after|and after|even|days?|months?|years?) \Z")
_NO_LATER = re.compile(r"\b(?P<word>no|not) later than\b(?! within)")


def deadline(rule: Rule, chance: Random) -> Iterator[Edit]:
    """Another time for the same act: later, earlier, or less often."""
    text = rule.text
    for pattern in (_AT_ONCE, _AT_ONCE_END) if rule.binds and _plain_time(text) else ():
        found = pattern.search(rule.rest)
        if found:
            later = chance.choice(_LATER[:3])
            if pattern is _AT_ONCE:
                yield Edit(
                    "deadline", rule.said(f"{rule.modal},", f"{later}, {put(rule.rest, found, '')}"), BROKEN, BROKEN
                )
            else:
                yield Edit("deadline", rule.said(rule.modal, put(rule.rest, found, f" {later}")), BROKEN, BROKEN)
    often = _OFTEN.search(text)
    if often:
        new = chance.choice(["only every third year", "once every five years"])
        yield Edit("deadline", put(text, often, new), BROKEN, BROKEN)
    late = _NO_LATER.search(text)
    if late:
        yield Edit("deadline", put(text, late, f"{late['word']} earlier than"), BROKEN, BROKEN)
    turn = list(_BEFORE.finditer(text))
    if len(turn) == 1 and rule.modal and not _NO_TURN.search(text[: turn[0].start()]):
        new = "before" if turn[0]["word"] == "after" else "after"
        yield Edit(
            "deadline", text[: turn[0].start()] + f"{new} {turn[0]['verb']}" + text[turn[0].end() :], BROKEN, BROKEN
        )


def _plain_time(text: str) -> bool:
    return not re.search(r"\b(?:within|no later|not later|before|by the end)\b", text)


_AMOUNT = rf"(?=(?:\d|{'|'.join(NUMBER_WORDS)}\b|(?:USD|EUR|GBP|US\$|[$€£]) ?\d))"
_BOUNDS = tuple((re.compile(rf"\b(?:{old}) {_AMOUNT}"), new) for old, new in (
    ("at least|not less than|no less than|no fewer than|not fewer than", "no more than"),
    ("no more than|not more than|at most|(?<=of )up to", "at least"),
))  # fmt: skip


def bound(rule: Rule, chance: Random) -> Iterator[Edit]:
    """A minimum made a maximum, or the reverse."""
    del chance
    for pattern, new in _BOUNDS:
        found = list(pattern.finditer(rule.text))
        before = rule.text[: found[0].start()] if found else ""
        if (
            len(found) == 1
            and not SIDE.search(before)
            and not re.search(r"\b(?:no|not|nor|never|be|or|does not) \Z", before)
        ):
            yield Edit("bound", put(rule.text, found[0], f"{new} "), BROKEN, BROKEN)
            return
        if found:
            return


def addressee(rule: Rule, chance: Random) -> Iterator[Edit]:
    """Somebody else instead, which the sentence says."""
    if not _plain(rule) or rule.negative or rule.force == "other" or not active(rule) or ANAPHORIC.match(rule.subject):
        return
    options = [one for one in _ADDRESSEES if one not in rule.text.lower()]
    if options:
        subject = rule.subject[0].lower() + rule.subject[1:] if ARTICLE.match(rule.subject) else rule.subject
        new = chance.choice(options)
        first = "the" if rule.lead else "The"
        yield Edit("addressee", f"{rule.lead}{first} {new}, not {subject}, {rule.modal} {rule.rest}.", BROKEN, BROKEN)


_UNLESS = re.compile(r",? unless (?P<case>(?:an?|the|it|they|he|its|all|both|[A-Z]\w+)\b[^,]*)\Z")
_EXCEPT = re.compile(r",? except (?P<word>where|when|if) (?!otherwise)(?P<case>[a-z][^,]*)\Z")
_OTHER = re.compile(r"\((?:other than|excluding|except for) (?P<what>[^()]*)\)")
_GRANTS = ("its board decides otherwise", "the cost of doing so would be high", "it considers the matter immaterial",
           "it has fewer than five members of staff", "another firm in its group does so")  # fmt: skip


def exception(rule: Rule, chance: Random) -> Iterator[Edit]:
    """An exception denied; or one claimed for an unconditional duty."""
    if rule.modal:
        unless, excepted = _UNLESS.search(rule.rest), _EXCEPT.search(rule.rest)
        verb = f"{rule.modal}{' not' if rule.negative else ''}"
        if unless:
            rests = [f"{rule.rest[: unless.start()]}, even if {unless['case']}",
                     f"{rule.rest[: unless.start()]}, without any exception"]  # fmt: skip
            yield Edit("exception", rule.said(verb, chance.choice(rests)), BROKEN, BROKEN)
        elif excepted:
            rest = f"{rule.rest[: excepted.start()]}, even {excepted['word']} {excepted['case']}"
            yield Edit("exception", rule.said(verb, rest), BROKEN, BROKEN)
        elif _unconditional(rule) and "subject to" not in rule.rest:
            end = f", but need not do so where {chance.choice(_GRANTS)}"
            yield Edit("exception", rule.said(rule.modal, end=end), BROKEN, BROKEN)
    other = list(_OTHER.finditer(rule.text))
    if len(other) == 1:
        yield Edit("exception", put(rule.text, other[0], f"(including {other[0]['what']})"), BROKEN, BROKEN)


def _unconditional(rule: Rule) -> bool:
    return rule.binds and active(rule) and _plain(rule) and not rule.lead and not SIDE.search(rule.rest)


# --- what says more -------------------------------------------------------------------------------------


def condition(rule: Rule, chance: Random) -> Iterator[Edit]:
    """The rule without its condition: it says more, and the rule with it follows."""
    if not rule.lead or ANAPHORIC.match(rule.subject) or re.match(r"the\b", rule.subject):
        return
    if re.search(r"\b(?:that|those|such|it|they|this|these|therein|thereof)\b", rule.rest):
        return
    verb = f"{rule.modal}{' not' if rule.negative else ''}"
    subject = rule.subject[0].upper() + rule.subject[1:]
    end = chance.choice([" in every case", " in all circumstances", ", whatever the circumstances"])
    yield Edit("condition", f"{subject} {verb} {rule.rest}{end}.", MORE, SAME)


_ADDITIONS = (
    "must keep a record of having done so", "must pay a fee each time", "must publish a notice of it on its website",
    "must have its board approve this", "must tell its clients that it has done so", "must train its staff for it",
    "must have an external expert check the result", "must report on it in its annual accounts",
    "must appoint a named senior manager for it", "must repeat this every quarter",
    "must send a copy to its auditor", "must obtain legal advice on it",
)  # fmt: skip
_TOUCHED = re.compile(r"\b(?:record|fee|publish|website|board|train|report|auditor)", re.IGNORECASE)  # by additions


def addition(rule: Rule, chance: Random) -> Iterator[Edit]:
    """A second duty that the sentence does not have."""
    if _unconditional(rule) and not _TOUCHED.search(rule.text):
        end = f", and {chance.choice(_ADDITIONS)}"
        yield Edit("addition", rule.said(rule.modal, end=end), MORE, SAME)


BREAKING: dict[str, Kind] = {
    "modality": modality,
    "negation": negation,
    "number": number,
    "deadline": deadline,
    "bound": bound,
    "addressee": addressee,
    "exception": exception,
    "condition": condition,
    "addition": addition,
}
