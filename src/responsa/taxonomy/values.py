"""The values that the parts of an assessment hand on. All are frozen.

An `Activity` has a tree of `Criterion`; retrieval finds `Evidence` for its leaves; the number check compares
`Figure` of the report with `Threshold`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from responsa.types import Box

Objective = Literal["CCM", "CCA", "WTR", "CE", "PPC", "BIO"]
Logic = Literal["all", "any", "at_least"]
Operator = Literal["<", "<=", "=", ">=", ">"]
Verdict = Literal["aligned", "not_aligned", "insufficient"]
Role = Literal["supports", "contradicts", "context", "trap_future", "trap_other_year"]
Comparison = Literal["meets", "misses", "not_comparable"]


@dataclass(frozen=True, slots=True)
class Threshold:
    """A number that a criterion asks for: ``metric`` ``op`` ``value`` ``unit``, between the dates (inclusive).

    ``unit`` is the criterion's own ("gCO2/km", "MW", "" for a bare number); `quantities.units.unit_of_measure` reads
    it. ``condition`` says when it applies other than by date (size, use, baseline), in the words of the act. ``scope``:
    the number says to what the criterion applies ("buildings larger than 5000 m2"), it is nothing to be met. Classes A,
    B, C are 1, 2, 3 of unit "class".
    """

    metric: str
    op: Operator
    value: float
    unit: str
    valid_from: date | None = None
    valid_to: date | None = None
    condition: str = ""
    scope: bool = False


@dataclass(frozen=True, slots=True)
class Criterion:
    """A requirement, or several joined by ``logic`` (``at_least``: so many of them, ``count``).

    ``id`` is unique in the activity and the same in all outputs: ``SC 1(a)``, ``DNSH CCA``; ``number`` is as printed.
    ``text`` is its own words without those of its parts. A leaf has no ``parts``.
    """

    id: str
    number: str
    text: str
    logic: Logic = "all"
    count: int = 0
    parts: tuple[Criterion, ...] = ()
    thresholds: tuple[Threshold, ...] = ()
    valid_from: date | None = None
    valid_to: date | None = None
    condition: str = ""


@dataclass(frozen=True, slots=True)
class Activity:
    """An economic activity for one objective, as an act has it from ``valid_from``.

    ``id`` is as people write it: ``CCM 6.5``. ``kind`` tells enabling and transitional activities from others.
    ``dnsh`` by objective. ``source`` names the act and its date. ``notes`` are the footnotes, in their order.
    """

    id: str
    objective: Objective
    number: str
    name: str
    sector: str
    description: str
    nace: tuple[str, ...]
    substantial_contribution: Criterion
    dnsh: Mapping[Objective, Criterion] = field(default_factory=dict)
    kind: Literal["", "enabling", "transitional"] = ""
    source: str = ""
    valid_from: date | None = None
    valid_to: date | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """A chunk of the report found for a criterion: page from 1, ``start`` and ``end`` in the stored passage text.

    ``score`` is on the recipe's scale, higher is nearer. ``criterion`` is the id of the criterion that found it best.
    """

    page: int
    text: str
    criterion: str
    score: float
    passage_id: str
    start: int
    end: int
    boxes: tuple[Box, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its unit as the report states it. ``value`` and ``unit`` are normalised; ``quote`` is as printed.

    ``year`` is the financial year it is about, None where the text does not say. ``role`` tells a fact of the year
    from a target or another year's. ``header`` holds the column and row heads of a table cell. ``printed`` counts
    ``printed_unit``, as in the report ("12.8", "EUR billion"); ``bound`` is "at least", "at most", "more than",
    "less than", "about" or "".
    """

    value: float
    unit: str
    quote: str
    page: int
    metric: str = ""
    year: int | None = None
    role: Role = "supports"
    header: tuple[str, ...] = ()
    printed: float | None = None
    printed_unit: str = ""
    bound: str = ""


@dataclass(frozen=True, slots=True)
class NumberCheck:
    """A figure of the report beside a threshold of a criterion. ``reason`` says why they cannot be compared."""

    criterion: str
    threshold: Threshold
    figure: Figure
    outcome: Comparison
    reason: str = ""
