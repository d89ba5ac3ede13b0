"""verify: what it finds wrong, what it only notes, and what it calls whole."""

from __future__ import annotations

import shutil

import pytest

from helpers import add, alter, failures, findings, remove, search, write_rows, write_rulebook
from pdffile import Sheet, pdf
from responsa.corpus import artefacts, catalogue, library, verify
from responsa.corpus.library import Library
from responsa.errors import StorageError
from responsa.retrieval import links


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "library"


@pytest.fixture
def rules(folder, tmp_path):
    path = write_rulebook(tmp_path / "ferry.md", ["A Ferry must carry lifeboats."] * 3, valid_from="2020-01-01")
    add(folder, path, write_rulebook(tmp_path / "goat.md", ["A goat must be fed."]))
    write_rulebook(path, ["A Ferry must carry flares."], valid_from="2024-01-01")
    add(folder, path)
    return path


def failed(folder):
    return [(finding.what, finding.subject.split()[0], finding.detail) for finding in failures(folder)]


def test_everything_is_well(folder, rules):
    found = findings(folder)
    assert {finding.state for finding in found} == {"ok"}
    kinds = [finding.what for finding in found]
    assert {kind: kinds.count(kind) for kind in kinds} == {"catalogue": 1, "version": 3, "index": 5, "source": 2}


def test_an_empty_library(folder, rules):
    remove(folder, "ferry")
    remove(folder, "goat")
    assert failures(folder) == []


ALTERED = [
    "UPDATE passages SET text = 'A Ferry may carry flares.' WHERE text LIKE '%flares%'",
    "UPDATE passages SET number = '9.9' WHERE text LIKE '%flares%'",
    "UPDATE passages SET path = '[\"Else\"]' WHERE text LIKE '%flares%'",
    "UPDATE passages SET boxes = '[[1,2,3,4,5]]' WHERE text LIKE '%flares%'",
    "DELETE FROM passages WHERE text LIKE '%flares%'",
    "UPDATE versions SET valid_to = '2030-01-01' WHERE document_id = 'ferry' AND current = 1",
    "UPDATE versions SET title = 'Other' WHERE document_id = 'ferry' AND current = 1",
]


@pytest.mark.parametrize("statement", ALTERED)
def test_altered_text_is_found(folder, rules, statement):
    alter(folder, statement)
    assert failed(folder) == [("version", "ferry", "the stored text is not the one added")]


def test_altered_history_is_found(folder, rules):
    alter(folder, "UPDATE passages SET text = 'A Ferry may sink.' WHERE text LIKE '%lifeboats%' AND ordinal = 1")
    assert failed(folder) == [("version", "ferry", "the stored text is not the one added")]


def test_a_catalogue_at_odds_with_itself_is_found(folder, rules):
    alter(folder, "UPDATE versions SET current = 1")
    assert failed(folder) == [("catalogue", catalogue.FILE, "document 'ferry' has two current versions")]


def test_references_that_lead_nowhere_are_found(folder, rules):
    with library.writer(folder) as db:
        db.execute("COMMIT")
        db.execute("PRAGMA foreign_keys = OFF")
        db.execute("DELETE FROM sources WHERE path LIKE '%goat.md'")
        db.execute("BEGIN")
    ((what, _, detail),) = failed(folder)
    assert what == "catalogue"
    assert "refers to a missing sources" in detail


def test_damaged_pages_are_found(folder, rules):
    file = folder / catalogue.FILE
    content = bytearray(file.read_bytes())
    at = content.index(b"A Ferry must carry flares.")
    page = at - at % 4096
    content[page : page + 8] = b"\xff" * 8
    file.write_bytes(content)
    try:
        assert failed(folder)
    except StorageError as error:
        assert "damaged" in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        (lambda content: content[:-1], "a file is missing or cut short"),
        (lambda content: content[:-1] + bytes([content[-1] ^ 1]), "data.npy has changed since it was written"),
    ],
)
def test_damaged_indexes_are_found_and_how_to_mend_them(folder, rules, change, detail):
    built = max((folder / "artefacts").glob("bm25-*"), key=lambda path: path.stat().st_mtime_ns)
    (built / "data.npy").write_bytes(change((built / "data.npy").read_bytes()))
    ((what, subject, told),) = failed(folder)
    assert (what, subject) == ("index", built.name)
    assert told == f"{detail}; it is built again at the next search if you delete {built}"
    shutil.rmtree(built)
    assert failed(folder) == []
    assert search(folder, "flares") == ["ferry/1.1"]
    assert failed(folder) == []


def test_missing_indexes_are_fine(folder, rules):
    shutil.rmtree(folder / "artefacts")
    assert failed(folder) == []


def test_an_index_that_a_writer_replaces_meanwhile_is_no_damage(folder, rules, monkeypatch):
    damage = artefacts.damage

    def replaced(path):
        if path.name.startswith("bm25-"):
            shutil.rmtree(path)
        return damage(path)

    monkeypatch.setattr(artefacts, "damage", replaced)
    found = findings(folder)
    assert {finding.state for finding in found} == {"ok"}
    assert sum(finding.what == "index" for finding in found) == 3


def test_changed_and_vanished_sources_are_noted(folder, rules):
    write_rulebook(rules, ["A Ferry must carry rockets."])
    rules.with_name("goat.md").unlink()
    found = [finding for finding in findings(folder) if finding.state != "ok"]
    assert [(finding.what, finding.state, finding.subject, finding.detail) for finding in found] == [
        ("source", "note", str(rules), "has changed since it was read; add it again"),
        ("source", "note", str(rules.with_name("goat.md")), "cannot be read any more (No such file or directory)"),
    ]


def test_saved_citations_are_read_again(folder, rules):
    with library.writer(folder) as db:
        db.execute("INSERT INTO answers VALUES (7, '', 'q', NULL, 'bm25', '')")
        (digest,) = db.execute("SELECT digest FROM versions WHERE document_id = 'goat'").fetchone()
        cited = [("goat", "goat/1.1", "1.1", digest, "A goat"), ("ferry", "ferry/1.1", "", "gone", "A Ferry")]
        for ordinal, (document, passage, number, version, quote) in enumerate(cited):
            row = (7, ordinal, document, passage, number, version, 0, len(quote), 0, 0, quote)
            db.execute("INSERT INTO citations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    found = [finding for finding in findings(folder) if finding.what == "citation"]
    assert [(finding.state, finding.subject) for finding in found] == [
        ("ok", "answer 7: goat, 1.1"),
        ("failed", "answer 7: ferry, ferry/1.1"),
    ]
    assert found[1].detail == 'broken: the version cited is no longer in the library; it said "A Ferry"'


def test_findings_come_as_they_are_made(folder, rules):
    with Library.open(folder) as opened:
        assert next(verify.verify(opened)).what == "catalogue"


def test_a_superseded_citation_is_noted(folder, rules):
    with library.writer(folder) as db:
        db.execute("INSERT INTO answers VALUES (7, '', 'q', NULL, 'bm25', '')")
        (digest,) = db.execute("SELECT digest FROM versions WHERE document_id = 'ferry' AND current = 0").fetchone()
        row = (7, 0, "ferry", "ferry/1.1", "1.1", digest, 0, 7, 0, 0, "A Ferry")
        db.execute("INSERT INTO citations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
    (found,) = (finding for finding in findings(folder) if finding.what == "citation")
    assert (found.state, found.detail) == ("note", "superseded: the version in force words the clause differently")


def test_a_catalogue_without_current_versions_is_found(folder, rules):
    alter(folder, "UPDATE versions SET current = 0")
    ((what, _, detail),) = failed(folder)
    assert what == "catalogue"
    assert detail == (
        "of document 'ferry' not the newest version is marked as current; "
        "of document 'goat' not the newest version is marked as current"
    )


def test_an_older_version_marked_as_current_is_found(folder, rules):
    alter(folder, "UPDATE versions SET current = valid_from = '2020-01-01' WHERE document_id = 'ferry'")
    assert [detail for _, _, detail in failed(folder)] == [
        "of document 'ferry' not the newest version is marked as current"
    ]


def test_a_version_that_no_source_holds_is_found(folder, rules):
    alter(folder, "DELETE FROM holdings")
    assert [detail for _, _, detail in failed(folder)] == [
        "the current version of document 'ferry' is held by no source; "
        "the current version of document 'goat' is held by no source"
    ]


def test_a_version_without_passages_is_found(folder, rules):
    alter(folder, "DELETE FROM passages WHERE passage_id LIKE 'goat%'")
    assert failed(folder) == [("version", "goat", "it has no passages; add its source again")]


def test_what_is_no_json_in_the_catalogue_is_found(folder, rules):
    alter(folder, "UPDATE passages SET boxes = '[' WHERE text LIKE '%flares%'")
    assert failed(folder) == [("version", "ferry", "the stored text is not the one added")]


def test_a_passage_id_in_two_documents_is_found(folder, rules):
    alter(folder, "UPDATE passages SET passage_id = 'ferry/1.1' WHERE passage_id = 'goat/1.1'")
    assert failed(folder)[0][2] == "passage id 'ferry/1.1' is that of a passage of document 'ferry' and of 'goat'"


def test_an_index_of_nothing_is_found(folder, rules):
    from responsa.retrieval import postings

    shelf = artefacts.Artefacts(folder / "artefacts")
    name = next(name for name in shelf.names() if name.startswith("terms-"))
    versions = artefacts.about(shelf.folder / name)["versions"]
    shutil.rmtree(shelf.folder / name)
    shelf.get(name, versions, lambda built: postings.write_strings([], built))
    ((what, subject, detail),) = failed(folder)
    assert (what, subject) == ("index", name)
    assert detail.startswith("it is not of the passages of its versions; it is built again at the next search if")


def test_the_citations_of_a_document_with_headings_of_text_are_whole(folder, tmp_path):
    page = "<html><body><h1>House</h1><h2>Doors</h2><p>1 Lock the doors, see 2.</p><p>2 Shut them.</p></body></html>"
    (tmp_path / "house.html").write_text(page, encoding="utf-8")
    (tmp_path / "report.pdf").write_bytes(
        pdf(Sheet().text(72, 72, "Targets", 18).lines(72, 100, "We cut emissions by half.", "See page 2."))
    )
    add(folder, tmp_path / "house.html", tmp_path / "report.pdf")
    with Library.open(folder) as opened:
        corpus = opened.corpus()
        headings = [each for version in corpus.versions for each in corpus.passages(version) if each.kind == "heading"]
        assert any(each.text for each in headings)
        links.prepare(corpus)
    assert failures(folder) == []


def test_a_source_of_which_a_document_was_removed_is_noted(folder, tmp_path):
    rows = [{"id": f"p{d}", "document": d, "text": f"Rule {d}"} for d in "xy"]
    path = write_rows(tmp_path / "two.jsonl", rows)
    add(folder, path)
    remove(folder, "x")
    (found,) = (finding for finding in findings(folder) if finding.state != "ok")
    assert (found.what, found.state, found.subject) == ("source", "note", str(path))
    assert found.detail == "a document of it was removed; adding it again brings that back"
