"""What an experiment with answers found, as plain values in the form of `results`, with failures and cost.

Each row has besides "asked", "answered", "abstained", "failed" and "unscored" (by id, why), "flags" of judges, and
"cost": requests, tokens and US dollars of what was written and of what was judged. Replies from the cache count as when
they were paid, each as one request, so that the figures do not depend on what other rows and runs had asked before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from responsa.evaluate.agreement import bootstrap_mean, paired_test
from responsa.evaluate.ratings import CORRECT, summarise
from responsa.experiment.answer_data import Asked
from responsa.experiment.answer_scores import Scores
from responsa.experiment.answer_table import MEASURES, AnswerTable
from responsa.experiment.answers import Written, calls_of

Json = dict[str, Any]
Found = tuple[Written, Scores | None]


def results(table: AnswerTable, found: Sequence[Found], asked: Asked, stamps: Mapping[str, str], seed: int) -> Json:
    """The scores of every row that ran, and its differences from the first that did."""
    first = next((each for each in found if each[1] is not None), None)
    rows = [_row(table, each, first, seed) for each in found]
    return {
        "table": _head(table),
        "questions": {"all": len(asked.queries)},
        "folds": 0,
        "k": 0,
        "cuts": [],
        "against": first[0].row.name if first else "",
        "scored_by": dict(stamps),
        "rows": rows,
    }


def _head(table: AnswerTable) -> Json:
    return {
        "name": table.name,
        "title": table.title,
        "source": table.source,
        "dataset": table.dataset,
        "scores": table.scores,
        "measures": list(table.measures),
        "decimals": {measure: MEASURES[table.scores][measure] for measure in table.measures},
        "sweep": "",
        "note": table.note,
    }


def _row(table: AnswerTable, each: Found, first: Found | None, seed: int) -> Json:
    written, scores = each
    row: Json = {
        "name": written.row.name,
        "label": written.row.label,
        "state": written.state,
        "reason": written.reason,
        "note": written.row.note,
        "published": dict(written.row.published),
    }
    if written.state != "done" or scores is None:
        return row
    records = written.records
    row |= {
        "missing": 0,
        "asked": len(records),
        "answered": sum(record["state"] == "answered" for record in records),
        "abstained": sum(record["state"] == "abstained" for record in records),
        "failed": {record["id"]: record["reason"] for record in records if record["state"] == "failed"},
        "unscored": dict(scores.unscored),
        "flags": list(scores.flags),
        "cost": {"written": cost(calls_of(records)), "judged": cost(scores.calls)},
        "means": {"all": means(table, scores, seed)},
    }
    if scores.values.get("rating"):
        counts = summarise(list(scores.values["rating"].values()), seed).counts
        row["counts"] = {f"rated {rating}": count for rating, count in enumerate(counts, 1)}
    if first is not None and first[1] is not None and each is not first:
        row["differences"] = {"all": _differences(table, scores, first[1], seed)}
    return row


def means(table: AnswerTable, scores: Scores, seed: int) -> Json:
    """By measure {"mean", "low", "high", "n"}; of counts and deviations "mean" alone. What has no value is left out."""
    if table.scores == "repass":
        return {
            measure: asdict(bootstrap_mean(list(row.values()), seed))
            for measure, row in scores.values.items()
            if row and measure in table.measures
        }
    values = list(scores.values["rating"].values())
    if not values:
        return {}
    found = summarise(values, seed)
    share = {name: value if name == "n" else 100 * value for name, value in asdict(found.correct).items()}
    made: Json = {"average": asdict(found.average), "correct": {"mean": found.correct_count}, "correct %": share}
    if found.deviation is not None:
        made["deviation"] = {"mean": found.deviation}
    made |= {f"rated {rating}": {"mean": count} for rating, count in enumerate(found.counts, 1)}
    return {measure: made[measure] for measure in table.measures if measure in made}


def _differences(table: AnswerTable, own: Scores, first: Scores, seed: int) -> Json:
    """This row minus the first, on the questions that both have a score of, where the measure is a mean."""
    made: Json = {}
    for measure in table.measures:
        mine, other = _values(own, measure), _values(first, measure)
        both = [name for name in other if name in mine]
        if not both:
            continue
        pair = paired_test([mine[name] for name in both], [other[name] for name in both], seed)
        made[measure] = asdict(pair.difference) | {
            "p_value": pair.p_value,
            "wins": pair.wins,
            "losses": pair.losses,
            "ties": pair.ties,
        }
    return made


def _values(scores: Scores, measure: str) -> Mapping[str, float]:
    if "rating" not in scores.values:
        return scores.values.get(measure, {})
    rated = scores.values["rating"]
    if measure == "correct %":
        return {name: 100.0 * (value > CORRECT) for name, value in rated.items()}
    return rated if measure == "average" else {}


def cost(calls: Iterable[Mapping[str, Any]]) -> Json:
    """Requests, those that were repeated included, tokens and US dollars; ``dollars`` None where a price is not
    known."""
    made = list(calls)
    prices = [call["cost"] for call in made]
    known = [price for price in prices if price is not None]
    return {
        "requests": sum(1 if call["cached"] else call["attempts"] for call in made),
        "tokens_in": sum(call["tokens_in"] for call in made),
        "tokens_out": sum(call["tokens_out"] for call in made),
        "dollars": round(sum(known), 6) if known or not made else None,
        "without_price": len(prices) - len(known),
    }
