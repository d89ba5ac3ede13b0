"""Commands that score."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from responsa.cli.output import JsonOption, add_row, note, plural, print_json, print_table, say, table

if TYPE_CHECKING:
    from responsa.evaluate.agreement import PairedComparison
    from responsa.evaluate.ranking import Measure, RunScores, Summary
    from responsa.types import Judgement

GradedOption = Annotated[
    bool, typer.Option("--graded", help="For nDCG: a gold passage counts 2, one rated as indirect (Relation 2) 1.")
]

score = typer.Typer(help="Score runs and answers.", no_args_is_help=True)


@score.callback()
def scores() -> None:
    """Score what the batch commands wrote."""


@score.command("run")
def run(
    context: typer.Context,
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="TREC run files; two or more are compared.")],
    gold: Annotated[Path, typer.Option("--gold", metavar="GOLD", help="TREC qrels, ObliQA JSON or JSONL.")],
    measures: Annotated[
        str, typer.Option("--measures", metavar="NAMES", help="For example recall@10,MAP@10,nDCG@10,MRR.")
    ] = "",
    graded: GradedOption = False,
    seed: Annotated[int, typer.Option("--seed", help="Of the bootstrap and the paired test.")] = 0,
    json: JsonOption = False,
) -> None:
    """Score runs against gold passages as trec_eval does, with 95 % bootstrap intervals.

    Questions missing from a run count as zero and are reported. Several runs are compared with the first
    by a paired permutation test.
    """
    from responsa import views
    from responsa.evaluate import ranking, trec

    wanted = (
        tuple(ranking.Measure.parse(name) for name in measures.split(",")) if measures else ranking.DEFAULT_MEASURES
    )
    judgements = read_gold(context.obj, gold, graded)
    scored = [ranking.score_run(trec.read_run(path), judgements, wanted) for path in runs]
    summaries = [ranking.summarise(each, seed) for each in scored]
    pairs = [
        (other, measure, ranking.compare_runs(scored[other], scored[0], measure, seed))
        for other in range(1, len(scored))
        for measure in wanted
    ]
    if json:
        print_json(
            {
                "runs": [
                    {"file": str(path), "result": views.scores(each, means)}
                    for path, each, means in zip(runs, scored, summaries, strict=True)
                ],
                "comparisons": [
                    views.comparison(str(runs[0]), str(runs[other]), str(measure), result)
                    for other, measure, result in pairs
                ],
            }
        )
        return
    for path, each, means in zip(runs, scored, summaries, strict=True):
        _print_means(path, each, means, wanted)
    _print_comparisons(runs, pairs)


def read_gold(folder: Path, gold: Path, graded: bool = False) -> list[Judgement]:
    """Judgements from a gold file; the library is opened where it is there, to look printed numbers up."""
    from responsa.corpus import catalogue
    from responsa.corpus.library import Library
    from responsa.evaluate import trec

    if not catalogue.is_there(folder):
        return trec.read_gold(gold, None, graded)
    with Library.open(folder) as library:
        corpus = library.corpus()
        return trec.read_gold(gold, lambda document, number: [p.id for p in corpus.find(document, number)], graded)


def _print_means(path: Path, scored: RunScores, means: list[Summary], measures: tuple[Measure, ...]) -> None:
    groups = list(dict.fromkeys(summary.group for summary in means))
    listing = table("gold passages", "questions", *(str(measure) for measure in measures), right=("questions",))
    for group in groups:
        rows = {summary.measure: summary.estimate for summary in means if summary.group == group}
        cells = [f"{rows[str(m)].mean:.4f} [{rows[str(m)].low:.3f} {rows[str(m)].high:.3f}]" for m in measures]
        add_row(listing, group, f"{next(iter(rows.values())).n:,}", *cells)
    say(f"{path} ({scored.run})")
    print_table(listing)
    if scored.missing:
        note(
            f"{path}: {plural(len(scored.missing), 'question')} missing from the run and counted as zero: "
            f"{_few(scored.missing)}"
        )
    if scored.unjudged:
        note(f"{path}: {plural(len(scored.unjudged), 'question')} without gold left out: {_few(scored.unjudged)}")
    if len(scored.missing) > len(scored.gold) / 2:
        note(f"{path}: most questions are missing; is this the gold for this run?")


def _print_comparisons(runs: list[Path], pairs: list[tuple[int, Measure, PairedComparison]]) -> None:
    if not pairs:
        return
    listing = table("second run", "measure", "difference", "95 % interval", "p", "better", "worse", "equal")
    for other, measure, result in pairs:
        difference = result.difference
        add_row(
            listing,
            str(runs[other]),
            str(measure),
            f"{difference.mean:+.4f}",
            f"{difference.low:+.4f} {difference.high:+.4f}",
            f"{result.p_value:.4f}",
            str(result.wins),
            str(result.losses),
            str(result.ties),
        )
    say(f"Compared with {runs[0]} (paired permutation test):")
    print_table(listing)


def _few(names: tuple[str, ...]) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
