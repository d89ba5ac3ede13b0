"""Models that give a vector for each token in its context, by name, as BERTScore compares them:

hf:roberta-large              a model of the Hugging Face hub, by the layer known to be its best
hf:FOLDER?layer=9             a folder in its format; layers count from 1
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from responsa.models import Vectors
from responsa.models.load import by_scheme
from responsa.models.options import HUB, Table, fields, named

_HUB: Table = {**HUB, "layer": ("layer", int)}


@dataclass(frozen=True, eq=False)
class TokenVectors:
    """A text's tokens in order: their numbers in the vocabulary, a unit vector each, and which of them are marks that
    the tokenizer puts round a text, such as [CLS]."""

    ids: npt.NDArray[np.int64]
    vectors: Vectors
    marks: npt.NDArray[np.bool_]


class ContextualEncoder(Protocol):
    """Texts to vectors of their tokens in context."""

    @property
    def name(self) -> str: ...

    def encode(self, texts: Sequence[str]) -> list[TokenVectors]:
        """For each text, in order, its tokens; vectors of shape (tokens, dimension)."""
        ...


def load_contextual(name: str) -> ContextualEncoder:
    """The model of that name. Nothing is loaded before its first use."""
    return by_scheme(name, "a model for BERTScore", CONTEXTUAL)


def _hub(rest: str) -> ContextualEncoder:
    from responsa.models.hub.contextual import HubContextualEncoder

    model, options = named(rest)
    return HubContextualEncoder(model, **fields(options, _HUB))  # type: ignore[arg-type]


CONTEXTUAL: dict[str, Callable[[str], ContextualEncoder]] = {"hf": _hub}
