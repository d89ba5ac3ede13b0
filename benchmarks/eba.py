"""Which articles of the CRR answer an inquiry to the EBA: ``python -m benchmarks.eba [--encoder NAME]``.

Five-fold cross-validation over the English inquiries with gold articles. Whatever is fitted is fitted on the training
folds; scores that a mixture learns its weights from are those of models that did not see the inquiry. Prints a
table and writes ``benchmarks/eba.json``. What is computed is kept in ``--work``: a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from pathlib import Path

import numpy as np

from benchmarks import data
from benchmarks.report import grid
from responsa.analysis import Analysis
from responsa.cache import Cache
from responsa.corpus import library
from responsa.corpus.library import Library
from responsa.corpus.view import Corpus
from responsa.evaluate.agreement import bootstrap_mean, paired_test
from responsa.learn import eba
from responsa.learn.eba.dataset import Source, open_source, write
from responsa.models import Encoder
from responsa.models.http.cached import CachedEncoder
from responsa.models.load import load_encoder
from responsa.retrieval.bm25 import BM25
from responsa.retrieval.evidence import KnownQuestions, read_memory
from responsa.retrieval.hybrid import Retriever
from responsa.storage import write_json
from responsa.text import digest
from responsa.types import Query, Run

RESULTS = data.ROOT / "benchmarks" / "eba.json"
BASELINE = "BM25, articles"
NAMED_FREQUENT = "named, then frequent articles"
ZERO_SHOT = "zero-shot encoder, paragraphs"
CUTS = (5, 10, 20, 30)
NOTHING, COUNTS, MODEL, MEMORY = "nothing", "counts and weights", "a model", "its questions"
_ALL = 10**6
_FORMAT = 1  # of the kept scores; raise it when what is computed changes
_RIDGE, _PARAGRAPH, _DENSE = 0.5, 0.2, 0.5  # of the classifier; see docs/eba.md
_BACKGROUND = 0.3  # what a background counts beside a question of 1, where they are asked apart
_KEPT_WORDS = 30


@dataclass
class Bench:
    """The inquiries, the act, and scores as arrays (inquiries, articles); minus infinity where nothing was found."""

    source: Source
    work: Path
    encoder: str = ""
    trained: str = ""
    seed: int = 0
    scores: dict[str, np.ndarray] = field(default_factory=dict)
    uses: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.items = [item for item in self.source.archive if item.articles]
        place = {
            item.id: k for k, (_, test) in enumerate(eba.folds(self.source.archive, 5, self.seed)) for item in test
        }
        self.fold = np.array([place[item.id] for item in self.items])
        held = (passage.id for version in self._versions for passage in eba.edition(version).passages)
        named = (eba.passage_id(name) for item in self.items for name in (*item.articles, *eba.named(item)))
        self.articles = sorted({*held, *named})
        self.column = {name: column for column, name in enumerate(self.articles)}
        self.gold = np.zeros((len(self.items), len(self.articles)))
        for row, item in enumerate(self.items):
            self.gold[row, [self.column[eba.passage_id(name)] for name in item.articles]] = 1
        self.written = eba.without_copies(self.source.written, self.items)

    @cached_property
    def _in_force(self) -> dict[str, eba.Consolidation]:
        return {
            item.id: eba.crr_version(self.source.versions, item.submitted or date.max).version
            for item in self.source.archive
        }

    @property
    def _versions(self) -> list[eba.Consolidation]:
        return list(dict.fromkeys(self._in_force.values()))

    @cached_property
    def strata(self) -> dict[str, np.ndarray]:
        """Rows by stratum, and of what is in both of the harder ones."""
        rows = {name: [row for row, item in enumerate(self.items) if name in eba.strata(item)] for name in eba.STRATA}
        rows["rare and unnamed"] = sorted({*rows["rare"]} & {*rows["unnamed"]})
        return {name: np.array(found) for name, found in rows.items()}

    def add(self, name: str, uses: str, make: Callable[[], np.ndarray], *settings: object) -> np.ndarray:
        """The scores of a system, computed where they are not kept."""
        key = digest([_FORMAT, name, self.seed, repr(settings), self._fingerprint])[:24]
        path = self.work / "scores" / f"{key}.npy"
        if not path.exists():
            data.progress(name)
            made = make().astype(np.float32)
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path.with_suffix(".part.npy"), made)
            path.with_suffix(".part.npy").replace(path)
        self.scores[name], self.uses[name] = np.load(path), uses
        return self.scores[name]

    @cached_property
    def _fingerprint(self) -> str:
        texts = [path.read_text(encoding="utf-8") for path in self.source.files]
        return digest([*texts, *[version.path.read_text(encoding="utf-8") for version in self.source.versions]])

    # retrieval

    def corpora(self, way: str) -> Iterator[tuple[Corpus, set[str]]]:
        """Each version of the act, by ``articles`` or ``paragraphs``, with the ids of the inquiries it was for."""
        for version in self._versions:
            name = f"{version.valid_from}-{way}"
            folder = self.work / "libraries" / name
            if not folder.exists():
                library.add(folder, [self.work / "data" / "crr" / f"{name}.jsonl"], BM25().prepare)
            with Library.open(folder) as opened:
                yield opened.corpus(), {item for item, found in self._in_force.items() if found == version}

    def retrieve(
        self,
        stage: Retriever,
        way: str,
        ask: Callable[[eba.Inquiry, Corpus], Query],
        decay: float = 0.0,
        rows: Sequence[int] | None = None,
    ) -> np.ndarray:
        """A stage over the version in force, paragraphs summed up by article; all inquiries where no rows are given."""
        items = self.items if rows is None else [self.items[row] for row in rows]
        rankings = {}
        for corpus, ids in self.corpora(way):
            queries = [ask(item, corpus) for item in items if item.id in ids]
            rankings.update(stage(queries, corpus, _ALL).rankings)
        return self.array(eba.by_article(Run("", rankings), decay))

    def array(self, run: Run) -> np.ndarray:
        """A run over articles as an array."""
        scores = np.full(self.gold.shape, -np.inf)
        for row, item in enumerate(self.items):
            for hit in run.rankings[item.id].hits if item.id in run.rankings else ():
                if hit.passage_id in self.column:
                    scores[row, self.column[hit.passage_id]] = hit.score
        return scores

    # vectors

    @cached_property
    def act(self) -> list[eba.Labelled]:
        """The paragraphs of one text of the act, under their headings."""
        rows = map(json.loads, (self.work / "data/training/act.jsonl").read_text("utf-8").splitlines())
        return [
            eba.Labelled(f"{row['path'][-1]}. {row['text']}", (row["parent"],), _PARAGRAPH)
            for row in rows
            if row["text"]
        ]

    def open(self, name: str) -> Encoder:
        """The encoder of that name; what it has encoded is kept."""
        return CachedEncoder(load_encoder(name), Cache(self.work / "vectors.sqlite"), chunk=100)

    def nearest(self, name: str, rows: np.ndarray) -> np.ndarray:
        """Inquiries by the article of the paragraph whose vector is nearest."""
        encoder = self.open(name)
        passages = encoder.encode([each.text for each in self.act], "passage")
        asked = encoder.encode([_text(self.items[row]) for row in rows], "query")
        scores = np.full((len(self.articles), len(rows)), -np.inf)
        owners = [self.column[each.labels[0]] for each in self.act]
        np.maximum.at(scores, owners, passages @ asked.T)
        return scores.T

    # learning

    def cross(self, predict: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> np.ndarray:
        """Each test fold by what was learned on the others: ``predict(training rows, test rows)``."""
        scores = np.full(self.gold.shape, -np.inf)
        for k in range(5):
            rows = np.flatnonzero(self.fold == k)
            scores[rows] = predict(np.flatnonzero(self.fold != k), rows)
        return scores

    def inner(self, name: str, predict: Callable[[np.ndarray, np.ndarray], np.ndarray], *settings: object) -> None:
        """For each test fold: scores of its training inquiries by what was learned on the three other folds."""
        for k in range(5):

            def make(k: int = k) -> np.ndarray:
                scores = np.full(self.gold.shape, -np.inf)
                for other in range(5):
                    if other != k:
                        rows = np.flatnonzero(self.fold == other)
                        scores[rows] = predict(np.flatnonzero((self.fold != k) & (self.fold != other)), rows)
                return scores

            self.add(f"{name} (without fold {k})", "", make, *settings)

    def mixture(self, parts: Sequence[str], learned: Sequence[str]) -> np.ndarray:
        """A `Mixture` of systems; those in ``learned`` have scores for its training too (see `inner`)."""

        def predict(training: np.ndarray, test: np.ndarray) -> np.ndarray:
            k = int(self.fold[test[0]])
            seen = [self.scores[f"{name} (without fold {k})" if name in learned else name] for name in parts]
            fit = np.stack([_scaled(scores[training]) for scores in seen], axis=-1)
            weights = eba.Mixture.learn(fit, self.gold[training])
            return weights(np.stack([_scaled(self.scores[name][test]) for name in parts], axis=-1))

        return self.cross(predict)


def _scaled(scores: np.ndarray) -> np.ndarray:
    """To 0 for nothing found and 1 for the best of the inquiry."""
    found = np.where(np.isfinite(scores), scores, 0.0)
    return found / np.maximum(np.abs(found).max(axis=1, keepdims=True), 1e-9)


# What asks


def whole(item: eba.Inquiry, corpus: Corpus) -> Query:  # noqa: ARG001
    """Question and background."""
    return item.query


def question(item: eba.Inquiry, corpus: Corpus) -> Query:  # noqa: ARG001
    """The question alone."""
    return Query(item.id, item.question)


def background(item: eba.Inquiry, corpus: Corpus) -> Query:  # noqa: ARG001
    """The background alone."""
    return Query(item.id, item.background)


def reduced(item: eba.Inquiry, corpus: Corpus) -> Query:
    """The question, and of the background the words that are rarest in the act, each as often as it stands there."""
    words = item.background.split()
    terms = [analysed.words for analysed in Analysis(bigrams=False)(words)]
    idf = BM25().idf(corpus)
    weights = {word: float(idf(found).max()) for word, found in zip(words, terms, strict=True) if len(found)}
    nowhere = float(idf(np.array([1], np.uint64))[0])  # the weight of a word that the act does not hold
    ranked = sorted((word for word in weights if weights[word] < nowhere), key=lambda word: (-weights[word], word))
    kept = set(ranked[:_KEPT_WORDS])
    return Query(item.id, item.question, " ".join(word for word in words if word in kept))


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
        f"BM25, paragraphs, best five, background cut to {_KEPT_WORDS} words",
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
        return bench.array(Run("", {bench.items[row].id: learned(bench.items[row], _ALL) for row in test}))[test]

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
        told = found.scores([_text(bench.items[row]) for row in test])
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
    bench.add("classifier: written, act", NOTHING, lambda: fitted([*written, *act], rows), _RIDGE, _PARAGRAPH)
    if bench.encoder:
        name = "classifier: written, act, with zero-shot vectors"
        made = _RIDGE, _PARAGRAPH, _DENSE, bench.encoder
        bench.add(name, NOTHING, lambda: fitted([*written, *act], rows, bench.encoder), *made)
    bench.add("classifier: archive", MODEL, lambda: bench.cross(learned()), _RIDGE)
    bench.add("classifier: archive, written", MODEL, lambda: bench.cross(learned(*written)), _RIDGE)
    name = "classifier: archive, written, act"
    bench.add(name, MODEL, lambda: bench.cross(learned(*written, *act)), _RIDGE, _PARAGRAPH)
    bench.inner(name, learned(*written, *act), _RIDGE, _PARAGRAPH)
    bench.add(f"{name}, answered before", MODEL, before, _RIDGE, _PARAGRAPH)


def _text(item: eba.Inquiry) -> str:
    return f"{item.question} {item.background}".strip()


def _labelled(item: eba.Inquiry) -> eba.Labelled:
    return eba.Labelled(_text(item), tuple(map(eba.passage_id, item.articles)))


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
    made = [bench.encoder, _RIDGE, _PARAGRAPH]
    simple = ["BM25, paragraphs, best five", "named articles", given, *([ZERO_SHOT] if bench.encoder else [])]
    bench.add("sum of BM25, named, written" + ", zero-shot" * bool(bench.encoder), NOTHING,
              lambda: np.sum([_scaled(scores[each]) for each in simple], axis=0), *made)  # fmt: skip
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
