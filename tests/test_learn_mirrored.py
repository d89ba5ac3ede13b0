"""Premises changed as a sentence was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.learn.classifier import Sample
from responsa.learn.mirrored import MIRRORED, mirror, mirrored

RULE = "A lender shall inform the borrower within ten days. The borrower may withdraw within 30 days of that."


@pytest.mark.parametrize(
    ("follows", "changed", "premise"),
    [
        (  # one figure, wherever the clauses stand
            "Within ten days a lender shall inform the borrower.",
            "Within twenty days a lender shall inform the borrower.",
            RULE.replace("ten", "twenty"),
        ),
        (  # two places: roles exchanged
            "A lender shall inform the borrower.",
            "A borrower shall inform the lender.",
            RULE.replace("A lender shall inform the borrower", "A borrower shall inform the lender"),
        ),
        (  # "within" stands twice; the word after it tells which
            "The borrower may withdraw within 30 days.",
            "The borrower may withdraw after 30 days.",
            RULE.replace("within 30", "after 30"),
        ),
        (  # the capital of a sentence's first word goes, that of a name stays
            "Ten days is the time within which a lender shall inform.",
            "Twenty days is the time within which a lender shall inform.",
            RULE.replace("ten", "twenty"),
        ),
        (
            "The borrower may withdraw.",
            "The FCA may withdraw.",
            RULE.replace("The borrower may", "The FCA may"),
        ),
    ],
)
def test_the_change_is_made_in_the_premise(follows, changed, premise):
    assert mirrored(RULE, follows, changed) == premise


@pytest.mark.parametrize(
    ("follows", "changed"),
    [
        ("A lender shall inform the borrower.", "A lender shall inform the borrower."),  # the same
        ("A lender shall inform the borrower within ten days.", "A lender shall inform the borrower."),  # left out
        ("A lender shall inform the borrower.", "A lender shall inform the borrower twice."),  # added
        ("A bank shall inform the borrower.", "A court shall inform the borrower."),  # own words
        ("It is the borrower.", "It is the bank."),  # twice, and nothing beside it tells which
        ("a b c d e f g", "h i j k l m n"),  # too many words
    ],
)
def test_what_is_not_safe_is_left(follows, changed):
    assert mirrored(RULE, follows, changed) is None


@given(
    st.lists(
        st.sampled_from(["must", "may", "not", "ten", "30", "days", "firm", "bank", "report", "keep", "a", "the"]),
        max_size=12,
    ).map(" ".join),
    st.lists(
        st.sampled_from(["must", "may", "not", "ten", "30", "days", "firm", "bank", "report", "keep", "a", "the"]),
        max_size=12,
    ).map(" ".join),
)
def test_with_the_sentence_as_premise_the_changed_one_comes_out(follows, changed):
    made = mirrored(follows, follows, changed)
    assert made is None or made == changed


def sample(hypothesis, label, premise=RULE):
    return Sample((premise, hypothesis), label, "near", "group")


def test_twins_are_mirrored_and_what_may_follow_from_the_new_premise_is_left_out():
    true, denied = sample("The borrower may withdraw.", 1), sample("The borrower must withdraw.", 0)
    wider = sample("The customer may withdraw.", 2)
    premise = RULE.replace("borrower may", "borrower must")
    found = list(mirror([true, denied], 1, 0))
    assert [(each.texts, each.label) for each in found] == [
        ((premise, denied.texts[1]), 1),
        ((premise, true.texts[1]), 0),
    ]
    assert {each.source for each in found} == {MIRRORED}
    assert {each.group for each in found} == {"group"}
    assert list(mirror([denied, true], 1, 0)) == found
    premise = RULE.replace("The borrower may", "The customer may")
    assert [(each.texts, each.label) for each in mirror([true, wider], 1, 0)] == [((premise, wider.texts[1]), 1)]


def test_no_twins_no_pairs():
    true, denied = sample("The borrower may withdraw.", 1), sample("The borrower must withdraw.", 0)
    assert not list(mirror([], 1, 0))
    assert not list(mirror([true, true], 1, 0))
    assert not list(mirror([true, sample(denied.texts[1], 0, "Another text.")], 1, 0))
