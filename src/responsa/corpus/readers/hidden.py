"""Which words of a web page are not seen: told from attributes and from the style sheets within the page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element

_SIMPLE = re.compile(r"(?:[a-z][\w-]*)?(?:[.#][\w-]+)?")
_LONGEST = 2000  # characters of the selectors of a rule
_SHEET = 500_000  # characters of style sheets that are looked at
_LENGTH = re.compile(r"(-?\d{0,6}\.?\d{0,6})\s*(px|pt|em|rem|ex|ch|vw|vh|cm|mm|in|%)?")
_TINY = {"px": 3.0, "pt": 2.5, "em": 0.2, "rem": 0.2, "%": 20.0, "": 0.0}
_WHITE = re.compile(
    r"(?:white|#fff|#ffff|#ffffff|#ffffffff|transparent|rgba?\(\s*255[\s,]+255[\s,]+255[^)]*\)|rgba\([^)]*,\s*0\s*\))"
)
_ALOUD = frozenset({"visually-hidden", "visuallyhidden", "sr-only", "screen-reader-text"})  # read out, not shown
_FAR = -900.0  # pixels beside or above the page


@dataclass(slots=True)
class Styles:
    """The simple rules of a page's style sheets by selector: a tag, a class or an id."""

    rules: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, root: _Element) -> Styles:
        """From the page's style elements. What depends on a place in the tree or on a state is left out."""
        sheets = "\n".join("".join(each.itertext()) for each in root.iter("style"))[:_SHEET]
        rules: dict[str, dict[str, str]] = {}
        for rule in _without_comments(sheets).split("}"):
            selectors, opened, body = rule.rpartition("{")
            for selector in selectors.rpartition("{")[2].split(",") if opened and len(selectors) <= _LONGEST else ():
                name = selector.strip()
                if name and _SIMPLE.fullmatch(name):
                    rules.setdefault(name, {}).update(_declarations(body))
        return cls(rules)

    def of_element(self, element: _Element) -> dict[str, str]:
        """The declarations that meet an element itself: by tag, class, id, then its own."""
        tag, name = str(element.tag), element.get("id", "")
        classes = element.get("class", "").split()
        found: dict[str, str] = {}
        if self.rules:
            selectors = [tag]
            for each in classes:
                selectors += [f".{each}", f"{tag}.{each}"]
            selectors += [f"#{name}", f"{tag}#{name}"] if name else []
            for selector in selectors:
                found.update(self.rules.get(selector, {}))
        if element.get("style"):
            found.update(_declarations(element.get("style", "")))
        return found

    def hides(self, element: _Element) -> bool:
        """Whether the element's words are not seen: not shown, white, tiny or off the page."""
        if element.get("hidden") is not None or _ALOUD & set(element.get("class", "").split()):
            return True
        if not (self.rules or element.get("style") or element.get("color")):
            return False
        style = self.of_element(element)
        if style.get("display") == "none" or style.get("visibility") in ("hidden", "collapse"):
            return True
        if _number(style.get("opacity", "1")) == 0 or _is_tiny(style.get("font-size", "")):
            return True
        if _is_off(style):
            return True
        color = style.get("color") or element.get("color", "").lower()
        return bool(color and _WHITE.fullmatch(color.strip())) and not self._on_dark(element)

    def _on_dark(self, element: _Element) -> bool:
        """Whether the element or one around it has a background that is not white."""
        for each in (element, *element.iterancestors()):
            style = self.of_element(each)
            ground = style.get("background-color") or style.get("background") or each.get("bgcolor", "").lower()
            if ground and ground not in ("none", "inherit", "initial"):
                return _WHITE.match(ground.strip()) is None
        return False


def _without_comments(sheet: str) -> str:
    first, *others = sheet.split("/*")
    return " ".join([first, *(each.partition("*/")[2] for each in others)])


def _declarations(body: str) -> dict[str, str]:
    found = {}
    for each in body[:5000].split(";"):
        name, colon, value = each.partition(":")
        if colon:
            found[name.strip().lower()] = value.replace("!important", "").strip().lower()
    return found


def _is_tiny(value: str) -> bool:
    found = _LENGTH.fullmatch(value.strip()) if value else None
    if found is None or not found[1].strip("-."):
        return False
    return float(found[1]) <= _TINY.get(found[2] or "", 0.0)


def _is_off(style: Mapping[str, str]) -> bool:
    moved = style.get("position") in ("absolute", "fixed")
    places = [style.get("text-indent", "")]
    places += [style.get(side, "") for side in ("left", "top", "right", "bottom")] if moved else []
    if any(_number(place) <= _FAR for place in places if place):
        return True
    return moved and "rect(0" in style.get("clip", "").replace(" ", "")


def _number(value: str) -> float:
    found = _LENGTH.match(value.strip())
    try:
        return float(found[1]) if found else 1.0
    except ValueError:
        return 1.0
