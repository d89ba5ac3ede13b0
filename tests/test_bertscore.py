"""BERTScore: matching worked by hand, vectors of tiny networks, and the package bert-score where it is."""

from __future__ import annotations

import math

import numpy as np
import pytest

from responsa.cache import Cache
from responsa.errors import InputError, MissingDependency, ModelError
from responsa.evaluate.bertscore import BertScore, Overlap, load_bertscore, overlap
from responsa.models.contextual import TokenVectors, load_contextual

COSINE = {"law": (1.0, 0.0), "rule": (0.6, 0.8), "cat": (0.0, 1.0), "[S]": (1.0, 0.0)}
IDS = {word: place for place, word in enumerate(COSINE)}


def tokens(text):
    words = ["[S]", *text.split()]
    vectors = np.array([COSINE[word] for word in words], np.float32)
    return TokenVectors(np.array([IDS[word] for word in words]), vectors, np.array([True] + [False] * (len(words) - 1)))


class Plane:
    """A word's vector lies in a plane; notes what it was asked."""

    def __init__(self, name="plane@1"):
        self.name, self.asked = name, []

    def encode(self, texts):
        self.asked += texts
        return [tokens(text) for text in texts]


def test_each_token_with_its_nearest_by_hand():
    bare = [
        TokenVectors(each.ids[1:], each.vectors[1:], each.marks[1:])
        for each in (tokens("rule rule cat"), tokens("law cat"))
    ]
    found = overlap(*bare)
    # rule is .6 from law and .8 from cat, so both rules take cat; law takes rule.
    assert found.precision == pytest.approx((0.8 + 0.8 + 1) / 3)
    assert found.recall == pytest.approx((0.6 + 1) / 2)
    assert found.f1 == pytest.approx(2 * (2.6 / 3) * 0.8 / (2.6 / 3 + 0.8))


def test_a_mark_may_be_nearest_but_has_no_weight():
    found = overlap(tokens("law"), tokens("cat"))
    assert found == Overlap(1.0, 0.0, 0.0)  # law is nearest to the mark of the other text; cat to nothing


def test_the_same_text_is_one_and_a_blank_text_is_nothing():
    assert overlap(tokens("law rule cat"), tokens("law rule cat")) == pytest.approx((1, 1, 1))
    assert overlap(tokens(""), tokens("law")) == Overlap(0, 0, 0)
    assert overlap(tokens("law"), tokens("")) == Overlap(0, 0, 0)


def test_rare_words_weigh_more_by_hand():
    score = BertScore(Plane(), idf=True)
    (first, second) = score(["rule", "cat rule"], ["cat", "cat law"])
    # In two references cat has log(3/3) = 0, law log(3/2), and rule, in neither, log(3).
    assert first == Overlap(0, 0, 0)
    assert second.precision == pytest.approx(0.8)
    assert second.recall == pytest.approx(1.0)
    weighted = overlap(tokens("law rule"), tokens("law"), {-1: math.log(3), 0: math.log(1.5)})
    assert weighted.precision == pytest.approx((math.log(1.5) + 0.6 * math.log(3)) / (math.log(1.5) + math.log(3)))


def test_a_second_time_asks_no_model(tmp_path):
    cache = Cache(tmp_path / "models.sqlite")
    first = BertScore(Plane(), cache=cache)(["law", "cat", "law"], ["cat", "cat", "cat"])
    again = Plane()
    assert np.allclose(BertScore(again, cache=cache)(["law", "cat", "law"], ["cat", "cat", "cat"]), first)
    assert again.asked == []
    for other in (BertScore(Plane("plane@2"), cache=cache), BertScore(Plane(), idf=True, cache=cache)):
        other(["law"], ["cat"])
        assert other.encoder.asked
    twice = BertScore(Plane(), idf=True, cache=cache)
    twice(["law"], ["cat"])
    assert twice.encoder.asked == []
    twice(["law", "law"], ["cat", "law"])  # other references, other weights
    assert twice.encoder.asked


def test_each_text_is_encoded_once():
    encoder = Plane()
    BertScore(encoder)(["law", "law", "cat"], ["cat", "cat", "law"])
    assert sorted(encoder.asked) == ["cat", "law"]
    assert BertScore(encoder)([], []) == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("embedded:nli", "unknown scheme 'embedded' of a model for BERTScore"),
        ("hf:roberta-large?lair=9", "unknown setting 'lair'.*'layer'"),
        ("hf:roberta-large?layer=nine", "setting 'layer': expected a whole number, got 'nine'"),
        ("hf:roberta-large?layer=-1", "layer: expected a number above 0, got -1"),
        ("hf:some/model", r"its best layer is not known here; name it: hf:some/model\?layer=9"),
    ],
)
def test_names_that_cannot_be_used(name, message):
    with pytest.raises(InputError, match=message):
        load_bertscore(name)


def test_the_best_layer_is_known_of_models_by_name():
    encoder = load_bertscore("hf:FacebookAI/roberta-large?idf=yes&batch=8").encoder
    assert encoder._known() == 17
    assert encoder.batch == 8


# --- tiny networks --------------------------------------------------------------------------------------------------

TEXTS = ["the firm must report law3 within days 4", "what about case2", " ", "rule", "the regulator " * 60]


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    pytest.importorskip("torch", reason="needs responsa[train]")
    pytest.importorskip("transformers", reason="needs responsa[train]")
    from tinymodels import tiny_bert

    return tiny_bert(tmp_path_factory.mktemp("models") / "bert")


@pytest.mark.parametrize("layer", [1, 2])
def test_states_are_those_of_the_layer(bert, layer):
    import torch
    import transformers

    net = transformers.BertModel.from_pretrained(bert).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(bert)
    found = load_contextual(f"hf:{bert}?layer={layer}&batch=2").encode(TEXTS)
    for text, each in zip(TEXTS, found, strict=True):
        inputs = tokenizer(text.strip(), truncation=True, max_length=64, return_tensors="pt")
        with torch.no_grad():
            states = net(**inputs, output_hidden_states=True).hidden_states[layer][0]
        assert np.allclose(each.vectors, torch.nn.functional.normalize(states, dim=-1).numpy(), atol=1e-5)
        assert each.ids.tolist() == inputs["input_ids"][0].tolist()
        assert each.marks.tolist() == [True] + [False] * (len(each.ids) - 2) + [True]
    assert load_contextual(f"hf:{bert}?layer=1").encode([]) == []


def test_the_name_tells_model_and_layer(bert):
    names = {load_contextual(f"hf:{bert}?layer={layer}").name for layer in (1, 2)}
    assert len(names) == 2
    assert all(name.startswith("bert@") for name in names)
    assert load_bertscore(f"hf:{bert}?layer=2&idf=yes").name.endswith(", layer 2, idf")


def test_a_layer_that_is_not_there_is_refused(bert):
    with pytest.raises(InputError, match="has 2 layers, there is no layer 3"):
        load_contextual(f"hf:{bert}?layer=3").encode(["rule"])


def test_damaged_weights_are_told(bert, tmp_path):
    import shutil

    from tinymodels import poison

    folder = shutil.copytree(bert, tmp_path / "damaged")
    poison(folder)
    with pytest.raises(ModelError, match="gave a value that is not finite"):
        load_contextual(f"hf:{folder}?layer=1").encode(["rule"])


def test_without_torch_the_message_names_the_extra(bert, monkeypatch):
    import sys

    from responsa.models.hub import contextual

    contextual._open.cache_clear()
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingDependency, match=r"responsa\[hub\]"):
        load_contextual(f"hf:{bert}?layer=1").encode(["rule"])


@pytest.mark.parametrize("idf", [False, True])
def test_as_the_package_has_it(bert, idf):
    package = pytest.importorskip("bert_score", reason="compared with bert-score where it is installed")
    candidates = [TEXTS[0], TEXTS[1], "the rule", TEXTS[4], "law3 law3"]
    references = [TEXTS[1], TEXTS[1], "rule about the firm", "the firm must report", "case2"]
    scorer = package.BERTScorer(model_type=str(bert), num_layers=2, idf=idf, idf_sents=references, device="cpu")
    scorer._tokenizer.model_max_length = 64
    expected = np.stack([part.numpy() for part in scorer.score(candidates, references)], axis=1)
    found = load_bertscore(f"hf:{bert}?layer=2&idf={'yes' if idf else 'no'}")(candidates, references)
    assert np.allclose(found, expected, atol=1e-5)
