"""The EBA's Q&A on the CRR as a data set: inquiries, their gold articles, and the CRR as it stood on a day.

Gold is the ``article`` field, which people filled in by hand in many ways; the articles that the answer cites are
kept apart (`cited`). Few-shot examples are to be chosen by ``published``, never by ``submitted``.
"""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from responsa.corpus.references import parse
from responsa.errors import InputError, ReadError
from responsa.types import Edition, Judgement, Passage, Query, Ranking

CRR = "32013R0575"
DOCUMENT = "CRR"
COMMON = frozenset({"99", "100", "430"})  # supervisory reporting: the gold of 44 % of the inquiries
STRATA = ("all", "rare", "unnamed")
_LAST_ARTICLE = 530


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question to the EBA. ``article`` is the field as given, ``articles`` the CRR articles in it ("425", "429a").

    ``published`` is None where the archive has no date, ``submitted`` and ``answer`` are empty where the inquiry
    was written for this project.
    """

    id: str
    question: str
    background: str
    answer: str
    topic: str
    article: str
    articles: tuple[str, ...]
    submitted: date | None = None
    published: date | None = None
    subject: str = ""

    @property
    def query(self) -> Query:
        """The inquiry as retrievers take it."""
        return Query(self.id, self.question, self.background)


@dataclass(frozen=True, slots=True)
class Consolidation:
    """The CRR as consolidated on a day, in a file; in force from ``valid_from`` to ``valid_to``, both inclusive."""

    path: Path
    valid_from: date
    valid_to: date | None


@dataclass(frozen=True, slots=True)
class InForce:
    """The version to read for a day. ``approximate``: none that is held was in force then."""

    version: Consolidation
    approximate: bool


# Inquiries


def read(path: Path) -> tuple[Inquiry, ...]:
    """The inquiries in a JSONL file, of the archive or written ones. ReadError names the line and the key."""
    found: dict[str, Inquiry] = {}
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{path}: line {number}"
        row = _json(line, place)
        if not isinstance(row, dict):
            raise ReadError(f"{place} is no object; write one inquiry a line")
        inquiry = _archived(row, place) if "qa_id" in row else _written(row, place, f"{path.stem}-{number}")
        if inquiry.id in found:
            raise ReadError(f"{place}: the id {inquiry.id!r} is given twice; remove one")
        found[inquiry.id] = inquiry
    if not found:
        raise ReadError(f"{path}: holds no inquiry; give a file with one a line")
    return tuple(found.values())


def _archived(row: Mapping[str, object], place: str) -> Inquiry:
    article = _string(row, "article", place)
    return Inquiry(
        id=_string(row, "qa_id", place),
        question=_string(row, "question", place),
        background=_string(row, "background", place),
        answer=_string(row, "answer", place),
        topic=_string(row, "topic", place),
        article=article,
        articles=articles_of(article),
        submitted=_date(row, "date_submission_date_iso", place),
        published=_date(row, "date_final_publishing_date_iso", place),
        subject=_string(row, "x_subject_matter", place) if "x_subject_matter" in row else "",
    )


def _written(row: Mapping[str, object], place: str, name: str) -> Inquiry:
    given = row.get("articles")
    if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
        raise ReadError(f"{place}: neither 'qa_id' nor a list of 'articles'; write articles as [\"425\"]")
    question, background = _string(row, "question", place), _string(row, "background", place)
    return Inquiry(name, question, background, "", "", ", ".join(given), tuple(dict.fromkeys(given)))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ReadError(f"{path}: cannot be read: {error.strerror}; check the path") from error
    except UnicodeDecodeError as error:
        raise ReadError(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from error


def _json(text: str, place: str) -> object:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReadError(f"{place}: not JSON ({error}); write the file again") from error
    return value


def _string(row: Mapping[str, object], key: str, place: str) -> str:
    value = row.get(key)
    if not isinstance(value, str):
        problem = f"{key!r} is no string" if key in row else f"no {key!r}"
        raise ReadError(f"{place}: {problem}; its keys are: {', '.join(map(repr, row)) or 'none'}")
    return value


def _date(row: Mapping[str, object], key: str, place: str) -> date | None:
    value = _string(row, key, place)
    try:
        return date.fromisoformat(value) if value else None
    except ValueError as error:
        raise ReadError(f"{place}: {key!r} is {value!r}, no date; write it as 2020-01-31") from error


# Articles

_ASIDE = re.compile(r"\([^()]{0,40}\)|\bpoints?\b[^,;]{0,20}", re.IGNORECASE)
_NO_ARTICLE = re.compile(r"\W*(?:annex|recommendation|recital)\b", re.IGNORECASE)
_LATIN = {" bis": "a", " ter": "b", " quater": "c"}
_FIELD = re.compile(r"(?<![\w/.])(\d{1,3}[a-z]{0,2})(?!\w|/|\.\d)(?:\s?[-–]\s?(\d{1,3})(?!\w|/))?")


def articles_of(given: str) -> tuple[str, ...]:
    """The CRR articles that an ``article`` field names, in its order: "Art. 26 (1), 429 bis" is 26 and 429a.

    Empty for "N/A", annexes and other documents. Ranges are expanded ("321-324").
    """
    text, before = given, ""
    while text != before:  # "&amp;amp;": escaped more than once
        text, before = html.unescape(text), text
    if _NO_ARTICLE.match(text):
        return ()
    text = _ASIDE.sub(" ", _ASIDE.sub(" ", text)).lower()
    for latin, letter in _LATIN.items():
        text = text.replace(latin, letter)
    found: list[str] = []
    for first, last in _FIELD.findall(text):
        if last and first.isdigit() and int(first) < int(last) <= _LAST_ARTICLE:
            found += map(str, range(int(first), int(last) + 1))
        else:
            found.append(first)
    return tuple(article for article in dict.fromkeys(found) if _is_crr(article))


def _is_crr(article: str) -> bool:
    digits = re.match(r"\d*", article)
    return digits is not None and digits[0] != "" and 1 <= int(digits[0]) <= _LAST_ARTICLE


def gold(inquiry: Inquiry) -> tuple[Judgement, ...]:
    """Article-level gold from the ``article`` field. Empty where it names no article of the CRR."""
    return tuple(Judgement(inquiry.id, passage_id(article)) for article in inquiry.articles)


def passage_id(article: str) -> str:
    """The id of an article's passage in the editions of `edition`: ``CRR/425``."""
    return f"{DOCUMENT}/{article}"


def cited(inquiry: Inquiry) -> tuple[str, ...]:
    """CRR articles that the final answer cites, in order of mention. Those of no named act count as the CRR's."""
    return _articles_in(inquiry.answer)


def named(inquiry: Inquiry) -> tuple[str, ...]:
    """CRR articles that the question and its background name, in order of mention, as in `cited`."""
    return tuple(dict.fromkeys(_articles_in(inquiry.question) + _articles_in(inquiry.background)))


@lru_cache(maxsize=4096)
def _articles_in(text: str) -> tuple[str, ...]:
    found = (
        reference.article for reference in parse(text) if reference.act in (CRR, None) and reference.kind == "article"
    )
    return tuple(dict.fromkeys(article for article in found if article and _is_crr(article)))


def strata(inquiry: Inquiry) -> tuple[str, ...]:
    """The strata that an inquiry counts in; none without gold.

    "all"; "rare": no gold article is 99, 100 or 430; "unnamed": no gold article is named in question or background.
    """
    if not inquiry.articles:
        return ()
    rare = not COMMON.intersection(inquiry.articles)
    unnamed = not set(named(inquiry)).intersection(inquiry.articles)
    return ("all", *(["rare"] if rare else []), *(["unnamed"] if unnamed else []))


# Language

_WORD = re.compile(r"[^\W\d_]+")
_ENGLISH = frozenset(
    re.findall(
        r"\w+",
        "the of and to is that for be with as on are by this it from which or an at not have has should would will does"
        " if can how what when whether any been there their its these those under between was were our we please could",
    )
)
_OTHERS = frozenset(
    re.findall(
        r"\w+",
        "der die das und den dem des ein eine einer ist nicht mit von zu für auf im sich auch werden wird sind bei wie"
        " le la les des du et une dans que qui est sont pour par sur au aux ces pas ne nous dont être cette il di del"
        " della dei delle che per sono nel alla con gli lo al si non come da el los las una se es en y o su los como"
        " para więc jest oraz na się czy nie dla przez do że w z ja joka että tai onko mukaan ovat het een van voor"
        " niet och att som är på av den det til og af som ikke er jeg os um uma não pelo pela dos das",
    )
) - _ENGLISH  # fmt: skip


def is_english(text: str) -> bool:
    """Whether at least a third of the function words, of those of eleven languages, are English; True without any.

    A third, so that an original in another language passes where its English translation stands beside it.
    """
    words = _WORD.findall(text.lower())
    english = sum(word in _ENGLISH for word in words)
    return 2 * english >= sum(word in _OTHERS for word in words)


def english(inquiries: Iterable[Inquiry]) -> tuple[Inquiry, ...]:
    """The inquiries whose question and background are in English."""
    return tuple(item for item in inquiries if is_english(f"{item.question}\n{item.background}"))


# The CRR by date


def consolidations(folder: Path) -> tuple[Consolidation, ...]:
    """The versions of an act in a folder of article files, the earliest first."""
    found = [_consolidation(path) for path in sorted(folder.glob("*.json"))]
    if not found:
        raise ReadError(f"{folder}: holds no article file; give the folder of the act, such as articles/32013r0575")
    return tuple(sorted(found, key=lambda version: version.valid_from))


def _consolidation(path: Path) -> Consolidation:
    row = _article_file(path)
    start = _date(row, "valid_from", str(path))
    if start is None:
        raise ReadError(f"{path}: 'valid_from' is empty; write a date")
    return Consolidation(path, start, None if row.get("valid_to") is None else _date(row, "valid_to", str(path)))


def crr_version(versions: Sequence[Consolidation], on: date) -> InForce:
    """The latest version that began on or before a day; before the first one, the first, marked approximate."""
    if not versions:
        raise InputError("no version of the act is given; read them with consolidations()")
    ordered = sorted(versions, key=lambda version: version.valid_from)
    begun = [version for version in ordered if version.valid_from <= on]
    if not begun:
        return InForce(ordered[0], approximate=True)
    return InForce(begun[-1], approximate=begun[-1].valid_to is not None and begun[-1].valid_to < on)


def edition(version: Consolidation) -> Edition:
    """The act with one passage for each article and annex.

    Articles out of their order are those that an amending article writes into another act (50a to 50d of
    Regulation 648/2012, which stand after Article 520): they carry the flag ``amends``.
    """
    row = _article_file(version.path)
    rows = row.get("provisions")
    if not isinstance(rows, list) or not rows:
        raise ReadError(f"{version.path}: no list of 'provisions'; is it an article file?")
    passages: dict[str, Passage] = {}
    highest = 0
    for index, item in enumerate(rows):
        place = f"{version.path}: provisions[{index}]"
        if not isinstance(item, dict):
            raise ReadError(f"{place} is no object")
        passage = _passage(item, place)
        digits = re.match(r"Article (\d+)", passage.number)
        if passage.id in passages:
            raise ReadError(f"{place}: {passage.number} is given twice; remove one")
        if digits and int(digits[1]) < highest:
            passage = replace(passage, flags=("amends",))
        highest = max(highest, int(digits[1]) if digits else 0)
        passages[passage.id] = passage
    title = _string(row, "title", str(version.path))
    return Edition(DOCUMENT, title, tuple(passages.values()), version.valid_from, version.valid_to)


def _passage(item: Mapping[str, object], place: str) -> Passage:
    anchor = _string(item, "anchor", place)
    kind, _, label = anchor.partition("_")
    if kind not in ("art", "anx") or not label:
        raise ReadError(f"{place}: the anchor {anchor!r} is none of an article or annex")
    path = item.get("path")
    if not isinstance(path, list) or not all(isinstance(heading, str) for heading in path):
        raise ReadError(f"{place}: 'path' is no list of headings")
    heading = item.get("heading") if isinstance(item.get("heading"), str) else ""
    name = label.replace("_", "") if kind == "art" else f"Annex-{label.upper()}"
    number = f"Article {name}" if kind == "art" else name.replace("-", " ")
    above = (*path, str(heading)) if heading else tuple(path)
    return Passage(passage_id(name), DOCUMENT, number, _string(item, "text_md", place), str(heading), None, above)


def _article_file(path: Path) -> Mapping[str, object]:
    row = _json(_text(path), str(path))
    if not isinstance(row, dict):
        raise ReadError(f"{path}: no object; is it an article file?")
    return row


# Baseline


def folds(inquiries: Sequence[Inquiry], n: int = 5) -> tuple[tuple[tuple[Inquiry, ...], tuple[Inquiry, ...]], ...]:
    """(training, test) of ``n`` folds, told by the ids alone: the same on every machine."""
    place = {item.id: int(sha256(item.id.encode()).hexdigest(), 16) % n for item in inquiries}
    return tuple(
        (
            tuple(item for item in inquiries if place[item.id] != k),
            tuple(item for item in inquiries if place[item.id] == k),
        )
        for k in range(n)
    )


@dataclass(frozen=True)
class NamedThenFrequent:
    """The baseline to beat: the articles that an inquiry names, then those most often gold in training.

    ``shares`` is how often each article is gold. Named articles come first, those more often gold before others.
    """

    shares: Mapping[str, float]

    @classmethod
    def learn(cls, training: Sequence[Inquiry]) -> NamedThenFrequent:
        """Count the gold of the training inquiries."""
        counts = Counter(article for item in training for article in item.articles)
        return cls({article: count / max(len(training), 1) for article, count in counts.items()})

    def __call__(self, inquiry: Inquiry, k: int = 100) -> Ranking:
        """A ranking of passages of `edition`, best first."""
        scores = dict(self.shares)
        articles = named(inquiry)
        for place, article in enumerate(articles):
            scores[article] = 1 + scores.get(article, 0.0) + 0.5 * (len(articles) - place) / len(articles)
        return Ranking.of(inquiry.id, ((passage_id(article), score) for article, score in scores.items()), k=k)
