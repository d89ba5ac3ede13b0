"""Models of the Hugging Face hub, or folders in its formats, run on this machine (``responsa[hub]``)."""

from responsa.models.hub.dense import HubEncoder
from responsa.models.hub.late import HubLateEncoder, PylateEncoder
from responsa.models.hub.pairs import HubPairScorer
from responsa.models.hub.sparse import HubSparseEncoder

__all__ = ["HubEncoder", "HubLateEncoder", "HubPairScorer", "HubSparseEncoder", "PylateEncoder"]
