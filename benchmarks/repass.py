"""RePASs: how fast our ``reference`` protocol scores, and how near it comes to the published script.

Both score the same answers with the same model folders, in 32 bits, without a cache, in one process on two cores, one
after the other in turn. The script is not ours to bring: ``--published`` names a checkout of RegNLP/RePASs, or its git
directory.
"""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import numpy as np

from benchmarks import repass_models
from benchmarks.data import progress
from benchmarks.repass_models import COVERAGE, NAMES, NLI, OBLIGATIONS
from benchmarks.report import ROOT, Part, Row
from responsa.evaluate.repass_files import COLUMNS, read_csv
from responsa.models.embedded import shipped

SCRIPT = "scripts/evaluate_model.py"
_CORES = 2
_MEASURED = COLUMNS[1:]
Times = dict[str, list[dict[str, float]]]


@dataclass(frozen=True)
class Options:
    """What is run. ``published`` None leaves the script out; ``models`` None makes models of ``size``."""

    published: Path | None = None
    answers: int = 6
    passages: int = 5
    models: Path | None = None
    size: str = "real"
    embedded: tuple[str, str] = ("embedded:nli", "embedded:obligations")
    repeats: int = 3


def part(options: Options) -> Part:
    """Everything of this module."""
    missing = [
        name for name in ("torch", "transformers", "sentence_transformers") if not importlib.util.find_spec(name)
    ]
    if missing:
        return Part("repass", (Row("RePASs", f"not run here: {', '.join(missing)} is not installed (responsa[hub])"),))
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:_CORES])
    with tempfile.TemporaryDirectory(prefix="responsa-bench-") as name:
        folder = Path(name)
        rows = repass_models.answers(options.answers, options.passages)
        (folder / "answers.json").write_text(json.dumps(rows), encoding="utf-8")
        if options.models:
            for each in NAMES:
                (folder / each).parent.mkdir(exist_ok=True)
                (folder / each).symlink_to((options.models / each).resolve(), target_is_directory=True)
        else:
            repass_models.make(folder, options.size, rows)
        commands, left_out = _commands(options, folder)
        times = _measured(commands, folder, options.repeats)
        asked = _twice(folder)
        return Part("repass", (*_rows(options, folder, times, left_out), asked))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _commands(options: Options, folder: Path) -> tuple[dict[str, list[str]], dict[str, str]]:
    """What to run, by name, and why something is not."""
    hub = {name: f"hf:{folder / name}" for name in NAMES}
    commands = {
        "ours": ["ours", *(hub[name] for name in NAMES)],
        "int8": ["ours", *(f"{hub[name]}?int8=yes" for name in NAMES)],
    }
    left_out = {}
    nli, obligations = options.embedded
    absent = [
        name for name in options.embedded if name.startswith("embedded:") and name.partition(":")[2] not in shipped()
    ]
    if absent:
        left_out["embedded"] = f"not run here: this copy ships no {' and no '.join(absent)}"
    else:
        commands["embedded"] = ["ours", nli, nli, obligations]
    try:
        commands["published"] = ["published", str(_script(options.published, folder))]
    except (OSError, subprocess.CalledProcessError) as error:
        left_out["published"] = f"not run here: no {SCRIPT} in {options.published}: {type(error).__name__}"
    except ValueError as error:
        left_out["published"] = f"not run here: {error}"
    return commands, left_out


def _script(given: Path | None, folder: Path) -> Path:
    """The published script, out of its git directory where ``given`` is no checkout."""
    if given is None:
        raise ValueError("--published names no copy of RegNLP/RePASs")
    if (given / SCRIPT).is_file():
        return (given / SCRIPT).resolve()
    bare = next((path for path in (given, given / "repo", given / ".git") if (path / "objects").is_dir()), given)
    told = subprocess.run(["git", "--git-dir", str(bare), "show", f"HEAD:{SCRIPT}"], capture_output=True, check=True)
    (folder / "published.py").write_bytes(told.stdout)
    return folder / "published.py"


def _measured(commands: Mapping[str, Sequence[str]], folder: Path, repeats: int) -> Times:
    """Each command in turn, so that all see the same machine."""
    times: Times = {name: [] for name in commands}
    for repeat in range(repeats):
        for name, command in commands.items():
            progress(f"scoring, {name}, {repeat + 1} of {repeats}")
            times[name].append(_run(folder, name, command))
    return times


def _run(folder: Path, name: str, command: Sequence[str], cache: str = "-") -> dict[str, float]:
    """Run in a process of its own, from the folder of the models; the scores go to ``NAME.csv``."""
    kind, *rest = command
    given = [str(folder / "answers.json"), str(folder / f"{name}.csv")]
    tail = [*rest, *given] if kind == "published" else [*given, *rest, cache]
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "OMP_NUM_THREADS": str(_cores()),
        "TOKENIZERS_PARALLELISM": "false",
    }
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.repass_run", kind, *tail],
        cwd=folder,
        env={**environment, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"scoring, {name}: {done.stderr[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _twice(folder: Path) -> Row:
    """The same file scored a second time, with the cache that the first left."""
    progress("scoring twice with a cache")
    command = ["ours", *(f"hf:{folder / name}" for name in NAMES)]
    first, again = (_run(folder, "cached", command, str(folder / "cache.sqlite")) for _ in range(2))
    count = int(again["asked"])
    return Row(
        "scoring the same file again: texts and pairs given to a model",
        f"{count} (the first time {int(first['asked']):,}), {again['score']:.2f} s",
        "0",
        count == 0 and first["asked"] > 0,
        {"asked": count},
    )


def _rows(options: Options, folder: Path, times: Times, left_out: Mapping[str, str]) -> list[Row]:
    middle = {name: statistics.median(each["score"] for each in found) for name, found in times.items()}
    opened = {name: statistics.median(each["open"] for each in found) for name, found in times.items()}
    kind = "given models" if options.models else f"models of {'the real' if options.size == 'real' else 'tiny'} shapes"
    what = f"{options.answers} answers, {options.passages} passages each, {kind}, {_cores()} cores"
    versions = f"torch {metadata.version('torch')}, transformers {metadata.version('transformers')}"
    if "published" in left_out:
        rows = [Row(f"published script, {what}", left_out["published"])]
    else:
        told = f"{middle['published']:.1f} s, models opened in {opened['published']:.1f} s"
        rows = [
            Row(f"published script, {what}, {versions}", told, values={"seconds": middle["published"]}),
            _parity(folder),
        ]
    for name, title, target in (
        ("ours", "`reference`, same models, 32 bits", 1.8),
        ("int8", "`reference`, same models, 8 bits", 4.0),
        ("embedded", f"`reference`, {' and '.join(options.embedded)}", 20.0),
    ):
        if name in left_out:
            rows.append(Row(title, left_out[name]))
            continue
        told, values = f"{middle[name]:.2f} s, models opened in {opened[name]:.1f} s", {"seconds": middle[name]}
        if "published" not in middle:
            rows.append(Row(title, told, values=values))
            continue
        ratio = middle["published"] / middle[name]
        met = ratio >= target if options.size == "real" or options.models else None
        rows.append(
            Row(
                title,
                f"{told}: {ratio:.1f} times as fast",
                f"at least {target:g} times",
                met,
                {**values, "ratio": ratio},
            )
        )
    rows.append(_near(folder))
    return rows


def _table(folder: Path, name: str) -> np.ndarray:
    return np.array([[row[column] for column in _MEASURED] for row in read_csv(folder / f"{name}.csv")])


def _parity(folder: Path) -> Row:
    """Our scores against the script's. A coverage that is always the same, or a class that never occurs, proves
    nothing."""
    theirs, ours = _table(folder, "published"), _table(folder, "ours")
    furthest = float(np.abs(theirs - ours).max())
    equal = int((theirs == ours).all(axis=1).sum())
    covered = float(theirs[:, 2].mean())
    telling = 0.2 <= covered <= 0.8 and theirs[:, 0].max() > 0.5 and theirs[:, 1].max() > 0.5
    return Row(
        "`reference` against the published script, any component of any answer",
        f"{furthest:.5f} at most; {equal} of {len(theirs)} answers equal to the digit; "
        f"{covered:.2f} of the obligations covered",
        "at most 0.0001, with 0.2 to 0.8 covered",
        bool(furthest <= 1e-4 and telling),
        {"difference": furthest, "covered": covered},
    )


def _near(folder: Path) -> Row:
    """The composite in 8 bits against that in 32."""
    apart = _table(folder, "int8")[:, 3] - _table(folder, "ours")[:, 3]
    mean, furthest = abs(float(apart.mean())), float(np.abs(apart).max())
    return Row(
        "8 bits against 32: composite of the file",
        f"{mean:.4f} apart, of one answer {furthest:.4f} at most",
        "at most 0.005",
        mean <= 0.005,
        {"difference": mean, "furthest": furthest},
    )


__all__ = ["COVERAGE", "NLI", "OBLIGATIONS", "Options", "part"]
