"""The same work on synthetic libraries of growing size: memory of a search against the index, growth of its time."""

from __future__ import annotations

import itertools
import statistics
import tempfile
import time
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
    """Libraries of these numbers of passages, each deleted before the next is made."""
    measured = [_measure(size) for size in sorted(sizes)]
    rows = (*_memory(measured[-1]), *_growth(measured))
    header = (
        "passages", "`add`, whole process", "its memory", "index", "library", "in process, a question",
        "`search`, whole process", "its memory", "memory / index",
    )  # fmt: skip
    note = (
        f"Made by `benchmarks/synthetic.py`, seed {synthetic.SEED}: 40 to 60 words a passage, "
        f"{synthetic.DOCUMENTS} documents. Index: the bytes of the BM25 artefact. In process: median of "
        f"{_QUESTIONS} questions of twelve words, k = 10, once loaded. Whole process: median of {_PROCESSES} questions."
    )
    return Part("large", rows, (Table("By size", header, tuple(map(_cells, measured)), note),))


def _measure(passages: int) -> Size:
    with tempfile.TemporaryDirectory(prefix="responsa-bench-") as name:
        sources, library = Path(name) / "sources", Path(name) / "library"
        sources.mkdir()
        progress(f"{passages:,} passages: making")
        synthetic.write(sources, passages)
        progress(f"{passages:,} passages: adding")
        added = responsa(library, "add", sources)
        progress(f"{passages:,} passages: asking")
        asked = synthetic.questions(_QUESTIONS)
        index = next((library / "artefacts").glob("bm25-*"))
        return Size(
            passages,
            added,
            _bytes(index),
            _bytes(library),
            _in_process(library, asked),
            [responsa(library, "search", "--", text) for text in asked[:_PROCESSES]],
        )


def _in_process(library: Path, asked: list[str]) -> float:
    """Median milliseconds of a question, asked one by one of an engine that has answered all of them before."""
    queries = [Query(str(number), text) for number, text in enumerate(asked)]
    times = []
    with Library.open(library) as opened:
        engine = Engine(opened, recipe.load())
        engine.search(queries)
        for query in queries:
            start = time.perf_counter()
            engine.search([query])
            times.append(time.perf_counter() - start)
    return statistics.median(times) * 1000


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
