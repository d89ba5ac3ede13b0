"""Texts and pairs of texts to probabilities: each different one once, of all questions together, kept in the cache.

What a model gives is stored block by block, so that work that was stopped goes on where it was; a block in which
the model failed is not stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, cast

import numpy as np

from responsa.cache import Cache, key, pack, unpack
from responsa.errors import ModelError
from responsa.models import PairScorer, Vectors
from responsa.models.texts import TextScorer
from responsa.types import Detection, Label

Item = TypeVar("Item", str, tuple[str, str])
ItemIn = TypeVar("ItemIn", str, tuple[str, str], contravariant=True)
Progress = Callable[[int, int], None]

CLASSES = ("entailment", "neutral", "contradiction")
JOINT = " [SEP] "  # between answer sentence and obligation where the published script reads both as one text

_KIND, _VERSION = "classification", 1
_BLOCK = 128  # items between two writes to the cache
_OBLIGATION = ("obligation", "true", "yes", "1", "label_1")  # what two-label models call it
_LABELS = {"obligation", "permission", "definition", "other"}


class _Scorer(Protocol[ItemIn]):
    @property
    def name(self) -> str: ...

    @property
    def labels(self) -> tuple[str, ...]: ...

    def score(self, items: Sequence[ItemIn], /) -> Vectors: ...


def softmax(logits: Vectors) -> Vectors:
    """Rows to probabilities, in single precision."""
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True), dtype=np.float32)


@dataclass(frozen=True)
class Classifier(Generic[Item]):
    """Items to probabilities of the model's labels. ``cache`` None keeps nothing."""

    scorer: _Scorer[Item]
    cache: Cache | None = None

    @property
    def name(self) -> str:
        """The model's name and digest."""
        return self.scorer.name

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels in the order of the columns."""
        return self.scorer.labels

    def __call__(self, items: Sequence[Item], progress: Progress = lambda _done, _total: None) -> Vectors:
        """Shape (items, labels), in order; a row sums to 1. Longest first to the model, so that a text that is too
        much for the machine shows at once."""
        if not items:
            return np.zeros((0, len(self.labels)), dtype=np.float32)
        name = self.name
        keys = {item: key(_KIND, _VERSION, {"model": name, "texts": _texts(item)}) for item in dict.fromkeys(items)}
        found = self._stored(keys)
        todo = sorted((item for item in keys if item not in found), key=_length, reverse=True)
        progress(len(found), len(keys))
        for start in range(0, len(todo), _BLOCK):
            block = todo[start : start + _BLOCK]
            rows = self.scorer.score(block)
            found.update(zip(block, rows, strict=True))
            if self.cache:
                self.cache.put_many({keys[item]: pack(row) for item, row in zip(block, rows, strict=True)})
            progress(len(found), len(keys))
        return softmax(np.stack([found[item] for item in items]))

    def _stored(self, keys: dict[Item, str]) -> dict[Item, Vectors]:
        if not self.cache:
            return {}
        stored, width = self.cache.get_many(keys.values()), len(self.labels)
        rows = {item: unpack(stored[name]) for item, name in keys.items() if name in stored}
        return {item: row for item, row in rows.items() if row is not None and len(row) == width}


def _texts(item: str | tuple[str, str]) -> list[str]:
    return [item] if isinstance(item, str) else list(item)


def _length(item: str | tuple[str, str]) -> int:
    return sum(map(len, _texts(item)))


@dataclass(frozen=True)
class Entailment:
    """Pairs (premise, hypothesis) to the probabilities of `CLASSES`, by a classifier of pairs, or by one that reads
    both as one text with ``[SEP]`` between."""

    pairs: Classifier[tuple[str, str]] | None = None
    one_string: Classifier[str] | None = None

    @classmethod
    def of_pairs(cls, scorer: PairScorer, cache: Cache | None = None) -> Entailment:
        """By a classifier of pairs."""
        return cls(pairs=Classifier(scorer, cache))

    @classmethod
    def of_strings(cls, scorer: TextScorer, cache: Cache | None = None) -> Entailment:
        """By a classifier of single texts."""
        return cls(one_string=Classifier(scorer, cache))

    @property
    def name(self) -> str:
        """The model's name and digest."""
        return self._classifier.name

    def check(self) -> Entailment:
        """Itself. ModelError for a model without the three classes, before long work; the model is opened for it."""
        class_columns(self._classifier.labels, self.name)
        return self

    def __call__(self, pairs: Sequence[tuple[str, str]], progress: Progress = lambda _done, _total: None) -> Vectors:
        """Shape (pairs, 3), columns as `CLASSES`. ModelError for a model without these three labels."""
        columns = class_columns(self._classifier.labels, self.name)
        if self.pairs:
            return self.pairs(pairs, progress)[:, columns]
        texts = [f"{one}{JOINT}{other}" for one, other in pairs]
        return cast(Classifier[str], self.one_string)(texts, progress)[:, columns]

    @property
    def _classifier(self) -> Classifier[tuple[str, str]] | Classifier[str]:
        found = self.pairs or self.one_string
        if found is None:
            raise ValueError("a classifier is needed")
        return found


def class_columns(labels: Sequence[str], model: str) -> list[int]:
    """Where the model's labels hold `CLASSES`, in any case. ModelError for a model with other labels."""
    folded = [label.casefold() for label in labels]
    if sorted(folded) != sorted(CLASSES):
        raise ModelError(
            f"{model}: has the labels {', '.join(labels)}; the three classes {', '.join(CLASSES)} are needed: choose a "
            "model of entailment with three classes or, if it is one, name them under id2label in its config.json"
        )
    return [folded.index(name) for name in CLASSES]


@dataclass(frozen=True)
class ModelObligationDetector:
    """An `ObligationDetector` by a classifier of texts: the most likely label decides.

    The model has two labels, one of them ``obligation`` (also true, yes, 1 and LABEL_1), or those of `Label`.
    """

    classifier: Classifier[str]

    @property
    def name(self) -> str:
        """The model's name and digest."""
        return self.classifier.name

    def __call__(self, sentences: Sequence[str], progress: Progress = lambda _done, _total: None) -> list[Detection]:
        names = detection_labels(self.classifier.labels, self.name)
        place = names.index("obligation")
        rows = self.classifier(sentences, progress)
        return [Detection(names[int(row.argmax())], float(row[place])) for row in rows]


def detection_labels(labels: Sequence[str], model: str) -> list[Label]:
    """What each of the model's labels says of a sentence. ModelError where that cannot be told."""
    folded = [label.casefold() for label in labels]
    if "obligation" in folded and set(folded) <= _LABELS:
        return [cast(Label, label) for label in folded]
    places = [place for place, label in enumerate(folded) if label in _OBLIGATION]
    if len(labels) != 2 or len(places) != 1:
        raise ModelError(
            f"{model}: has the labels {', '.join(labels)}; expected two, one of them 'obligation' (or 1, true, yes, "
            "LABEL_1): name them under id2label in its config.json"
        )
    return ["obligation" if place == places[0] else "other" for place in range(2)]
