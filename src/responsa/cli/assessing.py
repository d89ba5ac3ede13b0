"""The command that assesses companies' reports against the EU Taxonomy."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from responsa.cli.assessing_files import DocxOption, Files, HtmlOption, XlsxOption
from responsa.cli.output import JsonOption, note, plural, print_json, progress
from responsa.cli.planned import DryRunOption, print_planned
from responsa.cli.taxonomy import CatalogueOption

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from responsa.errors import ResponsaError
    from responsa.models.chat import ChatModel
    from responsa.models.chat.dryrun import DryRun
    from responsa.taxonomy.activities.catalogue import Catalogue, Found
    from responsa.taxonomy.assessment.batch import Journal, Row
    from responsa.taxonomy.assessment.trust import Likeness
    from responsa.taxonomy.evidence.report import Report
    from responsa.taxonomy.values import Asking, Assessment

NONE = "none"
JOURNAL = ".journal"

Reports = Annotated[
    list[Path], typer.Argument(metavar="REPORT...", help="Companies' reports (.pdf, .docx, .html, .md).")
]
Activities = Annotated[
    list[str],
    typer.Option("--activity", metavar="ID", help="An activity such as 'CCM 6.5'; several times for several."),
]
Model = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="NAME",
        help="The language model that judges, such as openai:gpt-5.6-luna; else that of RESPONSA_CHAT_MODEL; none for "
        "evidence and numbers alone.",
    ),
]

Every = Annotated[bool, typer.Option("--all", help="Assess an activity for every objective, where it has several.")]
Recipe = Annotated[
    str, typer.Option("--recipe", metavar="NAME", help="How evidence is found: default, or one of the thesis.")
]
Method = Annotated[str, typer.Option("--method", metavar="METHOD", help="traditional, zero-shot-cot or few-shot-cot.")]
Bert = Annotated[
    str, typer.Option("--bertscore", metavar="MODEL", help="A model for BERTScore, such as hf:roberta-large.")
]
Ocr = Annotated[
    str, typer.Option("--ocr", metavar="LANGUAGES", help="Read words off pictures, in these languages (deu+eng).")
]


def assess(
    reports: Reports,
    activity: Activities,
    year: Annotated[
        int | None, typer.Option("--year", metavar="YYYY", help="The financial year; left out, that of the report.")
    ] = None,
    every: Every = False,
    chunks: Annotated[int, typer.Option("--chunks", min=1, help="How many chunks of evidence.")] = 10,
    recipe: Recipe = "default",
    model: Model = "",
    method: Method = "zero-shot-cot",
    generations: Annotated[int, typer.Option("--generations", min=1, help="How often the model is asked.")] = 5,
    per_criterion: Annotated[bool, typer.Option("--per-criterion", help="Ask about one criterion at a time.")] = False,
    dnsh: Annotated[bool, typer.Option("--dnsh", help="Assess that other objectives are not harmed, too.")] = False,
    safeguards: Annotated[bool, typer.Option("--safeguards", help="Ask about the minimum safeguards, too.")] = False,
    company: Annotated[str, typer.Option("--company", metavar="NAME", help="The company's name, for prompts.")] = "",
    seed: Annotated[int, typer.Option("--seed", help="What chooses the examples of few-shot-cot.")] = 0,
    bertscore: Bert = "",
    ocr: Ocr = "",
    catalogue: CatalogueOption = None,
    dry_run: DryRunOption = False,
    json: JsonOption = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write JSON to this file.")] = None,
    html: HtmlOption = None,
    docx: DocxOption = None,
    xlsx: XlsxOption = None,
) -> None:
    """Assess activities in companies' reports: for each criterion evidence with its page, figures, and a verdict.

    Without a language model there are criteria, ranked evidence, figures beside thresholds and the company's KPI lines,
    and the verdict is null. Several reports and activities make a table; with --out each is kept as soon as it is made,
    and the same command again goes on where it ended.
    """
    from responsa.models.chat.load import UNSET
    from responsa.taxonomy.activities.catalogue import load
    from responsa.taxonomy.values import Asking

    asking = Asking(
        chunks, recipe, "", _method(method), generations, per_criterion, dnsh, safeguards, seed, company, bertscore, ocr
    )
    chat, planned = _model(model, dry_run=dry_run)
    session = _Session(load(catalogue), year, _named(asking, chat), chat)
    pairs = session.pairs(reports, activity, every=every)
    files = Files(html, docx, xlsx, many=len(pairs) > 1)
    _check(recipe, out, files, reports)
    journal = _journal(None if dry_run else out)
    if not (chat or model):
        note(f"no verdicts, evidence and numbers only: {UNSET}")
    made = _all(session, pairs, journal)
    if planned:
        print_planned(planned)
        return
    _finish(made, files, single=len(pairs) == 1, as_json=json, out=out)
    if any(row.failure for row in made):
        raise typer.Exit(1)
    journal.remove()


def _check(recipe: str, out: Path | None, files: Files, reports: Sequence[Path]) -> None:
    """InputError and NotFound for what can be known before long work."""
    from responsa.errors import InputError
    from responsa.taxonomy.evidence.recipes import load

    load(recipe)
    if out and out.suffix.lower() in (".html", ".docx", ".xlsx"):
        raise InputError(f"--out writes JSON, not {out.name!r}; give that file to --{out.suffix.lower()[1:]}")
    files.check(reports, [out])


def _method(name: str) -> Any:  # noqa: ANN401  # one of the literals
    from responsa.errors import InputError, suggestion
    from responsa.taxonomy.assessment.prompts import METHODS

    if name not in METHODS:
        raise InputError(f"--method: no method {name!r}{suggestion(name, METHODS)}")
    return name


def names_none(model: str) -> bool:
    """Whether no language model is to be asked: ``none``, or nothing said here and in the environment."""
    from responsa.models.chat.load import VARIABLE

    return model == NONE or not (model or os.environ.get(VARIABLE, "").strip())


def _model(name: str, *, dry_run: bool) -> tuple[ChatModel | None, DryRun | None]:
    """The language model, None for none; the same as one that sends nothing, where that is asked for."""
    from responsa.errors import InputError, ModelError
    from responsa.models.chat.cached import CachedChat
    from responsa.models.chat.client import ApiChat
    from responsa.models.chat.load import UNSET, load_chat

    if names_none(name):
        if dry_run:
            raise InputError(f"--dry-run: no language model is asked; {UNSET}")
        return None, None
    chat = load_chat(name)
    if not dry_run:
        if isinstance(chat, ApiChat | CachedChat):
            with contextlib.suppress(ModelError):  # without a key the cache may still know every reply
                chat.check()  # a missing library is told before the reports are read
        return chat, None
    from responsa.models.chat.dryrun import DryRun

    run = DryRun(chat)
    return run, run


def _named(asking: Asking, chat: ChatModel | None) -> Asking:
    from dataclasses import replace

    return replace(asking, model=chat.name if chat else "")


def _journal(out: Path | None) -> Journal:
    from responsa.taxonomy.assessment.batch import Journal

    channel = out is None or str(out) == "-" or (out.exists() and not out.is_file())
    journal = Journal(None if channel or out is None else out.with_name(out.name + JOURNAL))
    if len(journal):
        note(f"going on with {plural(len(journal), 'assessment')} of {journal.path}")
    return journal


@dataclass
class _Session:
    """What all assessments of a command share. Each report is read once, and held until the next one is."""

    catalogue: Catalogue
    year: int | None
    asking: Asking
    chat: ChatModel | None
    bar: Callable[[int, int, str], None] = lambda _done, _total, _label: None
    _last: tuple[str, Report | ResponsaError] | None = None
    _like: Likeness | None = None

    def pairs(self, reports: Sequence[Path], activities: Sequence[str], *, every: bool) -> list[tuple[str, str]]:
        """Each report with each activity, an activity for several objectives once for each where all are asked for.

        NotFound for an unknown activity: nothing is read for a list with a mistake in it.
        """
        ids: dict[str, None] = {}
        for name in activities:
            found = self.catalogue.all(name) if every else (self.catalogue.find(name),)
            ids |= dict.fromkeys(each.activity.id for each in found)
        return [(str(report), activity) for report in dict.fromkeys(reports) for activity in ids]

    def make(self, report: str, activity: str) -> tuple[str, Callable[[], Assessment]]:
        """The key of a pair in the journal, and what makes its assessment."""
        from responsa.taxonomy.assessment.batch import key
        from responsa.taxonomy.assessment.prepared import Year, financial_year
        from responsa.taxonomy.assessment.wire import plain
        from responsa.text import digest

        read = self._read(report)
        year = Year(self.year, "as asked") if self.year is not None else financial_year(read)
        found = self.catalogue.find(activity, year.year)
        criteria = digest(plain(found.activity))
        name = key(read.digest, activity, criteria, year.year, self.asking, self.asking.model)
        return name, lambda: self._assess(read, found, year.year, year.said)

    def _read(self, path: str) -> Report:
        from responsa.corpus.limits import Limits
        from responsa.errors import ResponsaError
        from responsa.taxonomy.evidence.report import read_report

        if self._last is None or self._last[0] != path:
            limits = Limits(ocr=self.asking.ocr) if self.asking.ocr else None
            try:
                found: Report | ResponsaError = read_report(Path(path), None, limits, self.bar)
            except ResponsaError as error:
                found = error
            self._last = path, found
            for each in () if isinstance(found, ResponsaError) else found.notices:
                note(f"{Path(path).name}: {each}")
        last = self._last[1]
        if isinstance(last, ResponsaError):
            raise last
        return last

    def _assess(self, report: Report, found: Found, year: int, said: str) -> Assessment:
        from responsa.taxonomy.assessment.assess import assess as made
        from responsa.taxonomy.assessment.trust import likeness

        if self.chat and self._like is None:
            self._like = likeness(self.asking.bertscore)
            self._like.pairs([("flat", "house")])  # a model that is missing is said before another is paid
        return made(
            report, found, year, self.asking, self.catalogue,
            chat=self.chat, year_from=said, like=self._like, progress=self.bar,
        )  # fmt: skip


def _all(session: _Session, pairs: Sequence[tuple[str, str]], journal: Journal) -> list[Row]:
    """The rows in order. A single pair that cannot be assessed at all is an error, as everywhere."""
    from responsa.taxonomy.assessment.batch import rows

    with progress("Assessing") as bar:
        if len(pairs) == 1:
            session.bar = bar
            name, build = session.make(*pairs[0])
            return [_one(pairs[0], name, build, journal)]

        def told() -> Iterator[tuple[str, str]]:
            for at, (report, activity) in enumerate(pairs):
                bar(at, len(pairs), f"{Path(report).name} {activity}")
                yield report, activity

        return list(rows(told(), session.make, journal))


def _one(pair: tuple[str, str], name: str, build: Callable[[], Assessment], journal: Journal) -> Row:
    from responsa.taxonomy.assessment.batch import Row

    known = journal.get(name)
    made = known or build()
    if known is None and not made.failure:
        journal.put(name, made)
    return Row(*pair, made, made.failure, known is not None)


def _finish(made: Sequence[Row], files: Files, *, single: bool, as_json: bool, out: Path | None) -> None:
    """Write what is to be written, then print: who reads what is printed may end early, as ``head`` does."""
    from responsa.cli.assessing_output import print_assessment, print_rows
    from responsa.storage import write_json

    shown = _shown(made, single=single) if as_json or out else None
    if out:
        write_json(shown, out)
        kept = sum(row.kept for row in made)
        note(f"{plural(len(made), 'assessment')}, {kept:,} of them kept from before, written to {out}")
    files.write(made)
    if as_json and not out:
        print_json(shown)
    elif not as_json and single and made[0].made:
        print_assessment(made[0].made)
    elif not as_json:
        print_rows(made)
    for row in made:
        if row.failure:
            note(f"{Path(row.report).name}, {row.activity}: {row.failure}")


def _shown(made: Sequence[Row], *, single: bool) -> Any:  # noqa: ANN401
    """What --json prints and --out writes."""
    from responsa.taxonomy.assessment.view import failed, view

    items = [
        view(row.made) if row.made else failed(Path(row.report).stem, row.activity, None, row.failure) for row in made
    ]
    return items[0] if single else items
