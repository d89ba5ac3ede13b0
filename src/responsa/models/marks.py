"""Which tokens of two texts stand in the other one too, told to a cross-encoder by their segments.

A small network compares two long texts badly: which word of a rule a sentence has changed is easily lost among those
that it kept. That a token stands in the other text is cheap to tell, and a mark of it helps such networks (for ranking:
Boualili, Moreno and Boughanem 2020, MarkedBERT). Here the mark has three levels and is the token's segment, so it costs
no token and no time.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tokenizers import Encoding

TEXTS = 2
LEVELS = 3  # stands there beside the same token, stands there among others, does not stand there
SEGMENTS = TEXTS * LEVELS
_START, _END = -1, -2  # of a text, where a token has no neighbour


def segments(encoding: Encoding) -> list[int]:
    """The segment of each token: that of its text, 0 or 1, and twice its level.

    A token that the other text has with the same token before or after it (or begins or ends with, as its own text
    does) has level 0, one that it has elsewhere 1, one that it has not 2. The marks round the texts have level 0, and
    so has all where one of the texts is missing.
    """
    texts: tuple[list[int], list[int]] = ([], [])
    for token, text, special in zip(encoding.ids, encoding.type_ids, encoding.special_tokens_mask, strict=True):
        if not special:
            texts[text].append(token)
    if not all(texts):
        return list(encoding.type_ids)
    levels = (iter(_levels(texts[0], texts[1])), iter(_levels(texts[1], texts[0])))
    return [
        text if special else text + TEXTS * next(levels[text])
        for text, special in zip(encoding.type_ids, encoding.special_tokens_mask, strict=True)
    ]


def _levels(text: Sequence[int], other: Sequence[int]) -> list[int]:
    held, pairs = set(other), set(pairwise((_START, *other, _END)))
    found = []
    for before, token, after in zip((_START, *text[:-1]), text, (*text[1:], _END), strict=True):
        if token not in held:
            found.append(2)
        else:
            found.append(0 if (before, token) in pairs or (token, after) in pairs else 1)
    return found
