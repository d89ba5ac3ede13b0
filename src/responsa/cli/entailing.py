"""Commands that ask models of entailment and obligations, and score answers by them."""

from __future__ import annotations

import json as jsons
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from responsa.checkers import EMBEDDED, RULES
from responsa.cli import checking, explaining
from responsa.cli import companions as beside
from responsa.cli.checking import CacheOption, NliOption, ObligationsOption
from responsa.cli.output import JsonOption, add_row, note, plural, print_json, print_table, progress, say, table
from responsa.errors import InputError

if TYPE_CHECKING:
    from responsa.evaluate.agreement import PairedComparison
    from responsa.evaluate.gaming import Gaming
    from responsa.evaluate.repass import AnswerScore, Measure, Scored
    from responsa.types import Estimate
    from responsa.views import Json

CoverageOption = Annotated[
    str, typer.Option("--coverage", metavar="MODEL", help="A model of entailment for coverage; else that of --nli.")
]
UnansweredOption = Annotated[
    str, typer.Option("--unanswered", metavar="zero|skip", help="What becomes of questions without an answer.")
]
CsvOption = Annotated[
    Path | None, typer.Option("--csv", metavar="FILE", help="Write the columns of the published results.")
]
_TOGETHER = 512  # sentences between two reports of progress


def entail(
    pairs: Annotated[Path, typer.Argument(metavar="PAIRS", help="JSONL: id, premise, hypothesis.")],
    nli: NliOption = EMBEDDED,
    cache: CacheOption = True,
) -> None:
    """Say of each pair whether the premise entails or contradicts the hypothesis: a JSON line each."""
    from responsa.checkers import load_entailment
    from responsa.models.classify import CLASSES

    rows = _rows(pairs, ("premise", "hypothesis"))
    model = load_entailment(nli, cache)
    with progress("Judging") as bar:
        found = model([(row["premise"], row["hypothesis"]) for row in rows], lambda done, total: bar(done, total, ""))
    for row, chances in zip(rows, found, strict=True):
        _line(row["id"], CLASSES[int(chances.argmax())], dict(zip(CLASSES, map(float, chances), strict=True)))


def detect(
    sentences: Annotated[Path, typer.Argument(metavar="SENTENCES", help="JSONL: id, text.")],
    obligations: ObligationsOption = RULES,
    cache: CacheOption = True,
) -> None:
    """Say of each sentence whether it is an obligation: a JSON line each."""
    from responsa.checkers import load_detector

    rows = _rows(sentences, ("text",))
    detector, found = load_detector(obligations, cache), []
    with progress("Judging") as bar:
        for start in range(0, len(rows), _TOGETHER):
            found += detector([row["text"] for row in rows[start : start + _TOGETHER]])
            bar(len(found), len(rows), "")
    for row, detection in zip(rows, found, strict=True):
        _line(row["id"], detection.label, {"obligation": detection.obligation})


def answers(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Answers in the RIRAG submission format.")],
    protocol: Annotated[str, typer.Option("--protocol", metavar="NAME", help="reference, paper or strict.")] = "strict",
    nli: NliOption = EMBEDDED,
    coverage: CoverageOption = "",
    obligations: ObligationsOption = RULES,
    unanswered: UnansweredOption = "",
    companions: beside.CompanionsOption = False,
    references: beside.ReferencesOption = None,
    bertscore: beside.BertscoreOption = "",
    csv: CsvOption = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write all results as JSON.")] = None,
    explain: explaining.ExplainOption = None,
    explain_id: explaining.ExplainIdOption = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the bootstrap and the paired test.")] = 0,
    cache: CacheOption = True,
    json: JsonOption = False,
) -> None:
    """Score answers by RePASs, with 95 % bootstrap intervals and a report on gaming.

    Several files are compared with the first by a paired permutation test. Work that was stopped goes on where
    it was, from the cache.
    """
    from responsa.entailment import protocol as named
    from responsa.evaluate import repass
    from responsa.evaluate.repass_files import read_answers, write_csv
    from responsa.storage import check_targets, write_json

    _check(files, unanswered, csv)
    chosen, policy = named(protocol), cast("Literal['zero', 'skip'] | None", unanswered or None)
    check_targets((csv, out, explain), [*files, references])
    submitted = [read_answers(path) for path in files]
    shown = explaining.collectors(explain, explain_id, chosen, submitted)
    models = checking.scoring_models(nli, coverage or nli, obligations, chosen.one_string, cache)
    noted = beside.collectors((companions, references, bertscore), models, cache, submitted)
    with progress("Scoring") as bar:
        scored = [
            repass.score_answers(items, chosen, models, policy, bar, each.after(show))
            for items, show, each in zip(submitted, shown, noted, strict=True)
        ]
        measured = [each.measure(one, bar) for each, one in zip(noted, scored, strict=True)]
    compared = [repass.compare(each, scored[0], seed) for each in scored[1:]]
    found = _results(files, scored, compared, seed)
    beside.add(found, measured, seed)
    if csv:
        write_csv(scored[0].scores, csv)
    if out:
        write_json(found, out)
    if explain:
        explaining.write(explain, files, scored, shown)
    if json:
        print_json(found)
        return
    for path, each, companion in zip(files, scored, measured, strict=True):
        _print(path, each, repass.means(each, seed))
        beside.show(path, companion, seed)
    _print_compared(files, compared)


def _check(files: list[Path], unanswered: str, csv: Path | None) -> None:
    if unanswered not in ("", "zero", "skip"):
        raise InputError(f"--unanswered: expected zero or skip, got {unanswered!r}")
    if csv and len(files) > 1:
        raise InputError(f"--csv holds the results of one file; {len(files)} are scored: use --out")


def _rows(path: Path, keys: tuple[str, ...]) -> list[dict[str, str]]:
    """The lines of a JSONL file: ``id`` and the texts of ``keys``. InputError names the line."""
    from responsa.storage import read_json_lines

    rows = []
    for place, row in read_json_lines(path):
        if not isinstance(row, dict):
            raise InputError(f"{place}: expected an object with id, {', '.join(keys)}")
        name = row.get("id")
        told = {"id": str(name) if isinstance(name, int) and not isinstance(name, bool) else name}
        told |= {key: row.get(key) for key in keys}
        for key, value in told.items():
            if not isinstance(value, str) or not value.strip():
                raise InputError(f"{place}: {key!r} is {value!r}; expected text")
        rows.append(cast("dict[str, str]", told))
    if not rows:
        raise InputError(f"{path}: holds no line")
    return rows


def _line(name: str, label: str, chances: dict[str, float]) -> None:
    rounded = {key: round(value, 6) for key, value in chances.items()}
    typer.echo(jsons.dumps({"id": name, "label": label, "probabilities": rounded}))


def _results(
    files: list[Path], scored: list[Scored], compared: list[dict[Measure, PairedComparison]], seed: int
) -> Json:
    from responsa import views
    from responsa.evaluate.repass import means

    return {
        "files": [
            {
                "file": str(path),
                "stamps": dict(each.stamps),
                "means": {
                    name: {"mean": e.mean, "low": e.low, "high": e.high, "n": e.n}
                    for name, e in means(each, seed).items()
                },
                "unanswered": dict(each.unanswered),
                "repeated": list(each.repeated),
                "no_obligation": _without_obligation(each),
                "questions": [_question(score) for score in each.scores],
            }
            for path, each in zip(files, scored, strict=True)
        ],
        "comparisons": [
            views.comparison(str(files[0]), str(path), measure, result)
            for path, found in zip(files[1:], compared, strict=True)
            for measure, result in found.items()
        ],
    }


def _question(score: AnswerScore) -> Json:
    beside = score.gaming
    return {
        "id": score.id,
        "entailment": score.entailment,
        "contradiction": score.contradiction,
        "coverage": score.coverage,
        "composite": score.composite,
        "reason": score.reason,
        "sentences": {"answer": score.sentences[0], "sources": score.sentences[1]},
        "obligations": {"answer": score.obligations[0], "sources": score.obligations[1], "covered": score.covered},
        "gaming": _gaming(beside) if beside else None,
    }


def _gaming(beside: Gaming) -> Json:
    return {**asdict(beside), "flags": list(beside.flags)}


def _without_obligation(scored: Scored) -> int:
    return sum(score.coverage is None for score in scored.scores)


def _print(path: Path, scored: Scored, found: dict[Measure, Estimate]) -> None:
    from responsa.entailment import NO_SOURCE

    say(f"{path} ({scored.protocol.name})")
    listing = table("measure", "mean", "95 % interval", "questions", right=("questions",))
    for name, each in found.items():
        add_row(listing, name, f"{each.mean:.5f}", f"{each.low:.4f} {each.high:.4f}", f"{each.n:,}")
    print_table(listing)
    _print_gaming(scored)
    say("Made by " + ", ".join(f"{name} {value}" for name, value in scored.stamps.items()))
    if scored.unanswered:
        what = "counted as zero" if scored.policy == "zero" else "left out"
        note(f"{path}: {plural(len(scored.unanswered), 'question')} without an answer {what}")
    if scored.repeated:
        note(f"{path}: {plural(len(scored.repeated), 'question id')} more than once; each answer is scored")
    bare = [score.id for score in scored.scores if score.reason == NO_SOURCE]
    if bare:
        names = f"{', '.join(bare[:3])}{', ...' if len(bare) > 3 else ''}"
        note(f"{path}: {plural(len(bare), 'answer')} without RetrievedPassages to score against: {names}")
    if count := _without_obligation(scored) - len(bare):
        note(f"{path}: {plural(count, 'question')} without an obligation in the sources")


def _print_gaming(scored: Scored) -> None:
    beside = [score.gaming for score in scored.scores if score.gaming]
    listing = table("beside the scores", "mean", "questions", right=("questions",))
    for name, title in (
        ("copied", "copied from the sources"),
        ("relevance", "question's terms in the answer"),
        ("length", "words to those of the sources"),
        ("grade", "reading grade"),
        ("obligations_answer", "answer sentences called obligations"),
        ("obligations_sources", "source sentences called obligations"),
    ):
        row = [value for each in beside if (value := getattr(each, name)) is not None]
        if row:
            add_row(listing, title, f"{sum(row) / len(row):.3f}", f"{len(row):,}")
    if beside:
        print_table(listing)
    for flag in dict.fromkeys(flag for each in beside for flag in each.flags):
        names = [score.id for score in scored.scores if score.gaming and flag in score.gaming.flags]
        note(f"{flag}: {plural(len(names), 'answer')}: {', '.join(names[:3])}{', ...' if len(names) > 3 else ''}")


def _print_compared(files: list[Path], compared: list[dict[Measure, PairedComparison]]) -> None:
    if not compared:
        return
    listing = table("file", "measure", "difference", "95 % interval", "p", "better", "worse", "equal")
    for path, found in zip(files[1:], compared, strict=True):
        for measure, result in found.items():
            gap = result.difference
            interval = f"{gap.low:+.4f} {gap.high:+.4f}"
            counts = (str(result.wins), str(result.losses), str(result.ties))
            add_row(listing, str(path), measure, f"{gap.mean:+.5f}", interval, f"{result.p_value:.4f}", *counts)
    say(f"Compared with {files[0]} (paired permutation test):")
    print_table(listing)
