"""What the tests of generators share: a judge that knows its answers, and questions over a few passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from responsa.analysis import Idf
from responsa.answer.generators.base import Task, Tools
from responsa.answer.generators.verifier import Verifier
from responsa.corpus.view import Corpus
from responsa.entailment import PROTOCOLS
from responsa.errors import ModelError
from responsa.models.chat import Chat
from responsa.models.chat.scripted import ScriptedChat
from responsa.retrieval.bm25 import BM25
from responsa.types import Answer, Detection, Query, Ranking

KEEP = "A firm must keep records."
TELL = "A bank must tell the regulator."
FACT = "Records are useful."


class Judge:
    """Probabilities of entailment and contradiction as told, by pair; (0, 0) for any other. It notes what it is asked."""

    name = "told"

    def __init__(self, told: Mapping[tuple[str, str], tuple[float, float]]) -> None:
        self.told, self.asked = told, []

    def __call__(self, pairs):
        assert len(pairs) == len(set(pairs)) > 0
        self.asked += pairs
        rows = [self.told.get(pair, (0.0, 0.0)) for pair in pairs]
        return np.array([(one, 1 - one - two, two) for one, two in rows], np.float32)


def must(sentences: Sequence[str]) -> list[Detection]:
    """An obligation is what holds the word must."""
    return [Detection("obligation" if " must " in f" {text} " else "other", 0.5) for text in sentences]


def verifier(told, covers=None, protocol="strict"):
    """A verifier whose two models know their answers."""
    return Verifier(Judge(told), Judge(told if covers is None else covers), must, PROTOCOLS[protocol])


def model(*replies, **settings) -> ScriptedChat:
    """A model that gives these replies in turn, the last for ever; an exception among them is raised."""
    given = iter(replies)
    last: list[object] = []

    def answer(_chat: Chat) -> str:
        last[:] = [next(given, *last)]
        if isinstance(last[0], Exception):
            raise last[0]
        return str(last[0])

    return ScriptedChat(answer, **settings)


def ranked(corpus: Corpus, *ids: str) -> Ranking:
    """The passages as found, best first."""
    return Ranking.of("q", [(name, 1.0 - place / 100) for place, name in enumerate(ids or tuple(corpus))])


def tasks(corpus: Corpus, *names: str) -> list[Task]:
    """Questions over all passages."""
    return [Task(Query(name, f"What of {name}?"), Ranking(name, ranked(corpus).hits), 0.9) for name in names]


def idf(corpus: Corpus) -> Idf:
    """How words weigh."""
    return BM25().idf(corpus)


def ask(stage, corpus: Corpus, *ids: str, query: Query | None = None) -> Answer:
    """The answer of a stage from the passages."""
    made = stage(query or Query("q", "What must a firm do?"), ranked(corpus, *ids), corpus, idf(corpus), 0.9)
    for sentence in made.sentences:
        assert made.text[sentence.answer_start : sentence.answer_end] == sentence.text
        assert sentence.grounding is None
        for each in sentence.citations:
            assert corpus[each.passage_id].text[each.start : each.end].strip()
    return made


def tools(chat: ScriptedChat, **more) -> Tools:
    """What a test gives a generator."""
    return Tools(chat, **more)


DOWN = ModelError("the server is down")
