"""Models behind small protocols: encoders turn texts into vectors, dense, sparse or one a token; rerankers score
pairs of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
Role = Literal["query", "passage"]


class SparseRows(NamedTuple):
    """Sparse vectors as compressed rows: those of text ``i`` are ``terms`` and ``weights`` from ``indptr[i]`` to
    ``indptr[i + 1]``, terms ascending and each once in a row; no weight is zero."""

    indptr: npt.NDArray[np.int64]
    terms: npt.NDArray[np.int32]
    weights: Vectors


class Encoder(Protocol):
    """Texts to vectors of one length, compared by dot product.

    ``name`` identifies model and settings; what was encoded under another name is never mixed with it. An encoder
    whose name says where the model is and not what is in it has an attribute ``changeable``, which is true.
    """

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Shape (texts, dimension), in order; an empty sequence gives (0, dimension)."""
        ...


class PairScorer(Protocol):
    """Pairs of texts to a score for each label (one label for a reranker, three for entailment)."""

    @property
    def name(self) -> str: ...

    @property
    def labels(self) -> tuple[str, ...]: ...

    def score(self, pairs: Sequence[tuple[str, str]]) -> Vectors:
        """Raw scores (logits), shape (pairs, labels), in order; higher is more of the label."""
        ...


class SparseEncoder(Protocol):
    """Texts to a weight for each term of a vocabulary, most of them zero, compared by dot product."""

    @property
    def name(self) -> str: ...

    def encode(self, texts: Sequence[str], role: Role) -> SparseRows:
        """A row for each text, in order."""
        ...


class LateEncoder(Protocol):
    """Texts to a vector for each token, compared by MaxSim (Khattab and Zaharia, 2020, section 3.3)."""

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def encode(self, texts: Sequence[str], role: Role) -> list[Vectors]:
        """For each text, in order, an array of shape (tokens, dimension); a text may have no token."""
        ...
