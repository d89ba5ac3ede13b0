"""Source files into editions: EU law (Formex .xml, EUR-Lex .html), other web pages (.html), Word files (.docx), PDF,
rulebooks (.txt, .md), passages (.json, .jsonl).

The suffix says how a file is read; of XML and HTML the content says which publisher it comes from. Whatever
cannot be read as what it claims to be is refused with a `ReadError` that starts with the file's path and says
where, what and what to do. Nothing is repaired and nothing skipped. A reader is a function of the file's bytes
and its name: it opens no other file and no connection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import NoReturn

from responsa.corpus.readers.content import Fail
from responsa.corpus.readers.docx import read_docx
from responsa.corpus.readers.json import read_passages, read_structured
from responsa.corpus.readers.markup import read_html, read_xml
from responsa.corpus.readers.pdf import read_pdf
from responsa.corpus.readers.text import read_rulebook
from responsa.corpus.structure import is_blank
from responsa.errors import ReadError
from responsa.types import Edition

Reader = Callable[[bytes, str, Fail], tuple[Edition, ...]]
"""From a file's content, its name without the suffix, and what refuses it."""

READERS: Mapping[str, Reader] = MappingProxyType({
    ".json": read_structured,
    ".jsonl": read_passages,
    ".txt": read_rulebook,
    ".md": read_rulebook,
    ".markdown": read_rulebook,
    ".xml": read_xml,
    ".html": read_html,
    ".htm": read_html,
    ".xhtml": read_html,
    ".docx": read_docx,
    ".pdf": read_pdf,
})  # fmt: skip
SUFFIXES = frozenset(READERS)


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
        raise ReadError(f"{name}: {problem}")

    try:
        editions = reader(content, path.stem, fail)
    except RecursionError:
        fail("is nested too deeply to be read; no published rules are")
    for edition in editions:
        if all(is_blank(passage.text) for passage in edition.passages):
            fail(f"nothing to index: no passage of document {edition.document_id!r} has text; leave it out")
    return editions


def _reader(path: PurePath, name: str) -> Reader:
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise ReadError(
            f"{name}: files that end in {path.suffix!r} cannot be read; known: {', '.join(sorted(SUFFIXES))}"
        )
    return reader
