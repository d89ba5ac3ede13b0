"""Formulas of Formex in one line of text: fractions with a stroke, powers with ^, indices with _."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element

_BRACKETS = MappingProxyType(
    {"BRACKET": ("(", ")"), "SQBRACKET": ("[", "]"), "BRACE": ("{", "}"), "BAR": ("|", "|")},
)
_SIGNS = MappingProxyType({
    "PLUS": " + ", "MINUS": " − ", "MULT": " · ", "DIV": " / ", "PLUSMINUS": " ± ", "CARTPROD": " × ", "EQ": " = ",
    "NE": " ≠ ", "LT": " < ", "GT": " > ", "LE": " ≤ ", "GE": " ≥ ", "AP": " ≈ ", "IN": " ∈ ", "NOTIN": " ∉ ",
})  # fmt: skip
_SUBSCRIPT, _SUPERSCRIPT = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"), str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_SPACE = re.compile(r"\s+")
_TIGHT = re.compile(r"(?<=[(\[{]) | (?=[)\]},;])")


def formula(element: _Element) -> str:
    """The text of a FORMULA, with the signs that the mark-up only names."""
    return _TIGHT.sub("", _SPACE.sub(" ", _inside(element))).strip()


def low(text: str) -> str:
    """A subscript: digits as such (CO₂), anything else behind ``_`` (EL_BE)."""
    return _set(text, _SUBSCRIPT, "_")


def high(text: str) -> str:
    """A superscript: digits as such (m³), anything else behind ``^``."""
    return _set(text, _SUPERSCRIPT, "^")


def _set(text: str, digits: dict[int, int], sign: str) -> str:
    text = text.strip()
    if text.isascii() and text.isdigit():
        return text.translate(digits)
    return f"{sign}{_bound(text)}" if text else ""


def _bound(text: str) -> str:
    """In brackets, unless it is one word or number."""
    return text if re.fullmatch(r"[\w.,]+|\([^()]*\)", text) else f"({text})"


def _inside(element: _Element) -> str:
    pieces = [element.text or ""]
    for child in element:
        pieces += [_piece(child) if isinstance(child.tag, str) else "", child.tail or ""]
    return "".join(pieces)


def _piece(element: _Element) -> str:
    tag, kind = element.tag, element.get("TYPE", "")
    text = _SPACE.sub(" ", _inside(element))
    if tag in ("OP.MATH", "OP.CMP"):
        return _SIGNS.get(kind, f" {kind.lower()} ")
    if tag in ("EXPR", "OVERLINE"):
        before, after = _BRACKETS.get(kind, ("", "")) if tag == "EXPR" else ("", "\u0305")
        return f"{before}{text.strip() if before else text}{after}"
    if tag == "IND" or (tag == "HT" and kind in ("SUB", "SUP")):
        raised = element.get("LOC") in ("SUP", "OVER") or kind == "SUP"
        return high(text) if raised else low(text)
    if tag in ("EXPONENT", "UNDER"):
        return high(text) if tag == "EXPONENT" else f"_{_bound(text.strip())}"
    if tag == "OVER":  # of a sum its upper limit; without content the stroke of a fraction
        return f"^{_bound(text.strip())}" if text.strip() else " / "
    if tag == "FRACTION":
        return " / ".join(
            _bound(_SPACE.sub(" ", _inside(part)).strip()) for part in element if isinstance(part.tag, str)
        )
    if tag == "ROOT":
        return f"√{_bound(text.strip())}" if text.strip() else "√"
    return f" Σ{text.strip()} " if tag == "SUM" else text
