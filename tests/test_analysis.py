"""Text to index terms."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.analysis import Analysis, stemmers, windows

PLAIN = Analysis("none", "none")


def terms(text, analysis=PLAIN):
    return analysis([text])[0].words.tolist()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Bank", "bank"),
        ("ﬁrm", "firm"),  # ligature
        ("Ｆｉｒｍ", "firm"),  # full width
        ("cafe\u0301", "café"),  # composed and not
        ("pre\u00adpaid \u200ecard", "prepaid card"),  # soft hyphen, direction mark
        ("firm’s", "firm's"),
        ("3.1.2(a)", "3 1 2 a"),
        ("a\tb\n\nc", "a b c"),
        ("STRASSE", "strasse"),
        ("漢字", "漢字。"),
    ],
)
def test_the_same_terms(one, other):
    assert terms(one) == terms(other) != []


@pytest.mark.parametrize(("one", "other"), [("bank", "banks"), ("a b", "b a"), ("é", "e"), ("42", "43")])
def test_other_terms(one, other):
    assert terms(one) != terms(other)


@pytest.mark.parametrize("text", ["", " ", "—", "!?", "\u200b"])
def test_text_without_words(text):
    analysed = Analysis()([text])[0]
    assert (len(analysed.words), len(analysed.bigrams)) == (0, 0)


def test_repeated_words_stay_and_terms_are_never_zero():
    found = terms("bank fund bank")
    assert found[0] == found[2] != found[1]
    assert 0 not in found


def test_stems():
    assert terms("reporting reported reports", Analysis("english", "none")) == terms("report report report")
    assert "none" in stemmers()
    assert "german" in stemmers()


@pytest.mark.parametrize(
    ("stopwords", "left"),
    [("none", "the firm should not report"), ("small", "firm should report"), ("large", "firm report")],
)
def test_stop_words(stopwords, left):
    assert terms("The firm should not report", Analysis("none", stopwords)) == terms(left)


def test_pairs_are_of_neighbours_without_stop_words_and_have_a_direction():
    analysis = Analysis("none", "small")
    report = analysis(["report to the office", "report office", "office report", "report"])
    assert report[0].bigrams.tolist() == report[1].bigrams.tolist()
    assert report[1].bigrams.tolist() != report[2].bigrams.tolist()
    assert [len(each.bigrams) for each in report] == [1, 1, 1, 0]
    assert len(Analysis("none", "small", bigrams=False)(["report office"])[0].bigrams) == 0


def test_terms_are_the_same_in_every_process():
    # Written to disk, so they may never change: blake2b of the stem, lowest bit set.
    assert terms("report") == [8051648121467963023]
    assert PLAIN(["report office"])[0].bigrams.tolist() == [14448128803198199739]


@given(st.lists(st.text(max_size=30), max_size=6))
def test_a_batch_is_its_texts_one_by_one(texts):
    analysis = Analysis()
    together = analysis(texts)
    for text, analysed in zip(texts, together, strict=True):
        alone = analysis([text])[0]
        assert np.array_equal(alone.words, analysed.words)
        assert np.array_equal(alone.bigrams, analysed.bigrams)
        assert len(analysed.bigrams) == max(len(analysed.words) - 1, 0)
        assert analysed.words.dtype == np.uint64


@pytest.mark.parametrize(
    ("words", "length", "overlap", "expected"),
    [
        ("a b c", 3, 1, ["a b c"]),
        ("a b c d", 3, 1, ["a b c", "c d"]),
        ("a b c d e", 3, 1, ["a b c", "c d e"]),
        ("a b c d e f", 3, 1, ["a b c", "c d e", "e f"]),
        ("a b c d e", 2, 0, ["a b", "c d", "e"]),
        ("a b c d", 3, 2, ["a b c", "b c d"]),
        ("aa bb", 1, 0, ["aa", "bb"]),
        ("", 3, 1, [""]),
        ("aaaaaaaaaa", 3, 1, ["aaaaaaaaaa"]),
    ],
)
def test_windows(words, length, overlap, expected):
    assert windows(words, length, overlap) == expected


def test_a_short_text_keeps_its_layout():
    assert windows(" a\n b  c ", 3, 1) == [" a\n b  c "]


@given(st.integers(0, 60), st.integers(1, 12), st.data())
def test_windows_cover_the_text_and_share_the_overlap(count, length, data):
    overlap = data.draw(st.integers(0, length - 1))
    words = [f"w{n}" for n in range(count)]
    found = [window.split() for window in windows(" ".join(words), length, overlap)]
    assert found[0] + [word for window in found[1:] for word in window[overlap:]] == words
    assert all(len(window) <= length for window in found)
    for before, after in pairwise(found):
        assert before[len(before) - overlap :] == after[:overlap]
        assert len(before) == length
