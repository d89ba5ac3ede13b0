"""The plots of an experiment, as SVG that is the same for the same results."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from responsa.errors import MissingDependency
from responsa.experiment.results import BY_GOLD, is_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Json = Mapping[str, Any]
_COLOURS = 10  # before they come round again


def plots(results: Json) -> dict[str, str]:
    """File name to SVG: recall by k and by number of gold passages, or the curve of a sweep; none where no row ran.

    MissingDependency without matplotlib.
    """
    done = [row for row in results["rows"] if row["state"] == "done"]
    if not done:
        return {}
    if results["table"]["sweep"]:
        sweep = results["table"]["sweep"]
        return {f"sweep-{name}.svg": by_row(done, name, sweep, slanted=False) for name in results["table"]["measures"]}
    drawn = {"recall-by-k.svg": _by_k(done, results["cuts"])}
    return drawn | ({"recall-by-gold.svg": _by_gold(done, results)} if any(map(is_count, results["questions"])) else {})


def _by_k(rows: list[Json], cuts: list[int]) -> str:
    with drawing("passages read (k)", "recall@k") as (figure, axes):
        for place, row in enumerate(rows):
            means = [row["means"]["all"][f"recall@{k}"]["mean"] for k in cuts]
            line = "-" if place < _COLOURS else "--"
            axes.plot(cuts, means, line, marker="o", markersize=3, label=row["label"])
        axes.set_xscale("log")
        axes.set_xticks(cuts, [str(k) for k in cuts])
        axes.minorticks_off()
        axes.legend(fontsize="small")
    return as_svg(figure)


def _by_gold(rows: list[Json], results: Json) -> str:
    counts = [group for group in results["questions"] if is_count(group)]
    with drawing("gold passages of the question", str(BY_GOLD)) as (figure, axes):
        for place, row in enumerate(rows):
            shift = (place - (len(rows) - 1) / 2) * 0.6 / len(rows)
            values = [row["means"][group][str(BY_GOLD)] for group in counts]
            _with_intervals(axes, [at + shift for at in range(len(counts))], values, row["label"], "o")
        axes.set_xticks(range(len(counts)), [f"{group}\n({results['questions'][group]:,})" for group in counts])
        axes.legend(fontsize="small")
    return as_svg(figure)


def by_row(rows: list[Json], measure: str, what: str = "", slanted: bool = True) -> str:
    """A measure of each row with its interval, published figures as crosses. MissingDependency without matplotlib."""
    with drawing(what, measure) as (figure, axes):
        values = [row["means"]["all"][measure] for row in rows]
        _with_intervals(axes, list(range(len(rows))), values, "here", "o" if slanted else "o-")
        printed = [(at, row["published"][measure]) for at, row in enumerate(rows) if measure in row["published"]]
        if printed:
            axes.plot(*zip(*printed, strict=True), "x", color="grey", label="published")
            axes.legend(fontsize="small")
        axes.set_xticks(range(len(rows)), [row["label"] for row in rows])
        for label in axes.get_xticklabels() if slanted else ():
            label.set(rotation=30, horizontalalignment="right", fontsize="small")
    return as_svg(figure)


def _with_intervals(axes: Axes, at: list[float], values: list[Json], label: str, form: str) -> None:
    means = [value["mean"] for value in values]
    below = [value["mean"] - value["low"] for value in values]
    above = [value["high"] - value["mean"] for value in values]
    axes.errorbar(at, means, yerr=[below, above], fmt=form, markersize=4, capsize=2, label=label)


@contextmanager
def drawing(x: str, y: str) -> Iterator[tuple[Figure, Axes]]:
    """A figure of its own: nothing of pyplot, no window, no settings of the user's."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependency("drawing plots", "plots") from error
    with mpl.rc_context():
        mpl.rcdefaults()
        figure = Figure(figsize=(6.4, 4.0), layout="constrained")
        axes = figure.subplots()
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        axes.grid(visible=True, alpha=0.3)
        yield figure, axes


def as_svg(figure: Figure) -> str:
    """Without a date, and with ids that do not change from run to run."""
    import matplotlib as mpl

    buffer = io.StringIO()
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update({"svg.hashsalt": "responsa", "svg.fonttype": "none"})
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()
