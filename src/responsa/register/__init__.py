"""The obligation register of a document: a row for each duty, every part of it cited by passage and characters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from responsa.corpus.references import Here, Reference, parse
from responsa.corpus.view import Corpus
from responsa.errors import NotFound, suggestion
from responsa.obligations import RuleObligationDetector
from responsa.quantities import Quantity, quantities
from responsa.register.clauses import Clause, Modality, clauses
from responsa.register.units import Part, Unit, units
from responsa.text import normalise, tidy
from responsa.types import Passage, Version

__all__ = ["Duty", "Measure", "Part", "by_who", "register"]

_CELEX = re.compile(r"3\d{4}[RLD]\d{4}\b")
_ARTICLE = re.compile(r"(?:Article )?(\d{1,3}[a-z]{0,3})(?:\((\d{1,3}[a-z]?)\))?")
_ARTICLE_WORDS = re.compile(r"\A(?:the|an?|each|every|any|no|all|such|that)\s+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Measure:
    """A quantity of a duty: its words and what they come to. ``event`` is what a deadline counts from."""

    part: Part
    quantity: Quantity
    event: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Duty:
    """A row of the register. ``passage`` is the clause it is listed under, ``number`` as a lawyer writes it.

    Parts are words of the stored text: of ``version``, of the passage each names. ``who`` is empty where the text names
    nobody ("Records shall be kept"); ``what`` begins with the ``subject`` then. ``soft`` marks what does not bind:
    "should", and everything in guidance.
    """

    passage: Passage
    version: Version
    number: str
    modality: Modality
    soft: bool
    sentence: tuple[Part, ...]
    verb: tuple[Part, ...]
    subject: tuple[Part, ...]
    who: tuple[Part, ...]
    what: tuple[Part, ...]
    when: tuple[Part, ...]
    condition: tuple[Part, ...]
    exception: tuple[Part, ...]
    measures: tuple[Measure, ...]
    references: tuple[tuple[Part, Reference], ...]

    @property
    def timing(self) -> tuple[Measure, ...]:
        """The measures that say when."""
        return tuple(
            each
            for each in self.measures
            if any(
                part.passage_id == each.part.passage_id and part.start <= each.part.start < part.end
                for part in self.when
            )
        )


def register(
    corpus: Corpus,
    document_id: str,
    *,
    guidance: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
) -> Iterator[Duty]:
    """The duties of a document in reading order; with ``guidance`` what it recommends too.

    NotFound, with a suggestion, for a document that is not in view. ``progress`` is told how many passages are read, of
    how many, and which.
    """
    version = corpus.version(document_id)
    if version is None:
        raise NotFound(
            f"no document {document_id!r}{suggestion(document_id, [each.document_id for each in corpus.versions])}"
        )
    return _duties(tuple(corpus.passages(version)), version, guidance, progress)


def _duties(
    passages: Sequence[Passage], version: Version, guidance: bool, progress: Callable[[int, int, str], None] | None
) -> Iterator[Duty]:
    detect = RuleObligationDetector()
    cited: dict[str, tuple[Reference, ...]] = {}
    seen: set[tuple[Part, ...]] = set()  # a duty of a lead-in comes once, not with each of its points
    for done, (passage, made) in enumerate(units(passages, guidance=guidance), 1):
        if progress and done % 20 == 0:
            progress(done, len(passages), passage.number)
        for unit, detection in zip(made, detect([each.text for each in made]), strict=True):
            if detection.label != "obligation" and not (guidance and detection.soft):
                continue
            for clause in clauses(unit.text, soft=detection.label != "obligation"):
                duty = _duty(unit, clause, version, cited)
                key = (*duty.verb, *duty.what)
                if duty.what and key not in seen:
                    seen.add(key)
                    yield duty


def _duty(unit: Unit, clause: Clause, version: Version, cited: dict[str, tuple[Reference, ...]]) -> Duty:
    text = unit.text
    passage = unit.passage

    def parts(*spans: tuple[int, int]) -> tuple[Part, ...]:
        return tuple(part for span in spans for part in unit.parts(*span))

    measures = [
        Measure(part, quantity, parts(quantity.anchor) if quantity.anchor else ())
        for quantity in quantities(text)
        for part in unit.parts(quantity.start, quantity.end)
    ]
    references = []
    for segment in unit.segments:
        own = segment.passage
        if own.id not in cited:
            cited[own.id] = parse(own.text, _here(own))
        references += [
            (Part(own.id, each.start, each.end, own.text[each.start : each.end]), each)
            for each in cited[own.id]
            if segment.start <= each.start < segment.end
        ]
    return Duty(
        passage,
        version,
        passage.number + (unit.item if unit.item != "*" else ""),
        clause.modality,
        clause.modality == "recommendation" or passage.kind == "guidance",
        parts((0, len(text))),
        parts(clause.verb),
        parts(clause.subject) if clause.subject else (),
        parts(*clause.who),
        parts(*clause.what),
        parts(*clause.when),
        parts(*clause.condition),
        parts(*clause.exception),
        tuple(measures),
        tuple(references),
    )


def _here(passage: Passage) -> Here:
    """Where the passage stands, for what it cites by "this Article" or "paragraph 2"."""
    act = _CELEX.match(passage.document_id)
    number = _ARTICLE.match(normalise(passage.number)) if act else None
    return Here(act[0] if act else None, number[1] if number else None, number[2] if number else None, passage.path)


def by_who(duties: Sequence[Duty]) -> Counter[str]:
    """How many duties each has; "" counts those that name nobody. "The institution", "institutions" and "Institution"
    are one, under the form met first."""
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for duty in duties:
        words = _ARTICLE_WORDS.sub("", tidy(" ".join(part.text for part in duty.who)), count=1)
        counts[names.setdefault(_key(words), words)] += 1
    return counts


def _key(words: str) -> str:
    lower = words.lower()
    return lower[:-3] + "y" if lower.endswith("ies") else lower.removesuffix("s")
