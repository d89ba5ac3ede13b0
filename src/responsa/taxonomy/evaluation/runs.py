"""Runs of evidence recipes on rows that people marked, as files; and the gold that they are scored against.

A run is a TREC run file whose queries are the rows' ids and whose documents are chunks. Gold is JSON: for each row its
documents, each a list of chunks any of which will do, because chunks overlap. TREC qrels serve as well.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any

from responsa.errors import InputError, MissingDependency, ModelError
from responsa.evaluate.trec import read_gold, read_run, write_run
from responsa.models.chat import ChatModel
from responsa.models.chat.load import VARIABLE
from responsa.storage import write_json
from responsa.taxonomy.activities import catalogue
from responsa.taxonomy.evaluation.evidence import HELD, MarkedRow, covers, holds
from responsa.taxonomy.evaluation.retrieval import Gold
from responsa.taxonomy.evidence.recipes import EvidenceRecipe, load
from responsa.taxonomy.evidence.report import Report
from responsa.taxonomy.evidence.retrieve import CHUNKS, find
from responsa.text import digest
from responsa.types import Ranking, Run

GOLD, STATES, ENDING = "gold.json", "runs.json", ".run"
_FINDING = ("asking", "lexical", "queries", "recipes", "report", "retrieve", "scoring", "vectors")
NEEDS_CHAT = (
    f"a language model makes its queries, and none was given: set {VARIABLE} or --model to one such as "
    "'openai:gpt-5.6-luna'"
)
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class State:
    """What became of a recipe: ``done``, ``kept`` (nothing had changed), or ``not run``. ``reason``
    says why it was not, or for how many rows a language model was of no use. ``key`` is a digest of what went in,
    ``model`` the language model that made queries."""

    recipe: str
    state: str
    reason: str = ""
    key: str = ""
    model: str = ""


def documents(row: MarkedRow, report: Report) -> list[list[str]]:
    """For each quote that decides, the chunks that have it whole. Where none has: those with most of its words, if that
    is four fifths of them, else the first with most.

    The thesis takes the chunk with most of its words (appendix C). Chunks that hold it whole are all as good. A
    quote that is in no chunk of its page stands for itself: nothing finds it.
    """
    found: dict[tuple[str, ...], None] = {}
    for place, quote in enumerate(row.quotes):
        if quote not in row.deciding():
            continue
        own = [chunk for chunk in report.chunks if chunk.page == quote.page]
        whole = [chunk.id for chunk in own if holds(chunk.text, quote.text)]
        if not whole:
            shares = {chunk.id: covers(chunk.text, quote.text) for chunk in own}
            most = max(shares.values(), default=0.0)
            enough = [name for name, share in shares.items() if share >= HELD and share == most]
            whole = enough or [next((name for name, share in shares.items() if share == most > 0), f"{row.id}#{place}")]
        found[tuple(whole)] = None
    return [list(each) for each in found]


def write_gold(gold: Gold, path: Path) -> None:
    """The rows with their documents, in order."""
    write_json(
        {"rows": [{"id": row, "documents": [sorted(each) for each in items]} for row, items in gold.items()]}, path
    )


def read_evidence_gold(path: Path) -> dict[str, list[Collection[str]]]:
    """Gold as `write_gold` writes it, or TREC qrels and what else `read_gold` reads: a document for each judgement with
    a grade above 0. InputError for a row that comes twice, and where nothing is right in any row."""
    try:
        given = json.loads(path.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        given = None
    found: dict[str, list[Collection[str]]] = {}
    if isinstance(given, dict) and "rows" in given:
        if not isinstance(given["rows"], list):
            raise InputError(f"{path}: 'rows' is of type {type(given['rows']).__name__}; expected a list")
        try:
            for place, row in enumerate(given["rows"], 1):
                if row["id"] in found:
                    raise InputError(f"{path}: row {place}: {row['id']!r} comes twice")
                items = [frozenset(map(str, each)) for each in row["documents"]]
                if not all(items):
                    raise InputError(f"{path}: row {place}: a document without a chunk")
                found[str(row["id"])] = [*items]
        except (KeyError, TypeError) as error:
            raise InputError(f"{path}: row {place} is not of the form ({type(error).__name__}: {error})") from error
    else:
        for each in read_gold(path):
            own = found.setdefault(each.query_id, [])
            if each.grade > 0:
                own.append({each.passage_id, *each.alternatives})
    if not any(found.values()):
        raise InputError(f"{path}: nothing is right in any row; give rows with evidence")
    return found


def run_files(paths: Iterable[Path]) -> list[Path]:
    """The files given, and those ending in .run of the folders given, by name."""
    found: list[Path] = []
    for path in paths:
        found += sorted(path.glob(f"*{ENDING}")) if path.is_dir() else [path]
    return found


def read_runs(paths: Sequence[Path]) -> dict[str, Run]:
    """Runs by their names. An empty file is the run of a recipe that finds nothing, by the file's name. InputError
    where a name comes twice."""
    found: dict[str, Run] = {}
    places: dict[str, Path] = {}
    for path in paths:
        empty = path.is_file() and not path.stat().st_size
        run = Run(path.stem.replace("+", "*"), {}) if empty else read_run(path)
        if run.name in found:
            raise InputError(f"{path}: run {run.name!r} is in {places[run.name]} already; leave one of them")
        found[run.name], places[run.name] = run, path
    return found


def file_name(recipe: str) -> str:
    """Of a recipe's run: Windows allows no star in names."""
    return f"{Path(recipe).stem.replace('*', '+')}{ENDING}"


def make_runs(
    rows: Sequence[MarkedRow],
    reports: Mapping[str, Report],
    recipes: Sequence[str],
    folder: Path,
    chat: ChatModel | None = None,
    model: str = "",
    chunks: int = CHUNKS,
    fresh: bool = False,
    progress: Progress = lambda _done, _total, _label: None,
) -> list[State]:
    """Write gold, a run for each recipe, and what became of each.

    The thesis's recipes and those with a filter give all that they find, ours, which rank every chunk, the first
    ``chunks``.
    A run whose rows, reports, recipe and ``model`` are as they were is kept, unless ``fresh``. A recipe that lacks a
    language model or a library is not run, and its run of before is put aside.
    """
    write_gold({row.id: documents(row, reports[row.report]) for row in rows}, folder / GOLD)
    before = states_in(folder / STATES)
    states = dict(before)
    for at, name in enumerate(recipes):
        progress(at, len(recipes), name)
        recipe, path = load(name), folder / file_name(name)
        most = _most(recipe, chunks)
        asked = model if recipe.needs_chat else ""
        key = _key(recipe, rows, reports, asked, most)
        old = before.get(name)
        if old and not fresh and _kept(old, key, path):
            states[name] = replace(old, state="kept")
            continue
        states[name] = _run(State(name, "done", "", key, asked), recipe, rows, reports, chat, path, most)
        write_json({"runs": [asdict(each) for each in states.values()]}, folder / STATES)
    progress(len(recipes), len(recipes), "")
    write_json({"runs": [asdict(each) for each in states.values()]}, folder / STATES)
    return [states[name] for name in recipes]


def asking(
    rows: Sequence[MarkedRow],
    reports: Mapping[str, Report],
    recipes: Sequence[str],
    folder: Path,
    model: str,
    chunks: int = CHUNKS,
    fresh: bool = False,
) -> list[str]:
    """Of the recipes those for which `make_runs` would ask the model of that name: their runs are not there as they
    would be made."""
    before, found = states_in(folder / STATES), []
    for name in recipes:
        recipe, old = load(name), before.get(name)
        key = _key(recipe, rows, reports, model, _most(recipe, chunks))
        if recipe.needs_chat and (fresh or not old or not _kept(old, key, folder / file_name(name))):
            found.append(name)
    return found


def _most(recipe: EvidenceRecipe, chunks: int) -> int:
    """How many chunks a recipe's run has for a row; 0 for all that it finds."""
    return chunks if recipe.retriever == "weighted" and not recipe.filter else 0


def _key(
    recipe: EvidenceRecipe, rows: Sequence[MarkedRow], reports: Mapping[str, Report], model: str, chunks: int
) -> str:
    """Of all that a run is made of."""
    return digest([version("responsa"), _code(), asdict(recipe), _made_of(rows, reports), model, chunks])


def _kept(state: State, key: str, path: Path) -> bool:
    return state.key == key and path.is_file()


def _run(
    state: State,
    recipe: EvidenceRecipe,
    rows: Sequence[MarkedRow],
    reports: Mapping[str, Report],
    chat: ChatModel | None,
    path: Path,
    chunks: int,
) -> State:
    if recipe.needs_chat and chat is None:
        return _not_run(state.recipe, NEEDS_CHAT, path)
    shipped = catalogue.shipped()
    rankings: dict[str, Ranking] = {}
    notices: list[str] = []
    try:
        for row in rows:
            activity = shipped.find(row.activity, row.year).activity
            found = find(reports[row.report], activity, recipe, chunks, chat, row.year)
            rankings[row.id] = Ranking.of(row.id, [(each.passage_id, each.score) for each in found.evidence])
            notices += found.notices[:1]
    except (MissingDependency, ModelError) as error:
        return _not_run(state.recipe, str(error), path)
    if recipe.needs_chat and len(notices) == len(rows):  # what was found is not the recipe's
        return _not_run(state.recipe, notices[0], path)
    write_run(Run(Path(state.recipe).stem, rankings), path)
    return replace(state, reason=f"{len(notices)} of {len(rows)} rows: {notices[0]}") if notices else state


def _not_run(recipe: str, reason: str, path: Path) -> State:
    """A run of before is put aside: it would be scored against gold that it was not made for."""
    if path.is_file():
        aside = path.with_name(f"{path.name}.old")
        path.replace(aside)
        reason += f"; its run of before is now {aside.name}"
    return State(recipe, "not run", reason)


def _made_of(rows: Sequence[MarkedRow], reports: Mapping[str, Report]) -> list[Any]:
    return [[row.id, row.activity, row.year, reports[row.report].digest] for row in rows]


@lru_cache(maxsize=1)
def _code() -> str:
    """Of what finds evidence: changed code makes runs anew."""
    folder = resources.files("responsa.taxonomy.evidence")
    return digest([(folder / f"{name}.py").read_text(encoding="utf-8") for name in _FINDING])


def states_in(path: Path) -> dict[str, State]:
    """What a run of before left; nothing where the file is not there or not ours."""
    try:
        listed = json.loads(path.read_text("utf-8"))["runs"]
        return {each["recipe"]: State(**each) for each in listed}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
