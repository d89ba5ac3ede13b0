"""The numbers and units that reports print: by hand, and what holds for any of them."""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.quantities import counts, decimal_mark, figure, measures, stated, unit_of_measure
from responsa.quantities.money import counted, scale_factor


def read(text, decimal="."):
    """(words, value, unit) of each measure."""
    return [(text[each.start : each.end], each.value, each.unit) for each in measures(text, decimal)]


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("12 %", 12, "%"),
        ("12,5 Prozent", 12.5, "%"),
        ("thirty percent", 30, "%"),
        ("up by 3 percentage points", 3, "percentage point"),
        ("0.4 kWh/m3", 0.4, "kWh/m3"),
        ("31 kWh/(m²a)", 31, "kWh/m2"),
        ("31 kWh per sqm and year", 31, "kWh/m2"),
        ("25.3 kWh/m² p. a.", 25.3, "kWh/m2"),
        ("0.1 MWh/m2", 100, "kWh/m2"),
        ("97 gCO2e/kWh", 97, "gCO2e/kWh"),
        ("97 kg CO2e per MWh", 97, "gCO2e/kWh"),
        ("10 g CO 2 e/MJ", 36, "gCO2e/kWh"),
        ("49 g CO2/km", 49, "gCO2e/km"),
        ("80 g CO₂/mile", 49.7096953789867, "gCO2e/km"),
        ("emissions of 112 g/km", 112, "gCO2e/km"),
        ("sugar at 5 g/km", 5, "g/km"),
        ("20 g CO2e/tkm", 20, "gCO2e/tkm"),
        ("0,693 t CO2e/t HVC", 0.693, "tCO2e/t"),
        ("693 kg CO2e per tonne of product", 0.693, "tCO2e/t"),
        ("0,06 W/mK", 0.06, "W/mK"),
        ("0.06 W/(m·K)", 0.06, "W/mK"),
        ("1.2 W/m2K", 1.2, "W/m2K"),
        ("a 350,000 square foot hall", 32516.064, "m2"),
        ("5,000 sqm", 5000, "m2"),
        ("2 hectares", 20000, "m2"),
        ("18 months", 1.5, "year"),
        ("a 15-year contract", 15, "year"),
        ("1.5 GWh", 1500, "MWh"),
        ("3 terawatt hours per year (TWh/year)", 3_000_000, "MWh"),
        ("3.6 TJ", 1000, "MWh"),
        ("16.8 MWp", 16800, "kW"),
        ("€ 12.8 billion", 12.8e9, "EUR"),
        ("€12.8bn", 12.8e9, "EUR"),
        ("TEUR 5", 5000, "EUR"),
        ("5 million euros", 5e6, "EUR"),
        ("95 k€", 95_000, "EUR"),
        ("1.250,5 t", 1250.5, "t"),
        ("7.5 Mt CO2e", 7.5e6, "tCO2e"),
        ("210 thousand metric tons of CO2e", 210_000, "tCO2e"),
        ("30,000 t of carbon dioxide equivalents", 30_000, "tCO2e"),
        ("4 kt", 4000, "t"),
        ("8 litres/min", 8, "l/min"),
        ("Technology Readiness Level (TRL) 6", 6, "TRL"),
        ("an Energy Performance Certificate class A", 1, "class"),
        ("rated EPC B", 2, "class"),
        ("EPC rating of C", 3, "class"),
        ("an energy label: A+", 1, "class"),
        ("Energieeffizienzklasse D", 4, "class"),
        ("class A EPC", 1, "class"),
        ("1\u202f250\u00a0MWh", 1250, "MWh"),
        ("1 250 MWh", 1250, "MWh"),
    ],
)
def test_a_number_in_its_normal_unit(text, value, unit):
    ((_, found, named),) = read(text)
    assert (found, named) == (pytest.approx(value, rel=1e-12), unit)


@pytest.mark.parametrize(
    "text",
    ["In 2023 we", "Article 8", "ISO 14064-1", "page 12", "CCM 7.7", "N/EL1", "version v1.2 t", "12 apples", "10:30"],
)
def test_no_measures(text):
    assert read(text) == []


def test_ranges_signs_and_bounds():
    text = "from 23.0–19.4 kWh/100km, between 10 and 20 %, −3.5 %, approx. 5 %, up to 7 %, more than € 4 million, ≤ 50 kWh/m²"
    found = [(each.printed, each.printed_unit, each.bound) for each in measures(text)]
    assert found == [
        (23.0, "kWh/100km", ""), (19.4, "kWh/100km", ""), (10, "%", "at least"), (20, "%", "at most"), (-3.5, "%", ""),
        (5, "%", "about"), (7, "%", "at most"), (4, "EUR million", "more than"), (50, "kWh/m²", "at most"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("€5M", 5e6, "EUR"), ("€5 Million", 5e6, "EUR"), ("EUR 12 Mio.", 12e6, "EUR"), ("€ 5 Mrd.", 5e9, "EUR"),
        ("$3.2B", 3.2e9, "USD"), ("USD 4B", 4e9, "USD"), ("€3.1K", 3100, "EUR"), ("€ 5 mln", 5e6, "EUR"),
        ("€ 5 Millionen", 5e6, "EUR"), ("€5Mio", 5e6, "EUR"), ("EUR 5 MM", 5e6, "EUR"), ("€5 m", 5e6, "EUR"),
        ("5 Mrd. Euro", 5e9, "EUR"), ("1,5 Milliarden Euro", 1.5e9, "EUR"), ("5 mln EUR", 5e6, "EUR"),
        ("€1.5 trillion", 1.5e12, "EUR"), ("5 Billionen Euro", 5e12, "EUR"), ("2 trillion kWh", 2e9, "MWh"),
        ("5 Mrd. kWh", 5e6, "MWh"), ("3 Mio. t", 3e6, "t"), ("4 Tausend t", 4000, "t"),
        ("€5 M&A", 5, "EUR"), ("€ 5 B2B", 5, "EUR"), ("€5 März", 5, "EUR"), ("€ 5 B. Other", 5, "EUR"),
    ],
)  # fmt: skip
def test_scales_of_money_and_units(text, value, unit):
    ((_, found, named),) = read(text)
    assert (found, named) == (pytest.approx(value, rel=1e-12), unit)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("The change was -3.2 %", [-3.2]), ("growth of −3.2 %", [-3.2]), ("emissions changed by -12 %", [-12]),
        ("Veränderung um –4,5 % auf", [-4.5]), ("-€5.2 million", [-5.2e6]), ("€-5.2 million", [-5.2e6]),
        ("EUR -5.2 million", [-5.2e6]), ("ein Ergebnis von −2,5 Mio. EUR", [-2.5e6]), ("CO2 -12 %", [-12]),
        ("between -0.2 % and -0.4 %", [-0.2, -0.4]), ("-1,250 t", [-1250]), ("a loss of -EUR 3 million", [-3e6]),
        ("10-12 %", [10, 12]), ("5 - 7 %", [5, 7]), ("5 -7 %", [5, 7]), ("5 % -7 %", [5, 7]), ("2021-2023", []),
        ("a share – 45 % of all – was", [45]), ("5 €-7 €", [5, 7]), ("€3 million –€5 million", [3e6, 5e6]),
        ("5 t -7 t", [5, 7]), ("non-EUR 5", [5]), ("saved - 45 t", [45]),
    ],
)  # fmt: skip
def test_a_minus_is_a_sign_and_a_dash_is_none(text, values):
    assert [value for _, value, _ in read(text)] == pytest.approx(values)


@pytest.mark.parametrize(
    ("text", "bounds"),
    [
        ("between 45 and 60 g CO2/km", [(45, "at least"), (60, "at most")]),
        ("between 45 g CO2/km and 60 g CO2/km", [(45, "at least"), (60, "at most")]),
        ("between 45 % and 60 %", [(45, "at least"), (60, "at most")]),
        ("between 2019 and 2023 60 %", [(60, "")]),
        ("zwischen 45 und 60 %", [(60, "at most")]),
        ("45–60 kWh/m2", [(45, "at least"), (60, "at most")]),
        ("45 to 60 %", [(45, "at least"), (60, "at most")]),
        ("rose from 45 % to 60 %", [(45, ""), (60, "")]),
        ("it has 45 and 60 MWh", [(60, "")]),
        ("60–45 %", [(60, ""), (45, "")]),
        ("approx. 5-7 %", [(5, "about"), (7, "about")]),
        ("did not fall below 50 %", [(50, "at least")]),
        ("did not exceed 50 %", [(50, "at most")]),
        ("didn’t reach more than 50 %", [(50, "at most")]),
        ("lag nicht unter 50 %", [(50, "at least")]),
        ("nicht mehr als 50 %", [(50, "at most")]),
        ("not only above 50 %", [(50, "more than")]),
        ("not less than 50 %", [(50, "at least")]),
    ],
)
def test_ranges_and_what_is_not_below_or_above(text, bounds):
    assert [(each.value, each.bound) for each in measures(text)] == bounds


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("minus 5 %", -5),
        ("a change of minus 5 %", -5),
        ("8 minus 5 %", 5),
        ("plus or minus 5 %", 5),
        ("plus/minus 5 %", 5),
    ],
)
def test_minus_in_words(text, value):
    assert [each.value for each in measures(text)] == [value]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("fell from 62 g CO2/km in 2022 to 45 g CO2/km in 2023", [62, 45]), ("12 % in 2022 to 15 % in 2023", [12, 15]),
        ("from 1,500 MWh in 2022 to 1,200 MWh", [1500, 1200]), ("130 t CO2e in 2019 to 104 t CO2e", [130, 104]),
        ("8 % im Jahr 2022 bis 9 %", [8, 9]), ("12 % in 2022 and 15 % in 2023", [12, 15]), ("since 2021 - 40 t", [40]),
        ("12 % (2022) to 15 %", [12, 15]), ("a rise over 2020 to 350 MWh", [350]), ("in 2022 and 2023 5 t", [5]),
        ("from 2000 to 2500 MWh", [2000, 2500]), ("2,000 to 2,500 MWh", [2000, 2500]),
    ],
)  # fmt: skip
def test_a_year_begins_no_range(text, values):
    assert [value for _, value, _ in read(text)] == values


def test_a_denominator_that_is_not_known_stays_in_the_name():
    assert read("40 kWh per flat and 3 t per employee") == [
        ("40 kWh", 0.04, "MWh/flat"),
        ("3 t", 3, "t/employee"),
    ]


@pytest.mark.parametrize(
    ("text", "decimal", "value"),
    [
        ("4,857", ".", "4857"), ("4,857", ",", "4.857"), ("4.857", ",", "4857"), ("4.857", ".", "4.857"),
        ("0,693", ".", "0.693"), ("1.250,5", ".", "1250.5"), ("1,250.5", ",", "1250.5"), ("1.234.567", ".", "1234567"),
        ("12,5", ".", "12.5"), ("(3.5)", ".", "-3.5"), ("−7", ".", "-7"), ("1’250", ".", "1250"), ("1,2345", ".", "1.2345"),
    ],
)  # fmt: skip
def test_marks_of_thousands_and_decimals(text, decimal, value):
    assert figure(text, decimal) == Decimal(value)


@pytest.mark.parametrize(
    ("text", "value", "percent", "nothing"),
    [
        ("4,857", 4857, False, False), ("19.4 %", "19.4", True, False), ("–", 0, False, True), ("n/a", 0, False, True), ("k. A.", 0, False, True),
        ("12²", 12, False, False), ("250*", 250, False, False), ("4.81)", "4.8", False, False), ("(3)", -3, False, False),
        ("(12.5%)", "-12.5", True, False), ("(12,5 %)", "-12.5", True, False), ("(12.5) %", "-12.5", True, False),
    ],
)  # fmt: skip
def test_a_number_that_fills_a_cell(text, value, percent, nothing):
    assert stated(text) == (Decimal(value), percent, nothing)


@pytest.mark.parametrize("text", ["", "N/EL", "CCM 7.7", "Y", "12 t", "7.7 8.8", "A.1"])
def test_a_cell_that_is_no_number(text):
    assert stated(text) is None
    with pytest.raises(ValueError, match="not a number"):
        figure(text)


def test_the_decimal_mark_of_a_document():
    assert decimal_mark("1.250,5 und 12,5 % von 3") == ","
    assert decimal_mark("1,250.5 and 12.5 % of 3") == "."
    assert decimal_mark("4,857") == "."


@pytest.mark.parametrize(
    ("text", "name", "factor"),
    [
        ("in € million", "EUR million", 10**6), ("€ thousand", "EUR thousand", 1000), ("TEUR", "EUR thousand", 1000),
        ("Mio. €", "EUR million", 10**6), ("EURm", "EUR million", 10**6), ("in millions of euros", "EUR million", 10**6),
        ("USD bn", "USD billion", 10**9), ("€'000", "EUR thousand", 1000), ("EUR", "EUR", 1),
        ("in $ trillion", "USD trillion", 10**12), ("Mrd. €", "EUR billion", 10**9), ("€b", "EUR billion", 10**9),
        ("EURb", "EUR billion", 10**9), ("USD mm", "USD million", 10**6), ("in Milliarden Euro", "EUR billion", 10**9),
        ("in 1,000 €", "EUR thousand", 1000), ("in EUR 1,000", "EUR thousand", 1000),
        ("in € 1.000", "EUR thousand", 1000), ("Turnover (EUR 1,000)", "EUR thousand", 1000),
        ("2023 in 1000 EUR", "EUR thousand", 1000), ("in 1,000,000 €", "EUR", 1), ("EUR B. Other", "EUR", 1),
    ],
)  # fmt: skip
def test_what_a_column_counts(text, name, factor):
    found = counted(text)
    assert found is not None
    assert (found.name, found.factor) == (name, factor)


@pytest.mark.parametrize(
    ("word", "factor"),
    [("", 1), ("k", 1000), ("Tsd.", 1000), ("1.000", 1000), ("Mio.", 10**6), ("Mrd.", 10**9), ("bn", 10**9),
     ("b", 10**9), ("trillion", 10**12), ("Billionen", 10**12)],
)  # fmt: skip
def test_what_a_scale_counts(word, factor):
    assert scale_factor(word) == factor


def test_a_word_that_is_no_scale():
    with pytest.raises(ValueError, match="not a scale"):
        scale_factor("apples")


@pytest.mark.parametrize(
    "text", ["%", "Turnover", "N/EL", "neuro sciences", "", "a bonus of €1,000", "in EUR 1,000,000"]
)
def test_a_column_that_counts_no_money(text):
    assert counted(text) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("over 5,000 charging points.", [(5000, "charging points", "more than")]),
        ("Today 37 of our locations have", [(37, "locations", "")]),
        ("386 electric vehicle chargers at 92 sites.", [(386, "electric vehicle chargers", ""), (92, "sites", "")]),
        ("The number of plants rose from 4 (output: 5 MW) to 6", [(4, "plants", ""), (6, "plants", "")]),
        ("raised the number of electric cars to around 4,100", [(4100, "electric cars", "about")]),
        ("in 2023 employees", []), ("see Note 12 items", []), ("for 3 years", []), ("12 % of sites", []),
        ("3 million customers", []), ("5 mln customers", []),
    ],
)  # fmt: skip
def test_counts_of_things(text, found):
    assert [(each.value, each.unit, each.bound) for each in counts(text)] == found


@given(st.decimals(0, 999_999, places=2, allow_nan=False), st.sampled_from([".", ","]))
def test_digits_read_back(value, decimal):
    grouped = f"{value:,.2f}"
    if decimal == ",":
        grouped = grouped.translate(str.maketrans(",.", ".,"))
    assert figure(grouped, decimal) == value


@given(st.integers(1, 10**6), st.sampled_from(["kWh", "MWh", "GWh", "g CO2", "kg CO2", "t CO2", "m2", "ha"]))
def test_a_larger_unit_is_the_same_amount(value, unit):
    larger = {"kWh": ("MWh", 1000), "MWh": ("GWh", 1000), "GWh": ("TWh", 1000), "g CO2": ("kg CO2", 1000),
              "kg CO2": ("t CO2", 1000), "t CO2": ("kt CO2", 1000), "m2": ("ha", 10_000), "ha": ("km2", 100)}  # fmt: skip
    name, factor = larger[unit]
    ((_, one, own),) = read(f"{value} {unit}")
    ((_, other, same),) = read(f"{value / factor:.10f}".rstrip("0").rstrip(".")[:18] + f" {name}")
    assert own == same
    assert other == pytest.approx(one, rel=1e-4, abs=1e-5)


@given(st.text(alphabet="0123456789.,-–% €kWhtCO2/m²()absper ", max_size=80))
def test_places_are_in_order_and_in_the_text(text):
    found = list(measures(text))
    assert all(0 <= each.start < each.end <= len(text) for each in found)
    assert all(a.start <= b.start for a, b in pairwise(found))
    assert all(each.end <= len(text) for each in counts(text))


def test_long_rows_of_numbers_are_read_once():
    text = "12.5 kWh per m2 and 3 of " * 4000
    assert len(read(text)) == 4000
    assert read("1 " * 50_000) == []
    assert read("9" * 50_000) == []
    assert read("€" * 50_000) == []
    assert len(read("-5 % of " * 4000)) == 4000
    assert read("- " * 50_000) == []
    assert list(counts("a " * 50_000)) == []


def test_a_unit_alone():
    assert unit_of_measure("% (top)") == ("%", 1)
    assert unit_of_measure("tCO2e/t CWT") == ("tCO2e/t", 1)
    assert unit_of_measure("apples") is None


def test_classes_of_certificates():
    (found,) = measures("an EPC of at least class B")
    assert (found.value, found.unit, found.bound) == (2, "class", "at most")  # A is the first
    for text in ("EPC contractors. A plan", "energy class actions", "EPC BV", "the EPC and A. Smith", "class A shares"):
        assert not list(measures(text)), text
