"""``python -m benchmarks [PART...]``: measure, then write ``docs/benchmarks.md`` and ``benchmarks/results.json``."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from benchmarks import large, quality, retrieval, speed
from benchmarks.data import progress
from benchmarks.report import PAGE, Part, record


def main() -> None:
    """Run the parts asked for, all of them by default."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    known = ["all", "quality", "speed", "retrieval", "large"]
    parser.add_argument("parts", nargs="*", default="all", choices=known, help="all by default")
    parser.add_argument("--repeats", type=int, default=5, help="of each measurement of time (default 5)")
    parser.add_argument(
        "--sizes",
        default="10000,100000,1000000",
        help="passages of the synthetic libraries of 'large' (default 10000,100000,1000000)",
    )
    arguments = parser.parse_args()
    parts: dict[str, Callable[[], Part]] = {
        "quality": quality.part,
        "speed": lambda: speed.part(arguments.repeats),
        "retrieval": retrieval.part,
        "large": lambda: large.part([int(size) for size in arguments.sizes.split(",")]),
    }
    chosen = parts if "all" in arguments.parts else arguments.parts
    for name, measure in parts.items():
        if name in chosen:
            progress(name)
            record(measure())
    progress(f"written to {PAGE.relative_to(PAGE.parent.parent)}")


if __name__ == "__main__":
    main()
