"""Classifiers of the hub made faster without another result.

Each means changes how a network of transformers computes, and is kept only where the logits of a few texts stay the
same: the code of a release that we do not know is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from responsa.models.hub.attention import attend
from responsa.models.hub.first import first_alone
from responsa.models.hub.int8 import coarse_is_fast, in_8_bits
from responsa.models.hub.memory import keep
from responsa.models.hub.packed import pack

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module

Undo = Callable[[], None]
_SAME = 5e-5  # how far logits may be apart to count as equal: sums of 32 bits in another order


def quicken(net: Module, model: str, int8: bool = False) -> None:
    """Compute DeBERTa's attention and the last layer by less work, and lay weights out for oneDNN, or bring them to 8
    bits (`in_8_bits`, whose logits are others); memory is kept from one layer to the next. For inference alone.
    ``model`` names the network in errors."""
    keep()
    due = _logits(net)
    attending = keeps(net, attend, due)
    keeps(net, first_alone, due)
    if int8:
        if attending and coarse_is_fast():
            attending()
            attend(net, coarse=True)
        in_8_bits(net, model)
    else:
        keeps(net, pack, due)


def keeps(net: Module, act: Callable[[Module], Undo | None], due: list[Tensor] | None = None) -> Undo | None:
    """Do it to the network. What takes it back, or None where nothing was done, where the logits changed and it was
    taken back, and where the network does not say what they are. ``due`` are its logits before, where they are known.
    """
    import torch

    due = due or _logits(net)
    if due is None:
        return None
    try:
        undo = act(net)
    except Exception:  # another release of transformers may lack anything that is looked for here
        return None
    if undo is None:
        return None
    found = _logits(net)
    if found and all(torch.allclose(one, other, atol=_SAME) for one, other in zip(due, found, strict=True)):
        return undo
    undo()
    return None


def _logits(net: Module) -> list[Tensor] | None:
    """Of texts of two lengths, the first again at the end, and of one that is padded; None where they cannot be had,
    and for a network that a short text would change."""
    import torch

    if getattr(getattr(net, "config", None), "attention_type", "") == "block_sparse":  # BigBird, once and for all
        return None
    was_training = net.training
    net.eval()
    try:
        ids = torch.arange(2 * 24, device=next(net.parameters()).device).reshape(2, 24) % 5 + 1
        mask = torch.ones_like(ids)
        mask[0, -7:] = 0
        with torch.inference_mode():
            found = [net(input_ids=each).logits for each in (ids, ids[:, :3], ids[:1])]
            return [*found, net(input_ids=ids, attention_mask=mask).logits]
    except Exception:  # it reads something else, or gives no logits
        return None
    finally:
        net.train(was_training)
