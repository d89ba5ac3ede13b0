"""What an experiment is measured on: questions, gold, folds and groups of questions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from responsa import questions
from responsa.corpus.view import Corpus
from responsa.errors import InputError
from responsa.evaluate import trec
from responsa.learn.examples import read_folds
from responsa.text import digest
from responsa.types import Judgement, Query

if TYPE_CHECKING:
    from responsa.learn.eba import Inquiry

Say = Callable[[str], None]


@dataclass(frozen=True)
class Data:
    """Judged questions in the order of their files, and their gold.

    ``folds`` are the test questions of each fold; without folds one part holds all. ``strata`` names further groups of
    questions to report.
    """

    queries: tuple[Query, ...]
    judgements: tuple[Judgement, ...]
    folds: tuple[tuple[Query, ...], ...] = ()
    strata: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def digests(self) -> dict[str, str]:
        """Names the questions, the gold and the folds."""
        return {
            "questions": digest_of(self.queries),
            "gold": digest([[j.query_id, j.passage_id, j.grade, *j.alternatives] for j in self.judgements]),
            "folds": digest([[query.id for query in fold] for fold in self.folds]) if self.folds else "",
        }


def digest_of(queries: Sequence[Query]) -> str:
    """Names questions by all that is asked."""
    days = {query.id: [str(query.asked_on)] for query in queries if query.asked_on}
    return digest([[query.id, query.text, query.background, *days.get(query.id, [])] for query in queries])


def read(
    asked: Sequence[Path],
    gold: Sequence[Path],
    folds: Path | None,
    corpus: Corpus,
    say: Say,
    graded: bool = False,
) -> Data:
    """Questions and their gold, which the question files hold themselves where no gold is named.

    Questions without gold are left out, and so is gold of questions that are not asked; ``say`` is told how many.
    With folds, the questions are those of their test parts. InputError for a question given twice, a gold passage
    that the library does not hold, a question of a fold that no file has, and where nothing is left.
    """
    queries: dict[str, Query] = {}
    inquiries: list[Inquiry] = []
    for path in asked:
        archive = archive_of(path)
        inquiries += archive
        for query in [item.query for item in archive] if archive else questions.read(path):
            if query.id in queries:
                raise InputError(f"{path}: question {query.id!r} is in another file too; give each question once")
            queries[query.id] = query
    judgements = trec.merged(item for path in gold or asked for item in _gold(path, corpus, graded))
    # An archive may cite an article that the version in the library lacks.
    trec.check_gold(judgements, corpus, say, strict=not inquiries)
    parts = _parts(folds, queries)
    chosen = [query for part in parts for query in part] if folds else list(queries.values())
    relevant = {judgement.query_id for judgement in judgements if judgement.grade > 0}
    kept = {query.id for query in chosen} & relevant
    if not kept:
        raise InputError("no question has gold; give the gold of these questions with --gold")
    if len(kept) < len(chosen):
        say(f"{len(chosen) - len(kept):,} of {len(chosen):,} questions have no gold and are left out")
    if not folds and relevant - set(queries):
        say(f"gold of {len(relevant - set(queries)):,} questions that are not asked is left out")
    return Data(
        tuple(query for query in chosen if query.id in kept),
        tuple(judgement for judgement in judgements if judgement.query_id in kept),
        tuple(tuple(query for query in part if query.id in kept) for part in parts) if folds else (),
        _strata(inquiries, kept),
    )


def archive_of(path: Path) -> tuple[Inquiry, ...]:
    """The inquiries of a JSONL file of the EBA archive, or in its form; empty for any other file."""
    if path.suffix.lower() != ".jsonl":
        return ()
    try:
        with path.open(encoding="utf-8-sig") as file:
            first = json.loads(file.readline())
    except (OSError, ValueError, RecursionError):
        return ()  # the reader of question files says what is wrong
    if not isinstance(first, dict) or not first.keys() & {"qa_id", "articles"}:
        return ()
    from responsa.learn import eba

    return eba.read(path)


def _gold(path: Path, corpus: Corpus, graded: bool) -> Sequence[Judgement]:
    archive = archive_of(path)
    if archive:
        from responsa.learn import eba

        return [judgement for item in archive for judgement in eba.gold(item)]
    return trec.read_gold(path, lambda document, number: [p.id for p in corpus.find(document, number)], graded)


def _parts(folds: Path | None, queries: Mapping[str, Query]) -> list[tuple[Query, ...]]:
    """The test questions of each fold, in the order of the question files."""
    if folds is None:
        return []
    parts, seen = [], set[str]()
    for number, fold in enumerate(read_folds(folds)):
        missing = sorted(fold.test - queries.keys())
        if missing:
            raise InputError(
                f"{folds}: fold {number} tests {len(missing):,} questions that no --questions file holds, such as "
                f"{missing[0]!r}; give all the files that the folds were made of"
            )
        again = sorted(fold.test & seen)
        if again:
            raise InputError(f"{folds}: question {again[0]!r} is tested in two folds")
        seen |= fold.test
        parts.append(tuple(query for query in queries.values() if query.id in fold.test))
    return parts


def _strata(inquiries: Sequence[Inquiry], kept: set[str]) -> dict[str, frozenset[str]]:
    """The strata of an archive beside all: gold that is not a common article, gold that is not named."""
    if not inquiries:
        return {}
    from responsa.learn import eba

    groups = {
        name: frozenset(item.id for item in inquiries if item.id in kept and name in eba.strata(item))
        for name in eba.STRATA
        if name != "all"
    }
    return {name: ids for name, ids in groups.items() if ids}
