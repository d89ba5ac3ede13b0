"""What the tests of language models share: a clock without time, a model on a local server, short chats."""

from __future__ import annotations

import threading

from responsa.models.chat import Chat, Message, Settings
from responsa.models.chat.client import ApiChat
from responsa.models.chat.wire import Wire
from responsa.pacing import Clock

KEY = "sk-Tr0ub4dor-and-3-more"
NOW = 1_800_000_000.0  # Fri, 15 Jan 2027 08:00:00 GMT


class Time:
    """A clock that sleeping moves on, and nothing else."""

    def __init__(self):
        self.now = 0.0
        self.slept = []
        self.lock = threading.Lock()

    def sleep(self, seconds):
        with self.lock:
            self.slept.append(round(seconds, 6))
            self.now += seconds

    def clock(self, jitter=1.0):
        return Clock(monotonic=lambda: self.now, wall=lambda: NOW + self.now, sleep=self.sleep, jitter=lambda: jitter)


def model_at(server, clock=None, *, timeout=20.0, patience=120.0, required=False, **settings):
    clock = clock or Time().clock()
    wire = Wire(
        "server", "m", server.url, ("RESPONSA_API_KEY",), required, timeout=timeout, patience=patience, clock=clock
    )
    return ApiChat(wire, "local", clock=clock, **settings)


def chat(text="What is due?", system="", settings=None, **more):
    messages = ((Message("system", system),) if system else ()) + (Message("user", text),)
    return Chat(messages, settings or Settings(), **more)
