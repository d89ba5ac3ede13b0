"""Putting scores on a scale that can be compared."""

from __future__ import annotations

from responsa.types import Ranking


def minmax(ranking: Ranking, depth: int = 100) -> Ranking:
    """The first ``depth`` hits with scores from 0 (the last of them) to 1 (the first): RIRAG, equation 5.

    All equal scores become 1. An empty ranking stays empty.
    """
    hits = ranking.hits[:depth]
    if not hits:
        return Ranking(ranking.query_id, (), "minmax")
    high, low = hits[0].score, hits[-1].score
    span = high - low
    scaled = ((hit.passage_id, (hit.score - low) / span if span else 1.0) for hit in hits)
    return Ranking.of(ranking.query_id, scaled, "minmax")
