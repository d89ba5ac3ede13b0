"""The project as a whole: version and changelog agree, nothing was left to be filled in."""

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def test_one_version():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    newest = re.search(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert newest
    assert declared == newest[1] == version("responsa")


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md")))])
def test_pages_are_finished_and_their_links_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert not re.search(r"@[A-Z]+@|TODO|FIXME|Provisional|_MISSING_TYPE", text)
    for target in re.findall(r"\]\((?!https?://)([^)#]+)", text):
        assert (ROOT / page).parent.joinpath(target).exists(), target


def test_constraints_pin_every_dependency_without_hosts():
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert not re.search(r"https?://|@ ", pins)
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in pins.splitlines() if "==" in line}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [
        *project["dependencies"],
        *(each for extra in project["optional-dependencies"].values() for each in extra),
    ]
    names = {re.split(r"[\[><=]", each)[0].lower().replace("_", "-") for each in wanted} - {"responsa"}
    assert names <= pinned
