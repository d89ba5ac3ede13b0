"""Who cites whom: every citation in the passages of a corpus, resolved to passages of it, or the reason why not."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from responsa.corpus import rulebook_numbers
from responsa.corpus.act_numbers import Provisions, is_act, runs
from responsa.corpus.acts import OTHER, name_of
from responsa.corpus.references import Here, Reference, parse
from responsa.corpus.rulebook_numbers import INVISIBLE, Numbers
from responsa.corpus.view import Corpus
from responsa.errors import NotFound
from responsa.types import Passage, Version

_CORRELATION = re.compile(r"correlation table", re.IGNORECASE)
FORMAT = 9  # of the file of citations, and of the grammar behind it


@dataclass(frozen=True, slots=True)
class CrossReference:
    """The words from ``start`` to ``end`` of passage ``source`` cite ``act`` and ``provision``, as
    `responsa.corpus.references` writes them.

    ``document`` is the document meant and ``targets`` its passages, in reading order; no passages where the whole act
    is cited. ``reason`` says why the citation is not resolved, and is empty where it is.
    """

    source: str
    start: int
    end: int
    act: str | None
    provision: str
    document: str = ""
    targets: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Graph:
    """The citations of a corpus: documents and passages in reading order, citations in that of the words."""

    references: tuple[CrossReference, ...]
    documents: tuple[str, ...]

    @cached_property
    def by_source(self) -> dict[str, list[CrossReference]]:
        return _grouped(self.references, lambda each: (each.source,))

    @cached_property
    def by_target(self) -> dict[str, list[CrossReference]]:
        """By passages, and by documents that are cited as a whole."""
        return _grouped(self.references, lambda each: each.targets or ((each.document,) if each.document else ()))

    def cites(self, ids: Iterable[str]) -> list[CrossReference]:
        """What passages cite."""
        return [each for passage_id in ids for each in self.by_source.get(passage_id, ())]

    def cited_by(self, ids: Iterable[str]) -> list[CrossReference]:
        """The citations of passages, or of a document as a whole, each once."""
        return list(dict.fromkeys(each for passage_id in ids for each in self.by_target.get(passage_id, ())))


def _grouped(
    references: Iterable[CrossReference], keys: Callable[[CrossReference], Iterable[str]]
) -> dict[str, list[CrossReference]]:
    found: dict[str, list[CrossReference]] = defaultdict(list)
    for each in references:
        for key in keys(each):
            found[key].append(each)
    return dict(found)


def below(corpus: Corpus, passage_id: str) -> list[str]:
    """A passage and all below it, in reading order."""
    found = [passage_id]
    for child in corpus.children(passage_id):
        found += below(corpus, child.id)
    return found


def unresolved(references: Iterable[CrossReference]) -> list[tuple[str, int]]:
    """How many citations are unresolved for each reason, the most frequent first."""
    return Counter(each.reason for each in references if each.reason).most_common()


def graph(corpus: Corpus) -> Graph:
    """The citations of a corpus. What the texts say is read once for each version and kept beside the catalogue."""
    parts = {version.document_id: _Document.of(corpus, version) for version in corpus.versions}
    acts = {part.act: part for part in parts.values() if part.act}
    found = [each for part in parts.values() for each in part.resolved(acts)]
    return Graph(tuple(found), tuple(parts))


@dataclass(frozen=True)
class _Document:
    """A document in view: its passages, the act that it is ("" for none), and its citations with their places."""

    id: str
    passages: tuple[Passage, ...]
    act: str
    cited: tuple[tuple[int, Reference], ...]

    @classmethod
    def of(cls, corpus: Corpus, version: Version) -> _Document:
        passages = tuple(corpus.passages(version))
        if not passages:
            raise NotFound(f"document {version.document_id!r} was removed while it was being read; ask again")

        def build(folder: Path) -> None:
            act = act_of(version, passages)
            rows = [(place, asdict(each)) for place, each in _read(passages, version, act)]
            (folder / "citations.json").write_text(json.dumps({"act": act, "cited": rows}), encoding="utf-8")

        def load(folders: Sequence[Path]) -> dict[str, list]:  # type: ignore[type-arg]
            kept: dict[str, list] = json.loads((folders[0] / "citations.json").read_bytes())  # type: ignore[type-arg]
            return kept

        called = f"citations-{FORMAT}-{version.digest[:24]}"
        kept = corpus.artefacts.opened(lambda: [corpus.artefacts.get(called, [version.digest], build)], load)
        cited = tuple((place, Reference(**each)) for place, each in kept["cited"])
        return cls(version.document_id, passages, str(kept["act"]), cited)

    @cached_property
    def provisions(self) -> Provisions | None:
        """For an EU act; None for a rulebook."""
        return Provisions(self.passages) if is_act(self.id) else None

    @cached_property
    def numbered(self) -> list[int]:
        """The places of the passages that a rulebook's numbers are looked up in."""
        return [place for place, each in enumerate(self.passages) if each.text.strip() and each.kind != "heading"]

    @cached_property
    def numbers(self) -> Numbers:
        return Numbers([rulebook_numbers.key_of(self.passages[place].number) for place in self.numbered])

    def resolved(self, acts: dict[str, _Document]) -> list[CrossReference]:
        found = []
        spans = [(place, each.start, each.end) for place, each in self.cited]
        for first, last in runs(spans):
            found += self._resolved(self.cited[first : last + 1], acts)
        return found

    def _resolved(self, cited: Sequence[tuple[int, Reference]], acts: dict[str, _Document]) -> list[CrossReference]:
        """The citations from the same words: one, or those that a range was expanded to."""
        found = [self._one(place, each, acts) for place, each in cited]
        ends = [found[0].targets, found[-1].targets]
        document = acts.get(self._act(cited[0][1]) or "", self)
        if len(found) < 2 or not all(len(end) == 1 for end in ends) or document.provisions is None:
            return found
        ids = document.places
        inside = document.provisions.between(ids[ends[0][0]], ids[ends[1][0]])
        passages = [document.passages[place] for place in inside]
        first = found[0]
        return [
            CrossReference(first.source, first.start, first.end, first.act, each.number, document.id, (each.id,))
            for each in passages
        ]

    @cached_property
    def places(self) -> dict[str, int]:
        return {passage.id: place for place, passage in enumerate(self.passages)}

    def _act(self, reference: Reference) -> str | None:
        return reference.act if reference.act is not None else self.act or None

    def _one(self, place: int, each: Reference, acts: dict[str, _Document]) -> CrossReference:
        source = self.passages[place].id
        act = self._act(each)
        made = CrossReference(source, each.start, each.end, act, each.provision)
        document = self if act in (None, self.act) else acts.get(act)
        if act == OTHER:
            return _without(made, "the act is not named by a name that is known")
        if document is None:
            return _without(made, f"{name_of(act or '')} is not in the library")
        if not each.provision:
            return CrossReference(source, each.start, each.end, act, "", document.id)
        targets, relative = document._find(each, self.passages[place], place if document is self else None)
        if not targets:
            return _without(
                made, "it is not clear which is meant" if relative else f"{document.id} has no such provision"
            )
        return CrossReference(source, each.start, each.end, act, each.provision, document.id, targets)

    def _find(self, reference: Reference, source: Passage, place: int | None) -> tuple[tuple[str, ...], bool]:
        """The passages meant, and whether the words alone do not say which."""
        if self.provisions is not None:
            found = self.provisions.find(reference, place)
            return () if found is None else (self.passages[found].id,), reference.relative
        target = rulebook_numbers.target_of(reference, source.number, self.act if place is None else None)
        if target is None:
            return (), True
        places = self.numbers.find(target)
        return tuple(self.passages[self.numbered[at]].id for at in places), False


def _without(reference: CrossReference, reason: str) -> CrossReference:
    return CrossReference(
        reference.source, reference.start, reference.end, reference.act, reference.provision, reason=reason
    )


def _read(passages: Sequence[Passage], version: Version, act: str) -> list[tuple[int, Reference]]:
    """The citations in passages with text, with the places of these."""
    provisions = Provisions(passages) if is_act(version.document_id) else None
    found = []
    for place, passage in enumerate(passages):
        if not passage.text.strip() or (provisions is None and passage.kind == "heading"):
            continue
        if passage.kind == "table" and any(_CORRELATION.search(heading) for heading in passage.path):
            continue  # its columns are numbers in other acts
        where = provisions.here(place, act) if provisions else rulebook_numbers.here(passage, act or None)
        found += [(place, each) for each in read(passage.text, where)]
    return found


def read(text: str, where: Here) -> list[Reference]:
    """The references in a text as stored: invisible characters are passed over, offsets count them."""
    plain = text.translate(INVISIBLE)
    references = parse(plain, where)
    if len(plain) == len(text):
        return list(references)
    kept = list(accumulate(ord(letter) not in INVISIBLE for letter in text))
    return [
        Reference(bisect_left(kept, each.start + 1), bisect_left(kept, each.end) + 1, each.act, each.provision,
                  each.kind, each.relative, each.article)
        for each in references
    ]  # fmt: skip


def act_of(version: Version, passages: Sequence[Passage]) -> str:
    """The act that a document is: its id, or what its title or the heading it starts with names; "" for none."""
    if is_act(version.document_id):
        return version.document_id
    opening = (passages[0].number, passages[0].text[:200]) if passages else ()
    for text in (version.title, version.document_id, *opening):
        for reference in parse(text):
            if reference.kind == "act" and reference.start == 0 and reference.act not in (None, OTHER):
                return str(reference.act)
    return ""
