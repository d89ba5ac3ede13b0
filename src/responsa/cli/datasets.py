"""Commands that write data sets as the files that other commands read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from responsa.cli.output import JsonOption, note, plural, print_json, say

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


@dataset.command("examples")
def examples(
    context: typer.Context,
    questions: Annotated[
        list[Path], typer.Argument(metavar="QUESTIONS...", help="Training questions with gold: ObliQA JSON, JSONL.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The file to write, one example in a line.")],
) -> None:
    """Questions with the text of a gold passage each: the examples=FILE of encoders that are shown some (BGE-EN-ICL).

    Give training questions alone, never those that are tested on.
    """
    import json

    from responsa.corpus.library import Library
    from responsa.learn.examples import in_context, load_all
    from responsa.storage import check_target, write_text

    check_target(out, questions)
    with Library.open(context.obj) as library:
        corpus = library.corpus()
        found = load_all(questions, lambda document, number: [each.id for each in corpus.find(document, number)])
        made = in_context(found, corpus)
    write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in made), out)
    note(f"{plural(len(made), 'example')} of {plural(len(found), 'question')}, written to {out}")
