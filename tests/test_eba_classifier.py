from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from responsa.errors import InputError
from responsa.learn.eba import ArticleClassifier, Labelled, Mixture
from responsa.types import Query


def test_one_text_of_each_label_by_hand():
    # Cosines: 1 with itself, 0 with the other. (K + 1) a = y gives a = 1/2, and half the likeness is the score.
    found = ArticleClassifier.learn([Labelled("collateral", ("A",)), Labelled("liquidity", ("B",))], ridge=1.0)
    assert found.labels == ("A", "B")
    assert found.scores(["collateral", "liquidity", "unknown"]).tolist() == [[0.5, 0.0], [0.0, 0.5], [0.0, 0.0]]


def test_tf_idf_by_hand():
    # Three terms in two texts: "collateral" and the bigram in one (idf 1 + ln 3/2), "liquidity" in both (idf 1).
    texts = [Labelled("collateral liquidity", ("A",)), Labelled("liquidity", ("B",))]
    found = ArticleClassifier.learn(texts, ridge=0.5)
    rare = 1 + math.log(3 / 2)
    common = 1 / math.sqrt(1 + 2 * rare**2)  # the cosine of both texts
    kernel = np.array([[1.5, common], [common, 1.5]])
    expected = np.array([[common, 1.0]]) @ np.linalg.inv(kernel)
    assert found.scores(["liquidity"]) == pytest.approx(expected)


def test_a_text_of_less_weight_counts_less():
    texts = [Labelled("collateral", ("A",), 1.0), Labelled("liquidity", ("B",), 0.25)]
    scores = ArticleClassifier.learn(texts, ridge=1.0).scores(["collateral liquidity"])
    alone = 1 / 5 / (1 / 2)  # 1 / (1 + ridge / weight) for each
    assert scores[0, 1] / scores[0, 0] == pytest.approx(alone)


def test_several_labels_and_a_run():
    texts = [Labelled("collateral haircut", ("A", "B")), Labelled("liquidity outflow", ("C",))]
    run = ArticleClassifier.learn(texts)([Query("q", "Which haircut", "for collateral?")], k=2)
    assert {hit.passage_id for hit in run.rankings["q"].hits} == {"A", "B"}


class _Vectors:
    """An encoder that knows two words for one thing."""

    name = "test"
    dimension = 2

    def encode(self, texts, role):
        rows = [[float("deposit" in text or "saving" in text), float("loan" in text)] for text in texts]
        return np.array(rows, np.float32).reshape(len(texts), 2)


def test_vectors_find_what_words_do_not():
    texts = [Labelled("deposit", ("A",)), Labelled("loan", ("B",))]
    assert ArticleClassifier.learn(texts).scores(["saving"]).max() == 0
    scores = ArticleClassifier.learn(texts, ridge=1.0, encoder=_Vectors(), dense=1.0).scores(["saving"])
    assert scores.tolist() == [[pytest.approx(1 / 3), 0.0]]


@pytest.mark.parametrize(
    ("texts", "options"),
    [
        ([], {}),
        ([Labelled("a", ())], {}),
        ([Labelled("collateral", ("A",))], {"ridge": 0.0}),
        ([Labelled("collateral", ("A",), 0.0)], {}),
        ([Labelled("collateral", ("A",))], {"dense": -1.0}),
    ],
)
def test_what_cannot_be_learned(texts, options):
    with pytest.raises(InputError, match="the classifier needs labelled texts"):
        ArticleClassifier.learn(texts, **options)


def test_texts_without_a_term_score_nothing():
    found = ArticleClassifier.learn([Labelled("", ("A",)), Labelled("the of", ("B",))])
    assert found.scores(["", "collateral"]).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert found.scores([]).shape == (0, 2)


def test_the_weight_of_one_score_by_hand():
    # Two articles, scores 1 and 0; the first is gold twice, the second once. Without penalty p = 2/3, w = ln 2.
    scores = np.tile(np.array([[[1.0], [0.0]]]), (3, 1, 1))
    gold = np.array([[1, 0], [1, 0], [0, 1]])
    (weight,) = Mixture.learn(scores, gold, penalty=1e-9).weights
    assert weight == pytest.approx(math.log(2), abs=1e-6)


def test_a_penalty_keeps_weights_finite_and_silent_inquiries_teach_nothing():
    scores = np.array([[[1.0], [0.0]], [[0.0], [1.0]]])
    certain = Mixture.learn(scores, np.array([[1, 0], [0, 0]]))
    assert certain == Mixture.learn(scores[:1], np.array([[1, 0]]))
    # Where it stops, p is such that 1 - p = w.
    (weight,) = certain.weights
    assert 1 - 1 / (1 + math.exp(-weight)) == pytest.approx(weight)
    assert certain(scores).tolist() == [[weight, 0.0], [0.0, weight]]


def test_no_gold_no_weights():
    with pytest.raises(InputError, match="no inquiry with gold"):
        Mixture.learn(np.zeros((2, 3, 1)), np.zeros((2, 3)))
    with pytest.raises(InputError, match="no inquiry with gold"):
        Mixture.learn(np.zeros((2, 3, 1)), np.ones((2, 2)))


@settings(max_examples=30, deadline=None)
@given(arrays(np.float64, (4, 3, 2), elements=st.floats(-1, 1)), st.lists(st.integers(0, 2), min_size=4, max_size=4))
def test_no_other_weights_are_better(scores, chosen):
    gold = np.eye(3)[chosen]

    def worth(weights):
        sums = scores @ np.array(weights)
        likely = sums - np.log(np.exp(sums).sum(axis=1, keepdims=True))
        return (likely * gold).sum() - 0.5 * np.sum(np.square(weights))

    best = Mixture.learn(scores, gold).weights
    for step in ((0.1, 0.0), (-0.1, 0.0), (0.0, 0.1), (0.0, -0.1)):
        assert worth(best) >= worth(np.add(best, step))
