"""DeBERTa's attention by less work: the numbers of transformers, and nothing else is touched."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from responsa.models.hub import attention  # noqa: E402
from responsa.models.hub.attention import attend  # noqa: E402
from responsa.models.hub.quicken import keeps  # noqa: E402


def deberta(family="v2", **settings):
    torch.manual_seed(0)
    told = {
        "vocab_size": 60, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32,
        "num_labels": 3, "relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_biased_input": False,
        "type_vocab_size": 0, "max_relative_positions": -1, "max_position_embeddings": 64,
    }  # fmt: skip
    if family == "v2":
        told |= {"position_buckets": 8, "norm_rel_ebd": "layer_norm", "share_att_key": True}
        net = transformers.DebertaV2ForSequenceClassification(transformers.DebertaV2Config(**told | settings)).eval()
    else:
        net = transformers.DebertaForSequenceClassification(transformers.DebertaConfig(**told | settings)).eval()
    with torch.no_grad():
        for weight in net.parameters():
            weight.add_(torch.randn_like(weight) * 0.3)  # positions must matter
    return net


def logits(net, length, batch=3, padded=0):
    ids = torch.arange(batch * length).reshape(batch, length) % 59 + 1
    mask = torch.ones_like(ids)
    if padded:
        mask[0, -padded:] = 0
    with torch.inference_mode():
        return net(input_ids=ids, attention_mask=mask).logits


@pytest.mark.parametrize("length", [1, 2, 5, 9, 20, 60])
@pytest.mark.parametrize(
    ("family", "settings"),
    [
        ("v2", {}),
        ("v2", {"position_buckets": -1}),
        ("v2", {"share_att_key": False}),
        ("v2", {"share_att_key": False, "pos_att_type": ["c2p"]}),
        ("v2", {"pos_att_type": ["p2c"]}),
        ("v1", {}),
        ("v1", {"pos_att_type": ["c2p"]}),
        ("v1", {"pos_att_type": ["p2c"], "max_relative_positions": 7}),
    ],
)
def test_the_numbers_stay_the_same(monkeypatch, length, family, settings):
    monkeypatch.setattr(attention, "_BLOCK", 7)  # so that most lengths take several blocks, the last one smaller
    net = deberta(family, **settings)
    padded = length // 3
    before = logits(net, length), logits(net, length, padded=padded)
    assert keeps(net, attend)
    for due, found in zip(before, (logits(net, length), logits(net, length, padded=padded)), strict=True):
        assert torch.allclose(found, due, atol=1e-5)
    assert torch.allclose(logits(net, length), before[0], atol=1e-5)  # nothing that is kept was changed


@pytest.mark.parametrize("family", ["v1", "v2"])
def test_positions_matter_to_these_networks(family):
    net = deberta(family)
    before = logits(net, 9)
    with torch.no_grad():
        net.deberta.encoder.rel_embeddings.weight.zero_()
    assert (logits(net, 9) - before).abs().max() > 1e-2


@pytest.mark.parametrize("family", ["v1", "v2"])
def test_attention_weights_are_given_where_they_are_asked_for(family):
    net = deberta(family)
    layer = net.deberta.encoder.layer[0].attention.self
    states, mask = torch.randn(2, 5, 16), torch.ones(2, 1, 5, 5)
    told = {
        "output_attentions": True,
        "relative_pos": torch.arange(5)[None, :, None] - torch.arange(5),
        "rel_embeddings": net.deberta.encoder.get_rel_embedding(),
    }
    with torch.inference_mode():
        due = layer(states, mask, **told)
        attend(net)
        found = layer(states, mask, **told)
    assert found[1].shape == (2, 2, 5, 5)
    assert all(torch.allclose(one, other) for one, other in zip(found, due, strict=True))


@pytest.mark.parametrize("family", ["v1", "v2"])
@pytest.mark.parametrize("padded", [0, 4])
def test_products_in_16_bits_are_near(family, padded):
    net = deberta(family)
    before = logits(net, 12, padded=padded)
    attend(net, coarse=True)
    found = logits(net, 12, padded=padded)
    assert found.dtype == torch.float32
    assert 0 < float((found - before).abs().max()) < 0.1 * float(before.std())


def test_rows_of_long_texts_are_not_kept(monkeypatch):
    monkeypatch.setattr(attention, "_KEPT", 10)
    net = deberta()
    due = logits(net, 30), logits(net, 9)
    attend(net)
    kept = net.deberta.encoder.layer[0].attention.self.forward.__self__
    for length, each in ((30, due[0]), (9, due[1]), (30, due[0])):
        assert torch.allclose(logits(net, length), each, atol=1e-5)
    assert kept._rows[0] == 9


def test_it_is_taken_back_whole():
    net = deberta()
    before = logits(net, 9)
    attend(net)()
    assert "forward" not in vars(net.deberta.encoder.layer[0].attention.self)
    assert torch.equal(logits(net, 9), before)


@pytest.mark.parametrize(("family", "name"), [("v1", "pos_proj"), ("v2", "pos_key_proj")])
def test_the_table_of_positions_is_not_projected_again(family, name):
    net = deberta(family, **({"share_att_key": False} if family == "v2" else {}))
    before = logits(net, 7)
    attend(net)
    with torch.no_grad():
        getattr(net.deberta.encoder.layer[0].attention.self, name).weight.fill_(torch.nan)
    assert torch.allclose(logits(net, 7), before, atol=1e-5)


WORDS = [f"w{number}" for number in range(55)]


def saved(folder):
    """A tiny DeBERTa and its tokenizer, written to a folder too."""
    (folder / "vocab.txt").write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]), encoding="utf-8"
    )
    tokenizer = transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt"), model_max_length=64)
    net = deberta()
    net.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return net, tokenizer


def test_a_cross_encoder_of_the_hub_gives_what_the_plain_network_gives(tmp_path):
    """Through the library that runs it: texts of several lengths, one after the other."""
    pytest.importorskip("sentence_transformers")
    from responsa.models.load import load_pairs

    net, tokenizer = saved(tmp_path)
    pairs = [(" ".join(WORDS[:size]), " ".join(WORDS[size : 2 * size])) for size in (1, 3, 12, 2, 25, 5)]
    with torch.inference_mode():
        plain = [net(**tokenizer(*pair, return_tensors="pt", return_token_type_ids=False)).logits[0] for pair in pairs]
    scorer = load_pairs(f"hf:{tmp_path}")
    for pair, row in zip(pairs, plain, strict=True):
        assert scorer.score([pair])[0] == pytest.approx(row.numpy(), abs=1e-4)
    assert scorer.score(pairs) == pytest.approx(torch.stack(plain).numpy(), abs=1e-4)


@pytest.mark.parametrize("kind", ["pairs", "texts"])
def test_threads_that_share_a_network_get_what_one_gets(tmp_path, kind):
    """Positions that a batch reaches, and the padding of the tokenizer, are set anew for each call."""
    pytest.importorskip("sentence_transformers")
    from responsa.models.load import load_pairs
    from responsa.models.texts import load_texts

    saved(tmp_path)
    texts = [" ".join(WORDS[:size]) for size in (1, 3, 12, 2, 25, 5)]
    given = [list(two) for two in pairwise(texts)] * 10
    if kind == "pairs":
        given = [[(one, other)] for one, other in given]
    scorer = (load_pairs if kind == "pairs" else load_texts)(f"hf:{tmp_path}")
    due = [scorer.score(each) for each in given]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(4):
            for found, alone in zip(pool.map(scorer.score, given), due, strict=True):
                assert np.allclose(found, alone, atol=1e-5)


def test_other_networks_are_left_alone():
    config = transformers.BertConfig(
        vocab_size=60, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
    )
    assert attend(transformers.BertForSequenceClassification(config).eval()) is None
    assert attend(deberta("v1", relative_attention=False)) is None
    assert attend(deberta("v1", talking_head=True)) is None


def test_code_that_we_do_not_know_is_left_alone(monkeypatch):
    """A release that computes attention in another way: the logits change, and the network stays as it was."""
    net = deberta()
    layer = type(net.deberta.encoder.layer[0].attention.self)
    known = layer.disentangled_attention_bias

    def other(self, *given):
        return known(self, *given) + 0.1 * torch.arange(given[1].shape[-2])

    monkeypatch.setattr(layer, "disentangled_attention_bias", other)
    before = logits(net, 9)
    assert keeps(net, attend) is None
    assert "forward" not in vars(net.deberta.encoder.layer[0].attention.self)
    assert torch.equal(logits(net, 9), before)
