"""How freed memory is kept for the next layer, on Linux."""

from __future__ import annotations

import ctypes
import sys

# Of malloc.h: blocks from this size on come from the system one by one, and free memory beyond that goes back to it.
_TRIM, _ONE_BY_ONE = -1, -3
_BYTES = 1 << 30


def keep() -> bool:
    """Let the C library keep the blocks that networks free; True where that was done.

    It else gives every large one back at once, and the next layer gets pages that have to be zeroed first: measured, a
    batch of four sentences took a fifth longer with that, one of sixteen twice as long. The process stays as large as
    it has once been. Only glibc is known to have these settings; others are left alone.
    """
    if sys.platform != "linux":
        return False
    try:
        library = ctypes.CDLL(None)
        library.gnu_get_libc_version  # noqa: B018  # only glibc has it
        return bool(library.mallopt(_ONE_BY_ONE, _BYTES)) and bool(library.mallopt(_TRIM, _BYTES))
    except (AttributeError, OSError):
        return False
