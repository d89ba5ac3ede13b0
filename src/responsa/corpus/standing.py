"""Where a text stands: its act and article, the headings above it, and the paragraph at each of its characters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from responsa.corpus.acts import tokens
from responsa.corpus.citations import segment
from responsa.corpus.steps import Steps


@dataclass(frozen=True, slots=True)
class Here:
    """Where a text stands, for what it cites relatively. ``path`` holds the headings above it.

    Without ``paragraph`` the numbers at the start of its lines tell it: "**2.** " or "2. ".
    """

    act: str | None = None
    article: str | None = None
    paragraph: str | None = None
    path: tuple[str, ...] = ()


_LINE = re.compile(
    r"^(?:\*{0,2}(\d{1,3}[a-z]{0,2})\.\*{0,2}\s|\((\d{1,3}[a-z]{0,2})\)\s|(\([a-z]{1,5}\)|\W?\s*$))?", re.M
)
_HEADING = re.compile(r"\W{0,3}(part|title|chapter|section|sub-section|annex)\s+([\w.]{1,12})", re.IGNORECASE)
Place = tuple[str | None, str | None]  # paragraph and numbered item


def places(text: str, here: Here | None) -> list[tuple[int, Place]]:
    """From each offset on: the paragraph, and the numbered item of its list."""
    if here is None or here.article is None or here.paragraph is not None:
        return [(0, (here.paragraph if here else None, None))]
    found: list[tuple[int, Place]] = [(0, (None, None))]
    for line in _LINE.finditer(text):
        paragraph, item = found[-1][1]
        if line[1]:
            found.append((line.start(), (line[1], None)))
        elif line[2]:
            found.append((line.start(), (paragraph, line[2])))
        elif line[3] is None and item:
            found.append((line.start(), (paragraph, None)))
    return found


def divisions(path: Sequence[str]) -> Steps:
    """Part, title, chapter and section in the headings above a text."""
    steps = []
    for heading in path:
        found = _HEADING.match(heading)
        if found is None:
            continue
        level = found[1].lower()
        cited = segment(tokens(f"{level.capitalize()} {found[2].capitalize()}"), 0)
        steps.append((level, cited.items[0].labels[0] if cited and found[2][0].isalpha() else found[2]))
    return tuple(steps)
