"""Commands that build what search by meaning needs, and choose weights."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from responsa.cli.output import JsonOption, add_row, note, plural, print_json, print_table, progress, say, table
from responsa.config import DEFAULT_RECIPE

if TYPE_CHECKING:
    from responsa.recipe import Recipe
    from responsa.tuning import Calibration


def index(
    context: typer.Context,
    recipe: Annotated[
        str, typer.Option("--recipe", metavar="RECIPE", help="Build what this recipe needs.")
    ] = DEFAULT_RECIPE,
    encoder: Annotated[str, typer.Option("--encoder", metavar="NAME", help="Build the vectors of this encoder.")] = "",
) -> None:
    """Build indexes ahead of the first search. What is built stays; a stopped run goes on with the document it was at.

    Indexes that are there are read through, and damaged ones built again.
    """
    from responsa import recipe as recipes
    from responsa.corpus.library import Library
    from responsa.errors import StorageError
    from responsa.retrieval.hybrid import indexed
    from responsa.retrieval.vectors import Dense
    from responsa.retrieval.windowed import ByModel

    stages = indexed(Dense(encoder) if encoder else recipes.load(recipe).retrieve)
    with Library.open(context.obj) as library, progress("Encoding") as bar:
        corpus = library.corpus()
        for name, problem in library.artefacts.discard_damaged():
            note(f"damaged, built again where needed: {name} ({problem})")
        for stage in stages:
            if isinstance(stage, ByModel):
                stored = stage.stored()
                missing, others = stored.state(corpus)
                if others:
                    note(f"of another model or other settings, encoded anew: {others} of {plural(missing, 'document')}")
                stored.paths(corpus, bar, renew=True)
                written = not stored.state(corpus)[0]
            else:
                stage.prepare(corpus)
                written = stage.ready(corpus)
            if not written:
                raise StorageError(f"{context.obj}: the indexes cannot be written: the folder is read-only")
    note(f"indexed: {plural(len(corpus.versions), 'document')}")


def tune(
    context: typer.Context,
    recipe: Annotated[str, typer.Argument(metavar="RECIPE", help="A recipe with several retrievers.")],
    gold: Annotated[
        Path, typer.Option("--gold", metavar="GOLD", help="Questions with gold passages: ObliQA JSON, JSONL.")
    ],
    measure: Annotated[
        str, typer.Option("--measure", metavar="NAME", help="What to make as large as possible.")
    ] = "recall@10",
    steps: Annotated[int, typer.Option("--steps", min=1, help="Weights are multiples of 1/N.")] = 20,
    calibrate: Annotated[bool, typer.Option("--calibrate", help="Fit what makes probabilities of scores.")] = False,
    json: JsonOption = False,
) -> None:
    """Choose the weights of a recipe's retrievers on questions with gold passages; prints the table to put into it.

    What reranks is left out: the figures are those of the fusion alone.

    With --calibrate the weights stay, and the table is that of the stage which makes probabilities of the scores.
    """
    from responsa import questions
    from responsa import recipe as recipes
    from responsa.cli.scoring import read_gold
    from responsa.corpus.library import Library
    from responsa.evaluate.ranking import Measure
    from responsa.evaluate.trec import check_gold
    from responsa.tuning import calibrate as fit
    from responsa.tuning import tune as choose

    wanted = Measure.parse(measure)
    queries, judgements = questions.read(gold), read_gold(context.obj, gold)
    with Library.open(context.obj) as library:
        chosen, corpus = recipes.load(recipe), library.corpus()
        check_gold(judgements, corpus, note, strict=False)
        if calibrate:
            _print_calibration(fit(chosen, queries, judgements, corpus), json)
            return
        trials = choose(chosen, queries, judgements, corpus, wanted, steps)
    _note_left_out(chosen)
    if len({trial.value for trial in trials}) == 1:
        note(f"{wanted} is the same with every choice of weights: these questions cannot tell which is best")
    if json:
        print_json({"measure": str(wanted), "trials": [{"weights": list(t.weights), "value": t.value} for t in trials]})
        return
    listing = table("weights", str(wanted), right=(str(wanted),))
    for trial in trials[:10]:
        add_row(listing, ", ".join(f"{weight:g}" for weight in trial.weights), f"{trial.value:.4f}")
    print_table(listing)
    say(f"[fuse]\nweights = {[round(weight, 4) for weight in trials[0].weights]}")


def _note_left_out(chosen: Recipe) -> None:
    """Say what the figures leave out; a stage of learned weights was learned for the weights that the recipe has."""
    from responsa.retrieval import Hybrid
    from responsa.retrieval.learned import Features

    stages = chosen.retrieve.rerank if isinstance(chosen.retrieve, Hybrid) else ()
    if stages:
        note(f"of the fusion alone: {plural(len(stages), 'stage')} that rerank are left out")
    if any(isinstance(stage, Features) for stage in stages):
        note("the weights of 'features' were learned for the recipe's own [fuse]: with another, learn them anew by")
        note("responsa train features, and compare both recipes by responsa experiment run")


def _print_calibration(found: Calibration, json: bool) -> None:
    stage = found.stage
    if json:
        print_json({"scale": stage.scale, "shift": stage.shift, "passages": found.passages, "gold": found.gold})
        return
    note(f"fitted on {plural(found.passages, 'passage')}, of which {found.gold:,} are gold")
    say(f'[[rerank]]\nkind = "calibrate"\nscale = {stage.scale:.6g}\nshift = {stage.shift:.6g}')
