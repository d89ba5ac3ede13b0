"""What the rows of an experiment need beside Responsa, and whether it is here."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

from responsa.answer import Abstainer
from responsa.answer.generators.base import Generator
from responsa.errors import InputError, MissingDependency, ModelError, NotFound
from responsa.models.chat import ChatModel
from responsa.models.chat.load import load_chat
from responsa.models.load import load_encoder, load_late, load_pairs, load_reranker, load_sparse
from responsa.models.options import split
from responsa.models.texts import load_texts
from responsa.obligations import OBLIGATION_DETECTORS
from responsa.retrieval import Retriever
from responsa.retrieval.hybrid import Hybrid
from responsa.retrieval.learned import read_weights
from responsa.text import digest

_KEYS = {"voyage": "VOYAGE_API_KEY", "openai": "OPENAI_API_KEY"}
# By scheme: the libraries that run its models, and the extra that brings them.
_LIBRARIES = {
    **dict.fromkeys(("voyage", "openai", "http", "https"), (("httpx",), "llm")),
    "hf": (("sentence_transformers",), "hub"),
    "pylate": (("pylate",), "late"),
}
_FIELDS = ("encoder", "model", "path", "weights")
_ANSWERING = ("examples", "nli", "obligations", "verifier_nli", "verifier_coverage", "verifier_obligations")
_CHAT = "Listwise"  # the stage whose model is a language model, that of the environment where it names none


class _Named(Protocol):
    @property
    def name(self) -> str: ...


_LOADERS: dict[str, Callable[[str], _Named]] = {"Sparse": load_sparse, "Late": load_late}


@dataclass(frozen=True)
class Need:
    """A model or a file that a stage names, under the setting ``field``."""

    stage: str
    field: str
    name: str


def needs(stage: Retriever | Abstainer) -> list[Need]:
    """The models and files of a recipe's retrieval, in the order of its stages, or of what abstains, each once."""
    stages = (*stage.stages, *stage.rerank) if isinstance(stage, Hybrid) else (stage,)
    return list(dict.fromkeys(need for each in stages for need in _of(each)))


def answer_needs(stage: object) -> list[Need]:
    """The models and files of the stage that answers; of a generator its language model first, under ``chat``."""
    found = [Need(type(stage).__name__, "chat", stage.model)] if isinstance(stage, Generator) else []
    for each in fields(stage) if is_dataclass(stage) else ():
        value = getattr(stage, each.name)
        if each.name in _ANSWERING and value and value not in OBLIGATION_DETECTORS:
            found.append(Need(type(stage).__name__, each.name, value))
    return list(dict.fromkeys(found))


def _of(stage: object) -> Iterator[Need]:
    if not is_dataclass(stage):
        return
    for each in fields(stage):
        value = getattr(stage, each.name)
        wanted = value or (each.name == "model" and type(stage).__name__ == _CHAT)
        if each.name in _FIELDS and isinstance(value, str) and wanted:
            yield Need(type(stage).__name__, each.name, value)


def missing(need: Need) -> str:
    """Why it cannot be had on this machine; "" where it can. Nothing is downloaded or asked.

    InputError for a name that no model can have.
    """
    if need.stage == _CHAT or need.field == "chat":
        return _chat(need.name)
    if need.field in ("path", "examples"):
        return _file(need.name)
    if need.field == "weights":
        return _file(need.name) if need.name.endswith(".json") else _not_found(lambda: read_weights(need.name))
    scheme, _, rest = need.name.partition(":")
    if scheme in _KEYS and not os.environ.get(_KEYS[scheme]):
        return f"needs a paid API: {_KEYS[scheme]} is not set"
    libraries, extra = _LIBRARIES.get(scheme, ((), ""))
    lacking = any(find_spec(library) is None for library in libraries)
    model, options = split(rest)
    if scheme == "onnx" and not (Path(model) / "model.json").is_file():
        return f"there is no model folder {model!r}"
    if scheme in ("hf", "pylate"):
        away = [each for each in _hub_models(model, options.get("passage_model", "")) if not _is_here(each)]
        if away:
            install = f", and the library that runs it: pip install 'responsa[{extra}]'" if lacking else ""
            return f"needs {' and '.join(away)} of the Hugging Face hub, which this machine does not have{install}"
    if lacking:
        return f"needs an optional library; install it with: pip install 'responsa[{extra}]'"
    if "examples" in options and _file(options["examples"]):
        return _file(options["examples"])
    return _not_found(lambda: _load(need))


def _chat(name: str) -> str:
    """Why a language model cannot be asked: none is named, no library, no key. Whether it answers is not tried."""
    try:
        model = load_chat(name)
        wire = getattr(getattr(model, "inner", model), "wire", None)
        if wire is not None:
            wire.prepare()
    except (ModelError, MissingDependency) as error:
        return str(error)
    except InputError as error:
        if name:
            raise
        return str(error)
    return ""


def _not_found(load: Callable[[], object]) -> str:
    try:
        load()
    except NotFound as error:
        return str(error)
    return ""


def identity(need: Need) -> str:
    """What a need is by its content: the model's own name, which tells its settings or its checksum, or the digest of a
    file."""
    if need.field == "weights":
        return f"weights@{digest(read_weights(need.name).text())[:12]}"
    if need.field not in ("path", "examples"):
        return _load(need).name
    with Path(need.name).open("rb") as file:
        return f"{Path(need.name).name}@{hashlib.file_digest(file, 'sha256').hexdigest()[:12]}"


def _load(need: Need) -> _Named | ChatModel:
    """The model; its weights are read at its first use."""
    if need.stage == _CHAT or need.field == "chat":
        return load_chat(need.name)
    if need.field in _ANSWERING:
        return load_texts(need.name) if "obligations" in need.field else load_pairs(need.name)
    if need.field == "model":
        return load_reranker(need.name)
    load = _LOADERS.get(need.stage, load_encoder)
    return load(need.name)


def _file(path: str) -> str:
    return "" if Path(path).is_file() else f"there is no file {path!r}"


def _hub_models(model: str, passage_model: str) -> list[str]:
    from responsa.models.hub.dense import DRAGON_PLUS

    if model == "dragon-plus":
        model, passage_model = DRAGON_PLUS["model"], DRAGON_PLUS["passage_model"]
    return [each for each in (model, passage_model) if each]


def _is_here(model: str) -> bool:
    """Whether it is a folder, or in the local cache of the hub with its weights."""
    if Path(model).expanduser().is_dir():
        return True
    if find_spec("huggingface_hub") is None:
        return False
    from huggingface_hub import snapshot_download

    try:
        folder = Path(
            snapshot_download(
                model, cache_dir=os.environ.get("SENTENCE_TRANSFORMERS_HOME") or None, local_files_only=True
            )
        )
    except (OSError, ValueError):
        return False
    return any(folder.rglob("*.safetensors")) or any(folder.rglob("*.bin"))
