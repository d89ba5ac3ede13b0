"""Assessments as files for people: pages in HTML, Word documents, a spreadsheet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from responsa.cli.output import note, plural, progress

if TYPE_CHECKING:
    from responsa.render.assessment_marks import Sheets
    from responsa.render.assessment_words import Failed
    from responsa.taxonomy.assessment.batch import Row
    from responsa.taxonomy.values import Assessment

HtmlOption = Annotated[
    Path | None,
    typer.Option(
        "--html",
        metavar="FILE",
        help="Write a page to read, print and hand on, with pictures of the pages quoted; of several, a folder of them "
        "with index.html.",
    ),
]
DocxOption = Annotated[
    Path | None,
    typer.Option("--docx", metavar="FILE", help="Write the same as a Word document; of several, a folder of them."),
]
XlsxOption = Annotated[
    Path | None,
    typer.Option("--xlsx", metavar="FILE", help="Write a spreadsheet: reports by activities, and what each rests on."),
]

_UNSAFE = re.compile(r"[^\w.]+")
_INDEX = "index.html"


@dataclass(frozen=True)
class Files:
    """What is to be written, where; ``many`` assessments go to folders, but for the spreadsheet."""

    html: Path | None
    docx: Path | None
    xlsx: Path | None
    many: bool

    def check(self, inputs: Sequence[Path], others: Sequence[Path | None] = ()) -> None:
        """InputError where something cannot be written there or to the ``others``; called before long work."""
        from responsa.storage import check_targets

        pages = (self.html, self.docx)
        for path in filter(None, pages if self.many else ()):
            _check_folder(path)
        check_targets((*(() if self.many else pages), self.xlsx, *others), inputs)

    def write(self, rows: Sequence[Row]) -> None:
        """Write them all. A report whose pages cannot be drawn costs its pictures only."""
        from responsa.storage import write_bytes

        made = [(Path(row.report), row.made) for row in rows if row.made]
        names = list(_names([each for _, each in made]))
        if self.html or self.docx:
            with progress("Writing") as bar:
                for at, (path, each) in enumerate(made):
                    bar(at, len(made), path.name)
                    self._write_one(each, _drawn(each, path), names[at])
        if self.html and self.many and made:
            self._write_index(rows, [each for _, each in made], names)
        if self.xlsx and made:
            from responsa.render.assessment_sheets import workbook

            write_bytes(workbook([each for _, each in made], _failed(rows)), self.xlsx)
        if made:
            for target in filter(None, (self.html, self.docx, self.xlsx)):
                note(f"{plural(len(made), 'assessment')} written to {target}")

    def _write_one(self, each: Assessment, sheets: Sheets, name: str) -> None:
        from responsa.storage import write_bytes, write_text

        if self.html:
            from responsa.render.assessment import page

            write_text(page(each, sheets), self._target(self.html, f"{name}.html"))
        if self.docx:
            from responsa.render.assessment_document import document

            write_bytes(document(each, sheets), self._target(self.docx, f"{name}.docx"))

    def _target(self, path: Path, name: str) -> Path:
        if not self.many:
            return path
        path.mkdir(exist_ok=True)
        return path / name

    def _write_index(self, rows: Sequence[Row], made: Sequence[Assessment], names: Sequence[str]) -> None:
        from responsa.render.assessment import Entry, index
        from responsa.storage import write_text

        assert self.html is not None
        entries = [Entry(each, f"{name}.html") for each, name in zip(made, names, strict=True)]
        write_text(index(entries, _failed(rows)), self.html / _INDEX)


def _check_folder(path: Path) -> None:
    from responsa.errors import InputError

    if path.exists() and not path.is_dir():
        raise InputError(f"{path}: is a file, but several assessments go to a folder; name a folder")
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {str(path.parent)!r}; create it first")


def _drawn(each: Assessment, path: Path) -> Sheets:
    from responsa.errors import ResponsaError
    from responsa.render.assessment_marks import Sheets, draw

    try:
        return draw(each, path)
    except ResponsaError as error:
        note(str(error))
        return Sheets(notes=(f"there are no pictures of pages: {error}",))


def _failed(rows: Sequence[Row]) -> list[Failed]:
    from responsa.render.assessment_words import Failed

    return [Failed(Path(row.report).stem, row.activity, row.failure) for row in rows if row.made is None]


def _names(made: Sequence[Assessment]) -> Iterator[str]:
    """Names of files without their suffix, each once: ``Vonovia_2023-CCM_7.7-2023``."""
    seen: set[str] = {Path(_INDEX).stem}
    for each in made:
        parts = (each.report[:80], each.activity.id, str(each.year))
        name = "-".join(_UNSAFE.sub("_", part).strip("._") or "report" for part in parts)
        count, tried = 1, name
        while tried.casefold() in seen:
            count += 1
            tried = f"{name}-{count}"
        seen.add(tried.casefold())
        yield tried
