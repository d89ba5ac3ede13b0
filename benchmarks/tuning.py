"""How the shipped settings were found: ``python -m benchmarks.tuning``.

Prints the table of docs/bm25.md, one setting changed at a time, and the weights of the confidence, fitted by logistic
regression with both classes weighing alike on 1,000 dev questions (`data.fitting`) and 40 questions on another
regulator's rules.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

import numpy as np
from scipy.optimize import minimize

from benchmarks import data
from responsa import questions
from responsa.answer.abstain import TermCoverage
from responsa.corpus.library import Library
from responsa.corpus.view import Corpus
from responsa.evaluate.ranking import Measure, score_run
from responsa.retrieval.bm25 import BM25
from responsa.types import Query

TUNE = data.OTHER_REGULATOR.with_name("other_regulator_tune.jsonl")
_NO_WINDOWS = 100_000  # words: longer than any passage
ROWS: dict[str, dict[str, object]] = {
    "`bm25`": {},
    "words only": {"bigram_weight": 0.0},
    "bigrams count as much as words": {"bigram_weight": 1.0},
    "bigram weight .4": {"bigram_weight": 0.4},
    "no context": {"context_weight": 0.0},
    "context weight .4": {"context_weight": 0.4},
    "context weight 1": {"context_weight": 1.0},
    "small stop list (33 words)": {"stopwords": "small"},
    "no stop list": {"stopwords": "none"},
    "no stemming": {"stemmer": "none"},
    "Porter instead of Snowball English": {"stemmer": "porter"},
    "no windows": {"window": _NO_WINDOWS},
    "windows of 150 words, 30 shared": {"window": 150, "overlap": 30},
    "variant `robertson`": {"variant": "robertson"},
    "variant `atire`": {"variant": "atire"},
    **{f"k1 {k1}, b {b}": {"k1": k1, "b": b} for k1, b in ((0.9, 0.4), (1.2, 0.75), (1.5, 0.75), (0.3, 0.7))},
    **{f"k1 {k1}, b {b}": {"k1": k1, "b": b} for k1, b in ((0.5, 0.7), (0.4, 0.6), (0.4, 0.8))},
    "k1 .9, b .4, words only, small stop list, no context, no windows": {
        "k1": 0.9, "b": 0.4, "bigram_weight": 0.0, "stopwords": "small", "context_weight": 0.0, "window": _NO_WINDOWS,
    },
}  # fmt: skip


def print_table(corpus: Corpus) -> None:
    """R@10, MAP@10 and R@10 of questions with several gold passages, for each row."""
    asked, gold = data.dev_questions(), data.dev_gold(corpus)
    recall, precision = Measure("recall", 10), Measure("MAP", 10)
    for name, changed in ROWS.items():
        stage = replace(BM25(), **changed)  # type: ignore[arg-type]
        scores = score_run(stage(asked, corpus, 100), gold, (recall, precision))
        several = mean(scores.values(recall, "2+"))
        print(f"| {name} | {mean(scores.values(recall)):.4f} | {mean(scores.values(precision)):.4f} | {several:.4f} |")


def shares(asked: list[Query], corpus: Corpus) -> np.ndarray:
    """Both shares that the confidence is made of, a row for each question."""
    retriever = BM25()
    run, idf = retriever(asked, corpus, 100), retriever.idf(corpus)
    # The logit of the confidence with one weight 1 and nothing else is that share.
    logit = np.zeros((len(asked), 2))
    for column, stage in enumerate(
        (TermCoverage(words=1, bigrams=0, bias=0), TermCoverage(words=0, bigrams=1, bias=0))
    ):
        for row, query in enumerate(asked):
            confidence = stage(query, run.rankings[query.id], corpus, idf)
            logit[row, column] = np.log(confidence / (1 - confidence)) if confidence else 0.0
    return logit


def fit(groups: Sequence[tuple[float, np.ndarray, bool]]) -> np.ndarray:
    """Weights of the columns, and the bias last, by logistic regression over groups of rows: what a group counts for
    as a whole, its rows, and whether the library answers its questions."""
    x = np.vstack([rows for _, rows, _ in groups])
    sign = np.concatenate([np.full(len(rows), 1.0 if answered else -1.0) for _, rows, answered in groups])
    weight = np.concatenate([np.full(len(rows), share / len(rows)) for share, rows, _ in groups])

    def loss(w: np.ndarray) -> float:
        return float((weight * np.logaddexp(0, -sign * (x @ w[:-1] + w[-1]))).sum() + 1e-5 * (w[:-1] ** 2).sum())

    return minimize(loss, np.zeros(x.shape[1] + 1)).x


def main() -> None:
    """Print both."""
    with tempfile.TemporaryDirectory() as folder:
        data.build(Path(folder) / "library")
        with Library.open(Path(folder) / "library") as library:
            corpus = library.corpus()
            print_table(corpus)
            here = shares(data.fitting(), corpus)
            elsewhere = shares(list(questions.read(TUNE)), corpus)
    words, bigrams, bias = fit([(1.0, here, True), (1.0, elsewhere, False)])
    print(f"confidence: words {words:.1f}, bigrams {bigrams:.1f}, bias {bias:.1f}")


if __name__ == "__main__":
    main()
