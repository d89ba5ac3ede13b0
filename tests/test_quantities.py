"""Numbers with units: by hand, and what holds for any text."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.quantities import duration, number, quantities


def read(text):
    """(words, kind, value, unit, iso) of each quantity."""
    return [
        (text[each.start : each.end], each.kind, each.value, each.unit, each.iso)
        for each in quantities(text)
    ]  # fmt: skip


def one(text):
    (found,) = quantities(text)
    return found


@pytest.mark.parametrize(
    ("text", "words", "kind", "value", "unit"),
    [
        ("capital of EUR 5 million at all", "EUR 5 million", "money", 5_000_000, "EUR"),
        ("a fine of $10,000,000.", "$10,000,000", "money", 10_000_000, "USD"),
        ("USD 3bn", "USD 3bn", "money", 3_000_000_000, "USD"),
        ("US$ 250,000", "US$ 250,000", "money", 250_000, "USD"),
        ("EUR 730 000 of own funds", "EUR 730 000", "money", 730_000, "EUR"),
        ("5 million euros", "5 million euros", "money", 5_000_000, "EUR"),
        ("£12.5m", "£12.5m", "money", 12_500_000, "GBP"),
        ("a risk weight of 1 250 %", "1 250 %", "percentage", 1250, "%"),
        ("a ratio of 0,5 %", "0,5 %", "percentage", "0.5", "%"),
        ("25 per cent of the votes", "25 per cent", "percentage", 25, "%"),
        ("twenty per cent", "twenty per cent", "percentage", 20, "%"),
        ("ninety-nine percent", "ninety-nine percent", "percentage", 99, "%"),
        ("50 basis points", "50 basis points", "basis points", 50, "bp"),
        ("a ratio of 3:1 or less", "3:1", "ratio", 3, "to one"),
        ("three quarters of the votes", "three quarters", "fraction", "0.75", "whole"),
        ("four times the requirement", "four times", "factor", 4, "times"),
        ("twice the fee", "twice", "factor", 2, "times"),
        ("a 10-day liquidation period", "10-day", "duration", 10, "day"),
        ("ten (10) days of data", "ten (10) days", "duration", 10, "day"),
    ],
)
def test_a_number_and_its_unit(text, words, kind, value, unit):
    found = one(text)
    assert (text[found.start : found.end], found.kind, found.value, found.unit) == (words, kind, Decimal(value), unit)


@pytest.mark.parametrize(
    "text",
    [
        "Article 4(1) of Regulation (EU) No 575/2013",
        "Directive 2013/36/EU of the European Parliament and of the Council of 26 June 2013 on access",
        "OJ L 176, 27.6.2013, p. 1",
        "Rule 3.2.1(10) and Part 8, Chapter 2",
        "in points (a) to (d) of Annex IV",
        "at 10:30 a.m.",
        "the second subparagraph of Article 20",
        "Table 1 % of Section 5 %",
        "credit quality step 3 to 6",
    ],
)
def test_false_friends_are_no_quantities(text):
    assert quantities(text) == ()


@pytest.mark.parametrize(
    ("text", "words", "value", "unit", "iso", "relation", "event"),
    [
        ("notify it within 10 business days of becoming aware, unless", "within 10 business days of becoming aware", 10, "business day", "", "within", "becoming aware"),
        ("no later than six months after the end of the year.", "no later than six months after the end of the year", 6, "month", "P6M", "within", "the end of the year"),
        ("give notice at least 30 days before the change", "at least 30 days before the change", 30, "day", "P30D", "before", "the change"),
        ("six months after the loss", "six months after the loss", 6, "month", "P6M", "after", "the loss"),
        ("reply within 24 hours", "within 24 hours", 24, "hour", "PT24H", "within", None),
        ("file it within a month", "within a month", 1, "month", "P1M", "within", None),
        ("publish it no later than 30 June each year", "no later than 30 June each year", None, "every year", "--06-30", "by", None),
        ("report by 31 December 2014, after", "by 31 December 2014", None, "day", "2014-12-31", "by", None),
        ("for the period from 1 January 2021 to 31 December 2021;", "from 1 January 2021 to 31 December 2021", None, "day", "2021-01-01/2021-12-31", "from", None),
        ("by the end of the next Business Day", "by the end of the next Business Day", None, "", "", "by", "the end of the next Business Day"),
        ("prior to entering into any transaction", "prior to entering into any transaction", None, "", "", "before", "entering into any transaction"),
        ("must without undue delay inform", "without undue delay", None, "without undue delay", "", "at once", None),
        ("as soon as it becomes aware of it", "as soon as it becomes aware of it", None, "as soon as", "", "at once", "it becomes aware of it"),
    ],
)  # fmt: skip
def test_deadlines(text, words, value, unit, iso, relation, event):
    found = quantities(text)[0]
    assert found.kind == "deadline"
    assert text[found.start : found.end] == words
    assert (found.value, found.unit, found.iso, found.relation) == (
        None if value is None else Decimal(value), unit, iso, relation,
    )  # fmt: skip
    assert (text[slice(*found.anchor)] if found.anchor else None) == event


@pytest.mark.parametrize(
    ("text", "words", "unit", "iso"),
    [
        ("review it at least annually and", "at least annually", "annually", "P1Y"),
        ("on a quarterly basis", "on a quarterly basis", "quarterly", "P3M"),
        ("report monthly to the Board", "monthly", "monthly", "P1M"),
        ("once every two years", "once every two years", "year", "P2Y"),
        ("at least every 12 months", "at least every 12 months", "month", "P12M"),
        ("at least once a year", "at least once a year", "per year", "P1Y"),
        ("twice a year", "twice a year", "per year", ""),
        ("on an ongoing basis", "on an ongoing basis", "ongoing", ""),
        ("at all times", "at all times", "at all times", ""),
    ],
)
def test_frequencies(text, words, unit, iso):
    found = one(text)
    assert (found.kind, text[found.start : found.end], found.unit, found.iso) == ("frequency", words, unit, iso)
    assert found.bound == ("at least" if "at least" in words else "")


def test_an_adjective_is_no_frequency():
    assert quantities("the daily average of monthly returns") == ()


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("at least 8 %", "at least"), ("not exceeding 25 %", "at most"), ("more than 90 days", "more than"),
        ("less than one year", "less than"), ("one year or more", "at least"), ("three months or less", "at most"),
        ("8 %", ""),
    ],
)  # fmt: skip
def test_bounds(text, bound):
    assert one(text).bound == bound


def test_the_event_of_a_deadline_may_hold_a_quantity():
    assert read("within 14 days of a loss of 5 %") == [
        ("within 14 days of a loss of 5 %", "deadline", Decimal(14), "day", "P14D"),
        ("5 %", "percentage", Decimal(5), "%", ""),
    ]


def test_a_day_that_no_calendar_has_is_none():
    assert quantities("on 31 June 2020") == ()


@pytest.mark.parametrize("text", ["", "x", "-", "twelve apples", "1.2.3"])
def test_number_refuses_what_is_none(text):
    with pytest.raises(ValueError, match="not a number"):
        number(text)


@pytest.mark.parametrize(
    ("value", "unit", "iso"),
    [
        ("2", "quarter", "P6M"),
        ("1.5", "month", ""),
        ("3", "business day", ""),
        ("0", "day", ""),
        ("90", "minute", "PT90M"),
    ],
)
def test_duration(value, unit, iso):
    assert duration(Decimal(value), unit) == iso


@given(st.integers(0, 10**12), st.sampled_from([",", " ", "\u00a0", "\u202f", "'", ""]))
def test_digits_read_back(value, mark):
    assert number(f"{value:,}".replace(",", mark)) == value


PIECES = st.sampled_from(
    ["within ", "10 ", "business days", " of ", "EUR ", "5 million", "30 June 2024", " each year", "annually", ", ",
     "Article ", "4(1)", "%", "twice ", "a year", "\n", "no later than ", "the end of ", "(", "–", "\u200e", "1:", "٣"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=30).map("".join) | st.text(max_size=60))
def test_places_are_in_order_and_in_the_text(text):
    found = quantities(text)
    assert [each.start for each in found] == sorted(each.start for each in found)
    for each in found:
        assert 0 <= each.start < each.end <= len(text)
        if each.anchor:
            assert each.start < each.anchor[0] < each.anchor[1] <= each.end
    for before, after in pairwise(found):
        assert after.start >= (before.anchor[0] if before.anchor else before.end)


def test_rows_of_beginnings_are_read_once():
    text = "1 " * 20_000 + "within " * 5_000 + "a " * 20_000
    assert quantities(text) == ()
