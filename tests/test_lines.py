"""Lines of a document as passages, with what lines cannot carry."""

from __future__ import annotations

import pytest

from responsa.corpus.readers.lines import Lines, joined, parted, without_marks, written


def made(*calls):
    lines = Lines()
    for name, *arguments in calls:
        getattr(lines, name)(*arguments)
    return [(each.number, each.kind, each.title, each.text, each.flags) for each in lines.passages("d")]


def test_a_title_headings_and_numbered_paragraphs():
    assert made(
        ("heading", 1, "Rules"), ("heading", 2, "Scope", "1"), ("paragraph", "A Firm must:", "1.1"),
        ("paragraph", "report.", "a)", 1), ("paragraph", "one", "•", 2), ("paragraph", "A rule.", "1.2"),
    ) == [
        ("Title", "heading", "Rules", "", ()),
        ("1", "heading", "Scope", "", ()),
        ("1.1", "text", "", "A Firm must:", ()),
        ("1.1(a)", "text", "", "report.\n  • one", ()),
        ("1.2", "text", "", "A rule.", ()),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("label", "expected"),
    [("a.", "(a)"), ("iv)", "(iv)"), ("(b)", "(b)"), ("3.2.", "3.2."), ("§ 4", "§ 4"), ("•", "•")],
)
def test_labels(label, expected):
    assert written(label) == expected


def test_a_label_that_the_grammar_does_not_know_stays_in_the_text():
    assert made(("paragraph", "A rule.", "§ 4")) == [("p1", "text", "", "§ 4 A rule.", ())]


@pytest.mark.parametrize("text", ["# one", "| one |", "**1.1** one", "---", "/Table Start", "#"])
def test_words_that_look_like_markdown_are_words(text):
    assert made(("paragraph", "Before."), ("paragraph", text)) == [
        ("p1", "text", "", "Before.", ()),
        ("p2", "text", "", text, ()),
    ]


def test_nothing_comes_of_nothing():
    assert made(("heading", 2, " "), ("paragraph", " \n "), ("table", "")) == []


def test_what_is_kept_aside_comes_back_in_its_order():
    lines = Lines()
    lines.paragraph(f"A rule{lines.note('A note.')} that{lines.hidden('Secret.')} holds:", "1.1")
    lines.table("| a |", "Dues", lines.note("In a cell."))
    lines.paragraph("and so on.")
    lines.table("| b |")
    lines.paragraph(f"The next{lines.revised()}.", "1.2")
    assert [(each.id, each.kind, each.text, each.flags) for each in lines.passages("d")] == [
        ("d/1.1", "text", "A rule that holds:", ()),
        ("d/1.1,_footnote_1", "text", "A note.", ("footnote",)),
        ("d/1.1,_hidden_1", "text", "Secret.", ("hidden",)),
        ("d/1.1,_table_1", "table", "| a |", ()),
        ("d/1.1,_footnote_2", "text", "In a cell.", ("footnote",)),
        ("d/1.1,_after_table_1", "text", "and so on.", ()),
        ("d/1.1,_table_2", "table", "| b |", ()),
        ("d/1.2", "text", "The next.", ("revised",)),
    ]
    assert {each.parent_id for each in lines.passages("d") if "," in each.id} == {"d/1.1"}


def test_marks_in_a_heading_stay_out_of_paths():
    lines = Lines()
    lines.heading(2, f"Scope{lines.note('A note.')}", "1")
    lines.paragraph("A rule.", "1.1")
    assert [(each.number, each.title, each.text, each.path) for each in lines.passages("d")] == [
        ("1", "Scope", "", ()),
        ("1, footnote 1", "", "A note.", ("Scope",)),
        ("1.1", "", "A rule.", ("Scope",)),
    ]


def test_ids_are_unique():
    lines = Lines()
    for _ in range(2):
        lines.paragraph(f"A rule{lines.note('Note.')}.", "1.1")
    ids = [each.id for each in lines.passages("d")]
    assert len(set(ids)) == len(ids) == 4


def test_empty_notes_leave_no_mark():
    assert Lines().note(" ") == Lines().hidden("") == ""


def test_pieces():
    assert joined(["  a ", "b\t c\n", " d \n\n"]) == "a b c\nd"
    assert without_marks("a\ufdd0\ufffe\uffffb") == "ab"
    lines = Lines()
    mark = lines.note("x")
    assert parted(f"a{mark}b{mark}") == ("ab", mark + mark)
