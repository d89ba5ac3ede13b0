"""The command that looks for the size of chunks of reports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from responsa.cli.output import AsOfOption, JsonOption, add_row, note, parse_date, print_json, print_table, table


def chunk_search(
    context: typer.Context,
    gold: Annotated[
        Path, typer.Argument(metavar="GOLD", help="JSON or JSONL of texts to be found: document, quote or evidence.")
    ],
    as_of: AsOfOption = None,
    json: JsonOption = False,
) -> None:
    """Try sizes and overlaps of chunks on the reports of the library: how many known texts no chunk holds.

    Sizes from 1,000 to 3,000 characters, overlaps from 0 to 500; a text counts as not held where no chunk has
    80 % of its words. GOLD is JSONL with document and quote, or JSON whose rows have a report and evidence with
    quotes. The first of the best is the smallest size, then the smallest overlap.
    """
    from responsa.corpus.chunks import HELD, quotes, search
    from responsa.corpus.library import Library
    from responsa.errors import InputError
    from responsa.views import Json

    wanted = quotes(gold)
    with Library.open(context.obj) as library:
        corpus = library.corpus(parse_date(as_of))
        documents = [
            (tuple(corpus.passages(version)), wanted[version.document_id])
            for version in corpus.versions
            if version.document_id in wanted
        ]
        missing = sorted(set(wanted) - {version.document_id for version in corpus.versions})
    if not documents:
        raise InputError(f"none of the documents of {gold} is in the library: {', '.join(missing)}; add them first")
    if missing:
        note(f"not in the library, and left out: {', '.join(missing)}")
    trials = list(search(documents))
    best = min(trials, key=lambda trial: (trial.low, trial.size, trial.overlap))
    if json:
        rows: list[Json] = [
            {
                "size": trial.size, "overlap": trial.overlap, "chunks": trial.chunks, "below": trial.low,
                "texts": trial.total, "mean": trial.mean,
            }
            for trial in trials
        ]  # fmt: skip
        print_json({"trials": rows, "size": best.size, "overlap": best.overlap})
        return
    below = f"below {HELD:.0%}"
    names = ("size", "overlap", "chunks", "texts", below, "mean share")
    listing = table(*names, right=names)
    for trial in trials:
        cells = (trial.size, trial.overlap, f"{trial.chunks:,}", trial.total, trial.low, f"{trial.mean:.4f}")
        add_row(listing, *map(str, cells))
    print_table(listing)
    typer.echo(f"best: {best.size} characters with {best.overlap} repeated, {best.low} of {best.total} texts {below}")
