"""Provisions of EU acts, found by what cites them: acts made of passages with numbers alone."""

from __future__ import annotations

import pytest

from responsa.corpus.act_numbers import Provisions, is_act, key_of, runs
from responsa.corpus.references import parse
from responsa.types import Passage

ACT = "32013R0575"


@pytest.mark.parametrize(
    ("number", "key"),
    [
        ("Article 129(4), first subparagraph, point (b)", ("article 129", "4", "b")),
        ("Article 129(4), second subparagraph, point (b)", ("article 129", "4", "2subparagraph", "b")),
        ("Article 3, second paragraph", ("article 3", "2paragraph")),
        ("Article 3(1), first sentence", ("article 3", "1")),
        ("Part Three, Title II, Chapter 2, Sub-Section 1", ("part 3", "title ii", "chapter 2", "sub-section 1")),
        ("Part 3, Title II", ("part 3", "title ii")),
        ("Annex I, point 3.1(a)", ("annex i", "3.1", "a")),
        ("Article 2(1), closing words", ("article 2", "1", "closing words")),
        ("Recital 12", ("recital 12",)),
        ("this Chapter", None),
        ("", None),
    ],
)
def test_the_labels_of_a_number(number, key):
    assert key_of(number) == key


NUMBERS = [
    "Part One", "Part One, Title I", "Part One, Title I, Section 3", "Part One, Title II",
    "Article 1", "Article 1, second paragraph",
    "Article 2", "Article 2(1)", "Article 2(1)(a)", "Article 2(1)(i)", "Article 2(1)(k)", "Article 2(1)(k)(i)",
    "Article 2(1)(k)(ii)", "Article 2(1)(k), second subparagraph", "Article 2(1), second subparagraph",
    "Article 2(1), third subparagraph", "Article 2(1), third subparagraph, point (z)",
    "Article 2(2)", "Article 2(2a)", "Article 2(3)",
    "Article 3", "Article 3a", "Article 4",
]  # fmt: skip
PROVISIONS = Provisions([Passage(number, ACT, number, "Text.") for number in NUMBERS])


def found(text, source):
    place = NUMBERS.index(source)
    references = parse(text, PROVISIONS.here(place, ACT))
    places = [PROVISIONS.find(each, place) for each in references]
    return [None if at is None else NUMBERS[at] for at in places]


@pytest.mark.parametrize(
    ("text", "source", "expected"),
    [
        ("Article 2(1)(a)", "Article 4", ["Article 2(1)(a)"]),
        ("first subparagraph of Article 2(1)", "Article 4", ["Article 2(1)"]),
        ("second subparagraph of Article 1", "Article 4", ["Article 1, second paragraph"]),
        ("last subparagraph of Article 2(1)", "Article 4", ["Article 2(1), third subparagraph"]),
        ("Article 2(1)(z)", "Article 4", ["Article 2(1), third subparagraph, point (z)"]),  # the one that there is
        ("Article 2(1)(q)", "Article 4", [None]),
        ("Article 9", "Article 4", [None]),
        ("paragraph 3", "Article 2(1)(a)", ["Article 2(3)"]),
        ("point (i)", "Article 2(1)(a)", ["Article 2(1)(i)"]),
        ("point (i)", "Article 2(1)(k)(ii)", ["Article 2(1)(k)(i)"]),  # the roman one, beside it
        ("point (a)", "Article 2(1)(k)(ii)", ["Article 2(1)(a)"]),
        ("this point", "Article 2(1)(k)(ii)", ["Article 2(1)(k)(ii)"]),
        ("points (i) and (ii) of this point", "Article 2(1)(k), second subparagraph",
         ["Article 2(1)(k)(i)", "Article 2(1)(k)(ii)"]),
        ("point (a) of this subparagraph", "Article 2(1)(i)", ["Article 2(1)(a)"]),
        ("the first subparagraph", "Article 2(1), second subparagraph", ["Article 2(1)"]),
        ("the first subparagraph of this point", "Article 2(1)(k), second subparagraph", ["Article 2(1)(k)"]),
        ("this Article", "Article 2(3)", ["Article 2"]),
        ("Section 3 of Part One", "Article 4", ["Part One, Title I, Section 3"]),  # the only one
    ],
)  # fmt: skip
def test_what_a_citation_means(text, source, expected):
    assert found(text, source) == expected


def test_a_range_has_what_was_inserted():
    def between(first, last):
        return [NUMBERS[at] for at in PROVISIONS.between(NUMBERS.index(first), NUMBERS.index(last))]

    assert between("Article 2(1)", "Article 2(3)") == ["Article 2(1)", "Article 2(2)", "Article 2(2a)", "Article 2(3)"]
    assert between("Article 3", "Article 4") == ["Article 3", "Article 3a", "Article 4"]
    assert between("Part One, Title I", "Part One, Title II") == ["Part One, Title I", "Part One, Title II"]
    assert between("Article 4", "Article 3") == ["Article 4", "Article 3"]  # no range
    assert between("Article 1", "Article 2(1)") == ["Article 1", "Article 2(1)"]


def test_runs_of_equal_values():
    assert runs(["a", "a", "b", "a"]) == [(0, 1), (2, 2), (3, 3)]
    assert runs([]) == []


def test_acts_are_named_by_celex_numbers():
    assert is_act(ACT)
    assert not is_act("rules")
    assert not is_act("32013R0575-2024")
