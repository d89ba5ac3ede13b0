"""How good on the dev questions: passages found, answers, and knowing when there is no answer."""

from __future__ import annotations

import statistics
import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import abstention, data
from benchmarks.data import progress
from benchmarks.report import Part, Row, Table
from responsa import recipe
from responsa.corpus.library import Library
from responsa.corpus.view import Corpus
from responsa.engine import Engine
from responsa.evaluate.agreement import bootstrap_mean, paired_test
from responsa.evaluate.ranking import Measure, score_run, summarise
from responsa.text import tidy, words
from responsa.types import Answer, Estimate, Judgement

ANSWERED = 300
_TOP = 3
_RECALL, _MAP = Measure("recall", 10), Measure("MAP", 10)


def part() -> Part:
    """Everything of this module, on a library of the 40 documents."""
    with tempfile.TemporaryDirectory(prefix="responsa-bench-") as name:
        data.build(Path(name) / "library")
        with Library.open(Path(name) / "library") as library:
            engine, corpus = Engine(library, recipe.load("bm25")), library.corpus()
            progress("dev questions")
            found, table = _retrieval(engine, corpus)
            progress("answers")
            answers = _answers(engine, corpus)
            progress("abstention")
            row = abstention.measure(engine)
    return Part("quality", (*found, *answers, row), (table,))


def _retrieval(engine: Engine, corpus: Corpus) -> tuple[list[Row], Table]:
    """R@10 and MAP@10 of the shipped recipe on all dev questions, with 95 % bootstrap intervals."""
    queries, judgements = data.dev_questions(), data.dev_gold(corpus)
    scored = score_run(engine.run(queries), judgements, (_RECALL, _MAP))
    summaries = summarise(scored)
    passages = sum(1 for item in corpus.values() if item.text.strip())
    rows = []
    for measure, target, label in ((_RECALL, 0.790, "R@10"), (_MAP, 0.660, "MAP@10")):
        mean = next(s.estimate for s in summaries if s.measure == str(measure) and s.group == "all")
        what = f"BM25 recipe, ObliQA dev, {len(queries):,} questions, {passages:,} passages: {label}"
        rows.append(_row(what, mean, f"at least {target:.3f}", mean.mean >= target, digits=4))
    groups = list(dict.fromkeys(summary.group for summary in summaries))
    cells = []
    for group in groups:
        found = {summary.measure: summary.estimate for summary in summaries if summary.group == group}
        cells.append((group, f"{found[str(_RECALL)].n:,}", *(_text(found[str(m)], 4) for m in (_RECALL, _MAP))))
    return rows, Table("By number of gold passages", ("gold passages", "questions", "R@10", "MAP@10"), tuple(cells))


@dataclass(frozen=True)
class _Scored:
    """One answer: F1 of its citations and of the top passages, its words, and how it uses its sources.

    ``copied`` is the share of its sentences that are the stored text of every place cited, but for white space and
    invisible characters; ``used`` its words over those of the passages it was written from.
    """

    f1: float
    top: float
    length: int
    copied: float
    used: float


def _answers(engine: Engine, corpus: Corpus) -> list[Row]:
    """Passages cited against gold passages; an answer withheld cites nothing and scores 0."""
    gold: dict[str, list[Judgement]] = defaultdict(list)
    for judgement in data.dev_gold(corpus):
        gold[judgement.query_id].append(judgement)
    _, rest = data.held_from_fitting()
    queries = rest[:ANSWERED]
    answers = list(engine.ask(queries))
    rankings = engine.search(queries, _TOP)
    scored = [
        _score(answer, [hit.passage_id for hit in ranking.hits], gold[answer.query.id], corpus)
        for answer, ranking in zip(answers, rankings, strict=True)
    ]
    given = [score for answer, score in zip(answers, scored, strict=True) if not answer.abstained]
    test = paired_test([score.f1 for score in scored], [score.top for score in scored])
    what = f"{ANSWERED} dev questions: F1 of the passages cited, above citing the top {_TOP}"
    means = {name: statistics.fmean(getattr(score, name) for score in scored) for name in ("f1", "top")}
    lengths = [float(score.length) for score in given]
    return [
        Row(
            what,
            f"{_text(test.difference, 3)}: {means['f1']:.3f} against {means['top']:.3f}, p {test.p_value:.4f}; "
            f"{len(scored) - len(given)} withheld",
            "at least .10",
            test.difference.mean >= 0.10,
            {"difference": test.difference.mean, **means, "withheld": len(scored) - len(given)},
        ),
        _row("copy: share of sentences word for word in the passage cited", _mean(score.copied for score in given)),
        _row("copy: words of the answer / words of the passages it is from", _mean(score.used for score in given)),
        Row(
            "length of the answers given, words",
            f"median {statistics.median(lengths):.0f}, mean {statistics.fmean(lengths):.0f}, most {max(lengths):.0f}",
            values={"median_words": statistics.median(lengths), "mean_words": statistics.fmean(lengths)},
        ),
    ]


def _score(answer: Answer, top: list[str], gold: list[Judgement], corpus: Corpus) -> _Scored:
    cited = {citation.passage_id for sentence in answer.sentences for citation in sentence.citations}
    sources = corpus.read(cited | {hit.passage_id for hit in answer.ranking.hits})
    said = [len(words(sentence.text)) for sentence in answer.sentences]
    copied = [
        all(sentence.text == tidy(sources[c.passage_id].text[c.start : c.end]) for c in sentence.citations)
        for sentence in answer.sentences
    ]
    kept = sum(len(words(sources[hit.passage_id].text)) for hit in answer.ranking.hits)
    return _Scored(
        f1(cited, gold),
        f1(top, gold),
        sum(said),
        statistics.fmean(copied) if copied else 0.0,
        sum(said) / kept if kept else 0.0,
    )


def f1(cited: Collection[str], gold: list[Judgement]) -> float:
    """Harmonic mean of precision and recall; a gold item with alternatives is found once, by any of them."""
    found = sum(bool({item.passage_id, *item.alternatives} & set(cited)) for item in gold)
    return 2 * found / (len(cited) + len(gold)) if cited else 0.0


def _mean(values: Iterable[float]) -> Estimate:
    return bootstrap_mean(list(values))


def _row(what: str, mean: Estimate, target: str = "", met: bool | None = None, digits: int = 3) -> Row:
    values: Mapping[str, float] = {"mean": mean.mean, "low": mean.low, "high": mean.high}
    return Row(what, _text(mean, digits), target, met, dict(values))


def _text(mean: Estimate, digits: int) -> str:
    return f"{mean.mean:.{digits}f} [{mean.low:.3f} {mean.high:.3f}]"
