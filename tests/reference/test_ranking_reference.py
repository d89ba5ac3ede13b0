"""Measures against pytrec_eval fed directly and the formulas in plain Python; statistics against scipy."""

from __future__ import annotations

import random
from itertools import product
from math import log2

import numpy as np
import pytest

from responsa.evaluate.agreement import bootstrap_mean, paired_test
from responsa.evaluate.ranking import Measure, score_run
from responsa.types import Judgement, Ranking, Run

pytrec_eval = pytest.importorskip("pytrec_eval")
stats = pytest.importorskip("scipy.stats")

CUTS = (1, 3, 5, 10, 20, 100)
MEASURES = [Measure(name, k) for name in ("recall", "MAP", "nDCG") for k in CUTS] + [Measure("MRR")]
TREC = {"recall": "recall_{}", "MAP": "map_cut_{}", "nDCG": "ndcg_cut_{}", "MRR": "recip_rank"}

Graded = dict[str, dict[str, int]]
Scored = dict[str, dict[str, float]]


def plain(measure: Measure, order: list[str], grades: dict[str, int]) -> float:
    """The formulas of trec_eval, written from its manual and not from our code."""
    gains = [max(grades.get(passage, 0), 0) for passage in order]
    best = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
    if not best:
        return 0.0
    if measure.name == "MRR":
        return next((1 / rank for rank, gain in enumerate(gains, 1) if gain), 0.0)
    top = gains[: measure.k]
    if measure.name == "recall":
        return sum(gain > 0 for gain in top) / len(best)
    if measure.name == "MAP":
        precisions = [sum(g > 0 for g in top[:rank]) / rank for rank, gain in enumerate(top, 1) if gain]
        return sum(precisions) / len(best)
    dcg = sum(gain / log2(rank + 1) for rank, gain in enumerate(top, 1))
    return dcg / sum(gain / log2(rank + 1) for rank, gain in enumerate(best[: measure.k], 1))


def random_sets(seed: int, queries: int, depth: int) -> tuple[Graded, Scored]:
    """Gold of 1 to 6 passages with grades -2 to 3; many tied scores; ids of several lengths and alphabets."""
    generator = random.Random(seed)
    passages = [f"{generator.choice('aAzé中')}{n}" for n in range(3 * depth)]
    grades = {
        f"q{n}": {p: generator.randint(-2, 3) for p in generator.sample(passages, generator.randint(1, 6))}
        for n in range(queries)
    }
    found = {
        query: {p: generator.randint(0, depth) / 8 for p in generator.sample(passages, generator.randint(1, depth))}
        for query in grades
    }
    return grades, found


@pytest.mark.parametrize(("seed", "queries", "depth"), [(1, 60, 12), (2, 25, 150)])
def test_measures_agree_with_pytrec_eval_and_with_the_formulas(seed, queries, depth):
    grades, found = random_sets(seed, queries, depth)
    run = Run("random", {query: Ranking.of(query, scores.items()) for query, scores in found.items()})
    judgements = [Judgement(query, p, grade) for query, row in grades.items() for p, grade in row.items()]
    names = {TREC[measure.name].format(measure.k) for measure in MEASURES}
    clamped = {query: {p: max(grade, 0) for p, grade in row.items()} for query, row in grades.items()}
    oracle = pytrec_eval.RelevanceEvaluator(clamped, names).evaluate(found)

    scores = score_run(run, judgements, MEASURES).scores

    assert len(scores) == queries * len(MEASURES)
    for score, (query, measure) in zip(scores, product(grades, MEASURES), strict=True):
        assert (score.query_id, score.measure) == (query, str(measure))
        assert score.value == oracle[query][TREC[measure.name].format(measure.k)], (query, measure)
        # The rule of ties in plain Python: score descending, then id descending.
        order = sorted(found[query], key=lambda passage: (found[query][passage], passage), reverse=True)
        assert score.value == pytest.approx(plain(measure, order, grades[query])), (query, measure)


def test_bootstrap_agrees_with_scipy():
    sample = np.random.default_rng(11).beta(0.4, 0.4, size=300)
    ours = bootstrap_mean(sample.tolist())
    theirs = stats.bootstrap(
        (sample,), np.mean, n_resamples=10_000, method="percentile", batch=500, rng=np.random.default_rng(99)
    ).confidence_interval
    # The ends of a 95 % interval from 10,000 resamples vary by about 1.5 % of its width.
    tolerance = 0.05 * (ours.high - ours.low)
    assert ours.mean == pytest.approx(sample.mean())
    assert ours.low == pytest.approx(theirs.low, abs=tolerance)
    assert ours.high == pytest.approx(theirs.high, abs=tolerance)


@pytest.mark.parametrize("seed", range(3))
def test_permutation_p_agrees_with_all_256_ways_to_swap_eight_pairs(seed):
    generator = np.random.default_rng(seed)
    a, b = generator.random(8) + 0.1 * seed, generator.random(8)
    observed = abs((a - b).mean())
    swapped = [abs(((a - b) * signs).mean()) for signs in product((1, -1), repeat=8)]
    exact = sum(value >= observed - 1e-12 for value in swapped) / 256
    assert paired_test(a.tolist(), b.tolist()).p_value == pytest.approx(exact)


def test_sampled_permutations_come_near_the_t_test():
    generator = np.random.default_rng(4)
    b = generator.random(200)
    a = b + generator.normal(0.02, 0.15, size=200)
    sampled = paired_test(a.tolist(), b.tolist()).p_value
    assert sampled == pytest.approx(stats.ttest_rel(a, b).pvalue, abs=0.02)
