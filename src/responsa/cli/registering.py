"""The obligation register of a document."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from responsa.cli.output import (
    AsOfOption,
    JsonOption,
    add_row,
    in_force,
    note,
    note_gap,
    parse_date,
    plural,
    print_json,
    print_table,
    progress,
    say,
    table,
)

if TYPE_CHECKING:
    from collections import Counter

    from responsa.register import Duty
    from responsa.types import Version

_SHOWN = 12  # of those who have duties, named in the last line


class RegisterFormat(StrEnum):
    """Files that a register can be written as."""

    xlsx = "xlsx"
    csv = "csv"
    json = "json"


def obligations(
    context: typer.Context,
    doc: Annotated[str, typer.Argument(metavar="DOC", help="A document's id or short name.")],
    form: Annotated[
        RegisterFormat | None,
        typer.Option("--format", help="Write a spreadsheet, CSV or JSON; otherwise what the suffix of --out says."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write the register to this file; - is standard output."),
    ] = None,
    guidance: Annotated[bool, typer.Option("--guidance", help="List what is recommended (should), too.")] = False,
    as_of: AsOfOption = None,
    json: JsonOption = False,
) -> None:
    """List who must do what, when and on which condition: the obligation register of a document.

    Found by rules, a row for each duty, and one for each point of a list; every part is cited by passage and
    characters of the stored text. A draft: read it against the document.
    """
    from responsa import views
    from responsa.corpus.library import Library
    from responsa.errors import InputError
    from responsa.register import by_who, register
    from responsa.storage import check_target

    if form is None:
        form = _form_of(out) if out else RegisterFormat.json if json else None
    elif json and form is not RegisterFormat.json:
        raise typer.BadParameter(f"--json and --format {form.value} each choose a form; give one of them")
    if form is RegisterFormat.xlsx and out is None:
        raise InputError("--format xlsx: a spreadsheet goes to a file; name it with --out FILE.xlsx")
    if out:
        check_target(out)
    with Library.open(context.obj) as library, progress("Reading") as bar:
        corpus, doc = library.corpus(parse_date(as_of)), library.document_id(doc)
        duties = list(register(corpus, doc, guidance=guidance, progress=bar))
        version = corpus.version(doc)
    assert version is not None  # register found it
    note_gap(corpus, version, parse_date(as_of))
    counts = by_who(duties)
    if form is RegisterFormat.json and out is None:
        print_json(views.obligations(version, duties, counts))
    elif form is None:
        _print(version, duties)
    else:
        _write(form, out or Path("-"), version, duties, counts)
        if out and str(out) != "-":
            note(f"{plural(len(duties), 'obligation')} written to {out}")
    (note if form else say)(_summary(duties, counts))


def _form_of(out: Path) -> RegisterFormat:
    from responsa.errors import InputError

    suffix = out.suffix.lower().removeprefix(".")
    if suffix not in tuple(RegisterFormat):
        raise InputError(f"--out: {str(out)!r} ends in none of .xlsx, .csv and .json; say which with --format")
    return RegisterFormat(suffix)


def _write(form: RegisterFormat, out: Path, version: Version, duties: list[Duty], counts: Counter[str]) -> None:
    from responsa import views
    from responsa.render import sheets
    from responsa.storage import write_bytes, write_json, write_text

    if form is RegisterFormat.json:
        write_json(views.obligations(version, duties, counts), out)
    elif form is RegisterFormat.csv:
        write_text(sheets.as_csv(duties).encode("utf-8", "replace").decode("utf-8"), out)
    else:
        write_bytes(sheets.as_xlsx(duties, counts.most_common(), _about(version, duties)), out)


def _about(version: Version, duties: list[Duty]) -> list[tuple[str, str]]:
    from importlib.metadata import version as released

    soft = sum(duty.soft for duty in duties)
    return [
        ("document", f"{version.title or version.document_id} ({version.document_id})"),
        ("version", f"{version.digest}, {in_force(version)}"),
        ("rows", f"{len(duties):,}, of which {soft:,} recommended only (soft: yes)" if soft else f"{len(duties):,}"),
        ("made by", f"responsa {released('responsa')}, by rules. A draft: read it against the document."),
        ("clause", "The provision a row stands in, in the words it is cited by; responsa passage CLAUSE prints it."),
        ("who", "Whoever is bound; empty where the text names nobody, and then what begins with the subject."),
        (" … ", "Between two parts of a cell other words stand in the text."),
        ("when, normalised", "ISO 8601: P30D is 30 days, P6M six months, P1Y a year, --06-30 each 30 June."),
        ("spans", "Where each part stands in the stored text: clause, first character, character after the last."),
    ]


def _print(version: Version, duties: list[Duty]) -> None:
    from responsa.render.sheets import words

    say(f"{version.title or version.document_id} [version {version.digest[:12]}, {in_force(version)}]")
    if not sys.stdout.isatty():  # a table as wide as its longest clause helps nobody
        for duty in duties:
            _print_row(duty)
        return
    listing = table("clause", "who", "modality", "must do what", "when", "condition", "exception", whole=("modality",))
    for duty in duties:
        add_row(
            listing, duty.number or duty.passage.id, words(duty.who), duty.modality, words(duty.what), words(duty.when),
            words(duty.condition), words(duty.exception),
        )  # fmt: skip
    print_table(listing)


def _print_row(duty: Duty) -> None:
    from responsa.render.sheets import words

    say(f"{duty.number or duty.passage.id}  {duty.modality}")
    for name in ("who", "what", "when", "condition", "exception"):
        text = words(getattr(duty, name))
        if text:
            say(f"    {name}: {text}")


def _summary(duties: list[Duty], counts: Counter[str]) -> str:
    named = [(name, count) for name, count in counts.most_common() if name]
    shown = [f"{_short(name)} {count:,}" for name, count in named[:_SHOWN]]
    rest = sum(count for _, count in named[_SHOWN:])
    shown += [f"others {rest:,}"] if rest else []
    shown += [f"nobody named {counts['']:,}"] if counts[""] else []
    return f"{plural(len(duties), 'obligation')}" + (f" by who: {', '.join(shown)}" if shown else "")


def _short(name: str) -> str:
    return name if len(name) <= 50 else f"{name[:49].rstrip()}…"
