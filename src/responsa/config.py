"""TOML tables to frozen dataclasses: each table is a stage, ``kind`` picks the class, the other keys are its fields."""

from __future__ import annotations

import dataclasses
import importlib
import sys
import tomllib
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from responsa.errors import RecipeError, suggestion

DEFAULT_RECIPE = "hybrid"  # of commands that name none

T = TypeVar("T")


class Family(Mapping[str, type[T]]):
    """Stages by their kind, each imported when it is asked for: most commands need one or two of many.

    ``places`` maps a kind to ``package.module:Class``.
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        self._places = dict(places)

    def __getitem__(self, kind: str) -> type[T]:
        module, _, name = self._places[kind].partition(":")
        found: type[T] = getattr(importlib.import_module(module), name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def parse(text: str, where: str) -> dict[str, object]:
    """TOML to a table. ``where`` names the file in the error."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # TOMLDecodeError is a ValueError; so is a number of too many digits
        raise RecipeError(f"{where}: not valid TOML: {error}") from error


def read(path: Path) -> dict[str, object]:
    """The table in a TOML file."""
    try:
        return parse(path.read_text(encoding="utf-8-sig"), str(path))
    except OSError as error:
        raise RecipeError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise RecipeError(f"{path}: not UTF-8 text (byte {error.start})") from error


def build(table: object, family: Mapping[str, type[T]], where: str) -> T:
    """The stage that a table describes.

    ``family`` maps each ``kind`` to its class. Unknown kinds and keys are refused with a suggestion, values
    of the wrong type with the type expected; a class refuses values out of range in ``__post_init__``.
    """
    if not isinstance(table, Mapping):
        raise RecipeError(f"{where}: expected a table with a 'kind', got {table!r}")
    if "kind" not in table:
        raise RecipeError(f"{where}: 'kind' is missing; known: {', '.join(sorted(family))}")
    kind = table["kind"]
    if not isinstance(kind, str):
        raise RecipeError(f"{where}: expected the name of a kind, got {kind!r}; known: {', '.join(sorted(family))}")
    if kind not in family:
        raise RecipeError(f"{where}: unknown kind {kind!r}{suggestion(kind, family)}")
    return fill(family[kind], {key: value for key, value in table.items() if key != "kind"}, where)


def fill(cls: type[T], values: Mapping[str, object], where: str) -> T:
    """An instance of the dataclass ``cls`` with its fields taken from ``values``, each checked for its type."""
    hints = typing.get_type_hints(cls)
    # A field that is a dataclass itself is for callers in Python: TOML cannot give one.
    fields = {
        field.name: field
        for field in dataclasses.fields(cls)  # type: ignore[arg-type]
        if field.init and not dataclasses.is_dataclass(hints[field.name])
    }
    checked = {}
    for key, value in values.items():
        if key not in fields:
            raise RecipeError(f"{where}: unknown key {key!r}{suggestion(key, fields)}")
        checked[key] = _checked(value, hints[key], f"{where}.{key}")
    for key, field in fields.items():
        if key not in checked and field.default is field.default_factory is dataclasses.MISSING:
            raise RecipeError(f"{where}: the key {key!r} is missing")
    try:
        return cls(**checked)
    except (TypeError, ValueError, RecipeError) as error:
        raise RecipeError(f"{where}: {error}") from error


def _checked(value: object, hint: object, where: str) -> object:
    """``value`` as the type that ``hint`` names; integers pass for floats, lists become tuples."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        if value not in arguments:
            known = ", ".join(repr(choice) for choice in arguments)
            raise RecipeError(f"{where}: {value!r} is not one of {known}")
        return value
    if origin is tuple:
        if not isinstance(value, list):
            raise RecipeError(f"{where}: expected a list, got {value!r}")
        return tuple(_checked(item, arguments[0], f"{where}[{index}]") for index, item in enumerate(value))
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        if not abs(value) <= sys.float_info.max:
            raise RecipeError(f"{where}: expected a finite number, got {value!r}")
        return float(value)
    if isinstance(hint, type) and (not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool)):
        raise RecipeError(f"{where}: expected {hint.__name__}, got {value!r}")
    return value
