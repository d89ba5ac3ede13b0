"""Embedded models: ONNX Runtime and tokenizers, no torch.

A model is a folder: ``model.onnx``, ``tokenizer.json``, ``model.json`` (kind, settings, checksums) and its
card. What does not fit together is refused when the folder is opened.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from responsa import config
from responsa.errors import ModelError, NotFound
from responsa.models import Role, Vectors

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

SETTINGS = "model.json"


@dataclass(frozen=True)
class Settings:
    """``model.json``. ``labels`` are those of a pair scorer, in the order of its outputs; ``dimension`` is that of an
    encoder; ``sha256`` the checksums of model and tokenizer. ``calibration`` (scale, shift) turns a reranker's
    score into a probability."""

    kind: Literal["encoder", "pairs"]
    name: str
    max_length: int
    sha256_model: str
    sha256_tokenizer: str
    dimension: int = 0
    labels: tuple[str, ...] = ()
    query_prefix: str = ""
    passage_prefix: str = ""
    calibration: tuple[float, ...] = ()


@dataclass(frozen=True)
class OnnxEncoder:
    """Mean-pooled, unit-length sentence vectors. Texts beyond the model's length are cut.

    8-bit models scale activations over a whole batch: one text at a time gives vectors that do not depend on
    the others, and measured twice as fast on two cores.
    """

    folder: Path
    batch: int = 1

    @property
    def name(self) -> str:
        """Name and checksum of the model."""
        settings = _open(self.folder, "encoder").settings
        return f"{settings.name}@{settings.sha256_model[:12]}"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return _open(self.folder, "encoder").settings.dimension

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Unit vectors, shape (texts, dimension)."""
        model = _open(self.folder, "encoder")
        prefix = model.settings.query_prefix if role == "query" else model.settings.passage_prefix
        vectors = np.zeros((len(texts), model.settings.dimension), dtype=np.float32)
        encodings = model.tokenizer.encode_batch([prefix + text for text in texts])
        for rows in _by_length(encodings, self.batch):
            states, mask = model.run([encodings[row] for row in rows])
            summed = (states * mask[:, :, None]).sum(axis=1)
            vectors[rows] = summed / np.maximum(np.linalg.norm(summed, axis=1, keepdims=True), 1e-12)
        return model.checked(vectors)


@dataclass(frozen=True)
class OnnxPairScorer:
    """A cross-encoder: reads both texts together. Where they are too long together, the longer is cut first."""

    folder: Path
    batch: int = 1

    @property
    def name(self) -> str:
        """Name and checksum of the model."""
        settings = _open(self.folder, "pairs").settings
        return f"{settings.name}@{settings.sha256_model[:12]}"

    @property
    def labels(self) -> tuple[str, ...]:
        """The model's labels in the order of its scores."""
        return _open(self.folder, "pairs").settings.labels

    @property
    def calibration(self) -> tuple[float, ...]:
        """Scale and shift of the logistic function that makes a probability of a score; empty where unknown."""
        return _open(self.folder, "pairs").settings.calibration

    def score(self, pairs: Sequence[tuple[str, str]]) -> Vectors:
        """Logits, shape (pairs, labels)."""
        model = _open(self.folder, "pairs")
        scores = np.zeros((len(pairs), len(model.settings.labels)), dtype=np.float32)
        encodings = model.tokenizer.encode_batch(list(pairs))
        for rows in _by_length(encodings, self.batch):
            scores[rows], _ = model.run([encodings[row] for row in rows])
        return model.checked(scores)


@dataclass(frozen=True)
class _Model:
    settings: Settings
    tokenizer: Tokenizer
    session: InferenceSession
    folder: Path

    def run(self, encodings: Sequence[Encoding]) -> tuple[Vectors, Vectors]:
        """The model's output for one batch, and the attention mask."""
        longest = max(len(encoding.ids) for encoding in encodings)
        arrays = {
            "input_ids": _padded([encoding.ids for encoding in encodings], longest),
            "attention_mask": _padded([encoding.attention_mask for encoding in encodings], longest),
            "token_type_ids": _padded([encoding.type_ids for encoding in encodings], longest),
        }
        wanted = {put.name for put in self.session.get_inputs()}
        (output,) = self.session.run(None, {name: array for name, array in arrays.items() if name in wanted})
        return output, arrays["attention_mask"].astype(np.float32)

    def checked(self, values: Vectors) -> Vectors:
        """The values, or ModelError where one is not finite."""
        if not np.isfinite(values).all():
            raise ModelError(f"{self.folder}: the model gave a value that is not finite; the file may be damaged")
        return values


def _padded(rows: Sequence[Sequence[int]], longest: int) -> npt.NDArray[np.int64]:
    padded = np.zeros((len(rows), longest), dtype=np.int64)
    for row, values in zip(padded, rows, strict=True):
        row[: len(values)] = values
    return padded


def _by_length(encodings: Sequence[Encoding], batch: int) -> Iterator[list[int]]:
    """Batches of rows of similar length, so that little is padded."""
    order = sorted(range(len(encodings)), key=lambda row: len(encodings[row].ids))
    for start in range(0, len(order), batch):
        yield order[start : start + batch]


@lru_cache(maxsize=8)
def _open(folder: Path, kind: str) -> _Model:
    import onnxruntime
    from tokenizers import Tokenizer

    settings = read_settings(folder)
    if settings.kind != kind:
        raise ModelError(f"{folder}: is a model of kind {settings.kind!r}; {kind!r} is needed here")
    _verify(folder / "model.onnx", settings.sha256_model)
    _verify(folder / "tokenizer.json", settings.sha256_tokenizer)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(settings.max_length, strategy="longest_first")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = _attempt(
        lambda: onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]),
        folder,
    )
    return _Model(settings, tokenizer, session, folder)


def _attempt(load: Callable[[], InferenceSession], folder: Path) -> InferenceSession:
    try:
        return load()
    except Exception as error:  # onnxruntime raises its own kinds, none of them public
        raise ModelError(f"{folder / 'model.onnx'}: cannot be run: {str(error).splitlines()[0]}") from error


def read_settings(folder: Path) -> Settings:
    """The settings in a model folder. NotFound where there is no model, ModelError where they are not as expected."""
    if not (folder / SETTINGS).is_file():
        raise NotFound(f"{folder}: no model here ({SETTINGS} is missing)")
    try:
        values = json.loads((folder / SETTINGS).read_bytes())
    except ValueError as error:
        raise ModelError(f"{folder / SETTINGS}: not valid JSON: {error}") from error
    return config.fill(Settings, values, str(folder / SETTINGS))


def _verify(path: Path, sha256: str) -> None:
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from error
    if found != sha256:
        raise ModelError(f"{path}: is not the file of this model (checksum {found[:12]}, expected {sha256[:12]})")
