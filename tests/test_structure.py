from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helpers import bounded
from responsa.corpus import numbering, readers
from responsa.corpus.numbering import components
from responsa.corpus.structure import parse_rulebook, with_tree
from responsa.types import Passage

GOLDEN = Path(__file__).parent / "golden"


def numbers(text: str) -> list[str]:
    return [passage.number for passage in parse_rulebook(text, "D")]


@pytest.mark.parametrize("name", ["harbour.md", "plain.txt"])
def test_golden_documents(name):
    source = GOLDEN / name
    expected = json.loads(source.with_suffix(".json").read_text(encoding="utf-8"))
    passages = parse_rulebook(source.read_text(encoding="utf-8"), "D")
    assert [passage.number for passage in passages] == [row["number"] for row in expected]
    for passage, row in zip(passages, expected, strict=True):
        found = {key: getattr(passage, key) for key in ("number", "kind", "title", "text")}
        found |= {"parent": passage.parent_id, "path": list(passage.path), "flags": list(passage.flags)}
        assert found == row


@pytest.mark.parametrize(
    ("line", "number", "text"),
    [
        ("3.2.1 A Firm must act.", "3.2.1", "A Firm must act."),
        ("3.2.1. A Firm must act.", "3.2.1", "A Firm must act."),
        ("3.2.1\tA Firm must act.", "3.2.1", "A Firm must act."),
        ("Rule 3.2.1 A Firm must act.", "3.2.1", "A Firm must act."),
        ("**3.2.1** A Firm must act.", "3.2.1", "A Firm must act."),
        ("**Rule 3.2.1** A Firm must act.", "3.2.1", "A Firm must act."),
        ("3.2.1\nA Firm must act.", "3.2.1", "A Firm must act."),
        ("3.2.1\n\nA Firm must act.", "3.2.1", "A Firm must act."),
        ("\u200e3.2.1 A Firm \u200emust act.  ", "3.2.1", "A Firm \u200emust act."),
        ("3.2.1A A Firm must act.", "3.2.1A", "A Firm must act."),
        ("### 3.2.1 A Firm must act.", "3.2.1", "A Firm must act."),
    ],
)
def test_ways_to_write_a_rule(line, number, text):
    (passage,) = parse_rulebook(line, "D")
    assert (passage.id, passage.number, passage.text) == (f"D/{number}", number, text)


def test_title_in_bold_with_the_number():
    (passage,) = parse_rulebook("**3.2.1 Records** A Firm must keep records.", "D")
    assert (passage.number, passage.title, passage.text) == ("3.2.1", "Records", "A Firm must keep records.")


@pytest.mark.parametrize(
    "text",
    [
        "1.1.1 A Firm must reply within\n10 Business Days of the letter.",
        "1.1.1 A Firm may charge at most\n2.5 per cent of the sum.",
        "1.1.1 A Firm may charge the rate of\n2.5 Percent of the sum.",
        "1.1.1 This is subject to Rule\n1.1.2 which comes next.",
        "1.1.1 This is subject to Rule\n1.1.2.",
        "1.1.1 This is subject to the exceptions in\nRule 1.1.2 and in others.",
        "1.1.1 A Firm follows the law, as set out in\nPart 2 Duties of the Act.",
        "1.1.1 The thresholds are those of\nSchedule 1",
        "1.1.1 It was made on\n01.02.2024 The Office said so.",
        "1.1.1 It was made in\n2024 The Office said so.",
        "1.1.1 It is (in this case\n(re)insurance or (s)he who counts.",
        "1.1.1 A person\n(or) a firm.",
        "1.1.1 As set out in paragraph\n(a) A Firm acts.",
        "1.1.1 Nothing is lost here.\n(b) and (c) apply.",
        "1.1.1 Good\nGuidance on the matter is given by the Office.",
        "1.1.1 See\n#5 in the list and\n####### too many.",
        "1.1.1 A **word** here.\n**Part of a sentence goes\non** here.",
    ],
)
def test_running_text_starts_no_clause(text):
    assert numbers(text) == ["1.1.1"]


def test_wrapped_reference_to_the_next_item_stays_text():
    text = "1.1.1 A Firm must:\n(a) act as in paragraph\n(b) above, and\n(b) reply."
    assert numbers(text) == ["1.1.1", "1.1.1(a)", "1.1.1(b)"]


def test_clauses_that_end_without_punctuation():
    assert numbers("1.1.1 As in Rule 3.2.1\n1.1.2 A next one.") == ["1.1.1", "1.1.2"]
    assert items("(a) say whom it relates to\n(b) stop.") == ["(a)", "(b)"]


def test_item_after_a_reference_at_the_end_of_a_sentence():
    assert numbers("1.1.1\n(1) See Rule 2.2.1(2).\n(2) More.") == ["1.1.1", "1.1.1(1)", "1.1.1(2)"]


def items(text: str) -> list[str]:
    return [number.removeprefix("1.1.1") for number in numbers("1.1.1 A Firm must:\n" + text)[1:]]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("a b i ii c", "(a) (b) (b)(i) (b)(ii) (c)"),
        ("1 a i ii b 2 a", "(1) (1)(a) (1)(a)(i) (1)(a)(ii) (1)(b) (2) (2)(a)"),
        ("a i A B ii b", "(a) (a)(i) (a)(i)(A) (a)(i)(B) (a)(ii) (b)"),
        ("a b c d e f g h i j", "(a) (b) (c) (d) (e) (f) (g) (h) (i) (j)"),
        ("a b c d e f g h i ii i j", "(a) (b) (c) (d) (e) (f) (g) (h) (h)(i) (h)(ii) (i) (j)"),
        ("i ii iii iv v vi", "(i) (ii) (iii) (iv) (v) (vi)"),
        ("1 2 2A 3", "(1) (2) (2A) (3)"),
        ("a b ba c", "(a) (b) (ba) (c)"),
        ("a b d e", "(a) (b) (d) (e)"),  # (c) was deleted
        ("x y z aa bb", "(x) (y) (z) (aa) (bb)"),
        ("1 a 1", "(1) (1)(a) (1)"),  # begins again: kept, and told apart in the id
    ],
)
def test_nested_lists_without_indentation(labels, expected):
    first = labels.split()[0]
    text = "".join(f"({label}) text;\n" for label in labels.split())
    if first == "x":
        text = "".join(f"({letter}) text;\n" for letter in "abcdefghijklmnopqrstuvw") + text
        assert items(text)[-5:] == expected.split()
    else:
        assert items(text) == expected.split()


def test_letter_or_numeral_is_told_by_the_colon_when_nothing_follows():
    lead = "".join(f"({letter}) text;\n" for letter in "abcdefg")
    assert items(lead + "(h) these:\n(i) one.")[-1] == "(h)(i)"
    assert items(lead + "(h) this;\n(i) one.")[-1] == "(i)"


def test_repeated_numbers_differ_in_the_id_alone():
    passages = parse_rulebook("1.1.1 One.\n\n1.1.2 Two.\n\n1.1.1 Again.", "D")
    assert [passage.id for passage in passages] == ["D/1.1.1", "D/1.1.2", "D/1.1.1#2"]
    assert passages[2].number == "1.1.1"


def test_number_written_out_with_its_brackets():
    text = "3.2.1(1) One.\n3.2.1(2) Two:\n3.2.1(2)(a) Three.\n3.2.2(1) Four."
    expected = ["3.2.1", "3.2.1(1)", "3.2.1(2)", "3.2.1(2)(a)", "3.2.2", "3.2.2(1)"]
    assert numbers(text) == expected


def test_sections_that_run_on_through_parts():
    text = "Part 1 General\n\n1. First\n(1) A text.\n(2) A text.\n\nPart 2 More\n\n2. Second.\n\nSchedule 1\n\n1. Para."
    passages = {passage.number: passage for passage in parse_rulebook(text, "D")}
    assert list(passages) == ["Part 1", "1", "1(1)", "1(2)", "Part 2", "2", "Schedule 1", "Schedule 1.1"]
    assert passages["2"].parent_id == "D/Part_2"


def test_articles_with_titles_below():
    text = (
        "PART I\nINTRODUCTION\n\nArticle 1\nScope\n1. This applies.\n2. Not in\nArticle 3 cases.\n\nArticle 2\n\nTerms"
    )
    passages = parse_rulebook(text, "D")
    assert [(p.number, p.title) for p in passages if p.kind == "heading"] == [
        ("PART I", "INTRODUCTION"),
        ("Article 1", "Scope"),
        ("Article 2", "Terms"),
    ]
    assert "Article 1.2" in [p.number for p in passages]


def test_unnumbered_markdown_gives_a_passage_for_each_paragraph():
    text = "# Policy\n\nFirst one.\n\n## Aim\nSecond one.\n\nThird one.\n\n### Details\nFourth one."
    passages = parse_rulebook(text, "D")
    assert [p.number for p in passages] == ["Title", "p1", "h1", "h1.p1", "h1.p2", "h1.h1", "h1.h1.p1"]
    assert passages[-1].path == ("Aim", "Details")


def test_schedule_parts_and_paragraphs():
    text = "Schedule 2 Forms\n\nPart 1 Old forms\n\n1 A form.\n\nPart 2 New forms\n\n1 A form."
    assert numbers(text) == [
        "Schedule 2", "Schedule 2.Part 1", "Schedule 2.Part 1.1", "Schedule 2.Part 2", "Schedule 2.Part 2.1",
    ]  # fmt: skip


@pytest.mark.parametrize("tags", [("/Table Start", "/Table End"), ("\\Table Start", "\\Table End")])
def test_nothing_starts_within_a_table(tags):
    text = f"1.1.1 See:\n{tags[0]}\n1.1.2 A row.\n# Row\n(a) row\n{tags[1]}\n1.1.2 Next."
    assert numbers(text) == ["1.1.1", "1.1.2"]


def test_table_under_a_heading_is_a_passage():
    passage = parse_rulebook("## Schedule 1 Limits\n\n/Table Start\nA\tB\n/Table End", "D")[1]
    assert (passage.number, passage.kind, passage.parent_id) == ("Schedule 1.p1", "table", "D/Schedule_1")


@pytest.mark.parametrize("after", ["1.1.2 Next.", "## Part 2 Next", "\nPart 2 Next", "/Table Start\nx\n/Table End"])
def test_unclosed_table_ends_at_the_next_clause_and_is_flagged(after):
    passages = parse_rulebook(f"1.1.1 See:\n/Table Start\n1.1.5\t7\n{after}", "D")
    assert passages[0].flags == ("unclosed-table",)
    assert len(passages) == (1 if after.startswith("/") else 2)


def test_unclosed_figure_at_the_end():
    assert parse_rulebook("1.1.1 See:\n/Figure Start\nx", "D")[0].flags == ("unclosed-figure",)


def test_blank_lines_within_a_passage_are_kept():
    (passage,) = parse_rulebook("1.1.1 One.\n\n\nTwo.\n", "D")
    assert passage.text == "One.\n\n\nTwo."


def test_empty_text_has_no_passages():
    assert parse_rulebook("\n \n", "D") == ()


# Laws

_KNOWN = """1.1.1 A Firm must:|1.1.2|2.1 Scope|2.2.1(1) Text.|Rule 1.1.3 A Firm must act.|3 Duties|1. One.|2. Two|3) Three
(a) alpha;|(b) beta; and|(h) eta:|(i) iota|(ii) two i|(j) jot.|(1) One.|(2) (a) Nested.|    (i) indented|(A) Big
Guidance|Guidance on things|## Part 1 General|### Chapter 1.1 Scope|# Whole|#### 1.1.4 Title|Part 2 Other|APP1
A1.1 In the appendix|Annex B Forms|Article 5|Section 3 Things|/Table Start|/Table End|\\Figure Start|\\Figure End|a | b
plain text that goes on|Ends here.|under Rule|**1.1.5** Bold.|**Bold** text|10 Business Days|2.5 per cent|unless so:
Short title|\u200e1.1.6 Marked|(re)insurance|#|##|**|(|1.|---|1.1.1.1.1.1.1.1.1|Schedule|Schedule 1|(zz) odd""".replace(
    "\n", "|"
).split("|")
_TEXTS = st.lists(st.sampled_from(_KNOWN) | st.just("") | st.text(max_size=12), max_size=60).map("\n".join)


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.replace("Rules ", "").replace("Rule ", ""))


def is_within(part: list[str], whole: list[str]) -> bool:
    remaining = iter(whole)
    return all(word in remaining for word in part)


def loses_nothing(text: str) -> bool:
    joined = "\n".join(f"{p.number} {p.title}\n{p.text}" for p in parse_rulebook(text, "D"))
    return is_within(words(text), words(joined))


@settings(max_examples=300, deadline=None)
@given(_TEXTS)
@example("# \n##\n# #")
def test_nothing_is_lost_and_the_order_is_kept(text):
    assert loses_nothing(text)


def test_nothing_is_lost_from_lines_in_random_order():
    """The same law for many more lines: hypothesis may leave some of them out of a run."""
    mixed = random.Random(7)
    for _ in range(300):
        text = "\n".join(mixed.choices([*_KNOWN, "", "", "", "", ""], k=60))
        assert loses_nothing(text), text


@settings(max_examples=300, deadline=None)
@given(_TEXTS)
def test_the_tree_is_sound(text):
    passages = parse_rulebook(text, "D")
    places = {passage.id: at for at, passage in enumerate(passages)}
    assert len(places) == len(passages)
    for at, passage in enumerate(passages):
        assert passage.number
        assert not re.search(r"\s", passage.id)
        assert (passage.kind == "heading") == (not passage.text)
        assert not passage.title or "\n" not in passage.title
        if passage.parent_id is not None:
            assert places[passage.parent_id] < at


@given(st.lists(st.from_regex(r"[a-z]{1,8}( [a-z]{1,8}){0,5}", fullmatch=True), min_size=1, max_size=8))
def test_running_text_is_one_passage_as_read(lines):
    text = "\n".join(lines)
    (passage,) = parse_rulebook(text, "D")
    assert passage.text == text


@pytest.mark.parametrize(
    "line",
    ["(" * 200_000, "1." * 100_000, "# " + " #" * 100_000 + " x", "Rule" + "\t" * 200_000 + "x", "(1)" * 60_000,
     "Part" + " " * 200_000 + "z", "3.1.1 " + "(a) " * 50_000, "**" * 100_000, "A" * 200_000, " " * 200_000 + "1.1"],
)  # fmt: skip
def test_long_lines_take_linear_time(line):
    with bounded():
        parse_rulebook(f"{line}\n{line}", "D")


@pytest.mark.parametrize(
    "line", ["(a) x", "(a) x:\n\nt:", "(h) x:\n(i) y", "1. x", "1.1.1 x", "# h", "/Table Start", "x\n"]
)
def test_many_lines_take_linear_time(line):
    with bounded():
        parse_rulebook(f"{line}\n" * 60_000, "D")


# Trees from numbers alone


def tree(*printed: str, text: str = "Some text.") -> list[str | None]:
    passages = [Passage(f"id{at}", "D", number, text) for at, number in enumerate(printed)]
    by_id = {passage.id: passage.number for passage in passages}
    return [by_id.get(passage.parent_id or "") for passage in with_tree(passages)]


def test_parents_from_printed_numbers():
    assert tree("1.", "1.2", "1.2.1", "1.2.1.Guidance", "1.2.1.Guidance.2.") == [
        None, "1.", "1.2", "1.2.1", "1.2.1.Guidance",
    ]  # fmt: skip
    assert tree("3.2.1", "3.2.1.(1)", "3.2.1.(1)(a)") == [None, "3.2.1", "3.2.1.(1)"]
    assert tree("Part 12", "Part 12.Chapter 1", "Part 12.Chapter 1.134.", "Part 12.Chapter 1.134.(2)") == [
        None, "Part 12", "Part 12.Chapter 1", "Part 12.Chapter 1.134.",
    ]  # fmt: skip
    assert tree("APP 6", "APP6.A6", "1", "\u200e1.1", "38)", "1.2.1.1") == [None, "APP 6", None, "1", None, "1"]


def test_parent_is_the_nearest_earlier_one_of_the_same_document():
    passages = [Passage("a", "D", "1", "x"), Passage("b", "E", "1", "x"), Passage("c", "D", "1", "x")]
    passages += [Passage("d", "D", "1.1", "x"), Passage("e", "E", "1.1", "x"), Passage("f", "F", "1.1", "x")]
    assert [passage.parent_id for passage in with_tree(passages)] == [None, None, None, "c", "b", None]


def test_paths_and_kinds():
    given_texts = [("1.", "DUTIES \n"), ("1.1", "A Firm must act"), ("1.1.Guidance", " "), ("1.1.Guidance.1", "Do.")]
    passages = with_tree([Passage(number, "D", number, text) for number, text in given_texts])
    assert [passage.path for passage in passages] == [(), ("DUTIES",), ("DUTIES",), ("DUTIES",)]
    assert [passage.kind for passage in passages] == ["text", "text", "heading", "guidance"]
    assert [passage.text for passage in passages] == [text for _, text in given_texts]


@given(st.lists(st.text("1.()a GP\u200e:", max_size=12), max_size=30))
def test_a_parent_begins_the_number_and_comes_earlier(printed):
    passages = with_tree([Passage(str(at), "D", number, "x") for at, number in enumerate(printed)])
    for at, passage in enumerate(passages):
        if passage.parent_id is not None:
            parent = passages[int(passage.parent_id)]
            own, above = components(passage.number), components(parent.number)
            assert int(passage.parent_id) < at
            assert len(above) < len(own)
            assert own[: len(above)] == above


def test_many_and_long_numbers_take_linear_time():
    passages = [Passage(str(at), "D", f"{at // 100}.{at % 100}.1", "x") for at in range(50_000)]
    passages.append(Passage("long", "D", "1." * 50_000, "x"))
    with bounded():
        with_tree(passages)


@pytest.mark.parametrize(
    ("last", "new", "expected"),
    [
        ("3.2.1", "3.2.2", True), ("3.2.1", "3.3", True), ("3.2.1", "3.3.1", True), ("3.2.1", "4", True),
        ("3.2.1", "4.1.1", True), ("3.2.1", "3.2.1.1", True), ("3.2.1", "3.2.1A", True), ("3.2.1A", "3.2.2", True),
        ("3.2.1", "3.2.3", False), ("3.2.1", "3.2", False), ("3.2.1", "4.2", False), ("3.2.1", "2.5", False),
    ],
)  # fmt: skip
def test_which_number_succeeds_which(last, new, expected):
    assert numbering.succeeds(numbering._parts(last), numbering._parts(new)) is expected


def test_the_given_rulebooks(data):
    """ObliQA's 40 documents: counts as published with them; 9 in 10 passages stand below another."""
    folder = data / "obliqa" / "documents"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    editions = [edition for path in sorted(folder.glob("*.json")) for edition in readers.read(path)]
    passages = [passage for edition in editions for passage in edition.passages]
    assert len(editions) == 40
    assert len(passages) == 13_732
    assert sum(not passage.text.strip() for passage in passages) == 720
    assert sum(passage.kind == "heading" for passage in passages) == 720
    assert len({passage.id for passage in passages}) == 13_732
    assert sum(passage.parent_id is not None for passage in passages) > 12_000
    places = {passage.id: at for at, passage in enumerate(passages)}
    for at, passage in enumerate(passages):
        assert passage.parent_id is None or places[passage.parent_id] < at
        assert len(passage.path) < 8
