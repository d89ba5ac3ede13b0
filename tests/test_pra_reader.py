"""Pages of the PRA Rulebook as passages."""

from __future__ import annotations

import re
from datetime import date

import pytest
from benchmarks import pra as benchmark

from responsa.corpus import readers
from responsa.errors import ReadError

ADDRESS = "https://www.prarulebook.co.uk/pra-rules/small-vehicles/21-01-2026"
INFO = """<div class="row-block__info"><ul class="list-links"><li class="list-links__item">{since}</li>
<li class="list-links__item list-future"><a href="{address}">Future<span>version after {until}</span></a></li></ul></div>"""
RULE = """<div id="{id}" class="row-block"><div class="div-row"><div class="div-row__col-1"><p><span class="rule-number">
{number} </span></p></div><div class="div-row__col-2 ">{body}</div></div>{info}</div>"""


def rule(number, body, since="", until="", anchor=""):
    info = INFO.format(since=since, until=until, address=ADDRESS) if since else ""
    return RULE.format(number=number, body=body, info=info, id=anchor)


def page(*rules, title="Small Vehicles", address=ADDRESS, timeline=""):
    return f"""<!DOCTYPE html><html><head><link rel="canonical" href="{address}"></head><body><nav>Home</nav>
<h1>{title}</h1><div class="time-travel-carousel">{timeline}</div>
<div class="part-content"><div class="page-utilities"><p>Export this part as a file</p></div><div class="chapter-section">
<span class="rule-number chapter-number">1</span><h3 class="chapter-heading"> Money </h3>{"".join(rules)}</div></div>
<footer>Contact us</footer></body></html>"""


def read(*rules, **settings):
    (edition,) = readers.read_bytes(page(*rules, **settings).encode(), "anything.html")
    return edition


def rows(edition):
    return [(each.id, each.text) for each in edition.passages]


LISTED = (
    "<p>A <em><a href='#g'>vehicle</a></em> must:</p><ol><li>(1) hold money:<ol><li>(a) by day; or</li><li>(b)&nbsp;by night;"
    "</li></ol></li><li>(2) say so.</li></ol><p>unless it is empty.</p>"
)


def test_rules_are_cited_as_lawyers_do():
    edition = read(rule("1.1", LISTED), rule("1.1A", "<ol><li>(1) One.</li></ol>"))
    assert (edition.document_id, edition.title) == ("PRA-Small-Vehicles", "Small Vehicles")
    assert rows(edition) == [
        ("PRA Small Vehicles Chapter 1", ""),
        ("PRA Small Vehicles 1.1", "A vehicle must:"),
        ("PRA Small Vehicles 1.1(1)", "hold money:"),
        ("PRA Small Vehicles 1.1(1)(a)", "by day; or"),
        ("PRA Small Vehicles 1.1(1)(b)", "by night;"),
        ("PRA Small Vehicles 1.1(2)", "say so."),
        ("PRA Small Vehicles 1.1, closing words", "unless it is empty."),
        ("PRA Small Vehicles 1.1A", ""),
        ("PRA Small Vehicles 1.1A(1)", "One."),
    ]
    by_number = {each.number: each for each in edition.passages}
    assert by_number["1.1(1)(a)"].parent_id == "PRA Small Vehicles 1.1(1)"
    assert by_number["1.1"].parent_id == "PRA Small Vehicles Chapter 1"
    assert by_number["1.1(2)"].path == ("Small Vehicles", "1 Money")
    assert (by_number["Chapter 1"].title, by_number["Chapter 1"].kind) == ("Money", "heading")


def test_definitions_are_passages_of_their_own():
    body = "<p>In this Part:</p><p><a href='#g'>cash</a></p><p>means coins and:</p><ol><li>(1) notes;</li><li>(2) gold.</li></ol><p>night</p><p>has the meaning given in 1.1.</p>"
    edition = read(rule("1.2", body))
    assert rows(edition)[1:] == [
        ("PRA Small Vehicles 1.2", "In this Part:"),
        ("PRA Small Vehicles 1.2, cash", "cash\n\nmeans coins and:"),
        ("PRA Small Vehicles 1.2, cash(1)", "notes;"),
        ("PRA Small Vehicles 1.2, cash(2)", "gold."),
        ("PRA Small Vehicles 1.2, night", "night\n\nhas the meaning given in 1.1."),
    ]
    assert [each.parent_id for each in edition.passages if ", " in each.number and "(" not in each.number] == [
        "PRA Small Vehicles 1.2"
    ] * 2
    assert [each.title for each in edition.passages[2:4]] == ["cash", ""]


def test_a_comment_after_a_term_is_passed_over():
    body = "<p>In this Part:</p><p>cash</p><!-- 1 --><p>means coins.</p><p>Thus it is.</p><!-- 2 -->"
    assert [name for name, _ in rows(read(rule("1.2", body)))][-1] == "PRA Small Vehicles 1.2, cash"


def test_dates_of_the_page_and_of_rules():
    timeline = "".join(
        f'<div class="listing__item {kind}"><a href="/pra-rules/small-vehicles/{day}">x</a></div>'
        for kind, day in (
            ("is-past", "01-01-2014"),
            ("is-past is-active", "17-09-2021"),
            ("is-future", "01-01-2027"),
            ("is-future", "01-07-2027"),
        )
    )
    edition = read(rule("1.1", "<p>A rule.</p>", "17/09/2021", "01/01/2027"), timeline=timeline)
    assert (edition.valid_from, edition.valid_to) == (date(2021, 9, 17), date(2026, 12, 31))
    assert edition.passages[1].flags == ("from:2021-09-17", "until:2026-12-31")


def test_without_a_line_of_dates_the_latest_rule_gives_the_date():
    edition = read(rule("1.1", "<p>A rule.</p>", "17/09/2021"), rule("1.2", "<p>A rule.</p>", "31/12/2020"))
    assert (edition.valid_from, edition.valid_to) == (date(2021, 9, 17), None)


def test_links_to_rules():
    linked = f'<p>Subject to <a href="{ADDRESS}#two">1.2</a>, <a href="/pra-rules/fees#x">Fees</a> and <a href="#glossary">x</a>.</p>'
    edition = read(rule("1.1", linked, anchor="one"), rule("1.2", "<p>A rule.</p>", anchor="two"))
    assert edition.passages[1].flags == ("cites:PRA Small Vehicles 1.2", "cites:/pra-rules/fees")


def test_statements_are_guidance_and_footnotes_stand_below():
    noted = (
        '<p>The PRA expects<sup><a href="#footnote-1">1</a></sup> care.</p><div class="rb-footnotes"><ul><li id="footnote-1">'
        "<span>1.</span><span>A note.</span></li></ul></div>"
    )
    edition = read(
        rule("2.3", noted),
        rule("2.4", "[Deleted]"),
        title="SS7/15 – Firms in difficulty",
        address="https://www.prarulebook.co.uk/guidance/supervisory-statements/ss07-15/21-01-2026",
    )
    assert edition.document_id == "SS7/15"
    assert [(each.id, each.text, each.flags) for each in edition.passages[1:]] == [
        ("SS7/15 2.3", "The PRA expects care.", ("guidance",)),
        ("SS7/15 2.3, footnote 1", "A note.", ("guidance", "footnote")),
        ("SS7/15 2.4", "[Deleted]", ("guidance", "deleted")),
    ]


def test_tables_and_numbers_that_come_again():
    table = "<p>The amounts:</p><table><tr><th>Class<th>GBP<tr><td>A<td>1</table>"
    edition = read(rule("1.1", table), rule("1.1", "<p>Again.</p>"), rule("", "<p>Without a number.</p>"))
    assert rows(edition)[1:] == [
        ("PRA Small Vehicles 1.1", "The amounts:"),
        ("PRA Small Vehicles 1.1, table 1", "| Class | GBP |\n| --- | --- |\n| A | 1 |"),
        ("PRA Small Vehicles 1.1#2", "Again."),
        ("PRA Small Vehicles Chapter 1, paragraph 1", "Without a number."),
    ]
    assert edition.passages[2].kind == "table"


def test_ids_do_not_change_with_the_rules_around_them():
    first = read(rule("1.1", LISTED), rule("1.3", "<p>A rule.</p>"))
    second = read(rule("1.1", LISTED), rule("1.2", "<p>New.</p>"), rule("1.3", "<p>A rule.</p>"))
    assert {each.id for each in first.passages} < {each.id for each in second.passages}


@pytest.mark.parametrize(
    ("rules", "settings", "said"),
    [((), {}, "publishes this text as a PDF"), ((rule("1.1", "<p>x</p>"),), {"title": ""}, "without a title")],
)
def test_pages_without_rules_are_refused(rules, settings, said):
    with pytest.raises(ReadError, match=said):
        read(*rules, **settings)


def letters(text):
    return re.sub(r"\W+", "", text)


def printed(edition):
    """The letters of a page with the numbers of items, as they stand on it."""
    by_id = {each.id: each for each in edition.passages}
    pieces = []
    for each in edition.passages:
        above = by_id.get(each.parent_id)
        if "footnote" not in each.flags:
            label = each.number.removeprefix(above.number) if above else ""
            pieces += [label if label.startswith("(") else "", each.text]
    return letters(" ".join(pieces))


def test_real_pages_keep_every_rule_in_order(data):
    """Against the benchmark's own reading of the pages, which was made without lxml and knows no items."""
    rules = benchmark.rules(data / "pra_pages")
    found = refused = 0
    for path in sorted((data / "pra_pages").glob("*.html")):
        wanted = [each for each in rules if each.document == benchmark.key(path)]
        if not wanted:
            with pytest.raises(ReadError, match="as a PDF"):
                readers.read(path)
            refused += 1
            continue
        (edition,) = readers.read(path)
        assert edition.title == wanted[0].page
        assert {each.number for each in wanted} <= {each.number for each in edition.passages}
        whole, at = printed(edition), 0
        for each in wanted:
            at = whole.find(letters(each.text), at)
            assert at >= 0, each.id
            found += 1
    assert (found, refused) == (125, 2)


def test_the_reader_of_other_pages_finds_the_same_numbers(data):
    """The pages read as those of an unknown publisher: the grammar finds the rules by their numbers alone."""
    rules = benchmark.rules(data / "pra_pages")
    wanted = found = 0
    for path in (data / "pra_pages").glob("*.html"):
        numbers = {each.number for each in rules if each.document == benchmark.key(path)}
        content = path.read_bytes().replace(b'rel="canonical"', b'rel="other"')
        (edition,) = readers.read_bytes(content, "page.html")
        wanted += len(numbers)
        found += len(numbers & {each.number for each in edition.passages})
    assert (wanted, found) == (103, 103)


def test_real_pages_have_dates_and_unique_numbers(data):
    editions = {}
    for path in (data / "pra_pages").glob("*.html"):
        try:
            (edition,) = readers.read(path)
        except ReadError:
            continue
        editions[edition.document_id] = edition
    assert set(editions) == {
        "PRA-Credit-Risk", "PRA-Insurance-Special-Purpose-Vehicles", "PRA-Related-Party-Transaction-Risk",
        "PRA-Non-Performing-Exposures-Securitisation-(CRR)", "SS7/15", "SS20/16",
    }  # fmt: skip
    assert (editions["PRA-Credit-Risk"].valid_from, editions["PRA-Credit-Risk"].valid_to) == (
        date(2021, 9, 17),
        date(2026, 12, 31),
    )
    assert all(edition.valid_from for edition in editions.values())
    assert not [each.id for edition in editions.values() for each in edition.passages if "#" in each.id]
    numbers = {each.number for each in editions["PRA-Insurance-Special-Purpose-Vehicles"].passages}
    assert {"2.1", "2.1(2)(b)(i)", "2.1A(1)", "2.1A, closing words", "1.2, contractual arrangement(2)(a)"} <= numbers
