from __future__ import annotations

from datetime import date

import pytest

from helpers import add, write_rows, write_rulebook
from responsa.corpus import catalogue
from responsa.corpus.library import Library
from responsa.errors import NotFound, StorageError

RULES = """---
document: ferry
---
# Ferry Rules

## Part 1 Safety

1.1 A Ferry must carry:
(a) lifeboats; and
(b) flares.

1.2 A Captain must be sober.
"""


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "library"


@pytest.fixture
def opened(folder, tmp_path):
    path = tmp_path / "ferry.md"
    path.write_text(RULES, encoding="utf-8")
    add(folder, path)
    with Library.open(folder) as opened:
        yield opened


def test_is_a_mapping_in_reading_order(opened):
    corpus = opened.corpus()
    numbers = ["Title", "Part 1", "1.1", "1.1(a)", "1.1(b)", "1.2"]
    ids = ["ferry/Title", "ferry/Part_1", "ferry/1.1", "ferry/1.1(a)", "ferry/1.1(b)", "ferry/1.2"]
    assert list(corpus) == ids
    assert [passage.number for passage in corpus.values()] == numbers
    assert len(corpus) == 6
    assert "ferry/1.2" in corpus
    assert "ferry/9" not in corpus
    assert corpus.get("ferry/9") is None
    assert (corpus["ferry/1.2"].text, corpus["ferry/1.2"].path) == (
        "A Captain must be sober.",
        ("Safety",),
    )
    assert list(corpus.passages(corpus.versions[0])) == list(corpus.values())
    assert corpus.version("ferry") == corpus.versions[0]
    assert corpus.version("goat") is None


def test_reads_many_in_the_order_asked(opened):
    corpus = opened.corpus()
    assert list(corpus.read(["ferry/1.2", "ferry/1.1", "ferry/1.2"])) == ["ferry/1.2", "ferry/1.1"]
    assert corpus.read([]) == {}
    with pytest.raises(NotFound, match="passage 'ferry/9' is not in the library, or was removed just now; ask again"):
        corpus.read(["ferry/1.2", "ferry/9"])
    with pytest.raises(KeyError, match="ferry/9"):
        corpus["ferry/9"]


def test_tree(opened):
    corpus = opened.corpus()
    assert [passage.id for passage in corpus.children("ferry/1.1")] == ["ferry/1.1(a)", "ferry/1.1(b)"]
    assert corpus.children("ferry/1.2") == ()
    assert corpus.places(["ferry/1.2", "ferry/1.1", "ferry/9"]) == {"ferry/1.1": 2, "ferry/1.2": 5}


def test_finds_passages_by_printed_number(folder, tmp_path):
    rows = [
        ("a", "x", "3.1"),
        ("b", "x", "\u200e3.1 (2)\t(a)"),
        ("c", "x", "3.1"),
        ("d", "y", "3.1"),
        ("e", "x", " 3.1"),
        ("f", "x", "Article\u00a05"),
    ]
    rows = [{"id": id, "document": document, "number": number, "text": id} for id, document, number in rows]
    add(folder, write_rows(tmp_path / "rows.jsonl", rows))
    cases = {
        ("x", "3.1"): ["a", "c"],  # exactly so: the one with a blank is not meant
        ("y", "3.1"): ["d"],
        ("x", " 3.1"): ["e"],
        ("x", "3.1  "): ["a", "c", "e"],
        ("x", "3.1 (2) (a)"): ["b"],
        ("x", "\u200e3.1\u200f (2)  (a)"): ["b"],
        ("x", "Article 5"): ["f"],
        ("x", "3.2"): [],
        ("z", "3.1"): [],
    }
    with Library.open(folder) as opened:
        corpus = opened.corpus()
        assert {case: [passage.id for passage in corpus.find(*case)] for case in cases} == cases


EDITIONS = [(None, "2019-12-31", "First."), ("2020-01-01", "2021-12-31", "Second."), ("2024-01-01", None, "Third.")]
AS_OF = [
    (None, "Third.", False),
    (date(1990, 1, 1), "First.", False),
    (date(2019, 12, 31), "First.", False),
    (date(2020, 1, 1), "Second.", False),
    (date(2021, 12, 31), "Second.", False),
    (date(2022, 1, 1), "Second.", True),  # the second has ended, the third not begun
    (date(2023, 12, 31), "Second.", True),
    (date(2024, 1, 1), "Third.", False),
    (date(2100, 1, 1), "Third.", False),
]


@pytest.mark.parametrize(("as_of", "text", "approximate"), AS_OF)
def test_what_is_in_force_at_a_date(folder, tmp_path, as_of, text, approximate):
    files = [
        write_rulebook(tmp_path / f"{words}md", [words], "ferry", valid_from, valid_to)
        for valid_from, valid_to, words in reversed(EDITIONS)
    ]
    add(folder, *files, write_rulebook(tmp_path / "goat.md", ["A goat must be fed."], valid_from="2019-12-31"))
    with Library.open(folder) as opened:
        corpus = opened.corpus(as_of)
        assert corpus["ferry/1.1"].text == text
        assert corpus.approximate == (("ferry",) if approximate else ())
        assert ("goat/1.1" in corpus) == (as_of != date(1990, 1, 1))
        assert [passage.text for passage in corpus.find("ferry", "1.1")] == [text]


def test_before_everything_there_is_nothing(folder, tmp_path):
    add(folder, write_rulebook(tmp_path / "goat.md", ["A goat must be fed."], valid_from="2020-01-01"))
    with Library.open(folder) as opened:
        corpus = opened.corpus(date(2019, 12, 31))
        assert (len(corpus), list(corpus), corpus.versions) == (0, [], ())
        assert corpus.find("goat", "1.1") == ()


def test_the_digest_names_the_content(folder, tmp_path):
    files = [write_rulebook(tmp_path / f"{name}.md", [f"A {name} must act."]) for name in ("a", "b", "c")]
    folders = [tmp_path / "forwards", tmp_path / "backwards", tmp_path / "one-by-one"]
    add(folders[0], *files)
    add(folders[1], *reversed(files))
    for file in files:
        add(folders[2], file)
    digests = set()
    for each in folders:
        with Library.open(each) as opened:
            digests.add(opened.corpus().digest)
    assert len(digests) == 1
    write_rulebook(files[0], ["An a must wait."])
    add(folders[0], *files)
    with Library.open(folders[0]) as opened:
        assert opened.corpus().digest not in digests
        assert opened.corpus().digest == opened.corpus(date(2024, 1, 1)).digest


@pytest.mark.parametrize(
    ("valid_from", "valid_to", "approximate"),
    [("2999-01-01", None, True), (None, "2001-01-01", True), ("2001-01-01", "2999-01-01", False), (None, None, False)],
)
def test_without_a_date_it_is_said_what_is_not_in_force_today(folder, tmp_path, valid_from, valid_to, approximate):
    add(folder, write_rulebook(tmp_path / "ferry.md", ["A Ferry floats."], None, valid_from, valid_to))
    with Library.open(folder) as opened:
        corpus = opened.corpus()
        assert corpus["ferry/1.1"].text == "A Ferry floats."
        assert corpus.approximate == (("ferry",) if approximate else ())


READS = [len, list, dict, lambda corpus: corpus["f0/1.1"], lambda corpus: corpus.places(["f0/1.1"])]


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("read", READS)
def test_a_catalogue_damaged_under_a_reader_is_said_to_be_damaged(folder, tmp_path, monkeypatch, read, shared):
    add(folder, *(write_rulebook(tmp_path / f"f{n}.md", ["A Firm must act."] * 60) for n in range(5)))
    file = folder / catalogue.FILE
    content = file.read_bytes()
    if shared:
        monkeypatch.setattr(catalogue, "_immutable", lambda folder: True)
    with Library.open(folder) as opened:
        corpus = opened.corpus()
        file.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
        with pytest.raises(StorageError, match="being changed by another user; try again" if shared else "damaged"):
            read(corpus)
