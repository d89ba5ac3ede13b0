"""One thread at a time in a model of the hub.

A fast tokenizer is switched between padding and none at every call: of two threads in one model each reads what the
other has set.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from torch.nn import Module

_GUARD = threading.Lock()
_LOCKS: WeakKeyDictionary[Module, threading.Lock] = WeakKeyDictionary()


def alone(model: Module) -> threading.Lock:
    """The lock of a model, to be held while it and its tokenizer run; always the same one."""
    with _GUARD:
        return _LOCKS.setdefault(model, threading.Lock())
