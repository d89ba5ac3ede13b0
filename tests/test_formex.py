"""Formex 4, on an act written for the test."""

from __future__ import annotations

from datetime import date

import pytest

from responsa.corpus.readers import read_bytes
from responsa.errors import ReadError

QUOTE = '<QUOT.START CODE="2018" ID="QS1" REF.END="QE1"/>'
UNQUOTE = '<QUOT.END CODE="2019" ID="QE1" REF.START="QS1"/>'


def note(text: str) -> str:
    return f'<NOTE NOTE.ID="E1" NUMBERING="ARAB" TYPE="FOOTNOTE"><P>{text}</P></NOTE>'


def changed(action: str, content: str, number: int = 1, level: str = "STRUCTURE") -> str:
    return (
        f'<?CLG.MDFO ID="O{number}" IDREF="C{number}" ACTION="{action}" LEVEL="{level}" ACTIVE.DOC="32099R0009"?>'
        f'{content}<?CLG.MDFC ID="C{number}" IDREF="O{number}"?>'
    )


def para(number: str, *alineas: str) -> str:
    inside = "".join(f"<ALINEA>{each}</ALINEA>" for each in alineas)
    return f"<PARAG><NO.PARAG>{number}.</NO.PARAG>{inside}</PARAG>"


def items(*texts: str, kind: str = "alpha") -> str:
    labels = {"alpha": "abcdef", "ARAB": "123456"}.get(kind)
    if labels is None:
        return f'<LIST TYPE="{kind}">{"".join(f"<ITEM><P>{text}</P></ITEM>" for text in texts)}</LIST>'
    rows = (
        f"<ITEM><NP><NO.P>({label})</NO.P>{text if text.startswith('<TXT>') else f'<TXT>{text}</TXT>'}</NP></ITEM>"
        for label, text in zip(labels, texts, strict=False)
    )
    return f'<LIST TYPE="{kind}">{"".join(rows)}</LIST>'


def art(number: str, title: str, *content: str) -> str:
    return f"<ARTICLE><TI.ART>Article {number}</TI.ART><STI.ART>{title}</STI.ART>{''.join(content)}</ARTICLE>"


def act(articles: str, preamble: str = "", annexes: str = "", info: str | None = None, final: str = "") -> bytes:
    info = info if info is not None else 'START.DATE="20290101" END.DATE="20301231"'
    return (
        '<?xml version="1.0" encoding="utf-8"?><CONS.ACT>'
        f"<INFO.CONSLEG {info}/><CONS.DOC><BIB.INSTANCE><DATE ISO='20280605'>x</DATE></BIB.INSTANCE>"
        "<FAM.COMP><BIB.DATA><NO.CELEX>32028R0077</NO.CELEX></BIB.DATA></FAM.COMP>"
        "<TITLE><TI><P><HT TYPE='UC'>Regulation</HT> (EU) 2028/77</P><P>on bread</P><P>(Text with EEA relevance)</P></TI></TITLE>"
        f"<PREAMBLE>{preamble}</PREAMBLE><ENACTING.TERMS><DIVISION><TITLE><TI><P>PART ONE</P></TI><STI><P>GENERAL</P></STI></TITLE>"
        f"<DIVISION><TITLE><TI><P>CHAPTER 1</P></TI><STI><P>Loaves</P></STI></TITLE>{articles}</DIVISION></DIVISION>"
        f"</ENACTING.TERMS><FINAL>{final}</FINAL>{annexes}</CONS.DOC></CONS.ACT>"
    ).encode()


def passages(*args: str, **kwargs: str):
    (edition,) = read_bytes(act(*args, **kwargs), "law.xml")
    return {passage.id.removeprefix("Regulation 2028/77 "): passage for passage in edition.passages}


def test_paragraphs_points_and_subparagraphs_worked_by_hand():
    first = f"<P>A baker shall:</P>{items('weigh it;', '<TXT>tell</TXT><P>' + items('the buyer;', 'the guild.', kind='ARAB') + '</P>')}"
    found = passages(art("3a", "Weight", para("1", first, "<P>The guild may check.</P>"), para("2", "No more.")))
    texts = {name: passage.text for name, passage in found.items() if name.startswith("Art.")}
    assert texts == {
        "Art. 3a": "",
        "Art. 3a(1)": "A baker shall:",
        "Art. 3a(1)(a)": "weigh it;",
        "Art. 3a(1)(b)": "tell",
        "Art. 3a(1)(b)(1)": "the buyer;",
        "Art. 3a(1)(b)(2)": "the guild.",
        "Art. 3a(1), second subparagraph": "The guild may check.",
        "Art. 3a(2)": "No more.",
    }
    assert found["Art. 3a"].title == "Weight"
    assert found["Art. 3a"].path == ("PART ONE — GENERAL", "CHAPTER 1 — Loaves")
    assert found["Art. 3a(1)(b)(1)"].path[-1] == "Article 3a — Weight"
    assert found["Art. 3a(1)(b)(1)"].number == "Article 3a(1)(b)(1)"
    assert found["Part One, Chapter 1"].kind == "heading"


def test_the_edition_has_the_celex_number_title_and_dates():
    (edition,) = read_bytes(act(art("1", "x", "<ALINEA>Bread.</ALINEA>")), "whatever.xml")
    assert edition.document_id == "32028R0077"
    assert edition.title == "Regulation (EU) 2028/77 on bread"
    assert (edition.valid_from, edition.valid_to) == (date(2029, 1, 1), date(2030, 12, 31))
    (open_ended,) = read_bytes(
        act(art("1", "x", "<ALINEA>A.</ALINEA>"), info='START.DATE="20290101" END.DATE="99999999"'), "x.xml"
    )
    assert open_ended.valid_to is None


@pytest.mark.parametrize(
    ("words", "day"),
    [
        (
            "This Regulation shall enter into force on the day following that of its publication in it.",
            date(2028, 6, 6),
        ),
        ("It shall enter into force on the twentieth day following that of its publication.", date(2028, 6, 25)),
        ("This Regulation shall enter into force on 3 March 2031.", date(2031, 3, 3)),
        ("This Regulation is nice.", date(2028, 6, 5)),
    ],
)
def test_an_act_without_dates_is_in_force_when_it_says_so(words, day):
    (edition,) = read_bytes(act(art("1", "x", f"<ALINEA>{words}</ALINEA>"), info=""), "x.xml")
    assert edition.valid_from == day


def test_deleted_provisions_are_no_law():
    gone = changed("DELETED", art("2", "Cake", para("1", "Eat cake.")))
    inside = para("1", f"<P>All of:</P>{items('flour;')}") + changed("DELETED", para("2", "Sugar."), 2)
    words = changed("DELETED", " and sour", 3, "TEXT")
    found = passages(art("1", "Bread", inside, para("3", f"Be sweet{words}.")) + gone)
    assert [name for name in found if name.startswith("Art.")] == [
        "Art. 1",
        "Art. 1(1)",
        "Art. 1(1)(a)",
        "Art. 1(3)",
        "Art. 2",
    ]
    assert found["Art. 1(3)"].text == "Be sweet."
    assert (found["Art. 2"].text, found["Art. 2"].title, found["Art. 2"].kind) == ("", "Cake", "heading")
    assert found["Art. 2"].flags[0] == "deleted"


def test_who_amended_a_provision_is_on_record_and_its_marks_are_no_text():
    found = passages(art("1", "x", para("1", "Old."), changed("REPLACED", para("2", "►M1 New. ◄".strip("►M1 ◄")))))
    assert found["Art. 1(1)"].flags == ()
    assert found["Art. 1(2)"].flags == ("amended-by-32099R0009",)


def test_an_article_of_another_act_is_not_one_of_this():
    inner = (
        f"<DIVISION><TITLE><TI><P>{QUOTE}CHAPTER 4</P></TI></TITLE>{art('50a', 'Sums', para('1', 'Add.'))}</DIVISION>"
    )
    more = f"<PARAG><NO.PARAG>{QUOTE}5a.</NO.PARAG><ALINEA>Until then.{UNQUOTE}</ALINEA></PARAG>"
    listed = items(
        f"<TXT>a Chapter:</TXT><P><QUOT.S>{inner}</QUOT.S></P>",
        f"<TXT>this:</TXT><P><QUOT.S>{more}</QUOT.S></P>",
        kind="ARAB",
    )
    found = passages(art("9", "Amendment", f"<ALINEA><P>It is amended:</P>{listed}</ALINEA>"))
    assert "Art. 50a" not in found
    assert found["Art. 9(1)"].text == "a Chapter:\n‘CHAPTER 4"
    assert found["Art. 9(1), quoted Article 50a"].text == "Sums\n1. Add."
    assert found["Art. 9(2)"].text == "this:\n‘5a. Until then.’"


def test_definitions_formulas_subscripts_and_images():
    formula = (
        '<FORMULA TYPE="OUTLINE"><EXPR>W</EXPR><OP.CMP TYPE="EQ"/><EXPR>2 <OP.MATH TYPE="MULT"/> F</EXPR></FORMULA>'
    )
    terms = "<DLIST SEPARATOR='='><DLIST.ITEM><TERM>F</TERM><DEFINITION>flour</DEFINITION></DLIST.ITEM></DLIST>"
    lines = f"<P>As follows:</P>{formula}<P>where:</P>{terms}"
    found = passages(art("1", "x", para("1", lines, "CO<HT TYPE='SUB'>2</HT> <INCL.ELEMENT FILEREF='a.tif'/>")))
    assert found["Art. 1(1)"].text == "As follows:\nW = 2 · F\nwhere:\nF = flour"
    assert found["Art. 1(1)"].flags == ("formula",)
    assert found["Art. 1(1), second subparagraph"].text == "CO₂ [image]"
    assert found["Art. 1(1), second subparagraph"].flags == ("image",)


def test_tables_and_their_footnotes():
    table = (
        "<TBL><TITLE><TI><P>Table 8</P></TI></TITLE><CORPUS><ROW TYPE='HEADER'><CELL COLSPAN='2'>Step</CELL></ROW>"
        f"<ROW><CELL>1<IE/></CELL><CELL>20 %{note('Of it all.')}</CELL></ROW></CORPUS></TBL>"
    )
    found = passages(art("1", "x", para("1", f"<P>The weights are:</P>{table}")))
    assert found["Art. 1(1), Table 8"].kind == "table"
    assert found["Art. 1(1), Table 8"].title == "Table 8"
    assert found["Art. 1(1), Table 8"].text == "| Step |  |\n| --- | --- |\n| 1 | 20 % |"
    assert found["Art. 1(1), Table 8, footnote 1"].text == "Of it all."
    assert found["Art. 1(1), Table 8, footnote 1"].flags == ("footnote",)


def test_a_footnote_is_taken_out_of_its_sentence():
    found = passages(art("1", "x", para("1", f"See the Act{note('OJ L 1, p. 1.')}, as amended.")))
    assert found["Art. 1(1)"].text == "See the Act, as amended."
    assert found["Art. 1(1), footnote 1"].parent_id == "Regulation 2028/77 Art. 1(1)"


def test_recitals_annexes_and_the_words_around_an_act():
    preamble = (
        f"<PREAMBLE.INIT>THE COUNCIL,</PREAMBLE.INIT><GR.VISA><VISA>Having regard to it{note('OJ C 1.')},</VISA></GR.VISA>"
        "<GR.CONSID><GR.CONSID.INIT>Whereas:</GR.CONSID.INIT><CONSID><NP><NO.P>(1)</NO.P><TXT>Bread is good.</TXT></NP></CONSID>"
        "</GR.CONSID><PREAMBLE.FINAL>HAS ADOPTED THIS:</PREAMBLE.FINAL>"
    )
    head = "<TITLE><TI><P>{}</P></TI></TITLE>"
    annexes = (
        f"<CONS.ANNEX>{head.format('ANNEX II')}<CONTENTS><GR.SEQ LEVEL='1'>{head.format('Kinds')}<NP><NO.P>1.</NO.P><TXT>Rye:</TXT>"
        f"<P>{items('dark.')}</P></NP></GR.SEQ></CONTENTS></CONS.ANNEX>"
        f"<CONS.ANNEX>{head.format('Appendix A')}<CONTENTS><P>Flat bread.</P></CONTENTS></CONS.ANNEX>"
    )
    found = passages(art("1", "x", "<ALINEA>Bake.</ALINEA>"), preamble, annexes, final="<P>Done at Ghent.</P>")
    assert [(name, passage.text) for name, passage in found.items() if passage.kind == "text"] == [
        ("Preamble", "THE COUNCIL,\nHaving regard to it,"),
        ("Preamble, footnote 1", "OJ C 1."),
        ("Recital 1", "Bread is good."),
        ("Enacting formula", "HAS ADOPTED THIS:"),
        ("Art. 1", "Bake."),
        ("Concluding formula", "Done at Ghent."),
        ("Annex II(1)", "Rye:"),
        ("Annex II(1)(a)", "dark."),
        ("Annex II, Appendix A", "Flat bread."),
    ]
    assert found["Recitals"].title == "Whereas:"
    assert found["Annex II"].title == "Kinds"
    assert found["Annex II(1)(a)"].number == "Annex II, point 1(a)"


def test_indents_and_lists_without_any_sign():
    dashes, bare = items("first", "second", kind="DASH"), items("General terms", kind="NONE")
    found = passages(art("1", "x", para("1", f"<P>These:</P>{bare}{dashes}")))
    assert found["Art. 1(1)"].text == "These:\nGeneral terms"
    assert found["Art. 1(1), second indent"].text == "second"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"<CONS.ACT><CONS.DOC/></CONS.ACT>", "holds no enacting terms"),
        (b"<CONS.ACT/>", "holds no enacting terms"),
        (b"<ACT><ENACTING.TERMS/></ACT>", "says of no act that it is"),
        (act(""), "nothing to index"),
    ],
)
def test_what_is_no_whole_act_is_refused(content, says):
    with pytest.raises(ReadError, match=says):
        read_bytes(
            content.replace(b"<TITLE><TI><P><HT TYPE='UC'>Regulation", b"<TITLE><TI><P><HT TYPE='UC'>R"), "x.xml"
        )


def test_the_name_of_the_file_tells_the_act_and_the_date_where_the_content_does_not():
    content = (
        act(art("1", "x", "<ALINEA>Bake.</ALINEA>"), info="").replace(b"32028R0077", b"").replace(b"(EU) 2028/77", b"")
    )
    (edition,) = read_bytes(content.replace(b" ISO='20280605'", b""), "32027r0005_2027-02-03.fmx4.xml")
    assert edition.document_id == "32027R0005"
    assert edition.valid_from == date(2027, 2, 3)
