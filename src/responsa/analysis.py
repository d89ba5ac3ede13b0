"""From text to index terms: clean-up, lower case, stop words, Snowball stems; words and bigrams.

A term is a 64-bit hash, so that the vocabulary is a sorted array that is searched where it lies on disk
instead of a dictionary in memory. With ten million distinct terms two of them collide with a probability
of about 3 in a million.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from responsa.text import digest, normalise

Terms = npt.NDArray[np.uint64]
Idf = Callable[[Terms], npt.NDArray[np.float64]]
"""The weight of each term: its inverse document frequency in a corpus, above all others for one it does not hold."""

_WORD = re.compile(r"\w+")
# Odd multiplier of the golden ratio (Knuth): spreads the first word's bits before the second is mixed in.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(7)
_MOST_WORDS = 1_000_000  # remembered at a time, so that a process that runs for months does not grow


class Analysed(NamedTuple):
    """The terms of one text: its words in order without stop words, and the bigrams of neighbours among them."""

    words: Terms
    bigrams: Terms


@dataclass(frozen=True)
class Analysis:
    """How text becomes terms.

    ``clean`` is `text.normalise` (Unicode forms, invisible characters, quotes), ``lower`` lower case;
    ``stopwords``: ``none``, ``small`` (33 words, as Lucene) or ``large`` (179).
    """

    stemmer: str = "english"
    stopwords: Literal["none", "small", "large"] = "large"
    bigrams: bool = True
    clean: bool = True
    lower: bool = True

    @property
    def fingerprint(self) -> str:
        """Names the terms that it makes: another release of the stemmer or of the stop words gives another one."""
        import Stemmer

        return digest([repr(self), Stemmer.version(), sorted(_stop_list(self.stopwords))])

    def __call__(self, texts: Iterable[str]) -> list[Analysed]:
        """The terms of each text, in order; repeated words stay repeated."""
        hashes = _vocabulary(self.stemmer, self.stopwords)
        analysed = []
        for text in texts:
            cleaned = normalise(text) if self.clean else text
            found = _WORD.findall(cleaned.lower() if self.lower else cleaned)
            words = np.fromiter((hashes[word] for word in found), dtype=np.uint64, count=len(found))
            words = words[words != 0]
            analysed.append(Analysed(words, _bigrams(words) if self.bigrams else words[:0]))
        return analysed


def _bigrams(words: Terms) -> Terms:
    """One term for each two neighbours, different for (a, b) and (b, a)."""
    first, second = words[:-1], words[1:]
    return (first * _SPREAD) ^ (second + (first >> _SHIFT))


class _Hashes(dict[str, int]):
    """Word to term, 0 for a stop word; filled as words are met."""

    def __init__(self, stem: Callable[[str], str], stopwords: frozenset[str]) -> None:
        super().__init__()
        self._stem = stem
        self._stopwords = stopwords

    def __missing__(self, word: str) -> int:
        if word in self._stopwords:
            term = 0
        else:
            # The lowest bit is set so that no word hashes to 0.
            term = int.from_bytes(hashlib.blake2b(self._stem(word).encode(), digest_size=8).digest(), "little") | 1
        if len(self) >= _MOST_WORDS:
            self.clear()
        self[word] = term
        return term


@lru_cache(maxsize=8)
def _vocabulary(stemmer: str, stopwords: str) -> _Hashes:
    import Stemmer

    stem: Callable[[str], str] = str if stemmer == "none" else Stemmer.Stemmer(stemmer).stemWord
    return _Hashes(stem, _stop_list(stopwords))


@lru_cache(maxsize=4)
def _stop_list(name: str) -> frozenset[str]:
    from bm25s.stopwords import STOPWORDS_EN, STOPWORDS_EN_PLUS

    return frozenset({"none": (), "small": STOPWORDS_EN, "large": STOPWORDS_EN_PLUS}[name])


def stemmers() -> list[str]:
    """The names that ``stemmer`` takes: Snowball's, and ``none``."""
    import Stemmer

    return ["none", *Stemmer.algorithms()]


def windows(text: str, length: int, overlap: int) -> list[str]:
    """A text in windows of at most ``length`` words that share ``overlap`` words; itself where it is short enough.

    The last window ends with the text and starts a whole stride after the one before.
    """
    if len(text) <= length:  # fewer characters than words allowed: spares the splitting
        return [text]
    words = text.split()
    if len(words) <= length:
        return [text]
    stride = length - overlap
    return [" ".join(words[start : start + length]) for start in range(0, len(words) - overlap, stride)]
