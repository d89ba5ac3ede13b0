"""What a score of entailment does not see: copying, answers beside the question, length, style.

RePASs never reads the question, and a verbatim copy of a source sentence is what it scores best. So these figures
stand beside each score.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from responsa.analysis import Analysis
from responsa.text import sentences, words

RUN = 8  # words in a row that count as copied; in a shorter sentence all of them
HIGH, COPIED, BESIDE, NEARLY_ALL = 0.6, 0.5, 0.2, 0.8

_VOWELS = re.compile(r"[aeiouy]+")
_TERMS = Analysis(bigrams=False)


@dataclass(frozen=True, slots=True)
class Gaming:
    """Figures beside one answer's score.

    ``copied``: share of the answer's words that stand in a source passage in runs of `RUN` or more.
    ``relevance``: share of the question's terms (stems without stop words) that the answer holds; None without a
    question. ``length``: words of the answer to words of its sources; None without sources. ``grade`` and ``ease``:
    Flesch and Kincaid's grade level and Flesch's reading ease; None without a word. ``obligations_answer`` and
    ``obligations_sources``: share of sentences called obligations; None without a sentence. ``flags``: why a high
    score is to be doubted, empty for no doubt.
    """

    copied: float
    relevance: float | None
    length: float | None
    grade: float | None
    ease: float | None
    obligations_answer: float | None
    obligations_sources: float | None
    flags: tuple[str, ...] = ()


def gaming(
    answer: str,
    passages: Sequence[str],
    question: str,
    composite: float,
    called: tuple[Sequence[bool], Sequence[bool]],
) -> Gaming:
    """The figures of one answer; ``called`` says of its sentences and of those of the sources which are obligations.

    Flags: ``copied`` for a composite of `HIGH` or more with `COPIED` or more copied; ``beside the question`` for such
    a composite with a relevance under `BESIDE`; ``nearly all obligations`` where, of five or more source sentences,
    `NEARLY_ALL` or more are called obligations, so that coverage is that of sentences.
    """
    own, theirs = words(answer), sum(len(words(passage)) for passage in passages)
    copied, relevance = copied_share(answer, passages), question_relevance(question, answer)
    grade, ease = readability(answer) or (None, None)
    in_answer, in_sources = (sum(flags) / len(flags) if flags else None for flags in called)
    flags = []
    if composite >= HIGH and copied >= COPIED:
        flags.append("copied")
    if composite >= HIGH and relevance is not None and relevance < BESIDE:
        flags.append("beside the question")
    if in_sources is not None and in_sources >= NEARLY_ALL and len(called[1]) >= 5:
        flags.append("nearly all obligations")
    length = len(own) / theirs if theirs else None
    return Gaming(copied, relevance, length, grade, ease, in_answer, in_sources, tuple(flags))


def copied_share(answer: str, passages: Sequence[str]) -> float:
    """Share of the answer's words inside runs of `RUN` words of one passage, from 0 to 1; 0 for no word."""
    sources = [words(passage) for passage in passages]
    known: dict[int, set[tuple[str, ...]]] = {}
    total = found = 0
    for start, end in sentences(answer):
        row = words(answer[start:end])
        size = min(RUN, len(row))
        if not size:
            continue
        if size not in known:
            known[size] = {tuple(each[i : i + size]) for each in sources for i in range(len(each) - size + 1)}
        marked = [False] * len(row)
        for i in range(len(row) - size + 1):
            if tuple(row[i : i + size]) in known[size]:
                marked[i : i + size] = [True] * size
        total, found = total + len(row), found + sum(marked)
    return found / total if total else 0.0


def question_relevance(question: str, answer: str) -> float | None:
    """Share of the question's different terms that the answer holds; None for a question without a term."""
    asked, told = (set(each.words.tolist()) for each in _TERMS([question, answer]))
    return len(asked & told) / len(asked) if asked else None


def readability(text: str) -> tuple[float, float] | None:
    """Flesch and Kincaid's grade level and Flesch's reading ease (Kincaid et al., 1975; Flesch, 1948), with syllables
    counted as groups of vowels; None without a word."""
    found = words(text)
    if not found:
        return None
    per_sentence = len(found) / max(1, len(sentences(text)))
    per_word = sum(map(_syllables, found)) / len(found)
    return 0.39 * per_sentence + 11.8 * per_word - 15.59, 206.835 - 1.015 * per_sentence - 84.6 * per_word


def _syllables(word: str) -> int:
    """Groups of vowels, without a silent e at the end; at least one."""
    groups = len(_VOWELS.findall(word))
    silent = groups > 1 and word.endswith("e") and not word.endswith("le")
    return max(1, groups - silent)
