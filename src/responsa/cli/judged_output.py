"""What ``score judged`` prints and writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from responsa.cli.output import add_row, plural, print_table, say, table

if TYPE_CHECKING:
    from responsa.evaluate.judge import Combined, Rating
    from responsa.evaluate.judge_bias import Positions, Probed
    from responsa.evaluate.judge_report import Approach, Between, Report
    from responsa.evaluate.ratings import Correlation, Summary
    from responsa.types import Call, Estimate

_SHOWN = 5  # failures that are listed


# JSON


def results(made: Report, stamps: Mapping[str, str], repeat: int) -> dict[str, Any]:
    """All that was found."""
    from responsa import views

    given: dict[tuple[str, str], list[Rating]] = {}
    for rating in made.ratings:
        given.setdefault(rating.key, []).append(rating)
    first = made.approaches[0].name
    return {
        "judges": [{"judge": name, "prompt": stamp, "repeat": repeat} for name, stamp in stamps.items()],
        "approaches": [_approach(each) for each in made.approaches],
        "comparisons": [views.comparison(first, name, "rating", each) for name, each in made.comparisons.items()],
        "answers": [_answer(each, given[each.key]) for each in made.combined],
        "agreement": [_between(each) for each in made.agreements],
        "length": {judge: _correlation(each) for judge, each in made.lengths.items()},
        "probes": [_probed(each) for each in made.probes],
        "positions": [_positions(each) for each in made.positions],
        "flags": list(made.flags),
        "calls": spent(made.calls),
    }


def spent(calls: Sequence[Call]) -> dict[str, Any]:
    """What was asked; tokens and cost without those from the cache. ``cost`` is None where no price is known."""
    paid = [call for call in calls if not call.cached]
    costs = [call.cost for call in paid if call.cost is not None]
    return {
        "calls": len(calls),
        "cached": len(calls) - len(paid),
        "attempts": sum(call.attempts for call in paid),
        "tokens_in": sum(call.tokens_in for call in paid),
        "tokens_out": sum(call.tokens_out for call in paid),
        "cost": sum(costs) if costs else (None if paid else 0.0),
    }


def _estimate(value: Estimate | None) -> dict[str, Any] | None:
    return None if value is None else {"mean": value.mean, "low": value.low, "high": value.high, "n": value.n}


def _summary(each: Summary) -> dict[str, Any]:
    return {
        "n": each.n,
        "counts": {str(rating): count for rating, count in enumerate(each.counts, 1)},
        "average": _estimate(each.average),
        "deviation": each.deviation,
        "correct": {"count": each.correct_count, "share": _estimate(each.correct)},
    }


_NOTHING = {"n": 0, "counts": None, "average": None, "deviation": None, "correct": None}


def _approach(each: Approach) -> dict[str, Any]:
    return {
        "approach": each.name,
        **(_summary(each.summary) if each.summary else _NOTHING),
        "by_judge": {judge: _summary(own) for judge, own in each.by_judge.items()},
        "unscored": list(each.unscored),
        "unanswered": dict(each.unanswered),
        "without_reference": list(each.without_reference),
    }


def _answer(each: Combined, ratings: Sequence[Rating]) -> dict[str, Any]:
    return {
        "approach": each.key[0],
        "id": each.key[1],
        "mean": each.mean,
        "majority": each.majority,
        "spread": each.spread,
        "by_judge": each.by_judge,
        "ratings": [
            {
                "judge": rating.judge,
                "repetition": rating.repetition,
                "rating": rating.value,
                "reason": rating.reason,
                "error": rating.error,
            }
            for rating in ratings
        ],
    }


def _between(each: Between) -> dict[str, Any]:
    found = each.agreement
    return {
        "first": each.first,
        "second": each.second,
        "n": found.n,
        "kendall": _correlation(found.correlation),
        "kappa": {"quadratic": found.quadratic, "linear": found.linear},
        "exact": found.exact,
        "correct": found.correct,
        "confusion": [list(row) for row in found.confusion],
    }


def _correlation(each: Correlation) -> dict[str, Any]:
    return {"tau": each.tau, "p_value": each.p_value, "n": each.n}


def _probed(each: Probed) -> dict[str, Any]:
    return {
        "judge": each.judge,
        "probe": each.kind,
        "n": each.n,
        "wrong": each.wrong,
        "unscored": each.unscored,
        "shift": _estimate(each.shift),
    }


def _positions(each: Positions) -> dict[str, Any]:
    names = ("judge", "n", "a", "b", "equal", "inconsistent", "first", "second", "unscored")
    return {name: getattr(each, name) for name in names}


# Tables


def show(made: Report) -> None:
    """The tables: ratings, agreement, probes, and what it took."""
    _show_approaches(made)
    _show_agreement(made.agreements)
    _show_bias(made)
    took = spent(made.calls)
    cost = "" if took["cost"] is None else f", ${took['cost']:.4f}"
    say(
        f"{plural(took['calls'], 'call')}, {took['cached']:,} from the cache; "
        f"{took['tokens_in']:,} tokens in, {took['tokens_out']:,} out{cost}."
    )


def _show_approaches(made: Report) -> None:
    listing = table("approach", "1", "2", "3", "4", "average (sd)", "95 % interval", "correct", "%", "95 % interval")
    for each in made.approaches:
        name = each.name or "calibration set"
        add_row(listing, name, *(_cells(each.summary) if each.summary else [""] * 9))
        for judge, own in each.by_judge.items() if len(each.by_judge) > 1 else ():
            add_row(listing, f"  by {judge}", *_cells(own))
    print_table(listing)
    for name, result in made.comparisons.items():
        gap = result.difference
        say(
            f"{name} less {made.approaches[0].name}: {gap.mean:+.2f} [{gap.low:+.2f} {gap.high:+.2f}], "
            f"p {result.p_value:.4f} (paired permutation test, {gap.n:,} questions)"
        )


def _cells(found: Summary) -> list[str]:
    spread = "" if found.deviation is None else f" ({found.deviation:.2f})"
    return [
        *map(str, found.counts),
        f"{found.average.mean:.2f}{spread}",
        f"{found.average.low:.2f} {found.average.high:.2f}",
        f"{found.correct_count} of {found.n}",
        f"{100 * found.correct.mean:.1f}",
        f"{100 * found.correct.low:.1f} {100 * found.correct.high:.1f}",
    ]


def _show_agreement(agreements: Sequence[Between]) -> None:
    if not agreements:
        return
    listing = table("of", "with", "answers", "Kendall's tau", "p", "kappa (quadratic)", "(linear)", "equal", "both > 2")
    for each in agreements:
        found = each.agreement
        add_row(
            listing,
            each.first,
            each.second,
            str(found.n),
            _number(found.correlation.tau),
            "" if found.correlation.p_value is None else f"{found.correlation.p_value:.2g}",
            _number(found.quadratic),
            _number(found.linear),
            f"{100 * found.exact:.1f} %",
            f"{100 * found.correct:.1f} %",
        )
    say("Agreement:")
    print_table(listing)
    first = agreements[0]
    matrix = table(f"{first.first} \\ {first.second}", "1", "2", "3", "4")
    for rating, row in enumerate(first.agreement.confusion, 1):
        add_row(matrix, str(rating), *map(str, row))
    print_table(matrix)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _show_bias(made: Report) -> None:
    if made.probes:
        listing = table("judge", "probe", "answers", "went wrong", "mean shift", "unscored")
        for each in made.probes:
            shift = "" if each.shift is None else f"{each.shift.mean:+.2f}"
            add_row(listing, each.judge, each.kind, str(each.n), str(each.wrong), shift, str(each.unscored))
        say("Probes for bias:")
        print_table(listing)
    for places in made.positions:
        say(
            f"{places.judge} on {plural(places.n, 'pair')} in both orders: first file better {places.a}, second file "
            f"better {places.b}, equal {places.equal}, turned with the order {places.inconsistent}; picked what stood "
            f"first {places.first} times, second {places.second} times."
        )


def remarks(made: Report, unanswered: str) -> Iterator[str]:
    """What is to be known of the figures: what could not be scored, and what the judges did."""
    for each in made.approaches:
        named = f"{each.name}: " if each.name else ""
        if each.unanswered:
            what = "counted as 1" if unanswered == "lowest" else "left out"
            yield f"{named}{plural(len(each.unanswered), 'question')} without an answer {what}: {_few(each.unanswered)}"
        if each.without_reference:
            count = plural(len(each.without_reference), "answer")
            yield f"{named}{count} without an official answer left out: {_few(each.without_reference)}"
        if each.unscored:
            yield f"{named}{plural(len(each.unscored), 'answer')} unscored and left out: {_few(each.unscored)}"
    failed = [rating for rating in made.ratings if rating.value is None]
    for rating in failed[:_SHOWN]:
        place = "/".join(filter(None, rating.key))
        yield f"unscored: {place} by {rating.judge} (repetition {rating.repetition}): {rating.error}"
    if len(failed) > _SHOWN:
        yield f"{plural(len(failed), 'rating')} unscored in all; --json or --out lists them"
    spread = [each for each in made.combined if (each.spread or 0) > 1]
    if spread:
        ids = _few([each.key[1] for each in spread])
        yield f"ratings of {plural(len(spread), 'answer')} are more than 1 apart: {ids}"
    for flag in made.flags:
        yield f"beware: {flag}"


def _few(names: Sequence[str] | Mapping[str, str]) -> str:
    listed = list(names)
    return ", ".join(listed[:3]) + (", ..." if len(listed) > 3 else "")
