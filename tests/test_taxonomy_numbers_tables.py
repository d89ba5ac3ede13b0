"""Units, scales and years of tables, and numbers that fill their cells with their unit: by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from responsa.taxonomy.numbers.check import check
from responsa.taxonomy.numbers.figures import figures, text_figures, unit_in
from responsa.taxonomy.numbers.grid import is_year, rows_of, rows_of_text, years
from responsa.taxonomy.numbers.kpi import aligned_shares, templates
from responsa.taxonomy.values import Criterion, Threshold
from responsa.types import Passage


def passage(text, kind="table"):
    return Passage("p1", "R", "1", text, kind=kind, page=1)


def table(*rows, caption="", head=True):
    """A table as the readers write it; its first row heads it."""
    written = [
        "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in row) + "</tr>"
        for number, row in enumerate(rows)
        for tag in ["th" if number == 0 and head else "td"]
    ]
    above = f"<caption>{caption}</caption>\n" if caption else ""
    return passage(f"<table>\n{above}" + "\n".join(written) + "\n</table>")


def read(*passages, year=2023):
    """(value, unit, role) of each figure."""
    return [(each.value, each.unit, each.role) for each in figures(passages, year)]


def barred(*rows, rule="| --- | --- | --- |"):
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([lines[0], rule, *lines[1:]])


ENERGY = (("Energy", "2023 (MWh)", "2022 (MWh)"), ("Gas", "1,250", "1,300"), ("Wood", "7", "–"))


@pytest.mark.parametrize("rule", ["| --- | --- | --- |", "|---|:--|--:|"])
def test_tables_of_web_pages_word_and_markdown_are_read_as_those_of_pdf(rule):
    found = list(figures([replace(passage(barred(*ENERGY, rule=rule)), page=None)], 2023))
    assert found == list(figures([table(*ENERGY)], 2023))
    assert [(each.value, each.role, each.page) for each in found] == [
        (1250, "supports", 1), (1300, "trap_other_year", 1), (7, "supports", 1),
    ]  # fmt: skip
    assert found[0].quote == "Gas 1,250 1,300"


def test_a_barred_table_within_a_text_parts_it():
    text = f"The plant burnt 5 t of wood.\n{barred(*ENERGY)}\nIt ran for 8 months."
    rows = rows_of([passage(text, "text")])
    assert [row.kind for row in rows] == ["text", "table", "table", "table", "text"]
    assert [each[1] for each in read(passage(text, "text"))] == ["t", "MWh", "MWh", "MWh", "year"]


def test_marks_within_barred_cells():
    row = ("Gas<br>and oil \\| heat", "7", "8")
    assert [cell.text for cell in rows_of([passage(barred(ENERGY[0], row))])[1].cells] == [
        "Gas and oil | heat", "7", "8",
    ]  # fmt: skip


def test_the_first_row_of_a_barred_table_may_hold_values():
    assert read(passage(barred(("Gas (MWh)", "7", "8"), ("Wood (MWh)", "3", "4"))))[0][:2] == (7, "MWh")


@pytest.mark.parametrize(
    ("head", "unit", "factor"),
    [
        ("Area (km²)", "m2", 1e6), ("Installed capacity (kW)", "kW", 1), ("Distance (km)", "km", 1),
        ("Power in kilowatts", "kW", 1), ("Energy (kWh)", "MWh", 1e-3), ("Weight (kt)", "t", 1000),
        ("in k t", "t", 1000), ("Energy (Mrd. kWh)", "MWh", 1e6), ("Energie in Mio. kWh", "MWh", 1000),
        ("Energy in billion kWh", "MWh", 1e6), ("in trillion kWh", "MWh", 1e9), ("Area (thousand m²)", "m2", 1000),
        ("in 1,000 t", "t", 1000), ("2023 in 1.000 MWh", "MWh", 1000), ("2023 in 1,000 €", "EUR", 1000),
        ("Umsatz in Mrd. €", "EUR", 1e9),
    ],
)  # fmt: skip
def test_the_unit_and_the_scale_of_a_head(head, unit, factor):
    found = unit_in(head)
    assert found is not None
    assert found[:2] == (unit, pytest.approx(factor))


@pytest.mark.parametrize(
    ("unit", "value", "normal"),
    [
        ("km²", 7e6, "m2"), ("kW", 7, "kW"), ("km", 7, "km"), ("Mrd. kWh", 7e6, "MWh"), ("Tsd. t", 7000, "t"),
        ("billion kWh", 7e6, "MWh"), ("1,000 t", 7000, "t"), ("kilowatts", 7, "kW"),
    ],
)  # fmt: skip
def test_a_cell_that_is_a_unit(unit, value, normal):
    assert read(table(("", "Unit", "2023"), ("Own works", unit, "7"))) == [(pytest.approx(value), normal, "supports")]


@pytest.mark.parametrize(
    ("label", "value", "normal"),
    [("Fleet Mrd. km", 7e9, "km"), ("Capacity kW", 7, "kW"), ("Emissions thousand t CO2e", 7000, "tCO2e")],
)
def test_a_unit_behind_a_label(label, value, normal):
    assert read(table(("Category Unit", "2023"), (label, "7"))) == [(pytest.approx(value), normal, "supports")]


@pytest.mark.parametrize("head", ["2023 in 1,000 €", "2023 in EUR 1,000", "2023 in € 1.000", "2023 (EUR 1,000)"])
def test_thousands_in_a_head(head):
    for marked in (True, False):  # heads that the reader knew as such, and others
        assert read(table(("", head), ("CapEx", "500"), head=marked)) == [(500_000, "EUR", "supports")]


def test_thousands_in_a_caption_are_no_amount():
    assert read(table(("", "2023"), ("CapEx", "500"), caption="CapEx in 1,000 €")) == [(500_000, "EUR", "supports")]
    assert read(table(("", "2023"), ("Steel", "500"), caption="Waste (in 1,000 t)")) == [(500_000, "t", "supports")]
    for text in ("Angaben in 1.000 €", "(in 1,000 metric tons)", "All amounts in EUR 1,000"):
        assert read(passage(text, "text")) == []
    assert read(passage("Emissions in EUR 1,000", "heading")) == []
    assert read(passage("This resulted in 1,000 t of waste.", "text")) == [(1000, "t", "supports")]


def template(one, two):
    """A template; the amounts and shares of its two lines as printed."""
    sections = (
        ("Economic activities", "Code", "Turnover in 1,000 €", "Proportion"),
        ("A.1. Environmentally sustainable activities (Taxonomy-aligned)",),
        ("Rail", "CCM 6.2", *one),
        ("Turnover of environmentally sustainable activities (A.1)", "", "12", "5.5 %"),
        ("A.2. Taxonomy-eligible but not environmentally sustainable activities",),
        ("Rail", "CCM 6.2", *two),
        ("Turnover of eligible but not environmentally sustainable activities (A.2)", "", "5", "2 %"),
        ("B. Taxonomy-non-eligible activities",),
        ("Turnover of Taxonomy-non-eligible activities", "", "200", "92.5 %"),
        ("Total (A + B)", "", "217", "100 %"),
    )
    text = "\n".join(
        "".join(cell.ljust(width) for cell, width in zip(row, (80, 10, 25, 10), strict=False)) for row in sections
    )
    (found,) = templates(rows_of_text(1, text))
    return found


def test_a_template_in_thousands():
    found = template(("12", "5.5 %"), ("5", "2 %"))
    assert (found.unit.name, found.unit.factor) == ("EUR thousand", 1000)
    (share,) = aligned_shares([found], "CCM 6.2")
    assert (share.aligned, share.eligible, round(share.share, 1)) == (12, 17, 70.6)


@pytest.mark.parametrize(
    ("two", "share", "unit"),
    [
        (("", "2 %"), 73.3, "%"), (("5", "2 %"), 70.6, "EUR thousand"), (("–", "0 %"), 100.0, "EUR thousand"),
        (("", "0 %"), 100.0, "EUR thousand"),
    ],
)  # fmt: skip
def test_shares_count_where_an_amount_is_missing(two, share, unit):
    (found,) = aligned_shares([template(("12", "5.5 %"), two)], "CCM 6.2")
    assert (round(found.share, 1), found.unit) == (share, unit)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("FY23", [2023]), ("FY 22", [2022]), ("FY'22", [2022]), ("FY’21 and FY2020", [2021, 2020]),
        ("FY23/24", [2023]), ("2022/23", [2022]), ("FY 22 %", []), ("FY 22.5", []), ("GFY23", []), ("22", []),
    ],
)  # fmt: skip
def test_years_in_short(text, named):
    assert [each.year for each in years(text)] == named


def test_a_year_alone():
    assert [text for text in ("FY23", "2023", "fiscal 2023", "FY'23", "in FY23", "23") if is_year(text)] == [
        "FY23", "2023", "fiscal 2023", "FY'23",
    ]  # fmt: skip


def test_the_role_of_a_year_in_short():
    (found,) = text_figures(1, "PED of our building is 55 kWh/m² in FY22", 2023)
    assert (found.year, found.role) == (2022, "trap_other_year")
    (found,) = text_figures(1, "PED of our building was 55 kWh/m² in FY23", 2023)
    assert (found.year, found.role) == (2023, "supports")
    assert read(table(("Energy (MWh)", "FY23", "FY22"), ("Gas", "7", "8"))) == [
        (7, "MWh", "supports"), (8, "MWh", "trap_other_year"),
    ]  # fmt: skip


def test_cells_of_a_number_and_its_unit():
    passages = table(
        ("", "2023", "2022"),
        ("Steel", "1,234 t", "~ 1,300 t"), ("Cost", "€5.2m", "(€5.2m)"), ("Margin", "(12.5%)", "3 %"),
        ("Heat", "12 kWh", "&lt; 13 kWh"),
    )  # fmt: skip
    assert read(passages) == [
        (1234, "t", "supports"), (1300, "t", "trap_other_year"), (5.2e6, "EUR", "supports"),
        (-5.2e6, "EUR", "trap_other_year"), (-12.5, "%", "supports"), (3, "%", "trap_other_year"),
        (0.012, "MWh", "supports"), (0.013, "MWh", "trap_other_year"),
    ]  # fmt: skip
    first, second = figures([passages], 2023)[:2]
    assert (first.metric, first.quote, first.header) == (": Steel", "Steel 1,234 t ~ 1,300 t", ("Steel", "2023"))
    assert (first.printed, first.printed_unit, second.bound) == (1234, "t", "about")


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("Der Umsatz betrug 1.234,5 Mio. EUR im Jahr 2023.", 1.2345e9, "EUR"),
        ("Wir verbrauchten 12 Mio. MWh. Danach sank es.", 12e6, "MWh"), ("Es waren 3 Mrd. Euro.", 3e9, "EUR"),
        ("Es waren 5 Tsd. t Stahl.", 5000, "t"), ("Cars emit max. 95 g CO2/km. Others more.", 95, "gCO2e/km"),
        ("Es sind ca. 5 % mehr.", 5, "%"), ("It cost approx. €5 million.", 5e6, "EUR"),
    ],
)  # fmt: skip
def test_an_abbreviation_ends_no_sentence(text, value, unit):
    (found,) = text_figures(1, text, 2023)
    assert (found.value, found.unit) == (pytest.approx(value), unit)


def test_an_abbreviation_at_an_end_joins_no_number():
    (found,) = text_figures(1, "We waited for 30 min. The bus used 5 kWh.", 2023)
    assert found.quote == "The bus used 5 kWh."


def compared(metric, op, value, unit, text):
    threshold = Threshold(metric, op, value, unit)
    return [
        each.outcome for each in check(Criterion("SC", "", "", thresholds=(threshold,)), text_figures(1, text, 2023))
    ]


def test_a_fall_is_a_reduction_and_no_other_figure_below_zero_is_compared():
    asked = ("reduction of primary energy demand", ">=", 30, "%")
    assert compared(*asked, "The renovation reduced primary energy demand by -34 %.") == ["meets"]
    assert compared(*asked, "The renovation reduced primary energy demand by −12 %.") == ["misses"]
    assert compared("tailpipe CO2 emissions", "<", 50, "gCO2/km", "Fleet emissions changed by -12 g CO2/km.") == [
        "not_comparable"
    ]
