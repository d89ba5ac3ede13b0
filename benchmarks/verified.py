"""The verified answer: unsupported sentences withheld, supported ones kept, and the time that it adds to the model's.

``tests/data/verified_cases.jsonl``, ``wording_cases.jsonl``, ``rule_cases.jsonl`` and ``answer_cases.jsonl`` hold
passages and sentences written for this project: those of the first three keep close to the text, with one thing changed
in the unsupported ones, the second by writers who knew nothing of the checks, the third on passages with several rules
or groups each; those of the fourth are put freely, as language models write answers. The fifth is the part of
``training/answer_pairs.jsonl.gz`` that no network learned from: sentences as careful and careless assistants answer,
half of them on real rules, by writers who knew nothing of the checks. A sixth is made of the twins
of ``training/near_pairs.jsonl.gz`` that no network learned from, a third of them on real rules: harder ones, where each
supported sentence has an unsupported one that differs from it in a few words. Even ids of the others were used to tune
rules and weights, odd ids were not, but two ways to weigh were compared on those of the third.
``python -m benchmarks.verified --fit`` writes the weights anew.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks import data
from benchmarks.report import ROOT, Part, Row, Table
from responsa import questions, recipe, sample
from responsa.answer.generators.base import Tools
from responsa.answer.generators.sources import of_passages
from responsa.answer.verified import Verified, VerifiedAnswer
from responsa.answer.verified.check import Claim, Evidence, check, undecided, weigh
from responsa.answer.verified.guards import GUARDS
from responsa.answer.verified.support import columns
from responsa.corpus import library
from responsa.corpus.library import Library
from responsa.corpus.view import Corpus
from responsa.engine import Engine, prepare
from responsa.learn import nli
from responsa.learn.labels import texts_of
from responsa.models.chat.load import load_chat
from responsa.models.classify import Entailment
from responsa.models.load import load_pairs
from responsa.storage import write_json
from responsa.testing import Asked, ChatServer
from responsa.testing.replies import sensible
from responsa.text import tidy
from responsa.types import Ranking

Floats = npt.NDArray[np.float64]

CASES = ROOT / "tests" / "data" / "verified_cases.jsonl"
TWINS = ROOT / "training" / "near_pairs.jsonl.gz"
ANSWERS = TWINS.with_name("answer_pairs.jsonl.gz")
SETS = {
    "near the text": CASES,
    "near the text, by others": CASES.with_name("wording_cases.jsonl"),
    "near passages of several rules": CASES.with_name("rule_cases.jsonl"),
    "put freely": CASES.with_name("answer_cases.jsonl"),
    "as assistants answer": ANSWERS,
    "of twins": TWINS,
}
WEIGHTS = ROOT / "src" / "responsa" / "answer" / "verified" / "support.json"
WITHHELD, KEPT, OVERHEAD = 0.95, 0.90, 0.300
# Support that is needed: that with the widest least margin over both targets on the even cases near the text.
LEAST = 0.65
_HALVES = ((1, "held apart"), (0, "tuned on"))
_QUESTIONS, _PASSAGES, _CORES = 25, 5, 2
_EVERY = 3  # of the texts of twins one in so many is measured: 3,800 sentences tell as much as all


@dataclass(frozen=True)
class Said:
    """A sentence of a case as a claim, and whether it is supported. ``case`` is odd where it was held apart."""

    case: int
    kind: str
    supported: bool
    claim: Claim


@contextmanager
def opened(path: Path = CASES) -> Iterator[tuple[list[Said], Corpus]]:
    """The sentences of the cases, with a library of their passages: a document a case."""
    learned = path in (TWINS, ANSWERS)
    cases = of_pairs(path) if learned else [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "cases.jsonl"
        rows.write_text("\n".join(json.dumps(row) for case in cases for row in _passages(case)), encoding="utf-8")
        library.add(Path(folder) / "library", [rows], prepare(recipe.load("bm25")))
        with Library.open(Path(folder) / "library") as made:
            corpus = made.corpus()
            yield [said for case in cases for said in _said(case, corpus)], corpus


def of_pairs(path: Path) -> list[dict[str, object]]:
    """The pairs of a file to learn from that are measured only, as cases: a premise is a passage. Of twins only those
    of every third text, all with odd ids."""
    told: dict[str, list[dict[str, object]]] = {}
    for pair in nli.read(path, lambda: texts_of(data.folder(), {})).test:
        premise, text = pair.texts
        label = nli.LABELS[pair.label]
        row = {"text": text, "cites": ["A"], "supported": label == "entailment", "kind": label}
        told.setdefault(premise, []).append(row)
    cases = [{"passages": [{"id": "A", "text": tidy(premise)}], "sentences": rows} for premise, rows in told.items()]
    if path == TWINS:
        return [{"id": 2 * place + 1} | cases[place] for place in range(0, len(cases), _EVERY)]
    return [{"id": place} | case for place, case in enumerate(cases)]


def _passages(case: dict[str, object]) -> Iterator[dict[str, object]]:
    for row in case["passages"]:  # type: ignore[attr-defined]
        named = {"id": f"{case['id']}/{row['id']}", "document": f"case-{case['id']}", "text": row["text"]}
        yield named | ({"parent": f"{case['id']}/{row['parent']}"} if "parent" in row else {})


def _said(case: dict[str, object], corpus: Corpus) -> Iterator[Said]:
    for row in case["sentences"]:  # type: ignore[attr-defined]
        names = [f"{case['id']}/{name}" for name in row["cites"]]
        sources = of_passages([corpus[name] for name in names if name in corpus], corpus)
        unknown = tuple(name for name in names if name not in corpus)
        claim = Claim(row["text"], tuple(Evidence(source) for source in sources), unknown)
        yield Said(int(str(case["id"])), row["kind"], row["supported"], claim)


def judged(said: Sequence[Said], corpus: Corpus) -> list[bool]:
    """Which of them would be said."""
    judge = Entailment.of_pairs(load_pairs(Verified.nli)).check()
    return [verdict.supported for verdict in check([each.claim for each in said], corpus, judge)]


def shares(said: Sequence[Said], kept: Sequence[bool], odd: int) -> tuple[float, float, int, int]:
    """(unsupported ones withheld, supported ones kept, how many of each) of the half with even or odd ids."""
    half = [(each, passed) for each, passed in zip(said, kept, strict=True) if each.case % 2 == odd]
    good = [passed for each, passed in half if each.supported]
    bad = [not passed for each, passed in half if not each.supported]
    return sum(bad) / len(bad), sum(good) / len(good), len(bad), len(good)


def part() -> Part:
    """Both halves of all sets of cases, by kind, and the overhead."""
    rows, tables = [], []
    for how, path in SETS.items():
        with opened(path) as (said, corpus):
            kept = judged(said, corpus)
        if path != TWINS:
            tables.append(_by_kind(how, said, kept))
        for odd, name in _HALVES[:1] if path == TWINS else _HALVES:
            withheld, right, bad, good = shares(said, kept, odd)
            target = odd == 1 and path != TWINS
            rows += [
                Row(
                    f"verified answer, sentences {how}, cases {name}: unsupported ones withheld, of {bad}",
                    f"{withheld:.3f}",
                    f"at least {WITHHELD}" if target else "",
                    withheld >= WITHHELD if target else None,
                    {"withheld": withheld},
                ),
                Row(
                    f"verified answer, sentences {how}, cases {name}: supported ones kept, of {good}",
                    f"{right:.3f}",
                    f"at least {KEPT}" if target else "",
                    right >= KEPT if target else None,
                    {"kept": right},
                ),
            ]
    times = overheads()
    middle = statistics.median(times)
    rows.append(
        Row(
            f"verified answer beside the model's own time, {len(times)} questions, {_PASSAGES} passages, {_CORES} "
            "cores: median",
            f"{1000 * middle:.0f} ms",
            f"at most {1000 * OVERHEAD:.0f} ms",
            middle <= OVERHEAD,
            {"seconds": middle, "highest": max(times)},
        )
    )
    return Part("verified", tuple(rows), tuple(tables))


def _by_kind(how: str, said: Sequence[Said], kept: Sequence[bool]) -> Table:
    cells = []
    for supported in (True, False):
        for kind in sorted({each.kind for each in said if each.supported == supported}):
            row = [("supported" if supported else "unsupported"), kind]
            for odd in (1, 0):
                own = [
                    passed == supported
                    for each, passed in zip(said, kept, strict=True)
                    if each.kind == kind and each.supported == supported and each.case % 2 == odd
                ]
                row.append(f"{sum(own)} of {len(own)}")
            cells.append(tuple(row))
    return Table(f"Sentences {how} judged rightly", ("", "kind", "held apart", "tuned on"), tuple(cells))


def overheads(count: int = _QUESTIONS) -> list[float]:
    """Seconds beside the model's own for questions of the sample, models warm, nothing cached."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, set(sorted(before)[:_CORES]))
    try:
        return list(_timed(count))
    finally:
        os.sched_setaffinity(0, before)


def _timed(count: int) -> Iterator[float]:
    with tempfile.TemporaryDirectory() as folder, ChatServer(reply=reworded) as server:
        library.add(Path(folder) / "library", [sample.rulebook()], prepare(recipe.load("bm25")))
        with Library.open(Path(folder) / "library") as made:
            corpus = made.corpus()
            engine = Engine(made, recipe.load("bm25"))
            queries = questions.read(sample.questions())[: count + 1]
            found = engine.search(queries, _PASSAGES, corpus=corpus)
            stage = Verified(tools=Tools(chat=load_chat(f"{server.url}#local?cache=off")), keep=False)
            for place, (query, ranking) in enumerate(zip(queries, found, strict=True)):
                start = time.perf_counter()
                answer = stage(query, Ranking(query.id, ranking.hits, "raw"), corpus, _flat, 0.9)
                spent = time.perf_counter() - start
                assert isinstance(answer, VerifiedAnswer)
                if place:  # the first opens the models
                    yield spent - sum(call.seconds for call in answer.trace)


def _flat(terms: object) -> object:
    return np.ones(np.asarray(terms).shape)


def reworded(asked: Asked) -> str:
    """The server's own reply with other words for duties and no quotes, so that each sentence has to be judged."""
    value = json.loads(sensible(asked))
    for sentence in value.get("sentences", []):
        sentence["text"] = sentence["text"].replace(" must ", " has to ").replace(" shall ", " is required to ")
        for cite in sentence.get("citations", []):
            cite["quote"] = ""
    return json.dumps(value)


def fit(penalty: float = 30.0) -> dict[str, object]:
    """The logistic function of `responsa.answer.verified.support`, fitted anew on the even cases that no rule decides,
    of all sets but the twins; supported and unsupported ones of each set weigh alike. The penalty is on the squares of
    the weights of columns brought to deviation 1."""
    values, right, weight = [], [], []
    for path in SETS.values():
        if path == TWINS:
            continue
        with opened(path) as (said, corpus):
            judge = Entailment.of_pairs(load_pairs(Verified.nli)).check()
            even = [each for each in said if each.case % 2 == 0]
            free = undecided([each.claim for each in even], corpus)
            even = [each for each, open_one in zip(even, free, strict=True) if open_one]
            values += [list(columns(each).values()) for each in weigh([each.claim for each in even], corpus, judge)]
            names = list(columns(weigh([even[0].claim], corpus, judge)[0]))
        good = sum(each.supported for each in even)
        right += [float(each.supported) for each in even]
        weight += [1 / good if each.supported else 1 / (len(even) - good) for each in even]
    share = np.array(weight) * len(weight) / sum(weight)
    bias, found = _logistic(np.array(values), np.array(right), share, penalty)
    against = ("guards", "contradict", "objected to", *(guard.__name__ for guard in GUARDS))
    objections = np.array([name.startswith(against) for name in names])
    while (wrong := (found > 0) & objections).any():  # no objection may speak for a sentence
        values = [[*np.where(wrong, 0.0, row)] for row in values]
        bias, found = _logistic(np.array(values), np.array(right), share, penalty)
    kept = {name: round(float(value), 3) for name, value in zip(names, found, strict=True)}
    return {"bias": round(bias, 3), "least": LEAST, "weights": {name: value for name, value in kept.items() if value}}


def _logistic(values: Floats, right: Floats, share: Floats, penalty: float) -> tuple[float, Floats]:
    """Bias and weights of least loss, by Newton's method."""
    middle, spread = values.mean(axis=0), values.std(axis=0)
    spread[spread < 1e-9] = np.inf  # a column that is the same everywhere weighs nothing
    scaled = np.c_[np.ones(len(values)), (values - middle) / spread]
    least = penalty * np.r_[0, np.ones(values.shape[1])]
    found = np.zeros(scaled.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-scaled @ found))
        slope = scaled.T @ (share * (chance - right)) + least * found
        bend = (scaled * (share * chance * (1 - chance))[:, None]).T @ scaled + np.diag(least + 1e-9)
        found -= np.linalg.solve(bend, slope)
    return float(found[0] - found[1:] @ (middle / spread)), found[1:] / spread


if __name__ == "__main__":
    if sys.argv[1:] == ["--fit"]:
        write_json(fit(), WEIGHTS)
    else:
        for row in part().rows:
            sys.stdout.write(f"{row.what}: {row.measured}\n")
