"""Generations of assessments as lines to be rated, with the automated metrics of section 5.4.1 of the thesis (2024)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from responsa.errors import InputError, MissingDependency
from responsa.evaluate.bertscore import BertScore
from responsa.taxonomy import catalogue
from responsa.taxonomy.evaluation_answers import STEPS
from responsa.taxonomy.evaluation_rows import JudgedRow, activity_id, is_row
from responsa.taxonomy.values import Criterion

Json = Mapping[str, Any]
_STEPS = ("breakdown", "findings", "reasoning")
_DIGITS = 6


def lines(
    assessments: Sequence[Json], rows: Sequence[JudgedRow] = (), bertscore: BertScore | None = None
) -> list[dict[str, str]]:
    """A line for each generation, by the columns of `evaluation_files`.

    A row's name is that of its row in ``rows``, else report, activity and year. BLEU needs no model; without a
    ``bertscore`` its columns are empty. InputError where no assessment has a generation; MissingDependency without
    sacrebleu.
    """
    found = [line for each in assessments for line in _lines(each, rows, bertscore)]
    if not found:
        raise InputError("no assessment has a generation; run assess with a model (--model) and --json")
    return found


def _lines(assessment: Json, rows: Sequence[JudgedRow], bertscore: BertScore | None) -> Iterator[dict[str, str]]:
    generations = [*(assessment.get("generations") or ())]
    own = next((row.marked.id for row in rows if is_row(row, assessment)), "")
    name = own or f"{assessment['report']} {activity_id(assessment)} {assessment['year']}"
    method = str((assessment.get("asking") or {}).get("method", ""))
    steps = STEPS if method != "traditional" else (3,)
    texts = {step: [str(each.get(_STEPS[step - 1]) or "") for each in generations] for step in steps}
    metrics: list[dict[str, float]] = [{} for _ in generations]
    for step, given in texts.items():
        _add(metrics, f"BL_{step}", [_bleu(text, _others(given, at)) for at, text in enumerate(given)])
        if bertscore:
            _add(metrics, f"BE_{step}", [_alike(text, _others(given, at), bertscore) for at, text in enumerate(given)])
    if 1 in texts and generations:
        activity = catalogue.shipped().find(activity_id(assessment), int(assessment["year"])).activity
        criteria = criteria_text(activity.substantial_contribution)
        _add(metrics, "BL_SCC", [_bleu(text, [criteria]) for text in texts[1]])
        if bertscore:
            _add(metrics, "BE_SCC", [_alike(text, [criteria], bertscore) for text in texts[1]])
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


def _others(texts: Sequence[str], at: int) -> list[str]:
    return [text for place, text in enumerate(texts) if place != at]


def _bleu(text: str, references: Sequence[str]) -> float | None:
    """Of a text against all others at once (equations 5.3 and 5.5), from 0 to 1; None where there is no other."""
    try:
        from sacrebleu.metrics import BLEU
    except ImportError as error:
        raise MissingDependency("BLEU", "eval") from error
    if not references:
        return None
    found = float(BLEU(effective_order=True).sentence_score(text, list(references)).score)
    return min(1.0, max(0.0, found / 100))


def _alike(text: str, references: Sequence[str], bertscore: BertScore) -> float | None:
    """The mean F1 of BERTScore with each other (equations 5.2 and 5.4); None where there is no other."""
    if not references:
        return None
    return fmean(each.f1 for each in bertscore([text] * len(references), list(references)))


def _add(metrics: list[dict[str, float]], name: str, values: Sequence[float | None]) -> None:
    for own, value in zip(metrics, values, strict=True):
        if value is not None:
            own[name] = value
