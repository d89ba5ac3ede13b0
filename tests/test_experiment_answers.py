"""Experiments with answers against a local server: what is kept, what is asked again, what is written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import asdict
from datetime import date

import pytest

from answering import Tried, inquiries, recipe, table
from responsa.answer.generators import together
from responsa.answer.generators.base import Failed
from responsa.answer.generators.vrr import Vrr
from responsa.errors import InputError
from responsa.evaluate import repass
from responsa.evaluate.judge import Judge
from responsa.evaluate.repass_files import read_answers
from responsa.experiment import answer_data, answer_run
from responsa.experiment.answer_results import cost
from responsa.experiment.answer_scores import Scorer
from responsa.experiment.answer_table import AnswerRow
from responsa.experiment.answers import Answering
from responsa.models.chat.load import load_chat
from responsa.testing import ChatServer
from responsa.testing.replies import sensible
from responsa.types import Call

pytest.importorskip("pydantic_ai", reason="needs responsa[llm]")

RULES = {
    "rules.jsonl": "".join(
        json.dumps({"id": f"R{n}", "text": f"A firm must keep records of item {n}."}) + "\n" for n in range(8)
    )
}


@pytest.fixture(scope="module")
def library(library_of):
    return library_of(RULES)


@pytest.fixture
def asked(tmp_path):
    return answer_data.read([inquiries(tmp_path / "q.jsonl", 12)], (), "", True, lambda _: None)


def rating(chat):
    """Rates by the question's number, and answers any other request as a server does."""
    if chat.schema is not None and "rating" in chat.schema.get("properties", {}):
        number = int(chat.text.rpartition("Must firm ")[2].split()[0])
        return json.dumps({"reason": "It says so.", "rating": number % 4 + 1})
    return sensible(chat)


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with ChatServer(reply=rating) as running:
        monkeypatch.setenv("RESPONSA_CHAT_MODEL", f"{running.url}#local")
        yield running


@pytest.fixture
def tried(tmp_path, library, asked, server):
    return Tried(tmp_path, library, asked, Scorer((Judge(load_chat()),)))


def row(found, name):
    return next(each for each in found["rows"] if each["name"] == name)


# --- figures


def test_the_table_of_the_bank_of_italy(tried, tmp_path):
    made = table(recipe(tmp_path, "passages", kind="passages"), recipe(tmp_path, "zero", kind="zero-shot"))
    found = tried(made)
    first, second = found["rows"]
    # Twelve questions are rated 1, 2, 3, 4 three times over: the mean is 2.5, the deviation sqrt(15 / 11).
    means = first["means"]["all"]
    assert means["average"]["mean"] == 2.5
    assert means["deviation"]["mean"] == pytest.approx((15 / 11) ** 0.5)
    assert means["correct"] == {"mean": 6}
    assert means["correct %"]["mean"] == 50
    assert means["correct %"]["low"] < 50 < means["correct %"]["high"]
    assert first["counts"] == {f"rated {n}": 3 for n in (1, 2, 3, 4)}
    assert second["differences"]["all"]["average"]["mean"] == 0
    assert (first["answered"], first["abstained"], first["failed"], first["unscored"]) == (12, 0, {}, {})
    assert first["cost"]["written"]["requests"] == first["cost"]["judged"]["requests"] == 12
    assert tried.said == []
    assert set(tried.bytes()) == {
        "results.json", "manifest.json", "table.md", "passages.answers.json", "zero.answers.json", "average.svg",
        "correct-share.svg", "ratings.svg",
    }  # fmt: skip
    page = (tmp_path / "out" / "tried" / "table.md").read_text()
    assert "| passages | 2.500 [1.92 3.08] |" in page
    assert "| zero | 2.500 [1.92 3.08] | +0.000 [+0.00 +0.00] |" in page
    answers = json.loads((tmp_path / "out" / "tried" / "passages.answers.json").read_text())
    assert [item["QuestionID"] for item in answers] == [query.id for query in tried.asked.queries]
    assert all(item["Answer"] and item["RetrievedPassages"] for item in answers)


def test_published_figures_are_never_ours(tried, tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    figures = {"average": 3.9, "deviation": 0.1, "correct": 46.0, "correct %": 100.0}
    far = recipe(tmp_path, "far", kind="passages", model="openai:gpt-4o")
    near = recipe(tmp_path, "near", kind="passages")
    rows = (AnswerRow(far, "far", figures), AnswerRow(near, "near", figures), AnswerRow("", "people", figures))
    found = tried(table(*rows))
    assert [each["state"] for each in found["rows"]] == ["not run here", "done", "not run here"]
    assert "OPENAI_API_KEY" in row(found, "far")["reason"]
    assert "means" not in row(found, "far")
    assert row(found, "near")["means"]["all"]["average"]["mean"] == 2.5
    page = (tmp_path / "out" / "tried" / "table.md").read_text()
    assert "| far | 3.90 | not run here | 0.10 | not run here | 46 | not run here | 100.0 | not run here |" in page
    assert "- people: not run here: its answers are not public." in page
    assert page.count("OPENAI_API_KEY") == 1


def test_the_tables_of_repass(tmp_path, library, asked, server):
    from responsa.cli import checking
    from responsa.entailment import protocol

    models = checking.scoring_models("embedded:nli", "embedded:nli", "rules", False, False)
    tried = Tried(tmp_path, library, asked, Scorer((), models, protocol("strict")))
    noc = recipe(tmp_path, "noc", kind="noc")
    vrr = recipe(tmp_path, "vrr", kind="vrr", behaviour="published", candidates=2, rounds=1)
    rows = [AnswerRow(vrr, step, step=step) for step in ("first candidate", "verified", "obligations inserted, 1")]
    found = tried(table(noc, *rows, vrr, scores="repass"))
    assert [each["state"] for each in found["rows"]] == ["done"] * 5
    means = [each["means"]["all"]["RePASs"]["mean"] for each in found["rows"]]
    written = read_answers(tmp_path / "out" / "tried" / "noc.answers.json")
    alone = repass.means(repass.score_answers(written, protocol("strict"), models))
    assert {name: each["mean"] for name, each in row(found, "noc")["means"]["all"].items()} == {
        "RePASs": alone["composite"].mean, **{name: alone[name].mean for name in ("coverage", "entailment", "contradiction")}
    }  # fmt: skip
    assert means[1] <= means[2]  # the best of two candidates is no worse than the first
    assert found["rows"][1]["cost"] == found["rows"][4]["cost"]  # one system, asked once
    assert len(list((tmp_path / "out" / "journals").glob("vrr-*.jsonl"))) == 1
    assert row(found, "noc")["cost"]["written"]["requests"] == 0
    assert found["rows"][1]["flags"] == []  # as published, where the verifier is the metric


def test_a_verifier_that_is_the_metric_is_told(tmp_path, library, asked, server):
    from responsa.cli import checking
    from responsa.entailment import protocol

    models = checking.scoring_models("embedded:nli", "embedded:nli", "rules", False, False)
    tried = Tried(tmp_path, library, asked, Scorer((), models, protocol("strict")))
    found = tried(table(recipe(tmp_path, "own", kind="vrr", candidates=1, rounds=0), scores="repass"))
    (flag,) = row(found, "own")["flags"]
    assert "which scores them too and flatters them; name another verifier_nli" in flag
    assert f"- own: {flag}." in (tmp_path / "out" / "tried" / "table.md").read_text()


# --- twice


def test_the_same_experiment_twice_asks_nothing_and_gives_the_same_bytes(tried, tmp_path, server):
    made = table(recipe(tmp_path, "passages", kind="passages"), recipe(tmp_path, "loc", kind="loc", tries=1))
    tried(made)
    first, sent = tried.bytes(), len(server.requests)
    assert sent > 24
    tried(made)
    assert tried.bytes() == first
    tried(made, "elsewhere")  # without the journals, from the cache of replies
    assert tried.bytes("elsewhere") == first
    assert len(server.requests) == sent


def test_what_is_changed_is_asked_and_what_was_paid_stays(tried, tmp_path, server):
    settings = {"kind": "passages", "model": f"{server.url}#local?cache=off"}
    made = table(recipe(tmp_path, "own", **settings))
    tried(made)
    before = len(server.requests)
    table(recipe(tmp_path, "own", **settings, max_tokens=99))
    tried(made)
    assert len(server.requests) == before + 12  # no rating: the same answers are rated already
    recipe(tmp_path, "own", **settings)
    tried(made)
    assert len(server.requests) == before + 12
    tried(made, fresh=True)
    assert len(server.requests) == before + 24


def test_more_questions_ask_for_those_alone(tried, tmp_path, library, server):
    made = table(recipe(tmp_path, "own", kind="passages", model=f"{server.url}#local?cache=off"))
    tried(made)
    before = len(server.requests)
    more = answer_data.read([inquiries(tmp_path / "more.jsonl", 15)], (), "", True, lambda _: None)
    found = Tried(tmp_path, library, more, tried.scorer)(made)
    assert row(found, "own")["asked"] == 15
    assert len(server.requests) == before + 6


# --- failures


def test_questions_that_fail_are_listed_and_asked_again_on_demand(tried, tmp_path, server):
    made = table(recipe(tmp_path, "own", kind="passages", model=f"{server.url}#local?threads=1"))
    server.faults("ok", "refusal", "over-long")
    found = tried(made, threads=1)
    failed = row(found, "own")["failed"]
    assert set(failed) == {"q001", "q002"}
    assert "refused" in failed["q001"] or "refus" in failed["q001"]
    assert row(found, "own")["answered"] == 10
    assert sum(row(found, "own")["counts"].values()) == 12  # those without an answer are rated 1
    assert tried.said == ["own: 2 of 12 questions failed; --retry asks them again"]
    page = (tmp_path / "out" / "tried" / "table.md").read_text()
    assert "- own: 2 of 12 questions failed and are rated 1: " in page
    assert f"- q001: {failed['q001']}" in page
    sent = len(server.requests)
    tried(made)
    assert len(server.requests) == sent
    found = tried(made, retry=True)
    assert row(found, "own")["failed"] == {}
    assert len(server.requests) == sent + 4  # two answers, two ratings


def test_a_wrong_key_stops_a_row_and_is_told_once(tmp_path, library, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    many = answer_data.read([inquiries(tmp_path / "q.jsonl", 60)], (), "", True, lambda _: None)
    monkeypatch.setenv("RESPONSA_API_KEY", "wrong-key-of-mine")
    with ChatServer(key="right") as server, ChatServer(reply=rating) as judge:
        tried = Tried(tmp_path, library, many, Scorer((Judge(load_chat(f"{judge.url}#judge")),)))
        made = table(recipe(tmp_path, "own", kind="passages", model=f"{server.url}#local"))
        found = tried(made, threads=2)
        assert row(found, "own")["state"] == "failed"
        assert row(found, "own")["reason"].startswith("none of the first 20 questions got an answer: ")
        assert len(server.requests) < 30
        assert len(tried.said) == 1
        assert "wrong-key-of-mine" not in json.dumps(found)
        monkeypatch.setenv("RESPONSA_API_KEY", "right")
        assert row(tried(made), "own")["answered"] == 60


def test_an_answer_that_stands_in_for_the_models_is_none(tried, tmp_path, server):
    made = table(recipe(tmp_path, "own", kind="verified", model=f"{server.url}#local?threads=1"))
    server.faults("ok", "refusal", "over-long")
    found = row(tried(made, threads=1), "own")
    assert 0 < len(found["failed"]) < 12
    assert found["answered"] == 12 - len(found["failed"])
    assert row(tried(made, retry=True), "own")["failed"] == {}


def fail(monkeypatch, *names):
    """From now on these questions, or all, fail for one reason and without a token."""
    real = together.attempt

    def attempt(stage, task, corpus, idf):
        if not names or task.query.id in names:
            return Failed(task.query, "the model refuses")
        return real(stage, task, corpus, idf)

    monkeypatch.setattr(together, "attempt", attempt)


@pytest.mark.parametrize("retry", [True, False])
def test_the_last_questions_failing_alike_leave_the_answers_of_the_others(tried, tmp_path, monkeypatch, retry):
    made = table(recipe(tmp_path, "own", kind="passages"))
    fail(monkeypatch, "q010", "q011")
    if not retry:  # a kill before the last two
        short = answer_data.read([inquiries(tmp_path / "short.jsonl", 10)], (), "", True, lambda _: None)
        assert row(Tried(tmp_path, tried.library, short, tried.scorer)(made), "own")["answered"] == 10
    else:
        tried(made)
    found = row(tried(made, retry=retry), "own")
    assert (found["state"], found["answered"]) == ("done", 10)
    assert found["failed"] == {"q010": "the model refuses", "q011": "the model refuses"}
    assert found["means"]["all"]["average"]["n"] == 12
    assert (tmp_path / "out" / "tried" / "own.answers.json").is_file()


def test_where_nothing_was_answered_before_nothing_is_kept(tried, tmp_path, monkeypatch):
    made = table(recipe(tmp_path, "own", kind="passages"))
    fail(monkeypatch)
    for _ in range(2):
        found = row(tried(made, retry=True), "own")
        assert found["reason"] == "none of the first 12 questions got an answer: the model refuses"
        assert not list((tmp_path / "out" / "journals").glob("*.jsonl"))


def test_answers_that_are_all_asked_anew_are_not_lost_to_failures(tried, tmp_path, monkeypatch):
    made = table(recipe(tmp_path, "own", kind="vrr", behaviour="published", candidates=1, rounds=0))
    short = answer_data.read([inquiries(tmp_path / "short.jsonl", 1)], (), "", True, lambda _: None)
    first = Tried(tmp_path, tried.library, short, tried.scorer)
    assert row(first(made), "own")["answered"] == 1
    (journal,) = (tmp_path / "out" / "journals").glob("own-*.jsonl")
    before = journal.read_text()
    monkeypatch.setattr(Answering, "_left", lambda _self, _record: True)
    monkeypatch.setattr(Vrr, "steps", lambda _self, tasks, *_: [(Failed(each.query, "no"), []) for each in tasks])
    assert row(first(made), "own")["state"] == "failed"
    assert journal.read_text() == before


def test_a_judge_that_gives_no_rating_leaves_answers_unscored(tried, tmp_path):
    def silent(chat):
        return "I would rather not say." if "Must firm 3 " in chat.text else rating(chat)

    made = table(recipe(tmp_path, "own", kind="noc"))
    with ChatServer(reply=silent) as judge:
        tried.scorer = Scorer((Judge(load_chat(f"{judge.url}#judge")),))
        found = row(tried(made), "own")
        assert list(found["unscored"]) == ["q003"]
        assert sum(found["counts"].values()) == 11
        assert len(judge.requests) == 11 + 3
        assert found["cost"]["judged"]["requests"] == 11 + 3
        tried(made)  # neither is it asked again
        assert len(judge.requests) == 11 + 3
        assert "1 answers could not be rated and count nothing" in (tmp_path / "out" / "tried" / "table.md").read_text()


def test_requests_are_counted_as_they_were_sent():
    calls = [
        Call("judge", "m", "p", attempts=attempts, cached=not attempts and not error, error=error)
        for attempts, error in ((1, ""), (3, "no JSON"), (0, ""), (0, "the prompt is too long"))
    ]
    assert cost(map(asdict, calls))["requests"] == 1 + 3 + 1 + 0


def test_no_judge_no_row(tried, tmp_path, server):
    tried.scorer = Scorer(reason="no language model rates the answers")
    found = tried(table(recipe(tmp_path, "own", kind="passages")))
    assert row(found, "own")["reason"] == "no language model rates the answers"
    assert server.requests == []


# --- before anything is sent


def test_a_dry_run_sends_nothing_and_foresees_what_is_left(tried, tmp_path, server):
    rows = (recipe(tmp_path, "own", kind="passages"), recipe(tmp_path, "multi", kind="multi-step", shots=0))
    made = table(*rows)
    before = answer_run.plans(made, tried.answering(), tried.scorer)
    assert server.requests == []
    assert not (tmp_path / "out").exists()
    calls = {label: {each.purpose.split(" ")[0]: each.calls for each in rows} for label, _, rows in before}
    assert calls == {"own": {"answer": 12, "judge": 12}, "multi": {"implicit": 12, "answer": 12, "judge": 12}}
    tried(made)
    assert len(server.requests) == 48  # both rows came to the same answers, which are rated once
    after = answer_run.plans(made, tried.answering(), tried.scorer)
    assert sum(each.calls for _, _, rows in after for each in rows if each.purpose == "answer") == 0


def test_what_rows_share_is_planned_once(tried, tmp_path, server):
    path = recipe(tmp_path, "own", kind="passages")
    rows = [AnswerRow(path, f"own, k={k}", k=k) for k in (1, 2, 3)]
    planned = answer_run.plans(table(*rows), tried.answering(), tried.scorer)
    answers, judged = ([rows[place] for _, _, rows in planned] for place in (0, 1))
    assert [each.calls for each in judged] == [12, 12, 12]  # what is rated is not known
    assert [each.calls + each.known for each in answers] == [12, 12, 12]
    assert answers[2].known > 0  # few passages are found
    answering = tried.answering()
    answering.folder.mkdir(parents=True)
    assert {answering.row(row).state for row in rows} == {"done"}
    assert len(server.requests) == sum(each.calls for each in answers) < 36


def test_a_dry_run_does_not_ask_a_reranker(tried, tmp_path, server):
    path, other = tmp_path / "ranked.toml", tmp_path / "other.toml"
    path.write_text(
        '[[retrieve]]\nkind = "bm25"\n[[rerank]]\nkind = "listwise"\ndepth = 30\nwindow = 20\nstep = 5\n'
        '[abstain]\nkind = "term-coverage"\nleast = 0\n[answer]\nkind = "passages"\n'
    )
    other.write_text(path.read_text() + "temperature = 0.5\n")
    (_, _, rows), (_, _, more) = answer_run.plans(table(str(path), str(other)), tried.answering(), tried.scorer)
    assert server.requests == []
    assert [(each.purpose, each.calls) for each in rows[:2]] == [("rerank", 36), ("answer", 12)]
    assert [(each.calls, each.known) for each in more[:2]] == [(0, 36), (12, 0)]


def test_check_tells_of_every_need(tmp_path, monkeypatch):
    monkeypatch.delenv("RESPONSA_CHAT_MODEL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    made = table(
        recipe(tmp_path, "own", kind="few-shot", examples="none.jsonl"),
        recipe(tmp_path, "far", kind="passages", model="openai:gpt-4o"),
        recipe(tmp_path, "noc", kind="noc"),
    )
    own, far, noc = answer_run.check(made)
    assert own["needs"] == ["RESPONSA_CHAT_MODEL", "none.jsonl"]
    assert "RESPONSA_CHAT_MODEL" in own["reason"]
    assert own["reason"].endswith("also: there is no file 'none.jsonl'")
    assert far["needs"] == ["openai:gpt-4o"]
    assert "OPENAI_API_KEY" in far["reason"]
    assert (noc["runs"], noc["reason"]) == (True, "")


# --- questions


def test_questions_on_a_topic_with_their_days(tmp_path):
    said = []
    found = answer_data.read([inquiries(tmp_path / "q.jsonl", 12)], (), "liquidity  RISK", True, said.append)
    assert [query.id for query in found.queries] == [f"q{n:03}" for n in range(1, 12, 2)]
    assert found.days["q003"] == date(2013, 1, 1)
    assert said == ["6 of 12 questions are on 'liquidity  RISK'; the others are left out"]
    with pytest.raises(InputError, match="no question is on the topic 'Fraud'; topics: Liquidity risk, Own funds"):
        answer_data.read([tmp_path / "q.jsonl"], (), "Fraud", True, said.append)


def test_questions_without_an_official_answer(tmp_path):
    said = []
    (tmp_path / "q.jsonl").write_text('{"id": "a", "question": "What?"}\n{"id": "b", "question": "Why?"}\n')
    (tmp_path / "r.json").write_text('{"b": "Because."}')
    found = answer_data.read([tmp_path / "q.jsonl"], [tmp_path / "r.json"], "", True, said.append)
    assert [query.id for query in found.queries] == ["b"]
    assert said == ["1 of 2 questions have no official answer and are left out"]
    assert len(answer_data.read([tmp_path / "q.jsonl"], (), "", False, said.append).queries) == 2
    with pytest.raises(InputError, match="no question has an official answer"):
        answer_data.read([tmp_path / "q.jsonl"], (), "", True, said.append)
    with pytest.raises(InputError, match="is in another file too"):
        answer_data.read([tmp_path / "q.jsonl"] * 2, (), "", False, said.append)


def test_examples_are_from_before_the_question(tried, tmp_path, server):
    examples = [
        {
            "id": f"e{year}",
            "question": f"What of {year}, please?",
            "answer": f"Answered in {year}.",
            "date": f"{year}-06-01",
        }
        for year in range(2008, 2024)
    ]
    (tmp_path / "e.jsonl").write_text("".join(json.dumps(each) + "\n" for each in examples))
    tried(table(recipe(tmp_path, "few", kind="few-shot", examples=str(tmp_path / "e.jsonl"), shots=3)))
    asked = [request.body["messages"][-1]["content"] for request in server.requests]
    seen = 0
    for text in (each for each in asked if each.startswith("Examples:")):
        number = int(text.rpartition("Must firm ")[2].split()[0])
        years = [int(part[:4]) for part in text.split("Answered in ")[1:]]
        assert years
        assert max(years) < 2010 + number % 10
        seen += 1
    assert seen == 12


def test_examples_are_on_the_topic_of_the_question_where_there_are_some(tried, tmp_path, server):
    examples = [
        {
            "id": f"e{n}",
            "question": f"What of case {n}?",
            "answer": f"On {topic}.",
            "topic": topic,
            "date": "2001-01-01",
        }
        for n, topic in enumerate(("Liquidity risk", "Market risk") * 6)
    ]
    (tmp_path / "e.jsonl").write_text("".join(json.dumps(each) + "\n" for each in examples))
    settings = {"examples": str(tmp_path / "e.jsonl"), "shots": 3, "topic": "Market risk"}
    tried(table(recipe(tmp_path, "few", kind="few-shot", **settings)))
    asked = [request.body["messages"][-1]["content"] for request in server.requests]
    shown = [text for text in asked if text.startswith("Examples:")]
    assert len(shown) == 12
    for text in shown:
        of_liquidity = int(text.rpartition("Must firm ")[2].split()[0]) % 2
        assert ("On Liquidity risk." in text, "On Market risk." in text) == (bool(of_liquidity), not of_liquidity)


# --- the long one


FAULTS = ("429", "500", "slow:6", "cut", "invalid", "refusal", "empty", "over-long")


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.1 / len(FAULTS), 0.1], ids=["a tenth of all replies", "a tenth in every way"])
def test_five_hundred_questions_and_a_server_that_fails(tmp_path, library, monkeypatch, share):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    asked = answer_data.read([inquiries(tmp_path / "q.jsonl", 500)], (), "", True, lambda _: None)
    with ChatServer(reply=rating, share=dict.fromkeys(FAULTS, share)) as server:
        name = f"{server.url}#local?timeout=4&threads=32"
        tried = Tried(tmp_path, library, asked, Scorer((Judge(load_chat(name)),)))
        made = table(recipe(tmp_path, "own", kind="passages", model=name))
        found = row(tried(made, threads=32), "own")
        assert found["asked"] == 500
        assert found["answered"] + len(found["failed"]) == 500
        assert all(found["failed"].values())
        assert len(found["failed"]) > 0
        lines, rated = journal(tmp_path, "own-*"), journal(tmp_path, "own.ratings-*")
        assert Counter(line["id"] for line in lines) == Counter(query.id for query in asked.queries)
        assert Counter(line["id"] for line in rated) == Counter(line["id"] for line in lines if line["answer"])
        assert all(line["value"] or line["error"] for line in rated)
        attempts = [sum(call["attempts"] for call in line["trace"]) for line in (*lines, *rated)]
        assert set(attempts) <= {1, 2, 3}
        sent = len(server.requests)
        # a connection that ends as it is used again, or a busy machine, can end an attempt before the server has read it
        assert 0 <= sum(attempts) - sent <= 5
        assert sum(spent["requests"] for spent in found["cost"].values()) == sum(attempts)
        first = tried.bytes()
        tried(made, threads=32)
        assert (len(server.requests), tried.bytes()) == (sent, first)


def journal(folder, pattern):
    (path,) = (folder / "out" / "journals").glob(f"{pattern}.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()[1:]]


@pytest.mark.slow
@pytest.mark.parametrize("cache", ["on", "off"])
@pytest.mark.parametrize("killed_after", [40, 150], ids=["while answering", "while rating"])
def test_a_kill_half_way_loses_no_reply_that_was_paid(tmp_path, library, cache, killed_after):
    """Every thread waits for a reply that never comes, so that all that came before has been kept; then it is killed."""
    threads = 4
    stuck, answered = threading.Semaphore(0), Counter()
    lock, killed = threading.Lock(), threading.Event()

    def reply(chat):
        with lock:
            wait = not killed.is_set() and answered.total() >= killed_after
            answered[json.dumps(chat.body, sort_keys=True)] += not wait
        if wait:
            stuck.release()
            killed.wait()
            return "too late"
        return rating(chat)

    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1"}
    with ChatServer(reply=reply) as server:
        name = f"{server.url}#local?cache={cache}&threads={threads}&timeout=60"
        command = [
            sys.executable, "-m", "responsa", "--library", str(library.folder), "experiment", "run",
            recipe(tmp_path, "own", kind="passages", model=name), "--score", "ratings", "--judge", name,
            "--questions", str(inquiries(tmp_path / "q.jsonl", 100)), "--out", str(tmp_path / "out"),
            "--threads", str(threads),
        ]  # fmt: skip
        first = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
        for _ in range(threads):
            assert stuck.acquire(timeout=120)
        first.send_signal(signal.SIGKILL)
        assert first.wait() == -signal.SIGKILL
        killed.set()
        assert answered.total() == killed_after
        again = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert again.returncode == 0, again.stderr
        assert [body for body, times in answered.items() if times != 1] == []  # what had a reply is not sent again
        assert answered.total() == 200
        assert Counter(line["id"] for line in journal(tmp_path, "own-*")) == Counter(f"q{n:03}" for n in range(100))
        pages = {path.name: path.read_bytes() for path in (tmp_path / "out" / "answers").iterdir()}
        third = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert third.returncode == 0, third.stderr
        assert answered.total() == 200
        assert {path.name: path.read_bytes() for path in (tmp_path / "out" / "answers").iterdir()} == pages
        assert len(server.requests) == 200 + threads
