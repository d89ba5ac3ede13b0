"""Assessments as pages, documents and spreadsheets: complete, the same in all, and harmless whatever a report holds."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import re
import zipfile
import zlib
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import numpy as np
import openpyxl
import pytest

from assessments import DIGEST, GOOD, LOST, PLAN, REPORT, ROW, assessment, quote, without_model
from responsa.corpus.pictures import Picture
from responsa.errors import InputError
from responsa.render import assessment_marks, images
from responsa.render import assessment_words as words
from responsa.render.assessment import Entry, index, page
from responsa.render.assessment_document import document
from responsa.render.assessment_marks import Sheets, draw, marks, shown_checks, wanted
from responsa.render.assessment_sheets import workbook
from responsa.render.assessment_words import Failed
from responsa.taxonomy.values import Activity
from responsa.types import Box, Call
from test_render import EVIL, Page

docx = pytest.importorskip("docx")

REPORTS = Path(os.environ.get("RESPONSA_DATA") or Path(__file__).parents[2] / "shared" / "data") / "reports"
HOSTILE = (
    EVIL,
    '"><img src=x onerror=alert(1)>',
    "</style><script>",
    "{{ 7 * 7 }} {% raw %}",
    "\u202etxt.exe\u2066 \x00\x1b[31m \ud800 \uffff",
    "x" * 5000,
    "=HYPERLINK(1)",
)


@pytest.fixture
def report(tmp_path):
    path = tmp_path / "report.pdf"
    path.write_bytes(REPORT)
    return path


@pytest.fixture(scope="module")
def sheets(tmp_path_factory):
    path = tmp_path_factory.mktemp("drawn") / "report.pdf"
    path.write_bytes(REPORT)
    return draw(assessment(), path)


def words_of(content):
    """All text of a Word file, tables and all."""
    found = docx.Document(io.BytesIO(content))
    return "\n".join(each.text or "" for each in found.element.body.iter() if each.tag.endswith("}t"))


def hostile(value, text):
    """The value with every text in it replaced, but for ids that are a closed set."""
    if isinstance(value, str):
        return text
    if isinstance(value, tuple):
        return tuple(hostile(each, text) for each in value)
    if is_dataclass(value) and not isinstance(value, type):
        kept = {"verdict", "said", "part", "objective", "support", "role", "outcome", "op", "logic", "concluded", "method", "kpi", "boxes", "digest"}  # fmt: skip
        changed = {}
        for each in fields(value):
            if isinstance(getattr(value, each.name), dict):
                continue
            new = getattr(value, each.name)
            if isinstance(value, Activity) and each.name == "id":
                continue
            if each.name in kept and not (each.name == "kpi" and isinstance(new, tuple)):
                continue
            changed[each.name] = hostile(new, text)
        return replace(value, **changed)
    return value


# Marks and pages


def test_marks_are_numbered_as_they_come_and_each_once():
    found = marks(assessment())
    assert [(each.number, each.page, each.text, each.kind) for each in found.all] == [
        (1, 1, GOOD, "evidence"),
        (2, 1, PLAN, "trap"),
        (3, 3, ROW, "figure"),
    ]
    assert found.of(1, GOOD.upper().replace(" ", "\n")).number == 1
    assert found.of(2, GOOD) is None


def test_drawn_marks_are_of_lines_not_of_passages(sheets):
    assert list(sheets.pages) == [1, 3]
    assert sheets.notes == ()
    good, plan = sheets.pages[1].marks
    assert len(good.boxes) == 1
    assert len(plan.boxes) == 2
    assert good.boxes[0].y1 - good.boxes[0].y0 < 20
    assert sheets.mark(marks(assessment()).of(1, PLAN)) == plan


def test_words_that_are_not_found_on_a_page_keep_the_boxes_of_their_passage(report):
    it = assessment(quotes=(quote("Nowhere on this page at all", boxes=True),))
    drawn = draw(it, report)
    assert [box.x1 for mark in drawn.pages[1].marks if mark.number == 4 for box in mark.boxes] == [500]


def test_the_place_nearest_to_the_reader_s_is_marked():
    lines = [(Box(1, 0, 0, 10, 10),), (Box(1, 0, 100, 10, 110),)]
    assert assessment_marks._nearest([Box(1, 0, 95, 50, 120)], lines) == lines[1]
    assert assessment_marks._nearest([], lines) == lines[0]
    assert assessment_marks._nearest([Box(1, 0, 0, 1, 1)], []) == (Box(1, 0, 0, 1, 1),)


def test_of_many_pages_the_first_quoted_are_drawn(report):
    assert wanted(marks(assessment()), 1) == ([1], 1)
    drawn = draw(assessment(), report, most=1)
    assert list(drawn.pages) == [1]
    assert drawn.notes == ("1 more quoted pages have no picture here",)


def test_another_file_is_not_drawn(report):
    report.write_bytes(REPORT + b"\n")
    with pytest.raises(InputError, match="is not the file that was assessed"):
        draw(assessment(), report)


def test_a_report_without_pages_has_no_pictures(tmp_path):
    assert draw(assessment(), tmp_path / "report.docx").notes == (
        "the report is no PDF, so there are no pictures of its pages",
    )


def test_pages_that_cannot_be_drawn_are_named(tmp_path):
    path = tmp_path / "report.pdf"
    path.write_bytes(b"no PDF")
    drawn = draw(assessment(digest=hashlib.sha256(b"no PDF").hexdigest()), path)
    assert not drawn.pages
    assert "could not be drawn" in drawn.notes[0]
    assert "is no PDF" in drawn.notes[0]
    path.write_bytes(REPORT)
    far = assessment(quotes=(quote(GOOD, page=77),))
    assert draw(far, path).notes == ("pages that could not be drawn: 77",)


def test_checks_that_came_to_something_are_shown_first():
    assert [each.outcome for each in shown_checks(assessment())] == ["meets", "not_comparable"]
    many = assessment(checks=assessment().checks[1:] * 60 + assessment().checks[:1])
    assert [each.outcome for each in shown_checks(many)][:2] == ["meets", "not_comparable"]
    assert len(shown_checks(many)) == assessment_marks.MOST_CHECKS


# Images


def read_png(content):
    """The pixels of a PNG as this package writes it."""
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = {}, 8
    while at < len(content):
        length = int.from_bytes(content[at : at + 4], "big")
        kind, body = content[at + 4 : at + 8], content[at + 8 : at + 8 + length]
        assert int.from_bytes(content[at + 8 + length : at + 12 + length], "big") == zlib.crc32(kind + body)
        chunks[kind] = body
        at += 12 + length
    columns, rows = (int.from_bytes(chunks[b"IHDR"][place : place + 4], "big") for place in (0, 4))
    palette = np.frombuffer(chunks[b"PLTE"], np.uint8).reshape(-1, 3)
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(rows, columns + 1)
    assert not lines[:, 0].any()
    return palette[lines[:, 1:]]


def pictured(pixels, width=None, height=None):
    rows, columns, _ = pixels.shape
    return images.raster(Picture(1, width or columns, height or rows, columns, rows, pixels.tobytes()))


def test_a_page_of_few_colours_is_kept_as_it_is():
    pixels = np.zeros((5, 7, 3), np.uint8)
    pixels[1:3, 2:5] = (200, 10, 100)
    assert (read_png(images.png(pictured(pixels))) == pixels).all()


def test_a_page_of_many_colours_comes_near():
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (120, 90, 3), dtype=np.uint8)
    made = read_png(images.png(pictured(pixels)))
    assert len(np.unique(made.reshape(-1, 3), axis=0)) == 256
    assert np.abs(made.astype(int) - pixels).mean() < 30
    assert images.png(pictured(pixels)) == images.png(pictured(pixels))


def test_a_cutting_has_its_marks_as_by_a_marker():
    pixels = np.full((20, 10, 3), 255, np.uint8)
    pixels[12, 5] = 0
    made = read_png(images.cut(pictured(pixels, 100, 200), Box(1, 20, 100, 80, 160), [(Box(1, 40, 110, 70, 140), (255, 200, 100))]))  # fmt: skip
    assert made.shape[:2] == (7, 7)
    assert made[0, 0].tolist() == [255, 255, 255]
    assert made[1, 2].tolist() == [255, 200, 100]
    assert made[2, 3].tolist() == [0, 0, 0]


@pytest.mark.parametrize("box", [Box(1, -50, -50, -10, -10), Box(1, 900, 900, 990, 990), Box(1, 50, 50, 50, 50)])
def test_marks_off_the_page_do_no_harm(box):
    raster = pictured(np.full((20, 10, 3), 255, np.uint8), 100, 200)
    assert read_png(images.cut(raster, box, [(box, (0, 0, 0))])).size


def test_the_part_shown_holds_the_mark_and_is_not_too_high():
    region = images.around([Box(3, 300, 700, 500, 712)], 595, 842)
    assert region.x0 < 300 < 500 < region.x1 <= 595
    assert region.y0 < 700 < 712 < region.y1 <= 842
    tall = images.around([Box(3, 0, 0, 595, 842)], 595, 842)
    assert (tall.x0, tall.x1, tall.y1) == (0, 595, 421)
    assert images.across(region, 595, 842) < images.across(tall, 595, 842) == 1.0


# The page


def test_the_page_says_everything(sheets):
    text = page(assessment(), sheets)
    read = Page(text)
    (body,) = read.texts("body")
    for said in (
        "Homes plc", "CCM 7.7 Ownership of buildings, financial year 2023", "Not aligned", "2 of 3 usable replies of the model (5 were asked for) conclude alike. They do not all agree.",
        "The model itself concludes: aligned", "SC 2: Certificates by building.", "one quote stands nowhere", "not all alike",
        "16.7 %", "931 of 5,581 EUR million, p. 3", "zero-shot-cot, 3 generations, seed 0", DIGEST, "32021R2139 as of 2024-01-01",
        "one of the following 2", "The demand of the building is at most 40 kWh/m2.", "primary energy demand: at most 40 kWh/m2 (to 2025-12-31; for homes)",
        "The demand is below the limit.", "Met 2, Not shown 1", "Homes need 38 kWh/m2.", "quote found, not word for word or elsewhere", "target or plan", "quote not found",
        "said to be on p. 2", LOST, "a figure speaks against it", "no quote holds it", "Most generations said: met.", "38 kWh/m2", "not of energy",
        "A.1 aligned", "931 EUR million", "15.3 %", "because 2", "1,200", "0.0200", "CC BY 4.0", "page 2 is short", "No significant harm to climate change adaptation",
    ):  # fmt: skip
        assert said in body, said
    assert not read.of("script") + read.of("link") + read.of("img") + read.of("iframe")


def test_the_page_needs_nothing_beside_it(sheets):
    text = page(assessment(), sheets)
    read = Page(text)
    style = re.search(r"<style>(.*)</style>", text, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    (policy,) = [each[1]["content"] for each in read.of("meta") if "http-equiv" in each[1]]
    assert (
        policy == f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    for _, attributes, _ in read.elements:
        assert "style" not in attributes  # the policy would refuse it
        assert not any(name.startswith("on") for name in attributes)
        for name in ("href", "src"):
            assert attributes.get(name, "#").startswith(("#", "data:image/png;base64,"))
    assert "url(" not in style
    assert "@import" not in style


def test_each_page_is_in_the_page_once_and_links_lead_somewhere(sheets):
    read = Page(page(assessment(), sheets))
    assert [each[1]["id"] for each in read.of("image")] == ["p1", "p3"]
    named = [each[1]["id"] for each in read.elements if "id" in each[1]]
    assert len(named) == len(set(named))
    assert {each[1]["href"] for each in read.of("use")} == {"#p1", "#p3"}
    for link in read.of("a"):
        assert link[1]["href"].removeprefix("#") in named
    assert len(read.of("svg", class_="clip")) == 3  # each quote once, however often it is cited


def test_quotes_are_marked_where_they_stand(sheets):
    read = Page(page(assessment(), sheets))
    boxes = sheets.pages[1].marks[0].boxes
    rects = [each[1] for each in read.of("rect", class_="evidence")]
    assert {(each["x"], each["y"]) for each in rects} == {(f"{box.x0:.1f}", f"{box.y0:.1f}") for box in boxes}
    assert len(rects) == 2  # beside the quote and on the page
    (drawn, _) = read.of("image")
    content = base64.b64decode(drawn[1]["href"].removeprefix("data:image/png;base64,"))
    assert read_png(content).shape[0] == sheets.pages[1].raster.places.shape[0]
    assert [mark[2] for mark in read.of("mark")] == [GOOD, PLAN]  # in the evidence


def test_without_a_model_there_is_no_verdict_and_no_talk_of_one():
    read = Page(page(without_model()))
    (body,) = read.texts("body")
    assert "No verdict Made without a language model" in body
    assert "How sure" not in body
    assert "Standing" not in body
    assert "5. How it was made No request was made to a language model." in body
    assert GOOD in body
    assert not read.of("svg")


def test_an_empty_assessment():
    empty = without_model(criteria=(), evidence=(), quotes=(), checks=(), kpi=(), shares=(), figures=(), notes=())
    (body,) = Page(page(empty)).texts("body")
    for said in ("No passage of the report fits", "no line for this activity", "No figure of the report"):
        assert said in body
    assert words_of(document(empty))
    assert workbook([empty])


def test_a_failure_is_said():
    it = without_model(failure="the model gave no usable reply: not JSON", asking=replace(assessment().asking))
    (body,) = Page(page(it)).texts("body")
    assert "The model gave no usable verdict: the model gave no usable reply: not JSON" in body
    assert "not JSON" in words_of(document(it))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_are_shown_and_nothing_else(text, sheets):
    it = hostile(assessment(), text)
    assert it.criteria[1].reason == it.criteria[1].claims[0].quote == it.activity.name == text
    read = Page(page(it, Sheets(sheets.pages)))
    assert not read.of("script") + read.of("img") + read.of("iframe")
    for _, attributes, _ in read.elements:
        assert not any(name.startswith("on") for name in attributes)
    (body,) = read.texts("body")
    if text.isprintable():
        assert " ".join(text.split())[:150] in body
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00\x1b\ud800\uffff]", page(it))
    words_of(document(it))
    assert workbook([it])


def test_the_same_bytes_twice(sheets):
    assert page(assessment(), sheets) == page(assessment(), sheets)


def test_the_list_of_several_links_to_each():
    one, other = assessment(), without_model(report="other", digest="0" * 64, year=2022)
    entries = [Entry(one, "one.html"), Entry(other, "other.html")]
    read = Page(index(entries, [Failed(EVIL, "CCM 6.5", "cannot be read")]))
    assert [each[1]["href"] for each in read.of("a")] == ["one.html", "other.html"]
    (body,) = read.texts("body")
    for said in ("2 assessments", "Homes plc", "turnover 16.7 % aligned", "2 flags", "No verdict", "cannot be read"):
        assert said in body
    assert not read.of("script")


# Words


def test_what_is_said_of_a_verdict():
    trust = assessment().trust
    assert words.statement(assessment(trust=replace(trust, agreement=1.0, asked=3))) == (
        "3 of 3 usable replies of the model conclude alike."
    )
    assert "nothing can be said about its consistency" in words.statement(assessment(trust=replace(trust, usable=1)))
    assert words.statement(without_model()).startswith("Made without a language model")


def test_the_front_has_room_for_a_few_and_the_rest_follows():
    many = tuple(f"{number} {'words ' * 100}" for number in range(9))
    it = assessment(missing=many)
    told = words.first(it.missing)
    assert (len(told), told[-1]) == (words.MOST_FRONT + 1, "and 4 more, listed below")
    assert all(len(each) < 170 for each in told)
    for said in (Page(page(it)).texts("body")[0], " ".join(words_of(document(it)).split())):
        assert "All that is missing" in said
        assert "8 words words" in said
        assert "All to look at" not in said


def test_a_claim_that_only_repeats_its_quote_is_said_once():
    claim = assessment().criteria[1].claims[0]
    assert words.claimed(claim) == "Homes need 38 kWh/m2."
    assert words.claimed(replace(claim, text=GOOD.upper())) == ""
    assert words.long("x" * 3000).endswith("x … (the JSON form has all)")


def test_an_excerpt_begins_before_its_first_quote():
    text = "word " * 400 + GOOD + " end" * 400
    chunk = replace(assessment().evidence[0], text=text, end=len(text))
    start = text.index(GOOD)
    place = replace(quote(GOOD), start=start, end=start + len(GOOD))
    pieces = words.excerpt(chunk, [place])
    assert [piece for piece, marked in pieces if marked] == [GOOD]
    assert (pieces[0], pieces[-1]) == (("… ", False), (" …", False))
    assert len("".join(piece for piece, _ in pieces)) < 700
    elsewhere = replace(place, passage_id="another")
    assert words.excerpt(chunk, [elsewhere])[0][0].startswith("word word")
    assert words.excerpt(replace(chunk, text="a\tb\n \n\nc", end=8), []) == [("a | b\nc", False)]


def test_what_was_spent():
    calls = [
        Call("a", "m", "x", tokens_in=5, cost=0.5),
        Call("a", "m", "y", cached=True),
        Call("b", "m", "z", error="no"),
    ]
    first, second, whole = words.spent(calls)
    assert (first.calls, first.cached, first.cost, second.failed, second.cost) == (2, 1, 0.5, 1, None)
    assert (whole.purpose, whole.calls, whole.cost) == ("all", 3, None)
    assert words.spent([]) == []


# The document


def test_the_document_says_the_same(sheets):
    content = document(assessment(), sheets)
    said = " ".join(words_of(content).split())
    (body,) = Page(page(assessment(), sheets)).texts("body")
    for text in ("Homes plc", "The demand is below the limit.", "Certificates by building.", LOST, "not of energy", DIGEST, "CC BY 4.0", "because 1", "931 EUR million"):  # fmt: skip
        assert text in said, text
        assert text in body, text
    found = docx.Document(io.BytesIO(content))
    assert len(found.inline_shapes) == 3 + 2  # cuttings, and pages
    told = [each._inline.docPr.get("descr") for each in found.inline_shapes]
    assert told == [
        "Part of page 1",
        "Part of page 1",
        "Part of page 3",
        "Page 1 of the report",
        "Page 3 of the report",
    ]
    assert (found.sections[0].page_width.cm, found.sections[0].page_height.cm) == pytest.approx((21.0, 29.7), abs=0.01)
    assert found.core_properties.title == "Homes plc: CCM 7.7 2023"


def test_the_document_holds_nothing_that_acts(sheets):
    with zipfile.ZipFile(io.BytesIO(document(hostile(assessment(), EVIL), sheets))) as package:
        names = package.namelist()
        told = b"".join(package.read(name) for name in names if name.endswith(".rels"))
    assert not [name for name in names if "vba" in name.lower() or "embeddings" in name]
    assert b'TargetMode="External"' not in told


def test_heads_of_tables_are_repeated_and_rows_kept_whole():
    found = docx.Document(io.BytesIO(document(assessment())))
    table = next(each for each in found.tables if each.rows[0].cells[0].text == "Criterion")
    assert table.rows[0]._tr.trPr.xpath("./w:tblHeader")
    assert all(row._tr.trPr.xpath("./w:cantSplit") for row in table.rows)
    assert table.rows[1].cells[0].text == "Substantial contribution to climate change mitigation: aligned"
    assert [each.tag.rpartition("}")[2] for each in table._tbl.tblPr].index("tblBorders") < [
        each.tag.rpartition("}")[2] for each in table._tbl.tblPr
    ].index("tblLayout")


# The spreadsheet


def sheet(book, name):
    rows = list(book[name].iter_rows(values_only=True))
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def test_the_workbook():
    other = without_model(report="other", digest="0" * 64, activity=replace(assessment().activity, id="CCM 10.1"))
    content = workbook([assessment(), other], [Failed("third", "CCM 7.7", "is a scan")])
    book = openpyxl.load_workbook(io.BytesIO(content))
    assert book.sheetnames == [
        "Matrix",
        "Assessments",
        "Criteria",
        "Quotes",
        "Evidence",
        "Numbers",
        "KPI lines",
        "About",
    ]
    assert list(book["Matrix"].iter_rows(values_only=True)) == [
        ("report", "financial year", "CCM 7.7", "CCM 10.1"),
        ("report", 2023, "Not aligned\nturnover 16.7 % aligned\n2 flags", None),
        ("other", 2023, None, "No verdict\nturnover 16.7 % aligned"),
        ("third", None, "not assessed: is a scan", None),
    ]
    first, second = sheet(book, "Assessments")
    assert (first["verdict"], first["turnover aligned of eligible, %"], first["usable replies"]) == (
        "Not aligned",
        16.68,
        3,
    )
    assert second["verdict"] == "No verdict"
    criteria = sheet(book, "Criteria")
    assert [each["criterion"] for each in criteria][:4] == ["SC", "SC 1", "SC 2", "DNSH CCA"]
    assert (criteria[1]["standing"], criteria[1]["votes"], criteria[1]["pages"]) == ("Met", "Met 2, Not shown 1", "1")
    assert [each["check"] for each in sheet(book, "Quotes")][:3] == [
        "quote found", "quote found, not word for word or elsewhere", "quote not found",
    ]  # fmt: skip
    (number, _, *_) = sheet(book, "Numbers")
    assert (number["value"], number["outcome"]) == (38, "meets")
    (line, _) = sheet(book, "KPI lines")
    assert (line["amount"], line["share of total, %"], line["section"]) == (931, 15.3, "A.1 aligned")
    assert "CC BY 4.0" in book["About"]["A3"].value
    assert book["Criteria"].freeze_panes == "B2"
    assert book["Criteria"].auto_filter.ref == "A1:M9"


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "  =1", "|cmd", "#REF!", "=cmd|' /C calc'!A0"]
)
def test_no_cell_of_a_document_is_a_formula(text):
    book = openpyxl.load_workbook(io.BytesIO(workbook([hostile(assessment(), text)], [Failed(text, "CCM 7.7", text)])))
    kinds = {cell.data_type for each in book for row in each.iter_rows() for cell in row if cell.value is not None}
    assert kinds <= {"s", "n"}
    cell = book["Criteria"]["I3"]
    assert cell.value.strip() == text.strip()
    assert cell.quotePrefix == (text != "#REF!")


def test_a_very_long_cell_is_cut_to_what_the_format_takes():
    book = openpyxl.load_workbook(io.BytesIO(workbook([hostile(assessment(), "y" * 40_000)])))
    assert len(book["Criteria"]["I3"].value) == 32_767


# A real report


@pytest.mark.slow
@pytest.mark.skipif(not (REPORTS / "BMW_SR_2022.pdf").exists(), reason="needs the reports of RESPONSA_DATA")
def test_a_real_report(tmp_path):
    from responsa.taxonomy.activities.catalogue import load
    from responsa.taxonomy.assessment.assess import assess
    from responsa.taxonomy.evidence.report import read_report
    from responsa.taxonomy.values import Asking

    path = REPORTS / "BMW_SR_2022.pdf"
    held = load()
    it = assess(read_report(path, tmp_path), held.find("CCM 6.5", 2022), 2022, Asking(), held)
    drawn = draw(it, path)
    placed = [mark for each in drawn.pages.values() for mark in each.marks]
    assert {mark.number for mark in placed} == {mark.number for mark in marks(it).all}
    assert sum(bool(mark.boxes) for mark in placed) >= 0.9 * len(placed)
    text = page(it, drawn)
    assert len(text) < 8_000_000
    assert len(Page(text).of("image")) == len(drawn.pages) > 3
    assert len(docx.Document(io.BytesIO(document(it, drawn))).inline_shapes) > len(drawn.pages)
