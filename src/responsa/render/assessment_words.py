"""What an assessment says, in words and rows: the same for its page, its document and its spreadsheet."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from responsa.taxonomy.activities.acts import OBJECTIVES
from responsa.taxonomy.values import (
    Assessment,
    Claim,
    Comparison,
    Criterion,
    CriterionAssessment,
    Evidence,
    Figure,
    KpiLine,
    NumberCheck,
    Part,
    Quote,
    Role,
    Standing,
    Support,
    Threshold,
    Verdict,
)
from responsa.text import tidy
from responsa.types import Call

VERDICTS: Mapping[Verdict | None, str] = {
    "aligned": "Aligned", "not_aligned": "Not aligned", "insufficient": "Insufficient evidence", None: "No verdict",
}  # fmt: skip
STANDINGS: Mapping[Standing | None, str] = {
    "met": "Met", "not_met": "Not met", "insufficient": "Not shown", "not_applicable": "Does not apply", None: "",
}  # fmt: skip
SUPPORTS: Mapping[Support, str] = {
    "found": "quote found", "near": "quote found, not word for word or elsewhere", "not_found": "quote not found",
}  # fmt: skip
ROLES: Mapping[Role, str] = {
    "supports": "fact of the year", "contradicts": "speaks against", "context": "context",
    "trap_future": "target or plan", "trap_other_year": "another year",
}  # fmt: skip
OUTCOMES: Mapping[Comparison, str] = {"meets": "meets", "misses": "misses", "not_comparable": "not comparable"}
KPIS: Mapping[str, str] = {"turnover": "Turnover", "capex": "CapEx", "opex": "OpEx"}
DRAFT = (
    "A draft for a person to check against the report and the act. It is no audit, no legal advice and no statement of"
    " the company."
)
_PARTS: Mapping[Part, str] = {
    "substantial_contribution": "Substantial contribution to {}", "dnsh": "No significant harm to {}",
    "safeguards": "Minimum safeguards",
}  # fmt: skip
_OBJECTIVES = {code: name for code, _, name in OBJECTIVES}
_SIGNS = {"<": "below", "<=": "at most", "=": "exactly", ">=": "at least", ">": "above"}
_BLANK_LINES = re.compile(r"\n\s*\n+")
MOST_FRONT = 5
"""Things missing, and flags, that are listed on the front."""
_FRONT, _LONG = 160, 2000  # characters there, and of a text of the model
_EXCERPT, _CONDITION = 620, 90  # characters of a chunk, and of a threshold's condition


class Failed(NamedTuple):
    """A report and activity that could not be assessed, and why."""

    report: str
    activity: str
    reason: str


def company(assessment: Assessment) -> str:
    """Who is assessed: as the user named it, else the report's title."""
    return assessment.asking.company or assessment.title or assessment.report


def statement(assessment: Assessment) -> str:
    """The verdict in a sentence: how it came about and how far to trust it."""
    if assessment.failure:
        return f"The model gave no usable verdict: {assessment.failure}"
    if assessment.verdict is None:
        return (
            "Made without a language model: the evidence, the figures beside thresholds and the KPI lines below are"
            " for a person to judge."
        )
    trust = assessment.trust
    if trust is None or not trust.usable:
        return "One reply of the model; nothing says how sure it is."
    of = f"{trust.usable} usable repl{'y' if trust.usable == 1 else 'ies'} of the model"
    if trust.usable < trust.asked:
        of += f" ({trust.asked} were asked for)"
    if trust.usable == 1 or trust.agreement is None:
        return f"Rests on {of}; with one reply nothing can be said about its consistency."
    agreeing = round(trust.agreement * trust.usable)
    return f"{agreeing} of {of} conclude alike." + ("" if agreeing == trust.usable else " They do not all agree.")


def flags(assessment: Assessment) -> list[str]:
    """All that speaks against trusting it, each once."""
    own = [*assessment.flags, *(assessment.trust.flags if assessment.trust else ())]
    return list(dict.fromkeys(each for each in (*own, assessment.failure) if each))


def facts(assessment: Assessment) -> list[tuple[str, str]]:
    """What was assessed and how, as names and values."""
    asking, activity = assessment.asking, assessment.activity
    made = asking.model or "none: evidence, figures and KPI lines only"
    found = [
        ("Report", f"{assessment.title or assessment.report} ({count(assessment.pages, 'page')})"),
        ("Activity", f"{activity.id} {activity.name}{f' ({activity.kind})' if activity.kind else ''}"),
        ("NACE", ", ".join(activity.nace)),
        ("Financial year", f"{assessment.year}{f' ({assessment.year_from})' if assessment.year_from else ''}"),
        ("Criteria of", activity.source),
        ("Language model", made),
        ("Asked", f"{asking.method}, {count(asking.generations, 'generation')}, seed {asking.seed}"
                  f"{', one criterion at a time' if asking.per_criterion else ''}" if asking.model else ""),
        ("Evidence", f"recipe {asking.recipe}, {count(asking.chunks, 'chunk')}"),
        ("File", f"sha256 {assessment.digest}"),
    ]  # fmt: skip
    return [(name, value) for name, value in found if value]


def part_name(each: CriterionAssessment, assessment: Assessment) -> str:
    """The heading of the part that a criterion is the root of."""
    objective = each.objective or assessment.activity.objective
    return _PARTS[each.part].format(_OBJECTIVES.get(objective, objective))


def joined(criterion: Criterion) -> str:
    """How the parts of a criterion are joined; "" for one without parts."""
    many = len(criterion.parts)
    if many < 2:
        return ""
    return {"all": f"all {many} of the following", "any": f"one of the following {many}"}.get(
        criterion.logic, f"at least {criterion.count} of the following {many}"
    )


def dates(each: Criterion | Threshold) -> str:
    """When it applies, in words; "" where it always does."""
    parts = [f"{word} {day}" for word, day in (("from", each.valid_from), ("to", each.valid_to)) if day]
    return " ".join(parts)


def when(each: Criterion) -> str:
    """When and on which condition it applies, but for a condition that its text begins with."""
    said = each.condition if not tidy(each.text).startswith(tidy(each.condition)) else ""
    return "; ".join(part for part in (f"applies {dates(each)}" if dates(each) else "", said) if part)


def threshold(each: Threshold) -> str:
    """``specific emissions of CO2: below 50 gCO2/km (to 2025-12-31)``."""
    amount = f"{_SIGNS[each.op]} {each.value:.12g} {each.unit}".rstrip()
    if each.unit == "class" and each.value >= 1:
        amount = f"{chr(ord('A') - 1 + int(each.value))} or better"
    parts = (dates(each), short(each.condition, _CONDITION), "says to what it applies" * each.scope)
    extra = "; ".join(part for part in parts if part)
    return f"{each.metric}: {amount}{f' ({extra})' if extra else ''}"


def votes(each: CriterionAssessment) -> str:
    """``Met 3, Not shown 2``."""
    ranked = sorted(each.votes.items(), key=lambda vote: -vote[1])
    return ", ".join(f"{STANDINGS[standing]} {number}" for standing, number in ranked if number)


def figure(each: Figure) -> str:
    """The number as the report has it: bound, value and unit."""
    value, unit = (each.value, each.unit) if each.printed is None else (each.printed, each.printed_unit)
    return f"{each.bound} {amount(value)} {unit}".strip()


def figure_of(check: NumberCheck) -> str:
    """Whose year and what kind a figure is, in words."""
    year = str(check.figure.year or "")
    return "; ".join(part for part in (year, ROLES[check.figure.role]) if part)


def grouped(checks: Sequence[NumberCheck]) -> list[tuple[str, list[NumberCheck]]]:
    """The checks by criterion and threshold, in the order of the first of each."""
    groups: dict[str, list[NumberCheck]] = {}
    for check in checks:
        groups.setdefault(f"{check.criterion}: {threshold(check.threshold)}", []).append(check)
    return list(groups.items())


def amount(value: float | None) -> str:
    """A number with its thousands marked: at most three decimals, none needless."""
    return "" if value is None else f"{value:,.3f}".rstrip("0").rstrip(".")


def percent(value: float | None) -> str:
    """One decimal and the sign; "" for none."""
    return "" if value is None else f"{value:.1f} %"


def section(line: KpiLine) -> str:
    """What a line's section of the template means."""
    return {"A.1": "A.1 aligned", "A.2": "A.2 eligible, not aligned", "B": "B not eligible"}.get(
        line.section, line.section
    )


def excerpt(each: Evidence, quoted: Sequence[Quote | Claim]) -> list[tuple[str, bool]]:
    """A stretch of a chunk, as pieces with whether each is quoted: from before its first quote, else its beginning."""
    spans = sorted(
        (place.start, place.end)
        for place in (one.place if isinstance(one, Claim) else one for one in quoted)
        if place and place.passage_id == each.passage_id and each.start <= place.start < place.end <= each.end
    )
    text = each.text
    start = max(spans[0][0] - each.start - _EXCERPT // 4, 0) if spans else 0
    start = start and text.rfind(" ", 0, start) + 1
    end = min(len(text), start + _EXCERPT)
    if end < len(text):
        end = max(text.rfind(" ", start, end), start + _EXCERPT // 2)
    pieces, at = [("… ", False)] if start else [], start
    for one, other in ((a - each.start, b - each.start) for a, b in spans):
        one, other = max(one, at), min(other, end)
        if one < other:
            pieces += [(text[at:one], False), (text[one:other], True)]
            at = other
    pieces.append((text[at:end], False))
    if end < len(text):
        pieces.append((" …", False))
    return [(cells(piece), marked) for piece, marked in pieces if piece]


def short(text: str, most: int = 150) -> str:
    """The beginning of a text in a line, cut at a word."""
    plain = " ".join(text.split())
    if len(plain) <= most:
        return plain
    end = plain.rfind(" ", most // 2, most)
    return f"{plain[: end if end > 0 else most]} …"


def first(items: Sequence[str]) -> list[str]:
    """What fits on the front: the beginnings of the first few, and how many more there are."""
    more = len(items) - MOST_FRONT
    found = [short(each, _FRONT) for each in items[:MOST_FRONT]]
    return [*found, f"and {more} more, listed below"] if more > 0 else found


def long(text: str) -> str:
    """A text of the model with its lines; of a very long one the beginning."""
    return text if len(text) <= _LONG else f"{text[:_LONG].rstrip()} … (the JSON form has all)"


def claimed(claim: Claim) -> str:
    """What a claim says beyond its quote; "" where it only repeats it."""
    quoted = {" ".join(text.split()).casefold() for text in (claim.quote, claim.place.text if claim.place else "")}
    return "" if " ".join(claim.text.split()).casefold() in quoted else long(claim.text)


def cells(text: str) -> str:
    """Tabs between the cells of tables as bars, and no empty lines."""
    return _BLANK_LINES.sub("\n", text.replace("\t", " | "))


class Spent(NamedTuple):
    """The requests made for one purpose with one model. ``cost`` is None where a price is not known."""

    purpose: str
    model: str
    calls: int
    cached: int
    failed: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    seconds: float


def spent(trace: Sequence[Call]) -> list[Spent]:
    """The trace summed by purpose and model, in the order of first requests, and over all where there are several."""
    groups: dict[tuple[str, str], list[Call]] = {}
    for call in trace:
        groups.setdefault((call.purpose, call.model), []).append(call)
    found = [_sum(purpose, model, calls) for (purpose, model), calls in groups.items()]
    return [*found, _sum("all", "", list(trace))] if len(found) > 1 else found


def _sum(purpose: str, model: str, calls: Sequence[Call]) -> Spent:
    paid = [call for call in calls if not call.cached]
    costs = [call.cost for call in paid]
    known = [cost for cost in costs if cost is not None]
    return Spent(
        purpose, model, len(calls), sum(call.cached for call in calls), sum(bool(call.error) for call in calls),
        sum(call.tokens_in for call in paid), sum(call.tokens_out for call in paid),
        sum(known) if len(known) == len(costs) else None, sum(call.seconds for call in calls),
    )  # fmt: skip


def count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def trust_rows(assessment: Assessment) -> list[tuple[str, str, str]]:
    """The trust signals: name, value, what it means. None without a model."""
    trust = assessment.trust
    if trust is None:
        return []
    rows = [
        ("Generations", f"{trust.usable} usable of {trust.asked}", "replies of the model that could be read"),
        ("Agreement", _share(trust.agreement), "share of them that conclude as most do"),
        ("Disagreement", "yes" if trust.disagreement else "no", "whether they do not all conclude alike"),
        ("Entropy", _share(trust.entropy), "0 all conclude alike, 1 spread over all verdicts"),
    ]
    steps = {1: "breakdown of the criteria", 2: "findings", 3: "reasoning"}
    for each in trust.consistency:
        name = f"Step {each.step}, {steps.get(each.step, 'text')}"
        rows.append((f"{name}: BLEU", _share(each.bleu), "likeness of the words, 0 to 1"))
        rows.append((f"{name}: similarity", _share(each.similarity), f"likeness of the meaning ({trust.method})"))
    rows.append(("Criteria restated: BLEU", _share(trust.scc_bleu), "first step beside the criteria, words"))
    rows.append(("Criteria restated: similarity", _share(trust.scc_similarity), "first step beside the criteria"))
    return [row for row in rows if row[1]]


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def disagreeing(assessment: Assessment) -> bool:
    """Whether the model's own conclusion is another than the verdict that its findings lead to."""
    return assessment.concluded is not None and assessment.concluded != assessment.verdict
