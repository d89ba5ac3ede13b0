"""Provisions that a question turns on without citing them, named by a language model and checked against the library
(Bank of Italy, section 2.2).

The model proposes; the grammar of citations reads what it proposes; and what the versions in view do not hold is listed
as invented and used for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from responsa.answer.generators.provisions import Catalogue, catalogue
from responsa.corpus.act_numbers import key_of
from responsa.corpus.acts import OTHER, name_of
from responsa.corpus.graph import read
from responsa.corpus.references import Here, Reference
from responsa.corpus.view import Corpus
from responsa.models.chat import Chat, ChatFailed, ChatModel, Message, Settings
from responsa.models.chat.fence import RULE, fenced
from responsa.models.chat.structured import ask
from responsa.types import Call, Passage, Query

MOST = 10
_WORK = (
    "You prepare the file for whoever answers an inquiry about regulation. Name the provisions that settle it and that "
    "the inquiry does not cite: those that define its terms, that lay down the rule it asks about, and that make "
    "exceptions from that rule. The provisions that it cites are listed; leave them out."
)
_FORM = (
    "Name each as its act cites it, the act first: 'CRR Article 425(2)(a)', 'COBS Rule 17.4'. Name one provision in "
    "each entry, no ranges, the narrowest that you are sure of, and say in a few words what it settles. Name only acts "
    "that are listed, and only provisions that you know to exist: an empty list is better than a guess."
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A provision as the model names it, and what it settles."""

    provision: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Proposals:
    """What the model replies."""

    provisions: list[Proposal]


@dataclass(frozen=True, slots=True)
class Implied:
    """A provision that exists. ``label`` names it ("CRR Article 425(2)"), also for the grammar; ``passages`` are its
    ids; ``reason`` is the model's, "" where the question itself cites the provision."""

    label: str
    passages: tuple[str, ...]
    explicit: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """The provisions of a question: those that it cites first, each passage once.

    ``invented`` are proposals that no version in view has, ``unreadable`` those that name no provision, or one of an
    act that is not in the library, as the model wrote them.
    """

    provisions: tuple[Implied, ...]
    invented: tuple[str, ...]
    unreadable: tuple[str, ...]
    calls: tuple[Call, ...]

    @property
    def labels(self) -> list[str]:
        """Of the provisions that the question does not cite."""
        return [each.label for each in self.provisions if not each.explicit]


def implicit(model: ChatModel, query: Query, corpus: Corpus, most: int = MOST, tries: int = 3) -> Found:
    """The provisions that a question cites and those that the model adds, at most ``most``, which the library has.

    ChatFailed where the model gives no usable reply.
    """
    known = catalogue(corpus)
    words = "\n".join(filter(None, (query.text, query.background)))
    cited = _cited(words, known)
    (reply,) = ask(model, [_asked(query, cited, corpus, known, most)], Proposals, tries)
    if isinstance(reply, ChatFailed):
        raise reply
    acts = [each.act for each in read(words, Here()) if each.act not in (None, OTHER)]
    checked = [_check(each, known, acts) for each in reply.value.provisions[:most]]
    seen = {passage for each in cited for passage in each.passages}
    added = []
    for each in checked:
        if isinstance(each, Implied) and not seen.issuperset(each.passages):
            seen.update(each.passages)
            added.append(each)
    refused = [each for each in checked if isinstance(each, tuple)]
    return Found(
        (*cited, *added),
        tuple(text for text, invented in refused if invented),
        tuple(text for text, invented in refused if not invented),
        reply.calls,
    )


def namer(corpus: Corpus, most: int = MOST) -> Callable[[Query, ChatModel], list[str]]:
    """`implicit` as generators call it: the labels of the provisions that the question does not cite."""
    return lambda query, model: implicit(model, query, corpus, most).labels


def _asked(query: Query, cited: Sequence[Implied], corpus: Corpus, known: Catalogue, most: int) -> Chat:
    acts = []
    for version in corpus.versions:
        name = name_of(known.documents[version.document_id].act) or version.document_id
        acts.append(f"- {name}: {version.title}" if version.title and version.title != name else f"- {name}")
    given = [("question", query.text), *([("background", query.background)] if query.background else [])]
    known_by = [("acts", "\n".join(acts)), ("cited", "; ".join(each.label for each in cited) or "none")]
    parts = [
        f"The acts in the library, and what the inquiry cites already:\n\n{fenced(known_by)}",
        f"The inquiry:\n\n{fenced(given)}",
        f"Name at most {most} provisions.",
    ]
    system = f"{_WORK}\n\n{_FORM}\n\n{RULE}"
    messages = (Message("system", system), Message("user", "\n\n".join(parts)))
    return Chat(messages, Settings(temperature=0.0), purpose="implicit provisions")


def _cited(words: str, known: Catalogue) -> list[Implied]:
    """The provisions that the words cite, each passage once."""
    return [Implied(_label(passage, known), (passage.id,), explicit=True) for passage in known.cited(words)]


def _label(passage: Passage, known: Catalogue) -> str:
    act = known.documents[passage.document_id].act
    return f"{name_of(act)} {passage.number}" if act else passage.number


def _check(proposal: Proposal, known: Catalogue, acts: Sequence[str | None]) -> Implied | tuple[str, bool]:
    """The provision that is proposed; else its words, and whether it is invented."""
    references = [each for each in read(proposal.provision, Here()) if each.provision and each.act != OTHER]
    if len(references) != 1 or "this " in references[0].provision or "that " in references[0].provision:
        return proposal.provision, False
    (reference,) = references
    candidates = [name for name, each in known.documents.items() if reference.act in (None, each.act)]
    if reference.act is None:  # that of the acts which the question names, else of the only one that has it
        candidates = [name for name in candidates if known.documents[name].act in acts] or candidates
    if not candidates:
        return proposal.provision, False
    found = [(name, held) for name in candidates if (held := _held(known, name, reference))]
    if len(found) != 1:
        return proposal.provision, not found
    name, (provision, passages) = found[0]
    act = known.documents[name].act
    label = f"{name_of(act)} {provision}" if act else provision
    return Implied(label, tuple(each.id for each in passages), reason=proposal.reason)


def _held(known: Catalogue, document_id: str, reference: Reference) -> tuple[str, list[Passage]] | None:
    """What a provision is called in a document and its passages, None where there is none.

    A point of a paragraph that the document does not take apart is that paragraph; where it has points, an unknown one
    is invented.
    """
    document = known.documents[document_id]
    found = document.find(reference)
    if found or not document.is_act:
        return (reference.provision, found) if found else None
    key = key_of(reference.provision) or ()
    for length in range(len(key) - 1, 0, -1):
        place = document.provisions.places.get(key[:length])
        if place is not None:
            passage = document.passages[place]
            return None if document.provisions.below.get(key[:length]) else (passage.number, [passage])
    return None
