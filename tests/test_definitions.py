from __future__ import annotations

import pytest

from responsa.corpus.definitions import close, defined, definitions, look_up, text_of
from responsa.types import Passage


def terms(text):
    return [
        (each.names, each.scope, each.kind, text[each.start : each.end])
        for each in defined(Passage("p", "d", "", text))
    ]


@pytest.mark.parametrize(
    ("text", "names", "scope", "kind"),
    [
        ("‘credit institution’ means an undertaking;", ("credit institution",), "", "meaning"),
        ('"Firm" means a person.', ("Firm",), "", "meaning"),
        ("The term “Cash Value” means an amount.", ("Cash Value",), "", "meaning"),
        ("‘institution's own risk’ means a risk.", ("institution's own risk",), "", "meaning"),
        ("‘probability of default’ or ‘PD’ means the chance.", ("probability of default", "PD"), "", "meaning"),
        ("‘personal company’ (‘PIC’) means a trust.", ("personal company", "PIC"), "", "meaning"),
        ("‘net (JTD) amount’ means the size.", ("net (JTD) amount",), "", "meaning"),
        ("‘value’, in relation to gold, means the price.", ("value",), "", "meaning"),
        ("‘goodwill’ has the same meaning as in IFRS.", ("goodwill",), "", "elsewhere"),
        ("Fund\tHas the meaning given in section 106 of FSMR.", ("Fund",), "", "elsewhere"),
        ("Trading Facility (OTF) \tmeans a system.", ("Trading Facility", "OTF"), "", "meaning"),
        ("ACR means the Adjusted Capital Resources.", ("ACR",), "", "meaning"),
        ("For the purposes of this Article, ‘long position’ means a position.", ("long position",), "this Article", "meaning"),
        ("‘applicant’ means, for the purposes of Part 6, a firm.", ("applicant",), "Part 6", "meaning"),
        ("In these Rules:\nFirm\tmeans a person.", ("Firm",), "these Rules", "meaning"),
    ],
)  # fmt: skip
def test_forms_of_definitions(text, names, scope, kind):
    assert [each[:3] for each in terms(text)] == [(names, scope, kind)]


@pytest.mark.parametrize(
    "text",
    ["A firm pays by means of ‘cash’.", "3.\tA bank pays.", "the ‘mixed’ pool. It means nothing", "‘fall-back approach’ applies"],
)  # fmt: skip
def test_what_is_no_definition(text):
    assert terms(text) == []


def test_a_list_ends_each_definition_where_the_next_begins():
    assert [each[3] for each in terms("Flour\tmeans ground corn.\nSalt\tMeans salt.\n")] == [
        "Flour\tmeans ground corn.",
        "Salt\tMeans salt.",
    ]


@pytest.fixture(scope="module")
def corpus(corpus_of):
    return corpus_of(
        {"id": "a", "document": "x", "number": "1", "text": "For the purposes of this Chapter, the following apply:"},
        {"id": "b", "document": "x", "number": "1(1)", "text": "‘baking entity’ means:", "parent": "a"},
        {"id": "c", "document": "x", "number": "1(1)(a)", "text": "a baker;", "parent": "b"},
        {"id": "d", "document": "x", "number": "1(2)", "text": "‘loaves’ means bread.", "parent": "a"},
        {"id": "e", "document": "y", "number": "1", "text": "‘Baking Entity’ means a mill."},
    )


def test_scope_from_the_lead_in_and_items_below(corpus):
    known = list(definitions(corpus))
    assert [(each.passage_id, each.scope) for each in known] == [
        ("b", "this Chapter"),
        ("d", "this Chapter"),
        ("e", ""),
    ]
    assert text_of(known[0], corpus) == "‘baking entity’ means:\n(a) a baker;"
    assert text_of(known[1], corpus) == "‘loaves’ means bread."


def test_looking_up(corpus):
    known = list(definitions(corpus))

    def ids(term):
        return [each.passage_id for each in look_up(term, known)]

    assert ids("baking entity") == ids("Baking Entities") == ["b", "e"]
    assert ids("loaf") == []  # spelling alone does not tell
    assert ids("bakin entity") == []
    assert close("bakin entity", known) == ["Baking Entity"]
    assert close("entity", known) == ["Baking Entity"]  # a part of it
    assert close("xyzzy", known) == []


def test_every_definition_of_the_capital_requirements_regulation(data, library_of):
    path = data / "eu_law" / "originals" / "32013r0575_2013-06-28.fmx4.xml"
    if not path.is_file():
        pytest.skip(f"no {path}")
    corpus = library_of({path.name: path.read_text(encoding="utf-8")}).corpus()
    known = {each.passage_id: each for each in definitions(corpus)}
    points = [each.id for each in corpus.children("CRR Art. 4(1)")]
    assert len(points) == 128
    assert set(points) <= known.keys()
    assert sum(known[point].scope == "this Regulation" for point in points) >= 120
