"""The measures that stand beside RePASs in the RIRAG paper (table 3), each from 0 to 1 but for SummaC-ZS.

From the passages, by our engine of entailment: SummaC-ZS (Laban et al., 2022) and a check in the manner of FactCC
(Kryscinski et al., 2020). From expert answers: BLEU (Papineni et al., 2002) by sacrebleu, ROUGE (Lin, 2004) by
rouge-score and BERTScore (Zhang et al., 2020).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from responsa.entailment import EntailmentModel, summac_zs
from responsa.errors import InputError, MissingDependency
from responsa.evaluate.agreement import bootstrap_mean
from responsa.evaluate.bertscore import BertScore
from responsa.evaluate.repass import Scored, Working
from responsa.evaluate.repass_files import SubmittedAnswer, read_answers
from responsa.types import Estimate

if TYPE_CHECKING:
    from sacrebleu.metrics import BLEU

TITLES = {
    "summac_zs": "SummaC-ZS",
    "factcc_style": "FactCC-style",
    "bertscore_precision": "BERTScore precision",
    "bertscore_recall": "BERTScore recall",
    "bertscore_f1": "BERTScore F1",
    "bleu": "BLEU",
    **{
        f"{rouge}_{part}": f"ROUGE-{rouge[5:]} {part.replace('f1', 'F1')}"
        for rouge in ("rouge1", "rouge2", "rougeL")
        for part in ("precision", "recall", "f1")
    },
}
"""Measures by their name in JSON, in the order of the paper's table."""

Values = dict[str, float]
References = Mapping[str, tuple[str, ...]]
Progress = Callable[[int, int, str], None]


class Noted(NamedTuple):
    """What scoring an answer leaves for the measures from its passages."""

    summac_zs: float | None
    source: str
    sentences: list[str]


@dataclass(frozen=True)
class Companions:
    """Measures of the answers of a file: ``values`` for each of its scores, in their order; a measure that has no
    value for an answer is not in it.

    ``corpus_bleu`` is BLEU of all answers as one text, None without references; ``without_reference`` are the
    questions that have none and are left out of the measures that need one.
    """

    values: tuple[Values, ...]
    stamps: Mapping[str, str]
    corpus_bleu: float | None = None
    without_reference: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wanted:
    """What is measured. ``nli`` None: nothing from the passages; ``references`` None: nothing from expert answers,
    BERTScore among it."""

    nli: EntailmentModel | None = None
    references: References | None = None
    bertscore: BertScore | None = None


def note(working: Working) -> Noted:
    """What `measure` needs of an answer's working."""
    found = summac_zs(working.entails, working.contradicts)
    return Noted(found, " ".join(working.parts.item.passages), working.parts.answers)


def measure(
    wanted: Wanted,
    items: Sequence[SubmittedAnswer],
    scored: Scored,
    noted: Sequence[Noted],
    progress: Progress = lambda _done, _total, _label: None,
) -> Companions:
    """The measures of the answers of a file that were scored; ``noted`` by `note`, of those with an answer.

    An unanswered question that counts as zero in ``scored`` has 0 for each measure. InputError where no question has a
    reference.
    """
    kept = [item for item in items if not item.reason or scored.policy == "zero"]
    values: list[Values] = [{} for _ in kept]
    stamps: dict[str, str] = {}
    if wanted.nli:
        made = iter(_from_passages(noted, wanted.nli, progress))
        _merge(values, [{"summac_zs": 0.0, "factcc_style": 0.0} if item.reason else next(made) for item in kept])
        stamps |= {"summac_zs": wanted.nli.name, "factcc_style": wanted.nli.name}
    if wanted.references is None:
        return Companions(tuple(values), stamps)
    told = [(place, item) for place, item in enumerate(kept) if item.id in wanted.references]
    if not told:
        raise InputError("no answer has a reference: no question id stands in both files")
    check_libraries()
    texts, against = [item.answer for _, item in told], [wanted.references[item.id] for _, item in told]
    rows = [values[place] for place, _ in told]
    bleu, corpus = _bleu(texts, against)
    _merge(rows, bleu)
    _merge(rows, _rouge(texts, against))
    stamps |= corpus.stamps
    if wanted.bertscore:
        _merge(rows, _bertscore(wanted.bertscore, texts, against, progress))
        stamps["bertscore"] = wanted.bertscore.name
    missing = tuple(item.id for item in kept if item.id not in wanted.references)
    return Companions(tuple(values), stamps, corpus.bleu, missing)


def read_references(path: Path) -> dict[str, tuple[str, ...]]:
    """Expert answers by question, from a file as `read_answers` reads it; an id that comes again adds another.

    InputError for a question without an answer.
    """
    found: dict[str, tuple[str, ...]] = {}
    for item in read_answers(path):
        if item.reason:
            raise InputError(f"{path}: question {item.id!r}: {item.reason}; a reference needs one")
        found[item.id] = (*found.get(item.id, ()), item.answer)
    return found


def check_libraries() -> None:
    """MissingDependency where what measures BLEU and ROUGE is not installed; called before long work."""
    try:
        importlib.import_module("sacrebleu.metrics")
        importlib.import_module("rouge_score.rouge_scorer")
    except ImportError as error:
        raise MissingDependency("BLEU and ROUGE", "eval") from error


def means(companions: Companions, seed: int = 0) -> dict[str, Estimate]:
    """The mean of each measure over the answers that have it, with its 95 % bootstrap interval."""
    rows = {name: [row[name] for row in companions.values if name in row] for name in TITLES}
    return {name: bootstrap_mean(row, seed) for name, row in rows.items() if row}


def _merge(rows: Sequence[Values], found: Sequence[Values]) -> None:
    for row, values in zip(rows, found, strict=True):
        row |= values


def _from_passages(noted: Sequence[Noted], model: EntailmentModel, progress: Progress) -> list[Values]:
    """The share of an answer's sentences whose likeliest class is entailment where the premise is its whole source:
    what the source does not tell is as inconsistent as what it denies. 0 without a source, no value without a
    sentence."""
    pairs = list(dict.fromkeys((each.source, text) for each in noted if each.source for text in each.sentences))
    progress(0, len(pairs), "against whole sources")
    found = model(pairs) if pairs else ()
    consistent = {pair for pair, row in zip(pairs, found, strict=True) if int(row.argmax()) == 0}
    rows: list[Values] = []
    for each in noted:
        row = {} if each.summac_zs is None else {"summac_zs": each.summac_zs}
        if each.sentences:
            held = [(each.source, text) in consistent for text in each.sentences]
            row["factcc_style"] = sum(held) / len(held)
        rows.append(row)
    return rows


class _Corpus(NamedTuple):
    bleu: float
    stamps: dict[str, str]


def _bleu(texts: Sequence[str], references: Sequence[tuple[str, ...]]) -> tuple[list[Values], _Corpus]:
    """Sentence BLEU of each answer taken as one sentence, over the orders that it has; and corpus BLEU."""
    from sacrebleu.metrics import BLEU

    alone = BLEU(effective_order=True)
    rows = [
        {"bleu": _share(alone.sentence_score(text, list(given)).score)}
        for text, given in zip(texts, references, strict=True)
    ]
    whole = BLEU()
    most = max(map(len, references))
    streams = [[given[place] if place < len(given) else None for given in references] for place in range(most)]
    score = _share(whole.corpus_score(list(texts), streams).score)  # type: ignore[arg-type,unused-ignore]
    stamps = {"bleu": _signature(alone), "corpus_bleu": _signature(whole)}
    return rows, _Corpus(score, stamps | {"rouge": f"rouge-score {metadata.version('rouge-score')}"})


def _signature(bleu: BLEU) -> str:
    return f"sacrebleu {bleu.get_signature()}"


def _share(percent: float) -> float:
    return min(1.0, max(0.0, percent / 100))  # sacrebleu's 100 is 100.00000000000004


def _rouge(texts: Sequence[str], references: Sequence[tuple[str, ...]]) -> list[Values]:
    """ROUGE-1, -2 and -L, words as they are written; of several references the one with the best F1."""
    from rouge_score.rouge_scorer import RougeScorer

    names = ("rouge1", "rouge2", "rougeL")
    scorer = RougeScorer(list(names), use_stemmer=False)
    rows = []
    for text, given in zip(texts, references, strict=True):
        found: Any = scorer.score_multi(list(given), text)
        row: Values = {}
        for name in names:
            part = found[name]
            row |= _parts(name, part.precision, part.recall, part.fmeasure)
        rows.append(row)
    return rows


def _bertscore(
    score: BertScore, texts: Sequence[str], references: Sequence[tuple[str, ...]], progress: Progress
) -> list[Values]:
    """BERTScore; of several references the one with the best F1."""
    pairs = [(text, each) for text, given in zip(texts, references, strict=True) for each in given]
    found = iter(
        score(
            [text for text, _ in pairs],
            [each for _, each in pairs],
            lambda done, total: progress(done, total, "BERTScore"),
        )
    )
    best = (max((next(found) for _ in given), key=lambda each: each.f1) for given in references)
    return [_parts("bertscore", each.precision, each.recall, each.f1) for each in best]


def _parts(name: str, precision: float, recall: float, f1: float) -> Values:
    return {f"{name}_precision": float(precision), f"{name}_recall": float(recall), f"{name}_f1": float(f1)}
