"""Pairs whose premise is changed as a sentence was: counterfactual premises (Kaushik, Hovy & Lipton 2020).

Of two sentences on one text, one that follows from it and the same with a change, a network can learn by heart which is
the changed one. With the change made in the text too, the changed sentence follows and the other does not, so that only
comparing the two tells them apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from responsa.learn.classifier import Sample

MIRRORED = "mirrored"  # the source of such pairs
_WORD = re.compile(r"\w+(?:[.,'’/-]\w+)*|[^\w\s]")
_MOST_PLACES, _MOST_WORDS = 3, 6  # in which a sentence may differ from its twin, and of each of them
_AROUND = 3  # words beside a change that may tell its place in the premise


class _Word(NamedTuple):
    text: str
    start: int
    end: int

    @property
    def folded(self) -> str:
        return self.text.lower()


def mirrored(premise: str, follows: str, changed: str) -> str | None:
    """The premise with the words in which ``changed`` differs from ``follows``; None where that is not safe: words were
    added or left out, more than a few differ, or their place in the premise is not the only one."""
    true, false, text = _words(follows), _words(changed), _words(premise)
    edits: list[tuple[int, int, str]] = []
    steps = SequenceMatcher(None, [word.folded for word in true], [word.folded for word in false], autojunk=False)
    differing = [step for step in steps.get_opcodes() if step[0] != "equal"]
    if len(differing) > _MOST_PLACES:
        return None
    for kind, start, end, other, stop in differing:
        if kind != "replace" or max(end - start, stop - other) > _MOST_WORDS:
            return None
        place = _place(true, start, end, text)
        if place is None:
            return None
        first, last = text[place].start, text[place + end - start - 1].end
        edits.append(
            (first, last, _cased(changed[false[other].start : false[stop - 1].end], premise[first], other == 0))
        )
    edits.sort()
    if not edits or any(one[1] > two[0] for one, two in pairwise(edits)):
        return None
    for start, end, words in reversed(edits):
        premise = premise[:start] + words + premise[end:]
    return premise


def _words(text: str) -> list[_Word]:
    return [_Word(match[0], match.start(), match.end()) for match in _WORD.finditer(text)]


def _place(sentence: Sequence[_Word], start: int, end: int, text: Sequence[_Word]) -> int | None:
    """Where words of a sentence stand in the premise: the one place where they do, or where they do beside the same
    words, as few as are needed."""
    held = [word.folded for word in text]
    for more in range(_AROUND + 1):
        for before in range(more + 1):
            one, two = max(0, start - before), min(len(sentence), end + more - before)
            wanted = [word.folded for word in sentence[one:two]]
            found = [at for at in range(len(held) - len(wanted) + 1) if held[at : at + len(wanted)] == wanted]
            if len(found) == 1:
                return found[0] + start - one
        if not more and not found:
            return None
    return None


def _cased(words: str, instead_of: str, begins: bool) -> str:
    """A capital where the premise has one; none where the words had it only as the first of their sentence."""
    if instead_of.isupper():
        return words[0].upper() + words[1:]
    return words[0].lower() + words[1:] if begins and instead_of.islower() else words


def mirror(samples: Iterable[Sample], follows: int, against: int) -> Iterator[Sample]:
    """Pairs with a changed premise, of samples that stand in twos: one labelled ``follows``, then or before it another
    on the same premise. The changed sentence follows from it; the other is labelled ``against`` where the changed one
    was, and left out where it was not, for what says less may still follow. They stay in the group of their premise."""
    for one, two in pairwise(samples):
        if one.texts[0] != two.texts[0] or (one.label == follows) == (two.label == follows):
            continue
        true, false = (one, two) if one.label == follows else (two, one)
        changed = mirrored(true.texts[0], true.texts[1], false.texts[1])
        if changed is None:
            continue
        yield replace(false, texts=(changed, false.texts[1]), label=follows, source=MIRRORED)
        if false.label == against:
            yield replace(true, texts=(changed, true.texts[1]), label=against, source=MIRRORED)
