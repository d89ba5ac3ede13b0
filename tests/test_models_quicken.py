"""Networks of the hub made faster: the same logits, by less work, and nothing where the code is not the one we know."""

from __future__ import annotations

import copy
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from responsa.models.hub import memory, packed  # noqa: E402
from responsa.models.hub.first import first_alone  # noqa: E402
from responsa.models.hub.quicken import keeps, quicken  # noqa: E402

SMALL = {
    "vocab_size": 60, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32,
    "num_labels": 3, "max_position_embeddings": 64,
}  # fmt: skip
RELATIVE = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_biased_input": False}


def network(kind):
    torch.manual_seed(0)
    if kind == "bert":
        net = transformers.BertForSequenceClassification(transformers.BertConfig(**SMALL))
    elif kind == "deberta":
        net = transformers.DebertaForSequenceClassification(transformers.DebertaConfig(**SMALL, **RELATIVE))
    else:
        told = {"share_att_key": kind == "shared", "norm_rel_ebd": "layer_norm", "position_buckets": 8}
        config = transformers.DebertaV2Config(**SMALL, **RELATIVE, type_vocab_size=0, **told)
        net = transformers.DebertaV2ForSequenceClassification(config)
    with torch.no_grad():
        for weight in net.parameters():
            weight.add_(torch.randn_like(weight) * 0.3)  # positions must matter
    return net.eval()


def logits(net, length, batch=3):
    ids = torch.arange(batch * length).reshape(batch, length) % 59 + 1
    with torch.inference_mode():
        return net(input_ids=ids).logits


KINDS = ["bert", "deberta", "shared", "alone"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_logits_stay_the_same_text_after_text(kind):
    net = network(kind)
    before = {length: logits(net, length) for length in (1, 5, 40, 9)}
    quicken(net, kind)
    for length, due in [*before.items(), *before.items()]:  # twice: nothing that is kept may be changed by a text
        assert torch.allclose(logits(net, length), due, atol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_the_last_layer_goes_on_with_the_first_token_alone(kind):
    net = network(kind)
    before, seen = logits(net, 7), []
    assert keeps(net, first_alone)
    for layer in getattr(net, net.base_model_prefix).encoder.layer:
        layer.output.register_forward_hook(lambda _part, _given, found: seen.append(tuple(found.shape)))
    assert torch.allclose(logits(net, 7), before, atol=1e-5)
    assert seen == [(3, 7, 16), (3, 1, 16)]


def test_a_network_that_reads_other_tokens_too_keeps_its_last_layer():
    net = network("bert")
    net.bert.pooler.forward = lambda states: states.mean(dim=1)
    before = logits(net, 7)
    assert keeps(net, first_alone) is None
    assert torch.equal(logits(net, 7), before)


@pytest.mark.parametrize("kind", KINDS)
def test_padded_texts_keep_their_logits(kind):
    net = network(kind)
    ids = torch.arange(3 * 20).reshape(3, 20) % 59 + 1
    mask = torch.ones_like(ids)
    mask[0, 5:], mask[2, 19:] = 0, 0
    with torch.inference_mode():
        before = net(input_ids=ids, attention_mask=mask).logits
        quicken(net, kind)
        assert torch.allclose(net(input_ids=ids, attention_mask=mask).logits, before, atol=1e-4)


def test_what_changes_padded_texts_alone_is_taken_back():
    net = network("bert")
    plain = net.forward

    def act(_):
        def forward(input_ids=None, attention_mask=None, **told):
            found = plain(input_ids=input_ids, attention_mask=attention_mask, **told)
            if attention_mask is not None and not attention_mask.all():
                found.logits = found.logits + 1
            return found

        net.forward = forward
        return lambda: vars(net).pop("forward")

    assert keeps(net, act) is None
    assert "forward" not in vars(net)


@pytest.mark.parametrize("fault", ["no logits", "few words", "no such text"])
def test_a_network_that_cannot_be_asked_is_left_as_it_is(fault):
    if fault == "no logits":
        net = transformers.BertModel(transformers.BertConfig(**SMALL))
    elif fault == "few words":
        net = transformers.BertForSequenceClassification(transformers.BertConfig(**SMALL | {"vocab_size": 4}))
    else:
        net = network("bert")
        net.config.attention_type = "block_sparse"
    net.train()
    quicken(net, fault)
    assert net.training
    assert not any("forward" in vars(part) for part in net.modules())


def test_what_cannot_be_done_here_leaves_the_network_as_it_was():
    def act(_):
        raise AttributeError("another release")

    net = network("deberta")
    before = logits(net, 9)
    assert keeps(net, act) is None
    assert torch.equal(logits(net, 9), before)


def test_a_network_of_another_build_has_no_such_layer():
    assert first_alone(torch.nn.Sequential(torch.nn.Linear(16, 32))) is None
    config = transformers.DistilBertConfig(vocab_size=60, dim=16, n_layers=1, n_heads=2, hidden_dim=32)
    assert first_alone(transformers.DistilBertForSequenceClassification(config)) is None


def test_packed_layers_read_any_number_of_rows_with_and_without_bias():
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Linear(32, 8, bias=False)).eval()
    states = [torch.randn(*shape, 16) for shape in ((1,), (2, 5), (1, 3, 200))]
    with torch.inference_mode():
        before = [net(each) for each in states]
        undo = packed.pack(net)
        assert undo
        assert "forward" in vars(net[0])
        for each, due in zip(states, before, strict=True):
            assert torch.allclose(net(each), due, atol=1e-5)
        assert net[0].weight.numel() == 0  # the weights are in memory once
        undo()
        for each, due in zip(states, before, strict=True):
            assert torch.equal(net(each), due)
    assert "forward" not in vars(net[0])


def test_layers_of_other_numbers_are_left_as_they_are():
    net = torch.nn.Sequential(torch.nn.Linear(16, 32).to(torch.bfloat16))
    packed.pack(net)
    assert "forward" not in vars(net[0])


def test_a_torch_without_these_operators_packs_nothing(monkeypatch):
    net = torch.nn.Sequential(torch.nn.Linear(16, 32))
    monkeypatch.setattr(packed, "_packed", lambda layer: torch.ops.mkldnn.no_such_operator)
    assert packed.pack(net) is None
    assert "forward" not in vars(net[0])


@pytest.mark.parametrize("fault", ["wrong", "broken"])
def test_what_changes_the_logits_is_taken_back(fault):
    net = network("deberta")
    before = logits(net, 9)
    layer = net.deberta.encoder.layer[0].attention.self.pos_proj

    def act(_):
        def forward(states):
            if fault == "broken":
                raise RuntimeError("another shape")
            return torch.nn.functional.linear(states, layer.weight) * torch.arange(states.shape[-2])[:, None]

        layer.forward = forward
        return lambda: vars(layer).pop("forward")

    assert keeps(net, act) is None
    assert "forward" not in vars(layer)
    assert torch.equal(logits(net, 9), before)


@pytest.mark.parametrize("kind", KINDS)
def test_8_bits_stay_near(kind):
    net = network(kind)
    before = logits(net, 12)
    quicken(net, kind, int8=True)
    assert any("quantized" in type(part).__module__ for part in net.modules())
    spread = float(before.std()) + 1e-6
    assert float((logits(net, 12) - before).abs().mean()) < 0.5 * spread


def test_who_multiplies_in_8_bits_is_set_for_these_networks_alone():
    before = torch.backends.quantized.engine
    quicken(network("bert"), "bert", int8=True)
    assert torch.backends.quantized.engine == before


def test_memory_is_kept_where_the_library_can():
    """In a process of its own, for it stays so."""
    script = "import platform; from responsa.models.hub.memory import keep; print(keep(), platform.libc_ver()[0])"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert told[0] == str(sys.platform == "linux" and told[1:] == ["glibc"])


def test_another_system_is_left_alone(monkeypatch):
    monkeypatch.setattr("sys.platform", "win32")
    assert not memory.keep()


def test_in_8_bits_biases_make_up_for_what_rounding_shifts():
    """A layer with rounded weights gives, on average over its usual inputs, what it gave before."""
    from responsa.models.hub import int8

    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=40, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64, num_labels=3
    )
    net = transformers.BertForSequenceClassification(config).eval()
    for part in net.modules():
        if isinstance(part, torch.nn.Linear):
            part.weight.data.normal_(std=0.3)
    ids = torch.randint(5, 40, (16, 20), generator=torch.Generator().manual_seed(1))
    plain, mended = copy.deepcopy(net), copy.deepcopy(net)
    usual = int8._mean_inputs
    with torch.inference_mode():
        due = net(input_ids=ids).logits
        int8.in_8_bits(mended, "mended")
        int8._mean_inputs = lambda *_: {}
        try:
            int8.in_8_bits(plain, "plain")
        finally:
            int8._mean_inputs = usual
        off = [float((each(input_ids=ids).logits - due).mean(0).abs().max()) for each in (plain, mended)]
    assert off[1] < off[0]
    assert off[1] < 0.05


def test_what_cannot_be_asked_for_its_inputs_is_rounded_as_it_is():
    from responsa.models.hub import int8

    net = torch.nn.Sequential(torch.nn.Linear(8, 8))
    int8.in_8_bits(net, "small")
    assert torch.isfinite(net(torch.ones(2, 8))).all()
