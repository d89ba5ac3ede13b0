"""From a model folder back to the weights of a network, so that training can go on from a model that was exported.

The reverse of `responsa.learn.graph`, for graphs made there. Weights that were put into 8 bits come back rounded to
them, position vectors beyond those that the model reads do not come back, nor does an encoder's segment vector, which
is in its positions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from responsa.errors import ModelError
from responsa.learn.train import import_torch
from responsa.models.marks import TEXTS
from responsa.models.onnx import GRAPH

if TYPE_CHECKING:
    import torch

Constants = Mapping[str, npt.NDArray[np.generic]]
Floats = npt.NDArray[np.float32]

_LAYER = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "out": "attention.output.dense",
    "inner": "intermediate.dense",
    "outer": "output.dense",
}
_NORMS = {"norm1": "attention.output.LayerNorm", "norm2": "output.LayerNorm"}


def restored(folder: Path) -> dict[str, torch.Tensor]:
    """The weights of a model folder under the names that a training run keeps them by: "bert." and, of a cross-encoder
    or classifier, "head.".

    ModelError where the graph is none that `responsa.learn.export` writes.
    """
    import onnx
    from onnx import numpy_helper

    path = folder / GRAPH
    constants = {each.name: numpy_helper.to_array(each) for each in onnx.load(path).graph.initializer}
    try:
        found = dict(_weights(constants))
    except KeyError as error:
        raise ModelError(
            f"{path}: lacks {error.args[0]!r}; training can only go on from models that Responsa exported"
        ) from error
    torch = import_torch()
    return {name: torch.from_numpy(np.array(value, np.float32, order="C")) for name, value in found.items()}


def _weights(constants: Constants) -> Iterator[tuple[str, Floats]]:
    for name, value in _embeddings(constants):
        yield f"bert.embeddings.{name}", value
    layers = sum(name.endswith("/norm1.scale") for name in constants)
    for layer in range(layers):
        for name, value in _layer(constants, f"layer{layer}"):
            yield f"bert.encoder.layer.{layer}.{name}", value
    if "head/classifier.bias" in constants:
        for of, name in (("bert.pooler.dense", "head/pooler"), ("head", "head/classifier")):
            yield f"{of}.weight", _matrix(constants, name).T
            yield f"{of}.bias", _exact(constants, f"{name}.bias")


def _embeddings(constants: Constants) -> Iterator[tuple[str, Floats]]:
    positions = _exact(constants, "positions")
    yield "word_embeddings.weight", _values(constants, "words")
    yield "position_embeddings.weight", positions
    kinds = np.zeros((TEXTS, positions.shape[1]), np.float32)
    if "kinds" in constants:
        kinds = _exact(constants, "kinds")
    elif "kind.first" in constants:
        first = _exact(constants, "kind.first")
        kinds = np.stack([first, first + _exact(constants, "kind.other")])
    yield "token_type_embeddings.weight", kinds
    yield from _norm(constants, "embed/norm", "LayerNorm")


def _layer(constants: Constants, layer: str) -> Iterator[tuple[str, Floats]]:
    size = constants[f"{layer}.split"][3]
    for part, name in _LAYER.items():
        scale = np.sqrt(np.float32(size)) if part == "query" else np.float32(1)
        yield f"{name}.weight", _matrix(constants, f"{layer}/{part}").T * scale
        yield f"{name}.bias", _exact(constants, f"{layer}/{part}.bias") * scale
    for part, name in _NORMS.items():
        yield from _norm(constants, f"{layer}/{part}", name)


def _norm(constants: Constants, part: str, name: str) -> Iterator[tuple[str, Floats]]:
    yield f"{name}.weight", _exact(constants, f"{part}.scale")
    yield f"{name}.bias", _exact(constants, f"{part}.shift")


def _matrix(constants: Constants, name: str) -> Floats:
    """Inputs by outputs, with what made the inputs even (`responsa.learn.evening`) taken back into it."""
    found = _values(constants, f"{name}.weight")
    layer, _, part = name.partition("/")
    # The three that read the same share one; models of earlier versions have one for each.
    shared = f"{layer}/query/even.factors" if part in ("key", "value") else ""
    even = next((each for each in (f"{name}/even.factors", shared) if each in constants), None)
    return found * _exact(constants, even)[:, None] if even else found


def _values(constants: Constants, name: str) -> Floats:
    """In 32 bits, whether it was put into 8 or not."""
    if name in constants:
        return _exact(constants, name)
    bits, zero, scale = (_exact(constants, f"{name}_{part}") for part in ("quantized", "zero_point", "scale"))
    return (bits - zero) * scale


def _exact(constants: Constants, name: str) -> Floats:
    return np.asarray(constants[name], np.float32)
