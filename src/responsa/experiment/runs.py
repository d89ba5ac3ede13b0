"""The runs of an experiment on disk: each is computed once, and again when something it was made of has changed.

runs/NAME.run, runs/NAME.json            a run and what it was made of; one for each fold where a recipe names {fold}
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import resources
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal, cast

from responsa import recipe as recipes
from responsa.corpus.library import Library
from responsa.corpus.view import Corpus
from responsa.engine import Engine
from responsa.errors import InputError, MissingDependency, ModelError, NotFound
from responsa.evaluate.trec import read_run, write_run
from responsa.experiment.data import Data, digest_of
from responsa.experiment.needs import Need, identity, missing, needs
from responsa.experiment.table import Row, has_fold, of_fold
from responsa.models.chat.dryrun import DryRuns, Foreseen, Planned
from responsa.recipe import Recipe
from responsa.retrieval import Hybrid, Retriever
from responsa.retrieval.bm25 import BM25
from responsa.retrieval.hybrid import stages_of
from responsa.retrieval.late import Late
from responsa.retrieval.listwise import Listwise, asked_by, asking
from responsa.retrieval.sparse import Sparse
from responsa.retrieval.vectors import Dense
from responsa.storage import write_json
from responsa.text import digest
from responsa.types import Call, Query, Ranking, Run

FORMAT = 1
# What a run depends on beside its inputs: libraries, those of the schemes that name its models, and our own code.
_LIBRARIES = ("numpy", "bm25s", "PyStemmer")
_OF_SCHEME = {
    **dict.fromkeys(("embedded", "onnx"), ("onnxruntime", "tokenizers")),
    **dict.fromkeys(("hf", "pylate"), ("torch", "transformers", "sentence-transformers", "pylate")),
}
_PAID = ("voyage", "openai", "http", "https")  # schemes of models that a dry run must not ask
_CODE = ("analysis", "corpus", "engine", "models", "retrieval", "text", "types")

State = Literal["done", "not run here", "failed"]
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Part:
    """One run: a recipe on some of the questions, the ``file`` it is kept in, and what both were made of."""

    file: str
    recipe: Recipe
    queries: tuple[Query, ...]

    @property
    def needs(self) -> list[Need]:
        """The models and files of the recipe."""
        return needs(self.recipe.retrieve)


@dataclass(frozen=True)
class Outcome:
    """What became of a row. ``made`` says of each of its runs what it was made of, as the manifest does. ``trace`` has
    the requests to a language model of the runs that were computed now."""

    row: Row
    state: State
    reason: str = ""
    run: Run | None = None
    made: tuple[Mapping[str, object], ...] = ()
    trace: tuple[Call, ...] = ()


@dataclass(frozen=True)
class Runs:
    """Makes the runs of rows, all over one corpus and the same questions, in a folder.

    ``fresh`` computes also what is there. ``progress`` is told how many questions of a row are done. With ``found``
    each retriever of a fusion searches once for all the rows: for sweeps, whose rows share their retrievers.
    ``foreseen`` is what the rows that were planned already would send.
    """

    folder: Path
    library: Library
    corpus: Corpus
    data: Data
    k: int
    fresh: bool = False
    progress: Progress = field(default=lambda _done, _total, _label: None)
    found: dict[object, Run] | None = None
    foreseen: Foreseen = field(default_factory=Foreseen)

    def row(self, row: Row) -> Outcome:
        """The row's run: read where it is there and still what would be made, else made and kept, part by part.

        A row that lacks a model, a key, a library or a file is not run; one that goes wrong has failed. Neither
        stops the others; errors of the library and of the disk do.
        """
        try:
            parts = plan(row, self.data)
            reason = lacking(parts)
            if reason:
                return Outcome(row, "not run here", reason)
            rankings: dict[str, Ranking] = {}
            made = []
            trace: list[Call] = []
            for part in parts:
                found, inputs = self._part(part, row, len(rankings))
                rankings |= found.rankings
                made.append(inputs)
                trace += found.calls
        except MissingDependency as error:
            return Outcome(row, "not run here", str(error))
        except (InputError, NotFound, ModelError) as error:
            return Outcome(row, "failed", str(error))
        if not any(ranking.hits for ranking in rankings.values()):
            return Outcome(
                row,
                "failed",
                f"no passage was found for any of {len(self.data.queries):,} questions; "
                "does the library hold the documents that they ask about?",
            )
        ordered = {query.id: rankings[query.id] for query in self.data.queries if query.id in rankings}
        return Outcome(row, "done", "", Run(row.name, ordered), tuple(made), tuple(trace))

    def planned(self, row: Row) -> tuple[str, list[Planned]]:
        """Why the row would not be run, else what its stages that ask a language model would send for the runs that are
        not there, beyond what rows planned before it would. Nothing is sent: where models behind an API find or order
        the passages, those of BM25 stand in."""
        runs = DryRuns(foreseen=self.foreseen)
        try:
            parts = plan(row, self.data)
            reason = lacking(parts)
            if reason:
                return reason, []
            for part in parts:
                retrieve = part.recipe.retrieve
                if not asking(retrieve) or (not self.fresh and _kept(self.folder / part.file, self._inputs(part))):
                    continue
                dry = replace(part.recipe, retrieve=asked_by(unpaid(retrieve), runs))
                Engine(self.library, dry).run(
                    part.queries,
                    self.k,
                    progress=lambda done, total: self.progress(done, total, f"{row.name}, planning"),
                    corpus=self.corpus,
                )
        except (InputError, NotFound, ModelError, MissingDependency) as error:
            return str(error), []
        return "", runs.planned()

    def _part(self, part: Part, row: Row, before: int) -> tuple[Run, dict[str, object]]:
        path = self.folder / part.file
        inputs = self._inputs(part)
        if not self.fresh and (known := _kept(path, inputs)) is not None:
            return known, inputs | {"sha256": _sha256(path)}
        for stage in stages_of(part.recipe.retrieve):
            if isinstance(stage, Dense | Sparse | Late):  # may take long: its progress is told apart
                stage.prepare(self.corpus, lambda done, total, _: self.progress(done, total, f"{row.name}, encoding"))
        recipe = part.recipe if self.found is None else remembering(part.recipe, self.found)
        made = Engine(self.library, recipe).run(
            part.queries,
            self.k,
            progress=lambda done, _: self.progress(before + done, len(self.data.queries), row.name),
            corpus=self.corpus,
        )
        write_run(Run(row.name, made.rankings), path)
        inputs["sha256"] = _sha256(path)
        write_json(inputs, path.with_suffix(".json"))
        # What reading the file would give: scores are whole in it, questions without a hit are not.
        found = {name: Ranking(name, ranking.hits) for name, ranking in made.rankings.items() if ranking.hits}
        return Run(row.name, found, made.trace), inputs

    def _inputs(self, part: Part) -> dict[str, object]:
        """What a run is made of. Models and files are named by their content, not by where they lie."""
        names = {need.name: identity(need) for need in part.needs}
        stages = repr(part.recipe.retrieve)
        for name, content in names.items():
            stages = stages.replace(repr(name), repr(content))
        schemes = sorted({name.partition(":")[0] for name in names})
        libraries = [library for scheme in schemes for library in _OF_SCHEME.get(scheme, ())]
        made: dict[str, object] = {
            "file": part.file,
            "format": FORMAT,
            "recipe": digest(stages),
            "models": sorted(names.values()),
            "library": self.corpus.digest,
            "questions": digest_of(part.queries),
            "k": self.k,
            "versions": versions(*_LIBRARIES, *libraries),
            "code": code(),
        }
        return made | {"inputs": digest(made)}


@dataclass(frozen=True)
class _Remembered:
    """A retriever that looks first whether it has been asked the same before."""

    inner: Retriever
    found: dict[object, Run] = field(repr=False, compare=False)

    def __call__(self, queries: Sequence[Query], corpus: Corpus, k: int) -> Run:
        key = (repr(self.inner), digest_of(queries), k)
        if key not in self.found:
            self.found[key] = self.inner(queries, corpus, k)
        return self.found[key]

    def prepare(self, corpus: Corpus) -> object:
        return self.inner.prepare(corpus)

    def ready(self, corpus: Corpus) -> bool:
        return self.inner.ready(corpus)


def remembering(recipe: Recipe, found: dict[object, Run]) -> Recipe:
    """The recipe with retrievers side by side that keep in ``found`` what they find."""
    if not isinstance(recipe.retrieve, Hybrid):
        return recipe
    stages = tuple(_Remembered(stage, found) for stage in recipe.retrieve.stages)
    return replace(recipe, retrieve=replace(recipe.retrieve, stages=stages))


def unpaid(retrieve: Retriever) -> Retriever:
    """The retriever, in which BM25 finds the passages for its language models where others are asked behind an API."""
    others = (need.name for need in needs(retrieve) if need.stage != Listwise.__name__)
    if any(name.partition(":")[0] in _PAID for name in others):
        return Hybrid((BM25(),), rerank=asking(retrieve))
    return retrieve


def plan(row: Row, data: Data | None) -> list[Part]:
    """The runs that a row is made of: one, or one for each fold where its recipe names ``{fold}``.

    Without data the recipe is read as for the first fold. InputError for ``{fold}`` without folds.
    """
    stages = row.stages()
    if not has_fold(stages):
        return [Part(f"{row.name}.run", _parsed(stages, row), data.queries if data else ())]
    if data is None:
        return [Part(f"{row.name}.fold0.run", _parsed(of_fold(stages, 0), row), ())]
    if not data.folds:
        raise InputError(f"the recipe {row.recipe!r} names {{fold}}; give the folds with --folds FILE")
    return [
        Part(f"{row.name}.fold{number}.run", _parsed(of_fold(stages, number), row), queries)
        for number, queries in enumerate(data.folds)
        if queries
    ]


def lacking(parts: list[Part]) -> str:
    """Why these parts cannot be run on this machine; "" where they can."""
    return next((reason for part in parts for need in part.needs if (reason := missing(need))), "")


def versions(*libraries: str) -> dict[str, str]:
    """The versions of Responsa and of those of these libraries that are installed."""
    found = {"responsa": version("responsa")}
    for name in dict.fromkeys(libraries):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


@lru_cache(maxsize=4)
def code(units: tuple[str, ...] = _CODE) -> str:
    """Names modules of Responsa and the data beside them, by default those that make runs: changed ones make them
    anew, whatever the version says."""
    root = Path(str(resources.files("responsa")))
    paths = [
        path
        for path in sorted(root.rglob("*.*"))
        if path.suffix in (".py", ".json", ".jsonl") and path.relative_to(root).parts[0].removesuffix(".py") in units
    ]
    return digest([[path.relative_to(root).as_posix(), _sha256(path)] for path in paths])


def _parsed(stages: object, row: Row) -> Recipe:
    return recipes.parse(cast(dict[str, object], stages), row.name, row.recipe)


def _kept(path: Path, inputs: Mapping[str, object]) -> Run | None:
    """The run in a file, where it is whole and was made of just these inputs."""
    try:
        written = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        if not isinstance(written, dict) or written.get("inputs") != inputs["inputs"]:
            return None
        if written.get("sha256") != _sha256(path):
            return None
    except (OSError, ValueError, RecursionError):
        return None
    return read_run(path)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
