"""The sample rulebook is sound: its questions name clauses that exist, its cross-references lead somewhere."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import date

import pytest

from responsa import questions, sample

# "Rule 3.1.2(1)", "CON Rule 1.2.1", "Rules 3.1.1 and 3.1.2", "Parts 2 to 4", "Chapter 3.1", "Schedule 1"
_REFERENCE = re.compile(
    r"(?:\b(?P<document>AML|OUT|LIQ|CON|DIS) )?\b(?P<kind>Rule|Part|Chapter|Schedule)s? "
    r"(?P<numbers>\d+(?:\.\d+)*(?:\(\w+\))*(?:(?:, | and | or | to )\d+(?:\.\d+)*(?:\(\w+\))*)*)"
)


@pytest.fixture(scope="module")
def corpus(sample_library):
    return sample_library.corpus()


def rows(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def references(passage):
    """(document, number) of each clause that a passage refers to."""
    for match in _REFERENCE.finditer(passage.text):
        prefix = "" if match["kind"] == "Rule" else f"{match['kind']} "
        for number in re.split(r", | and | or | to ", match["numbers"]):
            yield match["document"] or passage.document_id, f"{prefix}{number}"


def test_documents_and_versions(sample_library):
    states = sample_library.documents()
    assert [(state.version.document_id, state.current) for state in states] == [
        ("AML", True),
        ("CON", True),
        ("DIS", True),
        ("LIQ", False),
        ("LIQ", True),
        ("OUT", True),
    ]
    earlier, later = (state.version for state in states if state.version.document_id == "LIQ")
    assert (earlier.valid_from, earlier.valid_to) == (date(2023, 1, 1), date(2025, 3, 31))
    assert (later.valid_from, later.valid_to) == (date(2025, 4, 1), None)
    assert all(state.version.title for state in states)


def test_about_two_hundred_clauses(corpus):
    # Rules, sub-rules, guidance and paragraphs of schedules; not list items, bare rule numbers and headings.
    clauses = [
        passage
        for passage in map(corpus.__getitem__, corpus)
        if passage.text.strip() and not re.search(r"\([a-z]+\)$", passage.number)
    ]
    assert 200 <= len(clauses) <= 280


@pytest.mark.parametrize("day", [date(2024, 6, 1), date(2025, 6, 1)])
def test_numbers_are_unique_in_each_document(sample_library, day):
    corpus = sample_library.corpus(day)
    assert len(corpus.versions) == 5
    numbers = Counter((corpus[name].document_id, corpus[name].number) for name in corpus)
    assert [number for number, times in numbers.items() if times > 1] == []
    assert not any(corpus[name].flags for name in corpus)


@pytest.mark.parametrize("day", [date(2024, 6, 1), date(2025, 6, 1)])
def test_cross_references_resolve(sample_library, day):
    corpus = sample_library.corpus(day)
    found = [(name, *target) for name in corpus for target in references(corpus[name])]
    assert len(found) >= 40
    assert [entry for entry in found if not corpus.find(entry[1], entry[2])] == []


def test_the_editions_of_one_document_differ_where_the_readme_says(sample_library):
    before, after = sample_library.corpus(date(2025, 3, 31)), sample_library.corpus(date(2025, 4, 1))
    texts = [{name: view[name].text for name in view if view[name].document_id == "LIQ"} for view in (before, after)]
    assert texts[1].keys() - texts[0].keys() >= {"LIQ/5.1.3"}
    assert "LIQ/3.2.5" in texts[0].keys() - texts[1].keys()
    changed = {name for name in texts[0].keys() & texts[1].keys() if texts[0][name] != texts[1][name]}
    expected = {"3.1.1", "3.1.2", "3.1.3(1)", "3.2.3", "4.2.1", "5.1.1", "6.1.1", "6.1.3"}
    assert changed >= {f"LIQ/{number}" for number in expected}


def test_forty_questions_with_gold_that_has_text(corpus):
    given = rows(sample.questions())
    assert len(given) == len({row["id"] for row in given}) == len({row["question"] for row in given}) == 40
    for row in given:
        assert row["passages"], row["id"]
        assert len(set(row["passages"])) == len(row["passages"])
        for passage_id in row["passages"]:
            assert corpus[passage_id].text.strip(), (row["id"], passage_id)
    assert Counter(min(len(row["passages"]), 2) for row in given) == {1: 24, 2: 16}


def test_ten_questions_without_an_answer(corpus):
    given = rows(sample.unanswerable())
    assert len(given) == len({row["id"] for row in given}) == 10
    assert not any(row.get("passages") for row in given)


def test_both_files_are_question_files():
    assert len(questions.read(sample.questions())) == 40
    assert len(questions.read(sample.unanswerable())) == 10
