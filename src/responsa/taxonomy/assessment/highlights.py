"""The sentences of a chunk that a criterion is most likely about: what is marked on a page."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from responsa.taxonomy.assessment.claims import placed
from responsa.taxonomy.evidence.queries import document_frequency
from responsa.taxonomy.evidence.report import Report
from responsa.taxonomy.values import Criterion, Evidence, Quote
from responsa.text import sentences, words

MOST = 2
"""Sentences marked in a chunk."""
_SHORTEST, _LONGEST = 4, 80  # words; longer ones are tables run together
_CITED = re.compile(
    r"\b(?:Regulation|Directive|Decision|Article|Annex|point|Section|Appendix|paragraph)s?\b"
    r"(?:\s?\(?(?:EU|EC|EEC)\)?)?(?:\s?(?:No\s?)?[\d/]+(?:\(\w+\))*|\s?\(\w+\)|\s[A-EIVX]+\b)*"
)
_LEAST = 0.5  # of the score of the best sentence of the chunk


def highlights(report: Report, chunk: Evidence, criterion: Criterion, about: str = "") -> tuple[Quote, ...]:
    """At most `MOST` sentences or lines of a table that share most with the criterion and ``about``, the activity's
    name, in the order of the page; none where nothing is shared. Rare words count more, names of laws not at all."""
    weights = _weights(report)
    wanted = set(words(f"{_CITED.sub(' ', criterion.text)} {about}"))
    scored = []
    for start, end in sentences(chunk.text):
        own = words(chunk.text[start:end])
        if _SHORTEST <= len(own) <= _LONGEST:
            shared = math.fsum(weights.get(word, 0.0) for word in wanted & set(own))
            scored.append((shared / math.sqrt(len(own) + 5), start, end))
    best = max(scored, default=(0.0, 0, 0))[0]
    kept = sorted(scored, key=lambda each: (-each[0], each[1]))[:MOST]
    found = [(start, end) for score, start, end in kept if score > 0 and score >= _LEAST * best]
    return tuple(placed(report, chunk, start, end) for start, end in sorted(found))


@lru_cache(maxsize=4)
def _weights(report: Report) -> Mapping[str, float]:
    """ln(n / df) of each word of the report's chunks: 0 for one that all have."""
    counts, size = document_frequency(tuple(chunk.text for chunk in report.chunks))
    return {word: math.log(size / times) for word, times in counts.items()}


def of_all(
    report: Report, found: Sequence[Evidence], criteria: Mapping[str, Criterion], about: str
) -> tuple[Quote, ...]:
    """Those of each chunk for the criterion that it is said to fit best."""
    return tuple(
        quote
        for each in found
        if each.criterion in criteria
        for quote in highlights(report, each, criteria[each.criterion], about)
    )
