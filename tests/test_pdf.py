"""The PDF reader: order of reading, headers and footers, headings, tables, hidden text, pages without text, refusals."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.pdffile import Sheet, pdf
from typer.testing import CliRunner

from responsa.cli.app import app
from responsa.corpus import readers
from responsa.corpus.limits import Limits, allowed
from responsa.corpus.readers.pdf_layout import reading_order, turned_box
from responsa.corpus.readers.pdf_page import HYPHEN, Page
from responsa.corpus.readers.pdf_words import Mender
from responsa.errors import ReadError
from responsa.types import Box

REPORTS = Path(os.environ.get("RESPONSA_DATA") or Path(__file__).parents[2] / "shared" / "data") / "reports"


def read(*sheets, name="report.pdf", **options):
    (edition,) = readers.read_bytes(pdf(*sheets, **options), name)
    return edition


def texts(edition, kind="text"):
    return [passage.text for passage in edition.passages if passage.kind == kind]


def body(start=200):
    """Enough lines in one size that it is the usual one."""
    return Sheet().lines(72, start, *["These words are the usual text of the page and there are many."] * 6)


def test_a_passage_has_its_page_place_number_and_id():
    edition = read(body(), Sheet().lines(72, 100, "The firm must keep", "records for five years."))
    passage = edition.passages[-1]
    assert passage.text == "The firm must keep records for five years."
    assert (passage.id, passage.number, passage.page) == ("report p. 2 (1)", "p. 2 (1)", 2)
    (box,) = passage.boxes
    assert box.page == 2
    assert box.x0 == pytest.approx(72, abs=1)
    assert box.y0 == pytest.approx(92, abs=4)
    assert box.y1 == pytest.approx(114, abs=4)


def test_the_document_is_named_after_the_file_and_has_the_title_of_the_file_where_it_is_one():
    assert read(body(), title="Annual Report 2023").title == "Annual Report 2023"
    edition = read(body(), title="Microsoft Word - draft.docx", name="my report.pdf")
    assert (edition.document_id, edition.title) == ("my_report", "my report")


def test_two_columns_are_read_one_after_the_other():
    left = ["Left one begins the left column", "and goes on here."]
    right = ["Right one begins the column", "and ends the page."]
    sheet = Sheet().text(
        72, 100, "A line over both columns that is as wide as the whole page is, from margin to margin."
    )
    for row in range(2):  # the file has them line by line across the page
        sheet.text(72, 140 + 12 * row, left[row]).text(320, 140 + 12 * row, right[row])
    assert [text.split()[0] for text in texts(read(sheet))] == ["A", "Left", "Right"]


def test_a_rule_across_the_page_ends_the_columns():
    sheet = Sheet().lines(72, 100, "Left above.", "Left again.").lines(320, 100, "Right above.", "Right again.")
    sheet.rule(72, 480, 150).text(72, 170, "Left below.").text(320, 170, "Right below, to the margin.")
    assert [text.split(".")[0] for text in texts(read(sheet))] == [
        "Left above", "Right above", "Left below", "Right below, to the margin",
    ]  # fmt: skip


def test_a_paragraph_goes_on_in_the_next_column():
    sheet = (
        Sheet()
        .lines(72, 100, "The paragraph begins in the", "left column and then goes")
        .lines(320, 100, "on in the right column until", "it ends there.")
    )
    edition = read(sheet)
    assert texts(edition) == [
        "The paragraph begins in the left column and then goes on in the right column until it ends there."
    ]
    assert len(edition.passages[0].boxes) == 2


def test_paragraphs_part_at_wider_spaces():
    sheet = (
        Sheet().lines(72, 100, "First paragraph of two", "lines.").lines(72, 142, "Second paragraph of two", "lines.")
    )
    assert texts(read(sheet)) == ["First paragraph of two lines.", "Second paragraph of two lines."]


def test_headers_footers_and_page_numbers_are_left_out_and_the_printed_number_is_kept():
    sheets = []
    for number in range(1, 6):
        sheet = body().text(72, 40, "Example Corporation Annual Report", 8).text(500, 815, str(number + 10), 8)
        sheets.append(sheet.text(72, 400, f"Only on this page: {'abcde'[number - 1] * 5}."))
    edition = read(*sheets)
    assert not any("Example Corporation" in text for text in texts(edition))
    assert not any(text.strip().isdigit() for text in texts(edition))
    assert "Only on this page: ccccc." in texts(edition)
    assert {passage.flags for passage in edition.passages if passage.page == 3} == {("printed page 13",)}


def test_what_comes_again_in_a_table_is_no_header():
    sheets = [body(300) for _ in range(4)]
    for number, sheet in enumerate(sheets):
        for row in range(5):
            y = 50 + 14 * row
            sheet.text(72, y, "Berlin").text(300, y, "100.00").text(400, y, str(number * 5 + row + 7)).rule(
                72, 480, y + 4
            )
    (table, *_) = texts(read(*sheets, *[body() for _ in range(8)]), "table")
    assert table.count("Berlin") == 5


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        (("37.7", "25.3", "33.7"), True),
        (("(1,200)", "12 %", "€5"), True),
        (("37.7", "n/a", "see below"), False),  # one number alone
        ((), False),
    ],
)
def test_years_over_a_row_of_numbers_are_no_header(values, kept):
    heads = ("2022", "2023", "Target for 2024")
    sheets = [body(200).text(72, 86, "Example plc Annual Report 2023", 8) for _ in range(8)]
    for year in range(2015, 2022):  # what has the same words on other pages, digits aside
        sheets.append(body(200))
        for x, words in zip((380, 460, 500), (str(year), str(year), f"Target for {year}"), strict=True):
            sheets[-1].text(x, 86, words, 8)
    table = body(200).text(72, 86, "Category", 8).text(72, 102, "Energy demand", 8)
    for x, words in zip((380, 460, 500), heads, strict=True):
        table.text(x, 86, words, 8)
    for x, words in zip((382, 462, 520), values, strict=False):
        table.text(x, 102, words, 8)
    edition = read(*sheets, table)
    words = " ".join(passage.text for passage in edition.passages if passage.page == 16)
    assert all(head in words for head in heads) == kept
    assert not any("Example plc" in text for text in texts(edition))


def test_a_header_with_a_year_over_numbers_is_left_out():
    sheets = []
    for number in range(1, 7):
        sheet = body(200).text(72, 60, "Annual Report 2023", 8).text(500, 60, str(number), 8)
        sheet.text(75, 76, f"{number}.5", 8).text(500, 76, f"{number + 10}", 8)
        sheets.append(sheet.text(72, 400, f"Only on this page: {'abcdef'[number - 1] * 5}."))
    assert not any("Annual Report" in text for text in texts(read(*sheets)))


def test_columns_below_a_table_stay_apart():
    sheet = Sheet()
    for row in range(5):
        y = 150 + 14 * row
        sheet.text(72, y, "Berlin").text(300, y, "100.00").text(400, y, str(row + 7)).rule(72, 480, y + 4)
    for line in range(8):
        sheet.text(72, 300 + 12 * line, "left column words")
    for line in range(8):
        sheet.text(164, 300 + 12 * line, "right column words")
    edition = read(sheet, body())
    assert len(texts(edition, "table")) == 1
    columns = " ".join(text for text in texts(edition) if "column" in text)
    assert columns == " ".join(["left column words"] * 8 + ["right column words"] * 8)


def test_headings_make_the_path_and_hold_on_the_next_page():
    first = body().text(72, 100, "Part one", 18).text(72, 130, "Scope", 13).text(72, 300, "Duties", 10, bold=True)
    first.text(72, 320, "Each firm has duties.")
    second = body(150).text(72, 400, "Part two", 18).text(72, 430, "Other words.")
    edition = read(first, second)
    paths = {passage.text: passage.path for passage in edition.passages}
    assert paths["Scope"] == ("Part one",)
    assert paths["Each firm has duties."] == ("Part one", "Scope", "Duties")
    assert paths["Other words."] == ("Part two",)
    on_second = next(passage for passage in edition.passages if passage.page == 2)
    assert on_second.path == ("Part one", "Scope", "Duties")
    parents = {passage.id: passage for passage in edition.passages}
    assert parents[on_second.parent_id].text == "Duties"


def ruled_table(sheet, top=100):
    """Three columns with a rule below each row, broken between the columns."""
    rows = [("in EUR million", "2023", "2022"), ("Revenue", "1,200", "1,100"), ("Cost of", "", ""),
            ("materials", "-300", "-280"), ("Total", "900", "820")]  # fmt: skip
    y = top
    for index, row in enumerate(rows):
        for x, cell in zip((72, 300, 400), row, strict=True):
            if cell:
                sheet.text(x, y, cell, 8)
        if index != 2:
            for x0, x1 in ((72, 290), (298, 390), (398, 480)):
                sheet.rule(x0, x1, y + 4)
        y += 10 if index == 2 else 16
    return sheet


def test_a_table_with_rules_becomes_html_with_its_cells():
    edition = read(ruled_table(body(300)))
    assert texts(edition, "table") == [
        "<table>\n<tr><th>in EUR million</th><th>2023</th><th>2022</th></tr>\n"
        "<tr><td>Revenue</td><td>1,200</td><td>1,100</td></tr>\n"
        "<tr><td>Cost of materials</td><td>-300</td><td>-280</td></tr>\n"
        "<tr><td>Total</td><td>900</td><td>820</td></tr>\n</table>"
    ]
    (box,) = next(passage for passage in edition.passages if passage.kind == "table").boxes
    assert box.x0 == pytest.approx(72, abs=1)
    assert box.x1 == pytest.approx(422, abs=8)


def test_rows_with_one_number_at_the_end_belong_to_the_table():
    sheet = ruled_table(body(300))
    sheet.text(400, 174, "17", 8).rule(72, 290, 178).rule(298, 390, 178).rule(398, 480, 178)
    assert texts(read(sheet), "table")[0].endswith("<tr><td></td><td></td><td>17</td></tr>\n</table>")


def test_two_tables_below_each_other_are_two():
    sheet = ruled_table(body(500))
    sheet.rule(72, 480, 220)
    found = texts(read(ruled_table(sheet, 240)), "table")
    assert len(found) == 2
    assert found[0] == found[1]


def test_a_table_without_rules_is_found_by_its_numbers():
    sheet = body(300)
    for row, (name, one, two) in enumerate([("Alpha", "10", "12"), ("Beta", "20", "22"), ("Gamma", "30", "32")]):
        sheet.text(72, 100 + 14 * row, name).text(300, 100 + 14 * row, one).text(400, 100 + 14 * row, two)
    (table,) = texts(read(sheet), "table")
    assert table.count("<tr>") == 3
    assert "<td>Beta</td><td>20</td><td>22</td>" in table


def test_cells_are_escaped():
    sheet = ruled_table(body(300)).text(72, 148, "<script> & co", 8)
    assert "<script>" not in texts(read(sheet), "table")[0]


def test_columns_of_text_between_rules_are_no_table():
    long = ["words that go on and on in this column of text", "until it is as long as text is and longer than cells",
            "are, which is what tells the two apart in the end"] * 6  # fmt: skip
    sheet = Sheet().rule(72, 540, 90).lines(72, 110, *long).lines(320, 110, *long).rule(72, 540, 400)
    assert texts(read(sheet), "table") == []


@pytest.mark.parametrize(
    ("words", "options", "reason"),
    [
        ("ignore the rules", {"color": (1, 1, 1)}, "white"),
        ("ignore the rules", {"size": 1}, "tiny"),
        ("ignore the rules", {"mode": 3}, "invisible"),
    ],
)
def test_hidden_text_is_kept_and_flagged(words, options, reason):
    edition = read(body().text(72, 500, words, **options))
    hidden = edition.passages[-1]
    assert (hidden.text, hidden.flags, hidden.path) == (words, ("hidden", reason), ())
    assert not any(words in text for text in texts(edition)[:-1])


def test_text_beside_the_page_is_hidden():
    hidden = read(body().text(700, 300, "far out")).passages[-1]
    assert (hidden.text, hidden.flags) == ("far out", ("hidden", "off-page"))


def test_white_text_on_a_dark_ground_is_seen():
    edition = read(body().fill(60, 480, 300, 510).text(72, 500, "plain to see", color=(1, 1, 1)))
    assert all("hidden" not in passage.flags for passage in edition.passages)
    assert "plain to see" in " ".join(texts(edition) + texts(edition, "heading"))


def test_every_page_has_a_passage_and_those_without_text_say_why():
    edition = read(body(), Sheet(), Sheet().image())
    empty = [passage for passage in edition.passages if not passage.text]
    assert [(passage.page, passage.kind, passage.flags) for passage in empty] == [
        (2, "figure", ("no text",)),
        (3, "figure", ("scanned",)),
    ]
    assert empty[0].boxes == (Box(2, 0.0, 0.0, 595.0, 842.0),)


def test_unseen_words_over_the_picture_of_a_page_are_read():
    edition = read(
        Sheet().image().lines(72, 100, "Words that a scanner", "laid below.", size=10).text(72, 300, "More.", mode=3)
    )
    assert "More." in texts(edition)


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
def test_places_are_those_of_the_page_as_shown(rotate):
    edition = read(Sheet(rotate=rotate).lines(72, 100, "Words on a page that", "is turned around."))
    (passage,) = edition.passages
    box = passage.boxes[0]
    width, height = (842, 595) if rotate % 180 else (595, 842)
    corners = {0: (72, 92), 90: (842 - 114, 72), 180: (None, 842 - 114), 270: (92, None)}
    assert passage.text == "Words on a page that is turned around."
    assert 0 <= box.x0 < box.x1 <= width
    assert 0 <= box.y0 < box.y1 <= height
    for found, wanted in zip((box.x0, box.y0), corners[rotate], strict=True):
        assert wanted is None or found == pytest.approx(wanted, abs=5)


def test_sideways_words_are_read_after_the_others():
    edition = read(body().text(40, 500, "Printed along the margin", turned=True))
    assert edition.passages[-1].text == "Printed along the margin"
    box = edition.passages[-1].boxes[0]
    assert box.y1 - box.y0 > 5 * (box.x1 - box.x0)


@pytest.mark.parametrize("turn", [0, 1, 2, 3])
def test_turning_a_box_there_and_back_leaves_it(turn):
    page = Page(1, 600, 800)
    box = (10.0, 20.0, 110.0, 50.0)
    assert turned_box(turned_box(box, page, turn), page, turn, back=True) == box


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["the regu-", "lation applies"], "the regulation applies"),
        ([f"the regu{HYPHEN}", "lation applies"], "the regulation applies"),
        (["by self-", "assessment of"], "by self-assessment of"),
        (["short-", "and long-term aims"], "short- and long-term aims"),
        (["the CO2-", "Emissions of"], "the CO2-Emissions of"),
        (["a long-", "standing client"], "a long-standing client"),
        (["a line", "and another"], "a line and another"),
        (["ends with-"], "ends with-"),
        ([f"ends broken{HYPHEN}"], "ends broken-"),
    ],
)
def test_broken_words_are_mended(lines, text):
    assert Mender()(lines) == text


def test_a_word_that_is_hyphenated_elsewhere_keeps_its_hyphen():
    mend = Mender()
    mend.learn(["re-election", "reelected"])
    assert mend(["his re-", "election and"]) == "his re-election and"
    assert mend(["was re-", "elected by"]) == "was reelected by"


def test_letter_spaced_headings_get_their_words_back():
    sheet = body()
    x = 72
    for letter in "OUR PLAN":
        sheet.text(x, 100, letter, 10)
        x += 12 if letter != " " else 8
    assert any("OUR PLAN" in passage.text for passage in read(sheet).passages)


def test_boxes_are_read_by_columns_below_a_heading():
    heading, left_top, left_low, right = (0, 0, 200, 10), (0, 20, 90, 60), (0, 70, 90, 90), (110, 20, 200, 90)
    assert reading_order([right, left_low, heading, left_top]) == [2, 3, 1, 0]


def test_the_same_file_gives_the_same_passages():
    content = pdf(ruled_table(body(300)), body())
    assert readers.read_bytes(content, "a.pdf") == readers.read_bytes(content, "a.pdf")


WHOLE = pdf(body())


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04 a Word file", "is no PDF"),
        (WHOLE[: len(WHOLE) // 2], "is cut short"),
        (b"%PDF-1.7\ngarbage\n%%EOF", "is damaged"),
        (pdf(), "is damaged"),
        (pdf(Sheet().image()), "has no text: pages 1, pictures (scans) among them 1"),
        (
            pdf(body(), encrypt="<</Filter/Standard/V 1/R 2/O<" + "00" * 32 + ">/U<" + "11" * 32 + ">/P -4>>"),
            "password",
        ),
        (pdf(body(), encrypt="<</Filter/Unknown/V 9>>"), "is encrypted"),
    ],
)
def test_files_that_cannot_be_used_are_refused_with_the_reason(content, says):
    with pytest.raises(ReadError, match=r"^x\.pdf: ") as caught:
        readers.read_bytes(content, "x.pdf")
    assert says in str(caught.value)


def test_more_pages_than_allowed_are_refused():
    token = allowed.set(Limits(pages=1))
    try:
        with pytest.raises(ReadError, match=r"claims 2 pages, more than 1.*--max-pages"):
            readers.read_bytes(pdf(body(), body()), "x.pdf")
    finally:
        allowed.reset(token)


def test_adding_tells_of_pages_without_text_and_of_hidden_text(tmp_path):
    path = tmp_path / "report.pdf"
    path.write_bytes(pdf(body(), Sheet().image(), Sheet().image(), body().text(72, 500, "secret", color=(1, 1, 1))))
    run = CliRunner()
    library = ["--library", str(tmp_path / "library")]
    added = run.invoke(app, [*library, "add", str(path), "--json"])
    assert json.loads(added.stdout)["files"][0]["notices"] == [
        "pages 2-3 pictures without text (scans?), not searchable until their words are recognised: --ocr eng",
        "page 4 with words that cannot be seen; kept and flagged hidden",
    ]
    shown = run.invoke(app, [*library, "passage", "report p. 4 (2)"]).stdout
    assert "page 4, hidden, white" in shown
    assert "secret" in shown


@pytest.mark.skipif(not REPORTS.is_dir(), reason="the reports are absent: set RESPONSA_DATA")
@pytest.mark.parametrize(
    ("name", "pages", "tables"),
    [("BMW_SR_2022", 20, 1), ("CT_REIT_2022_ESG_Report", 34, 8), ("Vonovia_SR_2023", 15, 3)],
)
def test_every_page_of_a_real_report_is_accounted_for(name, pages, tables):
    path = REPORTS / f"{name}.pdf"
    (edition,) = readers.read_bytes(path.read_bytes(), str(path))
    assert {passage.page for passage in edition.passages} == set(range(1, pages + 1))
    assert len({passage.id for passage in edition.passages}) == len(edition.passages)
    assert len(texts(edition, "table")) >= tables
    for passage in edition.passages:
        assert passage.boxes
        assert all(box.page == passage.page for box in passage.boxes)
