"""Two versions of a document as one HTML page that needs nothing beside it: no script, no font, no address.

The texts are not trusted: the template escapes them, as in `responsa.render.explanations`.
"""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from importlib import resources
from itertools import groupby
from typing import TYPE_CHECKING

from responsa.corpus.diff import Difference, head
from responsa.render.explanations import shown
from responsa.types import Passage, Version

if TYPE_CHECKING:
    from jinja2 import Template


def page(found: Difference) -> str:
    """The page: counts, links to the articles with changes, and every change with its words marked."""
    style = (resources.files("responsa.render") / "differences.css").read_text(encoding="utf-8").strip()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    grouped = groupby(found.changes, key=lambda change: head(change.passage.number))
    return _template().render(
        found=found,
        groups=[(name, list(changes)) for name, changes in grouped],
        style=style,
        policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
    )


def body(passage: Passage) -> str:
    """Title and text."""
    return "\n".join(filter(None, (passage.title, passage.text)))


def force(version: Version) -> str:
    """When a version is in force, in words."""
    span = [f"{word} {day}" for word, day in (("from", version.valid_from), ("to", version.valid_to)) if day]
    return f"in force {' '.join(span)}" if span else "in force without dates"


@lru_cache(maxsize=1)
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("responsa", "render"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: shown(value) if type(value) is str else value,
    )
    environment.globals.update(body=body, force=force)
    return environment.get_template("differences.html")
