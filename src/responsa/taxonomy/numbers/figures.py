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
from responsa.quantities.figures import Mark, Stated, decimal_mark, stated
from responsa.quantities.measures import Measure, filling, measures, normalised
from responsa.quantities.money import IN_THOUSANDS, SCALE_WORDS, counted, scale_factor
from responsa.quantities.units import Unit, unit_at
from responsa.taxonomy.numbers.grid import Cell, Row, rows_of
from responsa.taxonomy.numbers.kpi import Template
from responsa.taxonomy.numbers.kpi_words import Kpi, Section
from responsa.taxonomy.numbers.roles import told
from responsa.taxonomy.values import Figure, Role
from responsa.text import sentences, tidy
from responsa.types import Passage

_SOFT = re.compile("[\u00ad\u200b\u200e\u2060]")
_UNIT_PLACES = re.compile(r"\A|(?<=[(\[])|(?<=\bin\s)|(?<=,\s)|(?<=\s)(?=%)|(?<=[:|]\s)")
_UNIT_ENDS = re.compile(r"\s?(?:\Z|[)\],;:]|\d?\Z|\s(?:p\.|per|in|of)\b)")
_SCALE = re.compile(rf"(?P<s>{SCALE_WORDS}|k|1[,. ]?000(?=\s))\s?(?:of\s)?(?=[A-Za-z])", re.IGNORECASE)
_COUNTED = re.compile(
    r"(?:#\s?(?:of\s)?|\bnumber of |\bno\. of |\banzahl (?:der )?)(?P<noun>[^()\[\]|,;:]{3,60})", re.IGNORECASE
)
_YEAR_ONLY = re.compile(r"(?:FY\s?|fiscal\s)?(?:19|20)\d\d(?:[/–-]\d\d)?|FY\s?['’]?\d\d(?:[/–-]\d\d)?")
_WORD = re.compile(r"[^\W\d_]{2,}")
_THOUSANDS = re.compile(r"(?:1[,. ]?)?000\s")
_PER = re.compile(r"(?:\bper\s|/\s?)([\w€]+)")
_HEADS_UNITS = re.compile(r"\bunits?\b|\beinheit", re.IGNORECASE)
_AFTER_UNIT = re.compile(r"\s?(?:p\.\s?a\.?|per annum|per year|a year)?\W*\Z", re.IGNORECASE)
_NUMBER_OF = re.compile(r"(?:no\.?|number|#|anzahl)(?: \([^()]*\)?)?", re.IGNORECASE)
_CHANGE = re.compile(r"\+\s?/\s?[-–−]|\bchange|\bvarian|\bdelta\b|Δ|Veränderung", re.IGNORECASE)
_NUMERIC = re.compile(r"\d|\bper\s?cent\b", re.IGNORECASE)
_CUT_SHORT = re.compile(r"\b(?:(?:mio|mrd|tsd|vj)|(?P<about>max|min|ca|approx))\.\s*\Z", re.IGNORECASE)
_AMOUNT = re.compile(r"\s*(?:[<>≤≥~]\s?)?(?:[€$£\d]|(?:EUR|USD|GBP|CHF)\b)")
_STATED_IN = re.compile(
    r"(?:\A|[(\[|;:–]\s?|\b(?:angaben|beträge|werte|zahlen|figures|amounts|values|data|numbers|stated|expressed|"
    r"reported)\s)\Z",
    re.IGNORECASE,
)
_SAMPLE = 400_000  # characters in which the decimal mark is looked for
_LONG_UNIT = 70  # characters at most of a cell that is a unit
_LONG_HEAD = 40  # characters: a longer head is a text of its own
_POINT = re.compile(r"(?<=\s)[>•▪·→✓](?=\s(?:[^\d\s]|(?:19|20)\d\d\s[a-z]))")
_Named = tuple[str, float, str]
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
    rows = [(line.section, line.name, line) for line in template.lines]
    rows += [(section, f"sum of {section}", line) for section, line in template.sums.items()]
    for section, name, line in rows:
        said = {"A.1": "aligned", "A.2": "eligible, not aligned", "A": "eligible", "B": "not eligible"}.get(
            section, "total"
        )
        figure = Figure(
            0.0, "", line.quote, line.page, f"{template.kpi}, {said}: {name}", template.year or year,
            role if section != "A.2" or role != "supports" else "contradicts",
            (template.kpi, section),
        )  # fmt: skip
        if line.amount is not None:
            unit = template.unit
            value = normalised(line.amount, Unit("", float(unit.factor))) if unit else line.amount
            code, printed_unit = (unit.code, unit.name) if unit else ("", "")
            yield replace(figure, value=value, unit=code, printed=line.amount, printed_unit=printed_unit)
        if line.share is not None:
            yield replace(figure, value=line.share, unit="%", printed=line.share, printed_unit="%")


def template_line(figure: Figure) -> tuple[str, str] | None:
    """The KPI and the section of the line of a template that a figure is of: ("capex", "A.2"). None for any other."""
    kpi, section = (*figure.header, "", "")[:2]
    return (kpi, section) if kpi in get_args(Kpi) and section in get_args(Section) else None


def row_figures(row: Row, year: int, decimal: Mark = ".") -> Iterator[Figure]:
    """The figures of one row: of each of its cells, or of its text. ``decimal``: the mark of the document."""
    if row.kind in ("text", "heading", "caption"):
        titled = row.kind != "text"
        yield from _prose(row.page, _SOFT.sub("", row.text), year, "", row.title, decimal, titled)
        return
    label = next((cell.text for cell in row.cells if not _is_value(cell.text, decimal)), "")
    beside = [cell for cell in row.cells if _YEAR_ONLY.fullmatch(cell.text)]
    own = next((unit for cell in row.cells if (unit := _unit_cell(cell, label))), None)
    for cell in row.cells:
        number = None if _YEAR_ONLY.fullmatch(cell.text) and not cell.head else stated(cell.text, decimal)
        heads = " | ".join(filter(None, (cell.head, *(each.text for each in beside if each is not cell))))
        if number is not None:
            measure = _counted(number, _unit_of(cell, row, label, own, number.percent))
        elif _unit_cell(cell, label) or (row.is_head and len(cell.text) <= _LONG_HEAD):
            continue
        else:
            measure = filling(cell.text, decimal)
            if (measure and not label) or (not measure and _WORD.search(cell.text)):
                yield from _prose(row.page, _SOFT.sub("", cell.text), year, heads, row.title, decimal, row.is_head)
                continue
        if measure and not (cell.text == label and len(row.cells) == 1):
            yield _cell_figure(measure, cell, row, label, heads, year, decimal)


def _counted(number: Stated, unit: _Named | None) -> Measure | None:
    """A number of a table in its unit; None for a dash, and where no unit is known."""
    if unit is None or number.nothing:
        return None
    name, factor, printed_unit = unit
    value = float(number.value)
    return Measure(0, 0, normalised(value, Unit(name, factor)), name, value, printed_unit)


def _is_value(text: str, decimal: Mark) -> bool:
    return stated(text, decimal) is not None or filling(text, decimal) is not None


def _cell_figure(measure: Measure, cell: Cell, row: Row, label: str, heads: str, year: int, decimal: Mark) -> Figure:
    words = f"{label} | {heads} | "
    said = told(words, len(words), len(words), year, heads, row.title)
    if said.role == "supports" and (_CHANGE.search(cell.head) or _unheaded(row, cell, decimal)):
        said = said._replace(role="context")
    return Figure(
        measure.value, measure.unit, tidy(row.text)[:400], row.page, tidy(f"{row.title}: {label}")[:_METRIC],
        said.year, said.role, tuple(filter(None, (label, cell.head))), measure.printed, measure.printed_unit,
        measure.bound,
    )  # fmt: skip


def _unheaded(row: Row, cell: Cell, decimal: Mark) -> bool:
    """Whether a row has several numbers of one kind that nothing tells apart."""
    alike = [each for each in row.cells if _is_value(each.text, decimal) and each.head == cell.head]
    return len(alike) > 1 and not _YEAR_ONLY.search(cell.head)


# --- text -----------------------------------------------------------------------------------------------


def _prose(
    page: int, text: str, year: int, heads: str, title: str, decimal: Mark, titled: bool = False
) -> Iterator[Figure]:
    """The figures of running text. ``titled``: of a caption or a heading, where "in 1,000 €" is no amount."""
    for start, end in _sentences(text):
        sentence = text[start:end]
        if not _NUMERIC.search(sentence):
            continue
        found = [each for each in measures(sentence, decimal) if not _is_scale(sentence, each, titled)]
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


def _is_scale(text: str, each: Measure, titled: bool) -> bool:
    """Whether a number only says what others count: "(in 1,000 t)", "amounts in EUR 1,000", any such in a title."""
    return any(
        match.start() <= each.start < match.end()
        and (titled or _STATED_IN.search(text, max(0, match.start() - 12), match.start()))
        for match in IN_THOUSANDS.finditer(text)
    )


def _sentences(text: str) -> list[tuple[int, int]]:
    """Sentences, and the points of a list that a reader put into one line. "Mio." and "max." end none."""
    whole: list[tuple[int, int]] = []
    for start, end in sentences(text):
        short = _CUT_SHORT.search(text, whole[-1][0], whole[-1][1]) if whole else None
        if short and (not short["about"] or _AMOUNT.match(text, start)):
            start = whole.pop()[0]
        whole.append((start, end))
    found: list[tuple[int, int]] = []
    for start, end in whole:
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
        found = _scaled_unit_at(label, gap.end())
        if found and found[0].name != "year" and _AFTER_UNIT.match(label, found[1]):
            return *found[0], tidy(label[gap.end() : found[1]])
    return None


def _scaled_unit_at(text: str, start: int) -> tuple[Unit, int] | None:
    """The unit that stands at ``start``, after a scale ("million m³", "1,000 t") or alone ("km", no thousand m)."""
    found = unit_at(text, start)
    scale = None if found else _SCALE.match(text, start)
    found = unit_at(text, scale.end()) if scale else found
    if found is None or scale is None:
        return found
    return Unit(found[0].name, found[0].factor * scale_factor(scale["s"])), found[1]


def _unit_cell(cell: Cell, label: str) -> _Named | None:
    """What a cell that holds nothing but a unit says; "1,000 metric tons" counts thousands, "No." what is labelled."""
    plain = cell.text.strip().strip("()[]")
    if _NUMBER_OF.fullmatch(plain) and label != cell.text and _WORD.search(label):
        return tidy(label).lower(), 1.0, tidy(label)
    thousands = _THOUSANDS.match(plain)
    bare = plain[thousands.end() :] if thousands else plain
    if not bare or bare[0].isdigit() or len(plain) > _LONG_UNIT:
        return None
    found = _scaled_unit_at(bare, 0)
    if found:
        ends = len(bare.rstrip(" .*")) <= found[1] + 1 or bare[found[1] :].startswith(" of ")
        if ends or _HEADS_UNITS.search(cell.head):
            below = _PER.search(bare, found[1])  # "t CO2e emissions per million of revenue"
            return (
                found[0].name + (f"/{below[1].lower()}" if below else ""),
                found[0].factor * (1e3 if thousands else 1.0),
                plain,
            )
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
        found = _scaled_unit_at(head, place.start())
        if found and _UNIT_ENDS.match(head, found[1]) and found[0].name != "year":
            return *found[0], tidy(head[place.start() : found[1]])
    return None
