"""Cross-encoders through sentence-transformers: rerankers, and classifiers of pairs of texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from responsa.errors import ModelError, suggestion
from responsa.models import Vectors
from responsa.models.checks import finite, readable
from responsa.models.hub.alone import alone, one_by_one
from responsa.models.hub.batches import in_batches, keeps_state
from responsa.models.hub.int8 import check_device
from responsa.models.hub.quicken import quicken
from responsa.models.hub.source import Source, above_zero, library, named

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

RELEVANCE = "relevance"  # the label of a model that has one


@dataclass(frozen=True)
class HubPairScorer:
    """A `PairScorer` run by sentence-transformers: logits, without the sigmoid or softmax that its config may ask for.

    ``label`` picks one of several labels, by name; ``single`` refuses a model with several labels of which none is
    picked. Pairs beyond ``max_tokens`` (None: as many as the model reads) are cut, the longer text first. ``int8`` runs
    it with weights in 8 bits, on the CPU.
    """

    model: str
    label: str = ""
    max_tokens: int | None = None
    trust_remote_code: bool = False
    batch: int = 32
    device: str = ""
    single: bool = True
    int8: bool = False

    version: ClassVar[int] = 4  # 2 and 3: others in 8 bits; 1: threads mixed up DeBERTa's positions, 16 bits on the CPU

    def __post_init__(self) -> None:
        above_zero(max_tokens=self.max_tokens, batch=self.batch)
        if self.int8:
            check_device(self.device)

    @property
    def name(self) -> str:
        """The model, and a digest of its files and of all settings that change its scores."""
        return named(self._source, self.version, [self.label, self.max_tokens, *["int8"] * self.int8])

    @property
    def labels(self) -> tuple[str, ...]:
        """The label picked, or all, in the order of the scores. The model is loaded for it."""
        labels = _labels(self._open())
        if self.label and self.label not in labels:
            raise ModelError(f"{self.model}: has no label {self.label!r}{suggestion(self.label, labels)}")
        if self.single and not self.label and len(labels) > 1:
            raise ModelError(f"{self.model}: has the labels {', '.join(labels)}; pick one: label={labels[-1]}")
        return (self.label,) if self.label else labels

    def score(self, pairs: Sequence[tuple[str, str]]) -> Vectors:
        """Logits, shape (pairs, labels), in order."""
        model, labels = self._open(), self.labels
        if not pairs:
            return np.zeros((0, len(labels)), dtype=np.float32)
        import torch

        read = [(readable(one), readable(other)) for one, other in pairs]
        scores = np.zeros((len(pairs), int(model.num_labels)), dtype=np.float32)

        def run(places: list[int]) -> None:
            found = model.predict(
                [read[place] for place in places],
                batch_size=len(places),
                show_progress_bar=False,
                activation_fn=torch.nn.Identity(),
                convert_to_numpy=True,
            )
            scores[places] = np.asarray(found).reshape(len(places), -1)

        with alone(model):
            parallel = not (self.trust_remote_code or keeps_state(model))
            in_batches(_lengths(model, read), model.device, self.batch, run, parallel)
        columns = [_labels(model).index(label) for label in labels]
        return finite(scores[:, columns], self.model, "pair")

    @property
    def _source(self) -> Source:
        return Source(self.model, self.trust_remote_code)

    def _open(self) -> CrossEncoder:
        return _open(self._source, self._source.fingerprint, self.max_tokens, self.device, self.int8)


def _labels(model: CrossEncoder) -> tuple[str, ...]:
    count = int(model.num_labels)
    names = getattr(model.config, "id2label", None) or {}
    return (RELEVANCE,) if count == 1 else tuple(str(names.get(place, place)) for place in range(count))


def _lengths(model: CrossEncoder, pairs: Sequence[tuple[str, str]]) -> list[int]:
    """Tokens of each pair, as far as the model reads it."""
    ones, others = zip(*pairs, strict=True)
    rows = model.tokenizer(list(ones), list(others), truncation=False, verbose=False)["input_ids"]
    return [min(len(row), model.max_seq_length or len(row)) for row in rows]


@lru_cache(maxsize=4)
def _open(source: Source, fingerprint: str, max_tokens: int | None, device: str, int8: bool) -> CrossEncoder:
    del fingerprint  # with it, a folder that was replaced is opened anew
    package = library("hub", "CrossEncoder", "MultiVectorEncoder")
    source.needs("cross-encoder", ["CrossEncoder"], "ForSequenceClassification")

    def make(local: bool) -> CrossEncoder:
        model: CrossEncoder = package.CrossEncoder(
            source.reference,
            max_length=max_tokens,
            device="cpu" if int8 else device or None,
            local_files_only=local,
            trust_remote_code=source.trust_remote_code,
        )
        net = model.model if hasattr(model, "model") else model
        if model.device.type == "cpu":
            net.float()  # a checkpoint in 16 bits is slow and coarse there
        quicken(net, source.model, int8)
        model.preprocess = one_by_one(model.preprocess)
        return model

    return source.load("cross-encoder", make)
