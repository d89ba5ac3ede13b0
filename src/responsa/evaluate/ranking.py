"""Measures of a ranking with trec_eval's semantics: recall@k, MAP@k, nDCG@k and MRR.

The arithmetic is trec_eval's own (Buckley; through pytrec_eval, van Gysel and de Rijke, SIGIR 2018):
MAP@k divides by the number of relevant passages, not by min(k, that number); nDCG@k takes the grade as gain
(linear) and discounts by log2(rank + 1); MRR knows no cut-off. A grade of 0 or less is not relevant.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from responsa.errors import InputError, MissingDependency, suggestion
from responsa.evaluate.agreement import PairedComparison, bootstrap_mean, paired_test
from responsa.evaluate.trec import HIGHEST_GRADE, merged
from responsa.types import Estimate, Judgement, Ranking, Run, Score

MeasureName = Literal["recall", "MAP", "nDCG", "MRR"]
Group = Literal["all", "0", "1", "2", "3+", "2+"]

MISSING = "missing from the run"
NONE_RELEVANT = "no passage is judged relevant"

_TREC_NAMES: Mapping[MeasureName, str] = {
    "recall": "recall",
    "MAP": "map_cut",
    "nDCG": "ndcg_cut",
    "MRR": "recip_rank",
}
_SPELLING = re.compile(r"([a-z]+)(?:@([1-9][0-9]{0,5}))?", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class Measure:
    """What is measured. ``str`` of it is its name in tables, in `Score.measure` and on the command line."""

    name: MeasureName
    k: int | None = None

    def __str__(self) -> str:
        return self.name if self.k is None else f"{self.name}@{self.k}"

    @classmethod
    def parse(cls, text: str) -> Measure:
        """Read ``recall@10``, in any case. InputError names the nearest known measure.

        ``k`` is 1 to 999,999; MRR takes none and the others need one.
        """
        match = _SPELLING.fullmatch(text.strip())
        digits = match[2] if match else None
        names = {name.casefold(): name for name in _TREC_NAMES}
        name = names.get(match[1].casefold()) if match else None
        if name is None or (name == "MRR") != (digits is None):
            k = digits or "10"
            known = ["MRR" if known == "MRR" else f"{known}@{k}" for known in _TREC_NAMES]
            raise InputError(f"unknown measure {text!r}{suggestion(text, known)}")
        return cls(name, int(digits) if digits else None)


DEFAULT_MEASURES = (
    Measure("recall", 5),
    Measure("recall", 10),
    Measure("recall", 20),
    Measure("recall", 100),
    Measure("MAP", 10),
    Measure("nDCG", 10),
    Measure("MRR"),
)


@dataclass(frozen=True, slots=True)
class RunScores:
    """A run's scores: for each judged query, in the order of the judgements, one `Score` per measure.

    ``missing`` are judged queries for which the run has no passage; they score 0 and stay in the mean.
    ``unjudged`` are queries of the run without a judgement; they are not scored. ``gold`` counts the
    relevant gold items of each judged query.
    """

    run: str
    measures: tuple[Measure, ...]
    scores: tuple[Score, ...]
    missing: tuple[str, ...]
    unjudged: tuple[str, ...]
    gold: Mapping[str, int]

    def values(self, measure: Measure, group: Group = "all") -> list[float]:
        """The scores of one measure in query order, of the queries in the group."""
        name = str(measure)
        return [
            score.value
            for score in self.scores
            if score.measure == name and score.value is not None and _belongs(self.gold[score.query_id], group)
        ]


@dataclass(frozen=True, slots=True)
class Summary:
    """The mean of a measure over the queries of a group; the estimate's ``n`` is their number."""

    measure: str
    group: Group
    estimate: Estimate


def score_run(run: Run, judgements: Sequence[Judgement], measures: Sequence[Measure] = DEFAULT_MEASURES) -> RunScores:
    """Score every judged query, also those missing from the run (0, with the reason).

    A gold item is credited where the first of its passages stands, once; its other passages keep their places
    and count as not relevant, so that @10 is always ten passages as shown. A query without a
    relevant gold item scores 0 as in trec_eval, with the reason. Several judgements of one passage are
    merged to the highest grade. InputError for a grade above 999; MissingDependency without pytrec_eval.
    """
    wanted = tuple(dict.fromkeys(measures))
    items = _items(judgements)
    found = {query_id: ranking for query_id, ranking in run.rankings.items() if ranking.hits}
    answered = [query_id for query_id in items if query_id in found]
    table = _trec_eval(
        [[item.grade for item in items[query_id]] for query_id in answered],
        [_places(found[query_id], items[query_id]) for query_id in answered],
        [_trec_name(measure) for measure in wanted],
    )
    values = dict(zip(answered, table, strict=True))
    gold = {query_id: sum(item.grade > 0 for item in golds) for query_id, golds in items.items()}
    scores = []
    for query_id in items:
        reason = MISSING if query_id not in found else "" if gold[query_id] else NONE_RELEVANT
        row = values.get(query_id, [0.0] * len(wanted))
        scores += [Score(query_id, str(measure), value, reason) for measure, value in zip(wanted, row, strict=True)]
    return RunScores(
        run=run.name,
        measures=wanted,
        scores=tuple(scores),
        missing=tuple(query_id for query_id in items if query_id not in found),
        unjudged=tuple(query_id for query_id in run.rankings if query_id not in items),
        gold=gold,
    )


def summarise(scores: RunScores, seed: int = 0, resamples: int = 10_000) -> list[Summary]:
    """Mean and 95 % bootstrap interval of each measure over all queries, then by number of gold items.

    Groups are ``all``, ``0``, ``1``, ``2``, ``3+`` and ``2+`` (several); one without queries is left out, so
    nothing judged gives an empty list.
    """
    groups: tuple[Group, ...] = ("all", "0", "1", "2", "3+", "2+")
    return [
        Summary(str(measure), group, bootstrap_mean(values, seed, resamples))
        for measure in scores.measures
        for group in groups
        if (values := scores.values(measure, group))
    ]


def compare_runs(first: RunScores, second: RunScores, measure: Measure, seed: int = 0) -> PairedComparison:
    """First minus second on one measure. InputError unless both were scored with it, on the same gold."""
    for scores in (first, second):
        if measure not in scores.measures:
            known = [str(scored) for scored in scores.measures]
            raise InputError(
                f"run {scores.run!r} was not scored with {str(measure)!r}{suggestion(str(measure), known)}"
            )
    if list(first.gold.items()) != list(second.gold.items()):
        raise InputError(
            f"runs {first.run!r} and {second.run!r} were scored on different gold; score both with one file"
        )
    if not first.gold:
        raise InputError("no query is judged; give a gold file with at least one question")
    return paired_test(first.values(measure), second.values(measure), seed)


def _belongs(gold: int, group: Group) -> bool:
    if group == "all":
        return True
    return gold >= int(group[0]) if group.endswith("+") else gold == int(group)


def _items(judgements: Iterable[Judgement]) -> dict[str, list[Judgement]]:
    """Gold items by query, both in the order of first mention."""
    items: dict[str, list[Judgement]] = defaultdict(list)
    for item in merged(judgements):
        if item.grade > HIGHEST_GRADE:
            raise InputError(f"grade {item.grade} of query {item.query_id!r} is above {HIGHEST_GRADE}; scale it down")
        items[item.query_id].append(item)
    return dict(items)


def _places(ranking: Ranking, items: Sequence[Judgement]) -> list[int | None]:
    """For each hit in order the index of the gold item it earns, None where it earns none.

    A passage judged itself earns that item before any item it is an alternative of.
    """
    earns: dict[str, list[int]] = defaultdict(list)
    for index, item in enumerate(items):
        earns[item.passage_id].append(index)
    for index, item in enumerate(items):
        for alternative in item.alternatives:
            earns[alternative].append(index)
    free = set(range(len(items)))
    places: list[int | None] = []
    for hit in ranking.hits:
        place = next((index for index in earns.get(hit.passage_id, ()) if index in free), None)
        if place is not None:
            free.remove(place)
        places.append(place)
    return places


def _trec_name(measure: Measure) -> str:
    name = _TREC_NAMES[measure.name]
    return name if measure.k is None else f"{name}_{measure.k}"


def _trec_eval(
    grades: Sequence[Sequence[int]], places: Sequence[Sequence[int | None]], names: Sequence[str]
) -> list[list[float]]:
    """For each query its values in the order of ``names``; all that knows pytrec_eval.

    It is given places, not passages: names made here and scores that fall by one. Thus the order is that of
    the `Ranking` to the letter, whatever its ids hold and however its scores tie. Grades below 0 are raised
    to 0, which means the same; as they are they crash pytrec_eval 0.5.11 (nDCG writes outside its memory).
    """
    try:
        import pytrec_eval
    except ImportError as error:
        raise MissingDependency("scoring runs", "eval") from error
    gold = {
        str(query): {f"gold{item}": max(grade, 0) for item, grade in enumerate(row)} for query, row in enumerate(grades)
    }
    run = {
        str(query): {
            f"other{place}" if item is None else f"gold{item}": float(len(row) - place)
            for place, item in enumerate(row)
        }
        for query, row in enumerate(places)
    }
    evaluated = pytrec_eval.RelevanceEvaluator(gold, set(names)).evaluate(run)
    table = cast(Mapping[str, Mapping[str, float]], evaluated)
    return [[float(table[str(query)][name]) for name in names] for query in range(len(grades))]
