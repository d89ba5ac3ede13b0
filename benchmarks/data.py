"""The real corpus and its questions; nothing of them is written into the repository."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

from responsa import questions, recipe
from responsa.corpus import library
from responsa.corpus.library import Library
from responsa.corpus.view import Corpus
from responsa.engine import prepare
from responsa.evaluate import trec
from responsa.types import Judgement, Query

ROOT = Path(__file__).resolve().parent.parent
OTHER_REGULATOR = ROOT / "benchmarks" / "data" / "other_regulator_test.jsonl"
_FITTED = 1000  # dev questions that the weights of the shipped confidence were fitted on
_TESTED = 100


def folder() -> Path:
    """The folder of the data sets: ``RESPONSA_DATA``, else ``../shared/data`` beside the checkout."""
    found = Path(os.environ.get("RESPONSA_DATA") or ROOT.parent / "shared" / "data")
    if not (found / "obliqa" / "dev.json").is_file():
        sys.exit("benchmarks: the data is missing: set RESPONSA_DATA to its folder; benchmarks large needs none")
    return found


def documents() -> Path:
    """The folder with the 40 documents."""
    return folder() / "obliqa" / "documents"


def dev_file() -> Path:
    """The file of the 2,788 dev questions with their gold passages."""
    return folder() / "obliqa" / "dev.json"


def dev_questions() -> tuple[Query, ...]:
    """The dev questions in the order of the file."""
    return questions.read(dev_file())


def dev_gold(corpus: Corpus) -> list[Judgement]:
    """The gold passages of the dev questions."""
    return trec.read_gold(dev_file(), lambda document, number: [found.id for found in corpus.find(document, number)])


def held_from_fitting() -> tuple[list[Query], list[Query]]:
    """Dev questions that the shipped confidence was not fitted on: 100 to test it, and all others.

    The fitting shuffled the dev questions with ``random.seed(1)``, left the first 100 out and took the next 1,000.
    """
    shuffled = _shuffled()
    return shuffled[:_TESTED], shuffled[_TESTED + _FITTED :]


def fitting() -> list[Query]:
    """The 1,000 dev questions that the shipped confidence was fitted on (benchmarks/tuning.py)."""
    return _shuffled()[_TESTED : _TESTED + _FITTED]


def _shuffled() -> list[Query]:
    shuffled = list(dev_questions())
    random.Random(1).shuffle(shuffled)
    return shuffled


def build(at: Path) -> None:
    """A library of the 40 documents, with the index of the default recipe."""
    report = library.add(at, [documents()], prepare(recipe.load("bm25")))
    if report.refused:
        sys.exit(f"benchmarks: refused: {report.refused[0].reason}")


def passages(at: Path) -> list[tuple[str, str]]:
    """Id and text of every passage with text in a library."""
    with Library.open(at) as opened:
        return [(item.id, item.text) for item in opened.corpus().values() if item.text.strip()]


def progress(text: str) -> None:
    """A line on stderr."""
    print(f"benchmarks: {text}", file=sys.stderr, flush=True)
