"""Words read off the pictures of pages: in the sandbox, with their places, and only where that is asked for."""

from __future__ import annotations

import io

import pytest

from pdffile import Sheet, pdf
from responsa.corpus import library
from responsa.corpus.library import Library
from responsa.corpus.limits import Limits
from responsa.corpus.readers import pdf_ocr
from responsa.corpus.sandbox import Sandbox
from responsa.errors import InputError, ReadError

pypdfium2 = pytest.importorskip("pypdfium2")
LINES = ("A firm must keep records of every transaction", "for at least seven years after its end.")


def needs_tesseract():
    pytest.importorskip("tesserocr", reason="needs responsa[ocr]")
    if "eng" not in pdf_ocr.languages():
        pytest.skip("Tesseract's English is not installed (apt install tesseract-ocr-eng)")


def scanned(*sheets):
    """The pages of a file as pictures of themselves."""
    made = pypdfium2.PdfDocument.new()
    with pypdfium2.PdfDocument(pdf(*sheets)) as source:
        for index in range(len(source)):
            width, height = source[index].get_size()
            image = pypdfium2.PdfImage.new(made)
            image.set_bitmap(source[index].render(scale=200 / 72, grayscale=True))
            image.set_matrix(pypdfium2.PdfMatrix().scale(width, height))
            page = made.new_page(width, height)
            page.insert_obj(image)
            page.gen_content()
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


@pytest.fixture
def scan(tmp_path):
    path = tmp_path / "scan.pdf"
    path.write_bytes(scanned(Sheet().lines(72, 100, *LINES, size=12, leading=15), Sheet()))
    return path


def test_a_scanned_page_is_read_where_that_is_asked_for(scan):
    needs_tesseract()
    with Sandbox(Limits(ocr="eng")) as sandbox:
        (edition,) = sandbox.read(scan)
    passage = edition.passages[0]
    assert (passage.text, passage.page) == (" ".join(LINES), 1)
    assert "recognised" in passage.flags
    box = passage.boxes[0]
    assert (box.x0, box.y0) == (pytest.approx(72, abs=3), pytest.approx(91, abs=4))
    assert (edition.passages[-1].page, edition.passages[-1].text) == (2, "")  # an empty page stays one


def test_a_scan_is_refused_with_what_to_do_where_nobody_asks(scan):
    with Sandbox() as sandbox, pytest.raises(ReadError, match=r"pictures \(scans\).*; read their words with --ocr eng"):
        sandbox.read(scan)


def test_pages_with_words_keep_them(tmp_path):
    needs_tesseract()
    path = tmp_path / "born.pdf"
    path.write_bytes(pdf(Sheet().lines(72, 100, *LINES)))
    with Sandbox(Limits(ocr="eng")) as sandbox:
        (edition,) = sandbox.read(path)
    assert all("recognised" not in passage.flags for passage in edition.passages)


def test_a_file_with_scans_is_read_again_with_ocr_and_only_then(tmp_path):
    needs_tesseract()
    path, folder = tmp_path / "mixed.pdf", tmp_path / "library"
    made = pypdfium2.PdfDocument(pdf(Sheet().lines(72, 100, "Rule 1 is printed in letters.")))
    made.import_pages(pypdfium2.PdfDocument(scanned(Sheet().lines(72, 100, *LINES, size=12, leading=15))))
    made.save(path)

    def added(limits=None):
        (report,) = library.add(folder, [path], lambda corpus: None, limits=limits).files
        return report.status, report.notices

    status, notices = added()
    assert status == "added"
    assert "read their words" in notices[0] or "--ocr eng" in notices[0]
    assert added(Limits(ocr="eng"))[0] == "changed"
    assert added(Limits(ocr="eng"))[0] == "unchanged"
    assert added()[0] == "unchanged"
    with Library.open(folder) as opened:
        assert any("seven years" in passage.text for passage in opened.corpus().values())


def test_a_language_that_is_not_installed_is_named(scan):
    needs_tesseract()
    with Sandbox(Limits(ocr="xyz")) as sandbox, pytest.raises(ReadError, match=r"no such language .*tesseract-ocr-xyz"):
        sandbox.read(scan)


@pytest.mark.parametrize("name", ["../eng", "eng deu", "eng+", "/etc/passwd"])
def test_languages_are_names(name):
    with pytest.raises(InputError, match="names of languages"):
        Limits(ocr=name)


def test_a_missing_library_is_named(scan, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "tesserocr", None)

    def fail(problem):
        raise ReadError(problem)

    with pytest.raises(ReadError, match=r"pip install 'responsa\[ocr\]'"):
        pdf_ocr.Recogniser("eng", fail)


def test_the_folder_of_languages_can_be_named(tmp_path, monkeypatch):
    (tmp_path / "lat.traineddata").write_bytes(b"")
    monkeypatch.setenv("TESSDATA_PREFIX", str(tmp_path))
    assert pdf_ocr.languages() == ["lat"]
