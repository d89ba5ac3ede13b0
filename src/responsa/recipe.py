"""A recipe: the stages of one system, read from a TOML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
from typing import Literal, TypeVar

from responsa import config
from responsa.answer import ABSTAINERS, ANSWERERS, CHECKERS, SELECTORS, Abstainer, Answerer, Selector
from responsa.answer.abstain import TermCoverage
from responsa.answer.extractive import Extractive
from responsa.answer.ground import EntailmentCheck
from responsa.answer.select import ThresholdDrop
from responsa.errors import NotFound, RecipeError, suggestion
from responsa.retrieval import FUSERS, RERANKERS, RETRIEVERS, Hybrid, Retriever
from responsa.retrieval.fuse import Linear

DEFAULT = config.DEFAULT_RECIPE
WORDS = "bm25"  # whose index is built as documents are added; the others are when they are first needed
T = TypeVar("T")


@dataclass(frozen=True)
class Recipe:
    """The stages in the order they run. ``name`` is the file's; ``description`` says what it is for. ``check`` None:
    the recipe says nothing about checking answers."""

    name: str
    description: str
    retrieve: Retriever
    select: Selector
    abstain: Abstainer
    answer: Answerer
    check: EntailmentCheck | None = None


_STAGES = ("retrieve", "fuse", "rerank", "select", "abstain", "answer", "check")


def shipped(folder: Literal["recipes", "recipes/papers"] = "recipes") -> list[str]:
    """The names of the recipes in the package, sorted; those of published systems are in ``recipes/papers``."""
    entries = (resources.files("responsa") / folder).iterdir()
    return sorted(entry.name.removesuffix(".toml") for entry in entries if entry.name.endswith(".toml"))


def load(name: str = DEFAULT) -> Recipe:
    """The recipe of that name in the package, or in the file that the name is a path of."""
    return parse(read(name), Path(name).stem if name.endswith(".toml") else name, name)


def read(name: str) -> dict[str, object]:
    """The table of a recipe, named as for `load`; its stages are not looked at yet."""
    path = Path(name)
    if path.suffix == ".toml":
        if not path.is_file():
            raise NotFound(f"no recipe file {name!r}")
        return config.read(path)
    own, papers = shipped(), shipped("recipes/papers")
    if name not in own and name not in papers:
        near = get_close_matches(name, [*own, *papers], n=1) or own
        raise NotFound(f"no recipe {name!r}{suggestion(name, near)}; a path to a recipe of your own ends in .toml")
    folder = "recipes" if name in own else "recipes/papers"
    return config.parse((resources.files("responsa") / folder / f"{name}.toml").read_text(encoding="utf-8"), name)


def parse(table: Mapping[str, object], name: str, where: str) -> Recipe:
    """The recipe in a table. A stage left out has its defaults, except ``retrieve``, which must be there."""
    for key in table:
        if key not in ("description", *_STAGES):
            raise RecipeError(f"{where}: unknown key {key!r}{suggestion(key, ('description', *_STAGES))}")
    description = table.get("description", "")
    if not isinstance(description, str):
        raise RecipeError(f"{where}: description: expected text, got {description!r}")
    if "retrieve" not in table:
        raise RecipeError(
            f"{where}: the table [retrieve] is missing: a recipe needs a retriever, for example kind = 'bm25'"
        )
    return Recipe(
        name,
        description,
        _retriever(table, where),
        _stage(table, "select", SELECTORS, ThresholdDrop, where),
        _stage(table, "abstain", ABSTAINERS, TermCoverage, where),
        _stage(table, "answer", ANSWERERS, Extractive, where),
        config.build(table["check"], CHECKERS, f"{where}: [check]") if "check" in table else None,
    )


def _retriever(table: Mapping[str, object], where: str) -> Retriever:
    """The retriever of a recipe: one table [retrieve] alone, or several, fused and reranked."""
    given = table["retrieve"]
    if not isinstance(given, list) and "fuse" not in table and "rerank" not in table:
        return config.build(given, RETRIEVERS, f"{where}: [retrieve]")
    stages = _several(given, RETRIEVERS, f"{where}: [[retrieve]]")
    if not stages:
        raise RecipeError(f"{where}: [[retrieve]] is empty: a recipe needs a retriever, for example kind = 'bm25'")
    fuse = config.build(table["fuse"], FUSERS, f"{where}: [fuse]") if "fuse" in table else Linear()
    if "fuse" in table and len(stages) == 1:
        raise RecipeError(f"{where}: [fuse] with one retriever; give two [[retrieve]] tables or more, or leave it out")
    weights = getattr(fuse, "weights", ())
    if weights and len(weights) != len(stages):
        raise RecipeError(
            f"{where}: [fuse].weights: {len(weights)} weights for {len(stages)} retrievers; give one for each, or "
            "leave them out for equal ones"
        )
    return Hybrid(stages, fuse, _several(table.get("rerank", []), RERANKERS, f"{where}: [[rerank]]"))


def _several(given: object, family: Mapping[str, type[T]], where: str) -> tuple[T, ...]:
    """The stages of a table that may stand several times."""
    tables = given if isinstance(given, list) else [given]
    return tuple(config.build(each, family, f"{where} {number}") for number, each in enumerate(tables, 1))


def _stage(table: Mapping[str, object], key: str, family: Mapping[str, type[T]], default: type[T], where: str) -> T:
    return config.build(table[key], family, f"{where}: [{key}]") if key in table else default()
