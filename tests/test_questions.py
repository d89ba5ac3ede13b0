"""Questions from the command line and from files: what is taken, and what is said of what is not."""

from __future__ import annotations

import json
from datetime import date

import pytest

from responsa import questions
from responsa.errors import InputError
from responsa.types import Query

OBLIQA = [
    {"QuestionID": "9f-1", "Question": "When must a firm report?", "Passages": [{"DocumentID": 1}], "Group": 2},
    {"QuestionID": 7, "Question": " Who may opt out? "},
]
READ = (Query("9f-1", "When must a firm report?"), Query("7", "Who may opt out?"))


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("q.json", json.dumps(OBLIQA), READ),
        ("q.JSON", "\ufeff" + json.dumps(OBLIQA, indent=2).replace("\n", "\r\n"), READ),
        ("q.json", '[{"QuestionID": "a", "Question": "x", "background": "b"}]', (Query("a", "x", "b"),)),
        ("q.jsonl", '{"id": "a", "question": "Why?"}\n\n{"id": 2, "question": "How?", "background": "We are a bank."}',
         (Query("a", "Why?"), Query("2", "How?", "We are a bank."))),
        ("q.jsonl", '\ufeff{"id": "a", "question": "Why?", "background": null}\r\n  \r\n', (Query("a", "Why?"),)),
        ("q.jsonl", '{"id": "a", "question": "Why?", "background": "  "}', (Query("a", "Why?"),)),
        # JSON may hold these line separators of Unicode as they are; they end no line.
        ("q.jsonl", '{"id": "a", "question": "one\u2028two\u2029three"}\n', (Query("a", "one\u2028two\u2029three"),)),
        ("q.tsv", "a\tWhy?\nb\tHow?\tWe are a bank.\n", (Query("a", "Why?"), Query("b", "How?", "We are a bank."))),
        ("q.txt", "\ufeffa\tWhy\u2028now?\r\n\r\n", (Query("a", "Why\u2028now?"),)),
        ("q.tsv", "a\tWhat does “Clause §1” say — 漢字?\n", (Query("a", "What does “Clause §1” say — 漢字?"),)),
    ],
)  # fmt: skip
def test_files_that_are_read(tmp_path, name, content, expected):
    path = tmp_path / name
    path.write_bytes(content.encode())
    assert questions.read(path) == expected


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("q.csv", "a,b", "question files end in .json, .jsonl, .tsv, .txt"),
        ("q", "a\tb", "question files end in"),
        ("q.json", "[", "not valid JSON"),
        ("q.json", "[" * 100_000, "not valid JSON"),
        ("q.json", '[{"QuestionID": ' + "1" * 5000 + ', "Question": "x"}]', "not valid JSON"),
        ("q.json", "{}", "expected a list of questions, found dict"),
        ("q.json", "[]", "holds no question"),
        ("q.json", "", "holds no question"),
        ("q.json", '["x"]', "[0]: expected an object with 'QuestionID' and 'Question', found str"),
        ("q.json", '[{"QuestionID": "a"}]', "[0]: key 'Question' is missing"),
        ("q.json", '[{"Question": "a"}]', "[0]: key 'QuestionID' is missing"),
        ("q.json", '[{"id": "a", "question": "x"}]', "[0]: key 'QuestionID' is missing"),
        ("q.json", '[{"QuestionID": 1.5, "Question": "x"}]', "[0]: 'QuestionID' is 1.5; expected text"),
        ("q.json", '[{"QuestionID": true, "Question": "x"}]', "[0]: 'QuestionID' is True; expected text"),
        ("q.json", '[{"QuestionID": null, "Question": "x"}]', "[0]: 'QuestionID' is None; expected text"),
        ("q.json", '[{"QuestionID": "a", "Question": 3}]', "[0]: 'Question' is 3; expected text"),
        ("q.json", '[{"QuestionID": "", "Question": "x"}]', "[0]: id '' is empty or holds white space"),
        ("q.json", '[{"QuestionID": "a b", "Question": "x"}]', "[0]: id 'a b' is empty or holds white space"),
        ("q.json", '[{"QuestionID": "a\\u00a0b", "Question": "x"}]', "is empty or holds white space"),
        ("q.json", '[{"QuestionID": "a\\u0000", "Question": "x"}]', "[0]: the id holds the control character U+0000"),
        ("q.json", '[{"QuestionID": "\\ud800", "Question": "x"}]', "[0]: the id holds the control character U+D800"),
        ("q.json", '[{"QuestionID": "a", "Question": ""}]', "[0]: the question is empty: ask something"),
        ("q.json", '[{"QuestionID": "a", "Question": "\\u200b\\ufeff "}]', "[0]: the question is empty"),
        ("q.json", '[{"QuestionID": "a", "Question": "ab\\u0007"}]',
         "[0]: the question holds the control character U+0007 at position 2: remove it"),
        ("q.json", '[{"QuestionID": "a", "Question": "x\\udc80"}]',
         "[0]: the question holds the control character U+DC80 at position 1"),
        ("q.json", json.dumps([{"QuestionID": "a", "Question": "x" * 100_000}]),
         "[0]: the question has 100,000 characters; at most 10,000 are read: shorten it"),
        ("q.json", '[{"QuestionID": "a", "Question": "x"}, {"QuestionID": "b", "Question": "x"},'
         ' {"QuestionID": "a", "Question": "y"}]', "question id 'a' stands at 1 and again at 3"),
        ("q.json", '[{"QuestionID": 7, "Question": "x"}, {"QuestionID": "7", "Question": "y"}]',
         "question id '7' stands at 1 and again at 2"),
        ("q.jsonl", "", "holds no question"),
        ("q.jsonl", "\n \n", "holds no question"),
        ("q.jsonl", '{"id": "a", "question": "x"}\n{"id"', "line 2: not valid JSON"),
        ("q.jsonl", '{"id": ' + "1" * 5000 + "}", "line 1: not valid JSON"),
        ("q.jsonl", "\n[1]", "line 2: expected an object with 'id' and 'question', found list"),
        ("q.jsonl", '{"id": "a", "question": "x", "background": 3}', "line 1: 'background' is 3; expected text"),
        ("q.jsonl", '{"id": "a", "question": "x", "background": "b\\u0000"}',
         "line 1: the background holds the control character U+0000 at position 1"),
        ("q.jsonl", '{"id": "a", "question": "x", "background": "\\ud800"}', "line 1: the background holds"),
        ("q.jsonl", json.dumps({"id": "a", "question": "x", "background": "x" * 100_000}),
         "line 1: the background has 100,000 characters"),
        ("q.tsv", "a", "line 1: expected id, tab, question; found 1 column(s)"),
        ("q.tsv", "a\tb\tc\td", "line 1: expected id, tab, question; found 4 column(s)"),
        ("q.tsv", "a\t  ", "line 1: the question is empty"),
        ("q.tsv", "\nid 1\tx", "line 2: id 'id 1' is empty or holds white space"),
        ("q.tsv", "\tx", "line 1: id '' is empty"),
    ],
)  # fmt: skip
def test_files_that_are_refused(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        questions.read(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match=r"none\.json: cannot be read: No such file or directory"):
        questions.read(tmp_path / "none.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(InputError, match=r"folder\.json: cannot be read: Is a directory"):
        questions.read(tmp_path / "folder.json")
    path = tmp_path / "q.tsv"
    path.write_bytes(b"a\tcaf\xe9?\n")
    with pytest.raises(InputError, match=r"q\.tsv: not UTF-8 text \(byte 5\)"):
        questions.read(path)


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u200b", "\x1f"])
def test_a_blank_question(text):
    with pytest.raises(InputError, match=r"^the question is empty: ask something, for example: "):
        questions.check(text)


@pytest.mark.parametrize(
    ("text", "code", "position"),
    [("a\x00", "0000", 1), ("\x1b[31m", "001B", 0), ("ab\x7f", "007F", 2), ("a\x85", "0085", 1), ("\ud800", "D800", 0)],
)
def test_control_characters_are_named_with_their_position(text, code, position):
    with pytest.raises(InputError, match=rf"the control character U\+{code} at position {position}: remove it"):
        questions.check(text)


def test_what_is_taken():
    assert questions.check("  When?\r\n\tAnd why? ") == "When?\r\n\tAnd why?"
    assert questions.check("x" * questions.MOST_CHARACTERS)
    assert questions.check("🏦 ‏שלום ﬁrm") == "🏦 ‏שלום ﬁrm"
    with pytest.raises(InputError, match="the background has 10,001 characters"):
        questions.check("x" * (questions.MOST_CHARACTERS + 1), "the background")


def test_the_day_that_a_question_was_asked_on(tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_text(
        '{"id": "a", "question": "When?", "date": "2015-03-01"}\n{"id": "b", "question": "Who?", "date": null}\n'
    )
    assert [query.asked_on for query in questions.read(path)] == [date(2015, 3, 1), None]
    path.write_text('{"id": "a", "question": "When?", "date": "2015-03-01T10:00:00"}\n')
    assert questions.read(path)[0].asked_on == date(2015, 3, 1)
    path.write_text('{"id": "a", "question": "When?", "date": "1 March"}\n')
    with pytest.raises(InputError, match="line 1: 'date' is '1 March'; write it as 2024-01-31, or leave it out"):
        questions.read(path)
