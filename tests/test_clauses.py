"""The clause tree of an act: names that lawyers write, subparagraphs told apart, the text put together again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.corpus import references
from responsa.corpus.readers.clauses import Block, Clause, begins, flat, merged, printed, to_passages


def article(*parts, label="4", title="Definitions", level="article"):
    return Clause(level, label, title, list(parts))


def paragraph(label, *parts):
    return Clause("paragraph", label, "", list(parts))


def point(label, *parts):
    return Clause("point", label, "", [Block(part) if isinstance(part, str) else part for part in parts])


def ids(*clauses):
    return [passage.id.removeprefix("CRR ") for passage in to_passages(clauses, "32013R0575", "CRR")]


def test_a_point_within_a_point_worked_by_hand():
    act = Clause(
        "division",
        "PART TWO",
        "OWN FUNDS",
        [article(paragraph("1", Block("A bank must:"), point("a", "pay: ", point("ii", "all."))))],
    )
    passages = to_passages([act], "32013R0575", "CRR")
    assert [(p.id, p.number, p.text, p.title, p.parent_id, p.kind) for p in passages] == [
        ("CRR Part Two", "Part Two", "", "OWN FUNDS", None, "heading"),
        ("CRR Art. 4", "Article 4", "", "Definitions", "CRR Part Two", "heading"),
        ("CRR Art. 4(1)", "Article 4(1)", "A bank must:", "", "CRR Art. 4", "text"),
        ("CRR Art. 4(1)(a)", "Article 4(1)(a)", "pay: ", "", "CRR Art. 4(1)", "text"),
        ("CRR Art. 4(1)(a)(ii)", "Article 4(1)(a)(ii)", "all.", "", "CRR Art. 4(1)(a)", "text"),
    ]
    assert passages[4].path == ("PART TWO — OWN FUNDS", "Article 4 — Definitions")


def test_a_second_subparagraph_has_points_of_its_own():
    first, second = Block("The following applies:"), Block("By way of derogation, one of these is enough:", opens=True)
    act = article(paragraph("1", first, point("a", "one;"), point("b", "two."), second, point("a", "three.")))
    assert ids(act) == [
        "Art. 4",
        "Art. 4(1)",
        "Art. 4(1)(a)",
        "Art. 4(1)(b)",
        "Art. 4(1), second subparagraph",
        "Art. 4(1), second subparagraph, point (a)",
    ]


def test_paragraphs_without_a_number_are_counted_in_words():
    act = article(Block("This is so."), Block("That too.", opens=True), Block("And that.", opens=True))
    assert ids(act) == ["Art. 4", "Art. 4, second paragraph", "Art. 4, third paragraph"]


def test_words_after_a_list_that_go_on_are_closing_words():
    act = article(paragraph("1", Block("A bank that"), point("a", "lends,"), Block("shall report.")))
    passages = to_passages([act], "32013R0575", "CRR")
    assert passages[-1].id == "CRR Art. 4(1), closing words"
    assert passages[-1].parent_id == "CRR Art. 4(1)"


def test_numbers_are_those_that_the_citation_grammar_gives():
    inner = article(
        paragraph(
            "1",
            Block("Both:"),
            point("a", "x:", Clause("indent", parts=[Block("y")])),
            Block("Not:", opens=True),
            point("b", "z"),
        )
    )
    found = {passage.number for passage in to_passages([inner], "32013R0575", "CRR")}
    for cited in (
        "Article 4(1)(a)",
        "point (b) of the second subparagraph of Article 4(1)",
        "first indent of Article 4(1)(a)",
    ):
        (reference,) = references.parse(cited, references.Here(act="32013R0575"))
        assert reference.provision in found


def test_annexes_sections_tables_and_notes():
    table = Clause("table", "", "Table 8", [Block("| a |", notes=("A note.",))])
    nested = Clause("section", "1", "Forestry", [Clause("section", "1.1", "Trees", [point("2", "x")])])
    annex = Clause(
        "annex",
        "I",
        "Risks",
        [point("1", "Full:", point("a", "all")), table, Clause("table", parts=[Block("| b |")]), nested],
    )
    assert ids(annex) == [
        "Annex I",
        "Annex I(1)",
        "Annex I(1)(a)",
        "Annex I, Table 8",
        "Annex I, Table 8, footnote 1",
        "Annex I, table 2",
        "Annex I, 1",
        "Annex I, 1.1",
        "Annex I, 1.1, point 2",
    ]
    number = to_passages([annex], "x", "CRR")[2].number
    assert number == references.parse("Annex I, point 1(a)")[0].provision


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("PART THREE", "Part Three"),
        ("TITLE IV", "Title IV"),
        ("CHAPTER 1a", "Chapter 1a"),
        ("Sub-Section 2", "Sub-Section 2"),
        ("SECTION 1", "Section 1"),
    ],
)
def test_names_of_divisions(label, name):
    assert ids(Clause("division", label, "x")) == [name]


def test_the_same_name_again_gets_a_count():
    act = article(paragraph("1", point("a", "x"), point("a", "y"), point("a", "z")))
    assert ids(act)[2:] == ["Art. 4(1)(a)", "Art. 4(1)(a)#2", "Art. 4(1)(a)#3"]


def test_an_article_of_another_act_is_one_passage_and_no_article():
    quoted = Clause("quoted", "50a", "Sums", [paragraph("1", Block("Add:"), point("a", "all."))])
    passages = to_passages([article(point("1", "this is added:", quoted))], "x", "CRR")
    assert passages[-1].id == "CRR Art. 4(1), quoted Article 50a"
    assert passages[-1].text == "Sums\n1. Add:\n(a) all."
    assert passages[-1].flags == ("quoted",)


def test_an_annex_of_one_part_without_a_number_takes_its_title():
    annex = Clause("annex", "I", "", [Clause("section", "", "Classification", [point("1", "x")])])
    assert ids(merged(annex)) == ["Annex I", "Annex I(1)"]
    assert annex.title == "Classification"
    two = Clause("annex", "I", "", [Clause("section", "", "One"), Clause("section", "", "x" * 200)])
    assert ids(merged(two)) == ["Annex I", "Annex I, One", "Annex I, section 2"]


@pytest.mark.parametrize(
    ("last", "text", "said"),
    [
        ("all of it.", "The Commission shall act.", True),
        ("and so on;", "For the purposes of point (a), it shall.", True),
        ("as follows:", "The Commission shall act.", False),
        ("all of it.", "where it applies.", False),
        ("all of it.", "General terms", False),
        ("of these.", "Risk weight (RW) = 290 % for shares.", False),
        ("‘credit’ is given.’", "‘Debit’ is not.", True),
    ],
)
def test_what_begins_a_subparagraph(last, text, said):
    assert begins(last, text) is said


def test_the_text_is_put_together_again():
    act = article(
        paragraph(
            "1", Block("A bank must:", notes=("OJ L 1.",)), point("a", "pay;"), Clause("indent", parts=[Block("now.")])
        ),
        paragraph("2", Clause("table", "", "Table 1", [Block("| x |")])),
    )
    assert printed(to_passages([act], "x", "CRR")) == "1.\nA bank must:\n(a)\npay;\n—\nnow.\n2.\nTable 1\n| x |"


def clauses(children):
    parts = st.lists(st.builds(Block, st.sampled_from(["Must do.", "and more", "The list:"])) | children, max_size=4)
    return st.builds(
        Clause, st.sampled_from(["paragraph", "point", "indent"]), st.sampled_from(["1", "a", "ii"]), st.just(""), parts
    )


@given(
    st.lists(
        st.recursive(st.builds(point, st.sampled_from("ab"), st.just("Text.")), clauses, max_leaves=12), max_size=4
    )
)
def test_whatever_the_tree_ids_are_unique_parents_come_first_and_no_word_is_lost(parts):
    act = article(*parts)
    words = " ".join(flat(act)).split()
    passages = to_passages([act], "x", "CRR")
    seen: set[str] = set()
    for passage in passages:
        assert passage.id not in seen
        assert passage.parent_id is None or passage.parent_id in seen
        seen.add(passage.id)
    texts = " ".join(passage.text for passage in passages).split()
    labels = {*"—", "Definitions", *(f"({x})" for x in ("1", "a", "b", "ii")), *(f"{x}." for x in ("1", "a", "ii"))}
    assert [word for word in words if word not in labels] == texts


def test_an_annex_that_is_one_long_table_comes_in_parts():
    rows = [f"| Article {number} | Article {number + 1} |" for number in range(1, 106)]
    table = Block("\n".join(["| This | That |", "| --- | --- |", *rows]), notes=("A note.",))
    found = to_passages([Clause("annex", "IV", "Correlation", [Clause("table", parts=[table])])], "d", "CRR")
    ids = [passage.id for passage in found]
    assert ids == [
        "CRR Annex IV",
        "CRR Annex IV, rows 1 to 40",
        "CRR Annex IV, rows 1 to 40, footnote 1",
        "CRR Annex IV, rows 41 to 80",
        "CRR Annex IV, rows 81 to 105",
    ]
    parts = [passage.text.split("\n") for passage in found if passage.kind == "table"]
    assert [line for part in parts for line in part[2:]] == rows
    assert all(part[:2] == ["| This | That |", "| --- | --- |"] for part in parts)


def test_a_shorter_table_and_one_beside_other_text_stay_whole():
    long = Block("\n".join(["| a |"] * 200))
    for parts in (
        [Clause("table", parts=[Block("| a |\n| --- |\n| b |")])],
        [Block("Text."), Clause("table", parts=[long])],
    ):
        found = to_passages([Clause("annex", "I", "", parts)], "d", "CRR")
        assert [passage.id for passage in found if passage.kind == "table"] == ["CRR Annex I, table"]
