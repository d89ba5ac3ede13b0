"""From files and a library to a trained model: what ``responsa train`` runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from responsa.corpus.view import Corpus
from responsa.errors import InputError, NotFound
from responsa.learn import archive, examples, mine
from responsa.learn.base import Base
from responsa.learn.card import Account
from responsa.learn.classifier import ClassifierSettings, ClassifierTask, Samples
from responsa.learn.encoder import EncoderSettings, EncoderTask, Teacher, teach
from responsa.learn.examples import Example
from responsa.learn.export import LIMIT, Exported, Plan, check, export
from responsa.learn.material import Material, needed
from responsa.learn.mine import Mining, Report
from responsa.learn.reranker import LABELS, RerankerSettings, RerankerTask
from responsa.learn.train import Outcome, Progress, Schedule, fit
from responsa.models.load import load_reranker
from responsa.retrieval import Retriever
from responsa.retrieval.listwise import refuse_asking
from responsa.text import digest

_PROBES = 64


@dataclass(frozen=True)
class Sources:
    """Files of questions (see `examples.load`; where ``crr`` is set, archives, see `archive.load`), the part of them
    to learn from, and how many questions are kept apart to choose the best state by."""

    questions: tuple[Path, ...]
    folds: Path | None = None
    fold: int = 0
    validation: int = 200
    crr: archive.Archive | None = None
    seed: int = 0


@dataclass(frozen=True)
class Gathered:
    """Material and what did not go into it. ``blank``: questions whose gold passages all have no text."""

    material: Material
    dropped: tuple[str, ...]
    left_out: tuple[str, ...]
    blank: tuple[str, ...]
    mining: Report


@dataclass(frozen=True)
class Target:
    """Where the model goes and what its card tells. The run (checkpoints, log) is kept in ``folder``.training.

    ``reads``: the tokens that the model made reads of a text or pair, where that is more than it learned with; 0: as
    many. Position vectors beyond those learned with are those of the base.
    """

    folder: Path
    name: str
    data: tuple[str, ...]
    terms: str
    rebuild: str = ""
    reads: int = 0
    limit: int = LIMIT
    quantise: bool = True

    @property
    def run(self) -> Path:
        """The folder of the training run."""
        return self.folder.parent / f"{self.folder.name}.training"


@dataclass(frozen=True)
class Trained:
    """How training went, the figures of the best state, and the model."""

    outcome: Outcome
    metrics: dict[str, float]
    exported: Exported


def gather(sources: Sources, mining: Mining, corpus: Corpus, retrieve: Retriever, depth: int) -> Gathered:
    """Read the questions, split them, retrieve for all of them, mine negatives, and read the texts.

    ``depth``: how many of the candidates of validation questions are kept. RecipeError for a retriever that asks a
    language model.
    """
    refuse_asking(retrieve, "mining of negatives")
    found, left_out = _read(sources, corpus)
    dropped: tuple[str, ...] = ()
    if sources.folds:
        folds = examples.read_folds(sources.folds)
        if not 0 <= sources.fold < len(folds):
            raise InputError(f"{sources.folds} has folds 0 to {len(folds) - 1}, not {sources.fold}")
        part = examples.split(found, folds[sources.fold])
        found, dropped = part.train, part.dropped
    usable = _with_text(found, corpus)
    blank = {example.query.id for example in found} - {example.query.id for example in usable}
    learned, validation = examples.hold_out(usable, sources.validation, sources.seed)
    candidates = retrieve([example.query for example in validation], corpus, depth)
    run = retrieve([example.query for example in learned], corpus, mining.high)
    ids = needed((*learned, *validation), (run, candidates), max(mining.high, depth))
    texts = _texts(corpus, ids)
    mined = mine.mine(learned, run, texts, mining)
    material = Material(learned, texts, mined.negatives, validation, candidates)
    return Gathered(material, dropped, left_out, tuple(sorted(blank)), mined.report)


def _with_text(found: Sequence[Example], corpus: Corpus) -> tuple[Example, ...]:
    """The examples without gold passages that have no text, such as bare headings; those left without gold go."""
    texts = _texts(corpus, needed(found, (), 0))
    kept = []
    for example in found:
        passages = tuple(passage for passage in example.passages if texts[passage].strip())
        if passages:
            kept.append(replace(example, passages=passages))
    return tuple(kept)


def _read(sources: Sources, corpus: Corpus) -> tuple[tuple[Example, ...], tuple[str, ...]]:
    if sources.crr is None:
        found = examples.load_all(sources.questions, lambda document, number: _ids(corpus, document, number))
        return found, ()
    numbers = _articles(corpus)
    loaded = [archive.load(path, lambda article: numbers.get(article, ()), sources.crr) for path in sources.questions]
    return (
        tuple(example for part in loaded for example in part.examples),
        tuple(query_id for part in loaded for query_id in (*part.left_out, *part.unresolved)),
    )


def _articles(corpus: Corpus) -> dict[str, tuple[str, ...]]:
    """Passages by article number, for libraries that hold one act: a passage's number is "99" or "Article 99"."""
    found: dict[str, list[str]] = {}
    for version in corpus.versions:
        for passage in corpus.passages(version):
            number = passage.number.lower().removeprefix("article").strip()
            if number and passage.text.strip():
                found.setdefault(number, []).append(passage.id)
    return {number: tuple(ids) for number, ids in found.items()}


def _ids(corpus: Corpus, document: str, number: str) -> list[str]:
    return [passage.id for passage in corpus.find(document, number)]


def _texts(corpus: Corpus, ids: Sequence[str]) -> dict[str, str]:
    try:
        return {passage_id: passage.text for passage_id, passage in corpus.read(ids).items()}
    except NotFound as error:
        raise InputError(f"gold {str(error).partition(',')[0]}; add its document") from error


def train_encoder(
    base: Base,
    material: Material,
    settings: EncoderSettings,
    schedule: Schedule,
    target: Target,
    teacher: str = "",
    progress: Progress | None = None,
) -> Trained:
    """Train, or go on training, and export. ``teacher`` names a reranker (see `models.load`) to distil from."""
    probes = [material.texts[passage] for passage in list(dict.fromkeys(p for _, p in material.pairs))[:_PROBES]]
    plan = Plan("encoder", target.name, base, target.reads or settings.passage_length, probes)
    check(plan, target.folder)
    told: Teacher = teach(load_reranker(teacher), material) if teacher and settings.distil else {}
    task = EncoderTask(base, material, settings, told, schedule.seed)
    fingerprint = _fingerprint(base, material, settings, teacher)
    outcome = fit(task, schedule, target.run, progress, fingerprint)
    task.model.eval()
    metrics = task.metrics()
    return _export(task.model, plan, target, _account(target, settings, schedule, metrics), outcome, metrics)


def train_reranker(
    base: Base,
    material: Material,
    settings: RerankerSettings,
    schedule: Schedule,
    target: Target,
    progress: Progress | None = None,
) -> Trained:
    """Train, or go on training, calibrate and export."""
    probes = [(example.query.full_text, material.texts[passage]) for example, passage in material.pairs[:_PROBES]]
    plan = Plan("pairs", target.name, base, target.reads or settings.max_length, probes, LABELS)
    check(plan, target.folder)
    task = RerankerTask(base, material, settings, schedule.seed)
    outcome = fit(task, schedule, target.run, progress, _fingerprint(base, material, settings))
    task.model.eval()
    metrics = task.metrics()
    plan = replace(plan, calibration=task.calibration())
    return _export(task.model, plan, target, _account(target, settings, schedule, metrics), outcome, metrics)


def train_classifier(
    base: Base,
    labels: tuple[str, ...],
    samples: Samples,
    settings: ClassifierSettings,
    schedule: Schedule,
    target: Target,
    progress: Progress | None = None,
    patience: int = 0,
) -> Trained:
    """Train a classifier of texts or pairs of texts, or go on training, calibrate in the weights, and export.

    ``patience``: see `train.fit`.
    """
    probes = [sample.texts for sample in samples.learned[:_PROBES]]
    kind: Literal["pairs", "texts"] = "pairs" if any(second for _, second in probes) else "texts"
    plan = Plan(kind, target.name, base, target.reads or settings.max_length, probes, labels)
    check(plan, target.folder)
    task = ClassifierTask(base, labels, samples, settings, schedule.seed)
    fingerprint = digest([base.sha256, samples.fingerprint, asdict(settings), labels])
    outcome = fit(task, schedule, target.run, progress, fingerprint, patience)
    task.model.eval()
    scale_and_shift = task.calibrate()
    metrics = task.metrics()
    account = _account(target, settings, schedule, metrics)
    account = replace(account, settings={**account.settings, "calibration": scale_and_shift})
    return _export(task.model, plan, target, account, outcome, metrics)


def _fingerprint(
    base: Base, material: Material, settings: EncoderSettings | RerankerSettings, teacher: str = ""
) -> str:
    return digest([base.sha256, material.fingerprint, asdict(settings), teacher])


def _account(
    target: Target,
    settings: EncoderSettings | RerankerSettings | ClassifierSettings,
    schedule: Schedule,
    metrics: dict[str, float],
) -> Account:
    told = {**asdict(settings), **asdict(schedule)}
    return Account(target.data, target.terms, told, schedule.seed, metrics, target.rebuild)


def _export(
    net: object, plan: Plan, target: Target, account: Account, outcome: Outcome, metrics: dict[str, float]
) -> Trained:
    plan = replace(plan, quantise=target.quantise, limit=target.limit)
    return Trained(outcome, metrics, export(net, plan, account, target.folder))  # type: ignore[arg-type,unused-ignore]
