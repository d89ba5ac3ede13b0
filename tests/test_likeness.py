"""The confidence told by words and by meaning, worked by hand."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

from responsa import recipe
from responsa.answer.likeness import Likeness
from responsa.errors import RecipeError
from responsa.retrieval import vectors
from responsa.types import Query, Ranking

# What the encoder of these tests makes of each text; any other is at right angles to the question.
TOWARDS = {
    "Ferries report collisions.": (0.8, 0.6),
    "Report quarterly.": (0.6, 0.8),
    "Harbours are dredged.": (0.1, 0.99),
}
ASKED = "Must ferries report collisions?"


class Encoder:
    name, dimension = "two", 2

    def encode(self, texts, kind):
        rows = [(1.0, 0.0) if kind == "query" else self.of(text) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), 2)

    def of(self, text):
        return next((row for known, row in TOWARDS.items() if known in text), (0.0, 1.0))


@pytest.fixture(autouse=True)
def encoder(monkeypatch):
    monkeypatch.setattr(vectors, "load_encoder", lambda name: Encoder())
    vectors.open_view.cache_clear()


@pytest.fixture
def corpus(corpus_of):
    return corpus_of(*zip("abc", TOWARDS, strict=True))


def alike(terms):
    return np.ones(len(terms))


def confidence(corpus, ids, question=ASKED, **settings):
    ranking = Ranking.of("q", [(name, 1 - n / 100) for n, name in enumerate(ids)])
    return Likeness(**settings)(Query("q", question), ranking, corpus, alike)


def test_by_hand(corpus):
    similar = np.array([0.8, 0.6, 0.1])
    apart = (0.8 - similar.mean()) / similar.std()
    stage = Likeness()
    for ids, words in (("abc", 1.0), ("ba", 1 / 3), ("c", 0.0)):  # ferries, report, collisions: "must" is of asking
        total = stage.bias + stage.words * words + stage.nearest * 0.8 + stage.apart * apart
        assert confidence(corpus, ids) == pytest.approx(1 / (1 + exp(-total)), abs=1e-3)


@pytest.mark.parametrize("setting", ["words", "nearest", "apart"])
def test_each_value_has_its_weight(corpus, setting):
    none = {"words": 0.0, "nearest": 0.0, "apart": 0.0, "bias": 0.0}
    assert confidence(corpus, "a", **none) == 0.5
    assert confidence(corpus, "a", **none | {setting: 2.0}) > 0.6


def test_nothing_found_is_no_confidence(corpus):
    assert confidence(corpus, "") == 0.0


def test_a_library_of_one_text_stands_out_from_nothing(corpus_of):
    corpus = corpus_of(("a", "Ferries report collisions."))
    found = confidence(corpus, "a", words=0.0, nearest=0.0, apart=5.0, bias=0.0)
    assert found == 0.5


def test_a_question_of_words_of_asking_alone_has_meaning_alone(corpus):
    assert confidence(corpus, "a", "What must we do?", nearest=0.0, apart=0.0, bias=0.0) == 0.5


@pytest.mark.parametrize("least", [-0.1, 1.1])
def test_least_is_a_probability(least):
    with pytest.raises(RecipeError, match="least from 0 to 1"):
        Likeness(least=least)


def test_the_default_recipe_has_it_by_the_encoder_that_it_searches_with():
    made = recipe.load("hybrid")
    assert isinstance(made.abstain, Likeness)
    assert made.abstain.encoder in [getattr(each, "encoder", "") for each in made.retrieve.stages]
