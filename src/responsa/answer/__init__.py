"""From passages found to an answer: choose passages, decide whether to answer, write, cite."""

from __future__ import annotations

from typing import Protocol

from responsa.analysis import Idf
from responsa.answer.abstain import TermCoverage
from responsa.answer.extractive import Extractive
from responsa.answer.generators.concatenated import Loc, Noc
from responsa.answer.generators.inquiry import FewShot, MultiStep, ZeroShot
from responsa.answer.generators.passages import Obligations, Passages
from responsa.answer.generators.vrr import Vrr
from responsa.answer.ground import EntailmentCheck
from responsa.answer.select import ThresholdDrop
from responsa.answer.verified import Verified
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


SELECTORS: dict[str, type[Selector]] = {"threshold-drop": ThresholdDrop}
ABSTAINERS: dict[str, type[Abstainer]] = {"term-coverage": TermCoverage}
ANSWERERS: dict[str, type[Answerer]] = {
    "extractive": Extractive,
    "zero-shot": ZeroShot,
    "few-shot": FewShot,
    "passages": Passages,
    "obligations": Obligations,
    "noc": Noc,
    "loc": Loc,
    "vrr": Vrr,
    "multi-step": MultiStep,
    "verified": Verified,
}
CHECKERS: dict[str, type[EntailmentCheck]] = {"entailment": EntailmentCheck}
