"""What a judge must be asked before it is believed: does it rate anything but what the answer says?

Judges favour what they read first and long answers (Zheng et al., 2023, section 3.3), and some say the same of
everything. Each probe changes an answer in a way for which the right rating is known, or must not change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from responsa.evaluate.agreement import bootstrap_mean
from responsa.evaluate.judge import TRIES, Case, Judge, Rating
from responsa.evaluate.ratings import Correlation, Key, kendall
from responsa.models.chat import Chat, ChatFailed, ChatModel, Message, Progress, Settings
from responsa.models.chat.fence import RULE, fenced
from responsa.models.chat.structured import Parsed, ask
from responsa.text import words
from responsa.types import Call, Estimate

ProbeKind = Literal["identical", "unrelated", "padded", "swapped"]
PROBES: tuple[ProbeKind, ...] = ("identical", "unrelated", "padded", "swapped")
FEWEST = 5  # ratings from which a judge can be said to be constant
_TOO_OFTEN = 0.2  # share of probes that go wrong from which a probe is flagged
_CORRELATED, _SIGNIFICANT = 0.3, 0.05

# Says nothing: sentences that could close any answer to any question.
_PADDING = (
    "The foregoing has been set out with care and follows the structure of the question as it was put. "
    "Each of the points above should be read together with the others and in the light of the whole. "
    "The matter is of evident importance and merits close attention by everyone concerned. "
    "In sum, and having considered the question from every angle, the position is as described above. "
    "It is hoped that this thorough and comprehensive explanation is of assistance to the reader."
)


@dataclass(frozen=True, slots=True)
class Probed:
    """What a probe found of a judge, on ``n`` answers rated with and without it.

    ``shift`` is the mean change of the rating for ``padded`` and ``swapped``, and the mean distance from the right
    rating for ``identical`` (4) and ``unrelated`` (1). ``wrong`` counts the answers on which it went wrong: a rating
    that is not the right one, that rose by padding, that changed with the order. ``calls`` are the requests made.
    """

    judge: str
    kind: ProbeKind
    n: int
    wrong: int
    unscored: int
    shift: Estimate | None
    calls: tuple[Call, ...] = ()

    @property
    def flag(self) -> str:
        """What is to be said of the judge; "" for nothing."""
        if self.n == 0 or self.wrong / self.n <= _TOO_OFTEN:
            return ""
        share = f"{self.wrong} of {self.n}"
        return {
            "identical": f"{self.judge} rates the official answer itself below 4 ({share})",
            "unrelated": f"{self.judge} rates the official answer to another question above 1 ({share})",
            "padded": f"{self.judge} rates answers higher when empty sentences are added ({share})",
            "swapped": f"{self.judge} changes its rating with the order of the two answers ({share})",
        }[self.kind]


def probe(
    judge: Judge, cases: Sequence[Case], ratings: Sequence[Rating], kind: ProbeKind, progress: Progress | None = None
) -> Probed:
    """Ask a judge again about changed cases. ``ratings`` are what it said of them unchanged; those it could not rate
    are left out of ``padded`` and ``swapped``."""
    before = {each.key: each.value for each in ratings if each.value is not None and each.judge == judge.name}
    asked, other = _changed(judge, cases, before, kind)
    found = other.rate(asked, progress=progress)
    scored = [(each.key, each.value) for each in found if each.value is not None]
    right = {"identical": 4, "unrelated": 1}.get(kind)
    shifts = [value - (before[key] if right is None else right) for key, value in scored]
    wrong = sum(shift > 0 if kind == "padded" else shift != 0 for shift in shifts)
    calls = tuple(call for each in found for call in each.calls)
    shift = bootstrap_mean(shifts) if shifts else None
    return Probed(judge.name, kind, len(scored), wrong, len(found) - len(scored), shift, calls)


def _changed(
    judge: Judge, cases: Sequence[Case], before: Mapping[Key, int], kind: ProbeKind
) -> tuple[list[Case], Judge]:
    if kind == "identical":
        return [replace(case, answer=case.reference) for case in _apart(cases)], judge
    if kind == "unrelated":
        made = ((case, _unrelated(case, cases)) for case in _apart(cases))
        return [replace(case, answer=text) for case, text in made if text], judge
    known = [case for case in cases if case.key in before]
    if kind == "padded":
        return [replace(case, answer=f"{case.answer}\n\n{_PADDING}") for case in known], judge
    order: Literal["reference-first", "answer-first"] = (
        "answer-first" if judge.order == "reference-first" else "reference-first"
    )
    return known, replace(judge, order=order)


def _apart(cases: Sequence[Case]) -> list[Case]:
    """The first case of each question: its official answer is asked about once."""
    seen: dict[str, Case] = {}
    for case in cases:
        seen.setdefault(case.id, case)
    return list(seen.values())


def _unrelated(case: Case, cases: Sequence[Case]) -> str:
    """The official answer, of those to other questions, that has the fewest words in common with this one."""
    own = set(words(f"{case.question} {case.reference}"))
    others = {each.reference: each.id for each in cases if each.id != case.id and each.reference != case.reference}
    if not others:
        return ""
    return min(others, key=lambda text: (_overlap(own, set(words(text))), others[text], text))


def _overlap(one: set[str], other: set[str]) -> float:
    return len(one & other) / max(1, len(one | other))


def constant(ratings: Sequence[Rating]) -> str:
    """What is to be said of a judge whose ratings are all the same; "" where they are not, or are fewer than five."""
    values = Counter(each.value for each in ratings if each.value is not None)
    total = sum(values.values())
    if len(values) != 1 or total < FEWEST:
        return ""
    (value,) = values
    return f"{ratings[0].judge} always says {value} ({total} ratings): it may not tell answers apart"


def length_bias(cases: Sequence[Case], ratings: Sequence[Rating]) -> Correlation:
    """Tau-b between the words of an answer and its rating. Long answers may be better: see the probe ``padded``."""
    lengths = {case.key: len(words(case.answer)) for case in cases}
    pairs = [(lengths[each.key], each.value) for each in ratings if each.value is not None and each.key in lengths]
    return kendall([length for length, _ in pairs], [value for _, value in pairs])


def length_flag(judge: str, found: Correlation) -> str:
    """What is to be said where ratings go with length; "" for nothing."""
    if found.tau is None or found.p_value is None or found.p_value >= _SIGNIFICANT or abs(found.tau) < _CORRELATED:
        return ""
    which = "longer" if found.tau > 0 else "shorter"
    return f"{judge} rates {which} answers higher (tau {found.tau:+.2f}, p {found.p_value:.2g})"


# Two answers side by side, in both orders


@dataclass(frozen=True, slots=True)
class Pair:
    """Two answers to one question, against the official one."""

    id: str
    question: str
    reference: str
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class Preference:
    """The reason, and then which of the two answers comes closer to the official one."""

    reason: str
    better: Literal["first", "second", "equal"]


@dataclass(frozen=True, slots=True)
class Positions:
    """What a judge preferred over ``n`` pairs that it read in both orders.

    ``a``, ``b`` and ``equal`` count the pairs on which both orders agree, ``inconsistent`` those on which they do not.
    ``first`` and ``second`` count the picks by place, over both orders: without a bias they are as many.
    """

    judge: str
    n: int
    a: int
    b: int
    equal: int
    inconsistent: int
    first: int
    second: int
    unscored: int
    calls: tuple[Call, ...] = ()

    @property
    def flag(self) -> str:
        """What is to be said of the judge; "" for nothing."""
        if not self.n or self.inconsistent / self.n <= _TOO_OFTEN:
            return ""
        place = "first" if self.first > self.second else "second"
        return f"{self.judge} prefers what it reads {place} ({self.inconsistent} of {self.n} pairs turn with the order)"


_TASK = """\
You compare two answers to a question about financial regulation. The official answer is right by definition: say which
of the two comes closer to it, in what it states first, and then in what it leaves out. Length, style, confidence, and
which of them stands first count for nothing. Say "equal" where neither is closer. Give the reason first, in at most 100
words."""
SETTINGS = Settings(temperature=0.0)


def _pair_chat(pair: Pair, order: tuple[str, str], settings: Settings) -> Chat:
    named = (("question", pair.question), ("official_answer", pair.reference))
    text = fenced([*named, ("first_answer", order[0]), ("second_answer", order[1])])
    return Chat((Message("system", f"{_TASK}\n\n{RULE}"), Message("user", text)), settings, "judge-pair")


def positions(
    model: ChatModel, pairs: Sequence[Pair], settings: Settings = SETTINGS, progress: Progress | None = None
) -> Positions:
    """The better answer of each pair, in both orders; a pair without two readable replies is unscored."""
    chats = [_pair_chat(pair, order, settings) for pair in pairs for order in ((pair.a, pair.b), (pair.b, pair.a))]
    replies = ask(model, chats, Preference, TRIES, progress)
    found: Counter[str] = Counter()
    places: Counter[str] = Counter()
    calls: list[Call] = []
    for one, other in zip(replies[::2], replies[1::2], strict=True):
        calls += [call for each in (one, other) for call in _calls(each)]
        if isinstance(one, ChatFailed) or isinstance(other, ChatFailed):
            found["unscored"] += 1
            continue
        places.update((one.value.better, other.value.better))
        seen = {"first": "a", "second": "b"}.get(one.value.better, "equal")
        turned = {"first": "b", "second": "a"}.get(other.value.better, "equal")
        found[seen if seen == turned else "inconsistent"] += 1
    return Positions(
        model.name,
        n=len(pairs) - found["unscored"],
        a=found["a"],
        b=found["b"],
        equal=found["equal"],
        inconsistent=found["inconsistent"],
        first=places["first"],
        second=places["second"],
        unscored=found["unscored"],
        calls=tuple(calls),
    )


def _calls(reply: Parsed[Preference] | ChatFailed) -> tuple[Call, ...]:
    return (reply.call,) if isinstance(reply, ChatFailed) else tuple(reply.calls)
