"""What a model is given to answer from: passages or obligations, numbered from 1 in the order of their rank."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from responsa.answer.extractive import cite
from responsa.corpus.view import Corpus
from responsa.models import tokens
from responsa.models.chat.fence import fenced
from responsa.models.chat.window import fit
from responsa.text import sentences, tidy
from responsa.types import ObligationDetector, Passage, Ranking

Fallback = Literal["passage", "question"]


@dataclass(frozen=True, slots=True)
class Source:
    """A text with the place that it is cited by: characters ``start`` to ``end`` of a passage of that version.

    ``text`` is what the model is shown; it may be more than what is cited, such as the article that a paragraph is of.
    ``binds``: it is an obligation.
    """

    passage: Passage
    title: str
    version: str
    start: int
    end: int
    text: str
    binds: bool = False

    @property
    def label(self) -> str:
        """``[Document, clause]``."""
        return cite(self.passage, self.title)


def of_passages(passages: Iterable[Passage], corpus: Corpus) -> list[Source]:
    """The passages as sources; those without text, or whose document was removed just now, are left out."""
    found = []
    for passage in passages:
        version = corpus.version(passage.document_id)
        if version is not None and passage.text.strip():
            found.append(Source(passage, version.title, version.digest, 0, len(passage.text), passage.text.strip()))
    return found


def kept_passages(kept: Ranking, corpus: Corpus) -> list[Source]:
    """The passages of a ranking as sources, best first."""
    return of_passages(corpus.read(hit.passage_id for hit in kept.hits).values(), corpus)


def split(source: Source) -> list[Source]:
    """The sentences of a source."""
    text = source.passage.text
    spans = [(source.start + start, source.start + end) for start, end in sentences(text[source.start : source.end])]
    return [
        replace(source, start=start, end=end, text=tidy(text[start:end]))
        for start, end in spans
        if tidy(text[start:end])
    ]


def obligations(passages: Sequence[Source], detector: ObligationDetector, fallback: Fallback) -> list[Source]:
    """The sentences of the passages that are obligations, in their order.

    Where there are none the passages stand as they are: each passage that has none (``passage``, AUEB section 4.1), or
    all of them where none has one (``question``, as its code does).
    """
    parts = [split(passage) for passage in passages]
    found = iter(detector([sentence.text for part in parts for sentence in part]))
    bound = [[replace(each, binds=True) for each in part if next(found).label == "obligation"] for part in parts]
    if fallback == "question":
        return [each for part in bound for each in part] or list(passages)
    return [each for part, passage in zip(bound, passages, strict=True) for each in part or [passage]]


def shown(sources: Sequence[Source], numbers: Iterable[int] = ()) -> str:
    """The sources for a prompt, fenced as data, under their numbers, from 1 unless told otherwise.

    The system prompt needs the rule of `responsa.models.chat.fence`.
    """
    told = list(numbers) or range(1, len(sources) + 1)
    return fenced([(str(number), _headed(source)) for number, source in zip(told, sources, strict=True)])


def _headed(source: Source) -> str:
    return f"{source.label[1:-1]}\n{source.text}"


def fitting(sources: Sequence[Source], budget: int) -> tuple[list[Source], list[str]]:
    """The sources that fit into so many tokens, best first, and notes on what was left out.

    Where not even the first fits, its beginning is given.
    """
    kept, dropped = fit(sources, budget, lambda source: shown([source]))
    notes = []
    if sources and not kept:
        first, dropped = sources[0], list(sources[1:])
        around = tokens.estimate(shown([replace(first, text="")]))
        cut = tokens.truncate(first.text, max(budget - around, 0))
        if cut:
            kept = [replace(first, text=cut)]
            notes.append(f"of {first.label} only the first {len(cut):,} characters were given: the model's window ends")
        else:
            dropped = list(sources)
    if dropped:
        names = ", ".join(dict.fromkeys(source.label for source in dropped))
        notes.append(f"left out, because the model's window ends: {names}")
    return kept, notes
