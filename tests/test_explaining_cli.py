"""score answers --explain and the check of ask, as they are typed, on tiny networks."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("torch", reason="needs responsa[train]")
pytest.importorskip("onnx", reason="needs responsa[train]")

from responsa.answer.ground import Checked, Contradiction, Place
from responsa.cli import asking
from responsa.models import embedded
from responsa.types import Answer, AnswerSentence, Query, Ranking
from test_classify import made
from test_cli import QUESTION, at, call, shared_folder
from test_entailing_cli import ANSWERS, answers, asked, models, own_cache
from test_render import EVIL, Page

__all__ = ["answers", "asked", "at", "call", "made", "models", "own_cache", "shared_folder"]  # fixtures


@pytest.mark.parametrize("protocol", ["reference", "paper", "strict"])
def test_explanations_as_json_fit_the_scores_and_ask_nothing_more(call, answers, models, asked, protocol, tmp_path):
    path = tmp_path / "why.json"
    scored = ["score", "answers", answers, "--protocol", protocol, *models, "--json"]
    first = call(*scored).json()
    asked.clear()
    done = call(*scored, "--explain", path)
    assert (done.json(), asked) == (first, [])
    assert done.err.endswith(f"explained in {path}\n")
    (file,) = json.loads(path.read_text(encoding="utf-8"))["files"]
    assert (file["file"], file["stamps"]) == (str(answers), first["files"][0]["stamps"])
    assert file["unanswered"] == {"q3": "no answer"}
    assert [each["id"] for each in file["answers"]] == ["q1", "2"]
    rows = [row for row in first["files"][0]["questions"] if row["id"] != "q3"]
    for told, row, given in zip(file["answers"], rows, ANSWERS, strict=False):
        assert all(told[name] == row[name] for name in ("entailment", "contradiction", "coverage", "composite"))
        best = [each["support"]["probability"] for each in told["sentences"]]
        assert sum(best) / len(best) == pytest.approx(row["entailment"], abs=1e-5)
        covered = sum(each["covered"] for each in told["obligations"])
        assert covered == row["obligations"]["covered"]
        assert len(told["obligations"]) == row["obligations"]["sources"]
        for name in ("entailment", "contradiction"):
            assert [len(line) for line in told["matrix"][name]] == [len(told["sources"])] * len(told["sentences"])
        for source in told["sources"]:
            for place in source["places"]:
                passage = given["RetrievedPassages"][place["passage"]]
                assert passage[place["start"] : place["end"]] in source["text"]


def test_explanations_as_a_page(call, models, tmp_path):
    source, path = tmp_path / "answers.json", tmp_path / "why.html"
    evil = {"QuestionID": EVIL, "RetrievedPassages": [f"The firm must report {EVIL}."], "Answer": f"{EVIL} \ud800"}
    source.write_text(json.dumps([*ANSWERS, evil]))
    done = call("score", "answers", source, "--explain", path, *models)
    assert done.code == 0, done.err
    text = path.read_text(encoding="utf-8")
    read = Page(text)
    assert "<script" not in text
    assert read.texts("h3") == ["q1", "2", EVIL]
    assert "Without an answer: q3 (no answer)." in read.texts("p")
    as_json = tmp_path / "why.json"
    assert call("score", "answers", source, "--explain", as_json, *models).code == 0
    assert json.loads(as_json.read_text())["files"][0]["answers"][2]["answer"] == f"{EVIL} \ud800"


def test_one_question_of_two_files(call, answers, models, tmp_path):
    other, path = tmp_path / "other.json", tmp_path / "why.json"
    other.write_text(json.dumps([{**row, "Answer": "The regulator."} for row in ANSWERS]))
    done = call("score", "answers", answers, other, "--explain", path, "--explain-id", "2", *models)
    assert done.code == 0, done.err
    files = json.loads(path.read_text())["files"]
    assert [(each["file"], [one["id"] for one in each["answers"]]) for each in files] == [(str(answers), ["2"]), (str(other), ["2"])]  # fmt: skip
    assert [each["unanswered"] for each in files] == [{}, {}]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--explain", "why.txt"], "--explain: 'why.txt' ends neither in .html, for a page, nor in .json"),
        (["--explain", "nowhere/why.html"], "there is no folder 'nowhere'"),
        (["--explain-id", "q1"], "give --explain too"),
        (["--explain", "why.html", "--explain-id", "q33"], "no question has the id 'q33'; did you mean 'q3'?"),
        (["--explain", "why.html", "--explain-id", "other"], "no question has the id 'other'\n"),
    ],
)
def test_wrong_options_of_explain(call, answers, models, options, message, asked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = call("score", "answers", answers, *models, *options)
    assert done.code == 1
    assert message in done.err
    assert (asked, list(tmp_path.glob("why*"))) == ([], [])


def test_the_answers_are_not_overwritten(call, answers, models):
    done = call("score", "answers", answers, *models, "--explain", answers)
    assert done.code == 1
    assert json.loads(answers.read_text()) == ANSWERS


# --- ask ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def nothing_ships(tmp_path, monkeypatch):
    monkeypatch.setattr(embedded, "weights", lambda: tmp_path / "none")


ASK = ("ask", QUESTION, "--recipe", "bm25")


RULE = "A firm must report a breach within ten days. The auditor must sign the annual accounts."


def test_ask_checks_with_the_model_named(call, made, asked, nothing_ships, tmp_path):
    (tmp_path / "rules.jsonl").write_text(json.dumps({"id": "r", "text": RULE}))
    assert call("--library", tmp_path / "own", "add", tmp_path / "rules.jsonl").code == 0
    ask = ["--library", tmp_path / "own", "ask", "When must a firm report a breach?", "--recipe", "bm25"]
    ask += ["--nli", f"onnx:{made / 'nli'}"]
    found = call(*ask, "--json").json()
    assert [(each["id"], each["text"]) for each in found["obligations"]] == [("r", RULE[45:])]
    assert 0 < found["obligations"][0]["probability"] < 0.7
    assert found["checked"]["nli"].startswith("toy-nli@")
    assert found["checked"]["obligations"].startswith("rules@")
    assert {sentence["grounding"] for sentence in found["sentences"]} == {1.0}
    (left,) = found["obligations"]
    assert set(left) == {"id", "version", "start", "end", "text", "probability"}
    assert RULE[left["start"] : left["end"]] == left["text"]
    assert asked == [(RULE[:44], RULE[45:])]  # what is quoted is not asked about
    asked.clear()
    assert call(*ask, "--json").json() == found
    assert asked == []  # from the cache
    printed = call(*ask).out
    assert "  obligation, grounding 1.00\n" in printed
    assert "Obligations of the passages cited that the answer does not cover (1 of 2):\n" in printed
    assert f"  r 45-87 {left['version'][:12]}  {RULE[45:]}\n" in printed
    assert "Not checked" not in printed


def test_ask_without_a_model_says_what_to_set(at, asked, nothing_ships):
    found = at(*ASK, "--json").json()
    assert (found["checked"], found["obligations"], found["contradictions"]) == (None, None, None)
    done = at(*ASK)
    assert (done.code, done.err) == (0, "")
    assert "Not checked for contradictions and obligations left out: that needs a model of entailment (--nli).\n" in done.out  # fmt: skip
    assert "Not checked" not in at(*ASK, "--no-check").out
    refused = at(*ASK, "--check")
    assert (refused.code, refused.out) == (1, "")
    assert "ships no model of entailment (embedded:nli); name one with --nli" in refused.err
    assert asked == []


def test_ask_checks_by_itself_where_a_model_ships(at, made, monkeypatch):
    monkeypatch.setattr(embedded, "weights", lambda: made)
    assert at(*ASK, "--json").json()["checked"]["nli"].startswith("toy-nli@")
    assert at(*ASK, "--no-check", "--json").json()["checked"] is None


def test_a_recipe_names_the_check_and_options_go_before_it(at, made, tmp_path, nothing_ships):
    path = tmp_path / "own.toml"
    path.write_text(
        f'[retrieve]\nkind = "bm25"\n[check]\nkind = "entailment"\nnli = "onnx:{made / "nli"}"\nconflict = 0.0\n'
    )
    found = at("ask", QUESTION, "--recipe", path, "--json").json()
    assert found["checked"]["nli"].startswith("toy-nli@")
    assert found["contradictions"] == []  # a quotation stands for itself
    by_model = at("ask", QUESTION, "--recipe", path, "--obligations", f"hf:{made / 'duties'}", "--json").json()
    assert by_model["checked"]["obligations"].startswith("duties@")
    done = at("ask", QUESTION, "--recipe", path, "--nli", "onnx:nowhere")
    assert (done.code, "nowhere: no model here" in done.err) == (1, True)


def test_nothing_is_checked_where_nothing_is_answered(at, made, asked):
    found = at("ask", "xyzzy plugh", "--recipe", "bm25", "--nli", f"onnx:{made / 'nli'}", "--json").json()
    assert (found["abstained"], found["checked"], found["obligations"], asked) == (True, None, None, [])
    printed = at("ask", "xyzzy plugh", "--recipe", "bm25").out
    assert "Not checked" not in printed


def test_a_checked_answer_is_saved(call, made, tmp_path, shared_folder):
    import shutil

    folder = shutil.copytree(shared_folder, tmp_path / "library")
    done = call("--library", folder, *ASK, "--nli", f"onnx:{made / 'nli'}", "--save", "--json").json()
    assert (done["saved"], done["checked"] is None) == (1, False)
    assert call("--library", folder, "verify").code == 0


def test_a_contradiction_is_printed_with_its_place(capsys):
    said = AnswerSentence("A firm may wait.", 0, 16, ())
    answer = Answer(Query("q", "What?"), said.text, (said,), Ranking("q", ()), 0.5)
    against = Contradiction(0, Place("r", "0123456789abcdef", 3, 20, "A firm must act."), 0.914)
    asking._print_check(Checked(answer, (against,), (), 1, "nli@1", "rules@1"))
    assert capsys.readouterr().out.splitlines() == [
        "Warning: a passage may contradict (probability 0.91)",
        "  A firm may wait.",
        "  r 3-20 0123456789ab  A firm must act.",
        "Obligations of the passages cited that the answer does not cover: none of 1.",
    ]
