"""Who may import whom, and how long modules and functions may be.

Imports point down only. A unit (a module or sub-package of ``responsa``) imports units of the layers below its
own and nothing beside it; inside a sub-package modules import one another as they like.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import responsa

LAYERS = (
    {"types", "errors", "text", "sample"},
    {"config", "analysis", "storage", "questions", "cache", "pacing", "quantities", "testing"},
    {"corpus", "models"},
    {"obligations", "entailment"},
    {"retrieval", "evaluate", "register", "checkers"},
    {"answer"},
    {"recipe", "learn"},
    {"engine", "tuning", "taxonomy"},
    {"views", "experiment", "render"},
    {"cli"},
    {"__main__"},
)
LEVEL = {unit: level for level, units in enumerate(LAYERS) for unit in units}
LONGEST_MODULE, LONGEST_FUNCTION = 400, 60  # lines

ROOT = Path(responsa.__file__).parent
MODULES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def unit_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(source: str, package: str = "") -> Iterator[str]:
    """The units of responsa that a module imports anywhere, for typing alone too; "" for responsa itself.

    ``package`` is the module's package below ``responsa``, which relative imports start from.
    """
    here = ["responsa", *filter(None, package.split("."))]
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(here[: len(here) - node.level + 1]) if node.level else ""
            module = ".".join(filter(None, (base, node.module)))
            names = [f"responsa.{alias.name}" for alias in node.names] if module == "responsa" else [module]
        for name in names:
            parts = name.split(".")
            if parts[0] == "responsa":
                yield parts[1] if len(parts) > 1 else ""


def offences(unit: str, source: str, package: str = "") -> list[str]:
    """What a module of ``unit`` imports against the layers."""
    if unit not in LEVEL:
        return [f"responsa.{unit} is in no layer: add it to LAYERS in {Path(__file__).name}"]
    found = []
    for other in imported(source, package):
        if other == unit:
            continue
        if other not in LEVEL:
            found.append(f"{unit} -> {other!r}, which is in no layer: add it to LAYERS in {Path(__file__).name}")
        elif LEVEL[other] >= LEVEL[unit]:
            found.append(f"{unit} (layer {LEVEL[unit]}) -> {other} (layer {LEVEL[other]})")
    return found


def too_long(source: str) -> list[str]:
    """Functions above the limit, and the module."""
    lines = len(source.splitlines())
    found = [f"{lines} lines"] if lines > LONGEST_MODULE else []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > LONGEST_FUNCTION:
                found.append(f"{node.name}: {length} lines")
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path):
    package = ".".join(path.relative_to(ROOT).parts[:-1])
    assert offences(unit_of(path), path.read_text(encoding="utf-8"), package) == []


@pytest.mark.parametrize("path", [ROOT / "__init__.py", *MODULES], ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_and_functions_are_short(path):
    assert too_long(path.read_text(encoding="utf-8")) == []


def test_the_package_itself_imports_nothing():
    assert list(imported((ROOT / "__init__.py").read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    ("unit", "source", "expected"),
    [
        ("evaluate", "from responsa.retrieval.bm25 import BM25", ["evaluate (layer 4) -> retrieval (layer 4)"]),
        ("evaluate", "def f():\n    import responsa.retrieval", ["evaluate (layer 4) -> retrieval (layer 4)"]),
        ("evaluate", "from responsa import retrieval, text", ["evaluate (layer 4) -> retrieval (layer 4)"]),
        ("evaluate", "from ..retrieval import bm25", ["evaluate (layer 4) -> retrieval (layer 4)"]),
        ("evaluate", "from .. import retrieval", ["evaluate (layer 4) -> retrieval (layer 4)"]),
        ("types", "from responsa.cli import main", ["types (layer 0) -> cli (layer 9)"]),
        ("types", "if TYPE_CHECKING:\n    from responsa.errors import X", ["types (layer 0) -> errors (layer 0)"]),
        ("answer", "from responsa.answer.select import X\nfrom .abstain import Y\nimport numpy", []),
        ("answer", "from responsa.text import words\nfrom responsa.corpus.view import Corpus", []),
        ("answer", "from responsa.retrieval.vectors import Dense", []),
        ("retrieval", "import responsa.answer.select", ["retrieval (layer 4) -> answer (layer 5)"]),
        ("answer", "import responsa.novel", ["answer -> 'novel', which is in no layer: add it to LAYERS in test_layers.py"]),
        ("novel", "", ["responsa.novel is in no layer: add it to LAYERS in test_layers.py"]),
        ("engine", "import responsa", ["engine -> '', which is in no layer: add it to LAYERS in test_layers.py"]),
    ],
)  # fmt: skip
def test_the_checker_sees_what_is_forbidden(unit, source, expected):
    package = unit if unit in ("answer", "evaluate") else ""
    assert offences(unit, source, package) == expected


def test_the_checker_sees_what_is_too_long():
    body = "    pass\n"
    assert too_long("def f():\n" + body * 59) == []
    assert too_long("class A:\n  async def f():\n" + body * 60) == ["f: 61 lines"]
    assert too_long("x = 1\n" * 400) == []
    assert too_long("x = 1\n" * 401) == ["401 lines"]
