"""The templates of Article 8 in a report: turnover, CapEx and OpEx by activity, aligned (A.1) and not (A.2, B).

What a company calls its tables, and how it draws them, varies; what is told from the words is the section a line
stands in, which lasts over pages until the next. Amounts and shares are told by the heads and cells of their columns,
by the total that is 100 %, or by their order: the amount first (Delegated Regulation (EU) 2021/2178, annex II).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from responsa.quantities.figures import decimal_mark
from responsa.quantities.money import Counted, counted
from responsa.taxonomy.numbers.grid import Cell, Row, is_year, years
from responsa.taxonomy.numbers.kpi_columns import MONEY_HEAD, Columns
from responsa.taxonomy.numbers.kpi_rows import OF_WHICH, Item, items, merged
from responsa.taxonomy.numbers.kpi_words import A1, HEAD, LONG_LABEL, SUBTOTAL, Kpi, Section, kpi_of, section_of

_LEFT_OUT = re.compile(
    r"\bnot (?:to )?(?:report|disclose|publish)\w*(?P<what>[^.;]{0,60})"
    r"|\b(?P<what2>[^.;]{0,60}) (?:is|are|was|were) not (?:reported|disclosed)\b",
    re.IGNORECASE,
)
_PROSE = re.compile(r"[a-z]{3}[.;] |[a-z]{3}\.\Z|\A.{240}", re.DOTALL)  # whose years are not those of a table
_SAMPLE = 400_000  # characters in which the decimal mark is looked for
_HEADER = 40  # items before a template that may be its heads and titles


@dataclass(frozen=True, slots=True)
class Line:
    """An activity's line. ``amount`` counts ``Template.unit``; None where the line gives none. ``share`` in percent.

    ``codes`` as printed: ``CCM 7.7``, or ``7.7`` where no objective is named. ``part``: a part of the line before.
    ``not_stated``: the line says "n/a" and gives neither amount nor share.
    """

    section: Section
    name: str
    codes: tuple[str, ...]
    amount: float | None
    share: float | None
    page: int
    quote: str
    part: bool = False
    passage_id: str = ""
    not_stated: bool = False


@dataclass(frozen=True, slots=True)
class Template:
    """One template. ``year`` is the one asked for where a column of amounts is headed by it, else the latest that the
    heads name, None where they name none.

    ``sums`` holds the lines of A.1, A.2, A (both), B and total, where they are printed. ``flags`` say what does not
    agree.
    """

    kpi: Kpi
    lines: tuple[Line, ...]
    sums: Mapping[Section, Line]
    pages: tuple[int, ...]
    year: int | None = None
    unit: Counted | None = None
    flags: tuple[str, ...] = ()

    @property
    def totals(self) -> dict[Section, tuple[float | None, float | None]]:
        """(amount, share) of each sum."""
        return {section: (line.amount, line.share) for section, line in self.sums.items()}


@dataclass(frozen=True, slots=True)
class AlignedShare:
    """A.1 / (A.1 + A.2) of an activity, in percent. ``aligned`` and ``eligible`` count ``unit``; "%" where only
    shares are printed."""

    kpi: Kpi
    share: float
    aligned: float
    eligible: float
    unit: str
    pages: tuple[int, ...]


@dataclass(slots=True)
class _Open:
    """A template that is being read."""

    header: list[Item]
    section: Section = "A"
    seen: list[tuple[Section, Item]] = field(default_factory=list)
    totals: list[tuple[Section, Item]] = field(default_factory=list)
    marks: Counter[str] = field(default_factory=Counter)
    page: int = 0


def templates(rows: Sequence[Row], names: Mapping[str, str] | None = None, year: int | None = None) -> list[Template]:
    """The templates among the rows of a report, in its order.

    ``names``: activities' names by id, for lines that give a name and no code. ``year``: whose columns are read where
    a table has several years; the latest without it.
    """
    decimal = decimal_mark("\n".join(row.text for row in rows if row.kind != "heading")[:_SAMPLE])
    known = {_plain(name): number for number, name in (names or {}).items()}
    found: list[_Open] = []
    current: _Open | None = None
    before: list[Item] = []
    for item in merged(item for row in rows for item in items(row, decimal)):
        current = _step(item, current, before, found, known)
        before = [*before[-_HEADER + 1 :], item]
    read = [template for each in found if (template := _finished(each, year))]
    whole = _put_together(read)
    return [replace(each, flags=(*each.flags, *_not_reported(each, whole, rows))) for each in whole]


def aligned_shares(found: Iterable[Template], activity: str, year: int | None = None) -> list[AlignedShare]:
    """The aligned share of an activity by each KPI that has a line for it, turnover first.

    ``activity``: ``CCM 7.7``. A line whose code names no objective counts for any. Templates of another ``year`` than
    asked are left out. Where a line has a share and no amount, the shares are added up, else the amounts. An activity
    with nothing has no share, nor has one of whose lines a value is not stated.
    """
    shares: list[AlignedShare] = []
    for template in sorted(found, key=lambda each: ("turnover", "capex", "opex").index(each.kpi)):
        if year is not None and template.year not in (None, year):
            continue
        lines = [line for line in lines_for(template, activity) if not line.part]
        money = any(line.amount for line in lines) and all(line.amount is not None or not line.share for line in lines)
        sums = {
            section: sum((line.amount if money else line.share) or 0.0 for line in lines if line.section == section)
            for section in ("A.1", "A.2")
        }
        eligible = sums["A.1"] + sums["A.2"]
        if eligible > 0 and not any(line.not_stated for line in lines):
            unit = (template.unit.name if template.unit else "") if money else "%"
            pages = tuple(dict.fromkeys(line.page for line in lines))
            shares.append(AlignedShare(template.kpi, 100 * sums["A.1"] / eligible, sums["A.1"], eligible, unit, pages))
    return shares


def lines_for(template: Template, activity: str) -> list[Line]:
    """The lines of a template that are of an activity."""
    number = activity.split()[-1]
    return [line for line in template.lines if activity in line.codes or number in line.codes]


# --- reading --------------------------------------------------------------------------------------------


def _step(
    item: Item, current: _Open | None, before: list[Item], found: list[_Open], known: Mapping[str, str]
) -> _Open | None:
    """Take in a line; the template that is open after it."""
    section = section_of(item.label)
    together = bool(item.codes) and (current is None or not item.placed)
    if (
        section in ("A.1", "A")
        and (together or not item.numbers or A1.match(item.label))
        and _begins(item.label, current)
    ):
        current = _Open(_since(before, item, found))
        found.append(current)
    if current is None or (current.page and item.row.page > current.page + 1):
        return None
    if not current.seen:
        current.header.append(item)
    codes = item.codes or _named(item, known)
    if section:
        current.marks[section] += 1
        is_sum = bool(item.numbers) and not codes and not _only_years(item)
        if is_sum:
            current.totals.append((section, item))
        if section in ("A.1", "A.2", "B") and not (is_sum and section == "A.1" and current.section == "A.2"):
            current.section = section
        current.page = item.row.page
    if codes and current.section in ("A.1", "A.2", "B") and len(item.label) < LONG_LABEL:
        current.seen.append((current.section, replace(item, codes=codes)))
        current.page = item.row.page
    return None if section == "total" and item.numbers else current


def _begins(label: str, current: _Open | None) -> bool:
    """Whether the head of a section begins another template: not where one is open that has not gone past it."""
    if SUBTOTAL.search(label):
        return False
    if current is None:
        return True
    return current.section in ("A.2", "B") or not current.seen


def _only_years(item: Item) -> bool:
    return all(is_year(value.text) for value in item.numbers)


def _since(before: list[Item], item: Item, found: list[_Open]) -> list[Item]:
    """The lines before a template, back to the one before it, on its page."""
    page = item.row.page
    used = {id(each) for _, each in (*found[-1].seen, *found[-1].totals)} if found else set()
    own: list[Item] = []
    for each in reversed(before):
        if id(each) in used or each.row.page != page:
            break
        own.insert(0, each)
    return own


def _named(item: Item, known: Mapping[str, str]) -> tuple[str, ...]:
    """The code of the activity that a line names in full."""
    if not known or not item.values or not item.label:
        return ()
    code = known.get(_plain(item.label))
    return (code,) if code else ()


def _plain(name: str) -> str:
    return " ".join(re.findall(r"[a-zäöüß]+", name.lower()))


# --- a template read ------------------------------------------------------------------------------------


def _finished(read: _Open, asked: int | None) -> Template | None:
    """The template; None where lines or sections are missing, as in a text about templates."""
    told = [item for _, item in (*read.seen, *read.totals)]
    if len(set(read.marks) - {"total"}) < 2 or sum(bool(item.numbers) for item in told) < 2:
        return None
    header = " ".join(f"{item.row.title} {_quote(item)}" for item in read.header)
    heads = " ".join(value.head for item in told for value in item.values)
    kpi = kpi_of(" ".join(item.label for _, item in read.totals)) or kpi_of(f"{header} {heads}")
    if kpi is None:
        return None
    named = years(heads) or years(" ".join(_quote(each) for each in read.header if not _is_prose(each)))
    of_amounts = years(" ".join(value.head for item in told for value in item.values if MONEY_HEAD.search(value.head)))
    year = asked if asked in {each.year for each in of_amounts} else max((each.year for each in named), default=None)
    columns = Columns(told, [item for each, item in read.totals if each == "total"], year, _unit(heads, read.header))
    lines = tuple(_line(section, item, columns) for section, item in read.seen)
    sums: dict[Section, Line] = {}
    for section, item in read.totals:
        sums.setdefault(section, _line(section, item, columns))
    pages = tuple(sorted({item.row.page for item in told}))
    return Template(
        kpi,
        lines,
        sums,
        pages,
        year,
        columns.unit,
        tuple(_flags(lines, sums)),
    )


def _put_together(read: Sequence[Template]) -> list[Template]:
    """Templates whose next page began with the head of section A again, as one."""
    whole: list[Template] = []
    for each in read:
        last = whole[-1] if whole else None
        ended = last is None or "B" in last.sums or "total" in last.sums
        if last is None or ended or last.kpi != each.kpi or each.pages[0] > last.pages[-1] + 1 or "A.1" in each.sums:
            whole.append(each)
            continue
        pages = tuple(dict.fromkeys((*last.pages, *each.pages)))
        lines = (*last.lines, *each.lines)
        sums = {**last.sums, **each.sums}
        whole[-1] = replace(last, lines=lines, sums=sums, pages=pages, flags=tuple(_flags(lines, sums)))
    return whole


def _unit(heads: str, header: Sequence[Item]) -> Counted | None:
    """What the amounts count: by the heads of their columns, else by what stands over the table."""
    columns: list[Cell] = []
    titles = [item.row.text for item in header if len(item.row.cells) < 2]
    for cell in (cell for item in header if len(item.row.cells) > 1 for cell in item.row.cells):
        over = [index for index, each in enumerate(columns) if each.x0 <= cell.x1 and each.x1 >= cell.x0]
        if over:
            least = min(over, key=lambda index: columns[index].x1 - columns[index].x0)
            columns[least] = columns[least]._replace(text=f"{columns[least].text} {cell.text}")
        else:
            columns.append(cell)
    found = [each for text in (heads, *(cell.text for cell in columns), *titles) if (each := counted(text))]
    return next((each for each in found if each.factor > 1), found[0] if found else None)


def _not_reported(template: Template, read: Sequence[Template], rows: Sequence[Row]) -> Iterable[str]:
    """A table headed by a KPI that the company says it leaves out, while another KPI has no table."""
    if len({each.kpi for each in read}) > 2:
        return
    for row in rows:
        for match in _LEFT_OUT.finditer(row.text) if row.kind == "text" else ():
            if kpi_of(match["what"] or match["what2"] or "") == template.kpi:
                yield f"is headed {template.kpi}, but page {row.page} says that this is not reported"
                return


def _line(section: Section, item: Item, columns: Columns) -> Line:
    amount, share = columns.of(item)
    name = re.sub(r"\s{2,}", " ", HEAD.sub("", item.label) if section_of(item.label) else item.label).strip(" .|")
    return Line(
        section, name, item.codes, amount, share, item.row.page, _quote(item),
        bool(OF_WHICH.match(item.label)), item.row.passage_id,
        amount is None and share is None and any(value.is_not_stated for value in item.values),
    )  # fmt: skip


def _is_prose(item: Item) -> bool:
    return not item.placed and bool(_PROSE.search(item.row.text)) and not A1.search(item.row.text)


def _quote(item: Item) -> str:
    if item.placed:
        return item.row.text
    return " ".join([item.label, *(value.text for value in item.values)])


def _flags(lines: Sequence[Line], sums: Mapping[Section, Line]) -> Iterable[str]:
    """Sums that are not those of their lines, and shares that are not those of the total, beyond rounding."""
    whole = sums["total"].amount if "total" in sums else None
    for line in lines:
        if whole and line.amount is not None and line.share is not None:
            share = 100 * line.amount / whole
            if abs(share - line.share) > 1 + 50 / abs(whole):
                yield f"{line.name}: {line.amount:.12g} is {share:.1f} % of the total, printed is {line.share:.12g} %"
    for section in ("A.1", "A.2"):
        printed = sums[section].amount if section in sums else None
        own = [line.amount for line in lines if line.section == section and not line.part and line.amount is not None]
        if printed is not None and own and abs(sum(own) - printed) > max(0.51 * len(own), 0.005 * abs(printed)):
            yield f"the lines of {section} add up to {sum(own):.12g}, its sum is printed as {printed:.12g}"
