from __future__ import annotations

from types import SimpleNamespace

import pytest

from responsa.corpus.tree import items, lead, lead_ins, leads_in, naming, surroundings
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


ROWS = (
    {"id": "1", "number": "1", "text": "A Firm must:"},
    {"id": "1a", "number": "1(a)", "text": "keep records of:", "parent": "1"},
    {"id": "1ai", "number": "1(a)(i)", "text": "loans; and", "parent": "1a"},
    {"id": "1g", "number": "1.Guidance.1", "text": "Firms forget this.", "parent": "1"},
    {"id": "p1", "number": "p1", "text": "The fees are:"},
    {"id": "p2", "number": "p2", "text": "for a licence;"},
    {"id": "p3", "number": "p3", "text": "And for a copy."},
    {"id": "p4", "number": "p4", "text": "Nothing else."},
)


def test_lead_ins_of_items_and_items_of_lead_ins(corpus_of):
    corpus = corpus_of(*ROWS)
    assert [each.id for each in lead_ins(corpus["1ai"], corpus)] == ["1", "1a"]
    assert lead_ins(corpus["1g"], corpus) == []
    assert lead([]) == ""
    assert lead(lead_ins(corpus["1ai"], corpus)) == f"{corpus['1'].text} {corpus['1a'].text}"
    assert [(item.id, above.id) for item, above in items(corpus["1"], corpus)] == [("1a", "1"), ("1ai", "1a")]
    assert [item.id for item, _ in items(corpus["p1"], corpus)] == ["p2", "p3"]


def test_a_table_beside_a_lead_in_is_its_list():
    rows = [
        passage("1.p1", "The fees are:", "1"),
        passage("1.p2", "| Fee | 40 |", "1", kind="table"),
        passage("1.2", "A Firm must pay.", "1"),
    ]
    corpus = SimpleNamespace(children=lambda name: rows if name == "1" else ())
    assert list(items(rows[0], corpus)) == [(rows[1], rows[0])]


def test_only_siblings_of_a_sub_rule_may_name_it(corpus_of):
    corpus = corpus_of(
        {"id": "h", "number": "Part 1", "text": ""},
        {"id": "a", "number": "1.1(1)", "text": "A Firm must act.", "parent": "h"},
        {"id": "b", "number": "1.1(2)", "text": "Rule (1) is waived.", "parent": "h"},
        {"id": "c", "number": "1.2(2)", "text": "Rule (1) is waived.", "parent": "h"},
        {"id": "d", "number": "1.3", "text": "Rule (1) is waived.", "parent": "h"},
    )
    ((sibling, name),) = naming(corpus["a"], corpus)
    assert (sibling.id, name.search(sibling.text) is not None) == ("b", True)
    assert naming(corpus["d"], corpus) == []
