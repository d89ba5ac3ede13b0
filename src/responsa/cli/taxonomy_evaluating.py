"""``taxonomy evaluate``: runs of evidence recipes, a form for people's ratings, and all tables and figures of both."""

from __future__ import annotations

from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from responsa.cli.output import JsonOption, add_row, note, print_json, print_table, progress, say, table
from responsa.cli.planned import DryRunOption, print_planned

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from responsa.models.chat import ChatModel
    from responsa.taxonomy.evaluation.evidence import MarkedRow
    from responsa.taxonomy.evidence.report import Report

evaluate = typer.Typer(no_args_is_help=True, help="Evaluate evidence and assessments against people's judgements.")

RowsOption = Annotated[
    Path | None, typer.Option("--rows", metavar="FILE", help="Judged rows, in the form of alignment_dev.json.")
]


@evaluate.command()
def runs(
    rows: Annotated[Path, typer.Argument(metavar="ROWS", help="Rows with evidence, as alignment_dev.json has them.")],
    reports: Annotated[Path, typer.Option("--reports", metavar="DIR", help="The folder of the reports they name.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where gold and runs are written.")],
    recipe: Annotated[
        list[str] | None, typer.Option("--recipe", metavar="NAME", help="An evidence recipe; several. Else all.")
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            metavar="MODEL",
            help="The language model for qe, qeha and prfqe; else that of RESPONSA_CHAT_MODEL; none for no model.",
        ),
    ] = "",
    chunks: Annotated[
        int, typer.Option("--chunks", min=1, help="Chunks for a row where a recipe ranks them all (default and kin).")
    ] = 10,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute again what is there.")] = False,
    dry_run: DryRunOption = False,
    json: JsonOption = False,
) -> None:
    """Find evidence for marked rows with recipes; write a run for each and the gold, to be scored by report.

    Runs that are there and whose inputs have not changed are kept. Recipes that lack a language model or a library are
    not run.
    """
    from responsa.errors import InputError
    from responsa.taxonomy.evaluation.evidence import read_rows
    from responsa.taxonomy.evaluation.runs import make_runs
    from responsa.taxonomy.evidence import recipes

    marked = read_rows(rows)
    names = list(dict.fromkeys(recipe or recipes.shipped()))
    needed = [recipes.load(name).needs_chat for name in names]
    chat = _chat(model) if any(needed) else None
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; name a folder")
    if dry_run:
        _print_plan(marked, _reports(marked, reports), names, out, chat, chunks, fresh, json)
        return
    out.mkdir(parents=True, exist_ok=True)
    with progress("Finding evidence") as bar:
        states = make_runs(
            marked, _reports(marked, reports), names, out, chat, chat.name if chat else "", chunks, fresh, bar
        )
    if json:
        listed: list[Any] = [{"recipe": each.recipe, "state": each.state, "reason": each.reason} for each in states]
        print_json({"runs": listed})
        return
    printed = table("Recipe", "State", "Remark", whole=("Recipe",))
    for each in states:
        add_row(printed, each.recipe, each.state, each.reason)
    print_table(printed)
    note(f"written to {out}")


def _print_plan(
    rows: Sequence[MarkedRow],
    reports: Mapping[str, Report],
    names: Sequence[str],
    out: Path,
    chat: ChatModel | None,
    chunks: int,
    fresh: bool,
    json: bool,
) -> None:
    """What the language model would be asked for the runs that are not there, made in a folder that is thrown away."""
    from responsa.errors import InputError
    from responsa.models.chat.dryrun import DryRun
    from responsa.models.chat.load import UNSET
    from responsa.taxonomy.evaluation.runs import asking, make_runs

    if chat is None:
        raise InputError(f"--dry-run: no language model is asked; name a recipe that asks one, and its model. {UNSET}")
    run = DryRun(chat)
    due = asking(rows, reports, names, out, chat.name, chunks, fresh)
    with TemporaryDirectory(prefix="responsa-plan-") as folder, progress("Planning") as bar:
        make_runs(rows, reports, due, Path(folder), run, chat.name, chunks, fresh, bar)
    if json:
        print_json({"planned": [asdict(row) for row in run.planned()]})
    else:
        print_planned(run, "the runs are there as they would be made")


def _chat(model: str) -> ChatModel | None:
    """The model named, or that of the environment; None where there is neither, and for ``none``."""
    from responsa.cli.assessing import names_none
    from responsa.models.chat.load import load_chat

    return None if names_none(model) else load_chat(model)


def _reports(rows: Sequence[MarkedRow], folder: Path) -> dict[str, Report]:
    from responsa.errors import InputError
    from responsa.taxonomy.evidence.report import read_report

    names = list(dict.fromkeys(row.report for row in rows))
    if outside := [name for name in names if Path(name).name != name]:
        raise InputError(f"{outside[0]!r} is no name of a file in {folder}")
    return {name: read_report(folder / name) for name in names}


@evaluate.command()
def template(
    assessments: Annotated[
        list[Path], typer.Argument(metavar="ASSESSMENT...", help="What assess --json wrote, with generations.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="CSV", help="The form to fill in.")],
    rows: RowsOption = None,
    bertscore: Annotated[
        str, typer.Option("--bertscore", metavar="MODEL", help="Fill the BERTScore columns too, by this model.")
    ] = "",
) -> None:
    """Write a CSV form with a line for each generation: its texts and BLEU, and empty columns for HE1 to HE3, C21 to
    C32 and the logic hole."""
    from responsa.storage import check_target, write_text
    from responsa.taxonomy.assessment.trust import likeness
    from responsa.taxonomy.evaluation.files import template as form
    from responsa.taxonomy.evaluation.rows import read_assessments, read_judged
    from responsa.taxonomy.evaluation.template import lines

    check_target(out, [*assessments, *([rows] if rows else [])])
    like = likeness(bertscore) if bertscore else None
    made = lines(read_assessments(assessments), read_judged(rows) if rows else (), like)
    write_text(form(made), out)
    note(f"{len(made)} generations to rate, written to {out}")


@evaluate.command()
def report(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where tables and figures are written.")],
    runs: Annotated[
        list[Path] | None, typer.Option("--runs", metavar="PATH", help="TREC run files, or folders of them; several.")
    ] = None,
    gold: Annotated[
        Path | None, typer.Option("--gold", metavar="FILE", help="What is right: gold.json of runs, or TREC qrels.")
    ] = None,
    annotations: Annotated[
        Path | None, typer.Option("--annotations", metavar="CSV", help="People's ratings of generations.")
    ] = None,
    rater: Annotated[
        str, typer.Option("--rater", metavar="NAME", help="Whose ratings, where several people rated.")
    ] = "",
    rows: RowsOption = None,
    assessment: Annotated[
        list[Path] | None,
        typer.Option("--assessment", metavar="PATH", help="What assess --json wrote, or folders of it; several."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write all tables and figures: 7.1 to 7.6 of ratings, 8.1 to 8.10 of runs, and assessments against judged rows.

    What the EU Taxonomy thesis prints stands in columns of its own; what was not measured here says so. The same files
    give the same bytes.
    """
    from responsa.errors import MissingDependency
    from responsa.experiment import taxonomy_report

    if find_spec("matplotlib") is None:
        raise MissingDependency("drawing figures", "plots")
    inputs = taxonomy_report.Inputs(tuple(runs or ()), gold, annotations, rows, tuple(assessment or ()), rater)
    made = taxonomy_report.evaluate(inputs)
    written = taxonomy_report.write(made, inputs, out)
    if json:
        print_json(taxonomy_report.results(made))
        return
    for sheet in made.sheets:
        say(sheet.title)
        printed = table(*sheet.header, right=sheet.header[1:])
        for row in sheet.rows:
            add_row(printed, *map(taxonomy_report.shown, row))
        print_table(printed)
    for remark in made.remarks:
        note(remark)
    note(f"{len(written)} files written to {out}")
