"""Starting costs little and does nothing: what is loaded, and what importing touches."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = (
    "numpy",
    "bm25s",
    "scipy",
    "torch",
    "transformers",
    "onnxruntime",
    "httpx",
    "requests",
    "urllib3",
    "http.client",
    "openai",
    "matplotlib",
)

LOADED = """
import json, runpy, sys
try:
    {statement}
except SystemExit as end:
    assert not end.code, end.code
finally:
    print("LOADED", json.dumps(sorted(sys.modules)))
"""

# Everything the interpreter tells its audit hooks about files, sockets and processes while the package is
# imported; who asks for environment variables is told by the frame that asks.
IMPORT_ALL = """
import importlib, json, os, pkgutil, socket, sys

seen = []

def hook(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        if (isinstance(mode, str) and set(mode) & set("wax+")) or flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            seen.append(f"writes {path}")
    elif event.startswith(("socket.", "subprocess.", "os.mkdir", "os.remove", "os.rename", "sqlite3.", "tempfile.")):
        seen.append(event)

class Refused:
    def __init__(self, *arguments, **keywords):
        raise AssertionError("a socket is made at import")

environment = type(os.environ)
get = environment.__getitem__

def spy(self, key):
    frame = sys._getframe(1)
    while frame.f_globals.get("__name__") in ("os", "collections.abc"):  # os.environ.get goes through both
        frame = frame.f_back
    if frame.f_globals.get("__name__", "").startswith("responsa"):
        seen.append(f"reads {key} of the environment")
    return get(self, key)

import responsa
environment.__getitem__ = spy
socket.socket = Refused
sys.addaudithook(hook)
names = [module.name for module in pkgutil.walk_packages(responsa.__path__, "responsa.")]
for name in names:
    importlib.import_module(name)
print("RESULT", json.dumps([names, seen]))
"""


def python(code: str) -> tuple[list[str], str]:
    """Lines on stdout and all of stderr of a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-B", "-W", "error", "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines(), done.stderr


@pytest.mark.parametrize(
    "statement",
    [
        "import responsa",
        "sys.argv = ['responsa', '--help']; runpy.run_module('responsa', run_name='__main__')",
        "sys.argv = ['responsa', 'ask', '--help']; runpy.run_module('responsa', run_name='__main__')",
        "sys.argv = ['responsa', '--version']; runpy.run_module('responsa', run_name='__main__')",
    ],
)
def test_nothing_heavy_is_loaded(statement):
    lines, errors = python(LOADED.format(statement=statement))
    loaded = set(json.loads(lines[-1].removeprefix("LOADED ")))
    assert "responsa" in loaded
    assert [name for name in HEAVY if name in loaded] == []
    assert errors == ""


def test_importing_every_module_does_nothing():
    (line,), errors = python(IMPORT_ALL)
    names, seen = json.loads(line.removeprefix("RESULT "))
    assert len(names) > 40
    assert {"responsa.engine", "responsa.cli.app", "responsa.corpus.library", "responsa.retrieval.bm25"} <= set(names)
    assert seen == []
    assert errors == ""


def test_the_watch_sees_what_it_should(tmp_path):
    # The same code with culprits in the place of the modules.
    reader = """exec("os.environ.get('A')", {'os': os, '__name__': 'responsa.x'})"""
    culprit = f"open({str(tmp_path / 'x')!r}, 'w').close()\n{reader}"
    lines, _ = python(IMPORT_ALL.replace("responsa.__path__", "[]").replace("print(", f"{culprit}\nprint("))
    _, seen = json.loads(lines[-1].removeprefix("RESULT "))
    assert seen == [f"writes {tmp_path / 'x'}", "reads A of the environment"]
