"""An assessment as JSON for people and programs: the names of the command line's ``--json``.

``criteria``, ``evidence``, ``numbers`` and ``verdict`` are the contract; more may be added beside them. What is kept on
disk is `responsa.taxonomy.assessment.wire`'s, which can be read back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from responsa.taxonomy.numbers.figures import template_line
from responsa.taxonomy.values import (
    Assessment,
    Claim,
    CriterionAssessment,
    Evidence,
    Figure,
    NumberCheck,
    Quote,
    Threshold,
    Trust,
)
from responsa.types import Box

Json = Any


def view(value: Assessment) -> dict[str, Json]:
    """All of an assessment."""
    asking = value.asking
    return {
        "report": {"name": value.report, "title": value.title, "sha256": value.digest, "pages": value.pages},
        "activity": _activity(value),
        "year": value.year,
        "year_from": value.year_from,
        "verdict": value.verdict,
        "verdicts": {**value.verdicts},
        "flags": [*value.flags],
        "missing": [*value.missing],
        "criteria": [_criterion(each) for each in value.criteria],
        "evidence": [_evidence(each, value.quotes) for each in value.evidence],
        "numbers": _numbers(value),
        "kpi": [
            asdict(each) | {"lines": [asdict(line) for line in value.kpi if line.kpi == each.kpi]}
            for each in value.shares
        ]
        + [
            {"kpi": kpi, "share": None, "lines": [asdict(line) for line in value.kpi if line.kpi == kpi]}
            for kpi in dict.fromkeys(line.kpi for line in value.kpi)
            if kpi not in {each.kpi for each in value.shares}
        ],
        "trust": None if value.trust is None else _trust(value.trust),
        "generations": [asdict(each) for each in value.generations],
        "concluded": value.concluded,
        "asking": asdict(asking),
        "failure": value.failure,
        "notes": [*value.notes],
        "trace": [asdict(each) for each in value.trace],
    }


def failed(report: str, activity: str, year: int | None, reason: str) -> dict[str, Json]:
    """A row of a batch that could not be assessed."""
    return {
        "report": {"name": report}, "activity": {"id": activity}, "year": year, "verdict": None, "failure": reason,
        "criteria": [], "evidence": [], "numbers": [],
    }  # fmt: skip


def _activity(value: Assessment) -> Json:
    one = value.activity
    return {
        "id": one.id, "objective": one.objective, "number": one.number, "name": one.name, "sector": one.sector,
        "kind": one.kind, "description": one.description, "source": one.source,
    }  # fmt: skip


def _criterion(value: CriterionAssessment) -> Json:
    one = value.criterion
    return {
        "id": one.id, "number": one.number, "part": value.part, "objective": value.objective, "parent": value.parent,
        "depth": value.depth, "text": one.text,
        "logic": one.logic if one.parts else None, "count": one.count or None, "condition": one.condition,
        "thresholds": [_threshold(each) for each in one.thresholds],
        "verdict": value.verdict, "said": value.said, "votes": {**value.votes},
        "reason": value.reason, "missing": value.missing,
        "claims": [_claim(each) for each in value.claims],
        "evidence": [_evidence(each, value.quotes) for each in value.evidence],
        "numbers": [*value.numbers], "disagreement": value.disagreement, "flags": [*value.flags],
    }  # fmt: skip


def _claim(value: Claim) -> Json:
    return {
        "text": value.text, "quote": value.quote, "page": value.page or None, "support": value.support,
        "role": value.role, "place": None if value.place is None else _quote(value.place),
        "generations": [*value.generations], "flags": [*value.flags],
    }  # fmt: skip


def _evidence(value: Evidence, quotes: tuple[Quote, ...]) -> Json:
    own = [each for each in quotes if each.passage_id == value.passage_id]
    return {
        "page": value.page, "text": value.text, "criterion": value.criterion, "score": value.score,
        "id": value.passage_id, "quotes": [_quote(each) for each in own],
        "boxes": [_box(each) for each in value.boxes], "flags": [*value.flags],
    }  # fmt: skip


def _quote(value: Quote) -> Json:
    return {
        "page": value.page, "text": value.text, "id": value.passage_id, "start": value.start, "end": value.end,
        "boxes": [_box(each) for each in value.boxes],
    }  # fmt: skip


def _box(value: Box) -> Json:
    return [value.page, value.x0, value.y0, value.x1, value.y1]


def _numbers(value: Assessment) -> list[Json]:
    """The figures beside thresholds, each with what it was compared with, then the others that bear on the activity."""
    compared: dict[Figure, list[tuple[int, NumberCheck]]] = {}
    for at, check in enumerate(value.checks):
        compared.setdefault(check.figure, []).append((at, check))
    rows = [_figure(each, compared.get(each, [])) for each in compared]
    return rows + [_figure(each, []) for each in value.figures if each not in compared]


def _figure(value: Figure, checks: list[tuple[int, NumberCheck]]) -> Json:
    kpi, section = template_line(value) or (None, None)
    return {
        "page": value.page, "quote": value.quote, "value": value.value, "unit": value.unit, "metric": value.metric,
        "year": value.year, "role": value.role, "header": [*value.header], "printed": value.printed,
        "printed_unit": value.printed_unit, "bound": value.bound, "kpi": kpi, "section": section,
        "checks": [
            {
                "check": at, "criterion": each.criterion, "threshold": _threshold(each.threshold),
                "outcome": each.outcome, "reason": each.reason,
            }
            for at, each in checks
        ],
    }  # fmt: skip


def _threshold(value: Threshold) -> Json:
    return {
        name: each.isoformat() if hasattr(each, "isoformat") else each
        for name, each in asdict(value).items()
    }  # fmt: skip


def _trust(value: Trust) -> Json:
    return {
        **{name: each for name, each in asdict(value).items() if name not in ("consistency", "flags")},
        "consistency": [asdict(each) for each in value.consistency],
        "flags": [*value.flags],
    }


def counts(rows: list[Mapping[str, Json]]) -> dict[str, int]:
    """How many rows have each verdict, and how many failed."""
    found: dict[str, int] = {}
    for row in rows:
        name = "failed" if row.get("failure") else str(row["verdict"] or "no verdict").replace("_", " ")
        found[name] = found.get(name, 0) + 1
    return found
