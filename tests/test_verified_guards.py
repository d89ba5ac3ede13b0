"""The rules that compare a sentence with what it cites: what they object to, and what they let pass."""

from __future__ import annotations

import pytest

from responsa.answer.verified.guards import GUARDS, against
from responsa.answer.verified.units import Cited, Unit
from responsa.text import sentences


def cited(text: str) -> Cited:
    return Cited(tuple(Unit("P", start, end, text[start:end]) for start, end in sentences(text)))


LOGS = "The operator shall keep the logs for at least 18 months. It shall hand them over within 48 hours of a request."
BREACH = (
    "A controller shall notify the office of a data breach within 60 hours, unless nobody is at risk. "
    "A processor shall notify the controller without delay."
)
WALLET = (
    "A provider of a coin wallet shall part the coins of its clients from its own coins. "
    "It shall not lend coins unless the client has agreed."
)
STANDBY = "An appliance shall draw no more than 5 W in standby. Its supplier may require a deposit."
SHORT = "A seller that cannot deliver in time must tell the buyer, and a courier may be used for letters only."
PROFITS = "Own funds shall include profits only with the permission of the office."
DUTY = "An undertaking may hand over a task. It shall stay fully liable for the task."
PERMIT = "The office may exempt a branch if its assets are below EUR 3 billion and the law of its home is equivalent."
DEATH = "The maker shall report a fault within 15 days. In the event of a fatal crash, it shall report within ten days."

OBJECTED = [
    ("figures", LOGS, "The operator shall keep the logs for at least 24 months."),
    ("misplaced", LOGS, "The operator shall keep the logs for at least 48 hours."),
    ("limits", WALLET, "A provider of a coin wallet shall not lend coins."),
    ("limits", BREACH, "A controller shall notify the office of a data breach within 60 hours."),
    ("modality", STANDBY, "Its supplier must require a deposit."),
    ("modality", PROFITS, "Own funds may include profits."),
    ("negation", "A firm that fails to report must pay.", "A firm that reports must pay."),
    ("modality", "A firm shall not pay out more than its profit.", "A firm may pay out more than its profit."),
    ("modality", "The data shall no longer be used.", "The data may be used."),
    ("modality", "No person may dig without a permit.", "Any person may dig without a permit."),
    ("negation", DUTY, "The undertaking shall not stay liable for the task."),
    ("contrary", "An appeal lapses if the fee is unpaid.", "An appeal remains in force if the fee is unpaid."),
    ("limits", "Fares are free, on condition that the need was notified.", "Fares are free."),
    ("halved", PERMIT, "The office may exempt a branch if its assets are below EUR 3 billion."),
    ("opening", "On steep slopes, dung shall be dug in.", "Dung shall be dug in."),
    ("inverted", "A ship shall not sail unless a tug is there.", "A ship shall not sail if a tug is there."),
    ("other_case", DEATH, "In the event of a fatal crash, the maker shall report within 15 days."),
    ("figures", "Approval is needed above 20, 40 or 60 per cent.", "Approval is needed above 50 per cent."),
]
PASSED = [
    (
        "halved",
        PERMIT,
        "If its assets are below EUR 3 billion and the law of its home is equivalent, the office may exempt a branch.",
    ),
    ("opening", "On steep slopes, dung shall be dug in.", "Dung on steep slopes shall be dug in."),
    ("opening", "In addition, dung shall be dug in.", "Dung shall be dug in."),
    ("inverted", "A ship shall not sail unless a tug is there.", "A ship may sail if a tug is there."),
    ("other_case", DEATH, "The maker shall report within 15 days, or in the event of a fatal crash within ten days."),
    ("misplaced", LOGS, "The operator shall keep the logs for at least 18 months and hand them over within 48 hours."),
    ("limits", BREACH, "A processor shall notify the controller of a data breach without delay."),
    ("limits", "Deposits shall be subject to a factor of 90 %.", "A factor of 90 % applies to deposits."),
    ("modality", STANDBY, "In standby an appliance must not draw more than 5 W."),
    ("modality", STANDBY, "A deposit may be required by its supplier."),
    ("modality", PROFITS, "Profits may be included in own funds only with the permission of the office."),
    ("modality", SHORT, "The buyer must be told by a seller that cannot deliver in time."),
    ("negation", STANDBY, "In standby an appliance must not draw more than 5 W."),
    ("negation", "A firm must refund the fee free of charge.", "A firm must refund the fee without charge."),
    ("negation", "A firm that fails to report must pay.", "A firm that does not report must pay."),
    ("figures", "Approval is needed above 20, 40 or 60 per cent.", "Approval is needed above 40 per cent."),
    ("addressee", "Persons who run a site must log visits.", "Persons running a site must log visits."),
    ("addressee", "A firm may, after a hearing, cut the duty.", "The duty may, after a hearing, be cut by a firm."),
    ("replaced", "A member must be told in advance of a vote.", "A member must be told beforehand of a vote."),
    (
        "mixed",
        "A fund must keep ten per cent in cash. States may raise the share of cash for small funds.",
        "Unless a State has raised the share, a fund must keep ten per cent in cash.",
    ),
]


@pytest.mark.parametrize(("guard", "rule", "said"), OBJECTED)
def test_a_guard_objects(guard, rule, said):
    assert guard in against(said, cited(rule))


@pytest.mark.parametrize(("guard", "rule", "said"), PASSED)
def test_a_guard_lets_pass(guard, rule, said):
    assert guard in {each.__name__ for each in GUARDS}
    assert guard not in against(said, cited(rule))


@pytest.mark.parametrize("rule", [LOGS, BREACH, WALLET, STANDBY, SHORT, PROFITS])
def test_a_rule_s_own_sentences_pass(rule):
    for start, end in sentences(rule):
        assert against(rule[start:end], cited(rule)) == {}


def test_nothing_cited_and_nothing_said():
    assert against("", cited(LOGS)) == {}
