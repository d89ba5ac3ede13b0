"""What both tasks learn from: examples, the texts of passages, mined negatives, and what may be no negative."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random

from responsa.errors import InputError
from responsa.evaluate.ranking import Measure, score_run
from responsa.learn.examples import Example
from responsa.learn.mine import text_key
from responsa.text import digest
from responsa.types import Judgement, Query, Ranking, Run

_MEASURES = (Measure("MAP", 10), Measure("recall", 10))


@dataclass(frozen=True)
class Material:
    """``texts`` holds every passage that the other fields name. ``negatives`` by query id (see `mine`).

    ``validation`` questions choose the best state; they are ranked over their ``candidates`` (a first-stage run).
    """

    examples: tuple[Example, ...]
    texts: Mapping[str, str] = field(repr=False)
    negatives: Mapping[str, tuple[str, ...]] = field(repr=False)
    validation: tuple[Example, ...] = ()
    candidates: Run = field(default_factory=lambda: Run("", {}), repr=False)

    def __post_init__(self) -> None:
        if not self.examples or not self.validation:
            raise InputError(
                "training needs questions to learn from and questions for validation, got "
                f"{len(self.examples)} and {len(self.validation)}"
            )
        named = [passage for example in (*self.examples, *self.validation) for passage in example.passages]
        named += [passage for row in self.negatives.values() for passage in row]
        missing = [passage for passage in dict.fromkeys(named) if not self.texts.get(passage, "").strip()]
        if missing:
            raise InputError(
                f"{len(missing)} passages have no text in the library, the first {missing[0]!r}; add their documents"
            )

    @cached_property
    def fingerprint(self) -> str:
        """Names the content."""
        return digest(
            [
                [[each.query.id, each.query.text, each.passages] for each in (*self.examples, *self.validation)],
                sorted(self.texts.items()),
                sorted(self.negatives.items()),
            ]
        )

    @cached_property
    def pairs(self) -> tuple[tuple[Example, str], ...]:
        """Each example with each of its gold passages."""
        return tuple((example, passage) for example in self.examples for passage in example.passages)

    @cached_property
    def _keys(self) -> dict[str, str]:
        return {passage: text_key(text) for passage, text in self.texts.items()}

    @cached_property
    def _gold_texts(self) -> dict[str, frozenset[str]]:
        gold: dict[str, set[str]] = {}
        for example in (*self.examples, *self.validation):
            known = (passage for passage in (*example.passages, *example.also) if passage in self._keys)
            gold.setdefault(text_key(example.query.full_text), set()).update(self._keys[passage] for passage in known)
        return {question: frozenset(keys) for question, keys in gold.items()}

    def is_gold(self, query: Query, passage: str) -> bool:
        """Whether the passage, or another of equal text, is gold for the question, or for another of equal text."""
        return self._keys[passage] in self._gold_texts[text_key(query.full_text)]

    def negatives_of(self, example: Example, count: int, generator: Random) -> list[str]:
        """Up to ``count`` of the mined negatives, drawn at random."""
        mined = [
            passage for passage in self.negatives.get(example.query.id, ()) if not self.is_gold(example.query, passage)
        ]
        return generator.sample(mined, min(count, len(mined)))


def spread(pairs: Sequence[tuple[Example, str]], size: int, generator: Random) -> list[list[int]]:
    """Rows of ``pairs`` in shuffled batches of at most ``size``, as many in every epoch and nearly equal in size.

    Where it can be found, no two rows of a batch share a question or a gold passage.
    """
    order = list(range(len(pairs)))
    generator.shuffle(order)
    count = -(-len(order) // size)
    batches: list[list[int]] = [[] for _ in range(count)]
    for position, row in enumerate(order):
        turn = [batches[at % count] for at in range(position, position + count)]
        free = [batch for batch in turn if len(batch) < size]
        chosen = next((batch for batch in free if not _clash(pairs, row, batch)), None)
        (chosen if chosen is not None else _room(pairs, row, turn, free[0])).append(row)
    return [batch for batch in batches if batch]


def near(material: Material, size: int, cluster: int, generator: Random) -> list[list[int]]:
    """Rows of the pairs in batches of at most ``size``, as many in every epoch, made of groups of ``cluster`` pairs.

    In a group, the gold passages of the others are mined negatives of the first: hard negatives that cost nothing, for
    they are in the batch anyway (after Hofstätter et al. 2021, who group by topic).
    """
    order = list(range(len(material.pairs)))
    generator.shuffle(order)
    holders: dict[str, list[int]] = {}
    for row in order:
        holders.setdefault(material.pairs[row][1], []).append(row)
    used: set[int] = set()
    groups = []
    for row in order:
        if row in used:
            continue
        group = [row]
        used.add(row)
        for passage in material.negatives_of(material.pairs[row][0], len(order), generator):
            other = next((each for each in holders.get(passage, ()) if each not in used), None)
            if other is not None and len(group) < cluster:
                group.append(other)
                used.add(other)
        groups.append(group)
    generator.shuffle(groups)
    rows = [row for group in groups for row in group]
    count = -(-len(rows) // size)
    return [rows[len(rows) * part // count : len(rows) * (part + 1) // count] for part in range(count)]


def _clash(pairs: Sequence[tuple[Example, str]], row: int, batch: Sequence[int]) -> bool:
    gold = pairs[row][0].passages
    return any(passage in gold for other in batch for passage in pairs[other][0].passages)


def _room(pairs: Sequence[tuple[Example, str]], row: int, batches: Sequence[list[int]], free: list[int]) -> list[int]:
    """A batch where ``row`` fits once one of its rows has moved to ``free``; ``free`` itself where there is none."""
    for batch in batches:
        if batch is not free and not _clash(pairs, row, batch):
            for place, other in enumerate(batch):
                if not _clash(pairs, other, free):
                    free.append(batch.pop(place))
                    return batch
    return free


def measure(run: Run, validation: Sequence[Example]) -> dict[str, float]:
    """MAP@10 and recall@10 of a run over validation questions."""
    judgements = [
        Judgement(example.query.id, passage, alternatives=example.also if len(example.passages) == 1 else ())
        for example in validation
        for passage in example.passages
    ]
    scored = score_run(run, judgements, _MEASURES)
    return {str(each): sum(values) / len(values) for each in _MEASURES if (values := scored.values(each))}


def candidates_of(material: Material, example: Example, depth: int) -> list[str]:
    """The first ``depth`` candidates of a validation question, then the gold passages that are not among them.

    A passage without text is left out.
    """
    ranking = material.candidates.rankings.get(example.query.id, Ranking(example.query.id, ()))
    first = [hit.passage_id for hit in ranking.hits[:depth] if material.texts.get(hit.passage_id, "").strip()]
    return list(dict.fromkeys((*first, *example.passages)))


def needed(examples: Iterable[Example], runs: Sequence[Run], depth: int) -> list[str]:
    """The passages that examples and the first ``depth`` ranks of runs name."""
    named = [passage for example in examples for passage in (*example.passages, *example.also)]
    named += [hit.passage_id for run in runs for ranking in run.rankings.values() for hit in ranking.hits[:depth]]
    return list(dict.fromkeys(named))
