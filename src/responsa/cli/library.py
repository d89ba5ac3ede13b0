"""Commands on the library: what is in it, from where, and whether it is whole."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from responsa.cli.output import (
    AsOfOption,
    JsonOption,
    note,
    parse_date,
    print_json,
    print_table,
    progress,
    say,
    table,
)


def add(
    context: typer.Context,
    sources: Annotated[
        list[Path] | None, typer.Argument(metavar="SOURCE...", help="Files, or folders of files.")
    ] = None,
    sample: Annotated[bool, typer.Option("--sample", help="Add the sample rulebook that ships with Responsa.")] = False,
    json: JsonOption = False,
) -> None:
    """Read rulebooks into the library; unchanged files cost nothing, changed ones become new versions.

    Reads structured JSON, JSONL passages, Markdown and plain text. Files that cannot be read are listed
    with the reason, the others go in, and the exit status is 1.
    """
    from responsa import views
    from responsa.corpus import library
    from responsa.engine import prepare
    from responsa.recipe import load
    from responsa.sample import rulebook

    with progress("Reading") as bar:
        report = library.add(
            context.obj,
            [*(sources or []), *([rulebook()] if sample else [])],
            prepare(load()),
            bar,
            lambda: note("Another process is adding to the library; waiting ..."),
        )
    if json:
        print_json(views.added(report))
    else:
        counts = {
            status: sum(file.status == status for file in report.files) for status in ("added", "changed", "unchanged")
        }
        passages = sum(file.passages for file in report.files)
        say(", ".join(f"{count} {status}" for status, count in counts.items()) + f"; {passages:,} passages read")
    for file in report.refused:
        note(f"refused: {file.path}: {file.reason}")
    for path in report.skipped:
        note(f"skipped: {path}: no reader for this kind of file")
    for path in report.missing:
        note(f"missing: {path}: its documents stay until you remove them: responsa remove '{path}'")
    if report.interrupted:
        note("interrupted: what was read until then is in the library; run the same command again to go on")
    if report.refused or report.interrupted:
        raise typer.Exit(1)


def remove(
    context: typer.Context,
    doc: Annotated[str, typer.Argument(metavar="DOC", help="A document's id, or the path it was added from.")],
    json: JsonOption = False,
) -> None:
    """Take a document out of the library, all its versions."""
    from responsa.corpus import library
    from responsa.engine import prepare
    from responsa.recipe import load

    removed = library.remove(context.obj, doc, prepare(load()))
    if json:
        print_json({"removed": list(removed)})
    else:
        say(f"removed: {', '.join(removed)}")


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
    listing = table("document", "title", "valid from", "valid to", "passages", "state", "version", right=("passages",))
    for state in states:
        version = state.version
        condition = "current" if state.current else "earlier" if state.live else "replaced"
        listing.add_row(
            version.document_id, version.title, str(version.valid_from or ""), str(version.valid_to or ""),
            f"{state.passages:,}", condition + (", indexed" if state.current and indexed else ""), version.digest[:12],
        )  # fmt: skip
    print_table(listing)


def show(
    context: typer.Context,
    doc: Annotated[str, typer.Argument(metavar="DOC", help="A document's id.")],
    as_of: AsOfOption = None,
    json: JsonOption = False,
) -> None:
    """Print a document in reading order, indented as its clauses are nested."""
    from responsa import views
    from responsa.corpus.library import Library
    from responsa.errors import NotFound, suggestion

    with Library.open(context.obj) as library:
        corpus = library.corpus(parse_date(as_of))
        version = corpus.version(doc)
        if version is None:
            known = [each.document_id for each in corpus.versions]
            raise NotFound(f"no document {doc!r} in force{f' on {as_of}' if as_of else ''}{suggestion(doc, known)}")
        passages = list(corpus.passages(version))
    if json:
        print_json({"version": views.version(version), "passages": [views.passage(passage) for passage in passages]})
        return
    say(f"{version.title or doc} [{doc}, version {version.digest[:12]}]")
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
    json: JsonOption = False,
) -> None:
    """Print one passage with its place in the document."""
    from responsa import views
    from responsa.corpus.library import Library
    from responsa.errors import NotFound

    with Library.open(context.obj) as library:
        corpus = library.corpus(parse_date(as_of))
        try:
            found = corpus[passage_id]
        except KeyError:
            raise NotFound(
                f"no passage {passage_id!r} in force{f' on {as_of}' if as_of else ''}; "
                "responsa search finds passages by their words"
            ) from None
        version = corpus.version(found.document_id)
    assert version is not None  # the passage was found in it
    if json:
        print_json(views.passage(found) | {"version": views.version(version)})
        return
    say(f"{found.id}  [{version.title or found.document_id}, {found.number}]  version {version.digest[:12]}")
    if found.path:
        say(" > ".join(found.path))
    say()
    say(found.text)


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
