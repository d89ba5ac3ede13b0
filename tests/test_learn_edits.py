"""Edits of sentences: what each kind makes of a sentence, and where it must leave one alone."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.learn.edits import PRESERVING, parse
from responsa.learn.edits_broken import BREAKING

KINDS = {**PRESERVING, **BREAKING}
FOLLOWS, BREAKS, MORE = "entailment", "contradiction", "neutral"


def edits(kind: str, sentence: str) -> dict[str, tuple[str, str]]:
    """All that a kind can make of a sentence, over many draws: the text and both labels."""
    rule = parse(sentence)
    if rule is None:
        return {}
    return {edit.text: (edit.label, edit.back) for seed in range(40) for edit in KINDS[kind](rule, Random(seed))}


def test_a_sentence_is_taken_apart():
    rule = parse("(2) Where a breach occurs, a Firm must not  accept new clients from abroad.")
    assert (rule.lead, rule.subject, rule.modal, rule.negative) == ("Where a breach occurs, ", "a Firm", "must", True)
    assert rule.rest == "accept new clients from abroad"
    assert rule.force == "obligation"
    assert parse("**3.** A Firm shall keep its records in English.").text == "A Firm shall keep its records in English."


@pytest.mark.parametrize(
    "fragment",
    [
        "Records and their retention",  # a heading
        "A Firm must keep records.",  # too short to be changed
        "A Firm must notify the Regulator of: (a) a breach; and (b) a loss.",  # a list
        'In this Part "Firm" means a person who must be authorised.',
        "For example, a Firm must keep its records in one place.",
        "| Category | A Firm must hold capital of 10 days |.",
        "A Firm must keep its records (in English for at least six years.",
        "over 25 up to 50 per cent of the total capital of the Firm.",
        "Over 25 up to 50 per cent of the total capital of a Firm.",  # a row of a table, without a verb
        "A Firm must keep records. It must also publish them on its website.",
        "",
    ],
)
def test_what_is_no_whole_sentence_is_left_alone(fragment):
    assert parse(fragment) is None


CASES = [
    # kind, sentence, one of the results, label, label the other way round
    ("duty", "A Firm must keep its records in English.", "A Firm is required to keep its records in English.", FOLLOWS, FOLLOWS),
    ("duty", "Firms must keep their records in English.", "Firms are required to keep their records in English.", FOLLOWS, FOLLOWS),
    ("duty", "A Firm must not accept deposits from retail clients.", "A Firm is not permitted to accept deposits from retail clients.", FOLLOWS, FOLLOWS),
    ("duty", "The Regulator may impose a fine on the Firm.", "The Regulator is permitted to impose a fine on the Firm.", FOLLOWS, FOLLOWS),
    ("synonym", "A Firm must tell the Regulator prior to closing.", "A Firm must tell the Regulator before closing.", FOLLOWS, FOLLOWS),
    ("figures", "A Firm must tell the Regulator within ten days.", "A Firm must tell the Regulator within 10 days.", FOLLOWS, FOLLOWS),
    ("figures", "A Firm must hold 8% of its assets in cash.", "A Firm must hold 8 per cent of its assets in cash.", FOLLOWS, FOLLOWS),
    ("passive", "A Firm must keep the register in the English language.", "The register must be kept by a Firm in the English language.", FOLLOWS, FOLLOWS),
    ("passive", "EBA shall publish the final report on its website.", None, "", ""),
    ("order", "A Firm must have the systems, policies and controls of a bank.", "A Firm must have the controls, systems and policies of a bank.", FOLLOWS, FOLLOWS),
    ("order", "Where markets are closed, a Firm must use the last price.", "A Firm must use the last price where markets are closed.", FOLLOWS, FOLLOWS),
    ("detail", "A Firm must tell the Regulator of a breach in writing.", "A Firm must tell the Regulator of a breach.", FOLLOWS, MORE),
    ("detail", "A Firm must establish and maintain a register of gifts.", "A Firm must maintain a register of gifts.", FOLLOWS, MORE),
    ("modality", "A Firm must keep its records in English.", "A Firm need not keep its records in English.", BREAKS, BREAKS),
    ("modality", "The Regulator may impose a fine on the Firm.", "The Regulator must impose a fine on the Firm.", BREAKS, BREAKS),
    ("negation", "A Firm must keep its records in English.", "A Firm must not keep its records in English.", BREAKS, BREAKS),
    ("negation", "A Firm must not accept deposits from retail clients.", "A Firm may accept deposits from retail clients.", BREAKS, BREAKS),
    ("number", "A Firm must hold capital of USD 50,000 in cash.", "A Firm must hold capital of USD 100,000 in cash.", BREAKS, BREAKS),
    ("number", "A Firm must hold 60% of its assets in cash.", "A Firm must hold 30% of its assets in cash.", BREAKS, BREAKS),
    ("deadline", "A Firm must immediately tell the Regulator of a breach.", "A Firm must, within 90 days, tell the Regulator of a breach.", BREAKS, BREAKS),
    ("deadline", "A Firm must pay the fee no later than 31 March.", "A Firm must pay the fee no earlier than 31 March.", BREAKS, BREAKS),
    ("deadline", "A Firm must ask the Regulator before appointing an auditor.", "A Firm must ask the Regulator after appointing an auditor.", BREAKS, BREAKS),
    ("deadline", "A Firm must review the policy at least annually.", "A Firm must review the policy once every five years.", BREAKS, BREAKS),
    ("bound", "A Firm must keep the register for at least six years.", "A Firm must keep the register for no more than six years.", BREAKS, BREAKS),
    ("addressee", "An Authorised Person must keep a register of gifts.", "The auditor, not an Authorised Person, must keep a register of gifts.", BREAKS, BREAKS),
    ("exception", "A Firm must not accept deposits unless the Regulator agrees.", "A Firm must not accept deposits, even if the Regulator agrees.", BREAKS, BREAKS),
    ("exception", "A Firm must list all holdings (other than cash) in its report.", "A Firm must list all holdings (including cash) in its report.", BREAKS, BREAKS),
    ("exception", "A Firm must keep a register of gifts.", "A Firm must keep a register of gifts, but need not do so where its board decides otherwise.", BREAKS, BREAKS),
    ("condition", "Where markets are closed, a Firm must use the last price.", "A Firm must use the last price in every case.", MORE, FOLLOWS),
    ("addition", "A Firm must keep a register of gifts.", "A Firm must keep a register of gifts, and must pay a fee each time.", MORE, FOLLOWS),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "sentence", "expected", "label", "back"), CASES)
def test_each_kind_by_hand(kind, sentence, expected, label, back):
    found = edits(kind, sentence)
    if expected is None:
        assert found == {}
    else:
        assert found.get(expected) == (label, back), found


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("duty", "The Regulator may by Rules modify the provisions of a Part."),  # "permitted to by Rules"
        ("duty", "Business models may benefit from the new regime set out here."),  # possibility, not permission
        ("duty", "A Firm shall mean a person who holds a permission."),
        ("duty", "The Firm and the Fund may agree on a lower fee for it."),  # "is" or "are"
        ("synonym", "A Firm must tell it prior to opening and prior to closing."),  # twice
        ("figures", "A Firm must comply with Rule 10 and Article 12 of the Act."),  # no quantities
        ("figures", "A Firm must hold it for a term of 45 days."),  # no word for it
        ("passive", "A Firm must apply a haircut to the value of the collateral."),
        ("passive", "A Firm must notify the Regulator of the change in control."),
        ("passive", "A Firm must verify the mapping referred to in the first paragraph."),
        ("passive", "A Firm must keep its register in the English language."),  # whose register, afterwards?
        ("passive", "The report must include the names of all the directors."),  # nobody who acts
        (
            "order",
            "A Firm must name its risk managers, auditors and directors by law.",
        ),  # "risk" goes with the first only
        ("order", "A Firm must have the systems, policies and controls manual here."),  # "controls" goes with "manual"
        ("order", "Where a Firm opens a branch, it must tell the Regulator of it."),  # "it" before the firm is named
        ("order", "Where a Firm opens a branch, the Firm must tell the Regulator."),
        ("detail", "A Firm must not trade on its own account immediately."),
        ("detail", "A Firm may only publish the report in writing."),
        ("modality", "A Firm must only accept clients from a list of states."),
        ("modality", "A Firm may or may not be exposed to the risk of loss."),
        ("negation", "A Firm must ensure that its staff do not trade on it."),  # two negations
        ("negation", "A Firm must not accept deposits unless the Regulator agrees."),
        ("negation", "A Firm must immediately tell the Regulator of a breach."),  # "must not immediately tell"
        ("number", "A Firm must comply with Rule 10.2 and Article 12 of the Act."),
        ("number", "A Firm must follow the method of Article 30 days and nights."),
        ("deadline", "A Firm must bring the matter before the Court of Appeal."),
        ("deadline", "A Firm must pay within 30 days and tell it immediately."),  # two deadlines
        ("bound", "Where at least two members object, the Board must meet again."),  # a condition
        ("bound", "A Firm must scale the figure up to ten days by a method."),
        ("bound", "A Firm must hold at least one of the documents on paper."),
        ("addressee", "The report must be submitted to the Regulator each year."),
        ("addressee", "It must keep a register of gifts and of donations."),
        ("exception", "A Firm may invest in Units, except where otherwise provided for."),
        ("exception", "The report must show the total of all the fees paid."),  # nobody who could be exempt
        ("exception", "Subject to Rule 3, a Firm must keep a register of gifts."),
        ("condition", "Where a Firm opens a branch, it must tell the Regulator."),
        ("condition", "Where a Firm opens a branch, the Firm must tell the Regulator."),
        ("addition", "A Firm must keep a record of all the gifts it is given."),  # an addition could say the same
        ("addition", "Where markets are closed, a Firm must use the last price."),
    ],
)
def test_where_a_pattern_is_not_safe_nothing_is_made(kind, sentence):
    assert parse(sentence) is not None
    assert edits(kind, sentence) == {}


@given(st.text(alphabet="abc AFRm().,;0123%must shallnotmay", max_size=80), st.sampled_from(sorted(KINDS)))
def test_any_text_is_survived_and_no_edit_leaves_it_as_it_was(text, kind):
    for sentence in (text, f"A Firm must {text}.", f"Where {text}, a Firm may not keep {text} in 10 days."):
        rule = parse(sentence)
        for edit in KINDS[kind](rule, Random(0)) if rule else ():
            assert edit.text != rule.text
            assert edit.label in (FOLLOWS, BREAKS, MORE)


def test_a_seed_decides_what_is_drawn():
    rule = parse("A Firm must hold capital of USD 50,000 for at least ten days.")
    for kind in KINDS.values():
        assert list(kind(rule, Random(4))) == list(kind(rule, Random(4)))
