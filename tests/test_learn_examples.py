"""Questions with gold passages: reading, folds, what is dropped, what is kept apart."""

from __future__ import annotations

import json

import pytest

from responsa.errors import InputError
from responsa.learn import archive
from responsa.learn.examples import Example, Fold, hold_out, in_context, load, load_all, read_folds, split
from responsa.models.prompts import read_examples
from responsa.types import Query


def example(name, *passages, also=()):
    return Example(Query(name, f"question {name}"), passages, also)


def ids(examples):
    return [each.query.id for each in examples]


def write(path, rows):
    text = "\n".join(json.dumps(row) for row in rows) if path.suffix == ".jsonl" else json.dumps(rows)
    path.write_text(text, encoding="utf-8")
    return path


def test_written_rows_get_an_id_from_their_content(tmp_path):
    rows = [{"question": "Who reports?", "passages": ["a", "b", "a"]}, {"question": "Who pays?", "passages": ["c"]}]
    first = load(write(tmp_path / "one.jsonl", rows))
    again = load(write(tmp_path / "two.jsonl", rows[::-1]))
    assert first[0].passages == ("a", "b")
    assert first[0].query.text == "Who reports?"
    assert ids(first) == ids(again)[::-1]
    assert len(set(ids(first))) == 2


def test_ids_and_background_are_kept_where_given(tmp_path):
    row = {"id": 7, "question": "Who?", "background": "A bank.", "passages": ["a"]}
    assert load(write(tmp_path / "q.jsonl", [row])) == (Example(Query("7", "Who?", "A bank."), ("a",)),)


def test_obliqa_is_resolved_and_alternatives_are_neither_gold_nor_negative(tmp_path):
    rows = [
        {"QuestionID": "q1", "Question": "Who?", "Passages": [{"DocumentID": 1, "PassageID": "1.1"}]},
        {"QuestionID": "q2", "Question": "What?", "Passages": [{"ID": "u", "Relation": 0}]},
    ]
    found = load(write(tmp_path / "dev.json", rows), lambda document, number: [f"{document}-{number}", "other"])
    assert found == (Example(Query("q1", "Who?"), ("1-1.1",), ("other",)),)


@pytest.mark.parametrize(
    ("row", "complaint"),
    [
        ({"passages": ["a"]}, "'question' must be a text"),
        ({"question": " ", "passages": ["a"]}, "'question' is empty"),
        ({"question": "Who?"}, "'passages' must be a list"),
        ({"question": "Who?", "passages": []}, "at least one"),
        ({"question": "Who?", "passages": [1]}, "'passages' must be a list"),
        ({"question": "Who?", "passages": ["a"], "id": "a b"}, "white space"),
        ({"question": "Who?", "passages": ["a"], "background": 3}, "'background' must be a text"),
        (["Who?"], "expected an object"),
    ],
)
def test_what_is_wrong_with_a_row_is_said_with_its_place(tmp_path, row, complaint):
    path = write(tmp_path / "q.jsonl", [{"question": "Fine?", "passages": ["a"]}, row])
    with pytest.raises(InputError, match=f"q.jsonl, line 2.*{complaint}"):
        load(path)


def test_files_that_cannot_be_used(tmp_path):
    (tmp_path / "broken.jsonl").write_text("{", encoding="utf-8")
    (tmp_path / "latin.jsonl").write_bytes(b"\xff")
    (tmp_path / "empty.jsonl").write_text("\n", encoding="utf-8")
    for name, complaint in (
        ("broken", "not valid JSON"),
        ("latin", "not UTF-8"),
        ("empty", "holds no question"),
        ("missing", "cannot be read"),
    ):
        with pytest.raises(InputError, match=complaint):
            load(tmp_path / f"{name}.jsonl")
    path = write(tmp_path / "q.jsonl", [{"question": "Who?", "passages": ["a"]}])
    with pytest.raises(InputError, match="there twice"):
        load_all([path, path])


def test_folds_and_what_shares_a_passage_with_their_test_part(tmp_path):
    path = write(tmp_path / "folds.json", [{"test": ["t"], "train": ["r"]}])
    (fold,) = read_folds(path)
    parts = [example("t", "a", also=("x",)), example("r", "b"), example("w1", "c", "a"), example("w2", "c"), example("w3", "x")]  # fmt: skip
    found = split(parts, fold)
    assert (ids(found.test), ids(found.train), found.dropped) == (["t"], ["r", "w2"], ("w1", "w3"))
    with pytest.raises(InputError, match="1 questions of the fold are in no file given, the first 'r'"):
        split(parts[:1], fold)


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ("[]", "expected a list of folds"),
        ("{", "not valid JSON"),
        ('[{"test": ["a"]}]', "fold 0: 'train'"),
        ('[{"test": ["a"], "train": ["a"]}]', "'a' is in test and train"),
        ('[{"test": "a", "train": []}]', "'test' must be a list"),
    ],
)
def test_folds_that_cannot_be_used(tmp_path, value, complaint):
    (tmp_path / "folds.json").write_text(value, encoding="utf-8")
    with pytest.raises(InputError, match=complaint):
        read_folds(tmp_path / "folds.json")


def test_what_is_kept_apart_shares_no_passage_with_the_rest():
    parts = [example(f"q{row}", f"p{row // 2}", f"s{row // 4}") for row in range(40)]
    learned, kept = hold_out(parts, 9, seed=1)
    assert len(kept) == 8
    assert len(learned) + len(kept) == 40
    gold = [{passage for each in part for passage in each.passages} for part in (learned, kept)]
    assert gold[0].isdisjoint(gold[1])
    assert hold_out(parts, 9, seed=1) == (learned, kept)
    assert hold_out(parts, 9, seed=2) != (learned, kept)
    with pytest.raises(InputError, match="all share gold passages"):
        hold_out([example("a", "p"), example("b", "p")], 1, seed=0)


def test_an_archive_gives_cited_articles_and_leaves_one_out(tmp_path):
    rows = [
        {"question": "Does Article 26(1) apply?", "background": "See Article 28.", "articles": ["25"]},
        {"question": "Which form?", "background": "", "articles": ["99"]},
        {"question": "What of 400?", "background": "", "articles": ["400"]},
    ]
    path = write(tmp_path / "written.jsonl", rows)
    known = {"25": ["a25"], "26": ["a26"], "28": ["a28", "b28"], "99": ["a99"]}
    found = archive.load(path, lambda article: known.get(article, ()))
    assert [each.passages for each in found.examples] == [("a25", "a26", "a28", "b28")]
    assert (len(found.left_out), len(found.unresolved)) == (1, 1)
    answered = write(tmp_path / "answered.jsonl", [rows[0] | {"answer": "As in Article 400 and Article 99."}])
    full = archive.load(answered, lambda article: {"400": ["a400"], **known}.get(article, ()))
    assert [each.passages for each in full.examples] == [("a25", "a26", "a28", "b28", "a400")]
    alone = archive.load(path, lambda article: known.get(article, ()), archive.Archive((), references=False))
    assert [each.passages for each in alone.examples] == [("a25",), ("a99",)]
    with pytest.raises(InputError, match="no inquiry cites an article"):
        archive.load(path, lambda _: ())


def test_the_given_sets_load_and_folds_are_disjoint(data):
    numbers: dict[tuple[str, str], list[str]] = {}
    for path in (data / "obliqa" / "documents").glob("*.json"):
        for row in json.loads(path.read_text(encoding="utf-8")):
            numbers.setdefault((str(row["DocumentID"]), row["PassageID"]), []).append(row["ID"])
    files = [data / "obliqa" / name for name in ("dev.json", "train_extra.json", "train_written.jsonl")]
    found = load_all(files, lambda document, number: numbers.get((document, number), []))
    assert len(found) > 5000
    for fold in read_folds(data / "obliqa" / "folds.json"):
        parts = split(found, fold)
        tested = {passage for each in parts.test for passage in each.passages}
        assert tested.isdisjoint(passage for each in parts.train for passage in each.passages)
    assert isinstance(fold, Fold)


def test_of_a_small_file_no_more_than_a_fifth_is_set_apart():
    rows = [example(f"q{number}", f"p{number}") for number in range(40)]
    learned, held = hold_out(rows, 200, seed=0)
    assert (len(learned), len(held)) == (32, 8)


def test_questions_with_the_text_of_a_gold_passage(corpus_of, tmp_path):
    corpus = corpus_of(("a", " "), ("b", "A firm must keep records."), ("c", "A bank must report."))
    found = [example("1", "a", "b", "c"), example("2", "a"), example("3", "c")]
    made = in_context(found, corpus)
    assert made == [
        {"question": "question 1", "passage": "A firm must keep records."},
        {"question": "question 3", "passage": "A bank must report."},
    ]
    path = write(tmp_path / "examples.jsonl", made)
    assert read_examples(path) == [(row["question"], row["passage"]) for row in made]
    with pytest.raises(InputError, match="question '4': its passage 'd' is not in the library"):
        in_context([example("4", "d")], corpus)
