"""Our scores against bm25s and rank_bm25, given the same tokens.

No stop words, stems, pairs, context or windows: then each of our variants is the formula of the same name in
bm25s, without deliberate difference: Robertson's idf is cut off at 0 in both, and ATIRE's gain has the factor
k1 + 1 in both. rank_bm25's BM25Okapi is Robertson's formula with that factor; where an idf would be negative it
takes a quarter of the mean idf instead of 0, and its scores differ from ours there.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from responsa.retrieval.bm25 import BM25
from responsa.types import Query

bm25s = pytest.importorskip("bm25s")

PLAIN = {"bigram_weight": 0.0, "context_weight": 0.0, "stemmer": "none", "stopwords": "none", "window": 10_000}
SIZES = (20, 2000)


def collection(size):
    """Passages and questions of words that are as unevenly frequent as words are."""
    chance = random.Random(size)
    vocabulary = [f"word{n}" for n in range(30 + size // 4)]
    weights = [1 / (n + 1) for n in range(len(vocabulary))]
    passages = [chance.choices(vocabulary, weights, k=chance.randint(3, 80)) for _ in range(size)]
    questions = [chance.choices(vocabulary, weights, k=chance.randint(1, 12)) for _ in range(25)]
    return passages, [*questions, ["word3", "word3", "word5"], ["word1", "unheard"], ["unheard"]]


@pytest.fixture(scope="module", params=SIZES)
def indexed(request, corpus_of):
    passages, questions = collection(request.param)
    return passages, questions, corpus_of(*[(f"p{n:05}", " ".join(words)) for n, words in enumerate(passages)])


def ours(retriever, corpus, questions):
    """For each question the scores of all passages in the order given."""
    queries = [Query(str(n), " ".join(words)) for n, words in enumerate(questions)]
    run = retriever(queries, corpus, len(corpus))
    scores = np.zeros((len(queries), len(corpus)))
    for row, query in enumerate(queries):
        for hit in run.rankings[query.id].hits:
            scores[row, int(hit.passage_id[1:])] = hit.score
    return scores


@pytest.mark.parametrize("variant", ["lucene", "robertson", "atire"])
@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (0.4, 0.7)])
def test_bm25s(indexed, variant, k1, b):
    passages, questions, corpus = indexed
    reference = bm25s.BM25(method=variant, k1=k1, b=b)
    reference.index(passages, show_progress=False)
    known = {word for words in passages for word in words}
    expected = np.zeros((len(questions), len(passages)))
    for row, words in enumerate(questions):
        if known.intersection(words):
            expected[row] = reference.get_scores([word for word in words if word in known])
    found = ours(BM25(k1, b, variant, **PLAIN), corpus, questions)
    assert np.count_nonzero(found) > len(passages)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_rank_bm25(indexed):
    rank_bm25 = pytest.importorskip("rank_bm25")
    passages, questions, corpus = indexed
    okapi = rank_bm25.BM25Okapi(passages, k1=1.2, b=0.75)
    frequent = {word for word in okapi.idf if sum(word in words for words in passages) * 2 >= len(passages)}
    assert frequent  # those on which the two differ
    comparable = [[word for word in words if word not in frequent] for words in questions]
    found = ours(BM25(1.2, 0.75, "robertson", **PLAIN), corpus, comparable)
    expected = [okapi.get_scores(words) for words in comparable]
    np.testing.assert_allclose(found * (1.2 + 1), expected, rtol=1e-5, atol=1e-6)
    # The deliberate difference: a word in more than half of the passages scores nothing with us.
    common = max(frequent, key=lambda word: sum(word in words for words in passages))
    assert not ours(BM25(1.2, 0.75, "robertson", **PLAIN), corpus, [[common]]).any()
    assert okapi.get_scores([common]).any()
