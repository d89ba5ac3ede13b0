"""Web pages of any publisher: the main content with headings, numbered clauses, lists, tables and footnotes.

Navigation, forms and what surrounds the content are left out; words within it that a reader of the page does not see
are kept, with the flag "hidden". What a style sheet outside the file hides cannot be known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from responsa.corpus.readers import tables
from responsa.corpus.readers.content import Fail, id_of, usable
from responsa.corpus.readers.eurlex_text import local_names, rows_of
from responsa.corpus.readers.formulas import high, low
from responsa.corpus.readers.hidden import Styles
from responsa.corpus.readers.lines import Lines, joined, parted, without_marks
from responsa.corpus.structure import document_title
from responsa.types import Edition

if TYPE_CHECKING:
    from lxml.etree import _Element

_UNSEEN = frozenset({
    "script", "style", "noscript", "template", "svg", "button", "select", "option", "input", "textarea", "iframe",
    "object", "embed", "canvas", "audio", "video", "head", "link", "meta", "title", "dialog", "datalist",
})  # fmt: skip
_FURNITURE = frozenset({"nav", "aside", "form", "menu", "search"})
_AROUND = frozenset({"header", "footer"})  # of the page, not of an article in it
_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "complementary", "menu", "menubar", "dialog"})
_NAMES = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|navigation|menu|breadcrumbs?|sidebar|side-bar|cookies?|cookie-banner|skip-link|pagination"
    r"|site-header|site-footer|page-header-nav|social-share|share-buttons|toc|table-of-contents)(?:$|\s)",
    re.IGNORECASE,
)
_INLINE = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "br", "cite", "code", "data", "del", "dfn", "em", "font", "i",
    "img", "ins", "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time",
    "tt", "u", "var", "wbr",
})  # fmt: skip
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset({"ol", "ul", "dl"})
_LABELLED = re.compile(r"\s*(?:\(?(?:\d{1,3}[A-Z]{0,2}(?:\.\d{1,3}[A-Z]{0,2})*|[a-z]{1,5}|[A-Z]{1,4})[.)]|[•–—▪·-]\s)")
_NOTE = re.compile(r"^\W*\d{0,4}\W{0,3}\s*")
_SPACE = re.compile(r"\s+")
_MOST_CELLS = 200_000
_LEAST = 0.25  # of the words of a page: what is marked as its main content has at least so many


def recognises(root: _Element) -> bool:
    """Any page of HTML."""
    return isinstance(root.tag, str) and root.tag.rpartition("}")[2].lower() == "html"


def read(root: _Element, stem: str, fail: Fail) -> tuple[Edition, ...]:
    """The one document of the page, named after its file."""
    local_names(root)
    document_id = usable(id_of(stem), "the file's name", fail)
    reader = Reader(Styles.of(root), notes(root))
    reader.block(_main(root))
    reader.flush()
    passages = reader.lines.passages(document_id)
    if not passages:
        fail("holds no text outside navigation and scripts; save the page with its content")
    title = document_title(passages) or _title(root) or stem
    return (Edition(document_id, title, passages),)


def _title(root: _Element) -> str:
    for path in (".//h1", "head/title"):
        found = root.find(path)
        if found is not None and (words := " ".join("".join(found.itertext()).split())):
            return without_marks(words)
    return ""


def _main(root: _Element) -> _Element:
    """The element with the page's content: what says so, unless it is a small part; else the body."""
    body = root.find("body")
    whole = root if body is None else body
    claims = [*whole.iter("main"), *(each for each in whole.iter("*") if each.get("role") == "main")]
    articles = list(whole.iter("article"))
    claims += articles if len(articles) == 1 else []
    least = _LEAST * _length(whole)
    return next((each for each in claims if _length(each) >= least), whole)


def _length(element: _Element) -> int:
    """Characters of words outside navigation."""
    if _is_furniture(element):
        return 0
    own = len((element.text or "").strip())
    return own + sum(len((child.tail or "").strip()) + _length(child) for child in element)


def _is_furniture(element: _Element) -> bool:
    if not isinstance(element.tag, str) or element.tag in _UNSEEN or element.tag in _FURNITURE:
        return True
    if element.get("role", "").lower() in _ROLES:
        return True
    if element.tag in _AROUND:
        return not any(above.tag in ("article", "main", "section") for above in element.iterancestors())
    return _NAMES.search(f"{element.get('class', '')} {element.get('id', '')}") is not None and element.tag != "body"


def notes(root: _Element) -> dict[str, _Element]:
    """The footnotes by name: what a raised mark leads to, further down on the page."""
    targets = {
        each.get("id") or each.get("name"): each for each in root.iter("*") if each.get("id") or each.get("name")
    }
    found: dict[str, _Element] = {}
    for link in root.iter("a"):
        name = link.get("href", "")[1:]
        above = link.getparent()
        raised = (above is not None and above.tag == "sup") or link.find("sup") is not None
        noted = raised or "noteref" in f"{link.get('role', '')} {link.get('class', '')} {link.get('epub:type', '')}"
        if not (noted and link.get("href", "").startswith("#") and name in targets):
            continue
        target = targets[name]
        if target.tag in ("a", "span", "sup") and target.getparent() is not None:
            target = target.getparent()
        if target.tag in ("li", "p", "div", "dd", "aside", "td") and link not in target.iter("a"):
            found[name] = target
    return found


@dataclass(slots=True)
class Reader:
    """Puts elements into ``lines``. ``notes``: footnotes by name, left out where they stand."""

    styles: Styles
    notes: dict[str, _Element]
    lines: Lines = field(default_factory=Lines)
    pieces: list[str] = field(default_factory=list)
    label: str = ""
    depth: int = 0
    level: int = 0  # of the heading that is open
    noted: frozenset[_Element] = field(init=False)

    def __post_init__(self) -> None:
        self.noted = frozenset(self.notes.values())

    def block(self, element: _Element) -> None:
        """An element that stands on lines of its own."""
        self.flush()
        if element.tag == "table":
            self._table(element)
        elif element.tag in _LISTS:
            self._list(element)
        else:
            self.level = _HEADINGS.get(str(element.tag), self.level)
            self.inside(element)
            self.flush()
            self.level = 0 if element.tag in _HEADINGS else self.level

    def inside(self, element: _Element) -> None:
        self.add(element.text)
        for child in element:
            self.child(child)
            self.add(child.tail)

    def child(self, child: _Element) -> None:
        """An element within one that is being read."""
        if child.tag not in _INLINE and isinstance(child.tag, str) and self.styles.hides(child):
            self.flush()
            self.lines.paragraph(self._hidden(child), "", self.depth)
        elif (text := self._special(child)) is not None:
            self.pieces.append(text)
        elif child.tag in _INLINE:
            self.inside(child)
        elif child.tag == "pre":
            self.flush()
            self.pieces.append(without_marks("".join(child.itertext())))
            self.flush()
        else:
            self.block(child)

    def _special(self, child: _Element) -> str | None:
        """What stands for an element that is not read through; None for one that is."""
        if _is_furniture(child) or child in self.noted:
            return ""
        if self.styles.hides(child):
            return self._hidden(child)
        if child.tag == "br":
            return "\n"
        if child.tag == "img":
            return f" [image: {alt}] " if (alt := without_marks(child.get("alt", "").strip())) else ""
        if child.tag in ("sup", "a") and (note := self._note(child)):
            return self.lines.note(note)
        if child.tag in ("sub", "sup") and len(child) == 0:
            return (low if child.tag == "sub" else high)(without_marks(child.text or ""))
        return None

    def _flat(self, element: _Element) -> str:
        """All words of an element, blocks on lines of their own."""
        pieces = [_plain(element.text)]
        number = 1
        for child in element:
            text = self._special(child)
            if text is None and child.tag == "li":
                text = f"\n{self._item(element, child, number)} {self._flat(child)}\n"
                number += 1
            elif text is None:
                text = self._flat(child) if child.tag in _INLINE else f"\n{self._flat(child)}\n"
            pieces += [text, _plain(child.tail)]
        return "".join(pieces)

    def add(self, text: str | None) -> None:
        self.pieces.append(_plain(text))

    def flush(self) -> None:
        """End the paragraph."""
        text, self.pieces = joined(self.pieces), []
        if not text:
            return
        if self.level:
            self.lines.heading(self.level, text, self.label)
        else:
            self.lines.paragraph(text, self.label, self.depth)
        self.label = ""

    def _hidden(self, element: _Element) -> str:
        return self.lines.hidden(without_marks(_line(element)))

    def _note(self, element: _Element) -> str:
        links = [element] if element.tag == "a" else list(element.iter("a"))
        target = self.notes.get(links[0].get("href", "")[1:]) if links else None
        if target is None:
            return ""
        back = [each for each in target.iter("a") if each.get("href", "").startswith("#") and len(_words(each)) < 8]
        words = _NOTE.sub("", _line(target, back), count=1)
        return without_marks(words.strip())

    def _list(self, element: _Element) -> None:
        number = tables.span(element.get("start")) if element.get("start") else 1
        self.depth += 1
        for child in element:
            if child.tag not in ("li", "dt", "dd"):
                self.child(child)
                self.flush()
                continue
            if child in self.noted or _is_furniture(child):
                continue
            if child.tag == "li":
                given = child.get("value", "")
                number = int(given) if given.isascii() and given.isdigit() and len(given) < 6 else number
                self.label = self._item(element, child, number)
                number += 1
            if self.styles.hides(child):
                self.lines.paragraph(self._hidden(child), "", self.depth)
            else:
                self.block(child)
            self.label = ""
        self.depth -= 1

    def _item(self, element: _Element, child: _Element, number: int) -> str:
        """What the page shows before an item: nothing where its text begins with a number of its own."""
        plain = "none" in self.styles.of_element(element).get("list-style-type", "")
        if plain or _LABELLED.match(_words(child)):
            return ""
        if element.tag == "ul":
            return "•"
        return _numeral(number, element.get("type", "1"))

    def _table(self, table: _Element) -> None:
        rows = rows_of(table)
        layout = table.get("role") == "presentation" or table.find(".//table") is not None
        if layout or all(len(row) < 2 for row in rows):
            for row in rows:
                for cell in row:
                    self.block(cell)
            return
        caption = table.find("caption")
        title = "" if caption is None else _line(caption)
        marks: list[str] = []
        cells = [[self._cell(cell, marks) for cell in row] for row in rows]
        if sum(cell.columns * cell.rows for row in cells for cell in row) > _MOST_CELLS:  # no table spans so much
            cells = [[tables.Cell(cell.text) for cell in row] for row in cells]
        self.lines.table(tables.markdown(cells), without_marks(title), "".join(marks))

    def _cell(self, cell: _Element, marks: list[str]) -> tables.Cell:
        text, kept = parted(joined([self._flat(cell)]))
        marks.append(kept)
        text = "\n".join(filter(None, text.split("\n")))
        return tables.Cell(text, tables.span(cell.get("colspan")), tables.span(cell.get("rowspan")))


def _plain(text: str | None) -> str:
    return _SPACE.sub(" ", without_marks(text)) if text else ""


def _line(element: _Element, but: Sequence[_Element] = ()) -> str:
    """All words below an element in one line."""
    return " ".join(_words(element, but).split())


def _words(element: _Element, but: Sequence[_Element] = ()) -> str:
    """All words below an element, without scripts and some elements."""
    if not isinstance(element.tag, str) or element.tag in _UNSEEN or element in but:
        return ""
    apart = "" if element.tag in _INLINE and element.tag != "br" else " "
    return "".join([apart, element.text or "", *(_words(child, but) + (child.tail or "") for child in element), apart])


_TENS = ("", "x", "xx", "xxx", "xl", "l", "lx", "lxx", "lxxx", "xc")
_UNITS = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")


def numeral(number: int, kind: str) -> str:
    """A number as letters ("a"), Roman numerals ("i"), both also in capitals, or digits ("1")."""
    if number > 0 and kind.lower() == "a":
        text = ""
        while number > 0:
            number, rest = divmod(number - 1, 26)
            text = chr(97 + rest) + text
        return text.upper() if kind == "A" else text
    if 0 < number < 1000 and kind.lower() == "i":
        hundreds = ("", "c", "cc", "ccc", "cd", "d", "dc", "dcc", "dccc", "cm")[number // 100]
        text = hundreds + _TENS[number // 10 % 10] + _UNITS[number % 10]
        return text.upper() if kind == "I" else text
    return str(number)


def _numeral(number: int, kind: str) -> str:
    return f"{numeral(number, kind)}." if kind not in "aAiI" else f"({numeral(number, kind)})"
