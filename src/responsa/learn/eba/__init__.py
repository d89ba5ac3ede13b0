"""The EBA's Q&A on the CRR as a data set: inquiries, their gold articles, and the CRR as it stood on a day.

Gold is the ``article`` field, which people filled in by hand in many ways; the articles that the answer cites are
kept apart (`cited`). Few-shot examples are to be chosen by ``published``, never by ``submitted``.
"""

from responsa.learn.eba.act import Consolidation, InForce, consolidations, crr_version, edition, paragraphs
from responsa.learn.eba.classifier import ArticleClassifier, Labelled, Mixture
from responsa.learn.eba.folds import folds, without_copies
from responsa.learn.eba.inquiries import (
    COMMON,
    CRR,
    DOCUMENT,
    STRATA,
    Inquiry,
    articles_of,
    cited,
    english,
    gold,
    is_english,
    named,
    passage_id,
    read,
    strata,
)
from responsa.learn.eba.ranking import Named, NamedThenFrequent, by_article

__all__ = [
    "COMMON",
    "CRR",
    "DOCUMENT",
    "STRATA",
    "ArticleClassifier",
    "Consolidation",
    "InForce",
    "Inquiry",
    "Labelled",
    "Mixture",
    "Named",
    "NamedThenFrequent",
    "articles_of",
    "by_article",
    "cited",
    "consolidations",
    "crr_version",
    "edition",
    "english",
    "folds",
    "gold",
    "is_english",
    "named",
    "paragraphs",
    "passage_id",
    "read",
    "strata",
    "without_copies",
]
