"""Figures, KPI templates and comparisons on the rows that people noted: ``python -m benchmarks.taxonomy_numbers``.

* *Figures*: of the numbers noted for a row, the share found on the page given (recall), and of those found with the
  unit that was noted. A count ("net-zero sites") agrees where a word of it stands in the sentence or the heads.
* *Lines*: of the amounts noted as aligned (A.1) or eligible and not aligned (A.2), the share read in that section.
* *Shares*: aligned shares of the rows that have one, but for the rounding of the amounts.
* *Comparisons* with the thresholds of the rows: all that were made, to be read by eye. Whether one is wrong is no
  matter of counting.

The rows were looked at while this was written, so the figures show that it does what was meant, not how it does on
reports that nobody looked at.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import data
from benchmarks.report import Part, Row, Table
from responsa.corpus import readers
from responsa.taxonomy.evaluation.rows import same_unit
from responsa.taxonomy.numbers.check import check, shares_of_counts
from responsa.taxonomy.numbers.figures import figures
from responsa.taxonomy.numbers.grid import rows_of
from responsa.taxonomy.numbers.kpi import Template, aligned_shares, lines_for, templates
from responsa.taxonomy.values import Criterion, Figure, NumberCheck, Threshold

_TARGET = 0.9
_ROUNDED = 0.1  # percentage points: amounts are printed without decimals
_KPI = (("turnover", ("turnover", "sales")), ("capex", ("capex",)), ("opex", ("opex",)))


class Read(NamedTuple):
    """A report for its financial year."""

    figures: list[Figure]
    templates: list[Template]


class Told(NamedTuple):
    """What was noted and whether it was found: ``what`` says which."""

    row: str
    what: str
    found: bool
    agrees: bool


def part() -> Part:
    """All measures as lines of the page of benchmarks."""
    folder = data.folder()
    rows = json.loads((folder / "eu_taxonomy" / "alignment_dev.json").read_text(encoding="utf-8"))["rows"]
    read = {
        key: _read(folder / "reports" / key[0], key[1])
        for key in {(row["report"], row["financial_year"]) for row in rows}
    }
    noted = [told for row in rows for told in _noted(row, read[row["report"], row["financial_year"]])]
    lines = [told for row in rows for told in _lines(row, read[row["report"], row["financial_year"]])]
    shares = [told for row in rows for told in _shares(row, read[row["report"], row["financial_year"]])]
    made = [(row["id"], each) for row in rows for each in _checks(row, read[row["report"], row["financial_year"]])]
    compared = [pair for pair in made if pair[1].outcome != "not_comparable"]
    return Part(
        "taxonomy_numbers",
        (
            _line("Noted figures found on their page", [each.found for each in noted]),
            _line("Noted figures found with the right unit", [each.agrees for each in noted]),
            _line("A.1 and A.2 lines told apart", [each.agrees for each in lines]),
            _line("Aligned shares reproduced", [each.agrees for each in shares]),
            Row(
                "Comparisons with thresholds made",
                f"{len(compared)}, and {len(made) - len(compared)} refused",
            ),
        ),
        (
            Table(
                "Noted and not found",
                ("row", "what"),
                tuple((each.row, each.what) for each in (*noted, *lines, *shares) if not each.agrees),
            ),
            Table("Comparisons", ("row", "threshold", "figure", "outcome"), tuple(_shown(*pair) for pair in compared)),
        ),
    )


def _line(what: str, hits: list[bool]) -> Row:
    share = sum(hits) / len(hits)
    return Row(what, f"{sum(hits)} of {len(hits)} ({share:.0%})", f"{_TARGET:.0%}", share >= _TARGET, {"share": share})


def _read(path: Path, year: int) -> Read:
    (edition,) = readers.read(path)
    found = templates(rows_of(edition.passages), year=year)
    return Read(figures(edition.passages, year, found), found)


def _noted(row: Mapping[str, Any], read: Read) -> Iterator[Told]:
    for each in row["numbers"]:
        here = [one for one in read.figures if one.page == each["page"] and one.printed == each["value"]]
        agrees = any(same_unit(each["unit"], asdict(one)) for one in here)
        yield Told(row["id"], f"{each['value']} {each['unit']}, page {each['page']}", bool(here), agrees)


def _lines(row: Mapping[str, Any], read: Read) -> Iterator[Told]:
    """The amounts that were noted as aligned or as eligible and not aligned, for one activity."""
    activity = " ".join(row["activity"].split()[:2])
    for each in row["numbers"]:
        unit = each["unit"].lower()
        kpi = next((name for name, words in _KPI if any(word in unit for word in words)), "")
        if (
            not unit.startswith("eur")
            or not kpi
            or "aligned" not in unit
            or "total" in unit
            or "all activities" in unit
        ):
            continue
        section = "A.2" if "not aligned" in unit else "A.1"
        sections = [
            line.section
            for template in read.templates
            for line in lines_for(template, activity)
            if line.amount == each["value"]
        ]
        yield Told(row["id"], f"{each['value']} {each['unit']}: {section}", bool(sections), sections == [section])


def _shares(row: Mapping[str, Any], read: Read) -> Iterator[Told]:
    noted = row["aligned_share_pct"]
    if noted is None:
        return
    activity = " ".join(row["activity"].split()[:2])
    found = [each.share for each in aligned_shares(read.templates, activity, row["financial_year"])]
    pages = {each["page"] for each in row["numbers"]}
    found = found[:1] or [each.share for each in shares_of_counts([one for one in read.figures if one.page in pages])]
    yield Told(
        row["id"],
        f"aligned share {noted}, read {found}",
        bool(found),
        any(abs(each - noted) <= _ROUNDED for each in found),
    )


def _checks(row: Mapping[str, Any], read: Read) -> Iterator[NumberCheck]:
    for sub in row["criteria"]["sub"]:
        given = tuple(
            Threshold(
                each["metric"], each["op"], each["value"], each["unit"], _date(each.get("from")),
                _date(each.get("until")), sub.get("applies_if", ""), bool(sub.get("applies_if")),
            )
            for each in sub.get("thresholds", ())
            if not isinstance(each["value"], str)
        )  # fmt: skip
        criterion = Criterion(sub["n"], sub["n"], sub["text"], thresholds=given)
        yield from check(criterion, read.figures, row["financial_year"], row["activity"].split(maxsplit=2)[2])


def _date(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None


def _shown(row: str, made: NumberCheck) -> tuple[str, str, str, str]:
    limit, figure = made.threshold, made.figure
    return (
        row,
        f"{limit.metric} {limit.op} {limit.value:g} {limit.unit}",
        f"{figure.printed:g} {figure.printed_unit}, page {figure.page}",
        f"{made.outcome} {made.reason}".strip(),
    )


def main() -> None:
    """Print what was measured."""
    argparse.ArgumentParser(prog="benchmarks.taxonomy_numbers", description=__doc__).parse_args()
    measured = part()
    for row in measured.rows:
        print(f"{row.what}: {row.measured}{f' (target {row.target})' if row.target else ''}")
    for table in measured.tables:
        print(f"\n{table.title}")
        for cells in table.rows:
            print("  " + " | ".join(cells))


if __name__ == "__main__":
    main()
