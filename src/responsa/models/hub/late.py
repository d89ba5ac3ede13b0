"""Late interaction: a vector for each token (ColBERT; Khattab and Zaharia, 2020).

Two libraries run such models: sentence-transformers 6, which also reads folders of PyLate and of Stanford's ColBERT,
and PyLate itself, which needs older versions of the others and hence an environment of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from responsa.errors import InputError
from responsa.models import Role, Vectors
from responsa.models.checks import finite, readable
from responsa.models.hub.alone import alone
from responsa.models.hub.source import Source, above_zero, library, named


@dataclass(frozen=True)
class HubLateEncoder:
    """A `LateEncoder` run by sentence-transformers. Lengths, marks of queries and passages, query expansion with
    [MASK] and the tokens left out are those of the model's own config."""

    model: str
    trust_remote_code: bool = False
    batch: int = 32
    device: str = ""

    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        above_zero(batch=self.batch)

    @property
    def name(self) -> str:
        """The model, and a digest of its files."""
        return named(self._source, self.version, ["sentence-transformers"])

    @property
    def dimension(self) -> int:
        """Length of a vector. The model is loaded for it."""
        return int(self._open().get_embedding_dimension() or 0)

    def encode(self, texts: Sequence[str], role: Role) -> list[Vectors]:
        """Unit vectors, shape (tokens, dimension) for each text."""
        _check(role)
        model = self._open()
        encode = model.encode_query if role == "query" else model.encode_document
        return _arrays(
            model,
            lambda given: encode(
                given,
                batch_size=self.batch,
                show_progress_bar=False,
                convert_to_numpy=True,
                normalize_embeddings=True,
            ),
            texts,
            self.model,
        )

    @property
    def _source(self) -> Source:
        return Source(self.model, self.trust_remote_code)

    def _open(self) -> Any:  # noqa: ANN401
        return _open_hub(self._source, self._source.fingerprint, self.device)


@dataclass(frozen=True)
class PylateEncoder:
    """A `LateEncoder` run by PyLate (Chaffin and Sourty, 2025)."""

    model: str
    trust_remote_code: bool = False
    batch: int = 32
    device: str = ""

    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        above_zero(batch=self.batch)

    @property
    def name(self) -> str:
        """The model, and a digest of its files."""
        return named(self._source, self.version, ["pylate"])

    @property
    def dimension(self) -> int:
        """Length of a vector. The model is loaded for it."""
        return int(self.encode(["dimension"], "passage")[0].shape[1])

    def encode(self, texts: Sequence[str], role: Role) -> list[Vectors]:
        """Unit vectors, shape (tokens, dimension) for each text."""
        _check(role)
        model = self._open()
        return _arrays(
            model,
            lambda given: model.encode(
                given,
                batch_size=self.batch,
                show_progress_bar=False,
                convert_to_numpy=True,
                normalize_embeddings=True,
                is_query=role == "query",
            ),
            texts,
            self.model,
        )

    @property
    def _source(self) -> Source:
        return Source(self.model, self.trust_remote_code, "late")

    def _open(self) -> Any:  # noqa: ANN401
        return _open_pylate(self._source, self._source.fingerprint, self.device)


def _check(role: Role) -> None:
    if role not in ("query", "passage"):
        raise InputError(f"role: {role!r} is not one of 'query', 'passage'")


def _arrays(
    net: Any,  # noqa: ANN401
    encode: Callable[[list[str]], Sequence[object]],
    texts: Sequence[str],
    model: str,
) -> list[Vectors]:
    if not texts:
        return []
    with alone(net):
        found = [np.asarray(each, dtype=np.float32) for each in encode([readable(text) for text in texts])]
    for number, rows in enumerate(found, 1):
        finite(rows, f"{model}, text {number} of {len(texts)}", "token")
    return found


def _refuse_others(source: Source) -> None:
    source.needs("late-interaction encoder", ["MultiVectorEncoder", "ColBERT"], "HF_ColBERT")


@lru_cache(maxsize=2)
def _open_hub(source: Source, fingerprint: str, device: str) -> Any:  # noqa: ANN401
    del fingerprint  # with it, a folder that was replaced is opened anew
    package = library("hub", "MultiVectorEncoder")
    _refuse_others(source)
    return source.load(
        "late-interaction encoder",
        lambda local: package.MultiVectorEncoder(
            source.reference,
            device=device or None,
            local_files_only=local,
            trust_remote_code=source.trust_remote_code,
        ),
    )


@lru_cache(maxsize=2)
def _open_pylate(source: Source, fingerprint: str, device: str) -> Any:  # noqa: ANN401
    del fingerprint  # with it, a folder that was replaced is opened anew
    package = library("late", "ColBERT")
    _refuse_others(source)
    return source.load(
        "late-interaction encoder",
        lambda local: package.ColBERT(
            source.reference,
            device=device or None,
            local_files_only=local,
            trust_remote_code=source.trust_remote_code,
        ),
    )
