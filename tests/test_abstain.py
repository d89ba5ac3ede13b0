"""The confidence that the library answers, worked by hand."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

from responsa.answer.abstain import TermCoverage
from responsa.retrieval.bm25 import BM25
from responsa.types import Query, Ranking


def alike(terms):
    """Every term weighs 1."""
    return np.ones(len(terms))


def logistic(x):
    return 1 / (1 + exp(-x))


@pytest.fixture(scope="module")
def corpus(corpus_of):
    return corpus_of(
        ("a", "Ferries report collisions."),
        ("b", "Report quarterly collisions quarterly."),
        ("c", "Harbours are dredged."),
    )


def confidence(corpus, question, ids, idf=alike, **parameters):
    ranking = Ranking.of("q", [(name, 1 - n / 100) for n, name in enumerate(ids)])
    return TermCoverage(**parameters)(Query("q", question), ranking, corpus, idf)


@pytest.mark.parametrize(
    ("ids", "words", "bigrams"),
    [
        # Asked: the words report, collision, quarterly; the bigrams (report, collision) and (collision, quarterly).
        ("a", 2 / 3, 1 / 2),
        ("b", 1, 1 / 2),  # bigrams there: (report, quarterly), (quarterly, collision), (collision, quarterly)
        ("ab", 2 / 3, 1),  # words of the first passage alone, bigrams of all together
        ("ca", 0, 1 / 2),
        ("c", 0, 0),
    ],
)
def test_by_hand(corpus, ids, words, bigrams):
    usual = TermCoverage()
    expected = logistic(usual.bias + usual.words * words + usual.bigrams * bigrams)
    assert confidence(corpus, "Report collisions quarterly", ids) == pytest.approx(expected)
    own = {"bias": 1.0, "words": 2.0, "bigrams": -3.0}
    expected = logistic(1 + 2 * words - 3 * bigrams)
    assert confidence(corpus, "Report collisions quarterly", ids, **own) == pytest.approx(expected)


def test_only_so_many_passages_deep(corpus):
    assert confidence(corpus, "Report collisions quarterly", "ab", depth=1) == confidence(
        corpus, "Report collisions quarterly", "a"
    )


def test_repeated_words_count_once(corpus):
    # Two words, one of which is held; with them the bigrams (collision, collision) and (collision, zebra), neither held.
    found = confidence(corpus, "collisions collisions zebra", "a", bias=0.0, words=1.0, bigrams=9.0)
    assert found == pytest.approx(logistic(1 / 2))


def test_words_of_asking_do_not_count(corpus):
    own = {"bias": 0.0, "words": 1.0, "bigrams": 0.0}
    assert confidence(corpus, "Can you describe when we must report?", "a", **own) == pytest.approx(logistic(1))
    assert confidence(corpus, "Can you describe what we must do?", "a", **own) == 0


def test_rare_words_weigh_more(corpus):
    idf = BM25().idf(corpus)
    # "zebra" is in no passage and weighs most; "report" is in two and weighs least.
    known, unknown = (confidence(corpus, text, "a", idf) for text in ("report ferries", "report zebra"))
    assert known > 0.5 > unknown


@pytest.mark.parametrize("question", ["", "the of and", "?!"])
def test_a_question_without_words_is_not_answered(corpus, question):
    assert confidence(corpus, question, "ab") == 0


def test_nothing_found_is_not_answered(corpus):
    assert confidence(corpus, "Report collisions quarterly", "") == 0


@pytest.mark.parametrize(("bias", "expected"), [(-1e6, 0), (1e6, 1), (1e308, 1)])
def test_no_weight_overflows(corpus, bias, expected):
    assert confidence(corpus, "Report collisions", "a", bias=bias) == expected
