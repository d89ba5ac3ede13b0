"""Commands that find and answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from responsa.cli.output import (
    AsOfOption,
    JsonOption,
    RecipeOption,
    note,
    parse_date,
    print_json,
    progress,
    say,
)

if TYPE_CHECKING:
    from responsa.corpus.view import Corpus
    from responsa.types import Answer, Passage

Text = Annotated[str, typer.Argument(metavar="TEXT", help="The question.")]
Background = Annotated[str, typer.Option("--background", metavar="TEXT", help="What is known about the case.")]
Questions = Annotated[
    Path, typer.Argument(metavar="QUESTIONS", help="ObliQA JSON, JSONL with id and question, or TSV.")
]
Out = Annotated[Path, typer.Option("--out", metavar="FILE", help="The file to write.")]


def search(
    context: typer.Context,
    text: Text,
    k: Annotated[int, typer.Option("-k", min=1, help="How many passages.")] = 10,
    recipe: RecipeOption = "bm25",
    as_of: AsOfOption = None,
    json: JsonOption = False,
) -> None:
    """Find the passages that bear on a question, best first."""
    from responsa import questions, views
    from responsa import recipe as recipes
    from responsa.corpus.library import Library
    from responsa.engine import Engine
    from responsa.types import Query

    query = Query("q", questions.check(text))
    with Library.open(context.obj) as library:
        date = parse_date(as_of)
        ranking = Engine(library, recipes.load(recipe)).search([query], k, date)[0]
        corpus = library.corpus(date)
        if json:
            print_json(views.search(ranking, corpus))
            return
        for rank, hit in enumerate(ranking.hits, 1):
            _print_hit(rank, hit.score, corpus[hit.passage_id], corpus)
    if not ranking.hits:
        say("Nothing found: no passage shares a word with the question.")
    _note_gaps(corpus)


def ask(
    context: typer.Context,
    text: Text,
    background: Background = "",
    recipe: RecipeOption = "bm25",
    as_of: AsOfOption = None,
    save: Annotated[
        bool, typer.Option("--save", help="Keep the answer with its citations; verify re-reads them.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Answer a question from the library, every sentence cited; say so where the library does not answer it."""
    from responsa import questions, views
    from responsa import recipe as recipes
    from responsa.corpus import answers
    from responsa.corpus.library import Library, writer
    from responsa.engine import Engine
    from responsa.types import Query

    query = Query("q", questions.check(text), questions.check(background, "the background") if background else "")
    with Library.open(context.obj) as library:
        date = parse_date(as_of)
        chosen = recipes.load(recipe)
        answer = next(Engine(library, chosen).ask([query], date))
        corpus = library.corpus(date)
        if json:
            print_json(views.answer(answer, corpus))
        else:
            _print_answer(answer, corpus)
    _note_gaps(corpus)
    if save:
        with writer(context.obj) as db:
            number = answers.save(db, answer, chosen.name, date)
        note(f"saved as answer {number}; responsa verify tells when a clause it cites has changed")


def run(
    context: typer.Context,
    questions: Questions,
    out: Out,
    recipe: RecipeOption = "bm25",
    k: Annotated[int, typer.Option("-k", min=1, help="How many passages for each question.")] = 100,
    as_of: AsOfOption = None,
) -> None:
    """Search for every question of a file and write the rankings as a TREC run."""
    from responsa import questions as files
    from responsa import recipe as recipes
    from responsa.corpus.library import Library
    from responsa.engine import Engine
    from responsa.evaluate.trec import write_run
    from responsa.storage import check_target

    check_target(out)
    queries = files.read(questions)
    with Library.open(context.obj) as library, progress("Searching") as bar:
        made = Engine(library, recipes.load(recipe)).run(
            queries, k, parse_date(as_of), lambda done, total: bar(done, total, "")
        )
    write_run(made, out)
    empty = sum(not ranking.hits for ranking in made.rankings.values())
    note(f"{len(made.rankings):,} questions, {empty:,} without a hit, written to {out}")


def answer(
    context: typer.Context,
    questions: Questions,
    out: Out,
    recipe: RecipeOption = "bm25",
    as_of: AsOfOption = None,
) -> None:
    """Answer every question of a file and write the answers in the RIRAG submission format.

    Questions that the library does not answer have an empty answer.
    """
    from responsa import questions as files
    from responsa import recipe as recipes
    from responsa import views
    from responsa.corpus.library import Library
    from responsa.engine import Engine
    from responsa.storage import check_target, write_json

    check_target(out)
    queries = files.read(questions)
    date = parse_date(as_of)
    items: list[views.Json] = []
    abstained = 0
    with Library.open(context.obj) as library, progress("Answering") as bar:
        corpus = library.corpus(date)
        for made in Engine(library, recipes.load(recipe)).ask(queries, date):
            items.append(views.submission(made, corpus))
            abstained += made.abstained
            bar(len(items), len(queries), "")
    write_json(items, out)
    note(f"{len(items):,} questions, {abstained:,} not answered, written to {out}")


def _print_hit(rank: int, score: float, passage: Passage, corpus: Corpus) -> None:
    from responsa.answer.extractive import cite
    from responsa.text import normalise

    version = corpus.version(passage.document_id)
    say(f"{rank:>3}. {cite(passage, version.title if version else '')}  {score:.2f}  {passage.id}")
    text = normalise(passage.text)
    say("     " + (text if len(text) <= 300 else text[:299] + "…"))


def _print_answer(answer: Answer, corpus: Corpus) -> None:
    say(answer.text)
    if answer.abstained:
        say()
        for rank, hit in enumerate(answer.ranking.hits, 1):
            _print_hit(rank, hit.score, corpus[hit.passage_id], corpus)
        return
    say()
    say("Sources (passage, characters, version):")
    for sentence in answer.sentences:
        for citation in sentence.citations:
            say(f"  {citation.passage_id} {citation.start}-{citation.end} {citation.version[:12]}  {sentence.label}")
    say(f"Confidence that the library answers this: {answer.confidence:.2f}. A draft: check the rules cited.")


def _note_gaps(corpus: Corpus) -> None:
    if corpus.approximate:
        note(
            "approximate: at that date the library has no version in force of: "
            f"{', '.join(corpus.approximate)}; the last one before it was read"
        )
