"""Networks of the hub made faster: the same logits, by less work, and nothing where the code is not the one we know."""

from __future__ import annotations

import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from responsa.models.hub import memory, packed, positions  # noqa: E402
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


@pytest.mark.parametrize(("kind", "name"), [("deberta", "pos_proj"), ("alone", "pos_key_proj")])
def test_the_table_of_positions_is_projected_once(kind, name):
    net = network(kind)
    found = positions.project(net)
    assert len(found.projected) == 4  # two layers, two projections each
    before = logits(net, 7)
    positions.install(net, found)
    with torch.no_grad():
        getattr(net.deberta.encoder.layer[0].attention.self, name).weight.fill_(torch.nan)  # never read again
    assert torch.allclose(logits(net, 7), before, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS[1:])
def test_nor_is_it_by_packed_layers(kind, monkeypatch):
    read, plain = [], packed._packed

    def watched(layer):
        forward = plain(layer)

        def watching(states):
            read.append(states.untyped_storage().data_ptr())
            return forward(states)

        return watching

    monkeypatch.setattr(packed, "_packed", watched)
    net = network(kind)
    quicken(net, kind)
    read.clear()
    logits(net, 7)
    assert read
    assert net.deberta.encoder.get_rel_embedding().untyped_storage().data_ptr() not in read


def test_a_network_without_such_a_table_has_nothing_to_project():
    assert positions.project(network("bert")) is None
    config = transformers.DebertaConfig(**SMALL, relative_attention=False)
    assert positions.project(transformers.DebertaForSequenceClassification(config)) is None


def test_what_is_no_row_of_the_table_goes_through_the_layer():
    table, rows = torch.arange(12.0).reshape(4, 3), torch.arange(8.0).reshape(4, 2)
    read = positions._reading(lambda states: -states, table, rows)
    assert torch.equal(read(table[1:3].unsqueeze(0)), rows[1:3].unsqueeze(0))
    copy = table[1:3].clone()
    assert torch.equal(read(copy), -copy)
    read(table[1:3]).zero_()
    assert torch.equal(read(table[1:3]), rows[1:3])  # what a layer does in place harms nothing


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


@pytest.mark.parametrize(("kind", "name"), [("deberta", "pos_proj"), ("alone", "pos_key_proj"), ("shared", "key_proj")])
def test_in_8_bits_positions_are_those_of_32(kind, name):
    due = positions.project(network(kind))
    net = network(kind)
    quicken(net, kind, int8=True)
    attention = net.deberta.encoder.layer[0].attention.self
    logits(net, 12)
    table = net.deberta.encoder.get_rel_embedding()
    first = table.storage_offset() // table.shape[-1]
    rows = due.projected[f"deberta.encoder.layer.0.attention.self.{name}"][first : first + len(table)]
    assert torch.allclose(getattr(attention, name)(table), rows, atol=1e-5)


def test_memory_is_kept_where_the_library_can():
    """In a process of its own, for it stays so."""
    script = "import platform; from responsa.models.hub.memory import keep; print(keep(), platform.libc_ver()[0])"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert told[0] == str(sys.platform == "linux" and told[1:] == ["glibc"])


def test_another_system_is_left_alone(monkeypatch):
    monkeypatch.setattr("sys.platform", "win32")
    assert not memory.keep()
