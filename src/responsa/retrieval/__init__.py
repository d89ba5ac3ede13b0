"""Finding passages. A retriever is a frozen dataclass that is called with questions and a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from responsa.corpus.view import Corpus
from responsa.retrieval.bm25 import BM25
from responsa.types import Query, Run


class Retriever(Protocol):
    """Many questions to one ranking each. ``prepare`` builds what is missing of its index,
    ``ready`` tells whether anything is."""

    def __call__(self, queries: Sequence[Query], corpus: Corpus, k: int) -> Run: ...

    def prepare(self, corpus: Corpus) -> Path: ...

    def ready(self, corpus: Corpus) -> bool: ...


RETRIEVERS: dict[str, type[Retriever]] = {"bm25": BM25}
