"""Model folders: worked by hand on a network that only looks vectors up, and everything that may be wrong with one."""

from __future__ import annotations

import hashlib
import json
import shutil

import numpy as np
import pytest

from helpers import add, cli, write_rulebook
from responsa.corpus.library import Library
from responsa.errors import ModelError, NotFound
from responsa.models.onnx import OnnxEncoder, OnnxPairScorer, read_settings
from responsa.retrieval.vectors import Dense
from responsa.types import Query

onnx = pytest.importorskip("onnx", reason="responsa[train] is not installed")

VOCABULARY = ("[UNK]", "[CLS]", "[SEP]", "ferry", "goat", "captain")
TABLE = np.array([[0, 0], [1, 0], [0, 1], [3, 0], [0, 2], [1, 1]], dtype=np.float32)


def write_tokenizer(path, vocabulary=VOCABULARY):
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing

    words = {word: place for place, word in enumerate(vocabulary)}
    tokenizer = Tokenizer(WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", words["[CLS]"]), ("[SEP]", words["[SEP]"])],
    )  # fmt: skip
    tokenizer.save(str(path))


def graph(table, *, pairs=False, inputs=("input_ids", "attention_mask"), outputs=("out",), positions=0):
    """Looks a vector up for each token; of pairs, sums those of the tokens."""
    from onnx import TensorProto, helper, numpy_helper

    nodes = [helper.make_node("Gather", ["table", inputs[0]], ["found" if pairs else "out"])]
    made_of = [numpy_helper.from_array(table, "table")]
    if pairs:
        nodes.append(helper.make_node("ReduceSum", ["found", "axis"], ["out"], keepdims=0))
        made_of.append(numpy_helper.from_array(np.array([1], dtype=np.int64), "axis"))
    if positions:  # a vector of zeros for each place of the text, as many as there are
        nodes[0].output[0] = "words"
        nodes += [
            helper.make_node("Shape", [inputs[0]], ["length"], start=1),
            helper.make_node("Slice", ["places", "first", "length"], ["placed"]),
            helper.make_node("Add", ["words", "placed"], ["out"]),
        ]
        made_of.append(numpy_helper.from_array(np.zeros((positions, table.shape[1]), np.float32), "places"))
        made_of.append(numpy_helper.from_array(np.array([0], dtype=np.int64), "first"))
    nodes += [helper.make_node("Identity", ["out"], [name]) for name in outputs[1:]]
    shape = ["n", table.shape[1]] if pairs else ["n", "t", table.shape[1]]
    made = helper.make_graph(
        nodes, "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "t"]) for name in inputs],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in outputs],
        made_of,
    )  # fmt: skip
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_model(folder, table=TABLE, vocabulary=VOCABULARY, *, pairs=False, inputs=("input_ids", "attention_mask"),
                outputs=("out",), positions=0, **settings):  # fmt: skip
    """A model folder; ``settings`` override what model.json says."""
    folder.mkdir(exist_ok=True)
    made = graph(table, pairs=pairs, inputs=inputs, outputs=outputs, positions=positions)
    onnx.save(made, folder / "model.onnx")
    write_tokenizer(folder / "tokenizer.json", vocabulary)
    told = {
        "kind": "pairs" if pairs else "encoder",
        "name": "tiny",
        "max_length": 6,
        "sha256_model": sha256(folder / "model.onnx"),
        "sha256_tokenizer": sha256(folder / "tokenizer.json"),
        **({"labels": ["no", "yes"]} if pairs else {"dimension": 2}),
    }
    (folder / "model.json").write_text(json.dumps(told | settings))
    return folder


def unit(*vector):
    return [pytest.approx(each / np.hypot(*vector), abs=1e-6) for each in vector]


def test_vectors_worked_by_hand(tmp_path):
    encoder = OnnxEncoder(write_model(tmp_path / "model"))
    found = encoder.encode(["ferry goat", "captain", "", "unheard"], "passage")
    # [CLS] (1, 0) and [SEP] (0, 1) beside ferry (3, 0), goat (0, 2), captain (1, 1)
    assert [list(row) for row in found] == [unit(4, 3), unit(2, 2), unit(1, 1), unit(1, 1)]
    assert encoder.dimension == 2
    assert encoder.encode([], "query").shape == (0, 2)


def test_scores_worked_by_hand(tmp_path):
    scorer = OnnxPairScorer(write_model(tmp_path / "model", pairs=True))
    assert scorer.labels == ("no", "yes")
    # one [CLS] (1, 0) and two [SEP] (0, 1) beside the words
    assert scorer.score([("ferry", "goat"), ("", "captain"), ("", "")]).tolist() == [[4, 4], [2, 3], [1, 2]]
    assert scorer.score([]).shape == (0, 2)


def test_prefixes_and_texts_that_are_too_long(tmp_path):
    folder = write_model(tmp_path / "model", query_prefix="goat ", passage_prefix="ferry ")
    encoder = OnnxEncoder(folder)
    assert list(encoder.encode(["captain"], "query")[0]) == unit(2, 4)
    assert list(encoder.encode(["captain"], "passage")[0]) == unit(5, 2)
    # six places: two marks, the prefix and three words
    assert list(encoder.encode(["goat " * 50], "passage")[0]) == unit(4, 7)
    assert list(encoder.encode(["goat\ud800 " * 2], "query")[0])  # what is no character does no harm


# --- what may be wrong -----------------------------------------------------------------------------------------


def test_a_replaced_model_is_read_anew_under_another_name(tmp_path):
    encoder = OnnxEncoder(write_model(tmp_path / "model"))
    name = encoder.name
    assert name.startswith("tiny@")
    before = encoder.encode(["ferry"], "query").tolist()
    write_model(tmp_path / "model", TABLE[:, ::-1].copy())
    assert encoder.name != name
    assert encoder.encode(["ferry"], "query").tolist() != before
    write_model(tmp_path / "model")
    assert encoder.name == name
    assert encoder.encode(["ferry"], "query").tolist() == before


@pytest.mark.parametrize(
    "change",
    [{"max_length": 5}, {"query_prefix": "goat "}, {"passage_prefix": "goat "}, {"vocabulary": (*VOCABULARY, "more")},
     {"table": TABLE * 2}, {"name": "other"}],
)  # fmt: skip
def test_the_name_tells_what_changes_the_vectors(tmp_path, change):
    assert OnnxEncoder(write_model(tmp_path / "one")).name != OnnxEncoder(write_model(tmp_path / "two", **change)).name


def test_the_same_model_elsewhere_has_the_same_name(tmp_path):
    one = write_model(tmp_path / "one")
    assert OnnxEncoder(shutil.copytree(one, tmp_path / "two")).name == OnnxEncoder(one).name


def test_missing_folders_and_files(tmp_path):
    with pytest.raises(NotFound, match=r"nowhere: no model here \(model.json is missing\)"):
        OnnxEncoder(tmp_path / "nowhere").encode(["a"], "query")
    for name in ("model.onnx", "tokenizer.json"):
        folder = write_model(tmp_path / name)
        (folder / name).unlink()
        with pytest.raises(ModelError, match=f"{name}: cannot be read"):
            OnnxEncoder(folder).encode(["a"], "query")


def test_the_tokenizer_of_another_model(tmp_path):
    folder = write_model(tmp_path / "model")
    OnnxEncoder(folder).encode(["ferry"], "query")  # opened, and noticed all the same
    write_tokenizer(folder / "tokenizer.json", ("[UNK]", "[CLS]", "[SEP]", "other"))
    with pytest.raises(ModelError, match=r"tokenizer\.json: is not the file of this model \(checksum"):
        OnnxEncoder(folder).encode(["ferry"], "query")


def test_a_tokenizer_with_words_that_the_network_does_not_have(tmp_path):
    folder = write_model(tmp_path / "model", vocabulary=(*VOCABULARY, "river"))
    with pytest.raises(ModelError, match=r"model\.onnx: cannot be run"):
        OnnxEncoder(folder).encode(["river"], "query")


def test_files_that_are_damaged_but_have_their_checksum(tmp_path):
    folder = write_model(tmp_path / "model")
    for name, said in (
        ("tokenizer.json", "tokenizer.json: cannot be read"),
        ("model.onnx", "model.onnx: cannot be run"),
    ):
        (folder / name).write_bytes(b"{}")
        told = json.loads((folder / "model.json").read_text())
        key = "sha256_model" if name == "model.onnx" else "sha256_tokenizer"
        (folder / "model.json").write_text(json.dumps(told | {key: sha256(folder / name)}))
        with pytest.raises(ModelError, match=said):
            OnnxEncoder(folder).encode(["ferry"], "query")
        write_model(folder)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ({"dimension": 3}, "is no encoder model as model.json tells: its output is 1 x 3 x 2, expected any x any x 3"),
        ({"pairs": True, "kind": "encoder", "dimension": 2}, "its output is 1 x 2, expected any x any x 2"),
        ({"pairs": True}, "is a model of kind 'pairs'; 'encoder' is needed here"),
        ({"inputs": ("input_ids", "pixels")}, "has inputs input_ids, pixels and 1 outputs; expected attention_mask"),
        ({"outputs": ("out", "more")}, "has inputs attention_mask, input_ids and 2 outputs"),
        ({"kind": "chat"}, "'chat' is not one of 'encoder', 'pairs'"),
    ],
)
def test_a_network_that_is_not_what_an_encoder_needs(tmp_path, made, said):
    with pytest.raises(ModelError, match=said):
        OnnxEncoder(write_model(tmp_path / "model", **made)).encode(["ferry"], "query")


def test_a_network_that_is_not_what_a_scorer_needs(tmp_path):
    folder = write_model(tmp_path / "model", pairs=True, labels=["no", "yes", "perhaps"])
    with pytest.raises(
        ModelError, match=r"is no pairs model as model\.json tells: its output is 1 x 2, expected any x 3"
    ):
        OnnxPairScorer(folder).score([("ferry", "goat")])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"max_length": -5}, "max_length: expected a number of tokens from 3 to 1,048,576, got -5"),
        ({"max_length": 2}, "max_length: expected a number of tokens from 3 to 1,048,576, got 2"),
        ({"max_length": 10**30}, "max_length: expected a number of tokens from 3 to 1,048,576, got 1000000"),
        ({"dimension": 0}, "dimension: expected the length of the encoder's vectors, got 0"),
        ({"dimension": -3}, "dimension: expected the length of the encoder's vectors, got -3"),
        ({"pairs": True, "labels": []}, "labels: expected one for each of the model's outputs, got none"),
        ({"marked": True}, "marked: expected only of a scorer of pairs, this is a model of kind 'encoder'"),
        ({"calibration": [1.0]}, r"calibration: expected a scale and a shift, or an empty list, got \(1.0,\)"),
        ({"calibration": [1, 2, 3]}, "calibration: expected a scale and a shift, or an empty list, got "),
        ({"calibration": [1, float("nan")]}, r"calibration\[1\]: expected a finite number, got nan"),
    ],
)
def test_settings_out_of_range(tmp_path, settings, said):
    with pytest.raises(ModelError, match=rf"model/model\.json.*{said}"):
        read_settings(write_model(tmp_path / "model", **settings))


@pytest.mark.parametrize(
    ("content", "said"),
    [("[1]", r"expected an object with the model's settings, got \[1\]"), ("7", "expected an object"),
     ("[" * 100_000, "not valid JSON"), ("{", "not valid JSON"), ("\xff", "not valid JSON")],
)  # fmt: skip
def test_settings_that_are_none(tmp_path, content, said):
    folder = write_model(tmp_path / "model")
    (folder / "model.json").write_text(content, encoding="latin-1")
    with pytest.raises(ModelError, match=rf"model\.json: {said}"):
        read_settings(folder)


def test_a_text_longer_than_the_network_reads(tmp_path, capfd):
    encoder = OnnxEncoder(write_model(tmp_path / "model", positions=11, max_length=100_000))
    assert encoder.encode(["ferry " * 9], "query").shape == (1, 2)
    with pytest.raises(
        ModelError,
        match=r"model\.onnx: reads texts of 11 tokens at most, this one has 1,002; max_length in model\.json is 100,000: "
        "set it to 11 or less",
    ):
        encoder.encode(["goat", "ferry " * 1000, "captain"], "query")
    assert capfd.readouterr().err == ""  # onnxruntime has nothing to add


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_name_text_and_model(tmp_path, bad):
    table = TABLE.copy()
    table[4] = bad  # goat
    encoder = OnnxEncoder(write_model(tmp_path / "encoder", table))
    assert np.isfinite(encoder.encode(["ferry", "captain"], "query")).all()
    with pytest.raises(ModelError, match="encoder: gave a value that is not finite for text 2 of 3"):
        encoder.encode(["ferry ferry ferry", "goat", "captain"], "query")
    scorer = OnnxPairScorer(write_model(tmp_path / "pairs", table, pairs=True))
    with pytest.raises(ModelError, match="pairs: gave a value that is not finite for pair 3 of 3"):
        scorer.score([("ferry", "captain"), ("ferry", ""), ("ferry", "goat")])


# --- over a library --------------------------------------------------------------------------------------------


def test_vectors_of_a_replaced_model_are_not_mixed_with_the_new_ones(tmp_path):
    folder = write_model(tmp_path / "model")
    rules = tmp_path / "rules"
    for name in ("ferry", "goat"):
        write_rulebook(rules / f"{name}.md", [f"A {name} {name}"])
    add(tmp_path / "library", rules)
    stage = Dense(f"onnx:{folder}")

    def nearest(text):
        with Library.open(tmp_path / "library") as library:
            hits = stage([Query("q", text)], library.corpus(), 1).rankings["q"].hits
            return hits[0].passage_id, stage.ready(library.corpus())

    assert nearest("ferry") == ("ferry/1.1", True)
    wider = np.hstack([TABLE[:, ::-1], np.zeros((len(TABLE), 1), np.float32)])
    write_model(folder, wider, dimension=3)
    with Library.open(tmp_path / "library") as library:
        assert not stage.ready(library.corpus())
        assert stage.stored().state(library.corpus()) == (2, 2)
    (tmp_path / "recipe.toml").write_text(f'[retrieve]\nkind = "dense"\nencoder = "onnx:{folder}"\n')
    asked = cli(tmp_path / "library", "search", "ferry", "--recipe", tmp_path / "recipe.toml")
    assert "of another model or other settings, encoded anew: 2 documents" in asked.stderr
    write_model(folder, np.hstack([wider, np.zeros((len(TABLE), 1), np.float32)]), dimension=4)
    told = cli(tmp_path / "library", "index", "--encoder", f"onnx:{folder}")
    assert told.returncode == 0, told.stderr
    assert "of another model or other settings, encoded anew: 2 of 2 documents" in told.stderr
    assert nearest("ferry") == ("ferry/1.1", True)
    again = cli(tmp_path / "library", "index", "--encoder", f"onnx:{folder}")
    assert "encoded anew" not in again.stderr
