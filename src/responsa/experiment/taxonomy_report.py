"""Tables and figures of the EU Taxonomy evaluation, from files into a folder; the same files give the same bytes."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from responsa.errors import InputError
from responsa.experiment import taxonomy_plots as plots
from responsa.storage import write_json, write_text
from responsa.taxonomy.evaluation import answers
from responsa.taxonomy.evaluation.answers import Annotated
from responsa.taxonomy.evaluation.files import read_annotations
from responsa.taxonomy.evaluation.retrieval import Cut, Gold, found_in, score, sweep, udr_matrix
from responsa.taxonomy.evaluation.rows import assessment_files, beside, read_assessments, read_judged, summarise
from responsa.taxonomy.evaluation.runs import STATES, State, read_evidence_gold, read_runs, run_files, states_in
from responsa.taxonomy.evaluation.tables import (
    NOT_RUN,
    Cell,
    Sheet,
    agreement_sheet,
    answer_sheets,
    published,
    retrieval_sheet,
    rows_sheets,
    sweep_sheet,
    udr_share_sheet,
    udr_sheet,
)
from responsa.taxonomy.evidence import recipes
from responsa.types import Run

BARS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "figure-8.1": ("Keywords, documents reduced too", ("kw", "kw_sw*", "kw_tfidf*", "kw_yake*", "kw_bert*")),
    "figure-8.2": ("Keywords, each a query", ("kw", "kw_sw**", "kw_tfidf**", "kw_yake**", "kw_bert**")),
    "figure-8.3": ("Keywords joined", ("kw", "kw_sw", "kw_tfidf", "kw_yake", "kw_bert")),
    "figure-8.4": ("Vectors", ("vector", "vector_qs", "vector_qe", "vector_prfqe", "vector_qeha")),
    "figure-8.5": (
        "Hybrid and others",
        ("kw", "vector", "vector_qs", "vector_qe", "vector_qeha", "hb", "hb_qs", "hb_qe", "hb_qeha"),
    ),
}
"""The recipes of the figures with bars; figure 8.6 has those of 8.5."""
SWEEPS: Mapping[str, str] = {
    "figure-8.7": "hb_qe_own",
    "figure-8.8": "hb_qeha_own",
    "figure-8.9": "hb_qe_common",
    "figure-8.10": "hb_qeha_common",
}
MANIFEST = "manifest.json"

_OURS = re.compile(r"(?:table|figure|sweep|rows|raters|retrieval|udr)[\w.+-]*\.(?:csv|svg)|report\.md|results\.json")
_DIGITS = 6
_DECIMALS = 4


@dataclass(frozen=True)
class Inputs:
    """The files that there are. ``rater`` names the one whose ratings count, where there are several."""

    runs: tuple[Path, ...] = ()
    gold: Path | None = None
    annotations: Path | None = None
    rows: Path | None = None
    assessments: tuple[Path, ...] = ()
    rater: str = ""


@dataclass
class Made:
    """The tables in their order, figures by file name, why a figure is not there, and remarks on the files."""

    sheets: list[Sheet] = field(default_factory=list)
    figures: dict[str, str] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    read: list[Path] = field(default_factory=list)


def evaluate(inputs: Inputs) -> Made:
    """All that the files give; tables of what they do not give have the published figures alone.

    InputError for files that do not go together, MissingDependency without scipy or matplotlib where they are needed.
    """
    if not (inputs.runs or inputs.annotations or inputs.rows):
        raise InputError("nothing to evaluate; give --runs and --gold, --annotations, or --rows and --assessment")
    if bool(inputs.runs) != (inputs.gold is not None):
        raise InputError("runs and gold go together; give --runs FOLDER and --gold FILE")
    if bool(inputs.assessments) != (inputs.rows is not None):
        raise InputError("judged rows and assessments go together; give --rows FILE and --assessment FILE")
    made = Made()
    _answers(made, inputs)
    _retrieval(made, inputs)
    _rows(made, inputs)
    return made


def _answers(made: Made, inputs: Inputs) -> None:
    annotated: list[Annotated] = []
    if inputs.annotations:
        annotated, blank = read_annotations(inputs.annotations)
        made.read.append(inputs.annotations)
        if blank:
            made.remarks.append(f"Generations not rated yet: {len(blank)}, the first on line {blank[0]}.")
    names = answers.raters(annotated)
    if inputs.rater and inputs.rater not in names:
        raise InputError(f"--rater: {inputs.rater!r} rated nothing; raters: {', '.join(map(repr, names)) or 'none'}")
    if len(names) > 1:
        made.remarks.append(f"Tables 7.1 to 7.6 are of the ratings of {inputs.rater or names[0]!r}.")
    own = [each for each in annotated if each.rater == (inputs.rater or names[0])]
    made.sheets += answer_sheets(own)
    agreed = agreement_sheet(annotated)
    made.sheets += [agreed] if agreed else []
    chains: dict[str, dict[str, int]] = {
        m: answers.chains(each) for m in answers.METHODS[1:] if (each := answers.of_method(own, m))
    }
    if chains:
        made.figures["figure-chains.svg"] = plots.counts(chains, "chain type")
    scores = {m: answers.counts(each, 3) for m in answers.METHODS if (each := answers.of_method(own, m))}
    if scores:
        named: dict[str, dict[str, int]] = {
            m: {str(value): count for value, count in each.items()} for m, each in scores.items()
        }
        made.figures["figure-conclusions.svg"] = plots.counts(named, "score of the conclusion")


def _retrieval(made: Made, inputs: Inputs) -> None:
    runs: dict[str, Run] = {}
    gold: Gold = {}
    reasons: dict[str, str] = {}
    if inputs.gold:
        files = run_files(inputs.runs)
        if not files:
            raise InputError("no run in the folders given; write some with taxonomy evaluate runs")
        gold, runs = read_evidence_gold(inputs.gold), read_runs(files)
        made.read += [inputs.gold, *files]
        for folder in inputs.runs:
            reasons |= {name: _remark(each) for name, each in states_in(folder / STATES).items()}
        _check(runs, gold, made)
    found = {name: found_in(run) for name, run in runs.items()}
    scores = {name: score(own, gold) for name, own in found.items()}
    figured = dict.fromkeys(name for _, names in BARS.values() for name in names)
    every = list(dict.fromkeys([*figured, *SWEEPS.values(), *recipes.shipped(), *runs]))
    made.sheets.append(retrieval_sheet(scores, every, reasons))
    for file, (_, names) in BARS.items():
        _figure(made, file, any(name in scores for name in names), partial(plots.bars, scores, names))
    others = [name for name in scores if name not in figured]
    if others:
        made.figures["figure-others.svg"] = plots.bars(scores, others)
    compared = {name: found[name] for name in (*BARS["figure-8.5"][1], *others) if name in found}
    matrix = udr_matrix(compared, gold)
    if len(compared) > 1:
        made.sheets += [udr_sheet(matrix), udr_share_sheet(matrix, scores)]
    _figure(made, "figure-8.6", len(compared) > 1, partial(plots.udr, matrix))
    _sweeps(made, runs, gold)


def _remark(state: State) -> str:
    return "; ".join(filter(None, [f"queries by {state.model}" if state.model else "", state.reason]))


def _check(runs: Mapping[str, Run], gold: Gold, made: Made) -> None:
    """Runs that know none of the gold's rows are of another set."""
    for name, run in runs.items():
        strange = [row for row in run.rankings if row not in gold]
        if strange and len(strange) == len(run.rankings):
            raise InputError(f"run {name!r}: none of its rows is in the gold, such as {strange[0]!r}; take one set")
        if strange:
            made.remarks.append(f"Run {name!r}: {len(strange)} rows are not in the gold, such as {strange[0]!r}.")


def _sweeps(made: Made, runs: Mapping[str, Run], gold: Gold) -> None:
    known = recipes.shipped()
    filtered = [name for name in runs if name in known and known[name].filter and name not in SWEEPS.values()]
    for file, name in {**SWEEPS, **{f"sweep-{name}": name for name in filtered}}.items():
        cuts: list[Cut] = sweep(runs[name], recipes.THRESHOLDS, gold) if name in runs else []
        made.sheets.append(sweep_sheet(file, name, cuts))
        _figure(made, file, bool(cuts), partial(plots.sweep, name, cuts))


def _figure(made: Made, file: str, there: bool, draw: Callable[[], str]) -> None:
    if there:
        made.figures[f"{file}.svg"] = draw()
    else:
        made.absent[file] = NOT_RUN


def _rows(made: Made, inputs: Inputs) -> None:
    if inputs.rows:
        rows = read_judged(inputs.rows)
        files = assessment_files(inputs.assessments)
        judged = beside(rows, read_assessments(files))
        if not judged:
            raise InputError("no assessment is of a row's report, activity and year; check --assessment")
        made.read += [inputs.rows, *files]
        made.sheets += rows_sheets(rows, judged, summarise(rows, judged))


# Into a folder


def write(made: Made, inputs: Inputs, folder: Path) -> list[str]:
    """The files written, by name. Those of an evaluation before that are not written again are removed.

    InputError where the folder holds other things and no evaluation.
    """
    old = _old(folder)
    folder.mkdir(parents=True, exist_ok=True)
    files = {f"{sheet.name}.csv": _csv(sheet) for sheet in made.sheets} | made.figures
    files["report.md"] = markdown(made)
    for name, text in files.items():
        write_text(text, folder / name)
    write_json(results(made), folder / "results.json")
    names = sorted([*files, "results.json"])
    for name in old - set(names):
        (folder / name).unlink(missing_ok=True)
    sums = [{"file": name, "sha256": _sum(folder / name)} for name in names]
    read = sorted(({"file": path.name, "sha256": _sum(path)} for path in made.read), key=lambda each: each["file"])
    manifest = {"responsa": version("responsa"), "rater": inputs.rater, "read": read, "written": sums}
    write_json(manifest, folder / MANIFEST)
    return [*names, MANIFEST]


def _old(folder: Path) -> set[str]:
    """The files of an evaluation before."""
    if not folder.is_dir():
        if folder.exists():
            raise InputError(f"{folder} is a file; name a folder")
        return set()
    if not (folder / MANIFEST).is_file():
        if any(folder.iterdir()):
            raise InputError(f"{folder} holds other files; name a new folder, or one of an evaluation before")
        return set()
    return {path.name for path in folder.iterdir() if _OURS.fullmatch(path.name)}


def results(made: Made) -> dict[str, Any]:
    """All tables as data, floats rounded to six digits."""
    return {
        "tables": [
            {**asdict(sheet), "rows": [[_rounded(cell) for cell in row] for row in sheet.rows]} for sheet in made.sheets
        ],
        "figures": sorted(made.figures),
        "not_drawn": made.absent,
        "remarks": made.remarks,
        "published": {"source": published()["source"], "rows": published()["rows"]},
    }


def markdown(made: Made) -> str:
    """The page of all tables with their figures."""
    text = "# EU Taxonomy: evaluation\n\n"
    text += f"Published figures: {published()['source']}. They stand in columns of their own; cells of columns"
    text += f' "here" were measured on the files in `{MANIFEST}`.\n\n'
    text += "".join(f"- {remark}\n" for remark in made.remarks) + ("\n" if made.remarks else "")
    for sheet in made.sheets:
        text += f"## {sheet.title} (`{sheet.name}`)\n\n"
        text += _line(sheet.header) + _line(["---", *["--:"] * (len(sheet.header) - 1)])
        text += "".join(_line([shown(cell) for cell in row]) for row in sheet.rows) + "\n"
        text += "".join(f"{note}\n\n" for note in sheet.notes)
    text += "## Figures\n\n"
    titles = {**{file: title for file, (title, _) in BARS.items()}, **SWEEPS}
    for name in made.figures:
        stem = name.removesuffix(".svg")
        text += f"{stem}{': ' + titles[stem] if stem in titles else ''}\n\n![{stem}]({name})\n\n"
    return text + "".join(f"- {name}: {reason}\n" for name, reason in made.absent.items())


def _csv(sheet: Sheet) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(sheet.header)
    writer.writerows([["" if cell is None else _harmless(_rounded(cell)) for cell in row] for row in sheet.rows])
    return out.getvalue()


def _harmless(cell: Cell) -> Cell:
    """Names of runs are from files: no spreadsheet shall take one for a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(("=", "+", "@")) else cell


def _rounded(cell: Cell) -> Cell:
    return round(cell, _DIGITS) + 0.0 if isinstance(cell, float) else cell  # + 0.0: no -0.0


def shown(cell: Cell) -> str:
    """A cell as people read it: floats with four digits, nothing for None."""
    return "" if cell is None else f"{_rounded(cell):.{_DECIMALS}f}" if isinstance(cell, float) else str(cell)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", r"\|") for cell in cells) + " |\n"


def _sum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
