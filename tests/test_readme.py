"""What the README shows of the sample is what comes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from responsa import engine, questions, recipe, sample
from responsa.cli.app import app
from responsa.config import DEFAULT_RECIPE
from responsa.corpus.library import Library
from responsa.models.embedded import shipped

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")
NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

pytestmark = pytest.mark.skipif(
    not {"encoder", "nli"} <= set(shipped()), reason="this copy ships no encoder or no model of entailment"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    at = tmp_path_factory.mktemp("readme")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RESPONSA_LIBRARY", str(at / "library"))
        patch.setenv("XDG_CACHE_HOME", str(at / "cache"))
        patch.delenv("RESPONSA_CHAT_MODEL", raising=False)
        yield at


def shown(command):
    """The lines below a command of the README, as one text."""
    block = README.split(f"$ responsa {command}\n", 1)[1]
    return " ".join(re.split(r"\n```|\n\n\$ ", block, maxsplit=1)[0].split())


def test_the_first_answer(folder):
    added = CliRunner().invoke(app, ["add", "--sample"])
    assert " ".join(added.output.split()) == shown("add --sample")
    (question,) = re.findall(r'^\$ responsa ask "(.*)"$', README, re.MULTILINE)
    asked = CliRunner().invoke(app, ["ask", question])
    assert asked.exit_code == 0
    assert " ".join(asked.output.split()) == shown(f'ask "{question}"')


def test_how_many_questions_of_the_sample_are_answered(folder):
    if not (folder / "library").exists():
        CliRunner().invoke(app, ["add", "--sample"])
    with Library.open(folder / "library") as library:
        system = engine.Engine(library, recipe.load(DEFAULT_RECIPE))
        declined = [
            sum(answer.abstained for answer in system.ask(questions.read(path)))
            for path in (sample.questions(), sample.unanswerable())
        ]
    told = " ".join(README.split())
    assert f"The default answers {40 - declined[0]} of them and declines {declined[0]}," in told
    assert f"(`unanswerable.jsonl` beside it) it declines {NUMBERS[declined[1]]}." in told
