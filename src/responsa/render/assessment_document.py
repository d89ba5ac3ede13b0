"""An assessment as a Word document, with the same content as its page."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from responsa.render import assessment_words as words
from responsa.render.assessment_marks import Mark, Marks, Sheets, marks, quotes, shown_checks
from responsa.render.word import DEEP, SOFT, Colour, Pieces, centimetres, join, shade
from responsa.taxonomy.values import Assessment, Claim, CriterionAssessment

if TYPE_CHECKING:
    from docx.document import Document

_COLOURS: dict[str, Colour] = {
    "met": (0x1D, 0x6A, 0x4A), "aligned": (0x1D, 0x6A, 0x4A), "meets": (0x1D, 0x6A, 0x4A), "found": (0x1D, 0x6A, 0x4A),
    "not_met": (0x9C, 0x2B, 0x27), "not_aligned": (0x9C, 0x2B, 0x27), "misses": (0x9C, 0x2B, 0x27),
    "not_found": (0x9C, 0x2B, 0x27), "insufficient": (0x8A, 0x5A, 0x00), "near": (0x8A, 0x5A, 0x00),
}  # fmt: skip
_MARKERS: dict[str, Colour] = {"evidence": (255, 238, 160), "figure": (190, 220, 238), "trap": (205, 210, 214)}
_TEXT_WIDTH = 17.4  # centimetres
_HIGHEST = 21.5  # centimetres of a page's picture


def document(assessment: Assessment, sheets: Sheets | None = None) -> bytes:
    """The document as the bytes of a .docx file."""
    from docx import Document

    writer = _Writer(Document(), assessment, sheets or Sheets())
    writer.write()
    stream = io.BytesIO()
    writer.document.save(stream)
    return stream.getvalue()


class _Writer(Pieces):
    def __init__(self, document: Document, assessment: Assessment, sheets: Sheets) -> None:
        super().__init__(document)
        self.it, self.sheets = assessment, sheets
        self.marks: Marks = marks(assessment)
        self._shown: set[int] = set()

    def write(self) -> None:
        title = f"{words.company(self.it)}: {self.it.activity.id} {self.it.year}"
        self.styles(title, "EU Taxonomy assessment, draft for review")
        self._front()
        self._glance()
        self._criteria()
        self._figures()
        self._kpi()
        self._evidence()
        self._trust()
        self._made()
        self._annex()

    def _front(self) -> None:
        it = self.it
        self.text("EU TAXONOMY ASSESSMENT", size=8.5, colour=SOFT, bold=True)
        self.heading(words.company(it), 0)
        self.text(f"{it.activity.id} {it.activity.name}, financial year {it.year}", size=13)
        self.text(words.DRAFT, size=9, colour=SOFT)
        table = self.table((5.4, 12.0))
        left, right = table.add_row().cells  # type: ignore[no-untyped-call]
        for cell, width in ((left, 5.4), (right, 12.0)):
            shade(cell, "F4F6F7")
            cell.width = centimetres(width)
        self.text(words.VERDICTS[it.verdict], left, size=20, bold=True, colour=_COLOURS.get(it.verdict or "", SOFT))
        self.text(words.statement(it), left)
        if words.disagreeing(it):
            said = words.VERDICTS[it.concluded].lower()
            self.text(f"The model itself concludes: {said}. The verdict follows from its findings by the logic of the"
                       " criteria.", left, size=9)  # fmt: skip
        for title, items in (("What is missing", it.missing), ("To look at", words.flags(it))):
            if items:
                self.text(title, right, bold=True)
                for each in words.first(items):
                    self.text(f"• {each}", right, size=9.5)
        if it.shares:
            self.heading("What the company reports for this activity: aligned of eligible, A.1 / (A.1 + A.2)", 3)
            rows = [
                [words.KPIS.get(each.kpi, each.kpi), words.percent(each.share),
                 f"{words.amount(each.aligned)} of {words.amount(each.eligible)} {each.unit}",
                 f"p. {', '.join(map(str, each.pages))}"]
                for each in it.shares
            ]  # fmt: skip
            self.rows(("KPI", "Aligned of eligible", "Amounts", "Page"), rows, (3.4, 4.0, 7.0, 3.0))
        self.text("", size=4)
        self.rows((), words.facts(it), (3.4, 14.0))
        for each in (*it.notes, *self.sheets.notes):
            self.text(f"• {each}", size=9, colour=SOFT)

    def _glance(self) -> None:
        self.heading("Criteria at a glance", 1)
        rows = []
        for each in self.it.criteria:
            verdict = self.it.verdicts.get(each.criterion.id)
            if each.depth == 0:
                name = words.part_name(each, self.it)
                rows.append([f"{name}: {words.VERDICTS[verdict].lower()}" if verdict else name, "", "", ""])
            text = " ".join(part for part in (words.short(each.criterion.text), words.joined(each.criterion)) if part)
            cited = [claim.place for claim in each.claims if claim.place]
            numbers = [self._number(place.page, place.text) for place in (*cited, *quotes(each))]
            rows.append([
                "  " * each.depth + each.criterion.id, text, words.STANDINGS[each.verdict],
                " ".join(dict.fromkeys(filter(None, numbers))),
            ])  # fmt: skip
        table = self.rows(("Criterion", "Requirement", "Standing", "Quotes"), rows, (3.6, 8.2, 2.9, 2.7))
        for row, told in zip(table.rows[1:], rows, strict=True):
            if not any(told[1:]):
                join(row)
        for title, items in (("All that is missing", self.it.missing), ("All to look at", words.flags(self.it))):
            if len(items) > words.MOST_FRONT:
                self.heading(title, 4)
                for item in items:
                    self.text(f"• {words.short(item, 400)}", size=9)

    def _criteria(self) -> None:
        self.heading("1. Criteria", 1)
        for each in self.it.criteria:
            if each.depth == 0:
                self.heading(words.part_name(each, self.it), 2)
            self._criterion(each)

    def _criterion(self, each: CriterionAssessment) -> None:
        standing = words.STANDINGS[each.verdict]
        self.heading(f"{each.criterion.id}{f': {standing.lower()}' if standing else ''}", 3)
        extra = [part for part in (words.when(each.criterion), words.joined(each.criterion)) if part]
        if extra:
            self.text("; ".join(extra), size=9, colour=SOFT)
        if each.criterion.text:
            self.text(each.criterion.text, italic=True)
        for limit in each.criterion.thresholds:
            self.text(f"• {words.threshold(limit)}", size=9, colour=SOFT)
        if each.disagreement:
            self.text(each.disagreement, colour=_COLOURS["misses"], bold=True)
        for flag in each.flags:
            self.text(flag, colour=_COLOURS["near"])
        if each.said and each.said != each.verdict:
            said = words.STANDINGS[each.said].lower()
            self.text(f"Most generations said: {said}. The checks of their quotes changed it.", colour=_COLOURS["near"])
        for title, text in (("Reasoning", each.reason), ("What is missing", each.missing)):
            if text:
                self.text(title, size=9, bold=True, colour=SOFT)
                self.text(words.long(text))
        if each.votes:
            self.text(f"Votes of the generations: {words.votes(each)}", size=9, colour=SOFT)
        if each.claims:
            self.text("What the report is said to state, checked against it", size=9, bold=True, colour=SOFT)
        for claim in each.claims:
            self._claim(claim)
        own = quotes(each)
        if own:
            self.text("Sentences of the report that fit best", size=9, bold=True, colour=SOFT)
        for quote in own:
            self._quote(words.cells(quote.text), quote.page, self.marks.of(quote.page, quote.text))
        if not own and not each.claims and not each.criterion.parts:
            pages = ", ".join(f"p. {one.page}" for one in each.evidence)
            self.text(f"No single sentence stands out; nearest are the passages on {pages}." if pages else
                       "Nothing in the report was found for this criterion.", size=9, colour=SOFT)  # fmt: skip

    def _claim(self, claim: Claim) -> None:
        if words.claimed(claim):
            self.text(words.claimed(claim))
        state = [words.SUPPORTS[claim.support]]
        if claim.place and claim.role != "supports":
            state.append(words.ROLES[claim.role])
        if claim.generations:
            state.append(f"in {words.count(len(claim.generations), 'generation')}")
        if not claim.place and claim.page:
            state.append(f"said to be on p. {claim.page}")
        self.text("; ".join((*state, *claim.flags)), size=9, bold=True, colour=_COLOURS[claim.support])
        if claim.place:
            mark = self.marks.of(claim.place.page, claim.place.text)
            self._quote(words.cells(claim.place.text), claim.place.page, mark)
        elif claim.quote:
            self._quote(claim.quote, 0, None)

    def _quote(self, text: str, page: int, mark: Mark | None) -> None:
        where = f" [{mark.number}]" if mark else ""
        line = self.text(f"“{words.short(text, 700)}”{where}{f' p. {page}' if page else ''}", size=9.5)
        line.paragraph_format.left_indent = centimetres(0.5)
        self._cutting([mark])

    def _figures(self) -> None:
        self.heading("2. Figures beside thresholds", 1)
        checks = shown_checks(self.it)
        if not checks:
            self.text("No figure of the report has the unit and subject of a threshold of these criteria.")
            return
        more = f" Shown are {len(checks)} of {len(self.it.checks)}." if len(checks) < len(self.it.checks) else ""
        self.text("Compared by rules, without a model, and only where unit, subject and year allow it." + more, size=9,
                   colour=SOFT)  # fmt: skip
        for group, own in words.grouped(checks):
            self.heading(group, 4)
            rows = [
                [f"{words.figure(check.figure)} ({words.figure_of(check)})",
                 words.short(words.cells(check.figure.quote), 260),
                 ": ".join(part for part in (words.OUTCOMES[check.outcome], check.reason) if part),
                 f"{self._number(check.figure.page, check.figure.quote)} p. {check.figure.page}"]
                for check in own
            ]  # fmt: skip
            self.rows(("Figure", "In the report", "Outcome", "Page"), rows, (3.2, 7.6, 4.6, 2.0))

    def _kpi(self) -> None:
        self.heading("3. KPI lines of the company", 1)
        if not self.it.kpi:
            self.text("The report has no line for this activity in templates for turnover, CapEx or OpEx that could be"
                       " read.")  # fmt: skip
            return
        rows = [
            [words.KPIS.get(line.kpi, line.kpi), f"{'of which: ' if line.part else ''}{line.name}",
             words.section(line), f"{words.amount(line.amount)} {line.unit}", words.percent(line.share),
             str(line.year or ""), f"{self._number(line.page, line.quote)} p. {line.page}"]
            for line in self.it.kpi
        ]  # fmt: skip
        head = ("KPI", "Line", "Section", "Amount", "Of total", "Year", "Page")
        self.rows(head, rows, (2.0, 4.8, 2.9, 2.8, 1.7, 1.3, 1.9))
        pages: dict[int, list[Mark | None]] = {}
        for line in self.it.kpi:
            pages.setdefault(line.page, []).append(self.marks.of(line.page, line.quote))
        for own in pages.values():
            self._cutting(own)

    def _evidence(self) -> None:
        self.heading("4. Evidence found", 1)
        quoted = [*self.it.quotes]
        claims = [claim for each in self.it.criteria for claim in each.claims]
        quoted += [quote for each in self.it.criteria for quote in each.quotes]
        for number, each in enumerate(self.it.evidence, 1):
            head = f"{number}. Page {each.page}, for {each.criterion}, score {each.score:.3f}"
            self.text(head, size=9.5, bold=True)
            line = self.text("", size=9.5)
            for piece, marked in words.excerpt(each, [*quoted, *claims]):
                self.run(line, piece, size=9.5, marked=marked)
        if not self.it.evidence:
            self.text("No passage of the report fits the criteria.")

    def _trust(self) -> None:
        if not self.it.trust:
            return
        self.heading("5. How sure", 1)
        self.rows(("Signal", "Value", "What it is"), words.trust_rows(self.it), (6.0, 3.0, 8.4))
        rows = [
            [str(each.number + 1), words.VERDICTS[each.concluded], words.VERDICTS[each.verdict],
             words.short(each.reasoning, 300)]
            for each in self.it.generations
        ]  # fmt: skip
        if rows:
            head = ("No.", "Its conclusion", "By the criteria's logic", "Its reasoning begins")
            self.rows(head, rows, (1.2, 3.4, 3.8, 9.0))

    def _made(self) -> None:
        from responsa.taxonomy.activities.build import ATTRIBUTION

        self.heading(f"{6 if self.it.trust else 5}. How it was made", 1)
        rows = [
            [each.purpose, each.model, f"{each.calls:,}", f"{each.cached:,}", f"{each.failed:,}",
             f"{each.tokens_in:,}", f"{each.tokens_out:,}", "not known" if each.cost is None else f"{each.cost:.4f}"]
            for each in words.spent(self.it.trace)
        ]  # fmt: skip
        if rows:
            head = ("Requests", "Model", "Calls", "From cache", "Failed", "Tokens in", "Tokens out", "USD")
            self.rows(head, rows, (4.0, 3.2, 1.4, 1.9, 1.5, 1.9, 1.9, 1.6))
        else:
            self.text("No request was made to a language model.")
        self.text(f"Criteria: {self.it.activity.source}. {ATTRIBUTION}", size=8.5, colour=SOFT)
        told = "Pictures and quotes of the report are its company's; they are shown as evidence."
        self.text(f"Report: {self.it.report}, sha256 {self.it.digest}. {told}", size=8.5, colour=SOFT)

    def _annex(self) -> None:
        from responsa.render.images import cut
        from responsa.types import Box

        for at, sheet in enumerate(self.sheets.pages.values()):
            if at == 0:
                self.document.add_page_break()  # type: ignore[no-untyped-call]
                self.heading("Annex: pages quoted", 1)
                self.text("Yellow: quoted as evidence. Blue: figure or KPI line. Grey: target, plan or another year.",
                           size=9, colour=SOFT)  # fmt: skip
            own = [mark for mark in sheet.marks if mark.boxes]
            named = ", ".join(f"[{mark.number}]" for mark in own)
            title = self.text(f"Page {sheet.page}{f', quotes {named}' if named else ''}", bold=True, colour=DEEP)
            title.paragraph_format.keep_with_next = True
            whole = Box(sheet.page, 0, 0, sheet.raster.width, sheet.raster.height)
            picture = cut(sheet.raster, whole, [(box, _MARKERS[mark.kind]) for mark in own for box in mark.boxes])
            width = min(_TEXT_WIDTH, _HIGHEST * sheet.raster.width / sheet.raster.height)
            self.picture(picture, width, f"Page {sheet.page} of the report")

    def _number(self, page: int, text: str) -> str:
        mark = self.marks.of(page, text)
        return f"[{mark.number}]" if mark else ""

    def _cutting(self, wanted: Sequence[Mark | None]) -> None:
        """The part of the page around marks of one page, the first time that they are shown."""
        from responsa.render.images import across, around, cut

        own = [mark for each in dict.fromkeys(wanted) if (mark := self.sheets.mark(each))]
        own = [mark for mark in own if mark.number not in self._shown]
        if not own:
            return
        self._shown |= {mark.number for mark in own}
        page = self.sheets.pages[own[0].page].raster
        region = around([box for mark in own for box in mark.boxes], page.width, page.height)
        picture = cut(page, region, [(box, _MARKERS[mark.kind]) for mark in own for box in mark.boxes])
        self.picture(picture, across(region, page.width, page.height) * _TEXT_WIDTH, f"Part of page {own[0].page}")
