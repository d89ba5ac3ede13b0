"""Sentences to learn obligations from, the published split and preset, and a toy classifier."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from random import Random

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from learning import tiny_base
from responsa.cli import training
from responsa.errors import InputError
from responsa.learn.classifier import (
    LEGALBERT,
    OBLIGATION,
    ClassifierSettings,
    Sample,
    Samples,
    hold_out,
    measure,
    obligations,
    published_split,
    read_sentences,
    weighted,
)  # fmt: skip
from responsa.learn.labels import LabelledSentence
from responsa.learn.train import Schedule, fit


def sample(text: str, label: int = 0, source: str = "written", group: str = "") -> Sample:
    return Sample((text, ""), label, source, group or text)


def real(
    text: str, obligation: bool, part: str = "train", source: str = "adgm", passage: str = "p1"
) -> LabelledSentence:
    return LabelledSentence(text, obligation, source, passage, "plain", part, False, False)


def test_the_preset_is_that_of_the_published_script():
    assert LEGALBERT.settings.max_length == 128
    assert LEGALBERT.settings.select == "loss"
    assert (LEGALBERT.schedule.batch, LEGALBERT.schedule.epochs, LEGALBERT.schedule.seed) == (16, 10, 42)
    assert (LEGALBERT.schedule.learning_rate, LEGALBERT.schedule.weight_decay) == (5e-5, 0.01)
    assert (LEGALBERT.test_share, LEGALBERT.patience) == (0.2, 3)
    schedule = LEGALBERT.warmed(LEGALBERT.schedule, 1836)
    assert int(schedule.warmup * 10 * 115) == 500  # steps of 1,150
    assert LEGALBERT.warmed(LEGALBERT.schedule, 32).warmup == 0.5  # fewer steps than those
    assert LEGALBERT.warmed(replace(schedule, epochs=0), 1836) == replace(schedule, epochs=0)  # measures only


@pytest.mark.parametrize("wrong", [{"checkpoint_every": 0}, {"checkpoint_every": -1}, {"evaluate_every": -3}])
def test_steps_that_no_schedule_can_have(wrong):
    ((name, value),) = wrong.items()
    with pytest.raises(InputError, match=f"{name} {value}"):
        Schedule(**wrong)


def test_the_split_is_that_of_scikit_learn():
    """train_test_split(range(10), test_size=.25, random_state=42) keeps 8, 1 and 5 apart."""
    parts = published_split([sample(str(n)) for n in range(10)], 0.25, 42)
    assert [each.texts[0] for each in parts.validation] == ["8", "1", "5"]
    assert [each.texts[0] for each in parts.learned] == ["0", "7", "2", "9", "4", "3", "6"]


def test_the_split_of_the_given_sentences(data):
    """2,296 sentences, 1,414 true; 460 for validation, 278 of them true; 20 of those stand in training too."""
    written = read_sentences(data / "obligations" / "obligation_sentences.csv")
    assert (len(written), sum(each.label for each in written)) == (2296, 1414)
    parts = published_split(written, LEGALBERT.test_share, LEGALBERT.schedule.seed)
    assert (len(parts.learned), len(parts.validation)) == (1836, 460)
    assert sum(each.label for each in parts.validation) == 278
    known = {each.texts for each in parts.learned}
    assert sum(each.texts in known for each in parts.validation) == 20
    learned, held = hold_out(written, 200, seed=0)
    assert not {each.group for each in learned} & {each.group for each in held}  # ours has no text on both sides


def test_sentences_are_read(tmp_path):
    path = tmp_path / "s.csv"
    path.write_bytes('\ufeffText,Obligation\r\n"A firm must, if asked,\nreport.",True\r\n Note. ,false\r\n'.encode())
    one, two = read_sentences(path)
    assert (one.texts, one.label, one.source) == (("A firm must, if asked,\nreport.", ""), 1, "written")
    assert (two.texts, two.label) == ((" Note. ", ""), 0)
    assert two.group == "note."


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "no column 'Obligation'"),
        (b"Text,Label\nx,True\n", "no column 'Obligation'"),
        (b"Text,Obligation\n", "holds no sentence"),
        (b"Text,Obligation\nx,maybe\n", "line 2: 'Obligation' must be True or False, this is 'maybe'"),
        (b"Text,Obligation\nx\n", "this is None"),
        (b"Text,Obligation\nx,True\n  ,True\n", "line 3: 'Text' is blank"),
        (b"Text,Obligation\n\xff,True\n", "not UTF-8 text"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, content, complaint):
    path = tmp_path / "s.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=complaint):
        read_sentences(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_sentences(tmp_path / "no.csv")


def test_the_test_part_is_never_learned_from():
    written = [sample(f"s{n}", n % 2) for n in range(20)] + [
        sample("Firms must  report.", 1, group="firms must report.")
    ]
    labelled = [real(f"r{n}", True, passage=f"p{n}") for n in range(10)]
    labelled += [real("Firms must report.", True, "test", passage="t")]
    parts = obligations(written, labelled, 3, Schedule(seed=0))
    assert [each.texts[0] for each in parts.test] == ["Firms must report."]
    pool = [each.texts[0] for each in (*parts.learned, *parts.validation)]
    assert "Firms must  report." not in pool  # the same sentence among the written ones
    assert Counter(each.source for each in parts.validation) == {"written": 3, "adgm": 2}
    preset = obligations(written, labelled, 3, LEGALBERT.schedule, LEGALBERT)
    assert {each.source for each in (*preset.learned, *preset.validation)} == {"written"}
    assert len(preset.test) == 1


def test_sentences_of_a_passage_stay_together():
    labelled = [real(f"r{n}", True, passage=f"p{n // 5}") for n in range(50)]
    parts = obligations([], labelled, 5, Schedule(seed=1))
    assert len(parts.validation) == 5
    assert len({each.group for each in parts.validation}) == 1


def test_nothing_to_learn_from():
    with pytest.raises(InputError, match="got 1 and 0"):
        Samples((sample("x"),), ())


@pytest.mark.parametrize(
    "settings", [{"max_length": 4}, {"weights": (("a", -1.0),)}, {"weights": (("a", float("nan")),)}]
)
def test_settings_out_of_range(settings):
    with pytest.raises(InputError, match="classifier"):
        ClassifierSettings(**settings)


def test_weights_say_how_often_a_sample_is_seen():
    samples = [sample(f"a{n}", source="a") for n in range(10)] + [sample(f"b{n}", source="b") for n in range(4)]
    drawn = weighted(samples, {"a": 0.3, "b": 2.5}, Random(0))
    counts = Counter(each.texts[0] for each in drawn)
    assert sum(count for text, count in counts.items() if text[0] == "a") == 3
    assert sorted(count for text, count in counts.items() if text[0] == "b") == [2, 2, 3, 3]
    assert {each.texts[0] for seed in range(40) for each in weighted(samples, {"a": 0.3}, Random(seed))} == {
        each.texts[0] for each in samples
    }
    assert Counter(weighted(samples, {}, Random(0))) == Counter(samples)
    assert {each.source for each in weighted(samples, {"a": 0}, Random(0))} == {"b"}
    with pytest.raises(InputError, match="a weight for 'c', which is no source here; known: a, b"):
        weighted(samples, {"c": 1.0}, Random(0))


def test_measures_of_one_label_by_hand():
    samples = [sample("1", 1, "a"), sample("2", 0, "a"), sample("3", 1, "b"), sample("4", 1, "b"), sample("5", 0, "c")]
    found = measure(np.array([[0, 2], [0, 1], [1, 0], [-1, 2], [1, -1]], dtype=np.float32), samples)
    assert found["accuracy"] == pytest.approx(3 / 5)
    assert (found["precision"], found["recall"], found["F1"]) == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    assert found["macro accuracy"] == pytest.approx((1 / 2 + 1 / 2 + 1) / 3)
    assert (found["F1 a"], found["F1 b"]) == pytest.approx((2 / 3, 2 / 3))
    assert "F1 c" not in found  # no obligation there
    assert found["best F1"] == pytest.approx(6 / 7)  # at -1: three right of four


def test_measures_where_nothing_is_predicted():
    found = measure(np.array([[1.0, 0.0]], dtype=np.float32), [sample("1", 1)])
    assert (found["precision"], found["recall"], found["F1"], found["accuracy"]) == (0, 0, 0, 0)


def test_measures_of_three_labels_by_hand():
    samples = [sample("1", 2, "a"), sample("2", 0, "a"), sample("3", 1, "a"), sample("4", 1, "b")]
    scores = np.array([[0, 1, 2], [0, 1, 0], [0, 1, 0], [1, 0, 0]], dtype=np.float32)
    found = measure(scores, samples)
    assert found == pytest.approx({"accuracy": 0.5, "macro accuracy": 1 / 3, "accuracy a": 2 / 3, "accuracy b": 0.0})


torch = pytest.importorskip("torch", reason="training needs torch: pip install 'responsa[train]'")
pytest.importorskip("transformers", reason="training needs transformers: pip install 'responsa[train]'")
pytest.importorskip("onnx", reason="export needs onnx: pip install 'responsa[train]'")

from responsa.learn.base import base, open_tokenizer, pair_logits, pair_net  # noqa: E402
from responsa.learn.classifier import ClassifierTask  # noqa: E402


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("obligations")
    tiny_base(folder / "base", spread=0.3)
    lines = [f'"the {who} {verb} report law{n}",{verb == "must"}' for n in range(12) for who in ("firm", "regulator")
             for verb in ("must", "within")]  # fmt: skip
    (folder / "sentences.csv").write_text("Text,Obligation\n" + "\n".join(lines) + "\n")
    return folder


@pytest.fixture
def start(world):
    return base(str(world / "base"))


@pytest.fixture
def run(world, monkeypatch):
    monkeypatch.setattr("sys.argv", ["responsa", "train", "obligations", "..."])
    app = typer.Typer()
    app.add_typer(training.train, name="train")

    @app.callback()
    def shared(context: typer.Context):
        context.obj = world / "library"

    def command(*arguments):
        given = ["train", "obligations", str(world / "sentences.csv"), *map(str, arguments)]
        return CliRunner().invoke(app, [*given, "--base", str(world / "base"), "--json"], catch_exceptions=False)

    return command


def toy(world, **settings) -> tuple[Samples, ClassifierSettings]:
    learned, held = hold_out(read_sentences(world / "sentences.csv"), 9, seed=0)
    return Samples(learned, held), ClassifierSettings(max_length=16, **settings)


def test_one_text_is_read_as_one_text(start):
    net = pair_net(start, 1, seed=0).eval()
    tokenizer = open_tokenizer(start.tokenizer, 16)
    with torch.no_grad():
        together = pair_logits(net, tokenizer, [("the firm must", ""), ("the firm", "must")])
        ids = torch.tensor([tokenizer.encode("the firm must").ids])
        alone = net["head"](net["bert"](input_ids=ids).pooler_output)
    assert float(together[0, 0]) == pytest.approx(float(alone[0, 0]), abs=1e-5)
    assert float(together[0, 0]) != pytest.approx(float(together[1, 0]), abs=1e-4)


def test_the_losses_by_hand(world, start):
    samples, settings = toy(world)
    batch = samples.learned[:5]
    for labels in (OBLIGATION, ("no", "yes", "perhaps")):
        task = ClassifierTask(start, labels, samples, replace(settings, select="loss"))
        task.model.eval()
        scores = task.scores(batch).astype(float)
        told = [each.label for each in batch]
        expected = np.mean([np.log(np.exp(row).sum()) - row[y] for row, y in zip(scores, told, strict=True)])
        assert float(task.loss(batch).detach()) == pytest.approx(expected, rel=1e-4)
        assert task.evaluate() < 0


def test_calibration_is_in_the_weights(world, start):
    """Two labels: the difference of the scores becomes scale * difference + shift. Three: every score times scale."""
    samples, settings = toy(world)
    for labels in (OBLIGATION, ("no", "yes", "perhaps")):
        task = ClassifierTask(start, labels, samples, settings)
        task.model.eval()
        before = task.scores(samples.validation)
        scale, shift = 2.5, -0.75 if len(labels) == 2 else 0.0
        object.__setattr__(task, "_fitted", lambda found=(scale, shift): found)
        assert task.calibrate() == (scale, shift)
        after = task.scores(samples.validation)
        if len(labels) == 2:
            assert after[:, 1] - after[:, 0] == pytest.approx(scale * (before[:, 1] - before[:, 0]) + shift, abs=1e-4)
        else:
            assert after == pytest.approx(scale * before, abs=1e-4)
    task = ClassifierTask(start, OBLIGATION, replace(samples, validation=samples.learned[:1]), settings)
    task.model.eval()
    before = task.scores(samples.validation)
    assert task.calibrate() == ()  # one sentence alone tells nothing
    assert (task.scores(samples.validation) == before).all()


def test_a_seed_gives_the_same_weights_and_a_stopped_run_goes_on(world, start, tmp_path):
    samples, settings = toy(world, weights=(("written", 0.7),))
    schedule = Schedule(epochs=2, batch=8, learning_rate=1e-3, checkpoint_every=1)

    def stop(done, _total, _label):
        if done == 5:
            raise KeyboardInterrupt

    whole, parts = (ClassifierTask(start, OBLIGATION, samples, settings, seed=3) for _ in range(2))
    fit(whole, schedule, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        fit(ClassifierTask(start, OBLIGATION, samples, settings, seed=3), schedule, tmp_path / "parts", stop)
    fit(parts, schedule, tmp_path / "parts")
    for name, value in whole.model.state_dict().items():
        assert torch.equal(value, parts.model.state_dict()[name])


def test_patience_ends_a_run_and_the_best_state_is_kept(world, start, tmp_path):
    class Worsening(ClassifierTask):
        def evaluate(self):
            object.__setattr__(self, "asked", getattr(self, "asked", 0) + 1)
            return [0.5, 0.8, 0.7, 0.6, 0.9][self.asked - 1]

    samples, settings = toy(world)
    schedule = Schedule(epochs=5, batch=20, learning_rate=1e-3)
    steps = len(Worsening(start, OBLIGATION, samples, settings).batches(0, 20, 0))
    tired = Worsening(start, OBLIGATION, samples, settings)
    outcome = fit(tired, schedule, tmp_path / "tired", patience=2)
    assert (outcome.steps, outcome.best, outcome.best_step) == (4 * steps, 0.8, 2 * steps)
    again = fit(Worsening(start, OBLIGATION, samples, settings), schedule, tmp_path / "tired", patience=2)
    assert again == outcome  # it stays ended
    patient = fit(Worsening(start, OBLIGATION, samples, settings), schedule, tmp_path / "patient", patience=3)
    assert (patient.steps, patient.best) == (5 * steps, 0.9)


def test_a_toy_task_is_learned_exported_and_read_back(run, tmp_path):
    from responsa.models.classify import Classifier, ModelObligationDetector
    from responsa.models.onnx import read_settings
    from responsa.models.texts import load_texts

    out = tmp_path / "toy"
    asked = ["--out", out, "--epochs", 10, "--batch", 8, "--rate", 0.002, "--length", 16, "--terms", "mine"]
    told = json.loads(run(*asked).stdout)
    assert told["metrics"]["F1"] > 0.9
    settings = read_settings(out)
    assert (settings.kind, settings.labels, settings.max_length) == ("texts", ("other", "obligation"), 16)
    detector = ModelObligationDetector(Classifier(load_texts(f"onnx:{out}")))
    must, other = detector(["the firm must report law3", "the firm within report law3"])
    assert (must.label, other.label) == ("obligation", "other")
    assert must.obligation > 0.7 > 0.3 > other.obligation
    assert json.loads(run(*asked).stdout) == told
    with pytest.raises(InputError, match="other data or settings"):
        run(*asked, "--weight", "written=0.5")


def test_the_preset_by_the_command(run, tmp_path):
    told = json.loads(run("--out", tmp_path / "m", "--preset", "legalbert", "--length", 16, "--epochs", 2).stdout)
    assert told["steps"] == 2 * 3  # 38 of 48 sentences in batches of 16
    card = (tmp_path / "m" / "CARD.md").read_text()
    assert "| seed | 42 |" in card
    assert "- warmup: 0.5" in card


@pytest.mark.parametrize(
    ("options", "complaint"),
    [(["--preset", "bert"], "known: legalbert"), (["--labels", "x.jsonl"], "--labels needs --data")],
)
def test_wrong_usage(run, tmp_path, options, complaint, monkeypatch):
    monkeypatch.delenv("RESPONSA_DATA", raising=False)
    result = run("--out", tmp_path / "m", *options)
    assert result.exit_code == 2
    assert complaint in result.output
    assert not (tmp_path / "m").exists()
