"""What of a table is searched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.corpus.readers.tables import Cell, markdown
from responsa.corpus.searched import cells, searched
from responsa.retrieval.bm25 import BM25
from responsa.types import Passage, Query

HTML = '<table>\n<tr><th colspan="2">Risk weight</th></tr>\n<tr><td>A &amp; B</td><td>&lt; 5 %</td></tr>\n</table>'
MARKDOWN = "| Step | a \\| b |\n| --- | --- |\n| one<br>two | < 5 % and > 1 % |\n|  |  |"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HTML, "Risk weight\nA & B < 5 %"),
        (MARKDOWN, "Step a | b\none two < 5 % and > 1 %"),
        ("plain | words\n\n| a<br>b | c |\nand <b>", "plain | words\n\na b c\nand <b>"),
        ("<table><tr><td>cut", "cut"),
        ("", ""),
    ],
)
def test_the_words_of_a_table(text, words):
    assert cells(text) == words


def test_other_text_is_searched_as_it_is():
    assert searched(Passage("a", "d", "1", "See a | b <br> c.")) == "See a | b <br> c."
    assert searched(Passage("a", "d", "1", "See:\n| a <br> b |")) == "See:\na b"
    assert searched(Passage("a", "d", "1", "<table><tr><td>b</td></tr></table>", kind="table")) == "b"


WORDS = st.text("abc|<>&-: 5%\n", max_size=12)


@given(st.lists(st.lists(WORDS, min_size=1, max_size=3), max_size=4))
def test_no_word_of_a_cell_is_lost(rows):
    text = markdown([[Cell(each) for each in row] for row in rows])
    letters = [letter for row in rows for each in row for letter in each if letter in "abc"]
    assert [letter for letter in cells(text) if letter in "abc"] == letters


def test_marks_are_no_terms_of_the_index(library_of):
    rows = "<tr><th>Risk</th><th>Weight</th></tr><tr><td><p>one</p><p>two</p></td><td>3 %</td></tr>"
    page = f"<html><body><p>Capital is held.</p><table>{rows}</table></body></html>"
    corpus = library_of({"rules.html": page}).corpus()
    (table,) = (passage for passage in corpus.values() if passage.kind == "table")
    assert "<br>" in table.text
    found = BM25()([Query("marks", "br"), Query("words", "one two")], corpus, 5).rankings
    assert not found["marks"].hits
    assert found["words"].hits[0].passage_id == table.id
