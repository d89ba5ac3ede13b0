"""Tables as Markdown text: one line a row, one column a cell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_MOST = 200  # columns and rows that a cell may claim to span
_LINES = re.compile(r"\s*\n\s*")


class Cell(NamedTuple):
    """``text`` may have lines. ``columns`` and ``rows``: how many it spans."""

    text: str
    columns: int = 1
    rows: int = 1


def span(value: str | None) -> int:
    """The number of columns or rows that an attribute gives; 1 where it gives none."""
    return min(max(int(value), 1), _MOST) if value and value.strip().isascii() and value.strip().isdigit() else 1


def markdown(rows: Sequence[Sequence[Cell]]) -> str:
    """A pipe table with the first row as its head; "" without rows.

    A cell that spans several columns or rows stands in the first of them, the others are empty. Lines within a
    cell are divided by ``<br>``, its own pipes are escaped.
    """
    lines: list[list[str]] = []
    covered: dict[int, int] = {}  # column: rows still covered from above
    for row in rows:
        line: list[str] = []
        taken: dict[int, int] = {}
        for cell in row:
            _skip(line, covered)
            for column in range(len(line), len(line) + cell.columns):
                if cell.rows > 1:
                    taken[column] = cell.rows - 1
            line += [_LINES.sub("<br>", cell.text.strip()).replace("|", "\\|"), *[""] * (cell.columns - 1)]
        _skip(line, covered)
        covered = {column: left - 1 for column, left in covered.items() if left > 1} | taken
        lines.append(line)
    width = max((len(line) for line in lines), default=0)
    texts = ["| " + " | ".join(line + [""] * (width - len(line))) + " |" for line in lines]
    texts[1:1] = ["| " + " | ".join(["---"] * width) + " |"] if texts else []
    return "\n".join(texts)


def _skip(line: list[str], covered: dict[int, int]) -> None:
    while covered.get(len(line)):
        line.append("")
