"""What a table's numbers count, from its heads and titles: "€ million", "in € thousand", "TEUR", "Mio. €"."""

from __future__ import annotations

import re
from typing import NamedTuple

_CODES = {"€": "EUR", "$": "USD", "us$": "USD", "£": "GBP", "¥": "JPY"}
_CURRENCY = r"(?P<{0}>€|US\$|\$|£|¥|EUR\b|USD\b|GBP\b|CHF\b|SEK\b|DKK\b|NOK\b|PLN\b|CZK\b|JPY\b|AUD\b|CAD\b|euros?\b)"
_THOUSAND = r"1[,.'’ \u00a0\u202f]?000"
_SCALES = (
    (10**12, "trillion", r"trillions?|billionen|tn"),
    (10**9, "billion", r"billions?|bns?|mrd\.?|milliarden?|(?<![\s(])b"),  # a lone b is glued on: "€b"
    (10**6, "million", r"millions?|mill?n?\.?|mn|mio\.?|mln\.?|mm|m|millionen"),
    (10**3, "thousand", r"thousands?|tsd\.?|tausend|k|t|['’]?000s?|" + _THOUSAND),
)
SCALE_WORDS = (
    r"(?:thousands?|tausend|tsd\.?|millionen|millions?|mio\.?|mln\.?|mn|milliarden?|mrd\.?|bn|billionen|billions?|"
    r"trillions?)"
)
"""What stands between a number and its unit for a thousand and more, as a pattern without regard to case."""
_SCALE = "|".join(words.removesuffix(f"|{_THOUSAND}") for _, _, words in _SCALES)
_COUNTED_IN = r"(?:\bin\s|[(\[](?=[^()\[\]]{1,14}[)\]]))"
IN_THOUSANDS = re.compile(rf"{_COUNTED_IN}(?:{_CURRENCY.format('c')}\s?)?{_THOUSAND}(?!\d|[,.]\d|\s\d)", re.IGNORECASE)
"""What says that numbers are in thousands, with its number: "in 1,000 €", "(EUR 1,000)", "in 1.000 t"."""
_PATTERNS = (
    re.compile(rf"(?<![\w.,]){_CURRENCY.format('c')}\s?\(?(?:in\s)?(?P<s>{_SCALE})(?![\w€'])", re.IGNORECASE),
    re.compile(rf"(?<![\w.,])(?P<s>{_SCALE})\s?(?:of\s)?{_CURRENCY.format('c')}(?!\w)", re.IGNORECASE),
    re.compile(r"(?<!\w)(?P<s>[TkKmM])(?P<c>EUR|€|USD|GBP|CHF)(?!\w)"),
    re.compile(r"(?<!\w)(?P<c>EUR|USD|GBP|CHF)(?P<s>k|m|mn|mm|b|bn)(?!\w)"),
    # "in 1,000 €", "(EUR 1,000)"; without "in" or brackets it is a sum of money
    re.compile(rf"{_COUNTED_IN}(?P<s>{_THOUSAND})\s?{_CURRENCY.format('c')}(?!\w)", re.IGNORECASE),
    re.compile(rf"{_COUNTED_IN}{_CURRENCY.format('c')}\s?(?P<s>{_THOUSAND})(?!\w|[,.]\d)", re.IGNORECASE),
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
        code = _code(match["c"])
        factor, name = _scale(match["s"])
        return Counted(code, factor, f"{code} {name}")
    alone = _ALONE.search(text)
    return Counted(_code(alone["c"]), 1, _code(alone["c"])) if alone else None


def scale_factor(word: str) -> int:
    """What a word counts: 1,000,000 for "Mio."; 1 for none. ValueError for a word that is no scale."""
    return _scale(word)[0] if word else 1


def _scale(word: str) -> tuple[int, str]:
    for factor, name, words in _SCALES:
        if re.fullmatch(words, word, re.IGNORECASE):
            return factor, name
    raise ValueError(f"not a scale: {word!r}")


def _code(currency: str) -> str:
    return "EUR" if currency.lower().startswith("euro") else _CODES.get(currency.lower(), currency.upper())
