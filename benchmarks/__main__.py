"""``python -m benchmarks [PART...]``: measure, then write ``docs/benchmarks.md`` and ``benchmarks/results.json``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from benchmarks import (
    citations,
    eu_law,
    fuzz,
    large,
    pdf,
    quality,
    repass,
    repass_models,
    retrieval,
    speed,
    taxonomy,
    taxonomy_numbers,
    verified,
)
from benchmarks.data import progress
from benchmarks.report import PAGE, PARTS, Part, record


def main() -> None:
    """Run the parts asked for, all of them by default."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    known = ["all", *PARTS]
    parser.add_argument("parts", nargs="*", default="all", choices=known, help="all by default")
    parser.add_argument("--repeats", type=int, default=5, help="of each measurement of time (default 5)")
    parser.add_argument(
        "--sizes",
        default="10000,100000,1000000",
        help="passages of the synthetic libraries of 'large' (default 10000,100000,1000000)",
    )
    parser.add_argument("--minutes", type=float, default=10, help="of fuzzing the readers (default 10)")
    _of_repass(parser)
    arguments = parser.parse_args()
    parts: dict[str, Callable[[], Part]] = {
        "quality": quality.part,
        "speed": lambda: speed.part(arguments.repeats),
        "retrieval": retrieval.part,
        "large": lambda: large.part([int(size) for size in arguments.sizes.split(",")]),
        "repass": lambda: repass.part(_options(arguments)),
        "citations": citations.part,
        "eu_law": eu_law.part,
        "pdf": pdf.part,
        "taxonomy": taxonomy.part,
        "taxonomy_numbers": taxonomy_numbers.part,
        "fuzz": lambda: fuzz.part(arguments.minutes),
        "verified": verified.part,
    }
    chosen = parts if "all" in arguments.parts else arguments.parts
    for name, measure in parts.items():
        if name in chosen:
            progress(name)
            record(measure())
    progress(f"written to {PAGE.relative_to(PAGE.parent.parent)}")


def _of_repass(parser: argparse.ArgumentParser) -> None:
    given = parser.add_argument_group("repass")
    given.add_argument(
        "--published", type=Path, metavar="FOLDER", help="a checkout of RegNLP/RePASs, or its git folder"
    )
    given.add_argument("--answers", type=int, default=6, help="how many are scored (default 6, of 50)")
    given.add_argument("--passages", type=int, default=5, help="of each answer (default 5, of 10)")
    given.add_argument("--models", type=Path, metavar="FOLDER", help="the script's three models, else random weights")
    given.add_argument("--size", choices=sorted(repass_models.SHAPES), default="real", help="of models made here")
    given.add_argument(
        "--embedded",
        nargs=2,
        default=("embedded:nli", "embedded:obligations"),
        metavar=("NLI", "OBLIGATIONS"),
        help="the small models to measure (default embedded:nli embedded:obligations)",
    )


def _options(given: argparse.Namespace) -> repass.Options:
    return repass.Options(
        given.published, given.answers, given.passages, given.models, given.size, tuple(given.embedded), given.repeats
    )


if __name__ == "__main__":
    main()
