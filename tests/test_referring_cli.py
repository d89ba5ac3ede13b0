"""references, define and diff as they are typed, and stale answers."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import json
import sys
from typing import NamedTuple

import pytest

from helpers import add, write_rows, write_rulebook
from responsa.cli import main
from test_graph import FILES
from test_render import EVIL, Page


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def run(folder, *arguments):
    """A command in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    code = 0
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        patch.setattr(sys, "argv", ["responsa", "--library", *map(str, (folder, *arguments))])
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
            err.write(end.code + "\n" if isinstance(end.code, str) else "")
    out.flush(), err.flush()
    return Done(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))


def data(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    at = tmp_path_factory.mktemp("cli")
    for name, text in FILES.items():
        (at / name).write_text(text, encoding="utf-8")
    rows = [
        {"id": "g1", "document": "glossary", "number": "1", "text": "“Loaf” means bread,\nfor all."},
        {"id": "g2", "document": "glossary", "number": "2", "text": "In this Part, ‘mill’ means a place."},
        {"id": "g3", "document": "other", "number": "1", "text": "‘loaf’ means cake."},
    ]
    write_rows(at / "glossary.jsonl", rows)
    for texts, day in (
        (["A Ferry must float.", "Goats pay at once."], "2024-01-01"),
        ([f"A Ferry {EVIL} must sink."], "2025-01-01"),
    ):
        write_rulebook(at / "ferry.md", texts, valid_from=day)
        add(at / "library", at / "ferry.md")
    add(at / "library", *(at / name for name in FILES), at / "glossary.jsonl")
    return at / "library"


def test_references_of_a_provision_and_all_below_it(folder):
    found = data(run(folder, "references", "CRR Art. 1", "--json"))
    assert [each["targets"] for each in found["cites"]] == [
        ["CRR Art. 1(1)"], ["CRR Art. 2"], ["CRR Art. 2a"], ["CRR Art. 4"],
    ]  # fmt: skip
    assert [(each["id"], each["text"]) for each in found["cited_by"]] == [("LCR Art. 5(2)", "Article 1(2)")]
    assert [each["provision"] for each in found["unresolved"]] == ["Article 9"]


def test_references_as_text(folder):
    text = run(folder, "references", "CRR Art. 1(2)").stdout
    assert '"Articles 2 to 4" -> CRR Art. 2a' in text
    assert 'LCR Art. 5(2): "Article 1(2)"' in text
    assert 'not resolved (1):\n  CRR Art. 1(2): "Article 9": 32013R0575 has no such provision' in text


def test_references_of_a_document(folder):
    found = data(run(folder, "references", "32013R0575", "--json"))
    assert (found["citations"], found["resolved"], len(found["unresolved"])) == (10, 6, 4)
    assert found["cites"] == {"32013R0575": 5, "32015R0061": 1}
    assert sum(found["reasons"].values()) == 4
    assert "1 not resolved: Directive 2009/65 is not in the library" in run(folder, "references", "32013R0575").stdout


def test_references_as_of_a_day_and_of_nothing(folder):
    assert data(run(folder, "references", "ferry", "--as-of", "2024-06-01", "--json"))["citations"] == 0
    done = run(folder, "references", "32013R057")
    assert (done.returncode, done.stdout) == (1, "")
    assert "did you mean '32013R0575'?" in done.stderr


def test_define_in_several_documents(folder):
    found = data(run(folder, "define", "loaf", "--json"))
    assert [(each["document"], each["id"], each["text"]) for each in found["definitions"]] == [
        ("glossary", "g1", "“Loaf” means bread,\nfor all."),
        ("other", "g3", "‘loaf’ means cake."),
    ]
    assert "[glossary, 2, for this Part]" in run(folder, "define", "Mills").stdout


def test_define_suggests_close_spellings(folder):
    done = run(folder, "define", "loav")
    assert (done.returncode, done.stdout) == (1, "")
    assert "did you mean 'loaf'?" in done.stderr
    assert json.loads(run(folder, "define", "xyzzy", "--json").stdout) == {
        "term": "xyzzy", "definitions": [], "suggestions": [],
    }  # fmt: skip


def test_diff_as_text_json_and_page(folder, tmp_path):
    text = run(folder, "diff", "ferry", "2024-01-01", "2025-01-01").stdout
    assert "~ amended: ferry/1.1" in text
    assert "[-float-]" in text
    assert "- deleted: ferry/1.2\n    [-Goats pay at once.-]" in text
    found = data(run(folder, "diff", "ferry", "2024-06-30", "2025-01-01", "--json"))
    assert found["counts"] == {"added": 0, "deleted": 1, "moved": 0, "amended": 1, "unchanged": 1}
    assert {"op": "deleted", "text": "float"} in found["changes"][0]["words"]
    old, new = found["old"]["digest"], found["new"]["digest"]
    assert data(run(folder, "diff", "ferry", old[:12], new[:12], "--json")) == found
    done = run(folder, "diff", "ferry", old, new, "--html", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    page = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert page.of("script") == page.of("link") == page.of("img") == []
    policy = next(each[1]["content"] for each in page.of("meta") if "http-equiv" in each[1])
    (style,) = page.of("style")  # as it stands in the file: browsers take the digest of that
    digest = base64.b64encode(hashlib.sha256(style[2].encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}'")
    assert any(EVIL in each for each in page.texts("ins"))
    assert page.texts("del") == ["float", "Goats pay at once."]


def test_a_version_compared_with_itself_is_told(folder):
    done = run(folder, "diff", "ferry", "2025-01-01", "2026-01-01")
    assert done.returncode == 0
    assert "2025-01-01 and 2026-01-01 are the same version" in done.stderr


@pytest.mark.parametrize("command", ["passage", "references"])
@pytest.mark.parametrize("name", ["CRR Art 1", "crr article 1", "Art. 1"])
def test_an_id_written_otherwise_is_suggested(folder, command, name):
    done = run(folder, command, name)
    assert (done.returncode, done.stdout) == (1, "")
    assert "did you mean 'CRR Art. 1'" in done.stderr


def test_a_number_with_other_points_is_another(folder):
    assert "did you mean" not in run(folder, "passage", "CRR Art. 11").stderr


@pytest.mark.parametrize(
    "arguments", [("show", "tide"), ("passage", "tide/1.1"), ("references", "tide/1.1"), ("obligations", "tide")]
)
def test_a_version_that_is_not_in_force_on_the_day_is_told(tmp_path, arguments):
    path = tmp_path / "tide.md"
    path.write_text("---\nvalid_from: 2020-01-01\nvalid_to: 2021-12-31\n---\n1.1 A Ferry must wait for the tide.\n")
    add(tmp_path / "library", path)
    gone = run(tmp_path / "library", *arguments, "--as-of", "2024-06-30")
    assert (
        "note: tide: the version read is in force from 2020-01-01 to 2021-12-31; the library has none for 2024-06-30"
        in (gone.stderr.replace("\n", " "))
    )
    assert "the version read is" not in run(tmp_path / "library", *arguments, "--as-of", "2021-12-31").stderr


def test_an_empty_term_is_refused(folder):
    done = run(folder, "define", " ")
    assert (done.returncode, done.stdout) == (1, "")
    assert "the term is ' '" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere", "2024-01-01", "2025-01-01"), "no document 'nowhere'"),
        (("ferry", "2023-01-01", "2025-01-01"), "no version '2023-01-01' of 'ferry'; there are: "),
        (("ferry", "ffffffff", "2025-01-01"), "no version 'ffffffff'"),
    ],
)
def test_diff_of_what_is_not_there(folder, arguments, message):
    done = run(folder, "diff", *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr


def test_versions_of_different_kinds_of_file_are_told(tmp_path):
    rows = [{"id": "f/1", "document": "f", "number": "1", "text": "Bread; salt.", "valid_from": "2024-01-01"}]
    add(tmp_path / "library", write_rows(tmp_path / "f.jsonl", rows))
    (tmp_path / "f.md").write_text("---\ndocument: f\nvalid_from: 2025-01-01\n---\n\n1 Bread, salt.\n")
    add(tmp_path / "library", tmp_path / "f.md")
    listed = data(run(tmp_path / "library", "documents", "--json"))["documents"]
    first, second = (each["digest"] for each in listed)
    done = run(tmp_path / "library", "diff", "f", first, second)
    assert done.returncode == 0, done.stderr
    assert "read from different kinds of file (.jsonl and .md)" in done.stderr
    assert "0 amended" in done.stdout


def test_stale_answers_are_listed(tmp_path):
    folder, rules = tmp_path / "library", tmp_path / "goat.md"
    write_rulebook(rules, ["A Goat must pay.", "A Ferry must float."])
    add(folder, rules)
    assert data(run(folder, "ask", "Must a goat pay?", "--save", "--json"))["saved"] == 1
    assert data(run(folder, "answers", "--stale", "--json"))["answers"] == []
    write_rulebook(rules, ["A Goat need not pay.", "A Ferry must float."])
    add(folder, rules)
    (stale,) = data(run(folder, "answers", "--stale", "--json"))["answers"]
    assert (stale["number"], stale["stale"]) == (1, True)
    text = run(folder, "answers", "1").stdout
    assert "superseded: goat, 1.1  the version in force words the clause differently" in text
    assert "[-must-]" in text
    assert "note: citation answer 1: goat, 1.1: superseded" in run(folder, "verify").stdout
    assert run(folder, "answers", "1", "--stale").returncode == 2


def test_an_answer_whose_document_was_removed_is_among_the_stale(tmp_path):
    folder = tmp_path / "library"
    add(folder, write_rulebook(tmp_path / "ferry.md", ["A Ferry must carry a bell."]))
    assert run(folder, "ask", "What must a ferry carry?", "--recipe", "bm25", "--save").returncode == 0
    assert data(run(folder, "answers", "--stale", "--json"))["answers"] == []
    run(folder, "remove", "ferry")
    (gone,) = data(run(folder, "answers", "--stale", "--json"))["answers"]
    assert gone["citations"]["broken"] > 0
