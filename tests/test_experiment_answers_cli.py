"""``experiment`` for recipes that write answers, as it is typed: one command, its JSON, a dry run, what is refused."""

from __future__ import annotations

import json

import pytest

from answering import inquiries, recipe
from helpers import cli
from responsa import sample
from responsa.testing import ChatServer

pytest.importorskip("pydantic_ai", reason="needs responsa[llm]")


@pytest.fixture(scope="module")
def library(library_of):
    rows = [{"id": f"CRR/{n}", "number": f"Article {n}", "text": f"A firm must keep records of item {n}."} for n in range(1, 30)]  # fmt: skip
    return library_of({"rules.jsonl": "".join(json.dumps(row) + "\n" for row in rows)})


@pytest.fixture
def server():
    with ChatServer() as running:
        yield running


@pytest.fixture
def run(library, tmp_path, monkeypatch, server):
    """Runs a command in a folder of its own, with a language model named."""
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "RESPONSA_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("RESPONSA_CHAT_MODEL", f"{server.url}#local")
    recipe(tmp_path, "own", kind="passages")
    recipe(tmp_path, "noc", kind="noc")
    inquiries(tmp_path / "q.jsonl", 6)
    return lambda *arguments: cli(library.folder.resolve(), "experiment", *map(str, arguments))


def ok(done):
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.slow
def test_the_shipped_experiment_is_one_command(run, tmp_path, monkeypatch, server):
    (tmp_path / "data" / "eba_qa").mkdir(parents=True)
    inquiries(tmp_path / "data" / "eba_qa" / "train.jsonl", 30)
    inquiries(tmp_path / "data" / "eba_qa" / "validation.jsonl", 8)
    monkeypatch.setenv("RESPONSA_DATA", str(tmp_path / "data"))
    first = ok(run("run", "eba-liquidity"))
    assert "All questions (4)" in first.stdout
    assert "6 rows of 6 run here." in first.stdout
    assert "4 of 8 questions are on 'Liquidity risk'; the others are left out" in first.stderr
    sent = len(server.requests)
    again = ok(run("run", "eba-liquidity"))
    assert (again.stdout, len(server.requests)) == (first.stdout, sent)
    assert ok(run("table", "eba-liquidity")).stdout == first.stdout
    found = json.loads(ok(run("table", "eba-liquidity", "--json")).stdout)["tables"][0]
    assert [row["name"] for row in found["rows"]] == [
        "zero-shot-question", "zero-shot", "few-shot", "multi-step-5", "multi-step-10", "multi-step-20",
    ]  # fmt: skip
    manifest = json.loads((tmp_path / "experiments" / "eba-liquidity" / "manifest.json").read_text())
    assert manifest["questions"]
    assert manifest["references"]
    assert all(row["prompts"] and row["answers"] and row["made"]["models"] for row in manifest["rows"])
    assert str(tmp_path) not in json.dumps(manifest)


def test_models_and_numbers_of_passages(run, server, tmp_path):
    one, two = f"{server.url}#one", f"{server.url}#two"
    select = '[select]\nkind = "threshold-drop"\nthreshold = 0\ndrop = 2\n'
    (tmp_path / "own.toml").write_text(select + (tmp_path / "own.toml").read_text())
    crossed = ("--model", one, "--model", two, "--k", 2, "-k", 3)
    done = ok(run("run", "own.toml", "noc.toml", "--questions", "q.jsonl", *crossed, "--json"))
    (found,) = json.loads(done.stdout)["tables"]
    assert found["table"]["scores"] == "repass"
    assert len(found["rows"]) == 4 + 2
    assert {request.body["model"] for request in server.requests} == {"one", "two"}
    assert len(server.requests) == 24
    assert set(found["rows"][0]["means"]["all"]) == {"RePASs", "coverage", "entailment", "contradiction"}


def test_ratings_of_own_recipes(run, tmp_path):
    (tmp_path / "official.json").write_text('{"q001": "Yes, it must.", "q002": "Yes."}')
    (tmp_path / "plain.jsonl").write_text(
        "".join(json.dumps({"id": f"q00{n}", "question": f"Must firm {n}?"}) + "\n" for n in (1, 2, 3))
    )
    asked = ("run", "own.toml", "--score", "ratings", "--questions", "plain.jsonl")
    done = ok(run(*asked, "--references", "official.json"))
    assert "1 of 3 questions have no official answer and are left out" in done.stderr
    assert "average, here" in done.stdout
    refused = run(*asked)
    assert refused.returncode == 1
    assert "no question has an official answer to be rated against; give them with --references" in refused.stderr


def test_a_dry_run(run, server, tmp_path):
    price = f"{server.url}#local?price_in=1&price_out=2"
    done = ok(run("run", "own.toml", "aueb-noc", "--questions", "q.jsonl", "--model", price, "--dry-run"))
    assert server.requests == []
    assert not (tmp_path / "experiments").exists()
    (line,) = [line.split() for line in done.stdout.splitlines() if line.split()[:2] == ["own", "answer"]]
    calls, known, failing, tokens_in, tokens_out, dollars = line[2:]
    assert (calls, known, failing, tokens_out) == ("6", "0", "0", "3,000")
    tokens = int(tokens_in.replace(",", ""))
    assert float(dollars) == pytest.approx((tokens + 2 * 3000) / 1e6, abs=1e-4)
    assert "not run here: there is no model folder 'models/legal-bert-obligations'" in done.stdout
    found = json.loads(ok(run("run", "own.toml", "--questions", "q.jsonl", "--dry-run", "--json")).stdout)
    assert found["tables"][0]["rows"][0]["planned"][0]["calls"] == 6


def test_without_a_model_nothing_is_run_and_it_is_said_once(run, monkeypatch, server):
    monkeypatch.delenv("RESPONSA_CHAT_MODEL")
    done = ok(run("run", "own.toml", "noc.toml", "--questions", "q.jsonl"))
    assert done.stdout.count("set the environment variable RESPONSA_CHAT_MODEL") == 1
    assert "1 row of 2 run here." in done.stdout
    rated = ok(run("run", "noc.toml", "--questions", "q.jsonl", "--score", "ratings"))
    assert "no language model rates the answers: name one with --judge" in rated.stdout
    assert server.requests == []


def test_check_shows_the_language_models(run, monkeypatch):
    done = ok(run("check", "crr-4", "aueb-7", "noc.toml", "crr-3", "--json"))
    tables = {table["name"]: table["rows"] for table in json.loads(done.stdout)["tables"]}
    assert list(tables) == ["crr-3", "crr-4", "aueb-7", "answers"]
    assert "OPENAI_API_KEY" in tables["crr-4"][0]["reason"]
    assert tables["crr-4"][0]["needs"] == ["openai:gpt-4o-2024-11-20"]
    assert tables["answers"][0]["runs"]
    assert "Answers to liquidity-risk inquiries" in ok(run("check", "crr-4")).stdout


def test_retrieval_and_answers_in_one_run(run, tmp_path):
    (tmp_path / "plain.toml").write_text('[retrieve]\nkind = "bm25"\n')
    rows = [json.loads(line) for line in (tmp_path / "q.jsonl").read_text().splitlines()]
    gold = "".join(f"{row['qa_id']} 0 CRR/{n} 1\n" for n, row in enumerate(rows, 1))
    (tmp_path / "gold.qrels").write_text(gold)
    done = ok(run("run", "plain.toml", "noc.toml", "--questions", "q.jsonl", "--gold", "gold.qrels", "--json"))
    assert [table["table"]["name"] for table in json.loads(done.stdout)["tables"]] == ["recipes", "answers"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["own.toml", "--questions", "q.jsonl", "--score", "stars"],
            "--score: expected repass or ratings, got 'stars'",
        ),
        (["own.toml"], "answers: no questions; name their file with --questions FILE"),
        (["aueb-1"], "no questions; name their file with --questions FILE"),
        (["bm25", "--questions", "q.jsonl", "-k", "3", "-k", "4"], "-k is given several times"),
        (["own.toml", "--questions", "q.jsonl", "--topic", "Fraud"], "no question is on the topic 'Fraud'"),
        (
            ["own.toml", "--questions", "q.jsonl", "--protocol", "papr"],
            "unknown protocol 'papr'; did you mean 'paper'?",
        ),
        (["own.toml", "--questions", "q.jsonl", "--score", "ratings", "--judge", "", "--judge", ""], "named twice"),
        (["own.toml", "--questions", "q.jsonl", "--model", "nosuch:m"], "unknown scheme 'nosuch'"),
        (["eba-liquidity"], "eba_qa/validation.jsonl: cannot be read"),
    ],
)
def test_what_the_user_can_mend(run, server, arguments, message):
    done = run("run", *arguments)
    assert done.returncode == 1
    assert message in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert server.requests == []


@pytest.mark.slow
def test_questions_that_fail_are_told_and_the_status_is_1(run, server):
    server.faults("refusal")
    done = run("run", "own.toml", "--questions", "q.jsonl", "--threads", 1)
    assert done.returncode == 1
    assert "own: 1 of 6 questions failed; --retry asks them again" in done.stderr
    assert "1 of 6 questions failed and count 0: " in done.stdout
    sent = len(server.requests)
    assert ok(run("run", "own.toml", "--questions", "q.jsonl", "--threads", 1, "--retry")).stderr
    assert len(server.requests) == sent + 1


def test_the_sample(run, sample_library, server):
    done = cli(sample_library.folder.resolve(), "experiment", "run", "rirag-5", "--questions", str(sample.questions()), "--model", f"{server.url}#local")  # fmt: skip
    assert "BM25 (passage-only) + GPT-4" in ok(done).stdout
    assert "2 rows of 2 run here." in done.stdout
