"""The command that learns how to weigh what is known of a candidate."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from responsa.cli.output import JsonOption, note, plural, print_json, progress, say
from responsa.cli.training import FoldOption, Folds, Questions

if TYPE_CHECKING:
    from responsa.learn.features import Learned


def features(
    context: typer.Context,
    questions: Questions,
    recipe: Annotated[str, typer.Option("--recipe", metavar="RECIPE", help="The stages before the one learned.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The weights, for [[rerank]] kind = 'features'.")],
    folds: Folds = None,
    fold: FoldOption = 0,
    penalty: Annotated[float, typer.Option("--penalty", help="On large weights (L2); more for few questions.")] = 3.0,
    depth: Annotated[int, typer.Option("--depth", min=1, help="Candidates of each stage of the recipe.")] = 200,
    without: Annotated[
        list[str] | None, typer.Option("--without", metavar="FEATURE", help="Leave out, such as length; repeatable.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Learn the weights of a 'features' stage for a recipe: of its scores, and of place, words and links.

    The stages of the recipe before its 'features' stage, or all of them, are run on the questions. With folds, the
    questions of the fold's test part are ranked before and after. A model in the recipe must not have learned from the
    questions. If it has, train one for each fold, give --recipe 'NAME-{fold}.toml' and --folds: each question is then
    ranked by the recipe of the fold that tests it, and the weights are learned on all; NAME-0.json and so on beside
    the file are those that ranked each fold.
    """
    from responsa import recipe as recipes
    from responsa.corpus.library import Library
    from responsa.errors import InputError
    from responsa.learn import examples
    from responsa.learn.features import Sources, cross, learn, stages_before
    from responsa.storage import write_text

    if out.suffix != ".json":
        raise InputError(f"--out: the name of a file that ends in .json is needed, got {str(out)!r}")
    sources = Sources(tuple(questions), folds, fold)
    several = range(len(examples.read_folds(folds))) if folds and "{fold}" in recipe else ()
    named = [recipe.replace("{fold}", str(number)) for number in several] or [recipe]
    retrieve = [stages_before(recipes.load(name).retrieve) for name in named]
    with Library.open(context.obj) as library, progress("Learning") as bar:

        def tell(done: int, total: int) -> None:
            bar(done, total, "")

        corpus = library.corpus()
        if several:
            learned = cross(sources, retrieve, corpus, penalty, without or (), tell, depth)
        else:
            learned = learn(sources, retrieve[0], corpus, penalty, without or (), tell, depth)
    write_text(learned.weights.text(), out)
    for number, weights in enumerate(learned.of_folds):
        write_text(weights.text(), out.with_name(f"{out.stem}-{number}.json"))
    _report(learned, out, json)


def _report(learned: Learned, out: Path, json: bool) -> None:
    if json:
        print_json(
            {
                "file": str(out),
                "questions": learned.weights.questions,
                "unusable": learned.unusable,
                "before": dict(learned.before),
                "after": dict(learned.after),
            }
        )
        return
    note(f"{plural(learned.unusable, 'question')} left out: no gold passage among the candidates")
    say(f"{out}: learned from {plural(learned.weights.questions, 'question')}")
    for name, value in learned.after.items():
        say(f"{name} of the test questions: {learned.before[name]:.4f} before, {value:.4f} after")
