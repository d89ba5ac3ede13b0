"""A base made smaller reads the texts it was made for as before."""

from __future__ import annotations

import json

import pytest
from tokenizers import Tokenizer
from typer.testing import CliRunner

from learning import tiny_base
from responsa.cli.app import app
from responsa.corpus import library
from responsa.errors import InputError
from responsa.learn.base import base, embed, encoder_net, open_tokenizer
from responsa.learn.shrink import shrink

pytest.importorskip("torch", reason="training needs torch: pip install 'responsa[train]'")


def test_what_is_kept_gives_the_same_vectors(tmp_path):
    whole = tiny_base(tmp_path / "base", spread=0.5)
    texts = ["the firm must report law3", "what about case7"]
    pieces = shrink(whole, 2, texts, tmp_path / "small")
    small = base(str(tmp_path / "small"))
    held = set(Tokenizer.from_file(str(small.tokenizer)).get_vocab())
    assert held == {"[PAD]", "[UNK]", "[CLS]", "[SEP]", *"0123456789", *" ".join(texts).split()}
    assert len(held) == pieces
    vectors = [embed(encoder_net(each), open_tokenizer(each.tokenizer, 32), texts) for each in (whole, small)]
    assert vectors[0].detach().numpy() == pytest.approx(vectors[1].detach().numpy(), abs=1e-6)
    unknown = open_tokenizer(small.tokenizer, 32).encode("law5 firm").tokens
    assert unknown == ["[CLS]", "[UNK]", "firm", "[SEP]"]  # the toy vocabulary has no single characters


def test_rare_pieces_are_left_out(tmp_path):
    whole = tiny_base(tmp_path / "base")
    shrink(whole, 1, ["firm firm must", "must the"], tmp_path / "small", least=2)
    held = set(Tokenizer.from_file(str(tmp_path / "small" / "tokenizer.json")).get_vocab())
    assert {"firm", "must"} <= held
    assert "the" not in held


def test_only_the_lowest_layers_are_kept(tmp_path):
    whole = tiny_base(tmp_path / "base")
    shrink(whole, 1, ["firm"], tmp_path / "small")
    config = json.loads((tmp_path / "small" / "config.json").read_text())
    assert config["num_hidden_layers"] == 1
    assert base(str(tmp_path / "small")).terms == whole.terms  # they go with the weights
    net = encoder_net(base(str(tmp_path / "small")))
    assert len(net.encoder.layer) == 1
    first = encoder_net(whole).state_dict()
    assert all(value.equal(first[name]) for name, value in net.state_dict().items() if "encoder.layer.0" in name)


def test_layers_that_the_base_does_not_have(tmp_path):
    with pytest.raises(InputError, match="has 2 layers, 3 cannot be kept"):
        shrink(tiny_base(tmp_path / "base"), 3, ["firm"], tmp_path / "small")


def test_the_command_takes_the_words_of_the_library(tmp_path):
    tiny_base(tmp_path / "base")
    (tmp_path / "rule.md").write_text("# Rules\n\n1. The firm must report law1 within days.\n")
    library.add(tmp_path / "library", [tmp_path / "rule.md"], lambda _: None)
    asked = ["train", "base", str(tmp_path / "small"), "--base", str(tmp_path / "base"), "--layers", "1", "--json"]
    asked = ["--library", str(tmp_path / "library"), *asked]
    result = CliRunner().invoke(app, asked, catch_exceptions=False)
    told = json.loads(result.stdout)
    assert told == {"folder": str(tmp_path / "small"), "layers": 1, "pieces": 4 + 10 + 7}
    assert len(encoder_net(base(told["folder"])).encoder.layer) == 1
