"""Dense retrieval: a vector for each window of a passage, compared with the question's by dot product, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from responsa.corpus.artefacts import UNREADABLE
from responsa.corpus.view import Corpus
from responsa.errors import ModelError
from responsa.models import Vectors
from responsa.models.load import load_encoder
from responsa.retrieval.postings import map_array
from responsa.retrieval.windowed import LEAST, ByModel, Places, Windowed, check_windows, half, run_of
from responsa.types import Query, Run

FORMAT = 1


@dataclass(frozen=True)
class Dense(ByModel):
    """Passages by the similarity of their vectors to the question's.

    ``encoder`` names a model as `responsa.models.load` does. Passages longer than ``window`` words are encoded in
    windows that share ``overlap`` words; the best window counts. Vectors are kept as 16-bit floats beside
    the catalogue, a file for each version of a document.
    """

    encoder: str
    window: int = 180
    overlap: int = 40

    def __post_init__(self) -> None:
        check_windows("dense", self.window, self.overlap)

    def __call__(self, queries: Sequence[Query], corpus: Corpus, k: int) -> Run:
        """The best ``k`` passages for each query, raw scores (dot products).

        ModelError where the model behind the encoder's name has changed and gives vectors of another length.
        """
        vectors = self._vectors(queries)
        index = self._view(corpus, vectors.shape[1])
        return run_of(repr(self), queries, index.places.ids, k, lambda part: index.scores(vectors[part]))

    def similarities(self, queries: Sequence[Query], corpus: Corpus) -> Vectors:
        """The dot product of each question with every window of the library, shape (questions, windows)."""
        vectors = self._vectors(queries)
        kept = self._view(corpus, vectors.shape[1]).vectors
        if not len(kept):
            return np.zeros((len(queries), 0), dtype=np.float32)
        similar: Vectors = vectors @ kept.T
        return similar

    def _vectors(self, queries: Sequence[Query]) -> Vectors:
        return load_encoder(self.encoder).encode([query.full_text for query in queries], "query")

    def _view(self, corpus: Corpus, length: int) -> View:
        paths = self.stored().paths
        return corpus.artefacts.opened(
            lambda: paths(corpus), lambda found: open_view(tuple(found), length, self.encoder)
        )

    def stored(self) -> Windowed:
        """The artefacts with what the encoder made."""
        model = load_encoder(self.encoder)

        def encode(texts: Sequence[str]) -> Vectors:
            return model.encode(texts, "passage")

        def write(parts: Sequence[Vectors], folder: Path) -> None:
            vectors = np.concatenate(parts) if parts else np.empty((0, model.dimension), np.float32)
            np.save(folder / "vectors.npy", half(vectors, model.name))

        @cache
        def length() -> int:
            return model.dimension  # may be asked of a server

        def fits(folder: Path) -> bool:
            try:
                return length_of(folder) in (0, length())
            except UNREADABLE:
                return False

        settings = [FORMAT, model.name, self.window, self.overlap]
        changeable = getattr(model, "changeable", False)
        return Windowed("vectors", settings, self.window, self.overlap, encode, write, fits if changeable else None)


class View(NamedTuple):
    """The vectors of several versions, of windows in the order of their passages."""

    places: Places
    vectors: Vectors

    def scores(self, asked: Vectors) -> Vectors:
        """The best window's dot product of each passage, shape (questions, passages); never below a hair above 0.

        Negative similarities are lifted to that hair, for a passage at 0 counts as not found.
        """
        if not len(self.vectors):
            return np.zeros((len(asked), len(self.places.ids)), dtype=np.float32)
        return np.maximum(self.places.best_window(asked @ self.vectors.T), LEAST)


def length_of(folder: Path) -> int:
    """How many numbers each vector in an artefact has; 0 where it holds none."""
    vectors = map_array(folder / "vectors.npy")
    return vectors.shape[1] if len(vectors) else 0


@lru_cache(maxsize=2)
def open_view(paths: tuple[Path, ...], length: int, encoder: str) -> View:
    """The vectors in the folders, read into memory in the order of passage ids. ModelError, which names the encoder,
    where they have another length."""
    places = Places.load(paths)
    vectors = [found for path in paths if len(found := map_array(path / "vectors.npy"))]
    other = next((found.shape[1] for found in vectors if found.shape[1] != length), length)
    if other != length:
        raise ModelError(
            f"{encoder}: gives vectors of {length} numbers, the index has vectors of {other}: the model behind this "
            "name has changed; build the index anew with 'responsa index' and the same recipe"
        )
    stacked = np.concatenate(vectors)[places.order].astype(np.float32) if vectors else np.empty((0, 0), np.float32)
    return View(places, stacked)
