"""What a small model of entailment overlooks, read by rules: figures, deadlines, duty or leave, conditions and
exceptions, who is addressed, provisions cited, words quoted.

Each guard says why a sentence does not follow from what it cites, "" where it finds nothing against it.
"""

from __future__ import annotations

from collections.abc import Callable

from responsa.answer import verified_figures, verified_force, verified_limits, verified_who
from responsa.answer.verified_units import Cited
from responsa.text import normalise

GUARDS: tuple[Callable[[str, Cited], str], ...] = (
    verified_who.quotes,
    verified_who.links,
    verified_who.provisions,
    verified_figures.figures,
    verified_figures.paired,
    verified_figures.bounds,
    verified_figures.order,
    verified_force.modality,
    verified_force.negation,
    verified_force.opposite,
    verified_force.contrary,
    verified_limits.limits,
    verified_limits.only,
    verified_limits.scope,
    verified_limits.narrowed,
    verified_limits.described,
    verified_who.addressee,
    verified_who.crossed,
    verified_who.mixed,
    verified_who.roles,
)


def against(sentence: str, cited: Cited) -> list[str]:
    """Why the sentence does not follow from what it cites, as far as rules tell; empty where nothing speaks against."""
    text = normalise(sentence)
    return [reason for guard in GUARDS if (reason := guard(text, cited))]
