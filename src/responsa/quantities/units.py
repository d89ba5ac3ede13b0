"""Units as reports and criteria write them, brought to one normal unit for each kind of thing that they measure.

"kWh per sqm p. a.", "kWh/(m²a)" and "MWh/m2" are all told in ``kWh/m2``. Grams of CO2 and of CO2 equivalents are told
in one unit; a year that an amount is for is left out of its unit.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple


class Unit(NamedTuple):
    """One of it is ``factor`` times the normal unit ``name``."""

    name: str
    factor: float


_CO2 = (
    r"(?:CO\s?[2₂](?:\s?[-‐]?\s?(?:equivalents?|eq(?:uiv)?\b\.?|äquivalente?n?|e\b|e(?=[/\s)]|\Z)))?|"
    r"carbon(?: dioxide)?(?:[ -]"
    r"equivalents?)?(?= |[.,;)]|\Z)|GHG\b|greenhouse gas(?:es)?\b)"
)
_OF_CO2 = rf"(?:\s\([A-Za-z]{{1,4}}\))?(?:\s?[-‐]?\s?(?:of\s)?{_CO2})"
_END = r"(?![a-zäöüßA-Z\d]|CO)"
_MASSES = (
    ("Gt|gigatonnes?|gigatons?", 1e15), ("Mt|MtCO2e|megatonnes?|megatons?", 1e12),
    ("kt|ktonnes?|kilotonnes?|kilotons?", 1e9),
    ("t|(?:metric |short )?tonnes?|(?:metric )?tons?|Tonnen", 1e6),
    ("kg|kilograms?|kilogrammes?", 1e3), ("g|grams?|grammes?", 1.0),
    ("mg|milligrams?", 1e-3),
)  # fmt: skip
_ATOMS: list[tuple[str, str, float]] = [
    *[(rf"(?:{words}){_OF_CO2}", "CO2", factor) for words, factor in _MASSES],
    (r"(?:t|tonne|ton)[-\s.·]?k(?:m|ilomet(?:re|er)s?)(?![a-z\d])", "tkm", 1.0),
    (r"p(?:assenger)?[-\s.·]?k(?:m|ilomet(?:re|er)s?)(?![a-z\d])", "pkm", 1.0),
    *[(rf"(?:{words}){_END}", "mass", factor) for words, factor in _MASSES],
    *[
        (rf"(?:{short}Wh|{word}watt[-\s]?hours?){_END}", "energy", factor)
        for short, word, factor in (
            ("k", "kilo", 1.0), ("M", "mega", 1e3), ("G", "giga", 1e6), ("T", "tera", 1e9), ("P", "peta", 1e12),
        )
    ],
    *[
        (rf"(?:{short}J|{word}joules?){_END}", "energy", factor / 3.6)
        for short, word, factor in (("M", "mega", 1.0), ("G", "giga", 1e3), ("T", "tera", 1e6), ("P", "peta", 1e9))
    ],
    (rf"Wh{_END}", "energy", 1e-3),
    *[
        (rf"(?:{short}W(?:p|el|th|e)?|{word}watts?){_END}", "power", factor)
        for short, word, factor in (("k", "kilo", 1.0), ("M", "mega", 1e3), ("G", "giga", 1e6), ("T", "tera", 1e9))
    ],
    (r"W(?=\s?/|\s?\(|\sper\s)", "power", 1e-3),
    (r"(?:km[²2]|square kilomet(?:re|er)s?)(?!\d)", "area", 1e6),
    (r"(?:(?:m[²2]|m 2|sqm|sq\.?\s?m|square met(?:re|er)s?|Quadratmetern?)(?![a-z\d])|m[²2](?=a\b|K))", "area", 1.0),
    (r"(?:sq\.?\s?ft\.?|sqft|square (?:feet|foot))(?![a-z\d])", "area", 0.09290304),
    (r"(?:hectares?|ha)(?![a-z\d])", "area", 1e4),
    (r"acres?(?![a-z])", "area", 4046.8564224),
    (r"(?:N?m[³3]|m 3|cubic met(?:re|er)s?)(?![a-z\d])", "volume", 1.0),
    (r"hl(?![a-z\d])|hectolit(?:re|er)s?", "volume", 0.1),
    (r"(?:lit(?:re|er)s?|[lL])(?![a-zA-Z\d])", "volume", 1e-3),
    (r"100\s?km(?![a-z\d])", "length", 100.0),
    (r"(?:km|kilomet(?:re|er)s?)(?![a-z\d²³])", "length", 1.0),
    (r"miles?(?![a-z])", "length", 1.609344),
    (r"m(?=\s?[·.*⋅]?\s?K)|met(?:re|er)s(?![a-z])", "length", 1e-3),
    (r"K(?![a-zA-Z\d])", "kelvin", 1.0),
    (r"°\s?C(?![a-z])", "celsius", 1.0),
    (r"(?:years?|yr|annum|a|Jahr|p\.\s?a\.?|annually)(?![a-zA-Z\d])", "year", 1.0),
    (r"months?(?![a-z])", "year", 1 / 12),
    (r"(?:min|minutes?)(?![a-z\d])", "minute", 1.0),
    (r"percentage points?|pp(?![a-z])|%[- ]points?", "points", 1.0),
    (r"%|percent\b|per\s?cent\b|Prozent\b", "%", 1.0),
]  # fmt: skip
_ATOM = re.compile("|".join(f"(?P<u{index}>{pattern})" for index, (pattern, _, _) in enumerate(_ATOMS)))
_PER = re.compile(r"\s?/\s?\(?\s?|\s(?:per|pro)\s(?:square\s(?=km))?|(?<=[\w²³.])\s(?=p\.\s?a)|\s(?=annually)")
_TIMES = re.compile(
    r"\s?[·.*⋅x]?\s?(?=K(?![a-zA-Z\d]))|\s?[·.*⋅]?\s?(?=a(?![a-zA-Z\d])|year|yr)"
    r"|\s?[·*⋅]\s?(?=[mK])"
)
_WORD = re.compile(r"[A-Za-z]+")
_NO_UNITS = frozenset({"the", "our", "its", "their", "this", "which"})
_ONLY_BELOW = re.compile(r"a|annum|annually|p\.\s?a\.?|K")
_CLOSE = re.compile(r"\s?\)")
_NORMAL: dict[tuple[str, ...], tuple[str, float]] = {
    ("CO2",): ("tCO2e", 1e6), ("CO2", "/energy"): ("gCO2e/kWh", 1.0), ("CO2", "/length"): ("gCO2e/km", 1.0),
    ("CO2", "/tkm"): ("gCO2e/tkm", 1.0), ("CO2", "/pkm"): ("gCO2e/pkm", 1.0), ("CO2", "/mass"): ("tCO2e/t", 1.0),
    ("CO2", "/area"): ("kgCO2e/m2", 1e3), ("CO2", "/volume"): ("kgCO2e/m3", 1e3),
    ("energy",): ("MWh", 1e3), ("energy", "/area"): ("kWh/m2", 1.0), ("energy", "/volume"): ("kWh/m3", 1.0),
    ("energy", "/mass"): ("MWh/t", 1e-3), ("energy", "/length"): ("kWh/km", 1.0),
    ("power",): ("kW", 1.0), ("power", "/area"): ("W/m2", 1e-3), ("power", "/area", "/kelvin"): ("W/m2K", 1e-3),
    ("power", "/kelvin", "/length"): ("W/mK", 1.0), ("mass",): ("t", 1e6), ("mass", "/volume"): ("kg/m3", 1e3),
    ("mass", "/length"): ("g/km", 1.0), ("mass", "/energy"): ("g/kWh", 1.0), ("mass", "/tkm"): ("g/tkm", 1.0),
    ("mass", "/pkm"): ("g/pkm", 1.0), ("mass", "/mass"): ("t/t", 1.0), ("mass", "/area"): ("kg/m2", 1e3),
    ("area",): ("m2", 1.0), ("volume",): ("m3", 1.0), ("volume", "/minute"): ("l/min", 1e-3),
    ("volume", "/mass"): ("m3/t", 1e-6), ("volume", "/length"): ("l/km", 1e-3), ("volume", "/area"): ("m3/m2", 1.0),
    ("length",): ("km", 1.0), ("tkm",): ("tkm", 1.0), ("pkm",): ("pkm", 1.0), ("celsius",): ("°C", 1.0),
    ("year",): ("year", 1.0), ("%",): ("%", 1.0), ("points",): ("percentage point", 1.0),
}  # fmt: skip


def unit_at(text: str, start: int, end: int | None = None) -> tuple[Unit, int] | None:
    """The unit that stands at ``start`` and where it ends; None where there is none that is known.

    A denominator that is not known stays in the name: "kWh per flat" is told in ``MWh/flat``. A percentage has none.
    """
    stop = len(text) if end is None else end
    match = _ATOM.match(text, start, stop)
    if match is None or _ONLY_BELOW.fullmatch(match[0]):
        return None
    dimension, factor = _of(match)
    parts = Counter({dimension: 1})
    at, below, unknown = match.end(), False, ""
    while dimension != "%":
        per = _PER.match(text, at, stop)
        between = per or (_TIMES.match(text, at, stop) if below else None)
        if between is None:
            break
        following = _ATOM.match(text, between.end(), stop)
        if following is None:
            word = _WORD.match(text, between.end(), stop) if per else None
            unknown = f"/{word[0].lower()}" if word and word[0].lower() not in _NO_UNITS else ""
            break
        under, own = _of(following)
        below = True
        at = following.end()
        if under != "year":
            parts[f"/{under}"] += 1
            factor /= own
        closing = _CLOSE.match(text, at, stop) if "(" in text[start:at] else None
        at = closing.end() if closing and text.count("(", start, at) > text.count(")", start, at) else at
    normal = _NORMAL.get(tuple(sorted(parts, key=lambda each: (each[0] == "/", each))))
    if normal is None or any(count > 1 for count in parts.values()):
        return None
    return Unit(normal[0] + unknown, factor / normal[1]), at


def unit_of_measure(text: str) -> Unit | None:
    """The unit that a text begins with: "gCO2e/kWh", "% (top)", "t CO2e per t of clinker"."""
    found = unit_at(text.strip(), 0)
    return found[0] if found else None


def _of(match: re.Match[str]) -> tuple[str, float]:
    _, dimension, factor = _ATOMS[int((match.lastgroup or "u0")[1:])]
    return dimension, factor
