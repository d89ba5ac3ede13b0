"""What an assessment needs of a report beside its chunks: its financial year, its figures, its KPI lines."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from responsa.corpus.readers.pdf_passages import NO_TEXT, SCANNED
from responsa.errors import InputError
from responsa.taxonomy.activities.catalogue import Catalogue
from responsa.taxonomy.activities.eligibility import Candidate, screen
from responsa.taxonomy.assessment import wire
from responsa.taxonomy.evidence.report import FORMAT as READ
from responsa.taxonomy.evidence.report import Report
from responsa.taxonomy.numbers.check import shares_of_counts
from responsa.taxonomy.numbers.figures import figures
from responsa.taxonomy.numbers.grid import rows_of, years
from responsa.taxonomy.numbers.kpi import Template, aligned_shares, lines_for, templates
from responsa.taxonomy.values import Activity, Figure, KpiLine, KpiShare
from responsa.text import digest, words

FORMAT = 3  # of what is kept; raised when figures or templates are read in another way
_FILE = "made.json"
_OWN = re.compile(
    r"\b(?:FY|fiscal(?: year)?|financial year|reporting (?:year|period)|year ended|year-end|in the year"
    r"|(?:annual|sustainability|integrated|ESG|climate[\w ]{0,12}) report|31 December|December 31,?|Geschäftsjahr)\s*"
    r"(?:[A-Za-z]+ \d{1,2},? )?(20\d\d)\b",
    re.IGNORECASE,
)
_ALL = 1000  # activities: more than there are
_FEW = 3  # times that a year has to be named as the report's own


class Year(NamedTuple):
    """A financial year, and in words how it is known."""

    year: int
    said: str


@dataclass(frozen=True)
class Numbers:
    """A report's figures in reading order, and its KPI templates."""

    figures: tuple[Figure, ...]
    templates: tuple[Template, ...]


def _kept(report: Report, what: str, made_of: object, shape: Any, make: Callable[[], object]) -> Any:  # noqa: ANN401
    """What ``make`` gives, of the type ``shape``: from the report's folder where it was made of the same before."""
    name = f"{what}-{digest([READ, FORMAT, report.name, made_of])[:12]}-{report.digest[:24]}"

    def build(folder: Path) -> None:
        content = json.dumps(wire.plain(make()), ensure_ascii=False)
        (folder / _FILE).write_bytes(content.encode("utf-8", "surrogatepass"))

    def load(folders: Sequence[Path]) -> Any:  # noqa: ANN401
        return wire.made(shape, json.loads((folders[0] / _FILE).read_bytes().decode("utf-8", "surrogatepass")))

    return report.artefacts.opened(lambda: [report.artefacts.get(name, [report.digest], build)], load)


@lru_cache(maxsize=8)
def financial_year(report: Report) -> Year:
    """That of the report: of the heads of its KPI tables, else the year that it names most often as its own, else the
    one that it names most often. InputError where it names none."""
    found: Year | None = _kept(report, "year", [], Year | None, lambda: _year(report))
    if found is None:
        raise InputError(f"{report.name}: the report names no financial year; give it with --year")
    return found


def _year(report: Report) -> Year | None:
    told = [each.year for each in templates(rows_of(report.passages)) if each.year]
    if told:
        return Year(max(told), "from the heads of the report's KPI tables")
    texts = [passage.text for passage in report.passages]
    own = Counter(int(year) for text in texts for year in _OWN.findall(text))
    named = Counter(each.year for text in texts for each in years(text))
    for counts, least, said in (
        (own, _FEW, "the year that the report names most often as its own"),
        (named, 1, "the year that the report names most often"),
    ):
        year, times = max(counts.items(), key=lambda each: (each[1], each[0]), default=(0, 0))
        if times >= least:
            return Year(year, said)
    return None


def other_year(report: Report, year: int) -> str:
    """What to say where a report seems to be of another year than is asked for; "" where it does not."""
    try:
        own = financial_year(report)
    except InputError:
        return ""
    if own.year == year:
        return ""
    return f"the report seems to be of {own.year} ({own.said}); what it says of {year} may be little"


@lru_cache(maxsize=8)
def numbers(report: Report, year: int, catalogue: Catalogue) -> Numbers:
    """The figures and the templates of a report for a financial year."""
    names = activity_names(catalogue)

    def make() -> Numbers:
        found = templates(rows_of(report.passages), names, year)
        return Numbers(tuple(figures(report.passages, year, found)), tuple(found))

    made: Numbers = _kept(report, "numbers", [year, dict(names)], Numbers, make)
    return made


def activity_names(catalogue: Catalogue) -> Mapping[str, str]:
    """Names by id, for KPI lines that give a name and no code."""
    return {each.activity.id: each.activity.name for each in catalogue.activities()}


def screened(report: Report, catalogue: Catalogue, year: int | None, limit: int) -> tuple[Candidate, ...]:
    """The activities that the report seems to be about, best first; `activities.eligibility.screen` tells how."""
    return screen([(each.page or 1, f"{each.title}\n{each.text}") for each in report.passages], catalogue, year, limit)


@lru_cache(maxsize=8)
def spoken_of(report: Report, year: int, catalogue: Catalogue) -> Mapping[str, str]:
    """The activities that the report's words point to, by id, with these words and their pages: a code, a number beside
    a name, a name, a NACE code or a phrase of it. `responsa.taxonomy.activities.eligibility` tells them."""

    def make() -> dict[str, str]:
        return {
            one: "; ".join(f"{r.kind} {r.matched!r} on page {r.pages[0]}" for r in each.reasons)
            for each in screened(report, catalogue, year, _ALL)
            if each.reasons
            for one in (each.id, *each.others)
        }

    made: dict[str, str] = _kept(report, "spoken", [year, dict(activity_names(catalogue))], dict[str, str], make)
    return made


def portions(found: Numbers, activity: Activity, pages: Collection[int]) -> Iterator[str]:
    """Counts on these pages that are a named part of another, of things that the activity is about: ``4,100 electric
    vehicles of 44,000 vehicles``."""
    about = set(words(f"{activity.name} {activity.description}"))
    for each in shares_of_counts([figure for figure in found.figures if figure.page in pages]):
        if about & set(words(each.whole.unit)):
            yield (
                f"page {each.part.page}: {each.part.value:,.12g} {each.part.unit} are {each.share:.1f} % of"
                f" {each.whole.value:,.12g} {each.whole.unit}"
            )


def unread(report: Report) -> tuple[int, ...]:
    """The pages of the report whose pictures were not read: what is shown there only is not found."""
    flags = {SCANNED, NO_TEXT}
    return tuple(sorted({each.page for each in report.passages if each.page and flags & set(each.flags)}))


def kpi_lines(found: Sequence[Template], activity: str, year: int) -> tuple[KpiLine, ...]:
    """The lines that are of an activity, in the order of the report; of other years too, with their year."""
    return tuple(
        KpiLine(
            each.kpi, line.section, line.name, line.amount, line.share, each.unit.name if each.unit else "",
            line.page, line.quote, each.year or year, line.part,
        )
        for each in found
        for line in lines_for(each, activity)
    )  # fmt: skip


def kpi_shares(found: Sequence[Template], activity: str, year: int) -> tuple[KpiShare, ...]:
    """The aligned share of an activity by each KPI that has a line for it."""
    return tuple(
        KpiShare(each.kpi, each.share, each.aligned, each.eligible, each.unit, each.pages)
        for each in aligned_shares(found, activity, year)
    )
