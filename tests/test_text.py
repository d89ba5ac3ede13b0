from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import bounded
from responsa.text import digest, normalise, sentences, tidy, words


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


# (text, the sentences it has)
GOLDEN = [
    ("", []),
    (" \n\t ", []),
    (
        "Firms, i.e. the banks, comply. See No. 5 of Art. 5 and para. 4. Next.",
        ["Firms, i.e. the banks, comply.", "See No. 5 of Art. 5 and para. 4.", "Next."],
    ),
    ("Use assets, e.g. Sukuk. Then stop.", ["Use assets, e.g. Sukuk.", "Then stop."]),
    ("See Arts. 4 and 5, paras. 1 to 3, cf. Annex I.", ["See Arts. 4 and 5, paras. 1 to 3, cf. Annex I."]),
    ("It costs approx. USD 5. It is due.", ["It costs approx. USD 5.", "It is due."]),
    (
        "J. Smith of Acme Ltd. may sign. A. B. Jones may not.",
        ["J. Smith of Acme Ltd. may sign.", "A. B. Jones may not."],
    ),
    ("It was sold by Acme Inc. The price was paid.", ["It was sold by Acme Inc.", "The price was paid."]),
    ("It is set out in Annex I. Firms must read it.", ["It is set out in Annex I.", "Firms must read it."]),
    ("It draws at most 0.5 W. Spare parts are kept.", ["It draws at most 0.5 W.", "Spare parts are kept."]),
    ("Records, reports, etc. The firm keeps them.", ["Records, reports, etc.", "The firm keeps them."]),
    ("Under Section 3.1. The firm shall.", ["Under Section 3.1.", "The firm shall."]),
    (
        "A rate of 2.5 applies under Rule 3.1.2(a) at all times.",
        ["A rate of 2.5 applies under Rule 3.1.2(a) at all times."],
    ),
    ("1. Must do. 2. Must not do. (3) Ok", ["1. Must do.", "2. Must not do.", "(3) Ok"]),
    ("a. The firm must act.", ["a. The firm must act."]),
    ('He said "must." Then left.', ['He said "must."', "Then left."]),
    ("It may (if it wants.) It need not.", ["It may (if it wants.)", "It need not."]),
    ("As the approach says.1 It is clear.", ["As the approach says.1", "It is clear."]),
    ("Is it due? It is.", ["Is it due?", "It is."]),
    (
        "A firm must:\n(a) keep records; and\n(b) tell us.\nIt may wait.",
        ["A firm must:\n(a) keep records; and\n(b) tell us.", "It may wait."],
    ),
    (
        "A firm must –\n\n(a) act,\n\n(i) now;\n\n(b) stop.\n\nNew.",
        ["A firm must –\n\n(a) act,\n\n(i) now;\n\n(b) stop.", "New."],
    ),
    ("Controls cover:\n• risk\n- audit\nThe firm acts.", ["Controls cover:\n• risk\n- audit", "The firm acts."]),
    (
        "Rules:\n(a) The firm must act.\n(b) The firm must stop.",
        ["Rules:", "(a) The firm must act.", "(b) The firm must stop."],
    ),
    ("It means:\n(a) A Fund; and\n(b) A Trust.", ["It means:\n(a) A Fund; and\n(b) A Trust."]),
    (
        "It applies to:\n(1) a firm;\n(2) a bank;\nfor this Part.",
        ["It applies to:\n(1) a firm;\n(2) a bank;\nfor this Part."],
    ),
    ("Risk Weights\nCentral banks\nA firm must act.", ["Risk Weights", "Central banks", "A firm must act."]),
    (
        "An Authorised Person must ensure at all times that each of its branches in the\nGlobal Market complies.",
        ["An Authorised Person must ensure at all times that each of its branches in the\nGlobal Market complies."],
    ),
    ("The firm\nmust act", ["The firm\nmust act"]),
    ("must pay the\nFund", ["must pay the\nFund"]),
    ("One line\n\nmore", ["One line", "more"]),
    (
        "In the table:\n/Table Start\nNo.\tOption. Two\n1.\tYes\n/Table End\nAfter. More.",
        ["In the table:", "/Table Start", "No.\tOption. Two", "1.\tYes", "/Table End", "After.", "More."],
    ),
    ("/Table Start\nNever closed. It goes on.", ["/Table Start", "Never closed.", "It goes on."]),
    (
        "**1.** The firm:\n\n(a) acts;\n\n(b) stops.\n\n**2.** It waits.",
        ["**1.** The firm:\n\n(a) acts;\n\n(b) stops.", "**2.** It waits."],
    ),
]


@pytest.mark.parametrize(("text", "expected"), GOLDEN)
def test_sentences_of_legal_text(text, expected):
    assert split(text) == expected


@pytest.mark.parametrize("sentence", [sentence for text, them in GOLDEN for sentence in them if "/" not in text])
def test_a_sentence_is_not_split_again(sentence):  # rows of a table are, outside of it
    assert split(sentence) == [sentence]


LEGAL = st.text(
    st.sampled_from("aA1.;:,()\n\t -–•?\"”\u200e*|") | st.characters(codec="utf-8"), max_size=120
) | st.lists(
    st.sampled_from(
        ["(a)", "1.", "must", "The", "e.g.", "\n", "\n\n", ":", "; and", ".", "/Table Start", "/Table End", "\t"]
    )
).map(" ".join)  # fmt: skip


@given(LEGAL)
def test_sentences_cover_all_that_is_not_blank_in_order(text):
    last = 0
    for start, end in sentences(text):
        assert last <= start < end <= len(text)
        assert not text[last:start].strip()
        assert text[start:end] == text[start:end].strip()
        last = end
    assert not text[last:].strip()


HOSTILE = [
    "(",
    ". ",
    ".",
    "A. ",
    ".)",
    "\n",
    "(a)\n",
    "/Table Start\n",
    "1.",
    '."',
    "\u200e",
    ". (",
    "a",
    "; and\n(a) ",
    " only",
    " not may",
    " and",
    " [",
    '"',
    '. " ',
    ":\n",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_takes_linear_time(piece):
    text = piece * (100_000 // len(piece))
    with bounded():
        sentences(text)


def test_words_keep_what_belongs_to_a_word():
    assert words("The firm’s Pre-paid\u00ad cards: 2.5 % (Rule \u200e3.1.2). A.B") == [
        "the", "firm's", "pre-paid", "cards", "2.5", "rule", "3.1.2", "a", "b",
    ]  # fmt: skip
    assert words(" - ' .") == []


def test_normalise_makes_text_plain():
    assert normalise(" Rule \u200e5\u2011A “x”\u00a0— ﬁne… ") == 'Rule 5-A "x" - fine...'
    assert normalise("a\t b\n") == "a b"


def test_tidy_keeps_every_character_that_shows():
    assert tidy(" Rule \u200e5\u2011A\t“x”\u00a0\n— ﬁne… 10² ½ \ufeff") == "Rule 5\u2011A “x” — ﬁne… 10² ½"
    assert tidy(" \u200e ") == ""


@given(st.text())
def test_tidy_twice_is_once_and_reads_the_same(text):
    assert tidy(tidy(text)) == tidy(text)
    assert normalise(tidy(text)) == normalise(text)


@given(st.text())
def test_normalise_twice_is_once(text):
    assert normalise(normalise(text)) == normalise(text)


def test_digest_is_of_canonical_json():
    assert digest({"b": 1, "a": "é"}) == digest({"a": "é", "b": 1})
    assert digest([]) == "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"
    with pytest.raises(ValueError, match="JSON"):
        digest(float("nan"))
