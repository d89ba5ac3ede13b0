"""How fast on the real corpus: commands as whole processes, and batch retrieval beside bm25s and rank_bm25."""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import data
from benchmarks.data import progress
from benchmarks.processes import MB, Measured, highest_peak, measure, median_wall, responsa
from benchmarks.report import Part, Row, Table
from responsa.corpus.library import Library
from responsa.evaluate import trec
from responsa.evaluate.ranking import Measure, score_run
from responsa.types import Judgement

SAMPLE = 100  # questions that rank_bm25 is asked: it is slow
_QUESTIONS = 20  # that search and ask are timed with, a process each
_MEASURES = (Measure("recall", 10), Measure("MAP", 10))


def part(repeats: int) -> Part:
    """Everything of this module."""
    with tempfile.TemporaryDirectory(prefix="responsa-bench-") as name:
        folder = Path(name)
        library = folder / "library"
        rows = [*_adding(folder, library, repeats), *_asking(library), _start()]
        batch, table = _batch(folder, library, repeats)
    return Part("speed", (*rows, batch), (table,))


def _adding(folder: Path, library: Path, repeats: int) -> list[Row]:
    """`add`: into a new library, again without a change, and with one document of middling size changed."""
    cold, again, changed = [], [], []
    for repeat in range(repeats):
        progress(f"add, {repeat + 1} of {repeats}")
        shutil.rmtree(library, ignore_errors=True)
        sources = folder / "documents"
        shutil.copytree(data.documents(), sources, dirs_exist_ok=True, copy_function=shutil.copyfile)
        cold.append(responsa(library, "add", sources))
        again.append(responsa(library, "add", sources))
        _change_one(sources)
        changed.append(responsa(library, "add", sources))
    shutil.rmtree(library)
    data.build(library)
    return [
        _process("add the 40 documents, cold", cold, "at most 8 s", 8),
        _process("add them again, unchanged", again, "at most 1 s", 1),
        _process("add them again, one document changed", changed),
    ]


def _change_one(sources: Path) -> None:
    """A word more in the first passage with text of the document of median size."""
    files = sorted(sources.glob("*.json"), key=lambda path: path.stat().st_size)
    rows = json.loads(files[len(files) // 2].read_text(encoding="utf-8"))
    next(row for row in rows if row["Passage"].strip())["Passage"] += " amended"
    files[len(files) // 2].write_text(json.dumps(rows), encoding="utf-8")


def _asking(library: Path) -> list[Row]:
    """`search` and `ask`, a process for each question; the questions are spread over the dev set."""
    queries = data.dev_questions()
    asked = [query.text for query in queries[:: len(queries) // _QUESTIONS][:_QUESTIONS]]
    responsa(library, "search", "--", asked[0])
    found, answered = [], []
    for text in asked:
        found.append(responsa(library, "search", "--", text))
        answered.append(responsa(library, "ask", "--", text))
    progress("search and ask done")
    return [
        _process(f"`responsa search`, {len(asked)} questions", found, "at most .6 s, 300 MB", 0.6, 300 * MB),
        _process(f"`responsa ask`, {len(asked)} questions", answered, "at most 1.0 s", 1.0),
    ]


def _start() -> Row:
    """What a process costs before it does anything."""
    bare = [measure([sys.executable, "-c", "pass"]) for _ in range(5)]
    return _process("for comparison: the interpreter alone", bare)


def _process(
    what: str, runs: list[Measured], target: str = "", wall: float | None = None, peak: float | None = None
) -> Row:
    middle, highest = median_wall(runs), highest_peak(runs)
    met = None if wall is None else middle <= wall and (peak is None or highest <= peak)
    return Row(
        f"{what}, whole process",
        f"{middle:.2f} s (least {min(run.wall for run in runs):.2f}), {highest / MB:.0f} MB",
        target,
        met,
        {"seconds": middle, "bytes": highest},
    )


@dataclass
class _Contender:
    """What is known of one system after its processes."""

    label: str
    questions: Path
    asked: int
    passes: int  # over the questions in each process
    seconds: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    peaks: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)


def _batch(folder: Path, library: Path, repeats: int) -> tuple[Row, Table]:
    """The three systems in turn, each round a new process each, so that all see the machine in the same state."""
    sample = folder / "sample.json"
    everything = json.loads(data.dev_file().read_text(encoding="utf-8"))
    sample.write_text(json.dumps(everything[:: len(everything) // SAMPLE][:SAMPLE]), encoding="utf-8")
    with Library.open(library) as opened:
        judgements = data.dev_gold(opened.corpus())
    contenders = {
        "responsa": _Contender("Responsa, BM25 recipe", data.dev_file(), len(everything), 3),
        "bm25s": _Contender("bm25s used plainly", data.dev_file(), len(everything), 3),
        "rank_bm25": _Contender("rank_bm25, Okapi", sample, SAMPLE, 1),
    }
    for repeat in range(repeats):
        for name, contender in contenders.items():
            progress(f"batch retrieval, {name}, {repeat + 1} of {repeats}")
            run = folder / f"{name}.run"
            program = [sys.executable, "-m", "benchmarks.contenders", name]
            measured = measure([*program, library, contender.questions, run, str(contender.passes)])
            printed = json.loads(measured.output)
            contender.seconds.append(printed["index_seconds"])
            contender.rates.extend(printed["rates"])
            contender.peaks.append(measured.peak)
    for name, contender in contenders.items():
        contender.scores = _scores(folder / f"{name}.run", judgements)
    return _rate(contenders), _table(list(contenders.values()))


def _scores(path: Path, judgements: list[Judgement]) -> list[float]:
    """R@10 and MAP@10 over the questions of the run."""
    run = trec.read_run(path)
    asked = [judgement for judgement in judgements if judgement.query_id in run.rankings]
    scored = score_run(run, asked, _MEASURES)
    return [statistics.fmean(scored.values(measure)) for measure in _MEASURES]


def _rate(contenders: dict[str, _Contender]) -> Row:
    rate = {name: statistics.median(contender.rates) for name, contender in contenders.items()}
    ratios = ", ".join(f"{rate['responsa'] / rate[name]:.1f} x {name}" for name in ("bm25s", "rank_bm25"))
    return Row(
        f"batch retrieval, {contenders['responsa'].asked:,} questions, k = 100, once loaded",
        f"{rate['responsa']:,.0f} questions/s ({ratios})",
        "at least 1,500 questions/s",
        rate["responsa"] >= 1500,
        {f"{name}_questions_per_second": value for name, value in rate.items()},
    )


def _table(contenders: list[_Contender]) -> Table:
    middle: Callable[[list[float]], float] = statistics.median
    rows = tuple(
        (
            contender.label,
            f"{contender.asked:,}",
            f"{middle(contender.seconds):.2f} s",
            f"{middle(contender.rates):,.0f}",
            f"{max(contender.peaks) / MB:.0f} MB",
            *(f"{score:.4f}" for score in contender.scores),
        )
        for contender in contenders
    )
    return Table(
        "Beside other BM25 libraries",
        ("system", "questions", "indexing", "questions/s", "peak memory", "R@10", "MAP@10"),
        rows,
        "The same passages in the same run, each system in a process of its own. Indexing starts from the texts in "
        "memory; that of Responsa starts from its catalogue and ends with checked files on disk. rank_bm25 is asked a "
        f"sample of {SAMPLE} questions, and its quality is over these.",
    )
