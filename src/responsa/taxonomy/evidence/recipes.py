"""Recipes for finding evidence: the thesis's combinations by their names there, and our own, from ``recipes.toml``.

A name is made of a retriever and what is done to its queries: ``kw``, ``vector`` or ``hb`` (section 6.2.1); ``sw``,
``tfidf``, ``yake`` or ``bert`` for keywords; ``qs``, ``qe``, ``qeha`` or ``prfqe`` for splitting and expanding. A star
marks the settings of section 8.1 as there: none, keywords of a query joined; two, each a query of its own; one,
documents reduced to keywords too. ``_own`` and ``_common`` filter by a cross-encoder (section 6.2.4).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Literal

from responsa import config
from responsa.errors import NotFound, RecipeError, suggestion

DEFAULT = "default"
THRESHOLDS = (0.01, 0.025, 0.05, *(tenth / 10 for tenth in range(1, 10)))
"""The filter thresholds of section 6.2.4; ".5" after .025 is a misprint of .05."""

_FILE = "recipes.toml"


@dataclass(frozen=True)
class EvidenceRecipe:
    """How chunks are found and ranked.

    ``retriever`` ``kw``, ``vector`` and ``hb`` are the thesis's: each query gives its ``top`` chunks, ranks are fused
    with weight ``keyword`` for the keyword side (``constant`` of reciprocal rank fusion), and all that was found is the
    result, ``filter``-ed by a cross-encoder where asked. In ``hb`` the vector side alone has split queries (8.3).

    ``weighted`` is ours: every chunk gets a weighted sum of scores from 0 to 1: BM25 (``activity``) and similarity
    (``vector``) of the activity's number and name; the mean BM25 (``criteria``) and the mean similarity (``meaning``)
    of the queries; ``code``, the activity's number printed as that of an activity; ``tables``, BM25 of words of the
    Taxonomy's tables. Then a share of its better neighbour's (``neighbours``), less for other ``years``
    than the report's and for talk of ``plans``. A cross-encoder then sees the first ``candidates``.
    """

    retriever: Literal["kw", "vector", "hb", "weighted"]
    words: Literal["", "sw", "tfidf", "yake", "bert"] = ""
    setting: Literal["joined", "each", "both"] = "joined"
    queries: Literal["", "qs", "qe", "qeha", "prfqe"] = ""
    filter: Literal["", "own", "common"] = ""
    threshold: float = 0.0
    top: int = 5
    keyword: float = 0.5
    constant: float = 60.0
    activity: float = 1.0
    vector: float = 0.5
    criteria: float = 0.75
    meaning: float = 0.25
    code: float = 0.4
    tables: float = 0.1
    neighbours: float = 0.15
    years: float = 0.05
    plans: float = 0.1
    candidates: int = 30
    encoder: str = "embedded:encoder"
    reranker: str = "embedded:reranker"

    def __post_init__(self) -> None:
        weights = (self.activity, self.vector, self.criteria, self.meaning, self.code, self.tables)
        shares = 0 <= self.neighbours < 1 and 0 <= self.keyword <= 1
        least = min(*weights, self.years, self.plans, self.constant)
        if least < 0 or not shares or min(self.top, self.candidates) < 1:
            raise RecipeError(
                "evidence: weights of at least 0, neighbours from 0 to below 1, keyword from 0 to 1, top and"
                f" candidates of at least 1 are needed, got {self}"
            )
        if not 0 <= self.threshold <= 1:
            raise RecipeError(f"evidence: threshold is a probability, from 0 to 1, got {self.threshold}")
        if self.setting != "joined" and not self.words:
            raise RecipeError(f"evidence: setting {self.setting!r} is one of keywords; name a method with words")

    @property
    def needs_chat(self) -> bool:
        """Whether a language model makes its queries."""
        return self.queries in ("qe", "qeha", "prfqe")


@lru_cache(maxsize=1)
def shipped() -> dict[str, EvidenceRecipe]:
    """The recipes in the package by name, in the order of the file."""
    text = (resources.files(__package__) / _FILE).read_text(encoding="utf-8")
    return {name: _filled(name, table) for name, table in config.parse(text, _FILE).items()}


def load(name: str = DEFAULT) -> EvidenceRecipe:
    """The recipe of that name, or the one that the TOML file of that path describes. NotFound with a suggestion."""
    if name.endswith(".toml"):
        if not Path(name).is_file():
            raise NotFound(f"no recipe file {name!r}")
        return _filled(name, config.read(Path(name)))
    if name not in shipped():
        raise NotFound(
            f"no recipe {name!r} for evidence{suggestion(name, shipped())}; a file of your own ends in .toml"
        )
    return shipped()[name]


def _filled(name: str, table: object) -> EvidenceRecipe:
    if not isinstance(table, dict):
        raise RecipeError(f"{name}: expected a table, got {table!r}")
    return config.fill(EvidenceRecipe, table, name)
