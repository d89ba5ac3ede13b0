"""A stage that answers, over many questions at once: in order, and none lost where another fails."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

from responsa.analysis import Idf
from responsa.answer.generators.base import AnswerFailed, Failed, Generator, Task
from responsa.corpus.view import Corpus
from responsa.errors import ModelError, NotFound
from responsa.models.chat import ChatFailed
from responsa.models.chat.threads import in_order, stopper
from responsa.types import Answer, Query, Ranking

THREADS = 8


class Answers(Protocol):
    """Writes the answer to one question."""

    def __call__(self, query: Query, kept: Ranking, corpus: Corpus, idf: Idf, confidence: float) -> Answer: ...


@runtime_checkable
class AnswersMany(Protocol):
    """Writes the answers to questions that bear on one another; None where they do not."""

    def many(self, tasks: Sequence[Task], corpus: Corpus, threads: int) -> list[Answer | Failed] | None: ...


def answers(
    answerer: Answers, tasks: Sequence[Task], corpus: Corpus, idf: Idf, threads: int = THREADS
) -> Iterator[Answer | Failed]:
    """An answer to each question, in the order given, as soon as it and those before it are ready.

    Generators answer ``threads`` questions at a time; other stages one after the other. A question whose models fail,
    or whose passages were removed meanwhile, is a `Failed` in its place. What would stop every question stops here: a
    setting that cannot be used, a model that is not named or not there, a key that is missing or wrong, a library that
    is missing. Where the reader goes away, requests on their way are given up.
    """
    if not isinstance(answerer, Generator):
        for task in tasks:
            yield answerer(task.query, task.kept, corpus, idf, task.confidence)
        return
    if not tasks:
        return
    answerer.open()
    found = answerer.many(tasks, corpus, threads) if isinstance(answerer, AnswersMany) else None
    if found is not None:
        yield from found
        return
    running = in_order(lambda task: attempt(answerer, task, corpus, idf), tasks, threads, stopper(answerer.chat))
    with contextlib.closing(running):
        for made in running:
            if len(tasks) > 1 and any(call.error for call in made.trace):
                answerer.check()  # of a question alone what failed is told by its answer
            yield made


def attempt(answerer: Answers, task: Task, corpus: Corpus, idf: Idf) -> Answer | Failed:
    """The answer to one question, or why there is none."""
    try:
        return answerer(task.query, task.kept, corpus, idf, task.confidence)
    except AnswerFailed as error:
        return Failed(task.query, str(error), error.trace)
    except ChatFailed as error:
        return Failed(task.query, str(error), (error.call,))
    except (ModelError, NotFound) as error:
        return Failed(task.query, str(error))
