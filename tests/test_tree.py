from __future__ import annotations

import pytest

from responsa.corpus.tree import leads_in, surroundings
from responsa.types import Passage


def passage(id, text, parent=None, path=(), kind="text"):
    return Passage(id, "d", id, text, parent_id=parent, path=path, kind=kind)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("A Firm must:", True), ("A Firm must:\u00a0\n", True), ("as follows —", True), ("and -", True), ("the list –", True),
     ("A Firm must act.", False), ("At 10:30 it opens", False), ("", False), ("  ", False)],
)  # fmt: skip
def test_leading_in(text, expected):
    assert leads_in(passage("1", text)) == expected


def test_headings_lead_ins_and_items():
    passages = [
        passage("h", "", kind="heading"),
        passage("1", "A Firm must:", "h", ("Part 1",)),
        passage("1a", "keep records of:", "1", ("Part 1",)),
        passage("1ai", "loans; and", "1a", ("Part 1",)),
        passage("1b", "be open.", "1", ("Part 1",)),
        passage("1g", "Firms often forget this.", "1", ("Part 1",), "guidance"),
        passage("2", "A Firm may close.", "h", ("Part 1", "Closing")),
        passage("2a", "On Sundays too.", "2"),
        passage("3", "Lost.", "nowhere"),
    ]
    assert dict(zip((each.id for each in passages), surroundings(passages), strict=True)) == {
        "h": "",
        "1": "Part 1\nkeep records of:\nbe open.",
        "1a": "Part 1\nA Firm must:\nloans; and",
        "1ai": "Part 1\nkeep records of:\nA Firm must:",
        "1b": "Part 1\nA Firm must:",
        "1g": "Part 1\nA Firm must:",
        "2": "Part 1\nClosing",
        "2a": "",
        "3": "",
    }


def test_a_whole_schedule_is_not_repeated():
    items = [passage(f"1.{n}", "word " * 100, "1") for n in range(50)]
    found = surroundings([passage("1", "As follows:"), *items])
    assert len(found[0]) == 3000


def test_nothing():
    assert surroundings([]) == []
