"""Embeddings over HTTP: OpenAI, every server that speaks as OpenAI does, and Voyage."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from responsa.errors import InputError
from responsa.models import Role, Vectors, tokens
from responsa.models.checks import readable
from responsa.models.http import replies
from responsa.models.http.service import Progress, Service
from responsa.text import digest


class _Learnt:
    """The dimension, once a reply has shown it."""

    def __init__(self) -> None:
        self.dimension: int | None = None
        self.lock = threading.Lock()


@dataclass(frozen=True)
class HttpEncoder:
    """An `Encoder` behind an API.

    Of a text, the first ``max_tokens`` tokens (nearly: see `tokens`) are sent, the prefix of its role before
    and ``query_suffix`` after them. A blank text is not sent; its vector is zero. ``truncate`` lets Voyage cut
    what is too long for the model, instead of refusing it. ``output_dimension`` asks for shorter vectors;
    ``known_dimension`` is what the model gives by itself (without it, the first request finds out).
    ``normalise`` makes vectors of length 1, which Voyage and OpenAI send anyway.
    """

    service: Service
    model: str
    dialect: Literal["openai", "voyage"] = "openai"
    known_dimension: int | None = None
    output_dimension: int | None = None
    truncate: bool = True
    max_tokens: int | None = None
    query_prefix: str = ""
    query_suffix: str = ""
    passage_prefix: str = ""
    normalise: bool = True
    progress: Progress | None = field(default=None, repr=False, compare=False)
    _learnt: _Learnt = field(default_factory=_Learnt, init=False, repr=False, compare=False)

    version: ClassVar[int] = 1
    changeable: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.model:
            raise InputError("model: give the name of the model")
        if self.dialect not in ("openai", "voyage"):
            raise InputError(f"dialect: {self.dialect!r} is not one of 'openai', 'voyage'")
        for name in ("known_dimension", "output_dimension", "max_tokens"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name}: expected a number above 0, got {value!r}")

    @property
    def name(self) -> str:
        """The model, and a digest of all that changes its vectors."""
        settings = [
            self.version, self.service.url, self.model, self.dialect, self.output_dimension, self.truncate,
            self.max_tokens, self.query_prefix, self.query_suffix, self.passage_prefix, self.normalise,
        ]  # fmt: skip
        return f"{self.model}@{digest(settings)[:12]}"

    @property
    def dimension(self) -> int:
        """Known, or found out by one small request."""
        known = self._dimension()
        return known if known is not None else self.encode(["dimension"], "passage").shape[1]

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Shape (texts, dimension), in order. ModelError when a request fails for good: no part is returned."""
        if role not in ("query", "passage"):
            raise InputError(f"role: {role!r} is not one of 'query', 'passage'")
        places = [place for place, text in enumerate(texts) if text.strip()]
        sent = [self._dressed(texts[place], role) for place in places]
        sizes = [tokens.estimate(text) for text in sent]
        groups = tokens.batches(sizes, self.service.batch_texts, self.service.batch_tokens)

        def embed(group: range) -> Vectors:
            batch = sent[group.start : group.stop]
            total = sum(sizes[group.start : group.stop])
            return self.service.ask(
                "/embeddings", self._payload(batch, role), total, lambda r: self._read(r, len(batch))
            )

        blocks = self.service.map(embed, groups, self.progress)
        vectors = np.zeros((len(texts), blocks[0].shape[1] if blocks else self.dimension), dtype=np.float32)
        for group, block in zip(groups, blocks, strict=True):
            vectors[places[group.start : group.stop]] = block
        return vectors

    def _dimension(self) -> int | None:
        return self.output_dimension or self.known_dimension or self._learnt.dimension

    def _dressed(self, text: str, role: Role) -> str:
        cut = tokens.truncate(readable(text), self.max_tokens)
        return f"{self.query_prefix}{cut}{self.query_suffix}" if role == "query" else f"{self.passage_prefix}{cut}"

    def _payload(self, batch: list[str], role: Role) -> dict[str, object]:
        payload: dict[str, object] = {"model": self.model, "input": batch}
        if self.dialect == "voyage":
            payload |= {"input_type": "query" if role == "query" else "document", "truncation": self.truncate}
        else:
            payload["encoding_format"] = "float"
        if self.output_dimension is not None:
            payload["output_dimension" if self.dialect == "voyage" else "dimensions"] = self.output_dimension
        return payload

    def _read(self, reply: object, count: int) -> Vectors:
        values = replies.in_order(reply, "data", "embedding", count)
        with self._learnt.lock:
            block = replies.vectors(values, self._dimension())
            self._learnt.dimension = block.shape[1]
        if self.normalise:
            lengths = np.linalg.norm(block, axis=1, keepdims=True)
            block /= np.where(lengths > 0, lengths, 1)
        return block
