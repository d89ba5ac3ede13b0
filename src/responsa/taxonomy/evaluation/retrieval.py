"""How well retrieval for the criteria does, as the EU Taxonomy thesis (2024) measures it in section 6.3.

What a query finds is a set. mAP is the mean over rows of the share of what was found that is right (equation 6.1), mAR
that of what is right that was found (6.2): neither looks at ranks: mAP is not the MAP of `responsa.evaluate.ranking`.
UDR counts what one retriever finds rightly and another does not (6.3, whose sum runs over one row more than there are).
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from responsa.types import Run

Gold = Mapping[str, Sequence[Collection[str]]]
"""What is right for each row: documents, each as the ids any of which will do (chunks overlap)."""
Found = Mapping[str, Collection[str]]
"""The ids found for each row. A row that is not in it found nothing."""


@dataclass(frozen=True, slots=True)
class Scores:
    """Means over the ``rows`` that have something right; ``without`` have nothing and are left out.

    ``precision`` is mAP and ``recall`` mAR. A row for which nothing was found counts 0 in both. ``documents`` is how
    many are found for a row, ``right`` how many of the ``gold`` documents of all rows, ``recalls`` are by row.
    """

    rows: int
    without: int
    precision: float
    recall: float
    documents: float
    right: int
    gold: int
    recalls: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Cut:
    """What is left of a run at a filter threshold; ``lost`` is UDR of the whole run against it, for each row."""

    threshold: float
    scores: Scores
    lost: float


def score(found: Found, gold: Gold) -> Scores:
    """mAP and mAR. ValueError where no row has anything right."""
    rows = [row for row, items in gold.items() if items]
    if not rows:
        raise ValueError("no row has a document that is right")
    shares, recalls, sizes, right = [], [], [], 0
    for row in rows:
        own = set(found.get(row, ()))
        good = set().union(*gold[row])
        hit = len(_earned(own, gold[row]))
        shares.append(len(own & good) / len(own) if own else 0.0)
        recalls.append(hit / len(gold[row]))
        sizes.append(len(own))
        right += hit
    return Scores(
        len(rows), len(gold) - len(rows), _mean(shares), _mean(recalls), _mean(sizes), right,
        sum(len(gold[row]) for row in rows), tuple(recalls),
    )  # fmt: skip


def udr(one: Found, other: Found, gold: Gold) -> int:
    """Right documents that ``one`` finds and ``other`` does not, over all rows (equation 6.3)."""
    return sum(
        len(_earned(one.get(row, ()), items) - _earned(other.get(row, ()), items)) for row, items in gold.items()
    )


def udr_matrix(runs: Mapping[str, Found], gold: Gold) -> dict[str, dict[str, int]]:
    """UDR of each run, the rows, against each other one, the columns; 0 against itself."""
    return {a: {b: udr(one, other, gold) for b, other in runs.items()} for a, one in runs.items()}


def found_in(run: Run, threshold: float | None = None) -> dict[str, set[str]]:
    """What a run finds; with a threshold, that which scores as much or more, compared as 32-bit floats, which run
    files hold."""
    least = array("f", [threshold])[0] if threshold is not None else None
    return {
        row: {hit.passage_id for hit in ranking.hits if least is None or hit.score >= least}
        for row, ranking in run.rankings.items()
    }


def sweep(run: Run, thresholds: Sequence[float], gold: Gold) -> list[Cut]:
    """A run that has probabilities as scores, unfiltered (threshold 0) and at each threshold (figures 8.7 to 8.10)."""
    whole = found_in(run)
    cuts = []
    for threshold in (0.0, *thresholds):
        left = found_in(run, threshold) if threshold else whole
        scores = score(left, gold)
        cuts.append(Cut(threshold, scores, udr(whole, left, gold) / scores.rows))
    return cuts


def _earned(found: Collection[str], items: Sequence[Collection[str]]) -> set[int]:
    """Places of the documents found."""
    own = set(found)
    return {place for place, item in enumerate(items) if not own.isdisjoint(item)}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
