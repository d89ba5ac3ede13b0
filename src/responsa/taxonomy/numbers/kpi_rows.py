"""The lines of a KPI template as they are read: a label with codes, and the values behind it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from responsa.quantities.figures import Mark, Stated, stated
from responsa.taxonomy.numbers.grid import Row
from responsa.taxonomy.numbers.roles import years_meant

OBJECTIVES = "CCM|CCA|WTR|WMR|CE|PPC|BIO"
_CODE = re.compile(
    rf"\(?\b(?P<o>{OBJECTIVES})\)?(?:\s?/\s?(?P<o2>{OBJECTIVES}))?[\s:_–-]{{0,3}}(?P<n>\d{{1,2}}\.\d{{1,2}})(?!\d)\.?"
    rf"|(?<![\d.,])(?P<n2>\d{{1,2}}\.\d{{1,2}})\.?\s?\(?(?P<o3>{OBJECTIVES})\)?(?![\w/])"
)
_LEADING = re.compile(r"\A\s*(?P<n>1?\d\.[1-9]\d?)\.?\s(?=[A-ZÄÖÜ]\w{3})")
_NUMBERED = re.compile(r"1?\d\.[1-9]\d?\.?")
_BARE = re.compile(r"\d{1,2}\.\d{1,2}\.?")
_ANSWER = re.compile(r"(?:Y|N|J|E|T|EL|N\s?/\s?EL|N/|Y/N|J/N|%|NEL)[\d*]{0,4};?|\*{1,3}|n/?a\.?", re.IGNORECASE)
_TOKEN = re.compile(r"[^ \t\r\n]+")  # a no-break blank parts thousands
_SPACED = re.compile(r"(?<!\S)(?:\S ){4,}\S(?!\S)")  # "E L I G I B L E"
_LONG = 260  # characters: a longer label is running text
OF_WHICH = re.compile(r"\A\W{0,3}(?:of which|thereof|davon|including|o/w)\b", re.IGNORECASE)
_CAPITAL = re.compile(
    r"\s+(?!(?:Total|Sum|Turnover|Revenue|Sales|CapEx|OpEx|Umsatz|Gesamt|Summe)\b)[A-ZÄÖÜ][a-zäöü]{3}"
)
MONEY_HEAD = re.compile(
    r"€|\b(?:EUR|USD|GBP|CHF|T€|mio|millions?|thousands?|absolute?|betrag|amount)\b|[kmT](?:€|EUR)", re.IGNORECASE
)
_SHARE_HEAD = re.compile(r"%|proportion|\bshare\b|anteil|percent", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Value:
    """A value with its place: columns of a table, points, or the position in a line of text."""

    number: Stated | None
    text: str
    x0: float
    x1: float
    head: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """A line: its label, the codes in it (``CCM 7.7``, or ``7.7`` alone) and its values in order."""

    label: str
    codes: tuple[str, ...]
    values: tuple[Value, ...]
    row: Row
    placed: bool
    """Whether the values have places that can be compared with those of other lines."""

    @property
    def numbers(self) -> tuple[Value, ...]:
        return tuple(value for value in self.values if value.number is not None)


def items(row: Row, decimal: Mark) -> Iterator[Item]:
    """The lines that a row holds: one, or several where a page's text ran together."""
    if len(row.cells) == 1 and row.kind in ("text", "heading", "loose"):
        yield from _runs(row, decimal)
        return
    labels: list[str] = []
    values: list[Value] = []
    codes: list[str] = []
    for cell in row.cells:
        number = stated(cell.text, decimal)
        if number is not None and _BARE.fullmatch(cell.text) and re.search(r"\bcodes?\b", cell.head, re.IGNORECASE):
            codes.append(cell.text.rstrip("."))
        elif number is not None or _ANSWER.fullmatch(cell.text):
            values.append(Value(number, cell.text, cell.x0, cell.x1, cell.head))
        elif values and (several := _several(cell.text, decimal)):
            values += [Value(each, text, cell.x0, cell.x1, cell.head) for text, each in several]
        elif not values:
            labels.append(cell.text)
    text = _closed(" ".join(labels))
    yield Item(text, (*_codes(text), *codes), tuple(values), row, placed=True)


def _closed(label: str) -> str:
    """A label without the blanks between its letters, where they are set apart."""
    return _SPACED.sub(lambda match: match[0].replace(" ", ""), label)


def _several(text: str, decimal: Mark) -> list[tuple[str, Stated | None]]:
    """The values of a cell that holds several; none where it holds words."""
    parts = [(part, stated(part, decimal)) for part in text.split()]
    return parts if all(number is not None or _ANSWER.fullmatch(part) for part, number in parts) else []


def _codes(label: str) -> tuple[str, ...]:
    found: list[str] = []
    for match in _CODE.finditer(label):
        number = match["n"] or match["n2"]
        found += [f"{one} {number}" for one in (match["o"], match["o2"], match["o3"]) if one]
    if not found and (leading := _LEADING.match(label)):
        found = [leading["n"]]
    return tuple(dict.fromkeys(found))


def _runs(row: Row, decimal: Mark) -> Iterator[Item]:
    """Labels and the values behind them, by turns, as they stand in a text."""
    text = row.cells[0].text
    coded = {at for match in _CODE.finditer(text) for at in range(match.start(), match.end())}
    label_start, values, at = 0, list[Value](), 0
    for token in _TOKEN.finditer(text):
        number = stated(token[0], decimal)
        is_value = token.start() not in coded and (number is not None or bool(_ANSWER.fullmatch(token[0])))
        if is_value and _NUMBERED.fullmatch(token[0]) and _CAPITAL.match(text, token.end()):
            is_value = False
        if is_value and (
            values
            or (number is not None and not number.nothing)
            or (number is not None and _codes(text[label_start : token.start()]))
        ):
            at = at if values else token.start()
            values.append(Value(number, token[0], len(values), len(values)))
        elif values:
            yield _run(row, text[label_start:at], values)
            label_start, values = token.start(), []
    yield _run(row, text[label_start : at if values else len(text)], values)


def _run(row: Row, label: str, values: Sequence[Value]) -> Item:
    label = _closed(label.strip())
    return Item(label, _codes(label), tuple(values), row, placed=False)


def merged(lines: Iterable[Item]) -> Iterator[Item]:
    """Lines whose label was broken made whole: what goes on in lower case, and the values of a code above them."""
    waiting: Item | None = None
    for item in lines:
        if waiting is not None and _goes_on(waiting, item):
            label = f"{waiting.label} {item.label}".strip()
            item = replace(item, label=label, codes=waiting.codes or item.codes)
        elif waiting is not None:
            yield waiting
        waiting = item if not item.values and len(item.label) < _LONG else None
        if waiting is None:
            yield item
    if waiting is not None:
        yield waiting


def _goes_on(above: Item, item: Item) -> bool:
    """Whether a line goes on with the label of the line above, which has no values."""
    if item.row.kind in ("table", "heading") or above.row.kind == "table" or above.row.page != item.row.page:
        return False
    small = item.label[:1].islower() or item.label[:1] == "("
    if OF_WHICH.match(item.label) or (len(above.row.cells) > 1 and not above.codes):
        return False
    return (small and not (above.codes and item.codes)) or (bool(above.codes) and not item.label and bool(item.values))


class Columns:
    """Which of the values of a template's lines are the amount and the share. Columns of other years than ``year``, the
    template's, are neither."""

    def __init__(self, lines: Sequence[Item], totals: Sequence[Item], year: int | None = None) -> None:
        self._groups: dict[tuple[int, int], tuple[Value | None, Value | None]] = {}
        by_table: dict[tuple[int, int], list[Item]] = {}
        loose = [
            len(list(takewhile(lambda value: value.number is not None, item.values)))
            for item in lines
            if not item.placed
        ]
        self._usual = 2 if sum(count >= 2 for count in loose) * 2 > len(loose) else 1
        for item in lines:
            if item.placed:
                by_table.setdefault(self._group(item), []).append(item)
        for key, own in by_table.items():
            self._groups[key] = self._told(own, [item for item in totals if self._group(item) == key], year)

    @staticmethod
    def _group(item: Item) -> tuple[int, int]:
        return item.row.page, item.row.table

    @staticmethod
    def _told(lines: Sequence[Item], totals: Sequence[Item], year: int | None) -> tuple[Value | None, Value | None]:
        columns: list[Value] = []
        for value in sorted((value for item in lines for value in item.numbers), key=lambda each: each.x0):
            if not columns or not _same(columns[-1], value):
                columns.append(value)
        columns = [each for each in columns if _is_of(each.head, year)] or columns
        money = [each for each in columns if MONEY_HEAD.search(each.head)]
        shares = [each for each in columns if _SHARE_HEAD.search(each.head) and each not in money[:1]]
        if money and shares:
            return money[0], shares[0]
        percent = next(
            (value for item in lines for value in item.numbers if value.number and value.number.percent), None
        )
        if len(columns) > 1:
            first, second = columns[:2]
            for item in totals:
                values = [value for value in item.numbers if _same(value, first) or _same(value, second)]
                if len(values) == 2 and values[0].number and values[0].number.value == 100 and values[1].text != "100":
                    return second, first
            return first, second
        if columns and percent is not None:
            return None, columns[0]
        return (columns[0], None) if columns else (None, None)

    def of(self, item: Item) -> tuple[float | None, float | None]:
        """The amount and the share of a line."""
        if item.placed:
            amount, share = self._groups[self._group(item)]
            return self._at(item, amount), self._at(item, share)
        first = list(takewhile(lambda value: value.number is not None, item.values))
        if first and first[0].number and first[0].number.percent:
            return None, _float(first[0])
        if len(first) < self._usual:
            return None, None  # which column a lone number stands in cannot be told
        return _float(first[0]) if first else None, _float(first[1]) if len(first) > 1 else None

    @staticmethod
    def _at(item: Item, column: Value | None) -> float | None:
        return next((_float(value) for value in item.numbers if column is not None and _same(value, column)), None)


def _is_of(head: str, year: int | None) -> bool:
    """Whether the head of a column names the year, or none."""
    named = [each for _, _, each in years_meant(head, year or 0)]
    return not named or (year or 0) in named


def _float(value: Value) -> float | None:
    return float(value.number.value) if value.number else None


def _same(one: Value, other: Value) -> bool:
    """Whether two values stand in one column."""
    return min(one.x1, other.x1) >= max(one.x0, other.x0) or abs(one.x1 - other.x1) < 0.5
