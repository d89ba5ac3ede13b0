"""The recipes of published generators: that they load, what they set, and what they need that is not here."""

from __future__ import annotations

import pytest

from responsa import recipe
from responsa.answer.generators.concatenated import Loc, Noc
from responsa.answer.generators.inquiry import FewShot, MultiStep, ZeroShot
from responsa.answer.generators.passages import Obligations, Passages
from responsa.answer.generators.vrr import Vrr
from responsa.answer.select import ThresholdDrop
from responsa.errors import InputError
from responsa.experiment.needs import Need, answer_needs, identity, missing

KINDS = {
    "rirag-bm25-gpt4": Passages,
    "rirag-bm25-fusion-gpt4": Passages,
    "aueb-passages": Passages,
    "aueb-obligations": Obligations,
    "aueb-obligations-prompt": Obligations,
    "aueb-noc": Noc,
    "aueb-loc": Loc,
    "aueb-vrr-baseline": Vrr,
    "aueb-vrr-verify": Vrr,
    "aueb-vrr": Vrr,
    "crr-zero-shot": ZeroShot,
    "crr-zero-shot-question": ZeroShot,
    "crr-few-shot": FewShot,
    "crr-multi-step-5": MultiStep,
    "crr-multi-step-10": MultiStep,
    "crr-multi-step-20": MultiStep,
    "crr-multi-step-listwise": MultiStep,
    "crr-multi-step-filter": MultiStep,
}


def test_these_are_all_that_answer():
    papers = recipe.shipped("recipes/papers")
    assert {name for name in papers if "answer" in recipe.read(name)} == set(KINDS)


@pytest.mark.parametrize("name", KINDS)
def test_they_load_and_answer_every_question(name):
    loaded = recipe.load(name)
    assert type(loaded.answer) is KINDS[name]
    assert loaded.description
    assert loaded.abstain.least == 0


@pytest.mark.parametrize(
    ("name", "retrieval"),
    [
        ("rirag-bm25-gpt4", "rirag-bm25"),
        ("rirag-bm25-fusion-gpt4", "rirag-bm25-fusion"),
        ("aueb-noc", "aueb-rerank"),
        ("aueb-vrr", "aueb-rerank"),
        ("crr-multi-step-5", "crr-ranker"),
    ],
)
def test_they_answer_from_what_the_paper_retrieves(name, retrieval):
    assert recipe.load(name).retrieve == recipe.load(retrieval).retrieve


def test_the_settings_of_the_papers():
    def answer(name):
        return recipe.load(name).answer

    assert recipe.load("rirag-bm25-gpt4").select == ThresholdDrop(0.7, 0.2, 10)
    assert recipe.load("aueb-vrr").select == ThresholdDrop(0.9, 0.1, 10, "raw")
    assert [answer(f"crr-multi-step-{top}").top for top in (5, 10, 20)] == [5, 10, 20]
    assert [(answer(name).candidates, answer(name).rounds) for name in ("aueb-vrr-baseline", "aueb-vrr-verify", "aueb-vrr")] == [(1, 0), (5, 0), (5, 3)]  # fmt: skip
    assert answer("aueb-loc").tries == 3
    assert {answer(name).behaviour for name in ("aueb-loc", "aueb-vrr", "aueb-vrr-verify")} == {"published"}
    assert [answer(name).tailored for name in ("aueb-obligations", "aueb-obligations-prompt")] == [False, True]
    assert [answer(name).background for name in ("crr-zero-shot", "crr-zero-shot-question")] == [True, False]
    assert (answer("crr-few-shot").shots, answer("crr-multi-step-filter").example_filter) == (5, True)
    assert len(recipe.load("crr-multi-step-listwise").retrieve.rerank) == 2


# --- what is not here


def test_needs_of_generators():
    found = answer_needs(recipe.load("aueb-loc").answer)
    assert found == [
        Need("Loc", "chat", "openai:gpt-4o-mini"),
        Need("Loc", "obligations", "onnx:models/legal-bert-obligations"),
        Need("Loc", "verifier_nli", "hf:cross-encoder/nli-deberta-v3-xsmall"),
        Need("Loc", "verifier_coverage", "hf:microsoft/deberta-large-mnli"),
        Need("Loc", "verifier_obligations", "onnx:models/legal-bert-obligations"),
    ]
    assert answer_needs(Vrr()) == [Need("Vrr", "chat", ""), Need("Vrr", "verifier_nli", "embedded:nli")]
    assert answer_needs(FewShot(examples="e.jsonl")) == [Need("FewShot", "chat", ""), Need("FewShot", "examples", "e.jsonl")]  # fmt: skip
    assert answer_needs(Noc()) == []
    assert answer_needs(recipe.load("bm25").answer) == []


def test_a_language_model_that_is_not_here(monkeypatch):
    for name in ("RESPONSA_CHAT_MODEL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert "RESPONSA_CHAT_MODEL" in missing(Need("Passages", "chat", ""))
    assert "OPENAI_API_KEY" in missing(Need("Passages", "chat", "openai:gpt-4o"))
    assert missing(Need("Passages", "chat", "http://127.0.0.1:1/v1#model")) == ""
    with pytest.raises(InputError, match="scheme"):
        missing(Need("Passages", "chat", "gpt:4"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody")
    assert missing(Need("Passages", "chat", "openai:gpt-4o")) == ""
    assert "gpt-4o" in identity(Need("Passages", "chat", "openai:gpt-4o"))


def test_models_and_files_that_are_not_here(tmp_path):
    assert missing(Need("Loc", "obligations", "onnx:models/nowhere")) == "there is no model folder 'models/nowhere'"
    assert missing(Need("Loc", "verifier_nli", "embedded:nowhere")).startswith("no embedded model 'nowhere'")
    assert missing(Need("FewShot", "examples", "nowhere.jsonl")) == "there is no file 'nowhere.jsonl'"
    (tmp_path / "e.jsonl").write_text("{}")
    assert missing(Need("FewShot", "examples", str(tmp_path / "e.jsonl"))) == ""
    assert identity(Need("FewShot", "examples", str(tmp_path / "e.jsonl"))).startswith("e.jsonl@")
