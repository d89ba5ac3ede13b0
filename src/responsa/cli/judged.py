"""``score judged``: answers rated by language models, what to think of the judges, and their agreement with people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from responsa.cli.output import JsonOption, note, plural, print_json, progress, say
from responsa.cli.planned import DryRunOption, print_planned
from responsa.errors import InputError, MissingDependency, ModelError

if TYPE_CHECKING:
    from responsa.evaluate.judge import Judge, Rating
    from responsa.evaluate.judge_bias import Pair, Positions, Probed
    from responsa.evaluate.judge_files import Submission
    from responsa.evaluate.judge_report import People, Report, Unanswered
    from responsa.models.chat.dryrun import DryRun

Progress = Callable[[int, int, str], None]
_LABELS = "labels"  # the rater of the calibration set

JudgeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--judge", metavar="MODEL", help="A language model; several rate side by side. Else RESPONSA_CHAT_MODEL."
    ),
]
ReferencesOption = Annotated[
    Path | None, typer.Option("--references", metavar="FILE", help="Official answers: JSONL, JSON, or EBA Q&A JSONL.")
]
CalibrationOption = Annotated[
    bool, typer.Option("--calibration", help="Rate the 60 answers that ship, and compare with their ratings.")
]
ExamplesOption = Annotated[
    str, typer.Option("--examples", metavar="FILE|none", help="Rated examples for the judge; else the eight that ship.")
]
RatingsOption = Annotated[
    Path | None, typer.Option("--ratings", metavar="CSV", help="People's ratings: id, rating, rater, approach.")
]
TemperatureOption = Annotated[
    float, typer.Option("--temperature", max=2.0, help="Of the judge; below 0 it is left to the model.")
]


AnswersArgument = Annotated[
    list[Path] | None, typer.Argument(metavar="[ANSWERS...]", help="Answers in the RIRAG submission format.")
]
RepeatOption = Annotated[int, typer.Option("--repeat", min=1, help="Rate each answer so many times.")]
BiasOption = Annotated[int, typer.Option("--bias", min=0, metavar="N", help="Probe the judges for bias on N answers.")]
UnansweredOption = Annotated[
    str, typer.Option("--unanswered", metavar="lowest|skip", help="What becomes of questions without an answer.")
]
OutOption = Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write all results as JSON.")]
PlotOption = Annotated[Path | None, typer.Option("--plot", metavar="FILE", help="Draw the ratings (.svg).")]
SeedOption = Annotated[int, typer.Option("--seed", help="Of the bootstrap and the paired test.")]


def judged(
    answers: AnswersArgument = None,
    references: ReferencesOption = None,
    judge: JudgeOption = None,
    examples: ExamplesOption = "",
    ratings: RatingsOption = None,
    calibration: CalibrationOption = False,
    repeat: RepeatOption = 1,
    bias: BiasOption = 0,
    unanswered: UnansweredOption = "lowest",
    temperature: TemperatureOption = 0.0,
    dry_run: DryRunOption = False,
    out: OutOption = None,
    plot: PlotOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Rate answers from 1 to 4 against official answers, with one language model or several.

    Each file is an approach; several are compared with the first. What was asked is kept in the cache, so that work
    that was stopped goes on where it was. An answer without a readable rating is unscored and listed.
    """
    from responsa.cli import judged_output as output
    from responsa.evaluate.judge_report import report

    _check(unanswered, (out, plot), (*(answers or ()), references, ratings))
    work = _work(_inputs(answers or [], references, calibration), ratings, calibration)
    judges = _judges(judge or [""], examples, temperature)
    if dry_run:
        _print_plan(_planned(judges, work, repeat, bias), json)
        return
    with progress("Judging") as bar:
        rated = [rating for each in judges for rating in _rated(each, work, repeat, bar)]
        if rated and all(rating.value is None for rating in rated):
            raise ModelError(f"no answer could be rated: {rated[0].error}")
        probed = _probed(judges, work, rated, bias, bar)
    made = report(work.submissions, rated, work.people, probed, cast("Unanswered", unanswered), seed)
    found = output.results(made, {each.name: each.stamp for each in judges}, repeat)
    _write(made, found, out, plot)
    if json:
        print_json(found)
    else:
        output.show(made)
    for line in output.remarks(made, unanswered):
        note(line)


def _check(unanswered: str, targets: tuple[Path | None, Path | None], inputs: Sequence[Path | None]) -> None:
    """What can be wrong is said before anything is asked and paid for."""
    from responsa.evaluate.ratings import check_libraries
    from responsa.storage import check_targets

    if unanswered not in ("lowest", "skip"):
        raise InputError(f"--unanswered: expected lowest or skip, got {unanswered!r}")
    check_targets(targets, inputs)
    check_libraries()
    if targets[1] and find_spec("matplotlib") is None:
        raise MissingDependency("drawing plots", "plots")


def _write(made: Report, found: dict[str, Any], out: Path | None, plot: Path | None) -> None:
    from responsa.storage import write_json, write_text

    if out:
        write_json(found, out)
    if plot:
        write_text(_plot(made), plot)


@dataclass(frozen=True)
class _Work:
    """What is rated, and what people said of it."""

    submissions: tuple[Submission, ...]
    people: People


def _inputs(answers: Sequence[Path], references: Path | None, calibration: bool) -> tuple[Submission, ...]:
    from responsa.evaluate.judge_files import Submission, read_references, read_submission
    from responsa.evaluate.judge_files import calibration as shipped

    if calibration:
        if answers or references:
            raise InputError("--calibration rates the answers that ship; leave out ANSWERS and --references")
        return (Submission("", tuple(each.case for each in shipped()), {}, ()),)
    if not answers or references is None:
        raise InputError("give the files of answers and --references FILE with the official ones, or --calibration")
    names = _names(answers)
    told = read_references(references)
    return tuple(read_submission(path, told, name) for path, name in zip(answers, names, strict=True))


def _names(files: Sequence[Path]) -> list[str]:
    """The approaches: the files' names without ending, or the paths where two are the same."""
    stems = [path.stem for path in files]
    names = stems if len(set(stems)) == len(stems) else [str(path) for path in files]
    if len(set(names)) < len(names):
        raise InputError("a file of answers is given twice; give each once")
    return names


def _work(submissions: tuple[Submission, ...], ratings: Path | None, calibration: bool) -> _Work:
    from responsa.evaluate.judge_files import calibration as shipped
    from responsa.evaluate.judge_report import people_of
    from responsa.evaluate.ratings import read_ratings

    people: dict[str, Any] = {_LABELS: {each.case.key: each.rating for each in shipped()}} if calibration else {}
    if ratings:
        names = [each.approach for each in submissions]
        people |= people_of(read_ratings(ratings, note), names, ratings)
        known = {case.key for each in submissions for case in each.cases}
        strange = [key for given in people.values() for key in given if key not in known]
        if strange and len(strange) == sum(map(len, people.values())):
            raise InputError(f"{ratings}: no id is that of an answer that is judged, such as {strange[0][1]!r}")
        blank = {(each.approach, name) for each in submissions for name in each.unanswered}
        _tell(ratings, [key[1] for key in strange if key in blank], "a question without an answer, which no judge sees")
        _tell(ratings, [key[1] for key in strange if key not in blank], "no answer that is judged")
    return _Work(submissions, people)


def _tell(ratings: Path, names: Sequence[str], what: str) -> None:
    """Say of what the ids are that people rated and no judge rates."""
    count = len(set(names))
    if count:
        note(f"{ratings}: {plural(count, 'id')} {'is' if count == 1 else 'are'} of {what}, such as {names[0]!r}")


def _judges(names: Sequence[str], examples: str, temperature: float) -> list[Judge]:
    from responsa.evaluate.judge import Judge
    from responsa.evaluate.judge_files import default_examples, read_examples
    from responsa.models.chat import Settings
    from responsa.models.chat.load import load_chat

    shown = () if examples == "none" else read_examples(Path(examples)) if examples else default_examples()
    settings = Settings(temperature=temperature if temperature >= 0 else None)
    judges = [Judge(load_chat(name), shown, settings) for name in names]
    if len({each.name for each in judges}) < len(judges):
        raise InputError("a judge is named twice; to ask one several times use --repeat")
    return judges


def _rated(judge: Judge, work: _Work, repeat: int, bar: Progress) -> list[Rating]:
    cases = [case for each in work.submissions for case in each.cases]
    return judge.rate(cases, repeat, lambda done, total: bar(done, total, judge.name))


def _probed(
    judges: Sequence[Judge], work: _Work, rated: Sequence[Rating], most: int, bar: Progress
) -> tuple[list[Probed], list[Positions]]:
    """The probes of each judge on ``most`` answers, and which of two answers it prefers where there are two files."""
    from responsa.evaluate.judge_bias import PROBES, positions, probe
    from responsa.evaluate.judge_report import chosen

    cases = chosen([case for each in work.submissions for case in each.cases], most)
    pairs = _pairs(work, most)
    first = [each for each in rated if each.repetition == 0]
    probes, places = [], []
    for judge in judges:
        for kind in PROBES if cases else ():
            probes.append(probe(judge, cases, first, kind, _labelled(bar, f"{judge.name}: {kind}")))
        if pairs:
            places.append(positions(judge.model, pairs, judge.settings, _labelled(bar, f"{judge.name}: pairs")))
    return probes, places


def _labelled(bar: Progress, label: str) -> Callable[[int, int], None]:
    return lambda done, total: bar(done, total, label)


def _pairs(work: _Work, most: int) -> list[Pair]:
    """The answers of the first two files to the same questions."""
    from responsa.evaluate.judge_bias import Pair
    from responsa.evaluate.judge_report import chosen

    if len(work.submissions) < 2 or not most:
        return []
    others = {case.id: case for case in work.submissions[1].cases}
    both = [case for case in work.submissions[0].cases if case.id in others]
    return [
        Pair(case.id, case.question, case.reference, case.answer, others[case.id].answer) for case in chosen(both, most)
    ]


def _planned(judges: Sequence[Judge], work: _Work, repeat: int, bias: int) -> dict[str, DryRun]:
    """What each judge would be asked if every reply could be read at once, by its name."""
    from responsa.models.chat.dryrun import DryRun

    runs = {}
    for judge in judges:
        runs[judge.name] = run = DryRun(judge.model)
        dry = replace(judge, model=run)
        _probed([dry], work, _rated(dry, work, repeat, _quiet), bias, _quiet)
    return runs


def _quiet(done: int, total: int, label: str) -> None:
    """No progress: nothing is waited for."""


def _print_plan(planned: Mapping[str, DryRun], json: bool) -> None:
    if json:
        rows = [{"judge": name, **asdict(row)} for name, run in planned.items() for row in run.planned()]
        print_json(cast("Any", {"planned": rows}))
        return
    say("Nothing was asked. If every reply can be read at once:")
    for name, run in planned.items():
        say(name)
        print_planned(run)


def _plot(made: Report) -> str:
    """The confusion matrix of the first pair with people, else the counts of each approach."""
    from responsa.experiment import rating_plots

    if made.agreements:
        first = made.agreements[0]
        return rating_plots.confusion(first.agreement.confusion, second=first.second, first=first.first)
    counts = {each.name: each.summary.counts for each in made.approaches if each.summary}
    return rating_plots.counts(counts)
