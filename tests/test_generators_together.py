"""Many questions at once: order, failures in their places, what stops all; and every generator on real questions."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial

import pytest

from generating import DOWN, KEEP, TELL, idf, model, tasks, tools, verifier
from responsa import questions, recipe
from responsa.answer import ANSWERERS
from responsa.answer.extractive import Extractive
from responsa.answer.generators.base import Failed, Task, Tools
from responsa.answer.generators.concatenated import Loc
from responsa.answer.generators.passages import Passages
from responsa.answer.generators.together import answers
from responsa.answer.generators.vrr import EMPTIED, Vrr
from responsa.answer.verified import Verified, VerifiedAnswer
from responsa.corpus import library
from responsa.corpus.library import Library
from responsa.engine import Engine, prepare
from responsa.errors import InputError, ModelError
from responsa.models.chat.scripted import ScriptedChat
from responsa.retrieval.scale import minmax
from responsa.testing.chat import ChatServer
from responsa.types import Answer, Ranking


@pytest.fixture(scope="session")
def rules(corpus_of):
    return corpus_of(("a", KEEP), ("b", TELL))


def names(*found):
    return [each.query.id for each in found]


def test_answers_come_in_order_though_made_at_once(rules):
    many = tasks(rules, *(f"case{n}" for n in range(6)))
    met = threading.Barrier(3, timeout=30)

    def answer(chat):
        met.wait()  # three questions are asked at a time, or this breaks
        return chat.messages[1].text.rpartition("Question:\n")[2]

    found = list(answers(Passages(tools=tools(ScriptedChat(answer))), many, rules, idf(rules), 3))
    assert names(*found) == [task.query.id for task in many]
    assert [each.text for each in found] == [task.query.text for task in many]


def test_a_question_that_fails_stands_in_its_place(rules):
    def answer(chat):
        if "What of two?" in chat.messages[1].text:
            raise DOWN
        return "Yes."

    one, two, three = answers(Passages(tools=tools(ScriptedChat(answer))), tasks(rules, "one", "two", "three"), rules, idf(rules))  # fmt: skip
    assert (one.text, three.text) == ("Yes.", "Yes.")
    assert isinstance(two, Failed)
    assert (two.query.id, two.reason, [call.purpose for call in two.trace]) == ("two", "the server is down", ["answer"])


def test_a_passage_removed_meanwhile_is_that_questions_alone(rules):
    gone = Task(tasks(rules, "gone")[0].query, Ranking.of("gone", [("nowhere", 1.0)]), 0.9)
    found = list(answers(Passages(tools=tools(model("Yes."))), [gone, *tasks(rules, "one")], rules, idf(rules)))
    assert isinstance(found[0], Failed)
    assert "'nowhere'" in found[0].reason
    assert isinstance(found[1], Answer)


def test_what_would_stop_every_question_stops_at_once(rules, monkeypatch):
    monkeypatch.delenv("RESPONSA_CHAT_MODEL", raising=False)
    with pytest.raises(InputError, match="RESPONSA_CHAT_MODEL"):
        list(answers(Passages(), tasks(rules, "one", "two"), rules, idf(rules)))
    assert list(answers(Passages(), [], rules, idf(rules))) == []


def test_who_stops_reading_stops_the_asking(rules):
    chat = model("Yes.")
    found = answers(Passages(tools=tools(chat)), tasks(rules, *(f"case{n}" for n in range(200))), rules, idf(rules), 1)
    next(found)
    found.close()
    assert len(chat.asked) < 200


def test_other_stages_answer_one_by_one(rules):
    def refuse(_chat):
        raise ModelError("not to be asked")

    assert ScriptedChat(refuse).asked == []
    found = list(answers(Extractive(), tasks(rules, "one", "two"), rules, idf(rules)))
    assert names(*found) == ["one", "two"]
    assert KEEP in found[0].text


# --- what would stop every question, found while asking


@pytest.fixture
def served(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("RESPONSA_API_KEY", raising=False)


def all_of(stage, rules, count=12, threads=2):
    return list(answers(stage, tasks(rules, *(f"case{n}" for n in range(count))), rules, idf(rules), threads))


@pytest.mark.parametrize("stage", [Passages, Loc, Vrr, Verified])
def test_a_missing_key_is_told_once(rules, served, monkeypatch, stage):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelError, match="OPENAI_API_KEY"):
        all_of(stage(model="openai:any"), rules)


@pytest.mark.parametrize(
    ("given", "problem"), [({"key": "right"}, "RESPONSA_API_KEY"), ({"models": ("other",)}, "any")]
)
def test_a_wrong_key_and_an_unknown_model_end_the_asking(rules, served, given, problem):
    with ChatServer(**given) as server:
        with pytest.raises(ModelError, match=problem):
            all_of(Passages(model=f"{server.url}#any"), rules)
        assert len(server.requests) < 12


def test_what_is_in_the_cache_needs_no_key(rules, served, monkeypatch):
    monkeypatch.setenv("RESPONSA_API_KEY", "right")
    with ChatServer(key="right") as server:
        stage = Passages(model=f"{server.url}#any")
        first = all_of(stage, rules)
        monkeypatch.delenv("RESPONSA_API_KEY")
        assert [each.text for each in all_of(stage, rules)] == [each.text for each in first]
        assert len(server.requests) == 12
        refused = all_of(replace(stage, seed=1), rules)  # the server has answered before, so each question is told
        assert [isinstance(each, Failed) and "RESPONSA_API_KEY" in each.reason for each in refused] == [True] * 12


@pytest.mark.parametrize("stage", [Passages, Loc, partial(Vrr, rounds=0)])
def test_who_goes_away_leaves_no_request_on_its_way(rules, served, stage):
    arrived, late = threading.Semaphore(0), []

    def answer(asked):
        if "case0?" not in asked.prompt:
            arrived.release()
            late.extend([] if server._stopping.wait(60) else ["waited for"])
        return KEEP

    with ChatServer(reply=answer) as server:
        asking = stage(model=f"{server.url}#any?threads=20", tools=Tools(verifier=verifier({})))
        found = answers(asking, tasks(rules, *(f"case{n}" for n in range(30))), rules, idf(rules), 3)
        assert names(next(found)) == ["case0"]
        arrived.acquire(timeout=30)
        found.close()  # as Ctrl-C does; waits for no reply
        assert asking.chat.inner.wire._made.flying == set()
        assert late == []
        assert len(server.requests) < 30


# --- real questions


@pytest.fixture(scope="module")
def adgm(data, tmp_path_factory):
    """The rulebooks of ObliQA, and for twenty questions the passages kept."""
    if not (data / "obliqa" / "documents").is_dir():
        pytest.skip(f"no ObliQA in {data}; set RESPONSA_DATA")
    folder = tmp_path_factory.mktemp("adgm") / "library"
    words = recipe.load("bm25")
    library.add(folder, [data / "obliqa" / "documents"], prepare(words))
    queries = questions.read(data / "obliqa" / "dev.json")[:400:20]
    with Library.open(folder) as opened:
        corpus = opened.corpus()
        run = Engine(opened, words).run(queries, corpus=corpus)
        kept = [words.select(minmax(run.rankings[query.id])) for query in queries]
        yield corpus, [Task(query, ranking, 0.9) for query, ranking in zip(queries, kept, strict=True)]


EXAMPLES = "\n".join(
    f'{{"id": "e{n}", "question": "May a {who} do {what}?", "answer": "Yes, a {who} may do {what}."}}'
    for n, (who, what) in enumerate([("bank", "this"), ("fund", "that"), ("broker", "so"), ("firm", "it"), ("trust", "both")])
)  # fmt: skip
SHOTS = {"few-shot": {}, "multi-step": {"example_filter": True, "unit": "passage"}}


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(set(ANSWERERS) - {"extractive", "noc"}))
@pytest.mark.parametrize("behaviour", ["corrected", "published"])
def test_every_generator_on_twenty_questions(adgm, tmp_path, monkeypatch, kind, behaviour):
    if behaviour == "published" and kind not in ("loc", "vrr"):
        pytest.skip("has one behaviour")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    corpus, many = adgm
    settings: dict[str, object] = {"behaviour": behaviour} if kind in ("loc", "vrr") else {}
    if kind in SHOTS:
        (tmp_path / "examples.jsonl").write_text(EXAMPLES, encoding="utf-8")
        settings |= {"examples": str(tmp_path / "examples.jsonl"), **SHOTS[kind]}
    with ChatServer() as server:
        stage = ANSWERERS[kind](model=f"{server.url}#local", **settings)
        found = list(answers(stage, many, corpus, idf(corpus), 8))
        assert names(*found) == [task.query.id for task in many]
        made = [each for each in found if isinstance(each, Answer)]
        lost = [each.reason for each in found if isinstance(each, Failed)]
        if (kind, behaviour) == ("vrr", "published"):  # what is copied from a passage can contradict another
            assert set(lost) <= {EMPTIED}
            assert len(made) > len(lost)
        else:
            assert lost == []
        assert all(each.sentences for each in made)
        assert [each.query.id for each in made if isinstance(each, VerifiedAnswer) and each.fallback] == []
        for each in found:
            assert each.trace
            assert all(call.prompt and call.model and not call.error and call.tokens_in for call in each.trace)
        sent = sum(call.attempts for each in found for call in each.trace)
        assert sent == len(server.requests)
        again = list(answers(stage, many, corpus, idf(corpus), 8))
        assert [each.text for each in again if isinstance(each, Answer)] == [each.text for each in made]
        assert len(server.requests) == sent
