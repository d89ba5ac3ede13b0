"""What a generator checks its own answers with: RePASs of one answer, and of each sentence what it adds and spoils.

The arithmetic is that of `responsa.entailment`. The models are named by the recipe and are not those that judge the
finished answers: an answer chosen by its judge is not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from responsa.checkers import load_detector, load_entailment
from responsa.entailment import (
    PROTOCOLS,
    Components,
    EntailmentModel,
    Matrix,
    Pair,
    ScoringProtocol,
    components,
    covered,
    order_of_trial,
    shared_words,
    strongest,
)
from responsa.text import folded, words
from responsa.types import ObligationDetector


@dataclass(frozen=True)
class Verifier:
    """The models of a check. ``nli`` is for entailment and contradiction, ``coverage`` for obligations; ``protocol``
    says how one answer is scored. For each sentence of an answer ``nli`` is asked of the ``nearest`` sentences of the
    sources, those that share most words with it; 0 is all. What is not asked counts as 0."""

    nli: EntailmentModel
    coverage: EntailmentModel
    detector: ObligationDetector
    protocol: ScoringProtocol = field(default=PROTOCOLS["strict"])
    nearest: int = 0

    def against(self, sources: Sequence[str]) -> Against:
        """What scores answers against the sentences of the sources."""
        sources = _once(sources) if self.protocol.once else list(sources)
        found = self.detector(sources)
        duties = [text for text, each in zip(sources, found, strict=True) if each.label == "obligation"]
        return Against(self, sources, duties)


@dataclass(frozen=True)
class Measured:
    """An answer's score and, in the order of its sentences, the highest probability that a source contradicts each.

    ``covers`` has a row for each sentence and a column for each obligation; 0 in the row of one that may not cover.
    """

    score: Components
    contradictions: npt.NDArray[np.float64]
    covers: Matrix

    @property
    def covering(self) -> npt.NDArray[np.bool_]:
        """Which sentences cover an obligation."""
        return covered(self.covers.T)

    @property
    def missing(self) -> list[int]:
        """The obligations that no sentence covers."""
        return [place for place, known in enumerate(covered(self.covers)) if not known]


@dataclass(frozen=True)
class Against:
    """Scores answers against one set of sources. Each pair of sentences is asked once. For one question: not for
    threads."""

    verifier: Verifier
    sources: list[str]
    obligations: list[str]
    known: dict[tuple[str, Pair], npt.NDArray[np.float64]] = field(default_factory=dict)
    binds: dict[str, bool] = field(default_factory=dict)

    def __call__(self, sentences: Sequence[str]) -> Measured:
        """The score of an answer of these sentences, which may be none."""
        table = self._table(sentences)
        covers = self._covers(sentences)
        may = [row for row, text in enumerate(sentences) if self._may_cover(text)]
        columns = self._counted(sentences)
        score = components(
            self.verifier.protocol,
            table[:, columns, 0],
            table[:, columns, 2],
            covers[may],
        )
        return Measured(score, strongest(table[:, :, 2]), covers)

    def covers(self, sentences: Sequence[str], obligation: str) -> float:
        """The highest probability that a sentence that may cover entails the obligation; 0 for none."""
        pairs = [(text, obligation) for text in sentences if self._may_cover(text)]
        return float(self._asked("coverage", pairs)[:, 0].max(initial=0.0))

    def may_be_covered(self, obligation: str) -> bool:
        """Whether the detector calls the text as a whole an obligation."""
        return self._binds([obligation])[0]

    def only(self, sentences: Sequence[str]) -> None:
        """Forget what was asked of other sentences: candidates that were not taken."""
        kept = set(sentences)
        for key in [key for key in self.known if kept.isdisjoint(key[1])]:
            del self.known[key]

    def _table(self, sentences: Sequence[str]) -> Matrix:
        """Shape (sources, sentences, 3)."""
        table = np.zeros((len(self.sources), len(sentences), 3))
        places = [(row, column) for column, rows in enumerate(self._near(sentences)) for row in rows]
        found = self._asked("nli", [(self.sources[row], sentences[column]) for row, column in places])
        for (row, column), values in zip(places, found, strict=True):
            table[row, column] = values
        return table

    def _near(self, sentences: Sequence[str]) -> list[Sequence[int]]:
        """For each sentence the sources that are asked."""
        most = self.verifier.nearest
        if not 0 < most < len(self.sources):
            return [range(len(self.sources)) for _ in sentences]
        shared = shared_words(self._words, [frozenset(words(text)) for text in sentences])
        return [order[:most].tolist() for order in order_of_trial(shared)]

    @cached_property
    def _words(self) -> list[frozenset[str]]:
        return [frozenset(words(text)) for text in self.sources]

    def _covers(self, sentences: Sequence[str]) -> Matrix:
        table = np.zeros((len(sentences), len(self.obligations)))
        self._binds(sentences)
        rows = [row for row, text in enumerate(sentences) if self._may_cover(text)]
        pairs = [(sentences[row], duty) for row in rows for duty in self.obligations]
        table[rows] = self._asked("coverage", pairs)[:, 0].reshape(len(rows), len(self.obligations))
        return table

    def _may_cover(self, text: str) -> bool:
        return not self.verifier.protocol.obligations_cover or self._binds([text])[0]

    def _binds(self, texts: Sequence[str]) -> list[bool]:
        new = [text for text in dict.fromkeys(texts) if text not in self.binds]
        if new and self.verifier.protocol.obligations_cover:
            self.binds.update(
                (text, found.label == "obligation")
                for text, found in zip(new, self.verifier.detector(new), strict=True)
            )
        return [self.binds.get(text, True) for text in texts]

    def _counted(self, sentences: Sequence[str]) -> list[int]:
        if not self.verifier.protocol.once:
            return list(range(len(sentences)))
        places: dict[str, int] = {}
        for place, text in enumerate(sentences):
            places.setdefault(folded(text), place)
        return list(places.values())

    def _asked(self, which: str, pairs: Sequence[Pair]) -> Matrix:
        model = self.verifier.nli if which == "nli" else self.verifier.coverage
        todo = [pair for pair in dict.fromkeys(pairs) if (which, pair) not in self.known]
        if todo:
            rows = np.asarray(model(todo), dtype=np.float64)
            self.known.update(((which, pair), row) for pair, row in zip(todo, rows, strict=True))
        return np.stack([self.known[which, pair] for pair in pairs]) if pairs else np.zeros((0, 3))


def _once(texts: Sequence[str]) -> list[str]:
    """Those with a letter, each wording as it comes first."""
    known: dict[str, str] = {}
    for text in texts:
        if any(map(str.isalpha, text)):
            known.setdefault(folded(text), text)
    return list(known.values())


def load_verifier(nli: str, coverage: str, obligations: str, protocol: ScoringProtocol) -> Verifier:
    """The verifier of models by their names; ``coverage`` "" is ``nli`` too. What they answer is kept in the cache."""
    first = load_entailment(nli)
    second = first
    if protocol.one_string:
        second = load_entailment(coverage or nli, one_string=True)
    elif coverage not in ("", nli):
        second = load_entailment(coverage)
    return Verifier(first, second, load_detector(obligations), protocol)
