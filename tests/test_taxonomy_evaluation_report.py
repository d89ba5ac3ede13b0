"""Tables 7.1 to 7.6 and figures 8.1 to 8.10 from files, as they are typed, and what stands beside what is printed."""

from __future__ import annotations

import csv
import json

import pytest

from pdffile import Sheet, pdf
from responsa.errors import InputError
from responsa.experiment.taxonomy_report import BARS, SWEEPS, Inputs, evaluate, markdown, write
from responsa.taxonomy.evaluation.tables import NOT_RUN, published, sweep_sheet, udr_sheet
from responsa.taxonomy.evidence.recipes import shipped
from test_referring_cli import run
from test_taxonomy_evaluation_rows import FIGURES, ROWS, assessed, chunk
from test_taxonomy_evaluation_runs import generation

pytest.importorskip("matplotlib")

RATINGS = """row,method,generation,rater,HE1,HE2,HE3,C21,C31,C32,logic_hole,conclusion,BL_1,BL_3
d1,zero-shot-cot,0,A,2,2,3,1,1,1,,true,.9,.5
d1,zero-shot-cot,1,A,1,2,0,1,0,1,criteria,false,.4,.2
d2,zero-shot-cot,0,A,0,-1,-1,0,0,1,hallucination,true,.1,.4
d2,zero-shot-cot,1,A,2,2,2,1,1,1,,true,.8,.9
d3,zero-shot-cot,0,A,2,2,2,1,1,1,,true,.7,.6
d3,zero-shot-cot,1,A,2,2,2,0,0,0,,false,.6,.1
d1,traditional,0,A,,,1,,,,,true,,
d1,zero-shot-cot,0,B,2,2,2,1,1,1,,true,,
d4,zero-shot-cot,0,A,,,,,,,,,,
"""
GOLD = {"rows": [{"id": "t1", "documents": [["a"], ["b"]]}, {"id": "t2", "documents": [["c"]]}]}
RUNS = {
    "kw": "t1 Q0 a 1 0.5 kw\nt1 Q0 x 2 0.4 kw\nt2 Q0 y 1 0.3 kw\n",
    "hb_qs": "t1 Q0 a 1 0.5 hb_qs\nt1 Q0 b 2 0.4 hb_qs\nt2 Q0 c 1 0.3 hb_qs\n",
    "hb_qe_own": "t1 Q0 a 1 0.95 hb_qe_own\nt1 Q0 b 2 0.04 hb_qe_own\nt2 Q0 c 1 0.3 hb_qe_own\n",
}


@pytest.fixture
def inputs(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    for name, text in RUNS.items():
        (folder / f"{name}.run").write_text(text)
    states = {"runs": [{"recipe": "hb_qe", "state": "not run", "reason": "no model was given", "key": "", "model": ""}]}
    (folder / "runs.json").write_text(json.dumps(states))
    (tmp_path / "gold.json").write_text(json.dumps(GOLD))
    (tmp_path / "ratings.csv").write_text(RATINGS)
    (tmp_path / "rows.json").write_text(json.dumps({"rows": ROWS}))
    made = assessed(evidence=[chunk(3, "flats of energy class A")], figures=FIGURES)
    (tmp_path / "a.json").write_text(json.dumps(made))
    return Inputs(
        (folder,), tmp_path / "gold.json", tmp_path / "ratings.csv", tmp_path / "rows.json", (tmp_path / "a.json",)
    )


def cells(made, name):
    sheet = next(sheet for sheet in made.sheets if sheet.name == name)
    return {row[0]: dict(zip(sheet.header, row, strict=True)) for row in sheet.rows}


def test_tables_of_ratings_by_hand(inputs):
    made = evaluate(inputs)
    first = cells(made, "table-7.1")
    assert [first[score]["Zero-shot CoT, here"] for score in ("-1", "0", "1", "2", "generations")] == [0, 1, 1, 4, 6]
    assert [first[score]["Zero-shot CoT, published"] for score in ("-1", "0", "1", "2")] == [None, 16, 20, 394]
    assert cells(made, "table-7.2")["-1"]["Zero-shot CoT, here"] == 1
    third = cells(made, "table-7.3")
    assert [third[score]["Zero-shot CoT, here"] for score in ("-1", "0", "1", "2", "3")] == [1, 1, 0, 3, 1]
    assert third["1"]["Traditional, here"] == 1
    holes = cells(made, "table-7.4")
    assert holes["Misunderstand the criteria"]["Zero-shot CoT, here"] == 1
    assert holes["None noted, conclusion 1 or less"]["Traditional, here"] == 1
    chains = cells(made, "table-7.5")
    assert [chains[name]["Zero-shot CoT, here"] for name in ("I", "II", "III", "V", "none")] == [3, 0, 1, 1, 1]
    found = cells(made, "table-7.6")
    assert found["(5.10) with n = 1"]["Zero-shot CoT, n, here"] == 6
    # rows d1 and d3 disagree: means .35, .65, .35 against 1, 0, 1
    assert found["(5.12)"]["Zero-shot CoT, r, here"] == pytest.approx(-1)
    assert found["(5.7)"]["Zero-shot CoT, r, here"] == NOT_RUN


def test_what_was_not_measured_says_so_and_no_printed_figure_stands_in_our_column(inputs):
    made = evaluate(inputs)
    for name in ("table-7.1", "table-7.2", "table-7.3", "table-7.4", "table-7.5", "table-7.6"):
        for row in cells(made, name).values():
            for column, value in row.items():
                if column.startswith("Few-shot CoT") and column.endswith("here") and ", n," not in column:
                    assert value == NOT_RUN, (name, column)


def test_the_ratings_of_another_rater(inputs, tmp_path):
    made = evaluate(Inputs(annotations=inputs.annotations, rater="B"))
    assert cells(made, "table-7.3")["generations"]["Zero-shot CoT, here"] == 1
    assert cells(made, "raters")["A"]["column"] == "C32"  # the last of six lines
    assert any("'B'" in remark for remark in made.remarks)
    assert any("not rated yet: 1, the first on line 10" in remark for remark in made.remarks)
    with pytest.raises(InputError, match="'C' rated nothing; raters: 'A', 'B'"):
        evaluate(Inputs(annotations=inputs.annotations, rater="C"))


def test_retrieval_by_hand(inputs):
    made = evaluate(inputs)
    found = cells(made, "retrieval")
    # kw: t1 1 of 2 found right, 1 of 2 right found; t2 nothing right
    assert (found["kw"]["mAP, here"], found["kw"]["mAR, here"]) == (0.25, 0.25)
    assert found["kw"]["documents found, here"] == "1 of 3"
    assert (found["hb_qs"]["mAP, here"], found["hb_qs"]["mAR, here"]) == (1.0, 1.0)
    assert found["hb_qe"]["mAP, here"] == NOT_RUN
    assert found["hb_qe"]["remark"] == "no model was given"
    assert (found["vector_qs"]["mAR, published"], found["vector_qs"]["mAR, here"]) == (0.7, NOT_RUN)
    assert set(found) >= set(shipped())
    matrix = cells(made, "figure-8.6")
    assert (matrix["hb_qs"]["kw"], matrix["kw"]["hb_qs"]) == (2, 0)
    shares = cells(made, "udr-share")
    assert (shares["hb_qs"]["kw"], shares["kw"]["hb_qs"]) == (pytest.approx(2 / 3), 0)
    cut = cells(made, "figure-8.7")
    assert (cut["0"]["mAR, here"], cut["0.05"]["mAR, here"], cut["0.4"]["mAR, here"]) == (1.0, 0.75, 0.25)
    assert (cut["0.05"]["UDR lost for a row, here"], cut["0.05"]["UDR lost for a row, published"]) == (0.5, 0.2)
    assert cells(made, "figure-8.9")["0.9"]["mAP, here"] == NOT_RUN


def test_figures_are_drawn_where_something_ran(inputs):
    made = evaluate(inputs)
    drawn = {name.removesuffix(".svg") for name in made.figures}
    assert {"figure-8.1", "figure-8.5", "figure-8.6", "figure-8.7", "figure-chains", "figure-others"} <= drawn
    assert set(made.absent) == {"figure-8.4", "figure-8.8", "figure-8.9", "figure-8.10"}
    assert drawn | set(made.absent) >= {f"figure-8.{number}" for number in range(1, 11)}
    assert NOT_RUN in made.figures["figure-8.5.svg"]
    page = markdown(made)
    assert "- figure-8.10: not run here" in page
    assert "![figure-8.7](figure-8.7.svg)" in page


def test_rows_by_hand(inputs):
    made = evaluate(inputs)
    found = cells(made, "rows")
    assert found["rows assessed"]["here"] == "1 of 3"
    assert found["verdict as the row's"]["here"] == 1.0
    assert found["numbers found with their unit"]["here"] == "2 of 3"
    each = cells(made, "rows-each")
    assert each["t1"]["quotes found"] == "1 of 2"
    assert each["t2"]["verdict, here"] == NOT_RUN


def test_printed_udr_in_brackets():
    sheet = udr_sheet({"vector": {"vector": 0, "kw": 4}, "kw": {"vector": 7, "kw": 0}})
    assert sheet.rows == (("vector", 0, "4 (0)"), ("kw", 7, 0))


def test_every_printed_recipe_and_threshold_is_one_of_ours():
    printed = published()
    assert set(printed["recall"]) | set(printed["udr"]) | set(printed["sweeps"]) <= set(shipped())
    assert {name for _, names in BARS.values() for name in names} | set(SWEEPS.values()) <= set(shipped())
    for name, told in printed["sweeps"].items():
        thresholds = {row[0] for row in sweep_sheet("x", name, []).rows}
        assert {key for each in told.values() for key in each} <= thresholds


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "nothing to evaluate"),
        ({"runs": ["x"]}, "runs and gold go together"),
        ({"gold": "x"}, "nothing to evaluate"),
        ({"rows": "x"}, "judged rows and assessments go together"),
    ],
)
def test_files_that_do_not_go_together(given, message):
    with pytest.raises(InputError, match=message):
        evaluate(Inputs(**given))


def test_names_of_runs_are_no_formulas(inputs, tmp_path):
    name = "=1+$x^$"
    (tmp_path / "runs" / "odd.run").write_text(f"t1 Q0 a 1 0.5 {name}\n")
    made = evaluate(inputs)
    write(made, inputs, tmp_path / "out")
    assert name in made.figures["figure-others.svg"]
    assert f"'{name}," in (tmp_path / "out" / "retrieval.csv").read_text()


def test_folders_of_assessments(inputs, tmp_path):
    (tmp_path / "made").mkdir()
    inputs.assessments[0].rename(tmp_path / "made" / "a.json")
    made = evaluate(Inputs(rows=inputs.rows, assessments=(tmp_path / "made",)))
    assert cells(made, "rows")["rows assessed"]["here"] == "1 of 3"
    assert [path.name for path in made.read] == ["rows.json", "a.json"]


def test_runs_of_another_set_are_refused(inputs, tmp_path):
    (tmp_path / "runs" / "kw.run").write_text("q9 Q0 a 1 0.5 kw\n")
    with pytest.raises(InputError, match="'kw': none of its rows is in the gold, such as 'q9'"):
        evaluate(inputs)


def test_a_rater_of_text_is_refused_with_its_line(inputs):
    inputs.annotations.write_text(RATINGS.replace("d1,zero-shot-cot,1,A,1,", "d1,zero-shot-cot,1,A,good,"))
    with pytest.raises(InputError, match="line 3: HE1 is 'good'"):
        evaluate(inputs)


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_same_files_give_the_same_bytes_and_what_is_out_of_date_goes(inputs, tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    names = write(evaluate(inputs), inputs, one)
    write(evaluate(inputs), inputs, other)
    assert content(one) == content(other)
    assert set(content(one)) == set(names)
    write(evaluate(inputs), inputs, one)
    assert content(one) == content(other)

    (one / "mine.txt").write_text("kept")
    less = Inputs(annotations=inputs.annotations)
    write(evaluate(less), less, one)
    left = set(content(one))
    assert "mine.txt" in left
    assert "figure-8.7.svg" not in left
    assert "rows.csv" not in left
    manifest = json.loads((one / "manifest.json").read_text())
    assert [each["file"] for each in manifest["read"]] == ["ratings.csv"]
    assert str(tmp_path) not in (one / "manifest.json").read_text()


def test_a_folder_with_other_things_is_left_alone(inputs, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "report.md").write_text("my own")
    made = evaluate(Inputs(annotations=inputs.annotations))
    with pytest.raises(InputError, match="holds other files"):
        write(made, inputs, folder)
    assert content(folder) == {"report.md": b"my own"}
    with pytest.raises(InputError, match="is a file"):
        write(made, inputs, folder / "report.md")


# As it is typed


def test_report_as_typed(inputs, tmp_path):
    command = (
        "taxonomy", "evaluate", "report", "--runs", inputs.runs[0], "--gold", inputs.gold, "--annotations",
        inputs.annotations, "--rows", inputs.rows, "--assessment", inputs.assessments[0], "--out", tmp_path / "out",
    )  # fmt: skip
    done = run(tmp_path / "none", *command)
    assert done.returncode == 0, done.stderr
    assert "Chain types" in done.stdout
    assert "files written to" in done.stderr
    with (tmp_path / "out" / "table-7.5.csv").open(newline="") as file:
        assert {row["type"]: row["Zero-shot CoT, here"] for row in csv.DictReader(file)}["I"] == "3"
    told = json.loads(run(tmp_path / "none", *command, "--json").stdout)
    assert told == json.loads((tmp_path / "out" / "results.json").read_text())


def test_template_as_typed(inputs, tmp_path):
    made = assessed(generations=(generation(0, "a", "b", "c"), generation(1, "a", "b", "d")))
    (tmp_path / "g.json").write_text(json.dumps(made))
    done = run(
        tmp_path / "none", "taxonomy", "evaluate", "template", tmp_path / "g.json", "--rows", inputs.rows, "--out",
        tmp_path / "form.csv",
    )  # fmt: skip
    assert "2 generations to rate" in done.stderr
    with (tmp_path / "form.csv").open(newline="") as file:
        assert [row["row"] for row in csv.DictReader(file)] == ["t1", "t1"]
    done = run(
        tmp_path / "none",
        "taxonomy",
        "evaluate",
        "report",
        "--annotations",
        tmp_path / "form.csv",
        "--out",
        tmp_path / "o",
    )
    assert done.returncode == 1
    assert "no generation is rated" in done.stderr


def test_runs_as_typed(tmp_path):
    rows = [ROWS[0] | {"report": "acme.pdf", "evidence": [{"page": 1, "quote": "energy class A", "role": "supports"}]}]
    (tmp_path / "rows.json").write_text(json.dumps({"rows": rows}))
    pages = ("All our flats are of energy class A.", "Letter of the chairman.", "Risks and chances.", "Share price.")
    (tmp_path / "acme.pdf").write_bytes(pdf(*(Sheet().text(60, 80, words) for words in pages)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        patch.delenv("RESPONSA_CHAT_MODEL", raising=False)
        command = (
            "taxonomy",
            "evaluate",
            "runs",
            tmp_path / "rows.json",
            "--reports",
            tmp_path,
            "--out",
            tmp_path / "o",
        )
        done = run(tmp_path / "none", *command, "--recipe", "kw_qs", "--recipe", "hb_qe", "--json")
        unknown = run(tmp_path / "none", *command, "--recipe", "kw_qz")
    assert done.returncode == 0, done.stderr
    states = json.loads(done.stdout)["runs"]
    assert [(each["recipe"], each["state"]) for each in states] == [("kw_qs", "done"), ("hb_qe", "not run")]
    assert (tmp_path / "o" / "kw_qs.run").read_text().count("t1 Q0 acme%20p.%201%20chunk%201 ") == 1
    assert unknown.returncode == 1
    assert "did you mean" in unknown.stderr


def test_reports_outside_the_folder_are_refused(tmp_path):
    (tmp_path / "rows.json").write_text(json.dumps({"rows": [ROWS[0] | {"report": "../secret.pdf"}]}))
    done = run(
        tmp_path / "none", "taxonomy", "evaluate", "runs", tmp_path / "rows.json", "--reports", tmp_path, "--out",
        tmp_path / "o", "--recipe", "kw",
    )  # fmt: skip
    assert done.returncode == 1
    assert "is no name of a file" in done.stderr
