"""Evidence from beside the words: clauses that stand next to one another, questions that were answered before."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from responsa.analysis import Analysis, Terms
from responsa.corpus.view import Corpus
from responsa.errors import InputError, RecipeError
from responsa.retrieval.scale import minmax
from responsa.text import folded
from responsa.types import Query, Ranking, Run


@dataclass(frozen=True)
class Neighbours:
    """Lifts passages that stand near another passage found: rules that answer together often stand together.

    Over the first ``depth`` hits, scaled to 0-1, each gains ``weight`` times the best score among the hits at
    most ``span`` places before or after it in the same document. Of the gold passages that word search leaves
    out of the first ten for questions with several, a quarter stand within three places of one that it finds
    (``docs/evidence.md``).
    """

    weight: float = 0.1
    span: int = 2
    depth: int = 100

    def __post_init__(self) -> None:
        if self.weight < 0 or min(self.span, self.depth) < 1:
            raise RecipeError(
                "neighbours: weight of at least 0 and span and depth of at least 1 are needed, got "
                f"{self.weight}, {self.span} and {self.depth}"
            )

    def __call__(self, run: Run, queries: Sequence[Query], corpus: Corpus) -> Run:
        rankings = {query.id: self._lift(run.rankings[query.id], corpus) for query in queries}
        return Run(f"{run.name} > {self!r}", rankings)

    def _lift(self, ranking: Ranking, corpus: Corpus) -> Ranking:
        scores = dict(minmax(ranking, self.depth).hits)
        places = corpus.places(scores)
        documents = {passage.id: passage.document_id for passage in corpus.read(scores).values()}
        at = {(documents[passage_id], place): scores[passage_id] for passage_id, place in places.items()}
        lifted = []
        for passage_id, score in scores.items():
            document_id, place = documents[passage_id], places[passage_id]
            around = [at.get((document_id, place + step), 0.0) for step in range(-self.span, self.span + 1) if step]
            lifted.append((passage_id, score + self.weight * max(around)))
        return Ranking.of(ranking.query_id, lifted)


@dataclass(frozen=True)
class KnownQuestions:
    """Passages of the known questions most like the one asked.

    ``path`` names a JSONL file with ``question`` and ``passages`` (ids). Likeness is the share of both questions'
    idf weight that they have in common; those of at least ``least`` among the ``nearest`` lend their passages,
    which score the sum of the likenesses. A known question that is word for word the one asked lends nothing,
    so that a system can be measured on questions that it knows. No such file ships with Responsa.
    """

    path: str
    nearest: int = 10
    least: float = 0.2

    def __post_init__(self) -> None:
        if self.nearest < 1 or not 0 <= self.least <= 1:
            raise RecipeError(
                "known-questions: nearest of at least 1 and least from 0 to 1 are needed, got "
                f"{self.nearest} and {self.least}"
            )

    def __call__(self, queries: Sequence[Query], corpus: Corpus, k: int) -> Run:
        """At most ``k`` passages for each query, raw scores; ids that are not in view are left out."""
        memory = read_memory(Path(self.path))
        rankings = {}
        for query in queries:
            lent: dict[str, float] = defaultdict(float)
            for likeness, known in memory.nearest(query.text, self.nearest):
                if likeness >= self.least:
                    for passage_id in memory.passages[known]:
                        lent[passage_id] += likeness
            there = corpus.places(lent)
            scores = [(passage_id, score) for passage_id, score in lent.items() if passage_id in there]
            rankings[query.id] = Ranking.of(query.id, scores, k=k)
        return Run(repr(self), rankings)

    def prepare(self, corpus: Corpus) -> None:
        """Nothing: the questions are read when they are needed."""

    def ready(self, corpus: Corpus) -> bool:  # noqa: ARG002
        """Always."""
        return True


class Memory(NamedTuple):
    """Known questions: their texts, passages, distinct terms, and which questions hold a term."""

    texts: list[str]
    passages: list[tuple[str, ...]]
    terms: list[Terms]
    holders: dict[int, list[int]]

    def weight(self, terms: Terms) -> float:
        """The summed idf of distinct terms among the known questions."""
        n = len(self.texts)
        return float(sum(np.log1p((n - len(held) + 0.5) / (len(held) + 0.5)) for held in map(self._holders, terms)))

    def nearest(self, text: str, count: int) -> list[tuple[float, int]]:
        """The most alike, (likeness, position), best first; the text itself is left out."""
        asked = np.unique(_ANALYSIS([text])[0].words)
        own, total = folded(text), self.weight(asked)
        shared: dict[int, float] = defaultdict(float)
        for term in asked:
            gain = self.weight(np.array([term]))
            for known in self._holders(term):
                shared[known] += gain
        found = [
            (common / (total + self.weight(self.terms[known]) - common), known)
            for known, common in sorted(shared.items(), key=lambda item: (-item[1], item[0]))[: 5 * count]
            if folded(self.texts[known]) != own
        ]
        return sorted(found, key=lambda item: (-item[0], item[1]))[:count]

    def _holders(self, term: np.uint64) -> list[int]:
        return self.holders.get(int(term), [])


_ANALYSIS = Analysis(bigrams=False)


@lru_cache(maxsize=2)
def read_memory(path: Path) -> Memory:
    """The known questions in a JSONL file; InputError where one cannot be used, or there is none."""
    texts, passages = [], []
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise InputError(f"{path}: known questions cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            text, ids = row["question"], row["passages"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InputError(f"{path}: line {number}: expected an object with 'question' and 'passages'") from error
        if not isinstance(text, str) or not isinstance(ids, list) or not all(isinstance(each, str) for each in ids):
            raise InputError(f"{path}: line {number}: expected a text and a list of passage ids")
        texts.append(text)
        passages.append(tuple(ids))
    if not texts:
        raise InputError(f"{path}: holds no known question; a line is an object with 'question' and 'passages'")
    terms = [np.unique(analysed.words) for analysed in _ANALYSIS(texts)]
    holders: dict[int, list[int]] = defaultdict(list)
    for position, each in enumerate(terms):
        for term in each:
            holders[int(term)].append(position)
    return Memory(texts, passages, terms, dict(holders))
