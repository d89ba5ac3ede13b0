"""Activations made even, by channel and by word: the same network in 32 bits, a nearer one in 8, a head left alone."""

from __future__ import annotations

import numpy as np
import pytest

from learning import TOPICS, passage_text, question, tiny_base
from responsa.models.onnx import OnnxPairScorer

torch = pytest.importorskip("torch", reason="training needs torch: pip install 'responsa[train]'")
pytest.importorskip("transformers", reason="training needs transformers: pip install 'responsa[train]'")
onnx = pytest.importorskip("onnx", reason="export needs onnx: pip install 'responsa[train]'")

from responsa.learn import export as exporting  # noqa: E402
from responsa.learn.base import open_tokenizer, pair_logits, pair_net  # noqa: E402
from responsa.learn.card import Account  # noqa: E402
from responsa.learn.evening import even  # noqa: E402
from responsa.learn.export import Plan, export  # noqa: E402

PAIRS = [(question(topic, topic % 3), passage_text((topic * 5) % TOPICS)) for topic in range(TOPICS)]
ACCOUNT = Account(("pairs.jsonl",), "made here", {"epochs": 2}, 7, {"accuracy": 0.5}, "responsa train nli p")


@pytest.fixture(scope="module")
def uneven(tmp_path_factory):
    """A base, and a network of which some channels are a hundred times as large as the others."""
    start = tiny_base(tmp_path_factory.mktemp("base"), spread=0.3)
    net = pair_net(start, 3, seed=1).eval()
    with torch.no_grad():
        for layer in net["bert"].encoder.layer:
            layer.intermediate.dense.weight[:2] *= 100
            layer.output.dense.weight[:, :2] /= 100
    return start, net


def plan(start, **settings):
    return Plan("pairs", "uneven", start, 32, PAIRS, ("a", "b", "c"), **settings)


def logits(start, net):
    with torch.no_grad():
        tokenizer = open_tokenizer(start.tokenizer, 32)
        return torch.cat([pair_logits(net, tokenizer, [pair]) for pair in PAIRS]).numpy()


def evened(start, net):
    graph = exporting._graph(net, plan(start))
    even(graph, exporting._feeds(plan(start), marked=False))
    return graph


def test_in_8_bits_an_uneven_network_comes_nearer(uneven, tmp_path, monkeypatch):
    start, net = uneven
    apart = {}
    for name in ("even", "plain"):
        if name == "plain":
            monkeypatch.setattr(exporting, "even", lambda *_: None)
        export(net, plan(start), ACCOUNT, tmp_path / name)
        found = OnnxPairScorer(tmp_path / name).score(PAIRS)
        apart[name] = float(np.abs(found - logits(start, net)).mean())
    assert apart["even"] < 0.6 * apart["plain"]


def test_in_32_bits_it_is_the_same_network(uneven, tmp_path):
    import onnxruntime

    start, net = uneven
    graph, feeds = evened(start, net), list(exporting._feeds(plan(start), marked=False))
    onnx.checker.check_model(graph)
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    wanted = {put.name for put in session.get_inputs()}
    found = [session.run(None, {name: feed[name] for name in feed if name in wanted})[0][0] for feed in feeds]
    assert np.array(found) == pytest.approx(logits(start, net), abs=2e-3)


def test_every_layer_but_the_head_is_made_even(uneven):
    start, net = uneven
    graph = evened(start, net)
    layers = [node for node in graph.graph.node if node.name.endswith("/matmul")]
    read = {node.name: node.input[0] for node in layers}
    assert all(value.endswith(("/even.out", "/words.out")) != name.startswith("head/") for name, value in read.items())
    assert read["layer0/query/matmul"] == read["layer0/key/matmul"] == read["layer0/value/matmul"]
    by_word = {name for name, value in read.items() if value.endswith("/words.out")}
    assert by_word == {f"layer{layer}/outer/matmul" for layer in range(len(net["bert"].encoder.layer))}


def test_no_word_is_larger_than_one_and_a_text_of_zeros_stays_one(uneven):
    import onnxruntime

    start, net = uneven
    graph = evened(start, net)
    words = [node.output[0] for node in graph.graph.node if node.name.endswith("/matmul/words")]
    graph.graph.output.extend(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in words)
    for constant in graph.graph.initializer:
        if constant.name.startswith("embed/norm."):  # every word becomes a row of zeros
            constant.CopyFrom(onnx.numpy_helper.from_array(np.zeros(tuple(constant.dims), np.float32), constant.name))
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    feed = next(exporting._feeds(plan(start), marked=False))
    found = session.run(words, {put.name: feed[put.name] for put in session.get_inputs()})
    assert all(np.isfinite(value).all() and np.abs(value).max() <= 1 + 1e-6 for value in found)


def test_the_size_of_one_word_costs_the_others_nothing(uneven, tmp_path):
    """A word a thousand times as large as the others leaves them their 8 bits."""
    import onnxruntime
    from onnx import helper, numpy_helper

    rng = np.random.default_rng(3)
    weight = rng.normal(size=(16, 8)).astype(np.float32)
    values = rng.normal(size=(1, 6, 16)).astype(np.float32)
    values[0, 0] *= 1000
    far = {}
    for name in ("even", "plain"):
        graph = helper.make_model(
            helper.make_graph(
                [helper.make_node("MatMul", ["input", "l.weight"], ["made"], name="l/outer/matmul")],
                "one",
                [helper.make_tensor_value_info("input", onnx.TensorProto.FLOAT, [1, "length", 16])],
                [helper.make_tensor_value_info("made", onnx.TensorProto.FLOAT, [1, "length", 8])],
                [numpy_helper.from_array(weight, "l.weight")],
            ),
            opset_imports=[helper.make_opsetid("", 20)],
            ir_version=10,
        )
        if name == "even":
            even(graph, [{"input": values}])
        exporting._quantised(graph, tmp_path / f"{name}.onnx")
        session = onnxruntime.InferenceSession(tmp_path / f"{name}.onnx", providers=["CPUExecutionProvider"])
        found = session.run(None, {"input": values})[0]
        far[name] = float(np.abs(found - values @ weight)[0, 1:].mean())
    assert far["even"] < 0.05 < 1 < far["plain"]
