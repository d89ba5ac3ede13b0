"""Work in threads that asks a model, and its end where it is given up."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from responsa.models.chat import ChatModel

T = TypeVar("T")
R = TypeVar("R")

_LOOK = 0.05  # seconds between two looks at what is still running


def in_order(
    work: Callable[[T], R], items: Sequence[T], threads: int, stop: Callable[[], None]
) -> Generator[R, None, None]:
    """What ``work`` makes of each item, ``threads`` at a time, as soon as it and those before it are ready.

    Where one raises or the reader goes away, as by Ctrl-C, the others are given up: see `give_up`.
    """
    executor = ThreadPoolExecutor(max(1, min(threads, len(items))))
    running: list[Future[R]] = []
    try:
        running += [executor.submit(work, item) for item in items]
        for each in running:
            yield each.result()
    finally:
        give_up(executor, running, stop)


def give_up(executor: ThreadPoolExecutor, futures: Sequence[Future[Any]], stop: Callable[[], None]) -> None:
    """Begin nothing more, and wait for what runs. ``stop`` ends requests on their way; it is called until all has
    ended, since work that waits for its turn may send another."""
    executor.shutdown(wait=False, cancel_futures=True)
    while running := [each for each in futures if not each.done()]:
        stop()
        wait(running, timeout=_LOOK)
    executor.shutdown()


def stopper(model: ChatModel) -> Callable[[], None]:
    """What ends the requests that are on their way to a model; of one that sends none, nothing."""
    found: Callable[[], None] = getattr(model, "cancel", lambda: None)
    return found
