"""Classifiers of single texts through transformers."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from responsa.errors import MissingDependency
from responsa.models import Vectors
from responsa.models.checks import finite, readable
from responsa.models.hub.alone import alone
from responsa.models.hub.batches import in_batches, keeps_state
from responsa.models.hub.int8 import check_device
from responsa.models.hub.quicken import quicken
from responsa.models.hub.source import Source, above_zero, named

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

_UNBOUNDED = 1_000_000  # a tokenizer's length above this says that it knows none


@dataclass(frozen=True)
class HubTextScorer:
    """A `TextScorer`: logits of a sequence-classification model, for each text read alone.

    Texts of similar length are run together. They are cut at ``max_tokens``, else where the model's table of
    positions ends; a model of relative positions reads them whole. ``int8`` runs it with weights in 8 bits, on the CPU.
    """

    model: str
    max_tokens: int | None = None
    trust_remote_code: bool = False
    batch: int = 32
    device: str = ""
    int8: bool = False

    version: ClassVar[int] = 4  # 2 and 3: others in 8 bits; 1: threads mixed up positions of DeBERTa, and padding

    def __post_init__(self) -> None:
        above_zero(max_tokens=self.max_tokens, batch=self.batch)
        if self.int8:
            check_device(self.device)

    @property
    def name(self) -> str:
        """The model, and a digest of its files and of all settings that change its scores."""
        return named(self._source, self.version, ["text", self.max_tokens, *["int8"] * self.int8])

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels, in the order of the scores. The model is loaded for it."""
        _, model = self._open()
        names = model.config.id2label
        return tuple(str(names[place]) for place in range(model.config.num_labels))

    def score(self, texts: Sequence[str]) -> Vectors:
        """Logits, shape (texts, labels), in order."""
        tokenizer, model = self._open()
        with alone(model):
            found = self._scores(texts, tokenizer, model)
        return finite(found, self.model)

    def _scores(self, texts: Sequence[str], tokenizer: PreTrainedTokenizerBase, model: PreTrainedModel) -> Vectors:
        import torch

        scores = np.zeros((len(texts), int(model.config.num_labels)), dtype=np.float32)
        if not texts:
            return scores
        limit = self.max_tokens or _limit(tokenizer, model)
        told: dict[str, Any] = {"truncation": True, "max_length": limit} if limit else {"truncation": False}
        read = tokenizer([readable(text) for text in texts], **told)

        def run(places: list[int]) -> None:
            rows = {name: [values[place] for place in places] for name, values in read.items()}
            padded = tokenizer.pad(rows, return_tensors="pt").to(model.device)
            with torch.inference_mode():
                scores[places] = model(**padded).logits.float().cpu().numpy()

        parallel = not (self.trust_remote_code or keeps_state(model))
        in_batches([len(ids) for ids in read["input_ids"]], model.device, self.batch, run, parallel)
        return scores

    @property
    def _source(self) -> Source:
        return Source(self.model, self.trust_remote_code)

    def _open(self) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
        return _open(self._source, self._source.fingerprint, self.device, self.int8)


def _limit(tokenizer: PreTrainedTokenizerBase, model: PreTrainedModel) -> int | None:
    """How many tokens the model reads; None for any number."""
    if getattr(model.config, "position_biased_input", True) is False:  # DeBERTa
        return None
    limits = [tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", None)]
    known = [int(limit) for limit in limits if limit and limit < _UNBOUNDED]
    return min(known, default=None)


@lru_cache(maxsize=4)
def _open(source: Source, fingerprint: str, device: str, int8: bool) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
    del fingerprint  # with it, a folder that was replaced is opened anew
    try:
        import torch
        import transformers
    except ImportError as error:
        raise MissingDependency("a model that runs on PyTorch", source.extra) from error
    transformers.utils.logging.set_verbosity_error()
    if not sys.stderr.isatty():
        transformers.utils.logging.disable_progress_bar()
    source.needs("classifier of texts", ["CrossEncoder"], "ForSequenceClassification")
    place = "cpu" if int8 else device or ("cuda" if torch.cuda.is_available() else "cpu")

    def make(local: bool) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
        told = {"local_files_only": local, "trust_remote_code": source.trust_remote_code}
        tokenizer = transformers.AutoTokenizer.from_pretrained(source.reference, **told)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(source.reference, **told)
        net = model.float().to(place).eval()
        quicken(net, source.model, int8)
        return tokenizer, net

    return source.load("classifier of texts", make)
