"""Running text of web pages: white space, marks of consolidation, subscripts, images, footnotes."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from responsa.corpus.readers.clauses import Block
from responsa.corpus.readers.formulas import high, low

if TYPE_CHECKING:
    from lxml.etree import _Element

_SPACE = re.compile(r"\s+")
_MARKS = re.compile(r"[►▼]\s?[A-Z]{1,2}\d{0,3}|◄")
_OPEN = re.compile(r"\s*\(\s*$")
_NUMBER = re.compile(r"\(\s*\*?\w{0,5}\s*\)\s*")
_LOW, _HIGH = frozenset({"subscript", "sub"}), frozenset({"superscript", "super", "sup"})


def local_names(root: _Element) -> None:
    """Take the namespace off every element's name, in place."""
    for element in root.iter("*"):
        name = element.tag.rpartition("}")[2].lower()
        if name != element.tag:
            with contextlib.suppress(ValueError):  # damaged pages have names that may be read and not written
                element.tag = name


def classes(element: _Element) -> frozenset[str]:
    """The classes of an element, without the prefix that newer pages of the Official Journal give them."""
    return frozenset(name.removeprefix("oj-") for name in element.get("class", "").split())


def words(element: _Element) -> str:
    """All words of an element, without footnotes."""
    line = Line({})
    line.inside(element)
    return line.text


def rows_of(table: _Element) -> list[list[_Element]]:
    """The cells of a table by rows, without those of tables within it."""
    parts = [part for part in table if part.tag in ("thead", "tbody", "tfoot")]
    return [
        [cell for cell in row if cell.tag in ("td", "th")]
        for part in [table, *parts]
        for row in part.iterchildren("tr")
    ]


def notes_of(body: _Element) -> dict[str, str]:
    """The footnotes of a page by the name that their marks lead to."""
    found: dict[str, str] = {}
    name = ""
    for element in body.iter("p"):
        if not classes(element) & {"footnote", "note"}:
            continue
        anchor = next((each for each in element.iter("a") if each.get("id")), None)
        name = name if anchor is None else anchor.get("id", "")
        text = _NUMBER.sub("", " ".join("".join(element.itertext()).split()), count=1).strip()
        found[name] = "\n".join(filter(None, (found.get(name), text)))
    return found


class Line:
    """Running text as it is gathered, with the notes and flags that belong to it."""

    def __init__(self, notes: Mapping[str, str]) -> None:
        self._all = notes
        self._pieces: list[str] = []
        self._after_note = False
        self.notes: list[str] = []
        self.flags: list[str] = []

    @property
    def text(self) -> str:
        return _SPACE.sub(" ", _MARKS.sub("", "".join(self._pieces))).strip()

    def block(self) -> Block | None:
        """The text so far as a block; None without text. What follows begins anew."""
        text, notes, flags = self.text, tuple(dict.fromkeys(self.notes)), tuple(dict.fromkeys(self.flags))
        self._pieces = []
        if not text:
            return None
        self.notes, self.flags = [], []
        return Block(text, None, notes, flags)

    def add(self, text: str | None) -> None:
        if text and self._after_note and text.strip():
            text = text.lstrip().removeprefix(")") if text.lstrip().startswith(")") else text
            self._after_note = False
        self._pieces.append(text or "")

    def inside(self, element: _Element) -> None:
        self.add(element.text)
        for child in element:
            if isinstance(child.tag, str):
                self.inline(child)
            self.add(child.tail)

    def inline(self, element: _Element) -> None:
        kinds = classes(element)
        if element.tag == "br":
            self.add(" ")
        elif element.tag == "img":
            self.add(" [image] ")
            self.flags.append("image")
        elif element.tag == "a" and element.get("href", "").startswith(("#E", "#ntr")):
            self._note(element.get("href", "")[1:])
        elif element.tag == "sub" or kinds & _LOW:
            self.add(low(words(element)))
        elif element.tag == "sup" or kinds & _HIGH:
            self.add(high(words(element)))
        else:
            apart = " " if element.tag in ("p", "div", "td", "tr", "table", "li") else ""
            self.add(apart)
            self.inside(element)
            self.add(apart)

    def _note(self, name: str) -> None:
        """A mark of a footnote: its number and the brackets around it are no text."""
        while self._pieces and not self._pieces[-1].strip():
            self._pieces.pop()
        before = self._pieces.pop() if self._pieces else ""
        opened = _OPEN.search(before)
        self._pieces.append(before[: opened.start()] if opened else before.rstrip())
        self._after_note = opened is not None
        if name in self._all:
            self.notes.append(self._all[name])
