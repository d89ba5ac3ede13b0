"""XML and HTML."""

from __future__ import annotations

FORMEX = '<?xml version="1.0" encoding="UTF-8"?>\n{prolog}<ACT><TITLE><TI><P>{text}</P></TI></TITLE></ACT>'
LAUGHS = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 10))


ACT = b"""<?xml version="1.0" encoding="UTF-8"?><CONS.ACT><INFO.CONSLEG START.DATE="20290101" END.DATE="20301231"/><CONS.DOC>
<BIB.INSTANCE><DATE ISO="20280605">x</DATE></BIB.INSTANCE><FAM.COMP><BIB.DATA><NO.CELEX>32028R0077</NO.CELEX></BIB.DATA>
</FAM.COMP><TITLE><TI><P>Regulation (EU) 2028/77</P></TI></TITLE><PREAMBLE/><ENACTING.TERMS><DIVISION><TITLE><TI><P>PART ONE
</P></TI></TITLE><ARTICLE><TI.ART>Article 1</TI.ART><STI.ART>Weight</STI.ART><PARAG><NO.PARAG>1.</NO.PARAG><ALINEA>A baker
shall:<LIST TYPE="alpha"><ITEM><NP><NO.P>(a)</NO.P><TXT>weigh<NOTE NOTE.ID="E1"><P>A note.</P></NOTE> it.</TXT></NP></ITEM>
</LIST></ALINEA></PARAG></ARTICLE></DIVISION></ENACTING.TERMS><FINAL/></CONS.DOC></CONS.ACT>"""
EURLEX = b"""<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>Consolidated TEXT:
32028R0077 - EN - 01.02.2029</title></head><body><p class="title-doc-first">REGULATION (EU) 2028/77</p>
<p class="title-division-1">PART ONE</p><p class="title-article-norm">Article 3a</p><p class="stitle-article-norm">Weight</p>
<div class="norm"><span class="no-parag">1.  </span><div class="norm inline-element">A baker shall weigh it.</div></div>
<table><tr><td>a</td><td>b</td></tr></table><p class="norm">The guild may check.</p></body></html>"""


def page(body: str, head: str = "<title>Rules</title>") -> bytes:
    return f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>".encode()


def xml(prolog: str, text: str = "x") -> bytes:
    return FORMEX.format(prolog=prolog, text=text).encode()


def files() -> dict[str, tuple[bytes, str]]:
    return {**_xml(), **_html()}


def _xml() -> dict[str, tuple[bytes, str]]:
    own = "defines names of its own"
    return {
        "empty.xml": (b"", "is empty"),
        "laughs.xml": (xml(f'<!DOCTYPE ACT [<!ENTITY l0 "ha">{LAUGHS}]>', "&l9;"), own),
        "quadratic.xml": (xml(f'<!DOCTYPE ACT [<!ENTITY a "{"a" * 50_000}">]>', "&a;" * 5_000), own),
        "external-file.xml": (xml('<!DOCTYPE ACT [<!ENTITY x SYSTEM "file:///etc/passwd">]>', "&x;"), own),
        "external-net.xml": (xml('<!DOCTYPE ACT [<!ENTITY x SYSTEM "http://127.0.0.1:9/x">]>', "&x;"), own),
        "parameter.xml": (xml('<!DOCTYPE ACT [<!ENTITY % x SYSTEM "file:///etc/passwd"> %x;]>'), own),
        "entity-loop.xml": (xml('<!DOCTYPE ACT [<!ENTITY a "&b;"><!ENTITY b "&a;">]>', "&a;"), own),
        "external-dtd.xml": (xml('<!DOCTYPE ACT SYSTEM "file:///etc/passwd">'), "no enacting terms|no reader knows"),
        "utf-16-laughs.xml": (
            xml('<!DOCTYPE ACT [<!ENTITY a "b">]>', "&a;").decode().replace("UTF-8", "UTF-16").encode("utf-16"),
            "UTF-16",
        ),
        "utf-7.xml": (xml("").replace(b"UTF-8", b"UTF-7"), "no enacting terms|no reader knows|not encoded"),
        "late-definitions.xml": (xml("<!--" + "x" * 200_000 + '--><!DOCTYPE ACT [<!ENTITY a "b">]>', "&a;"), own),
        "include.xml": (
            xml("", '<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file:///etc/passwd" parse="text"/>'),
            "no enacting terms|no reader knows",
        ),
        "deep.xml": (b"<a>" * 10_000 + b"</a>" * 10_000, "nested too deeply"),
        "cut.xml": (xml("")[:-20], "cut off or damaged"),
        "unknown-name.xml": (xml("", "&nowhere;"), "not defined|nobody defines"),
        "control-characters.xml": (xml("", "\x01\x02"), "not well-formed"),
        "nul.xml": (xml("", "\0"), "is binary: NUL"),
        "pdf-inside.xml": (b"%PDF-1.7\n%\xe2\xe3", "not well-formed"),
        "many-attributes.xml": (
            ("<ACT " + " ".join(f'a{k}="1"' for k in range(50_000)) + "/>").encode(),
            "no enacting terms|no reader knows",
        ),
        "long-name.xml": (b"<" + b"a" * 100_000 + b"/>", "not well-formed"),
    }


def _html() -> dict[str, tuple[bytes, str]]:
    rule = "<p>1.1 A Firm must keep records.</p>"
    return {
        "empty.html": (b"", "is empty"),
        "deep.html": (page("<div>" * 10_000 + "x" + "</div>" * 10_000), "nested too deeply"),
        "deep-lists.html": (page("<ol><li>" * 5_000 + "x"), "nested too deeply"),
        "deep-tables.html": (page("<table><tr><td>" * 3_000 + "x"), "nested too deeply"),
        "deep-bold.html": (page("<b>" * 10_000 + "x"), "nested too deeply"),
        "scripts-only.html": (page("<script>while(1){}</script><nav>Home</nav>"), "no text outside navigation"),
        "cut.html": (page(rule)[:-30], "cut off"),
        "nul.html": (page(rule + "\0"), "is binary: NUL"),
        "utf-16.html": (page(rule).decode().encode("utf-16"), "UTF-16"),
        "entities.html": (page("&#0;&#xD800;&#x110000;&nosuch;" + rule), ""),
        "definitions.html": (b'<!DOCTYPE html [<!ENTITY a "b">]>' + page(rule), "defines names of its own"),
        "word-inside.html": (b"PK\x03\x04" + bytes(range(256)) + b"</html>", "is binary: NUL"),
        "huge-spans.html": (
            page("<table>" + '<tr><td colspan="99999999" rowspan="99999999">a</td><td>b</td></tr>' * 300 + "</table>"),
            "",
        ),
        "many-cells.html": (page("<table>" + ("<tr>" + "<td>1" * 100) * 300 + "</table>"), ""),
        "many-paragraphs.html": (page("<p>A rule." * 5_000), ""),
        "style-bomb.html": (page(rule, "<style>" + "a" * 400_000 + "{" * 1_000 + ".a,"*50_000 + "</style>"), ""),
        "long-attribute.html": (page(f'<p style="{"a:b;" * 300_000}">A rule.</p>'), ""),
        "note-loop.html": (page('<p id="n">A<sup><a href="#n">1</a></sup> rule.</p><p id="m"><sup><a href="#m">2</a></sup></p>'), ""),
        "start-number.html": (page('<ol start="99999999999999999999"><li value="-5">A rule.</li><li>Another.</li></ol>'), ""),
        "marks.html": (page("<p>A rule with \ufdd00\ufdd1 and \ufdd2 in it, and \ufdd0999\ufdd1.</p>"), ""),
        "path-title.html": (page("<h1>../../../etc/passwd</h1>" + rule), ""),
        "external.html": (
            page('<iframe src="file:///etc/passwd"></iframe><img src="http://127.0.0.1:9/x.png">' + rule,
                 '<base href="http://127.0.0.1:9/"><link rel="stylesheet" href="http://127.0.0.1:9/x.css">'),
            "",
        ),
        "frames.xhtml": (b'<html xmlns="http://www.w3.org/1999/xhtml"><body><p>open</body></html>', "cut off or damaged"),
    }  # fmt: skip
