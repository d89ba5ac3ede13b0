"""The tree of criteria from an outline: ids, logic, dates, conditions and thresholds.

Every word of the lines stays in the tree, in its order; but a proviso ("provided that ...") comes after the list that
it is for. Ids follow the printed numbers: ``SC 1(a)(i)``; what has no number is a paragraph (``SC 7, paragraph 2``), an
indent or, where one sentence offers another way to meet the one before it, an alternative (``SC 1, alternative 2``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

from responsa.taxonomy.activities.criteria_logic import ALTERNATIVE, condition, joined, term
from responsa.taxonomy.activities.outline import Line, Node, line, outline
from responsa.taxonomy.activities.thresholds import Lead, lead, thresholds
from responsa.taxonomy.values import Activity, Criterion, Threshold

_ALTERNATIVE = re.compile(rf"(?<=[.;])\s+(?={ALTERNATIVE.pattern})", re.IGNORECASE)
_PROVISO = re.compile(r"([^:]*\bone of the following[^:,]*?),?\s((?:provided that|if) [^:]*:)\Z", re.IGNORECASE)
_MAKES = re.compile(r"The (?:economic )?activity (?:manufactures|recycles|produces|collects|transports|stores)\b")
_SECTIONS = re.compile(
    r"\bSections? (\d{1,2}\.\d{1,2}(?:(?:, | and |, and | or | to )\d{1,2}\.\d{1,2})*) (?:of|to) this Annex"
)
_APPENDIX = re.compile(r"\bAppendix ([A-E])\b")
_UNTIL_THEN_ALL = re.compile(r"until (20\d\d) and with all of the following criteria after \1", re.IGNORECASE)


def criterion(lines: Sequence[Line], name: str) -> Criterion:
    """The criteria of an objective under one root with the id ``name``: "SC", "DNSH CCA"."""
    root = outline(lines)
    _alternatives(root)
    while not root.text and not root.either and len(root.parts) == 1 and root.parts[0].place is None:
        root = root.parts[0]
    return _Builder().build(root, name, name, Lead())


def _alternatives(node: Node) -> None:
    """Tell the ways to meet a criterion apart, within a text and between paragraphs."""
    for part in node.parts:
        _alternatives(part)
    if not node.parts and _ALTERNATIVE.search(node.text):
        node.parts = [Node("", text) for text in _ALTERNATIVE.split(node.text)]
        node.text, node.either = "", True
        return
    grouped: list[Node] = []
    for part in node.parts:
        if grouped and part.place is None and not part.either and ALTERNATIVE.match(part.text):
            before = grouped.pop()
            if before.either and before.place is None and not before.text:
                before.parts.append(part)
                grouped.append(before)
            else:
                grouped.append(Node("", "", either=True, parts=[before, part]))
        else:
            grouped.append(part)
    if len(grouped) == 1 and grouped[0].either and not node.text and not grouped[0].text:
        node.parts, node.either = grouped[0].parts, True
    else:
        node.parts = grouped
    _lists_apart(node)


def _lists_apart(node: Node) -> None:
    """Items that are alternatives stay together where paragraphs follow them: those apply beside the one chosen."""
    if not node.text and len(node.parts) > 1 and all(_MAKES.match(part.text) for part in node.parts):
        node.either = True
    proviso = _PROVISO.match(node.text)
    if proviso and node.parts and not node.either:
        node.parts = [Node("", proviso[1], parts=node.parts), Node("", proviso[2])]
        node.text = ""
        return
    items = [part for part in node.parts if part.place]
    others = [part for part in node.parts if not part.place]
    if (
        node.text
        and items
        and others
        and not node.either
        and joined(node.text, [each.text for each in items])[0] != "all"
    ):
        node.parts = [Node("", node.text, parts=items), *others]
        node.text = ""


class _Builder:
    def __init__(self) -> None:
        self._taken: set[str] = set()

    def build(self, node: Node, name: str, base: str, above: Lead) -> Criterion:
        """``base``: what the ids of numbered parts begin with."""
        self._taken.add(name)
        below = lead(node.text, above) if node.text and node.parts else above
        if any(part.place and _numbered(base, part) in self._taken for part in node.parts):
            base = name  # a second list (a), (b) under the same number
        parts: list[Criterion] = []
        paragraphs = 1 if node.text else 0
        for count, part in enumerate(node.parts, 1):
            paragraphs += part.place is None
            child, child_base = self._named(node, part, name, base, count, paragraphs)
            parts.append(self.build(part, child, child_base, below))
        logic, number = (
            joined(node.text, [part.text for part in node.parts if part.place]) if node.parts else ("all", 0)
        )
        when = term(node.text)
        return Criterion(
            name,
            node.label if node.label != "-" else "",
            node.text,
            "any" if node.either else logic,
            number,
            tuple(parts),
            thresholds(node.text, above) if node.text else (),
            when.start,
            when.end,
            parts[0].condition if node.either and not node.text and parts else condition(node.text),
        )

    def _named(self, node: Node, part: Node, name: str, base: str, count: int, paragraphs: int) -> tuple[str, str]:
        """The id of a part and what the ids of its own parts begin with."""
        if part.place is None:
            word = f"alternative {count}" if node.either else f"paragraph {paragraphs}"
            return self._free(f"{name}, {word}"), base
        if part.place.kind == "-":
            child = self._free(f"{name}, indent {count}")
            return child, child
        child = _numbered(base, part)
        if child in self._taken:
            child = self._free(_numbered(name, part))
        return child, child

    def _free(self, name: str) -> str:
        count, free = 1, name
        while free in self._taken:
            count += 1
            free = f"{name} ({count})"
        return free


def _numbered(base: str, part: Node) -> str:
    if part.place and part.place.kind == "n":
        above = ".".join(map(str, part.place.above))
        if above and base.endswith((f" {above}", f".{above}")):
            base = base[: -len(above) - 1]
        return f"{base} {part.label}"
    return f"{base}({part.label})" if base[-1:].isdigit() or base.endswith(")") else f"{base} ({part.label})"


def walk(root: Criterion) -> Iterator[Criterion]:
    """A criterion and all below it, in the order of the text."""
    yield root
    for part in root.parts:
        yield from walk(part)


def leaves(root: Criterion) -> Iterator[Criterion]:
    """The criteria without parts, in the order of the text."""
    return (each for each in walk(root) if not each.parts)


def words(root: Criterion) -> str:
    """The whole text of a criterion with its parts, a line each, numbers in front."""
    return "\n".join(f"({each.number}) {each.text}" if each.number else each.text for each in walk(root) if each.text)


def appendices(root: Criterion) -> tuple[str, ...]:
    """The letters of the appendices with generic criteria that a criterion names, in order."""
    return tuple(dict.fromkeys(letter for each in walk(root) for letter in _APPENDIX.findall(each.text)))


def sections(root: Criterion) -> tuple[str, ...]:
    """The numbers of the activities of the same annex whose criteria a criterion refers to, in order."""
    found = [number for each in walk(root) for said in _SECTIONS.findall(each.text) for number in said.split()]
    return tuple(dict.fromkeys(number.strip(",") for number in found if number[0].isdigit()))


def described(activity: Activity) -> Criterion:
    """The description of an activity as criteria: what it must be to be eligible at all, with its thresholds."""
    return criterion([line(each) for each in activity.description.split("\n") if each.strip()], "Description")


def applies(root: Criterion) -> bool:
    """Whether there is anything to meet: not where the act says N/A."""
    return root.text.strip().rstrip(".") not in ("N/A", "") or bool(root.parts)


def on(root: Criterion, day: date) -> Criterion:
    """The criterion as it applies on a day: parts and thresholds of other times are left out.

    ``two of the following criteria until 2025 and all of them after 2025`` becomes one of the two.
    """
    changed = _UNTIL_THEN_ALL.search(root.text)
    if changed and day.year > int(changed[1]):
        root = replace(root, logic="all", count=0)
    parts = tuple(on(part, day) for part in root.parts if _within(part, day))
    return replace(root, parts=parts, thresholds=tuple(each for each in root.thresholds if _within(each, day)))


def _within(each: Criterion | Threshold, day: date) -> bool:
    return (each.valid_from is None or each.valid_from <= day) and (each.valid_to is None or day <= each.valid_to)
