"""Our ``reference`` protocol against the published script, on models made for it, and what the benchmark builds on."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from benchmarks import repass, repass_models

PUBLISHED = os.environ.get("RESPONSA_PUBLISHED")


@pytest.mark.slow
@pytest.mark.skipif(
    not PUBLISHED, reason="runs the published script: set RESPONSA_PUBLISHED to a copy of RegNLP/RePASs"
)
def test_fifty_real_answers_are_scored_as_the_published_script_does(data, tmp_path):
    for name in ("torch", "sentence_transformers"):
        if not importlib.util.find_spec(name):
            pytest.skip("responsa[hub] is not installed")
    if not (data / "obliqa" / "generated_answers").is_dir():
        pytest.skip(f"no generated answers in {data}")
    rows = repass_models.answers(50, 4)
    assert len(rows) == 50
    (tmp_path / "answers.json").write_text(json.dumps(rows), encoding="utf-8")
    repass_models.make(tmp_path, "tiny", rows)
    commands, _ = repass._commands(repass.Options(Path(PUBLISHED)), tmp_path)
    for name in ("ours", "published"):
        repass._run(tmp_path, name, commands[name])
    found = repass._parity(tmp_path)
    assert found.met, found.measured


def test_about_half_of_the_obligations_are_lifted_over_the_threshold():
    generator = np.random.default_rng(0)
    sizes = [1, 2, 3] * 20
    logits = generator.normal(size=(sum(sizes), 3)) * 2
    logits[:, 2] += repass_models._lift(logits, sizes)
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    covered = [part.max() > 0.7 for part in np.split(chances[:, 2], np.cumsum(sizes)[:-1])]
    assert 20 <= sum(covered) <= 40


def test_a_threshold_lies_in_the_widest_gap_of_the_middle_third():
    assert repass_models._between([0, 1, 2, 3, 3.5, 5.5, 6, 90, 99]) == 4.5
    assert repass_models._between([7, 1]) == 4


def test_the_script_is_taken_from_a_checkout_or_its_git_folder(tmp_path):
    checkout = tmp_path / "checkout"
    (checkout / "scripts").mkdir(parents=True)
    (checkout / repass.SCRIPT).write_text("print('published')\n")
    assert repass._script(checkout, tmp_path) == checkout / repass.SCRIPT
    name = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for command in (["init", "-q"], ["add", "."], [*name, "commit", "-q", "-m", "all"]):
        subprocess.run(["git", *command], cwd=checkout, check=True)
    found = repass._script(checkout / ".git", tmp_path)
    assert found == tmp_path / "published.py"
    assert found.read_text() == "print('published')\n"


@pytest.mark.parametrize("given", [None, "nothing"])
def test_without_the_script_its_row_says_why(given, tmp_path):
    commands, left_out = repass._commands(repass.Options(given and tmp_path / given), tmp_path)
    assert "published" not in commands
    assert left_out["published"].startswith("not run here: ")


def scores(folder, name, rows):
    lines = [",".join(repass.COLUMNS), *(f"q{place},{','.join(map(str, row))}" for place, row in enumerate(rows))]
    (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("theirs", "ours", "met"),
    [
        ([(0.6, 0.1, 0.5, 0.66667), (0.1, 0.9, 0.3, 0.16667)], [(0.6, 0.1, 0.5, 0.66667), (0.10005, 0.9, 0.3, 0.1667)], True),
        ([(0.6, 0.1, 0.5, 0.66667), (0.1, 0.9, 0.3, 0.16667)], [(0.6, 0.1, 0.5, 0.66667), (0.1, 0.9, 0.4, 0.2)], False),
        ([(0.6, 0.9, 0.0, 0.2)] * 2, [(0.6, 0.9, 0.0, 0.2)] * 2, False),  # nothing is ever covered
        ([(0.4, 0.9, 0.5, 0.33333)] * 2, [(0.4, 0.9, 0.5, 0.33333)] * 2, False),  # nothing is ever entailed
    ],
)  # fmt: skip
def test_equal_scores_prove_something_only_where_they_vary(theirs, ours, met, tmp_path):
    scores(tmp_path, "published", theirs)
    scores(tmp_path, "ours", ours)
    assert repass._parity(tmp_path).met is met
