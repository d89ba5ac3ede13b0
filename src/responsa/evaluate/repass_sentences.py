"""Sentences as the protocols of RePASs see them, and which splitter made them.

The published script splits with NLTK's Punkt and its English data. Where the user has both, they are used; otherwise
our own reading of the algorithm (Kiss and Strunk, 2006) runs with a short list of abbreviations and without the trained
tables, and results say so: a result of one splitter is not one of the other.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from responsa import text as legal
from responsa.text import digest, normalise

# A mark that may end a sentence, closing quotes and brackets after it, and what follows: a word after white space, or
# at once a character that is no part of a word.
_CANDIDATE = re.compile(r"([.?!]+)([\"')\]}”’»]*)(?:\s+(\S+)|(?=[(\[{;*]))")
_TOKEN = re.compile(r"\S+\Z")
_NUMBER = re.compile(r"[(\[]?-?\d[\d.,]*\Z")
_INITIAL = re.compile(r"[^\W\d_]\Z")
_OPENING = "\"'([{“‘«"
_ABBREVIATIONS = re.compile(
    r"(?:mrs?|ms|messrs|dr|prof|st|[js]r|rev|hon|gen|col|lt|sgt|capt|gov|sen|rep|maj|adm|corp?|inc|ltd|bros|vs|"
    r"u\.[skn]|[ap]\.m|d\.c|ph\.d|jan|feb|mar|apr|aug|sept|oct|nov|dec)"
)
_STARTER = re.compile(
    r"(?:the|these|this|that|those|it|s?he|they|we|you|in|on|at|for|from|with|as|if|when|while|after|before|by|an|"
    r"there|however|but|and|so|such|each|any|all|no)",
    re.IGNORECASE,
)
_RULES = "punkt-like 1"


@dataclass(frozen=True)
class Splitter:
    """Text to sentences. ``name`` tells the splitter and, after ``@``, a digest of what it goes by."""

    name: str
    split: Callable[[str], list[str]]

    def spans(self, text: str) -> list[tuple[int, int]]:
        """(start, end) in the text of each sentence of ``split``."""
        if self.split is _legal:
            return legal.sentences(text)
        spans, end = [], 0
        for sentence in self.split(text):  # Punkt's are stretches of the text
            start = text.index(sentence, end)
            end = start + len(sentence)
            spans.append((start, end))
        return spans


def splitter(kind: Literal["punkt", "legal"]) -> Splitter:
    """The splitter of a protocol. For ``punkt`` NLTK's where library and data are there, else ``punkt-like``."""
    if kind == "legal":
        return Splitter(f"legal@{_source()}", _legal)
    return _punkt() or Splitter(f"punkt-like@{_own()}", punkt_like)


def punkt_like(text: str) -> list[str]:
    """Sentences by Punkt's rules without its trained tables. Blank text gives none."""
    spans, start = [], 0
    for end, following in _ends(text):
        spans.append(text[start:end].strip())
        start = following
    spans.append(text[start:].strip())
    return [span for span in spans if span]


def _ends(text: str) -> Iterator[tuple[int, int]]:
    """(end of a sentence, start of the next)."""
    position = 0
    while match := _CANDIDATE.search(text, position):
        following = match[3] or ""
        position = match.start(3) if following else match.end()
        before = _TOKEN.search(text, max(0, match.start() - 80), match.start())
        if _is_end(before[0] if before else "", match[1], following):
            yield match.end(2), position


def _is_end(word: str, marks: str, following: str) -> bool:
    """Whether the marks after ``word`` end a sentence, given the word that follows ("" for none)."""
    name = word.lstrip(_OPENING).casefold()
    first = following.lstrip(_OPENING)[:1]
    if "?" in marks or "!" in marks:
        return True
    if len(marks) > 1 or _ABBREVIATIONS.fullmatch(name) or _ABBREVIATIONS.fullmatch(name.rpartition("-")[2]):
        return first.isupper() and _STARTER.fullmatch(following.lstrip(_OPENING)) is not None
    if _NUMBER.match(name):
        return not (first.islower() or following[:1] in {";", ":", ",", ".", "!", "?"})
    if _INITIAL.match(name):
        return not (first.islower() or first.isupper())
    return True


def _legal(text: str) -> list[str]:
    return [normalise(text[start:end]) for start, end in legal.sentences(text)]


def _punkt() -> Splitter | None:
    try:
        nltk = importlib.import_module("nltk")
        sent_tokenize: Callable[[str], list[str]] = importlib.import_module("nltk.tokenize").sent_tokenize
        sent_tokenize("One. Two.")
    except ImportError:
        return None
    except LookupError:  # the library without its data
        return None
    return Splitter(f"punkt-{nltk.__version__}@{_tables()}", lambda text: list(sent_tokenize(text)))


def _tables() -> str:
    """A digest of Punkt's English tables, as far as this release of NLTK shows them."""
    try:
        found: Any = importlib.import_module("nltk.tokenize.punkt").PunktTokenizer("english")._params
    except (ImportError, LookupError, AttributeError):
        return "unknown"
    told = [sorted(map(list, found.collocations)), sorted(found.abbrev_types), sorted(found.sent_starters)]
    return digest([*told, sorted(map(list, found.ortho_context.items()))])[:12]


@lru_cache(maxsize=1)
def _source() -> str:
    """A digest of the code of `responsa.text`, which holds the rules."""
    return digest(Path(legal.__file__).read_text(encoding="utf-8"))[:12]


def _own() -> str:
    return digest([_RULES, _CANDIDATE.pattern, _ABBREVIATIONS.pattern, _STARTER.pattern])[:12]
