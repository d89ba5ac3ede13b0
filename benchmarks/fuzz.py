"""Readers fed with damaged files, for minutes: ``python -m benchmarks fuzz [--minutes 10]``.

Small good files of every kind (``tests/hostile/valid.py``) and, where the data are there, real ones of up to 400 kB are
damaged at random places (bytes changed, cut out, doubled, pieces of syntax put in; for Word files also inside the
package) and read in the sandbox, each kind for the same time. A file may be read or refused with a reason; that is all
it may do. A reader that fails in a way it does not explain, a process that ends, and a file that is not read within 20
seconds are counted apart, and the damaged file is kept for whoever mends it.
"""

from __future__ import annotations

import hashlib
import io
import random
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from benchmarks import data
from benchmarks.data import progress
from benchmarks.report import Part, Row, Table
from responsa.corpus.limits import Limits
from responsa.corpus.sandbox import Sandbox
from responsa.errors import ReadError

SECONDS = 20
LARGEST = 400_000  # bytes of a real file: a larger one is read too rarely
OUTCOMES = ("read", "refused", "reader failed", "process ended", "too slow", "memory")
_PIECES = (
    b"<", b">", b"&", b'"', b"</p>", b"<table>", b"<li>", b"<!--", b"]]>", b"(a)", b"1.1 ", b"\n\n", b"{", b"[",
    b"\\u0000", b"</html>", b"endobj", b"stream\n", b" 0 R", b"<</Length 99999999>>", b"\xff\xfe", b"\x00",
    b"999999999999", b"-1",
)  # fmt: skip


def part(minutes: float) -> Part:
    """Every kind for its share of the time."""
    kinds = by_kind()
    kept = Path(tempfile.mkdtemp(prefix="responsa-fuzz-"))
    rows, total = [], Counter[str]()
    for kind, files in sorted(kinds.items()):
        progress(f"fuzzing {kind} for {minutes * 60 / len(kinds):.0f} s")
        told = fuzz(files, minutes * 60 / len(kinds), kept)
        total += told
        rows.append((kind, f"{sum(told.values()):,}", *(f"{told[name]:,}" for name in OUTCOMES)))
    bad = sum(total[name] for name in OUTCOMES[2:])
    if bad:
        progress(f"{bad} files that did more than be refused are in {kept}")
    what = f"damaged files of {len(kinds)} kinds, {minutes:g} minutes: neither read nor refused with a reason"
    row = Row(what, f"{bad:,} of {sum(total.values()):,}", "0", bad == 0, dict(total))
    return Part("fuzz", (row,), (Table("What became of them", ("kind", "files", *OUTCOMES), tuple(rows)),))


def by_kind() -> dict[str, dict[str, bytes]]:
    """Good files by suffix: name to content."""
    sys.path.insert(0, str(data.ROOT / "tests"))
    from hostile.valid import VALID  # the tests' own

    kinds: dict[str, dict[str, bytes]] = {}
    for name, content in VALID.items():
        kinds.setdefault(Path(name).suffix, {})[name] = content
    for path in sorted(data.folder().rglob("*")):
        if path.suffix in (".html", ".xhtml", ".xml", ".json", ".pdf") and path.stat().st_size <= LARGEST:
            kinds[path.suffix][path.name] = path.read_bytes()
    return kinds


def fuzz(files: Mapping[str, bytes], seconds: float, kept: Path) -> Counter[str]:
    """How often each outcome came in that time."""
    draw, told, end = random.Random(0), Counter[str](), time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder, Sandbox(Limits(seconds=SECONDS, expanded=64)) as sandbox:
        while time.monotonic() < end:
            name = draw.choice(sorted(files))
            content = damaged(files[name], draw)
            path = Path(folder) / f"fuzz{Path(name).suffix}"
            path.write_bytes(content)
            outcome = read(sandbox, path)
            told[outcome] += 1
            if outcome in OUTCOMES[2:]:
                (kept / f"{hashlib.sha256(content).hexdigest()[:12]}{path.suffix}").write_bytes(content)
    return told


def read(sandbox: Sandbox, path: Path) -> str:
    """One of `OUTCOMES`."""
    try:
        sandbox.read(path)
    except ReadError as error:
        said = str(error)
        signs = {
            "its reader failed": "reader failed",
            "its reader was ended": "process ended",
            "its reader ended": "process ended",
            "cannot be used (": "process ended",
            "was not read within": "too slow",
            "of memory to be read": "memory",
        }
        return next((outcome for sign, outcome in signs.items() if sign in said), "refused")
    return "read"


def damaged(content: bytes, draw: random.Random) -> bytes:
    """The content with up to eight damages; every other package is damaged inside."""
    if content[:2] == b"PK" and draw.random() < 0.5:
        return _repacked(content, draw)
    for _ in range(draw.randint(1, 8)):
        at = draw.randrange(len(content) + 1)
        length = draw.choice((0, 1, 1, 4, 30, 500))
        put = draw.choice(
            (b"", draw.randbytes(draw.randint(1, 4)), draw.choice(_PIECES), content[at : at + length] * 2)
        )
        content = content[:at] + put + content[at + length :]
    return content[: draw.randrange(len(content) + 1)] if draw.random() < 0.1 else content


def _repacked(content: bytes, draw: random.Random) -> bytes:
    """A package whose parts are damaged one by one, with checksums that are right."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(out, "w") as target:
        for name in source.namelist():
            inner = source.read(name)
            target.writestr(name, damaged(inner, draw) if draw.random() < 0.5 and inner[:2] != b"PK" else inner)
    return out.getvalue()
