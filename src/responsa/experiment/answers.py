"""The answers of an experiment on disk: each question is answered once, and what was answered outlives a kill.

journals/SYSTEM-INPUTS.jsonl             what was made of each question, in the order in which it was done
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from responsa import recipe as recipes
from responsa.analysis import Idf
from responsa.answer.examples import ExampleBank, Selection, read_examples
from responsa.answer.generators import together
from responsa.answer.generators.base import Failed, Generator, Task
from responsa.answer.generators.inquiry import FewShot
from responsa.answer.generators.vrr import Vrr
from responsa.answer.verified import of_model
from responsa.corpus.library import Library
from responsa.corpus.view import Corpus
from responsa.engine import Engine, traced, words_of
from responsa.errors import InputError, MissingDependency, ModelError, NotFound
from responsa.experiment.answer_data import Asked
from responsa.experiment.answer_table import AnswerRow
from responsa.experiment.data import digest_of
from responsa.experiment.journal import Journal
from responsa.experiment.needs import Need, answer_needs, identity, missing, needs
from responsa.experiment.runs import code, unpaid, versions
from responsa.models.chat.dryrun import DryRun, Foreseen, Planned
from responsa.models.chat.load import load_chat
from responsa.recipe import Recipe
from responsa.retrieval import Hybrid
from responsa.retrieval.hybrid import DEPTH
from responsa.retrieval.listwise import Listwise
from responsa.text import digest, folded
from responsa.types import Answer, Query, Run

FORMAT = 1
_LIBRARIES = ("numpy", "bm25s", "PyStemmer", "onnxruntime", "tokenizers", "torch", "transformers", "pydantic-ai-slim")
_CODE = (
    "analysis", "answer", "checkers", "corpus", "engine", "entailment", "models", "obligations", "quantities",
    "retrieval", "text", "types",
)  # fmt: skip
_BATCH = 256  # questions whose passages are looked for together
_ENOUGH = 20  # questions in a row that fail for one reason before the others are not asked
_REPLY = 60  # tokens of an order of passages

T = TypeVar("T")
State = Literal["done", "not run here", "failed"]
Progress = Callable[[int, int, str], None]
Record = Mapping[str, Any]


@dataclass(frozen=True)
class Written:
    """What became of a row: of each question, in the order asked, what was made of it, with ``id`` and ``state``
    ("answered", "abstained" or "failed"). ``made`` says what all was made of."""

    row: AnswerRow
    state: State
    reason: str = ""
    records: tuple[Record, ...] = ()
    made: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Answering:
    """Writes the answers of rows, all over one corpus and the same questions, in a folder.

    ``fresh`` forgets what is there, ``retry`` asks questions again that failed. A language model is asked ``threads``
    questions at a time. ``known`` are the systems that were written already: rows may share one. ``foreseen`` is what
    the rows that were planned already would send.
    """

    folder: Path
    library: Library
    corpus: Corpus
    asked: Asked
    threads: int = together.THREADS
    fresh: bool = False
    retry: bool = False
    progress: Progress = field(default=lambda _done, _total, _label: None)
    known: dict[str, Written] = field(default_factory=dict)
    foreseen: Foreseen = field(default_factory=Foreseen)

    def row(self, row: AnswerRow) -> Written:
        """The row's answers: read where they are there and still what would be made, else made and kept, one by one.

        A row that lacks a model, a key, a library or a file is not run; one that goes wrong has failed. Neither stops
        the others; errors of the library and of the disk do.
        """
        if row.system not in self.known:
            self.known[row.system] = self._row(row)
        found = self.known[row.system]
        if found.state == "done" and row.step:
            found = replace(found, records=tuple(_at_step(record, row.step) for record in found.records))
        return replace(found, row=row)

    def _row(self, row: AnswerRow) -> Written:
        if not row.recipe:
            return Written(row, "not run here", "its answers are not public")
        try:
            recipe = plan(row)
            reason = lacking(recipe)
            if reason:
                return Written(row, "not run here", reason)
            made = self._inputs(recipe)
            journal = self._journal(row, made)
            self._write(recipe, row, journal)
        except MissingDependency as error:
            return Written(row, "not run here", str(error))
        except (InputError, NotFound, ModelError) as error:
            return Written(row, "failed", str(error))
        records = [journal.get(_place(query)) for query in self.asked.queries]
        return Written(row, "done", "", tuple(record for record in records if record is not None), made)

    def planned(self, row: AnswerRow) -> tuple[str, list[Planned]]:
        """Why the row would not be run, else what it would send for the questions not answered yet, beyond what rows
        planned before it would. Nothing is sent: passages that a paid model would look for are those of BM25, and texts
        that would be made of replies are made of placeholders."""
        if not row.recipe:
            return "its answers are not public", []
        recipe = plan(row)
        reason = lacking(recipe)
        if reason or not isinstance(recipe.answer, Generator):
            return reason, []
        queries = self._open(self._journal(row, self._inputs(recipe)), recipe)
        run = DryRun(load_chat(recipe.answer.model), self.foreseen)
        stand_in, more = _without_paid(recipe, queries, self.foreseen)
        stage = replace(recipe.answer, tools=replace(recipe.answer.tools, chat=run))
        self._make(replace(stand_in, answer=stage), queries, row.system, lambda _record: None)
        return "", [*more, *run.planned()]

    def _journal(self, row: AnswerRow, made: Mapping[str, object]) -> Journal:
        """What was written; under a name of its own for all that it is made of, so that no answer paid for is lost."""
        inputs = str(made["inputs"])
        return Journal(self.folder / f"{row.system}-{inputs[:8]}.jsonl", inputs, _key, self.fresh)

    def _open(self, journal: Journal, recipe: Recipe) -> list[Query]:
        """The questions that are left: those without a line, and with ``retry`` those that failed. Where questions
        bear on one another all are asked as soon as one is left."""
        left = [query for query in self.asked.queries if self._left(journal.get(_place(query)))]
        return list(self.asked.queries) if left and _bear_on_another(recipe) else left

    def _left(self, record: Record | None) -> bool:
        return record is None or (self.retry and record["state"] == "failed")

    def _write(self, recipe: Recipe, row: AnswerRow, journal: Journal) -> None:
        """Make and keep what is left. ModelError where nothing comes of the first questions, all for one reason and
        without a token paid, as with a wrong key: they are not kept, and the others not asked. Where others were
        answered before, their row is worth keeping, and failures are kept beside them."""
        queries = self._open(journal, recipe)
        left = {query.id for query in queries}
        others = [journal.get(_place(query)) for query in self.asked.queries if query.id not in left]
        answered = any(record is not None and record["state"] == "answered" for record in others)
        before, total = len(others), len(self.asked.queries)
        enough = 0 if answered else min(_ENOUGH, len(queries))
        kept = _Kept(journal, enough, lambda done: self.progress(before + done, total, row.system))
        self._make(recipe, queries, row.system, kept.add)

    def _make(self, recipe: Recipe, queries: Sequence[Query], label: str, keep: Callable[[Record], None]) -> None:
        """Give ``keep`` what is made of each question, in the thread that made it and before that takes another: so
        that a kill loses nothing that is done."""
        recipe = self._dated(recipe)
        stage = recipe.answer
        engine, size = Engine(self.library, recipe), len(queries) if _bear_on_another(recipe) else _BATCH
        idf = words_of(recipe).idf(self.corpus)
        for start in range(0, len(queries), max(1, size)):
            batch = queries[start : start + size]
            self.progress(start, len(queries), f"{label}, searching")
            run = recipe.retrieve(batch, self.corpus, depth(recipe))
            todo = [engine.task(query, run.rankings[query.id], self.corpus, idf) for query in batch]
            for each in todo:
                if isinstance(each, Answer):
                    keep(self._record(traced(each, run)))
            tasks = [each for each in todo if isinstance(each, Task)]
            if isinstance(stage, Vrr) and _bear_on_another(recipe):
                stage.open()
                for made, steps in stage.steps(tasks, self.corpus, self.threads):
                    keep(self._record(traced(made, run), steps))
                continue

            def one(task: Task, idf: Idf = idf, run: Run = run) -> None:
                keep(self._record(traced(together.attempt(stage, task, self.corpus, idf), run)))

            if isinstance(stage, Generator):
                stage.open()
            at_once(one, tasks, self.threads if isinstance(stage, Generator) else 1)

    def _record(self, made: Answer | Failed, steps: Sequence[tuple[str, str]] = ()) -> Record:
        made = of_model(made)
        row: dict[str, Any] = {"id": made.query.id, "question": digest_of([made.query])}
        if isinstance(made, Failed):
            row |= {"state": "failed", "reason": made.reason, "answer": "", "passages": [], "cited": [], "notes": []}
        else:
            cited = dict.fromkeys(each.passage_id for sentence in made.sentences for each in sentence.citations)
            kept = [] if made.abstained else [hit.passage_id for hit in made.ranking.hits]
            row |= {
                "state": "abstained" if made.abstained else "answered",
                "reason": made.text if made.abstained else "",
                "answer": " ".join(sentence.text for sentence in made.sentences),
                "passages": list(dict.fromkeys([*kept, *cited])),
                "cited": list(cited),
                "notes": list(made.notes),
            }
        return row | {"steps": [list(step) for step in steps], "trace": [asdict(call) for call in made.trace]}

    def _dated(self, recipe: Recipe) -> Recipe:
        """The recipe whose examples were all published before the day of each question, where the days are known, and
        are on the question's own topic, where that is known and an example is on it."""
        stage = recipe.answer
        if not (isinstance(stage, FewShot) and stage.examples and stage.shots and self.asked.days):
            return recipe
        bank = ExampleBank(read_examples(Path(stage.examples)), Selection(stage.shots))
        known = {folded(each.topic) for each in bank.examples} - {""}
        own = self.asked.topics
        topics = {
            query.id: own[query.id] if folded(own.get(query.id, "")) in known else stage.topic
            for query in self.asked.queries
        }
        days = {query.id: query.asked_on for query in self.asked.queries if query.asked_on}
        chosen = bank.selector(days | dict(self.asked.days), topics)
        return replace(recipe, answer=replace(stage, tools=replace(stage.tools, examples=chosen)))

    def _inputs(self, recipe: Recipe) -> dict[str, object]:
        """What the answers are made of. Models and files are named by their content, not by where they lie."""
        names = {need.name: identity(need) for need in wanted(recipe)}
        stages = repr((recipe.retrieve, recipe.select, recipe.abstain, recipe.answer))
        for name, content in names.items():
            if name:
                stages = stages.replace(repr(name), repr(content))
        made: dict[str, object] = {
            "format": FORMAT,
            "recipe": digest(stages),
            "models": sorted(names.values()),
            "library": self.corpus.digest,
            "questions": self.asked.digests["questions"] if _bear_on_another(recipe) else "",
            "days": digest(sorted((name, str(day)) for name, day in self.asked.days.items())) if _shots(recipe) else "",
            "depth": depth(recipe),
            "versions": versions(*_LIBRARIES),
            "code": code(_CODE),
        }
        return made | {"inputs": digest(made)}


def plan(row: AnswerRow) -> Recipe:
    """The recipe of a row. RecipeError where it writes no answers, and for a step of what has none."""
    made = recipes.parse(row.stages(), row.system, row.recipe)
    if row.step and not _bear_on_another(made):
        raise InputError(f"{row.name}: only the published behaviour of vrr has steps; leave out step {row.step!r}")
    return made


def wanted(recipe: Recipe) -> list[Need]:
    """All that a recipe needs, its language model first."""
    stages = (answer_needs(recipe.answer), needs(recipe.retrieve), needs(recipe.abstain))
    return list(dict.fromkeys(need for found in stages for need in found))


def lacking(recipe: Recipe) -> str:
    """All that a recipe lacks on this machine; "" where it can be run."""
    return "; also: ".join(dict.fromkeys(filter(None, map(missing, wanted(recipe)))))


def depth(recipe: Recipe) -> int:
    """How many passages are looked for: as many as any reranker reads, and enough to scale scores."""
    stages = recipe.retrieve.rerank if isinstance(recipe.retrieve, Hybrid) else ()
    return max([DEPTH, *(int(getattr(stage, "depth", 0)) for stage in stages)])


def calls_of(records: Sequence[Record]) -> list[Mapping[str, Any]]:
    """The requests made for them, in order."""
    return [call for record in records for call in record["trace"]]


def prompts_of(records: Sequence[Record]) -> str:
    """Names all that the model was asked."""
    return digest(sorted(str(call["prompt"]) for call in calls_of(records)))


class _Kept:
    """Keeps the first failures back until it is known that they are not all that comes: ``enough`` of them are, and
    with 0 none is kept back. For several threads."""

    def __init__(self, journal: Journal, enough: int, told: Callable[[int], None]) -> None:
        self._journal, self._enough, self._told = journal, enough, told
        self._held: list[Record] | None = [] if enough else None
        self._done = 0
        self._lock = threading.Lock()

    def add(self, record: Record) -> None:
        """Keep what was made of a question. ModelError where nothing comes of any."""
        with self._lock:
            self._done += 1
            if self._held is not None:
                self._held.append(record)
                if _in_vain(self._held):
                    if len(self._held) >= self._enough:
                        told = f"none of the first {len(self._held):,} questions got an answer"
                        raise ModelError(f"{told}: {record['reason']}")
                    return
                for each in self._held:
                    self._journal.add(each)
                self._held = None
            else:
                self._journal.add(record)
            self._told(self._done)


def at_once(work: Callable[[T], None], tasks: Sequence[T], threads: int) -> None:
    """Do the work on every task, ``threads`` at a time; an error ends it."""
    executor = ThreadPoolExecutor(threads, "answers")
    try:
        for each in as_completed([executor.submit(work, task) for task in tasks]):
            each.result()
    finally:
        executor.shutdown(cancel_futures=True)


def _in_vain(records: Sequence[Record]) -> bool:
    """Whether all failed for one reason and nothing was paid."""
    paid = any(call["tokens_in"] or call["tokens_out"] for call in calls_of(records))
    return not paid and {(each["state"], each["reason"]) for each in records} == {("failed", records[0]["reason"])}


def _bear_on_another(recipe: Recipe) -> bool:
    """Whether an answer depends on the other questions: the bar of the published VRR is a mean over all."""
    return isinstance(recipe.answer, Vrr) and recipe.answer.behaviour == "published"


def _shots(recipe: Recipe) -> bool:
    return isinstance(recipe.answer, FewShot)


def _key(row: Mapping[str, Any]) -> str:
    return json.dumps([row.get("id"), row.get("question")])


def _place(query: Query) -> str:
    return json.dumps([query.id, digest_of([query])])


def _at_step(record: Record, step: str) -> Record:
    """The record with the words after a step; where there was no such step, those of the last before it."""
    if record["state"] != "answered":
        return record
    text = next((text for name, text in record["steps"] if name == step), None)
    return record if text is None else {**record, "answer": text, "cited": []}


def _without_paid(recipe: Recipe, queries: Sequence[Query], foreseen: Foreseen) -> tuple[Recipe, list[Planned]]:
    """The recipe with stages that send nothing in the place of those that do, and what those would send."""
    retrieve, more = recipe.retrieve, []
    if isinstance(retrieve, Hybrid):
        kept = []
        for stage in retrieve.rerank:
            if isinstance(stage, Listwise):
                windows = 1 + max(0, -(-(stage.depth - stage.window) // stage.step))
                again = sum(foreseen.again(repr((retrieve, stage, query.id))) for query in queries)
                calls, tokens = windows * (len(queries) - again), int(stage.words * 4 / 3) * stage.window
                price = getattr(getattr(load_chat(stage.model), "inner", None), "cost", None)
                cost = price(calls * tokens, calls * _REPLY) if price else None
                more.append(Planned("rerank", calls, windows * again, 0, calls * tokens, calls * _REPLY, cost))
            else:
                kept.append(stage)
        retrieve = replace(retrieve, rerank=tuple(kept))
    return replace(recipe, retrieve=unpaid(retrieve)), more
