"""EU law as it is read against the same law by article, derived by others: ``python -m benchmarks.eu_law [--all]``.

Each original (Formex or EUR-Lex HTML) is read and its articles are compared with the article file of the same date:
which articles there are, their headings, the divisions above them, and their text. Texts are compared without white
space, after

* Unicode NFKC, all dashes as hyphens, and how a sub- or superscript is written in one line (``EL_BE``, ``ELBE``);
* marks of consolidation, and of footnotes that the article file lists as links; EUR-Lex numbers them anew each time;
* the Markdown of the article file: emphasis, pipes and rules of tables;
* formulas: the article files have none where they come from HTML (images), and only letters and digits where they come
  from Formex (the signs are empty elements). The letters and digits must agree, and stand in the same place.

What still differs is sorted by whether it is the article file that is wrong, which is only said where undoing that
one fault makes the texts equal:

* ``deleted``: it prints provisions that the original marks as deleted as if they were in force;
* ``order``: it has the same lines and no other, but words from after a list before it, or items without a number, the
  titles of tables and tables within tables twice;
* ``image``: it leaves out the full stop or semicolon after the image of a formula;
* ``end``: its last article has the words that end the act.

Articles that an act only quotes, to insert them into another, are its own in some article files (50a to 50d in the CRR
of 2024); they do not count as missing.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from lxml import etree

from benchmarks import data
from benchmarks.report import Part, Table, grid
from benchmarks.report import Row as Line
from responsa.corpus import readers
from responsa.corpus.readers import formex
from responsa.corpus.readers.clauses import printed
from responsa.types import Edition, Passage

SETS = (
    ("32013r0575_2013-06-28.fmx4.xml", "32013r0575/2013-06-28.json"),
    ("32013r0575_2024-07-09.fmx4.xml", "32013r0575/2024-07-09.json"),
    ("32015r0061_2022-07-08.fmx4.xml", "32015r0061/2022-07-08.json"),
    ("32013r0575_2013-06-28.html", "32013r0575/2013-06-28.json"),
    ("32015r0061_2022-07-08.html", "32015r0061/2022-07-08.json"),
)
_START, _END = "\ue000", "\ue001"  # around formulas while two texts are compared
_ARTICLE = re.compile(r"Article \w+$")
_IMAGE = f"{_START}{_END}"
_AFTER_IMAGE = re.compile(rf"(?:{_START}[^{_END}]*{_END}|\[image\])\s*[;.]")
_LAST_WORDS = re.compile(r"ThisRegulationshallbebindinginitsentiretyanddirectlyapplicableinallMemberStates\.$")
_NOT_NOTES = re.compile(r"(?:points?|paragraphs?|and|or|to|,)\s*$")


class Row(NamedTuple):
    """One article: as it was read, as the article file has it, and the one fault of the file between them if any."""

    number: str
    equal: bool
    fault: str = ""


@dataclass(frozen=True)
class Comparison:
    """An original against an article file. ``missing`` were not read, ``invented`` are not in the file."""

    original: str
    articles: str
    seconds: float
    passages: int
    rows: tuple[Row, ...]
    missing: tuple[str, ...] = ()
    invented: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    known_paths: int = 0

    @property
    def equal(self) -> float:
        """Share of the articles whose texts are equal, faults of the article file undone."""
        return sum(row.equal or row.fault != "" for row in self.rows) / len(self.rows)

    @property
    def strictly(self) -> float:
        """The same with those faults counted as differences."""
        return sum(row.equal for row in self.rows) / len(self.rows)

    @property
    def different(self) -> tuple[str, ...]:
        """The articles that differ in any other way."""
        return tuple(row.number for row in self.rows if not row.equal and not row.fault)


def compare(folder: Path, original: str, articles: str) -> Comparison:
    """Read an original below ``folder`` (``eu_law`` of the data) and compare it."""
    content = (folder / "originals" / original).read_bytes()
    started = time.process_time()
    (edition,) = readers.read_bytes(content, original)
    seconds = time.process_time() - started
    file = json.loads((folder / "articles" / articles).read_text(encoding="utf-8"))
    theirs = {_number(row["num"]): row for row in file["provisions"] if row["type"] == "article"}
    ours = by_article(edition)
    formulas = "fmx4" in file["generator"]["profile"]
    marked, restored = _variants(content, edition, formulas)
    rows, headings, paths, known = [], [], [], 0
    for number, row in theirs.items():
        if number not in ours:
            continue
        head = ours[number][0]
        if normalised(head.title) != normalised(row["heading"] or ""):
            headings.append(number)
        wanted = _path(head.path, row["path"])
        known += wanted is not None
        if wanted is False:
            paths.append(number)
        rows.append(_row(number, without_notes(row), marked[number], restored.get(number, []), formulas))
    quoted = {passage.number.rpartition("quoted ")[2] for passage in edition.passages if "quoted" in passage.flags}
    return Comparison(
        original, articles, seconds, len(edition.passages), tuple(rows),
        tuple(number for number in theirs if number not in ours and number not in quoted),
        tuple(number for number in ours if number not in theirs), tuple(headings), tuple(paths), known,
    )  # fmt: skip


def _number(printed: str) -> str:
    """ "Article 519 e" is printed so by mistake."""
    return re.sub(r"(?<=\d) (?=[a-z]\b)", "", printed)


def by_article(edition: Edition) -> dict[str, list[Passage]]:
    """The passages of each article in reading order, by its number."""
    found: dict[str, list[Passage]] = {}
    part_of: dict[str, str] = {}
    for passage in edition.passages:
        if _ARTICLE.match(passage.number) and passage.parent_id not in part_of:
            part_of[passage.id] = passage.number
            found[passage.number] = [passage]
        elif passage.parent_id in part_of:
            part_of[passage.id] = part_of[passage.parent_id or ""]
            found[part_of[passage.id]].append(passage)
    return found


def normalised(text: str) -> str:
    """See the head of this module."""
    text = unicodedata.normalize("NFKC", text)
    text = re.sub(r"[►▼]\s?[A-Z]{1,2}\d{0,3}|◄|\[image\]|\[formula image: [^\]]*\]|-{5}|—{5}", "", text)
    text = re.sub(r"\|(?:\s*-{3,}\s*\|)+|<br>", "", text)
    text = re.sub(r"[_^]\(([^()]*)\)", r"\1", text)
    text = re.sub(r"[*_^|\\\u0305]", "", text)
    return re.sub(r"\s+", "", re.sub(r"[‐‑–—−]", "-", text))


def without_notes(row: dict[str, Any]) -> str:
    """The text of an article file's row without the marks of footnotes, which it lists as links to them."""
    text, at = str(row["text_md"]), 0
    for link in row["citations"]:
        if not link["href"].startswith("#E"):
            continue
        mark = re.compile(rf"(?<=[^\n]) \({re.escape(link['text'].strip('()'))}\)(?=[\s,.;:)’]|$)")
        for found in mark.finditer(text, at):
            if not _NOT_NOTES.search(text[max(0, found.start() - 12) : found.start()]):
                text, at = text[: found.start()] + text[found.end() :], found.start()
                break
    return text


def _row(number: str, text: str, ours: list[Passage], restored: list[Passage], formulas: bool) -> Row:
    theirs = normalised(text)
    if _agrees(ours, theirs, formulas):
        return Row(number, True)
    if restored and _agrees(restored, theirs, formulas):
        return Row(number, False, "deleted")
    if not formulas and _agrees(ours, theirs, formulas, _AFTER_IMAGE):
        return Row(number, False, "image")
    if _agrees(ours, _LAST_WORDS.sub("", theirs), formulas):
        return Row(number, False, "end")
    if _same_lines(ours, theirs, formulas):
        return Row(number, False, "order")
    if restored and _same_lines(restored, theirs, formulas):
        return Row(number, False, "deleted, order")
    return Row(number, False)


def _agrees(
    passages: Sequence[Passage], theirs: str, formulas: bool, dropped: re.Pattern[str] = re.compile(r"\Z")
) -> bool:
    """Whether the texts are equal. ``dropped`` is what the article file leaves out after a formula."""
    text = dropped.sub(_IMAGE, printed(passages))
    return re.fullmatch(_pattern(text, formulas), theirs) is not None


def _pattern(text: str, formulas: bool) -> str:
    pieces = re.split(f"{_START}([^{_END}]*){_END}", text)
    pattern = [re.escape(normalised(pieces[0]))]
    for formula, after in zip(pieces[1::2], pieces[2::2], strict=True):
        signs = re.sub(r"[\W_Σ]", "", normalised(formula)) if formulas else ""
        pattern += [r"\W*" if formulas else "", r"\W*".join(signs), r"\W*" if signs else ""]
        pattern.append(re.escape(normalised(after)))
    return "".join(pattern)


def _same_lines(passages: Sequence[Passage], theirs: str, formulas: bool) -> bool:
    """Whether the article file has the same lines and no other, in whatever order and however often."""
    lines = sorted({_pattern(line, formulas) for line in printed(passages).split("\n")}, key=len, reverse=True)
    if not all(re.search(line, theirs) for line in lines if line != "-"):
        return False
    for line in filter(None, lines):
        theirs = re.sub(line.removeprefix(r"\W*").removesuffix(r"\W*"), "\n", theirs)
    return not theirs.strip("\n-()[]")  # what is left of the brackets around a formula


def _path(ours: tuple[str, ...], theirs: list[str]) -> bool | None:
    """Whether the divisions agree: all of them, or the innermost, which is all that files from HTML have; None for
    none given.
    """
    if not theirs:
        return None
    wanted = [normalised(each) for each in theirs]
    if " — " in theirs[0] or "fmx" in theirs[0]:
        return [normalised(each) for each in ours] == wanted
    return normalised("".join(ours[-1:]).replace(" — ", "", 1)) == "".join(wanted)


def _variants(
    content: bytes, edition: Edition, formulas: bool
) -> tuple[dict[str, list[Passage]], dict[str, list[Passage]]]:
    """The articles with their formulas marked; the same with what is marked as deleted put back, from Formex alone."""
    if b"<CONS.ACT" not in content[:2000]:
        return by_article(edition), {}
    read = [by_article(_marked(content, formulas, deleted)) for deleted in (False, True)]
    return read[0], read[1]


def _marked(content: bytes, formulas: bool, deleted: bool) -> Edition:
    root = etree.fromstring(content)
    for node in list(_marks(root)):
        if deleted:
            node.text = node.text.replace('ACTION="DELETED"', 'ACTION="KEPT"')
    for element in root.iter("FORMULA", "FORMULA.S"):
        element.text = _START + (element.text or "")
        last = element[-1] if len(element) else None
        if last is None:
            element.text += _END
        else:
            last.tail = (last.tail or "") + _END
    for element in root.iter("DLIST") if formulas else ():
        element.attrib.pop("SEPARATOR", None)  # files from Formex leave it out
    (edition,) = formex.read(root, "", sys.exit)
    return edition


def _marks(root: Any) -> Iterator[Any]:
    return (node for node in root.iter(etree.PI) if node.target == "CLG.MDFO")


_HEADER = ("original", "articles", "missing", "invented", "equal", "strictly", "headings", "paths", "seconds")


def part() -> Part:
    """Every original against its article file."""
    found = [compare(data.folder() / "eu_law", original, articles) for original, articles in SETS]
    lines = []
    for each in found:
        least = 0.98 if each.original.endswith(".html") else 0.99
        whole = not (each.missing or each.invented or each.headings or each.paths)
        what = f"{each.original}: {len(each.rows)} articles, text equal"
        target = f"{least:.0%}, every article, heading and path"
        measured = f"{each.equal:.2%}" + ("" if whole else "; not every article, heading and path")
        lines.append(Line(what, measured, target, whole and each.equal >= least, {"equal": each.equal}))
    slowest = max(each.seconds for each in found)
    lines.append(Line("an act from Formex or HTML", f"{slowest:.2f} s", "5 s", slowest <= 5, {"seconds": slowest}))
    note = "*equal* undoes faults of the article files; `python -m benchmarks.eu_law --all` lists them."
    return Part("eu_law", tuple(lines), (Table("By original", _HEADER, tuple(map(_cells, found)), note),))


def _cells(each: Comparison) -> tuple[str, ...]:
    return (
        each.original, str(len(each.rows)), str(len(each.missing)), str(len(each.invented)),
        f"{each.equal:.2%}", f"{each.strictly:.2%}",
        f"{len(each.rows) - len(each.headings)}/{len(each.rows)}",
        f"{each.known_paths - len(each.paths)}/{each.known_paths}", f"{each.seconds:.2f}",
    )  # fmt: skip


def main() -> None:
    """Print the table, and what differs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.eu_law", description=__doc__)
    parser.add_argument("--all", action="store_true", help="list the articles by fault too")
    arguments = parser.parse_args()
    folder = data.folder() / "eu_law"
    found = [compare(folder, original, articles) for original, articles in SETS]
    print(*grid(_HEADER, [_cells(each) for each in found]), sep="\n")
    for each in found:
        print(f"{each.original}: different: {', '.join(each.different) or 'none'}")
        for fault in sorted({row.fault for row in each.rows if row.fault}) if arguments.all else ():
            print(f"  {fault}: {', '.join(row.number for row in each.rows if row.fault == fault)}")


if __name__ == "__main__":
    main()
