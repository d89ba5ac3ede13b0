"""Term lists of single versions, and the sparse matrix of BM25 scores assembled from them.

What is on disk are plain numpy arrays, mapped when read. A version's term list is made once; assembling
the matrix for a set of versions is sorting and arithmetic on whole arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from responsa.analysis import Analysed, Terms

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Gain = Callable[[Floats, Floats, float], Floats]
Idf = Callable[[Ints, int], Floats]

FORMAT = 1  # of the files; part of the names of the artefacts


class Rows(NamedTuple):
    """What is indexed, a row for each window of a passage: its own terms, and those around the passage, each of
    which counts ``weight`` beside one of its own."""

    own: Sequence[Analysed]
    around: Sequence[Analysed]
    weight: float


class TermList(NamedTuple):
    """What one version contributes: ``term`` occurs ``times`` times in window ``row``; ``owner`` of a row is the
    position of its passage among ``ids``, ``length`` its words. The first ``words`` postings are of words, the
    rest of pairs. Words around a passage count with their weight, so times and lengths are not whole."""

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
        _count([part.pairs for part in rows.own], [part.pairs for part in rows.around], rows.weight),
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
    _write_strings(ids, folder)


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
    frequency, passage length, mean length), and the weight of pairs beside words."""

    idf: Idf
    gain: Gain
    pair_weight: float


def write_index(parts: Sequence[TermList], folder: Path, weighting: Weighting) -> None:
    """The matrix of scores over all versions, as sparse columns (one a term), and the passage ids of its rows.

    Rows are ordered by passage id, so that of two rows with the same score the later has the higher id.
    """
    ids = [passage_id for part in parts for passage_id in part.ids]
    by_id = sorted(range(len(ids)), key=ids.__getitem__)
    rank = np.empty(len(ids), dtype=np.int64)
    rank[by_id] = np.arange(len(ids))
    first_passage = np.cumsum([0, *(len(part.ids) for part in parts)])
    passage = rank[
        np.concatenate([np.empty(0, np.int64), *(p.owner + f for p, f in zip(parts, first_passage, strict=False))])
    ]
    window_order = np.argsort(passage, kind="stable")
    new_row = np.empty(len(passage), dtype=np.int64)
    new_row[window_order] = np.arange(len(passage))
    passage = passage[window_order]

    window_length = np.concatenate([np.empty(0), *(part.length for part in parts)])[window_order]
    length = np.bincount(passage, weights=window_length, minlength=len(ids)).astype(np.float64)
    first_row = np.cumsum([0, *(len(part.owner) for part in parts)])
    pools = []
    for words in (True, False):
        cut = [slice(None, part.words) if words else slice(part.words, None) for part in parts]
        terms = np.concatenate([np.empty(0, np.uint64), *(p.term[c] for p, c in zip(parts, cut, strict=True))])
        rows = np.concatenate(
            [np.empty(0, np.int64), *(p.row[c] + f for p, c, f in zip(parts, cut, first_row, strict=False))]
        )
        times = np.concatenate([np.empty(0), *(p.times[c] for p, c in zip(parts, cut, strict=True))])
        pools.append(_columns(terms, new_row[rows], times, passage, length, words, weighting))
    _write_columns(pools, folder)
    np.save(folder / "rows.npy", len(passage))
    np.save(folder / "first_row.npy", np.flatnonzero(np.r_[True, passage[1:] != passage[:-1]][: len(passage)]))
    _write_strings([ids[i] for i in by_id], folder)


class _Columns(NamedTuple):
    vocabulary: Terms
    sizes: Ints
    rows: npt.NDArray[np.int32]
    scores: npt.NDArray[np.float32]


def _columns(
    terms: Terms,
    rows: Ints,
    times: Floats,
    passage: Ints,
    length: Floats,
    words: bool,
    weighting: Weighting,
) -> _Columns:
    """Scores of all postings, sorted by term, then row. Document frequency and mean length are over passages."""
    order = np.lexsort((rows, terms))
    terms, rows, times = terms[order], rows[order], times[order]
    starts = np.flatnonzero(np.r_[True, terms[1:] != terms[:-1]][: len(terms)])
    sizes = np.diff(np.append(starts, len(terms)))
    column = np.repeat(np.arange(len(starts)), sizes)
    owner = passage[rows]
    fresh = np.r_[True, (column[1:] != column[:-1]) | (owner[1:] != owner[:-1])][: len(terms)]
    df = np.bincount(column[fresh], minlength=len(starts))
    idf = weighting.idf(df, len(length))
    mean = float(length.mean()) if len(length) else 1.0
    gain = weighting.gain(times, length[owner], mean or 1.0)
    scores = (1.0 if words else weighting.pair_weight) * idf[column] * gain
    return _Columns(terms[starts], sizes, rows.astype(np.int32), scores.astype(np.float32))


def _write_columns(pools: Sequence[_Columns], folder: Path) -> None:
    """Words and pairs in one matrix, columns in the order of their terms."""
    vocabulary = np.concatenate([pool.vocabulary for pool in pools])
    sizes = np.concatenate([pool.sizes for pool in pools])
    order = np.argsort(vocabulary, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    ends = np.cumsum(sizes[order])
    # Positions of all postings, column by column in the new order.
    gather = np.repeat(starts[order] - np.concatenate([[0], ends[:-1]]), sizes[order]) + np.arange(sizes.sum())
    np.save(folder / "vocabulary.npy", vocabulary[order])
    np.save(folder / "indptr.npy", np.concatenate([[0], ends]).astype(np.int64))
    np.save(folder / "indices.npy", np.concatenate([pool.rows for pool in pools])[gather])
    np.save(folder / "data.npy", np.concatenate([pool.scores for pool in pools])[gather])


def _write_strings(strings: Sequence[str], folder: Path) -> None:
    encoded = [string.encode() for string in strings]
    np.save(folder / "ids_end.npy", np.cumsum([len(item) for item in encoded], dtype=np.int64))
    np.save(folder / "ids.npy", np.frombuffer(b"".join(encoded), dtype=np.uint8))


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


def map_array(path: Path) -> npt.NDArray[Any]:
    """The array in a file, mapped; numpy cannot map an array without elements."""
    try:
        array: npt.NDArray[Any] = np.load(path, mmap_mode="r")
    except ValueError:
        array = np.load(path)
    return array
