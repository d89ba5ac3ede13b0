"""Reports cut into chunks of so many characters, no chunk over two pages, and how well chunks hold known passages.

Follows the EU Taxonomy thesis (2024), section 6.1.1 and appendix C: pages are cut at blank lines, then lines, then
spaces, into pieces of at most ``size`` characters, of which up to ``overlap`` are repeated at the start of the next.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from responsa.errors import InputError
from responsa.types import Passage

SIZE, OVERLAP = 2800, 300
SIZES, OVERLAPS = tuple(range(1000, 3001, 200)), tuple(range(0, 501, 100))
HELD = 0.8
"""Characters of a chunk; the grid of the thesis's experiment; the word overlap below which a passage is not held."""

_TAG = re.compile(r"</?(?:table|caption|tr|th|td)\b[^<>]*>")
_SEPARATORS = ("\n\n", "\n", " ", "")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stretch of a page's text. ``passage_ids`` are those of the page whose text begins in it or goes on in it."""

    document_id: str
    page: int
    number: int
    text: str
    passage_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trial:
    """How well chunks of one size hold the passages looked for: ``low`` of ``total`` have less than `HELD` of their
    words in one chunk, and ``mean`` is the mean share."""

    size: int
    overlap: int
    chunks: int
    low: int
    total: int
    mean: float


def chunks_of(passages: Sequence[Passage], size: int = SIZE, overlap: int = OVERLAP) -> list[Chunk]:
    """The chunks of a document's passages in reading order; those without text or page give none, hidden ones neither.

    InputError where ``overlap`` is not smaller than ``size`` or negative.
    """
    if not 0 <= overlap < size:
        raise InputError(
            f"chunks of {size} characters with {overlap} repeated: the overlap must be 0 or more and smaller"
        )
    found: list[Chunk] = []
    shown = [each for each in passages if each.page is not None and each.text.strip() and "hidden" not in each.flags]
    for (document_id, page), group in groupby(shown, key=lambda each: (each.document_id, each.page)):
        own = list(group)
        text = "\n\n".join(each.text for each in own)
        starts = _starts(own)
        assert page is not None
        for number, (start, end) in enumerate(_places(text, split(text, size, overlap)), start=1):
            ids = tuple(each.id for each, (a, b) in zip(own, starts, strict=True) if a < end and b > start)
            found.append(Chunk(document_id, page, number, text[start:end], ids))
    return found


def split(text: str, size: int = SIZE, overlap: int = OVERLAP) -> list[str]:
    """Pieces of at most ``size`` characters, cut at the coarsest separator that will do; they are stripped of space."""
    return [piece for piece in _split(text, size, overlap, _SEPARATORS) if piece]


def _split(text: str, size: int, overlap: int, separators: Sequence[str]) -> list[str]:
    at = next((index for index, each in enumerate(separators) if not each or each in text), len(separators) - 1)
    separator, finer = separators[at], separators[at + 1 :]
    parts = text.split(separator) if separator else list(text)
    done: list[str] = []
    fitting: list[str] = []
    for part in parts:
        if len(part) <= size:
            fitting.append(part)
            continue
        done += _merged(fitting, separator, size, overlap)
        fitting = []
        done += _split(part, size, overlap, finer)
    return done + _merged(fitting, separator, size, overlap)


def _merged(parts: Sequence[str], separator: str, size: int, overlap: int) -> list[str]:
    """Parts joined while they fit; each piece begins with the last parts of the one before that fit in ``overlap``."""
    done: list[str] = []
    current: list[str] = []
    length = 0
    for part in parts:
        gap = len(separator) if current else 0
        if current and length + gap + len(part) > size:
            done.append(separator.join(current).strip())
            while current and (length > overlap or length + len(separator) + len(part) > size):
                length -= len(current[0]) + (len(separator) if len(current) > 1 else 0)
                current = current[1:]
            gap = len(separator) if current else 0
        current.append(part)
        length += gap + len(part)
    return [*done, separator.join(current).strip()] if current else done


def _starts(passages: Sequence[Passage]) -> list[tuple[int, int]]:
    places = []
    at = 0
    for each in passages:
        places.append((at, at + len(each.text)))
        at += len(each.text) + 2
    return places


def _places(text: str, pieces: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Where each piece stands in the text; each begins behind the beginning of the one before."""
    before = -1
    for piece in pieces:
        start = text.find(piece, before + 1)
        before = start
        yield start, start + len(piece)


def word_overlap(wanted: str, chunk: str) -> float:
    """Equation C.1 of the thesis: the share of the words of ``wanted``, as often as they occur, that ``chunk`` has.

    Words are what stands between white space and the tags of tables. 1 where ``wanted`` has none.
    """
    return _share(_words(wanted), set(_words(chunk)))


def _words(text: str) -> list[str]:
    return _TAG.sub(" ", text).split()


def _share(words: Sequence[str], have: Container[str]) -> float:
    return sum(word in have for word in words) / len(words) if words else 1.0


def search(
    documents: Sequence[tuple[Sequence[Passage], Sequence[str]]],
    sizes: Sequence[int] = SIZES,
    overlaps: Sequence[int] = OVERLAPS,
) -> Iterator[Trial]:
    """Each size with each overlap on documents, each with the texts that one of its chunks should hold."""
    for size in sizes:
        for overlap in overlaps:
            best: list[float] = []
            count = 0
            for passages, wanted in documents:
                texts = [set(_words(chunk.text)) for chunk in chunks_of(passages, size, overlap)]
                count += len(texts)
                for each in wanted:
                    words = _words(each)
                    best.append(max((_share(words, text) for text in texts), default=0.0))
            low = sum(score < HELD for score in best)
            yield Trial(size, overlap, count, low, len(best), sum(best) / len(best) if best else 0.0)


def quotes(path: Path) -> dict[str, list[str]]:
    """Texts to be found, by document. InputError where the file is not as follows.

    JSONL with ``document`` and ``quote``, or JSON whose ``rows`` have a ``report`` (a file, named as its document
    is) and ``evidence`` with quotes.
    """
    try:
        content = path.read_text("utf-8")
        rows = json.loads(content)["rows"] if path.suffix == ".json" else list(map(json.loads, content.splitlines()))
        found: dict[str, list[str]] = {}
        for row in rows:
            for document, quote in _quotes(row):
                if not _words(quote):
                    raise ValueError(f"a quote of {document} is {quote!r}, without words")
                found.setdefault(document, []).append(quote)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}; check the path") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path}: is neither JSONL with document and quote nor JSON with rows of report and evidence"
            f" ({f'{error} is missing' if isinstance(error, KeyError) else error})"
        ) from error
    if not found:
        raise InputError(f"{path}: has no texts to be found; give lines with document and quote")
    return found


def _quotes(row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if "quote" in row:
        yield str(row["document"]), str(row["quote"])
        return
    for each in row["evidence"]:
        yield Path(row["report"]).stem, str(each["quote"])
