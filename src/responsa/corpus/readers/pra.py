"""Pages of the PRA Rulebook (prarulebook.co.uk): rules, supervisory statements, statements of policy.

A passage is cited as its readers do: "PRA Credit Risk 1.1A(2)", "SS7/15 2.3". Each definition is one of its own:
"PRA Credit Risk 1.2, loss". Flags say since when and until when a rule reads so ("from:2021-09-17",
"until:2026-12-31"), what its links lead to ("cites:PRA Credit Risk 1.1", or the place of another page), that a page is
guidance and no rule, and that a rule is deleted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

from responsa.corpus.readers import page
from responsa.corpus.readers.clauses import DELETED
from responsa.corpus.readers.content import Fail, drop
from responsa.corpus.readers.eurlex_text import local_names
from responsa.corpus.readers.hidden import Styles
from responsa.corpus.readers.lines import Lines, without_marks
from responsa.text import tidy
from responsa.types import Edition, Kind, Passage

if TYPE_CHECKING:
    from lxml.etree import _Element

GUIDANCE = "guidance"
"""Flag of every passage of a statement: it says what the regulator expects and binds nobody."""

_SITE = "https://www.prarulebook.co.uk/"
_CONTENT, _CHAPTER, _RULE = "part-content", "chapter-section", "row-block"
_FURNITURE = frozenset({"row-block__info", "page-utilities", "visually-hidden", "rb-footnotes"})
_STATEMENT = re.compile(r"((?:SS|SoP|LSS|FSM|PS)\s?\d+/\d+[A-Z]?)\b")
_DATE = re.compile(r"(?<!\d)(\d{2})[/-](\d{2})[/-](\d{4})(?!\d)")
_MEANS = re.compile(r"(?:means|has the (?:same )?meaning|have the (?:same )?meaning|includes|shall mean)\b")
_DELETED = re.compile(r"\W*(?:deleted|not used|revoked|omitted)\b.{0,60}$", re.IGNORECASE | re.DOTALL)
_PAGE = re.compile(
    r"^(?:https?://www\.prarulebook\.co\.uk)?(/(?:pra-rules|guidance)/[^#?]+?)(?:/\d{2}-\d{2}-\d{4})?/?$"
)
_AFTER = re.compile(r"\.p(\d+)(?=\W|$)")
_LONGEST_TERM = 120  # characters


def recognises(root: _Element) -> bool:
    """Whether a page says that it is one of the PRA Rulebook."""
    return _place(root).startswith(_SITE)


def read(root: _Element, stem: str, fail: Fail) -> tuple[Edition, ...]:  # noqa: ARG001  # as all readers
    """The one document of the page, named by its title, as of the date that the page shows."""
    local_names(root)
    heading = root.find(".//h1")
    title = "" if heading is None else without_marks(tidy("".join(heading.itertext())))
    content = next(_having(root, _CONTENT), None)
    if not title or content is None:
        fail("is a page of the PRA Rulebook without a title or without its part; save the page of a Part or statement")
    statement = _STATEMENT.match(title)
    name = statement[1].replace(" ", "") if statement else f"PRA {title}"
    reader = _Page(name, title, (GUIDANCE,) if "/guidance/" in _place(root) else (), Styles.of(root), page.notes(root))
    reader.numbers = {each.get("id", ""): _number(each) for each in _having(content, _RULE)}
    own = _PAGE.match(_place(root))
    reader.own = own[1] if own else ""
    for each in [each for kind in _FURNITURE for each in _having(content, kind)]:
        if "row-block__info" not in _classes(each):
            drop(each)
    start, end = _shown(root)
    since = [found for each in _having(content, "row-block__info") if (found := _dates(each)[0])]
    start = start or max(since, default=None)
    passages = tuple(reader.read(content))
    if not any(passage.text for passage in passages):
        fail("has no rules or paragraphs on it: the PRA publishes this text as a PDF; fetch that and add it")
    return (Edition(re.sub(r"\s+", "-", name), title, passages, start, end),)


@dataclass(slots=True)
class _Page:
    """Reads the chapters and rules of one page. ``numbers``: of the rules by their names in the page."""

    name: str
    title: str
    flags: tuple[str, ...]
    styles: Styles
    notes: dict[str, _Element]
    own: str = ""
    numbers: dict[str, str] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)

    def read(self, content: _Element) -> Iterator[Passage]:
        chapter: Passage | None = None
        unnumbered = 0
        for each in content.iter("*"):
            kinds = _classes(each)
            if _CHAPTER in kinds:
                chapter = self._chapter(each)
                unnumbered = 0
                if chapter is not None:
                    yield chapter
            elif _RULE in kinds:
                number = _number(each)
                if not number:
                    unnumbered += 1
                    number = f"{f'{chapter.number}, ' if chapter else ''}paragraph {unnumbered}"
                yield from self._rule(each, number, chapter)

    def _chapter(self, section: _Element) -> Passage | None:
        heading = next(_having(section, "chapter-heading"), None)
        if heading is None:
            return None
        title = without_marks(tidy("".join(heading.itertext())))
        mark = next(_having(section, "chapter-number"), None)
        number = "" if mark is None else without_marks(tidy("".join(mark.itertext())))
        number = f"Chapter {number}" if number else title
        return self._passage(number, "", title, None, (self.title,), ())

    def _rule(self, block: _Element, number: str, chapter: Passage | None) -> Iterator[Passage]:
        """The passages of a rule: its own, its items' and those of the definitions in it."""
        info = next(_having(block, "row-block__info"), None)
        dates = _dates(info) if info is not None else (None, None)
        dated = tuple(f"{word}:{each}" for word, each in zip(("from", "until"), dates, strict=True) if each)
        if info is not None:
            drop(info)
        for mark in list(_having(block, "rule-number")):
            drop(mark)
        path = (
            self.title,
            *([f"{chapter.number.removeprefix('Chapter ')} {chapter.title}".strip()] if chapter else []),
        )
        parent = chapter.id if chapter else None
        for place, (term, elements) in enumerate(_chunks(block)):
            name = f"{number}, {term}" if term else number
            found = list(self._parts(elements, name, term, parent, path, dated))
            yield from found
            if place == 0 and found:
                parent = found[0].id

    def _parts(
        self,
        elements: Sequence[_Element | str],
        name: str,
        term: str,
        parent: str | None,
        path: tuple[str, ...],
        dated: tuple[str, ...],
    ) -> Iterator[Passage]:
        """The passages of a rule's or a definition's elements, read as rule 1 and then named."""
        lines = Lines()
        lines.paragraph("", "1")
        reader = page.Reader(self.styles, self.notes, lines)
        for each in elements:
            if isinstance(each, str):
                reader.add(each)
            else:
                reader.child(each)
        reader.flush()
        ids: dict[str, str] = {}
        links = tuple(
            dict.fromkeys(link for each in elements if not isinstance(each, str) for link in self._links(each))
        )
        for passage in lines.passages("x"):
            number = name + _AFTER.sub(_closing, passage.number.removeprefix("1"))
            top = not ids
            deleted = (DELETED,) if top and _DELETED.match(passage.text) else ()
            flags = (*passage.flags, *(links if top else ()), *deleted, *dated)
            above = parent if top else ids[passage.parent_id or "x/1"]
            made = self._passage(number, passage.text, passage.title or (term if top else ""), above, path, flags)
            ids[passage.id] = made.id
            yield replace(made, kind=passage.kind)

    def _passage(
        self, number: str, text: str, title: str, parent: str | None, path: tuple[str, ...], flags: tuple[str, ...]
    ) -> Passage:
        wanted = f"{self.name} {number}"
        self.seen[wanted] = count = self.seen.get(wanted, 0) + 1
        passage_id = wanted if count == 1 else f"{wanted}#{count}"
        document = re.sub(r"\s+", "-", self.name)
        kind: Kind = "text" if text else "heading"
        return Passage(passage_id, document, number, text, title, parent, path, kind, flags=(*self.flags, *flags))

    def _links(self, element: _Element) -> Iterator[str]:
        for link in element.iter("a"):
            place, _, anchor = link.get("href", "").partition("#")
            found = _PAGE.match(place)
            if found is None or len(place) > 200:
                continue
            if found[1] == self.own and self.numbers.get(anchor):
                yield f"cites:{self.name} {self.numbers[anchor]}"
            elif found[1] != self.own:
                yield f"cites:{without_marks(found[1])}"


def _chunks(block: _Element) -> Iterator[tuple[str, list[_Element | str]]]:
    """What a rule holds, cut before every definition: the term ("" for what comes first) and the elements."""
    body = next(_having(block, "div-row__col-2"), block)
    while len(body) == 1 and body[0].tag == "div" and not (body.text or "").strip():
        body = body[0]
    term, elements = "", [*([body.text] if (body.text or "").strip() else [])]
    for child in body:
        if (found := _term(child)) and elements is not None:
            yield term, elements
            term, elements = found, []
        elements.append(child)
        if (child.tail or "").strip():
            elements.append(child.tail)
    yield term, elements


def _term(element: _Element) -> str:
    """The defined term that a paragraph consists of, where the next one says what it means; else ""."""
    after = next(element.itersiblings("*"), None)
    if element.tag != "p" or after is None or not _MEANS.match(tidy("".join(after.itertext()))):
        return ""
    words = without_marks(tidy("".join(element.itertext())))
    return words if 0 < len(words) <= _LONGEST_TERM and not words.endswith((".", ":", ";")) else ""


def _closing(found: re.Match[str]) -> str:
    return ", closing words" if found[1] == "1" else f", closing words {found[1]}"


def _number(block: _Element) -> str:
    mark = next(_having(block, "rule-number"), None)
    return "" if mark is None else without_marks(tidy("".join(mark.itertext())))


def _dates(info: _Element) -> tuple[date | None, date | None]:
    """Since when a rule reads as it does, and until when: the day before the next version."""
    items = [(_classes(each), "".join(each.itertext())) for each in info.iter("li")]
    start = next((found for _, text in items if (found := _day(text)) and "version" not in text), None)
    following = next((found for kinds, text in items if "list-future" in kinds and (found := _day(text))), None)
    return start, following - timedelta(1) if following else None


def _shown(root: _Element) -> tuple[date | None, date | None]:
    """From when until when the page is in force, by its line of dates."""
    items = [
        (_classes(each), _day(" ".join(link.get("href", "") for link in each.iter("a"))))
        for each in root.iter("div")
        if "listing__item" in _classes(each)
    ]
    start = next((found for kinds, found in items if "is-active" in kinds), None)
    following = min((found for _, found in items if found and start and found > start), default=None)
    return start, following - timedelta(1) if following else None


def _day(text: str) -> date | None:
    found = _DATE.search(text)
    try:
        return date(int(found[3]), int(found[2]), int(found[1])) if found else None
    except ValueError:
        return None


def _place(root: _Element) -> str:
    """The address that the page gives as its own."""
    for each in root.iter("*"):
        tag = each.tag.rpartition("}")[2] if isinstance(each.tag, str) else ""
        if tag == "link" and each.get("rel") == "canonical":
            return str(each.get("href", ""))
        if tag == "body":
            break
    return ""


def _classes(element: _Element) -> frozenset[str]:
    return frozenset(element.get("class", "").split())


def _having(element: _Element, kind: str) -> Iterator[_Element]:
    """The elements within that are of a class, in order."""
    return (each for each in element.iter("*") if each is not element and kind in _classes(each))
