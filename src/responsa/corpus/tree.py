"""What a clause needs around it to be understood: headings, lead-ins and their items, exceptions beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from responsa.corpus.searched import searched
from responsa.corpus.view import Corpus
from responsa.text import sentences, tidy
from responsa.types import Passage

_LEAD_IN = (":", "-", "—", "–")
_LONGEST = 3000  # characters of items taken below a lead-in: enough for any list, not for a whole schedule
_UNNUMBERED = re.compile(r"(?:.*\.)?p\d+", re.DOTALL)  # "2.3.p1", the number given to a paragraph without one
_GOES_ON = re.compile(r"(?:[;,]|\b(?:and|or))\s*\Z")
_SUB_RULE = re.compile(r"\((\d{1,3}[A-Za-z]?)\)\W*\Z")


def leads_in(passage: Passage) -> bool:
    """Whether the text announces what stands below it ("A Firm must:")."""
    return passage.text.rstrip().endswith(_LEAD_IN)


def surroundings(passages: Sequence[Passage]) -> list[str]:
    """For each passage of a document the words around it that complete it; empty where nothing does.

    They are the headings above it, the lead-ins of the list it belongs to and, where it is a lead-in
    itself, the items below.
    """
    by_id = {passage.id: passage for passage in passages}
    items: dict[str, list[str]] = {}
    for passage in passages:
        if passage.parent_id in by_id and passage.kind != "guidance" and leads_in(by_id[passage.parent_id]):
            items.setdefault(passage.parent_id, []).append(searched(passage))
    found = []
    for passage in passages:
        above = list(passage.path)
        parent = by_id.get(passage.parent_id or "")
        while parent and leads_in(parent):
            above.append(parent.text)
            parent = by_id.get(parent.parent_id or "")
        found.append("\n".join([*above, *items.get(passage.id, [])])[:_LONGEST])
    return found


def lead_ins(passage: Passage, corpus: Corpus) -> list[Passage]:
    """The lead-ins that a list item depends on, outermost first; guidance is no item."""
    above: list[Passage] = []
    while passage.parent_id is not None and passage.kind != "guidance":
        passage = corpus[passage.parent_id]
        if not leads_in(passage):
            break
        above.append(passage)
    return above[::-1]


def lead(above: Sequence[Passage]) -> str:
    """What lead-ins say to a list item: the last sentence of each; empty where there are none."""
    texts = [each.text for each in above if each.text.strip()]
    return " ".join(tidy(text[slice(*sentences(text)[-1])]) for text in texts)


def items(passage: Passage, corpus: Corpus) -> Iterator[tuple[Passage, Passage]]:
    """The items below a lead-in, and theirs where they are lead-ins themselves, each with its own lead-in.

    Where nothing stands below it, the list is what follows beside it: tables, and paragraphs without a number, the
    first and those that go on with it.
    """
    below = [child for child in corpus.children(passage.id) if child.kind not in ("guidance", "heading")]
    for child in below or _following(passage, corpus):
        yield child, passage
        if below and leads_in(child):
            yield from items(child, corpus)


def _following(passage: Passage, corpus: Corpus) -> Iterator[Passage]:
    if passage.parent_id is None:
        version = corpus.version(passage.document_id)
        beside = [each for each in corpus.passages(version) if each.parent_id is None] if version else []
    else:
        beside = list(corpus.children(passage.parent_id))
    place = next((place for place, each in enumerate(beside) if each.id == passage.id), len(beside))
    goes_on = True
    for each in beside[place + 1 :]:
        if each.kind not in ("table", "figure"):
            unnumbered = not each.number or _UNNUMBERED.fullmatch(each.number)
            if each.kind != "text" or not unnumbered or not (goes_on or each.text.lstrip()[:1].islower()):
                return
            goes_on = _GOES_ON.search(each.text) is not None
        yield each


def naming(passage: Passage, corpus: Corpus) -> list[tuple[Passage, re.Pattern[str]]]:
    """The sub-rules beside a sub-rule such as "5.2(1)" that may refer to it, and what finds its number in them.

    "In (1)", "under paragraph (1)" and "Paragraph 1 shall not apply" name it, "Rule 3.4 (1)" and "paragraph 1 of
    Article 5" do not.
    """
    own = _SUB_RULE.search(passage.number)
    if own is None or passage.parent_id is None:
        return []
    number = re.escape(own[1])
    name = re.compile(
        rf"(?:(?<![\d.,;:)\]])[ \t]|\A)(?:(?:sub-?)?(?:paragraph|rule|section)s?\s)?\({number}\)(?=[\s,.;:(]|\Z)"
        rf"(?!\sof\s(?:Article|Rule|Section|Annex|Schedule))"
        rf"|\b(?:sub-?)?paragraphs?\s{number}\b(?!\sof\s(?:Article|Rule|Section|Annex|Schedule))(?![.\d])",
        re.IGNORECASE,
    )
    rule = passage.number[: own.start()]
    beside = [each for each in corpus.children(passage.parent_id) if each.number.startswith(rule)]
    return [(each, name) for each in beside if each.id != passage.id and each.kind == "text"]
