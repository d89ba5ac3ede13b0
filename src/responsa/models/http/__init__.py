"""Models behind APIs: encoders and rerankers over HTTP, and the cache round them."""

from responsa.models.http.cached import CachedEncoder, CachedScorer
from responsa.models.http.encoder import HttpEncoder
from responsa.models.http.reranker import HttpReranker
from responsa.models.http.service import Service
from responsa.pacing import Clock

__all__ = [
    "CachedEncoder",
    "CachedScorer",
    "Clock",
    "HttpEncoder",
    "HttpReranker",
    "Service",
]
