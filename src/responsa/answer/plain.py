"""What a language model's work adds to an answer, as plain values for JSON."""

from __future__ import annotations

from dataclasses import asdict

from responsa.answer.ground import Place
from responsa.answer.verified import VerifiedAnswer
from responsa.types import Answer


def written(value: Answer) -> dict[str, object]:
    """``notes``, the ``trace`` of the requests and, null for any other than the verified answer, sentences
    ``withheld``, parts of the question ``not_found``, ``conflicts`` between passages and the reason of a ``fallback``
    to the rules' own sentences, "" where there was none."""
    plain: dict[str, object] = {"notes": list(value.notes), "trace": [asdict(call) for call in value.trace]}
    return plain | _verified(value)


def _verified(value: Answer) -> dict[str, object]:
    own = value if isinstance(value, VerifiedAnswer) else None
    if own is None:
        return dict.fromkeys(("withheld", "not_found", "conflicts", "fallback"))
    return {
        "withheld": [
            {
                "text": each.text,
                "cites": list(each.cites),
                "score": round(each.score, 6),
                "reasons": list(each.reasons),
                "rewritten": each.rewritten,
            }
            for each in own.withheld
        ],
        "not_found": list(own.not_found),
        "conflicts": [
            {"first": _place(each.first), "second": _place(each.second), "probability": round(each.probability, 6)}
            for each in own.conflicts
        ],
        "fallback": own.fallback,
    }


def submitted(value: Answer) -> dict[str, object]:
    """What the answer of a language model says of itself, under the names of the submission format; else nothing."""
    if not (value.trace or value.notes):
        return {}
    told, named = _verified(value), {"Withheld": "withheld", "NotFound": "not_found", "Conflicts": "conflicts"}
    return {"Notes": list(value.notes)} | {name: told[key] for name, key in named.items() if told[key] is not None}


def _place(value: Place) -> dict[str, object]:
    return {
        "id": value.passage_id,
        "version": value.version,
        "start": value.start,
        "end": value.end,
        "text": value.text,
    }
