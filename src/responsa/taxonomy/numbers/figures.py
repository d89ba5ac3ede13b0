"""The figures of a report: numbers with units in its text and in its tables, with what they measure and their year.

A cell of a table has its unit from itself, its row, the head of its column or the title of the table. A number
for which none of them names a unit is no figure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import get_args

from responsa.quantities.counts import counts
from responsa.quantities.figures import Mark, decimal_mark, stated
from responsa.quantities.measures import Measure, measures, normalised
from responsa.quantities.money import counted
from responsa.quantities.units import Unit, unit_at
from responsa.taxonomy.numbers.grid import Cell, Row, rows_of
from responsa.taxonomy.numbers.kpi import Kpi, Section, Template
from responsa.taxonomy.numbers.roles import told
from responsa.taxonomy.values import Figure, Role
from responsa.text import sentences, tidy
from responsa.types import Passage

_SOFT = re.compile("[\u00ad\u200b\u200e\u2060]")
_UNIT_PLACES = re.compile(r"\A|(?<=[(\[])|(?<=\bin\s)|(?<=,\s)|(?<=\s)(?=%)|(?<=[:|]\s)")
_UNIT_ENDS = re.compile(r"\s?(?:\Z|[)\],;:]|\d?\Z|\s(?:p\.|per|in|of)\b)")
_SCALE = re.compile(
    r"(?P<s>thousands?|millions?|billions?|mn|mio\.?|mrd\.?|bn|k)\s?(?:of\s)?(?=[A-Za-z])", re.IGNORECASE
)
_FACTORS = {"t": 1e3, "k": 1e3, "m": 1e6, "b": 1e9}
_COUNTED = re.compile(
    r"(?:#\s?(?:of\s)?|\bnumber of |\bno\. of |\banzahl (?:der )?)(?P<noun>[^()\[\]|,;:]{3,60})", re.IGNORECASE
)
_YEAR_ONLY = re.compile(r"(?:FY\s?|fiscal\s)?(?:19|20)\d\d(?:[/–-]\d\d)?")
_WORD = re.compile(r"[^\W\d_]{2,}")
_THOUSANDS = re.compile(r"(?:1[,. ]?)?000\s")
_PER = re.compile(r"(?:\bper\s|/\s?)([\w€]+)")
_HEADS_UNITS = re.compile(r"\bunits?\b|\beinheit", re.IGNORECASE)
_AFTER_UNIT = re.compile(r"\s?(?:p\.\s?a\.?|per annum|per year|a year)?\W*\Z", re.IGNORECASE)
_NUMBER_OF = re.compile(r"(?:no\.?|number|#|anzahl)(?: \([^()]*\)?)?", re.IGNORECASE)
_CHANGE = re.compile(r"\+\s?/\s?[-–−]|\bchange|\bvarian|\bdelta\b|Δ|Veränderung", re.IGNORECASE)
_NUMERIC = re.compile(r"\d|\bper\s?cent\b", re.IGNORECASE)
_SAMPLE = 400_000  # characters in which the decimal mark is looked for
_LONG_UNIT = 70  # characters at most of a cell that is a unit
_LONG_HEAD = 40  # characters: a longer head is a text of its own
_POINT = re.compile(r"(?<=\s)[>•▪·→✓](?=\s(?:[^\d\s]|(?:19|20)\d\d\s[a-z]))")
_METRIC = 240  # characters of the words about a figure


def figures(passages: Sequence[Passage], year: int, templates: Iterable[Template] = ()) -> list[Figure]:
    """The figures of a report's passages, in reading order, then those of its KPI ``templates``.

    ``year``: the financial year of the report. A passage that holds a template gives the template's figures only.
    """
    templates = list(templates)
    told_apart = {line.passage_id for template in templates for line in template.lines} - {""}
    rows = rows_of(passages)
    decimal = decimal_mark("\n".join(row.text for row in rows)[:_SAMPLE])
    shown = (row for row in rows if row.passage_id not in told_apart)
    return [
        *(each for row in shown for each in row_figures(row, year, decimal)),
        *(each for template in templates for each in kpi_figures(template, year)),
    ]


def text_figures(page: int, text: str, year: int, heads: str = "", title: str = "") -> Iterator[Figure]:
    """The figures of running text. ``heads``: what stands beside and over it, where it is a cell of a table."""
    yield from _prose(page, _SOFT.sub("", text), year, heads, title, decimal_mark(text))


def kpi_figures(template: Template, year: int) -> Iterator[Figure]:
    """The amounts and shares of a template's lines and sums."""
    role: Role = "supports" if template.year in (None, year) else "trap_other_year"
    rows = [(line.section, line.name, line.amount, line.share, line.page, line.quote) for line in template.lines]
    rows += [(section, f"sum of {section}", *pair, template.pages[-1], "") for section, pair in template.totals.items()]
    for section, name, amount, share, page, quote in rows:
        said = {"A.1": "aligned", "A.2": "eligible, not aligned", "A": "eligible", "B": "not eligible"}.get(
            section, "total"
        )
        figure = Figure(
            0.0, "", quote, page, f"{template.kpi}, {said}: {name}", template.year or year,
            role if section != "A.2" or role != "supports" else "contradicts",
            (template.kpi, section),
        )  # fmt: skip
        if amount is not None:
            unit = template.unit
            value = normalised(amount, Unit("", float(unit.factor))) if unit else amount
            name_of = unit.name if unit else ""
            yield replace(figure, value=value, unit=unit.code if unit else "", printed=amount, printed_unit=name_of)
        if share is not None:
            yield replace(figure, value=share, unit="%", printed=share, printed_unit="%")


def template_line(figure: Figure) -> tuple[str, str] | None:
    """The KPI and the section of the line of a template that a figure is of: ("capex", "A.2"). None for any other."""
    kpi, section = (*figure.header, "", "")[:2]
    return (kpi, section) if kpi in get_args(Kpi) and section in get_args(Section) else None


def row_figures(row: Row, year: int, decimal: Mark = ".") -> Iterator[Figure]:
    """The figures of one row: of each of its cells, or of its text. ``decimal``: the mark of the document."""
    if row.kind in ("text", "heading", "caption"):
        yield from _prose(row.page, _SOFT.sub("", row.text), year, "", row.title, decimal)
        return
    label = next((cell.text for cell in row.cells if not stated(cell.text, decimal)), "")
    beside = [cell for cell in row.cells if _YEAR_ONLY.fullmatch(cell.text)]
    own = next((unit for cell in row.cells if (unit := _unit_cell(cell, label))), None)
    for cell in row.cells:
        number = None if _YEAR_ONLY.fullmatch(cell.text) and not cell.head else stated(cell.text, decimal)
        heads = " | ".join(filter(None, (cell.head, *(each.text for each in beside if each is not cell))))
        if number is None:
            if (
                _WORD.search(cell.text)
                and not _unit_cell(cell, label)
                and (not row.is_head or len(cell.text) > _LONG_HEAD)
            ):
                yield from _prose(row.page, _SOFT.sub("", cell.text), year, heads, row.title, decimal)
            continue
        unit = _unit_of(cell, row, label, own, number.percent)
        if unit is None or number.nothing or (cell.text == label and len(row.cells) == 1):
            continue
        name, factor, printed_unit = unit
        value = float(number.value)
        words = f"{label} | {heads} | "
        said = told(words, len(words), len(words), year, heads, row.title)
        if said.role == "supports" and (_CHANGE.search(cell.head) or _unheaded(row, cell, decimal)):
            said = said._replace(role="context")
        yield Figure(
            normalised(value, Unit(name, factor)), name, tidy(row.text)[:400], row.page,
            tidy(f"{row.title}: {label}")[:_METRIC],
            said.year, said.role, tuple(filter(None, (label, cell.head))), value, printed_unit,
        )  # fmt: skip


def _unheaded(row: Row, cell: Cell, decimal: Mark) -> bool:
    """Whether a row has several numbers of one kind that nothing tells apart."""
    alike = [each for each in row.cells if stated(each.text, decimal) and each.head == cell.head]
    return len(alike) > 1 and not _YEAR_ONLY.search(cell.head)


# --- text -----------------------------------------------------------------------------------------------


def _prose(page: int, text: str, year: int, heads: str, title: str, decimal: Mark) -> Iterator[Figure]:
    for start, end in _sentences(text):
        sentence = text[start:end]
        if not _NUMERIC.search(sentence):
            continue
        found = list(measures(sentence, decimal))
        taken = [(each.start, each.end) for each in found]
        found += [
            each
            for each in counts(sentence, decimal)
            if not any(a < each.end and each.start < b for a, b in taken if a <= each.start < b)
        ]
        for each in sorted(found, key=lambda one: one.start):
            said = told(sentence, each.start, each.end, year, heads, title)
            yield Figure(
                each.value, each.unit, tidy(sentence)[:400], page, _about(sentence, each), said.year, said.role,
                (heads,) if heads else (), each.printed, each.printed_unit, each.bound,
            )  # fmt: skip


def _sentences(text: str) -> list[tuple[int, int]]:
    """Sentences, and the points of a list that a reader put into one line."""
    found: list[tuple[int, int]] = []
    for start, end in sentences(text):
        cuts = [
            start,
            *(match.start() for match in _POINT.finditer(text[start:end])),
            end,
        ]
        cuts = [start, *(start + cut for cut in cuts[1:-1]), end]
        found += [(a, b) for a, b in pairwise(cuts) if b > a]
    return found


def _about(sentence: str, each: Measure) -> str:
    """The words around a number: its sentence, cut where it is long."""
    if len(sentence) <= _METRIC:
        return tidy(sentence)
    first = max(0, min(each.start - _METRIC // 2, len(sentence) - _METRIC))
    return tidy(sentence[first : first + _METRIC])


# --- cells ----------------------------------------------------------------------------------------------

_Named = tuple[str, float, str]


def _unit_of(cell: Cell, row: Row, label: str, own: _Named | None, percent: bool) -> _Named | None:
    """(normal unit, factor, unit as printed) of the number in a cell."""
    if percent:
        return "%", 1.0, "%"
    over_label = next((each.head for each in row.cells if each.text == label), "")
    for text in (cell.head, "" if own else label, over_label):
        found = unit_in(text)
        if found:
            return found
    if own is None and _HEADS_UNITS.search(over_label):
        own = _unit_behind(label)
    return own or unit_in(row.title)


def _unit_behind(label: str) -> _Named | None:
    """The unit that ends a label, where one column holds both: "Primary energy demand kWh/m2 p. a."."""
    for gap in re.finditer(r"\s", label):
        scale = _SCALE.match(label, gap.end())
        found = unit_at(label, scale.end() if scale else gap.end())
        if found and found[0].name != "year" and _AFTER_UNIT.match(label, found[1]):
            factor = _FACTORS[scale["s"][0].lower()] if scale else 1.0
            return found[0].name, found[0].factor * factor, tidy(label[gap.end() : found[1]])
    return None


def _unit_cell(cell: Cell, label: str) -> _Named | None:
    """What a cell that holds nothing but a unit says; "1,000 metric tons" counts thousands, "No." what is labelled."""
    plain = cell.text.strip().strip("()[]")
    if _NUMBER_OF.fullmatch(plain) and label != cell.text and _WORD.search(label):
        return tidy(label).lower(), 1.0, tidy(label)
    thousands = _THOUSANDS.match(plain)
    bare = plain[thousands.end() :] if thousands else plain
    if not bare or bare[0].isdigit() or len(plain) > _LONG_UNIT:
        return None
    scale = _SCALE.match(bare)
    factor = (1e3 if thousands else 1.0) * (_FACTORS[scale["s"][0].lower()] if scale else 1.0)
    found = unit_at(bare, scale.end() if scale else 0)
    if found:
        ends = len(bare.rstrip(" .*")) <= found[1] + 1 or bare[found[1] :].startswith(" of ")
        if ends or _HEADS_UNITS.search(cell.head):
            below = _PER.search(bare, found[1])  # "t CO2e emissions per million of revenue"
            return found[0].name + (f"/{below[1].lower()}" if below else ""), found[0].factor * factor, plain
    money = counted(bare) if len(plain) < 20 else None
    return (money.code, money.factor * (1e3 if thousands else 1.0), money.name) if money else None


def unit_in(head: str) -> _Named | None:
    """The unit that a head, a label or a title names: "in € million", "Weight (metric tonnes)", "# of plants"."""
    count = _COUNTED.search(head)
    if count:
        noun = tidy(count["noun"]).lower()
        return noun, 1.0, noun
    money = counted(head)
    if money and (money.factor > 1 or "%" not in head):
        return money.code, float(money.factor), money.name
    for place in _UNIT_PLACES.finditer(head):
        scale = _SCALE.match(head, place.start())
        at = scale.end() if scale else place.start()
        found = unit_at(head, at)
        if found and _UNIT_ENDS.match(head, found[1]) and found[0].name != "year":
            factor = _FACTORS[scale["s"][0].lower()] if scale else 1.0
            return found[0].name, found[0].factor * factor, tidy(head[place.start() : found[1]])
    return None
