"""Marks of the tokens that stand in both texts, worked by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from responsa.models.marks import SEGMENTS, segments

WORDS = ["a", "b", "c", "d", "e", "f", "g", "h"]


@pytest.fixture(scope="module")
def tokenizer():
    made = Tokenizer(models.WordLevel({word: place for place, word in enumerate(["[CLS]", "[SEP]", *WORDS])}, "[CLS]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", [("[CLS]", 0), ("[SEP]", 1)]
    )
    return made


@pytest.mark.parametrize(
    ("one", "other", "first", "second"),
    [
        pytest.param("a b c", "a b c", "000", "000", id="the same"),
        pytest.param("a b c", "a d c", "020", "020", id="a word changed"),
        pytest.param("a b c", "a c", "020", "00", id="a word left out"),
        pytest.param("a b c d", "c b a d", "1110", "1110", id="two exchanged: neither stands beside what it stood by"),
        pytest.param("a b c d e", "a d c b e", "01110", "01110", id="exchanged within"),
        pytest.param("a b c d", "c d a b", "0000", "0000", id="two parts moved, each word beside one of its own"),
        pytest.param("a", "a", "0", "0", id="begins and ends alike"),
        pytest.param("a b", "c d", "22", "22", id="nothing in common"),
        pytest.param("a b a", "a", "020", "0", id="a repetition begins and ends alike"),
        pytest.param("a b", "c a d", "12", "212", id="a word there among others"),
    ],
)
def test_levels_by_hand(tokenizer, one, other, first, second):
    found = segments(tokenizer.encode(one, other))
    size = len(first)
    assert [found[0], found[size + 1], found[-1]] == [0, 0, 1]  # the marks round the texts
    assert "".join(str(segment // 2) for segment in found[1 : size + 1]) == first
    assert "".join(str(segment // 2) for segment in found[size + 2 : -1]) == second
    assert [segment % 2 for segment in found] == [0] * (size + 2) + [1] * (len(second) + 1)


@pytest.mark.parametrize(("one", "other"), [("a b", ""), ("", "a b"), ("", "")])
def test_a_missing_text_leaves_the_segments_as_they_are(tokenizer, one, other):
    encoding = tokenizer.encode(one, other)
    assert segments(encoding) == encoding.type_ids
    alone = tokenizer.encode("a b")
    assert segments(alone) == alone.type_ids


texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)


@given(one=texts, other=texts)
def test_texts_change_places_with_their_marks(tokenizer, one, other):
    ahead, back = segments(tokenizer.encode(one, other)), segments(tokenizer.encode(other, one))
    size = len(one.split())
    assert [segment // 2 for segment in ahead[1 : size + 1]] == [segment // 2 for segment in back[-size - 1 : -1]]
    assert all(0 <= segment < SEGMENTS for segment in ahead)
    held = set(other.split())
    for word, segment in zip(one.split(), ahead[1 : size + 1], strict=True):
        assert (segment // 2 == 2) == (word not in held)
