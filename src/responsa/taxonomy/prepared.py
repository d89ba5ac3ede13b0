"""What an assessment needs of a report beside its chunks: its financial year, its figures, its KPI lines."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from responsa.corpus.readers.pdf_passages import NO_TEXT, SCANNED
from responsa.errors import InputError
from responsa.taxonomy import wire
from responsa.taxonomy.catalogue import Catalogue
from responsa.taxonomy.eligibility import screen
from responsa.taxonomy.figures import figures
from responsa.taxonomy.grid import YEAR, rows_of
from responsa.taxonomy.kpi import Template, aligned_shares, lines_for, templates
from responsa.taxonomy.report import FORMAT as READ
from responsa.taxonomy.report import Report
from responsa.taxonomy.values import Figure, KpiLine, KpiShare
from responsa.text import digest

FORMAT = 1  # of what is kept; raised when figures or templates are read in another way
_FILE = "numbers.json"
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


@lru_cache(maxsize=8)
def financial_year(report: Report) -> Year:
    """That of the report: of the heads of its KPI tables, else the year that it names most often as its own, else the
    one that it names most often. InputError where it names none."""
    told = [each.year for each in templates(rows_of(report.passages)) if each.year]
    if told:
        return Year(max(told), "from the heads of the report's KPI tables")
    texts = [passage.text for passage in report.passages]
    own = Counter(int(year) for text in texts for year in _OWN.findall(text))
    named = Counter(int(year) for text in texts for year in YEAR.findall(text))
    for counts, least, said in (
        (own, _FEW, "the year that the report names most often as its own"),
        (named, 1, "the year that the report names most often"),
    ):
        year, times = max(counts.items(), key=lambda each: (each[1], each[0]), default=(0, 0))
        if times >= least:
            return Year(year, said)
    raise InputError(f"{report.name}: the report names no financial year; give it with --year")


@lru_cache(maxsize=8)
def numbers(report: Report, year: int, catalogue: Catalogue) -> Numbers:
    """The figures and the templates of a report for a financial year; read from its folder where they are kept."""
    names = activity_names(catalogue)
    name = f"numbers-{digest([READ, FORMAT, year, report.name, names])[:12]}-{report.digest[:24]}"

    def build(folder: Path) -> None:
        found = templates(rows_of(report.passages), names)
        made = Numbers(tuple(figures(report.passages, year, found)), tuple(found))
        (folder / _FILE).write_text(json.dumps(wire.plain(made), ensure_ascii=False), encoding="utf-8")

    def load(folders: Sequence[Path]) -> Numbers:
        loaded: Numbers = wire.made(Numbers, json.loads((folders[0] / _FILE).read_text(encoding="utf-8")))
        return loaded

    return report.artefacts.opened(lambda: [report.artefacts.get(name, [report.digest], build)], load)


def activity_names(catalogue: Catalogue) -> Mapping[str, str]:
    """Names by id, for KPI lines that give a name and no code."""
    return {each.activity.id: each.activity.name for each in catalogue.activities()}


@lru_cache(maxsize=8)
def spoken_of(report: Report, year: int, catalogue: Catalogue) -> Mapping[str, str]:
    """The activities that the report's words point to, by id, with these words and their pages: a code, a number beside
    a name, a name, a NACE code or a phrase of it. `responsa.taxonomy.eligibility` tells them."""
    name = f"spoken-{digest([READ, FORMAT, year, report.name, activity_names(catalogue)])[:12]}-{report.digest[:24]}"

    def build(folder: Path) -> None:
        texts = [(each.page or 1, f"{each.title}\n{each.text}") for each in report.passages]
        told = {
            one: "; ".join(f"{r.kind} {r.matched!r} on page {r.pages[0]}" for r in each.reasons)
            for each in screen(texts, catalogue, year, _ALL)
            if each.reasons
            for one in (each.id, *each.others)
        }
        (folder / _FILE).write_text(json.dumps(told, ensure_ascii=False), encoding="utf-8")

    def load(folders: Sequence[Path]) -> Mapping[str, str]:
        loaded: dict[str, str] = wire.made(dict[str, str], json.loads((folders[0] / _FILE).read_text("utf-8")))
        return loaded

    return report.artefacts.opened(lambda: [report.artefacts.get(name, [report.digest], build)], load)


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
