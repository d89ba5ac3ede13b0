"""Articles ranked for an inquiry without reading the articles: those that it names, and those often asked about."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from responsa.errors import InputError
from responsa.learn.eba.inquiries import Inquiry, named, passage_id
from responsa.types import Ranking, Run


@dataclass(frozen=True)
class Named:
    """The articles that an inquiry names, in order of mention: the grammar of citations as a retriever of its own."""

    def __call__(self, inquiry: Inquiry, k: int = 100) -> Ranking:
        """Scores are 1, 1/2, 1/3 ... by order of mention; empty where no article is named."""
        pairs = [(passage_id(article), 1 / place) for place, article in enumerate(named(inquiry), 1)]
        return Ranking.of(inquiry.id, pairs, k=k)


@dataclass(frozen=True)
class NamedThenFrequent:
    """The baseline to beat: the articles that an inquiry names, then those most often gold in training.

    ``shares`` is how often each article is gold. Named articles come first, those more often gold before others.
    """

    shares: Mapping[str, float]

    @classmethod
    def learn(cls, training: Sequence[Inquiry]) -> NamedThenFrequent:
        """Count the gold of the training inquiries."""
        counts = Counter(article for item in training for article in item.articles)
        return cls({article: count / max(len(training), 1) for article, count in counts.items()})

    def __call__(self, inquiry: Inquiry, k: int = 100) -> Ranking:
        """A ranking of passages of `edition`, best first."""
        scores = dict(self.shares)
        articles = named(inquiry)
        for place, article in enumerate(articles):
            scores[article] = 1 + scores.get(article, 0.0) + 0.5 * (len(articles) - place) / len(articles)
        return Ranking.of(inquiry.id, ((passage_id(article), score) for article, score in scores.items()), k=k)


def by_article(run: Run, decay: float = 0.0, depth: int = 5) -> Run:
    """A run over paragraphs (ids of `paragraphs`) as one over articles.

    An article scores its best paragraph, and with ``decay`` its next ones too, up to ``depth`` in all, each
    counting ``decay`` times as much as the one before. Ids of articles pass through.
    """
    if not 0 <= decay <= 1 or depth < 1:
        raise InputError(f"by_article: decay from 0 to 1 and depth of at least 1 are needed, got {decay} and {depth}")
    rankings = {}
    for query_id, ranking in run.rankings.items():
        scores: dict[str, list[float]] = defaultdict(list)
        for hit in ranking.hits:
            scores["/".join(hit.passage_id.split("/")[:2])].append(hit.score)
        pairs = [
            (article, sum(score * decay**place for place, score in enumerate(found[:depth])))
            for article, found in scores.items()
        ]
        rankings[query_id] = Ranking.of(query_id, pairs)
    return Run(run.name, rankings)
