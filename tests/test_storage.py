"""Files are written whole or not at all."""

from __future__ import annotations

import errno
import json
import os
import stat
import threading
from pathlib import Path

import pytest

from responsa.errors import InputError, StorageError
from responsa.storage import check_target, read_json_lines, write_json, write_text


def names(folder):
    return [entry.name for entry in folder.iterdir()]


def test_text_is_written_as_given(tmp_path):
    path = tmp_path / "out.txt"
    write_text("Clause §1\nsecond line\r\n", path)
    assert path.read_bytes() == "Clause §1\nsecond line\r\n".encode()
    assert names(tmp_path) == ["out.txt"]


def test_json_is_indented_unescaped_and_ends_in_a_newline(tmp_path):
    path = tmp_path / "out.json"
    write_json({"b": "é", "a": [1]}, path)
    text = path.read_text(encoding="utf-8")
    assert text == '{\n "b": "é",\n "a": [\n  1\n ]\n}\n'
    assert json.loads(text) == {"a": [1], "b": "é"}


def test_json_without_numbers_that_json_lacks(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        write_json(float("nan"), tmp_path / "out.json")
    assert names(tmp_path) == []


def test_an_existing_file_is_replaced(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old and much longer than the new")
    write_text("new", path)
    assert path.read_text() == "new"


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch, call):
    path = tmp_path / "out.txt"
    path.write_text("old")

    def full(*_args, **_keywords):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(StorageError, match=r"out\.txt: cannot be written: No space left on device; free some space"):
        write_text("new", path)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["out.txt"]


def test_a_lone_surrogate_is_the_users_to_mend(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(InputError, match=r"'\\ud800' is not a character"):
        write_text("a\ud800", path)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["out.txt"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "is not a file"),
        ("no/such/out.txt", "there is no folder"),
        ("file/out.txt", "there is no folder"),
        ("x" * 300, "cannot be written: File name too long; choose another path"),
    ],
)
def test_paths_that_are_no_place_for_a_file(tmp_path, name, message):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=message):
        check_target(tmp_path / name)
    with pytest.raises(InputError, match=message):
        write_text("text", tmp_path / name)


def test_a_long_name_that_fits_is_written(tmp_path):
    write_text("text", tmp_path / ("é" * 120))
    assert len(names(tmp_path)) == 1


def test_check_target_touches_nothing(tmp_path):
    check_target(tmp_path / "out.txt")
    assert names(tmp_path) == []


def test_a_symbolic_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "out.txt", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_text("new", link)
    assert link.is_symlink()
    assert target.read_text() == "new"
    target.unlink()  # a link to nothing yet
    write_text("newer", link)
    assert link.is_symlink()
    assert target.read_text() == "newer"
    assert names(tmp_path / "real") == ["out.txt"]


def test_a_link_to_itself_is_no_place_for_a_file(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(InputError, match="cannot be written: Too many levels of symbolic links"):
        write_text("text", tmp_path / "loop")
    assert (tmp_path / "loop").is_symlink()


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o755])
def test_the_mode_of_an_existing_file_is_kept(tmp_path, mode):
    path = tmp_path / "out.txt"
    path.write_text("old")
    path.chmod(mode)
    write_text("new", path)
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_what_is_read_is_not_written_over(tmp_path):
    path, link, hard = tmp_path / "in.tsv", tmp_path / "link", tmp_path / "hard"
    path.write_text("question")
    link.symlink_to(path)
    hard.hardlink_to(path)
    for out in (path, link, hard, tmp_path / "." / "in.tsv"):
        with pytest.raises(InputError, match=r"in\.tsv itself, which is read; name another file to write"):
            check_target(out, [tmp_path / "absent", path])
    check_target(tmp_path / "out.txt", [path])


def test_standard_streams_are_written_directly(capfdbinary):
    for name in ("-", "/dev/stdout", "/dev/fd/1"):
        check_target(Path(name), [Path("/dev/null")])
        write_text("é", Path(name))
    write_text("e", Path("/dev/stderr"))
    assert capfdbinary.readouterr() == ("é".encode() * 3, b"e")


def test_pipes_and_devices_are_written_directly(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_text("text", pipe)
    reader.join(10)
    assert read == [b"text"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    write_text("text", Path("/dev/null"))
    assert Path("/dev/null").is_char_device()
    with pytest.raises(StorageError, match="cannot be written: No space left on device"):
        write_text("text", Path("/dev/full"))


def test_lines_of_json_with_their_places(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes('\ufeff{"a": "x\u2028y"}\r\n\n [1]'.encode())
    assert list(read_json_lines(path)) == [(f"{path}: line 1", {"a": "x\u2028y"}), (f"{path}: line 3", [1])]


@pytest.mark.parametrize(
    ("content", "told"),
    [(b"{}\n{", "line 2: not valid JSON"), (b"\xff", "not UTF-8 text .byte 0"), (None, "cannot be read")],
)
def test_what_is_no_file_of_json_lines(tmp_path, content, told):
    path = tmp_path / "rows.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=told):
        list(read_json_lines(path))
