"""Hard negatives: passages that a retriever ranks high and that do not answer the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from random import Random

from responsa.errors import InputError
from responsa.learn.examples import Example
from responsa.text import digest, folded
from responsa.types import Ranking, Run


@dataclass(frozen=True)
class Mining:
    """Which ranks (from 1, both inclusive) negatives are drawn from at random, and how many for each question.

    ``ceiling`` leaves out what may be gold that nobody marked: passages that score above this share of the best gold
    passage's score (Moreira et al. 2024, "TopK-PercPos", there .95); 0 leaves none out. It works on positive
    scores only, and where the run found a gold passage.
    """

    low: int = 1
    high: int = 50
    count: int = 4
    ceiling: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.low <= self.high or self.count < 1 or self.ceiling < 0:
            raise InputError(
                "mining needs ranks from 1 up, the lower first, at least 1 negative and a ceiling of at least 0, got "
                f"{self.low}-{self.high}, {self.count} and {self.ceiling}"
            )


@dataclass(frozen=True)
class Report:
    """What mining left out, in passages: ``gold``, of ``equal_text`` with gold, ``too_similar`` by score, ``blank``.

    In questions: ``missing`` from the run, ``short`` of the wanted number, ``unbounded``: no gold found, so that
    the ceiling could not be applied.
    """

    questions: int = 0
    mined: int = 0
    gold: int = 0
    equal_text: int = 0
    too_similar: int = 0
    blank: int = 0
    missing: int = 0
    short: int = 0
    unbounded: int = 0

    def __add__(self, other: Report) -> Report:
        return Report(**{each.name: getattr(self, each.name) + getattr(other, each.name) for each in fields(self)})


@dataclass(frozen=True)
class Mined:
    """Passage ids by query id, in the order of their ranks, and what was left out."""

    negatives: Mapping[str, tuple[str, ...]]
    report: Report


def text_key(text: str) -> str:
    """Equal for texts that differ in case, blanks or invisible characters alone."""
    return digest(folded(text))


def mine(examples: Sequence[Example], run: Run, texts: Mapping[str, str], mining: Mining = Mining()) -> Mined:
    """Negatives for each example, drawn from its ranking. What is drawn for a question depends on the seed and its id.

    ``texts`` holds the text of every passage in the run's ranks and of all gold.
    """
    negatives: dict[str, tuple[str, ...]] = {}
    total = Report()
    for example in examples:
        ranking = run.rankings.get(example.query.id)
        if ranking is None:
            total += Report(questions=1, missing=1)
            negatives[example.query.id] = ()
        else:
            negatives[example.query.id], report = _mine(example, ranking, texts, mining)
            total += report
    return Mined(negatives, total)


def _mine(
    example: Example, ranking: Ranking, texts: Mapping[str, str], mining: Mining
) -> tuple[tuple[str, ...], Report]:
    known = {*example.passages, *example.also}
    keys = {text_key(texts[passage]) for passage in known if passage in texts}
    positive = max((hit.score for hit in ranking.hits if hit.passage_id in known), default=0.0)
    bound = mining.ceiling * positive if mining.ceiling and positive > 0 else float("inf")
    left: dict[str, int] = {}
    pool: list[str] = []
    for hit in ranking.hits[mining.low - 1 : mining.high]:
        reason = _reason(hit.passage_id, hit.score, known, keys, texts, bound)
        if reason:
            left[reason] = left.get(reason, 0) + 1
        else:
            pool.append(hit.passage_id)
    generator = Random(f"{mining.seed} {example.query.id}")  # noqa: S311
    drawn = set(generator.sample(range(len(pool)), min(mining.count, len(pool))))
    chosen = tuple(passage for place, passage in enumerate(pool) if place in drawn)
    unbounded = mining.ceiling > 0 and bound == float("inf")
    counts = Report(questions=1, mined=len(chosen), short=len(chosen) < mining.count, unbounded=unbounded)
    return chosen, counts + Report(**left)


def _reason(
    passage: str, score: float, known: set[str], keys: set[str], texts: Mapping[str, str], bound: float
) -> str | None:
    """Why a passage is no negative: the name of the report's field; None where it is one."""
    if passage in known:
        return "gold"
    if not texts[passage].strip():
        return "blank"
    if text_key(texts[passage]) in keys:
        return "equal_text"
    return "too_similar" if score > bound else None
