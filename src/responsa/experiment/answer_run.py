"""Running an experiment with answers, checking what it needs, and what it would cost.

OUT/journals/                            answers and ratings one by one, shared by all tables
OUT/TABLE/results.json, table.md         scores, differences, published figures, failures, cost
OUT/TABLE/manifest.json                  what every row was made of
OUT/TABLE/SYSTEM.answers.json            the answers, in the RIRAG submission format
OUT/TABLE/*.svg                          plots
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from responsa.answer.generators.vrr import Vrr
from responsa.errors import MissingDependency, ModelError, ResponsaError
from responsa.experiment import answer_report, plots, rating_plots
from responsa.experiment.answer_results import Found, results
from responsa.experiment.answer_scores import Scorer, Scores, planned, score, submitted
from responsa.experiment.answer_table import AnswerTable
from responsa.experiment.answers import FORMAT, Answering, Written, calls_of, lacking, plan, prompts_of, wanted
from responsa.experiment.run import RESULTS, make_folder, write_plots
from responsa.experiment.runs import versions
from responsa.models.chat.dryrun import Planned
from responsa.storage import write_json, write_text

Json = dict[str, Any]
_SCORING = ("numpy", "scipy", "matplotlib")


def run(table: AnswerTable, answering: Answering, scorer: Scorer, seed: int, say: Callable[[str], None]) -> Json:
    """Write and score the answers of what can be run of a table, write its results beside ``answering.folder``, and
    return them.

    ``say`` is told of rows that failed, and how many questions did. The same rows over the same data give the same
    bytes.
    """
    folder = answering.folder.parent / table.name
    make_folder(folder)
    make_folder(answering.folder)
    found: list[Found] = []
    for row in table.rows:
        if scorer.reason and row.recipe:  # nothing is written that could not be scored
            found.append((Written(row, "not run here", scorer.reason), None))
            continue
        written = answering.row(row)
        scores: Scores | None = None
        if written.state == "done":
            written, scores = _scored(written, scorer, answering)
        if written.state == "failed":  # of rows that were not run the table tells
            say(f"{row.name}: failed: {written.reason}")
        failed = sum(record["state"] == "failed" for record in written.records)
        if failed:
            say(f"{row.name}: {failed:,} of {len(written.records):,} questions failed; --retry asks them again")
        found.append((written, scores))
    made = results(table, found, answering.asked, scorer.stamps if any(s for _, s in found) else {}, seed)
    sums = _write_answers(found, answering, folder)
    write_json(made, folder / RESULTS)
    write_json(_manifest(table, found, answering, scorer, sums, seed), folder / "manifest.json")
    drawn = write_plots(lambda: _plots(made), folder, say)
    write_text(answer_report.markdown(made, drawn), folder / "table.md")
    return made


def _scored(written: Written, scorer: Scorer, answering: Answering) -> tuple[Written, Scores | None]:
    try:
        scores = score(written, scorer, answering.asked, answering.corpus, answering.folder)
        return written, replace(scores, flags=(*scores.flags, *_own_judge(written, scorer)))
    except MissingDependency as error:
        return Written(written.row, "not run here", str(error)), None
    except ModelError as error:
        return Written(written.row, "failed", f"its answers could not be scored: {error}"), None


def _own_judge(written: Written, scorer: Scorer) -> tuple[str, ...]:
    """What is to be said where answers were chosen and mended by the model that scores them: it flatters them."""
    stage = plan(written.row).answer
    if not isinstance(stage, Vrr) or stage.behaviour == "published" or scorer.models is None:
        return ()
    if scorer.models.nli.name not in (stage.verifier.nli.name, stage.verifier.coverage.name):
        return ()
    told = f"its answers were chosen and mended by {scorer.models.nli.name}, which scores them too and flatters them"
    return (f"{told}; name another verifier_nli, or score with another --nli",)


def check(table: AnswerTable) -> list[Json]:
    """Of each row whether its answers can be written on this machine, what they need, and what is missing."""
    rows = []
    for row in table.rows:
        needed: list[str] = []
        reason = "its answers are not public"
        try:
            if row.recipe:
                recipe = plan(row)
                needed = [need.name or "RESPONSA_CHAT_MODEL" for need in wanted(recipe)]
                reason = lacking(recipe)
        except ResponsaError as error:
            reason = str(error)
        rows.append({"name": row.name, "label": row.label, "runs": not reason, "needs": needed, "reason": reason})
    return rows


def plans(table: AnswerTable, answering: Answering, scorer: Scorer) -> list[tuple[str, str, list[Planned]]]:
    """Of each system its name, why it would not be run, and what it and its judges would send."""
    made = []
    for row in {row.system: row for row in table.rows}.values():
        reason, rows = (scorer.reason, []) if scorer.reason and row.recipe else answering.planned(row)
        if not reason:
            rows = [*rows, *planned(answering.asked, scorer)]
        made.append((row.label, reason, rows))
    return made


def _write_answers(found: Sequence[Found], answering: Answering, folder: Path) -> Mapping[str, str]:
    """The answers of each row in the submission format; their digests by name. Those of rows that are gone go."""
    sums: dict[str, str] = {}
    for written, _ in found:
        items = []
        for record in written.records:
            given = submitted(record, answering.asked, answering.corpus)
            item = {
                "QuestionID": record["id"],
                "Question": given.question,
                "RetrievedPassages": list(given.passages),
                "RetrievedIDs": list(given.ids),
                "Answer": record["answer"],
                "CitedIDs": record["cited"],
                "Notes": record["notes"],
            }
            items.append(item | ({"Failed": record["reason"]} if record["state"] == "failed" else {}))
        if items:
            path = folder / f"{written.row.name}.answers.json"
            write_json(items, path)
            sums[written.row.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    for old in folder.glob("*.answers.json"):
        if old.name.removesuffix(".answers.json") not in sums:
            old.unlink()
    return sums


def _plots(made: Json) -> dict[str, str]:
    """File name to SVG: a plot of each measure with published figures as crosses, and of ratings their counts."""
    done = [row for row in made["rows"] if row["state"] == "done" and row["means"]["all"]]
    drawn: dict[str, str] = {}
    if made["table"]["scores"] == "ratings":
        names = [f"rated {rating}" for rating in (1, 2, 3, 4)]
        counted = {row["label"]: [row["counts"][name] for name in names] for row in done if "counts" in row}
        if counted:
            drawn["ratings.svg"] = rating_plots.counts(counted)
    for measure in made["table"]["measures"]:
        rows = [row for row in done if "low" in row["means"]["all"].get(measure, {})]
        if rows:
            name = measure.replace(" %", "-share").replace(" ", "-")
            drawn[f"{name}.svg"] = plots.by_row(rows, measure)
    return drawn


def _manifest(
    table: AnswerTable, found: Sequence[Found], answering: Answering, scorer: Scorer, sums: Mapping[str, str], seed: int
) -> Json:
    """What the results were made of: digests and versions, no dates and no places."""
    rows = []
    for written, scores in found:
        row: Json = {"name": written.row.name, "state": written.state}
        if written.state == "done":
            models = sorted({str(call["model"]) for call in calls_of(written.records)})
            row |= {"made": dict(written.made), "asked": models, "prompts": prompts_of(written.records)}
            row["answers"] = sums.get(written.row.name, "")
            row["ratings"] = prompts_of([{"trace": scores.calls}]) if scores and scores.calls else ""
        rows.append(row)
    return {
        "format": FORMAT,
        "table": table.name,
        "versions": versions(*_SCORING),
        "library": answering.corpus.digest,
        **answering.asked.digests,
        "topic": table.topic,
        "seed": seed,
        "measures": list(table.measures),
        "scored_by": scorer.stamps,
        "rows": rows,
    }
