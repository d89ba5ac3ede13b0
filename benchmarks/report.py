"""What was measured, kept as JSON and printed as a table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import machine
from responsa.storage import write_text

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results.json"
PAGE = ROOT / "docs" / "benchmarks.md"
PARTS = {
    "quality": "Quality",
    "speed": "Speed",
    "retrieval": "Retrieval",
    "large": "Large",
    "repass": "RePASs",
    "citations": "References",
    "eu_law": "EU law",
    "pdf": "PDF",
    "taxonomy": "EU Taxonomy",
    "taxonomy_numbers": "Figures of reports",
    "fuzz": "Damaged files",
    "verified": "Verified answers",
}
Stored = dict[str, Any]  # a part or a row as JSON holds it

_INTRODUCTION = """# Benchmarks

Written by `scripts/bench`, which measures everything below anew; `scripts/bench quality` measures a part and keeps
the rest (`scripts/bench --help` lists the parts). Times are medians of repeats, memory is the highest peak of resident
memory, which counts the pages of mapped files that were touched. *Whole process* is from the start of a command to its
end, the interpreter included, in a new process each time; the files are in the page cache of the operating system.
"""


@dataclass(frozen=True)
class Row:
    """One line of the table. ``values`` holds the same figures in plain units for later comparison."""

    what: str
    measured: str
    target: str = ""
    met: bool | None = None
    values: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """More figures than a line has room for: a title, a header, and rows of cells."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Part:
    """What one part of the benchmarks measured."""

    name: str
    rows: tuple[Row, ...]
    tables: tuple[Table, ...] = ()


def record(part: Part) -> None:
    """Put the part into the results, in place of what was measured before, and write the page anew."""
    results = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    results[part.name] = {
        "measured": datetime.now(UTC).date().isoformat(),
        "machine": machine.describe(),
        **{key: value for key, value in asdict(part).items() if key != "name"},
    }
    write_text(json.dumps(results, indent=1, sort_keys=True) + "\n", RESULTS)
    write_text(page(results), PAGE)


def page(results: dict[str, Stored]) -> str:
    """The page with the table of all parts, in the order of `PARTS`."""
    names = [name for name in PARTS if name in results]
    lines = [_INTRODUCTION]
    for name in names:
        part = results[name]
        origin = f"`scripts/bench {name}`, {part['measured']}, on {_machine(part)}."
        lines += [f"## {PARTS[name]}", "", origin, ""]
        rows = [(row["what"], row["target"], _verdict(row), row["measured"]) for row in part["rows"]]
        lines += [*grid(("what", "target", "met", "measured"), rows), ""]
        for table in part["tables"]:
            lines += [f"### {table['title']}", "", *grid(table["header"], table["rows"]), ""]
            lines += [table["note"], ""] if table["note"] else []
    return "\n".join(lines).rstrip() + "\n"


def grid(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A Markdown table."""
    return [f"| {' | '.join(cells)} |" for cells in (header, ["---"] * len(header), *rows)]


def _machine(part: Stored) -> str:
    found = part["machine"]
    packages = ", ".join(f"{name} {found[name]}" for name in ("responsa", "numpy", "bm25s", "rank-bm25"))
    hardware = f"{found['processor']}, {found['cores']} cores, {found['memory']}"
    return f"{hardware}, {found['system']}, {found['python']}; {packages}"


def _verdict(row: Stored) -> str:
    return "" if row["met"] is None else "yes" if row["met"] else "**no**"
