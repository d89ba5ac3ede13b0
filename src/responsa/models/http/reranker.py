"""Reranking over HTTP: Voyage, and the way that Jina, Cohere, vLLM and others share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from responsa.errors import InputError
from responsa.models import Vectors, tokens
from responsa.models.checks import readable
from responsa.models.http import replies
from responsa.models.http.service import Progress, Service
from responsa.text import digest

_BLANK = "-"  # sent in place of a blank text, which the APIs refuse


@dataclass(frozen=True)
class _Batch:
    """Texts to score against one query, and where among the pairs they stand."""

    query: str
    places: tuple[int, ...]
    texts: tuple[str, ...]
    tokens: int


@dataclass(frozen=True)
class HttpReranker:
    """A `PairScorer` behind an API: pairs of query and passage, one label.

    Pairs of the same query share requests, so give all pairs of a query at once. Of each query and passage,
    the first ``max_tokens`` tokens (nearly: see `tokens`) are sent; ``truncate`` lets Voyage cut the rest.
    Scores are what the API calls relevance, mostly from 0 to 1.
    """

    service: Service
    model: str
    dialect: Literal["cohere", "voyage"] = "cohere"
    truncate: bool = True
    max_tokens: int | None = None
    progress: Progress | None = field(default=None, repr=False, compare=False)

    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not self.model:
            raise InputError("model: give the name of the model")
        if self.dialect not in ("cohere", "voyage"):
            raise InputError(f"dialect: {self.dialect!r} is not one of 'cohere', 'voyage'")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise InputError(f"max_tokens: expected a number above 0, got {self.max_tokens!r}")

    @property
    def name(self) -> str:
        """The model, and a digest of all that changes its scores."""
        settings = [self.version, self.service.url, self.model, self.dialect, self.truncate, self.max_tokens]
        return f"{self.model}@{digest(settings)[:12]}"

    @property
    def labels(self) -> tuple[str, ...]:
        return ("relevance",)

    def score(self, pairs: Sequence[tuple[str, str]]) -> Vectors:
        """Shape (pairs, 1), in order. ModelError when a request fails for good: no part is returned."""
        batches = self._batches(pairs)
        scores = np.zeros((len(pairs), 1), dtype=np.float32)
        blocks = self.service.map(self._ask, batches, self.progress)
        for batch, block in zip(batches, blocks, strict=True):
            scores[list(batch.places)] = block
        return scores

    def _batches(self, pairs: Sequence[tuple[str, str]]) -> list[_Batch]:
        by_query: dict[str, list[int]] = {}
        for place, (query, _) in enumerate(pairs):
            by_query.setdefault(query, []).append(place)
        batches = []
        for query, places in by_query.items():
            asked = self._dressed(query)
            texts = [self._dressed(pairs[place][1]) for place in places]
            own = tokens.estimate(asked)  # counted with every passage, as Voyage does
            sizes = [own + tokens.estimate(text) for text in texts]
            for group in tokens.batches(sizes, self.service.batch_texts, self.service.batch_tokens):
                cut = slice(group.start, group.stop)
                batches.append(_Batch(asked, tuple(places[cut]), tuple(texts[cut]), sum(sizes[cut])))
        return batches

    def _dressed(self, text: str) -> str:
        return tokens.truncate(readable(text), self.max_tokens) if text.strip() else _BLANK

    def _ask(self, batch: _Batch) -> Vectors:
        count, voyage = len(batch.texts), self.dialect == "voyage"
        payload: dict[str, object] = {"model": self.model, "query": batch.query, "documents": list(batch.texts)}
        payload |= {"truncation": self.truncate} if voyage else {"top_n": count}
        rows = "data" if voyage else "results"

        def read(reply: object) -> Vectors:
            return replies.scores(replies.in_order(reply, rows, "relevance_score", count))

        return self.service.ask("/rerank", payload, batch.tokens, read)
