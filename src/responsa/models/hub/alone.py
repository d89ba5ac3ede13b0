"""One call at a time in a model of the hub.

A fast tokenizer is switched between padding and none at every call: of two threads in one model each reads what the
other has set.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from torch.nn import Module

P = ParamSpec("P")
T = TypeVar("T")

_GUARD = threading.Lock()
_LOCKS: WeakKeyDictionary[Module, threading.Lock] = WeakKeyDictionary()


def alone(model: Module) -> threading.Lock:
    """The lock of a model, to be held while it and its tokenizer run; always the same one."""
    with _GUARD:
        return _LOCKS.setdefault(model, threading.Lock())


def one_by_one(act: Callable[P, T]) -> Callable[P, T]:
    """The same, which one thread does at a time."""
    lock = threading.Lock()

    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        with lock:
            return act(*args, **kwargs)

    return guarded
