"""The words of two texts side by side."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from itertools import groupby
from typing import Literal, NamedTuple

Op = Literal["same", "deleted", "added"]

TOKEN = re.compile(r"\w+(?:[.,]\d+)*|[^\w\s]")
_LONG = 3000  # words above which the frequent ones are left out of the alignment


class Piece(NamedTuple):
    """A stretch of words: in both versions, in the old one alone or in the new one alone."""

    op: Op
    text: str


def words(old: str, new: str, *, marks: bool = True) -> tuple[Piece, ...]:
    """The words of two texts aligned (`difflib`, Ratcliff and Obershelp's longest common blocks); without ``marks``
    what differs in signs alone is the same."""
    a, b = (list(TOKEN.finditer(text)) for text in (old, new))
    keys = [[_key(each[0], marks) for each in found] for found in (a, b)]
    matcher = difflib.SequenceMatcher(None, keys[0], keys[1], autojunk=max(len(a), len(b)) > _LONG)
    pieces: list[Piece] = []
    for _, a0, a1, b0, b1 in matcher.get_opcodes():
        equal = keys[0][a0:a1] == keys[1][b0:b1]
        stretches: list[tuple[Op, str, list[re.Match[str]], int, int]] = (
            [("same", new, b, b0, b1)] if equal else [("deleted", old, a, a0, a1), ("added", new, b, b0, b1)]
        )
        for op, text, found, low, high in stretches:
            if low < high:
                end = found[high].start() if high < len(found) else len(text)
                pieces.append(Piece(op, text[found[low].start() : end]))
    return tuple(
        Piece(op, "".join(each.text for each in group)) for op, group in groupby(pieces, key=lambda piece: piece.op)
    )


def _key(token: str, marks: bool) -> str:
    return token if marks else token.casefold() if token.isalnum() else "."


def excerpt(pieces: Iterable[Piece], around: int = 60) -> list[Piece]:
    """The pieces with what stays the same cut to ``around`` characters beside a change."""
    given = list(pieces)
    short = []
    for at, piece in enumerate(given):
        left, right = at > 0, at < len(given) - 1
        if piece.op != "same" or len(piece.text) <= around * (left + right) + 20:
            short.append(piece)
            continue
        start = piece.text[:around].rpartition(" ")[0] if left else ""
        end = piece.text[len(piece.text) - around :].partition(" ")[2] if right else ""
        short.append(Piece("same", f"{start} … {end}".lstrip()))
    return short
