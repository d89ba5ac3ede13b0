"""What judges said, put together: the tables, agreement with people and with one another, and warnings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from responsa.errors import InputError
from responsa.evaluate.agreement import PairedComparison, paired_test
from responsa.evaluate.judge import Case, Combined, Rating, combine
from responsa.evaluate.judge_bias import Positions, Probed, constant, length_bias, length_flag
from responsa.evaluate.judge_files import Submission
from responsa.evaluate.ratings import (
    Agreement,
    Correlation,
    Key,
    Rated,
    Summary,
    between,
    by_rater,
    consensus,
    consensus_of,
    summarise,
)
from responsa.types import Call

Unanswered = Literal["lowest", "skip"]
JUDGES, PEOPLE = "all judges", "all people"
People = Mapping[str, Mapping[Key, int]]


@dataclass(frozen=True)
class Approach:
    """One file of answers. ``summary`` is of the judges' means, None where nothing could be scored, and ``by_judge`` of
    each judge's own; ``unscored`` are the ids that no judge could rate."""

    name: str
    summary: Summary | None
    by_judge: Mapping[str, Summary]
    unscored: tuple[str, ...]
    unanswered: Mapping[str, str]
    without_reference: tuple[str, ...]


@dataclass(frozen=True)
class Between:
    """The agreement of two raters."""

    first: str
    second: str
    agreement: Agreement


@dataclass(frozen=True)
class Report:
    """All that is found of a judging. ``comparisons`` are with the first approach, by name."""

    approaches: tuple[Approach, ...]
    combined: tuple[Combined, ...]
    ratings: tuple[Rating, ...]
    comparisons: Mapping[str, PairedComparison]
    agreements: tuple[Between, ...]
    lengths: Mapping[str, Correlation]
    probes: tuple[Probed, ...]
    positions: tuple[Positions, ...]
    flags: tuple[str, ...]

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every request made."""
        made: tuple[Rating | Probed | Positions, ...] = (*self.ratings, *self.probes, *self.positions)
        return tuple(call for each in made for call in each.calls)


def report(
    submissions: Sequence[Submission],
    ratings: Sequence[Rating],
    people: People,
    bias: tuple[Sequence[Probed], Sequence[Positions]] = ((), ()),
    unanswered: Unanswered = "lowest",
    seed: int = 0,
) -> Report:
    """Put together what judges said of several files. An unanswered question counts as 1, or is left out."""
    combined = combine(ratings)
    values = {each.key: each.mean for each in combined if each.mean is not None}
    scores = {each.approach: _scores(each, values, unanswered) for each in submissions}
    judges = {name: _by_judge(combined, name) for name in dict.fromkeys(each.judge for each in ratings)}
    cases = [case for each in submissions for case in each.cases]
    by_judge: dict[str, list[Rating]] = {}
    for rating in ratings:
        by_judge.setdefault(rating.judge, []).append(rating)
    # Repetitions are no answers more: the first of each, so that p does not shrink with them.
    once = {judge: [each for each in given if each.repetition == 0] for judge, given in by_judge.items()}
    lengths = {judge: length_bias(cases, given) for judge, given in once.items()}
    probes, positions = bias
    flags = [
        *(constant(given) for given in by_judge.values()),
        *(length_flag(judge, found) for judge, found in lengths.items()),
        *(each.flag for each in probes),
        *(each.flag for each in positions),
    ]
    approaches = []
    for each in submissions:
        own = {name: list(_scores(each, given, unanswered).values()) for name, given in judges.items()}
        approaches.append(_approach(each, list(scores[each.approach].values()), own, values, seed))
    return Report(
        tuple(approaches),
        tuple(combined),
        tuple(ratings),
        dict(_compared([each.name for each in approaches], scores, seed)),
        tuple(agreements(_given(ratings), people)),
        lengths,
        tuple(probes),
        tuple(positions),
        tuple(filter(None, flags)),
    )


def _scores(submission: Submission, values: Mapping[Key, float], unanswered: Unanswered) -> dict[str, float]:
    found = {case.id: values[case.key] for case in submission.cases if case.key in values}
    return found | dict.fromkeys(submission.unanswered, 1.0) if unanswered == "lowest" else found


def _by_judge(combined: Sequence[Combined], judge: str) -> dict[Key, float]:
    return {each.key: each.by_judge[judge] for each in combined if judge in each.by_judge}


def _approach(
    submission: Submission,
    scores: Sequence[float],
    own: Mapping[str, Sequence[float]],
    values: Mapping[Key, float],
    seed: int,
) -> Approach:
    unscored = tuple(case.id for case in submission.cases if case.key not in values)
    summary = summarise(scores, seed) if scores else None
    judges = {name: summarise(given, seed) for name, given in own.items() if given}
    left = (unscored, submission.unanswered, submission.without_reference)
    return Approach(submission.approach, summary, judges, *left)


def _compared(
    names: Sequence[str], scores: Mapping[str, Mapping[str, float]], seed: int
) -> Iterator[tuple[str, PairedComparison]]:
    """Each approach less the first, on the questions that both have scores of."""
    for name in names[1:]:
        both = [key for key in scores[names[0]] if key in scores[name]]
        if both:
            first, other = ([scores[each][key] for key in both] for each in (names[0], name))
            yield name, paired_test(other, first, seed)


def _given(ratings: Sequence[Rating]) -> dict[str, dict[Key, int]]:
    """The rating of each judge on each answer: over repetitions, the one given most often."""
    found: dict[str, dict[Key, list[int]]] = {}
    for each in ratings:
        if each.value is not None:
            found.setdefault(each.judge, {}).setdefault(each.key, []).append(each.value)
    return {judge: {key: consensus(values) for key, values in given.items()} for judge, given in found.items()}


def agreements(judges: People, people: People) -> Iterator[Between]:
    """Judges with people, then people with one another, then judges with one another; of several their `consensus` too.

    Pairs without an answer that both rated are left out.
    """
    some = _with_consensus(judges, JUDGES) if people else dict(judges)
    others = _with_consensus(people, PEOPLE)
    pairs = [(one, other) for other in others.items() for one in some.items()]
    pairs += [*combinations(people.items(), 2), *combinations(judges.items(), 2)]
    for (name, one), (second, other) in pairs:
        found = between(one, other)
        if found:
            yield Between(name, second, found)


def _with_consensus(raters: People, name: str) -> dict[str, Mapping[Key, int]]:
    return {**raters, **({name: consensus_of(raters)} if len(raters) > 1 else {})}


def people_of(rated: Sequence[Rated], approaches: Sequence[str], path: object) -> dict[str, dict[Key, int]]:
    """People's ratings by rater, each under an approach that is judged.

    A file without approaches is for the only one. InputError for an approach that is not judged, and for none where
    there are several.
    """
    named = {each.key[0] for each in rated}
    if wrong := [each for each in rated if each.key[0] and each.key[0] not in approaches]:
        raise InputError(
            f"{path}: line {wrong[0].line}: the approach {wrong[0].key[0]!r} is not judged; "
            f"the approaches are {', '.join(map(repr, approaches))}, by the names of the files"
        )
    if "" in named and len(approaches) > 1:
        raise InputError(
            f"{path}: {len(approaches)} files are judged, but a rating does not say which it is of; add a column "
            f"'approach' with {', '.join(map(repr, approaches))}"
        )
    found = by_rater(rated)
    return {
        rater: {(approach or approaches[0], name): value for (approach, name), value in given.items()}
        for rater, given in found.items()
    }


def chosen(cases: Sequence[Case], most: int) -> list[Case]:
    """The cases that bias is probed on: ``most``, spread evenly over all of them."""
    if most >= len(cases):
        return list(cases)
    return [cases[place * len(cases) // most] for place in range(most)]
