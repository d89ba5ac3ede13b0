"""responsa score judged as it is typed, against a server of chats on this machine."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("pydantic_ai", reason="needs responsa[llm]")
pytest.importorskip("scipy", reason="needs responsa[eval]")

from responsa.evaluate.judge_files import calibration
from responsa.testing.chat import ChatServer
from test_cli import call

__all__ = ["call"]  # a fixture

REFERENCES = {f"q{n}": f"The limit is {n} % of Tier 1." for n in range(1, 9)}
GOOD = [f"The limit is {n} % of Tier 1." for n in range(1, 9)]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("RESPONSA_CHAT_MODEL", raising=False)


def same(asked):
    """4 for the official answer, with or without words behind it, 1 for any other."""
    given = dict(asked.passages)
    if "candidate_answer" not in given:
        best = "first" if given["first_answer"] == given["official_answer"] else "second"
        return json.dumps({"reason": "x", "better": best})
    good = given["candidate_answer"].startswith(given["official_answer"])
    return json.dumps({"reason": "compared", "rating": 4 if good else 1})


@pytest.fixture
def server():
    with ChatServer(reply=same) as started:
        yield started


def submission(path, answers):
    rows = [
        {"QuestionID": f"q{n}", "Question": f"Which limit {n}?", "RetrievedPassages": [], "Answer": answer}
        for n, answer in enumerate(answers, 1)
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path):
    references = tmp_path / "references.json"
    references.write_text(json.dumps(REFERENCES), encoding="utf-8")
    good = submission(tmp_path / "good.json", GOOD)
    mixed = submission(tmp_path / "mixed.json", ["No limit."] * 4 + GOOD[4:7] + [None])
    return good, mixed, references


def test_answers_are_rated_and_a_second_time_nothing_is_asked(call, server, files):
    good, _, references = files
    typed = ("score", "judged", good, "--references", references, "--judge", f"{server.url}#judge", "--json")
    first = call(*typed).json()
    assert len(server.requests) == 8
    (approach,) = first["approaches"]
    assert (approach["approach"], approach["n"], approach["counts"]) == ("good", 8, {"1": 0, "2": 0, "3": 0, "4": 8})
    assert approach["average"]["mean"] == 4
    assert approach["correct"] == {"count": 8, "share": {"mean": 1.0, "low": 1.0, "high": 1.0, "n": 8}}
    assert first["answers"][0]["ratings"] == [
        {"judge": f"{server.url}#judge", "repetition": 0, "rating": 4, "reason": "compared", "error": ""}
    ]
    assert first["flags"] == [f"{server.url}#judge always says 4 (8 ratings): it may not tell answers apart"]
    assert first["calls"]["attempts"] == 8
    second = call(*typed).json()
    assert len(server.requests) == 8
    assert (second["calls"]["cached"], second["calls"]["attempts"], second["calls"]["tokens_in"]) == (8, 0, 0)
    assert {name: value for name, value in second.items() if name != "calls"} == {
        name: value for name, value in first.items() if name != "calls"
    }


def test_approaches_people_and_bias(call, server, files, tmp_path):
    good, mixed, references = files
    people = tmp_path / "people.csv"
    lines = [f"{name},q{n},{rater},{4 if name == 'good' or n > 4 else 1}" for name in ("good", "mixed") for n in range(1, 8) for rater in ("Ada", "Ben")]  # fmt: skip
    people.write_text("\n".join(["approach,id,rater,rating", *lines]), encoding="utf-8")
    out = tmp_path / "judged.json"
    done = call("score", "judged", good, mixed, "--references", references, "--judge", f"{server.url}#judge",
                "--ratings", people, "--bias", 4, "--out", out)  # fmt: skip
    assert done.code == 0, done.err
    found = json.loads(out.read_text())
    assert [each["counts"] for each in found["approaches"]] == [
        {"1": 0, "2": 0, "3": 0, "4": 8}, {"1": 5, "2": 0, "3": 0, "4": 3}
    ]  # fmt: skip
    assert found["approaches"][1]["unanswered"] == {"q8": "no answer"}
    (gap,) = found["comparisons"]
    assert (gap["first"], gap["second"], gap["difference"]["mean"]) == ("good", "mixed", -15 / 8)
    judge = f"{server.url}#judge"
    assert [(each["first"], each["second"]) for each in found["agreement"]] == [
        (judge, "Ada"), (judge, "Ben"), (judge, "all people"), ("Ada", "Ben")
    ]  # fmt: skip
    for each in found["agreement"]:
        assert (each["n"], each["kendall"]["tau"], each["kappa"]["quadratic"], each["exact"]) == (14, pytest.approx(1), 1.0, 1.0)  # fmt: skip
    assert [(each["probe"], each["wrong"]) for each in found["probes"]] == [
        ("identical", 0), ("unrelated", 0), ("padded", 0), ("swapped", 0)
    ]  # fmt: skip
    (places,) = found["positions"]
    assert (places["inconsistent"], places["b"]) == (1, 0)  # q5 to q7 are the same in both files
    # Here the wrong answers are the short ones: that is said, and the probe "padded" clears the judge.
    assert found["flags"][0].startswith(f"{judge} rates longer answers higher (tau +1.00")
    assert found["flags"][1:] == [f"{judge} prefers what it reads first (1 of 4 pairs turn with the order)"]
    assert "mixed: 1 question without an answer counted as 1: q8" in done.err
    assert "mixed less good: -1.88" in done.out
    assert "Kendall's tau" in done.out


def test_ids_that_no_judge_rates_are_told_for_what_they_are(call, server, files, tmp_path):
    _, mixed, references = files
    people = tmp_path / "people.csv"
    typed = (
        "score",
        "judged",
        mixed,
        "--references",
        references,
        "--judge",
        f"{server.url}#judge",
        "--ratings",
        people,
    )
    people.write_text("id;anna;ben\nq1;1;\nq8;1;1\n")
    err = call(*typed).err
    assert f"{people}: 1 cell is empty: not rated" in err
    assert f"{people}: 1 id is of a question without an answer, which no judge sees, such as 'q8'" in err
    assert "no answer that is judged" not in err
    people.write_text("id,anna\nq1,1\nq8,1\nq98,1\nq99,1\n")
    err = call(*typed).err
    assert "1 id is of a question without an answer" in err
    assert f"{people}: 2 ids are of no answer that is judged, such as 'q98'" in err


def test_unanswered_questions_can_be_left_out(call, server, files):
    _, mixed, references = files
    typed = ("score", "judged", mixed, "--references", references, "--judge", f"{server.url}#judge", "--unanswered")
    assert call(*typed, "skip", "--json").json()["approaches"][0]["n"] == 7
    done = call(*typed, "zero")
    assert (done.code, done.err) == (1, "responsa: --unanswered: expected lowest or skip, got 'zero'\n")


def test_several_judges_and_repetitions(call, server, files):
    good, _, references = files
    found = call("score", "judged", good, "--references", references, "--judge", f"{server.url}#one", "--judge",
                 f"{server.url}#two", "--repeat", 2, "--json").json()  # fmt: skip
    assert len(server.requests) == 32
    assert [len(each["ratings"]) for each in found["answers"]] == [4] * 8
    assert {each["spread"] for each in found["answers"]} == {0}
    assert {name: each["average"]["mean"] for name, each in found["approaches"][0]["by_judge"].items()} == {
        f"{server.url}#one": 4.0, f"{server.url}#two": 4.0
    }  # fmt: skip
    (pair,) = found["agreement"]
    assert (pair["first"], pair["second"], pair["n"]) == (f"{server.url}#one", f"{server.url}#two", 8)


def test_the_calibration_set(call, server, tmp_path):
    plot = tmp_path / "confusion.svg"
    pytest.importorskip("matplotlib", reason="needs responsa[plots]")
    typed = ("score", "judged", "--calibration", "--judge", f"{server.url}#judge", "--plot", plot)
    found = call(*typed, "--json").json()
    (one,) = found["agreement"]
    assert (one["first"], one["second"], one["n"]) == (f"{server.url}#judge", "labels", 60)
    # No candidate begins with the official answer: the judge says 1 of everything.
    assert one["confusion"] == [[15, 15, 15, 15], [0] * 4, [0] * 4, [0] * 4]
    assert (one["kappa"]["quadratic"], one["kendall"]["tau"]) == (0.0, None)
    assert "always says 1" in found["flags"][0]
    drawn = plot.read_bytes()
    assert drawn.startswith(b"<?xml")
    assert call(*typed).code == 0
    assert plot.read_bytes() == drawn


def test_the_plot_of_counts(call, server, files, tmp_path):
    pytest.importorskip("matplotlib", reason="needs responsa[plots]")
    good, mixed, references = files
    plot = tmp_path / "counts.svg"
    assert call("score", "judged", good, mixed, "--references", references, "--judge", f"{server.url}#judge", "--plot", plot).code == 0  # fmt: skip
    assert all(f">{word}<" in plot.read_text() for word in ("good", "mixed", "rating"))


def test_a_dry_run_asks_nothing_and_tells_what_would_be_asked(call, server, files):
    good, mixed, references = files
    typed = ("score", "judged", good, mixed, "--references", references, "--judge",
             f"{server.url}#judge?price_in=1&price_out=2", "--repeat", 2, "--bias", 3)  # fmt: skip
    planned = call(*typed, "--dry-run", "--json").json()["planned"]
    assert server.requests == []
    assert [(row["judge"], row["purpose"]) for row in planned] == [(f"{server.url}#judge", "judge"), (f"{server.url}#judge", "judge-pair")]  # fmt: skip
    # 15 answers twice, and four probes of three; three pairs in both orders.
    assert [row["calls"] + row["known"] for row in planned] == [15 * 2 + 4 * 3, 3 * 2]
    for row in planned:
        assert row["cost"] == pytest.approx((row["tokens_in"] + 2 * row["tokens_out"]) / 1e6)
    done = call(*typed, "--json").json()
    # The same text to be rated is asked about once: good and mixed share three answers, in both repetitions.
    assert len(server.requests) == sum(row["calls"] for row in planned) < done["calls"]["calls"]
    again = call(*typed, "--dry-run")
    assert "Nothing was asked" in again.out
    again = call(*typed, "--dry-run", "--json").json()["planned"]
    assert [(row["calls"], row["known"], row["cost"]) for row in again] == [(0, 42, None), (0, 6, None)]


def test_replies_that_cannot_be_read_are_listed_and_the_rest_is_scored(call, files):
    good, _, references = files

    def some(asked):
        return "Four out of four." if "limit is 3" in dict(asked.passages)["official_answer"] else same(asked)

    with ChatServer(reply=some) as server:
        server.faults("500", "429:0", "cut")
        done = call("score", "judged", good, "--references", references, "--judge", f"{server.url}#judge", "--out", "-")
    assert done.code == 0, done.err
    assert "good: 1 answer unscored and left out: q3" in done.err
    assert "unscored: good/q3 by" in done.err
    assert "it is not JSON" in done.err


def test_a_judge_that_never_answers(call, files):
    good, _, references = files
    with ChatServer(reply=lambda _: "no") as server:
        done = call("score", "judged", good, "--references", references, "--judge", f"{server.url}#judge")
    assert done.code == 1
    assert "no answer could be rated" in done.err


def test_without_a_model_it_says_what_to_set(call, files):
    good, _, references = files
    done = call("score", "judged", good, "--references", references)
    assert done.code == 1
    assert "RESPONSA_CHAT_MODEL" in done.err


def test_bad_input(call, server, files, tmp_path):
    good, mixed, references = files
    judge = ("--judge", f"{server.url}#judge")

    def people(text):
        path = tmp_path / f"people-{len(list(tmp_path.iterdir()))}.csv"
        path.write_text(text)
        return ("--ratings", path)

    for typed, told in (
        ((good,), "give the files of answers and --references FILE"),
        ((good, "--references", references, *judge), "a judge is named twice"),
        ((good, "--calibration"), "leave out ANSWERS"),
        ((good, good, "--references", references), "is given twice"),
        ((good, "--references", references, *people("id,rating\nq1,good\n")), "line 2: 'good' is no rating"),
        ((good, "--references", references, *people("id,rating\nq99,4\n")), "no id is that of an answer"),
        ((good, mixed, "--references", references, *people("id,rating\nq1,4\n")), "add a column 'approach'"),
        ((good, "--references", references, *people("id,rating,approach\nq1,4,few\n")), "'few' is not judged"),
        ((good, "--references", references, "--examples", tmp_path / "none.jsonl"), "cannot be read"),
        ((good, "--references", references, "--out", good), "good.json"),
    ):
        done = call("score", "judged", *typed, *judge)
        assert done.code == 1, told
        assert told in done.err
    assert server.requests == []


def test_examples_of_ones_own_and_none(call, server, files, tmp_path):
    good, _, references = files
    own = tmp_path / "examples.jsonl"
    row = {"question": "When?", "reference": "In a month.", "answer": "At once.", "rating": 1, "why": "Another period."}
    own.write_text(json.dumps(row))
    typed = ("score", "judged", good, "--references", references, "--judge", f"{server.url}#judge", "--json")
    stamps = {call(*typed, "--examples", given).json()["judges"][0]["prompt"] for given in (own, "none")}
    stamps.add(call(*typed).json()["judges"][0]["prompt"])
    assert len(stamps) == 3
    system = [request.body["messages"][0]["content"] for request in server.requests[::8]]
    assert ["Another period." in text for text in system] == [True, False, False]
    assert calibration()[0].case.question not in system[2]
