"""Dense retrieval: a vector for each window of a passage, compared with the question's by dot product, exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from responsa.analysis import windows
from responsa.corpus.artefacts import is_whole
from responsa.corpus.view import Corpus
from responsa.errors import RecipeError
from responsa.models import Encoder, Vectors
from responsa.models.load import load_encoder
from responsa.retrieval.bm25 import best, present
from responsa.retrieval.postings import Strings, map_array, write_strings
from responsa.text import digest
from responsa.types import Query, Ranking, Run, Version

FORMAT = 1
_CHUNK = 256  # windows encoded at a time, questions compared at a time


@dataclass(frozen=True)
class Dense:
    """Passages by the similarity of their vectors to the question's.

    ``encoder`` names a model as `responsa.models.load` does. Passages longer than ``window`` words are encoded in
    windows that share ``overlap`` words; the best window counts. Vectors are kept as 16-bit floats beside
    the catalogue, a file for each version of a document.
    """

    encoder: str
    window: int = 180
    overlap: int = 40

    def __post_init__(self) -> None:
        if not 0 <= self.overlap < self.window:
            raise RecipeError(f"dense: overlap must be from 0 to below window, got {self.overlap} and {self.window}")

    def __call__(self, queries: Sequence[Query], corpus: Corpus, k: int) -> Run:
        """The best ``k`` passages for each query, raw scores (dot products)."""
        model = load_encoder(self.encoder)
        asked = model.encode([f"{query.text} {query.background}".strip() for query in queries], "query")
        index = corpus.artefacts.opened(lambda: self._paths(corpus, model), lambda paths: open_view(tuple(paths)))
        rankings = {}
        for start in range(0, len(queries), _CHUNK):
            scores = index.scores(asked[start : start + _CHUNK])
            for query, row in zip(queries[start : start + _CHUNK], scores, strict=True):
                hits = [(index.ids[place], float(row[place])) for place in best(row, k)]
                rankings[query.id] = Ranking.of(query.id, hits)
        return Run(repr(self), rankings)

    def prepare(self, corpus: Corpus, progress: Callable[[int, int, str], None] | None = None) -> list[Path]:
        """Encode what is not encoded yet, one version of a document after the other; what is done stays done."""
        return self._paths(corpus, load_encoder(self.encoder), progress)

    def ready(self, corpus: Corpus) -> bool:
        """Whether every version in view is encoded."""
        model = load_encoder(self.encoder)
        return all(is_whole(corpus.artefacts.folder / self._name(version, model)) for version in corpus.versions)

    def _name(self, version: Version, model: Encoder) -> str:
        settings = digest([FORMAT, model.name, self.window, self.overlap])[:12]
        return f"vectors-{settings}-{version.digest[:24]}"

    def _paths(
        self, corpus: Corpus, model: Encoder, progress: Callable[[int, int, str], None] | None = None
    ) -> list[Path]:
        paths = []
        for position, version in enumerate(corpus.versions):
            if progress:
                progress(position, len(corpus.versions), version.document_id)

            def build(folder: Path, version: Version = version) -> None:
                self._encode(corpus, version, model, folder)

            paths.append(corpus.artefacts.get(self._name(version, model), [version.digest], build))
        return paths

    def _encode(self, corpus: Corpus, version: Version, model: Encoder, folder: Path) -> None:
        ids: list[str] = []
        owners: list[int] = []
        texts: list[str] = []
        for passage in present(corpus, version):
            if passage.text.strip():
                for window in windows(passage.text, self.window, self.overlap):
                    owners.append(len(ids))
                    texts.append(window)
                ids.append(passage.id)
        parts = [model.encode(texts[start : start + _CHUNK], "passage") for start in range(0, len(texts), _CHUNK)]
        vectors = np.concatenate(parts) if parts else np.empty((0, model.dimension), np.float32)
        np.save(folder / "vectors.npy", vectors.astype(np.float16))
        np.save(folder / "owner.npy", np.asarray(owners, dtype=np.int32))
        write_strings(ids, folder)


class View(NamedTuple):
    """The vectors of several versions: ``ids`` ascending, ``rank`` the place among them of each window's passage."""

    ids: list[str]
    rank: npt.NDArray[np.int64]
    vectors: Vectors

    def scores(self, asked: Vectors) -> Vectors:
        """The best window's dot product of each passage, shape (questions, passages); never below a hair above 0.

        Negative similarities are lifted to that hair, for a passage at 0 counts as not found.
        """
        if not len(self.vectors):
            return np.zeros((len(asked), len(self.ids)), dtype=np.float32)
        similar = asked @ self.vectors.T
        starts = np.flatnonzero(np.r_[True, self.rank[1:] != self.rank[:-1]])
        return np.maximum(np.maximum.reduceat(similar, starts, axis=1), np.float32(1e-6))


@lru_cache(maxsize=2)
def open_view(paths: tuple[Path, ...]) -> View:
    """The vectors in the folders, read into memory in the order of passage ids."""
    ids: list[str] = []
    owners = [np.empty(0, np.int64)]
    vectors = []
    for path in paths:
        owners.append(np.load(path / "owner.npy") + len(ids))
        vectors.append(map_array(path / "vectors.npy"))
        ids.extend(Strings.load(path).all())
    by_id = sorted(range(len(ids)), key=ids.__getitem__)
    place = np.empty(len(ids), dtype=np.int64)
    place[by_id] = np.arange(len(ids))
    rank = place[np.concatenate(owners)]
    order = np.argsort(rank, kind="stable")
    stacked = np.concatenate(vectors)[order].astype(np.float32) if vectors else np.empty((0, 0), np.float32)
    return View([ids[i] for i in by_id], rank[order], stacked)
