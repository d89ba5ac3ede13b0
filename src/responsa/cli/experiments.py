"""Commands that run tables of systems on the same questions and print them beside the published figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from responsa.checkers import EMBEDDED, RULES
from responsa.cli import answer_experiments as written
from responsa.cli.checking import NliOption, ObligationsOption
from responsa.cli.output import JsonOption, add_row, note, plural, print_json, print_table, progress, say, table
from responsa.cli.planned import DryRunOption
from responsa.cli.scoring import GradedOption
from responsa.errors import InputError

if TYPE_CHECKING:
    from responsa.corpus.library import Library
    from responsa.corpus.view import Corpus
    from responsa.evaluate.ranking import Measure
    from responsa.experiment.answer_table import AnswerTable
    from responsa.experiment.table import Table
    from responsa.types import Run

experiment = typer.Typer(help="Reproduce published tables, and compare recipes.", no_args_is_help=True)

Names = Annotated[
    list[str], typer.Argument(metavar="TABLE_OR_RECIPE...", help="Tables and recipes, by name or by path (.toml).")
]
OutOption = Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder of runs and results.")]
OUT = Path("experiments")


@experiment.callback()
def experiments() -> None:
    """Reproduce published tables, and compare recipes."""


QuestionsOption = Annotated[
    list[Path] | None,
    typer.Option("--questions", metavar="FILE", help="Questions; may be given several times. Else the table's."),
]
GoldOption = Annotated[
    list[Path] | None,
    typer.Option("--gold", metavar="FILE", help="Their gold, where the question files do not hold it."),
]
FoldsOption = Annotated[
    Path | None,
    typer.Option("--folds", metavar="FILE", help="JSON list of {test, train} ids; {fold} in recipes is its number."),
]
PassagesOption = Annotated[
    list[int] | None,
    typer.Option(
        "-k",
        "--k",
        min=1,
        help="How many passages for each question; else the table's, or 100. An answer is written from that many at "
        "most; a row for each where it is repeated.",
    ),
]
MeasuresOption = Annotated[
    str, typer.Option("--measures", metavar="NAMES", help="Instead of the table's: recall@10,MAP@10,nDCG@10,MRR.")
]


@experiment.command("run")
def run(
    context: typer.Context,
    names: Names,
    questions: QuestionsOption = None,
    gold: GoldOption = None,
    folds: FoldsOption = None,
    out: OutOption = OUT,
    k: PassagesOption = None,
    measures: MeasuresOption = "",
    graded: GradedOption = False,
    model: written.ModelsOption = None,
    score: written.ScoreOption = "",
    references: written.ReferencesOption = None,
    judge: written.JudgeOption = None,
    topic: written.TopicOption = "",
    protocol: written.ProtocolOption = "",
    nli: NliOption = EMBEDDED,
    coverage: written.CoverageOption = "",
    obligations: ObligationsOption = RULES,
    threads: written.ThreadsOption = 8,
    dry_run: DryRunOption = False,
    retry: written.RetryOption = False,
    seed: Annotated[int, typer.Option("--seed", help="Of the bootstrap and the paired test.")] = 0,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute again what is there.")] = False,
    json: JsonOption = False,
) -> None:
    """Run the rows of tables, or recipes, on the same questions; score and compare them.

    What has been computed is kept and, where nothing has changed, not computed again. Rows that need a model or a key
    that is not here are not run. Recipes that write answers are compared by their answers, others by what they find.
    """
    from responsa.corpus.library import Library
    from responsa.experiment import answer_table
    from responsa.experiment.table import gather

    answered, others = answer_table.gather(names, written.chosen(score))
    tables = gather(others, _measures(measures)) if others else ()
    options = written.Options(
        out, questions or (), references or (), model or (), k or (), judge or (), topic, protocol, nli, coverage,
        obligations, threads, fresh, retry, seed,
    )  # fmt: skip
    with Library.open(context.obj) as library, progress("Working") as bar:
        corpus = library.corpus()
        given = _Given(questions or (), gold or (), folds, graded, k or (), out, fresh, seed, bool(measures))
        found = _searched(tables, given, library, corpus, bar, dry_run) if tables else []
        work = written.dry_run if dry_run else written.run
        found += work(answered, options, library, corpus, bar)
    if json:
        print_json({"tables": found})
    elif dry_run:
        written.print_plan(found)
    else:
        for results in found:
            _print(results)
        note(f"written to {', '.join(str(out / results['table']['name']) for results in found)}")
    if any(row.get("state") == "failed" or row.get("failed") for results in found for row in results["rows"]):
        raise typer.Exit(1)


@dataclass(frozen=True)
class _Given:
    """What the command was given for retrieval."""

    questions: Sequence[Path]
    gold: Sequence[Path]
    folds: Path | None
    graded: bool
    ks: Sequence[int]
    out: Path
    fresh: bool
    seed: int
    named: bool  # whether the measures are those of --measures


def _searched(
    tables: Sequence[Table],
    given: _Given,
    library: Library,
    corpus: Corpus,
    bar: Callable[[int, int, str], None],
    dry_run: bool,
) -> list[Any]:
    """The results of tables of retrieval; of a dry run, what their rows would send."""
    from responsa.experiment import data as files
    from responsa.experiment import run as experiments
    from responsa.experiment.runs import Runs
    from responsa.models.chat.dryrun import Foreseen

    if not given.questions:
        raise InputError("no questions; name their file with --questions FILE")
    if len(given.ks) > 1:
        raise InputError("-k is given several times; rankings are made once, for the largest")
    k = next(iter(given.ks), None)
    tables = [_measurable(each, k or each.k, given.named) for each in tables]
    data = files.read(given.questions, given.gold, given.folds, corpus, note, given.graded)
    foreseen, found = Foreseen(), []
    for each in tables:
        once: dict[object, Run] | None = {} if each.sweep else None
        folder = given.out / "runs"
        runs = Runs(folder, library, corpus, data, k or each.k, given.fresh, bar, once, foreseen)
        if dry_run:
            found.append(written.as_plan(each.name, experiments.plans(each, runs)))
        else:
            found.append(experiments.run(each, runs, given.seed, note))
    return found


def _measurable(table: Table, k: int, named: bool) -> Table:
    """The table without the measures that look at more than ``k`` passages, which is told. InputError where they were
    ``named``, and where no other is left."""
    from responsa.experiment.results import within

    kept = within(table.measures, k)
    beyond = [measure for measure in table.measures if measure not in kept]
    if not beyond:
        return table
    names, most = ", ".join(map(str, beyond)), max(measure.k or 0 for measure in beyond)
    if named or not kept:
        what = f"--measures: {names}" if named else f"every measure of {table.name}"
        verb = "reaches" if len(beyond) == 1 or not named else "reach"
        raise InputError(f"{what} {verb} beyond the {k:,} passages that are looked for in {table.name}; give -k {most}")
    note(f"{table.name}: {names} {'is' if len(beyond) == 1 else 'are'} left out: {k:,} passages are looked for (-k)")
    return replace(table, measures=kept)


@experiment.command("check")
def check(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TABLE_OR_RECIPE...]", help="As for run; all tables that ship without any."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Say of each row whether it can be run on this machine, and what is missing. Nothing is downloaded."""
    from responsa.experiment import answer_run, answer_table
    from responsa.experiment.run import check as checked
    from responsa.experiment.table import gather, shipped

    answered, others = answer_table.gather(names or [*shipped(), *answer_table.shipped()])
    searched = gather(others) if others else ()
    tables: list[Table | AnswerTable] = [*searched, *answered]
    found: dict[str, list[Any]] = {each.name: [*checked(each)] for each in searched}
    found |= {each.name: [*answer_run.check(each)] for each in answered}
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
    from responsa.experiment import answer_report, report

    head = results["table"]
    say(head["title"] + (f" ({head['source']})" if head["source"] else ""))
    if answer_report.is_of_answers(results):
        written.print_results(results)
    else:
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
