"""The activities of the EU Taxonomy by id and financial year, from the catalogue that ships or one of the user's own.

A catalogue holds states of the delegated acts: each as in force from a date. Undertakings report on a financial year
in the year after it, so the state for a financial year is the latest that began before the end of the next year. The
catalogue that ships has the climate act as of 2022 (the Compass export) and of 1 January 2024, and the environmental
act as of 1 January 2026; where the wording of another date has to serve, the answer says so (``approximate``).
"""

from __future__ import annotations

import difflib
import functools
import gzip
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from responsa.errors import InputError, NotFound
from responsa.taxonomy.activities import records
from responsa.taxonomy.values import Activity, Criterion, Objective
from responsa.text import normalise, words

FIRST_YEAR = 2021
"""The first financial year with criteria: Delegated Regulation (EU) 2021/2139 applies from 1 January 2022."""
FORMAT = 1
_AT_ONCE = frozenset({"2023-01-01"})  # gas and nuclear power: eligibility and alignment from the first year
_ID = re.compile(r"(?:(CCM|CCA|WTR|CE|PPC|BIO)[\s_.-]*)?(\d{1,2}(?:\.\d{1,2})?)\b\.?", re.IGNORECASE)
_LONE = frozenset({"11", "12", "13"})  # sectors that are one activity: "11. Education" is 11.1


class Found(NamedTuple):
    """An activity for a financial year. ``notes`` say in words where the wording is that of another date."""

    activity: Activity
    approximate: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class State:
    """One act as in force from ``valid_from`` to ``valid_to``, the file it was read from and its sha256."""

    act: str
    title: str
    valid_from: date
    valid_to: date | None
    first_applied: date
    file: str
    sha256: str

    @property
    def is_export(self) -> bool:
        """Whether it is an export of the Compass: its numbers and dates are not those printed in an act."""
        return self.file.endswith(".json")

    @property
    def named(self) -> str:
        """``32021R2139 as of 2024-01-01``."""
        return f"{self.act} as of {self.valid_from}"


class Catalogue:
    """Activities of several states of the acts. Read-only."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        """``content`` is that of a catalogue's file. InputError for another format."""
        if content.get("format") != FORMAT:
            raise InputError(
                f"a taxonomy catalogue of format {content.get('format')!r} cannot be read; expected {FORMAT}: build it"
                " again with: responsa taxonomy build"
            )
        self.attribution: str = content["attribution"]
        self.states: tuple[State, ...] = tuple(records.state(each, State) for each in content["states"])
        self._entries: list[Mapping[str, Any]] = list(content["activities"])
        self._appendices: list[Mapping[str, Any]] = list(content["appendices"])
        self._made: dict[int, Activity] = {}

    # Looking up

    def find(self, name: str, year: int | None = None) -> Found:
        """The activity of an id ("CCM 6.5", "ccm6.5", "6.5") or a name, for a financial year (None: the latest state).

        NotFound with suggestions where there is none; InputError where it is for several objectives, or where the
        year is more than one before the activity's first.
        """
        found = self.all(name, year)
        if len(found) > 1:
            listed = ", ".join(f"{each.activity.id!r} ({each.activity.name})" for each in found)
            raise InputError(f"activity {name!r} is there for several objectives; give one of: {listed}")
        return found[0]

    def all(self, name: str, year: int | None = None) -> tuple[Found, ...]:
        """The same for every objective for which there is an activity of that number or name, in that year."""
        wanted = self._ids(name)
        if not wanted:
            raise NotFound(f"no activity {name!r} in the EU Taxonomy{self._hint(name)}")
        covered = [each for each in wanted if year is None or self._covered(each, year)]
        return tuple(self._in_year(each, year) for each in covered or wanted[:1])

    def activities(
        self, year: int | None = None, objective: Objective | None = None, sector: str = ""
    ) -> tuple[Found, ...]:
        """All activities that have criteria for a financial year, in the order of objective and number.

        ``sector``: its number or some of its words. InputError for a year before all criteria.
        """
        if year is not None and not any(self._covered(each, year) for each in self.ids()):
            first = min(self._first(each) for each in self.ids())
            raise InputError(f"there are no criteria for the financial year {year}; they begin with {first}")
        found = []
        for activity_id in self.ids():
            if objective and not activity_id.startswith(f"{objective} "):
                continue
            if year is not None and not self._covered(activity_id, year):
                continue
            each = self._in_year(activity_id, year)
            number = each.activity.number.partition(".")[0]
            if not sector or sector == number or sector.lower() in each.activity.sector.lower():
                found.append(each)
        return tuple(found)

    def ids(self) -> tuple[str, ...]:
        """All ids, in the order of objective and number."""
        return tuple(sorted({each["id"] for each in self._entries}, key=order))

    def appendix(self, activity: Activity, letter: str) -> Criterion | None:
        """The generic criteria that an activity's criteria name as Appendix ``letter``; None where there is none."""
        held = [
            each
            for each in self._appendices
            if each["objective"] == activity.objective and each["letter"] == letter.upper()
        ]
        same = [each for each in held if each["state"] == activity.source]
        return records.criterion((same or held)[0]["criterion"]) if held else None

    def versions(self, activity_id: str) -> tuple[str, ...]:
        """The states that have an activity, oldest first."""
        indexes = sorted({each["state"] for each in self._entries if each["id"] == activity_id}, key=self._began)
        return tuple(self.states[index].named for index in indexes)

    # Within

    def _began(self, state: int) -> date:
        return self.states[state].valid_from

    @functools.cached_property
    def _names(self) -> dict[str, str]:
        """Ids by name in lower case, of the latest state that has the name."""
        return {f"{each['id']}": normalise(each["name"]).lower() for each in sorted(self._entries, key=self._of)}

    def _of(self, entry: Mapping[str, Any]) -> date:
        return self._began(entry["state"])

    def _ids(self, name: str) -> list[str]:
        """The ids that a name means, in order."""
        text = normalise(name)
        match = _ID.match(text)
        known = self.ids()
        if match:
            number = f"{match[2]}.1" if match[2] in _LONE else match[2]
            code = (match[1] or "").upper()
            found = [each for each in known if each.partition(" ")[2] == number]
            if code:
                return [each for each in found if each.startswith(f"{code} ")]
            rest = text[match.end() :].strip().lower()
            named = [each for each in found if rest and self._names[each] == rest]
            return named or found
        exact = [each for each in known if self._names[each] == text.lower()]
        if exact:
            return exact
        given = set(words(text))
        holding = [each for each in known if given and given <= set(words(self._names[each]))]
        return holding if len({self._names[each] for each in holding}) == 1 else []

    def _hint(self, name: str) -> str:
        """Up to five ids with names that are near."""
        text = normalise(name).lower()
        match = _ID.match(normalise(name))
        given = set(words(text))
        scores = []
        for each in self.ids():
            score = difflib.SequenceMatcher(None, text, self._names[each]).ratio()
            score = max(score, len(given & set(words(self._names[each]))) / max(len(given), 1))
            if match:
                close = difflib.SequenceMatcher(None, text.upper(), each).ratio()
                score = close + (each.partition(" ")[2] == match[2])
            scores.append((-score, order(each), each))
        near = [each for score, _, each in sorted(scores)[:5] if -score >= 0.5]
        printed = {each["id"]: each["name"] for each in sorted(self._entries, key=self._of)}
        listed = ", ".join(f"{each!r} ({printed[each]})" for each in near)
        return f"; did you mean {listed}?" if near else "; responsa taxonomy list prints all of them"

    def _first(self, activity_id: str) -> int:
        """The first financial year in which an activity has criteria."""
        return min(date.fromisoformat(e["first_applied"]).year for e in self._entries if e["id"] == activity_id) - 1

    def _covered(self, activity_id: str, year: int) -> bool:
        return year >= self._first(activity_id) or (year == FIRST_YEAR - 1 == self._first(activity_id) - 1)

    def _in_year(self, activity_id: str, year: int | None) -> Found:
        candidates = sorted((e for e in self._entries if e["id"] == activity_id), key=self._of)
        if year is None:
            return Found(self._activity(candidates[-1]), False, ())
        first = self._first(activity_id)
        if year < first - 1:
            raise InputError(
                f"there are no criteria for {activity_id} for the financial year {year}; they begin with the financial"
                f" year {first} (states in the catalogue: {', '.join(self.versions(activity_id))})"
            )
        notes = []
        if year < first:
            notes.append(f"{activity_id} has criteria from the financial year {first}; those are used for {year}")
        begun = [e for e in candidates if self._of(e) <= date(year + 1, 12, 31)]
        entry = begun[-1] if begun else candidates[0]
        state = self.states[entry["state"]]
        if not begun and not notes:
            notes.append(f"the wording for {year} is not in the catalogue: that of {state.named} is used")
        elif state.valid_to and state.valid_to < date(year, 12, 31):
            notes.append(
                f"the wording used is that of {state.named}; it was in force to {state.valid_to} and may have been"
                " amended since"
            )
        return Found(self._activity(entry), bool(notes), (*notes, *_said(entry, year)))

    def _activity(self, entry: Mapping[str, Any]) -> Activity:
        key = id(entry)
        if key not in self._made:
            self._made[key] = records.activity(entry, self.states[entry["state"]].named)
        return self._made[key]


def _said(entry: Mapping[str, Any], year: int) -> Iterator[str]:
    """What else is to be known of the first year of an activity."""
    first = date.fromisoformat(entry["first_applied"]).year - 1
    if year == first and entry["first_applied"] not in _AT_ONCE:
        yield f"{year} is its first financial year: only eligibility had to be reported, alignment from {year + 1}"


def order(activity_id: str) -> tuple[int, tuple[int, ...]]:
    """A key that sorts ids by objective and number: CCM 3.9 before CCM 3.10."""
    code, _, number = activity_id.partition(" ")
    codes = ("CCM", "CCA", "WTR", "CE", "PPC", "BIO")
    return codes.index(code), tuple(int(part) for part in number.split("."))


def read(path: Path) -> Catalogue:
    """A catalogue's file (.json or .json.gz). InputError where it is none."""
    try:
        content = path.read_bytes()
        data = json.loads(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)
        return Catalogue(data)
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{path}: cannot be read as a taxonomy catalogue ({type(error).__name__}: {str(error)[:80]}); build one"
            " with: responsa taxonomy build"
        ) from error


@functools.lru_cache(maxsize=1)
def shipped() -> Catalogue:
    """The catalogue of this distribution."""
    return read(Path(__file__).parent / "data" / "catalogue.json.gz")


def load(path: Path | None = None) -> Catalogue:
    """A catalogue of the user's own, else the one that ships."""
    return shipped() if path is None else read(path)
