"""A sentence of regulation taken apart: who must do what, when, on which condition, with which exception.

By rules over the words around the main verbs that `responsa.obligations` finds; every part is a span of the text as
given. A duty's bearer is whoever acts in the sentence: its subject, the agent of a passive ("by the firm"), nobody
where only a thing is named ("Records shall be kept"): then the subject begins what is to be done.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from responsa.obligations import Verb
from responsa.register import words
from responsa.register.aligned import Plain, plain
from responsa.register.verbs import BINDING, MARK, REPORTS, Span, after, binding, times, without

Modality = Literal["obligation", "prohibition", "restriction", "recommendation"]

_ANNOUNCED = re.compile(r",? ?(?:the |all (?:of )?the )following(?: [a-z-]+){0,4} (?:shall |must )?appl(?:y|ies)\b.*\Z")
_CLAUSE_STARTS = re.compile(r"[;:]|\.(?= )")
_JOINS = re.compile(r"; (?:and |or |but )?|\. |, (?:and|or|but) (?:that )?| (?:and|or|but) |: ")
_FILLER = re.compile(
    r"(?:and|or|but|however|accordingly|therefore|further|furthermore|in addition|moreover|then|that(?= (?:the|an?|it|"
    r"they|each)\b))\b,?\s*"
)
_NOT = re.compile(r" (?:\w+ly )?not\b")
_JOINED = re.compile(r"\b(?:of|in|to|by|for|with|on|at|from|and|or|under|between|other|than|such)\s\Z")
_OPENED = re.compile(r"[:;](?: (?:and|or))?(?: \(\w{1,4}\))? \Z")
_NO = re.compile(r"(?:no|neither|nor|none)\b")


@dataclass(frozen=True, slots=True)
class Clause:
    """The parts of one duty as spans of the sentence; a part may have several, or none."""

    modality: Modality
    verb: Span
    subject: Span | None
    who: tuple[Span, ...]
    what: tuple[Span, ...]
    when: tuple[Span, ...]
    condition: tuple[Span, ...]
    exception: tuple[Span, ...]


class _Adverbial(NamedTuple):
    sort: str  # "condition", "exception", "time" or "other"
    start: int
    end: int


def clauses(text: str, *, soft: bool = False) -> list[Clause]:
    """The duties of a sentence in order; with ``soft`` what it recommends ("should"). Empty where it binds nobody."""
    made = plain(text)
    if not made.lower:
        return []
    wanted = ("soft",) if soft else BINDING
    verbs = binding(made.lower, wanted)
    if not verbs:
        return []
    timing = list(times(text))
    ends = [_boundary(made.lower, verb, after) for verb, after in pairwise(verbs)]
    found: list[Clause] = []
    inherited: Span | None = None
    for number, verb in enumerate(verbs):
        start = ends[number - 1] if number else 0
        end = ends[number] if number < len(ends) else _end(made.lower)
        reading = _Reading(made, verb, start, end, inherited)
        found.append(reading.clause(timing))
        inherited = reading.subject or inherited
    if not any(each.who for each in found):
        # "The estimates are subject to these criteria: institutions shall update them": the point names who.
        colon = made.lower.find(":", verbs[-1].end) + 1
        for verb in after(made.lower, colon, wanted)[:1] if colon else ():
            point = _Reading(made, verb, colon, _end(made.lower), None).clause(timing)
            return [point] if point.who else found
    return found


def _end(lower: str) -> int:
    return len(lower.rstrip(" .;:,"))


def _boundary(lower: str, verb: Verb, after: Verb) -> int:
    """Where the clause of the verb ``after`` begins: behind the last word that joins it to the clause before."""
    end = after.start
    for match in _JOINS.finditer(lower, verb.end, after.start):
        rest = lower[match.end() : after.start]
        strong = match[0][0] in ";.:,"
        if not rest.strip() or _sort(rest) or words.NOUN_START.match(rest) or words.is_actor(rest.strip()) or strong:
            end = match.end()
            if _sort(rest) and strong:
                break
    return end


def _sort(text: str) -> str:
    """What an adverbial that begins so is; "" where none begins."""
    return next((sort for sort, opening in words.OPENINGS if opening.match(text)), "")


class _Reading:
    """One main verb with what belongs to it, in the plain text."""

    def __init__(self, made: Plain, verb: Verb, start: int, end: int, inherited: Span | None) -> None:
        self.made, self.lower, self.verb = made, made.lower, verb
        self.end = max(end, verb.end)
        self.adverbials: list[_Adverbial] = []
        self.inherited = inherited
        tail = words.MODAL_TAIL.match(self.lower, verb.start)
        self.modal_end = max(tail.end() if tail else verb.end, verb.end)
        self.negated = bool(tail and any(tail[name] for name in ("not", "not2", "not3", "not4")))
        self.subject = self._subject(start)
        self.required = self._required() if words.REQUIRED.fullmatch(self.lower[verb.start : verb.end]) else None

    def clause(self, timing: Sequence[Span]) -> Clause:
        """The parts in the text as stored."""
        body = self._body()
        self._trailing()
        who, what_start = self._who(body)
        sorts = ("condition", "exception")
        parts = {sort: [each[1:] for each in self.adverbials if each.sort == sort] for sort in sorts}
        when = self._when(timing, [*parts["condition"], *parts["exception"]])
        held = [each[1:] for each in self.adverbials if each.sort != "other"]
        what = without((what_start, self.end), [*held, *self._edges(when, held, body)], self.lower)
        subject = self.subject or self.inherited
        if subject and not who and not self.subject:
            what = [subject, *what]
        span = self.made.span
        return Clause(
            self._modality(),
            span(self.verb.start, self.modal_end),
            span(*subject) if subject else None,
            tuple(span(*each) for each in who),
            tuple(span(*each) for each in what),
            tuple(span(*each) for each in when),
            tuple(span(*each) for each in sorted(parts["condition"])),
            tuple(span(*each) for each in sorted(parts["exception"])),
        )

    # before the verb

    def _subject(self, start: int) -> Span | None:
        lower, end = self.lower, self.verb.start
        cut = start
        starts = list(_CLAUSE_STARTS.finditer(lower, start, end))
        marks = "".join(match[0] for match in starts)
        sort = _sort(lower[self._skip(start) : end])
        if re.fullmatch(":;+", marks) and sort in ("condition", "exception"):  # "Where: (a) ...; (b) ...; it must"
            self.adverbials.append(_Adverbial(sort, self._skip(start), starts[-1].start()))
            cut, starts = starts[-1].end(), []
        for match in starts:
            if not re.search(r"\w{2}", lower[match.end() : end]):
                end = match.start()  # "The powers of an administrator: (b) shall comply"
                break
            self._leading(cut, match.start(), whole=True)
            cut = match.end()
        report = REPORTS.match(lower, cut, end) if not cut else None
        start, end = self._skip(report.end() if report else cut), self._inserted(cut, end)
        first = self._leading(start, end)
        first = self._skip(first)
        return (first, end) if first < end else None

    def _skip(self, start: int) -> int:
        while start < self.verb.start and (marker := MARK.match(self.lower, start)):
            start = marker.end()
        filler = _FILLER.match(self.lower, start)
        return filler.end() if filler and filler.end() < self.verb.start else start

    def _inserted(self, start: int, end: int) -> int:
        """Set aside what stands between commas before the verb; returns where the subject ends."""
        lower = self.lower
        end = len(lower[:end].rstrip())
        while end > start and lower[end - 1] == ",":
            comma = lower.rfind(",", start, end - 1)
            while comma > start:
                sort = _sort(lower[comma + 1 :].lstrip())
                if sort and lower[comma + 1 : end].strip(" ,") != "":
                    break
                comma = lower.rfind(",", start, comma)
            if comma <= start:
                return end - 1
            self.adverbials.append(_Adverbial(_sort(lower[comma + 1 :].lstrip()), comma + 1, end - 1))
            end = len(lower[:comma].rstrip())
        return end

    def _leading(self, start: int, end: int, *, whole: bool = False) -> int:
        """Set aside the adverbials that a clause begins with; returns where its subject begins.

        ``whole``: it is a lead-in, which has no subject.
        """
        lower = self.lower
        start = self._skip(start)
        if not _sort(lower[start:end]):
            return start
        if whole:
            announced = _ANNOUNCED.search(lower[start:end])
            self._split_adverbials(start, start + announced.start() if announced else end)
            return end
        commas = [match.start() for match in re.finditer(",", lower[start:end])]
        candidates = [start + comma for comma in commas if self._begins_subject(start + comma + 1, end)]
        if candidates:
            neither = [each for each in candidates if lower.startswith(" neither ", each + 1)]
            candidates = neither or candidates
            comma = candidates[-1]
            while len(candidates) > 1 and self._list_item(candidates[-2], comma, end):
                candidates.pop()
                comma = candidates[-1]
            self._split_adverbials(start, comma)
            return comma + 1
        region = len(lower[:end].rstrip())
        at = next(
            (match.start() for match in words.SOMEBODY.finditer(lower, start, end) if match.end() == region), start
        )
        if at == start or _JOINED.search(lower, start, at):
            bare = words.BARE.search(lower[:region], start)
            at = bare.end() if bare else start
        if at > start:
            self._split_adverbials(start, at)
        return at

    def _begins_subject(self, at: int, end: int) -> bool:
        rest = self.lower[at:end].lstrip()
        at = end - len(self.lower[at:end].lstrip())
        if not rest or rest.startswith(("and ", "or ", "such as ", "including ", "as ")) or _closed_class(rest):
            return False
        return (
            bool(words.NOUN_START.match(rest))
            or words.is_actor(rest)
            or self.made.cased[at].isupper()
            or len(rest) < 60
        )

    def _list_item(self, before: int, comma: int, end: int) -> bool:
        """Whether what stands between two commas begins the enumeration that the subject is."""
        item, rest = self.lower[before + 1 : comma].strip(), self.lower[comma + 1 : end].strip()
        return len(item.split()) <= 6 and words.is_actor(item) and words.is_actor(rest) and " and " in rest + " "

    def _split_adverbials(self, start: int, end: int) -> None:
        """One or several adverbials in a row, parted where after a comma another sort begins."""
        lower, at = self.lower, start
        sort = _sort(lower[start:end])
        for comma in re.finditer(",", lower[start:end]):
            place = start + comma.end()
            following = lower[place:end].lstrip()
            new = _sort(following)
            if words.SHORT.match(following):
                continue
            if new and new != sort and (new in ("condition", "exception") or not sort) and place - at > 12:
                self.adverbials.append(_Adverbial(sort or "other", at, place - 1))
                at, sort = place, new
        self.adverbials.append(_Adverbial(sort or "other", at, end))

    # after the verb

    def _body(self) -> int:
        """Where the words for what is to be done begin."""
        if self.required:
            return self.required[1]
        start = self.modal_end
        while start < self.end and self.lower[start] in " ,:":
            start += 1
        return min(start, self.end)

    def _required(self) -> tuple[Span, int] | None:
        found = words.REQUIRES.match(self.lower, self.verb.end, self.end)
        return (found.span("who"), found.end()) if found else None

    def _trailing(self) -> None:
        """Conditions and exceptions behind the verb."""
        lower, at = self.lower, max(self.modal_end, self.verb.end)
        while at < self.end:
            match = words.CONTINUES.search(lower, at, self.end)
            if match is None:
                return
            start, sort = match.start(), match.lastgroup or "condition"
            if words.RELATIVE.search(lower, max(0, start - 16), start) or words.SYMBOLS.match(lower, start):
                at = match.end()
                continue
            end = self._condition_end(match, sort)
            self.adverbials.append(_Adverbial(sort, start + (lower[start] == ","), end))
            at = max(end, match.end())

    def _condition_end(self, match: re.Match[str], sort: str) -> int:
        """Up to the end of the clause, to the comma that closes an insertion, or to a part of the other sort."""
        lower, start = self.lower, match.start()
        start += lower[start] == ","
        start += lower[start] == " "
        short = words.SHORT.match(lower, start)
        if short and not (
            short.end() < self.end
            and lower[short.end()] == " "
            and lower[short.end() + 1 : short.end() + 4] in ("to ", "and")
        ):
            return short.end()
        end = self.end
        direct = start <= self.modal_end + 2 or _OPENED.search(lower, max(0, start - 8), start) is not None
        inserted = direct or lower[:start].rstrip().endswith(",")
        for comma in re.finditer("[,:]" if direct else ",", lower[match.end() : end]) if inserted else ():
            place = match.end() + comma.start()
            if (
                lower[place] == ":"
                or words.RESUMES.match(lower, place + 1)
                or (direct and not _sort(lower[place + 1 :].lstrip()))
            ):
                end = place
                break
        other = next(
            (
                each
                for each in words.CONTINUES.finditer(lower, match.end(), end)
                if each.lastgroup == "exception" != sort
            ),
            None,
        )
        return other.start() if other else end

    def _who(self, body: int) -> tuple[list[Span], int]:
        """Who is bound, and where the words for what is to be done begin."""
        lower = self.lower
        if self.required:
            return [self.required[0]], body
        subject = self.subject or self.inherited
        phrase = lower[slice(*subject)].strip() if subject else ""
        start = subject[0] if subject and subject == self.subject else self.verb.start
        passive = words.PASSIVE.match(lower, self.modal_end - (lower[self.modal_end - 1] == " "))
        if subject and words.PRONOUN.match(phrase):
            named = self._antecedent(subject)
            return ([named or subject], body) if named or not passive else ([], start)
        bound = bool(subject) and words.is_actor(phrase) and not (passive and words.RECEIVES.search(passive[0]))
        if passive and (not bound or lower.startswith(" by ", passive.end())):
            agent = self._agent(body)
            if agent:
                return [agent], start
        return ([subject], body) if subject and bound else ([], start)

    def _agent(self, body: int) -> Span | None:
        colon = self.lower.find(":", body, self.end)
        for match in words.BY_AGENT.finditer(self.lower, body, self.end if colon < 0 else colon):
            if any(each.start <= match.start() < each.end for each in self.adverbials):
                continue
            stop = words.AGENT_ENDS.search(self.lower, match.start(1), match.end(1))
            end = stop.start() if stop else match.end(1)
            if words.is_actor(self.lower[match.start(1) : end].strip()):
                return match.start(1), end
        return None

    def _antecedent(self, pronoun: Span) -> Span | None:
        """The first somebody before "it" or "they"."""
        return found.span() if (found := words.SOMEBODY.search(self.lower, 0, pronoun[0])) else None

    def _when(self, timing: Sequence[Span], held: Sequence[Span]) -> list[Span]:
        """Deadlines and frequencies outside conditions, and adverbials of time, in order."""
        spans = [(each.start, each.end) for each in self.adverbials if each.sort == "time"]
        low = min([self.verb.start, *(each.start for each in self.adverbials)])
        for each in timing:
            first = bisect_left(self.made.at, each[0], low, self.end)
            span = (first, bisect_left(self.made.at, each[1], first, self.end))
            if span[0] == span[1] or (self.subject and self.subject[0] <= first < self.subject[1]):
                continue
            opened = max(self.lower.rfind(mark, self.verb.end, first) for mark in (":", ";"))
            if words.ASIDE.search(self.lower, max(opened, self.verb.end), first):
                continue
            if any(start <= span[0] < end for start, end in (*held, *spans)):
                continue
            ends = [start for start, _ in held if span[0] < start < span[1]]
            spans.append((span[0], min([span[1], self.end, *ends])))
        return sorted(spans)

    def _edges(self, when: Sequence[Span], held: Sequence[Span], body: int) -> list[Span]:
        """The times at the start or the end of what is to be done, which can be left out of it."""
        found: list[Span] = []
        low, high = body, self.end
        for start, end in sorted({*when, *held}):
            if start >= low and not self.lower[low:start].strip(" ,").removesuffix("and"):
                found, low = [*found, (start, end)], end
        for start, end in sorted({*when, *held}, reverse=True):
            if low <= start < high and self.lower[end:high].strip(" ,.;") in ("", "and"):
                found, high = [*found, (start, end)], start
        return found

    def _modality(self) -> Modality:
        subject = self.lower[slice(*self.subject)].strip() if self.subject else ""
        if self.verb.rule == "soft":
            return "recommendation"
        if self.verb.rule == "only":
            return "restriction"
        if self.verb.rule in ("ban", "offence") or self.negated or _NO.match(subject):
            return "prohibition"
        return "prohibition" if _NOT.match(self.lower, self.verb.end) else "obligation"


def _closed_class(rest: str) -> bool:
    """Whether it begins with a preposition or a conjunction, and so with no subject."""
    return bool(_sort(rest)) and not words.NOUN_START.match(rest)
