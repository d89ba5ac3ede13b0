"""Learning to rerank: a cross-encoder over pairs of question and passage, and the probability behind its scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, Literal

from responsa.errors import InputError
from responsa.learn.archive import Archive
from responsa.learn.base import Base, freeze, in_batches, open_tokenizer, pair_logits, pair_net
from responsa.learn.calibrate import best_f1, platt
from responsa.learn.examples import Example
from responsa.learn.material import Material, candidates_of, measure
from responsa.learn.mine import Mining
from responsa.learn.train import Schedule, import_torch
from responsa.types import Query, Ranking, Run

if TYPE_CHECKING:
    import torch
    from tokenizers import Tokenizer

LABELS = ("relevant",)


@dataclass(frozen=True)
class RerankerSettings:
    """How a reranker learns.

    ``listwise``: softmax cross-entropy of a gold passage among ``negatives`` (Gao et al. 2021, LCE). A list for each
    question and epoch holds up to ``golds`` of its gold passages, drawn anew, which do not compete with one another;
    the batch size counts lists. ``binary``: each pair by itself is right or wrong; the batch size counts pairs.
    ``select`` says by what the best state is chosen: ``ranking`` is the mean of MAP@10 and recall@10 over the first
    ``depth`` candidates of the validation questions, ``f1`` that of the pairs scored above 0. The embeddings and the
    lowest ``frozen`` layers are not learned.
    """

    loss: Literal["listwise", "binary"] = "listwise"
    golds: int = 2
    negatives: int = 7
    frozen: int = 0
    max_length: int = 320
    depth: int = 30
    select: Literal["ranking", "f1"] = "ranking"

    def __post_init__(self) -> None:
        if min(self.golds, self.negatives, self.depth) < 1 or self.max_length < 5:
            raise InputError(
                "reranker: golds, negatives and depth of at least 1 and a length of at least 5 tokens are needed"
            )


@dataclass(frozen=True)
class Preset:
    """A published recipe in full."""

    settings: RerankerSettings
    mining: Mining
    archive: Archive
    schedule: Schedule


# Bank of Italy 2025, section 2.2.1. Batch, learning rate and length are not stated there: those of the BGE reranker
# script that it follows are 6e-5 and 512 tokens. "Warm-up of 0.1 x len(train_data) x epochs" is a tenth of all steps.
CRR_RANKER = Preset(
    RerankerSettings(loss="binary", negatives=20, max_length=512, select="f1"),
    Mining(low=250, high=300, count=20),
    Archive(left_out=("99",), references=True),
    Schedule(epochs=4, batch=16, learning_rate=6e-5, warmup=0.1, evaluate_every=800),
)


@dataclass(frozen=True)
class RerankerBatch:
    """Lists of passages for one query each, the gold passages first, and how many of those there are; with ``binary``
    loss a list is one pair, and ``labels`` (1 or 0) belong to the passages in order."""

    lists: tuple[tuple[Query, tuple[str, ...], int], ...]
    labels: tuple[int, ...] = ()


@dataclass(frozen=True)
class RerankerTask:
    """A `train.Task`."""

    base: Base
    material: Material
    settings: RerankerSettings = RerankerSettings()
    seed: int = 0

    @cached_property
    def model(self) -> torch.nn.Module:
        """The network with its new head, made at first use."""
        net = pair_net(self.base, len(LABELS), self.seed)
        freeze(net["bert"], self.settings.frozen)  # type: ignore[index,unused-ignore]
        return net

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return open_tokenizer(self.base.tokenizer, self.settings.max_length)

    def batches(self, epoch: int, size: int, seed: int) -> list[RerankerBatch]:
        """Lists with negatives drawn anew in every epoch; or all pairs, shuffled anew."""
        generator = Random(f"{seed} {epoch}")  # noqa: S311
        if self.settings.loss == "binary":
            pairs = list(self._pairs(seed))
            generator.shuffle(pairs)
            parts = [pairs[start : start + size] for start in range(0, len(pairs), size)]
            return [
                RerankerBatch(tuple((q, (p,), label) for q, p, label in part), tuple(label for *_, label in part))
                for part in parts
            ]
        order = list(self.material.examples)
        generator.shuffle(order)
        lists = [self._list(example, generator) for example in order]
        return [RerankerBatch(tuple(lists[start : start + size])) for start in range(0, len(lists), size)]

    def _pairs(self, seed: int) -> Iterator[tuple[Query, str, int]]:
        for example in self.material.examples:
            yield from ((example.query, passage, 1) for passage in example.passages)
            generator = Random(f"{seed} {example.query.id}")  # noqa: S311
            drawn = self.material.negatives_of(example, self.settings.negatives, generator)
            yield from ((example.query, passage, 0) for passage in drawn)

    def _list(self, example: Example, generator: Random) -> tuple[Query, tuple[str, ...], int]:
        """Gold passages and negatives; where too few were mined, other questions' gold fills up."""
        golds = generator.sample(example.passages, min(self.settings.golds, len(example.passages)))
        drawn = self.material.negatives_of(example, self.settings.negatives, generator)
        for _ in range(4 * self.settings.negatives):
            if len(drawn) == self.settings.negatives:
                break
            other = generator.choice(self.material.pairs)[1]
            if other not in drawn and not self.material.is_gold(example.query, other):
                drawn.append(other)
        return example.query, (*golds, *drawn), len(golds)

    def loss(self, batch: RerankerBatch) -> torch.Tensor:
        """Softmax or binary cross-entropy."""
        torch = import_torch()
        pairs = [(q.full_text, self.material.texts[passage]) for q, passages, _ in batch.lists for passage in passages]
        logits = pair_logits(self.model, self._tokenizer, pairs)[:, 0]
        if batch.labels:
            labels = torch.tensor(batch.labels, dtype=logits.dtype, device=logits.device)
            return torch.nn.functional.binary_cross_entropy_with_logits(logits, labels)
        parts = logits.split([len(passages) for _, passages, _ in batch.lists])
        losses = [_listwise(scores, golds) for scores, (*_, golds) in zip(parts, batch.lists, strict=True)]
        return torch.stack(losses).mean()

    def evaluate(self) -> float:
        """The figure that ``select`` names."""
        values = self.metrics()
        return values["F1"] if self.settings.select == "f1" else (values["MAP@10"] + values["recall@10"]) / 2

    def metrics(self) -> dict[str, float]:
        """MAP@10 and recall@10 over the candidates of each validation question and its gold, F1 of their pairs at
        probability .5, and the best F1 that any threshold gives."""
        rankings, scores, labels = {}, [], []
        for example, row, found in self._scored(with_gold=True):
            rankings[example.query.id] = Ranking.of(example.query.id, zip(row, found, strict=True))
            scores += found
            labels += [int(self.material.is_gold(example.query, passage)) for passage in row]
        values = measure(Run("reranker", rankings), self.material.validation)
        right = sum(label for score, label in zip(scores, labels, strict=True) if score > 0)
        values["F1"] = 2 * right / max(1, sum(score > 0 for score in scores) + sum(labels))
        return {**values, "best F1": best_f1(scores, labels)}

    def calibration(self) -> tuple[float, ...]:
        """Scale and shift (`platt`) fitted on the validation candidates as retrieved, gold not added."""
        scores: list[float] = []
        labels: list[int] = []
        for example, row, found in self._scored(with_gold=False):
            scores += found
            labels += [int(self.material.is_gold(example.query, passage)) for passage in row]
        return platt(scores, labels)

    def _scored(self, with_gold: bool) -> Iterator[tuple[Example, list[str], list[float]]]:
        listed = []
        for example in self.material.validation:
            row = candidates_of(self.material, example, self.settings.depth)
            listed.append(row if with_gold else self._retrieved(example, row))
        pairs = [
            (example.query.full_text, self.material.texts[passage])
            for example, row in zip(self.material.validation, listed, strict=True)
            for passage in row
        ]
        scores = iter(self.scores(pairs))
        for example, row in zip(self.material.validation, listed, strict=True):
            yield example, row, [next(scores) for _ in row]

    def _retrieved(self, example: Example, row: Sequence[str]) -> list[str]:
        ranking = self.material.candidates.rankings.get(example.query.id)
        found = {hit.passage_id for hit in ranking.hits[: self.settings.depth]} if ranking else set()
        return [passage for passage in row if passage in found]

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The network's score of each pair as it stands."""
        scores = [0.0] * len(pairs)
        for rows, found in in_batches(pairs, lambda part: pair_logits(self.model, self._tokenizer, part)):
            for row, score in zip(rows, found[:, 0].tolist(), strict=True):
                scores[row] = score
        return scores


def _listwise(scores: torch.Tensor, golds: int) -> torch.Tensor:
    """The mean, over the first ``golds`` scores, of the cross-entropy of that one among itself and all that follow."""
    torch = import_torch()
    against = scores[golds:].logsumexp(0)
    return (torch.logaddexp(scores[:golds], against) - scores[:golds]).mean()
