"""Citations inside and across documents: two small acts and a rulebook."""

from __future__ import annotations

import json

import pytest

from responsa.corpus import graph as graphs
from responsa.corpus.graph import below, graph, read, unresolved
from responsa.corpus.references import Here


def act(celex, *articles):
    rows = [{"type": "article", "num": f"Article {n}", "heading": "", "path": [], "text_md": t} for n, t in articles]
    head = {"schema": "lex-articles/1", "lex_id": f"eu-eurlex:{celex}:2018-01-01", "title": celex, "valid_from": None}
    return json.dumps(head | {"valid_to": None, "provisions": rows})


FILES = {
    "crr.json": act(
        "32013r0575",
        ("1", "**1.** Bread is baked.\n\n**2.** Paragraph 1 and Articles 2 to 4 apply, subject to Article 9."),
        ("2", "See this Regulation and Article 2 of Directive 2009/65/EC, and Article 7 of the draft ITS."),
        ("2a", "Salt."),
        ("4", "Article 5(1) of Delegated Regulation (EU) 2015/61 applies to this Chapter."),
    ),
    "lcr.json": act("32015r0061", ("5", "**1.** Cake.\n\n**2.** Article 1(2) of Regulation (EU) No 575/2013 applies.")),
    "rules.md": "# Rules\n\n1.1 Rule 1.2 applies.\n\n1.2 The CRR applies.\n",
}


@pytest.fixture(scope="module")
def corpus(library_of):
    return library_of(FILES).corpus()


@pytest.fixture(scope="module")
def known(corpus):
    return graph(corpus)


def cited(known, corpus, source):
    return [
        (corpus[source].text[each.start : each.end], each.targets or each.document, each.reason)
        for each in known.cites([source])
    ]


def test_inside_a_document_a_range_has_what_there_is(known, corpus):
    assert cited(known, corpus, "CRR Art. 1(2)") == [
        ("Paragraph 1", ("CRR Art. 1(1)",), ""),
        ("Articles 2 to 4", ("CRR Art. 2",), ""),
        ("Articles 2 to 4", ("CRR Art. 2a",), ""),
        ("Articles 2 to 4", ("CRR Art. 4",), ""),
        ("Article 9", "", "32013R0575 has no such provision"),
    ]


def test_across_documents_and_back(known, corpus):
    assert cited(known, corpus, "CRR Art. 4")[0] == ("Article 5(1)", ("LCR Art. 5(1)",), "")
    assert [each.source for each in known.cited_by(["LCR Art. 5(1)"])] == ["CRR Art. 4"]
    assert [each.source for each in known.cited_by(["CRR Art. 1(2)"])] == ["LCR Art. 5(2)"]


def test_reasons(known, corpus):
    assert cited(known, corpus, "CRR Art. 2") == [
        ("this Regulation", "32013R0575", ""),
        ("Article 2", "", "Directive 2009/65 is not in the library"),
        ("Article 7", "", "the act is not named by a name that is known"),
    ]
    assert cited(known, corpus, "CRR Art. 4")[1] == ("this Chapter", "", "it is not clear which is meant")
    assert dict(unresolved(known.cites(["CRR Art. 2"]))) == {
        "Directive 2009/65 is not in the library": 1,
        "the act is not named by a name that is known": 1,
    }


def test_rulebooks_go_by_printed_numbers_and_cite_acts(known, corpus):
    one, two = (passage.id for passage in corpus.values() if passage.number in ("1.1", "1.2"))
    assert [each.targets for each in known.cites([one])] == [(two,)]
    assert [each.source for each in known.cited_by(["32013R0575"])] == ["CRR Art. 2", two]


def test_an_act_that_leaves_is_not_in_the_library(library_of):
    corpus = library_of({"lcr.json": FILES["lcr.json"]}).corpus()
    assert [each.reason for each in graph(corpus).references] == ["CRR is not in the library"]


def test_citations_are_read_once_for_each_version(corpus, known, monkeypatch):
    monkeypatch.setattr(graphs, "parse", None)
    assert graph(corpus) == known


def test_below_is_in_reading_order(corpus):
    assert below(corpus, "CRR Art. 1") == ["CRR Art. 1", "CRR Art. 1(1)", "CRR Art. 1(2)"]


def test_offsets_count_invisible_characters():
    text = "\u200eSee Article \u200e5\u200e(1)."
    (reference,) = read(text, Here())
    assert (reference.provision, text[reference.start : reference.end]) == ("Article 5(1)", "Article \u200e5\u200e(1)")


def test_the_columns_of_a_correlation_table_are_not_citations(library_of):
    row = {"type": "annex", "num": "", "heading": "ANNEX IV CORRELATION TABLE", "path": [],
           "text_md": "| This Regulation | Directive 2006/48/EC |\n| --- | --- |\n| Article 1 | Article 3(2) |"}  # fmt: skip
    file = json.loads(act("32013r0575", ("1", "Bread.")))
    file["provisions"].append(row)
    corpus = library_of({"crr.json": json.dumps(file)}).corpus()
    assert any(passage.kind == "table" for passage in corpus.values())
    assert graph(corpus).references == ()
