"""How much of the evidence that people marked in reports is among the chunks found.

A file of rows has one report and activity each, with quotes, their pages and their roles. A quote counts as found
where a chunk holds it, once white space, hyphens, invisible characters and Unicode forms are levelled (`strict`), or
where a chunk of its page has four fifths of its words, as often as they occur: columns and tables are read in different
orders by different readers, and the thesis takes the same share for a chunk to hold a text (appendix C).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, get_args

from responsa.errors import InputError
from responsa.taxonomy.evidence.report import flat
from responsa.taxonomy.values import Evidence, Role
from responsa.text import normalise

HELD = 0.8
"""Share of a quote's words that a chunk of its page must have."""
DECIDING: frozenset[Role] = frozenset({"supports", "contradicts"})
"""Roles of the quotes that a verdict rests on."""
LONG = 100
"""Pages above which a report is long."""

_GAP = re.compile(r"[\s\-]+")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Quote:
    """A text on a page of a report, and what it is to the criteria."""

    page: int
    text: str
    role: Role


@dataclass(frozen=True, slots=True)
class MarkedRow:
    """``activity`` is the id alone: ``CCM 7.7``; ``name`` as the row has it."""

    id: str
    report: str
    activity: str
    name: str
    year: int
    quotes: tuple[Quote, ...]

    def deciding(self) -> list[Quote]:
        """The quotes that support or contradict."""
        return [quote for quote in self.quotes if quote.role in DECIDING]


class RowScore(NamedTuple):
    """Of a row: the shares of its quotes found, found word for word, of the pages of its quotes among those of the
    chunks, and of the quotes of every role. ``quotes`` is how many decide, ``found`` how many of these were found;
    the shares are None where the row has no quote of the kind."""

    row: MarkedRow
    quotes: int
    found: int
    recall: float | None
    strict: float | None
    pages: float | None
    every_role: float | None


class Summary(NamedTuple):
    """Means over the rows that have quotes (macro) and the share of all quotes (micro)."""

    rows: int
    macro: float
    strict: float
    found: int
    quotes: int
    pages: float
    every_role: float


def read_rows(path: Path) -> list[MarkedRow]:
    """The rows of a file in the form of ``alignment_dev.json``. InputError that says which row is not."""
    try:
        given = json.loads(path.read_text("utf-8"))["rows"]
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; check the path") from error
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(f"{path}: is no JSON with rows ({type(error).__name__}: {error})") from error
    if not isinstance(given, list):
        raise InputError(f"{path}: 'rows' is of type {type(given).__name__}; expected a list")
    rows = []
    for place, row in enumerate(given):
        try:
            objective, number, *name = str(row["activity"]).split()
            quotes = tuple(_quote(each) for each in row["evidence"])
            rows.append(
                MarkedRow(
                    str(row["id"]), str(row["report"]), f"{objective} {number}", " ".join(name),
                    int(row["financial_year"]), quotes,
                )
            )  # fmt: skip
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path}: row {place + 1} is not of the form ({type(error).__name__}: {error})") from error
    return rows


def _quote(each: dict[str, object]) -> Quote:
    role = each["role"]
    if role not in get_args(Role):
        raise ValueError(f"role {role!r}")
    return Quote(int(str(each["page"])), str(each["quote"]), role)  # type: ignore[arg-type]


def holds(chunk: str, quote: str) -> bool:
    """Whether the chunk has the quote, word for word and in its order."""
    wanted = _levelled(quote)
    return bool(wanted) and wanted in _levelled(flat(chunk))


def covers(chunk: str, quote: str) -> float:
    """The share of the quote's words, as often as they occur, that the chunk has; 0 for a quote without words."""
    wanted, have = Counter(_words(quote)), Counter(_words(flat(chunk)))
    total = sum(wanted.values())
    return sum(min(times, have[word]) for word, times in wanted.items()) / total if total else 0.0


def is_found(quote: Quote, evidence: Sequence[Evidence]) -> bool:
    """Whether one of the chunks holds the quote, or is of its page and has most of its words."""
    return any(holds(each.text, quote.text) for each in evidence) or any(
        each.page == quote.page and covers(each.text, quote.text) >= HELD for each in evidence
    )


def score_row(row: MarkedRow, evidence: Sequence[Evidence]) -> RowScore:
    """What the chunks found for a row are worth."""
    deciding = row.deciding()
    found = sum(is_found(quote, evidence) for quote in deciding)
    pages = {quote.page for quote in deciding}
    return RowScore(
        row,
        len(deciding),
        found,
        _share(found, len(deciding)),
        _share(sum(any(holds(each.text, quote.text) for each in evidence) for quote in deciding), len(deciding)),
        _share(len(pages & {each.page for each in evidence}), len(pages)),
        _share(sum(is_found(quote, evidence) for quote in row.quotes), len(row.quotes)),
    )


def summary(scores: Sequence[RowScore]) -> Summary:
    """Over the rows that have deciding quotes; zeros where none has."""
    own = [score for score in scores if score.quotes]
    return Summary(
        len(own),
        _mean(own, lambda score: score.recall),
        _mean(own, lambda score: score.strict),
        sum(score.found for score in own),
        sum(score.quotes for score in own),
        _mean(own, lambda score: score.pages),
        _mean(scores, lambda score: score.every_role),
    )


def of_reports(scores: Sequence[RowScore], names: Collection[str]) -> list[RowScore]:
    """Those of the rows on the reports named."""
    return [score for score in scores if score.row.report in names]


def _levelled(text: str) -> str:
    return _GAP.sub("", normalise(text).lower())


def _words(text: str) -> list[str]:
    return _WORD.findall(normalise(text).lower())


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _mean(scores: Sequence[RowScore], value: Callable[[RowScore], float | None]) -> float:
    known = [each for each in map(value, scores) if each is not None]
    return sum(known) / len(known) if known else 0.0
