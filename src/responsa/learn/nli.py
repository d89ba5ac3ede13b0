"""Pairs of premise and hypothesis to learn entailment from: written ones from files, edited ones from rules."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

from responsa.corpus.view import Corpus
from responsa.errors import InputError
from responsa.learn.classifier import Sample, Samples, hold_out
from responsa.learn.edits import ANAPHORIC, BROKEN, MORE, PRESERVING, SAME, Edit, Relation, Rule, parse, unnumbered
from responsa.learn.edits_broken import BREAKING
from responsa.learn.examples import objects
from responsa.learn.labels import Part, Texts, part_of, stretch
from responsa.learn.mirrored import MIRRORED, mirror
from responsa.learn.pieces import whole
from responsa.text import folded, sentences, tidy

# The order of the scores, that of cross-encoder/nli-deberta-v3-xsmall.
LABELS: tuple[Relation, ...] = (BROKEN, SAME, MORE)
EDITED = "edited"  # the source of pairs made by edits
_IN_PASSAGE = 0.3  # of the edited pairs have the whole passage as premise, where it can be
_LONGEST_PASSAGE = 1200  # characters
_CHAINED = 0.3  # of the breaking edits are made on a sentence that was changed before without loss
_OTHERS = 3  # other rules tried for each


@dataclass(frozen=True, slots=True)
class Pair:
    """What `derive` makes. ``sentence`` is the one that was edited."""

    premise: str
    hypothesis: str
    label: Relation
    kind: str
    sentence: str


class Written(NamedTuple):
    """Pairs to learn from, and those that are only measured."""

    learned: tuple[Sample, ...]
    test: tuple[Sample, ...]


def read(path: Path, texts: Callable[[], Texts] | None = None) -> Written:
    """Pairs from JSON lines ``{premise, hypothesis, label, source?}``, compressed where the name ends in ``.gz``.

    In place of ``premise`` a row may mark a stretch of a passage (`labels.stretch`), whose text is then taken from what
    ``texts`` gives, which is called once, at the first such row; it also says its ``part``, of which ``test`` is only
    measured. A list in place of the hypothesis has its own words and the places of those that it takes from the
    premise, blanks evened (`pieces`). The source is the file's name where a row has none, and what it calls its
    ``set`` where it has one; pairs with the same premise are one group. InputError names file and line.
    """
    texts = cache(texts) if texts else None
    name = path.name.removesuffix(".gz").removesuffix(".jsonl")
    found: dict[Part, list[Sample]] = {"train": [], "test": []}
    for place, row in _rows(path):
        premise = _premise(row, place, texts)
        hypothesis = _hypothesis(row, premise, place)
        label, source = row.get("label"), row.get("set", row.get("source", name))
        if label not in LABELS:
            raise InputError(f"{place}: 'label' is {label!r}; write one of {', '.join(sorted(LABELS))}")
        if not isinstance(source, str) or source.split() != [source] or "=" in source or source in (EDITED, MIRRORED):
            key = "set" if "set" in row else "source"
            raise InputError(
                f"{place}: {key!r} must be a word other than {EDITED!r} and {MIRRORED!r}, without '=', this is "
                f"{source!r}"
            )
        sample = Sample((premise, hypothesis), LABELS.index(label), source, folded(unnumbered(premise)))
        found[part_of(row, place) if "part" in row else "train"].append(sample)
    if not any(found.values()):
        raise InputError(f"{path}: holds no pair")
    return Written(tuple(found["train"]), tuple(found["test"]))


def _premise(row: dict[str, object], place: str, texts: Callable[[], Texts] | None) -> str:
    if "premise" in row or "passage" not in row:
        return _text(row, "premise", place)
    if texts is None:
        raise InputError(f"{place}: the premise is a stretch of a passage; say with --data where the texts are")
    return stretch(row, place, texts())[2].strip()


def _hypothesis(row: dict[str, object], premise: str, place: str) -> str:
    told = row.get("hypothesis")
    return whole(told, tidy(premise), place).strip() if isinstance(told, list) else _text(row, "hypothesis", place)


def _rows(path: Path) -> Iterator[tuple[str, dict[str, object]]]:
    try:
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from error
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise InputError(f"{path}: cannot be unpacked: {error}") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    yield from objects(text, path)


def _text(row: dict[str, object], name: str, place: str) -> str:
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{place}: {name!r} must be a text, this is {value!r}")
    return value.strip()


def gather(
    files: Sequence[Path],
    corpus: Corpus | None,
    edited: int,
    validation: int,
    seed: int,
    tests: Sequence[Path] = (),
    texts: Callable[[], Texts] | None = None,
    mirrored: int = 0,
) -> Samples:
    """The pairs of files, ``edited`` ones of the corpus and at most ``mirrored`` of those of files with the change made
    in the premise (`mirror`), split by premise (`hold_out`).

    An edited pair goes with the sentence it was made of. Pairs that stand in the test files too are left out, and
    all whose premise is one of a test part.
    """
    texts = cache(texts) if texts else None
    given = [read(path, texts) for path in files]
    apart = [sample for each in given for sample in each.test]
    test = (*(sample for path in tests for part in read(path, texts) for sample in part), *apart)
    tested = {tuple(map(folded, sample.texts)) for sample in test}
    premises = {sample.group for sample in apart}
    found = [sample for each in given for sample in each.learned]
    if corpus is not None and edited:
        found += [_sample(pair) for pair in derive(_passages(corpus), edited, seed)]
    if mirrored:
        made = list(
            mirror((sample for each in given for sample in each.learned), LABELS.index(SAME), LABELS.index(BROKEN))
        )
        found += Random(f"{seed} {MIRRORED}").sample(made, min(mirrored, len(made)))  # noqa: S311
    kept = [
        sample
        for sample in dict.fromkeys(found)
        if tuple(map(folded, sample.texts)) not in tested and sample.group not in premises
    ]
    learned, held = hold_out(kept, validation, seed)
    return Samples(learned, held, test)


def _sample(pair: Pair) -> Sample:
    return Sample((pair.premise, pair.hypothesis), LABELS.index(pair.label), EDITED, folded(pair.sentence))


def _passages(corpus: Corpus) -> Iterator[str]:
    for version in corpus.versions:
        for passage in corpus.passages(version):
            if passage.text.strip():
                yield passage.text


def derive(passages: Iterable[str], count: int, seed: int) -> list[Pair]:
    """At most ``count`` pairs by edits of the sentences of passages, the labels in equal numbers as far as there are
    enough, and the kinds within a label. The seed decides what is drawn."""
    chance = Random(f"{seed} edits")  # noqa: S311
    pools: dict[Relation, dict[str, list[Pair]]] = {label: {} for label in LABELS}
    seen: set[str] = set()
    rules: list[Rule] = []
    for passage in passages:
        for start, end in sentences(passage):
            rule = parse(passage[start:end])
            if rule is None or folded(rule.text) in seen:
                continue
            seen.add(folded(rule.text))
            if rule.modal and not ANAPHORIC.match(rule.subject):
                rules.append(rule)
            for pair in pairs(rule, passage, chance):
                pools[pair.label].setdefault(pair.kind, []).append(pair)
    pools[MORE]["other rule"] = list(_others(rules, chance))
    found: list[Pair] = []
    for place, label in enumerate(LABELS):
        found += _drawn(pools[label], (count - len(found)) // (len(LABELS) - place), chance)
    return found


def pairs(rule: Rule, passage: str, chance: Random) -> Iterator[Pair]:
    """Every pair that the edits of a rule give, in both directions where both labels are certain."""
    for name, kind in {**PRESERVING, **BREAKING}.items():
        for edit in kind(rule, chance):
            yield _in_context(rule, edit, passage, chance)
            if edit.back:
                yield Pair(edit.text, rule.text, edit.back, f"{name} back", rule.text)
            if name in PRESERVING and edit.back == SAME and chance.random() < _CHAINED:
                yield from _chained(rule, edit, chance)


def _in_context(rule: Rule, edit: Edit, passage: str, chance: Random) -> Pair:
    """The pair with the sentence or its whole passage as premise. What is neutral to a sentence may follow from
    another of the passage, so it keeps the sentence."""
    fits = edit.label != MORE and len(passage) <= _LONGEST_PASSAGE and len(passage) > len(rule.text) + 40
    whole = fits and chance.random() < _IN_PASSAGE
    return Pair(passage if whole else rule.text, edit.text, edit.label, edit.kind, rule.text)


def _chained(rule: Rule, edit: Edit, chance: Random) -> Iterator[Pair]:
    """The original against a breaking edit of what says the same."""
    changed = parse(edit.text)
    made = [found for kind in BREAKING.values() for found in kind(changed, chance)] if changed else []
    if made:
        chosen = chance.choice(made)
        yield Pair(rule.text, chosen.text, chosen.label, f"{chosen.kind} of {edit.kind}", rule.text)


def _others(rules: Sequence[Rule], chance: Random) -> Iterator[Pair]:
    """Each rule with another that shares its subject and, beyond that, few of its words: one says nothing of the
    other."""
    by_subject: dict[str, list[Rule]] = {}
    for rule in rules:
        by_subject.setdefault(rule.subject.lower(), []).append(rule)
    for rule in [*rules] * _OTHERS:
        other = chance.choice(by_subject[rule.subject.lower()])
        mine, theirs = (set(folded(one.rest).split()) for one in (rule, other))
        if len(mine & theirs) < 0.3 * min(len(mine), len(theirs)):
            yield Pair(rule.text, other.text, MORE, "other rule", rule.text)


def _drawn(pool: dict[str, list[Pair]], count: int, chance: Random) -> list[Pair]:
    """Up to ``count`` pairs, as evenly over the kinds as they last."""
    order = sorted(pool, key=lambda kind: (len(pool[kind]), kind))
    found: list[Pair] = []
    for place, kind in enumerate(order):
        share = (count - len(found)) // (len(order) - place)
        found += chance.sample(pool[kind], min(share, len(pool[kind])))
    return found
