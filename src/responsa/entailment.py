"""RePASs as arithmetic: entailment, contradiction, obligation coverage and their composite from matrices of
probabilities (RIRAG, section 4). Pure numpy; no model, no text.

Three protocols. ``reference`` is the published script: everything joined and counted as it comes, only obligation
sentences of the answer may cover, components rounded before they are put together. ``paper`` follows the printed
formulas: every answer sentence may cover, nothing is rounded. ``strict`` adds what both leave open: passages apart,
each sentence once, a value for every edge case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from responsa.errors import InputError, suggestion

Matrix = npt.NDArray[np.float64]
Pair = tuple[str, str]  # premise, hypothesis
Name = Literal["reference", "paper", "strict"]
THRESHOLD = 0.7  # an obligation is covered where an answer sentence entails it with more than this

NO_SOURCE = "no source sentence"
NO_OBLIGATION = "no obligation in the sources"
NO_SENTENCE = "no sentence in the answer"


class EntailmentModel(Protocol):
    """Pairs (premise, hypothesis) to the probabilities of entailment, neutral and contradiction, a row each."""

    @property
    def name(self) -> str: ...

    def __call__(self, pairs: Sequence[Pair]) -> npt.NDArray[np.float32]: ...


@dataclass(frozen=True, slots=True)
class ScoringProtocol:
    """How one answer is scored.

    ``splitter``: Punkt's sentences, or legal-aware ones. ``joined``: the passages are one text, joined with a space.
    ``once``: a repeated sentence counts once, a sentence without a letter not at all. ``obligations_cover``: of the
    answer only obligation sentences may cover. ``one_string``: coverage is read from ``answer [SEP] obligation`` as a
    single text, not from a pair. ``digits``: E, C and the composite are rounded to these; None for no rounding.
    ``unanswered``: what becomes of questions without an answer, unless told otherwise.
    """

    name: Name
    splitter: Literal["punkt", "legal"]
    joined: bool
    once: bool
    obligations_cover: bool
    one_string: bool
    digits: int | None
    unanswered: Literal["zero", "skip"]


PROTOCOLS: dict[str, ScoringProtocol] = {
    "reference": ScoringProtocol("reference", "punkt", True, False, True, True, 5, "skip"),
    "paper": ScoringProtocol("paper", "punkt", False, False, False, False, None, "skip"),
    "strict": ScoringProtocol("strict", "legal", False, True, False, False, None, "zero"),
}


@dataclass(frozen=True, slots=True)
class Components:
    """The parts of one answer's score, each from 0 to 1. ``coverage`` is None where it has no meaning; ``reason`` says
    which edge case was met, empty for none."""

    entailment: float
    contradiction: float
    coverage: float | None
    composite: float
    reason: str = ""


def protocol(name: str) -> ScoringProtocol:
    """The protocol of that name; InputError that names the nearest."""
    if name not in PROTOCOLS:
        raise InputError(f"unknown protocol {name!r}{suggestion(name, PROTOCOLS)}")
    return PROTOCOLS[name]


def strongest(matrix: Matrix) -> Matrix:
    """For each answer sentence (column) the highest value over the source sentences (rows); 0 without a row."""
    return np.asarray(matrix.max(axis=0, initial=0.0))


def mean_strongest(matrix: Matrix, digits: int | None = None) -> float:
    """The mean over answer sentences of `strongest` (equations 1 and 2); 0.0 for an empty matrix."""
    if matrix.size == 0:
        return 0.0
    mean = np.mean(strongest(matrix))
    return float(mean if digits is None else np.round(mean, digits))


def covered(matrix: Matrix, threshold: float = THRESHOLD) -> npt.NDArray[np.bool_]:
    """Which obligations (columns) some answer sentence (row) entails with more than the threshold."""
    return np.asarray(strongest(matrix) > threshold)


def coverage(matrix: Matrix, threshold: float = THRESHOLD) -> float | None:
    """The share of obligations that are covered (equation 3); None where there is no obligation."""
    found = covered(matrix, threshold)
    return None if found.size == 0 else int(found.sum()) / found.size


def compose(
    entailment: float, contradiction: float, coverage: float | None, digits: int | None = None, *, exclude: bool = False
) -> float:
    """(E - C + OC + 1) / 3 (equation 4), from 0 to 1.

    A coverage of None counts as 0; with ``exclude`` it is left out instead: (E - C + 1) / 2.
    """
    if coverage is None and exclude:
        total, parts = entailment - contradiction + 1, 2
    else:  # in the order in which the published script adds, for the last bit
        total, parts = (coverage or 0.0) + entailment - contradiction + 1, 3
    return float(total / parts if digits is None else np.round(total / parts, digits))


def components(protocol: ScoringProtocol, entails: Matrix, contradicts: Matrix, covers: Matrix) -> Components:
    """One answer's score.

    ``entails`` and ``contradicts`` have a row for each source sentence and a column for each answer sentence;
    ``covers`` a row for each answer sentence that may cover and a column for each obligation of the sources.

    Edge cases. No source obligation: coverage None; ``reference`` and ``paper`` count it as 0, ``strict`` takes
    (E - C + 1) / 2. No source sentence: E = C = 0, coverage None; ``reference`` and ``paper`` give 1/3 (where the
    published script dies), ``strict`` 0: nothing supports the answer. No answer sentence that may cover: coverage 0.
    No answer sentence: E = C = 0; ``strict`` gives 0. ValueError where the matrices do not fit together.
    """
    if entails.shape != contradicts.shape:
        raise ValueError(f"entails has shape {entails.shape}, contradicts {contradicts.shape}; they must be alike")
    for matrix in (entails, contradicts, covers):
        if matrix.size and not (matrix.min() >= 0 and matrix.max() <= 1):
            raise ValueError("a probability is not between 0 and 1")
    sources, answers = entails.shape
    one = mean_strongest(entails, protocol.digits)
    other = mean_strongest(contradicts, protocol.digits)
    part = coverage(covers) if sources else None
    reason = NO_SENTENCE if not answers else NO_SOURCE if not sources else NO_OBLIGATION if part is None else ""
    if protocol.once and reason in (NO_SENTENCE, NO_SOURCE):
        return Components(one, other, part, 0.0, reason)
    composite = compose(one, other, part, protocol.digits, exclude=protocol.once)
    return Components(one, other, part, composite, reason)


def summac_zs(entails: Matrix, contradicts: Matrix) -> float | None:
    """SummaC-ZS (Laban et al., 2022) from the matrices of `components`: for each answer sentence the highest
    probability of entailment less the highest of contradiction, and their mean, from -1 to 1; None for no sentence.

    That is the form its authors' package takes by default, and E - C without rounding.
    """
    return float(np.mean(strongest(entails) - strongest(contradicts))) if entails.shape[1] else None


def order_of_trial(shared: Matrix) -> list[npt.NDArray[np.intp]]:
    """For each obligation (column) the answer sentences (rows), most words shared first: those that may cover are then
    found with few questions to a model. Ties in the order of the answer."""
    return [np.argsort(-column, kind="stable") for column in shared.T]


def shared_words(rows: Sequence[frozenset[str]], columns: Sequence[frozenset[str]]) -> Matrix:
    """Jaccard's index of each pair of word sets, shape (rows, columns); 0 for two empty ones."""
    table = np.zeros((len(rows), len(columns)))
    for row, one in enumerate(rows):
        for column, other in enumerate(columns):
            union = len(one | other)
            table[row, column] = len(one & other) / union if union else 0.0
    return table
