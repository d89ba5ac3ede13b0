"""Printing: data on stdout, everything else on stderr, progress only on a terminal."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Callable, Iterator
from datetime import date
from typing import TYPE_CHECKING, Annotated

import typer

from responsa.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from responsa.corpus.view import Corpus
    from responsa.types import Version
    from responsa.views import Json

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
RecipeOption = Annotated[
    str, typer.Option("--recipe", metavar="RECIPE", help="A recipe that ships with Responsa, or a path to one (.toml).")
]
VersionOption = Annotated[
    str | None, typer.Option("--version", metavar="DIGEST", help="Read this version, named by the start of its digest.")
]
AsOfOption = Annotated[
    str | None, typer.Option("--as-of", metavar="DATE", help="Read the law in force on this date (YYYY-MM-DD).")
]

# Documents are not to be trusted with the terminal: no escape sequences, no other control characters, nothing that
# turns the direction of writing.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_ESCAPED = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")  # what json.dumps leaves as it is
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


_WIDEST = 10_000


def clean(text: str) -> str:
    """Text that is safe on a terminal."""
    return _CONTROL.sub("", text)


def say(text: str = "") -> None:
    """A line on stdout."""
    typer.echo(clean(text))


def note(text: str) -> None:
    """A line on stderr."""
    typer.echo(clean(text), err=True)


def print_json(value: Json) -> None:
    """One JSON document on stdout; numbers that JSON lacks are refused."""
    unicode = sys.stdout is not None and sys.stdout.encoding.lower().replace("-", "") == "utf8"
    text = json.dumps(value, ensure_ascii=not unicode, allow_nan=False, indent=2)
    typer.echo(_ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def print_table(table: Table) -> None:
    """A table on stdout, as wide as the terminal or, in a pipe or a file, as its content.

    A terminal too narrow for the longest words breaks the lines itself: no id is cut short.
    """
    from rich.console import Console

    console = Console(width=_WIDEST, highlight=False)
    if sys.stdout.isatty():
        console.width = max(Console().width, console.measure(table).minimum)
    console.print(table)


def table(*columns: str, right: tuple[str, ...] = (), whole: tuple[str, ...] = ()) -> Table:
    """An empty table; the columns named in ``right`` are flush right, those in ``whole`` are not wrapped."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        made.add_column(
            column,
            justify="right" if column in right else "left",
            overflow="ellipsis" if column in whole else "fold",
            no_wrap=column in whole,
        )
    return made


def add_row(table: Table, *cells: str) -> None:
    """A row of plain text: nothing in it is taken for rich's markup."""
    from rich.text import Text

    table.add_row(*(Text(clean(cell)) for cell in cells))


def plural(count: int, noun: str) -> str:
    """``1 document``, ``2 documents``."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def in_force(version: Version) -> str:
    """When a version is in force, in words."""
    span = [f"{word} {day}" for word, day in (("from", version.valid_from), ("to", version.valid_to)) if day]
    return f"in force {' '.join(span)}" if span else "in force without dates"


def note_gap(corpus: Corpus, version: Version, day: date | None) -> None:
    """Say on stderr where a version is read though it is not in force on the day asked for, or today."""
    if version.document_id in corpus.approximate:
        advice = f"the library has none for {day}" if day else "--as-of DATE reads the law of a day"
        note(f"note: {version.document_id}: the version read is {in_force(version)}; {advice}")


def parse_date(text: str | None) -> date | None:
    """The date in the form YYYY-MM-DD; InputError otherwise."""
    if text is None:
        return None
    if _DATE.fullmatch(text):  # fromisoformat takes week dates and dates without hyphens too
        with contextlib.suppress(ValueError):
            return date.fromisoformat(text)
    raise InputError(f"--as-of: {text!r} is not a date; write it as YYYY-MM-DD")


@contextlib.contextmanager
def progress(what: str) -> Iterator[Callable[[int, int, str], None]]:
    """A progress bar on stderr, where that is a terminal: called with how many are done, of how many, and which."""
    if not sys.stderr.isatty():
        yield lambda _done, _total, _label: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total, label: bar.update(
            task, completed=done, total=total, description=clean(f"{what} {label}")
        )
