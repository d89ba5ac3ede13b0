"""``score answers --companions --references --bertscore``: the measures that stand beside RePASs in the RIRAG paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from responsa.cli.output import add_row, note, plural, print_table, say, table
from responsa.errors import InputError

if TYPE_CHECKING:
    from responsa.evaluate.companions import Companions, Noted, Wanted
    from responsa.evaluate.repass import Scored, ScoringModels, Working
    from responsa.evaluate.repass_files import SubmittedAnswer
    from responsa.views import Json

Progress = Callable[[int, int, str], None]

CompanionsOption = Annotated[
    bool, typer.Option("--companions", help="Measure SummaC-ZS and a check in the manner of FactCC too, by --nli.")
]
ReferencesOption = Annotated[
    Path | None, typer.Option("--references", metavar="FILE", help="Expert answers: measure BLEU and ROUGE too.")
]
BertscoreOption = Annotated[
    str, typer.Option("--bertscore", metavar="MODEL", help="Measure BERTScore with the references too: hf:NAME.")
]


class Collector:
    """Notes the workings of one file's answers and measures when they are scored; where nothing is wanted, nothing."""

    def __init__(self, wanted: Wanted | None, items: Sequence[SubmittedAnswer]) -> None:
        self.wanted, self.items = wanted, items
        self._noted: list[Noted] = []

    def after(self, show: Callable[[Working], None]) -> Callable[[Working], None]:
        """What calls ``show`` and notes."""
        from responsa.evaluate.companions import note

        def both(working: Working) -> None:
            show(working)
            if self.wanted and self.wanted.nli:
                self._noted.append(note(working))

        return both

    def measure(self, scored: Scored, progress: Progress) -> Companions | None:
        """The measures, after all answers were scored."""
        from responsa.evaluate.companions import measure

        return measure(self.wanted, self.items, scored, self._noted, progress) if self.wanted else None


def collectors(
    asked: tuple[bool, Path | None, str],
    models: ScoringModels,
    keep: bool,
    submitted: Sequence[Sequence[SubmittedAnswer]],
) -> list[Collector]:
    """One for each file. ``asked`` are the values of --companions, --references and --bertscore."""
    from responsa import cache
    from responsa.evaluate.bertscore import load_bertscore
    from responsa.evaluate.companions import Wanted, check_libraries, read_references

    companions, references, bertscore = asked
    if bertscore and not references:
        raise InputError("--bertscore compares with expert answers; give them with --references FILE")
    if not companions and not references:
        return [Collector(None, items) for items in submitted]
    told = score = None
    if references:
        check_libraries()
        told = read_references(references)
    if bertscore:
        score = load_bertscore(bertscore, cache.shared() if keep else None)
        score.name  # noqa: B018  # a name that is no model's is refused before long work
    wanted = Wanted(models.nli if companions else None, told, score)
    return [Collector(wanted, items) for items in submitted]


def add(found: Json, measured: Sequence[Companions | None], seed: int) -> None:
    """Put the measures into the JSON of the results: those of each question, and of each file; null for none."""
    from responsa.evaluate.companions import means

    for file, each in zip(cast("Any", found)["files"], measured, strict=True):
        file["companions"] = each and {
            "stamps": dict(each.stamps),
            "means": {
                name: {"mean": e.mean, "low": e.low, "high": e.high, "n": e.n} for name, e in means(each, seed).items()
            },
            "corpus_bleu": each.corpus_bleu,
            "without_reference": list(each.without_reference),
        }
        values: Sequence[dict[str, float] | None] = each.values if each else [None] * len(file["questions"])
        for question, row in zip(file["questions"], values, strict=True):
            question["companions"] = row


def show(path: Path, measured: Companions | None, seed: int) -> None:
    """Print the means of a file."""
    if measured is None:
        return
    from responsa.evaluate.companions import TITLES, means

    listing = table("companion", "mean", "95 % interval", "questions", right=("questions",))
    for name, each in means(measured, seed).items():
        add_row(listing, TITLES[name], f"{each.mean:.4f}", f"{each.low:.4f} {each.high:.4f}", f"{each.n:,}")
    if measured.corpus_bleu is not None:
        add_row(listing, "BLEU of the corpus", f"{measured.corpus_bleu:.4f}", "", "")
    print_table(listing)
    say("Measured by " + ", ".join(f"{name} {value}" for name, value in measured.stamps.items()))
    if measured.without_reference:
        note(f"{path}: {plural(len(measured.without_reference), 'question')} without a reference")
