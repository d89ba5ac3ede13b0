"""Every name that the commands on the library print as JSON is in docs/json.md, in the row of its command or thing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from helpers import add, cli, write_rulebook

PAGE = Path(__file__).parent.parent / "docs" / "json.md"
THINGS = ("a version", "a passage", "a reference", "words of a change", "an obligation", "a part", "a quantity")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    at = tmp_path_factory.mktemp("json")
    texts = ["“Desk” means the office.", "A Firm must report to the Desk within 5 days, see 1.1 and 9.9."]
    for day, said in (("2020-01-01", texts), ("2024-01-01", [texts[0], texts[1].replace("5", "9")])):
        path = write_rulebook(at / f"{day}.md", said, valid_from=day)
        path.write_text(path.read_text("utf-8").replace("---\n", "---\ndocument: R\n", 1), "utf-8")
        add(at / "library", path)
    return at / "library"


def documented():
    rows = [
        line.strip("| \n").split(" | ", 1) for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")
    ]
    return {name.replace("`", ""): set(re.findall(r"`([a-z_]+)`", names)) for name, names in rows}


def names(value):
    """The names of objects in a value; not those that are data: documents, reasons, who."""
    if isinstance(value, list):
        return {name for each in value for name in names(each)}
    if not isinstance(value, dict):
        return set()
    inner = {key: each for key, each in value.items() if key not in ("by_who", "reasons")}
    if "resolved" in inner:
        del inner["cites"]
    return {*value} | {name for each in inner.values() for name in names(each)}


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("documents", ("documents",)),
        ("show", ("show", "R")),
        ("passage", ("passage", "R/1.1")),
        ("verify", ("verify",)),
        ("references ID of a provision", ("references", "R/1.2")),
        ("references DOC", ("references", "R")),
        ("define", ("define", "Desk")),
        ("diff", ("diff", "R", "2020-01-01", "2024-01-01")),
        ("obligations", ("obligations", "R")),
        ("search", ("search", "report", "--recipe", "bm25")),
        ("answers", ("answers",)),
    ],
)
def test_every_name_is_documented(folder, command, arguments):
    done = cli(folder, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    rows = documented()
    things = set().union(*(rows[thing] for thing in THINGS), rows["a citation of an obligation"])
    found = names(json.loads(done.stdout))
    assert found
    assert found <= rows[command] | things
    assert rows[command] - things <= found | {"checks"} or command in ("answers", "references ID of a provision")
