"""Killed, interrupted, out of disk, without permission, all at once: nothing is lost and it is said clearly."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from filelock import FileLock

from helpers import TIMEOUT, add, cli, command, failures, findings, search, state, statuses, texts, write_rulebook
from responsa.corpus import catalogue

CHILD = [sys.executable, str(Path(__file__).with_name("crash_child.py"))]
WITHOUT_PRIVILEGE = [*CHILD, "unprivileged"]
FILES = 30


def write_rules(folder: Path, edition: int, files: int = FILES, clauses: int = 20) -> Path:
    """Generated rulebooks; in each later edition some are changed, one is new and one has lost its document."""
    for number in range(files):
        verb = ("paint", "repair", "count")[edition if number % 3 == 0 else 0]
        lines = [
            f"A Keeper of boat {number} must {verb} {each} planks every {number + each} days."
            for each in range(clauses)
        ]
        write_rulebook(
            folder / f"{number:02}.md", lines, document=f"boat-{number}" + "-new" * (edition and number == 1)
        )
    write_rulebook(folder / f"new-{edition}.md", [f"A Keeper must greet edition {edition}."])
    return folder


def finished(folder: Path, *editions: Path) -> frozenset:
    """The state of a library to which the folders were added one after the other, undisturbed."""
    return [add(folder, edition) for edition in editions] and state(folder)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "library"


@pytest.fixture
def rules(tmp_path):
    return write_rules(tmp_path / "rules", 0)


class Before:
    """A library as it was and as it is to be, the sources that lead there, and how to begin."""

    def __init__(self, scratch: Path, fresh: bool, files: int, clauses: int) -> None:
        self.sources = write_rules(scratch / "rules", 0, files, clauses)
        self.old = scratch / "old"
        self.states = [None]
        if not fresh:
            self.states = [finished(self.old, self.sources)]
            write_rules(self.sources, 1, files, clauses)
        new = scratch / "new"
        if not fresh:
            shutil.copytree(self.old, new)
        self.states.append(finished(new, self.sources))

    def begin(self, folder: Path) -> Path:
        if self.old.exists():
            shutil.copytree(self.old, folder)
        return folder

    def check(self, folder: Path) -> int:
        """The library is whole and in one of the two states: which. The next add completes."""
        reached = None
        if catalogue.exists(folder) if folder.exists() else False:
            reached = state(folder) or None
            assert failures(folder) == []
        assert reached in self.states
        add(folder, self.sources)
        assert state(folder) == self.states[1]
        assert failures(folder) == []
        assert search(folder, "planks of boat 7 repaired")
        return self.states.index(reached)


def kill_at_random(before: Before, scratch: Path, kills: int) -> list[int]:
    """Kill real processes at instants spread over the time a whole run takes."""
    started = time.monotonic()
    assert cli(before.begin(scratch / "whole"), "add", before.sources).returncode == 0
    duration = time.monotonic() - started
    chance = random.Random(17)
    reached = []
    for number in range(kills):
        folder = before.begin(scratch / f"kill-{number}")
        delay = duration * (number + chance.random()) / kills
        with subprocess.Popen(
            command(folder, "add", before.sources), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as child:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(delay)
            child.kill()
        reached.append(before.check(folder))
        shutil.rmtree(folder, ignore_errors=True)
    return reached


@pytest.mark.parametrize("fresh", [True, False], ids=["fresh", "onto-older"])
def test_killed_at_some_instant(tmp_path, fresh):
    assert len(kill_at_random(Before(tmp_path, fresh, FILES, 5), tmp_path, 6)) == 6


@pytest.mark.slow
@pytest.mark.parametrize("fresh", [True, False], ids=["fresh", "onto-older"])
def test_killed_at_many_instants(tmp_path, fresh):
    reached = kill_at_random(Before(tmp_path, fresh, FILES, 100), tmp_path, 60)
    assert reached[0] == 0


def killed_at_steps(tmp_path: Path, fresh: bool, every: int) -> None:
    """Die before and after each statement, each file written and each folder moved or deleted."""
    before = Before(tmp_path, fresh, 3, 2)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    told = subprocess.run(
        [*CHILD, "steps", before.old, before.sources, scratch, str(every)],
        capture_output=True, text=True, timeout=10 * TIMEOUT, check=False,
    )  # fmt: skip
    assert told.stderr == ""
    libraries = sorted(path for path in scratch.iterdir() if path.name != "step-0000")
    reached = [before.check(library) for library in libraries]
    assert len(reached) >= int(told.stdout) // every - 2  # at the first steps there is not even a folder
    assert reached == sorted(reached)  # the old state until the commit, from then on the new one
    assert set(reached) == {0, 1}


@pytest.mark.parametrize("fresh", [True, False], ids=["fresh", "onto-older"])
def test_killed_at_write_steps(tmp_path, fresh):
    killed_at_steps(tmp_path, fresh, 29)


@pytest.mark.slow
@pytest.mark.parametrize("fresh", [True, False], ids=["fresh", "onto-older"])
def test_killed_at_every_write_step(tmp_path, fresh):
    killed_at_steps(tmp_path, fresh, 1)


def test_ctrl_c_keeps_the_files_read_so_far(folder, rules):
    with subprocess.Popen([*CHILD, "slowly", folder, rules], stdout=subprocess.PIPE, text=True) as child:
        for line in child.stdout:
            if line == "10.md\n":
                break
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=TIMEOUT)
    held = {document for document, *_ in state(folder)}
    assert {f"boat-{number}" for number in range(10)} <= held < {f"boat-{number}" for number in range(FILES)}
    assert failures(folder) == []
    report = add(folder, rules)
    assert set(statuses(report).values()) == {"unchanged", "added"}
    assert len(state(folder)) == FILES + 1


INTERRUPTER = """
import os, signal, sys
from responsa.corpus.sandbox import Sandbox
from responsa.retrieval.bm25 import BM25
def interrupt(function, when):
    def wrapped(*arguments):
        if when(*arguments):
            os.kill(os.getpid(), signal.SIGINT)
        return function(*arguments)
    return wrapped
if sys.argv.pop(1) == "reading":
    Sandbox.read = interrupt(Sandbox.read, lambda _, path: path.name == "10.md")
else:
    BM25.prepare = interrupt(BM25.prepare, lambda *_: True)
from responsa.cli import main
main()
"""


def interrupted(folder, rules, where):
    arguments = [sys.executable, "-c", INTERRUPTER, where, "--library", str(folder), "add", str(rules)]
    return subprocess.run(arguments, capture_output=True, text=True, timeout=TIMEOUT)


def test_ctrl_c_while_reading_on_the_command_line(folder, rules):
    told = interrupted(folder, rules, "reading")
    assert told.returncode == 1
    assert "10 added, 0 changed, 0 unchanged" in told.stdout
    assert "interrupted: what was read until then is in the library; run the same command again" in told.stderr
    assert len(state(folder)) == 10
    assert cli(folder, "verify").returncode == 0
    told = cli(folder, "add", rules)
    assert (told.returncode, told.stdout.startswith(f"{FILES - 9} added, 0 changed, 10 unchanged")) == (0, True)


def test_ctrl_c_while_indexing_on_the_command_line(folder, rules):
    told = interrupted(folder, rules, "indexing")
    assert (told.returncode, told.stdout[:8]) == (1, f"{FILES + 1} added")
    assert "interrupted: what was read until then is in the library" in told.stderr
    assert len(state(folder)) == FILES + 1
    assert search(folder, "planks of boat 7 repaired")
    assert failures(folder) == []
    assert cli(folder, "add", rules).returncode == 0


def test_two_adds_at_once(folder, tmp_path):
    sources = [write_rules(tmp_path / name, 0, 10) for name in "ab"]
    for source in sources[1].iterdir():
        source.write_text(source.read_text(encoding="utf-8").replace("boat-", "ship-"), encoding="utf-8")
        source.rename(source.with_name(f"b-{source.name}"))
    running = [
        subprocess.Popen(command(folder, "add", source), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for source in sources
    ]
    told = [child.communicate(timeout=TIMEOUT) for child in running]
    assert [child.returncode for child in running] == [0, 0]
    assert all(out.startswith("11 added") for out, _ in told)
    assert len(state(folder)) == 22
    assert failures(folder) == []


def test_the_second_of_two_adds_says_that_it_waits(folder, tmp_path):
    rules = write_rules(tmp_path / "rules", 0, 2)
    folder.mkdir()
    lock = FileLock(folder / ".lock")
    with lock, subprocess.Popen(command(folder, "add", rules), stderr=subprocess.PIPE, text=True) as child:
        assert child.stderr.readline() == "Another process is adding to the library; waiting ...\n"
        assert child.poll() is None
        lock.release()
        child.communicate(timeout=TIMEOUT)
    assert child.returncode == 0
    assert len(state(folder)) == 3


def test_readers_while_one_adds(folder, tmp_path):
    rules = write_rules(tmp_path / "rules", 0, 6)
    add(folder, rules)
    allowed = {json.dumps(search(folder, "greet"))}
    log = tmp_path / "errors"
    readers = []
    with log.open("w") as errors, contextlib.ExitStack() as running:
        for _ in range(2):
            reader = subprocess.Popen(
                [*CHILD, "search", folder, "greet", "100000"], stdout=subprocess.PIPE, stderr=errors, text=True
            )
            readers.append(running.enter_context(reader))
        for reader in readers:
            assert reader.stdout.readline() == "ready\n"
            reader.stdout.readline()
        for number in range(12):
            write_rulebook(rules / "new-0.md", [f"A Keeper must greet {number}."] * (1 + number % 3), document="new")
            (rules / "new-0.md").touch()
            add(folder, rules)
            allowed.add(json.dumps(search(folder, "greet")))
        for reader in readers:
            assert reader.poll() is None
            reader.kill()
        said = [line.strip() for reader in readers for line in reader.stdout.read().splitlines()[:-1]]
    assert log.read_text() == ""
    assert len(said) > 10
    assert set(said) <= allowed
    assert failures(folder) == []


# Full disk


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own with 600 KiB; skipped where none can be mounted."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    arguments = [mount or "mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(disk)]
    if not mount or subprocess.run(arguments, capture_output=True, timeout=TIMEOUT, check=False).returncode:
        pytest.skip("a file system cannot be mounted here")
    yield disk
    subprocess.run(["umount", str(disk)], check=True, timeout=TIMEOUT)


def fill(disk: Path, free: int) -> Path:
    """A file that leaves ``free`` KiB of the disk."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * 4096)
    os.truncate(ballast, max(0, ballast.stat().st_size - free * 1024))
    return ballast


@pytest.mark.parametrize(
    "free", [0, 40, 220, *(pytest.param(free, marks=pytest.mark.slow) for free in (8, 100, 160, 280))]
)
def test_full_disk(small_disk, tmp_path, free):
    folder = small_disk / "library"
    rules = write_rules(tmp_path / "rules", 0, 4, 5)
    add(folder, rules)
    before = state(folder)
    write_rules(rules, 1, FILES, 40)
    ballast = fill(small_disk, free)
    told = cli(folder, "add", rules)
    assert (told.returncode, told.stdout) == (1, "")
    assert re.fullmatch(
        r"responsa: \S+: the disk is full; the library is as it was before: free some space\n", told.stderr
    )
    assert state(folder) == before
    assert failures(folder) == []
    assert cli(folder, "search", "planks", "--recipe", "bm25").returncode == 0
    ballast.unlink()
    write_rules(rules, 1, 4, 5)
    for path in sorted(rules.iterdir())[4:-2]:
        path.unlink()
    assert cli(folder, "add", rules).returncode == 0
    assert failures(folder) == []


def test_full_disk_from_the_start(small_disk, tmp_path):
    rules = write_rules(tmp_path / "rules", 0, FILES, 100)
    told = cli(small_disk / "library", "add", rules)
    assert told.returncode == 1
    assert "the disk is full" in told.stderr
    assert cli(small_disk / "library", "add", write_rulebook(tmp_path / "one.md", ["A Firm must act."])).returncode == 0
    assert len(state(small_disk / "library")) == 1


def test_a_search_that_must_build_its_index_on_a_full_disk(small_disk, tmp_path):
    folder = small_disk / "library"
    add(folder, write_rules(tmp_path / "rules", 0, 4, 5))
    shutil.rmtree(folder / "artefacts")
    fill(small_disk, 48)
    told = cli(folder, "search", "planks", "--recipe", "bm25")
    assert (told.returncode, told.stdout) == (1, "")
    assert "the disk is full" in told.stderr
    assert failures(folder) == []


@pytest.mark.parametrize(
    "limit", [0, 20_000, 120_000, *(pytest.param(limit, marks=pytest.mark.slow) for limit in (1_000, 60_000, 200_000))]
)
def test_files_that_cannot_grow(folder, tmp_path, limit):
    rules = write_rules(tmp_path / "rules", 0, 4, 5)
    add(folder, rules)
    before = state(folder)
    write_rules(rules, 1, FILES, 60)
    told = subprocess.run(
        [*CHILD, "limited", str(limit), folder, rules], capture_output=True, text=True, timeout=TIMEOUT
    )
    assert told.returncode == 1, told.stderr
    assert re.match("StorageError: .*the library is as it was before|StorageError: .*cannot be", told.stderr), (
        told.stderr
    )
    assert state(folder) == before
    assert failures(folder) == []
    add(folder, rules)
    assert failures(folder) == []


# Without permission


@contextlib.contextmanager
def read_only(folder: Path):
    """The folder and everything in it, for reading only."""
    paths = [folder, *folder.rglob("*")]
    modes = {path: path.stat().st_mode for path in paths}
    for path in reversed(paths):
        path.chmod(modes[path] & ~0o222)
    try:
        yield
    finally:
        for path in paths:
            path.chmod(modes[path])


@pytest.mark.parametrize("indexed", [True, False], ids=["with-index", "without-index"])
def test_a_read_only_library_can_be_read(folder, tmp_path, indexed):
    rules = write_rules(tmp_path / "rules", 0, 3)
    add(folder, rules)
    if not indexed:
        shutil.rmtree(folder / "artefacts")
    before = sorted(folder.rglob("*"))
    with read_only(folder):
        for arguments in (
            ["search", "planks", "--recipe", "bm25"],
            ["ask", "Who must paint planks?", "--recipe", "bm25"],
            ["documents"],
            ["verify"],
            ["show", "boat-1"],
        ):
            told = cli(folder, *arguments, prefix=WITHOUT_PRIVILEGE)
            assert (told.returncode, told.stderr) == (0, ""), arguments
            assert told.stdout
        assert sorted(folder.rglob("*")) == before


def test_a_read_only_library_cannot_be_written(folder, tmp_path):
    rules = write_rules(tmp_path / "rules", 0, 3)
    add(folder, rules)
    before = state(folder)
    write_rules(rules, 1, 3)
    with read_only(folder):
        for arguments in (["add", rules], ["remove", "boat-1"], ["ask", "Who must paint planks?", "--save"]):
            told = cli(folder, *arguments, prefix=WITHOUT_PRIVILEGE)
            assert told.returncode == 1
            assert re.fullmatch(r"(encoding .*\n)?responsa: \S+: cannot be written: Permission denied\n", told.stderr)
    assert state(folder) == before


@pytest.mark.parametrize("name", [catalogue.FILE, ".lock"])
def test_a_single_read_only_file(folder, tmp_path, name):
    rules = write_rules(tmp_path / "rules", 0, 3)
    add(folder, rules)
    before = state(folder)
    write_rules(rules, 1, 3)
    (folder / name).chmod(0o444)
    told = cli(folder, "add", rules, prefix=WITHOUT_PRIVILEGE)
    assert told.returncode == 1
    assert re.match("responsa: .*cannot be written", told.stderr)
    assert state(folder) == before
    assert failures(folder) == []


def test_a_place_where_no_library_can_be_made(tmp_path):
    rules = write_rules(tmp_path / "rules", 0, 1)
    place = tmp_path / "place"
    place.mkdir()
    with read_only(place):
        told = cli(place / "library", "add", rules, prefix=WITHOUT_PRIVILEGE)
    assert told.returncode == 1
    assert told.stderr == f"responsa: {place / 'library'}: cannot be written: Permission denied\n"


def test_a_file_without_permission_is_refused_alone(folder, tmp_path):
    rules = write_rules(tmp_path / "rules", 0, 2)
    (rules / "00.md").chmod(0)
    told = cli(folder, "add", rules, prefix=WITHOUT_PRIVILEGE)
    assert (told.returncode, told.stdout[:7]) == (1, "2 added")
    assert told.stderr == f"refused: {rules / '00.md'}: cannot be read: Permission denied\n"


def test_a_folder_without_permission_is_refused_alone(folder, tmp_path):
    rules = write_rules(tmp_path / "rules", 0, 2)
    write_rulebook(rules / "closed" / "a.md", ["A Firm must act."])
    write_rulebook(rules / "listed" / "b.md", ["A Firm must act."])
    write_rulebook(rules / "closed" / "deep" / "c.md", ["A Firm must act."])
    (rules / "closed").chmod(0)
    (rules / "listed").chmod(0o444)
    told = cli(folder, "add", rules, rules / "closed" / "deep", prefix=WITHOUT_PRIVILEGE)
    assert (told.returncode, told.stdout[:7]) == (1, "3 added")
    assert sorted(told.stderr.splitlines()) == [
        f"refused: {rules}/closed/deep: cannot be read: Permission denied",
        f"refused: {rules}/closed: the folder cannot be read: Permission denied; check its permissions",
        f"refused: {rules}/listed/b.md: cannot be read: Permission denied",
    ]


# Not a library


@pytest.mark.parametrize("arguments", [["search", "x"], ["remove", "x"], ["verify"]])
def test_commands_without_a_library(folder, arguments):
    told = cli(folder, *arguments)
    assert (told.returncode, told.stdout) == (1, "")
    assert re.match(r"responsa: \S+: no library here; name one with --library DIR", told.stderr)
    assert not folder.exists()


def test_a_folder_of_something_else_is_not_touched(folder, tmp_path):
    rules = write_rules(tmp_path / "rules", 0, 2)
    (folder / "photos").mkdir(parents=True)
    told = cli(folder, "add", rules)
    assert told.returncode == 1
    assert "is not empty and holds no library (found 'photos')" in told.stderr
    assert [path.name for path in folder.rglob("*")] == ["photos"]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda file: file.write_text("Dear diary\n" * 100), "damaged"),
        (lambda file: os.truncate(file, 5000), "damaged"),
        (lambda file: os.truncate(file, 0), "not a Responsa catalogue"),
    ],
    ids=["text", "truncated", "emptied"],
)
def test_a_spoilt_catalogue(folder, tmp_path, spoil, message):
    add(folder, write_rules(tmp_path / "rules", 0, 2))
    spoil(folder / catalogue.FILE)
    before = (folder / catalogue.FILE).read_bytes()
    for arguments in (["search", "planks", "--recipe", "bm25"], ["verify"]):
        told = cli(folder, *arguments)
        assert told.returncode == 1
        assert "Traceback" not in told.stderr
        assert message in told.stderr + told.stdout
    assert (folder / catalogue.FILE).read_bytes() == before


def test_a_source_that_changes_is_noted_by_verify(folder, tmp_path):
    rules = write_rules(tmp_path / "rules", 0, 2)
    add(folder, rules)
    assert all(finding.state == "ok" for finding in findings(folder))
    (rules / "00.md").write_text("1.1 Other.\n", encoding="utf-8")
    told = cli(folder, "verify")
    assert told.returncode == 0
    assert "00.md: has changed since it was read; add it again" in told.stdout
    assert len(texts(folder, "boat-0")) == 20
