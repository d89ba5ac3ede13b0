"""Finding passages. A retriever is a frozen dataclass that is called with questions and a corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from responsa.config import Family
from responsa.retrieval.hybrid import Hybrid, Retriever

if TYPE_CHECKING:
    from responsa.retrieval.fuse import Fuser
    from responsa.retrieval.rerank import Reranker

RETRIEVERS: Family[Retriever] = Family({
    "bm25": "responsa.retrieval.bm25:BM25",
    "dense": "responsa.retrieval.vectors:Dense",
    "sparse": "responsa.retrieval.sparse:Sparse",
    "late": "responsa.retrieval.late:Late",
    "known-questions": "responsa.retrieval.evidence:KnownQuestions",
})  # fmt: skip
FUSERS: Family[Fuser] = Family({
    "linear": "responsa.retrieval.fuse:Linear",
    "rrf": "responsa.retrieval.fuse:RRF",
    "zscore": "responsa.retrieval.fuse:ZScore",
})  # fmt: skip
RERANKERS: Family[Reranker] = Family({
    "cross-encoder": "responsa.retrieval.rerank:CrossEncoder",
    "features": "responsa.retrieval.learned:Features",
    "neighbours": "responsa.retrieval.evidence:Neighbours",
    "cited": "responsa.retrieval.cited:Cited",
    "documents": "responsa.retrieval.documents:Documents",
    "diversity": "responsa.retrieval.diversity:Diversity",
    "calibrate": "responsa.retrieval.scale:Calibrate",
    "listwise": "responsa.retrieval.listwise:Listwise",
})  # fmt: skip

__all__ = ["FUSERS", "RERANKERS", "RETRIEVERS", "Hybrid", "Retriever"]
