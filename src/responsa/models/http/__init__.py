"""Models behind APIs: encoders and rerankers over HTTP, and the cache round them."""

from responsa.models.http.cached import CachedEncoder, CachedScorer
from responsa.models.http.encoder import BGE_ICL_SUFFIX, NV_EMBED_PREFIX, HttpEncoder, icl_prefix
from responsa.models.http.reranker import HttpReranker
from responsa.models.http.service import Clock, Service

__all__ = [
    "BGE_ICL_SUFFIX",
    "NV_EMBED_PREFIX",
    "CachedEncoder",
    "CachedScorer",
    "Clock",
    "HttpEncoder",
    "HttpReranker",
    "Service",
    "icl_prefix",
]
