"""Learning sentence vectors: contrastive loss over in-batch and mined negatives, and distillation from a reranker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING

from responsa.errors import InputError
from responsa.learn.base import Base, embed, encoder_net, freeze, in_batches, open_tokenizer
from responsa.learn.material import Material, candidates_of, measure, near, spread
from responsa.learn.train import import_torch, seed_everything
from responsa.models import PairScorer
from responsa.retrieval.fuse import Linear
from responsa.types import Query, Ranking, Run

if TYPE_CHECKING:
    import torch
    from tokenizers import Tokenizer

# Scores of a teacher by query id and passage id.
Teacher = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class EncoderSettings:
    """How an encoder learns. Lengths are in tokens; ``negatives`` mined ones are drawn for each pair and epoch.

    ``cluster`` pairs of a batch belong together, so that the gold passages of the others are hard negatives (see
    `near`); 1: batches at random. ``symmetric`` adds the loss of finding the question for the passage. ``distil`` is
    the share of the loss that follows the teacher, whose scores are divided by ``teacher_temperature``. Validation
    ranks the first ``depth`` candidates by vectors alone, or with ``fused`` above 0 (the share of the first stage) by
    both. The embeddings and the lowest ``frozen`` layers are not learned.
    """

    query_length: int = 96
    passage_length: int = 256
    temperature: float = 0.05
    negatives: int = 4
    cluster: int = 1
    frozen: int = 0
    symmetric: bool = False
    distil: float = 0.0
    teacher_temperature: float = 1.0
    depth: int = 50
    fused: float = 0.5

    def __post_init__(self) -> None:
        if min(self.query_length, self.passage_length) < 3 or min(self.temperature, self.teacher_temperature) <= 0:
            raise InputError("encoder: lengths of at least 3 tokens and temperatures above 0 are needed")
        shares = 0 <= self.distil <= 1 and 0 <= self.fused < 1
        if self.negatives < 0 or min(self.cluster, self.depth) < 1 or not shares:
            raise InputError(
                "encoder: negatives of at least 0, cluster and depth of at least 1, distil and fused from 0 to 1"
            )


@dataclass(frozen=True)
class EncoderBatch:
    """``targets``: the place among the candidates of each query's own gold passage; candidates are not repeated."""

    queries: tuple[Query, ...]
    candidates: tuple[str, ...]
    targets: tuple[int, ...]


@dataclass(frozen=True)
class EncoderTask:
    """A `train.Task`. Every candidate of a batch is a negative of every query, unless it is gold for it."""

    base: Base
    material: Material
    settings: EncoderSettings = EncoderSettings()
    teacher: Teacher = field(default_factory=dict, repr=False)
    seed: int = 0

    @cached_property
    def model(self) -> torch.nn.Module:
        """The network, loaded at first use."""
        seed_everything(self.seed)
        net = encoder_net(self.base)
        freeze(net, self.settings.frozen)
        return net

    @cached_property
    def _query_tokenizer(self) -> Tokenizer:
        return open_tokenizer(self.base.tokenizer, self.settings.query_length)

    @cached_property
    def _passage_tokenizer(self) -> Tokenizer:
        return open_tokenizer(self.base.tokenizer, self.settings.passage_length)

    def batches(self, epoch: int, size: int, seed: int) -> list[EncoderBatch]:
        """All pairs of question and gold passage, shuffled, with negatives drawn anew in every epoch."""
        generator = Random(f"{seed} {epoch}")  # noqa: S311
        if self.settings.cluster > 1:
            drawn = near(self.material, size, self.settings.cluster, generator)
        else:
            drawn = spread(self.material.pairs, size, generator)
        return [self._batch(rows, generator) for rows in drawn]

    def _batch(self, rows: Sequence[int], generator: Random) -> EncoderBatch:
        pairs = [self.material.pairs[row] for row in rows]
        candidates = [passage for _, passage in pairs]
        for example, _ in pairs:
            candidates += self.material.negatives_of(example, self.settings.negatives, generator)
        places = {passage: place for place, passage in enumerate(dict.fromkeys(candidates))}
        queries = tuple(example.query for example, _ in pairs)
        return EncoderBatch(queries, tuple(places), tuple(places[passage] for _, passage in pairs))

    def loss(self, batch: EncoderBatch) -> torch.Tensor:
        """InfoNCE (van den Oord et al. 2018), mixed with the distance from the teacher where there is one."""
        torch = import_torch()
        queries = embed(self.model, self._query_tokenizer, [query.full_text for query in batch.queries])
        texts = [self.material.texts[passage] for passage in batch.candidates]
        passages = embed(self.model, self._passage_tokenizer, texts)
        logits = queries @ passages.T / self.settings.temperature
        hidden = torch.tensor(masked(batch, self.material), device=logits.device)
        targets = torch.tensor(batch.targets, device=logits.device)
        loss = contrastive(logits, hidden, targets, self.settings.symmetric)
        if not self.settings.distil:
            return loss
        return (1 - self.settings.distil) * loss + self.settings.distil * self._distillation(batch, logits)

    def _distillation(self, batch: EncoderBatch, logits: torch.Tensor) -> torch.Tensor:
        """KL divergence from the teacher's distribution over those candidates that it has scored for the query."""
        torch = import_torch()
        scored = [self.teacher.get(query.id, {}) for query in batch.queries]
        rows = [[scores.get(passage, float("-inf")) for passage in batch.candidates] for scores in scored]
        told = torch.tensor(rows, device=logits.device) / self.settings.teacher_temperature
        known = torch.isfinite(told)
        usable = known.sum(1) > 1
        if not usable.any():
            return logits.sum() * 0.0
        own = logits.masked_fill(~known, float("-inf"))[usable].log_softmax(-1)
        target = told[usable].softmax(-1)
        # Unknown candidates have a target of 0 and a logarithm of minus infinity: their product is 0, not NaN.
        return torch.nn.functional.kl_div(own.masked_fill(~known[usable], 0.0), target, reduction="batchmean")

    def evaluate(self) -> float:
        """The mean of MAP@10 and recall@10 over the validation questions."""
        values = self.metrics()
        return sum(values.values()) / len(values)

    def metrics(self) -> dict[str, float]:
        """MAP@10 and recall@10 over the validation questions, each ranked over its candidates and its gold."""
        found = self._ranked()
        if self.settings.fused:
            weights = (self.settings.fused, 1 - self.settings.fused)
            found = Linear(weights)([self.material.candidates, found])
        return measure(found, self.material.validation)

    def _ranked(self) -> Run:
        validation = self.material.validation
        listed = [candidates_of(self.material, example, self.settings.depth) for example in validation]
        ids = list(dict.fromkeys(passage for row in listed for passage in row))
        place = {passage: row for row, passage in enumerate(ids)}
        passages = self._encoded([self.material.texts[passage] for passage in ids], self._passage_tokenizer)
        queries = self._encoded([example.query.full_text for example in validation], self._query_tokenizer)
        rankings = {}
        for example, row, vector in zip(validation, listed, queries, strict=True):
            scores = (passages[[place[passage] for passage in row]] @ vector).tolist()
            rankings[example.query.id] = Ranking.of(example.query.id, zip(row, scores, strict=True))
        return Run("encoder", rankings)

    def _encoded(self, texts: Sequence[str], tokenizer: Tokenizer) -> torch.Tensor:
        torch = import_torch()
        vectors = torch.zeros(len(texts), self.model.config.hidden_size)  # type: ignore[union-attr,arg-type,unused-ignore]
        for rows, found in in_batches(texts, lambda part: embed(self.model, tokenizer, part)):
            vectors[rows] = found
        return vectors


def masked(batch: EncoderBatch, material: Material) -> list[list[bool]]:
    """For each query, which candidates may not count as negatives: those gold for it, but for its own target."""
    return [
        [place != target and material.is_gold(query, passage) for place, passage in enumerate(batch.candidates)]
        for query, target in zip(batch.queries, batch.targets, strict=True)
    ]


def contrastive(
    logits: torch.Tensor, hidden: torch.Tensor, targets: torch.Tensor, symmetric: bool = False
) -> torch.Tensor:
    """Cross-entropy of each row's target over the candidates not hidden; ``symmetric`` also of each target's row."""
    torch = import_torch()
    open_logits = logits.masked_fill(hidden, float("-inf"))
    loss = torch.nn.functional.cross_entropy(open_logits, targets)
    if not symmetric:
        return loss
    backward = open_logits[:, targets].T
    # Two rows with one target are each other's false negatives.
    same = (targets[:, None] == targets[None, :]) & ~torch.eye(len(targets), dtype=torch.bool, device=logits.device)
    rows = torch.arange(len(targets), device=logits.device)
    return (loss + torch.nn.functional.cross_entropy(backward.masked_fill(same, float("-inf")), rows)) / 2


def teach(scorer: PairScorer, material: Material) -> Teacher:
    """A reranker's scores of each example's gold and mined passages. Raw scores: calibration plays no part."""
    told: dict[str, dict[str, float]] = {}
    for example in material.examples:
        passages = list(dict.fromkeys((*example.passages, *material.negatives.get(example.query.id, ()))))
        scores = scorer.score([(example.query.full_text, material.texts[passage]) for passage in passages])
        told[example.query.id] = {passage: float(row[0]) for passage, row in zip(passages, scores, strict=True)}
    return told
