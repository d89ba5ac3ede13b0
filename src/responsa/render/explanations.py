"""Explanations of scores as one HTML page that needs nothing beside it: no script, no font, no address.

Answers, passages and ids are not trusted: see `responsa.render.html`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from responsa.entailment import THRESHOLD
from responsa.evaluate.explain import (
    LIKELY,
    ExplainedObligation,
    Explanation,
    Span,
    Verdict,
    weightiest,
)
from responsa.render.html import render

COLUMNS, ROWS = 40, 100  # of a heat map
MOST = 100  # answers of a file that are explained on the page
MARKS: dict[Verdict, str] = {"supported": "✓", "contradicted": "✗", "both": "±", "neither": "○"}
_STEPS = 5  # shades of support, and as many of contradiction


class Explained(NamedTuple):
    """A file of answers: its name, what made the scores, the explanations, and the reasons of questions without an
    answer by their ids."""

    name: str
    stamps: Mapping[str, str]
    explanations: Sequence[Explanation]
    unanswered: Mapping[str, str]


class Piece(NamedTuple):
    """A stretch of the answer, and the place of the sentence that it is; None between sentences."""

    text: str
    sentence: int | None


class Cell(NamedTuple):
    """A pair of sentences: the shade from `-_STEPS` (contradicts) to `_STEPS` (entails), percent, and both in words."""

    shade: str
    percent: str
    title: str


class HeatMap(NamedTuple):
    """The matrix of an answer: the places of the source sentences (columns) and of its own (rows), and each row."""

    columns: Sequence[int]
    rows: Sequence[int]
    cells: Sequence[Sequence[Cell]]


def page(files: Sequence[Explained]) -> str:
    """The page. Of a file with more than `MOST` answers those with the lowest composites are explained; all are
    listed."""
    return render(
        "explanations",
        files=[(file, chosen(file.explanations)) for file in files],
        marks=MARKS,
        threshold=THRESHOLD,
        likely=LIKELY,
        pieces=pieces,
        heat_map=heat_map,
        where=where,
        asked=asked,
    )


def chosen(explanations: Sequence[Explanation]) -> list[int]:
    """The places of the answers to explain, in order."""
    places = sorted(range(len(explanations)), key=lambda at: explanations[at].score.composite)
    return sorted(places[:MOST])


def pieces(explanation: Explanation) -> list[Piece]:
    """The answer from beginning to end, sentence by sentence."""
    stretches = sorted((span, at) for at, each in enumerate(explanation.sentences) for span in each.spans)
    found, end = [], 0
    for (start, stop), at in stretches:
        found += [Piece(explanation.answer[end:start], None), Piece(explanation.answer[start:stop], at)]
        end = stop
    found.append(Piece(explanation.answer[end:], None))
    return [piece for piece in found if piece.text]


def heat_map(explanation: Explanation) -> HeatMap:
    """Entailment minus contradiction of each pair. Of more than `COLUMNS` source sentences the weightiest, of more than
    `ROWS` sentences of the answer the first."""
    columns, rows = weightiest(explanation, COLUMNS), range(min(len(explanation.sentences), ROWS))
    return HeatMap(columns, rows, [[_cell(explanation, row, column) for column in columns] for row in rows])


def _cell(explanation: Explanation, row: int, column: int) -> Cell:
    entails, contradicts = float(explanation.entails[row, column]), float(explanation.contradicts[row, column])
    value = entails - contradicts
    step, percent = round(value * _STEPS), round(value * 100)
    title = f"A{row + 1} by S{column + 1}: entailed {entails:.2f}, contradicted {contradicts:.2f}"
    shade = f"e{step}" if step > 0 else f"c{-step}" if step < 0 else "z"
    return Cell(shade, f"{percent}".replace("-", "−") if step else "", title)


def where(spans: Sequence[Span], explanation: Explanation) -> str:
    """Passage and characters, in words."""
    return "; ".join(f"{explanation.ids[span.passage]}, characters {span.start}-{span.end}" for span in spans)


def asked(obligation: ExplainedObligation, explanation: Explanation) -> str:
    """Which sentences of the answer were asked about an obligation, in words."""
    if not explanation.may_cover:
        return "no sentence of the answer may cover it"
    if len(obligation.asked) == len(explanation.may_cover):
        return "all sentences that may cover it were asked"
    names = ", ".join(f"A{at + 1}" for at in obligation.asked)
    return f"asked: {names}; the other {len(explanation.may_cover) - len(obligation.asked)} were not"
