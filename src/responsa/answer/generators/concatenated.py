"""Answers put together from obligations, one by one: as they stand, or each told by a language model (AUEB, sections
4.3 and 4.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from responsa.analysis import Idf
from responsa.answer.generators import said, sources
from responsa.answer.generators.base import AnswerFailed, Generator, Task, Traced, traced
from responsa.answer.generators.passages import asked, fitted, something
from responsa.answer.generators.said import Said
from responsa.answer.generators.sources import Fallback, Source
from responsa.answer.generators.verifier import Against, Verifier, load_verifier
from responsa.checkers import load_detector
from responsa.corpus.view import Corpus
from responsa.entailment import PROTOCOLS, THRESHOLD
from responsa.errors import RecipeError
from responsa.models.chat import Chat, Reply
from responsa.models.chat.fence import RULE
from responsa.types import Answer, ObligationDetector, Query, Ranking

Behaviour = Literal["corrected", "published"]

FROM_ONE = (
    "You help with regulatory compliance. Answer the question from the one obligation given, briefly. Say what the "
    "obligation is, whom it binds, and under which conditions and limits. Leave aside whatever the question asks that "
    "it does not concern, and say nothing that it does not say."
)


@dataclass(frozen=True)
class Noc:
    """The obligations of the passages kept, joined as they stand: no language model (NOC: AUEB, section 4.3).

    It scores nearly full marks in RePASs and answers nothing: it shows how the measure can be gamed. A passage without
    an obligation is taken as it is, as in `obligations`. ``cite`` writes behind each where it comes from.
    """

    obligations: str = "rules"
    fallback: Fallback = "passage"
    cite: bool = True

    @cached_property
    def detector(self) -> ObligationDetector:
        """What tells obligations; a model is looked up at its first use."""
        return load_detector(self.obligations)

    def __call__(self, query: Query, kept: Ranking, corpus: Corpus, idf: Idf, confidence: float) -> Answer:  # noqa: ARG002
        """The obligations in the order of the passages, best first."""
        found = sources.obligations(sources.kept_passages(kept, corpus), self.detector, self.fallback)
        told = [Said(" " if place else "", source.text, (place,)) for place, source in enumerate(found)]
        return said.compose(query, told, found, kept, confidence, labelled=self.cite)


@dataclass(frozen=True)
class Loc(Generator):
    """A language model tells each obligation of the passages kept by itself; the replies are joined (LOC: AUEB,
    section 4.4).

    A reply that does not cover its obligation is asked for again, ``tries`` times at most. Whether it does, a model of
    entailment says, ``verifier_coverage`` or else ``verifier_nli``; ``one_string`` has it read both as one text, as the
    published script does. What the model says of an obligation cites it.

    ``behaviour`` "published": only sentences that ``verifier_obligations`` calls obligations may cover, so that a
    passage given for want of one is asked for ``tries`` times, and the last reply is kept whether it covers or not.
    "corrected": every sentence may cover, such a passage is asked for once, and of the replies the best is kept.

    The settings of the model are as for `passages`, those of the obligations as for `obligations`.
    """

    temperature: float = 1.0
    obligations: str = "rules"
    fallback: Fallback = "passage"
    tries: int = 3
    behaviour: Behaviour = "corrected"
    verifier_nli: str = "embedded:nli"
    verifier_coverage: str = ""
    verifier_obligations: str = "rules"
    one_string: bool = False
    cite: bool = True

    def __post_init__(self) -> None:
        if self.tries < 1:
            raise RecipeError(f"tries of at least 1 are needed, got {self.tries}")
        super().__post_init__()

    def open(self) -> None:
        """Look up the models."""
        super().open()
        _ = self.detector, self.verifier

    @cached_property
    def detector(self) -> ObligationDetector:
        """What tells obligations; a model is looked up at its first use."""
        return load_detector(self.obligations)

    @cached_property
    def verifier(self) -> Verifier:
        """What tells whether a reply covers; its models are looked up at its first use."""
        if self.tools.verifier is not None:
            return self.tools.verifier
        protocol = PROTOCOLS["reference" if self.behaviour == "published" else "strict"]
        protocol = replace(protocol, one_string=self.one_string)
        return load_verifier(self.verifier_nli, self.verifier_coverage, self.verifier_obligations, protocol)

    def answer(self, task: Task, corpus: Corpus) -> Answer:
        """The replies in the order of the obligations. AnswerFailed where there is not one."""
        (query, kept, confidence), chat = task, Traced(self.chat)
        found = sources.obligations(sources.kept_passages(kept, corpus), self.detector, self.fallback)
        given, notes = self._whole(chat, query, something(found))
        told, more = self._told(chat, query, given)
        if not told:
            raise AnswerFailed(more[0], chat.calls)
        return traced(said.compose(query, told, given, kept, confidence, labelled=self.cite), chat, [*notes, *more])

    def _whole(self, chat: Traced, query: Query, found: Sequence[Source]) -> tuple[list[Source], list[str]]:
        """The obligations, one too long for the model's window cut."""
        given, notes = [], []
        for source in found:
            part, more = fitted(self, chat, self.asked(query, None, 0), [source])
            given += part
            notes += more
        return given, notes

    def asked(self, query: Query, source: Source | None, attempt: int) -> Chat:
        """The request for one obligation; each attempt is a sample of its own."""
        shown = sources.shown([source] if source else [])
        settings = replace(self.settings, seed=self.seed + attempt)
        user = f"Obligation:\n\n{shown}\n\n{asked(query)}"
        return self.request("answer", f"{FROM_ONE} {RULE}", user, settings=settings, repetition=attempt)

    def _told(self, chat: Traced, query: Query, given: Sequence[Source]) -> tuple[list[Said], list[str]]:
        """What was said of each obligation, those that are open asked together."""
        against = self.verifier.against(())
        best: dict[int, tuple[float, list[Said]]] = {}
        why: dict[int, str] = {}
        still = list(range(len(given)))
        for attempt in range(self.tries):
            replies = chat.replies([self.asked(query, given[place], attempt) for place in still])
            open_places = []
            for place, reply in zip(still, replies, strict=True):
                if isinstance(reply, Reply):
                    told = _citing(reply.text, place)
                    score = self._covers(against, told, given[place])
                    if told and (self.behaviour == "published" or place not in best or score > best[place][0]):
                        best[place] = (score, told)
                    if score > THRESHOLD or (self.behaviour == "corrected" and told and not given[place].binds):
                        continue
                else:
                    why[place] = str(reply)
                open_places.append(place)
            still = open_places
            if not still:
                break
        lost = [
            f"nothing was said of {source.label}: {why.get(place, 'no words')}"
            for place, source in enumerate(given)
            if place not in best
        ]
        joined = [each for place in sorted(best) for each in _behind(best[place][1])]
        return [joined[0]._replace(before=""), *joined[1:]] if joined else [], lost

    def _covers(self, against: Against, told: Sequence[Said], source: Source) -> float:
        """The probability that a reply covers its obligation; 0 for one that, as published, never counts."""
        if self.behaviour == "published" and not (source.binds and against.may_be_covered(source.text)):
            return 0.0
        return against.covers([each.text for each in told], source.text)


def _citing(reply: str, place: int) -> list[Said]:
    """The sentences of a reply about one obligation, which all of them cite."""
    return [Said(each.before, each.text, (place,)) for each in said.read(reply, ()).said]


def _behind(told: Sequence[Said]) -> list[Said]:
    """A reply behind another."""
    return [told[0]._replace(before=" "), *told[1:]]
