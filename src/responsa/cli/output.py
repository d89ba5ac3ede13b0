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

    from responsa.views import Json

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
RecipeOption = Annotated[
    str, typer.Option("--recipe", metavar="RECIPE", help="A recipe that ships with Responsa, or a path to one (.toml).")
]
AsOfOption = Annotated[
    str | None, typer.Option("--as-of", metavar="DATE", help="Read the law in force on this date (YYYY-MM-DD).")
]

# Documents are not to be trusted with the terminal: no escape sequences, no other control characters.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


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
    typer.echo(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2))


def print_table(table: Table) -> None:
    """A table on stdout, as wide as the terminal or, in a pipe, as its content."""
    from rich.console import Console

    Console(width=None if sys.stdout.isatty() else 200, highlight=False).print(table)


def table(*columns: str, right: tuple[str, ...] = ()) -> Table:
    """An empty table; the columns named in ``right`` are flush right."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        made.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return made


def parse_date(text: str | None) -> date | None:
    """The date in ISO form; InputError otherwise."""
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"--as-of: {text!r} is not a date; write it as YYYY-MM-DD") from error


@contextlib.contextmanager
def progress(what: str) -> Iterator[Callable[[int, int, str], None]]:
    """A progress bar on stderr, where that is a terminal: called with how many are done, of how many, and which."""
    if not sys.stderr.isatty():
        yield lambda _done, _total, _label: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total, label: bar.update(
            task, completed=done, total=total, description=clean(f"{what} {label}")
        )
