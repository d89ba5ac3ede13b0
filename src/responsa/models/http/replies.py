"""Reading what APIs reply. Nothing is taken on trust: BadReply, in words that quote nothing of the reply."""

from __future__ import annotations

import numpy as np

from responsa.models import Vectors


class BadReply(ValueError):
    """A reply cannot be used."""


def in_order(reply: object, field: str, number: str, count: int) -> list[object]:
    """The ``number`` of each of ``count`` rows, by the ``index`` that each row names; each must come once."""
    rows = reply.get(field) if isinstance(reply, dict) else None
    if not isinstance(rows, list):
        raise BadReply(f"it has no list {field!r}")
    if len(rows) != count:
        raise BadReply(f"it has {len(rows)} results for {count} texts")
    found: dict[int, object] = {}
    for row in rows:
        index = row.get("index") if isinstance(row, dict) else None
        if not isinstance(index, int) or isinstance(index, bool):
            raise BadReply("a result does not say which text it is for ('index')")
        if not 0 <= index < count or index in found:
            raise BadReply(f"its results are not for the {count} texts, each once")
        if number not in row:
            raise BadReply(f"a result has no {number!r}")
        found[index] = row[number]
    return [found[index] for index in range(count)]


def vectors(values: list[object], dimension: int | None) -> Vectors:
    """Shape (values, dimension); any one length is right where ``dimension`` is None."""
    lengths = {len(value) if isinstance(value, list) else 0 for value in values}
    if 0 in lengths or len(lengths) > 1:
        raise BadReply("its vectors are empty or of several lengths")
    length = lengths.pop()
    if dimension is not None and length != dimension:
        raise BadReply(f"its vectors have {length} numbers instead of {dimension}")
    return _finite(values)


def scores(values: list[object]) -> Vectors:
    """Shape (values, 1)."""
    return _finite([[value] for value in values])


def _finite(rows: list[object]) -> Vectors:
    try:
        exact = np.asarray(rows)
    except (ValueError, OverflowError):
        exact = np.empty(0, dtype=object)
    if exact.ndim != 2 or exact.dtype.kind not in "fiu":
        raise BadReply("it has something else where numbers belong")
    with np.errstate(over="ignore"):
        single = exact.astype(np.float32)
    if not np.isfinite(single).all():
        raise BadReply("it has numbers that are not finite")
    return single
