"""Commands on what provisions say of one another: citations, defined terms, and what changed between versions."""

from __future__ import annotations

import re
import sys
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from responsa.cli.output import (
    AsOfOption,
    JsonOption,
    clean,
    in_force,
    note,
    note_gap,
    parse_date,
    plural,
    print_json,
    say,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from responsa.corpus.diff import Change, Difference
    from responsa.corpus.graph import CrossReference, Graph
    from responsa.corpus.library import Library
    from responsa.corpus.view import Corpus
    from responsa.corpus.wording import Piece
    from responsa.types import Version

_SIGNS = {"added": "+", "deleted": "-", "moved": ">", "amended": "~"}


def references(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="ID", help="A passage's or a document's id.")],
    as_of: AsOfOption = None,
    json: JsonOption = False,
) -> None:
    """Print what a provision and all below it cite, what cites them, and what could not be resolved.

    Of a document: how many citations it has, what they cite, and those that are not resolved, with the reasons.
    """
    from responsa.corpus.graph import graph
    from responsa.corpus.library import Library
    from responsa.errors import NotFound, suggestion

    with Library.open(context.obj) as library:
        corpus = library.corpus(parse_date(as_of))
        name = library.document_id(name)
        if name not in corpus and corpus.version(name) is None:
            known = [each.document_id for each in corpus.versions]
            near = close_ids(corpus, name)
            hint = (
                f"; did you mean {' or '.join(map(repr, near))}?"
                if near
                else suggestion(name, known)
                if " " not in name
                else "; responsa show DOC lists the ids of a document"
            )
            raise NotFound(f"no passage or document {name!r} in the library{f' on {as_of}' if as_of else ''}{hint}")
        found = graph(corpus)
        version = corpus.version(name) or corpus.version(corpus[name].document_id)
        if version is not None:
            note_gap(corpus, version, parse_date(as_of))
        if corpus.version(name) is not None:
            _of_document(name, found, corpus, json=json)
        else:
            _of_passage(name, found, corpus, json=json)


def close_ids(corpus: Corpus, name: str) -> list[str]:
    """Passage ids that are or end in ``name``, whatever its case, points and blanks; three at most."""
    wanted = _letters(name)
    ids = (each.id for version in corpus.versions for each in corpus.passages(version))
    return list(islice((each for each in ids if f"/{_letters(each)}".endswith(f"/{wanted}")), 3)) if wanted else []


def _letters(name: str) -> str:
    """Letters and digits with what joins the digits of numbers: 1.11 is not 11.1, and 4(1) not 41."""
    words = re.sub(r"\barticle\b", "art", name.casefold())
    return "/".join(re.findall(r"[^\W_]+", words))


def _of_passage(name: str, graph: Graph, corpus: Corpus, *, json: bool) -> None:
    from responsa import views
    from responsa.corpus.graph import below

    inside = below(corpus, name)
    cites = graph.cites(inside)
    cited_by = [each for each in graph.cited_by(inside) if each.source not in set(inside)]
    if json:
        print_json({
            "id": name,
            "cites": [views.reference(each, corpus) for each in cites if not each.reason],
            "cited_by": [views.reference(each, corpus) for each in cited_by],
            "unresolved": [views.reference(each, corpus) for each in cites if each.reason],
        })  # fmt: skip
        return
    resolved = [each for each in cites if not each.reason]
    say(f"{name} cites ({len(resolved):,}):")
    for each in resolved:
        say(f"  {_where(each, name)}{_quoted(each, corpus)} -> {', '.join(each.targets) or each.document}")
    say(f"cited by ({len(cited_by):,}):")
    for each in cited_by:
        meant = "" if each.targets == (name,) else f" -> {', '.join(each.targets)}"
        say(f"  {each.source}: {_quoted(each, corpus)}{meant}")
    _print_unresolved([each for each in cites if each.reason], corpus)


def _of_document(name: str, graph: Graph, corpus: Corpus, *, json: bool) -> None:
    from collections import Counter

    from responsa import views
    from responsa.corpus.graph import unresolved

    version = corpus.version(name)
    assert version is not None
    cites = graph.cites(passage.id for passage in corpus.passages(version))
    documents = Counter(each.document for each in cites if each.document)
    reasons = unresolved(cites)
    if json:
        print_json({
            "document": views.version(version),
            "citations": len(cites),
            "resolved": sum(documents.values()),
            "cites": dict(documents.most_common()),
            "reasons": dict(reasons),
            "unresolved": [views.reference(each, corpus) for each in cites if each.reason],
        })  # fmt: skip
        return
    say(f"{name}: {plural(len(cites), 'citation')}, {sum(documents.values()):,} resolved")
    for document, count in documents.most_common():
        say(f"  {count:,} to {document if document != name else 'itself'}")
    for reason, count in reasons:
        say(f"  {count:,} not resolved: {reason}")
    _print_unresolved([each for each in cites if each.reason], corpus)


def _print_unresolved(references: Sequence[CrossReference], corpus: Corpus) -> None:
    if references:
        say(f"not resolved ({len(references):,}):")
    for each in references:
        say(f"  {each.source}: {_quoted(each, corpus)}: {each.reason}")


def _where(reference: CrossReference, name: str) -> str:
    return "" if reference.source == name else f"{reference.source}: "


def _quoted(reference: CrossReference, corpus: Corpus) -> str:
    return f'"{" ".join(corpus[reference.source].text[reference.start : reference.end].split())}"'


def define(
    context: typer.Context,
    term: Annotated[str, typer.Argument(metavar="TERM", help="A term, in the singular or plural.")],
    as_of: AsOfOption = None,
    json: JsonOption = False,
) -> None:
    """Print what a term means in each document that defines it, and where. Exit status 1 where none does."""
    from responsa import views
    from responsa.corpus.definitions import close, definitions, look_up
    from responsa.corpus.library import Library
    from responsa.errors import InputError, NotFound

    if not term.strip():
        raise InputError(f"the term is {term!r}; give a word, for example: responsa define institution")
    with Library.open(context.obj) as library:
        corpus = library.corpus(parse_date(as_of))
        known = list(definitions(corpus))
        found = look_up(term, known)
        near = [] if found else close(term, known)
        if json:
            print_json({
                "term": term,
                "definitions": [views.definition(each, corpus) for each in found],
                "suggestions": [*near],
            })  # fmt: skip
        for each in [] if json else found:
            item = views.definition(each, corpus)
            scope = f", for {each.scope}" if each.scope else ""
            say(f"{' / '.join(each.names)}  [{each.document_id}, {item['number']}{scope}]")
            say(f"{item['id']}")
            say(f"{item['text']}\n")
    if not found:
        hint = f"; did you mean {', '.join(repr(each) for each in near)}?" if near else ""
        raise NotFound(f"no document in the library defines {term!r}{hint}")


def diff(
    context: typer.Context,
    doc: Annotated[str, typer.Argument(metavar="DOC", help="A document's id or short name.")],
    old: Annotated[str, typer.Argument(metavar="OLD", help="A date (YYYY-MM-DD) or the start of a version's digest.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The same, of the version to compare with it.")],
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write the changes as a page that needs no other file."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Compare two versions of a document: clauses added, deleted, moved, and amended with the words marked."""
    from responsa import views
    from responsa.corpus.diff import diff as compare
    from responsa.corpus.library import Library

    with Library.open(context.obj) as library:
        doc = library.document_id(doc)
        found = compare(library, doc, _version(library, doc, old), _version(library, doc, new))
    if html is not None:
        from responsa.render.differences import page
        from responsa.storage import write_text

        write_text(page(found), html)
        note(f"compared in {html}")
    if json:
        print_json(views.difference(found))
        return
    say(f"{doc}: {_named(found.old)} -> {_named(found.new)}")
    if not found.same_format:
        note(
            f"read from different kinds of file ({' and '.join(found.formats)}): letters and digits alone are compared,"
            f" and clauses may be divided in different ways"
            + (f"; left out: {', '.join(found.left_out)}" if found.left_out else "")
        )
    elif found.left_out:
        note(f"left out, because one of the versions has none: {', '.join(found.left_out)}")
    if found.old.digest == found.new.digest:
        note(f"{old} and {new} are the same version; responsa documents lists the versions")
    for change in [] if html else found.changes:
        _print_change(change)
    say(_summary(found))


def _version(library: Library, doc: str, text: str) -> Version:
    """The version of a document in force on a date, or of a digest."""
    from responsa.errors import InputError, NotFound, suggestion

    try:
        day = parse_date(text)
    except InputError:
        day = None
    corpus = library.corpus(day) if day else library.version(text)
    found = corpus.version(doc)
    if found is None:
        states = [each.version for each in library.documents()]
        mine = [each for each in states if each.document_id == doc]
        if not mine:
            raise NotFound(f"no document {doc!r}{suggestion(doc, {each.document_id for each in states})}")
        listed = ", ".join(f"{each.digest[:12]} from {each.valid_from or 'the beginning'}" for each in mine)
        raise NotFound(f"no version {text!r} of {doc!r}; there are: {listed}")
    return found


def _named(version: Version) -> str:
    return f"{version.digest[:12]} ({in_force(version)})"


def _summary(found: Difference) -> str:
    counts = ", ".join(f"{count:,} {what}" for what, count in found.counts.items())
    return f"{counts}; in {plural(len(found.articles), 'provision')}"


def _print_change(change: Change) -> None:
    from responsa.corpus.wording import Piece, excerpt

    passage = change.passage
    moved = f" (was {change.old.id})" if change.what == "moved" and change.old else ""
    say(f"{_SIGNS[change.what]} {change.what}: {passage.id}{moved}")
    if change.what == "moved":
        return
    text = "\n".join(filter(None, (passage.title, passage.text.strip())))
    show(excerpt(change.pieces) or [Piece("added" if change.what == "added" else "deleted", text)])


def show(pieces: Sequence[Piece]) -> None:
    """Words on one line: {+added+} and [-deleted-], in colour too on a terminal."""
    marks = {"added": ("{+", "+}", "green"), "deleted": ("[-", "-]", "red"), "same": ("", "", "")}
    if not sys.stdout.isatty():
        say("    " + "".join(_marked(piece, *marks[piece.op][:2]) for piece in pieces))
        return
    from rich.console import Console
    from rich.text import Text

    line = Text("    ")
    for piece in pieces:
        opens, closes, colour = marks[piece.op]
        line.append(clean(_marked(piece, opens, closes)), style=colour or None)
    Console(highlight=False).print(line)


def _marked(piece: Piece, opens: str, closes: str) -> str:
    text = " ".join(piece.text.split())
    lead = " " if piece.text[:1].isspace() else ""
    trail = " " if piece.text[-1:].isspace() else ""
    return f"{lead}{opens}{text}{closes}{trail}"
