"""What every encoder and every scorer of pairs does, whoever made it.

To add one: a context manager that yields it, and a line in the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import numpy as np
import pytest

from responsa.cache import Cache
from responsa.models import Encoder, PairScorer
from responsa.models.http import CachedEncoder, CachedScorer, HttpEncoder, HttpReranker, Service
from responsa.models.load import load_encoder, load_pairs
from responsa.testing import LocalServer

TEXTS = ["A Fund must report.", "Gold is heavy.", "", "A Fund must report.", "Ω", "long " * 900, "a\ud800b\x00"]
PAIRS = [("Who must report?", "A Fund must report."), ("Is gold heavy?", "Gold is heavy."),
         ("Who must report?", "Gold is heavy."), ("Who must report?", ""), ("", "Gold"), ("Ω", "long " * 900)]  # fmt: skip


def _service(url: str) -> Service:
    return Service(url, batch_texts=2, threads=2)


@contextmanager
def openai(_: Path) -> Iterator[Encoder]:
    with LocalServer() as server:
        yield HttpEncoder(_service(server.url), "m")


@contextmanager
def voyage(_: Path) -> Iterator[Encoder]:
    with LocalServer() as server:
        yield HttpEncoder(_service(server.voyage_url), "m", "voyage", output_dimension=32)


@contextmanager
def cached_encoder(folder: Path) -> Iterator[Encoder]:
    with LocalServer() as server:
        yield CachedEncoder(HttpEncoder(_service(server.url), "m"), Cache(folder / "cache.sqlite"), chunk=3)


@contextmanager
def cohere_reranker(_: Path) -> Iterator[PairScorer]:
    with LocalServer() as server:
        yield HttpReranker(_service(server.url), "m")


@contextmanager
def voyage_reranker(_: Path) -> Iterator[PairScorer]:
    with LocalServer() as server:
        yield HttpReranker(_service(server.voyage_url), "m", "voyage")


@contextmanager
def cached_scorer(folder: Path) -> Iterator[PairScorer]:
    with LocalServer() as server:
        yield CachedScorer(HttpReranker(_service(server.url), "m"), Cache(folder / "cache.sqlite"), chunk=2)


@contextmanager
def hub_encoder(folder: Path) -> Iterator[Encoder]:
    pytest.importorskip("sentence_transformers", minversion="6", reason="responsa[hub] is not installed")
    from tinymodels import tiny_bert

    yield load_encoder(f"hf:{tiny_bert(folder / 'bert', spread=0.02)}?batch=3")


@contextmanager
def hub_scorer(folder: Path) -> Iterator[PairScorer]:
    pytest.importorskip("sentence_transformers", minversion="6", reason="responsa[hub] is not installed")
    from tinymodels import tiny_bert, with_head

    labels = ("contradiction", "entailment", "neutral")
    yield load_pairs(
        f"hf:{with_head(tiny_bert(folder / 'bert'), folder / 'nli', 'BertForSequenceClassification', labels)}?batch=3"
    )


ENCODERS: dict[str, Callable[[Path], AbstractContextManager[Encoder]]] = {
    "openai": openai,
    "voyage": voyage,
    "cached": cached_encoder,
    "hub": hub_encoder,
}
SCORERS: dict[str, Callable[[Path], AbstractContextManager[PairScorer]]] = {
    "cohere": cohere_reranker,
    "voyage": voyage_reranker,
    "cached": cached_scorer,
    "hub": hub_scorer,
}
CLOSE = 1e-5  # of the numbers of one text in different batches


@pytest.fixture(params=ENCODERS)
def encoder(request, tmp_path):
    with ENCODERS[request.param](tmp_path) as encoder:
        yield encoder


@pytest.fixture(params=SCORERS)
def scorer(request, tmp_path):
    with SCORERS[request.param](tmp_path) as scorer:
        yield scorer


@pytest.mark.parametrize("role", ["query", "passage"])
def test_vectors_have_the_shape_promised(encoder, role):
    vectors = encoder.encode(TEXTS, role)
    assert vectors.shape == (len(TEXTS), encoder.dimension)
    assert vectors.dtype == np.float32
    assert np.isfinite(vectors).all()


def test_no_texts(encoder):
    vectors = encoder.encode([], "query")
    assert vectors.shape == (0, encoder.dimension)
    assert vectors.dtype == np.float32


def test_encoders_have_a_name(encoder):
    assert encoder.name
    assert encoder.name == encoder.name.strip()


def test_encoding_again_gives_the_same(encoder):
    assert np.array_equal(encoder.encode(TEXTS, "passage"), encoder.encode(TEXTS, "passage"))


def test_vectors_come_in_the_order_of_the_texts(encoder):
    forwards, backwards = encoder.encode(TEXTS, "passage"), encoder.encode(TEXTS[::-1], "passage")
    assert np.allclose(forwards, backwards[::-1], atol=CLOSE)
    assert np.allclose(forwards[0], forwards[3], atol=CLOSE)
    assert not np.allclose(forwards[0], forwards[1], atol=0.01)


def test_a_vector_does_not_depend_on_the_batch(encoder):
    together = encoder.encode(TEXTS, "query")
    alone = np.vstack([encoder.encode([text], "query") for text in TEXTS])
    assert np.allclose(together, alone, atol=CLOSE)


def test_a_passage_that_answers_is_nearer(encoder):
    (asked,) = encoder.encode(["Who must report?"], "query")
    answers, does_not = encoder.encode(["A Fund must report.", "Gold is heavy."], "passage")
    assert asked @ answers > asked @ does_not


def test_scores_have_the_shape_promised(scorer):
    scores = scorer.score(PAIRS)
    assert scores.shape == (len(PAIRS), len(scorer.labels))
    assert scores.dtype == np.float32
    assert np.isfinite(scores).all()


def test_no_pairs(scorer):
    scores = scorer.score([])
    assert scores.shape == (0, len(scorer.labels))
    assert scores.dtype == np.float32


def test_scorers_have_a_name_and_labels(scorer):
    assert scorer.name
    assert scorer.labels
    assert len(set(scorer.labels)) == len(scorer.labels)


def test_scoring_again_gives_the_same(scorer):
    assert np.array_equal(scorer.score(PAIRS), scorer.score(PAIRS))


def test_scores_come_in_the_order_of_the_pairs(scorer):
    assert np.allclose(scorer.score(PAIRS), scorer.score(PAIRS[::-1])[::-1], atol=CLOSE)


def test_a_score_does_not_depend_on_the_batch(scorer):
    alone = np.vstack([scorer.score([pair]) for pair in PAIRS])
    assert np.allclose(scorer.score(PAIRS), alone, atol=CLOSE)


def test_a_reranker_scores_the_answer_higher(scorer):
    if len(scorer.labels) > 1:
        pytest.skip("not a reranker")
    answers, does_not = scorer.score([PAIRS[0], PAIRS[2]])
    assert answers > does_not
