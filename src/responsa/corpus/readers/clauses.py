"""The clause tree of an EU act, and its passages: numbers and ids as lawyers write them.

Readers build `Clause` trees from whatever mark-up they read; here they become passages. A passage is the smallest
provision that is cited on its own: a paragraph, a point, a further subparagraph. Its text is its own words alone;
what stands below it are its children, in reading order, so that `printed` gives the whole text again.

The number is what `responsa.corpus.references` makes of a citation ("Article 129(4), first subparagraph, point
(b)"); the id is the number behind the name of the act, with "Art." for "Article". Both depend on the provision's
labels alone and so stay the same from version to version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from responsa.corpus.citations import ORDINALS
from responsa.types import Kind, Passage

Level = Literal[
    "division", "article", "paragraph", "subparagraph", "point", "indent", "closing", "annex", "section", "recital",
    "named", "table", "quoted",
]  # fmt: skip

FOOTNOTE, QUOTED, DELETED = "footnote", "quoted", "deleted"
"""Flags of passages: a footnote, text that amends another act, an article that is no longer in force."""

_HEADED = frozenset({"division", "article", "annex", "section", "named"})
_WHOLE = frozenset({"recital", "named", "table", "quoted"})  # their paragraphs are not told apart
_ENDS = re.compile(r"[.;!?][’”'\")\]]*$")
_BEGINS = re.compile(r"[‘“'\"(\[]*[A-Z]")
_STOPS = re.compile(r"[.,:;!?][’”'\")\]]*$")
_EQUATION = re.compile(r"[^.;:]{1,80}\s=\s")
_TABLE = re.compile(r"(?:Table|TABLE)\s[\w.-]{1,8}$")
_LAST = re.compile(r"\(([^()]*)\)$|, point ([^\s(]+)$")
_ROMAN = re.compile(r"[IVXLC]+$")
_LONGEST_TABLE = 100  # rows of a table that is all of an annex; a longer one is cut into parts
_ROWS = 40  # of each part
_LONGEST_LABEL = 80  # characters of a title that stands for a number


@dataclass(slots=True)
class Block:
    """A stretch of text without a number. ``opens``: it begins a subparagraph; None where the words must tell."""

    text: str
    opens: bool | None = None
    notes: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


@dataclass(slots=True)
class Clause:
    """A provision with what it holds, in reading order. ``label`` is its own number, without brackets and dots."""

    level: Level
    label: str = ""
    title: str = ""
    parts: list[Block | Clause] = field(default_factory=list)
    flags: tuple[str, ...] = ()


class _Name(NamedTuple):
    """``opened``: points can be written on to number and id."""

    number: str
    id: str
    opened: tuple[bool, bool]


def to_passages(clauses: Iterable[Clause], document_id: str, act: str) -> tuple[Passage, ...]:
    """The passages of an act in reading order; ``act`` is the name that their ids begin with.

    An id that was there before gets ``#2``, ``#3``.
    """
    writer = _Writer(document_id, act)
    for clause in clauses:
        writer.write(_parted(clause), None, None, (), 1)
    return tuple(writer.passages)


@dataclass(slots=True)
class _Writer:
    document_id: str
    act: str
    passages: list[Passage] = field(default_factory=list)
    seen: dict[str, int] = field(default_factory=dict)

    def write(
        self, clause: Clause, above: _Name | None, parent: str | None, path: tuple[str, ...], ordinal: int
    ) -> None:
        name = _name(clause, above, ordinal)
        own, below = _settled(clause)
        quoted = clause.level == "quoted"
        text = "\n".join(flat(clause)) if quoted else "\n".join(block.text for block in own)
        flags = (*clause.flags, *((QUOTED,) if quoted else ()), *(flag for block in own for flag in block.flags))
        kind: Kind = "table" if clause.level == "table" else "text" if text.strip() else "heading"
        passage_id = self._passage(name, text, clause.title, parent, path, kind, flags)
        notes = [note for block in (_blocks(clause) if quoted else own) for note in block.notes]
        for count, note in enumerate(notes, start=1):
            self._passage(_added(name, f", footnote {count}"), note, "", passage_id, path, "text", (FOOTNOTE,))
        if quoted:
            return
        inside = (*path, _heading(clause)) if clause.level in _HEADED else path
        counts: dict[str, int] = {}
        for child in below:
            counts[child.level] = counts.get(child.level, 0) + 1
            self.write(child, name, passage_id, inside, counts[child.level])

    def _passage(
        self, name: _Name, text: str, title: str, parent: str | None, path: tuple[str, ...], kind: Kind,
        flags: Sequence[str],
    ) -> str:  # fmt: skip
        wanted = f"{self.act} {name.id}"
        self.seen[wanted] = count = self.seen.get(wanted, 0) + 1
        passage_id = wanted if count == 1 else f"{wanted}#{count}"
        self.passages.append(
            Passage(
                passage_id,
                self.document_id,
                name.number,
                text,
                title,
                parent,
                path,
                kind,
                flags=tuple(dict.fromkeys(flags)),
            )
        )
        return passage_id


def _settled(clause: Clause) -> tuple[list[Block], list[Clause]]:
    """A clause's own text and what stands below it: subparagraphs are told apart, closing words come after points."""
    own: list[Block] = []
    below: list[Clause] = []
    part_of: Clause | None = None  # the subparagraph that is being read
    last = ""
    word = "paragraph" if clause.level == "article" else "subparagraph"
    count = 1
    for part in clause.parts:
        if isinstance(part, Clause):
            (below if part_of is None or part.level == "paragraph" else part_of.parts).append(part)
            part_of = None if part.level == "paragraph" else part_of
        elif clause.level in _WHOLE:
            own.append(part)
        elif (own or below) and (part.opens if part.opens is not None else begins(last, part.text)):
            count += 1
            part_of = Clause(
                "subparagraph", f"{_ordinal(count)} {word}", "", [replace(part, opens=False)], clause.flags
            )
            below.append(part_of)
        elif part_of is not None:
            part_of.parts.append(replace(part, opens=False))
        elif not below:
            own.append(part)
        elif below[-1].level == "closing":
            below[-1].parts.append(replace(part, opens=False))
        else:
            below.append(Clause("closing", "", "", [replace(part, opens=False)], clause.flags))
        last = _last(part) or last
    return own, below


def merged(annex: Clause) -> Clause:
    """An annex whose one part has no number: the part's title is the annex's, what it holds the annex's too."""
    sections = [part for part in annex.parts if isinstance(part, Clause) and part.level == "section"]
    if len(annex.parts) == len(sections) == 1 and not sections[0].label:
        annex.title = " — ".join(filter(None, (annex.title, sections[0].title)))
        annex.parts = sections[0].parts
        return merged(annex)
    for count, section in enumerate(sections, start=1):
        if not section.label:
            section.label = section.title if 0 < len(section.title) <= _LONGEST_LABEL else f"section {count}"
        merged(section)
    return annex


def begins(last: str, text: str) -> bool:
    """Whether a text begins a subparagraph, by the looks of it and of the text before it.

    Both are sentences then; captions ("General terms") and formulas ("RW = 290 %") go on with what is there.
    """
    return bool(_BEGINS.match(text) and _ENDS.search(last) and _STOPS.search(text) and not _EQUATION.match(text))


def _parted(clause: Clause) -> Clause:
    """An annex that is one long table, such as a correlation table, in parts of 40 rows, each under the head again."""
    table = clause.parts[0] if clause.level == "annex" and len(clause.parts) == 1 else None
    if not isinstance(table, Clause) or table.level != "table" or not isinstance(table.parts[0], Block):
        return clause
    whole = table.parts[0]
    head, rule, *rows = whole.text.split("\n") if whole.text.count("\n") > _LONGEST_TABLE else ("", "")
    if not rows:
        return clause
    parts: list[Block | Clause] = []
    for start in range(0, len(rows), _ROWS):
        some = rows[start : start + _ROWS]
        first = start == 0
        block = replace(whole, text="\n".join([head, rule, *some]), notes=whole.notes if first else ())
        label = f"rows {start + 1} to {start + len(some)}"
        parts.append(Clause("table", label, table.title if first else "", [block], table.flags))
    return replace(clause, parts=parts)


def _last(part: Block | Clause) -> str:
    if isinstance(part, Block):
        return part.text
    return next((text for inner in reversed(part.parts) if (text := _last(inner))), part.title)


def _blocks(clause: Clause) -> list[Block]:
    found: list[Block] = []
    for part in clause.parts:
        found += [part] if isinstance(part, Block) else _blocks(part)
    return found


def flat(clause: Clause) -> list[str]:
    """The lines of a clause with all that it holds, as printed."""
    lines = [clause.title] if clause.title else []
    for part in clause.parts:
        if isinstance(part, Block):
            lines.append(part.text)
            continue
        inner = flat(part)
        label = {"paragraph": f"{part.label}.", "point": f"({part.label})", "indent": "—"}.get(part.level, part.label)
        if part.level == "quoted":
            lines += [f"Article {label}", *inner]
        else:
            lines += [" ".join(filter(None, (label, inner[0] if inner else ""))), *inner[1:]]
    return lines


# Names


def _name(clause: Clause, above: _Name | None, ordinal: int) -> _Name:
    label = clause.label
    if above is None or clause.level in ("article", "recital", "annex"):
        return _top(clause)
    if clause.level == "division":
        return _added(above, f", {_division(label)}")
    if clause.level in ("paragraph", "point"):
        number, identifier = (
            f"{text}({label})" if opened else f"{text}, point {f'({label})' if label[:1].isalpha() else label}"
            for text, opened in zip((above.number, above.id), above.opened, strict=True)
        )
        return _Name(number, identifier, (True, True))
    if clause.level == "table" and label:
        return _added(above, f", {label}")
    if clause.level == "table":
        bare = ", table" if ordinal == 1 else f", table {ordinal}"
        return _added(above, f", {clause.title}" if _TABLE.match(clause.title) else bare)
    if clause.level == "section" and label.startswith(f"{above.number.rpartition(', ')[2]}."):
        above = _Name(above.number.rpartition(", ")[0], above.id.rpartition(", ")[0], (False, False))  # 1.1, not 1, 1.1
    words = {
        "indent": f"{_ordinal(ordinal)} indent",
        "closing": "closing words",
        "quoted": f"quoted Article {label}",
    }
    return _added(above, f", {words.get(clause.level, label)}")


def _top(clause: Clause) -> _Name:
    label = clause.label
    if clause.level == "article":
        return _Name(f"Article {label}", f"Art. {label}", (True, True))
    if clause.level == "annex":
        text = f"Annex {label}".strip()
        return _Name(text, text, (False, True))
    text = {"division": _division(label), "recital": f"Recital {label}"}.get(clause.level, label)
    return _Name(text, text, (False, False))


def _added(name: _Name, text: str) -> _Name:
    return _Name(name.number + text, name.id + text, (False, False))


def _division(label: str) -> str:
    """Part Three, Title II, Chapter 1a, Sub-Section 2."""
    word, _, number = label.partition(" ")
    word = "-".join(piece.capitalize() for piece in word.split("-"))
    return f"{word} {number if _ROMAN.match(number) else number.capitalize()}".strip()


def _ordinal(number: int) -> str:
    return ORDINALS[number - 1] if number <= 12 else f"{number}th"


def _heading(clause: Clause) -> str:
    label = {"article": f"Article {clause.label}", "annex": f"Annex {clause.label}".strip()}.get(
        clause.level, clause.label
    )
    return " — ".join(filter(None, (label, "" if clause.level == "named" else clause.title)))


# The text again


def printed(passages: Iterable[Passage]) -> str:
    """The text of passages in reading order, with the numbers in front that are not part of the stored texts.

    Headings of articles and footnotes are left out. A paragraph of an article is printed as "1.", what has its
    number in brackets as "(1)", whichever way the source prints it.
    """
    lines = []
    bare: set[str] = set()  # articles whose numbered provisions are paragraphs
    for passage in passages:
        if FOOTNOTE in passage.flags:
            continue
        found = _LAST.search(passage.number)
        label = (found[1] or found[2]) if found else ""
        if passage.kind == "heading" and passage.number.startswith("Article ") and not found:
            bare.add(passage.id)
        if label and passage.kind != "table":
            lines.append(f"{label}." if passage.parent_id in bare else f"({label})")
        elif passage.number.endswith(" indent"):
            lines.append("—")
        if passage.kind == "table" and passage.title:
            lines.append(passage.title)
        if QUOTED in passage.flags:
            lines.append("Article " + passage.number.rpartition(" ")[2])
            lines += [passage.title] if passage.title and not passage.text.startswith(passage.title) else []
        lines += [passage.text] if passage.text else []
    return "\n".join(lines)
