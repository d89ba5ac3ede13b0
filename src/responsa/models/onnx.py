"""Embedded models: ONNX Runtime and tokenizers, no torch.

A model is a folder: ``model.onnx``, ``tokenizer.json``, ``model.json`` (kind, settings, checksums) and its
card. What does not fit together is refused when the folder is opened. A folder that is replaced is opened anew.
"""

from __future__ import annotations

import hashlib
import json
import os
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from responsa import config
from responsa.errors import ModelError, NotFound, RecipeError
from responsa.models import Role, Vectors
from responsa.models.checks import finite, readable
from responsa.models.marks import segments
from responsa.text import digest

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

SETTINGS = "model.json"
GRAPH = "model.onnx"
T = TypeVar("T")
_INPUTS = {"input_ids", "attention_mask", "token_type_ids"}
_BATCH_AND_TOKENS = (None, None)
_SHORTEST, _LONGEST = 3, 1 << 20  # tokens: the marks round two texts that are read together; more than any model reads


@dataclass(frozen=True)
class Settings:
    """``model.json``. ``labels`` are those of a scorer of pairs or texts, in the order of its outputs; ``dimension``
    is that of an encoder; ``sha256`` the checksums of model and tokenizer. ``calibration`` (scale, shift) turns a
    reranker's score into a probability. ``marked``: a scorer of pairs is told which tokens stand in the other text too
    (`responsa.models.marks`)."""

    kind: Literal["encoder", "pairs", "texts"]
    name: str
    max_length: int
    sha256_model: str
    sha256_tokenizer: str
    dimension: int = 0
    labels: tuple[str, ...] = ()
    query_prefix: str = ""
    passage_prefix: str = ""
    calibration: tuple[float, ...] = ()
    marked: bool = False

    def __post_init__(self) -> None:
        if not _SHORTEST <= self.max_length <= _LONGEST:
            raise RecipeError(
                f"max_length: expected a number of tokens from {_SHORTEST} to {_LONGEST:,}, got {self.max_length}"
            )
        if self.kind == "encoder" and self.dimension < 1:
            raise RecipeError(f"dimension: expected the length of the encoder's vectors, got {self.dimension}")
        if self.kind != "encoder" and not self.labels:
            raise RecipeError("labels: expected one for each of the model's outputs, got none")
        if self.marked and self.kind != "pairs":
            raise RecipeError(f"marked: expected only of a scorer of pairs, this is a model of kind {self.kind!r}")
        if len(self.calibration) not in (0, 2):
            raise RecipeError(f"calibration: expected a scale and a shift, or an empty list, got {self.calibration}")


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
        """The model's name, and a digest of all that changes its vectors."""
        return model_name(self.folder, "encoder")

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return _settings(self.folder, "encoder", _stamp(self.folder)).dimension

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Unit vectors, shape (texts, dimension)."""
        model = open_model(self.folder, "encoder")
        prefix = model.settings.query_prefix if role == "query" else model.settings.passage_prefix
        vectors = np.zeros((len(texts), model.settings.dimension), dtype=np.float32)
        encodings = model.tokenizer.encode_batch([prefix + readable(text) for text in texts])
        shape = (*_BATCH_AND_TOKENS, model.settings.dimension)
        for rows, states, mask in model.each(encodings, self.batch, shape):
            summed = (states * mask[:, :, None]).sum(axis=1)
            with np.errstate(invalid="ignore"):  # what is not finite is told below
                vectors[rows] = summed / np.maximum(np.linalg.norm(summed, axis=1, keepdims=True), 1e-12)
        return finite(vectors, str(self.folder))


@dataclass(frozen=True)
class OnnxPairScorer:
    """A cross-encoder: reads both texts together. Where they are too long together, the longer is cut first."""

    folder: Path
    batch: int = 1

    @property
    def name(self) -> str:
        """The model's name, and a digest of all that changes its scores."""
        return model_name(self.folder, "pairs")

    @property
    def labels(self) -> tuple[str, ...]:
        """The model's labels in the order of its scores."""
        return _settings(self.folder, "pairs", _stamp(self.folder)).labels

    @property
    def calibration(self) -> tuple[float, ...]:
        """Scale and shift of the logistic function that makes a probability of a score; empty where unknown."""
        return _settings(self.folder, "pairs", _stamp(self.folder)).calibration

    def score(self, pairs: Sequence[tuple[str, str]]) -> Vectors:
        """Logits, shape (pairs, labels)."""
        model = open_model(self.folder, "pairs")
        scores = np.zeros((len(pairs), len(model.settings.labels)), dtype=np.float32)
        encodings = model.tokenizer.encode_batch([(readable(one), readable(other)) for one, other in pairs])
        for rows, found, _ in model.each(encodings, self.batch, (None, len(model.settings.labels))):
            scores[rows] = found
        return finite(scores, str(self.folder), "pair")


@dataclass(frozen=True)
class _Model:
    settings: Settings
    tokenizer: Tokenizer
    session: InferenceSession
    folder: Path

    def each(
        self, encodings: Sequence[Encoding], batch: int, shape: Sequence[int | None]
    ) -> Iterator[tuple[list[int], Vectors, Vectors]]:
        """Rows of similar length, their output and their attention mask, a batch after the other.

        Every core has batches of its own, one thread each: measured 1.6 times as fast as all cores on one batch, with
        the same numbers to the bit.
        """
        batches = list(_by_length(encodings, batch))

        def run(rows: list[int]) -> tuple[Vectors, Vectors]:
            return self.run([encodings[row] for row in rows], shape)

        if len(batches) == 1:
            yield batches[0], *run(batches[0])
            return
        with ThreadPoolExecutor(_cores()) as pool:
            for rows, (output, mask) in zip(batches, pool.map(run, batches), strict=True):
                yield rows, output, mask

    def run(self, encodings: Sequence[Encoding], shape: Sequence[int | None]) -> tuple[Vectors, Vectors]:
        """The model's output for one batch, and the attention mask. ModelError where the output has another shape;
        None in it stands for any length."""
        longest = max(len(encoding.ids) for encoding in encodings)
        arrays = {
            "input_ids": _padded([encoding.ids for encoding in encodings], longest),
            "attention_mask": _padded([encoding.attention_mask for encoding in encodings], longest),
            "token_type_ids": _padded([self._segments(encoding) for encoding in encodings], longest),
        }
        wanted = {put.name for put in self.session.get_inputs()}
        given = {name: array for name, array in arrays.items() if name in wanted}
        try:
            (output,) = _attempt(lambda: self.session.run(None, given), self.folder / GRAPH)
        except ModelError as error:
            most = self._most_tokens(longest)
            if _SHORTEST <= most < longest:
                raise ModelError(
                    f"{self.folder / GRAPH}: reads texts of {most:,} tokens at most, this one has {longest:,}; "
                    f"max_length in {SETTINGS} is {self.settings.max_length:,}: set it to {most:,} or less"
                ) from error
            raise
        if len(output.shape) != len(shape) or any(
            due not in (None, found) for due, found in zip(shape, output.shape, strict=True)
        ):
            due = " x ".join("any" if length is None else str(length) for length in shape)
            raise ModelError(
                f"{self.folder / GRAPH}: is no {self.settings.kind} model as {SETTINGS} tells: its output is "
                f"{' x '.join(map(str, output.shape))}, expected {due}"
            )
        return output, arrays["attention_mask"].astype(np.float32)

    def _segments(self, encoding: Encoding) -> Sequence[int]:
        return segments(encoding) if self.settings.marked else encoding.type_ids

    def _most_tokens(self, longest: int) -> int:
        """How many tokens the network reads, up to ``longest``; fewer than any text has where it reads nothing."""

        def fails(tokens: int) -> bool:
            blank = np.zeros((1, tokens), dtype=np.int64)
            try:
                self.session.run(None, {put.name: blank for put in self.session.get_inputs()})
            except Exception:  # onnxruntime raises kinds of its own, none of them public
                return True
            return False

        return _SHORTEST - 1 + bisect_left(range(_SHORTEST, longest + 1), True, key=fails)


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


def open_model(folder: Path, kind: str) -> _Model:
    """The opened network of a folder, which stays open. ModelError where it is of another kind."""
    return _opened(folder, kind, _stamp(folder))


def model_name(folder: Path, kind: str) -> str:
    """``name@digest``, from what the folder tells of itself: the network is opened when it is used."""
    told = _settings(folder, kind, _stamp(folder))
    made_of = [told.sha256_model, told.sha256_tokenizer, told.max_length, told.query_prefix, told.passage_prefix]
    return f"{told.name}@{digest(made_of + [told.marked] * told.marked)[:12]}"


def _stamp(folder: Path) -> tuple[tuple[int, int], ...]:
    """Size and time of change of the files, so that a replaced model is read anew; 0 for what is missing."""
    found = []
    for name in (GRAPH, "tokenizer.json", SETTINGS):
        try:
            told = (folder / name).stat()
            found.append((told.st_size, told.st_mtime_ns))
        except OSError:
            found.append((0, 0))
    return tuple(found)


@lru_cache(maxsize=8)
def _settings(folder: Path, kind: str, stamp: tuple[tuple[int, int], ...]) -> Settings:
    del stamp
    settings = read_settings(folder)
    if settings.kind != kind:
        raise ModelError(f"{folder}: is a model of kind {settings.kind!r}; {kind!r} is needed here")
    return settings


@lru_cache(maxsize=8)
def _opened(folder: Path, kind: str, stamp: tuple[tuple[int, int], ...]) -> _Model:
    settings = _settings(folder, kind, stamp)
    _verify(folder / GRAPH, settings.sha256_model)
    _verify(folder / "tokenizer.json", settings.sha256_tokenizer)
    import onnxruntime
    from tokenizers import Tokenizer

    tokenizer = _attempt(lambda: Tokenizer.from_file(str(folder / "tokenizer.json")), folder / "tokenizer.json", "read")
    tokenizer.no_padding()
    tokenizer.enable_truncation(settings.max_length, strategy="longest_first")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # errors are raised, and told once
    options.intra_op_num_threads = 1
    session = _attempt(
        lambda: onnxruntime.InferenceSession(
            str(folder / GRAPH),
            options,
            providers=["CPUExecutionProvider"],
            disabled_optimizers=["SkipLayerNormFusion"],  # measured a fifth slower than the sum and the norm apart
        ),
        folder / GRAPH,
    )
    unknown = {put.name for put in session.get_inputs()} - _INPUTS
    if unknown or len(session.get_outputs()) != 1:
        raise ModelError(
            f"{folder / GRAPH}: has inputs {', '.join(sorted(put.name for put in session.get_inputs()))} and "
            f"{len(session.get_outputs())} outputs; expected {', '.join(sorted(_INPUTS))} or some of them, and 1"
        )
    return _Model(settings, tokenizer, session, folder)


def _cores() -> int:
    """The cores that this process may use, which can be fewer than the machine has: threads beyond them only wait."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _attempt(act: Callable[[], T], path: Path, what: str = "run") -> T:
    try:
        return act()
    except Exception as error:  # onnxruntime and tokenizers raise their own kinds, none of them public
        raise ModelError(f"{path}: cannot be {what}: {str(error).splitlines()[0]}") from error


def read_settings(folder: Path) -> Settings:
    """The settings in a model folder. NotFound where there is no model, ModelError where they are not as expected."""
    if not (folder / SETTINGS).is_file():
        raise NotFound(f"{folder}: no model here ({SETTINGS} is missing)")
    try:
        values = json.loads((folder / SETTINGS).read_bytes())
    except OSError as error:
        raise ModelError(f"{folder / SETTINGS}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{folder / SETTINGS}: not valid JSON: {error}") from error
    if not isinstance(values, dict):
        raise ModelError(f"{folder / SETTINGS}: expected an object with the model's settings, got {str(values)[:40]}")
    try:
        return config.fill(Settings, values, str(folder / SETTINGS))
    except RecipeError as error:
        raise ModelError(str(error)) from error


def _verify(path: Path, sha256: str) -> None:
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from error
    if found != sha256:
        raise ModelError(f"{path}: is not the file of this model (checksum {found[:12]}, expected {sha256[:12]})")
