"""Answers rated by a language model against the official answer, from 1 to 4: Bank of Italy, section 3.

The judge compares step by step, gives its reason, and then the rating. What it says is never guessed at: a reply
without a reason and a rating from 1 to 4 leaves the answer unscored, with what was wrong. A judge is a witness, not a
measure: see `judge_bias` for what it must be asked before it is believed, and `ratings` for how far it agrees with
people.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Literal

from responsa.errors import InputError
from responsa.evaluate.ratings import Key, consensus
from responsa.models.chat import Chat, ChatFailed, ChatModel, Message, Progress, Settings
from responsa.models.chat.fence import RULE, fenced
from responsa.models.chat.structured import ask
from responsa.text import digest
from responsa.types import Call

Order = Literal["reference-first", "answer-first"]
PURPOSE = "judge"
TRIES = 3  # requests for a reply that can be read


@dataclass(frozen=True, slots=True)
class Case:
    """An answer to be rated, and what it is rated against. ``approach`` says who wrote it."""

    id: str
    question: str
    reference: str
    answer: str
    background: str = ""
    approach: str = ""

    @property
    def key(self) -> Key:
        """What tells it from the others."""
        return (self.approach, self.id)


@dataclass(frozen=True, slots=True)
class Example:
    """A case with the rating that is right, from 1 to 4, and why."""

    case: Case
    rating: int
    why: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """How the candidate answer differs from the official one, and then the rating: 1, 2, 3 or 4."""

    reason: str
    rating: Literal[1, 2, 3, 4]

    def __post_init__(self) -> None:
        """ValueError without a reason."""
        if not self.reason.strip():
            raise ValueError("the rating came without a reason")


@dataclass(frozen=True, slots=True)
class Rating:
    """What a judge said of a case, the ``repetition``-th time. ``value`` is None where it cannot be read or there is no
    reply; ``error`` says why then, and ``reason`` is empty. ``calls`` are the requests made for it."""

    key: Key
    judge: str
    repetition: int
    value: int | None
    reason: str = ""
    error: str = ""
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Combined:
    """What all judges said of a case. ``mean`` is that of the judges' own means, ``majority`` the rating given most
    often (of several the lowest), ``spread`` the highest less the lowest; None without any rating."""

    key: Key
    by_judge: dict[str, float]
    mean: float | None
    majority: int | None
    spread: int | None
    unscored: int


@dataclass(frozen=True)
class Judge:
    """A language model that rates. ``examples`` stand in its instructions, in their order; ``order`` says what it
    reads first."""

    model: ChatModel
    examples: tuple[Example, ...] = ()
    settings: Settings = field(default=Settings(temperature=0.0))
    order: Order = "reference-first"
    tries: int = TRIES

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name

    @property
    def stamp(self) -> str:
        """What it was asked with: a digest of instructions, examples, order and settings."""
        return digest([instructions(self.examples, self.order), self.order, str(self.settings)])[:12]

    def chat(self, case: Case, repetition: int = 0) -> Chat:
        """The request for a case."""
        messages = (
            Message("system", instructions(self.examples, self.order)),
            Message("user", _case(case, self.order)),
        )
        return Chat(messages, self.settings, PURPOSE, repetition)

    def chats(self, cases: Sequence[Case], repeat: int = 1) -> list[Chat]:
        """The requests for cases, ``repeat`` times over."""
        if repeat < 1:
            raise InputError(f"repeat is {repeat}; give 1 or more")
        return [self.chat(case, repetition) for repetition in range(repeat) for case in cases]

    def rate(self, cases: Sequence[Case], repeat: int = 1, progress: Progress | None = None) -> list[Rating]:
        """A rating of each case, then of each once more, ``repeat`` times in all."""
        replies = ask(self.model, self.chats(cases, repeat), Verdict, self.tries, progress)
        asked = [(case, repetition) for repetition in range(repeat) for case in cases]
        ratings = []
        for (case, repetition), reply in zip(asked, replies, strict=True):
            if isinstance(reply, ChatFailed):
                ratings.append(
                    Rating(case.key, self.name, repetition, None, "", reply.call.error or str(reply), (reply.call,))
                )
                continue
            found = reply.value
            ratings.append(
                Rating(case.key, self.name, repetition, found.rating, found.reason.strip(), calls=reply.calls)
            )
        return ratings


def combine(ratings: Iterable[Rating]) -> list[Combined]:
    """The ratings of each case put together, in the order in which cases first come."""
    found: dict[Key, list[Rating]] = defaultdict(list)
    for rating in ratings:
        found[rating.key].append(rating)
    return [_combined(key, given) for key, given in found.items()]


def _combined(key: Key, given: Sequence[Rating]) -> Combined:
    by_judge: dict[str, list[int]] = defaultdict(list)
    for rating in given:
        if rating.value is not None:
            by_judge[rating.judge].append(rating.value)
    values = [value for each in by_judge.values() for value in each]
    means = {judge: fmean(each) for judge, each in by_judge.items()}
    if not values:
        return Combined(key, {}, None, None, None, len(given))
    spread = max(values) - min(values)
    return Combined(key, means, fmean(means.values()), consensus(values), spread, len(given) - len(values))


# The words. Rubric and task are those of the paper's third prompt, in words of our own.

_TASK = """\
You grade answers to questions about financial regulation. For each case you get the question, sometimes what the asker
adds about the situation, an official answer and a candidate answer. The official answer is right by definition: grade
the candidate against it alone, never against what you know or believe yourself.

Ask two things.
Correct: does what the candidate says in the main agree with what the official answer says in the main?
Complete: does the candidate hold everything of substance in the official answer: conditions, exceptions, amounts,
dates, and the provisions on which it rests?

Give one of four ratings.
1: the candidate is wrong and has nothing of use from the official answer. To answer another question, or to decline to
   answer, is a 1.
2: the main statement is wrong, or is missing, but part of what the official answer says is there.
3: the main statement agrees with the official answer, but something of substance is missing.
4: the main statement agrees and nothing of substance is missing. It may be worded otherwise and may say more, as long
   as nothing in it contradicts the official answer.

Length, style, confidence and politeness count for nothing, nor do standing disclaimers and notes on who prepared an
official answer: a candidate need not repeat them."""

_STEPS = """\
Go through the official answer statement by statement. Say of each whether the candidate has it, lacks it or says
otherwise, then whether the main statement agrees. Write that as the reason, in at most 150 words; give the rating
last."""


def instructions(examples: Sequence[Example], order: Order = "reference-first") -> str:
    """What a judge is told before the case: the task, the ratings, and the examples where there are any."""
    parts = [_TASK, _STEPS, RULE]
    for number, example in enumerate(examples, 1):
        told = json.dumps({"reason": example.why, "rating": example.rating}, ensure_ascii=False)
        parts.append(f"Example {number}\n\n{_case(example.case, order)}\n\n{told}")
    return "\n\n".join(parts)


def _case(case: Case, order: Order) -> str:
    texts = [("question", case.question)]
    if case.background.strip():
        texts.append(("background", case.background))
    answers = [("official_answer", case.reference), ("candidate_answer", case.answer)]
    return fenced([*texts, *(answers if order == "reference-first" else reversed(answers))])
