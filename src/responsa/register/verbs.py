"""Which verbs of a sentence bind, which words say when, and what is left of a span."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from responsa.obligations import Verb, main_verbs
from responsa.quantities import quantities

Span = tuple[int, int]

BINDING = frozenset(["must", "shall", "duty", "ban", "only", "offence", "stray"])
REPORTS = re.compile(r"\A[^,;:]{0,140}? (?:provides?|states?|specif(?:y|ies)|stipulates?|sets? out|prescribes?) that ")
_ANNOUNCES = re.compile(
    r"[^:]*?\b(?:the |all (?:of )?the )?following(?: [a-z-]+){0,4} (?:shall |must )?appl(?:y|ies)\b[^:]{0,120}:"
)
MARK = re.compile(r"[ ,]|\(\w{1,4}\) ")
_FOR = re.compile(
    r"\bfor (?:a |the )?(?:further |minimum |maximum )?(?:period |term )?(?:of )?(?:at least |not less than |no "
    r"less than |up to )?\Z"
)
_MARKER = re.compile(r"[ ,;:-]*(?:\(\w{1,4}\)\s)?(?:(?:and|or|but) (?=\Z))?[ ,]*")
_ENDING = re.compile(r"(?:[ ,;:.-]|\b(?:and|or|but|only)\b(?=[ ,;:.-]*\Z))*\Z")


def binding(lower: str, wanted: Iterable[str]) -> list[Verb]:
    """The verbs of main clauses that fall under the rules wanted.

    Where a sentence reports a rule ("Section 242 provides that") or announces it ("the following shall apply:"),
    they are those of the rule.
    """
    announced = _ANNOUNCES.match(lower)
    if announced:
        return after(lower, announced.end(), wanted)
    verbs = [verb for verb in main_verbs(lower) if verb.rule in wanted]
    report = None if verbs else REPORTS.match(lower)
    return after(lower, report.end(), wanted) if report else verbs


def after(lower: str, cut: int, wanted: Iterable[str]) -> list[Verb]:
    """Those of the text from ``cut`` on, read as a sentence of its own."""
    while cut < len(lower) and (marker := MARK.match(lower, cut)):
        cut = marker.end()
    found = main_verbs(lower[cut:])
    return [Verb(verb.rule, verb.start + cut, verb.end + cut) for verb in found if verb.rule in wanted]


def times(text: str) -> Iterator[Span]:
    """Deadlines, frequencies, and how long something lasts ("for at least six years")."""
    for each in quantities(text):
        if each.kind in ("deadline", "frequency") and each.relation != "as of":
            yield each.start, each.end
        elif each.kind == "duration":
            lasting = _FOR.search(text, max(0, each.start - 60), each.start)
            if lasting:
                yield lasting.start(), each.end


def without(span: Span, held: Iterable[Span], lower: str) -> list[Span]:
    """What is left of a span when others are taken out of it; bits without a word are dropped."""
    pieces = [span]
    for start, end in sorted(held):
        pieces = (
            [
                part
                for low, high in pieces
                for part in ((low, min(high, start)), (max(low, end), high))
                if part[0] < part[1]
            ]
            if any(low < end and start < high for low, high in pieces)
            else pieces
        )
    kept = []
    for low, high in pieces:
        marker = _MARKER.match(lower, low, high)
        low = marker.end() if marker else low
        ending = _ENDING.search(lower, low, high)
        high = ending.start() if ending else high
        if re.search(r"\w{2}", lower[low:high]):
            kept.append((low, high))
    return kept
