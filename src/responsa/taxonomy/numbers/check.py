"""Figures of a report beside the thresholds of a criterion, without a model.

Two numbers are compared only where unit, subject and year allow it; where one of them does not, the check says which.
What is not said is not guessed: a figure that names no subject of the threshold is not set against it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import permutations

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
        "recycled input": r"recycled|recycling|re-?use|scrap", "secondary raw materials": r"secondary raw material",
        "separate collection": r"separately collected|separate collection",
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
        "power density": r"power density", "efficiency": r"efficien(?!cy design)", "plastic": r"plastic",
        "battery": r"batter",
        "windows": r"windows?\b", "doors": r"\bdoors?\b", "walls": r"\bwalls?\b", "roof": r"\broof",
        "insulation": r"insulat",
        "GWP": r"global warming potential|\bGWP\b", "forest": r"\bforest",
        "emissions": r"\bemission|\bGHG\b|CO\s?2|CO₂|greenhouse gas|carbon",
        "readiness": r"\bTRL\b|technology readiness",
        "certificate": r"energy performance certificate|\bEPCs?\b|energieausweis|effizienzklasse|"
        r"energy \w* ?(?:class|label|rating)",
    }.items()
}  # fmt: skip
_KNOWN = re.compile("|".join(rf"\w*(?:{each.pattern})\w*" for each in _SUBJECTS.values()), re.IGNORECASE)
_TELLING_UNITS: dict[str, frozenset[str]] = {  # the unit alone tells these subjects
    "gCO2e/km": frozenset({"tailpipe", "emissions"}), "gCO2e/kWh": frozenset({"emissions"}),
    "gCO2e/tkm": frozenset({"emissions"}),
    "tCO2e/t": frozenset({"emissions"}),
    "W/mK": frozenset({"thermal conductivity"}), "W/m2K": frozenset({"transmittance"}),
    "TRL": frozenset({"readiness"}), "class": frozenset({"certificate"}), "gCO2e/pkm": frozenset({"emissions"}),
    "kWh/m2": frozenset(),
}  # fmt: skip
_BROAD = frozenset({"less", "emissions", "efficiency", "electricity", "heat", "waste", "water", "gas"})
_SURE = frozenset({"vessel design index", "aircraft metric", "nearly zero-energy", "building stock", "readiness"})
_RANKS = ("TRL", "class")  # units that count nothing
_CLASSES = re.compile(r"(?:\b(?:class|EPC|label|rating|and|or|to|/)|[,–-])\s?([A-G])\+*(?![\w'’])")
_OF_BUILDINGS = re.compile(
    r"\bEPCs?\b|energy performance|building|propert|hous|dwelling|office|premises|gebäude|immobilie|wohn", re.IGNORECASE
)
_NOT_HELD = re.compile(
    r"\b(?:no|none|without|not|never|sold|dispos\w+|lack\w*|kein\w*|nicht|ohne|verkauf\w*)\b", re.IGNORECASE
)
_KINDS = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in {
        "light vehicle": r"(?-i:\bM1\b)|light[\s-]duty|passenger cars?|light commercial",
        "motorcycle": r"categor(?:y|ies) L\b|(?:two|three)[\s/-]wheel|motor(?:cycle|bike)|scooter",
        "heavy vehicle": r"(?-i:\b[MN][23]\b)|heavy[\s-]duty|\btrucks?\b|\bbus(?:es)?\b|\bcoach",
        "train": r"\btrains?\b|\brail|\bwagons?\b|locomotive", "vessel": r"vessels?\b|\bships?\b|\bboats?\b",
        "high alloy steel": r"high[\s-]alloy", "carbon steel": r"carbon steel",
        "aircraft": r"aircraft|\bplanes?\b",
    }.items()
}  # fmt: skip
_RIVALS = (
    frozenset({"windows", "doors", "walls", "roof"}),
    frozenset({"HVC", "aromatics", "vinyl chloride", "styrene", "ethylene oxide", "adipic acid"}),
    frozenset({"hot metal", "sinter", "coke", "cast iron", "arc furnace"}),
)
_PRODUCT = re.compile(r"\sof\s((?:(?!in\b|and\b|or\b|was\b|were\b|by\b)[A-Za-z-]{3,}\s?){1,4})")
_PER_TONNE = re.compile(
    r"(?:per tonne of|/\s?t of|/\s?t(?:onne)?)\s((?:(?!or\b|manufactured\b|produced\b)[a-z-]{3,}\s?){1,4})"
)
_TRANSPORT = re.compile(
    r"\W*(?:(?:passenger|freight|sea|inland|urban|air)\b.*transport|transport by|operation of personal)", re.IGNORECASE
)
_IN_USE = re.compile(
    r"\bfleet|\bleas|\brent|financ|\boperat|\btransport|charter|our (?:vehicles|vessels|trucks|cars)", re.IGNORECASE
)
_BUILDINGS = re.compile(r"building|floor|construction", re.IGNORECASE)
_BUILDING = re.compile(
    r"\A[\s-]*(?:(?!(?:of|in|at|for|to|and|with)\b)\w+[\s-]){0,3}(?:building|centre|center|warehouse|facility|"
    r"store|office|plant|hall|"
    r"headquarters|campus)\b(?!s)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{4,}")
_COMMON = frozenset({
    "that", "than", "this", "with", "from", "which", "where", "least", "most", "more", "less", "lower", "higher",
    "below", "above", "value", "values", "average", "annual", "total", "share", "percent", "level", "point", "points",
    "activity", "activities", "criteria", "requirement", "requirements", "applicable", "compared", "relative", "own",
    "into", "such", "their", "they", "have", "been", "through", "under", "over", "between", "each", "other",
    "specific", "certified", "attained", "result", "resulting", "threshold", "thresholds", "expressed", "attains",
    "attain",
})  # fmt: skip
_COMMON_BEGINNINGS = frozenset(word[:6] for word in _COMMON)
_WORDS = 2  # words of its own that a threshold without a subject must have
_ENOUGH = 0.5  # of the words of a threshold that a share has to have beside it
_OTHER_THINGS = re.compile(
    r"\bscope [123]\b|per voyage|per flight|turnover|revenue|cap\s?ex|op\s?ex|\borders?\b|employees|"
    r"emissions? factor",
    re.IGNORECASE,
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
            unit = unit_of_measure(threshold.unit) if threshold.unit not in _RANKS else None
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
    pages: dict[int, list[Figure]] = {}
    for each in figures:
        if each.role == "supports" and each.unit.endswith("s") and each.unit.isascii():
            pages.setdefault(each.page, []).append(each)
    found: dict[tuple[int, str], PartOf] = {}
    for page, counted in pages.items():
        for part, whole in permutations(counted, 2):
            named = part.unit != whole.unit and part.unit.endswith(f" {whole.unit}")
            key = page, part.unit
            if named and 0 < part.value <= whole.value and (key not in found or whole.value > found[key].whole.value):
                found[key] = PartOf(part, whole, 100 * part.value / whole.value)
    return list(found.values())


def relevant(figures: Sequence[Figure], activity: Activity, pages: Iterable[int] = (), most: int = 500) -> list[Figure]:
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
    wanted, named = _named(asked), _named(about)
    if figure.unit == "tCO2e" and (figure.value or "tailpipe" not in named):
        return None  # a company's emissions are no vehicle's
    if threshold.scope or _is_size(threshold, figure.unit):
        return _size(f"{asked} {criterion.text}", threshold, limit, figure)
    if figure.unit == "class":
        if not _OF_BUILDINGS.search(figure.quote):
            return None
        if "%" in figure.quote or len({*_CLASSES.findall(figure.quote)}) > 1 or _NOT_HELD.search(figure.quote):
            return _NEITHER, "stands beside several classes or a share of buildings, or is of none that are held"
    telling = _TELLING_UNITS.get(figure.unit)
    shared = (wanted & named) - _BROAD
    missing = wanted - named - (telling or frozenset())
    if missing:
        return (
            (_NEITHER, f"does not say that it is about {', '.join(missing)}") if shared and len(missing) == 1 else None
        )
    if telling is None and not shared and (_overlap(asked, about) < 1 or len(_own_words(asked)) < _WORDS):
        return None
    rivals = {name for group in _RIVALS if wanted & group for name in named & group}
    if len(rivals) > 1 and not rivals <= wanted:
        return _NEITHER, f"stands beside several: {', '.join(sorted(rivals))}"
    kinds = {name for name, pattern in _KINDS.items() if pattern.search(f"{asked} {criterion.text}")}
    if kinds and "light vehicle" not in kinds and not any(_KINDS[name].search(about) for name in kinds):
        close = telling is not None or shared
        return (_NEITHER, f"does not say that it is about a {' or '.join(sorted(kinds))}") if close else None
    if _TRANSPORT.match(activity) and not _IN_USE.search(about):
        return _NEITHER, "does not say that it is about what the company runs, leases or finances"
    reason = _unfit(limit, figure) or _other_product(criterion.text, figure)
    if reason:
        return _NEITHER, reason
    if telling is None and not shared & _SURE and _overlap(asked, about) < _ENOUGH:
        return (_NEITHER, "is not said to measure the same thing") if shared else None
    if _OTHER_THINGS.search(about) and not _OTHER_THINGS.search(asked):
        return _NEITHER, "is about something else than the threshold"
    if figure.value < 0 <= limit:
        if "less" not in wanted:
            return _NEITHER, "is less than zero"
        figure = replace(figure, value=-figure.value)  # a change by −34 % is a reduction by 34 %
    return _outcome(threshold.op, limit, figure)


@functools.lru_cache(maxsize=1 << 15)
def _named(text: str) -> frozenset[str]:
    """The subjects that a text names. A figure meets many thresholds, so they are kept."""
    return frozenset(name for name, pattern in _SUBJECTS.items() if pattern.search(text))


def _unfit(limit: float, figure: Figure) -> str:
    """Why a figure with the right unit and subject is still none to compare; "" where nothing speaks against it."""
    if figure.role == "trap_future":
        return "is a target, a plan or a forecast"
    if figure.role == "trap_other_year":
        return f"is of another year ({figure.year})" if figure.year else "is of another year"
    if figure.value == limit and figure.role == "context":
        return "repeats what the criterion asks"
    return (
        "is a rule, a limit, a change, denied or supposed: no result of the company" if figure.role == "context" else ""
    )


def _other_product(asked: str, figure: Figure) -> str:
    """Whether emissions per tonne are told of another product than the criterion's; "" where one of them names none."""
    at = figure.quote.find(figure.printed_unit) if figure.unit == "tCO2e/t" else -1
    own = _PRODUCT.match(figure.quote, at + len(figure.printed_unit)) if at >= 0 and figure.printed_unit else None
    named = _PER_TONNE.search(asked)
    if own is None or named is None or own[1].split()[-1].lower() == named[1].split()[-1].lower():
        return ""
    return f"is per tonne of {own[1].strip()}, not of {named[1].strip()}"


def _is_size(threshold: Threshold, unit: str) -> bool:
    return unit in ("m2", "kW") and threshold.op in (">", ">=") and "%" not in threshold.metric


def _size(asked: str, threshold: Threshold, limit: float, figure: Figure) -> tuple[Comparison, str] | None:
    """Whether one building is as large as a rule for large ones says."""
    if figure.unit != "m2" or figure.role not in ("supports", "contradicts") or not _BUILDINGS.search(asked):
        return None
    at = figure.quote.find(figure.printed_unit)
    after = figure.quote[at + len(figure.printed_unit) :] if at >= 0 and figure.printed_unit else ""
    if not _BUILDING.match(after):
        return None
    outcome, reason = _outcome(threshold.op, limit, figure)
    return outcome, reason or "the size for which the requirement is made"


@functools.lru_cache(maxsize=1 << 15)
def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower()[:6] for word in _WORD.findall(text)) - _COMMON_BEGINNINGS


@functools.lru_cache(maxsize=1 << 10)
def _own_words(asked: str) -> frozenset[str]:
    """The words of a threshold that name none of the subjects."""
    return _words(_KNOWN.sub(" ", asked))


def _overlap(asked: str, about: str) -> float:
    """The share of the words of a threshold that stand beside a figure; 1 where it has none of its own."""
    own = _own_words(asked)
    return len(own & _words(about)) / len(own) if own else 1.0


def _outcome(op: Operator, limit: float, figure: Figure) -> tuple[Comparison, str]:
    """Whether all that the words leave open meets the limit, or none of it."""
    if op == "=" and limit and figure.value != limit:
        return _NEITHER, "is another number than the one that the criterion gives, which does not say how it bounds"
    low, high = figure.value, figure.value
    if figure.bound in ("at least", "more than"):
        high = float("inf")
    elif figure.bound in ("at most", "less than"):
        low = float("-inf")
    outcomes = {_meets(op, value, limit) for value in (low, high)}
    if len(outcomes) > 1:
        return _NEITHER, f"says only {figure.bound} {figure.value:.12g}"
    if figure.bound == "about" and abs(figure.value - limit) <= 0.01 * abs(limit):
        return _NEITHER, f"is about as large as the limit ({figure.value:.12g})"
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
        f"{figure.value:.12g} {figure.unit} on page {figure.page} {verb} {threshold.op} {threshold.value:.12g}"
        f" {threshold.unit} ({threshold.metric})"
    )
