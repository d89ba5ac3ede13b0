"""The commands as they are typed: what they print and where, their JSON, their exit status."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

from responsa import sample
from responsa.cli import main, output
from responsa.cli.app import app
from responsa.corpus import artefacts
from responsa.corpus.library import Library
from responsa.models.chat.load import UNWRITTEN

QUESTION = "What must a firm do when it suspects money laundering?"
PASSAGE = {"id", "document", "number", "title", "text", "parent", "path", "kind", "page", "boxes", "flags"}
HIT = PASSAGE | {"rank", "score", "version"}
VERSION = {"document", "digest", "title", "valid_from", "valid_to"}
COUNTS = {"holds", "superseded", "broken"}


class Done(NamedTuple):
    code: int
    out: str
    err: str

    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)


Call = Callable[..., Done]


@pytest.fixture
def call(monkeypatch) -> Call:
    """Runs a command in this process as ``python -m responsa`` would."""

    def run(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["responsa", *map(str, arguments)])
        out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        code: object = 0
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main()
            except SystemExit as end:
                code = end.code
                if isinstance(code, str):
                    err.write(code + "\n")
                    code = 1
        out.flush(), err.flush()
        return Done(int(code or 0), *(stream.buffer.getvalue().decode() for stream in (out, err)))

    return run


@pytest.fixture(scope="session")
def shared_folder(sample_library) -> Path:
    """The sample library, encoded, for commands that only read: the first search would tell that it encodes."""
    process("--library", sample_library.folder, "index")
    return sample_library.folder


@pytest.fixture
def folder(shared_folder, tmp_path) -> Path:
    """A copy of it, for commands that write."""
    return Path(shutil.copytree(shared_folder, tmp_path / "library"))


@pytest.fixture
def at(call, shared_folder) -> Call:
    return lambda *arguments: call("--library", shared_folder, *arguments)


@pytest.fixture
def writing(call, folder) -> Call:
    return lambda *arguments: call("--library", folder, *arguments)


def process(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own."""
    line = [sys.executable, "-m", "responsa", *map(str, arguments)]
    return subprocess.run(line, text=True, timeout=60, check=False, **{"capture_output": True, **options})


def questions(path: Path, *rows: tuple[str, str]) -> Path:
    path.write_text("".join(f"{name}\t{text}\n" for name, text in rows), encoding="utf-8")
    return path


# Each command once.


def test_a_rulebook_added_asked_and_removed(call, tmp_path):
    folder = tmp_path / "library"
    rules = tmp_path / "rules.md"
    rules.write_text("# Rules\n\n1.1 A Firm must report a breach within one day.\n", encoding="utf-8")
    done = call("--library", folder, "add", rules)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("1 added, 0 changed, 0 unchanged; ")
    again = call("--library", folder, "add", rules, "--json").json()
    assert set(again) == {"files", "skipped", "missing", "interrupted"}
    assert again["files"][0]["status"] == "unchanged"
    (listed,) = call("--library", folder, "documents", "--json").json()["documents"]
    document = listed["document"]
    asked = call("--library", folder, "ask", "When must a breach be reported?", "--save")
    assert "must report a breach" in asked.out
    assert "saved as answer 1" in asked.err
    gone = call("--library", folder, "remove", document)
    assert (gone.code, gone.out) == (0, f"removed: {document}\n")
    assert gone.err == f"1 saved answer cites {document}; responsa answers lists them\n"
    assert call("--library", folder, "documents", "--json").json() == {"documents": []}


def test_add_with_a_file_that_cannot_be_read(call, tmp_path):
    good, bad = tmp_path / "good.md", tmp_path / "bad.json"
    good.write_text("1.1 A Firm must report.\n")
    bad.write_text("{")
    done = call("--library", tmp_path / "library", "add", good, bad)
    assert done.code == 1
    assert "1 added" in done.out
    assert f"refused: {bad}: " in done.err


def test_documents(at):
    listed = at("documents", "--json").json()["documents"]
    assert set(listed[0]) == VERSION | {"source", "passages", "current", "live", "indexed"}
    done = at("documents")
    assert done.code == 0
    for item in listed:
        assert item["document"] in done.out
        assert item["digest"][:12] in done.out


def test_show_and_passage(at):
    shown = at("show", "LIQ", "--json").json()
    assert set(shown) == {"version", "passages"}
    assert set(shown["version"]) == VERSION
    assert all(set(item) == PASSAGE for item in shown["passages"])
    assert at("show", "LIQ").out.splitlines()[0].endswith(", in force from 2025-04-01]")
    assert "in force from 2023-01-01 to 2025-03-31" in at("show", "LIQ", "--as-of", "2024-06-01").out.splitlines()[0]
    one = at("passage", "LIQ/3.1.1", "--json").json()
    assert set(one) == PASSAGE | {"version"}
    printed = at("passage", "LIQ/3.1.1").out
    assert "in force from 2025-04-01" in printed
    assert one["text"] in printed


def test_show_and_passage_of_a_version(at):
    earlier = at("passage", "LIQ/3.1.1", "--as-of", "2024-06-01", "--json").json()
    digest = earlier["version"]["digest"]
    assert digest != at("passage", "LIQ/3.1.1", "--json").json()["version"]["digest"]
    assert at("passage", "LIQ/3.1.1", "--version", digest[:12], "--json").json() == earlier
    assert at("show", "LIQ", "--version", digest, "--json").json()["version"]["digest"] == digest
    assert at("show", "AML", "--version", digest).code == 1
    unknown = at("show", "LIQ", "--version", "0000000000")
    assert (unknown.code, unknown.out) == (1, "")
    assert at("show", "LIQ", "--version", digest, "--as-of", "2024-06-01").code == 2


def test_search(at):
    found = at("search", QUESTION, "-k", 3, "--json").json()
    assert set(found) == {"hits", "approximate"}
    assert [hit["rank"] for hit in found["hits"]] == [1, 2, 3]
    assert all(set(hit) == HIT for hit in found["hits"])
    done = at("search", QUESTION, "-k", 3)
    assert (done.code, done.err) == (0, "")
    assert [hit["id"] for hit in found["hits"]] == [line.split()[-1] for line in done.out.splitlines()[::2]]


def test_search_without_a_hit_says_why(at):
    assert at("search", "xyzzy plugh", "--recipe", "bm25") == Done(
        0, "", "nothing found: no passage matches the question by the recipe 'bm25'; try other words\n"
    )
    assert at("search", "liquidity", "--as-of", "1999-01-01") == Done(0, "", "no document is in force on 1999-01-01\n")


def test_ask(at):
    found = at("ask", QUESTION, "--json").json()
    assert set(found) == {
        "question", "answer", "sentences", "passages", "abstained", "confidence", "approximate", "saved",
        "checked", "obligations", "contradictions",
    }  # fmt: skip
    assert (found["abstained"], found["saved"]) == (False, None)
    for sentence in found["sentences"]:
        assert {"text", "answer_start", "answer_end", "citations", "grounding"} <= set(sentence)
        assert sentence["text"] == found["answer"][sentence["answer_start"] : sentence["answer_end"]]
        assert all(set(citation) == {"id", "version", "start", "end"} for citation in sentence["citations"])
    done = at("ask", QUESTION, "--background", "The firm is a bank.")
    assert (done.code, done.err) == (0, f"{UNWRITTEN}\n")
    assert at("ask", QUESTION, "--model", "none").err == at("ask", QUESTION, "--recipe", "bm25").err == ""
    assert "Confidence that the library answers this: 0." in done.out
    assert done.out.endswith("\nA draft: check the rules cited.\n")


def test_ask_where_nothing_is_in_force(at):
    done = at("ask", QUESTION, "--as-of", "1999-01-01")
    assert done.code == 0
    assert done.out == "The library holds no document in force.\n\n"
    assert done.err == f"no document is in force on 1999-01-01\n{UNWRITTEN}\n"


def test_saved_answers(writing):
    assert writing("answers", "--json").json() == {"answers": []}
    assert writing("ask", QUESTION, "--save", "--json").json()["saved"] == 1
    assert "saved as answer 2" in writing("ask", "What is the minimum Liquidity Cover?", "--save").err
    listed = writing("answers", "--json").json()["answers"]
    assert [item["number"] for item in listed] == [1, 2]
    assert all(set(item["citations"]) == COUNTS for item in listed)
    assert listed[0]["citations"]["holds"] == len(listed[0]["checks"]) > 0
    assert QUESTION in writing("answers").out
    assert writing("answers", 1, "--json").json() == listed[0]
    one = writing("answers", 1).out
    assert listed[0]["text"].strip() in one
    assert "holds: AML, " in one
    assert writing("answers", 1, "--remove", 2).code == 2
    assert writing("answers", "--remove", 1).out == "removed: answer 1\n"
    assert [item["number"] for item in writing("answers", "--json").json()["answers"]] == [2]
    for arguments in ((1,), ("--remove", 1)):
        done = writing("answers", *arguments)
        assert (done.code, done.out) == (1, "")
        assert "no saved answer" in done.err


def test_verify(at):
    found = at("verify", "--json").json()
    assert set(found) == {"ok", "findings"}
    assert found["ok"] is True
    assert set(found["findings"][0]) >= {"what", "subject", "state", "detail"}
    assert " checked, 0 failed" in at("verify").out


def test_batches(at, tmp_path):
    asked = questions(tmp_path / "q.tsv", ("q1", QUESTION), ("q2", "xyzzy plugh"))
    run, answers = tmp_path / "run.txt", tmp_path / "answers.json"
    done = at("run", asked, "--out", run, "-k", 5, "--recipe", "bm25")
    assert done == Done(0, "", f"2 questions, 1 without a hit, written to {run}\n")
    assert [line.split()[:2] for line in run.read_text().splitlines()] == [["q1", "Q0"]] * 5
    done = at("answer", asked, "--out", answers)
    assert done == Done(0, "", f"2 questions, 1 not answered, written to {answers}\n{UNWRITTEN}\n")
    first, second = json.loads(answers.read_text())
    assert {"QuestionID", "Question", "RetrievedPassages", "RetrievedIDs", "Answer"} <= set(first)
    assert first["Answer"]
    assert second["Answer"] == ""
    assert at("run", asked, "--out", "-", "-k", 5, "--recipe", "bm25").out == run.read_text()


@pytest.mark.parametrize("command", ["run", "answer"])
def test_batches_do_not_overwrite_what_they_read(at, shared_folder, tmp_path, command):
    asked = questions(tmp_path / "q.tsv", ("q1", QUESTION))
    link = tmp_path / "link.tsv"
    link.symlink_to(asked)
    catalogue = shared_folder / "catalogue.sqlite"
    for out in (asked, link, catalogue):
        done = at(command, asked, "--out", out)
        assert (done.code, done.out) == (1, "")
        assert "which is read; name another file to write" in done.err
    assert asked.read_text() == f"q1\t{QUESTION}\n"
    assert catalogue.read_bytes().startswith(b"SQLite")


def test_examples_are_written_with_the_text_of_their_passages(at, tmp_path):
    out = tmp_path / "examples.jsonl"
    done = at("dataset", "examples", sample.questions(), "--out", out)
    assert done == Done(0, "", f"40 examples of 40 questions, written to {out}\n")
    assert {"question", "passage"} == set(json.loads(out.read_text().splitlines()[0]))
    refused = at("dataset", "examples", sample.questions(), "--out", sample.questions())
    assert "which is read; name another file to write" in refused.err


def test_index_and_tune(writing, folder, tmp_path):
    assert writing("index") == Done(0, "", "indexed: 5 documents\n")
    recipe = tmp_path / "two.toml"
    recipe.write_text('[[retrieve]]\nkind = "bm25"\n[[retrieve]]\nkind = "bm25"\nk1 = 1.2\n')
    found = writing("tune", recipe, "--gold", sample.questions(), "--steps", 2, "--json").json()
    assert set(found) == {"measure", "trials"}
    assert len(found["trials"]) == 3
    done = writing("tune", recipe, "--gold", sample.questions(), "--steps", 2)
    assert "[fuse]\nweights = [" in done.out
    assert done.err == ""
    whole = writing("tune", "hybrid", "--gold", sample.questions(), "--steps", 2)
    assert "of the fusion alone: 1 stage that rerank are left out" in whole.err
    assert "were learned for the recipe's own [fuse]" in whole.err


def test_index_mends_what_is_damaged(writing, folder):
    shutil.rmtree(folder / "artefacts")  # it may hold indexes of other dates, which are not built again
    writing("index")
    victim = next((folder / "artefacts").glob("bm25-*/*.npy"))
    whole = victim.read_bytes()
    victim.write_bytes(bytes(len(whole)))
    done = writing("index")
    assert done.code == 0
    assert f"damaged, built again where needed: {victim.parent.name}" in done.err
    assert victim.read_bytes() == whole
    assert writing("verify").code == 0


def test_index_of_a_library_that_cannot_be_written(writing, folder, monkeypatch):
    shutil.rmtree(folder / "artefacts")
    write = artefacts._write

    def refuse(target, *arguments, **settings):
        if target == folder / "artefacts":
            raise OSError(errno.EROFS, "Read-only file system")
        return write(target, *arguments, **settings)

    monkeypatch.setattr(artefacts, "_write", refuse)
    done = writing("index")
    assert (done.code, done.out) == (1, "")
    assert "the indexes cannot be written: the folder is read-only" in done.err
    assert writing("search", QUESTION).code == 0


def test_index_counts_one_document_as_one(call, tmp_path):
    (tmp_path / "r.md").write_text("1.1 A Firm must report.\n")
    call("--library", tmp_path / "library", "add", tmp_path / "r.md")
    assert call("--library", tmp_path / "library", "index").err == "indexed: 1 document\n"


# Scores.


@pytest.fixture
def good_and_bad(tmp_path) -> tuple[Path, Path, Path]:
    gold, good, bad = (tmp_path / name for name in ("gold.qrels", "good.run", "bad.run"))
    names = [f"q{number}" for number in range(8)]
    gold.write_text("".join(f"{name} 0 right 1\n" for name in names))
    good.write_text("".join(f"{name} Q0 right 1 1.0 good\n" for name in names))
    bad.write_text("".join(f"{name} Q0 wrong 1 1.0 bad\n" for name in names))
    return gold, good, bad


def test_score_run_says_which_run_is_better(call, tmp_path, good_and_bad):
    gold, good, bad = good_and_bad
    arguments = ("--library", tmp_path / "none", "score", "run", bad, good, "--gold", gold, "--measures", "recall@10")
    found = call(*arguments, "--json").json()
    assert set(found) == {"runs", "comparisons"}
    (pair,) = found["comparisons"]
    assert (pair["first"], pair["second"]) == (str(bad), str(good))
    assert (pair["difference"]["mean"], pair["wins"], pair["losses"]) == (1.0, 8, 0)
    assert pair["p_value"] < 0.05
    printed = call(*arguments).out
    assert "+1.0000" in printed
    assert [each.split()[-3:] for each in printed.splitlines() if "+1.0000" in each] == [["8", "0", "0"]]
    turned = call(*arguments[:4], good, bad, *arguments[6:]).out
    assert "-1.0000" in turned


def test_score_run_where_one_question_differs(call, tmp_path, good_and_bad):
    gold, good, _ = good_and_bad
    other = tmp_path / "other.run"
    other.write_text(good.read_text().replace("q0 Q0 right", "q0 Q0 wrong"))
    found = call(
        "--library", tmp_path, "score", "run", good, other, "--gold", gold, "--measures", "MRR", "--json"
    ).json()
    assert [pair["p_value"] for pair in found["comparisons"]] == [1.0]


def test_score_run_with_printed_numbers_needs_the_library(at, call, tmp_path):
    gold, run = tmp_path / "gold.json", tmp_path / "run.txt"
    rows = [
        {"QuestionID": "q1", "Question": "?", "Passages": [{"DocumentID": "LIQ", "PassageID": "3.1.1", "Passage": ""}]}
    ]
    gold.write_text(json.dumps(rows))
    run.write_text("q1 Q0 LIQ/3.1.1 1 1.0 r\n")
    done = call("--library", tmp_path / "none", "score", "run", run, "--gold", gold)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("responsa: ")
    assert at("score", "run", run, "--gold", gold, "--json").code == 0


# Input that cannot be used: one line on stderr, nothing on stdout, status 1.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ask", ""), "the question is empty"),
        (("ask", " \n"), "the question is empty"),
        (("search", "x" * 100_000), "the question has 100,000 characters; at most 10,000"),
        (("search", "a\x1b[31mb"), "holds the control character U+001B at position 1"),
        (("ask", QUESTION, "--background", "a\x00"), "the background holds the control character U+0000"),
        (("ask", QUESTION, "--recipe", "bm52"), "no recipe 'bm52'; did you mean 'bm25'?"),
        (("ask", QUESTION, "--recipe", "no/such.toml"), "no recipe file"),
        (("ask", QUESTION, "--as-of", "yesterday"), "--as-of: 'yesterday' is not a date; write it as YYYY-MM-DD"),
        (("search", QUESTION, "--as-of", "20240131"), "'20240131' is not a date"),
        (("search", QUESTION, "--as-of", "2024-W05-3"), "'2024-W05-3' is not a date"),
        (("search", QUESTION, "--as-of", "2024-02-30"), "'2024-02-30' is not a date"),
        (("search", QUESTION, "--as-of", "2024-01-3١"), "is not a date"),
        (("show", "AMX"), "no document 'AMX'; did you mean 'AML'?"),
        (("show", "AML", "--as-of", "1999-01-01"), "no document 'AML' in force on 1999-01-01"),
        (("passage", "AML/99"), "no passage 'AML/99'"),
        (("remove", "AMX"), "no document or source 'AMX'"),
        (("run", "vanished.tsv", "--out", "run.txt"), "vanished.tsv: cannot be read: No such file or directory"),
        (("answer", "vanished.tsv", "--out", "no/such/a.json"), "there is no folder 'no/such'"),
        (("score", "run", "vanished.run", "--gold", "vanished.qrels"), "vanished"),
        (("show", "a\x1b[31m\x9b\u202e"), "no document"),
    ],
)
def test_input_that_cannot_be_used(at, arguments, message):
    done = at(*arguments)
    assert (done.code, done.out) == (1, "")
    assert message in done.err
    assert done.err.startswith("responsa: ")
    assert done.err.count("\n") == 1
    assert not any(sign in done.err for sign in "\x1b\x9b\u202e")


@pytest.mark.parametrize(
    "arguments",
    [(), ("frobnicate",), ("search",), ("search", "x", "-k", "0"), ("search", "x", "--no-such"), ("run", "q")],
)
def test_wrong_usage(at, arguments):
    assert at(*arguments).code == 2


def test_folders_that_are_no_library(call, tmp_path):
    for folder in (tmp_path / "none", tmp_path):
        done = call("--library", folder, "search", "x")
        assert (done.code, done.out) == (1, "")
        assert "no library here" in done.err
    (tmp_path / "catalogue.sqlite").write_text("this is not a database, but long enough to look at")
    done = call("--library", tmp_path, "documents")
    assert (done.code, done.out) == (1, "")
    assert "damaged" in done.err


def test_a_library_of_a_later_version(writing, folder):
    with contextlib.closing(sqlite3.connect(folder / "catalogue.sqlite")) as db:
        db.execute("PRAGMA user_version = 99")
    done = writing("documents")
    assert (done.code, done.out) == (1, "")
    assert "written by a later Responsa" in done.err


# What goes to the terminal.


def test_documents_are_not_trusted_with_the_terminal(call, tmp_path):
    rules = tmp_path / "rules.jsonl"
    row = {"id": "[/b]1", "document": "[bold]D", "title": "[/b]", "text": "A Firm \x1b[31m\x9b\u202emust report\x7f."}
    rules.write_text(json.dumps(row) + "\n")
    folder = tmp_path / "library"
    assert call("--library", folder, "add", rules).code == 0
    commands = [
        ("documents",), ("show", "[bold]D"), ("passage", "[/b]1"), ("search", "firm report"), ("ask", "must a firm report"),
    ]  # fmt: skip
    for arguments in commands:
        for options in ((), ("--json",)):
            done = call("--library", folder, *arguments, *options)
            assert done.code == 0, done.err
            assert not any(sign in done.out + done.err for sign in "\x1b\x9b\u202e\x7f")
    assert "[bold]D" in call("--library", folder, "documents").out
    assert "\x9b\u202e" in call("--library", folder, "passage", "[/b]1", "--json").json()["text"]


def test_a_table_in_a_pipe_keeps_long_ids_whole(call, tmp_path):
    name = "D" * 300
    (tmp_path / "rules.jsonl").write_text(json.dumps({"id": "1", "document": name, "text": "A Firm must report."}))
    call("--library", tmp_path / "library", "add", tmp_path / "rules.jsonl")
    assert name in call("--library", tmp_path / "library", "documents").out


def test_a_narrow_terminal_does_not_cut_ids(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("NO_COLOR", "1")
    listing = output.table("document", "title", "version", whole=("document", "version"))
    output.add_row(listing, "DOCUMENT-1", "a title of several words", "3256a6dc3b28")
    with contextlib.redirect_stdout(Terminal()) as terminal:
        output.print_table(listing)
    assert "DOCUMENT-1" in terminal.getvalue()
    assert "3256a6dc3b28" in terminal.getvalue()
    assert "several" in terminal.getvalue()


def test_the_note_on_a_version_that_is_not_in_force(call, tmp_path):
    for name, valid in (("LIQ", "valid_from: 2998-01-01\n"), ("AML", "")):
        head = f"---\ndocument: {name}\ntitle: {name}\n{valid}---\n"
        (tmp_path / f"{name}.md").write_text(f"{head}1.1 A Firm must hold {name} cover.\n")
    folder = tmp_path / "library"
    call("--library", folder, "add", tmp_path / "LIQ.md", tmp_path / "AML.md")
    call("--library", folder, "index")
    expected = "note: LIQ: the version read is in force from 2998-01-01; --as-of DATE reads the law of a day\n"
    asked = questions(tmp_path / "q.tsv", ("q", "LIQ cover"))
    assert call("--library", folder, "search", "LIQ cover", "-k", 1).err == expected
    assert call("--library", folder, "search", "AML cover", "-k", 1).err == ""
    assert call("--library", folder, "ask", "LIQ cover", "--model", "none").err == expected
    for command in ("run", "answer"):
        assert expected in call("--library", folder, command, asked, "--out", tmp_path / "out").err
    assert call("--library", folder, "ask", "LIQ cover", "--json").json()["approximate"] == ["LIQ"]


def test_search_and_printing_read_one_state(at, monkeypatch):
    opened = []
    corpus = Library.corpus

    def counted(self, as_of=None):
        opened.append(as_of)
        return corpus(self, as_of)

    monkeypatch.setattr(Library, "corpus", counted)
    day = date(2024, 6, 1)
    for command in ("search", "ask"):
        assert at(command, QUESTION, "--as-of", str(day)).code == 0
    assert opened == [day, day]


# A process of its own.


def test_stdout_is_data_and_can_be_redirected_anywhere(shared_folder, tmp_path):
    done = process("--library", shared_folder, "search", QUESTION, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["hits"]
    asked = questions(tmp_path / "q.tsv", ("q1", QUESTION))
    done = process("--library", shared_folder, "run", asked, "--out", "/dev/stdout")
    assert done.stdout.startswith("q1 Q0 ")
    assert "written to /dev/stdout" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", [("documents",), ("search", QUESTION)])
def test_a_full_disk_behind_stdout(shared_folder, arguments):
    with Path("/dev/full").open("w") as full:
        done = process(
            "--library", shared_folder, *arguments, capture_output=False, stdout=full, stderr=subprocess.PIPE
        )
    assert done.returncode == 1
    assert done.stderr == "responsa: the output cannot be written: No space left on device\n"


def test_a_closed_stdout(shared_folder):
    line = f'"{sys.executable}" -m responsa --library "{shared_folder}" documents >&-'
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_reader_that_leaves(shared_folder):
    line = f'"{sys.executable}" -m responsa --library "{shared_folder}" show AML | head -n 1'
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""


def test_a_terminal_that_knows_no_unicode(shared_folder):
    environment = {"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin:/bin"}
    done = process("--library", shared_folder, "ask", QUESTION, env=environment)
    assert done.returncode == 0, done.stderr
    done = process("--library", shared_folder, "show", "AML", "--json", env=environment)
    assert json.loads(done.stdout)["passages"]


# Help.


def commands(command: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    inner = getattr(command, "commands", {})
    return [path, *(found for name, each in inner.items() for found in commands(each, (*path, name)))]


@pytest.mark.parametrize("path", commands(typer.main.get_command(app)), ids=" ".join)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help(call, path, option):
    done = call(*path, option)
    assert (done.code, done.err) == (0, "")
    assert "Usage: " in done.out


def test_help_fills_the_width(call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = call("ask", "--help").out.splitlines()
    start = next(row for row, line in enumerate(lines) if line.strip().startswith("With a language model"))
    paragraph = [line.strip() for line in lines[start : lines.index(lines[0], start)]]
    assert len(paragraph) > 1
    for line, after in pairwise(paragraph):
        assert len(line) + 1 + len(after.split()[0]) > 78  # its first word did not fit into the line before


# The demo script, as far as it goes without making an environment.


@pytest.fixture
def demo(tmp_path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """A copy of the script whose setup names the interpreter that runs this test."""
    script = Path(__file__).resolve().parents[1] / "scripts" / "demo"
    root = tmp_path / "it's a folder"
    (root / "scripts").mkdir(parents=True)
    (root / "bin").mkdir()
    shutil.copy(script, root / "scripts" / "demo")
    (root / "scripts" / "setup").write_text(f"printf '%s\\n' \"{root}/bin\"\n")
    (root / "bin" / "responsa").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m responsa "$@"\n')
    (root / "bin" / "responsa").chmod(0o755)

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        line = ["sh", str(root / "scripts" / "demo"), *map(str, arguments)]
        return subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)

    return run


def test_demo_on_a_rulebook_of_ones_own(demo, tmp_path):
    rules = tmp_path / "my rules.md"
    rules.write_text("1.1 A Firm must report a breach within one day.\n")
    done = demo(rules, "When must a breach be reported?")
    assert done.returncode == 0, done.stderr
    assert "must report a breach" in done.stdout
    hint = done.stdout.splitlines()[-1].partition("Ask more: ")[2].replace('"..."', "'a breach'")
    assert "must report a breach" in subprocess.run(["sh", "-c", hint], capture_output=True, text=True).stdout


def test_demo_refuses(demo, tmp_path):
    rules = tmp_path / "rules.md"
    rules.write_text("1.1 A Firm must report.\n")
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "bad.json").write_text("{")
    for arguments, message in (
        ((rules,), "usage: "),
        ((rules, ""), "usage: "),
        ((tmp_path / "none", "x"), "does not exist"),
        ((empty, "x"), "could be read"),
    ):
        done = demo(*arguments)
        assert done.returncode == 1
        assert message in done.stderr


@pytest.mark.parametrize(
    "command", [("add", "--sample"), ("documents",), ("ask", "Who?"), ("score", "run", "a", "--gold", "b")]
)
@pytest.mark.parametrize("kind", ["below a file", "dangling", "in /proc", "too long"])
def test_what_can_be_no_library_is_told_in_a_line(call, tmp_path, kind, command):
    (tmp_path / "file").write_text("x")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    folder = {
        "below a file": tmp_path / "file" / "lib",
        "dangling": tmp_path / "dangling",
        "in /proc": Path("/proc/responsa"),
        "too long": tmp_path / ("x" * 300),
    }[kind]
    done = call("--library", folder, *command)
    assert done.code == 1
    assert len(done.err.splitlines()) == 1
    if command[0] == "add":
        assert "cannot be a library (" in done.err
        assert "name another folder with --library DIR" in done.err


def test_a_folder_without_a_file_to_read_is_told(call, tmp_path):
    (tmp_path / "empty").mkdir()
    done = call("--library", tmp_path / "library", "add", tmp_path / "empty")
    assert done.code == 1
    assert "nothing was read: no file there has a suffix that is known; read are: .docx," in done.err
