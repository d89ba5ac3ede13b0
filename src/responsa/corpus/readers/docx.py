"""Word files (.docx): printed numbers, headings, tables, footnotes, text boxes, tracked changes as if accepted.

Deleted text is left out, and a passage with tracked changes has the flag "revised". Hidden, white and tiny text is
kept, with the flag "hidden". Headers, footers, comments and the table of contents are left out. The parts of the file
are read with lxml alone: python-docx shows no numbers, footnotes, text boxes or changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from responsa.corpus.readers import tables
from responsa.corpus.readers.archive import Archive
from responsa.corpus.readers.content import Fail, id_of, usable
from responsa.corpus.readers.docx_numbering import Numbering, W, value, whole
from responsa.corpus.readers.lines import Lines, joined, parted, without_marks
from responsa.corpus.structure import document_title
from responsa.types import Edition

if TYPE_CHECKING:
    from lxml.etree import _Element

_OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_RELATION = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_CORE_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_GONE = frozenset(f"{W}{name}" for name in ("del", "moveFrom", "instrText", "delText", "rPr", "pPr", "sectPr", "tblPr"))
_NEW = frozenset(f"{W}{name}" for name in ("ins", "moveTo"))
_SIGNS = {f"{W}tab": " ", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-", f"{W}ptab": " "}
_OFF = ("0", "false", "off", "none")
_TINY = 5  # half-points
_MOST_STYLES = 20  # that are based on one another
_MOST_CELLS = 200_000


def read_docx(content: bytes, stem: str, fail: Fail) -> tuple[Edition, ...]:
    """The one document of the file, named after it."""
    document_id = usable(id_of(stem), "the file's name", fail)
    if content.startswith(_OLD):
        fail("is encrypted, or of a Word before 2007; save it as .docx without a password")
    archive = Archive(content, fail)
    place = _main_part(archive, fail)
    root = _part(archive, place, fail)
    body = None if root is None else root.find(f"{W}body")
    if body is None:
        fail("holds no Word document; give a .docx file")
    folder = place.rpartition("/")[0]
    around = {name: _part(archive, f"{folder}/{name}.xml".lstrip("/"), fail) for name in _AROUND}
    reader = _Reader(
        Numbering.of(around["numbering"]),
        {each.get(f"{W}styleId", ""): each for each in _children(around["styles"], "style")},
        {
            f"{kind}:{each.get(f'{W}id')}": each
            for kind in ("footnote", "endnote")
            for each in _children(around[f"{kind}s"], kind)
        },
    )
    reader.blocks(body)
    reader.flush()
    passages = reader.lines.passages(document_id)
    if not passages:
        fail("holds no text; leave it out")
    core = _part(archive, "docProps/core.xml", fail)
    given = "" if core is None else without_marks((core.findtext(_CORE_TITLE) or "").strip())
    return (Edition(document_id, document_title(passages) or given or stem, passages),)


_AROUND = ("styles", "numbering", "footnotes", "endnotes")


def _main_part(archive: Archive, fail: Fail) -> str:
    """Where the text is: what the package says, else where Word puts it."""
    relations = _part(archive, "_rels/.rels", fail)
    for each in [] if relations is None else relations.iter(_RELATION):
        if each.get("Type", "").endswith("/officeDocument") and each.get("TargetMode") != "External":
            return str(each.get("Target", "")).lstrip("/")
    return "word/document.xml"


def _part(archive: Archive, name: str, fail: Fail) -> _Element | None:
    """The root of a part; None where there is no such part. Word writes no definitions, so none are taken."""
    from lxml import etree

    content = archive.part(name)
    if not content:
        return None
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError, LookupError) as error:
        fail(f"part {name[:80]!r} is damaged ({error}); open the file in Word and save it again")
    if root.getroottree().docinfo.doctype:
        fail(f"part {name[:80]!r} defines names of its own, as no Word file does; leave it out")
    return root


def _children(root: _Element | None, name: str) -> Iterator[_Element]:
    return iter(()) if root is None else root.iterchildren(f"{W}{name}")


@dataclass(slots=True)
class _Reader:
    """Walks the body. ``open``: words of a paragraph whose end was deleted, and which the next one goes on."""

    numbering: Numbering
    styles: Mapping[str, _Element]
    notes: Mapping[str, _Element]
    lines: Lines = field(default_factory=Lines)
    open: list[str] = field(default_factory=list)
    boxes: list[_Element] = field(default_factory=list)
    revised: bool = False

    def blocks(self, parent: _Element) -> None:
        """Paragraphs and tables, in order, through what only wraps them."""
        for each in parent:
            if each.tag == f"{W}p":
                self.paragraph(each)
            elif each.tag == f"{W}tbl":
                self.flush()
                self._table(each)
            elif each.tag not in _GONE and each.tag != _FALLBACK and isinstance(each.tag, str):
                self.revised = self.revised or each.tag in _NEW
                self.blocks(each)

    def flush(self) -> None:
        """End the paragraph whose own end was deleted."""
        if text := joined(self.open):
            self.lines.paragraph(text)
        self.open = []

    def paragraph(self, element: _Element) -> None:
        settings = element.find(f"{W}pPr")
        style = value(settings, "pStyle") or ""
        words = self.words(element, style)
        boxes, self.boxes = self.boxes, []
        text = joined([*self.open, words])
        if settings is not None and settings.find(f"{W}rPr/{W}del") is not None:
            self.open, self.revised = [*self.open, words], True
            return
        self.open = []
        if text and not self._is_contents(style):
            text += self.lines.revised() if self.revised else ""
            self._put(text, settings, style)
        self.revised = False
        for box in boxes:
            self.blocks(box)

    def _put(self, text: str, settings: _Element | None, style: str) -> None:
        level = self._heading(settings, style)
        list_id, at = self._list(settings, style)
        label = without_marks(self.numbering.label(list_id, at)) if list_id else ""
        if level:
            self.lines.heading(level, text, "" if label == "•" else label)
        else:
            self.lines.paragraph(text, label, at if list_id else 0)

    # Styles

    def _chain(self, style: str) -> Iterator[_Element]:
        """A style and those that it is based on."""
        for _ in range(_MOST_STYLES):
            found = self.styles.get(style)
            if found is None:
                return
            yield found
            style = value(found, "basedOn") or ""

    def _heading(self, settings: _Element | None, style: str) -> int:
        """1 for the title, 2 for the first level of headings and so on; 0 for text."""
        given = value(settings, "outlineLvl")
        for each in self._chain(style):
            name = (value(each, "name") or "").lower()
            if name == "title":
                return 1
            if name.startswith("heading ") and name[8:].isdigit():
                return whole(name[8:], 1) + 1
            given = value(each.find(f"{W}pPr"), "outlineLvl") if given is None else given
        level = whole(given, 9)
        return level + 2 if level < 9 else 0

    def _list(self, settings: _Element | None, style: str) -> tuple[str, int]:
        """The list that a paragraph is in ("" for none) and its level, by itself or by its style."""
        own = None if settings is None else settings.find(f"{W}numPr")
        at = whole(value(own, "ilvl"), -1)
        list_id = value(own, "numId")
        for each in self._chain(style) if list_id is None else ():
            theirs = each.find(f"{W}pPr/{W}numPr")
            if theirs is None:
                continue
            at = whole(value(theirs, "ilvl"), -1) if at < 0 else at
            list_id = value(theirs, "numId")
            if list_id is not None:
                at = self.numbering.level_of_style(list_id, each.get(f"{W}styleId", "")) if at < 0 else at
                break
        return ("", 0) if list_id in (None, "0") else (list_id or "", max(at, 0))

    def _is_contents(self, style: str) -> bool:
        name = (value(self.styles.get(style), "name") or "").lower()
        return name.startswith("toc ") and name[4:].isdigit()

    def _is_hidden(self, run: _Element, style: str) -> bool:
        """Whether a run is hidden, white on no ground, or tiny."""
        own = run.find(f"{W}rPr")
        settings = [own] if own is not None else []
        for name in (value(own, "rStyle") or "", style):
            settings += [found for each in self._chain(name) if (found := each.find(f"{W}rPr")) is not None]

        def first(name: str) -> str | None:
            return next((given for each in settings if (given := value(each, name)) is not None), None)

        vanish = first("vanish")
        if vanish is not None and vanish not in _OFF:
            return True
        if whole(first("sz"), 99) <= _TINY:
            return True
        shaded = any(each.find(f"{W}shd") is not None or each.find(f"{W}highlight") is not None for each in settings)
        return (first("color") or "").upper() == "FFFFFF" and not shaded and not _on_ground(run)

    # Words

    def words(self, element: _Element, style: str = "") -> str:
        """The words of a paragraph or a part of it, with marks for notes and hidden words."""
        pieces: list[str] = []
        for each in element:
            tag = each.tag
            if tag == f"{W}r" and self._is_hidden(each, style):
                pieces.append(self.lines.hidden(without_marks(joined([self.words(each, style)]))))
            elif tag == f"{W}t":
                pieces.append(without_marks((each.text or "").replace("\n", " ")))
            elif tag in _SIGNS:
                pieces.append("" if tag == f"{W}br" and each.get(f"{W}type") in ("page", "column") else _SIGNS[tag])
            elif tag in (f"{W}footnoteReference", f"{W}endnoteReference"):
                pieces.append(self._note(f"{tag.removeprefix(W).removesuffix('Reference')}:{each.get(f'{W}id')}"))
            elif tag == f"{W}sym":
                pieces.append("•" if not pieces else " ")
            elif tag == f"{W}txbxContent":
                self.boxes.append(each)
            elif tag in _GONE or tag == _FALLBACK or not isinstance(tag, str):
                self.revised = self.revised or tag in (f"{W}del", f"{W}moveFrom")
            else:
                self.revised = self.revised or tag in _NEW
                pieces.append(self.words(each, style))
        return "".join(pieces)

    def _note(self, name: str) -> str:
        note = self.notes.get(name)
        if note is None:
            return ""
        return self.lines.note("\n".join(filter(None, (joined([_plain(each)]) for each in note.iter(f"{W}p")))))

    # Tables

    def _table(self, table: _Element) -> None:
        rows = [row for row in _rows(table) if row.find(f"{W}trPr/{W}del") is None]
        if all(len(list(_cells(row))) < 2 for row in rows):  # a frame around text
            for row in rows:
                for cell in _cells(row):
                    self.blocks(cell)
            self.flush()
            return
        marks: list[str] = []
        grid = [[self._cell(cell, marks) for cell in _cells(row)] for row in rows]
        if sum(cell.columns for row in grid for cell in row) > _MOST_CELLS:
            grid = [[_Cell(cell.text, 1, "") for cell in row] for row in grid]
        marks.append(self.lines.revised() if self.revised else "")
        self.revised = False
        self.lines.table(tables.markdown(_spanned(grid)), "", "".join(marks))

    def _cell(self, cell: _Element, marks: list[str]) -> _Cell:
        words = [joined([self.words(each, value(each.find(f"{W}pPr"), "pStyle") or "")]) for each in cell.iter(f"{W}p")]
        self.boxes = []  # their paragraphs are among those of the cell
        text, kept = parted("\n".join(filter(None, words)))
        marks.append(kept)
        settings = cell.find(f"{W}tcPr")
        merge = value(settings, "vMerge")
        return _Cell(text, tables.span(value(settings, "gridSpan")), "continue" if merge == "" else merge or "")


@dataclass(frozen=True, slots=True)
class _Cell:
    """``merge``: "restart" begins a cell over several rows, "continue" goes on with it, "" is a cell of its own."""

    text: str
    columns: int
    merge: str


def _spanned(grid: list[list[_Cell]]) -> list[list[tables.Cell]]:
    """The cells with the number of rows that each covers; those that go on with one above are left out."""
    starts: dict[int, tuple[int, int]] = {}  # column: row and place of the open cell
    rows: list[list[tables.Cell]] = []
    for at, row in enumerate(grid):
        column, line = 0, []
        for cell in row:
            above = starts.get(column)
            if cell.merge == "continue" and above is not None:
                first, place = above
                rows[first][place] = rows[first][place]._replace(rows=at - first + 1)
            else:
                line.append(tables.Cell(cell.text, cell.columns))
                starts.pop(column, None)
                if cell.merge == "restart":
                    starts[column] = (at, len(line) - 1)
            column += cell.columns
        rows.append(line)
    return rows


def _rows(table: _Element) -> Iterator[_Element]:
    for each in table:
        if each.tag == f"{W}tr":
            yield each
        elif each.tag in (f"{W}sdt", f"{W}sdtContent", *_NEW):
            yield from _rows(each)


def _cells(row: _Element) -> Iterator[_Element]:
    for each in row:
        if each.tag == f"{W}tc" and each.find(f"{W}tcPr/{W}cellDel") is None:
            yield each
        elif each.tag in (f"{W}sdt", f"{W}sdtContent", *_NEW):
            yield from _cells(each)


def _on_ground(run: _Element) -> bool:
    """Whether the paragraph, cell or table of a run has a colour behind it."""
    for above in run.iterancestors(f"{W}p", f"{W}tc", f"{W}tbl"):
        shade = above.find(f"{W}pPr/{W}shd" if above.tag == f"{W}p" else f"{above.tag}Pr/{W}shd")
        if shade is not None and shade.get(f"{W}fill", "auto").upper() not in ("AUTO", "FFFFFF"):
            return True
    return False


def _plain(element: _Element) -> str:
    """The words of an element as accepted, without notes."""
    if element.tag == f"{W}t":
        return without_marks((element.text or "").replace("\n", " "))
    if element.tag in _SIGNS:
        return _SIGNS[element.tag]
    if element.tag in _GONE or element.tag == _FALLBACK or not isinstance(element.tag, str):
        return ""
    return "".join(map(_plain, element))
