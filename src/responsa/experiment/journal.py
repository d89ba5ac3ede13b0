"""A journal: lines of JSON that are added one by one and outlive a kill.

The first line names what the others were made of; under another name they do not count. A last line that a kill cut
off is dropped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from responsa.errors import StorageError
from responsa.storage import write_text

Json = dict[str, Any]


class Journal:
    """The lines of a file by ``key``; of lines with one key the last counts. The file is written at the first new line.
    Not for several threads."""

    def __init__(self, path: Path, made_of: str, key: Callable[[Mapping[str, Any]], str], fresh: bool = False) -> None:
        self.path, self._key = path, key
        rows = [] if fresh else _read(path)
        self._head: Json = {"made_of": made_of}
        self._rows = {key(row): row for row in rows[1:]} if rows and rows[0] == self._head else {}
        self._begun = False

    def get(self, key: str) -> Json | None:
        """The line of that key."""
        return self._rows.get(key)

    def add(self, row: Mapping[str, Any]) -> None:
        """Keep a line, on the disk before this returns. StorageError where the disk refuses."""
        if not self._begun:  # written whole: the next line must not run into one that was cut off
            write_text("".join(map(_line, [self._head, *self._rows.values()])), self.path)
            self._begun = True
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(_line(row))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StorageError(f"{self.path}: cannot be written: {error.strerror}") from error
        self._rows[self._key(row)] = dict(row)


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"


def _read(path: Path) -> list[Json]:
    """The lines up to the first that is none."""
    try:
        text = path.read_bytes().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror}") from error
    rows = []
    for line in text.split("\n")[:-1]:  # what follows the last line end was cut off
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            break
        if not isinstance(row, dict):
            break
        rows.append(cast("Json", row))
    return rows
