"""Which passages cite which: the citations in every passage, resolved to passages of the same library.

A citation resolves by document and printed number: "Rule 3.2.1(a)" to the passage 3.2.1.(a); where there is none,
to 3.2.1, whose text holds its items; where that is a bare heading, to the passages below it. A whole part or chapter
is no passage, and an act that no document in view is recognised as stays unresolved.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from responsa.corpus.citations import LEVEL, ORDINALS
from responsa.corpus.references import Here, Reference, parse
from responsa.corpus.view import Corpus
from responsa.retrieval.bm25 import present
from responsa.retrieval.postings import Ints, Strings, map_array, write_strings
from responsa.text import digest, normalise
from responsa.types import Passage, Version

FORMAT = 1  # of the files, and of the grammar behind them
_MOST_BELOW = 12  # passages below a heading that a citation of it may mean; more is a chapter

Key = tuple[str, ...]  # the schedule or annex ("" for none), then the labels inwards: ("", "3", "2", "1", "a")

_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200e\u200f\ufeff"))
_SPACE = re.compile(r"(schedule|annex|appendix|app)\b\W*(\w*)|(app)(\d+)\b")
_DIVISION = re.compile(r"\b(?:part|title|chapter|section)\W+\w+\W*")
_NOUN = re.compile(r"\b(?:article|rule|regulation|paragraph|para)s?\b")


class Target(NamedTuple):
    """What a citation names: an act ("" for the citing document itself) and a provision in it.

    No fewer than ``least`` parts of ``key`` may be left where the whole is not found. ``other`` is tried then: a
    "paragraph 7" may be one of the rule it stands in or of the document.
    """

    act: str
    key: Key
    least: int
    other: Key = ()


def key_of(number: str) -> Key:
    """The key of a printed number: "Part 3.Chapter 2.10.(5)" and "10(5)" are 10, 5; "Schedule 2.3" is its own."""
    text = normalise(number).lower()
    space = ""
    found = _SPACE.match(text)
    if found:
        noun = found[1] or found[3]
        space = f"{'appendix' if noun == 'app' else noun} {found[2] or found[4] or ''}".strip()
        text = text[found.end() :]
    labels = re.findall(r"\w+", _NOUN.sub(" ", _DIVISION.sub(" ", text)))
    if space.startswith("appendix") and labels[:1] == [f"a{space[9:]}"]:  # "APP4.A4.10": cited as A4.10
        space = ""
    return (space, *labels)


def targets(passage: Passage, act: str | None) -> Iterator[Target]:
    """What the citations in a passage name; ``act`` is that of its document."""
    head, _, tail = normalise(passage.number).partition("(")
    own = key_of(head)
    inner = re.findall(r"\w+", tail)
    article = ".".join(own[1:]) if not own[0] else ""
    here = Here(act, article or None, inner[0] if inner else None, passage.path)
    for reference in parse(passage.text.translate(_INVISIBLE), here):
        target = _target(reference, own, act)
        if target is not None:
            yield target


def _target(reference: Reference, own: Key, act: str | None) -> Target | None:
    space, labels, least = "", [], 0
    for part in reference.provision.split(", "):
        word, _, rest = part.lower().partition(" ")
        if word in ORDINALS[:12]:
            labels.append(str(ORDINALS.index(word) + 1))
            continue
        level = LEVEL.get(word)
        if level is None or not rest:
            return None  # "this Article", and an act without a provision
        found = re.findall(r"\w+", rest)
        if level in ("schedule", "annex", "appendix"):
            space, labels = f"{level} {found[0]}", found[1:]
        elif level not in ("part", "title", "chapter"):
            labels += found
            least = least or len(labels) - part.count("(")
    if not labels:
        return None
    named = "" if reference.act in (None, act) else str(reference.act)
    whole = (space, *labels)
    inside = own[1:] and not own[0] and tuple(labels[: len(own) - 1]) == own[1:]
    if reference.relative and inside:
        return Target(named, whole, len(labels), ("", *labels[len(own) - 1 :]))
    return Target(named, whole, max(least, 1))


@dataclass(frozen=True)
class Links:
    """Citations between the passages of a corpus, and their order, from files that are mapped.

    A passage is told by its position among the sorted ids. ``order`` holds positions in reading order, ``place``
    where in it each stands, ``document`` the number of its document. Passages without text and headings are not there.
    """

    ids: Strings
    starts: tuple[Ints, Ints]
    ends: tuple[Ints, Ints]
    order: Ints
    place: Ints
    document: Ints

    def position(self, passage_id: str) -> int | None:
        """None for a passage that is not there."""
        count = len(self.ids.end)
        at = bisect_left(range(count), passage_id, key=self.ids.__getitem__)
        return at if at < count and self.ids[at] == passage_id else None

    def cited_by(self, position: int) -> list[int]:
        """The passages that a passage cites, each once, ascending."""
        return self._along(position, 0)

    def citing(self, position: int) -> list[int]:
        """The passages that cite a passage, each once, ascending."""
        return self._along(position, 1)

    def near(self, position: int, span: int) -> list[int]:
        """The passages of the document at most ``span`` places before or after, in reading order."""
        place = int(self.place[position])
        around = self.order[max(place - span, 0) : place + span + 1]
        return [int(at) for at in around if at != position and self.document[at] == self.document[position]]

    def _along(self, position: int, way: int) -> list[int]:
        low, high = self.starts[way][position], self.starts[way][position + 1]
        return [int(at) for at in self.ends[way][low:high]]


def links(corpus: Corpus) -> Links:
    """The citations of a corpus; read from the texts at first use and kept beside the catalogue."""
    return corpus.artefacts.opened(lambda: [prepare(corpus)], lambda folders: _load(folders[0]))


def prepare(corpus: Corpus) -> Path:
    """Build what is missing; returns the folder."""
    digests = [version.digest for version in corpus.versions]
    return corpus.artefacts.get(name(corpus), digests, lambda folder: _build(corpus, folder), view=True)


def name(corpus: Corpus) -> str:
    """The artefact of a corpus."""
    return "links-" + digest([FORMAT, corpus.digest])[:24]


@lru_cache(maxsize=4)
def _load(folder: Path) -> Links:
    parts = ("starts0", "starts1", "ends0", "ends1", "order", "place", "document")
    starts0, starts1, ends0, ends1, *rest = (map_array(folder / f"{part}.npy") for part in parts)
    return Links(Strings.load(folder), (starts0, starts1), (ends0, ends1), *rest)


def _build(corpus: Corpus, folder: Path) -> None:
    read = [_read(corpus, version) for version in corpus.versions]
    tables = [_Table(part["numbers"]) for part in read]
    acts = {str(part["act"]): place for place, part in enumerate(read) if part["act"]}
    ids = [passage_id for part in read for passage_id in part["ids"]]
    first = np.cumsum([0, *(len(part["ids"]) for part in read)])
    rank = np.empty(len(ids), dtype=np.int64)
    rank[sorted(range(len(ids)), key=ids.__getitem__)] = np.arange(len(ids))
    pairs = set()
    for place, part in enumerate(read):
        for source, act, key, least, other in part["targets"]:
            where = acts.get(act, -1) if act else place
            if where < 0:
                continue
            found = tables[where].find(Target(act, tuple(key), least, tuple(other)))
            start = int(rank[first[place] + source])
            pairs |= {(start, end) for each in found if (end := int(rank[first[where] + each])) != start}
    for way in (0, 1):
        ordered = np.array(sorted((pair[way], pair[1 - way]) for pair in pairs), dtype=np.int64).reshape(-1, 2)
        np.save(folder / f"starts{way}.npy", np.searchsorted(ordered[:, 0], np.arange(len(ids) + 1)))
        np.save(folder / f"ends{way}.npy", ordered[:, 1])
    order = rank
    document = np.empty(len(ids), dtype=np.int64)
    document[order] = np.repeat(np.arange(len(read)), [len(part["ids"]) for part in read])
    np.save(folder / "order.npy", order)
    np.save(folder / "place.npy", np.argsort(order))
    np.save(folder / "document.npy", document)
    write_strings(sorted(ids), folder)


class _Table:
    """The passages with text of one document by key; a key also holds what stands below it."""

    def __init__(self, numbers: Sequence[Sequence[str]]) -> None:
        self.keys = [tuple(number) for number in numbers]
        self.below: dict[Key, list[int]] = {}
        for place, key in enumerate(self.keys):
            for length in range(2, len(key) + 1):
                self.below.setdefault(key[:length], []).append(place)

    def find(self, target: Target) -> list[int]:
        for length in range(len(target.key), target.least, -1):
            found = self._at(target.key[:length])
            if found:
                return found
        return self._at(target.other)

    def _at(self, key: Key) -> list[int]:
        below = self.below.get(key, [])
        exact = [place for place in below if self.keys[place] == key]
        return exact or (below if len(below) <= _MOST_BELOW else [])


def _read(corpus: Corpus, version: Version) -> Mapping[str, list]:  # type: ignore[type-arg]
    """Ids and keys of a version's passages with text, the act it is, and what it cites."""

    def build(folder: Path) -> None:
        passages = present(corpus, version)
        act = _act(version, passages)
        passages = [passage for passage in passages if passage.text.strip() and passage.kind != "heading"]
        found = {
            "act": act or "",
            "ids": [passage.id for passage in passages],
            "numbers": [key_of(passage.number) for passage in passages],
            "targets": [(place, *target) for place, passage in enumerate(passages) for target in targets(passage, act)],
        }
        (folder / "citations.json").write_text(json.dumps(found), encoding="utf-8")

    def load(folders: Sequence[Path]) -> dict[str, list]:  # type: ignore[type-arg]
        loaded: dict[str, list] = json.loads((folders[0] / "citations.json").read_bytes())  # type: ignore[type-arg]
        return loaded

    called = f"citations-{FORMAT}-{version.digest[:24]}"
    return corpus.artefacts.opened(lambda: [corpus.artefacts.get(called, [version.digest], build)], load)


def _act(version: Version, passages: Sequence[Passage]) -> str | None:
    """The act that a document is: what its id, its title or the heading it starts with names."""
    opening = (passages[0].number, passages[0].text[:200]) if passages else ()
    for text in (version.title, version.document_id, *opening):
        for reference in parse(text):
            if reference.kind == "act" and reference.start == 0 and reference.act != "other":
                return reference.act
    return None
