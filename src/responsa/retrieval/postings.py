"""Term lists of single versions, and the sparse matrix of BM25 scores assembled from them.

What is on disk are plain numpy arrays, mapped when read. A version's term list is made once; assembling
the matrix for a set of versions is sorting and arithmetic on whole arrays.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from responsa.analysis import Analysed, Terms

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Gain = Callable[[Floats, Floats, float], Floats]
IdfFormula = Callable[[Ints, int], Floats]

FORMAT = 2  # of the files; part of the names of the artefacts
_BLOCK = 1 << 16  # bytes
_AT_ONCE = 1 << 22  # postings that are sorted together


class Rows(NamedTuple):
    """What is indexed, a row for each window of a passage: its own terms, and those around the passage, each of
    which counts ``weight`` beside one of its own."""

    own: Sequence[Analysed]
    around: Sequence[Analysed]
    weight: float


class TermList(NamedTuple):
    """What one version contributes: ``term`` occurs ``times`` times in window ``row``; ``owner`` of a row is the
    position of its passage among ``ids``, ``length`` its words. The first ``words`` postings are of words, the
    rest of bigrams. Words around a passage count with their weight, so times and lengths are not whole."""

    ids: list[str]
    owner: Ints
    length: Floats
    term: Terms
    row: Ints
    times: Floats
    words: int


def write_terms(ids: Sequence[str], owners: Sequence[int], rows: Rows, folder: Path) -> None:
    """Write a version's `TermList`."""
    postings = [
        _count([part.words for part in rows.own], [part.words for part in rows.around], rows.weight),
        _count([part.bigrams for part in rows.own], [part.bigrams for part in rows.around], rows.weight),
    ]
    term, row, times = (np.concatenate(columns) for columns in zip(*postings, strict=True))
    length = [
        len(own.words) + rows.weight * len(around.words) for own, around in zip(rows.own, rows.around, strict=True)
    ]
    np.save(folder / "term.npy", term)
    np.save(folder / "row.npy", row.astype(np.int32))
    np.save(folder / "times.npy", times.astype(np.float32))
    np.save(folder / "owner.npy", np.asarray(owners, dtype=np.int32))
    np.save(folder / "length.npy", np.asarray(length, dtype=np.float32))
    np.save(folder / "words.npy", np.array([len(postings[0][0])]))
    write_strings(ids, folder)


def _count(own: Sequence[Terms], around: Sequence[Terms], weight: float) -> tuple[Terms, Ints, Floats]:
    """Distinct (term, row) pairs by term, then row, with how often each occurs."""
    terms = np.concatenate([np.empty(0, np.uint64), *own, *around])
    rows = np.concatenate([np.repeat(np.arange(len(part)), [len(each) for each in part]) for part in (own, around)])
    times = np.ones(len(terms))
    times[len(terms) - sum(len(each) for each in around) :] = weight
    order = np.lexsort((rows, terms))
    terms, rows, times = terms[order], rows[order], times[order]
    starts = np.flatnonzero(np.r_[True, (terms[1:] != terms[:-1]) | (rows[1:] != rows[:-1])][: len(terms)])
    return terms[starts], rows[starts], np.add.reduceat(times, starts) if len(starts) else times


def load_terms(folder: Path) -> TermList:
    """Read what `write_terms` wrote."""
    arrays = {name: np.load(folder / f"{name}.npy") for name in ("owner", "length", "term", "row", "times")}
    return TermList(Strings.load(folder).all(), **arrays, words=int(np.load(folder / "words.npy")[0]))


@dataclass(frozen=True)
class Weighting:
    """How postings become scores: ``idf`` of (document frequency, number of passages), ``gain`` of (term
    frequency, passage length, mean length), and the weight of bigrams beside words."""

    idf: IdfFormula
    gain: Gain
    bigram_weight: float


def write_index(parts: Sequence[TermList], folder: Path, weighting: Weighting) -> None:
    """The matrix of scores over all versions, as sparse columns (one a term), and the passage ids of its rows.

    Rows are ordered by passage id, so that of two rows with the same score the later has the higher id. The
    columns are made a range of terms at a time, so that memory is that of the term lists and a little more.
    """
    ids, layout = _layout(parts)
    postings = sum(len(part.term) for part in parts)
    vocabulary: list[Terms] = []
    sizes: list[Ints] = []
    with (
        _growing(folder / "indices.npy", np.dtype(np.int32), (postings,)) as add_rows,
        _growing(folder / "data.npy", np.dtype(np.float32), (postings,)) as add_scores,
    ):
        for words, bigrams in _ranges(parts, postings // _AT_ONCE + 1):
            columns = _merged(
                _columns(words, layout, 1.0, weighting), _columns(bigrams, layout, weighting.bigram_weight, weighting)
            )
            vocabulary.append(columns.vocabulary)
            sizes.append(columns.sizes)
            add_rows(columns.rows)
            add_scores(columns.scores)
    _save(folder / "vocabulary.npy", np.concatenate(vocabulary))
    _save(folder / "indptr.npy", np.cumsum(np.concatenate([[0], *sizes]), dtype=np.int64))
    _save(folder / "rows.npy", len(layout.passage))
    fresh = np.r_[True, layout.passage[1:] != layout.passage[:-1]][: len(layout.passage)]
    _save(folder / "first_row.npy", np.flatnonzero(fresh))
    write_strings(ids, folder)


class _Layout(NamedTuple):
    """The rows of the matrix: ``row`` of each window in the order of the term lists, ``passage`` of each row, and
    ``length`` of each passage, all windows together."""

    row: Ints
    passage: Ints
    length: Floats


def _layout(parts: Sequence[TermList]) -> tuple[list[str], _Layout]:
    """The passage ids in their order, and the layout of the rows."""
    ids = [passage_id for part in parts for passage_id in part.ids]
    by_id = sorted(range(len(ids)), key=ids.__getitem__)
    rank = np.empty(len(ids), dtype=np.int64)
    rank[by_id] = np.arange(len(ids))
    first_passage = np.cumsum([0, *(len(part.ids) for part in parts)])
    passage = rank[
        np.concatenate([np.empty(0, np.int64), *(p.owner + f for p, f in zip(parts, first_passage, strict=False))])
    ]
    order = np.argsort(passage, kind="stable")
    row = np.empty(len(passage), dtype=np.int64)
    row[order] = np.arange(len(passage))
    window_length = np.concatenate([np.empty(0), *(part.length for part in parts)])
    length = np.bincount(passage, weights=window_length, minlength=len(ids)).astype(np.float64)
    return [ids[position] for position in by_id], _Layout(row, passage[order], length)


class _Postings(NamedTuple):
    """``terms`` occur ``times`` times in windows, which are counted over all term lists."""

    terms: Terms
    windows: Ints
    times: Floats


def _ranges(parts: Sequence[TermList], number: int) -> Iterator[tuple[_Postings, _Postings]]:
    """The postings of words and those of bigrams, by ranges of terms; terms are hashes and fall evenly into them."""
    bounds = np.array([(place << 64) // number for place in range(1, number)], dtype=np.uint64)
    first_window = np.cumsum([0, *(len(part.owner) for part in parts)])
    edges = []
    for part in parts:
        words, bigrams = part.term[: part.words], part.term[part.words :]
        edges.append(
            (
                np.concatenate([[0], np.searchsorted(words, bounds), [part.words]]),
                np.concatenate([[0], np.searchsorted(bigrams, bounds), [len(bigrams)]]) + part.words,
            )
        )

    def taken(kind: int, place: int) -> _Postings:
        cuts = [slice(edge[kind][place], edge[kind][place + 1]) for edge in edges]
        pieces = list(zip(parts, cuts, first_window, strict=False))
        return _Postings(
            np.concatenate([np.empty(0, np.uint64), *(part.term[cut] for part, cut, _ in pieces)]),
            np.concatenate([np.empty(0, np.int64), *(part.row[cut] + first for part, cut, first in pieces)]),
            np.concatenate([np.empty(0), *(part.times[cut] for part, cut, _ in pieces)]),
        )

    for place in range(number):
        yield taken(0, place), taken(1, place)


class _Columns(NamedTuple):
    vocabulary: Terms
    sizes: Ints
    rows: npt.NDArray[np.int32]
    scores: npt.NDArray[np.float32]


def _columns(postings: _Postings, layout: _Layout, weight: float, weighting: Weighting) -> _Columns:
    """Scores of all postings, sorted by term, then row. Document frequency and mean length are over passages."""
    rows = layout.row[postings.windows]
    order = np.lexsort((rows, postings.terms))
    terms, rows, times = postings.terms[order], rows[order], postings.times[order]
    starts = np.flatnonzero(np.r_[True, terms[1:] != terms[:-1]][: len(terms)])
    sizes = np.diff(np.append(starts, len(terms)))
    column = np.repeat(np.arange(len(starts)), sizes)
    owner = layout.passage[rows]
    fresh = np.r_[True, (column[1:] != column[:-1]) | (owner[1:] != owner[:-1])][: len(terms)]
    df = np.bincount(column[fresh], minlength=len(starts))
    idf = weighting.idf(df, len(layout.length))
    mean = float(layout.length.mean()) if len(layout.length) else 1.0
    gain = weighting.gain(times, layout.length[owner], mean or 1.0)
    return _Columns(terms[starts], sizes, rows.astype(np.int32), (weight * idf[column] * gain).astype(np.float32))


def _merged(words: _Columns, bigrams: _Columns) -> _Columns:
    """Words and bigrams in one matrix, columns in the order of their terms."""
    vocabulary = np.concatenate([words.vocabulary, bigrams.vocabulary])
    sizes = np.concatenate([words.sizes, bigrams.sizes])
    order = np.argsort(vocabulary, kind="stable")
    starts = np.cumsum(sizes) - sizes
    ends = np.cumsum(sizes[order])
    # Positions of all postings, column by column in the new order.
    gather = np.repeat(starts[order] - (ends - sizes[order]), sizes[order]) + np.arange(sizes.sum())
    rows, scores = np.concatenate([words.rows, bigrams.rows]), np.concatenate([words.scores, bigrams.scores])
    return _Columns(vocabulary[order], sizes[order], rows[gather], scores[gather])


def write_strings(strings: Sequence[str], folder: Path) -> None:
    """Write what `Strings` reads."""
    encoded = [string.encode() for string in strings]
    _save(folder / "ids_end.npy", np.cumsum([len(item) for item in encoded], dtype=np.int64))
    _save(folder / "ids.npy", np.frombuffer(b"".join(encoded), dtype=np.uint8))


@dataclass(frozen=True)
class Strings:
    """Strings end to end in one array, so that a million of them cost nothing until one is read."""

    end: Ints
    data: npt.NDArray[np.uint8]

    @classmethod
    def load(cls, folder: Path) -> Strings:
        """Memory-mapped from ``ids.npy`` and ``ids_end.npy``."""
        return cls(map_array(folder / "ids_end.npy"), map_array(folder / "ids.npy"))

    def __getitem__(self, position: int) -> str:
        start = int(self.end[position - 1]) if position else 0
        return self.data[start : int(self.end[position])].tobytes().decode()

    def all(self) -> list[str]:
        """Every string, in order."""
        return [self[position] for position in range(len(self.end))]


def _save(path: Path, array: npt.ArrayLike) -> None:
    """`np.save` in blocks."""
    whole = np.asarray(array)
    with _growing(path, whole.dtype, whole.shape) as add:
        add(whole)


@contextlib.contextmanager
def _growing(path: Path, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Iterator[Callable[[npt.NDArray[Any]], None]]:
    """Writes an array piece by piece, in blocks of 64 KB, as `np.save` would.

    Linux caches what is written at once in pages of up to 2 MB, and a look-up in the mapped file counts a whole
    page into the memory of the process: for a question to a million passages 240 MB instead of 100.
    """
    with path.open("wb") as file:
        header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)

        def add(array: npt.NDArray[Any]) -> None:
            content = np.ascontiguousarray(array).view(np.uint8).reshape(-1).data
            for start in range(0, len(content), _BLOCK):
                file.write(content[start : start + _BLOCK])

        yield add


def map_array(path: Path) -> npt.NDArray[Any]:
    """The array in a file, mapped; numpy cannot map an array without elements."""
    try:
        mapped = np.load(path, mmap_mode="r")
    except ValueError:
        return np.load(path)  # type: ignore[no-any-return]
    return np.asarray(mapped)  # a plain view: reading elements of a memmap is five times slower
