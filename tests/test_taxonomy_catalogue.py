"""The catalogue of activities: looking up, years, and building it from acts and a Compass export."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import date

import pytest

from responsa.errors import InputError, NotFound, ReadError
from responsa.taxonomy.activities import acts, build, catalogue, compass
from responsa.taxonomy.activities.criteria import walk
from responsa.text import normalise

NAMES = ("compass_2022.json", "climate_delegated_act_32021r2139_2024-01-01.fmx4.xml",
         "environmental_delegated_act_32023r2486_2026-01-01.fmx4.xml")  # fmt: skip


@pytest.fixture(scope="module")
def held():
    return catalogue.shipped()


# Looking up


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("CCM 6.5", "CCM 6.5"),
        ("ccm6.5", "CCM 6.5"),
        ("CCM-6.5", "CCM 6.5"),
        ("CCM 6.5.", "CCM 6.5"),
        ("CCM 6.5 Transport by motorbikes, passenger cars and light commercial vehicles", "CCM 6.5"),
        ("CE 3.1", "CE 3.1"),
        ("CCA 11", "CCA 11.1"),
        ("3.21", "CCM 3.21"),
        ("Education", "CCA 11.1"),
        ("manufacturing of aircraft", "CCM 3.21"),
        ("leakage control technologies", "WTR 1.1"),
    ],
)
def test_find(held, name, expected):
    assert held.find(name, 2024).activity.id == expected


def test_several_objectives(held):
    with pytest.raises(InputError, match=r"'6.5' is there for several objectives; give one of: 'CCM 6.5' .*'CCA 6.5'"):
        held.find("6.5", 2023)
    with pytest.raises(InputError, match=r"'CCM 6\.5'.*'CCA 6\.5'"):
        held.find("passenger cars", 2023)
    assert [each.activity.id for each in held.all("7.1", 2023)] == ["CCM 7.1", "CCA 7.1"]
    assert [each.activity.id for each in held.all("3.1", 2023)] == ["CCM 3.1", "CCA 3.1", "WTR 3.1", "CE 3.1"]
    assert [each.activity.id for each in held.all("3.1", 2021)] == ["CCM 3.1", "CCA 3.1"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("CCM 6.55", "did you mean 'CCM 6.5'"),
        ("WTR 6.5", "'CCM 6.5'"),
        ("solar", r"'CCM 4.1' \(Electricity generation using solar photovoltaic technology\)"),
        ("qqqq", "responsa taxonomy list prints all"),
        ("", "responsa taxonomy list prints all"),
    ],
)
def test_unknown(held, name, hint):
    with pytest.raises(NotFound, match=hint):
        held.find(name, 2023)


def test_what_an_activity_holds(held):
    one = held.find("CCM 6.5", 2023).activity
    assert (one.objective, one.number, one.sector, one.kind) == ("CCM", "6.5", "Transport", "transitional")
    assert one.nace == ("H49.32", "H49.39", "N77.11")
    assert one.name.startswith("Transport by motorbikes")
    assert [*one.dnsh] == ["CCA", "WTR", "CE", "PPC", "BIO"]
    assert held.find("CCM 3.3", 2023).activity.kind == "enabling"
    assert held.find("CCM 7.7", 2023).activity.kind == ""
    assert any("2005/64/EC" in note for note in one.notes)


def test_appendices(held):
    one = held.find("CCM 7.1", 2023).activity
    ids = [each.id for each in walk(held.appendix(one, "C"))]
    assert ids == ["Appendix C", *(f"Appendix C ({letter})" for letter in "abcdef")]
    hazards = [each.text for each in walk(held.appendix(one, "A")) if "indent" in each.id]
    assert "Chronic; Changing temperature" in hazards[1]
    assert held.appendix(one, "z") is None
    old = held.find("CCM 7.1", 2022).activity  # the export has no appendices: those of the act
    assert held.appendix(old, "A") == held.appendix(one, "A")


# Years


@pytest.mark.parametrize(
    ("name", "year", "source", "approximate", "said"),
    [
        ("CCM 7.1", 2021, "32021R2139 as of 2022-01-01", False, "only eligibility"),
        ("CCM 7.1", 2022, "32021R2139 as of 2022-01-01", False, ""),
        ("CCM 7.1", 2023, "32021R2139 as of 2024-01-01", False, ""),
        ("CCM 7.1", 2024, "32021R2139 as of 2024-01-01", False, ""),
        ("CCM 7.1", 2025, "32021R2139 as of 2024-01-01", True, "may have been amended since"),
        ("CCM 7.1", 2020, "32021R2139 as of 2022-01-01", True, "from the financial year 2021"),
        ("CCM 3.21", 2023, "32021R2139 as of 2024-01-01", False, "only eligibility"),
        ("CCM 3.21", 2022, "32021R2139 as of 2024-01-01", True, "from the financial year 2023"),
        ("CCM 4.29", 2022, "32021R2139 as of 2024-01-01", True, "wording for 2022 is not in the catalogue"),
        ("CE 3.1", 2023, "32023R2486 as of 2026-01-01", True, "wording for 2023 is not in the catalogue"),
        ("CE 3.1", 2025, "32023R2486 as of 2026-01-01", False, ""),
    ],
)
def test_year(held, name, year, source, approximate, said):
    found = held.find(name, year)
    assert (found.activity.source, found.approximate) == (source, approximate)
    assert said in " ".join(found.notes)
    assert bool(found.notes) == bool(said)


@pytest.mark.parametrize(("name", "year"), [("CCM 7.1", 2019), ("CCM 3.21", 2021), ("CE 3.1", 2021)])
def test_a_year_without_criteria(held, name, year):
    with pytest.raises(InputError, match=f"no criteria for {name} for the financial year {year}; they begin with"):
        held.find(name, year)


def test_without_a_year_the_latest(held):
    assert held.find("CCM 7.1").activity.source == "32021R2139 as of 2024-01-01"
    assert not held.find("CCM 7.1").approximate


def test_all_annotated_rows_are_found(data, held):
    path = data / "eu_taxonomy" / "alignment_dev.json"
    if not path.is_file():
        pytest.skip(f"no {path}")
    for row in json.loads(path.read_text(encoding="utf-8"))["rows"]:
        found = held.find(row["activity"], row["financial_year"])
        assert row["activity"] == f"{found.activity.id} {found.activity.name}"
        assert found.approximate == (row["financial_year"] == 2020)


def test_activities(held):
    assert len(held.activities(2022)) == 195  # 183 of the export, 12 of gas and nuclear energy
    transport = held.activities(2023, "CCM", "6")
    assert [each.activity.number for each in transport] == [f"6.{number}" for number in range(1, 21)]
    assert {each.activity.id for each in held.activities(2024, sector="education")} == {"CCA 11.1"}
    assert {each.activity.objective for each in held.activities(2021)} == {"CCM", "CCA"}
    assert all(each.approximate for each in held.activities(2020))
    with pytest.raises(InputError, match="no criteria for the financial year 2019; they begin with 2021"):
        held.activities(2019)


# Building


def table(*rows):
    cells = "".join(
        "<ROW>" + "".join(f'<CELL COL="{k}">{cell}</CELL>' for k, cell in enumerate(row, 1)) + "</ROW>" for row in rows
    )
    return f'<TBL COLS="2"><CORPUS>{cells}</CORPUS></TBL>'


def point(number, text):
    return f"<NP><NO.P>{number}</NO.P><TXT>{text}</TXT></NP>"


def titled(level, title, *content):
    return f'<GR.SEQ LEVEL="{level}"><TITLE><TI>{title}</TI></TITLE>{"".join(content)}</GR.SEQ>'


def act(limit="100", start="20300101"):
    """A delegated act with one activity."""
    described = titled(3, "<P>Description of the activity</P>", "<P>Baking of bread.</P>",
                       "<P>Could be associated with NACE code C10.71 in accordance with the classification.</P>",
                       "<P>It is an enabling activity as referred to in Article 10(1), point (i).</P>")  # fmt: skip
    items = f"<LIST TYPE='alpha'><ITEM>{point('(a)', f'emissions are lower than {limit} g CO2e/kWh;')}</ITEM><ITEM>{point('(b)', 'the oven is electric.')}</ITEM></LIST>"
    criteria = titled(3, "<P>Technical screening criteria</P>", table(
        ["Substantial contribution to climate change mitigation"],
        [f"<P>The activity complies with one of the following criteria:</P>{items}"],
        ["Do no significant harm ('DNSH')"],
        ["(2) Climate change adaptation", "The activity complies with the criteria set out in Appendix A to this Annex."],
        ["(4) Transition to a circular economy", "N/A"],
    ))  # fmt: skip
    activity = titled(2, point("9.7.", "Bakery"), described, criteria)
    title = "criteria for an economic activity contributing substantially to climate change mitigation and for no harm"
    annex = f"<CONS.ANNEX><TITLE><TI><P>ANNEX I</P></TI><STI><P>{title}</P></STI></TITLE><CONTENTS>{titled(1, point('9.', 'FOOD'), activity)}</CONTENTS></CONS.ANNEX>"
    appendix = "<CONS.ANNEX><TITLE><TI><P>Appendix A</P></TI><STI><P>GENERIC CRITERIA</P></STI></TITLE><CONTENTS><P>Risks are known.</P></CONTENTS></CONS.ANNEX>"
    articles = "<ENACTING.TERMS><ARTICLE IDENTIFIER='001'><TI.ART>Article 1</TI.ART><ALINEA>Criteria are in Annex I.</ALINEA></ARTICLE></ENACTING.TERMS>"
    return f"""<?xml version="1.0" encoding="utf-8"?><CONS.ACT><INFO.CONSLEG START.DATE="{start}" END.DATE="99991231"/>
<CONS.DOC><FAM.COMP><BIB.DATA><NO.CELEX>32029R0001</NO.CELEX></BIB.DATA></FAM.COMP><TITLE><TI><P>Regulation (EU) 2029/1</P></TI></TITLE>
{articles}{annex}{appendix}</CONS.DOC></CONS.ACT>"""


def test_a_catalogue_of_ones_own(tmp_path):
    for name, content in {"one.xml": act(), "two.xml": act("50", "20320101")}.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    said = []
    content = build.build([tmp_path / "one.xml", tmp_path / "two.xml"], lambda name, count: said.append((name, count)))
    assert said == [("one.xml", 1), ("two.xml", 1)]
    build.write(content, tmp_path / "own.json.gz")
    build.write(content, tmp_path / "own.json")
    assert (tmp_path / "own.json.gz").read_bytes()[:2] == b"\x1f\x8b"
    for name in ("own.json", "own.json.gz"):
        own = catalogue.load(tmp_path / name)
        first, second = own.find("CCM 9.7", 2030), own.find("Bakery", 2031)
        assert first.activity.source == "32029R0001 as of 2030-01-01"
        assert second.activity.source == "32029R0001 as of 2032-01-01"
        one = first.activity
        assert (one.name, one.sector, one.nace, one.kind) == ("Bakery", "Food", ("C10.71",), "enabling")
        assert one.description.startswith("Baking of bread.\n")
        assert (one.substantial_contribution.logic, len(one.substantial_contribution.parts)) == ("any", 2)
        assert one.substantial_contribution.parts[0].thresholds[0].value == 100.0
        assert second.activity.substantial_contribution.parts[0].thresholds[0].value == 50.0
        assert [*one.dnsh] == ["CCA", "CE"]
        assert own.appendix(one, "A").text == "Risks are known."
        assert own.states[0].sha256 == hashlib.sha256(act().encode()).hexdigest()
        assert own.states[0].valid_to is None
        assert own.find("CCM 9.7", 2029).activity.valid_from == date(2030, 1, 1)


def test_the_same_state_twice(tmp_path):
    for name in ("one.xml", "two.xml"):
        (tmp_path / name).write_text(act(), encoding="utf-8")
    with pytest.raises(InputError, match=r"two.xml: the catalogue has 32029R0001 as of 2030-01-01 already"):
        build.build([tmp_path / "one.xml", tmp_path / "two.xml"])


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("act.xml", act().replace("Technical screening", "Other"), None),
        ("other.xml", re.sub(r"<CONS.ANNEX>.*</CONS.ANNEX>", "", act()), "holds no technical screening criteria"),
        ("broken.xml", "<CONS.ACT>", "broken.xml"),
        ("compass_2022.json", "{}", "is no export of the EU Taxonomy Compass"),
        ("compass_2022.json", "[1", "is no export of the EU Taxonomy Compass"),
        ("compass.json", "{}", "must have its year in its name"),
        ("missing.xml", None, "cannot be read"),
    ],
)
def test_files_that_are_no_source(tmp_path, name, content, why):
    path = tmp_path / name
    if content is not None:
        path.write_text(content, encoding="utf-8")
    if why is None:  # the heading does not matter, the table does
        assert len(build.build([path])["activities"]) == 1
        return
    with pytest.raises(ReadError, match=why):
        build.build([path])


def test_a_file_that_is_no_catalogue(tmp_path):
    path = tmp_path / "own.json"
    for content in ("", "[]", '{"format": 99}', '{"format": 1}'):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match="responsa taxonomy build"):
            catalogue.load(path)


def export(number="1.1"):
    note = (
        "<sup><span class='popover-tooltip'>(99)</span><span class='popover-tooltip-content'>See the note.</span></sup>"
    )
    return {
        "activities": [{"name": "Bakery", "sector": "Food", "description": "", "reference": number, "nace_codes": "C10.71"}],
        "matches": [
            {
                "activity": "Bakery", "objective": "mitigation", "activity_contribution_type": "Transitional",
                "activity_description": "<p>Baking. NACE code C10.71 in accordance with</p>",
                "substantial_contribution_criteria": [
                    f"<p>One of the following:</p><ol type='a'><li>CO<sub>2</sub>{note} is low;<ol type='i'><li>x</li><li>y</li></ol></li><li>z</li></ol><p>End.</p>"
                ],
                "dnsh": [{"objective": "adaptation", "criteria": ["<p>See <a href='x'>Appendix A</a>.</p>"]}],
            }
        ],
    }  # fmt: skip


def test_compass_export():
    ((section, kind),) = compass.sections(json.dumps(export()).encode(), "compass")
    assert (section.objective, section.number, section.name, kind) == ("CCM", "1.1", "Bakery", "transitional")
    assert [tuple(each) for each in section.contribution] == [
        ("", "One of the following:"), ("a", "CO₂ is low;"), ("i", "x"), ("ii", "y"), ("b", "z"), ("", "End."),
    ]  # fmt: skip
    assert section.notes == ["See the note."]
    assert [each.text for each in section.dnsh["CCA"]] == ["See Appendix A."]
    assert acts.codes(section.description) == ("C10.71",)


@pytest.fixture(scope="module")
def sources(data):
    files = [data / "eu_taxonomy" / name for name in NAMES]
    if not all(path.is_file() for path in files):
        pytest.skip(f"no acts in {data / 'eu_taxonomy'}")
    return files


def test_what_ships_is_what_the_builder_makes(sources, held, tmp_path):
    build.write(build.build(sources), tmp_path / "made.json")
    made = catalogue.read(tmp_path / "made.json")
    assert made.states == held.states
    assert made.ids() == held.ids()
    assert [state.sha256 for state in held.states] == [
        hashlib.sha256(path.read_bytes()).hexdigest() for path in sources
    ]
    for activity_id in made.ids():
        for year in (None, 2022):
            try:
                mine = made.find(activity_id, year)
            except InputError:
                continue
            assert mine == held.find(activity_id, year)


def letters(text):
    return re.sub(r"[\W_]+", "", normalise(text))


def test_no_word_of_the_exports_criteria_is_lost(sources):
    """All 183 records: the letters of the HTML, without footnotes and markup, are those of the tree."""
    data = json.loads(sources[0].read_text(encoding="utf-8"))
    made = {(section.objective, section.name): section for section, _ in compass.sections(sources[0].read_bytes(), "x")}
    state = catalogue.State("x", "", date(2022, 1, 1), None, date(2022, 1, 1), "x.json", "")
    note = re.compile(
        r"<span class='popover-tooltip'.*?</span>\s*<span class='popover-tooltip-content'.*?</span>", re.DOTALL
    )
    for match in data["matches"]:
        section = made[{"mitigation": "CCM", "adaptation": "CCA"}[match["objective"]], match["activity"]]
        fragments = [
            *match["substantial_contribution_criteria"],
            *(x for each in match["dnsh"] for x in each["criteria"]),
        ]
        wanted = letters(re.sub(r"<[^>]+>", " ", note.sub(" ", " ".join(fragments))).replace("&amp;", "&"))
        one = build._activity(section, "", state)
        tree = [each for root in (one.substantial_contribution, *one.dnsh.values()) for each in walk(root)]
        printed = "".join(letters((each.number if each.number[:1].isdigit() else "") + each.text) for each in tree)
        missing = len(wanted) - len(printed)
        assert missing in (0, 3), one.id  # 3: (i) and (ii) typed as text in one record
        if not missing:
            assert sorted(wanted) == sorted(printed), one.id
    assert len(data["matches"]) == 183
