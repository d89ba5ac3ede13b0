"""Tables 7.1 to 7.6 and those of retrieval and of rows: what was measured here beside what the thesis prints.

A cell of a published column is the thesis's, a cell of a column "here" is measured; where nothing was measured it says
`NOT_RUN`. The published figures are facts in ``published.toml``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any

from responsa import config
from responsa.evaluate.agreement import bootstrap_mean
from responsa.taxonomy.evaluation import answers
from responsa.taxonomy.evaluation.answers import Annotated
from responsa.taxonomy.evaluation.retrieval import Cut, Scores
from responsa.taxonomy.evaluation.rows import NO_VERDICT, VERDICTS, Judged, JudgedRow, Summary, credit
from responsa.taxonomy.evidence.recipes import THRESHOLDS
from responsa.taxonomy.values import Method

NOT_RUN = "not run here"
UNDEFINED = "undefined"
Cell = str | int | float | None
Json = dict[str, Any]

_FILE = "published.toml"
_TITLES: Mapping[Method, str] = {
    "traditional": "Traditional",
    "zero-shot-cot": "Zero-shot CoT",
    "few-shot-cot": "Few-shot CoT",
}
_COT: tuple[Method, ...] = ("zero-shot-cot", "few-shot-cot")
_STEP_TITLES = {
    1: "Scores of step 1, breaking down the criteria",
    2: "Scores of step 2, what the report says",
    3: "Scores of the conclusion",
}


@dataclass(frozen=True)
class Sheet:
    """A table. ``name`` is its file's without ending; a cell None is empty: nothing printed there."""

    name: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def published() -> Json:
    """What the thesis prints, by measure."""
    text = (resources.files(__package__) / _FILE).read_text(encoding="utf-8")
    return config.parse(text, _FILE)


# Tables 7.1 to 7.6


def answer_sheets(annotated: Sequence[Annotated]) -> list[Sheet]:
    """Tables 7.1 to 7.6 of one rater's ratings; without any, the published figures beside `NOT_RUN`."""
    sheets = [_scores(annotated, step) for step in answers.STEPS]
    return [*sheets, _holes(annotated), _chains(annotated), _correlations(annotated)]


def _scores(annotated: Sequence[Annotated], step: int) -> Sheet:
    methods = answers.METHODS if step == 3 else _COT
    here = {m: answers.counts(own, step) for m in methods if (own := answers.of_method(annotated, m))}
    printed = published()["scores"][str(step)]
    rows: list[tuple[Cell, ...]] = [
        (str(value), *_pairs(methods, printed, here, str(value), value)) for value in answers.SCALES[step]
    ]
    rows.append(("generations", *_totals(methods, printed, here)))
    notes = ["Step 3 as in table 7.3: 2 is right as expected, 3 right and unexpected."] if step == 3 else []
    return Sheet(f"table-7.{step}", _STEP_TITLES[step], ("score", *_header(methods)), tuple(rows), tuple(notes))


def _holes(annotated: Sequence[Annotated]) -> Sheet:
    here = {m: answers.holes(own) for m in answers.METHODS if (own := answers.of_method(annotated, m))}
    printed = published()["holes"]
    titles = {**answers.HOLES, "": f"None noted, conclusion {answers.HOLED} or less"}
    rows = tuple((title, *_pairs(answers.METHODS, printed, here, key, key)) for key, title in titles.items())
    return Sheet("table-7.4", "Logic holes of the conclusion", ("logic hole", *_header(answers.METHODS)), rows)


def _chains(annotated: Sequence[Annotated]) -> Sheet:
    here = {m: answers.chains(own) for m in _COT if (own := answers.of_method(annotated, m))}
    printed = published()["chains"]
    rows = tuple(
        (name, *_links(name), *_pairs(_COT, printed, here, name, name)) for name in (*answers.CHAINS, answers.UNLINKED)
    )
    note = (
        "Types are defined here from C21, C31 and C32, for figure 5.1 of the thesis is an image. Its text fixes I, V,"
        " and that II to IV lack one link. A generation without any link is none of the seven."
    )
    return Sheet("table-7.5", "Chain types", ("type", "C21", "C31", "C32", *_header(_COT)), rows, (note,))


def _links(name: str) -> tuple[Cell, ...]:
    return answers.CHAINS.get(name, (0, 0, 0))


def _correlations(annotated: Sequence[Annotated]) -> Sheet:
    methods: tuple[Method, ...] = ("few-shot-cot", "zero-shot-cot", "traditional")
    printed = published()["correlations"]
    rows, notes = [], []
    for equation in answers.EQUATIONS:
        cells: list[Cell] = [equation.name, f"{equation.metric} and {_against(equation.step)}"]
        for method in methods:
            own = answers.of_method(annotated, method)
            applies = method != "traditional" or equation.metric.endswith("_3")
            r, p = printed[method].get(equation.name, (None, None))
            cells += [r, p]
            if not applies:
                cells += [None, None, None]
                continue
            found = answers.correlation(own, equation) if own else None
            if found is None or not found.n:
                cells += [NOT_RUN, NOT_RUN, None]
            elif found.r is not None:
                cells += [found.r, found.p, found.n]
            else:
                cells += [UNDEFINED, UNDEFINED, found.n]
                notes.append(f"{equation.name}, {_TITLES[method]}: {found.reason}.")
        rows.append(tuple(cells))
    header = [
        f"{_TITLES[method]}, {what}"
        for method in methods
        for what in ("r, published", "p, published", "r, here", "p, here", "n, here")
    ]
    notes.insert(0, "Pearson's r with two-sided p. A published p of 0 is one below .00005.")
    return Sheet("table-7.6", "Correlations", ("equation", "between", *header), tuple(rows), tuple(notes))


def _against(step: int) -> str:
    return f"HE{step}" if step else "disagreement"


def agreement_sheet(annotated: Sequence[Annotated]) -> Sheet | None:
    """How far raters agree; None where there is one."""
    found = answers.agreements(annotated)
    if not found:
        return None
    header = ("first rater", "second rater", "column", "generations", "alike", "kappa, quadratic weights")
    return Sheet("raters", "Agreement of raters", header, tuple(tuple(each) for each in found))


def _header(methods: Sequence[Method]) -> list[str]:
    return [f"{_TITLES[method]}, {where}" for method in methods for where in ("published", "here")]


def _pairs(methods: Sequence[Method], printed: Json, here: Mapping[Method, Any], told: str, key: object) -> list[Cell]:
    cells: list[Cell] = []
    for method in methods:
        cells += [printed.get(method, {}).get(told), here[method][key] if method in here else NOT_RUN]
    return cells


def _totals(methods: Sequence[Method], printed: Json, here: Mapping[Method, Mapping[int, int]]) -> list[Cell]:
    cells: list[Cell] = []
    for method in methods:
        cells += [sum(printed[method].values()), sum(here[method].values()) if method in here else NOT_RUN]
    return cells


# Retrieval


def retrieval_sheet(scores: Mapping[str, Scores], recipes: Sequence[str], reasons: Mapping[str, str]) -> Sheet:
    """mAP and mAR of recipes; those without a run say so, and why where that is known."""
    printed = published()["recall"]
    rows: list[tuple[Cell, ...]] = []
    for name in recipes:
        own = scores.get(name)
        here: list[Cell] = [NOT_RUN, NOT_RUN, None, None, None, reasons.get(name, "")]
        if own:
            sure = bootstrap_mean(own.recalls)
            interval = f"{sure.low:.3f} to {sure.high:.3f}"
            found = f"{own.right} of {own.gold}"
            here = [own.precision, own.recall, interval, own.documents, found, reasons.get(name, "")]
        rows.append((name, printed.get(name), *here))
    header = (
        "recipe", "mAR, published", "mAP, here", "mAR, here", "95 % of mAR, here", "chunks for a row, here",
        "documents found, here", "remark",
    )  # fmt: skip
    first = next(iter(scores.values()), None)
    notes = [
        "mAP is the mean precision of what was found, as the thesis has it; ranks do not count. Intervals are bootstrap"
        " over rows.",
        f"Published figures are of the thesis's own {published()['rows']} rows. It calls the .7 of vector_qs the"
        " third best, and the best nearly twice the second: one of the three must be misprinted.",
    ]
    if first:
        left = f"; {first.without} rows without evidence are left out" if first.without else ""
        notes.append(f"Means over {first.rows} rows{left}. A row for which nothing is found counts 0.")
    return Sheet("retrieval", "mAP and mAR by recipe", header, tuple(rows), tuple(notes))


def udr_sheet(matrix: Mapping[str, Mapping[str, int]]) -> Sheet:
    """What the recipe of a row finds rightly and that of a column does not. Published values in brackets."""
    printed = published()["udr"]
    rows = []
    for a, own in matrix.items():
        rows.append((a, *(_udr_cell(own[b], printed.get(a, {}).get(b)) for b in own)))
    notes = (
        "Right documents that the recipe of the line finds and that of the column does not, over all rows. In brackets"
        f" the thesis's, on {published()['rows']} rows of its own.",
    )
    return Sheet("figure-8.6", "Documents that only one of two finds (UDR)", ("UDR", *matrix), tuple(rows), notes)


def udr_share_sheet(matrix: Mapping[str, Mapping[str, int]], scores: Mapping[str, Scores]) -> Sheet:
    """UDR as a share of what the recipe of the row finds rightly; empty where it finds nothing rightly."""
    rows = tuple(
        (a, *(count / scores[a].right if scores[a].right else None for count in own.values()))
        for a, own in matrix.items()
    )
    note = "Of the right documents that the recipe of the line finds, the share that the recipe of the column does not."
    return Sheet("udr-share", "UDR as a share", ("UDR", *matrix), rows, (note,))


def _udr_cell(here: int, printed: int | None) -> Cell:
    return here if printed is None else f"{here} ({printed})"


def sweep_sheet(file: str, name: str, cuts: Sequence[Cut]) -> Sheet:
    """A recipe at each filter threshold of the thesis."""
    printed = published()["sweeps"].get(name, {})
    known = {f"{cut.threshold:g}": cut for cut in cuts}
    rows: list[tuple[Cell, ...]] = []
    for key in (f"{threshold:g}" for threshold in (0.0, *THRESHOLDS)):
        cut = known.get(key)
        here: list[Cell] = [NOT_RUN] * 4
        if cut:
            here = [cut.scores.precision, cut.scores.recall, cut.scores.documents, cut.lost]
        rows.append((key, *(printed.get(what, {}).get(key) for what in ("recall", "documents", "lost")), *here))
    header = (
        "threshold", "mAR, published", "chunks for a row, published", "UDR lost for a row, published", "mAP, here",
        "mAR, here", "chunks for a row, here", "UDR lost for a row, here",
    )  # fmt: skip
    return Sheet(file, f"Filter thresholds of {name}", header, tuple(rows), ("Threshold 0 filters nothing.",))


# Rows with verdicts


def rows_sheets(rows: Sequence[JudgedRow], judged: Sequence[Judged], found: Summary) -> list[Sheet]:
    """Verdicts, evidence and numbers: all rows together, the confusion of verdicts, and row by row."""
    evidence = found.evidence
    together: tuple[tuple[Cell, ...], ...] = (
        ("language models", ", ".join(found.models) or "none"),
        ("rows assessed", f"{found.assessed} of {found.rows}"),
        ("with a verdict", f"{found.with_verdict} of {found.assessed}"),
        ("verdict as the row's", _or_not_run(found.exact)),
        ("with half credit for one also acceptable", _or_not_run(found.half)),
        ("with full credit for one also acceptable", _or_not_run(found.full)),
        ("evidence: recall of quotes, mean over rows", evidence.macro if evidence.rows else NOT_RUN),
        ("evidence: quotes found", f"{evidence.found} of {evidence.quotes}" if evidence.rows else NOT_RUN),
        ("evidence: recall of pages, mean over rows", evidence.pages if evidence.rows else NOT_RUN),
        ("numbers found on their page", f"{found.found} of {found.numbers}" if found.assessed else NOT_RUN),
        ("numbers found with their unit", f"{found.agreeing} of {found.numbers}" if found.assessed else NOT_RUN),
    )
    confusion = tuple((verdict, *found.confusion[verdict].values()) for verdict in VERDICTS)
    return [
        Sheet("rows", "Assessments against judged rows", ("measure", "here"), together, (
            "Shares of verdicts are of the rows assessed; an assessment without a verdict counts as wrong.",
        )),
        Sheet("rows-verdicts", "Verdicts", ("the row's", *VERDICTS, NO_VERDICT), confusion),
        Sheet("rows-each", "Row by row", (
            "row", "report", "activity", "verdict", "also acceptable", "verdict, here", "credit, half",
            "quotes found", "pages", "numbers found", "with unit",
        ), tuple(_each(row, judged) for row in rows)),
    ]  # fmt: skip


def _each(row: JudgedRow, judged: Sequence[Judged]) -> tuple[Cell, ...]:
    own = next((each for each in judged if each.row is row), None)
    head: tuple[Cell, ...] = (
        row.marked.id, row.marked.report, row.marked.activity, row.verdict, ", ".join(row.acceptable)
    )  # fmt: skip
    if own is None:
        return (*head, NOT_RUN, None, None, None, None, None)
    quotes = f"{own.evidence.found} of {own.evidence.quotes}"
    return (
        *head, own.verdict, credit(row, own.verdict, 0.5), quotes, own.evidence.pages,
        f"{own.found} of {own.numbers}", f"{own.agreeing} of {own.numbers}",
    )  # fmt: skip


def _or_not_run(value: float | None) -> Cell:
    return NOT_RUN if value is None else value
