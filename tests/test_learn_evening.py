"""Activations made even: the same network in 32 bits, a nearer one in 8, and a head that is left alone."""

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
    graph = exporting._graph(net, plan(start))
    feeds = list(exporting._feeds(plan(start)))
    even(graph, feeds)
    onnx.checker.check_model(graph)
    session = onnxruntime.InferenceSession(graph.SerializeToString(), providers=["CPUExecutionProvider"])
    wanted = {put.name for put in session.get_inputs()}
    found = [session.run(None, {name: feed[name] for name in feed if name in wanted})[0][0] for feed in feeds]
    assert np.array(found) == pytest.approx(logits(start, net), abs=2e-3)


def test_every_layer_but_the_head_is_made_even(uneven):
    start, net = uneven
    graph = exporting._graph(net, plan(start))
    layers = [node.name for node in graph.graph.node if node.name.endswith("/matmul")]
    even(graph, exporting._feeds(plan(start)))
    evened = {node.name.removesuffix("/even") for node in graph.graph.node if node.name.endswith("/even")}
    assert evened == {name.removesuffix("/matmul") for name in layers if not name.startswith("head/")}
    assert len(evened) == 6 * len(net["bert"].encoder.layer)
