from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import date

import pytest

from helpers import add, alter, edition, state, write_rulebook
from responsa.corpus import catalogue, library
from responsa.corpus.library import Library
from responsa.errors import LibraryBusy, LibraryTooNew, NotALibrary, StorageError
from responsa.types import Box, Passage, Version

RICH = Passage(
    "d/1", "d", " 1.\u200e1 ", "A \t“Firm” must\nact.\x00", "Title", None, ("Part 1", "Duties – general"),
    "table", 7, (Box(7, 1.5, 2, 3, 4), Box(8, 0, 0, 1, 1)), ("checked", "ocr"),
)  # fmt: skip
PLAIN = Passage("d/2", "d", "", "", parent_id="d/1", kind="heading")


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "library"
    folder.mkdir()
    catalogue.create(folder)
    return folder


def test_passages_come_back_as_they_went_in(folder):
    with closing(catalogue.connect(folder, writable=True)) as db:
        db.execute("INSERT INTO versions VALUES (1, 'd', 'x', 'D', '2024-01-31', NULL, '', NULL, 1, 1)")
        catalogue.insert_passages(db, 1, [RICH, PLAIN])
        query = f"SELECT {catalogue.PASSAGE_COLUMNS} FROM passages p JOIN versions v ON v.id = p.version_id"
        assert [catalogue.passage_of(row) for row in db.execute(query + " ORDER BY p.ordinal")] == [RICH, PLAIN]
        row = db.execute(f"SELECT {catalogue.VERSION_COLUMNS} FROM versions v").fetchone()
        assert catalogue.version_of(row) == Version("d", "x", "D", date(2024, 1, 31), None)


def test_canonical_form_tells_every_stored_difference_apart():
    base = catalogue.canonical(edition("d", RICH, PLAIN))
    changed = [
        edition("d", PLAIN, RICH),
        edition("d", RICH),
        edition("e", RICH, PLAIN),
        edition("d", RICH, PLAIN, valid_from=date(2024, 1, 1)),
        edition("d", RICH, PLAIN, valid_to=date(2024, 1, 1)),
        *(
            edition("d", Passage(**{name: getattr(RICH, name) for name in Passage.__slots__} | change), PLAIN)
            for change in (
                {"id": "d/9"}, {"number": "1.1"}, {"text": "A Firm must act."}, {"title": ""}, {"parent_id": "d/2"},
                {"path": ("Part 1",)}, {"kind": "text"}, {"page": None}, {"boxes": ()}, {"flags": ()},
            )
        ),
    ]  # fmt: skip
    forms = [repr(catalogue.canonical(each)) for each in changed]
    assert repr(base) not in forms
    assert len(set(forms)) == len(forms)


def test_no_library(tmp_path):
    for folder in (tmp_path / "none", tmp_path):
        with pytest.raises(NotALibrary, match="no library here"):
            Library.open(folder)
    assert list(tmp_path.iterdir()) == []


def test_a_later_schema_is_left_alone(folder):
    alter(folder, f"PRAGMA user_version = {catalogue.SCHEMA_VERSION + 1}")
    before = (folder / catalogue.FILE).read_bytes()
    for writable in (False, True):
        with pytest.raises(LibraryTooNew, match=f"schema {catalogue.SCHEMA_VERSION + 1}, .*upgrade"):
            catalogue.connect(folder, writable=writable)
    with pytest.raises(LibraryTooNew), library.writer(folder):
        pass
    assert (folder / catalogue.FILE).read_bytes() == before


def test_a_foreign_database_is_left_alone(tmp_path):
    with closing(sqlite3.connect(tmp_path / catalogue.FILE)) as db:
        db.execute("CREATE TABLE recipes (name TEXT)")
    before = (tmp_path / catalogue.FILE).read_bytes()
    with pytest.raises(NotALibrary, match="not a Responsa catalogue"):
        Library.open(tmp_path)
    with pytest.raises(NotALibrary, match="not a Responsa catalogue"), library.writer(tmp_path):
        pass
    assert (tmp_path / catalogue.FILE).read_bytes() == before


@pytest.mark.parametrize("content", [b"My shopping list\n" * 300, b"x", b"SQLite format 3\0" + b"\xff" * 5000])
def test_something_else_in_place_of_the_catalogue(tmp_path, content):
    (tmp_path / catalogue.FILE).write_bytes(content)
    with pytest.raises(StorageError, match="damaged"):
        Library.open(tmp_path)
    with pytest.raises(StorageError, match="damaged"), library.writer(tmp_path):
        pass
    assert (tmp_path / catalogue.FILE).read_bytes() == content


def test_a_truncated_catalogue_is_said_to_be_damaged(tmp_path):
    folder = tmp_path / "library"
    add(folder, *(write_rulebook(tmp_path / f"{n}.md", ["A Firm must act."] * 60) for n in range(5)))
    file = folder / catalogue.FILE
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(StorageError, match=r"damaged.*restore"), Library.open(folder) as opened:
        list(opened.corpus())


def test_an_unfinished_catalogue_is_finished_by_the_next_writer(tmp_path):
    """What a process leaves that is killed while it makes a new library."""
    rules = write_rulebook(tmp_path / "rules.md", ["A Firm must act."])
    for name, begin in {"empty": "", "header": "PRAGMA journal_mode = WAL"}.items():
        folder = tmp_path / name
        folder.mkdir()
        with closing(sqlite3.connect(folder / catalogue.FILE)) as db:
            db.execute(begin)
        assert not catalogue.exists(folder)
        with pytest.raises(NotALibrary):
            Library.open(folder)
        add(folder, rules)
        assert len(state(folder)) == 1


def test_a_writer_that_ignores_the_lock_file_is_waited_for_and_reported(folder, monkeypatch):
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **options: connect(*args, **options | {"timeout": 0}))
    with closing(catalogue.connect(folder, writable=True)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LibraryBusy, match="another process"), library.writer(folder):
            pass


def test_errors_that_are_not_about_storage_pass_through(tmp_path):
    with pytest.raises(sqlite3.OperationalError, match="no such table"), catalogue.storage_errors(tmp_path):  # noqa: SIM117
        with closing(sqlite3.connect(":memory:")) as db:
            db.execute("SELECT * FROM none")
    with pytest.raises(IsADirectoryError), catalogue.storage_errors(tmp_path):
        tmp_path.read_bytes()


def test_names_with_characters_of_uris(tmp_path):
    folder = tmp_path / "a b?mode=memory#ü%41"
    add(folder, write_rulebook(tmp_path / "rules.md", ["A Firm must act."]))
    assert len(state(folder)) == 1
