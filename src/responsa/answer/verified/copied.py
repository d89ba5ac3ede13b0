"""Guards on sentences that copy a rule: with another word in the place of one of its own, or without its end."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from responsa.answer.verified import words as lex
from responsa.answer.verified.units import Cited
from responsa.text import normalise

_COPIED = 0.75  # the share of the sentence's words that stand in the rule in the same order
_LONGEST = 3  # words that stand for one another
_JOINS = {"and", "or"}
_FEWEST = 4  # words of a sentence of which it can be said that it is a rule's beginning
# What ends a rule with a condition or an exception. "But not" may also begin a second rule, "subject to" and "if any"
# take little away.
_END = re.compile(
    r"\W*\b(?:unless|except|save|other than|on condition that|provided(?: that)?|(?:only |but only )?(?:if|where)|"
    r"only (?:when|after|with)|so far as|as long as|with the exception|excluding|apart from)\b"
    r"(?! (?:any|as|appropriate|applicable|relevant|necessary|needed|possible|otherwise)\b)",
    re.IGNORECASE,
)


def replaced(text: str, cited: Cited) -> str:
    """A word of the rule's that is another in what is else its wording, or "and" that is "or"."""
    own = lex.tokens(text)
    mine = [lex.meaning(word) for word in own]
    for unit in cited.near(text)[:1]:
        held = lex.tokens(normalise(unit.text))
        matcher = SequenceMatcher(None, [lex.meaning(word) for word in held], mine, autojunk=False)
        if sum(block.size for block in matcher.get_matching_blocks()) < _COPIED * len(mine):
            continue
        for kind, one, two, start, end in matcher.get_opcodes():
            if kind == "replace" and max(two - one, end - start) <= _LONGEST:
                before, after = held[one:two], own[start:end]
                if _differ(before, after):
                    return f"{' '.join(after)!r} stands where the text cited has {' '.join(before)!r}"
    return ""


def _differ(before: list[str], after: list[str]) -> bool:
    """Whether each has a word of its own that carries sense."""
    if {*before, *after} >= _JOINS and len(_JOINS & {*before}) == len(_JOINS & {*after}) == 1:
        return True
    old, new = {*lex.content(" ".join(before))}, {*lex.content(" ".join(after))}
    return bool(old - new and new - old)


def cut(text: str, cited: Cited) -> str:
    """The rule word for word, without the condition or exception that ends it."""
    own = [lex.meaning(word) for word in lex.tokens(text)]
    for unit in cited.near(text)[:1] if len(own) >= _FEWEST else []:
        source = normalise(unit.text)
        for end in _END.finditer(source):
            begun = [lex.meaning(word) for word in lex.tokens(source[: end.start()])]
            if begun[-len(own) :] == own:
                return f"the text cited goes on: {source[end.start() :].strip(' ,')!r}"
    return ""
