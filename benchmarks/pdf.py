"""The PDF reader on real reports: ``python -m benchmarks.pdf [--report NAME] [--pages] [--cells] [--write]``.

Three measurements:

* *Words*, page by page, against ``pdftotext`` of Poppler: the share of its words that the reader has (recall) and the
  share of the reader's words that it has (precision), as multisets, after NFKC, without invisible characters and
  without the hyphens at the ends of lines. The words of headers and footers that the reader leaves out, and of hidden
  text, are counted apart and taken off both sides. ``pdftotext`` itself breaks some words, letter-spaced ones above
  all: of its three modes (plain, ``-layout``, ``-raw``) the one that agrees most is also given for each page, and so is
  the agreement in letters alone, which no space can change.
* *Cells* of tables, against a check file of cells that were compared with the image of the page by eye. The file has
  the page, row and column of each cell and a digest of its words, never the words.
* *Speed*: pages a second of processor time in one process: whole reports, and the pages with tables alone.

The pages of the check file were looked at while the reader was written, so they show that it does what was meant and
not how it does on pages that nobody looked at.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import NoReturn

from benchmarks import data
from benchmarks.report import Part, Row, Table, grid
from responsa.corpus.readers import pdf
from responsa.corpus.readers.pdf_passages import HIDDEN
from responsa.types import Passage

CELLS = Path(__file__).parent / "data" / "pdf_cells.json"
MODES = ((), ("-layout",), ("-raw",))
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff\ufffe\x00-\x08\x0e-\x1f]")
_LINE_END = re.compile(r"(?<=\w)[-\u2010\u2011\u00ad]\n\s*(?=[^\W\d_])")


@dataclass(frozen=True)
class PageWords:
    """What agrees on a page: of ``ours`` and ``theirs``, ``both``; ``best`` is the best of F1 in three modes."""

    page: int
    ours: int
    theirs: int
    both: int
    best: float
    letters: float
    left_out: int


def words_of(text: str) -> Counter[str]:
    """Words between white space; broken ones are mended."""
    text = _INVISIBLE.sub("", _LINE_END.sub("", unicodedata.normalize("NFKC", text)))
    return Counter(text.split())


def plain(passage: Passage) -> str:
    """A passage's words, of a table those of its cells."""
    if passage.kind != "table":
        return passage.text
    return "\n".join(cell for row in cells_of(passage.text) for cell in row)


class _Cells(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("tr", "caption"):
            self.rows.append([])
        if tag in ("td", "th", "caption"):
            self.rows[-1].append("")
            self.wide = int(dict(attrs).get("colspan") or 1)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self.rows[-1] += [""] * (self.wide - 1)

    def handle_data(self, text: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += text.strip("\n")


def cells_of(html: str) -> list[list[str]]:
    """The cells of a table by rows; a cell that spans columns stands in the first. A caption is a row of its own."""
    parser = _Cells()
    parser.feed(html)
    return parser.rows


def _fail(problem: str) -> NoReturn:
    raise SystemExit(problem)


def poppler(path: Path, mode: Sequence[str]) -> list[str]:
    """The text of each page as ``pdftotext`` has it."""
    command = [shutil.which("pdftotext") or "pdftotext", "-enc", "UTF-8", *mode, str(path), "-"]
    return subprocess.run(command, capture_output=True, check=True).stdout.decode("utf-8", "replace").split("\f")


def compare(path: Path) -> list[PageWords]:
    """Every page of a report against `pdftotext`."""
    with pdf.opened(path.read_bytes(), _fail) as document:
        laid = pdf.laid_out(list(pdf.pages_of(document, _fail)))
    by_page: dict[int, list[str]] = {}
    for passage in pdf.passages_of(laid, "x"):
        if HIDDEN not in passage.flags:
            by_page.setdefault(passage.page or 0, []).append(plain(passage))
    modes = [poppler(path, mode) for mode in MODES]
    found = []
    for page in laid:
        ours = words_of("\n".join(by_page.get(page.page.number, [])))
        gone = words_of("\n".join(line.text for line in page.left_out))
        each = [words_of(mode[page.page.number - 1]) - gone for mode in modes]
        agreed = [sum((ours & theirs).values()) for theirs in each]
        sizes = [sum(theirs.values()) for theirs in each]
        total = sum(ours.values())
        best = max(2 * a / (total + s) if total + s else 1.0 for a, s in zip(agreed, sizes, strict=True))
        found.append(
            PageWords(page.page.number, total, sizes[0], agreed[0], best, _letters(ours, each[0]), sum(gone.values()))
        )
    return found


def _letters(ours: Counter[str], theirs: Counter[str]) -> float:
    one, other = Counter("".join(ours.elements())), Counter("".join(theirs.elements()))
    total = sum(one.values()) + sum(other.values())
    return 2 * sum((one & other).values()) / total if total else 1.0


def tables_of(path: Path) -> dict[int, list[list[list[str]]]]:
    """The tables of a report by page, each as rows of cells."""
    (edition,) = pdf.read_pdf(path.read_bytes(), path.stem, _fail)
    found: dict[int, list[list[list[str]]]] = {}
    for passage in edition.passages:
        if passage.kind == "table":
            found.setdefault(passage.page or 0, []).append(cells_of(passage.text))
    return found


def digest(text: str) -> str:
    """What the check file has of a cell: of its letters, digits and signs without white space."""
    plain = "".join(_INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).split())
    return hashlib.sha256(plain.encode()).hexdigest()[:16]


def check_cells(folder: Path) -> list[tuple[str, int, int, int]]:
    """For each page of the check file: report, page, cells, and how many of them the reader has in their place."""
    rows = []
    for report, pages in json.loads(CELLS.read_text("utf-8"))["reports"].items():
        tables = tables_of(folder / report)
        for page, wanted in pages.items():
            found = [
                {
                    (row, column): digest(cell)
                    for row, cells in enumerate(table)
                    for column, cell in enumerate(cells)
                    if cell
                }
                for table in tables.get(int(page), [])
            ]
            right = sum(max((_agreeing(table, each) for each in found), default=0) for table in wanted)
            rows.append((report, int(page), sum(map(len, wanted)), right))
    return rows


def _agreeing(wanted: Sequence[tuple[int, int, str]], found: dict[tuple[int, int], str]) -> int:
    """Cells in their place; a row more or less above the table moves them all and costs its own cells only."""
    return max(sum(found.get((row + d, column)) == mark for row, column, mark in wanted) for d in range(-3, 4))


def speed(path: Path) -> tuple[int, float]:
    """Pages, and seconds of processor time to read the report."""
    content = path.read_bytes()
    start = time.process_time()
    (edition,) = pdf.read_pdf(content, path.stem, _fail)
    return max(passage.page or 0 for passage in edition.passages), time.process_time() - start


def table_speed(path: Path) -> tuple[int, float]:
    """Pages that have tables, and seconds to read and lay out these alone."""
    (edition,) = pdf.read_pdf(path.read_bytes(), path.stem, _fail)
    wanted = {passage.page for passage in edition.passages if passage.kind == "table"}
    with pdf.opened(path.read_bytes(), _fail) as document:
        start = time.process_time()
        pages = [page for page in pdf.pages_of(document, _fail) if page.number in wanted]
        pdf.passages_of(pdf.laid_out(pages), "x")
        return len(wanted), time.process_time() - start


def reports(names: Iterable[str]) -> Iterator[Path]:
    """The reports of the data folder, those of the names given or all."""
    folder = data.folder() / "reports"
    for path in sorted(folder.glob("*.pdf")):
        if not names or any(name in path.name for name in names):
            yield path


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pdf", description=__doc__)
    parser.add_argument("--report", action="append", default=[], help="a part of a report's name; all by default")
    parser.add_argument("--pages", action="store_true", help="list the pages that agree least")
    parser.add_argument("--cells", action="store_true", help="only the cells of the check file")
    arguments = parser.parse_args()
    if not arguments.cells:
        _print_words(list(reports(arguments.report)), arguments.pages)
    if CELLS.is_file():
        rows = check_cells(data.folder() / "reports")
        total, right = sum(row[2] for row in rows), sum(row[3] for row in rows)
        print(*grid(("report", "page", "cells", "right"), [tuple(map(str, row)) for row in rows]), sep="\n")
        print(f"cells: {right:,} of {total:,} right, {right / max(total, 1):.1%}, on {len(rows)} pages")


_HEADER = ("report", "pages", "recall", "precision", "best mode F1", "letters F1", "left out", "pages/s")


@dataclass(frozen=True)
class Reports:
    """Reports read: a row of cells for each, words of ours, theirs and both, theirs times the two measures of
    agreement, and pages and seconds of whole reports and of the pages with tables."""

    rows: tuple[tuple[str, ...], ...]
    sums: tuple[float, ...]
    times: tuple[float, ...]

    @property
    def recall(self) -> float:
        """Share of the words of pdftotext that the reader has."""
        return self.sums[2] / self.sums[1]

    @property
    def speeds(self) -> tuple[float, float]:
        """Pages a second: of whole reports, of those with tables."""
        return self.times[0] / self.times[1], self.times[2] / self.times[3]


def part() -> Part:
    """All reports, and the cells of the check file."""
    found = words_and_speed(list(reports(())))
    cells = check_cells(data.folder() / "reports")
    total, right = sum(row[2] for row in cells), sum(row[3] for row in cells)
    whole, tables = found.speeds
    share = right / max(total, 1)
    rows = (
        Row(
            f"words of {len(found.rows)} reports that pdftotext has",
            f"{found.recall:.4f}",
            "0.98",
            found.recall >= 0.98,
        ),
        Row(f"cells of tables on {len(cells)} pages, checked by eye", f"{share:.1%}", "85 %", share >= 0.85),
        Row("whole reports, pages a second of processor time", f"{whole:.0f}", "40", whole >= 40),
        Row("pages with tables, a second of processor time", f"{tables:.0f}", "10", tables >= 10),
    )
    return Part("pdf", rows, (Table("By report", _HEADER, found.rows),))


def words_and_speed(paths: Sequence[Path], *, worst: bool = False) -> Reports:
    """Read every report, compare its words, and measure the time. ``worst`` prints the pages that agree least."""
    rows = []
    times: list[float] = [0, 0, 0, 0]
    sums: list[float] = [0, 0, 0, 0, 0]
    for path in paths:
        pages = compare(path)
        count, seconds = speed(path)
        with_tables, table_seconds = table_speed(path)
        times = [a + b for a, b in zip(times, (count, seconds, with_tables, table_seconds), strict=True)]
        own = _summed(pages)
        sums = [a + b for a, b in zip(sums, own, strict=True)]
        ours, theirs, both, best, letters = own
        rows.append((
            path.stem, str(count), f"{both / theirs:.4f}", f"{both / ours:.4f}", f"{best / max(theirs, 1):.4f}",
            f"{letters / max(theirs, 1):.4f}", str(sum(page.left_out for page in pages)), f"{count / seconds:.0f}",
        ))  # fmt: skip
        if worst:
            for page in sorted(pages, key=lambda each: each.best)[:6]:
                print(f"{path.stem} page {page.page}: {page}", file=sys.stderr)
    return Reports(tuple(rows), tuple(sums), tuple(times))


def _print_words(paths: Sequence[Path], worst: bool) -> None:
    found = words_and_speed(paths, worst=worst)
    print(*grid(_HEADER, found.rows), sep="\n")
    ours, theirs, both, best, letters = found.sums
    whole, tables = found.speeds
    print(f"all: recall {both / theirs:.4f}, precision {both / ours:.4f}, best mode {best / theirs:.4f},", end=" ")
    print(f"letters {letters / theirs:.4f}; {whole:.0f} pages/s,", end=" ")
    print(f"the {found.times[2]:.0f} with tables {tables:.0f} (the other pages loaded too)")


def _summed(pages: Sequence[PageWords]) -> tuple[float, ...]:
    """Words of ours, theirs and both, and theirs times the two measures of agreement."""
    return (
        sum(page.ours for page in pages),
        sum(page.theirs for page in pages),
        sum(page.both for page in pages),
        sum(page.best * page.theirs for page in pages),
        sum(page.letters * page.theirs for page in pages),
    )


if __name__ == "__main__":
    main()
