"""Texts and pairs to probabilities: each once, kept, gone on with after a stop; labels read from the model."""

from __future__ import annotations

import numpy as np
import pytest

from responsa.cache import Cache
from responsa.errors import InputError, ModelError, NotFound
from responsa.models import classify
from responsa.models.classify import (
    CLASSES,
    Classifier,
    Entailment,
    ModelObligationDetector,
    class_columns,
    detection_labels,
    softmax,
)
from responsa.models.texts import load_texts


class Counting:
    """Logits from the lengths of the texts. It notes what it was asked, and may fail at its n-th call."""

    def __init__(self, labels=("contradiction", "entailment", "neutral"), fail_at=None):
        self.name, self.labels, self.calls, self.fail_at = "counting@1", labels, [], fail_at

    def score(self, items):
        self.calls.append(list(items))
        if self.fail_at == len(self.calls):
            raise ModelError("the model failed")
        sizes = [len(item) if isinstance(item, str) else len(item[0]) + len(item[1]) for item in items]
        return np.array([[size * (place + 1) / 10 for place in range(len(self.labels))] for size in sizes], np.float32)

    @property
    def asked(self):
        return [item for call in self.calls for item in call]


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "models.sqlite")


def test_each_different_item_is_asked_once_longest_first(cache):
    scorer = Counting()
    pairs = [("a", "b"), ("aaaa", "b"), ("a", "b"), ("ab", "")]
    found = Classifier(scorer, cache)(pairs)
    assert scorer.asked == [("aaaa", "b"), ("a", "b"), ("ab", "")]
    assert np.array_equal(found, softmax(Counting().score(pairs)))
    assert np.allclose(found.sum(axis=1), 1)


def test_a_second_time_asks_nothing_in_this_process_or_another(cache):
    items = [str(10**n) for n in range(5)]
    first = Classifier(Counting(), cache)(items)
    scorer = Counting()
    again = Classifier(scorer, Cache(cache.path))(items)
    assert scorer.calls == []
    assert np.array_equal(first, again)
    scorer.name = "counting@2"  # other weights: nothing of the old is taken
    Classifier(scorer, cache)(items)
    assert len(scorer.asked) == 5


def test_ab_and_a_b_are_different_items(cache):
    scorer = Counting()
    Classifier(scorer, cache)([("ab", "c"), ("a", "bc")])
    Classifier(scorer, cache)(["ab", "abc"])
    assert len(scorer.asked) == 4


def test_what_was_stopped_goes_on_where_it_was(cache, monkeypatch):
    monkeypatch.setattr(classify, "_BLOCK", 2)
    items = [str(10**n) for n in range(6)]
    broken = Counting(fail_at=2)
    with pytest.raises(ModelError, match="the model failed"):
        Classifier(broken, cache)(items)
    scorer = Counting()
    seen = []
    found = Classifier(scorer, cache)(items, lambda done, total: seen.append((done, total)))
    assert sorted(scorer.asked) == sorted(set(items) - set(broken.calls[0]))  # the block that failed was not kept
    assert seen == [(2, 6), (4, 6), (6, 6)]
    assert np.array_equal(found, softmax(Counting().score(items)))


def test_no_items_give_no_rows(cache):
    assert Classifier(Counting(), cache)([]).shape == (0, 3)
    assert Classifier(Counting())(["a"]).shape == (1, 3)


def test_a_kept_answer_of_another_width_is_asked_again(cache):
    Classifier(Counting(("a", "b")), cache)(["x"])
    scorer = Counting()
    assert Classifier(scorer, cache)(["x"]).shape == (1, 3)
    assert scorer.asked == ["x"]


# --- entailment ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [CLASSES, ("contradiction", "entailment", "neutral"), ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")])  # fmt: skip
def test_the_order_of_the_classes_is_read_from_the_model(labels):
    found = Entailment.of_pairs(Counting(labels))([("abc", "de")])
    expected = softmax(Counting(labels).score([("abc", "de")]))
    for place, name in enumerate(CLASSES):
        assert found[0, place] == expected[0, [label.casefold() for label in labels].index(name)]


@pytest.mark.parametrize(
    "labels", [("entailment", "not_entailment"), ("LABEL_0", "LABEL_1", "LABEL_2"), ("relevance",), (*CLASSES, "other")]
)
def test_a_model_of_other_classes_is_refused(labels):
    with pytest.raises(
        ModelError, match=r"m: has the labels .*three classes entailment, neutral, contradiction are needed"
    ):
        class_columns(labels, "m")
    scorer = Counting(labels)
    with pytest.raises(ModelError, match="three classes"):
        Entailment.of_pairs(scorer)([("a", "b")])
    assert scorer.calls == []


def test_pairs_as_one_string():
    scorer = Counting()
    Entailment.of_strings(scorer)([("the answer", "the obligation")])
    assert scorer.asked == ["the answer [SEP] the obligation"]
    with pytest.raises(ValueError, match="a classifier is needed"):
        Entailment()([])


# --- obligations ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (("LABEL_0", "LABEL_1"), ["other", "obligation"]),
        (("False", "True"), ["other", "obligation"]),
        (("Obligation", "none"), ["obligation", "other"]),
        (("other", "definition", "obligation", "permission"), ["other", "definition", "obligation", "permission"]),
    ],
)
def test_labels_of_detectors(labels, expected):
    assert detection_labels(labels, "m") == expected


@pytest.mark.parametrize("labels", [("a", "b"), ("LABEL_0", "LABEL_1", "LABEL_2"), ("relevance",), ("1", "true")])
def test_labels_that_do_not_tell_are_refused(labels):
    with pytest.raises(ModelError, match=r"m: has the labels .* expected two, one of them 'obligation'"):
        detection_labels(labels, "m")


def test_the_likeliest_label_decides():
    found = ModelObligationDetector(Classifier(Counting(("LABEL_0", "LABEL_1"))))(["abc", ""])
    assert [each.label for each in found] == ["obligation", "other"]  # of equals the first, as argmax has it
    assert found[0].obligation == pytest.approx(1 / (1 + np.exp(-0.3)))
    assert found[1].obligation == 0.5


# --- classifiers of texts by name ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("rules", InputError, "does not name a classifier of texts"),
        ("onyx:folder", InputError, "unknown scheme 'onyx'.*did you mean 'onnx'"),
        ("hf:no/such/folder", NotFound, "no model folder"),
        ("hf:some/model?bach=2", InputError, "unknown setting 'bach'"),
        ("embedded:nothing", NotFound, "no embedded model 'nothing'"),
    ],
)
def test_names_that_name_nothing(name, error, message):
    with pytest.raises(error, match=message):
        load_texts(name).name  # noqa: B018


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Tiny networks: a classifier of texts in the hub's format, one of pairs as ONNX, and the base of both."""
    pytest.importorskip("torch", reason="needs responsa[train]")
    pytest.importorskip("onnx", reason="needs responsa[train]")
    from learning import tiny_base
    from responsa.learn.base import pair_net
    from responsa.learn.card import Account
    from responsa.learn.export import Plan, export
    from tinymodels import tiny_bert, with_head

    folder = tmp_path_factory.mktemp("models")
    bert = tiny_bert(folder / "bert")
    with_head(bert, folder / "duties", "BertForSequenceClassification", ("LABEL_0", "LABEL_1"))
    start = tiny_base(folder / "start", spread=0.3)
    samples = [("the rule", "the firm must report"), ("rule", "law1")]
    labels = ("contradiction", "entailment", "neutral")
    plan = Plan("pairs", "toy-nli", start, 64, samples, labels, (), quantise=False)
    account = Account(("made",), "made here", {"epochs": 0}, 1, {}, "none")
    export(pair_net(start, 3, seed=1).eval(), plan, account, folder / "nli")
    return folder


TEXTS = ["the firm must report law3", "rule", "what about " * 200, "the \ud800 rule"]


def test_a_hub_model_reads_texts_as_plain_transformers_does(made):
    from tinymodels import outputs, tokens_of

    scorer = load_texts(f"hf:{made / 'duties'}?batch=2")
    expected = [outputs(made / "duties", "BertForSequenceClassification", tokens_of(made / "duties", text)) for text in TEXTS[:3]]  # fmt: skip
    found = scorer.score(TEXTS)
    assert np.allclose(found[:3], expected, atol=1e-5)
    assert found.shape == (4, 2)
    assert scorer.labels == ("LABEL_0", "LABEL_1")
    assert scorer.score([]).shape == (0, 2)
    assert scorer.name.startswith("duties@")
    assert load_texts(f"hf:{made / 'duties'}?max_tokens=3").name != scorer.name
    with pytest.raises(InputError, match="batch: expected a number above 0"):
        load_texts(f"hf:{made / 'duties'}?batch=0")


def test_a_hub_model_of_another_kind_is_refused(made):
    with pytest.raises(ModelError, match="is no classifier of texts"):
        load_texts(f"hf:{made / 'bert'}").score(["a"])


def test_a_classifier_of_pairs_reads_one_text_too(made):
    from responsa.models.load import load_pairs

    alone, pairs = load_texts(f"onnx:{made / 'nli'}"), load_pairs(f"onnx:{made / 'nli'}")
    assert alone.labels == pairs.labels
    assert alone.name == pairs.name
    texts = ["the rule", "the firm must report law3 to the regulator", "the \ud800 rule"]
    found = alone.score(texts)
    assert found.shape == (3, 3)
    for row, text in zip(found, texts, strict=True):
        assert np.allclose(row, alone.score([text])[0], atol=1e-5)


def test_an_encoder_is_no_classifier(made, tmp_path):
    import json
    import shutil

    folder = shutil.copytree(made / "nli", tmp_path / "encoder")
    told = json.loads((folder / "model.json").read_text())
    (folder / "model.json").write_text(json.dumps({**told, "kind": "encoder", "dimension": 32}))
    with pytest.raises(ModelError, match="is a model of kind 'encoder'; a classifier of texts is needed"):
        load_texts(f"onnx:{folder}").score(["a"])
    (folder / "model.json").write_text(json.dumps({**told, "kind": "texts"}))
    assert load_texts(f"onnx:{folder}").score(["a"]).shape == (1, 3)


# --- 8 bits ----------------------------------------------------------------------------------------------------------


def test_a_hub_model_in_8_bits_is_near_and_has_a_name_of_its_own(made):
    plain, small = (load_texts(f"hf:{made / 'duties'}{more}") for more in ("", "?int8=yes"))
    texts = [*TEXTS[:3], "the regulator must report law2 within days 4"]
    exact, found = plain.score(texts), small.score(texts)
    assert not np.array_equal(exact, found)
    assert np.abs(exact - found).max() < 0.15 * np.abs(exact).max()
    assert plain.name != small.name
    assert np.array_equal(plain.score(texts), exact)  # the plain one is as it was


def test_8_bits_are_of_the_cpu(made):
    with pytest.raises(InputError, match="int8: runs on the CPU alone, not on 'cuda'"):
        load_texts(f"hf:{made / 'duties'}?int8=yes&device=cuda")
    with pytest.raises(InputError, match="setting 'int8': expected yes or no, got '8'"):
        load_texts(f"hf:{made / 'duties'}?int8=8")


def test_a_torch_without_8_bits_says_so(made, monkeypatch):
    import torch

    from responsa.models.hub import texts

    texts._open.cache_clear()

    def refuse(*_given, **_named):
        raise RuntimeError("no engine")

    monkeypatch.setattr(torch.ao.quantization, "quantize_dynamic", refuse)
    with pytest.raises(ModelError, match=r"cannot be run in 8 bits here \(no engine\); leave out int8=yes"):
        load_texts(f"hf:{made / 'duties'}?int8=yes").score(["rule"])
