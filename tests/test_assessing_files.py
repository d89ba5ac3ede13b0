"""Assessments written to files: one to a file, several to a folder with a list of them, and what cannot be written."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from dataclasses import replace

import openpyxl
import pytest

from assessments import REPORT, assessment
from responsa.cli.assessing_files import Files, _names
from responsa.errors import InputError
from responsa.taxonomy.assessment.batch import Row
from test_render import Page

docx = pytest.importorskip("docx")


@pytest.fixture
def report(tmp_path):
    path = tmp_path / "report.pdf"
    path.write_bytes(REPORT)
    return path


def row(path, made=None, **changes):
    return Row(str(path), "CCM 7.7", made or assessment(**changes))


def test_one_goes_to_a_file_of_each_kind(tmp_path, report, capsys):
    files = Files(tmp_path / "a.html", tmp_path / "a.docx", tmp_path / "a.xlsx", many=False)
    files.check([report])
    files.write([row(report)])
    assert len(Page((tmp_path / "a.html").read_text("utf-8")).of("image")) == 2
    assert len(docx.Document(str(tmp_path / "a.docx")).inline_shapes) == 5
    assert "Matrix" in openpyxl.load_workbook(io.BytesIO((tmp_path / "a.xlsx").read_bytes())).sheetnames
    assert capsys.readouterr().err.count("1 assessment written to ") == 3


def test_several_go_to_a_folder_with_a_list(tmp_path, report):
    files = Files(tmp_path / "pages", tmp_path / "pages", tmp_path / "all.xlsx", many=True)
    files.check([report])
    failed = Row(str(tmp_path / "scan.pdf"), "CCM 7.7", None, "is a scan")
    files.write([row(report), row(report, year=2022), failed])
    assert sorted(each.name for each in (tmp_path / "pages").iterdir()) == [
        "index.html", "report-CCM_7.7-2022.docx", "report-CCM_7.7-2022.html", "report-CCM_7.7-2023.docx", "report-CCM_7.7-2023.html",
    ]  # fmt: skip
    read = Page((tmp_path / "pages" / "index.html").read_text("utf-8"))
    assert [each[1]["href"] for each in read.of("a")] == ["report-CCM_7.7-2023.html", "report-CCM_7.7-2022.html"]
    assert "scan, CCM 7.7: is a scan" in read.texts("li")
    cells = openpyxl.load_workbook(tmp_path / "all.xlsx")["Matrix"]["C"]
    assert [cell.value.split("\n")[0] for cell in cells] == [
        "CCM 7.7",
        "Not aligned",
        "Not aligned",
        "not assessed: is a scan",
    ]


def test_a_report_that_changed_costs_its_pictures(tmp_path, report, capsys):
    report.write_bytes(REPORT + b"\n")
    Files(tmp_path / "a.html", None, None, many=False).write([row(report)])
    read = Page((tmp_path / "a.html").read_text("utf-8"))
    assert not read.of("image")
    assert "there are no pictures of pages" in read.texts("body")[0]
    assert "is not the file that was assessed" in capsys.readouterr().err


def test_nothing_asked_for_nothing_written(tmp_path, report, capsys):
    Files(None, None, None, many=False).write([row(report)])
    Files(tmp_path / "a.html", None, tmp_path / "a.xlsx", many=False).write(
        [Row("x.pdf", "CCM 7.7", None, "is a scan")]
    )
    assert [each.name for each in tmp_path.iterdir()] == ["report.pdf"]
    assert capsys.readouterr().err == ""


def test_what_cannot_be_written_is_refused_before_work(tmp_path, report):
    with pytest.raises(InputError, match="is read; name another file"):
        Files(report, None, None, many=False).check([report])
    with pytest.raises(InputError, match="several assessments go to a folder"):
        Files(report, None, None, many=True).check([report])
    with pytest.raises(InputError, match="there is no folder"):
        Files(None, tmp_path / "no" / "folder", None, many=True).check([report])
    with pytest.raises(InputError, match="there is no folder"):
        Files(None, None, tmp_path / "no" / "a.xlsx", many=True).check([report])


def test_names_are_safe_and_each_is_used_once():
    it = assessment()
    odd = replace(it, report="../..\\a b\0c" + "x" * 300)
    names = list(_names([it, it, replace(it, report="REPORT"), odd, replace(it, report="...")]))
    assert names[:3] == ["report-CCM_7.7-2023", "report-CCM_7.7-2023-2", "REPORT-CCM_7.7-2023-3"]
    assert names[3].startswith("a_b_cx")
    assert len(names[3]) < 110
    assert not set("/\\\0") & set("".join(names))
    assert names[4] == "report-CCM_7.7-2023-4"


def test_as_it_is_typed(tmp_path, report):
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "RESPONSA_CHAT_MODEL": ""}
    command = [sys.executable, "-m", "responsa", "assess", str(report), "--activity", "CCM 7.7", "--year", "2023"]
    command += ["--recipe", "kw_qs", "--html", str(tmp_path / "a.html"), "--xlsx", str(tmp_path / "a.xlsx")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    (body,) = Page((tmp_path / "a.html").read_text("utf-8")).texts("body")
    assert "CCM 7.7 Acquisition and ownership of buildings, financial year 2023" in body
    assert "No verdict" in body
    assert (tmp_path / "a.xlsx").stat().st_size > 5000
