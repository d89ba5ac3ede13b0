"""DeBERTa run on a slice of its positions: the same numbers, and nothing else is touched."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from responsa.models.hub.quicken import keeps  # noqa: E402
from responsa.models.hub.spans import narrow  # noqa: E402


def deberta(**settings):
    torch.manual_seed(0)
    told = {"position_buckets": 8, "max_relative_positions": -1, "max_position_embeddings": 64, **settings}
    config = transformers.DebertaV2Config(
        vocab_size=60, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32, num_labels=3,
        relative_attention=True, pos_att_type=["p2c", "c2p"], position_biased_input=False, type_vocab_size=0,
        norm_rel_ebd="layer_norm", share_att_key=True, **told,
    )  # fmt: skip
    net = transformers.DebertaV2ForSequenceClassification(config).eval()
    with torch.no_grad():
        for weight in net.parameters():
            weight.add_(torch.randn_like(weight) * 0.3)  # positions must matter
    return net


def logits(net, length, batch=3):
    ids = torch.arange(batch * length).reshape(batch, length) % 59 + 1
    with torch.inference_mode():
        return net(input_ids=ids).logits


@pytest.mark.parametrize("length", [1, 2, 5, 9, 20, 60])
@pytest.mark.parametrize("settings", [{}, {"position_buckets": -1}, {"share_att_key": False}])
def test_the_numbers_stay_the_same(length, settings):
    share = settings.pop("share_att_key", True)
    net = deberta(**settings)
    if not share:
        net.config.share_att_key = False
        net = transformers.DebertaV2ForSequenceClassification(net.config).eval()
    before = logits(net, length)
    assert keeps(net, narrow)
    assert torch.allclose(logits(net, length), before, atol=1e-5)


def test_short_texts_read_a_slice_and_long_ones_after_them_all_they_need():
    net = deberta()
    narrow(net)
    attention = net.deberta.encoder.layer[0].attention.self
    logits(net, 3)
    short = attention.pos_ebd_size
    logits(net, 60)
    assert short < attention.pos_ebd_size <= 8


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
    net = transformers.BertForSequenceClassification(config).eval()
    assert narrow(net) is None


def test_code_that_we_do_not_know_is_left_alone(monkeypatch):
    """A release that counts positions in another way: the logits change, and the network stays as it was."""
    net = deberta()
    before, table = logits(net, 9), net.deberta.encoder.get_rel_embedding
    attention = type(net.deberta.encoder.layer[0].attention.self)
    known = attention.disentangled_attention_bias

    def other(self, query, key, positions, embeddings, factor):
        return known(self, query, key, positions, embeddings, factor) + 0.1 * (self.pos_ebd_size != 8) * torch.arange(
            key.shape[-2]
        )

    monkeypatch.setattr(attention, "disentangled_attention_bias", other)
    monkeypatch.setattr("responsa.models.hub.spans._reach", lambda *_: 3)
    assert keeps(net, narrow) is None
    assert net.deberta.encoder.get_rel_embedding == table
    assert torch.equal(logits(net, 9), before)
