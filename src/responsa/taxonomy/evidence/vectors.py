"""Vectors of a report's chunks, made once for a report and a model and kept with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from responsa.analysis import windows
from responsa.corpus.artefacts import UNREADABLE
from responsa.corpus.chunks import OVERLAP, SIZE
from responsa.errors import ModelError
from responsa.models import Vectors
from responsa.models.load import load_encoder
from responsa.retrieval.postings import Ints
from responsa.retrieval.vectors import length_of
from responsa.retrieval.windowed import half
from responsa.taxonomy.evidence.report import FORMAT, Progress, Report
from responsa.text import digest

WINDOW, SHARED = 150, 30
"""Words of a window and those it shares with the next: encoders see some 256 tokens, a chunk has up to 700."""
_BATCH = 128  # windows between two reports of progress


class ChunkVectors(NamedTuple):
    """``vectors`` of windows, shape (windows, dimension); ``owner`` is the place of each one's chunk, ascending."""

    vectors: Vectors
    owner: Ints
    size: int

    def similar(self, asked: Vectors) -> Vectors:
        """The dot product of each query with each chunk's best window, shape (queries, chunks); 0 without a window."""
        found = np.zeros((len(asked), self.size), dtype=np.float32)
        if len(self.owner) and len(asked):
            starts = np.flatnonzero(np.r_[True, self.owner[1:] != self.owner[:-1]])
            found[:, self.owner[starts]] = np.maximum.reduceat(asked @ self.vectors.T, starts, axis=1)
        return found


def similarities(report: Report, encoder: str, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
    """The dot product of each query with each chunk's best window, shape (queries, chunks); 0 without a window.

    ``progress`` is told of the windows of the report that are encoded, where they are not yet.
    """
    asked = load_encoder(encoder).encode(texts, "query")
    return chunk_vectors(report, encoder, progress, asked.shape[1]).similar(asked)


def chunk_vectors(report: Report, encoder: str, progress: Progress | None = None, length: int = 0) -> ChunkVectors:
    """The vectors of the report's chunks by the encoder of that name, made where they are missing or not of ``length``
    (0: any), as where the model behind the name has changed. ModelError where new ones have another length too.

    ``progress`` is told of the windows encoded.
    """
    model = load_encoder(encoder)
    settings = [FORMAT, model.name, WINDOW, SHARED, SIZE, OVERLAP, report.name]
    name = f"vectors-{digest(settings)[:12]}-{report.digest[:24]}"

    def build(folder: Path) -> None:
        texts, owner = _windows(report)
        parts = [np.empty((0, model.dimension), np.float32)]
        for start in range(0, len(texts), _BATCH):
            if progress:
                progress(start, len(texts), "encoding")
            parts.append(model.encode(texts[start : start + _BATCH], "passage"))
        np.save(folder / "vectors.npy", half(np.concatenate(parts), model.name))
        np.save(folder / "owner.npy", np.asarray(owner, dtype=np.int64))

    def fits(folder: Path) -> bool:
        try:
            return not length or length_of(folder) in (0, length)
        except UNREADABLE:
            return False

    found = report.artefacts.opened(
        lambda: [report.artefacts.get(name, [report.digest], build, sound=fits)],
        lambda folders: _load(folders[0], len(report.chunks)),
    )
    if length and len(found.vectors) and found.vectors.shape[1] != length:
        raise ModelError(
            f"{encoder}: gives vectors of {length} numbers for queries and of {found.vectors.shape[1]} for passages; "
            "try again, or name another encoder"
        )
    return found


def _windows(report: Report) -> tuple[list[str], list[int]]:
    texts: list[str] = []
    owner: list[int] = []
    for place, chunk in enumerate(report.chunks):
        for window in windows(chunk.text, WINDOW, SHARED):
            texts.append(window)
            owner.append(place)
    return texts, owner


def _load(folder: Path, size: int) -> ChunkVectors:
    vectors = np.load(folder / "vectors.npy").astype(np.float32)
    return ChunkVectors(vectors, np.load(folder / "owner.npy"), size)
