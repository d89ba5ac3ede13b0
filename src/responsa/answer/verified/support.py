"""How far what a sentence cites supports it: what a model of entailment says, how near the wording is, and what the
guards find, weighed by a logistic function that was learned.

Guards compare words. Where a sentence keeps those of the text they see a change that a small model overlooks; where it
puts the rule freely they often miss its sense, and the model is the better judge. So both count by how near the words
are.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import NamedTuple

from responsa.answer.verified.guards import GUARDS

FILE = "support.json"
_CLOSE = 1e-4  # probabilities nearer to 0 or 1 count as if that far from it
_UNLIKE, _STRANGE = 1 / 3, 0.2  # a sentence with less of its words in the text is not near it, or on something else
_MOST_NEW = 6  # new words that count
# How much of the sentence's words one unit of the text holds: above the first share up to the second.
_BANDS = {"near": (0.97, 1.0), "between": (0.8, 0.97), "far": (0.6, 0.8)}
WHOLE = "whole"  # all units together hold every word
# A figure that is not there, or a duty told as leave, where one unit holds more than so much: no more than a half.
_SURE, _DOUBTED = {"figures": _BANDS["between"][0], "modality": _BANDS["near"][0]}, 0.5


class Weighed(NamedTuple):
    """What is weighed: the probabilities of entailment, neutral and contradiction by each premise asked, the nearest
    unit first and all text last, and of the nearest unit by the sentence; the shares of the sentence's words that all
    units and the nearest hold, how many words none holds, and the guards' ``reasons`` by their names."""

    judged: tuple[tuple[float, ...], ...]
    held: float
    held_at_once: float
    new: int
    reasons: Mapping[str, str]
    back: tuple[float, ...] = (0.0, 1.0, 0.0)


@dataclass(frozen=True)
class Weights:
    """Of the logistic function; columns that are not named weigh nothing. A sentence with ``least`` is supported."""

    bias: float
    least: float
    weights: Mapping[str, float]


def columns(weighed: Weighed) -> dict[str, float]:
    """What the logistic function reads, by name; names are the same for every sentence, in this order."""
    rows = weighed.judged or ((0.0, 1.0, 0.0),)
    best = max(rows)
    entailed, denied, objected = _logit(best[0]), _logit(best[2]), float(bool(weighed.reasons))
    falling = sorted((_logit(row[0]) for row in rows), reverse=True)
    bands = {WHOLE: float(weighed.held > 0.97 and not weighed.new)}
    bands |= {name: float(low < weighed.held_at_once <= high) for name, (low, high) in _BANDS.items()}
    found = {
        "entailed": entailed,
        "entailed by all": _logit(rows[-1][0]),
        "entailed by the nearest": _logit(rows[0][0]),
        "entailed by the second": falling[min(1, len(falling) - 1)],
        "entailed in the mean": sum(falling) / len(falling),
        "contradicted by the nearest": _logit(rows[0][2]),
        "contradicted by the best": denied,
        "contradicted by all": _logit(rows[-1][2]),
        # A sentence that says more than the rule, without its condition, entails it in turn.
        "entails the nearest": _logit(weighed.back[0]),
        "contradicts the nearest": _logit(weighed.back[2]),
        "held": weighed.held,
        "held at once": weighed.held_at_once,
        "new": float(min(weighed.new, _MOST_NEW)),
        "guards": float(len(weighed.reasons)),
    }
    for name, inside in bands.items():
        found[name] = inside
        found[f"entailed, {name}"] = entailed * inside
        found[f"contradicted, {name}"] = denied * inside
        found[f"objected to, {name}"] = objected * inside
    for guard in GUARDS:
        fired = float(guard.__name__ in weighed.reasons)
        found[guard.__name__] = fired
        found[f"{guard.__name__}, {WHOLE}"] = fired * bands[WHOLE]
    return found


def support(weighed: Weighed) -> float:
    """The support of a sentence, 0 to 1; of one that shares few words with the text no more than the probability of
    entailment, for the rest of what is weighed speaks of sentences near the text, and of one that shares next to none
    less, for the network was taught with sentences on the text that they are paired with. A figure that the text does
    not have, in a sentence that is else near its wording, and a duty told as leave, in one that has all its words
    from the rule, leave no more than a half."""
    learned = weights()
    total = learned.bias + sum(learned.weights.get(name, 0.0) * value for name, value in columns(weighed).items())
    found = 1 / (1 + math.exp(-total))
    if any(name in weighed.reasons and weighed.held_at_once > share for name, share in _SURE.items()):
        found = min(found, _DOUBTED)
    if weighed.held >= _UNLIKE:
        return found
    return min(found, max(weighed.judged, default=(0.0,))[0] * min(1.0, weighed.held / _STRANGE))


def least() -> float:
    """The support from which on a sentence may be said."""
    return weights().least


@cache
def weights() -> Weights:
    """Those that ship; ``python -m benchmarks.verified --fit`` writes them."""
    table = json.loads((resources.files(__package__) / FILE).read_text(encoding="utf-8"))
    return Weights(table["bias"], table["least"], table["weights"])


def _logit(probability: float) -> float:
    inside = min(max(probability, _CLOSE), 1 - _CLOSE)
    return math.log(inside / (1 - inside))
