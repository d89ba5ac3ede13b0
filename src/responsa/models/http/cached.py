"""A cache as a stage round a model: what is known is not asked again, what is not is asked and kept.

The wrapper has the name of the model inside, since it gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from responsa.cache import Cache, key, pack, unpack
from responsa.errors import ModelError
from responsa.models import Encoder, PairScorer, Role, Vectors
from responsa.models.http.service import Progress

T = TypeVar("T")
VERSION = 1  # of what is stored here


@dataclass(frozen=True)
class CachedEncoder:
    """An `Encoder` that asks ``inner`` for the texts that the cache does not know, each once.

    They are asked ``chunk`` at a time and stored after each chunk, so that an error later loses no more.
    """

    inner: Encoder
    cache: Cache
    chunk: int = 1000
    progress: Progress | None = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def changeable(self) -> bool:
        return getattr(self.inner, "changeable", False)

    @property
    def dimension(self) -> int:
        return self._known() or self.inner.dimension

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Shape (texts, dimension), in order. The dimension is stored once vectors have agreed with it. ModelError
        where some do not, and then it is forgotten."""
        known, model = self._known(), self.inner.name
        dimension = known or self.inner.dimension
        keys = [key("embedding", VERSION, {"model": model, "role": role, "text": text}) for text in texts]

        def ask(some: Sequence[str]) -> Vectors:
            vectors = self.inner.encode(some, role)
            if vectors.shape[1:] != (dimension,):
                self.cache.drop_many([self._place])
                raise ModelError(
                    f"{model}: gave vectors of {vectors.shape[-1]} numbers, before they had {dimension}: the model "
                    "behind this name has changed, or one reply was wrong; try again"
                )
            return vectors

        rows = _known_or_asked(self, keys, texts, ask, dimension)
        if not known and any(row.any() for row in rows.values()):  # blank texts, whose rows are zero, prove nothing
            self.cache.put_many({self._place: str(dimension).encode()})
        return _stack(rows, keys, dimension)

    @property
    def _place(self) -> str:
        return key("dimension", VERSION, {"model": self.inner.name})

    def _known(self) -> int:
        """The dimension in the cache; 0 where there is none."""
        stored = self.cache.get_many([self._place]).get(self._place, b"")
        return int(stored) if stored.isdigit() else 0


@dataclass(frozen=True)
class CachedScorer:
    """A `PairScorer` that asks ``inner`` for the pairs that the cache does not know, each once.

    Right for models that score each pair by itself, whatever else is in the batch.
    """

    inner: PairScorer
    cache: Cache
    chunk: int = 1000
    progress: Progress | None = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def labels(self) -> tuple[str, ...]:
        return self.inner.labels

    def score(self, pairs: Sequence[tuple[str, str]]) -> Vectors:
        """Shape (pairs, labels), in order."""
        fields = {"model": self.inner.name, "labels": list(self.inner.labels)}
        keys = [key("score", VERSION, {**fields, "pair": list(pair)}) for pair in pairs]
        rows = _known_or_asked(self, keys, pairs, self.inner.score, len(self.labels))
        return _stack(rows, keys, len(self.labels))


def _known_or_asked(
    stage: CachedEncoder | CachedScorer,
    keys: Sequence[str],
    items: Sequence[T],
    ask: Callable[[Sequence[T]], Vectors],
    length: int,
) -> dict[str, Vectors]:
    """The row of each key. A stored row of another length is not believed but asked for again."""
    rows: dict[str, Vectors] = {}
    for name, value in stage.cache.get_many(keys).items():
        row = unpack(value)
        if row is not None and len(row) == length:
            rows[name] = row
    missing = {name: item for name, item in zip(keys, items, strict=True) if name not in rows}
    names = list(missing)
    for first in range(0, len(names), stage.chunk):
        some = names[first : first + stage.chunk]
        answered = ask([missing[name] for name in some])
        if answered.shape != (len(some), length):
            raise ModelError(
                f"{stage.name}: gave an array of shape {answered.shape}, expected ({len(some)}, {length}); try again"
            )
        fresh = dict(zip(some, answered, strict=True))
        stage.cache.put_many({name: pack(row) for name, row in fresh.items()})
        rows |= fresh
        if stage.progress:
            stage.progress(min(first + stage.chunk, len(names)), len(names))
    return rows


def _stack(rows: dict[str, Vectors], keys: Sequence[str], length: int) -> Vectors:
    stacked = np.zeros((len(keys), length), dtype=np.float32)
    for place, name in enumerate(keys):
        stacked[place] = rows[name]
    return stacked
