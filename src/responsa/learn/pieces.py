"""A sentence told by what it takes from a text: places where it repeats the text, and its own words between them.

So a sentence near the wording of a text that may not be handed on can be, without a run of the text's words.
"""

from __future__ import annotations

from collections.abc import Sequence

from responsa.errors import InputError

Piece = str | tuple[int, int]

_RUN = 3  # words in a row from which on a place is told in their stead


def parted(sentence: str, text: str) -> list[Piece]:
    """Own words, and (start, end) of the longest runs of three words or more that stand in the text, from the left."""
    found: list[Piece] = []
    own, at = "", 0
    while at < len(sentence):
        end = _run(sentence, at, text)
        if end:
            found += [own] if own else []
            start = text.index(sentence[at:end])
            found.append((start, start + end - at))
            own, at = "", end
        else:
            stop = next((place for place in range(at + 1, len(sentence)) if _starts(sentence, place)), len(sentence))
            own, at = own + sentence[at:stop], stop
    return [*found, own] if own else found


def _run(sentence: str, at: int, text: str) -> int:
    """The end of the longest run of words from ``at`` that stands in the text; 0 where there is none."""
    found, words = 0, 0
    for place in range(at + 1, len(sentence) + 1):
        if place == len(sentence) or (sentence[place].isspace() and not sentence[place - 1].isspace()):
            if sentence[at:place] not in text:
                break
            words += 1
            found = place if words >= _RUN else 0
    return found


def _starts(sentence: str, place: int) -> bool:
    return sentence[place - 1].isspace() and not sentence[place].isspace()


def whole(pieces: Sequence[object], text: str, place: str) -> str:
    """The sentence again. InputError, which ``place`` begins, for what is neither words nor a place in the text."""
    found = []
    for piece in pieces:
        if isinstance(piece, str):
            found.append(piece)
            continue
        start, end = piece if isinstance(piece, list | tuple) and len(piece) == 2 else (None, None)
        if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
            raise InputError(
                f"{place}: a piece of a sentence is words, or start and end of a place within {len(text)} characters, "
                f"not {piece!r}"
            )
        found.append(text[start:end])
    return "".join(found)
