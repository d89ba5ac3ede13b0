"""DeBERTa's table of relative positions, projected once: every layer else projects it anew for every batch.

A layer compares its tokens with projections of the table. Neither depends on the text, so what a layer asks for are
rows of two projections known beforehand. In 8 bits they stay those of the weights in 32.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module

_ALONE = ("pos_proj", "pos_q_proj", "pos_key_proj", "pos_query_proj")  # read the table and nothing else
_SHARED = ("query_proj", "key_proj")  # read it too where a layer has none of these


@dataclass(frozen=True)
class Positions:
    """The table as the layers get it, and its projections by the name of the module that makes them."""

    table: Tensor
    projected: dict[str, Tensor]


def project(net: Module) -> Positions | None:
    """Project the table of a network by every layer; None for one that has no such table."""
    import torch

    encoder = encoder_of(net)
    if encoder is None:
        return None
    with torch.inference_mode():
        table = encoder.get_rel_embedding()
        if table is None:
            return None
        table = table.detach().clone()
        return Positions(table, {name: module(table) for name, module in _projections(net)})


def install(net: Module, positions: Positions) -> Callable[[], None]:
    """Let the network read these rows; returns what takes it back. The modules may have been replaced since by others
    of the same names."""
    encoder = encoder_of(net)
    made = encoder.get_rel_embedding
    encoder.get_rel_embedding = lambda: positions.table
    modules = dict(net.named_modules())
    for name, rows in positions.projected.items():
        modules[name].forward = _reading(modules[name].forward, positions.table, rows)

    def undo() -> None:
        encoder.get_rel_embedding = made
        for name in positions.projected:
            del modules[name].forward

    return undo


def encoder_of(net: Module) -> Any:  # noqa: ANN401  # a class of transformers
    """The layers of a network with a table of relative positions; None for one of another kind."""
    found = [part for part in net.modules() if hasattr(part, "get_rel_embedding") and hasattr(part, "layer")]
    return found[0] if len(found) == 1 else None


def _projections(net: Module) -> list[tuple[str, Module]]:
    found = []
    for place, part in net.named_modules():
        if hasattr(part, "pos_att_type") and getattr(part, "relative_attention", False):
            alone = [name for name in _ALONE if hasattr(part, name)]
            shared = [name for name in _SHARED if hasattr(part, name)]
            found += [(f"{place}.{name}", getattr(part, name)) for name in alone or shared]
    return found


def _reading(forward: Callable[[Tensor], Tensor], table: Tensor, rows: Tensor) -> Callable[[Tensor], Tensor]:
    """``forward`` of what is no part of the table, else the rows projected, as a copy: layers scale it in place."""
    memory = table.untyped_storage().data_ptr()
    width = table.shape[-1]

    def read(states: Tensor) -> Tensor:
        if states.untyped_storage().data_ptr() != memory or not states.is_contiguous():
            return forward(states)
        first = states.storage_offset() // width
        found = rows[first : first + states.numel() // width].clone()
        return found.reshape(*states.shape[:-1], rows.shape[-1])

    return read
