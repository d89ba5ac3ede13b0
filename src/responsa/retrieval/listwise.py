"""A language model puts the passages found in order: listwise, in windows that slide from the end to the top."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from responsa.corpus.view import Corpus
from responsa.errors import ModelError, RecipeError
from responsa.models.chat import Chat, ChatFailed, ChatModel, Message, Settings
from responsa.models.chat.fence import RULE, fenced
from responsa.models.chat.load import load_chat
from responsa.models.chat.window import size
from responsa.retrieval.hybrid import Hybrid, Retriever
from responsa.text import tidy
from responsa.types import Call, Hit, Query, Ranking, Run

_SETTINGS = Settings(temperature=0.0)
_MARKED = re.compile(r"\[\s*(\d{1,6})\s*\]")
_BARE = re.compile(r"[\d\s\[\]()>,;]+")
_NUMBER = re.compile(r"(?<!\d)\d{1,6}(?!\d)")
_MARK = 8  # tokens of a reply for each passage: "[12] > " and some air

_TASK = """\
You put passages in order by how much they help to answer a question about regulation. A passage that states the rule
that decides the question comes first; then conditions and exceptions to it, definitions of its terms, and what merely
touches the subject. A passage is judged by what it says, not by its length or by where it stands in the list.

Reply with the ids of all passages in square brackets, the most helpful first, parted by >, and nothing else, such as
[2] > [3] > [1]. Each id stands there once."""


@dataclass(frozen=True)
class Tools:
    """What a caller in Python gives the stage; None is what its settings name."""

    chat: ChatModel | None = None


@dataclass(frozen=True, slots=True)
class Reordered:
    """What a reranking did. Of ``windows`` shown to the model, ``unread`` had no order that could be read and stayed as
    they were, ``failed`` of them for want of a reply; in ``shortened`` of them passages were cut shorter than they
    should be, for the model's window. ``calls`` are the requests made."""

    run: Run
    windows: int
    unread: int
    failed: int
    shortened: int = 0

    @property
    def calls(self) -> tuple[Call, ...]:
        """The requests made, question after question."""
        return self.run.calls


@dataclass(frozen=True)
class Listwise:
    """A language model reads the first ``depth`` passages, ``window`` at a time, and puts them in order.

    The windows slide from the last passage to the first by ``step``, so that a good passage is carried to the top:
    RankGPT (Sun et al., 2023), as in Bank of Italy, section 4.2. ``model`` is the name of a chat model, else that of
    RESPONSA_CHAT_MODEL. Passages that its reply leaves out follow in their old order; ids that were not shown, and
    repeated ones, are not read; a window without a readable reply stays as it was. Of each passage the model reads the
    first ``words``, fewer where its own window ends. Scores are 1 / rank; passages below ``depth`` follow in their old
    order.
    """

    model: str = ""
    depth: int = 20
    window: int = 20
    step: int = 10
    words: int = 300
    tools: Tools = field(default=Tools(), repr=False)

    def __post_init__(self) -> None:
        if self.depth < 1 or self.window < 2 or not 1 <= self.step <= self.window or self.words < 1:
            raise RecipeError(
                "listwise: depth and words of at least 1, window of at least 2 and step from 1 to window are needed, "
                f"got {self.depth}, {self.words}, {self.window} and {self.step}"
            )

    def __call__(self, run: Run, queries: Sequence[Query], corpus: Corpus) -> Run:
        """Raw scores; the run's trace has the requests. ModelError where no window has a reply; windows without a
        readable order, and those cut short, are told on stderr."""
        done = self.reorder(run, queries, corpus, self.tools.chat or load_chat(self.model))
        if done.unread:
            failure = next((f": {call.error}" for call in done.calls if call.error), "")
            if done.failed == done.windows:
                raise ModelError(f"listwise: no reply{failure}; name another model, or leave the stage out")
            _say(
                f"{done.unread} of {done.windows} windows have no order that can be read and stay as they were{failure}"
            )
        if done.shortened:
            told = f"in {done.shortened} of {done.windows} windows passages were cut below {self.words} words"
            _say(f"{told}: the model's own window ends; lower window, or name a model that reads more")
        return done.run

    def reorder(self, run: Run, queries: Sequence[Query], corpus: Corpus, model: ChatModel) -> Reordered:
        """The run in the model's order, and what came of it. The windows of all queries at a turn go together."""
        heads = {query.id: [hit.passage_id for hit in run.rankings[query.id].hits[: self.depth]] for query in queries}
        places = {query.id: spans(len(heads[query.id]), self.window, self.step) for query in queries}
        trace: dict[str, tuple[Call, ...]] = {}
        windows = unread = failed = shortened = 0
        for turn in range(max(map(len, places.values()), default=0)):
            asked = [(query, places[query.id][turn]) for query in queries if turn < len(places[query.id])]
            chats = [self._fitting(query, heads[query.id][start:end], corpus, model) for query, (start, end) in asked]
            shortened += sum(cut for _, cut in chats)
            replies = model.replies([chat for chat, _ in chats])
            for (query, (start, end)), reply in zip(asked, replies, strict=True):
                shown = heads[query.id][start:end]
                order = None if isinstance(reply, ChatFailed) else read_order(reply.text, len(shown))
                call = reply.call
                if order is None:
                    unread, failed = unread + 1, failed + isinstance(reply, ChatFailed)
                    why = str(reply) if isinstance(reply, ChatFailed) else "the reply names no passage"
                    call = replace(call, error=call.error or why)
                else:
                    heads[query.id][start:end] = [shown[place] for place in order]
                windows += 1
                trace[query.id] = (*trace.get(query.id, ()), call)
        rankings = {query.id: _ranked(run.rankings[query.id], heads[query.id]) for query in queries}
        name = f"{run.name} > {replace(self, model=model.name)!r}"
        return Reordered(Run(name, rankings, trace), windows, unread, failed, shortened)

    def _fitting(self, query: Query, ids: Sequence[str], corpus: Corpus, model: ChatModel) -> tuple[Chat, bool]:
        """The request for a window, and whether its passages had to be cut shorter to fit into the model's."""
        texts = [tidy(passage.text) for passage in corpus.read(ids).values()]
        longest, words = max(map(_count, texts)), self.words
        chat = _chat(query, texts, words)
        while words > 1 and size(chat.messages) + _MARK * len(ids) > model.window:
            words = min(words, longest) // 2 or 1
            chat = _chat(query, texts, words)
        return chat, words < min(self.words, longest)


def _chat(query: Query, texts: Sequence[str], words: int) -> Chat:
    shown = [(str(number), _cut(text, words)) for number, text in enumerate(texts, 1)]
    asked = f"{query.text}\n{query.background}".strip()
    parts = (
        "Question:",
        fenced([("question", asked)]),
        "Passages:",
        fenced(shown),
        f"The order of all {len(shown)}:",
    )
    text = "\n\n".join(parts)
    return Chat((Message("system", f"{_TASK}\n\n{RULE}"), Message("user", text)), _SETTINGS, "rerank")


def _count(text: str) -> int:
    return text.count(" ") + 1


def _cut(text: str, words: int) -> str:
    return " ".join(text.split(" ")[:words]) + (" ..." if _count(text) > words else "")


def _say(told: str) -> None:
    print(f"responsa: listwise: {told}", file=sys.stderr)  # noqa: T201


def asking(retriever: Retriever) -> tuple[Listwise, ...]:
    """The stages that ask a language model."""
    rerank = retriever.rerank if isinstance(retriever, Hybrid) else ()
    return tuple(stage for stage in rerank if isinstance(stage, Listwise))


def refuse_asking(retriever: Retriever, what: str) -> None:
    """RecipeError where a stage asks a language model: every question of a training set would be sent and paid for."""
    if asking(retriever):
        raise RecipeError(
            f"{what} asks no language model: each question would be sent and paid for; take a recipe without the stage "
            "'listwise'"
        )


def asked_by(retriever: Retriever, chat: Callable[[str], ChatModel]) -> Retriever:
    """The retriever, whose stages that ask a language model ask what ``chat`` gives for its name: a dry run."""
    if not isinstance(retriever, Hybrid):
        return retriever
    stages = (
        replace(each, tools=Tools(chat(each.model))) if isinstance(each, Listwise) else each
        for each in retriever.rerank
    )
    return replace(retriever, rerank=tuple(stages))


def _ranked(old: Ranking, head: Sequence[str]) -> Ranking:
    rest = [hit.passage_id for hit in old.hits[len(head) :]]
    return Ranking.of(old.query_id, [Hit(name, 1 / rank) for rank, name in enumerate([*head, *rest], 1)])


def spans(count: int, window: int, step: int) -> list[tuple[int, int]]:
    """(start, end) of the windows over ``count`` passages, in the order read: the last ones first, the first ones last.

    None for fewer than two passages.
    """
    if count < 2:
        return []
    found = [(max(0, count - window), count)]
    while found[-1][0] > 0:
        start = max(0, found[-1][0] - step)
        found.append((start, min(count, start + window)))
    return found


def read_order(reply: str, count: int) -> list[int] | None:
    """The places from 0 in the order that a reply gives them: ids not shown and repeated ones are left out, places not
    named follow in their order. None where it names none.

    Ids stand in square brackets; a reply that is nothing but numbers with > , ; or line ends between them is read too.
    Other text with numbers is not: they may be of articles.
    """
    text = reply.strip().strip("`.").strip()
    given = _MARKED.findall(text)
    if not given and _BARE.fullmatch(text):
        given = _NUMBER.findall(text)
    named = [place for place in dict.fromkeys(int(number) - 1 for number in given) if 0 <= place < count]
    if not named:
        return None
    chosen = set(named)
    return [*named, *(place for place in range(count) if place not in chosen)]
