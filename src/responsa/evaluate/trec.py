"""Files of runs and of gold: TREC run files in and out, TREC qrels and ObliQA-style questions in.

A run file has six columns, ``qid Q0 docid rank score name``, a qrels file four, ``qid 0 docid grade``.
Files are UTF-8; a byte-order mark, Windows line ends and blank lines are accepted.
"""

from __future__ import annotations

import json
import math
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from responsa.errors import InputError
from responsa.storage import write_text
from responsa.types import Judgement, Ranking, Run

# (document id, printed number) to the ids of the passages that bear it, in the order of the corpus.
Find = Callable[[str, str], Sequence[str]]

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)
_GRADE = re.compile(r"[+-]?[0-9]{1,9}")
_RUN_COLUMNS = "qid Q0 docid rank score name"
_QRELS_COLUMNS = "qid 0 docid grade"
# trec_eval allots memory by the highest grade, and where it gets none it scores 0 without a word.
HIGHEST_GRADE = 999
_DIRECT = 2  # grade of a passage that answers directly, where one that does so indirectly has 1
_SHOWN = 3  # unresolved passages that a message names


@dataclass(frozen=True, slots=True)
class _Named:
    """A gold passage known by document and printed number, to be looked up in a library."""

    query_id: str
    document_id: str
    number: str
    grade: int


# ------------------------------------------------------------------------------------------------ runs


def read_run(path: Path) -> Run:
    """Read a TREC run file.

    Queries come in the order of first mention, passages as `Ranking.of` orders them; the rank column is
    ignored, as trec_eval does. The run takes the name on its first line; an empty file is a run in which no query
    has a hit. InputError, with file and line, for a missing file, a wrong number of columns, a score that is no
    finite 32-bit float, and a passage listed twice for a query.
    """
    found: dict[str, list[tuple[str, float]]] = {}
    lines: dict[tuple[str, str], int] = {}
    name = ""
    for number, line, columns in _rows(_read_text(path, blank=True), path, _RUN_COLUMNS):
        query_id, _, passage_id, _, score, system = columns
        passage_id = _decoded(passage_id)
        first = lines.setdefault((query_id, passage_id), number)
        if first != number:
            raise InputError(
                f"{path}, line {number}: passage {passage_id!r} was listed for query {query_id!r} before, on "
                f"line {first}; keep one of the two lines"
            )
        value = float(score) if _NUMBER.fullmatch(score) else math.nan
        if not math.isfinite(_single(value)):
            raise InputError(f"{path}, line {number}: score {score!r} is not a finite 32-bit number: {_short(line)}")
        found.setdefault(query_id, []).append((passage_id, value))
        name = name or system
    return Run(name, {query_id: Ranking.of(query_id, pairs) for query_id, pairs in found.items()})


def write_run(run: Run, path: Path) -> None:
    """Write a TREC run file, whole or not at all: an old file stays until the new one is on disk.

    Ranks count from 1. Scores are the shortest decimals that read back as the same 32-bit floats, so that
    `read_run` gives the same rankings; a query without hits leaves no line. White space in the run's name
    becomes ``_``, for the format has no room for it, and a blank in a passage id ``%20``. InputError for an id that is
    empty or holds other white space, and where ``path`` is no place for a file; StorageError where the disk refuses.
    """
    name = "_".join(run.name.split()) or "run"
    write_text("".join(_run_lines(run, name, path)), path)


def _run_lines(run: Run, name: str, path: Path) -> Iterator[str]:
    for query_id, ranking in run.rankings.items():
        _check_id("query", query_id, f"{path}: cannot be written")
        for rank, hit in enumerate(ranking.hits, start=1):
            _check_passage_id(hit.passage_id, f"{path}: cannot be written")
            yield f"{query_id} Q0 {_encoded(hit.passage_id)} {rank} {_decimal(hit.score)} {name}\n"


def _encoded(passage_id: str) -> str:
    """A passage id as one column: "CRR Art. 92(1)" becomes "CRR%20Art.%2092(1)"."""
    if any(mark in passage_id for mark in (" ", "%20", "%25")):
        return passage_id.replace("%", "%25").replace(" ", "%20")
    return passage_id


def _decoded(column: str) -> str:
    return column.replace("%20", " ").replace("%25", "%") if "%2" in column else column


def _single(value: float) -> float:
    """The nearest 32-bit float; infinite beyond their range."""
    return array("f", [value])[0]


def _decimal(score: float) -> str:
    """Nine digits name every 32-bit float, and six come back from one unharmed (IEEE 754 binary32)."""
    for digits in (6, 7, 8):
        text = f"{score:.{digits}g}"
        if _single(float(text)) == score:
            return text
    return f"{score:.9g}"


# ------------------------------------------------------------------------------------------------ gold


def read_gold(path: Path, find: Find | None = None, graded: bool = False) -> list[Judgement]:
    """Read gold from TREC qrels, an ObliQA-style JSON list or JSON lines; the first character tells which.

    ObliQA rows are ``{QuestionID, Passages: [{DocumentID, PassageID, ID?, Relation?}]}``: ``ID`` is taken as
    the passage id; without it ``find`` resolves document and number. Where that names several passages they
    are one gold item: the first, with the rest as alternatives. ``Relation`` 1 (relevant) and 2 (indirect)
    are both grade 1; 0 and null are left out. Other rows are ``{id, passages: [passage id]}``, grade 1.
    ``graded`` makes 1, and passages without a ``Relation``, grade 2, which nDCG counts twice; qrels have their own.

    Judgements come in file order, repeated (query, passage) rows merged to the highest grade. InputError,
    with file and place, for what cannot be read, for passages that ``find`` does not know, for a missing
    ``find`` where one is needed, and for a file without any gold.
    """
    text = _read_text(path)
    start = text.lstrip()[0]
    if start not in "[{":
        return merged(_qrels(text, path))
    rows = _json_list(text, path) if start == "[" else _json_lines(text, path)
    gold = [item for place, row in rows for item in _judged(row, place, graded)]
    if not gold:
        raise InputError(f"{path}: no passage is judged relevant; give a file with gold passages")
    return merged(_resolved(gold, find, path))


def merged(judgements: Iterable[Judgement]) -> list[Judgement]:
    """One judgement per query and passage, in first-mention order: the highest grade, all alternatives."""
    known: dict[tuple[str, str], Judgement] = {}
    for item in judgements:
        key = item.query_id, item.passage_id
        if key in known:
            before = known[key]
            alternatives = tuple(dict.fromkeys((*before.alternatives, *item.alternatives)))
            item = replace(before, grade=max(before.grade, item.grade), alternatives=alternatives)
        known[key] = item
    return list(known.values())


def _qrels(text: str, path: Path) -> Iterator[Judgement]:
    for number, line, (query_id, _, passage_id, grade) in _rows(text, path, _QRELS_COLUMNS):
        if not _GRADE.fullmatch(grade) or int(grade) > HIGHEST_GRADE:
            raise InputError(
                f"{path}, line {number}: grade {grade!r} is not a whole number up to {HIGHEST_GRADE}: {_short(line)}"
            )
        yield Judgement(query_id, _decoded(passage_id), int(grade))


def _json_list(text: str, path: Path) -> list[tuple[str, object]]:
    try:
        rows: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}: not valid JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not valid JSON: {error}") from error
    return [(f"{path}, question {n}", row) for n, row in enumerate(rows if isinstance(rows, list) else [], 1)]


def _json_lines(text: str, path: Path) -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = []
    for number, line in _lines(text):
        try:
            rows.append((f"{path}, line {number}", json.loads(line)))
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"{path}, line {number}: not valid JSON; one object per line is needed: {_short(line)}"
            ) from error
    return rows


def _judged(row: object, place: str, graded: bool) -> Iterator[Judgement | _Named]:
    """The gold passages of one question. Those with a passage id are judged, the others only named."""
    full = _DIRECT if graded else 1
    if not isinstance(row, dict):
        raise InputError(f"{place}: a question is a JSON object, this is {_short(json.dumps(row))}")
    obliqa = "QuestionID" in row
    query_id = _text_of(row, "QuestionID" if obliqa else "id", place)
    key = "Passages" if obliqa else "passages"
    passages = row.get(key)
    if not isinstance(passages, list):
        raise InputError(f"{place}: {query_id!r} has no list {key!r}; gold lists the passages of each question")
    for number, passage in enumerate(passages, start=1):
        where = f"{place}, passage {number}"
        if not obliqa:
            _check_passage_id(passage, where)
            yield Judgement(query_id, passage, full)
        elif not isinstance(passage, dict):
            raise InputError(f"{where}: a passage is a JSON object, this is {_short(json.dumps(passage))}")
        elif _relevant(passage, where):
            yield _obliqa_passage(query_id, passage, where, 1 if passage.get("Relation", 1) == 2 else full)


def _relevant(passage: dict[str, object], place: str) -> bool:
    relation = passage.get("Relation", 1)
    if relation is not None and (isinstance(relation, bool) or relation not in (0, 1, 2)):
        raise InputError(f"{place}: Relation {relation!r} is unknown; it is 0, 1, 2 or null")
    return relation in (1, 2)


def _obliqa_passage(query_id: str, passage: dict[str, object], place: str, grade: int) -> Judgement | _Named:
    if passage.get("ID") is not None:
        passage_id = _text_of(passage, "ID", place)
        _check_passage_id(passage_id, place)
        return Judgement(query_id, passage_id, grade)
    return _Named(query_id, _text_of(passage, "DocumentID", place), _text_of(passage, "PassageID", place), grade)


def _text_of(row: dict[str, object], key: str, place: str) -> str:
    value = row.get(key)
    if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
        raise InputError(f"{place}: {key!r} must be a text or a whole number, this is {value!r}")
    return str(value)


def _resolved(gold: Iterable[Judgement | _Named], find: Find | None, path: Path) -> list[Judgement]:
    judgements: list[Judgement] = []
    unknown: dict[tuple[str, str], _Named] = {}
    for item in gold:
        if isinstance(item, Judgement):
            judgements.append(item)
            continue
        if find is None:
            raise InputError(
                f"{path} names its passages by document and number (first document {item.document_id!r}, "
                f"number {item.number!r}), which takes a library to resolve; give one with --library"
            )
        ids = tuple(dict.fromkeys(find(item.document_id, item.number)))
        if ids:
            judgements.append(Judgement(item.query_id, ids[0], item.grade, ids[1:]))
        else:
            unknown.setdefault((item.document_id, item.number), item)
    if unknown:
        raise InputError(_not_found(list(unknown.values()), path))
    return judgements


def _not_found(unknown: Sequence[_Named], path: Path) -> str:
    shown = "; ".join(
        f"document {item.document_id!r} number {item.number!r} (question {item.query_id!r})"
        for item in unknown[:_SHOWN]
    )
    more = f"; and {len(unknown) - _SHOWN} more" if len(unknown) > _SHOWN else ""
    return (
        f"{path}: gold passages that are not in the library, {len(unknown)} in all: {shown}{more}; "
        "add these documents or choose another library with --library"
    )


# ------------------------------------------------------------------------------------------------ text


def _rows(text: str, path: Path, form: str) -> Iterator[tuple[int, str, list[str]]]:
    """Line number, line and columns of each line that is not blank, as many columns as ``form`` has."""
    count = len(form.split())
    for number, line in _lines(text):
        columns = line.split()
        if len(columns) != count:
            raise InputError(
                f"{path}, line {number}: {len(columns)} columns instead of {count} ({form}): {_short(line)}"
            )
        yield number, line, columns


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Number and text of each line that is not blank. Only a line feed ends a line, as in trec_eval."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line.rstrip("\r")


def check_gold(
    judgements: Iterable[Judgement], there: Iterable[str], say: Callable[[str], None], strict: bool = True
) -> None:
    """InputError where gold passages are not among the ids ``there``; with ``strict`` false only where none is, and
    else that is said: they count as not found."""
    wanted = {judgement.passage_id for judgement in judgements}
    unknown = sorted(wanted - set(there))
    if not unknown:
        return
    found = f"{len(unknown):,} of {len(wanted):,} gold passages are not in the library, such as {unknown[0]!r}"
    if strict or len(unknown) == len(wanted):
        raise InputError(f"{found}; add their documents, or name another library with --library")
    say(f"{found}; they count as not found")


def _read_text(path: Path, *, blank: bool = False) -> str:
    """The text of a file that is there, is UTF-8 and, unless it may be, is not blank."""
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise InputError(f"there is no file {str(path)!r}; check the path") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line}: not UTF-8 text; save the file as UTF-8") from error
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InputError(f"{path}, line {line}: holds a NUL byte; this is not a text file")
    if not text.strip() and not blank:
        raise InputError(f"{path} is empty")
    return text


def _check_passage_id(value: object, place: str) -> None:
    """Ids as lawyers write them have single blanks in them."""
    words = value.split(" ") if isinstance(value, str) else [value]
    for word in words:
        if not isinstance(word, str) or word.split() != [word]:
            raise InputError(f"{place}: passage id {value!r} is not a text without white space but single blanks")


def _check_id(what: str, value: object, place: str) -> None:
    if not isinstance(value, str) or value.split() != [value]:
        raise InputError(f"{place}: {what} id {value!r} is not a text without white space")


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")
