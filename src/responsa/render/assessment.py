"""An assessment as one HTML page that needs nothing beside it: to be read on a screen, printed, and handed on.

Report, act and model are not trusted: see `responsa.render.html`. Pictures of pages are in the page once each; the
cuttings beside quotes show parts of them.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import NamedTuple

from responsa.render import assessment_words as words
from responsa.render.assessment_marks import Mark, Marks, Sheet, Sheets, marks, quotes, shown_checks
from responsa.render.assessment_words import Failed
from responsa.render.html import render
from responsa.taxonomy.values import Assessment, Claim, CriterionAssessment, KpiLine, NumberCheck, Quote


class Clip(NamedTuple):
    """A part of a page's picture: its place in points, as SVG has it, and its width in percent of the text's."""

    page: int
    view: str
    across: str
    marks: tuple[Mark, ...]


class Entry(NamedTuple):
    """An assessment in the list of several, and the name of its page's file."""

    assessment: Assessment
    file: str


def page(assessment: Assessment, sheets: Sheets | None = None) -> str:
    """The page. ``sheets`` are the pages of the report that are shown, as `assessment_marks.draw` makes them."""
    from responsa.taxonomy.activities.build import ATTRIBUTION

    drawn = sheets or Sheets()
    found = marks(assessment)
    return render(
        "assessment",
        pictures=True,
        it=assessment,
        w=words,
        marks=found,
        sheets=drawn,
        clips=_Clips(found, drawn),
        quotes=quotes,
        checks=shown_checks(assessment),
        compared=_compared,
        grouped=words.grouped,
        short=words.short,
        cited=_cited,
        excerpt=_excerpt,
        address=_address,
        marked=_marked,
        attribution=ATTRIBUTION,
    )


def index(entries: Sequence[Entry], failed: Sequence[Failed] = ()) -> str:
    """A page that lists several assessments and links to theirs, which lie beside it."""
    from responsa.taxonomy.activities.build import ATTRIBUTION
    from responsa.taxonomy.activities.catalogue import order

    activities = {each.assessment.activity.id: each.assessment.activity.name for each in entries}
    reports = {(each.assessment.digest, each.assessment.year): each.assessment for each in entries}
    places = {(one.digest, one.year, one.activity.id): each for each in entries for one in (each.assessment,)}
    return render(
        "assessments",
        entries=entries,
        failed=failed,
        activities=dict(sorted(activities.items(), key=lambda each: order(each[0]))),
        reports=reports,
        places=places,
        w=words,
        attribution=ATTRIBUTION,
    )


class _Clips:
    """Cuttings beside quotes, each shown once: afterwards its number is enough."""

    def __init__(self, found: Marks, sheets: Sheets) -> None:
        self._marks, self._sheets = found, sheets
        self._shown: set[int] = set()

    def of(self, page: int, text: str) -> Clip | None:
        mark = self._sheets.mark(self._marks.of(page, text))
        return self._clip([mark]) if mark else None

    def together(self, lines: Sequence[KpiLine]) -> list[Clip]:
        """One for all lines of a page."""
        pages: dict[int, list[Mark]] = {}
        for line in lines:
            mark = self._sheets.mark(self._marks.of(line.page, line.quote))
            if mark:
                pages.setdefault(line.page, []).append(mark)
        return [made for own in pages.values() if (made := self._clip(list(dict.fromkeys(own))))]

    def _clip(self, own: Sequence[Mark]) -> Clip | None:
        fresh = [mark for mark in own if mark.number not in self._shown]
        self._shown |= {mark.number for mark in fresh}
        return clip(fresh, self._sheets.pages[fresh[0].page]) if fresh else None


def clip(own: Sequence[Mark], sheet: Sheet) -> Clip:
    """The part of the page around marks."""
    from responsa.render.images import across, around

    size = sheet.raster.width, sheet.raster.height
    region = around([box for mark in own for box in mark.boxes], *size)
    view = f"{region.x0:.1f} {region.y0:.1f} {region.x1 - region.x0:.1f} {region.y1 - region.y0:.1f}"
    return Clip(sheet.page, view, f"{100 * across(region, *size):.1f}%", tuple(own))


def _address(sheet: Sheet) -> str:
    from responsa.render.images import png

    return f"data:image/png;base64,{base64.b64encode(png(sheet.raster)).decode()}"


def _marked(sheet: Sheet) -> list[Mark]:
    """The marks of a page that can be drawn; those without a place on it are left out."""
    return [mark for mark in sheet.marks if mark.boxes]


def _compared(assessment: Assessment, each: CriterionAssessment) -> list[NumberCheck]:
    """The checks of a criterion that came to something."""
    return [check for check in shown_checks(assessment, each) if check.outcome != "not_comparable"]


def _cited(each: CriterionAssessment, found: Marks) -> list[Mark]:
    """The marks that a criterion rests on, each once."""
    places = [*(claim.place for claim in each.claims if claim.place), *quotes(each)]
    return list(dict.fromkeys(mark for place in places if (mark := found.of(place.page, place.text))))


def _excerpt(assessment: Assessment, at: int) -> list[tuple[str, bool]]:
    evidence = assessment.evidence[at]
    quoted: list[Quote | Claim] = [*assessment.quotes]
    for each in assessment.criteria:
        quoted += [*each.claims, *each.quotes]
    return words.excerpt(evidence, quoted)
