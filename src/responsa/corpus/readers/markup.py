"""XML and HTML, parsed without trust, and handed to the reader that knows the publisher.

No entity is expanded, no definition loaded, nothing fetched; the depth is bounded. Who published a page is told
from its content: another reader is another line of `XML_READERS` or `HTML_READERS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html.entities import html5
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from responsa.corpus.readers import eurlex, formex, page, pra
from responsa.corpus.readers.content import Fail, drop
from responsa.types import Edition

if TYPE_CHECKING:
    from lxml.etree import _Element

_DEEPEST = 200  # elements within elements; published law has about 40
_PROLOG = 100_000  # characters at the beginning in which definitions would stand
_DEFINITIONS = re.compile(r"<!DOCTYPE[^>\[]{0,1000}\[|<!ENTITY", re.IGNORECASE)
_ENDS = re.compile(r"</html\s*>\s*+(?:<!--(?:(?!-->).)*+-->\s*+)*+$", re.IGNORECASE | re.DOTALL)
_CHARSET = re.compile(r"<meta\b[^>]{0,200}\bcharset\s*=\s*[\"']?([\w-]{1,20})", re.IGNORECASE)


class Publisher(NamedTuple):
    """Who a file may come from, what recognises it by the root element, and what reads it."""

    name: str
    recognises: Callable[[_Element], bool]
    read: Callable[[_Element, str, Fail], tuple[Edition, ...]]


XML_READERS: Sequence[Publisher] = (Publisher("Formex (law of the EU)", formex.recognises, formex.read),)
HTML_READERS: Sequence[Publisher] = (
    Publisher("EUR-Lex (law of the EU)", eurlex.recognises, eurlex.read),
    Publisher("PRA Rulebook", pra.recognises, pra.read),
    Publisher("any other page", page.recognises, page.read),
)


def read_xml(content: bytes, stem: str, fail: Fail) -> tuple[Edition, ...]:
    """The documents of an XML file; a page of XHTML is read as HTML."""
    root = parsed(content, fail)
    if isinstance(root.tag, str) and root.tag.rpartition("}")[2].lower() == "html":
        return _read(root, HTML_READERS, "HTML", stem, fail)
    return _read(root, XML_READERS, "XML", stem, fail)


def read_html(content: bytes, stem: str, fail: Fail) -> tuple[Edition, ...]:
    """The documents of a page of HTML or XHTML."""
    beginning = content[:1000].lstrip(b"\xef\xbb\xbf \t\r\n")
    strict = beginning.startswith(b"<?xml") or b"http://www.w3.org/1999/xhtml" in beginning
    return _read(parsed(content, fail) if strict else _parsed_html(content, fail), HTML_READERS, "HTML", stem, fail)


def _read(  # noqa: RET503  # fail returns never
    root: _Element, known: Sequence[Publisher], what: str, stem: str, fail: Fail
) -> tuple[Edition, ...]:
    publisher = next((each for each in known if each.recognises(root)), None)
    if publisher is not None:
        return publisher.read(root, stem, fail)
    tag = root.tag.rpartition("}")[2] if isinstance(root.tag, str) else ""
    names = ", ".join(publisher.name for publisher in known)
    fail(f"is {what} (its root element is {tag[:40]!r}) that no reader knows; {what} is read from: {names}")


def parsed(content: bytes, fail: Fail) -> _Element:
    """The root of an XML file."""
    from lxml import etree

    _check(content, fail)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(content, parser)
    except etree.XMLSyntaxError as error:
        _explain(error, fail)
    except (ValueError, LookupError) as error:
        fail(f"is not readable as XML: {error}; write the file again")
    if root.getroottree().docinfo.internalDTD is not None and any(root.getroottree().docinfo.internalDTD.entities()):
        _refuse_definitions(fail)
    return _checked(root, fail)


def _parsed_html(content: bytes, fail: Fail) -> _Element:
    from lxml import etree

    text = _check(content, fail)
    found = _CHARSET.search(text[:5000])
    try:
        text = content.decode(found[1] if found else "utf-8").removeprefix("\ufeff")
    except (ValueError, LookupError) as error:
        fail(f"is not encoded as it says ({error}); save it as UTF-8")
    if not _ENDS.search(text[-2000:]):
        fail("is cut off: there is no </html> at its end; fetch the page again")
    parser = etree.HTMLParser(no_network=True, huge_tree=False, encoding="utf-8")
    try:
        root = etree.fromstring(text.encode("utf-8"), parser)
    except etree.XMLSyntaxError as error:
        _explain(error, fail)
    if root is None:
        fail("holds no HTML element; save the page again")
    if any("xcessive depth" in entry.message for entry in parser.error_log):
        _too_deep(fail)
    return _checked(root, fail)


def _check(content: bytes, fail: Fail) -> str:
    """Refuse what is empty, binary, or defines names of its own. Returns the text as far as it is UTF-8."""
    if not content.strip():
        fail("is empty; give a file with text or leave it out")
    wide = content[:2] in (b"\xff\xfe", b"\xfe\xff")
    if wide:
        fail("is encoded as UTF-16, not UTF-8; save it as UTF-8")
    nul = content.find(b"\0")
    if nul >= 0:
        fail(f"is binary: NUL at byte {nul}; give a text file in UTF-8")
    text = content.decode("utf-8", "replace")
    if _DEFINITIONS.search(text[:_PROLOG]):
        _refuse_definitions(fail)
    return text


def _refuse_definitions(fail: Fail) -> NoReturn:
    fail("defines names of its own in its DOCTYPE, which no published act does; they are never expanded")


def _too_deep(fail: Fail) -> NoReturn:
    fail(f"is nested too deeply: more than {_DEEPEST} elements within one another; no published act is")


def _explain(error: SyntaxError, fail: Fail) -> NoReturn:
    message, line = error.msg or "no element", error.lineno or 1
    if "xcessive depth" in message:
        _too_deep(fail)
    if "encoding" in message.lower() or "not proper UTF-8" in message or "Invalid bytes" in message:
        fail(f"line {line}: is not encoded as it says ({message.splitlines()[0]}); save it as UTF-8")
    if message.startswith(
        ("Premature end", "EndTag", "Couldn't find end", "AttValue", "expected", "Extra content", "Opening and")
    ):
        fail(f"line {line}: is cut off or damaged ({message}); fetch the file again")
    fail(f"line {line}: is not well-formed ({message}); fetch the file again")


def _checked(root: _Element, fail: Fail) -> _Element:
    """The tree, no deeper than can be walked; references to names of HTML become their characters."""
    from lxml import etree

    depth = 0
    entities = []
    for event, node in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        if event == "start":
            depth += 1
            if depth > _DEEPEST:
                _too_deep(fail)
            entities += [child for child in node if child.tag is etree.Entity]
        elif event == "end":
            depth -= 1
    for entity in entities:
        _replace(entity, html5.get(f"{entity.name};", ""), fail)
    return root


def _replace(entity: _Element, text: str, fail: Fail) -> None:
    if not text:
        fail(f"uses the name &{entity.name}; that nobody defines; fetch the file again")
    entity.tail = text + (entity.tail or "")
    drop(entity)
