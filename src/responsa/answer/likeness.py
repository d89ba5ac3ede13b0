"""Whether the library answers a question, told by words and by meaning."""

from __future__ import annotations

from dataclasses import dataclass, field

from responsa.analysis import Analysis, Idf
from responsa.answer.abstain import logistic, words_held
from responsa.corpus.view import Corpus
from responsa.errors import RecipeError
from responsa.retrieval.vectors import Dense
from responsa.retrieval.windowed import ByModel, Windowed
from responsa.types import Query, Ranking

# In a library of so few windows none can stand far out: n of them at most by the root of n - 1. What then counts is
# what stands out of a hundred or two.
_FEW, _USUAL = 30, 3.0


@dataclass(frozen=True)
class Likeness(ByModel):
    """How likely the library answers, from the words that the first passage shares with the question and from how
    near the library comes to its meaning.

    Three values enter a logistic function: of the weight (idf) of the question's distinct words, words of asking left
    out, what the first passage holds; the similarity of the ``encoder``'s vectors of the question, with its
    background, and of the nearest window of a passage; and by how many standard deviations of all similarities that
    one exceeds their mean, which a large library makes high by chance. Below ``least`` the answer is withheld. Weights
    and ``least`` are for the embedded encoder: fitted, on three libraries, with one made the same way that had not
    learned from the questions (benchmarks/likeness.py). Another encoder wants others. ``docs/abstention.md`` tells how
    well it works. The vectors are those of dense retrieval by that encoder with its usual windows.
    """

    encoder: str = "embedded:encoder"
    least: float = 0.6
    words: float = 8.3
    nearest: float = 14.9
    apart: float = -1.7
    bias: float = -1.9
    analysis: Analysis = field(default=Analysis())

    def __post_init__(self) -> None:
        if not 0 <= self.least <= 1:
            raise RecipeError(f"likeness: least from 0 to 1 is needed, got {self.least}")

    def __call__(self, query: Query, ranking: Ranking, corpus: Corpus, idf: Idf) -> float:
        """The confidence, 0 to 1; 0 where nothing was found."""
        if not ranking.hits:
            return 0.0
        words, nearest, apart = self.values(query, ranking, corpus, idf)
        return logistic(self.bias + self.words * words + self.nearest * nearest + self.apart * apart)

    def values(self, query: Query, ranking: Ranking, corpus: Corpus, idf: Idf) -> tuple[float, float, float]:
        """The share of words in the first passage found; the similarity of the nearest window, and how many standard
        deviations of all it is above their mean, at least 3 where there are few; zeros where there is none."""
        first = corpus.read([ranking.hits[0].passage_id]).values()
        words = words_held(query.text, next(iter(first)).text, self.analysis, idf)
        similar = Dense(self.encoder).similarities([query], corpus)[0]
        if not len(similar):
            return words, 0.0, 0.0
        best, spread = float(similar.max()), float(similar.std())
        apart = (best - float(similar.mean())) / spread if spread > 0 else 0.0
        return words, best, max(apart, _USUAL) if len(similar) < _FEW else apart

    def stored(self) -> Windowed:
        """The artefacts of dense retrieval by the same encoder."""
        return Dense(self.encoder).stored()
