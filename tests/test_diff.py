"""Versions compared clause by clause: on passages made by hand, on a library, and on the law itself."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from helpers import add, write_rulebook
from responsa.corpus.diff import Difference, comparable_openings, compare, diff, head
from responsa.corpus.library import Library
from responsa.render.differences import page
from responsa.types import Passage, Version


def clause(number, text, **more):
    return Passage(f"X {number}", "X", number, text, **more)


def changes(before, after, **options):
    found, unchanged = compare(before, after, **options)
    names = [(each.what, each.old and each.old.number, each.new and each.new.number) for each in found]
    return names, unchanged


OLD = [
    clause("Article 1", "Bread shall be baked daily."),
    clause("Article 2", "Salt is kept dry in winter."),
    clause("Article 3", "Cakes may be sold."),
    clause("Article 4", "No."),
]


def test_nothing_changed():
    assert changes(OLD, OLD) == ([], 4)
    assert changes([], []) == ([], 0)


def test_added_deleted_moved_and_amended_worked_by_hand():
    new = [
        clause("Article 1", "Bread shall be baked weekly."),
        clause("Article 2", "A wholly new article on flour."),
        clause("Article 2a", "Salt is kept dry in winter."),
        clause("Article 4", "No."),
    ]
    assert changes(OLD, new) == (
        [
            ("amended", "Article 1", "Article 1"),
            ("added", None, "Article 2"),
            ("moved", "Article 2", "Article 2a"),
            ("deleted", "Article 3", None),
        ],
        1,
    )
    (amended, *_), _ = compare(OLD, new)
    assert [(piece.op, piece.text.strip()) for piece in amended.pieces] == [
        ("same", "Bread shall be baked"), ("deleted", "daily"), ("added", "weekly"), ("same", "."),
    ]  # fmt: skip


def test_the_first_and_the_last_can_be_deleted():
    assert changes(OLD, OLD[1:3]) == ([("deleted", "Article 1", None), ("deleted", "Article 4", None)], 2)


def test_a_few_words_under_another_number_are_not_moved():
    assert changes([OLD[3]], [clause("Article 5", "No.")]) == (
        [("deleted", "Article 4", None), ("added", None, "Article 5")], 0
    )  # fmt: skip


def test_alike_clauses_move_in_their_order():
    old = [clause(f"Article {n}", "This Article is reserved for now.") for n in (1, 2)]
    new = [clause(f"Article {n}", "This Article is reserved for now.") for n in (8, 9)]
    assert changes(old, new)[0] == [("moved", "Article 1", "Article 8"), ("moved", "Article 2", "Article 9")]


def test_titles_count_and_white_space_does_not():
    assert changes([clause("Article 1", "A  b\nc", title="T")], [clause("Article 1", "A b c", title="T")]) == ([], 1)
    assert changes([clause("Article 1", "A", title="T")], [clause("Article 1", "A", title="U")])[0] == [
        ("amended", "Article 1", "Article 1")
    ]


def test_signs_count_only_where_the_formats_are_the_same():
    old, new = [clause("Article 1", "E = a x b; or")], [clause("Article 1", "E = a × b, or")]
    assert changes(old, [clause("Article 1", "E = a x b, or")])[0] != []
    assert changes(old, [clause("Article 1", "E = a x b, or")], marks=False) == ([], 1)
    assert changes(old, new, marks=False)[0] != []


def test_the_same_words_divided_in_another_way_are_the_same():
    whole = [clause("Article 1", "Bakers shall: (a) weigh; (b) bake.")]
    points = [
        clause("Article 1", "Bakers shall:"),
        Passage("X Article 1(a)", "X", "Article 1(a)", "weigh;", parent_id="X Article 1"),
        Passage("X Article 1(b)", "X", "Article 1(b)", "bake.", parent_id="X Article 1"),
    ]
    assert changes(whole, points, marks=False) == ([], 3)
    assert changes(whole, [*points[:2], clause("Article 2", "Rest.")], marks=False)[0] != []


def test_heads():
    assert [head(number) for number in ("Article 4(1)(a)", "Annex II, point 3", "Part One, Title I", "3.2.1")] == [
        "Article 4", "Annex II", "Part One, Title I", "3.2.1",
    ]  # fmt: skip


def test_recitals_that_a_consolidated_text_leaves_out_are_not_deleted():
    opening = [clause("Preamble", "THE COUNCIL,"), clause("Recital 1", "Bread matters."), clause("Recital 2", "So.")]
    assert comparable_openings([*opening, *OLD], OLD) == (OLD, OLD, ("preamble", "recitals"))
    assert comparable_openings(OLD, [*opening, *OLD]) == (OLD, OLD, ("preamble", "recitals"))
    assert comparable_openings([*opening, *OLD], opening[:2]) == ([*opening, *OLD], opening[:2], ())
    assert comparable_openings(OLD, OLD[1:]) == (OLD, OLD[1:], ())


def test_the_page_names_what_is_left_out():
    version = Version("X", "0" * 64, "Bread", None, None)
    found = Difference(version, version, (), 4, (".xml", ".xml"), ("preamble", "recitals"))
    assert "Left out, because one of the versions has none: preamble, recitals." in page(found)
    assert "Left out" not in page(replace(found, left_out=()))


def test_two_versions_of_a_library(tmp_path):
    folder, rules = tmp_path / "library", tmp_path / "ferry.md"
    for texts, day in ((["A Ferry must float.", "Goats pay."], "2024-01-01"), (["A Ferry must float."], "2025-01-01")):
        write_rulebook(rules, texts, valid_from=day)
        add(folder, rules)
    with Library.open(folder) as library:
        old, new = (state.version for state in library.documents())
        found = diff(library, "ferry", old, new)
    assert found.counts == {"added": 0, "deleted": 1, "moved": 0, "amended": 0, "unchanged": 2}
    assert (found.formats, found.same_format, found.left_out) == ((".md", ".md"), True, ())


@pytest.fixture(scope="module")
def law(data, library_of):
    folder = data / "eu_law"
    files = [folder / "articles/32013r0575/2020-12-28.json", folder / "originals/32013r0575_2024-07-09.fmx4.xml"]
    if not all(path.is_file() for path in files):
        pytest.skip(f"no {files[0]}")
    library = library_of({path.name: path.read_text(encoding="utf-8") for path in files})
    versions = {str(state.version.valid_from): state.version for state in library.documents()}
    return folder, diff(library, "32013R0575", versions["2020-12-28"], versions["2024-07-09"])


def articles(path):
    """The letters and digits of each article in an article file."""
    rows = json.loads(path.read_bytes())["provisions"]
    return {
        "".join(row["num"].split()): re.sub(r"[\W_]+", "", f"{row['heading'] or ''}{row['text_md']}").casefold()
        for row in rows
        if row["type"] == "article"
    }


def test_every_changed_article_is_found(law):
    """Against the article files of both dates, which were derived by others: what differs there differs here."""
    folder, found = law
    old, new = (articles(folder / f"articles/32013r0575/{day}.json") for day in ("2020-12-28", "2024-07-09"))
    changed = {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
    assert len(changed) > 300
    assert changed <= {"".join(name.split()) for name in found.articles}
    assert not found.same_format


def test_most_articles_found_have_changed(law):
    """Some files print deleted provisions as if they were in force, so that theirs are not all the changes."""
    folder, found = law
    old, new = (articles(folder / f"articles/32013r0575/{day}.json") for day in ("2020-12-28", "2024-07-09"))
    same = {name for name in old.keys() & new.keys() if old[name] == new[name]}
    surplus = same & {"".join(name.split()) for name in found.articles}
    assert len(surplus) <= 0.1 * len(same)
    assert found.counts["amended"] > 500
