"""A BERT as an ONNX graph, written node by node: the same weights give the same bytes, with any version of torch.

Shapes: batch and length are free. What is attended to is what ``attention_mask`` marks; positions count from 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from responsa.models.marks import TEXTS

if TYPE_CHECKING:
    import onnx

Weights = Mapping[str, npt.NDArray[np.float32]]

OPSET = 20  # the first with Gelu
IR_VERSION = 10  # read by ONNX Runtime 1.18 and later
HEAD = "head/"  # nodes of the head start with this; they stay in 32 bits, as does the next
SEGMENT = "embed/segment"
_MASKED = -1e9  # added to attention scores of what is not attended to; its exponential is 0


@dataclass(frozen=True)
class Shape:
    """What the weights do not tell."""

    layers: int
    heads: int
    epsilon: float


@dataclass
class _Graph:
    """Nodes and constants under construction; every method returns the name of the value it makes."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)

    def constant(self, name: str, value: npt.NDArray[np.generic]) -> str:
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, operator: str, name: str, *inputs: str, **attributes: object) -> str:
        from onnx import helper

        made = helper.make_node(operator, list(inputs), [f"{name}.out"], name=name, **attributes)
        self.nodes.append(made)
        return f"{name}.out"

    def linear(self, name: str, value: str, weight: npt.NDArray[np.float32], bias: npt.NDArray[np.float32]) -> str:
        product = self.node("MatMul", f"{name}/matmul", value, self.constant(f"{name}.weight", weight.T))
        return self.node("Add", f"{name}/add", product, self.constant(f"{name}.bias", bias))

    def normalised(self, name: str, value: str, weights: Weights, prefix: str, epsilon: float) -> str:
        scale = self.constant(f"{name}.scale", weights[f"{prefix}.weight"])
        shift = self.constant(f"{name}.shift", weights[f"{prefix}.bias"])
        return self.node("LayerNormalization", name, value, scale, shift, axis=-1, epsilon=epsilon)


def encoder_graph(weights: Weights, shape: Shape) -> onnx.ModelProto:
    """``input_ids``, ``attention_mask`` to the states of the last layer, (batch, length, hidden). All is segment 0."""
    graph = _Graph()
    states = _bert(graph, weights, shape, segments=False)
    hidden = weights["embeddings.word_embeddings.weight"].shape[1]
    return _model(graph, states, ["batch", "length", hidden], ["input_ids", "attention_mask"])


def pair_graph(weights: Weights, shape: Shape) -> onnx.ModelProto:
    """``input_ids``, ``attention_mask``, ``token_type_ids`` to logits, (batch, labels).

    ``weights`` are those of `base.pair_net`: "bert." with the pooler, and "head.".
    """
    graph = _Graph()
    bert = {name.removeprefix("bert."): value for name, value in weights.items() if name.startswith("bert.")}
    states = _bert(graph, bert, shape, segments=True)
    first = graph.node(
        "Slice",
        f"{HEAD}first",
        states,
        graph.constant("zero", np.array([0])),
        graph.constant("one", np.array([1])),
        graph.constant("axis.length", np.array([1])),
    )
    flat = graph.node("Squeeze", f"{HEAD}flat", first, "axis.length")
    dense = graph.linear(f"{HEAD}pooler", flat, bert["pooler.dense.weight"], bert["pooler.dense.bias"])
    pooled = graph.node("Tanh", f"{HEAD}tanh", dense)
    logits = graph.linear(f"{HEAD}classifier", pooled, weights["head.weight"], weights["head.bias"])
    labels = len(weights["head.bias"])
    return _model(graph, logits, ["batch", labels], ["input_ids", "attention_mask", "token_type_ids"])


def _bert(graph: _Graph, weights: Weights, shape: Shape, segments: bool) -> str:
    mask = graph.node("Cast", "mask/float", "attention_mask", to=1)
    absent = graph.node("Sub", "mask/absent", graph.constant("mask.one", np.array([1], np.float32)), mask)
    scaled = graph.node("Mul", "mask/scaled", absent, graph.constant("mask.low", np.array([_MASKED], np.float32)))
    bias = graph.node("Unsqueeze", "mask/bias", scaled, graph.constant("mask.axes", np.array([1, 2])))
    states = _embedded(graph, weights, shape, segments)
    for layer in range(shape.layers):
        states = _layer(graph, weights, shape, layer, states, bias)
    return states


def _embedded(graph: _Graph, weights: Weights, shape: Shape, segments: bool) -> str:
    """Word, position and segment vectors summed; where all is segment 0, its vector is added to the positions'."""
    words = graph.constant("words", weights["embeddings.word_embeddings.weight"])
    table = weights["embeddings.position_embeddings.weight"]
    kinds = weights["embeddings.token_type_embeddings.weight"]
    length = graph.node("Shape", "embed/length", "input_ids", start=1, end=2)
    start = graph.constant("embed.start", np.array([0]))
    # Slice, not Gather: it is not quantised, and costs less.
    positions = graph.constant("positions", table if segments else table + kinds[0])
    placed = graph.node("Slice", "embed/positions", positions, start, length)
    total = graph.node("Add", "embed/sum", graph.node("Gather", "embed/words", words, "input_ids"), placed)
    if segments and len(kinds) > TEXTS:
        kind = graph.node("Gather", SEGMENT, graph.constant("kinds", kinds), "token_type_ids")
        total = graph.node("Add", "embed/kinds", total, kind)
    elif segments:
        first, difference = graph.constant("kind.first", kinds[0]), graph.constant("kind.other", kinds[1] - kinds[0])
        kind = graph.node("Cast", "embed/kind", "token_type_ids", to=1)
        wide = graph.node("Unsqueeze", "embed/kind-wide", kind, graph.constant("kind.axis", np.array([2])))
        total = graph.node("Add", "embed/first", total, first)
        total = graph.node("Add", "embed/kinds", total, graph.node("Mul", "embed/other", wide, difference))
    return graph.normalised("embed/norm", total, weights, "embeddings.LayerNorm", shape.epsilon)


def _layer(graph: _Graph, weights: Weights, shape: Shape, layer: int, states: str, bias: str) -> str:
    prefix, name = f"encoder.layer.{layer}", f"layer{layer}"
    context = _attention(graph, weights, shape, layer, states, bias)
    out = f"{prefix}.attention.output"
    value = graph.linear(f"{name}/out", context, weights[f"{out}.dense.weight"], weights[f"{out}.dense.bias"])
    value = graph.node("Add", f"{name}/attended", value, states)
    states = graph.normalised(f"{name}/norm1", value, weights, f"{out}.LayerNorm", shape.epsilon)
    inner, outer = f"{prefix}.intermediate.dense", f"{prefix}.output.dense"
    value = graph.linear(f"{name}/inner", states, weights[f"{inner}.weight"], weights[f"{inner}.bias"])
    value = graph.node("Gelu", f"{name}/gelu", value)
    value = graph.linear(f"{name}/outer", value, weights[f"{outer}.weight"], weights[f"{outer}.bias"])
    value = graph.node("Add", f"{name}/fed", value, states)
    return graph.normalised(f"{name}/norm2", value, weights, f"{prefix}.output.LayerNorm", shape.epsilon)


def _attention(graph: _Graph, weights: Weights, shape: Shape, layer: int, states: str, bias: str) -> str:
    """Multi-head attention (Vaswani et al. 2017); the scale 1 / sqrt(size of a head) is in the query's weights."""
    prefix, name = f"encoder.layer.{layer}.attention.self", f"layer{layer}"
    hidden = weights[f"{prefix}.query.weight"].shape[0]
    size = hidden // shape.heads
    split = graph.constant(f"{name}.split", np.array([0, 0, shape.heads, size]))
    parts = {}
    for part, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
        weight, shift = weights[f"{prefix}.{part}.weight"], weights[f"{prefix}.{part}.bias"]
        scale = np.float32(1 / np.sqrt(size) if part == "query" else 1.0)
        made = graph.linear(f"{name}/{part}", states, weight * scale, shift * scale)
        made = graph.node("Reshape", f"{name}/{part}-heads", made, split)
        parts[part] = graph.node("Transpose", f"{name}/{part}-turned", made, perm=order)
    scores = graph.node("MatMul", f"{name}/scores", parts["query"], parts["key"])
    shares = graph.node("Softmax", f"{name}/shares", graph.node("Add", f"{name}/masked", scores, bias), axis=-1)
    context = graph.node("MatMul", f"{name}/context", shares, parts["value"])
    turned = graph.node("Transpose", f"{name}/context-turned", context, perm=[0, 2, 1, 3])
    return graph.node("Reshape", f"{name}/merged", turned, graph.constant(f"{name}.merge", np.array([0, 0, hidden])))


def _model(graph: _Graph, output: str, shape: list[str | int], inputs: list[str]) -> onnx.ModelProto:
    from onnx import TensorProto, checker, helper

    graph.node("Identity", "output", output)
    graph.nodes[-1].output[0] = "output"
    made = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "bert",
            [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in inputs],
            [helper.make_tensor_value_info("output", TensorProto.FLOAT, shape)],
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", OPSET)],
        producer_name="responsa",
        ir_version=IR_VERSION,
    )
    checker.check_model(made)
    return made
