"""Defined terms, with the provision that defines each: '"X" means ...', 'X has the meaning given in ...', and lists of
terms with a tab between the term and what it means.

Read by patterns: a term that a text only uses, or calls by a name in brackets, is not found.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from responsa.corpus.view import Corpus
from responsa.text import normalise
from responsa.types import Passage

_QUOTED = r"[‘“\"']{{1,2}}(?P<{0}>[^\n“”\"]{{1,120}}?)[’”\"']{{1,2}}"
_SAYS = (
    r"(?P<says>(?:shall\s)?(?:means?|includes?|refers?\sto|is\sdefined\s(?:as|in))\b"
    r"|(?:has|have|shall\shave)\sthe\s(?:same\s)?meanings?\b)"
)
_BETWEEN = r"(?:\s?\((?:[^()\n]|\([^()\n]*\)){1,80}\))?(?:\s?,[^\n,;.‘“\"]{1,100},|\s?,)?\s{1,3}"
_QUOTE = re.compile(
    rf"{_QUOTED.format('one')}(?:\s?\([‘“\"']?(?P<short>[\w-]{{1,30}})[’”\"']?\))?"
    rf"(?:(?:\s(?:or|and)|,)\s{_QUOTED.format('two')})?{_BETWEEN}{_SAYS}",
)
_LISTED = re.compile(
    r"^[‘“\"']?(?P<one>[A-Z][^\t\n]{1,100}?)[’”\"']?(?:[ \xa0]\((?P<short>[A-Z][\w-]{1,20})\))?\s?\t[\t ]*\n?[\t ]*"
    r"(?P<says>(?i:means?|includes?|(?:has|have|shall\shave)\sthe\s(?:same\s)?meanings?|refers?\sto|in\srelation\sto"
    r"|an?|the|any)\b)",
    re.MULTILINE,
)
_SYMBOL = re.compile(r"^(?P<one>[A-Z][A-Z0-9]{1,9})\s(?P<says>means)\b", re.MULTILINE)
_SCOPE = re.compile(
    r"(?:\bfor\sthe\spurposes?\sof|(?:(?<=^)|(?<=[.;:)\n\t]\s)|(?<=[\n\t]))in)\s(?P<scope>(?:(?:this|these|that|the\spresent)\s[A-Z][\w-]*"
    r"|(?:Article|Rule|Rules|Section|section|Part|Chapter|paragraph|point|points|Annex)s?\s\S{1,12})"
    r"(?:(?:,\s|\sand\s(?:of\s)?|,?\sof\s)(?:(?:this|that)\s[A-Z]\w*|(?:Articles?|Title|Part|Chapter|Section)\s\w{1,8}))*)",
    re.IGNORECASE,
)
_EDGE = re.compile(r"[^\w)]+$")
_WORD = re.compile(r"\b(?:shall\s)?(?:has|have)\b", re.IGNORECASE)
MOST_SUGGESTED = 5


@dataclass(frozen=True, slots=True)
class Definition:
    """A term and the words that define it: characters ``start`` to ``end`` of the text of a passage, and what stands
    below it where the text ends with a colon.

    ``names`` are the term and its short forms. ``scope`` is what the definition is for, as printed ("this Chapter"), ""
    where nothing says. ``kind``: whether it says what the term means, or where that is said.
    """

    names: tuple[str, ...]
    document_id: str
    passage_id: str
    start: int
    end: int
    scope: str = ""
    kind: Literal["meaning", "elsewhere"] = "meaning"

    @property
    def term(self) -> str:
        return self.names[0]


def defined(passage: Passage) -> list[Definition]:
    """The terms that a passage defines, in its order, their scopes only where the passage itself says it."""
    text = passage.text
    found = {match.start(): match for pattern in (_SYMBOL, _LISTED, _QUOTE) for match in pattern.finditer(text)}
    matches: list[re.Match[str]] = []
    for start in sorted(found):
        if not matches or start >= matches[-1].end():
            matches.append(found[start])
    if not matches:
        return []
    ends = [*(match.start() for match in matches[1:]), len(text)]
    made = []
    for match, end in zip(matches, ends, strict=True):
        groups = match.groupdict()
        names = [normalise(groups[key]).strip(" ,;:\"'") for key in ("one", "two", "short") if groups.get(key)]
        scope = _scope(_sentence(text, match.start())) or _scope(text[match.start() : match.end() + 80], after=True)
        scope = scope or _scope(text[: matches[0].start()][:200])
        kind: Literal["meaning", "elsewhere"] = "elsewhere" if _WORD.match(match["says"]) else "meaning"
        if names and names[0]:
            stop = match.start() + len(text[match.start() : end].rstrip())
            made.append(Definition(tuple(names), passage.document_id, passage.id, match.start(), stop, scope, kind))
    return made


def definitions(corpus: Corpus) -> Iterator[Definition]:
    """The defined terms of a corpus in reading order; what is only quoted to amend another act is not its own."""
    for version in corpus.versions:
        passages = {passage.id: passage for passage in corpus.passages(version)}
        for passage in passages.values():
            if "quoted" in passage.flags or "footnote" in passage.flags:
                continue
            for each in defined(passage):
                yield each if each.scope else replace(each, scope=_above(passage, passages))


def _above(passage: Passage, passages: dict[str, Passage]) -> str:
    """The scope that a lead-in above says."""
    above = passages.get(passage.parent_id or "")
    while above is not None:
        scope = _scope(above.text)
        if scope:
            return scope
        above = passages.get(above.parent_id or "")
    return ""


def _sentence(text: str, end: int) -> str:
    """What stands before a term in its line and sentence, at most 200 characters."""
    return re.split(r"\n|[.;]\s", text[max(end - 200, 0) : end])[-1]


def _scope(text: str, *, after: bool = False) -> str:
    """What a text that leads to definitions says they are for; ``after`` the term only "for the purposes of" counts."""
    found = [each for each in _SCOPE.finditer(text) if not after or each.group()[:3].lower() == "for"]
    return _EDGE.sub("", found[0 if after else -1]["scope"]) if found else ""


def look_up(term: str, known: Iterable[Definition]) -> list[Definition]:
    """The definitions of a term, written as it is or in the singular or plural, letters in whichever case."""
    wanted = _plain(term)
    found = [(each, {_plain(name) for name in each.names}) for each in known]
    exact = [each for each, names in found if wanted in names]
    return exact or [each for each, names in found if _singular(wanted) in {_singular(name) for name in names}]


def close(term: str, known: Iterable[Definition]) -> list[str]:
    """Terms that are spelt much like one that is not defined, the closest first, and terms that it is a part of."""
    names = {_plain(name): name for each in known for name in each.names}
    wanted = _plain(term)
    near = difflib.get_close_matches(wanted, names, n=MOST_SUGGESTED, cutoff=0.7)
    parts = sorted((name for name in names if wanted and wanted in name), key=lambda name: (len(name), name))
    return [names[name] for name in dict.fromkeys([*near, *parts])][:MOST_SUGGESTED]


def text_of(definition: Definition, corpus: Corpus) -> str:
    """The words that define: those of the passage, and the items below it."""
    passage = corpus[definition.passage_id]
    text = passage.text[definition.start : definition.end]
    if definition.end < len(passage.text.rstrip()):
        return text
    return "\n".join([text, *_lines(corpus.children(passage.id), corpus)])


def _lines(passages: Sequence[Passage], corpus: Corpus) -> list[str]:
    lines: list[str] = []
    for each in passages:
        if "footnote" in each.flags:
            continue
        label = re.search(r"\([^()]*\)$", each.number)
        lines += [" ".join(filter(None, (label[0] if label else "", each.text)))]
        lines += _lines(corpus.children(each.id), corpus)
    return [line for line in lines if line]


def _plain(term: str) -> str:
    return normalise(term).strip(" \"'").casefold()


def _singular(term: str) -> str:
    """The term with its last word in the singular, as far as its spelling tells."""
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("s", "")):
        if term.endswith(ending) and not term.endswith("ss") and len(term) > len(ending) + 2:
            return term.removesuffix(ending) + instead
    return term
