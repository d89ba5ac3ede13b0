"""One system in a process of its own: it indexes the passages and answers the questions, timed from inside.

``python -m benchmarks.contenders NAME LIBRARY QUESTIONS RUN REPEATS`` writes a TREC run and prints JSON: seconds to
index the texts and questions per second once loaded (each repeat), analysis of the questions included. What is plain
about bm25s: its own tokenizer and index with every setting as it comes. rank_bm25 is BM25Okapi on lower-cased words
between blanks. Both get the texts of the same passages; Responsa also reads the headings around them, as it ships.
The clock stops when a system has its own kind of result: for Responsa that are rankings with passage ids, for the
others arrays of positions and scores.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks import data
from responsa import questions, recipe
from responsa.corpus.library import Library
from responsa.engine import Engine
from responsa.evaluate.trec import write_run
from responsa.types import Query, Ranking, Run

DEPTH = 100
Search = Callable[[Sequence[Query]], Callable[[], Run]]
"""Searches, and returns what makes a run of the result."""


def main(name: str, library: str, asked: str, out: str, repeats: str) -> None:
    """Index, search ``repeats`` times, write the run, print the times."""
    queries = questions.read(Path(asked))
    seconds, search = CONTENDERS[name](Path(library))
    search(queries[:5])
    rates = []
    for _ in range(int(repeats)):
        start = time.perf_counter()
        found = search(queries)
        rates.append(len(queries) / (time.perf_counter() - start))
    write_run(found(), Path(out))
    print(json.dumps({"index_seconds": seconds, "rates": rates}))


def responsa(at: Path) -> tuple[float, Search]:
    """The shipped recipe. Its index is made anew from the catalogue, and on disk, checksums included."""
    shutil.rmtree(at / "artefacts", ignore_errors=True)
    engine = Engine(Library.open(at), recipe.load("bm25"))
    start = time.perf_counter()
    engine.recipe.retrieve.prepare(engine.library.corpus())
    seconds = time.perf_counter() - start

    def search(queries: Sequence[Query]) -> Callable[[], Run]:
        run = engine.run(queries, DEPTH)
        return lambda: run

    return seconds, search


def bm25s(at: Path) -> tuple[float, Search]:
    """bm25s used plainly."""
    import bm25s

    ids, texts = zip(*data.passages(at), strict=True)
    start = time.perf_counter()
    retriever = bm25s.BM25()
    retriever.index(bm25s.tokenize(list(texts), show_progress=False), show_progress=False)
    seconds = time.perf_counter() - start

    def search(queries: Sequence[Query]) -> Callable[[], Run]:
        tokens = bm25s.tokenize([query.text for query in queries], show_progress=False)
        found, scores = retriever.retrieve(tokens, k=DEPTH, show_progress=False)
        return lambda: _run("bm25s", queries, ids, found, scores)

    return seconds, search


def rank_bm25(at: Path) -> tuple[float, Search]:
    """BM25Okapi of rank_bm25."""
    from rank_bm25 import BM25Okapi

    ids, texts = zip(*data.passages(at), strict=True)
    start = time.perf_counter()
    index = BM25Okapi([text.lower().split() for text in texts])
    seconds = time.perf_counter() - start

    def search(queries: Sequence[Query]) -> Callable[[], Run]:
        scores = [index.get_scores(query.text.lower().split()) for query in queries]
        found = [np.argsort(row)[::-1][:DEPTH] for row in scores]
        best = [row[places] for row, places in zip(scores, found, strict=True)]
        return lambda: _run("rank_bm25", queries, ids, found, best)

    return seconds, search


def _run(
    name: str, queries: Sequence[Query], ids: Sequence[str], found: Sequence[np.ndarray], scores: Sequence[np.ndarray]
) -> Run:
    rankings = {
        query.id: Ranking.of(query.id, zip([ids[place] for place in places], values.tolist(), strict=True))
        for query, places, values in zip(queries, found, scores, strict=True)
    }
    return Run(name, rankings)


CONTENDERS: dict[str, Callable[[Path], tuple[float, Search]]] = {
    "responsa": responsa,
    "bm25s": bm25s,
    "rank_bm25": rank_bm25,
}

if __name__ == "__main__":
    main(*sys.argv[1:])
