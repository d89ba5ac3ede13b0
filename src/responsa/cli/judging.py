"""The models that judge, by the names that options give them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from responsa.errors import InputError

if TYPE_CHECKING:
    from responsa.answer.ground import Checked, EntailmentCheck
    from responsa.cache import Cache
    from responsa.corpus.view import Corpus
    from responsa.evaluate.repass import Judges
    from responsa.models.classify import Entailment, ModelObligationDetector
    from responsa.types import Answer, Detection

EMBEDDED = "embedded:nli"
RULES = "rules"

NliOption = Annotated[
    str, typer.Option("--nli", metavar="MODEL", help="A classifier of pairs: embedded:NAME, onnx:FOLDER or hf:NAME.")
]
ObligationsOption = Annotated[
    str, typer.Option("--obligations", metavar="MODEL", help="What tells obligations: rules, or a classifier of texts.")
]
CacheOption = Annotated[bool, typer.Option("--cache/--no-cache", help="Keep what models answer.")]


def judges(nli: str, coverage: str, obligations: str, one_string: bool, cache: Cache | None) -> Judges:
    """The models of a scoring; ``one_string`` for coverage read from a single text."""
    from responsa.evaluate.repass import Judges
    from responsa.models.classify import Entailment
    from responsa.models.texts import load_texts

    first = entailment(nli, cache)
    if one_string:
        second = Entailment.of_strings(load_texts(coverage), cache).check()
    else:
        second = first if coverage == nli else entailment(coverage, cache)
    return Judges(first, second, detector(obligations, cache), detector_name(obligations, cache))


def entailment(name: str, cache: Cache | None) -> Entailment:
    """A model of entailment, opened. NotFound says what to set where none ships."""
    from responsa.errors import NotFound
    from responsa.models.classify import Entailment
    from responsa.models.load import load_pairs

    try:
        return Entailment.of_pairs(load_pairs(name), cache).check()
    except NotFound as error:
        if name != EMBEDDED:
            raise
        raise NotFound(
            "this copy of Responsa ships no model of entailment (embedded:nli); name one with --nli, such as "
            "--nli hf:cross-encoder/nli-deberta-v3-xsmall (needs responsa[hub]) or --nli onnx:FOLDER"
        ) from error


def detector(name: str, cache: Cache | None) -> Callable[..., list[Detection]]:
    """What tells obligations: called with sentences and, if wanted, with what to tell of progress."""
    from responsa.obligations import OBLIGATION_DETECTORS

    if name in OBLIGATION_DETECTORS:
        found = OBLIGATION_DETECTORS[name]()
        return lambda sentences, _progress=None: found(sentences)
    return _model_detector(name, cache)


def _model_detector(name: str, cache: Cache | None) -> ModelObligationDetector:
    from responsa.models.classify import Classifier, ModelObligationDetector
    from responsa.models.texts import load_texts
    from responsa.obligations import OBLIGATION_DETECTORS

    if ":" not in name:
        raise InputError(
            f"--obligations: {name!r} is neither {', '.join(sorted(OBLIGATION_DETECTORS))} nor a model, such as "
            "hf:organisation/model or onnx:FOLDER"
        )
    return ModelObligationDetector(Classifier(load_texts(name), cache))


def detector_name(name: str, cache: Cache | None) -> str:
    """The name for the record: a model's own, or that of the rules with a digest of their code."""
    from responsa import obligations, text
    from responsa.text import digest

    if name in obligations.OBLIGATION_DETECTORS:
        code = [Path(str(module.__file__)).read_text(encoding="utf-8") for module in (obligations, text)]
        return f"{name}@{digest(code)[:12]}"
    return _model_detector(name, cache).name


def cache(wanted: bool) -> Cache | None:
    """The cache of this machine, where it is wanted."""
    from responsa.cache import Cache, default_path

    return Cache(default_path()) if wanted else None


def check(answer: Answer, corpus: Corpus, stage: EntailmentCheck, keep: Cache | None) -> Checked:
    """The check of an answer by a stage, with the models that it names."""
    judge = entailment(stage.nli, keep)
    return stage(answer, corpus, judge, detector(stage.obligations, keep), detector_name(stage.obligations, keep))


def wanted(chosen: EntailmentCheck | None, nli: str, obligations: str, check: bool | None) -> EntailmentCheck | None:
    """The stage that checks answers, where they are: asked for, or not refused and a model is named or ships."""
    from dataclasses import replace

    from responsa.answer.ground import EntailmentCheck
    from responsa.models.embedded import shipped

    if check is False or not (check or chosen or nli or obligations or EMBEDDED.partition(":")[2] in shipped()):
        return None
    stage = chosen or EntailmentCheck()
    return replace(stage, nli=nli or stage.nli, obligations=obligations or stage.obligations)
