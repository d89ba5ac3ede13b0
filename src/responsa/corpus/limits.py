"""What reading one file may cost. Readers look at `allowed` where they unpack or count; the rest is forced on them."""

from __future__ import annotations

import re
from contextvars import ContextVar
from dataclasses import dataclass, fields

from responsa.errors import InputError

MIB = 1 << 20
_LANGUAGES = re.compile(r"\w+(?:\+\w+)*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Limits:
    """``seconds`` of waiting for a file; ``memory`` of the process that reads it, the ``size`` of the file and what it
    may be ``expanded`` to when it is unpacked, in MiB; ``pages`` of a document that has pages.

    ``ocr`` names the languages of Tesseract (``deu+eng``) in which pages that are pictures are read; empty: they are
    not, for that takes seconds a page."""

    seconds: float = 120.0
    memory: int = 3072
    size: int = 256
    expanded: int = 512
    pages: int = 5000
    ocr: str = ""

    def __post_init__(self) -> None:
        if self.ocr and not _LANGUAGES.fullmatch(self.ocr):
            raise InputError(f"ocr is {self.ocr!r}; give Tesseract's names of languages, such as eng or deu+eng")
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name != "ocr" and not value > 0:
                raise InputError(f"{each.name} is {value}, but a limit must be above 0; leave it out for the default")


DEFAULT = Limits()

allowed: ContextVar[Limits] = ContextVar("allowed", default=DEFAULT)
"""The limits of the file that is being read."""
