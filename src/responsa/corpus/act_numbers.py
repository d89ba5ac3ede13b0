"""Citations in EU acts, whose provisions carry the numbers that the grammar of citations writes.

A provision is found by its labels inwards: Article 129(4), second subparagraph, point (b) is article 129, 4, 2nd
subparagraph, b. The first subparagraph is the paragraph itself. What a paragraph's points are cited by may leave out
the subparagraph that they stand in, where only one has such a point.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from responsa.corpus.citations import DIVISIONS, INNER, LEVEL, ORDINALS
from responsa.corpus.references import Here, Reference
from responsa.types import Passage

Key = tuple[str, ...]

_CARDINALS = re.findall(r"\w+", "zero one two three four five six seven eight nine ten eleven twelve")
_LABEL = re.compile(r"\w+(?:\.\w+)*")
_SUB = re.compile(r"(\d+|last)(subparagraph|paragraph)")
_CELEX = re.compile(r"3\d{4}[A-Z]\d{4}")


def is_act(document_id: str) -> bool:
    """Whether a document is named by the CELEX number of an act."""
    return _CELEX.fullmatch(document_id) is not None


def key_of(number: str) -> Key | None:
    """The labels of a number or a provision inwards; None where it is relative ("this Chapter") or empty."""
    labels: list[str] = []
    for part in number.lower().split(", "):
        word, _, rest = part.partition(" ")
        level = LEVEL.get(word)
        if word in ("this", "that", ""):
            return None
        if word in ORDINALS or re.fullmatch(r"\d+th", word):
            labels += _ordinal(word, rest)
        elif level in ("article", "annex", "recital", "rule"):
            found = _LABEL.findall(rest)
            if not found:
                labels.append(level)
                continue
            labels += [f"{level} {found[0]}", *found[1:]]
        elif level in DIVISIONS:
            labels.append(f"{level} {_CARDINALS.index(rest) if rest in _CARDINALS else rest}")
        elif level in INNER:
            labels += _LABEL.findall(rest)
        else:
            labels.append(part)
    return tuple(labels) or None


def _ordinal(word: str, noun: str) -> list[str]:
    number = "last" if word in ("last", "final") else str(ORDINALS.index(word) + 1 if word in ORDINALS else word[:-2])
    if noun == "sentence" or (number == "1" and noun in ("subparagraph", "paragraph")):
        return []
    return [f"{number}{noun}"]


class Provisions:
    """The passages of one act, found by what cites them."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = passages
        self.keys = [key_of(passage.number) or () for passage in passages]
        self.places: dict[Key, int] = {}
        self.loose: dict[Key, list[int]] = defaultdict(list)
        self.below: dict[Key, list[int]] = defaultdict(list)
        for place, key in enumerate(self.keys):
            self.places.setdefault(key, place)
            self.loose[_plain(key)].append(place)
            self.below[key[:-1]].append(place)

    def here(self, place: int, act: str) -> Here:
        """Where a passage stands, for the grammar."""
        key, passage = self.keys[place], self.passages[place]
        article = key[0].removeprefix("article ") if key and key[0].startswith("article ") else None
        paragraph = key[1] if article and len(key) > 1 and re.fullmatch(r"\d+[a-z]*", key[1]) else None
        return Here(act, article, paragraph, passage.path)

    def find(self, reference: Reference, source: int | None) -> int | None:
        """The passage that a citation means; ``source`` is the place of the passage that it stands in, where that is
        in the same act."""
        if source is not None and reference.relative:
            own = self.keys[source]
            pointed = re.search(r"(?:this|that) ([\w-]+)(?:, (.+))?$", reference.provision)
            if pointed:
                return self._around(own, pointed[1], key_of(pointed[2] or "") or ())
            if reference.provision.endswith(", first subparagraph") and reference.article is not None:
                last = max((at for at, label in enumerate(own) if _SUB.fullmatch(label)), default=0)
                inside = self.places.get(own[:last]) if key_of(reference.provision) == own[:2] else None
                if inside is not None:
                    return inside
            key = key_of(reference.provision)
            inner = self._inner(key, own) if key else ()
            found = self._upwards(inner, own)
            if found is not None:
                return found
        key = key_of(reference.provision)
        if key is None:
            return None
        found = self._at(key)
        return self._division(key) if found is None and key[0].split(" ")[0] in DIVISIONS - {"annex"} else found

    def between(self, first: int, last: int) -> list[int]:
        """The provisions from one to another of the same level, in reading order; those two where they are not."""
        a, b = self.keys[first], self.keys[last]
        level = a[-1].partition(" ")[0] if " " in a[-1] else ""  # "section 3", but "3"
        if first >= last or len(a) != len(b) or a[:-1] != b[:-1]:
            return [first, last]
        return [
            place
            for place in range(first, last + 1)
            if len(self.keys[place]) == len(a)
            and self.keys[place][:-1] == a[:-1]
            and self.keys[place][-1].startswith(level)
            and (level or (_LABEL.fullmatch(self.keys[place][-1]) and not _SUB.fullmatch(self.keys[place][-1])))
        ]

    def _at(self, key: Key) -> int | None:
        if key in self.places:
            return self.places[key]
        swapped = tuple(_SUB.sub(_other, label) if at == 1 else label for at, label in enumerate(key))
        if swapped in self.places:
            return self.places[swapped]
        if key[-1].startswith("last"):
            beside = [place for place in self.below[key[:-1]] if _SUB.fullmatch(self.keys[place][-1])]
            return beside[-1] if beside else None
        loose = self.loose[_plain(key)] if key == _plain(key) else []
        return loose[0] if len(loose) == 1 else None

    def _inner(self, key: Key, own: Key) -> Key:
        """The labels that the words themselves name: those behind the article and paragraph that the grammar added."""
        if not own or key[:1] != own[:1]:
            return () if own[:1] and own[0].startswith("article ") else key
        shared = 2 if len(own) > 1 and key[:2] == own[:2] and len(key) > 2 else 1
        return () if re.match(r"\d+[a-z]*$", "".join(key[shared : shared + 1])) and shared == 1 else key[shared:]

    def _upwards(self, inner: Key, own: Key) -> int | None:
        """Innermost first: "point (i)" in (k)(iii) is (k)(i) rather than (i)."""
        for length in range(len(own), 0, -1) if inner else ():
            place = self.places.get((*own[:length], *inner))
            if place is not None:
                return place
        return None

    def _around(self, own: Key, noun: str, inner: Key) -> int | None:
        """What "this point" and "point (a) of this subparagraph" mean in a passage: innermost first."""
        level = LEVEL.get(noun)
        for length in range(len(own), 0, -1):
            label = own[length - 1]
            fits = (
                (level == "point" and length > 1 and not _SUB.fullmatch(label))
                or (level in ("subparagraph", "paragraph") and (_SUB.fullmatch(label) is not None or length <= 2))
                or (level in ("article", "annex") and length == 1)
                or (level in DIVISIONS and label.startswith(f"{level} "))
            )
            place = self.places.get((*own[:length], *inner)) if fits else None
            if place is not None:
                return place
        return None

    def _division(self, key: Key) -> int | None:
        """A part, title, chapter or section cited without one of those above it, where only one fits."""
        found = [place for held, place in self.places.items() if held[-1:] == key[-1:] and _within(key, held)]
        return found[0] if len(found) == 1 else None


def runs(values: Sequence[object]) -> list[tuple[int, int]]:
    """First and last place of each run of equal values."""
    starts = [0, *(at for at in range(1, len(values)) if values[at] != values[at - 1])]
    return [(start, stop - 1) for start, stop in pairwise([*starts, len(values)]) if stop > start]


def _within(key: Key, held: Key) -> bool:
    """Whether the labels of one key come in another in this order."""
    rest = iter(held)
    return all(label in rest for label in key)


def _plain(key: Key) -> Key:
    return tuple(label for label in key if not _SUB.fullmatch(label))


def _other(found: re.Match[str]) -> str:
    return found[1] + ("paragraph" if found[2] == "subparagraph" else "subparagraph")
