"""Commands that find and answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from responsa.cli import checking, writing
from responsa.cli.output import (
    AsOfOption,
    JsonOption,
    RecipeOption,
    note,
    note_gap,
    parse_date,
    plural,
    print_json,
    progress,
    say,
)
from responsa.cli.planned import DryRunOption, print_planned
from responsa.cli.writing import ModelOption
from responsa.config import DEFAULT_RECIPE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

    from responsa.answer.ground import Checked, Place
    from responsa.corpus.library import Library
    from responsa.corpus.view import Corpus
    from responsa.recipe import Recipe
    from responsa.types import Answer, Call, Passage, Query
    from responsa.views import Json

Text = Annotated[str, typer.Argument(metavar="TEXT", help="The question.")]
Background = Annotated[str, typer.Option("--background", metavar="TEXT", help="What is known about the case.")]
Questions = Annotated[
    Path, typer.Argument(metavar="QUESTIONS", help="ObliQA JSON, JSONL with id and question, or TSV.")
]
Out = Annotated[Path, typer.Option("--out", metavar="FILE", help="The file to write.")]
Nli = Annotated[
    str, typer.Option("--nli", metavar="MODEL", help="The classifier of pairs that checks; else the recipe's.")
]
Obligations = Annotated[
    str, typer.Option("--obligations", metavar="MODEL", help="What tells obligations for it; else the recipe's.")
]
Check = Annotated[
    bool | None,
    typer.Option("--check/--no-check", help="Check the answer for support; done where a model ships or is named."),
]

IDLE = "there are not two passages to put in order"  # why a search has nothing to ask a language model


def search(
    context: typer.Context,
    text: Text,
    k: Annotated[int, typer.Option("-k", min=1, help="How many passages.")] = 10,
    recipe: RecipeOption = DEFAULT_RECIPE,
    as_of: AsOfOption = None,
    dry_run: DryRunOption = False,
    json: JsonOption = False,
) -> None:
    """Find the passages that bear on a question, best first."""
    from responsa import questions, views
    from responsa import recipe as recipes
    from responsa.corpus.library import Library
    from responsa.engine import Engine
    from responsa.types import Query

    query, day, chosen = Query("q", questions.check(text)), parse_date(as_of), recipes.load(recipe)
    if dry_run:
        chosen, planned = writing.planning_search(chosen)
    with Library.open(context.obj) as library:
        corpus = library.corpus(day)
        _index(chosen, corpus)
        made = Engine(library, chosen).run([query], k, corpus=corpus)
        ranking = made.rankings[query.id]
        if dry_run:
            print_planned(planned, IDLE)
            return
        if json:
            print_json(views.search(ranking, corpus))
            return
        passages = corpus.read(hit.passage_id for hit in ranking.hits)
        for rank, hit in enumerate(ranking.hits, 1):
            _print_hit(rank, hit.score, passages[hit.passage_id], corpus)
    _note_spent(made.calls)
    if not ranking.hits and corpus.versions:
        note(f"nothing found: no passage matches the question by the recipe {chosen.name!r}; try other words")
    _note_gaps(corpus, {passage.document_id for passage in passages.values()}, day)


def ask(
    context: typer.Context,
    text: Text,
    background: Background = "",
    recipe: RecipeOption = DEFAULT_RECIPE,
    as_of: AsOfOption = None,
    save: Annotated[
        bool, typer.Option("--save", help="Keep the answer with its citations; verify re-reads them.")
    ] = False,
    model: ModelOption = "",
    dry_run: DryRunOption = False,
    check: Check = None,
    nli: Nli = "",
    obligations: Obligations = "",
    cache: checking.CacheOption = True,
    json: JsonOption = False,
) -> None:
    """Answer a question from the library, every sentence cited; say so where the library does not answer it.

    With a language model, named by --model or RESPONSA_CHAT_MODEL, it writes the answer, and a sentence that what it
    cites does not support is withheld; without one the answer is in the rules' own sentences.
    A check tells how well what is cited supports each sentence, which passages contradict one, and which obligations of
    the passages cited are left out.
    """
    from responsa import questions, views
    from responsa.answer.verified import VerifiedAnswer
    from responsa.corpus import answers
    from responsa.corpus.library import Library, writer
    from responsa.engine import Engine
    from responsa.types import Query

    query = Query("q", questions.check(text), questions.check(background, "the background") if background else "")
    day, number, checked = parse_date(as_of), None, None
    chosen = writing.checked(writing.written(recipe, model, asked=True), nli, obligations, cache)
    checker = checking.wanted(chosen.check, nli, obligations, check)
    if dry_run:
        chosen, planned = writing.planning(chosen, cache)
    with Library.open(context.obj) as library:
        corpus = library.corpus(day)
        _index(chosen, corpus)
        answer = next(Engine(library, chosen).ask([query], corpus=corpus))
        if dry_run:
            print_planned(planned, "the library does not seem to answer this question")
            return
        if isinstance(answer, VerifiedAnswer) and not answer.fallback:
            checked = answer.checked
        elif checker and not answer.abstained:
            checked = checking.check(answer, corpus, checker, cache)
            answer = checked.answer
        if save:
            with writer(context.obj) as db:
                number = answers.save(db, answer, chosen.name, day)
        if json:
            print_json(views.answer(answer, corpus, number, checked))
        else:
            _print_answer(answer, corpus, checked, told=check is False)
            _note_gaps(corpus, _documents(answer, corpus), day)
    writing.note_unwritten(recipe, model)
    if number is not None:
        note(f"saved as answer {number}; responsa verify tells when a clause it cites has changed")


def run(
    context: typer.Context,
    questions: Questions,
    out: Out,
    recipe: RecipeOption = DEFAULT_RECIPE,
    k: Annotated[int, typer.Option("-k", min=1, help="How many passages for each question.")] = 100,
    dry_run: DryRunOption = False,
    as_of: AsOfOption = None,
) -> None:
    """Search for every question of a file and write the rankings as a TREC run."""
    from responsa import questions as files
    from responsa import recipe as recipes
    from responsa.corpus.library import Library
    from responsa.engine import Engine
    from responsa.evaluate.trec import write_run
    from responsa.storage import check_target

    check_target(out, _inputs(context.obj, questions, recipe))
    queries, day, chosen = files.read(questions), parse_date(as_of), recipes.load(recipe)
    if dry_run:
        chosen, planned = writing.planning_search(chosen)
    with Library.open(context.obj) as library:
        corpus = library.corpus(day)
        _index(chosen, corpus)
        with progress("Searching") as bar:
            engine = Engine(library, chosen)
            made = engine.run(queries, k, progress=lambda done, total: bar(done, total, ""), corpus=corpus)
        hits = {hit.passage_id for ranking in made.rankings.values() for hit in ranking.hits}
        read = {passage.document_id for passage in corpus.read(hits).values()} if corpus.approximate else ()
    if dry_run:
        print_planned(planned, IDLE)
        return
    write_run(made, out)
    empty = sum(not ranking.hits for ranking in made.rankings.values())
    note(f"{plural(len(made.rankings), 'question')}, {empty:,} without a hit, written to {out}")
    _note_spent(made.calls)
    _note_gaps(corpus, read, day)


def answer(
    context: typer.Context,
    questions: Questions,
    out: Out,
    recipe: RecipeOption = DEFAULT_RECIPE,
    model: ModelOption = "",
    threads: Annotated[int, typer.Option("--threads", min=1, help="Questions that a model is asked at a time.")] = 8,
    dry_run: DryRunOption = False,
    as_of: AsOfOption = None,
) -> None:
    """Answer every question of a file and write the answers in the RIRAG submission format.

    Questions that the library does not answer have an empty answer; so have those that failed, with the reason under
    Failed, and the exit status is 1. What a language model's answer says of itself stands under Notes, Withheld,
    NotFound and Conflicts. The same command again asks a language model only what it has not answered yet:
    its replies are kept on this machine.
    """
    from responsa import questions as files
    from responsa.corpus.library import Library
    from responsa.storage import check_target, write_json

    check_target(out, _inputs(context.obj, questions, recipe))
    queries, day, chosen = files.read(questions), parse_date(as_of), writing.written(recipe, model, asked=False)
    if dry_run:
        chosen, planned = writing.planning(chosen)
    with Library.open(context.obj) as library:
        corpus = library.corpus(day)
        _index(chosen, corpus)
        made = _answered(library, chosen, queries, corpus, threads)
    if dry_run:
        print_planned(planned, "the library does not seem to answer any of these questions")
        return
    write_json(made.items, out)
    failed = f", {len(made.failed):,} failed" if made.failed else ""
    note(f"{plural(len(made.items), 'question')}, {made.abstained:,} not answered{failed}, written to {out}")
    if made.withheld or made.noted:
        kept = f"{plural(made.withheld, 'sentence')} withheld, notes on {plural(made.noted, 'answer')}"
        note(f"{kept}: see Withheld and Notes in {out}")
    _note_spent(made.trace)
    _note_gaps(corpus, made.read, day)
    writing.note_unwritten(recipe, model)
    for query, reason in made.failed:
        note(f"{query}: {reason}")
    if made.failed:
        raise typer.Exit(1)


@dataclass
class _Made:
    """The answers of a file: what is written, and what is told of it."""

    items: list[Json] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)
    abstained: int = 0
    withheld: int = 0
    noted: int = 0
    trace: list[Call] = field(default_factory=list)
    read: set[str] = field(default_factory=set)


def _answered(library: Library, chosen: Recipe, queries: Sequence[Query], corpus: Corpus, threads: int) -> _Made:
    """The answers in the order asked. An answer that only stands in for a language model's counts as failed."""
    from responsa import views
    from responsa.answer.generators.base import Failed
    from responsa.answer.verified import VerifiedAnswer, of_model
    from responsa.engine import Engine

    made = _Made()
    with progress("Answering") as bar:
        for each in Engine(library, chosen).answers(queries, corpus=corpus, threads=threads):
            each = of_model(each)
            made.trace.extend(each.trace)
            if isinstance(each, Failed):
                made.items.append(views.failed(each))
                made.failed.append((each.query.id, each.reason))
            else:
                made.items.append(views.submission(each, corpus))
                made.abstained += each.abstained
                made.noted += bool(each.notes)
                made.withheld += len(each.withheld) if isinstance(each, VerifiedAnswer) else 0
                if not each.abstained and corpus.approximate:
                    made.read |= _documents(each, corpus)
            bar(len(made.items), len(queries), "")
    return made


def _index(chosen: Recipe, corpus: Corpus) -> None:
    """Encode what is not encoded yet: the first question after documents were added waits for it."""
    from responsa.engine import encoded, index, of_others

    if not encoded(chosen, corpus):
        if others := of_others(chosen, corpus):
            note(f"of another model or other settings, encoded anew: {plural(others, 'document')}")
        note(f"encoding the passages for the recipe {chosen.name!r}; that is done once ...")
        with progress("Encoding") as bar:
            index(chosen, corpus, bar)


def _note_spent(calls: Sequence[Call]) -> None:
    """Requests, tokens and cost of a language model, where one was asked."""
    from responsa.models.chat.calls import spent

    if calls:
        note(f"language model {calls[0].model}: {spent(calls)}")


def _print_hit(rank: int, score: float, passage: Passage, corpus: Corpus) -> None:
    from responsa.answer.extractive import cite
    from responsa.text import normalise

    version = corpus.version(passage.document_id)
    say(f"{rank:>3}. {cite(passage, version.title if version else '')}  {score:.2f}  {passage.id}")
    say("     " + _short(normalise(passage.text)))


def _print_answer(answer: Answer, corpus: Corpus, checked: Checked | None, *, told: bool) -> None:
    """``told``: whoever asks knows that the answer is not checked."""
    say(answer.text)
    if answer.abstained:
        say()
        for rank, hit in enumerate(answer.ranking.hits, 1):
            _print_hit(rank, hit.score, corpus[hit.passage_id], corpus)
        writing.print_written(answer)
        return
    say()
    say("Sources (passage, characters, version):")
    for sentence in answer.sentences:
        for citation in sentence.citations:
            support = f", grounding {sentence.grounding:.2f}" if checked and sentence.grounding is not None else ""
            place = f"{citation.passage_id} {citation.start}-{citation.end} {citation.version[:12]}"
            say(f"  {place}  {sentence.label}{support}")
    if checked:
        _print_check(checked)
    elif not told:
        say("Not checked for contradictions and obligations left out: that needs a model of entailment (--nli).")
    writing.print_written(answer)
    confidence = min(answer.confidence, 0.99)  # likeness never makes it certain
    say(f"Confidence that the library answers this: {confidence:.2f}")
    say("A draft: check the rules cited.")


def _print_check(checked: Checked) -> None:
    for found in checked.contradictions:
        said = checked.answer.sentences[found.sentence].text
        say(f"Warning: a passage may contradict (probability {found.probability:.2f})")
        say(f"  {_short(said)}")
        _print_place(found.source)
    left_out, total = len(checked.left_out), checked.obligations
    if not left_out:
        say(f"Obligations of the passages cited that the answer does not cover: none of {total:,}.")
        return
    say(f"Obligations of the passages cited that the answer does not cover ({left_out:,} of {total:,}):")
    for each in checked.left_out:
        _print_place(each.source)


def _print_place(place: Place) -> None:
    say(f"  {place.passage_id} {place.start}-{place.end} {place.version[:12]}  {_short(place.text)}")


def _short(text: str) -> str:
    return text if len(text) <= 300 else text[:299] + "…"


def _inputs(folder: Path, questions: Path, recipe: str) -> list[Path]:
    """The files that a batch command reads, none of which it may write to."""
    from responsa.corpus import catalogue

    return [questions, Path(recipe), folder / catalogue.FILE]


def _documents(answer: Answer, corpus: Corpus) -> set[str]:
    """The documents that an answer cites or, without a citation, lists."""
    cited = [citation.passage_id for sentence in answer.sentences for citation in sentence.citations]
    ids = cited or [hit.passage_id for hit in answer.ranking.hits]
    return {passage.document_id for passage in corpus.read(ids).values()}


def _note_gaps(corpus: Corpus, read: Iterable[str], day: date | None) -> None:
    """Say which of the documents read are not in force on the day, and where there is none at all."""
    if not corpus.versions:
        note(f"no document is in force on {day}" if day else "the library holds no document: add one with responsa add")
    for document_id in sorted(set(corpus.approximate).intersection(read)):
        version = corpus.version(document_id)
        if version:
            note_gap(corpus, version, day)
