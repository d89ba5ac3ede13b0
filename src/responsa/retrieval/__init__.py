"""Finding passages. A retriever is a frozen dataclass that is called with questions and a corpus."""

from __future__ import annotations

from responsa.retrieval.bm25 import BM25
from responsa.retrieval.cited import Cited
from responsa.retrieval.diversity import Diversity
from responsa.retrieval.documents import Documents
from responsa.retrieval.evidence import KnownQuestions, Neighbours
from responsa.retrieval.fuse import FUSERS
from responsa.retrieval.hybrid import Hybrid, Retriever
from responsa.retrieval.late import Late
from responsa.retrieval.learned import Features
from responsa.retrieval.listwise import Listwise
from responsa.retrieval.rerank import CrossEncoder, Reranker
from responsa.retrieval.scale import Calibrate
from responsa.retrieval.sparse import Sparse
from responsa.retrieval.vectors import Dense

RETRIEVERS: dict[str, type[Retriever]] = {
    "bm25": BM25,
    "dense": Dense,
    "sparse": Sparse,
    "late": Late,
    "known-questions": KnownQuestions,
}
RERANKERS: dict[str, type[Reranker]] = {
    "cross-encoder": CrossEncoder,
    "features": Features,
    "neighbours": Neighbours,
    "cited": Cited,
    "documents": Documents,
    "diversity": Diversity,
    "calibrate": Calibrate,
    "listwise": Listwise,
}

__all__ = ["FUSERS", "RERANKERS", "RETRIEVERS", "Hybrid", "Retriever"]
