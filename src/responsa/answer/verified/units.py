"""What a sentence of an answer cites, taken apart into sentences."""

from __future__ import annotations

from dataclasses import dataclass

from responsa.answer.verified import words as lex


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
        held = [(len(words & unit.meanings) / len(words) if words else 1.0, unit) for unit in self.units]
        best = max((each for each, _ in held), default=0.0)
        near = [(each, unit) for each, unit in held if each >= best - slack - 1e-9]
        return [unit for _, unit in sorted(near, key=lambda item: (-item[0], -self._own(words, item[1])))]

    def _own(self, words: set[str], unit: Unit) -> float:
        """The weight of the words that a unit holds: less for those that others hold too."""
        return sum(1 / sum(word in each.meanings for each in self.units) for word in words & unit.meanings)
