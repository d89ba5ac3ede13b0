"""How long to wait before a server is asked again."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0  # seconds; doubled at each attempt


@dataclass(frozen=True)
class Clock:
    """Time and chance, for tests to replace. ``jitter`` gives a number from 0 to 1."""

    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random


def pause(attempt: int, clock: Clock) -> float:
    """Seconds before the next attempt: doubled each time, between half of it and all of it by chance."""
    return min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** (attempt - 1)) * (0.5 + clock.jitter() / 2)


def retry_after(value: str | None, clock: Clock) -> float | None:
    """Seconds that the header ``Retry-After`` asks to wait: it holds seconds or a date. None for neither."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - clock.wall()
        except (ValueError, OverflowError, OSError):
            return None
    return max(0.0, seconds) if abs(seconds) < float("inf") else None
