"""Commands on the library: what is in it, from where, and whether it is whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from responsa.cli.output import (
    AsOfOption,
    JsonOption,
    VersionOption,
    add_row,
    in_force,
    note,
    note_gap,
    parse_date,
    plural,
    print_json,
    print_table,
    progress,
    say,
    table,
)
from responsa.cli.referring import close_ids
from responsa.cli.referring import show as show_words
from responsa.corpus.limits import DEFAULT, Limits

if TYPE_CHECKING:
    from responsa.corpus.answers import CitationCheck, SavedAnswer
    from responsa.corpus.intake import AddReport
    from responsa.corpus.library import Library
    from responsa.corpus.view import Corpus
    from responsa.views import Json

_SECONDS_OF_OCR = 3600.0  # some seconds a page
_Ocr = Annotated[
    str,
    typer.Option(
        metavar="LANGUAGES", help="Read pages that are pictures by Tesseract: eng, deu+eng (needs the extra ocr)."
    ),
]
_Seconds = Annotated[
    float | None,
    typer.Option(
        metavar="N",
        help=f"Give up a file after so many seconds: {DEFAULT.seconds:g}, or {_SECONDS_OF_OCR:g} with --ocr.",
    ),
]


def add(
    context: typer.Context,
    sources: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="SOURCE...", help="Files, folders, or acts of the EU such as celex:32013R0575@2024-07-09."
        ),
    ] = None,
    sample: Annotated[bool, typer.Option("--sample", help="Add the sample rulebook that ships with Responsa.")] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing: take acts from the cache.")] = False,
    ocr: _Ocr = "",
    max_seconds: _Seconds = None,
    max_memory: Annotated[int, typer.Option(metavar="MIB", help="Memory for reading a file.")] = DEFAULT.memory,
    max_size: Annotated[int, typer.Option(metavar="MIB", help="Size of a file.")] = DEFAULT.size,
    max_expanded: Annotated[
        int, typer.Option(metavar="MIB", help="Size of a Word file when unpacked.")
    ] = DEFAULT.expanded,
    max_pages: Annotated[int, typer.Option(metavar="N", help="Pages of a PDF.")] = DEFAULT.pages,
    json: JsonOption = False,
) -> None:
    """Read rulebooks into the library; unchanged files cost nothing, changed ones become new versions.

    The suffix of a file says how it is read. Acts of the EU are fetched by their CELEX numbers, as published or,
    after @, as in force on a day. Files from elsewhere are read in a process of their own, which
    may cost what the limits say. Files that cannot be read are listed with the reason, the others go in, and
    the exit status is 1.
    """
    from responsa import views
    from responsa.corpus import library
    from responsa.corpus.readers import SUFFIXES
    from responsa.engine import prepare
    from responsa.recipe import WORDS, load
    from responsa.sample import rulebook

    seconds = max_seconds if max_seconds is not None else _SECONDS_OF_OCR if ocr else DEFAULT.seconds
    limits = Limits(seconds, max_memory, max_size, max_expanded, max_pages, ocr)
    with progress("Reading") as bar:
        report = library.add(
            context.obj,
            [*(sources or []), *([rulebook()] if sample else [])],
            prepare(load(WORDS)),
            bar,
            lambda: note("Another process is adding to the library; waiting ..."),
            limits,
            offline,
        )
    if json:
        print_json(views.added(report))
    else:
        counts = {
            status: sum(file.status == status for file in report.files) for status in ("added", "changed", "unchanged")
        }
        passages = sum(file.passages for file in report.files)
        say(", ".join(f"{count} {status}" for status, count in counts.items()) + f"; {passages:,} passages read")
    _note_what_became(report)
    nothing = not report.files and not report.missing and not report.interrupted
    if nothing:
        note(f"nothing was read: no file there has a suffix that is known; read are: {', '.join(sorted(SUFFIXES))}")
    if report.refused or report.interrupted or nothing:
        raise typer.Exit(1)


def _note_what_became(report: AddReport) -> None:
    for file in report.files:
        for notice in file.notices:
            note(f"{file.path}: {notice}")
    for file in report.refused:
        note(f"refused: {file.path}: {file.reason}")
    for path in report.skipped:
        note(f"skipped: {path}: {_why_skipped(Path(path))}")
    for path in report.missing:
        note(f"missing: {path}: its documents stay until you remove them: responsa remove '{path}'")
    if report.interrupted:
        note("interrupted: what was read until then is in the library; run the same command again to go on")


def _why_skipped(path: Path) -> str:
    from responsa.corpus.readers import SUFFIXES, unknown

    if path.is_dir():
        return "a link to a folder; name the folder itself" if path.is_symlink() else "a library, not read as a source"
    if path.is_symlink():
        return "a link to a file outside the folder given; name the file itself"
    return f"{unknown(path)}; read are: {', '.join(sorted(SUFFIXES))}"


def remove(
    context: typer.Context,
    doc: Annotated[str, typer.Argument(metavar="DOC", help="A document's id, or the path it was added from.")],
    json: JsonOption = False,
) -> None:
    """Take a document out of the library, all its versions."""
    from responsa.corpus import answers, library
    from responsa.engine import prepare
    from responsa.recipe import WORDS, load

    removed = library.remove(context.obj, doc, prepare(load(WORDS)))
    with library.Library.open(context.obj) as opened:
        citing = {document_id: answers.citing(opened.db, document_id) for document_id in removed}
    if json:
        print_json({"removed": list(removed)})
    else:
        say(f"removed: {', '.join(removed)}")
    for document_id, count in citing.items():
        if count:
            verb = "cites" if count == 1 else "cite"
            note(f"{plural(count, 'saved answer')} {verb} {document_id}; responsa answers lists them")


def documents(context: typer.Context, json: JsonOption = False) -> None:
    """List the documents: versions, dates in force, number of passages, and whether they are indexed."""
    from responsa import views
    from responsa.corpus.library import Library
    from responsa.recipe import load

    with Library.open(context.obj) as library:
        states = library.documents()
        retrieve = load().retrieve
        indexed = retrieve.ready(library.corpus())
    if json:
        print_json({"documents": [views.document(state, indexed and state.current) for state in states]})
        return
    listing = table(
        "document", "title", "valid from", "valid to", "passages", "state", "version",
        right=("passages",), whole=("document", "valid from", "valid to", "passages", "version"),
    )  # fmt: skip
    for state in states:
        version = state.version
        condition = "current" if state.current else "earlier" if state.live else "replaced"
        add_row(
            listing, version.document_id, version.title, str(version.valid_from or ""), str(version.valid_to or ""),
            f"{state.passages:,}", condition + (", indexed" if state.current and indexed else ""), version.digest[:12],
        )  # fmt: skip
    print_table(listing)


def show(
    context: typer.Context,
    doc: Annotated[str, typer.Argument(metavar="DOC", help="A document's id.")],
    as_of: AsOfOption = None,
    digest: VersionOption = None,
    json: JsonOption = False,
) -> None:
    """Print a document in reading order, indented as its clauses are nested."""
    from responsa import views
    from responsa.corpus.library import Library
    from responsa.errors import NotFound, suggestion

    with Library.open(context.obj) as library:
        corpus = _opened(library, as_of, digest)
        doc = library.document_id(doc)
        version = corpus.version(doc)
        if version is None:
            known = [each.document_id for each in corpus.versions]
            raise NotFound(f"no document {doc!r}{_where(as_of, digest)}{suggestion(doc, known)}")
        passages = list(corpus.passages(version))
    note_gap(corpus, version, parse_date(as_of))
    if json:
        print_json({"version": views.version(version), "passages": [views.passage(passage) for passage in passages]})
        return
    say(f"{version.title or doc} [{doc}, version {version.digest[:12]}, {in_force(version)}]")
    depth: dict[str, int] = {}
    for passage in passages:
        depth[passage.id] = depth.get(passage.parent_id or "", -1) + 1
        text = " ".join(part for part in (passage.number, passage.title, passage.text.strip()) if part)
        indent = "  " * depth[passage.id]
        say("\n".join(indent + line for line in text.splitlines() or [""]))


def passage(
    context: typer.Context,
    passage_id: Annotated[str, typer.Argument(metavar="ID", help="A passage id, as search prints it.")],
    as_of: AsOfOption = None,
    digest: VersionOption = None,
    json: JsonOption = False,
) -> None:
    """Print one passage with its place in the document."""
    from responsa import views
    from responsa.corpus.library import Library
    from responsa.errors import NotFound

    with Library.open(context.obj) as library:
        corpus = _opened(library, as_of, digest)
        try:
            found = corpus[passage_id]
        except KeyError:
            near = " or ".join(map(repr, close_ids(corpus, passage_id)))
            hint = f"did you mean {near}?" if near else "responsa search finds passages by their words"
            raise NotFound(f"no passage {passage_id!r}{_where(as_of, digest)}; {hint}") from None
        version = corpus.version(found.document_id)
    assert version is not None  # the passage was found in it
    note_gap(corpus, version, parse_date(as_of))
    if json:
        print_json(views.passage(found) | {"version": views.version(version)})
        return
    say(f"{found.id}  [{version.title or found.document_id}, {found.number}]")
    say(f"version {version.digest[:12]}, {in_force(version)}")
    if found.page is not None:
        say(", ".join([f"page {found.page}", *found.flags]))
    if found.path:
        say(" > ".join(found.path))
    say()
    say(found.text)


def _opened(library: Library, as_of: str | None, digest: str | None) -> Corpus:
    if as_of is not None and digest is not None:
        raise typer.BadParameter("--as-of and --version each choose a version; give one of them")
    day = parse_date(as_of)
    return library.corpus(day) if digest is None else library.version(digest)


def _where(as_of: str | None, digest: str | None) -> str:
    return f" in version {digest}" if digest else f" in force on {as_of}" if as_of else ""


def verify(context: typer.Context, json: JsonOption = False) -> None:
    """Check the catalogue, every version's digest, the indexes, the sources and every saved citation.

    Exit status 1 where something does not hold. Sources that have changed or vanished are noted only.
    """
    from responsa import views
    from responsa.corpus.library import Library
    from responsa.corpus.verify import verify as check

    with Library.open(context.obj) as library:
        findings = list(check(library))
    failed = [finding for finding in findings if finding.state == "failed"]
    if json:
        print_json({"ok": not failed, "findings": [views.finding(finding) for finding in findings]})
    else:
        for finding in findings:
            if finding.state != "ok":
                say(f"{finding.state}: {finding.what} {finding.subject}: {finding.detail}")
        say(f"{len(findings):,} checked, {len(failed):,} failed")
    if failed:
        raise typer.Exit(1)


def answers(
    context: typer.Context,
    number: Annotated[int | None, typer.Argument(metavar="N", help="The number of an answer to print.")] = None,
    remove: Annotated[
        int | None, typer.Option("--remove", metavar="N", help="Remove the answer of this number.")
    ] = None,
    stale: Annotated[
        bool, typer.Option("--stale", help="List only answers that cite a provision which has changed or gone since.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """List the saved answers and whether their citations still hold; print one, or remove one.

    An answer is stale where the law in force, now or on the day that it was asked for, words a provision that it
    cites differently or has lost it. --stale lists those too whose provision is no longer in the library: broken.
    """
    from responsa import views
    from responsa.corpus import answers as kept
    from responsa.corpus.library import Library, writer
    from responsa.errors import NotFound

    if (number is not None) + (remove is not None) + stale > 1:
        raise typer.BadParameter("give the number of an answer to print, or --remove N, or --stale")
    with Library.open(context.obj) as library:
        found = kept.saved(library.db)
        checks = list(kept.check(library.db))
    if remove is not None:
        with writer(context.obj) as db:
            kept.remove(db, remove)
        if json:
            print_json({"removed": remove})
        else:
            say(f"removed: answer {remove}")
        return
    items = [views.saved(each, [check for check in checks if check.answer == each.number]) for each in found]
    if number is None:
        broken = {check.answer for check in checks if check.state == "broken"}
        items = [item for item in items if not stale or item["stale"] or item["number"] in broken]
        if json:
            print_json({"answers": [*items]})
        else:
            _print_answers(items)
        return
    chosen = [item for item in items if item["number"] == number]
    if not chosen:
        known = ", ".join(str(each.number) for each in found) or "none"
        raise NotFound(f"no saved answer {number}; saved are: {known}")
    if json:
        print_json(chosen[0])
    else:
        _print_saved(found[items.index(chosen[0])], checks)


def _print_answers(items: list[dict[str, Json]]) -> None:
    states = ("holds", "superseded", "broken")
    listing = table("answer", "asked", "question", *states, right=("answer", *states), whole=("answer", "asked"))
    for item in items:
        counts = item["citations"]
        assert isinstance(counts, dict)
        cells = [str(item["number"]), str(item["asked_at"])[:10], str(item["question"])]
        add_row(listing, *cells, *(str(counts[state]) for state in states))
    print_table(listing)


def _print_saved(value: SavedAnswer, checks: list[CitationCheck]) -> None:
    from responsa.corpus.wording import excerpt

    say(f"Answer {value.number}, {value.asked_at}{f', as of {value.as_of}' if value.as_of else ''}, by {value.recipe}")
    say(value.question)
    say()
    say(value.text)
    say()
    for check in checks:
        if check.answer == value.number:
            say(f"{check.state}: {check.document_id}, {check.number or check.passage_id}  {check.reason}".rstrip())
            if check.words:
                show_words(excerpt(check.words))
