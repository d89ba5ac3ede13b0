"""assess as it is typed: one report, several, resumed, with a model and without, and what is wrong with files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

from pdffile import Sheet, pdf
from responsa.testing import ChatServer
from responsa.testing.replies import sensible

TIMEOUT = 120  # seconds after which a child process counts as hung
TEXTS = (
    ("Nordkap Bolig", "Annual report 2023", "In fiscal 2023, fiscal 2023 and fiscal 2023 we let flats."),
    (
        "Acquisition and ownership of buildings (CCM 7.7)",
        "At the end of 2023, 1,462 of our flats have an energy performance certificate class A.",
        "By 2030 every flat is to reach class A.",
    ),
    ("Solar panels", "In 2023 we generated electricity using solar photovoltaic technology on 40 roofs."),
    ("Risk report", "Interest rates rose in 2023 and so did the cost of debt."),
)
READ = SimpleNamespace(notices=())
QUICK = ("--recipe", "kw_qs")


def write(path, *texts):
    sheets = [Sheet().lines(72, 100, *lines, leading=30) for lines in texts]
    path.write_bytes(pdf(*sheets))
    return path


@pytest.fixture
def report(tmp_path):
    return write(tmp_path / "nordkap.pdf", *TEXTS)


@pytest.fixture
def environment(tmp_path):
    own = {name: value for name, value in os.environ.items() if name != "RESPONSA_CHAT_MODEL"}
    return {**own, "XDG_CACHE_HOME": str(tmp_path / "cache"), "COLUMNS": "200"}


@pytest.fixture
def typed(environment):
    def run(*arguments):
        command = [sys.executable, "-m", "responsa", "assess", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, env=environment)

    return run


def parsed(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# Without a model


def test_one_report_is_one_object(typed, report):
    found = parsed(typed(report, "--activity", "CCM 7.7", "--json"))
    assert {"criteria", "evidence", "numbers", "verdict"} <= set(found)
    assert found["verdict"] is None
    assert (found["year"], found["year_from"]) == (2023, "the year that the report names most often as its own")
    assert found["evidence"][0]["page"] == 2
    assert "class A" in found["evidence"][0]["text"]
    assert found["evidence"][0]["boxes"]
    assert found["activity"]["id"] == "CCM 7.7"
    assert [each["id"] for each in found["criteria"]][:2] == ["SC", "SC 1"]
    assert "default" in found["asking"]["recipe"]


def test_what_is_printed(typed, report):
    done = typed(report, "--activity", "ccm7.7", *QUICK)
    assert done.returncode == 0, done.stderr
    for part in (
        "CCM 7.7 Acquisition and ownership of buildings", "Financial year 2023", "Verdict: none", "SC 1 [one of 2]",
        "page 2", "Missing", "A draft for a person to check",
    ):  # fmt: skip
        assert part in done.stdout
    assert "no verdicts, evidence and numbers only" in done.stderr


def test_json_is_not_written_under_the_name_of_another_kind(typed, report, tmp_path):
    done = typed(report, "--activity", "CCM 7.7", "--out", tmp_path / "a.xlsx", *QUICK)
    assert done.returncode == 1
    assert "--out writes JSON, not 'a.xlsx'; give that file to --xlsx" in done.stderr
    assert "no verdicts" not in done.stderr
    assert not list(tmp_path.glob("a.xlsx*"))


def test_the_year_asked_for_counts(typed, report):
    found = parsed(typed(report, "--activity", "CCM 7.7", "--year", 2022, "--json", *QUICK))
    assert (found["year"], found["year_from"]) == (2022, "as asked")


def test_several_are_a_list_and_a_table(typed, report, tmp_path):
    other = write(tmp_path / "other.pdf", *TEXTS[:3])
    pair = ("--activity", "CCM 7.7", "--activity", "CCM 4.1", *QUICK)
    found = parsed(typed(report, other, *pair, "--json"))
    assert [(each["report"]["name"], each["activity"]["id"]) for each in found] == [
        ("nordkap", "CCM 7.7"), ("nordkap", "CCM 4.1"), ("other", "CCM 7.7"), ("other", "CCM 4.1"),
    ]  # fmt: skip
    printed = typed(report, other, *pair).stdout
    assert printed.count("nordkap") == 2
    assert printed.count("CCM 4.1") == 2


def test_out_is_a_file_and_leaves_no_journal(typed, report, tmp_path):
    out = tmp_path / "found.json"
    done = typed(report, "--activity", "CCM 7.7", "--out", out, *QUICK)
    assert done.returncode == 0, done.stderr
    assert json.loads(out.read_text())["activity"]["id"] == "CCM 7.7"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["cache", "found.json", "nordkap.pdf"]
    refused = typed(report, "--activity", "CCM 7.7", "--out", report)
    assert refused.returncode == 1
    assert "is read; name another file" in refused.stderr


# What is wrong with what is asked


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--activity", "CCM 7.77"), "no activity 'CCM 7.77' in the EU Taxonomy; did you mean 'CCM 7.7'"),
        (("--activity", "cement"), "give one of: 'CCM 3.7' (Manufacture of cement)"),
        (("--activity", "7.7"), "is there for several objectives; give one of: 'CCM 7.7'"),
        (("--activity", "CCM 7.7", "--year", "2019"), "there are no criteria for CCM 7.7 for the financial year 2019"),
        (("--activity", "CCM 7.7", "--recipe", "kw_yak"), "did you mean 'kw_yake'?"),
        (("--activity", "CCM 7.7", "--recipe", "kw_qe"), "made by a language model and none was given"),
        (("--activity", "CCM 7.7", "--method", "few-shot"), "no method 'few-shot'; did you mean 'few-shot-cot'?"),
        (("--activity", "CCM 7.7", "--dry-run"), "no language model is asked"),
        (("--activity", "CCM 7.7", "--ocr", "../eng"), "Tesseract's names of languages"),
    ],
)
def test_bad_questions(typed, report, arguments, said):
    done = typed(report, *arguments, "--json")
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_all_objectives_of_a_number(typed, report):
    found = parsed(typed(report, "--activity", "7.7", "--all", "--json", *QUICK))
    assert [each["activity"]["objective"] for each in found] == ["CCM", "CCA"]


# What is wrong with a report


def test_a_scan_says_what_to_do(typed, tmp_path):
    path = tmp_path / "scan.pdf"
    path.write_bytes(pdf(Sheet().image(), Sheet().image()))
    done = typed(path, "--activity", "CCM 7.7")
    assert done.returncode == 1
    assert "pictures (scans)" in done.stderr
    assert "--ocr eng" in done.stderr


def test_ocr_is_asked_of_the_reader_and_told(tmp_path, monkeypatch):
    from responsa.cli.assessing import _Session
    from responsa.taxonomy.evidence import report as reports
    from responsa.taxonomy.values import Asking

    asked = []
    monkeypatch.setattr(
        reports, "read_report", lambda path, folder, limits, _: asked.append((folder, limits and limits.ocr)) or READ
    )
    for ocr in ("", "deu+eng"):
        _Session(None, None, Asking(ocr=ocr), None)._read("scan.pdf")
    assert asked == [(None, None), (None, "deu+eng")]


def test_a_report_is_tried_once_and_held_until_the_next(tmp_path, monkeypatch):
    from responsa.cli.assessing import _Session
    from responsa.errors import ReadError
    from responsa.taxonomy.evidence import report as reports
    from responsa.taxonomy.values import Asking

    asked = []

    def read(path, *_):
        asked.append(path.name)
        if path.name == "scan.pdf":
            raise ReadError("scan.pdf: has no text")
        return READ

    monkeypatch.setattr(reports, "read_report", read)
    session = _Session(None, None, Asking(), None)
    for name in ("scan.pdf", "scan.pdf", "one.pdf", "one.pdf", "two.pdf"):
        if name == "scan.pdf":
            with pytest.raises(ReadError, match="has no text"):
                session._read(name)
        else:
            assert session._read(name) is READ
    assert asked == ["scan.pdf", "one.pdf", "two.pdf"]


def test_files_are_there_though_nobody_reads_what_is_printed(report, tmp_path, environment):
    page, closed = tmp_path / "page.html", os.pipe()
    os.close(closed[0])
    command = [sys.executable, "-m", "responsa", "assess", report, "--activity", "CCM 7.7", *QUICK, "--html", page]
    subprocess.run(list(map(str, command)), stdout=closed[1], stderr=subprocess.PIPE, timeout=TIMEOUT, env=environment)
    os.close(closed[1])
    assert "class A" in page.read_text("utf-8")


def test_a_locked_report(typed, tmp_path):
    path = tmp_path / "locked.pdf"
    path.write_bytes(pdf(Sheet().text(72, 100, "secret"), encrypt="<</Filter/Unknown/V 9>>"))
    done = typed(path, "--activity", "CCM 7.7")
    assert done.returncode == 1
    assert "is encrypted" in done.stderr


def test_no_report_at_all(typed, tmp_path):
    done = typed(tmp_path / "nowhere.pdf", "--activity", "CCM 7.7")
    assert done.returncode == 1
    assert "cannot be read" in done.stderr
    (tmp_path / "song.md").write_text("# A song\n\n" + "La la la, the moon is up. " * 40)
    found = parsed(typed(tmp_path / "song.md", "--activity", "CCM 7.7", "--year", "2023", "--json", *QUICK))
    assert any("EU Taxonomy is not mentioned" in note for note in found["notes"])
    assert any("nothing in the report's text names this activity" in flag for flag in found["flags"])
    done = typed(tmp_path / "song.md", "--activity", "CCM 7.7", *QUICK)
    assert done.returncode == 1
    assert "names no financial year; give it with --year" in done.stderr


def test_another_language_is_said_and_assessed(typed, tmp_path):
    (tmp_path / "bericht.md").write_text(
        "# Bericht 2023\n\n" + "Unsere Wohnungen haben im Jahr 2023 die Klasse A erreicht und werden vermietet. " * 30
    )
    done = typed(tmp_path / "bericht.md", "--activity", "CCM 7.7", "--json", *QUICK)
    assert any("does not look English" in note for note in parsed(done)["notes"])
    assert "does not look English" in done.stderr


def test_a_page_that_is_a_picture_is_said(typed, tmp_path):
    path = tmp_path / "figure.pdf"
    path.write_bytes(pdf(*(Sheet().lines(72, 100, *lines, leading=30) for lines in TEXTS), Sheet().image()))
    found = parsed(typed(path, "--activity", "CCM 7.7", "--json", *QUICK))
    assert any(each.startswith("page 5: no text was read") for each in found["missing"])


def test_a_bad_file_in_a_batch_is_a_row(typed, report, tmp_path):
    scan = tmp_path / "scan.pdf"
    scan.write_bytes(pdf(Sheet().image()))
    out = tmp_path / "found.json"
    done = typed(scan, report, "--activity", "CCM 7.7", "--out", out, *QUICK)
    assert done.returncode == 1
    first, second = json.loads(out.read_text())
    assert "pictures (scans)" in first["failure"]
    assert first["verdict"] is None
    assert second["failure"] == ""
    assert "scan.pdf, CCM 7.7: " in done.stderr


# With a model


def test_a_model_s_verdicts(typed, report):
    with ChatServer() as server:
        found = parsed(
            typed(report, "--activity", "CCM 7.7", "--model", f"{server.url}#m", "--json", "--generations", 2, *QUICK)
        )
        assert len(server.requests) == 2
    assert found["verdict"] == "insufficient"
    assert found["trust"]["usable"] == 2
    assert len(found["trace"]) == 2
    assert found["criteria"][0]["verdict"] == "insufficient"
    assert {"support", "place", "quote", "page"} <= set(
        next(claim for each in found["criteria"] for claim in each["claims"])
    )


def test_a_missing_library_is_told_before_reports_are_read(monkeypatch):
    from responsa.cli.assessing import _model
    from responsa.errors import MissingDependency

    for name in ("pydantic_ai", "pydantic_ai.models"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingDependency, match=r"responsa\[llm\]"):
        _model("http://127.0.0.1:9/v1#unasked", dry_run=False)


def test_a_model_that_never_gives_json_fails_its_rows_and_the_others_go_on(typed, report, tmp_path):
    def reply(asked):
        return "I would rather not." if "CCM 4.1" in asked.text else sensible(asked)

    out = tmp_path / "found.json"
    with ChatServer(reply=reply) as server:
        done = typed(
            report, "--activity", "CCM 4.1", "--activity", "CCM 7.7", "--model", f"{server.url}#m", "--out", out,
            "--generations", 1, *QUICK,
        )  # fmt: skip
    assert done.returncode == 1
    first, second = json.loads(out.read_text())
    assert "no usable reply" in first["failure"]
    assert first["verdict"] is None
    assert first["evidence"]
    assert second["verdict"] == "insufficient"
    assert "failed" in done.stdout


def test_a_dry_run_tells_the_requests(typed, report):
    with ChatServer() as server:
        done = typed(report, "--activity", "CCM 7.7", "--model", f"{server.url}#m", "--dry-run", "--safeguards", *QUICK)
        assert not server.requests
    assert done.returncode == 0, done.stderr
    row = next(line for line in done.stdout.splitlines() if "assess-zero-shot-cot" in line)
    assert row.split()[1] == "10"


def test_faults_of_the_server_are_lived_through(typed, report):
    with ChatServer() as server:
        server.faults("prose", "wrong-shape", "over-long")
        found = parsed(
            typed(report, "--activity", "CCM 7.7", "--model", f"{server.url}#m?attempts=3", "--json",
                  "--generations", 2, *QUICK)
        )  # fmt: skip
    assert found["trust"]["usable"] >= 1
    assert found["verdict"] == "insufficient"


def test_killed_in_the_middle_it_goes_on_where_it_ended(typed, environment, report, tmp_path):
    """Nothing that was done is lost or asked again, also where replies are not cached."""
    out, stuck, going = tmp_path / "found.json", threading.Event(), threading.Event()

    def reply(asked):
        if "CCM 4.1" in asked.prompt and not going.is_set():
            stuck.set()
            going.wait(TIMEOUT)
        return sensible(asked)

    with ChatServer(reply=reply) as server:
        arguments = (
            report, "--activity", "CCM 7.7", "--activity", "CCM 4.1", "--model", f"{server.url}#m?cache=off",
            "--out", out, "--generations", 1, *QUICK,
        )  # fmt: skip
        child = subprocess.Popen(
            [sys.executable, "-m", "responsa", "assess", *map(str, arguments)],
            env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert stuck.wait(TIMEOUT)
        child.kill()
        child.wait(TIMEOUT)
        going.set()
        assert not out.exists()
        before = len(server.requests)
        done = typed(*arguments)
        assert done.returncode == 0, done.stderr
        again = server.requests[before:]
    assert "going on with 1 assessment of" in done.stderr
    assert len(again) == 1
    assert "CCM 4.1" in json.dumps(again[0].body)
    assert [each["verdict"] for each in json.loads(out.read_text())] == ["insufficient", "insufficient"]
    assert not out.with_name("found.json.journal").exists()


# Every recipe


@pytest.mark.slow
def test_every_recipe_runs_on_real_reports(data, tmp_path):
    """All recipes of the thesis and ours, with the local server for those that need a language model."""
    from responsa.errors import MissingDependency
    from responsa.models.chat.load import load_chat
    from responsa.taxonomy.activities.catalogue import shipped as acts
    from responsa.taxonomy.assessment.assess import assess
    from responsa.taxonomy.evidence.recipes import shipped
    from responsa.taxonomy.evidence.report import read_report
    from responsa.taxonomy.values import Asking

    with ChatServer() as server:
        chat = load_chat(f"{server.url}#m?cache=off")
        for name, activity, year in (("BMW_SR_2022.pdf", "CCM 7.4", 2022), ("Vonovia_SR_2023.pdf", "CCM 7.1", 2021)):
            report = read_report(data / "reports" / name, tmp_path)
            for recipe in shipped():
                try:
                    found = assess(
                        report,
                        acts().find(activity, year),
                        year,
                        Asking(recipe=recipe, generations=1),
                        acts(),
                        chat=chat,
                    )
                except MissingDependency:
                    assert "yake" in recipe
                    continue
                few = recipe.endswith("bert*") and not recipe.endswith("**")  # five words of a query, five of a chunk
                assert found.evidence or few, recipe
                assert len(found.evidence) <= 10
                assert found.verdict == "insufficient", recipe
                assert not found.failure, recipe
