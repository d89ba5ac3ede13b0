"""The scores of an experiment's answers: ratings by language models, kept one by one, and RePASs.

journals/ROW.ratings-JUDGE.jsonl         what a judge said of each answer
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from responsa.answer.generators import together
from responsa.corpus.view import Corpus
from responsa.entailment import ScoringProtocol
from responsa.evaluate import repass
from responsa.evaluate.judge import Case, Judge, Rating, Verdict, combine
from responsa.evaluate.judge_bias import constant
from responsa.evaluate.repass_files import SubmittedAnswer
from responsa.experiment.answer_data import Asked
from responsa.experiment.answers import Record, Written, at_once
from responsa.experiment.journal import Journal
from responsa.models.chat.dryrun import DryRun, Planned
from responsa.models.chat.structured import Reader
from responsa.text import digest
from responsa.types import Call

Progress = Callable[[int, int, str], None]
LOWEST = 1.0  # the rating of a question without an answer
_NAMES = {"composite": "RePASs"}


@dataclass(frozen=True)
class Scorer:
    """What scores answers: judges that rate, or the models of RePASs with its protocol. ``reason`` says why there is
    none on this machine. Judges are asked about ``threads`` answers at a time."""

    judges: tuple[Judge, ...] = ()
    models: repass.ScoringModels | None = None
    protocol: ScoringProtocol | None = None
    reason: str = ""
    fresh: bool = False
    retry: bool = False
    threads: int = together.THREADS
    progress: Progress = field(default=lambda _done, _total, _label: None)

    @property
    def stamps(self) -> dict[str, str]:
        """Names what scores, and what judges are asked with."""
        found = {f"judge {judge.name}": judge.stamp for judge in self.judges}
        if self.models is not None and self.protocol is not None:
            found |= {
                "protocol": self.protocol.name,
                "nli": self.models.nli.name,
                "coverage": self.models.coverage.name,
                "obligations": self.models.detector_name,
                "unanswered": self.protocol.unanswered,
            }
        return found


@dataclass(frozen=True)
class Scores:
    """By measure the value of each question that has one, by its id; ``unscored`` are those without any, and why.
    ``calls`` are the requests to judges, ``flags`` what is to be said of them."""

    values: Mapping[str, Mapping[str, float]]
    unscored: Mapping[str, str] = field(default_factory=dict)
    calls: tuple[Mapping[str, Any], ...] = ()
    flags: tuple[str, ...] = ()


def score(written: Written, scorer: Scorer, asked: Asked, corpus: Corpus, folder: Path) -> Scores:
    """The scores of a row's answers."""
    if scorer.judges:
        return _rated(written, scorer, asked, folder)
    return _repass(written, scorer, asked, corpus)


def submitted(record: Record, asked: Asked, corpus: Corpus) -> SubmittedAnswer:
    """An answer as RePASs takes it: with the passages that it was written from, the blank ones left out."""
    question = asked.by_id[record["id"]].text
    texts = [(each.id, each.text) for each in corpus.read(record["passages"]).values() if each.text.strip()]
    reason = "" if str(record["answer"]).strip() else str(record["reason"] or "the answer is blank")
    return SubmittedAnswer(
        record["id"],
        question,
        tuple(text for _, text in texts),
        record["answer"],
        reason,
        tuple(name for name, _ in texts),
    )


def _repass(written: Written, scorer: Scorer, asked: Asked, corpus: Corpus) -> Scores:
    if scorer.models is None or scorer.protocol is None:
        raise ValueError("no models to score with")
    items = [submitted(record, asked, corpus) for record in written.records]

    def told(done: int, total: int, what: str) -> None:
        scorer.progress(done, total, f"{written.row.name}, {what}")

    done = repass.score_answers(items, scorer.protocol, scorer.models, None, told)
    values = {}
    for measure in repass.MEASURES:
        row = repass.values(done, measure)
        values[_NAMES.get(measure, measure)] = {
            each.id: value for each, value in zip(done.scores, row, strict=True) if value is not None
        }
    scored = {each.id for each in done.scores}
    return Scores(values, {name: why for name, why in done.unanswered.items() if name not in scored})


# ------------------------------------------------------------------------------------------------ ratings


def cases(written: Written, asked: Asked) -> list[Case]:
    """The answers of a row beside the official ones."""
    queries = asked.by_id
    return [
        Case(
            record["id"], queries[record["id"]].text, asked.references[record["id"]].answer, record["answer"],
            queries[record["id"]].background, written.row.name,
        )
        for record in written.records
        if str(record["answer"]).strip()
    ]  # fmt: skip


def _rated(written: Written, scorer: Scorer, asked: Asked, folder: Path) -> Scores:
    answered = cases(written, asked)
    ratings = [rating for judge in scorer.judges for rating in _by(judge, answered, written, scorer, folder)]
    values = {record["id"]: LOWEST for record in written.records}
    unscored = {}
    for found in combine(ratings):
        name = found.key[1]
        if found.mean is None:
            del values[name]
            unscored[name] = next(each.error for each in ratings if each.key == found.key)
        else:
            values[name] = found.mean
    calls = tuple(asdict(call) for each in ratings for call in each.calls)
    flags = (constant([each for each in ratings if each.judge == judge.name]) for judge in scorer.judges)
    return Scores({"rating": values}, unscored, calls, tuple(filter(None, flags)))


def _by(judge: Judge, answered: Sequence[Case], written: Written, scorer: Scorer, folder: Path) -> Iterator[Rating]:
    """What a judge says of each answer, read where it has been said."""
    path = folder / f"{written.row.name}.ratings-{digest([judge.name, judge.stamp])[:8]}.jsonl"
    journal = Journal(path, digest([judge.name, judge.stamp, judge.tries]), _key, scorer.fresh)
    left = [case for case in answered if _left(journal.get(_place(case)), scorer.retry)]
    lock, done = threading.Lock(), 0

    def rate(case: Case) -> None:
        nonlocal done
        (rating,) = judge.rate([case])
        row = {"id": case.id, "case": _content(case), "value": rating.value, "reason": rating.reason}
        with lock:
            journal.add({**row, "error": rating.error, "trace": [asdict(call) for call in rating.calls]})
            done += 1
            scorer.progress(done, len(left), f"{written.row.name}, rated by {judge.name}")

    at_once(rate, left, scorer.threads)
    for case in answered:
        row = journal.get(_place(case))
        if row is not None:
            yield _read(row, case, judge)


def _read(row: Mapping[str, Any], case: Case, judge: Judge) -> Rating:
    calls = tuple(Call(**call) for call in row["trace"])
    return Rating(case.key, judge.name, 0, row["value"], row["reason"], row["error"], calls)


def _left(row: Mapping[str, Any] | None, retry: bool) -> bool:
    return row is None or (retry and row["value"] is None)


def _content(case: Case) -> str:
    return digest([case.question, case.background, case.reference, case.answer])


def _key(row: Mapping[str, Any]) -> str:
    return json.dumps([row.get("id"), row.get("case")])


def _place(case: Case) -> str:
    return json.dumps([case.id, _content(case)])


def planned(asked: Asked, scorer: Scorer) -> list[Planned]:
    """What judges would be asked of one row, every answer as long as its official one; for the ones rated before too,
    since what will be answered is not known."""
    rows = []
    for judge in scorer.judges:
        run = DryRun(judge.model)
        likely = [
            Case(query.id, query.text, own.answer, own.answer, query.background)
            for query in asked.queries
            if (own := asked.references.get(query.id)) is not None
        ]
        run.replies([Reader(Verdict).dressed(chat) for chat in judge.chats(likely)])
        rows += [replace(row, purpose=f"judge ({judge.name})") for row in run.planned()]
    return rows
