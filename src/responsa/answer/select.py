"""Which of the passages found an answer is written from."""

from __future__ import annotations

from dataclasses import dataclass

from responsa.errors import RecipeError
from responsa.types import Ranking, Scale


@dataclass(frozen=True)
class ThresholdDrop:
    """Keep passages from the top while the score stays at or above ``threshold`` and falls by less than ``drop``.

    RIRAG, section 5.2 (.7 and .2 on scores scaled to 0-1 within the query); AUEB, section 3 (.9 and .1 on a
    reranker's probabilities). The first passage is always kept, at most ``most`` are. ``scale`` is what the
    scores must be; a ranking on another scale is refused, because the numbers would mean something else.
    """

    threshold: float = 0.7
    drop: float = 0.2
    most: int = 8
    scale: Scale = "minmax"

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1 or self.drop <= 0 or self.most < 1:
            raise RecipeError(
                "threshold-drop: threshold from 0 to 1, drop above 0 and most of at least 1 are needed, got "
                f"{self.threshold}, {self.drop} and {self.most}"
            )

    def __call__(self, ranking: Ranking) -> Ranking:
        """The kept head of the ranking; empty for an empty one."""
        if ranking.scale != self.scale:
            raise RecipeError(
                f"threshold-drop: the scores are {ranking.scale!r}, the threshold is for {self.scale!r}; "
                "put a stage between that scales them, or set scale"
            )
        kept = list(ranking.hits[:1])
        for previous, hit in zip(ranking.hits, ranking.hits[1 : self.most], strict=False):
            if hit.score < self.threshold or previous.score - hit.score >= self.drop:
                break
            kept.append(hit)
        return Ranking(ranking.query_id, tuple(kept), ranking.scale)
