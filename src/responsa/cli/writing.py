"""The language model that writes answers: which one a command uses, and what is printed of its work."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from responsa.cli.output import note, say

if TYPE_CHECKING:
    from collections.abc import Callable

    from responsa.answer.verified import VerifiedAnswer
    from responsa.models.chat import ChatModel
    from responsa.models.chat.dryrun import DryRuns
    from responsa.recipe import Recipe
    from responsa.types import Answer

NONE = "none"
ModelOption = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="NAME",
        help="The language model that writes the answer, such as openai:gpt-5.6-luna; else the recipe's, else that of "
        "RESPONSA_CHAT_MODEL; none for an answer without one.",
    ),
]


def written(name: str, model: str, *, asked: bool) -> Recipe:
    """The recipe of that name, with the model that is to write.

    A recipe that says nothing of answers gets the verified answer where a model is named, here or in the environment.
    Without a model a recipe that needs one is refused; where it was merely ``asked`` a question, and not a file of
    them, the answer is extractive and a note says what to set. InputError for a name that cannot be read, also where
    nothing will be found that the model could be asked about.
    """
    from responsa.answer.generators.base import Generator
    from responsa.models.chat.load import load_chat

    chosen = _written(name, model, asked=asked)
    if isinstance(chosen.answer, Generator):
        load_chat(chosen.answer.model)
    return chosen


def _written(name: str, model: str, *, asked: bool) -> Recipe:
    from responsa import recipe as recipes
    from responsa.answer.extractive import Extractive
    from responsa.answer.generators.base import Generator
    from responsa.answer.verified import Verified
    from responsa.errors import InputError
    from responsa.models.chat.load import UNSET

    chosen = recipes.load(name)
    own = chosen.answer
    if model == NONE:
        return replace(chosen, answer=Extractive()) if isinstance(own, Generator) else chosen
    named = _in_environment()
    if not isinstance(own, Generator):
        if model and not isinstance(own, Extractive):
            raise InputError(f"--model: the recipe {chosen.name!r} answers without a language model; leave it out")
        if model or (named and "answer" not in recipes.read(name)):
            return replace(chosen, answer=Verified(model=model))
        return chosen
    if model:
        return replace(chosen, answer=replace(own, model=model))
    if own.model or named:
        return chosen
    if not asked:
        raise InputError(UNSET)
    note(f"answered in the rules' own sentences: {UNSET}")
    return replace(chosen, answer=Extractive())


def _in_environment() -> bool:
    """Whether the environment names a language model."""
    from responsa.models.chat.load import VARIABLE

    return bool(os.environ.get(VARIABLE, "").strip())


def note_unwritten(name: str, model: str) -> None:
    """Say what to set for a language model where none wrote for want of one: the recipe says nothing of answers."""
    from responsa import recipe as recipes
    from responsa.models.chat.load import UNWRITTEN

    if not model and not _in_environment() and "answer" not in recipes.read(name):
        note(UNWRITTEN)


def checked(chosen: Recipe, nli: str, obligations: str, keep: bool) -> Recipe:
    """The recipe whose verified answer is checked by the models that options name. Without ``keep`` no reply of a
    language model is read from the cache or kept in it, nor what those models say."""
    from responsa.answer.verified import Verified
    from responsa.models.chat.load import load_chat

    own = chosen.answer
    if isinstance(own, Verified):
        told = replace(own, nli=nli or own.nli, obligations=obligations or own.obligations, keep=keep)
        chosen = replace(chosen, answer=told)
    return chosen if keep else asking(chosen, lambda name: load_chat(name, keep=False))


def planning(chosen: Recipe, keep: bool = True) -> tuple[Recipe, DryRuns]:
    """The recipe with models that send nothing, and those models. InputError where it asks none. Without ``keep`` the
    cache of replies is passed over."""
    from responsa.errors import InputError
    from responsa.models.chat.dryrun import DryRuns
    from responsa.models.chat.load import UNSET

    runs = DryRuns(keep)
    planned = asking(chosen, runs)
    if not runs.made:
        named = _in_environment()
        hint = "name one with --model, or take a recipe without [answer]" if named else UNSET
        raise InputError(f"--dry-run: no language model writes the answers of the recipe {chosen.name!r}; {hint}")
    return planned, runs


def planning_search(chosen: Recipe) -> tuple[Recipe, DryRuns]:
    """The same for finding passages alone."""
    from responsa.answer.extractive import Extractive
    from responsa.errors import InputError
    from responsa.models.chat.dryrun import DryRuns

    runs = DryRuns()
    planned = asking(replace(chosen, answer=Extractive()), runs)
    if not runs.made:
        raise InputError(
            f"--dry-run: the recipe {chosen.name!r} asks no language model to find passages; leave the option out"
        )
    return planned, runs


def asking(chosen: Recipe, chat: Callable[[str], ChatModel]) -> Recipe:
    """The recipe, whose stages that ask a language model ask what ``chat`` gives for its name."""
    from responsa.answer.generators.base import Generator
    from responsa.retrieval.listwise import asked_by

    own = chosen.answer
    if isinstance(own, Generator):
        chosen = replace(chosen, answer=replace(own, tools=replace(own.tools, chat=chat(own.model))))
    return replace(chosen, retrieve=asked_by(chosen.retrieve, chat))


def print_written(answer: Answer) -> None:
    """What a language model's work adds to an answer: what was withheld and why, what disagrees, notes."""
    from responsa.answer.verified import VerifiedAnswer
    from responsa.models.chat.calls import spent

    if isinstance(answer, VerifiedAnswer):
        _print_verified(answer)
    for each in answer.notes:
        say(f"Note: {each}")
    if answer.trace:
        say(f"Language model {answer.trace[0].model}: {spent(answer.trace)}")


def _print_verified(answer: VerifiedAnswer) -> None:
    if answer.withheld:
        say(f"Withheld, because what it cites does not support it ({len(answer.withheld):,}):")
    for each in answer.withheld:
        say(f"  {each.text}")
        say(f"    cites {', '.join(each.cites) or 'nothing'}: {'; '.join(each.reasons)}")
    for pair in answer.conflicts:
        say(f"Warning: two passages may contradict one another (probability {pair.probability:.2f})")
        for place in (pair.first, pair.second):
            say(f"  {place.passage_id} {place.start}-{place.end} {place.version[:12]}  {place.text[:300]}")
