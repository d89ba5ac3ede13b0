"""A library and a recipe opened together: the same path for one question and for thousands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from responsa.analysis import Analysis, Idf
from responsa.answer.extractive import cite
from responsa.answer.generators import together
from responsa.answer.generators.base import AnswerFailed, Failed, Task
from responsa.corpus.library import Library
from responsa.corpus.view import Corpus
from responsa.errors import InputError
from responsa.recipe import Recipe
from responsa.retrieval.bm25 import BM25
from responsa.retrieval.hybrid import DEPTH, indexed, stages_of
from responsa.retrieval.scale import minmax
from responsa.retrieval.windowed import ByModel
from responsa.types import Answer, Call, Query, Ranking, Run

NEAREST = 3  # passages shown where nothing answers the question
_BATCH = 256


@dataclass(frozen=True)
class Engine:
    """Answers from a library by a recipe.

    Each call opens the library as of ``as_of``, or reads ``corpus`` where the caller has opened it already, so that
    what is found and what is then printed are of one state, whatever another process adds in between.
    """

    library: Library
    recipe: Recipe

    def search(
        self, queries: Sequence[Query], k: int = 10, as_of: date | None = None, *, corpus: Corpus | None = None
    ) -> list[Ranking]:
        """The best ``k`` passages for each query, in the order asked."""
        _refuse_repeated(queries)
        corpus = self.library.corpus(as_of) if corpus is None else corpus
        run = self.recipe.retrieve(queries, corpus, k)
        return [run.rankings[query.id] for query in queries]

    def run(
        self,
        queries: Sequence[Query],
        k: int = DEPTH,
        as_of: date | None = None,
        progress: Callable[[int, int], None] | None = None,
        *,
        corpus: Corpus | None = None,
    ) -> Run:
        """Rankings of many queries; the trace has the requests to a language model that stages made. ``progress`` is
        told how many are done, and of how many."""
        _refuse_repeated(queries)
        corpus = self.library.corpus(as_of) if corpus is None else corpus
        rankings: dict[str, Ranking] = {}
        trace: dict[str, tuple[Call, ...]] = {}
        for start in range(0, len(queries), _BATCH):
            found = self.recipe.retrieve(queries[start : start + _BATCH], corpus, k)
            rankings |= found.rankings
            trace |= found.trace
            if progress:
                progress(len(rankings), len(queries))
        return Run(self.recipe.name, rankings, trace)

    def ask(
        self, queries: Sequence[Query], as_of: date | None = None, *, corpus: Corpus | None = None
    ) -> Iterator[Answer]:
        """An answer to each query, in the order asked, as soon as it is ready. AnswerFailed where a language model
        that writes answers fails."""
        for made in self.answers(queries, as_of, corpus=corpus):
            if isinstance(made, Failed):
                raise AnswerFailed(made.reason, made.trace)
            yield made

    def answers(
        self,
        queries: Sequence[Query],
        as_of: date | None = None,
        *,
        corpus: Corpus | None = None,
        threads: int = together.THREADS,
    ) -> Iterator[Answer | Failed]:
        """As `ask`, with a `Failed` in the place of a question that gets no answer; a language model is asked
        ``threads`` questions at a time."""
        _refuse_repeated(queries)
        corpus = self.library.corpus(as_of) if corpus is None else corpus
        idf = words_of(self.recipe).idf(corpus)
        for start in range(0, len(queries), _BATCH):
            batch = queries[start : start + _BATCH]
            run = self.recipe.retrieve(batch, corpus, DEPTH)
            tasks = [self.task(query, run.rankings[query.id], corpus, idf) for query in batch]
            todo = [task for task in tasks if isinstance(task, Task)]
            made = together.answers(self.recipe.answer, todo, corpus, idf, threads)
            for task in tasks:
                yield traced(next(made) if isinstance(task, Task) else task, run)

    def task(self, query: Query, ranking: Ranking, corpus: Corpus, idf: Idf) -> Task | Answer:
        """What is left to do for a question, or the answer that the library holds none."""
        confidence = self.recipe.abstain(query, ranking, corpus, idf)
        if not ranking.hits or confidence < self.recipe.abstain.least:
            return _abstain(query, ranking, corpus, confidence)
        return Task(query, self.recipe.select(self._scaled(ranking)), confidence)

    def _scaled(self, ranking: Ranking) -> Ranking:
        """The scores as the recipe's filter wants them; scaled to 0-1 over the passages found where they are not."""
        return ranking if ranking.scale == self.recipe.select.scale else minmax(ranking, DEPTH)


def prepare(recipe: Recipe) -> Callable[[Corpus], None]:
    """What adding documents builds: the indexes of the recipe that need no model. The others are made by `index`,
    or when they are first needed."""

    def build(corpus: Corpus) -> None:
        for stage in indexed(recipe.retrieve):
            if not isinstance(stage, ByModel):
                stage.prepare(corpus)

    return build


def index(recipe: Recipe, corpus: Corpus, progress: Callable[[int, int, str], None] | None = None) -> None:
    """Build what is missing of the recipe's indexes. ``progress`` is told of the documents encoded."""
    for stage in indexed(recipe.retrieve):
        if not isinstance(stage, ByModel):
            stage.prepare(corpus)
    for by_model in _by_models(recipe):
        by_model.prepare(corpus, progress)


def encoded(recipe: Recipe, corpus: Corpus) -> bool:
    """Whether every index of the recipe that a model makes is built."""
    return all(stage.ready(corpus) for stage in _by_models(recipe))


def of_others(recipe: Recipe, corpus: Corpus) -> int:
    """How many versions in view are to be encoded anew, because what there is comes from another model or other
    settings: of the stages that a model makes an index for, the most."""
    return max((stage.stored().state(corpus)[1] for stage in _by_models(recipe)), default=0)


def _by_models(recipe: Recipe) -> list[ByModel]:
    """The stages whose index a model makes, whatever they are for."""
    return [stage for stage in (*indexed(recipe.retrieve), recipe.abstain) if isinstance(stage, ByModel)]


def _refuse_repeated(queries: Sequence[Query]) -> None:
    """Rankings are kept by question id: of two questions with one id, one would get the other's passages."""
    for query_id, times in Counter(query.id for query in queries).items():
        if times > 1:
            raise InputError(f"question id {query_id!r} is given {times} times; give each question its own")


def words_of(recipe: Recipe) -> BM25:
    """The word index that weighs words by idf: the recipe's own where it has the terms that the other stages
    weigh, else the default one."""
    words = [stage for stage in stages_of(recipe.retrieve) if isinstance(stage, BM25)]
    own = [stage for stage in words if replace(stage.analysis, bigrams=True) == Analysis()]
    return own[0] if own else BM25()


def traced(made: Answer | Failed, run: Run) -> Answer | Failed:
    """With what was asked to find its passages, before what was asked to answer."""
    trace = (*run.trace.get(made.query.id, ()), *made.trace)
    return made._replace(trace=trace) if isinstance(made, Failed) else replace(made, trace=trace)


def _abstain(query: Query, ranking: Ranking, corpus: Corpus, confidence: float) -> Answer:
    nearest = Ranking(ranking.query_id, ranking.hits[:NEAREST], ranking.scale)
    if not corpus.versions:
        return Answer(query, "The library holds no document in force.", (), nearest, confidence, abstained=True)
    if not nearest.hits:
        return Answer(query, "The library holds nothing on this question.", (), nearest, confidence, abstained=True)
    places = []
    for passage in corpus.read(hit.passage_id for hit in nearest.hits).values():
        version = corpus.version(passage.document_id)
        places.append(cite(passage, version.title if version else ""))
    text = f"The library does not seem to answer this question. Nearest passages: {', '.join(places)}."
    return Answer(query, text, (), nearest, confidence, abstained=True)
