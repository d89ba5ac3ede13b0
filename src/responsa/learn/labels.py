"""Real sentences labelled as obligation or not: read without their text, which is taken from the data folder.

A row of the file names source, passage and place of a sentence, never its words: the texts may not be passed on. The
digest tells whether the text found there is the one that was labelled. How the sentences were drawn and labelled is
said in training/README.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from responsa.corpus import readers
from responsa.errors import InputError, ReadError
from responsa.learn.eba.files import read_json, read_string, read_text
from responsa.learn.examples import rows
from responsa.text import digest, sentences, words

Part = Literal["train", "test"]
Stratum = tuple[str, str]  # source, and "modal" or "plain"
Texts = Mapping[tuple[str, str], str]  # of passages, by source and passage id

SOURCES = ("adgm", "crr", "pra")
PARTS = ("train", "test")
STRATA = ("modal", "plain")
LEAST_WORDS, MOST_CHARACTERS = 4, 2000  # of the sentences that could be drawn
_MODAL = re.compile(r"\b(?:must|shall|should|required)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LabelledSentence:
    """``obligation`` is the label; ``soft`` marks guidance ("should", "expects"), ``close`` a close call."""

    text: str = field(repr=False)
    obligation: bool
    source: str
    passage: str
    stratum: str
    part: Part
    soft: bool
    close: bool


def stratum_of(sentence: str) -> str:
    """``modal`` where a sentence has must, shall, should or required, else ``plain``."""
    return "modal" if _MODAL.search(sentence) else "plain"


def load(path: Path, texts: Texts) -> tuple[LabelledSentence, ...]:
    """The labelled sentences of a file with their text. InputError names the row that cannot be used.

    That is one whose passage is missing or whose text is not the one that was labelled, one that stands twice, and
    one of a passage that is in the other part as well.
    """
    found: dict[tuple[str, str, int, int], LabelledSentence] = {}
    parts: dict[tuple[str, str], Part] = {}
    for place, row in rows(path):
        sentence = _sentence(row, place, texts)
        passage = (sentence.source, sentence.passage)
        if parts.setdefault(passage, sentence.part) != sentence.part:
            raise InputError(f"{place}: passage {sentence.passage!r} is in both parts; keep it in one")
        start, end = _span(row, place)
        if (*passage, start, end) in found:
            raise InputError(f"{place}: this sentence of passage {sentence.passage!r} stands twice; remove one")
        found[*passage, start, end] = sentence
    if not found:
        raise InputError(f"{path}: holds no labelled sentence")
    return tuple(found.values())


def _sentence(row: Mapping[str, object], place: str, texts: Texts) -> LabelledSentence:
    stratum, part = read_string(row, "stratum", place), part_of(row, place)
    if stratum not in STRATA:
        raise InputError(f"{place}: 'stratum' is {stratum!r}; write one of {', '.join(STRATA)}")
    source, passage, text = stretch(row, place, texts)
    label, soft, close = (_flag(row, key, place) for key in ("label", "soft", "close"))
    return LabelledSentence(text, label, source, passage, stratum, part, soft, close)


def part_of(row: Mapping[str, object], place: str) -> Part:
    """Whether a row is to learn from or to test on."""
    part = read_string(row, "part", place)
    if part not in PARTS:
        raise InputError(f"{place}: 'part' is {part!r}; write one of {', '.join(PARTS)}")
    return "train" if part == "train" else "test"


def stretch(row: Mapping[str, object], place: str, texts: Texts) -> tuple[str, str, str]:
    """Source, passage and text of what a row marks by ``source``, ``passage``, ``start``, ``end`` and ``digest``.

    InputError where there is no such passage, or its text is not the one that was marked.
    """
    source, passage = read_string(row, "source", place), read_string(row, "passage", place)
    if source not in SOURCES:
        raise InputError(f"{place}: 'source' is {source!r}; write one of {', '.join(SOURCES)}")
    text = texts.get((source, passage))
    if text is None:
        raise InputError(f"{place}: no text of {source} passage {passage!r}; is the data of this source given?")
    start, end = _span(row, place)
    marked, now = read_string(row, "digest", place), digest(text[start:end])[:16]
    if now != marked:
        raise InputError(
            f"{place}: characters {start} to {end} of {source} passage {passage!r} have the digest {now}, not "
            f"{marked}: the text or its reading changed; label the sentence again"
        )
    return source, passage, text[start:end]


def _span(row: Mapping[str, object], place: str) -> tuple[int, int]:
    start, end = row.get("start"), row.get("end")
    if type(start) is not int or type(end) is not int or not 0 <= start < end:
        raise InputError(f"{place}: 'start' and 'end' must be places of characters, these are {start!r} and {end!r}")
    return start, end


def _flag(row: Mapping[str, object], key: str, place: str) -> bool:
    value = row.get(key)
    if not isinstance(value, bool):
        raise InputError(f"{place}: {key!r} must be true or false, this is {value!r}")
    return value


def texts_of(folder: Path, pages: Mapping[str, str], acts: Iterable[str] = ("32013r0575:2026-06-26",)) -> Texts:
    """The passages of a data folder with text: ObliQA documents, articles of ``acts`` (celex:date), and PRA pages.

    ``pages`` are the passages that `benchmarks.pra` makes of the PRA pages, by id; empty where no row needs them.
    """
    found = {("pra", passage): text for passage, text in pages.items()}
    documents = folder / "obliqa" / "documents"
    files = sorted(documents.glob("*.json"))
    if not files:
        raise InputError(f"{documents}: holds no document of ObliQA; give the data folder")
    for path in files:
        passages = (passage for edition in readers.read(path) for passage in edition.passages)
        found |= {("adgm", passage.id): passage.text for passage in passages if passage.text.strip()}
    for act in acts:
        found |= {("crr", f"{act}:{article}"): text for article, text in _articles(folder, act)}
    return found


def _articles(folder: Path, act: str) -> list[tuple[str, str]]:
    celex, _, day = act.partition(":")
    path = folder / "eu_law" / "articles" / celex / f"{day}.json"
    value = read_json(read_text(path), str(path))
    provisions = value.get("provisions") if isinstance(value, dict) else None
    if not isinstance(provisions, list) or not all(isinstance(row, dict) for row in provisions):
        raise ReadError(f"{path}: no list of 'provisions'; is it an article file?")
    return [(read_string(row, "anchor", str(path)), read_string(row, "text_md", str(path))) for row in provisions]


def natural(texts: Texts) -> Counter[Stratum]:
    """How many sentences of each stratum the texts hold, of those that could be drawn."""
    counts: Counter[Stratum] = Counter()
    for (source, _), text in texts.items():
        for start, end in sentences(text):
            if end - start <= MOST_CHARACTERS and len(words(text[start:end])) >= LEAST_WORDS:
                counts[source, stratum_of(text[start:end])] += 1
    return counts


def weights(labelled: Sequence[LabelledSentence], counts: Mapping[Stratum, int]) -> list[float]:
    """For each sentence, how many sentences of its source and stratum it stands for; the mean is 1.

    With these, a score is an estimate for sentences as they come. Sources weigh by their size.
    """
    drawn = Counter((each.source, each.stratum) for each in labelled)
    missing = [stratum for stratum in drawn if not counts.get(stratum)]
    if missing:
        raise InputError(f"no count for the stratum {missing[0]!r}; count the texts that the sentences are from")
    shares = [counts[each.source, each.stratum] / drawn[each.source, each.stratum] for each in labelled]
    return [share * len(shares) / sum(shares) for share in shares]
