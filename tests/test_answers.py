"""Saved answers: what becomes of their citations when the rules change."""

from __future__ import annotations

from datetime import date

import pytest

from helpers import add, alter, remove, write_rows, write_rulebook
from responsa.corpus import answers, library
from responsa.corpus.library import Library
from responsa.errors import NotFound
from responsa.types import Answer, AnswerSentence, Citation, Query, Ranking

CLAUSES = ["A Ferry must carry lifeboats. It may carry goats.", "A Captain must be sober."]
QUOTED = "It may carry goats."


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "library"


@pytest.fixture
def rules(folder, tmp_path):
    path = write_rulebook(tmp_path / "ferry.md", CLAUSES)
    add(folder, path)
    return path


def answer(folder, *quotes):
    """An answer that quotes each (passage id, start, end) of the version in force."""
    with Library.open(folder) as opened:
        version = opened.corpus().versions[0].digest
    citations = [Citation(passage_id, version, start, end, 0, end - start) for passage_id, start, end in quotes]
    sentences = tuple(AnswerSentence("x", 0, 1, (citation,)) for citation in citations)
    return Answer(Query("q", "May a ferry carry goats?"), "It may.", sentences, Ranking.of("q", []), 1.0)


def save(folder, value, as_of=None):
    with library.writer(folder) as db:
        return answers.save(db, value, "bm25", as_of)


def check(folder):
    with Library.open(folder) as opened:
        return list(answers.check(opened.db))


def states(folder):
    return [each.state for each in check(folder)]


@pytest.fixture
def saved(folder, rules):
    return save(folder, answer(folder, ("ferry/1.1", 30, 49), ("ferry/1.2", 0, 24)))


def test_are_stored_with_their_citations(folder, saved):
    with Library.open(folder) as opened:
        version = opened.corpus().versions[0].digest
        asked_at, question, recipe, text = opened.db.execute(
            "SELECT asked_at, question, recipe, text FROM answers WHERE id = ?", (saved,)
        ).fetchone()
        citations = opened.db.execute("SELECT * FROM citations ORDER BY answer_id, ordinal").fetchall()
    assert (question, recipe, text) == ("May a ferry carry goats?", "bm25", "It may.")
    assert asked_at.endswith("+00:00")
    assert citations == [
        (saved, 0, "ferry", "ferry/1.1", "1.1", version, 30, 49, 0, 19, QUOTED),
        (saved, 1, "ferry", "ferry/1.2", "1.2", version, 0, 24, 0, 24, CLAUSES[1]),
    ]
    assert [(each.answer, each.number, each.state, each.reason) for each in check(folder)] == [
        (saved, "1.1", "holds", ""),
        (saved, "1.2", "holds", ""),
    ]


def test_are_numbered(folder, saved):
    assert save(folder, answer(folder, ("ferry/1.2", 0, 1))) == saved + 1
    assert [each.answer for each in check(folder)] == [saved, saved, saved + 1]


def test_an_answer_without_citations(folder, rules):
    save(folder, answer(folder))
    assert check(folder) == []


def test_a_changed_clause_supersedes(folder, rules, saved):
    write_rulebook(rules, [CLAUSES[0], "A Captain must be awake."])
    add(folder, rules)
    assert states(folder) == ["holds", "superseded"]
    changed = check(folder)[1]
    assert changed.reason == "the version in force words the clause differently"
    assert "".join(piece.text for piece in changed.words if piece.op != "added") == CLAUSES[1]
    assert "".join(piece.text for piece in changed.words if piece.op != "deleted") == "A Captain must be awake."
    write_rulebook(rules, CLAUSES)
    add(folder, rules)
    assert states(folder) == ["holds", "holds"]


def test_a_dropped_clause_supersedes(folder, rules, saved):
    write_rulebook(rules, CLAUSES[:1])
    add(folder, rules)
    assert states(folder) == ["holds", "superseded"]
    assert check(folder)[1].reason == "the version in force has no such clause"


def test_a_clause_under_another_number_is_named(folder, rules, saved):
    write_rulebook(rules, CLAUSES[1:])
    add(folder, rules)
    assert check(folder)[1].reason == "the version in force has these words as 1.1"


def superseded(db):
    return list(dict.fromkeys(each.answer for each in answers.check(db) if each.state == "superseded"))


def test_stale_answers_are_those_with_a_superseded_citation(folder, rules, saved):
    unaffected = save(folder, answer(folder, ("ferry/1.1", 0, 1)))
    with Library.open(folder) as opened:
        assert superseded(opened.db) == []
    write_rulebook(rules, [CLAUSES[0], "A Captain must be awake."])
    add(folder, rules)
    with Library.open(folder) as opened:
        assert superseded(opened.db) == [saved]
    assert saved != unaffected


def test_white_space_alone_supersedes_nothing(folder, tmp_path):
    row = {"id": "ferry/1.1", "document": "ferry", "number": "1.1"}
    rows = tmp_path / "ferry.jsonl"
    add(folder, write_rows(rows, [row | {"text": "A Ferry must float."}]))
    save(folder, answer(folder, ("ferry/1.1", 0, 7)))
    add(folder, write_rows(rows, [row | {"text": "A Ferry must\n float."}]))
    assert states(folder) == ["holds"]
    add(folder, write_rows(rows, [row | {"text": "A Ferry may float."}]))
    assert states(folder) == ["superseded"]


def test_a_dropped_document_supersedes(folder, rules, saved):
    write_rulebook(rules, ["A goat must be fed."], document="goat")
    add(folder, rules)
    assert states(folder) == ["superseded", "superseded"]


def test_the_next_edition_supersedes(folder, rules, saved):
    write_rulebook(rules, [CLAUSES[0], "A Captain must be awake."], valid_from="2024-01-01")
    add(folder, rules)
    assert states(folder) == ["holds", "superseded"]


def test_a_removed_document_breaks(folder, rules, saved):
    remove(folder, "ferry")
    assert states(folder) == ["broken", "broken"]
    assert check(folder)[0].reason == f'the version cited is no longer in the library; it said "{QUOTED}"'
    add(folder, rules)
    assert states(folder) == ["holds", "holds"]


def test_altered_text_breaks(folder, rules, saved):
    alter(
        folder, "UPDATE passages SET text = 'A Ferry must carry lifeboats. It must carry goats.' WHERE number = '1.1'"
    )
    assert states(folder) == ["broken", "holds"]
    assert check(folder)[0].reason == f'the stored text has changed; it said "{QUOTED}"'


def test_a_long_quotation_is_shortened_in_the_reason(folder, rules):
    write_rulebook(rules, ["A Ferry must carry " + "many " * 40 + "lifeboats."])
    add(folder, rules)
    save(folder, answer(folder, ("ferry/1.1", 0, 200)))
    remove(folder, "ferry")
    assert check(folder)[0].reason.endswith('many man..."')


def test_a_version_removed_before_saving(folder, rules):
    value = answer(folder, ("ferry/1.1", 30, 49))
    remove(folder, "ferry")
    save(folder, value)
    assert states(folder) == ["broken"]


def test_an_answer_as_of_a_day_is_compared_with_the_law_of_that_day(folder, tmp_path):
    add(folder, write_rulebook(tmp_path / "old.md", CLAUSES, document="ferry", valid_from="2020-01-01"))
    then = answer(folder, ("ferry/1.1", 30, 49))
    save(folder, then, date(2021, 5, 1))
    save(folder, then)
    add(folder, write_rulebook(tmp_path / "new.md", ["No goats."], document="ferry", valid_from="2022-01-01"))
    assert states(folder) == ["holds", "superseded"]
    # A version that was in force on that day and comes to the library later.
    add(folder, write_rulebook(tmp_path / "mid.md", ["Few goats."], document="ferry", valid_from="2021-01-01"))
    assert states(folder) == ["superseded", "superseded"]


def test_are_listed(folder, rules, saved):
    later = save(folder, answer(folder), date(2024, 5, 1))
    with Library.open(folder) as opened:
        listed = answers.saved(opened.db)
        (asked_at,) = opened.db.execute("SELECT asked_at FROM answers WHERE id = ?", (saved,)).fetchone()
    question = "May a ferry carry goats?"
    assert listed[0] == answers.SavedAnswer(saved, asked_at, question, None, "bm25", "It may.")
    assert [(each.number, each.as_of) for each in listed] == [(saved, None), (later, date(2024, 5, 1))]


def test_can_be_removed_one_by_one(folder, saved):
    kept = save(folder, answer(folder, ("ferry/1.2", 0, 1)))
    with library.writer(folder) as db:
        answers.remove(db, saved)
        assert [each.number for each in answers.saved(db)] == [kept]
    assert [each.answer for each in check(folder)] == [kept]


@pytest.mark.parametrize("number", [0, -1, 77, 10**30])
def test_removing_an_answer_that_is_not_there(folder, saved, number):
    with pytest.raises(NotFound, match=f"no saved answer {number}; saved are: {saved}"):  # noqa: SIM117
        with library.writer(folder) as db:
            answers.remove(db, number)
    assert len(check(folder)) == 2


def test_how_many_cite_a_document(folder, saved):
    save(folder, answer(folder, ("ferry/1.2", 0, 1)))
    save(folder, answer(folder))
    with Library.open(folder) as opened:
        assert [answers.citing(opened.db, document) for document in ("ferry", "goat")] == [2, 0]
