"""Citations in passages, resolved to passages."""

import pytest

from responsa.corpus import rulebook_numbers
from responsa.retrieval import links
from responsa.types import Passage


@pytest.mark.parametrize(
    ("number", "key"),
    [
        ("3.2.1", ("", "3", "2", "1")),
        ("3.2.1.(1)(a)", ("", "3", "2", "1", "1", "a")),
        ("6.1.3.(a)", ("", "6", "1", "3", "a")),
        ("Part 3.Chapter 2.10.(5)", ("", "10", "5")),
        ("PART 2.3.1.1.(1)", ("", "3", "1", "1", "1")),
        ("41)", ("", "41")),
        ("Article 99", ("", "99")),
        ("Schedule 3.2.(6)", ("schedule 3", "2", "6")),
        ("Annex II", ("annex ii",)),
        ("APP4.A4.10.1", ("", "a4", "10", "1")),
        ("APP 1.3.", ("appendix 1", "3")),
        ("\u200e3.2", ("", "3", "2")),
        ("", ("",)),
    ],
)
def test_the_key_of_a_number(number, key):
    assert rulebook_numbers.key_of(number) == key


def named(text, number="9.1.(2)", act=None):
    return [(each.act, each.key) for each in rulebook_numbers.targets(Passage("p", "d", number, text), act)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("as in Rule 3.2.1(a)(ii).", [("", ("", "3", "2", "1", "a", "ii"))]),
        ("Rules 3.1 and \u200e3.2 apply", [("", ("", "3", "1")), ("", ("", "3", "2"))]),
        ("under section 24(3)", [("", ("", "24", "3"))]),
        ("paragraph 5 of Schedule 1", [("", ("schedule 1", "5"))]),
        ("section 58 of FSMR", [("FSMR", ("", "58"))]),
        ("paragraph (4) applies", [("", ("", "9", "1", "4"))]),
        ("this Chapter, Part 6 and the FSMR", []),
    ],
)
def test_what_a_passage_names(text, expected):
    assert named(text) == expected


def test_an_act_that_names_itself():
    assert named("section 58 of FSMR", act="FSMR") == [("", ("", "58"))]


ROWS = [
    ("3.1", "Title."),
    ("3.1.1", "A Firm keeps records under Rule 3.2.1(a)."),
    ("3.2", ""),
    ("3.2.1", "Records are: (a) accounts; (b) letters."),
    ("3.2.2.(1)", "Subject to paragraph (2)."),
    ("3.2.2.(2)", "See Rule 3.2."),
    ("3.3", "Nothing here, Rule 9.9 and Rule 3.3."),
]


@pytest.fixture(scope="module")
def corpus(corpus_of):
    rows = [{"id": number, "document": "rules", "number": number, "text": text} for number, text in ROWS]
    other = {"id": "x", "document": "other", "number": "3.2.1", "text": "Another 3.2.1, cited by Rule 3.3 of nobody."}
    return corpus_of(*rows, other)


@pytest.fixture(scope="module")
def table(corpus):
    return links.links(corpus)


def cites(table, passage_id):
    return [table.ids[at] for at in table.cited_by(table.position(passage_id))]


def test_an_item_is_found_in_the_passage_that_holds_it(table):
    assert cites(table, "3.1.1") == ["3.2.1"]


def test_a_heading_stands_for_what_is_below_it(table):
    assert cites(table, "3.2.2.(2)") == ["3.2.1", "3.2.2.(1)"]  # not itself


def test_a_paragraph_of_the_same_rule(table):
    assert cites(table, "3.2.2.(1)") == ["3.2.2.(2)"]


def test_what_is_not_there_and_itself(table):
    assert cites(table, "3.3") == []
    assert cites(table, "x") == []  # its document has no 3.3
    assert table.position("3.2") is None  # a bare heading
    assert table.position("gone") is None


def test_the_way_back(table):
    assert [table.ids[at] for at in table.citing(table.position("3.2.1"))] == ["3.1.1", "3.2.2.(2)"]


def test_neighbours_in_reading_order(table):
    near = [table.ids[at] for at in table.near(table.position("3.2.1"), 2)]
    assert near == ["3.1", "3.1.1", "3.2.2.(1)", "3.2.2.(2)"]
    assert table.near(table.position("x"), 5) == []


def test_a_document_is_recognised_by_its_title(library_of):
    act = (
        "---\ndocument: markets\n---\n\n# Financial Services and Markets Regulations 2015\n\n5.8 An offer is exempt.\n"
    )
    rules = "---\ndocument: rules\n---\n\n# Rules\n\n1.1 Pursuant to section 5.8 of FSMR, offers are exempt.\n"
    corpus = library_of({"act.md": act, "rules.md": rules}).corpus()
    by_number = {passage.number: passage.id for passage in corpus.values()}
    assert cites(links.links(corpus), by_number["1.1"]) == [by_number["5.8"]]


def test_an_empty_corpus(corpus_of):
    empty = links.links(corpus_of(("p", "Text.")))
    assert empty.cited_by(0) == []
    assert empty.near(0, 2) == []
