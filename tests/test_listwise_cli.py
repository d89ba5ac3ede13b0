"""A recipe that ends in a language model, as it is typed, against a server of chats on this machine."""

from __future__ import annotations

import json

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


def test_a_table_with_it_is_planned_and_its_cost_told(call, shared_folder, recipe, monkeypatch, tmp_path):
    asked = tmp_path / "q.jsonl"
    asked.write_text(
        "".join(
            json.dumps({"id": str(n), "question": f"{QUESTION} {n}?", "passages": ["AML/5.3.1(1)"]}) + "\n"
            for n in (1, 2)
        ),
        "utf-8",
    )
    command = ("--library", shared_folder, "experiment", "run", recipe, "bm25", "--questions", asked)
    command = (*command, "--out", tmp_path / "out", "--measures", "recall@10")
    with ChatServer(reply=backwards) as server:
        monkeypatch.setenv("RESPONSA_CHAT_MODEL", f"{server.url}#local")
        (plan,) = call(*command, "--dry-run", "--json").json()["tables"]
        assert ([row["label"] for row in plan["rows"]], len(server.requests)) == (["listwise", "bm25"], 0)
        assert not (tmp_path / "out").exists()
        (planned,), none = (row["planned"] for row in plan["rows"])
        assert (planned["purpose"], planned["calls"], none) == ("rerank", 2, [])
        done = call(*command)
        assert len(server.requests) == planned["calls"]
        assert "#local: 2 requests sent, " in done.err
        again = call(*command, "--dry-run")
        assert again.out.strip().splitlines()[-1].split()[:2] == ["all", "0"]  # its run is there
        anew = call(*command, "--dry-run", "--fresh")
        assert anew.out.strip().splitlines()[-1].split()[:3] == ["all", "0", "2"]  # its replies are kept
        assert len(server.requests) == 2


@pytest.mark.parametrize("command", ["encoder", "reranker", "features", "tune"])
def test_training_asks_no_language_model(call, shared_folder, recipe, monkeypatch, tmp_path, command):
    asked = tmp_path / "q.jsonl"
    asked.write_text(json.dumps({"id": "1", "question": QUESTION, "passages": ["AML/5.3.1(1)"]}) + "\n", "utf-8")
    with ChatServer(reply=backwards) as server:
        monkeypatch.setenv("RESPONSA_CHAT_MODEL", f"{server.url}#local")
        given = ("train", command, asked, "--recipe", recipe, "--out", tmp_path / "out.json")
        if command == "tune":
            given = ("tune", recipe, "--gold", asked, "--calibrate")
        done = call("--library", shared_folder, *given)
        assert len(server.requests) == 0
    assert done.code == 1
    assert "asks no language model: each question would be sent and paid for" in done.err
