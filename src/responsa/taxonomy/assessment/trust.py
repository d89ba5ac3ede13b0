"""How far to trust what a model said: how alike its replies are, how near to the criteria, and what the report's own
numbers say to it.

Consistency is measured as in the EU Taxonomy thesis (2024), section 5.4: BLEU of each generation against the others,
and the similarity of each pair, by BERTScore where a model for it is named, else by the vectors of the encoder that
ships, which is another measure and is named as such. Thresholds: see `Limits`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from responsa.analysis import windows
from responsa.cache import Cache
from responsa.errors import MissingDependency
from responsa.taxonomy.assessment import logic
from responsa.taxonomy.evidence.vectors import SHARED, WINDOW
from responsa.taxonomy.values import Consistency, Criterion, Generation, KpiShare, NumberCheck, Trust, Verdict
from responsa.text import normalise

ENCODER = "embedded:encoder"
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w])")
_SMALL = 13  # whole numbers below it count things ("three steps", "1.") and are no thresholds

Pairs = Callable[[Sequence[tuple[str, str]]], list[float]]


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a flag begins.

    ``aligned_share`` (percent) is that of the conventions of alignment_dev.json: an activity of whose eligible amount
    less is reported as aligned is taken as not aligned. On its rows that have KPI lines it flags each verdict that is
    turned round and none that is right. The others had no replies of a model to be chosen on: two wordings of one
    finding, written for the tests, are above them, findings on different matters below (docs/taxonomy.md).
    """

    aligned_share: float = 5.0
    agreement: float = 0.8
    bleu: float = 0.05
    similarity: float = 0.55
    bertscore: float = 0.85
    scc: float = 0.6


LIMITS = Limits()


@dataclass(frozen=True)
class Likeness:
    """What compares two texts, from 0 to 1, and its name."""

    name: str
    pairs: Pairs
    least: float = LIMITS.similarity


def likeness(bertscore: str = "", cache: Cache | None = None) -> Likeness:
    """BERTScore (F1) by the model of that name, else the cosine of the vectors of the encoder that ships."""
    if not bertscore:
        return Likeness(f"cosine of sentence vectors ({ENCODER})", _cosines)
    from responsa.evaluate.bertscore import load_bertscore

    score = load_bertscore(bertscore, cache)

    def pairs(texts: Sequence[tuple[str, str]]) -> list[float]:
        return [each.f1 for each in score([one for one, _ in texts], [other for _, other in texts])]

    return Likeness(f"BERTScore F1 ({score.name})", pairs, LIMITS.bertscore)


def _cosines(texts: Sequence[tuple[str, str]]) -> list[float]:
    """Of the mean vectors of each text's windows, at least 0; 0 where a text is blank."""
    return [
        max(0.0, float(_vector(one) @ _vector(other))) if one.strip() and other.strip() else 0.0 for one, other in texts
    ]


@lru_cache(maxsize=256)
def _vector(text: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    from responsa.models.load import load_encoder

    rows = load_encoder(ENCODER).encode(windows(text, WINDOW, SHARED), "passage")
    mean = rows.mean(axis=0)
    made: np.ndarray[tuple[int], np.dtype[np.float32]] = mean / max(float(np.linalg.norm(mean)), 1e-12)
    return made


def bleu(text: str, others: Sequence[str]) -> float:
    """BLEU of a text against several, over the orders of n-grams that it has. MissingDependency without sacrebleu."""
    try:
        from sacrebleu.metrics import BLEU
    except ImportError as error:
        raise MissingDependency("BLEU", "eval") from error
    return min(1.0, max(0.0, float(BLEU(effective_order=True).sentence_score(text, list(others)).score) / 100))


def nearness(texts: Sequence[str], like: Likeness) -> list[float]:
    """For each text its mean likeness to the others; 1 where it is alone."""
    if len(texts) < 2:
        return [1.0] * len(texts)
    asked = [(one, other) for at, one in enumerate(texts) for place, other in enumerate(texts) if at != place]
    found = like.pairs(asked)
    each = len(texts) - 1
    return [sum(found[at * each : (at + 1) * each]) / each for at in range(len(texts))]


def consistency(step: int, texts: Sequence[str], like: Likeness) -> Consistency:
    """Equations 5.4 and 5.5, as means over the generations. Nothing where fewer than two texts have words."""
    there = [text for text in texts if text.strip()]
    if len(there) < 2:
        return Consistency(step)
    try:
        scores = [bleu(text, [*there[:at], *there[at + 1 :]]) for at, text in enumerate(there)]
    except MissingDependency:
        scores = []
    near = nearness(there, like)
    return Consistency(step, sum(scores) / len(scores) if scores else None, sum(near) / len(near))


def trust(generations: Sequence[Generation], asked: int, criteria: str, like: Likeness) -> Trust:
    """``criteria`` is their text, which the first step is compared with."""
    if not generations:
        return Trust(asked, 0, flags=(f"none of {asked} generations gave a usable reply",))
    votes = [each.concluded for each in generations]
    most = logic.majority_verdict(votes)
    agreement = votes.count(most) / len(votes)
    steps = [
        consistency(step, texts, like)
        for step, texts in (
            (1, [each.breakdown for each in generations]),
            (2, [each.findings for each in generations]),
            (3, [each.reasoning for each in generations]),
        )
    ]
    first = [each.breakdown for each in generations if each.breakdown.strip()]
    near = like.pairs([(text, criteria) for text in first]) if first else []
    try:
        said = [bleu(text, [criteria]) for text in first]
    except MissingDependency:
        said = []
    made = Trust(
        asked, len(generations), len(set(votes)) > 1, agreement, logic.entropy(votes),
        tuple(each for each in steps if each.similarity is not None),
        sum(said) / len(said) if said else None, sum(near) / len(near) if near else None, like.name,
    )  # fmt: skip
    return replace(made, flags=tuple(_flags(made, generations, criteria, like)))


def _flags(made: Trust, generations: Sequence[Generation], criteria: str, like: Likeness) -> list[str]:
    flags = []
    if made.usable < made.asked:
        flags.append(f"{made.asked - made.usable} of {made.asked} generations gave no usable reply")
    if made.agreement is not None and made.agreement < LIMITS.agreement:
        flags.append(f"the generations disagree: {made.agreement:.0%} of them conclude alike")
    elif made.disagreement:
        flags.append(
            "one generation concludes otherwise" if made.usable < 10 else "some generations conclude otherwise"
        )
    last = made.consistency[-1] if made.consistency else None
    if last and last.similarity is not None and last.similarity < like.least:
        flags.append(f"the reasonings differ (similarity {last.similarity:.2f}, below {like.least})")
    if last and last.bleu is not None and last.bleu < LIMITS.bleu:
        flags.append(f"the reasonings are worded differently (BLEU {last.bleu:.2f}, below {LIMITS.bleu})")
    least = LIMITS.scc if like.least == LIMITS.similarity else LIMITS.bertscore
    if made.scc_similarity is not None and made.scc_similarity < least:
        flags.append(f"the first step strays from the criteria (similarity {made.scc_similarity:.2f}, below {least})")
    strange = sorted({number for each in generations for number in invented(each.breakdown, criteria)})
    if strange:
        flags.append(f"the first step names numbers that the criteria do not: {', '.join(strange[:5])}")
    odd = sum(each.concluded != each.verdict for each in generations)
    if odd:
        flags.append(
            f"{odd} of {len(generations)} generations conclude otherwise than their verdicts per criterion and the"
            " logic of the criteria say"
        )
    return flags


def invented(text: str, criteria: str) -> list[str]:
    """Numbers in a text that the criteria do not name, without small counts: thresholds made up or changed."""
    known = {_levelled(each) for each in _NUMBER.findall(normalise(criteria))}
    found = []
    for each in _NUMBER.findall(normalise(text)):
        value = _levelled(each)
        small = value.isdigit() and int(value) < _SMALL
        if not small and value not in known:
            found.append(each)
    return list(dict.fromkeys(found))


def _levelled(number: str) -> str:
    """Decimal commas as points; marks of thousands left out."""
    if re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", number):
        return re.sub(r"[.,]", "", number)
    return number.replace(",", ".").rstrip(".")


# --- the report's own numbers beside a verdict ----------------------------------------------------------


def against_kpi(verdict: Verdict | None, shares: Sequence[KpiShare]) -> str:
    """Why what the company reports as aligned does not agree with a verdict; "" where it does, or says nothing."""
    best = max(shares, key=lambda each: each.share, default=None)
    if verdict is None or best is None:
        return ""
    said = f"the company reports {best.share:.1f} % of its eligible {best.kpi} for the activity as aligned"
    if verdict == "aligned" and best.share < LIMITS.aligned_share:
        return f"the verdict is aligned, but {said} (below {LIMITS.aligned_share:g} %)"
    if verdict == "not_aligned" and best.share >= LIMITS.aligned_share:
        return f"the verdict is not aligned, but {said}"
    return ""


def against_numbers(root: Criterion, checks: Sequence[NumberCheck], verdict: Verdict | None) -> str:
    """Why the figures beside the thresholds do not agree with a verdict on a criterion."""
    from responsa.taxonomy.activities.criteria import walk
    from responsa.taxonomy.numbers.check import disagreement

    own = {each.id for each in walk(root)}
    return disagreement([each for each in checks if each.criterion in own], verdict)
