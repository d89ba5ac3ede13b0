"""Formex packages: the archive in which the EU's Cellar hands out an act, its text and its annexes as files.

A consolidated version is one file with its annexes in it; an act as published is a file of its own and one more
for each annex. A list (root ``DOC``) names them in order; pictures and tables of contents of the Official
Journal are passed over. Names in the archive are labels, never paths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from responsa.corpus.readers import formex
from responsa.corpus.readers.archive import Archive
from responsa.corpus.readers.content import Fail, shown
from responsa.corpus.readers.markup import parsed
from responsa.types import Edition

if TYPE_CHECKING:
    from lxml.etree import _Element

_ANNEXES = frozenset({"ANNEX", "CONS.ANNEX"})
_PASSED_OVER = frozenset({"DOC", "PUBLICATION"})


def read_package(content: bytes, stem: str, fail: Fail) -> tuple[Edition, ...]:
    """The one act in a package. A part that is neither its text nor an annex is refused: nothing is left out."""
    archive = Archive(content, fail)
    roots = {name: parsed(archive.part(name), _within(name, fail)) for name in _texts(archive)}
    acts = {name: root for name, root in roots.items() if formex.recognises(root)}
    if len(acts) != 1:
        found = ", ".join(sorted(acts)) or "none"
        fail(f"is no package of one act: the files that hold an act are: {found}; give the Formex package of one act")
    ((_, act),) = acts.items()
    body = act.find("CONS.DOC") if act.tag == "CONS.ACT" else act
    for name in _ordered(roots):
        root = roots[name]
        if root.tag in _ANNEXES and body is not None:
            body.append(root)
        elif root is not act and root.tag not in _PASSED_OVER:
            fail(f"part {shown(name)} is a {str(root.tag)[:40]!r}, which no reader knows; fetch the act as HTML")
    return formex.read(act, stem, fail)


def _texts(archive: Archive) -> list[str]:
    return sorted(name for name in archive.names if name.lower().endswith(".xml"))


def _ordered(roots: dict[str, _Element]) -> list[str]:
    """The names in the order of the list, those that it does not name after them: names rise with the page."""
    listed = [part.get("FILE", "") for root in roots.values() if root.tag == "DOC" for part in root.iter("REF.PHYS")]
    ranks = {name: rank for rank, name in enumerate(listed)}
    return sorted(roots, key=lambda name: (ranks.get(name.rpartition("/")[2], len(ranks)), name))


def _within(name: str, fail: Fail) -> Fail:
    return lambda problem: fail(f"part {shown(name)} {problem}")
