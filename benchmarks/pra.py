"""Questions on the rules of another regulator: ``python -m benchmarks.pra [--recipe R]... [--export FOLDER]``.

Eight pages of the PRA Rulebook as passages, and questions whose gold passages were marked by hand
(benchmarks/data/pra_gold.jsonl). No model is trained on these pages, so this tells whether a system generalises.
A passage is one numbered rule or paragraph, ``<page>:<number>``, or one definition in it, ``<page>:<number>-<place>``;
ids do not change while the page does not.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from benchmarks import data
from benchmarks.report import grid
from responsa import questions, recipe
from responsa.corpus import library
from responsa.corpus.library import Library
from responsa.engine import Engine, prepare
from responsa.errors import InputError, ResponsaError
from responsa.evaluate.ranking import Measure, RunScores, compare_runs, score_run, summarise
from responsa.storage import write_text
from responsa.text import digest, words
from responsa.types import Estimate, Judgement

GOLD = data.ROOT / "benchmarks" / "data" / "pra_gold.jsonl"
MEASURES = (Measure("recall", 10), Measure("MAP", 10))
LEAST_WORDS = 4  # shorter text, such as a paragraph marked as deleted, is furniture
_NAME = re.compile(r"([^_]+)_\d{2}-\d{2}-\d{4}__[0-9a-f]+\Z")  # of a file: the page, its date, a digest
_VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"})
_INLINE = frozenset({"a", "abbr", "b", "em", "i", "small", "span", "strong", "sub", "u"})  # these break no line
_SKIPPED = frozenset({"row-block__info", "page-utilities", "visually-hidden", "rb-footnotes"})
_UNSEEN = frozenset({"script", "style", "svg", "button", "sup"})  # sup: the mark of a footnote
_CONTENT, _RULE, _NUMBER, _CHAPTER = "part-content", "row-block", "rule-number", "chapter-heading"
_SPACE = re.compile(r"[^\S\n]+")
# A defined term on a line of its own, with what it means on the lines that follow.
_DEFINITION = re.compile(r"^(?=[^\n]+\n(?:means|has the meaning)\b)", re.MULTILINE)


@dataclass(frozen=True)
class Rule:
    """A passage of a page. ``page`` is the heading of that, ``title`` the heading of the chapter."""

    id: str
    document: str
    page: str
    number: str
    title: str
    text: str

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits, of the text; the gold names them, so that changed text does not go unseen."""
        return digest(self.text)[:16]


@dataclass
class _Page(HTMLParser):
    """Collects heading, number and text of each rule; what lies outside the content of the page is left out."""

    title: str = ""
    rules: list[tuple[str, str, str]] = field(default_factory=list)  # chapter, number, text

    def __post_init__(self) -> None:
        super().__init__()
        self._open: list[tuple[str, str]] = []  # tag, and the part that it begins or ""
        self._taken: dict[str, list[str]] = {}
        self._chapter = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = set((dict(attrs).get("class") or "").split())
        part = "h1" if tag == "h1" else next((n for n in (_CONTENT, _RULE, _NUMBER, _CHAPTER) if n in given), "")
        part = "skipped" if given & _SKIPPED or tag in _UNSEEN else part
        if part and part != "skipped":
            self._taken[part] = []
        if part == _RULE:
            self._taken[_NUMBER] = []
        self._break(tag)
        if tag not in _VOID:
            self._open.append((tag, part))

    def handle_endtag(self, tag: str) -> None:
        self._break(tag)
        if tag not in {name for name, _ in self._open}:
            return
        while self._open:
            name, part = self._open.pop()
            self._close(part)
            if name == tag:
                return

    def handle_data(self, data: str) -> None:
        parts = [part for _, part in self._open]
        if "skipped" in parts:
            return
        for part in (_NUMBER, _CHAPTER, "h1", _RULE):
            if part in parts and (part == "h1" or _CONTENT in parts):
                self._taken[part].append(re.sub(r"\s+", " ", data))
                return

    def _break(self, tag: str) -> None:
        if tag in {"td", "th"}:
            self._put(" ")
        elif tag not in _INLINE | _UNSEEN:
            self._put("\n")

    def _put(self, space: str) -> None:
        if any(part == _RULE for _, part in self._open):
            self._taken[_RULE].append(space)

    def _close(self, part: str) -> None:
        if part == "h1":
            self.title = self._text(part)
        elif part == _CHAPTER:
            self._chapter = self._text(part)
        elif part == _RULE:
            self.rules.append((self._chapter, self._text(_NUMBER), self._text(_RULE)))

    def _text(self, part: str) -> str:
        lines = (_SPACE.sub(" ", line).strip() for line in "".join(self._taken[part]).split("\n"))
        return "\n".join(line for line in lines if line)


def pages() -> Path:
    """The folder of the pages."""
    return data.folder() / "pra_pages"


def rules(folder: Path) -> list[Rule]:
    """The passages of every page, by page and then in its order. InputError where there is no page.

    A rule without a number, or with one that stands already, is numbered ``p1``, ``p2`` and so on within its page.
    """
    files = {key(path): path for path in folder.glob("*.html")}
    if not files:
        raise InputError(f"{folder}: holds no HTML page; give the folder of the PRA pages")
    return [rule for page in sorted(files) for rule in _rules(page, files[page])]


def key(path: Path) -> str:
    """What a page is called in ids: its file name from the last ``_`` before the date on."""
    found = _NAME.search(path.stem)
    return found[1].strip("-") if found else path.stem


def _rules(page: str, path: Path) -> Iterator[Rule]:
    parser = _Page()
    parser.feed(path.read_text(encoding="utf-8"))
    parser.close()
    seen: set[str] = set()
    running = 0
    for chapter, number, text in parser.rules:
        parts = _DEFINITION.split(text)[1:] or [text]  # what introduces definitions says nothing by itself
        if len(words(text)) < LEAST_WORDS:
            continue
        name = number
        if not number or number in seen:
            running += 1
            name = f"p{running}"
        seen.add(name)
        for place, part in enumerate(parts, 1):
            label = name if len(parts) == 1 else f"{name}-{place}"
            yield Rule(f"{page}:{label}", page, parser.title, number, chapter, part.strip())


def as_jsonl(passages: Sequence[Rule]) -> str:
    """The passages as ``responsa add`` reads them, one JSON object on a line."""
    rows = (
        {"id": item.id, "document": item.document, "number": item.number, "path": [item.page], "title": item.title}
        | {"text": item.text}
        for item in passages
    )
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


def gold(passages: Sequence[Rule], file: Path = GOLD) -> list[Judgement]:
    """The gold passages. InputError names the first that is missing or whose text is not the one that was marked."""
    digests = {item.id: item.digest for item in passages}
    judged = []
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for passage in row["passages"]:
            found = digests.get(passage["id"])
            if found != passage["digest"]:
                now = f"has the digest {found}" if found else "is missing"
                raise InputError(
                    f"gold passage {passage['id']!r} of question {row['id']!r} {now}, not {passage['digest']}: "
                    "the page or its reading changed; mark the question again"
                )
            judged.append(Judgement(row["id"], passage["id"]))
    return judged


def measure(recipes: Sequence[str], passages: Sequence[Rule]) -> list[RunScores]:
    """The scores of each recipe over the questions, on a library made for the purpose."""
    queries, judged, scored = questions.read(GOLD), gold(passages), []
    with tempfile.TemporaryDirectory(prefix="responsa-pra-") as name:
        file, at = Path(name) / "pra.jsonl", Path(name) / "library"
        write_text(as_jsonl(passages), file)
        report = library.add(at, [file], prepare(recipe.load(recipes[0])))
        if report.refused:
            raise InputError(f"the pages were refused: {report.refused[0].reason}")
        with Library.open(at) as opened:
            for each in recipes:
                data.progress(each)
                scored.append(score_run(Engine(opened, recipe.load(each)).run(queries), judged, MEASURES))
    return scored


def table(recipes: Sequence[str], scored: Sequence[RunScores]) -> str:
    """Means by number of gold passages; then each recipe minus the first. All with 95 % bootstrap intervals."""
    rows = []
    for name, scores in zip(recipes, scored, strict=True):
        found = {(item.measure, item.group): item.estimate for item in summarise(scores)}
        for group in dict.fromkeys(group for _, group in found):
            cells = [found[str(each), group] for each in MEASURES]
            rows.append((name, group, f"{cells[0].n}", *map(_text, cells)))
    lines = grid(("recipe", "gold passages", "questions", *map(str, MEASURES)), rows)
    if len(scored) > 1:
        pairs = []
        for name, scores in zip(recipes[1:], scored[1:], strict=True):
            compared = [compare_runs(scores, scored[0], each) for each in MEASURES]
            pairs.append((name, *(f"{_text(c.difference, '+')}, p {c.p_value:.4f}" for c in compared)))
        lines = [*lines, "", *grid((f"minus {recipes[0]}", *map(str, MEASURES)), pairs)]
    return "\n".join(lines)


def _text(value: Estimate, sign: str = "") -> str:
    return f"{value.mean:{sign}.4f} [{value.low:{sign}.4f} {value.high:{sign}.4f}]"


def _export(passages: Sequence[Rule], folder: Path) -> None:
    """The passages, the questions and the gold as files for other programs."""
    folder.mkdir(parents=True, exist_ok=True)
    write_text(as_jsonl(passages), folder / "passages.jsonl")
    asked = ({"id": query.id, "question": query.text} for query in questions.read(GOLD))
    write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in asked), folder / "questions.jsonl")
    judged = (f"{item.query_id} 0 {item.passage_id} {item.grade}\n" for item in gold(passages))
    write_text("".join(judged), folder / "qrels.txt")


def main() -> None:
    """Measure the recipes, or write the files."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pra", description=__doc__)
    parser.add_argument("--recipe", action="append", help="a shipped recipe or a TOML file; the first is compared with")
    parser.add_argument("--export", type=Path, metavar="FOLDER", help="write passages, questions and qrels; no scores")
    given = parser.parse_args()
    try:
        passages = rules(pages())
        if given.export:
            _export(passages, given.export)
            return
        recipes = given.recipe or ["bm25"]
        print(table(recipes, measure(recipes, passages)))
    except ResponsaError as error:
        sys.exit(f"benchmarks: {error}")


if __name__ == "__main__":
    main()
