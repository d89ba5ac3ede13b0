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
OPENED = "A firm shall check clients when opening an account and when paying out EUR 500 or more."
FELLED = "No person shall cut a tree without consent, save where it is about to fall."
BORROWED = "A fund may borrow up to 50 % of its value where it is sold to anyone and up to 100 % where it is sold only to experts."
SOLVENT = "A licence shall be granted where the applicant is solvent and where its managers have been vetted."
SIZES = "A large firm shall report within ten days. A small firm shall report within 30 days."
CHECKED = "Accounts must be checked by auditors each year. The directors keep them."

OBJECTED = [
    ("cut", FELLED, "No person shall cut a tree without consent."),
    ("cut", BREACH, "A controller shall notify the office of a data breach within 60 hours."),
    ("cut", "From May on, a lamp may burn only if it was tested.", "A lamp may burn."),
    ("figures", "Class\tWeight (%)\nGold\t15\nOther\t40", "Gold has a weight of 20%."),
    ("figures", "A fee is due; a form must be filed.", "There are two fees."),
    ("figures", "A permit needs two conditions: a fee and a form.", "A permit needs three conditions."),
    ("addressee", "The board may ask the firm for its logs.", "The Regulator may ask the firm for its logs."),
    ("limits", "A firm must keep a log where Rule 3.2 applies.", "A firm must keep a log."),
    ("limits", "A loan counts as an asset, but only where it is on the books.", "A loan counts as an asset."),
    (
        "addressee",
        "The pilot, her deputy and any other trained person may open the hatch. A guest may not.",
        "A guest may open the hatch.",
    ),
    (
        "limits",
        "The office may lift the duty if the fee was paid, or where the rider is a minor.",
        "The office may lift the duty.",
    ),
    ("complies", "A firm must report a fault.", "The firm is fully compliant with this rule."),
    ("halved", SOLVENT, "A licence shall be granted where the applicant is solvent."),
    ("addressee", "A firm must inform the auditor and the board must approve it.", "The auditor must approve it."),
    ("modality", "A firm which is listed must publish a report.", "A firm which is listed can publish a report."),
    ("misplaced", SIZES, "A large firm shall report within 30 days."),
    ("figures", "Fees are due once a year. Logs shall be kept for five years.", "Logs shall be kept for one year."),
    ("limits", "If the fee is unpaid, and the debtor is told, the office may act.", "The office may act."),
    ("negation", "Fees above EUR 50 must be approved.", "Fees not above EUR 50 must be approved."),
    ("bounds", "At least one quarter must be paid up.", "At most 25 % must be paid up."),
    ("figures", "Data shall be erased after 18 months.", "Data 18 years old shall be erased."),
    ("addressee", CHECKED, "Accounts must be checked by directors each year."),
    ("addressee", "A minor must wait ten minutes.", "A person must wait ten minutes."),
    ("paired", BORROWED, "Where it is sold to anyone, a fund may borrow up to 100 % of its value."),
    ("figures", "At least one quarter must be paid up.", "At least 20 % must be paid up."),
    ("figures", "A rider who is late for two months may claim.", "A rider who is late for one month may claim."),
    ("negation", "The board must meet members of staff.", "The board must meet in the absence of members of staff."),
    ("limits", PERMIT, "The office may exempt a branch if the law of its home is equivalent."),
    ("modality", "A holder shall not be required to tell more.", "A holder must not tell more."),
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
    ("contrary", "A maker must report a fault in ten days.", "No reporting duty exists."),
    ("contrary", "A maker must report a fault in ten days.", "There is no obligation to report a fault."),
    ("opposite", "Cash flows are discounted.", "Cash flows are undiscounted."),
    ("contrary", "The lender bears the cost. The lender keeps the deed.", "The borrower bears the cost."),
    ("limits", "Fares are free, on condition that the need was notified.", "Fares are free."),
    ("halved", PERMIT, "The office may exempt a branch if its assets are below EUR 3 billion."),
    ("opening", "On steep slopes, dung shall be dug in.", "Dung shall be dug in."),
    ("inverted", "A ship shall not sail unless a tug is there.", "A ship shall not sail if a tug is there."),
    ("other_case", DEATH, "In the event of a fatal crash, the maker shall report within 15 days."),
    ("figures", "Approval is needed above 20, 40 or 60 per cent.", "Approval is needed above 50 per cent."),
]
PASSED = [
    ("cut", FELLED, "No person shall cut a tree without consent, save where it is about to fall."),
    ("cut", "A bill shall state the fees, if any, and where appropriate the tax.", "A bill shall state the fees."),
    ("cut", "A diver is free of the fee, but not of the test.", "A diver is free of the fee."),
    ("cut", "A firm must keep a log where Rule 3.2 applies.", "A firm keeps a log."),
    ("cut", "A ship may sail if it is dry.", "A ship."),
    ("opposite", "Fees and discounts are income.", "A fee counts as income."),
    ("opposite", "Of a debt the covered part weighs 5 %.", "Of a debt the covered part weighs 5 %, the uncovered 9 %."),
    (
        "contrary",
        "Notes are sold first. An agent may: (a) sell a note to open a position; (b) buy a note to close it.",
        "An agent may buy a note to close a position.",
    ),
    ("addressee", "We may ask the firm for its logs.", "The Regulator may ask the firm for its logs."),
    ("figures", "Class\tWeight (%)\nGold\t15\nOther\t40", "Gold has a weight of 15%."),
    ("figures", "A fee is due; a form must be filed.", "There are two conditions: a fee and a form."),
    ("figures", "A plan is due by 30 September of each year.", "A plan is due annually."),
    ("replaced", "The office must not allow a tanker to pass.", "The office must not let a tanker pass."),
    ("replaced", "The mean of the preceding years is the fee.", "The mean of the previous years is the fee."),
    (
        "contrary",
        "A small maker need not report a fault.",
        "There is no obligation for a small maker to report a fault.",
    ),
    (
        "contrary",
        "A maker must report a fault, unless it is mended.",
        "No duty to report exists if the fault is mended.",
    ),
    ("contrary", "A maker must report a fault in ten days.", "There is no fault that a maker may keep to itself."),
    ("contrary", "Paying late breaks the duty.", "There is no breach of the duty in paying on the day."),
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
    ("negation", "A review is due at least every ten years.", "A review is due no less often than every ten years."),
    ("negation", "Time may be cut to not less than 15 days.", "Time may be cut, though not below 15 days."),
    (
        "negation",
        "The board must meet without members of staff.",
        "The board must meet in the absence of members of staff.",
    ),
    ("modality", "A holder shall not require a user to tell more.", "A holder must not require more of a user."),
    ("modality", "It shall be liable, unless it proves a storm.", "It is liable unless it can prove a storm."),
    ("limits", "A permit is valid, provided that the fee is paid.", "Provided the fee is paid, a permit is valid."),
    ("limits", "Damaged cells shall be kept apart from others.", "Damaged cells must be kept separate."),
    ("limits", OPENED, "A firm shall check clients when opening an account."),
    ("halved", OPENED, "A firm shall check clients when opening an account."),
    (
        "limits",
        "It may ask a fee only if the term was short, and any fee shall meet costs.",
        "Any fee shall meet costs.",
    ),
    (
        "limits",
        "An agent must name its firm if it meets a client. It must not act for two.",
        "An agent must not act for two.",
    ),
    ("inverted", FELLED, "A tree shall not be cut by any person without consent, except where it is about to fall."),
    ("addressee", "Employers with 20 or more workers shall set up a desk.", "A desk shall be set up by employers."),
    ("addressee", "The buyer and its agents must abstain.", "The buyer must abstain."),
    (
        "addressee",
        "A firm must pay the sum in by the next day.",
        "The sum must be paid in by the next day at the latest.",
    ),
    (
        "addressee",
        "A ship shall be towed by an approved tug after each repair.",
        "A ship shall be towed by an approved tug.",
    ),
    (
        "addressee",
        "The person placing the toy on a shelf must log it.",
        "A person that places the toy on a shelf must log it.",
    ),
    ("figures", "At least one quarter must be paid up.", "At least 25 % must be paid up."),
    ("figures", "At least 25 % must be paid up.", "At least one quarter must be paid up."),
    ("figures", "A rider who is late twice in a month may claim.", "A rider who is late twice in one month may claim."),
    ("figures", "No one under the age of 18 may drive.", "No one under 18 years of age may drive."),
    ("figures", "It lapses after three consecutive years.", "It lapses after three years in a row."),
    ("paired", BORROWED, "Where it is sold only to experts, a fund may borrow up to 100 % of its value."),
    ("addressee", "A firm must notify the holder by any means.", "The holder must be notified by any means."),
    ("limits", "Damaged cells shall be set apart from others.", "Damaged cells must be set aside."),
    (
        "limits",
        "A firm may pay, provided the board has agreed in writing.",
        "A firm may pay, provided the board has agreed.",
    ),
    ("complies", "A bank that complies with it need not report.", "A bank which is compliant need not report."),
    ("addressee", "A form shall be filed by every heir.", "Every heir must file a form."),
    ("addressee", "The hirer of a car shall log damage.", "A person hiring a car must log damage."),
    ("addressee", "The hirer shall not be charged for dents.", "A person hiring a car may not be charged for dents."),
    ("addressee", "Persons who run a site must log visits.", "Persons running a site must log visits."),
    ("addressee", "A firm may, after a hearing, cut the duty.", "The duty may, after a hearing, be cut by a firm."),
    ("replaced", "A member must be told in advance of a vote.", "A member must be told beforehand of a vote."),
    ("limits", "A loan counts as an asset, even where it is off the books.", "A loan counts as an asset."),
    ("limits", "The plan must name, where applicable, the auditor and the seat.", "The plan must name the seat."),
    (
        "limits",
        "The office may lift the duty if the fee was paid, or where the rider is a minor.",
        "The office may lift the duty where the rider is a minor.",
    ),
    (
        "limits",
        "Tests should be run yearly, and should also be run when the network has grown.",
        "Tests should be run yearly.",
    ),
    (
        "addressee",
        "The pilot, her deputy and any other trained person may open the hatch.",
        "The pilot may open the hatch.",
    ),
    (
        "addressee",
        "It is expected that a carrier should test each lift by an engineer.",
        "A carrier should test each lift by an engineer.",
    ),
    (
        "addressee",
        "A broker that deals in any loans or bonds must log each order.",
        "A broker that deals in bonds must log each order.",
    ),
    ("addressee", "Papers may be released by us; the court may see them.", "We may release papers."),
    (
        "replaced",
        "A fund may be listed only if it fulfils the tests in Annex 2.",
        "A fund may be listed only if it meets the tests in Annex 2.",
    ),
    (
        "replaced",
        "The claim lapses on receipt of the notice by the agent.",
        "The claim lapses when the notice is received by the agent.",
    ),
    (
        "mixed",
        "A fund must keep ten per cent in cash. States may raise the share of cash for small funds.",
        "Unless a State has raised the share, a fund must keep ten per cent in cash.",
    ),
    # Lists of conditions: one that is enough, or one that is needed.
    (
        "limits",
        "The clerk may close the hall if smoke is seen, if a guard is absent, or if the lamps fail.",
        "The clerk may close the hall if the lamps fail.",
    ),
    (
        "limits",
        "A stall may open only if it is insured, has two exits and is clear of rubble.",
        "A stall may open only if it has two exits.",
    ),
    (
        "limits",
        "A stall may open only if all of the following are met: (b) it has two exits.",
        "A stall may open only if it has two exits.",
    ),
    # Two rules in a sentence, each with its own duty or leave.
    (
        "modality",
        "The host must answer each letter within a week. No fee may be charged to lodgers for it.",
        "The host must answer each letter within a week, and no fee may be charged for it.",
    ),
    (
        "modality",
        "The claim is presumed to be true. The presumption may be rebutted. The clerk must note each claim.",
        "The claim is presumed true and a clerk must note it, but the presumption may be rebutted.",
    ),
    ("modality", "Without the warden's consent no tree may be felled.", "No tree may be felled without consent."),
    ("modality", "The hall shall be quiet. Nor may it be heated.", "The hall may not be heated."),
    (
        "modality",
        "Ushers are entitled to a meal but not to a fee.",
        "Ushers are not entitled to a fee.",
    ),
    ("modality", "The owner shall allow each usher a break.", "Each usher is entitled to a break by the owner."),
    (
        "negation",
        "A guide shall not repeat what was said unless the guest consents in writing.",
        "A guide may repeat what was said if the guest consents in writing.",
    ),
    (
        "addressee",
        "A broker shall not offer a loan by telephone.",
        "A loan must not be offered by telephone.",
    ),
    (
        "addressee",
        "An usher that has no key shall enter by the gate.",
        "An usher without a key must enter by the gate.",
    ),
    (
        "addressee",
        "The chair may end the meeting with the consent of the members.",
        "With the consent of the members the chair is permitted to end the meeting.",
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
