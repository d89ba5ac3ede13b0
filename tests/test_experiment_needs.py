"""What recipes need: models of the hub, keys, files; and the names that content gives them."""

from __future__ import annotations

import json

import pytest

from responsa import recipe
from responsa.answer.verified import Verified
from responsa.errors import InputError
from responsa.experiment import needs, runs
from responsa.experiment.needs import Need, identity, missing
from responsa.retrieval.features import names

AWAY = "of the Hugging Face hub, which this machine does not have"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache of the hub, on a machine with every library."""
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(needs, "find_spec", lambda name: name)
    return tmp_path / "cache"


def fetched(cache, model, file="model.safetensors"):
    """A model in the cache."""
    folder = cache / f"models--{model.replace('/', '--')}"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "main").write_text("c0ffee")
    (folder / "snapshots" / "c0ffee").mkdir(parents=True)
    (folder / "snapshots" / "c0ffee" / file).write_text("")


def encoder(name, stage="Dense"):
    return Need(stage, "encoder", name)


def test_needs_of_a_recipe_in_the_order_of_its_stages():
    found = needs.needs(recipe.load("aueb-rerank").retrieve)
    assert found == [
        Need("Dense", "encoder", "voyage:voyage-law-2"),
        Need("Dense", "encoder", "voyage:voyage-finance-2"),
        Need("CrossEncoder", "model", "voyage:rerank-2"),
    ]
    assert needs.needs(recipe.load("bm25").retrieve) == []


def test_models_of_the_hub(cache):
    assert missing(encoder("hf:org/model?max_tokens=512")) == f"needs org/model {AWAY}"
    fetched(cache, "org/model")
    assert missing(encoder("hf:org/model?max_tokens=512")) == ""
    fetched(cache, "org/half", "config.json")
    assert missing(encoder("hf:org/half", "Sparse")) == f"needs org/half {AWAY}"
    both = "facebook/dragon-plus-query-encoder and facebook/dragon-plus-context-encoder"
    assert missing(encoder("hf:dragon-plus")) == f"needs {both} {AWAY}"
    assert missing(encoder("hf:org/model?passage_model=org/other")) == f"needs org/other {AWAY}"


def test_without_the_library_of_the_hub(cache, monkeypatch):
    monkeypatch.setattr(needs, "find_spec", lambda name: None)
    install = "pip install 'responsa[hub]'"
    assert missing(encoder("hf:org/model")) == f"needs org/model {AWAY}, and the library that runs it: {install}"
    monkeypatch.setenv("VOYAGE_API_KEY", "k")
    assert (
        missing(encoder("voyage:voyage-law-2"))
        == "needs an optional library; install it with: pip install 'responsa[llm]'"
    )


def test_examples_are_a_file_of_the_user(cache, tmp_path):
    fetched(cache, "BAAI/bge-en-icl")
    path = tmp_path / "examples.jsonl"
    name = f"hf:BAAI/bge-en-icl?prompt=bge-en-icl&shots=1&examples={path}"
    assert missing(encoder(name)) == f"there is no file {str(path)!r}"
    path.write_text('{"question": "When?", "passage": "Now."}\n')
    assert missing(encoder(name)) == ""


def test_names_that_no_model_can_have(cache):
    with pytest.raises(InputError, match="unknown scheme 'hff' of an encoder; did you mean 'hf'"):
        missing(encoder("hff:org/model"))
    fetched(cache, "org/model")
    with pytest.raises(InputError, match="unknown setting 'max_token'; did you mean 'max_tokens'"):
        missing(encoder("hf:org/model?max_token=512"))


def test_embedded_models_that_do_not_ship():
    assert missing(encoder("embedded:no-such")).startswith("no embedded model 'no-such'")


def test_weights_are_a_file_or_ship(tmp_path):
    path = tmp_path / "features.json"
    need = Need("Features", "weights", str(path))
    assert missing(need) == f"there is no file {str(path)!r}"
    columns = len(names(1))
    table = {"runs": 1, "depth": 10, "features": list(names(1)), "products": [], "mean": [0.0] * columns}
    path.write_text(json.dumps(table | {"spread": [1.0] * columns, "weights": [1.0] * columns}))
    assert missing(need) == ""
    first = identity(need)
    other = tmp_path / "other.json"
    other.write_text(path.read_text())
    assert identity(Need("Features", "weights", str(other))) == first
    other = tmp_path / "third.json"
    other.write_text(json.dumps(table | {"spread": [1.0] * columns, "weights": [2.0] * columns}))
    assert identity(Need("Features", "weights", str(other))) != first
    assert "no such weights in the package" in missing(Need("Features", "weights", "no-such"))


def reranking(model):
    made = recipe.parse({"retrieve": {"kind": "bm25"}, "rerank": {"kind": "listwise", "model": model}}, "x", "x")
    (need,) = needs.needs(made.retrieve)
    return need


def test_a_language_model(monkeypatch):
    pytest.importorskip("pydantic_ai", reason="needs responsa[llm]")
    for name in ("RESPONSA_CHAT_MODEL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert reranking("") == Need("Listwise", "model", "")
    assert "RESPONSA_CHAT_MODEL" in missing(reranking(""))
    assert "OPENAI_API_KEY" in missing(reranking("openai:gpt-4o"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    assert missing(reranking("openai:gpt-4o")) == ""
    monkeypatch.setenv("RESPONSA_CHAT_MODEL", "http://127.0.0.1:9/v1#local?temperature=0.5")
    assert missing(reranking("")) == ""
    assert identity(reranking("")) == "http://127.0.0.1:9/v1#local?temperature=0.5"
    with pytest.raises(InputError, match="unknown scheme"):
        missing(reranking("nosuch:model"))


def test_needs_of_answers_hold_the_models_that_check(tmp_path):
    stage = Verified(model="http://localhost:1/v1#m", nli=f"onnx:{tmp_path}", obligations="embedded:obligations")
    assert [(each.field, each.name) for each in needs.answer_needs(stage)] == [
        ("chat", "http://localhost:1/v1#m"), ("nli", f"onnx:{tmp_path}"), ("obligations", "embedded:obligations"),
    ]  # fmt: skip
    assert missing(Need("Verified", "nli", f"onnx:{tmp_path}")) == f"there is no model folder '{tmp_path}'"
    assert identity(Need("Verified", "nli", "embedded:nli")).startswith("responsa-nli@")


def test_a_changed_file_of_weights_changes_the_code(tmp_path, monkeypatch):
    root = tmp_path / "responsa"
    (root / "answer").mkdir(parents=True)
    (root / "answer" / "a.py").write_text("")
    (root / "answer" / "support.json").write_text("{}")
    monkeypatch.setattr(runs.resources, "files", lambda _: root)
    runs.code.cache_clear()
    before = runs.code(("answer",))
    (root / "answer" / "support.json").write_text('{"bias": 1}')
    runs.code.cache_clear()
    assert runs.code(("answer",)) != before
    runs.code.cache_clear()
