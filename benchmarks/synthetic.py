"""Passages of any number from a seed, with the statistics that an index feels: how words and pairs of words repeat.

Words follow the double power law that Gerlach and Altmann (Physical Review X 3, 021006, 2013) fitted to English:
probability falls as 1/rank for a core vocabulary of 7,873 words and as 1/rank**1.77 beyond, without an end, so that
the vocabulary grows as the text does (Heaps' law). The most frequent ranks are English stop words. Half of the words
are one of four favourite successors of the word before, so that pairs repeat as in language.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
from bm25s.stopwords import STOPWORDS_EN_PLUS

SEED = 20_130_521
DOCUMENTS = 100
_CORE = 7873
_EXPONENT = 1.77
_SHORTEST, _LONGEST = 40, 60  # words of a passage
_HABIT = 0.5  # share of words that are a favourite successor of the word before
_FAVOURITES = 4
_SECTION = 20  # passages under one heading
_SYLLABLES = [consonant + vowel for consonant in "bcdfghjklmnpqrstvwxz" for vowel in "aeiou"]
_COMMON: list[str] = list(dict.fromkeys(STOPWORDS_EN_PLUS))

Ranks = npt.NDArray[np.int64]


def write(folder: Path, passages: int, seed: int = SEED) -> None:
    """That many passages in ``folder`` as `DOCUMENTS` JSON-lines files."""
    for document, size in enumerate(np.diff(np.linspace(0, passages, DOCUMENTS + 1).astype(int))):
        generator = np.random.default_rng([seed, document])
        ranks = draw(generator, int(size))
        lengths = generator.integers(_SHORTEST, _LONGEST + 1, len(ranks))
        words = _spelled(ranks)
        lines = []
        for row, length in enumerate(lengths):
            heading = " ".join(words[row - row % _SECTION, :4])
            item = {"id": f"{document}-{row}", "text": " ".join(words[row, :length]), "path": [heading]}
            lines.append(json.dumps(item) + "\n")
        (folder / f"{document:03}.jsonl").write_text("".join(lines), encoding="utf-8")


def questions(number: int, seed: int = SEED) -> list[str]:
    """Questions of twelve words: eight that stand together in a passage of their own, four drawn at large."""
    generator = np.random.default_rng([seed, DOCUMENTS])
    words = _spelled(np.hstack([draw(generator, number)[:, :8], _ranks(generator.random((number, 4)))]))
    return [" ".join(row) for row in words]


def draw(generator: np.random.Generator, passages: int) -> Ranks:
    """The ranks of the words of some passages, one passage a row, each of the greatest length."""
    shape = passages, _LONGEST
    free = _ranks(generator.random(shape))
    habitual = generator.random(shape) < _HABIT
    choice = generator.integers(0, _FAVOURITES, shape)
    for column in range(1, _LONGEST):
        follower = _ranks(_mixed(free[:, column - 1] * _FAVOURITES + choice[:, column]))
        free[:, column] = np.where(habitual[:, column], follower, free[:, column])
    return free


def _ranks(uniform: npt.NDArray[np.float64]) -> Ranks:
    """Uniform numbers to ranks from 0, by the inverse of the (continuous) distribution."""
    core, tail = np.log(_CORE), 1 / (_EXPONENT - 1)
    mass = uniform * (core + tail)
    within = np.exp(np.minimum(mass, core))
    beyond = _CORE * np.maximum(1 - (mass - core) / tail, 1e-12) ** (-1 / (_EXPONENT - 1))
    ranks: Ranks = np.where(mass < core, within, beyond).astype(np.int64) - 1
    return ranks


def _mixed(numbers: Ranks) -> npt.NDArray[np.float64]:
    """Numbers to numbers in [0, 1) that look random and are always the same (splitmix64)."""
    state = numbers.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state = (state ^ (state >> np.uint64(shift))) * np.uint64(factor)
    return (state ^ (state >> np.uint64(31))) / 2.0**64 * (1 - 2**-52)


def _spelled(ranks: Ranks) -> npt.NDArray[np.object_]:
    """The word of each rank."""
    distinct, place = np.unique(ranks, return_inverse=True)
    spelled = np.array([_spell(int(rank)) for rank in distinct], dtype=object)
    return spelled[place].reshape(ranks.shape)


def _spell(rank: int) -> str:
    """A stop word for the first ranks, syllables for the others; no two ranks alike."""
    if rank < len(_COMMON):
        return _COMMON[rank]
    number, syllables = rank - len(_COMMON), ["n"]
    while number or len(syllables) < 3:
        number, syllable = divmod(number, len(_SYLLABLES))
        syllables.append(_SYLLABLES[syllable])
    return "".join(reversed(syllables))
