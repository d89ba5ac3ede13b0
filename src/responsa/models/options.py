"""Settings in the name of a model: ``model?setting=value&other=value``, each read as the field that it sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import parse_qsl

from responsa.errors import InputError, suggestion

Options = dict[str, str]
Table = Mapping[str, tuple[str, Callable[[str], object]]]
LONGEST = 30  # characters of what cannot be read that an error repeats: it may be a key


def split(rest: str) -> tuple[str, Options]:
    """The model and its settings. InputError where one is given twice."""
    model, _, query = rest.partition("?")
    pairs = parse_qsl(query, keep_blank_values=True)
    options = dict(pairs)
    if len(options) < len(pairs):
        where = f" in {query!r}" if len(query) <= LONGEST else ""
        raise InputError(f"{model}: a setting is given twice{where}")
    return model, options


def named(rest: str) -> tuple[str, Options]:
    """As `split`. InputError too where no model is named."""
    model, options = split(rest)
    if not model:
        raise InputError(f"give the name of the model before {rest!r}" if rest else "the model is not named")
    return model, options


def flag(value: str) -> bool:
    """yes or no; also on and off, true and false, 1 and 0."""
    if value.lower() not in _FLAGS:
        raise ValueError
    return _FLAGS[value.lower()]


_FLAGS = {"yes": True, "on": True, "true": True, "1": True, "no": False, "off": False, "false": False, "0": False}


def fields(options: Options, table: Table, elsewhere: Iterable[str] = ()) -> dict[str, object]:
    """The fields that the settings of ``table`` set. Other settings are refused, but for those read ``elsewhere``."""
    found: dict[str, object] = {}
    for name, value in options.items():
        if name in table:
            field, read = table[name]
            try:
                found[field] = made = read(value)
                if isinstance(made, float) and not math.isfinite(made):
                    raise ValueError
            except ValueError:
                due = "yes or no" if read is flag else "a finite number" if read is float else "a whole number"
                got = repr(value) if len(value) <= LONGEST else f"a text of {len(value)} characters"
                raise InputError(f"setting {name!r}: expected {due}, got {got}") from None
        elif name not in elsewhere:
            told = f"unknown setting {name!r}" if len(name) <= LONGEST else "unknown setting"
            raise InputError(f"{told}{suggestion(name, {*table, *elsewhere})}")
    return found


# Settings of every model of the Hugging Face hub.
HUB: Table = {
    "batch": ("batch", int),
    "device": ("device", str),
    "trust_remote_code": ("trust_remote_code", flag),
}
