"""The open units of a rulebook while it is read: what a number continues, what it closes, where it goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from responsa.corpus import numbering
from responsa.corpus.numbering import (
    ARTICLE,
    CHAPTER,
    FLAT,
    GUIDANCE,
    HEADING,
    ITEM,
    NUMBER,
    PARAGRAPH,
    ROOT,
    SCHEDULE,
    SECTION,
    Mark,
    Ordinal,
    Parts,
)

_AHEAD = 40  # lines looked ahead to tell (i) the letter from (i) the numeral
_GAP = 5  # numbers that may be missing in a list


@dataclass(slots=True)
class Node:
    """A passage being read. ``bare``: it takes a title only, and text below it stands on its own.

    ``parent`` is a position in the list of nodes. ``blocks`` holds "table" and "figure" where there are
    such; ``prose`` says that there is other text too.
    """

    number: str
    parent: int | None
    title: str = ""
    rank: int = ITEM
    guidance: bool = False
    bare: bool = False
    lines: list[str] = field(default_factory=list)
    blocks: set[str] = field(default_factory=set)
    prose: bool = False
    flags: tuple[str, ...] = ()


@dataclass(slots=True)
class Frame:
    """An open unit: what may still become its child. ``last`` holds the last number of each list in it."""

    node: int
    rank: int
    level: int = 0
    parts: Parts = ()
    indent: int = 0
    style: str = ""
    label: str = ""
    last: dict[str, Ordinal] = field(default_factory=dict)
    dotted: Parts = ()  # of a schedule or the root: the last dotted number within
    paragraphs: int = 0
    headings: int = 0


class Units:
    """The units read so far and, in ``stack``, the open ones, the root first.

    The line being read is number ``at``; before it came ``blanks`` blank lines and, above them, ``previous``.
    ``fresh``: no text was read since the last heading, lone number or end of a table.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.at = 0
        self.nodes: list[Node] = []
        self.stack = [Frame(-1, ROOT)]
        self.current: int | None = None
        self.previous = ""
        self.blanks = 0
        self.fresh = True

    # Opening and closing

    def open(self, frame: Frame, number: str, title: str = "", *, bare: bool = False, guidance: bool = False) -> None:
        parent = self.stack[-1].node
        inherited = parent >= 0 and self.nodes[parent].guidance
        self.nodes.append(Node(number, parent if parent >= 0 else None, title, frame.rank, guidance or inherited, bare))
        frame.node = self.current = len(self.nodes) - 1
        frame.indent = indent_of(self.lines[self.at])
        self.stack.append(frame)
        self.fresh, self.blanks = True, 0

    def open_item(self, parent: Frame, label: str, style: str, ordinal: Ordinal) -> None:
        parent.last[style] = ordinal
        number = f"{self.nodes[parent.node].number}({label})" if parent.node >= 0 else f"({label})"
        self.open(Frame(0, ITEM, style=style, label=label), number)

    def add(self, text: str, block: str = "") -> None:
        if not text:
            return
        node = self.nodes[self.current or 0]
        if node.lines:
            node.lines.extend([""] * self.blanks)
        node.lines.append(text)
        if block:
            node.blocks.add(block)
        else:
            node.prose = True
        self.fresh = False

    def pop_level(self, mark: Mark) -> None:
        """Close what a heading or division ends."""
        while len(self.stack) > 1:
            top = self.stack[-1]
            if not mark.level:
                ends = top.rank >= mark.rank
            elif top.level and top.rank != GUIDANCE:
                both = mark.rank < HEADING and top.rank < HEADING
                ends = top.level > mark.level or (top.level == mark.level and (not both or top.rank >= mark.rank))
            else:
                ends = top.rank >= min(mark.rank, NUMBER)
            if not ends:
                return
            self.stack.pop()

    def pop_number(self, mark: Mark) -> None:
        """Close what a dotted number ends: all lists, rules it is not below, chapters of another number."""
        last = self.space().dotted
        while self.stack[-1].rank > ROOT:
            top = self.stack[-1]
            keeps = top.parts == mark.parts[: len(top.parts)]
            if mark.level and top.level > mark.level:
                keeps = False
            elif top.rank > NUMBER:
                keeps = bool(mark.tail) and top.rank == ITEM and self.on_the_way(mark)
            elif top.rank == NUMBER:
                keeps = keeps and (len(top.parts) < len(mark.parts) or bool(mark.tail))
            elif top.rank in (CHAPTER, SECTION) and not keeps:
                # A chapter ends where its numbers are beginnings of those in it, and this one is another.
                keeps = not (len(top.parts) > 1 or (last and last[: len(top.parts)] == top.parts))
            elif top.rank == HEADING and mark.level:
                keeps = top.level < mark.level
            else:
                keeps = True
            if keeps:
                return
            self.stack.pop()

    def on_the_way(self, mark: Mark) -> bool:
        """Whether the open items begin a number written out, as ``3.2.1(1)`` begins ``3.2.1(1)(a)``."""
        rule = max((k for k, frame in enumerate(self.stack) if frame.rank == NUMBER), default=0)
        labels = [frame.label for frame in self.stack[rule + 1 :]]
        return (
            self.stack[rule].parts == mark.parts
            and len(labels) < len(mark.tail)
            and labels == list(mark.tail[: len(labels)])
        )

    # Numbers and context

    def space(self) -> Frame:
        """The unit in which numbers run on: the schedule, or the whole body."""
        return next(frame for frame in reversed(self.stack) if frame.rank <= SCHEDULE)

    def scoped(self, label: str) -> str:
        """A schedule's numbers start again, so they carry its own in front."""
        if self.space().rank == ROOT:
            return label
        holder = next(frame for frame in reversed(self.stack) if frame.rank < HEADING)
        return self.below(holder, label)

    def below(self, parent: Frame, label: str) -> str:
        return f"{self.nodes[parent.node].number}.{label}" if parent.node >= 0 else label

    def inside(self, parts: Parts) -> bool:
        return any(frame.parts and frame.parts == parts[: len(frame.parts)] for frame in self.stack)

    def settled(self) -> bool:
        return self.blanks > 0 or self.fresh

    def dangling(self, breaks_off: Callable[[str], bool] = numbering.dangles) -> bool:
        """Whether the line before breaks off in mid-sentence; a title such as "Listing rules" does not."""
        if self.settled() or not breaks_off(self.previous):
            return False
        lines = [] if self.current is None else self.nodes[self.current].lines
        return not (len(lines) == 1 and len(lines[0].split()) <= 4 and numbering.is_title(lines[0]))

    # Lists: 1. 2. 3. and (a) (b) (c)

    def continued(self, style: str, mark: Mark) -> int | None:
        """The depth of the open unit whose list the number continues; the chapter's where 3.1 comes next."""
        ordinal = mark.parts[0]
        listed = [(k, frame.last[style]) for k, frame in enumerate(self.stack) if style in frame.last]
        near = [k for k, last in listed if last < ordinal <= (last[0] + _GAP, 0)]
        if near and self.stack[near[0]].rank <= HEADING and self.chapter_ahead(mark.label):
            return self.holder(near[0])
        exact = [k for k, last in listed if numbering.follows(last, ordinal)]
        depths = exact or (near if self.blanks else [])
        return self.holder(depths[-1]) if depths else None

    def holder(self, depth: int) -> int:
        """Numbers that run on through parts and chapters belong to the deepest open one."""
        if self.stack[depth].rank > SCHEDULE:
            return depth
        while depth + 1 < len(self.stack) and self.stack[depth + 1].rank <= HEADING:
            depth += 1
        return depth

    def chapter_ahead(self, label: str) -> bool:
        """Whether 3.1 or the like comes below a line that begins with 3, and no other such line before it."""
        below = f"{label}."
        for line in self.lines[self.at + 1 : self.at + _AHEAD]:
            start = line[:60].lstrip()
            if start.startswith(below):
                return start[len(below) :][:1].isdigit()
        return False

    def begun(self, style: str, mark: Mark) -> int | None:
        """The depth of the open unit in which the number begins a list; None where it cannot."""
        top, space = self.stack[-1], self.space()
        if mark.parts[0][0] % 1000 != 1:
            lettered = mark.label[0].isalpha() and space.rank == SCHEDULE
            alone = bool(mark.delimiter) and top.rank <= HEADING and style not in space.last
            if not (self.settled() and (lettered or alone)):
                return None
        elif not mark.delimiter and top.rank != GUIDANCE and not (top.rank <= HEADING and self.fresh):
            return None
        same = (k for k, frame in enumerate(self.stack) if frame.rank == FLAT and frame.style == style)
        aside = top.rank == PARAGRAPH and not self.previous.endswith(":")
        return next(same, len(self.stack) - aside) - 1

    def place(self, label: str, context: bool) -> tuple[int, str, Ordinal] | None:
        """Depth of the unit whose list the label belongs to, the list's style and the place in it."""
        options = numbering.readings(label)
        exact = [
            (depth, style, ordinal)
            for depth in range(len(self.stack) - 1, -1, -1)
            for style, ordinal in options
            if style in self.stack[depth].last and numbering.follows(self.stack[depth].last[style], ordinal)
        ]
        first = next(((style, ordinal) for style, ordinal in options if ordinal == (1, 0)), None)
        if first is None:
            return exact[0] if exact else self.restart(options, context)
        if exact and not self.begins_numerals(label):
            return exact[0]
        if not context and not self.has_second(first[0]):
            return None
        style = first[0]
        holder = next((k for k, frame in enumerate(self.stack) if frame.rank == ITEM and frame.style == style), None)
        depth = len(self.stack) - 1 if holder is None else holder - 1
        return depth, *first

    def restart(self, options: Sequence[tuple[str, Ordinal]], context: bool) -> tuple[int, str, Ordinal] | None:
        """Where a label stands that continues nothing: after a gap, again, or in a list without a start."""
        if not context:
            return None
        plain = [(style, ordinal) for style, ordinal in options if ordinal[1] == 0 or style == "digit"]
        for depth in range(len(self.stack) - 1, -1, -1):
            for style, ordinal in plain:
                last = self.stack[depth].last.get(style)
                if last is not None and last <= ordinal <= (last[0] + _GAP, 0):
                    return depth, style, ordinal
        for depth in range(len(self.stack) - 1, -1, -1):
            for style, ordinal in plain:
                if style in self.stack[depth].last:
                    return depth, style, ordinal
        depth = max(k for k, frame in enumerate(self.stack) if frame.rank <= FLAT)
        letters = [option for option in plain if "roman" not in option[0].lower()] or plain
        return (depth, *letters[0]) if letters and letters[0][1][0] <= _GAP else None

    def begins_numerals(self, label: str) -> bool:
        """Whether (i) after (h) begins a list under (h): it is indented, or (ii) comes before (j)."""
        top = self.stack[-1]
        indent = indent_of(self.lines[self.at])
        if top.rank == ITEM and indent != top.indent and label.lower() == "i":
            return indent > top.indent
        following, next_letter = ("(II)", "(J)") if label.isupper() else ("(ii)", "(j)")
        for line in self.lines[self.at + 1 : self.at + _AHEAD]:
            start = line.lstrip()[:4]
            if start.startswith((following, next_letter)):
                return start.startswith(following)
        return self.previous.endswith((":", "—", "–"))

    def again(self, label: str) -> bool:
        """Whether a later line begins with the same label, so that this one only mentions it."""
        ahead = self.lines[self.at + 1 : self.at + _AHEAD]
        return any(line[:60].lstrip().startswith(f"({label})") for line in ahead)

    def has_second(self, style: str) -> bool:
        second = {"digit": "(2)", "alpha": "(b)", "roman": "(ii)", "ALPHA": "(B)", "ROMAN": "(II)"}[style]
        return any(line.lstrip().startswith(second) for line in self.lines[self.at + 1 : self.at + _AHEAD])

    def reading(self, label: str) -> tuple[str, Ordinal]:
        """The style of a label that is written on to its number: the one it continues, or begins."""
        options = numbering.readings(label) or (("alpha", (1, 1)),)
        last = self.stack[-1].last
        fitting = [option for option in options if option[0] in last] or [o for o in options if o[1] == (1, 0)]
        return fitting[0] if fitting else options[-1]


def is_bare(rank: int) -> bool:
    """Whether units of this rank have a title only: parts, chapters and schedules, but no articles."""
    return rank <= HEADING and rank not in (SECTION, ARTICLE)


def indent_of(line: str) -> int:
    expanded = line[:200].expandtabs(4)
    return len(expanded) - len(expanded.lstrip())
