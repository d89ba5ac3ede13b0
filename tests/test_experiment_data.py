"""What experiments are measured on: questions, gold, folds, the EBA archive, grades."""

from __future__ import annotations

import json

import pytest

from responsa.errors import InputError
from responsa.experiment import data
from responsa.types import Judgement

RULES = [{"id": name, "text": f"The {name} must act.", "number": name, "document": "R"} for name in "abcd"]


@pytest.fixture(scope="module")
def corpus(corpus_of):
    return corpus_of(*RULES)


def write(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def question(name, *passages):
    return {"id": name, "question": f"What of {name}?", "passages": list(passages)}


def read(corpus, asked, gold=(), folds=None, graded=False):
    said = []
    return data.read(asked, gold, folds, corpus, said.append, graded), said


def test_question_files_hold_their_gold(corpus, tmp_path):
    one = write(tmp_path / "one.jsonl", question("q1", "a"), question("q2", "b", "c"))
    two = write(tmp_path / "two.jsonl", question("q3", "d"))
    found, said = read(corpus, [one, two])
    assert [query.id for query in found.queries] == ["q1", "q2", "q3"]
    assert found.judgements == tuple(Judgement(q, p) for q, p in (("q1", "a"), ("q2", "b"), ("q2", "c"), ("q3", "d")))
    assert (found.folds, found.strata, said) == ((), {}, [])


def test_gold_of_its_own_and_what_is_left_out(corpus, tmp_path):
    asked = write(tmp_path / "asked.jsonl", {"id": "q1", "question": "What?"}, {"id": "q2", "question": "Who?"})
    gold = tmp_path / "gold.qrels"
    gold.write_text("q1 0 a 1\nq1 0 b 0\nq9 0 c 1\n")
    found, said = read(corpus, [asked], [gold])
    assert [query.id for query in found.queries] == ["q1"]
    assert found.judgements == (Judgement("q1", "a", 1), Judgement("q1", "b", 0))
    assert said == [
        "1 of 2 questions have no gold and are left out",
        "gold of 1 questions that are not asked is left out",
    ]


def test_refused(corpus, tmp_path):
    asked = write(tmp_path / "asked.jsonl", question("q1", "a"))
    again = write(tmp_path / "again.jsonl", question("q1", "b"))
    with pytest.raises(InputError, match=r"again.jsonl: question 'q1' is in another file too"):
        read(corpus, [asked, again])
    with pytest.raises(InputError, match="cannot be read"):
        read(corpus, [tmp_path / "none.jsonl"])
    other = write(tmp_path / "other.jsonl", question("q1", "a", "z"))
    with pytest.raises(
        InputError, match="1 of 2 gold passages are not in the library, such as 'z'; add their documents"
    ):
        read(corpus, [other])
    gold = tmp_path / "gold.qrels"
    gold.write_text("q7 0 a 1\n")
    with pytest.raises(InputError, match="no question has gold; give the gold of these questions with --gold"):
        read(corpus, [asked], [gold])


def folds_file(path, *tests):
    path.write_text(json.dumps([{"test": list(test), "train": []} for test in tests]))
    return path


def test_folds_are_the_test_questions_in_the_order_of_the_files(corpus, tmp_path):
    asked = write(tmp_path / "asked.jsonl", *(question(f"q{n}", "a") for n in range(5)))
    found, said = read(corpus, [asked], folds=folds_file(tmp_path / "folds.json", ["q3", "q1"], ["q0"]))
    assert [[query.id for query in fold] for fold in found.folds] == [["q1", "q3"], ["q0"]]
    assert [query.id for query in found.queries] == ["q1", "q3", "q0"]
    assert {judgement.query_id for judgement in found.judgements} == {"q0", "q1", "q3"}
    assert said == []


def test_folds_that_cannot_be(corpus, tmp_path):
    asked = write(tmp_path / "asked.jsonl", question("q1", "a"))
    with pytest.raises(InputError, match="fold 1 tests 1 questions that no --questions file holds, such as 'q2'"):
        read(corpus, [asked], folds=folds_file(tmp_path / "folds.json", ["q1"], ["q2"]))
    with pytest.raises(InputError, match="question 'q1' is tested in two folds"):
        read(corpus, [asked], folds=folds_file(tmp_path / "folds.json", ["q1"], ["q1"]))


def test_digests_name_what_is_asked(corpus, tmp_path):
    one = write(tmp_path / "one.jsonl", question("q1", "a"))
    two = write(tmp_path / "two.jsonl", question("q1", "b"))
    first, second = read(corpus, [one])[0].digests, read(corpus, [two])[0].digests
    assert first["questions"] == second["questions"]
    assert first["gold"] != second["gold"]
    assert first["folds"] == ""
    folds = folds_file(tmp_path / "folds.json", ["q1"])
    assert read(corpus, [one], folds=folds)[0].digests["folds"] != ""


def test_grades_of_expert_ratings(corpus, tmp_path):
    path = tmp_path / "ratings.json"
    passages = [
        {"DocumentID": "R", "PassageID": name, "Relation": rating}
        for name, rating in zip("abcd", (1, 2, 0, None), strict=True)
    ]
    path.write_text(json.dumps([{"QuestionID": "q1", "Question": "What?", "Passages": passages}]))
    assert read(corpus, [path], graded=True)[0].judgements == (Judgement("q1", "a", 2), Judgement("q1", "b", 1))
    assert read(corpus, [path])[0].judgements == (Judgement("q1", "a", 1), Judgement("q1", "b", 1))


INQUIRY = {
    "qa_id": "2014_1", "question": "What of the liquidity buffer?", "background": "We hold bonds.", "answer": "", "topic": "",
    "date_submission_date_iso": "2014-01-01", "date_final_publishing_date_iso": "",
}  # fmt: skip


def test_the_eba_archive_has_its_own_gold_and_strata(corpus_of, tmp_path):
    crr = corpus_of(*({"id": f"CRR/{n}", "text": f"Article {n}", "document": "CRR"} for n in (99, 411, 412)))
    path = write(
        tmp_path / "archive.jsonl",
        INQUIRY | {"article": "411"},
        INQUIRY | {"qa_id": "2014_2", "article": "99", "question": "What of Article 99?"},
        INQUIRY | {"qa_id": "2014_3", "article": "412, 129b"},
        INQUIRY | {"qa_id": "2014_4", "article": "N/A"},
    )
    found, said = read(crr, [path])
    assert [query.id for query in found.queries] == ["2014_1", "2014_2", "2014_3"]
    assert found.queries[0].background == "We hold bonds."
    assert [judgement.passage_id for judgement in found.judgements] == ["CRR/411", "CRR/99", "CRR/412", "CRR/129b"]
    assert found.strata == {"rare": {"2014_1", "2014_3"}, "unnamed": {"2014_1", "2014_3"}}
    assert said == [
        "1 of 4 gold passages are not in the library, such as 'CRR/129b'; they count as not found",
        "1 of 4 questions have no gold and are left out",
    ]


def test_an_archive_with_a_byte_order_mark_is_one(corpus_of, tmp_path):
    crr = corpus_of({"id": "CRR/411", "text": "Article 411", "document": "CRR"})
    path = write(tmp_path / "archive.jsonl", INQUIRY | {"article": "411"})
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert [each.id for each in data.archive_of(path)] == ["2014_1"]
    assert read(crr, [path])[0].judgements == (Judgement("2014_1", "CRR/411"),)
