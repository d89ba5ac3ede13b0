"""Learned weights: the arithmetic, the file, and the stage among others."""

import json
from dataclasses import dataclass, replace
from math import exp

import numpy as np
import pytest

from responsa.errors import NotFound, RecipeError
from responsa.retrieval import Hybrid
from responsa.retrieval.features import names
from responsa.retrieval.fuse import Linear
from responsa.retrieval.learned import Features, Weights, expand, read_weights
from responsa.types import Query, Ranking, Run


def weights(runs=1, products=(), **by_name):
    """Weights of the features named, others 0; nothing is shifted or scaled."""
    features = names(runs)
    columns = len(features) + len(products) * (len(products) + 1) // 2
    values = [float(by_name.get(name.replace(" ", "_"), 0.0)) for name in features] + [0.0] * (columns - len(features))
    return Weights(runs, 100, features, products, (0.0,) * columns, (1.0,) * columns, tuple(values))


def test_products():
    values = np.array([[2.0, 3.0, 5.0]])
    assert expand(values, [0, 2]).tolist() == [[2, 3, 5, 4, 10, 25]]
    assert expand(values, []).tolist() == [[2, 3, 5]]


def test_scores_by_hand():
    count = len(names(1))
    two = ("run 1 scaled", "length")
    learned = replace(
        weights(products=two, run_1_scaled=2.0),
        mean=(0.5,) + (0.0,) * (count + 2),
        spread=(0.25,) + (1.0,) * (count + 2),
    )
    learned = replace(learned, weights=(*learned.weights[:-2], 3.0, 0.0))  # scaled x length
    rows = np.zeros((2, count))
    rows[:, 0] = 1.0, 0.0
    rows[:, names(1).index("length")] = 2.0, 9.0
    found = dict(learned.rank("q", ["a", "b"], rows).hits)
    # 2 (1 - .5) / .25 + 3 * 1 * 2 and 2 (0 - .5) / .25 + 0
    assert found["a"] - found["b"] == pytest.approx(14.0)
    assert sum(map(exp, found.values())) == pytest.approx(1)
    assert learned.rank("q", [], rows[:0]).hits == ()


def test_features_that_were_left_out():
    learned = Weights(1, 100, ("run 1 raw", "words"), (), (0.0, 0.0), (1.0, 1.0), (1.0, 5.0))
    rows = np.zeros((2, len(names(1))))
    rows[:, names(1).index("run 1 raw")] = 3.0, 0.0
    rows[:, names(1).index("words")] = 0.0, 1.0
    rows[:, names(1).index("length")] = 9.0, 1.0
    found = dict(learned.rank("q", ["a", "b"], rows).hits)
    assert found["b"] - found["a"] == pytest.approx(2.0)


@dataclass(frozen=True)
class Scripted:
    """A retriever that finds what it is told to."""

    found: tuple[tuple[str, float], ...]

    def __call__(self, queries, corpus, k):
        return Run("scripted", {query.id: Ranking.of(query.id, self.found) for query in queries})

    def prepare(self, corpus):
        return None

    def ready(self, corpus):
        return True


FIRST, SECOND = Scripted((("a", 3.0), ("b", 2.0), ("c", 1.0))), Scripted((("c", 9.0), ("b", 5.0)))


@pytest.fixture(scope="module")
def corpus(corpus_of):
    return corpus_of(*((name, f"Clause {name} on harbours.") for name in "abc"))


def saved(tmp_path, learned):
    path = tmp_path / "weights.json"
    path.write_text(learned.text(), encoding="utf-8")
    return str(path)


def test_the_stage_sees_every_stage_before_it(corpus, tmp_path):
    path = saved(tmp_path, weights(runs=3, run_1_raw=1.0, run_2_raw=10.0, run_3_scaled=100.0))
    system = Hybrid((FIRST, SECOND), Linear((0.5, 0.5)), (Features(path),))
    (hits,) = (ranking.hits for ranking in system([Query("q", "harbours")], corpus, 10).rankings.values())
    # Fused: a .5, b .25, c .5, scaled 1, 0, 1. a: 3 + 10 * 5 (not found: the lowest) + 100; b: 2 + 50; c: 1 + 90 + 100.
    first = hits[0].score
    assert [(hit.passage_id, hit.score - first) for hit in hits] == [("c", 0), ("a", 153 - 191), ("b", 52 - 191)]
    trail = system.trail([Query("q", "harbours")], corpus, 10)
    assert [len(run.rankings["q"].hits) for run in trail] == [3, 2, 3, 3]


def test_one_retriever_alone(corpus, tmp_path):
    system = Hybrid((FIRST,), rerank=(Features(saved(tmp_path, weights(run_1_raw=-1.0))),))
    assert [hit.passage_id for hit in system([Query("q", "x")], corpus, 2).rankings["q"].hits] == ["c", "b"]


def test_another_number_of_stages(corpus, tmp_path):
    system = Hybrid((FIRST, SECOND), rerank=(Features(saved(tmp_path, weights(runs=2))),))
    with pytest.raises(RecipeError, match=r"was learned with 2 stages before it .* this recipe has 3"):
        system([Query("q", "x")], corpus, 10)


def test_the_indexes_of_features_are_prepared(corpus_of, tmp_path):
    corpus = corpus_of(("a", "Text of another corpus."))
    system = Hybrid((FIRST,), rerank=(Features(saved(tmp_path, weights())),))
    assert not system.ready(corpus)
    system.prepare(corpus)
    assert system.ready(corpus)


def test_a_file_is_read_as_it_was_written(tmp_path):
    learned = replace(weights(runs=2, products=("words",)), questions=7, penalty=0.5)
    assert read_weights(saved(tmp_path, learned)) == learned


def test_no_file(tmp_path):
    with pytest.raises(NotFound, match=r"features: .*none.json: cannot be read: No such file"):
        read_weights(str(tmp_path / "none.json"))
    with pytest.raises(NotFound, match="features: nothing: cannot be read: no such weights in the package"):
        read_weights("nothing")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (None, "not valid JSON"),
        ([], "holds no weights"),
        ({"mean": [0.0]}, "columns need as many means, spreads and weights"),
        ({"products": ["nonsense"]}, "columns need as many"),
        ({"features": ["other", *names(1)[1:]]}, "the features are not those of this version"),
        ({"runs": 0}, "the features are not those of this version; learn the weights again"),
        ({"other": 1}, "unknown key 'other'"),
        ({"weights": "x"}, "expected a list"),
        ({"weights": [float("nan")]}, "expected a finite number, got nan"),
    ],
)
def test_bad_files(tmp_path, change, message):
    path = tmp_path / "w.json"
    table = json.loads(weights().text())
    path.write_text("{" if change is None else json.dumps([] if change == [] else {**table, **change}))
    with pytest.raises(RecipeError, match=message):
        read_weights(str(path))
