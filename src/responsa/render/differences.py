"""Two versions of a document as one HTML page that needs nothing beside it: no script, no font, no address.

The texts are not trusted: see `responsa.render.html`.
"""

from __future__ import annotations

from itertools import groupby

from responsa.corpus.diff import Difference, head
from responsa.render.html import render
from responsa.types import Passage, Version


def page(found: Difference) -> str:
    """The page: counts, links to the articles with changes, and every change with its words marked."""
    grouped = groupby(found.changes, key=lambda change: head(change.passage.number))
    groups = [(name, list(changes)) for name, changes in grouped]
    return render("differences", found=found, groups=groups, body=body, force=force)


def body(passage: Passage) -> str:
    """Title and text."""
    return "\n".join(filter(None, (passage.title, passage.text)))


def force(version: Version) -> str:
    """When a version is in force, in words."""
    span = [f"{word} {day}" for word, day in (("from", version.valid_from), ("to", version.valid_to)) if day]
    return f"in force {' '.join(span)}" if span else "in force without dates"
