"""Search by meaning with the shipped models: what the first question does, and that it finds what words do not."""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks import pra

from responsa import questions, recipe, sample
from responsa.engine import Engine, encoded, index, prepare
from responsa.evaluate import trec
from responsa.evaluate.ranking import Measure, compare_runs, score_run
from responsa.models.load import load_encoder, load_reranker

RECIPES = [name for name in recipe.shipped() if name.startswith("hybrid")]
R10, MAP10 = Measure("recall", 10), Measure("MAP", 10)


@pytest.fixture(scope="module")
def library(sample_library):
    """The sample, encoded."""
    index(recipe.load("hybrid"), sample_library.corpus())
    return sample_library


def test_the_encoder_knows_a_paraphrase():
    asked, right, wrong = load_encoder("embedded:encoder").encode(
        [
            "How fast must suspicious payments be reported?",
            "A person who suspects money laundering shall notify the authority within one day.",
            "The Board shall meet at least four times in each financial year.",
        ],
        "passage",
    )
    assert asked @ right > asked @ wrong + 0.2


@pytest.mark.parametrize("name", RECIPES)
def test_the_sample_is_found_better_than_by_words(library, name):
    """Half of its questions are put in other words than the rules; the gain is .064 and .047."""
    file = Path(str(sample.rulebook())).parent / "questions.jsonl"
    queries, judgements = questions.read(file), trec.read_gold(file)
    found, words = (
        score_run(Engine(library, recipe.load(each)).run(queries), judgements, (R10, MAP10)) for each in (name, "bm25")
    )
    for measure in (R10, MAP10):
        assert statistics.fmean(found.values(measure)) > statistics.fmean(words.values(measure)) + 0.03


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name != "hybrid" else []) for name in RECIPES]
)
def test_rules_of_another_regulator_are_found_better_than_by_words(data, name):
    """Nothing shipped has learned from them; measured: `scripts/bench retrieval`."""
    assert data.is_dir()
    words, found = pra.measure(["bm25", name], pra.rules(pra.pages()))
    for measure in (R10, MAP10):
        assert compare_runs(found, words, measure).difference.low > 0


def test_documents_are_added_without_a_model_and_encoded_when_asked(sample_library, tmp_path):
    command = [sys.executable, "-m", "responsa", "--library", str(tmp_path / "library")]

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command, *arguments], capture_output=True, text=True, check=True)

    source = tmp_path / "rules.md"
    source.write_text("# Rules\n\n1.1 A firm must keep its records for six years.\n\n1.2 A firm must have a board.\n")
    run("add", str(source))
    assert not list((tmp_path / "library" / "artefacts").glob("vectors-*"))
    first, second = (run("search", "How long are files retained?", "--recipe", "hybrid") for _ in range(2))
    assert "encoding the passages for the recipe 'hybrid'" in first.stderr
    assert second.stderr == ""
    assert first.stdout == second.stdout
    assert "1.1" in first.stdout.splitlines()[0]


def test_what_adding_builds_leaves_the_models_out(library_of):
    library = library_of({"a.jsonl": '{"id": "a", "text": "A firm must have a board."}\n'})
    hybrid = recipe.load("hybrid")
    prepare(hybrid)(library.corpus())
    assert recipe.load("bm25").retrieve.ready(library.corpus())
    assert not encoded(hybrid, library.corpus())
    index(hybrid, library.corpus())
    assert encoded(hybrid, library.corpus())
    assert hybrid.retrieve.ready(library.corpus())


@pytest.mark.skipif("hybrid-rerank" not in RECIPES, reason="no reranker ships")
def test_the_reranker_tells_an_answer_from_a_neighbour():
    scores = load_reranker("embedded:reranker").score(
        [
            ("How long must client files be kept?", "A Firm must retain its client records for at least six years."),
            ("How long must client files be kept?", "A Firm must appoint an auditor within six months."),
        ]
    )
    assert scores[0, 0] > scores[1, 0]
