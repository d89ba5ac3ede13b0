"""What becomes of each file: new, changed, unchanged, refused; and of the versions it held."""

from __future__ import annotations

import errno
import os
from datetime import date
from pathlib import Path

import pytest

from helpers import PREPARE, add, failures, remove, state, statuses, texts, versions, write_rows, write_rulebook
from responsa.corpus import library, listing
from responsa.corpus.library import Library
from responsa.corpus.sandbox import Sandbox
from responsa.errors import InputError, NotFound

OLD = ["A Ferry must carry lifeboats."]
NEW = ["A Ferry must carry two lifeboats."]


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "library"


@pytest.fixture
def rules(tmp_path):
    rules = tmp_path / "rules"
    rules.mkdir()
    return rules


def reason(report, name):
    (found,) = (file for file in report.files if Path(file.path).name == name)
    assert found.status == "refused"
    return found.reason


def summary(folder):
    """Of each version: its document, the year it starts, whether it is current, whether it is live."""
    with Library.open(folder) as opened:
        return [
            (
                each.version.document_id,
                each.version.valid_from and each.version.valid_from.year,
                each.current,
                each.live,
            )
            for each in opened.documents()
        ]


# Versions


def test_the_same_content_again_is_no_new_version(folder, rules):
    path = write_rulebook(rules / "ferry.md", OLD)
    assert statuses(add(folder, rules)) == {"ferry.md": "added"}
    before = state(folder)
    assert statuses(add(folder, rules)) == {"ferry.md": "unchanged"}
    os.utime(path, ns=(1, 1))  # touched
    assert statuses(add(folder, rules)) == {"ferry.md": "unchanged"}
    path.write_text(path.read_text(encoding="utf-8").replace("\n", "\r\n"), encoding="utf-8", newline="")
    assert statuses(add(folder, rules)) == {"ferry.md": "changed"}  # other bytes, the same passages
    assert state(folder) == before


def test_touching_a_file_is_noticed_once_only(folder, rules, monkeypatch):
    path = write_rulebook(rules / "ferry.md", OLD)
    add(folder, rules)
    os.utime(path, ns=(1, 1))
    add(folder, rules)
    monkeypatch.setattr("hashlib.file_digest", None)
    assert statuses(add(folder, rules)) == {"ferry.md": "unchanged"}


def test_a_changed_file_is_a_new_version_and_the_old_one_stays(folder, rules):
    path = write_rulebook(rules / "ferry.md", OLD)
    report = add(folder, rules)
    assert (report.files[0].documents, report.files[0].passages) == (("ferry",), 2)
    write_rulebook(path, NEW)
    assert statuses(add(folder, rules)) == {"ferry.md": "changed"}
    assert summary(folder) == [("ferry", None, False, False), ("ferry", None, True, True)]
    assert texts(folder, "ferry") == NEW
    assert failures(folder) == []


def test_a_file_changed_back_brings_its_version_back(folder, rules):
    path = write_rulebook(rules / "ferry.md", OLD)
    add(folder, rules)
    write_rulebook(path, NEW)
    add(folder, rules)
    write_rulebook(path, OLD)
    add(folder, rules)
    assert summary(folder) == [("ferry", None, True, True), ("ferry", None, False, False)]
    assert texts(folder, "ferry") == OLD


def test_a_file_overwritten_by_the_next_edition_leaves_the_former_as_history(folder, rules):
    path = write_rulebook(rules / "ferry.md", OLD, valid_from="2020-01-01")
    add(folder, rules)
    write_rulebook(path, NEW, valid_from="2024-07-01")
    add(folder, rules)
    assert summary(folder) == [("ferry", 2020, False, True), ("ferry", 2024, True, True)]
    assert texts(folder, "ferry") == NEW
    assert texts(folder, "ferry", date(2024, 7, 1)) == NEW
    assert texts(folder, "ferry", date(2024, 6, 30)) == OLD
    assert texts(folder, "ferry", date(2019, 12, 31)) == []


def test_an_edition_without_a_date_is_history_of_one_with_a_date(folder, rules):
    path = write_rulebook(rules / "ferry.md", OLD)
    add(folder, rules)
    write_rulebook(path, NEW, valid_from="2024-07-01")
    add(folder, rules)
    assert texts(folder, "ferry") == NEW
    assert texts(folder, "ferry", date(1999, 1, 1)) == OLD


@pytest.mark.parametrize("corrected", ["2023-07-01", None])
def test_a_date_corrected_to_an_earlier_one_replaces_the_mistaken_version(folder, rules, corrected):
    path = write_rulebook(rules / "ferry.md", OLD, valid_from="2032-07-01")
    add(folder, rules)
    write_rulebook(path, OLD, valid_from=corrected)
    add(folder, rules)
    year = corrected and int(corrected[:4])
    assert sorted(summary(folder), key=str) == sorted(
        [("ferry", 2032, False, False), ("ferry", year, True, True)], key=str
    )
    assert texts(folder, "ferry", date(2024, 1, 1)) == OLD


def test_two_files_of_one_document_with_different_dates(folder, rules):
    write_rulebook(rules / "b.md", OLD, document="ferry", valid_from="2020-01-01")
    write_rulebook(rules / "a.md", NEW, document="ferry", valid_from="2024-01-01")
    assert statuses(add(folder, rules)) == {"a.md": "added", "b.md": "added"}
    assert summary(folder) == [("ferry", 2020, False, True), ("ferry", 2024, True, True)]
    assert (texts(folder, "ferry"), texts(folder, "ferry", date(2023, 1, 1))) == (NEW, OLD)
    write_rulebook(rules / "b.md", ["Amended."], document="ferry", valid_from="2020-01-01")
    add(folder, rules)
    assert (texts(folder, "ferry"), texts(folder, "ferry", date(2023, 1, 1))) == (NEW, ["Amended."])
    (rules / "b.md").unlink()
    write_rulebook(rules / "a.md", ["Other."], document="goat")  # the later edition is gone, the earlier is current
    add(folder, rules)
    assert texts(folder, "ferry") == ["Amended."]


def test_two_files_may_not_claim_the_same_edition(folder, rules):
    first = write_rulebook(rules / "a.md", OLD, document="ferry", valid_from="2024-01-01")
    second = write_rulebook(rules / "b.md", NEW, document="ferry", valid_from="2024-01-01")
    report = add(folder, rules)
    assert statuses(report) == {"a.md": "added", "b.md": "refused"}
    (refused,) = report.refused
    assert refused.path == str(second)
    assert str(first) in refused.reason
    assert "'ferry' with valid_from 2024-01-01 is already in the library from" in refused.reason
    assert texts(folder, "ferry") == OLD
    first.unlink()
    assert statuses(add(folder, rules)) == {"b.md": "added"}
    assert texts(folder, "ferry") == NEW


def test_an_identical_copy_changes_nothing_until_one_of_the_two_changes(folder, rules):
    write_rulebook(rules / "a.md", OLD, document="ferry")
    write_rulebook(rules / "b.md", OLD, document="ferry")
    assert statuses(add(folder, rules)) == {"a.md": "added", "b.md": "added"}
    assert len(state(folder)) == 1
    for path, other in (("a.md", "b.md"), ("b.md", "a.md")):
        write_rulebook(rules / path, NEW, document="ferry")
        report = add(folder, rules)
        assert str(rules / other) in reason(report, path)
        write_rulebook(rules / path, OLD, document="ferry")
        add(folder, rules)
    assert texts(folder, "ferry") == OLD


@pytest.mark.parametrize("edited", ["a.md", "b.md"])
def test_a_copy_that_becomes_another_document_leaves_the_original_in_force(folder, rules, edited):
    for name in ("a.md", "b.md"):
        write_rulebook(rules / name, OLD, document="ferry")
    add(folder, rules)
    write_rulebook(rules / edited, ["A goat must be fed."], document="goat")
    add(folder, rules)
    assert (texts(folder, "ferry"), texts(folder, "goat")) == (OLD, ["A goat must be fed."])
    for name in ("a.md", "b.md"):  # now nobody holds the ferry rules any more
        write_rulebook(rules / name, ["A goat must be fed."], document="goat")
    add(folder, rules)
    assert (texts(folder, "ferry"), texts(folder, "goat")) == ([], ["A goat must be fed."])


def test_a_renamed_file_takes_its_document_along(folder, rules):
    path = write_rulebook(rules / "a.md", OLD, document="ferry")
    add(folder, rules)
    path.rename(rules / "b.md")
    report = add(folder, rules)
    assert (statuses(report), report.missing) == ({"b.md": "added"}, ())
    assert len(state(folder)) == 1
    path = (rules / "b.md").rename(rules / "c.md")
    write_rulebook(path, NEW, document="ferry")
    report = add(folder, rules)
    assert (statuses(report), report.missing, texts(folder, "ferry")) == ({"c.md": "added"}, (), NEW)


def test_a_document_dropped_from_a_file_is_no_longer_in_force(folder, rules):
    rows = [{"id": f"p{d}", "document": d, "text": f"Rule {d}"} for d in "xyz"]
    path = write_rows(rules / "all.jsonl", rows)
    add(folder, rules)
    write_rows(path, rows[:2])
    assert add(folder, rules).files[0].documents == ("x", "y")
    assert summary(folder) == [("x", None, True, True), ("y", None, True, True), ("z", None, False, False)]
    write_rows(path, rows)
    add(folder, rules)
    assert summary(folder) == [(d, None, True, True) for d in "xyz"]


# Passage ids


def test_a_passage_id_belongs_to_one_document(folder, rules):
    write_rows(rules / "a.jsonl", [{"id": "p1", "document": "x", "text": "A Firm must act."}])
    write_rows(rules / "b.jsonl", [{"id": "p1", "document": "y", "text": "A Firm may wait."}])
    report = add(folder, rules)
    assert statuses(report) == {"a.jsonl": "added", "b.jsonl": "refused"}
    assert "passage id 'p1' of document 'y' is already that of a passage of document 'x'" in reason(report, "b.jsonl")
    assert {each[0] for each in state(folder)} == {"x"}


def test_a_file_may_give_its_document_another_id(folder, rules):
    path = write_rows(rules / "a.jsonl", [{"id": "p1", "document": "x", "text": "A Firm must act."}])
    add(folder, rules)
    write_rows(path, [{"id": "p1", "document": "y", "text": "A Firm must act."}])
    assert statuses(add(folder, rules)) == {"a.jsonl": "changed"}
    assert summary(folder) == [("x", None, False, False), ("y", None, True, True)]


def test_a_passage_may_move_between_the_documents_of_a_file(folder, rules):
    rows = [{"id": "p1", "document": "x", "text": "One"}, {"id": "p2", "document": "y", "text": "Two"}]
    path = write_rows(rules / "a.jsonl", rows)
    add(folder, rules)
    write_rows(path, [rows[0] | {"document": "y"}, rows[1] | {"document": "x"}])
    assert statuses(add(folder, rules)) == {"a.jsonl": "changed"}
    assert (texts(folder, "x"), texts(folder, "y")) == (["Two"], ["One"])
    assert failures(folder) == []


# Files and folders


def test_what_is_found_in_a_folder(folder, rules):
    write_rulebook(rules / "b" / "second.md", OLD)
    write_rulebook(rules / "a.md", OLD)
    for name in (".hidden.md", "~$open.md", ".git/x.md", "b/.cache/y.md"):
        write_rulebook(rules / name, OLD)
    (rules / "notes.xlsx").write_bytes(b"PK")
    (rules / "README").write_text("read me")
    found = listing.expand([rules / "b" / "second.md", rules, rules])
    assert [path.name for path in found.files] == ["second.md", "a.md"]
    report = add(folder, rules)
    assert statuses(report) == {"a.md": "added", "second.md": "added"}
    assert report.skipped == (str(rules / "README"), str(rules / "notes.xlsx"))


def test_a_hidden_folder_may_be_named(folder, rules):
    write_rulebook(rules / ".drafts" / "a.md", OLD)
    assert statuses(add(folder, rules / ".drafts")) == {"a.md": "added"}


def test_nothing_named(folder):
    with pytest.raises(InputError, match="nothing to add"):
        add(folder)
    assert not folder.exists()


def test_vanished_sources_are_reported_and_stay(folder, rules, tmp_path):
    for name in ("a.md", "sub/b.md"):
        write_rulebook(rules / name, OLD)
    add(folder, rules)
    for name in ("a.md", "sub/b.md"):
        (rules / name).unlink()
    assert add(folder, rules).missing == (str(rules / "a.md"), str(rules / "sub" / "b.md"))
    assert add(folder, rules / "sub").missing == (str(rules / "sub" / "b.md"),)
    assert texts(folder, "a") == OLD
    assert remove(folder, str(rules / "a.md")) == ("a",)
    assert add(folder, rules).missing == (str(rules / "sub" / "b.md"),)
    other = write_rulebook(tmp_path / "other" / "c.md", OLD)
    assert add(folder, other).missing == ()


BAD = {
    "truncated.json": b'[{"ID": "a", "DocumentID": 1, "PassageID": "1", "Passa',
    "binary.md": b"\x7fELF\x00\x01",
    "latin.txt": "1.1 Geb\u00fchr".encode("latin-1"),
    "empty.md": b"",
    "shape.json": b'{"rules": []}',
    "twice.jsonl": b'{"id": "a", "text": "x"}\n{"id": "a", "text": "y"}\n',
}


def test_bad_files_never_stop_the_others(folder, rules):
    write_rulebook(rules / "a.md", OLD)
    write_rulebook(rules / "z.md", NEW)
    for name, content in BAD.items():
        (rules / name).write_bytes(content)
    (rules / "broken.md").symlink_to(rules / "nowhere.md")
    os.mkfifo(rules / "pipe.md")
    report = add(folder, rules)
    refused = {Path(file.path).name for file in report.refused}
    assert refused == {*BAD, "broken.md", "pipe.md"}
    assert all(file.reason and not file.reason.startswith("/") for file in report.refused)
    assert {each[0] for each in state(folder)} == {"a", "z"}
    assert failures(folder) == []


def test_what_cannot_be_read(folder, rules, tmp_path):
    report = add(folder, rules / "none.md", write_rulebook(rules / "notes.doc", OLD), Path("/dev/null"))
    assert reason(report, "none.md") == "cannot be read: No such file or directory"
    assert "'.doc' cannot be read; save it as .docx; known:" in reason(report, "notes.doc")
    assert reason(report, "null") == "is no regular file; give a file or a folder"
    assert state(folder) == frozenset()


def test_a_slip_makes_no_library(folder, rules):
    missing = rules / "nome.md", rules / "nine"
    with pytest.raises(NotFound, match=r"nome.md, .*nine: no such file or folder; nothing was added and no library"):
        add(folder, *missing)
    assert not folder.exists()
    add(folder, write_rulebook(rules / "a.md", OLD), *missing)
    before = state(folder)
    assert reason(add(folder, *missing), "nine") == "cannot be read: No such file or directory"
    assert state(folder) == before


def test_names_that_are_not_unicode(folder, rules):
    odd = Path(os.fsdecode(os.fsencode(rules) + b"/odd\xff"))
    write_rulebook(odd / "a.md", OLD)
    (odd / "b.doc").write_bytes(b"")
    write_rulebook(rules / "z.md", OLD)
    report = add(folder, rules)
    assert statuses(report) == {"a.md": "refused", "z.md": "added"}
    assert reason(report, "a.md") == "its name is not valid Unicode; rename it"
    assert all("odd\\udcff" in path for path in (report.files[0].path, *report.skipped))


def test_a_file_that_vanishes_between_listing_and_reading(folder, rules):
    write_rulebook(rules / "a.md", OLD)
    gone = write_rulebook(rules / "b.md", OLD)
    write_rulebook(rules / "c.md", OLD)
    report = library.add(folder, [rules], PREPARE, lambda done, _total, _name: done == 1 and gone.unlink())
    assert statuses(report) == {"a.md": "added", "b.md": "refused", "c.md": "added"}


def test_a_refused_change_leaves_the_version_that_was(folder, rules):
    path = write_rows(rules / "two.jsonl", [{"id": f"p{d}", "document": d, "text": f"Rule {d}"} for d in "xy"])
    write_rows(rules / "a.jsonl", [{"id": "q", "document": "w", "text": "Rule w"}])
    add(folder, rules)
    before = state(folder)
    write_rows(path, [{"id": "px", "document": "x", "text": "Other"}, {"id": "q", "document": "y", "text": "Clash"}])
    assert statuses(add(folder, rules)) == {"a.jsonl": "unchanged", "two.jsonl": "refused"}
    assert state(folder) == before
    assert statuses(add(folder, rules)) == {"a.jsonl": "unchanged", "two.jsonl": "refused"}  # said again each time


def test_ctrl_c_stops_after_the_files_read_and_the_next_run_goes_on(folder, rules, monkeypatch):
    for name in "abc":
        write_rulebook(rules / f"{name}.md", OLD)
    read = Sandbox.read

    def interrupted(self, path):
        if path.name == "b.md":
            raise KeyboardInterrupt
        return read(self, path)

    monkeypatch.setattr(Sandbox, "read", interrupted)
    report = add(folder, rules)
    assert (statuses(report), report.interrupted) == ({"a.md": "added"}, True)
    assert (texts(folder, "a"), failures(folder)) == (OLD, [])
    monkeypatch.undo()
    report = add(folder, rules)
    assert statuses(report) == {"a.md": "unchanged", "b.md": "added", "c.md": "added"}


def test_the_history_of_a_removed_document_goes_with_it(folder, rules):
    path = write_rulebook(rules / "ferry.md", OLD, valid_from="2020-01-01")
    add(folder, rules)
    write_rulebook(path, NEW, valid_from="2024-01-01")
    add(folder, rules)
    assert len(versions(folder, "ferry")) == 2
    remove(folder, str(path))
    assert versions(folder, "ferry") == []


# Removing by path


def test_removing_one_of_two_editions_by_its_path_leaves_the_other(folder, rules):
    old = write_rulebook(rules / "2020.md", OLD, "ferry", "2020-01-01")
    new = write_rulebook(rules / "2024.md", NEW, "ferry", "2024-01-01")
    add(folder, rules)
    assert remove(folder, str(new)) == ("ferry",)
    assert summary(folder) == [("ferry", 2020, True, True)]
    assert (texts(folder, "ferry"), failures(folder)) == (OLD, [])
    assert statuses(add(folder, rules)) == {"2020.md": "unchanged", "2024.md": "added"}
    assert texts(folder, "ferry") == NEW
    assert remove(folder, str(old)) == ("ferry",)
    assert summary(folder) == [("ferry", 2024, True, True)]


def test_the_history_from_another_file_stays(folder, rules):
    write_rulebook(rules / "a.md", ["First."], "ferry", "2018-01-01")
    add(folder, rules)
    write_rulebook(rules / "a.md", OLD, "ferry", "2020-01-01")
    new = write_rulebook(rules / "b.md", NEW, "ferry", "2024-01-01")
    add(folder, rules)
    remove(folder, str(new))
    assert summary(folder) == [("ferry", 2018, False, True), ("ferry", 2020, True, True)]


@pytest.mark.parametrize("removed", ["a.md", "b.md"])
def test_what_a_copy_holds_stays(folder, rules, removed):
    for name in ("a.md", "b.md"):
        write_rulebook(rules / name, OLD, "ferry")
    add(folder, rules)
    assert remove(folder, str(rules / removed)) == ("ferry",)
    (other,) = {"a.md", "b.md"} - {removed}
    with Library.open(folder) as opened:
        assert [each.source for each in opened.documents()] == [str(rules / other)]
    assert (texts(folder, "ferry"), failures(folder)) == (OLD, [])
    assert statuses(add(folder, rules)) == {removed: "added", other: "unchanged"}


def test_a_document_removed_from_a_file_of_several_comes_back_with_it(folder, rules):
    rows = [{"id": f"p{d}", "document": d, "text": f"Rule {d}"} for d in "xy"]
    write_rows(rules / "two.jsonl", rows)
    add(folder, rules)
    assert remove(folder, "x") == ("x",)
    assert summary(folder) == [("y", None, True, True)]
    assert statuses(add(folder, rules)) == {"two.jsonl": "changed"}
    assert summary(folder) == [("x", None, True, True), ("y", None, True, True)]
    assert failures(folder) == []
    assert statuses(add(folder, rules)) == {"two.jsonl": "unchanged"}


def test_a_file_that_comes_back_unchanged_is_read_again(folder, rules, tmp_path):
    path = write_rulebook(rules / "a.md", OLD, "ferry")
    add(folder, rules)
    path.rename(tmp_path / "elsewhere.md")
    other = write_rulebook(rules / "b.md", OLD, "ferry")
    add(folder, rules)
    (tmp_path / "elsewhere.md").rename(path)
    other.unlink()
    assert statuses(add(folder, rules)) == {"a.md": "changed"}
    with Library.open(folder) as opened:
        assert [each.source for each in opened.documents()] == [str(path)]
    assert failures(folder) == []


def test_removing_names_that_are_not_unicode(folder, rules):
    add(folder, write_rulebook(rules / "a.md", OLD))
    with pytest.raises(NotFound, match="known: a"):
        remove(folder, "odd\udcff-and-long")


# Paths


@pytest.mark.parametrize("way", ["../rules/a.md", "./x/../a.md"])
def test_one_file_has_one_path(folder, rules, monkeypatch, way):
    path = write_rulebook(rules / "a.md", OLD)
    add(folder, path)
    monkeypatch.chdir(rules)
    assert statuses(add(folder, Path(way))) == {"a.md": "unchanged"}
    with Library.open(folder) as opened:
        assert [each.source for each in opened.documents()] == [str(path)]
    assert remove(folder, way) == ("a",)


def test_the_library_itself_is_not_read(rules):
    folder = rules / "library"
    write_rulebook(rules / "a.md", OLD)
    for _ in range(2):
        report = add(folder, rules)
        assert {Path(file.path).name for file in report.files} == {"a.md"}
        assert report.skipped == ()
    other = rules.parent / "other"
    assert add(other, rules).skipped == (str(folder),)
    report = add(other, folder)
    assert reason(report, "library") == "is a library, not rules; give the files that it was made from"


def test_a_copy_under_another_name_is_told(folder, rules):
    first, second = rules / "a.txt", rules / "b.txt"
    first.write_text("1.1 A Ferry must float.\n")
    second.write_text("1.1 A Ferry must float.\n")
    notices = {Path(file.path).name: file.notices for file in add(folder, rules).files}
    assert notices["a.txt"] == ()
    (told,) = notices["b.txt"]
    assert told.startswith(f"is a copy of {first}: its text is in the library twice, as b and as a;")
    first.unlink()
    (rules / "c.txt").write_text("1.1 A Ferry must float.\n")
    (told,) = next(file.notices for file in add(folder, rules).files if file.path.endswith("c.txt"))
    assert told.startswith(f"is a copy of {second}: ")


def test_a_copy_of_the_same_document_needs_no_word(folder, rules):
    for name in ("a.md", "b.md"):
        (rules / name).write_text("---\ndocument: ferry\n---\n1.1 A Ferry must float.\n")
    assert all(file.notices == () for file in add(folder, rules).files)


def test_links_to_folders_are_skipped(folder, rules, tmp_path):
    write_rulebook(tmp_path / "far" / "b.md", OLD)
    write_rulebook(rules / "a.md", OLD)
    for name in ("near", ".hidden", "looks-like.md"):
        (rules / name).symlink_to(tmp_path / "far")
    report = add(folder, rules)
    assert (statuses(report), report.skipped) == (
        {"a.md": "added"},
        (str(rules / "looks-like.md"), str(rules / "near")),
    )


def test_links_to_files_outside_the_folder_are_skipped_and_those_within_are_read(folder, rules, tmp_path):
    write_rulebook(tmp_path / "secret.md", OLD)
    write_rulebook(rules / "a.md", OLD[:1])
    (rules / "out.md").symlink_to(tmp_path / "secret.md")
    (rules / "in.md").symlink_to(rules / "a.md")
    report = add(folder, rules)
    assert statuses(report).keys() == {"a.md", "in.md"}
    assert report.skipped == (str(rules / "out.md"),)


def test_paths_that_cannot_be_looked_at_are_refused_alone(folder, rules):
    write_rulebook(rules / "a.md", OLD)
    (rules / "loop.md").symlink_to(rules / "loop.md")
    long = rules / ("x" * 300 + ".md")
    report = add(folder, long, rules / "nul\0.md", rules, rules / "a.md" / "below.md")
    assert reason(report, "loop.md") == "cannot be read: Too many levels of symbolic links"
    assert reason(report, long.name) == "cannot be read: File name too long"
    assert "null byte" in reason(report, "nul\0.md")
    assert reason(report, "below.md") == "cannot be read: Not a directory"
    assert statuses(report)["a.md"] == "added"


@pytest.fixture
def forbid(monkeypatch):
    """Makes looking at a path fail as it fails for whoever is not root."""

    def make(function, forbidden, number=errno.EACCES):
        owner = Path if function == "stat" else os
        original = getattr(owner, function)

        def guarded(path, **options):
            if Path(path) == forbidden:
                raise OSError(number, os.strerror(number), str(path))
            return original(path, **options)

        monkeypatch.setattr(owner, function, guarded)

    return make


def test_a_folder_that_cannot_be_listed_is_refused_alone(folder, rules, forbid):
    write_rulebook(rules / "a.md", OLD)
    write_rulebook(rules / "closed" / "b.md", OLD)
    forbid("scandir", rules / "closed")
    report = add(folder, rules)
    assert statuses(report) == {"a.md": "added", "closed": "refused"}
    assert reason(report, "closed") == "the folder cannot be read: Permission denied; check its permissions"


@pytest.mark.parametrize("number", [errno.EACCES, errno.ELOOP, errno.ENAMETOOLONG])
def test_sources_that_cannot_be_looked_at_count_as_there(folder, rules, forbid, number):
    write_rulebook(rules / "a.md", OLD, "ferry")
    add(folder, rules)
    second = write_rulebook(rules / "b.md", NEW, "ferry")
    forbid("stat", rules / "a.md", number)
    report = add(folder, rules)
    assert statuses(report) == {"a.md": "refused", "b.md": "refused"}
    assert str(rules / "a.md") in reason(report, second.name)
    assert report.missing == ()
    assert texts(folder, "ferry") == OLD
