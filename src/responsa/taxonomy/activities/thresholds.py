"""What a criterion asks of its numbers: what they measure, how they bound it, and from when to when."""

from __future__ import annotations

import re
from typing import NamedTuple

from responsa.taxonomy.activities.criteria_logic import ALTERNATIVE, Term, condition, terms
from responsa.taxonomy.activities.numbers_in_law import Number, bare, numbers
from responsa.taxonomy.activities.units import plain
from responsa.taxonomy.values import Operator, Threshold

_LONGEST = 140  # characters of what a number measures
# Words before a number that bound it. Where several end at the number, the longest counts.
_BEFORE: tuple[tuple[str, Operator], ...] = (
    (r"equals? (?:to )?or (?:is |are )?(?:lower|less|below)(?: than| to)?|(?:lower|less)(?: than)? or equal to", "<="),
    (r"(?:equal|at) or (?:lower|below)(?: than)?", "<="),
    (r"(?:greater|higher|more)(?: than)? or equal to|equals? (?:to )?or (?:greater|higher|above)(?: than)?", ">="),
    (r"(?:does|do|shall|must|is|are)?\s?not (?:to )?exceed(?:ing)?(?: a concentration of| the threshold of)?", "<="),
    (r"not (?:be )?(?:lower|less|shorter|fewer|smaller) than|no (?:less|lower|shorter|fewer) than", ">="),
    (r"not (?:be )?(?:higher|greater|more|older|longer|larger) than", "<="),
    (r"no (?:more|greater|later|longer|older) than|no more than", "<="),
    (r"at least(?: equivalent to|,)?|(?:a )?minimum(?: of)?|savings requirement of|≥", ">="),
    (r"at most|(?:a )?max(?:imum)?(?: \w+){0,4}(?: of)?|up to(?: and including)?|within(?: the top)?", "<="),
    (r"limit(?:ed)? (?:at|to)|≤", "<="),
    (r"(?:lower|less|fewer|smaller|shorter) than|below(?: the (?:[a-z]+ ){0,4}(?:of|value of))?|under|<", "<"),
    (r"(?:higher|greater|more|larger|longer|intensive) than|above|exceed(?:s|ing)?|over(?! the)|in excess of|>", ">"),
    (r"equals? to|=", "="),
)  # fmt: skip
_BOUNDS = tuple(
    (re.compile(rf"(?<!\w)(?:{words})(?: an average of| the (?:threshold )?(?:value )?of)?(?: a)?\s?\Z", re.I), op)
    for words, op in _BEFORE
)
_LED = re.compile(
    r"not exceed the following (?:values|limits)|(?:meet|below) the following (?:limits|thresholds)|target values"
)
_LIMIT_IS = re.compile(r"\blimits?\b[^.;]{0,90}\b(?:is|are|of)\s\Z")
_AND_ALSO = re.compile(r"[^.;]{0,110}\b(?:and|or)\s")
_STRONG = re.compile(r"(?:than|exceed(?:ing)?|above|to|of|<|>|≤|≥)\s?\Z")
_BETWEEN = re.compile(r"\b(?:between|from)\s\Z")
_BETWEEN_AND = re.compile(r"\b(?:between|from)\s[\d ,.]{1,12}(?:\s?[a-zA-Z%]{1,4})?\s?(?:and|to)\s\Z")
_OR_MORE = re.compile(r"\s?(?:\([^)]{1,60}\)\s)?or (?:more|higher|above|longer|greater)\b", re.IGNORECASE)
_OR_LESS = re.compile(r"\s?(?:\([^)]{1,60}\)\s)?or (?:less|lower|below|shorter)\b", re.IGNORECASE)
_RELATIVE = re.compile(
    r"\s?(?:lower|less|below|higher|better|reduction|savings)\b(?: than)?[^.;:]{0,90}|\scompared to[^.;:,]{0,80}",
    re.IGNORECASE,
)
_REDUCES = re.compile(
    r"\b(?:reduc\w+|savings?|decreas\w+|closing|closes|below|improv\w+)\b[^.;]{0,80}\Z", re.IGNORECASE
)
_SHARE = re.compile(
    r"\s?(?:\((?:by|in)[^)]{1,40}\)\s|, in terms of weight, )?of (?:the |their |its )?(?P<of>[^,.;:(]{3,90})"
)
_FACT = re.compile(r"\b(?:cover\w*|corresponding|shares?|blend|recover\w*|represent\w*|constitutes?)\b", re.IGNORECASE)
_AVERAGED = re.compile(
    r"\b(?:averaged|period|expressed|calculated|measured|preceding|last|every|past|over)\b[^.;,]{0,24}\Z"
)
_NO_LIMIT = re.compile(r"(?:±|\bmaximum value of|\bcounted as comprising)\s?\Z")
_EXCLUDED = re.compile(r"\b(?:is|are) not (?:compliant|eligible|considered)\b")
_NEGATED = re.compile(
    r"\b(?:is|are|does|do|shall) not (?:lead to|moved|dedicated|created|intended|used|contribute|contain)\b[^.;]*\Z"
)
_NOT_BY_MORE = re.compile(r"\bnot exceed[^.;]{0,90} by more than\s\Z")
_ZERO = re.compile(
    r"\b(?P<before>(?:specific |direct |\(tailpipe\) |tailpipe )*(?:emissions? of CO2|CO2 emissions?))"
    r"(?P<between>[^.;]{0,120}?),? (?:are|is|equals?(?: to)?) zero\b"
    r"|\bzero (?P<after>direct (?:\(tailpipe\)|tailpipe) CO2(?: emissions?)?)(?! (?:emission )?fuels?)",
    re.IGNORECASE,
)
_CLASS = re.compile(r"\bat least (?:an )?(?:Energy Performance Certificate )?(?:\(EPC\) )?class ([A-G])\b")
_LEVEL = re.compile(
    r"(?P<least>\bat least )?\b(?:Technology Readiness(?: of)? Level(?: \(TRL\))?|TRL)\s(?P<level>\d)"
    r"(?P<more> or higher)?"
)
_SCOPE_UNITS = frozenset(
    {
        "um",
        "g",
        "ha",
        "t",
        "kW",
        "MW",
        "kV",
        "GT",
        "p.e.",
        "t/day",
        "employee",
        "inhabitant",
        "million inhabitant",
        "m2",
        "Hz",
        "GHz",
    }
)
_SCOPE = re.compile(
    r"\b(?:larger than|capacity|thermal input|rated (?:output|power|voltages?)|plants?|laden mass|take-off mass|"
    r"tonnage|establishments|microplastics|parts|holdings|inhabitants|represent|above|over|between|exceeding|below|"
    r"greater than)\b[^.;]{0,50}\Z"
)
_CONTAINING = re.compile(r"\bthat contain\s[<>]?\s?\Z")


class Lead(NamedTuple):
    """What the words above an item say of its number: "emissions are lower than:".

    ``excludes``: what the items name is not allowed.
    """

    metric: str = ""
    op: Operator | None = None
    excludes: bool = False


class _Bound(NamedTuple):
    start: int
    op: Operator


def lead(text: str, above: Lead) -> Lead:
    """What a lead-in says for the numbers of its items; what it does not say comes from ``above``."""
    text = plain(text).rstrip(" :")
    bound = _bound(f"{text} ", len(text) + 1)
    led = _LED.search(text)
    if bound is None and led:
        bound = _Bound(led.start(), "<=")
    excludes = above.excludes or _EXCLUDED.search(text) is not None
    if bound is None and re.search(r"\b(?:is|are)\Z", text):
        return Lead(_metric(text, 0, len(text)), above.op, excludes)
    return Lead(_metric(text, 0, bound.start), bound.op, excludes) if bound else above._replace(excludes=excludes)


def thresholds(text: str, above: Lead) -> tuple[Threshold, ...]:
    """The thresholds of a criterion's own words, in their order. ``above``: what its lead-ins say."""
    text = plain(text)
    about = condition(text)
    dated = terms(text)
    found: list[tuple[int, Threshold]] = []
    left, before = len(about), ""
    last: tuple[Number, Operator] | None = None
    for each in _bounded(text):
        scope = each.start < len(about)
        op, name = _read(text, each, 0 if scope else left, above, before)
        if op is None and last and last[0].unit == each.unit and _AND_ALSO.fullmatch(text, last[0].end, each.start):
            op = last[1]  # "0,5 % at sea and 0,1 % in control areas"
        left, before = max(left, each.end), name
        if op is not None:
            last = each, op
            when = _when(dated, each.start)
            scope = scope or _is_scope(text, each)
            found.append((each.start, Threshold(name, op, each.value, each.unit, *when, about, scope)))
    found += [*_classes(text, about), *_levels(text, about), *_zeros(text, dated, about)]
    return tuple(threshold for _, threshold in sorted(found, key=lambda each: each[0]))


def _is_scope(text: str, each: Number) -> bool:
    before = text[: each.start]
    return _CONTAINING.search(before) is not None or (each.unit in _SCOPE_UNITS and _SCOPE.search(before) is not None)


def _bounded(text: str) -> list[Number]:
    """The numbers with units, and those without where the words bound them: "does not exceed 675"."""
    strong = [each for each in bare(text) if _bound(text, each.start) and _STRONG.search(text[: each.start])]
    return sorted(each for each in [*numbers(text), *strong] if not _NO_LIMIT.search(text, 0, each.start))


def _bound(text: str, end: int) -> _Bound | None:
    best: _Bound | None = None
    for pattern, op in _BOUNDS:
        found = pattern.search(text, max(0, end - 70), end)
        if found and (best is None or found.start() < best.start):
            best = _Bound(found.start(), op)
    return best


def _read(text: str, each: Number, left: int, above: Lead, before: str) -> tuple[Operator | None, str]:
    """How a number bounds, and what it measures; None for a number that is no bound.

    ``before``: what the number before it measures, which goes on in "more than 5 t and less than 60 t".
    """
    bound = _bound(text, each.start)
    op = bound.op if bound else None
    name = _metric(text, left, bound.start if bound else each.start)
    if _OR_MORE.match(text, each.end):
        op = ">="
    elif _OR_LESS.match(text, each.end):
        op = "<="
    elif _BETWEEN.search(text, 0, each.start):
        op = ">="
    elif _BETWEEN_AND.search(text, max(0, each.start - 30), each.start):
        op, name = "<=", before
    elif op is None and _LIMIT_IS.search(text, max(0, each.start - 100), each.start):
        op = "<="
    if bound and op == "=" and above.op:  # "do not exceed the following values: hot metal = 1,331"
        op = above.op
    if op in (">", ">=") and _is_excluded(text, each, above):
        op = "<="
    if each.unit in ("year", "month", "day") and op in (None, ">", "=") and _AVERAGED.search(text, 0, each.start):
        return None, name  # "averaged over three years"
    if each.unit not in ("year", "month", "day") and bound and re.match(r"within\s", text[bound.start :]):
        op = op if text.startswith("within the top", bound.start) else None
    if each.unit in ("%", "percentage point"):
        return _percentage(text, each, op, name, above)
    if op is None and above.op is not None:
        return above.op, name if name and not re.match(r"(?:for|of)\b", name) else above.metric or name
    return op, name or before or above.metric


def _is_excluded(text: str, each: Number, above: Lead) -> bool:
    """Whether more than the number is what may not be: "does not lead to leakages above 0,5 %"."""
    if _NOT_BY_MORE.search(text, 0, each.start) or _NEGATED.search(text, 0, each.start):
        return True
    sentence = re.split(r"\.\s", text[each.end :], maxsplit=1)[0]
    return above.excludes or _EXCLUDED.search(sentence) is not None


def _percentage(text: str, each: Number, op: Operator | None, name: str, above: Lead) -> tuple[Operator | None, str]:
    relative = _RELATIVE.match(text, each.end)
    if relative:
        return op or ">=", _short(f"{name} {relative[0].strip()}")
    share = _SHARE.match(text, each.end)
    if share and not _REDUCES.search(text[: each.start]):
        word = "rank within" if text[: each.start].rstrip().endswith("within the top") else "share of"
        name = _short(f"{word} {share['of'].strip()}")
    if op is None and _REDUCES.search(text, max(0, each.start - 120), each.start):
        op = ">="
    if op is None and above.op is not None:
        return above.op, above.metric or name
    if op is None and (_FACT.search(text) or each.value == 100):
        op = "=" if each.value == 100 else ">="
    return op, name or above.metric


_CITATION = r" points? | of (?:Regulation|Directive|that)"  # goes on after a comma in what is set aside
_ASIDE = re.compile(
    r",? (?:as )?(?:defined in|set out in|calculated|expressed as|defining|laid down in)\b"
    rf"(?:[^,;:]|,(?={_CITATION}))*?"
    rf"(?=,(?!{_CITATION})|;|:| and where | is | are | does | do | has | have | equals?\b|$),?"
    r"|\([^()]*\)"
)
_VERB_END = re.compile(
    r"(?:^|\s)(?:is|are|has|have|be|do|does|equals?(?: to)?|leads? to|having|that|with|which|of|an?|the|to|by|either|"
    r"in|and|or|its|not|for|using|uses|obtain|at|as|any|emit|than|an average of)\s*\Z",
    re.IGNORECASE,
)
_VERB_START = re.compile(
    r"(?:and|or|but|that|which|where|having|with|have|are|is|an?|the|it|leads? to|by|of|also|only|in|for which)\s+",
    re.IGNORECASE,
)
_CLAUSE = re.compile(
    r"(?:[.;:]\s|\((?=[^)]*\Z)|,\s(?=(?:and|which|that|the|until|from|where|upon)\b)|\b(?:where|if|when|that)\s|"
    r"\b(?:until|from) \d+ \w+ \d{4}(?: (?:until|to) \d+ \w+ \d{4})?,?\s)"
)


def _metric(text: str, left: int, end: int) -> str:
    """What a number measures: the words before its bound at ``end``, back to where the clause begins."""
    before = _ASIDE.sub(" ", text[max(left, end - 400) : end])
    starts = [0, *(match.end() for match in _CLAUSE.finditer(before))]
    while len(starts) > 1 and len(before[starts[-1] :].strip(" ,;:=")) < 4:
        starts.pop()
    name = " ".join(ALTERNATIVE.sub("", before[starts[-1] :]).split()).strip(" ,;:=[]")
    while cut := _VERB_END.search(name):
        name = name[: cut.start()].strip(" ,")
    while cut := _VERB_START.match(name):
        name = name[cut.end() :]
    return _short(name)


def _short(name: str) -> str:
    if len(name) <= _LONGEST:
        return name
    return name[: name.rindex(" ", 0, _LONGEST)] if " " in name[:_LONGEST] else name[:_LONGEST]


def _when(dated: list[tuple[int, Term]], start: int) -> Term:
    """The term stated last before a number, else the only one after it."""
    before = [term for offset, term in dated if offset < start]
    if before:
        return before[-1]
    return dated[0][1] if len(dated) == 1 else Term()


def _classes(text: str, about: str) -> list[tuple[int, Threshold]]:
    """Classes of certificates by rank: at least class A is at most 1."""
    name = "Energy Performance Certificate class"
    return [
        (match.start(), Threshold(name, "<=", float(ord(match[1]) - ord("A") + 1), "class", condition=about))
        for match in _CLASS.finditer(text)
    ]


def _levels(text: str, about: str) -> list[tuple[int, Threshold]]:
    """Technology readiness levels; those in a condition say to what the criterion applies."""
    found = []
    for match in _LEVEL.finditer(text):
        op: Operator = ">=" if match["least"] or match["more"] else "="
        scope = match.start() < len(about) or not match["least"]
        made = Threshold("technology readiness level", op, float(match["level"]), "TRL", condition=about, scope=scope)
        found.append((match.start(), made))
    return found


def _zeros(text: str, dated: list[tuple[int, Term]], about: str) -> list[tuple[int, Threshold]]:
    """Emissions that are to be zero: in g/km where they are the specific emissions of a vehicle."""
    found = []
    for match in _ZERO.finditer(text):
        name = " ".join((match["before"] or match["after"]).split())
        unit = "gCO2/km" if name.lower().startswith("specific") else "gCO2"
        found.append((match.start(), Threshold(name, "=", 0.0, unit, *_when(dated, match.start()), about)))
    return found
