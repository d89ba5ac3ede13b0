"""What both sources of EU law print the same way: names of acts, numbers of provisions, dates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from responsa.corpus import acts
from responsa.corpus.readers.clauses import Block, Clause

_CELEX = re.compile(r"(?<!\d)[03]?((?:19|20)\d{2}[RLDH]\d{4})(?!\d)", re.IGNORECASE)
_DAY = re.compile(r"(?<!\d)((?:19|20)\d{2})-?(\d{2})-?(\d{2})(?!\d)")
_PRINTED = re.compile(r"(?<!\d)(\d{1,2})\.(\d{1,2})\.((?:19|20)\d{2})(?!\d)")
_ARTICLE = re.compile(r"\W*Article\s+(?:(\d+)\s?([a-z]{0,3})\b|(\w+))", re.IGNORECASE)
_ANNEX = re.compile(r"\W*ANNEX\b\s*([IVXLC]+[a-z]?|\d+[a-z]?|[A-Z])?\b[\s:.–—-]*", re.IGNORECASE)
_APPENDIX = re.compile(r"\W*APPENDIX\s+([A-Z]|[IVX]+|\d+)\b[\s:.–—-]*(.*)", re.IGNORECASE | re.DOTALL)
_RELEVANCE = re.compile(r"\s*\(Text with (?:EEA|relevance).*?\)", re.IGNORECASE)
_DESIGNATION = re.compile(r".{0,80}?\d{1,4}/\d{1,4}(?:/[A-Z]{2,7})?")
_SHOUTED = re.compile(r"\b(?:[A-Z]{4,}|OF|THE|AND|ON|TO)\b")
_SMALL = frozenset({"OF", "THE", "AND", "ON", "TO"})
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_FORCE = re.compile(
    r"enters? into force (?:on )?(?:the (?:(day)|(\w+) day) following (?:that|the day) of its publication"
    rf"|(the day of its publication)|(?:on )?(\d{{1,2}}) ({'|'.join(_MONTHS)}) (\d{{4}}))"
)
_DAYS = {"third": 3, "fifth": 5, "seventh": 7, "tenth": 10, "fifteenth": 15, "twentieth": 20}


def short_name(celex: str) -> str:
    """What the ids of an act's provisions begin with: CRR, or "Directive 2013/36" where it has no short name."""
    return acts.name_of(celex)


def celex_in(text: str) -> str | None:
    """The CELEX number in a text such as "02013R0575-20240709": that of the act itself, not of a version."""
    found = _CELEX.search(text)
    return f"3{found[1].upper()}" if found else None


def celex_of_title(title: str) -> str | None:
    """The CELEX number of the act that a title begins with."""
    return next((token.value for token in acts.tokens(title) if token.kind == "act" and token.value[:1] == "3"), None)


def from_name(stem: str) -> str | None:
    return celex_in(stem)


def date_of(stem: str) -> date | None:
    """The date in a file's name."""
    found = _DAY.search(_CELEX.sub(" ", stem))
    return day("".join(found.groups())) if found else None


def day(digits: str) -> date | None:
    """A date written as 20240709; None for none, and for 9999, which stands for no end."""
    try:
        return date.fromisoformat(digits) if len(digits) == 8 and not digits.startswith("9999") else None
    except ValueError:
        return None


def printed_day(text: str) -> date | None:
    """A date written as 9.7.2024."""
    found = _PRINTED.search(text)
    return day(f"{found[3]}{found[2]:0>2}{found[1]:0>2}") if found else None


def title(lines: Sequence[str]) -> str:
    """The title of an act in one line, without the remark on its relevance for the EEA."""
    return _RELEVANCE.sub("", " ".join(lines)).strip()


def short_title(title: str, celex: str) -> str:
    """What an act is listed by: "CRR — Regulation (EU) No 575/2013"; its title where it has no short name."""
    name = acts.name_of(celex)
    found = _DESIGNATION.match(title)
    if found is None or "/" in name:
        return _calm(title)
    return f"{name} — {_calm(found[0])}"


def _calm(text: str) -> str:
    """Without the capitals in which pages print the names of acts."""
    return _SHOUTED.sub(lambda word: word[0].lower() if word[0] in _SMALL else word[0].capitalize(), text)


def article_label(text: str) -> str:
    """ "92a" of "Article 92a" (and of "Article 92 a"); the whole text where there is no number."""
    found = _ARTICLE.match(text)
    return (found[3] or f"{found[1]}{found[2].lower()}") if found else text


def annex_label(lines: Sequence[str]) -> tuple[str, str]:
    """ "I" and the title of "ANNEX I", "Classification of ..."."""
    text = " ".join(lines)
    found = _ANNEX.match(text)
    return (found[1] or "", text[found.end() :].strip()) if found else ("", text)


def appendix(lines: Sequence[str]) -> tuple[str, str] | None:
    """ "Appendix A" and its title; None for the heading of anything else."""
    found = _APPENDIX.match(" ".join(lines))
    return (f"Appendix {found[1]}", found[2].strip()) if found else None


def bare_label(text: str) -> str:
    """ "a" of "(a)", "1a" of "1a.", "1" of "‘1."."""
    return text.strip().strip("‘’“”\"'").strip().strip("().").strip()


def entry_into_force(clauses: Iterable[Clause], published: date | None) -> date | None:
    """When an act says that it enters into force; where it does not say, the day of its publication.

    None where it says so by its publication and the day of that is not known.
    """
    for text in _texts(clauses):
        found = _FORCE.search(text)
        if found is None:
            continue
        if found[4]:
            return day(f"{found[6]}{_MONTHS.index(found[5]) + 1:02}{int(found[4]):02}")
        days = 1 if found[1] else 0 if found[3] else _DAYS.get(found[2], 0)
        if found[2] and not days:
            continue
        return None if published is None else published + timedelta(days)
    return published


def _texts(clauses: Iterable[Clause]) -> Iterable[str]:
    for clause in clauses:
        for part in clause.parts:
            if isinstance(part, Block):
                yield part.text
            elif part.level != "quoted":
                yield from _texts([part])
