"""Reports and rules in PDF: passages in reading order, each with its page and its place on it.

Headers and footers are left out, headings make the path, tables become HTML, words broken at line ends are mended.
Every page has at least one passage: a page without text has one of kind ``figure`` whose flag says why. A passage is
cited by page and position: ``REPORT p. 12 (3)`` is the third on the twelfth page of the file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from responsa.corpus.limits import allowed
from responsa.corpus.readers.content import Fail, id_of, usable
from responsa.corpus.readers.pdf_furniture import Sheet, furniture
from responsa.corpus.readers.pdf_layout import Line, Place, lines_of, upright
from responsa.corpus.readers.pdf_ocr import Recogniser
from responsa.corpus.readers.pdf_page import Handle, Page, Word, read_page
from responsa.corpus.readers.pdf_passages import RECOGNISED, SCANNED, Item, Writer, items_of, usual_size
from responsa.corpus.readers.pdf_regions import stacks
from responsa.corpus.readers.pdf_tables import find_tables
from responsa.corpus.readers.pdf_words import Mender
from responsa.types import Edition, Passage

_END = 4096  # bytes from the end in which a file must say that it ends
_FILE_NAME = re.compile(r"\.(?:pdf|docx?|indd|pptx?|xlsx?|qxp)\b|^Microsoft |^untitled", re.IGNORECASE)


@dataclass(slots=True)
class Laid:
    """A page with its lines: those to be read by direction, and the headers and footers."""

    page: Page
    label: str = ""
    lines: dict[int, list[Line]] = field(default_factory=dict)
    left_out: list[Line] = field(default_factory=list)


def read_pdf(content: bytes, stem: str, fail: Fail) -> tuple[Edition, ...]:
    """The one document of the file; it is named after the file."""
    document_id = usable(id_of(stem), "the file's name", fail)
    with opened(content, fail) as document:
        pages = list(pages_of(document, fail))
        title = _title(document) or stem
    passages = passages_of(laid_out(pages), document_id)
    if all(not passage.text for passage in passages):
        scanned = sum(SCANNED in passage.flags for passage in passages)
        tried = allowed.get().ocr
        fail(
            f"has no text: pages {len(passages)}, pictures (scans) among them {scanned}; "
            + (f"no words were recognised in them ({tried})" if tried else "read their words with --ocr eng")
        )
    return (Edition(document_id, title, passages),)


@contextmanager
def opened(content: bytes, fail: Fail) -> Iterator[Any]:
    """The document that pypdfium2 makes of the bytes; refused with a reason where it cannot."""
    import pypdfium2

    if b"%PDF-" not in content[:1024]:
        fail("is no PDF: it does not begin with %PDF-; give the PDF itself")
    if b"%%EOF" not in content.rstrip(b"\0\r\n\t ")[-_END:]:
        fail("is cut short: a PDF ends with %%EOF and this one does not; fetch or copy it again")
    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        reason = str(error)
        if "assword" in reason:
            fail("is locked with a password; save a copy without one, for instance with: qpdf --decrypt")
        if "ecurity" in reason:
            fail("is encrypted in a way that cannot be opened; save a copy without encryption")
        fail(f"is damaged: it cannot be opened as a PDF ({reason.rstrip('.')}); fetch or copy it again")
    try:
        count = len(document)
        if not count:
            fail("is damaged: it has no pages; fetch or copy it again")
        if count > allowed.get().pages:
            fail(f"claims {count:,} pages, more than {allowed.get().pages:,}; split it, or allow more with --max-pages")
        yield document
    finally:
        document.close()


def pages_of(document: Handle, fail: Fail) -> Iterator[Page]:
    """The pages of an open document, one after the other. Words of pictures are recognised where that is asked for."""
    from pypdfium2 import PdfiumError, raw

    recogniser = Recogniser(allowed.get().ocr, fail) if allowed.get().ocr else None
    try:
        for index in range(len(document)):
            try:
                handle = document[index]
            except PdfiumError:
                fail(f"is damaged: page {index + 1} of {len(document)} cannot be loaded; fetch or copy it again")
            try:
                page = read_page(raw, handle.raw, index + 1, _label(document, index))
                if recogniser and all(word.hidden for word in page.words):
                    page.words += recogniser.read(raw, handle.raw, page)
                    page.recognised = True
                yield page
            finally:
                handle.close()
    finally:
        if recogniser:
            recogniser.close()


def laid_out(pages: Sequence[Page]) -> list[Laid]:
    """The pages with their lines, headers and footers apart, and their printed numbers."""
    sheets: list[Sheet] = []
    tables = {page.number: stacks(page.level) for page in pages}
    usual = Counter(_rounded(place) for places in tables.values() for place in set(places))
    for page in pages:
        own = [place for place in tables[page.number] if usual[_rounded(place)] < max(3, 0.4 * len(pages))]
        for turn in sorted({word.turn for word in page.words}):
            height = page.width if turn % 2 else page.height
            sheets.append(Sheet(page.number, turn, height, lines_of(upright(page, turn)), () if turn else own))
    gone, numbers = furniture(sheets, len(pages))
    laid = {page.number: Laid(page, numbers.get(page.number) or page.label) for page in pages}
    for sheet in sheets:
        each = laid[sheet.page]
        each.lines[sheet.turn] = [line for line in sheet.lines if id(line) not in gone]
        each.left_out += [line for line in sheet.lines if id(line) in gone]
    return list(laid.values())


def _rounded(place: Place) -> tuple[int, ...]:
    return tuple(round(side / 4) for side in place)


def passages_of(pages: Sequence[Laid], document_id: str) -> tuple[Passage, ...]:
    """The passages of all pages, in reading order."""
    mend = Mender()
    for laid in pages:
        for lines in laid.lines.values():
            for line in lines:
                mend.learn(word.text for word in line.words[:-1])
    body = usual_size(
        (word for lines in laid.lines.values() for line in lines for word in line.words) for laid in pages
    )
    writer = Writer(document_id, body, mend)
    for laid in pages:
        writer.write(laid.page, page_items(laid, mend), laid.label, (RECOGNISED,) if laid.page.recognised else ())
    return tuple(writer.passages)


def page_items(laid: Laid, mend: Mender) -> list[Item]:
    """Blocks and tables of a page in reading order: level text first, then what runs sideways."""
    items: list[Item] = []
    turns = sorted(laid.lines, key=lambda turn: (-sum(len(line.words) for line in laid.lines[turn]), turn))
    for turn in turns:
        lines = laid.lines[turn]
        words = [word for line in lines for word in line.words]
        rules = (laid.page.level, laid.page.upright) if turn == 0 else ([], [])
        tables = find_tables(words, *rules, mend) if len(words) > 5 else []
        if tables:
            taken = {id(words[index]) for table in tables for index in table.words}
            lines = [Line(left) for line in lines for left in _left(line, taken)]
        items += items_of(lines, tables, laid.page, turn)
    return items


def _left(line: Line, taken: set[int]) -> list[list[Word]]:
    """What tables leave of a line: the words before, between and after theirs."""
    runs = groupby(line.words, key=lambda word: id(word) in taken)
    return [list(words) for gone, words in runs if not gone]


def _title(document: Handle) -> str:
    """The title that the file gives itself, unless it is a file's name."""
    try:
        title = " ".join(_printable(document.get_metadata_value("Title")).split())
    except UnicodeDecodeError:
        return ""
    return "" if len(title) < 4 or _FILE_NAME.search(title) else title


def _label(document: Handle, index: int) -> str:
    try:
        return _printable(document.get_page_label(index))[:20].strip()
    except UnicodeDecodeError:
        return ""


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)
