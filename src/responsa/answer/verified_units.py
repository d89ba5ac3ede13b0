"""What a sentence of an answer cites, taken apart into sentences."""

from __future__ import annotations

from dataclasses import dataclass

from responsa.answer import verified_words as lex


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
        return frozenset(lex.content(self.text))


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
        """The units that hold most of a text's words, the best first, and those that hold ``slack`` less."""
        words = lex.content(text)
        held = [(lex.share(words, unit.meanings), unit) for unit in self.units]
        best = max((each for each, _ in held), default=0.0)
        return [unit for each, unit in sorted(held, key=lambda item: -item[0]) if each >= best - slack - 1e-9]
