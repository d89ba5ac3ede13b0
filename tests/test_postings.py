"""Term lists and the matrix assembled from them, on numbers that can be checked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from responsa.analysis import Analysed
from responsa.retrieval import postings
from responsa.retrieval.postings import Rows, Strings, TermList, Weighting

PLAIN = Weighting(
    idf=lambda df, n: 10.0 * n + df,
    gain=lambda tf, length, mean: tf + length / 100 + mean / 10_000,
    bigram_weight=0.5,
)


def terms(*numbers):
    return np.array(numbers, dtype=np.uint64)


def analysed(words, bigrams=()):
    return Analysed(terms(*words), terms(*bigrams))


def term_list(folder, ids, owners, own, around=None, weight=0.0) -> TermList:
    folder.mkdir()
    around = around or [analysed(())] * len(own)
    postings.write_terms(ids, owners, Rows(own, around, weight), folder)
    return postings.load_terms(folder)


def matrix(folder):
    """Vocabulary, and for each term its {row: score}."""
    arrays = {
        name: np.load(folder / f"{name}.npy") for name in ("vocabulary", "indptr", "indices", "data", "first_row")
    }
    columns = {}
    for position, term in enumerate(arrays["vocabulary"].tolist()):
        part = slice(arrays["indptr"][position], arrays["indptr"][position + 1])
        columns[term] = dict(zip(arrays["indices"][part].tolist(), arrays["data"][part].tolist(), strict=True))
    return columns, arrays["first_row"].tolist(), Strings.load(folder).all(), int(np.load(folder / "rows.npy"))


def test_a_term_list_counts_by_term_then_row(tmp_path):
    made = term_list(tmp_path / "t", ["x", "y"], [0, 1], [analysed([7, 3, 7], [5, 9]), analysed([3])])
    assert made.ids == ["x", "y"]
    assert made.owner.tolist() == [0, 1]
    assert made.length.tolist() == [3, 1]
    assert made.term.tolist() == [3, 3, 7, 5, 9]  # words, then pairs
    assert made.row.tolist() == [0, 1, 0, 0, 0]
    assert made.times.tolist() == [1, 1, 2, 1, 1]
    assert made.words == 3


def test_words_around_count_with_their_weight(tmp_path):
    made = term_list(tmp_path / "t", ["x"], [0], [analysed([3])], [analysed([3, 3, 8])], 0.25)
    assert made.term.tolist() == [3, 8]
    assert made.times.tolist() == [1.5, 0.25]
    assert made.length.tolist() == [1.75]


def test_an_index_of_two_versions(tmp_path):
    # Rows go by passage id (a, b, c); "b" has two windows. Term 3: in a once, in both windows of b.
    first = term_list(tmp_path / "1", ["c", "a"], [0, 1], [analysed([7]), analysed([3])])
    second = term_list(tmp_path / "2", ["b"], [0, 0], [analysed([3, 3], [5]), analysed([3])])
    folder = tmp_path / "index"
    folder.mkdir()
    postings.write_index([first, second], folder, PLAIN)
    columns, first_row, ids, rows = matrix(folder)
    assert (ids, rows, first_row) == (["a", "b", "c"], 4, [0, 1, 3])
    assert list(columns) == [3, 5, 7]
    # idf = 10 n + df with n = 3 passages (not 4 windows) and df in passages: 32 for term 3, 31 for the others.
    # gain = tf + length / 100 + mean / 10,000; lengths 1, 3 (the windows of b together), 1; mean 5/3.
    mean = 5 / 3 / 10_000
    assert columns[3] == pytest.approx({0: 32 * (1.01 + mean), 1: 32 * (2.03 + mean), 2: 32 * (1.03 + mean)})
    assert columns[7] == pytest.approx({3: 31 * (1.01 + mean)})
    assert columns[5] == pytest.approx({1: 0.5 * 31 * (1.03 + mean)})  # a pair: half


def test_the_order_of_versions_does_not_matter(tmp_path):
    parts = [
        term_list(tmp_path / "1", ["c", "a"], [0, 1], [analysed([7]), analysed([3])]),
        term_list(tmp_path / "2", ["b"], [0, 0], [analysed([3, 3], [5]), analysed([3])]),
    ]
    for name, order in (("x", parts), ("y", parts[::-1])):
        (tmp_path / name).mkdir()
        postings.write_index(order, tmp_path / name, PLAIN)
    assert matrix(tmp_path / "x") == matrix(tmp_path / "y")


@pytest.mark.parametrize("parts", [0, 1])
def test_an_empty_index(tmp_path, parts):
    made = [term_list(tmp_path / f"{n}", [], [], []) for n in range(parts)]
    (tmp_path / "index").mkdir()
    postings.write_index(made, tmp_path / "index", PLAIN)
    assert matrix(tmp_path / "index") == ({}, [], [], 0)


def test_passages_without_a_term(tmp_path):
    made = term_list(tmp_path / "t", ["x", "y"], [0, 1], [analysed([]), analysed([])])
    (tmp_path / "index").mkdir()
    postings.write_index([made], tmp_path / "index", PLAIN)
    assert matrix(tmp_path / "index") == ({}, [0, 1], ["x", "y"], 2)


def test_ids_are_kept_to_the_byte(tmp_path):
    given = ["", "a", "§ 1 – é", "😀", "", "z" * 300]
    made = term_list(tmp_path / "t", given, range(len(given)), [analysed([n + 1]) for n in range(len(given))])
    assert made.ids == given
    assert Strings.load(tmp_path / "t")[3] == "😀"
