"""Learned sparse retrieval: a weight for each term of a model's vocabulary, compared by dot product, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from responsa.corpus.view import Corpus
from responsa.errors import RecipeError
from responsa.models import SparseRows, Vectors
from responsa.models.load import load_sparse
from responsa.retrieval.postings import map_array
from responsa.retrieval.windowed import ByModel, Ints, Places, Windowed, check_windows, run_of
from responsa.types import Query, Run

FORMAT = 1


@dataclass(frozen=True)
class Sparse(ByModel):
    """Passages by the dot product of learned term weights (SPLADE: Formal et al., 2021).

    ``encoder`` names a model as `responsa.models.load` does. Passages longer than ``window`` words are encoded in
    windows that share ``overlap`` words; the best window counts. ``top_terms`` keeps the heaviest terms of a window
    (0: all). Passages that share no term with the question are left out.
    """

    encoder: str
    window: int = 180
    overlap: int = 40
    top_terms: int = 0

    def __post_init__(self) -> None:
        check_windows("sparse", self.window, self.overlap)
        if self.top_terms < 0:
            raise RecipeError(f"sparse: top_terms of at least 0 is needed, got {self.top_terms}")

    def __call__(self, queries: Sequence[Query], corpus: Corpus, k: int) -> Run:
        """The best ``k`` passages for each query, raw scores (dot products)."""
        model = load_sparse(self.encoder)
        rows = model.encode([query.full_text for query in queries], "query")
        paths = self.stored().paths
        index = corpus.artefacts.opened(lambda: paths(corpus), lambda found: open_view(tuple(found)))
        return run_of(repr(self), queries, index.places.ids, k, lambda part: index.scores(rows, part))

    def stored(self) -> Windowed:
        """The artefacts with what the encoder made."""
        model = load_sparse(self.encoder)

        def encode(texts: Sequence[str]) -> SparseRows:
            return heaviest(model.encode(texts, "passage"), self.top_terms)

        def write(parts: Sequence[SparseRows], folder: Path) -> None:
            sizes = np.concatenate([np.empty(0, np.int64), *(np.diff(part.indptr) for part in parts)])
            np.save(folder / "indptr.npy", np.cumsum(np.r_[0, sizes], dtype=np.int64))
            np.save(folder / "terms.npy", np.concatenate([np.empty(0, np.int32), *(part.terms for part in parts)]))
            np.save(folder / "weights.npy", np.concatenate([np.empty(0, np.float32), *(p.weights for p in parts)]))

        settings = [FORMAT, model.name, self.window, self.overlap, self.top_terms]
        return Windowed("sparse", settings, self.window, self.overlap, encode, write)


def heaviest(rows: SparseRows, count: int) -> SparseRows:
    """The ``count`` largest weights of each row (0: all); of equal ones those of the lower terms."""
    if not count:
        return rows
    row = np.repeat(np.arange(len(rows.indptr) - 1), np.diff(rows.indptr))
    order = np.lexsort((rows.terms, -rows.weights, row))
    place = np.arange(len(row)) - rows.indptr[row]  # rows stay together, so this is the place within the row
    kept = np.sort(order[place < count])
    sizes = np.bincount(row[kept], minlength=len(rows.indptr) - 1)
    return SparseRows(np.cumsum(np.r_[0, sizes], dtype=np.int64), rows.terms[kept], rows.weights[kept])


class View(NamedTuple):
    """Postings of several versions: of term ``t`` the windows and weights from ``indptr[t]`` to ``indptr[t + 1]``;
    windows are in the order of their passages."""

    places: Places
    indptr: Ints
    windows: npt.NDArray[np.int32]
    weights: Vectors

    def scores(self, rows: SparseRows, part: slice) -> Vectors:
        """The best window's dot product of each passage, shape (questions, passages); 0 where no term is shared."""
        found = []
        for start, end in zip(rows.indptr[:-1][part], rows.indptr[1:][part], strict=True):
            scores = np.zeros((1, len(self.places.order)), dtype=np.float32)
            for term, weight in zip(rows.terms[start:end], rows.weights[start:end], strict=True):
                if term < len(self.indptr) - 1:
                    hits = slice(self.indptr[term], self.indptr[term + 1])
                    scores[0, self.windows[hits]] += weight * self.weights[hits]
            found.append(self.places.best_window(scores))
        return np.concatenate(found) if found else np.zeros((0, len(self.places.ids)), dtype=np.float32)


@lru_cache(maxsize=2)
def open_view(paths: tuple[Path, ...]) -> View:
    """The rows in the folders, turned into postings in memory."""
    places = Places.load(paths)
    sizes = np.concatenate([np.empty(0, np.int64), *(np.diff(np.load(path / "indptr.npy")) for path in paths)])
    terms = np.concatenate([np.empty(0, np.int32), *(map_array(path / "terms.npy") for path in paths)])
    weights = np.concatenate([np.empty(0, np.float32), *(map_array(path / "weights.npy") for path in paths)])
    place = np.empty(len(places.order), dtype=np.int32)
    place[places.order] = np.arange(len(places.order), dtype=np.int32)
    windows = np.repeat(place, sizes)
    order = np.lexsort((windows, terms))
    indptr = np.cumsum(np.r_[0, np.bincount(terms)], dtype=np.int64)
    return View(places, indptr, windows[order], weights[order])
