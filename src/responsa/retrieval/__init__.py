"""Finding passages. A retriever is a frozen dataclass that is called with questions and a corpus."""

from __future__ import annotations

from responsa.retrieval.bm25 import BM25
from responsa.retrieval.evidence import KnownQuestions, Neighbours
from responsa.retrieval.fuse import FUSERS
from responsa.retrieval.hybrid import Hybrid, Retriever
from responsa.retrieval.rerank import CrossEncoder, Reranker
from responsa.retrieval.vectors import Dense

RETRIEVERS: dict[str, type[Retriever]] = {"bm25": BM25, "dense": Dense, "known-questions": KnownQuestions}
RERANKERS: dict[str, type[Reranker]] = {"cross-encoder": CrossEncoder, "neighbours": Neighbours}

__all__ = ["FUSERS", "RERANKERS", "RETRIEVERS", "Hybrid", "Retriever"]
