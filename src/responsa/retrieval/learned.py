"""Candidates rescored by a linear model over their features, whose weights were learned from questions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path

import numpy as np

from responsa import config
from responsa.corpus.artefacts import is_whole
from responsa.corpus.view import Corpus
from responsa.errors import NotFound, RecipeError, suggestion
from responsa.retrieval import links
from responsa.retrieval.bm25 import BM25
from responsa.retrieval.documents import Documents
from responsa.retrieval.features import Extractor, Floats, names
from responsa.types import Query, Ranking, Run


@dataclass(frozen=True)
class Weights:
    """What ``responsa train features`` writes.

    ``features`` and ``products`` (of those features, each with itself and every later one) are the columns;
    ``mean`` and ``spread`` bring each to mean 0 and deviation 1 over the candidates learned from.
    """

    runs: int
    depth: int
    features: tuple[str, ...]
    products: tuple[str, ...]
    mean: tuple[float, ...]
    spread: tuple[float, ...]
    weights: tuple[float, ...]
    questions: int = 0
    penalty: float = 0.0

    def __post_init__(self) -> None:
        columns = len(self.features) + len(self.products) * (len(self.products) + 1) // 2
        if {len(self.mean), len(self.spread), len(self.weights)} != {columns}:
            raise RecipeError(f"{columns} columns need as many means, spreads and weights")
        if not set(self.products) <= set(self.features) or not all(spread > 0 for spread in self.spread):
            raise RecipeError("products must be of the features, and every spread above 0")
        if not set(self.features) <= set(names(self.runs)):
            raise RecipeError("the features are not those of this version; learn the weights again")

    def rank(self, query_id: str, ids: Sequence[str], values: Floats) -> Ranking:
        """The candidates by the model; a score is the logarithm of the candidate's share of the softmax over all.

        That is what was learned, and compares between questions better than the bare sum does (``docs/evidence.md``).
        """
        if not ids:
            return Ranking(query_id, ())
        known = names(self.runs)
        used = values[:, [known.index(name) for name in self.features]]
        columns = expand(used, [self.features.index(name) for name in self.products])
        scores = ((columns - self.mean) / self.spread) @ np.array(self.weights)
        shares = scores - scores.max() - np.log(np.exp(scores - scores.max()).sum())
        return Ranking.of(query_id, zip(ids, map(float, shares), strict=True))

    def text(self) -> str:
        """As a file holds them."""
        return json.dumps(asdict(self), indent=1) + "\n"


def expand(values: Floats, of: Sequence[int]) -> Floats:
    """The columns, then the product of each of the columns ``of`` with itself and every later one."""
    chosen = values[:, list(of)]
    products = [chosen[:, [place]] * chosen[:, place:] for place in range(len(of))]
    return np.concatenate([values, *products], axis=1)


@dataclass(frozen=True)
class Features:
    """Rescores the candidates by learned weights over scores, place, words and links (`responsa.retrieval.features`).

    The candidates are the first passages of each stage before this one: retrievers, fusion, rerankers. ``weights``
    names a file that ``responsa train features`` wrote for just those stages, or one that ships, without ``.json``.
    Only the candidates are kept. Listwise learning to rank, after Cao et al. 2007 (ListNet), with products of features.
    """

    weights: str

    @property
    def candidates(self) -> int:
        """As many of each stage as the weights were learned with."""
        return read_weights(self.weights).depth

    def __call__(self, run: Run, queries: Sequence[Query], corpus: Corpus) -> Run:
        return self.combine([run], queries, corpus)

    def combine(self, runs: Sequence[Run], queries: Sequence[Query], corpus: Corpus) -> Run:
        """Raw scores. RecipeError where the weights were learned for another number of stages."""
        learned = read_weights(self.weights)
        if len(runs) != learned.runs:
            raise RecipeError(
                f"features: {self.weights} was learned with {learned.runs} stages before it (retrievers, fusion,"
                f" rerankers), this recipe has {len(runs)}; use the recipe it was learned for, or learn it again"
            )
        found = Extractor(corpus, learned.depth)(runs, queries)
        rankings = {query_id: learned.rank(query_id, ids, values) for query_id, ids, values in found}
        return Run(f"{runs[-1].name} > {self!r}", rankings)

    def prepare(self, corpus: Corpus) -> None:
        """Build the indexes that features are looked up in."""
        BM25().prepare(corpus)
        Documents().prepare(corpus)
        links.prepare(corpus)

    def ready(self, corpus: Corpus) -> bool:
        """Whether they are built."""
        return (
            BM25().ready(corpus)
            and Documents().ready(corpus)
            and is_whole(corpus.artefacts.folder / links.name(corpus))
        )


@lru_cache(maxsize=8)
def read_weights(name: str) -> Weights:
    """The weights in a file that ends in ``.json``, or of that name in the package; read once in a process."""
    folder = Path(str(resources.files("responsa"))) / "weights"
    path = Path(name) if name.endswith(".json") else folder / f"{name}.json"
    try:
        content = path.read_bytes()
    except OSError as error:
        ships = [each.stem for each in folder.glob("*.json") if each.stem != "manifest"]
        told = error.strerror if name.endswith(".json") else f"no such weights in the package{suggestion(name, ships)}"
        raise NotFound(f"features: {name}: cannot be read: {told}") from error
    try:
        table = json.loads(content)
    except ValueError as error:
        raise RecipeError(f"features: {name}: not valid JSON: {error}") from error
    if not isinstance(table, dict):
        raise RecipeError(f"features: {name}: holds no weights; write them with: responsa train features")
    return config.fill(Weights, table, f"features: {name}")
