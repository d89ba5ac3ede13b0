"""What a small model of entailment overlooks, read by rules: figures, deadlines, duty or leave, conditions and
exceptions, who is addressed, provisions cited, words quoted.

Each guard says why a sentence does not follow from what it cites, "" where it finds nothing against it.
"""

from __future__ import annotations

from collections.abc import Callable

from responsa.answer.verified import figures, force, limits, who
from responsa.answer.verified.units import Cited
from responsa.text import normalise

GUARDS: tuple[Callable[[str, Cited], str], ...] = (
    who.quotes,
    who.links,
    who.provisions,
    figures.figures,
    figures.paired,
    figures.bounds,
    figures.order,
    force.modality,
    force.negation,
    force.opposite,
    force.contrary,
    limits.limits,
    limits.only,
    limits.scope,
    limits.narrowed,
    limits.described,
    who.addressee,
    who.crossed,
    who.mixed,
    who.roles,
)


def against(sentence: str, cited: Cited) -> list[str]:
    """Why the sentence does not follow from what it cites, as far as rules tell; empty where nothing speaks against."""
    text = normalise(sentence)
    return [reason for guard in GUARDS if (reason := guard(text, cited))]
