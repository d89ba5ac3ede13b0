"""Sentences told by places in a text: what they hold, back again, and pieces that are wrong."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.errors import InputError
from responsa.learn.nli import read
from responsa.learn.pieces import parted, whole

RULE = "A firm must notify the Regulator within five days of a breach."
WORDS = st.lists(st.sampled_from(["a", "firm", "must", "not", "pay", "The", "fee.", "in"]), max_size=12).map(" ".join)


def test_runs_of_three_words_are_places():
    said = "The Regulator must hear within five days of a breach, or sooner."
    assert parted(said, RULE) == ["The Regulator must hear ", (33, 54), " breach, or sooner."]
    assert parted("A firm must notify.", RULE) == [(0, 11), " notify."]
    assert parted("A firm pays.", RULE) == ["A firm pays."]
    assert parted(RULE, RULE) == [(0, len(RULE))]
    assert parted("", RULE) == []


@given(WORDS, WORDS)
def test_a_sentence_comes_back_and_its_own_words_hold_no_run(sentence, text):
    pieces = parted(sentence, text)
    assert whole(json.loads(json.dumps(pieces)), text, "here") == sentence
    for own in (piece.split() for piece in pieces if isinstance(piece, str)):
        runs = [" ".join(own[at : at + 3]) for at in range(len(own) - 2)]
        assert not any(f" {run} " in f" {text} " for run in runs)


@pytest.mark.parametrize("piece", [3, [1], [5, 2], [0, 99], [0, 1.5], [True, 3], None])
def test_a_piece_that_is_neither_words_nor_a_place(piece):
    with pytest.raises(InputError, match=r"line 1: a piece of a sentence is words, or start and end of a place"):
        whole(["A ", piece], RULE, "pairs.jsonl, line 1")


def test_pairs_may_tell_the_hypothesis_in_pieces(tmp_path):
    row = {"premise": RULE.replace(" ", "  "), "hypothesis": [[0, 11], " tell nobody."], "label": "contradiction"}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(row))
    assert read(tmp_path / "pairs.jsonl").learned[0].texts[1] == "A firm must tell nobody."


def test_a_set_is_what_pairs_are_weighed_by(tmp_path):
    row = {"premise": RULE, "hypothesis": "A firm may wait.", "label": "contradiction", "source": "a"}
    (tmp_path / "pairs.jsonl").write_text(json.dumps(row) + "\n" + json.dumps(row | {"set": "near"}))
    assert [sample.source for sample in read(tmp_path / "pairs.jsonl").learned] == ["a", "near"]
    (tmp_path / "pairs.jsonl").write_text(json.dumps(row | {"set": "two words"}))
    with pytest.raises(InputError, match="'set' must be a word"):
        read(tmp_path / "pairs.jsonl")
