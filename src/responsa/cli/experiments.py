"""Commands that run tables of systems on the same questions and print them beside the published figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from responsa.cli.output import JsonOption, add_row, note, plural, print_json, print_table, progress, say, table
from responsa.cli.scoring import GradedOption

if TYPE_CHECKING:
    from responsa.evaluate.ranking import Measure

experiment = typer.Typer(help="Reproduce published tables, and compare recipes.", no_args_is_help=True)

Names = Annotated[
    list[str], typer.Argument(metavar="TABLE_OR_RECIPE...", help="Tables and recipes, by name or by path (.toml).")
]
OutOption = Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder of runs and results.")]
OUT = Path("experiments")


@experiment.callback()
def experiments() -> None:
    """Reproduce published tables, and compare recipes."""


@experiment.command("run")
def run(
    context: typer.Context,
    names: Names,
    questions: Annotated[
        list[Path], typer.Option("--questions", metavar="FILE", help="Questions; may be given several times.")
    ],
    gold: Annotated[
        list[Path] | None,
        typer.Option("--gold", metavar="FILE", help="Their gold, where the question files do not hold it."),
    ] = None,
    folds: Annotated[
        Path | None,
        typer.Option(
            "--folds", metavar="FILE", help="JSON list of {test, train} ids; {fold} in recipes is its number."
        ),
    ] = None,
    out: OutOption = OUT,
    k: Annotated[
        int | None, typer.Option("-k", min=1, help="How many passages for each question; else the table's, or 100.")
    ] = None,
    measures: Annotated[
        str, typer.Option("--measures", metavar="NAMES", help="Instead of the table's: recall@10,MAP@10,nDCG@10,MRR.")
    ] = "",
    graded: GradedOption = False,
    seed: Annotated[int, typer.Option("--seed", help="Of the bootstrap and the paired test.")] = 0,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute again what is there.")] = False,
    json: JsonOption = False,
) -> None:
    """Run the rows of tables, or recipes, on the same questions; score and compare them.

    What has been computed is kept and, where nothing has changed, not computed again. Rows that need a model or a key
    that is not here are not run.
    """
    from responsa.corpus.library import Library
    from responsa.experiment import data as files
    from responsa.experiment import run as experiments
    from responsa.experiment.runs import Runs
    from responsa.experiment.table import gather

    tables = gather(names, _measures(measures))
    found: list[Any] = []
    with Library.open(context.obj) as library, progress("Searching") as bar:
        corpus = library.corpus()
        data = files.read(questions, gold or (), folds, corpus, note, graded)
        for each in tables:
            runs = Runs(out / "runs", library, corpus, data, k or each.k, fresh, bar, {} if each.sweep else None)
            found.append(experiments.run(each, runs, seed, note))
    if json:
        print_json({"tables": found})
    else:
        for results in found:
            _print(results)
        note(f"written to {', '.join(str(out / each.name) for each in tables)}")
    if any(row["state"] == "failed" for results in found for row in results["rows"]):
        raise typer.Exit(1)


@experiment.command("check")
def check(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TABLE_OR_RECIPE...]", help="As for run; all tables that ship without any."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Say of each row whether it can be run on this machine, and what is missing. Nothing is downloaded."""
    from responsa.experiment.run import check as checked
    from responsa.experiment.table import gather, shipped

    tables = gather(names or shipped())
    found: dict[str, list[Any]] = {each.name: [*checked(each)] for each in tables}
    if json:
        print_json({"tables": [{"name": name, "rows": rows} for name, rows in found.items()]})
        return
    for each in tables:
        say(f"{each.name}: {each.title}" + (f" ({each.source})" if each.source else ""))
        listing = table("recipe", "row", "runs here", "what is missing")
        for row in found[each.name]:
            add_row(listing, row["name"], row["label"], "yes" if row["runs"] else "no", row["reason"])
        print_table(listing)


@experiment.command("table")
def print_results(
    names: Annotated[
        list[str], typer.Argument(metavar="TABLE...", help="Tables that were run; 'recipes' for recipes.")
    ],
    out: OutOption = OUT,
    json: JsonOption = False,
) -> None:
    """Print what was run before."""
    from responsa.experiment.run import read

    found: list[Any] = [read(Path(name).stem if name.endswith(".toml") else name, out) for name in names]
    if json:
        print_json({"tables": found})
        return
    for results in found:
        _print(results)


def _measures(names: str) -> tuple[Measure, ...]:
    from responsa.evaluate.ranking import Measure

    return tuple(dict.fromkeys(Measure.parse(name) for name in names.split(","))) if names else ()


def _print(results: dict[str, Any]) -> None:
    from responsa.experiment import report

    head = results["table"]
    say(head["title"] + (f" ({head['source']})" if head["source"] else ""))
    for group in report.groups(results):
        header, *lines = report.cells(results, group)
        listing = table(*header, right=tuple(header[1:]))
        for line in lines:
            add_row(listing, *line)
        say(report.heading(results, group))
        print_table(listing)
    for remark in report.remarks(results):
        say(f"- {remark}")
    ran = sum(row["state"] == "done" for row in results["rows"])
    say(f"{plural(ran, 'row')} of {len(results['rows']):,} run here.")
