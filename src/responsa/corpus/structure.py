"""The passage tree of a rulebook: from plain text or Markdown, and from the numbers of given passages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from responsa.corpus.numbering import GUIDANCE, HEADING, NUMBER, components, is_title
from responsa.corpus.outline import TITLE_NUMBER, outline
from responsa.corpus.units import Node
from responsa.text import normalise
from responsa.types import Kind, Passage

_SPACE = re.compile(r"\s+")
_BLANK = re.compile("[\\s\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]*$")


def parse_rulebook(text: str, document_id: str) -> tuple[Passage, ...]:
    """The passages of a rulebook in plain text or Markdown, in reading order, as a tree.

    Lines end with ``\\n``. A passage's id is ``<document_id>/<number>`` with ``_`` for blanks, and ``#2``,
    ``#3`` behind a number that was there before. Paragraphs without a number are
    ``<number of the parent>.p1``, unnumbered headings ``.h1``; the document's own title (a ``#`` heading
    before anything else) has the number "Title". Nothing raises: a line that starts no passage is text.
    """
    nodes = outline([line.rstrip() for line in text.split("\n")])
    _entitle(nodes)
    ids = _ids((node.number for node in nodes), document_id)
    parents: set[int] = {node.parent for node in nodes if node.parent is not None}
    paths: list[tuple[str, ...]] = []
    passages = []
    for at, node in enumerate(nodes):
        own = "\n".join(node.lines)
        above = () if node.parent is None else paths[node.parent]
        label = _label(node.title, own, at in parents) or (node.number if node.rank <= HEADING else "")
        paths.append((*above, label) if label else above)
        parent_id = None if node.parent is None else ids[node.parent]
        passages.append(
            Passage(
                ids[at],
                document_id,
                node.number,
                own,
                node.title,
                parent_id,
                above,
                _kind(node),
                flags=node.flags,
            )
        )
    return tuple(passages)


def document_title(passages: Iterable[Passage]) -> str:
    """The title that a parsed rulebook gives itself; "" where it has none."""
    return next((passage.title for passage in passages if passage.number == TITLE_NUMBER), "")


def with_tree(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """The passages with ``parent_id``, ``path`` and ``kind`` told from their printed numbers.

    The parent is the nearest earlier passage of the same document whose number is the longest proper
    beginning of the passage's own, component by component. A passage with blank text is a heading; a short
    one with children counts as a heading in paths.
    """
    parents = _parents(passages)
    paths = _paths(passages, parents)
    return tuple(
        replace(
            passage,
            parent_id=None if parent is None else passages[parent].id,
            path=path,
            kind=kind_of(passage.number, passage.text, passage.kind),
        )
        for passage, parent, path in zip(passages, parents, paths, strict=True)
    )


def paths_of(passages: Sequence[Passage]) -> list[tuple[str, ...]]:
    """The headings above each passage by the parents given, among which there must be no cycle."""
    places = {passage.id: at for at, passage in enumerate(passages)}
    return _paths(passages, [places.get(passage.parent_id or "") for passage in passages])


def _paths(passages: Sequence[Passage], parents: Sequence[int | None]) -> list[tuple[str, ...]]:
    above = {parent for parent in parents if parent is not None}
    paths: dict[int | None, tuple[str, ...]] = {}
    for start in range(len(passages)):
        chain = [start]
        while (parent := parents[chain[-1]]) is not None and parent not in paths:
            chain.append(parent)  # a parent may come after its children
        for at in reversed(chain):
            parent = parents[at]
            upper = () if parent is None else paths[parent]
            label = "" if parent is None else _label(passages[parent].title, passages[parent].text, parent in above)
            paths[at] = (*upper, label) if label else upper
    return [paths[at] for at in range(len(passages))]


def is_blank(text: str) -> bool:
    """Whether a text shows nothing: only white space and invisible characters."""
    return _BLANK.match(text) is not None


def kind_of(number: str, text: str, kind: Kind = "text") -> Kind:
    """A heading without text, guidance by its number, else the kind given."""
    if is_blank(text):
        return "heading"
    return "guidance" if kind == "text" and "guidance" in number.casefold() else kind


def _parents(passages: Sequence[Passage]) -> list[int | None]:
    parents: list[int | None] = []
    latest: dict[tuple[str, tuple[str, ...]], int] = {}
    for at, passage in enumerate(passages):
        own = components(passage.number)
        beginnings = ((passage.document_id, own[:length]) for length in range(len(own) - 1, 0, -1))
        parents.append(next((latest[key] for key in beginnings if key in latest), None))
        if own:
            latest[passage.document_id, own] = at
    return parents


def _entitle(nodes: Sequence[Node]) -> None:
    """Make titles of what chapters and sections have for text, "2.1 Scope" above 2.1.1."""
    above = {node.parent for node in nodes if node.rank in (NUMBER, GUIDANCE)}
    for at, node in enumerate(nodes):
        if node.rank == NUMBER and at in above and not node.title and not node.blocks:
            own = "\n".join(node.lines)
            if is_title(own):
                node.title, node.lines = own.strip(), []


def _label(title: str, text: str, has_children: bool) -> str:
    """What a passage adds to the paths below it: its title, or a short text that reads as one."""
    if title.strip():
        return normalise(title)
    return normalise(text) if has_children and is_title(text) else ""


def _kind(node: Node) -> Kind:
    if not node.lines:
        return "heading"
    if not node.prose:
        return "table" if "table" in node.blocks else "figure"
    return "guidance" if node.guidance else "text"


def _ids(numbers: Iterable[str], document_id: str) -> list[str]:
    seen: dict[str, int] = {}
    ids = []
    for number in numbers:
        name = f"{document_id}/{_SPACE.sub('_', number)}"
        seen[name] = seen.get(name, 0) + 1
        ids.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return ids
