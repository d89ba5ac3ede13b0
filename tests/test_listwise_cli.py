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


def test_a_dry_run_sends_nothing_and_says_what_it_would(call, shared_folder, recipe, monkeypatch, tmp_path):
    asked, out = tmp_path / "q.jsonl", tmp_path / "a.run"
    asked.write_text("".join(f'{{"id": "{n}", "question": "{QUESTION}"}}\n' for n in (1, 2)), "utf-8")
    with ChatServer(reply=backwards) as server:
        monkeypatch.setenv("RESPONSA_CHAT_MODEL", f"{server.url}#local")
        done = call("--library", shared_folder, "search", QUESTION, "--recipe", recipe, "--dry-run")
        batch = call("--library", shared_folder, "run", asked, "--out", out, "--recipe", recipe, "--dry-run")
        assert (done.code, batch.code, len(server.requests)) == (0, 0, 0)
        assert (done.err, batch.err) == ("", "")
        call("--library", shared_folder, "run", asked, "--out", tmp_path / "b.run", "--recipe", recipe)
        sent = len(server.requests)
    assert not out.exists()
    counts = [each.out.strip().splitlines()[-1].split()[:3] for each in (done, batch)]
    assert counts == [["all", "1", "0"], ["all", str(sent), "1"]]  # the second question is the first again


def test_a_dry_run_of_a_search_without_a_model_is_refused(call, shared_folder):
    done = call("--library", shared_folder, "search", QUESTION, "--recipe", "bm25", "--dry-run")
    assert done.code == 1
    assert "the recipe 'bm25' asks no language model to find passages" in done.err
