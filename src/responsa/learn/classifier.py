"""Learning to sort texts, or pairs of texts, into labels: obligations here, entailment in `nli`."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from responsa.errors import InputError
from responsa.learn.base import Base, freeze, in_batches, open_tokenizer, pair_logits, pair_net
from responsa.learn.calibrate import best_f1, platt, temperature
from responsa.learn.labels import LabelledSentence
from responsa.learn.train import Schedule, import_torch
from responsa.text import digest, folded

if TYPE_CHECKING:
    import torch
    from tokenizers import Tokenizer

OBLIGATION = ("other", "obligation")
WRITTEN = "written"  # the source of sentences that a model wrote, which do not represent real regulation
_MOST_HELD = 0.2  # of the samples of a source


@dataclass(frozen=True, slots=True)
class Sample:
    """A text, or two, and the place of its label among the labels. Samples of one ``group`` are
    never on both sides of a split."""

    texts: tuple[str, str]
    label: int
    source: str
    group: str


@dataclass(frozen=True)
class Samples:
    """What is learned from, what the best state is chosen by, and what is measured at the end."""

    learned: tuple[Sample, ...] = field(repr=False)
    validation: tuple[Sample, ...] = field(repr=False)
    test: tuple[Sample, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if not self.learned or not self.validation:
            raise InputError(
                "training needs samples to learn from and samples for validation, got"
                f" {len(self.learned)} and {len(self.validation)}"
            )

    @cached_property
    def fingerprint(self) -> str:
        """Names what is learned and chosen by."""
        return digest(
            [[(*one.texts, one.label, one.source) for one in part] for part in (self.learned, self.validation)]
        )


@dataclass(frozen=True)
class ClassifierSettings:
    """How a classifier learns. ``weights`` of sources: how often a sample is seen in an epoch on average, 1 where none
    is given; below 1 a part is drawn anew for every epoch. ``select``: what the best state is chosen by, ``macro``
    being the mean accuracy over sources. The embeddings and the lowest ``frozen`` layers are not learned. ``marked``:
    of pairs, the network is told which tokens stand in the other text too (`responsa.models.marks`)."""

    max_length: int = 192
    frozen: int = 0
    marked: bool = False
    select: Literal["macro", "F1", "loss"] = "macro"
    weights: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        bad = [f"{source}={weight:g}" for source, weight in self.weights if not 0 <= weight <= 1000]
        if self.max_length < 5 or bad:
            raise InputError(
                "classifier: a length of at least 5 tokens and weights from 0 to 1000 are needed, got"
                f" {self.max_length} and {', '.join(bad) or 'no wrong weight'}"
            )


@dataclass(frozen=True)
class ClassifierTask:
    """A `train.Task`: softmax over a score for each label. Of two labels the second is the one that is looked for."""

    base: Base
    labels: tuple[str, ...]
    samples: Samples
    settings: ClassifierSettings = ClassifierSettings()
    seed: int = 0

    @cached_property
    def model(self) -> torch.nn.Module:
        """The network with its new head, made at first use."""
        net = pair_net(self.base, len(self.labels), self.seed, self.settings.marked)
        freeze(net["bert"], self.settings.frozen)  # type: ignore[index,unused-ignore]
        return net

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return open_tokenizer(self.base.tokenizer, self.settings.max_length)

    def batches(self, epoch: int, size: int, seed: int) -> list[tuple[Sample, ...]]:
        """The samples in another order in every epoch, as many of each source as its weight says."""
        generator = Random(f"{seed} {epoch}")  # noqa: S311
        drawn = weighted(self.samples.learned, dict(self.settings.weights), generator)
        generator.shuffle(drawn)
        return [tuple(drawn[start : start + size]) for start in range(0, len(drawn), size)]

    def loss(self, batch: Sequence[Sample]) -> torch.Tensor:
        """Cross-entropy."""
        logits = pair_logits(self.model, self._tokenizer, [sample.texts for sample in batch])
        return self._entropy(logits, [sample.label for sample in batch])

    def _entropy(self, logits: torch.Tensor, labels: Sequence[int]) -> torch.Tensor:
        torch = import_torch()
        return torch.nn.functional.cross_entropy(logits, torch.tensor(labels, device=logits.device))

    def evaluate(self) -> float:
        """The figure that ``select`` names, of the validation part; the loss with a minus."""
        scores = self.scores(self.samples.validation)
        if self.settings.select == "loss":
            labels = [sample.label for sample in self.samples.validation]
            return -float(self._entropy(import_torch().tensor(scores), labels))
        measured = measure(scores, self.samples.validation)
        return measured["F1" if self.settings.select == "F1" else "macro accuracy"]

    def metrics(self) -> dict[str, float]:
        """`measure` of the validation part and, named ``test ...``, of the test part."""
        found = measure(self.scores(self.samples.validation), self.samples.validation)
        if self.samples.test:
            tested = measure(self.scores(self.samples.test), self.samples.test)
            found |= {f"test {name}": value for name, value in tested.items()}
        return found

    def calibrate(self) -> tuple[float, ...]:
        """Change the head so that the softmax of the scores is the probability, by the scale and shift returned.

        They are fitted on the validation part, without sentences that a model wrote where there are others: `platt`
        of the difference of two scores, `temperature` of more. Empty, and nothing changed, where there is no fit.
        """
        found = self._fitted()
        if found:
            scale, shift = found
            head = self.model["head"]  # type: ignore[index,unused-ignore]
            with import_torch().no_grad():
                head.weight.mul_(scale)
                head.bias.mul_(scale)
                if len(self.labels) == 2:
                    head.bias[1] += shift
        return found

    def _fitted(self) -> tuple[float, ...]:
        real = [sample for sample in self.samples.validation if sample.source != WRITTEN] or self.samples.validation
        scores, labels = self.scores(real), [sample.label for sample in real]
        two = len(self.labels) == 2
        return platt(_margin(scores).tolist(), labels) if two else temperature(scores.tolist(), labels)

    def scores(self, samples: Sequence[Sample]) -> npt.NDArray[np.float32]:
        """The network's scores as it stands, shape (samples, labels)."""
        scores = np.zeros((len(samples), len(self.labels)), dtype=np.float32)
        texts = [sample.texts for sample in samples]
        for rows, found in in_batches(texts, lambda part: pair_logits(self.model, self._tokenizer, part)):
            scores[rows] = found.numpy()
        return scores


def weighted(samples: Sequence[Sample], weights: Mapping[str, float], generator: Random) -> list[Sample]:
    """Each sample as often as the weight of its source says; of a broken weight a part is drawn, always as many.

    InputError where a weight is for a source that no sample has.
    """
    by_source: dict[str, list[Sample]] = {}
    for sample in samples:
        by_source.setdefault(sample.source, []).append(sample)
    unknown = [source for source in weights if source not in by_source]
    if unknown:
        raise InputError(f"a weight for {unknown[0]!r}, which is no source here; known: {', '.join(sorted(by_source))}")
    drawn: list[Sample] = []
    for source, found in by_source.items():
        whole, part = divmod(weights.get(source, 1.0), 1)
        drawn += found * int(whole) + generator.sample(found, round(part * len(found)))
    return drawn


def hold_out(samples: Sequence[Sample], count: int, seed: int) -> tuple[tuple[Sample, ...], tuple[Sample, ...]]:
    """The samples to learn from, and about ``count`` of each source, at most a fifth of it, for validation.

    Groups are drawn by the seed and held back whole, from every source.
    """
    groups: dict[str, list[str]] = {}
    sizes: dict[tuple[str, str], int] = {}
    for sample in samples:
        if (sample.source, sample.group) not in sizes:
            groups.setdefault(sample.source, []).append(sample.group)
        sizes[sample.source, sample.group] = sizes.get((sample.source, sample.group), 0) + 1
    held: set[str] = set()
    for source, names in sorted(groups.items()):
        total = sum(sizes[source, name] for name in names)
        wanted = min(float(count), _MOST_HELD * total) - sum(sizes[source, name] for name in names if name in held)
        order = [name for name in names if name not in held]
        Random(f"{seed} {source}").shuffle(order)  # noqa: S311
        for name in order:
            if wanted < 1:
                break
            held.add(name)
            wanted -= sizes[source, name]
    return (
        tuple(sample for sample in samples if sample.group not in held),
        tuple(sample for sample in samples if sample.group in held),
    )


def measure(scores: npt.NDArray[np.float32], samples: Sequence[Sample]) -> dict[str, float]:
    """Accuracy, that of each source, and their mean (``macro accuracy``).

    Of two labels, the second having the higher score, also precision, recall and F1, those of each source where there
    is one, and the best F1 that any threshold gives. Nothing predicted is precision 0.
    """
    labels = np.array([sample.label for sample in samples])
    predicted = scores.argmax(axis=1)
    found = {"accuracy": float((predicted == labels).mean())}
    sources = np.array([sample.source for sample in samples])
    names = sorted(set(sources.tolist()))
    each = {name: float((predicted == labels)[sources == name].mean()) for name in names}
    found["macro accuracy"] = math.fsum(each.values()) / len(each)
    if scores.shape[1] == 2:
        found |= dict(zip(("precision", "recall", "F1"), _f1(predicted, labels), strict=True))
        found["best F1"] = best_f1(_margin(scores).tolist(), labels.tolist())
        for name in names:
            if len(names) > 1 and labels[sources == name].any():
                found[f"F1 {name}"] = _f1(predicted[sources == name], labels[sources == name])[2]
    return found | {f"accuracy {name}": value for name, value in each.items()}


def _margin(scores: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.asarray(scores[:, 1] - scores[:, 0])


def _f1(predicted: npt.NDArray[np.int_], labels: npt.NDArray[np.int_]) -> tuple[float, float, float]:
    right, said, true = int((predicted * labels).sum()), int(predicted.sum()), int(labels.sum())
    return right / max(1, said), right / max(1, true), 2 * right / max(1, said + true)


# --- obligations ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Preset:
    """A published way of training in full. ``warmup`` in steps, ``patience`` in evaluations."""

    settings: ClassifierSettings
    schedule: Schedule
    test_share: float
    warmup: int
    patience: int

    def warmed(self, schedule: Schedule, count: int) -> Schedule:
        """The schedule with the share of the steps that the warm-up takes, at most half, for so many samples; of no
        steps, as it is."""
        steps = schedule.epochs * math.ceil(count / schedule.batch)
        return replace(schedule, warmup=min(0.5, (self.warmup + 0.5) / steps)) if steps else schedule


# RegNLP/ObligationClassifier: LegalBERT, 128 tokens, 500 steps of warm-up, evaluated once an epoch by the loss.
LEGALBERT = Preset(
    ClassifierSettings(max_length=128, select="loss"),
    Schedule(epochs=10, batch=16, learning_rate=5e-5, weight_decay=0.01, seed=42),
    test_share=0.2,
    warmup=500,
    patience=3,
)


def published_split(samples: Sequence[Sample], share: float, seed: int) -> Samples:
    """The random split of scikit-learn's ``train_test_split``, not stratified and blind to texts that stand twice; the
    smaller part is what the best state is chosen by."""
    order = np.random.RandomState(seed).permutation(len(samples))
    count = math.ceil(share * len(samples))
    held, learned = (tuple(samples[row] for row in rows) for rows in (order[:count], order[count:]))
    return Samples(learned, held)


def read_sentences(path: Path) -> tuple[Sample, ...]:
    """Sentences that a model wrote, from CSV with the columns ``Text`` and ``Obligation`` (True or False).

    Their source is ``written``; equal texts are one group. InputError names file and line.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from error
    rows = csv.DictReader(io.StringIO(text, newline=""))
    missing = {"Text", "Obligation"} - set(rows.fieldnames or ())
    if missing:
        raise InputError(f"{path}: no column {sorted(missing)[0]!r}; expected the columns Text and Obligation")
    found = []
    for row in rows:
        place = f"{path}, line {rows.line_num}"
        told = str(row["Obligation"]).strip().lower()
        if told not in ("true", "false"):
            raise InputError(f"{place}: 'Obligation' must be True or False, this is {row['Obligation']!r}")
        sentence = row["Text"] or ""
        if not sentence.strip():
            raise InputError(f"{place}: 'Text' is blank; write the sentence or remove the row")
        found.append(Sample((sentence, ""), int(told == "true"), WRITTEN, folded(sentence)))
    if not found:
        raise InputError(f"{path}: holds no sentence")
    return tuple(found)


def obligations(
    written: Sequence[Sample],
    real: Sequence[LabelledSentence],
    validation: int,
    schedule: Schedule,
    preset: Preset | None = None,
) -> Samples:
    """Samples of both kinds: the test part of the real sentences is measured only; written sentences equal to one of it
    are left out. With a preset, its split of the written sentences."""
    labelled = [
        (Sample((one.text, ""), int(one.obligation), one.source, f"{one.source} {one.passage}"), one.part)
        for one in real
    ]
    test = tuple(sample for sample, part in labelled if part == "test")
    if preset:
        parts = published_split(written, preset.test_share, schedule.seed)
        return Samples(parts.learned, parts.validation, test)
    tested = {folded(sample.texts[0]) for sample in test}
    pool = [*written, *(sample for sample, part in labelled if part != "test")]
    learned, held = hold_out([one for one in pool if folded(one.texts[0]) not in tested], validation, schedule.seed)
    return Samples(learned, held, test)
