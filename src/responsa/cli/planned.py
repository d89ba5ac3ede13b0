"""What a dry run would have sent, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from responsa.cli.output import add_row, note, print_table, table

if TYPE_CHECKING:
    from responsa.models.chat.dryrun import DryRun, DryRuns

DryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Print calls, tokens and cost of the language model, and send nothing.")
]
COUNTS = ("calls", "from the cache", "too long", "tokens in", "tokens out", "US dollars")


def print_planned(run: DryRun | DryRuns, idle: str = "") -> None:
    """A row for each purpose and one for all; "-" where no price is known. ``idle``: why nothing would be asked."""
    rows = run.planned()
    made = table("purpose", *COUNTS, right=COUNTS)
    for row in rows:
        counts = (row.calls, row.known, row.failing, row.tokens_in, row.tokens_out)
        add_row(made, row.purpose or "-", *(f"{count:,}" for count in counts), price(row.cost))
    costs = [row.cost for row in rows if row.cost is not None]
    totals = [
        sum(getattr(row, name) for row in rows) for name in ("calls", "known", "failing", "tokens_in", "tokens_out")
    ]
    add_row(made, "all", *(f"{count:,}" for count in totals), price(sum(costs) if costs else None))
    print_table(made)
    if idle and not rows:
        note(f"nothing would be asked: {idle}")


def price(cost: float | None) -> str:
    """With four digits after the point; "-" where no price is known."""
    return "-" if cost is None else f"{cost:.4f}"
