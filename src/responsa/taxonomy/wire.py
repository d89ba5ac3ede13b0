"""Our frozen dataclasses as JSON values and back, by their types: for what is kept on disk."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from functools import lru_cache
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

Json = Any


def plain(value: object) -> Json:
    """Dataclasses and mappings as objects, tuples as arrays, dates as text; all fields are written."""
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value.isoformat() if isinstance(value, date) else value


def made(kind: Any, value: Json) -> Any:  # noqa: ANN401  # the kind says what it is
    """What `plain` wrote of a value of that kind. ValueError where it is of another shape.

    Numbers, texts and truth values are checked; a whole number serves where a float is due.
    """
    try:
        return _made(kind, value)
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"no {getattr(kind, '__name__', kind)}: {type(error).__name__}: {error}") from error


def _made(kind: Any, value: Json) -> Any:  # noqa: ANN401
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        if value is None and type(None) in inner:
            return None
        return _made(next(each for each in inner if each is not type(None)), value)
    if origin is Literal:
        return _checked(value in inner, kind, value)
    if origin is tuple:
        several = len(inner) == 2 and inner[1] is Ellipsis
        return tuple(_made(inner[0] if several else part, each) for part, each in _pairs(inner, value, several))
    if origin is not None and issubclass(origin, Mapping):
        return {_made(inner[0], key): _made(inner[1], each) for key, each in value.items()}
    if is_dataclass(kind):
        hints = _hints(cast(type, kind))
        return cast(Any, kind)(**{name: _made(hints[name], each) for name, each in value.items()})
    if issubclass(kind, tuple):  # a named tuple
        return kind(*(_made(hint, each) for hint, each in zip(_hints(kind).values(), value, strict=True)))
    if kind is date:
        return date.fromisoformat(value)
    if kind is float:
        _checked(isinstance(value, int | float) and not isinstance(value, bool), kind, value)
        return float(value)
    return _checked(type(value) is kind, kind, value)


def _pairs(inner: tuple[Any, ...], value: list[Json], several: bool) -> list[tuple[Any, Json]]:
    return [(inner[0], each) for each in value] if several else list(zip(inner, value, strict=True))


def _checked(fits: bool, kind: object, value: Json) -> Json:
    if not fits:
        raise TypeError(f"{value!r:.60} is no {kind}")
    return value


@lru_cache(maxsize=64)
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)
