"""Document-aware fusion: a passage counts for more where its whole document is about the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from responsa.corpus.artefacts import is_whole
from responsa.corpus.view import Corpus
from responsa.errors import RecipeError
from responsa.retrieval import postings
from responsa.retrieval.bm25 import BM25, idf_lucene, load, saturation
from responsa.retrieval.postings import TermList
from responsa.retrieval.scale import minmax
from responsa.text import digest
from responsa.types import Query, Ranking, Run


@dataclass(frozen=True)
class Documents:
    """Adds the BM25 score of the passage's document: (1 - ``weight``) passage + ``weight`` document.

    RIRAG, section 5.1 and A.7, after Wang et al. 2024 (DAPR): passages are scaled to 0-1 over the first ``depth``,
    documents over all that share a word with the question; others count 0. ``k1`` and ``b`` are BM25's for whole
    documents (Lucene's defaults). The words are those that the index of passages has, each window of
    a long passage by itself, without bigrams.
    """

    weight: float = 0.1
    depth: int = 100
    k1: float = 0.9
    b: float = 0.4
    words: BM25 = field(default=BM25())

    def __post_init__(self) -> None:
        if not 0 <= self.weight <= 1 or self.depth < 1 or self.k1 < 0 or not 0 <= self.b <= 1:
            raise RecipeError(
                "documents: weight and b from 0 to 1, depth of at least 1 and k1 of at least 0 are needed, got "
                f"weight {self.weight}, b {self.b}, depth {self.depth} and k1 {self.k1}"
            )

    def __call__(self, run: Run, queries: Sequence[Query], corpus: Corpus) -> Run:
        """Raw scores from 0 to 1 of the first ``depth`` passages."""
        ranked = self.rank(queries, corpus)
        rankings = {query.id: self._fused(run.rankings[query.id], ranked[query.id], corpus) for query in queries}
        return Run(f"{run.name} > {self!r}", rankings)

    def _fused(self, ranking: Ranking, documents: Ranking, corpus: Corpus) -> Ranking:
        own = dict(minmax(ranking, self.depth).hits)
        about = dict(minmax(documents, len(documents.hits)).hits)
        scores = [
            (passage.id, (1 - self.weight) * own[passage.id] + self.weight * about.get(passage.document_id, 0.0))
            for passage in corpus.read(own).values()
        ]
        return Ranking.of(ranking.query_id, scores)

    def rank(self, queries: Sequence[Query], corpus: Corpus) -> dict[str, Ranking]:
        """The documents that share a word with each query, by their BM25 scores; document ids for passage ids."""
        index = corpus.artefacts.opened(lambda: [self.prepare(corpus)], lambda folders: load(folders[0]))
        analysed = self.words.analysis(query.full_text for query in queries)
        count = len(corpus.versions)
        return {
            query.id: Ranking.of(query.id, index.top(terms._replace(bigrams=terms.bigrams[:0]), count))
            for query, terms in zip(queries, analysed, strict=True)
        }

    def prepare(self, corpus: Corpus) -> Path:
        """Build the index of whole documents where it is missing; returns its folder."""
        digests = [version.digest for version in corpus.versions]
        return corpus.artefacts.get(self._name(corpus), digests, lambda folder: self._build(corpus, folder), view=True)

    def ready(self, corpus: Corpus) -> bool:
        """Whether the index of whole documents is built."""
        return is_whole(corpus.artefacts.folder / self._name(corpus))

    def _name(self, corpus: Corpus) -> str:
        settings = [postings.FORMAT, self.k1, self.b, repr(self.words), self.words.analysis.fingerprint]
        return "documents-" + digest([*settings, corpus.digest])[:24]

    def _build(self, corpus: Corpus, folder: Path) -> None:
        parts = [_whole(version.document_id, self.words.terms(corpus, version)) for version in corpus.versions]
        gain = partial(saturation, k1=self.k1, b=self.b)
        postings.write_index(parts, folder, postings.Weighting(idf_lucene, gain, 0.0))


def _whole(document_id: str, part: TermList) -> TermList:
    """The words of a version as those of one passage, named after the document."""
    term, times = part.term[: part.words], part.times[: part.words]
    starts = np.flatnonzero(np.r_[True, term[1:] != term[:-1]][: len(term)])
    return TermList(
        ids=[document_id],
        owner=np.zeros(1, dtype=np.int64),
        length=np.array([part.length.sum()]),
        term=term[starts],
        row=np.zeros(len(starts), dtype=np.int64),
        times=np.add.reduceat(times, starts) if len(starts) else times,
        words=len(starts),
    )
