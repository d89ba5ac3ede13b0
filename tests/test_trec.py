"""Runs and gold on disk: what is read, what is refused and in which words, what a write leaves behind."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from responsa.errors import InputError, StorageError
from responsa.evaluate.trec import check_gold, merged, read_gold, read_run, write_run
from responsa.types import Hit, Judgement, Ranking, Run

ids = st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S"]) | st.sampled_from("éß中"), min_size=1)
scores = st.floats(width=32, allow_nan=False, allow_infinity=False)
rankings = st.dictionaries(ids, st.dictionaries(ids, scores, min_size=1, max_size=8), min_size=1, max_size=5)


def as_run(table: dict[str, dict[str, float]], name: str = "system") -> Run:
    return Run(name, {query: Ranking.of(query, found.items()) for query, found in table.items()})


def put(folder: Path, content: str | bytes, name: str = "file") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def find(document_id: str, number: str) -> tuple[str, ...]:
    """A library in which document 11 prints number 1. twice."""
    return {("3", "18.8.2"): ("a",), ("11", "1."): ("b", "c", "b")}.get((document_id, number), ())


# Runs -----------------------------------------------------------------------------------------------------


def test_read_run_orders_by_score_then_id_descending_whatever_the_rank_says(tmp_path):
    path = put(tmp_path, "q Q0 a 1 1.0 bm25\nq Q0 c 2 2.5 bm25\nq Q0 b 9 1.0 bm25\np Q0 a 1 -3e-2 bm25\n")
    run = read_run(path)
    assert run.name == "bm25"
    assert list(run.rankings) == ["q", "p"]
    assert run.rankings["q"].hits == (Hit("c", 2.5), Hit("b", 1.0), Hit("a", 1.0))
    assert run.rankings["p"].hits[0].score == pytest.approx(-0.03)


def test_scores_equal_as_32_bit_floats_are_ties(tmp_path):
    # 16777216 = 2**24 and 16777217 are the same 32-bit float, so the higher id comes first.
    path = put(tmp_path, "q Q0 a 1 16777217 s\nq Q0 b 2 16777216 s\n")
    assert [hit.passage_id for hit in read_run(path).rankings["q"].hits] == ["b", "a"]


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfq Q0 a 1 2 s\r\nq Q0 b 2 1 s\r\n",
        b"q\tQ0\ta\t1\t2\ts\n\n  \nq Q0   b 2 1 s",
    ],
    ids=["byte-order mark and Windows line ends", "tabs, blank lines, no last line end"],
)
def test_read_run_accepts(tmp_path, content):
    assert read_run(put(tmp_path, content)) == as_run({"q": {"a": 2.0, "b": 1.0}}, "s")


@pytest.mark.parametrize("content", ["", " \r\n\n"])
def test_an_empty_run_has_no_hits(tmp_path, content):
    assert read_run(put(tmp_path, content)).rankings == {}


def test_gold_that_is_not_there_is_refused_or_said():
    told = []
    given = [Judgement("q", "a"), Judgement("q", "b")]
    check_gold(given, ["a", "b", "c"], told.append)
    with pytest.raises(InputError, match="1 of 2 gold passages are not in the library, such as 'b'"):
        check_gold(given, ["a"], told.append)
    assert told == []
    check_gold(given, ["a"], told.append, strict=False)
    assert told == ["1 of 2 gold passages are not in the library, such as 'b'; they count as not found"]
    with pytest.raises(InputError, match="2 of 2 gold passages"):
        check_gold(given, ["c"], told.append, strict=False)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "q Q0 a 1 1 s\nq Q0 b 2 1\n",
            "line 2: 5 columns instead of 6 (qid Q0 docid rank score name): 'q Q0 b 2 1'",
        ),
        ("q Q0 a 1 1 my system\n", "line 1: 7 columns instead of 6"),
        ("\nq Q0 a 1 high s\n", "line 2: score 'high' is not a finite 32-bit number: 'q Q0 a 1 high s'"),
        ("q Q0 a 1 nan s\n", "line 1: score 'nan' is not a finite"),
        ("q Q0 a 1 -inf s\n", "line 1: score '-inf' is not a finite"),
        ("q Q0 a 1 1e39 s\n", "line 1: score '1e39' is not a finite"),
        ("q Q0 a 1 1_0 s\n", "line 1: score '1_0' is not a finite"),
        (
            "q Q0 a 1 3 s\np Q0 a 1 3 s\nq Q0 a 2 2 s\n",
            "line 3: passage 'a' was listed for query 'q' before, on line 1; keep one",
        ),
        (b"q Q0 a 1 1 s\nq Q0 \xe9 2 1 s\n", "line 2: not UTF-8 text; save the file as UTF-8"),
        ("q Q0 a 1 1 s\n".encode("utf-16"), "line 1: not UTF-8 text"),
        (b"q Q0 a 1 1 s\nq Q0 b\0 2 1 s\n", "line 2: holds a NUL byte; this is not a text file"),
    ],
)
def test_read_run_refuses(tmp_path, content, message):
    path = put(tmp_path, content)
    with pytest.raises(InputError) as caught:
        read_run(path)
    assert str(path) in str(caught.value)
    assert message in str(caught.value)


def test_long_lines_are_cut_in_messages(tmp_path):
    with pytest.raises(InputError) as caught:
        read_run(put(tmp_path, "x" * 5000))
    assert len(str(caught.value)) < 300 + len(str(tmp_path))


def test_read_run_of_no_file_and_of_a_folder(tmp_path):
    with pytest.raises(InputError, match=r"there is no file .*none\.run'; check the path"):
        read_run(tmp_path / "none.run")
    with pytest.raises(InputError, match="cannot be read: Is a directory"):
        read_run(tmp_path)


def test_write_run_format(tmp_path):
    # 0.1 as a 32-bit float is 0.100000001490116...; 1/3 is 0.3333333432674408 and takes eight digits to be
    # told from its neighbours 0.33333331... and 0.33333337...
    run = as_run({"q": {"b": 0.1, "a": 0.1, "c": 1 / 3}, "p": {"a": 12.0}, "none": {}}, "BM25(k1=0.9, b=0.4)")
    write_run(run, tmp_path / "out.run")
    assert (tmp_path / "out.run").read_bytes().decode() == (
        "q Q0 c 1 0.33333334 BM25(k1=0.9,_b=0.4)\n"
        "q Q0 b 2 0.1 BM25(k1=0.9,_b=0.4)\n"
        "q Q0 a 3 0.1 BM25(k1=0.9,_b=0.4)\n"
        "p Q0 a 1 12 BM25(k1=0.9,_b=0.4)\n"
    )


def test_write_run_without_a_name_is_readable(tmp_path):
    write_run(as_run({"q": {"a": 1.0}}, " "), tmp_path / "out.run")
    assert read_run(tmp_path / "out.run").name == "run"


@given(table=rankings)
@settings(max_examples=60, deadline=None)
def test_write_then_read_gives_the_same_run(tmp_path_factory, table):
    path = tmp_path_factory.mktemp("run") / "out.run"
    write_run(as_run(table), path)
    assert read_run(path) == as_run(table)


@given(table=rankings, random=st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_the_order_of_lines_does_not_matter(tmp_path_factory, table, random):
    path = tmp_path_factory.mktemp("run") / "out.run"
    write_run(as_run(table), path)
    lines = path.read_text().splitlines(keepends=True)
    random.shuffle(lines)
    path.write_text("".join(lines))
    assert dict(read_run(path).rankings) == dict(as_run(table).rankings)


@pytest.mark.parametrize("score", [0.0, -0.0, 1e-45, 1.1754944e-38, 3.4028235e38, 16777216.0, 0.30000001192092896])
def test_extreme_scores_round_trip(tmp_path, score):
    run = as_run({"q": {"a": score}})
    write_run(run, tmp_path / "out.run")
    assert read_run(tmp_path / "out.run") == run


@pytest.mark.parametrize("name", ["CRR Art. 92(1), first indent", "100%", "a%20b", "a%25", "a%2520 b", "%2"])
def test_ids_with_blanks_are_one_column_and_come_back(tmp_path, name):
    """As lawyers write them: the blank is %20 in the file, whatever else the id holds."""
    run = as_run({"q": {name: 1.0, "plain": 0.5}})
    write_run(run, tmp_path / "out.run")
    assert [len(line.split()) for line in (tmp_path / "out.run").read_text().splitlines()] == [6, 6]
    assert read_run(tmp_path / "out.run") == run
    column = (tmp_path / "out.run").read_text().split()[2]
    assert [item.passage_id for item in read_gold(put(tmp_path, f"q 0 {column} 1\n"))] == [name]


@pytest.mark.parametrize("name", ["a  b", " a", "a ", "a\tb", ""])
def test_other_white_space_in_ids_is_refused(tmp_path, name):
    with pytest.raises(InputError, match="is not a text without white space but single blanks"):
        write_run(as_run({"q": {name: 1.0}}), tmp_path / "out.run")


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"q 1": {"a": 1.0}}, "query id 'q 1' is not a text without white space"),
        ({"": {"a": 1.0}}, "query id '' is not"),
        ({"q": {"a\u00a0b": 1.0}}, "passage id 'a\\xa0b' is not"),
        ({"q": {"a\ud800": 1.0}}, "'\\ud800' is not a character"),
    ],
)
def test_write_run_refuses_ids_that_do_not_fit_and_keeps_the_old_file(tmp_path, table, message):
    path = put(tmp_path, "old")
    with pytest.raises(InputError) as caught:
        write_run(as_run(table), path)
    assert message in str(caught.value)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file"]


def test_write_run_needs_a_place(tmp_path):
    run = as_run({"q": {"a": 1.0}})
    with pytest.raises(InputError, match="is not a file"):
        write_run(run, tmp_path)
    with pytest.raises(InputError, match=r"there is no folder .*missing'; create it first"):
        write_run(run, tmp_path / "missing" / "out.run")
    assert names(tmp_path) == []


def test_a_full_disk_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = put(tmp_path, "old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="cannot be written: No space left on device"):
        write_run(as_run({"q": {"a": 1.0}}), path)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file"]


# Gold -----------------------------------------------------------------------------------------------------


def test_qrels_merge_to_the_highest_grade(tmp_path):
    path = put(tmp_path, b"\xef\xbb\xbfq 0 a 1\r\nq 0 b 0\r\np 0 a -2\r\nq 0 a 2\r\nq 0 a 1\r\n")
    assert read_gold(path) == [Judgement("q", "a", 2), Judgement("q", "b", 0), Judgement("p", "a", -2)]


def test_obliqa_gold_with_every_kind_of_passage(tmp_path):
    rows = [
        {
            "QuestionID": "q1",
            "Question": "?",
            "Passages": [
                {"DocumentID": 11, "PassageID": "1.", "Passage": "text"},
                {"DocumentID": 3, "PassageID": "18.8.2", "Passage": "text", "Relation": 2},
                {"DocumentID": 3, "PassageID": "18.8.2", "Passage": "text", "Relation": 1},
                {"DocumentID": 9, "PassageID": "unknown, but irrelevant", "Passage": "text", "Relation": 0},
                {"DocumentID": 9, "PassageID": "unknown, but unrated", "Passage": "text", "Relation": None},
                {"ID": "uuid", "DocumentID": 9, "PassageID": "unknown, but identified", "Passage": "text"},
            ],
        },
        {"QuestionID": 2, "Question": "?", "Passages": [{"DocumentID": "3", "PassageID": "18.8.2"}]},
        {"QuestionID": "q3", "Question": "?", "Passages": []},
    ]
    assert read_gold(put(tmp_path, json.dumps(rows, indent=1)), find) == [
        Judgement("q1", "b", alternatives=("c",)),
        Judgement("q1", "a"),
        Judgement("q1", "uuid"),
        Judgement("2", "a"),
    ]


def test_graded_gold_tells_direct_from_indirect(tmp_path):
    rated = [{"ID": name, "Relation": relation} for name, relation in (("x", 1), ("y", 2), ("c", 0), ("d", None))]
    named = [{"DocumentID": 3, "PassageID": "18.8.2", "Relation": 2}, {"DocumentID": 3, "PassageID": "18.8.2"}]
    path = put(tmp_path, json.dumps([{"QuestionID": "q", "Passages": [*rated, *named[:1]]}]))
    expected = [Judgement("q", "x", 2), Judgement("q", "y", 1), Judgement("q", "a", 1)]
    assert read_gold(path, find, graded=True) == expected
    # A passage without a rating is a direct one, and of two ratings the higher counts.
    path = put(tmp_path, json.dumps([{"QuestionID": "q", "Passages": named}]))
    assert read_gold(path, find, graded=True) == [Judgement("q", "a", 2)]
    assert read_gold(put(tmp_path, '{"id": "q", "passages": ["b"]}'), graded=True) == [Judgement("q", "b", 2)]


def test_json_lines_need_no_library(tmp_path):
    path = put(
        tmp_path,
        '{"id": "q", "question": "?", "passages": ["b", "a", "b"]}\r\n\r\n{"id": 7, "passages": ["a"]}',
    )
    assert read_gold(path) == [Judgement("q", "b"), Judgement("q", "a"), Judgement("7", "a")]


def test_identified_obliqa_gold_needs_no_library(tmp_path):
    path = put(tmp_path, '[{"QuestionID": "q", "Passages": [{"ID": "a", "DocumentID": 1, "PassageID": "1"}]}]')
    assert read_gold(path) == [Judgement("q", "a")]


def test_gold_by_number_without_a_library(tmp_path):
    path = put(tmp_path, '[{"QuestionID": "q", "Passages": [{"DocumentID": 3, "PassageID": "18.8.2"}]}]')
    with pytest.raises(InputError, match=r"first document '3', number '18\.8\.2'.*give one with --library"):
        read_gold(path)


@pytest.mark.parametrize(("count", "more"), [(1, ""), (3, ""), (5, "; and 2 more")])
def test_unknown_passages_are_counted_and_the_first_named(tmp_path, count, more):
    passages = [{"DocumentID": 3, "PassageID": str(n)} for n in range(count)]
    rows = [{"QuestionID": query, "Passages": passages} for query in ("q", "p")]
    with pytest.raises(InputError) as caught:
        read_gold(put(tmp_path, json.dumps(rows)), find)
    message = str(caught.value)
    assert f"not in the library, {count} in all: document '3' number '0' (question 'q')" in message
    assert message.count("number") == min(count, 3)
    assert f"{more}; add these documents or choose another library with --library" in message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("q 0 a\n", "line 1: 3 columns instead of 4 (qid 0 docid grade): 'q 0 a'"),
        ("q Q0 a 1 2.5 bm25\n", "line 1: 6 columns instead of 4"),
        ("q 0 a 1\nq 0 b yes\n", "line 2: grade 'yes' is not a whole number up to 999: 'q 0 b yes'"),
        ("q 0 a 1000\n", "line 1: grade '1000' is not a whole number up to 999"),
        ("q 0 a 0.5\n", "line 1: grade '0.5' is not a whole number"),
        (b"q 0 \xff 1\n", "line 1: not UTF-8 text"),
        (b"PK\x03\x04\0\0", "line 1: holds a NUL byte"),
        ("[]", "no passage is judged relevant"),
        ('[{"QuestionID": "q",\n "Passages": [}]', "line 2: not valid JSON: Expecting value"),
        ("[" * 100_000, "not valid JSON: "),
        ('[{"QuestionID": "q", "Passages": [' + "9" * 5000 + "]}]", "not valid JSON: "),
        ('["q"]', "question 1: a question is a JSON object, this is '\"q\"'"),
        ('[{"QuestionID": "q", "Question": "?"}]', "question 1: 'q' has no list 'Passages'"),
        ('[{"Passages": []}]', "question 1: 'id' must be a text or a whole number, this is None"),
        (
            '[{"QuestionID": true, "Passages": []}]',
            "'QuestionID' must be a text or a whole number, this is True",
        ),
        ('[{"QuestionID": "q", "Passages": ["a"]}]', "question 1, passage 1: a passage is a JSON object"),
        (
            '[{"QuestionID": "q", "Passages": [{"DocumentID": 3}]}]',
            "question 1, passage 1: 'PassageID' must be a text or a whole number, this is None",
        ),
        (
            '[{"QuestionID": "q", "Passages": [{"ID": "a", "Relation": 3}]}]',
            "question 1, passage 1: Relation 3 is unknown; it is 0, 1, 2 or null",
        ),
        (
            '[{"QuestionID": "q", "Passages": [{"ID": "a\\tb"}]}]',
            "passage 1: passage id 'a\\tb' is not a text without",
        ),
        ('[{"QuestionID": "q", "Passages": [{"ID": "a", "Relation": 0}]}]', "no passage is judged relevant"),
        (
            '{"id": "q", "passages": ["a"]}\n{"id": "p"',
            "line 2: not valid JSON; one object per line is needed: ",
        ),
        ('{"id": "q", "passages": ["a"]}\n[1]', "line 2: a question is a JSON object, this is '[1]'"),
        ('{"id": "q", "passages": "a"}', "line 1: 'q' has no list 'passages'"),
        (
            '{"question": "?", "passages": ["a"]}',
            "line 1: 'id' must be a text or a whole number, this is None",
        ),
        ('{"id": "q", "passages": [1]}', "line 1, passage 1: passage id 1 is not a text without white space"),
    ],
)
def test_read_gold_refuses(tmp_path, content, message):
    path = put(tmp_path, content)
    with pytest.raises(InputError) as caught:
        read_gold(path, find)
    assert str(path) in str(caught.value)
    assert message in str(caught.value)


def test_read_gold_of_no_file(tmp_path):
    with pytest.raises(InputError, match="there is no file"):
        read_gold(tmp_path / "none.json")


def test_merged_joins_alternatives():
    given = [
        Judgement("q", "a", 1, ("b",)),
        Judgement("p", "a"),
        Judgement("q", "a", 2, ("c", "b")),
    ]
    assert merged(given) == [Judgement("q", "a", 2, ("b", "c")), Judgement("p", "a")]
    assert merged([]) == []
