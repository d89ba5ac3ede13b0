"""The obligation register: the parts of a duty by hand, lists, spans that cite, and the files it is written as."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import cli
from responsa import views
from responsa.corpus import library
from responsa.corpus.library import Library
from responsa.errors import NotFound
from responsa.register import by_who, register
from responsa.register.aligned import plain
from responsa.register.clauses import clauses
from responsa.register.units import units
from responsa.register.words import is_actor
from responsa.render import sheets
from responsa.text import sentences
from responsa.types import Passage

PARTS = ("who", "what", "when", "condition", "exception")


def parts(text, **keywords):
    """modality and the words of each part of each duty of a sentence."""
    return [
        (each.modality, *(" / ".join(text[start:end] for start, end in getattr(each, name)) for name in PARTS))
        for each in clauses(text, **keywords)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "A Firm must notify the Desk within 10 business days of becoming aware of the breach, unless exempt.",
            ("obligation", "A Firm", "notify the Desk", "within 10 business days of becoming aware of the breach", "", "unless exempt"),
        ),
        (
            "Where the fare has not been set, an Authorised Person must use the highest estimate.",
            ("obligation", "an Authorised Person", "use the highest estimate", "", "Where the fare has not been set", ""),
        ),
        (
            "If an institution is not able to model it, it shall not recognise the effect, unless it uses both methods.",
            ("prohibition", "an institution", "recognise the effect", "", "If an institution is not able to model it", "unless it uses both methods"),
        ),
        (
            "Exposures to the bank shall be assigned a 0 % risk weight.",
            ("obligation", "", "Exposures to the bank shall be assigned a 0 % risk weight", "", "", ""),
        ),
        (
            "Records shall be kept by the firm for at least six years.",
            ("obligation", "the firm", "Records shall be kept by the firm", "for at least six years", "", ""),
        ),
        (
            "No person shall use a document except in the circumstances prescribed.",
            ("prohibition", "No person", "use a document", "", "", "except in the circumstances prescribed"),
        ),
        (
            "A person shall not, subject to subsection (3), make an offer.",
            ("prohibition", "A person", "make an offer", "", "", "subject to subsection (3)"),
        ),
        (
            "Rule 3 requires a Firm to keep records.",
            ("obligation", "a Firm", "keep records", "", "", ""),
        ),
        (
            "By 30 June 2014, the Commission shall, where appropriate, submit a proposal to the Council.",
            ("obligation", "the Commission", "submit a proposal to the Council", "By 30 June 2014", "where appropriate", ""),
        ),
        (
            "The exchange must be notified at once that it may take place.",
            ("obligation", "", "The exchange must be notified at once that it may take place", "", "", ""),
        ),
        (
            "A Firm must tell the Desk of expectations that clients should pay before their maturity.",
            ("obligation", "A Firm", "tell the Desk of expectations that clients should pay before their maturity", "", "", ""),
        ),
        (
            "A Firm may lend money only if it has been approved.",
            ("restriction", "A Firm", "lend money", "", "only if it has been approved", ""),
        ),
        (
            "By way of derogation from paragraph 1, institutions shall periodically, and at least annually, assess it.",
            ("obligation", "institutions", "assess it", "periodically / at least annually", "", "By way of derogation from paragraph 1"),
        ),
        (
            "A Firm must not accept a gift without the prior written consent of the Desk.",
            ("prohibition", "A Firm", "accept a gift", "", "", "without the prior written consent of the Desk"),
        ),
        (
            "For retail exposures, the following shall apply:\n(a) where a limit is set, institutions shall check it monthly;",
            ("obligation", "institutions", "check it", "monthly", "For retail exposures / where a limit is set", ""),
        ),
        (
            "The estimates shall be subject to these criteria:\ninstitutions shall update them every three months.",
            ("obligation", "institutions", "update them", "every three months", "", ""),
        ),
        (
            "The “Operator” (an entity of its own) must act.",
            ("obligation", "", "The “Operator” (an entity of its own) must act", "", "", ""),
        ),
    ],
)  # fmt: skip
def test_the_parts_of_a_duty(text, expected):
    assert parts(text) == [expected]


def test_two_verbs_are_two_duties_of_the_same_subject():
    assert parts("The Firm must apply the approach consistently and must not use both at once.") == [
        ("obligation", "The Firm", "apply the approach consistently", "", "", ""),
        ("prohibition", "The Firm", "use both at once", "", "", ""),
    ]


def test_what_binds_nobody_has_no_duties():
    assert parts("A Firm may lend money.") == parts("Scope of this Part") == parts("") == []


def test_recommendations_are_read_where_asked_for():
    text = "A Firm should review its plan at least annually."
    assert parts(text) == []
    assert parts(text, soft=True) == [("recommendation", "A Firm", "review its plan", "at least annually", "", "")]


WORDS = st.sampled_from(
    ["the firm", " must", " shall", " not", " if", " where", ", ", "; ", ": ", ". ", " and", " unless", "(a) ", "\n",
     " keep records", " within 10 days", " by the Board", "Where ", " the report", "“x”", " — ", "\u200e", " which",
     " may only", " (as such)", " is required to"]
)  # fmt: skip


@given(st.lists(WORDS, max_size=25).map("".join) | st.text(max_size=80))
def test_every_part_is_a_span_of_the_text(text):
    for each in clauses(text) + clauses(text, soft=True):
        spans = [each.verb, *(span for name in PARTS for span in getattr(each, name))]
        assert all(0 <= start < end <= len(text) for start, end in spans)
        assert [span for span in each.what if text[slice(*span)].isspace()] == []


@given(st.lists(WORDS, max_size=25).map("".join) | st.text(max_size=80))
def test_plain_characters_stand_for_stored_ones_in_order(text):
    made = plain(text)
    assert len(made.cased) == len(made.lower) == len(made.at) == len(made.to)
    assert all(low < high for low, high in zip(made.at, made.to, strict=True))
    assert list(made.at) == sorted(made.at)


# Lists

TREE = (
    {"id": "1", "text": "If a Firm holds money, it must:"},
    {"id": "1(a)", "text": "keep it in a separate account; and", "parent": "1"},
    {"id": "1(b)", "text": "reconcile the account daily. It may use a model.", "parent": "1"},
    {"id": "2", "text": "A Firm must tell the Desk if all of the following conditions are met:"},
    {"id": "2(a)", "text": "the account is overdrawn;", "parent": "2"},
    {"id": "2(b)", "text": "the client must pay a fee.", "parent": "2"},
    {"id": "3", "text": "A Firm must not:\n(a)\tlend;\n(b)\tborrow; or\n(c)\tsell,\nunless the Desk consents."},
    {"id": "4", "text": "A Firm must either:\n(a) pay; or\n(b) return it within 5 days."},
    {"id": "5", "text": "A Firm should plan ahead."},
)  # fmt: skip


def rows(duties):
    return [
        (each.number or each.passage.id, *(sheets.words(getattr(each, name)) for name in PARTS)) for each in duties
    ]  # fmt: skip


@pytest.fixture(scope="module")
def corpus(corpus_of):
    return corpus_of(*({"document": "D", "number": row["id"], **row} for row in TREE))


def test_points_complete_their_lead_in(corpus):
    assert rows(register(corpus, "D")) == [
        ("1(a)", "a Firm", "keep it in a separate account", "", "If a Firm holds money", ""),
        ("1(b)", "a Firm", "reconcile the account", "daily", "If a Firm holds money", ""),
        ("2", "A Firm", "tell the Desk", "", "if all of the following conditions are met: … the account is overdrawn; … the client must pay a fee", ""),
        ("3(a)", "A Firm", "lend", "", "", "unless the Desk consents"),
        ("3(b)", "A Firm", "borrow", "", "", "unless the Desk consents"),
        ("3(c)", "A Firm", "sell", "", "", "unless the Desk consents"),
        ("4", "A Firm", "either: (a) pay; or (b) return it", "within 5 days", "", ""),
    ]  # fmt: skip


def test_guidance_is_listed_where_asked_for(corpus):
    *_, last = register(corpus, "D", guidance=True)
    assert (last.number, last.modality, last.soft) == ("5", "recommendation", True)
    assert not any(each.soft for each in register(corpus, "D"))


def test_every_part_cites_the_stored_text(corpus):
    for duty in register(corpus, "D", guidance=True):
        every = [part for name in (*PARTS, "sentence", "verb", "subject") for part in getattr(duty, name)]
        every += [part for each in duty.measures for part in (each.part, *each.event)]
        assert every
        for part in every:
            assert corpus[part.passage_id].text[part.start : part.end] == part.text != ""


def test_deadlines_are_normalised(corpus):
    (within,) = next(each for each in register(corpus, "D") if each.number == "4").timing
    assert (within.quantity.iso, within.part.text) == ("P5D", "within 5 days")


def test_an_unknown_document_is_refused(corpus):
    with pytest.raises(NotFound, match=r"no document 'E'; did you mean|no document 'E'; known: D"):
        register(corpus, "E")


def test_progress_is_told(sample_library):
    told = []
    corpus = sample_library.corpus()
    list(register(corpus, "AML", progress=lambda *state: told.append(state)))
    total = sum(1 for _ in corpus.passages(corpus.version("AML")))
    assert [done for done, _, _ in told] == list(range(20, total + 1, 20))
    assert {of for _, of, _ in told} == {total}


def test_subparagraphs_are_no_points():
    passages = [
        Passage("A(1)", "D", "Article 1(1)", "EBA shall specify:"),
        Passage("A(1)(a)", "D", "Article 1(1)(a)", "the method;", parent_id="A(1)"),
        Passage("A(1)2", "D", "Article 1(1), second subparagraph", "Power is delegated.", parent_id="A(1)"),
    ]
    made = [unit.text for _, several in units(passages) for unit in several]
    assert made == ["EBA shall specify:\nthe method;", "Power is delegated."]


def test_a_list_of_definitions_gives_no_duties():
    passages = [
        Passage("4", "D", "4", "For this Act, the following definitions shall apply:"),
        Passage("4(1)", "D", "4(1)", "‘firm’ means one that must act;", parent_id="4"),
    ]
    assert [several for _, several in units(passages) if several] == []


def test_who_is_counted_without_articles_and_plural(corpus_of):
    corpus = corpus_of(("a", "The Firm must act."), ("b", "Firms must act."), ("c", "Records must be kept."))
    duties = list(register(corpus, corpus.versions[0].document_id))
    assert by_who(duties) == {"Firm": 2, "": 1}


# Files


def test_a_cell_is_no_formula():
    assert [sheets.guarded(cell) for cell in ("=1+1", "+1", "-1", "@x", "\t=1", " =1", "a=1", "", "8 %")] == [
        "'=1+1", "'+1", "'-1", "'@x", "'\t=1", "' =1", "a=1", "", "8 %",
    ]  # fmt: skip


@given(st.text(max_size=20))
def test_no_cell_begins_as_a_formula(text):
    assert not re.match(r"\s*[=+\-@]", sheets.guarded(text))


def test_csv_has_a_header_and_a_row_for_each_duty(corpus_of):
    corpus = corpus_of(("=x", 'A Firm must "act", at once.'))
    document = corpus.versions[0].document_id
    head, row = csv.reader(io.StringIO(sheets.as_csv(register(corpus, document))))
    read = dict(zip(head, row, strict=True))
    assert tuple(head) == sheets.COLUMNS
    assert (read["clause"], read["who"], read["what"]) == ("'=x", "A Firm", 'act", at once'.join(['"', ""]))
    assert read["version"] == corpus.versions[0].digest


def test_the_workbook_opens_again(corpus):
    from openpyxl import load_workbook

    duties = list(register(corpus, "D"))
    book = load_workbook(io.BytesIO(sheets.as_xlsx(duties, by_who(duties).most_common())))
    sheet = book["Obligations"]
    assert [cell.value for cell in sheet[1]] == list(sheets.COLUMNS)
    assert (sheet.freeze_panes, sheet.auto_filter.ref) == ("D2", f"A1:T{len(duties) + 1}")
    assert sheet.column_dimensions["G"].width == 60
    assert sheet["G2"].value == "keep it in a separate account"
    assert sheet["G2"].alignment.wrap_text
    assert [[cell.value for cell in row] for row in book["By who"]] == [["who", "obligations"], ["Firm", 7]]


def test_the_workbook_has_dates_prints_on_pages_and_says_what_it_is_of(corpus):
    from openpyxl import load_workbook

    duties = [
        replace(each, version=replace(each.version, valid_from=date(2024, 7, 9))) for each in register(corpus, "D")
    ]
    duties[0] = replace(duties[0], passage=replace(duties[0].passage, page=12))
    book = load_workbook(io.BytesIO(sheets.as_xlsx(duties, about=[("document", "=Rules"), ("rows", "7")])))
    sheet = book["Obligations"]
    cells = dict(zip(sheets.COLUMNS, sheet[2], strict=True))
    assert (cells["valid from"].value.date(), cells["valid from"].number_format) == (date(2024, 7, 9), "yyyy-mm-dd")
    assert (cells["page"].value, cells["valid to"].value) == (12, None)
    assert not cells["version"].alignment.wrap_text
    assert (sheet.page_setup.orientation, sheet.print_title_rows) == ("landscape", "$1:$1")
    assert sheet.sheet_properties.pageSetUpPr.fitToPage
    assert [[cell.value for cell in row] for row in book["About"]] == [["document", "=Rules"], ["rows", "7"]]
    assert book["About"]["B1"].data_type == "s"


def test_a_formula_in_a_workbook_is_text(corpus_of):
    from openpyxl import load_workbook

    corpus = corpus_of(("x", "=cmd() must act. \x07A Firm must =act()."))
    duties = list(register(corpus, corpus.versions[0].document_id))
    sheet = load_workbook(io.BytesIO(sheets.as_xlsx(duties)))["Obligations"]
    assert "f" not in {cell.data_type for row in sheet for cell in row}
    assert any(str(cell.value).startswith("=") for row in sheet for cell in row)


def test_json_has_every_part(corpus):
    duties = list(register(corpus, "D"))
    made = json.loads(json.dumps(views.obligations(corpus.versions[0], duties, by_who(duties))))
    assert made["by_who"] == {"Firm": 7}
    last = made["obligations"][-1]
    assert last["what"][0] == {"passage_id": "4", "start": 12, "end": 45, "text": "either:\n(a) pay; or\n(b) return it"}
    assert last["timing"][0]["iso"] == "P5D"
    assert last["version"] == made["version"]["digest"]


# Commands


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("register")
    text = "---\nvalid_from: {}\n---\n# Rules\n\n1.1 A Firm must report to the Desk within {} days.\n"
    for name, day, days in (("old", "2020-01-01", 10), ("new", "2024-01-01", 5)):
        path = folder / f"{name}.md"
        path.write_text(text.format(day, days).replace("---\nv", "---\ndocument: R\nv", 1), encoding="utf-8")
    report = library.add(folder / "library", [folder / "old.md", folder / "new.md"], lambda _: None)
    assert not report.refused
    return folder


def test_the_command_lists_and_sums_up(folder):
    done = cli(folder / "library", "obligations", "R")
    assert done.returncode == 0, done.stderr
    assert "    who: A Firm\n    what: report to the Desk\n    when: within 5 days\n" in done.stdout
    assert done.stdout.splitlines()[-1] == "1 obligation by who: Firm 1"


def test_the_register_as_of_a_day(folder):
    done = cli(folder / "library", "obligations", "R", "--as-of", "2021-05-05", "--json")
    made = json.loads(done.stdout)
    assert made["version"]["valid_from"] == date(2020, 1, 1).isoformat()
    assert made["obligations"][0]["timing"][0]["value"] == 10
    assert done.stderr.strip() == "1 obligation by who: Firm 1"


@pytest.mark.parametrize("name", ["r.csv", "r.json", "r.xlsx"])
def test_the_suffix_says_the_form(folder, tmp_path, name):
    from openpyxl import load_workbook

    done = cli(folder / "library", "obligations", "R", "--out", tmp_path / name)
    assert done.returncode == 0, done.stderr
    content = (tmp_path / name).read_bytes()
    if name == "r.xlsx":
        about = dict(load_workbook(tmp_path / name)["About"].values)
        assert about["document"] == "Rules (R)"
        assert about["version"].endswith("in force from 2024-01-01")
    assert content.startswith({"r.csv": b"document,clause", "r.json": b"{", "r.xlsx": b"PK"}[name])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("R", "--format", "xlsx"), "name it with --out"),
        (("R", "--out", "r.doc"), "ends in none of .xlsx, .csv and .json"),
        (("Q",), "no document 'Q'"),
        (("R", "--as-of", "1999"), "is not a date"),
    ],
)
def test_what_cannot_be_done_is_said(folder, arguments, message):
    done = cli(folder / "library", "obligations", *arguments)
    assert done.returncode == 1
    assert message in done.stderr
    assert not done.stdout


# Real law


def test_every_sentence_that_binds_is_listed(sample_library):
    """No duty of the sample rulebook is lost: each sentence with "must" of its own stands in a row."""
    corpus = sample_library.corpus()
    for version in corpus.versions:
        listed = {part for duty in register(corpus, version.document_id) for part in duty.sentence}
        held = {}
        for part in listed:
            held.setdefault(part.passage_id, []).append(part)
        for passage in corpus.passages(version):
            for start, end in sentences(passage.text) if passage.kind == "text" else ():
                if re.match(r"An? [A-Z]\w+ must (?!:)", passage.text[start:end]):
                    assert any(each.start <= start < each.end for each in held.get(passage.id, [])), passage.id


def test_the_register_of_the_crr(data, tmp_path):
    path = data / "eu_law" / "articles" / "32013r0575" / "2013-06-28.json"
    if not path.is_file():
        pytest.skip(f"no file {path}")
    library.add(tmp_path / "library", [path], lambda _: None)
    with Library.open(tmp_path / "library") as opened:
        corpus = opened.corpus()
        duties = list(register(corpus, corpus.versions[0].document_id))
        counts = by_who(duties)
        own_funds = [each for each in duties if each.passage.id.startswith("CRR Art. 92(1)")]
        for duty in duties[::50]:
            for part in (*duty.who, *duty.what, *duty.when, *duty.condition, *duty.exception):
                assert corpus[part.passage_id].text[part.start : part.end] == part.text
    assert [name.lower()[:16] for name, _ in counts.most_common(4) if name][:3] == [
        "institutions",
        "eba",
        "competent author",
    ]
    assert [each.number for each in own_funds] == ["Article 92(1)(a)", "Article 92(1)(b)", "Article 92(1)(c)"]
    shares = [each.quantity for duty in own_funds for each in duty.measures if each.quantity.kind == "percentage"]
    assert [str(each.value) for each in shares] == ["4.5", "6", "8"]
    assert {sheets.words(each.who) for each in own_funds} == {"institutions"}


@pytest.mark.parametrize(
    "who",
    ["The IT department", "The Security Desk", "The treasury", "The Group Treasurer", "The Head of Compliance",
     "The second line of defence", "The department", "The Legal Division", "The CRO"],
)  # fmt: skip
def test_bodies_of_a_bank_are_somebody(who):
    assert is_actor(who.lower())


def test_a_thing_is_nobody():
    assert not any(map(is_actor, ("the record", "the line", "the register of members", "the amount")))
