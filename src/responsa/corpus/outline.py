"""Reads the lines of a rulebook, plain text or Markdown, into a tree of units.

A line starts a passage when it looks like one (`responsa.corpus.numbering`) and stands where one may
stand: after a blank line, a heading or a finished clause, or as the next number of an open list. Else it
is text. So every line ends up in a passage, in order; a doubtful number stays in the text around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from responsa.corpus import numbering
from responsa.corpus.numbering import (
    ARTICLE,
    FLAT,
    GUIDANCE,
    HEADING,
    ITEM,
    NUMBER,
    PARAGRAPH,
    Mark,
    read_mark,
)
from responsa.corpus.units import Frame, Node, Units, indent_of, is_bare

TITLE_NUMBER = "Title"  # of the passage that holds the document's own title
_BLOCK = re.compile(r"\s*[/\\]\s*(table|figure)\s*(start|end)\b", re.IGNORECASE)


def outline(lines: Sequence[str]) -> list[Node]:
    """The units of a rulebook in reading order. Lines must come without their trailing white space."""
    return _Builder(lines).read()


class _Builder(Units):
    """Reads lines into units, one line at a time."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__(lines)
        self.block = ""  # the open table or figure; with "!" where no end tag follows
        self.unclosed = _unclosed_blocks(lines)
        self.starters: dict[str, Callable[[Mark], bool]] = {
            "heading": self._heading,
            "division": self._division,
            "number": self._number,
            "item": self._item,
            "guidance": self._guidance,
        }

    def read(self) -> list[Node]:
        for at, line in enumerate(self.lines):
            self.at = at
            if not line:
                self.blanks += 1
                continue
            self._line(line)
            self.previous, self.blanks = line, 0
        return self.nodes

    def _line(self, line: str) -> None:
        tag = _BLOCK.match(line)
        if tag and tag.group(2).lower() == "start":
            self._open_block(line, tag.group(1).lower())
            return
        if self.block and not (self.block.endswith("!") and self._ends_unclosed(line)):
            self.add(line, self.block.rstrip("!"))
            if tag:
                self.block, self.fresh = "", True
            return
        mark = read_mark(line)
        if mark is None or not self.starters[mark.kind](mark):
            self._text(line)

    # Tables and figures

    def _open_block(self, line: str, name: str) -> None:
        if self._frame_of_current() is None:
            self._paragraph(line)
        self.add(line, name)
        self.block = name
        if self.at in self.unclosed:
            self.block += "!"
            node = self.nodes[-1]
            node.flags = tuple(dict.fromkeys((*node.flags, f"unclosed-{name}")))

    def _ends_unclosed(self, line: str) -> bool:
        """Whether a line inside a table that is never closed is the next clause or heading, not a row."""
        mark = read_mark(line)
        if mark is None or mark.kind == "item" or "\t" in mark.rest or "|" in line:
            return False
        if mark.kind == "number" and not mark.firm:
            if len(mark.parts) > 1:
                plausible = numbering.succeeds(self.space().dotted, mark.parts) or self.inside(mark.parts)
            else:
                plausible = self.blanks > 0 and self.continued(f"flat{mark.delimiter}", mark) is not None
            if not plausible or mark.rest[:1].islower():
                return False
        elif not mark.firm and not (self.blanks and numbering.is_title(line)):
            return False
        self.block, self.fresh = "", True
        return True

    # What may start a passage: each returns whether it did

    def _heading(self, mark: Mark) -> bool:
        if not self.nodes and mark.level == 1:
            self.open(Frame(0, HEADING), TITLE_NUMBER, mark.title, bare=True)
            self.stack.pop()  # the title of everything is above nothing
            return True
        self.pop_level(mark)
        parent = self.stack[-1]
        parent.headings += 1
        frame = Frame(0, HEADING, mark.level)
        self.open(frame, self.below(parent, f"h{parent.headings}"), mark.title, bare=True)
        return True

    def _division(self, mark: Mark) -> bool:
        lone = not mark.rest.strip("*_")
        if not mark.firm:
            settled = self.settled() or numbering.closes(self.previous)
            if not settled or mark.rest[:1].islower() or numbering.is_reference(mark.rest):
                return False
            if not lone and is_bare(mark.rank) and not numbering.is_title(mark.rest):
                return False
        self.pop_level(mark)
        title, text = (mark.title, mark.rest) if mark.title else (mark.rest, "")
        if not (mark.title or mark.level or lone or numbering.is_title(title)):
            title, text = "", title
        number, frame = self.scoped(mark.label), Frame(0, mark.rank, mark.level, mark.parts)
        self.open(frame, number, "" if lone and not mark.title else title, bare=is_bare(mark.rank))
        self.add(text)
        return True

    def _guidance(self, mark: Mark) -> bool:
        words, text = (mark.title, mark.rest) if mark.firm and not mark.level else (mark.title or mark.rest, "")
        title = " ".join(f"{mark.label} {words}".split())
        if not mark.firm:
            settled = self.settled() or numbering.closes(self.previous)
            if not settled or not numbering.is_title(title.rstrip(":")):
                return False
        while self.stack[-1].rank > NUMBER:
            self.stack.pop()
        number = self.below(self.stack[-1], "Guidance")
        self.open(Frame(0, GUIDANCE, mark.level or 99), number, title, guidance=True)
        self.add(text)
        return True

    def _number(self, mark: Mark) -> bool:
        single = len(mark.parts) == 1 and not mark.tail and not mark.level
        return self._flat(mark) if single else self._dotted(mark)

    def _dotted(self, mark: Mark) -> bool:
        if not (mark.firm or self._dotted_fits(mark)):
            return False
        self.pop_number(mark)
        top = self.stack[-1]
        if not (mark.tail and (top.rank == ITEM or (top.rank == NUMBER and top.parts == mark.parts))):
            number = self.scoped(mark.label)
            self.space().dotted = mark.parts
            is_heading = mark.level > 0 and numbering.is_title(mark.rest) and not mark.tail
            title = mark.title or (mark.rest if is_heading else "")
            self.open(Frame(0, NUMBER, mark.level, mark.parts), number, title)
            if is_heading:
                return True
        rule = max(k for k, frame in enumerate(self.stack) if frame.rank == NUMBER)
        for label in mark.tail[len(self.stack) - rule - 1 :]:
            self.open_item(self.stack[-1], label, *self.reading(label))
        self._rest(mark)
        return True

    def _dotted_fits(self, mark: Mark) -> bool:
        if self.dangling() or numbering.is_reference(mark.rest):
            return False
        space = self.space()
        strong = numbering.succeeds(space.dotted, mark.parts) or self.inside(mark.parts)
        context = self.settled() or numbering.closes(self.previous)
        if mark.rest[:1].islower():
            return strong and context and len(mark.parts) >= 3
        if len(mark.parts) >= 3:
            return strong or context
        if numbering.is_quantity(mark.rest):
            return False
        near = not space.dotted or strong or numbering.leaps(space.dotted, mark.parts)
        return (strong and context) or (near and self.settled())

    def _flat(self, mark: Mark) -> bool:
        """A single number, 1 or 1. or 1): the next of an open list, or the first of a new one."""
        if self.dangling() or numbering.is_quantity(mark.rest):
            return False
        context = mark.firm or self.settled() or numbering.closes(self.previous)
        if not mark.delimiter and (not context or mark.rest[:1].islower()):
            return False
        style = f"flat{mark.delimiter}"
        depth = self.continued(style, mark)
        if depth is None:
            depth = self.begun(style, mark) if context else None
        if depth is None:
            return False
        del self.stack[depth + 1 :]
        parent = self.stack[depth]
        parent.last[style] = mark.parts[0]
        if is_bare(parent.rank):
            space = self.space()
            space.last[style], space.dotted = mark.parts[0], mark.parts
            self.open(Frame(0, NUMBER, parts=mark.parts, style=style), self.scoped(mark.label), mark.title)
        else:
            self.open(Frame(0, FLAT, style=style), self.below(parent, mark.label), mark.title)
        self._rest(mark)
        return True

    def _item(self, mark: Mark) -> bool:
        if self.dangling(numbering.refers) or numbering.is_item_reference(mark.rest):
            return False
        if self.dangling() and (mark.label in ("1", "a", "i", "A", "I") or self.again(mark.label)):
            return False
        context = self.settled() or numbering.closes(self.previous)
        found = self.place(mark.label, context)
        if found is None:
            return False
        depth, style, ordinal = found
        del self.stack[depth + 1 :]
        self.open_item(self.stack[depth], mark.label, style, ordinal)
        self._rest(mark)
        return True

    # Text

    def _text(self, line: str) -> None:
        node = None if self.current is None else self.nodes[self.current]
        mark = self._cross_heading(line, node)
        if mark is not None:
            self.pop_number(mark)
            parent = self.stack[-1]
            parent.headings += 1
            self.open(Frame(0, HEADING), self.below(parent, f"h{parent.headings}"), line.strip(), bare=True)
            self.stack.pop()  # how far it reaches cannot be told, so nothing is below it
            return
        if node is not None and self._is_title_line(line, node):
            node.title, self.fresh = line.strip(), True
            return
        if node is None or node.bare or self._stands_alone(line, node):
            self._paragraph(line)
        self.add(line, "table" if line.lstrip().startswith("|") else "")

    def _is_title_line(self, line: str, node: Node) -> bool:
        """Whether the line, below "PART 1" or "Article 5", is its title."""
        return node.rank <= ARTICLE and not node.title and not node.lines and numbering.is_title(line)

    def _stands_alone(self, line: str, node: Node) -> bool:
        """Whether a line after a blank one is a paragraph of its own rather than more of the passage."""
        if not self.blanks or line.lstrip().startswith("|"):
            return False
        if node.rank == PARAGRAPH:
            goes_on = line.lstrip()[:1].islower() or not numbering.closes(self.previous)
            return not (goes_on or self.previous.endswith(":"))
        return node.rank == ITEM and indent_of(line) <= self.stack[-1].indent

    def _cross_heading(self, line: str, node: Node | None) -> Mark | None:
        """The numbered clause below a short line on its own, such as "Keeping records", else None."""
        if not self.blanks or not numbering.is_title(line) or not line.lstrip()[:1].isupper():
            return None
        settled = node is None or node.bare or numbering.closes(self.previous)
        if not settled or self.previous.endswith((":", ",")):
            return None
        ahead = next((ahead for ahead in self.lines[self.at + 1 : self.at + 4] if ahead), "")
        mark = read_mark(ahead)
        return mark if mark and mark.kind == "number" and len(mark.parts) > 1 and not mark.level else None

    def _paragraph(self, line: str) -> None:
        """Open an unnumbered paragraph under the unit that owns the list it interrupts."""
        if self.stack[-1].rank == ITEM:
            self.stack.pop()
            while self.stack[-1].rank == ITEM and self.stack[-1].indent > indent_of(line):
                self.stack.pop()
        if self.stack[-1].rank == PARAGRAPH:
            self.stack.pop()
        parent = self.stack[-1]
        parent.paragraphs += 1
        self.open(Frame(0, PARAGRAPH), self.below(parent, f"p{parent.paragraphs}"))

    def _rest(self, mark: Mark) -> None:
        """Add what follows a number: text, or the first item of a list, as in ``3.2.1 (1) A firm must``."""
        sub = read_mark(mark.rest) if mark.rest.startswith("(") else None
        if sub and sub.kind == "item" and not numbering.is_item_reference(sub.rest):
            style, ordinal = self.reading(sub.label)
            if ordinal == (1, 0) and all(frame.style != style for frame in self.stack):
                self.open_item(self.stack[-1], sub.label, style, ordinal)
                self._rest(sub)
                return
        self.add(mark.rest)

    # The open units

    def _frame_of_current(self) -> int | None:
        """The passage that a table belongs to; None where it has to stand on its own."""
        return None if self.current is None or self.nodes[self.current].bare else self.current


def _unclosed_blocks(lines: Sequence[str]) -> frozenset[int]:
    """The lines of ``/Table Start`` and ``/Figure Start`` tags before which no end tag belongs to them."""
    unclosed: list[int] = []
    start: int | None = None
    for at, line in enumerate(lines):
        tag = _BLOCK.match(line)
        if tag is None:
            continue
        if tag.group(2).lower() == "end":
            start = None
        else:
            unclosed += [start] if start is not None else []
            start = at
    return frozenset([*unclosed, *([start] if start is not None else [])])
