"""Word files as passages. The files are written by python-docx where it can, and by hand."""

from __future__ import annotations

import io

import pytest

from hostile.archives import RULE, W, archive, document
from responsa.corpus import readers
from responsa.corpus.readers.docx_numbering import Numbering
from responsa.errors import ReadError

docx = pytest.importorskip("docx", reason="python-docx, which writes the files, is not installed")
etree = pytest.importorskip("lxml.etree")


def p(text="", settings="", run=""):
    return f"<w:p><w:pPr>{settings}</w:pPr><w:r><w:rPr>{run}</w:rPr><w:t>{text}</w:t></w:r></w:p>"


def listed(level, text, number=1):
    return p(text, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


def level(at, form, text, more=""):
    return (
        f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>{more}<w:lvlText w:val="{text}"/></w:lvl>'
    )


LEGAL = "".join(
    (
        level(0, "decimal", "%1."),
        level(1, "decimal", "%1.%2"),
        level(2, "lowerLetter", "(%3)"),
        level(3, "lowerRoman", "(%4)"),
    )
)


def numbering(levels=LEGAL, nums='<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'):
    return f'<w:numbering xmlns:w="{W}"><w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum>{nums}</w:numbering>'


def read(body, **parts):
    (edition,) = readers.read_bytes(document(body, **parts), "rules.docx")
    return edition


def rows(body, **parts):
    return [(each.number, each.text) for each in read(body, **parts).passages]


def test_a_file_of_python_docx():
    file = docx.Document()
    file.core_properties.title = "Ignored"
    file.add_heading("Harbour Rules", 0)
    file.add_heading("Scope", 1)
    file.add_paragraph("1.1 A Master must:")
    file.add_paragraph("report;", style="List Bullet")
    file.add_paragraph("pay.", style="List Bullet")
    file.add_heading("Dues", 1)
    table = file.add_table(2, 2)
    for at, text in enumerate(("Class", "EUR", "A", "10")):
        table.cell(at // 2, at % 2).text = text
    content = io.BytesIO()
    file.save(content)
    (edition,) = readers.read_bytes(content.getvalue(), "rules.docx")
    assert (edition.document_id, edition.title) == ("rules", "Harbour Rules")
    assert [(each.number, each.kind, each.title, each.text, each.path) for each in edition.passages] == [
        ("Title", "heading", "Harbour Rules", "", ()),
        ("h1", "heading", "Scope", "", ()),
        ("1.1", "text", "", "A Master must:\n• report;\n• pay.", ("Scope",)),
        ("h2", "heading", "Dues", "", ()),
        ("h2.p1", "table", "", "| Class | EUR |\n| --- | --- |\n| A | 10 |", ("Dues",)),
    ]


def test_printed_numbers_are_counted():
    body = "".join(
        (
            listed(0, "Scope"), listed(1, "A Firm must:"), listed(2, "report; and"), listed(2, "pay:"), listed(3, "in cash; or"),
            listed(3, "by card."), listed(1, "It must not hide."), listed(0, "Dues"), listed(1, "Dues are paid:"), listed(2, "now."),
        )
    )  # fmt: skip
    assert rows(body, numbering=numbering()) == [
        ("1", ""), ("1.1", "A Firm must:"), ("1.1(a)", "report; and"), ("1.1(b)", "pay:"), ("1.1(b)(i)", "in cash; or"),
        ("1.1(b)(ii)", "by card."), ("1.2", "It must not hide."), ("2", ""), ("2.1", "Dues are paid:"), ("2.1(a)", "now."),
    ]  # fmt: skip


def labels(levels, calls, nums='<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'):
    counted = Numbering.of(etree.fromstring(numbering(levels, nums)))
    return [counted.label(*call) for call in calls]


@pytest.mark.parametrize(
    ("levels", "calls", "expected"),
    [
        (level(0, "upperRoman", "Part %1"), [0, 0, 0, 0], ["Part I", "Part II", "Part III", "Part IV"]),
        (level(0, "lowerLetter", "%1)"), [0] * 28, [*(f"{chr(97 + k)})" for k in range(26)), "aa)", "bb)"]),
        (level(0, "decimalZero", "%1"), [0] * 10, [f"{k:02}" for k in range(1, 11)]),
        (level(0, "bullet", "\uf0b7"), [0], ["•"]),
        (level(0, "none", ""), [0], [""]),
        # a level below begins anew under each number above
        (LEGAL, [0, 1, 1, 0, 1], ["1.", "1.1", "1.2", "2.", "2.1"]),
        # a level that was left out above counts as one
        (LEGAL, [1, 2, 2, 1], ["1.1", "(a)", "(b)", "1.2"]),
        # never begins anew; or only under the first level
        (
            level(0, "decimal", "%1") + level(1, "decimal", "%2", '<w:lvlRestart w:val="0"/>'),
            [0, 1, 0, 1],
            ["1", "1", "2", "2"],
        ),
        # legal: Arabic numbers even where the level above has Roman ones
        (level(0, "upperRoman", "%1") + level(1, "decimal", "%1.%2", "<w:isLgl/>"), [0, 0, 1], ["I", "II", "2.1"]),
        (LEGAL, [4], [""]),
    ],
)
def test_numbers(levels, calls, expected):
    assert labels(levels, [("1", at) for at in calls]) == expected


def test_lists_that_share_their_numbers_and_one_that_starts_again():
    again = '<w:num w:numId="2"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="3"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>'
    nums = '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>' + again
    calls = [("1", 0), ("2", 0), ("3", 0), ("3", 0), ("1", 0), ("9", 0)]
    assert labels(LEGAL, calls, nums) == ["1.", "2.", "5.", "6.", "7.", ""]


STYLES = f"""<w:styles xmlns:w="{W}">
<w:style w:styleId="Numbered"><w:name w:val="Numbered"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>
<w:style w:styleId="Second"><w:name w:val="Second"/><w:basedOn w:val="Numbered"/><w:pPr><w:numPr><w:ilvl w:val="1"/></w:numPr></w:pPr></w:style>
<w:style w:styleId="Head"><w:name w:val="Clause head"/><w:basedOn w:val="H1"/></w:style>
<w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style>
<w:style w:styleId="Toc"><w:name w:val="toc 1"/></w:style>
<w:style w:styleId="Secret"><w:name w:val="Secret"/><w:rPr><w:vanish/></w:rPr></w:style></w:styles>"""


def styled(style, text):
    return p(text, f'<w:pStyle w:val="{style}"/>')


def test_numbers_and_headings_by_style():
    body = (
        styled("Toc", "Scope 3") + styled("Head", "Scope") + styled("Numbered", "First.") + styled("Second", "Second.")
    )
    edition = read(body, styles=STYLES, numbering=numbering())
    assert [(each.number, each.title, each.text) for each in edition.passages] == [
        ("h1", "Scope", ""),
        ("1", "", "First."),
        ("1.1", "", "Second."),
    ]


CHANGE = 'w:id="1" w:author="x" w:date="2024-01-01T00:00:00Z"'


def test_tracked_changes_are_accepted():
    changed = (
        f"<w:p><w:r><w:t>1.1 A Firm </w:t></w:r><w:del {CHANGE}><w:r><w:delText>may</w:delText></w:r></w:del>"
        f"<w:ins {CHANGE}><w:r><w:t>must</w:t></w:r></w:ins><w:r><w:t> report.</w:t></w:r></w:p>"
    )
    moved = f"<w:moveFrom {CHANGE}><w:r><w:t>gone</w:t></w:r></w:moveFrom>"
    edition = read(changed + f"<w:p>{moved}<w:r><w:t>1.2 It may hide.</w:t></w:r></w:p>" + p("1.3 As ever."))
    assert [(each.number, each.text, each.flags) for each in edition.passages] == [
        ("1.1", "A Firm must report.", ("revised",)),
        ("1.2", "It may hide.", ("revised",)),
        ("1.3", "As ever.", ()),
    ]


def test_a_paragraph_whose_end_was_deleted_goes_on_in_the_next():
    ended = f"<w:p><w:pPr><w:rPr><w:del {CHANGE}/></w:rPr></w:pPr><w:r><w:t>1.1 A Firm </w:t></w:r></w:p>"
    assert rows(ended + p("must report.")) == [("1.1", "A Firm must report.")]


def test_a_deleted_row_is_left_out():
    def row(text, settings=""):
        return f"<w:tr><w:trPr>{settings}</w:trPr>" + f"<w:tc>{p(text)}</w:tc>" * 2 + "</w:tr>"

    table = f"<w:tbl>{row('a')}{row('gone', f'<w:del {CHANGE}/>')}{row('b')}</w:tbl>"
    assert rows(table) == [("p1", "| a | a |\n| --- | --- |\n| b | b |")]


@pytest.mark.parametrize(
    ("run", "settings"),
    [
        ("<w:vanish/>", ""), ('<w:color w:val="FFFFFF"/>', ""), ('<w:sz w:val="2"/>', ""), ("", '<w:pStyle w:val="Secret"/>'),
        ('<w:rStyle w:val="Secret"/>', ""),
    ],
)  # fmt: skip
def test_hidden_words_are_kept_and_flagged(run, settings):
    edition = read(p("1.1 A Firm must report.") + p("Not seen.", settings, run), styles=STYLES)
    assert [(each.number, each.text, each.flags) for each in edition.passages] == [
        ("1.1", "A Firm must report.", ()),
        ("1.1, hidden 1", "Not seen.", ("hidden",)),
    ]


@pytest.mark.parametrize(
    "run", ['<w:vanish w:val="0"/>', '<w:color w:val="FFFFFF"/><w:highlight w:val="black"/>', '<w:sz w:val="20"/>']
)
def test_words_that_are_seen(run):
    assert rows(p("1.1 Seen.", run=run)) == [("1.1", "Seen.")]


def test_footnotes_stand_below_their_passage():
    mark = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    notes = f'<w:footnotes xmlns:w="{W}"><w:footnote w:id="2">{p("A note.")}{p("More.")}</w:footnote></w:footnotes>'
    edition = read(f"<w:p><w:r><w:t>1.1 A Firm</w:t></w:r>{mark}<w:r><w:t> must.</w:t></w:r></w:p>", footnotes=notes)
    assert [(each.number, each.text, each.flags) for each in edition.passages] == [
        ("1.1", "A Firm must.", ()),
        ("1.1, footnote 1", "A note.\nMore.", ("footnote",)),
    ]


def test_cells_over_several_columns_and_rows():
    def cell(text, settings=""):
        return f"<w:tc><w:tcPr>{settings}</w:tcPr>{p(text)}</w:tc>"

    first, wide = '<w:vMerge w:val="restart"/>', '<w:gridSpan w:val="2"/>'
    table = (
        f"<w:tbl><w:tr>{cell('a', first)}{cell('b', wide)}</w:tr>"
        f"<w:tr>{cell('', '<w:vMerge/>')}{cell('c')}{cell('d|e')}</w:tr></w:tbl>"
    )
    assert rows(p("1.1 The table:") + table) == [
        ("1.1", "The table:"),
        ("1.1, table 1", "| a | b |  |\n| --- | --- | --- |\n|  | c | d\\|e |"),
    ]


def test_a_frame_of_one_cell_is_read_through():
    assert rows(f"<w:tbl><w:tr><w:tc>{p('1.1 One.')}{p('1.2 Two.')}</w:tc></w:tr></w:tbl>") == [
        ("1.1", "One."),
        ("1.2", "Two."),
    ]


def test_text_boxes_once_and_what_wraps_text():
    choice = f"<mc:Choice Requires='wps'><w:txbxContent>{p('1.2 Boxed.')}</w:txbxContent></mc:Choice>"
    fallback = f"<mc:Fallback><w:txbxContent>{p('1.2 Boxed.')}</w:txbxContent></mc:Fallback>"
    box = (
        "<w:p><w:r><w:t>1.1 Around.</w:t></w:r><w:r><mc:AlternateContent xmlns:mc="
        f'"http://schemas.openxmlformats.org/markup-compatibility/2006">{choice}{fallback}</mc:AlternateContent></w:r></w:p>'
    )
    wrapped = f"<w:sdt><w:sdtContent>{p('1.3 Wrapped.')}</w:sdtContent></w:sdt>"
    linked = "<w:p><w:hyperlink><w:r><w:t>1.4 Linked</w:t></w:r></w:hyperlink><w:r><w:tab/><w:instrText>PAGE</w:instrText><w:t>on.</w:t></w:r></w:p>"
    assert rows(box + wrapped + linked) == [
        ("1.1", "Around."),
        ("1.2", "Boxed."),
        ("1.3", "Wrapped."),
        ("1.4", "Linked on."),
    ]


def test_the_title_of_the_file():
    core = '<c xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Rules of 2020</dc:title></c>'
    parts = {"word/document.xml": f'<w:document xmlns:w="{W}"><w:body>{RULE}</w:body></w:document>'}
    for more, title in (({"docProps/core.xml": core}, "Rules of 2020"), ({}, "rules")):
        (edition,) = readers.read_bytes(archive({**parts, **more}), "rules.docx")
        assert edition.title == title


@pytest.mark.parametrize("content", [b"PK\x03\x04", b"no archive"])
def test_what_is_no_archive_is_refused(content):
    with pytest.raises(ReadError, match=r"rules.docx: is cut off or damaged"):
        readers.read_bytes(content, "rules.docx")
