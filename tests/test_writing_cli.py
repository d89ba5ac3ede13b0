"""ask and answer with a language model, over a local server: which model writes, what is printed, what fails."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from responsa import sample
from responsa.cli.app import app
from responsa.errors import InputError
from responsa.models.embedded import shipped
from responsa.testing import ChatServer

pytestmark = pytest.mark.skipif("nli" not in shipped(), reason="this copy ships no model of entailment")
ASKED = "What must a firm do when it suspects money laundering?"


@pytest.fixture
def library(tmp_path, monkeypatch):
    monkeypatch.setenv("RESPONSA_LIBRARY", str(tmp_path / "library"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("RESPONSA_CHAT_MODEL", raising=False)
    assert CliRunner().invoke(app, ["add", "--sample"]).exit_code == 0
    return tmp_path


def invoke(*arguments):
    return CliRunner().invoke(app, [str(each) for each in arguments])


def own_recipe(folder, kind):
    path = folder / "own.toml"
    path.write_text(f'[retrieve]\nkind = "bm25"\n[answer]\nkind = "{kind}"\n')
    return path


def plain(folder):
    path = folder / "plain.toml"
    path.write_text('[retrieve]\nkind = "bm25"\n')
    return path


@pytest.mark.parametrize("name", ["foo", "opnai:model"])
def test_a_name_that_is_no_model_is_refused_also_where_nothing_is_found(library, name):
    done = invoke("ask", "xylophone?", "--model", name)
    assert isinstance(done.exception, InputError)
    assert name.partition(":")[0] in str(done.exception)


def test_the_model_of_the_environment_writes_the_verified_answer(library, monkeypatch):
    with ChatServer() as server:
        monkeypatch.setenv("RESPONSA_CHAT_MODEL", f"{server.url}#local")
        shown = invoke("ask", ASKED, "--recipe", plain(library))
        value = json.loads(invoke("ask", ASKED, "--recipe", plain(library), "--json", "--save").stdout)
        without = json.loads(invoke("ask", ASKED, "--recipe", plain(library), "--json", "--model", "none").stdout)
        said = json.loads(invoke("ask", ASKED, "--recipe", "bm25", "--json").stdout)
    assert shown.exit_code == 0
    assert f"{server.url}#local" in shown.stdout
    assert "Sources (passage, characters, version):" in shown.stdout
    assert value["trace"][0]["cached"]  # the first command has asked already
    assert value["saved"] == 1
    assert value["withheld"] is not None
    assert value["checked"]["nli"].startswith("responsa-nli")
    assert "trace" not in without
    assert "trace" not in said  # a recipe that says how to answer keeps to it
    assert invoke("verify").exit_code == 0


def test_model_by_option_and_background(library):
    with ChatServer() as server:
        told = invoke(
            "ask",
            ASKED,
            "--background",
            "A wire transfer.",
            "--model",
            f"{server.url}#local",
            "--recipe",
            "bm25",
            "--json",
        )
        (request, *_) = server.requests
    assert json.loads(told.stdout)["trace"][0]["purpose"] == "answer"
    assert "A wire transfer." in json.dumps(request.body)


def test_dry_run_sends_nothing(library):
    with ChatServer() as server:
        told = invoke("ask", ASKED, "--model", f"{server.url}#local", "--dry-run", "--recipe", plain(library))
        assert server.requests == []
    assert told.exit_code == 0
    assert "tokens in" in told.stdout
    refused = invoke("ask", ASKED, "--dry-run", "--recipe", plain(library))
    assert refused.exit_code == 1
    assert "RESPONSA_CHAT_MODEL" in f"{refused.output}{refused.exception}"


def test_a_dry_run_of_a_recipe_that_answers_by_itself(library, monkeypatch):
    monkeypatch.setenv("RESPONSA_CHAT_MODEL", "openai:any")
    refused = invoke("ask", ASKED, "--dry-run", "--recipe", "bm25")
    assert refused.exit_code == 1
    said = f"{refused.output}{refused.exception}"
    assert "'bm25'" in said
    assert "--model" in said
    assert "RESPONSA_CHAT_MODEL" not in said  # it is set


def test_a_dry_run_says_why_nothing_would_be_asked(library):
    with ChatServer() as server:
        told = invoke("ask", "Who won the cup?", "--model", f"{server.url}#m", "--dry-run", "--recipe", plain(library))
    assert told.exit_code == 0
    assert "nothing would be asked: the library does not seem to answer this question" in told.output


def test_the_model_of_the_environment_writes_the_answers_of_a_batch(library, monkeypatch):
    path, _ = questions_file(library, 2)
    out = library / "answers.json"
    with ChatServer() as server:
        monkeypatch.setenv("RESPONSA_CHAT_MODEL", f"{server.url}#local")
        assert invoke("answer", path, "--recipe", "bm25", "--out", out).exit_code == 0
        assert server.requests == []  # a recipe that says how to answer keeps to it
        assert invoke("answer", path, "--recipe", plain(library), "--out", out).exit_code == 0
        asked = len(server.requests)
        assert invoke("answer", path, "--recipe", plain(library), "--out", out, "--model", "none").exit_code == 0
        assert asked > 0
        assert len(server.requests) == asked


def test_without_a_model(library):
    assert invoke("ask", ASKED, "--recipe", plain(library)).exit_code == 0
    told = invoke("ask", ASKED, "--recipe", own_recipe(library, "verified"))
    assert told.exit_code == 0  # the rules' own sentences, and what to set
    assert "RESPONSA_CHAT_MODEL" in told.output
    refused = invoke(
        "answer", sample.questions(), "--recipe", own_recipe(library, "passages"), "--out", library / "o.json"
    )
    assert refused.exit_code == 1
    assert "RESPONSA_CHAT_MODEL" in f"{refused.output}{refused.exception}"


def lying(asked):
    """One sentence that the passage does not bear out and one that it does; nothing for a repair."""
    if '"number"' in asked.text:
        return json.dumps({"sentences": []})
    lie = {"text": "A Firm must pay a fee of EUR 7.", "citations": [{"passage": "1", "quote": ""}]}
    rule = {"text": asked.passages[0][1].splitlines()[-1], "citations": [{"passage": "1", "quote": ""}]}
    return json.dumps({"sentences": [lie, rule], "not_found": ["money laundering"]})


def test_what_is_withheld_is_shown(library):
    with ChatServer(reply=lying) as server:
        told = invoke("ask", ASKED, "--model", f"{server.url}#local", "--recipe", plain(library))
    assert "Withheld, because what it cites does not support it (1):" in told.stdout
    assert "A Firm must pay a fee of EUR 7." in told.stdout
    assert "Not answered by the passages found: money laundering" in told.stdout


def test_what_is_withheld_in_a_batch_stands_in_its_file(library):
    path, _ = questions_file(library, 2)
    out = library / "answers.json"
    with ChatServer(reply=lying) as server:
        told = invoke("answer", path, "--recipe", plain(library), "--out", out, "--model", f"{server.url}#local")
    assert told.exit_code == 0
    rows = json.loads(out.read_text())
    assert [[each["text"] for each in row["Withheld"]] for row in rows] == [["A Firm must pay a fee of EUR 7."]] * 2
    assert all(row["Conflicts"] == [] for row in rows)
    assert [len(row["Notes"]) for row in rows] == [0, 1]
    assert "not in the question's words and left out" in rows[1]["Notes"][0]
    assert [row["NotFound"] for row in rows] == [["money laundering"], []]  # the second question has no such part
    assert f"2 sentences withheld, notes on 1 answer: see Withheld and Notes in {out}" in told.output
    assert re.search(r"language model \S+: \d+ requests sent, [\d,]+ tokens", told.output)
    assert invoke("answer", path, "--recipe", plain(library), "--out", out, "--model", "none").exit_code == 0
    assert not {"Withheld", "Notes"} & json.loads(out.read_text())[0].keys()


def questions_file(folder, count=12):
    rows = [json.loads(line) for line in sample.questions().read_text().splitlines()[:count]]
    path = folder / "questions.jsonl"
    path.write_text("\n".join(json.dumps({"id": row["id"], "question": row["question"]}) for row in rows))
    return path, [row["id"] for row in rows]


@pytest.mark.parametrize("kind", ["verified", "passages"])
def test_a_batch_lists_what_failed_and_asks_only_that_again(library, kind):
    path, names = questions_file(library)
    out = library / "answers.json"
    with ChatServer(share={"500": 0.3, "refusal": 0.2}, seed=3) as server:
        command = (
            "answer",
            path,
            "--recipe",
            own_recipe(library, kind),
            "--out",
            out,
            "--model",
            f"{server.url}#local?attempts=1",
        )
        first = invoke(*command)
        failed = [row["QuestionID"] for row in json.loads(out.read_text()) if "Failed" in row]
        sent = len(server.requests)
        second = invoke(*command)
        again = len(server.requests) - sent
    rows = json.loads(out.read_text())
    assert [row["QuestionID"] for row in rows] == names  # in the order asked, none lost or doubled
    assert failed
    assert first.exit_code == 1
    assert all(name in first.output for name in failed)
    assert again <= 3 * len(failed) + 3
    assert second.exit_code in (0, 1)


def test_a_second_run_sends_nothing_and_writes_the_same(library):
    path, _ = questions_file(library)
    out = library / "answers.json"
    with ChatServer() as server:
        command = (
            "answer",
            path,
            "--recipe",
            own_recipe(library, "passages"),
            "--out",
            out,
            "--model",
            f"{server.url}#local",
        )
        assert invoke(*command, "--threads", "3").exit_code == 0
        written, sent = out.read_bytes(), len(server.requests)
        assert invoke(*command).exit_code == 0
        assert (out.read_bytes(), len(server.requests)) == (written, sent)
        assert server.most <= 3


def test_a_dry_run_of_a_batch_writes_nothing(library):
    path, _ = questions_file(library)
    with ChatServer() as server:
        told = invoke(
            "answer", path, "--recipe", own_recipe(library, "verified"), "--out", library / "o.json", "--model", f"{server.url}#m",
            "--dry-run",
        )  # fmt: skip
        assert server.requests == []
    assert told.exit_code == 0
    assert "answer" in told.stdout
    assert not (library / "o.json").exists()


def test_without_the_cache_nothing_is_kept_and_the_model_is_asked_again(library):
    with ChatServer() as server:
        for times in (1, 2):
            shown = invoke("ask", ASKED, "--recipe", plain(library), "--model", f"{server.url}#local", "--no-cache")
            assert shown.exit_code == 0
            assert len([each for each in server.requests if each == server.requests[0]]) == times
        assert "0 requests sent" not in shown.stdout
    assert not list((library / "cache").rglob("*.sqlite"))


def test_replies_from_the_cache_are_not_told_as_spent(library):
    with ChatServer() as server:
        asked = ("ask", ASKED, "--recipe", plain(library), "--model", f"{server.url}#local")
        first, second = invoke(*asked), invoke(*asked)
    assert "0 requests sent" not in first.stdout
    assert "0 requests sent, 0 tokens" in second.stdout


def test_a_network_tells_the_obligations_of_a_verified_answer(library):
    with ChatServer() as server:
        asked = ("ask", ASKED, "--recipe", plain(library), "--model", f"{server.url}#local", "--json")
        told = json.loads(invoke(*asked, "--obligations", "embedded:obligations").stdout)
        refused = invoke(*asked, "--obligations", "laws")
    assert told["checked"]["obligations"].startswith("responsa-obligations@")
    assert refused.exit_code == 1
    assert "obligations: 'laws' is neither rules nor the name of a model" in f"{refused.output}{refused.exception}"


def test_settings_in_the_name_of_a_model_hold(library):
    with ChatServer() as server:
        named = f"{server.url}#local?temperature=0.9&seed=7"
        told = json.loads(invoke("ask", ASKED, "--recipe", plain(library), "--model", named, "--json").stdout)
        body = server.requests[0].body
    assert (body["temperature"], body["seed"]) == (0.9, 7)
    assert told["trace"][0]["seed"] == 7


@pytest.mark.parametrize("command", ["ask", "answer"])
def test_a_recipe_that_answers_without_a_model_takes_none(library, command):
    path, _ = questions_file(library, 2)
    asked = (ASKED,) if command == "ask" else (path, "--out", library / "out.json")
    refused = invoke(command, *asked, "--recipe", own_recipe(library, "noc"), "--model", "http://127.0.0.1:9/v1#m")
    assert refused.exit_code == 1
    assert "--model: the recipe 'own' answers without a language model" in f"{refused.output}{refused.exception}"
