"""A rulebook of a fictional regulator, written for this project, with questions on it."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parent


def rulebook() -> Path:
    """The folder with the documents: five, one of them in two versions."""
    return _FOLDER / "rulebook"


def questions() -> Path:
    """40 questions with the ids of their gold passages (JSONL)."""
    return _FOLDER / "questions.jsonl"


def unanswerable() -> Path:
    """10 questions that the rulebook does not answer (JSONL)."""
    return _FOLDER / "unanswerable.jsonl"
