"""Which columns of a KPI template are the amount and the share: by their heads, their cells, the total, their order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile

from responsa.quantities.money import Counted
from responsa.taxonomy.numbers.kpi_rows import Item, Value
from responsa.taxonomy.numbers.roles import years_meant

MONEY_HEAD = re.compile(
    r"€|\b(?:EUR|USD|GBP|CHF|T€|mio|millions?|thousands?|absolute?|betrag|amount)\b|[kmT](?:€|EUR)", re.IGNORECASE
)
_SHARE_HEAD = re.compile(r"%|proportion|\bshare\b|anteil|percent", re.IGNORECASE)
_ROUNDED = 0.005
_Pair = tuple[Value | None, Value | None]


class Columns:
    """The amounts and shares of a template's lines. Columns of other years than ``year``, the template's, are neither.

    ``unit``: what the heads say that amounts count. Afterwards what `of` gives them in, which the cells may say.
    """

    def __init__(
        self, lines: Sequence[Item], totals: Sequence[Item], year: int | None = None, unit: Counted | None = None
    ) -> None:
        own = [value.unit for item in lines for value in item.values if value.unit]
        self._scaled = unit is not None and unit.factor > 1
        scaled = next((each for each in own if each.factor > 1), None)
        self.unit = unit if self._scaled else scaled or unit or next(iter(own), None)
        self._groups: dict[tuple[int, int], _Pair] = {}
        by_table: dict[tuple[int, int], list[Item]] = {}
        loose = [len(_stated_first(item)) for item in lines if not item.placed]
        self._usual = 2 if sum(count >= 2 for count in loose) * 2 > len(loose) else 1
        for item in lines:
            if item.placed:
                by_table.setdefault(_group(item), []).append(item)
        for key, each in by_table.items():
            self._groups[key] = _told(each, [item for item in totals if _group(item) == key], year)
        self._times = 100 if self._are_ratios(lines, totals) else 1

    def of(self, item: Item) -> tuple[float | None, float | None]:
        """The amount and the share of a line, the share in percent."""
        amount, share = self._values(item)
        return self._amount(amount), _float(share, self._times)

    def _values(self, item: Item) -> _Pair:
        if item.placed:
            amount, share = self._groups[_group(item)]
            return _in_column(item, amount), _in_column(item, share)
        first = _stated_first(item)
        if first and _is_percent(first[0]):
            return None, first[0]
        if len(first) < self._usual:
            return None, None  # which column a lone number stands in cannot be told
        return first[0] if first else None, first[1] if len(first) > 1 else None

    def _amount(self, value: Value | None) -> float | None:
        if value is None or value.number is None or value.number.percent:
            return None
        own = value.unit
        if own is None or self.unit is None or own.code != self.unit.code or (own.factor == 1 and self._scaled):
            return _float(value)  # "€1,250" below "EUR million" counts millions
        return float(value.number.value * own.factor / self.unit.factor)

    def _are_ratios(self, lines: Sequence[Item], totals: Sequence[Item]) -> bool:
        """Whether shares are printed as parts of one: the total's is 1, and no per cent sign is printed."""
        whole = [share for item in totals if (share := _float(self._values(item)[1])) is not None]
        shares = [each for item in lines if (each := self._values(item)[1])]
        printed = any("%" in f"{each.text} {each.head}" for each in shares)
        return bool(whole) and all(abs(each - 1) < _ROUNDED for each in whole) and not printed


def _told(lines: Sequence[Item], totals: Sequence[Item], year: int | None) -> _Pair:
    """The columns of the amounts and of the shares of one table, each as its first value."""
    columns: list[Value] = []
    for value in sorted((value for item in lines for value in item.numbers), key=lambda each: each.x0):
        if not columns or not _same(columns[-1], value):
            columns.append(value)
    columns = [each for each in columns if _is_of(each.head, year)] or columns
    percents = [each for each in columns if _share_of_percent(each, lines) > 0.5]
    priced = [value for item in lines for value in item.numbers if value.unit]
    money = [
        each
        for each in columns
        if each not in percents and (MONEY_HEAD.search(each.head) or any(_same(each, value) for value in priced))
    ]
    shares = [each for each in columns if (each in percents or _SHARE_HEAD.search(each.head)) and each not in money[:1]]
    if money and shares:
        return money[0], shares[0]
    if percents:
        before = columns[: columns.index(percents[0])]
        return next(iter((*money, *before)), None), percents[0]
    if len(columns) > 1:
        first, second = columns[:2]
        if second in money and first not in money:
            return second, first
        for item in totals:
            values = [value for value in item.numbers if _same(value, first) or _same(value, second)]
            if len(values) == 2 and values[0].number and values[0].number.value == 100 and values[1].text != "100":
                return second, first
        return first, second
    return (columns[0], None) if columns else (None, None)


def _share_of_percent(column: Value, lines: Iterable[Item]) -> float:
    """Of how many of the numbers in a column a per cent sign says that they are shares, 0 to 1."""
    own = [each for item in lines for each in item.numbers if _same(each, column) and not _is_nothing(each)]
    return sum(map(_is_percent, own)) / len(own) if own else 0.0


def _stated_first(item: Item) -> list[Value]:
    return list(takewhile(lambda value: value.number is not None, item.values))


def _group(item: Item) -> tuple[int, int]:
    return item.row.page, item.row.table


def _in_column(item: Item, column: Value | None) -> Value | None:
    return next((value for value in item.numbers if column is not None and _same(value, column)), None)


def _is_of(head: str, year: int | None) -> bool:
    """Whether the head of a column names the year, or none."""
    named = [each for _, _, each in years_meant(head, year or 0)]
    return not named or (year or 0) in named


def _is_percent(value: Value) -> bool:
    return value.number is not None and value.number.percent


def _is_nothing(value: Value) -> bool:
    return value.number is not None and value.number.nothing


def _float(value: Value | None, times: int = 1) -> float | None:
    """None where there is no number: "n/a" is none, a dash is 0."""
    if value is None or value.number is None or value.is_not_stated:
        return None
    return float(value.number.value * times)


def _same(one: Value, other: Value) -> bool:
    """Whether two values stand in one column."""
    return min(one.x1, other.x1) >= max(one.x0, other.x0) or abs(one.x1 - other.x1) < 0.5
