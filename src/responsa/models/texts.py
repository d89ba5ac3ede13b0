"""Scorers of single texts by name, such as classifiers of sentences:

embedded:obligations          a model that ships in the package
onnx:models/obligations       a model folder on this machine
hf:organisation/model         a sequence-classification model of the Hugging Face hub, or a folder in its format
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from responsa.errors import ModelError
from responsa.models import Vectors
from responsa.models.checks import finite, readable
from responsa.models.embedded import find
from responsa.models.load import by_scheme
from responsa.models.onnx import model_name, open_model, read_settings
from responsa.models.options import HUB, Table, fields, flag, named

_KINDS = ("texts", "pairs")  # a classifier of pairs also reads a text alone, as the published coverage check does
_HUB: Table = {**HUB, "max_tokens": ("max_tokens", int), "int8": ("int8", flag)}


class TextScorer(Protocol):
    """Texts to a score for each label."""

    @property
    def name(self) -> str: ...

    @property
    def labels(self) -> tuple[str, ...]: ...

    def score(self, texts: Sequence[str]) -> Vectors:
        """Raw scores (logits), shape (texts, labels), in order; higher is more of the label."""
        ...


@dataclass(frozen=True)
class OnnxTextScorer:
    """A classifier of texts in the folder format of `responsa.models.onnx`. Texts beyond the model's length are cut."""

    folder: Path
    batch: int = 1

    @property
    def name(self) -> str:
        """The model's name, and a digest of all that changes its scores."""
        return model_name(self.folder, self._kind)

    @property
    def labels(self) -> tuple[str, ...]:
        """The model's labels in the order of its scores."""
        return read_settings(self.folder).labels

    def score(self, texts: Sequence[str]) -> Vectors:
        """Logits, shape (texts, labels)."""
        model = open_model(self.folder, self._kind)
        scores = np.zeros((len(texts), len(model.settings.labels)), dtype=np.float32)
        encodings = model.tokenizer.encode_batch([readable(text) for text in texts])
        for rows, found, _ in model.each(encodings, self.batch, (None, len(model.settings.labels))):
            scores[rows] = found
        return finite(scores, str(self.folder))

    @property
    def _kind(self) -> str:
        kind = read_settings(self.folder).kind
        if kind not in _KINDS:
            raise ModelError(f"{self.folder}: is a model of kind {kind!r}; a classifier of texts is needed here")
        return kind


def load_texts(name: str) -> TextScorer:
    """The scorer of texts of that name. Nothing is loaded before its first use."""
    return by_scheme(name, "a classifier of texts", TEXTS)


def _hub(rest: str) -> TextScorer:
    from responsa.models.hub.texts import HubTextScorer

    model, options = named(rest)
    return HubTextScorer(model, **fields(options, _HUB))  # type: ignore[arg-type]


TEXTS: dict[str, Callable[[str], TextScorer]] = {
    "embedded": lambda rest: OnnxTextScorer(find(rest)),
    "onnx": lambda rest: OnnxTextScorer(Path(rest)),
    "hf": _hub,
}
