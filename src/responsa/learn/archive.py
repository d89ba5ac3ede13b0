"""Archives of questions and answers that cite articles, such as the EBA's on the CRR, as examples."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from responsa.errors import InputError
from responsa.learn.examples import Example, rows, text_of
from responsa.text import digest
from responsa.types import Query

# An article as printed ("99", "428b") to the ids of its passages; none where the library does not hold it.
Resolve = Callable[[str], Sequence[str]]

_NUMBER = r"\d{1,3}[a-z]{0,2}\b(?:\s*\([0-9a-z]{1,4}\))*"
_LIST = re.compile(
    rf"\bart(?:icle|\.)?s?\.?\s+({_NUMBER}(?:\s*(?:,|and|or|to|-|–|,\s*and)\s*(?:art(?:icle|\.)\s+)?{_NUMBER})*)"
    r"([^.;\n]{0,40})",
    re.IGNORECASE,
)
_OTHER_ACT = re.compile(
    r"\b(?:of|to|in)\s+(?:the\s+)?(?:[a-z]+\s+){0,2}"
    r"(?:directive|delegated|implementing|crd|brrd|emir|its|rts|regulation\s*\(e[uc]\)\s*(?:no\.?\s*)?(?!575/2013)\d)",
    re.IGNORECASE,
)
_WHOLE = re.compile(r"\d{1,3}[a-z]{0,2}", re.IGNORECASE)
_LONGEST_RANGE = 20


@dataclass(frozen=True)
class Archive:
    """How rows become examples. ``left_out``: articles whose questions are not used. ``references``: articles cited
    in question, background and official answer are positives too, not only those that the row lists.

    The CRR Ranker leaves Article 99 (reporting) out and takes the references (Bank of Italy, section 2.2.1; there
    GPT-4o extracts them, here a pattern does, which does not see what is only implied).
    """

    left_out: tuple[str, ...] = ("99",)
    references: bool = True


@dataclass(frozen=True)
class Loaded:
    """Examples, and the rows that gave none: about an article left out, or about none that the library holds."""

    examples: tuple[Example, ...]
    left_out: tuple[str, ...]
    unresolved: tuple[str, ...]


def load(path: Path, resolve: Resolve, archive: Archive = Archive()) -> Loaded:
    """Examples from JSON lines ``{question, article | articles, background?, answer?, qa_id | id?}``."""
    found: list[Example] = []
    left_out: list[str] = []
    unresolved: list[str] = []
    for place, row in rows(path):
        query = _query(row, place)
        listed = _listed(row, place)
        if set(listed) & set(archive.left_out):
            left_out.append(query.id)
            continue
        told = f"{query.text}\n{query.background}\n{text_of(row, 'answer', place, needed=False)}"
        cited = cited_articles(told) if archive.references else ()
        articles = [article for article in dict.fromkeys((*listed, *cited)) if article not in archive.left_out]
        passages = tuple(dict.fromkeys(passage for article in articles for passage in resolve(article)))
        if passages:
            found.append(Example(query, passages))
        else:
            unresolved.append(query.id)
    if not found:
        raise InputError(f"{path}: no question cites an article that the library holds")
    return Loaded(tuple(found), tuple(left_out), tuple(unresolved))


def cited_articles(text: str) -> tuple[str, ...]:
    """The numbers of the articles that a text cites, without paragraphs, in order: ("92", "428b").

    Ranges of up to 20 articles are written out. Articles of another act ("of Directive 2013/36/EU") are left
    out where the act follows the number.
    """
    found: list[str] = []
    for match in _LIST.finditer(text):
        if not _OTHER_ACT.match(match[2].lstrip(" ,")):
            found.extend(_written_out(match[1]))
    return tuple(dict.fromkeys(found))


def _written_out(numbers: str) -> list[str]:
    plain = re.sub(r"\s*\([0-9a-z]{1,4}\)", "", numbers, flags=re.IGNORECASE)
    parts = re.split(r"\s*(to\b|-|–|,|and\b|or\b)\s*", plain, flags=re.IGNORECASE)
    articles: list[str] = []
    span = False
    for part in parts:
        match = _WHOLE.search(part)
        if match is None:
            span = part.lower() in ("to", "-", "–") or (span and not part)
            continue
        article = match[0].lower()
        if span and articles and article.isdigit() and articles[-1].isdigit():
            first, last = int(articles[-1]), int(article)
            if 0 < last - first <= _LONGEST_RANGE:
                articles.extend(map(str, range(first + 1, last)))
        articles.append(article)
        span = False
    return articles


def _query(row: dict[str, object], place: str) -> Query:
    question, background = text_of(row, "question", place), text_of(row, "background", place, needed=False)
    query_id = str(row.get("qa_id") or row.get("id") or digest([question, background])[:16])
    return Query("_".join(query_id.split()), question, background)


def _listed(row: dict[str, object], place: str) -> tuple[str, ...]:
    given = row.get("articles", row.get("article"))
    listed = given if isinstance(given, list) else [given] if given else []
    if not all(isinstance(one, str | int) for one in listed):
        raise InputError(f"{place}: 'articles' must be a list of article numbers, this is {given!r}")
    return tuple(match[0].lower() for one in listed if (match := _WHOLE.match(str(one).strip())))
