"""What retrievers with a model share: an artefact for each version in view, made from the windows of its passages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from responsa.analysis import windows
from responsa.corpus.artefacts import is_whole
from responsa.corpus.searched import searched
from responsa.corpus.view import Corpus
from responsa.errors import ModelError, RecipeError
from responsa.models import Vectors
from responsa.retrieval.bm25 import best, present
from responsa.retrieval.postings import Strings, write_strings
from responsa.text import digest
from responsa.types import Query, Ranking, Run, Version

Progress = Callable[[int, int, str], None]
Ints = npt.NDArray[np.int64]

_TEXTS = 2  # how passages become texts; part of the names of the artefacts
_VERSION = 24  # characters of a version's digest in the names of artefacts
CHUNK = 256  # windows encoded at a time, questions compared at a time
LEAST = np.float32(1e-6)  # a hair above 0, to which scores are lifted where a passage at 0 would count as not found


@dataclass(frozen=True)
class Windowed:
    """The artefacts of one stage. ``settings`` are all that changes what is in them, the model's name among it;
    ``encode`` has the model read up to `CHUNK` texts, ``write`` puts what it made of all windows, chunk by chunk, into
    a folder; ``fits`` says of a folder that is there
    whether the model still gives the like, of models that may change behind their name."""

    kind: str
    settings: Sequence[object]
    window: int
    overlap: int
    encode: Callable[[Sequence[str]], Any]
    write: Callable[[Sequence[Any], Path], None]
    fits: Callable[[Path], bool] | None = None

    def ready(self, corpus: Corpus) -> bool:
        """Whether every version in view has its artefact."""
        return all(is_whole(corpus.artefacts.folder / self._name(version)) for version in corpus.versions)

    def paths(self, corpus: Corpus, progress: Progress | None = None, renew: bool = False) -> list[Path]:
        """The folder of each version in view, made where it is missing; with ``renew`` also where it does not fit."""
        sound = self.fits if renew else None
        paths = []
        for position, version in enumerate(corpus.versions):

            def tell(share: str = "", name: str = version.document_id, position: int = position) -> None:
                if progress:
                    progress(position, len(corpus.versions), f"{name}{share}")

            def build(folder: Path, version: Version = version, tell: Callable[[str], None] = tell) -> None:
                self._build(corpus, version, folder, tell)

            tell()

            paths.append(corpus.artefacts.get(self._name(version), [version.digest], build, sound=sound))
        return paths

    def state(self, corpus: Corpus) -> tuple[int, int]:
        """How many versions in view lack an artefact that fits, and of how many of these there is one of another model
        or of other settings."""
        there, folder = corpus.artefacts.names(), corpus.artefacts.folder
        missing = [
            version
            for version in corpus.versions
            if (name := self._name(version)) not in there or (self.fits and not self.fits(folder / name))
        ]
        others = {name[-_VERSION:] for name in there if name.startswith(f"{self.kind}-")}
        return len(missing), sum(version.digest[:_VERSION] in others for version in missing)

    def _name(self, version: Version) -> str:
        return f"{self.kind}-{digest([_TEXTS, *self.settings])[:12]}-{version.digest[:_VERSION]}"

    def _build(self, corpus: Corpus, version: Version, folder: Path, tell: Callable[[str], None]) -> None:
        ids: list[str] = []
        owners: list[int] = []
        texts: list[str] = []
        for passage in present(corpus, version):
            if passage.text.strip():
                for window in windows(searched(passage), self.window, self.overlap):
                    owners.append(len(ids))
                    texts.append(window)
                ids.append(passage.id)
        parts = []
        for start in range(0, len(texts), CHUNK):
            parts.append(self.encode(texts[start : start + CHUNK]))
            tell(f", {min(start + CHUNK, len(texts)):,} of {len(texts):,} texts")
        self.write(parts, folder)
        np.save(folder / "owner.npy", np.asarray(owners, dtype=np.int32))
        write_strings(ids, folder)


class ByModel:
    """Base of the stages whose index a model makes."""

    def stored(self) -> Windowed:
        """The stage's artefacts."""
        raise NotImplementedError

    def prepare(self, corpus: Corpus, progress: Progress | None = None) -> list[Path]:
        """Encode what is not encoded yet, one version of a document after the other; what is done stays done, unless
        the model behind its name has changed since."""
        return self.stored().paths(corpus, progress, renew=True)

    def ready(self, corpus: Corpus) -> bool:
        """Whether every version in view is encoded."""
        return self.stored().ready(corpus)


class Places(NamedTuple):
    """The windows of several versions, in the order of their passages: ``ids`` of passages ascending, ``order`` the
    places of the windows where the folders are read one after the other, ``starts`` the first one of each passage."""

    ids: list[str]
    order: Ints
    starts: Ints

    @classmethod
    def load(cls, paths: Sequence[Path]) -> Places:
        """Of the folders, in their order."""
        ids: list[str] = []
        owners = [np.empty(0, np.int64)]
        for path in paths:
            owners.append(np.load(path / "owner.npy") + len(ids))
            ids.extend(Strings.load(path).all())
        by_id = sorted(range(len(ids)), key=ids.__getitem__)
        place = np.empty(len(ids), dtype=np.int64)
        place[by_id] = np.arange(len(ids))
        rank = place[np.concatenate(owners)]
        order = np.argsort(rank, kind="stable")
        rank = rank[order]
        starts = np.flatnonzero(np.r_[True, rank[1:] != rank[:-1]][: len(rank)])
        return cls([ids[i] for i in by_id], order, starts)

    def best_window(self, scores: Vectors) -> Vectors:
        """The best window of each passage, shape (questions, passages), of scores of the windows in the order of their
        passages, shape (questions, windows)."""
        if not len(self.starts):
            return np.zeros((len(scores), 0), dtype=np.float32)
        return np.maximum.reduceat(scores, self.starts, axis=1)


def half(values: Vectors, model: str) -> npt.NDArray[np.float16]:
    """As 16-bit floats. ModelError where one is too large for them."""
    with np.errstate(over="ignore"):
        found = values.astype(np.float16)
    if not np.isfinite(found).all():
        raise ModelError(f"{model}: gives numbers beyond 65,504, too large to be kept in 16 bits; scale the vectors")
    return found


def check_windows(kind: str, window: int, overlap: int) -> None:
    """RecipeError where they do not go together."""
    if not 0 <= overlap < window:
        raise RecipeError(f"{kind}: overlap must be from 0 to below window, got {overlap} and {window}")


def run_of(name: str, queries: Sequence[Query], ids: Sequence[str], k: int, rows: Callable[[slice], Vectors]) -> Run:
    """The ``k`` best passages of each query, raw scores; ``rows`` gives those of a slice: (queries, passages)."""
    rankings = {}
    for start in range(0, len(queries), CHUNK):
        part = slice(start, start + CHUNK)
        for query, row in zip(queries[part], rows(part), strict=True):
            rankings[query.id] = Ranking.of(query.id, [(ids[place], float(row[place])) for place in best(row, k)])
    return Run(name, rankings)
