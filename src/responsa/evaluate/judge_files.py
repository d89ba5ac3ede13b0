"""Files that a judge needs: answers with their references, rated examples, the calibration set that ships."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from responsa.errors import InputError
from responsa.evaluate.judge import Case, Example
from responsa.evaluate.ratings import SCALE
from responsa.evaluate.repass_files import read_answers
from responsa.storage import parse_json, read_json_lines, read_text

CALIBRATION = "calibration.jsonl"
EXAMPLES = "judge_examples.jsonl"
# The keys that the answers, questions and ids of a reference stand under, by format.
_IDS = ("id", "qa_id", "QuestionID")
_ANSWERS = ("answer", "reference", "Answer")
_QUESTIONS = ("question", "Question")
_BACKGROUNDS = ("background", "Background")


@dataclass(frozen=True, slots=True)
class Reference:
    """An official answer; question and background are empty where the file does not tell them."""

    answer: str
    question: str = ""
    background: str = ""


@dataclass(frozen=True)
class Submission:
    """The answers of one file to be rated, and what cannot be: ``unanswered`` by id with the reason, and the ids that
    have no reference."""

    approach: str
    cases: tuple[Case, ...]
    unanswered: Mapping[str, str]
    without_reference: tuple[str, ...]


def read_submission(path: Path, references: Mapping[str, Reference], approach: str = "") -> Submission:
    """The answers of a file in the RIRAG submission format beside their references.

    The question is the file's own, else that of the reference. InputError where an id comes twice, where no answer has
    a reference, and for a question that neither file tells.
    """
    cases: dict[str, Case] = {}
    unanswered: dict[str, str] = {}
    without = []
    for item in read_answers(path):
        if item.id in cases or item.id in unanswered or item.id in without:
            raise InputError(f"{path}: question {item.id!r} is answered twice; leave one answer")
        reference = references.get(item.id)
        if reference is None:
            without.append(item.id)
        elif item.reason:
            unanswered[item.id] = item.reason
        else:
            question = item.question.strip() or reference.question
            if not question.strip():
                raise InputError(f"{path}: question {item.id!r}: neither it nor its reference has the question's text")
            answer, background = reference.answer, reference.background
            cases[item.id] = Case(item.id, question, answer, item.answer, background, approach)
    if not cases and not unanswered:
        raise InputError(f"{path}: no answer has a reference: no question id stands in both files")
    return Submission(approach, tuple(cases.values()), unanswered, tuple(without))


def read_references(path: Path) -> dict[str, Reference]:
    """Official answers by question id: JSONL with ``id`` and ``answer`` (or ``reference``), the archive of the EBA's
    Q&A (``qa_id``), JSON with an object of id to answer, or a list in the submission format.

    InputError for a question that is answered twice or has no answer, with its place.
    """
    found: dict[str, Reference] = {}
    for place, row in _rows(path):
        name, answer = _first(row, _IDS), _first(row, _ANSWERS)
        if isinstance(name, int) and not isinstance(name, bool):
            name = str(name)
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"{place}: the id is {name!r}; expected text under 'id', 'qa_id' or 'QuestionID'")
        if not isinstance(answer, str) or not answer.strip():
            raise InputError(f"{place}: {name!r} has no official answer; expected text under 'answer' or 'reference'")
        if name.strip() in found:
            raise InputError(f"{place}: {name!r} is given twice; leave one official answer")
        question, background = _first(row, _QUESTIONS), _first(row, _BACKGROUNDS)
        found[name.strip()] = Reference(answer.strip(), _text(question), _text(background))
    if not found:
        raise InputError(f"{path}: holds no official answer")
    return found


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _first(row: Mapping[str, object], keys: Sequence[str]) -> object:
    return next((row[key] for key in keys if key in row), None)


def read_examples(path: Path) -> tuple[Example, ...]:
    """Rated answers: JSONL with ``question``, ``reference``, ``answer``, ``rating`` from 1 to 4 and ``why``, and with
    ``id`` and ``background`` if wanted. InputError names the line."""
    examples: list[Example] = []
    seen: dict[str, str] = {}
    for place, row in _rows(path):
        for key in ("question", "reference", "answer", "why"):
            if not _text(row.get(key)):
                raise InputError(f"{place}: {key!r} is {row.get(key)!r}; expected text")
        rating = row.get("rating")
        if type(rating) is not int or rating not in SCALE:
            raise InputError(f"{place}: 'rating' is {rating!r}; expected 1, 2, 3 or 4")
        name = _text(row.get("id")) or str(len(examples) + 1)
        if name in seen:
            raise InputError(f"{place}: the id {name!r} is given twice (first at {seen[name]})")
        seen[name] = place
        question, reference, answer = (_text(row[key]) for key in ("question", "reference", "answer"))
        case = Case(name, question, reference, answer, _text(row.get("background")))
        examples.append(Example(case, rating, _text(row["why"])))
    if not examples:
        raise InputError(f"{path}: holds no rated answer")
    return tuple(examples)


def calibration() -> tuple[Example, ...]:
    """The 60 rated answers that ship, 15 of each rating, written for this project."""
    return read_examples(_shipped(CALIBRATION))


def default_examples() -> tuple[Example, ...]:
    """The eight examples that ship, two of each rating. None of them is in the calibration set."""
    return read_examples(_shipped(EXAMPLES))


def _shipped(name: str) -> Path:
    return Path(str(resources.files("responsa"))) / "evaluate" / name


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """(place, object) of each row of a file."""
    found: Iterable[tuple[str, object]] = read_json_lines(path)
    if path.suffix.lower() == ".json":
        value = parse_json(read_text(path), str(path))
        if isinstance(value, dict):
            value = [{"id": key, "answer": answer} for key, answer in value.items()]
        if not isinstance(value, list):
            raise InputError(f"{path}: expected an object of id to answer or a list, found {type(value).__name__}")
        found = [(f"{path}: [{index}]", row) for index, row in enumerate(value)]
    for place, row in found:
        if not isinstance(row, dict):
            raise InputError(f"{place}: expected an object, found {type(row).__name__}")
        yield place, row
