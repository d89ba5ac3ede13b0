"""Numbers with units in legal English: money, percentages, ratios, durations, dates, deadlines and frequencies.

Everything is found by offset in the text as given and normalised beside it; what cannot be normalised exactly ("10
business days" as a duration of ISO 8601, "promptly") keeps its place and its unit and gets no value. A number without a
unit is no quantity, so that numbers of articles, acts and tables are none. Linear in the length of the text.

Reports of companies write otherwise: `measures` finds their numbers with units and brings them to normal units,
`counts` what is counted in words, `figure` and `stated` read a number alone, by the `decimal_mark` of the document.
"""

from __future__ import annotations

from responsa.quantities.amounts import Quantity, QuantityKind, amounts, dates, duration, number
from responsa.quantities.counts import counts
from responsa.quantities.figures import decimal_mark, figure, stated
from responsa.quantities.measures import Measure, measures
from responsa.quantities.timing import deadlines, frequencies
from responsa.quantities.units import Unit, unit_of_measure

__all__ = [
    "Measure", "Quantity", "QuantityKind", "Unit", "counts", "decimal_mark", "duration", "figure", "measures", "number",
    "quantities", "stated", "unit_of_measure",
]  # fmt: skip


def quantities(text: str) -> tuple[Quantity, ...]:
    """The quantities of a text in its order.

    A duration or a date that is part of a deadline or of a frequency stands in that and not for itself; the words for
    the event of a deadline may hold quantities of their own.
    """
    everything = [*amounts(text), *dates(text), *deadlines(text), *frequencies(text)]
    found: list[Quantity] = []
    end = 0
    for each in sorted(everything, key=lambda each: (each.start, -each.end)):
        if each.start >= end:
            found.append(each)
            end = max(each.start + 1, each.anchor[0]) if each.anchor else each.end
    return tuple(found)
