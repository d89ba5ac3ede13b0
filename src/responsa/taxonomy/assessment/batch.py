"""Many reports and activities: each pair's assessment is kept in a journal as soon as it is made.

A journal is a file of lines, written and forced to disk one by one; a process that is killed loses what it was at, no
more, and the next run goes on where it ended. A line says what it was made from: where that has changed, it is made
again. Lines that are torn or of another format are passed over.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from responsa.errors import InputError, ResponsaError, StorageError
from responsa.taxonomy.assessment import wire
from responsa.taxonomy.values import Asking, Assessment
from responsa.text import digest

FORMAT = 1


class Row(NamedTuple):
    """A report and an activity, as given, and what became of them: an assessment, or why there is none."""

    report: str
    activity: str
    made: Assessment | None = None
    failure: str = ""
    kept: bool = False


def key(report: str, activity: str, criteria: str, year: int, asking: Asking, model: str) -> str:
    """What an assessment is made from: the digest of the report, the activity's id and the digest of what the catalogue
    says of it, the year and all options; ``model`` is the model's full name."""
    return digest([FORMAT, report, activity, criteria, year, wire.plain(asking), model])


@dataclass
class Journal:
    """Assessments by their key, in a file; without a path they are kept nowhere."""

    path: Path | None
    _known: dict[str, Assessment] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.path is None or not self.path.exists():
            return
        try:
            lines = self.path.read_bytes().split(b"\n")
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read: {error.strerror}; check the path") from error
        for line in lines:
            with contextlib.suppress(ValueError, KeyError, TypeError):
                row = json.loads(line)
                if row["format"] == FORMAT:
                    self._known[row["key"]] = wire.made(Assessment, row["assessment"])

    def __len__(self) -> int:
        return len(self._known)

    def get(self, name: str) -> Assessment | None:
        """What was kept under a key."""
        return self._known.get(name)

    def put(self, name: str, made: Assessment) -> None:
        """Keep an assessment; it is on disk when this returns. StorageError where the disk refuses."""
        self._known[name] = made
        if self.path is None:
            return
        row = {"format": FORMAT, "key": name, "assessment": wire.plain(made)}
        line = json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass")
        try:
            with self.path.open("ab") as file:
                # A line that a killed process left unfinished ends here.
                file.write((b"\n" if file.tell() else b"") + line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StorageError(
                f"{self.path}: cannot be written: {error.strerror}; free some space or choose another folder"
            ) from error

    def remove(self) -> None:
        """Delete the file: all that it holds is in the result."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def rows(
    pairs: Iterable[tuple[str, str]],
    make: Callable[[str, str], tuple[str, Callable[[], Assessment]]],
    journal: Journal,
) -> Iterator[Row]:
    """A row for each pair of a report and an activity, in order.

    ``make`` gives the key of a pair and what makes its assessment; where either raises a `ResponsaError`, the row says
    so and the others go on. An assessment that failed is not kept.
    """
    for report, activity in pairs:
        try:
            name, build = make(report, activity)
            known = journal.get(name)
            made = known or build()
        except StorageError:
            raise
        except ResponsaError as error:
            yield Row(report, activity, None, str(error))
            continue
        if known is None and not made.failure:
            journal.put(name, made)
        yield Row(report, activity, made, made.failure, known is not None)
