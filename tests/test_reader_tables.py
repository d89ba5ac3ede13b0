"""Tables as Markdown, and formulas of Formex as text."""

from __future__ import annotations

import pytest
from lxml import etree

from responsa.corpus.readers.formulas import formula, high, low
from responsa.corpus.readers.tables import Cell, markdown, span


def test_cells_that_span_columns_and_rows_worked_by_hand():
    rows = [
        [Cell("Step", rows=2), Cell("Weight", columns=2)],
        [Cell("20 days"), Cell("10\ndays")],
        [Cell("1"), Cell("a|b")],
    ]
    assert markdown(rows).split("\n") == [
        "| Step | Weight |  |",
        "| --- | --- | --- |",
        "|  | 20 days | 10<br>days |",
        "| 1 | a\\|b |  |",
    ]


def test_no_rows_and_empty_rows():
    assert markdown([]) == ""
    assert markdown([[], [Cell("x")]]) == "|  |\n| --- |\n| x |"


@pytest.mark.parametrize(
    ("value", "number"), [(None, 1), ("", 1), ("0", 1), ("-3", 1), ("x", 1), ("²", 1), ("3", 3), ("999999999", 200)]
)
def test_spans(value, number):
    assert span(value) == number


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('<EXPR>a</EXPR><OP.CMP TYPE="EQ"/><EXPR>b <OP.MATH TYPE="PLUS"/> 1</EXPR>', "a = b + 1"),
        (
            "<FRACTION><DIVIDEND>1</DIVIDEND><DIVISOR>1 <OP.MATH TYPE='MINUS'/> R</DIVISOR></FRACTION>",
            "1 / (1 − R)",
        ),
        ('max<EXPR TYPE="BRACE">0; G<EXPR TYPE="BRACKET">PD</EXPR></EXPR>', "max{0; G(PD)}"),
        ("EL<IND>BE</IND> x<EXPONENT>2</EXPONENT> e<EXPONENT>−t</EXPONENT>", "EL_BE x² e^(−t)"),
        ("<SUM><UNDER>i</UNDER><OVER>n</OVER></SUM> E<IND>i</IND>", "Σ_i^n E_i"),
        ("<ROOT><EXPR>x <OP.MATH TYPE='PLUS'/> y</EXPR></ROOT>", "√(x + y)"),
        ('<IND LOC="SUP">– 50</IND><EXPR>a</EXPR><OVER/><EXPR>b</EXPR>', "^(– 50)a / b"),
        ('a <OP.MATH TYPE="WHATEVER"/> b', "a whatever b"),
    ],
)
def test_formulas_in_one_line(source, text):
    assert formula(etree.fromstring(f"<FORMULA>{source}</FORMULA>")) == text


def test_sub_and_superscripts():
    assert (low("2"), low("BE"), low("a b"), low(" ")) == ("₂", "_BE", "_(a b)", "")
    assert (high("3"), high("n"), high("t-1")) == ("³", "^n", "^(t-1)")
