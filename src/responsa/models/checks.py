"""What every model's output and input are checked for."""

from __future__ import annotations

import re

import numpy as np

from responsa.errors import ModelError
from responsa.models import Vectors

_SURROGATE = re.compile("[\ud800-\udfff]")


def finite(values: Vectors, model: str, what: str = "text") -> Vectors:
    """The values, a row for each text. ModelError, with the number of the text, where one is NaN or infinite."""
    sound = np.isfinite(values).all(axis=1)
    if not sound.all():
        number = int(np.argmin(sound)) + 1
        raise ModelError(
            f"{model}: gave a value that is not finite for {what} {number} of {len(values)}; the model's files may be "
            "damaged: fetch them again"
        )
    return values


def readable(text: str) -> str:
    """The text with lone surrogates, which no tokenizer takes, replaced."""
    return _SURROGATE.sub("\ufffd", text)
