"""Learning the weights of `responsa.retrieval.learned`: a linear softmax over the candidates of each question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from responsa.corpus.view import Corpus
from responsa.errors import InputError, suggestion
from responsa.learn import examples
from responsa.learn.examples import Example
from responsa.learn.material import measure
from responsa.retrieval.features import OF_PASSAGE, Candidates, Extractor, Floats, names
from responsa.retrieval.hybrid import Hybrid, Retriever, trail
from responsa.retrieval.learned import Features, Weights, expand
from responsa.retrieval.listwise import refuse_asking
from responsa.types import Ranking, Run

Progress = Callable[[int, int], None]

PENALTY = 3.0
DEPTH = 200  # candidates of each stage; docs/evidence.md has other depths
# Features whose products are learned too; of a run, those of every run.
PRODUCTS_OF_RUN = ("scaled", "per idf")
PRODUCTS = ("words", "words above", "bigrams", "length", "near", "beside", "document", "in document")
_STEPS = 30
_PART = 64  # questions whose columns are computed at a time
_BATCH = 256  # questions retrieved at a time


class Listed(NamedTuple):
    """The candidates for one question: their features, and the share of the gold that each is (they add up to 1)."""

    values: npt.NDArray[np.float32]
    target: Floats


@dataclass(frozen=True)
class Learned:
    """Weights, how many questions had no gold passage among their candidates, and how the test questions went
    ``before`` (by the last stage) and ``after``; empty where there are none. ``of_folds`` are the weights that ranked
    each fold's test questions in `cross`."""

    weights: Weights
    unusable: int
    before: dict[str, float]
    after: dict[str, float]
    of_folds: tuple[Weights, ...] = ()


@dataclass(frozen=True)
class Sources:
    """Files of questions with gold passages, and the fold to learn from and test on; all are learned from without."""

    questions: tuple[Path, ...]
    folds: Path | None = None
    fold: int = 0

    def read(self, corpus: Corpus) -> tuple[Example, ...]:
        """All questions, in order."""
        return examples.load_all(self.questions, lambda document, number: [p.id for p in corpus.find(document, number)])

    def split(self, corpus: Corpus) -> examples.Split:
        """The questions to learn from and to test on."""
        if self.folds is None:
            return examples.Split(self.read(corpus), (), ())
        folds = examples.read_folds(self.folds)
        if not 0 <= self.fold < len(folds):
            raise InputError(f"{self.folds} has folds 0 to {len(folds) - 1}, not {self.fold}")
        return examples.split(self.read(corpus), folds[self.fold])


def stages_before(retrieve: Retriever) -> Retriever:
    """A recipe's retriever without its `Features` stage and what follows that."""
    if not isinstance(retrieve, Hybrid):
        return retrieve
    kinds = [isinstance(stage, Features) for stage in retrieve.rerank]
    return replace(retrieve, rerank=retrieve.rerank[: kinds.index(True)] if any(kinds) else retrieve.rerank)


class _Seen(NamedTuple):
    """A question, how many runs it was searched in, what the last of them found, and the candidates."""

    example: Example
    runs: int
    before: Ranking
    candidates: Candidates

    @property
    def listed(self) -> Listed | None:
        """None without a gold passage among the candidates."""
        right = np.array([each in self.example.passages for each in self.candidates.ids], dtype=np.float64)
        return Listed(self.candidates.values.astype(np.float32), right / right.sum()) if right.any() else None


def _see(retrieve: Retriever, corpus: Corpus, of: Sequence[Example], depth: int) -> Iterator[_Seen]:
    extract = Extractor(corpus, depth)
    for start in range(0, len(of), _BATCH):
        batch = of[start : start + _BATCH]
        queries = [example.query for example in batch]
        runs = trail(retrieve, queries, corpus, depth)
        for example, candidates in zip(batch, extract(runs, queries), strict=True):
            yield _Seen(example, len(runs), runs[-1].rankings[example.query.id], candidates)


def learn(
    sources: Sources,
    retrieve: Retriever,
    corpus: Corpus,
    penalty: float = PENALTY,
    without: Sequence[str] = (),
    progress: Progress | None = None,
    depth: int = DEPTH,
) -> Learned:
    """Learn the weights of a stage that comes after those of ``retrieve``, and test them where there is a fold.

    A model among those stages must not have learned from the questions: it would score them better than others, and
    be trusted too much. `cross` is for models that did. RecipeError for stages that ask a language model.
    """
    refuse_asking(retrieve, "learning of weights")
    part = sources.split(corpus)
    tell = _Told(len(part.train) + len(part.test), progress)
    listed, runs = [], 0
    for seen in tell(_see(retrieve, corpus, part.train, depth)):
        runs = seen.runs
        if found := seen.listed:
            listed.append(found)
    weights = fit(listed, runs, depth, penalty, without)
    tested = [
        (seen.example, seen.before, weights.rank(*seen.candidates))
        for seen in tell(_see(retrieve, corpus, part.test, depth))
    ]
    return Learned(weights, len(part.train) - len(listed), *_figures(tested))


def cross(
    sources: Sources,
    retrievers: Sequence[Retriever],
    corpus: Corpus,
    penalty: float = PENALTY,
    without: Sequence[str] = (),
    progress: Progress | None = None,
    depth: int = DEPTH,
) -> Learned:
    """Learn on every question as the retriever of the fold that tests it ranks it: one for each fold, in order, whose
    models learned from that fold's training part alone (stacking: Wolpert 1992).

    The figures are of all test questions, each ranked with weights learned on its fold's training part.
    """
    for retrieve in retrievers:
        refuse_asking(retrieve, "learning of weights")
    folds = examples.read_folds(sources.folds) if sources.folds else ()
    if not folds or len(retrievers) != len(folds):
        raise InputError(f"a recipe for each of {len(folds)} folds is needed, got {len(retrievers)}")
    known = {example.query.id: example for example in sources.read(corpus)}
    tell = _Told(sum(len(fold.test) for fold in folds), progress)
    seen: dict[str, _Seen] = {}
    for fold, retrieve in zip(folds, retrievers, strict=True):
        missing = fold.test - known.keys()
        if missing:
            raise InputError(f"{len(missing)} questions of the folds are in no file given, the first {min(missing)!r}")
        for each in tell(_see(retrieve, corpus, [known[name] for name in known if name in fold.test], depth)):
            seen[each.example.query.id] = each
    listed = {name: found for name, each in seen.items() if (found := each.listed)}
    runs = {each.runs for each in seen.values()}
    if len(runs) > 1:
        raise InputError(f"the recipes of the folds must have the same stages, these have {sorted(runs)} runs")
    tested, of_folds = [], []
    for fold in folds:
        weights = fit([listed[name] for name in listed if name in fold.train], max(runs), depth, penalty, without)
        of_folds.append(weights)
        for each in (seen[name] for name in seen if name in fold.test):
            tested.append((each.example, each.before, weights.rank(*each.candidates)))
    learned = fit(list(listed.values()), max(runs), depth, penalty, without)
    return Learned(learned, len(seen) - len(listed), *_figures(tested), tuple(of_folds))


@dataclass
class _Told:
    """Tells ``progress`` how many of ``total`` questions have passed."""

    total: int
    progress: Progress | None
    done: int = 0

    def __call__(self, through: Iterator[_Seen]) -> Iterator[_Seen]:
        for each in through:
            self.done += 1
            if self.progress:
                self.progress(self.done, self.total)
            yield each


def _figures(tested: Sequence[tuple[Example, Ranking, Ranking]]) -> tuple[dict[str, float], dict[str, float]]:
    """MAP@10 and recall@10 before and after."""
    if not tested:
        return {}, {}
    of = [example for example, _, _ in tested]
    before = Run("before", {ranking.query_id: ranking for _, ranking, _ in tested})
    return measure(before, of), measure(Run("after", {ranking.query_id: ranking for _, _, ranking in tested}), of)


def fit(
    listed: Sequence[Listed], runs: int, depth: int, penalty: float = PENALTY, without: Sequence[str] = ()
) -> Weights:
    """Minimise the cross-entropy between the softmax of the scores and the gold, plus ``penalty`` / 2 times the
    squared weights, by Newton's method with halved steps. The loss is convex: there is one minimum.

    ``without`` names features of `OF_PASSAGE` to leave out. InputError for one that there is not, and where no
    question has gold among its candidates.
    """
    if not listed:
        raise InputError("no question has a gold passage among its candidates; there is nothing to learn from")
    if penalty <= 0:
        raise InputError(f"a penalty above 0 is needed, got {penalty}")
    unknown = set(without) - set(OF_PASSAGE)
    if unknown:
        raise InputError(f"unknown feature {min(unknown)!r}{suggestion(min(unknown), OF_PASSAGE)}")
    features = tuple(name for name in names(runs) if name not in without)
    columns = [names(runs).index(name) for name in features]
    listed = [Listed(each.values[:, columns], each.target) for each in listed]
    products = tuple(
        name for name in features if name in PRODUCTS or name.partition(" ")[2].partition(" ")[2] in PRODUCTS_OF_RUN
    )
    problem = _Problem(listed, [features.index(name) for name in products])
    mean, spread = problem.moments()
    problem = problem.standardised(mean, spread)
    weights = np.zeros(len(mean))
    for _ in range(_STEPS):
        loss, gradient, hessian = problem.derivatives(weights)
        loss += penalty / 2 * float(weights @ weights)
        step = np.linalg.solve(hessian + penalty * np.eye(len(weights)), gradient + penalty * weights)
        size = 1.0
        while True:
            moved = weights - size * step
            new = problem.loss(moved) + penalty / 2 * float(moved @ moved)
            if new <= loss or size < 1e-6:
                break
            size /= 2
        weights = moved
        if loss - new < 1e-6 * len(listed):
            break
    mean9, spread9, weights9 = (tuple(float(f"{value:.9g}") for value in row) for row in (mean, spread, weights))
    return Weights(runs, depth, features, products, mean9, spread9, weights9, len(listed), penalty)


@dataclass(frozen=True)
class _Problem:
    """The questions, ``_PART`` at a time: columns are made when needed, for all together would not fit in memory."""

    listed: Sequence[Listed]
    products: Sequence[int]
    mean: Floats | float = 0.0
    spread: Floats | float = 1.0

    def standardised(self, mean: Floats, spread: Floats) -> _Problem:
        return _Problem(self.listed, self.products, mean, spread)

    def _parts(self) -> Iterator[tuple[Floats, Floats, npt.NDArray[np.int64]]]:
        """Columns, target, and where each question starts."""
        for start in range(0, len(self.listed), _PART):
            part = self.listed[start : start + _PART]
            values = np.concatenate([each.values for each in part]).astype(np.float64)
            columns = (expand(values, self.products) - self.mean) / self.spread
            starts = np.cumsum([0, *(len(each.target) for each in part[:-1])])
            yield columns, np.concatenate([each.target for each in part]), starts

    def moments(self) -> tuple[Floats, Floats]:
        """Mean and deviation of each column; 1 for one that is the same everywhere."""
        count, total, squares = 0, np.zeros(0), np.zeros(0)
        for columns, _, _ in self._parts():
            count += len(columns)
            total = total + columns.sum(axis=0) if len(total) else columns.sum(axis=0)
            squares = squares + (columns**2).sum(axis=0) if len(squares) else (columns**2).sum(axis=0)
        mean = total / count
        deviation = np.sqrt(np.maximum(squares / count - mean**2, 0))
        return mean, np.where(deviation > 1e-9, deviation, 1.0)

    def loss(self, weights: Floats) -> float:
        """The summed cross-entropy."""
        return sum(_softmax(columns, target, starts, weights)[0] for columns, target, starts in self._parts())

    def derivatives(self, weights: Floats) -> tuple[float, Floats, Floats]:
        """The loss, its gradient and its second derivatives."""
        loss, gradient, hessian = 0.0, np.zeros(len(weights)), np.zeros((len(weights), len(weights)))
        for columns, target, starts in self._parts():
            part, likely = _softmax(columns, target, starts, weights)
            loss += part
            gradient += columns.T @ (likely - target)
            weighed = columns * likely[:, None]
            expected = np.add.reduceat(weighed, starts)
            hessian += weighed.T @ columns - expected.T @ expected
        return loss, gradient, hessian


def _softmax(columns: Floats, target: Floats, starts: npt.NDArray[np.int64], weights: Floats) -> tuple[float, Floats]:
    """The cross-entropy of the questions, and the probability of each candidate within its own."""
    sizes = np.diff(np.append(starts, len(columns)))
    scores = columns @ weights
    scores = scores - np.repeat(np.maximum.reduceat(scores, starts), sizes)
    powers = np.exp(scores)
    sums = np.add.reduceat(powers, starts)
    return float(np.log(sums).sum() - target @ scores), powers / np.repeat(sums, sizes)
