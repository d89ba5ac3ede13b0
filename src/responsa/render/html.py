"""Templates to HTML pages that need nothing beside them: no script, no font, no address.

What is put in is not trusted. The template escapes it, and the page's own policy allows no script and no style but the
one it has, by its digest.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

# What HTML may not hold, what UTF-8 cannot, and marks that turn the direction of what stands around them.
_UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def render(name: str, *, pictures: bool = False, **values: object) -> str:
    """The page ``name``.html with ``name``.css as its style. Functions among the values are called by the template.

    ``pictures`` allows those that the page holds itself, as ``data:``.
    """
    style = (resources.files("responsa.render") / f"{name}.css").read_text(encoding="utf-8").strip()
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    images = " img-src data:;" if pictures else ""
    policy = f"default-src 'none'; style-src 'sha256-{digest}';{images} base-uri 'none'; form-action 'none'"
    return _environment().get_template(f"{name}.html").render(style=style, policy=policy, **values)


def shown(text: str) -> str:
    """The text without what a page may not hold; each such character is replaced."""
    return _UNSAFE.sub("\ufffd", text)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("responsa", "render"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: shown(value) if type(value) is str else value,
    )
    environment.filters["chance"] = lambda value: f"{value:.2f}"
    environment.filters["points"] = lambda value: f"{value:.1f}"
    environment.filters["score"] = lambda value: "none" if value is None else f"{value:.3f}"
    return environment
