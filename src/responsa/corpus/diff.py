"""What became of every clause from one version of a document to another."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

from responsa.corpus.library import Library
from responsa.corpus.readers.clauses import FOOTNOTE, printed
from responsa.corpus.wording import TOKEN, Piece, words
from responsa.errors import NotFound
from responsa.text import normalise
from responsa.types import Passage, Version

What = Literal["added", "deleted", "moved", "amended"]

_TAG = re.compile(r"</?[a-z][^<>]{0,200}>")
_HEAD = re.compile(r"(?:Article|Annex|Recital|Rule)\s[^\s,(]+")
_OPENING = re.compile(r"(?:Preamble|Recitals?|Enacting formula)\b")  # what consolidated texts of the EU leave out
_DIVISIONS = ("Part", "Title", "Chapter", "Section", "Sub-Section", "Subsection")
_FEWEST = 4  # words that a text must have to be recognised elsewhere


@dataclass(frozen=True, slots=True)
class Change:
    """A clause that is not the same in both versions. ``old`` is None where it was added, ``new`` where it was deleted;
    ``pieces`` has its words, title first, where it was amended."""

    what: What
    old: Passage | None
    new: Passage | None
    pieces: tuple[Piece, ...] = ()

    @property
    def passage(self) -> Passage:
        """As it is now, or was."""
        found = self.new or self.old
        assert found is not None
        return found


@dataclass(frozen=True)
class Difference:
    """Two versions of a document. ``changes`` are in the reading order of the new version, what was deleted after what
    stood before it; ``formats`` the kinds of file that the versions were read from; ``left_out`` the kinds of provision
    that only one of them has because of its format, or because a consolidated text leaves them out."""

    old: Version
    new: Version
    changes: tuple[Change, ...]
    unchanged: int
    formats: tuple[str, str]
    left_out: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        found = Counter(change.what for change in self.changes)
        return {what: found[what] for what in ("added", "deleted", "moved", "amended")} | {"unchanged": self.unchanged}

    @property
    def articles(self) -> tuple[str, ...]:
        """The articles, annexes and rules with a change, each once, in the order of the changes."""
        return tuple(dict.fromkeys(head(change.passage.number) for change in self.changes))

    @property
    def same_format(self) -> bool:
        return self.formats[0] == self.formats[1]


def head(number: str) -> str:
    """The article, annex or rule that a number is in; the number itself for what is in none."""
    found = _HEAD.match(number)
    return found[0] if found else number


def diff(library: Library, document: str, old: Version, new: Version) -> Difference:
    """Compare two versions of a document; NotFound where one has been removed meanwhile.

    Clauses are matched by id, then by text. Text is compared without white space; where the versions come from
    different kinds of file, which write signs, formulas and tables differently, by letters and digits alone.
    """
    sources = {state.version.digest: state.source for state in library.documents()}
    first, second = (sources.get(each.digest, "") for each in (old, new))
    formats = _format(first), _format(second)
    before, after = (list(library.version(each.digest).passages(each)) for each in (old, new))
    if not before or not after:
        raise NotFound(f"a version of {document!r} was removed while it was being read; ask again")
    left_out: tuple[str, ...] = ()
    if formats[0] != formats[1]:
        before, after, left_out = _comparable(before, after)
    else:
        before, after, left_out = comparable_openings(before, after)
    changes, unchanged = compare(before, after, marks=formats[0] == formats[1])
    return Difference(old, new, changes, unchanged, formats, left_out)


def _format(source: str) -> str:
    """The kind of file that a source is, as its suffix; the same for those that hold the same."""
    suffix = PurePath(source).suffix.lower()
    return {".fmx4": ".xml", ".htm": ".html"}.get(suffix, suffix)


def comparable_openings(
    before: list[Passage], after: list[Passage]
) -> tuple[list[Passage], list[Passage], tuple[str, ...]]:
    """Both without preamble and recitals, where one of them has no recitals: consolidated texts of the EU have none,
    and nobody has deleted them."""
    if _has_recitals(before) == _has_recitals(after):
        return before, after, ()
    kept = [[each for each in side if not _OPENING.match(each.number)] for side in (before, after)]
    return kept[0], kept[1], ("preamble", "recitals")


def _has_recitals(passages: Sequence[Passage]) -> bool:
    return any(each.number.startswith("Recital ") for each in passages)


def _comparable(before: list[Passage], after: list[Passage]) -> tuple[list[Passage], list[Passage], tuple[str, ...]]:
    """The passages of the kinds that both have."""
    kinds = [{_sort(each) for each in passages} for passages in (before, after)]
    both = kinds[0] & kinds[1]
    kept = [[each for each in passages if _sort(each) in both] for passages in (before, after)]
    return kept[0], kept[1], tuple(sorted(kinds[0] ^ kinds[1]))


def _sort(passage: Passage) -> str:
    if FOOTNOTE in passage.flags:
        return "footnotes"
    word, _, rest = passage.number.partition(" ")
    kinds = {"Article": "articles", "Annex": "annexes", "Recital": "recitals"}
    return kinds.get(word, "headings" if rest[:1].isalnum() and word in _DIVISIONS else "title and formulas")


def compare(
    before: Sequence[Passage], after: Sequence[Passage], *, marks: bool = True
) -> tuple[tuple[Change, ...], int]:
    """The changes, and how many clauses of the new version are unchanged."""
    fold = _strict if marks else _letters
    old, new = ({each.id: each for each in passages} for passages in (before, after))
    same = {name for name in old.keys() & new.keys() if fold(_content(old[name])) == fold(_content(new[name]))}
    gone, come = set(old) - same, set(new) - same
    for name in _same_below(before, after, same, fold):
        gone.discard(name)
        come.discard(name)
    moved = _moved([old[name] for name in old if name in gone], [new[name] for name in new if name in come], fold)
    targets = set(moved.values())
    found: dict[str, list[Change]] = defaultdict(list)
    for name in new:
        if name in come and name not in targets:
            amended = name in gone and name not in moved
            pieces = words(_content(old[name]), _content(new[name]), marks=marks) if amended else ()
            found[name].append(
                Change("amended" if amended else "added", old[name] if amended else None, new[name], pieces)
            )
    for origin, target in moved.items():
        found[target].append(Change("moved", old[origin], new[target]))
    last = ""
    for name in old:
        last = moved.get(name, name if name in new else last)
        if name in gone and name not in moved and not (name in come and name not in targets):
            found[last].append(Change("deleted", old[name], None))
    changes = [change for name in ("", *new) for change in found.get(name, ())]
    return tuple(changes), len(new) - sum(change.new is not None for change in changes)


def _content(passage: Passage) -> str:
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text


def _strict(text: str) -> str:
    return re.sub(r"\s+", "", normalise(text))


def _letters(text: str) -> str:
    return "".join(re.findall(r"[^\W_]+", normalise(_TAG.sub(" ", text)))).casefold()


def _same_below(
    before: Sequence[Passage], after: Sequence[Passage], same: set[str], fold: Callable[[str], str]
) -> set[str]:
    """Clauses in provisions whose whole text is the same, only divided into clauses in another way."""
    found: set[str] = set()
    trees = [_trees(passages) for passages in (before, after)]
    for name in trees[0].keys() & trees[1].keys():
        inside = [{each.id for each in tree[name]} for tree in trees]
        if inside[0] | inside[1] <= same or name in found:
            continue
        texts = [fold("\n".join([tree[name][0].title, printed(tree[name])])) for tree in trees]
        if texts[0] == texts[1]:
            found |= inside[0] | inside[1]
    return found


def _trees(passages: Sequence[Passage]) -> dict[str, list[Passage]]:
    """Every passage with what stands below it, in reading order; headings of divisions are left out."""
    trees: dict[str, list[Passage]] = {}
    parents = {each.id: each.parent_id for each in passages}
    for each in passages:
        trees[each.id] = [each]
        above = each.parent_id
        while above in trees:
            trees[above].append(each)
            above = parents[above]
    return {name: tree for name, tree in trees.items() if _HEAD.match(tree[0].number)}


def _moved(gone: Sequence[Passage], come: Sequence[Passage], fold: Callable[[str], str]) -> dict[str, str]:
    """From old ids to new ones where the same words stand under another number: alike clauses in their order."""
    waiting: dict[str, list[str]] = defaultdict(list)
    for each in come:
        if len(TOKEN.findall(each.text)) >= _FEWEST:
            waiting[fold(_content(each))].append(each.id)
    moved = {}
    for each in gone:
        found = waiting.get(fold(_content(each)))
        if found:
            moved[each.id] = found.pop(0)
    return moved
