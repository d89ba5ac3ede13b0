"""Bootstrap intervals and the paired test, on cases small enough to work by hand."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from responsa.errors import MissingDependency
from responsa.evaluate import agreement
from responsa.evaluate.agreement import bootstrap_mean, paired_test
from responsa.types import Estimate

values = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_one_value_is_its_own_interval():
    assert bootstrap_mean([0.25]) == Estimate(0.25, 0.25, 0.25, 1)


def test_equal_values_are_their_own_interval():
    # The mean of ten times 0.1 in binary is not 0.1; the estimate is.
    assert bootstrap_mean([0.1] * 10) == Estimate(0.1, 0.1, 0.1, 10)


def test_two_values_by_hand():
    # Of two draws from {0, 1} the mean is 0, 1/2, 1 with probability 1/4, 1/2, 1/4: the 2.5th percentile is 0
    # and the 97.5th is 1.
    assert bootstrap_mean([0, 1]) == Estimate(0.5, 0.0, 1.0, 2)


def test_hundred_coins_by_hand():
    # 50 of 100: the standard error is sqrt(.25 / 100) = .05, so the interval is about .5 +- 1.96 * .05.
    estimate = bootstrap_mean([0, 1] * 50)
    assert estimate.mean == 0.5
    assert estimate.low == pytest.approx(0.402, abs=0.015)
    assert estimate.high == pytest.approx(0.598, abs=0.015)


@pytest.mark.parametrize("bad", [[], [0.5, float("nan")], [float("inf")]])
def test_bootstrap_refuses(bad):
    with pytest.raises(ValueError, match=r"no values|is not finite"):
        bootstrap_mean(bad)


def test_bootstrap_needs_a_resample():
    with pytest.raises(ValueError, match="resamples is 0"):
        bootstrap_mean([0, 1], resamples=0)


def test_same_seed_same_bytes_other_seed_other_draws():
    sample = np.random.default_rng(5).random(50).tolist()
    assert bootstrap_mean(sample, seed=3) == bootstrap_mean(sample, seed=3)
    assert bootstrap_mean(sample, seed=3) != bootstrap_mean(sample, seed=4)


def test_resampling_holds_one_block_at_a_time(monkeypatch):
    sample = np.random.default_rng(5).random(50).tolist()
    whole = bootstrap_mean(sample, resamples=200)
    for block in (1, 130, 10_000):  # one row, two rows, all rows at once
        monkeypatch.setattr(agreement, "_BLOCK", block)
        assert bootstrap_mean(sample, resamples=200) == whole


@given(values)
@settings(max_examples=50, deadline=None)
def test_interval_lies_within_the_values(sample):
    estimate = bootstrap_mean(sample, resamples=200)
    assert estimate.low <= estimate.high
    assert min(sample) - 1e-12 <= estimate.low
    assert estimate.high <= max(sample) + 1e-12
    assert estimate.n == len(sample)


def test_paired_test_by_hand():
    # Three wins by the same margin: of the 2**3 = 8 ways to swap only "none" and "all" are as extreme, so
    # p = 2/8.
    result = paired_test([1, 1, 1], [0, 0, 0])
    assert result.difference == Estimate(1.0, 1.0, 1.0, 3)
    assert result.p_value == pytest.approx(0.25)
    assert (result.wins, result.losses, result.ties) == (3, 0, 0)


def test_ties_count_in_the_difference_and_not_in_the_p_value():
    result = paired_test([1, 1, 1, 0.5, 0.5, 0.5], [0, 0, 0, 0.5, 0.5, 0.5])
    assert result.difference.mean == 0.5
    assert result.difference.n == 6
    assert result.p_value == pytest.approx(0.25)
    assert (result.wins, result.losses, result.ties) == (3, 0, 3)


def test_balanced_wins_and_losses_have_p_one():
    result = paired_test([1, 0, 1, 0], [0, 1, 0, 1])
    assert result.p_value == 1.0
    assert (result.wins, result.losses, result.ties) == (2, 2, 0)


@pytest.mark.parametrize("others", [0, 1, 5])
def test_a_single_pair_that_differs_proves_nothing(others):
    result = paired_test([1.0, *[0.5] * others], [0.0, *[0.5] * others])
    assert (result.p_value, result.wins, result.ties) == (1.0, 1, others)
    assert result.difference.mean == 1 / (others + 1)


@given(values)
@settings(max_examples=20, deadline=None)
def test_a_system_does_not_differ_from_itself(sample):
    result = paired_test(sample, sample)
    assert result.difference == Estimate(0.0, 0.0, 0.0, len(sample))
    assert (result.p_value, result.ties) == (1.0, len(sample))


def test_sides_are_symmetric_and_the_seed_fixes_every_number():
    generator = np.random.default_rng(8)
    a, b = generator.random(40).tolist(), generator.random(40).tolist()
    forth, back = paired_test(a, b, seed=1), paired_test(b, a, seed=1)
    assert forth == paired_test(a, b, seed=1)
    assert (forth.wins, forth.losses) == (back.losses, back.wins)
    assert forth.difference.mean == -back.difference.mean
    assert forth.p_value == pytest.approx(back.p_value, abs=0.02)


def test_a_clear_difference_is_found_in_many_pairs():
    generator = np.random.default_rng(8)
    b = generator.random(500)
    result = paired_test((b + 0.1 + 0.2 * generator.random(500)).tolist(), b.tolist())
    # The least p that 9,999 samples can show: 2 * (0 + 1) / (9,999 + 1).
    assert result.p_value == pytest.approx(0.0002)
    assert result.difference.low > 0.15


def test_paired_test_refuses():
    with pytest.raises(ValueError, match="2 values against 1; a paired test needs one pair per query"):
        paired_test([1, 2], [1])
    with pytest.raises(ValueError, match="no values"):
        paired_test([], [])


def test_without_scipy_the_message_has_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(MissingDependency, match=r"comparing runs needs .* pip install 'responsa\[eval\]'"):
        paired_test([1, 0.5], [0, 0])
