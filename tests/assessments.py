"""An assessment made by hand, with everything that one can hold, and a small report that it is of."""

from __future__ import annotations

import hashlib
from datetime import date

from pdffile import Sheet, pdf
from responsa.taxonomy.values import (
    Activity,
    Asking,
    Assessment,
    Claim,
    Consistency,
    Criterion,
    CriterionAssessment,
    Evidence,
    Figure,
    Generation,
    KpiLine,
    KpiShare,
    NumberCheck,
    Quote,
    Threshold,
    Trust,
)
from responsa.types import Box, Call

GOOD = "Our homes need 38 kWh per square metre of primary energy."
PLAN = "By 2030 all homes shall have class A certificates."
ROW = "Ownership of buildings CCM 7.7 931 15.3"
LOST = "All our buildings are made of gingerbread."

REPORT = pdf(
    Sheet().text(72, 100, "Annual report").text(72, 140, GOOD).lines(72, 200, "By 2030 all homes shall", "have class A certificates."),
    Sheet().text(72, 100, "Nothing of note is said here."),
    Sheet(width=842, height=595).text(60, 300, "Ownership of buildings").text(300, 300, "CCM 7.7").text(400, 300, "931").text(500, 300, "15.3"),
)  # fmt: skip
DIGEST = hashlib.sha256(REPORT).hexdigest()
TEXT = f"Annual report\n{GOOD}\n{PLAN}"

LIMIT = Threshold("primary energy demand", "<=", 40.0, "kWh/m2", None, date(2025, 12, 31), "for homes")
FIRST = Criterion("SC 1", "1", "The demand of the building is at most 40 kWh/m2.", thresholds=(LIMIT,))
SECOND = Criterion("SC 2", "2", "The building has class A.", condition="for buildings before 2021")
ROOT = Criterion("SC", "", "The building complies with one of these:", "any", parts=(FIRST, SECOND))
HARM = Criterion("DNSH CCA", "", "The activity complies with Appendix A.")
ACTIVITY = Activity(
    "CCM 7.7", "CCM", "7.7", "Ownership of buildings", "Construction", "Buying real estate.", ("L68",), ROOT,
    {"CCA": HARM}, "transitional", "32021R2139 as of 2024-01-01",
)  # fmt: skip


def quote(text, page=1, boxes=True):
    start = TEXT.find(text)
    return Quote(
        page, text, "R p. 1 chunk 1", start, start + len(text), (Box(page, 70, 90, 500, 220),) if boxes else ()
    )


def assessment(**changes):
    """The assessment; values of it can be changed."""
    good, plan = quote(GOOD), quote(PLAN)
    figure = Figure(38.0, "kWh/m2", GOOD, 1, "primary energy", 2023, printed=38.0, printed_unit="kWh/m2")
    other = Figure(931.0, "EUR", ROW, 3, role="context")
    chunk = Evidence(1, TEXT, "SC 1", 1.25, "R p. 1 chunk 1", 0, len(TEXT), (), ("printed page 4",))
    claims = (
        Claim("Homes need 38 kWh/m2.", GOOD, 1, "found", good, "supports", (0, 1)),
        Claim("All will have class A.", PLAN, 1, "near", plan, "trap_future", (1,), ("a target",)),
        Claim("They are of gingerbread.", LOST, 2, "not_found", None, "supports", (2,), ("stands nowhere",)),
    )
    criteria = (
        CriterionAssessment(ROOT, "substantial_contribution", "CCM", verdict="met"),
        CriterionAssessment(
            FIRST, "substantial_contribution", "CCM", 1, "SC", "met", None, {"met": 2, "insufficient": 1},
            "The demand is below the limit.", "", claims, (chunk,), (good,), (0,), "a figure speaks against it",
        ),
        CriterionAssessment(
            SECOND, "substantial_contribution", "CCM", 1, "SC", "insufficient", "met", {"met": 2}, "Class A is planned.",
            "Certificates by building.", (), (chunk,), (plan,), (), "", ("no quote holds it",),
        ),
        CriterionAssessment(HARM, "dnsh", "CCA", verdict="not_met", reason="No climate risks are named."),
    )  # fmt: skip
    values = {
        "report": "report", "title": "Annual Report", "digest": DIGEST, "pages": 3, "activity": ACTIVITY, "year": 2023,
        "year_from": "as asked", "asking": Asking(model="scripted", dnsh=True, generations=3, company="Homes plc"),
        "criteria": criteria, "evidence": (chunk,), "quotes": (good,), "figures": (figure,),
        "checks": (NumberCheck("SC 1", LIMIT, figure, "meets"), NumberCheck("SC 1", LIMIT, other, "not_comparable", "not of energy")),
        "kpi": (KpiLine("turnover", "A.1", "Ownership of buildings", 931.0, 15.3, "EUR million", 3, ROW, 2023),),
        "shares": (KpiShare("turnover", 16.6816, 931.0, 5581.0, "EUR million", (3,)),),
        "verdict": "not_aligned", "verdicts": {"SC": "aligned", "DNSH CCA": "not_aligned"}, "concluded": "aligned",
        "generations": tuple(Generation(n, "b", "f", f"because {n}", {"SC 1": "met"}, "aligned", "not_aligned") for n in range(3)),
        "trust": Trust(5, 3, True, 2 / 3, 0.58, (Consistency(1, 0.5, 0.9),), 0.2, 0.7, "cosine", ("not all alike",)),
        "flags": ("one quote stands nowhere",), "missing": ("SC 2: Certificates by building.",), "notes": ("page 2 is short",),
        "trace": (Call("assess", "scripted", "ab", tokens_in=1200, tokens_out=300, cost=0.02), Call("assess", "scripted", "cd", cached=True)),
    }  # fmt: skip
    return Assessment(**(values | changes))


def without_model(**changes):
    """The same as it is made without a language model."""
    full = assessment()
    bare = tuple(
        CriterionAssessment(each.criterion, each.part, each.objective, each.depth, each.parent, evidence=each.evidence, quotes=each.quotes, numbers=each.numbers)
        for each in full.criteria
    )  # fmt: skip
    none = {
        "criteria": bare,
        "verdict": None,
        "verdicts": {},
        "concluded": None,
        "generations": (),
        "trust": None,
        "trace": (),
        "flags": (),
        "missing": (),
        "asking": Asking(),
    }
    return assessment(**(none | changes))
