"""Plots of ratings from 1 to 4, as SVG that is the same for the same ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from responsa.experiment.plots import as_svg, drawing

_RATINGS = (1, 2, 3, 4)
_LIGHT = 0.5  # share of the largest count below which its figure is written in black


def confusion(matrix: Sequence[Sequence[int]], first: str, second: str) -> str:
    """Counts of each pair of ratings: those of ``first`` upwards, those of ``second`` to the right.

    MissingDependency without matplotlib.
    """
    with drawing(second, first) as (figure, axes):
        axes.grid(visible=False)
        axes.imshow(matrix, cmap="Blues", origin="lower", vmin=0)
        most = max(max(row) for row in matrix)
        for row, counts in enumerate(matrix):
            for column, count in enumerate(counts):
                colour = "white" if count > _LIGHT * most else "black"
                axes.text(column, row, str(count), ha="center", va="center", color=colour)
        axes.set_xticks(range(len(matrix)), [str(rating) for rating in _RATINGS])
        axes.set_yticks(range(len(matrix)), [str(rating) for rating in _RATINGS])
    return as_svg(figure)


def counts(approaches: Mapping[str, Sequence[int]]) -> str:
    """How many answers of each approach were rated 1 to 4, side by side. MissingDependency without matplotlib."""
    with drawing("rating", "answers") as (figure, axes):
        width = 0.8 / max(1, len(approaches))
        for place, (name, counted) in enumerate(approaches.items()):
            shift = (place - (len(approaches) - 1) / 2) * width
            axes.bar([rating + shift for rating in _RATINGS], counted, width, label=name or "answers")
        axes.set_xticks(_RATINGS)
        axes.legend(fontsize="small")
    return as_svg(figure)
