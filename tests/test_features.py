"""What is known of a candidate, worked by hand on a small rulebook."""

from math import log

import numpy as np
import pytest

from responsa.analysis import Analysis
from responsa.retrieval.bm25 import BM25
from responsa.retrieval.features import OF_PASSAGE, OF_RUN, Extractor, held, names
from responsa.types import Query, Ranking, Run

ROWS = [
    {"id": "a", "document": "d", "number": "1", "text": "Harbour fees", "path": ["Ports"]},
    {"id": "b", "document": "d", "number": "1.1", "text": "A firm must:", "parent": "a"},
    {"id": "c", "document": "d", "number": "1.2", "text": "Harbour dues under Rule 1.1.", "parent": "a"},
    {"id": "e", "document": "d", "number": "1.3", "text": "Goats.", "parent": "a"},
    {"id": "x", "document": "other", "number": "1.Guidance.1", "text": "Harbour pilots."},
]


@pytest.fixture(scope="module")
def corpus(corpus_of):
    return corpus_of(*ROWS)


def run(**scores):
    return Run("r", {"q": Ranking.of("q", scores.items())})


def features(corpus, text, *runs, depth=100):
    (found,) = Extractor(corpus, depth)(runs, [Query("q", text)])
    assert found.values.shape == (len(found.ids), len(names(len(runs))))
    return {
        passage_id: dict(zip(names(len(runs)), row.tolist(), strict=True))
        for passage_id, row in zip(found.ids, found.values, strict=True)
    }


def weight(corpus, word):
    """The idf of a word."""
    return float(BM25().idf(corpus)(Analysis()([word])[0].words).sum())


def test_names():
    assert len(names(2)) == 2 * len(OF_RUN) + len(OF_PASSAGE)
    assert names(2)[:2] == ("run 1 scaled", "run 1 raw")
    assert names(2)[len(OF_RUN)] == "run 2 scaled"


def test_the_scores_of_each_run(corpus):
    found = features(corpus, "harbour", run(a=3.0, b=2.0, c=1.0), run(c=9.0, x=7.0))
    assert list(found) == ["a", "b", "c", "x"]
    idf = weight(corpus, "harbour")
    own = {name: value for name, value in found["b"].items() if name.startswith("run 1")}
    assert own == pytest.approx(
        {
            "run 1 scaled": 0.5,
            "run 1 raw": 2,
            "run 1 per idf": 2 / idf,
            "run 1 reciprocal rank": 10 / 11,
            "run 1 found": 1,
        }
    )
    missing = {name: value for name, value in found["x"].items() if name.startswith("run 1")}  # the lowest, c's
    assert missing == pytest.approx(
        {"run 1 scaled": 0, "run 1 raw": 1, "run 1 per idf": 1 / idf, "run 1 reciprocal rank": 0, "run 1 found": 0}
    )


def test_what_is_below_the_depth_makes_no_difference(corpus):
    long = features(corpus, "harbour fees", run(a=3.0, b=2.0, c=1.0), depth=2)
    assert long == features(corpus, "harbour fees", run(a=3.0, b=2.0), depth=2)
    assert list(long) == ["a", "b"]


def test_place(corpus):
    found = features(corpus, "harbour", run(a=4.0, b=3.0, e=2.0, x=0.0))  # scaled 1, .75, .5, 0
    assert [found[name]["in document"] for name in "abex"] == [0.75, 1, 1, 0]
    assert [found[name]["beside"] for name in "abex"] == [0, 0.5, 0.75, 0]
    assert [found[name]["parent"] for name in "abex"] == [0, 1, 1, 0]
    assert [found[name]["child"] for name in "abex"] == [0.75, 0, 0, 0]
    assert [found[name]["near"] for name in "abex"] == [0.75, 1, 0.75, 0]  # c, between, was not found
    assert [found[name]["document"] for name in "abex"] == [1, 1, 1, 0]  # harbour is twice in d
    assert [found[name]["document rank"] for name in "abex"] == [1, 1, 1, 0.5]


def test_citations(corpus):
    found = features(corpus, "harbour", run(a=4.0, b=3.0, c=2.0, x=0.0))  # c cites b
    assert [found[name]["cited"] for name in "abcx"] == [0, 0.5, 0, 0]
    assert [found[name]["citing"] for name in "abcx"] == [0, 0, 0.75, 0]


def test_words(corpus):
    found = features(corpus, "harbour fees ports", run(a=4.0, c=3.0))
    harbour, fees, ports, dues, rule = (weight(corpus, word) for word in ("harbour", "fees", "ports", "dues", "rule"))
    total = harbour + fees + ports
    assert found["a"]["words"] == pytest.approx((harbour + fees) / total)
    assert found["a"]["words above"] == pytest.approx(ports / total)
    assert found["a"]["words in all"] == pytest.approx(1)
    assert found["a"]["bigrams"] == 0.5
    assert found["a"]["coverage"] == pytest.approx(1)
    assert found["a"]["length"] == pytest.approx(log(3))
    assert found["c"]["words"] == pytest.approx(harbour / total)
    assert found["c"]["coverage"] == pytest.approx(harbour / (harbour + dues + rule + 1 * weight(corpus, "1")))


def test_kinds(corpus):
    found = features(corpus, "harbour", run(b=4.0, x=3.0))
    assert [found["b"][name] for name in ("guidance", "lead-in", "binding")] == [0, 1, 1]
    assert [found["x"][name] for name in ("guidance", "lead-in", "binding")] == [1, 0, 0]


def test_nothing_found_and_no_known_word(corpus):
    assert features(corpus, "harbour", run()) == {}
    assert np.isfinite(list(features(corpus, "zebra", run(a=1.0))["a"].values())).all()
    assert np.isfinite(list(features(corpus, "the", run(a=1.0))["a"].values())).all()  # a stop word alone


def test_held():
    texts = [each.words for each in Analysis()(["harbour fees", "", "goats"])]
    wanted = np.unique(np.concatenate(texts[:1]))
    assert held(texts, wanted).tolist() == [[True, True], [False, False], [False, False]]
    assert held(texts, wanted[:0]).shape == (3, 0)
    assert held([], wanted).shape == (0, 2)
