"""EUR-Lex pages of acts: those of the Official Journal and of consolidated versions, in their old and new styles.

The pages have one paragraph of text after the other, with classes that say what each is; only lists are nested.
Older pages print lists as indented blocks, newer ones as grids, those of the Official Journal as tables of two
columns. What they mark as deleted they do not print.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

from responsa.corpus.readers import eulaw
from responsa.corpus.readers.clauses import Block, Clause, flat, merged, to_passages
from responsa.corpus.readers.content import Fail
from responsa.corpus.readers.eurlex_text import Line, classes, local_names, notes_of, rows_of, words
from responsa.corpus.readers.tables import Cell, markdown, span
from responsa.types import Edition

if TYPE_CHECKING:
    from lxml.etree import _Element

_ACT = frozenset({"title-article-norm", "ti-art", "title-doc-first", "doc-ti"})  # classes on every page of an act
_SKIPPED = re.compile(
    r"(?:modref|arrow|reference|disclaimer|footnote|note|hd-(?!column).*|toc-.*|title-fam.*|title-doc-oj.*)$"
)
_APPARATUS = re.compile(r"(?:arrow|hd-(?!column).*|title-doc.*|title-fam.*)$")
_TITLE = frozenset({"title-doc-first", "title-doc-last", "doc-ti"})
_DIVISION = {"title-division-1": 1, "ti-section-1": 1, "title-division-2": 2, "ti-section-2": 2}
_SECTION = re.compile(r"title-gr-seq-level-(\d)$|ti-grseq-(\d)$")
_ARTICLE, _SUBTITLE = frozenset({"title-article-norm", "ti-art"}), frozenset({"stitle-article-norm", "sti-art"})
_QUOTED, _SUBTITLE_QUOTED = "title-article-quoted", "stitle-article-quoted"
_CAPTION = frozenset({"title-table", "ti-tbl"})
_PARAGRAPH = re.compile(r"(\d{1,3}[a-z]{0,3})\.(?:\s+|$)")
_ITEM = re.compile(r"\(?(?:\d{1,3}[a-z]{0,3}|[a-z]{1,5}|[A-Z]{1,2})(?:\.|\)|\.\))?$")
_DASH = re.compile(r"[—–•▪·*-]$")
_SIGN = re.compile(r"[=≈≤≥<>:–—-]$")
_RANKS = ("part", "title", "chapter", "section", "sub-section", "subsection")
_NUMBERED = re.compile(r"((?:Part|Section|Chapter|Title|Table|\d[\d.]*\b)(?:\s+[\w.]{1,8})?)[.:]?\s+", re.IGNORECASE)
_LAST_WORDS = re.compile(r"This (?:Regulation|Directive|Decision) (?:shall be binding|is addressed to)")
_FORMULA = re.compile(r"HAS ADOPTED|HAVE ADOPTED")


def recognises(root: _Element) -> bool:
    """Whether a page is that of an act on EUR-Lex."""
    return any(not _ACT.isdisjoint(classes(each)) for each in root.iter("{*}p", "p"))


def read(root: _Element, stem: str, fail: Fail) -> tuple[Edition, ...]:
    """The one act of a page: its CELEX number is the document's id."""
    local_names(root)
    body = root.find("body")
    if body is None:
        fail("is a page without a body; save it again")
    page = _Page(notes_of(body))
    page.walk(body)
    heading = " ".join(words(each) for each in root.iterfind("head/title"))
    reference = " ".join(words(each) for each in body.iter("p") if "reference" in classes(each))
    title = eulaw.title(page.title)
    celex = eulaw.celex_in(heading) or eulaw.celex_in(reference)
    consolidated = celex is not None
    celex = celex or eulaw.celex_of_title(title) or eulaw.from_name(stem)
    if celex is None:
        fail("says of no act that it is; put the CELEX number of the act (32013R0575) in the file's name")
    clauses = page.finished()
    if not any(clause.level in ("division", "article") for clause in clauses):
        fail("is a page of EUR-Lex, but has no articles; give the page with the whole text of the act")
    start = eulaw.printed_day(heading) or eulaw.printed_day(reference) if consolidated else None
    start = start or eulaw.entry_into_force(clauses, _published(body)) or eulaw.date_of(stem)
    name = eulaw.short_name(celex)
    return (Edition(celex, eulaw.short_title(title, celex), to_passages(clauses, celex, name), start),)


def _published(body: _Element) -> date | None:
    return next((eulaw.printed_day(words(each)) for each in body.iter("p") if "hd-date" in classes(each)), None)


@dataclass(slots=True)
class _Page:
    """An act as it is put together while its page is read from top to bottom."""

    notes: dict[str, str]
    title: list[str] = field(default_factory=list)
    clauses: list[Clause] = field(default_factory=list)
    divisions: list[tuple[int, Clause]] = field(default_factory=list)
    article: Clause | None = None
    place: Clause | None = None  # what text on the page now belongs to
    caption: str = ""
    amended: tuple[str, ...] = ()
    quoting: dict[int, Clause] = field(default_factory=dict)  # what the articles of other acts stand in
    terms: Block | None = None  # the list of terms that the next table may go on with

    def finished(self) -> list[Clause]:
        found = [Clause("named", "Title", " ".join(self.title)), *self.clauses]
        return [
            merged(clause) if clause.level == "annex" else clause for clause in found if clause.parts or clause.title
        ]

    def walk(self, element: _Element, here: Clause | None = None) -> None:
        """The content of a container. ``here`` is the item that it is part of, None for the page itself."""
        line = Line(self.notes)
        line.add(element.text)
        for child in element:
            tag = child.tag
            if tag in ("p", "div", "table", "hr", "tbody", "tr", "td"):
                self._text(line, here)
                here = self._block(child, here)
            elif isinstance(tag, str) and "no-parag" not in classes(child):
                line.inline(child)
            line.add(child.tail)
        self._text(line, here)

    def _text(self, line: Line, here: Clause | None) -> None:
        block = line.block()
        if block is None:
            return
        if here is not None:
            here.parts.append(block)
        elif self.place is not None and self.place.level in ("article", "paragraph") and self._numbered(block):
            pass
        elif _LAST_WORDS.match(block.text) and self.article is not None:
            self._named("Concluding formula").parts.append(block)
        elif self.place is not None and self.place.level == "named" and self.place.label in ("Preamble", "Recitals"):
            self._preamble(block)
        elif self.place is not None:
            self.place.parts.append(block)

    def _numbered(self, block: Block) -> bool:
        """A paragraph that begins with its number."""
        found = _PARAGRAPH.match(block.text)
        if found is None or self.article is None:
            return False
        self._paragraph(found[1])
        block.text = block.text[found.end() :]
        if block.text and self.place is not None:
            self.place.parts.append(block)
        return True

    def _paragraph(self, label: str) -> None:
        assert self.article is not None
        self.place = Clause("paragraph", label, flags=self.amended)
        self.article.parts.append(self.place)

    def _preamble(self, block: Block) -> None:
        if _FORMULA.match(block.text):
            self._named("Enacting formula").parts.append(block)
        elif block.text.rstrip(" :") == "Whereas" or self.place is not self.clauses[-1]:
            self._named("Recitals").title = block.text
        elif self.place is not None:
            self.place.parts.append(block)

    def _named(self, label: str) -> Clause:
        self.article, self.divisions = None, []
        self.place = Clause("named", label)
        self.clauses.append(self.place)
        return self.place

    # blocks of the page

    def _block(self, element: _Element, here: Clause | None) -> Clause | None:
        """One block; returns what the blocks beside it belong to from then on."""
        kinds = classes(element)
        if element.tag == "p":
            return self._p(element, kinds, here)
        self.terms = self.terms if element.tag == "table" else None
        if element.tag == "table":
            self._table(element, here)
        elif "grid-container" in kinds:
            parts = [part for part in element if isinstance(part.tag, str)]
            if parts:
                self._item(words(parts[0]), parts[1:], here)
        elif "text-indent" in element.get("style", "") and self._indented(element, here):
            pass
        elif "preamble" in kinds or element.get("id", "").startswith("pbl_"):
            self._named("Preamble")
            self.walk(element)
        elif here is None and self.article is not None and (label := _own_label(element)):
            self._paragraph(label)
            self.walk(element)
        elif element.get("id", "").startswith("fnp_") or "final" in kinds:
            if self.place is None or self.place.label != "Concluding formula":
                self._named("Concluding formula")
            self.walk(element)
        else:
            self.walk(element, here)
        return here

    def _p(self, element: _Element, kinds: frozenset[str], here: Clause | None) -> Clause | None:
        if any(_SKIPPED.match(kind) for kind in kinds):
            self._modified(element, kinds)
            return here
        line = Line(self.notes)
        line.inside(element)
        text = line.text
        if not text:
            return here
        self.terms = None
        if here is not None:
            return self._within(text, kinds, line, here)
        section = next((found for kind in kinds if (found := _SECTION.match(kind))), None)
        if kinds & _TITLE:
            self._titled(text)
        elif kinds & _ARTICLE:
            self.article = self.place = Clause("article", eulaw.article_label(text), flags=self.amended)
            (self.divisions[-1][1].parts if self.divisions else self.clauses).append(self.article)
        elif kinds & _SUBTITLE and self.article is not None:
            self.article.title = " ".join(filter(None, (self.article.title, text)))
        elif division := next((_DIVISION[kind] for kind in kinds if kind in _DIVISION), 0):
            self._divide(text, division)
        elif "title-annex-1" in kinds:
            self._annex(text)
        elif "title-annex-2" in kinds and self.place is not None and self.place.level == "annex":
            self.place.title = " ".join(filter(None, (self.place.title, text)))
        elif section and self.article is None and self.divisions:
            self._section(text, int(section[1] or section[2]))
        elif kinds & _CAPTION:
            self.caption = " ".join(filter(None, (self.caption, text)))
        else:
            self._text(line, self._under("(a)") if "list" in kinds and self.article is None else None)
        return here

    def _within(self, text: str, kinds: frozenset[str], line: Line, here: Clause) -> Clause:
        """A paragraph of text in an item of a list; an article there is one of another act."""
        if kinds & _ARTICLE or _QUOTED in kinds:
            above = self.quoting.get(id(here), here)
            quoted = Clause("quoted", eulaw.article_label(text), text[: len(text) - len(text.lstrip("‘“"))])
            self.quoting[id(quoted)] = above
            above.parts.append(quoted)
            return quoted
        if (kinds & _SUBTITLE or _SUBTITLE_QUOTED in kinds) and here.level == "quoted":
            here.title += text
        elif kinds & _CAPTION:
            self.caption = text
        else:
            self._text(line, here)
        return here

    def _modified(self, element: _Element, kinds: frozenset[str]) -> None:
        """A mark of consolidation: from here on the text is by that act."""
        if kinds & {"modref", "arrow"}:
            link = element.find("a")
            by = "" if link is None or "▼B" in "".join(element.itertext()) else link.get("title", "").partition(":")[0]
            self.amended = (f"amended-by-{by.strip()}",) if by else ()

    def _titled(self, text: str) -> None:
        if re.match(r"ANNEX\b", text) and (self.article or self.divisions or self.title):
            self._annex(text)
        elif self.place is not None and self.place.level == "annex" and not self.place.parts:
            self.place.title = " ".join(filter(None, (self.place.title, text)))
        elif not self.clauses:
            self.title.append(text)

    def _divide(self, text: str, line: int) -> None:
        """The first line of a division's heading has its number, the second its title."""
        if line == 2 and self.divisions and self.article is None:
            division = self.divisions[-1][1]
            division.title = " ".join(filter(None, (division.title, text)))
            return
        word = text.split()[0].lower()
        rank = _RANKS.index(word) if word in _RANKS else len(_RANKS)
        self._opened(Clause("division", text, flags=self.amended), rank)
        self.article = self.place = None

    def _opened(self, clause: Clause, rank: int) -> None:
        while self.divisions and self.divisions[-1][0] >= rank:
            self.divisions.pop()
        (self.divisions[-1][1].parts if self.divisions else self.clauses).append(clause)
        self.divisions.append((rank, clause))

    def _annex(self, text: str) -> None:
        self.article = None
        self.place = Clause("annex", *eulaw.annex_label([text]), flags=self.amended)
        self._opened(self.place, -1)

    def _section(self, text: str, level: int) -> None:
        found = _NUMBERED.match(f"{text} ")
        label, title = (found[1], text[found.end() :]) if found else ("", text)
        self.place = Clause("section", label, title, flags=self.amended)
        self._opened(self.place, level)

    # lists

    def _indented(self, element: _Element, here: Clause | None) -> bool:
        """An item whose number stands before a wide blank; False where it is none."""
        first = element.find("p")
        if first is None or not (_ITEM.match((first.text or "").strip()) or _DASH.match((first.text or "").strip())):
            return False
        label = (first.text or "").strip()
        first.text = ""
        self._item(label, [element], here)
        return True

    def _item(self, label: str, parts: list[_Element], here: Clause | None) -> None:
        above = self._under(label) if here is None else here
        label = label.strip()
        if above is None:
            return
        if above.level == "named" and above.label in ("Preamble", "Recitals"):
            above = above if above.label == "Recitals" else self._named("Recitals")
            clause = Clause("recital", eulaw.bare_label(label))
        elif _DASH.match(label):
            clause = Clause("indent", flags=self.amended)
        else:
            clause = Clause("point", eulaw.bare_label(label), flags=self.amended)
        above.parts.append(clause)
        for part in parts:
            self.walk(part, clause)

    def _under(self, label: str) -> Clause | None:
        """What an item on the page itself belongs to: in annexes "(a)" is one of the number before it."""
        last = self.place.parts[-1] if self.place and self.place.parts else None
        if self.place is None or self.place.level not in ("annex", "section") or not isinstance(last, Clause):
            return self.place
        inner = last.level == "point" and last.label[:1].isdigit() and not eulaw.bare_label(label)[:1].isdigit()
        return last if inner else self.place

    # tables

    def _table(self, element: _Element, here: Clause | None) -> None:
        above = self.place if here is None else here
        if above is None or any(_APPARATUS.match(kind) for each in element.iter("p") for kind in classes(each)):
            return
        rows = rows_of(element)
        plain = element.get("border", "0") == "0" and "table" not in classes(element)
        if plain and rows and all(len(row) == 2 and _is_label(words(row[0])) for row in rows):
            for row in rows:
                self._item(words(row[0]), [row[1]], here)
        elif plain and rows and all(len(row) == 2 or (len(row) == 3 and _SIGN.match(words(row[1]))) for row in rows):
            self._terms(rows, above)
        elif rows:
            self._data(rows, above)

    def _terms(self, rows: list[list[_Element]], above: Clause) -> None:
        """Terms and what they mean, often one to a table: lines of one text."""
        cells = [[self._cell(cell) for cell in row] for row in rows]
        text = "\n".join(" ".join(filter(None, (text for text, _ in row))) for row in cells)
        blocks = [block for row in cells for _, found in row for block in found]
        flags = tuple(dict.fromkeys(flag for block in blocks for flag in block.flags))
        notes = tuple(note for block in blocks for note in block.notes)
        if self.terms is not None and above.parts and above.parts[-1] is self.terms:
            self.terms.text += "\n" + text
            self.terms.flags = tuple(dict.fromkeys((*self.terms.flags, *flags)))
            self.terms.notes += notes
        elif text.strip():
            self.terms = Block(text, False, notes, flags)
            above.parts.append(self.terms)

    def _data(self, rows: list[list[_Element]], above: Clause) -> None:
        cells, notes, flags = [], [], []
        for row in rows:
            line = []
            for each in row:
                text, blocks = self._cell(each)
                line.append(Cell(text, span(each.get("colspan")), span(each.get("rowspan"))))
                notes += [note for block in blocks for note in block.notes]
                flags += [flag for block in blocks for flag in block.flags]
            cells.append(line)
        block = Block(markdown(cells), False, tuple(dict.fromkeys(notes)), tuple(dict.fromkeys(flags)))
        above.parts.append(Clause("table", "", self.caption, [block], self.amended))
        self.caption = ""

    def _cell(self, element: _Element) -> tuple[str, list[Block]]:
        kept, self.terms = self.terms, None
        inner = Clause("named")
        self.walk(element, inner)
        self.terms = kept
        return "\n".join(flat(inner)), [part for part in inner.parts if isinstance(part, Block)]


def _is_label(text: str) -> bool:
    return _ITEM.match(text) is not None or _DASH.match(text) is not None


def _own_label(element: _Element) -> str:
    """The number of a paragraph that stands in an element of its own at its beginning."""
    first = next((child for child in element if isinstance(child.tag, str)), None)
    if first is None or "no-parag" not in classes(first):
        return ""
    return eulaw.bare_label(words(first))
