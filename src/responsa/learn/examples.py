"""What is learned from: questions with the passages that answer them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from responsa import questions
from responsa.corpus.view import Corpus
from responsa.errors import InputError
from responsa.evaluate.trec import Find, read_gold
from responsa.text import digest
from responsa.types import Query


@dataclass(frozen=True, slots=True)
class Example:
    """A question and its gold passages. ``also``: passages that may be meant too, neither positive nor negative."""

    query: Query
    passages: tuple[str, ...]
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fold:
    """Ids of the questions to test on and to train on."""

    test: frozenset[str]
    train: frozenset[str]


@dataclass(frozen=True, slots=True)
class Split:
    """Examples to learn from and to test on; ``dropped`` were in neither part of the fold and share a gold passage
    with the questions tested."""

    train: tuple[Example, ...]
    test: tuple[Example, ...]
    dropped: tuple[str, ...]


def load(path: Path, find: Find | None = None) -> tuple[Example, ...]:
    """Examples from ObliQA-style JSON, or from JSON lines ``{question, passages, id?, background?}``.

    A row without an id gets one from the digest of question and passages. ``find`` resolves document and number
    (see `read_gold`); questions of ObliQA without gold are left out. InputError names file and place.
    """
    if path.suffix.lower() == ".jsonl":
        found = tuple(_example(row, place) for place, row in rows(path))
    else:
        found = tuple(_obliqa(path, find))
    if not found:
        raise InputError(f"{path}: holds no question with a gold passage")
    _refuse_repeated(found, str(path))
    return found


def load_all(paths: Sequence[Path], find: Find | None = None) -> tuple[Example, ...]:
    """The examples of several files in order. InputError where two have the same id."""
    found = tuple(example for path in paths for example in load(path, find))
    _refuse_repeated(found, ", ".join(map(str, paths)))
    return found


def in_context(found: Sequence[Example], corpus: Corpus) -> list[dict[str, str]]:
    """Each question with the text of its first gold passage that has any: what `models.prompts.read_examples` reads.

    Questions without such a passage are left out. InputError for a passage that the library does not hold.
    """
    made = []
    for example in found:
        missing = [name for name in example.passages if name not in corpus]
        if missing:
            raise InputError(f"question {example.query.id!r}: its passage {missing[0]!r} is not in the library")
        texts = (corpus[name].text.strip() for name in example.passages)
        if text := next(filter(None, texts), ""):
            made.append({"question": example.query.text, "passage": text})
    return made


def rows(path: Path) -> Iterator[tuple[str, dict[str, object]]]:
    """Place and object of each line of a JSONL file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from error
    yield from objects(text, path)


def objects(text: str, path: Path) -> Iterator[tuple[str, dict[str, object]]]:
    """Place and object of each line of the text of a JSONL file."""
    for number, line in enumerate(text.split("\n"), 1):  # not splitlines: JSON may hold U+2028 and its like
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path}, line {number}: not valid JSON: {error}") from error
        if not isinstance(row, dict):
            raise InputError(f"{path}, line {number}: expected an object, found {type(row).__name__}")
        yield f"{path}, line {number}", row


def text_of(row: dict[str, object], key: str, place: str, needed: bool = True) -> str:
    """A text in a row, checked as questions are; blank where it is missing and not needed."""
    value = row.get(key)
    if not needed and (value is None or value == ""):
        return ""
    if not isinstance(value, str):
        raise InputError(f"{place}: {key!r} must be a text, this is {value!r}")
    return questions.check(value, f"{place}: {key!r}")


def _example(row: dict[str, object], place: str) -> Example:
    passages = row.get("passages")
    if not isinstance(passages, list) or not passages or not all(isinstance(one, str) and one for one in passages):
        raise InputError(f"{place}: 'passages' must be a list of passage ids, at least one; this is {passages!r}")
    question, background = text_of(row, "question", place), text_of(row, "background", place, needed=False)
    query_id = row.get("id", digest([question, background, passages])[:16])
    if not isinstance(query_id, str | int) or str(query_id).split() != [str(query_id)]:
        raise InputError(f"{place}: id {query_id!r} is not a text without white space")
    return Example(Query(str(query_id), question, background), tuple(dict.fromkeys(passages)))


def _obliqa(path: Path, find: Find | None) -> Iterator[Example]:
    gold: dict[str, list[str]] = {}
    also: dict[str, list[str]] = {}
    for item in read_gold(path, find):
        if item.grade > 0:
            gold.setdefault(item.query_id, []).append(item.passage_id)
            also.setdefault(item.query_id, []).extend(item.alternatives)
    for query in questions.read(path):
        if query.id in gold:
            yield Example(query, tuple(gold[query.id]), tuple(also[query.id]))


def _refuse_repeated(examples: Sequence[Example], where: str) -> None:
    seen: set[str] = set()
    for example in examples:
        if example.query.id in seen:
            raise InputError(f"{where}: the question {example.query.id!r} is there twice: {example.query.text[:60]!r}")
        seen.add(example.query.id)


def read_folds(path: Path) -> tuple[Fold, ...]:
    """Folds from a JSON list of ``{test: [id], train: [id]}``."""
    try:
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not valid JSON: {error}") from error
    if not isinstance(value, list) or not value:
        raise InputError(f"{path}: expected a list of folds, each with 'test' and 'train'")
    return tuple(_fold(entry, f"{path}: fold {number}") for number, entry in enumerate(value))


def _fold(entry: object, where: str) -> Fold:
    parts = []
    for key in ("test", "train"):
        ids = entry.get(key) if isinstance(entry, dict) else None
        if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
            raise InputError(f"{where}: {key!r} must be a list of question ids")
        parts.append(frozenset(ids))
    fold = Fold(*parts)
    if fold.test & fold.train:
        raise InputError(f"{where}: the question {min(fold.test & fold.train)!r} is in test and train")
    return fold


def split(examples: Sequence[Example], fold: Fold) -> Split:
    """The parts of a fold. Examples that the fold does not name are learned from, unless they share a gold passage
    with a question tested. InputError where a question of the fold is missing."""
    missing = (fold.test | fold.train) - {example.query.id for example in examples}
    if missing:
        raise InputError(f"{len(missing)} questions of the fold are in no file given, the first {min(missing)!r}")
    test = tuple(example for example in examples if example.query.id in fold.test)
    tested = {passage for example in test for passage in (*example.passages, *example.also)}
    train, dropped = [], []
    for example in examples:
        if example.query.id in fold.test:
            continue
        if example.query.id not in fold.train and not tested.isdisjoint((*example.passages, *example.also)):
            dropped.append(example.query.id)
        else:
            train.append(example)
    return Split(tuple(train), test, tuple(dropped))


def hold_out(examples: Sequence[Example], count: int, seed: int) -> tuple[tuple[Example, ...], tuple[Example, ...]]:
    """Examples to learn from and about ``count`` to choose the best state by; no gold passage is in both.

    Questions that are linked by shared gold passages stay together; groups are drawn at random, never more than
    ``count`` questions, nor than a fifth of all where that leaves any. InputError where none can be set apart.
    """
    groups = _linked(examples)
    Random(seed).shuffle(groups)  # noqa: S311
    kept: set[int] = set()
    for most in (min(count, len(examples) // 5), min(count, len(examples) - 1)):
        for group in [] if kept else groups:
            if len(kept) + len(group) <= most:
                kept.update(group)
    if not kept:
        raise InputError(f"no question of {len(examples)} can be set apart for validation: all share gold passages")
    learned = tuple(example for row, example in enumerate(examples) if row not in kept)
    return learned, tuple(example for row, example in enumerate(examples) if row in kept)


def _linked(examples: Sequence[Example]) -> list[list[int]]:
    """Rows in groups that share no gold passage, in the order of their first rows."""
    above = list(range(len(examples)))

    def root(row: int) -> int:
        while above[row] != row:
            above[row] = above[above[row]]
            row = above[row]
        return row

    first: dict[str, int] = {}
    for row, example in enumerate(examples):
        for passage in (*example.passages, *example.also):
            above[root(row)] = root(first.setdefault(passage, row))
    groups: dict[int, list[int]] = {}
    for row in range(len(examples)):
        groups.setdefault(root(row), []).append(row)
    return sorted(groups.values())
