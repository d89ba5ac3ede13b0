"""DeBERTa without the positions that no token can reach: the same numbers in half the time.

DeBERTa (v2 and v3) projects and compares its whole table of relative positions, 512 of them, for every text. Two tokens
of a text of n are less than n apart, so that a slice from the middle of the table is all that can be read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from responsa.models.hub.positions import encoder_of

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module


def narrow(net: Module) -> Callable[[], None] | None:
    """Let a network read no more of its table than a batch can reach; returns what takes it back, None for networks
    of other kinds, which are left as they are. What a batch can reach is kept in the network: one thread at a time may
    run it (`alone`)."""
    encoder = encoder_of(net)
    if encoder is None or not all(_fits(layer) for layer in encoder.layer):
        return None
    return _install(encoder)


def _fits(layer: Any) -> bool:  # noqa: ANN401  # a layer of transformers
    attention = getattr(getattr(layer, "attention", None), "self", None)
    return isinstance(getattr(attention, "pos_ebd_size", None), int) and hasattr(attention, "position_buckets")


def _install(encoder: Any) -> Callable[[], None]:  # noqa: ANN401
    """Slice the table before every run of the layers, whoever calls them; returns what takes it back."""
    attentions = [layer.attention.self for layer in encoder.layer]
    whole, table = attentions[0].pos_ebd_size, encoder.get_rel_embedding
    reach = whole

    def before(_: Module, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        nonlocal reach
        states = named.get("hidden_states", arguments[0] if arguments else None)
        reach = whole if states is None else _reach(states.shape[-2], attentions[0], whole)
        for attention in attentions:
            attention.pos_ebd_size = reach

    def sliced() -> Tensor:
        found: Tensor = table()
        return found[whole - reach : whole + reach]

    hook = encoder.register_forward_pre_hook(before, with_kwargs=True)
    encoder.get_rel_embedding = sliced

    def undo() -> None:
        hook.remove()
        encoder.get_rel_embedding = table
        for attention in attentions:
            attention.pos_ebd_size = whole

    return undo


def _reach(length: int, attention: Any, whole: int) -> int:  # noqa: ANN401
    """How far from the middle of the table a text of so many tokens reads."""
    import torch
    from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

    if attention.position_buckets <= 0:
        return min(whole, max(1, length))
    furthest = make_log_bucket_position(
        torch.tensor([max(1, length - 1)]), attention.position_buckets, attention.max_relative_positions
    )
    return min(whole, int(furthest.item()) + 1)
