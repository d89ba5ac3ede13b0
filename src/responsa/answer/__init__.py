"""From passages found to an answer: choose passages, decide whether to answer, write, cite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from responsa.config import Family

if TYPE_CHECKING:
    from responsa.analysis import Idf
    from responsa.answer.ground import EntailmentCheck
    from responsa.corpus.view import Corpus
    from responsa.types import Answer, Query, Ranking, Scale


class Selector(Protocol):
    """A ranking to the head of it that an answer is written from; scores must be on ``scale``."""

    @property
    def scale(self) -> Scale: ...

    def __call__(self, ranking: Ranking) -> Ranking: ...


class Abstainer(Protocol):
    """How likely the library answers a question, 0 to 1; below ``least`` the answer is withheld."""

    @property
    def least(self) -> float: ...

    def __call__(self, query: Query, ranking: Ranking, corpus: Corpus, idf: Idf) -> float: ...


class Answerer(Protocol):
    """Writes the answer from the passages kept, best first."""

    def __call__(self, query: Query, kept: Ranking, corpus: Corpus, idf: Idf, confidence: float) -> Answer: ...


SELECTORS: Family[Selector] = Family({"threshold-drop": "responsa.answer.select:ThresholdDrop"})
ABSTAINERS: Family[Abstainer] = Family(
    {"likeness": "responsa.answer.likeness:Likeness", "term-coverage": "responsa.answer.abstain:TermCoverage"}
)
ANSWERERS: Family[Answerer] = Family({
    "extractive": "responsa.answer.extractive:Extractive",
    "zero-shot": "responsa.answer.generators.inquiry:ZeroShot",
    "few-shot": "responsa.answer.generators.inquiry:FewShot",
    "passages": "responsa.answer.generators.passages:Passages",
    "obligations": "responsa.answer.generators.passages:Obligations",
    "noc": "responsa.answer.generators.concatenated:Noc",
    "loc": "responsa.answer.generators.concatenated:Loc",
    "vrr": "responsa.answer.generators.vrr:Vrr",
    "multi-step": "responsa.answer.generators.inquiry:MultiStep",
    "verified": "responsa.answer.verified:Verified",
})  # fmt: skip
CHECKERS: Family[EntailmentCheck] = Family({"entailment": "responsa.answer.ground:EntailmentCheck"})
