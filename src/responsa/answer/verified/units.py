"""What a sentence of an answer cites, taken apart into sentences."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from responsa.answer.verified import words as lex

_GOES_ON = re.compile(
    r"\W*(?:(?:where|when|if)\s)?(?:it|they|he|she|this|that|these|those|such)\b|"
    r"(?:On|In|For|At|During|Upon|After|Before|Between|From|Above|Below|With|Without|Within)\b[^.;:]*\b(?:it|they|he|she)\s(?:shall|must|may)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Unit:
    """A sentence of a passage, at ``start`` to ``end`` of its stored text. ``text`` has the lead-ins before it."""

    passage_id: str
    start: int
    end: int
    text: str

    @property
    def meanings(self) -> frozenset[str]:
        """The meanings of its words."""
        return frozenset(lex.content(self.text)) | lex.labels(self.text)


@dataclass(frozen=True)
class Cited:
    """What a sentence cites: units of passages, and ``around``, what else of them may be named (numbers, titles)."""

    units: tuple[Unit, ...]
    around: str = ""

    @property
    def text(self) -> str:
        """All that is said, once."""
        return "\n".join(dict.fromkeys(unit.text for unit in self.units))

    @property
    def meanings(self) -> frozenset[str]:
        """The meanings of all words."""
        return frozenset(lex.content(self.text + "\n" + self.around))

    def near(self, text: str, slack: float = 0.0) -> list[Unit]:
        """The units that hold most of a text's words, the best first, and those that hold ``slack`` less. Of units
        that hold as much, that is nearer whose words fewer others have."""
        words = {*lex.content(text), *lex.labels(text)}
        held = [
            (len(words & (unit.meanings | self.carried(unit))) / len(words) if words else 1.0, unit)
            for unit in self.units
        ]
        best = max((each for each, _ in held), default=0.0)
        near = [(each, unit) for each, unit in held if each >= best - slack - 1e-9]
        return [unit for _, unit in sorted(near, key=lambda item: (-item[0], -self._own(words, item[1])))]

    def carried(self, unit: Unit) -> frozenset[str]:
        """The meanings of the subject of the one before, where a unit goes on from it ("It shall"); none else."""
        return self._carried[self.units.index(unit)]

    def with_topic(self, unit: Unit) -> frozenset[str]:
        """The meanings of a unit and of what its passage begins with, before the first modal verb and after the last
        comma there: later sentences often leave that out. A unit that begins with a part of it speaks of another."""
        topic = self._topics[unit.passage_id]
        return unit.meanings if topic & set(_before_modal(unit.text)) else unit.meanings | topic

    @cached_property
    def _topics(self) -> dict[str, frozenset[str]]:
        firsts = {unit.passage_id: unit.text for unit in reversed(self.units)}
        return {name: frozenset(_before_modal(text)) for name, text in firsts.items()}

    @cached_property
    def _carried(self) -> tuple[frozenset[str], ...]:
        found = [frozenset[str]()] * len(self.units)
        for place, (before, unit) in enumerate(pairwise(self.units), 1):
            if before.passage_id == unit.passage_id and _GOES_ON.match(unit.text):
                found[place] = found[place - 1] | frozenset(_before_modal(before.text))
        return tuple(found)

    def _own(self, words: set[str], unit: Unit) -> float:
        """The weight of the words that a unit holds: less for those that others hold too."""
        return sum(1 / sum(word in each.meanings for each in self.units) for word in words & unit.meanings)


def _before_modal(text: str) -> tuple[str, ...]:
    """The meanings of the words before the first modal verb, after the last comma; none where there is no such verb."""
    modal = next(iter(lex.modals(text)), None)
    return lex.content(text[: modal.start].rpartition(", ")[2]) if modal else ()


_LEAD = re.compile(
    r"(?:(?:all|each|any|one|both|either|every one)(?: or more)?(?: of)? )?(?:(?:the|these) )?(?:following )?"
    r"(?:(?:conditions?|requirements?|criteria|circumstances|points|things|cases) )?"
    r"(?:(?:is|are) (?:all )?(?:met|satisfied|fulfilled|true|present)|holds?|appl(?:y|ies)|exists?)?:\s+"
    r"(?:(?:\(\w{1,4}\)|[-–•])\s+)?",
    re.IGNORECASE,
)


def spelled(text: str) -> str:
    """An item of a list put behind its lead-in, so that its condition is one: "if all of the following hold: (a) it
    pays" is "if it pays"."""
    return _LEAD.sub(" ", text, count=1).replace("  ", " ") if ":" in text else text
