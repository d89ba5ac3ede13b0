"""responsa entail, detect and score answers as they are typed, on tiny networks."""

from __future__ import annotations

import csv
import json

import pytest

pytest.importorskip("torch", reason="needs responsa[train]")
pytest.importorskip("onnx", reason="needs responsa[train]")

from responsa.evaluate.repass_files import COLUMNS
from responsa.models import embedded
from responsa.models.hub.texts import HubTextScorer
from responsa.models.onnx import OnnxPairScorer
from responsa.models.texts import OnnxTextScorer
from test_classify import made
from test_cli import call

__all__ = ["call", "made"]  # fixtures

ANSWERS = [
    {"QuestionID": "q1", "Question": "What must the firm report?", "RetrievedPassages": ["The firm must report law3. The rule is to report.", "The regulator must report within 4 days."], "Answer": "The firm must report law3. The rule."},
    {"QuestionID": 2, "Question": "When?", "RetrievedPassages": ["The firm must report within 4 days."], "Answer": "Within days 4 the firm must report."},
    {"QuestionID": "q3", "Question": "About what?", "RetrievedPassages": [], "Answer": None},
]  # fmt: skip


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def asked(monkeypatch):
    """How many items the networks were given."""
    count = []
    for scorer in (OnnxPairScorer, OnnxTextScorer, HubTextScorer):
        plain = scorer.score

        def counted(self, items, plain=plain):
            count.extend(items)
            return plain(self, items)

        monkeypatch.setattr(scorer, "score", counted)
    return count


@pytest.fixture
def answers(tmp_path):
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(ANSWERS), encoding="utf-8")
    return path


@pytest.fixture
def models(made):
    return ["--nli", f"onnx:{made / 'nli'}", "--obligations", f"hf:{made / 'duties'}"]


@pytest.mark.parametrize("protocol", ["reference", "paper", "strict"])
def test_answers_are_scored_and_a_second_time_no_model_is_asked(call, answers, models, asked, protocol):
    first = call("score", "answers", answers, "--protocol", protocol, *models, "--json").json()
    assert asked
    asked.clear()
    assert call("score", "answers", answers, "--protocol", protocol, *models, "--json").json() == first
    assert asked == []
    (file,) = first["files"]
    assert file["unanswered"] == {"q3": "no answer"}
    assert [row["id"] for row in file["questions"]] == ["q1", "2"] + ["q3"] * (protocol == "strict")
    for row in file["questions"]:
        assert 0 <= row["composite"] <= 1
    stamps = file["stamps"]
    assert stamps["protocol"] == protocol
    assert stamps["nli"] == stamps["coverage"]
    assert stamps["nli"].startswith("toy-nli@")
    assert stamps["obligations"].startswith("duties@")
    assert stamps["splitter"].startswith("legal@" if protocol == "strict" else "punkt")
    assert set(file["questions"][0]["gaming"]) == {
        "copied", "relevance", "length", "grade", "ease", "obligations_answer", "obligations_sources", "flags"
    }  # fmt: skip


def test_without_the_cache_models_are_asked_again(call, answers, models, asked):
    for _ in range(2):
        asked.clear()
        assert call("score", "answers", answers, *models, "--no-cache").code == 0
        assert asked


def test_the_published_columns_and_json_are_written(call, answers, models, tmp_path):
    out, table = tmp_path / "scores.json", tmp_path / "results.csv"
    done = call("score", "answers", answers, "--protocol", "reference", *models, "--csv", table, "--out", out)
    assert done.code == 0, done.err
    assert "1 question without an answer left out" in done.err
    assert "95 % interval" in done.out
    assert "Made by protocol reference, unanswered skip, splitter punkt" in done.out
    questions = json.loads(out.read_text())["files"][0]["questions"]
    with table.open(newline="") as file:
        rows = list(csv.reader(file))
    assert tuple(rows[0]) == COLUMNS
    assert [row[0] for row in rows[1:]] == ["q1", "2"]
    assert [float(row[4]) for row in rows[1:]] == [question["composite"] for question in questions]


def test_unanswered_questions_by_choice(call, answers, models):
    for choice, count in (("zero", 3), ("skip", 2)):
        found = call("score", "answers", answers, "--unanswered", choice, *models, "--json").json()["files"][0]
        assert found["means"]["composite"]["n"] == count
    done = call("score", "answers", answers, "--unanswered", "maybe", *models)
    assert (done.code, done.err) == (1, "responsa: --unanswered: expected zero or skip, got 'maybe'\n")


def test_two_files_are_compared(call, answers, models, tmp_path):
    other = tmp_path / "other.json"
    other.write_text(json.dumps([{**row, "Answer": "The regulator."} for row in ANSWERS]))
    found = call("score", "answers", answers, other, *models, "--json").json()
    assert {each["measure"] for each in found["comparisons"]} == {"entailment", "contradiction", "coverage", "composite"}  # fmt: skip
    means = [file["means"]["composite"]["mean"] for file in found["files"]]
    (gap,) = [each["difference"]["mean"] for each in found["comparisons"] if each["measure"] == "composite"]
    assert gap == pytest.approx(means[1] - means[0])
    printed = call("score", "answers", answers, other, *models)
    assert f"Compared with {answers}" in printed.out
    refused = call("score", "answers", answers, other, *models, "--csv", tmp_path / "both.csv")
    assert (refused.code, (tmp_path / "both.csv").exists()) == (1, False)
    assert "--csv holds the results of one file; 2 are scored: use --out" in refused.err


def test_rules_and_a_model_of_its_own_for_coverage(call, answers, made, asked):
    found = call(
        "score", "answers", answers, "--protocol", "reference", "--nli", f"onnx:{made / 'nli'}", "--json"
    ).json()
    stamps = found["files"][0]["stamps"]
    assert stamps["obligations"].startswith("rules@")
    assert any(isinstance(item, str) and " [SEP] " in item for item in asked)
    done = call("score", "answers", answers, "--nli", f"onnx:{made / 'nli'}", "--coverage", "onnx:nowhere")
    assert done.code == 1
    assert "nowhere: no model here" in done.err


def test_no_model_ships_and_the_message_says_what_to_set(call, answers, tmp_path, monkeypatch):
    monkeypatch.setattr(embedded, "weights", lambda: tmp_path / "none")
    done = call("score", "answers", answers)
    assert done.code == 1
    assert "ships no model of entailment (embedded:nli); name one with --nli, or as nli in the recipe" in done.err
    assert "hf:cross-encoder/" in done.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--protocol", "stric"], "unknown protocol 'stric'; did you mean 'strict'"),
        (["--obligations", "law"], "obligations: 'law' is neither rules nor a model"),
        (["--nli", "nli"], "'nli' does not name a scorer of pairs"),
    ],
)
def test_wrong_options(call, answers, models, options, message):
    done = call("score", "answers", answers, *models, *options)
    assert done.code == 1
    assert message in done.err


def test_results_never_overwrite_what_is_read_or_one_another(call, answers, models, tmp_path):
    references = tmp_path / "references.json"
    references.write_text(json.dumps([{**ANSWERS[0], "Answer": "The firm must report."}]), encoding="utf-8")
    before = references.read_bytes()
    done = call("score", "answers", answers, "--references", references, "--out", references, *models)
    assert done.code == 1
    assert "references.json itself, which is read" in done.err
    assert references.read_bytes() == before
    done = call("score", "answers", answers, "--csv", tmp_path / "x", "--out", tmp_path / "x", *models)
    assert done.code == 1
    assert "is named for two results; name a file for each" in done.err


def test_answers_without_passages_are_told(call, tmp_path, models):
    path = tmp_path / "bare.json"
    path.write_text(json.dumps([{"QuestionID": "q1", "Question": "?", "Passages": ["x"], "Answer": "Firms report."}]))
    done = call("score", "answers", path, *models)
    assert done.code == 0
    assert "1 answer without RetrievedPassages to score against: q1" in done.err
    assert "without an obligation" not in done.err


def test_a_model_of_two_labels_is_refused(call, answers, made):
    done = call("score", "answers", answers, "--protocol", "reference", "--nli", f"onnx:{made / 'nli'}", "--coverage", f"hf:{made / 'duties'}", "--obligations", f"hf:{made / 'duties'}")  # fmt: skip
    assert done.code == 1
    assert (
        "has the labels LABEL_0, LABEL_1; the three classes entailment, neutral, contradiction are needed" in done.err
    )


def test_pairs_are_judged_a_line_each(call, made, tmp_path, asked):
    pairs = tmp_path / "pairs.jsonl"
    rows = [{"id": n, "premise": "The firm must report.", "hypothesis": text} for n, text in enumerate(("The rule.", "Law3.", "The rule."))]  # fmt: skip
    pairs.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(map(json.dumps, rows)).encode())
    done = call("entail", pairs, "--nli", f"onnx:{made / 'nli'}")
    assert done.code == 0, done.err
    found = [json.loads(line) for line in done.out.splitlines()]
    assert [row["id"] for row in found] == ["0", "1", "2"]
    assert found[0]["probabilities"] == found[2]["probabilities"]
    for row in found:
        assert set(row["probabilities"]) == {"entailment", "neutral", "contradiction"}
        assert sum(row["probabilities"].values()) == pytest.approx(1, abs=1e-5)
        assert row["label"] == max(row["probabilities"], key=row["probabilities"].get)
    assert len(asked) == 2


def test_sentences_are_told_apart_a_line_each(call, made, tmp_path):
    sentences = tmp_path / "sentences.jsonl"
    rows = [{"id": "a", "text": "A firm must keep records."}, {"id": "b", "text": "Records are useful."}]
    sentences.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = [json.loads(line) for line in call("detect", sentences).out.splitlines()]
    assert [(row["id"], row["label"]) for row in found] == [("a", "obligation"), ("b", "other")]
    assert found[0]["probabilities"]["obligation"] > 0.9
    by_model = call("detect", sentences, "--obligations", f"hf:{made / 'duties'}")
    assert len(by_model.out.splitlines()) == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "holds no line"),
        (b'{"id": "a"}\n', "line 1: 'text' is None; expected text"),
        (b'{"id": "a", "text": "x"}\n{"id": "b", "te', "line 2: not valid JSON"),
        (b'{"id": true, "text": "x"}\n', "line 1: 'id' is True; expected text"),
        (b"[1]\n", "line 1: expected an object with id, text"),
        (b"\xff\n", "not UTF-8 text (byte 0)"),
    ],
)
def test_files_of_sentences_that_cannot_be_read(call, tmp_path, content, message):
    path = tmp_path / "sentences.jsonl"
    path.write_bytes(content)
    done = call("detect", path)
    assert (done.code, done.out) == (1, "")
    assert message in done.err
