"""Results as a table of text: for the terminal and, as Markdown, for a page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from responsa.experiment.results import SEVERAL, is_count

Json = Mapping[str, Any]
_NAMES = {
    "all": "All questions",
    SEVERAL: "Questions with several gold passages",
    "rare": "Questions whose gold is not Article 99, 100 or 430",
    "unnamed": "Questions that name no gold article",
}


def groups(results: Json) -> list[str]:
    """The groups of questions that have a table: where no row ran, all questions alone."""
    return [group for group in results["questions"] if not is_count(group)] if results["against"] else ["all"]


def heading(results: Json, group: str) -> str:
    """What a group is, and of how many questions."""
    return f"{_NAMES.get(group, group)} ({results['questions'][group]:,})"


def cells(results: Json, group: str) -> list[list[str]]:
    """The table of a group, its header first. Published figures stand in the table of all questions alone."""
    measures = results["table"]["measures"]
    printed = [m for m in measures if group == "all" and any(m in row["published"] for row in results["rows"])]
    differing = [row["differences"][group] for row in results["rows"] if "differences" in row]
    compared = [measure for measure in measures if any(measure in each for each in differing)]
    header = [results["table"]["sweep"] or "row"]
    for measure in measures:
        header += [f"{measure}, published"] if measure in printed else []
        header += [f"{measure}, here"] + ([f"{measure}, difference"] if measure in compared else [])
    lines = [header]
    for row in results["rows"]:
        line = [row["label"]]
        for measure in measures:
            told, ours = _decimals(results["table"]["decimals"], measure)
            line += [_printed(row, measure, told)] if measure in printed else []
            line += [_here(row, group, measure, ours)]
            line += [_difference(row, group, measure, ours)] if measure in compared else []
        lines.append(line)
    return lines


def _decimals(given: int | Mapping[str, int], measure: str) -> tuple[int, int]:
    """Decimals of the published figure and of our interval, whose mean has one more."""
    return (given, 3) if isinstance(given, int) else (given[measure], given[measure])


def remarks(results: Json) -> list[str]:
    """What must be read with the table: what was not run and why, and where recipes differ from the paper."""
    said = [results["table"]["note"]] if results["table"]["note"] else []
    if results["against"] and any("differences" in row for row in results["rows"]):
        label = next(row["label"] for row in results["rows"] if row["name"] == results["against"])
        said.append(f"Intervals are 95 % bootstrap over questions; differences are paired, from {label!r}.")
    elif results["against"]:
        said.append("Intervals are 95 % bootstrap over questions.")
    if results["folds"]:
        said.append(f"{results['folds']} folds: each question is tested once, and all are pooled.")
    told: dict[str, list[str]] = {}
    for row in results["rows"]:
        if row["state"] != "done":
            told.setdefault(f"{row['state']}: {row['reason']}.", []).append(row["label"])
        elif row["missing"]:
            told.setdefault(f"nothing was found for {row['missing']:,} questions, which count 0.", []).append(
                row["label"]
            )
    for row in results["rows"]:
        if row["note"]:
            told.setdefault(row["note"], []).append(row["label"])
    return said + [f"{'; '.join(labels)}: {remark}" for remark, labels in told.items()]


def markdown(results: Json, plots: list[str]) -> str:
    """The page of a table, with its plots."""
    head = results["table"]
    text = f"# {head['title']}\n\n"
    source = ". ".join(part for part in (head["source"], head["dataset"]) if part)
    text += f"Source of the published figures: {source}.\n\n" if source else ""
    for group in groups(results):
        header, *lines = cells(results, group)
        text += f"## {heading(results, group)}\n\n"
        text += as_line(header) + as_line(["---"] + ["--:"] * (len(header) - 1)) + "".join(map(as_line, lines)) + "\n"
    text += "".join(f"- {remark}\n" for remark in remarks(results))
    return text + "".join(f"\n![{name.removesuffix('.svg')}]({name})\n" for name in plots)


def as_line(cells: list[str]) -> str:
    """A line of a table in Markdown."""
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |\n"


def _printed(row: Json, measure: str, decimals: int) -> str:
    figure = row["published"].get(measure)
    return "" if figure is None else f"{figure:.{decimals}f}"


def _here(row: Json, group: str, measure: str, decimals: int) -> str:
    if row["state"] != "done":
        return str(row["state"])
    value = row["means"][group].get(measure)
    if value is None:
        return "-"
    if "low" not in value:  # a count, or what has no interval
        return f"{value['mean']:,.{decimals}f}"
    return f"{value['mean']:.{decimals + 1}f} [{value['low']:.{decimals}f} {value['high']:.{decimals}f}]"


def _difference(row: Json, group: str, measure: str, decimals: int) -> str:
    value = row.get("differences", {}).get(group, {}).get(measure)
    if value is None:
        return ""
    return f"{value['mean']:+.{decimals + 1}f} [{value['low']:+.{decimals}f} {value['high']:+.{decimals}f}]"
