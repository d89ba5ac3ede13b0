"""The activities of a delegated act of the Taxonomy, from the passages that the Formex reader makes of it.

An activity is a section of an annex with a description and technical screening criteria. The criteria are a table:
the substantial contribution, then one row for each other objective that must not be harmed. The annex's title says for
which objective it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from responsa.errors import ReadError
from responsa.taxonomy.activities.outline import Line, line
from responsa.taxonomy.values import Objective
from responsa.types import Edition, Passage

OBJECTIVES: tuple[tuple[Objective, str, str], ...] = (
    ("CCM", "climate change mitigation", "climate change mitigation"),
    ("CCA", "climate change adaptation", "climate change adaptation"),
    ("WTR", "water and marine", "sustainable use and protection of water and marine resources"),
    ("CE", "circular economy", "transition to a circular economy"),
    ("PPC", "pollution prevention", "pollution prevention and control"),
    ("BIO", "biodiversity", "protection and restoration of biodiversity and ecosystems"),
)
"""Code, words that name it anywhere, and full name."""

Kind = Literal["", "enabling", "transitional"]
_CONTRIBUTING = re.compile(r"contributing substantially to (.{0,80}?)(?: and for |$)", re.IGNORECASE)
_SECTION = re.compile(r"(Annex [IVX]+), (\d+(?:\.\d+)?)(?:, (.+))?")
_APPENDIX = re.compile(r"(Annex [IVX]+), Appendix ([A-Z])(?:, (.+))?")
_POINT = re.compile(r"point (\d+)?((?:\([a-z0-9.]+\))*)$")
_CELLS = re.compile(r"(?<!\\)\|")
_HEAD = re.compile(r"(?:Additional criteria pertaining to )?Substantial contribution|General criteria pertaining", re.I)
_NO_HARM = re.compile(r"(?:Additional criteria pertaining to )?Do no significant harm", re.IGNORECASE)
_NACE = re.compile(r"\bNACE\b")
_CODE = re.compile(r"\b[A-U](?:\d{1,2}(?:\.\d{1,2}){0,2})?\b")
_ENABLING = re.compile(r"enabling activit", re.IGNORECASE)
_TRANSITIONAL = re.compile(r"transitional activit|Article 10\(2\)", re.IGNORECASE)


@dataclass(slots=True)
class Section:
    """An activity as printed: lines of its criteria, not yet understood."""

    objective: Objective
    number: str
    name: str
    sector: str
    annex: str = ""
    description: list[str] = field(default_factory=list)
    contribution: list[Line] = field(default_factory=list)
    dnsh: dict[Objective, list[Line]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    by: str = ""  # the act that put the whole section into this act


@dataclass(slots=True)
class Appendix:
    """Criteria that activities of an annex share."""

    objective: Objective
    letter: str
    title: str
    lines: list[Line] = field(default_factory=list)


def objective_of(text: str) -> Objective | None:
    """The objective that a text names; None where it names none."""
    return next((code for code, words, _ in OBJECTIVES if words in text.lower()), None)


def sections(edition: Edition) -> tuple[list[Section], list[Appendix]]:
    """The activities of an act in its order, and the appendices. ReadError where it has no activity."""
    annexes: dict[str, Objective] = {}
    found: dict[tuple[str, str], Section] = {}
    appendices: dict[tuple[str, str], Appendix] = {}
    sectors: dict[tuple[str, str], str] = {}
    for passage in edition.passages:
        if re.fullmatch(r"Annex [IVX]+", passage.number):
            named = _CONTRIBUTING.search(passage.title)
            objective = objective_of(named[1]) if named else None
            if objective:
                annexes[passage.number] = objective
            continue
        section, appendix = _SECTION.fullmatch(passage.number), _APPENDIX.fullmatch(passage.number)
        if section and section[1] in annexes:
            _section(passage, section, annexes[section[1]], sectors, found)
        elif appendix and appendix[1] in annexes:
            key = (appendix[1], appendix[2])
            held = appendices.setdefault(key, Appendix(annexes[appendix[1]], appendix[2], _title(passage.title)))
            if passage.kind == "table":
                held.lines += [Line("-", "; ".join(cells)) for cells in rows(passage.text) if cells]
            elif "footnote" not in passage.flags:
                held.lines += _running(passage, appendix[3] or "")
    activities = [each for each in found.values() if each.contribution]
    if not activities:
        raise ReadError(
            f"{edition.document_id}: holds no technical screening criteria of the EU Taxonomy; give a delegated act"
            " such as (EU) 2021/2139 or (EU) 2023/2486"
        )
    return activities, list(appendices.values())


def _section(
    passage: Passage,
    match: re.Match[str],
    objective: Objective,
    sectors: dict[tuple[str, str], str],
    found: dict[tuple[str, str], Section],
) -> None:
    annex, number, rest = match[1], match[2], match[3] or ""
    if not rest:
        if "." not in number:
            sectors[annex, number] = _title(passage.title)
            return
        found[annex, number] = _begun(passage, annex, number, objective, sectors)
        return
    if "." not in number and (annex, number) not in found:  # a sector that is one activity
        found[annex, number] = _begun(passage, annex, f"{number}.1", objective, sectors)
        found[annex, number].name = sectors.get((annex, number), "")
    held = found.get((annex, number))
    if held is None:
        return
    if "footnote" in passage.flags:
        held.notes.append(passage.text)
    elif passage.kind == "table":
        _table(passage, held)
    elif rest.startswith("Description of the activity"):
        held.description += [_printed(each) for each in _running(passage, rest)]
    elif not rest.startswith("section"):
        held.contribution += _running(passage, rest)


def _begun(
    passage: Passage, annex: str, number: str, objective: Objective, sectors: dict[tuple[str, str], str]
) -> Section:
    sector = sectors.get((annex, number.partition(".")[0]), "")
    by = next((flag.removeprefix("amended-by-") for flag in passage.flags if flag.startswith("amended-by-")), "")
    described = [passage.text.strip()] if passage.kind != "heading" and passage.text.strip() else []
    return Section(objective, number, passage.title.strip(), sector, annex, described, by=by)


def _title(text: str) -> str:
    """A heading in capitals as a sentence."""
    return text.capitalize() if text.isupper() else text


def _running(passage: Passage, rest: str) -> Iterator[Line]:
    """The lines of a passage of text, its number in front."""
    if passage.kind == "heading" or not passage.text.strip():
        return
    point = _POINT.search(rest.rpartition(", ")[2] if "subparagraph" in rest else rest)
    label = ""
    if point and not rest.endswith("subparagraph"):
        inner = re.findall(r"\(([a-z0-9.]+)\)", point[2])
        label = inner[-1] if inner else point[1] or ""
    first, *others = [each for each in passage.text.split("\n") if each.strip()]
    yield Line(label, first.strip()) if label else line(first)
    for each in others:
        yield line(each)


def _printed(each: Line) -> str:
    return f"({each.label}) {each.text}" if each.label and each.label != "-" else each.text


def rows(markdown: str) -> Iterator[list[str]]:
    """The rows of a pipe table without the empty cells."""
    for index, row in enumerate(markdown.split("\n")):
        if index != 1:
            cells = [cell.strip().replace("\\|", "|") for cell in _CELLS.split(row)[1:-1]]
            yield [cell for cell in cells if cell]


def _table(passage: Passage, held: Section) -> None:
    harm = False
    for cells in rows(passage.text):
        if not cells:
            continue
        if len(cells) == 1 and _NO_HARM.match(cells[0]):
            harm = True
        elif len(cells) == 1 and _HEAD.match(cells[0]) and len(cells[0]) < 150:
            harm = False
        elif harm and len(cells) >= 2 and (other := objective_of(cells[0])):
            held.dnsh.setdefault(other, []).extend(_lines(cells[1:]))
        elif harm and held.dnsh:
            held.dnsh[next(reversed(held.dnsh))].extend(_lines(cells))
        else:
            held.contribution += _lines(cells)


def _lines(cells: Sequence[str]) -> list[Line]:
    """The lines of a row's cells; cells beside one another are one line where each is one."""
    split = [[part for part in cell.split("<br>") if part.strip()] for cell in cells]
    return [line(part) for parts in split for part in parts]


def codes(description: Sequence[str]) -> tuple[str, ...]:
    """The NACE codes of a description, in its order."""
    text = " ".join(each.partition("in accordance with")[0] for each in description if _NACE.search(each))
    after = text.partition("NACE")[2]
    return tuple(dict.fromkeys(re.sub(r"(?<=\.\d)\.(?=\d)", "", code) for code in _CODE.findall(after)))


def kind_of(description: Sequence[str]) -> Kind:
    """What kind of activity its description calls it."""
    for each in reversed(description):
        if "Article 10" in each or "Article 11" in each or "Article 1" in each:
            if _ENABLING.search(each):
                return "enabling"
            if _TRANSITIONAL.search(each):
                return "transitional"
    return ""
