"""BERTScore: each token of one text with the most similar token of the other, in context (Zhang et al., 2020).

The arithmetic of the package bert-score (its last release is of 2023 and asks for pandas and matplotlib), without
rescaling by a baseline: marks such as [CLS] may be the most similar token, but have no weight of their own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from responsa.cache import Cache, key, pack, unpack
from responsa.models.contextual import ContextualEncoder, TokenVectors, load_contextual
from responsa.models.options import Table, fields, flag, split
from responsa.text import digest

_KIND, _VERSION = "bertscore", 1
_BLOCK = 64  # pairs between two writes to the cache
_UNSEEN = -1  # stands for a token that no reference holds
_OWN: Table = {"idf": ("idf", flag)}
Weights = npt.NDArray[np.float64]


class Overlap(NamedTuple):
    """How much of the candidate is in the reference (precision), of the reference in the candidate (recall), and
    their harmonic mean."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True)
class BertScore:
    """BERTScore by one model. ``idf`` weights tokens by their inverse document frequency in the references
    (section 3, importance weighting). ``cache`` None keeps nothing."""

    encoder: ContextualEncoder
    idf: bool = False
    cache: Cache | None = None

    @property
    def name(self) -> str:
        """The model's name and digest, and whether tokens are weighted."""
        return f"{self.encoder.name}{', idf' if self.idf else ''}"

    def __call__(
        self,
        candidates: Sequence[str],
        references: Sequence[str],
        progress: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> list[Overlap]:
        """For each candidate and its reference. What was found is kept, so that a second time asks no model."""
        pairs = list(zip(candidates, references, strict=True))
        unique = list(dict.fromkeys(pairs))
        made_of = {"model": self.name, "references": digest(sorted(references)) if self.idf else ""}
        keys = {pair: key(_KIND, _VERSION, {**made_of, "texts": list(pair)}) for pair in unique}
        found = self._stored(keys)
        todo = [pair for pair in unique if pair not in found]
        weights = self._frequencies(references) if self.idf and todo else None
        progress(len(found), len(unique))
        for start in range(0, len(todo), _BLOCK):
            block = todo[start : start + _BLOCK]
            texts = sorted({text for pair in block for text in pair})
            told = dict(zip(texts, self.encoder.encode(texts), strict=True))
            made = {pair: overlap(told[pair[0]], told[pair[1]], weights) for pair in block}
            if self.cache:
                self.cache.put_many({keys[pair]: pack(each) for pair, each in made.items()})
            found.update(made)
            progress(len(found), len(unique))
        return [found[pair] for pair in pairs]

    def _frequencies(self, references: Sequence[str]) -> dict[int, float]:
        """log((N + 1) / (n + 1)) of each token, n of the N references holding it; a reference counts as often as it is
        given."""
        times = Counter(references)
        counts: Counter[int] = Counter()
        for text, encoded in zip(times, self.encoder.encode(list(times)), strict=True):
            counts.update(dict.fromkeys(encoded.ids.tolist(), times[text]))
        total = len(references) + 1
        return {_UNSEEN: math.log(total), **{token: math.log(total / (count + 1)) for token, count in counts.items()}}

    def _stored(self, keys: dict[tuple[str, str], str]) -> dict[tuple[str, str], Overlap]:
        if not self.cache:
            return {}
        stored = self.cache.get_many(keys.values())
        rows = {pair: unpack(stored[name]) for pair, name in keys.items() if name in stored}
        return {pair: Overlap(*map(float, row)) for pair, row in rows.items() if row is not None and len(row) == 3}


def overlap(candidate: TokenVectors, reference: TokenVectors, weights: Mapping[int, float] | None = None) -> Overlap:
    """Greedy matching (equations 1 to 3 of the paper); ``weights`` None counts every token alike.

    All 0 where a text has no token, or none with a weight.
    """
    similar = candidate.vectors.astype(np.float64) @ reference.vectors.astype(np.float64).T
    own, theirs = _weights(candidate, weights), _weights(reference, weights)
    if not own.sum() or not theirs.sum():
        return Overlap(0.0, 0.0, 0.0)
    precision = float(own @ similar.max(axis=1) / own.sum())
    recall = float(theirs @ similar.max(axis=0) / theirs.sum())
    total = precision + recall
    return Overlap(*map(_single, (precision, recall, 2 * precision * recall / total if total else 0.0)))


def _single(value: float) -> float:
    """In single precision, as the cache keeps it, and at most 1."""
    return float(np.float32(min(value, 1.0)))


def load_bertscore(name: str, cache: Cache | None = None) -> BertScore:
    """BERTScore by the model of that name, with ``idf=yes`` among its settings if tokens are to be weighted."""
    model, options = split(name)
    own = {setting: value for setting, value in options.items() if setting in _OWN}
    others = "&".join(f"{setting}={value}" for setting, value in options.items() if setting not in _OWN)
    encoder = load_contextual(f"{model}?{others}" if others else model)
    return BertScore(encoder, cast(bool, fields(own, _OWN).get("idf", False)), cache)


def _weights(text: TokenVectors, weights: Mapping[int, float] | None) -> Weights:
    """A weight for each token. One that stands in no reference weighs as much as the rarest could."""
    if weights is None:
        return np.asarray(~text.marks, dtype=np.float64)
    row = [weights.get(int(token), weights[_UNSEEN]) for token in text.ids]
    return np.where(text.marks, 0.0, np.asarray(row, dtype=np.float64))
