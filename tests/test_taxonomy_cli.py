"""taxonomy list, show, screen and build as they are typed."""

from __future__ import annotations

import json

import pytest

from pdffile import Sheet, pdf
from responsa.taxonomy.evidence import report as reports
from test_referring_cli import data as parsed
from test_referring_cli import run
from test_taxonomy_catalogue import act


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def typed(tmp_path, *arguments):
    return run(tmp_path / "none", "taxonomy", *arguments)


def test_list(tmp_path):
    items = parsed(typed(tmp_path, "list", "--objective", "ccm", "--sector", "7", "--year", 2023, "--json"))
    assert [each["id"] for each in items["activities"]] == [f"CCM 7.{number}" for number in range(1, 8)]
    assert "CC BY 4.0" in items["attribution"]
    printed = typed(tmp_path, "list", "--objective", "CE", "--year", 2023).stdout
    assert "CE 3.1" in printed
    assert "(approximate)" in printed
    assert "21 activities. " in printed


def test_list_of_an_unknown_objective(tmp_path):
    done = typed(tmp_path, "list", "--objective", "CCN")
    assert done.returncode == 1
    assert "no objective 'CCN'; did you mean 'CCM'?" in done.stderr


def test_show(tmp_path):
    printed = typed(tmp_path, "show", "CCM 6.5", "--year", 2023).stdout
    assert printed.startswith(
        "CCM 6.5 Transport by motorbikes, passenger cars and light commercial vehicles (transitional)\n"
    )
    for part in (
        "NACE H49.32, H49.39, N77.11", "32021R2139 as of 2024-01-01, for the financial year 2023", "SC [all of 2]",
        "SC (a)(i) (to 2025-12-31): until 31 December 2025", "> specific emissions of CO2 < 50 gCO2/km (to 2025-12-31)",
        "No significant harm to transition to a circular economy", "Appendix A", "CC BY 4.0",
    ):  # fmt: skip
        assert part in printed
    assert "> Energy Performance Certificate class A or better" in typed(tmp_path, "show", "CCM 7.7").stdout
    assert "> applies to: " in typed(tmp_path, "show", "CCM 7.7").stdout
    assert (
        "note: CCM 6.5 has criteria from the financial year 2021"
        in typed(tmp_path, "show", "CCM 6.5", "--year", 2020).stdout
    )


def test_show_as_json(tmp_path):
    (one,) = parsed(typed(tmp_path, "show", "CCM 7.1", "--year", 2023, "--json"))["activities"]
    assert (one["id"], one["source"], one["approximate"]) == ("CCM 7.1", "32021R2139 as of 2024-01-01", False)
    first = one["substantial_contribution"]["parts"][0]
    assert (first["id"], first["thresholds"][0]["value"], first["thresholds"][0]["op"]) == ("SC 1", 10.0, ">=")
    assert set(one["dnsh"]) == {"CCA", "WTR", "CE", "PPC", "BIO"}
    assert set(one["appendices"]) >= {"A", "C", "E"}


def test_show_of_several_objectives(tmp_path):
    done = typed(tmp_path, "show", "6.5")
    assert done.returncode == 1
    assert "give one of: 'CCM 6.5'" in done.stderr
    items = parsed(typed(tmp_path, "show", "6.5", "--all", "--json"))["activities"]
    assert [each["id"] for each in items] == ["CCM 6.5", "CCA 6.5"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("CCM 6.55",), "did you mean 'CCM 6.5'"),
        (("CCM 6.5", "--year", 2010), "they begin with the financial year 2021"),
        (("CCM 6.5", "--catalogue", "nothing.json"), "cannot be read as a taxonomy catalogue"),
    ],
)
def test_show_refuses(tmp_path, arguments, said):
    done = typed(tmp_path, "show", *arguments)
    assert done.returncode == 1
    assert said in done.stderr


def test_build_and_use(tmp_path):
    path, out = tmp_path / "act.xml", tmp_path / "own.json.gz"
    path.write_text(act(), encoding="utf-8")
    done = typed(tmp_path, "build", path, "--out", out)
    assert (done.returncode, done.stderr) == (0, "act.xml: 1 activities\n")
    assert "1 activities in" in done.stdout
    items = parsed(typed(tmp_path, "list", "--catalogue", out, "--json"))["activities"]
    assert [each["id"] for each in items] == ["CCM 9.7"]
    assert typed(tmp_path, "build", tmp_path / "no.xml", "--out", out).returncode == 1


def test_screen(tmp_path):
    report = tmp_path / "report.pdf"
    pages = [Sheet().lines(60, 100, "Our report", "of the year 2023"),
             Sheet().lines(60, 100, "CCM 7.7 Acquisition and ownership of buildings", "and 40 new charging points")]  # fmt: skip
    report.write_bytes(pdf(*pages))
    items = parsed(typed(tmp_path, "screen", report, "--year", 2023, "-k", 2, "--json"))
    assert [each["id"] for each in items["activities"]] == ["CCM 7.7", "CCM 7.4"]
    assert items["activities"][0]["reasons"][0] == {"kind": "code", "pages": [2], "matched": "CCM 7.7"}
    printed = typed(tmp_path, "screen", report).stdout
    assert "phrase 'charging points', page 2" in printed


def test_a_report_is_read_once(tmp_path, monkeypatch):
    report = tmp_path / "report.pdf"
    report.write_bytes(pdf(Sheet().lines(60, 100, "CCM 7.7 Acquisition and ownership of buildings")))
    first = typed(tmp_path, "screen", report, "--json")
    monkeypatch.setattr(reports, "Sandbox", None)
    assert typed(tmp_path, "screen", report, "--json") == first
    assert "CCM 7.7" in reports.read_report(report).chunks[0].text  # as assess reads it


def test_screen_of_what_is_no_report(tmp_path):
    empty, broken = tmp_path / "empty.pdf", tmp_path / "broken.pdf"
    empty.write_bytes(pdf(Sheet().text(60, 100, "Zzz qqq.")))
    broken.write_bytes(b"no pdf")
    assert "nothing in its text points to an activity" in typed(tmp_path, "screen", empty).stdout
    done = typed(tmp_path, "screen", broken)
    assert done.returncode == 1
    assert "broken.pdf" in done.stderr
    assert json.loads(typed(tmp_path, "screen", empty, "--json").stdout)["activities"] == []
