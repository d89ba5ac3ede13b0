"""Many assessments as a workbook: companies by activities, and all that each rests on."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from responsa.render import assessment_words as words
from responsa.render.assessment_marks import quotes
from responsa.render.assessment_words import Failed
from responsa.render.sheets import FORMULA, ILLEGAL, LONGEST
from responsa.taxonomy.values import Assessment

if TYPE_CHECKING:
    from openpyxl import Workbook

Value = str | int | float | None

_FILLS = {"aligned": "E6F1EC", "not_aligned": "F8E9E8", "insufficient": "FAF1DE"}
_NO_VERDICT, _HEAD = "F2F4F5", "DCE6EB"


def workbook(assessments: Sequence[Assessment], failed: Sequence[Failed] = ()) -> bytes:
    """The workbook as the bytes of an .xlsx file: text is text, whatever it begins with."""
    from openpyxl import Workbook

    from responsa.taxonomy.activities.build import ATTRIBUTION

    book = Workbook()
    book.remove(book.active)
    _matrix(book, assessments, failed)
    _sheet(book, "Assessments", _ASSESSMENTS, (_assessment(each) for each in assessments))
    _sheet(book, "Criteria", _CRITERIA, (row for each in assessments for row in _criteria(each)))
    _sheet(book, "Quotes", _QUOTES, (row for each in assessments for row in _quotes(each)))
    _sheet(book, "Evidence", _EVIDENCE, (row for each in assessments for row in _evidence(each)))
    _sheet(book, "Numbers", _NUMBERS, (row for each in assessments for row in _numbers(each)))
    _sheet(book, "KPI lines", _KPI, (row for each in assessments for row in _kpi(each)))
    acts = dict.fromkeys(each.activity.source for each in assessments)
    about = [[words.DRAFT], [f"Criteria: {'; '.join(acts)}. {ATTRIBUTION}"]]
    about += [[f"{name}: sha256 {digest}"] for digest, name in {one.digest: one.report for one in assessments}.items()]
    _sheet(book, "About", {"about": 110}, about)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


# Columns with their widths.
_ASSESSMENTS = {
    "report": 24, "company": 26, "activity": 12, "name": 34, "financial year": 10, "verdict": 20,
    "model concludes": 20, "usable replies": 10, "agreement": 11, "turnover aligned of eligible, %": 14,
    "CapEx aligned of eligible, %": 14, "OpEx aligned of eligible, %": 14, "turnover, pages": 10, "CapEx, pages": 10,
    "OpEx, pages": 10, "flags": 50, "what is missing": 60, "notes": 40, "model": 20, "requests": 10, "USD": 10,
    "criteria of": 26,
}  # fmt: skip
_CRITERIA = {
    "report": 24, "activity": 12, "criterion": 20, "part": 30, "requirement": 70, "standing": 16, "most said": 16,
    "votes": 24, "reasoning": 70, "what is missing": 50, "figures disagree": 40, "flags": 40, "pages": 14,
}  # fmt: skip
_QUOTES = {
    "report": 24, "activity": 12, "criterion": 20, "claim": 50, "quote": 70, "page": 8, "check": 24, "about": 18,
    "generations": 12, "flags": 40,
}  # fmt: skip
_EVIDENCE = {
    "report": 24, "activity": 12, "rank": 7, "page": 8, "criterion": 20, "score": 9, "passage": 26, "text": 110,
}  # fmt: skip
_NUMBERS = {
    "report": 24, "activity": 12, "criterion": 20, "threshold": 50, "figure": 20, "value": 12, "unit": 12, "year": 8,
    "about": 18, "outcome": 16, "reason": 44, "page": 8, "in the report": 80,
}  # fmt: skip
_KPI = {
    "report": 24, "activity": 12, "KPI": 12, "section": 24, "line": 44, "of which": 9, "amount": 14, "unit": 16,
    "share of total, %": 12, "year": 8, "page": 8, "in the report": 80,
}  # fmt: skip


def _assessment(it: Assessment) -> list[Value]:
    shares = {each.kpi: each for each in it.shares}
    whole = words.spent(it.trace)[-1:]
    trust = it.trust
    return [
        it.report, words.company(it), it.activity.id, it.activity.name, it.year, words.VERDICTS[it.verdict],
        words.VERDICTS[it.concluded] if it.concluded else "", trust.usable if trust else None,
        trust.agreement if trust else None,
        *(round(shares[kpi].share, 2) if kpi in shares else None for kpi in words.KPIS),
        *(", ".join(map(str, shares[kpi].pages)) if kpi in shares else "" for kpi in words.KPIS),
        "\n".join(words.flags(it)), "\n".join(it.missing), "\n".join(it.notes), it.asking.model,
        len(it.trace), whole[0].cost if whole else None, it.activity.source,
    ]  # fmt: skip


def _criteria(it: Assessment) -> Iterable[list[Value]]:
    for each in it.criteria:
        places = [*(claim.place for claim in each.claims if claim.place), *quotes(each)]
        requirement = "\n".join(part for part in (each.criterion.text, words.joined(each.criterion)) if part)
        yield [
            it.report, it.activity.id, each.criterion.id, words.part_name(each, it), requirement,
            words.STANDINGS[each.verdict], words.STANDINGS[each.said], words.votes(each), each.reason, each.missing,
            each.disagreement, "\n".join(each.flags), ", ".join(str(page) for page in sorted({p.page for p in places})),
        ]  # fmt: skip


def _quotes(it: Assessment) -> Iterable[list[Value]]:
    for each in it.criteria:
        for claim in each.claims:
            place = claim.place
            yield [
                it.report, it.activity.id, each.criterion.id, claim.text, place.text if place else claim.quote,
                place.page if place else claim.page or None, words.SUPPORTS[claim.support], words.ROLES[claim.role],
                len(claim.generations) or None, "; ".join(claim.flags),
            ]  # fmt: skip
        for quote in quotes(each):
            yield [
                it.report, it.activity.id, each.criterion.id, "", quote.text, quote.page, "found by search", "", None,
                "",
            ]  # fmt: skip


def _evidence(it: Assessment) -> Iterable[list[Value]]:
    for rank, each in enumerate(it.evidence, 1):
        yield [
            it.report, it.activity.id, rank, each.page, each.criterion, each.score, each.passage_id,
            words.cells(each.text),
        ]  # fmt: skip


def _numbers(it: Assessment) -> Iterable[list[Value]]:
    for each in it.checks:
        figure = each.figure
        yield [
            it.report, it.activity.id, each.criterion, words.threshold(each.threshold), words.figure(figure),
            figure.value, figure.unit, figure.year, words.ROLES[figure.role], words.OUTCOMES[each.outcome], each.reason,
            figure.page, words.cells(figure.quote),
        ]  # fmt: skip


def _kpi(it: Assessment) -> Iterable[list[Value]]:
    for each in it.kpi:
        yield [
            it.report, it.activity.id, words.KPIS.get(each.kpi, each.kpi), words.section(each), each.name,
            "yes" if each.part else "", each.amount, each.unit, each.share, each.year, each.page, each.quote,
        ]  # fmt: skip


def _matrix(book: Workbook, assessments: Sequence[Assessment], failed: Sequence[Failed]) -> None:
    """A row for each report, a column for each activity: verdict, aligned share of turnover, number of flags."""
    from openpyxl.styles import PatternFill

    from responsa.taxonomy.activities.catalogue import order

    columns = sorted({each.activity.id for each in assessments} | {each.activity for each in failed}, key=order)
    made = {(each.digest, each.year, each.activity.id): each for each in assessments}
    reports = {(each.digest, each.year): each.report for each in assessments}
    reports |= {(each.report, 0): each.report for each in failed if each.report not in reports.values()}
    lost = {(each.report, each.activity): each.reason for each in failed}
    rows: list[list[Value]] = []
    for (digest, year), name in reports.items():
        own = (_cell(made.get((digest, year, activity)), lost.get((name, activity), "")) for activity in columns)
        rows.append([name, year or None, *own])
    widths = {"report": 28, "financial year": 10, **dict.fromkeys(columns, 24)}
    sheet = _sheet(book, "Matrix", widths, rows)
    for at, (digest, year) in enumerate(reports, 2):
        for column, activity in enumerate(columns, 3):
            each = made.get((digest, year, activity))
            if each:
                colour = _FILLS.get(each.verdict or "", _NO_VERDICT)
                sheet.cell(at, column).fill = PatternFill("solid", fgColor=colour)


def _cell(each: Assessment | None, lost: str) -> str:
    if each is None:
        return f"not assessed: {lost}" if lost else ""
    share = next((one for one in each.shares if one.kpi == "turnover"), None)
    flags = len(words.flags(each))
    lines = [words.VERDICTS[each.verdict]]
    if share:
        lines.append(f"turnover {words.percent(share.share)} aligned")
    if flags:
        lines.append(words.count(flags, "flag"))
    return "\n".join(lines)


def _sheet(book: Workbook, name: str, columns: Mapping[str, int], rows: Iterable[Sequence[Value]]) -> Any:  # noqa: ANN401
    """A sheet with a frozen head and filters."""
    from openpyxl.styles import Alignment, Font, PatternFill
    from openpyxl.utils import get_column_letter

    sheet = book.create_sheet(name)
    top = Alignment(wrap_text=True, vertical="top")
    for number, (title, width) in enumerate(columns.items(), 1):
        sheet.column_dimensions[get_column_letter(number)].width = width
        cell = sheet.cell(1, number)
        _put(cell, title)
        cell.font, cell.fill, cell.alignment = Font(bold=True), PatternFill("solid", fgColor=_HEAD), top
    count = 1
    for count, row in enumerate(rows, 2):
        for number, value in enumerate(row, 1):
            cell = sheet.cell(count, number)
            _put(cell, value)
            cell.alignment = top
    sheet.freeze_panes = "B2"
    sheet.auto_filter.ref = f"A1:{get_column_letter(len(columns))}{count}"
    sheet.page_setup.orientation, sheet.page_setup.fitToHeight = "landscape", 0
    sheet.sheet_properties.pageSetUpPr.fitToPage = True
    sheet.print_title_rows = "1:1"
    return sheet


def _put(cell: Any, value: Value) -> None:  # noqa: ANN401  # a cell
    """Text as text, also after it was edited: what a spreadsheet would compute is marked as quoted."""
    if value is None or value == "":
        return
    if isinstance(value, str):
        cell.value = ILLEGAL.sub("", value)[:LONGEST]
        cell.data_type = "s"
        if FORMULA.match(value):
            cell.quotePrefix = True
    else:
        cell.value = value
