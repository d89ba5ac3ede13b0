"""Source files into editions: EU law (Formex .xml and .fmx4, EUR-Lex .html), other web pages (.html), Word files
(.docx), PDF, rulebooks (.txt, .md), passages (.json, .jsonl).

The suffix says how a file is read; of XML and HTML the content says which publisher it comes from. Whatever
cannot be read as what it claims to be is refused with a `ReadError` that starts with the file's path and says
where, what and what to do. Nothing is repaired and nothing skipped. A reader is a function of the file's bytes
and its name: it opens no other file and no connection.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import NoReturn

from responsa.corpus.readers.content import Fail
from responsa.corpus.structure import is_blank
from responsa.errors import ReadError
from responsa.types import Edition

Reader = Callable[[bytes, str, Fail], tuple[Edition, ...]]
"""From a file's content, its name without the suffix, and what refuses it."""

# The module here and its function: imported when a file needs it, for most commands read no file.
READERS: Mapping[str, tuple[str, str]] = MappingProxyType({
    ".json": ("json", "read_structured"),
    ".jsonl": ("json", "read_passages"),
    ".txt": ("text", "read_rulebook"),
    ".md": ("text", "read_rulebook"),
    ".markdown": ("text", "read_rulebook"),
    ".xml": ("markup", "read_xml"),
    ".fmx4": ("package", "read_package"),
    ".html": ("markup", "read_html"),
    ".htm": ("markup", "read_html"),
    ".xhtml": ("markup", "read_html"),
    ".docx": ("docx", "read_docx"),
    ".pdf": ("pdf", "read_pdf"),
})  # fmt: skip
SUFFIXES = frozenset(READERS)

_BEGINNINGS = (  # of kinds of file, told to who gave a file a suffix of another kind
    (b"\x89PNG", "a picture", "make a PDF of it and read that with --ocr eng"),
    (b"\xff\xd8\xff", "a picture", "make a PDF of it and read that with --ocr eng"),
    (
        b"\xd0\xcf\x11\xe0",
        "a file of Office before 2007, or one with a password",
        "save it as .docx without a password",
    ),
    (b"{\\rtf", "a file of RTF", "save it as .docx"),
)
_INSTEAD: Mapping[str, str] = MappingProxyType({
    **dict.fromkeys((".doc", ".rtf", ".odt", ".docm", ".dot", ".dotx", ".pages"), "save it as .docx"),
    **dict.fromkeys((".xls", ".xlsx", ".xlsm", ".ods", ".csv", ".ppt", ".pptx"), "save it as .pdf"),
    **dict.fromkeys((".png", ".jpg", ".jpeg", ".tif", ".tiff"), "make a PDF of it and read that with --ocr eng"),
    **dict.fromkeys((".zip", ".7z", ".gz", ".tar", ".rar"), "unpack it and add what is in it"),
})  # fmt: skip


def read(path: Path) -> tuple[Edition, ...]:
    """The documents in a file, read as its suffix says. `ReadError` where it cannot be used."""
    _reader(path, str(path))
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path itself
        reason = getattr(error, "strerror", None) or error
        raise ReadError(f"{path}: cannot be read: {reason}; check the path and its permissions") from error
    return read_bytes(content, str(path))


def read_bytes(content: bytes, name: str) -> tuple[Edition, ...]:
    """The documents in the content of a file of that name. `ReadError` where it cannot be used."""
    path = PurePath(name)
    reader = _reader(path, name)

    def fail(problem: str) -> NoReturn:
        raise ReadError(f"{name}: {problem}{_mistaken(content, path.suffix.lower())}")

    if not content:
        fail("is empty; give a file with text or leave it out")
    try:
        editions = reader(content, path.stem, fail)
    except RecursionError:
        fail("is nested too deeply to be read; no published rules are")
    for edition in editions:
        if all(is_blank(passage.text) for passage in edition.passages):
            fail(f"nothing to index: no passage of document {edition.document_id!r} has text; leave it out")
    return editions


def _reader(path: PurePath, name: str) -> Reader:
    place = READERS.get(path.suffix.lower())
    if place is None:
        raise ReadError(f"{name}: {unknown(path)}; known: {', '.join(sorted(SUFFIXES))}")
    reader: Reader = getattr(importlib.import_module(f"{__name__}.{place[0]}"), place[1])
    return reader


def unknown(path: PurePath) -> str:
    """That no reader knows a file's suffix, and what to do where there is something."""
    instead = _INSTEAD.get(path.suffix.lower())
    what = f"files that end in {path.suffix!r}" if path.suffix else "files without a suffix"
    return f"{what} cannot be read" + (f"; {instead}" if instead else "")


def _mistaken(content: bytes, suffix: str) -> str:
    """What to add to a refusal where the content is plainly of another kind than the suffix says; else nothing."""
    beginning = content[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")
    word = beginning.startswith(b"PK\x03\x04") and b"word/document.xml" in content
    page = beginning[:15].lower().startswith((b"<!doctype html", b"<html"))
    kinds = (
        (".pdf", "a PDF", b"%PDF-" in content[:1024]),
        (".docx", "a Word file", word),
        (".html", "a web page", page),
    )
    for known, name, found in kinds:
        if found and READERS.get(suffix) != READERS[known]:
            return f". It looks like {name}: if it is, give it the suffix {known}"
    if suffix != ".docx":  # whose reader says more of an old file
        for start, name, instead in _BEGINNINGS:
            if beginning.startswith(start):
                return f". It looks like {name}: {instead}"
    return ""


def load() -> None:
    """Import every reader ahead of the first file."""
    for suffix in READERS:
        _reader(PurePath(f"any{suffix}"), "any")
