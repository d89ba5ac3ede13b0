"""The confidence told by words and by meaning, worked by hand."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

from responsa import recipe
from responsa.answer.likeness import Likeness
from responsa.engine import encoded, index
from responsa.errors import RecipeError
from responsa.experiment.needs import needs
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
        rows = [self.asked(text) if kind == "query" else self.of(text) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(texts), 2)

    def asked(self, text):
        return (0.3, -0.95) if "dredges" in text else (1.0, 0.0)

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


def test_by_hand(corpus, monkeypatch):
    similar = np.array([0.8, 0.6, 0.1])
    apart = (0.8 - similar.mean()) / similar.std()
    stage = Likeness()
    for few, stands_out in ((3, apart), (4, 3.0)):  # in fewer windows than that none can stand far out
        monkeypatch.setattr("responsa.answer.likeness._FEW", few)
        for ids, words in (("abc", 1.0), ("ba", 1 / 3), ("c", 0.0)):  # ferries, report, collisions; not "must"
            total = stage.bias + stage.words * words + stage.nearest * 0.8 + stage.apart * stands_out
            assert confidence(corpus, ids) == pytest.approx(1 / (1 + exp(-total)), abs=1e-3)


@pytest.mark.parametrize("setting", ["words", "nearest", "apart"])
def test_each_value_has_its_weight(corpus, setting):
    none = {"words": 0.0, "nearest": 0.0, "apart": 0.0, "bias": 0.0}
    assert confidence(corpus, "a", **none) == 0.5
    assert confidence(corpus, "a", **none | {setting: 2.0}) > 0.6


def test_nothing_found_is_no_confidence(corpus):
    assert confidence(corpus, "") == 0.0


def test_a_library_of_one_text_answers_no_question_on_another_matter(corpus_of):
    corpus = corpus_of(("a", "Ferries report collisions."))
    assert confidence(corpus, "a", "Who dredges harbours?") < Likeness().least
    assert confidence(corpus, "a") > 0.9


def test_nothing_is_near_in_a_library_without_windows(corpus, monkeypatch):
    nothing = vectors.View(None, np.empty((0, 0), np.float32))
    monkeypatch.setattr(vectors.Dense, "_view", lambda *_: nothing)
    assert Likeness().values(Query("q", ASKED), Ranking.of("q", [("a", 1.0)]), corpus, alike)[1:] == (0.0, 0.0)


def test_its_vectors_are_made_with_the_indexes(tmp_path, corpus):
    recipe_file = tmp_path / "r.toml"
    recipe_file.write_text("[retrieve]\nkind = 'bm25'\n[abstain]\nkind = 'likeness'\n", encoding="utf-8")
    made = recipe.load(str(recipe_file))
    assert not encoded(made, corpus)
    told = []
    index(made, corpus, lambda *given: told.append(given))
    assert encoded(made, corpus)
    assert told


def test_what_it_is_made_of_is_told():
    assert [need.name for need in needs(Likeness("onnx:folder"))] == ["onnx:folder"]


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
