from __future__ import annotations

import re

import pytest
from benchmarks import citations
from benchmarks import references as benchmark
from hypothesis import example, given
from hypothesis import strategies as st

from helpers import bounded
from responsa.corpus.act_numbers import Provisions
from responsa.corpus.acts import celex
from responsa.corpus.ranges import expand, letters, numeral, ordinal, roman
from responsa.corpus.readers import read_bytes
from responsa.corpus.references import Here, Reference, parse

CRR, LCR = "32013R0575", "32015R0061"

# Passages that no citation names: footnotes, words after a list, tables and rows, headings of divisions, what an act
# quotes of another; and recitals and the parts of the act beside its articles.
UNCITED = re.compile(
    r"footnote|closing words|[Tt]able|rows \d|quoted|^(?:Part|Title|Preamble|Recital|Enacting|Concluding|Chapter)"
)

TARGETS = {
    "Article 425(1)(a)": ["#Article 425(1)(a)"],
    "Articles 412 to 415": ["#Article 412", "#Article 413", "#Article 414", "#Article 415"],
    "point (b) of the first subparagraph of Article 129(4)": ["#Article 129(4), first subparagraph, point (b)"],
    "Article 129(4), first subparagraph, point (b)": ["#Article 129(4), first subparagraph, point (b)"],
    "Rule 3.2.1": ["#Rule 3.2.1"],
    "Rules 3.2.1 to 3.2.3": ["#Rule 3.2.1", "#Rule 3.2.2", "#Rule 3.2.3"],
    "Annex IV": ["#Annex IV"],
    "Annexes I to III": ["#Annex I", "#Annex II", "#Annex III"],
    "annex 1 to Regulation (EU) No 680/2014": ["32014R0680#Annex I"],
    "Directive 2009/65/EC": ["32009L0065#"],
    "Regulation (EU) No 575/2013": [f"{CRR}#"],
    "Regulation (EU) No. 575/2013 (CRR)": [f"{CRR}#"],
    "Commission Delegated Regulation (EU) 2015/61": [f"{LCR}#"],
    "the CRR and the LCR DA": [f"{CRR}#", f"{LCR}#"],
    "Directives 2013/36/EU and 2014/59/EU": ["32013L0036#", "32014L0059#"],
    "CRD IV, BRRD, CRR2": ["32013L0036#", "32014L0059#", "32019R0876#"],
    "COBS Rule 17.4 and GEN 3.3": ["COBS#Rule 17.4", "GEN#Rule 3.3"],
    "FSMR section 30, section 30(2) of FSMR": ["FSMR#Section 30", "FSMR#Section 30(2)"],
    "Article 52(4) of Directive 2009/65/EC": ["32009L0065#Article 52(4)"],
    "Article 6 of and Annex I to Directive 2002/87/EC": ["32002L0087#Article 6", "32002L0087#Annex I"],
    "Article 5 and Article 7(2) of the BRRD": ["32014L0059#Article 5", "32014L0059#Article 7(2)"],
    "CRR Article 425": [f"{CRR}#Article 425"],
    "CRR 465 (1)": [f"{CRR}#Article 465(1)"],
    "Articles 429a to 429c": ["#Article 429a", "#Article 429b", "#Article 429c"],
    "Articles 132a to 134": ["#Article 132a", "#Article 133", "#Article 134"],
    "Article 429 bis": ["#Article 429a"],
    "Article 4(1)(39) and (40)": ["#Article 4(1)(39)", "#Article 4(1)(40)"],
    "Article 36(1)(a), (c) to (e) and 38": [
        "#Article 36(1)(a)", "#Article 36(1)(c)", "#Article 36(1)(d)", "#Article 36(1)(e)", "#Article 38"
    ],
    "points (iii) or (v) of point (g) of Article 13(2)": ["#Article 13(2)(g)(iii)", "#Article 13(2)(g)(v)"],
    "points (a)(ii) and (b) of Article 7(1)": ["#Article 7(1)(a)(ii)", "#Article 7(1)(b)"],
    "Art. 364 (2) lit. a)": ["#Article 364(2)(a)"],
    "Art. 364 1) a) i) CRR": [f"{CRR}#Article 364(1)(a)(i)"],
    "Article 4 paragraph 1 point 39": ["#Article 4(1)(39)"],
    "(see Article 416)": ["#Article 416"],
    "Article18(1)": ["#Article 18(1)"],
    "Part Three, Title II, Chapter 2": ["#Part 3, Title II, Chapter 2"],
    "Chapter 5 of Title II of Part Three": ["#Part 3, Title II, Chapter 5"],
    "point 3.1 of Annex XVII": ["#Annex XVII, point 3.1"],
    "Recital 26 of CRR2": ["32019R0876#Recital 26"],
    "second paragraph of Article 3": ["#Article 3, second paragraph"],
    "Article 325 of the CRR ... paragraphs 2 and 3 thereof": [
        f"{CRR}#Article 325", f"{CRR}#Article 325(2)", f"{CRR}#Article 325(3)"
    ],
    "Article 5, point (a) of Article 6": ["#Article 5", "#Article 6(a)"],
    "points (a), points (k)(ii) to (iii) and point (l) of Article 36(1)": [
        "#Article 36(1)(a)", "#Article 36(1)(k)(ii)", "#Article 36(1)(k)(iii)", "#Article 36(1)(l)"
    ],
    "point (a), and thereafter point (b) of Article 6": ["#point (a)", "#Article 6(b)"],
    "Article 6(3), point (a), of Directive 2009/65/EC": ["32009L0065#Article 6(3)(a)"],
    "first subparagraph of point (a) of Article 7": ["#Article 7(a), first subparagraph"],
    "paragraph 5.5.3 of the Annex relating to IFRS 9": ["other#paragraph 5(5)(3)"],
    "Art. 425 (1)(a) CRR": [f"{CRR}#Article 425(1)(a)"],
    "CRR Art 99": [f"{CRR}#Article 99"],
    "Article 4(1) point (39)": ["#Article 4(1)(39)"],
    "Art. 4 Para. 1 No. 120 of the CRR": [f"{CRR}#Article 4(1)(120)"],
    "Article 36 (1) b. CRR": [f"{CRR}#Article 36(1)(b)"],
    "Article 429 b (1)": ["#Article 429b(1)"],
    "Article (4)(1)(107) CRR": [f"{CRR}#Article 4(1)(107)"],
    "Articles 48(1)(a) and 2(a) CRR": [f"{CRR}#Article 48(1)(a)", f"{CRR}#Article 48(2)(a)"],
    "Article 178 of CRR, paragraph 1, point (b)": [f"{CRR}#Article 178(1)(b)"],
    "according to 244 of Regulation (EU) No 575/2013": [f"{CRR}#Article 244"],
    "Article 305(2)(b) CRR; the 305 (2) c)": [f"{CRR}#Article 305(2)(b)", "#Article 305(2)(c)"],
    "Artikel 259 Absatz 3 CRR; Artikel 263 und 264 CRR": [
        f"{CRR}#Article 259(3)", f"{CRR}#Article 263", f"{CRR}#Article 264"
    ],
    "Annex V.Part 2.72-74": [f"#Annex V, Part 2, paragraph {number}" for number in (72, 73, 74)],
    "paragraph 35, Annex V, part II of the ITS on supervisory reporting": [
        "32014R0680#Annex V, Part 2, paragraph 35"
    ],
    "Annex XI (instructions) of ITS No 680/2014": ["32014R0680#Annex XI"],
    "Annex XI included in the Regulation (EU) No 680/2014": ["32014R0680#Annex XI"],
    "Annex 1 (3)(a)(i) CRR": [f"{CRR}#Annex I, point 3(a)(i)"],
    "Section 3 to 4 of Chapter 6 in Title II Part Three": [
        "#Part 3, Title II, Chapter 6, Section 3", "#Part 3, Title II, Chapter 6, Section 4"
    ],
    "Part II point 4.1.2 of Annex II": ["#Annex II, Part 2, point 4.1.2"],
    "LCR Delegated Act 2015/61 Article 28.1, LCR Art. 28(1)": [f"{LCR}#Article 28(1)", f"{LCR}#Article 28(1)"],
    "Article 10 of the Delegated Act specifying the LCR": [f"{LCR}#Article 10"],
    "CRD IV/CRR": ["32013L0036#", f"{CRR}#"],
    "Directive 2006/48 /EC (CRD)": ["32006L0048#"],
    'Regulation (EU) No 648/2012 ("EMIR")': ["32012R0648#"],
    "Article 20 of EBA RTS for own funds requirements": ["32014R0241#Article 20"],
    "Article 1 of DA 183/2014": ["32014R0183#Article 1"],
    "Article 1(6) and Article 3(2) of the RTS on materiality threshold": [
        "32018R0171#Article 1(6)", "32018R0171#Article 3(2)"
    ],
    "Article 7 of Regulation (EU) No 529/2014; Article 8 of that regulation": [
        "32014R0529#Article 7", "32014R0529#Article 8"
    ],
    "UCITS Article 52(4)": ["32009L0065#Article 52(4)"],
    "paragraphs 158 and 159 of EBA/GL/2017/16": ["other#paragraph 158", "other#paragraph 159"],
    "IFRS 5 paragraph 6": ["other#paragraph 6"],
    "Article 145(b) ITS": ["other#Article 145(b)"],
    "Article 4 of the Belgian Economic Code": ["other#Article 4"],
    "“Article 421(1)” of CRR": [f"{CRR}#Article 421(1)"],
    "Annex I, point 4 letter (c) CRR": [f"{CRR}#Annex I, point 4(c)"],
    "CRR, annex I, item 3(a)(ii)": [f"{CRR}#Annex I, point 3(a)(ii)"],
    "Article 429 - 11": ["#Article 429(11)"],
    "paragraphs No 74 and No 75": ["#paragraph 74", "#paragraph 75"],
    "sections 210 and 211 of FSMR": ["FSMR#Section 210", "FSMR#Section 211"],
    "Part 21.250": ["#Part 21.250"],
    "this Rule a period": ["#this Rule"],
    "in Article 117(2) and Article 118, respectively, of Regulation (EU) No 575/2013": [
        f"{CRR}#Article 117(2)",
        f"{CRR}#Article 118",
    ],
    "in Articles 92 and 93 respectively of Regulation (EU) No 575/2013": [f"{CRR}#Article 92", f"{CRR}#Article 93"],
    "Article 129(4), 1st subparagraph, point (b) of CRR": [f"{CRR}#Article 129(4), first subparagraph, point (b)"],
    "Article 415(3), 2nd subparagraph, of CRR": [f"{CRR}#Article 415(3), second subparagraph"],
    "3rd and 4th subparagraph of Article 9(1)": [
        "#Article 9(1), third subparagraph", "#Article 9(1), fourth subparagraph"
    ],
    "Article 9 (1), 1st subpara., point b) CRR": [f"{CRR}#Article 9(1), first subparagraph, point (b)"],
    "Article 411 ff. CRR": [f"{CRR}#Article 411"],
    "Articles 411 et seq. of Regulation (EU) No 575/2013": [f"{CRR}#Article 411"],
    "Articles 411 et seq. and 425 CRR": [f"{CRR}#Article 411", f"{CRR}#Article 425"],
    "see Article 411 et seq. In CRR it is": ["#Article 411", f"{CRR}#"],
    "article 425(1)(a) crr; article 104a crd": [f"{CRR}#Article 425(1)(a)", "32013L0036#Article 104a"],
    "Article 132a to Article 134 of CRR": [f"{CRR}#Article {number}" for number in ("132a", "133", "134")],
    "Art. 5 to Art. 7": ["#Article 5", "#Article 6", "#Article 7"],
    "Article 9(1) to Article 7": ["#Article 9(1)", "#Article 7"],
    "Artikel 411 bis 413 der Verordnung (EU) Nr. 575/2013": [f"{CRR}#Article {number}" for number in (411, 412, 413)],
    "Artikel 411 bis Artikel 413": ["#Article 411", "#Article 412", "#Article 413"],
    "Articles 429 bis and 430": ["#Article 429a", "#Article 430"],
    "Art. 129 Abs. 4 Unterabs. 1 Buchst. b CRR": [f"{CRR}#Article 129(4), first subparagraph, point (b)"],
    "l'article 129, paragraphe 4, premier alinéa, point b), du CRR": [
        f"{CRR}#Article 129(4), first subparagraph, point (b)"
    ],
    "articles 412 à 414 du règlement (UE) n° 575/2013": [f"{CRR}#Article {number}" for number in (412, 413, 414)],
    "articles 412 a 414 CRR": [f"{CRR}#Article {number}" for number in (412, 413, 414)],
    "articles 8 et 10 de la directive 2009/65/CE": ["32009L0065#Article 8", "32009L0065#Article 10"],
    "Artt. 411 e 412 CRR": [f"{CRR}#Article 411", f"{CRR}#Article 412"],
    "articolo 129, paragrafo 4, lettera b), del regolamento (UE) n. 575/2013": [f"{CRR}#Article 129(4)(b)"],
    "artículo 129, apartado 4, segundo párrafo, letra b), del CRR": [
        f"{CRR}#Article 129(4), second subparagraph, point (b)"
    ],
    # not one reference more
    "Article 5, 1st January": ["#Article 5"],
    "Article 12 a 100 euro note": ["#Article 12"],
    "points (d) and (e) of Article 6": ["#Article 6(d)", "#Article 6(e)"],
    "Articles 5 and 6, respectively, and the rest": ["#Article 5", "#Article 6"],
    "on this point": [],
    "the fact that no risk is left": [],
    "the condition under point (a) above": [],
    "Section 1.6 of the reporting template": [],
    "template Part C-34.00": [],
    "annexes 20.4 to 20.7": [],
    "Article 48 and ii) higher amounts": ["#Article 48"],
    "Section 6 and 364 (2)": ["#Section 6"],
    "in part I agree": [],
    "Article 4 and 30 days": ["#Article 4"],
    "Article 5, 10 % of EUR 20 million": ["#Article 5"],
    "200 basis points (a)": [],
    "state of the art": [],
    "the LCR is 100 %": [],
    "in part 3 000": ["#Part 3"],
    "AML rules": [],
    "": [],
}  # fmt: skip


@pytest.mark.parametrize(("text", "targets"), TARGETS.items())
def test_citations_in_words(text, targets):
    assert [reference.target for reference in parse(text)] == targets


HERE = Here(CRR, "5", path=("PART SIX — LIQUIDITY", "TITLE II — X", "CHAPTER 7 — Y"))


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("this Article", ["Article 5"]),
        ("**2.** as in point (a)", ["Article 5(2)(a)"]),
        ("2. as in points (a) and (b) of this paragraph", ["Article 5(2)(a)", "Article 5(2)(b)"]),
        ("**1.** x\n\n(3) y:\n\n(a) z\n\n(b) see point (a)", ["Article 5(1)(3)(a)"]),
        ("**1.** x\n\n(3) y\n\nAs in point (a)", ["Article 5(1)(a)"]),
        ("paragraph 1, points (a) to (c)", ["Article 5(1)(a)", "Article 5(1)(b)", "Article 5(1)(c)"]),
        ("**7.** the second subparagraph", ["Article 5(7), second subparagraph"]),
        ("this Regulation", [""]),
        ("Section 2", ["Part 6, Title II, Chapter 7, Section 2"]),
        ("Chapter 3 of this Title", ["Part 6, Title II, Chapter 3"]),
        ("this Chapter", ["Part 6, Title II, Chapter 7"]),
        ("Part Two and Article 9", ["Part 2", "Article 9"]),
    ],
)
def test_relative_references_are_resolved_where_they_stand(text, targets):
    found = parse(text, HERE)
    assert [reference.provision for reference in found] == targets
    assert {reference.act for reference in found} == {CRR}


def test_a_given_paragraph_is_where_the_text_stands():
    assert parse("point (b)", Here(CRR, "5", "3"))[0].target == f"{CRR}#Article 5(3)(b)"


def test_what_is_said_before_decides_about_that():
    found = parse("Article 16 of Regulation (EU) No 1093/2010 applies. That Article and that Regulation.")
    assert [item.target for item in found] == ["32010R1093#Article 16", "32010R1093#Article 16", "32010R1093#"]
    assert [item.relative for item in found] == [False, True, True]


def test_an_article_of_another_document_is_not_taken_for_one_of_here():
    assert parse("Article 4 of the Guidelines", Here(CRR, "5"))[0].act == "other"


def test_a_list_gives_each_item_its_own_words():
    text = "points (a) and (b) of the first subparagraph, Articles 7 to 9"
    found = parse(text)
    assert [text[item.start : item.end] for item in found] == [
        "points (a)",
        "(b) of the first subparagraph",
        *["Articles 7 to 9"] * 3,
    ]


def test_fields_of_a_reference():
    assert parse("in Article 425(1)") == (Reference(3, 17, None, "Article 425(1)", "article", False, "425"),)
    assert parse("paragraph 2")[0].kind == "paragraph"
    assert parse("Chapter 2 of Title I of the CRR")[0].kind == "chapter"


@pytest.mark.parametrize(
    ("letter", "first", "second", "expected"),
    [
        ("R", "575", "2013", CRR),
        ("R", "2015", "61", LCR),
        ("R", "2019", "2033", "32019R2033"),
        ("R", "1606", "2002", "32002R1606"),
        ("R", "3330", "91", "31991R3330"),
        ("L", "2009", "65", "32009L0065"),
        ("L", "86", "635", "31986L0635"),
    ],
)
def test_celex_numbers(letter, first, second, expected):
    assert celex(letter, first, second) == expected


@given(st.integers(1, 99))
def test_numerals_and_letters_go_both_ways(number):
    assert numeral(roman(number)) == numeral(roman(number).lower()) == number
    assert ordinal(letters(number)) == number


@given(st.integers(1, 500), st.integers(1, 40))
def test_ranges_hold_every_number(low, length):
    found = parse(f"Articles {low} to {low + length} of the CRR")
    assert [item.article for item in found] == [str(number) for number in range(low, low + length + 1)]


def test_a_range_that_falls_or_is_too_long_is_none():
    assert expand(("9",), ("3",)) is None
    assert expand(("1",), ("900",)) is None
    assert [item.provision for item in parse("Articles 1 to 900")] == ["Article 1", "Article 900"]


PIECES = st.sampled_from(
    ["Article ", "Articles ", "1", "429a", "(1)", "(a)", "(iv)", " to ", " and ", ", ", "point ", "paragraph ", " of ",
     "the first subparagraph", "this ", "that ", "Regulation", " (EU) No 575/2013", "CRR ", "Annex ", "IV", "Part Three",
     "COBS ", "17.4", "thereof", "\n", "**2.** ", "(", ")", "Section 2"]
)  # fmt: skip


@given(st.text() | st.lists(PIECES, max_size=40).map("".join), st.sampled_from([None, HERE]))
@example("Article 1(1)(a)(a)(a)(a)(a)(a)(a)(a)", None)
def test_any_text_can_be_parsed(text, here):
    found = parse(text, here)
    assert all(0 <= item.start < item.end <= len(text) for item in found)
    assert parse(text, here) == found
    assert all(bool(item.provision) == (item.kind != "act") for item in found)


@pytest.mark.parametrize(
    "unit",
    [
        "Article 1 and ",
        "Articles 1 to 500, ",
        "point (a) of ",
        "first, second and ",
        "(a)",
        "(",
        "CRR(",
        "1.",
        "this ",
        "points (a) to (z) of paragraphs 1 to 99 of Articles 1 to 500. ",
        "\n1. ",
        "Commission ",
        "Regulation (EU) ",
        "ITS No 680/2014 (",
        "Part II point 1 of ",
        "Article 1 (x) ",
        "paragraph 1, Annex I, ",
        "Article 1 CRR, paragraph 1, ",
        "Chapter 1 Title II Part Three ",
        "§ No. ",
        "RTS on the ",
        "Article 1 b (1), ",
        "delegated act on the ",
        "Article 1 et seq. ",
        "Article 1 bis 2 ",
        "Articles 1 to Article 500, ",
    ],
)
def test_hostile_text_is_parsed_in_bounded_time(unit):
    text = (unit * 40_000)[:40_000]
    with bounded():
        parse(text, HERE)


@pytest.fixture(scope="module")
def counts(data):
    """By split and source."""
    return {split: benchmark.measure(data, split) for split in ("dev", "test")}


def test_a_hundred_references_of_each_source_are_labelled(counts):
    for source in ("CRR", "LCR", "EBA"):
        assert sum(each[source].marked for each in counts.values()) >= 100
    assert counts["test"]["all"].marked >= 275


@pytest.mark.parametrize("split", ["dev", "test"])
def test_labelled_references(counts, split):
    found = counts[split]["all"]
    assert found.precision >= 0.97
    assert found.recall >= 0.96


def test_counting_sees_what_is_wrong_and_what_is_missed(data, monkeypatch):
    rows = [row for row in benchmark.rows("test") if benchmark.source_of(row) == "LCR"]
    changed = [dict(row, references=[dict(one, target="x") for one in row["references"]]) for row in rows]
    monkeypatch.setattr(benchmark, "rows", lambda _: changed)
    found = benchmark.measure(data, "test")
    assert found["LCR"].agreed == found["all"].agreed == found["CRR"].found == 0
    assert len(found["LCR"].errors) == found["LCR"].found + found["LCR"].marked > 200


def test_labels_hold_no_text():
    rows = benchmark.rows()
    keys = {"source", "id", "field", "start", "end", "sha256", "split", "references"}
    assert all(set(row) == keys for row in rows)
    assert all(set(label) == {"start", "end", "target"} for row in rows for label in row["references"])
    assert all(len(label["target"]) < 80 for row in rows for label in row["references"])


def test_the_id_of_every_provision_cites_it(data):
    """ "CRR Art. 425(2)(a)" as the reader writes it is read as a citation of that very passage."""
    for name in citations.ORIGINALS:
        path = data / "eu_law" / "originals" / name
        if not path.is_file():
            pytest.skip(f"no originals in {data / 'eu_law'}")
        (edition,) = read_bytes(path.read_bytes(), name)
        known = Provisions(edition.passages)
        cited = [place for place, each in enumerate(edition.passages) if not UNCITED.search(each.number)]
        wrong = []
        for place in cited:
            references = parse(edition.passages[place].id)
            if [known.find(each, None) for each in references if each.provision] != [place]:
                wrong.append(edition.passages[place].id)
        assert wrong == []
        assert len(cited) > 0.9 * len(edition.passages)


@pytest.mark.parametrize(
    ("text", "provision"),
    [
        ("Voir le paragraphe 2 de l'article 5 du règlement (UE) no 575/2013.", "Article 5(2)"),
        ("apartado 2 del artículo 5 del Reglamento (UE) n.º 575/2013", "Article 5(2)"),
        ("lettera a) dell'articolo 5 del Regolamento (UE) n. 575/2013", "Article 5(a)"),
        ("Absatz 2 des Artikels 5 der Verordnung (EU) Nr. 575/2013", "Article 5(2)"),
    ],
)
def test_what_is_of_an_article_in_four_languages_is_one_reference(text, provision):
    assert [(each.act, str(each.provision)) for each in parse(text)] == [("32013R0575", provision)]
