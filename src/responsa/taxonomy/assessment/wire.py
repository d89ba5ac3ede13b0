"""Our frozen dataclasses as JSON values and back, by their types: for what is kept on disk."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from functools import lru_cache
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

Json = Any
Reader = Callable[[Json], Any]


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
        return _reader(kind)(value)
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"no {getattr(kind, '__name__', kind)}: {type(error).__name__}: {error}") from error


@lru_cache(maxsize=512)
def _reader(kind: Any) -> Reader:  # noqa: ANN401
    """What reads a value of that kind; made once, for there may be thousands of them."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _optional(_reader(next(each for each in inner if each is not type(None))))
    if origin is Literal:
        return lambda value: _checked(value in inner, kind, value)
    if origin is tuple:
        if len(inner) == 2 and inner[1] is Ellipsis:
            return _several(_reader(inner[0]))
        parts = [_reader(each) for each in inner]
        return lambda value: tuple(part(each) for part, each in zip(parts, value, strict=True))
    if origin is not None and issubclass(origin, Mapping):
        names, values = _reader(inner[0]), _reader(inner[1])
        return lambda value: {names(key): values(each) for key, each in value.items()}
    if is_dataclass(kind):
        return _dataclass(cast(type, kind))
    if issubclass(kind, tuple):  # a named tuple
        hints = [_reader(each) for each in get_type_hints(kind).values()]
        return lambda value: kind(*(hint(each) for hint, each in zip(hints, value, strict=True)))
    if kind is date:
        return lambda value: date.fromisoformat(value)
    if kind is float:
        return lambda value: float(_checked(type(value) in (int, float), kind, value))
    return lambda value: _checked(type(value) is kind, kind, value)


def _optional(read: Reader) -> Reader:
    return lambda value: None if value is None else read(value)


def _several(read: Reader) -> Reader:
    return lambda value: tuple([read(each) for each in _checked(type(value) is list, tuple, value)])


def _dataclass(kind: type) -> Reader:
    """Its fields are looked up at the first value: a kind may hold itself."""
    hints: dict[str, Reader] = {}

    def read(value: Json) -> Any:  # noqa: ANN401
        if not hints:
            hints.update({name: _reader(hint) for name, hint in get_type_hints(kind).items()})
        return kind(**{name: hints[name](each) for name, each in value.items()})

    return read


def _checked(fits: bool, kind: object, value: Json) -> Json:
    if not fits:
        raise TypeError(f"{value!r:.60} is no {kind}")
    return value
