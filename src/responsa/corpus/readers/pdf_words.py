"""Lines put together into running text: words broken at the end of a line are mended."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from responsa.corpus.readers.pdf_page import HYPHEN

_LETTERS = re.compile(r"[^\W\d_]+(?:[-‐‑][^\W\d_]+)*")
_LAST = re.compile(rf"([^\W_]+)([-‐‑{HYPHEN}])$")
_FIRST = re.compile(r"[^\W\d_]+")
_SUSPENDED = frozenset({"and", "or", "to", "und", "oder", "bis", "et", "ou"})
_PREFIXES = frozenset({"self", "non", "ex", "e", "all", "cross", "half", "quasi", "well", "long", "short", "high"})


@dataclass(slots=True)
class Mender:
    """Puts lines together. It knows the words of the document that stand within a line: what is hyphenated there
    keeps its hyphen at the end of a line, what is one word there loses it."""

    known: set[str] = field(default_factory=set)

    def learn(self, words: Iterable[str]) -> None:
        """Take in words as they are printed; those broken at the end of a line teach nothing."""
        for word in words:
            if not word.endswith(HYPHEN):
                self.known.update(each.lower() for each in _LETTERS.findall(word))

    def __call__(self, lines: Sequence[str]) -> str:
        """The lines as one text with single spaces."""
        text = ""
        for line in lines:
            text = self._append(text, line) if text else line
        return _unbroken(text)

    def _append(self, text: str, line: str) -> str:
        last = _LAST.search(text)
        first = _FIRST.match(line)
        if last is None:
            return f"{text} {line}"
        if first is None:
            return f"{text}{line}" if line[:1].isdigit() else f"{text} {line}"
        left, right = last[1], first[0]
        stem = text[: last.start(2)]
        if right.lower() in _SUSPENDED:
            return f"{stem}- {line}"
        joined, kept = (left + right).lower(), f"{left}-{right}".lower()
        if joined in self.known and kept not in self.known:
            return stem + line
        upper = right[0].isupper() and not (left.isupper() and right.isupper())
        hyphenated = kept in self.known and joined not in self.known
        if hyphenated or upper or left[-1].isdigit() or left.lower() in _PREFIXES:
            return f"{stem}-{line}"
        return stem + line


def _unbroken(text: str) -> str:
    """A broken word that nothing follows keeps a plain hyphen."""
    return text.replace(HYPHEN, "-") if text.endswith(HYPHEN) else text.replace(f"{HYPHEN} ", "- ").replace(HYPHEN, "")
