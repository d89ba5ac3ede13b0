"""From an activity's criteria to queries: whole, split at separators, or reduced to keywords.

The EU Taxonomy thesis (2024) asks two queries, the activity's description and its substantial-contribution criteria,
and changes them (section 6.2): keywords in `WORDS`, splitting by separators here, by a language model in
`responsa.taxonomy.evidence.asking`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from responsa.errors import MissingDependency
from responsa.models import Encoder, Vectors
from responsa.taxonomy.values import Activity, Criterion

LEAST_TFIDF = 0.2
"""Words of a query with a smaller tf-idf are left out (section 6.2.2)."""
KEYWORDS = 5  # of YAKE (``top`` of section 6.2.2) and of KeyBERT (its default)
_LONGEST_QUERY = 1200  # characters of a query made by splitting; the criteria of some activities fill pages

# What ends a sentence before white space, a tag or the end, also without space before a tag: section 6.2.3.
_SEPARATOR = re.compile(r"(?<=[.;:?!])(?:\s+|(?=<))|\n+|<(?:br|/?p|/?li|/?ol|/?ul|/?div)\b[^<>]*>")
_TAG = re.compile(r"<[^<>]+>")
_SPACE = re.compile(r"\s+")
_MARK = re.compile(r"^(?:\(?(?:\d{1,2}(?:\.\d{1,2})*|[a-z]|[ivx]{1,4})[.)]\s*)+")
_LETTERS = re.compile(r"[^\W\d_]{3}")
_TOKEN = re.compile(r"\b\w\w+\b")  # of scikit-learn's vectorizers, which the thesis and KeyBERT use
_NACE = re.compile(r"\bNACE\b")


@dataclass(frozen=True, slots=True)
class Question:
    """A query and the id of the criterion that it looks for evidence of; that of the root of substantial
    contribution for the activity itself."""

    criterion: str
    text: str


def leaves(criterion: Criterion) -> list[tuple[Criterion, str]]:
    """The criteria without parts, in order, each with the words of those above it that it depends on: the nearest
    lead-in, where its own text is short."""
    found: list[tuple[Criterion, str]] = []

    def walk(one: Criterion, lead: str) -> None:
        if not one.parts:
            found.append((one, f"{lead} {one.text}".strip() if len(one.text) < 80 else one.text))
            return
        for part in one.parts:
            walk(part, one.text[-200:])

    walk(criterion, "")
    return found


def text_of(criterion: Criterion) -> str:
    """All words of a criterion and its parts, a line each."""
    return "\n".join(filter(None, [criterion.text, *(text_of(part) for part in criterion.parts)]))


def described(activity: Activity) -> str:
    """The description without its sentences on NACE codes, which reports do not print."""
    kept = [sentence for sentence in split(activity.description) if not _NACE.search(sentence)]
    return " ".join(kept) or activity.name


def whole(activity: Activity, roots: Sequence[Criterion] = ()) -> list[Question]:
    """The two queries of the thesis: the description, and the criteria, all of a root in one."""
    wanted = roots or (activity.substantial_contribution,)
    first = Question(activity.substantial_contribution.id, f"{activity.name}. {described(activity)}")
    return _once([first, *(Question(root.id, text_of(root)) for root in wanted)])


def separated(activity: Activity, roots: Sequence[Criterion] = ()) -> list[Question]:
    """Both queries split at separators (``qs``); those from the criteria keep the id of the leaf they are from."""
    wanted = roots or (activity.substantial_contribution,)
    about = activity.substantial_contribution.id
    pieces = [Question(about, each) for each in [activity.name, *split(described(activity))]]
    for root in wanted:
        pieces += [Question(leaf.id, each) for leaf, _ in leaves(root) for each in split(leaf.text)]
    return _once(pieces)


def by_leaf(roots: Sequence[Criterion]) -> list[Question]:
    """One query for each criterion without parts; one that is split stays whole."""
    return _once([Question(leaf.id, text[:_LONGEST_QUERY]) for root in roots for leaf, text in leaves(root)])


def split(text: str) -> list[str]:
    """Sentences and items of a criterion: cut behind . ; : ? ! before white space or a tag, and at line ends.

    Numbers of items are dropped, and what has no word of three letters.
    """
    pieces = (_SPACE.sub(" ", _TAG.sub(" ", piece)).strip() for piece in _SEPARATOR.split(text))
    stripped = (_MARK.sub("", piece).strip() for piece in pieces)
    return [piece[:_LONGEST_QUERY] for piece in stripped if _LETTERS.search(piece)]


def _once(questions: Sequence[Question]) -> list[Question]:
    kept: dict[str, Question] = {}
    for question in questions:
        if _LETTERS.search(question.text):
            kept.setdefault(question.text.casefold(), question)
    return list(kept.values())


# Keywords: each function gives the words or phrases of a query that are kept, in the order of the method.


@dataclass(frozen=True)
class Surroundings:
    """What keyword methods may look at besides the query: the chunks of the report, and an encoder for ``bert``.

    ``vectors`` keeps those of single words, which come again in every chunk.
    """

    texts: Sequence[str]
    encoder: Callable[[], Encoder]
    vectors: dict[str, Vectors] = field(default_factory=dict, repr=False, compare=False)


def stop_words(query: str, _: Surroundings) -> list[str]:
    """``sw``: the words of the query that are not among NLTK's English stop words."""
    from bm25s.stopwords import STOPWORDS_EN_PLUS

    return [word for word in query.split() if word.lower().strip(".,;:()") not in STOPWORDS_EN_PLUS]


def tfidf(query: str, around: Surroundings) -> list[str]:
    """``tfidf``: words of a weight of at least `LEAST_TFIDF`, as scikit-learn's vectorizer weighs them: tf times
    ln((1 + n) / (1 + df)) + 1, the query's vector of length 1. Words that no chunk holds are left out."""
    frequency, size = document_frequency(tuple(around.texts))
    words = [word for word in _words(query) if word in frequency]
    weights = {
        word: times * (math.log((1 + size) / (1 + frequency[word])) + 1) for word, times in Counter(words).items()
    }
    length = math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0
    return [word for word in dict.fromkeys(words) if weights[word] / length >= LEAST_TFIDF]


def yake(query: str, _: Surroundings) -> list[str]:
    """``yake``: the five best phrases of up to three words, with the library that the thesis used (LGPL, an extra)."""
    try:
        import yake as library
    except ImportError as error:
        raise MissingDependency("keyword extraction by YAKE", "taxonomy") from error
    extractor = library.KeywordExtractor(lan="en", n=3, dedupLim=0.9, top=KEYWORDS)
    return [str(phrase) for phrase, _ in extractor.extract_keywords(query)]


def bert(query: str, around: Surroundings) -> list[str]:
    """``bert``: KeyBERT (Grootendorst 2020) with its defaults: of the query's single words without stop words, the five
    whose vectors are nearest to that of the whole query, nearest first, ties in the order of the alphabet."""
    words = sorted(set(_words(query)))
    if not words:
        return []
    new = [word for word in words if word not in around.vectors]
    whole_query, *made = _unit(around.encoder().encode([query, *new], "passage"))
    around.vectors.update(zip(new, made, strict=True))
    near = np.argsort([-float(around.vectors[word] @ whole_query) for word in words], kind="stable")[:KEYWORDS]
    return [words[place] for place in near]


def _unit(vectors: Vectors) -> Vectors:
    length: Vectors = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-12))
    return vectors / length


WORDS: Mapping[str, Callable[[str, Surroundings], list[str]]] = {
    "sw": stop_words,
    "tfidf": tfidf,
    "yake": yake,
    "bert": bert,
}


def _words(text: str) -> list[str]:
    """Lower-cased words of two letters and more that are no stop words, tags dropped."""
    from bm25s.stopwords import STOPWORDS_EN_PLUS

    return [word for word in _TOKEN.findall(_TAG.sub(" ", text).lower()) if word not in STOPWORDS_EN_PLUS]


@lru_cache(maxsize=2)
def document_frequency(texts: tuple[str, ...]) -> tuple[Mapping[str, int], int]:
    """In how many of the texts each word stands, and how many there are."""
    return Counter(word for text in texts for word in set(_words(text))), len(texts)
