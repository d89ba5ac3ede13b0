"""The confidence of `responsa.answer.likeness`: how its weights were found, and what it does on other libraries.

``python -m benchmarks.likeness FOLDER`` fits the weights with the encoder of the first fold in the folder that
``training/build`` writes, which has not learned from the questions of that fold.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks import data, pra
from benchmarks.tuning import TUNE, fit
from responsa import questions, recipe, sample
from responsa.answer.likeness import Likeness
from responsa.corpus import library
from responsa.corpus.library import Library
from responsa.corpus.view import Corpus
from responsa.engine import prepare
from responsa.learn.examples import read_folds
from responsa.retrieval.bm25 import BM25
from responsa.retrieval.hybrid import DEPTH
from responsa.storage import write_text
from responsa.types import Query

Values = npt.NDArray[np.float64]
RECIPES = ("bm25", "hybrid")
_STRANGERS = 125  # questions of ObliQA put to the library of another regulator


@contextmanager
def libraries() -> Iterator[tuple[Corpus, Corpus, Corpus]]:
    """The rulebooks of ObliQA, the pages of the other regulator and the sample rulebook."""
    with tempfile.TemporaryDirectory(prefix="responsa-bench-") as name, ExitStack() as stack:
        at = Path(name)
        data.build(at / "adgm")
        write_text(pra.as_jsonl(pra.rules(pra.pages())), at / "pra.jsonl")
        library.add(at / "pra", [at / "pra.jsonl"], prepare(recipe.load("bm25")))
        library.add(at / "sample", [sample.rulebook()], prepare(recipe.load("bm25")))
        found = [stack.enter_context(Library.open(at / each)).corpus() for each in ("adgm", "pra", "sample")]
        yield found[0], found[1], found[2]


def values(asked: Sequence[Query], corpus: Corpus, by: str, stage: Likeness) -> Values:
    """The three values that the confidence is made of, a row for each question, ranked by the recipe ``by``."""
    run, idf = recipe.load(by).retrieve(asked, corpus, 1), BM25().idf(corpus)
    return np.array([stage.values(query, run.rankings[query.id], corpus, idf) for query in asked])


def other_regulator() -> tuple[list[Query], list[Query]]:
    """The questions that its pages answer: every second to fit, the others to test."""
    asked = list(questions.read(pra.GOLD))
    return asked[::2], asked[1::2]


def _first_fold() -> Collection[str]:
    """The questions that the weights were fitted on, which the encoder of the first fold has not learned from."""
    return read_folds(data.folder() / "obliqa" / "folds.json")[0].test


def answered() -> list[tuple[str, ...]]:
    """Of questions that a library answers or does not, the share to which the confidences of `bm25` and of `hybrid`
    give an answer: library, questions, whether it answers them, how many, both shares. Of the questions on ADGM's rules
    none is among those that the weights were fitted on."""
    _, tested = other_regulator()
    fitted = _first_fold()
    strangers = [query for query in data.dev_questions() if query.id not in fitted][:_STRANGERS]
    own = list(questions.read(sample.questions()))
    with libraries() as (adgm, other, small):
        asked = (
            ("PRA pages", "on them", True, tested, other),
            ("PRA pages", "on ADGM's rules", False, strangers, other),
            ("sample rulebook", "on it", True, own, small),
            ("sample rulebook", "that it leaves open", False, list(questions.read(sample.unanswerable())), small),
            ("sample rulebook", "on ADGM's rules", False, strangers, small),
            ("ADGM rulebooks", "on PRA rules", False, list(questions.read(data.OTHER_REGULATOR)), adgm),
        )
        return [
            (where, what, "yes" if holds else "no", f"{len(each)}", *(_share(each, corpus, by) for by in RECIPES))
            for where, what, holds, each, corpus in asked
        ]


def _share(asked: Sequence[Query], corpus: Corpus, by: str) -> str:
    made = recipe.load(by)
    run, idf = made.retrieve(asked, corpus, DEPTH), BM25().idf(corpus)
    kept = [made.abstain(query, run.rankings[query.id], corpus, idf) >= made.abstain.least for query in asked]
    return f"{np.mean(kept):.2f}"


def main(folder: Path) -> None:
    """Print the weights."""
    stage = Likeness(f"onnx:{folder}/fold0/encoder")
    names = _first_fold()
    given = (*data.dev_questions(), *questions.read(data.folder() / "obliqa" / "train_extra.json"))
    own = [query for query in given if query.id in names]
    fitted, _ = other_regulator()
    with libraries() as (adgm, other, small):
        by = str(folder / "hybrid-0.toml")
        groups = (
            (0.3, values(own, adgm, by, stage), True),
            (0.2, values(fitted, other, by, stage), True),
            (0.3, values(list(questions.read(TUNE)), adgm, by, stage), False),
            (0.1, values(own[:_STRANGERS], other, by, stage), False),
            (0.1, values(fitted, small, by, stage), False),
        )
    words, nearest, apart, bias = fit(groups)
    print(f"likeness: words {words:.1f}, nearest {nearest:.1f}, apart {apart:.1f}, bias {bias:.1f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
