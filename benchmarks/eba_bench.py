"""The inquiries and scores by which ``benchmarks.eba`` compares systems; what is computed is kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path

import numpy as np

from benchmarks import data
from responsa.analysis import Analysis
from responsa.cache import Cache
from responsa.corpus import library
from responsa.corpus.library import Library
from responsa.corpus.view import Corpus
from responsa.learn import eba
from responsa.learn.eba.dataset import Source
from responsa.models import Encoder
from responsa.models.http.cached import CachedEncoder
from responsa.models.load import load_encoder
from responsa.retrieval.bm25 import BM25
from responsa.retrieval.hybrid import Retriever
from responsa.text import digest
from responsa.types import Query, Run

ALL = 10**6
PARAGRAPH = 0.2  # the weight of a paragraph of the act among what a classifier learns from; see docs/eba.md
KEPT_WORDS = 30
_FORMAT = 1  # of the kept scores; raise it when what is computed changes


@dataclass
class Bench:
    """The inquiries, the act, and scores as arrays (inquiries, articles); minus infinity where nothing was found."""

    source: Source
    work: Path
    encoder: str = ""
    trained: str = ""
    seed: int = 0
    scores: dict[str, np.ndarray] = field(default_factory=dict)
    uses: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.items = [item for item in self.source.archive if item.articles]
        place = {
            item.id: k for k, (_, test) in enumerate(eba.folds(self.source.archive, 5, self.seed)) for item in test
        }
        self.fold = np.array([place[item.id] for item in self.items])
        held = (passage.id for version in self._versions for passage in eba.edition(version).passages)
        named = (eba.passage_id(name) for item in self.items for name in (*item.articles, *eba.named(item)))
        self.articles = sorted({*held, *named})
        self.column = {name: column for column, name in enumerate(self.articles)}
        self.gold = np.zeros((len(self.items), len(self.articles)))
        for row, item in enumerate(self.items):
            self.gold[row, [self.column[eba.passage_id(name)] for name in item.articles]] = 1
        self.written = eba.without_copies(self.source.written, self.items)

    @cached_property
    def _in_force(self) -> dict[str, eba.Consolidation]:
        return {
            item.id: eba.crr_version(self.source.versions, item.submitted or date.max).version
            for item in self.source.archive
        }

    @property
    def _versions(self) -> list[eba.Consolidation]:
        return list(dict.fromkeys(self._in_force.values()))

    @cached_property
    def strata(self) -> dict[str, np.ndarray]:
        """Rows by stratum, and of what is in both of the harder ones."""
        rows = {name: [row for row, item in enumerate(self.items) if name in eba.strata(item)] for name in eba.STRATA}
        rows["rare and unnamed"] = sorted({*rows["rare"]} & {*rows["unnamed"]})
        return {name: np.array(found) for name, found in rows.items()}

    def add(self, name: str, uses: str, make: Callable[[], np.ndarray], *settings: object) -> np.ndarray:
        """The scores of a system, computed where they are not kept."""
        key = digest([_FORMAT, name, self.seed, repr(settings), self._fingerprint])[:24]
        path = self.work / "scores" / f"{key}.npy"
        if not path.exists():
            data.progress(name)
            made = make().astype(np.float32)
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path.with_suffix(".part.npy"), made)
            path.with_suffix(".part.npy").replace(path)
        self.scores[name], self.uses[name] = np.load(path), uses
        return self.scores[name]

    @cached_property
    def _fingerprint(self) -> str:
        texts = [path.read_text(encoding="utf-8") for path in self.source.files]
        return digest([*texts, *[version.path.read_text(encoding="utf-8") for version in self.source.versions]])

    # retrieval

    def corpora(self, way: str) -> Iterator[tuple[Corpus, set[str]]]:
        """Each version of the act, by ``articles`` or ``paragraphs``, with the ids of the inquiries it was for."""
        for version in self._versions:
            name = f"{version.valid_from}-{way}"
            folder = self.work / "libraries" / name
            if not folder.exists():
                library.add(folder, [self.work / "data" / "crr" / f"{name}.jsonl"], BM25().prepare)
            with Library.open(folder) as opened:
                yield opened.corpus(), {item for item, found in self._in_force.items() if found == version}

    def retrieve(
        self,
        stage: Retriever,
        way: str,
        ask: Callable[[eba.Inquiry, Corpus], Query],
        decay: float = 0.0,
        rows: Sequence[int] | None = None,
    ) -> np.ndarray:
        """A stage over the version in force, paragraphs summed up by article; all inquiries where no rows are given."""
        items = self.items if rows is None else [self.items[row] for row in rows]
        rankings = {}
        for corpus, ids in self.corpora(way):
            queries = [ask(item, corpus) for item in items if item.id in ids]
            rankings.update(stage(queries, corpus, ALL).rankings)
        return self.array(eba.by_article(Run("", rankings), decay))

    def array(self, run: Run) -> np.ndarray:
        """A run over articles as an array."""
        scores = np.full(self.gold.shape, -np.inf)
        for row, item in enumerate(self.items):
            for hit in run.rankings[item.id].hits if item.id in run.rankings else ():
                if hit.passage_id in self.column:
                    scores[row, self.column[hit.passage_id]] = hit.score
        return scores

    # vectors

    @cached_property
    def act(self) -> list[eba.Labelled]:
        """The paragraphs of one text of the act, under their headings."""
        rows = map(json.loads, (self.work / "data/training/act.jsonl").read_text("utf-8").splitlines())
        return [
            eba.Labelled(f"{row['path'][-1]}. {row['text']}", (row["parent"],), PARAGRAPH)
            for row in rows
            if row["text"]
        ]

    def open(self, name: str) -> Encoder:
        """The encoder of that name; what it has encoded is kept."""
        return CachedEncoder(load_encoder(name), Cache(self.work / "vectors.sqlite"), chunk=100)

    def nearest(self, name: str, rows: np.ndarray) -> np.ndarray:
        """Inquiries by the article of the paragraph whose vector is nearest."""
        encoder = self.open(name)
        passages = encoder.encode([each.text for each in self.act], "passage")
        asked = encoder.encode([text_of(self.items[row]) for row in rows], "query")
        scores = np.full((len(self.articles), len(rows)), -np.inf)
        owners = [self.column[each.labels[0]] for each in self.act]
        np.maximum.at(scores, owners, passages @ asked.T)
        return scores.T

    # learning

    def cross(self, predict: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
        """Each test fold by what was learned on the others: ``predict(training rows, test rows)``."""
        scores = np.full(self.gold.shape, -np.inf)
        for k in range(5):
            rows = np.flatnonzero(self.fold == k)
            scores[rows] = predict(np.flatnonzero(self.fold != k), rows)
        return scores

    def inner(self, name: str, predict: Callable[[np.ndarray, np.ndarray], np.ndarray], *settings: object) -> None:
        """For each test fold: scores of its training inquiries by what was learned on the three other folds."""
        for k in range(5):

            def make(k: int = k) -> np.ndarray:
                scores = np.full(self.gold.shape, -np.inf)
                for other in range(5):
                    if other != k:
                        rows = np.flatnonzero(self.fold == other)
                        scores[rows] = predict(np.flatnonzero((self.fold != k) & (self.fold != other)), rows)
                return scores

            self.add(f"{name} (without fold {k})", "", make, *settings)

    def mixture(self, parts: Sequence[str], learned: Sequence[str]) -> np.ndarray:
        """A `Mixture` of systems; those in ``learned`` have scores for its training too (see `inner`)."""

        def predict(training: np.ndarray, test: np.ndarray) -> np.ndarray:
            k = int(self.fold[test[0]])
            seen = [self.scores[f"{name} (without fold {k})" if name in learned else name] for name in parts]
            fit = np.stack([scaled(scores[training]) for scores in seen], axis=-1)
            weights = eba.Mixture.learn(fit, self.gold[training])
            return weights(np.stack([scaled(self.scores[name][test]) for name in parts], axis=-1))

        return self.cross(predict)


def scaled(scores: np.ndarray) -> np.ndarray:
    """To 0 for nothing found and 1 for the best of the inquiry."""
    found = np.where(np.isfinite(scores), scores, 0.0)
    return found / np.maximum(np.abs(found).max(axis=1, keepdims=True), 1e-9)


# What asks


def whole(item: eba.Inquiry, corpus: Corpus) -> Query:  # noqa: ARG001
    """Question and background."""
    return item.query


def question(item: eba.Inquiry, corpus: Corpus) -> Query:  # noqa: ARG001
    """The question alone."""
    return Query(item.id, item.question)


def background(item: eba.Inquiry, corpus: Corpus) -> Query:  # noqa: ARG001
    """The background alone."""
    return Query(item.id, item.background)


def reduced(item: eba.Inquiry, corpus: Corpus) -> Query:
    """The question, and of the background the words that are rarest in the act, each as often as it stands there."""
    words = item.background.split()
    terms = [analysed.words for analysed in Analysis(bigrams=False)(words)]
    idf = BM25().idf(corpus)
    weights = {word: float(idf(found).max()) for word, found in zip(words, terms, strict=True) if len(found)}
    nowhere = float(idf(np.array([1], np.uint64))[0])  # the weight of a word that the act does not hold
    ranked = sorted((word for word in weights if weights[word] < nowhere), key=lambda word: (-weights[word], word))
    kept = set(ranked[:KEPT_WORDS])
    return Query(item.id, item.question, " ".join(word for word in words if word in kept))


def text_of(item: eba.Inquiry) -> str:
    return f"{item.question} {item.background}".strip()
