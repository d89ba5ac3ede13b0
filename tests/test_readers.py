from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from responsa.corpus import readers
from responsa.corpus.readers import READERS, SUFFIXES, read
from responsa.errors import ReadError

ROW = {"ID": "u-1", "DocumentID": 7, "PassageID": "1.", "Passage": "A Firm must act.\n"}


@pytest.fixture
def write(tmp_path):
    def write(name: str, content: str | bytes | list | dict) -> Path:
        path = tmp_path / name
        if isinstance(content, list | dict):
            content = json.dumps(content)
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        return path

    return write


def refused(path: Path) -> str:
    """What `read` says against the file, after its path."""
    with pytest.raises(ReadError) as caught:
        read(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ")


def problem(path: Path) -> str:
    """The message about a file, or its path where there is none."""
    try:
        assert all(edition.passages for edition in read(path))
    except ReadError as error:
        return str(error)
    return str(path)


# What can be read


def test_structured_rulebook(write):
    rows = [ROW, {**ROW, "ID": "u-2", "PassageID": "1.1", "Passage": " \u200eText\t", "Extra": [1]}]
    rows += [{**ROW, "ID": "u-3", "DocumentID": "B", "Title": "Book B"}, {**ROW, "ID": 4, "Passage": " "}]
    first, second = read(write("x.json", rows))
    assert (first.document_id, first.title, second.document_id, second.title) == ("7", "Document 7", "B", "Book B")
    assert [passage.id for passage in first.passages] == ["u-1", "u-2", "4"]
    assert [passage.text for passage in first.passages] == ["A Firm must act.\n", " \u200eText\t", " "]
    assert [passage.kind for passage in first.passages] == ["text", "text", "heading"]
    assert first.passages[1].parent_id == "u-1"


def test_passages_with_all_keys_left_out(write):
    (edition,) = read(write("book.jsonl", '{"id": "p1", "text": "One."}\n\n{"id": 2, "text": "Two."}\n'))
    assert (edition.document_id, edition.title) == ("book", "book")
    assert [(p.id, p.number, p.parent_id, p.path) for p in edition.passages] == [
        ("p1", "p1", None, ()), ("2", "2", None, ()),
    ]  # fmt: skip


def test_passages_with_a_tree(write):
    rows = [
        {"id": "c", "text": "Child.", "document": "D", "parent": "b", "number": "1.1"},
        {"id": "b", "text": "", "document": "D", "title": "Duties", "number": "1", "parent": None},
        {"id": "d", "text": "Other.", "document": "D", "path": ["Given"], "number": "1.2"},
    ]
    (edition,) = read(write("x.jsonl", "\n".join(map(json.dumps, rows))))
    assert [(p.parent_id, p.path, p.kind) for p in edition.passages] == [
        ("b", ("Duties",), "text"), (None, (), "heading"), (None, ("Given",), "text"),
    ]  # fmt: skip


def test_passages_with_numbers_alone_get_their_tree_from_them(write):
    rows = [{"id": "a", "text": "Duties", "number": "1"}, {"id": "b", "text": "Act.", "number": "1.1"}]
    (edition,) = read(write("x.jsonl", "\n".join(map(json.dumps, rows))))
    assert (edition.passages[1].parent_id, edition.passages[1].path) == ("a", ("Duties",))


def test_rulebook_with_front_matter(write):
    dates = "valid_from: 2024-01-01\nvalid_to: 2024-12-31"
    text = f'---\ndocument: AML\ntitle: "Rules: all"\n{dates}\n\n# note\n---\n1.1.1 Act.\n'
    (edition,) = read(write("x.md", text))
    assert (edition.document_id, edition.title) == ("AML", "Rules: all")
    assert (edition.valid_from, edition.valid_to) == (date(2024, 1, 1), date(2024, 12, 31))
    assert [(passage.id, passage.text) for passage in edition.passages] == [("AML/1.1.1", "Act.")]


@pytest.mark.parametrize(
    ("text", "title"), [("# Whole\n\n1.1.1 Act.", "Whole"), ("1.1.1 Act.", "rules"), ("---\n\ntext\n---\n", "rules")]
)
def test_rulebook_without_front_matter(write, text, title):
    (edition,) = read(write("rules.markdown", text))
    assert (edition.document_id, edition.title, edition.valid_from) == ("rules", title, None)


def test_byte_order_mark_and_windows_line_ends(write):
    (edition,) = read(write("x.TXT", b"\xef\xbb\xbf---\r\ndocument: D\r\n---\r\n1.1.1 Act\r\nnow.\r\n"))
    assert (edition.passages[0].id, edition.passages[0].text) == ("D/1.1.1", "Act\nnow.")
    (edition,) = read(write("y.json", b"\xef\xbb\xbf" + json.dumps([ROW]).encode()))
    assert edition.passages[0].text == "A Firm must act.\n"


def test_known_suffixes():
    rules, law = {".json", ".jsonl", ".txt", ".md", ".markdown"}, {".xml", ".html", ".htm", ".xhtml"}
    assert set(SUFFIXES) == set(READERS) >= rules | law


# What is refused, and how


@pytest.mark.parametrize("name", ["x.json", "x.jsonl", "x.txt", "x.md"])
@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf \n\t\r\n", "is empty"),
        (b"text\nab\0cd", "is binary: NUL at byte 7, line 2"),
        (b"text\n\ncaf\xe9 x", "not UTF-8: byte 0xe9 at offset 9, line 3"),
        ("text".encode("utf-16"), "encoded as UTF-16"),
        ("text".encode("utf-32"), "encoded as UTF-32"),
        (b"\xfe\xff\0t", "encoded as UTF-16"),
    ],
)
def test_bytes_that_are_no_text(write, name, content, says):
    assert says in refused(write(name, content))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('[\n {"ID": "a"', "line 2, column 12: the JSON is cut off"),
        ('[\n {"ID": "a', "the JSON is cut off"),
        ("[1, 2} ]", "line 1, column 6: not JSON"),
        ("{}", "an object where a list of passages should be"),
        ("3", "a number where a list"),
        ("[]", "nothing to index"),
        ([ROW, "x"], "[1] is a string, not an object"),
        ([{**ROW, "Passage": 3}], "[0].Passage is a number, not a string"),
        ([{**ROW, "Passage": None}], "[0].Passage is null"),
        ([{**ROW, "PassageID": ["1"]}], "[0].PassageID is a list"),
        ([{**ROW, "ID": True}], "[0].ID is a truth value"),
        ([{**ROW, "ID": 1.5}], "[0].ID is a number"),
        ([{**ROW, "ID": ""}], "[0].ID is empty"),
        ([{**ROW, "ID": "a b"}], "[0].ID: 'a b' holds white space at character 1"),
        ([{**ROW, "ID": "a\x07"}], "holds a control character at character 1"),
        ([{**ROW, "DocumentID": "a\tb"}], "[0].DocumentID: 'a\\tb' holds white space"),
        ([{"ID": "a", "DocumentID": 1, "PassageID": "1"}], "[0] has no 'Passage'; its keys are: 'ID'"),
        ([{}], "[0] has no 'DocumentID'; its keys are: none"),
        ([ROW, {**ROW, "PassageID": "2"}], "the id 'u-1' is given twice, at [0] and [1]"),
        ([{**ROW, "ID": 1}, {**ROW, "ID": "1"}], "the id '1' is given twice"),
        ([{**ROW, "Passage": " \u200e\n"}], "nothing to index: no passage of document '7'"),
        ('[\n{"ID": "NaN", "x": NaN}]', "line 2: NaN is no JSON number"),
        ('[{"x": -Infinity}]', "line 1: -Infinity is no JSON number"),
        ('[{"a": 1}, {"ID": "a", "ID": "b"}]', "object 2 of the file: the key 'ID' is given twice"),
        ([{**ROW, "Passage": "a\ud800"}], "[0].Passage holds half a character, \\ud800, at character 1"),
        ([{**ROW, "ID": "a\udc00"}], "[0].ID holds half a character"),
        ("[" * 100_000, "nested too deeply"),
        ('[{"ID": ' + "9" * 5000 + "}]", "digits"),
    ],
)
def test_structured_rulebooks_refused(write, content, says):
    assert says in refused(write("x.json", content))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"id": "a", "text": "x"}\n{"id": "b", "te', "line 2, column 13: the JSON is cut off"),
        ('{"id": "a", "text": "x"}\n["b"]', "line 2 is a list, not an object"),
        ('{"id": "a"}', "line 1 has no 'text'; its keys are: 'id'"),
        ('{"id": "a", "text": 2}', "line 1.text is a number"),
        ('{"id": "a", "text": "x"}\n\n{"id": "a", "text": "y"}', "'a' is given twice, at line 1 and line 3"),
        ('{"id": "a", "text": "x", "parent": "z"}', "line 1.parent is 'z', which is the id of no line"),
        ('{"id": "a", "text": "x", "parent": "a"}', "line 1.parent leads back to 'a'"),
        ('{"id": "a", "text": "x", "path": "A"}', "line 1.path is a string, not a list"),
        ('{"id": "a", "text": "x", "path": ["A", 1]}', "line 1.path[1] is a number"),
        ('{"id": "a", "text": "x", "document": "a b"}', "line 1.document: 'a b' holds white space"),
        ('{"id": "a", "text": "x", "id": "b"}', "line 1: the key 'id' is given twice"),
        ('{"id": "a", "text": NaN}', "line 1: NaN is no JSON number"),
        ('\n{"id": "a", "text": "\\udfff"}', "line 2.text holds half a character"),
        ('{"id": "a", "text": ""}', "nothing to index"),
        ("\n" + "[" * 100_000, "line 2: the JSON is nested too deeply"),
        ('{"id": "a", "text": "x", "document": "A"}\n{"id": "b", "text": "x", "parent": "a"}', "another document, 'A'"),
    ],
)
def test_passages_refused(write, content, says):
    assert says in refused(write("x.jsonl", content))


def test_cycles_and_depth_of_parents(write):
    rows = [{"id": "a", "text": "x", "parent": "b"}, {"id": "b", "text": "x", "parent": "c"}]
    rows.append({"id": "c", "text": "x", "parent": "b"})
    assert "leads back" in refused(write("x.jsonl", "\n".join(map(json.dumps, rows))))
    for order in (1, -1):
        deep = [{"id": str(k), "text": "x", **({"parent": str(k - 1)} if k else {})} for k in range(500)]
        message = refused(write("y.jsonl", "\n".join(map(json.dumps, deep[::order]))))
        assert "more than 64 levels" in message


@pytest.mark.parametrize(
    ("front", "says"),
    [
        ("documnt: A\n---", "line 2: unknown front matter key 'documnt'; did you mean 'document'?"),
        ("document: A", "line 1: the front matter is never closed"),
        ("document: A\nwhat\n---", "line 3: 'what' in the front matter is no 'key: value'"),
        ("document: A\ndocument: B\n---", "line 3: document is given again, first in line 2"),
        ("document: a b\n---", "line 2: document: 'a b' holds white space"),
        ("document:\n---", "line 2: document has no value"),
        ("valid_from: 2024-02-30\n---", "line 2: valid_from is '2024-02-30', not a date"),
        ("valid_from: 20240201\n---", "not a date"),
        ("valid_from: 2024-W01-1\n---", "not a date"),
        ("valid_from: 2024-02-01\nvalid_to: 2024-01-31\n---", "line 3: valid_to 2024-01-31 lies before"),
        ("title: Only\n---\n# Heading\n## Another", "nothing to index"),
    ],
)
def test_rulebooks_refused(write, front, says):
    body = "" if "nothing" in says else "1.1.1 Act."
    assert says in refused(write("x.md", f"---\n{front}\n{body}"))


def test_file_names_that_make_no_id(write):
    assert ": 'my\\x01rules' holds a control character" in refused(write("my\x01rules.txt", "Text."))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("my  rules.txt", "Text."),
        ("my\trules.md", "1.1 Act."),
        ("my\u00a0rules.jsonl", '{"id": "a", "text": "x"}'),
    ],
)
def test_blanks_in_file_names_become_underscores_in_ids(write, name, content):
    (edition,) = read(write(name, content))
    assert edition.document_id == "my_rules"
    assert {passage.document_id for passage in edition.passages} == {"my_rules"}


def test_unknown_suffix_and_unreadable_paths(write, tmp_path):
    message = refused(write("x.xyz", "%XYZ"))
    assert f"'.xyz' cannot be read; known: {', '.join(sorted(SUFFIXES))}" in message
    assert {".html", ".json", ".md", ".xml"} <= SUFFIXES
    assert "No such file" in refused(tmp_path / "gone.md")
    (tmp_path / "folder.md").mkdir()
    assert "Is a directory" in refused(tmp_path / "folder.md")
    assert "cannot be read" in refused(tmp_path / "nul\0.md")


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(sorted(SUFFIXES)), st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_content_is_read_or_refused(tmp_path, suffix, content):
    path = tmp_path / f"x{suffix}"
    path.write_bytes(content)
    assert problem(path).startswith(str(path))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*ROW, "Title"]), inner, max_size=5),
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.fixed_dictionaries(dict.fromkeys(ROW, _JSON)) | _JSON, max_size=3))
def test_json_of_any_shape_is_read_or_refused(tmp_path, rows):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    assert problem(path).startswith(str(path))


@pytest.mark.parametrize(
    ("name", "content", "hint"),
    [
        ("report.html", b"%PDF-1.7\n\0\n%%EOF", "It looks like a PDF: if it is, give it the suffix .pdf"),
        ("rules.docx", b"%PDF-1.7\n\0\n%%EOF", "It looks like a PDF: if it is, give it the suffix .pdf"),
        (
            "rules.txt",
            b"PK\x03\x04\0\0word/document.xml",
            "It looks like a Word file: if it is, give it the suffix .docx",
        ),
        (
            "rules.pdf",
            b"\xef\xbb\xbf<!DOCTYPE html><p>x",
            "It looks like a web page: if it is, give it the suffix .html",
        ),
        ("scan.pdf", b"\x89PNG\r\n", "make a PDF of it and read that with --ocr eng"),
        ("rules.txt", b"\xd0\xcf\x11\xe0\0", "save it as .docx without a password"),
    ],
)
def test_a_refusal_says_what_the_file_looks_like(name, content, hint):
    with pytest.raises(ReadError) as refused:
        readers.read_bytes(content, name)
    assert hint in str(refused.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rules.pdf", b"%PDF-1.7\n cut"),
        ("rules.htm", b"<html>\0</html>"),
        ("rules.txt", b"a\0b"),
        ("a.docx", b"PK\x03\x04"),
    ],
)
def test_a_refusal_of_the_right_kind_of_file_guesses_nothing(name, content):
    with pytest.raises(ReadError) as refused:
        readers.read_bytes(content, name)
    assert "looks like" not in str(refused.value)


@pytest.mark.parametrize("suffix", sorted(SUFFIXES))
def test_an_empty_file_is_called_empty(suffix):
    with pytest.raises(ReadError, match="is empty; give a file with text"):
        readers.read_bytes(b"", f"rules{suffix}")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.doc", "'.doc' cannot be read; save it as .docx"),
        ("a", "files without a suffix cannot be read"),
        ("a.zip", "unpack"),
    ],
)
def test_other_suffixes_are_told_what_to_do(name, message):
    with pytest.raises(ReadError) as refused:
        readers.read_bytes(b"text", name)
    assert message in str(refused.value)
