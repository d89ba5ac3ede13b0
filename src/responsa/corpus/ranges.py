"""Numbers in a row: what lies from Article 429a to 429g, from (a) to (d), from I to IV."""

from __future__ import annotations

import re
from itertools import islice
from types import MappingProxyType


def expand(first: tuple[str, ...], last: tuple[str, ...], room: int = 600) -> list[tuple[str, ...]] | None:
    """Every provision from the first to the last: 412 to 415, 429a to 429g, (a) to (d), (i) to (iv), I to IV.

    None where there is no such range, or it would be longer than ``room``.
    """
    if len(first) != len(last) or first[:-1] != last[:-1]:
        return None
    outer, low, high = first[:-1], first[-1], last[-1]
    between = _between(low, high)
    if between is None:
        return None
    labels = list(islice(between, room + 1))
    return [(*outer, label) for label in labels] if 1 < len(labels) <= room else None


def _between(low: str, high: str) -> list[str] | None:
    if numeral(low) and numeral(high) and (len(low + high) > 2 or low in "iI"):
        upper = low.isupper()
        numerals = [roman(value) for value in range(numeral(low), numeral(high) + 1)]
        return numerals if upper else [text.lower() for text in numerals]
    prefix, dot, _ = low.rpartition(".")
    a, b = _SUFFIXED.fullmatch(low[len(prefix + dot) :]), _SUFFIXED.fullmatch(high.removeprefix(prefix + dot))
    if a is None or b is None or not high.startswith(prefix + dot):
        return None
    if not a[1] and not b[1]:
        return (
            [letters(value) for value in range(ordinal(low), ordinal(high) + 1)] if low and high and not dot else None
        )
    if not a[1] or not b[1] or len(b[1]) > 4:
        return None
    start, stop = int(a[1]), int(b[1])
    if start == stop:
        return [prefix + dot + a[1] + letters(value) for value in range(ordinal(a[2]), ordinal(b[2]) + 1)]
    inner = [f"{prefix}{dot}{value}" for value in range(start + 1, stop + 1)]
    ends = [f"{prefix}{dot}{b[1]}{letters(value)}" for value in range(1, ordinal(b[2]) + 1)]
    return [low, *inner, *ends] if start < stop else None


_SUFFIXED = re.compile(r"(\d*)([a-z]{0,2})")


def ordinal(text: str) -> int:
    """a is 1, z 26, aa 27; "" is 0."""
    value = 0
    for letter in text:
        value = value * 26 + ord(letter) - 96
    return value


def letters(value: int) -> str:
    """The text whose `ordinal` is ``value``."""
    text = ""
    while value > 0:
        value, rest = divmod(value - 1, 26)
        text = chr(97 + rest) + text
    return text


_ROMAN = re.compile(r"(l?x{0,3}|xl|xc)(ix|iv|v?i{0,3})")
_TENS = MappingProxyType(
    {"": 0, "x": 10, "xx": 20, "xxx": 30, "xl": 40, "l": 50, "lx": 60, "lxx": 70, "lxxx": 80, "xc": 90}
)
_ONES = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")


def numeral(text: str) -> int:
    """The value of a Roman numeral up to 99 in either case; 0 for what is none."""
    found = _ROMAN.fullmatch(text.lower())
    return _TENS[found[1]] + _ONES.index(found[2]) if found else 0


def roman(value: int) -> str:
    """A number up to 99 as a Roman numeral; above, its digits."""
    tens = {number: text for text, number in _TENS.items()}
    return (tens[value // 10 * 10] + _ONES[value % 10]).upper() if 0 < value < 100 else str(value)
