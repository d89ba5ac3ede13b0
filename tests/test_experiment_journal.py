"""Journals: lines that outlive a kill, and what of a damaged file still counts."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.errors import StorageError
from responsa.experiment.journal import Journal


def opened(path, made_of="a", fresh=False):
    return Journal(path, made_of, lambda row: row["id"], fresh)


def filled(path, *names):
    journal = opened(path)
    for name in names:
        journal.add({"id": name, "said": f"of {name}"})
    return path


def test_lines_are_there_again(tmp_path):
    path = filled(tmp_path / "j.jsonl", "one", "two")
    again = opened(path)
    assert again.get("one") == {"id": "one", "said": "of one"}
    assert again.get("three") is None
    again.add({"id": "three"})
    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        {"made_of": "a"}, {"id": "one", "said": "of one"}, {"id": "two", "said": "of two"}, {"id": "three"},
    ]  # fmt: skip


def test_of_two_lines_with_one_key_the_last_counts(tmp_path):
    path = filled(tmp_path / "j.jsonl", "one")
    opened(path).add({"id": "one", "said": "better"})
    assert opened(path).get("one") == {"id": "one", "said": "better"}


def test_what_was_made_of_something_else_does_not_count(tmp_path):
    path = filled(tmp_path / "j.jsonl", "one")
    assert opened(path, "b").get("one") is None
    assert opened(path, fresh=True).get("one") is None
    assert opened(path).get("one")  # nothing is lost before a line is added
    opened(path, "b").add({"id": "two"})
    assert opened(path).get("one") is None


def test_a_line_that_was_cut_off_is_dropped_and_the_next_does_not_run_into_it(tmp_path):
    path = filled(tmp_path / "j.jsonl", "one", "two")
    path.write_bytes(path.read_bytes()[:-9])
    again = opened(path)
    assert (again.get("one") is not None, again.get("two")) == (True, None)
    again.add({"id": "two", "said": "again"})
    assert opened(path).get("two") == {"id": "two", "said": "again"}


@given(st.integers(0, 200))
def test_wherever_it_is_cut_whole_lines_stay(tmp_path_factory, end):
    path = filled(tmp_path_factory.mktemp("j") / "j.jsonl", "one", "zwei é", "three")
    whole = path.read_bytes()
    path.write_bytes(whole[:end])
    lines = whole[:end].count(b"\n") - 1  # without the head
    found = [opened(path).get(name) is not None for name in ("one", "zwei é", "three")]
    assert found == [place < lines for place in range(3)]


def test_a_folder_in_its_place(tmp_path):
    (tmp_path / "j.jsonl").mkdir()
    with pytest.raises(StorageError, match="cannot be read"):
        opened(tmp_path / "j.jsonl")
