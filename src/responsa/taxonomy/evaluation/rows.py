"""Assessments against rows that people judged: verdicts, evidence and figures.

The rows are those of a file in the form of ``alignment_dev.json``; the assessments are what ``assess --json`` writes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, get_args

from responsa.errors import InputError
from responsa.quantities.money import counted
from responsa.quantities.units import unit_of_measure
from responsa.taxonomy.evaluation.evidence import MarkedRow, RowScore, read_rows, score_row, summary
from responsa.taxonomy.evaluation.evidence import Summary as EvidenceSummary
from responsa.taxonomy.values import Evidence, Verdict

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
NO_VERDICT = "none"
HALF, FULL = 0.5, 1.0

_SAME = 1e-9  # relative, of two values
_SCALED = re.compile(r"\A(thousand|million|billion) (?=\w)")
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9}
_WORD = re.compile(r"[a-z]{3,}")

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Noted:
    """A number that a person noted: ``unit`` in words of their own."""

    value: float
    unit: str
    page: int


@dataclass(frozen=True, slots=True)
class JudgedRow:
    """A row with its verdict, those that one could defend as well, and its numbers."""

    marked: MarkedRow
    verdict: Verdict
    acceptable: tuple[Verdict, ...]
    numbers: tuple[Noted, ...]


class Judged(NamedTuple):
    """An assessment beside its row. ``verdict`` is `NO_VERDICT` where a model was not asked or did not answer;
    ``numbers`` counts those noted, ``found`` those read on their page, ``agreeing`` those also with their unit."""

    row: JudgedRow
    verdict: str
    evidence: RowScore
    numbers: int
    found: int
    agreeing: int
    model: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """Of ``assessed`` of ``rows`` rows. The shares of verdicts are of those assessed, where no verdict is a wrong one:
    ``exact``, with half credit (``half``) and with full credit (``full``) for a verdict that could be defended too.
    ``confusion`` counts by the row's verdict and the assessment's. None where nothing can be divided. ``models`` are
    those that judged."""

    rows: int
    assessed: int
    with_verdict: int
    exact: float | None
    half: float | None
    full: float | None
    confusion: Mapping[str, Mapping[str, int]]
    evidence: EvidenceSummary
    numbers: int
    found: int
    agreeing: int
    models: tuple[str, ...] = ()


def read_judged(path: Path) -> list[JudgedRow]:
    """The rows of a file. InputError that says which row is not of the form."""
    marked = read_rows(path)
    rows = []
    for place, (own, row) in enumerate(zip(marked, json.loads(path.read_text("utf-8"))["rows"], strict=True)):
        try:
            numbers = tuple(
                Noted(float(each["value"]), str(each["unit"]), int(each["page"])) for each in row["numbers"]
            )
            verdicts = [row["verdict"], *row["also_acceptable"]]
            if unknown := [each for each in verdicts if each not in VERDICTS]:
                raise ValueError(f"verdict {unknown[0]!r}")
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path}: row {place + 1} is not of the form ({type(error).__name__}: {error})") from error
        rows.append(JudgedRow(own, verdicts[0], tuple(verdicts[1:]), numbers))
    return rows


def assessment_files(paths: Sequence[Path]) -> list[Path]:
    """The files given, and those ending in .json of the folders given, by name."""
    return [file for path in paths for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]


def read_assessments(paths: Sequence[Path]) -> list[Json]:
    """The assessments of files that ``assess --json`` wrote: one in each, or a list. InputError for anything else."""
    found: list[Json] = []
    for path in paths:
        try:
            given = json.loads(path.read_text("utf-8-sig"))
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror}; check the path") from error
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}: is no JSON ({error}); give what assess --json wrote") from error
        listed = given.get("assessments", given.get("rows", given)) if isinstance(given, dict) else given
        for place, each in enumerate(listed if isinstance(listed, list) else [listed], 1):
            if not _is_assessment(each):
                raise InputError(
                    f"{path}: [{place}] is no assessment with report, activity, year, evidence and numbers; give what"
                    " assess --json wrote"
                )
            found.append(each)
    return found


def _is_assessment(given: object) -> bool:
    if not isinstance(given, dict) or not {"report", "activity", "year"} <= given.keys():
        return False
    named = isinstance(given["report"], dict) and isinstance(given["activity"], dict)
    lists = [given.get(name) for name in ("evidence", "numbers")]
    return (
        named
        and {"name"} <= given["report"].keys()
        and {"id"} <= given["activity"].keys()
        and all(isinstance(each, list) and all(isinstance(one, dict) for one in each) for each in lists)
        and all(isinstance(one.get("page"), int) and isinstance(one.get("text"), str) for one in given["evidence"])
    )


def activity_id(assessment: Json) -> str:
    """``CCM 6.5``."""
    return str(assessment["activity"]["id"])


def report_name(assessment: Json) -> str:
    """The report's file, without its folder."""
    return Path(str(assessment["report"]["name"])).name


def is_row(row: JudgedRow, assessment: Json) -> bool:
    """Whether an assessment is of the row's report, by the file's name with or without ending, activity and year."""
    own, name = row.marked, report_name(assessment)
    return (own.activity, own.year) == (activity_id(assessment), assessment["year"]) and name in (
        own.report,
        Path(own.report).stem,
    )


def beside(rows: Sequence[JudgedRow], assessments: Sequence[Json]) -> list[Judged]:
    """Each row that is assessed with its assessment. InputError for a row assessed twice."""
    found: dict[str, Judged] = {}
    for each in assessments:
        for row in rows:
            if not is_row(row, each):
                continue
            if row.marked.id in found:
                raise InputError(f"row {row.marked.id!r} is assessed twice ({report_name(each)}); give one of the two")
            found[row.marked.id] = judge(row, each)
    return [found[row.marked.id] for row in rows if row.marked.id in found]


def judge(row: JudgedRow, assessment: Json) -> Judged:
    """What an assessment is worth beside a row."""
    evidence = [
        Evidence(one["page"], one["text"], str(one.get("criterion", "")), 0.0, "", 0, 0)
        for one in assessment["evidence"]
    ]  # fmt: skip
    here = [[one for one in assessment["numbers"] if is_same(noted, one)] for noted in row.numbers]
    agreeing = [any(same_unit(noted.unit, one) for one in own) for noted, own in zip(row.numbers, here, strict=True)]
    return Judged(
        row,
        str(assessment.get("verdict") or NO_VERDICT),
        score_row(row.marked, evidence),
        len(row.numbers),
        sum(map(bool, here)),
        sum(agreeing),
        str((assessment.get("asking") or {}).get("model", "")),
    )


def credit(row: JudgedRow, verdict: str, acceptable: float) -> float:
    """1 for the row's verdict, ``acceptable`` for one that could be defended too, else 0."""
    return 1.0 if verdict == row.verdict else acceptable if verdict in row.acceptable else 0.0


def summarise(rows: Sequence[JudgedRow], judged: Sequence[Judged]) -> Summary:
    """Over the rows assessed."""

    def share(acceptable: float) -> float | None:
        if not judged:
            return None
        return sum(credit(each.row, each.verdict, acceptable) for each in judged) / len(judged)

    given = [each for each in judged if each.verdict != NO_VERDICT]
    confusion: dict[str, dict[str, int]] = {
        verdict: {
            said: sum(each.row.verdict == verdict and each.verdict == said for each in judged)
            for said in (*VERDICTS, NO_VERDICT)
        }
        for verdict in VERDICTS
    }
    return Summary(
        len(rows), len(judged), len(given), share(0.0) if given else None, share(HALF) if given else None,
        share(FULL) if given else None, confusion, summary([each.evidence for each in judged]),
        sum(each.numbers for each in judged), sum(each.found for each in judged),
        sum(each.agreeing for each in judged), tuple(sorted({each.model for each in judged if each.model})),
    )  # fmt: skip


def is_same(noted: Noted, figure: Json) -> bool:
    """Whether a figure has the value that was noted, as printed or normalised, and stands on its page."""
    values = [figure.get("printed"), figure.get("value")]
    return bool(figure.get("page") == noted.page) and any(
        isinstance(each, int | float) and abs(each - noted.value) <= _SAME * max(1.0, abs(noted.value))
        for each in values
    )


def same_unit(noted: str, figure: Json) -> bool:
    """Whether a unit as people note it is that of a figure.

    A currency and what it counts must be as printed; a unit of measure must be the same at the same scale; of a count
    ("charging stations") a word must stand in the figure's sentence or heads.
    """
    money = counted(noted)
    if money:
        return bool(figure.get("printed_unit") == money.name)
    scale = _SCALED.match(noted)
    unit = unit_of_measure(noted[scale.end() :] if scale else noted.replace("percent", "%"))
    if unit:
        factor = _SCALES[scale[1]] if scale else 1.0
        printed, value = figure.get("printed"), figure.get("value")
        if printed is None or value is None or unit.name != figure.get("unit"):
            return False
        return bool(abs(value - printed * unit.factor * factor) <= 1e-6 * abs(value))
    told = [figure.get("unit"), figure.get("metric"), figure.get("quote"), *(figure.get("header") or ())]
    about = " ".join(str(each) for each in told if each).lower()
    return any(word[:5] in about for word in _WORD.findall(noted.lower()))
