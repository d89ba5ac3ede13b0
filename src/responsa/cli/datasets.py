"""Commands that write data sets as the files that other commands read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from responsa.cli.output import JsonOption, note, print_json, say

dataset = typer.Typer(help="Write data sets as questions, gold and passages.", no_args_is_help=True)


@dataset.command("eba")
def eba(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The archive: train.jsonl, validation.jsonl, perhaps written.jsonl.")
    ],
    law: Annotated[
        Path, typer.Option("--law", metavar="DIR", help="The article files of the CRR, one for each version.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder to write to.")],
    folds: Annotated[int, typer.Option("--folds", min=2, help="How many parts to test on in turn.")] = 5,
    seed: Annotated[int, typer.Option("--seed", help="Which parts.")] = 0,
    json: JsonOption = False,
) -> None:
    """The EBA's Q&A on the CRR: questions, gold articles, strata, folds, the act by date, and training examples."""
    from responsa.learn.eba.dataset import open_source, write

    report = write(open_source(folder, law), out, folds, seed)
    if json:
        print_json(report.counts)
        return
    asked = report.inquiries - report.not_english - report.without_gold
    say(f"{report.inquiries:,} inquiries: {report.not_english:,} not in English, {report.without_gold:,} without gold")
    say(f"{report.gold:,} gold articles of {asked:,} inquiries; {report.cited:,} articles cited in answers")
    say("strata: " + ", ".join(f"{name} {count:,}" for name, count in report.strata.items()))
    dates = ", ".join(f"{day} {count:,}" for day, count in report.versions.items() if count)
    say(f"version in force: {dates}; approximate, for none that is held was in force: {report.approximate:,}")
    say(f"training examples: {report.examples:,}, of the archive and of {report.written:,} written inquiries")
    say(f"folds: {', '.join(map(str, report.folds))} to test on")
    if report.shortened:
        note(f"{report.shortened:,} cut to the length that question files may have")
    note(f"written to {out}")
