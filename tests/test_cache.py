from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from responsa.cache import APPLICATION_ID, SCHEMA_VERSION, Cache, default_path, key, pack, shared, unpack
from responsa.errors import InputError


class Warned(list):
    """What a cache complains about."""

    def __call__(self, message):
        self.append(message)


@pytest.fixture
def warned():
    return Warned()


@pytest.fixture
def cache(tmp_path, warned):
    return Cache(tmp_path / "deep" / "models.sqlite", warn=warned)


# Literal digests, checked with `printf '%s' '["embedding",1,{...}]' | sha256sum`. If one changes, everything
# that people have paid for is asked again: raise a version on purpose instead.
@pytest.mark.parametrize(
    ("kind", "version", "fields", "expected"),
    [
        ("embedding", 1, {"model": "m@0123456789ab", "role": "query", "text": "What is a Fund?"},
         "6f15f6471a5e8031b7e44214995420ff113c9a87c31027cf7e14de773727bff0"),
        ("score", 1, {"model": "m", "labels": ["relevance"], "pair": ["q", "é\u200e"]},
         "78e6bca30c8ad1f828d25ee03dd873017120ac70675828f5760800a118e9dc8e"),
        ("chat", 2, {"model": "m", "messages": [["user", "Hi"]], "temperature": 0.5, "repetition": 0},
         "277eae9d133ab59e91c15de6223f44050223b886742794b8df78f8aaba50a552"),
    ],
)  # fmt: skip
def test_golden_keys(kind, version, fields, expected):
    assert key(kind, version, fields) == expected


def test_the_order_of_fields_does_not_matter_and_every_part_does():
    base = key("embedding", 1, {"a": 1, "b": "x"})
    assert key("embedding", 1, {"b": "x", "a": 1}) == base
    others = [
        key("score", 1, {"a": 1, "b": "x"}),
        key("embedding", 2, {"a": 1, "b": "x"}),
        key("embedding", 1, {"a": 1, "b": "y"}),
        key("embedding", 1, {"a": "1", "b": "x"}),
        key("embedding", 1, {"a": 1, "b": "x", "repetition": 1}),
    ]
    assert len({base, *others}) == 6


def test_a_key_of_something_that_is_no_number_is_refused():
    with pytest.raises(ValueError):
        key("score", 1, {"temperature": float("nan")})


def test_what_is_put_is_got(cache, warned):
    answers = {key("chat", 1, {"n": n}): f"reply {n}".encode() for n in range(1203)}
    assert cache.get_many(answers) == {}
    assert not cache.path.exists()  # looking makes no file
    cache.put_many(answers)
    assert cache.get_many([*answers, "unknown"]) == answers
    assert Cache(cache.path).get_many(list(answers)[:1]) == dict(list(answers.items())[:1])
    cache.put_many({next(iter(answers)): b"newer"})
    assert cache.get_many([next(iter(answers))]) == {next(iter(answers)): b"newer"}
    assert warned == []


def test_nothing_asked_and_nothing_put(cache):
    cache.put_many({})
    assert cache.get_many([]) == {}
    assert not cache.path.parent.exists()


def test_the_file_is_wal_and_for_its_owner_alone(cache):
    cache.put_many({"k": b"v"})
    with closing(sqlite3.connect(cache.path)) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert db.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert db.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
    if os.name == "posix":
        assert cache.path.stat().st_mode & 0o077 == 0


def test_vectors_are_little_endian_singles():
    assert pack([1.0, -2.0]) == b"\x00\x00\x80?\x00\x00\x00\xc0"
    vector = np.array([0.1, 3e38, -0.0], dtype=np.float32)
    again = unpack(pack(vector))
    assert again.dtype == np.float32
    assert again.tobytes() == vector.tobytes()
    again += 0  # may be written to


@pytest.mark.parametrize("value", [b"", b"abc", b"abcde", pack([float("nan")]), pack([float("inf"), 1])])
def test_what_is_no_vector_is_not_read_as_one(value):
    assert unpack(value) is None


def test_a_flipped_bit_is_noticed(cache, warned):
    cache.put_many({"good": b"1234", "bad": b"1234"})
    with closing(sqlite3.connect(cache.path)) as db, db:
        db.execute("UPDATE entries SET value = ? WHERE key = 'bad'", (b"1235",))
    assert cache.get_many(["good", "bad"]) == {"good": b"1234"}
    cache.put_many({"bad": b"1234"})
    assert cache.get_many(["bad"]) == {"bad": b"1234"}
    assert warned == []


# What lies in place of the cache. The work goes on, one warning, and the file is left as it is.
def strange_files(folder: Path) -> dict[str, Path]:
    garbage = folder / "garbage"
    garbage.write_bytes(b"SQLite format 3\x00" + b"garbage " * 1000)
    text = folder / "text"
    text.write_text("my diary")
    for name, application, version in [("other", 77, 1), ("newer", APPLICATION_ID, SCHEMA_VERSION + 1)]:
        with closing(sqlite3.connect(folder / name)) as db, db:
            db.execute("CREATE TABLE entries (id)")
            db.execute(f"PRAGMA application_id = {application}")
            db.execute(f"PRAGMA user_version = {version}")
    (folder / "folder").mkdir()
    return {name: folder / name for name in ("garbage", "text", "other", "newer", "folder")}


@pytest.mark.parametrize("name", ["garbage", "text", "other", "newer", "folder"])
def test_a_file_that_is_no_cache_is_left_alone(tmp_path, warned, name):
    path = strange_files(tmp_path)[name]
    before = path.read_bytes() if path.is_file() else b""
    for cache in (Cache(path, warn=warned), Cache(path, warn=warned)):
        cache.put_many({"k": b"v"})
        cache.put_many({"k": b"v"})
        assert cache.get_many(["k"]) == {}
        assert cache.get_many(["k"]) == {}
    assert len(warned) == 2  # once for each
    assert str(path) in warned[0]
    assert "going on without it" in warned[0]
    assert (path.read_bytes() if path.is_file() else b"") == before


def test_a_damaged_cache_is_gone_on_without(cache, warned):
    cache.put_many({str(n): b"x" * 1000 for n in range(200)})
    raw = bytearray(cache.path.read_bytes())
    raw[4096:] = b"\xff" * (len(raw) - 4096)
    cache.path.write_bytes(raw)
    assert cache.get_many([str(n) for n in range(200)]) == {}
    cache.put_many({"k": b"v"})
    assert len(warned) == 1


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="needs a user who is not root")
def test_a_folder_that_cannot_be_written(tmp_path, warned):
    tmp_path.chmod(0o500)
    try:
        cache = Cache(tmp_path / "x" / "models.sqlite", warn=warned)
        cache.put_many({"k": b"v"})
    finally:
        tmp_path.chmod(0o700)
    assert len(warned) == 1


def test_a_path_below_a_file(tmp_path, warned):
    (tmp_path / "file").touch()
    cache = Cache(tmp_path / "file" / "models.sqlite", warn=warned)
    cache.put_many({"k": b"v"})
    assert cache.get_many(["k"]) == {}
    assert len(warned) == 1


def test_a_full_disk_stops_the_writing_and_not_the_reading(cache, warned, monkeypatch):
    cache.put_many({"old": b"1"})

    def full(*_):
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise error

    monkeypatch.setattr("responsa.cache._size", full)
    cache.put_many({"new": b"2"})
    cache.put_many({"newer": b"3"})
    assert cache.get_many(["old", "newer"]) == {"old": b"1"}
    assert len(warned) == 1
    assert "disk is full" in warned[0]


def test_answers_are_stored_all_or_none(cache, warned):
    cache.put_many({"old": b"1"})
    cache.put_many({"new": b"2", None: b"3"})
    assert cache.get_many(["old", "new"]) == {"old": b"1"}
    assert len(warned) == 1


def test_a_busy_file_costs_one_write_only(cache, warned, monkeypatch):
    cache.put_many({"old": b"1"})
    real = sqlite3.connect
    monkeypatch.setattr("responsa.cache.sqlite3.connect", lambda path, **more: real(path, **{**more, "timeout": 0}))
    with closing(real(cache.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        cache.put_many({"new": b"2"})
        assert cache.get_many(["old"]) == {"old": b"1"}
        other.execute("ROLLBACK")
    cache.put_many({"newer": b"3"})
    assert cache.get_many(["new", "newer"]) == {"newer": b"3"}
    assert len(warned) == 1


def test_warnings_go_to_standard_error(tmp_path, capsys):
    (tmp_path / "text").write_text("my diary")
    Cache(tmp_path / "text").put_many({"k": b"v"})
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "my diary" not in err


def test_the_oldest_go_when_it_grows_too_large(cache, tmp_path, warned):
    small = Cache(tmp_path / "small.sqlite", limit=200_000, warn=warned)
    for n in range(30):
        small.put_many({f"k{n}": bytes([n]) * 10_000})
    left = small.get_many(f"k{n}" for n in range(30))
    assert 5 < len(left) < 20
    assert set(left) == {f"k{n}" for n in range(30 - len(left), 30)}
    assert small.path.stat().st_size <= 200_000
    assert warned == []


CHILD = """
import sys
from pathlib import Path
from responsa.cache import Cache
def fail(message):
    sys.exit(message)
cache = Cache(Path(sys.argv[1]), warn=fail)
for n in range(40):
    cache.put_many({f"{sys.argv[2]}-{n}-{m}": f"{n}{m}".encode() for m in range(5)})
    assert cache.get_many([f"{sys.argv[2]}-{n}-4"])
"""


def test_several_processes_make_and_fill_it_at_once(cache):
    command = [sys.executable, "-c", CHILD, str(cache.path)]
    children = [subprocess.Popen([*command, str(n)], stderr=subprocess.PIPE, text=True) for n in range(4)]
    problems = [child.communicate(timeout=60)[1] for child in children]
    assert problems == [""] * 4
    assert len(cache.get_many(f"{c}-{n}-{m}" for c in range(4) for n in range(40) for m in range(5))) == 800


@pytest.mark.parametrize("base", ["", "relative/folder", "ABSOLUTE"])
def test_the_default_place_is_looked_up_when_asked(tmp_path, monkeypatch, base):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg") if base == "ABSOLUTE" else base)
    folder = tmp_path / "xdg" if base == "ABSOLUTE" else tmp_path / "home" / ".cache"
    assert default_path() == folder / "responsa" / "models.sqlite"
    assert not folder.exists()


def test_no_home(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(InputError, match="XDG_CACHE_HOME"):
        default_path()


def test_the_cache_of_this_machine_is_one_object(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = shared()
    assert first is shared()
    assert first.path == default_path()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert shared().path == default_path() != first.path
