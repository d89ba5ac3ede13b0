"""What answers are written to: questions, and where they are known their official answers, days and topics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path

from responsa import questions
from responsa.errors import InputError
from responsa.evaluate.judge_files import Reference, read_references
from responsa.experiment.data import archive_of, digest_of
from responsa.text import digest, folded
from responsa.types import Query

Say = Callable[[str], None]


@dataclass(frozen=True)
class Asked:
    """Questions in the order of their files; by id the official answer, the day on which it was asked and the topic."""

    queries: tuple[Query, ...]
    references: Mapping[str, Reference] = field(default_factory=dict)
    days: Mapping[str, date] = field(default_factory=dict)
    topics: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def by_id(self) -> dict[str, Query]:
        """The questions by their ids."""
        return {query.id: query for query in self.queries}

    @property
    def digests(self) -> dict[str, str]:
        """Names the questions and their official answers."""
        told = [[query.id, self.references[query.id].answer] for query in self.queries if query.id in self.references]
        return {"questions": digest_of(self.queries), "references": digest(told) if told else ""}


def read(files: Sequence[Path], references: Sequence[Path], topic: str, rated: bool, say: Say) -> Asked:
    """The questions of files, those on the ``topic`` alone where one is given, and their official answers: those of
    ``references``, else those that an archive of the EBA's Q&A holds.

    Where they are ``rated``, questions without an official answer are left out, and ``say`` is told how many.
    InputError for a question given twice, for a topic that no question has, and where nothing is left.
    """
    queries: dict[str, Query] = {}
    told: dict[str, Reference] = {}
    days: dict[str, date] = {}
    topics: dict[str, str] = {}
    for path in files:
        inquiries = archive_of(path)
        for query in [each.query for each in inquiries] if inquiries else questions.read(path):
            if query.id in queries:
                raise InputError(f"{path}: question {query.id!r} is in another file too; give each question once")
            queries[query.id] = query
        for each in inquiries:
            topics[each.id] = each.topic
            if each.answer.strip():
                told[each.id] = Reference(each.answer.strip(), each.question, each.background)
            if each.submitted is not None:
                days[each.id] = each.submitted
    for path in references:
        told |= read_references(path)
    chosen = _on_topic(queries, topics, topic, say)
    kept = [query for query in chosen if query.id in told] if rated else chosen
    if not kept:
        raise InputError("no question has an official answer to be rated against; give them with --references FILE")
    if len(kept) < len(chosen):
        say(f"{len(chosen) - len(kept):,} of {len(chosen):,} questions have no official answer and are left out")
    ids = {query.id for query in kept}
    own = {name: value for name, value in told.items() if name in ids}
    return Asked(tuple(kept), own, {name: day for name, day in days.items() if name in ids}, topics)


def _on_topic(queries: Mapping[str, Query], topics: Mapping[str, str], topic: str, say: Say) -> list[Query]:
    if not topic:
        return list(queries.values())
    wanted = folded(topic)
    found = [query for name, query in queries.items() if folded(topics.get(name, "")) == wanted]
    if not found:
        known = ", ".join(sorted({name for name in topics.values() if name})[:10]) or "the files tell none"
        raise InputError(f"no question is on the topic {topic!r}; topics: {known}")
    if len(found) < len(queries):
        say(f"{len(found):,} of {len(queries):,} questions are on {topic!r}; the others are left out")
    return found
