"""References to provisions in running text: Article 425(1)(a), point (b) of the first subparagraph of Article 129(4),
Rule 3.2.1, Annex IV, this Article, Directive 2009/65/EC.

The grammar reads; whether a provision exists is for whoever has the catalogue. It knows no footnotes and no
defined terms, and expands "Articles 429a to 429g" by the alphabet alone: 132a to 134 is 132a, 133, 134.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, replace
from itertools import islice, product

from responsa.corpus.acts import OTHER, Token, tokens
from responsa.corpus.chains import Chain
from responsa.corpus.chains import chain as chain_at
from responsa.corpus.citations import DIVISIONS, INNER, RANK, Segment, numbers
from responsa.corpus.naming import Naming
from responsa.corpus.standing import Here, Place, divisions, places
from responsa.corpus.steps import Step, Steps, enclosing, extended, render

__all__ = ["Here", "Reference", "parse"]

_BUDGET = 5_000  # provisions that the ranges of one text may expand to
_MOST = 600  # references from one citation


@dataclass(frozen=True, slots=True)
class Reference:
    """A provision or an act that the words at ``start`` to ``end`` name; the name of its act stands apart from them.

    ``act`` is a CELEX number (32013R0575), the name of an ADGM rulebook, "other" where the words name a document
    that is not known ("Article 4 of the RTS"), None where they name none.
    ``provision`` is normalised ("Article 129(4), first subparagraph, point (b)"; "Part 3, Title II, Chapter 2"), ""
    for an act itself. ``kind`` is the level that names it: act, article, rule, annex, chapter; paragraph or point
    where no article is known. ``relative``: the words alone do not say which ("this Article", "paragraph 2").
    """

    start: int
    end: int
    act: str | None
    provision: str
    kind: str
    relative: bool = False
    article: str | None = None

    @property
    def target(self) -> str:
        """Act and provision in one string, to compare: ``32013R0575#Article 425(1)(a)``."""
        return f"{self.act or ''}#{self.provision}"


def parse(text: str, here: Here | None = None) -> tuple[Reference, ...]:
    """The references in a text, in its order; lists and ranges give one for each provision. Linear in its length."""
    found, where = tokens(text), here or Here()
    reader = _Reader(found, where, places(text, here), Naming(found, where))
    reader.read()
    return tuple(reader.references)


_TOWARDS = ("to", "in", "under", "with", "by", "per", "see")
_JOINS = frozenset(["and", "or", "of", "to", "the", "both", "either", ",", "as", "well", "in", "for"])


@dataclass(slots=True)
class _Reader:
    """Goes through the tokens once, with what was cited before."""

    found: list[Token]
    here: Here
    places: list[tuple[int, Place]]
    acts: Naming
    references: list[Reference] = field(default_factory=list)
    last: tuple[str | None, Steps] | None = None  # the provision cited before
    waiting: list[int] = field(default_factory=list)  # references whose act may still come
    waited: int = -9  # the token after them
    points: list[tuple[int, Chain]] = field(default_factory=list)  # points whose article may still come, and where
    cited: set[str] = field(default_factory=set)  # articles, by number
    room: int = _BUDGET

    def read(self) -> None:
        k = 0
        while k < len(self.found):
            if self.found[k].kind == "act":
                k = self._act(k)
                continue
            chain = self._again(k) or chain_at(self.found, k, max(min(self.room, _MOST), 0))
            k = self._cite(chain) if chain else self._anaphora(k)

    def _again(self, k: int) -> Chain | None:
        """The "305 (2) c)" of a text that has cited Article 305 before, and "to 244 of Regulation (EU) No 575/2013"."""
        if self.found[k].kind == "num" and k and self.found[k - 1].value in _TOWARDS:
            bare = numbers(self.found, k, "article") if len(self.found[k].value) in (2, 3, 4) else None
            if bare and self._is_of_act(bare.end):
                return Chain((bare,), k, bare.end)
        known = self.found[k].kind == "num" and self.found[k].value in self.cited
        bare = numbers(self.found, k, "article") if known and self.here.article is None else None
        paragraph = bare.items[0].labels[1:2] if bare else ()
        return Chain((bare,), k, bare.end) if bare and paragraph and paragraph[0].isdigit() else None

    def _is_of_act(self, k: int) -> bool:
        following = [token for token in self.found[k : k + 3] if token.value != "the"][:2]
        return len(following) == 2 and following[0].value == "of" and following[1].kind == "act"

    def _act(self, k: int) -> int:
        """An act that no provision before it claims."""
        token = self.found[k]
        again = self.acts.appositive(k)
        self.acts.name(k)
        if again:
            return k + 1
        self.acts.alone = True
        self.references.append(Reference(token.start, token.end, token.value, "", "act"))
        book = not token.value[0].isdigit()
        bare = numbers(self.found, k + 1, "rule" if book else "article")
        if bare and (book or self._is_article(bare, token)):
            return self._cite(Chain((bare,), k + 1, bare.end))
        return k + 1

    def _is_article(self, bare: Segment, act: Token) -> bool:
        """Whether the number after a short name is an article's: "CRR 465 (1)", but not "CRR 20 %"."""
        number = bare.items[0].labels[0]
        following = self.found[bare.end].value if bare.end < len(self.found) else ""
        return act.end - act.start < 8 and number[:2].isdigit() and len(number) < 5 and following not in ("%", "/", ".")

    def _anaphora(self, k: int) -> int:
        """ "this Regulation", "that Directive": an act by its kind alone."""
        if self.found[k].value in ("this", "that"):
            noun = self.acts.noun(k + 1)
            if noun is not None:
                act = self.acts.meant(self.found[k].value, self.found[noun].value)
                if act:
                    self.references.append(
                        Reference(self.found[k].start, self.found[noun].end, act, "", "act", relative=True)
                    )
                return noun + 1
        return k + 1

    # provisions

    def _cite(self, chain: Chain) -> int:
        named = self.acts.named if self.acts.alone else None
        act, end = self.acts.link(chain)
        if self._is_askers(chain):
            return chain.end
        if act not in (None, OTHER):
            chain, end = self._continued(chain, end)
        if act is None and chain.outer.level in INNER and self.acts.in_standard(chain.at):
            act = OTHER
        if self._prefixed(chain, named) and (act is None or act == self.references[-1].act):
            act = self.references.pop().act
        joined = bool(self.waiting) and self._follows(chain.at)
        if joined and act not in (None, OTHER):
            for index in self.waiting:
                self.references[index] = replace(self.references[index], act=act)
        start = len(self.references)
        relative = self._expand(chain, act)
        start = self._gathered(chain, start, act, relative=relative)
        if not joined or act is not None:
            self.waiting = []
        if act is None and not relative:
            self.waiting += range(start, len(self.references))
            self.waited = chain.end
        return end

    def _continued(self, chain: Chain, end: int) -> tuple[Chain, int]:
        """The whole of "Article 178 of CRR, paragraph 1, point (b)", and the token after it."""
        inner = end + 1 < len(self.found) and self.found[end].value == "," and chain.outer.level == "article"
        more = chain_at(self.found, end + 1, 0) if inner and len(chain.segments) == 1 else None
        single = more is not None and all(len(part.items) == 1 and part.how == "number" for part in more.segments)
        if more is None or not single or more.outer.level != "paragraph":
            return chain, end
        return Chain((*chain.segments, *more.segments), chain.at, more.end), more.end

    def _gathered(self, chain: Chain, start: int, act: str | None, *, relative: bool) -> int:
        """In "points (a) to (g) and point (l) of Article 36" all are points of that article; where its own start."""
        between = self.found[self.points[-1][1].end : chain.at] if self.points else []
        goes_on = 0 < len(between) <= 2 and all(token.value in (",", "and", "or") for token in between)
        if relative and all(part.level == "point" for part in chain.segments):
            self.points = [*(self.points if goes_on else ()), (start, chain)]
            return start
        outer = tuple(part for part in chain.segments if part.level != "point")
        if goes_on and chain.outer.level == "article" and len(outer) < len(chain.segments):
            own, last, self.references = self.references[start:], self.last, self.references[: self.points[0][0]]
            for _, points in self.points:
                self._expand(Chain((*outer, *points.segments), points.at, points.end), act)
            start, self.last = len(self.references), last
            self.references += own
        self.points = []
        return start

    def _is_askers(self, chain: Chain) -> bool:
        """Whether "point (a) above" is one of the text itself, or "Section 1.6 of the template" of a form."""
        after = [token.value for token in self.found[chain.end : chain.end + 4]]
        if chain.outer.level == "section":
            return after[:1] == ["of"] and not {"template", "templates"}.isdisjoint(after)
        if self.here.article is not None or chain.outer.level != "point":
            return False
        before = self.found[chain.at - 1].value if chain.at else ""
        return after[:1] in (["above"], ["below"]) or (len(chain.segments) == 1 and before in ("-", "–"))

    def _follows(self, at: int) -> bool:
        between = self.found[self.waited : at]
        return 0 < len(between) <= 5 and all(token.value in _JOINS for token in between)

    def _prefixed(self, chain: Chain, named: int | None) -> bool:
        """Whether the act before a citation is its own: "CRR Article 425", "COBS Rule 17.4"."""
        if named is None or chain.outer.level in INNER or chain.outer.how == "this":
            return False
        between = [token.value for token in self.found[named + 1 : chain.at]]
        marks = ("(", ":", "'s", "-") if self.here.act else ("(", ":", "'s", "-", ",")
        return len(between) == 0 or (len(between) == 1 and between[0] in marks)

    def _expand(self, chain: Chain, act: str | None) -> bool:
        """Add a reference for each provision of a citation; tells whether it is relative."""
        base, base_act, relative = self._base(chain, act)
        own = act or (base_act if relative else self.here.act)
        start, end = self.found[chain.at].start, self.found[chain.end - 1].end
        most = max(min(self.room, _MOST), *(len(part.items) for part in chain.segments), 1)
        several = [part for part in chain.segments if len(part.items) > 1]
        for choice in islice(product(*(part.items for part in chain.segments)), most):
            steps = base
            for part, item in zip(chain.segments, choice, strict=True):
                steps = extended(steps, part, item.labels)
            spans = [item for part, item in zip(chain.segments, choice, strict=True) if part in several]
            first = not spans or all(
                item.start == part.items[0].start for part, item in zip(several, spans, strict=True)
            )
            last = not spans or all(item.end == part.items[-1].end for part, item in zip(several, spans, strict=True))
            begins = start if first else min(item.start for item in spans)
            ends = end if last else max(item.end for item in spans)
            self.references.append(_reference(begins, ends, own, steps, relative=relative))
            self.room -= len(several) > 0
        self.last = own, steps
        self.cited.update(label for level, label in steps if level == "article")
        return relative

    def _base(self, chain: Chain, act: str | None) -> tuple[Steps, str | None, bool]:
        """What a relative citation starts from, its act, and whether it is relative."""
        outer = chain.outer
        if outer.how == "this":
            steps, own, relative = self._pointed(outer)
            unknown = len(chain.segments) > 1 and steps[-1][1] in ("this", "that") and outer.level in DIVISIONS
            return () if unknown else steps, own, relative
        if outer.level in INNER:
            if act == OTHER:
                return (), None, True
            inside = self._inside(chain, outer)
            return inside, self.here.act if self.here.article else self.last[0] if self.last and inside else None, True
        if outer.level in ("title", "chapter", "section", "sub-section") and act is None and self.here.act:
            above = tuple(step for step in divisions(self.here.path) if RANK[step[0]] < RANK[outer.level])
            return above, self.here.act, True
        return (), None, False

    def _inside(self, chain: Chain, outer: Segment) -> Steps:
        """The article, and the paragraph where it matters, that a paragraph or point without one belongs to."""
        if self.here.article is None:
            return enclosing(self.last[1], outer.level) if self.last else ()
        paragraph, item = self._place(self.found[chain.at].start)
        steps: list[Step] = [("article", self.here.article)]
        if outer.level == "paragraph":
            return tuple(steps)
        steps += [("sub", paragraph)] if paragraph else []
        nested = item and outer.level == "point" and outer.items[0].labels[0].isdigit() != item.isdigit()
        return (*steps, ("sub", item)) if nested and item else tuple(steps)

    def _place(self, offset: int) -> Place:
        return self.places[bisect_right(self.places, offset, key=lambda place: place[0]) - 1][1]

    def _pointed(self, outer: Segment) -> tuple[Steps, str | None, bool]:
        """What "this" or "that" stands for; the word itself where it is not known."""
        word = outer.items[0].labels[0]
        if word == "that" and self.last:
            cut = enclosing(self.last[1], outer.level, inclusive=True)
            if cut:
                return cut, self.last[0], True
        above = divisions(self.here.path)
        if outer.level in DIVISIONS and any(level == outer.level for level, _ in above):
            return tuple(step for step in above if RANK[step[0]] <= RANK[outer.level]), self.here.act, True
        if self.here.article is None or outer.level in DIVISIONS:
            return ((outer.level, word),), self.here.act, True
        steps: Steps = (("article", self.here.article),)
        paragraph, _ = self._place(outer.items[0].start)
        if outer.level not in ("article", "rule") and paragraph:
            steps = (*steps, ("sub", paragraph))
        return (
            steps if outer.level in ("article", "rule", "paragraph") else (*steps, (outer.level, word)),
            self.here.act,
            True,
        )


def _reference(start: int, end: int, act: str | None, steps: Steps, *, relative: bool) -> Reference:
    article = next((label for level, label in steps if level in ("article", "rule")), None)
    named = [level for level, _ in steps if level in ("article", "rule")] or [
        level for level, _ in steps if level != "sub"
    ]
    return Reference(start, end, act, render(steps), named[-1] if named else "point", relative, article)
