"""Whether the library answers a question at all."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from responsa.analysis import Analysis, Idf, Terms
from responsa.corpus.view import Corpus
from responsa.errors import RecipeError
from responsa.types import Query, Ranking

# Words of asking rather than of the subject: that no rule holds them says nothing.
_PHRASING = """
additional allow allowed also answer applies apply ask can cannot case cases clarification clarify could
currently describe describes detail detailed details elaborate ensure example examples expect expectation
expected explain far fast further give given guidance happen happens i kind kinds know let long many may mean
means might much must need needed needs often our ours outline particular please provide provided provides
providing question quick regarding shall soon specific specifically specify sure tell type types understand us
want wants way ways we whether within without would
"""


@dataclass(frozen=True)
class TermCoverage:
    """How likely the library answers, from how much of the question's wording the passages found hold.

    Two shares enter a logistic function: of the weight (idf) of the question's distinct words, words of asking
    left out, what the first passage holds; of the weight of its bigrams, what the first ``depth`` passages hold
    together. Below ``least`` the answer is withheld. The weights were fitted on 1,000 ObliQA dev questions
    against 40 on another regulator's rules (benchmarks/tuning.py); ``docs/abstention.md`` has the risk-coverage
    curve on others.
    """

    least: float = 0.3
    depth: int = 10
    words: float = 15.6
    bigrams: float = 6.5
    bias: float = -8.0
    analysis: Analysis = field(default=Analysis())

    def __post_init__(self) -> None:
        if not 0 <= self.least <= 1 or self.depth < 1:
            raise RecipeError(
                f"term-coverage: least from 0 to 1 and depth of at least 1 are needed, got "
                f"{self.least} and {self.depth}"
            )

    def __call__(self, query: Query, ranking: Ranking, corpus: Corpus, idf: Idf) -> float:
        """The confidence, 0 to 1; 0 where nothing was found."""
        asked = self.analysis([query.text])[0]
        subject = _subject(asked.words, self.analysis)
        texts = [passage.text for passage in corpus.read(hit.passage_id for hit in ranking.hits[: self.depth]).values()]
        if not texts or not len(subject):
            return 0.0
        found = self.analysis(texts)
        words = _share(subject, found[0].words, idf)
        bigrams = _share(asked.bigrams, np.concatenate([analysed.bigrams for analysed in found]), idf)
        return logistic(self.bias + self.words * words + self.bigrams * bigrams)


def words_held(question: str, text: str, analysis: Analysis, idf: Idf) -> float:
    """The share of the weight of the question's distinct words, words of asking left out, that a text holds; 0 for a
    question of nothing else."""
    asked, held = analysis([question, text])
    return _share(_subject(asked.words, analysis), held.words, idf)


def logistic(value: float) -> float:
    """The logistic function, written so that no value overflows it."""
    return (1 + math.tanh(value / 2)) / 2


def _subject(asked: Terms, analysis: Analysis) -> Terms:
    """The words of a question but for those of asking."""
    return asked[~np.isin(asked, analysis([_PHRASING])[0].words)]


def _share(asked: Terms, held: Terms, idf: Idf) -> float:
    """The share of the weight of the distinct terms asked that is held; 0 where nothing was asked."""
    distinct = np.unique(asked)
    weight = idf(distinct)
    return float(weight[np.isin(distinct, held)].sum() / weight.sum()) if len(distinct) else 0.0
