"""Pictures of a PDF's pages: what is drawn, where words stand on it, and what may come back from the sandbox."""

from __future__ import annotations

import contextlib
import json
import struct
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pdffile import Sheet, pdf

from assessments import GOOD, PLAN, REPORT, ROW
from hostile import pdfs
from responsa.corpus.limits import Limits
from responsa.corpus.pictures import MOST_FOUND, MOST_PIXELS, Picture, dumps, loads
from responsa.corpus.readers.pdf_page import Word
from responsa.corpus.readers.pdf_pictures import places
from responsa.corpus.sandbox import Sandbox
from responsa.errors import ReadError
from responsa.types import Box
from test_sandbox import FILTERED, stand_in


def drawn(content, sought, tmp_path, **limits):
    path = tmp_path / "report.pdf"
    path.write_bytes(content)
    with Sandbox(Limits(**limits)) as sandbox:
        return sandbox.draw(sandbox.content(path), path, sought)


def pixel(picture, x, y):
    """The colour at a place in points."""
    at = 3 * (int(y / picture.height * picture.rows) * picture.columns + int(x / picture.width * picture.columns))
    return tuple(picture.pixels[at : at + 3])


def word(text, x, y, size=10.0):
    return Word(text, x, y - size, x + 5.0 * len(text), y, y, size, False, "F")


def test_a_page_is_drawn_as_it_is_shown(tmp_path):
    (picture,) = drawn(pdf(Sheet().fill(100, 200, 300, 400, (1, 0, 0))), {1: []}, tmp_path)
    assert (picture.page, picture.width, picture.height) == (1, 595, 842)
    assert 0.9 * MOST_PIXELS < picture.columns * picture.rows <= MOST_PIXELS
    assert len(picture.pixels) == 3 * picture.columns * picture.rows
    assert pixel(picture, 200, 300) == (255, 0, 0)
    assert pixel(picture, 50, 300) == pixel(picture, 200, 500) == (255, 255, 255)


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
def test_places_are_those_of_the_picture_of_a_turned_page(tmp_path, rotate):
    """A word is found where there is ink on the picture."""
    (picture,) = drawn(pdf(Sheet(rotate=rotate).text(100, 300, "HHHHHHHH", 30, True)), {1: ["HHHHHHHH"]}, tmp_path)
    ((place,),) = picture.found
    ink = [
        (x, y)
        for x in range(0, int(picture.width), 4)
        for y in range(0, int(picture.height), 4)
        if pixel(picture, x, y) != (255, 255, 255)
    ]
    assert len(ink) > 20
    box = place[0]
    assert all(box.x0 - 2 <= x <= box.x1 + 2 and box.y0 - 2 <= y <= box.y1 + 2 for x, y in ink)


@pytest.mark.parametrize("size", [(2, 14000), (14000, 2), (14000, 14000), (3, 3)])
def test_pages_of_any_shape_are_within_the_limit(tmp_path, size):
    (picture,) = drawn(pdf(Sheet(*size).text(1, 1, "x")), {1: ["x"]}, tmp_path)
    assert (picture.width, picture.height) == size
    assert 0.4 * MOST_PIXELS < picture.columns * picture.rows <= MOST_PIXELS


def test_texts_are_found_to_the_line(tmp_path):
    first, third = drawn(REPORT, {3: [ROW], 1: [GOOD, PLAN, "said nowhere"]}, tmp_path)
    assert (first.page, third.page) == (1, 3)
    good, plan, nowhere = first.found
    assert nowhere == ()
    ((line,),) = good
    assert 70 < line.x0 < 73
    assert 125 < line.y0 < 140 < line.y1 < 145
    ((one, two),) = plan
    assert one.y1 < two.y1
    assert {one.page, two.page} == {1}
    (row,) = third.found[0]
    assert [round(box.x0) for box in row] == [60, 300, 400, 500]


def test_words_that_can_be_seen_come_before_hidden_ones(tmp_path):
    """Of a scan all words are hidden; they lie where its picture shows them."""
    sheet = Sheet().text(72, 100, "class A", mode=3).text(72, 300, "class A").text(72, 500, "a scanned word", mode=3)
    (picture,) = drawn(pdf(sheet), {1: ["class A", "a scanned word"]}, tmp_path)
    ((seen,),), ((hidden,),) = picture.found
    assert 285 < seen.y0 < seen.y1 < 305
    assert 485 < hidden.y0 < hidden.y1 < 505


def test_pages_that_are_not_there_are_left_out(tmp_path):
    assert [each.page for each in drawn(REPORT, {2: [], 4: [], 10**9: []}, tmp_path)] == [2]
    assert drawn(REPORT, {}, tmp_path) == ()


def test_what_is_no_pdf_is_refused(tmp_path):
    with pytest.raises(ReadError, match=r"report\.pdf: is no PDF"):
        drawn(b"PK\x03\x04" * 100, {1: []}, tmp_path)


def test_hostile_files_cost_their_pictures_only(tmp_path):
    """Each is drawn or refused; the process for the next file goes on."""
    path, said = tmp_path / "report.pdf", []
    with Sandbox(Limits(seconds=20, memory=1024)) as sandbox:
        for content, _ in pdfs.files().values():
            try:
                found = sandbox.draw(content, path, {1: ["words"]})
            except ReadError as error:
                said.append(str(error))
            else:
                assert all(each.columns * each.rows <= MOST_PIXELS for each in found)
        assert [each.page for each in sandbox.draw(REPORT, path, {1: []})] == [1]
    assert said
    assert all(each.startswith(f"{path}: ") for each in said)


@pytest.mark.skipif(not FILTERED, reason="there is no filter of system calls for this system")
def test_the_drawing_process_is_locked(tmp_path):
    code = """
import sys
from responsa.corpus import worker
from responsa.corpus.readers import pdf_pictures
def tell(content, sought, fail):
    fail(" ".join(line for line in open("/proc/self/status") if line.startswith("Seccomp:")).replace("\\t", " "))
pdf_pictures.pictures, worker._SYSTEM = tell, (*worker._SYSTEM, "/proc")
worker.main()
"""
    with Sandbox(command=(sys.executable, "-c", code, "{}")) as sandbox, pytest.raises(ReadError, match="Seccomp: 2"):
        sandbox.draw(REPORT, tmp_path / "report.pdf", {1: []})


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("os.abort()", "SIGABRT"),
        ("send(b'E[]')", "its reader failed"),
        ("send(b'P' + b'\\0' * 100)", "an answer that cannot be used"),
        ("send(b'Rno PDF')", "no PDF"),
    ],
)
def test_a_process_that_lies_is_not_believed(tmp_path, what, said):
    path = tmp_path / "report.pdf"
    with Sandbox(command=stand_in(what)) as sandbox, pytest.raises(ReadError, match=said):
        sandbox.draw(REPORT, path, {1: []})


PICTURE = Picture(2, 30.0, 20.0, 3, 2, bytes(range(18)), ((), ((Box(2, 1.0, 2.0, 3.0, 4.0),),)))


def test_there_and_back():
    other = Picture(5, 10.0, 10.0, 1, 1, b"abc")
    assert loads(dumps([PICTURE, other]), {2: ["a", "b"], 5: []}) == (PICTURE, other)
    assert loads(b"", {}) == ()


def sent(head, pixels=bytes(18)):
    written = json.dumps(head).encode()
    return struct.pack(">I", len(written)) + written + pixels


@pytest.mark.parametrize(
    "content",
    [
        b"\0",
        sent([2, 30.0, 20.0, 3, 2, [[], []]])[:-1],  # cut short
        sent([3, 30.0, 20.0, 3, 2, [[], []]]),  # not asked for
        sent([2, 30.0, 20.0, 3, 2, []]),  # other texts
        sent([2, 30.0, 20.0, -3, -2, [[], []]]),
        sent([2, 30.0, 20.0, 3.0, 2, [[], []]]),
        sent([2, 0, 20.0, 3, 2, [[], []]]),
        sent([2, 30.0, float("nan"), 3, 2, [[], []]]),
        sent([2, 30.0, 20.0, 10**5, 10**5, [[], []]]),
        sent([2, 30.0, 20.0, 3, 2, [[], [[["1", 2, 3, 4]]]]]),
        sent([2, 30.0, 20.0, 3, 2, [[], [[]] * (MOST_FOUND + 1)]]),
        sent({"page": 2}),
        sent([2]),
        sent([2, 30.0, 20.0, 3, 2, [[], []]]) * 2,  # twice
        struct.pack(">I", 2**23) + b"[" + b" " * 2**23 + b"]",
        struct.pack(">I", 10**6) + b"[" * 10**6,
    ],
)
def test_what_is_no_picture_is_refused(content):
    with pytest.raises(ValueError):  # of json, too
        loads(content, {2: ["a", "b"]})


@given(st.binary(max_size=200), st.booleans())
def test_whatever_comes_is_pictures_or_refused(content, framed):
    given_ = struct.pack(">I", len(content)) + content if framed else content
    with contextlib.suppress(ValueError):
        assert all(each.page in {2} for each in loads(given_, {2: []}))


# Places of texts


def test_words_run_over_lines_and_columns():
    words = [word("Green", 0, 10), word("build-", 30, 10), word("ings", 0, 22), word("save.", 200, 22)]
    ((one, two, three),) = places(words, "green buildings save", 7)
    assert (one.x0, one.x1, two.x0, three.x0) == (0, 60, 0, 200)
    assert {each.page for each in (one, two, three)} == {7}


def test_every_place_of_a_text_up_to_a_few():
    words = [word("green", 0, 20 * at) for at in range(1, 10)]
    assert len(places(words, "green", 1)) == MOST_FOUND


def test_rows_and_cells_of_tables():
    words = [word("Ownership", 0, 10), word("931", 100, 10), word("Construction", 0, 30), word("17", 100, 30)]
    (place,) = places(words, "Construction\t17\nOwnership\t931", 1)
    assert [(box.x0, box.y1) for box in place] == [(0, 30), (100, 30), (0, 10), (100, 10)]
    (place,) = places(words, "Construction\t99", 1)
    assert [box.x0 for box in place] == [0]


@pytest.mark.parametrize("text", ["", "...", "abc", "said nowhere at all"])
def test_texts_that_stand_nowhere(text):
    assert places([word("abcdef", 0, 10)], text, 1) == []
