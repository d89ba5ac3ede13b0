"""The numbers that Word prints before paragraphs, which the file holds only as rules for counting (numbering.xml)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from responsa.corpus.readers.page import numeral

if TYPE_CHECKING:
    from lxml.etree import _Element

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_PLACE = re.compile(r"%([1-9])")
_LEVELS = 9
_LETTERS = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I"}


def value(parent: _Element | None, name: str) -> str | None:
    """The ``w:val`` of a child; None where there is no such child."""
    found = None if parent is None else parent.find(f"{W}{name}")
    return None if found is None else found.get(f"{W}val", "")


def whole(text: str | None, default: int) -> int:
    """A whole number of at most six digits, else the default."""
    digits = (text or "").strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) <= 6 else default


@dataclass(frozen=True, slots=True)
class Level:
    """How a level counts: ``restart`` is the level above which it begins anew, 0 for never."""

    start: int = 1
    form: str = "decimal"
    text: str = "%1."
    restart: int = -1
    legal: bool = False
    style: str = ""


@dataclass(slots=True)
class Numbering:
    """The lists of a document; `label` counts on, so it is called once for each paragraph, in order."""

    lists: Mapping[str, tuple[str, Mapping[int, Level], Mapping[int, int]]] = field(default_factory=dict)
    counts: dict[str, list[int | None]] = field(default_factory=dict)
    begun: set[tuple[str, int]] = field(default_factory=set)

    @classmethod
    def of(cls, root: _Element | None) -> Numbering:
        """From the root of numbering.xml; None for a document without lists."""
        if root is None:
            return cls()
        abstract = {each.get(f"{W}abstractNumId", ""): each for each in root.iterchildren(f"{W}abstractNum")}
        named = {link: each for each in abstract.values() if (link := value(each, "styleLink"))}
        lists = {}
        for each in root.iterchildren(f"{W}num"):
            shared = value(each, "abstractNumId") or ""
            base = abstract.get(shared)
            if base is not None and (link := value(base, "numStyleLink")) in named:
                base = named[link or ""]
                shared = base.get(f"{W}abstractNumId", shared)
            levels = {} if base is None else _levels(base)
            starts: dict[int, int] = {}
            for change in each.iterchildren(f"{W}lvlOverride"):
                at = whole(change.get(f"{W}ilvl"), 0)
                levels.update(_levels(change))
                if (start := value(change, "startOverride")) is not None:
                    starts[at] = whole(start, 1)
            lists[each.get(f"{W}numId", "")] = (shared, levels, starts)
        return cls(lists)

    def level_of_style(self, list_id: str, style: str) -> int:
        """The level of a list that belongs to a style; 0 where none does."""
        levels = self.lists.get(list_id, ("", {}, {}))[1]
        return next((at for at, level in levels.items() if level.style == style), 0)

    def label(self, list_id: str, at: int) -> str:
        """What is printed before the next paragraph at level ``at`` (0 to 8) of a list: "3.2", "(a)", "•" or ""."""
        shared, levels, starts = self.lists.get(list_id, ("", {}, {}))
        level = levels.get(at)
        if level is None or not 0 <= at < _LEVELS:
            return ""
        counts = self.counts.setdefault(shared, [None] * _LEVELS)
        if at in starts and (list_id, at) not in self.begun:
            counts[at] = None
            level = Level(starts[at], level.form, level.text, level.restart, level.legal, level.style)
        self.begun.add((list_id, at))
        before = counts[at]
        counts[at] = level.start if before is None else before + 1
        for below in range(at + 1, _LEVELS):
            restart = levels[below].restart if below in levels else -1
            if restart < 0 or at < restart:
                counts[below] = None
        for above in range(at):
            if counts[above] is None:
                counts[above] = levels[above].start if above in levels else 1
        if level.form in ("bullet", "none"):
            return "•" if level.form == "bullet" and level.text.strip() else _PLACE.sub("", level.text).strip()
        return _PLACE.sub(lambda found: self._shown(counts, levels, int(found[1]) - 1, level.legal), level.text).strip()

    def _shown(self, counts: list[int | None], levels: Mapping[int, Level], at: int, legal: bool) -> str:
        form = levels[at].form if at in levels else "decimal"
        number = counts[at] or 0
        if legal or form not in _LETTERS:
            return f"{number:02}" if form == "decimalZero" else str(number)
        if form.endswith("Letter"):  # after z come aa, bb, cc
            letter = numeral((number - 1) % 26 + 1, _LETTERS[form]) if number > 0 else "0"
            return letter * min((number - 1) // 26 + 1, 10) if number > 0 else letter
        return numeral(number, _LETTERS[form])


def _levels(element: _Element) -> dict[int, Level]:
    found = {}
    for each in element.iterchildren(f"{W}lvl"):
        restart = value(each, "lvlRestart")
        found[whole(each.get(f"{W}ilvl"), 0)] = Level(
            whole(value(each, "start"), 1),
            value(each, "numFmt") or "decimal",
            value(each, "lvlText") or "",
            -1 if restart is None else whole(restart, 0),
            each.find(f"{W}isLgl") is not None,
            value(each, "pStyle") or "",
        )
    return found
