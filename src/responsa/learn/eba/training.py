"""What a ranker of the CRR learns from: inquiries with the paragraphs of their gold articles."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from responsa.corpus.view import Corpus
from responsa.errors import InputError
from responsa.learn.eba.act import Consolidation, crr_version, edition
from responsa.learn.eba.inquiries import Inquiry, passage_id
from responsa.learn.examples import Example
from responsa.retrieval.bm25 import BM25
from responsa.types import Edition, Query

_ALL = 10**6


def act_to_learn(versions: Sequence[Consolidation], inquiries: Sequence[Inquiry]) -> Edition:
    """One text of the act, by article, for inquiries of several years.

    The version in force for most of them, and behind it the articles that only later versions hold, each from the
    first that does, up to the last version in force for any. So no article is there twice in nearly the same words,
    which would make one a wrong example for the other.
    """
    asked = Counter(crr_version(versions, item.submitted).version for item in inquiries if item.submitted)
    if not asked:
        raise InputError("no inquiry has a submission date to tell the version of the act by")
    start = min(asked, key=lambda version: (-asked[version], version.valid_from))
    last = max(version.valid_from for version in asked)
    later = [version for version in versions if start.valid_from < version.valid_from <= last]
    base = edition(start)
    passages = {passage.id: passage for passage in base.passages if "amends" not in passage.flags}
    for version in sorted(later, key=lambda version: version.valid_from):
        for passage in edition(version).passages:
            if "amends" not in passage.flags:
                passages.setdefault(passage.id, passage)
    return replace(base, passages=tuple(passages.values()), valid_from=None, valid_to=None)


def examples(inquiries: Sequence[Inquiry], corpus: Corpus) -> tuple[Example, ...]:
    """Each inquiry with one paragraph of each gold article: the best by BM25 for the official answer.

    Where there is no answer, or none of its words is in the article, that for question and background; else the first
    with text. ``corpus`` holds an act by `paragraphs`. Inquiries of whose gold articles it holds none are left out.
    """
    children: dict[str, list[str]] = defaultdict(list)
    for passage in corpus.values():
        if passage.parent_id and passage.text.strip():
            children[passage.parent_id].append(passage.id)
    articles = {
        item.id: [found for name in item.articles if (found := children[passage_id(name)])] for item in inquiries
    }
    told = _scores([Query(item.id, item.answer) for item in inquiries if item.answer.strip()], corpus)
    unsettled = [item.query for item in inquiries if any(told[item.id].keys().isdisjoint(a) for a in articles[item.id])]
    asked = _scores(unsettled, corpus)
    return tuple(
        Example(item.query, tuple(_best(each, (told[item.id], asked[item.id])) for each in articles[item.id]))
        for item in inquiries
        if articles[item.id]
    )


def _scores(queries: Sequence[Query], corpus: Corpus) -> Mapping[str, Mapping[str, float]]:
    """By query and passage; nothing for other queries."""
    run = BM25()(queries, corpus, _ALL)
    found = {name: {hit.passage_id: hit.score for hit in ranking.hits} for name, ranking in run.rankings.items()}
    return defaultdict(dict, found)


def _best(paragraphs_of: Sequence[str], scores: Sequence[Mapping[str, float]]) -> str:
    for each in scores:
        known = [name for name in paragraphs_of if name in each]
        if known:
            return max(known, key=lambda name: (each[name], name))
    return paragraphs_of[0]
