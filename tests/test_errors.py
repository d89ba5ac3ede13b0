"""The error classes are the tree that the module draws."""

from __future__ import annotations

import inspect
import re

import pytest

from responsa import errors
from responsa.errors import MissingDependency, suggestion


def drawn() -> dict[str, str]:
    """Class to base, read from the tree in the docstring."""
    parents: dict[str, str] = {}
    above: list[tuple[int, str]] = []
    for line in errors.__doc__.splitlines():
        match = re.match(r"    ([│├└─ ]*)([A-Z]\w+)(?: |$)", line)
        if match:
            depth = len(match[1]) // 4
            above = [entry for entry in above if entry[0] < depth]
            parents[match[2]] = above[-1][1] if above else "Exception"
            above.append((depth, match[2]))
    return parents


def test_the_tree_drawn_is_the_tree_there_is():
    classes = {
        name: value.__bases__[0].__name__
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, Exception)
    }
    assert drawn() == classes
    assert len(classes) >= 11


@pytest.mark.parametrize(
    ("given", "known", "expected"),
    [
        ("bm52", ["bm25", "dense"], "; did you mean 'bm25'?"),
        ("xyz", ["dense", "bm25"], "; known: bm25, dense"),
        ("liq", ["GEN", "LIQ"], "; did you mean 'LIQ'?"),
        ("xyz", [], ""),
        ("", ["bm25"], "; known: bm25"),
    ],
)
def test_suggestion(given, known, expected):
    assert suggestion(given, known) == expected


def test_missing_dependency_says_what_to_install():
    error = MissingDependency("scoring runs", "eval")
    assert str(error) == "scoring runs needs an optional library; install it with: pip install 'responsa[eval]'"
