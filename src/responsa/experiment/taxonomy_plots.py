"""Figures 8.1 to 8.10 of the EU Taxonomy thesis (2024), as SVG that is the same for the same results.

What was not run has no bar and says so; what the text of the thesis prints is a grey cross.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from responsa.experiment.plots import as_svg, drawing
from responsa.taxonomy.evaluation.retrieval import Cut, Scores
from responsa.taxonomy.evaluation.tables import NOT_RUN, published

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH = 0.4
_WIDE = 0.9  # inches for each bar of a figure with many
_LIGHT = 0.5  # share of the largest count above which its figure is written in white


def bars(scores: Mapping[str, Scores], recipes: Sequence[str]) -> str:
    """mAP and mAR of recipes side by side (figures 8.1 to 8.5). MissingDependency without matplotlib."""
    printed = published()["recall"]
    with drawing("recipe", "mean over rows") as (figure, axes):
        figure.set_size_inches(max(6.4, _WIDE * len(recipes)), 4.0)
        ran = [(at, scores[name]) for at, name in enumerate(recipes) if name in scores]
        _bars(axes, [at for at, _ in ran], [each.precision for _, each in ran], [each.recall for _, each in ran])
        told = [(at + _WIDTH / 2, printed[name]) for at, name in enumerate(recipes) if name in printed]
        if told:
            axes.plot(*zip(*told, strict=True), "x", color="grey", label="mAR, published")
        labels = [_label(name, scores) for name in recipes]
        axes.set_xticks(range(len(recipes)), labels, fontsize="small")
        axes.set_xlim(-0.6, len(recipes) - 0.4)
        axes.set_ylim(0, 1.05)
        axes.legend(fontsize="small")
    return as_svg(figure)


def _label(name: str, scores: Mapping[str, Scores]) -> str:
    return f"{_plain(name)}\n{scores[name].documents:.1f} chunks" if name in scores else f"{name}\n{NOT_RUN}"


def _plain(name: str) -> str:
    """A name from a file, no formula."""
    return name.replace("$", r"\$")


def _bars(axes: Axes, at: Sequence[int], precision: Sequence[float], recall: Sequence[float]) -> None:
    for shift, values, label in ((-_WIDTH / 2, precision, "mAP"), (_WIDTH / 2, recall, "mAR")):
        places = [each + shift for each in at]
        axes.bar(places, values, _WIDTH, label=label)
        for place, value in zip(places, values, strict=True):
            axes.text(place, value + 0.01, f"{value:.2f}", ha="center", va="bottom", fontsize="x-small")


def udr(matrix: Mapping[str, Mapping[str, int]]) -> str:
    """The UDR matrix (figure 8.6). MissingDependency without matplotlib."""
    names = list(matrix)
    counts = [[matrix[a][b] for b in names] for a in names]
    with drawing("not found by", "found by") as (figure, axes):
        size = max(4.8, 0.7 * len(names) + 1.6)
        figure.set_size_inches(size, size)
        axes.grid(visible=False)
        most = max(max(row) for row in counts)
        axes.imshow(counts, cmap="Blues", vmin=0, vmax=max(most, 1))
        for row, own in enumerate(counts):
            for column, count in enumerate(own):
                colour = "white" if count > _LIGHT * most else "black"
                axes.text(column, row, str(count), ha="center", va="center", color=colour)
        labels = [_plain(name) for name in names]
        axes.set_xticks(range(len(names)), labels, rotation=45, ha="right")
        axes.set_yticks(range(len(names)), labels)
    return as_svg(figure)


def sweep(name: str, cuts: Sequence[Cut]) -> str:
    """mAP above and mAR below at each filter threshold, with the chunks for a row and UDR lost under each bar (figures
    8.7 to 8.10). MissingDependency without matplotlib."""
    printed = {float(at): value for at, value in published()["sweeps"].get(name, {}).get("recall", {}).items()}
    places = range(len(cuts))
    with drawing("", "mAP") as (figure, upper):
        figure.set_size_inches(max(6.4, _WIDE * len(cuts)), 6.4)
        upper.remove()
        upper, lower = figure.subplots(2, sharex=True)
        parts = (
            (upper, "mAP", [cut.scores.precision for cut in cuts]),
            (lower, "mAR", [cut.scores.recall for cut in cuts]),
        )
        for axes, label, values in parts:
            axes.bar(places, values, 0.7)
            axes.set_ylabel(label)
            axes.set_ylim(0, 1.05)
            axes.grid(visible=True, alpha=0.3)
            for at, value in enumerate(values):
                axes.text(at, value + 0.01, f"{value:.2f}", ha="center", va="bottom", fontsize="x-small")
        told = [(at, printed[cut.threshold]) for at, cut in enumerate(cuts) if cut.threshold in printed]
        if told:
            lower.plot(*zip(*told, strict=True), "x", color="grey", label="published")
            lower.legend(fontsize="small")
        labels = [f"{cut.threshold:g}\n{cut.scores.documents:.1f}\n{cut.lost:.2f}" for cut in cuts]
        lower.set_xticks(places, labels, fontsize="small")
        lower.set_xlabel("filter threshold, chunks for a row, UDR lost for a row")
    return as_svg(figure)


def counts(titles: Mapping[str, Mapping[str, int]], x: str, y: str = "generations") -> str:
    """Counts of several methods side by side, by the same keys. MissingDependency without matplotlib."""
    with drawing(x, y) as (figure, axes):
        width = 0.8 / max(1, len(titles))
        for place, (name, counted) in enumerate(titles.items()):
            shift = (place - (len(titles) - 1) / 2) * width
            axes.bar([at + shift for at in range(len(counted))], list(counted.values()), width, label=name)
            axes.set_xticks(range(len(counted)), list(counted))
        axes.legend(fontsize="small")
    return as_svg(figure)
