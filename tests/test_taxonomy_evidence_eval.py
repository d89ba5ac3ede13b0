"""Recall of marked evidence among chunks: worked by hand, and on the given rows where the data is."""

from __future__ import annotations

import json

import pytest

from responsa.errors import InputError
from responsa.taxonomy.activities import catalogue
from responsa.taxonomy.evaluation.evidence import (
    LONG,
    MarkedRow,
    Quote,
    covers,
    holds,
    is_found,
    of_reports,
    read_rows,
    score_row,
    summary,
)
from responsa.taxonomy.evidence.report import read_report
from responsa.taxonomy.evidence.retrieve import evidence
from responsa.taxonomy.values import Evidence


def chunk(page, text):
    return Evidence(page, text, "SC", 1.0, f"R p. {page}", 0, len(text))


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("carbon  emissions\ncombined: 0 g/km", "carbon emissions combined: 0 g/km"),
        ("low-carbon technologies", "low-carbon tech- nologies"),
        ("manufacturing of rail", "manufac\u00ad turing of rail"),
        ("certiﬁed ﬂats", "certified flats"),
        ("Buildings\tCCM 7.7\t931\t15.3", "Buildings CCM 7.7 931 15.3"),
        ("<tr><td>Buildings</td><td>931</td></tr>", "Buildings 931"),
        ("the “top 15”", 'the "top 15"'),
    ],
)
def test_a_quote_is_held_whatever_the_reader_made_of_its_signs(text, quote):
    assert holds(text, quote)


@pytest.mark.parametrize(("text", "quote"), [("931 and 15.3", "931 15.3"), ("flats", ""), ("a b c", "c b a")])
def test_other_words_and_another_order_do_not_hold_it(text, quote):
    assert not holds(text, quote)


def test_coverage_counts_words_as_often_as_they_occur():
    assert covers("a b c", "a a b d") == 0.5
    assert covers("a b", "") == 0.0


def test_most_words_are_enough_on_the_page_alone():
    quote = Quote(3, "one two three four five", "supports")
    assert is_found(quote, [chunk(3, "five four three one")])
    assert not is_found(quote, [chunk(2, "five four three one")])
    assert not is_found(quote, [chunk(3, "five four three")])
    assert is_found(quote, [chunk(2, "zero one two three four five")])


ROW = MarkedRow(
    "r1", "a.pdf", "CCM 7.7", "Acquisition", 2023,
    (
        Quote(1, "alpha beta", "supports"),
        Quote(2, "one two three four five", "contradicts"),
        Quote(9, "nine lives", "trap_future"),
    ),
)  # fmt: skip


def test_a_row_by_hand():
    found = score_row(ROW, [chunk(2, "five four three two one"), chunk(9, "nine lives"), chunk(5, "x")])
    # Of two that decide, one by its words and none word for word; of pages 1 and 2, one; of all three, two.
    assert found == (ROW, 2, 1, 0.5, 0.0, 0.5, 2 / 3)


def test_means_leave_out_rows_without_quotes():
    empty = MarkedRow("r2", "b.pdf", "CCM 6.5", "Cars", 2023, (Quote(1, "gamma", "context"),))
    scores = [score_row(ROW, [chunk(1, "alpha beta")]), score_row(empty, [chunk(1, "gamma")])]
    assert summary(scores) == (1, 0.5, 0.5, 1, 2, 0.5, pytest.approx((1 / 3 + 1) / 2))
    assert summary(of_reports(scores, {"b.pdf"})).rows == 0
    assert summary([]).macro == 0.0


def test_rows_are_read(tmp_path):
    row = {
        "id": "d1", "report": "a.pdf", "financial_year": 2023, "activity": "CCM 7.7 Acquisition of buildings",
        "evidence": [{"page": 4, "quote": "q", "role": "context"}],
    }  # fmt: skip
    (tmp_path / "rows.json").write_text(json.dumps({"rows": [row]}))
    (read,) = read_rows(tmp_path / "rows.json")
    assert read == MarkedRow("d1", "a.pdf", "CCM 7.7", "Acquisition of buildings", 2023, (Quote(4, "q", "context"),))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[]", "no JSON with rows"),
        ('{"rows": [{"id": 1}]}', "row 1"),
        ('{"rows": null}', "'rows' is of type NoneType; expected a list"),
        ('{"rows": 5}', "'rows' is of type int; expected a list"),
        ("[" * 100_000, "no JSON with rows"),
        ('{"rows": [{"id": "a", "activity": "CCM 1.1 x", "report": "a", "financial_year": 1, "evidence":'
         ' [{"role": "x", "page": 1, "quote": ""}]}]}', "row 1"),
    ],
)  # fmt: skip
def test_a_file_of_another_form_is_refused(tmp_path, content, said):
    (tmp_path / "rows.json").write_text(content)
    with pytest.raises(InputError, match=said):
        read_rows(tmp_path / "rows.json")
    with pytest.raises(InputError, match="cannot be read"):
        read_rows(tmp_path / "missing.json")


@pytest.mark.slow
def test_the_evidence_of_the_given_rows_is_found(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    rows = read_rows(data / "eu_taxonomy" / "alignment_dev.json")
    scores, long = [], set()
    for row in rows:
        report = read_report(data / "reports" / row.report, folder)
        activity = catalogue.shipped().find(row.activity, row.year).activity
        scores.append(score_row(row, evidence(report, activity, year=row.year)))
        if report.pages > LONG:
            long.add(row.report)
    assert summary(scores).macro >= 0.8
    assert summary(of_reports(scores, long)).pages >= 0.8
