"""XML and HTML that nobody should trust: refused with a reason, never expanded, never fetched."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from responsa.corpus.readers import read_bytes
from responsa.errors import ReadError

BOMB = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]>'
PARAMETER = '<!DOCTYPE x [<!ENTITY % a SYSTEM "http://127.0.0.1:9/x.dtd"> %a;]>'
ACT = (
    "<CONS.ACT><INFO.CONSLEG START.DATE='20290101'/><CONS.DOC><FAM.COMP><BIB.DATA><NO.CELEX>32028R0077</NO.CELEX></BIB.DATA></FAM.COMP>"
    "<ENACTING.TERMS><ARTICLE><TI.ART>Article 1</TI.ART><ALINEA>{}</ALINEA></ARTICLE></ENACTING.TERMS></CONS.DOC></CONS.ACT>"
)
PAGE = (
    "<html><head><title>Consolidated TEXT: 32028R0077 — EN — 01.02.2029</title></head><body>"
    "<p class='title-article-norm'>Article 1</p>{}</body></html>"
)


def refused(content: str | bytes, name: str) -> str:
    with pytest.raises(ReadError) as caught:
        read_bytes(content.encode() if isinstance(content, str) else content, name)
    message = str(caught.value)
    assert message.startswith(f"{name}: ")
    assert len(message) < 400
    return message


def nested(tag: str, depth: int) -> str:
    return f"<{tag}>" * depth + "deep" + f"</{tag}>" * depth


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "is empty"),
        (" \n ", "is empty"),
        ("<x>a\0b</x>", "is binary: NUL at byte 4"),
        ("just words", "is not well-formed"),
        ("<rules><rule>Be good.</rule></rules>", "is XML (its root element is 'rules') that no reader knows; XML is read from: Formex"),
        (ACT.format("Bake.")[:180], "is cut off or damaged"),
        (ACT.format("Bake.").replace("</ALINEA>", ""), "is cut off or damaged"),
        (BOMB + ACT.format("&b;"), "defines names of its own"),
        (OUTSIDE + ACT.format("&a;"), "defines names of its own"),
        (PARAMETER + ACT.format("Bake."), "defines names of its own"),
        (ACT.format("Bake &unknown; it."), "is not well-formed"),
        (ACT.format(nested("HT", 10_000)), "is nested too deeply"),
        (ACT.format(nested("HT", 220)), "is nested too deeply"),
        ("<x>" * 10_000, "is nested too deeply"),
        (b'<?xml version="1.0" encoding="utf-8"?>' + ACT.format("caf\xe9").encode("latin-1"), "is not encoded as it says"),
        ('<?xml version="1.0" encoding="no-such"?><x/>', "is not encoded as it says"),
        (ACT.format("Bake.").encode("utf-16"), "is encoded as UTF-16"),
        ("%PDF-1.7 not XML at all", "is not well-formed"),
    ],
)  # fmt: skip
def test_xml_that_is_refused(content, says):
    assert says in refused(content, "law.xml")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "is empty"),
        (PAGE.format("<p class='norm'>Bake.</p>")[:-20], "is cut off: there is no </html>"),
        (BOMB + PAGE.format("&b;"), "defines names of its own"),
        (PAGE.format(nested("div", 10_000)), "is nested too deeply"),
        ("<html>\0</html>", "is binary"),
        (PAGE.format("<p class='norm'>caf\xe9</p>").replace("—", "-").encode("latin-1"), "is not encoded as it says"),
        (PAGE.format("<meta charset='no-such'>"), "is not encoded as it says"),
        ("<html></html>" + "<!---->" * 250 + "x", "is cut off"),
        ('<?xml version="1.0"?>' + PAGE.format("<p>Bake.")[:150], "is cut off or damaged"),
        (
            '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><p>&nosuch;</p></html>',
            "is not well-formed",
        ),
    ],
)
def test_html_that_is_refused(content, says):
    assert says in refused(content, "page.html")


def test_names_of_html_become_their_characters_without_any_definition_file():
    head = '<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML//EN" "xhtml-strict.dtd">'
    content = head + PAGE.format("<p class='norm'>Bake&nbsp;caf&eacute;s &amp; <i>b&uuml;ns</i>&nbsp;.</p>")
    (edition,) = read_bytes(content.encode(), "page.html")
    assert edition.passages[-1].text == "Bake cafés & büns ."


def test_a_page_in_the_encoding_that_it_names_is_read():
    content = PAGE.replace("<head>", "<head><meta http-equiv='Content-Type' content='text/html; charset=iso-8859-1'>")
    content = content.format("<p class='norm'>caf\xe9</p>").replace("—", "-")
    (edition,) = read_bytes(content.encode("latin-1"), "page.html")
    assert edition.passages[-1].text == "caf\xe9"
    declared = '<?xml version="1.0" encoding="iso-8859-1"?>' + ACT.format("caf\xe9")
    (edition,) = read_bytes(declared.encode("latin-1"), "law.xml")
    assert edition.passages[-1].text == "caf\xe9"


def test_a_page_named_xml_is_read_as_the_page_that_it_is():
    content = PAGE.format("<p class='norm'>Bake.</p>")
    (edition,) = read_bytes(content.encode(), "page.xml")
    assert edition.document_id == "32028R0077"


_TREE = st.recursive(
    st.sampled_from(["x", "(a)", "1.", "<IE/>", "<?CLG.MDFO ID='1' ACTION='DELETED'?>", "<?CLG.MDFC ID='C' IDREF='1'?>"]),
    lambda inner: st.tuples(
        st.sampled_from(["P", "LIST", "ITEM", "NP", "NO.P", "TXT", "TBL", "CORPUS", "ROW", "CELL", "DLIST", "DLIST.ITEM", "TERM",
                         "QUOT.S", "ARTICLE", "TI.ART", "NOTE", "FORMULA", "SUM", "QUOT.START", "GR.SEQ", "TITLE", "TI", "PARAG"]),
        st.lists(inner, max_size=3),
    ).map(lambda pair: f"<{pair[0]}>{''.join(pair[1])}</{pair[0]}>"),
    max_leaves=15,
)  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(_TREE, max_size=4))
def test_any_formex_is_read_or_refused(parts):
    with contextlib.suppress(ReadError):
        read_bytes(ACT.format("".join(parts)).encode(), "law.xml")


_HTML = st.recursive(
    st.sampled_from(["x", "(a)", "1.  y", "—", "<br>", "<img>", "►M1"]),
    lambda inner: st.tuples(
        st.sampled_from(["p class='norm'", "p class='list'", "div", "div style='text-indent: 1pt'", "table", "tr", "td", "span",
                         "div class='grid-container'", "p class='title-article-norm'", "p class='title-annex-1'", "p class='modref'",
                         "p class='title-division-1'", "p class='title-gr-seq-level-1'", "p class='title-article-quoted'", "a href='#E1'",
                         "p class='footnote'", "div class='preamble'", "div class='norm'", "span class='no-parag'"]),
        st.lists(inner, max_size=3),
    ).map(lambda pair: f"<{pair[0]}>{''.join(pair[1])}</{pair[0].split()[0]}>"),
    max_leaves=15,
)  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(_HTML, max_size=4))
def test_any_page_is_read_or_refused(parts):
    with contextlib.suppress(ReadError):
        read_bytes(PAGE.format("".join(parts)).encode(), "page.html")
