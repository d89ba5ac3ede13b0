"""The data set as files that the commands read: questions, gold, folds, the act as passages, and training examples.

questions.jsonl             id, question, background
qrels.txt                   gold articles; qrels-rare.txt and qrels-unnamed.txt: those of a stratum
qrels-cited.txt             CRR articles that the official answer cites
versions.jsonl              id, submitted, and the version of the act in force then
folds.json                  test and train ids
crr/DATE-articles.jsonl     a version of the act, a passage for each article
crr/DATE-paragraphs.jsonl   the same, a passage for each paragraph
training/                   act.jsonl (by paragraph), act-articles.jsonl, examples.jsonl, and folds of the examples
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from responsa import questions
from responsa.corpus import library
from responsa.corpus.library import Library
from responsa.errors import InputError, StorageError
from responsa.learn.archive import load as load_archive
from responsa.learn.eba import training
from responsa.learn.eba.act import Consolidation, InForce, consolidations, crr_version, edition, paragraphs
from responsa.learn.eba.folds import folds, without_copies
from responsa.learn.eba.inquiries import STRATA, Inquiry, cited, english, passage_id, read, strata
from responsa.learn.examples import Example
from responsa.storage import write_json, write_text
from responsa.types import Edition, Passage, Query

Fold = tuple[tuple[Inquiry, ...], tuple[Inquiry, ...]]
ARCHIVE = ("train.jsonl", "validation.jsonl")
WRITTEN = "written.jsonl"


@dataclass(frozen=True)
class Report:
    """What was found and written, in inquiries where nothing else is said.

    ``inquiries`` were read, of which ``not_english`` and, by the article field, ``without_gold``; ``gold`` and
    ``cited`` count pairs of an inquiry and an article. ``approximate``: no version held was in force on the day;
    ``shortened``: text above the limit of question files was cut. ``versions`` by day of entry into force.
    """

    inquiries: int
    not_english: int
    without_gold: int
    gold: int
    cited: int
    approximate: int
    shortened: int
    written: int
    written_copies: int
    examples: int
    strata: Mapping[str, int]
    versions: Mapping[str, int]
    folds: tuple[int, ...]

    @property
    def counts(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Source:
    """The archive in English, the inquiries written for training (none where the file is not there), the act."""

    archive: tuple[Inquiry, ...]
    written: tuple[Inquiry, ...]
    versions: tuple[Consolidation, ...]
    files: tuple[Path, ...] = ()
    not_english: int = 0


def open_source(folder: Path, law: Path) -> Source:
    """Read everything. ReadError for what is missing or malformed; InputError for an id given in two files."""
    archive = [item for name in ARCHIVE for item in read(folder / name)]
    files = [folder / name for name in (*ARCHIVE, WRITTEN) if name in ARCHIVE or (folder / name).exists()]
    written = read(folder / WRITTEN) if folder / WRITTEN in files else ()
    twice = [name for name, count in Counter(item.id for item in (*archive, *written)).items() if count > 1]
    if twice:
        raise InputError(f"{folder}: the id {twice[0]!r} is in two of its files; remove one")
    kept = english(archive)
    if not kept:
        raise InputError(f"{folder}: no inquiry is in English; is it the right archive?")
    return Source(kept, written, consolidations(law), tuple(files), len(archive) - len(kept))


def write(source: Source, out: Path, n: int = 5, seed: int = 0) -> Report:
    """Write the data set below ``out``, over what is there. The same source and seed give the same bytes."""
    for name in ("crr", "training"):
        try:
            (out / name).mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError) as error:
            raise InputError(f"{out}: is not a folder; choose another name") from error
        except OSError as error:
            raise StorageError(f"{out}: cannot be made: {error.strerror}; choose another folder") from error
    archive = source.archive
    asked = [_asked(item) for item in archive]
    _write_rows((_question(item.query) for item in asked), out / "questions.jsonl")
    for name in STRATA:
        chosen = [(item.id, item.articles) for item in archive if name in strata(item)]
        _write_qrels(chosen, out / ("qrels.txt" if name == "all" else f"qrels-{name}.txt"))
    _write_qrels(((item.id, cited(item)) for item in archive), out / "qrels-cited.txt")
    in_force = {item.id: crr_version(source.versions, item.submitted) for item in archive if item.submitted}
    _write_rows((_dated(item, in_force.get(item.id)) for item in archive), out / "versions.jsonl")
    parts = [([item.id for item in test], [item.id for item in train]) for train, test in folds(archive, n, seed)]
    _write_folds(parts, out / "folds.json")
    for version in source.versions:
        act = edition(version)
        for way, text in (("articles", _without_amendments(act)), ("paragraphs", paragraphs(act))):
            _write_rows(map(_row, text.passages), out / "crr" / f"{version.valid_from}-{way}.jsonl")
    written = without_copies(source.written, archive)
    found = _write_training(replace(source, archive=tuple(asked), written=written), out / "training", n, seed)
    return Report(
        inquiries=len(archive) + source.not_english,
        not_english=source.not_english,
        without_gold=sum(not item.articles for item in archive),
        gold=sum(len(item.articles) for item in archive),
        cited=sum(len(cited(item)) for item in archive),
        approximate=sum(each.approximate for each in in_force.values()),
        shortened=sum(one != other for one, other in zip(asked, archive, strict=True)),
        written=len(source.written),
        written_copies=len(source.written) - len(written),
        examples=len(found),
        strata={name: sum(name in strata(item) for item in archive) for name in STRATA},
        versions={
            str(version.valid_from): sum(each.version == version for each in in_force.values())
            for version in source.versions
        },
        folds=tuple(len(test) for test, _ in parts),
    )


def _write_training(source: Source, out: Path, n: int, seed: int) -> tuple[Example, ...]:
    act = training.act_to_learn(source.versions, source.archive)
    _write_rows(map(_row, act.passages), out / "act-articles.jsonl")
    _write_rows(map(_row, paragraphs(act).passages), out / "act.jsonl")
    items = (*source.archive, *source.written)
    with tempfile.TemporaryDirectory(prefix="responsa-") as folder:
        library.add(Path(folder), [out / "act.jsonl"], lambda _: None)
        with Library.open(Path(folder)) as opened:
            found = training.examples(items, opened.corpus())
    _write_rows(({**_question(each.query), "passages": each.passages} for each in found), out / "examples.jsonl")
    parts = folds(source.archive, n, seed)
    known = {each.query.id for each in found}
    _write_folds(_parts(parts, source.written, known), out / "folds.json")
    _write_folds(_parts(parts, source.written, _ranked(source, act)), out / "folds-crr-ranker.json")
    return found


def _ranked(source: Source, act: Edition) -> set[str]:
    """The inquiries that ``train reranker --preset crr-ranker`` learns from, given the files of the source."""
    held = {passage.id for passage in act.passages}
    kept: set[str] = set()
    for path in source.files:
        with contextlib.suppress(InputError):  # none of its inquiries is of use there
            loaded = load_archive(path, lambda article: [passage_id(article)] if passage_id(article) in held else [])
            kept.update(example.query.id for example in loaded.examples)
    return kept


_Parts = list[tuple[list[str], list[str]]]


def _parts(parts: Sequence[Fold], written: Sequence[Inquiry], known: set[str]) -> _Parts:
    """Test and training ids of each fold, of those known; what was written is always for training."""
    more = [item.id for item in written if item.id in known]
    return [
        ([item.id for item in test if item.id in known], [item.id for item in train if item.id in known] + more)
        for train, test in parts
    ]


# Rows


def _asked(inquiry: Inquiry) -> Inquiry:
    """The inquiry with texts no longer than question files may hold."""
    most = questions.MOST_CHARACTERS
    return replace(inquiry, question=inquiry.question[:most], background=inquiry.background[:most])


def _question(query: Query) -> dict[str, object]:
    return {"id": query.id, "question": query.text, "background": query.background}


def _dated(inquiry: Inquiry, found: InForce | None) -> dict[str, object]:
    return {
        "id": inquiry.id,
        "submitted": str(inquiry.submitted) if inquiry.submitted else None,
        "valid_from": str(found.version.valid_from) if found else None,
        "approximate": found.approximate if found else None,
    }


def _row(passage: Passage) -> dict[str, object]:
    row: dict[str, object] = {"id": passage.id, "document": passage.document_id, "number": passage.number}
    row |= {"title": passage.title, "path": passage.path, "text": passage.text}
    return row | ({"parent": passage.parent_id} if passage.parent_id else {})


def _without_amendments(act: Edition) -> Edition:
    return replace(act, passages=tuple(passage for passage in act.passages if "amends" not in passage.flags))


# Files


def _write_rows(rows: Iterable[Mapping[str, object]], path: Path) -> None:
    write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), path)


def _write_qrels(gold: Iterable[tuple[str, Sequence[str]]], path: Path) -> None:
    lines = [f"{name} 0 {passage_id(article)} 1\n" for name, articles in gold for article in articles]
    write_text("".join(lines), path)


def _write_folds(parts: _Parts, path: Path) -> None:
    write_json([{"test": test, "train": train} for test, train in parts], path)
