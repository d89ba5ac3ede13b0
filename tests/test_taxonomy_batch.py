"""Journals: what was assessed is kept at once, torn lines are passed over, failures are told and not kept."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import assessing
from responsa.errors import InputError, StorageError
from responsa.taxonomy.assessment.assess import assess
from responsa.taxonomy.assessment.batch import Journal, key, rows
from responsa.taxonomy.assessment.wire import plain
from responsa.taxonomy.values import Asking

PLAIN = Asking(recipe="kw_qs")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    catalogue = assessing.catalogue()
    report = assessing.report(tmp_path_factory.mktemp("report"))
    return assess(report, catalogue.find("CCM 7.7", 2023), 2023, PLAIN, catalogue)


def test_what_is_put_is_there_for_the_next_run(tmp_path, made):
    path = tmp_path / "out.json.journal"
    journal = Journal(path)
    journal.put("one", made)
    journal.put("two", made)
    again = Journal(path)
    assert len(again) == 2
    assert again.get("one") == made
    assert again.get("three") is None
    again.remove()
    assert not path.exists()
    again.remove()


@given(cut=st.integers(min_value=1))
@hypothesis_settings(max_examples=25)
def test_a_torn_line_costs_itself_and_no_other(tmp_path_factory, made, cut):
    path = tmp_path_factory.mktemp("torn") / "journal"
    journal = Journal(path)
    journal.put("one", made)
    whole = path.stat().st_size
    journal.put("two", made)
    content = path.read_bytes()
    path.write_bytes(content[: max(whole, len(content) - cut)])
    again = Journal(path)
    assert again.get("one") == made
    assert again.get("two") in (None, made)
    again.put("three", made)
    assert {name for name in ("one", "three") if Journal(path).get(name) == made} == {"one", "three"}


def test_lines_of_another_format_are_passed_over(tmp_path, made):
    path = tmp_path / "journal"
    lines = [{"format": 99, "key": "a", "assessment": {}}, {"format": 1, "key": "b"}, [], 7]
    path.write_text("\n".join(map(json.dumps, lines)) + "\n\xff not utf-8")
    assert len(Journal(path)) == 0


def test_without_a_path_nothing_is_written(made):
    journal = Journal(None)
    journal.put("one", made)
    assert journal.get("one") == made
    journal.remove()


def test_a_folder_is_no_journal(tmp_path, made):
    with pytest.raises(InputError, match="cannot be read"):
        Journal(tmp_path)
    with pytest.raises(StorageError, match="cannot be written"):
        Journal(tmp_path / "nowhere" / "journal").put("one", made)


def test_a_key_is_of_all_that_an_assessment_is_made_from():
    given = ("digest", "CCM 7.7", "an act", 2023, PLAIN, "model")
    others = [
        ("other", *given[1:]), (given[0], "CCM 7.1", *given[2:]), (*given[:2], "another act", *given[3:]),
        (*given[:3], 2022, *given[4:]), (*given[:4], Asking(recipe="kw"), given[5]),
        (*given[:4], Asking(recipe="kw_qs", ocr="eng"), given[5]), (*given[:5], "another model"),
    ]  # fmt: skip
    assert len({key(*given), *(key(*each) for each in others)}) == 8


def test_the_others_go_on_where_one_fails(tmp_path, made):
    journal, asked = Journal(tmp_path / "journal"), []

    def make(report, activity):
        if report == "scan.pdf":
            raise InputError("scan.pdf: has no text")

        def build():
            asked.append((report, activity))
            return made

        return f"{report} {activity}", build

    pairs = [("a.pdf", "CCM 7.7"), ("scan.pdf", "CCM 7.7"), ("b.pdf", "CCM 7.7")]
    first = list(rows(pairs, make, journal))
    assert [(each.report, each.failure, each.kept) for each in first] == [
        ("a.pdf", "", False), ("scan.pdf", "scan.pdf: has no text", False), ("b.pdf", "", False),
    ]  # fmt: skip
    again = list(rows(pairs, make, Journal(tmp_path / "journal")))
    assert [each.kept for each in again] == [True, False, True]
    assert len(asked) == 2
    assert plain(again[0].made) == plain(made)
