"""Recipes: those that ship, those of the user, and the limits of each stage."""

from __future__ import annotations

import pytest

from responsa import recipe
from responsa.answer.abstain import TermCoverage
from responsa.answer.extractive import Extractive
from responsa.answer.select import ThresholdDrop
from responsa.errors import NotFound, RecipeError
from responsa.recipe import parse
from responsa.retrieval import Hybrid
from responsa.retrieval.bm25 import BM25
from responsa.retrieval.evidence import Neighbours
from responsa.retrieval.fuse import RRF, Linear


@pytest.mark.parametrize("name", recipe.shipped())
def test_shipped_recipes_load(name):
    loaded = recipe.load(name)
    assert loaded.name == name
    assert loaded.description


def test_the_default_ships():
    assert {recipe.DEFAULT, recipe.WORDS} <= set(recipe.shipped())


def test_word_search_has_the_defaults_of_its_stages():
    loaded = recipe.load(recipe.WORDS)
    assert loaded.retrieve == BM25()
    assert (loaded.select, loaded.abstain, loaded.answer) == (ThresholdDrop(), TermCoverage(), Extractive())


def test_a_path_ends_in_toml(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('[retrieve]\nkind = "bm25"\nk1 = 1\n', encoding="utf-8")
    loaded = recipe.load(str(path))
    assert (loaded.name, loaded.description) == ("mine", "")
    assert loaded.retrieve == BM25(k1=1.0)
    assert loaded.select == ThresholdDrop()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("bm52", "no recipe 'bm52'; did you mean 'bm25'?; a path to a recipe of your own ends in .toml"),
        ("", "no recipe ''; known: "),
        ("../recipes/bm25", "no recipe '../recipes/bm25'"),
        ("no/such.toml", "no recipe file 'no/such.toml'"),
    ],
)
def test_unknown_names(name, message):
    with pytest.raises(NotFound) as caught:
        recipe.load(name)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, r"w: the table \[retrieve\] is missing"),
        ({"retrive": {}}, "w: unknown key 'retrive'; did you mean 'retrieve'"),
        ({"retrieve": "bm25"}, r"w: \[retrieve\]: expected a table with a 'kind', got 'bm25'"),
        ({"retrieve": {}}, r"w: \[retrieve\]: 'kind' is missing; known: bm25"),
        ({"retrieve": {"kind": "bm26"}}, r"w: \[retrieve\]: unknown kind 'bm26'; did you mean 'bm25'"),
        ({"retrieve": {"kind": "bm25", "k2": 1.0}}, r"w: \[retrieve\]: unknown key 'k2'"),
        ({"retrieve": {"kind": "bm25"}, "description": 1}, "w: description: expected text, got 1"),
        ({"retrieve": {"kind": "bm25"}, "select": {"kind": "x"}}, r"w: \[select\]: unknown kind 'x'"),
        ({"retrieve": {"kind": "bm25"}, "answer": {"kind": "extractive", "most": 0.5}}, r"\.most: expected int"),
    ],
)
def test_refused_tables(table, message):
    with pytest.raises(RecipeError, match=message):
        recipe.parse(table, "mine", "w")


@pytest.mark.parametrize(
    ("stage", "values", "message"),
    [
        (BM25, {"k1": -0.1}, "k1 -0.1"),
        (BM25, {"b": -0.1}, "b -0.1"),
        (BM25, {"b": 1.1}, "b 1.1"),
        (BM25, {"bigram_weight": -1}, "bigram_weight -1"),
        (BM25, {"context_weight": -1}, "context_weight -1"),
        (BM25, {"window": 50, "overlap": 50}, "overlap must be from 0 to below window, got 50 and 50"),
        (BM25, {"overlap": -1}, "overlap must be"),
        (BM25, {"window": 0, "overlap": 0}, "overlap must be"),
        (BM25, {"stemmer": "englisch"}, "unknown stemmer 'englisch'; did you mean 'english'"),
        (ThresholdDrop, {"threshold": -0.1}, "threshold from 0 to 1"),
        (ThresholdDrop, {"threshold": 1.1}, "got 1.1"),
        (ThresholdDrop, {"drop": 0}, "drop above 0"),
        (ThresholdDrop, {"most": 0}, "most of at least 1"),
        (TermCoverage, {"least": -0.1}, "least from 0 to 1"),
        (TermCoverage, {"least": 1.1}, "1.1"),
        (TermCoverage, {"depth": 0}, "depth of at least 1"),
        (Extractive, {"relevance": -0.1}, "relevance from 0 to 1"),
        (Extractive, {"relevance": 1.1}, "1.1"),
        (Extractive, {"most": 0}, "most of at least 1"),
        (Extractive, {"detector": "rule"}, "unknown detector 'rule'; did you mean 'rules'"),
    ],
)
def test_each_stage_refuses_values_out_of_range(stage, values, message):
    with pytest.raises(RecipeError, match=message):
        stage(**values)


@pytest.mark.parametrize(
    ("stage", "values"),
    [
        (
            BM25,
            {"k1": 0, "b": 0, "bigram_weight": 0, "context_weight": 0, "window": 1, "overlap": 0, "stemmer": "none"},
        ),
        (BM25, {"b": 1}),
        (ThresholdDrop, {"threshold": 0, "drop": 0.001, "most": 1}),
        (TermCoverage, {"least": 0, "depth": 1}),
        (TermCoverage, {"least": 1}),
        (Extractive, {"relevance": 0, "most": 1}),
    ],
)
def test_each_stage_takes_the_limits_themselves(stage, values):
    stage(**values)


def test_a_value_out_of_range_is_reported_with_its_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('[retrieve]\nkind = "bm25"\nb = 2.0\n', encoding="utf-8")
    with pytest.raises(RecipeError, match=r"mine\.toml: \[retrieve\]: bm25: .* b 2\.0"):
        recipe.load(str(path))


def test_several_retrievers_fused_and_reranked():
    table = {
        "retrieve": [{"kind": "bm25"}, {"kind": "bm25", "k1": 1.2}],
        "fuse": {"kind": "rrf", "constant": 10},
        "rerank": [{"kind": "neighbours"}, {"kind": "neighbours", "span": 1}],
    }
    made = parse(table, "r", "w").retrieve
    assert made == Hybrid((BM25(), BM25(k1=1.2)), RRF(constant=10.0), (Neighbours(), Neighbours(span=1)))
    # One of each may be written as a single table.
    single = {"retrieve": {"kind": "bm25"}, "rerank": {"kind": "neighbours"}}
    assert parse(single, "r", "w").retrieve == Hybrid((BM25(),), Linear(), (Neighbours(),))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"retrieve": []}, r"w: \[\[retrieve\]\] is empty"),
        ({"retrieve": [{"kind": "bm25"}, {"kind": "bm52"}]}, r"w: \[\[retrieve\]\] 2: unknown kind 'bm52'"),
        (
            {"retrieve": {"kind": "bm25"}, "fuse": {"kind": "rff"}},
            r"w: \[fuse\]: unknown kind 'rff'; did you mean 'rrf'",
        ),
        ({"retrieve": {"kind": "bm25"}, "fuse": {"kind": "rrf"}}, r"w: \[fuse\] with one retriever; give two"),
        ({"retrieve": [{"kind": "bm25"}], "fuse": {"kind": "rrf"}}, r"w: \[fuse\] with one retriever"),
        *(
            (
                {"retrieve": [{"kind": "bm25"}] * 2, "fuse": {"kind": kind, "weights": weights}},
                rf"w: \[fuse\]\.weights: {len(weights)} weights for 2 retrievers; give one for each, or leave them out",
            )
            for kind, weights in (("linear", [1.0]), ("rrf", [1, 2, 3]), ("zscore", [1]))
        ),
        ({"retrieve": [{"kind": "dense"}]}, r"w: \[\[retrieve\]\] 1: the key 'encoder' is missing"),
        ({"retrieve": {"kind": "bm25"}, "rerank": 3}, r"w: \[\[rerank\]\] 1: expected a table"),
    ],
)
def test_bad_combinations(table, message):
    with pytest.raises(RecipeError, match=message):
        parse(table, "r", "w")
