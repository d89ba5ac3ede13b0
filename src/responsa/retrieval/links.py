"""Which passages cite which: the citations in every passage, resolved to passages of the same library.

`responsa.corpus.graph` resolves them. Here a bare heading stands for the passages below it, unless it is that of a
whole part or chapter, which is no passage.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from responsa.corpus.graph import FORMAT as CITATIONS
from responsa.corpus.graph import graph
from responsa.corpus.rulebook_numbers import MOST_BELOW
from responsa.corpus.view import Corpus
from responsa.retrieval.bm25 import present
from responsa.retrieval.postings import Ints, Strings, map_array, write_strings
from responsa.text import digest
from responsa.types import Passage

FORMAT = 2  # of the files


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
    return "links-" + digest([FORMAT, CITATIONS, corpus.digest])[:24]


@lru_cache(maxsize=4)
def _load(folder: Path) -> Links:
    parts = ("starts0", "starts1", "ends0", "ends1", "order", "place", "document")
    starts0, starts1, ends0, ends1, *rest = (map_array(folder / f"{part}.npy") for part in parts)
    return Links(Strings.load(folder), (starts0, starts1), (ends0, ends1), *rest)


def _build(corpus: Corpus, folder: Path) -> None:
    read = [_numbered(present(corpus, version)) for version in corpus.versions]
    ids = [passage_id for part in read for passage_id in part[0]]
    rank = {passage_id: place for place, passage_id in enumerate(sorted(ids))}
    within = {name: held for part in read for name, held in part[1].items()}
    pairs = set()
    for each in graph(corpus).references:
        start = rank.get(each.source)
        found = [below for target in each.targets for below in within.get(target, [target])]
        pairs |= {(start, rank[target]) for target in found if start is not None and rank.get(target, start) != start}
    for way in (0, 1):
        ordered = np.array(sorted((pair[way], pair[1 - way]) for pair in pairs), dtype=np.int64).reshape(-1, 2)
        np.save(folder / f"starts{way}.npy", np.searchsorted(ordered[:, 0], np.arange(len(ids) + 1)))
        np.save(folder / f"ends{way}.npy", ordered[:, 1])
    order = np.array([rank[passage_id] for passage_id in ids], dtype=np.int64)
    document = np.empty(len(ids), dtype=np.int64)
    document[order] = np.repeat(np.arange(len(read)), [len(part[0]) for part in read])
    np.save(folder / "order.npy", order)
    np.save(folder / "place.npy", np.argsort(order))
    np.save(folder / "document.npy", document)
    write_strings(sorted(ids), folder)


def _numbered(passages: Sequence[Passage]) -> tuple[list[str], dict[str, list[str]]]:
    """The ids of passages with text, and for each bare heading those below it; none where it is a whole chapter."""
    ids = [each.id for each in passages if each.text.strip() and each.kind != "heading"]
    with_text = set(ids)
    parents = {each.id: each.parent_id for each in passages}
    held: dict[str, list[str]] = {each.id: [] for each in passages if each.id not in with_text}
    for passage_id in ids:
        above = parents[passage_id]
        while above is not None and above in parents:
            if above in held:
                held[above].append(passage_id)
            above = parents[above]
    return ids, {name: each if len(each) <= MOST_BELOW else [] for name, each in held.items()}
