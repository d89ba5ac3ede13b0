"""The obligation register as a table: for a spreadsheet (XLSX), and as CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from itertools import zip_longest

from responsa.quantities import Quantity
from responsa.register import Duty, Part
from responsa.text import tidy

COLUMNS = (
    "document", "clause", "number", "modality", "soft", "who", "what", "when", "when, normalised", "condition",
    "exception", "subject", "quantities", "cites", "sentence", "page", "version", "valid from", "valid to", "spans",
)  # fmt: skip
_WIDTHS = {
    "document": 14, "clause": 22, "number": 20, "modality": 12, "soft": 7, "who": 28, "what": 60, "when": 30,
    "when, normalised": 20, "condition": 45, "exception": 35, "subject": 28, "quantities": 28, "cites": 30,
    "sentence": 80, "page": 7, "version": 14, "valid from": 12, "valid to": 12, "spans": 40,
}  # fmt: skip
_DATES = ("valid from", "valid to")
_NUMBERS = ("page",)
_ON_ONE_LINE = ("version", "spans")  # for programs: broken into lines, they would make every row tall
LONGEST = 32_767  # characters in a cell, by the format
ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # what XML cannot hold
# A cell that begins so is a formula to a spreadsheet, also after blanks.
FORMULA = re.compile(r"\s*[=+\-@\t\r\n|%]")


def row(duty: Duty) -> list[str]:
    """The cells of a duty in the order of `COLUMNS`; parts of a cell are joined by " … " where text stands between."""
    version = duty.version
    return [
        version.document_id, duty.passage.id, duty.number, duty.modality, "yes" if duty.soft else "no", words(duty.who),
        words(duty.what), words(duty.when), "; ".join(normalised(each.quantity) for each in duty.timing),
        words(duty.condition), words(duty.exception), words(duty.subject),
        "; ".join(normalised(each.quantity) for each in duty.measures),
        "; ".join(dict.fromkeys(each.provision or str(each.act) for _, each in duty.references)), words(duty.sentence),
        str(duty.passage.page or ""), version.digest, str(version.valid_from or ""), str(version.valid_to or ""),
        "; ".join(f"{name} {where(parts)}" for name, parts in _spans(duty) if parts),
    ]  # fmt: skip


def words(parts: Sequence[Part]) -> str:
    """The words of parts in a line."""
    return " … ".join(tidy(part.text) for part in parts)


def where(parts: Sequence[Part]) -> str:
    """The places of parts, ``id:start-end``."""
    return ", ".join(f"{part.passage_id}:{part.start}-{part.end}" for part in parts)


def _spans(duty: Duty) -> Iterable[tuple[str, tuple[Part, ...]]]:
    for name in ("who", "what", "when", "condition", "exception"):
        yield name, getattr(duty, name)


def normalised(quantity: Quantity) -> str:
    """A quantity in a few words: ``at most P10D``, ``at least 8 %``, ``5000000 EUR``, ``10 business days``."""
    value = "" if quantity.value is None else plain_number(quantity.value)
    unit = quantity.unit + (
        "s" if value not in ("", "1") and quantity.unit.endswith(("day", "month", "year", "hour")) else ""
    )
    said = quantity.iso or f"{value} {unit}".strip() or quantity.relation
    bound = quantity.bound if quantity.kind != "deadline" or quantity.bound != "at most" else ""
    relation = quantity.relation if quantity.relation not in ("at once", said) else ""
    return " ".join(part for part in (bound, relation, said) if part)


def plain_number(value: Decimal) -> str:
    """A number without an exponent and trailing zeros, to six places."""
    text = f"{round(value, 6):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def guarded(cell: str) -> str:
    """The cell with an apostrophe before what a spreadsheet would compute ("=", "+", "-", "@")."""
    return f"'{cell}" if FORMULA.match(cell) else cell


def as_csv(duties: Iterable[Duty]) -> str:
    """The register as CSV (RFC 4180) with a header; no cell is a formula."""
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(COLUMNS)
    writer.writerows([guarded(cell) for cell in row(duty)] for duty in duties)
    return stream.getvalue()


def as_xlsx(
    duties: Iterable[Duty], summary: Sequence[tuple[str, int]] = (), about: Sequence[tuple[str, str]] = ()
) -> bytes:
    """The register as a workbook: a sheet with a frozen header and filters, one with ``summary`` by who, and one that
    says what the register is of: names and values. Dates and pages are such, all else is text. It prints landscape,
    all columns on a page's width, with the header on each page.
    """
    from openpyxl import Workbook
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.properties import PageSetupProperties

    book = Workbook(write_only=True)
    sheet = book.create_sheet("Obligations")
    for number, name in enumerate(COLUMNS, 1):
        sheet.column_dimensions[get_column_letter(number)].width = _WIDTHS[name]
    sheet.freeze_panes = "D2"
    sheet.page_setup.orientation = "landscape"
    sheet.page_setup.fitToHeight = 0
    sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    sheet.print_title_rows = "1:1"
    sheet.append(_cells(sheet, COLUMNS, head=True))
    count = 1
    for duty in duties:
        sheet.append(_cells(sheet, row(duty), COLUMNS))
        count += 1
    sheet.auto_filter.ref = f"A1:{get_column_letter(len(COLUMNS))}{count}"
    if summary:
        by = book.create_sheet("By who")
        by.column_dimensions["A"].width = 60
        by.freeze_panes = "A2"
        by.append(_cells(by, ("who", "obligations"), head=True))
        for name, number in summary:
            by.append([*_cells(by, (name or "(nobody named)",)), number])
    if about:
        of = book.create_sheet("About")
        of.column_dimensions["A"].width, of.column_dimensions["B"].width = 20, 100
        for name, value in about:
            of.append([*_cells(of, (name,), head=True), *_cells(of, (value,))])
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def _cells(sheet: object, values: Sequence[str], columns: Sequence[str] = (), *, head: bool = False) -> list[object]:
    """Cells of a row; ``columns`` are their names where some are not to be text that is broken into lines."""
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Alignment, Font, PatternFill

    wrapped, single = Alignment(wrap_text=True, vertical="top"), Alignment(vertical="top")
    made = []
    for value, column in zip_longest(values, columns, fillvalue=""):
        if column in _DATES and value:
            cell = WriteOnlyCell(sheet, value=date.fromisoformat(value))
            cell.number_format = "yyyy-mm-dd"
        elif column in _NUMBERS and value:
            cell = WriteOnlyCell(sheet, value=int(value))
        else:
            cell = WriteOnlyCell(sheet, value=ILLEGAL.sub("", value)[:LONGEST])
            cell.data_type = "s"  # text, whatever it begins with
        cell.alignment = single if column in _ON_ONE_LINE else wrapped
        if head:
            cell.font = Font(bold=True)
            cell.fill = PatternFill("solid", fgColor="E8ECF1")
        made.append(cell)
    return made
