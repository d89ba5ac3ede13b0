"""Assessments beside judged rows: verdicts, evidence and numbers by hand, and all given rows where the data is."""

from __future__ import annotations

import json

import pytest

from responsa.errors import InputError
from responsa.taxonomy.assessment.view import failed, view
from responsa.taxonomy.evaluation.rows import (
    Noted,
    beside,
    credit,
    judge,
    read_assessments,
    read_judged,
    same_unit,
    summarise,
)
from responsa.taxonomy.values import Activity, Asking, Assessment, Criterion, Evidence, Figure

ROWS = [
    {
        "id": "t1", "report": "ACME_2023.pdf", "financial_year": 2023,
        "activity": "CCM 7.7 Acquisition and ownership of buildings",
        "evidence": [
            {"page": 3, "quote": "flats of energy class A", "role": "supports"},
            {"page": 4, "quote": "nothing was renovated", "role": "contradicts"},
        ],
        "verdict": "aligned", "also_acceptable": ["insufficient"],
        "numbers": [
            {"value": 931, "unit": "EUR million turnover aligned", "page": 3},
            {"value": 210, "unit": "thousand t CO2e", "page": 4},
            {"value": 386, "unit": "charging stations", "page": 5},
        ],
    },
    {
        "id": "t2", "report": "ACME_2023.pdf", "financial_year": 2023, "activity": "CCM 7.1 Construction of new buildings",
        "evidence": [], "verdict": "insufficient", "also_acceptable": [], "numbers": [],
    },
    {
        "id": "t3", "report": "Other.pdf", "financial_year": 2022, "activity": "CCM 6.5 Transport",
        "evidence": [], "verdict": "not_aligned", "also_acceptable": [], "numbers": [],
    },
]  # fmt: skip
FIGURES = (
    Figure(931e6, "EUR", "turnover 931", 3, printed=931.0, printed_unit="EUR million"),
    Figure(210e3, "tCO2e", "210 thousand t", 4, printed=210.0, printed_unit="thousand t"),
    Figure(386.0, "", "We have 386 charging stations", 6, printed=386.0),
)


def assessed(activity="CCM 7.7", verdict="aligned", evidence=(), figures=(), report="ACME_2023", year=2023, **more):
    about = Activity(activity, "CCM", activity.split()[1], "A name", "", "", (), Criterion("SC", "", ""))
    made = Assessment(
        report, "ACME", "0" * 64, 9, about, year, "given", Asking(), (), tuple(evidence), figures=tuple(figures),
        verdict=verdict, **more,
    )  # fmt: skip
    return json.loads(json.dumps(view(made)))


def chunk(page, text):
    return Evidence(page, text, "SC", 1.0, f"R p. {page}", 0, len(text))


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text(json.dumps({"rows": ROWS}))
    return read_judged(path)


def test_figures_of_templates_name_their_section():
    lines = (
        Figure(931e6, "EUR", "7.7 931", 3, header=("turnover", "A.1"), printed=931.0, printed_unit="EUR million"),
        Figure(12.0, "%", "12 %", 4, header=("turnover", "Change"), printed=12.0),
        Figure(12.0, "%", "12 %", 5, printed=12.0),
    )
    shown = assessed(figures=lines)["numbers"]
    assert [(each["kpi"], each["section"]) for each in shown] == [("turnover", "A.1"), (None, None), (None, None)]


def test_rows_are_read(rows):
    assert [row.marked.id for row in rows] == ["t1", "t2", "t3"]
    assert rows[0].acceptable == ("insufficient",)
    assert rows[0].numbers[0] == Noted(931.0, "EUR million turnover aligned", 3)


@pytest.mark.parametrize("change", [{"verdict": "yes"}, {"also_acceptable": ["no"]}, {"numbers": [{"value": 1}]}])
def test_rows_of_another_form_are_named(tmp_path, change):
    path = tmp_path / "rows.json"
    path.write_text(json.dumps({"rows": [ROWS[0], ROWS[1] | change]}))
    with pytest.raises(InputError, match="row 2 is not of the form"):
        read_judged(path)


@pytest.mark.parametrize(
    ("verdict", "half", "full"), [("aligned", 1, 1), ("insufficient", 0.5, 1), ("not_aligned", 0, 0), ("none", 0, 0)]
)
def test_credit_for_a_verdict(rows, verdict, half, full):
    assert (credit(rows[0], verdict, 0.5), credit(rows[0], verdict, 1.0)) == (half, full)


def test_an_assessment_beside_its_row(rows):
    found = judge(rows[0], assessed(evidence=[chunk(3, "All flats of energy class A .")], figures=FIGURES))
    assert found.verdict == "aligned"
    assert (found.evidence.found, found.evidence.quotes, found.evidence.pages) == (1, 2, 0.5)
    # 931 with its unit; 210 thousand t CO2e is 210e3 t; the 386 stands on another page
    assert (found.numbers, found.found, found.agreeing) == (3, 2, 2)


def test_a_number_of_another_scale_or_currency_is_found_without_its_unit(rows):
    wrong = (
        Figure(931e3, "USD", "", 3, printed=931.0, printed_unit="USD thousand"),
        Figure(210.0, "tCO2e", "210 t", 4, printed=210.0, printed_unit="t"),
    )
    found = judge(rows[0], assessed(figures=wrong))
    assert (found.found, found.agreeing) == (2, 0)


@pytest.mark.parametrize(
    ("unit", "figure", "same"),
    [
        ("charging stations", {"quote": "386 Charging Stations", "header": []}, True),
        ("charging stations", {"quote": "386 flats", "header": ["stations"]}, True),
        ("charging stations", {"quote": "386 flats", "header": []}, False),
        ("% of revenue", {"unit": "%", "value": 20.3, "printed": 20.3}, True),
        ("percent (top)", {"unit": "%", "value": 15, "printed": 15}, True),
        ("% of revenue", {"unit": "", "value": 20.3, "printed": 20.3}, False),
        ("EUR billion aligned", {"printed_unit": "EUR billion"}, True),
        ("EUR billion aligned", {"printed_unit": "EUR million"}, False),
        ("gCO2/km", {"unit": "%", "value": None, "printed": None}, False),
    ],
)
def test_units_as_people_note_them(unit, figure, same):
    assert same_unit(unit, figure) is same


def test_all_rows_together_by_hand(rows):
    found = beside(
        rows,
        [
            assessed("CCM 7.1", "aligned", report="ACME_2023.pdf"),
            assessed("CCM 7.7", "insufficient", [chunk(3, "flats of energy class A"), chunk(4, "-")], FIGURES),
            assessed("CCM 9.9"),
            assessed(year=2022),
        ],
    )
    assert [each.row.marked.id for each in found] == ["t1", "t2"]
    told = summarise(rows, found)
    assert (told.rows, told.assessed, told.with_verdict) == (3, 2, 2)
    assert (told.exact, told.half, told.full) == (0.0, 0.25, 0.5)
    assert told.confusion["aligned"] == {"aligned": 0, "not_aligned": 0, "insufficient": 1, "none": 0}
    assert told.confusion["insufficient"]["aligned"] == 1
    assert (told.evidence.rows, told.evidence.macro, told.evidence.pages) == (1, 0.5, 1.0)
    assert (told.numbers, told.found, told.agreeing) == (3, 2, 2)


def test_without_a_model_there_is_no_accuracy_and_with_one_a_missing_verdict_is_wrong(rows):
    none = summarise(rows, beside(rows, [assessed(verdict=None)]))
    assert (none.exact, none.half, none.full, none.with_verdict) == (None, None, None, 0)
    some = summarise(rows, beside(rows, [assessed(verdict=None), assessed("CCM 7.1", "insufficient")]))
    assert (some.exact, some.full, some.confusion["aligned"]["none"]) == (0.5, 0.5, 1)


def test_a_row_assessed_twice(rows):
    with pytest.raises(InputError, match="'t1' is assessed twice"):
        beside(rows, [assessed(), assessed(report="ACME_2023.pdf")])


def test_files_of_assessments(tmp_path):
    one, several = tmp_path / "one.json", tmp_path / "several.json"
    one.write_text(json.dumps(assessed()))
    several.write_text(json.dumps([assessed(), failed("X.pdf", "CCM 1.1", None, "no text")]))
    assert len(read_assessments([one, several])) == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is no JSON"),
        ("[]x", "is no JSON"),
        ('{"report": "x"}', "[1] is no assessment"),
        (
            '[{"report": {"name": "x"}, "activity": {"id": "y"}, "year": 1, "evidence": [{}], "numbers": []}]',
            "[1] is no",
        ),
        ("[1]", "[1] is no assessment"),
        ('{"report": {"name": "x"}, "activity": {"id": "y"}, "year": 1, "evidence": [], "numbers": null}', "[1] is no"),
        ('{"report": "x", "activity": {"id": "y"}, "year": 1, "evidence": [], "numbers": []}', "[1] is no"),
    ],
)
def test_files_that_hold_none(tmp_path, content, message):
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(InputError) as error:
        read_assessments([path])
    assert message in str(error.value)
    assert "a.json" in str(error.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_assessments([tmp_path / "none.json"])


def test_the_given_rows_assessed_as_people_judged_them_score_full(data):
    rows = read_judged(data / "eu_taxonomy" / "alignment_dev.json")
    made = [
        assessed(
            row.marked.activity, row.verdict, [chunk(quote.page, quote.text) for quote in row.marked.quotes],
            report=row.marked.report, year=row.marked.year,
        )
        for row in rows
    ]  # fmt: skip
    told = summarise(rows, beside(rows, made))
    assert (told.assessed, told.exact, told.full, told.evidence.macro, told.evidence.pages) == (25, 1.0, 1.0, 1.0, 1.0)
    assert (told.found, told.numbers) == (0, sum(len(row.numbers) for row in rows))


@pytest.mark.slow
def test_the_given_rows_as_the_command_assesses_them(data, tmp_path):
    from responsa.taxonomy.activities.catalogue import shipped
    from responsa.taxonomy.assessment.assess import assess
    from responsa.taxonomy.evidence.report import read_report

    rows = read_judged(data / "eu_taxonomy" / "alignment_dev.json")
    catalogue, made = shipped(), []
    for row in rows:
        own = row.marked
        report = read_report(data / "reports" / own.report, tmp_path)
        found = assess(report, catalogue.find(own.activity, own.year), own.year, Asking(), catalogue)
        made.append(json.loads(json.dumps(view(found))))
    told = summarise(rows, beside(rows, made))
    assert told.assessed == 25
    assert told.evidence.macro >= 0.94
    assert told.evidence.pages >= 0.95
    assert told.agreeing >= 0.95 * told.numbers
