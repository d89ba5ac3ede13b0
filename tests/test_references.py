from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from responsa.corpus.acts import celex
from responsa.corpus.ranges import expand, letters, numeral, ordinal, roman
from responsa.corpus.references import Here, Reference, parse

CRR, LCR = "32013R0575", "32015R0061"

# 147 references in 85 paragraphs drawn at random (seeds 575 and 61) from CRR and LCR articles and EBA questions,
# backgrounds and answers that have a word such as article, paragraph, point or directive. Labelled by reading
# before the grammar was first run; one reader. Where a text names no act the label has none, except that articles
# of an act cite themselves.
LABELS = Path(__file__).parent / "data" / "reference_labels.jsonl"

TARGETS = {
    "Article 425(1)(a)": ["#Article 425(1)(a)"],
    "Articles 412 to 415": ["#Article 412", "#Article 413", "#Article 414", "#Article 415"],
    "point (b) of the first subparagraph of Article 129(4)": ["#Article 129(4), first subparagraph, point (b)"],
    "Article 129(4), first subparagraph, point (b)": ["#Article 129(4), first subparagraph, point (b)"],
    "Rule 3.2.1": ["#Rule 3.2.1"],
    "Rules 3.2.1 to 3.2.3": ["#Rule 3.2.1", "#Rule 3.2.2", "#Rule 3.2.3"],
    "Annex IV": ["#Annex IV"],
    "Annexes I to III": ["#Annex I", "#Annex II", "#Annex III"],
    "annex 1 to Regulation (EU) No 680/2014": ["32014R0680#Annex I"],
    "Directive 2009/65/EC": ["32009L0065#"],
    "Regulation (EU) No 575/2013": [f"{CRR}#"],
    "Regulation (EU) No. 575/2013 (CRR)": [f"{CRR}#"],
    "Commission Delegated Regulation (EU) 2015/61": [f"{LCR}#"],
    "the CRR and the LCR DA": [f"{CRR}#", f"{LCR}#"],
    "Directives 2013/36/EU and 2014/59/EU": ["32013L0036#", "32014L0059#"],
    "CRD IV, BRRD, CRR2": ["32013L0036#", "32014L0059#", "32019R0876#"],
    "COBS Rule 17.4 and GEN 3.3": ["COBS#Rule 17.4", "GEN#Rule 3.3"],
    "FSMR section 30, section 30(2) of FSMR": ["FSMR#Section 30", "FSMR#Section 30(2)"],
    "Article 52(4) of Directive 2009/65/EC": ["32009L0065#Article 52(4)"],
    "Article 6 of and Annex I to Directive 2002/87/EC": ["32002L0087#Article 6", "32002L0087#Annex I"],
    "Article 5 and Article 7(2) of the BRRD": ["32014L0059#Article 5", "32014L0059#Article 7(2)"],
    "CRR Article 425": [f"{CRR}#Article 425"],
    "CRR 465 (1)": [f"{CRR}#Article 465(1)"],
    "Articles 429a to 429c": ["#Article 429a", "#Article 429b", "#Article 429c"],
    "Articles 132a to 134": ["#Article 132a", "#Article 133", "#Article 134"],
    "Article 429 bis": ["#Article 429a"],
    "Article 4(1)(39) and (40)": ["#Article 4(1)(39)", "#Article 4(1)(40)"],
    "Article 36(1)(a), (c) to (e) and 38": [
        "#Article 36(1)(a)", "#Article 36(1)(c)", "#Article 36(1)(d)", "#Article 36(1)(e)", "#Article 38"
    ],
    "points (iii) or (v) of point (g) of Article 13(2)": ["#Article 13(2)(g)(iii)", "#Article 13(2)(g)(v)"],
    "points (a)(ii) and (b) of Article 7(1)": ["#Article 7(1)(a)(ii)", "#Article 7(1)(b)"],
    "Art. 364 (2) lit. a)": ["#Article 364(2)(a)"],
    "Art. 364 1) a) i) CRR": [f"{CRR}#Article 364(1)(a)(i)"],
    "Article 4 paragraph 1 point 39": ["#Article 4(1)(39)"],
    "(see Article 416)": ["#Article 416"],
    "Article18(1)": ["#Article 18(1)"],
    "Part Three, Title II, Chapter 2": ["#Part 3, Title II, Chapter 2"],
    "Chapter 5 of Title II of Part Three": ["#Part 3, Title II, Chapter 5"],
    "point 3.1 of Annex XVII": ["#Annex XVII, point 3.1"],
    "Recital 26 of CRR2": ["32019R0876#Recital 26"],
    "second paragraph of Article 3": ["#Article 3, second paragraph"],
    "Article 325 of the CRR ... paragraphs 2 and 3 thereof": [
        f"{CRR}#Article 325", f"{CRR}#Article 325(2)", f"{CRR}#Article 325(3)"
    ],
    "Article 5, point (a) of Article 6": ["#Article 5", "#Article 6(a)"],
    "points (a), points (k)(ii) to (iii) and point (l) of Article 36(1)": [
        "#Article 36(1)(a)", "#Article 36(1)(k)(ii)", "#Article 36(1)(k)(iii)", "#Article 36(1)(l)"
    ],
    "point (a), and thereafter point (b) of Article 6": ["#point (a)", "#Article 6(b)"],
    "Article 6(3), point (a), of Directive 2009/65/EC": ["32009L0065#Article 6(3)(a)"],
    "first subparagraph of point (a) of Article 7": ["#Article 7(a), first subparagraph"],
    "paragraph 5.5.3 of the Annex relating to IFRS 9": ["other#paragraph 5(5)(3)"],
    # not one reference more
    "Article 4 and 30 days": ["#Article 4"],
    "Article 5, 10 % of EUR 20 million": ["#Article 5"],
    "200 basis points (a)": [],
    "state of the art": [],
    "the LCR is 100 %": [],
    "in part 3 000": ["#Part 3"],
    "AML rules": [],
    "": [],
}  # fmt: skip


@pytest.mark.parametrize(("text", "targets"), TARGETS.items())
def test_citations_in_words(text, targets):
    assert [reference.target for reference in parse(text)] == targets


HERE = Here(CRR, "5", path=("PART SIX — LIQUIDITY", "TITLE II — X", "CHAPTER 7 — Y"))


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("this Article", ["Article 5"]),
        ("**2.** as in point (a)", ["Article 5(2)(a)"]),
        ("2. as in points (a) and (b) of this paragraph", ["Article 5(2)(a)", "Article 5(2)(b)"]),
        ("**1.** x\n\n(3) y:\n\n(a) z\n\n(b) see point (a)", ["Article 5(1)(3)(a)"]),
        ("**1.** x\n\n(3) y\n\nAs in point (a)", ["Article 5(1)(a)"]),
        ("paragraph 1, points (a) to (c)", ["Article 5(1)(a)", "Article 5(1)(b)", "Article 5(1)(c)"]),
        ("**7.** the second subparagraph", ["Article 5(7), second subparagraph"]),
        ("this Regulation", [""]),
        ("Section 2", ["Part 6, Title II, Chapter 7, Section 2"]),
        ("Chapter 3 of this Title", ["Part 6, Title II, Chapter 3"]),
        ("this Chapter", ["Part 6, Title II, Chapter 7"]),
        ("Part Two and Article 9", ["Part 2", "Article 9"]),
    ],
)
def test_relative_references_are_resolved_where_they_stand(text, targets):
    found = parse(text, HERE)
    assert [reference.provision for reference in found] == targets
    assert {reference.act for reference in found} == {CRR}


def test_a_given_paragraph_is_where_the_text_stands():
    assert parse("point (b)", Here(CRR, "5", "3"))[0].target == f"{CRR}#Article 5(3)(b)"


def test_what_is_said_before_decides_about_that():
    found = parse("Article 16 of Regulation (EU) No 1093/2010 applies. That Article and that Regulation.")
    assert [item.target for item in found] == ["32010R1093#Article 16", "32010R1093#Article 16", "32010R1093#"]
    assert [item.relative for item in found] == [False, True, True]


def test_an_article_of_another_document_is_not_taken_for_one_of_here():
    assert parse("Article 4 of the Guidelines", Here(CRR, "5"))[0].act == "other"


def test_a_list_gives_each_item_its_own_words():
    text = "points (a) and (b) of the first subparagraph, Articles 7 to 9"
    found = parse(text)
    assert [text[item.start : item.end] for item in found] == [
        "points (a)",
        "(b) of the first subparagraph",
        *["Articles 7 to 9"] * 3,
    ]


def test_fields_of_a_reference():
    assert parse("in Article 425(1)") == (Reference(3, 17, None, "Article 425(1)", "article", False, "425"),)
    assert parse("paragraph 2")[0].kind == "paragraph"
    assert parse("Chapter 2 of Title I of the CRR")[0].kind == "chapter"


@pytest.mark.parametrize(
    ("letter", "first", "second", "expected"),
    [
        ("R", "575", "2013", CRR),
        ("R", "2015", "61", LCR),
        ("R", "2019", "2033", "32019R2033"),
        ("R", "1606", "2002", "32002R1606"),
        ("R", "3330", "91", "31991R3330"),
        ("L", "2009", "65", "32009L0065"),
        ("L", "86", "635", "31986L0635"),
    ],
)
def test_celex_numbers(letter, first, second, expected):
    assert celex(letter, first, second) == expected


@given(st.integers(1, 99))
def test_numerals_and_letters_go_both_ways(number):
    assert numeral(roman(number)) == numeral(roman(number).lower()) == number
    assert ordinal(letters(number)) == number


@given(st.integers(1, 500), st.integers(1, 40))
def test_ranges_hold_every_number(low, length):
    found = parse(f"Articles {low} to {low + length} of the CRR")
    assert [item.article for item in found] == [str(number) for number in range(low, low + length + 1)]


def test_a_range_that_falls_or_is_too_long_is_none():
    assert expand(("9",), ("3",)) is None
    assert expand(("1",), ("900",)) is None
    assert [item.provision for item in parse("Articles 1 to 900")] == ["Article 1", "Article 900"]


PIECES = st.sampled_from(
    ["Article ", "Articles ", "1", "429a", "(1)", "(a)", "(iv)", " to ", " and ", ", ", "point ", "paragraph ", " of ",
     "the first subparagraph", "this ", "that ", "Regulation", " (EU) No 575/2013", "CRR ", "Annex ", "IV", "Part Three",
     "COBS ", "17.4", "thereof", "\n", "**2.** ", "(", ")", "Section 2"]
)  # fmt: skip


@given(st.text() | st.lists(PIECES, max_size=40).map("".join), st.sampled_from([None, HERE]))
@example("Article 1(1)(a)(a)(a)(a)(a)(a)(a)(a)", None)
def test_any_text_can_be_parsed(text, here):
    found = parse(text, here)
    assert all(0 <= item.start < item.end <= len(text) for item in found)
    assert parse(text, here) == found
    assert all(bool(item.provision) == (item.kind != "act") for item in found)


@pytest.mark.parametrize(
    "unit",
    [
        "Article 1 and ",
        "Articles 1 to 500, ",
        "point (a) of ",
        "first, second and ",
        "(a)",
        "(",
        "CRR(",
        "1.",
        "this ",
        "points (a) to (z) of paragraphs 1 to 99 of Articles 1 to 500. ",
        "\n1. ",
        "Commission ",
        "Regulation (EU) ",
    ],
)
def test_hostile_text_is_parsed_in_bounded_time(unit):
    text = (unit * 40_000)[:40_000]
    began = time.perf_counter()
    parse(text, HERE)
    assert time.perf_counter() - began < 3


def labelled(data: Path) -> list[tuple[Mapping[str, Any], tuple[Reference, ...]]]:
    """Each labelled paragraph with the references that the grammar finds in it, read in its whole text."""
    files: dict[str, dict[str, Mapping[str, Any]]] = {}
    found = []
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        source, act = row["source"], row["source"].split("/")[2].upper() if "eu_law" in row["source"] else None
        if source not in files:
            content = (data / source).read_text(encoding="utf-8")
            rows = json.loads(content)["provisions"] if act else [json.loads(one) for one in content.splitlines()]
            files[source] = {one["anchor" if act else "qa_id"]: one for one in rows}
        record = files[source][row["id"]]
        text = record[row["field"]]
        assert hashlib.sha256(text[row["start"] : row["end"]].encode()).hexdigest()[:16] == row["sha256"]
        article = re.fullmatch(r"art_(\w+)", row["id"])
        here = Here(act, article[1] if article else None, path=tuple(record["path"])) if act else None
        inside = (item for item in parse(text, here) if item.start < row["end"] and item.end > row["start"])
        found.append((row, tuple(inside)))
    return found


# At the first run on the labels, before anything was changed: P .973, R .973. Two faults were then mended; measured
# now: .986 and .980 (CRR .979/.979, LCR 1.000/1.000, EBA .981/.962).
def test_labelled_references(data):
    right = found = wanted = 0
    for row, references in labelled(data):
        open_labels = list(row["references"])
        found, wanted = found + len(references), wanted + len(open_labels)
        for item in references:
            for label in open_labels:
                if label["target"] == item.target and label["start"] < item.end and item.start < label["end"]:
                    open_labels.remove(label)
                    right += 1
                    break
    assert wanted == 147
    assert right / found >= 0.97
    assert right / wanted >= 0.96


def test_labels_hold_no_text():
    rows = [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]
    keys = {"source", "id", "field", "start", "end", "sha256", "references"}
    assert all(set(row) == keys for row in rows)
    assert all(set(label) == {"start", "end", "target"} for row in rows for label in row["references"])
