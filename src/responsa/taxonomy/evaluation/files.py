"""The CSV file in which people rate generations: read, and written as a template to fill in.

Commas, semicolons or tabs part the cells; the head line names the columns, in any order and case. Columns are explained
in ``docs/taxonomy-evaluation.md``.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from responsa.errors import InputError, suggestion
from responsa.taxonomy.evaluation.answers import HOLED, HOLES, METHODS, METRICS, SCALES, STEPS, Annotated, Links

KEYS = ("row", "method", "generation")
SCORED = ("HE1", "HE2", "HE3")
LINKED = ("C21", "C31", "C32")
TEXTS = ("step_1", "step_2", "step_3")
"""What is to be rated: written by the template and read by people alone."""
CONCLUSIONS = ("true", "false", "aligned", "not_aligned", "insufficient")
COLUMNS = (*KEYS, "rater", *SCORED, *LINKED, "logic_hole", "conclusion", *METRICS, *TEXTS, "note")

_NAMES = {name.lower(): name for name in COLUMNS}
_HUMAN = (*SCORED, *LINKED, "logic_hole")
_NEEDED = (*KEYS, "HE3")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
_SHOWN = 5  # wrong lines that a message names
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

Row = Mapping[str, str]


class _Wrong(Exception):
    """What is wrong with a line."""


def read_annotations(path: Path) -> tuple[list[Annotated], list[int]]:
    """The generations that are rated, and the lines of those on which nobody has written anything yet.

    InputError, with the lines, for a score that is missing, is text or is off its scale, for a generation rated twice
    by one rater, and for other columns than those known.
    """
    rows = list(_rows(path))
    if not rows:
        raise InputError(f"{path}: is empty; write one with taxonomy evaluate template, and fill it in")
    line, cells = rows[0]
    head = _head(cells, f"{path}: line {line}")
    found: dict[tuple[str, str, str, int], Annotated] = {}
    wrong, blank = [], []
    for line, cells in rows[1:]:
        row = dict(zip(head, (cell.strip() for cell in cells), strict=False))
        try:
            if len(cells) > len(head):
                raise _Wrong(f"{len(cells)} cells under a head of {len(head)}")
            if not any(row.get(name) for name in _HUMAN):
                blank.append(line)
                continue
            made = _annotated(row, line)
            key = (made.rater, made.row, made.method, made.generation)
            if key in found:
                raise _Wrong(f"{made.row!r}, {made.method}, generation {made.generation} is on line {found[key].line}")
            found[key] = made
        except _Wrong as error:
            wrong.append(f"line {line}: {error}")
    if wrong:
        more = f"; and {len(wrong) - _SHOWN} more lines" if len(wrong) > _SHOWN else ""
        raise InputError(f"{path}: {'; '.join(wrong[:_SHOWN])}{more}; a line not rated yet has no rating at all")
    if not found:
        raise InputError(f"{path}: no generation is rated; fill in HE1 to HE3 and C21 to C32")
    return list(found.values()), blank


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, with the line that each ends on."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            first = file.readline()
            mark = next((each for each in ",;\t" if each in first), ",")
            file.seek(0)
            reader = csv.reader(file, delimiter=mark, strict=True)
            yield from ((reader.line_num, row) for row in reader if any(cell.strip() for cell in row))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read: {error}; save it as CSV in UTF-8") from error


def _head(cells: Sequence[str], where: str) -> list[str]:
    head = [_NAMES.get(cell.strip().lower(), cell.strip()) for cell in cells]
    for name in head:
        if name not in COLUMNS and not name.lower().startswith("note"):
            raise InputError(f"{where}: unknown column {name!r}{suggestion(name, COLUMNS)}; remarks stand under note")
    if twice := [name for name in head if head.count(name) > 1]:
        raise InputError(f"{where}: column {twice[0]!r} comes twice; leave one")
    if missing := [name for name in _NEEDED if name not in head]:
        raise InputError(f"{where}: no column {', '.join(missing)}; taxonomy evaluate template writes all columns")
    return head


def _annotated(row: Row, line: int) -> Annotated:
    if not row["row"]:
        raise _Wrong("no row")
    if row["method"] not in METHODS:
        raise _Wrong(f"no method {row['method']!r}{suggestion(row['method'], METHODS)}")
    method = row["method"]
    stepped = method != "traditional"
    scores = {step: _whole(row, f"HE{step}", SCALES[step]) for step in (STEPS if stepped else (3,))}
    if not stepped and (given := [name for name in ("HE1", "HE2", *LINKED) if row.get(name)]):
        raise _Wrong(f"the traditional method has one step, step 3; leave {', '.join(given)} empty")
    links = cast(Links, tuple(_whole(row, name, (0, 1)) for name in LINKED)) if stepped else None
    return Annotated(
        row["row"], method, _generation(row), scores, links, _hole(row, scores[3]), _conclusion(row),
        {name: _metric(row, name) for name in METRICS if row.get(name)}, row.get("rater", ""), line,
    )  # fmt: skip


def _whole(row: Row, name: str, scale: Sequence[int]) -> int:
    given = row.get(name, "")
    if not given:
        raise _Wrong(f"{name} is missing")
    if given not in map(str, scale):
        raise _Wrong(f"{name} is {given!r}; write {', '.join(map(str, scale[:-1]))} or {scale[-1]}")
    return int(given)


def _generation(row: Row) -> int:
    if not (row["generation"].isascii() and row["generation"].isdigit() and len(row["generation"]) < 10):
        raise _Wrong(f"generation is {row['generation']!r}; write its number")
    return int(row["generation"])


def _hole(row: Row, conclusion: int) -> str:
    given = row.get("logic_hole", "")
    if given and given not in HOLES:
        raise _Wrong(f"no logic_hole {given!r}{suggestion(given, HOLES)}; known: {', '.join(HOLES)}")
    if given and conclusion > HOLED:
        raise _Wrong(f"logic_hole {given!r} with HE3 {conclusion}; a hole explains an HE3 of {HOLED} or less")
    return given


def _conclusion(row: Row) -> str:
    given = row.get("conclusion", "").lower()
    if given and given not in CONCLUSIONS:
        raise _Wrong(f"conclusion is {given!r}; write {', '.join(CONCLUSIONS)}, or nothing")
    return given


def _metric(row: Row, name: str) -> float:
    given = row[name].replace(",", ".")
    value = float(given) if _NUMBER.fullmatch(given) else math.nan
    if not -1 <= value <= 1:
        raise _Wrong(f"{name} is {row[name]!r}; write a share up to 1, or nothing where it is not known")
    return value


def template(generations: Iterable[Row]) -> str:
    """CSV with a line for each generation, given by columns; those for people are empty.

    A text that a spreadsheet would take for a formula gets an apostrophe before it.
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, restval="", lineterminator="\r\n")
    writer.writeheader()
    for each in generations:
        writer.writerow({name: _harmless(value) if name in ("row", *TEXTS) else value for name, value in each.items()})
    return out.getvalue()


def _harmless(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
