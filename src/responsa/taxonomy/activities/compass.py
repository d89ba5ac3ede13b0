"""The activities of the export of the EU Taxonomy Compass: JSON whose texts are fragments of HTML."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from typing import Any

from responsa.corpus.readers.formulas import high, low
from responsa.errors import ReadError
from responsa.taxonomy.activities.acts import Kind, Section
from responsa.taxonomy.activities.outline import Line, line
from responsa.taxonomy.values import Objective

_KEYS: Mapping[str, Objective] = {
    "mitigation": "CCM", "adaptation": "CCA", "water": "WTR", "circular": "CE", "pollution": "PPC",
    "biodiversity": "BIO",
}  # fmt: skip
_NOTE_MARK = re.compile(r"\(\d{1,4}\)")
_ROMANS = (
    "i",
    "ii",
    "iii",
    "iv",
    "v",
    "vi",
    "vii",
    "viii",
    "ix",
    "x",
    "xi",
    "xii",
    "xiii",
    "xiv",
    "xv",
    "xvi",
    "xvii",
    "xviii",
)


class _Lines(HTMLParser):
    """Lines of a fragment: paragraphs and items of lists, with the numbers that the lists would print."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[Line] = []
        self.notes: list[str] = []
        self._lists: list[list[Any]] = []  # [type, items so far]
        self._label = ""
        self._pieces: list[str] = []
        self._note: list[str] | None = None
        self._depth = 0  # of spans within a note
        self._small = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if tag == "span" and (self._note is not None or "popover-tooltip-content" in (given.get("class") or "")):
            self._depth += 1
            if self._note is None:
                self._note = []
        elif tag == "span" and "popover-tooltip" in (given.get("class") or ""):
            self._depth = 1
            self._note = []
        elif tag in ("ol", "ul"):
            self.end()
            self._lists.append([given.get("type") or ("a" if tag == "ol" else "-"), 0])
        elif tag == "li":
            self.end()
            self._label = self._next()
        elif tag in ("p", "br", "div", "tr"):
            self.end()
        elif tag in ("sub", "sup"):
            self._small = tag

    def handle_endtag(self, tag: str) -> None:
        if tag == "span" and self._note is not None:
            self._depth -= 1
            if self._depth <= 0:
                text = " ".join("".join(self._note).split())
                if text and not _NOTE_MARK.fullmatch(text):
                    self.notes.append(text)
                self._note, self._depth = None, 0
        elif tag in ("ol", "ul"):
            self.end()
            if self._lists:
                self._lists.pop()
        elif tag in ("p", "li", "div", "tr"):
            self.end()
        elif tag in ("sub", "sup"):
            self._small = ""

    def handle_data(self, data: str) -> None:
        if self._note is not None:
            self._note.append(data)
        elif self._small and data.strip().isdigit():
            self._pieces.append((low if self._small == "sub" else high)(data.strip()))
        else:
            self._pieces.append(data)

    def end(self) -> None:
        """Close the line at hand."""
        text = " ".join("".join(self._pieces).split())
        self._pieces = []
        if text:
            self.lines.append(Line(self._label, text) if self._label else line(text))
            self._label = ""

    def _next(self) -> str:
        if not self._lists:
            return "-"
        kind = self._lists[-1]
        kind[1] += 1
        count: int = kind[1]
        if kind[0] == "i":
            return _ROMANS[count - 1] if count <= len(_ROMANS) else "-"
        if kind[0] == "1":
            return str(count)
        return chr(96 + count) if kind[0] == "a" and count <= 26 else "-"


def lines(html: str) -> tuple[list[Line], list[str]]:
    """The lines of a fragment of HTML and its footnotes."""
    parser = _Lines()
    parser.feed(html)
    parser.close()
    parser.end()
    return parser.lines, parser.notes


def sections(content: bytes, name: str) -> list[tuple[Section, Kind]]:
    """The activities of an export, one for each objective. ReadError where it is none."""
    try:
        data = json.loads(content)
        activities = {each["name"]: each for each in data["activities"]}
        return [_section(match, activities[match["activity"]]) for match in data["matches"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ReadError(
            f"{name}: is no export of the EU Taxonomy Compass ({type(error).__name__}: {str(error)[:80]}); expected"
            " JSON with 'activities' and 'matches'"
        ) from error


def _section(match: Mapping[str, Any], activity: Mapping[str, Any]) -> tuple[Section, Kind]:
    found = Section(
        _KEYS[match["objective"]], str(activity["reference"]), str(activity["name"]).strip(), str(activity["sector"])
    )
    described, notes = lines(match["activity_description"])
    found.description = [f"({each.label}) {each.text}" if each.label else each.text for each in described]
    said = match.get("contribution_description") or ""
    if said:
        found.description.append(" ".join(said.split()))
    found.notes += notes
    found.contribution = _all(match["substantial_contribution_criteria"], found.notes)
    for each in match["dnsh"]:
        found.dnsh[_KEYS[each["objective"]]] = _all(each["criteria"], found.notes)
    kind = str(match.get("activity_contribution_type") or "").lower()
    return found, ("enabling" if kind == "enabling" else "transitional" if kind == "transitional" else "")


def _all(fragments: Sequence[str], notes: list[str]) -> list[Line]:
    found: list[Line] = []
    for html in fragments:
        parsed, said = lines(html)
        found += parsed
        notes += said
    return found
