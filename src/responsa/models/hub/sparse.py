"""Sparse encoders through sentence-transformers: SPLADE (Formal et al., 2021) and its kin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from responsa.errors import InputError
from responsa.models import Role, SparseRows, Vectors
from responsa.models.checks import finite, readable
from responsa.models.hub.alone import alone
from responsa.models.hub.source import Source, above_zero, library, named

if TYPE_CHECKING:
    from sentence_transformers import SparseEncoder


@dataclass(frozen=True)
class HubSparseEncoder:
    """A `SparseEncoder` run by sentence-transformers. Texts beyond ``max_tokens`` (None: as many as the model reads)
    are cut."""

    model: str
    max_tokens: int | None = None
    trust_remote_code: bool = False
    batch: int = 32
    device: str = ""

    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        above_zero(max_tokens=self.max_tokens, batch=self.batch)

    @property
    def name(self) -> str:
        """The model, and a digest of its files and of all settings that change its weights."""
        return named(self._source, self.version, [self.max_tokens])

    def encode(self, texts: Sequence[str], role: Role) -> SparseRows:
        """A row for each text, in order."""
        if role not in ("query", "passage"):
            raise InputError(f"role: {role!r} is not one of 'query', 'passage'")
        rows = []
        for start in range(0, len(texts), self.batch):
            rows += self._batch(texts[start : start + self.batch], role, start)
        sizes = [len(terms) for terms, _ in rows]
        return SparseRows(
            np.cumsum([0, *sizes], dtype=np.int64),
            np.concatenate([np.empty(0, np.int32), *(terms for terms, _ in rows)]),
            np.concatenate([np.empty(0, np.float32), *(weights for _, weights in rows)]),
        )

    def _batch(self, texts: Sequence[str], role: Role, first: int) -> list[tuple[npt.NDArray[np.int32], Vectors]]:
        """Terms and weights of each text; of a batch alone, for the model makes a number for each term of the
        vocabulary first."""
        model = _open(self._source, self._source.fingerprint, self.max_tokens, self.device)
        encode = model.encode_query if role == "query" else model.encode_document
        with alone(model):
            found = encode(
                [readable(text) for text in texts],
                batch_size=self.batch,
                show_progress_bar=False,
                convert_to_tensor=False,
                convert_to_sparse_tensor=False,
                save_to_cpu=True,
            )
        dense = np.stack([row.float().numpy() for row in found])
        finite(dense, f"{self.model} (texts from {first + 1})" if first else self.model)
        places = [np.flatnonzero(row).astype(np.int32) for row in dense]
        return [(place, row[place]) for place, row in zip(places, dense, strict=True)]

    @property
    def _source(self) -> Source:
        return Source(self.model, self.trust_remote_code)


@lru_cache(maxsize=2)
def _open(source: Source, fingerprint: str, max_tokens: int | None, device: str) -> SparseEncoder:
    del fingerprint  # with it, a folder that was replaced is opened anew
    package = library("hub", "SparseEncoder", "MultiVectorEncoder")
    source.needs("sparse encoder", ["SparseEncoder"], "ForMaskedLM")

    def make(local: bool) -> SparseEncoder:
        model: SparseEncoder = package.SparseEncoder(
            source.reference,
            device=device or None,
            local_files_only=local,
            trust_remote_code=source.trust_remote_code,
        )
        if max_tokens is not None:
            model.max_seq_length = max_tokens
        return model

    return source.load("sparse encoder", make)
