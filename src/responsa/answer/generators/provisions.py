"""Provisions that the words of a question name, found in the library, and articles as wholes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock

from responsa.corpus import rulebook_numbers
from responsa.corpus.act_numbers import Provisions, is_act
from responsa.corpus.acts import OTHER
from responsa.corpus.graph import act_of, read
from responsa.corpus.references import Here, Reference
from responsa.corpus.rulebook_numbers import Numbers
from responsa.corpus.view import Corpus
from responsa.types import Passage

_KNOWN: OrderedDict[str, Catalogue] = OrderedDict()
_LOCK = Lock()
_MOST = 4  # catalogues kept in memory


@dataclass(frozen=True)
class _Document:
    act: str
    passages: tuple[Passage, ...]
    is_act: bool

    @cached_property
    def provisions(self) -> Provisions:
        return Provisions(self.passages)

    @cached_property
    def numbered(self) -> list[int]:
        return [place for place, each in enumerate(self.passages) if each.text.strip() and each.kind != "heading"]

    @cached_property
    def numbers(self) -> Numbers:
        return Numbers([rulebook_numbers.key_of(self.passages[place].number) for place in self.numbered])

    @cached_property
    def place_of(self) -> dict[str, int]:
        return {passage.id: place for place, passage in enumerate(self.passages)}

    def find(self, reference: Reference) -> list[Passage]:
        if self.is_act:
            place = self.provisions.find(reference, None)
            return [] if place is None else [self.passages[place]]
        target = rulebook_numbers.target_of(reference, "", self.act or None)
        places = self.numbers.find(target) if target else []
        return [self.passages[self.numbered[place]] for place in places]

    def article(self, passage: Passage) -> list[Passage]:
        """The passages with text of the article that a passage of an act stands in; itself where it is in none."""
        key = self.provisions.keys[self.place_of[passage.id]] if self.is_act else ()
        if not key or not key[0].startswith("article "):
            return [passage]
        same = [each for each, own in zip(self.passages, self.provisions.keys, strict=True) if own[:1] == key[:1]]
        return [each for each in same if each.text.strip()]


@dataclass(frozen=True)
class Catalogue:
    """The documents in view with their passages, by document id, in the order of the library."""

    documents: dict[str, _Document]

    def cited(self, text: str) -> list[Passage]:
        """The passages that the words of a text name, in its order, each once.

        A provision without its act is looked for in the acts that the text names, else in all documents: it is taken
        where one document alone has it, or from the act named first.
        """
        references = [each for each in read(text, Here()) if each.act != OTHER]
        named = list(dict.fromkeys(each.act for each in references if each.act))
        known = [document for act in named for document in self.documents.values() if document.act == act]
        found: dict[str, Passage] = {}
        for each in references:
            if each.provision:
                found.update((passage.id, passage) for passage in self._resolved(each, known, bool(named)))
        return list(found.values())

    def _resolved(self, reference: Reference, known: Sequence[_Document], named: bool) -> list[Passage]:
        if reference.act is not None:
            candidates = [each for each in self.documents.values() if each.act == reference.act]
        else:
            candidates = [*known] if named else [*self.documents.values()]
        found = [passages for each in candidates if (passages := each.find(reference))]
        return found[0] if found and (named or len(found) == 1) else []

    def labelled(self, labels: Iterable[str]) -> list[Passage]:
        """The passages that labels of provisions name ("CRR Article 412"), each label read by itself."""
        found = {passage.id: passage for label in labels for passage in self.cited(label)}
        return list(found.values())

    def article(self, passage: Passage) -> list[Passage]:
        """The passages with text of its article, in reading order; a passage of a rulebook stands for itself."""
        document = self.documents.get(passage.document_id)
        return document.article(passage) if document and passage.id in document.place_of else [passage]


def catalogue(corpus: Corpus) -> Catalogue:
    """The catalogue of a corpus; those used last are kept."""
    with _LOCK:
        if corpus.digest not in _KNOWN:
            documents = {}
            for version in corpus.versions:
                passages = tuple(corpus.passages(version))
                act = act_of(version, passages)
                documents[version.document_id] = _Document(act, passages, is_act(version.document_id))
            _KNOWN[corpus.digest] = Catalogue(documents)
        _KNOWN.move_to_end(corpus.digest)
        while len(_KNOWN) > _MOST:
            _KNOWN.popitem(last=False)
        return _KNOWN[corpus.digest]
