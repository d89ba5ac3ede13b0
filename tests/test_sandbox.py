"""The process that reads untrusted files: what it costs when a file crashes, hangs or lies, and what it cannot do."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import pytest

from helpers import add, cli, statuses
from hostile import archives, markup
from responsa.corpus import lockdown, readers, sandbox
from responsa.corpus.limits import Limits
from responsa.corpus.sandbox import Sandbox
from responsa.corpus.worker import frame
from responsa.errors import InputError, LibraryError, ReadError

FILTERED = sys.platform.startswith("linux") and platform.machine() in ("x86_64", "aarch64")

# A stand-in for the process that reads: it says that it is ready, takes a file, and then does what it is told.
STAND_IN = """
import os, struct, sys, time
def take():
    return sys.stdin.buffer.read(struct.unpack(">Q", sys.stdin.buffer.read(8))[0])
def send(content):
    sys.stdout.buffer.write(struct.pack(">Q", len(content)) + content)
    sys.stdout.buffer.flush()
send(b'{"ready": []}')
while True:
    name, content = take(), take()
    WHAT
"""


def stand_in(what: str) -> tuple[str, ...]:
    return (sys.executable, "-c", STAND_IN.replace("WHAT", what))


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "rules.html"
    path.write_bytes(markup.page("<h1>Rules</h1><p>1.1 A Firm must keep records.</p>"))
    return path


def refusal(command: tuple[str, ...], path: Path, **limits: float) -> str:
    with Sandbox(Limits(**limits), command) as opened, pytest.raises(ReadError) as error:
        opened.read(path)
    assert str(error.value).startswith(f"{path}: ")
    return str(error.value).removeprefix(f"{path}: ")


def test_it_reads_what_the_readers_read(page, tmp_path):
    word = tmp_path / "rules.docx"
    word.write_bytes(archives.document())
    with Sandbox() as opened:
        for path in (page, word, page):
            assert opened.read(path) == readers.read(path)


def test_plain_files_start_no_process(tmp_path):
    path = tmp_path / "rules.md"
    path.write_text("# Rules\n\n1.1 A Firm must.\n", encoding="utf-8")
    with Sandbox(command=("no such program",)) as opened:
        assert opened.read(path) == readers.read(path)


def test_large_plain_files_are_read_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(sandbox, "_SMALL", 10)
    path = tmp_path / "rules.md"
    path.write_text("# Rules\n\n1.1 A Firm must.\n", encoding="utf-8")
    with Sandbox() as opened:
        assert opened.read(path) == readers.read(path)
        assert opened.layers
    assert "SIGKILL" in refusal(stand_in("os.kill(os.getpid(), 9)"), path)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("os.abort()", "its reader was ended by SIGABRT; the file is damaged"),
        ("os.kill(os.getpid(), 11)", "its reader was ended by SIGSEGV"),
        ("sys.exit(3)", "its reader ended without an answer (exit status 3)"),
        ("send(b'M')", "needs more than 64 MiB of memory to be read"),
        ("send(b'Fa library failed\\x1b[31m')", "its reader failed (a library failed\\x1b[31m)"),
        ("send(b'E{}')", "gave an answer that cannot be used"),
        ("send(b'E' + b'[' * 100000)", "gave an answer that cannot be used"),
        ("send(b'Ecos\\nsystem\\n(S\"true\"\\ntR.')", "gave an answer that cannot be used"),
        ("send(b'E[' + b'7' * 5000 + b']')", "gave an answer that cannot be used"),
        (
            "sys.stdout.buffer.write(b'\\xff' * 100); sys.stdout.flush()",
            "gave an answer that cannot be used (too long)",
        ),
    ],
)
def test_a_process_that_goes_wrong_costs_its_file(page, what, said):
    assert said in refusal(stand_in(what), page, memory=64)


def test_a_reason_is_shown_in_one_line_without_control_characters(page):
    told = f"R{page}: first\nsecond \x1b[31m".encode()
    assert refusal(stand_in(f"send({told!r})"), page) == "first second  [31m"


def test_a_process_that_hangs_is_given_up(page):
    said = refusal(stand_in("time.sleep(1000)"), page, seconds=0.2)
    assert said.startswith("was not read within 0.2 seconds and given up")


def test_a_process_that_takes_nothing_is_given_up(tmp_path):
    path = tmp_path / "large.html"
    path.write_bytes(b"x" * (1 << 20))  # more than a pipe holds
    command = (
        sys.executable,
        "-c",
        STAND_IN.replace("name, content = take(), take()", "time.sleep(1000)").replace("WHAT", ""),
    )
    assert "given up" in refusal(command, path, seconds=0.2)


def test_after_a_crash_the_next_file_is_read_by_another_process(page, tmp_path):
    state = tmp_path / "state"
    once = f"os.abort() if not os.path.exists({str(state)!r}) and not open({str(state)!r}, 'w').close() else send(b'RX: second')"
    with Sandbox(command=stand_in(once)) as opened:
        with pytest.raises(ReadError, match="SIGABRT"):
            opened.read(page)
        with pytest.raises(ReadError, match="X: second"):
            opened.read(page)


def test_every_file_is_read_by_a_process_of_its_own(page, monkeypatch):
    """A reader that was taken over cannot speak for the file after it: it has no way to the pipe of answers."""
    code = """
import os, sys
from responsa.corpus import readers, worker
read = readers.read_bytes
def taken_over(content, name):
    for descriptor in range(5):  # the next two are the pipe of its own answer
        try:
            os.write(descriptor, worker.frame(b"RX: a lie"))
        except OSError:
            pass
    globals()["seen"] = globals().get("seen", 0) + 1
    raise readers.ReadError(f"X: {os.getpid()} {seen} {os.getppid()}")
readers.read_bytes = taken_over
worker.main()
"""
    with Sandbox(command=(sys.executable, "-c", code, json.dumps({"seconds": 20}))) as opened:
        told = []
        for _ in range(3):
            with pytest.raises(ReadError) as error:
                opened.read(page)
            told.append(str(error.value).rpartition("X: ")[2].split())
        server = str(opened._process.pid)
    assert len({own for own, _, _ in told}) == 3
    assert {(seen, above) for _, seen, above in told} == {("1", server)}


def test_a_reader_that_dies_in_its_copy(page):
    code = (
        "import os; from responsa.corpus import readers, worker; readers.read_bytes = lambda *_: os.{}; worker.main()"
    )
    for what, said in (("abort()", "SIGABRT"), ("_exit(3)", "exit status 3"), ("_exit(0)", "exit status 0")):
        command = (sys.executable, "-c", code.format(what), json.dumps({"seconds": 20}))
        with Sandbox(command=command) as opened:
            pids = []
            for _ in range(2):
                with pytest.raises(ReadError, match=said):
                    opened.read(page)
                pids.append(opened._process.pid)
        assert len(set(pids)) == 1


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks in /proc")
def gone(pid):
    """Whether the process ends within a few seconds: a signal that kills is not served at once."""
    for _ in range(100):
        try:
            if "State:\tZ" in Path(f"/proc/{pid}/status").read_text():
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.1)
    return False


def test_a_copy_that_hangs_ends_with_the_process(page, tmp_path):
    code = """
import os, sys, time
from responsa.corpus import lockdown, readers, worker
lockdown.limit, lockdown.lock = (lambda _: True), (lambda _: ())  # so that it can say who it is
def hang(content, name):
    with open(sys.argv[2], "w") as file:
        file.write(str(os.getpid()))
    time.sleep(1000)
readers.read_bytes = hang
worker.main()
"""
    told = tmp_path / "pid"
    said = refusal((sys.executable, "-c", code, json.dumps({"seconds": 20}), str(told)), page, seconds=5)
    assert "given up" in said
    assert gone(told.read_text())


def test_a_process_that_does_not_start(page):
    with Sandbox(command=(sys.executable, "-c", "")) as opened, pytest.raises(LibraryError, match="did not start"):
        opened.read(page)


def test_no_process_is_left(page):
    with Sandbox() as opened:
        opened.read(page)
        pid = opened._process.pid
        os.kill(pid, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_file_that_takes_too_much_memory_is_refused_and_the_next_is_read(tmp_path, page):
    many = tmp_path / "many.html"
    many.write_bytes(markup.page("<p>A rule of some words." * 150_000))
    with Sandbox(Limits(memory=220)) as opened:
        with pytest.raises(ReadError, match=r"more than 220 MiB of memory|reader|well-formed"):
            opened.read(many)
        assert opened.read(page) == readers.read(page)


def test_a_file_larger_than_allowed_is_not_read(tmp_path):
    path = tmp_path / "large.docx"
    path.write_bytes(b"")
    os.truncate(path, (1 << 20) + 1)
    assert refusal(("no such program",), path, size=1).startswith("is larger than 1 MiB; split it")


def test_an_archive_that_grows_is_refused(tmp_path):
    path = tmp_path / "large.docx"
    path.write_bytes(archives.archive({"word/document.xml": b" " * (2 << 20)}))
    with Sandbox(Limits(expanded=1)) as opened, pytest.raises(ReadError, match="larger than 1 MiB when it is unpacked"):
        opened.read(path)


@pytest.mark.parametrize("name", ["seconds", "memory", "size", "expanded", "pages"])
def test_limits_are_above_nothing(name):
    with pytest.raises(InputError, match=f"{name} is 0, but a limit must be above 0"):
        Limits(**{name: 0})


def test_frames():
    assert frame(b"abc") == b"\0\0\0\0\0\0\0\x03abc"


def test_adding_goes_on_after_a_crash(tmp_path, page, monkeypatch):
    start = Sandbox.__init__
    crash = stand_in("os.abort()")
    monkeypatch.setattr(Sandbox, "__init__", lambda self, limits=None: start(self, limits, crash))
    good = tmp_path / "good.md"
    good.write_text("# Good\n\n1.1 A Firm must.\n", encoding="utf-8")
    other = tmp_path / "word.docx"
    other.write_bytes(archives.document())
    report = add(tmp_path / "library", page, good, other)
    assert statuses(report) == {"rules.html": "refused", "good.md": "added", "word.docx": "refused"}
    assert "SIGABRT" in report.files[0].reason


def test_word_and_web_pages_from_the_command_line(tmp_path, page):
    word = tmp_path / "duties.docx"
    word.write_bytes(archives.document())
    told = cli(tmp_path / "library", "add", word, page, "--max-seconds", "30")
    assert (told.returncode, told.stdout.strip()) == (0, "2 added, 0 changed, 0 unchanged; 3 passages read")
    found = json.loads(cli(tmp_path / "library", "search", "keep records", "--json").stdout)
    assert {hit["id"] for hit in found["hits"]} == {"duties/1.1", "rules/1.1"}
    assert "0 failed" in cli(tmp_path / "library", "verify").stdout
    assert "a limit must be above 0" in cli(tmp_path / "library", "add", word, "--max-seconds", "0").stderr


# What a locked process cannot do

TRIES = """
import ctypes, json, os, socket, subprocess, sys, threading
from pathlib import Path
from responsa.corpus import lockdown
from responsa.corpus.limits import Limits
allowed, writable, secret = map(Path, sys.argv[1:4])
layers = lockdown.lock([allowed, Path(sys.prefix), Path(sys.base_prefix), Path("/usr"), Path("/lib"), Path("/lib64")])
told = {"layers": layers}
def attempt(name, action):
    try:
        action()
        told[name] = "done"
    except OSError as error:
        told[name] = "refused"
    except BaseException as error:
        told[name] = type(error).__name__
attempt("socket", lambda: socket.socket())
attempt("unix socket", lambda: socket.socket(socket.AF_UNIX))
attempt("pair", lambda: socket.socketpair())
attempt("program", lambda: subprocess.run(["/bin/true"]))
attempt("fork", lambda: os.fork() or os._exit(0))
attempt("exec", lambda: os.execv("/bin/true", ["true"]))
attempt("write", lambda: (writable / "new").write_text("x"))
attempt("append", lambda: (writable / "old").open("a").close())
attempt("remove", lambda: (writable / "old").unlink())
attempt("rename", lambda: (writable / "old").rename(writable / "moved"))
attempt("folder", lambda: (writable / "folder").mkdir())
attempt("link", lambda: (writable / "link").symlink_to("/"))
attempt("mode", lambda: (writable / "old").chmod(0))
attempt("signal", lambda: os.kill(os.getppid(), 0))
attempt("secret", lambda: secret.read_text())
attempt("own signal", lambda: os.kill(os.getpid(), 0))
attempt("read", lambda: (allowed / "data").read_text())
thread = threading.Thread(target=lambda: None)
attempt("thread", lambda: (thread.start(), thread.join()))
print(json.dumps(told))
"""
FREE = {"own signal", "read", "thread"}


@pytest.mark.skipif(not FILTERED, reason="there is no filter of system calls for this system")
def test_a_locked_process_can_read_and_nothing_else(tmp_path):
    for name in ("allowed", "writable"):
        (tmp_path / name).mkdir()
    (tmp_path / "allowed" / "data").write_text("x")
    (tmp_path / "writable" / "old").write_text("x")
    (tmp_path / "secret").write_text("x")
    arguments = [str(tmp_path / name) for name in ("allowed", "writable", "secret")]
    done = subprocess.run(
        [sys.executable, "-c", TRIES, *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    layers = told.pop("layers")
    assert "seccomp" in layers
    free = FREE if "landlock" in layers else {*FREE, "secret"}
    assert {name for name, what in told.items() if what == "done"} == free
    assert {what for name, what in told.items() if name not in free} == {"refused"}
    assert sorted(path.name for path in (tmp_path / "writable").iterdir()) == ["old"]


def test_the_filter_refuses_the_other_word_size():
    """Calls of 32-bit programs have other numbers, so that a filter by number must refuse them all."""
    for machine, word in (("x86_64", 0xC000003E), ("aarch64", 0xC00000B7)):
        program = lockdown._program(machine, 1)
        assert len(program) % 8 == 0
        assert program[8:16] == lockdown._step(lockdown._EQUAL, word, 1, 0)


@pytest.mark.skipif(not FILTERED, reason="there is no filter of system calls for this system")
def test_the_reading_process_is_locked(page):
    code = """
import json, sys
from responsa.corpus import readers, worker
def tell(content, name):
    status = [line.split() for line in open("/proc/self/status") if line.startswith(("NoNewPrivs", "Seccomp:"))]
    raise readers.ReadError(json.dumps(status) + open("/proc/self/limits").read())
readers.read_bytes, worker._SYSTEM = tell, (*worker._SYSTEM, "/proc")
worker.main()
"""
    with Sandbox(command=(sys.executable, "-c", code, json.dumps({"memory": 777}))) as opened:
        with pytest.raises(ReadError) as error:
            opened.read(page)
        assert {"limits", "seccomp"} <= set(opened.layers)
    assert '[["NoNewPrivs:", "1"], ["Seccomp:", "2"]]' in str(error.value)
    assert str(777 << 20) in str(error.value)
