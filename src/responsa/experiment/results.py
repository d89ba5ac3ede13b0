"""What an experiment found, as plain values: means with intervals, differences from the first row, published figures.

{"table": {...}, "questions": {group: number}, "against": NAME,
 "rows": [{"name", "label", "state", "reason", "note", "published", "means": {group: {measure: {...}}},
           "differences": {group: {measure: {...}}}}]}
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from responsa.evaluate.agreement import bootstrap_mean, paired_test
from responsa.evaluate.ranking import Measure, RunScores, score_run
from responsa.experiment.data import Data
from responsa.experiment.runs import Outcome
from responsa.experiment.table import Table

Json = dict[str, Any]
CUTS = (1, 3, 5, 10, 20, 50, 100)
BY_GOLD = Measure("recall", 10)
SEVERAL = "2+"
_MOST_GOLD = 4  # questions with this many gold passages or more are one group of the plot


def results(table: Table, outcomes: Sequence[Outcome], data: Data, k: int, seed: int = 0) -> Json:
    """The scores of every row that ran, and its differences from the first that did.

    Groups of questions are ``all``, ``2+`` (several gold passages), the strata of the data and, for recall@10 alone,
    those with 1, 2, 3 and 4 or more gold passages. Nothing is measured beyond the ``k`` passages that were asked for.
    """
    table = replace(table, measures=within(table.measures, k))
    cuts = tuple(cut for cut in CUTS if cut <= k)
    measures = tuple(dict.fromkeys((*table.measures, *(Measure("recall", cut) for cut in cuts))))
    scored = {o.row.name: score_run(o.run, data.judgements, measures) for o in outcomes if o.run is not None}
    first = next(iter(scored), "")
    groups = {name: ids for name, ids in _groups(data).items() if BY_GOLD in measures or not is_count(name)}
    rows = []
    for outcome in outcomes:
        row: Json = {
            "name": outcome.row.name,
            "label": outcome.row.label,
            "state": outcome.state,
            "reason": outcome.reason,
            "note": outcome.row.note,
            "published": dict(outcome.row.published),
        }
        if outcome.row.name in scored:
            own = scored[outcome.row.name]
            row["missing"] = len(own.missing)
            row["means"] = _means(own, table.measures, groups, seed)
            if outcome.row.name != first:
                row["differences"] = _differences(own, scored[first], table.measures, groups, seed)
        rows.append(row)
    shown = {name: len(ids) for name, ids in groups.items()}
    return {
        "table": _head(table),
        "questions": shown,
        "folds": len(data.folds),
        "k": k,
        "cuts": list(cuts),
        "against": first,
        "rows": rows,
    }


def within(measures: Iterable[Measure], k: int) -> tuple[Measure, ...]:
    """Those that look at no more than ``k`` passages."""
    return tuple(measure for measure in measures if measure.k is None or measure.k <= k)


def _head(table: Table) -> Json:
    return {
        "name": table.name,
        "title": table.title,
        "source": table.source,
        "dataset": table.dataset,
        "measures": [str(measure) for measure in table.measures],
        "decimals": table.decimals,
        "sweep": table.sweep,
        "note": table.note,
    }


def _groups(data: Data) -> dict[str, frozenset[str]]:
    """Question ids by group; a group without questions is left out."""
    gold: dict[str, int] = {}
    for judgement in data.judgements:
        gold[judgement.query_id] = gold.get(judgement.query_id, 0) + (judgement.grade > 0)
    groups = {"all": frozenset(gold), SEVERAL: frozenset(name for name, count in gold.items() if count > 1)}
    groups |= data.strata
    for count in range(1, _MOST_GOLD):
        groups[str(count)] = frozenset(name for name, own in gold.items() if own == count)
    groups[f"{_MOST_GOLD}+"] = frozenset(name for name, own in gold.items() if own >= _MOST_GOLD)
    return {name: ids for name, ids in groups.items() if ids}


def is_count(group: str) -> bool:
    """Whether a group is one of those by number of gold passages that only the plot shows."""
    return group != SEVERAL and group[:1].isdigit()


def _means(scores: RunScores, measures: Iterable[Measure], groups: Mapping[str, frozenset[str]], seed: int) -> Json:
    wanted = {
        group: (BY_GOLD,) if is_count(group) else tuple(measures) if group != "all" else scores.measures
        for group in groups
    }
    return {
        group: {
            str(measure): asdict(bootstrap_mean(_values(scores, measure, groups[group]), seed)) for measure in chosen
        }
        for group, chosen in wanted.items()
    }


def _differences(
    scores: RunScores, first: RunScores, measures: Iterable[Measure], groups: Mapping[str, frozenset[str]], seed: int
) -> Json:
    """This row minus the first: mean, 95 % interval, p of the permutation test, questions better and worse."""
    found: Json = {}
    for group, ids in groups.items():
        if is_count(group):
            continue
        found[group] = {}
        for measure in measures:
            pair = paired_test(_values(scores, measure, ids), _values(first, measure, ids), seed)
            found[group][str(measure)] = asdict(pair.difference) | {
                "p_value": pair.p_value,
                "wins": pair.wins,
                "losses": pair.losses,
                "ties": pair.ties,
            }
    return found


def _values(scores: RunScores, measure: Measure, ids: frozenset[str]) -> list[float]:
    name = str(measure)
    return [
        score.value
        for score in scores.scores
        if score.measure == name and score.value is not None and score.query_id in ids
    ]
