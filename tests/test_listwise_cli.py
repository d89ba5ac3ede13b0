"""A recipe that ends in a language model, as it is typed, against a server of chats on this machine."""

from __future__ import annotations

import pytest

pytest.importorskip("pydantic_ai", reason="needs responsa[llm]")

from responsa.testing.chat import ChatServer
from test_cli import QUESTION, call, shared_folder

__all__ = ["call", "shared_folder"]  # fixtures

RECIPE = """
[[retrieve]]
kind = "bm25"
[[rerank]]
kind = "listwise"
depth = 5
[select]
kind = "threshold-drop"
scale = "raw"
threshold = 0.1
drop = 1.0
"""


@pytest.fixture
def recipe(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("RESPONSA_CHAT_MODEL", raising=False)
    path = tmp_path / "listwise.toml"
    path.write_text(RECIPE)
    return path


def search(call, folder, recipe):
    found = call("--library", folder, "search", QUESTION, "--recipe", recipe, "-k", 7, "--json").json()["hits"]
    return [hit["id"] for hit in found], [hit["score"] for hit in found]


def backwards(asked):
    return " > ".join(f"[{name}]" for name, _ in reversed(asked.passages) if name != "question")


def test_the_first_passages_in_the_order_of_the_model(call, shared_folder, recipe, monkeypatch):
    before = search(call, shared_folder, "bm25")[0]
    with ChatServer(reply=backwards) as server:
        monkeypatch.setenv("RESPONSA_CHAT_MODEL", f"{server.url}#local")
        for _ in range(2):
            names, scores = search(call, shared_folder, recipe)
            assert names == [*before[4::-1], *before[5:7]]
            assert scores == pytest.approx([1 / rank for rank in range(1, 8)])
        assert len(server.requests) == 1  # the second time from the cache


def test_a_model_that_does_not_rank(call, shared_folder, recipe, monkeypatch):
    with ChatServer(reply=lambda _: "As you wish.") as server:
        monkeypatch.setenv("RESPONSA_CHAT_MODEL", f"{server.url}#local")
        done = call("--library", shared_folder, "search", QUESTION, "--recipe", recipe)
    assert done.code == 0
    assert "1 of 1 windows have no order that can be read and stay as they were: the reply names no passage" in done.err


def test_without_a_model_it_says_what_to_set(call, shared_folder, recipe):
    done = call("--library", shared_folder, "search", QUESTION, "--recipe", recipe)
    assert done.code == 1
    assert "RESPONSA_CHAT_MODEL" in done.err
