"""From files and a library to a model, by the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from learning import TOPICS, tiny_base, write_world
from responsa.cli import training
from responsa.corpus import library
from responsa.errors import InputError
from responsa.models.onnx import read_settings

pytest.importorskip("torch", reason="training needs torch: pip install 'responsa[train]'")
pytest.importorskip("transformers", reason="training needs transformers: pip install 'responsa[train]'")
pytest.importorskip("onnx", reason="export needs onnx: pip install 'responsa[train]'")


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    passages, _ = write_world(folder)
    library.add(folder / "library", [passages], lambda _: None)
    tiny_base(folder / "base")
    return folder


@pytest.fixture
def run(world, monkeypatch):
    monkeypatch.setattr("sys.argv", ["responsa", "train", "..."])
    app = typer.Typer()
    app.add_typer(training.train, name="train")

    opened = {}

    @app.callback()
    def shared(context: typer.Context):
        context.obj = opened["library"]

    def command(kind, *arguments, folder=None):
        opened["library"] = folder or world / "library"
        given = ["train", kind, *map(str, arguments), "--base", str(world / "base"), "--json"]
        return CliRunner().invoke(app, given, catch_exceptions=False)

    return command


def test_an_encoder_is_trained_continued_and_exported(world, run, tmp_path):
    asked = ["encoder", world / "questions.jsonl", "--out", tmp_path / "model", "--epochs", 2, "--batch", 8]
    asked += ["--rate", 0.001, "--validation", 6, "--ranks", "1-9", "--negatives", 2, "--terms", "mine"]
    with pytest.raises(InputError, match="reads 3 to 64 tokens, not 256"):
        run(*asked)
    assert list(tmp_path.iterdir()) == []  # told before the training, not after it
    told = json.loads(run(*asked, "--length", 24).stdout)
    assert (told["steps"], told["folder"]) == (2 * 4, str(tmp_path / "model"))
    assert read_settings(tmp_path / "model").name == "model"
    card = (tmp_path / "model" / "CARD.md").read_text()
    assert "responsa train ..." in card
    assert "| terms of the data | mine |" in card
    again = json.loads(run(*asked, "--length", 24).stdout)
    assert again == told  # the run was complete: nothing was learned anew


def test_an_encoder_goes_on_from_the_mean_of_a_run_and_its_model(world, run, tmp_path):
    import torch

    asked = ["encoder", world / "questions.jsonl", "--batch", 8, "--length", 24, "--validation", 6, "--ranks", "1-9"]
    one = json.loads(run(*asked, "--out", tmp_path / "one", "--epochs", 2, "--last").stdout)
    assert one["best_step"] == one["steps"] == 8
    assert "- last: True" in (tmp_path / "one" / "CARD.md").read_text()
    starts = ["--start", tmp_path / "one.training", "--start", tmp_path / "one"]
    told = json.loads(run(*asked, "--out", tmp_path / "mean", "--epochs", 0, *starts).stdout)
    assert told["metrics"]
    left, mean = (torch.load(tmp_path / f"{name}.training" / "best.pt", weights_only=True) for name in ("one", "mean"))
    assert set(left) == set(mean)
    name = "encoder.layer.0.output.dense.weight"
    assert (left[name] - mean[name]).abs().max() <= 0.01 * left[name].abs().max()


def test_a_reranker_is_trained_by_the_command(world, run, tmp_path):
    asked = ["reranker", world / "questions.jsonl", "--out", tmp_path / "m", "--epochs", 1, "--validation", 6]
    told = json.loads(run(*asked, "--length", 32, "--ranks", "1-9", "--negatives", 2).stdout)
    assert told["bytes"] < 1_000_000
    assert set(told["metrics"]) == {"MAP@10", "recall@10", "F1", "best F1"}


def test_a_run_by_functions(world, tmp_path, monkeypatch):
    from responsa.corpus.library import Library
    from responsa.learn import job
    from responsa.learn.base import base
    from responsa.learn.encoder import EncoderSettings
    from responsa.learn.mine import Mining
    from responsa.learn.reranker import RerankerSettings
    from responsa.learn.train import Schedule
    from responsa.retrieval.bm25 import BM25

    sources = job.Sources((world / "questions.jsonl",), validation=6)
    with Library.open(world / "library") as opened:
        gathered = job.gather(sources, Mining(1, 9, 3), opened.corpus(), BM25(), depth=10)
    material = gathered.material
    assert (len(material.examples), len(material.validation)) == (TOPICS * 3 - 6, 6)
    assert gathered.mining.gold + gathered.mining.mined > 0
    start, schedule = base(str(world / "base")), Schedule(epochs=2, batch=8, learning_rate=1e-3)
    target = job.Target(tmp_path / "reranker", "toy", ("questions.jsonl",), "mine", "again")
    small = RerankerSettings(negatives=2, max_length=32, depth=10)
    trained = job.train_reranker(start, material, small, schedule, target)
    assert trained.exported.size < 1_000_000
    assert trained.metrics["MAP@10"] > 0
    assert read_settings(target.folder).labels == ("relevant",)
    again = job.train_reranker(start, material, small, schedule, target)  # nothing is left to learn
    assert again.outcome == trained.outcome
    target = job.Target(tmp_path / "encoder", "toy", ("questions.jsonl",), "mine")
    settings = EncoderSettings(query_length=16, passage_length=24, negatives=2, distil=0.5)
    made = job.train_encoder(start, material, settings, schedule, target, f"onnx:{tmp_path / 'reranker'}")
    assert read_settings(made.exported.folder).max_length == 24
    assert "distil: 0.5" in (tmp_path / "encoder" / "CARD.md").read_text()
    with pytest.raises(InputError, match="other data or settings"):
        job.train_encoder(start, material, EncoderSettings(query_length=16, passage_length=20), schedule, target)


def test_folds_and_passages_that_are_not_there(world, run, tmp_path):
    folds = tmp_path / "folds.json"
    folds.write_text('[{"test": ["x"], "train": []}]')
    asked = ("reranker", world / "questions.jsonl", "--out", tmp_path / "m", "--folds", folds)
    with pytest.raises(InputError, match="the first 'x'"):
        run(*asked)
    with pytest.raises(InputError, match="has folds 0 to 0, not 3"):
        run(*asked, "--fold", 3)
    (tmp_path / "q.jsonl").write_text(
        '{"question": "a?", "passages": ["nope"]}\n{"question": "b?", "passages": ["p1"]}'
    )
    with pytest.raises(InputError, match="'nope' is not in the library"):
        run("reranker", tmp_path / "q.jsonl", "--out", tmp_path / "m")


def test_gold_without_text_is_left_out(world, tmp_path):
    from responsa.corpus.library import Library
    from responsa.learn import job
    from responsa.learn.mine import Mining
    from responsa.retrieval.bm25 import BM25

    rows = [{"id": "h1", "text": ""}, *({"id": f"p{n}", "text": f"the firm must report law{n}"} for n in range(4))]
    (tmp_path / "rules.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = [{"id": f"q{n}", "question": f"what of law{n}", "passages": [f"p{n}", "h1"][: 1 + n % 2]} for n in range(4)]
    asked.append({"id": "bare", "question": "what", "passages": ["h1"]})
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in asked))
    library.add(tmp_path / "library", [tmp_path / "rules.jsonl"], lambda _: None)
    with Library.open(tmp_path / "library") as opened:
        sources = job.Sources((tmp_path / "q.jsonl",), validation=1)
        gathered = job.gather(sources, Mining(1, 3, 1), opened.corpus(), BM25(), depth=3)
    assert gathered.blank == ("bare",)
    examples = (*gathered.material.examples, *gathered.material.validation)
    assert sorted(passage for example in examples for passage in example.passages) == ["p0", "p1", "p2", "p3"]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--teacher", "onnx:x"], "belong together"),
        (["--ranks", "5"], "LOW-HIGH"),
    ],
)
def test_wrong_usage(world, run, tmp_path, options, complaint):
    result = run("encoder", world / "questions.jsonl", "--out", tmp_path / "m", *options)
    assert result.exit_code == 2
    assert complaint in result.output
    assert not Path(tmp_path / "m").exists()


def test_the_preset_learns_from_an_archive(world, run, tmp_path):
    articles = [
        {"id": f"A/{n}", "number": f"Article {n}", "text": f"the firm must report law{n}"} for n in range(1, 321)
    ]
    (tmp_path / "act.jsonl").write_text("".join(json.dumps(each) + "\n" for each in articles))
    inquiries = [
        {"question": f"when must case{n} report", "background": "", "articles": [str(n)], "answer": f"See Article {n + 9}."}
        for n in (*range(1, 9), 99)
    ]  # fmt: skip
    (tmp_path / "archive.jsonl").write_text("".join(json.dumps(each) + "\n" for each in inquiries))
    library.add(tmp_path / "library", [tmp_path / "act.jsonl"], lambda _: None)
    told = run(
        "reranker", tmp_path / "archive.jsonl", "--out", tmp_path / "m", "--preset", "crr-ranker", "--length", 32,
        "--epochs", 1, "--validation", 2, folder=tmp_path / "library",
    )  # fmt: skip
    assert told.exit_code == 0
    told_of = (
        "7 questions to learn from, 1 to choose the best state by; left out: 0 that share a passage with the test part"
    )
    assert f"{told_of}, 1 by article" in told.stderr
    assert "140 negatives mined" in told.stderr  # 20 for each question, of ranks 250 to 300
    assert 0 <= json.loads(told.stdout)["metrics"]["best F1"] <= 1


def test_an_unknown_preset(world, run, tmp_path):
    result = run("reranker", world / "questions.jsonl", "--out", tmp_path / "m", "--preset", "crr")
    assert result.exit_code == 2
    assert "known: crr-ranker" in result.output
