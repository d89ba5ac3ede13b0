"""Inquiries to the EBA: reading them, the articles that are their gold, strata, language."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path

from responsa.corpus.references import parse
from responsa.errors import ReadError
from responsa.learn.eba.files import Row, read_date, read_json, read_string, read_text
from responsa.types import Judgement, Query

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


def read(path: Path) -> tuple[Inquiry, ...]:
    """The inquiries in a JSONL file, of the archive or written ones. ReadError names the line and the key."""
    found: dict[str, Inquiry] = {}
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{path}: line {number}"
        row = read_json(line, place)
        if not isinstance(row, dict):
            raise ReadError(f"{place} is no object; write one inquiry a line")
        inquiry = _archived(row, place) if "qa_id" in row else _written(row, place, f"{path.stem}-{number}")
        if inquiry.id in found:
            raise ReadError(f"{place}: the id {inquiry.id!r} is given twice; remove one")
        found[inquiry.id] = inquiry
    if not found:
        raise ReadError(f"{path}: holds no inquiry; give a file with one a line")
    return tuple(found.values())


def _archived(row: Row, place: str) -> Inquiry:
    article = read_string(row, "article", place)
    return Inquiry(
        id=read_string(row, "qa_id", place),
        question=read_string(row, "question", place),
        background=read_string(row, "background", place),
        answer=read_string(row, "answer", place),
        topic=read_string(row, "topic", place),
        article=article,
        articles=articles_of(article),
        submitted=read_date(row, "date_submission_date_iso", place),
        published=read_date(row, "date_final_publishing_date_iso", place),
        subject=read_string(row, "x_subject_matter", place) if "x_subject_matter" in row else "",
    )


def _written(row: Row, place: str, name: str) -> Inquiry:
    given = row.get("articles")
    if not isinstance(given, list) or not all(isinstance(item, str) for item in given):
        raise ReadError(f"{place}: neither 'qa_id' nor a list of 'articles'; write articles as [\"425\"]")
    question, background = read_string(row, "question", place), read_string(row, "background", place)
    answer = read_string(row, "answer", place) if "answer" in row else ""
    return Inquiry(name, question, background, answer, "", ", ".join(given), tuple(dict.fromkeys(given)))


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
