"""Knowing when there is no answer: confidence on dev questions against questions on another regulator's rules.

Neither set was used to fit the weights of the shipped confidence. Writes the risk-coverage curve and its table.
"""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from benchmarks import data, likeness
from benchmarks.report import ROOT, Row, grid
from responsa import questions
from responsa.engine import Engine
from responsa.storage import write_text
from responsa.types import Query

_PAGE = ROOT / "docs" / "abstention.md"
_CURVE = ROOT / "docs" / "abstention.svg"
_THRESHOLDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_TARGET = 0.85
_RESAMPLES = 10_000
Values = npt.NDArray[np.float64]


def measure(engine: Engine) -> Row:
    """AUROC with its 95 % bootstrap interval; the page and the curve are written beside the other documents."""
    tested, _ = data.held_from_fitting()
    inside = _confidence(engine, tested)
    outside = _confidence(engine, questions.read(data.OTHER_REGULATOR))
    area, (low, high) = auroc(inside, outside), _interval(inside, outside)
    least = engine.recipe.abstain.least
    write_text(_curve(inside, outside, least), _CURVE)
    write_text(_page(inside, outside, least, f"{area:.3f} [{low:.3f} {high:.3f}]"), _PAGE)
    return Row(
        f"abstention, {len(inside)} dev questions against {len(outside)} of another regulator: AUROC",
        f"{area:.3f} [{low:.3f} {high:.3f}]; risk-coverage curve in [abstention.md](abstention.md)",
        f"at least {_TARGET}",
        area >= _TARGET,
        {"auroc": area, "low": low, "high": high},
    )


def _confidence(engine: Engine, asked: Sequence[Query]) -> Values:
    return np.array([answer.confidence for answer in engine.ask(asked)])


def auroc(inside: Values, outside: Values) -> float:
    """The chance that a question of the library has more confidence than one that is not; a tie counts half."""
    ahead = inside[:, None] - outside[None, :]
    return float(((ahead > 0) + 0.5 * (ahead == 0)).mean())


def _interval(inside: Values, outside: Values) -> tuple[float, float]:
    generator = np.random.default_rng(0)
    areas = [
        auroc(generator.choice(inside, len(inside)), generator.choice(outside, len(outside))) for _ in range(_RESAMPLES)
    ]
    low, high = np.percentile(areas, [2.5, 97.5])
    return float(low), float(high)


def _curve(inside: Values, outside: Values, least: float) -> str:
    """Risk over coverage as SVG, the shipped threshold marked; the same figures give the same file."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "responsa"
    from matplotlib import pyplot as plt

    values, answerable = np.concatenate([inside, outside]), np.repeat([True, False], [len(inside), len(outside)])
    order = np.argsort(-values, kind="stable")
    answered = np.arange(1, len(values) + 1)
    last = np.append(np.diff(values[order]) != 0, True)  # a threshold cannot part equal values
    risk = np.cumsum(~answerable[order]) / answered
    figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
    axes.plot((answered / len(values))[last], risk[last], color="#1f5a8a")
    taken = values >= least
    axes.plot(taken.mean(), (~answerable[taken]).mean(), "o", color="#b3401f", label=f"shipped threshold, {least:g}")
    axes.set(xlabel="coverage: share of all questions answered", ylabel="risk: share of answers not in the rules")
    axes.set(xlim=(0, 1.01), ylim=(0, 0.52))
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    output = io.StringIO()
    figure.savefig(output, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    return "\n".join(line.rstrip() for line in output.getvalue().splitlines()) + "\n"


def _page(inside: Values, outside: Values, least: float, area: str) -> str:
    rows = []
    for threshold in sorted({*_THRESHOLDS, least}):
        kept, wrong = (inside >= threshold).sum(), (outside >= threshold).sum()
        risk = f"{wrong / (kept + wrong):.3f}" if kept + wrong else ""
        label = f"**{threshold:g}** (shipped)" if threshold == least else f"{threshold:g}"
        coverage = (kept + wrong) / (len(inside) + len(outside))
        rows.append((label, f"{coverage:.3f}", risk, f"{kept / len(inside):.2f}", f"{wrong / len(outside):.2f}"))
    header = ("least confidence", "coverage", "risk", "ObliQA questions answered", "others answered")
    head = _HEAD.format(inside=len(inside), outside=len(outside), area=area)
    others = grid(
        ("library", "questions", "answers them", "number", *(f"answered by `{name}`" for name in likeness.RECIPES)),
        likeness.answered(),
    )
    return "\n".join([head, *grid(header, rows), "", _OTHERS, *others, ""])


_HEAD = """# When Responsa does not answer

Written by `scripts/bench quality`.

An answer is withheld where the confidence of the recipe lies below a threshold; here that of `bm25`. Measured on
{inside} ObliQA dev questions, which the library answers, and {outside} questions on the rules of another
regulator, which it does not (`benchmarks/data/other_regulator_test.jsonl`).
None of them was used to fit the confidence.

AUROC {area} (95 % bootstrap interval).

*Coverage* is the share of all questions that are answered, *risk* the share of those answered that the library holds
no answer to.

![Risk over coverage](abstention.svg)
"""

_OTHERS = """## By words, and by words and meaning

What stands above is the confidence of `bm25`, by words alone (`term-coverage`), on the library that it was fitted on.
A question in other words than the rule has no answer by it, and a small library seldom has the words. The default
recipe, `hybrid`, also asks how near the nearest passage comes to the meaning of the question (`likeness`).

The weights of `likeness` were fitted on the other half of the questions on PRA pages, on questions on ADGM's rules and
on PRA questions put to the other two libraries; its least confidence, .6, was chosen on these figures, so that they
flatter it a little. The encoder has learned from ADGM's rules alone. More questions that a library answers get an
answer, and of those that it nearly answers more do that should not.
"""
