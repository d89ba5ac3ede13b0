"""A library through its life: added to, changed, removed from, as one process sees it."""

from __future__ import annotations

import itertools
import shutil
import sqlite3
import threading
from datetime import date

import pytest
from filelock import FileLock

from helpers import PREPARE, add, failures, remove, search, state, statuses, texts, write_rows, write_rulebook
from responsa.corpus import library
from responsa.corpus.library import Library
from responsa.errors import LibraryBusy, NotALibrary, NotFound
from responsa.recipe import load
from responsa.retrieval import bm25
from responsa.types import Query, Version

FERRY = ["A Ferry must carry lifeboats.", "A Captain must hold a licence."]
GOAT = ["A Goat Keeper must register each goat.", "A goat may graze on the common."]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "library"


@pytest.fixture
def rules(tmp_path):
    folder = tmp_path / "rules"
    write_rulebook(folder / "ferry.md", FERRY)
    write_rulebook(folder / "goat.md", GOAT, valid_from="2024-01-01")
    return folder


def artefacts(folder, kind):
    """The artefacts of a kind with the times at which they were made."""
    return {
        entry.name: entry.stat().st_mtime_ns
        for entry in (folder / "artefacts").iterdir()
        if entry.name.startswith(kind)
    }


def test_documents_are_listed_with_their_versions(folder, rules):
    add(folder, rules)
    write_rulebook(rules / "goat.md", GOAT[:1], valid_from="2025-01-01")
    write_rulebook(rules / "ferry.md", FERRY[:1])
    add(folder, rules)
    with Library.open(folder) as opened:
        listed = opened.documents()
    assert [
        (each.version.document_id, each.version.valid_from, each.passages, each.current, each.live) for each in listed
    ] == [
        ("ferry", None, 3, False, False),
        ("ferry", None, 2, True, True),
        ("goat", date(2024, 1, 1), 3, False, True),
        ("goat", date(2025, 1, 1), 2, True, True),
    ]
    assert {each.source for each in listed} == {str(rules / "ferry.md"), str(rules / "goat.md")}
    assert all(isinstance(each.version, Version) and each.version.title == "Rules" for each in listed)


def test_unchanged_files_cost_nothing(folder, rules, monkeypatch):
    add(folder, rules)
    before = (state(folder), artefacts(folder, ""))
    monkeypatch.setattr(library, "_tidy", None)
    monkeypatch.setattr("responsa.corpus.sandbox.Sandbox.read", None)
    assert statuses(library.add(folder, [rules], None)) == {"ferry.md": "unchanged", "goat.md": "unchanged"}
    assert (state(folder), artefacts(folder, "")) == before


def test_only_the_passages_of_a_changed_document_are_analysed_again(folder, rules):
    add(folder, rules)
    before = artefacts(folder, "terms-")
    write_rulebook(rules / "goat.md", [*GOAT, "A goat must not swim."], valid_from="2024-01-01")
    add(folder, rules)
    after = artefacts(folder, "terms-")
    assert len(before) == len(after) == 2
    kept = before.keys() & after.keys()
    assert len(kept) == 1
    assert all(before[name] == after[name] for name in kept)
    assert len(artefacts(folder, "bm25-")) == 1
    assert search(folder, "May a goat swim?")[0] == "goat/1.3"


def test_indexes_of_what_is_replaced_are_collected(folder, rules):
    for number in range(4):
        write_rulebook(rules / "goat.md", [*GOAT, f"A goat must not swim {number} miles."], valid_from="2024-01-01")
        add(folder, rules)
    assert len(artefacts(folder, "terms-")) == 2
    assert len(artefacts(folder, "bm25-")) == 1
    assert len(state(folder)) == 5


def test_indexes_are_ready_before_the_state_is_visible(folder, rules):
    def prepare(corpus):
        PREPARE(corpus)
        assert len(list(corpus)) == 6
        assert state(folder) == frozenset()
        raise RuntimeError("no index")

    with pytest.raises(RuntimeError, match="no index"):
        library.add(folder, [rules], prepare)
    assert (state(folder), artefacts(folder, "")) == (frozenset(), {})
    add(folder, rules)
    with Library.open(folder) as opened:
        assert load("bm25").retrieve.ready(opened.corpus())


def test_damaged_and_missing_indexes_are_built_again_by_the_next_search(folder, rules):
    add(folder, rules)
    (built,) = (folder / "artefacts").glob("bm25-*")
    (built / "data.npy").write_bytes((built / "data.npy").read_bytes()[:-4])
    assert [finding.subject for finding in failures(folder)] == [built.name]
    assert search(folder, "lifeboats") == ["ferry/1.1"]
    assert failures(folder) == []
    for path in (folder / "artefacts").rglob("*"):
        if path.is_file():
            path.unlink()
    assert search(folder, "grazing goats")[0] == "goat/1.2"
    assert failures(folder) == []


def test_an_index_deleted_while_it_is_being_opened_is_built_again(folder, rules, monkeypatch):
    """A writer deletes what it has replaced; readers of the old state may just be opening it."""
    add(folder, rules)
    bm25.load.cache_clear()
    opening = bm25.load
    gone = []

    def load(path):
        if len(gone) < 2:
            gone.append(path)
            path.rename(path.with_name(f".discarded-{len(gone)}"))
        return opening(path)

    monkeypatch.setattr(bm25, "load", load)
    assert search(folder, "lifeboats") == ["ferry/1.1"]
    assert len(gone) == 2


def test_removing_by_id_and_by_path(folder, rules):
    write_rows(rules / "two.jsonl", [{"id": f"p{d}", "document": d, "text": f"Rule {d}"} for d in "xy"])
    add(folder, rules)
    write_rulebook(rules / "ferry.md", FERRY[:1])
    add(folder, rules)
    assert remove(folder, "ferry") == ("ferry",)
    assert {each[0] for each in state(folder)} == {"goat", "x", "y"}
    assert remove(folder, str(rules / "two.jsonl")) == ("x", "y")
    assert {each[0] for each in state(folder)} == {"goat"}
    assert failures(folder) == []
    assert search(folder, "lifeboats") == []
    assert remove(folder, "goat") == ("goat",)
    assert state(folder) == frozenset()
    assert search(folder, "goat") == []
    assert artefacts(folder, "terms-") == {}
    assert statuses(add(folder, rules)) == {"ferry.md": "added", "goat.md": "added", "two.jsonl": "added"}


def test_removing_by_a_relative_path(folder, rules, monkeypatch):
    add(folder, rules)
    monkeypatch.chdir(rules)
    assert remove(folder, "goat.md") == ("goat",)


def test_removing_what_is_not_there(folder, rules):
    with pytest.raises(NotALibrary):
        remove(folder, "goat")
    assert not folder.exists()
    add(folder, rules)
    before = state(folder)
    with pytest.raises(NotFound, match=r"'gaot'.*did you mean 'goat'\?"):
        remove(folder, "gaot")
    with pytest.raises(NotFound, match="known: ferry, goat"):
        remove(folder, "sheep-and-cattle")
    assert state(folder) == before


def test_a_corpus_once_opened_stays_as_it_is(folder, rules):
    add(folder, rules)
    with Library.open(folder) as opened:
        corpus = opened.corpus()
        before = dict(corpus)
        write_rulebook(rules / "ferry.md", ["A Ferry must have an anchor."])
        add(folder, rules)
        assert dict(corpus) == before
        assert corpus["ferry/1.1"].text == FERRY[0]
        assert opened.corpus()["ferry/1.1"].text == "A Ferry must have an anchor."


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path, rules):
    for action in (lambda: add(rules, rules), lambda: remove(rules, "goat")):
        with pytest.raises(NotALibrary):
            action()
    assert sorted(path.name for path in rules.iterdir()) == ["ferry.md", "goat.md"]
    with pytest.raises(NotALibrary, match="is a file; a library is a folder"):
        add(rules / "goat.md", rules)


def test_an_empty_folder_becomes_a_library(folder, rules):
    folder.mkdir()
    add(folder, rules)
    assert texts(folder, "ferry") == FERRY


def test_a_failing_write_takes_everything_back(folder, rules):
    add(folder, rules)
    before = state(folder)

    def fail():
        with library.writer(folder) as db:
            db.execute("DELETE FROM versions")
            db.execute("DELETE FROM none")

    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        fail()
    assert state(folder) == before
    add(folder, rules)


def test_a_second_writer_is_told_after_its_patience(folder, rules):
    add(folder, rules)
    told = []
    with FileLock(folder / ".lock"):
        with pytest.raises(LibraryBusy, match="waited 0 seconds"), library.writer(folder, 0, lambda: told.append(1)):
            pass
        assert search(folder, "lifeboats") == ["ferry/1.1"]
    assert told == [1]


def test_a_second_writer_waits(folder, rules):
    add(folder, rules)
    lock = FileLock(folder / ".lock", thread_local=False)
    lock.acquire()
    write_rulebook(rules / "ferry.md", FERRY[:1])
    # The lock is let go only once the writer has said that it waits.
    report = library.add(folder, [rules], PREPARE, waiting=lambda: threading.Timer(0.05, lock.release).start())
    assert statuses(report) == {"ferry.md": "changed", "goat.md": "unchanged"}


def test_tidying_is_left_to_the_next_writer_where_one_is_at_work(folder, rules, monkeypatch):
    add(folder, rules)
    write_rulebook(rules / "ferry.md", FERRY[:1])
    tidy = library._tidy

    def tidy_while_another_writes(*arguments):
        with FileLock(folder / ".lock"):
            tidy(*arguments)

    monkeypatch.setattr(library, "_tidy", tidy_while_another_writes)
    add(folder, rules)
    assert len(artefacts(folder, "bm25-")) == 2
    assert texts(folder, "ferry") == FERRY[:1]


def test_ctrl_c_while_the_index_is_built_keeps_what_was_read(folder, rules):
    def interrupted(corpus):
        raise KeyboardInterrupt

    report = library.add(folder, [rules], interrupted)
    assert (statuses(report), report.interrupted) == ({"ferry.md": "added", "goat.md": "added"}, True)
    assert len(state(folder)) == 2
    assert failures(folder) == []
    assert search(folder, "lifeboats") == ["ferry/1.1"]


def test_replaced_versions_can_be_read_again(folder, rules):
    add(folder, rules)
    write_rulebook(rules / "ferry.md", FERRY[:1])
    add(folder, rules)
    with Library.open(folder) as opened:
        replaced = next(each.version for each in opened.documents() if not each.live)
        corpus = opened.version(replaced.digest[:12])
        assert corpus.versions == (replaced,)
        assert [passage.text for passage in corpus.values() if passage.text] == FERRY
        assert [passage.id for passage in corpus.find("ferry", "1.2")] == ["ferry/1.2"]
        assert opened.version(replaced.digest).versions == (replaced,)


def test_versions_that_are_not_there_or_may_be_several(folder, rules):
    for number in range(17):  # of 17 digests two begin alike
        write_rulebook(rules / f"{number}.md", FERRY)
    add(folder, rules)
    with Library.open(folder) as opened:
        digests = sorted(each.version.digest for each in opened.documents())
        alike = next(one[0] for one, other in itertools.pairwise(digests) if one[0] == other[0])
        with pytest.raises(NotFound, match=f"version '{alike}' may be one of several: {alike}.*; give more"):
            opened.version(alike)
        for prefix in ("", "x", "%", digests[0] + "0"):
            with pytest.raises(NotFound, match=f"no version '{prefix}' in .*; responsa documents lists them"):
                opened.version(prefix)


def test_a_document_removed_while_it_is_indexed_is_found_when_it_is_added_again(folder, rules):
    add(folder, rules)
    with Library.open(folder) as opened:
        corpus = opened.corpus()
        remove(folder, "ferry")
        with pytest.raises(NotFound, match="document 'ferry' was removed while it was being read; ask again"):
            load("bm25").retrieve([Query("q", "lifeboats")], corpus, 3)
    add(folder, rules)
    assert search(folder, "lifeboats") == ["ferry/1.1"]
    assert failures(folder) == []


@pytest.mark.parametrize(("kind", "file"), [("bm25-", "data.npy"), ("bm25-", "ids_end.npy"), ("terms-", "term.npy")])
def test_altered_indexes_of_the_same_size_are_built_again_by_the_next_search(folder, rules, kind, file):
    add(folder, rules)
    bm25.load.cache_clear()
    for built in (folder / "artefacts").glob(f"{kind}*"):
        (built / file).write_bytes(b"\xff" * (built / file).stat().st_size)
    if kind == "terms-":
        for built in (folder / "artefacts").glob("bm25-*"):
            shutil.rmtree(built)
    assert search(folder, "lifeboats") == ["ferry/1.1"]
    assert failures(folder) == []
