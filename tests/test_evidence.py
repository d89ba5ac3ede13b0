"""Neighbours and known questions, worked by hand."""

import json
from math import log

import pytest

from responsa.errors import InputError, RecipeError
from responsa.retrieval.evidence import KnownQuestions, Neighbours, read_memory
from responsa.types import Query, Ranking, Run


@pytest.fixture(scope="module")
def corpus(corpus_of):
    return corpus_of(*((f"p{n}", f"Clause {n} of the rules.") for n in range(6)))


def lifted(stage, corpus, **scores):
    run = Run("r", {"q": Ranking.of("q", scores.items())})
    return {
        hit.passage_id: pytest.approx(hit.score) for hit in stage(run, [Query("q", "x")], corpus).rankings["q"].hits
    }


def test_a_neighbour_lifts(corpus):
    # Scaled: p0 1, p1 .5, p4 .25, p5 0. p1 stands beside p0, p5 beside p4; p4 has nothing within one place but p5.
    found = lifted(Neighbours(weight=0.2, span=1), corpus, p0=8.0, p1=4.0, p4=2.0, p5=0.0)
    assert found == {"p0": 1 + 0.2 * 0.5, "p1": 0.5 + 0.2 * 1, "p4": 0.25 + 0.2 * 0, "p5": 0 + 0.2 * 0.25}


def test_the_span(corpus):
    assert lifted(Neighbours(weight=0.5, span=1), corpus, p0=1.0, p2=0.0) == {"p0": 1.0, "p2": 0.0}
    assert lifted(Neighbours(weight=0.5, span=2), corpus, p0=1.0, p2=0.0) == {"p0": 1.0, "p2": 0.5}


def test_neighbours_of_nothing(corpus):
    assert lifted(Neighbours(), corpus) == {}


def test_other_documents_are_no_neighbours(corpus_of):
    rows = [{"id": name, "document": name[0], "text": "A rule."} for name in ("a1", "a2", "b1", "b2")]
    assert lifted(Neighbours(span=1), corpus_of(*rows), a1=1.0, b2=0.0) == {"a1": 1.0, "b2": 0.0}


def memory(tmp_path, *rows):
    path = tmp_path / "known.jsonl"
    path.write_text("\n".join(json.dumps({"question": text, "passages": ids}) for text, ids in rows), encoding="utf-8")
    return str(path)


def ask(stage, corpus, text):
    return dict(stage([Query("q", text)], corpus, 10).rankings["q"].hits)


def test_the_nearest_known_question_lends_its_passages(corpus, tmp_path):
    path = memory(tmp_path, ("harbour fees", ["p1", "p2"]), ("harbour pilots", ["p3"]), ("goats", ["p4"]))
    # Of 3 questions harbour is in 2, fees and pilots in 1: idf ln(1 + 1.5/2.5) and ln(1 + 2.5/1.5).
    harbour, rare = log(1 + 1.5 / 2.5), log(1 + 2.5 / 1.5)
    unknown = log(1 + 3.5 / 0.5)  # "dues"
    same = (harbour + rare) / (harbour + rare + unknown)
    other = harbour / (harbour + 2 * rare + unknown)
    found = ask(KnownQuestions(path, least=0.0), corpus, "harbour fees dues")
    assert found == {"p1": pytest.approx(same), "p2": pytest.approx(same), "p3": pytest.approx(other)}
    assert ask(KnownQuestions(path, least=same - 1e-6), corpus, "harbour fees dues").keys() == {"p1", "p2"}
    assert ask(KnownQuestions(path, nearest=1), corpus, "harbour fees dues").keys() == {"p1", "p2"}


def test_a_question_lends_itself_nothing(corpus, tmp_path):
    path = memory(tmp_path, ("Harbour  fees?", ["p1"]), ("Fees of the harbour?", ["p2"]))
    assert ask(KnownQuestions(path), corpus, "harbour fees?").keys() == {"p2"}


def test_passages_that_are_not_in_view_are_left_out(corpus, tmp_path):
    path = memory(tmp_path, ("harbour fees", ["p1", "gone"]))
    assert ask(KnownQuestions(path), corpus, "fees of a harbour").keys() == {"p1"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "line 1: expected an object with 'question' and 'passages'"),
        ('{"question": "x"}', "line 1: expected an object"),
        ("[1]", "line 1: expected an object"),
        ("\n" + "[" * 100_000, "line 2: expected an object"),
        ('\n{"question": 3, "passages": []}', "line 2: expected a text and a list of passage ids"),
        ('{"question": "x", "passages": [1]}', "line 1: expected a text and a list of passage ids"),
    ],
)
def test_bad_memories(tmp_path, content, message):
    path = tmp_path / "known.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_memory(path)


def test_no_memory(tmp_path):
    with pytest.raises(InputError, match="known questions cannot be read: No such file"):
        read_memory(tmp_path / "none.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(b"caf\xe9")
    with pytest.raises(InputError, match=r"not UTF-8 text \(byte 3\)"):
        read_memory(tmp_path / "latin.jsonl")


def test_settings():
    with pytest.raises(RecipeError, match="neighbours: weight of at least 0"):
        Neighbours(weight=-1)
    with pytest.raises(RecipeError, match="known-questions: nearest of at least 1"):
        KnownQuestions("x", nearest=0)


def test_a_file_without_a_known_question_is_refused(corpus, tmp_path):
    path = tmp_path / "none.jsonl"
    path.write_text("\n \n")
    with pytest.raises(InputError, match=r"none\.jsonl: holds no known question"):
        KnownQuestions(str(path))([Query("q", "text")], corpus, 3)
