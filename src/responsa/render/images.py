"""Pictures of pages as PNG files of at most 256 colours, whole or cut, with places marked.

PNG and not JPEG: pages are mostly text, which comes out sharper and no larger, and it needs no library.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from responsa.corpus.pictures import Picture
from responsa.types import Box

Pixels = npt.NDArray[np.uint8]
Colour = tuple[int, int, int]

_COLOURS = 256
_BITS = 5  # of each colour by which pixels are counted
_LARGER = 1.3  # the shorter side of a page in the text's width
_NEAR = 4096  # colours set against the palette at a time


@dataclass(frozen=True, eq=False)
class Raster:
    """A page in its commonest colours. ``places`` (rows, columns) are those of ``palette`` (at most 256, 3)."""

    width: float
    height: float
    palette: Pixels = field(repr=False)
    places: Pixels = field(repr=False)


def raster(picture: Picture) -> Raster:
    """The picture with its colours reduced."""
    pixels = np.frombuffer(picture.pixels, np.uint8).reshape(picture.rows, picture.columns, 3)
    return Raster(picture.width, picture.height, *_reduced(pixels))


def png(page: Raster) -> bytes:
    """The page as a PNG file."""
    return _png(page.palette, page.places)


def cut(page: Raster, region: Box, marks: Iterable[tuple[Box, Colour]] = ()) -> bytes:
    """A part of the page as a PNG file, with marks as if by a marker: what is white takes their colour."""
    rows, columns = page.places.shape
    x, y = columns / page.width, rows / page.height
    left, top, right, bottom = _within(region, x, y, columns, rows)
    pixels = page.palette[page.places[top:bottom, left:right]]
    for box, colour in marks:
        a, b, c, d = _within(box, x, y, columns, rows)
        part = pixels[max(b - top, 0) : max(d - top, 0), max(a - left, 0) : max(c - left, 0)]
        part[:] = (part.astype(np.uint16) * np.array(colour, np.uint16) // 255).astype(np.uint8)
    return _png(*_reduced(pixels))


def _within(box: Box, x: float, y: float, columns: int, rows: int) -> tuple[int, int, int, int]:
    """The box in pixels, at least one of them."""
    left, top = (min(max(int(each), 0), most - 1) for each, most in ((box.x0 * x, columns), (box.y0 * y, rows)))
    right, bottom = (min(max(int(each) + 1, 1), most) for each, most in ((box.x1 * x, columns), (box.y1 * y, rows)))
    return left, top, max(right, left + 1), max(bottom, top + 1)


def _reduced(pixels: Pixels) -> tuple[Pixels, Pixels]:
    """A palette of the commonest colours, and the nearest of them for each pixel."""
    wide = pixels.astype(np.int32)
    shift = 8 - _BITS
    codes = ((wide[..., 0] >> shift) << 2 * _BITS) | ((wide[..., 1] >> shift) << _BITS) | (wide[..., 2] >> shift)
    flat = codes.ravel()
    size = 1 << 3 * _BITS
    counts = np.bincount(flat, minlength=size)
    sums = [np.bincount(flat, wide[..., each].ravel(), size) for each in range(3)]
    used = np.flatnonzero(counts)
    means = np.stack([each[used] for each in sums], axis=1) / counts[used, None]
    kept = _chosen(means, counts[used])
    palette = np.rint(means[kept]).astype(np.uint8)
    nearest = np.zeros(size, np.uint8)
    for start in range(0, len(used), _NEAR):
        part = means[start : start + _NEAR]
        away = ((part[:, None, :] - palette[None, :, :].astype(np.float64)) ** 2).sum(axis=2)
        nearest[used[start : start + _NEAR]] = away.argmin(axis=1)
    return palette, nearest[codes]


def _chosen(means: npt.NDArray[np.float64], counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The places of the colours to keep: the commonest, then the commonest of each region of colours, then others."""
    order = np.argsort(-counts, kind="stable")
    if len(order) <= _COLOURS:
        return order
    common = order[: _COLOURS // 2]
    regions = (means[order] // 43).astype(np.int64) @ np.array([36, 6, 1])
    _, first = np.unique(regions, return_index=True)
    spread = order[np.sort(first)]
    both = np.concatenate([common, spread, order[_COLOURS // 2 :]])
    _, places = np.unique(both, return_index=True)
    return both[np.sort(places)][:_COLOURS]


def _png(palette: Pixels, places: Pixels) -> bytes:
    rows, columns = places.shape
    lines = np.zeros((rows, columns + 1), np.uint8)  # each begins with its filter: none
    lines[:, 1:] = places
    return b"\x89PNG\r\n\x1a\n" + b"".join((
        _chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 3, 0, 0, 0)),
        _chunk(b"PLTE", palette.tobytes()),
        _chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)),
        _chunk(b"IEND", b""),
    ))  # fmt: skip


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def around(boxes: Sequence[Box], width: float, height: float) -> Box:
    """The part of a page to show for boxes on it: all of them with some space, never higher than half the page."""
    left, right = min(box.x0 for box in boxes), max(box.x1 for box in boxes)
    top, bottom = min(box.y0 for box in boxes), max(box.y1 for box in boxes)
    least = max(right - left + 0.05 * width, 0.36 * width)
    middle = (left + right) / 2
    x0 = min(max(middle - least / 2, 0.0), max(width - least, 0.0))
    space = 0.03 * height
    y0 = max(top - space, 0.0)
    y1 = min(bottom + space, height, y0 + height / 2)
    return Box(boxes[0].page, x0, y0, min(x0 + least, width), max(y1, y0 + 1))


def across(region: Box, width: float, height: float) -> float:
    """The share of the text's width that a part of a page is shown in: a little larger than print, at most all."""
    return min(_LARGER * (region.x1 - region.x0) / min(width, height), 1.0)
