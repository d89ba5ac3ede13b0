"""The same work on synthetic libraries of growing size: memory of a search against the index, growth of its time."""

from __future__ import annotations

import contextlib
import itertools
import statistics
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import synthetic
from benchmarks.data import progress
from benchmarks.processes import MB, Measured, highest_peak, median_wall, responsa
from benchmarks.report import Part, Row, Table
from responsa import recipe
from responsa.corpus.library import Library
from responsa.engine import Engine
from responsa.types import Query

_QUESTIONS = 200  # timed inside a process
_ROUNDS = 5
_PROCESSES = 10  # questions that get a process each
_SHARE = 0.4


@dataclass(frozen=True)
class Size:
    """What was measured on one library. ``index`` is the bytes of the BM25 artefact, ``milliseconds`` per question."""

    passages: int
    added: Measured
    index: int
    library: int
    milliseconds: float
    searches: list[Measured]

    @property
    def share(self) -> float:
        """Peak memory of a search process over the bytes of the index."""
        return highest_peak(self.searches) / self.index


def part(sizes: list[int]) -> Part:
    """Libraries of these numbers of passages, in a temporary folder; it needs 3 GB for a million."""
    with tempfile.TemporaryDirectory(prefix="responsa-bench-") as name:
        measured = _measure(Path(name), sorted(sizes))
    rows = (*_memory(measured[-1]), *_growth(measured))
    header = (
        "passages", "`add`, whole process", "its memory", "index", "library", "in process, a question",
        "`search`, whole process", "its memory", "memory / index",
    )  # fmt: skip
    note = (
        f"Made by `benchmarks/synthetic.py`, seed {synthetic.SEED}: 40 to 60 words a passage, "
        f"{synthetic.DOCUMENTS} documents. Index: the bytes of the BM25 artefact. In process: median of "
        f"{_QUESTIONS} questions of twelve words, k = 10, once loaded, and of {_ROUNDS} rounds in which the libraries "
        f"take turns. Whole process: median of {_PROCESSES} questions, the libraries in turn."
    )
    return Part("large", rows, (Table("By size", header, tuple(map(_cells, measured)), note),))


def _measure(folder: Path, sizes: list[int]) -> list[Size]:
    """First all libraries are made; then they are asked in turn, so that all see the machine in the same state."""
    libraries = {size: folder / f"library-{size}" for size in sizes}
    added = {size: _make(library, size) for size, library in libraries.items()}
    asked = synthetic.questions(_QUESTIONS)
    progress("asking")
    milliseconds = _in_process(libraries, asked)
    searches: dict[int, list[Measured]] = {size: [] for size in sizes}
    for text in asked[:_PROCESSES]:
        for size, library in libraries.items():
            searches[size].append(responsa(library, "search", "--", text))
    return [
        Size(
            size,
            added[size],
            _bytes(next((library / "artefacts").glob("bm25-*"))),
            _bytes(library),
            milliseconds[size],
            searches[size],
        )
        for size, library in libraries.items()
    ]


def _make(library: Path, passages: int) -> Measured:
    """A library of that many synthetic passages; the files it was made from are deleted."""
    with tempfile.TemporaryDirectory(prefix="sources-", dir=library.parent) as sources:
        progress(f"{passages:,} passages: making")
        synthetic.write(Path(sources), passages)
        progress(f"{passages:,} passages: adding")
        return responsa(library, "add", sources)


def _in_process(libraries: Mapping[int, Path], asked: list[str]) -> dict[int, float]:
    """Median milliseconds of a question at each size, asked one by one of engines that were asked all before."""
    queries = [Query(str(number), text) for number, text in enumerate(asked)]
    rounds: dict[int, list[float]] = {size: [] for size in libraries}
    with contextlib.ExitStack() as stack:
        shipped = recipe.load("bm25")
        engines = {size: Engine(stack.enter_context(Library.open(path)), shipped) for size, path in libraries.items()}
        for turn in range(_ROUNDS + 1):  # the first round warms up
            for size, engine in engines.items():
                median = statistics.median(_timed(engine, query) for query in queries)
                rounds[size] += [median * 1000] if turn else []
    return {size: statistics.median(medians) for size, medians in rounds.items()}


def _timed(engine: Engine, query: Query) -> float:
    start = time.perf_counter()
    engine.search([query])
    return time.perf_counter() - start


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _memory(largest: Size) -> list[Row]:
    peak = highest_peak(largest.searches)
    return [
        Row(
            f"memory of `responsa search` on {largest.passages:,} passages",
            f"{largest.share:.0%} ({peak / MB:,.0f} of {largest.index / MB:,.0f} MB)",
            f"at most {_SHARE:.0%} of the index bytes",
            largest.share <= _SHARE,
            {"share": largest.share, "bytes": peak, "index_bytes": largest.index},
        ),
        Row(
            f"add {largest.passages:,} passages, whole process",
            f"{largest.added.wall:,.0f} s, {largest.added.peak / MB:,.0f} MB",
            values={"seconds": largest.added.wall, "bytes": largest.added.peak},
        ),
    ]


def _growth(sizes: list[Size]) -> list[Row]:
    """The time of a question grows from each size to the next by no more than the size does."""
    rows = []
    for smaller, larger in itertools.pairwise(sizes):
        size, slower = larger.passages / smaller.passages, larger.milliseconds / smaller.milliseconds
        rows.append(
            Row(
                f"time of a question, {larger.passages:,} against {smaller.passages:,} passages",
                f"{slower:.1f} x ({smaller.milliseconds:.2f} to {larger.milliseconds:.2f} ms)",
                f"at most {size:g} x",
                slower <= size,
                {"growth": slower},
            )
        )
    return rows


def _cells(size: Size) -> tuple[str, ...]:
    return (
        f"{size.passages:,}",
        f"{size.added.wall:,.1f} s",
        f"{size.added.peak / MB:,.0f} MB",
        f"{size.index / MB:,.0f} MB",
        f"{size.library / MB:,.0f} MB",
        f"{size.milliseconds:.2f} ms",
        f"{median_wall(size.searches):.2f} s",
        f"{highest_peak(size.searches) / MB:,.0f} MB",
        f"{size.share:.0%}",
    )
