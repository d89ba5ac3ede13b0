"""The words of a company's report that an assessment rests on, numbered, and marked on pictures of its pages."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from responsa.errors import InputError
from responsa.taxonomy.values import Assessment, CriterionAssessment, NumberCheck, Quote
from responsa.text import normalise, tidy
from responsa.types import Box

if TYPE_CHECKING:
    from responsa.corpus.limits import Limits
    from responsa.render.images import Raster

MOST_PAGES = 32
"""Pictures of pages in one assessment."""
MOST_CHECKS = 40
"""Figures shown beside thresholds; those that could be compared come first."""
_AT_A_TIME = 6  # pages drawn in one go: some 40 MB

Kind = Literal["evidence", "trap", "figure"]
Progress = Callable[[int, int, str], None]


class Mark(NamedTuple):
    """Words on a page. ``boxes`` are the reader's (of whole passages) until the page is drawn, then those of the
    lines; ``number`` is theirs in the whole assessment."""

    number: int
    page: int
    text: str
    kind: Kind
    boxes: tuple[Box, ...] = ()


@dataclass(frozen=True)
class Marks:
    """All that is quoted of a report, in the order of the assessment."""

    all: tuple[Mark, ...] = ()
    _places: Mapping[tuple[int, str], Mark] = field(default_factory=dict, repr=False)

    def of(self, page: int, text: str) -> Mark | None:
        """The mark of these words; None where they are not quoted in this assessment."""
        return self._places.get(_key(page, text))


@dataclass(frozen=True)
class Sheet:
    """A page as a picture, and the marks on it with boxes in its points."""

    page: int
    raster: Raster
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Sheets:
    """The pages drawn, by number; ``notes`` say which could not be, and why."""

    pages: Mapping[int, Sheet] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def mark(self, mark: Mark | None) -> Mark | None:
        """The mark with boxes on the page's picture; None where it has none, or no picture."""
        if mark is None or mark.page not in self.pages:
            return None
        return next((each for each in self.pages[mark.page].marks if each.number == mark.number and each.boxes), None)


def marks(assessment: Assessment) -> Marks:
    """What is quoted, numbered from 1 as it comes: claims and sentences of the criteria, figures, KPI lines."""
    found: dict[tuple[int, str], Mark] = {}

    def add(page: int, text: str, kind: Kind, boxes: tuple[Box, ...] = ()) -> None:
        if tidy(text) and page >= 1:
            mark = Mark(len(found) + 1, page, text, kind, tuple(box for box in boxes if box.page == page))
            found.setdefault(_key(page, text), mark)

    for each in assessment.criteria:
        for claim in each.claims:
            if claim.place:
                trap = claim.role.startswith("trap")
                add(claim.place.page, claim.place.text, "trap" if trap else "evidence", claim.place.boxes)
        for quote in quotes(each):
            add(quote.page, quote.text, "evidence", quote.boxes)
        for check in shown_checks(assessment, each):
            add(check.figure.page, check.figure.quote, "figure")
    for line in assessment.kpi:
        add(line.page, line.quote, "figure")
    for quote in assessment.quotes:
        add(quote.page, quote.text, "evidence", quote.boxes)
    return Marks(tuple(found.values()), found)


def quotes(each: CriterionAssessment) -> list[Quote]:
    """The sentences to show for a criterion, each once: those that no claim rests on already."""
    claimed = {_key(claim.place.page, claim.place.text) for claim in each.claims if claim.place}
    by_words = {_key(quote.page, quote.text): quote for quote in each.quotes}
    return [quote for key, quote in by_words.items() if key not in claimed]


def shown_checks(assessment: Assessment, each: CriterionAssessment | None = None) -> list[NumberCheck]:
    """The number checks to show, of one criterion where it is given: those that could be compared first."""
    ranked = sorted(assessment.checks, key=lambda check: check.outcome == "not_comparable")[:MOST_CHECKS]
    if each is None:
        return ranked
    own = {id(assessment.checks[at]) for at in each.numbers}
    return [check for check in ranked if id(check) in own]


def wanted(found: Marks, most: int = MOST_PAGES) -> tuple[list[int], int]:
    """The pages to draw, in the order of the report, and how many more have marks: the first quoted go first."""
    pages = list(dict.fromkeys(mark.page for mark in found.all))
    return sorted(pages[:most]), len(pages[most:])


def draw(
    assessment: Assessment,
    path: Path,
    limits: Limits | None = None,
    progress: Progress | None = None,
    most: int = MOST_PAGES,
) -> Sheets:
    """The pages that the assessment quotes, drawn from the report's file in the sandbox.

    None where the report is no PDF. A page or report that cannot be drawn costs its pictures only; a note says so.
    InputError where the file at ``path`` is not the one that was assessed.
    """
    from responsa.corpus.sandbox import Sandbox
    from responsa.render.images import raster

    found = marks(assessment)
    pages, left = wanted(found, most)
    if path.suffix.lower() != ".pdf":
        return Sheets(notes=("the report is no PDF, so there are no pictures of its pages",) if pages else ())
    drawn: dict[int, Sheet] = {}
    notes = [f"{left} more quoted pages have no picture here"] if left else []
    with Sandbox(limits) as sandbox:
        content = sandbox.content(path)
        if hashlib.sha256(content).hexdigest() != assessment.digest:
            raise InputError(f"{path}: is not the file that was assessed; its content has changed: assess it again")
        try:
            for start in range(0, len(pages), _AT_A_TIME):
                if progress:
                    progress(start, len(pages), "pages")
                batch = pages[start : start + _AT_A_TIME]
                own = {page: [mark for mark in found.all if mark.page == page] for page in batch}
                sought = {page: [mark.text for mark in each] for page, each in own.items()}
                for picture in sandbox.draw(content, path, sought):
                    placed = tuple(
                        mark._replace(boxes=_nearest(mark.boxes, places))
                        for mark, places in zip(own[picture.page], picture.found, strict=True)
                    )
                    drawn[picture.page] = Sheet(picture.page, raster(picture), placed)
        except InputError as error:
            notes.append(f"pages could not be drawn: {error}")
    missing = [page for page in pages if page not in drawn]
    if missing and not any(note.startswith("pages could") for note in notes):
        notes.append(f"pages that could not be drawn: {', '.join(map(str, missing))}")
    return Sheets(drawn, tuple(notes))


def _nearest(boxes: Sequence[Box], places: Sequence[Sequence[Box]]) -> tuple[Box, ...]:
    """The place that shares most with the reader's boxes, the first of equals; where there is none, these boxes."""
    if not places:
        return tuple(boxes)
    return tuple(max(places, key=lambda place: sum(_shared(one, other) for one in place for other in boxes)))


def _shared(one: Box, other: Box) -> float:
    across = min(one.x1, other.x1) - max(one.x0, other.x0)
    down = min(one.y1, other.y1) - max(one.y0, other.y0)
    return max(across, 0.0) * max(down, 0.0)


def _key(page: int, text: str) -> tuple[int, str]:
    return page, " ".join(normalise(text).split()).casefold()
