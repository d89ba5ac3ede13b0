"""Formex 4, the XML in which the Publications Office of the EU publishes acts and their consolidated versions.

Every article, paragraph, point, recital, annex, table and footnote becomes a clause. Of the marks of consolidation
(processing instructions) it stays on record which act amended a provision; what they mark as deleted is no
longer law and is left out, but for the heading of a deleted article.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from responsa.corpus.readers import eulaw
from responsa.corpus.readers.clauses import DELETED, Block, Clause, Level, flat, merged, to_passages
from responsa.corpus.readers.content import Fail
from responsa.corpus.readers.formex_text import (
    BLOCKS,
    Line,
    bare_label,
    between,
    heading_lines,
    headings,
    inline,
    plain,
    sequence,
)
from responsa.corpus.readers.tables import Cell, markdown, span
from responsa.types import Edition

if TYPE_CHECKING:
    from lxml.etree import _Element

_ROOTS = frozenset({"CONS.ACT", "ACT"})
_MARKED = frozenset({
    "ARTICLE", "PARAG", "ALINEA", "NP", "ITEM", "LIST", "P", "TBL", "DIVISION", "CONSID", "CONS.ANNEX", "GR.SEQ",
    "DLIST", "DLIST.ITEM", "ROW", "TXT", "NOTE",
})  # fmt: skip


def recognises(root: _Element) -> bool:
    """Whether it is an act or a consolidated version of one."""
    return root.tag in _ROOTS


def read(root: _Element, stem: str, fail: Fail) -> tuple[Edition, ...]:
    """The one act in a file: its CELEX number is the document's id."""
    doc = root.find("CONS.DOC") if root.tag == "CONS.ACT" else root
    if doc is None or doc.find("ENACTING.TERMS") is None:
        fail("holds no enacting terms (CONS.DOC/ENACTING.TERMS): it is no whole act; give the file of the act itself")
    title = heading_lines(doc.find("TITLE"))
    celex = _celex(doc, title) or eulaw.from_name(stem)
    if celex is None:
        fail("says of no act that it is (no NO.CELEX, no number in its title); put the CELEX number in the file's name")
    reader = _Reader(*_marks(doc), _notes(doc))
    clauses = reader.act(doc)
    start, end = _dates(root)
    if start is None:
        start = eulaw.entry_into_force(clauses, _iso(doc.find("BIB.INSTANCE/DATE"))) or eulaw.date_of(stem)
    passages = to_passages(clauses, celex, eulaw.short_name(celex))
    return (Edition(celex, eulaw.short_title(eulaw.title(title), celex), passages, start, end),)


def _celex(doc: _Element, title: list[str]) -> str | None:
    found = doc.find("FAM.COMP/BIB.DATA/NO.CELEX")
    return eulaw.celex_in(found.text or "") if found is not None else eulaw.celex_of_title(" ".join(title))


def _dates(root: _Element) -> tuple[date | None, date | None]:
    """From when to when a consolidated version applies; an end in the year 9999 is none."""
    info = root.find("INFO.CONSLEG")
    if info is None:
        return None, None
    return eulaw.day(info.get("START.DATE", "")), eulaw.day(info.get("END.DATE", ""))


def _iso(element: _Element | None) -> date | None:
    return None if element is None else eulaw.day(element.get("ISO", ""))


def _marks(doc: _Element) -> tuple[dict[Any, str], set[Any]]:
    """Of the elements between marks of consolidation: the act that amended them last, and which are deleted."""
    amended: dict[Any, str] = {}
    dead: set[Any] = set()
    ends = {node.get("IDREF") for node in _instructions(doc, "CLG.MDFC")}
    opened: dict[str, tuple[str, bool]] = {}
    deleting = 0  # how many of them delete
    for node in doc.iter():
        if isinstance(node.tag, str):
            if opened and node.tag in _MARKED:
                amended[node] = next(reversed(opened.values()))[0]
                if deleting:
                    dead.add(node)
        elif getattr(node, "target", "") == "CLG.MDFO" and node.get("ID") in ends:
            name = node.get("ID", "")
            deleting += (node.get("ACTION") == "DELETED") - opened.get(name, ("", False))[1]
            opened[name] = (_amending(node), node.get("ACTION") == "DELETED")
        elif getattr(node, "target", "") == "CLG.MDFC":
            deleting -= opened.pop(node.get("IDREF", ""), ("", False))[1]
    return amended, dead


def _amending(node: Any) -> str:  # noqa: ANN401
    found = re.search(r'\sACTIVE\.DOC="([^"]*)"', node.text or "")
    return found[1] if found else ""


def _instructions(doc: _Element, target: str) -> Iterator[Any]:
    from lxml import etree

    return (node for node in doc.iter(etree.PI) if node.target == target)


def _notes(doc: _Element) -> dict[str, str]:
    """The texts of the notes by id: those of tables stand apart from their marks."""
    return {note.get("NOTE.ID", ""): plain(note) for note in doc.iter("NOTE") if note.get("NOTE.ID")}


@dataclass(slots=True)
class _Reader:
    amended: dict[Any, str]
    dead: set[Any]
    notes: dict[str, str]

    def act(self, doc: _Element) -> list[Clause]:
        clauses = [Clause("named", "Title", " ".join(heading_lines(doc.find("TITLE"))))]
        preamble = doc.find("PREAMBLE")
        if preamble is not None:
            clauses += self._preamble(preamble)
        top = Clause("division")
        self._divide(doc.find("ENACTING.TERMS"), top)
        clauses += [part for part in top.parts if isinstance(part, Clause)]
        final = doc.find("FINAL")
        if final is not None:
            clauses.append(self._named("Concluding formula", final))
        for element in doc.iterchildren("CONS.ANNEX", "ANNEX"):
            if element not in self.dead:
                self._annex(element, clauses)
        return [clause for clause in clauses if clause.parts or clause.title]

    def _preamble(self, preamble: _Element) -> list[Clause]:
        head = Clause("named", "Preamble")
        recitals = Clause("named", "Recitals")
        for child in preamble.iterchildren("PREAMBLE.INIT", "GR.VISA", "GR.CONSID", "PREAMBLE.FINAL"):
            for part in [child] if child.tag == "PREAMBLE.INIT" else child.iterchildren("VISA"):
                self._fill(part, head)
            for consideration in child.iterchildren("CONSID"):
                number = consideration.find("NP/NO.P")
                recital = Clause("recital", bare_label(number), flags=self._flags(consideration))
                self._fill(consideration, recital)
                recitals.parts.append(recital)
            init = child.find("GR.CONSID.INIT")
            recitals.title = recitals.title if init is None else plain(init)
        final = preamble.find("PREAMBLE.FINAL")
        return [head, recitals, *([self._named("Enacting formula", final)] if final is not None else [])]

    def _named(self, name: str, element: _Element) -> Clause:
        clause = Clause("named", name)
        self._fill(element, clause)
        return clause

    def _divide(self, element: _Element | None, above: Clause) -> None:
        """Divisions and articles, as they are nested."""
        for child in element.iterchildren("DIVISION", "ARTICLE") if element is not None else ():
            if child.tag == "ARTICLE":
                above.parts.append(self._article(child))
                continue
            head = child.find("TITLE")
            division = Clause("division", *headings(head), flags=self._flags(child))
            self._divide(child, division)
            above.parts.append(division)

    def _article(self, element: _Element, level: Level = "article") -> Clause:
        number = plain(element.find("TI.ART"))
        subtitle = element.find("STI.ART")
        label = eulaw.article_label(number)
        title = "" if subtitle is None else plain(subtitle)
        clause = Clause(level, label, title, flags=self._flags(element))
        if element in self.dead:
            clause.flags = (DELETED, *clause.flags)
            return clause
        first = True
        for child in element.iterchildren("PARAG", "ALINEA"):
            if child in self.dead:
                continue
            if child.tag == "PARAG":
                self._paragraph(child, clause)
            else:
                self._fill(child, clause, not first)
            first = False
        return clause

    def _paragraph(self, element: _Element, above: Clause) -> None:
        number = element.find("NO.PARAG")
        clause = Clause("paragraph", bare_label(number), flags=self._flags(element))
        for count, child in enumerate(child for child in element.iterchildren("ALINEA") if child not in self.dead):
            self._fill(child, clause, count > 0)
        above.parts.append(clause)

    def _annex(self, element: _Element, clauses: list[Clause]) -> None:
        """An annex; an appendix is a part of the annex before it."""
        lines = heading_lines(element.find("TITLE"))
        appendix = eulaw.appendix(lines) if clauses[-1].level == "annex" else None
        level: Level = "section" if appendix else "annex"
        label, title = appendix or eulaw.annex_label(lines)
        clause = Clause(level, label, title, flags=self._flags(element))
        for child in element.iterchildren("CONTENTS"):
            self._fill(child, clause)
        (clauses[-1].parts if appendix else clauses).append(merged(clause))

    def _flags(self, element: _Element) -> tuple[str, ...]:
        by = self.amended.get(element, "")
        return (f"amended-by-{by}",) if by else ()

    # running text and what interrupts it

    def _fill(self, element: _Element, clause: Clause, opens: bool | None = None) -> None:
        """The content of an element into a clause. ``opens`` says it of its first text; what follows goes on."""
        line = Line()
        self._run(element, clause, line, opens)
        line.end(clause, opens)

    def _run(self, element: _Element, clause: Clause, line: Line, opens: bool | None) -> None:
        line.pieces.append(element.text or "")
        skipped = ""  # the mark that ends deleted words
        for child in element:
            if not isinstance(child.tag, str):
                skipped = self._mark(child, skipped)
            elif skipped or child in self.dead or child.tag in ("NO.P", "NO.PARAG"):
                pass
            elif child.tag in BLOCKS:
                opens = _next(opens, line.end(clause, opens))
                before = len(clause.parts)
                self._block(child, clause, opens)
                opens = _next(opens, len(clause.parts) > before)
            else:
                inline(child, line, self.notes)
            if not skipped:
                line.pieces.append(child.tail or "")
        if element.tag in BLOCKS:
            line.end(clause, opens)

    def _mark(self, node: Any, skipped: str) -> str:  # noqa: ANN401
        if getattr(node, "target", "") == "CLG.MDFO" and node.get("ACTION") == "DELETED" and not skipped:
            return str(node.get("IDREF", "")) if node.get("LEVEL") == "TEXT" else ""
        return "" if node.get("ID") == skipped else skipped

    def _block(self, element: _Element, clause: Clause, opens: bool | None) -> None:
        tag = element.tag
        if tag == "LIST":
            self._list(element, clause)
        elif tag == "NP":
            self._point(element, clause)
        elif tag == "TBL":
            clause.parts.append(self._table(element))
        elif tag == "DLIST":
            clause.parts += self._definitions(element)
        elif tag == "QUOT.S":
            self._quoted(element, clause)
        elif tag == "PARAG":
            self._paragraph(element, clause)
        elif tag == "GR.SEQ" and clause.level in ("annex", "section"):
            self._section(element, clause)
        elif tag not in ("GR.NOTES", "TOC"):
            self._fill(element, clause, opens)

    def _list(self, element: _Element, clause: Clause) -> None:
        for item in element.iterchildren("ITEM"):
            if item in self.dead:
                continue
            if item.find("NP") is None and element.get("TYPE", "NONE") != "NONE":
                indent = Clause("indent", flags=self._flags(item))
                self._fill(item, indent)
                clause.parts.append(indent)
            else:
                self._fill(item, clause, False)

    def _point(self, element: _Element, clause: Clause) -> None:
        if clause.level == "recital":
            self._fill(element, clause)
            return
        point = Clause("point", bare_label(element.find("NO.P")), flags=self._flags(element))
        self._fill(element, point)
        clause.parts.append(point)

    def _section(self, element: _Element, clause: Clause) -> None:
        head = element.find("TITLE")
        label, title = ("", "") if head is None else sequence(head)
        section = Clause("section", label, title, flags=self._flags(element))
        for child in element:
            if isinstance(child.tag, str) and child is not head and child not in self.dead:
                self._block(child, section, None)
        clause.parts.append(section)

    def _definitions(self, element: _Element) -> list[Block | Clause]:
        """A list of terms and what they mean as lines of text; a table in a definition comes after them."""
        sign = element.get("SEPARATOR", "").strip()
        lines: list[str] = []
        flags: list[str] = []
        notes: list[str] = []
        for item in element.iterchildren("DLIST.ITEM"):
            if item in self.dead:
                continue
            texts = []
            for part in item.iterchildren("TERM", "DEFINITION"):
                inner = Clause("named")
                self._fill(part, inner)
                texts.append("\n".join(flat(inner)))
                for block in (each for each in inner.parts if isinstance(each, Block)):
                    flags += block.flags
                    notes += block.notes
            lines.append((f" {sign} " if sign else " ").join(text for text in texts if text))
        return [Block("\n".join(lines), False, tuple(notes), tuple(dict.fromkeys(flags)))] if lines else []

    def _quoted(self, element: _Element, clause: Clause) -> None:
        """Text that amends another act: its articles are not this act's."""
        for child in element.iterchildren():
            if not isinstance(child.tag, str):
                continue
            if child.tag == "ARTICLE":
                clause.parts.append(self._article(child, "quoted"))
            elif child.tag in ("DIVISION", "QUOT.S", "CONS.ANNEX", "CONTENTS"):
                self._quoted(child, clause)
            else:
                inner = Clause("named")
                self._block(child, inner, None)
                _quoted_number(child, inner)
                notes = [note for block in inner.parts if isinstance(block, Block) for note in block.notes]
                clause.parts += [Block(line, False) for line in flat(inner)]
                if notes and clause.parts and isinstance(clause.parts[-1], Block):
                    clause.parts[-1].notes = tuple(notes)

    def _table(self, element: _Element) -> Clause:
        head = element.find("TITLE")
        flags: list[str] = []
        notes: list[str] = []
        rows = [
            [self._cell(cell, flags, notes) for cell in row.iterchildren("CELL")]
            for row in element.iterfind("CORPUS//ROW")
            if row not in self.dead and not any(above.tag == "CELL" for above in between(row, element))
        ]
        notes += [plain(each) for each in element.iterfind("GR.NOTES//ANNOTATION")]
        block = Block(markdown(rows), False, tuple(dict.fromkeys(notes)), tuple(dict.fromkeys(flags)))
        return Clause("table", "", " ".join(heading_lines(head)), [block], self._flags(element))

    def _cell(self, element: _Element, flags: list[str], notes: list[str]) -> Cell:
        inner = Clause("named")
        self._fill(element, inner)
        for block in _every(inner):
            flags += block.flags
            notes += block.notes
        return Cell("\n".join(flat(inner)), span(element.get("COLSPAN")), span(element.get("ROWSPAN")))


def _quoted_number(element: _Element, clause: Clause) -> None:
    """A paragraph of another act begins with the sign of quotation before its number."""
    number = plain(element.find("NO.PARAG"))
    first = clause.parts[0] if clause.parts else None
    if isinstance(first, Clause) and number[:1] in ("‘", "“"):
        first.label = number[0] + first.label


def _next(opens: bool | None, said: bool) -> bool | None:
    """Only the first text of an ALINEA begins a subparagraph."""
    return False if opens is not None and said else opens


def _every(clause: Clause) -> Iterator[Block]:
    for part in clause.parts:
        if isinstance(part, Block):
            yield part
        else:
            yield from _every(part)
