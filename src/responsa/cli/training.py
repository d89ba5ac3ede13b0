"""Commands that train."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from responsa.cli.output import JsonOption, note, print_json, progress, say

if TYPE_CHECKING:
    from responsa.learn.classifier import Samples
    from responsa.learn.job import Gathered, Sources, Target, Trained
    from responsa.learn.labels import LabelledSentence
    from responsa.learn.mine import Mining

_CLUSTERED = 50  # negatives mined for a question where batches are made of clusters

train = typer.Typer(
    help="Train models: encoders and rerankers on questions, classifiers on labelled text.", no_args_is_help=True
)

Questions = Annotated[
    list[Path],
    typer.Argument(metavar="QUESTIONS...", help="ObliQA JSON, or JSONL with question and passages."),
]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="The model's folder; its run goes to DIR.training.")]
BaseOption = Annotated[str, typer.Option("--base", help="minilm, or the path of a BERT folder.")]
Start = Annotated[
    list[Path] | None,
    typer.Option(
        "--start",
        metavar="DIR",
        help="A run (DIR.training), a model's folder or embedded:NAME to begin with; repeatable: their mean.",
    ),
]
NameOption = Annotated[str, typer.Option("--name", help="The model's name; the folder's, if not given.")]
Epochs = Annotated[int | None, typer.Option("--epochs", min=0, help="0 only measures and exports what --start has.")]
BatchOption = Annotated[int | None, typer.Option("--batch", min=1, help="Questions (or pairs) in a step.")]
Rate = Annotated[float | None, typer.Option("--rate", help="The highest learning rate.")]
Negatives = Annotated[int | None, typer.Option("--negatives", min=0, help="Mined negatives for each gold passage.")]
Ranks = Annotated[str, typer.Option("--ranks", metavar="LOW-HIGH", help="Ranks that negatives are drawn from.")]
Mined = Annotated[str, typer.Option("--recipe", help="The recipe whose ranks negatives are drawn from.")]
Ceiling = Annotated[
    float, typer.Option("--ceiling", help="No negatives above this share of the gold passage's score; 0: no limit.")
]
Mirrored = Annotated[int, typer.Option("--mirrored", min=0, help="Twins with the change made in the premise.")]
Frozen = Annotated[int | None, typer.Option("--frozen", min=0, help="Lowest layers that are not learned: faster.")]
Marked = Annotated[bool, typer.Option("--marked", help="Tell the network which tokens stand in the other text too.")]
Length = Annotated[int | None, typer.Option("--length", help="Tokens read of a passage, or of a pair.")]
QueryLength = Annotated[int | None, typer.Option("--query-length", help="Tokens read of a question.")]
Reads = Annotated[int, typer.Option("--reads", min=0, help="Tokens that the model made reads; 0: those of --length.")]
Seed = Annotated[int, typer.Option("--seed", help="What chance is drawn from.")]
Folds = Annotated[Path | None, typer.Option("--folds", metavar="FILE", help="Learn from one fold's training part.")]
FoldOption = Annotated[int, typer.Option("--fold", help="Which fold, from 0.")]
Validation = Annotated[int, typer.Option("--validation", min=1, help="Questions kept apart to choose the best state.")]
Last = Annotated[bool, typer.Option("--last", help="Keep the state after the last step, not the best.")]
HeldBack = Annotated[
    int,
    typer.Option("--validation", min=1, help="Of each source kept apart to choose the best state; at most a fifth."),
]
Weights = Annotated[
    list[str] | None,
    typer.Option("--weight", metavar="SOURCE=N", help="How often a sample of the source is seen in an epoch; 1."),
]
Terms = Annotated[str, typer.Option("--terms", metavar="TEXT", help="The terms of the data, for the model's card.")]
Data = Annotated[
    Path | None,
    typer.Option("--data", envvar="RESPONSA_DATA", metavar="DIR", help="The data folder: texts of rows with places."),
]
AllowSize = Annotated[bool, typer.Option("--allow-size", help="Export a model of more than 25 MB too.")]


@train.command("encoder")
def encoder(
    context: typer.Context,
    questions: Questions,
    out: Out,
    base: BaseOption = "minilm",
    start: Start = None,
    name: NameOption = "",
    epochs: Epochs = None,
    batch: BatchOption = None,
    rate: Rate = None,
    negatives: Negatives = None,
    recipe: Mined = "bm25",
    ranks: Ranks = "1-50",
    ceiling: Ceiling = 0.0,
    cluster: Annotated[
        int | None, typer.Option("--cluster", min=1, help="Pairs of a batch that are each other's hard negatives.")
    ] = None,
    symmetric: Annotated[bool, typer.Option("--symmetric", help="Also find the question for the passage.")] = False,
    teacher: Annotated[str, typer.Option("--teacher", help="A reranker to learn from, such as onnx:DIR.")] = "",
    distil: Annotated[float, typer.Option("--distil", help="The teacher's share of the loss.")] = 0.0,
    frozen: Frozen = None,
    length: Length = None,
    query_length: QueryLength = None,
    reads: Reads = 0,
    seed: Seed = 0,
    folds: Folds = None,
    fold: FoldOption = 0,
    validation: Validation = 200,
    last: Last = False,
    terms: Terms = "not stated",
    allow_size: AllowSize = False,
    json: JsonOption = False,
) -> None:
    """Train an encoder by contrast with the other passages of a batch and mined negatives. Stopped, it goes on."""
    from responsa.learn import job
    from responsa.learn.base import base as find_base
    from responsa.learn.encoder import EncoderSettings
    from responsa.learn.train import Schedule

    if bool(teacher) != bool(distil):
        raise typer.BadParameter("--teacher and --distil belong together")
    settings = EncoderSettings(
        symmetric=symmetric,
        distil=distil,
        **_given(  # type: ignore[arg-type]
            negatives=negatives, cluster=cluster, frozen=frozen, passage_length=length, query_length=query_length
        ),
    )
    given = _given(epochs=epochs, batch=batch, learning_rate=rate)
    schedule = Schedule(seed=seed, last=last, **given)  # type: ignore[arg-type]
    count = max(1, settings.negatives) * 3 if settings.cluster == 1 else _CLUSTERED
    mining = _mining(ranks, count, ceiling, seed)
    begin, sources = find_base(base, start or ()), job.Sources(tuple(questions), folds, fold, validation, None, seed)
    gathered = _gather(context.obj, sources, mining, settings.depth, recipe)
    target = _target(out, name, questions, terms, reads, allow_size)
    with progress("Training") as bar:
        trained = job.train_encoder(begin, gathered.material, settings, schedule, target, teacher, bar)
    _report(trained, json)


@train.command("reranker")
def reranker(
    context: typer.Context,
    questions: Questions,
    out: Out,
    base: BaseOption = "minilm",
    start: Start = None,
    name: NameOption = "",
    preset: Annotated[str, typer.Option("--preset", help="crr-ranker: that of the Bank of Italy, on archives.")] = "",
    epochs: Epochs = None,
    batch: BatchOption = None,
    rate: Rate = None,
    golds: Annotated[int | None, typer.Option("--golds", min=1, help="Gold passages in a question's list.")] = None,
    negatives: Negatives = None,
    recipe: Mined = "bm25",
    ranks: Ranks = "1-50",
    ceiling: Ceiling = 0.0,
    frozen: Frozen = None,
    length: Length = None,
    reads: Reads = 0,
    seed: Seed = 0,
    folds: Folds = None,
    fold: FoldOption = 0,
    validation: Validation = 200,
    last: Last = False,
    terms: Terms = "not stated",
    allow_size: AllowSize = False,
    json: JsonOption = False,
) -> None:
    """Train a cross-encoder. With the preset, QUESTIONS are archives (docs/eba.md)."""
    from responsa.learn import job
    from responsa.learn.base import base as find_base
    from responsa.learn.reranker import CRR_RANKER, RerankerSettings
    from responsa.learn.train import Schedule

    if preset not in ("", "crr-ranker"):
        raise typer.BadParameter(f"unknown preset {preset!r}; known: crr-ranker")
    chosen = CRR_RANKER if preset else None
    settings = replace(
        chosen.settings if chosen else RerankerSettings(),
        **_given(golds=golds, negatives=negatives, frozen=frozen, max_length=length),  # type: ignore[arg-type]
    )
    schedule = replace(
        chosen.schedule if chosen else Schedule(batch=8),
        seed=seed,
        last=last,
        **_given(epochs=epochs, batch=batch, learning_rate=rate),  # type: ignore[arg-type]
    )
    mining = replace(chosen.mining, seed=seed) if chosen else _mining(ranks, settings.negatives * 3, ceiling, seed)
    archive = chosen.archive if chosen else None
    begin, sources = find_base(base, start or ()), job.Sources(tuple(questions), folds, fold, validation, archive, seed)
    gathered = _gather(context.obj, sources, mining, settings.depth, recipe)
    target = _target(out, name, questions, terms, reads, allow_size)
    with progress("Training") as bar:
        trained = job.train_reranker(begin, gathered.material, settings, schedule, target, bar)
    _report(trained, json)


@train.command("nli")
def nli(
    context: typer.Context,
    pairs: Annotated[list[Path], typer.Argument(metavar="PAIRS...", help="JSONL, or JSONL.GZ, of pairs with a label.")],
    out: Out,
    base: BaseOption = "minilm",
    start: Start = None,
    name: NameOption = "",
    edits: Annotated[
        int, typer.Option("--edits", min=0, help="Pairs made of sentences of the library by edits; source: edited.")
    ] = 0,
    mirrored: Mirrored = 0,
    weight: Weights = None,
    epochs: Epochs = None,
    batch: BatchOption = None,
    rate: Rate = None,
    frozen: Frozen = None,
    marked: Marked = False,
    length: Length = None,
    reads: Reads = 0,
    seed: Seed = 0,
    validation: HeldBack = 200,
    test: Annotated[
        list[Path] | None, typer.Option("--test", metavar="FILE", help="Pairs that are measured only; repeatable.")
    ] = None,
    data: Data = None,
    terms: Terms = "not stated",
    allow_size: AllowSize = False,
    json: JsonOption = False,
) -> None:
    """Train a cross-encoder for entailment on pairs: premise, hypothesis, label and source. Stopped, it goes on."""
    from responsa.corpus.library import Library
    from responsa.learn import job
    from responsa.learn import nli as learning
    from responsa.learn.base import base as find_base
    from responsa.learn.classifier import ClassifierSettings
    from responsa.learn.labels import texts_of
    from responsa.learn.train import Schedule

    settings = ClassifierSettings(weights=_weights(weight), **_given(frozen=frozen, max_length=length, marked=marked))  # type: ignore[arg-type]
    given = _given(epochs=epochs, batch=batch, learning_rate=rate)
    schedule = replace(Schedule(batch=32, learning_rate=1e-4), seed=seed, **given)  # type: ignore[arg-type]
    begin, texts = find_base(base, start or ()), (lambda: texts_of(data, {})) if data else None
    with Library.open(context.obj) if edits else nullcontext() as library:
        corpus = library.corpus() if library else None
        samples = learning.gather(pairs, corpus, edits, validation, seed, test or (), texts, mirrored)
    _count(samples)
    target = _target(out, name, pairs, terms, reads, allow_size)
    with progress("Training") as bar:
        _report(job.train_classifier(begin, learning.LABELS, samples, settings, schedule, target, bar), json)


@train.command("obligations")
def obligations(
    sentences: Annotated[
        list[Path], typer.Argument(metavar="SENTENCES...", help="CSV with the columns Text and Obligation.")
    ],
    out: Out,
    labels: Annotated[
        Path | None, typer.Option("--labels", metavar="FILE", help="Labels of real sentences; their text is in --data.")
    ] = None,
    data: Data = None,
    pages: Annotated[
        Path | None, typer.Option("--pages", metavar="FILE", help="The PRA pages as passages, for --labels.")
    ] = None,
    base: BaseOption = "minilm",
    start: Start = None,
    name: NameOption = "",
    preset: Annotated[
        str, typer.Option("--preset", help="legalbert: that of the reference classifier, with --base.")
    ] = "",
    weight: Weights = None,
    epochs: Epochs = None,
    batch: BatchOption = None,
    rate: Rate = None,
    frozen: Frozen = None,
    length: Length = None,
    reads: Reads = 0,
    seed: Annotated[int | None, typer.Option("--seed", help="0; 42 with the preset.")] = None,
    validation: HeldBack = 200,
    terms: Terms = "not stated",
    allow_size: AllowSize = False,
    json: JsonOption = False,
) -> None:
    """Train a classifier of sentences: obligation or not. Real sentences of the test part are measured only."""
    from responsa.learn import classifier, job
    from responsa.learn.base import base as find_base
    from responsa.learn.train import Schedule

    if preset not in ("", "legalbert"):
        raise typer.BadParameter(f"unknown preset {preset!r}; known: legalbert")
    chosen = classifier.LEGALBERT if preset else None
    settings = replace(
        chosen.settings if chosen else classifier.ClassifierSettings(max_length=128, select="F1"),
        **_given(frozen=frozen, max_length=length, weights=_weights(weight) or None),  # type: ignore[arg-type]
    )
    schedule = replace(
        chosen.schedule if chosen else Schedule(epochs=4, batch=16),
        **_given(epochs=epochs, batch=batch, learning_rate=rate, seed=seed),  # type: ignore[arg-type]
    )
    begin = find_base(base, start or ())
    written = [sample for path in sentences for sample in classifier.read_sentences(path)]
    samples = classifier.obligations(written, _labelled(labels, data, pages), validation, schedule, chosen)
    if chosen:
        schedule = chosen.warmed(schedule, len(samples.learned))
    _count(samples)
    target = _target(out, name, [*sentences, *([labels] if labels else [])], terms, reads, allow_size)
    with progress("Training") as bar:
        patience = chosen.patience if chosen else 0
        trained = job.train_classifier(begin, classifier.OBLIGATION, samples, settings, schedule, target, bar, patience)
    _report(trained, json)


def _labelled(labels: Path | None, data: Path | None, pages: Path | None) -> Sequence[LabelledSentence]:
    from responsa.learn import examples
    from responsa.learn import labels as labelled

    if not labels:
        return ()
    if not data:
        raise typer.BadParameter("--labels needs --data, the folder with the texts")
    rows = examples.rows(pages) if pages else ()
    texts = {examples.text_of(row, "id", place): str(row.get("text", "")) for place, row in rows}
    return labelled.load(labels, labelled.texts_of(data, texts))


def _weights(given: list[str] | None) -> tuple[tuple[str, float], ...]:
    found = []
    for each in given or ():
        match = re.fullmatch(r"([^=]+)=(\d+\.?\d*|\.\d+)", each, re.ASCII)
        if not match:
            raise typer.BadParameter(f"--weight: {each!r} is not of the form SOURCE=NUMBER, such as adgm=8")
        found.append((match[1], float(match[2])))
    return tuple(found)


def _count(samples: Samples) -> None:
    note(
        f"{len(samples.learned):,} samples to learn from, {len(samples.validation):,} to choose the best state by,"
        f" {len(samples.test):,} to measure only"
    )


def _given(**options: object) -> dict[str, object]:
    return {name: value for name, value in options.items() if value is not None}


def _mining(ranks: str, count: int, ceiling: float, seed: int) -> Mining:
    from responsa.learn.mine import Mining

    low, dash, high = ranks.partition("-")
    if not dash or not low.isdecimal() or not high.isdecimal():
        raise typer.BadParameter(f"--ranks: {ranks!r} is not of the form LOW-HIGH, such as 1-50")
    return Mining(int(low), int(high), count, ceiling, seed)


def _gather(folder: Path, sources: Sources, mining: Mining, depth: int, recipe: str) -> Gathered:
    from responsa.corpus.library import Library
    from responsa.learn import job
    from responsa.recipe import load

    with Library.open(folder) as library:
        gathered = job.gather(sources, mining, library.corpus(), load(recipe).retrieve, depth)
    material, report = gathered.material, gathered.mining
    note(
        f"{len(material.examples):,} questions to learn from, {len(material.validation):,} to choose the best state by;"
        f" left out: {len(gathered.dropped):,} that share a passage with the test part, {len(gathered.left_out):,} by"
        f" article, {len(gathered.blank):,} whose passages have no text. {report.mined:,} negatives mined; passed over:"
        f" {report.gold:,} gold, {report.equal_text:,} of equal text, {report.too_similar:,} too similar."
    )
    return gathered


def _target(out: Path, name: str, questions: list[Path], terms: str, reads: int, allow_size: bool) -> Target:
    from responsa.learn import job
    from responsa.learn.export import LIMIT

    rebuild = shlex.join(["responsa", *sys.argv[1:]])
    limit = 2**40 if allow_size else LIMIT
    data = tuple(path.name for path in questions)
    return job.Target(out, name or out.resolve().name, data, terms, rebuild, reads, limit)


def _report(trained: Trained, json: bool) -> None:
    exported = trained.exported
    if json:
        print_json(
            {
                "folder": str(exported.folder),
                "bytes": exported.size,
                "steps": trained.outcome.steps,
                "best_step": trained.outcome.best_step,
                "metrics": dict(trained.metrics),
                "cosine": exported.parity.cosine,
            }
        )
        return
    figures = ", ".join(f"{name} {value:.4f}" for name, value in trained.metrics.items())
    steps = f"step {trained.outcome.best_step:,} of {trained.outcome.steps:,}"
    say(f"{exported.folder}: {exported.size / 1e6:.1f} MB; {steps}: {figures}")
    say(f"8-bit model against the trained network: mean cosine {exported.parity.cosine:.4f}")
