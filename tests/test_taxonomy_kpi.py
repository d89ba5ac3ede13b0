"""KPI templates in layouts of many kinds, drawn here; and those of the reports."""

from __future__ import annotations

import pytest
from tests.pdffile import Sheet, pdf

from responsa.corpus.readers.pdf import laid_out, opened, pages_of, passages_of
from responsa.taxonomy.numbers.figures import kpi_figures
from responsa.taxonomy.numbers.grid import rows_of, rows_of_text, rows_of_words
from responsa.taxonomy.numbers.kpi import aligned_shares, lines_for, templates
from responsa.types import Passage


def fail(message):
    raise AssertionError(message)


def pages(*sheets):
    with opened(pdf(*sheets), fail) as document:
        return list(pages_of(document, fail))


def by_passages(*sheets):
    return templates(rows_of(passages_of(laid_out(pages(*sheets)), "R")))


def by_words(*sheets):
    return templates([row for page in pages(*sheets) for row in rows_of_words(page.number, page.words)])


def drawn(sheet, rows, xs=(40, 300, 380, 440, 500), top=100, leading=16, ruled=True):
    """Rows with their cells at ``xs``; a cell None is left out. Returns the sheet."""
    for number, row in enumerate(rows):
        y = top + leading * number
        for x, cell in zip(xs, row, strict=False):
            if cell is not None:
                sheet.text(x, y, cell, size=8)
        if ruled:
            sheet.rule(40, 560, y + 4)
    return sheet


def told(template):
    """(section, codes, amount, share) of each line."""
    return [(line.section, *line.codes, line.amount, line.share) for line in template.lines]


ENGLISH = [
    ("Economic activities", "Code", "Turnover", "Proportion of turnover", "CCM"),
    (None, None, "EUR million", "%", "Y; N; N/EL"),
    ("A. TAXONOMY-ELIGIBLE ACTIVITIES",),
    ("A.1. Environmentally sustainable activities (Taxonomy-aligned)",),
    ("Production of cement", "CCM 3.7", "120.5", "3.0", "Y"),
    ("Freight rail transport", "CCM 6.2", "1,200", "30.0", "Y"),
    ("Turnover of environmentally sustainable activities (A.1)", None, "1,320.5", "33.0", "33.0"),
    ("of which enabling", None, "0", "0", None),
    ("A.2. Taxonomy-eligible but not environmentally sustainable activities",),
    ("Production of cement", "CCM 3.7", "361.5", "9.0", "EL"),
    ("Turnover of eligible but not environmentally sustainable activities (A.2)", None, "361.5", "9.0", None),
    ("B. TAXONOMY-NON-ELIGIBLE ACTIVITIES",),
    ("Turnover of Taxonomy-non-eligible activities", None, "2,318", "57.9", None),
    ("TOTAL (A + B)", None, "4,000", "100", None),
]


@pytest.mark.parametrize("read", [by_passages, by_words])
def test_the_template_as_the_act_has_it(read):
    (template,) = read(drawn(Sheet(), ENGLISH))
    assert (template.kpi, template.unit.name, template.flags) == ("turnover", "EUR million", ())
    assert told(template) == [
        ("A.1", "CCM 3.7", 120.5, 3),
        ("A.1", "CCM 6.2", 1200, 30),
        ("A.2", "CCM 3.7", 361.5, 9),
    ]
    assert template.totals["A.1"] == (1320.5, 33)
    assert template.totals["total"] == (4000, 100)
    (share,) = aligned_shares([template], "CCM 3.7")
    assert (round(share.share, 1), share.aligned, share.eligible, share.unit) == (25.0, 120.5, 482, "EUR million")


GERMAN = [
    ("Wirtschaftstätigkeiten", "Code", "Umsatz", "Anteil 2024", "CCM"),
    (None, None, "in T€", "%", "J; N; N/EL"),
    ("A. Taxonomiefähige Tätigkeiten",),
    ("A.1. Ökologisch nachhaltige Tätigkeiten (taxonomiekonform)",),
    ("Erzeugung von Strom aus Windkraft", "CCM 4.3", "12.345", "4,1", "J"),
    ("davon ermöglichend", None, "0", "0,0", None),
    ("Umsatz ökologisch nachhaltiger Tätigkeiten (A.1)", None, "12.345", "4,1", None),
    ("A.2. Taxonomiefähige, aber nicht ökologisch nachhaltige Tätigkeiten",),
    ("Erzeugung von Strom aus Windkraft", "CCM 4.3", "1.234.567,5", "40,9", "EL"),
    ("Umsatz nicht ökologisch nachhaltiger Tätigkeiten (A.2)", None, "1.234.567,5", "40,9", None),
    ("B. Nicht taxonomiefähige Tätigkeiten",),
    ("Umsatz nicht taxonomiefähiger Tätigkeiten", None, "1.771.087,5", "55,0", None),
    ("Gesamt (A + B)", None, "3.018.000,0", "100,0", None),
]


@pytest.mark.parametrize("read", [by_passages, by_words])
def test_german_words_and_numbers(read):
    (template,) = read(drawn(Sheet(), GERMAN))
    assert (template.kpi, template.unit.name, template.year) == ("turnover", "EUR thousand", 2024)
    assert told(template) == [("A.1", "CCM 4.3", 12345, 4.1), ("A.2", "CCM 4.3", 1234567.5, 40.9)]
    (share,) = aligned_shares([template], "CCM 4.3", 2024)
    assert share.share == pytest.approx(100 * 12345 / (12345 + 1234567.5))
    assert aligned_shares([template], "CCM 4.3", 2023) == []


@pytest.mark.parametrize("read", [by_passages, by_words])
def test_a_template_goes_on_over_the_next_page(read):
    head = ENGLISH[:2]
    first = [*head, *ENGLISH[2:6], ENGLISH[6], ENGLISH[8], ENGLISH[9]]
    second = [*head, ("Manufacture of steel", "CCM 3.9", "10", "0.3", "EL"), *ENGLISH[10:]]
    (template,) = read(drawn(Sheet(), first), drawn(Sheet(), second))
    assert template.pages == (1, 2)
    assert told(template)[-1] == ("A.2", "CCM 3.9", 10, 0.3)
    assert template.flags == ("the lines of A.2 add up to 371.5, its sum is printed as 361.5",)


def test_sums_have_their_own_page_and_words():
    head = ENGLISH[:2]
    first, second = [*head, *ENGLISH[2:8]], [*head, *ENGLISH[8:]]
    (template,) = by_passages(drawn(Sheet(), first), drawn(Sheet(), second))
    assert {section: line.page for section, line in template.sums.items()} == {"A.1": 1, "A.2": 2, "B": 2, "total": 2}
    found = [each for each in kpi_figures(template, 2023) if each.metric == "turnover, aligned: sum of A.1"]
    quote = "Turnover of environmentally sustainable activities (A.1) 1,320.5 33.0 33.0"
    assert [(each.page, each.printed, each.quote) for each in found] == [(1, 1320.5, quote), (1, 33, quote)]


@pytest.mark.parametrize("read", [by_passages, by_words])
def test_shares_before_amounts_and_bare_codes_first(read):
    rows = [
        ("Code", "Economic activity", "Share of CapEx (%)", "CapEx (EUR k)"),
        (None, "A. Eligible activities"),
        (None, "A.1 Environmentally sustainable activities (Taxonomy-aligned)"),
        ("7.3", "Energy efficiency equipment", "3.0", "90"),
        ("7.7", "Acquisition and ownership of buildings", "17.0", "510"),
        (None, "CapEx of environmentally sustainable activities (A.1)", "20.0", "600"),
        (None, "A.2 Eligible, not environmentally sustainable (not Taxonomy-aligned)"),
        ("7.7", "Acquisition and ownership of buildings", "50.0", "1,500"),
        (None, "CapEx of eligible, not environmentally sustainable activities (A.2)", "50.0", "1,500"),
        (None, "B. Non-eligible activities", "30.0", "900"),
        (None, "Total", "100.0", "3,000"),
    ]
    (template,) = read(drawn(Sheet(), rows, xs=(40, 80, 400, 490)))
    assert (template.kpi, template.unit.name) == ("capex", "EUR thousand")
    assert told(template) == [
        ("A.1", "7.3", 90, 3), ("A.1", "7.7", 510, 17), ("A.2", "7.7", 1500, 50),
    ]  # fmt: skip
    assert template.totals["B"] == (900, 30)
    (share,) = aligned_shares([template], "CCM 7.7")
    assert round(share.share, 2) == 25.37


def test_parts_of_a_line_are_not_counted_twice():
    rows = [
        *ENGLISH[:5],
        ("thereof CCM 3.7 sold abroad", None, "20.5", "0.5", None),
        *ENGLISH[5:],
    ]
    (template,) = by_passages(drawn(Sheet(), rows))
    assert [line.part for line in lines_for(template, "CCM 3.7")] == [False, True, False]
    (share,) = aligned_shares([template], "CCM 3.7")
    assert share.aligned == 120.5
    assert template.flags == ()


def test_a_share_that_is_not_that_of_the_total_is_flagged():
    rows = [tuple("13.0" if cell == "3.0" else cell for cell in row) for row in ENGLISH]
    (template,) = by_passages(drawn(Sheet(), rows))
    assert template.flags == ("Production of cement CCM 3.7: 120.5 is 3.0 % of the total, printed is 13 %",)


def test_three_kpis_below_one_another():
    def short(kpi, amount):
        return [
            (kpi, "Code", "EUR million", "%"),
            ("A.1 Environmentally sustainable activities (Taxonomy-aligned)",),
            ("Data centres", "CCM 8.1", str(amount), "10"),
            (f"{kpi} of environmentally sustainable activities (A.1)", None, str(amount), "10"),
            ("A.2 Taxonomy-eligible but not environmentally sustainable activities",),
            ("Data centres", "CCM 8.1", str(3 * amount), "30"),
            (f"{kpi} of eligible but not environmentally sustainable activities (A.2)", None, str(3 * amount), "30"),
            (f"{kpi} of Taxonomy-non-eligible activities", None, str(6 * amount), "60"),
            ("Total", None, str(10 * amount), "100"),
        ]

    sheet = Sheet()
    for number, (kpi, amount) in enumerate((("Turnover", 5), ("CapEx", 7), ("OpEx", 11))):
        drawn(sheet, short(kpi, amount), top=60 + 240 * number)
    found = by_passages(sheet)
    assert [(each.kpi, each.totals["total"]) for each in found] == [
        ("turnover", (50, 100)), ("capex", (70, 100)), ("opex", (110, 100)),
    ]  # fmt: skip
    assert [(each.kpi, each.share) for each in aligned_shares(found, "CCM 8.1")] == [
        ("turnover", 25), ("capex", 25), ("opex", 25),
    ]  # fmt: skip


def test_a_page_whose_text_ran_together():
    text = (
        "OpEx Code OpEx Proportion of OpEx, year 2023 € million % A. Taxonomy-eligible activities A.1 Environmentally"
        " sustainable activities (Taxonomy-aligned) Forest management CCM 1.3 14 2.0 Y N/EL N/EL Water supply CCM 5.1"
        " 1,020 30.5 Y N/EL N/EL OpEx of environmentally sustainable activities (Taxonomy-aligned) (A.1) 1,034 32.5 A.2"
        " Taxonomy-eligible but not environmentally sustainable activities Water supply CCM 5.1 / CE 2.2 340 10.1 EL EL"
        " N/EL OpEx of Taxonomy-eligible but not environmentally sustainable activities (A.2) 340 10.1 B."
        " Taxonomy-non-eligible activities OpEx of Taxonomy-non-eligible activities 1,826 57.4 Total 3,200 100"
    )
    (template,) = templates(rows_of_text(7, text))
    assert (template.kpi, template.year, template.unit.name, template.pages) == ("opex", 2023, "EUR million", (7,))
    assert told(template) == [
        ("A.1", "CCM 1.3", 14, 2), ("A.1", "CCM 5.1", 1020, 30.5), ("A.2", "CCM 5.1", "CE 2.2", 340, 10.1),
    ]  # fmt: skip
    assert round(aligned_shares([template], "CCM 5.1")[0].share, 1) == 75.0


def test_lines_of_plain_text_with_wide_gaps():
    text = """
    Activity                                     CapEx in EUR m    %    % 2022
    A.1 Environmentally sustainable activities (Taxonomy-aligned)
    CCM 6.5 Passenger cars                       40                4.0  3.0
    CapEx of environmentally sustainable activities (A.1)  40       4.0  3.0
    A.2 Taxonomy-eligible but not environmentally sustainable activities
    CCM 6.5 Passenger cars                       160               16.0  20.0
    CCM 6.6 Trucks                               –                 –    1.0
    B. Taxonomy-non-eligible activities          800               80.0
    Total                                        1,000             100.0
    """
    (template,) = templates(rows_of_text(1, text))
    assert [(line.section, line.amount) for line in lines_for(template, "CCM 6.5")] == [("A.1", 40), ("A.2", 160)]
    assert aligned_shares([template], "CCM 6.5")[0].share == 20
    assert aligned_shares([template], "CCM 6.6") == []


def test_a_line_without_a_code_is_known_by_its_name():
    rows = [tuple(None if cell and cell.startswith("CCM") else cell for cell in row) for row in ENGLISH]
    passages = passages_of(laid_out(pages(drawn(Sheet(), rows))), "R")
    (template,) = templates(rows_of(passages), {"CCM 3.7": "Production of cement", "CCM 6.2": "Freight rail transport"})
    assert [line.codes for line in template.lines] == [("CCM 3.7",), ("CCM 6.2",), ("CCM 3.7",)]


def test_a_page_set_sideways():
    rows = ENGLISH[2:]
    sheet = Sheet()
    for number, row in enumerate(rows):
        for y, cell in zip((800, 500, 420, 360, 300), row, strict=False):
            if cell is not None:
                sheet.text(60 + 18 * number, y, cell, size=8, turned=True)
    (template,) = by_passages(sheet)
    assert told(template)[0] == ("A.1", "CCM 3.7", 120.5, 3)
    assert told(template)[-1] == ("A.2", "CCM 3.7", 361.5, 9)


def test_last_years_column_is_no_amount():
    rows = [
        ("Activity", "Code", "CapEx EUR million", "%", "% 2022"),
        ("A.1. Environmentally sustainable activities (Taxonomy-aligned)",),
        ("Solar power", "CCM 4.1", "14", "3", "2"),
        ("CapEx of environmentally sustainable activities (A.1)", None, "14", "3", "2"),
        ("A.2. Taxonomy-eligible but not environmentally sustainable activities",),
        ("Wind power", "CCM 4.3", None, None, "17"),
        ("Hydropower", "CCM 4.5", "62", "12", None),
        ("Total", None, "500", "100", "100"),
    ]
    for read in (by_passages, by_words):
        (template,) = read(drawn(Sheet(), rows))
        assert told(template)[1:] == [("A.2", "CCM 4.3", None, None), ("A.2", "CCM 4.5", 62, 12)]
        assert aligned_shares([template], "CCM 4.3") == []


def in_markdown(*rows):
    width = max(len(row) for row in rows)
    lines = ["| " + " | ".join([*row, *[""] * (width - len(row))]) + " |" for row in rows]
    text = "\n".join([lines[0], "| " + " | ".join(["---"] * width) + " |", *lines[1:]])
    return Passage("p1", "R", "1", text, kind="table")


def by_markdown(*rows, year=None):
    return templates(rows_of([in_markdown(*rows)]), year=year)


def short(heads, one, two, rest, total):
    """A template of one activity; the values behind its labels."""
    return [
        *heads,
        ("A.1 Environmentally sustainable activities (Taxonomy-aligned)",),
        ("Own buildings", "CCM 7.7", *one),
        ("Turnover of environmentally sustainable activities (A.1)", "", *one),
        ("A.2 Taxonomy-eligible but not environmentally sustainable activities",),
        ("Own buildings", "CCM 7.7", *two),
        ("Turnover of eligible but not environmentally sustainable activities (A.2)", "", *two),
        ("B. Taxonomy-non-eligible activities", "", *rest),
        ("Total (A+B)", "", *total),
    ]


BY_KIND = short(
    [("Activity", "Code", "Turnover 2022 (EUR million)", "Turnover 2023 (EUR million)", "% 2022", "% 2023")],
    ("8", "20", "4.0", "10.0"), ("22", "60", "11.0", "30.0"), ("170", "120", "85", "60"), ("200", "200", "100", "100"),
)  # fmt: skip
BY_YEAR = short(
    [("Activity", "Code", "2022", "", "2023", ""), ("", "", "EUR million", "%", "EUR million", "%")],
    ("8", "4.0", "20", "10.0"), ("22", "11.0", "60", "30.0"), ("170", "85", "120", "60"), ("200", "100", "200", "100"),
)  # fmt: skip


@pytest.mark.parametrize("rows", [BY_KIND, BY_YEAR])
def test_the_columns_of_the_year_are_read_wherever_they_stand(rows):
    for year in (None, 2023, 2024):
        (template,) = by_markdown(*rows, year=year)
        assert (template.year, told(template)) == (
            2023, [("A.1", "CCM 7.7", 20, 10), ("A.2", "CCM 7.7", 60, 30)],
        )  # fmt: skip
        assert template.totals["B"] == (120, 60)
    (template,) = by_markdown(*rows, year=2022)
    assert (template.year, told(template)[0]) == (2022, ("A.1", "CCM 7.7", 8, 4))


PLAIN = [("Activity", "Code", "Turnover", "Proportion of turnover", "Last year")]


@pytest.mark.parametrize(
    ("one", "two", "rest", "total", "unit", "amounts"),
    [
        (("€1.2bn", "10%", "9%"), ("€3.6bn", "30%", "–"), ("€7.2bn", "60%"), ("€12.0bn", "100%"), "EUR billion", (1.2, 3.6)),
        (("EUR 120 m", "10 %", "9%"), ("EUR 360 m", "30 %", ""), ("", "60 %"), ("", "100 %"), "EUR million", (120, 360)),
        (("€900m", "10%", ""), ("€2.7bn", "30%", ""), ("€5.4bn", "60%"), ("€9bn", "100%"), "EUR million", (900, 2700)),
        (("£12", "10%", ""), ("£36", "30%", ""), ("£72", "60%"), ("£120", "100%"), "GBP", (12, 36)),
        (("10%", "€12m", ""), ("30%", "€36m", ""), ("60%", "€72m"), ("100%", "€120m"), "EUR million", (12, 36)),
        (("10", "€12m", ""), ("30", "€36m", ""), ("60", "€72m"), ("100", "€120m"), "EUR million", (12, 36)),
    ],
)  # fmt: skip
def test_amounts_with_their_unit_in_the_cell(one, two, rest, total, unit, amounts):
    (template,) = by_markdown(*short(PLAIN, one, two, rest, total))
    assert template.unit.name == unit
    assert told(template) == [("A.1", "CCM 7.7", amounts[0], 10), ("A.2", "CCM 7.7", amounts[1], 30)]
    assert [line.name for line in template.lines] == ["Own buildings CCM 7.7"] * 2


def test_a_currency_in_the_cells_of_a_table_in_millions():
    heads = [("Activity", "Code", "EUR million", "%")]
    (template,) = by_markdown(*short(heads, ("€20", "10"), ("€60", "30"), ("€120", "60"), ("€200", "100")))
    assert (template.unit.name, told(template)[0]) == ("EUR million", ("A.1", "CCM 7.7", 20, 10))


def test_one_cell_in_another_scale_changes_none_of_the_others():
    heads = [("Activity", "Code", "EUR million", "%")]
    (template,) = by_markdown(*short(heads, ("360", "10"), ("€1.2bn", "30"), ("2,040", "60"), ("3,600", "100")))
    assert template.unit.name == "EUR million"
    assert told(template) == [("A.1", "CCM 7.7", 360, 10), ("A.2", "CCM 7.7", 1200, 30)]


IN_MILLIONS = [("Activity", "Code", "EUR million", "%", "% 2022")]


@pytest.mark.parametrize("word", ["n/a", "N/A", "n.a.", "k. A."])
def test_what_is_not_stated_is_no_zero(word):
    rows = short(IN_MILLIONS, (word, word, word), ("60", "30", "11"), ("140", "70"), ("200", "100"))
    (template,) = by_markdown(*rows)
    assert told(template)[0] == ("A.1", "CCM 7.7", None, None)
    assert (template.lines[0].not_stated, template.lines[1].not_stated) == (True, False)
    assert template.totals["A.1"] == (None, None)
    assert aligned_shares([template], "CCM 7.7") == []


def test_a_dash_is_a_zero_and_an_amount_without_a_share_is_one():
    rows = short(IN_MILLIONS, ("–", "–", "n/a"), ("60", "n/a", "11"), ("140", "70"), ("200", "100"))
    (template,) = by_markdown(*rows)
    assert told(template) == [("A.1", "CCM 7.7", 0, 0), ("A.2", "CCM 7.7", 60, None)]
    (share,) = aligned_shares([template], "CCM 7.7")
    assert (share.share, share.eligible) == (0, 60)


def test_shares_printed_as_parts_of_one_are_told_in_percent():
    rows = short(PLAIN, ("20", "0.1", "0.2"), ("60", "0.3", "–"), ("120", "0.6"), ("200", "1.0"))
    (template,) = by_markdown(*rows)
    assert told(template) == [("A.1", "CCM 7.7", 20, 10), ("A.2", "CCM 7.7", 60, 30)]
    assert (template.totals["total"], template.flags) == ((200, 100), ())


def test_small_shares_in_percent_stay_as_they_are():
    (template,) = by_markdown(*short(PLAIN, ("1", "0.5"), ("1", "0.5"), ("198", "99"), ("200", "100")))
    assert told(template)[0] == ("A.1", "CCM 7.7", 1, 0.5)
    (template,) = by_markdown(*short(IN_MILLIONS, ("1", "0.5"), ("1", "0.5"), ("0", "0"), ("200", "1")))
    assert told(template)[0] == ("A.1", "CCM 7.7", 1, 0.5)


def test_a_share_is_no_amount():
    heads = [("Activity", "Code", "Turnover", "of last year")]
    (template,) = by_markdown(*short(heads, ("10%", "9%"), ("30%", "20%"), ("60%", "71%"), ("100%", "100%")))
    assert told(template) == [("A.1", "CCM 7.7", None, 10), ("A.2", "CCM 7.7", None, 30)]


def test_columns_of_the_previous_year_in_words():
    heads = [("Activity", "Code", "Previous year in EUR k", "EUR k", "Vorjahr %", "%")]
    (template,) = by_markdown(*heads, *BY_KIND[1:])
    assert told(template)[0] == ("A.1", "CCM 7.7", 20, 10)


def test_a_share_of_last_year_makes_no_template_of_that_year():
    heads = [("Activity", "Code", "EUR million", "% of 2023", "% of 2022")]
    rows = short(heads, ("20", "10", "4"), ("60", "30", "11"), ("120", "60", "85"), ("200", "100", "100"))
    (template,) = by_markdown(*rows, year=2022)
    assert (template.year, told(template)[0]) == (2023, ("A.1", "CCM 7.7", 20, 10))
    assert aligned_shares([template], "CCM 7.7", 2022) == []


@pytest.mark.parametrize("read", [by_passages, by_words])
def test_sums_beside_the_heads_of_sections(read):
    rows = [
        ("Activity", "Code", "Revenue in EUR million", "%"),
        ("A. ELIGIBLE ACTIVITIES", None, "400", "40"),
        ("A.1 Environmentally sustainable activities", None, "300", "30"),
        ("Wind power", "CCM 4.3", "300", "30"),
        ("A.2 Eligible but not environmentally sustainable activities", None, "100", "10"),
        ("Wind power", "CCM 4.3", "100", "10"),
        ("B. N O N - E L I G I B L E  A C T I V I T I E S", None, "600", "60"),
        ("Total (A + B)", None, "1,000", "100"),
    ]
    (template,) = read(drawn(Sheet(), rows))
    assert told(template) == [("A.1", "CCM 4.3", 300, 30), ("A.2", "CCM 4.3", 100, 10)]
    assert [template.totals[each] for each in ("A.1", "A.2", "B", "total")] == [
        (300, 30),
        (100, 10),
        (600, 60),
        (1000, 100),
    ]


def test_years_in_the_text_above_are_not_those_of_the_table():
    sheet = Sheet().lines(40, 60, "By 2045 we will be neutral, as Delegated Regulation (EU) 2026/73 asks for.")
    (template,) = by_passages(drawn(sheet, ENGLISH))
    assert template.year is None
    dated = [(*ENGLISH[0][:3], "Proportion of turnover, year 2023", None), *ENGLISH[1:]]
    (template,) = by_passages(drawn(Sheet(), dated))
    assert template.year == 2023


def test_text_about_templates_is_none():
    text = (
        "In 2023 the Taxonomy-aligned turnover (A.1) was 12.5 % and the eligible, not aligned turnover (A.2) 30 %.\n"
        "A.1 lines are those of CCM 7.1 and CCM 7.7.\nActivity 7.7 Acquisition of buildings is the largest.\n"
    )
    assert templates(rows_of_text(1, text)) == []
    assert templates([]) == []


def test_a_kpi_that_is_said_not_to_be_reported_is_flagged():
    rows = [tuple(cell and cell.replace("Turnover", "OpEx") for cell in row) for row in ENGLISH]
    first = Sheet().lines(60, 100, "The company decided not to report the OpEx KPI for reasons of materiality.")
    (template,) = by_passages(first, drawn(Sheet(), rows))
    assert template.flags == ("is headed opex, but page 1 says that this is not reported",)
