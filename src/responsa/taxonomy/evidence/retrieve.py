"""Evidence for an activity's criteria in a report: `find`, and `evidence` for the chunks alone.

The EU Taxonomy thesis (2024), chapters 6 and 8: BM25 and vectors side by side, fused by reciprocal rank; queries split
or expanded; what is found scored again by a cross-encoder, filtered, freed of repetitions. Our own recipes score every
chunk (`responsa.taxonomy.evidence.scoring`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from responsa.analysis import windows
from responsa.errors import InputError
from responsa.models.chat import ChatModel
from responsa.models.load import load_encoder, load_reranker
from responsa.retrieval.postings import Floats
from responsa.retrieval.scale import logistic
from responsa.taxonomy.evidence import asking
from responsa.taxonomy.evidence.lexical import Lexical, okapi
from responsa.taxonomy.evidence.queries import WORDS, Question, Surroundings, by_leaf, separated, whole
from responsa.taxonomy.evidence.recipes import DEFAULT, EvidenceRecipe, load
from responsa.taxonomy.evidence.report import Progress, Report
from responsa.taxonomy.evidence.scoring import Index, Scored, index, scaled, weighted
from responsa.taxonomy.values import Activity, Criterion, Evidence
from responsa.text import words
from responsa.types import Call, Passage

CHUNKS = 10
PER_CRITERION = 3

_SAME = 0.9  # share of the words of two chunks that both have: one of them is left out
_PAIR_WINDOW = 180  # words of a chunk that a cross-encoder reads at a time


@dataclass(frozen=True)
class Found:
    """``evidence`` best first; ``by_criterion`` the best of each criterion that was searched for, by its id.

    ``questions`` are the queries asked, ``calls`` the requests to a language model that made them, and ``notices`` what
    went wrong on the way.
    """

    evidence: tuple[Evidence, ...]
    by_criterion: Mapping[str, tuple[Evidence, ...]] = field(default_factory=dict)
    questions: tuple[Question, ...] = ()
    calls: tuple[Call, ...] = ()
    notices: tuple[str, ...] = ()


class _Hit(NamedTuple):
    """A chunk by its place, its score, and the queries that found it, the best first."""

    place: int
    score: float
    questions: tuple[Question, ...]


def evidence(
    report: Report,
    activity: Activity,
    recipe: str | EvidenceRecipe = DEFAULT,
    chunks: int = CHUNKS,
    chat: ChatModel | None = None,
    year: int | None = None,
) -> list[Evidence]:
    """The best ``chunks`` of the report for the activity's criteria of substantial contribution; 0 gives all found."""
    return list(find(report, activity, recipe, chunks, chat, year).evidence)


def find(
    report: Report,
    activity: Activity,
    recipe: str | EvidenceRecipe = DEFAULT,
    chunks: int = CHUNKS,
    chat: ChatModel | None = None,
    year: int | None = None,
    *,
    roots: Sequence[Criterion] = (),
    company: str = "",
    progress: Progress | None = None,
) -> Found:
    """`evidence`, with all that is known of how it was found.

    ``roots`` are the criteria searched for, DNSH among them if wanted; without any, those of substantial contribution.
    ``company`` is named in prompts and in the common question; the report's title stands in. Chunks on other years than
    ``year`` rank lower in our recipes. InputError where a recipe needs a language model and ``chat`` is None.
    """
    chosen = load(recipe) if isinstance(recipe, str) else recipe
    if chunks < 0:
        raise InputError(f"chunks is {chunks}; it must be 0, for all that is found, or more")
    wanted = tuple(roots) or (activity.substantial_contribution,)
    searched = index(report)
    if not report.chunks:
        return Found(())
    asked = _asked(searched, activity, wanted, chosen, chat, company or report.title)
    if chosen.retriever == "weighted":
        if chosen.needs_chat:  # a model may leave a criterion out
            placed = {question.criterion for question in asked.questions}
            left = [question for question in by_leaf(wanted) if question.criterion not in placed]
            asked = asked._replace(questions=[*asked.questions, *left])
        scored = weighted(searched, activity, asked.questions, chosen, year, progress)
        hits = _ranked(scored)[: chosen.candidates if chosen.filter else None]
        best = _by_criterion(report, scored)
    else:
        hits = _retrieved(searched, activity, wanted, asked.questions, chosen, progress)
        best = {}
    if chosen.filter:
        question = f"Does {company or report.title or 'the company'} substantially contribute to {activity.name}?"
        hits = _filtered(report, activity, hits, chosen, question)
    kept = _distinct(report, hits, chunks)
    return Found(
        tuple(_evidence(report.chunks[hit.place], hit.questions[0].criterion, hit.score) for hit in kept),
        best or _grouped(report, kept),
        tuple(asked.questions),
        asked.calls,
        asked.notices,
    )


def _asked(
    searched: Index,
    activity: Activity,
    roots: Sequence[Criterion],
    recipe: EvidenceRecipe,
    chat: ChatModel | None,
    company: str,
) -> asking.Asked:
    """The queries of a recipe. With a keyword side alone it is these that keywords are taken from."""
    if not recipe.needs_chat:
        return asking.Asked((separated if recipe.queries == "qs" else whole)(activity, roots))
    if chat is None:
        raise InputError(
            f"queries {recipe.queries!r} are made by a language model and none was given; name one with --model, or"
            " take a recipe whose name has no qe, qeha or prfqe"
        )
    if recipe.queries == "qe":
        return asking.split_by_model(activity, roots, chat)
    if recipe.queries == "qeha":
        return asking.from_hypothesis(activity, roots, chat, company)
    return asking.with_feedback(activity, roots, chat, partial(_nearest, searched, recipe))


def _nearest(searched: Index, recipe: EvidenceRecipe, question: Question) -> tuple[str, str, float] | None:
    similar = searched.by_vectors(recipe.encoder, [question.text])[0]
    chunk = searched.report.chunks[int(np.argmax(similar))]
    return chunk.id, chunk.text, _probabilities(recipe.reranker, [(question.text, chunk.text)])[0]


# Our recipes: every chunk is scored.


def _ranked(scored: Scored) -> list[_Hit]:
    """All chunks, best first, the earlier of equals; each with the criterion that it fits best."""
    best = scored.criteria.argmax(axis=0)
    order = np.argsort(-scored.total, kind="stable")
    return [_Hit(int(at), float(scored.total[at]), (Question(scored.ids[best[at]], ""),)) for at in order]


def _by_criterion(report: Report, scored: Scored) -> dict[str, tuple[Evidence, ...]]:
    """For each criterion the chunks that fit it best; what they are worth for the activity counts half."""
    found = {}
    worth = scaled(scored.total) / 2
    for name, row in zip(scored.ids, scored.criteria, strict=True):
        score = worth + row
        order = [int(at) for at in np.argsort(-score, kind="stable")[: 3 * PER_CRITERION]]
        kept = _distinct(report, [_Hit(at, float(score[at]), (Question(name, ""),)) for at in order], PER_CRITERION)
        found[name] = tuple(_evidence(report.chunks[hit.place], name, hit.score) for hit in kept)
    return found


# The thesis's recipes: each query finds a few.


def _retrieved(
    searched: Index,
    activity: Activity,
    roots: Sequence[Criterion],
    questions: Sequence[Question],
    recipe: EvidenceRecipe,
    progress: Progress | None,
) -> list[_Hit]:
    """What all queries found, by reciprocal rank: each side has its weight, shared by its queries alike."""
    sides: list[tuple[float, list[tuple[Question, Floats]]]] = []
    if recipe.retriever in ("kw", "hb"):
        own = questions if recipe.retriever == "kw" else whole(activity, roots)
        weight = recipe.keyword if recipe.retriever == "hb" else 1.0
        sides.append((weight, _by_keywords(searched, own, recipe)))
    if recipe.retriever in ("vector", "hb"):
        similar = searched.by_vectors(recipe.encoder, [question.text for question in questions], progress)
        weight = 1 - recipe.keyword if recipe.retriever == "hb" else 1.0
        sides.append((weight, list(zip(questions, similar, strict=True))))
    scores: dict[int, float] = {}
    finders: dict[int, list[tuple[float, int, Question]]] = {}
    for weight, lists in sides:
        for question, row in lists:
            for rank, place in enumerate(_best(row, recipe.top), start=1):
                gain = weight / len(lists) / (recipe.constant + rank)
                scores[place] = scores.get(place, 0.0) + gain
                finders.setdefault(place, []).append((-gain, len(finders.get(place, ())), question))
    order = sorted(scores, key=lambda place: (-scores[place], place))
    return [_Hit(place, scores[place], tuple(each[2] for each in sorted(finders[place])[:])) for place in order]


def _best(row: Floats, top: int) -> list[int]:
    """Places of the ``top`` highest scores above 0, best first, the earlier of equals."""
    return [int(place) for place in np.argsort(-row, kind="stable")[:top] if row[place] > 0]


def _by_keywords(
    searched: Index, questions: Sequence[Question], recipe: EvidenceRecipe
) -> list[tuple[Question, Floats]]:
    """BM25 scores of all chunks for each keyword query, in the three settings of section 8.1."""
    if not recipe.words:
        return [(each, searched.okapi.scores(each.text.split())) for each in questions]
    around = _surroundings(searched, recipe.encoder)
    keep = WORDS[recipe.words]
    kept = [(each, keep(each.text, around)) for each in questions]
    if recipe.setting == "each":
        single = [Question(each.criterion, keyword) for each, keywords in kept for keyword in keywords]
        return [(each, searched.okapi.scores(each.text.split())) for each in single]
    chunks = _reduced(searched, recipe.words, recipe.encoder) if recipe.setting == "both" else searched.okapi
    return [(each, chunks.scores(" ".join(keywords).split())) for each, keywords in kept]


def _surroundings(searched: Index, encoder: str) -> Surroundings:
    return Surroundings([chunk.text for chunk in searched.report.chunks], partial(load_encoder, encoder))


@lru_cache(maxsize=4)
def _reduced(searched: Index, method: str, encoder: str) -> Lexical:
    """The chunks reduced to keywords, as queries are."""
    around = _surroundings(searched, encoder)
    return okapi([" ".join(WORDS[method](text, around)).split() for text in around.texts])


def _filtered(
    report: Report, activity: Activity, hits: Sequence[_Hit], recipe: EvidenceRecipe, common: str
) -> list[_Hit]:
    """Scored by a cross-encoder against the query that found each, the best of them, or against one common question
    (section 6.2.4); those below the threshold dropped."""
    pairs: list[tuple[str, str]] = []
    owners: list[int] = []
    for at, hit in enumerate(hits):
        asked = [question.text or activity.name for question in hit.questions] if recipe.filter == "own" else [common]
        pairs += [(text, report.chunks[hit.place].text) for text in dict.fromkeys(asked)]
        owners += [at] * (len(pairs) - len(owners))
    best: dict[int, float] = {}
    for at, probability in zip(owners, _probabilities(recipe.reranker, pairs), strict=True):
        best[at] = max(best.get(at, 0.0), probability)
    scored = [hit._replace(score=best[at]) for at, hit in enumerate(hits) if best[at] >= recipe.threshold]
    return sorted(scored, key=lambda hit: (-hit.score, hit.place))


def _probabilities(reranker: str, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """How likely each chunk answers its query, the best of its windows; the model's calibration where it has one, as
    the thesis the logistic function where not."""
    model = load_reranker(reranker)
    scale, shift = getattr(model, "calibration", ()) or (1.0, 0.0)
    parts = [(query, part) for query, text in pairs for part in windows(text, _PAIR_WINDOW, _PAIR_WINDOW // 5)]
    owners = [at for at, (_, text) in enumerate(pairs) for _ in windows(text, _PAIR_WINDOW, _PAIR_WINDOW // 5)]
    best = [0.0] * len(pairs)
    for at, row in zip(owners, model.score(parts) if parts else [], strict=True):
        best[at] = max(best[at], logistic(scale * float(row[0]) + shift))
    return best


# From hits to evidence.


def _distinct(report: Report, hits: Sequence[_Hit], most: int) -> list[_Hit]:
    """The first ``most`` (0: all) without those that say what a better one says: nearly the same words."""
    kept: list[_Hit] = []
    seen: list[set[str]] = []
    for hit in hits:
        if most and len(kept) == most:
            break
        own = set(words(report.chunks[hit.place].text))
        if any(len(own & other) >= _SAME * max(len(own), len(other)) for other in seen):
            continue
        kept.append(hit)
        seen.append(own)
    return kept


def _evidence(chunk: Passage, criterion: str, score: float) -> Evidence:
    assert chunk.page is not None
    return Evidence(
        chunk.page, chunk.text, criterion, round(score, 6), chunk.id, 0, len(chunk.text), chunk.boxes, chunk.flags
    )


def _grouped(report: Report, hits: Sequence[_Hit]) -> dict[str, tuple[Evidence, ...]]:
    """The hits by the criteria of the queries that found them."""
    found: dict[str, list[Evidence]] = {}
    for hit in hits:
        for criterion in dict.fromkeys(question.criterion for question in hit.questions):
            found.setdefault(criterion, []).append(_evidence(report.chunks[hit.place], criterion, hit.score))
    return {criterion: tuple(each[:PER_CRITERION]) for criterion, each in found.items()}
