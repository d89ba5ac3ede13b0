"""Running text of Formex: what its elements print, notes apart, and the lines of headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from responsa.corpus.readers import eulaw
from responsa.corpus.readers.clauses import Block, Clause
from responsa.corpus.readers.formulas import formula, high, low

if TYPE_CHECKING:
    from lxml.etree import _Element

BLOCKS = frozenset({
    "P", "ALINEA", "PARAG", "LIST", "ITEM", "NP", "TBL", "GR.TBL", "GR.SEQ", "DLIST", "QUOT.S", "TITLE", "TI", "STI",
    "ARTICLE", "DIVISION", "CONTENTS", "TXT", "GR.NOTES", "TOC", "CONS.ANNEX", "BLK",
})  # fmt: skip
_SPACE = re.compile(r"\s+")
_SEQUENCE = re.compile(r"((?:Part|Section|Chapter|Title|Table|PART|SECTION|CHAPTER|TITLE)\s+[\w.]{1,8})[.:]?(?:\s+|$)")


@dataclass(slots=True)
class Line:
    """Running text as it is gathered, with the notes and flags that belong to it."""

    pieces: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    formula: bool = False  # whether it begins with one, which never begins a subparagraph

    def end(self, clause: Clause, opens: bool | None) -> bool:
        """Close the text and put it into a clause; tells whether there was any."""
        text = _SPACE.sub(" ", "".join(self.pieces)).strip()
        if text:
            opens = opens and not self.formula if opens is not None or not self.formula else False
            clause.parts.append(Block(text, opens, tuple(dict.fromkeys(self.notes)), tuple(dict.fromkeys(self.flags))))
            self.notes, self.flags = [], []
        self.pieces, self.formula = [], False
        return bool(text)


def between(element: _Element, top: _Element) -> Iterator[_Element]:
    for above in element.iterancestors():
        if above is top:
            return
        yield above


def inline(element: _Element, line: Line, notes: Mapping[str, str]) -> None:
    """An element within running text."""
    tag = element.tag
    if tag in ("QUOT.START", "QUOT.END"):
        line.pieces.append(_sign(element.get("CODE", "")))
    elif tag in ("FORMULA", "FORMULA.S"):
        line.formula = line.formula or not "".join(line.pieces).strip()
        line.pieces.append(f" {formula(element)} ")
        line.flags.append("formula")
    elif tag == "INCL.ELEMENT":
        line.pieces.append(" [image] ")
        line.flags.append("image")
    elif tag == "NOTE":
        note = notes.get(element.get("NOTE.REF", ""), "") or plain(element)
        line.notes += [note] if note else []
    elif tag == "HT" and element.get("TYPE") in ("SUB", "SUP"):
        line.pieces.append((low if element.get("TYPE") == "SUB" else high)(plain(element)))
    else:
        _inside(element, line, notes)


def _inside(element: _Element, line: Line, notes: Mapping[str, str]) -> None:
    line.pieces.append(element.text or "")
    for child in element:
        if isinstance(child.tag, str):
            inline(child, line, notes)
            line.pieces.append(" " if child.tag in BLOCKS else "")
        line.pieces.append(child.tail or "")


def _sign(code: str) -> str:
    return chr(int(code, 16)) if re.fullmatch(r"[0-9A-Fa-f]{2,4}", code) else ""


def plain(element: _Element | None) -> str:
    """All words in an element, without the notes within it."""
    line = Line()
    if element is not None:
        _inside(element, line, {})
    return _SPACE.sub(" ", "".join(line.pieces)).strip()


def bare_label(element: _Element | None) -> str:
    return eulaw.bare_label(plain(element))


def heading_lines(head: _Element | None) -> list[str]:
    """The lines of a title, its subtitle included; a numbered one with its number in front."""
    if head is None:
        return []
    parts = [
        part for part in head.iter("P", "NP") if not any(above.tag in ("NP", "NOTE") for above in between(part, head))
    ]
    found = []
    for part in parts:
        if part.tag == "NP":
            found.append(" ".join(filter(None, (plain(part.find("NO.P")), plain(part.find("TXT"))))))
        else:
            found.append(plain(part))
    return [line for line in found if line]


def headings(head: _Element | None) -> tuple[str, str]:
    """Number and title of a division: TI and STI."""
    if head is None:
        return "", ""
    number = " ".join(plain(part) for part in head.iterfind("TI/P"))
    title = " ".join(plain(part) for part in head.iterfind("STI/P"))
    return number, title


def sequence(head: _Element) -> tuple[str, str]:
    """Number and title of a part of an annex: its number where it has one, else both are its words."""
    numbered = head.find("TI/NP")
    if numbered is not None:
        return bare_label(numbered.find("NO.P")), plain(numbered.find("TXT"))
    text = " ".join(heading_lines(head))
    found = _SEQUENCE.match(text)
    return (found[1], text[found.end() :]) if found else ("", text)
