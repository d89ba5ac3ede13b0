"""What reading one file may cost. Readers look at `allowed` where they unpack or count; the rest is forced on them."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, fields

from responsa.errors import InputError

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """``seconds`` of waiting for a file; ``memory`` of the process that reads it, the ``size`` of the file and what it
    may be ``expanded`` to when it is unpacked, in MiB; ``pages`` of a document that has pages."""

    seconds: float = 120.0
    memory: int = 3072
    size: int = 256
    expanded: int = 512
    pages: int = 5000

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if not value > 0:
                raise InputError(f"{each.name} is {value}, but a limit must be above 0; leave it out for the default")


DEFAULT = Limits()

allowed: ContextVar[Limits] = ContextVar("allowed", default=DEFAULT)
"""The limits of the file that is being read."""
