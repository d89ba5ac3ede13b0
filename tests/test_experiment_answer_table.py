"""Tables of answers: those that ship, those of the user, and rows for several models and numbers of passages."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from responsa import recipe
from responsa.answer.generators.base import Generator
from responsa.answer.generators.inquiry import FewShot, MultiStep
from responsa.answer.generators.vrr import Vrr
from responsa.errors import InputError, NotFound, RecipeError
from responsa.experiment import answer_table
from responsa.experiment.answer_table import AnswerRow, at_hand, crossed, gather, parse, slug
from responsa.experiment.answers import plan

NAMES = ["aueb-3", "aueb-4", "aueb-5", "aueb-6", "aueb-7", "clic-3", "crr-4", "eba-liquidity", "rirag-5"]


def one(name):
    (found,), others = gather([name])
    assert others == []
    return found


def test_the_tables_of_the_papers_ship():
    assert answer_table.shipped() == NAMES
    assert [len(one(name).rows) for name in NAMES] == [5, 3, 8, 3, 10, 3, 8, 6, 2]
    for name in NAMES:
        assert one(name).title
        assert name == "eba-liquidity" or (one(name).source and any(row.published for row in one(name).rows))


@pytest.mark.parametrize("name", NAMES)
def test_every_row_is_a_recipe_that_writes(name):
    for row in one(name).rows:
        if row.recipe:
            assert answer_table.writes(recipe.read(row.recipe))
            assert plan(row).name == row.system


# Table of ours -> its paper, and a row as the paper prints it: label, then figures.
PRINTED = {
    "aueb-3": ("aueb", "{RePASs:.4f}"),
    "aueb-4": ("aueb", "{RePASs:.3f} {coverage:.3f} {entailment:.3f} {contradiction:.3f}"),
    "aueb-5": ("aueb", "{RePASs:.3f} {coverage:.3f} {entailment:.3f} {contradiction:.3f}"),
    "aueb-6": ("aueb", "{RePASs:.3f}"),
    "aueb-7": ("aueb", "{RePASs:.3f} {coverage:.3f} {entailment:.3f} {contradiction:.3f}"),
    "crr-4": ("bank-of-italy", "{average:.2f} {deviation:.2f} {correct:.0f} {share:g}"),
    "rirag-5": ("rirag", "{entailment:.3f} {contradiction:.3f} {coverage:.3f} {RePASs:.3f}"),
}


def papers():
    root = Path(__file__).resolve().parents[1]
    data = Path(os.environ.get("RESPONSA_DATA") or root.parent / "shared" / "data")
    if not (data.parent / "papers").is_dir():
        pytest.skip(f"no papers beside {data}")
    return data.parent / "papers"


@pytest.mark.parametrize("name", sorted(PRINTED))
def test_published_figures_are_those_of_the_papers(name):
    paper, form = PRINTED[name]
    (path,) = papers().glob(f"{paper}*.txt")
    text = re.sub(r"<[^>]*>|[*±]|\((?![±])[\d.]+\)", " ", path.read_text(encoding="utf-8"))
    lines = [" ".join(re.findall(r"\d+(?:\.\d+)?", line)) for line in text.replace("(", " ").splitlines()]
    for row in one(name).rows:
        if row.published:
            figures = {**row.published, "share": row.published.get("correct %")}
            wanted = form.format(**figures)
            assert [line for line in lines if re.search(rf"(?:^| ){re.escape(wanted)}(?: |$)", line)], (row, wanted)


def test_the_counts_of_ratings_are_those_of_the_paper():
    (path,) = papers().glob("clic*.txt")
    (line,) = [line for line in path.read_text(encoding="utf-8").splitlines() if "Table 3 3 " in line]
    cells = ["", *line.rpartition("(gpt4o)")[2].split()]
    for column, row in enumerate(one("clic-3").rows, 1):
        assert [cells[4 * place + column + 1] for place in range(4)] == [
            str(row.published[f"rated {n}"]) for n in (1, 2, 3, 4)
        ]
        assert sum(row.published.values()) == 46


def test_filters_and_rounds_are_those_of_the_papers():
    chosen = [(made.select.threshold, made.select.drop) for made in map(plan, one("aueb-3").rows)]
    assert chosen == [(0.7, 0.2), (0.75, 0.05), (0.8, 0.05), (0.85, 0.15), (0.9, 0.1)]
    steps = one("aueb-7").rows
    assert {row.system for row in steps} == {"aueb-vrr-4"}
    made = plan(steps[0]).answer
    assert isinstance(made, Vrr)
    assert (made.rounds, made.behaviour) == (4, "published")


def test_the_shipped_experiment_needs_no_model_but_the_users_own():
    made = [plan(row) for row in one("eba-liquidity").rows]
    assert all(isinstance(each.answer, Generator) and each.answer.model == "" for each in made)
    backgrounds = [each.answer.background for each in made]
    assert backgrounds == [False, *[True] * 5]
    assert [each.answer.top for each in made if isinstance(each.answer, MultiStep)] == [5, 10, 20]


# --- the user's own


PASSAGES = '[retrieve]\nkind = "bm25"\n[answer]\nkind = "passages"\nmodel = "openai:gpt-4o"\n'


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.toml").write_text(PASSAGES)
    (tmp_path / "plain.toml").write_text('[retrieve]\nkind = "bm25"\n')
    return tmp_path


def test_recipes_that_write_are_a_table_and_the_others_are_of_retrieval(here):
    tables, others = gather(["own.toml", "bm25", "aueb-1", "crr-4", "plain.toml"])
    assert [table.name for table in tables] == ["crr-4", "answers"]
    assert others == ["bm25", "aueb-1", "plain.toml"]
    assert (tables[1].scores, tables[1].rows[0].name) == ("repass", "own")
    assert gather(["own.toml"], "ratings")[0][0].measures == ("average", "deviation", "correct", "correct %")
    with pytest.raises(NotFound, match="no table or recipe 'crr-44'; did you mean 'crr-4'"):
        gather(["crr-44"])


def test_a_row_for_each_model_and_number_of_passages(here):
    (here / "noc.toml").write_text('[retrieve]\nkind = "bm25"\n[answer]\nkind = "noc"\n')
    (here / "zero.toml").write_text('[retrieve]\nkind = "bm25"\n[answer]\nkind = "zero-shot"\n')
    table = crossed(gather(["own.toml", "noc.toml", "zero.toml"])[0][0], ["openai:a", "openai:b"], [5, 10])
    assert [row.name for row in table.rows] == [
        "own-openai_a-k=5", "own-openai_a-k=10", "own-openai_b-k=5", "own-openai_b-k=10",
        "noc-k=5", "noc-k=10", "zero-openai_a", "zero-openai_b",
    ]  # fmt: skip
    made = plan(table.rows[1])
    assert (made.answer.model, made.select.most) == ("openai:a", 10)
    assert table.rows[1].label == "own, openai:a, k=10"
    assert plan(table.rows[5]).select.most == 10


def test_the_number_of_articles_and_the_reranker_follow():
    row = next(row for row in one("crr-4").rows if "reranker" in row.label)
    made = plan(crossed(one("crr-4"), ["http://h/v1#m"], [7]).rows[one("crr-4").rows.index(row)])
    assert made.answer.top == 7
    assert made.retrieve.rerank[1].model == made.answer.model == "http://h/v1#m"


def test_files_are_looked_for_here_and_then_in_the_data(here, monkeypatch):
    monkeypatch.delenv("RESPONSA_DATA", raising=False)
    (here / "data" / "eba_qa").mkdir(parents=True)
    there = here / "data" / "eba_qa" / "train.jsonl"
    there.touch()
    assert at_hand("eba_qa/train.jsonl") == Path("eba_qa/train.jsonl")
    monkeypatch.setenv("RESPONSA_DATA", str(here / "data"))
    assert at_hand("eba_qa/train.jsonl") == there
    made = plan(AnswerRow("crr-few-shot", "x")).answer
    assert isinstance(made, FewShot)
    assert made.examples == str(there)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[table]\ntitle = "T"\nscores = "stars"\n[[rows]]\nrecipe = "aueb-noc"\n', "'stars' is not one of"),
        ('[table]\ntitle = "T"\nscores = "repass"\n', "no row"),
        ('[table]\ntitle = "T"\nscores = "repass"\nmeasures = ["RePAS"]\n[[rows]]\nrecipe = "a"\n', "did you mean 'RePASs'"),
        ('[table]\ntitle = "T"\nscores = "repass"\n[[rows]]\nlabel = "a"\n', "give a recipe, or a label with published"),
        ('[table]\ntitle = "T"\nscores = "repass"\n[[rows]]\nrecipe = "a"\npublished = { average = 2 }\n', "unknown 'average'"),
        ('[table]\ntitle = "T"\nscores = "ratings"\n[[rows]]\nrecipe = "a"\npublished = { average = "2" }\n', "expected a number"),
        ('[table]\ntitle = "T"\nscores = "ratings"\n[[rows]]\nrecipe = "a"\n[[rows]]\nrecipe = "a"\n', "rows of one name"),
        ('[sweep]\n[table]\ntitle = "T"\nscores = "ratings"\n', "unknown key 'sweep'"),
    ],
)  # fmt: skip
def test_tables_that_cannot_be(text, message):
    from responsa import config

    with pytest.raises(RecipeError, match=re.escape(message)):
        parse(config.parse(text, "t"), "t", "t")


def test_a_step_is_of_vrr_alone():
    with pytest.raises(InputError, match="only the published behaviour of vrr has steps"):
        plan(AnswerRow("aueb-noc", "NOC", step="verified"))


def test_names_of_models_as_parts_of_file_names():
    assert slug("http://h:1/v1#a/b?temperature=0.5") == "http_h_1_v1_a_b_temperature_0.5"
    long = slug("x" * 100)
    assert len(long) == 69
    assert long != slug("x" * 101)
