from __future__ import annotations

import pytest

from responsa.errors import InputError
from responsa.learn.eba import Inquiry, Named, by_article
from responsa.types import Ranking, Run


def test_named_articles_by_order_of_mention():
    inquiry = Inquiry("1", "Does Article 36 CRR or Article 4(1) apply?", "See Article 425 CRR.", "", "", "", ())
    hits = Named()(inquiry).hits
    assert [(hit.passage_id, hit.score) for hit in hits] == [
        ("CRR/36", 1.0),
        ("CRR/4", 0.5),
        ("CRR/425", pytest.approx(1 / 3)),
    ]
    assert Named()(Inquiry("2", "Why?", "", "", "", "", ())).hits == ()


def test_paragraphs_summed_up_by_article():
    pairs = [("CRR/4/1", 4.0), ("CRR/425/1", 3.0), ("CRR/425/2.2", 2.0), ("CRR/425/p", 1.0), ("CRR/7", 0.5)]
    run = Run("r", {"q": Ranking.of("q", pairs)})
    best = by_article(run).rankings["q"].hits
    assert [(hit.passage_id, hit.score) for hit in best] == [("CRR/4", 4.0), ("CRR/425", 3.0), ("CRR/7", 0.5)]
    more = by_article(run, decay=0.5).rankings["q"].hits
    assert [(hit.passage_id, hit.score) for hit in more] == [("CRR/425", 4.25), ("CRR/4", 4.0), ("CRR/7", 0.5)]
    two = by_article(run, decay=0.5, depth=2).rankings["q"].hits
    assert dict(two)["CRR/425"] == 4.0


@pytest.mark.parametrize("options", [{"decay": -0.1}, {"decay": 1.1}, {"depth": 0}])
def test_settings_out_of_range(options):
    with pytest.raises(InputError, match="by_article: decay from 0 to 1"):
        by_article(Run("r", {}), **options)
