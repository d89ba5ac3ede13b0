"""Commands on the EU Taxonomy: its activities, their criteria, and which of them a report may be about."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from responsa.cli.output import JsonOption, add_row, note, print_json, print_table, progress, say, table
from responsa.cli.taxonomy_evaluating import evaluate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from responsa.taxonomy.activities.catalogue import Catalogue, Found
    from responsa.taxonomy.activities.eligibility import Candidate
    from responsa.taxonomy.values import Criterion, Objective, Threshold

taxonomy = typer.Typer(no_args_is_help=True, help="The EU Taxonomy: activities, criteria, and what a report is about.")
taxonomy.add_typer(evaluate, name="evaluate")

YearOption = Annotated[
    int | None, typer.Option("--year", metavar="YYYY", help="The financial year; left out, the latest criteria.")
]
CatalogueOption = Annotated[
    Path | None,
    typer.Option("--catalogue", metavar="FILE", help="A catalogue made by taxonomy build, not the one that ships."),
]
_WIDTH = 100


@taxonomy.command("list")
def list_(
    objective: Annotated[
        str, typer.Option("--objective", metavar="CODE", help="CCM, CCA, WTR, CE, PPC or BIO only.")
    ] = "",
    sector: Annotated[str, typer.Option("--sector", metavar="SECTOR", help="A sector's number or name only.")] = "",
    year: YearOption = None,
    catalogue: CatalogueOption = None,
    json: JsonOption = False,
) -> None:
    """List the activities that have criteria for a financial year."""
    from responsa.taxonomy.activities.catalogue import load

    held = load(catalogue)
    found = held.activities(year, _objective(objective), sector)
    if json:
        listed: list[Any] = [_summary(each) for each in found]
        print_json({"attribution": held.attribution, "activities": listed})
        return
    printed = table("Activity", "Name", "Sector", "Kind", "Source", whole=("Activity",))
    for each in found:
        one = each.activity
        source = f"{one.source}{' (approximate)' if each.approximate else ''}"
        add_row(printed, one.id, one.name, one.sector, one.kind, source)
    print_table(printed)
    say(f"{len(found):,} activities. {held.attribution}")


def _objective(code: str) -> Objective | None:
    from responsa.errors import InputError, suggestion
    from responsa.taxonomy.activities.acts import OBJECTIVES

    codes = [each for each, _, _ in OBJECTIVES]
    if code and code.upper() not in codes:
        raise InputError(f"--objective: no objective {code!r}{suggestion(code.upper(), codes)}")
    return cast("Objective", code.upper()) if code else None


def _summary(found: Found) -> dict[str, Any]:
    one = found.activity
    return {
        "id": one.id, "objective": one.objective, "number": one.number, "name": one.name, "sector": one.sector,
        "kind": one.kind, "nace": [*one.nace], "source": one.source, "approximate": found.approximate,
        "notes": [*found.notes],
    }  # fmt: skip


@taxonomy.command()
def show(
    activity: Annotated[str, typer.Argument(metavar="ACTIVITY", help="An id such as 'CCM 6.5', or a name.")],
    year: YearOption = None,
    every: Annotated[bool, typer.Option("--all", help="Show it for every objective, where it has several.")] = False,
    catalogue: CatalogueOption = None,
    json: JsonOption = False,
) -> None:
    """Print an activity's criteria as a tree, with thresholds, the dates that they apply between, and the source.

    Which wording applies follows from the financial year; where that of another date has to serve, a note says so.
    """
    from responsa.taxonomy.activities.catalogue import load
    from responsa.taxonomy.activities.records import activity_record

    held = load(catalogue)
    found = held.all(activity, year) if every else (held.find(activity, year),)
    if json:
        items: list[Any] = [
            {**activity_record(each.activity), **_summary(each), "appendices": _appendices(each, held, plain=True)}
            for each in found
        ]
        print_json({"attribution": held.attribution, "activities": items})
        return
    for each in found:
        _print(each, held, year)
    say(held.attribution)


def _appendices(found: Found, held: Catalogue, *, plain: bool) -> dict[str, Any]:
    """The generic criteria that the criteria name, by letter."""
    from responsa.taxonomy.activities.criteria import appendices
    from responsa.taxonomy.activities.records import criterion_record

    one = found.activity
    letters = dict.fromkeys(letter for root in one.dnsh.values() for letter in appendices(root))
    shared = {letter: held.appendix(one, letter) for letter in letters}
    return {letter: criterion_record(each) if plain else each for letter, each in shared.items() if each}


def _print(found: Found, held: Catalogue, year: int | None) -> None:
    from responsa.taxonomy.activities.acts import OBJECTIVES

    one = found.activity
    say(f"{one.id} {one.name}{f' ({one.kind})' if one.kind else ''}")
    say(f"  sector {one.sector}; NACE {', '.join(one.nace) or 'none'}")
    say(f"  {one.source}{f', for the financial year {year}' if year else ''}")
    for each in found.notes:
        say(f"  note: {each}")
    for line in one.description.split("\n"):
        _wrapped(line, 1)
    names = {code: name for code, _, name in OBJECTIVES}
    say(f"\nSubstantial contribution to {names[one.objective]}")
    _print_criterion(one.substantial_contribution, 1)
    for code, root in one.dnsh.items():
        say(f"\nNo significant harm to {names[code]}")
        _print_criterion(root, 1)
    shared = _appendices(found, held, plain=False)
    if shared:
        say(f"\nGeneric criteria named above, in full with --json: {', '.join(f'Appendix {each}' for each in shared)}")
    say()


def _print_criterion(root: Criterion, depth: int) -> None:
    words = {"all": "all of", "any": "one of", "at_least": f"at least {root.count} of"}
    join = f" [{words[root.logic]} {len(root.parts)}]" if root.parts else ""
    when = _dates(root)
    _wrapped(f"{root.id}{join}{f' ({when})' if when else ''}{': ' if root.text else ''}{root.text}", depth)
    for each in root.thresholds:
        _wrapped(f"> {_threshold(each)}", depth + 1)
    for part in root.parts:
        _print_criterion(part, depth + 1)


def _threshold(each: Threshold) -> str:
    scope = "applies to: " if each.scope else ""
    when = _dates(each)
    amount = f"{each.op} {each.value:.12g} {each.unit}".rstrip()
    if each.unit == "class":
        amount = f"{chr(ord('A') - 1 + int(each.value))} or better"
    return f"{scope}{each.metric} {amount}{f' ({when})' if when else ''}"


def _dates(each: Criterion | Threshold) -> str:
    parts = [f"{word} {day}" for word, day in (("from", each.valid_from), ("to", each.valid_to)) if day]
    return " ".join(parts)


def _wrapped(text: str, depth: int) -> None:
    indent = "  " * depth
    for line in textwrap.wrap(
        text, max(_WIDTH, len(indent) + 40), initial_indent=indent, subsequent_indent=f"{indent}  ",
        break_long_words=False, break_on_hyphens=False,
    ):  # fmt: skip
        say(line)


@taxonomy.command()
def screen(
    report: Annotated[Path, typer.Argument(metavar="REPORT", help="A company's report (.pdf, .docx, .html).")],
    year: YearOption = None,
    limit: Annotated[int, typer.Option("-k", min=1, help="How many activities to list.")] = 20,
    catalogue: CatalogueOption = None,
    json: JsonOption = False,
) -> None:
    """Rank the activities that a report seems to be about, with the pages and words that say so.

    A first screen for a person to look at: it reads the report's text, and no tables that are pictures.
    """
    from responsa.taxonomy.activities.catalogue import load
    from responsa.taxonomy.assessment.prepared import screened
    from responsa.taxonomy.evidence.report import read_report

    held = load(catalogue)
    with progress("Reading") as bar:
        read = read_report(report, progress=bar)
    for said in read.notices:
        note(f"{report.name}: {said}")
    found = screened(read, held, year, limit)
    if json:
        print_json({"report": str(report), "activities": [_candidate(each) for each in found]})
    elif found:
        _print_candidates(found)
    else:
        say(f"{report}: nothing in its text points to an activity of the EU Taxonomy")


def _candidate(each: Candidate) -> dict[str, Any]:
    reasons = [{"kind": r.kind, "pages": [*r.pages], "matched": r.matched} for r in each.reasons]
    return {
        "id": each.id, "others": [*each.others], "name": each.name, "score": each.score, "reasons": reasons
    }  # fmt: skip


def _print_candidates(found: Sequence[Candidate]) -> None:
    printed = table("Activity", "Name", "Score", "Why", whole=("Activity",), right=("Score",))
    for each in found:
        why = (
            "; ".join(f"{r.kind} {r.matched!r}, {_pages(r.pages)}" for r in each.reasons) or "words of its description"
        )
        add_row(printed, each.id, each.name, f"{each.score:.1f}", why)
    print_table(printed)


def _pages(pages: Sequence[int], most: int = 6) -> str:
    shown = ", ".join(map(str, pages[:most])) + (" ..." if len(pages) > most else "")
    return f"page{'s' if len(pages) > 1 else ''} {shown}"


@taxonomy.command()
def build(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="Delegated acts in Formex (.xml), of any date; a Compass export (.json)."
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="The catalogue to write: .json, or .json.gz for a small one.")
    ] = Path("catalogue.json.gz"),
) -> None:
    """Make a catalogue of activities from acts of your own, for --catalogue.

    An act is valid from the date in its file. A Compass export is of the year in its name: compass_2022.json.
    """
    from responsa.storage import check_target
    from responsa.taxonomy.activities.build import build as made
    from responsa.taxonomy.activities.build import write

    check_target(out, files)
    content = made(files, lambda name, count: note(f"{name}: {count} activities"))
    write(content, out)
    say(f"{len(content['activities'])} activities in {out}")
