"""Texts of a network in batches of like length, on a CPU several at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from responsa.models.tokens import alike

if TYPE_CHECKING:
    import torch

_ON_CPU = 4  # texts in a batch
_AT_ONCE = 8  # batches, each with memory of its own
_START, _START_ON_GPU = 32, 1024  # tokens that could be read in the time that a batch takes by itself
_PARTED = threading.Lock()  # whoever parts torch's threads: how many there are is said for the whole process


def in_batches(
    lengths: Sequence[int], device: torch.device, most: int, run: Callable[[list[int]], None], parallel: bool = True
) -> None:
    """Run texts of so many tokens, by place, in batches of at most ``most``.

    On a CPU as many batches run at a time as torch may use threads, at most eight, each on its share of them:
    measured on two, that takes a sixth to a third less than both on one batch in 8 bits, in 32 bits up to a sixth. A
    batch has no more than four texts there: a larger one is no faster, and in 8 bits inputs are scaled over a batch,
    which a smaller one does more exactly. ``parallel`` False for a network that several threads must not run. What
    ``run`` raises is raised here.
    """
    if device.type != "cpu":
        for places in alike(lengths, most, _START_ON_GPU):
            run(places)
        return
    import torch

    batches = alike(lengths, min(most, _ON_CPU), _START)[::-1]  # the longest first: no thread ends much later
    threads = torch.get_num_threads()
    at_once = min(threads, len(batches), _AT_ONCE)
    if at_once < 2 or not parallel:
        for places in batches:
            run(places)
        return
    met = threading.Barrier(at_once + 1)

    def begin() -> None:
        torch.get_num_threads()  # a thread's first question sets its count: ask before it is set here
        torch.set_num_threads(threads // at_once)  # for this thread, and for those made from now on
        met.wait()

    with _PARTED, ThreadPoolExecutor(at_once, initializer=begin) as pool:
        found = pool.map(run, batches)
        met.wait()
        torch.set_num_threads(threads)
        for _ in found:
            pass


def keeps_state(net: Any) -> bool:  # noqa: ANN401  # a class of transformers
    """Whether a network changes with the texts it reads, so that threads would disturb one another: BigBird's
    attention, positions that turn with the length of a text."""
    config = getattr(net, "config", None)
    turned = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    kind = turned.get("rope_type", turned.get("type", "")) if isinstance(turned, dict) else ""
    return getattr(config, "attention_type", "") == "block_sparse" or kind in ("dynamic", "longrope")
