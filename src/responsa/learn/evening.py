"""Activations made even before a network goes to 8 bits, by channel and by word.

The 8 bits of a layer's inputs are shared by all channels of all words of all texts, so that one that is large leaves
few steps to the others. Each channel is divided by a factor of its own, and the weights that read it are multiplied by
it (SmoothQuant, Xiao et al. 2023, section 4, equation 4): the same product, in which inputs vary less and weights,
which have a scale for each output, a little more. Where words differ most, in the middle of a feed-forward layer, each
is then divided by the largest of its channels, and what comes out is multiplied by that again, so that a word has the
8 bits to itself (token-wise, as in Yao et al. 2022).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from responsa.learn.graph import HEAD

if TYPE_CHECKING:
    import onnx

# How much of a channel's size goes into the weights. On 400 twins of rules .7 brought the logits of an entailment
# network nearer to those in 32 bits than .4 to .6: .038 apart; .063 by channels alone, .131 as it is. All layers by
# word, with .5, came to .030, and took a quarter more time instead of a tenth.
_SHARE = 0.7
_LEAST = 1e-5
_BY_WORD = "/outer/matmul"
_CHANNELS, _SMALLEST = "even.channels", "even.smallest"

Feed = Mapping[str, npt.NDArray[np.int64]]


def even(graph: onnx.ModelProto, feeds: Iterable[Feed]) -> None:
    """Put the divisions before every linear layer but the head's, in place; the factors are by the largest inputs of
    ``feeds``. Layers that read the same inputs share them."""
    from onnx import helper, numpy_helper

    together: dict[str, list[onnx.NodeProto]] = {}
    for node in graph.graph.node:
        if node.op_type == "MatMul" and node.name.endswith("/matmul") and not node.name.startswith(HEAD):
            together.setdefault(node.input[0], []).append(node)
    largest = _largest(graph, together, feeds)
    constants = {each.name: each for each in graph.graph.initializer}
    graph.graph.initializer.append(numpy_helper.from_array(np.array([-1]), _CHANNELS))
    graph.graph.initializer.append(numpy_helper.from_array(np.array([_LEAST], np.float32), _SMALLEST))
    parts: dict[str, list[onnx.NodeProto]] = {}
    for value, layers in together.items():
        weights = [numpy_helper.to_array(constants[node.input[1]]) for node in layers]
        factors = _factors(largest[value], weights)
        name = f"{layers[0].name.removesuffix('/matmul')}/even"
        graph.graph.initializer.append(numpy_helper.from_array(1 / factors, f"{name}.factors"))
        for node, weight in zip(layers, weights, strict=True):
            constants[node.input[1]].CopyFrom(numpy_helper.from_array(weight * factors[:, None], node.input[1]))
            node.input[0] = f"{name}.out"
        first = [helper.make_node("Mul", [value, f"{name}.factors"], [f"{name}.out"], name=name), layers[0]]
        parts[layers[0].name] = first if not layers[0].name.endswith(_BY_WORD) else [first[0], *_by_word(layers[0])]
    nodes = [part for node in graph.graph.node for part in parts.get(node.name, [node])]
    del graph.graph.node[:]
    graph.graph.node.extend(nodes)


def _factors(of_inputs: npt.NDArray[np.float32], weights: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
    """Of each channel, by its largest input and its largest weight; their geometric mean is 1."""
    of_weights = np.max([np.abs(weight).max(axis=1) for weight in weights], axis=0)
    factors = (of_inputs + _LEAST) ** _SHARE / (of_weights + _LEAST) ** (1 - _SHARE)
    return np.asarray(factors / np.exp(np.log(factors).mean()), np.float32)


def _by_word(layer: onnx.NodeProto) -> list[onnx.NodeProto]:
    """A layer between the division of each word and the multiplication that undoes it."""
    from onnx import helper

    value, made, name = layer.input[0], layer.output[0], layer.name
    before = (
        ("Abs", "sizes", [value]),
        ("ReduceMax", "largest", [f"{name}/sizes.out", _CHANNELS]),
        ("Max", "size", [f"{name}/largest.out", _SMALLEST]),
        ("Div", "words", [value, f"{name}/size.out"]),
    )
    nodes = [
        helper.make_node(operator, inputs, [f"{name}/{part}.out"], name=f"{name}/{part}")
        for operator, part, inputs in before
    ]
    layer.input[0], layer.output[0] = f"{name}/words.out", f"{name}.divided"
    return [
        *nodes,
        layer,
        helper.make_node("Mul", [f"{name}.divided", f"{name}/size.out"], [made], name=f"{name}/back"),
    ]


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
