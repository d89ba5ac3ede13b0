"""Sparse retrieval: worked by hand, against dense arithmetic, and its artefacts in the life of a library."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import add, failures, remove, write_rulebook
from responsa import config
from responsa.corpus.library import Library
from responsa.errors import RecipeError
from responsa.models import SparseRows
from responsa.retrieval import RETRIEVERS, sparse
from responsa.retrieval.sparse import Sparse, heaviest
from responsa.types import Query

WORDS = ("ferry", "goat", "captain", "river", "toll")


def rows_of(dense) -> SparseRows:
    """Compressed rows of a full array."""
    dense = np.asarray(dense, dtype=np.float32).reshape(-1, len(WORDS))
    terms = [np.flatnonzero(row).astype(np.int32) for row in dense]
    return SparseRows(
        np.cumsum([0, *map(len, terms)], dtype=np.int64),
        np.concatenate([np.empty(0, np.int32), *terms]),
        np.concatenate([np.empty(0, np.float32), *(row[place] for row, place in zip(dense, terms, strict=True))]),
    )


class Counting:
    """Weights are the counts of a few words."""

    def __init__(self, name="counting"):
        self.name = name
        self.encoded = 0

    def encode(self, texts, role):
        self.encoded += len(texts) if role == "passage" else 0
        return rows_of([[text.lower().count(word) for word in WORDS] for text in texts])


@pytest.fixture
def encoder(monkeypatch):
    encoder = Counting()
    monkeypatch.setattr(sparse, "load_sparse", lambda name: encoder)
    sparse.open_view.cache_clear()
    return encoder


def scores(stage, corpus, text, k=9):
    return [(hit.passage_id, hit.score) for hit in stage([Query("q", text)], corpus, k).rankings["q"].hits]


def test_dot_products_worked_by_hand(encoder, corpus_of):
    corpus = corpus_of(("a", "goat goat ferry"), ("b", "ferry ferry ferry"), ("c", "captain"), ("d", " "))
    assert scores(Sparse("x"), corpus, "goat and ferry, ferry") == [("b", 6), ("a", 4)]
    assert scores(Sparse("x"), corpus, "goat and ferry, ferry", k=1) == [("b", 6)]
    assert scores(Sparse("x"), corpus, "nothing known") == []
    assert encoder.encoded == 3
    both = Sparse("x")([Query("1", "goat"), Query("2", "captain", "river")], corpus, 2)
    assert [[hit.passage_id for hit in both.rankings[name].hits] for name in "12"] == [["a"], ["c"]]


def test_the_best_window_counts_and_windows_overlap(encoder, corpus_of):
    corpus = corpus_of(("a", "goat goat ferry toll"), ("b", "ferry goat toll toll goat"))
    stage = Sparse("x", window=3, overlap=1)
    # windows of a: "goat goat ferry", "ferry toll"; of b: "ferry goat toll", "toll toll goat"
    assert scores(stage, corpus, "goat ferry") == [("a", 3), ("b", 2)]
    assert scores(stage, corpus, "toll") == [("b", 2), ("a", 1)]


def test_only_the_heaviest_terms_are_kept(encoder, corpus_of):
    corpus = corpus_of(("a", "goat goat ferry ferry toll"), ("b", "toll"))
    assert scores(Sparse("x", top_terms=1), corpus, "ferry goat toll") == [("a", 2), ("b", 1)]
    assert scores(Sparse("x", top_terms=1), corpus, "goat") == []  # equal weights: the lower term, "ferry"
    assert scores(Sparse("x", top_terms=2), corpus, "goat") == [("a", 2)]
    kept = heaviest(rows_of([[1, 3, 2, 3, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 5]]), 2)
    assert kept.indptr.tolist() == [0, 2, 2, 3]
    assert kept.terms.tolist() == [1, 3, 4]
    assert kept.weights.tolist() == [3, 3, 5]


@settings(max_examples=60, deadline=None)
@given(
    stored=st.lists(st.lists(st.lists(st.integers(-3, 4), min_size=5, max_size=5), min_size=1, max_size=4), max_size=4),
    asked=st.lists(st.lists(st.integers(-3, 4), min_size=5, max_size=5), min_size=1, max_size=3),
)
def test_postings_give_the_full_products(tmp_path_factory, stored, asked):
    """Folders of one passage for each row, ids in the opposite order of the rows."""
    folder = tmp_path_factory.mktemp("rows")
    paths, every = [], []
    for number, dense in enumerate(stored):
        path = folder / str(number)
        path.mkdir()
        rows = rows_of(dense)
        for name in ("indptr", "terms", "weights"):
            np.save(path / f"{name}.npy", getattr(rows, name))
        np.save(path / "owner.npy", np.arange(len(dense), dtype=np.int32))
        sparse_ids = [f"{99 - number:02}-{99 - place:02}" for place in range(len(dense))]
        from responsa.retrieval.postings import write_strings

        write_strings(sparse_ids, path)
        paths.append(path)
        every += zip(sparse_ids, dense, strict=True)
    view = sparse.open_view(tuple(paths))
    found = view.scores(rows_of(asked), slice(0, len(asked)))
    expected = np.array([[np.dot(one, row) for _, row in sorted(every)] for one in asked]).reshape(len(asked), -1)
    assert view.places.ids == sorted(each for each, _ in every)
    assert np.array_equal(found, expected)


def test_artefacts_in_the_life_of_a_library(encoder, tmp_path):
    folder, rules = tmp_path / "library", tmp_path / "rules"
    for name in ("ferry", "goat"):
        write_rulebook(rules / f"{name}.md", [f"A {name} must act."])
    add(folder, rules)
    with Library.open(folder) as library:
        stage, corpus = Sparse("x"), library.corpus()
        assert not stage.ready(corpus)
        assert stage.stored().state(corpus) == (2, 0)
        seen = []
        stage.prepare(corpus, lambda *step: seen.append(step))
        assert [step[:2] for step in seen] == [(0, 2), (0, 2), (1, 2), (1, 2)]
        assert seen[1][2] == f"{seen[0][2]}, 1 of 1 texts"
        assert stage.ready(corpus)
        assert [place for place, _ in scores(stage, corpus, "goat")] == ["goat/1.1"]
        assert encoder.encoded == 2
        assert not Sparse("x", top_terms=9).ready(corpus)
        encoder.name = "another model"
        assert stage.stored().state(corpus) == (2, 2)
        assert not stage.ready(corpus)
    remove(folder, "goat")
    assert len(list((folder / "artefacts").glob("sparse-*"))) == 1
    assert failures(folder) == []


def test_as_a_table_of_a_recipe():
    assert config.build({"kind": "sparse", "encoder": "hf:org/m", "top_terms": 9}, RETRIEVERS, "r") == Sparse(
        "hf:org/m", top_terms=9
    )
    for table, said in (
        ({"window": 3, "overlap": 3}, "overlap must be"),
        ({"top_terms": -1}, "top_terms of at least 0"),
    ):
        with pytest.raises(RecipeError, match=said):
            config.build({"kind": "sparse", "encoder": "hf:org/m", **table}, RETRIEVERS, "r")


def test_a_splade_model_over_a_library(corpus_of, tmp_path):
    pytest.importorskip("sentence_transformers", reason="responsa[hub] is not installed")
    from responsa.models.load import load_sparse
    from tinymodels import outputs, tiny_bert, tokens_of, with_head

    folder = with_head(tiny_bert(tmp_path / "bert"), tmp_path / "splade", "BertForMaskedLM")
    texts = {"a": "the firm must report law3", "b": "rule about days", "c": "when the regulator"}
    run = Sparse(f"hf:{folder}")([Query("q", "report law3")], corpus_of(*texts.items()), 3)

    def weights(text):
        return np.log1p(np.maximum(outputs(folder, "BertForMaskedLM", tokens_of(folder, text)), 0)).max(axis=0)

    expected = {name: float(weights("report law3") @ weights(text)) for name, text in texts.items()}
    assert dict(run.rankings["q"].hits) == pytest.approx(expected, rel=1e-4)
    assert load_sparse(f"hf:{folder}").name.startswith("splade@")
