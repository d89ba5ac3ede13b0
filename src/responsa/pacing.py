"""When a server is asked: limits per minute, time limits, and how long to wait before it is asked again."""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from responsa.errors import InputError

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0  # seconds; doubled at each attempt
LONGEST_LIMIT = 1e6  # seconds of a time limit: eleven days; of more than some billions sockets make nothing


@dataclass(frozen=True)
class Clock:
    """Time and chance, for tests to replace. ``jitter`` gives a number from 0 to 1."""

    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random

    def wait(self, seconds: float, event: threading.Event) -> bool:
        """Sleep, until the event at the longest; whether it came."""
        if self.sleep is time.sleep:
            return event.wait(seconds)
        self.sleep(seconds)
        return event.is_set()


class Pace:
    """The turns of requests that share limits per minute (None: no limit). Safe for threads."""

    def __init__(self, requests_per_minute: float | None, tokens_per_minute: float | None, clock: Clock) -> None:
        self._requests, self._tokens, self._clock = requests_per_minute, tokens_per_minute, clock
        self._lock = threading.Lock()
        self._free_at = self._held_until = 0.0
        self._given_up = threading.Event()

    def turn(self, tokens: int) -> None:
        """Wait until the limits allow a request of that many tokens, and any `hold` is over, also one that began
        meanwhile: then for another turn. CancelledError as from `sleep`."""
        gap = 60.0 / self._requests if self._requests else 0.0
        if self._tokens:
            gap = max(gap, tokens * 60.0 / self._tokens)
        while True:
            now = self._clock.monotonic()
            with self._lock:
                start = max(now, self._free_at)
                self._free_at = start + gap
            if start > now:
                self.sleep(start - now)
            if start >= self._held_until:
                return

    def sleep(self, seconds: float) -> None:
        """Sleep so long. CancelledError where `give_up` is called meanwhile."""
        if self._clock.wait(min(seconds, threading.TIMEOUT_MAX), self._given_up):
            raise CancelledError("given up while it waited for its turn")

    def give_up(self) -> None:
        """End the waiting of all that wait now."""
        with self._lock:
            given_up, self._given_up = self._given_up, threading.Event()
        given_up.set()

    def hold(self, seconds: float) -> None:
        """Let no thread begin a request for so long: a server that is too busy for one is so for all."""
        with self._lock:
            self._held_until = max(self._held_until, self._clock.monotonic() + seconds)
            self._free_at = max(self._free_at, self._held_until)


def check_limit(name: str, value: float | None, most: float = math.inf) -> None:
    """InputError where it is not a finite number above 0 and up to ``most``; None, for no limit, passes."""
    if value is not None and not (0 < value <= most and value < math.inf):
        due = "a finite number above 0" + (f" and up to {most:,.0f}" if most < math.inf else "")
        raise InputError(f"{name}: expected {due}, got {value!r}")


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
