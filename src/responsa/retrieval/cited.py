"""Passages that a passage found cites, and passages that cite it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from responsa.corpus.artefacts import is_whole
from responsa.corpus.view import Corpus
from responsa.errors import RecipeError
from responsa.retrieval import links
from responsa.retrieval.links import Links
from responsa.retrieval.scale import minmax
from responsa.types import Query, Ranking, Run


@dataclass(frozen=True)
class Cited:
    """Lifts passages that one of the ``first`` passages cites; with ``citing``, also those that cite one of them.

    Over the first ``depth`` hits, scaled to 0-1, a passage gains ``weight`` times the best score among the passages
    that it is linked to in this way. A passage not found before enters with that gain alone. How often a
    citation leads to what answers depends on the rulebook: ``docs/evidence.md`` has the counts for ObliQA.
    """

    weight: float = 0.1
    first: int = 10
    depth: int = 100
    citing: bool = True

    def __post_init__(self) -> None:
        if self.weight < 0 or min(self.first, self.depth) < 1:
            raise RecipeError(
                "cited: weight of at least 0 and first and depth of at least 1 are needed, got "
                f"{self.weight}, {self.first} and {self.depth}"
            )

    def __call__(self, run: Run, queries: Sequence[Query], corpus: Corpus) -> Run:
        """Raw scores; at most ``depth`` passages, and those that entered."""
        table = links.links(corpus)
        return Run(f"{run.name} > {self!r}", {query.id: self._lift(run.rankings[query.id], table) for query in queries})

    def prepare(self, corpus: Corpus) -> Path:
        """Read the citations of the corpus where that has not been done."""
        return links.prepare(corpus)

    def ready(self, corpus: Corpus) -> bool:
        """Whether the citations of the corpus have been read."""
        return is_whole(corpus.artefacts.folder / links.name(corpus))

    def _lift(self, ranking: Ranking, table: Links) -> Ranking:
        scaled = minmax(ranking, self.depth)
        best: dict[int, float] = defaultdict(float)
        for hit in scaled.hits[: self.first]:
            position = table.position(hit.passage_id)
            if position is None:
                continue
            for other in table.cited_by(position) + (table.citing(position) if self.citing else []):
                best[other] = max(best[other], hit.score)
        scores = dict(scaled.hits)
        for other, score in best.items():
            if self.weight * score > 0:
                passage_id = table.ids[other]
                scores[passage_id] = scores.get(passage_id, 0.0) + self.weight * score
        return Ranking.of(ranking.query_id, scores.items())
