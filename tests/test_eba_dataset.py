from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from responsa import questions
from responsa.cli.app import app
from responsa.corpus import library, readers
from responsa.corpus.library import Library
from responsa.errors import InputError, ReadError
from responsa.evaluate.trec import read_gold
from responsa.learn.eba import consolidations, read
from responsa.learn.eba.dataset import open_source, write
from responsa.learn.eba.training import act_to_learn, examples
from responsa.learn.examples import load, read_folds

LONG = "liquidity " * 1200  # more characters than question files may hold


def qa(name: str, article: str, question: str, **changes: object) -> dict[str, object]:
    row = {
        "qa_id": name,
        "topic": "Own funds",
        "article": article,
        "question": question,
        "background": "The institution asks this.",
        "answer": "Article 9 CRR applies to the haircut of collateral.",
        "date_submission_date_iso": "2019-05-01",
        "date_final_publishing_date_iso": "2019-09-01",
    }
    return row | changes


ARCHIVE = [
    qa("2019_1", "4", "What is a haircut of collateral?"),
    qa("2019_2", "99", "How is Article 99 CRR to be read for the template?", answer="As it stands."),
    qa("2019_3", "N/A", "What is the annex for?", background=LONG),
    qa("2019_4", "9", "Wie ist das zu melden, wenn die Position nicht in der Meldung steht?", background="Und das?"),
    qa("2019_5", "429e", "Is a loan an exposure?", date_submission_date_iso="2021-02-01"),
]
WRITTEN = [
    {"question": "When is a deposit stable?", "background": "It is insured.", "articles": ["9"]},
    {"question": "WHAT is a haircut  of collateral?", "background": "As asked before.", "articles": ["4"]},
]


def provision(article: str, text: str) -> dict[str, object]:
    return {"anchor": f"art_{article}", "heading": f"Heading {article}", "path": ["PART ONE"], "text_md": text}


EARLY = [
    provision("4", "1. A loan is an exposure.\n\n2. A haircut lowers the value of collateral.\n\n(a) daily;"),
    provision("9", "Deposits that are insured are stable."),
    provision("99", "1. Institutions report.\n\n1a. Templates are set."),
]
LATE = [provision("4", "1. Words of later."), *EARLY[1:], provision("429e", "A loan counts.")]


def lines(path: Path, rows: list[Any]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    given = tmp_path / "eba"
    (given / "law").mkdir(parents=True)
    lines(given / "train.jsonl", ARCHIVE[:4])
    lines(given / "validation.jsonl", ARCHIVE[4:])
    lines(given / "written.jsonl", WRITTEN)
    for start, end, rows in (("2018-01-01", "2019-12-31", EARLY), ("2020-12-28", None, LATE)):
        act = {"title": "CRR", "valid_from": start, "valid_to": end, "provisions": rows}
        (given / "law" / f"{start}.json").write_text(json.dumps(act), encoding="utf-8")
    return given


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_files_are_those_that_commands_read(folder, tmp_path):
    out = tmp_path / "new" / "out"
    report = write(open_source(folder, folder / "law"), out, n=2)
    asked = questions.read(out / "questions.jsonl")
    assert [query.id for query in asked] == ["2019_1", "2019_2", "2019_3", "2019_5"]
    assert len(asked[2].background) <= questions.MOST_CHARACTERS
    gold = {name: read_gold(out / f"qrels{name}.txt") for name in ("", "-rare", "-unnamed", "-cited")}
    assert [(item.query_id, item.passage_id) for item in gold[""]] == [
        ("2019_1", "CRR/4"),
        ("2019_2", "CRR/99"),
        ("2019_5", "CRR/429e"),
    ]
    assert [item.query_id for item in gold["-rare"]] == ["2019_1", "2019_5"]
    assert [item.query_id for item in gold["-unnamed"]] == ["2019_1", "2019_5"]
    assert {item.passage_id for item in gold["-cited"]} == {"CRR/9"}
    assert rows_of(out / "versions.jsonl")[-1] == {
        "id": "2019_5",
        "submitted": "2021-02-01",
        "valid_from": "2020-12-28",
        "approximate": False,
    }
    folds = read_folds(out / "folds.json")
    assert sorted(name for fold in folds for name in fold.test) == [query.id for query in asked]
    assert report.counts | {"folds": None} == {
        "inquiries": 5,
        "not_english": 1,
        "without_gold": 1,
        "gold": 3,
        "cited": 3,
        "approximate": 0,
        "shortened": 1,
        "written": 2,
        "written_copies": 1,
        "examples": 4,
        "strata": {"all": 3, "rare": 2, "unnamed": 2},
        "versions": {"2018-01-01": 3, "2020-12-28": 1},
        "folds": None,
    }
    assert sum(report.folds) == 4


def test_the_act_goes_into_a_library(folder, tmp_path):
    write(open_source(folder, folder / "law"), tmp_path)
    (articles,) = readers.read(tmp_path / "crr" / "2018-01-01-articles.jsonl")
    assert [passage.id for passage in articles.passages] == ["CRR/4", "CRR/9", "CRR/99"]
    (parts,) = readers.read(tmp_path / "crr" / "2018-01-01-paragraphs.jsonl")
    assert [(p.id, p.number, p.parent_id) for p in parts.passages if p.parent_id] == [
        ("CRR/4/1", "Article 4(1)", "CRR/4"),
        ("CRR/4/2", "Article 4(2)", "CRR/4"),
        ("CRR/9/p", "Article 9", "CRR/9"),
        ("CRR/99/1", "Article 99(1)", "CRR/99"),
        ("CRR/99/1a", "Article 99(1a)", "CRR/99"),
    ]
    assert [p.text for p in parts.passages if not p.parent_id] == ["", "", ""]
    assert parts.passages[2].path == ("PART ONE", "Heading 4")
    report = library.add(tmp_path / "library", [tmp_path / "training" / "act.jsonl"], lambda _: None)
    assert not report.refused


def test_training_examples_name_the_paragraph_that_the_answer_is_about(folder, tmp_path):
    write(open_source(folder, folder / "law"), tmp_path)
    found = {example.query.id: example.passages for example in load(tmp_path / "training" / "examples.jsonl")}
    assert found == {
        "2019_1": ("CRR/4/2",),  # "haircut", "collateral"
        "2019_2": ("CRR/99/1a",),  # nothing of the answer; the question has "template"
        "2019_5": ("CRR/429e/p",),  # an article of a later version
        "written-1": ("CRR/9/p",),
    }
    folds = read_folds(tmp_path / "training" / "folds.json")
    assert {frozenset(fold.test | fold.train) for fold in folds} == {frozenset(found)}
    assert all("written-1" in fold.train for fold in folds)
    ranker = read_folds(tmp_path / "training" / "folds-crr-ranker.json")
    # Without Article 99; with the one that has no article of its own, but cites Article 9 in the answer.
    assert {frozenset(fold.test | fold.train) for fold in ranker} == {frozenset(found) - {"2019_2"} | {"2019_3"}}


def test_the_act_to_learn_is_one_text_with_what_came_later(folder):
    act = act_to_learn(consolidations(folder / "law"), read(folder / "train.jsonl") + read(folder / "validation.jsonl"))
    assert [(p.id, p.text[:9]) for p in act.passages] == [
        ("CRR/4", "1. A loan"),
        ("CRR/9", "Deposits "),
        ("CRR/99", "1. Instit"),
        ("CRR/429e", "A loan co"),
    ]
    assert (act.valid_from, act.valid_to) == (None, None)
    with pytest.raises(InputError, match="no inquiry has a submission date"):
        act_to_learn(consolidations(folder / "law"), read(folder / "written.jsonl"))


def test_an_inquiry_whose_article_is_not_held_is_left_out(folder, tmp_path):
    write(open_source(folder, folder / "law"), tmp_path)
    library.add(tmp_path / "library", [tmp_path / "crr" / "2018-01-01-paragraphs.jsonl"], lambda _: None)
    with Library.open(tmp_path / "library") as opened:
        assert examples(read(folder / "validation.jsonl"), opened.corpus()) == ()


def test_the_same_bytes_twice(folder, tmp_path):
    source = open_source(folder, folder / "law")
    for name in ("one", "two"):
        write(source, tmp_path / name)
    one, two = (
        {path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).rglob("*.*")}
        for name in ("one", "two")
    )
    assert one == two
    assert len(one) == 16


def test_nothing_written_for_training(folder, tmp_path):
    (folder / "written.jsonl").unlink()
    report = write(open_source(folder, folder / "law"), tmp_path)
    assert (report.written, report.examples) == (0, 3)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("train.jsonl", None, "train.jsonl: cannot be read"),
        ("validation.jsonl", None, "validation.jsonl: cannot be read"),
        ("validation.jsonl", "{", "validation.jsonl: line 1: not JSON"),
        ("validation.jsonl", "", "validation.jsonl: holds no inquiry"),
        ("written.jsonl", '{"question": "a", "background": "b"}', "written.jsonl: line 1: neither 'qa_id' nor"),
        ("law/2018-01-01.json", "[]", "2018-01-01.json: no object"),
        ("law/2018-01-01.json", '{"valid_from": ""}', "'valid_from' is empty"),
        ("law/2018-01-01.json", '{"valid_from": "2018"}', "'2018', no date"),
    ],
)
def test_what_is_missing_or_malformed_is_named(folder, name, content, words):
    path = folder / name
    path.unlink()
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(ReadError) as caught:
        open_source(folder, folder / "law")
    assert words in str(caught.value)


def test_no_folder_of_the_act(folder):
    with pytest.raises(ReadError, match="holds no article file"):
        open_source(folder, folder / "none")


def test_an_id_in_two_files(folder):
    lines(folder / "validation.jsonl", ARCHIVE[:1])
    with pytest.raises(InputError, match="the id '2019_1' is in two of its files"):
        open_source(folder, folder / "law")


def test_an_archive_in_another_language(folder):
    lines(folder / "train.jsonl", [ARCHIVE[3]])
    lines(folder / "validation.jsonl", [ARCHIVE[3] | {"qa_id": "other"}])
    with pytest.raises(InputError, match="no inquiry is in English"):
        open_source(folder, folder / "law")


def test_the_target_is_a_file(folder, tmp_path):
    (tmp_path / "out").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match="out"):
        write(open_source(folder, folder / "law"), tmp_path / "out")


def test_the_command(folder, tmp_path):
    arguments = ["dataset", "eba", str(folder), "--law", str(folder / "law"), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0
    assert "5 inquiries: 1 not in English, 1 without gold" in done.stdout
    assert "strata: all 3, rare 2, unnamed 2" in done.stdout
    assert "of the archive and of 2 written inquiries" in done.stdout
    assert "1 cut to the length" in done.stderr
    done = CliRunner().invoke(app, [*arguments, "--folds", "3", "--json"])
    assert len(json.loads(done.stdout)["folds"]) == 3
    done = CliRunner().invoke(app, ["dataset", "eba", str(tmp_path), *arguments[3:]])
    assert isinstance(done.exception, ReadError)
    assert CliRunner().invoke(app, [*arguments, "--folds", "1"]).exit_code == 2


@pytest.mark.slow
def test_the_archive_as_a_data_set(data, tmp_path):
    report = write(open_source(data / "eba_qa", data / "eu_law/articles/32013r0575"), tmp_path)
    assert (report.inquiries, report.not_english, report.without_gold) == (982, 0, 15)
    assert report.strata == {"all": 967, "rare": 577, "unnamed": 643}
    assert list(report.versions.values()) == [756, 225, 1, 0, 0]
    assert (report.approximate, report.gold, report.cited, report.written_copies) == (438, 1129, 1340, 0)
    assert report.examples > 1500
    texts = {row["id"]: row for row in rows_of(tmp_path / "crr/2018-01-01-paragraphs.jsonl")}
    whole = {row["id"]: row["text"].split() for row in rows_of(tmp_path / "crr/2018-01-01-articles.jsonl")}
    for name, words in whole.items():
        parts = [row["text"] for row in texts.values() if row.get("parent") == name]
        assert " ".join(parts).split() == words
    newest = max(date.fromisoformat(path.name[:10]) for path in (tmp_path / "crr").iterdir())
    assert newest == date(2026, 6, 26)
