"""Pictures of a document's pages, drawn in the process that reads untrusted files, as they come from there.

They come as bare pixels, three bytes each, so that nothing here has to decode an image that an untrusted file may have
made: the number of bytes is all there is to check. Whoever shows them encodes them anew.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from responsa.types import Box

MOST_PIXELS = 2_000_000
"""Of a page: A4 at about 145 to the inch."""
MOST_FOUND = 5  # places of a text on a page
_LONGEST_HEAD = 1 << 22  # bytes
_LENGTH = struct.Struct(">I")

Sought = Mapping[int, Sequence[str]]
"""Pages from 1 that are wanted, and for each the texts to be looked for on it."""
Lines = tuple[Box, ...]
"""A text's place: a box for each of its lines."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A page as it is shown. ``width`` and ``height`` are points, ``columns`` and ``rows`` pixels; ``pixels`` are red,
    green and blue, row by row from the top. ``found`` has the places of each text sought, in the order asked; none
    where its words do not stand so on the page."""

    page: int
    width: float
    height: float
    columns: int
    rows: int
    pixels: bytes = field(repr=False)
    found: tuple[tuple[Lines, ...], ...] = ()


def dumps(pictures: Iterable[Picture]) -> bytes:
    """The pictures one after the other: the length of a head in JSON, the head, the pixels."""
    parts = []
    for each in pictures:
        found = [[[[b.x0, b.y0, b.x1, b.y1] for b in place] for place in places] for places in each.found]
        head = json.dumps([each.page, each.width, each.height, each.columns, each.rows, found]).encode()
        parts += [_LENGTH.pack(len(head)), head, each.pixels]
    return b"".join(parts)


def loads(content: bytes, sought: Sought) -> tuple[Picture, ...]:
    """The pictures that `dumps` wrote, of pages that were asked for. ValueError where it is anything else."""
    found: list[Picture] = []
    at = 0
    try:
        while at < len(content):
            (length,) = _LENGTH.unpack_from(content, at)
            at += _LENGTH.size
            if length > _LONGEST_HEAD:
                raise ValueError("no pictures: too many places")
            head = json.loads(content[at : at + length].decode("ascii"))
            at += length
            page, columns, rows = (_whole(head[place]) for place in (0, 3, 4))
            if page not in sought or any(each.page == page for each in found) or not 0 < columns * rows <= MOST_PIXELS:
                raise ValueError("no pictures: a page or size that was not asked for")
            pixels = content[at : at + 3 * columns * rows]
            at += 3 * columns * rows
            if len(pixels) < 3 * columns * rows:
                raise ValueError("no pictures: cut short")
            places = tuple(_places(each, page) for each in head[5])
            if len(places) != len(sought[page]):
                raise ValueError("no pictures: not the texts that were asked for")
            found.append(Picture(page, _size(head[1]), _size(head[2]), columns, rows, pixels, places))
    except (struct.error, TypeError, IndexError, KeyError, RecursionError, OverflowError) as error:
        raise ValueError(f"no pictures: {type(error).__name__}: {error}") from error
    return tuple(found)


def _places(value: Any, page: int) -> tuple[Lines, ...]:  # noqa: ANN401  # checked here
    if not isinstance(value, list) or len(value) > MOST_FOUND:
        raise ValueError("no pictures: no list of places")
    return tuple(tuple(Box(page, *(_number(side) for side in (a, b, c, d))) for a, b, c, d in place) for place in value)


def _whole(value: object) -> int:
    if type(value) is not int or value < 1:
        raise ValueError("no pictures: no whole number above 0")
    return value


def _size(value: object) -> float:
    number = _number(value)
    if number <= 0:
        raise ValueError("no pictures: a page without size")
    return number


def _number(value: object) -> float:
    if type(value) not in (int, float) or not math.isfinite(value) or abs(value) > 1e6:  # type: ignore[arg-type]
        raise ValueError("no pictures: a measure that is none")
    return float(value)  # type: ignore[arg-type]
