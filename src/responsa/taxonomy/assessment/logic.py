"""From verdicts on single criteria to one: by their logic, and by the votes of several replies."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar, get_args

from responsa.taxonomy.values import Criterion, Standing, Verdict

CAREFUL: tuple[Standing, ...] = get_args(Standing)
"""What a tie is decided by: the first of these that is among the most frequent."""
NO_HARM = "DNSH"
"""What the ids of the criteria for no significant harm begin with."""
_VERDICTS: tuple[Verdict, ...] = ("insufficient", "not_aligned", "aligned")
_OF: Mapping[Standing, Verdict] = {
    "met": "aligned", "not_met": "not_aligned", "insufficient": "insufficient", "not_applicable": "insufficient",
}  # fmt: skip
_S = TypeVar("_S", bound=str)


def standing(root: Criterion, leaves: Mapping[str, Standing]) -> Standing:
    """How a criterion stands, from how those without parts do, by id; what is not told of is insufficient.

    What does not apply counts neither for nor against; where no part applies, nor does the whole. ``at_least``: not met
    as soon as too few are left that could be.
    """
    if not root.parts:
        return leaves.get(root.id, "insufficient")
    found = [standing(part, leaves) for part in root.parts]
    counts = Counter(found)
    if counts["not_applicable"] == len(found):
        return "not_applicable"
    if root.logic == "all":
        return "not_met" if counts["not_met"] else "insufficient" if counts["insufficient"] else "met"
    wanted = 1 if root.logic == "any" else root.count
    if counts["met"] >= wanted:
        return "met"
    return "insufficient" if counts["met"] + counts["insufficient"] >= wanted else "not_met"


def verdict(found: Standing) -> Verdict:
    """A standing as a verdict on the activity; where nothing applies, nothing is shown."""
    return _OF[found]


def together(found: Iterable[Verdict]) -> Verdict:
    """That of several parts that are all to be met."""
    there = set(found)
    return "not_aligned" if "not_aligned" in there else "insufficient" if "insufficient" in there else "aligned"


def verdicts(parts: Mapping[str, Standing]) -> dict[str, Verdict]:
    """Those of an assessment's parts, by the ids of their roots. No harm to an objective that does not apply, such as
    by appliances that nobody installs, has none: it counts neither for nor against."""
    return {
        name: verdict(each) for name, each in parts.items() if each != "not_applicable" or not name.startswith(NO_HARM)
    }


def majority(votes: Sequence[Standing]) -> Standing:
    """What most say; of several that are as frequent the more careful. ValueError without a vote."""
    return _most(votes, CAREFUL)


def majority_verdict(votes: Sequence[Verdict]) -> Verdict:
    """The same for verdicts."""
    return _most(votes, _VERDICTS)


def _most(votes: Sequence[_S], order: Sequence[_S]) -> _S:
    counts = Counter(votes)
    most = max(counts.values())
    return next(each for each in order if counts[each] == most)


def entropy(votes: Sequence[str]) -> float:
    """Of the votes, from 0 where all are alike to 1 where they are spread evenly over the three verdicts."""
    total = len(votes)
    shares = [count / total for count in Counter(votes).values()]
    return max(0.0, -math.fsum(share * math.log(share) for share in shares) / math.log(len(_VERDICTS)))
