"""From the words of an inquiry to articles: ridge regression on labelled texts, and a learned sum of several scores.

Both learn from whatever labelled texts they are given: answered inquiries (the article field), inquiries written for
the purpose, and the paragraphs of the act itself (their article). numpy alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from responsa.analysis import Analysis, Terms
from responsa.errors import InputError
from responsa.models import Encoder, Role
from responsa.types import Query, Ranking, Run

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_ANALYSIS = Analysis()


@dataclass(frozen=True, slots=True)
class Labelled:
    """A text and what it is about. ``weight`` is how much it counts beside one of weight 1."""

    text: str
    labels: tuple[str, ...]
    weight: float = 1.0


@dataclass(frozen=True)
class _Rows:
    """Texts as rows of distinct terms in order: ``terms`` and ``values`` of row i are at start[i] to start[i + 1]."""

    start: Ints
    terms: Terms
    values: Floats


@dataclass(frozen=True)
class ArticleClassifier:
    """Kernel ridge regression from texts to labels (Saunders et al. 1998; the labels are columns of 0 and 1).

    The kernel is the cosine of tf-idf vectors over words and bigrams, (1 + ln tf) (1 + ln((n + 1) / (df + 1))), and,
    with an encoder, ``dense`` times the dot product of its vectors. Made by `learn`.
    """

    labels: tuple[str, ...]
    vocabulary: Terms = field(repr=False)
    idf: Floats = field(repr=False)
    postings: tuple[Ints, Ints, Floats] = field(repr=False)  # by term: start, row, value
    coefficients: Floats = field(repr=False)  # (texts, labels)
    encoder: Encoder | None = None
    vectors: Floats | None = field(default=None, repr=False)
    dense: float = 0.5

    @classmethod
    def learn(
        cls, texts: Sequence[Labelled], ridge: float = 0.5, encoder: Encoder | None = None, dense: float = 0.5
    ) -> ArticleClassifier:
        """Fit. ``ridge`` is the noise expected of a text of weight 1. InputError without texts or labels."""
        labels = tuple(sorted({label for each in texts for label in each.labels}))
        if not labels or ridge <= 0 or dense < 0 or any(each.weight <= 0 for each in texts):
            raise InputError(
                "the classifier needs labelled texts of weights above 0, a ridge above 0 and dense of at least 0, got "
                f"{len(texts)} texts with {len(labels)} labels, ridge {ridge} and dense {dense}"
            )
        rows = _rows([each.text for each in texts])
        vocabulary, df = np.unique(rows.terms, return_counts=True)
        idf = 1 + np.log((len(texts) + 1) / (df + 1))
        postings = _postings(_weighted(rows, vocabulary, idf), vocabulary)
        vectors = _vectors(encoder, [each.text for each in texts], "passage")
        empty = np.zeros((len(texts), len(labels)))
        made = cls(labels, vocabulary, idf, postings, empty, encoder, vectors, dense)
        kernel = made._kernel(rows, vectors)
        kernel[np.diag_indices(len(texts))] += ridge / np.array([each.weight for each in texts])
        place = {label: column for column, label in enumerate(labels)}
        wanted = np.zeros_like(empty)
        for row, each in enumerate(texts):
            wanted[row, [place[label] for label in each.labels]] = 1.0
        coefficients = np.asarray(np.linalg.solve(kernel, wanted), dtype=np.float64)
        return replace(made, coefficients=coefficients)

    def scores(self, texts: Sequence[str]) -> Floats:
        """Shape (texts, labels), columns as in ``labels``: about 1 for a label that applies, about 0 for others."""
        found: Floats = self._kernel(_rows(texts), _vectors(self.encoder, texts, "query")) @ self.coefficients
        return found

    def __call__(self, queries: Sequence[Query], k: int = 100) -> Run:
        """The ``k`` best labels for each query, of question and background."""
        scores = self.scores([query.full_text for query in queries])
        rankings = {
            query.id: Ranking.of(query.id, zip(self.labels, map(float, row), strict=True), k=k)
            for query, row in zip(queries, scores, strict=True)
        }
        return Run("classifier", rankings)

    def _kernel(self, rows: _Rows, vectors: Floats | None) -> Floats:
        """Likeness of each row to each text learned from."""
        start, owner, value = self.postings
        found = np.zeros((len(rows.start) - 1, len(self.coefficients)))
        known = _weighted(rows, self.vocabulary, self.idf)
        for row in range(len(found)):
            inside = slice(known.start[row], known.start[row + 1])
            columns = np.searchsorted(self.vocabulary, known.terms[inside])
            lengths = start[columns + 1] - start[columns]
            at = np.repeat(start[columns] - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
            gains = np.repeat(known.values[inside], lengths) * value[at]
            found[row] = np.bincount(owner[at], gains, minlength=found.shape[1])
        if self.vectors is not None and vectors is not None:
            found += self.dense * vectors @ self.vectors.T
        return found


def _rows(texts: Sequence[str]) -> _Rows:
    """Distinct words and bigrams of each text with 1 + ln of how often they come."""
    counted = [np.unique(np.concatenate(each), return_counts=True) for each in _ANALYSIS(texts)]
    start = np.cumsum([0, *(len(terms) for terms, _ in counted)])
    terms = np.concatenate([terms for terms, _ in counted] or [np.empty(0, np.uint64)])
    counts = np.concatenate([counts for _, counts in counted] or [np.empty(0, np.int64)])
    return _Rows(start, terms, 1 + np.log(counts.astype(np.float64)))


def _weighted(rows: _Rows, vocabulary: Terms, idf: Floats) -> _Rows:
    """tf-idf of the terms that are in the vocabulary, each row of length 1 (0 where none is)."""
    column = np.minimum(np.searchsorted(vocabulary, rows.terms), max(len(vocabulary) - 1, 0))
    inside = vocabulary[column] == rows.terms if len(vocabulary) else np.zeros(len(rows.terms), bool)
    owner = np.repeat(np.arange(len(rows.start) - 1), np.diff(rows.start))[inside]
    values = rows.values[inside] * idf[column[inside]]
    length = np.sqrt(np.bincount(owner, values**2, minlength=len(rows.start) - 1))
    start = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(rows.start) - 1))])
    return _Rows(start, rows.terms[inside], values / np.maximum(length[owner], 1e-12))


def _postings(rows: _Rows, vocabulary: Terms) -> tuple[Ints, Ints, Floats]:
    owner = np.repeat(np.arange(len(rows.start) - 1), np.diff(rows.start))
    column = np.searchsorted(vocabulary, rows.terms)
    order = np.argsort(column, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=len(vocabulary)))])
    return start, owner[order], rows.values[order]


def _vectors(encoder: Encoder | None, texts: Sequence[str], role: Role) -> Floats | None:
    if encoder is None:
        return None
    return encoder.encode(texts, role).astype(np.float64)


@dataclass(frozen=True)
class Mixture:
    """A weighted sum of several scores, with weights that make the gold most likely (McFadden 1974, conditional logit).

    The probability of an article among all of an inquiry is the softmax of the sums; gold articles share the
    target equally.
    """

    weights: tuple[float, ...]

    @classmethod
    def learn(cls, scores: Floats, gold: Floats, penalty: float = 1.0, steps: int = 50) -> Mixture:
        """``scores`` (inquiries, articles, kinds of score), ``gold`` (inquiries, articles) of 0 and 1.

        Newton's method on the likelihood less half the ``penalty`` times the squared weights, which is concave.
        Inquiries without gold teach nothing. InputError where none has any.
        """
        asked = gold.sum(axis=1) > 0
        if not asked.any() or scores.shape[:2] != gold.shape:
            raise InputError(f"no inquiry with gold to learn weights from: scores {scores.shape}, gold {gold.shape}")
        x, target = scores[asked], gold[asked] / gold[asked].sum(axis=1, keepdims=True)
        weights = np.zeros(x.shape[2])
        for _ in range(steps):
            likely = _softmax(x @ weights)
            gradient = np.einsum("qa,qad->d", target - likely, x) - penalty * weights
            mean = np.einsum("qa,qad->qd", likely, x)
            spread = np.einsum("qad,qae->de", x * likely[:, :, None], x, optimize=True) - mean.T @ mean
            step = np.linalg.solve(spread + penalty * np.eye(len(weights)), gradient)
            size = float(np.linalg.norm(step))
            weights = weights + step * min(1.0, 5 / size if size else 1.0)
            if size < 1e-6:
                break
        return cls(tuple(map(float, weights)))

    def __call__(self, scores: Floats) -> Floats:
        """Shape (inquiries, articles)."""
        found: Floats = scores @ np.array(self.weights)
        return found


def _softmax(values: Floats) -> Floats:
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    found: Floats = powers / powers.sum(axis=1, keepdims=True)
    return found
