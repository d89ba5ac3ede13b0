"""What the words of a KPI template say: its KPI, and the section that a head or a sum is of. In English and German."""

from __future__ import annotations

import re
from typing import Literal

from responsa.taxonomy.numbers.kpi_rows import OF_WHICH

Kpi = Literal["turnover", "capex", "opex"]
Section = Literal["A.1", "A.2", "A", "B", "total"]

_KPIS: tuple[tuple[Kpi, re.Pattern[str]], ...] = (
    ("turnover", re.compile(r"turnover|revenues?\b|\b(?:net )?sales\b|umsatz|chiffre d.affaires", re.IGNORECASE)),
    ("capex", re.compile(r"cap\s?-?ex\b|capital expenditures?|investitionsausgaben", re.IGNORECASE)),
    ("opex", re.compile(r"op\s?-?ex\b|operating expen(?:ses?|ditures?)|betriebsausgaben", re.IGNORECASE)),
)
A1 = re.compile(r"\bA\s?\.?\s?1\b")
_A2 = re.compile(r"\bA\s?\.?\s?2\b")
_NOT = r"(?:not|non|nicht|but not)[\s-]+"
_ALIGNED = re.compile(
    r"environmentally[\s-]+sustainable|taxonomy[\s-]+aligned|ökologisch nachhaltig|taxonomiekonform", re.IGNORECASE
)
_UNALIGNED = re.compile(
    rf"{_NOT}(?:environmentally[\s-]+sustainable|taxonomy[\s-]+aligned|ökologisch nachhaltig|taxonomiekonform)",
    re.IGNORECASE,
)
_INELIGIBLE = re.compile(
    r"(?:\bnon[\s-]+(?:taxonomy[\s-]+)?eligible|taxonomy[\s-]+non[\s-]+eligible|not (?:taxonomy[\s-]+)?eligible|nicht"
    r"[\s-]+taxonomiefähig)",
    re.IGNORECASE,
)
_ELIGIBLE = re.compile(r"eligible|taxonomiefähig", re.IGNORECASE)
_B = re.compile(r"\A\W{0,2}B\b[.:)]?(?:\s|\Z)")
_A = re.compile(r"\A\W{0,2}A\b[.:)]?\s")
_TOTAL = re.compile(
    r"\A\W{0,2}(?:(?:grand )?total|sum|gesamt|summe)\b(?!.*\beligible)|\bA\.?\s?\+\s?B\b", re.IGNORECASE
)
SUBTOTAL = re.compile(
    r"(?:turnover|revenues?|sales|cap\s?-?ex|capital expenditures?|op\s?-?ex|operating expen\w+|umsatz\w*|"
    r"\w+ausgaben)\b(?: \(?\w+\)?){0,2}\s(?:of|from|aus|for)?\b.*(?:activities|tätigkeiten)|\A\W{0,2}(?:sub-?)?total\b"
    r"|\AA\.? ?[12]\.? ?total|\(A\.?\s?[12]\.?\)\W*\Z",
    re.IGNORECASE,
)
HEAD = re.compile(r"\A.*(?:aligned|activities|Tätigkeiten|konform)\)?\W*\s(?=[A-ZÄÖÜ])")  # of a section, before a line
LONG_LABEL = 260  # characters: longer ones are running text


def kpi_of(text: str) -> Kpi | None:
    """The KPI that a text names most often; the first named among equals."""
    counts = [(len(pattern.findall(text)), kpi) for kpi, pattern in _KPIS]
    most = max(count for count, _ in counts)
    return next(kpi for count, kpi in counts if count == most) if most else None


def section_of(label: str) -> Section | None:
    """The section whose head or sum a label is; None where it is neither."""
    if not label or len(label) > LONG_LABEL or OF_WHICH.match(label):
        return None
    one, two = A1.search(label), _A2.search(label)
    if _TOTAL.search(label) and not one and not two:
        return "total"
    if one and two:
        return "A"
    if one or two:
        return _last_section(label, "A.1" if one else "A.2")
    if _INELIGIBLE.search(label) and (_B.match(label) or SUBTOTAL.search(label) or len(label) < 60):
        return "B"
    if _UNALIGNED.search(label) and (_ELIGIBLE.search(label) or SUBTOTAL.search(label)):
        return "A.2"
    if _ALIGNED.search(label) and not _UNALIGNED.search(label) and len(label) < 130:
        return "A.1"
    if _A.match(label) and _ELIGIBLE.search(label):
        return "A"
    return None


def _last_section(label: str, section: Section) -> Section | None:
    """A section that is named in running text is none: it stands first or last."""
    place = (A1 if section == "A.1" else _A2).search(label)
    stands = place is not None and (
        place.start() <= 12 or place.end() >= len(label) - 4 or bool(_ALIGNED.search(label))
    )
    return section if stands else None
