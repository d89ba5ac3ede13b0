"""Figures of a report beside the thresholds of a criterion, without a model.

Two numbers are compared only where unit, subject and year allow it; where one of them does not, the check says which.
What is not said is not guessed: a figure that names no subject of the threshold is not set against it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from responsa.quantities.measures import normalised
from responsa.quantities.units import unit_of_measure
from responsa.taxonomy.values import Activity, Comparison, Criterion, Figure, NumberCheck, Operator, Threshold, Verdict

# Things that a threshold may be about. Where its words name one, those of the figure have to name it too.
_SUBJECTS = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "primary energy": r"primary[\s-]energy|\bPED\b",
        "nearly zero-energy": r"nearly[\s-]zero|\bNZEB\b|zero[\s-]energy building",
        "less": r"reduc|saving|lower|less|below|decreas|improve|closing the gap",
        "building stock": r"building stock|housing stock|stock \(PED\)|within the top|among the top|\btop \d+",
        "life cycle": r"life[\s-]?cycle",
        "tailpipe": r"tailpipe|WLTP|specific (?:emissions? of )?CO|exhaust",
        "vessel design index": r"\bEEDI\b|\bEEXI\b|energy efficiency design index",
        "aircraft metric": r"\bICAO\b|new type|certified metric|metric value",
        "zero direct emissions": r"zero[\s-]direct|zero[\s-](?:tailpipe|CO2 emission fuel)",
        "sustainable fuel": r"\bSAF\b|sustainable aviation fuel|renewable fuel",
        "recycled input": r"recycled|recycling|secondary raw material|re-?use|scrap|separately collected",
        "thermal conductivity": r"lambda|thermal conductivity",
        "transmittance": r"U-?value|transmittance",
        "water": r"\bwater\b", "leakage": r"\bleak", "waste": r"\bwaste\b|digestate|bio-?waste", "floor": r"floor area",
        "rated output": r"rated (?:output|power|capacity)|thermal input",
        "biomass": r"biomass|biofuel|biogas|bioliquid",
        "capture": r"captur|CO2 transported", "hydrogen": r"hydrogen", "clinker": r"clinker", "cement": r"cement",
        "hot metal": r"hot metal", "sinter": r"sinter", "coke": r"\bcoke\b", "cast iron": r"iron casting|cast iron",
        "arc furnace": r"arc furnace|\bEAF\b", "aluminium": r"alumini?um|electrolysis", "soda ash": r"soda ash",
        "carbon black": r"carbon black", "chlorine": r"chlorine", "nitric acid": r"nitric acid", "ammonia": r"ammonia",
        "HVC": r"\bHVC\b|high value chemical", "aromatics": r"aromatics", "vinyl chloride": r"vinyl chloride|\bVCM\b",
        "styrene": r"\bstyrene", "ethylene oxide": r"ethylene (?:oxide|glycol)", "adipic acid": r"adipic",
        "geothermal": r"geothermal", "hydropower": r"hydro-?power", "nuclear": r"nuclear",
        "gas": r"\bgas(?:eous)? fuel|fossil gas|natural gas",
        "electricity": r"electricity|\bpower (?:generation|plants?)|generation capacity", "heat": r"\bheat\b|heat/cool",
        "power density": r"power density", "efficiency": r"efficien", "plastic": r"plastic", "battery": r"batter",
        "windows": r"windows?\b", "doors": r"\bdoors?\b", "walls": r"\bwalls?\b", "roof": r"\broof",
        "insulation": r"insulat",
        "GWP": r"global warming potential|\bGWP\b", "forest": r"\bforest",
        "emissions": r"\bemission|\bGHG\b|CO\s?2|CO₂|greenhouse gas|carbon",
        "readiness": r"\bTRL\b|technology readiness",
    }.items()
}  # fmt: skip
_KNOWN = re.compile("|".join(rf"\\w*(?:{each.pattern})\\w*" for each in _SUBJECTS.values()), re.IGNORECASE)
_TELLING_UNITS = {  # the unit alone tells these subjects
    "gCO2e/km": {"tailpipe", "emissions"}, "gCO2e/kWh": {"emissions"}, "gCO2e/tkm": {"emissions"},
    "tCO2e/t": {"emissions"},
    "W/mK": {"thermal conductivity"}, "W/m2K": {"transmittance"}, "TRL": {"readiness"}, "gCO2e/pkm": {"emissions"},
    "kWh/m2": set(),
}  # fmt: skip
_BROAD = frozenset({"less", "emissions", "efficiency", "electricity", "heat", "waste", "water", "gas"})
_KINDS = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "light vehicle": r"(?-i:\bM1\b)|light[\s-]duty|passenger cars?|light commercial",
        "motorcycle": r"categor(?:y|ies) L\b|(?:two|three)[\s/-]wheel|motor(?:cycle|bike)|scooter",
        "heavy vehicle": r"(?-i:\b[MN][23]\b)|heavy[\s-]duty|\btrucks?\b|\bbus(?:es)?\b|\bcoach",
        "train": r"\btrains?\b|\brail|\bwagons?\b|locomotive", "vessel": r"vessels?\b|\bships?\b|\bboats?\b",
        "aircraft": r"aircraft|\bplanes?\b",
    }.items()
}  # fmt: skip
_TRANSPORT = re.compile(
    r"\W*(?:(?:passenger|freight|sea|inland|urban|air)\b.*transport|transport by|operation of personal)", re.IGNORECASE
)
_IN_USE = re.compile(
    r"\bfleet|\bleas|\brent|financ|\boperat|\btransport|charter|our (?:vehicles|vessels|trucks|cars)", re.IGNORECASE
)
_BUILDING = re.compile(
    r"\A[\s-]*(?:\w+[\s-]){0,3}(?:building|centre|center|warehouse|facility|store|office|plant|hall|"
    r"headquarters|campus)\b(?!s)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{4,}")
_COMMON = frozenset({
    "that", "than", "this", "with", "from", "which", "where", "least", "most", "more", "less", "lower", "higher",
    "below", "above", "value", "values", "average", "annual", "total", "share", "percent", "level", "point", "points",
    "activity", "activities", "criteria", "requirement", "requirements", "applicable", "compared", "relative", "own",
    "into", "such", "their", "they", "have", "been", "through", "under", "over", "between", "each", "other",
    "specific", "certified", "attained", "result", "resulting", "threshold", "thresholds", "expressed",
})  # fmt: skip
_ENOUGH = 0.5  # of the words of a threshold that a share has to have beside it
_OTHER_THINGS = re.compile(
    r"\bscope [123]\b|per voyage|per flight|turnover|revenue|cap\s?ex|op\s?ex|\borders?\b|employees", re.IGNORECASE
)
_KPI_WORDS = re.compile(
    r"taxonomy[\s-]+(?:aligned|eligible)|(?:turnover|revenue|cap\s?ex|op\s?ex)\b.*\b(?:aligned|eligible)", re.IGNORECASE
)
_NEITHER: Comparison = "not_comparable"


@dataclass(frozen=True, slots=True)
class PartOf:
    """A count that is part of another of the same page: 4,100 electric vehicles of 44,000 vehicles. In percent."""

    part: Figure
    whole: Figure
    share: float


def check(
    criterion: Criterion, figures: Iterable[Figure], year: int | None = None, activity: str = ""
) -> list[NumberCheck]:
    """The figures that have the unit of a threshold of the criterion or of its parts, each beside that threshold.

    ``not_comparable`` says why in ``reason``; figures that share no subject with the threshold are left out.
    Thresholds that apply at another time than the end of ``year`` are left out too. ``activity`` is its name: where
    it is transport, what a maker says of a product is not compared.
    """
    given = list(figures)
    found: list[NumberCheck] = []
    for each in _leaves(criterion):
        for threshold in each.thresholds:
            if year is not None and not _applies(threshold, year):
                continue
            unit = unit_of_measure(threshold.unit) if threshold.unit != "TRL" else None
            name = unit.name if unit else threshold.unit
            limit = normalised(threshold.value, unit) if unit else threshold.value
            for figure in given:
                if figure.unit == name and (compared := _compared(each, threshold, limit, figure, activity)):
                    found.append(NumberCheck(each.id, threshold, figure, *compared))
    return found


def disagreement(checks: Iterable[NumberCheck], verdict: Verdict | None) -> str:
    """Why the figures do not agree with a verdict; "" where they do, or where nothing could be compared."""
    own = [each for each in checks if each.outcome != _NEITHER and not each.threshold.scope]
    missed = [each for each in own if each.outcome == "misses"]
    met = [each for each in own if each.outcome == "meets"]
    if verdict == "aligned" and missed and not met:
        return f"the verdict is aligned, but {_said(missed[0])}"
    if verdict == "not_aligned" and met and not missed:
        return f"the verdict is not aligned, but {_said(met[0])}"
    if verdict == "insufficient" and missed and not met:
        return f"the verdict is insufficient, but {_said(missed[0])}"
    return ""


def shares_of_counts(figures: Sequence[Figure]) -> list[PartOf]:
    """The counts of a page that are a named part of another: the noun is the same, with more words before it."""
    counted = [each for each in figures if each.role == "supports" and each.unit.endswith("s") and each.unit.isascii()]
    found: dict[tuple[int, str], PartOf] = {}
    for part in counted:
        for whole in counted:
            same = part.page == whole.page and part.unit != whole.unit and part.unit.endswith(f" {whole.unit}")
            if same and 0 < part.value <= whole.value:
                key = (part.page, part.unit)
                if key not in found or whole.value > found[key].whole.value:
                    found[key] = PartOf(part, whole, 100 * part.value / whole.value)
    return list(found.values())


def relevant(figures: Sequence[Figure], activity: Activity, pages: Iterable[int] = (), most: int = 150) -> list[Figure]:
    """The figures to show beside an assessment: those of the KPI lines of the activity and of the sums, those on
    ``pages`` (of its evidence), then those whose words are most like the activity's name and criteria.

    At most ``most``, in the order of the report.
    """
    shown = set(pages)
    names = _words(f"{activity.name} {' '.join(_criterion_words(activity.substantial_contribution))}")
    title = _words(activity.name)
    scored: list[tuple[float, int]] = []
    for index, figure in enumerate(figures):
        about = _words(f"{figure.metric} {' '.join(figure.header)}")
        score = len(about & names) / (3 + len(about)) ** 0.5 + 1.5 * len(about & title) / (1 + len(title))
        score += 10 * (figure.page in shown) + 1.5 * (_KPI_WORDS.search(figure.quote) is not None)
        if figure.header[:1] and figure.header[0] in ("turnover", "capex", "opex"):
            own = (
                activity.number in figure.metric
                or title <= about
                or figure.metric.partition(": ")[2].startswith("sum of")
            )
            score += 20 if own else 0
        scored.append((score, -index))
    kept = sorted(-index for _, index in sorted(scored, reverse=True)[:most])
    return [figures[index] for index in kept]


def _criterion_words(criterion: Criterion) -> Iterator[str]:
    return (each.text for each in _leaves(criterion))


# --- one figure and one threshold -----------------------------------------------------------------------


def _leaves(criterion: Criterion) -> Iterator[Criterion]:
    yield criterion
    for part in criterion.parts:
        yield from _leaves(part)


def _applies(threshold: Threshold, year: int) -> bool:
    end = date(year, 12, 31)
    return (threshold.valid_from or end) <= end <= (threshold.valid_to or end)


def _compared(
    criterion: Criterion, threshold: Threshold, limit: float, figure: Figure, activity: str
) -> tuple[Comparison, str] | None:
    """The outcome and its reason; None where the figure is about something else."""
    about = f"{figure.metric} {figure.quote} {' '.join(figure.header)}"
    asked = f"{threshold.metric} {threshold.condition}"
    wanted = {name for name, pattern in _SUBJECTS.items() if pattern.search(asked)}
    named = {name for name, pattern in _SUBJECTS.items() if pattern.search(about)}
    if figure.unit == "tCO2e" and (figure.value or "tailpipe" not in named):
        return None  # a company's emissions are no vehicle's
    if threshold.scope or _is_size(threshold, figure.unit):
        return _size(threshold, limit, figure)
    telling = _TELLING_UNITS.get(figure.unit)
    missing = wanted - named - (telling or set())
    if not wanted & named and not telling and not _words(asked) & _words(about):
        return None
    if missing:
        near = len(missing) == 1 and (wanted & named) - _BROAD
        return (_NEITHER, f"does not say that it is about {', '.join(missing)}") if near else None
    if not wanted and telling is None and _overlap(asked, about) < 1:
        return None
    kinds = {name for name, pattern in _KINDS.items() if pattern.search(f"{asked} {criterion.text}")}
    if kinds and "light vehicle" not in kinds and not any(_KINDS[name].search(about) for name in kinds):
        close = telling is not None or (wanted & named) - _BROAD
        return (_NEITHER, f"does not say that it is about a {' or '.join(sorted(kinds))}") if close else None
    if _TRANSPORT.match(activity) and not _IN_USE.search(about):
        return _NEITHER, "does not say that it is about what the company runs, leases or finances"
    reason = _unfit(limit, figure)
    if reason:
        return _NEITHER, reason
    if telling is None and _overlap(asked, about) < _ENOUGH:
        return (_NEITHER, "is not said to measure the same thing") if (wanted & named) - _BROAD else None
    if _OTHER_THINGS.search(figure.metric) and not _OTHER_THINGS.search(asked):
        return _NEITHER, "is about something else than the threshold"
    return _outcome(threshold.op, limit, figure)


def _unfit(limit: float, figure: Figure) -> str:
    """Why a figure with the right unit and subject is still none to compare; "" where nothing speaks against it."""
    if figure.role == "trap_future":
        return "is a target, a plan or a forecast"
    if figure.role == "trap_other_year":
        return f"is of another year ({figure.year})" if figure.year else "is of another year"
    if figure.value == limit and figure.role == "context":
        return "repeats what the criterion asks"
    return "is a rule or a limit, no result of the company" if figure.role == "context" else ""


def _is_size(threshold: Threshold, unit: str) -> bool:
    return unit in ("m2", "kW") and threshold.op in (">", ">=") and "%" not in threshold.metric


def _size(threshold: Threshold, limit: float, figure: Figure) -> tuple[Comparison, str] | None:
    """Whether one building or plant is as large as a rule for large ones says."""
    if figure.unit != "m2" or figure.role not in ("supports", "contradicts"):
        return None
    at = figure.quote.find(figure.printed_unit)
    after = figure.quote[at + len(figure.printed_unit) :] if at >= 0 and figure.printed_unit else ""
    if not _BUILDING.match(after):
        return None
    outcome, reason = _outcome(threshold.op, limit, figure)
    return outcome, reason or "the size for which the requirement is made"


def _words(text: str) -> set[str]:
    return {word.lower()[:6] for word in _WORD.findall(text)} - {word[:6] for word in _COMMON}


def _overlap(asked: str, about: str) -> float:
    """The share of the words of a threshold that stand beside a figure; 1 where it has none of its own."""
    words = _words(_KNOWN.sub(" ", asked))
    return len(words & _words(about)) / len(words) if words else 1.0


def _outcome(op: Operator, limit: float, figure: Figure) -> tuple[Comparison, str]:
    """Whether all that the words leave open meets the limit, or none of it."""
    low, high = figure.value, figure.value
    if figure.bound in ("at least", "more than"):
        high = float("inf")
    elif figure.bound in ("at most", "less than"):
        low = float("-inf")
    outcomes = {_meets(op, value, limit) for value in (low, high)}
    if len(outcomes) > 1:
        return _NEITHER, f"says only {figure.bound} {figure.value:g}"
    if figure.bound == "about" and abs(figure.value - limit) <= 0.01 * abs(limit):
        return _NEITHER, f"is about as large as the limit ({figure.value:g})"
    return ("meets" if outcomes.pop() else "misses"), ""


def _meets(op: Operator, value: float, limit: float) -> bool:
    if op == "<":
        return value < limit
    if op == "<=":
        return value <= limit
    if op == ">":
        return value > limit
    return value >= limit if op == ">=" else value == limit


def _said(check: NumberCheck) -> str:
    figure, threshold = check.figure, check.threshold
    verb = "meets" if check.outcome == "meets" else "misses"
    return (
        f"{figure.value:g} {figure.unit} on page {figure.page} {verb} {threshold.op} {threshold.value:g}"
        f" {threshold.unit} ({threshold.metric})"
    )
