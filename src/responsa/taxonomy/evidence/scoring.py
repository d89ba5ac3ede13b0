"""What chunks score: by words, by vectors, by the activity's number, by years; and our weighted sum of these."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from responsa.analysis import Analysed, Analysis
from responsa.retrieval.postings import Floats, Ints
from responsa.taxonomy.evidence.lexical import Lexical, lexical, merged, okapi
from responsa.taxonomy.evidence.queries import Question
from responsa.taxonomy.evidence.recipes import EvidenceRecipe
from responsa.taxonomy.evidence.report import Progress, Report
from responsa.taxonomy.evidence.vectors import similarities
from responsa.taxonomy.values import Activity

TABLES = (
    "taxonomy-aligned taxonomy-eligible turnover CapEx OpEx proportion share substantial contribution criteria"
    " environmentally sustainable activities"
)
"""Words of the tables and the text in which reports tell how much of them meets the criteria."""

_BIGRAMS = 0.3  # what two neighbouring words add beside the words
_HEADINGS = 3  # of the path above a chunk that are read with it
_MOST_CODES = 3
_ACTIVITY = 0.75  # of its score for the activity a chunk needs from a criterion to count as evidence of that
_FEW_WORDS = 60
_PLANS = re.compile(
    r"\b(?:targets?|goals?|ambitions?|(?:by|until) 20[2-6]\d|(?:aim|plan|intend)s? to|planned|will|roadmap|strategy)\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<![\d.,])(20[0-6]\d)(?:\s?[/–-]\s?(?:20)?\d\d(?!\d))?(?![\d%]|[.,]\d)")


class Scored(NamedTuple):
    """``total`` of each chunk; ``criteria`` each one's scores from 0 to 1, shape (criteria, chunks), in the order of
    ``ids``; the first is the activity itself."""

    total: Floats
    ids: tuple[str, ...]
    criteria: Floats


@dataclass(frozen=True, eq=False)
class Index:
    """A report's chunks, ready to be scored."""

    report: Report

    @cached_property
    def _words(self) -> Lexical:
        """Stems and pairs of them, the headings above a chunk read with it."""
        texts = [" . ".join([*chunk.path[-_HEADINGS:], chunk.text]) for chunk in self.report.chunks]
        analysed = Analysis()(texts)
        lengths = [len(each.words) for each in analysed]
        single = lexical([each.words.tolist() for each in analysed], lengths)
        pairs = lexical([each.bigrams.tolist() for each in analysed], lengths, weight=_BIGRAMS)
        return merged(single, pairs)

    @cached_property
    def okapi(self) -> Lexical:
        """The chunks split at white space alone (section 6.2.2 of the thesis)."""
        return okapi([chunk.text.split() for chunk in self.report.chunks])

    def by_words(self, queries: Sequence[str]) -> Floats:
        """BM25, shape (queries, chunks)."""
        rows = [self._words.scores(_tokens(each)) for each in Analysis()(queries)]
        return np.array(rows).reshape(len(queries), len(self.report.chunks))

    def by_vectors(self, encoder: str, queries: Sequence[str], progress: Progress | None = None) -> Floats:
        """Dot products of vectors, shape (queries, chunks)."""
        return similarities(self.report, encoder, queries, progress).astype(np.float64)

    def codes(self, activity: Activity) -> Ints:
        """How often each chunk prints the activity's number as that of an activity, at most three times."""
        pattern = code_pattern(activity)
        found = [min(len(pattern.findall(chunk.text)), _MOST_CODES) for chunk in self.report.chunks]
        return np.array(found, dtype=np.int64)

    def other_years(self, year: int) -> Floats:
        """The share of the years that each chunk names that are neither ``year`` nor beside it; 0 where it names none.

        The year before stands in every table of a report, and so does the next in the date of its signature.
        """
        shares = []
        for chunk in self.report.chunks:
            years = [int(found) for found in _YEAR.findall(chunk.text)]
            shares.append(sum(abs(each - year) > 1 for each in years) / len(years) if years else 0.0)
        return np.array(shares)

    @cached_property
    def plans(self) -> Floats:
        """How much each chunk talks of targets and plans, from 0 to 1: three such words in a hundred and more are 1."""
        shares = [
            len(_PLANS.findall(chunk.text)) / max(len(chunk.text.split()), _FEW_WORDS) for chunk in self.report.chunks
        ]
        return np.minimum(np.array(shares) / 0.03, 1.0)


@lru_cache(maxsize=4)
def index(report: Report) -> Index:
    """The index of a report, made once in a process."""
    return Index(report)


def _tokens(analysed: Analysed) -> list[int]:
    return [*analysed.words.tolist(), *analysed.bigrams.tolist()]


def code_pattern(activity: Activity) -> re.Pattern[str]:
    """The number as reports print it: ``CCM 7.7``, ``(7.7)``, ``activity 7.7``, ``7.7 Acquisition``; not 7.7 %."""
    number = re.escape(activity.number)
    first = re.escape(activity.name.split()[0])
    end = r"(?!\d|[.,]\d|\s?%|\s?percent)"
    return re.compile(
        rf"\b{activity.objective}\s*{number}{end}"
        rf"|\({number}\.?(?:[);,/]|\s+and\b)"
        rf"|\b(?:activit(?:y|ies)|category|categories|section|no\.?|number)\s+[“\"„'(]?{number}{end}"
        rf"|(?<![\d.,€$£]){number}\.?\s+[“\"„']?{first}",
        re.IGNORECASE,
    )


def scaled(scores: Floats) -> Floats:
    """Each row from 0 (its least) to 1 (its most); 0 where all are equal."""
    low, high = scores.min(axis=-1, keepdims=True, initial=np.inf), scores.max(axis=-1, keepdims=True, initial=-np.inf)
    span = np.where(high > low, high - low, 1.0)
    result: Floats = np.where(high > low, (scores - low) / span, 0.0)
    return result


def weighted(
    found: Index,
    activity: Activity,
    questions: Sequence[Question],
    recipe: EvidenceRecipe,
    year: int | None = None,
    progress: Progress | None = None,
) -> Scored:
    """Our score of every chunk: see `EvidenceRecipe`. Without a ``year`` no chunk is on another one."""
    encoder = recipe.encoder if recipe.vector or recipe.meaning else ""
    made = parts(found, activity, questions, encoder, year, progress)
    return _with_criteria(summed(made, recipe), activity, questions, made)


class Parts(NamedTuple):
    """What `weighted` sums, from 0 to 1 for each chunk, under the names of the weights; ``rows`` has the scores for
    each question, shape (questions, chunks), ``own`` those for the activity's number and name."""

    activity: Floats
    vector: Floats
    criteria: Floats
    meaning: Floats
    code: Floats
    tables: Floats
    plans: Floats
    years: Floats
    rows: Floats
    own: Floats


def parts(
    found: Index,
    activity: Activity,
    questions: Sequence[Question],
    encoder: str,
    year: int | None = None,
    progress: Progress | None = None,
) -> Parts:
    """The parts of the score; without an ``encoder`` those of vectors are 0."""
    name = f"{activity.id} {activity.name}"
    texts = [question.text for question in questions]
    words = scaled(found.by_words([name, TABLES, *texts]))
    meant = np.zeros((1 + len(texts), len(found.report.chunks)))
    if encoder:
        queries = [name, *(f"{activity.name}: {text}" for text in texts)]
        meant = scaled(found.by_vectors(encoder, queries, progress))
    codes = found.codes(activity)
    none = np.zeros(len(codes))
    return Parts(
        activity=words[0],
        vector=meant[0],
        criteria=words[2:].mean(axis=0) if texts else none,
        meaning=meant[1:].mean(axis=0) if texts else none,
        code=codes / (codes + 1),
        tables=words[1],
        plans=found.plans,
        years=none if year is None else found.other_years(year),
        rows=(words[2:] + meant[1:]) / 2,
        own=(words[0] + meant[0]) / 2,
    )


def summed(made: Parts, recipe: EvidenceRecipe) -> Floats:
    """The parts by the weights of a recipe."""
    total = (
        recipe.activity * made.activity
        + recipe.vector * made.vector
        + recipe.criteria * made.criteria
        + recipe.meaning * made.meaning
        + recipe.code * made.code
        + recipe.tables * made.tables
    )
    return beside(total, recipe.neighbours) - recipe.plans * made.plans - recipe.years * made.years


def _with_criteria(total: Floats, activity: Activity, questions: Sequence[Question], made: Parts) -> Scored:
    """The scores by criterion: of several questions of one the best counts."""
    ids = tuple(dict.fromkeys([activity.substantial_contribution.id, *(each.criterion for each in questions)]))
    criteria = np.zeros((len(ids), len(total)))
    criteria[0] = made.own
    for question, row in zip(questions, made.rows, strict=True):
        place = ids.index(question.criterion)
        criteria[place] = np.maximum(criteria[place], row)
    criteria[0] *= _ACTIVITY if len(ids) > 1 else 1
    return Scored(total, ids, criteria)


def beside(scores: Floats, share: float) -> Floats:
    """Each score with ``share`` of it taken from the better of its two neighbours, where that is higher: evidence
    goes on over the end of a chunk."""
    raised = scores.copy()
    raised[1:] = np.maximum(raised[1:], (1 - share) * scores[1:] + share * scores[:-1])
    raised[:-1] = np.maximum(raised[:-1], (1 - share) * scores[:-1] + share * scores[1:])
    return raised
