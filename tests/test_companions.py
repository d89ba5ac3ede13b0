"""The measures beside RePASs: worked by hand, against the libraries they come from, and as they are typed."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from responsa.entailment import mean_strongest, protocol, summac_zs
from responsa.errors import InputError, MissingDependency
from responsa.evaluate import companions
from responsa.evaluate.companions import TITLES, Wanted, check_libraries, means, measure, note, read_references
from responsa.evaluate.repass import ScoringModels, score_answers
from responsa.evaluate.repass_files import SubmittedAnswer
from responsa.types import Detection
from test_cli import call

__all__ = ["call"]  # fixture


class Words:
    """Entailment where the premise holds all words of the hypothesis, contradiction where it holds none."""

    name = "words@1"

    def __init__(self):
        self.asked = []

    def __call__(self, pairs):
        self.asked += pairs
        rows = []
        for premise, hypothesis in pairs:
            told, words = set(premise.replace(".", "").split()), hypothesis.replace(".", "").split()
            share = sum(word in told for word in words) / len(words)
            rows.append([share, 1 - share, 0] if share else [0, 0.2, 0.8])
        return np.array(rows)


def answer(name, text, *passages, reason=""):
    return SubmittedAnswer(name, "", passages, text, reason)


def run(items, wanted=None, unanswered=None, name="strict", judge=None):
    judge = judge or Words()
    judges = ScoringModels(judge, judge, lambda texts: [Detection("other", 0.0) for _ in texts], "none")
    noted = []
    scored = score_answers(items, protocol(name), judges, unanswered, show=lambda working: noted.append(note(working)))
    return measure(wanted or Wanted(judge), items, scored, noted)


# --- from the passages ----------------------------------------------------------------------------------------------


def test_summac_zs_by_hand():
    entails = np.array([[0.9, 0.1], [0.2, 0.3]])
    contradicts = np.array([[0.0, 0.6], [0.5, 0.1]])
    assert summac_zs(entails, contradicts) == pytest.approx(((0.9 - 0.5) + (0.3 - 0.6)) / 2)
    assert summac_zs(np.zeros((0, 2)), np.zeros((0, 2))) == 0
    assert summac_zs(np.zeros((2, 0)), np.zeros((2, 0))) is None


@given(arrays.arrays(np.float64, (3, 4), elements=st.floats(0, 1)), arrays.arrays(np.float64, (3, 4), elements=st.floats(0, 1)))  # fmt: skip
def test_summac_zs_is_what_entails_less_what_contradicts(entails, contradicts):
    assert summac_zs(entails, contradicts) == pytest.approx(mean_strongest(entails) - mean_strongest(contradicts))


def test_measures_from_the_passages():
    judge = Words()
    found = run([answer("1", "Firms report now. Cats sleep. Firms report.", "Firms report.", "now it is")], judge=judge)
    # Sentence by sentence 2/3 - 0, 0 - .8 and 1 - .8 (of the second passage); by the whole source yes, no, yes.
    assert found.values == (
        {"summac_zs": pytest.approx((2 / 3 - 0.8 + 0.2) / 3), "factcc_style": pytest.approx(2 / 3)},
    )  # fmt: skip
    whole = [text for source, text in judge.asked if source == "Firms report. now it is"]
    assert whole == ["Firms report now.", "Cats sleep.", "Firms report."]
    assert found.stamps == {"summac_zs": "words@1", "factcc_style": "words@1"}
    assert found.corpus_bleu is None


def test_without_sources_or_answers():
    items = [
        answer("bare", "Firms report."),
        answer("mute", "", "Firms report.", reason="no answer"),
        answer("dots", "1. 2.", "Firms report."),
    ]
    assert run(items).values == ({"summac_zs": 0, "factcc_style": 0}, {"summac_zs": 0, "factcc_style": 0}, {})
    assert len(run(items, unanswered="skip").values) == 2
    found = means(run(items))
    assert {name: (each.mean, each.n) for name, each in found.items()} == {"summac_zs": (0, 2), "factcc_style": (0, 2)}
    judge = Words()
    run([answer("1", "Firms report.")], judge=judge)
    assert judge.asked == []  # there is no source to ask about


def test_what_is_neutral_is_not_consistent():
    found = run([answer("1", "Firms report weekly to us.", "Firms report.")])
    assert found.values[0]["factcc_style"] == 0
    assert found.values[0]["summac_zs"] == pytest.approx(2 / 5)


def test_the_same_question_to_the_model_once():
    judge = Words()
    items = [answer(name, "Firms report. Firms report.", "Firms report. Cats sleep.") for name in "ab"]
    found = run(items, name="paper", judge=judge)
    assert found.values[0] == found.values[1]
    assert judge.asked.count(("Firms report. Cats sleep.", "Firms report.")) == 1


# --- from expert answers ---------------------------------------------------------------------------------------------

sacrebleu = pytest.importorskip("sacrebleu", reason="needs responsa[eval]")
pytest.importorskip("rouge_score", reason="needs responsa[eval]")


def against(text, *references, **more):
    return run([answer("1", text, "Firms report.")], Wanted(references={"1": references}), **more)


def test_bleu_and_rouge_by_hand():
    (row,) = against("the firm must report at once", "the firm must report").values
    # 4 of 6 words, 3 of 5 pairs, 2 of 4 triples, 1 of 3 quadruples; the answer is not too short.
    assert row["bleu"] == pytest.approx((4 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25)
    assert (row["rouge1_precision"], row["rouge1_recall"]) == (pytest.approx(4 / 6), 1)
    assert row["rouge1_f1"] == pytest.approx(0.8)
    assert (row["rouge2_precision"], row["rouge2_recall"]) == (pytest.approx(3 / 5), 1)
    assert (row["rougeL_precision"], row["rougeL_recall"]) == (pytest.approx(4 / 6), 1)
    assert set(row) < set(TITLES)


def test_the_same_text_is_perfect_and_other_words_are_nothing():
    (row,) = against("The firm must report.", "The firm must report.").values
    assert set(row.values()) == {1}
    (row,) = against("cats", "the firm must report").values
    assert set(row.values()) == {0}


def test_rouge_takes_words_as_they_are_written():
    (row,) = against("firms report", "firm reports").values
    assert row["rouge1_f1"] == 0


def test_the_best_of_several_references():
    (row,) = against("the firm must report", "cats sleep", "the firm must report", "no").values
    assert row["rouge1_f1"] == 1
    assert row["bleu"] == pytest.approx(1)


def test_corpus_bleu_is_that_of_the_library_and_not_the_mean():
    items = [
        answer("1", "the firm must report at once", "x"),
        answer("2", "it must tell us", "x"),
        answer("3", "?", "x"),
    ]
    references = {"1": ("the firm must report", "a firm reports at once"), "2": ("it must not tell us",)}
    found = run(items, Wanted(references=references))
    streams = [["the firm must report", "it must not tell us"], ["a firm reports at once", None]]
    expected = sacrebleu.corpus_bleu([item.answer for item in items[:2]], streams).score / 100
    assert found.corpus_bleu == pytest.approx(expected)
    assert found.corpus_bleu != pytest.approx(means(found)["bleu"].mean)
    assert found.without_reference == ("3",)
    assert found.values[2] == {}
    assert "nrefs:" in found.stamps["bleu"]
    assert f"version:{sacrebleu.__version__}" in found.stamps["bleu"]
    assert "eff:yes" in found.stamps["bleu"]
    assert "eff:no" in found.stamps["corpus_bleu"]
    assert found.stamps["rouge"].startswith("rouge-score ")


def test_an_unanswered_question_counts_as_zero_or_not_at_all():
    items = [answer("1", "the firm", "x"), answer("2", "", "x", reason="no answer")]
    wanted = Wanted(references={"1": ("the firm",), "2": ("the rule",)})
    assert means(run(items, wanted))["rouge1_f1"].mean == 0.5
    assert means(run(items, wanted, "skip"))["rouge1_f1"].mean == 1


def test_no_common_question_is_an_error():
    with pytest.raises(InputError, match="no question id stands in both files"):
        run([answer("1", "the firm", "x")], Wanted(references={"2": ("the firm",)}))


def test_without_the_libraries_the_message_names_the_extra(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "rouge_score.rouge_scorer", None)
    with pytest.raises(MissingDependency, match=r"BLEU and ROUGE needs an optional library.*responsa\[eval\]"):
        check_libraries()


# --- files and the command -------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    told = {
        "answers.json": [
            {"QuestionID": 1, "RetrievedPassages": ["The firm must report."], "Answer": "The firm must report."},
            {"QuestionID": "q2", "RetrievedPassages": ["Cats sleep."], "Answer": "Dogs bark."},
        ],
        "references.json": [
            {"QuestionID": "1", "Answer": "The firm must report."},
            {"QuestionID": "1", "Answer": "No."},
        ],
        "blank.json": [{"QuestionID": "1", "Answer": " "}],
    }
    for name, rows in told.items():
        (tmp_path / name).write_text("\ufeff" + json.dumps(rows), encoding="utf-8")
    return tmp_path


def test_references_are_read_with_all_answers_of_a_question(files):
    assert read_references(files / "references.json") == {"1": ("The firm must report.", "No.")}
    with pytest.raises(InputError, match="question '1': the answer is blank; a reference needs one"):
        read_references(files / "blank.json")


@pytest.fixture
def judged(monkeypatch):
    from responsa.cli import checking

    judge = Words()
    judges = ScoringModels(judge, judge, lambda texts, _progress=None: [Detection("other", 0.0) for _ in texts], "none")
    monkeypatch.setattr(checking, "scoring_models", lambda *_given: judges)
    return judge


def test_as_they_are_typed(call, files, judged):
    asked = ["score", "answers", files / "answers.json", "--companions", "--references", files / "references.json"]
    (file,) = call(*asked, "--json").json()["files"]
    told = file["companions"]
    assert told["means"]["factcc_style"]["mean"] == 0.5
    assert told["means"]["rougeL_f1"] == {"mean": 1, "low": 1, "high": 1, "n": 1}
    assert told["corpus_bleu"] == 1
    assert told["without_reference"] == ["q2"]
    assert [row["companions"]["summac_zs"] for row in file["questions"]] == [1, -0.8]
    assert "bleu" not in file["questions"][1]["companions"]
    done = call(*asked)
    assert "SummaC-ZS" in done.out
    assert "ROUGE-L recall" in done.out
    assert "BLEU of the corpus" in done.out
    assert "1 question without a reference" in done.err


def test_bertscore_beside_them_and_a_second_time_no_model(call, files, judged, tmp_path, monkeypatch):
    pytest.importorskip("torch", reason="needs responsa[train]")
    pytest.importorskip("transformers", reason="needs responsa[train]")
    from responsa.models.hub.contextual import HubContextualEncoder
    from tinymodels import tiny_bert

    encoded = []
    plain = HubContextualEncoder.encode
    monkeypatch.setattr(HubContextualEncoder, "encode", lambda self, texts: encoded.extend(texts) or plain(self, texts))
    name = f"hf:{tiny_bert(tmp_path / 'bert')}?layer=2"
    asked = ["score", "answers", files / "answers.json", "--references", files / "references.json", "--bertscore", name]
    (first,) = call(*asked, "--json").json()["files"]
    assert encoded == ["No.", "The firm must report."]
    (again,) = call(*asked, "--json").json()["files"]
    assert encoded == ["No.", "The firm must report."]
    assert again["companions"] == first["companions"]
    assert first["companions"]["stamps"]["bertscore"].startswith("bert@")
    (row, other) = [question["companions"] for question in first["questions"]]
    assert row["bertscore_f1"] == pytest.approx(1, abs=1e-5)  # the better of the two references
    assert other == {}


def test_not_asked_for_not_measured(call, files, judged):
    (file,) = call("score", "answers", files / "answers.json", "--json").json()["files"]
    assert file["companions"] is None
    assert {row["companions"] for row in file["questions"]} == {None}
    assert ("The firm must report.", "The firm must report.") in judged.asked
    assert "SummaC" not in call("score", "answers", files / "answers.json").out


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--bertscore", "hf:roberta-large"], "give them with --references FILE"),
        (["--references", "{}/nothing.json"], "cannot be read"),
        (["--references", "{}/blank.json"], "a reference needs one"),
        (["--references", "{}/references.json", "--bertscore", "roberta-large"], "does not name a model for BERTScore"),
        (["--references", "{}/references.json", "--bertscore", "hf:some/model"], "its best layer is not known here"),
        (["--references", "{}/references.json", "--bertscore", "hf:roberta-large?idf=perhaps"], "expected yes or no"),
    ],
)
def test_what_cannot_be_measured_is_said_first(call, files, judged, given, message):
    done = call("score", "answers", files / "answers.json", *[each.format(files) for each in given])
    assert done.code == 1
    assert message in done.err
    assert judged.asked == []


def test_names_are_unique():
    assert len(set(TITLES.values())) == len(TITLES)
    assert list(TITLES)[:2] == ["summac_zs", "factcc_style"]
    assert companions.TITLES["rougeL_f1"] == "ROUGE-L F1"
