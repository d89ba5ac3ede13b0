"""Several retrievers fused into one, and what they find reranked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from responsa.corpus.view import Corpus
from responsa.retrieval.fuse import Fuser, Linear
from responsa.retrieval.rerank import Combiner, Prepared, Reranker
from responsa.types import Query, Run

DEPTH = 100  # passages that each retriever gives at least, so that fusion and scaling see the same ones for any k


class Retriever(Protocol):
    """Many questions to one ranking each. ``prepare`` builds what is missing of its index, ``ready`` tells
    whether nothing is."""

    def __call__(self, queries: Sequence[Query], corpus: Corpus, k: int) -> Run: ...

    def prepare(self, corpus: Corpus) -> object: ...

    def ready(self, corpus: Corpus) -> bool: ...


def stages_of(retriever: Retriever) -> tuple[Retriever, ...]:
    """The retrievers side by side in a `Hybrid`; any other retriever alone."""
    return retriever.stages if isinstance(retriever, Hybrid) else (retriever,)


@dataclass(frozen=True)
class Hybrid:
    """Retrievers side by side, fused, then reranked by one stage after the other; itself a retriever.

    One retriever alone is not fused: its scores stay as they are. A reranker that is a `Combiner` gets the runs of
    every stage before it, and the retrievers give as many passages as it wants.
    """

    stages: tuple[Retriever, ...]
    fuse: Fuser = field(default=Linear())
    rerank: tuple[Reranker, ...] = ()

    def __call__(self, queries: Sequence[Query], corpus: Corpus, k: int) -> Run:
        """The best ``k`` passages for each query; the trace is that of all stages."""
        runs = self.trail(queries, corpus, k)
        run = runs[-1]
        cut = {query_id: replace(ranking, hits=ranking.hits[:k]) for query_id, ranking in run.rankings.items()}
        asked = dict.fromkeys(query_id for each in runs for query_id in each.trace)
        trace = {query_id: tuple(call for each in runs for call in each.trace.get(query_id, ())) for query_id in asked}
        return Run(run.name, cut, trace)

    def trail(self, queries: Sequence[Query], corpus: Corpus, k: int) -> list[Run]:
        """What each stage found, in their order: the retrievers, their fusion where they are several, the rerankers."""
        wanted = max(k, DEPTH, *(stage.candidates for stage in self.rerank if isinstance(stage, Combiner)))
        runs = [stage(queries, corpus, wanted) for stage in self.stages]
        if len(runs) > 1:
            runs.append(self.fuse(runs))
        for rerank in self.rerank:
            if isinstance(rerank, Combiner):
                runs.append(rerank.combine(runs, queries, corpus))
            else:
                runs.append(rerank(runs[-1], queries, corpus))
        return runs

    def prepare(self, corpus: Corpus) -> None:
        """Build what is missing of every stage's index."""
        for stage in indexed(self):
            stage.prepare(corpus)

    def ready(self, corpus: Corpus) -> bool:
        """Whether every stage's index is built."""
        return all(stage.ready(corpus) for stage in indexed(self))


def indexed(retriever: Retriever) -> tuple[Prepared, ...]:
    """The stages that have an index: the retrievers, then those rerankers that look something up."""
    rerank = retriever.rerank if isinstance(retriever, Hybrid) else ()
    return (*stages_of(retriever), *(stage for stage in rerank if isinstance(stage, Prepared)))


def trail(retriever: Retriever, queries: Sequence[Query], corpus: Corpus, k: int) -> list[Run]:
    """`Hybrid.trail`; the run of any other retriever alone."""
    if isinstance(retriever, Hybrid):
        return retriever.trail(queries, corpus, k)
    return [retriever(queries, corpus, k)]
