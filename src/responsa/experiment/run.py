"""Running an experiment, checking what it needs, and reading what it found.

OUT/runs/                                the runs, shared by all tables
OUT/TABLE/results.json, table.md         scores, differences, published figures
OUT/TABLE/manifest.json                  what every run was made of
OUT/TABLE/*.svg                          plots
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from responsa.errors import InputError, MissingDependency, NotFound, ResponsaError, StorageError
from responsa.evaluate.ranking import score_run
from responsa.experiment import plots, report
from responsa.experiment.results import results
from responsa.experiment.runs import FORMAT, Outcome, Runs, lacking, plan, versions
from responsa.experiment.table import Table
from responsa.models.chat.calls import spent
from responsa.models.chat.dryrun import Planned
from responsa.storage import write_json, write_text
from responsa.types import Run

Json = dict[str, Any]
RESULTS = "results.json"
_SCORING = ("numpy", "scipy", "pytrec-eval-terrier", "matplotlib")  # what scores, tests and plots depend on


def run(table: Table, runs: Runs, seed: int, say: Callable[[str], None]) -> Json:
    """Run what can be run of a table, write its results beside ``runs.folder``, and return them.

    ``say`` is told of rows that failed, and of what a language model's work on a row took. The same rows over the same
    data give the same bytes.
    """
    score_run(Run("", {}), runs.data.judgements[:1], table.measures)  # what scoring needs is missed now, not at the end
    folder = runs.folder.parent / table.name
    make_folder(folder)
    make_folder(runs.folder)
    outcomes: list[Outcome] = []
    for row in table.rows:
        outcome = runs.row(row)
        outcomes.append(outcome)
        if outcome.state == "failed":  # of rows that were not run the table tells
            say(f"{row.name}: failed: {outcome.reason}")
        if outcome.trace:
            say(f"{row.name}: language model {outcome.trace[0].model}: {spent(outcome.trace)}")
    found = results(table, outcomes, runs.data, runs.k, seed)
    write_json(found, folder / RESULTS)
    write_json(_manifest(table, outcomes, runs, seed), folder / "manifest.json")
    drawn = write_plots(lambda: plots.plots(found), folder, say)
    write_text(report.markdown(found, drawn), folder / "table.md")
    return found


def check(table: Table) -> list[Json]:
    """Of each row whether it can be run on this machine, what it needs, and what is missing."""
    rows = []
    for row in table.rows:
        needed: list[str] = []
        try:
            parts = plan(row, None)
            needed = [need.name for part in parts for need in part.needs]
            reason = lacking(parts)
        except ResponsaError as error:
            reason = str(error)
        rows.append({"name": row.name, "label": row.label, "runs": not reason, "needs": needed, "reason": reason})
    return rows


def plans(table: Table, runs: Runs) -> list[tuple[str, str, list[Planned]]]:
    """Of each row its label, why it would not be run, and what it would send to a language model; nothing is sent."""
    return [(row.label, *runs.planned(row)) for row in table.rows]


def read(table: str, out: Path) -> Json:
    """The results that `run` wrote. NotFound where it did not."""
    path = out / table / RESULTS
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise NotFound(
            f"{table}: no results in {str(out)!r}; make them with: responsa experiment run {table}"
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read ({error}); run the experiment again") from error
    if not isinstance(found, dict) or not {"table", "rows", "questions", "against", "folds", "cuts"} <= found.keys():
        raise InputError(f"{path}: holds no results; run the experiment again")
    return found


def make_folder(folder: Path) -> None:
    """The folder and those above it. StorageError where the disk refuses."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"{folder}: cannot be made: {error.strerror}; name another folder with --out") from error


def write_plots(draw: Callable[[], dict[str, str]], folder: Path, say: Callable[[str], None]) -> list[str]:
    """The names of the plots written; those of an earlier run that are not drawn again are removed."""
    try:
        drawn = draw()
    except MissingDependency as error:
        say(f"no plots: {error}")
        drawn = {}
    for old in folder.glob("*.svg"):
        if old.name not in drawn:
            old.unlink()
    for name, svg in drawn.items():
        write_text(svg, folder / name)
    return sorted(drawn)


def _manifest(table: Table, outcomes: Sequence[Outcome], runs: Runs, seed: int) -> Json:
    """What the results were made of: digests and versions, no dates and no places."""
    return {
        "format": FORMAT,
        "table": table.name,
        "versions": versions(*_SCORING),
        "library": runs.corpus.digest,
        **runs.data.digests,
        "k": runs.k,
        "seed": seed,
        "measures": [str(measure) for measure in table.measures],
        "rows": [
            {"name": outcome.row.name, "state": outcome.state, "runs": [dict(each) for each in outcome.made]}
            for outcome in outcomes
        ],
    }
