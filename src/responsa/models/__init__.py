"""Models behind small protocols: encoders turn texts into vectors, rerankers score pairs of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
Role = Literal["query", "passage"]


class Encoder(Protocol):
    """Texts to vectors of one length, compared by dot product.

    ``name`` identifies model and settings; what was encoded under another name is never mixed with it.
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
