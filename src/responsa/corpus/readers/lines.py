"""Web pages and Word files as lines that the grammar of rulebooks reads (`structure.parse_rulebook`).

What a line cannot carry is kept aside, a mark stands in its place, and it comes back as a passage of its own below the
one with the mark: tables, footnotes, hidden text. Marks are characters that Unicode sets apart for the inside of
programs; the sources' own are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal, NamedTuple

from responsa.corpus.numbering import read_mark
from responsa.corpus.readers.clauses import FOOTNOTE
from responsa.corpus.structure import is_blank, parse_rulebook
from responsa.text import normalise
from responsa.types import Kind, Passage

HIDDEN, REVISED = "hidden", "revised"
"""Flags of passages: text that a reader of the page does not see; text with tracked changes, here as accepted."""

_OPEN, _CLOSE, _GUARD = "\ufdd0", "\ufdd1", "\ufdd2"
_OWN = re.compile("[\ufdd0-\ufdef\ufffe\uffff]")
_MARK = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_MARKDOWN = ("#", "|", "**", "__", "---")
_BLOCK = re.compile(r"\s*[/\\]\s*(?:table|figure)\b", re.IGNORECASE)
_LABEL = re.compile(r"\(?([a-z]{1,5}|[A-Z]{1,5})[.)]$")
_SPACE = re.compile(r"[^\S\n]+")
_INDENTED = re.compile(r"^ +(?![ •–])", re.MULTILINE)


_Part = Literal["table", "footnote", "hidden", "revised", "after table"]
_WHOLE = frozenset({"table", "hidden"})  # where nothing else is in a passage, it is that
_KINDS: Mapping[_Part, Kind] = MappingProxyType(
    {"table": "table", "footnote": "text", "hidden": "text", "revised": "text", "after table": "text"}
)
_FLAGS: Mapping[_Part, tuple[str, ...]] = MappingProxyType(
    {"table": (), "footnote": (FOOTNOTE,), "hidden": (HIDDEN,), "revised": (REVISED,), "after table": ()}
)


class _Kept(NamedTuple):
    kind: _Part
    text: str
    title: str = ""


@dataclass(slots=True)
class Lines:
    """Collects a document in reading order."""

    _lines: list[str] = field(default_factory=list)
    _kept: list[_Kept] = field(default_factory=list)

    def heading(self, level: int, text: str, label: str = "") -> None:
        """``level`` 1 is the document's title where it comes first. Nothing for an empty text."""
        title = " ".join(f"{label} {text}".split())
        if title:
            self._lines += ["", f"{'#' * min(level, 6)} {title}", ""]

    def paragraph(self, text: str, label: str = "", depth: int = 0) -> None:
        """A paragraph with its printed number, if it has one; ``depth`` of the lists that it is in.

        A bullet for a label: a line of the paragraph above. A label such as "a." is written "(a)".
        """
        first, *rest = [_SPACE.sub(" ", line).strip() for line in text.split("\n")]
        if not (first or label or any(rest)):
            return
        indent = "  " * depth
        bullet = label in ("•", "–")
        if bullet:
            line = f"{indent[2:]}{label} {first}"
        elif label and (mark := read_mark(written(label))) is not None and not mark.rest:
            line = f"{indent}**{written(label)}** {first}"
        else:
            line = indent + _guarded(f"{label} {first}".strip())
        self._lines += [*([] if bullet else [""]), line.rstrip(), *(indent + _guarded(more) for more in rest if more)]

    def table(self, text: str, title: str = "", marks: str = "") -> None:
        """A table as Markdown; ``marks`` of what its cells hold of notes and hidden words (`parted`)."""
        if text:
            self._lines += ["", self._keep("table", text, title) + marks, ""]

    def note(self, text: str) -> str:
        """What stands in a text for a footnote."""
        return self._keep("footnote", text) if text.strip() else ""

    def hidden(self, text: str) -> str:
        """What stands in a text for words that are not seen."""
        return self._keep("hidden", text) if text.strip() else ""

    def revised(self) -> str:
        """What stands in a text with tracked changes."""
        return self._keep("revised", "")

    def _keep(self, kind: _Part, text: str, title: str = "") -> str:
        self._kept.append(_Kept(kind, _OWN.sub("", text).strip(), normalise(title)))
        return f"{_OPEN}{len(self._kept) - 1}{_CLOSE}"

    def passages(self, document_id: str) -> tuple[Passage, ...]:
        """The passages in reading order, as a tree. A table that stands alone is a passage, any other one stands below
        the passage that it is in, as what is hidden and footnotes do."""
        seen: set[str] = set()
        found = []
        for passage in parse_rulebook("\n".join(self._lines), document_id):
            text = _INDENTED.sub("", passage.text)  # that of bullets stays
            for each in self._apart(passage if text == passage.text else replace(passage, text=text)):
                count, name = 1, each.id
                while name in seen:
                    count += 1
                    name = f"{each.id}#{count}"
                seen.add(name)
                found.append(each if name == each.id else replace(each, id=name))
        return tuple(found)

    def _apart(self, passage: Passage) -> Iterator[Passage]:
        """The passage and what its marks stand for."""
        if not _OWN.search("\n".join((passage.title, passage.text, *passage.path))):
            yield passage
            return
        path = tuple(filter(None, (_bare(title).strip() for title in passage.path)))
        passage = replace(passage, path=path)
        marks = [self._kept[int(each)] for each in _MARK.findall(f"{passage.title}\n{passage.text}")]
        if not marks:
            yield replace(passage, text=_bare(passage.text), title=_bare(passage.title))
            return
        own, *pieces = self._pieces(passage.text)
        assert isinstance(own, str)
        title = normalise(_bare(passage.title))
        revised = (REVISED,) if any(each.kind == "revised" for each in marks) else ()
        flags = (*passage.flags, *revised)
        if not own and not title and len(marks) == 1 and marks[0].kind in _WHOLE:
            alone = replace(passage, text=marks[0].text, title=marks[0].title, flags=(*flags, *_FLAGS[marks[0].kind]))
            yield replace(alone, kind=_KINDS[marks[0].kind])
            return
        kind: Kind = "heading" if is_blank(own) else "text" if passage.kind in ("table", "heading") else passage.kind
        yield replace(passage, text=own, title=title, kind=kind, flags=flags)
        below = replace(passage, title="", parent_id=passage.id, flags=())
        below = replace(below, path=(*passage.path, title) if title else passage.path)
        counts: dict[str, int] = {}
        for piece in [*self._pieces(passage.title)[1:], *pieces]:
            if piece == "":
                continue
            kept = _Kept("after table", piece) if isinstance(piece, str) else piece
            counts[kept.kind] = count = counts.get(kept.kind, 0) + 1
            name = f", {kept.kind} {count}"
            part = replace(below, id=passage.id + name.replace(" ", "_"), number=passage.number + name)
            yield replace(part, text=kept.text, title=kept.title, kind=_KINDS[kept.kind], flags=_FLAGS[kept.kind])

    def _pieces(self, text: str) -> list[str | _Kept]:
        """The words before the first table, then what is kept and the words after tables, in their order."""
        words: list[str] = [""]
        found: list[str | _Kept] = [""]
        places = [0]
        for place, piece in enumerate(_MARK.split(text)):
            if place % 2 == 0:
                words[-1] += piece
                continue
            kept = self._kept[int(piece)]
            if kept.kind == "revised":
                continue
            if kept.kind != "table" and places[-1] and not words[-1].strip():
                found.insert(places[-1], kept)  # no words since the table: it belongs to that
                places[-1] += 1
                continue
            found.append(kept)
            if kept.kind == "table":
                words.append("")
                found.append("")
                places.append(len(found) - 1)
        for place, piece in zip(places, words, strict=True):
            found[place] = _bare(piece).strip("\n").rstrip()
        return found


def parted(text: str) -> tuple[str, str]:
    """A text without the marks in it, and the marks."""
    return _MARK.sub("", text), "".join(found[0] for found in _MARK.finditer(text))


def written(label: str) -> str:
    """A printed number as the grammar reads it: "a." and "a)" are "(a)", "3.2." stays."""
    found = _LABEL.match(label)
    return f"({found[1]})" if found else label


def _guarded(line: str) -> str:
    """A line that is no Markdown, whatever it looks like."""
    return f"{_GUARD}{line}" if line.startswith(_MARKDOWN) or _BLOCK.match(line) else line


def _bare(text: str) -> str:
    return _MARK.sub("", text).replace(_GUARD, "")


def without_marks(text: str) -> str:
    """A source's text without the characters that are marks here."""
    return _OWN.sub("", text)


def joined(parts: Sequence[str]) -> str:
    """Running text of pieces: single spaces, line breaks kept, none at the ends."""
    lines = (_SPACE.sub(" ", line).strip() for line in "".join(parts).split("\n"))
    return "\n".join(lines).strip("\n")
