"""BM25 over passages, on bm25s: scores are computed once at indexing and summed at retrieval.

Long passages are indexed in windows; a passage scores as its best window. The matrix of scores is
assembled from per-version term lists, so that a changed document costs the analysis of that document alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from responsa.analysis import Analysed, Analysis, Idf, Terms, stemmers, windows
from responsa.corpus.artefacts import is_whole
from responsa.corpus.searched import searched
from responsa.corpus.tree import surroundings
from responsa.corpus.view import Corpus
from responsa.errors import NotFound, RecipeError, suggestion
from responsa.retrieval import postings
from responsa.retrieval.postings import FORMAT, Floats, IdfFormula, Ints, Strings, map_array
from responsa.text import digest
from responsa.types import Passage, Query, Ranking, Run, Version

if TYPE_CHECKING:
    import bm25s

_GROUP = 64  # scores whose maximum is looked at first


def idf_lucene(df: Ints, n: int) -> Floats:
    """ln(1 + (n - df + .5) / (df + .5)): never negative. Kamphuis et al. 2020, table 1, "Lucene (accurate)"."""
    return np.log1p((n - df + 0.5) / (df + 0.5))


def idf_robertson(df: Ints, n: int) -> Floats:
    """max(0, ln((n - df + .5) / (df + .5))). Robertson et al. 1994, negative values cut off."""
    return np.maximum(0.0, np.log((n - df + 0.5) / (df + 0.5)))


def idf_atire(df: Ints, n: int) -> Floats:
    """ln(n / df). Trotman et al. 2014."""
    return np.log(n / df)


_IDF: dict[str, IdfFormula] = {
    "lucene": idf_lucene,
    "robertson": idf_robertson,
    "atire": idf_atire,
}


def saturation(tf: Floats, length: Floats, mean_length: float, k1: float, b: float) -> Floats:
    """tf / (tf + k1 (1 - b + b length / mean_length)): 0 to 1. ATIRE multiplies it by k1 + 1, which orders alike."""
    return tf / (tf + k1 * (1 - b + b * length / mean_length))


@dataclass(frozen=True)
class BM25:
    """Okapi BM25 over words and bigrams.

    ``bigram_weight`` scales the score of bigrams (0 leaves them out). ``context_weight`` is what a word in the
    headings, lead-in or list items around a passage counts beside a word of its own. ``window`` and
    ``overlap`` count words of the text.
    The length of a passage is that of all its windows: their words without stop words (those that two windows
    share count in both) and the words around it, which count ``context_weight``.
    Defaults were tuned on the 2,788 dev questions of ObliQA; ``docs/bm25.md`` has the table.
    """

    k1: float = 0.4
    b: float = 0.7
    variant: Literal["lucene", "robertson", "atire"] = "lucene"
    bigram_weight: float = 0.6
    context_weight: float = 0.2
    stemmer: str = "english"
    stopwords: Literal["none", "small", "large"] = "large"
    clean: bool = True
    lower: bool = True
    window: int = 300
    overlap: int = 50

    def __post_init__(self) -> None:
        if self.k1 < 0 or not 0 <= self.b <= 1 or min(self.bigram_weight, self.context_weight) < 0:
            raise RecipeError(
                "bm25: k1, bigram_weight and context_weight of at least 0 and b from 0 to 1 are needed, got "
                f"k1 {self.k1}, bigram_weight {self.bigram_weight}, context_weight {self.context_weight} and b {self.b}"
            )
        if not 0 <= self.overlap < self.window:
            raise RecipeError(f"bm25: overlap must be from 0 to below window, got {self.overlap} and {self.window}")
        if self.stemmer not in stemmers():
            raise RecipeError(f"bm25: unknown stemmer {self.stemmer!r}{suggestion(self.stemmer, stemmers())}")

    @property
    def analysis(self) -> Analysis:
        """The text analysis of passages and questions."""
        return Analysis(self.stemmer, self.stopwords, self.bigram_weight > 0, self.clean, self.lower)

    def prepare(self, corpus: Corpus) -> Path:
        """Build the index of the corpus where it is missing; returns its folder."""
        digests = [version.digest for version in corpus.versions]
        return corpus.artefacts.get(self._name(corpus), digests, lambda folder: self._build(corpus, folder), view=True)

    def ready(self, corpus: Corpus) -> bool:
        """Whether the index of the corpus is built and whole."""
        return is_whole(corpus.artefacts.folder / self._name(corpus))

    def _name(self, corpus: Corpus) -> str:
        return "bm25-" + digest([FORMAT, repr(self), self.analysis.fingerprint, corpus.digest])[:24]

    def __call__(self, queries: Sequence[Query], corpus: Corpus, k: int) -> Run:
        """The best ``k`` passages for each query, raw scores; passages that share no term with it are left out."""
        index = self._index(corpus)
        rankings = {}
        for query, analysed in zip(queries, self.analysis(query.full_text for query in queries), strict=True):
            rankings[query.id] = Ranking.of(query.id, index.top(analysed, k))
        return Run(repr(self), rankings)

    def idf(self, corpus: Corpus) -> Idf:
        """The idf of words in the corpus, for stages that weigh words alone."""
        return self._index(corpus).idf

    def _index(self, corpus: Corpus) -> Index:
        return corpus.artefacts.opened(lambda: [self.prepare(corpus)], lambda folders: load(folders[0]))

    def _build(self, corpus: Corpus, folder: Path) -> None:
        parts = [self.terms(corpus, version) for version in corpus.versions]
        scale = self.k1 + 1 if self.variant == "atire" else 1.0

        def gain(tf: Floats, length: Floats, mean_length: float) -> Floats:
            return scale * saturation(tf, length, mean_length, self.k1, self.b)

        postings.write_index(parts, folder, postings.Weighting(_IDF[self.variant], gain, self.bigram_weight))

    def terms(self, corpus: Corpus, version: Version) -> postings.TermList:
        """The terms of one version's passages, analysed where that has not been done."""
        return corpus.artefacts.opened(
            lambda: [self._terms(corpus, version)], lambda folders: postings.load_terms(folders[0])
        )

    def _terms(self, corpus: Corpus, version: Version) -> Path:
        """The folder with the version's term list, made where it is missing."""
        analysis = digest([FORMAT, self.analysis.fingerprint, self.context_weight, self.window, self.overlap])[:12]
        name = f"terms-{analysis}-{version.digest[:24]}"
        return corpus.artefacts.get(name, [version.digest], lambda folder: self._analyse(corpus, version, folder))

    def _analyse(self, corpus: Corpus, version: Version, folder: Path) -> None:
        passages = present(corpus, version)
        ids: list[str] = []
        owners: list[int] = []
        texts: list[str] = []
        around: list[str] = []
        for passage, context in zip(passages, surroundings(passages), strict=True):
            if not passage.text.strip():
                continue
            for window in windows(searched(passage), self.window, self.overlap):
                owners.append(len(ids))
                texts.append(window)
                around.append(context if self.context_weight else "")
            ids.append(passage.id)
        rows = postings.Rows(self.analysis(texts), self.analysis(around), self.context_weight)
        postings.write_terms(ids, owners, rows, folder)


def present(corpus: Corpus, version: Version) -> list[Passage]:
    """The passages of a version that is to be indexed. NotFound where another process has removed it since.

    An index of nothing would be kept under the version's digest, and the document, added again, never be found.
    """
    passages = list(corpus.passages(version))
    if not passages:
        raise NotFound(f"document {version.document_id!r} was removed while it was being read; ask again")
    return passages


@dataclass(frozen=True)
class Index:
    """An opened index: arrays mapped from disk, read where a query needs them."""

    scorer: bm25s.BM25
    vocabulary: Terms
    first_row: Ints
    ids: Strings

    def top(self, query: Analysed, k: int) -> list[tuple[str, float]]:
        """The ``k`` best passages and their scores; at equal scores those with the higher id. Zero is left out."""
        columns = self._columns_of(np.concatenate([query.words, query.bigrams]))
        if not len(columns) or k <= 0:
            return []
        scores = self.scorer.get_scores_from_ids(columns)
        if len(self.first_row) < len(scores):
            scores = np.maximum.reduceat(scores, self.first_row)
        return [(self.ids[position], float(scores[position])) for position in best(scores, k)]

    def idf(self, terms: Terms) -> Floats:
        """ln(1 + (n - df + .5) / (df + .5)) with df counted in windows; a term that is not indexed has df 0."""
        position = np.minimum(np.searchsorted(self.vocabulary, terms), max(len(self.vocabulary) - 1, 0))
        df = np.zeros(len(terms), dtype=np.int64)
        if len(self.vocabulary):
            indptr = self.scorer.scores["indptr"]
            df = np.where(self.vocabulary[position] == terms, indptr[position + 1] - indptr[position], 0)
        return idf_lucene(df, self.scorer.scores["num_docs"])

    def _columns_of(self, terms: Terms) -> Ints:
        position = np.searchsorted(self.vocabulary, terms)
        inside = position < len(self.vocabulary)
        position, terms = position[inside], terms[inside]
        found: Ints = position[self.vocabulary[position] == terms]
        return found


def best(scores: npt.NDArray[np.float32], k: int) -> list[int]:
    """Positions of the ``k`` largest positive scores, best first; at equal scores the later position first."""
    chosen = _contenders(scores, k)
    if k < len(chosen):
        values = scores[chosen]
        threshold = np.partition(values, len(values) - k)[len(values) - k]
        above, ties = chosen[values > threshold], chosen[values == threshold]
        chosen = np.concatenate([above, ties[::-1][: k - len(above)]])
    return list(chosen[np.lexsort((-chosen, -scores[chosen]))])


def _contenders(scores: npt.NDArray[np.float32], k: int) -> Ints:
    """Ascending positions of positive scores among which the ``k`` largest are, found in one pass over all scores.

    Of groups of ``_GROUP`` scores, ``k`` have a maximum of at least the k-th largest maximum: no score below that
    is among the best.
    """
    groups = len(scores) // _GROUP
    if groups <= k:
        return np.flatnonzero(scores > 0)
    whole = scores[: groups * _GROUP].reshape(_GROUP, groups)  # a group is a column: fastest to take maxima of
    maxima = whole.max(axis=0)
    least = np.partition(maxima, groups - k)[groups - k]
    columns = np.flatnonzero(maxima >= least if least > 0 else maxima > 0)
    inside = (np.arange(_GROUP)[:, None] * groups + columns).ravel()
    places = np.concatenate([inside, np.arange(groups * _GROUP, len(scores))])
    found: Ints = places[scores[places] > 0]
    return found


@lru_cache(maxsize=4)
def load(folder: Path) -> Index:
    """Open the index in a folder; opened once in a process."""
    import bm25s

    scorer = bm25s.BM25(backend="numpy")
    first_row = map_array(folder / "first_row.npy")
    scorer.scores = {
        "data": map_array(folder / "data.npy"),
        "indices": map_array(folder / "indices.npy"),
        "indptr": map_array(folder / "indptr.npy"),
        "num_docs": int(np.load(folder / "rows.npy")),
    }
    scorer.nonoccurrence_array = None
    return Index(scorer, map_array(folder / "vocabulary.npy"), first_row, Strings.load(folder))
