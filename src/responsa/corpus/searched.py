"""The words of a passage for indexes and encoders: its text, of tables the words of the cells without their marks."""

from __future__ import annotations

import html
import re

from responsa.types import Passage

_TAG = re.compile(r"<[^<>]{1,300}>")
_BREAK = re.compile(r"<br ?/?>")
_RULE = frozenset("|-: \t")  # what the line under the head of a Markdown table is made of


def searched(passage: Passage) -> str:
    """The text as it is searched. A row of a table stays a line, and no word of a cell is lost."""
    drawn = passage.kind == "table" or passage.text.startswith("|") or "\n|" in passage.text
    return cells(passage.text) if drawn else passage.text


def cells(text: str) -> str:
    """A table in HTML as the words of its cells, a line for each row; the rows of Markdown tables in a text likewise,
    its other lines as they are."""
    if text.lstrip()[:6].lower() == "<table":
        lines = (" ".join(line.split()) for line in html.unescape(_TAG.sub(" ", text)).splitlines())
        return "\n".join(filter(None, lines))
    return "\n".join(_row(line) if line.startswith("|") else line for line in text.split("\n") if not _is_rule(line))


def _is_rule(line: str) -> bool:
    return line.startswith("|") and set(line) <= _RULE


def _row(line: str) -> str:
    plain = _BREAK.sub(" ", line).replace("\\|", "\0").replace("|", " ").replace("\0", "|")
    return " ".join(plain.split())
