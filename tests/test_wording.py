from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from responsa.corpus.wording import TOKEN, Piece, excerpt, words

TEXTS = st.lists(st.sampled_from(["a", "Firm", "must", "pay", "10", "%", ",", ".", "  ", "\n", "é"]), max_size=25).map(
    " ".join
)


def test_words_worked_by_hand():
    assert words("A firm must pay 10 % at once.", "A bank must pay 12,5 %.") == (
        Piece("same", "A "),
        Piece("deleted", "firm "),
        Piece("added", "bank "),
        Piece("same", "must pay "),
        Piece("deleted", "10 "),
        Piece("added", "12,5 "),
        Piece("same", "%"),
        Piece("deleted", "at once"),
        Piece("same", "."),
    )


def test_signs_can_be_left_out():
    assert [piece.op for piece in words("One; two", "one, two", marks=False)] == ["same"]
    assert [piece.op for piece in words("One; two", "One, two")] == ["same", "deleted", "added", "same"]


def test_nothing_on_one_side():
    assert words("", "New text.") == (Piece("added", "New text."),)
    assert words("Old text.", "") == (Piece("deleted", "Old text."),)
    assert words("", "") == ()


@given(TEXTS, TEXTS)
def test_the_new_text_can_be_read_back_and_no_old_word_is_lost(old, new):
    pieces = words(old, new)
    assert "".join(piece.text for piece in pieces if piece.op != "deleted").split() == new.split()
    kept = [TOKEN.findall(piece.text) for piece in pieces if piece.op != "added"]
    assert [token for tokens in kept for token in tokens] == TOKEN.findall(old)
    assert all(one.op != two.op for one, two in pairwise(pieces))


def test_an_excerpt_keeps_what_stands_beside_a_change():
    long = "x" * 10 + " " + "word " * 40
    short = excerpt([Piece("same", long), Piece("deleted", "old "), Piece("added", "new "), Piece("same", long)], 20)
    assert [piece.op for piece in short] == ["same", "deleted", "added", "same"]
    assert short[0].text == "… word word word "
    assert short[3].text == "xxxxxxxxxx word … "
    assert excerpt([Piece("same", "short")]) == [Piece("same", "short")]
