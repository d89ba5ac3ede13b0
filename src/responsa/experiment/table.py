"""Tables of experiments: which recipes stand in them, and what their paper printed.

A table is a TOML file: ``[table]`` with its source and measures, ``[[rows]]`` with a recipe each and the figures
published for it, ``[sweep]`` for a row per value of one setting.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from importlib import resources
from pathlib import Path

from responsa import config, recipe
from responsa.errors import NotFound, RecipeError, suggestion
from responsa.evaluate.ranking import Measure

MEASURES = (Measure("recall", 10), Measure("MAP", 10), Measure("nDCG", 10), Measure("recall", 100))
FOLD = "{fold}"


@dataclass(frozen=True)
class Row:
    """One system. ``settings`` replace those of its recipe, by their path; ``published`` is by measure, 0 to 1.

    ``note`` says where the recipe differs from what the paper did.
    """

    recipe: str
    label: str
    published: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    settings: tuple[tuple[str, object], ...] = ()

    @property
    def name(self) -> str:
        """Names the row in files: the recipe, and the settings changed."""
        stem = Path(self.recipe).stem if self.recipe.endswith(".toml") else self.recipe
        changed = (f"{path}={re.sub(r'[^0-9A-Za-z.]+', '_', str(value)).strip('_')}" for path, value in self.settings)
        return "-".join([stem, *changed])

    def stages(self) -> dict[str, object]:
        """The table of its recipe with the settings put in."""
        table = recipe.read(self.recipe)
        for path, value in self.settings:
            table = put(table, path, value)
        return table


@dataclass(frozen=True)
class Table:
    """Rows that are compared. ``k`` passages are asked for each question; ``sweep`` is the setting that the rows
    differ in, where they are the values of a sweep."""

    name: str
    title: str
    rows: tuple[Row, ...]
    measures: tuple[Measure, ...] = MEASURES
    source: str = ""
    dataset: str = ""
    k: int = 100
    decimals: int = 3
    sweep: str = ""
    note: str = ""


def shipped() -> list[str]:
    """The names of the tables in the package, sorted."""
    entries = (resources.files("responsa") / "experiment" / "tables").iterdir()
    return sorted(entry.name.removesuffix(".toml") for entry in entries if entry.name.endswith(".toml"))


def gather(names: Sequence[str], measures: tuple[Measure, ...] = ()) -> tuple[Table, ...]:
    """The tables named, and one table ``recipes`` of the recipes named, in their order.

    A name ending in .toml is a path to either. ``measures`` replace those of every table. NotFound for an unknown
    name; RecipeError where two recipes have one name.
    """
    tables: list[Table] = []
    rows: list[Row] = []
    for name in dict.fromkeys(names):
        found = _find(name)
        if isinstance(found, Table):
            tables.append(found)
        else:
            rows.append(found)
    if rows:
        tables.append(Table("recipes", "Recipes compared", tuple(rows)))
    refuse_same([(row.name, row.recipe) for row in rows], "recipes")
    refuse_same([(table.name, table.name) for table in tables], "tables")
    return tuple(replace(table, measures=measures or table.measures) for table in tables)


def refuse_same(given: Sequence[tuple[str, str]], what: str) -> None:
    """RecipeError where two (name, path) have one name: what is written is named after them."""
    for name, _ in given:
        same = [repr(path) for other, path in given if other == name]
        if len(same) > 1:
            raise RecipeError(f"{what} of one name: {' and '.join(same)}; rename one of the files")


def _find(name: str) -> Table | Row:
    if not name.endswith(".toml"):
        if name in shipped():
            text = (resources.files("responsa") / "experiment" / "tables" / f"{name}.toml").read_text(encoding="utf-8")
            return parse(config.parse(text, name), name, name)
        known = [*shipped(), *recipe.shipped(), *recipe.shipped("recipes/papers")]
        if name not in known:
            near = get_close_matches(name, known, n=1) or shipped()
            raise NotFound(
                f"no table or recipe {name!r}{suggestion(name, near)}; a path to one of your own ends in .toml"
            )
        return Row(name, name)
    given = recipe.read(name)
    return parse(given, Path(name).stem, name) if "table" in given else Row(name, Path(name).stem)


# ------------------------------------------------------------------------------------------------ TOML to tables


@dataclass(frozen=True)
class _Head:
    title: str
    measures: tuple[str, ...]
    source: str = ""
    dataset: str = ""
    k: int = 100
    decimals: int = 3
    note: str = ""


@dataclass(frozen=True)
class _Line:
    recipe: str
    label: str = ""
    note: str = ""


@dataclass(frozen=True)
class _Sweep:
    recipe: str
    parameter: str


def parse(given: Mapping[str, object], name: str, where: str) -> Table:
    """The table that a TOML file describes. RecipeError names the key at fault."""
    keys = ("table", "rows", "sweep")
    for key in given:
        if key not in keys:
            raise RecipeError(f"{where}: unknown key {key!r}{suggestion(key, keys)}")
    head = config.fill(_Head, mapping(given["table"], f"{where}: [table]"), f"{where}: [table]")
    if head.k < 1 or not 1 <= head.decimals <= 6:
        raise RecipeError(f"{where}: [table]: k of at least 1 and decimals from 1 to 6 are needed")
    lines = given.get("rows", [])
    if not isinstance(lines, list):
        raise RecipeError(f"{where}: rows: expected [[rows]] tables, got {lines!r}")
    rows = [_row(line, f"{where}: [[rows]] {number}") for number, line in enumerate(lines, 1)]
    sweep = ""
    if "sweep" in given:
        sweep, values = _swept(mapping(given["sweep"], f"{where}: [sweep]"), f"{where}: [sweep]")
        rows += values
    if not rows:
        raise RecipeError(f"{where}: no row; give [[rows]] with a recipe each, or [sweep]")
    names = [row.name for row in rows]
    for row in rows:
        if names.count(row.name) > 1:
            raise RecipeError(f"{where}: the row {row.name!r} is given twice; remove one")
    measures = tuple(Measure.parse(measure) for measure in head.measures)
    if not measures:
        raise RecipeError(f"{where}: [table].measures is empty; give at least one, such as 'recall@10'")
    return Table(
        name, head.title, tuple(rows), measures, head.source, head.dataset, head.k, head.decimals, sweep, head.note
    )


def _row(line: object, where: str) -> Row:
    given = dict(mapping(line, where))
    published = _published(given.pop("published", {}), f"{where}.published")
    settings = mapping(given.pop("set", {}), f"{where}.set")
    made = config.fill(_Line, given, where)
    return Row(made.recipe, made.label or made.recipe, published, made.note, tuple(settings.items()))


def _swept(given: Mapping[str, object], where: str) -> tuple[str, list[Row]]:
    """The parameter of a sweep, and a row for each of its values."""
    fields = dict(given)
    values, published = fields.pop("values", None), mapping(fields.pop("published", {}), f"{where}.published")
    made = config.fill(_Sweep, fields, where)
    if not isinstance(values, list) or not values:
        raise RecipeError(f"{where}.values: expected a list of values, got {values!r}")
    labels = [written(value) for value in values]
    for label in published:
        if label not in labels:
            raise RecipeError(f"{where}.published: {label!r} is none of the values{suggestion(label, labels)}")
    rows = [
        Row(
            made.recipe,
            label,
            _published(published.get(label, {}), f"{where}.published.{label}"),
            settings=((made.parameter, value),),
        )
        for label, value in zip(labels, values, strict=True)
    ]
    return made.parameter, rows


def written(value: object) -> str:
    """A setting as a label: lists without brackets."""
    return ", ".join(f"{each:g}" if isinstance(each, float) else str(each) for each in _listed(value))


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _published(given: object, where: str) -> dict[str, float]:
    figures = {}
    for name, figure in mapping(given, where).items():
        if isinstance(figure, bool) or not isinstance(figure, int | float) or not math.isfinite(figure):
            raise RecipeError(f"{where}.{name}: expected a number from 0 to 1, got {figure!r}")
        if not 0 <= figure <= 1:
            raise RecipeError(f"{where}.{name}: expected a number from 0 to 1, got {figure!r}; is it in per cent?")
        figures[str(Measure.parse(name))] = float(figure)
    return figures


def mapping(given: object, where: str) -> Mapping[str, object]:
    """What was read of a table of TOML. RecipeError where it is none."""
    if not isinstance(given, Mapping):
        raise RecipeError(f"{where}: expected a table, got {given!r}")
    return given


# ------------------------------------------------------------------------------------------------ settings by path


def put(table: Mapping[str, object], path: str, value: object) -> dict[str, object]:
    """The table with one value replaced or added, named by a path such as ``fuse.weights`` or ``rerank.1.depth``.

    Places in a list count from 1. RecipeError where the path leads nowhere.
    """
    made = copy.deepcopy(dict(table))
    *above, last = path.split(".")
    here: object = made
    for step in above:
        here = _inner(here, step, path)
    if isinstance(here, dict):
        here[last] = value
    else:
        raise RecipeError(f"the setting {path!r} leads to nothing in the recipe")
    return made


def _inner(here: object, step: str, path: str) -> object:
    if isinstance(here, dict) and step in here:
        return here[step]
    if isinstance(here, list) and step.isascii() and step.isdigit() and 1 <= int(step) <= len(here):
        return here[int(step) - 1]
    if isinstance(here, dict) and step == "1" and "kind" in here:  # a single table may stand for a list of one
        return here
    raise RecipeError(f"the setting {path!r} leads to nothing in the recipe: there is no {step!r}")


def has_fold(value: object) -> bool:
    """Whether ``{fold}`` stands anywhere in a recipe's table."""
    if isinstance(value, str):
        return FOLD in value
    inner: Iterable[object] = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return any(has_fold(each) for each in inner)


def of_fold(value: object, fold: int) -> object:
    """A copy of a recipe's table with ``{fold}`` replaced by the number of the fold, from 0."""
    if isinstance(value, str):
        return value.replace(FOLD, str(fold))
    if isinstance(value, Mapping):
        return {key: of_fold(each, fold) for key, each in value.items()}
    return [of_fold(each, fold) for each in value] if isinstance(value, list) else value
