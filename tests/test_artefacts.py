from __future__ import annotations

import errno
import os
import stat
import time

import pytest

from responsa.corpus import artefacts
from responsa.corpus.artefacts import MANIFEST, Artefacts, damage, is_whole
from responsa.errors import StorageError


@pytest.fixture
def shelf(tmp_path):
    return Artefacts(tmp_path / "library" / "artefacts")


def write(content: bytes = b"content"):
    return lambda folder: (folder / "part.bin").write_bytes(content)


def refuse(folder):
    raise AssertionError("built again")


def hidden(shelf: Artefacts) -> list[str]:
    return [entry.name for entry in shelf.folder.iterdir() if entry.name.startswith(".")]


def test_is_built_once(shelf):
    assert shelf.names() == []
    folder = shelf.get("kind-1", ["v2", "v1"], write())
    assert folder == shelf.folder / "kind-1"
    assert shelf.get("kind-1", ["v1", "v2"], refuse) == folder
    assert (is_whole(folder), damage(folder), shelf.names(), hidden(shelf)) == (True, "", ["kind-1"], [])


def test_may_be_read_by_whoever_may_read_the_library(shelf):
    folder = shelf.get("kind-1", [], write())
    assert stat.S_IMODE(folder.stat().st_mode) == stat.S_IMODE(shelf.folder.stat().st_mode)


def test_a_build_that_fails_leaves_nothing(shelf):
    def fail(folder):
        write()(folder)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        shelf.get("kind-1", [], fail)
    assert list(shelf.folder.iterdir()) == []


def damaged(change):
    return pytest.param(change, id=change.__name__)


def truncate(folder):
    (folder / "part.bin").write_bytes(b"cont")


def lose_a_file(folder):
    (folder / "part.bin").unlink()


def lose_the_manifest(folder):
    (folder / MANIFEST).unlink()


def scribble_on_the_manifest(folder):
    (folder / MANIFEST).write_bytes(b"\xff{")


def replace_the_manifest(folder):
    (folder / MANIFEST).write_text('{"files": [1, 2]}')


CUT_SHORT = [truncate, lose_a_file, lose_the_manifest, scribble_on_the_manifest, replace_the_manifest]


@pytest.mark.parametrize("change", CUT_SHORT)
def test_what_is_cut_short_is_built_again(shelf, change):
    folder = shelf.get("kind-1", [], write())
    change(folder)
    assert (is_whole(folder), damage(folder)) == (False, "a file is missing or cut short")
    assert shelf.get("kind-1", [], write()) == folder
    assert (damage(folder), (folder / "part.bin").read_bytes(), hidden(shelf)) == ("", b"content", [])


def test_altered_bytes_are_found_by_reading_all_of_them(shelf):
    folder = shelf.get("kind-1", [], write())
    (folder / "part.bin").write_bytes(b"CONTENT")
    assert (is_whole(folder), damage(folder)) == (True, "part.bin has changed since it was written")


def test_of_two_who_build_at_once_the_first_wins(shelf):
    def race(folder):
        shelf.get("kind-1", [], write())
        write()(folder)

    assert is_whole(shelf.get("kind-1", [], race))
    assert hidden(shelf) == []


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.EPERM])
def test_where_nothing_can_be_written_a_temporary_folder_serves(shelf, number):
    def refuse_there(folder):
        if folder.is_relative_to(shelf.folder):
            raise OSError(number, "no", str(folder))
        write()(folder)

    folder = shelf.get("kind-1", [], refuse_there)
    assert not folder.is_relative_to(shelf.folder)
    assert shelf.get("kind-1", [], refuse_there) == folder
    shelf.close()
    assert not folder.exists()


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left"), OSError("90 requested and 12 written")])
def test_a_full_disk_is_said_to_be_full(shelf, error):
    def fail(folder):
        raise error

    with pytest.raises(StorageError, match="disk is full"):
        shelf.get("kind-1", [], fail)
    assert list(shelf.folder.iterdir()) == []


def test_collecting_keeps_what_live_versions_need(shelf):
    shelf.collect({"v1"})  # before anything was built
    shelf.get("terms-1", ["v1"], write())
    shelf.get("terms-2", ["v2"], write())
    shelf.get("bm25-a", ["v1", "v2"], write(), view=True)
    shelf.get("bm25-b", ["v1"], write(), view=True)
    shelf.get("bm25-c", [], write(), view=True)
    (shelf.folder / "strange").mkdir()
    shelf.collect({"v1"})
    assert shelf.names() == ["bm25-b", "bm25-c", "terms-1"]
    assert hidden(shelf) == []


def test_collecting_keeps_the_newest_views_and_all_that_is_made_from_one_version(shelf):
    for number in range(6):
        for kind in ("bm25", "terms", "vectors"):
            folder = shelf.get(f"{kind}-{number}", ["v"], write(), view=kind == "bm25")
            os.utime(folder, (number, number))
    shelf.collect({"v"}, keep=2)
    kept = [f"{kind}-{number}" for kind in ("terms", "vectors") for number in range(6)]
    assert shelf.names() == ["bm25-4", "bm25-5", *kept]


def test_collecting_removes_what_killed_processes_left_but_no_build_at_work(shelf):
    shelf.folder.mkdir(parents=True)
    long_ago = time.time() - artefacts._STALE - 60
    for name, modified in ((".building-old", long_ago), (".building-new", time.time()), (".discarded-1", time.time())):
        (shelf.folder / name).mkdir()
        write()(shelf.folder / name)
        os.utime(shelf.folder / name, (modified, modified))
    shelf.collect(set())
    assert hidden(shelf) == [".building-new"]
    assert shelf.names() == []


def number_in(folders):
    """Reads what `write` wrote as a number."""
    return int((folders[0] / "part.bin").read_bytes())


def test_what_is_deleted_while_it_is_opened_is_got_again(shelf):
    gone = []

    def load(folders):
        if len(gone) < 2:
            gone.append(folders[0].rename(shelf.folder / f".discarded-{len(gone)}"))
        return number_in(folders)

    assert shelf.opened(lambda: [shelf.get("kind-1", [], write(b"42"))], load) == 42
    assert len(gone) == 2


def test_what_has_been_altered_is_deleted_and_built_again(shelf):
    get = lambda: [shelf.get("kind-1", [], write(b"42"))]  # noqa: E731
    (get()[0] / "part.bin").write_bytes(b"4x")
    assert shelf.opened(get, number_in) == 42
    assert damage(shelf.folder / "kind-1") == ""


def test_an_altered_artefact_that_cannot_be_deleted_is_reported(shelf, monkeypatch):
    folder = shelf.get("kind-1", [], write(b"42"))
    (folder / "part.bin").write_bytes(b"4x")
    monkeypatch.setattr(artefacts, "_discard", lambda folder: None)
    with pytest.raises(StorageError, match="kind-1: the index is damaged and cannot be built again; delete"):
        shelf.opened(lambda: [folder], number_in)


def test_what_cannot_be_read_though_it_is_as_written_is_no_damage(shelf):
    folder = shelf.get("kind-1", [], write(b"forty-two"))
    with pytest.raises(ValueError, match="invalid literal"):
        shelf.opened(lambda: [folder], number_in)
    assert is_whole(folder)
