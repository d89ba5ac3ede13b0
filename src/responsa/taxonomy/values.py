"""The values that the parts of an assessment hand on. All are frozen.

An `Activity` has a tree of `Criterion`; retrieval finds `Evidence` for its leaves; the number check compares
`Figure` of the report with `Threshold`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from responsa.types import Box, Call

Objective = Literal["CCM", "CCA", "WTR", "CE", "PPC", "BIO"]
Logic = Literal["all", "any", "at_least"]
Operator = Literal["<", "<=", "=", ">=", ">"]
Verdict = Literal["aligned", "not_aligned", "insufficient"]
Role = Literal["supports", "contradicts", "context", "trap_future", "trap_other_year"]
Comparison = Literal["meets", "misses", "not_comparable"]
Standing = Literal["insufficient", "not_met", "not_applicable", "met"]
"""How a criterion stands: the words of a verdict for one of the requirements. The more careful comes first."""
Part = Literal["substantial_contribution", "dnsh", "safeguards"]
Support = Literal["found", "near", "not_found"]
Method = Literal["traditional", "zero-shot-cot", "few-shot-cot"]


@dataclass(frozen=True, slots=True)
class Threshold:
    """A number that a criterion asks for: ``metric`` ``op`` ``value`` ``unit``, between the dates (inclusive).

    ``unit`` is the criterion's own ("gCO2/km", "MW", "" for a bare number); `quantities.units.unit_of_measure` reads
    it. ``condition`` says when it applies other than by date (size, use, baseline), in the words of the act. ``scope``:
    the number says to what the criterion applies ("buildings larger than 5000 m2"), it is nothing to be met. Classes A,
    B, C are 1, 2, 3 of unit "class".
    """

    metric: str
    op: Operator
    value: float
    unit: str
    valid_from: date | None = None
    valid_to: date | None = None
    condition: str = ""
    scope: bool = False


@dataclass(frozen=True, slots=True)
class Criterion:
    """A requirement, or several joined by ``logic`` (``at_least``: so many of them, ``count``).

    ``id`` is unique in the activity and the same in all outputs: ``SC 1(a)``, ``DNSH CCA``; ``number`` is as printed.
    ``text`` is its own words without those of its parts. A leaf has no ``parts``.
    """

    id: str
    number: str
    text: str
    logic: Logic = "all"
    count: int = 0
    parts: tuple[Criterion, ...] = ()
    thresholds: tuple[Threshold, ...] = ()
    valid_from: date | None = None
    valid_to: date | None = None
    condition: str = ""


@dataclass(frozen=True, slots=True)
class Activity:
    """An economic activity for one objective, as an act has it from ``valid_from``.

    ``id`` is as people write it: ``CCM 6.5``. ``kind`` tells enabling and transitional activities from others.
    ``dnsh`` by objective. ``source`` names the act and its date. ``notes`` are the footnotes, in their order.
    """

    id: str
    objective: Objective
    number: str
    name: str
    sector: str
    description: str
    nace: tuple[str, ...]
    substantial_contribution: Criterion
    dnsh: Mapping[Objective, Criterion] = field(default_factory=dict)
    kind: Literal["", "enabling", "transitional"] = ""
    source: str = ""
    valid_from: date | None = None
    valid_to: date | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """A chunk of the report found for a criterion: page from 1, ``start`` and ``end`` in the stored passage text.

    ``score`` is on the recipe's scale, higher is nearer. ``criterion`` is the id of the criterion that found it best.
    """

    page: int
    text: str
    criterion: str
    score: float
    passage_id: str
    start: int
    end: int
    boxes: tuple[Box, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Figure:
    """A number with its unit as the report states it. ``value`` and ``unit`` are normalised; ``quote`` is as printed.

    ``year`` is the financial year it is about, None where the text does not say. ``role`` tells a fact of the year
    from a target or another year's. ``header`` holds the column and row heads of a table cell. ``printed`` counts
    ``printed_unit``, as in the report ("12.8", "EUR billion"); ``bound`` is "at least", "at most", "more than",
    "less than", "about" or "".
    """

    value: float
    unit: str
    quote: str
    page: int
    metric: str = ""
    year: int | None = None
    role: Role = "supports"
    header: tuple[str, ...] = ()
    printed: float | None = None
    printed_unit: str = ""
    bound: str = ""


@dataclass(frozen=True, slots=True)
class NumberCheck:
    """A figure of the report beside a threshold of a criterion. ``reason`` says why they cannot be compared."""

    criterion: str
    threshold: Threshold
    figure: Figure
    outcome: Comparison
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of the report: ``start`` to ``end`` in the text of the chunk ``passage_id``, and where they are printed."""

    page: int
    text: str
    passage_id: str
    start: int
    end: int
    boxes: tuple[Box, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """What a model says that the report states, checked against the report.

    ``quote`` and ``page`` are as the model gives them, 0 where it names no page. ``place`` is where the words stand,
    None where they stand nowhere in what it was shown. ``support`` is ``near`` where words differ a little, or stand on
    another page than was said. ``role`` is what the words and their figures are about, by rules: the year, a target,
    another year. ``generations`` are those that say it, from 0.
    """

    text: str
    quote: str
    page: int
    support: Support
    place: Quote | None = None
    role: Role = "supports"
    generations: tuple[int, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CriterionAssessment:
    """How one criterion stands. ``depth`` is 0 for the root of a part; ``parent`` the id above, "" for a root.

    ``verdict`` is None without a model. That of a criterion with parts follows from theirs by its logic. ``said`` is
    what most generations said, where the checks of quotes changed it. ``votes`` counts generations by what they said.
    ``reason`` and ``missing`` are the words of the generation nearest to the others among those that agree with the
    verdict. ``evidence`` are the chunks that fit best, ``quotes`` the sentences of these that do. ``numbers`` are
    places in `Assessment.checks`. ``disagreement`` says why the figures do not agree with the verdict.
    """

    criterion: Criterion
    part: Part
    objective: Objective | None = None
    depth: int = 0
    parent: str = ""
    verdict: Standing | None = None
    said: Standing | None = None
    votes: Mapping[Standing, int] = field(default_factory=dict)
    reason: str = ""
    missing: str = ""
    claims: tuple[Claim, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    quotes: tuple[Quote, ...] = ()
    numbers: tuple[int, ...] = ()
    disagreement: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KpiLine:
    """A line of a KPI template: ``amount`` counts ``unit``, ``share`` is in percent of the company's total."""

    kpi: str
    section: str
    name: str
    amount: float | None
    share: float | None
    unit: str
    page: int
    quote: str
    year: int | None = None
    part: bool = False


@dataclass(frozen=True, slots=True)
class KpiShare:
    """How much of what is eligible of an activity the company reports as aligned: A.1 / (A.1 + A.2), in percent."""

    kpi: str
    share: float
    aligned: float
    eligible: float
    unit: str
    pages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Generation:
    """One reply of the model, as given. ``breakdown`` is its first step, "" where it was not asked for steps;
    ``findings`` the second, what the report states; ``reasoning`` the third. ``standings`` by the id of the criterion.

    ``concluded`` is its own conclusion, ``verdict`` what follows from its standings by the criteria's logic.
    """

    number: int
    breakdown: str
    findings: str
    reasoning: str
    standings: Mapping[str, Standing]
    concluded: Verdict
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Consistency:
    """How alike the generations' texts of one step are, from 0 to 1, means over the generations. BLEU is that of each
    against all others (equation 5.5 of the EU Taxonomy thesis), ``similarity`` the mean with each other (5.4). None
    where there is nothing to compare, or where what measures it is not installed."""

    step: int
    bleu: float | None = None
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class Trust:
    """How far to trust a verdict. ``asked`` and ``usable`` count generations; ``method`` says what ``similarity`` is.

    ``disagreement``: not all generations conclude alike (equation 5.6); ``agreement`` the share of them that conclude
    as most do; ``entropy`` that of the conclusions, from 0 (all alike) to 1. ``scc_bleu`` and ``scc_similarity``
    compare the first step with the criteria (5.2 and 5.3). ``flags`` say in words what to look at.
    """

    asked: int
    usable: int
    disagreement: bool = False
    agreement: float | None = None
    entropy: float | None = None
    consistency: tuple[Consistency, ...] = ()
    scc_bleu: float | None = None
    scc_similarity: float | None = None
    method: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Asking:
    """How an assessment is made: the options of the command, by their names there."""

    chunks: int = 10
    recipe: str = "default"
    model: str = ""
    method: Method = "zero-shot-cot"
    generations: int = 5
    per_criterion: bool = False
    dnsh: bool = False
    safeguards: bool = False
    seed: int = 0
    company: str = ""
    bertscore: str = ""
    ocr: str = ""


@dataclass(frozen=True, slots=True)
class Assessment:
    """One activity in one report for one year, with all that is known of it.

    ``digest`` is that of the report's file, ``year_from`` says how the year is known. ``evidence`` is ranked, best
    first. ``verdict`` is of all parts asked for, None without a model or where it gave no usable reply (``failure``
    says why); ``verdicts`` those of its parts, by the id of their root: ``SC``, ``DNSH CCA``, ``Safeguards``.
    ``criteria`` are in the order of the act, parts below their criterion. ``figures`` are those of the report that bear
    on the activity, ``checks`` those beside thresholds.
    ``missing`` says what is not shown, ``notes`` what to know of how it was made. ``trace`` are the requests sent.
    """

    report: str
    title: str
    digest: str
    pages: int
    activity: Activity
    year: int
    year_from: str
    asking: Asking
    criteria: tuple[CriterionAssessment, ...]
    evidence: tuple[Evidence, ...]
    quotes: tuple[Quote, ...] = ()
    figures: tuple[Figure, ...] = ()
    checks: tuple[NumberCheck, ...] = ()
    kpi: tuple[KpiLine, ...] = ()
    shares: tuple[KpiShare, ...] = ()
    verdict: Verdict | None = None
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    concluded: Verdict | None = None
    generations: tuple[Generation, ...] = ()
    trust: Trust | None = None
    flags: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    failure: str = ""
    trace: tuple[Call, ...] = ()
