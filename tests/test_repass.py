"""RePASs of files of answers: what is read, split, asked, counted and compared."""

from __future__ import annotations

import csv
import json
import os
import sys
import types

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.entailment import NO_OBLIGATION, NO_SENTENCE, NO_SOURCE, protocol
from responsa.errors import InputError
from responsa.evaluate import repass_sentences
from responsa.evaluate.repass import ScoringModels, compare, means, score_answers, values
from responsa.evaluate.repass_files import COLUMNS, SubmittedAnswer, read_answers, read_csv, write_csv
from responsa.evaluate.repass_sentences import punkt_like, splitter
from responsa.obligations import RuleObligationDetector
from responsa.types import Detection

RULE = "A firm must keep records."
FACT = "Records are useful."


def words(text):
    return set(text.lower().replace(".", "").split())


class Overlap:
    """P(entailment) is the share of the hypothesis's words in the premise, P(contradiction) half of the rest; it notes
    the pairs that it was asked."""

    name = "overlap@1"

    def __init__(self):
        self.asked = []

    def __call__(self, pairs, progress=None):
        self.asked += pairs
        shares = [len(words(one) & words(other)) / max(1, len(words(other))) for one, other in pairs]
        return np.array([[p, (1 - p) / 2, (1 - p) / 2] for p in shares], np.float32).reshape(-1, 3)


def judges():
    return ScoringModels(Overlap(), Overlap(), RuleObligationDetector(), "rules@1")


def item(answer, *passages, name="q", question=""):
    return SubmittedAnswer(name, question, passages, answer, "" if answer.strip() else "the answer is blank")


def score(name, answer, *passages):
    return score_answers([item(answer, *passages)], protocol(name), judges(), "zero").scores[0]


# --- one answer ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["reference", "paper", "strict"])
def test_a_copy_of_the_rule_scores_full(name):
    found = score(name, RULE, f"{RULE} {RULE[:-1]} and vaults.")
    assert (found.entailment, found.contradiction, found.coverage, found.composite) == (1, 0, 1, 1)
    assert (found.sentences, found.obligations, found.covered) == ((1, 2), (1, 2), 2)
    assert found.gaming.copied == 1
    assert found.gaming.flags == ("copied",)


def test_by_hand():
    # Words of the answer: firm(s) keep records: 2 of 3 in the rule, 1 of 3 in the fact.
    found = score("paper", "Firms keep records.", RULE, FACT)
    assert found.entailment == pytest.approx(2 / 3)
    assert found.contradiction == pytest.approx(1 / 3)  # of the fact: half of 2/3
    assert found.coverage == 0  # 2 of the rule's 5 words
    assert found.composite == pytest.approx((2 / 3 - 1 / 3 + 1) / 3)


def test_only_obligation_sentences_cover_in_reference():
    statement = "That a firm must keep records is what is said."  # entails the rule
    must = ScoringModels(Overlap(), Overlap(), lambda texts: [Detection("obligation" if text == RULE else "other", 0.5) for text in texts], "rule@1")  # fmt: skip
    found = {
        name: score_answers([item(statement, RULE)], protocol(name), must).scores[0]
        for name in ("reference", "paper", "strict")
    }
    assert {name: each.coverage for name, each in found.items()} == {"reference": 0, "paper": 1, "strict": 1}
    assert {each.obligations for each in found.values()} == {(0, 1)}


def test_repeated_sentences_count_again_but_once_in_strict():
    # The rule is covered, the other obligation is not.
    other = "A bank shall tell nobody."
    sources = f"{RULE} {RULE} {other}"
    assert score("reference", RULE, sources).coverage == pytest.approx(2 / 3)
    assert score("paper", RULE, sources).coverage == pytest.approx(2 / 3)
    strict = score("strict", f"{RULE} {RULE.upper()} {FACT}", sources)
    assert strict.coverage == 1 / 2
    assert strict.sentences == (2, 2)
    assert strict.entailment == pytest.approx((1 + 1 / 3) / 2)


def test_passages_without_a_full_stop_run_together_in_reference_alone():
    passages = ("Records of firms", "Banks lend")
    counts = {name: score(name, "Banks lend.", *passages).sentences for name in ("reference", "paper", "strict")}
    assert counts == {"reference": (1, 1), "paper": (1, 2), "strict": (1, 2)}


def test_reference_rounds_to_five_digits():
    reference, paper = score("reference", "Firms keep records.", RULE), score("paper", "Firms keep records.", RULE)
    assert reference.entailment == 0.66667
    assert paper.entailment == pytest.approx(2 / 3, abs=1e-7)
    assert reference.entailment != paper.entailment


@pytest.mark.parametrize(
    ("name", "composite"), [("reference", 0.33333), ("paper", pytest.approx(1 / 3)), ("strict", 0.0)]
)
def test_no_sources(name, composite):
    found = score(name, RULE)
    assert (found.entailment, found.contradiction, found.coverage) == (0, 0, None)
    assert (found.composite, found.reason) == (composite, NO_SOURCE)


@pytest.mark.parametrize(("name", "composite"), [("reference", 0.66667), ("paper", 2 / 3), ("strict", 1.0)])
def test_no_obligation_in_the_sources(name, composite):
    found = score(name, FACT, FACT)
    assert (found.coverage, found.reason) == (None, NO_OBLIGATION)
    assert found.composite == pytest.approx(composite)


def test_no_obligation_in_the_answer():
    assert [score(name, FACT, RULE).coverage for name in ("reference", "paper", "strict")] == [0, 0, 0]


def test_an_answer_of_marks_alone_has_no_sentence_in_strict():
    found = score("strict", "1. 2. ---", RULE)
    assert (found.composite, found.reason, found.sentences) == (0, NO_SENTENCE, (0, 1))


def test_a_sentence_of_five_thousand_words():
    long = "A firm must keep " + " ".join(f"record{n}" for n in range(5000)) + "."
    for name in ("reference", "paper", "strict"):
        assert score(name, long, long).composite == 1


sentence = st.sampled_from([RULE, FACT, "A bank shall tell nobody.", "See Rule 3.1 for more.", "Penguins swim!"])


@given(st.lists(sentence, min_size=1, max_size=4), st.lists(sentence, max_size=4), st.randoms(use_true_random=False))
def test_the_order_of_passages_does_not_matter_and_strict_ignores_twins(answers, passages, random):
    shuffled = random.sample(passages, len(passages))
    for name in ("reference", "paper", "strict"):
        found, again = (score(name, " ".join(answers), *listed) for listed in (passages, shuffled))
        assert (again.entailment, again.contradiction, again.coverage, again.composite) == (
            found.entailment, found.contradiction, found.coverage, found.composite
        )  # fmt: skip
        assert 0 <= found.composite <= 1
    once, twice = score("strict", " ".join(answers), *passages), score("strict", " ".join(answers * 2), *passages * 2)
    assert (once.coverage, once.covered, once.sentences) == (twice.coverage, twice.covered, twice.sentences)
    assert twice.composite == pytest.approx(once.composite, abs=1e-12)


# --- what models are asked --------------------------------------------------------------------------------------------


def test_equal_pairs_of_all_questions_are_asked_once():
    made = judges()
    items = [item(RULE, FACT, RULE, name=str(n)) for n in range(5)]
    score_answers(items, protocol("paper"), made)
    assert sorted(made.nli.asked) == sorted([(FACT, RULE), (RULE, RULE)])
    assert made.coverage.asked == [(RULE, RULE)]  # the answer is the premise


def test_what_is_covered_is_not_asked_of_the_other_sentences():
    made = judges()
    answer = f"{FACT} Penguins swim. {RULE}"
    found = score_answers([item(answer, RULE)], protocol("paper"), made)
    assert found.scores[0].coverage == 1
    assert made.coverage.asked == [(RULE, RULE)]  # shares most words
    other = "A bank shall tell nobody."
    score_answers([item(answer, other)], protocol("paper"), made)
    assert sorted(made.coverage.asked[1:]) == sorted((text, other) for text in (FACT, "Penguins swim.", RULE))


def test_questions_are_scored_as_each_alone(monkeypatch):
    from responsa.evaluate import repass

    items = [item(f"{RULE} {FACT}"[: 20 + n], RULE, FACT, name=str(n)) for n in range(25)]
    alone = [score_answers([each], protocol("strict"), judges()).scores[0] for each in items]
    for group, pairs in ((100, 4096), (7, 3)):
        monkeypatch.setattr(repass, "_GROUP", group)
        monkeypatch.setattr(repass, "_PAIRS", pairs)
        assert list(score_answers(items, protocol("strict"), judges()).scores) == alone


# --- unanswered, repeated, means, comparison ----------------------------------------------------------------------------


def scored(name="strict", policy=None, *answers):
    items = [item(answer, RULE, name=str(n)) for n, answer in enumerate(answers)]
    return score_answers(items, protocol(name), judges(), policy)


def test_unanswered_questions_are_reported_and_count_as_zero_or_not():
    zero, skip = scored("paper", "zero", RULE, " ", RULE), scored("paper", "skip", RULE, " ", RULE)
    for each in (zero, skip):
        assert each.unanswered == {"1": "the answer is blank"}
    assert [score.composite for score in zero.scores] == [1, 0, 1]
    assert (zero.scores[1].contradiction, zero.scores[1].coverage) == (None, 0.0)
    assert [score.id for score in skip.scores] == ["0", "2"]
    assert means(zero)["composite"].mean == pytest.approx(2 / 3)
    assert means(zero)["contradiction"].n == 2  # what is not said contradicts nothing
    assert means(skip)["composite"].mean == 1


def test_each_protocol_has_its_own_way_with_the_unanswered():
    assert {name: scored(name, None, RULE, "").policy for name in ("reference", "paper", "strict")} == {
        "reference": "skip", "paper": "skip", "strict": "zero"
    }  # fmt: skip
    nothing = scored("reference", None, "", " ")
    assert (nothing.scores, means(nothing)) == ((), {})


def test_coverage_without_obligations_counts_as_zero_or_is_left_out():
    items = [item(FACT, FACT, name="a"), item(RULE, RULE, name="b")]
    reference, strict = (score_answers(items, protocol(name), judges()) for name in ("reference", "strict"))
    assert values(reference, "coverage") == [0, 1]
    assert values(strict, "coverage") == [None, 1]
    assert means(strict)["coverage"].n == 1


def test_repeated_ids():
    items = [item(RULE, RULE), item(FACT, RULE)]
    found = score_answers(items, protocol("reference"), judges())
    assert found.repeated == ("q",)
    assert len(found.scores) == 2
    for name in ("paper", "strict"):
        with pytest.raises(InputError, match="question id 'q' comes more than once"):
            score_answers(items, protocol(name), judges())


def test_two_files_are_compared_by_id():
    first = scored("strict", None, RULE, RULE, FACT)
    second = scored("strict", None, FACT, RULE, FACT, RULE)
    found = compare(second, first)
    assert (found["composite"].wins, found["composite"].losses, found["composite"].ties) == (0, 1, 2)
    assert found["composite"].difference.mean == pytest.approx(
        (second.scores[0].composite - first.scores[0].composite) / 3
    )
    assert found["composite"].difference.n == 3


def test_results_made_differently_are_not_compared():
    with pytest.raises(InputError, match="results differ in protocol, splitter; score both files in the same way"):
        compare(scored("paper", "zero", RULE), scored("strict", "zero", RULE))
    with pytest.raises(InputError, match="no scored question in common"):
        compare(scored("reference", None, ""), scored("reference", None, RULE))


def test_stamps_say_what_ran():
    stamps = scored("strict", None, RULE).stamps
    assert set(stamps) == {"protocol", "unanswered", "splitter", "nli", "coverage", "obligations"}
    assert (stamps["nli"], stamps["obligations"]) == ("overlap@1", "rules@1")
    assert stamps["splitter"] == splitter("legal").name


# --- files ----------------------------------------------------------------------------------------------------------


def written(tmp_path, content):
    path = tmp_path / "answers.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def entry(**keys):
    return {"QuestionID": "q1", "RetrievedPassages": [RULE], "Answer": "Yes.", **keys}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "no answer"),
        ("", "the answer is blank"),
        (" \r\n\t", "the answer is blank"),
        (7, "the answer is of type int, not text"),
        (["Yes."], "the answer is of type list, not text"),
        ("Yes.", ""),
    ],
)
def test_answers_as_they_come(tmp_path, answer, reason):
    (found,) = read_answers(written(tmp_path, [entry(Answer=answer)]))
    assert found.reason == reason
    assert found.answer == ("" if reason else "Yes.")


def test_an_answer_that_is_missing(tmp_path):
    (found,) = read_answers(written(tmp_path, [{"QuestionID": 3, "Question": "Why?"}]))
    assert found == SubmittedAnswer("3", "Why?", (), "", "no answer")


@pytest.mark.parametrize(
    ("keys", "passages"),
    [
        ({"RetrievedPassages": None}, ()),
        ({"RetrievedPassages": []}, ()),
        ({"RetrievedPassages": ""}, ()),
        ({"RetrievedPassages": [" ", None, RULE]}, (RULE,)),
        ({"RetrievedPassages": RULE}, (RULE,)),
    ],
)
def test_passages_as_they_come(tmp_path, keys, passages):
    assert read_answers(written(tmp_path, [entry(**keys)]))[0].passages == passages


def test_the_other_name_of_passages(tmp_path):
    row = {"QuestionID": "q", "RetrievedPassage": RULE, "Answer": "Yes."}
    assert read_answers(written(tmp_path, [row]))[0].passages == (RULE,)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff[]", r"answers\.json: not UTF-8 text \(byte 0\)"),
        (b'[{"QuestionID": "a"', r"not valid JSON: .*is the file complete\?"),
        (b"{}", "expected a list of answers, found dict"),
        (b"[]", "holds no answer"),
        ([1], r"\[0\]: expected an object with 'QuestionID' and 'Answer', found int"),
        ([entry(), entry(QuestionID=None)], r"\[1\]: 'QuestionID' is None; expected text or a whole number"),
        ([entry(QuestionID=True)], "'QuestionID' is True"),
        ([entry(QuestionID=" ")], "'QuestionID' is ' '"),
        ([entry(RetrievedPassages={"a": 1})], "'RetrievedPassages' is of type dict; expected a list of texts"),
        ([entry(RetrievedPassages=[RULE, 5])], "passage 1 is of type int; expected text"),
    ],
)
def test_files_that_cannot_be_read_say_where(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        read_answers(written(tmp_path, content))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_answers(tmp_path / "none.json")


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(tmp_path):
    plain = json.dumps([entry(), entry(QuestionID=2)], indent=1).encode()
    first = read_answers(written(tmp_path, plain))
    assert read_answers(written(tmp_path, b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n"))) == first


def test_the_published_columns(tmp_path):
    items = [
        item(FACT, FACT, name="none"), item(FACT, RULE, name="open"), item("Firms keep records.", RULE, name="x,y"), item("", name="mute")
    ]  # fmt: skip
    found = score_answers(items, protocol("reference"), judges(), "zero")
    write_csv(found.scores, tmp_path / "results.csv")
    lines = (tmp_path / "results.csv").read_bytes().split(b"\r\n")
    assert lines[0] == b"QuestionID,entailment_score,contradiction_score,obligation_coverage_score,composite_score"
    assert lines[1] == b"none,1.0,0.0,0,0.66667"  # 0: nothing to cover
    assert lines[2].split(b",")[3] == b"0.0"  # 0.0: nothing covered
    assert lines[3].startswith(b'"x,y",0.66667,')
    assert lines[4:] == [b"mute,0.0,,0.0,0.0", b""]
    with (tmp_path / "results.csv").open(newline="") as file:
        assert tuple(next(csv.reader(file))) == COLUMNS
    write_csv(found.scores[:3], tmp_path / "results.csv")
    assert [row["composite_score"] for row in read_csv(tmp_path / "results.csv")] == [
        score.composite for score in found.scores[:3]
    ]
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="expected the columns QuestionID"):
        read_csv(tmp_path / "other.csv")


def test_what_is_written_is_read_also_where_questions_are_unanswered(tmp_path):
    items = [item(RULE, RULE, name="said"), item("", RULE, name="mute")]
    found = score_answers(items, protocol("strict"), judges(), "zero")
    write_csv(found.scores, tmp_path / "results.csv")
    said, mute = read_csv(tmp_path / "results.csv")
    for row, score in zip((said, mute), found.scores, strict=True):
        expected = (score.entailment, score.contradiction, score.coverage or 0, score.composite)
        assert tuple(row.values()) == pytest.approx(
            [np.nan if each is None else each for each in expected], nan_ok=True
        )
    assert np.isnan(mute["contradiction_score"])
    assert np.nanmean([said["contradiction_score"], mute["contradiction_score"]]) == means(found)["contradiction"].mean
    (tmp_path / "blank.csv").write_text(",".join(COLUMNS) + "\nq,,0,0,0\n")
    with pytest.raises(InputError, match="with numbers"):
        read_csv(tmp_path / "blank.csv")


def test_the_published_sample_is_read(data):
    found = read_answers(data / "repass_reference" / "sample.json")
    assert len(found) == 10
    assert {len(each.passages) for each in found} == {2}
    parts = score_answers(found, protocol("reference"), judges()).scores
    assert {each.sentences for each in parts} == {(1, 2)}


@pytest.mark.skipif(not os.environ.get("RESPONSA_HUB"), reason="reads models of the hub: set RESPONSA_HUB=1")
def test_the_published_sample_with_the_published_models(data):
    pytest.importorskip("sentence_transformers", reason="responsa[hub] is not installed")
    from responsa.models.classify import Entailment
    from responsa.models.load import load_pairs
    from responsa.models.texts import load_texts

    every = ScoringModels(
        Entailment.of_pairs(load_pairs("hf:cross-encoder/nli-deberta-v3-xsmall")),
        Entailment.of_strings(load_texts("hf:microsoft/deberta-large-mnli")),
        lambda texts: [Detection("obligation", 1.0) for _ in texts],
        "every sentence",
    )
    items = read_answers(data / "repass_reference" / "sample.json")
    found = means(score_answers(items, protocol("reference"), every))
    assert found["entailment"].mean == pytest.approx(0.11378, abs=1e-5)
    assert found["contradiction"].mean == pytest.approx(0.09597, abs=1e-5)
    assert found["coverage"].mean == pytest.approx(0.85)
    assert found["composite"].mean == pytest.approx(0.622603, abs=1e-5)


# --- sentences ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Firms, i.e. the banks, comply. See No. 5 of Art. 5 and para. 4. Next.", ["Firms, i.e.", "the banks, comply.", "See No.", "5 of Art.", "5 and para.", "4.", "Next."]),
        ("1. Must do. 2. Must not do. (3) Ok", ["1.", "Must do.", "2.", "Must not do.", "(3) Ok"]),
        ("Under Section 3.1. The firm shall.", ["Under Section 3.1.", "The firm shall."]),
        ("Sentence one.Sentence two.(a) x", ["Sentence one.Sentence two.", "(a) x"]),
        ('He said "must." Then left.', ['He said "must."', "Then left."]),
        ("First line\nsecond line; (a) one\n(b) two", ["First line\nsecond line; (a) one\n(b) two"]),
        ("Mr. Smith asked Dr. Jones? Yes! No", ["Mr. Smith asked Dr. Jones?", "Yes!", "No"]),
        ("It held 3. of them, J. Smith said ... and so on.", ["It held 3. of them, J. Smith said ... and so on."]),
        (" \n ", []),
        ("", []),
    ],
)  # fmt: skip
def test_sentences_as_punkt_has_them(text, expected):
    assert punkt_like(text) == expected


@given(st.text(alphabet="aA .?!\"'()1\n", max_size=60))
def test_nothing_but_blanks_is_lost(text):
    assert "".join("".join(punkt_like(text)).split()) == "".join(text.split())


def test_many_full_stops_take_no_long_time():
    assert len(punkt_like("a. " * 20000)) == 1
    assert len(punkt_like("word. " * 20000)) == 20000


def test_legal_sentences_keep_what_punkt_tears_apart():
    assert splitter("legal").split("Firms, i.e. the banks, comply. See Art. 5.") == [
        "Firms, i.e. the banks, comply.", "See Art. 5."
    ]  # fmt: skip
    assert splitter("legal").split("") == []


def fake_nltk(monkeypatch, split):
    library, tokenize = types.ModuleType("nltk"), types.ModuleType("nltk.tokenize")
    library.__version__, tokenize.sent_tokenize = "9.9", split
    monkeypatch.setitem(sys.modules, "nltk", library)
    monkeypatch.setitem(sys.modules, "nltk.tokenize", tokenize)
    monkeypatch.setitem(sys.modules, "nltk.tokenize.punkt", None)


def test_punkt_is_taken_where_it_is_and_the_name_tells(monkeypatch):
    fake_nltk(monkeypatch, lambda text: text.split("|"))
    found = splitter("punkt")
    assert found.name == "punkt-9.9@unknown"
    assert found.split("a|b") == ["a", "b"]


def test_without_punkts_data_or_library_ours_runs_and_the_name_tells(monkeypatch):
    def without_data(text):
        raise LookupError("punkt_tab")

    fake_nltk(monkeypatch, without_data)
    assert splitter("punkt").name.startswith("punkt-like@")
    monkeypatch.setitem(sys.modules, "nltk", None)
    assert splitter("punkt").split is punkt_like


def test_the_name_of_a_splitter_changes_with_its_rules(monkeypatch):
    monkeypatch.setitem(sys.modules, "nltk", None)
    before = splitter("punkt").name
    monkeypatch.setattr(repass_sentences, "_RULES", "punkt-like 2")
    assert splitter("punkt").name != before
