"""Reports: read once, cut into chunks that can be quoted, kept on disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pdffile import Sheet, pdf
from responsa.corpus.limits import Limits
from responsa.errors import ModelError, ReadError
from responsa.taxonomy.evidence import report as reports
from responsa.taxonomy.evidence import vectors
from responsa.taxonomy.evidence.report import flat, read_report
from responsa.taxonomy.evidence.vectors import ChunkVectors, chunk_vectors, similarities
from responsa.types import Edition, Passage

TABLE = (
    "<table><caption>KPI</caption><tr><th>Activity</th><th>CCM 7.7</th></tr>"
    "<tr><td>Turnover &amp; rent</td><td>931</td></tr></table>"
)


def write(folder: Path, *sheets: Sheet, name: str = "ACME_2023.pdf") -> Path:
    path = folder / name
    path.write_bytes(pdf(*sheets, title="ACME Annual Report"))
    return path


@pytest.fixture
def small(tmp_path):
    first = (
        Sheet().text(50, 60, "EU Taxonomy", size=20, bold=True).lines(50, 100, "Rental income is eligible.", "It grew.")
    )
    second = Sheet().lines(50, 100, "The heat pumps were installed in 2023.")
    return write(tmp_path, first, second)


def test_a_table_is_flattened_to_lines_of_cells():
    assert flat(TABLE) == "KPI\nActivity\tCCM 7.7\nTurnover & rent\t931"


def test_text_without_a_table_stays_as_it_is():
    assert flat("a < b\tc\n\n d") == "a < b\tc\n\n d"


def test_chunks_know_page_heading_and_place(small, tmp_path):
    report = read_report(small, tmp_path / "cache")
    assert (report.name, report.title, report.pages) == ("ACME_2023", "ACME Annual Report", 2)
    assert [(chunk.page, chunk.number) for chunk in report.chunks] == [(1, "p. 1 chunk 1"), (2, "p. 2 chunk 1")]
    assert "Rental income is eligible." in report.chunks[0].text
    assert report.chunks[1].path == ("EU Taxonomy",)
    assert {box.page for box in report.chunks[1].boxes} == {2}
    assert [part.text for part in report.parts(report.chunks[1].id)] == ["The heat pumps were installed in 2023."]
    assert report.parts("no chunk") == ()


def test_a_quote_is_found_on_its_page_alone(small, tmp_path):
    report = read_report(small, tmp_path / "cache")
    (box,) = report.boxes(2, "heat  pumps were installed")
    assert box.page == 2
    assert report.boxes(1, "heat pumps were installed") == ()
    assert report.boxes(2, "") == ()


def test_the_same_bytes_are_read_once(small, tmp_path, monkeypatch):
    first = read_report(small, tmp_path / "cache")

    def refuse(*_):
        raise AssertionError("read again")

    monkeypatch.setattr(reports.Sandbox, "read", refuse)
    again = read_report(small, tmp_path / "cache")
    assert again.passages == first.passages
    small.write_bytes(small.read_bytes().replace(b"2023", b"2024"))
    with pytest.raises(AssertionError, match="read again"):
        read_report(small, tmp_path / "cache")


def test_a_damaged_cache_is_made_again(small, tmp_path):
    first = read_report(small, tmp_path / "cache")
    (kept,) = (tmp_path / "cache").glob("report-*/editions.json")
    kept.write_bytes(b"[" + kept.read_bytes()[1:-1] + b"}")
    assert read_report(small, tmp_path / "cache").passages == first.passages


def test_a_scan_is_refused(tmp_path):
    with pytest.raises(ReadError, match="no text"):
        read_report(write(tmp_path, Sheet().image()), tmp_path / "cache")


def test_a_page_that_is_a_picture_is_told(tmp_path):
    path = write(tmp_path, Sheet().lines(50, 100, "The EU Taxonomy applies."), Sheet().image())
    assert any(notice.startswith("page 2 ") for notice in read_report(path, tmp_path / "cache").notices)


def test_no_report_at_all_is_refused(tmp_path):
    (tmp_path / "x.pdf").write_bytes(b"GIF89a")
    with pytest.raises(ReadError, match=r"x\.pdf"):
        read_report(tmp_path / "x.pdf", tmp_path / "cache")
    with pytest.raises(ReadError, match="No such file"):
        read_report(tmp_path / "missing.pdf", tmp_path / "cache")


def test_another_language_is_told(tmp_path):
    german = "Die Gesellschaft vermietet Wohnungen und modernisiert Heizungen in allen Regionen. "
    (tmp_path / "bericht.txt").write_text(german * 40, encoding="utf-8")
    assert any("English" in notice for notice in read_report(tmp_path / "bericht.txt", tmp_path / "cache").notices)


def test_a_report_that_does_not_mention_the_taxonomy_is_told(tmp_path):
    (tmp_path / "other.txt").write_text("The company makes and sells shoes to the people of the north. " * 30)
    report = read_report(tmp_path / "other.txt", tmp_path / "cache")
    assert any("Taxonomy is not mentioned" in notice for notice in report.notices)


@pytest.mark.parametrize("text", ["Wir berichten nach der EU-Taxonomie.", "Der Umsatz ist taxonomiekonform."])
def test_a_german_report_that_mentions_the_taxonomy_is_not_told_otherwise(tmp_path, text):
    (tmp_path / "bericht.txt").write_text(text, encoding="utf-8")
    assert not any(
        "not mentioned" in each for each in read_report(tmp_path / "bericht.txt", tmp_path / "cache").notices
    )


def test_a_file_without_pages_is_one_page(tmp_path):
    (tmp_path / "plain.txt").write_text("First paragraph.\n\nSecond paragraph on the EU Taxonomy.", encoding="utf-8")
    report = read_report(tmp_path / "plain.txt", tmp_path / "cache")
    assert report.pages == 1
    assert [chunk.page for chunk in report.chunks] == [1]


def test_what_is_read_with_recognition_is_kept_apart(small, tmp_path, monkeypatch):
    asked = []

    class Fake:
        def __init__(self, limits):
            self.ocr = limits.ocr if limits else ""

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def read(self, path):
            asked.append(self.ocr)
            passage = Passage("a", "A", "1", f"read with {self.ocr or 'no recognition'}", page=1)
            return (Edition("A", "A", (passage,)),)

    monkeypatch.setattr(reports, "Sandbox", Fake)
    texts = [read_report(small, tmp_path, limits).chunks[0].text for limits in (None, Limits(ocr="eng"))]
    again = read_report(small, tmp_path, Limits(ocr="eng"))
    assert texts == ["read with no recognition", "read with eng"]
    assert (again.chunks[0].text, asked) == ("read with eng", ["", "eng"])
    # What is made of a report lies where it lies: figures and vectors of the one do not serve for the other.
    assert again.artefacts.folder != read_report(small, tmp_path).artefacts.folder


def test_the_best_window_of_a_chunk_counts():
    found = ChunkVectors(np.array([[1, 0], [0, 1], [0.5, 0.5]], np.float32), np.array([0, 0, 2]), 3)
    assert found.similar(np.array([[0, 1]], np.float32)).tolist() == [[1.0, 0.0, 0.5]]
    assert found.similar(np.zeros((0, 2), np.float32)).shape == (0, 3)


def test_vectors_are_made_once_for_a_report_and_a_model(small, tmp_path, monkeypatch):
    report = read_report(small, tmp_path / "cache")
    asked = []

    class Fake:
        name, dimension = "fake", 2

        def encode(self, texts, role):
            asked.append((list(texts), role))
            return np.ones((len(texts), 2), np.float32)

    monkeypatch.setattr(vectors, "load_encoder", lambda _: Fake())
    for _ in range(2):
        found = chunk_vectors(report, "fake:fake")
    assert (found.vectors.shape, found.owner.tolist(), found.size) == ((2, 2), [0, 1], 2)
    assert [role for _, role in asked] == ["passage"]


def test_vectors_of_another_length_than_the_queries_are_made_anew(small, tmp_path, monkeypatch):
    report = read_report(small, tmp_path / "cache")

    class Changing:
        name, dimension, asked = "changing", 2, 2

        def encode(self, texts, role):
            return np.ones((len(texts), self.asked if role == "query" else self.dimension), np.float32)

    model = Changing()
    monkeypatch.setattr(vectors, "load_encoder", lambda _: model)
    assert similarities(report, "fake:fake", ["a", "b", "c"]).tolist() == [[2.0, 2.0]] * 3
    model.dimension = model.asked = 5
    assert similarities(report, "fake:fake", ["a"]).tolist() == [[5.0, 5.0]]
    assert chunk_vectors(report, "fake:fake").vectors.shape == (2, 5)
    model.asked = 3
    with pytest.raises(ModelError, match="fake:fake: gives vectors of 3 numbers for queries and of 5 for passages"):
        similarities(report, "fake:fake", ["a"])
