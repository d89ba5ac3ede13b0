"""What the verified answer asks of a language model: sentences with citations, and unsupported ones once more."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from responsa.answer.generators.base import AnswerFailed, Generator, Traced
from responsa.answer.generators.passages import room
from responsa.answer.generators.said import foreign
from responsa.answer.generators.sources import Source, fitting, shown
from responsa.answer.verified.check import Claim, Evidence, Reader
from responsa.answer.verified.words import tokens
from responsa.models.chat import Chat, ChatFailed
from responsa.models.chat.fence import RULE
from responsa.models.chat.structured import Parsed, ask
from responsa.text import tidy
from responsa.types import Query

S = TypeVar("S")

ANSWER = (
    "You draft answers to questions about regulation for a professional who checks every word. Use the passages alone, "
    "nothing that you know besides. " + RULE + "\n\n"
    "Write the answer as separate sentences in English, the most important first. Each sentence states one rule or one "
    "fact, can be read by itself, and follows from the passages that it cites. Keep to the rule exactly: who is bound, "
    "whether it is a duty, a permission or a ban, every number, time limit, condition and exception. Do not combine "
    "the condition of one rule with the duty of another. Under citations give for each sentence the id of every "
    "passage that it rests on and, as quote, the words of that passage that support it, copied exactly; leave the "
    "quote empty where there is no single place. Where passages disagree, state each of them in its own sentence.\n\n"
    "Under not_found list the parts of the question that the passages do not answer, in the words of the question. If "
    "they answer none of it, give no sentence. Never fill a gap by a guess."
)
REPAIR = (
    "You correct sentences of a draft about regulation. Each failed a check against the passages that it cites; the "
    "reason is given. Write it again so that it says no more than those passages say, with the same care for who is "
    "bound, duty or permission, numbers, time limits, conditions and exceptions; or leave it out of your reply where "
    "they do not support it at all. " + RULE + "\n\nGive the number of each sentence, its new text and its citations, "
    "each with the id of a passage and the exact words of it as quote, or an empty quote."
)
NO_SENTENCE = "its reply is in another language than the passages"
_SCHEMA = 700  # tokens of the schema, which is added to a request
_MOST = 40  # sentences of a draft that are looked at


@dataclass(frozen=True)
class Cite:
    """A passage cited, by its id, and its words that support the sentence."""

    passage: str
    quote: str = ""


@dataclass(frozen=True)
class Sentence:
    """A sentence of the draft."""

    text: str
    citations: list[Cite]


@dataclass(frozen=True)
class Draft:
    """An answer as the model gives it."""

    sentences: list[Sentence]
    not_found: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Rewritten:
    """A sentence written again, by its number."""

    number: int
    text: str
    citations: list[Cite]


@dataclass(frozen=True)
class Repair:
    """The sentences that could be mended."""

    sentences: list[Rewritten]


@dataclass(frozen=True)
class Given:
    """What a model was given: the sources by the ids it knows them by."""

    sources: tuple[Source, ...]

    @property
    def names(self) -> dict[str, Source]:
        """Each source by its number and by its passage's id."""
        own = {source.passage.id.casefold(): source for source in self.sources}
        return own | {str(number): source for number, source in enumerate(self.sources, 1)}

    def claim(self, text: str, citations: Sequence[Cite]) -> Claim:
        """A sentence with what it cites; citations of what was not given are kept apart."""
        names, evidence, unknown = self.names, [], []
        for cite in citations:
            source = next((names[name] for name in _called(cite.passage) if name in names), None)
            if source is None:
                unknown.append(tidy(cite.passage)[:60] or "nothing")
            else:
                evidence.append(Evidence(source, tidy(cite.quote)))
        return Claim(tidy(text), tuple(evidence), tuple(dict.fromkeys(unknown)))


def _called(cited: str) -> tuple[str, str, str]:
    """The names that a citation may mean, likeliest first: as it stands, without brackets, without a word before it."""
    whole = cited.strip().casefold()
    bare = re.sub(r"^\W+", "", whole).rstrip("])} ")
    return whole, bare, re.sub(r"^(?:passage|source|id)(?![^\W\d_])\W*", "", bare)


def draft(
    generator: Generator, chat: Traced, query: Query, sources: Sequence[Source], reader: Reader
) -> tuple[list[Claim], list[str], Given, list[str]]:
    """(sentences, parts of the question not answered, what was given, notes). AnswerFailed where there is no draft."""
    placed = [_with_lead(source, reader) for source in sources]
    kept, notes = fitting(placed, room(generator, chat, _request(generator, query, "")) - _SCHEMA)
    if not kept:
        raise AnswerFailed("no passage fits into the model's window", chat.calls)
    found = _asked(chat, _request(generator, query, shown(kept)), Draft)
    given = Given(tuple(kept))
    claims = [given.claim(each.text, each.citations) for each in found.sentences[:_MOST] if tidy(each.text)]
    if found.sentences and not claims:
        raise AnswerFailed(f"{chat.name}: the sentences of its reply are empty", chat.calls)
    if claims and foreign(" ".join(claim.text for claim in claims)):
        raise AnswerFailed(f"{chat.name}: {NO_SENTENCE}", chat.calls)
    parts, others = _of_question(found.not_found, query)
    told = [f"of what the model did not find, {others:,} not in the question's words and left out"] if others else []
    return claims, parts, given, [*notes, *told]


def repair(
    generator: Generator, chat: Traced, failed: Sequence[tuple[Claim, Sequence[str]]], given: Given
) -> tuple[dict[int, Claim], list[str]]:
    """(the sentences written again, by their places among the failed ones, notes); those the model left out are
    missing. A request that fails mends nothing, and is told of.
    """
    cited = {each.source.passage.id for claim, _ in failed for each in claim.evidence}
    needs_all = any(not claim.evidence for claim, _ in failed)
    numbers = [number for number, source in enumerate(given.sources, 1) if needs_all or source.passage.id in cited]
    told = _failed(failed, given)
    free = room(generator, chat, generator.request("repair", REPAIR, told)) - _SCHEMA
    fits, notes = fitting([given.sources[number - 1] for number in numbers], free)
    text = f"{told}{shown(fits, numbers[: len(fits)])}"
    try:
        if not fits:
            raise AnswerFailed("no passage fits into the model's window beside them")
        found = _asked(chat, generator.request("repair", REPAIR, text), Repair)
    except AnswerFailed as failure:
        return {}, [f"sentences could not be corrected: {failure}"]
    mended: dict[int, Claim] = {}
    for each in found.sentences:
        if 1 <= each.number <= len(failed) and tidy(each.text):
            mended.setdefault(each.number - 1, given.claim(each.text, each.citations))
    return mended, [f"when sentences were corrected: {note}" for note in notes]


def _failed(failed: Sequence[tuple[Claim, Sequence[str]]], given: Given) -> str:
    """The sentences that failed, numbered, with what they cite and why they failed; then comes what they cite."""
    ids = {source.passage.id: str(number) for number, source in enumerate(given.sources, 1)}
    rows = [
        {
            "number": number,
            "sentence": claim.text,
            "cites": list(dict.fromkeys(ids[each.source.passage.id] for each in claim.evidence)),
            "why it failed": "; ".join(reasons),
        }
        for number, (claim, reasons) in enumerate(failed, 1)
    ]
    told = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    return f"Sentences:\n{told}\n\nPassages:\n\n"


def _request(generator: Generator, query: Query, passages: str) -> Chat:
    background = f"\n\nWhat the asker says of the case:\n{tidy(query.background)}" if query.background else ""
    text = f"Question:\n{tidy(query.text)}{background}\n\nPassages:\n\n{passages}"
    return generator.request("answer", ANSWER, text)


def _asked(chat: Traced, request: Chat, shape: type[S]) -> S:
    (found,) = ask(chat, [request], shape)
    if isinstance(found, ChatFailed):
        raise AnswerFailed(str(found), chat.calls) from found
    assert isinstance(found, Parsed)
    return found.value


def _with_lead(source: Source, reader: Reader) -> Source:
    """The source with the lead-ins that complete it shown before its own words."""
    lead = reader.lead(source)
    return replace(source, text=f"{lead}\n{source.text}") if lead else source


def _of_question(parts: Sequence[str], query: Query) -> tuple[list[str], int]:
    """What the model says it did not find, where it is indeed of the question, and how many others there are: nothing
    else is passed on."""
    asked = set(tokens(query.full_text))
    told = dict.fromkeys(tidy(part)[:300] for part in parts)
    own = [part for part in told if _share(tokens(part), asked) >= _OWN_WORDS and not _LINK.search(part)]
    return own, len(told) - len(own)


def _share(part: Sequence[str], asked: set[str]) -> float:
    return sum(word in asked for word in part) / len(part) if part else 0.0


_OWN_WORDS = 0.85  # of the words of a part that was not found are the asker's
_LINK = re.compile(r"https?:|www\.|<|\]\(|@")
