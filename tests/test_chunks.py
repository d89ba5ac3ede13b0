"""Chunks of reports, and the experiment that chooses their size."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pdffile import Sheet, pdf
from typer.testing import CliRunner

from responsa.cli.app import app
from responsa.corpus.chunks import Trial, chunks_of, quotes, search, split, word_overlap
from responsa.errors import InputError
from responsa.types import Passage


def passage(text, page, number=1, flags=()):
    return Passage(f"d p. {page} ({number})", "d", f"p. {page} ({number})", text, page=page, flags=flags)


def test_a_text_is_cut_at_the_coarsest_separator_that_will_do():
    assert split("one two\n\nthree four\n\nfive", 20, 0) == ["one two\n\nthree four", "five"]
    assert split("one two three\nfour five", 13, 0) == ["one two three", "four five"]
    assert split("abcdefghij", 4, 0) == ["abcd", "efgh", "ij"]


def test_the_next_piece_begins_with_the_last_words_of_the_one_before():
    assert split("aa bb cc dd ee", 8, 3) == ["aa bb cc", "cc dd ee"]


def test_no_chunk_goes_over_the_end_of_a_page():
    chunks = chunks_of([passage("first", 1), passage("second", 2), passage("third", 2, 2)])
    assert [(chunk.page, chunk.number, chunk.text) for chunk in chunks] == [(1, 1, "first"), (2, 1, "second\n\nthird")]
    assert chunks[1].passage_ids == ("d p. 2 (1)", "d p. 2 (2)")


def test_hidden_and_empty_passages_are_in_no_chunk():
    assert chunks_of([passage("", 1), passage("secret", 1, 2, ("hidden", "white"))]) == []


@pytest.mark.parametrize(("size", "overlap"), [(100, 100), (100, -1), (0, 0)])
def test_an_overlap_that_cannot_be_is_refused(size, overlap):
    with pytest.raises(InputError, match=f"{size} characters with {overlap} repeated"):
        chunks_of([], size, overlap)


@given(st.text("ab \n", max_size=300), st.integers(5, 40), st.integers(0, 4))
def test_no_piece_is_too_long_and_no_letter_is_lost(text, size, overlap):
    pieces = split(text, size, overlap)
    assert all(0 < len(piece) <= size for piece in pieces)
    letters = "".join(text.split())
    if overlap == 0:
        assert "".join("".join(piece.split()) for piece in pieces) == letters
    else:
        assert sum(len("".join(piece.split())) for piece in pieces) >= len(letters)


def test_word_overlap_by_hand():
    assert word_overlap("the firm must report", "a firm must not report") == 0.75
    assert word_overlap("", "anything") == 1.0
    assert word_overlap("Total 900", "<tr><td>Total</td><td>900</td></tr>") == 1.0


def test_the_experiment_counts_texts_that_no_chunk_holds():
    text = " ".join(f"w{number}" for number in range(40))  # 149 characters
    wanted = " ".join(f"w{number}" for number in range(10, 30))
    trials = list(search([([passage(text, 1)], [wanted])], sizes=(40, 200), overlaps=(0,)))
    assert [(trial.size, trial.low, trial.total) for trial in trials] == [(40, 1, 1), (200, 0, 1)]
    assert trials[1] == Trial(200, 0, 1, 0, 1, 1.0)


def test_texts_to_be_found_are_read_from_both_kinds_of_file(tmp_path):
    lines, rows = tmp_path / "gold.jsonl", tmp_path / "gold.json"
    lines.write_text('{"document": "d", "quote": "one"}\n{"document": "d", "quote": "two"}\n')
    rows.write_text(json.dumps({"rows": [{"report": "d.pdf", "evidence": [{"quote": "one"}, {"quote": "two"}]}]}))
    assert quotes(lines) == quotes(rows) == {"d": ["one", "two"]}


@pytest.mark.parametrize("content", ["[]", "{", '{"rows": [{"report": "a"}]}', '{"rows": 1}'])
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "gold.json"
    path.write_text(content)
    with pytest.raises(InputError, match="is neither JSONL with document and quote"):
        quotes(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "has no texts to be found"),
        ('{"quote": "x"}', "'document' is missing"),
        ('{"document": "d", "quote": " "}', "a quote of d is ' ', without words"),
    ],
)
def test_what_is_wrong_with_the_texts_is_said(tmp_path, content, message):
    path = tmp_path / "gold.jsonl"
    path.write_text(content)
    with pytest.raises(InputError) as refused:
        quotes(path)
    assert message in str(refused.value)


def test_the_command_names_the_reports_that_are_not_there(tmp_path):
    report, gold, library = tmp_path / "r.pdf", tmp_path / "gold.jsonl", str(tmp_path / "library")
    report.write_bytes(pdf(Sheet().text(60, 60, "some words of a report")))
    run = CliRunner()
    assert run.invoke(app, ["--library", library, "add", str(report)]).exit_code == 0
    rows = [{"document": name, "quote": "some words"} for name in ("r", "other")]
    gold.write_text("\n".join(map(json.dumps, rows)))
    done = run.invoke(app, ["--library", library, "chunk-search", str(gold)])
    assert (done.exit_code, done.stderr) == (0, "not in the library, and left out: other\n")
    gold.write_text(json.dumps(rows[1]))
    with pytest.raises(InputError, match="is in the library: other; add them first"):
        run.invoke(app, ["--library", library, "chunk-search", str(gold)], catch_exceptions=False)


def test_the_command_prints_every_trial_and_the_best(tmp_path):
    words = [f"w{number}" for number in range(400)]
    sheet = Sheet()
    for row in range(40):
        sheet.text(60, 60 + 12 * row, " ".join(words[10 * row : 10 * row + 10]))
    report, gold, library = tmp_path / "r.pdf", tmp_path / "gold.jsonl", str(tmp_path / "library")
    report.write_bytes(pdf(sheet))
    gold.write_text(json.dumps({"document": "r", "quote": " ".join(words[100:350])}))
    run = CliRunner()
    assert run.invoke(app, ["--library", library, "add", str(report)]).exit_code == 0
    done = run.invoke(app, ["--library", library, "chunk-search", str(gold), "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert len(found["trials"]) == 66
    below = {(trial["size"], trial["overlap"]): trial["below"] for trial in found["trials"]}
    assert below[1000, 0] == 1
    assert below[3000, 0] == 0
    assert below[found["size"], found["overlap"]] == 0
    assert all(count for (size, _), count in below.items() if size < found["size"])
