"""What several test files need: small rulebooks, a library made from them, its state, and the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import date
from pathlib import Path

from responsa.corpus import catalogue, library
from responsa.corpus.intake import AddReport
from responsa.corpus.library import Library
from responsa.corpus.verify import Finding, verify
from responsa.engine import Engine, prepare
from responsa.recipe import load
from responsa.types import Edition, Passage, Query, Version

TIMEOUT = 60  # seconds after which a child process counts as hung
_BOUND = 60  # seconds of processor time that no text may take to read; what is not linear takes many minutes

PREPARE = prepare(load("bm25"))

State = frozenset[tuple[str, str, bool, bool, int]]


@contextmanager
def bounded() -> Iterator[None]:
    """Stop what takes so much processor time that it cannot be linear in its text, whatever else the machine does."""

    def stop(*_: object) -> None:
        raise AssertionError(f"took more than {_BOUND} seconds of processor time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, _BOUND)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def write_rulebook(
    path: Path,
    clauses: Sequence[str],
    document: str | None = None,
    valid_from: str | None = None,
    valid_to: str | None = None,
) -> Path:
    """A Markdown rulebook with the clauses numbered 1.1, 1.2, ...; the document is named after the file."""
    keys = {"document": document, "valid_from": valid_from, "valid_to": valid_to}
    given = [f"{key}: {value}" for key, value in keys.items() if value]
    front = ["---", *given, "---", ""] if given else []
    lines = [f"1.{number} {clause}" for number, clause in enumerate(clauses, 1)]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*front, "# Rules", "", *lines]) + "\n", encoding="utf-8")
    return path


def write_rows(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    """A JSONL file of passages."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def add(folder: Path, *sources: Path) -> AddReport:
    """`library.add` with the indexes of the default recipe."""
    return library.add(folder, sources, PREPARE)


def remove(folder: Path, name: str) -> tuple[str, ...]:
    """`library.remove` with the indexes of the default recipe."""
    return library.remove(folder, name, PREPARE)


def statuses(report: AddReport) -> dict[str, str]:
    """What became of each file, by its name."""
    return {Path(file.path).name: file.status for file in report.files}


def state(folder: Path) -> State:
    """What the catalogue holds: document, digest, current, live and number of passages of every version."""
    with Library.open(folder) as opened:
        return frozenset(
            (each.version.document_id, each.version.digest, each.current, each.live, each.passages)
            for each in opened.documents()
        )


def findings(folder: Path) -> list[Finding]:
    """Everything that verify finds."""
    with Library.open(folder) as opened:
        return list(verify(opened))


def failures(folder: Path) -> list[Finding]:
    """What verify finds failed."""
    return [finding for finding in findings(folder) if finding.state == "failed"]


def texts(folder: Path, document: str, as_of: date | None = None) -> list[str]:
    """The texts of a document as in force at a date; empty where it is not in view. Bare headings are left out."""
    with Library.open(folder) as opened:
        corpus = opened.corpus(as_of)
        version = corpus.version(document)
        return [passage.text for passage in corpus.passages(version) if passage.text] if version else []


def search(folder: Path, question: str, k: int = 3) -> list[str]:
    """The ids of the best passages."""
    with Library.open(folder) as opened:
        return [hit.passage_id for hit in Engine(opened, load("bm25")).search([Query("q", question)], k)[0].hits]


def versions(folder: Path, document: str) -> list[Version]:
    """All versions of a document, the earliest first."""
    with Library.open(folder) as opened:
        return [each.version for each in opened.documents() if each.version.document_id == document]


def edition(document: str, *passages: Passage, valid_from: date | None = None, valid_to: date | None = None) -> Edition:
    """An edition made by hand."""
    return Edition(document, document, passages, valid_from, valid_to)


def alter(folder: Path, statement: str, *parameters: object) -> None:
    """Change the catalogue behind the library's back."""
    with closing(catalogue.connect(folder, writable=True)) as db:
        db.execute(statement, parameters)


def command(folder: Path, *arguments: str | Path) -> list[str]:
    """The command line of Responsa on a library."""
    return [sys.executable, "-m", "responsa", "--library", str(folder), *map(str, arguments)]


def cli(folder: Path, *arguments: str | Path, prefix: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    """Run a command to its end in a process of its own."""
    return subprocess.run(
        [*prefix, *command(folder, *arguments)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        env={**os.environ, "COLUMNS": "200"},
    )
