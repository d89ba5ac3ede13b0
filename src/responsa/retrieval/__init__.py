"""Finding passages. A retriever is a frozen dataclass that is called with questions and a corpus."""

from __future__ import annotations

from responsa.retrieval.bm25 import BM25
from responsa.retrieval.fuse import FUSERS
from responsa.retrieval.hybrid import Hybrid, Retriever
from responsa.retrieval.rerank import RERANKERS
from responsa.retrieval.vectors import Dense

RETRIEVERS: dict[str, type[Retriever]] = {"bm25": BM25, "dense": Dense}

__all__ = ["FUSERS", "RERANKERS", "RETRIEVERS", "Hybrid", "Retriever"]
