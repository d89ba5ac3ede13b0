"""What every reader checks: that a file's bytes are text, that a value can be stored, that an id can be used; and how
an element leaves its tree."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from responsa.corpus.structure import is_blank

if TYPE_CHECKING:
    from lxml.etree import _Element

Fail = Callable[[str], NoReturn]
"""Raises the `ReadError` of a file: the message starts with the file's path."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_NOT_IN_IDS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]")
_ENCODED_OTHERWISE = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


def text_of(content: bytes, fail: Fail) -> str:
    """A file's text with plain line ends and no byte-order mark. Only UTF-8 will do."""
    for mark, name in _ENCODED_OTHERWISE.items():
        if content.startswith(mark):
            fail(f"is encoded as {name}, not UTF-8 (byte-order mark {mark.hex(' ')}); save it as UTF-8")
    content = content.removeprefix(codecs.BOM_UTF8)
    nul = content.find(b"\0")
    if nul >= 0:
        fail(f"is binary: NUL at byte {nul}, line {line_at(content, nul)}; give a text file in UTF-8")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        fail(
            f"is not UTF-8: byte {content[error.start]:#04x} at offset {error.start}, line "
            f"{line_at(content, error.start)} ({error.reason}); save it as UTF-8"
        )
    if is_blank(text):
        fail("is empty; give a file with text or leave it out")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def line_at(content: bytes, offset: int) -> int:
    return content.count(b"\n", 0, offset) + 1


def storable(value: str, where: str, fail: Fail) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        lone = value[error.start]
        fail(f"{where} holds half a character, \\u{ord(lone):04x}, at character {error.start}; remove it")
    return value


def id_of(stem: str) -> str:
    """The id of a document that is named after its file."""
    return re.sub(r"\s+", "_", stem)


def usable(value: str, where: str, fail: Fail) -> str:
    """An id that can stand in a TREC file: not empty, no white space."""
    if not value:
        fail(f"{where} is empty; give it an id")
    found = _NOT_IN_IDS.search(value)
    if found:
        what = "white space" if found.group().isspace() else "a control character"
        fail(f"{where}: {shown(value)} holds {what} at character {found.start()}; an id must have none")
    return storable(value, where, fail)


def shown(value: str) -> str:
    return repr(value if len(value) <= 60 else f"{value[:57]}...")


def drop(element: _Element) -> None:
    """Take an element out of its tree; the words behind it stay. The root stays too.

    Control characters, which damaged pages have, become spaces: lxml reads them but writes none.
    """
    parent, before = element.getparent(), element.getprevious()
    if parent is None:
        return
    if element.tail and before is not None:
        before.tail = _CONTROL.sub(" ", (before.tail or "") + element.tail)
    elif element.tail:
        parent.text = _CONTROL.sub(" ", (parent.text or "") + element.tail)
    element.tail = None
    parent.remove(element)
