"""The assessment of an activity in a report: criteria, evidence, figures, and with a language model a verdict.

The EU Taxonomy thesis (2024), chapter 5, made safer: the verdict follows from verdicts on the single criteria by their
logic; what a model says that the report states is looked for in the report; figures are compared without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from responsa.answer.verified.injected import addressed
from responsa.models.chat import ChatModel
from responsa.taxonomy.activities.catalogue import Catalogue, Found
from responsa.taxonomy.activities.criteria import appendices, applies, leaves, on, sections, walk
from responsa.taxonomy.activities.criteria import words as words_of
from responsa.taxonomy.assessment import logic, prepared, prompts
from responsa.taxonomy.assessment.generations import Combined, Progress, Replies, Shown, asked_of, combined
from responsa.taxonomy.assessment.highlights import highlights, of_all
from responsa.taxonomy.assessment.trust import Likeness, against_kpi, against_numbers, likeness, nearness, trust
from responsa.taxonomy.evidence.report import Report
from responsa.taxonomy.evidence.retrieve import find
from responsa.taxonomy.numbers.check import check, relevant
from responsa.taxonomy.values import (
    Activity,
    Asking,
    Assessment,
    Criterion,
    CriterionAssessment,
    Evidence,
    KpiLine,
    KpiShare,
    NumberCheck,
    Objective,
    Part,
    Standing,
)
from responsa.types import Call

SAFEGUARDS = Criterion(
    "Safeguards",
    "",
    "The company has procedures, among them due diligence, so that it acts in line with the OECD Guidelines for"
    " Multinational Enterprises and the UN Guiding Principles on Business and Human Rights, with the fundamental"
    " conventions of the International Labour Organisation and the International Bill of Human Rights: human and labour"
    " rights, bribery and corruption, taxation, fair competition (minimum safeguards).",
)
"""Article 18 of Regulation (EU) 2020/852 as a question, in our own words."""

MAIN: Part = "substantial_contribution"
_PAGES = 12  # listed


@dataclass(frozen=True)
class Root:
    """A tree of criteria that apply, and what it belongs to."""

    criterion: Criterion
    part: Part
    objective: Objective | None
    what: str


@dataclass
class _Held:
    """What is known before a model is asked."""

    roots: list[Root]
    evidence: tuple[Evidence, ...] = ()
    by_criterion: dict[str, tuple[Evidence, ...]] = field(default_factory=dict)
    by_part: dict[str, tuple[Evidence, ...]] = field(default_factory=dict)
    checks: list[NumberCheck] = field(default_factory=list)
    kpi: tuple[KpiLine, ...] = ()
    calls: list[Call] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def assess(
    report: Report,
    found: Found,
    year: int,
    asking: Asking,
    catalogue: Catalogue,
    *,
    chat: ChatModel | None = None,
    year_from: str = "as asked",
    like: Likeness | None = None,
    progress: Progress | None = None,
) -> Assessment:
    """``found`` is the activity with its criteria for the ``year``. Without ``chat`` there are no verdicts.

    InputError where a recipe needs a language model and there is none. Where the model gives no usable reply, the
    assessment says so under ``failure`` and has no verdict.
    """
    activity = found.activity
    held = _held(report, activity, year, asking, catalogue, chat, progress)
    numbers = prepared.numbers(report, year, catalogue)
    shares = prepared.kpi_shares(numbers.templates, activity.id, year)
    pages = {each.page for each in held.evidence}
    blank = {each.criterion.id: each for each in _blank(report, activity, held)}
    made = Assessment(
        report.name, report.title, report.digest, report.pages, activity, year, year_from, asking,
        tuple(blank.values()), held.evidence,
        of_all(report, held.evidence, {name: each.criterion for name, each in blank.items()}, activity.name),
        tuple(relevant(numbers.figures, activity, pages)),
        tuple(held.checks), held.kpi, shares,
        flags=tuple(_evidence_flags(report, held, activity, year, catalogue)),
        missing=tuple(_not_shown(report, held, year, shares)),
        notes=tuple(_notes(report, found, held, numbers, year)),
        trace=tuple(held.calls),
    )  # fmt: skip
    if chat is None:
        return made
    return _judged(made, report, held, blank, catalogue, chat, like or likeness(asking.bertscore), progress)


def _notes(report: Report, found: Found, held: _Held, numbers: prepared.Numbers, year: int) -> Iterator[str]:
    yield from found.notes
    other = prepared.other_year(report, year)
    if other:
        yield other
    yield from report.notices
    yield from held.notes
    for template in numbers.templates:
        pages = ", ".join(map(str, template.pages))
        yield from (f"the KPI table on page {pages} {said}" for said in template.flags)
    yield from prepared.portions(numbers, found.activity, {each.page for each in held.evidence})


# --- without a model ------------------------------------------------------------------------------------


def roots_of(activity: Activity, year: int, asking: Asking) -> list[Root]:
    """The criteria that apply at the end of the year: of substantial contribution, and what else is asked for."""
    day = date(year, 12, 31)
    main = on(activity.substantial_contribution, day)
    found = [Root(main, MAIN, activity.objective, "substantial contribution")]
    if asking.dnsh:
        found += [
            Root(on(root, day), "dnsh", objective, f"no significant harm to {objective}")
            for objective, root in activity.dnsh.items()
            if applies(root)
        ]
    if asking.safeguards:
        found.append(Root(SAFEGUARDS, "safeguards", None, "the minimum safeguards"))
    return found


def _held(
    report: Report, activity: Activity, year: int, asking: Asking, catalogue: Catalogue, chat: ChatModel | None,
    progress: Progress | None,
) -> _Held:  # fmt: skip
    held = _Held(roots_of(activity, year, asking))
    for part in dict.fromkeys(root.part for root in held.roots):
        own = [root.criterion for root in held.roots if root.part == part]
        got = find(
            report, activity, asking.recipe, asking.chunks, chat, year, roots=own,
            company=asking.company or report.name, progress=progress,
        )  # fmt: skip
        held.evidence = held.evidence or got.evidence
        held.by_part[part] = got.evidence
        held.by_criterion |= dict(got.by_criterion)
        held.calls += got.calls
        held.notes += got.notices
    numbers = prepared.numbers(report, year, catalogue)
    for root in held.roots:
        if any(each.thresholds for each in walk(root.criterion)):
            held.checks += check(root.criterion, numbers.figures, year, activity.name)
    held.kpi = prepared.kpi_lines(numbers.templates, activity.id, year)
    return held


def _blank(report: Report, activity: Activity, held: _Held) -> Iterator[CriterionAssessment]:
    """All criteria with evidence and numbers, and no verdict."""
    for root in held.roots:
        for each, depth, parent in _walked(root.criterion):
            evidence = held.by_criterion.get(each.id, ()) if not each.parts else ()
            yield CriterionAssessment(
                each, root.part, root.objective, depth, parent,
                evidence=evidence,
                quotes=tuple(q for chunk in evidence for q in highlights(report, chunk, each, activity.name)),
                numbers=tuple(at for at, one in enumerate(held.checks) if one.criterion == each.id),
            )  # fmt: skip


def _walked(root: Criterion, depth: int = 0, parent: str = "") -> Iterator[tuple[Criterion, int, str]]:
    yield root, depth, parent
    for part in root.parts:
        yield from _walked(part, depth + 1, root.id)


def _no_figures(held: _Held, year: int) -> Iterator[str]:
    """Thresholds beside which the report has no figure of the year."""
    compared = {(each.criterion, each.threshold) for each in held.checks if each.outcome != "not_comparable"}
    for root in held.roots:
        for each in walk(root.criterion):
            for threshold in each.thresholds:
                if not threshold.scope and (each.id, threshold) not in compared:
                    limit = f"{threshold.metric} {threshold.op} {threshold.value:.12g} {threshold.unit}"
                    yield f"{each.id}: no figure of {year} was found to set beside {limit}"


def _evidence_flags(report: Report, held: _Held, activity: Activity, year: int, catalogue: Catalogue) -> Iterator[str]:
    if not held.evidence:
        yield "no evidence was found"
    if activity.id not in prepared.spoken_of(report, year, catalogue):
        yield "nothing in the report's text names this activity: neither its code nor its name nor a phrase of it"
    told = sorted({each.page for each in held.evidence if addressed(each.text)})
    if told:
        yield f"text on page {', '.join(map(str, told))} gives orders to a language model; they were not followed"


def _not_shown(report: Report, held: _Held, year: int, shares: Sequence[KpiShare]) -> Iterator[str]:
    yield from _no_figures(held, year)
    known = {each.kpi for each in shares}
    for line in held.kpi:
        if line.year == year and line.amount is None and line.share is None and line.kpi not in known:
            yield f"page {line.page}: {line.kpi}, {line.section}: neither amount nor share is stated: {line.name}"
    pages = prepared.unread(report)
    if pages:
        listed = ", ".join(map(str, pages[:_PAGES])) + (" ..." if len(pages) > _PAGES else "")
        named = f"page{'s' * (len(pages) > 1)} {listed}"
        yield f"{named}: no text was read; evidence shown there only, in a picture, is not found"


# --- with a model ---------------------------------------------------------------------------------------


def _judged(
    made: Assessment, report: Report, held: _Held, blank: Mapping[str, CriterionAssessment], catalogue: Catalogue,
    chat: ChatModel, like: Likeness, progress: Progress | None,
) -> Assessment:  # fmt: skip
    asking, activity, year = made.asking, made.activity, made.year
    groups = list(_groups(held, asking, _kpi_evidence(report, held.kpi)))
    referred = _referred(held.roots, activity, catalogue, year)
    replies = asked_of(groups, activity, asking, year, chat, referred, progress)
    roots = [root.criterion for root in held.roots]
    settled = combined(replies, groups, roots, blank, report, year, asking, lambda texts: nearness(texts, like))
    trace = (*made.trace, *replies.calls)
    unsettled = [
        group.asked.what for group in groups if any(each.id not in settled.criteria for each in group.asked.criteria)
    ]
    if unsettled:
        reason = replies.failures[0] if replies.failures else "no reply"
        told = f"the model gave no usable reply on {', '.join(dict.fromkeys(unsettled))}: {reason}"
        made = replace(made, failure=told)
    if not settled.criteria:
        return replace(made, trace=trace, notes=(*made.notes, *replies.notes))
    return _concluded(made, held, blank, replies, settled, like, trace, _scope(activity, roots, year))


def _concluded(
    made: Assessment, held: _Held, blank: Mapping[str, CriterionAssessment], replies: Replies, settled: Combined,
    like: Likeness, trace: Sequence[Call], scope: str,
) -> Assessment:  # fmt: skip
    """The criteria with their verdicts, the whole by their logic, and what speaks against it."""
    standings: dict[str, Standing] = {
        name: each.verdict for name, each in settled.criteria.items() if each.verdict is not None
    }
    criteria = []
    for each in blank.values():
        now = settled.criteria.get(each.criterion.id, each)
        known = any(leaf.id in standings for leaf in leaves(each.criterion))
        if each.criterion.parts and known:
            now = replace(now, verdict=logic.standing(each.criterion, standings))
        if now.verdict is not None:
            said = against_numbers(each.criterion, made.checks, logic.verdict(now.verdict))
            now = replace(now, disagreement=said if now.numbers else "")
        criteria.append(now)
    roots = [root.criterion for root in held.roots]
    verdicts = logic.verdicts({root.id: logic.standing(root, standings) for root in roots})
    whole = None if made.failure else logic.together(verdicts.values())
    main = verdicts[roots[0].id]
    found = trust(settled.generations, made.asking.generations, scope, like)
    flags = [*made.flags, *found.flags, against_kpi(main, made.shares)]
    flags += [f"{each.criterion.id}: {each.disagreement}" for each in criteria if each.disagreement]
    flags += [f"{each.criterion.id}: {flag}" for each in criteria for flag in each.flags]
    if whole and settled.concluded and settled.concluded != whole:
        flags.append(
            f"most generations conclude {settled.concluded}; the verdicts per criterion, checked, give {whole}"
        )
    if main == "aligned":
        flags += _set_aside(criteria)
    failed = len(replies.failures)
    notes = [*made.notes, *replies.notes]
    if failed:
        notes.append(f"{failed} requests gave no usable reply: {replies.failures[0]}")
    told = [
        f"{each.criterion.id}: {each.missing}"
        for each in criteria
        if each.missing.strip() and each.verdict in ("insufficient", "not_met")
    ]
    return replace(
        made, criteria=tuple(criteria), verdict=whole, verdicts=verdicts, concluded=settled.concluded,
        generations=settled.generations, trust=found, flags=tuple(dict.fromkeys(filter(None, flags))),
        missing=(*told, *made.missing), notes=tuple(notes), trace=tuple(trace),
    )  # fmt: skip


def _set_aside(criteria: Sequence[CriterionAssessment]) -> Iterator[str]:
    """Criteria that had to be met beside others and were taken as being for other cases."""
    by_id = {each.criterion.id: each.criterion for each in criteria}
    for each in criteria:
        above = by_id.get(each.parent)
        beside_others = above.logic == "all" and len(above.parts) > 1 if above else each.part == "dnsh"
        if each.verdict == "not_applicable" and beside_others:
            yield f"{each.criterion.id} was taken as not applicable, and the verdict rests on that"


def _groups(held: _Held, asking: Asking, kpi: Sequence[Evidence]) -> Iterator[Shown]:
    """What is asked together: the criteria of a root, or each by itself; with the company's own lines."""
    for root in held.roots:
        single = list(leaves(root.criterion))
        lines = tuple(kpi) if root.part == MAIN else ()
        if not asking.per_criterion:
            best = held.by_part[root.part] if root.part == MAIN else ()
            shown = _first(asking.chunks, best, *(held.by_criterion.get(each.id, ()) for each in single),
                           held.by_part[root.part])  # fmt: skip
            yield Shown(prompts.Asked(root.criterion, tuple(single), root.what), (*lines, *shown))
            continue
        for each in single:
            shown = _first(asking.chunks, held.by_criterion.get(each.id, ()), held.by_part[root.part])
            yield Shown(prompts.Asked(root.criterion, (each,), f"{root.what}: {each.id}", True), (*lines, *shown))


def _first(most: int, *several: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The first ``most`` chunks (0: all), each once."""
    kept = list({each.passage_id: each for found in several for each in found}.values())
    return tuple(kept[:most] if most else kept)


def _kpi_evidence(report: Report, lines: Sequence[KpiLine]) -> list[Evidence]:
    """The company's lines on the activity as a passage for each page and KPI."""
    found: dict[tuple[int, str], list[KpiLine]] = {}
    for line in lines:
        found.setdefault((line.page, line.kpi), []).append(line)
    made = []
    for (page, kpi), own in found.items():
        text = "\n".join(_told(line) for line in own)
        boxes = tuple(box for line in own for box in report.boxes(page, line.quote))
        made.append(
            Evidence(page, text, "SC", 0.0, f"{report.name} p. {page} {kpi} template", 0, len(text), boxes)
        )  # fmt: skip
    return made


def _told(line: KpiLine) -> str:
    amount = "no amount" if line.amount is None else f"{line.amount:.12g} {line.unit}".strip()
    share = "" if line.share is None else f", {line.share:.12g} % of the company's total"
    return f"{line.kpi} {line.year or ''}, line under {line.section}: {line.name}: {amount}{share}"


def _referred(roots: Sequence[Root], activity: Activity, catalogue: Catalogue, year: int) -> list[tuple[str, str]]:
    """The criteria of other activities and the appendices that these name."""
    from responsa.errors import ResponsaError

    found: dict[str, str] = {}
    for root in roots:
        for number in sections(root.criterion):
            try:
                other = catalogue.find(f"{activity.objective} {number}", year).activity
            except ResponsaError:  # a section that is no activity of the catalogue: its number stays in the text
                continue
            if other.id != activity.id:
                found[f"Criteria of {other.id} {other.name}"] = words_of(
                    on(other.substantial_contribution, date(year, 12, 31))
                )
        for letter in appendices(root.criterion):
            generic = catalogue.appendix(activity, letter)
            if generic:
                found[f"Appendix {letter}"] = words_of(generic)
    return list(found.items())


def _scope(activity: Activity, roots: Sequence[Criterion], year: int) -> str:
    """All words that a first step may take its numbers from."""
    criteria = "\n".join(words_of(root) for root in roots)
    return f"{criteria}\n{activity.id} {activity.name} {activity.description}\n{year}"
