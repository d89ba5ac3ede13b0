"""Pages of EUR-Lex in four styles, on an act written for the test."""

from __future__ import annotations

from datetime import date

import pytest

from responsa.corpus.readers import read_bytes
from responsa.errors import ReadError

XHTML = '<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml">'
CONSOLIDATED = "<head><title>Consolidated TEXT: 32028R0077 — EN — 01.02.2029</title></head>"
TITLE = '<p class="title-doc-first">REGULATION (EU) 2028/77 OF THE COUNCIL</p><p class="title-doc-first">on bread</p>'


def page(body: str, head: str = CONSOLIDATED) -> bytes:
    return f"{XHTML}{head}<body>{body}</body></html>".encode()


def old_item(label: str, content: str) -> str:
    return (
        '<div style="margin-left: 30pt; text-indent: -30pt">'
        f'<p class="norm">{label}<span style="word-spacing: 18pt"> </span>{content}</div>'
    )


def new_item(label: str, content: str) -> str:
    return (
        f'<div class="grid-container grid-list"><div class="list grid-list-column-1"><span>{label} </span></div>'
        f'<div class="grid-list-column-2"><p class="norm">{content}</div></div>'
    )


def oj_item(label: str, content: str) -> str:
    cell = '<td valign="top">{}</td>'
    return f'<table border="0"><tbody><tr>{cell.format(f"<p>{label}</p>")}{cell.format(f"<p>{content}")}</tr></tbody></table>'


def consolidated(item, numbered) -> str:
    inner = item("(b)", f"tell:</p>{item('(i)', 'the buyer.</p>')}")
    return (
        f"{TITLE}<p class='title-division-1'>PART ONE</p><p class='title-division-2'>GENERAL</p>"
        "<p class='title-division-1'>CHAPTER 1</p><p class='title-division-2'>Loaves</p>"
        "<p class='title-article-norm'>Article 3a</p><p class='stitle-article-norm'>Weight</p>"
        f"{numbered('1.', 'A baker shall:', item('(a)', 'weigh it;</p>') + inner)}"
        "<p class='norm'>The guild may check.</p>"
        f"{numbered('2.', 'No more.', '')}"
    )


def old_numbered(label, text, more):
    return f'<p class="norm">{label}  {text}</p>{more}'


def new_numbered(label, text, more):
    return (
        f'<div class="norm"><span class="no-parag">{label}  </span><div class="norm inline-element">'
        f'<p class="norm inline-element">{text}</p>{more}</div></div>'
    )


def official(item) -> str:
    inner = item("(b)", f"tell:</p>{item('(i)', 'the buyer.</p>')}")
    return (
        "<table><tr><td><p class='oj-hd-date'>5.6.2028</p></td></tr></table><div class='eli-main-title'>"
        "<p class='oj-doc-ti'>REGULATION (EU) 2028/77 OF THE COUNCIL</p><p class='oj-doc-ti'>on bread</p></div>"
        "<div class='eli-subdivision' id='enc_1'><p class='oj-ti-section-1'>PART ONE</p><p class='oj-ti-section-2'>GENERAL</p>"
        "<p class='oj-ti-section-1'>CHAPTER 1</p><p class='oj-ti-section-2'>Loaves</p>"
        "<div class='eli-subdivision' id='art_3'><p class='oj-ti-art'>Article 3a</p><p class='oj-sti-art'>Weight</p>"
        f"<div id='003.001'><p class='oj-normal'>1.   A baker shall:</p>{item('(a)', 'weigh it;</p>')}{inner}"
        "<p class='oj-normal'>The guild may check.</p></div><div id='003.002'><p class='oj-normal'>2.   No more.</p></div></div></div>"
    )


STYLES = {
    "consolidated, old": page(consolidated(old_item, old_numbered)),
    "consolidated, new": page(consolidated(new_item, new_numbered)),
    "official journal": page(official(oj_item), "<head><title>L_2028</title></head>"),
    "official journal, old": page(official(oj_item).replace("oj-", ""), "<head><title>L_2028</title></head>"),
}


def passages(body: str):
    (edition,) = read_bytes(page(TITLE + body), "law.html")
    return {passage.id.removeprefix("Regulation 2028/77 "): passage for passage in edition.passages}


def an_article(*content: str) -> str:
    return "<p class='title-article-norm'>Article 1</p><p class='stitle-article-norm'>Bread</p>" + "".join(content)


@pytest.mark.parametrize("style", STYLES)
def test_every_style_gives_the_same_tree_worked_by_hand(style):
    (edition,) = read_bytes(STYLES[style], "law.html")
    found = {passage.id.removeprefix("Regulation 2028/77 "): passage for passage in edition.passages}
    texts = {name: passage.text for name, passage in found.items() if name.startswith("Art.")}
    assert texts == {
        "Art. 3a": "",
        "Art. 3a(1)": "A baker shall:",
        "Art. 3a(1)(a)": "weigh it;",
        "Art. 3a(1)(b)": "tell:",
        "Art. 3a(1)(b)(i)": "the buyer.",
        "Art. 3a(1), second subparagraph": "The guild may check.",
        "Art. 3a(2)": "No more.",
    }
    assert found["Art. 3a"].title == "Weight"
    assert found["Art. 3a"].path == ("PART ONE — GENERAL", "CHAPTER 1 — Loaves")
    assert edition.document_id == "32028R0077"
    assert edition.title == "Regulation (EU) 2028/77 of the Council on bread"
    assert edition.valid_from == (date(2029, 2, 1) if style.startswith("cons") else date(2028, 6, 5))


def test_a_page_that_is_html_and_no_xml_is_read_too():
    content = f"<!DOCTYPE html><html>{CONSOLIDATED}<body>{TITLE}{an_article('<p class=norm>Bake&nbsp;it.<br></p>')}</body></html>"
    (edition,) = read_bytes(content.encode(), "law.htm")
    assert edition.passages[-1].text == "Bake it."


def test_marks_of_consolidation_are_no_text_but_tell_who_amended():
    link = '<a href="x" title="32099R0009: {}">{}</a>'
    body = an_article(
        "<p class='norm'>1.  Old.</p>",
        f"<p class='modref'>{link.format('REPLACED', '▼M1')}</p><p class='norm'>2.  New <span>{link.format('REPLACED', '►M1')}</span> words<span> ◄ </span>.</p>",
        f"<p class='modref'>{link.format('DELETED', '▼M1')} —————</p>",
        "<p class='modref'><a title='32028R0077'>▼B</a></p><p class='norm'>4.  Old too.</p>",
    )
    found = passages(body)
    assert [(found[f"Art. 1({n})"].text, found[f"Art. 1({n})"].flags) for n in (1, 2, 4)] == [
        ("Old.", ()),
        ("New words .", ("amended-by-32099R0009",)),
        ("Old too.", ()),
    ]


def test_footnotes_are_taken_out_of_their_sentences():
    mark = "<a href='#E0001' id='src.E0001'><span class='superscript'>1</span></a>"
    foot = (
        "<p class='footnote'>(<a href='#src.E0001' id='E0001'><span class='superscript'>1</span></a>) OJ L 1, p. 1.</p>"
    )
    found = passages(an_article(f"<p class='norm'>1.  See the Act ({mark}), as amended.</p>") + foot)
    assert found["Art. 1(1)"].text == "See the Act, as amended."
    assert found["Art. 1(1), footnote 1"].text == "OJ L 1, p. 1."


def test_tables_terms_and_images():
    table = (
        "<div class='centered'><p class='title-table'>Table 8</p><table border='1'><tbody><tr><td colspan='2'><p class='tbl-norm'>Step</p></td></tr>"
        "<tr><td><p class='hd-column'>1</p></td><td><p class='tbl-norm'>20 %</p></td></tr></tbody></table></div>"
    )
    term = "<table border='0'><tr><td><p>{}</p></td><td><p>=</p></td><td><p>{}</p></td></tr></table>"
    terms = term.format("F<span class='subscript'>x</span>", "flour;") + term.format("W", "water.")
    image = "<p class='container-center'><img src='a.jpg' alt='image'/></p>"
    found = passages(an_article(f"<p class='norm'>1.  As follows:</p>{image}<p class='norm'>where:</p>{terms}{table}"))
    assert found["Art. 1(1)"].text == "As follows:\n[image]\nwhere:\nF_x = flour;\nW = water."
    assert found["Art. 1(1)"].flags == ("image",)
    assert found["Art. 1(1), Table 8"].text == "| Step |  |\n| --- | --- |\n| 1 | 20 % |"


def test_articles_of_another_act_are_not_of_this():
    inner = (
        "the following is added:</p><p class='title-division-1'>‘CHAPTER 4</p><p class='title-article-quoted'>Article 50a</p>"
        "<p class='stitle-article-quoted'>Sums</p><p class='norm'>1.  Add.</p><p class='title-article-quoted'>Article 50b</p>"
        "<p class='norm'>Less.’</p>"
    )
    found = passages(
        an_article("<p class='norm'>It is amended:</p>", old_item("(1)", inner), old_item("(2)", "more.</p>"))
    )
    assert [(name, passage.text) for name, passage in found.items() if name.startswith("Art.")] == [
        ("Art. 1", "It is amended:"),
        ("Art. 1(1)", "the following is added:\n‘CHAPTER 4"),
        ("Art. 1(1), quoted Article 50a", "Sums\n1. Add."),
        ("Art. 1(1), quoted Article 50b", "Less.’"),
        ("Art. 1(2)", "more."),
    ]


def test_recitals_annexes_and_the_words_around_an_act():
    row = oj_item("(1)", "Bread is good.</p>")
    before = f"<div class='preamble'><p class='norm'>THE COUNCIL,</p>Whereas:{row}<p class='norm'>HAS ADOPTED THIS:</p></div>"
    after = (
        "<p class='norm'>This Regulation shall be binding in its entirety.</p><p class='title-annex-1'>ANNEX II</p>"
        f"<p class='title-gr-seq-level-1'>Kinds</p>{old_item('1.', 'Rye:</p>')}{old_item('(a)', 'dark.</p>')}"
    )
    found = passages(before + an_article("<p class='norm'>Bake.</p>") + after)
    assert [(name, passage.text) for name, passage in found.items() if passage.kind == "text"] == [
        ("Preamble", "THE COUNCIL,"),
        ("Recital 1", "Bread is good."),
        ("Enacting formula", "HAS ADOPTED THIS:"),
        ("Art. 1", "Bake."),
        ("Concluding formula", "This Regulation shall be binding in its entirety."),
        ("Annex II(1)", "Rye:"),
        ("Annex II(1)(a)", "dark."),
    ]
    assert found["Annex II"].title == "Kinds"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (page(TITLE), "has no articles"),
        (page(an_article("<p class='norm'>Bake.</p>"), "<head><title>x</title></head>"), "says of no act that it is"),
        (page(an_article()), "nothing to index"),
    ],
)
def test_what_is_no_whole_act_is_refused(content, says):
    with pytest.raises(ReadError, match=says):
        read_bytes(content, "x.html")
