"""Generations of assessments as lines to be rated, with the automated metrics of section 5.4.1 of the thesis (2024)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from responsa.errors import InputError
from responsa.taxonomy.activities import catalogue
from responsa.taxonomy.assessment.trust import Likeness, bleu, nearness
from responsa.taxonomy.evaluation.answers import STEPS
from responsa.taxonomy.evaluation.rows import JudgedRow, activity_id, is_row, report_name
from responsa.taxonomy.values import Criterion

Json = Mapping[str, Any]
_STEPS = ("breakdown", "findings", "reasoning")
_DIGITS = 6


def lines(
    assessments: Sequence[Json], rows: Sequence[JudgedRow] = (), bertscore: Likeness | None = None
) -> list[dict[str, str]]:
    """A line for each generation, by the columns of `evaluation_files`.

    A row's name is that of its row in ``rows``, else report, activity and year. BLEU needs no model; without a
    ``bertscore`` (see `responsa.taxonomy.assessment.trust.likeness`) its columns are empty. InputError where
    no assessment has a generation; MissingDependency without sacrebleu.
    """
    found = [line for each in assessments for line in _lines(each, rows, bertscore)]
    if not found:
        raise InputError("no assessment has a generation; run assess with a model (--model) and --json")
    return found


def _lines(assessment: Json, rows: Sequence[JudgedRow], bertscore: Likeness | None) -> Iterator[dict[str, str]]:
    generations = [*(assessment.get("generations") or ())]
    own = next((row.marked.id for row in rows if is_row(row, assessment)), "")
    name = own or f"{report_name(assessment)} {activity_id(assessment)} {assessment['year']}"
    method = str((assessment.get("asking") or {}).get("method", ""))
    steps = STEPS if method != "traditional" else (3,)
    texts = {step: [str(each.get(_STEPS[step - 1]) or "") for each in generations] for step in steps}
    metrics: list[dict[str, float]] = [{} for _ in generations]
    for step, given in texts.items():
        if len(given) > 1:  # equations 5.5 and 5.4
            _add(metrics, f"BL_{step}", [bleu(text, given[:at] + given[at + 1 :]) for at, text in enumerate(given)])
            _add(metrics, f"BE_{step}", nearness(given, bertscore) if bertscore else ())
    if 1 in texts and generations:  # equations 5.3 and 5.2
        activity = catalogue.shipped().find(activity_id(assessment), assessment["year"]).activity
        criteria = criteria_text(activity.substantial_contribution)
        _add(metrics, "BL_SCC", [bleu(text, [criteria]) for text in texts[1]])
        _add(metrics, "BE_SCC", bertscore.pairs([(text, criteria) for text in texts[1]]) if bertscore else ())
    for at, each in enumerate(generations):
        yield {
            "row": name, "method": method, "generation": str(at),
            "conclusion": str(each.get("concluded") or each.get("verdict") or ""),
            **{key: f"{value:.{_DIGITS}f}" for key, value in metrics[at].items()},
            **{f"step_{step}": given[at] for step, given in texts.items()},
        }  # fmt: skip


def criteria_text(root: Criterion) -> str:
    """The words of a criterion and its parts, in order."""
    return "\n".join(filter(None, [root.text, *(criteria_text(part) for part in root.parts)]))


def _add(metrics: list[dict[str, float]], name: str, values: Sequence[float]) -> None:
    for own, value in zip(metrics, values, strict=False):
        own[name] = value
