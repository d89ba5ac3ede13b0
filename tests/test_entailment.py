"""RePASs worked by hand: each protocol, each edge case, and what always holds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from responsa.entailment import (
    NO_OBLIGATION,
    NO_SENTENCE,
    NO_SOURCE,
    PROTOCOLS,
    Components,
    components,
    compose,
    coverage,
    covered,
    mean_strongest,
    order_of_trial,
    protocol,
    shared_words,
    strongest,
)
from responsa.errors import InputError
from responsa.evaluate.repass_files import read_csv

# Two source sentences (rows), three answer sentences (columns).
ENTAILS = np.array([[0.9, 0.2, 0.1], [0.3, 0.6, 0.1]])
CONTRADICTS = np.array([[0.05, 0.3, 0.7], [0.4, 0.1, 0.2]])
# Three answer sentences that may cover (rows), two obligations (columns).
COVERS = np.array([[0.71, 0.2], [0.1, 0.7], [0.0, 0.3]])
NAMES = sorted(PROTOCOLS)


def test_the_strongest_source_sentence_counts_for_each_answer_sentence():
    assert strongest(ENTAILS).tolist() == [0.9, 0.6, 0.1]
    assert mean_strongest(ENTAILS) == pytest.approx(1.6 / 3)
    assert mean_strongest(ENTAILS, 5) == 0.53333
    assert mean_strongest(CONTRADICTS) == pytest.approx((0.4 + 0.3 + 0.7) / 3)  # of other sentences than entail


def test_more_than_the_threshold_covers_and_the_threshold_itself_does_not():
    assert covered(COVERS).tolist() == [True, False]
    assert coverage(COVERS) == 0.5
    assert covered(COVERS, 0.69).tolist() == [True, True]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("reference", Components(0.53333, 0.46667, 0.5, 0.52222)),
        ("paper", Components(1.6 / 3, 1.4 / 3, 0.5, (1.6 / 3 - 1.4 / 3 + 1.5) / 3)),
        ("strict", Components(1.6 / 3, 1.4 / 3, 0.5, (1.6 / 3 - 1.4 / 3 + 1.5) / 3)),
    ],
)
def test_an_ordinary_answer(name, expected):
    found = components(protocol(name), ENTAILS, CONTRADICTS, COVERS)
    assert (found.coverage, found.reason) == (0.5, "")
    if name == "reference":
        assert found == expected  # to the digit
    assert [found.entailment, found.contradiction, found.composite] == pytest.approx(
        [expected.entailment, expected.contradiction, expected.composite], abs=1e-12
    )


def test_reference_rounds_the_parts_before_it_puts_them_together():
    entails, contradicts = np.array([[0.100004]]), np.array([[0.000006]])
    covers = np.zeros((1, 1))
    assert components(protocol("reference"), entails, contradicts, covers).composite == 0.36666  # (.1 - .00001 + 1) / 3
    exact = components(protocol("paper"), entails, contradicts, covers).composite
    assert round(exact, 5) == 0.36667


NONE, ONE = np.zeros((0, 0)), np.array([[0.8]])


@pytest.mark.parametrize(
    ("name", "covers", "coverage", "composite", "reason"),
    [
        # no obligation in the sources
        ("reference", np.zeros((1, 0)), None, 0.53333, NO_OBLIGATION),
        ("paper", np.zeros((1, 0)), None, 1.6 / 3, NO_OBLIGATION),
        ("strict", np.zeros((1, 0)), None, 0.8, NO_OBLIGATION),
        # an obligation in the sources, no answer sentence that may cover it
        ("reference", np.zeros((0, 1)), 0.0, 0.53333, ""),
        ("paper", np.zeros((0, 1)), 0.0, 1.6 / 3, ""),
        ("strict", np.zeros((0, 1)), 0.0, 1.6 / 3, ""),
    ],
)
def test_without_obligations(name, covers, coverage, composite, reason):
    found = components(protocol(name), ONE, np.array([[0.2]]), covers)
    assert (found.coverage, found.reason) == (coverage, reason)
    assert found.composite == pytest.approx(composite, abs=1e-12)


@pytest.mark.parametrize(("name", "composite"), [("reference", 0.33333), ("paper", 1 / 3), ("strict", 0.0)])
def test_without_a_source_sentence(name, composite):
    rows = np.zeros((0, 2))
    found = components(protocol(name), rows, rows, np.zeros((2, 0)))
    assert found == Components(0.0, 0.0, None, pytest.approx(composite), NO_SOURCE)


def test_without_a_sentence_in_the_answer():
    columns = np.zeros((2, 0))
    found = components(protocol("strict"), columns, columns, np.zeros((0, 1)))
    assert found == Components(0.0, 0.0, 0.0, 0.0, NO_SENTENCE)
    assert components(protocol("strict"), NONE, NONE, NONE).composite == 0.0


def test_what_is_no_matrix_of_probabilities_is_refused():
    with pytest.raises(ValueError, match="shape"):
        components(protocol("paper"), ENTAILS, CONTRADICTS.T, COVERS)
    for wrong in (1.2, -0.1, np.nan):
        with pytest.raises(ValueError, match="not between 0 and 1"):
            components(protocol("paper"), ENTAILS, CONTRADICTS, np.array([[wrong]]))


def test_an_unknown_protocol_is_refused_with_the_nearest():
    with pytest.raises(InputError, match="unknown protocol 'refrence'; did you mean 'reference'"):
        protocol("refrence")


chances = st.floats(0, 1)


@st.composite
def matrices(draw):
    sources, answers, obligations = (draw(st.integers(0, 4)) for _ in range(3))
    entails = draw(arrays(float, (sources, answers), elements=chances))
    return entails, draw(arrays(float, (sources, answers), elements=chances)) * (1 - entails), draw(
        arrays(float, (answers, obligations), elements=chances)
    )  # fmt: skip


@given(matrices(), st.sampled_from(NAMES))
def test_scores_lie_between_0_and_1(made, name):
    found = components(protocol(name), *made)
    for value in (found.entailment, found.contradiction, found.coverage or 0.0, found.composite):
        assert 0 <= value <= 1


@given(matrices(), st.sampled_from(NAMES), st.randoms(use_true_random=False))
def test_the_order_of_sentences_does_not_matter(made, name, random):
    entails, contradicts, covers = made
    rows, columns = list(range(entails.shape[0])), list(range(covers.shape[1]))
    random.shuffle(rows), random.shuffle(columns)
    shuffled = components(protocol(name), entails[rows], contradicts[rows], covers[:, columns])
    assert shuffled == components(protocol(name), entails, contradicts, covers)


@given(matrices())
def test_more_entailment_and_less_contradiction_never_harm(made):
    entails, contradicts, covers = made
    plain = components(protocol("paper"), entails, contradicts, covers).composite
    better = components(protocol("paper"), np.minimum(1, entails + 0.1), contradicts / 2, covers).composite
    assert better >= plain - 1e-12


def test_answer_sentences_are_tried_by_the_words_they_share():
    rows = [frozenset("abc"), frozenset("ab"), frozenset()]
    table = shared_words(rows, [frozenset("ab"), frozenset()])
    assert table.tolist() == [[2 / 3, 0], [1, 0], [0, 0]]
    assert [order.tolist() for order in order_of_trial(table)] == [[1, 0, 2], [0, 1, 2]]


# --- published results ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "rows", "expected"),
    [
        ("bm25_passage_only_gpt4_results.csv", 2785, (0.308751, 0.123510, 0.164684, 0.449975)),
        ("bm25_rank_fusion_gpt4_results.csv", 2786, (0.318002, 0.131130, 0.172619, 0.453164)),
    ],
)
def test_published_parts_make_the_published_composites(data, file, rows, expected):
    found = read_csv(data / "repass_reference" / file)
    assert len(found) == rows
    for row in found:
        entailment, contradiction, share, composite = row.values()
        assert abs(compose(entailment, contradiction, share) - composite) <= 5.01e-6  # half a unit of the last digit
        assert compose(entailment, contradiction, share, 5) == pytest.approx(composite, abs=1e-12)
    means = np.array([list(row.values()) for row in found]).mean(axis=0)
    assert means == pytest.approx(expected, abs=5e-7)
