"""Parts to train and to test on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

from responsa.errors import InputError
from responsa.learn.eba.inquiries import Inquiry
from responsa.text import folded


def folds(
    inquiries: Sequence[Inquiry], n: int = 5, seed: int = 0
) -> tuple[tuple[tuple[Inquiry, ...], tuple[Inquiry, ...]], ...]:
    """(training, test) of ``n`` folds, told by seed and ids alone: the same on every machine, in any order.

    Inquiries that ask the same question, word for word, are in one fold.
    """
    if n < 2:
        raise InputError(f"folds: at least 2 are needed, got {n}")
    first: dict[str, str] = {}
    for item in inquiries:
        key = _key(item)
        first[key] = min(item.id, first.get(key, item.id))
    place = {item.id: int(sha256(f"{seed} {first[_key(item)]}".encode()).hexdigest(), 16) % n for item in inquiries}
    return tuple(
        (
            tuple(item for item in inquiries if place[item.id] != k),
            tuple(item for item in inquiries if place[item.id] == k),
        )
        for k in range(n)
    )


def without_copies(training: Iterable[Inquiry], test: Iterable[Inquiry]) -> tuple[Inquiry, ...]:
    """The inquiries of ``training`` whose question is not, word for word, one of ``test``."""
    tested = {_key(item) for item in test}
    return tuple(item for item in training if _key(item) not in tested)


def _key(inquiry: Inquiry) -> str:
    return folded(inquiry.question)
