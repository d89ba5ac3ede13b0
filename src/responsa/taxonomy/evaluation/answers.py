"""How good a model's answers are, as people rate them step by step: chapter 5 of the EU Taxonomy thesis (2024).

A generation is one reply of a model for a row (a company and an activity). People score its three steps, say whether
each step uses the ones before, and why a conclusion is wrong. The scales are in ``docs/taxonomy-evaluation.md``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import fmean
from typing import NamedTuple, get_args

from responsa.errors import MissingDependency
from responsa.evaluate.ratings import weighted_kappa
from responsa.taxonomy.values import Method

METHODS: tuple[Method, ...] = get_args(Method)
STEPS = (1, 2, 3)
SCALES: Mapping[int, tuple[int, ...]] = {1: (-1, 0, 1, 2), 2: (-1, 0, 1, 2), 3: (-1, 0, 1, 2, 3)}
"""Scores of each step, tables 5.1 to 5.3. Step 3 runs to 3, right and unexpected, as in table 7.3."""
HOLED = 1
"""The highest score of step 3 that a logic hole explains (section 7.1.3)."""
HOLES: Mapping[str, str] = {
    "criteria": "Misunderstand the criteria",
    "report": "Misunderstand the report",
    "wrong-information": "Use wrong information from the report",
    "criteria-and-report": "Misunderstand both criteria and report",
    "task": "Misunderstand the task",
    "hallucination": "Hallucination",
    "wrong-conclusion": "Right analysis but wrong conclusion",
}
"""The logic holes of table 7.4, in its order."""
Links = tuple[int, int, int]
"""C21, C31, C32: whether step 2 uses step 1, step 3 uses step 1, and step 3 uses step 2 (equation 5.1)."""
CHAINS: Mapping[str, Links] = {
    "I": (1, 1, 1),
    "II": (0, 1, 1),
    "III": (1, 0, 1),
    "IV": (1, 1, 0),
    "V": (0, 0, 1),
    "VI": (0, 1, 0),
    "VII": (1, 0, 0),
}
"""Chain types, for figure 5.1 is an image. The text fixes I (all links), that II to IV lack one and V lacks C21 and
C31; within one and two missing links the order is that of equation 5.1. No link at all is no type of the seven."""
UNLINKED = "none"
_FEWEST = 3  # pairs for a correlation with a p


@dataclass(frozen=True, slots=True)
class Annotated:
    """A generation with what people say of it. ``scores`` by step; the traditional method has step 3 alone, and no
    ``links``. ``hole`` is a key of `HOLES` or "". ``metrics`` holds ``BE_SCC``, ``BL_1`` and so on (equations 5.2 to
    5.5) as far as known, ``conclusion`` what it concludes (step 3.2), "" where nobody noted it."""

    row: str
    method: Method
    generation: int
    scores: Mapping[int, int]
    links: Links | None = None
    hole: str = ""
    conclusion: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    rater: str = ""
    line: int = 0


class Pearson(NamedTuple):
    """A correlation with its two-sided p, None where there are too few pairs or one side has a single value."""

    r: float | None
    p: float | None
    n: int
    reason: str = ""


class Equation(NamedTuple):
    """A line of table 7.6: the metric set against the score of a step, or against disagreement (step 0)."""

    name: str
    metric: str
    step: int


EQUATIONS = (
    Equation("(5.7)", "BE_SCC", 1),
    Equation("(5.8)", "BL_SCC", 1),
    *(
        Equation(f"({number}) with n = {step}", f"{metric}_{step}", step)
        for step in STEPS
        for number, metric in (("5.9", "BE"), ("5.10", "BL"))
    ),
    Equation("(5.11)", "BE_3", 0),
    Equation("(5.12)", "BL_3", 0),
)
METRICS = tuple(dict.fromkeys(each.metric for each in EQUATIONS))


def chain(links: Links) -> str:
    """The type of the links, `UNLINKED` where there is none."""
    return next((name for name, own in CHAINS.items() if own == links), UNLINKED)


def of_method(annotated: Sequence[Annotated], method: Method) -> list[Annotated]:
    """Those of a method, in their order."""
    return [each for each in annotated if each.method == method]


def counts(annotated: Sequence[Annotated], step: int) -> dict[int, int]:
    """How many generations have each score of a step: tables 7.1 to 7.3."""
    counted = Counter(each.scores[step] for each in annotated if step in each.scores)
    return {value: counted[value] for value in SCALES[step]}


def holes(annotated: Sequence[Annotated]) -> dict[str, int]:
    """How many generations have each logic hole; under "" those that score so low and have none noted (table 7.4)."""
    counted = Counter(each.hole for each in annotated if each.scores[3] <= HOLED)
    return {name: counted[name] for name in (*HOLES, "")}


def chains(annotated: Sequence[Annotated]) -> dict[str, int]:
    """How many generations have each chain type, the last those without any link (table 7.5)."""
    counted = Counter(chain(each.links) for each in annotated if each.links is not None)
    return {name: counted[name] for name in (*CHAINS, UNLINKED)}


def disagreement(annotated: Sequence[Annotated]) -> dict[str, int]:
    """For each row 1 where not all its generations conclude alike, else 0 (equation 5.6). Rows with a single
    generation, or one whose conclusion nobody noted, are left out."""
    return {
        row: int(len({each.conclusion for each in own}) > 1)
        for row, own in _by_row(annotated).items()
        if len(own) > 1 and all(each.conclusion for each in own)
    }


def correlation(annotated: Sequence[Annotated], equation: Equation) -> Pearson:
    """Of the generations of one method (5.7 to 5.10), or of its rows: means of their generations against disagreement
    (5.11 and 5.12). Generations without the metric or the step are left out, and rows where one is without."""
    metric, step = equation.metric, equation.step
    if step:
        own = [each for each in annotated if metric in each.metrics and step in each.scores]
        return pearson([each.metrics[metric] for each in own], [each.scores[step] for each in own])
    means, apart = [], []
    rows = _by_row(annotated)
    for row, differs in disagreement(annotated).items():
        if all(metric in each.metrics for each in rows[row]):
            means.append(fmean(each.metrics[metric] for each in rows[row]))
            apart.append(differs)
    return pearson(means, apart)


def pearson(first: Sequence[float], second: Sequence[float]) -> Pearson:
    """The product-moment correlation, p from the t distribution with n - 2 degrees of freedom. MissingDependency
    without scipy."""
    n = len(first)
    if n < _FEWEST:
        return Pearson(None, None, n, f"{n} pairs; {_FEWEST} are needed")
    if len(set(first)) == 1 or len(set(second)) == 1:
        return Pearson(None, None, n, "all the same on one side")
    try:
        from scipy.stats import pearsonr
    except ImportError as error:
        raise MissingDependency("correlations", "eval") from error
    found = pearsonr(first, second)
    return Pearson(float(found.statistic), float(found.pvalue), n)


class Agreed(NamedTuple):
    """How far two raters agree on a column; ``kappa`` is Cohen's, weighted by squares of distance."""

    first: str
    second: str
    column: str
    n: int
    exact: float
    kappa: float | None


def raters(annotated: Sequence[Annotated]) -> list[str]:
    """By first mention."""
    return list(dict.fromkeys(each.rater for each in annotated))


def agreements(annotated: Sequence[Annotated]) -> list[Agreed]:
    """Of each two raters on the generations that both rated; none where there is one rater."""
    by_rater: dict[str, dict[tuple[str, str, int], dict[str, int]]] = defaultdict(dict)
    for each in annotated:
        own = {f"HE{step}": value for step, value in each.scores.items()}
        own |= dict(zip(("C21", "C31", "C32"), each.links or (), strict=False))
        by_rater[each.rater][each.row, each.method, each.generation] = own
    found = []
    for (a, one), (b, other) in combinations(by_rater.items(), 2):
        for column in ("HE1", "HE2", "HE3", "C21", "C31", "C32"):
            pairs = [(one[k][column], other[k][column]) for k in one if k in other and column in one[k]]
            if pairs:
                exact = sum(x == y for x, y in pairs) / len(pairs)
                found.append(Agreed(a, b, column, len(pairs), exact, weighted_kappa(_matrix(pairs), "quadratic")))
    return found


def _matrix(pairs: Sequence[tuple[int, int]]) -> list[list[int]]:
    counted = Counter(pairs)
    return [[counted[x, y] for y in SCALES[3]] for x in SCALES[3]]


def _by_row(annotated: Sequence[Annotated]) -> dict[str, list[Annotated]]:
    rows: dict[str, list[Annotated]] = defaultdict(list)
    for each in annotated:
        rows[each.row].append(each)
    return dict(rows)
