"""Every name that the commands on the library print as JSON is in docs/json.md, in the row of its command or thing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from helpers import add, cli, write_rulebook

PAGE = Path(__file__).parent.parent / "docs" / "json.md"
BY_MEASURE = ("means", "differences", "published", "questions", "decimals", "scored_by", "versions")
CRITERIA = ("a criterion",)
RESULTS = ("results of a table", "a row of them")
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
    """The names of objects in a value; not those that are data: documents, reasons, who, measures, appendices."""
    if isinstance(value, list):
        return {name for each in value for name in names(each)}
    if not isinstance(value, dict):
        return set()
    inner = {key: each for key, each in value.items() if key not in ("by_who", "reasons", *BY_MEASURE)}
    for key in {"dnsh", "appendices"} & {*inner}:
        inner[key] = [*inner[key].values()]
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


@pytest.fixture(scope="module")
def asked(folder):
    """Questions with gold, and two runs of them."""
    path = folder.parent / "questions.jsonl"
    lines = [
        {"id": "a", "question": "Who must report?", "passages": ["R/1.2"]},
        {"id": "b", "question": "What is meant by the office?", "passages": ["R/1.1"]},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    for name in ("one.run", "two.run"):
        (folder.parent / name).write_text(f"a Q0 R/1.2 1 1.5 {name}\n", "utf-8")
    return path


def test_every_command_that_prints_json_has_a_row():
    sections = re.split(r"^## responsa ", (PAGE.parent / "cli.md").read_text("utf-8"), flags=re.MULTILINE)[1:]
    commands = {each.partition("\n")[0] for each in sections if "`--json`" in each}
    first = "\n".join(line.split(" | ")[0] for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `"))
    named = {name for name in commands if f"`{name}" in first or f"`{name.removeprefix('train ')}`" in first}
    elsewhere = {"assess", "score answers", "score judged"}  # pages that the last line of json.md names
    assert commands - named == elsewhere


OTHERS = [
    ("tune", ("tune", "hybrid", "--gold", "ASKED", "--measure", "recall@1", "--steps", "2"), ()),
    ("score run", ("score", "run", "one.run", "two.run", "--gold", "ASKED"), ("a mean of score run", "a score of a question")),
    ("experiment run, experiment table", ("experiment", "run", "bm25", "--questions", "ASKED", "--out", "out"), RESULTS),
    ("experiment check", ("experiment", "check", "rirag-4"), ()),
    ("taxonomy list", ("taxonomy", "list", "--year", "2023"), ()),
    ("taxonomy show", ("taxonomy", "show", "CCM 7.7"), ("taxonomy list", *CRITERIA)),
]  # fmt: skip


@pytest.mark.parametrize(("command", "arguments", "things"), OTHERS, ids=[name for name, *_ in OTHERS])
def test_every_name_of_other_commands_is_documented(folder, asked, command, arguments, things):
    named = {"ASKED": str(asked), "out": str(folder.parent / "out")}
    named |= {name: str(folder.parent / name) for name in ("one.run", "two.run")}
    done = cli(folder, *(named.get(each, each) for each in arguments), "--json")
    assert done.returncode == 0, done.stderr
    rows = documented()
    found = names(json.loads(done.stdout))
    assert rows[command] <= found
    assert found <= rows[command].union(*(rows[thing] for thing in things))
