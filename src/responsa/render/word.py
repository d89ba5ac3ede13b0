"""Word documents by python-docx: text, tables and pictures in one restrained style.

What is put in is not trusted: characters that XML or a page may not hold are replaced, and nothing is a field.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from responsa.render.html import shown

if TYPE_CHECKING:
    from docx.document import Document
    from docx.table import Table, _Cell
    from docx.text.paragraph import Paragraph

Colour = tuple[int, int, int]
INK: Colour = (0x1D, 0x27, 0x30)
SOFT: Colour = (0x5A, 0x68, 0x72)
DEEP: Colour = (0x14, 0x42, 0x5A)


class Pieces:
    """Puts pieces at the end of a document."""

    def __init__(self, document: Document) -> None:
        self.document = document

    def picture(self, content: bytes, width: float, said: str) -> None:
        """A PNG file, ``width`` in centimetres; ``said`` is for those who do not see it."""
        shape = self.document.add_picture(io.BytesIO(content), width=centimetres(width))
        shape._inline.docPr.set("descr", shown(said))

    def heading(self, text: str, level: int) -> None:
        self.document.add_heading(shown(text), level)

    def text(
        self, text: str, cell: _Cell | None = None, *, size: float = 10.0, bold: bool = False, italic: bool = False,
        colour: tuple[int, int, int] = INK,
    ) -> Paragraph:  # fmt: skip
        if cell is None:
            line = self.document.add_paragraph()
        else:
            empty = len(cell.paragraphs) == 1 and not cell.paragraphs[0].runs
            line = cell.paragraphs[0] if empty else cell.add_paragraph()
        self.run(line, text, size=size, bold=bold, italic=italic, colour=colour)
        return line

    def run(
        self, line: Paragraph, text: str, *, size: float, bold: bool = False, italic: bool = False,
        colour: tuple[int, int, int] = INK, marked: bool = False,
    ) -> None:  # fmt: skip
        from docx.enum.text import WD_COLOR_INDEX
        from docx.shared import Pt, RGBColor

        run = line.add_run(shown(text))
        run.bold, run.italic = bold, italic
        run.font.size, run.font.color.rgb = Pt(size), RGBColor(*colour)
        if marked:
            run.font.highlight_color = WD_COLOR_INDEX.YELLOW

    def table(self, widths: Sequence[float]) -> Table:
        table: Table = self.document.add_table(0, len(widths))
        table.autofit = False
        _ruled(table)
        for column, width in zip(table.columns, widths, strict=True):
            column.width = centimetres(width)
        return table

    def rows(self, head: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[float]) -> Table:
        """A table; its head is repeated on each page."""
        table = self.table(widths)
        for at, row in enumerate([head, *rows] if head else rows):
            made = table.add_row()  # type: ignore[no-untyped-call]
            first = at == 0 and bool(head)
            _whole(made, repeated=first)
            for cell, text, width in zip(made.cells, row, widths, strict=True):
                cell.width = centimetres(width)
                self.text(text, cell, size=9, bold=first, colour=DEEP if first else INK)
        return table

    def styles(self, title: str, foot: str) -> None:
        """A4, restrained headings, the page's number at its foot."""
        from docx.shared import Pt, RGBColor

        part = self.document.sections[0]
        part.page_width, part.page_height = centimetres(21.0), centimetres(29.7)
        part.left_margin = part.right_margin = centimetres(1.8)
        part.top_margin, part.bottom_margin = centimetres(1.8), centimetres(2.0)
        styles = self.document.styles
        normal: Any = styles["Normal"]
        normal.font.name, normal.font.size = "Calibri", Pt(10)
        normal.paragraph_format.space_after = Pt(4)
        for name, size in (("Title", 24), ("Heading 1", 15), ("Heading 2", 12.5), ("Heading 3", 11), ("Heading 4", 10)):
            style: Any = styles[name]
            style.font.name, style.font.size, style.font.bold, style.font.italic = "Calibri", Pt(size), True, False
            style.font.color.rgb = RGBColor(*DEEP)
            _plain_font(style)
        footer = part.footer.paragraphs[0]
        self.run(footer, f"{foot}, page ", size=8, colour=SOFT)
        _field(footer, "PAGE")
        core = self.document.core_properties
        core.author, core.title = "Responsa", shown(title)[:200]
        for each in list(core._element):
            if each.tag.rpartition("}")[2] in ("created", "modified"):  # those of the template
                core._element.remove(each)


def centimetres(value: float) -> Any:  # noqa: ANN401  # a length
    """A length as python-docx takes it."""
    from docx.shared import Cm

    return Cm(value)


def _element(name: str, **attributes: str) -> Any:  # noqa: ANN401  # lxml's
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    made = OxmlElement(name)
    for key, value in attributes.items():
        made.set(qn(f"w:{key}"), value)
    return made


def shade(cell: _Cell, colour: str) -> None:
    """Fill a cell; the colour is six hexadecimal digits."""
    cell._tc.get_or_add_tcPr().append(_element("w:shd", val="clear", color="auto", fill=colour))


def join(row: Any) -> None:  # noqa: ANN401  # a row
    """Make one cell of a row of which only the first has words, and print these bold."""
    whole = row.cells[0].merge(row.cells[-1])
    first, *others = whole.paragraphs
    for each in others:
        each._p.getparent().remove(each._p)
    for run in first.runs:
        run.bold = True


def _ruled(table: Table) -> None:
    """Level rules only."""
    borders = _element("w:tblBorders")
    for side in ("top", "bottom", "insideH"):
        borders.append(_element(f"w:{side}", val="single", sz="4", space="0", color="D3DADF"))
    settings = table._tbl.tblPr
    later = [each for each in settings if each.tag.rpartition("}")[2] in ("tblLayout", "tblCellMar", "tblLook")]
    if later:  # the order is that of the schema
        later[0].addprevious(borders)
    else:
        settings.append(borders)


def _whole(row: Any, *, repeated: bool) -> None:  # noqa: ANN401  # a row
    """The row is not broken over pages; ``repeated`` at the head of each."""
    settings = row._tr.get_or_add_trPr()
    settings.append(_element("w:cantSplit"))
    if repeated:
        settings.append(_element("w:tblHeader"))


def _plain_font(style: Any) -> None:  # noqa: ANN401  # a style
    """The fonts of the theme would win over the name that is set."""
    from docx.oxml.ns import qn

    fonts = style.element.get_or_add_rPr().get_or_add_rFonts()
    for name in ("asciiTheme", "hAnsiTheme", "eastAsiaTheme", "cstheme"):
        fonts.attrib.pop(qn(f"w:{name}"), None)


def _field(line: Paragraph, name: str) -> None:
    run = line.add_run()
    for each in (_element("w:fldChar", fldCharType="begin"), None, _element("w:fldChar", fldCharType="end")):
        if each is None:
            each = _element("w:instrText")
            each.text = name
        run._r.append(each)
