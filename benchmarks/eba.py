"""Which articles of the CRR answer an inquiry to the EBA: ``python -m benchmarks.eba [--encoder NAME]``.

Five-fold cross-validation over the English inquiries with gold articles. Whatever is fitted is fitted on the training
folds; scores that a mixture learns its weights from are those of models that did not see the inquiry. Prints a
table and writes ``benchmarks/eba.json``. What is computed is kept in ``--work``: a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np

from benchmarks import data
from benchmarks.eba_bench import (
    ALL,
    KEPT_WORDS,
    PARAGRAPH,
    Bench,
    background,
    question,
    reduced,
    scaled,
    text_of,
    whole,
)
from benchmarks.report import grid
from responsa.evaluate.agreement import bootstrap_mean, paired_test
from responsa.learn import eba
from responsa.learn.eba.dataset import open_source, write
from responsa.retrieval.bm25 import BM25
from responsa.retrieval.evidence import KnownQuestions, read_memory
from responsa.storage import write_json
from responsa.text import digest
from responsa.types import Run

RESULTS = data.ROOT / "benchmarks" / "eba.json"
BASELINE = "BM25, articles"
NAMED_FREQUENT = "named, then frequent articles"
ZERO_SHOT = "zero-shot encoder, paragraphs"
CUTS = (5, 10, 20, 30)
NOTHING, COUNTS, MODEL, MEMORY = "nothing", "counts and weights", "a model", "its questions"
_RIDGE, _DENSE = 0.5, 0.5  # of the classifier; see docs/eba.md
_BACKGROUND = 0.3  # what a background counts beside a question of 1, where they are asked apart


# Systems


def retrievers(bench: Bench) -> None:
    """What reads the act."""

    bm25 = BM25()
    add = bench.add
    add(BASELINE, NOTHING, lambda: bench.retrieve(bm25, "articles", whole))
    add("BM25, articles, question alone", NOTHING, lambda: bench.retrieve(bm25, "articles", question))
    for decay, how in ((0.0, "best"), (0.5, "best five")):
        for ask, what in ((whole, ""), (question, ", question alone"), (background, ", background alone")):
            name = f"BM25, paragraphs, {how}{what}"
            add(name, NOTHING, lambda ask=ask, decay=decay: bench.retrieve(bm25, "paragraphs", ask, decay))
    first = bench.scores["BM25, paragraphs, best five, question alone"]
    second = bench.scores["BM25, paragraphs, best five, background alone"]
    add(
        f"BM25, paragraphs, best five, question + {_BACKGROUND} background",
        NOTHING,
        lambda: _plus(first, _BACKGROUND * second),
        _BACKGROUND,
    )
    add(
        f"BM25, paragraphs, best five, background cut to {KEPT_WORDS} words",
        NOTHING,
        lambda: bench.retrieve(bm25, "paragraphs", reduced, 0.5),
    )
    add("named articles", NOTHING, lambda: bench.array(Run("", {i.id: eba.Named()(i) for i in bench.items})))
    if bench.encoder:
        rows = np.arange(len(bench.items))
        add(ZERO_SHOT, NOTHING, lambda: bench.nearest(bench.encoder, rows), bench.encoder)
    if bench.trained:
        add("trained encoder, paragraphs", MODEL, lambda: _trained(bench), bench.trained)


def _plus(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    both = np.where(np.isfinite(first), first, 0) + np.where(np.isfinite(second), second, 0)
    return np.where(np.isfinite(first) | np.isfinite(second), both, -np.inf)


def _trained(bench: Bench) -> np.ndarray:
    """Each inquiry by the encoder that was trained without its fold."""
    scores = np.full(bench.gold.shape, -np.inf)
    for k in range(5):
        rows = np.flatnonzero(bench.fold == k)
        scores[rows] = bench.nearest(bench.trained.replace("{fold}", str(k)), rows)
    return scores


def counted(bench: Bench) -> None:
    """What counts the gold of the training folds."""

    def frequent(training: np.ndarray, test: np.ndarray) -> np.ndarray:
        counts = bench.gold[training].sum(axis=0)
        return np.tile(np.where(counts > 0, counts / len(training), -np.inf), (len(test), 1))

    def baseline(training: np.ndarray, test: np.ndarray) -> np.ndarray:
        learned = eba.NamedThenFrequent.learn([bench.items[row] for row in training])
        return bench.array(Run("", {bench.items[row].id: learned(bench.items[row], ALL) for row in test}))[test]

    def logs(training: np.ndarray, test: np.ndarray) -> np.ndarray:
        counts = bench.gold[training].sum(axis=0)
        return np.tile(np.log((counts + 0.1) / len(training)), (len(test), 1))

    bench.add("frequent articles", COUNTS, lambda: bench.cross(frequent))
    bench.add(NAMED_FREQUENT, COUNTS, lambda: bench.cross(baseline))
    bench.add("frequency", "", lambda: bench.cross(logs))
    bench.inner("frequency", logs)


def known(bench: Bench) -> None:
    """Archived questions lend their articles: those of the training folds, and all that were answered before."""

    def memory(rows: Sequence[int], name: str) -> Path:
        path = bench.work / "known" / f"{digest([name, bench._fingerprint, bench.seed])[:16]}.jsonl"
        path.parent.mkdir(exist_ok=True)
        lines = [
            {"question": item.query.text, "passages": [eba.passage_id(each) for each in item.articles]}
            for item in (bench.items[row] for row in rows)
        ]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return path

    def lend(training: np.ndarray, test: np.ndarray) -> np.ndarray:
        path = memory([int(row) for row in training], str(bench.fold[test[0]]))
        return bench.retrieve(KnownQuestions(str(path), 30, 0.0), "articles", question, rows=test)[test]

    def before() -> np.ndarray:
        remembered = read_memory(memory(range(len(bench.items)), "all"))
        scores = np.full(bench.gold.shape, -np.inf)
        for row, item in enumerate(bench.items):
            lent: dict[int, float] = defaultdict(float)
            near = [
                (likeness, other)
                for likeness, other in remembered.nearest(item.question, len(bench.items))
                if _answered(bench.items[other], item)
            ]
            for likeness, other in near[:30]:
                for column in np.flatnonzero(bench.gold[other]):
                    lent[int(column)] += likeness
            scores[row, list(lent)] = list(lent.values())
        return scores

    bench.add("known questions", MEMORY, lambda: bench.cross(lend))
    bench.add("known questions, answered before", MEMORY, before)


def _answered(other: eba.Inquiry, item: eba.Inquiry) -> bool:
    """Whether another inquiry had its answer when one was submitted."""
    return bool(other.published and item.submitted and other.published < item.submitted)


def classifiers(bench: Bench) -> None:
    """From words to articles."""
    act = bench.act
    written = [_labelled(item) for item in bench.written]

    def fitted(texts: list[eba.Labelled], test: Sequence[int], encoder: str = "") -> np.ndarray:
        found = eba.ArticleClassifier.learn(texts, _RIDGE, bench.open(encoder) if encoder else None, _DENSE)
        scores = np.zeros((len(test), len(bench.articles)))
        columns = [bench.column.get(label, -1) for label in found.labels]
        inside = [place for place, column in enumerate(columns) if column >= 0]
        told = found.scores([text_of(bench.items[row]) for row in test])
        scores[:, [columns[place] for place in inside]] = told[:, inside]
        return scores

    def learned(*more: eba.Labelled) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        return lambda training, test: fitted([*[_labelled(bench.items[row]) for row in training], *more], test)

    def before() -> np.ndarray:
        """For the inquiries of a half-year: all that was answered before it."""
        scores = np.zeros(bench.gold.shape)
        halves = defaultdict(list)
        for row, item in enumerate(bench.items):
            if item.submitted:
                halves[date(item.submitted.year, 1 if item.submitted.month < 7 else 7, 1)].append(row)
        for start, rows in halves.items():
            old = [_labelled(item) for item in bench.items if item.published and item.published < start]
            scores[rows] = fitted([*old, *written, *act], rows)
        return scores

    rows = range(len(bench.items))
    bench.add("classifier: act", NOTHING, lambda: fitted(act, rows), _RIDGE)
    bench.add("classifier: written, act", NOTHING, lambda: fitted([*written, *act], rows), _RIDGE, PARAGRAPH)
    if bench.encoder:
        name = "classifier: written, act, with zero-shot vectors"
        made = _RIDGE, PARAGRAPH, _DENSE, bench.encoder
        bench.add(name, NOTHING, lambda: fitted([*written, *act], rows, bench.encoder), *made)
    bench.add("classifier: archive", MODEL, lambda: bench.cross(learned()), _RIDGE)
    bench.add("classifier: archive, written", MODEL, lambda: bench.cross(learned(*written)), _RIDGE)
    name = "classifier: archive, written, act"
    bench.add(name, MODEL, lambda: bench.cross(learned(*written, *act)), _RIDGE, PARAGRAPH)
    bench.inner(name, learned(*written, *act), _RIDGE, PARAGRAPH)
    bench.add(f"{name}, answered before", MODEL, before, _RIDGE, PARAGRAPH)


def _labelled(item: eba.Inquiry) -> eba.Labelled:
    return eba.Labelled(text_of(item), tuple(map(eba.passage_id, item.articles)))


def mixtures(bench: Bench) -> None:
    """Sums of the scores above."""
    name = "classifier: archive, written, act"
    scores = bench.scores
    for made in (name, *(f"{name} (without fold {k})" for k in range(5))):
        low = np.log(np.maximum(np.where(np.isfinite(scores[made]), scores[made], 0), 0) + 0.01)
        scores[made.replace("classifier", "log classifier")] = low
    scores["named in the question"] = _mentions(bench, lambda item: replace(item, background=""))
    words = [f"BM25, paragraphs, best five{what}" for what in ("", ", question alone", ", background alone")]
    words += [BASELINE, "named articles", "named in the question"]
    given = "classifier: written, act" + (", with zero-shot vectors" if bench.encoder else "")
    scores["log " + given] = np.log(np.maximum(scores[given], 0) + 0.01)
    words += [given, "log " + given, *([ZERO_SHOT] if bench.encoder else [])]
    archive = [name, name.replace("classifier", "log classifier"), "frequency"]
    made = [bench.encoder, _RIDGE, PARAGRAPH]
    simple = ["BM25, paragraphs, best five", "named articles", given, *([ZERO_SHOT] if bench.encoder else [])]
    bench.add("sum of BM25, named, written" + ", zero-shot" * bool(bench.encoder), NOTHING,
              lambda: np.sum([scaled(scores[each]) for each in simple], axis=0), *made)  # fmt: skip
    bench.add("mixture without the archive's questions", COUNTS, lambda: bench.mixture(words, ()), *made, words)
    bench.add("the same and the frequency of articles", COUNTS,
              lambda: bench.mixture([*words, "frequency"], ("frequency",)), *made, words)  # fmt: skip
    bench.add("classifier and named articles", MODEL,
              lambda: bench.mixture([*archive[:2], *words[4:6]], archive), *made)  # fmt: skip
    bench.add("mixture of all", MODEL, lambda: bench.mixture([*words, *archive], archive), *made, words)
    if bench.trained:
        more = "trained encoder, paragraphs"
        bench.add("mixture of all and the trained encoder", MODEL,
                  lambda: bench.mixture([*words, *archive, more], archive), *made, words, bench.trained)  # fmt: skip


def _mentions(bench: Bench, cut: Callable[[eba.Inquiry], eba.Inquiry]) -> np.ndarray:
    return bench.array(Run("", {item.id: eba.Named()(cut(item)) for item in bench.items}))


# Figures


def recalls(scores: np.ndarray, gold: np.ndarray, k: int) -> np.ndarray:
    """Recall@k of each inquiry; at equal scores the later article comes first, as in a `Ranking`."""
    order = scores.shape[1] - 1 - np.argsort(-scores[:, ::-1], axis=1, kind="stable")
    top = order[:, :k]
    hit = np.take_along_axis(gold, top, axis=1) * np.isfinite(np.take_along_axis(scores, top, axis=1))
    return hit.sum(axis=1) / gold.sum(axis=1)


def figures(bench: Bench) -> list[dict[str, object]]:
    """For each system and stratum recall, and the differences to both baselines with their intervals."""
    beside = {name: recalls(bench.scores[name], bench.gold, 10) for name in (BASELINE, NAMED_FREQUENT)}
    table_rows = []
    for name, uses in bench.uses.items():
        if not uses:
            continue
        row: dict[str, object] = {"system": name, "learns from the archive": uses}
        for stratum, rows in bench.strata.items():
            ten = recalls(bench.scores[name], bench.gold, 10)[rows]
            mean = bootstrap_mean(ten.tolist())
            above = {
                f"above {other}": paired_test(ten.tolist(), values[rows].tolist()).difference
                for other, values in beside.items()
            }
            row[stratum] = {
                **{f"recall@{k}": float(recalls(bench.scores[name], bench.gold, k)[rows].mean()) for k in CUTS},
                "interval": [mean.low, mean.high],
                **{what: [found.mean, found.low, found.high] for what, found in above.items()},
            }
        table_rows.append(row)
    return table_rows


def table(bench: Bench, found: Sequence[dict[str, object]]) -> str:
    """Recall@10 by stratum, with the difference to BM25 over articles and its paired interval."""
    header = ("system", "learns from the archive", *(f"{name} ({len(rows)})" for name, rows in bench.strata.items()))
    lines = []
    for row in found:
        cells = []
        for stratum in bench.strata:
            value = row[stratum]
            mean, low, high = value[f"above {BASELINE}"]  # type: ignore[index]
            ten = value["recall@10"]  # type: ignore[index]
            cells.append(
                f"{ten:.3f}" + (f" ({mean:+.3f} [{low:+.3f} {high:+.3f}])" if row["system"] != BASELINE else "")
            )
        lines.append((str(row["system"]), str(row["learns from the archive"]), *cells))
    return "\n".join(grid(header, lines))


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.eba", description=__doc__)
    parser.add_argument("--encoder", default="", help="an encoder that was not trained on the archive: onnx:DIR")
    parser.add_argument("--trained", default="", help="encoders trained without a fold each: onnx:DIR{fold}")
    parser.add_argument("--work", type=Path, default=data.ROOT / "build" / "eba", help="where what is computed is kept")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--seed", type=int, default=0, help="of the folds")
    arguments = parser.parse_args()
    folder = data.folder()
    source = open_source(folder / "eba_qa", folder / "eu_law" / "articles" / eba.CRR.lower())
    arguments.work.mkdir(parents=True, exist_ok=True)
    report = write(source, arguments.work / "data", seed=arguments.seed)
    bench = Bench(source, arguments.work, arguments.encoder, arguments.trained, arguments.seed)
    for part in (retrievers, counted, known, classifiers, mixtures):
        part(bench)
    found = figures(bench)
    counts = {name: len(rows) for name, rows in bench.strata.items()}
    model = bench.open(bench.encoder).name if bench.encoder else ""
    write_json({"data": report.counts, "inquiries": counts, "encoder": model, "rows": found}, arguments.out)
    print(table(bench, found))


if __name__ == "__main__":
    main()
