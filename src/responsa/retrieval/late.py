"""Late interaction: a vector for each token of a passage, compared with those of the question by MaxSim, exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from responsa.corpus.view import Corpus
from responsa.models import Vectors
from responsa.models.load import load_late
from responsa.retrieval.postings import map_array
from responsa.retrieval.windowed import (
    LEAST,
    ByModel,
    Ints,
    Places,
    Windowed,
    check_windows,
    half,
    run_of,
)
from responsa.types import Query, Run

FORMAT = 1
_AT_ONCE = 1 << 22  # products of question tokens and passage tokens held in memory: 16 MB
_QUERIES = 16  # questions compared at a time


@dataclass(frozen=True)
class Late(ByModel):
    """Passages by MaxSim: for each token of the question the most similar token of the passage, summed (Khattab and
    Zaharia, 2020, section 3.3), over all passages.

    ``encoder`` names a model as `responsa.models.load` does. Passages longer than ``window`` words are encoded in
    windows that share ``overlap`` words; the best window counts. Vectors are kept as 16-bit floats beside the
    catalogue, about 20 KB for a passage of 80 tokens and 128 numbers a token.
    """

    encoder: str
    window: int = 180
    overlap: int = 40

    def __post_init__(self) -> None:
        check_windows("late", self.window, self.overlap)

    def __call__(self, queries: Sequence[Query], corpus: Corpus, k: int) -> Run:
        """The best ``k`` passages for each query, raw scores (sums of dot products)."""
        model = load_late(self.encoder)
        vectors = model.encode([query.full_text for query in queries], "query")
        paths = self.stored().paths
        index = corpus.artefacts.opened(lambda: paths(corpus), lambda found: open_view(tuple(found)))
        return run_of(repr(self), queries, index.places.ids, k, lambda part: index.scores(vectors[part]))

    def stored(self) -> Windowed:
        """The artefacts with what the encoder made."""
        model = load_late(self.encoder)

        def encode(texts: Sequence[str]) -> list[npt.NDArray[np.float16]]:
            return [half(rows, model.name) for rows in model.encode(texts, "passage")]

        def write(parts: Sequence[list[npt.NDArray[np.float16]]], folder: Path) -> None:
            tokens = [rows for part in parts for rows in part]
            np.save(folder / "indptr.npy", np.cumsum([0, *map(len, tokens)], dtype=np.int64))
            np.save(folder / "tokens.npy", np.concatenate(tokens) if tokens else np.empty((0, 0), np.float16))

        settings = [FORMAT, model.name, self.window, self.overlap]
        return Windowed("late", settings, self.window, self.overlap, encode, write)


class View(NamedTuple):
    """The token vectors of several versions, mapped, and the bounds of each window in them; windows in the order of
    the files."""

    places: Places
    indptr: list[Ints]
    tokens: list[npt.NDArray[np.float16]]

    def scores(self, asked: Sequence[Vectors]) -> Vectors:
        """MaxSim of the best window of each passage, shape (questions, passages); never below a hair above 0."""
        rows = [self._some(asked[start : start + _QUERIES]) for start in range(0, len(asked), _QUERIES)]
        found = np.concatenate([np.empty((0, len(self.places.order)), np.float32), *rows])
        return np.maximum(self.places.best_window(found[:, self.places.order]), LEAST)

    def _some(self, asked: Sequence[Vectors]) -> Vectors:
        """MaxSim of each window, shape (questions, windows). A window or a question without tokens has 0."""
        scores = np.zeros((len(asked), len(self.places.order)), dtype=np.float32)
        sizes = np.array([len(rows) for rows in asked])
        some = np.flatnonzero(sizes)
        if not len(some):
            return scores
        tokens = np.concatenate([asked[int(place)] for place in some])
        bounds = np.cumsum(np.r_[0, sizes[some][:-1]])
        first = 0
        for indptr, stored in zip(self.indptr, self.tokens, strict=True):
            for start, end in _parts(indptr, max(1, _AT_ONCE // len(tokens))):
                filled = np.flatnonzero(np.diff(indptr[start : end + 1]))
                if len(filled):
                    passage = stored[indptr[start] : indptr[end]].astype(np.float32)
                    starts = indptr[start:end][filled] - indptr[start]
                    nearest = np.maximum.reduceat(tokens @ passage.T, starts, axis=1)
                    scores[np.ix_(some, first + start + filled)] = np.add.reduceat(nearest, bounds, axis=0)
            first += len(indptr) - 1
        return scores


def _parts(indptr: Ints, tokens: int) -> Iterator[tuple[int, int]]:
    """Ranges of windows of at most that many tokens, but for a window alone."""
    start = 0
    while start < len(indptr) - 1:
        end = int(np.searchsorted(indptr, indptr[start] + tokens, side="right")) - 1
        end = min(max(end, start + 1), len(indptr) - 1)
        yield start, end
        start = end


@lru_cache(maxsize=2)
def open_view(paths: tuple[Path, ...]) -> View:
    """The token vectors in the folders, mapped."""
    return View(
        Places.load(paths),
        [np.load(path / "indptr.npy") for path in paths],
        [map_array(path / "tokens.npy") for path in paths],
    )
