"""The acts that a text names, and which of them the words behind a citation mean: "of that Directive", "CRR"."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from responsa.corpus.acts import OTHER, Token
from responsa.corpus.chains import Chain
from responsa.corpus.citations import INNER, LEVEL, OF, segment
from responsa.corpus.standing import Here

_STANDING = frozenset(["included", "contained", "set", "laid", "provided", "listed", "specified", "found"])
_LINKS = (*OF, "in", "to", "under", "from", "per")
_BEFORE_ACTS = frozenset(
    re.findall(
        r"\S+", 'the both said same above aforementioned eu new amended revised commission draft final eba lcr del la "'
    )
)
_ASIDE = (*"(-–“\"‘',", "as", "amended")
_ACT_NOUNS = frozenset(["regulation", "directive", "decision"])
_MADE = frozenset(["delegated", "implementing", "commission", "council"])
_FOREIGN = frozenset(
    re.findall(
        r"\w+", "guidelines guideline its rts ias ifrs basel draft proposal instructions law act code decree charter"
    )
)


@dataclass(slots=True)
class Naming:
    """What was named so far. ``named`` is the token of the last act, ``alone`` whether no provision claimed it."""

    found: list[Token]
    here: Here
    known: dict[str, str] = field(default_factory=dict)  # the last act by its letter, "" for any
    named: int = -9
    alone: bool = False

    def appositive(self, k: int) -> bool:
        """Whether it only repeats the act before it, "Regulation (EU) No 575/2013 (CRR)", or gives it a short name."""
        if self.named < 0 or k - self.named > 5:
            return False
        between = [token.value for token in self.found[self.named + 1 : k]]
        before, act = self.found[self.named].value, self.found[k].value
        if between == ["("] and before[0] == act[0] == "3":  # "Directive 2006/48/EC (CRD)"
            return before[5] == act[5]
        return before == act and all(value in _ASIDE for value in between)

    def name(self, k: int) -> None:
        key = self.found[k].value
        self.known[""] = key
        if key[0] == "3":
            self.known[key[5]] = key
        self.named, self.alone = k, False

    def noun(self, k: int, *, small: bool = False) -> int | None:
        """The token of Regulation, Directive or Decision that stands without a number at or just after ``k``.

        ``small``: "regulation" will do.
        """
        for at in range(k, min(k + 3, len(self.found))):
            token = self.found[at]
            if token.value in _ACT_NOUNS and (token.capital or small):
                return at
            if token.value not in _MADE:
                return None
        return None

    def meant(self, word: str, noun: str) -> str | None:
        letter = {"regulation": "R", "directive": "L", "decision": "D"}[noun]
        own = self.here.act if word == "this" else None
        return own or self.known.get(letter)

    def in_standard(self, at: int) -> bool:
        """Whether a paragraph is one of IFRS 5 or IAS 12, named right before it."""
        at -= self.found[at - 1].value == "," if at else 0
        return at > 1 and self.found[at - 1].kind == "num" and self.found[at - 2].value in ("ifrs", "ias")

    def link(self, chain: Chain) -> tuple[str | None, int]:
        """The act that the words after a citation name, and the token after what belongs to it."""
        k = chain.end
        if k >= len(self.found):
            return None, k
        shared = self._past_respectively(k)
        if shared != k:
            act, end = self._linked(shared + 1)
            return (act, end) if act is not None else (None, k)
        past = self._past_aside(k)
        if past != k:
            act, end = self._linked(past + 1)
            cites = any(token.kind == "num" for token in self.found[k:past])  # what is cited inside is read next
            return (act, k if cites else end) if act is not None else (None, k)
        value = self.found[k].value
        if value in '”"’»' and k + 1 < len(self.found) and self.found[k + 1].value in _LINKS:  # “Article 421(1)” of CRR
            return self._linked(k + 2)
        if value == ")" and k + 1 < len(self.found) and self.found[k + 1].value in _LINKS:
            act, end = self._linked(k + 2)
            return (act, end) if act is not None else (None, k)
        if value == "thereof":
            return (None if chain.outer.level in INNER else self.known.get("")), k + 1
        if value in _LINKS:
            return self._linked(k + 1)
        if value == "," and k + 1 < len(self.found) and self.found[k + 1].value in OF:  # "Article 6(3), point (a), of"
            act, end = self._linked(k + 2)
            return (act, end) if act not in (None, OTHER) else (None, k)
        if value in ("its", "rts") and self.found[k].capital:  # "Article 145(b) ITS"
            return OTHER, k + 1
        if value in _STANDING:  # "Annex XI included in Regulation (EU) No 680/2014"
            act, end = self._linked(_behind(self.found, k))
            return (act, end) if act not in (None, OTHER) else (None, k)
        letter = (
            value == "." and self.found[k - 1].kind == "word" and self.found[k - 1].end - self.found[k - 1].start == 1
        )
        at = k + (value in (",", "(", ")") or letter)  # "Article 36(1) lit. b. CRR"
        if at < len(self.found) and self.found[at].kind == "act" and self._claims(at, chain):
            self.name(at)
            return self.found[at].value, at + 1
        return None, k

    def _past_respectively(self, k: int) -> int:
        """The link after the word in "Article 117(2) and Article 118, respectively, of Regulation (EU) ..."."""
        at = k + (self.found[k].value == ",")
        following = [token.value for token in self.found[at : at + 3]]
        if following[:1] != ["respectively"]:
            return k
        at += 1 + (following[1:2] == [","])
        return at if at < len(self.found) and self.found[at].value in _LINKS else k

    def _past_aside(self, k: int) -> int:
        """The token after "(instructions)" where a link follows: "Annex XXI (instructions) of Regulation (EU) ..."."""
        if self.found[k].value != "(":
            return k
        for at in range(k + 1, min(k + 5, len(self.found) - 1)):
            if self.found[at].value == ")":
                return at + 1 if self.found[at + 1].value in _LINKS else k
            if self.found[at].kind not in ("word", "num"):
                return k
        return k

    def _claims(self, at: int, chain: Chain) -> bool:
        """Whether an act right behind a citation is its own, not that of a citation to come ("CRR Article 4")."""
        if chain.outer.level in INNER:
            return False
        nearby = segment(self.found, at + 1, 0) if at + 1 < len(self.found) else None
        return at == chain.end or nearby is None or nearby.level in INNER

    def _linked(self, k: int) -> tuple[str | None, int]:
        before = k
        while k < min(before + 5, len(self.found)) and self.found[k].value in _BEFORE_ACTS:
            k += 1
        if k >= len(self.found):
            return None, before - 1
        token = self.found[k]
        if token.kind == "act":
            self.name(k)
            return token.value, k + 1
        if token.value == "annex" and any(each.value in ("ifrs", "ias") for each in self.found[k + 1 : k + 4]):
            return OTHER, k + 1  # "paragraph 5.5.3 of the Annex relating to IFRS 9"
        word = token.value if token.value in ("this", "that") else ""
        noun = self.noun(k + bool(word), small=bool(word))
        if noun is None:
            return (OTHER if self._is_foreign(before, k) else None), before - 1
        own = self.meant(word, self.found[noun].value)
        return own or (None if self.found[noun].value == "regulation" else OTHER), noun + 1

    def _is_foreign(self, before: int, k: int) -> bool:
        """Whether a document without a known name stands at ``k``: "the Guidelines", "the Belgian Economic Code"."""
        if any(token.value == "draft" for token in self.found[before:k]):
            return True
        for token in self.found[k : k + 3]:
            if token.value in _FOREIGN:
                return token.kind == "word"
            if not token.capital or token.kind != "word" or token.value in LEVEL:
                return False
        return False


def _behind(found: list[Token], k: int) -> int:
    """The token after "included in" or "laid down by" at ``k``; ``k`` where it is not that."""
    at = k + 1 + (k + 1 < len(found) and found[k + 1].value in ("out", "down", "for"))
    return at + 1 if at < len(found) and found[at].value in ("in", "by") else k
