"""The lines of a KPI template as they are read: a label with codes, and the values behind it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from responsa.quantities.figures import NOT_STATED, Mark, Stated, stated
from responsa.quantities.measures import filling
from responsa.quantities.money import Counted, counted
from responsa.taxonomy.numbers.grid import Row

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
_MONEY = re.compile(r"[€$£]|EUR|USD|GBP|CHF")


@dataclass(frozen=True, slots=True)
class Value:
    """A value with its place: columns of a table, points, or the position in a line of text.

    ``unit``: of an amount that stands in its cell with it.
    """

    number: Stated | None
    text: str
    x0: float
    x1: float
    head: str = ""
    unit: Counted | None = None

    @property
    def is_not_stated(self) -> bool:
        return NOT_STATED.fullmatch(self.text.strip()) is not None


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
        number, unit = _read(cell.text, decimal)
        if number is not None and _BARE.fullmatch(cell.text) and re.search(r"\bcodes?\b", cell.head, re.IGNORECASE):
            codes.append(cell.text.rstrip("."))
        elif number is not None or _ANSWER.fullmatch(cell.text):
            values.append(Value(number, cell.text, cell.x0, cell.x1, cell.head, unit))
        elif values and (several := _several(cell.text, decimal)):
            values += [Value(each, text, cell.x0, cell.x1, cell.head) for text, each in several]
        elif not values:
            labels.append(cell.text)
    text = _closed(" ".join(labels))
    yield Item(text, (*_codes(text), *codes), tuple(values), row, placed=True)


def _read(text: str, decimal: Mark) -> tuple[Stated | None, Counted | None]:
    """The number that fills a cell, and its unit where it is an amount of money with one: "€1.25bn"."""
    number = stated(text, decimal)
    if number is not None or not _MONEY.search(text):
        return number, None
    amount = filling(text, decimal)
    unit = counted(amount.printed_unit) if amount else None
    return (Stated(Decimal(repr(amount.printed))), unit) if amount and unit else (None, None)


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
        number, unit = _read(token[0], decimal)
        is_value = token.start() not in coded and (number is not None or bool(_ANSWER.fullmatch(token[0])))
        if is_value and _NUMBERED.fullmatch(token[0]) and _CAPITAL.match(text, token.end()):
            is_value = False
        if is_value and (
            values
            or (number is not None and not number.nothing)
            or (number is not None and _codes(text[label_start : token.start()]))
        ):
            at = at if values else token.start()
            values.append(Value(number, token[0], len(values), len(values), unit=unit))
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
