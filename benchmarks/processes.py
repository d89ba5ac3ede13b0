"""Commands measured as whole processes: wall time from start to end, and peak resident memory."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_LAUNCHER = Path(__file__).with_name("launch.py")
RESPONSA = (sys.executable, "-m", "responsa")
MB = 1e6


@dataclass(frozen=True)
class Measured:
    """One process: seconds from start to end, bytes of resident memory at its peak, and what it printed.

    Resident memory counts the pages of mapped files that were touched.
    """

    wall: float
    peak: int
    output: str


def measure(command: Sequence[str | Path]) -> Measured:
    """Run a command to its end. RuntimeError, with what it said, where it fails."""
    with tempfile.TemporaryDirectory(prefix="responsa-bench-") as folder:
        output = Path(folder) / "output"
        launched = subprocess.run(
            [sys.executable, "-I", "-S", str(_LAUNCHER), str(output), *map(str, command)],
            capture_output=True,
            text=True,
            check=True,
            cwd=_LAUNCHER.parent.parent,
        )
        status, wall, peak = launched.stdout.split()
        if int(status):
            raise RuntimeError(f"{' '.join(map(str, command))}: exit status {status}: {launched.stderr.strip()}")
        return Measured(float(wall), int(peak), output.read_text(encoding="utf-8"))


def responsa(library: Path, *arguments: str | Path) -> Measured:
    """Run a command of Responsa on a library."""
    return measure([*RESPONSA, "--library", library, *arguments])


def median_wall(runs: Sequence[Measured]) -> float:
    """The median of the wall times."""
    return statistics.median(run.wall for run in runs)


def highest_peak(runs: Sequence[Measured]) -> int:
    """The highest of the peaks."""
    return max(run.peak for run in runs)
