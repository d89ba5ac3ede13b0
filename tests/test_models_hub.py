"""Hub models on tiny networks, against plain transformers and numpy."""

from __future__ import annotations

import importlib.metadata
import json
import shutil
import sys
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

sentence_transformers = pytest.importorskip("sentence_transformers", reason="responsa[hub] is not installed")
if int(importlib.metadata.version("sentence-transformers").split(".")[0]) < 6:
    pytest.skip("sentence-transformers 6 is needed", allow_module_level=True)

import huggingface_hub  # noqa: E402

from responsa.errors import InputError, MissingDependency, ModelError, NotFound  # noqa: E402
from responsa.models.hub import HubEncoder, HubPairScorer, contextual, dense, late, sparse  # noqa: E402
from responsa.models.hub.alone import alone  # noqa: E402
from responsa.models.hub.contextual import HubContextualEncoder  # noqa: E402
from responsa.models.hub.source import Source  # noqa: E402
from responsa.models.load import load_encoder, load_late, load_pairs, load_reranker, load_sparse  # noqa: E402
from responsa.models.prompts import icl_prefix  # noqa: E402
from tinymodels import (  # noqa: E402
    TEXTS,
    in_cache,
    outputs,
    poison,
    sentence_transformer,
    states,
    tiny_bert,
    tokens_of,
    unit,
    with_head,
)

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

CLOSE = 1e-5
PAIRS = [("what about case2", "the firm must report law2"), ("rule", ""), ("", "law3"), ("the rule", "the firm " * 40)]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Folders of tiny models, by name."""
    folder = tmp_path_factory.mktemp("models")
    bert, other = tiny_bert(folder / "bert"), tiny_bert(folder / "other", seed=9)
    models = {
        "bert": bert,
        "other": other,
        "dot": sentence_transformer(bert, folder / "dot", "cls_token", similarity_fn_name="dot"),
        "prompted": sentence_transformer(bert, folder / "prompted", "mean_tokens", prompts={"query": "what about ", "document": ""}),
        "reranker": with_head(bert, folder / "reranker", "BertForSequenceClassification"),
        "nli": with_head(bert, folder / "nli", "BertForSequenceClassification", ("contradiction", "entailment", "neutral")),
        "splade": with_head(bert, folder / "splade", "BertForMaskedLM"),
    }  # fmt: skip
    late = sentence_transformers.MultiVectorEncoder(str(bert), device="cpu")
    late.save_pretrained(str(folder / "late"))
    return {**models, "late": folder / "late"}


@pytest.fixture
def copied(made, tmp_path):
    """A copy of a model's folder, to be spoilt."""

    def copy(name):
        return shutil.copytree(made[name], tmp_path / name)

    return copy


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache of the hub, and no hub to reach."""
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path / "hub"))
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")
    return tmp_path / "hub"


# --- dense ---------------------------------------------------------------------------------------------------


def test_a_plain_model_is_pooled_by_the_mean_and_compared_by_cosine(made):
    encoder = load_encoder(f"hf:{made['bert']}")
    expected = np.vstack([unit(states(made["bert"], text).mean(axis=0)) for text in TEXTS])
    for role in ("query", "passage"):
        assert np.allclose(encoder.encode(TEXTS, role), expected, atol=CLOSE)
    assert encoder.dimension == 32


def test_the_models_own_config_says_how_it_pools_and_compares(made):
    expected = np.vstack([states(made["dot"], text)[0] for text in TEXTS])
    assert np.allclose(load_encoder(f"hf:{made['dot']}").encode(TEXTS, "query"), expected, atol=CLOSE)
    assert (np.linalg.norm(expected, axis=1) > 2).all()  # so that bringing to length one would show
    by_cosine = load_encoder(f"hf:{made['dot']}?similarity=cosine").encode(TEXTS, "query")
    assert np.allclose(by_cosine, unit(expected), atol=CLOSE)


def test_batches_keep_the_order(made):
    texts = [" ".join(["report"] * (7 * n % 11)) for n in range(11)]
    alone = load_encoder(f"hf:{made['bert']}?batch=1").encode(texts, "passage")
    assert np.allclose(load_encoder(f"hf:{made['bert']}?batch=4").encode(texts, "passage"), alone, atol=CLOSE)
    assert load_encoder(f"hf:{made['bert']}").encode([], "query").shape == (0, 32)


def mean(folder, text):
    return unit(states(folder, text).mean(axis=0))


def test_prompts_of_the_model_hold_until_others_are_given(made):
    folder = made["prompted"]
    own = load_encoder(f"hf:{folder}")
    assert np.allclose(own.encode(["case2"], "query")[0], mean(folder, "what about case2"), atol=CLOSE)
    assert np.allclose(own.encode(["case2"], "passage")[0], mean(folder, "case2"), atol=CLOSE)
    given = load_encoder(f"hf:{folder}?query_prefix=the+rule+&query_suffix=+to&passage_prefix=firm+")
    assert np.allclose(given.encode(["case2"], "query")[0], mean(folder, "the rule case2 to"), atol=CLOSE)
    assert np.allclose(given.encode(["case2"], "passage")[0], mean(folder, "firm case2"), atol=CLOSE)
    none = load_encoder(f"hf:{folder}?query_prefix=")
    assert np.allclose(none.encode(["case2"], "query")[0], mean(folder, "case2"), atol=CLOSE)


def test_long_texts_are_cut_and_what_is_round_them_is_not(made):
    folder = made["bert"]
    cut = load_encoder(f"hf:{folder}?max_tokens=3&query_prefix=what+about+&query_suffix=+case2")
    found = cut.encode(["law1 law2 law3 law4 law5"], "query")[0]
    assert np.allclose(found, mean(folder, "what about law1 law2 law3 case2"), atol=CLOSE)
    # 64 places, of which the suffix and two marks take three
    ended = load_encoder(f"hf:{folder}?query_suffix=+case2").encode(["rule " * 200], "query")[0]
    assert np.allclose(ended, mean(folder, "rule " * 61 + "case2"), atol=CLOSE)
    whole = load_encoder(f"hf:{folder}").encode(["rule " * 200], "query")[0]
    assert np.allclose(whole, mean(folder, "rule " * 62), atol=CLOSE)
    with pytest.raises(InputError, match=r"reads at most 64 tokens, of which 2 go to .* from 1 to 62, got 63"):
        load_encoder(f"hf:{folder}?max_tokens=63").encode(["rule"], "query")


def test_two_encoders_of_an_asymmetric_pair(made, tmp_path):
    encoder = load_encoder(f"hf:{made['bert']}?passage_model={made['other']}&pooling=cls&similarity=dot")
    assert np.allclose(encoder.encode(["rule"], "query")[0], states(made["bert"], "rule")[0], atol=CLOSE)
    assert np.allclose(encoder.encode(["rule"], "passage")[0], states(made["other"], "rule")[0], atol=CLOSE)
    assert encoder.name != load_encoder(f"hf:{made['bert']}?pooling=cls&similarity=dot").name


def test_dragon_plus_by_its_short_name(made, cache):
    in_cache(made["bert"], cache, "facebook/dragon-plus-query-encoder")
    in_cache(made["other"], cache, "facebook/dragon-plus-context-encoder")
    encoder = load_encoder("hf:dragon-plus")
    assert np.allclose(encoder.encode(["rule"], "query")[0], states(made["bert"], "rule")[0], atol=CLOSE)
    assert np.allclose(encoder.encode(["rule"], "passage")[0], states(made["other"], "rule")[0], atol=CLOSE)
    assert encoder.name.startswith("facebook/dragon-plus-query-encoder@")


@pytest.mark.parametrize("shots", [0, 1])
def test_examples_in_the_query_of_bge_en_icl(made, tmp_path, shots):
    rows = [{"question": f"case{n}", "passage": f"law{n}"} for n in range(3)]
    (tmp_path / "train.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    given = f"&shots={shots}&examples={tmp_path / 'train.jsonl'}" if shots else ""
    encoder = load_encoder(f"hf:{made['bert']}?prompt=bge-en-icl{given}")
    drawn = [(row["question"], row["passage"]) for row in rows if row["question"] in encoder.query_prefix]
    assert len(drawn) == shots
    expected = mean(made["bert"], f"{icl_prefix(drawn)}what\n<response>")
    assert np.allclose(encoder.encode(["what"], "query")[0], expected, atol=CLOSE)
    assert np.allclose(encoder.encode(["what"], "passage")[0], mean(made["bert"], "what"), atol=CLOSE)


def test_nv_embed_ends_every_text(made):
    encoder = load_encoder(f"hf:{made['bert']}?prompt=nv-embed-v2")
    assert np.allclose(encoder.encode(["law3"], "passage")[0], mean(made["bert"], "law3</s>"), atol=CLOSE)


CHANGES = ("query_prefix=a", "query_suffix=a", "passage_prefix=a", "max_tokens=9", "pooling=cls", "similarity=dot",
           "trust_remote_code=yes", "prompt=bge-en-icl", "prompt=nv-embed-v2")  # fmt: skip


def test_the_name_tells_what_changes_the_vectors_and_only_that(made):
    base = load_encoder(f"hf:{made['bert']}").name
    assert base.startswith("bert@")
    names = {load_encoder(f"hf:{made['bert']}?{setting}").name for setting in CHANGES}
    names.add(load_encoder(f"hf:{made['bert']}?passage_model={made['other']}").name)
    assert len(names | {base}) == len(CHANGES) + 2
    assert load_encoder(f"hf:{made['bert']}?batch=1&device=cpu").name == base


def test_a_folder_with_other_weights_has_another_name_and_is_read_anew(made, copied):
    folder = copied("bert")
    encoder = load_encoder(f"hf:{folder}")
    name, vector = encoder.name, encoder.encode(["rule"], "query")
    assert name == load_encoder(f"hf:{made['bert']}").name
    (folder / "README.md").write_text("a card changes nothing")
    assert encoder.name == name
    shutil.copy(made["other"] / "model.safetensors", folder / "model.safetensors")
    assert encoder.name != name
    assert not np.allclose(encoder.encode(["rule"], "query"), vector, atol=0.01)


def test_a_model_of_the_hub_is_named_by_its_commit(made, cache):
    in_cache(made["bert"], cache, "org/model", "a" * 40)
    first = load_encoder("hf:org/model").name
    in_cache(made["bert"], cache, "org/later", "b" * 40)
    assert first.startswith("org/model@")
    assert first.split("@")[1] != load_encoder("hf:org/later").name.split("@")[1]


# --- what goes wrong -------------------------------------------------------------------------------------------


def test_a_model_that_is_not_here_and_cannot_be_fetched(cache, monkeypatch):
    for load in (load_encoder, load_late, load_sparse):
        with pytest.raises(
            ModelError, match=r"org/model: is not in the local cache and the hub cannot be reached .*hf:/path"
        ):
            load("hf:org/model").encode(["a"], "query")
    with pytest.raises(ModelError, match="is not in the local cache"):
        load_reranker("hf:org/model").score([("a", "b")])
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match=r"org/model: .* HF_HUB_OFFLINE forbids to fetch it; unset it, or"):
        load_encoder("hf:org/model").encode(["a"], "query")


def test_a_model_that_the_hub_does_not_have(cache, monkeypatch):
    class Hub(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_error(404)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        threading.Thread(target=server.serve_forever).start()
        monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", f"http://127.0.0.1:{server.server_port}")
        with pytest.raises(ModelError, match=r"org/model: the hub has no such model for you \(status 404\)"):
            load_encoder("hf:org/model").encode(["a"], "query")
        server.shutdown()


def test_a_cached_model_with_a_file_missing(made, cache):
    in_cache(made["bert"], cache, "org/model")
    (cache / "models--org--model" / "snapshots" / ("0" * 40) / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="org/model: cannot be opened as a dense encoder"):
        load_encoder("hf:org/model").encode(["a"], "query")


@pytest.mark.parametrize("name", ["hf:/no/such/folder", "hf:./nowhere", "hf:a/b/c"])
def test_a_folder_that_does_not_exist(name):
    with pytest.raises(NotFound, match=r"no model folder .*; give a folder that exists or a hub id"):
        load_encoder(name).encode(["a"], "query")


def test_damaged_weights(copied):
    folder = copied("bert")
    (folder / "model.safetensors").write_bytes(b"\x00" * 100)
    with pytest.raises(ModelError, match="bert: cannot be opened as a dense encoder"):
        load_encoder(f"hf:{folder}").encode(["a"], "query")


@pytest.mark.parametrize(
    ("load", "name", "said"),
    [
        (load_encoder, "late", "is no dense encoder: its config says MultiVectorEncoder"),
        (load_late, "bert", r"is no late-interaction encoder: its config says \['BertModel'\]"),
        (load_late, "dot", "is no late-interaction encoder: its config says SentenceTransformer"),
        (load_sparse, "bert", r"is no sparse encoder: its config says \['BertModel'\]"),
        (load_sparse, "dot", "is no sparse encoder: its config says SentenceTransformer"),
    ],
)
def test_a_model_of_another_kind(made, load, name, said):
    with pytest.raises(ModelError, match=said):
        load(f"hf:{made[name]}").encode(["a"], "query")


@pytest.mark.parametrize("name", ["bert", "splade", "dot"])
def test_a_model_without_a_classifier_is_no_reranker(made, name):
    with pytest.raises(ModelError, match="is no cross-encoder"):
        load_reranker(f"hf:{made[name]}").score([("a", "b")])


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("pooling=cls", "says itself how its vectors are pooled; leave out pooling=cls"),
        ("pooling=first", "pooling: 'first' is not one of cls, lasttoken"),
        ("similarity=euclidean", "'euclidean' is not one of cosine, dot"),
        ("batch=0", "batch: expected a number above 0, got 0"),
        ("trust_remote_code=maybe", "setting 'trust_remote_code': expected yes or no, got 'maybe'"),
        ("max_token=3", "did you mean 'max_tokens'"),
    ],
)
def test_settings_that_cannot_be_used(made, setting, said):
    with pytest.raises(InputError, match=said):
        load_encoder(f"hf:{made['dot']}?{setting}").encode(["a"], "query")


def test_a_similarity_that_cannot_be_searched(made, copied):
    folder = copied("dot")
    (folder / "config_sentence_transformers.json").write_text('{"similarity_fn_name": "euclidean"}')
    with pytest.raises(ModelError, match="compares vectors by 'euclidean'"):
        load_encoder(f"hf:{folder}").encode(["a"], "query")


def test_vectors_of_two_lengths(made, tmp_path):
    from transformers import BertConfig, BertModel

    small = shutil.copytree(made["bert"], tmp_path / "small")
    config = BertConfig.from_pretrained(small)
    config.hidden_size, config.num_attention_heads = 16, 2
    BertModel(config).save_pretrained(small)
    with pytest.raises(ModelError, match="do not belong together: their vectors have 32 and 16 numbers"):
        _ = load_encoder(f"hf:{made['bert']}?passage_model={small}").dimension


def test_numbers_that_are_not_finite_name_text_and_model(copied):
    folder = copied("bert")
    from safetensors.numpy import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    (key,) = [key for key in weights if key.endswith("embeddings.word_embeddings.weight")]
    weights[key][5:6] = np.nan  # the first word of the vocabulary: "firm"
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    encoder = load_encoder(f"hf:{folder}")
    assert np.isfinite(encoder.encode(["rule", "report"], "query")).all()
    with pytest.raises(ModelError, match=r"bert: gave a value that is not finite for text 2 of 3"):
        encoder.encode(["rule", "the firm", "report"], "query")
    for name, load in (("splade", load_sparse), ("late", load_late)):
        poison(copied(name))
        with pytest.raises(ModelError, match="not finite"):
            load(f"hf:{folder.parent / name}").encode(["rule"], "query")
    poison(copied("reranker"))
    with pytest.raises(ModelError, match="not finite for pair 1 of 1"):
        load_reranker(f"hf:{folder.parent / 'reranker'}").score([("a", "b")])


def test_code_of_a_model_is_run_only_where_it_is_trusted(copied, tmp_path, monkeypatch):
    folder = copied("bert")
    ran = tmp_path / "ran"
    (folder / "own.py").write_text(
        "from pathlib import Path\nfrom transformers import BertConfig, BertModel\n"
        f"Path({str(ran)!r}).touch()\n"
        "class OwnConfig(BertConfig):\n    model_type = 'own'\n"
        "class OwnModel(BertModel):\n    config_class = OwnConfig\n"
    )
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.OwnConfig", "AutoModel": "own.OwnModel"}}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError, match=r"brings Python of its own, .* add trust_remote_code=yes to the model's name"):
        load_encoder(f"hf:{folder}").encode(["rule"], "query")
    assert not ran.exists()
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    trusted = load_encoder(f"hf:{folder}?trust_remote_code=yes")
    assert trusted.encode(["rule"], "query").shape == (1, 32)
    assert ran.exists()


def test_a_missing_library_names_the_fix(made, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    dense._open.cache_clear()
    with pytest.raises(MissingDependency, match=r"pip install 'responsa\[hub\]'"):
        HubEncoder(str(made["bert"])).encode(["a"], "query")


def test_an_unknown_role(made):
    for load, name in ((load_encoder, "bert"), (load_sparse, "splade"), (load_late, "late")):
        with pytest.raises(InputError, match="role: 'question' is not one of"):
            load(f"hf:{made[name]}").encode(["a"], "question")


# --- cross-encoders --------------------------------------------------------------------------------------------


def logits(folder, pair, longest=64):
    return outputs(folder, "BertForSequenceClassification", tokens_of(folder, *pair, longest=longest))


def test_a_reranker_gives_raw_logits(made):
    reranker = load_reranker(f"hf:{made['reranker']}?batch=2")
    expected = np.vstack([logits(made["reranker"], pair) for pair in PAIRS])
    assert np.allclose(reranker.score(PAIRS), expected, atol=CLOSE)
    assert reranker.labels == ("relevance",)
    assert reranker.score([]).shape == (0, 1)
    short = load_reranker(f"hf:{made['reranker']}?max_tokens=8")
    assert np.allclose(short.score(PAIRS[3:]), logits(made["reranker"], PAIRS[3], 8), atol=CLOSE)
    assert short.name != reranker.name


def test_one_of_several_labels(made):
    expected = np.vstack([logits(made["nli"], pair) for pair in PAIRS])
    chosen = load_reranker(f"hf:{made['nli']}?label=entailment")
    assert chosen.labels == ("entailment",)
    assert np.allclose(chosen.score(PAIRS), expected[:, 1:2], atol=CLOSE)
    every = load_pairs(f"hf:{made['nli']}")
    assert every.labels == ("contradiction", "entailment", "neutral")
    assert np.allclose(every.score(PAIRS), expected, atol=CLOSE)
    assert chosen.name != every.name
    with pytest.raises(ModelError, match="has the labels contradiction, entailment, neutral; pick one: label="):
        load_reranker(f"hf:{made['nli']}").score(PAIRS)
    with pytest.raises(ModelError, match="has no label 'entails'; did you mean 'entailment'"):
        HubPairScorer(str(made["nli"]), label="entails").score(PAIRS)


# --- sparse and late -------------------------------------------------------------------------------------------


def test_splade_weights(made):
    rows = load_sparse(f"hf:{made['splade']}?batch=2").encode(TEXTS, "passage")
    assert len(rows.indptr) == len(TEXTS) + 1
    for place, text in enumerate(TEXTS):
        found = outputs(made["splade"], "BertForMaskedLM", tokens_of(made["splade"], text))
        expected = np.log1p(np.maximum(found, 0)).max(axis=0)  # Formal et al., 2021, eq. 2 with max
        part = slice(rows.indptr[place], rows.indptr[place + 1])
        assert rows.terms[part].tolist() == np.flatnonzero(expected).tolist()
        assert np.allclose(rows.weights[part], expected[expected > 0], atol=CLOSE)
    assert load_sparse(f"hf:{made['splade']}").encode([], "query").indptr.tolist() == [0]
    assert load_sparse(f"hf:{made['splade']}").name != load_sparse(f"hf:{made['splade']}?max_tokens=9").name


def test_late_interaction_vectors(made):
    from safetensors.numpy import load_file

    encoder = load_late(f"hf:{made['late']}")
    (projection,) = (load_file(path)["linear.weight"] for path in made["late"].glob("*_Dense/model.safetensors"))
    found = encoder.encode(TEXTS, "passage")
    for rows, text in zip(found, TEXTS, strict=True):
        assert np.allclose(rows, unit(states(made["late"], text) @ projection.T), atol=CLOSE)
    assert encoder.dimension == projection.shape[0]
    assert encoder.encode([], "query") == []


def test_a_colbert_checkpoint_of_stanford(made, tmp_path):
    """BERT with a projection beside it, marks of queries and passages, and queries filled up with [MASK]."""
    from safetensors.numpy import load_file, save_file

    folder = shutil.copytree(made["bert"], tmp_path / "colbert")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"architectures": ["HF_ColBERT"]}))
    weights = load_file(folder / "model.safetensors")
    projection = np.random.default_rng(0).normal(size=(8, 32)).astype(np.float32)
    save_file(
        {**{f"bert.{name}": value for name, value in weights.items()}, "linear.weight": projection},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )
    told = {"query_maxlen": 12, "doc_maxlen": 20, "dim": 8, "query_token_id": "what", "doc_token_id": "rule",
            "mask_punctuation": False, "attend_to_mask_tokens": False}  # fmt: skip
    (folder / "artifact.metadata").write_text(json.dumps(told))
    encoder = load_late(f"hf:{folder}")
    (rows,) = encoder.encode(["law3 within days"], "passage")
    assert rows.shape == (6, 8)  # [CLS], the mark, three words, [SEP]
    assert np.allclose(rows, unit(states(made["bert"], "rule law3 within days") @ projection.T), atol=1e-4)
    (asked,) = encoder.encode(["case3"], "query")
    assert asked.shape == (12, 8)
    assert np.allclose(asked[:4], unit(states(made["bert"], "what case3") @ projection.T), atol=1e-4)


def test_where_a_model_lies(made, cache):
    in_cache(made["bert"], cache, "org/model", "c" * 40)
    assert Source("org/model").fingerprint == "c" * 40
    assert Source("org/model").short == "org/model"
    assert Source(str(made["bert"])).short == "bert"


def test_pairs_in_8_bits_are_near_and_have_a_name_of_their_own(made):
    plain, small = (load_pairs(f"hf:{made['nli']}{more}") for more in ("", "?int8=yes"))
    exact, found = plain.score(PAIRS), small.score(PAIRS)
    assert not np.array_equal(exact, found)
    assert np.abs(exact - found).max() < 0.15 * np.abs(exact).max()
    assert plain.name != small.name
    with pytest.raises(InputError, match="runs on the CPU alone"):
        load_pairs(f"hf:{made['nli']}?int8=yes&device=mps")


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_a_checkpoint_in_16_bits_runs_in_32_on_the_cpu(copied, tmp_path, kind):
    import torch
    import transformers

    folder, whole = copied("nli"), tmp_path / "whole"
    kinds = transformers.BertForSequenceClassification
    kinds.from_pretrained(folder).to(getattr(torch, kind)).save_pretrained(folder)
    kinds.from_pretrained(folder, dtype=torch.float32).save_pretrained(whole)  # weights cut to 16 bits, sums in 32
    inputs = [tokens_of(folder, *pair) for pair in PAIRS]
    expected = np.vstack([outputs(whole, "BertForSequenceClassification", each) for each in inputs])
    assert np.allclose(load_pairs(f"hf:{folder}?device=cpu").score(PAIRS), expected, atol=CLOSE)
    small = load_pairs(f"hf:{folder}?int8=yes").score(PAIRS)
    assert np.abs(expected - small).max() < 0.15 * np.abs(expected).max()


@pytest.mark.parametrize("kind", ["dense", "sparse", "late", "contextual"])
def test_a_model_runs_for_one_thread_at_a_time(made, kind, monkeypatch):
    module = {"dense": dense, "sparse": sparse, "late": late, "contextual": contextual}[kind]
    models = []
    monkeypatch.setattr(module, "alone", lambda model: (models.append(model), alone(model))[1])
    encode = {
        "dense": lambda: load_encoder(f"hf:{made['bert']}").encode(TEXTS, "passage"),
        "sparse": lambda: load_sparse(f"hf:{made['splade']}").encode(TEXTS, "passage"),
        "late": lambda: load_late(f"hf:{made['late']}").encode(TEXTS, "passage"),
        "contextual": lambda: HubContextualEncoder(str(made["bert"]), 1).encode(TEXTS),
    }[kind]
    encode()  # opens it
    with ThreadPoolExecutor(1) as pool:
        with alone(models[0]):
            second = pool.submit(encode)
            assert not wait([second], 0.5).done
        assert second.result(60) is not None
    assert models[1] is models[0]
