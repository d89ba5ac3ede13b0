"""BM25 over the chunks of one report, in memory: a few hundred texts, whose tokens may be anything that can be a key.

The library's `responsa.retrieval.bm25` keeps an index on disk for many documents and questions. A report is analysed in
less time than its index would take to open, and the thesis needs tokens that are not analysed at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from responsa.retrieval.bm25 import idf_lucene, saturation
from responsa.retrieval.postings import Floats, IdfFormula, Ints

Column = tuple[Ints, Floats]  # texts that have the token, and what it adds to their scores


@dataclass(frozen=True)
class Lexical:
    """``columns`` by token; ``size`` is the number of texts."""

    columns: Mapping[Hashable, Column]
    size: int

    def scores(self, query: Sequence[Hashable]) -> Floats:
        """The score of each text; a token that is asked twice counts twice."""
        scores = np.zeros(self.size)
        for token, times in Counter(query).items():
            if token in self.columns:
                rows, gains = self.columns[token]
                scores[rows] += times * gains
        return scores


def lexical(
    texts: Sequence[Sequence[Hashable]],
    lengths: Sequence[float] | None = None,
    k1: float = 0.9,
    b: float = 0.4,
    idf: IdfFormula = idf_lucene,
    weight: float = 1.0,
) -> Lexical:
    """The index of tokenised texts. ``lengths`` where they are not the numbers of tokens; ``weight`` scales all."""
    length = np.array([len(text) for text in texts] if lengths is None else lengths, dtype=np.float64)
    mean = float(length.mean()) if len(length) and length.any() else 1.0
    found: dict[Hashable, list[tuple[int, int]]] = {}
    for row, text in enumerate(texts):
        for token, times in Counter(text).items():
            found.setdefault(token, []).append((row, times))
    frequency = np.array([len(rows) for rows in found.values()], dtype=np.int64)
    rarity = idf(frequency, len(texts)) if found else np.zeros(0)
    columns: dict[Hashable, Column] = {}
    for (token, pairs), rare in zip(found.items(), rarity, strict=True):
        rows = np.array([row for row, _ in pairs], dtype=np.int64)
        counts = np.array([count for _, count in pairs], dtype=np.float64)
        columns[token] = rows, weight * rare * saturation(counts, length[rows], mean, k1, b)
    return Lexical(columns, len(texts))


def merged(one: Lexical, other: Lexical) -> Lexical:
    """Both in one; their tokens are different ones."""
    return Lexical({**one.columns, **other.columns}, one.size)


def okapi(texts: Sequence[Sequence[str]]) -> Lexical:
    """Okapi BM25 as rank_bm25 0.2.2 has it, which the thesis used: k1 1.5, b .75, and where the idf of a token is
    negative, a quarter of the mean idf instead (section 6.2.2)."""
    return lexical(texts, k1=1.5, b=0.75, idf=_idf_okapi, weight=2.5)


def _idf_okapi(df: Ints, n: int) -> Floats:
    """ln((n - df + .5) / (df + .5)); a quarter of the mean over all tokens in place of a negative one."""
    values = np.log((n - df + 0.5) / (df + 0.5))
    return np.where(values < 0, 0.25 * values.mean(), values)
