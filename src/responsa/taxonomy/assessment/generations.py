"""Several replies to the same prompts, read and combined into one: votes per criterion, claims merged and checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from responsa.models.chat import Chat, ChatFailed, ChatModel
from responsa.models.chat.structured import ask
from responsa.models.chat.window import fit, size
from responsa.taxonomy.assessment import logic, prompts
from responsa.taxonomy.assessment.claims import check, is_held, is_trap, merged
from responsa.taxonomy.evidence.report import Report
from responsa.taxonomy.values import (
    Activity,
    Asking,
    Claim,
    Criterion,
    CriterionAssessment,
    Evidence,
    Generation,
    Standing,
    Verdict,
)  # fmt: skip
from responsa.types import Call

REPLY = 2500
"""Tokens kept free for a reply."""
UNHELD = "no words of the report that could be found support this verdict"
ON_PLANS = "what it rests on is of a target, a plan or another year"
_TRIES = 3

Progress = Callable[[int, int, str], None]


class Shown(NamedTuple):
    """What a prompt is about, and the passages that go with it, the best first."""

    asked: prompts.Asked
    evidence: tuple[Evidence, ...]


@dataclass
class Replies:
    """What came back: readings by prompt and repetition, with their requests and what went wrong."""

    readings: dict[tuple[int, int], prompts.Reading] = field(default_factory=dict)
    shown: dict[int, tuple[list[Evidence], list[str]]] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def asked_of(
    groups: Sequence[Shown],
    activity: Activity,
    asking: Asking,
    year: int,
    chat: ChatModel,
    referred: Sequence[tuple[str, str]] = (),
    progress: Progress | None = None,
) -> Replies:
    """All prompts, each as often as there are to be generations; those of one shape together, several at a time."""
    made = Replies()
    total = len(groups) * asking.generations
    done = 0
    by_shape: dict[type[Any], list[int]] = {}
    for place, group in enumerate(groups):
        by_shape.setdefault(prompts.shape(group.asked, asking.method), []).append(place)
    for shape, places in by_shape.items():
        chats: list[Chat] = []
        asked: list[int] = []
        for place in places:
            kept, labels = _fitting(groups[place], activity, asking, year, chat, referred, made)
            made.shown[place] = (kept, labels)
            if groups[place].evidence and not kept:
                made.failures.append(f"{chat.name}: a window of {chat.window:,} tokens has no room for a passage")
                continue
            asked.append(place)
            passages = [(label, each.text) for label, each in zip(labels, kept, strict=True)]
            chats += [
                _prompt(groups[place], activity, asking, year, passages, referred, number)
                for number in range(asking.generations)
            ]

        def counted(each: int, _: int, before: int = done) -> None:
            if progress:
                progress(before + each, total, "asking")

        keys = [(place, number) for place in asked for number in range(asking.generations)]
        for key, parsed in zip(keys, ask(chat, chats, shape, _TRIES, counted), strict=True):
            if isinstance(parsed, ChatFailed):
                made.failures.append(str(parsed))
                made.calls.append(parsed.call)
            else:
                made.calls += parsed.calls
                made.readings[key] = prompts.Reading(parsed.value, groups[key[0]].asked, asking.method)
        done += len(chats)
    return made


def _prompt(
    group: Shown, activity: Activity, asking: Asking, year: int, passages: Sequence[tuple[str, str]],
    referred: Sequence[tuple[str, str]], number: int,
) -> Chat:  # fmt: skip
    return prompts.prompt(
        group.asked, activity, passages, method=asking.method, year=year, company=asking.company, referred=referred,
        repetition=number, seed=asking.seed,
    )  # fmt: skip


def _fitting(
    group: Shown, activity: Activity, asking: Asking, year: int, chat: ChatModel,
    referred: Sequence[tuple[str, str]], made: Replies,
) -> tuple[list[Evidence], list[str]]:  # fmt: skip
    """The passages that the model's window has room for, and their ids in the prompt."""
    bare = max(
        size(_prompt(group, activity, asking, year, [], referred, n).messages) for n in range(asking.generations)
    )
    schema = 60 * len(group.asked.criteria) + 600
    kept, dropped = fit(group.evidence, chat.window - bare - schema - REPLY, lambda each: each.text)
    if dropped:
        made.notes.append(
            f"{len(dropped)} of {len(group.evidence)} chunks of evidence for {group.asked.what} were not shown to the"
            " model: its window is too small"
        )
    count: Counter[int] = Counter()
    labels = []
    for each in kept:
        count[each.page] += 1
        labels.append(f"p{each.page}-{count[each.page]}")
    return kept, labels


# --- combining ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Combined:
    """The replies as one. ``criteria`` has what was found on each criterion without parts, by its id."""

    criteria: Mapping[str, CriterionAssessment]
    generations: tuple[Generation, ...]
    concluded: Verdict | None


def combined(
    replies: Replies,
    groups: Sequence[Shown],
    roots: Sequence[Criterion],
    blank: Mapping[str, CriterionAssessment],
    report: Report,
    year: int,
    asking: Asking,
    central: Callable[[Sequence[str]], list[float]],
) -> Combined:
    """Votes per criterion, ties to the more careful; reasons of the generation nearest to the others.

    ``blank`` are the criteria as they stand without a model. ``central`` tells of texts how near each is to the others.
    """
    found: dict[str, CriterionAssessment] = {}
    for place, group in enumerate(groups):
        readings = {n: replies.readings[place, n] for n in range(asking.generations) if (place, n) in replies.readings}
        evidence, labels = replies.shown[place]
        for criterion in group.asked.criteria:
            if not readings:
                continue
            claims = [
                check(said.states, said.quote, said.passage, evidence, labels, report, year, n, said.time)
                for n, reading in readings.items()
                for said in reading.statements[criterion.id]
            ]
            judged = {n: reading.judged[criterion.id] for n, reading in readings.items()}
            found[criterion.id] = _settled(blank[criterion.id], judged, merged(claims), central)
    generations = _generations(replies, groups, roots, asking)
    concluded = logic.majority_verdict([each.concluded for each in generations]) if generations else None
    return Combined(found, generations, concluded)


def _settled(
    blank: CriterionAssessment,
    judged: Mapping[int, prompts.Judged],
    claims: tuple[Claim, ...],
    central: Callable[[Sequence[str]], list[float]],
) -> CriterionAssessment:
    """One criterion: the verdict of most, less where no quote holds it, with the reason that goes with it."""
    votes = Counter(each.verdict for each in judged.values())
    said = logic.majority([each.verdict for each in judged.values()])
    agreeing = [n for n, each in judged.items() if each.verdict == said]
    near = central([judged[n].reason for n in agreeing])
    best = judged[agreeing[max(range(len(agreeing)), key=lambda at: (near[at], -at))]]
    verdict, flags = said, list(blank.flags)
    own = [each for each in claims if set(each.generations) & set(agreeing)]
    if said in ("met", "not_met") and not any(is_held(each) for each in own):
        flags.append(ON_PLANS if any(is_trap(each) for each in own) else UNHELD)
        verdict = "insufficient" if said == "met" else said
    lost = sum(each.support == "not_found" for each in claims)
    if lost:
        flags.append(f"{lost} of {len(claims)} quotes do not stand in the report's text that was shown")
    return replace(
        blank, verdict=verdict, said=said if said != verdict else None, votes=dict(votes), reason=best.reason,
        missing=best.missing, claims=claims, flags=tuple(flags),
    )  # fmt: skip


def _generations(
    replies: Replies, groups: Sequence[Shown], roots: Sequence[Criterion], asking: Asking
) -> tuple[Generation, ...]:
    """Those that answered at least one prompt on the first part; what they did not answer is insufficient."""
    made = []
    for number in range(asking.generations):
        readings = [replies.readings.get((place, number)) for place in range(len(groups))]
        there = [each for each in readings if each is not None]
        if not there:
            continue
        standings: dict[str, Standing] = {
            name: judged.verdict for reading in there for name, judged in reading.judged.items()
        }
        own = logic.together(logic.verdicts({root.id: logic.standing(root, standings) for root in roots}).values())
        conclusions = [each.conclusion for each in there if each.conclusion]
        concluded = logic.together([each.verdict for each in conclusions]) if conclusions else own
        states = [
            f"{said.states} {said.quote}" for each in there for group in each.statements.values() for said in group
        ]
        reasons = [judged.reason for each in there for judged in each.judged.values()]
        made.append(
            Generation(
                number,
                "\n".join(filter(None, (each.breakdown for each in there))),
                "\n".join(states),
                "\n".join([each.reasoning for each in conclusions] or reasons),
                standings,
                concluded,
                own,
            )
        )
    return tuple(made)
