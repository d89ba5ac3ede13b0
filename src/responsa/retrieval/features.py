"""What is known of a candidate passage beside its text: scores of the stages before, place, words, links.

Computed the same way for learning (`responsa.learn.features`) and for ranking (`responsa.retrieval.learned`). The runs
are told apart by their order alone, so that a model can be replaced by another and only the weights learned again.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from responsa.analysis import Analysed, Analysis, Idf, Terms
from responsa.corpus.searched import searched
from responsa.corpus.tree import leads_in
from responsa.corpus.view import Corpus
from responsa.retrieval import links
from responsa.retrieval.bm25 import BM25
from responsa.retrieval.documents import Documents
from responsa.retrieval.links import Links
from responsa.retrieval.scale import minmax
from responsa.types import Passage, Query, Ranking, Run

Floats = npt.NDArray[np.float64]

# Of each run: the score from 0 to 1 within the query; the score; the score by the idf of the question's words;
# 10 / (9 + rank), 0 where not found; whether it was found. A passage not found has the lowest score.
OF_RUN = ("scaled", "raw", "per idf", "reciprocal rank", "found")
# "Best" is the highest score, from 0 to 1, that the last run gives one of those passages, 0 where it found none.
OF_PASSAGE = {
    "document": "BM25 score of its document, from 0 to 1 within the query",
    "document rank": "1 / the rank of its document",
    "in document": "best of the others of its document",
    "beside": "best of the others below the same parent",
    "parent": "score of its parent",
    "child": "best of those below it",
    "near": "best of those at most two places away",
    "cited": "best of those that cite it",
    "citing": "best of those that it cites",
    "words": "share of the question's words, by idf, in its text",
    "words above": "in the headings above it, its title and its number",
    "words in all": "in either",
    "bigrams": "share of the question's bigrams in its text",
    "coverage": "share of its words, by idf, in the question",
    "length": "logarithm of its words",
    "guidance": "whether it is guidance",
    "lead-in": "whether it announces a list",
    "binding": "whether it says must or shall",
}
_SPAN = 2
_ANALYSIS = Analysis()
_BINDING = re.compile(r"\b(?:must|shall)\b", re.IGNORECASE)


def names(runs: int) -> tuple[str, ...]:
    """The features of candidates of that many runs, in the order of the columns."""
    return (*(f"run {run} {name}" for run in range(1, runs + 1) for name in OF_RUN), *OF_PASSAGE)


class Candidates(NamedTuple):
    """The candidates for a query and their features, a row each."""

    query_id: str
    ids: list[str]
    values: Floats


@dataclass(frozen=True)
class Extractor:
    """Computes features over one corpus. The candidates are the first ``depth`` passages of each run."""

    corpus: Corpus
    depth: int = 100

    def __call__(self, runs: Sequence[Run], queries: Sequence[Query]) -> Iterator[Candidates]:
        """The candidates for each query, in the order asked. What a run holds below ``depth`` makes no difference."""
        idf, table = BM25().idf(self.corpus), links.links(self.corpus)
        documents = Documents().rank(queries, self.corpus)
        analysed = _ANALYSIS(query.full_text for query in queries)
        for query, asked in zip(queries, analysed, strict=True):
            found = [run.rankings.get(query.id, Ranking(query.id, ())) for run in runs]
            cut = [Ranking(each.query_id, each.hits[: self.depth]) for each in found]
            ids = list(dict.fromkeys(hit.passage_id for ranking in cut for hit in ranking.hits))
            passages = self.corpus.read(ids)
            scores = dict(minmax(cut[-1], self.depth).hits)
            mass = float(idf(np.unique(asked.words)).sum()) or 1.0
            columns = [_of_run(ranking, ids, mass) for ranking in cut]
            columns.append(_tree(passages, documents[query.id], scores))
            columns.append(_around(ids, table, scores))
            columns.append(_words(list(passages.values()), asked, idf))
            yield Candidates(query.id, ids, np.concatenate(columns, axis=1))


def _of_run(ranking: Ranking, ids: Sequence[str], mass: float) -> Floats:
    scaled = dict(minmax(ranking, len(ranking.hits)).hits)
    ranks = {hit.passage_id: (10 / (9 + rank), hit.score) for rank, hit in enumerate(ranking.hits, 1)}
    lowest = ranking.hits[-1].score if ranking.hits else 0.0
    rows = []
    for passage_id in ids:
        reciprocal, score = ranks.get(passage_id, (0.0, lowest))
        rows.append((scaled.get(passage_id, 0.0), score, score / mass, reciprocal, passage_id in ranks))
    return np.array(rows, dtype=np.float64).reshape(-1, len(OF_RUN))


def _tree(passages: Mapping[str, Passage], ranked: Ranking, scores: Mapping[str, float]) -> Floats:
    """document to child"""
    about = dict(minmax(ranked, len(ranked.hits)).hits)
    rank = {hit.passage_id: 1 / place for place, hit in enumerate(ranked.hits, 1)}
    of_document = _Best((p.document_id, p.id, scores.get(p.id, 0.0)) for p in passages.values())
    below = _Best((p.parent_id, p.id, scores.get(p.id, 0.0)) for p in passages.values() if p.parent_id)
    rows = [
        (
            about.get(p.document_id, 0.0),
            rank.get(p.document_id, 0.0),
            of_document.other(p.document_id, p.id),
            below.other(p.parent_id or "", p.id),
            scores.get(p.parent_id or "", 0.0),
            below.other(p.id, ""),
        )
        for p in passages.values()
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, 6)


def _around(ids: Sequence[str], table: Links, scores: Mapping[str, float]) -> Floats:
    """near, cited, citing"""
    positions = [table.position(passage_id) for passage_id in ids]
    at = {position: scores.get(each, 0.0) for each, position in zip(ids, positions, strict=True)}

    def best(others: Iterable[int]) -> float:
        return max((at.get(other, 0.0) for other in others), default=0.0)

    rows = [
        (best(table.near(place, _SPAN)), best(table.citing(place)), best(table.cited_by(place)))
        if place is not None
        else (0.0, 0.0, 0.0)
        for place in positions
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


def _words(passages: Sequence[Passage], asked: Analysed, idf: Idf) -> Floats:
    """words to binding"""
    own = [_read(searched(p)) for p in passages]
    above = [_read("\n".join((p.title, p.number, *p.path))) for p in passages]
    words, bigrams = np.unique(asked.words), np.unique(asked.bigrams)
    weights = idf(words)
    total = float(weights.sum()) or 1.0
    inside, heading = held([each.words for each in own], words), held([each.words for each in above], words)
    shared = inside @ weights
    columns = [
        shared / total,
        heading @ weights / total,
        (inside | heading) @ weights / total,
        held([each.bigrams for each in own], bigrams).sum(axis=1) / max(len(bigrams), 1),
        shared / np.maximum(_masses([each.words for each in own], idf), 1e-9),
        np.log1p([each.length for each in own]),
        [p.kind == "guidance" for p in passages],
        [leads_in(p) for p in passages],
        [each.binding for each in own],
    ]
    return np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=1)


def _masses(texts: Sequence[Terms], idf: Idf) -> Floats:
    """The summed idf of each text."""
    sizes = [len(each) for each in texts]
    weights = idf(np.concatenate([np.empty(0, np.uint64), *texts]))
    owner = np.repeat(np.arange(len(texts)), sizes)
    return np.bincount(owner, weights=weights, minlength=len(texts)).astype(np.float64)


class _Text(NamedTuple):
    """Distinct words and bigrams, how many words, and whether it says must or shall."""

    words: Terms
    bigrams: Terms
    length: int
    binding: bool


@lru_cache(maxsize=8192)
def _read(text: str) -> _Text:
    (found,) = _ANALYSIS([text])
    binding = _BINDING.search(text) is not None
    return _Text(np.unique(found.words), np.unique(found.bigrams), len(found.words), binding)


def held(texts: Sequence[Terms], wanted: Terms) -> npt.NDArray[np.bool_]:
    """Whether each text holds each of the terms wanted, which ascend; shape (texts, wanted)."""
    found = np.zeros((len(texts), len(wanted)), dtype=bool)
    terms = np.concatenate([np.empty(0, np.uint64), *texts])
    owner = np.repeat(np.arange(len(texts)), [len(each) for each in texts])
    if len(wanted):
        column = np.minimum(np.searchsorted(wanted, terms), len(wanted) - 1)
        same = wanted[column] == terms
        found[owner[same], column[same]] = True
    return found


class _Best:
    """The two best scores of each group, to tell the best of a member's fellows."""

    def __init__(self, rows: Iterable[tuple[str, str, float]]) -> None:
        self._groups: dict[str, list[tuple[float, str]]] = defaultdict(list)
        for group, member, score in rows:
            self._groups[group].append((score, member))
        for scores in self._groups.values():
            scores.sort(reverse=True)
            del scores[2:]

    def other(self, group: str, member: str) -> float:
        """The best score in the group of any but the member; 0 where there is none."""
        return next((score for score, name in self._groups.get(group, ()) if name != member), 0.0)
