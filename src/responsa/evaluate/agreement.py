"""How sure a mean is and whether two systems differ: bootstrap intervals and a paired test over queries.

Everything is a function of its arguments and the seed: the same call gives the same bytes. Nothing
here depends on the order of threads or of a hash.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from responsa.errors import MissingDependency
from responsa.types import Estimate

_Array = NDArray[np.float64]

# A permutation test samples this many sign changes; up to 13 pairs that differ (2**13 = 8,192) it takes all.
_PERMUTATIONS = 9_999
# Numbers held at once while resampling: 2 MiB of indices and as much of values, which fits a cache.
_BLOCK = 2**18


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """Two systems on the same queries: first minus second.

    ``wins`` counts the queries on which the first scores higher. ``p_value`` is two-sided.
    """

    difference: Estimate
    p_value: float
    wins: int
    losses: int
    ties: int


def bootstrap_mean(values: Sequence[float], seed: int = 0, resamples: int = 10_000) -> Estimate:
    """Mean of one value per query with its 95 % percentile bootstrap interval (Efron and Tibshirani, 1993).

    The interval of a single value, or of equal values, is that value. ValueError for no values, for a
    value that is not finite and for fewer than one resample. Memory does not grow with ``resamples``
    times the number of queries.
    """
    sample = _finite(values)
    if resamples < 1:
        raise ValueError(f"resamples is {resamples}; at least 1 is needed")
    if sample.min() == sample.max():
        value = float(sample[0])
        return Estimate(value, value, value, sample.size)
    low, high = np.percentile(_resampled_means(sample, seed, resamples), [2.5, 97.5])
    return Estimate(float(sample.mean()), float(low), float(high), sample.size)


def paired_test(a: Sequence[float], b: Sequence[float], seed: int = 0) -> PairedComparison:
    """Compare two systems' values on the same queries, given in the same order.

    The interval is the bootstrap of the mean difference. The p-value is that of a permutation test of the
    mean difference in which each pair may be swapped: exact up to 13 pairs that differ, sampled beyond;
    1 where no pair differs, or a single one. ValueError for different lengths, no values or a value that is not finite.
    """
    first, second = _finite(a), _finite(b)
    if first.size != second.size:
        raise ValueError(f"{first.size} values against {second.size}; a paired test needs one pair per query")
    difference = first - second
    return PairedComparison(
        difference=bootstrap_mean(difference.tolist(), seed),
        p_value=_permutation_p(first, second, seed),
        wins=int((difference > 0).sum()),
        losses=int((difference < 0).sum()),
        ties=int((difference == 0).sum()),
    )


def _finite(values: Sequence[float]) -> _Array:
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or sample.size == 0:
        raise ValueError("no values; at least one query is needed")
    if not np.isfinite(sample).all():
        raise ValueError(f"value {sample[~np.isfinite(sample)][0]} is not finite")
    return sample


def _resampled_means(sample: _Array, seed: int, resamples: int) -> _Array:
    """Means of ``resamples`` samples drawn with replacement, a block of samples at a time."""
    generator = np.random.default_rng(seed)
    rows = max(1, _BLOCK // sample.size)
    means = np.empty(resamples)
    for start in range(0, resamples, rows):
        count = min(rows, resamples - start)
        drawn = generator.integers(0, sample.size, size=(count, sample.size))
        means[start : start + count] = sample[drawn].mean(axis=1)
    return means


def _permutation_p(first: _Array, second: _Array, seed: int) -> float:
    """Two-sided p of the mean difference. Equal pairs cannot change it and are left out."""
    differs = first != second
    if differs.sum() < 2:  # scipy refuses a single pair; swapped or not, its difference is as large
        return 1.0
    try:
        from scipy.stats import permutation_test
    except ImportError as error:
        raise MissingDependency("comparing runs", "eval") from error
    result = permutation_test(
        (first[differs], second[differs]),
        _mean_difference,
        permutation_type="samples",
        vectorized=True,
        n_resamples=_PERMUTATIONS,
        batch=max(1, _BLOCK // int(differs.sum())),
        rng=np.random.default_rng(seed),
    )
    return float(result.pvalue)


def _mean_difference(first: _Array, second: _Array, axis: int) -> _Array:
    return np.asarray((first - second).mean(axis=axis))
