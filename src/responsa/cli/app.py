"""The commands put together, and the options that all of them share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from responsa.cli import (
    asking,
    assessing,
    bases,
    chunking,
    datasets,
    entailing,
    experiments,
    fusing,
    judged,
    library,
    referring,
    registering,
    scoring,
    taxonomy,
    training,
    tuning,
)

app = typer.Typer(
    name="responsa",
    help="Answers questions about regulation with the rule cited.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"responsa {version('responsa')}")
        raise typer.Exit


@app.callback()
def shared(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Option("--library", envvar="RESPONSA_LIBRARY", metavar="DIR", help="The library's folder.")
    ] = Path("library"),
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Answers questions about regulation with the rule cited."""
    del version
    context.obj = folder


_COMMANDS: tuple[Callable[..., None], ...] = (
    library.add,
    library.remove,
    library.documents,
    library.show,
    library.passage,
    library.verify,
    library.answers,
    referring.references,
    referring.define,
    referring.diff,
    registering.obligations,
    asking.search,
    asking.ask,
    asking.run,
    asking.answer,
    assessing.assess,
    tuning.index,
    tuning.tune,
    chunking.chunk_search,
    entailing.entail,
    entailing.detect,
)
for command in _COMMANDS:
    app.command()(command)
scoring.score.command("answers")(entailing.answers)
scoring.score.command("judged")(judged.judged)
app.add_typer(scoring.score, name="score")
app.add_typer(experiments.experiment, name="experiment")
training.train.command("base")(bases.base)
training.train.command("features")(fusing.features)
app.add_typer(training.train, name="train")
app.add_typer(taxonomy.taxonomy, name="taxonomy")
app.add_typer(datasets.dataset, name="dataset")


def _flow(part: typer.Typer) -> None:
    """Let help texts fill the screen's width: but for the first paragraph typer keeps the line ends of the source."""
    for each in part.registered_commands:
        text = inspect.cleandoc(each.help or (each.callback and each.callback.__doc__) or "")
        each.help = "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
    for group in part.registered_groups:
        if group.typer_instance:
            _flow(group.typer_instance)


_flow(app)
