"""The models that check answers and score them, by the names that options give them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from responsa.answer.ground import Checked, EntailmentCheck
    from responsa.corpus.view import Corpus
    from responsa.evaluate.repass import ScoringModels
    from responsa.types import Answer

NliOption = Annotated[
    str, typer.Option("--nli", metavar="MODEL", help="A classifier of pairs: embedded:NAME, onnx:FOLDER or hf:NAME.")
]
ObligationsOption = Annotated[
    str, typer.Option("--obligations", metavar="MODEL", help="What tells obligations: rules, or a classifier of texts.")
]
CacheOption = Annotated[bool, typer.Option("--cache/--no-cache", help="Keep what models answer.")]


def scoring_models(nli: str, coverage: str, obligations: str, one_string: bool, keep: bool) -> ScoringModels:
    """The models of a scoring; ``one_string`` for coverage read from a single text."""
    from responsa.checkers import detector_name, load_detector, load_entailment
    from responsa.evaluate.repass import ScoringModels

    first = load_entailment(nli, keep)
    second = first if coverage == nli and not one_string else load_entailment(coverage, keep, one_string=one_string)
    return ScoringModels(first, second, load_detector(obligations, keep), detector_name(obligations))


def check(answer: Answer, corpus: Corpus, stage: EntailmentCheck, keep: bool) -> Checked:
    """The check of an answer by a stage, with the models that it names."""
    from responsa.checkers import detector_name, load_detector, load_entailment

    detector = load_detector(stage.obligations, keep)
    return stage(answer, corpus, load_entailment(stage.nli, keep), detector, detector_name(stage.obligations))


def wanted(chosen: EntailmentCheck | None, nli: str, obligations: str, check: bool | None) -> EntailmentCheck | None:
    """The stage that checks answers, where they are: asked for, or not refused and a model is named or ships."""
    from dataclasses import replace

    from responsa.answer.ground import EntailmentCheck
    from responsa.checkers import EMBEDDED
    from responsa.models.embedded import shipped

    if check is False or not (check or chosen or nli or obligations or EMBEDDED.partition(":")[2] in shipped()):
        return None
    stage = chosen or EntailmentCheck()
    return replace(stage, nli=nli or stage.nli, obligations=obligations or stage.obligations)
