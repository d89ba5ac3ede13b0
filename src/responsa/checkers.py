"""Models that check answers, by name: of entailment, and of what tells obligations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from responsa.errors import InputError, NotFound

if TYPE_CHECKING:
    from responsa.models.classify import Entailment
    from responsa.types import ObligationDetector

EMBEDDED = "embedded:nli"
RULES = "rules"


def load_entailment(name: str, keep: bool = True, *, one_string: bool = False) -> Entailment:
    """The model of entailment of that name, opened. ``keep``: what it answers stays in the cache of this machine;
    ``one_string``: it reads a pair as a single text. NotFound says what to name where none ships; InputError and
    ModelError for a name or a model that cannot be one.
    """
    from responsa import cache
    from responsa.models.classify import Entailment
    from responsa.models.load import load_pairs
    from responsa.models.texts import load_texts

    kept = cache.shared() if keep else None
    try:
        if one_string:
            return Entailment.of_strings(load_texts(name), kept).check()
        return Entailment.of_pairs(load_pairs(name), kept).check()
    except NotFound as error:
        if name != EMBEDDED:
            raise
        raise NotFound(
            "this copy of Responsa ships no model of entailment (embedded:nli); name one with --nli, or as nli in the "
            "recipe, such as hf:cross-encoder/nli-deberta-v3-xsmall (needs responsa[hub]) or onnx:FOLDER"
        ) from error


def load_detector(name: str, keep: bool = True) -> ObligationDetector:
    """What tells obligations: ``rules``, or a classifier of texts by its name. InputError for what is neither."""
    from responsa.obligations import OBLIGATION_DETECTORS

    if name in OBLIGATION_DETECTORS:
        return OBLIGATION_DETECTORS[name]()
    if ":" not in name:
        raise InputError(
            f"obligations: {name!r} is neither {', '.join(sorted(OBLIGATION_DETECTORS))} nor a model, such as "
            "embedded:obligations, hf:organisation/model or onnx:FOLDER"
        )
    from responsa import cache
    from responsa.models.classify import Classifier, ModelObligationDetector
    from responsa.models.texts import load_texts

    return ModelObligationDetector(Classifier(load_texts(name), cache.shared() if keep else None))


def detector_name(name: str) -> str:
    """The name for the record: a model's own, or that of the rules with a digest of their code."""
    from responsa import obligations, text
    from responsa.text import digest

    if name in obligations.OBLIGATION_DETECTORS:
        code = [Path(str(module.__file__)).read_text(encoding="utf-8") for module in (obligations, text)]
        return f"{name}@{digest(code)[:12]}"
    from responsa.models.texts import load_texts

    return load_texts(name).name
