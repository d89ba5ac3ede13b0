"""Activations made even before a network goes to 8 bits, by channel and by word.

The 8 bits of a layer's inputs are shared by all channels of all words of all texts, so that one that is large leaves
few steps to the others. Each channel is divided by a factor of its own, and the weights that read it are multiplied by
it (SmoothQuant, Xiao et al. 2023, section 4, equation 4): the same product, in which inputs vary less and weights,
which have a scale for each output, a little more. Then each word is divided by the largest of its channels, and what
comes out is multiplied by that again, so that a word has the 8 bits to itself (token-wise, as in Yao et al. 2022).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from responsa.learn.graph import HEAD

if TYPE_CHECKING:
    import onnx

# How much of a channel's size goes into the weights. Of .4 to .7, on 400 twins of rules, .5 brought the logits of an
# entailment network nearest to those in 32 bits: .029 apart; .063 by channels alone, .131 as it is.
_SHARE = 0.5
_LEAST = 1e-5

Feed = Mapping[str, npt.NDArray[np.int64]]


def even(graph: onnx.ModelProto, feeds: Iterable[Feed]) -> None:
    """Put the divisions before every linear layer but the head's, in place; the factors are by the largest inputs of
    ``feeds``. Layers that read the same inputs share them."""
    from onnx import numpy_helper

    together: dict[str, list[onnx.NodeProto]] = {}
    for node in graph.graph.node:
        if node.op_type == "MatMul" and node.name.endswith("/matmul") and not node.name.startswith(HEAD):
            together.setdefault(node.input[0], []).append(node)
    largest = _largest(graph, together, feeds)
    constants = {each.name: each for each in graph.graph.initializer}
    graph.graph.initializer.append(numpy_helper.from_array(np.array([-1]), _CHANNELS))
    graph.graph.initializer.append(numpy_helper.from_array(np.array([_LEAST], np.float32), _SMALLEST))
    beside: dict[str, list[onnx.NodeProto]] = {}
    for value, layers in together.items():
        weights = [numpy_helper.to_array(constants[node.input[1]]) for node in layers]
        of_weights = np.max([np.abs(weight).max(axis=1) for weight in weights], axis=0) + _LEAST
        factors = (largest[value] + _LEAST) ** _SHARE / of_weights ** (1 - _SHARE)
        factors = (factors / np.exp(np.log(factors).mean())).astype(np.float32)
        for node, weight in zip(layers, weights, strict=True):
            constants[node.input[1]].CopyFrom(numpy_helper.from_array(weight * factors[:, None], node.input[1]))
        name = f"{layers[0].name.removesuffix('/matmul')}/even"
        graph.graph.initializer.append(numpy_helper.from_array(1 / factors, f"{name}.factors"))
        beside[layers[0].name] = [*_divided(name, value), layers[0]]
        for node in layers:
            beside.setdefault(node.name, [node]).append(_multiplied(name, node))
    nodes = [each for node in graph.graph.node for each in beside.get(node.name, [node])]
    del graph.graph.node[:]
    graph.graph.node.extend(nodes)


_CHANNELS, _SMALLEST = "even.channels", "even.smallest"


def _divided(name: str, value: str) -> list[onnx.NodeProto]:
    """By the factors of the channels, then by the largest of each word."""
    from onnx import helper

    return [
        helper.make_node(operator, inputs, [f"{name}{part}.out"], name=f"{name}{part}")
        for operator, part, inputs in (
            ("Mul", "", [value, f"{name}.factors"]),
            ("Abs", "/sizes", [f"{name}.out"]),
            ("ReduceMax", "/largest", [f"{name}/sizes.out", _CHANNELS]),
            ("Max", "/size", [f"{name}/largest.out", _SMALLEST]),
            ("Div", "/words", [f"{name}.out", f"{name}/size.out"]),
        )
    ]


def _multiplied(name: str, layer: onnx.NodeProto) -> onnx.NodeProto:
    """What ``layer`` makes of the divided words, for which it is rewired, brought back to their sizes."""
    from onnx import helper

    made, raw = layer.output[0], f"{layer.name}/words.out"
    layer.input[0], layer.output[0] = f"{name}/words.out", raw
    return helper.make_node("Mul", [raw, f"{name}/size.out"], [made], name=f"{layer.name}/back")


def _largest(graph: onnx.ModelProto, names: Iterable[str], feeds: Iterable[Feed]) -> dict[str, npt.NDArray[np.float32]]:
    """The largest size of each channel of these values."""
    import onnxruntime
    from onnx import TensorProto, helper

    wanted = sorted(names)
    told = type(graph)()
    told.CopyFrom(graph)
    told.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in wanted)
    session = onnxruntime.InferenceSession(told.SerializeToString(), providers=["CPUExecutionProvider"])
    inputs = {put.name for put in session.get_inputs()}
    found: dict[str, npt.NDArray[np.float32]] = {}
    for feed in feeds:
        values = session.run(wanted, {name: value for name, value in feed.items() if name in inputs})
        for name, value in zip(wanted, values, strict=True):
            most = np.abs(value).max(axis=tuple(range(value.ndim - 1)))
            found[name] = np.maximum(found.get(name, most), most)
    return found
