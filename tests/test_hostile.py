"""Files that are broken or made to do harm: each costs itself alone, and says why; readers bear any bytes."""

from __future__ import annotations

import contextlib
import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hostile
from helpers import cli, failures
from hostile import archives, markup
from hostile.valid import VALID
from responsa.corpus import listing, readers
from responsa.corpus.limits import Limits
from responsa.corpus.sandbox import Sandbox
from responsa.errors import ReadError

LIMITS = ("--max-seconds", "20", "--max-expanded", "32")


def tree(folder: Path) -> set[str]:
    """Every path below a folder, without those in a library."""
    found = set()
    for at, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if each != "library"]
        found |= {f"{at}/{each}" for each in (*folders, *names)}
    return found


def test_there_are_many():
    assert len(hostile.files()) >= 100


def test_all_of_them_beside_one_good_file(tmp_path):
    placed = hostile.place(tmp_path / "bad")
    good = tmp_path / "good.md"
    good.write_text(hostile.GOOD, encoding="utf-8")
    before = tree(tmp_path)
    told = cli(tmp_path / "library", "add", *LIMITS, "--json", *placed, good)
    assert told.returncode == 1, told.stderr[-2000:]
    assert "Traceback" not in told.stderr
    report = json.loads(told.stdout)
    became = {each["path"]: each for each in report["files"]}
    assert became[str(good)]["status"] == "added"
    wrong = []
    for path, reason in placed.items():
        file = became[listing.printable(path)]
        refused = file["status"] == "refused"
        right = (refused and re.search(reason, file["reason"])) if reason not in ("", "?") else (reason or not refused)
        clear = not refused or (len(file["reason"]) > 15 and "reader failed" not in file["reason"])
        if not (right and clear):
            wrong.append((path.name, reason, file["status"], file.get("reason")))
    assert wrong == []
    assert tree(tmp_path) == before
    assert failures(tmp_path / "library") == []


def test_what_is_hidden_or_outside_never_shows_as_text(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("THE SECRET OF THIS MACHINE", encoding="utf-8")
    text = f'<!DOCTYPE a [<!ENTITY a SYSTEM "{secret.as_uri()}">]>'
    body = archives.archive({"word/document.xml": archives.part("<w:p><w:r><w:t>&a;</w:t></w:r></w:p>", text)})
    for name, content in (("a.xml", markup.xml(text, "&a;")), ("a.docx", body)):
        with pytest.raises(ReadError, match="defines names of its own"):
            readers.read_bytes(content, name)


NATIVE = (".pdf",)  # their library may crash on its own: only in a process apart


def survives(name: str, content: bytes) -> None:
    """Nothing but a refusal comes out of a reader."""
    with contextlib.suppress(ReadError):
        readers.read_bytes(content, name)


def changed(content: bytes, edits: list[tuple[float, int, bytes]]) -> bytes:
    """Pieces cut out and put in at places between 0 and 1."""
    for place, cut, put in edits:
        at = int(place * len(content))
        content = content[:at] + put + content[at + cut :]
    return content


EDIT = st.tuples(
    st.floats(0, 1),
    st.integers(0, 30),
    st.one_of(
        st.binary(max_size=4),
        st.sampled_from(
            [b"<", b">", b"&", b'"', b"</p>", b"<table>", b"<li>", b"(a)", b"1.1 ", b"\n\n", b"{", b"[", b"</html>"]
        ),
    ),
)
FUZZ = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
LONG = settings(FUZZ, derandomize=False, max_examples=int(os.environ.get("RESPONSA_FUZZ") or 3000))


def fuzzed(name: str) -> pytest.param:
    return pytest.param(name, id=name)


@pytest.mark.parametrize("name", [fuzzed(name) for name in VALID if not name.endswith(NATIVE)])
@FUZZ
@given(edits=st.lists(EDIT, max_size=5))
def test_readers_bear_changed_files(name, edits):
    content = changed(VALID[name], edits)
    survives(name, content if edits else VALID[name])


@pytest.fixture(scope="module")
def apart(tmp_path_factory):
    """A place to write a file to, and a sandbox that reads it."""
    with Sandbox(Limits(seconds=20)) as opened:
        yield tmp_path_factory.mktemp("fuzz") / "a.pdf", opened


@FUZZ
@given(edits=st.lists(EDIT, max_size=5))
def test_files_of_native_readers_never_crash_the_program(apart, edits):
    path, opened = apart
    path.write_bytes(changed(VALID["a.pdf"], edits))
    with contextlib.suppress(ReadError):
        opened.read(path)


@pytest.mark.slow
@pytest.mark.parametrize("name", [fuzzed(name) for name in VALID if not name.endswith(NATIVE)])
@LONG
@given(edits=st.lists(EDIT, max_size=12))
def test_readers_bear_changed_files_at_length(name, edits):
    survives(name, changed(VALID[name], edits))


@FUZZ
@given(
    edits=st.lists(EDIT, max_size=5),
    part=st.sampled_from(["word/document.xml", "word/styles.xml", "word/numbering.xml"]),
)
def test_the_word_reader_bears_changed_parts(edits, part):
    """A changed byte of a packed part is told by its checksum: here the parts are changed before they are packed."""
    parts = {
        "word/document.xml": archives.part(archives.RULE * 3).encode(),
        "word/styles.xml": archives.styles(("a", "b")).encode(),
        "word/numbering.xml": f'<w:numbering xmlns:w="{archives.W}"/>'.encode(),
    }
    survives("a.docx", archives.archive({**parts, part: changed(parts[part], edits)}))


@FUZZ
@given(content=st.binary(max_size=300), name=st.sampled_from(sorted(VALID)))
def test_readers_bear_any_bytes(content, name):
    if not name.endswith(NATIVE):
        survives(name, content)


@pytest.mark.parametrize("sign", ["\x01", "\x1f", "\x7f", "\ufffe"])
def test_control_characters_beside_what_is_taken_out_break_no_page(sign):
    """Found by fuzzing: lxml reads them, and fails where they are written."""
    page = VALID["pra.html"].decode().replace("</span>", f"</span>words{sign}here").replace("</p>", f"</p>a{sign}b")
    assert readers.read_bytes(page.encode(), "pra.html")


def test_the_files_that_are_changed_are_good_ones():
    for name, content in VALID.items():
        if Path(name).suffix in readers.SUFFIXES:
            assert readers.read_bytes(content, name), name
