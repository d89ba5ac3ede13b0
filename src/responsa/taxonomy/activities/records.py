"""Activities and criteria as the JSON of a catalogue's file, and back. Fields with their default value are left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import date
from typing import Any, TypeVar

from responsa.taxonomy.values import Activity, Criterion, Threshold

Json = Any
_Made = TypeVar("_Made")
_DATES = frozenset({"valid_from", "valid_to", "first_applied"})


def _plain(value: object, *names: str) -> dict[str, Json]:
    """The fields of a dataclass that are not empty, without those named."""
    found: dict[str, Json] = {}
    for each in fields(value):  # type: ignore[arg-type]
        held = getattr(value, each.name)
        if each.name == "value" or (each.name not in names and held not in ("", None, (), 0, False)):
            found[each.name] = (
                held.isoformat() if isinstance(held, date) else list(held) if isinstance(held, tuple) else held
            )
    return found


def threshold_record(value: Threshold) -> dict[str, Json]:
    return _plain(value)


def criterion_record(value: Criterion) -> dict[str, Json]:
    """Logic stands where there are parts."""
    record = _plain(value, "parts", "thresholds", *(() if value.parts else ("logic",)))
    if value.thresholds:
        record["thresholds"] = [threshold_record(each) for each in value.thresholds]
    if value.parts:
        record["parts"] = [criterion_record(part) for part in value.parts]
    return record


def activity_record(value: Activity) -> dict[str, Json]:
    record = _plain(value, "substantial_contribution", "dnsh", "source")
    record["substantial_contribution"] = criterion_record(value.substantial_contribution)
    record["dnsh"] = {code: criterion_record(each) for code, each in value.dnsh.items()}
    return record


def _given(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {
        key: date.fromisoformat(value)
        if key in _DATES and value
        else tuple(value)
        if isinstance(value, list)
        else value
        for key, value in record.items()
        if key not in names
    }


def criterion(record: Mapping[str, Any]) -> Criterion:
    given = {"number": "", "text": "", **_given(record, "parts", "thresholds")}
    return Criterion(
        **given,
        parts=tuple(criterion(part) for part in record.get("parts", ())),
        thresholds=tuple(
            Threshold(**{"metric": "", "unit": "", **_given(each)}) for each in record.get("thresholds", ())
        ),
    )


def activity(record: Mapping[str, Any], source: str) -> Activity:
    given = _given(record, "substantial_contribution", "dnsh", "state", "first_applied")
    given = {"description": "", "nace": (), "sector": "", "name": "", **given}
    return Activity(
        **given,
        substantial_contribution=criterion(record["substantial_contribution"]),
        dnsh={code: criterion(each) for code, each in record["dnsh"].items()},
        source=source,
    )


def state(record: Mapping[str, Any], made: Callable[..., _Made]) -> _Made:
    return made(**{"valid_to": None, **_given(record)})


def state_record(value: object) -> dict[str, Json]:
    return _plain(value)
