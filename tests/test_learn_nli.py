"""Pairs to learn entailment from, and a toy model that learns it."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from learning import tiny_base
from responsa.cli import training
from responsa.corpus import library
from responsa.errors import InputError, ModelError, NotFound
from responsa.learn.calibrate import temperature
from responsa.learn.classifier import hold_out
from responsa.learn.labels import texts_of
from responsa.learn.nli import LABELS, derive, gather, read
from responsa.text import digest, words

RULES = (
    "A Firm must keep the register for at least six years.",
    "A Firm must tell the Regulator within ten days of a breach.",
    "Where markets are closed, a Firm must use the last price.",
    "An Authorised Person must establish and maintain a list of gifts.",
    "A Firm must not accept deposits unless the Regulator agrees.",
    "A Firm must appoint an auditor before opening a branch abroad.",
)


def write(path, rows, pack=False):
    text = "".join(json.dumps(row) + "\n" for row in rows).encode()
    path.write_bytes(gzip.compress(text) if pack else text)
    return path


def pair(premise="a rule", hypothesis="a claim", label="neutral", **more):
    return {"premise": premise, "hypothesis": hypothesis, "label": label, **more}


@pytest.mark.parametrize("pack", [False, True])
def test_pairs_are_read(tmp_path, pack):
    rows = [pair(source="adgm", kind="topic"), pair(label="entailment"), pair("  A  Rule ", label="contradiction")]
    found, test = read(write(tmp_path / ("own.jsonl" + ".gz" * pack), rows, pack))
    assert not test
    assert [LABELS[sample.label] for sample in found] == ["neutral", "entailment", "contradiction"]
    assert [sample.source for sample in found] == ["adgm", "own", "own"]
    assert len({sample.group for sample in found}) == 1  # one premise, however it is spelled
    assert found[2].texts == ("A  Rule", "a claim")


def test_line_ends_and_a_byte_order_mark_do_not_matter(tmp_path):
    plain, windows = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    line = json.dumps(pair(source="x"))
    plain.write_text(f"{line}\n{line}\n")
    windows.write_bytes(b"\xef\xbb\xbf" + f"{line}\r\n\r\n{line}".encode())
    assert read(plain) == read(windows)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "holds no pair"),
        (b"[1]\n", "line 1: expected an object"),
        (b'{"premise": "a"', "line 1: not valid JSON"),
        (
            json.dumps(pair(label="-")).encode(),
            "line 1: 'label' is '-'; write one of contradiction, entailment, neutral",
        ),
        (json.dumps(pair(label=None)).encode(), "'label' is None"),
        (json.dumps(pair(premise="  ")).encode(), "'premise' must be a text"),
        (json.dumps(pair(hypothesis=3)).encode(), "'hypothesis' must be a text, this is 3"),
        (json.dumps(pair(source="two words")).encode(), "'source' must be a word"),
        (json.dumps(pair(source="edited")).encode(), "'source' must be a word other than 'edited'"),
        (json.dumps(pair(source="mirrored")).encode(), "and 'mirrored', without '=', this is 'mirrored'"),
        (b'{"premise": "\xff"}', "not UTF-8 text"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, content, complaint):
    path = tmp_path / "pairs.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"pairs\.jsonl") as error:
        read(path)
    assert complaint in str(error.value)


def test_files_that_are_missing_or_cannot_be_unpacked(tmp_path):
    with pytest.raises(InputError, match=r"no\.jsonl: cannot be read"):
        read(tmp_path / "no.jsonl")
    (tmp_path / "a.jsonl.gz").write_bytes(b"plain")
    with pytest.raises(InputError, match="cannot be unpacked"):
        read(tmp_path / "a.jsonl.gz")
    whole = gzip.compress(json.dumps(pair()).encode())
    (tmp_path / "b.jsonl.gz").write_bytes(whole[:-9])
    with pytest.raises(InputError, match="cannot be unpacked"):
        read(tmp_path / "b.jsonl.gz")
    (tmp_path / "c.jsonl.gz").write_bytes(whole[:10] + b"\xff" * 20 + whole[30:])  # behind the header
    with pytest.raises(InputError, match="cannot be unpacked"):
        read(tmp_path / "c.jsonl.gz")


def test_no_premise_is_on_both_sides_and_a_fifth_is_the_most(tmp_path):
    rows = [pair(f"rule {n // 4}", f"claim {n}", source="few" if n < 40 else "many") for n in range(400)]
    samples = read(write(tmp_path / "p.jsonl", rows)).learned
    learned, held = hold_out(samples, 20, seed=1)
    assert Counter(sample.source for sample in held) == {"few": 8, "many": 20}
    assert not {sample.group for sample in learned} & {sample.group for sample in held}
    assert sorted(learned + held, key=repr) == sorted(samples, key=repr)
    assert (learned, held) == hold_out(samples, 20, seed=1)
    assert held != hold_out(samples, 20, seed=2)[1]


def test_a_premise_held_back_is_held_back_from_every_source(tmp_path):
    rows = [pair(f"rule {n}", f"claim {source} {n}", source=source) for n in range(10) for source in ("a", "b")]
    learned, held = hold_out(read(write(tmp_path / "p.jsonl", rows)).learned, 2, seed=0)
    assert len(held) == 4  # two premises, each in both sources: b needs none of its own
    assert not {sample.group for sample in learned} & {sample.group for sample in held}


def test_an_edited_pair_goes_with_the_written_pairs_of_its_sentence(tmp_path, corpus_of):
    corpus = corpus_of(*((f"r{n}", f"({n}) {rule}") for n, rule in enumerate(RULES)))
    rows = [pair(f"({n}) {rule}", f"claim {m}", source="own") for n, rule in enumerate(RULES) for m in range(2)]
    samples = gather([write(tmp_path / "p.jsonl", rows)], corpus, 100, 2, seed=0)
    held = {sample.group for sample in samples.validation}
    assert {sample.source for sample in samples.validation} == {"own", "edited"}
    assert len({sample.group for sample in samples.validation if sample.source == "own"}) < len(RULES)
    assert not held & {sample.group for sample in samples.learned}
    assert held <= {rule.casefold() for rule in RULES}


def marked(text, start, end, hypothesis, part, **more):
    place = {"source": "adgm", "passage": "p1", "start": start, "end": end, "digest": digest(text[start:end])[:16]}
    return {**place, "hypothesis": hypothesis, "label": "neutral", "part": part, **more}


def test_a_premise_may_be_a_stretch_of_a_passage(tmp_path):
    text = "A firm keeps a register. It is open to all."
    rows = [marked(text, 0, 24, "one", "train"), marked(text, 25, 43, "two", "test")]
    path = write(tmp_path / "p.jsonl", rows)
    found = read(path, lambda: {("adgm", "p1"): text})
    assert [sample.texts for sample in found.learned] == [("A firm keeps a register.", "one")]
    assert [sample.texts for sample in found.test] == [("It is open to all.", "two")]
    for texts, complaint in ((None, "--data"), ({}, "no text of adgm passage 'p1'"), ({("adgm", "p1"): "B"}, "digest")):
        with pytest.raises(InputError, match=rf"line 1: .*{complaint}"):
            read(path, None if texts is None else lambda texts=texts: texts)
    with pytest.raises(InputError, match="'part' is 'dev'; write one of train, test"):
        read(write(tmp_path / "q.jsonl", [marked(text, 0, 24, "one", "dev")]), lambda: {("adgm", "p1"): text})


def test_what_is_learned_shares_no_premise_with_a_test_part(tmp_path):
    text = "A firm keeps a register. It is open to all."
    own = write(tmp_path / "own.jsonl", [marked(text, 0, 24, "one", "test"), marked(text, 25, 43, "two", "train")])
    given = write(
        tmp_path / "given.jsonl",
        [pair("a firm keeps  a register.", "three"), *(pair(f"rule {n}", "four") for n in range(9))],
    )
    samples = gather([own, given], None, 0, 1, 0, texts=lambda: {("adgm", "p1"): text})
    assert [sample.texts[1] for sample in samples.test] == ["one"]
    assert {sample.texts[1] for sample in (*samples.learned, *samples.validation)} == {"two", "four"}


def test_the_pairs_written_for_the_project_find_their_text(data):
    path = Path(__file__).parents[1] / "training" / "regulatory_pairs.jsonl"
    found = read(path, lambda: texts_of(data, {}))
    assert len(found.learned) > 4 * len(found.test) * 0.7
    for part in found:
        labels = Counter(sample.label for sample in part)
        assert max(labels.values()) - min(labels.values()) < 0.02 * len(part)
    assert not {sample.group for sample in found.learned} & {sample.group for sample in found.test}
    for sample in (*found.learned, *found.test):
        premise, hypothesis = (words(text) for text in sample.texts)
        runs = {tuple(premise[place : place + 8]) for place in range(len(premise) - 7)}
        assert not any(tuple(hypothesis[place : place + 8]) in runs for place in range(len(hypothesis) - 7))


@pytest.mark.parametrize("name", ["contrast_pairs", "invented_rules"])
def test_contrast_pairs_come_in_twos_and_keep_their_own_words(data, name):
    path = Path(__file__).parents[1] / "training" / f"{name}.jsonl"
    found = read(path, lambda: texts_of(data, {}))
    samples = [*found.learned, *found.test]
    for true, changed in zip(samples[::2], samples[1::2], strict=True):
        assert LABELS[true.label] == "entailment" != LABELS[changed.label]
        assert true.texts[0] == changed.texts[0]
        assert true.texts[1] != changed.texts[1]
    assert len({sample.texts[1] for sample in samples}) == len(samples)
    assert not {sample.group for sample in found.learned} & {sample.group for sample in found.test}


def test_sentences_as_assistants_answer_find_their_text(data):
    found = read(Path(__file__).parents[1] / "training" / "answer_pairs.jsonl.gz", lambda: texts_of(data, {}))
    assert (len(found.learned), len(found.test)) == (58904, 2139)
    for part in found:
        follows = sum(LABELS[sample.label] == "entailment" for sample in part)
        assert abs(follows / len(part) - 0.5) < 0.02
    assert not {sample.group for sample in found.learned} & {sample.group for sample in found.test}
    assert len({sample.texts for part in found for sample in part}) == len(found.learned) + len(found.test)


def test_contrast_pairs_keep_away_from_the_pairs_that_are_measured(data):
    folder = Path(__file__).parents[1] / "training"
    measured, learned = (
        [json.loads(line) for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
        for name in ("regulatory_pairs", "contrast_pairs")
    )
    passages = {(row["source"], row["passage"]) for row in measured if row["part"] == "test"}
    assert not passages & {(row["source"], row["passage"]) for row in learned}
    assert {row["part"] for row in learned} == {"train"}


def test_pairs_in_the_test_files_are_not_learned_from(tmp_path):
    rows = [pair(f"rule {n}") for n in range(10)]
    train = write(tmp_path / "train.jsonl", rows)
    test = write(tmp_path / "test.jsonl", [pair("Rule 3")])
    samples = gather([train], None, 0, 2, 0, [test])
    assert len(samples.learned) + len(samples.validation) == 9
    assert "rule 3" not in {sample.group for sample in (*samples.learned, *samples.validation)}
    assert len(samples.test) == 1


def test_derived_pairs_have_the_labels_of_their_edits():
    filler = " The Chapter on records has more to say about it, as does the one on fees."
    found = derive([rule + filler for rule in RULES], 400, seed=0)
    assert {one.sentence for one in found} == set(RULES)
    for one in found:
        if "back" in one.kind:
            assert one.hypothesis == one.sentence
        elif one.premise != one.sentence:  # the whole passage
            assert one.premise == one.sentence + filler
            assert one.label != "neutral"
    assert any(one.premise.endswith(filler) for one in found)
    by_kind = {(one.kind, one.sentence): one for one in found}
    denied = by_kind["exception", RULES[4]]
    assert denied.hypothesis.startswith("A Firm must not accept deposits, ")
    assert denied.label == "contradiction"
    less, more = by_kind["detail", RULES[3]], by_kind["detail back", RULES[3]]
    assert (less.label, more.label) == ("entailment", "neutral")
    assert more.premise == less.hypothesis != RULES[3]
    assert derive([rule + filler for rule in RULES], 400, seed=0) == found


def test_derived_pairs_are_drawn_evenly_and_no_more_than_asked_for():
    rules = [f"A Firm must keep the register of item {n} for at least six years." for n in range(60)]
    found = derive(rules, 60, seed=0)
    assert Counter(one.label for one in found)["contradiction"] == 20
    assert len(found) <= 60
    kinds = Counter(one.kind for one in found if one.label == "contradiction")
    assert max(kinds.values()) - min(kinds.values()) <= 6
    assert derive(["", "Heading", "No rule here."], 60, seed=0) == []


def test_other_rules_are_no_pairs_of_the_same_words():
    rules = [*RULES, "A Firm must keep the register for at least five years after it was closed."]
    found = [one for one in derive(rules, 400, seed=0) if one.kind == "other rule"]
    assert found
    for one in found:
        assert one.label == "neutral"
        assert not (one.premise.startswith("A Firm must keep") and one.hypothesis.startswith("A Firm must keep"))


def test_temperature_by_hand():
    """Scores twice too sure: the best scale is a half. Perfect scores can only grow."""
    generator = np.random.default_rng(0)
    true = generator.normal(0, 1.5, (20_000, 3))
    shares = np.exp(true) / np.exp(true).sum(axis=1, keepdims=True)
    labels = [int(generator.choice(3, p=row)) for row in shares]
    scale, shift = temperature((2 * true).tolist(), labels)
    assert scale == pytest.approx(0.5, rel=0.05)
    assert shift == 0.0
    assert temperature([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [0, 1])[0] > 30
    assert temperature([[1.0, 0.0], [1.0, 0.0]], [1, 1])[0] < 0.02  # worse than chance: next to none
    assert temperature([], []) == ()


def test_the_given_pairs_are_read(data):
    samples = read(data / "nli" / "regulatory_written.jsonl.gz").learned
    assert Counter(sample.source for sample in samples) == {"adgm": 764, "crr": 363}
    learned, held = hold_out(samples, 200, seed=0)
    assert not {sample.group for sample in learned} & {sample.group for sample in held}
    shares = Counter(sample.source for sample in held)
    assert 0.15 < shares["adgm"] / 764 < 0.21
    assert 0.15 < shares["crr"] / 363 < 0.21


torch = pytest.importorskip("torch", reason="training needs torch: pip install 'responsa[train]'")
pytest.importorskip("transformers", reason="training needs transformers: pip install 'responsa[train]'")
pytest.importorskip("onnx", reason="export needs onnx: pip install 'responsa[train]'")


def toy_pairs():
    """The hypothesis alone tells the label: what a network of two layers learns in seconds."""
    told = {"entailment": "law1", "contradiction": "law2", "neutral": "law3"}
    return [
        pair(f"the firm must report case{n} within days {m}", f"the {told[label]} rule", label, source="ab"[n % 2])
        for n in range(12)
        for m in range(4)
        for label in told
    ]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("nli")
    tiny_base(folder / "base")
    write(folder / "pairs.jsonl", toy_pairs())
    write(folder / "rules.jsonl", [{"id": f"r{n}", "text": rule} for n, rule in enumerate(RULES)])
    library.add(folder / "library", [folder / "rules.jsonl"], lambda _: None)
    return folder


@pytest.fixture
def run(world, monkeypatch):
    monkeypatch.setattr("sys.argv", ["responsa", "train", "nli", "..."])
    app = typer.Typer()
    app.add_typer(training.train, name="train")

    @app.callback()
    def shared(context: typer.Context):
        context.obj = world / "library"

    def command(*arguments):
        given = ["train", "nli", *map(str, arguments), "--base", str(world / "base"), "--length", "32", "--json"]
        return CliRunner().invoke(app, given, catch_exceptions=False)

    return command


def test_a_toy_task_is_learned_exported_and_read_back(world, run, tmp_path):
    from responsa.models.classify import CLASSES, Entailment
    from responsa.models.load import load_pairs
    from responsa.models.onnx import read_settings

    out = tmp_path / "toy-nli"
    asked = [world / "pairs.jsonl", "--out", out, "--epochs", 12, "--batch", 12, "--rate", 0.003, "--terms", "mine"]
    test = write(tmp_path / "other.jsonl", [pair("the firm", "the law2 rule", "contradiction", source="c")])
    told = json.loads(run(*asked, "--test", test).stdout)
    assert told["metrics"]["accuracy"] > 0.95
    assert told["metrics"]["macro accuracy"] == pytest.approx(
        (told["metrics"]["accuracy a"] + told["metrics"]["accuracy b"]) / 2
    )
    assert told["metrics"]["test accuracy c"] == 1.0
    settings = read_settings(out)
    assert (settings.kind, settings.labels) == ("pairs", ("contradiction", "entailment", "neutral"))
    assert settings.calibration == ()  # it is in the weights
    engine = Entailment.of_pairs(load_pairs(f"onnx:{out}")).check()
    shares = engine([("the firm must report case3 within days 2", f"the law{n} rule") for n in (1, 2, 3)])
    assert [CLASSES[place] for place in shares.argmax(axis=1)] == ["entailment", "contradiction", "neutral"]
    card = (out / "CARD.md").read_text()
    assert "softmax" in card
    assert "- macro accuracy:" in card
    again = json.loads(run(*asked, "--test", test).stdout)
    assert again == told  # the run was complete: nothing was learned anew


def test_edited_pairs_of_the_library_are_learned_from(world, run, tmp_path):
    asked = [world / "pairs.jsonl", "--out", tmp_path / "m", "--epochs", 1, "--edits", 60, "--weight", "edited=0.5"]
    result = run(*asked)
    assert "accuracy edited" in json.loads(result.stdout)["metrics"]
    with pytest.raises(InputError, match="other data or settings"):
        run(*asked, "--weight", "a=2")


def test_twins_with_the_change_in_the_premise_are_learned_from(world, run, tmp_path):
    rule = "A firm {} keep {} records for five years."
    rows = [
        pair(rule.format("must", n), rule.format(verb, n), label, source="own")
        for n in range(20)
        for verb, label in (("must", "entailment"), ("may", "contradiction"))
    ]
    twins = write(tmp_path / "twins.jsonl", rows)
    made = [each for each in gather([twins], None, 0, 2, 0, mirrored=12).learned if each.source == "mirrored"]
    assert 6 <= len(made) <= 12
    assert all(("may" in each.texts[0]) and (each.label == 1) == ("may" in each.texts[1]) for each in made)
    told = json.loads(run(twins, "--out", tmp_path / "m", "--epochs", 1, "--mirrored", 40).stdout)
    assert "accuracy mirrored" in told["metrics"]


@pytest.mark.parametrize("weight", ["a", "a=x", "=2", "a=-1", "a=inf", "a=1=2"])
def test_a_weight_of_the_wrong_form(world, run, tmp_path, weight):
    result = run(world / "pairs.jsonl", "--out", tmp_path / "m", "--weight", weight)
    assert result.exit_code == 2
    assert "SOURCE=NUMBER" in result.output


def test_a_weight_for_no_source(world, run, tmp_path):
    with pytest.raises(InputError, match="a weight for 'snli', which is no source here; known: a, b"):
        run(world / "pairs.jsonl", "--out", tmp_path / "m", "--weight", "snli=2")


def test_learning_begins_with_the_weights_of_another_run(world, run, tmp_path):
    import torch

    from responsa.learn.base import base, encoder_net, pair_net

    run(world / "pairs.jsonl", "--out", tmp_path / "one", "--epochs", 1)
    left = torch.load(tmp_path / "one.training" / "best.pt", weights_only=True)
    begun = base(str(world / "base"), [tmp_path / "one.training"])
    for labels, same in ((3, True), (1, False)):  # a head is only taken over for as many labels
        state = pair_net(begun, labels, seed=5).state_dict()
        assert all(torch.equal(state[name], left[name]) for name in left if not name.startswith("head."))
        assert (state["head.weight"].shape == left["head.weight"].shape) is same
    assert torch.equal(pair_net(begun, 3, seed=5).state_dict()["head.weight"], left["head.weight"])
    name = "encoder.layer.0.output.dense.weight"
    assert torch.equal(encoder_net(begun).state_dict()[name], left[f"bert.{name}"])
    told = run(world / "pairs.jsonl", "--out", tmp_path / "two", "--epochs", 1, "--start", tmp_path / "one.training")
    assert json.loads(told.stdout)["steps"] > 0
    assert "then one.training" in (tmp_path / "two" / "CARD.md").read_text()


def test_learning_with_marks_of_the_tokens_in_both_texts(world, run, tmp_path):
    import torch

    from responsa.learn.base import base, encoder_net, pair_net

    name = "bert.embeddings.token_type_embeddings.weight"
    run(world / "pairs.jsonl", "--out", tmp_path / "plain", "--epochs", 1)
    plain = torch.load(tmp_path / "plain.training" / "best.pt", weights_only=True)[name]
    begun = base(str(world / "base"), [tmp_path / "plain.training"])
    state = pair_net(begun, 3, seed=5, marked=True).state_dict()[name]
    assert torch.equal(state[:2], plain)
    added = (state[2:] - plain.repeat(2, 1)).unflatten(0, (2, 2))
    assert torch.allclose(added[:, 0], added[:, 1], atol=1e-6)  # a level adds the same to both texts
    assert 0.01 < float(added.std()) < 0.04
    more = [world / "pairs.jsonl", "--epochs", 1, "--start", tmp_path / "plain.training", "--marked", "--frozen", 1]
    run(*more, "--out", tmp_path / "marked")
    left = torch.load(tmp_path / "marked.training" / "best.pt", weights_only=True)
    assert len(left[name]) == 6
    assert "marked: True" in (tmp_path / "marked" / "CARD.md").read_text().replace("`", "").replace(" | ", ": ")
    assert json.loads((tmp_path / "marked" / "model.json").read_text())["marked"] is True
    for folder in ("marked.training", "marked"):
        gone_on = base(str(world / "base"), [tmp_path / folder])
        with pytest.raises(ModelError, match="learned with marks of the tokens that stand in both texts; add --marked"):
            pair_net(gone_on, 3, seed=5)
        # for another task the vectors of the two texts are enough
        other = pair_net(gone_on, 1, seed=5).state_dict()[name]
        assert torch.allclose(other, left[name][:2], atol=1e-6)
        assert encoder_net(gone_on).embeddings.token_type_embeddings.weight.shape == other.shape


def test_the_mean_of_runs_with_marks_and_without(world, run, tmp_path):
    import torch

    from responsa.learn.base import base, pair_net

    name = "bert.embeddings.token_type_embeddings.weight"
    given = [world / "pairs.jsonl", "--epochs", 1, "--out"]
    run(*given, tmp_path / "plain")
    run(*given, tmp_path / "marked", "--marked", "--start", tmp_path / "plain.training")
    folders = [tmp_path / "marked.training", tmp_path / "plain.training"]
    one, other = (torch.load(folder / "best.pt", weights_only=True) for folder in folders)
    state = pair_net(base(str(world / "base"), folders), 3, seed=5, marked=True).state_dict()
    assert torch.allclose(state["head.weight"], (one["head.weight"] + other["head.weight"]) / 2, atol=1e-6)
    assert torch.allclose(state[name][:2], (one[name][:2] + other[name]) / 2, atol=1e-6)
    assert torch.allclose(state[name][2:], one[name][2:], atol=1e-6)  # those of marks only one has


def test_vectors_of_marks_are_learned_where_the_embeddings_are_not(world):
    from responsa.learn.base import base, freeze, pair_net

    for marked in (False, True):
        bert = pair_net(base(str(world / "base")), 3, seed=5, marked=marked)["bert"]
        freeze(bert, 1)
        learned = {name for name, value in bert.named_parameters() if value.requires_grad}
        assert ("embeddings.token_type_embeddings.weight" in learned) is marked
        assert "embeddings.word_embeddings.weight" not in learned


def test_the_mean_of_several_runs_is_measured_and_exported(world, run, tmp_path):
    import torch

    starts = []
    for seed in (0, 1):
        run(world / "pairs.jsonl", "--out", tmp_path / f"m{seed}", "--epochs", 1, "--seed", seed)
        starts += ["--start", tmp_path / f"m{seed}.training"]
    told = json.loads(run(world / "pairs.jsonl", "--out", tmp_path / "mean", "--epochs", 0, *starts).stdout)
    assert (told["steps"], told["best_step"]) == (0, 0)
    one, other, mean = (
        torch.load(tmp_path / f"{name}.training" / "best.pt", weights_only=True) for name in ("m0", "m1", "mean")
    )
    assert all(torch.allclose(mean[name], (one[name] + other[name]) / 2, atol=1e-6) for name in one)
    assert not torch.equal(one["head.weight"], other["head.weight"])
    card = (tmp_path / "mean" / "CARD.md").read_text()
    assert "then the mean of m0.training and m1.training" in card
    again = json.loads(run(world / "pairs.jsonl", "--out", tmp_path / "mean", "--epochs", 0, *starts).stdout)
    assert again["metrics"] == told["metrics"]


def test_learning_goes_on_from_a_model(world, run, tmp_path):
    """Its weights come back as they were but for the rounding to 8 bits, with the calibration that is in its head."""
    import torch

    from responsa.learn.base import base, encoder_net, pair_net

    run(world / "pairs.jsonl", "--out", tmp_path / "one", "--epochs", 1)
    left = torch.load(tmp_path / "one.training" / "best.pt", weights_only=True)
    state = pair_net(base(str(world / "base"), [tmp_path / "one"]), 3, seed=5).state_dict()
    assert set(state) == set(left)
    warmth = (state["head.weight"] / left["head.weight"]).flatten()
    assert warmth.std() < 1e-4
    assert torch.allclose(state["head.bias"], left["head.bias"] * warmth[0], atol=1e-6)
    for name, value in left.items():
        if name.startswith("head."):
            continue
        assert (state[name] - value).abs().max() <= 0.02 * value.abs().max() + 1e-6, name
    name = "encoder.layer.0.output.dense.weight"
    begun = encoder_net(base(str(world / "base"), [tmp_path / "one"]))
    assert torch.equal(begun.state_dict()[name], state[f"bert.{name}"])
    told = run(
        world / "pairs.jsonl", "--out", tmp_path / "two", "--epochs", 0, "--start", tmp_path / "one",
        "--start", tmp_path / "one.training",
    )  # fmt: skip
    assert json.loads(told.stdout)["metrics"]
    assert "then the mean of one and one.training" in (tmp_path / "two" / "CARD.md").read_text()


def test_a_model_that_another_program_made_is_no_start(world, run, tmp_path):
    import onnx
    from onnx import helper

    made = helper.make_model(helper.make_graph([], "empty", [], []))
    onnx.save(made, tmp_path / "model.onnx")
    with pytest.raises(ModelError, match="lacks 'positions'; training can only go on from models that Responsa"):
        run(world / "pairs.jsonl", "--out", tmp_path / "m", "--start", tmp_path)


def test_runs_of_other_networks_have_no_mean(world, run, tmp_path):
    import torch

    run(world / "pairs.jsonl", "--out", tmp_path / "m", "--epochs", 1)
    (tmp_path / "x.training").mkdir()
    torch.save({"head.bias": torch.zeros(3)}, tmp_path / "x.training" / "best.pt")
    starts = ["--start", tmp_path / "m.training", "--start", tmp_path / "x.training"]
    with pytest.raises(ModelError, match="another network"):
        run(world / "pairs.jsonl", "--out", tmp_path / "mean", *starts)


def test_a_start_that_is_no_training_run(world, run, tmp_path):
    with pytest.raises(NotFound, match="no weights here"):
        run(world / "pairs.jsonl", "--out", tmp_path / "m", "--start", tmp_path)
    import torch

    torch.save({"bert.other": torch.zeros(1)}, tmp_path / "best.pt")
    with pytest.raises(ModelError, match="lacks"):
        run(world / "pairs.jsonl", "--out", tmp_path / "m", "--start", tmp_path)
