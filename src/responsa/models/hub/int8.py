"""Networks with weights in 8 bits, on a CPU."""

from __future__ import annotations

import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from responsa.errors import InputError, ModelError

if TYPE_CHECKING:
    from torch import Tensor
    from torch.nn import Module

_HEAD = frozenset(
    {
        "classification_head",
        "classifier",
        "head",
        "logits_proj",
        "pooler",
        "pre_classifier",
        "score",
        "sequence_summary",
    }
)
_PROBE, _ROWS = (8, 32), 64  # texts of so many tokens; inputs of a layer whose mean says something
_ENGINE = threading.Lock()  # who multiplies is said for the whole process


def check_device(device: str) -> None:
    """InputError for a device that has no arithmetic in 8 bits here."""
    if device not in ("", "cpu"):
        raise InputError(f"int8: runs on the CPU alone, not on {device!r}; leave one of the two settings out")


def in_8_bits(net: Module, model: str) -> None:
    """Replace the linear layers in place, but for the head and the pooler below it: weights in 8 bits with a scale for
    each output, inputs brought to 8 bits as they come.

    Inputs are scaled over a whole batch, so that a text's scores depend a little on the others in its batch. What
    rounded weights shift on average is taken back by the biases (`_mean_inputs`; Nagel et al. 2019, section 4.2).
    """
    import torch

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it announces its successor, an extra library
            quantization = torch.ao.quantization
            chosen = {
                name: quantization.per_channel_dynamic_qconfig
                for name, part in net.named_modules()
                if isinstance(part, torch.nn.Linear) and not _HEAD.intersection(name.split("."))
            }
            means = _mean_inputs(net, chosen)
            exact = {name: net.get_submodule(name).weight.detach() for name in means}
            with _engine():
                quantization.quantize_dynamic(net, chosen, dtype=torch.qint8, inplace=True)
                for name, mean in means.items():
                    part: Any = net.get_submodule(name)
                    if type(part) is not torch.ao.nn.quantized.dynamic.Linear:  # one of another kind stays as it is
                        continue
                    rounded, bias = part.weight(), part.bias()
                    shift = (exact[name] - rounded.dequantize()) @ mean
                    part.set_weight_bias(rounded, shift if bias is None else bias.detach() + shift)
        if torch.cpu._is_vnni_supported():
            _read_whole(net)
    except Exception as error:  # a build of torch without it, a processor without it
        raise ModelError(f"{model}: cannot be run in 8 bits here ({error}); leave out int8=yes") from error


def _mean_inputs(net: Module, layers: Iterable[str]) -> dict[str, Tensor]:
    """The mean of what each layer is given, over tokens drawn at random; empty where the network does not take them,
    and for one that a short text would change. A layer that is given few
    has none: the last ones read the first token alone, which in texts is not a random one. Measured with random
    weights on the shapes of nli-deberta-v3-xsmall, BERT and deberta-large, the mean error of a logit is .057, .084 and
    .162 without, .037, .042 and .117 with means of all layers."""
    import torch

    if getattr(getattr(net, "config", None), "attention_type", "") == "block_sparse":  # BigBird, once and for all
        return {}
    sums: dict[str, Tensor] = {}
    counts: Counter[str] = Counter()

    def noting(name: str) -> Callable[[Module, tuple[Tensor, ...]], None]:
        def note(_part: Module, given: tuple[Tensor, ...]) -> None:
            rows = given[0].detach().flatten(0, -2).float()
            sums[name] = sums.get(name, 0) + rows.sum(0)
            counts[name] += len(rows)

        return note

    hooks = [net.get_submodule(name).register_forward_pre_hook(noting(name)) for name in layers]
    try:
        network: Any = net
        vocabulary = int(network.get_input_embeddings().num_embeddings)
        chance = torch.Generator().manual_seed(0)
        with torch.inference_mode():
            net(input_ids=torch.randint(min(5, vocabulary - 1), vocabulary, _PROBE, generator=chance))
    except Exception:  # it reads something else
        return {}
    finally:
        for hook in hooks:
            hook.remove()
    return {
        name: total / counts[name] for name, total in sums.items() if counts[name] >= _ROWS and total.isfinite().all()
    }


def coarse_is_fast() -> bool:
    """Whether the processor multiplies brain floats of 16 bits itself."""
    import torch

    asked = ("_is_avx512_bf16_supported", "_is_amx_tile_supported")
    return any(getattr(torch.cpu, name, lambda: False)() for name in asked)


@contextmanager
def _engine() -> Iterator[None]:
    """Let oneDNN multiply where the processor has instructions for it: measured a twentieth faster there."""
    import torch

    engines = torch.backends.quantized
    with _ENGINE:
        usual = engines.engine
        if torch.cpu._is_vnni_supported() and "onednn" in engines.supported_engines:
            engines.engine = "onednn"
        try:
            yield
        finally:
            engines.engine = usual


def _read_whole(net: Module) -> None:
    """Let the layers use 8 bits of their inputs. torch uses 7, for processors whose sums of products overflow; those
    with instructions of their own for it (VNNI) do not."""
    import torch

    def reading(packed: object) -> Callable[[Tensor], Tensor]:
        linear = torch.ops.quantized.linear_dynamic

        def forward(states: Tensor) -> Tensor:
            found: Tensor = linear(states, packed, reduce_range=False)
            return found

        return forward

    for part in net.modules():
        if type(part) is torch.ao.nn.quantized.dynamic.Linear:
            part.forward = reading(part._packed_params._packed_params)
