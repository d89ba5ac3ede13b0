"""Whether the library answers a question at all."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from responsa.analysis import Analysis, Rarity, Terms
from responsa.corpus.view import Corpus
from responsa.errors import RecipeError
from responsa.types import Query, Ranking


@dataclass(frozen=True)
class TermCoverage:
    """How likely the library answers, from how much of the question's wording the passages found hold.

    Two shares enter a logistic function: of the weight (idf) of the question's distinct words, what the first
    passage holds; of the weight of its pairs of neighbouring words, what the first ``depth`` passages hold
    together. Below ``least`` the answer is withheld. The weights were fitted on 1,000 ObliQA dev questions
    against 40 on another regulator's rules; ``docs/abstention.md`` has the risk-coverage curve on others.
    """

    least: float = 0.3
    depth: int = 10
    words: float = 16.6
    pairs: float = 8.4
    bias: float = -8.6
    analysis: Analysis = field(default=Analysis())

    def __post_init__(self) -> None:
        if not 0 <= self.least <= 1 or self.depth < 1:
            raise RecipeError(
                f"term-coverage: least from 0 to 1 and depth of at least 1 are needed, got "
                f"{self.least} and {self.depth}"
            )

    def __call__(self, query: Query, ranking: Ranking, corpus: Corpus, rarity: Rarity) -> float:
        """The confidence, 0 to 1; 0 where nothing was found."""
        asked = self.analysis([query.text])[0]
        texts = [passage.text for passage in corpus.read(hit.passage_id for hit in ranking.hits[: self.depth]).values()]
        if not texts or not len(asked.words):
            return 0.0
        found = self.analysis(texts)
        words = _share(asked.words, found[0].words, rarity)
        pairs = _share(asked.pairs, np.concatenate([analysed.pairs for analysed in found]), rarity)
        return 1 / (1 + math.exp(-(self.bias + self.words * words + self.pairs * pairs)))


def _share(asked: Terms, held: Terms, rarity: Rarity) -> float:
    """The share of the weight of the distinct terms asked that is held; 0 where nothing was asked."""
    distinct = np.unique(asked)
    weight = rarity(distinct)
    return float(weight[np.isin(distinct, held)].sum() / weight.sum()) if len(distinct) else 0.0
