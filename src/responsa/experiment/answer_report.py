"""Results of an experiment with answers as text: what must be read with the table, what failed, what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from responsa.experiment import report

Json = Mapping[str, Any]
_SHOWN = 20  # failures of a row that are listed on the page; all stand in results.json


def is_of_answers(results: Json) -> bool:
    """Whether results are of answers."""
    return "scores" in results["table"]


def remarks(results: Json) -> list[str]:
    """What must be read with the table: who scored, what was not run and why, what failed."""
    said = [results["table"]["note"]] if results["table"]["note"] else []
    if results["scored_by"]:
        said.append("Scored by: " + "; ".join(f"{name} {value}" for name, value in results["scored_by"].items()) + ".")
    if results["against"]:
        label = next(row["label"] for row in results["rows"] if row["name"] == results["against"])
        several = any("differences" in row for row in results["rows"])
        compared = f"; differences are paired, from {label!r}" if several else ""
        said.append(f"Intervals are 95 % bootstrap over questions{compared}.")
    told: dict[str, list[str]] = {}
    for row in results["rows"]:
        for remark in _of_row(row, results):
            told.setdefault(remark, []).append(row["label"])
    return said + [f"{'; '.join(labels)}: {remark}" for remark, labels in told.items()]


def _of_row(row: Json, results: Json) -> Iterator[str]:
    if row["state"] != "done":
        yield f"{row['state']}: {row['reason']}."
    else:
        ratings = results["table"]["scores"] == "ratings"
        skipped = results["scored_by"].get("unanswered") == "skip"
        counts = "are rated 1" if ratings else "count nothing" if skipped else "count 0"
        if row["abstained"]:
            yield f"{row['abstained']:,} of {row['asked']:,} questions are not answered by the library and {counts}."
        if row["failed"]:
            yield f"{len(row['failed']):,} of {row['asked']:,} questions failed and {counts}: {_first(row['failed'])}."
        if row["unscored"] and ratings:
            yield f"{len(row['unscored']):,} answers could not be rated and count nothing: {_first(row['unscored'])}."
        yield from (f"{flag}." for flag in row["flags"])
    if row["note"]:
        yield row["note"]


def _first(reasons: Mapping[str, str]) -> str:
    """The reasons, most frequent first, with how often each was met."""
    counted: dict[str, int] = {}
    for reason in reasons.values():
        counted[reason] = counted.get(reason, 0) + 1
    ranked = sorted(counted.items(), key=lambda each: (-each[1], each[0]))[:3]
    more = f"; and {len(counted) - len(ranked)} other reasons" if len(counted) > len(ranked) else ""
    return "; ".join(f"{reason} ({count:,})" for reason, count in ranked) + more


def costs(results: Json) -> list[list[str]]:
    """The requests, tokens and price of each row that asked a language model, a header first; empty for none."""
    lines = []
    for row in results["rows"]:
        for what, spent in row.get("cost", {}).items():
            if spent["requests"]:
                counts = [f"{spent[name]:,}" for name in ("requests", "tokens_in", "tokens_out")]
                price = "-" if spent["dollars"] is None else f"{spent['dollars']:.4f}"
                lines.append([row["label"], what, *counts, price])
    return [["row", "what", "requests", "tokens in", "tokens out", "US dollars"], *lines] if lines else []


def markdown(results: Json, plots: list[str]) -> str:
    """The page of a table, with its plots."""
    head = results["table"]
    text = f"# {head['title']}\n\n"
    source = ". ".join(part for part in (head["source"], head["dataset"]) if part)
    text += f"Source of the published figures: {source}.\n\n" if source else ""
    text += f"## {report.heading(results, 'all')}\n\n{_grid(report.cells(results, 'all'))}\n"
    text += "".join(f"- {remark}\n" for remark in remarks(results))
    spent = costs(results)
    text += f"\n## Cost\n\n{_grid(spent)}" if spent else ""
    text += "".join(_failures(row) for row in results["rows"] if row.get("failed"))
    return text + "".join(f"\n![{name.removesuffix('.svg')}]({name})\n" for name in plots)


def _failures(row: Json) -> str:
    listed = list(row["failed"].items())
    text = f"\n## Failed: {row['label']}\n\n" + "".join(f"- {name}: {reason}\n" for name, reason in listed[:_SHOWN])
    return text + (f"- and {len(listed) - _SHOWN:,} more, in results.json\n" if len(listed) > _SHOWN else "")


def _grid(cells: list[list[str]]) -> str:
    header, *lines = cells
    return (
        report.as_line(header)
        + report.as_line(["---"] + ["--:"] * (len(header) - 1))
        + "".join(map(report.as_line, lines))
    )
