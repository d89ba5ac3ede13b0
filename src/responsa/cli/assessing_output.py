"""How assessments are printed."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from responsa.cli.output import add_row, print_table, say, table
from responsa.text import tidy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from responsa.taxonomy.assessment.batch import Row
    from responsa.taxonomy.values import Assessment, CriterionAssessment, KpiLine

_WIDTH = 100
_TEXT, _QUOTE = 300, 240  # characters of a criterion and of a quote that are shown


def print_assessment(value: Assessment) -> None:
    """One assessment, from the verdict down to the evidence."""
    one = value.activity
    say(f"{value.title}: {one.id} {one.name}")
    say(f"Financial year {value.year} ({value.year_from}); criteria of {one.source}")
    _verdict(value)
    for flag in value.flags:
        _lines(f"Look at: {flag}", 0)
    say()
    say("Criteria")
    for each in value.criteria:
        _criterion(each, value)
    _kpi(value)
    if value.missing:
        say()
        say("Missing")
        for missing in value.missing:
            _lines(f"- {missing}", 1)
    say()
    say(f"Evidence, best first ({len(value.evidence)} chunks)")
    for rank, found in enumerate(value.evidence, 1):
        quotes = [each.text for each in value.quotes if each.passage_id == found.passage_id] or [found.text]
        _lines(f"{rank:>2}. page {found.page}, {found.criterion}, {found.score:.2f}: {_short(' ... '.join(quotes))}", 0)
    for said in value.notes:
        _lines(f"Note: {said}", 0)
    if value.trace:
        _trace(value)
    say("A draft for a person to check: nothing here is a legal finding.")


def _verdict(value: Assessment) -> None:
    if value.verdict is None:
        say("Verdict: none (no language model was asked)" if not value.failure else f"Verdict: none: {value.failure}")
        return
    say(f"Verdict: {value.verdict.replace('_', ' ')}")
    if len(value.verdicts) > 1:
        say("  " + "; ".join(f"{name}: {each.replace('_', ' ')}" for name, each in value.verdicts.items()))
    trust = value.trust
    if trust and trust.agreement is not None:
        say(f"  {trust.usable} of {trust.asked} generations, {trust.agreement:.0%} of them conclude alike")
        for each in trust.consistency:
            bleu = "" if each.bleu is None else f", BLEU {each.bleu:.2f}"
            say(f"  step {each.step}: alike {each.similarity or 0:.2f}{bleu}")
        if trust.scc_similarity is not None:
            say(f"  step 1 beside the criteria: {trust.scc_similarity:.2f} ({trust.method})")


def _criterion(each: CriterionAssessment, value: Assessment) -> None:
    one = each.criterion
    words = {"all": "all of", "any": "one of", "at_least": f"at least {one.count} of"}
    join = f" [{words[one.logic]} {len(one.parts)}]" if one.parts else ""
    verdict = f" {each.verdict.replace('_', ' ').upper()}" if each.verdict else ""
    said = f" (said: {each.said.replace('_', ' ')})" if each.said else ""
    _lines(f"{one.id}{join}{verdict}{said}{': ' if one.text else ''}{_cut(one.text, _TEXT)}", each.depth + 1)
    if each.reason:
        _lines(f"why: {each.reason}", each.depth + 2)
    for claim in each.claims[:4]:
        page = f"page {claim.place.page}" if claim.place else "not found"
        _lines(f'"{_short(claim.quote)}" ({page}; {claim.support.replace("_", " ")})', each.depth + 2)
    for at in each.numbers[:4]:
        check = value.checks[at]
        outcome = check.outcome.replace("_", " ")
        figure, limit = check.figure, check.threshold
        reason = f": {check.reason}" if check.reason else ""
        _lines(
            f"{figure.value:.12g} {figure.unit} on page {figure.page} {outcome} {limit.op} {limit.value:.12g}"
            f" {limit.unit} ({limit.metric}){reason}",
            each.depth + 2,
        )
    if not each.claims:
        for quote in each.quotes[:2]:
            _lines(f'page {quote.page}: "{_short(quote.text)}"', each.depth + 2)


def _kpi(value: Assessment) -> None:
    if not value.kpi:
        return
    say()
    say("The company's own KPI lines")
    for line in value.kpi:
        say(f"  {line.kpi}, {line.section}, page {line.page}: {line.name}: {_amount(line)}")
    for each in value.shares:
        say(f"  {each.kpi}: {each.share:.1f} % of what is eligible is reported as aligned")


def _amount(line: KpiLine) -> str:
    amount = "no amount" if line.amount is None else f"{line.amount:,.12g} {line.unit}".strip()
    return amount if line.share is None else f"{amount}, {line.share:.12g} %"


def _trace(value: Assessment) -> None:
    from responsa.models.chat.calls import spent

    say(f"Judged by {value.trace[0].model}: {spent(value.trace)}")


def print_rows(made: Sequence[Row]) -> None:
    """A line for each report and activity."""
    printed = table("Report", "Activity", "Year", "Verdict", "Aligned of eligible", "Flags", whole=("Activity",))
    for row in made:
        one = row.made
        if one is None:
            add_row(printed, Path(row.report).stem, row.activity, "", "failed", "", "")
            continue
        verdict = "failed" if row.failure else (one.verdict or "none").replace("_", " ")
        shares = ", ".join(f"{each.kpi} {each.share:.1f} %" for each in one.shares)
        add_row(printed, one.report, one.activity.id, str(one.year), verdict, shares, str(len(one.flags)))
    print_table(printed)


def _short(text: str) -> str:
    return _cut(text, _QUOTE)


def _cut(text: str, most: int) -> str:
    plain = tidy(text)
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"


def _lines(text: str, depth: int) -> None:
    indent = "  " * depth
    for line in textwrap.wrap(
        tidy(text), max(_WIDTH, len(indent) + 40), initial_indent=indent, subsequent_indent=f"{indent}  ",
        break_long_words=False, break_on_hyphens=False,
    ):  # fmt: skip
        say(line)
