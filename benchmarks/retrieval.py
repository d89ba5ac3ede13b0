"""Search by meaning: how fast it indexes and answers, what it finds in rules that no model learned from, and quality
against time.

Everything runs on two cores. Quality over the folds was measured with models that did not learn from the questions
(``docs/folds/results.json``, written by ``responsa experiment``): the shipped models learned from all of them.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks import data, pra
from benchmarks.data import progress
from benchmarks.processes import MB, highest_peak, median_wall, responsa
from benchmarks.report import ROOT, Part, Row, Table
from responsa import recipe
from responsa.corpus.library import Library
from responsa.corpus.view import Corpus
from responsa.engine import Engine, index
from responsa.evaluate.ranking import Measure, compare_runs
from responsa.recipe import Recipe
from responsa.retrieval.hybrid import Hybrid, indexed
from responsa.retrieval.learned import Features, read_weights
from responsa.retrieval.rerank import CrossEncoder
from responsa.retrieval.windowed import ByModel

RECIPES = ("bm25", "bm25-neighbours", "hybrid", "hybrid-rerank")
CANDIDATES = (50, 100, 400)  # of each stage; `hybrid` has 200
DEPTHS = (10, 20)  # passages that the reranker reads; `hybrid-rerank` has 5
FOLDS = ROOT / "docs" / "folds" / "results.json"
CURVE = ROOT / "docs" / "quality-latency.svg"
_CORES = 2
_QUESTIONS = 60
_WHOLE = 10
_REPEATS = 3


def part() -> Part:
    """Everything of this module."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:_CORES])
    with tempfile.TemporaryDirectory(prefix="responsa-bench-") as name:
        at = Path(name) / "library"
        data.build(at)
        with Library.open(at) as library:
            corpus = library.corpus()
            rows = [_indexing(corpus)]
            chosen = [*(recipe.load(each) for each in RECIPES), _linear()]
            chosen += [*(_candidates(each, Path(name)) for each in CANDIDATES), *map(_depth, DEPTHS)]
            for each in chosen:
                index(each, corpus)
            seconds = _latencies(library, corpus, chosen)
        rows += [_latency(each.name, seconds[each.name]) for each in chosen]
        rows += _processes(at)
    rows += _unseen()
    table = _curve(seconds)
    return Part("retrieval", tuple(rows), table)


def _linear() -> Recipe:
    """`hybrid` as far as its fusion, a point of the curve: the row ``linear`` over the folds."""
    whole = recipe.load("hybrid")
    assert isinstance(whole.retrieve, Hybrid)
    return replace(whole, name="linear", retrieve=replace(whole.retrieve, rerank=()))


def _candidates(count: int, folder: Path) -> Recipe:
    """`hybrid` with so many candidates of each stage: the weights that ship, which take as long as those learned for so
    many."""
    whole = recipe.load("hybrid")
    assert isinstance(whole.retrieve, Hybrid)
    (stage,) = whole.retrieve.rerank
    assert isinstance(stage, Features)
    weights = folder / f"hybrid-{count}.json"
    weights.write_text(replace(read_weights(stage.weights), depth=count).text(), encoding="utf-8")
    rerank = (replace(stage, weights=str(weights)),)
    return replace(whole, name=weights.stem, retrieve=replace(whole.retrieve, rerank=rerank))


def _depth(count: int) -> Recipe:
    """`hybrid-rerank` whose reranker reads so many passages."""
    whole = recipe.load("hybrid-rerank")
    assert isinstance(whole.retrieve, Hybrid)
    *before, stage = whole.retrieve.rerank
    assert isinstance(stage, CrossEncoder)
    rerank = (*before, replace(stage, depth=count))
    return replace(whole, name=f"{whole.name}-{count}", retrieve=replace(whole.retrieve, rerank=rerank))


def _indexing(corpus: Corpus) -> Row:
    """Passages encoded a second, by what `responsa index` runs."""
    (stage,) = (stage for stage in indexed(recipe.load("hybrid").retrieve) if isinstance(stage, ByModel))
    count = sum(1 for item in corpus.values() if item.text.strip())
    progress("encoding")
    start = time.perf_counter()
    stage.prepare(corpus)
    rate = count / (time.perf_counter() - start)
    what = f"indexing with the embedded encoder, {count:,} passages, {_CORES} cores"
    return Row(what, f"{rate:.0f} passages/s", "at least 190 passages/s", rate >= 190, {"passages_per_second": rate})


def _latencies(library: Library, corpus: Corpus, chosen: Sequence[Recipe]) -> dict[str, list[float]]:
    """Seconds for each question asked alone, models loaded; the recipes in turn, so that all see the same machine."""
    queries = data.dev_questions()
    queries = queries[:: len(queries) // _QUESTIONS][:_QUESTIONS]
    engines = {each.name: Engine(library, each) for each in chosen}
    seconds: dict[str, list[float]] = {name: [] for name in engines}
    for engine in engines.values():
        engine.search(queries[:1], corpus=corpus)
    for repeat in range(_REPEATS):
        progress(f"one question at a time, {repeat + 1} of {_REPEATS}")
        for name, engine in engines.items():
            for query in queries:
                start = time.perf_counter()
                engine.search([query], corpus=corpus)
                seconds[name].append(time.perf_counter() - start)
    return seconds


def _latency(name: str, seconds: Sequence[float]) -> Row:
    middle = statistics.median(seconds) * 1000
    nine = statistics.quantiles(seconds, n=10)[-1] * 1000
    target, met = ("at most 400 ms", middle <= 400) if name.startswith(recipe.DEFAULT) else ("", None)
    what = f"one question by `{name}`, models loaded, {_CORES} cores"
    return Row(what, f"median {middle:.0f} ms, nine of ten within {nine:.0f} ms", target, met, {"milliseconds": middle})


def _processes(at: Path) -> list[Row]:
    """`search` and `ask` as a user runs them, with the default recipe."""
    queries = data.dev_questions()
    asked = [query.text for query in queries[:: len(queries) // _WHOLE][:_WHOLE]]
    rows = []
    for command in ("search", "ask"):
        found = [responsa(at, command, "--", text) for text in asked]
        middle, highest = median_wall(found), highest_peak(found)
        what = f"`responsa {command}`, default recipe, {len(asked)} questions, whole process"
        measured = f"{middle:.2f} s, {highest / MB:.0f} MB"
        rows.append(Row(what, measured, values={"seconds": middle, "bytes": highest}))
    return rows


def _unseen() -> list[Row]:
    """Another regulator's rules, which no model learned from (`benchmarks.pra`): each recipe minus BM25."""
    scored = dict(zip(RECIPES, pra.measure(RECIPES, pra.rules(pra.pages())), strict=True))
    rows = []
    for name in RECIPES[1:]:
        for measure in (Measure("recall", 10), Measure("MAP", 10)):
            found = compare_runs(scored[name], scored[RECIPES[0]], measure)
            gain = found.difference
            values = scored[name].values(measure)
            rows.append(
                Row(
                    f"PRA rules, {gain.n} questions, `{name}`: {measure} above BM25",
                    f"{gain.mean:+.4f} [{gain.low:+.3f} {gain.high:+.3f}]: {statistics.fmean(values):.4f}",
                    "above 0" if name == recipe.DEFAULT else "",
                    gain.low > 0 if name == recipe.DEFAULT else None,
                    {"difference": gain.mean},
                )
            )
    return rows


def _curve(seconds: dict[str, list[float]]) -> tuple[Table, ...]:
    """Quality over the folds against the time of a question, as a table and a plot."""
    if not FOLDS.is_file():
        return ()
    found: dict[str, Any] = {row["name"]: row for row in json.loads(FOLDS.read_text(encoding="utf-8"))["rows"]}
    points = []
    for name, each in seconds.items():
        if name in found and found[name].get("means"):
            means = found[name]["means"]["all"]
            figures = [means[measure]["mean"] for measure in ("recall@10", "MAP@10")]
            points.append((name, statistics.median(each) * 1000, *figures))
    points.sort(key=lambda point: point[1])
    _draw(points)
    rows = tuple((name, f"{time:.0f} ms", f"{recall:.4f}", f"{mean:.4f}") for name, time, recall, mean in points)
    header = ("recipe", "median of a question", "R@10 over the folds", "MAP@10")
    return (Table("Quality against time", header, rows, f"![Quality against time]({CURVE.name})"),)


def _draw(points: Sequence[tuple[str, float, float, float]]) -> None:
    """Recall above, MAP below; lines through what differs in one setting alone."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "responsa"
    from matplotlib import pyplot

    known = {point[0]: point for point in points}
    numbers = {each: each.rpartition("-")[2] for each in known if each.startswith("hybrid-") and each[-1].isdigit()}
    numbers |= {"hybrid": "200", "hybrid-rerank": "5"}
    candidates = sorted((each for each in numbers if "rerank" not in each), key=lambda each: int(numbers[each]))
    depths = sorted((each for each in numbers if "rerank" in each), key=lambda each: int(numbers[each]))
    families = {"hybrid: candidates of each stage": candidates, "hybrid-rerank: passages reread": depths}
    figure, panels = pyplot.subplots(2, 1, figsize=(7, 7), sharex=True)
    for place, (axes, measure) in enumerate(zip(panels, ("recall@10", "MAP@10"), strict=True), 2):
        for label, family in families.items():
            line = [known[each] for each in family if each in known]
            axes.plot([point[1] for point in line], [point[place] for point in line], marker="o", label=label)
        alone = [point for point in points if point[0] not in numbers]
        axes.plot([point[1] for point in alone], [point[place] for point in alone], "k^")
        for name, *at in points:
            above = (0, 8) if "rerank" not in name else (0, -16)
            axes.annotate(
                numbers.get(name, name), (at[0], at[place - 1]), textcoords="offset points", xytext=above, ha="center"
            )
        axes.set_xscale("log")
        axes.margins(x=0.12, y=0.18)
        axes.set_ylabel(f"{measure} over the folds")
        axes.grid(alpha=0.3)
    panels[0].legend(loc="lower right")
    panels[1].set_xlabel("median time of a question, ms (two cores, models loaded)")
    figure.tight_layout()
    figure.savefig(CURVE, metadata={"Date": None})
    pyplot.close(figure)
