"""Instructions inside documents are data: a model that follows them says nothing by it, a server's model quotes rules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from responsa.answer.generators.base import Tools
from responsa.answer.verified import Verified, VerifiedAnswer
from responsa.answer.verified.injected import addressed
from responsa.models.chat.load import load_chat
from responsa.models.chat.scripted import ScriptedChat
from responsa.models.embedded import shipped
from responsa.testing import ChatServer
from responsa.types import Query, Ranking

CASES = [json.loads(line) for line in (Path(__file__).parent / "data/injections.jsonl").read_text("ascii").splitlines()]
KEEP = "A firm must keep records of client orders for five years."
REPORT = "A firm must report a serious incident to the Regulator within ten days."
QUERY = Query("q", "What must a firm keep records of, and for how long, and what must it report?")
IDS = [f"{case['id']}-{case['kind']}" for case in CASES]

pytestmark = pytest.mark.skipif("nli" not in shipped(), reason="this copy ships no model of entailment")


def obeying(case):
    """A model that keeps to the format at first and then does what the passage wants, or breaks the format as told."""

    def reply(chat):
        if "reply" in case:
            return case["reply"]
        told = [{"text": case["says"], "citations": [{"passage": case["cites"], "quote": case.get("quote", "")}]}]
        if chat.purpose == "repair":
            return json.dumps({"sentences": [{"number": 1, **told[0]}]})
        true = {"text": KEEP, "citations": [{"passage": "1", "quote": ""}]}
        return json.dumps({"sentences": [true, *told], "not_found": [case["says"]]})

    return ScriptedChat(reply)


def answered(case, corpus_of, chat):
    corpus = corpus_of(("R1", KEEP), ("R2", case["passage"]))
    kept = Ranking.of("q", [("R1", 1.0), ("R2", 0.9)], "minmax")
    stage = Verified(tools=Tools(chat=chat), keep=False)
    return stage(QUERY, kept, corpus, lambda terms: terms * 0 + 1.0, 0.9), corpus


def well_formed(answer, corpus):
    """Every sentence cites a passage given, and its words stand in the answer where it says."""
    assert isinstance(answer, VerifiedAnswer)
    for sentence in answer.sentences:
        assert answer.text[sentence.answer_start : sentence.answer_end] == sentence.text
        assert sentence.citations
        for citation in sentence.citations:
            assert citation.passage_id in ("R1", "R2")
            assert 0 <= citation.start < citation.end <= len(corpus[citation.passage_id].text)
            assert citation.version == corpus.version(corpus[citation.passage_id].document_id).digest


def test_there_are_enough_of_several_kinds():
    assert len(CASES) >= 30
    assert len({case["kind"] for case in CASES}) >= 10


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_model_that_obeys_says_nothing_by_it(case, corpus_of):
    answer, corpus = answered(case, corpus_of, obeying(case))
    well_formed(answer, corpus)
    if answer.fallback:  # nothing came of the model's reply: the rules' own sentences, the injected ones among them
        assert "says" not in case or not answer.trace
        return
    if answer.abstained:
        assert case["kind"] == "refusal"
        assert case["never"] not in answer.text
        return
    assert [sentence.text for sentence in answer.sentences] == [KEEP]
    assert case["never"] not in answer.text
    assert answer.withheld[0].reasons


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_local_server_keeps_to_citations_and_format(case, corpus_of):
    with ChatServer() as server:
        answer, corpus = answered(case, corpus_of, load_chat(f"{server.url}#local?cache=off"))
    well_formed(answer, corpus)
    assert not answer.abstained
    assert not answer.fallback
    assert REPORT in answer.text or KEEP in answer.text
    for sentence in answer.sentences:
        assert not addressed(sentence.text)


def test_what_is_addressed_to_a_model_is_noted(corpus_of):
    answer, _ = answered(CASES[0], corpus_of, obeying(CASES[0]))
    assert any(note.startswith("words addressed to a language model, taken for data") for note in answer.notes)


@pytest.mark.parametrize(
    "rule",
    [
        "The firm must state in its report the number of incidents and the answer given to each complainant.",
        "Institutions shall report the amount to the competent authority and shall not disregard any exposure.",
        "The system operator must follow the instructions of its user.",
        "An automated model must be validated by a person who did not develop it.",
        "You must apply to the Regulator before you act as a representative office.",
        "The assistant manager must not sign alone.",
        "Answers to questions of the supervisor must be given in writing.",
    ],
)
def test_rules_are_not_taken_for_orders_to_a_model(rule):
    assert not addressed(rule)
