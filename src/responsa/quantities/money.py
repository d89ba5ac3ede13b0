"""What a table's numbers count, from its heads and titles: "€ million", "in € thousand", "TEUR", "Mio. €"."""

from __future__ import annotations

import re
from typing import NamedTuple

_CODES = {"€": "EUR", "$": "USD", "us$": "USD", "£": "GBP", "¥": "JPY"}
_CURRENCY = r"(?P<{0}>€|US\$|\$|£|¥|EUR\b|USD\b|GBP\b|CHF\b|SEK\b|DKK\b|NOK\b|PLN\b|CZK\b|JPY\b|AUD\b|CAD\b|euros?\b)"
_SCALES = (
    (10**9, "billion", r"billions?|bns?|mrd\.?|milliarden"),
    (10**6, "million", r"millions?|mill?n?\.?|mn|mio\.?|mln\.?|m|millionen"),
    (10**3, "thousand", r"thousands?|tsd\.?|tausend|k|t|['’]?000s?"),
)
_SCALE = "|".join(words for _, _, words in _SCALES)
_PATTERNS = (
    re.compile(rf"(?<![\w.,]){_CURRENCY.format('c')}\s?\(?(?:in\s)?(?P<s>{_SCALE})(?![\w€'])", re.IGNORECASE),
    re.compile(rf"(?<![\w.,])(?P<s>{_SCALE})\s?(?:of\s)?{_CURRENCY.format('c')}(?!\w)", re.IGNORECASE),
    re.compile(r"(?<!\w)(?P<s>[TkKmM])(?P<c>EUR|€|USD|GBP|CHF)(?!\w)"),
    re.compile(r"(?<!\w)(?P<c>EUR|USD|GBP|CHF)(?P<s>k|m|mn|bn)(?!\w)"),
)
_ALONE = re.compile(rf"(?<![\w.,]){_CURRENCY.format('c')}(?!\s?\d)", re.IGNORECASE)


class Counted(NamedTuple):
    """``code`` as in ISO 4217; a number of the table stands for ``factor`` of it. ``name``: "EUR million"."""

    code: str
    factor: int
    name: str


def counted(text: str) -> Counted | None:
    """The currency and the scale that a head states, the first where there are several; None where it states none."""
    found = [match for pattern in _PATTERNS for match in pattern.finditer(text)]
    if found:
        match = min(found, key=lambda each: each.start())
        code, word = _code(match["c"]), match["s"]
        factor, name = next(
            (factor, name) for factor, name, words in _SCALES if re.fullmatch(words, word, re.IGNORECASE)
        )
        return Counted(code, factor, f"{code} {name}")
    alone = _ALONE.search(text)
    return Counted(_code(alone["c"]), 1, _code(alone["c"])) if alone else None


def _code(currency: str) -> str:
    return "EUR" if currency.lower().startswith("euro") else _CODES.get(currency.lower(), currency.upper())
