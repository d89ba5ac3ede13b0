"""The command that makes a smaller network to train from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from responsa.cli.output import JsonOption, print_json, say
from responsa.cli.training import BaseOption


def base(
    context: typer.Context,
    out: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write: a BERT, for --base.")],
    base: BaseOption = "minilm",
    layers: Annotated[int, typer.Option("--layers", min=1, help="Lowest layers to keep.")] = 3,
    least: Annotated[int, typer.Option("--least", min=1, help="How often a word piece must occur to be kept.")] = 1,
    json: JsonOption = False,
) -> None:
    """Make a smaller base: the lowest layers, and the word pieces that the passages of the library hold."""
    from responsa.corpus.library import Library
    from responsa.learn.base import base as find_base
    from responsa.learn.shrink import shrink

    with Library.open(context.obj) as library:
        corpus = library.corpus()
        texts = (item.text for version in corpus.versions for item in corpus.passages(version))
        pieces = shrink(find_base(base), layers, texts, out, least)
    if json:
        print_json({"folder": str(out), "layers": layers, "pieces": pieces})
        return
    say(f"{out}: {layers} layers, {pieces:,} word pieces")
