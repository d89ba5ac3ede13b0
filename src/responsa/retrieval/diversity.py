"""Passages that say different things: maximal marginal relevance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from responsa.analysis import Analysis, Idf
from responsa.corpus.view import Corpus
from responsa.errors import RecipeError
from responsa.models import Vectors
from responsa.models.load import load_encoder
from responsa.retrieval.bm25 import BM25
from responsa.retrieval.postings import Floats
from responsa.retrieval.scale import minmax
from responsa.text import folded
from responsa.types import Hit, Query, Ranking, Run

_ANALYSIS = Analysis(bigrams=False)


@dataclass(frozen=True)
class Diversity:
    """Takes the passage next that is relevant and unlike those taken: Carbonell and Goldstein, SIGIR 1998.

    Its score is ``relevance`` times its own, scaled to 0-1 over the first ``depth``, less (1 - ``relevance``) times the
    cosine to the most similar passage taken: of vectors by ``encoder`` where one is named (each text is encoded
    when it is found), else of words weighted by idf. Unless ``repeats``, a passage whose text is that of a better one
    goes below all others of the first ``depth``. Passages below ``depth`` follow in their old order.
    """

    relevance: float = 0.8
    depth: int = 50
    encoder: str = ""
    repeats: bool = False

    def __post_init__(self) -> None:
        if not 0 <= self.relevance <= 1 or self.depth < 1:
            raise RecipeError(
                "diversity: relevance from 0 to 1 and depth of at least 1 are needed, got "
                f"{self.relevance} and {self.depth}"
            )

    def __call__(self, run: Run, queries: Sequence[Query], corpus: Corpus) -> Run:
        """Raw scores."""
        idf = None if self.encoder else BM25().idf(corpus)
        return Run(
            f"{run.name} > {self!r}",
            {query.id: self._spread(run.rankings[query.id], corpus, idf) for query in queries},
        )

    def _spread(self, ranking: Ranking, corpus: Corpus, idf: Idf | None) -> Ranking:
        head = minmax(ranking, self.depth).hits
        if not head:
            return ranking
        texts = [passage.text for passage in corpus.read(hit.passage_id for hit in head).values()]
        vectors = _words(texts, idf) if idf else load_encoder(self.encoder).encode(texts, "passage")
        first = _first(texts)
        kept = [place for place in range(len(head)) if self.repeats or first[place] == place]
        order = self._order(kept, np.array([hit.score for hit in head]), cosines(vectors))
        scores = [(head[place].passage_id, score) for place, score in order]
        # What follows keeps its order below: the repeated ones, then what is below the depth.
        below = [head[place] for place in range(len(head)) if place not in set(kept)]
        floor = scores[-1][1] - 1e-3
        scores += [(hit.passage_id, floor + hit.score - 1) for hit in below]
        tail = ranking.hits[self.depth :]
        high = tail[0].score if tail else 0.0
        rest = [Hit(hit.passage_id, floor - 2 + hit.score - high) for hit in tail]
        return Ranking.of(ranking.query_id, [*scores, *rest])

    def _order(self, kept: Sequence[int], own: Floats, alike: Vectors) -> list[tuple[int, float]]:
        """Places in the order taken, with their scores, which never rise."""
        left, nearest = list(kept), np.zeros(len(own))
        order = []
        while left:
            values = self.relevance * own[left] - (1 - self.relevance) * nearest[left]
            at = int(np.argmax(values))
            place = left.pop(at)
            order.append((place, float(values[at])))
            nearest = np.maximum(nearest, alike[place])
        return order


def _first(texts: Sequence[str]) -> list[int]:
    """For each text the place of the first that is equal to it once normalised."""
    seen: dict[str, int] = {}
    return [seen.setdefault(folded(text), place) for place, text in enumerate(texts)]


def _words(texts: Sequence[str], idf: Idf) -> Vectors:
    """Counts of words times their idf, shape (texts, words among them)."""
    terms = [analysed.words for analysed in _ANALYSIS(texts)]
    vocabulary, column = np.unique(np.concatenate(terms), return_inverse=True)
    vectors = np.zeros((len(texts), len(vocabulary)), dtype=np.float32)
    np.add.at(vectors, (np.repeat(np.arange(len(texts)), [len(each) for each in terms]), column), 1)
    return vectors * idf(vocabulary).astype(np.float32)


def cosines(vectors: Vectors) -> Vectors:
    """The cosine of each pair of rows; 0 with a row of zeros, and where it is negative."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(norms > 0, norms, 1)
    return np.maximum(unit @ unit.T, 0)
