"""``experiment run`` for recipes that write answers: their options, what is read, what is printed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from responsa.checkers import EMBEDDED, RULES
from responsa.cli.output import add_row, note, print_table, say, table
from responsa.cli.planned import COUNTS, price
from responsa.errors import InputError

if TYPE_CHECKING:
    from responsa.corpus.library import Library
    from responsa.corpus.view import Corpus
    from responsa.experiment.answer_data import Asked
    from responsa.experiment.answer_scores import Scorer
    from responsa.experiment.answer_table import AnswerTable, Scores
    from responsa.experiment.answers import Answering
    from responsa.models.chat.dryrun import Planned

Progress = Callable[[int, int, str], None]

ModelsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="A language model that writes answers, in place of the recipes'; may be repeated.",
    ),
]
ScoreOption = Annotated[
    str, typer.Option("--score", metavar="NAME", help="How answers of recipes are scored: repass or ratings.")
]
ReferencesOption = Annotated[
    list[Path] | None,
    typer.Option("--references", metavar="FILE", help="Official answers, for ratings; the EBA's Q&A holds its own."),
]
JudgeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        metavar="MODEL",
        help="A language model that rates answers; else RESPONSA_CHAT_MODEL. May be repeated.",
    ),
]
TopicOption = Annotated[
    str, typer.Option("--topic", metavar="NAME", help="Only questions on this topic of the archive; else the table's.")
]
ProtocolOption = Annotated[
    str, typer.Option("--protocol", metavar="NAME", help="Of RePASs: reference, paper or strict; else the table's.")
]
CoverageOption = Annotated[
    str, typer.Option("--coverage", metavar="MODEL", help="A model of entailment for coverage; else that of --nli.")
]
ThreadsOption = Annotated[
    int, typer.Option("--threads", min=1, help="Questions that a language model is asked at a time.")
]
RetryOption = Annotated[bool, typer.Option("--retry", help="Ask the questions again that failed.")]


@dataclass(frozen=True)
class Options:
    """What the command was given for answers."""

    out: Path
    questions: Sequence[Path]
    references: Sequence[Path] = ()
    models: Sequence[str] = ()
    ks: Sequence[int] = ()
    judges: Sequence[str] = ()
    topic: str = ""
    protocol: str = ""
    nli: str = EMBEDDED
    coverage: str = ""
    obligations: str = RULES
    threads: int = 8
    fresh: bool = False
    retry: bool = False
    seed: int = 0


def chosen(score: str) -> Scores | None:
    """How answers are scored; None where it is not told. InputError for anything unknown."""
    if score not in ("", "repass", "ratings"):
        raise InputError(f"--score: expected repass or ratings, got {score!r}")
    return cast("Scores", score) if score else None


def run(
    tables: Sequence[AnswerTable], options: Options, library: Library, corpus: Corpus, bar: Progress
) -> list[dict[str, Any]]:
    """The results of tables of answers."""
    from responsa.experiment import answer_run

    return [
        answer_run.run(each, answering, scorer, options.seed, note)
        for each, answering, scorer in _prepared(tables, options, library, corpus, bar)
    ]


def dry_run(
    tables: Sequence[AnswerTable], options: Options, library: Library, corpus: Corpus, bar: Progress
) -> list[dict[str, Any]]:
    """What each system of the tables would send."""
    from responsa.experiment import answer_run

    return [
        as_plan(each.name, answer_run.plans(each, answering, scorer))
        for each, answering, scorer in _prepared(tables, options, library, corpus, bar)
    ]


def as_plan(table: str, plans: Sequence[tuple[str, str, Sequence[Planned]]]) -> dict[str, Any]:
    """What each row of a table would send, as ``--json`` gives it and `print_plan` prints it."""
    rows = [
        {"label": label, "reason": reason, "planned": [asdict(row) for row in planned]}
        for label, reason, planned in plans
    ]
    return {"name": table, "rows": rows}


def _prepared(
    tables: Sequence[AnswerTable], options: Options, library: Library, corpus: Corpus, bar: Progress
) -> list[tuple[AnswerTable, Answering, Scorer]]:
    from responsa.experiment import answer_table
    from responsa.experiment.answers import Answering
    from responsa.models.chat.dryrun import Foreseen

    foreseen = Foreseen()
    asked: dict[object, Asked] = {}
    made = []
    for each in tables:
        crossed = answer_table.crossed(each, options.models, options.ks)
        scorer = _scorer(each, options, bar)
        data = _asked(each, options, asked)
        answering = Answering(
            options.out / "journals",
            library,
            corpus,
            data,
            options.threads,
            options.fresh,
            options.retry,
            bar,
            foreseen=foreseen,
        )
        made.append((crossed, answering, scorer))
    return made


def _asked(each: AnswerTable, options: Options, known: dict[object, Asked]) -> Asked:
    from responsa.experiment import answer_data
    from responsa.experiment.answer_table import at_hand

    files = [*options.questions] or [at_hand(name) for name in each.questions]
    if not files:
        raise InputError(f"{each.name}: no questions; name their file with --questions FILE")
    place = (*files, options.topic or each.topic, each.scores)
    if place not in known:
        topic = options.topic or each.topic
        known[place] = answer_data.read(files, options.references, topic, each.scores == "ratings", note)
    return known[place]


def _scorer(each: AnswerTable, options: Options, bar: Progress) -> Scorer:
    """What scores; with a reason where that is not on this machine."""
    from responsa.cli import checking
    from responsa.entailment import protocol
    from responsa.errors import MissingDependency, ModelError, NotFound
    from responsa.evaluate.ratings import check_libraries
    from responsa.experiment.answer_scores import Scorer

    check_libraries()
    if each.scores == "ratings":
        return _raters(options, bar)
    chosen = protocol(options.protocol or each.protocol)
    try:
        models = checking.scoring_models(
            options.nli, options.coverage or options.nli, options.obligations, chosen.one_string, True
        )
    except (MissingDependency, ModelError, NotFound) as error:
        return Scorer(reason=str(error), protocol=chosen)
    return Scorer((), models, chosen, "", options.fresh, options.retry, options.threads, bar)


def _raters(options: Options, bar: Progress) -> Scorer:
    from responsa.evaluate.judge import Judge
    from responsa.evaluate.judge_files import default_examples
    from responsa.experiment.answer_scores import Scorer
    from responsa.experiment.needs import Need, missing
    from responsa.models.chat.load import VARIABLE, load_chat

    names = options.judges or [""]
    reason = "; also: ".join(filter(None, (missing(Need("Judge", "chat", name)) for name in names)))
    if reason and not options.judges and not os.environ.get(VARIABLE):
        reason = f"no language model rates the answers: name one with --judge, or set {VARIABLE}"
    if reason:
        return Scorer(reason=reason)
    judges = tuple(Judge(load_chat(name), default_examples()) for name in names)
    if len({judge.name for judge in judges}) < len(judges):
        raise InputError("a judge is named twice; name each once")
    return Scorer(judges, None, None, "", options.fresh, options.retry, options.threads, bar)


def print_plan(planned: Sequence[dict[str, Any]]) -> None:
    """Calls, tokens and cost of each system, and of all."""
    keys = ("calls", "known", "failing", "tokens_in", "tokens_out")
    for each in planned:
        say(each["name"])
        listing = table("row", "purpose", *COUNTS, right=COUNTS)
        totals, dollars = dict.fromkeys(keys, 0), list[float]()
        for row in each["rows"]:
            if row["reason"]:
                add_row(listing, row["label"], "not run here", *[""] * len(COUNTS))
            for purpose in row["planned"]:
                add_row(
                    listing, row["label"], purpose["purpose"] or "-", *(f"{purpose[key]:,}" for key in keys),
                    price(purpose["cost"]),
                )  # fmt: skip
                for key in keys:
                    totals[key] += purpose[key]
                dollars += [purpose["cost"]] if purpose["cost"] is not None else []
        add_row(listing, "all", "", *(f"{totals[key]:,}" for key in keys), price(sum(dollars) if dollars else None))
        print_table(listing)
        for reason in dict.fromkeys(row["reason"] for row in each["rows"] if row["reason"]):
            say(f"- not run here: {reason}")


def print_results(results: dict[str, Any]) -> None:
    """The table of results, what must be read with it, and the cost."""
    from responsa.experiment import answer_report, report

    header, *lines = report.cells(results, "all")
    listing = table(*header, right=tuple(header[1:]))
    for line in lines:
        add_row(listing, *line)
    say(report.heading(results, "all"))
    print_table(listing)
    for remark in answer_report.remarks(results):
        say(f"- {remark}")
    spent = answer_report.costs(results)
    if spent:
        listing = table(*spent[0], right=tuple(spent[0][2:]))
        for line in spent[1:]:
            add_row(listing, *line)
        print_table(listing)
