"""Ratings from 1 to 4: people's from a file, how far two raters agree, and the tables of the papers."""

from __future__ import annotations

import csv
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from statistics import stdev
from typing import Literal

from responsa.errors import InputError, MissingDependency
from responsa.evaluate.agreement import bootstrap_mean
from responsa.types import Estimate

SCALE = (1, 2, 3, 4)
CORRECT = 2  # an answer is correct above this rating: Bank of Italy, table 4
PEOPLE = "people"  # the rater of a file that names none
Key = tuple[str, str]
"""(approach, id) of an answer; the approach is empty where there is only one."""


@dataclass(frozen=True, slots=True)
class Rated:
    """A rating that somebody gave an answer; ``line`` of the file, from 1."""

    key: Key
    rater: str
    value: int
    line: int = 0


@dataclass(frozen=True, slots=True)
class Correlation:
    """A rank correlation, Kendall's tau-b, with its two-sided p. None where either side has a single value."""

    tau: float | None
    p_value: float | None
    n: int


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two raters agree on the ``n`` answers that both rated.

    ``confusion[i][j]`` counts the answers that the first rated i + 1 and the second j + 1. Kappa is weighted by the
    distance, ``linear`` or ``quadratic``; None where both gave one and the same rating throughout. ``exact`` is the
    share of equal ratings, ``correct`` that on which both say correct or both say not.
    """

    correlation: Correlation
    quadratic: float | None
    linear: float | None
    exact: float
    correct: float
    confusion: tuple[tuple[int, ...], ...]

    @property
    def n(self) -> int:
        """How many answers both rated."""
        return self.correlation.n


@dataclass(frozen=True, slots=True)
class Summary:
    """The ratings of an approach: counts of 1 to 4 (CLiC-it, table 3), average, deviation and correct answers (Bank of
    Italy, table 4).

    ``deviation`` is that of a sample (n - 1), None of a single rating. ``correct`` is the share above 2, and
    ``correct_count`` how many. ``counts`` counts whole ratings, those between after rounding half down.
    """

    n: int
    counts: tuple[int, ...]
    average: Estimate
    deviation: float | None
    correct: Estimate
    correct_count: int


def summarise(values: Sequence[float], seed: int = 0) -> Summary:
    """The ratings of one approach with 95 % bootstrap intervals. ValueError for none, and for one off the scale."""
    if any(not SCALE[0] <= value <= SCALE[-1] for value in values):
        raise ValueError(f"a rating is from 1 to 4, got {next(v for v in values if not 1 <= v <= 4)!r}")
    average = bootstrap_mean(values, seed)
    counted = Counter(half_down(value) for value in values)
    above = [float(value > CORRECT) for value in values]
    return Summary(
        len(values),
        tuple(counted[value] for value in SCALE),
        average,
        stdev(values) if len(values) > 1 else None,
        bootstrap_mean(above, seed),
        int(sum(above)),
    )


def half_down(value: float) -> int:
    """The nearest whole rating; of two the lower, so that an answer gets no benefit of doubt."""
    return math.ceil(value - 0.5)


# Agreement


def agreement(first: Sequence[int], second: Sequence[int]) -> Agreement:
    """Compare two raters' ratings of the same answers, in the same order. ValueError for none, and where they are not
    as many or not from 1 to 4."""
    matrix = confusion(first, second)
    n = len(first)
    return Agreement(
        kendall(first, second),
        weighted_kappa(matrix, "quadratic"),
        weighted_kappa(matrix, "linear"),
        sum(matrix[k][k] for k in range(len(SCALE))) / n,
        sum((a > CORRECT) == (b > CORRECT) for a, b in zip(first, second, strict=True)) / n,
        matrix,
    )


def confusion(first: Sequence[int], second: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Counts, a row for each rating of the first, a column for each of the second."""
    if len(first) != len(second) or not first:
        raise ValueError(f"{len(first)} ratings against {len(second)}; as many of each, and one at least, are needed")
    if off := [value for value in (*first, *second) if value not in SCALE]:
        raise ValueError(f"a rating is 1, 2, 3 or 4, got {off[0]!r}")
    counted = Counter(zip(first, second, strict=True))
    return tuple(tuple(counted[a, b] for b in SCALE) for a in SCALE)


def weighted_kappa(matrix: Sequence[Sequence[int]], weights: Literal["linear", "quadratic"]) -> float | None:
    """Kappa with weights (Cohen, 1968): 1 less observed over expected disagreement; None where none is expected.

    Disagreement by k steps counts k, or k squared.
    """
    power = 1 if weights == "linear" else 2
    size = len(matrix)
    rows, columns = [sum(row) for row in matrix], [sum(column) for column in zip(*matrix, strict=True)]
    total = sum(rows)
    observed = sum(abs(i - j) ** power * matrix[i][j] for i in range(size) for j in range(size))
    expected = sum(abs(i - j) ** power * rows[i] * columns[j] for i in range(size) for j in range(size))
    return float(1 - Fraction(observed * total, expected)) if expected else None


def kendall(first: Sequence[float], second: Sequence[float]) -> Correlation:
    """Tau-b of two series. MissingDependency without scipy."""
    n = len(first)
    if len(set(first)) < 2 or len(set(second)) < 2:
        return Correlation(None, None, n)
    check_libraries()
    from scipy.stats import kendalltau

    found = kendalltau(first, second, variant="b")
    return Correlation(float(found.statistic), float(found.pvalue), n)


def check_libraries() -> None:
    """MissingDependency where what tests correlations is not installed; called before long work."""
    if find_spec("scipy") is None:
        raise MissingDependency("the agreement of ratings", "eval")


def consensus(values: Iterable[int]) -> int:
    """The rating given most often; of several the lowest. ValueError for none."""
    counted = Counter(values)
    if not counted:
        raise ValueError("no ratings; one at least is needed")
    most = max(counted.values())
    return min(value for value, count in counted.items() if count == most)


def between(one: Mapping[Key, int], other: Mapping[Key, int]) -> Agreement | None:
    """The agreement on the answers that both rated; None where there are none."""
    both = [key for key in one if key in other]
    return agreement([one[key] for key in both], [other[key] for key in both]) if both else None


# People's ratings


def by_rater(ratings: Iterable[Rated]) -> dict[str, dict[Key, int]]:
    """Each rater's ratings, in the order of the file."""
    found: dict[str, dict[Key, int]] = defaultdict(dict)
    for each in ratings:
        found[each.rater][each.key] = each.value
    return dict(found)


def consensus_of(raters: Mapping[str, Mapping[Key, int]]) -> dict[Key, int]:
    """The `consensus` of several raters on each answer that any of them rated."""
    given: dict[Key, list[int]] = defaultdict(list)
    for ratings in raters.values():
        for key, value in ratings.items():
            given[key].append(value)
    return {key: consensus(values) for key, values in given.items()}


_NAMES = ("id", "approach", "rater", "rating")


def read_ratings(path: Path, told: Callable[[str], None] = lambda _: None) -> tuple[Rated, ...]:
    """People's ratings from a CSV file (commas, semicolons or tabs) with a head line: ``id``, ``rating`` and, if
    wanted, ``rater`` and ``approach``.

    Without a column ``rating`` every other column is a rater, named by its head, and an empty cell an answer that this
    rater has not rated: how many there are is ``told``. InputError names the lines where a rating is missing or is not
    1, 2, 3 or 4, and those that rate an answer twice.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            first = file.readline()
            mark = next((each for each in ",;\t" if each in first), ",")  # spreadsheets write ; where , is in numbers
            file.seek(0)
            rows = list(_numbered(csv.reader(file, delimiter=mark, strict=True)))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read: {error}; save it as CSV in UTF-8") from error
    if not rows:
        raise InputError(f"{path}: is empty; write a head line with id, rater and rating, and a line for each rating")
    head = [name.strip() for name in rows[0][1]]
    lower = [name.lower() for name in head]
    if "id" not in lower or len(set(lower)) < len(lower) or not all(head):
        raise InputError(
            f"{path}: line {rows[0][0]}: the head is {', '.join(map(repr, head))}; "
            "expected id and rating, with rater and approach if wanted, each once"
        )
    columns = ["rating"] if "rating" in lower else [name for name in lower if name not in ("id", "approach")]
    if not columns:
        raise InputError(f"{path}: no column holds ratings; expected 'rating', or a column for each rater")
    names = [name.lower() if name.lower() in _NAMES else name for name in head]
    found = _rated(rows[1:], names, str(path))
    empty = 0 if "rating" in names else len(rows[1:]) * len(columns) - len(found)
    if empty:
        told(f"{path}: {empty:,} {'cell is' if empty == 1 else 'cells are'} empty: not rated")
    return found


def _numbered(reader: Iterable[list[str]]) -> Iterable[tuple[int, list[str]]]:
    """The rows that are not blank, with the line each ends on."""
    for row in reader:
        if any(cell.strip() for cell in row):
            yield getattr(reader, "line_num", 0), row


def _rated(rows: Sequence[tuple[int, list[str]]], names: Sequence[str], path: str) -> tuple[Rated, ...]:
    long = "rating" in names
    columns = ["rating"] if long else [name for name in names if name not in ("id", "approach")]
    found: dict[tuple[str, Key], Rated] = {}
    wrong: list[str] = []
    for line, cells in rows:
        row = dict(zip(names, (cell.strip() for cell in cells), strict=False))
        if len(cells) > len(names) or not row.get("id"):
            wrong.append(f"line {line}: {'more cells than the head' if row.get('id') else 'no id'}")
            continue
        key = (row.get("approach", ""), row["id"])
        for column in columns:
            rater = (row.get("rater") or PEOPLE) if long else column
            given = row.get(column, "")
            if not (given or long):
                continue
            if given not in ("1", "2", "3", "4"):
                named = "" if long else f" by {rater}"
                wrong.append(
                    f"line {line}: " + (f"{given!r} is no rating" if given else "the rating is missing") + named
                )
            elif (rater, key) in found:
                wrong.append(f"line {line}: {row['id']!r} is rated again by {rater} (line {found[rater, key].line})")
            else:
                found[rater, key] = Rated(key, rater, int(given), line)
    if wrong:
        more = f"; and {len(wrong) - 5} more" if len(wrong) > 5 else ""
        way = "leave the line out" if long else "leave the cell empty"
        raise InputError(f"{path}: {'; '.join(wrong[:5])}{more}: write 1, 2, 3 or 4, or {way}")
    if not found:
        raise InputError(f"{path}: holds no rating")
    return tuple(found.values())
