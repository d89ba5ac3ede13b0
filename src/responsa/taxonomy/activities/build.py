"""Builds a catalogue from files: delegated acts in Formex, of any date, and the export of the Taxonomy Compass."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from responsa.corpus.limits import MIB, Limits
from responsa.corpus.sandbox import Sandbox
from responsa.errors import InputError, ReadError
from responsa.storage import write_bytes
from responsa.taxonomy.activities import acts, compass, records
from responsa.taxonomy.activities.acts import Appendix, Kind, Section
from responsa.taxonomy.activities.catalogue import FORMAT, State, order
from responsa.taxonomy.activities.criteria import criterion
from responsa.taxonomy.values import Activity, Objective
from responsa.text import normalise

ATTRIBUTION = (
    "Generated from legal acts of the European Union and from the EU Taxonomy Compass of the European Commission."
    " © European Union, https://eur-lex.europa.eu, licensed under CC BY 4.0"
    " (https://creativecommons.org/licenses/by/4.0/). The texts are divided into criteria by a program; only the acts"
    " published in the Official Journal are authentic."
)
# From when the criteria that an act brought apply: its own last article, not the date of a consolidated version.
APPLIES: Mapping[str, date] = {
    "32021R2139": date(2022, 1, 1),
    "32022R1214": date(2023, 1, 1),
    "32023R2485": date(2024, 1, 1),
    "32023R2486": date(2024, 1, 1),
}
_CLIMATE = "32021R2139"
_COMPASS_YEAR = re.compile(r"(20\d\d)")

Report = Callable[[str, int], None]
"""Called with a file's name and how many activities it has."""


def build(files: Sequence[Path], report: Report | None = None) -> dict[str, Any]:
    """The content of a catalogue. ReadError where a file is neither an act with criteria nor a Compass export.

    A Compass export is of the year in its name (compass_2022.json), and in force to the end of the next year.
    """
    read: list[_Read] = []
    with Sandbox() as sandbox:
        for path in files:
            found = _read(path, sandbox)
            if any(
                (each.state.act, each.state.valid_from) == (found.state.act, found.state.valid_from) for each in read
            ):
                raise InputError(f"{path}: the catalogue has {found.state.named} already; give each state once")
            read.append(found)
            if report:
                report(path.name, len(found.sections))
    _renumber(read)
    activities: list[dict[str, Any]] = []
    appendices: list[dict[str, Any]] = []
    for index, (state, sections, shared) in enumerate(read):
        for section, kind in sections:
            record = records.activity_record(_activity(section, kind, state))
            first = APPLIES.get(section.by, state.first_applied) if section.by else state.first_applied
            activities.append({**record, "first_applied": first.isoformat(), "state": index})
        for each in shared:
            made = records.criterion_record(criterion(each.lines, f"Appendix {each.letter}"))
            appendices.append(
                {"objective": each.objective, "letter": each.letter, "state": state.named, "criterion": made}
            )
    activities.sort(key=lambda each: (order(str(each["id"])), each["state"]))
    return {
        "format": FORMAT,
        "attribution": ATTRIBUTION,
        "states": [records.state_record(each.state) for each in read],
        "activities": activities,
        "appendices": appendices,
    }


def write(content: Mapping[str, Any], path: Path) -> None:
    """Write a catalogue: gzip where the name ends in .gz, the same bytes for the same content."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
    write_bytes(gzip.compress(text, 9, mtime=0) if path.suffix == ".gz" else text, path)


class _Read(NamedTuple):
    state: State
    sections: list[tuple[Section, Kind]]
    appendices: list[Appendix]


def _renumber(read: Sequence[_Read]) -> None:
    """Give the activities of a Compass export the numbers that the act has for them.

    The Compass has one number for an activity name, the act one for each annex: research is 9.1 in Annex I of the
    climate act and 9.2 in Annex II.
    """
    known: dict[tuple[str, str, str], str] = {}
    for state, sections, _ in read:
        if not state.is_export:
            known |= {(state.act, each.objective, _name(each)): each.number for each, _ in sections}
    for state, sections, _ in read:
        if state.is_export:
            for each, _ in sections:
                each.number = known.get((state.act, each.objective, _name(each)), each.number)


def _name(section: Section) -> str:
    return normalise(section.name).lower()


def _read(path: Path, sandbox: Sandbox) -> _Read:
    if path.suffix.lower() == ".json":
        content = _content(path, sandbox.limits)
        year = _COMPASS_YEAR.search(path.stem)
        if year is None:
            raise ReadError(f"{path}: a Compass export must have its year in its name, like compass_2022.json")
        day = int(year[1])
        state = State(
            _CLIMATE, "EU Taxonomy Compass", date(day, 1, 1), date(day + 1, 12, 31), APPLIES[_CLIMATE], path.name,
            hashlib.sha256(content).hexdigest(),
        )  # fmt: skip
        return _Read(state, compass.sections(content, str(path)), [])
    editions = sandbox.read(path)
    if not editions or editions[0].valid_from is None:
        raise ReadError(f"{path}: says of no day that it is in force from; give a consolidated act in Formex")
    edition = editions[0]
    sections, appendices = acts.sections(edition)
    assert edition.valid_from is not None
    state = State(
        edition.document_id,
        edition.title,
        edition.valid_from,
        edition.valid_to,
        APPLIES.get(edition.document_id, edition.valid_from),
        path.name,
        hashlib.sha256(_content(path, sandbox.limits)).hexdigest(),
    )
    return _Read(state, [(each, acts.kind_of(each.description)) for each in sections], appendices)


def _content(path: Path, limits: Limits) -> bytes:
    try:
        if path.stat().st_size > limits.size * MIB:
            raise ReadError(f"{path}: is larger than {limits.size} MiB")
        return path.read_bytes()
    except OSError as error:
        raise ReadError(f"{path}: cannot be read: {error.strerror}; check the path and its permissions") from error


def _activity(section: Section, kind: Kind, state: State) -> Activity:
    dnsh: dict[Objective, Any] = {
        code: criterion(section.dnsh[code], f"DNSH {code}") for code, _, _ in acts.OBJECTIVES if code in section.dnsh
    }
    return Activity(
        f"{section.objective} {section.number}",
        section.objective,
        section.number,
        section.name,
        section.sector,
        "\n".join(section.description),
        acts.codes(section.description),
        criterion(section.contribution, "SC"),
        dnsh,
        kind,
        valid_from=state.valid_from,
        valid_to=state.valid_to,
        notes=tuple(dict.fromkeys(section.notes)),
    )
