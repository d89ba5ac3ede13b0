"""The last layer of a classifier for its first token alone: nothing else of what it gives is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module


def first_alone(net: Module) -> Callable[[], None] | None:
    """Let the last layer go on with the first token alone once its attention has read all; returns what takes it back,
    None where a network has no such layer. One that reads other tokens too then gives other logits. The last hidden
    states of a text are then one."""
    found = [place for part in net.modules() if (place := _after_attention(part)) is not None]
    return found[0].register_forward_pre_hook(_cut).remove if len(found) == 1 else None


def _after_attention(part: Any) -> Any:  # noqa: ANN401  # a class of transformers
    layers: Any = getattr(part, "layer", None)
    last = layers[-1] if hasattr(layers, "__getitem__") and len(layers) else None
    return getattr(getattr(last, "attention", None), "output", None)


def _cut(_: Module, states: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """The first token of each text, of states of the shape (texts, tokens, width)."""
    return tuple(each[:, :1] for each in states)
