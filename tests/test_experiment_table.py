"""Tables of experiments: those that ship, those of the user, sweeps, and recipes changed in one setting."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa import recipe
from responsa.errors import InputError, NotFound, RecipeError
from responsa.evaluate.ranking import Measure
from responsa.experiment import answer_table, table
from responsa.experiment.table import MEASURES, Row, gather, has_fold, of_fold, parse, put, written
from responsa.retrieval import RERANKERS, RETRIEVERS, Hybrid
from responsa.retrieval.fuse import Linear

PAPERS = recipe.shipped("recipes/papers")


def tables():
    return gather(table.shipped())


def answer_tables():
    return answer_table.gather(answer_table.shipped())[0]


def test_the_tables_of_the_papers_ship():
    assert table.shipped() == ["aueb-1", "aueb-2", "aueb-figure-1", "aueb-weights", "crr-3", "rirag-4"]
    assert [len(each.rows) for each in tables()] == [4, 5, 10, 11, 6, 18]
    assert all(each.title and each.source and each.dataset for each in tables())


def test_every_recipe_of_a_paper_stands_in_a_table_and_no_name_is_both():
    named = {row.recipe for each in (*tables(), *answer_tables()) for row in each.rows} - {""}
    assert named == set(PAPERS)
    names = [*table.shipped(), *answer_table.shipped(), *recipe.shipped(), *PAPERS, "recipes", "answers"]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", PAPERS)
def test_recipes_of_papers_load(name):
    stages = recipe.read(name)
    retrieve, rerank = stages["retrieve"], stages.get("rerank", [])
    kinds = {each["kind"] for each in (retrieve if isinstance(retrieve, list) else [retrieve])}
    unknown = (kinds - RETRIEVERS.keys()) | ({each["kind"] for each in rerank} - RERANKERS.keys())
    assert not unknown
    loaded = recipe.load(name)
    assert loaded.name == name
    assert loaded.description


def test_every_row_of_a_sweep_is_another_system():
    for each in tables():
        if each.sweep:
            systems = [repr(recipe.parse(row.stages(), row.name, row.recipe).retrieve) for row in each.rows]
            assert len(set(systems)) == len(systems)


def test_the_weights_of_the_papers():
    def weights(name):
        made = recipe.load(name).retrieve
        assert isinstance(made, Hybrid)
        assert isinstance(made.fuse, Linear)
        return made.fuse.weights

    # AUEB, table 2: a, b and 1 - (a + b).
    assert weights("aueb-bm25-ol3") == (0.3, 0.7)
    assert weights("aueb-vl2-vf2") == (0.4, 0.6)
    assert weights("aueb-bm25-vl2") == (0.25, 0.75)
    assert weights("aueb-bm25-vf2") == (0.3, 0.7)
    assert weights("aueb-bm25-vl2-vf2") == (0.25, 0.2, 0.55)


@pytest.mark.parametrize(
    ("paper", "name", "scale", "form"),
    [
        ("rirag-obliqa-repass-2024.txt", "rirag-4", 100, ".1f"),
        ("aueb-archimedes-rirag-2025.txt", "aueb-1", 1, ".4f"),
        ("aueb-archimedes-rirag-2025.txt", "aueb-2", 100, ".1f"),
        ("bank-of-italy-multi-step-prompt-2025.txt", "crr-3", 1, ".2f"),
    ],
)
def test_published_figures_are_those_of_the_papers(paper, name, scale, form):
    root = Path(__file__).resolve().parents[1]
    data = Path(os.environ.get("RESPONSA_DATA") or root.parent / "shared" / "data")
    text = data.parent / "papers" / paper
    if not text.is_file():
        pytest.skip(f"no paper at {text}")
    lines = [re.split(r"\s+", line.strip()) for line in text.read_text(encoding="utf-8").splitlines()]
    (found_table,) = gather([name])
    for row in found_table.rows:
        figures = [f"{figure * scale:{form}}" for figure in row.published.values()]
        assert len(figures) == len(found_table.measures)
        if name == "rirag-4":  # four figures on a line: passage-only, rank fusion
            model = row.label.split(",")[0].split()
            start = len(model) + (2 if row.label.endswith("fusion") else 0)
            found = [line for line in lines if line[: len(model)] == model and line[start : start + 2] == figures]
        else:
            found = [line for line in lines if line[-len(figures) :] == figures]
        assert found, row


# ------------------------------------------------------------------------------------------------ the user's own


def test_names_paths_and_recipes(tmp_path):
    (tmp_path / "own.toml").write_text('[table]\ntitle = "Own"\nmeasures = ["MRR"]\n[[rows]]\nrecipe = "bm25"\n')
    (tmp_path / "mine.toml").write_text('[retrieve]\nkind = "bm25"\n')
    own, recipes = gather([str(tmp_path / "own.toml"), "bm25", str(tmp_path / "mine.toml"), "bm25"])
    assert (own.name, own.title, own.measures, own.k) == ("own", "Own", (Measure("MRR"),), 100)
    assert own.rows == (Row("bm25", "bm25"),)
    assert (recipes.name, recipes.measures) == ("recipes", MEASURES)
    assert [row.name for row in recipes.rows] == ["bm25", "mine"]
    (only,) = gather(["aueb-1"], (Measure("recall", 5),))
    assert only.measures == (Measure("recall", 5),)


def test_two_files_of_one_name(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.toml").write_text('[retrieve]\nkind = "bm25"\n')
        (tmp_path / folder / "own.toml").write_text(
            '[table]\ntitle = "t"\nmeasures = ["MRR"]\n[[rows]]\nrecipe = "bm25"\n'
        )
    with pytest.raises(RecipeError, match=r"recipes of one name: .*a.mine.toml' and .*b.mine.toml'; rename"):
        gather([str(tmp_path / "a" / "mine.toml"), str(tmp_path / "b" / "mine.toml")])
    with pytest.raises(RecipeError, match="tables of one name: 'own' and 'own'"):
        gather([str(tmp_path / "a" / "own.toml"), str(tmp_path / "b" / "own.toml")])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rirag-44", "no table or recipe 'rirag-44'; did you mean 'rirag-4'"),
        ("xyz", "no table or recipe 'xyz'; .*rirag-4"),
        ("no/such.toml", "no recipe file 'no/such.toml'"),
    ],
)
def test_unknown_names(name, message):
    with pytest.raises(NotFound, match=message):
        gather([name])


HEAD = {"title": "t", "measures": ["recall@10"]}
ROW = {"recipe": "bm25"}


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ({"table": HEAD, "row": []}, "w: unknown key 'row'; did you mean 'rows'"),
        ({"table": HEAD}, "w: no row; give"),
        ({"table": HEAD, "rows": 3}, r"w: rows: expected \[\[rows\]\] tables, got 3"),
        ({"table": HEAD, "rows": [3]}, r"w: \[\[rows\]\] 1: expected a table, got 3"),
        ({"table": 1, "rows": [ROW]}, r"w: \[table\]: expected a table, got 1"),
        ({"table": {"measures": []}, "rows": [ROW]}, r"w: \[table\]: the key 'title' is missing"),
        ({"table": HEAD | {"measures": []}, "rows": [ROW]}, r"\[table\].measures is empty"),
        ({"table": HEAD | {"k": 0}, "rows": [ROW]}, "k of at least 1 and decimals from 1 to 6"),
        ({"table": HEAD | {"decimals": 7}, "rows": [ROW]}, "decimals from 1 to 6"),
        ({"table": HEAD, "rows": [ROW, ROW]}, "w: the row 'bm25' is given twice"),
        ({"table": HEAD, "rows": [ROW | {"pubished": {}}]}, r"\[\[rows\]\] 1: unknown key 'pubished'"),
        ({"table": HEAD, "rows": [ROW | {"published": {"MRR": 76.1}}]}, "from 0 to 1, got 76.1; is it in per cent"),
        ({"table": HEAD, "rows": [ROW | {"published": {"MRR": True}}]}, "expected a number from 0 to 1, got True"),
        ({"table": HEAD, "rows": [ROW | {"published": {"MRR": float("nan")}}]}, "from 0 to 1, got nan"),
        ({"table": HEAD, "sweep": {"recipe": "bm25", "parameter": "retrieve.k1"}}, "values: expected a list"),
        ({"table": HEAD, "sweep": {"recipe": "bm25", "values": [1]}}, "the key 'parameter' is missing"),
        (
            {
                "table": HEAD,
                "sweep": {"recipe": "bm25", "parameter": "retrieve.k1", "values": [1], "published": {"2": {}}},
            },
            "'2' is none of the values; known: 1",
        ),
    ],
)
def test_refused_tables(toml, message):
    with pytest.raises(RecipeError, match=message):
        parse(toml, "mine", "w")


def test_unknown_measures():
    with pytest.raises(InputError, match="unknown measure 'recal@10'; did you mean 'recall@10'"):
        parse({"table": HEAD | {"measures": ["recal@10"]}, "rows": [ROW]}, "mine", "w")


def test_a_sweep_makes_a_row_of_each_value():
    sweep = {
        "recipe": "bm25",
        "parameter": "retrieve.k1",
        "values": [0.5, 1],
        "published": {"0.5": {"recall@10": 0.7}},
    }
    made = parse({"table": HEAD, "rows": [ROW], "sweep": sweep}, "mine", "w")
    assert made.sweep == "retrieve.k1"
    assert [(row.name, row.label, row.published) for row in made.rows] == [
        ("bm25", "bm25", {}),
        ("bm25-retrieve.k1=0.5", "0.5", {"recall@10": 0.7}),
        ("bm25-retrieve.k1=1", "1", {}),
    ]
    assert made.rows[1].stages()["retrieve"]["k1"] == 0.5
    assert made.rows[0].stages()["retrieve"]["k1"] == 0.4


def test_a_row_may_change_settings_of_its_recipe():
    changed = ROW | {"label": "other", "set": {"retrieve.k1": 0.9, "retrieve.stemmer": "none"}}
    made = parse({"table": HEAD, "rows": [ROW, changed]}, "mine", "w")
    assert made.rows[1].name == "bm25-retrieve.k1=0.9-retrieve.stemmer=none"
    assert made.rows[1].stages()["retrieve"] | {"k1": 0.9, "stemmer": "none"} == made.rows[1].stages()["retrieve"]


def test_values_as_labels():
    assert [written(value) for value in (0.25, 3, "a", [0.3, 0.7], [1, "b"])] == ["0.25", "3", "a", "0.3, 0.7", "1, b"]


# ------------------------------------------------------------------------------------------------ paths and folds

STAGES = {"retrieve": [{"kind": "bm25", "k1": 1.0}, {"kind": "dense", "encoder": "onnx:m/fold{fold}/e"}]}


def test_put_replaces_by_path_and_leaves_the_recipe_as_it_was():
    made = put(STAGES, "retrieve.1.k1", 0.5)
    assert made["retrieve"][0] == {"kind": "bm25", "k1": 0.5}
    assert STAGES["retrieve"][0]["k1"] == 1.0
    single = {"retrieve": {"kind": "bm25"}, "rerank": {"kind": "neighbours"}}
    assert put(single, "rerank.1.depth", 5)["rerank"] == {"kind": "neighbours", "depth": 5}
    assert put(single, "fuse", {"kind": "rrf"})["fuse"] == {"kind": "rrf"}


@pytest.mark.parametrize("path", ["fuse.weights", "retrieve.0.k1", "retrieve.3.k1", "retrieve.x.k1", "retrieve.1"])
def test_paths_that_lead_nowhere(path):
    with pytest.raises(RecipeError, match=f"the setting '{path}' leads to nothing in the recipe"):
        put(STAGES, path, 1)


def test_folds_are_put_in_wherever_they_stand():
    assert has_fold(STAGES)
    assert of_fold(STAGES, 3)["retrieve"][1]["encoder"] == "onnx:m/fold3/e"
    assert not has_fold(of_fold(STAGES, 3))
    assert of_fold(STAGES, 3)["retrieve"][0] == STAGES["retrieve"][0]


texts = st.text(alphabet="ab{}fold", max_size=12) | st.just("onnx:m/{fold}/e")
values = st.recursive(
    texts | st.integers() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)


@given(values, st.integers(0, 9))
def test_no_fold_is_left_and_nothing_else_changes(value, fold):
    made = of_fold(value, fold)
    assert not has_fold(made)
    assert (made == value) == (not has_fold(value))
