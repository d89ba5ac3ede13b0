"""What a cross-encoder makes of a ranking: the model's own scores, a blend, or probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from responsa.retrieval import rerank
from responsa.retrieval.rerank import CrossEncoder
from responsa.types import Query, Ranking, Run

FOUND = Ranking.of("q", [("a", 9.0), ("b", 6.0), ("c", 5.0), ("d", 1.0)])


@dataclass(frozen=True)
class Own:
    """A reranker with a score for each text."""

    scores: dict[str, float]
    calibration: tuple[float, ...] = ()

    def score(self, pairs):
        return np.array([[self.scores[text]] for _, text in pairs], dtype=np.float32)


@pytest.fixture
def reranked(corpus_of, monkeypatch):
    corpus = corpus_of(("a", "one."), ("b", "two."), ("c", "three."), ("d", "four."))

    def run(model, **settings):
        monkeypatch.setattr(rerank, "load_reranker", lambda _: model)
        stage = CrossEncoder("own", depth=2, **settings)
        return stage(Run("r", {"q": FOUND}), [Query("q", "which?")], corpus).rankings["q"]

    return run


def rows(ranking):
    return [(hit.passage_id, pytest.approx(hit.score, abs=1e-4)) for hit in ranking.hits]


def test_alone_the_model_keeps_its_own_scores_and_the_rest_follows_below(reranked):
    found = reranked(Own({"one.": 0.25, "two.": 0.75}), weight=1.0)
    assert found.scale == "raw"
    assert rows(found) == [("b", 0.75), ("a", 0.25), ("c", 0.249), ("d", -3.751)]
    assert rows(reranked(Own({"one.": 0.1, "two.": 0.2})))[0] == ("b", 0.2)  # a weak best stays a weak one


def test_a_blend_is_of_scaled_scores(reranked):
    found = reranked(Own({"one.": -3.0, "two.": 5.0}), weight=0.25)
    assert rows(found) == [("a", 0.75), ("b", 0.25), ("c", 0.249), ("d", -3.751)]


def test_a_calibrated_model_gives_probabilities_of_what_it_read(reranked):
    found = reranked(Own({"one.": 0.0, "two.": 2.0}, calibration=(1.0, -1.0)))
    assert found.scale == "probability"
    assert rows(found) == [("b", 1 / (1 + np.exp(-1))), ("a", 1 / (1 + np.exp(1)))]


def test_nothing_found_stays_nothing(reranked, monkeypatch):
    assert CrossEncoder("own")(Run("r", {"q": Ranking("q", ())}), [Query("q", "which?")], None).rankings["q"].hits == ()
