"""Models by name: the cache round APIs, prompts with examples, models that ship, settings."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sqlite3
import sys
from pathlib import Path

import numpy as np
import pytest

from responsa.errors import InputError, MissingDependency, ModelError, NotFound
from responsa.models import checks, embedded, load, options
from responsa.models.load import load_encoder, load_late, load_pairs, load_reranker, load_sparse
from responsa.models.prompts import (
    BGE_ICL_SUFFIX,
    EXAMPLE_TOKENS,
    NV_EMBED_END,
    NV_EMBED_PREFIX,
    icl_prefix,
    prompt,
    read_examples,
)
from responsa.models.tokens import estimate
from responsa.testing import LocalServer


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "responsa" / "models.sqlite"


@pytest.fixture
def server():
    with LocalServer(dimension=8) as server:
        yield server


# --- the cache -------------------------------------------------------------------------------------------------


def test_what_apis_answer_is_kept_unless_told_otherwise(server, own_cache):
    pairs = [("q", "a"), ("q", "b")]
    asked = []
    for _ in range(2):
        vectors = load_encoder(f"{server.url}#m").encode(["a", "b"], "query")
        scores = load_reranker(f"{server.url}#r").score(pairs)
        asked.append(len(server.requests))
    assert asked == [3, 3]  # the dimension, the vectors, the scores; then nothing
    with sqlite3.connect(own_cache) as db:
        assert db.execute("SELECT count(*) FROM entries").fetchone() == (5,)
    db.close()
    for _ in range(2):
        assert np.array_equal(load_encoder(f"{server.url}#m?cache=off").encode(["a", "b"], "query"), vectors)
        assert np.array_equal(load_reranker(f"{server.url}#r?cache=off").score(pairs), scores)
    assert len(server.requests) == 7
    assert load_encoder(f"{server.url}#m").name == load_encoder(f"{server.url}#m?cache=off").name


def test_another_setting_is_not_answered_from_the_cache(server):
    load_encoder(f"{server.url}#m").encode(["a b c"], "query")
    before = len(server.requests)
    load_encoder(f"{server.url}#m?max_tokens=1").encode(["a b c"], "query")
    assert server.requests[before:][-1].body["input"] == ["a"]


def test_a_service_keeps_its_limits_however_often_it_is_named(server):
    name = f"{server.url}#r?rpm=3&cache=off"
    assert load_reranker(name).service is load_reranker(name).service
    assert load_reranker(name).service is not load_reranker(f"{server.url}#r?rpm=4&cache=off").service


# --- prompts ---------------------------------------------------------------------------------------------------


@pytest.fixture
def examples(tmp_path):
    path = tmp_path / "train.jsonl"
    rows = [{"question": f"Question {n}?", "passage": f"Passage {n}. " + "rule " * 600} for n in range(8)]
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
    return path


@pytest.mark.parametrize("shots", [1, 3, 5])
def test_examples_are_drawn_by_a_seed(examples, shots):
    drawn = prompt("bge-en-icl", shots, examples, seed=4)
    prefix = drawn["query_prefix"]
    assert drawn["query_suffix"] == BGE_ICL_SUFFIX
    assert prefix == prompt("bge-en-icl", shots, examples, seed=4)["query_prefix"]
    assert len({prompt("bge-en-icl", shots, examples, seed=n)["query_prefix"] for n in range(9)}) > 1
    known = read_examples(examples)
    used = [(question, passage) for question, passage in known if f"<query>{question}\n" in prefix]
    assert len(used) == shots
    assert prefix.count("<instruct>") == shots + 1
    for question, passage in used:
        (response,) = [
            part.partition("\n<response>")[2].partition("\n\n")[0]
            for part in prefix.split("<query>")
            if part.startswith(question)
        ]
        assert passage.startswith(response)
        assert estimate(response) == EXAMPLE_TOKENS


def test_prompts_without_examples():
    assert prompt("bge-en-icl") == {"query_prefix": icl_prefix(), "query_suffix": BGE_ICL_SUFFIX}
    assert prompt("nv-embed-v2") == {"query_prefix": NV_EMBED_PREFIX}


def test_the_same_prompt_over_http_and_on_this_machine(examples, tmp_path):
    (tmp_path / "model").mkdir()
    setting = f"?prompt=bge-en-icl&shots=3&examples={examples}&seed=2"
    here, there = (
        load_encoder(f"hf:{tmp_path / 'model'}{setting}"),
        load_encoder(f"http://localhost/v1#m{setting}").inner,
    )
    assert here.query_prefix == there.query_prefix == prompt("bge-en-icl", 3, examples, 2)["query_prefix"]
    assert here.query_suffix == there.query_suffix == BGE_ICL_SUFFIX
    assert here.passage_prefix is None
    nv = load_encoder(f"hf:{tmp_path / 'model'}?prompt=nv-embed-v2")
    assert (nv.query_prefix, nv.query_suffix, nv.passage_suffix) == (NV_EMBED_PREFIX, NV_EMBED_END, NV_EMBED_END)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("prompt=bge", "unknown prompt 'bge'; known: bge-en-icl, nv-embed-v2"),
        ("shots=3", "setting 'shots': needs a prompt"),
        ("prompt=bge-en-icl&shots=2&examples=x", "shots: expected one of 0, 1, 3, 5, got 2"),
        ("prompt=bge-en-icl&shots=many", "setting 'shots': expected a whole number, got 'many'"),
        ("prompt=bge-en-icl&shots=3", "shots and examples go together"),
        ("prompt=bge-en-icl&examples=EXAMPLES", "shots and examples go together"),
        ("prompt=nv-embed-v2&shots=1&examples=EXAMPLES", "takes no examples"),
        ("prompt=bge-en-icl&shots=1&examples=nowhere.jsonl", "nowhere.jsonl: examples cannot be read"),
    ],
)
def test_prompts_that_cannot_be_used(examples, setting, said):
    with pytest.raises(InputError, match=said):
        load_encoder(f"http://localhost/v1#m?{setting.replace('EXAMPLES', str(examples))}")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"question": "a", "passage": "b"}\n\n[1]\n', "line 3: expected an object with 'question' and 'passage'"),
        (b"not json", "line 1: expected an object"),
        (b'{"question": "a"}', "line 1: expected an object"),
        (b'{"question": "a", "passage": " "}', "line 1: .* must be texts that are not blank"),
        (b'{"question": 3, "passage": "b"}', "line 1: .* must be texts"),
        (b"\xff\xfe", "not UTF-8"),
        (b'{"question": "a", "passage": "b"}', "holds 1 examples; 3 are needed"),
    ],
)
def test_example_files_that_cannot_be_used(tmp_path, content, said):
    (tmp_path / "train.jsonl").write_bytes(content)
    with pytest.raises(InputError, match=said):
        prompt("bge-en-icl", 3, tmp_path / "train.jsonl")


# --- models that ship ------------------------------------------------------------------------------------------


def model_folder(folder, kind="encoder", data=("questions",)):
    """A folder that looks like a model from outside."""
    folder.mkdir(parents=True)
    for name in ("model.onnx", "tokenizer.json", "CARD.md"):
        (folder / name).write_bytes(f"{name} of {folder.name}".encode())
    sums = {f"sha256_{name}": hashlib.sha256((folder / file).read_bytes()).hexdigest()
            for name, file in (("model", "model.onnx"), ("tokenizer", "tokenizer.json"))}  # fmt: skip
    told = {"kind": kind, "name": folder.name, "max_length": 9, "dimension": 3, "labels": ["relevant"], **sums}
    (folder / "model.json").write_text(json.dumps(told))
    (folder / "manifest.json").write_text(json.dumps({"data": list(data), "terms": "made here", "seed": 3}))
    return folder


def test_the_manifest_tells_what_ships(tmp_path):
    model_folder(tmp_path / "reranker", "pairs")
    encoder = model_folder(tmp_path / "encoder")
    (tmp_path / "notes").mkdir()
    entries = embedded.write_manifest(tmp_path)
    assert json.loads((tmp_path / "manifest.json").read_text()) == entries
    first, second = entries
    assert (first["name"], first["kind"], second["name"], second["kind"]) == ("encoder", "encoder", "reranker", "pairs")
    assert first["sha256"] == hashlib.sha256(b"model.onnx of encoder").hexdigest()
    assert first["bytes"] == sum(path.stat().st_size for path in encoder.iterdir())
    assert (first["data"], first["terms"]) == (["questions"], "made here")
    assert set(first["files"]) == {"model.onnx", "tokenizer.json", "model.json", "CARD.md", "manifest.json"}
    (encoder / "CARD.md").write_text("changed")
    assert embedded.manifest(tmp_path)[0]["files"]["CARD.md"] != first["files"]["CARD.md"]


def test_what_ships_is_what_the_manifest_says():
    written = json.loads((embedded.weights() / embedded.MANIFEST).read_text())
    assert written == embedded.manifest()
    assert sum(entry["bytes"] for entry in written) <= 80_000_000


def test_embedded_models_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr(embedded, "weights", lambda: tmp_path)
    with pytest.raises(NotFound, match="no embedded model 'encoder'; this copy of Responsa has none"):
        load_encoder("embedded:encoder")
    model_folder(tmp_path / "encoder")
    model_folder(tmp_path / "reranker", "pairs")
    assert load_encoder("embedded:encoder").folder == tmp_path / "encoder"
    assert load_reranker("embedded:reranker").folder == load_pairs("embedded:reranker").folder == tmp_path / "reranker"
    with pytest.raises(NotFound, match=r"no embedded model 'encodr'; did you mean 'encoder'\?"):
        load_encoder("embedded:encodr")
    with pytest.raises(NotFound, match=r"known: encoder, reranker; a model folder of your own is onnx:FOLDER"):
        load_encoder("embedded:zzz")
    with pytest.raises(NotFound, match="no embedded model"):
        load_encoder("embedded:../encoder")
    with pytest.raises(ModelError, match="is a model of kind 'pairs'; 'encoder' is needed here"):
        _ = load_encoder("embedded:reranker").name
    shutil.rmtree(tmp_path / "encoder")
    with pytest.raises(NotFound):
        load_encoder("embedded:encoder")


# --- names and settings ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loader", "name", "said"),
    [
        (load_sparse, "splade", "'splade' does not name a sparse encoder; expected scheme:model, such as 'hf:"),
        (load_sparse, "onnx:x", "unknown scheme 'onnx' of a sparse encoder"),
        (load_late, "voyage:x", "unknown scheme 'voyage' of a late-interaction encoder"),
        (load_late, "pylat:x", "did you mean 'pylate'"),
        (load_pairs, "voyage:rerank-2", "unknown scheme 'voyage' of a scorer of pairs"),
        (load_encoder, "hf:?batch=3", "give the name of the model"),
        (load_sparse, "hf:a/b?pooling=cls", "unknown setting 'pooling'"),
        (load_late, "hf:a/b?max_tokens=3", "unknown setting 'max_tokens'"),
        (load_reranker, "hf:a/b?query_prefix=x", "unknown setting 'query_prefix'"),
        (load_reranker, "hf:a/b?max_tokens=0", "max_tokens: expected a number above 0, got 0"),
        (load_sparse, "hf:a/b?batch=1&batch=2", "given twice"),
    ],
)
def test_names_that_cannot_be_used(loader, name, said):
    with pytest.raises(InputError, match=said):
        loader(name)


def test_flags():
    assert [options.flag(value) for value in ("yes", "On", "TRUE", "1")] == [True] * 4
    assert [options.flag(value) for value in ("no", "off", "False", "0")] == [False] * 4
    for value in ("", "maybe", "2"):
        with pytest.raises(ValueError):
            options.flag(value)


def test_the_examples_in_the_messages_are_names():
    for what, schemes in (("an encoder", load.ENCODERS), ("a reranker", load.RERANKERS), ("a scorer of pairs", load.PAIRS),
                          ("a sparse encoder", load.SPARSE), ("a late-interaction encoder", load.LATE)):  # fmt: skip
        scheme, _, rest = load._EXAMPLES[what].partition(":")
        assert schemes[scheme](rest)


@pytest.mark.parametrize(
    ("loader", "name", "module", "extra"),
    [
        (load_encoder, "hf:no-such/model", "huggingface_hub", "hub"),
        (load_sparse, "hf:no-such/model", "sentence_transformers", "hub"),
        (load_late, "pylate:no-such/model", "pylate", "late"),
    ],
)
def test_a_missing_library_names_the_fix(monkeypatch, loader, name, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependency, match=rf"pip install 'responsa\[{extra}\]'"):
        loader(name).encode(["a"], "query")


def test_numbers_that_are_not_finite():
    rows = np.array([[1, 2], [3, np.inf], [np.nan, 0]], dtype=np.float32)
    with pytest.raises(ModelError, match="m: gave a value that is not finite for pair 2 of 3"):
        checks.finite(rows, "m", "pair")
    assert checks.finite(rows[:1], "m").tolist() == [[1, 2]]
    assert checks.finite(rows[:0], "m").shape == (0, 2)
    assert checks.readable("a\ud800b") == "a\ufffdb"


def test_the_recipe_in_the_documentation_is_one():
    from responsa import config, recipe
    from responsa.retrieval.hybrid import Hybrid

    page = Path(__file__).resolve().parents[1] / "docs" / "models.md"
    (text,) = re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    parsed = recipe.parse(config.parse(text, "models.md"), "models", "models.md").retrieve
    assert isinstance(parsed, Hybrid)
    loaders = {"Dense": load_encoder, "Sparse": load_sparse, "Late": load_late}
    for stage in parsed.stages:
        if "examples=" not in stage.encoder:
            assert loaders[type(stage).__name__](stage.encoder)
    assert load_reranker(parsed.rerank[0].model)
    assert load_encoder(parsed.stages[0].encoder).query_prefix.endswith("passages: ")
