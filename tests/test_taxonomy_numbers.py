"""Figures of a report with their year and role, and their comparison with thresholds."""

from __future__ import annotations

import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.corpus import readers
from responsa.taxonomy.numbers.check import check, disagreement, relevant, shares_of_counts
from responsa.taxonomy.numbers.figures import figures, text_figures, unit_in
from responsa.taxonomy.numbers.grid import rows_of
from responsa.taxonomy.numbers.kpi import templates
from responsa.taxonomy.values import Activity, Criterion, Figure, Threshold
from responsa.types import Box, Passage


def passage(text, kind="text", number=1, path=(), box=None):
    boxes = (Box(1, *box),) if box else ()
    return Passage(f"p{number}", "R", str(number), text, path=path, kind=kind, page=1, boxes=boxes)


def read(text, year=2023, **more):
    """(printed, unit, year, role) of each figure of a text."""
    return [(each.printed, each.unit, each.year, each.role) for each in text_figures(1, text, year, **more)]


def roles(text, year=2023, **more):
    return [(each.printed, each.role) for each in text_figures(1, text, year, **more)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("In 2023, the plant used 0.4 kWh/m3.", [(0.4, "supports")]),
        ("In 2022, the plant used 0.4 kWh/m3.", [(0.4, "trap_other_year")]),
        ("By 2030, the plant will use 0.4 kWh/m3.", [(0.4, "trap_future")]),
        ("The share rose from 12 % to 15 %.", [(12, "trap_other_year"), (15, "supports")]),
        ("The share was 15 % (previous year: 12 %).", [(15, "supports"), (12, "trap_other_year")]),
        ("The share was 15 % (2022: 12 %).", [(15, "supports"), (12, "trap_other_year")]),
        ("In 2023 it was no longer 45 g CO2/km, but 70 g CO2/km.", [(45, "context"), (70, "supports")]),
        ("It was not 45 % but 70 %.", [(45, "context"), (70, "supports")]),
        ("Es waren nicht mehr 45 %, sondern 70 %.", [(45, "context"), (70, "supports")]),
        ("In 2023, none of the cars and vans had emissions of 45 g CO2/km.", [(45, "context")]),
        ("None of the cars was sold, but the fleet had 45 g CO2/km.", [(45, "supports")]),
        ("No vehicle of ours had emissions of 45 g CO2/km.", [(45, "context")]),
        ("Without it, emissions would have been 140 g CO2/km in 2023.", [(140, "context")]),
        ("What would have been 140 g CO2/km was 45 g CO2/km in 2023.", [(140, "context"), (45, "supports")]),
        ("Das wären 45 % gewesen.", [(45, "context")]),
        ("The share was 15 % (prior year 12 %).", [(15, "supports"), (12, "trap_other_year")]),
        ("In 2023 the share was 15 % (previous year 12 %).", [(15, "supports"), (12, "trap_other_year")]),
        ("The share was 15 % (2022 12 %).", [(15, "supports"), (12, "trap_other_year")]),
        ("The share was 15 % (PY: 12 %).", [(15, "supports"), (12, "trap_other_year")]),
        ("It cost €9 million (previous year value: around €5 million).", [(9, "supports"), (5, "trap_other_year")]),
        ("Der Anteil betrug 15 % (Vorjahr 12 %).", [(15, "supports"), (12, "trap_other_year")]),
        ("Der Anteil betrug 15 % (i. Vj. 12 %).", [(15, "supports"), (12, "trap_other_year")]),
        ("Der Anteil stieg von 12 % auf 15 %.", [(12, "trap_other_year"), (15, "supports")]),
        ("Der Verbrauch sank von 9 MWh im Jahr 2022 auf 5 MWh.", [(9, "trap_other_year"), (5, "supports")]),
        ("The share was 12 % in 2022, 15 % in 2023.", [(12, "trap_other_year"), (15, "supports")]),
        ("Sales grew from €5 million in the previous year to €9 million.", [(5, "trap_other_year"), (9, "supports")]),
        ("It fell from 62 g CO2/km in 2022 to 45 g CO2/km in 2023.", [(62, "trap_other_year"), (45, "supports")]),
        ("Our target is a reduction by 50 %.", [(50, "trap_future")]),
        ("We plan to invest €80 million.", [(80, "trap_future")]),
        ("This includes €16 million of a plan to be finished by fiscal 2028.", [(16, "trap_future")]),
        ("Our fleet has 40 t of batteries, and we aim to double it by 2030.", [(40, "supports")]),
        ("The law requires less than 95 g CO2/km.", [(95, "context")]),
        ("Cars must stay below 50 g CO2/km to be aligned.", [(50, "context")]),
        ("As early as this year we will have 15 electric models.", [(15, "supports")]),
    ],
)
def test_the_role_of_a_figure(text, expected):
    assert roles(text) == expected


def test_the_year_of_a_figure():
    assert read("In fiscal 2022, it was 12 % and in FY2021 it was 11 %.") == [
        (12, "%", 2022, "trap_other_year"),
        (11, "%", 2021, "trap_other_year"),
    ]
    assert read("It was 12 % in 2023.") == [(12, "%", 2023, "supports")]
    assert read("It was 12 %.") == [(12, "%", None, "supports")]


def test_heads_and_titles_say_what_a_sentence_does_not():
    assert roles("Cut of emissions by 40 %", heads="Target 2030") == [(40, "trap_future")]
    assert roles("Cut of emissions by 40 %", title="Our climate targets") == [(40, "trap_future")]
    assert roles("Emissions were cut by 40 %", title="Our climate targets") == [(40, "supports")]


@pytest.mark.parametrize(
    ("said", "outcomes"),
    [
        ("were between 45 and 60 g CO2/km", ["not_comparable", "not_comparable"]),
        ("were between 30 and 45 g CO2/km", ["not_comparable", "meets"]),
        ("were 55–60 g CO2/km", ["misses", "not_comparable"]),
        ("did not fall below 50 g CO2/km", ["misses"]),
        ("did not exceed 45 g CO2/km", ["meets"]),
        ("were no longer 45 g CO2/km, but 70 g CO2/km", ["not_comparable", "misses"]),
        ("would have been 140 g CO2/km", ["not_comparable"]),
    ],
)
def test_ranges_and_what_is_denied_are_no_facts(said, outcomes):
    criterion = Criterion("SC", "", "", thresholds=(Threshold("specific emissions of CO2", "<", 50, "gCO2/km"),))
    found = check(criterion, text_figures(1, f"In 2023 the specific emissions of CO2 of our cars {said}.", 2023), 2023)
    assert [each.outcome for each in found] == outcomes


@pytest.mark.parametrize(
    ("said", "outcomes"),
    [
        ("All our buildings had an Energy Performance Certificate class A in 2023.", ["meets"]),
        ("All our buildings were rated EPC B in 2023.", ["misses"]),
        ("In 2023, 45 % of our buildings had EPC A.", ["not_comparable"]),
        ("In 2023 our buildings had EPC A or B.", ["not_comparable"]),
        ("In 2023 our refrigerators reached energy efficiency class A.", []),
        ("In 2023 the portfolio had no EPC class D buildings.", ["not_comparable"]),
        ("We sold all buildings with EPC class E in 2023.", ["not_comparable"]),
        ("All our buildings had an EPC of class B or better in 2023.", ["not_comparable"]),
    ],
)
def test_classes_of_certificates_are_compared(said, outcomes):
    limit = Threshold("Energy Performance Certificate class", "<=", 1, "class")
    found = check(Criterion("SC", "", "", thresholds=(limit,)), text_figures(1, said, 2023), 2023)
    assert [each.outcome for each in found] == outcomes


TABLE = (
    "<table>\n<caption>Energy (in GWh)</caption>\n"
    "<tr><th>Source</th><th>Unit</th><th>2023</th><th>2022</th><th>Target 2030</th></tr>\n"
    "<tr><td>Gas</td><td></td><td>1,250.5</td><td>1,300</td><td>900</td></tr>\n"
    "<tr><td>Demand of new buildings</td><td>kWh/m²</td><td>31</td><td>–</td><td>25</td></tr>\n"
    "<tr><td>Share of renewables (%)</td><td></td><td>42</td><td>40</td><td>80</td></tr>\n</table>"
)


def test_a_cell_takes_unit_and_year_from_its_heads():
    found = [(each.printed, each.unit, each.year, each.role) for each in figures([passage(TABLE, "table")], 2023)]
    assert found == [
        (1250.5, "MWh", 2023, "supports"), (1300, "MWh", 2022, "trap_other_year"), (900, "MWh", 2030, "trap_future"),
        (31, "kWh/m2", 2023, "supports"), (25, "kWh/m2", 2030, "trap_future"),
        (42, "%", 2023, "supports"), (40, "%", 2022, "trap_other_year"), (80, "%", 2030, "trap_future"),
    ]  # fmt: skip
    assert figures([passage(TABLE, "table")], 2023)[0].value == 1_250_500


def test_one_column_may_hold_both_name_and_unit():
    table = (
        "<table>\n<tr><th>Category Unit</th><th>2022</th><th>2023</th><th>Target for 2024</th></tr>\n"
        "<tr><td>Average demand of new homes* kWh/m² p. a.</td><td>41.5</td><td>28.1</td><td>26</td></tr>\n"
        "<tr><td>Emissions thousand t CO2e</td><td>12</td><td>11</td><td>10</td></tr>\n"
        "<tr><td>Homes in 5 t</td><td></td><td>3</td><td></td></tr>\n</table>"
    )
    assert [(e.printed, e.unit, e.year, e.role) for e in figures([passage(table, "table")], 2023)][:4] == [
        (41.5, "kWh/m2", 2022, "trap_other_year"), (28.1, "kWh/m2", 2023, "supports"),
        (26, "kWh/m2", 2024, "trap_future"), (12, "tCO2e", 2022, "trap_other_year"),
    ]  # fmt: skip
    assert figures([passage(table, "table")], 2023)[4].value == 11_000
    plain = table.replace("Category Unit", "Category")
    assert 28.1 not in [each.printed for each in figures([passage(plain, "table")], 2023)]


def test_years_over_groups_of_columns():
    table = (
        "<table>\n<tr><th>Type</th><th></th><th>2022</th><th></th><th>2023</th></tr>\n"
        "<tr><th></th><th># of Chargers</th><th># of Sites</th><th># of Chargers</th><th># of Sites</th></tr>\n"
        "<tr><td>Total</td><td>253</td><td>70</td><td>386</td><td>92</td></tr>\n</table>"
    )
    assert [(each.printed, each.unit, each.year) for each in figures([passage(table, "table")], 2023)] == [
        (253, "chargers", 2022), (70, "sites", 2022), (386, "chargers", 2023), (92, "sites", 2023),
    ]  # fmt: skip


def test_cells_that_the_reader_left_as_passages():
    cells = [("Unit", 300, 10), ("2022", 400, 10), ("2023", 460, 10), ("Energy demand", 60, 30), ("kWh/m² p. a.", 300, 30),
             ("37.7", 400, 30), ("25.3", 460, 30)]  # fmt: skip
    passages = [passage(text, number=index, box=(x, y, x + 40, y + 9)) for index, (text, x, y) in enumerate(cells, 1)]
    assert [(each.printed, each.unit, each.year, each.role) for each in figures(passages, 2023)] == [
        (37.7, "kWh/m2", 2022, "trap_other_year"), (25.3, "kWh/m2", 2023, "supports"),
    ]  # fmt: skip
    alone = figures(passages[3:], 2023)
    assert [(each.printed, each.role) for each in alone] == [(37.7, "context"), (25.3, "context")]


def test_the_decimal_mark_is_that_of_the_document():
    table = "<table>\n<tr><th>Ort</th><th>in MWh</th></tr>\n<tr><td>Bonn</td><td>4.857</td></tr>\n</table>"
    (alone,) = figures([passage(table, "table")], 2023)
    assert alone.printed == 4.857
    found = figures([passage("Das sind 12,5 % und 1.250,5 t.", number=2), passage(table, "table")], 2023)
    assert [each.printed for each in found] == [12.5, 1250.5, 4857]


def test_a_number_that_nothing_gives_a_unit_is_no_figure():
    table = "<table>\n<tr><th>Row</th><th>A</th></tr>\n<tr><td>Score</td><td>12</td></tr>\n</table>"
    assert figures([passage(table, "table")], 2023) == []
    assert figures([], 2023) == []


@pytest.mark.parametrize(
    ("head", "unit"),
    [
        ("Waste (metric tonnes)", "t"), ("(in million t CO2e)", "tCO2e"), ("in € million", "EUR"), ("Proportion, %", "%"),
        ("Water in m3", "m3"), ("# of sites", "sites"), ("Number of plants", "plants"),
    ],
)  # fmt: skip
def test_the_unit_that_a_head_names(head, unit):
    found = unit_in(head)
    assert found is not None
    assert found[0] == unit


def test_heads_without_a_unit():
    assert unit_in("Climate change mitigation") is None
    assert unit_in("2023") is None


# --- comparison ---------------------------------------------------------------------------------------


def figure(value, unit, metric, role="supports", bound="", quote="", year=None):
    return Figure(value, unit, quote or metric, 1, metric, year, role, (), value, unit, bound)


def outcome(threshold, *given, year=2023, text="", activity=""):
    found = check(Criterion("SC 1", "1", text, thresholds=(threshold,)), given, year, activity)
    return [(each.outcome, each.reason) for each in found]


KM = Threshold("specific CO2 emissions (WLTP)", "<", 50, "gCO2/km", valid_to=date(2025, 12, 31))
WATER = Threshold("net average energy consumption for abstraction and treatment of water", "<=", 0.5, "kWh/m3")
PED = Threshold("primary energy demand reduction", ">=", 30, "%")
NZEB = Threshold("PED below NZEB threshold", ">=", 10, "%")
HVC = Threshold("HVC", "<", 0.693, "tCO2e/t")
SIZE = Threshold("floor area", ">", 5000, "m2", scope=True)


def test_a_figure_meets_or_misses():
    assert outcome(KM, figure(40, "gCO2e/km", "WLTP emissions of our cars")) == [("meets", "")]
    assert outcome(KM, figure(50, "gCO2e/km", "WLTP emissions of our cars")) == [("misses", "")]
    assert outcome(PED, figure(34, "%", "The renovation reduced primary energy demand by 34 %")) == [("meets", "")]
    assert outcome(
        WATER, figure(0.5, "kWh/m3", "average energy consumption for abstraction and treatment of water")
    ) == [("meets", "")]


@pytest.mark.parametrize(
    ("threshold", "given", "reason"),
    [
        (KM, figure(40, "gCO2e/km", "fleet emissions", "trap_future"), "is a target, a plan or a forecast"),
        (KM, figure(40, "gCO2e/km", "fleet emissions", "trap_other_year", year=2021), "is of another year (2021)"),
        (
            KM,
            figure(95, "gCO2e/km", "limit of the regulation", "context"),
            "is a rule, a limit, a change, denied or supposed: no result of the company",
        ),
        (PED, figure(30, "%", "must reduce primary energy demand", "context"), "repeats what the criterion asks"),
        (KM, figure(60, "gCO2e/km", "fleet emissions", bound="at most"), "says only at most 60"),
        (
            NZEB,
            figure(34, "%", "primary energy demand is 34 % lower"),
            "does not say that it is about nearly zero-energy",
        ),
    ],
)
def test_why_a_figure_cannot_be_compared(threshold, given, reason):
    assert outcome(threshold, given) == [("not_comparable", reason)]


@pytest.mark.parametrize(
    ("threshold", "given"),
    [
        (PED, figure(34, "%", "lower emissions of up to 34 per cent on a voyage")),
        (PED, figure(91, "%", "turnover, eligible: aircraft")),
        (HVC, figure(0.4, "tCO2e/t", "emissions of polymer per tonne")),
        (KM, figure(40, "gCO2e/kWh", "emissions of our power")),
        (SIZE, figure(9000, "m2", "We own 9,000 m2 of offices", quote="We own 9,000 m2 of offices in all")),
        (Threshold("direct tailpipe CO2", "=", 0, "gCO2"), figure(4.6e6, "tCO2e", "direct CO2 emissions, tailpipe")),
    ],
)
def test_what_is_about_something_else_is_left_out(threshold, given):
    assert outcome(threshold, given) == []


def test_a_bound_that_leaves_nothing_open_is_compared():
    assert outcome(KM, figure(45, "gCO2e/km", "WLTP", bound="at most")) == [("meets", "")]
    assert outcome(PED, figure(30, "%", "primary energy demand reduction", bound="more than")) == [("meets", "")]
    assert outcome(KM, figure(50.2, "gCO2e/km", "WLTP", bound="about")) == [
        ("not_comparable", "is about as large as the limit (50.2)")
    ]


def test_the_size_of_one_building():
    hall = figure(5001, "m2", "a 5,001 m2 distribution centre", quote="We built a 5,001 m2 distribution centre.")
    assert outcome(SIZE, hall) == [("meets", "the size for which the requirement is made")]


def test_kinds_of_vehicles_and_use():
    given = figure(0, "gCO2e/km", "Photo: the new car, carbon emissions 0 g/km")
    zero = Threshold("tailpipe CO2 emissions", "=", 0, "gCO2e/km")
    assert outcome(zero, given, text="vehicles of category L") == [
        ("not_comparable", "does not say that it is about a motorcycle")
    ]
    assert outcome(KM, given, activity="Transport by motorbikes, passenger cars") == [
        ("not_comparable", "does not say that it is about what the company runs, leases or finances")
    ]
    assert outcome(KM, given, activity="Manufacture of low carbon technologies for transport") == [("meets", "")]


def test_rivals_in_one_sentence_and_other_products():
    windows = Threshold("windows with U-value", "<=", 1.0, "W/m2K")
    both = figure(1.3, "W/m2K", "Our windows have a U-value of 0.9 and the doors of 1.3 W/m2K")
    assert outcome(windows, both) == [("not_comparable", "stands beside several: doors, windows")]
    cement = Threshold("specific GHG emissions from cement", "<", 0.469, "tCO2e/t")
    quote = "Emissions of our cement clinker were 0.6 t CO2e per tonne of clinker."
    clinker = Figure(0.6, "tCO2e/t", quote, 1, quote, 2023, "supports", (), 0.6, "t CO2e per tonne")
    assert outcome(cement, clinker, text="cement: lower than 0,469 tCO2e per tonne of cement") == [
        ("not_comparable", "is per tonne of clinker, not of cement")
    ]


def test_a_recycling_rate_is_no_share_of_secondary_raw_materials():
    threshold = Threshold("share of separately collected waste turned into secondary raw materials", ">=", 50, "%")
    assert outcome(threshold, figure(95, "%", "Recycling rate of our waste")) == []
    said = "We turned 63 % of the separately collected waste into secondary raw materials"
    assert outcome(threshold, figure(63, "%", said)) == [("meets", "")]


def test_a_column_of_changes_is_context():
    table = (
        "<table>\n<tr><th>Source</th><th>2023</th><th>+/–</th></tr>\n"
        "<tr><td>Share of wind</td><td>40%</td><td>5%</td></tr>\n</table>"
    )
    found = figures([passage(table, "table")], 2023)
    assert [(each.printed, each.role) for each in found] == [(40, "supports"), (5, "context")]


def test_a_value_that_a_criterion_gives_without_a_bound():
    given = figure(1.2, "tCO2e/t", "hot metal at 1.2 t CO2e/t")
    ((result, _),) = outcome(Threshold("hot metal", "=", 1.331, "tCO2e/t"), given)
    assert result == "not_comparable"


def test_a_threshold_applies_in_its_years():
    later = Threshold("specific CO2 emissions", "=", 0, "gCO2/km", valid_from=date(2026, 1, 1))
    given = figure(40, "gCO2e/km", "fleet emissions")
    assert outcome(later, given) == []
    assert outcome(later, given, year=2026) == [("misses", "")]
    assert outcome(KM, given, year=2026) == []


def test_thresholds_of_parts_are_checked():
    criterion = Criterion("SC", "", "", parts=(Criterion("SC (a)", "a", "", thresholds=(KM,)),))
    (found,) = check(criterion, [figure(40, "gCO2e/km", "fleet emissions")], 2023)
    assert (found.criterion, found.outcome) == ("SC (a)", "meets")


def test_a_verdict_that_the_figures_contradict():
    missed = check(Criterion("SC", "", "", thresholds=(KM,)), [figure(60, "gCO2e/km", "fleet")], 2023)
    met = check(Criterion("SC", "", "", thresholds=(KM,)), [figure(40, "gCO2e/km", "fleet")], 2023)
    said = disagreement(missed, "aligned")
    assert said.startswith("the verdict is aligned, but 60 gCO2e/km on page 1 misses < 50 gCO2/km")
    assert disagreement(missed, "not_aligned") == ""
    assert disagreement(met, "not_aligned").startswith("the verdict is not aligned, but 40 gCO2e/km")
    assert disagreement([*met, *missed], "aligned") == ""
    assert disagreement([], "aligned") == ""
    assert disagreement(met, None) == ""


def test_a_count_that_is_part_of_another():
    text = "The fleet has around 44,000 vehicles. We raised the number of electric vehicles to around 4,100."
    (found,) = shares_of_counts(list(text_figures(61, text, 2023)))
    assert (found.part.value, found.whole.value, round(found.share, 1)) == (4100, 44000, 9.3)


def test_the_figures_to_show_beside_an_activity():
    activity = Activity(
        "CCM 5.1",
        "CCM",
        "5.1",
        "Water supply",
        "Water",
        "",
        (),
        Criterion("SC", "", "energy consumption of water supply"),
    )
    others = [figure(number, "%", f"employees of site {number}") for number in range(20)]
    own = figure(0.4, "kWh/m3", "energy consumption of our water supply")
    line = Figure(
        5e6,
        "EUR",
        "Water supply CCM 5.1 5",
        9,
        "capex, aligned: Water supply CCM 5.1",
        2023,
        "supports",
        ("capex", "A.1"),
    )
    elsewhere = Figure(1.0, "t", "waste", 7, "waste")
    everything = [*others, own, elsewhere, line]
    assert relevant(everything, activity, most=2) == [own, line]
    assert relevant(everything, activity, pages=[7], most=2) == [elsewhere, line]
    assert relevant([], activity) == []


@given(st.text(alphabet="0123456789.,% kWh/m³in2023by will target (prev:)", max_size=120))
def test_any_text_gives_figures_of_its_own_numbers(text):
    for each in text_figures(1, text, 2023):
        assert each.printed is not None
        assert (each.role == "trap_other_year") <= (each.year is None or each.year < 2023)


# --- the reports --------------------------------------------------------------------------------------

REPORTS = ["BMW_SR_2022", "Vonovia_SR_2023", "CT_REIT_2022_ESG_Report", "Symrise_SR_2023"]


@pytest.mark.parametrize("report", REPORTS)
def test_the_figures_that_people_noted_are_found(report, data):
    noted = data / "eu_taxonomy" / "alignment_dev.json"
    path = data / "reports" / f"{report}.pdf"
    if not noted.exists() or not path.exists():
        pytest.skip(f"no {noted.name} or {path.name} in {data}")
    (edition,) = readers.read(path)
    rows = [row for row in json.loads(noted.read_text())["rows"] if row["report"] == f"{report}.pdf"]
    found = figures(edition.passages, rows[0]["financial_year"], templates(rows_of(edition.passages)))
    missing = [
        (row["id"], each["value"], each["unit"])
        for row in rows
        for each in row["numbers"]
        if not any(one.page == each["page"] and one.printed == each["value"] for one in found)
    ]
    assert missing == []
