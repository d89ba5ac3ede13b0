"""Web pages of any publisher as passages."""

from __future__ import annotations

import pytest

from responsa.corpus import readers
from responsa.corpus.readers.page import numeral
from responsa.errors import ReadError


def read(body, head="<title>The Rules | Site</title>", name="rules.html"):
    content = f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>"
    (edition,) = readers.read_bytes(content.encode(), name)
    return edition


def rows(body, **settings):
    return [(each.number, each.kind, each.text) for each in read(body, **settings).passages]


def texts(body, **settings):
    return [each.text for each in read(body, **settings).passages]


PAGE = """<header><a href="/">Home</a></header><nav><ul><li>One<li>Two</ul></nav><div class="sidebar">Also here</div>
<main><h1>Harbour Rules</h1><h2>1. Scope</h2><p>1.1 A Master must:</p><ol type="a"><li>report the arrival; and</li><li>pay:
<ol type="i"><li>in cash; or</li><li>by card.</li></ol></li></ol><p>1.2 No vessel may anchor here.</p>
<h2>2. Dues</h2><p>2.1 Dues are paid <b>in&nbsp;advance</b>,<br>in euro.</p></main><footer>Contact us</footer>"""


def test_headings_numbers_and_lists_are_a_tree():
    edition = read(PAGE)
    assert (edition.document_id, edition.title) == ("rules", "Harbour Rules")
    assert [(each.id, each.title or each.text, each.parent_id) for each in edition.passages] == [
        ("rules/Title", "Harbour Rules", None),
        ("rules/1", "Scope", None),
        ("rules/1.1", "A Master must:", "rules/1"),
        ("rules/1.1(a)", "report the arrival; and", "rules/1.1"),
        ("rules/1.1(b)", "pay:", "rules/1.1"),
        ("rules/1.1(b)(i)", "in cash; or", "rules/1.1(b)"),
        ("rules/1.1(b)(ii)", "by card.", "rules/1.1(b)"),
        ("rules/1.2", "No vessel may anchor here.", "rules/1"),
        ("rules/2", "Dues", None),
        ("rules/2.1", "Dues are paid in advance,\nin euro.", "rules/2"),
    ]
    assert edition.passages[3].path == ("Scope",)


def test_navigation_is_left_out_wherever_it_stands():
    kept = "<p>A rule of the harbour.</p>"
    around = '<aside>a</aside><form>b</form><div role="navigation">c</div><div class="cookie-banner x">d</div><button>e</button>'
    assert texts(around + kept + "<footer>f</footer><script>g</script><ul class='breadcrumbs'><li>h</ul>") == [
        "A rule of the harbour."
    ]


def test_the_header_of_an_article_is_content():
    assert texts("<header>Site</header><article><header>Rules:</header><p>Text.</p></article>") == ["Rules:\n\nText."]


def test_a_small_main_element_is_not_all_of_the_content():
    body = "<main><p>Teaser.</p></main><div>" + "<p>A rule of the harbour that is long enough.</p>" * 5 + "</div>"
    assert len(texts(body)) == 6


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<ul><li>one<li>two</ul>", ["• one\n• two"]),
        ("<p>Ships:<ul><li>one<ul><li>inner</ul><li>two</ul>", ["Ships:\n• one\n  • inner\n• two"]),
        ("<ol><li>one<li>two</ol>", ["one", "two"]),
        ("<ol><li>(1) one<li>(2) two</ol>", ["one", "two"]),
        ("<dl><dt>berth<dd>a place</dl>", ["berth\n\na place"]),
        ("<p># no heading<p>| no table<p>**bold**", ["# no heading", "| no table", "**bold**"]),
        ("<p>CO<sub>2</sub>, m<sup>3</sup>, x<sup>n+1</sup>", ["CO₂, m³, x^(n+1)"]),
        ("<pre>one\n  two</pre>", ["one\ntwo"]),
        ("<p>A <img src=x alt='seal'> here", ["A [image: seal] here"]),
        ("<div>one<p>two</p>three</div>", ["one", "two", "three"]),
    ],
)
def test_blocks(body, expected):
    found = texts(body)
    assert "\n\n".join(found) == "\n\n".join(expected)


def test_numbers_of_lists():
    edition = read("<p>1.1 A Master must:<ol type=a start=3><li>one<li value=5>two</ol>")
    assert [each.number for each in edition.passages] == ["1.1", "1.1(c)", "1.1(e)"]
    assert [numeral(number, kind) for number, kind in ((27, "a"), (28, "A"), (4, "i"), (1994, "i"), (449, "I"), (0, "a"))] == [
        "aa", "AB", "iv", "1994", "CDXLIX", "0",
    ]  # fmt: skip


def test_tables_keep_their_cells():
    table = (
        "<p>2.1 The dues:</p><table><caption>Dues</caption><tr><th rowspan=2>Length<th colspan=2>EUR<tr><td>a|b<td><p>one<p>two"
        "</table><p>are paid.</p>"
    )
    edition = read(table)
    assert [(each.number, each.kind, each.title, each.text) for each in edition.passages] == [
        ("2.1", "text", "", "The dues:"),
        ("2.1, table 1", "table", "Dues", "| Length | EUR |  |\n| --- | --- | --- |\n|  | a\\|b | one<br>two |"),
        ("2.1, after table 1", "text", "", "are paid."),
    ]
    assert edition.passages[1].parent_id == edition.passages[0].id


def test_a_table_alone_is_a_passage():
    assert rows("<table><tr><td>a<td>b</table>") == [("p1", "table", "| a | b |\n| --- | --- |")]


def test_tables_that_only_arrange_are_read_through():
    assert texts("<table><tr><td><p>1.1 One.</p></td></tr><tr><td><p>1.2 Two.</p></td></tr></table>") == [
        "One.",
        "Two.",
    ]
    assert "a | b" in "".join(texts("<table role=presentation><tr><td><table><tr><td>a<td>b</table></td></tr></table>"))


@pytest.mark.parametrize(
    "how",
    [
        "style='display:none'", "style='DISPLAY : none !important'", "style='visibility:hidden'", "hidden", "class=gone", "class=sr-only",
        "class='x gone'", "id=away", "style='color:#FFF'", "style='color: rgb(255, 255, 255)'", "style='font-size:1px'",
        "style='opacity:0'", "style='position:absolute;left:-9999px'", "style='text-indent:-9999px'",
    ],
)  # fmt: skip
@pytest.mark.parametrize("tag", ["span", "p"])
def test_what_is_not_seen_is_kept_and_flagged(how, tag):
    style = "<style>/* a */ .gone{display:none} /* b */ #away, .other {color:white} a:hover{display:none}</style>"
    edition = read(f"<p>1.1 A rule.</p><p>1.2 Seen <{tag} {how}>not seen</{tag}></p>", head=style)
    assert [(each.text, each.flags) for each in edition.passages] == [
        ("A rule.", ()),
        ("Seen", ()),
        ("not seen", ("hidden",)),
    ]
    assert edition.passages[2].number == "1.2, hidden 1"


@pytest.mark.parametrize(
    "how",
    [
        "style='color:#fff;background:#003'", "style='font-size:10px'", "style='opacity:0.5'", "style='left:-9999px'",
        "style='position:absolute;left:-10px'", "class=link", "style='display:block'",
    ],
)  # fmt: skip
def test_what_is_seen_is_not_flagged(how):
    assert texts(f"<p>Seen <span {how}>too</span>.</p>", head="<style>.link:hover{display:none}</style>") == [
        "Seen too."
    ]


def test_white_on_a_dark_ground_is_seen():
    assert texts("<div style='background-color:navy'><p>Seen <b style='color:white'>too</b>.</p></div>") == [
        "Seen too."
    ]


def test_hidden_words_in_cells_stand_below_the_table():
    edition = read("<table><tr><td>a<span hidden>secret</span><td>b</table>")
    assert [(each.kind, each.text, each.flags) for each in edition.passages if each.text] == [
        ("table", "| a | b |\n| --- | --- |", ()),
        ("text", "secret", ("hidden",)),
    ]


def test_footnotes_stand_below_their_passage():
    body = (
        "<p>1.1 Dues<sup><a href='#n1' id='r1'>1</a></sup> are paid.</p><p>1.2 See <a href='#1.1'>rule 1.1</a>.</p>"
        "<ol><li id='n1'>In euro. <a href='#r1'>back</a></li></ol>"
    )
    edition = read(body)
    assert [(each.number, each.text, each.flags) for each in edition.passages] == [
        ("1.1", "Dues are paid.", ()),
        ("1.1, footnote 1", "In euro.", ("footnote",)),
        ("1.2", "See rule 1.1.", ()),
    ]


def test_the_title_of_a_page_without_a_first_heading():
    assert read("<p>A rule.</p>").title == "The Rules | Site"
    assert read("<p>A rule.</p>", head="").title == "rules"
    assert read("<p>Before.</p><h1>Later</h1><p>A rule.</p>").title == "Later"


def test_every_word_of_the_content_is_kept_in_order():
    words = [f"word{k}" for k in range(40)]
    parts = [
        f"<{tag}>{word}</{tag}>"
        for word, tag in zip(
            words, ["p", "div", "h2", "b", "span", "blockquote", "li", "td", "em", "section"] * 4, strict=True
        )
    ]
    found = " ".join(filter(None, (f"{each.title} {each.text}" for each in read(" ".join(parts)).passages))).split()
    assert [word for word in found if word.startswith("word")] == words


def test_marks_of_the_program_in_a_page_are_no_marks():
    assert texts("<p>A \ufdd00\ufdd1 rule \ufdd2.") == ["A 0 rule ."]


def test_a_page_without_text_is_refused():
    with pytest.raises(ReadError, match=r"rules.html: holds no text outside navigation"):
        read("<nav>Home</nav><script>x</script>")
