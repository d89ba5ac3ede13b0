"""Tables of written answers: which recipes write, how their answers are scored, and what their paper printed.

A table is a TOML file as for retrieval (`table`), whose ``[table]`` says with ``scores`` how answers are scored:
"ratings" by a language model from 1 to 4, or "repass".
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
from typing import Literal, cast

from responsa import config, recipe
from responsa.answer import ANSWERERS
from responsa.answer.generators.base import Generator
from responsa.errors import NotFound, RecipeError, suggestion
from responsa.experiment import table as retrieval
from responsa.experiment.table import Row, mapping, put, refuse_same
from responsa.text import digest

Scores = Literal["ratings", "repass"]
# The measures of each kind of score: what a paper's table prints, and the decimals that it prints.
MEASURES: dict[str, dict[str, int]] = {
    "ratings": {
        "average": 2, "deviation": 2, "correct": 0, "correct %": 1,
        "rated 1": 0, "rated 2": 0, "rated 3": 0, "rated 4": 0,
    },
    "repass": {"RePASs": 3, "coverage": 3, "entailment": 3, "contradiction": 3},
}  # fmt: skip
FIRST: dict[str, tuple[str, ...]] = {
    "ratings": ("average", "deviation", "correct", "correct %"),
    "repass": ("RePASs", "coverage", "entailment", "contradiction"),
}
OWN = "answers"  # the table of recipes that are named by themselves
_LONGEST = 60  # characters of a model's name in a file's name


@dataclass(frozen=True)
class AnswerRow(Row):
    """One system that writes answers. ``step`` takes the words after that step of a VRR instead of its last; ``model``
    and ``k``, where given, replace the recipe's. Without a recipe a row has published figures alone."""

    step: str = ""
    model: str = ""
    k: int | None = None
    own_name: str = ""

    @property
    def system(self) -> str:
        """Names what writes in files: rows that differ in their step have one."""
        named = [self.own_name or (super().name if self.recipe else slug(self.label))]
        if self.model:
            named.append(slug(self.model))
        if self.k is not None:
            named.append(f"k={self.k}")
        return "-".join(named)

    @property
    def name(self) -> str:
        """Names the row."""
        return "-".join(filter(None, (self.system, slug(self.step))))

    def stages(self) -> dict[str, object]:
        """The table of its recipe with the settings put in, and files of the data folder found."""
        table = super().stages()
        answer = table.get("answer")
        own = str(answer.get("model", "")) if isinstance(answer, dict) else ""
        if self.model:
            table = put(table, "answer.model", self.model)
            # A reranker that asks the same model goes with it.
            rerank = table.get("rerank", [])
            for place, stage in enumerate(rerank if isinstance(rerank, list) else [rerank], 1):
                if isinstance(stage, dict) and stage.get("kind") == "listwise" and stage.get("model", "") == own:
                    table = put(table, f"rerank.{place}.model", self.model)
        if self.k is not None:
            if _kind(table) == "multi-step":
                table = put(table, "answer.top", self.k)
            else:
                select = table.get("select", {"kind": "threshold-drop"})
                table["select"] = {**cast("dict[str, object]", select), "most": self.k}
        if isinstance(answer, dict) and answer.get("examples"):
            table = put(table, "answer.examples", str(at_hand(str(answer["examples"]))))
        return table


@dataclass(frozen=True)
class AnswerTable:
    """Rows that are compared by one kind of ``scores``. ``questions`` are the files that are asked where none are
    named, ``topic`` keeps those questions alone that are on it, and ``protocol`` is that of RePASs."""

    name: str
    title: str
    rows: tuple[AnswerRow, ...]
    scores: Scores
    measures: tuple[str, ...]
    source: str = ""
    dataset: str = ""
    note: str = ""
    topic: str = ""
    questions: tuple[str, ...] = ()
    protocol: str = "paper"


def slug(text: str) -> str:
    """A text as part of a file's name; a long one ends in its digest."""
    made = re.sub(r"[^0-9A-Za-z.]+", "_", text).strip("_")
    return made if len(made) <= _LONGEST else f"{made[:_LONGEST]}_{digest(text)[:8]}"


def at_hand(name: str) -> Path:
    """The file of that name where the command is run, else in the folder RESPONSA_DATA; the first if in neither."""
    here, folder = Path(name), os.environ.get("RESPONSA_DATA", "")
    there = Path(folder) / name
    return there if folder and not here.is_file() and there.is_file() else here


def shipped() -> list[str]:
    """The names of the tables in the package, sorted."""
    entries = _folder().iterdir()
    return sorted(entry.name.removesuffix(".toml") for entry in entries if entry.name.endswith(".toml"))


def _folder() -> Path:
    return Path(str(resources.files("responsa"))) / "experiment" / "tables" / "answers"


def writes(stages: Mapping[str, object]) -> bool:
    """Whether a recipe is for answers: whether its [answer] is anything but sentences of the passages."""
    return _kind(stages) not in ("", "extractive")


def asks(stages: Mapping[str, object]) -> bool:
    """Whether a language model writes."""
    found = ANSWERERS.get(_kind(stages))
    return isinstance(found, type) and issubclass(found, Generator)


def _kind(stages: Mapping[str, object]) -> str:
    answer = stages.get("answer")
    return str(answer.get("kind", "")) if isinstance(answer, Mapping) else ""


def gather(names: Sequence[str], scores: Scores | None = None) -> tuple[tuple[AnswerTable, ...], list[str]]:
    """The tables of answers among the tables and recipes named, and the names that are of retrieval.

    Recipes that write answers are one table ``answers``, scored as told, else by RePASs. NotFound for an unknown name.
    """
    tables: list[AnswerTable] = []
    rows: list[AnswerRow] = []
    others: list[str] = []
    for name in dict.fromkeys(names):
        if name in shipped():
            path = _folder() / f"{name}.toml"
            tables.append(parse(config.parse(path.read_text(encoding="utf-8"), name), name, name))
            continue
        given = _given(name)
        if "table" in given:
            head = given["table"]
            if isinstance(head, Mapping) and "scores" in head:
                tables.append(parse(given, Path(name).stem, name))
            else:
                others.append(name)
        elif writes(given):
            rows.append(AnswerRow(name, Path(name).stem if name.endswith(".toml") else name))
        else:
            others.append(name)
    if rows:
        chosen: Scores = scores or "repass"
        tables.append(AnswerTable(OWN, "Answers compared", tuple(rows), chosen, FIRST[chosen], protocol="strict"))
    refuse_same([(row.name, row.recipe) for row in rows], "recipes")
    refuse_same([(table.name, table.name) for table in tables], "tables")
    return tuple(tables), others


def _given(name: str) -> Mapping[str, object]:
    """What stands under a name: a table, or a recipe; a table of retrieval by its name is only looked up later."""
    if not name.endswith(".toml"):
        known = [*retrieval.shipped(), *shipped(), *recipe.shipped(), *recipe.shipped("recipes/papers")]
        if name in retrieval.shipped():
            return {"table": {}}
        if name not in known:
            near = get_close_matches(name, known, n=1) or retrieval.shipped()
            raise NotFound(
                f"no table or recipe {name!r}{suggestion(name, near)}; a path to one of your own ends in .toml"
            )
    return recipe.read(name)


def crossed(table: AnswerTable, models: Sequence[str], ks: Sequence[int]) -> AnswerTable:
    """The table with a row for each model and each number of passages, where the row has a use for them.

    Answers without a language model have no use for models, those without passages none for their number.
    """
    rows = [made for row in table.rows for made in _crossed(row, models, ks)]
    refuse_same([(row.name, row.label) for row in rows], "rows")
    return replace(table, rows=tuple(rows))


def _crossed(row: AnswerRow, models: Sequence[str], ks: Sequence[int]) -> Iterator[AnswerRow]:
    stages = row.stages() if row.recipe else {}
    for model in models if asks(stages) and models else [""]:
        for k in ks if writes(stages) and _kind(stages) not in ("zero-shot", "few-shot") and ks else [None]:
            shown = [row.label, *([model] if model and len(models) > 1 else []), *([f"k={k}"] if k else [])]
            yield replace(row, model=model, k=k, label=", ".join(shown))


# ------------------------------------------------------------------------------------------------ TOML to tables


@dataclass(frozen=True)
class _Head:
    title: str
    scores: Scores
    measures: tuple[str, ...] = ()
    source: str = ""
    dataset: str = ""
    note: str = ""
    topic: str = ""
    questions: tuple[str, ...] = ()
    protocol: str = "paper"


@dataclass(frozen=True)
class _Line:
    label: str = ""
    recipe: str = ""
    name: str = ""
    step: str = ""
    note: str = ""


def parse(given: Mapping[str, object], name: str, where: str) -> AnswerTable:
    """The table that a TOML file describes. RecipeError names the key at fault."""
    for key in given:
        if key not in ("table", "rows"):
            raise RecipeError(f"{where}: unknown key {key!r}{suggestion(key, ('table', 'rows'))}")
    head = config.fill(_Head, mapping(given["table"], f"{where}: [table]"), f"{where}: [table]")
    if head.scores not in MEASURES:
        raise RecipeError(f"{where}: [table].scores: expected {' or '.join(MEASURES)}, got {head.scores!r}")
    known = MEASURES[head.scores]
    for measure in head.measures:
        if measure not in known:
            raise RecipeError(f"{where}: [table].measures: unknown {measure!r}{suggestion(measure, known)}")
    lines = given.get("rows", [])
    if not isinstance(lines, list) or not lines:
        raise RecipeError(f"{where}: no row; give [[rows]] with a recipe each")
    rows = tuple(_row(line, known, f"{where}: [[rows]] {number}") for number, line in enumerate(lines, 1))
    refuse_same([(row.name, row.label) for row in rows], f"{where}: rows")
    return AnswerTable(
        name, head.title, rows, head.scores, head.measures or FIRST[head.scores], head.source, head.dataset, head.note,
        head.topic, head.questions, head.protocol,
    )  # fmt: skip


def _row(line: object, known: Mapping[str, int], where: str) -> AnswerRow:
    fields = dict(mapping(line, where))
    published = mapping(fields.pop("published", {}), f"{where}.published")
    settings = mapping(fields.pop("set", {}), f"{where}.set")
    made = config.fill(_Line, fields, where)
    if not (made.recipe or (made.label and published)):
        raise RecipeError(f"{where}: give a recipe, or a label with published figures")
    for measure, figure in published.items():
        if measure not in known:
            raise RecipeError(f"{where}.published: unknown {measure!r}{suggestion(measure, known)}")
        if isinstance(figure, bool) or not isinstance(figure, int | float) or not math.isfinite(figure):
            raise RecipeError(f"{where}.published.{measure}: expected a number, got {figure!r}")
    figures = cast("Mapping[str, float]", published)
    return AnswerRow(
        made.recipe, made.label or made.recipe, dict(figures), made.note, tuple(settings.items()), made.step,
        own_name=made.name,
    )  # fmt: skip
