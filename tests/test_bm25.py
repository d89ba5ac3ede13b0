"""BM25 on collections small enough to work by hand."""

from __future__ import annotations

from datetime import date
from math import log

import numpy as np
import pytest

from responsa import analysis
from responsa.retrieval import bm25
from responsa.retrieval.bm25 import BM25, best
from responsa.types import Query

PLAIN = {
    "k1": 1.0,
    "b": 0.5,
    "bigram_weight": 0.0,
    "context_weight": 0.0,
    "stemmer": "none",
    "stopwords": "none",
}
# Lengths 2, 3 and 4, mean 3. With k1 = 1 and b = 1/2 a term that occurs tf times gains tf / (tf + K),
# K = 1/2 + length / 6: 5/6 in a, 1 in b, 7/6 in c.
THREE = (("a", "bank report"), ("b", "bank bank loss"), ("c", "fund report fund audit"))
BANK, LOSS = log(1 + 1.5 / 2.5), log(1 + 2.5 / 1.5)  # Lucene: ln(1 + (n - df + 1/2) / (df + 1/2)), n 3, df 2 and 1


@pytest.fixture(scope="module")
def three(corpus_of):
    return corpus_of(*THREE)


def search(retriever, corpus, text, k=10, background=""):
    run = retriever([Query("q", text, background)], corpus, k)
    return {hit.passage_id: hit.score for hit in run.rankings["q"].hits}


def approximately(scores):
    return pytest.approx(scores, rel=1e-5)


# The arithmetic


@pytest.mark.parametrize(
    ("variant", "expected"),
    [
        # a: .4700 * 1 / (1 + 5/6) = .2564; b: .4700 * 2 / (2 + 1) + .9808 * 1 / (1 + 1) = .8038
        ("lucene", {"b": 0.803751, "a": 0.256366}),
        # idf of bank is ln(1.5 / 2.5) < 0, so 0, and a scores nothing; loss ln(2.5 / 1.5) = .5108, halved
        ("robertson", {"b": 0.255413}),
        # idf ln(3/2) = .4055 and ln 3 = 1.0986; gain twice as high (k1 + 1)
        ("atire", {"b": 1.639233, "a": 0.442325}),
    ],
)
def test_three_passages_by_hand(three, variant, expected):
    assert search(BM25(**PLAIN, variant=variant), three, "bank loss") == approximately(expected)


@pytest.mark.parametrize(
    ("function", "df", "n", "expected"),
    [
        (bm25.idf_lucene, 1, 3, log(8 / 3)),
        (bm25.idf_lucene, 3, 3, log(8 / 7)),
        (bm25.idf_lucene, 0, 0, log(2)),
        (bm25.idf_robertson, 1, 3, log(5 / 3)),
        (bm25.idf_robertson, 2, 3, 0.0),
        (bm25.idf_atire, 1, 3, log(3)),
        (bm25.idf_atire, 3, 3, 0.0),
    ],
)
def test_idf(function, df, n, expected):
    assert function(np.array([df]), n)[0] == pytest.approx(expected)


def test_k1_and_b(three):
    # k1 = 0: presence alone counts, tf / tf = 1.
    assert search(BM25(**PLAIN | {"k1": 0.0}), three, "bank loss") == approximately({"a": BANK, "b": BANK + LOSS})
    # b = 0: the length does not count, K = 1: a 1/2, b 2/3 and 1/2.
    expected = {"a": BANK / 2, "b": BANK * 2 / 3 + LOSS / 2}
    assert search(BM25(**PLAIN | {"b": 0.0}), three, "bank loss") == approximately(expected)


def test_a_word_asked_twice_counts_twice(three):
    once, twice = (search(BM25(**PLAIN), three, text) for text in ("loss", "loss Loss"))
    assert twice == approximately({"b": 2 * once["b"]})


def test_the_background_is_searched_too(three):
    assert search(BM25(**PLAIN), three, "bank", background="loss") == search(BM25(**PLAIN), three, "bank loss")


def test_pairs(three):
    # The pair (bank, loss) stands in b alone: idf ln(8/3); tf 1, length 3 (words, not pairs): 1/2; weight 1/2.
    plain, pairs = (search(BM25(**PLAIN | {"bigram_weight": weight}), three, "bank loss") for weight in (0.0, 0.5))
    assert pairs == approximately({"a": plain["a"], "b": plain["b"] + 0.5 * LOSS / 2})
    # The other way round it is another pair, in no passage.
    assert search(BM25(**PLAIN | {"bigram_weight": 0.5}), three, "loss bank") == approximately(plain)


def test_context(corpus_of):
    # c stands under the heading "Bank": the word counts 1/2 there. Lengths 2, 3 and 4.5, mean 19/6; bank now has
    # df 3. In c: tf 1/2, K = 1/2 + 1/2 * 4.5 / (19/6) = 1.2105.
    rows = [{"id": name, "text": text} for name, text in THREE]
    rows[2]["path"] = ["Bank"]
    found = search(BM25(**PLAIN | {"context_weight": 0.5}), corpus_of(*rows), "bank")
    idf = log(1 + 0.5 / 3.5)
    expected = {
        "b": idf * 2 / (2 + 0.5 + 0.5 * 3 / (19 / 6)),
        "a": idf * 1 / (1 + 0.5 + 0.5 * 2 / (19 / 6)),
        "c": idf * 0.5 / (0.5 + 0.5 + 0.5 * 4.5 / (19 / 6)),
    }
    assert found == approximately(expected)
    assert expected["c"] == pytest.approx(0.039032, rel=1e-4)
    assert set(search(BM25(**PLAIN), corpus_of(*rows), "bank")) == {"a", "b"}


def test_context_is_the_lead_in_above_and_the_items_below(corpus_of):
    corpus = corpus_of(
        {"id": "1", "text": "A custodian must:"},
        {"id": "1a", "text": "keep ledgers; and", "parent": "1"},
        {"id": "1b", "text": "count coins.", "parent": "1"},
        {"id": "2", "text": "Vaults are locked."},
    )
    with_context = BM25(context_weight=0.2)
    assert set(search(with_context, corpus, "custodian")) == {"1", "1a", "1b"}
    assert next(iter(search(with_context, corpus, "custodian counts coins"))) == "1b"
    assert list(search(with_context, corpus, "coins")) == ["1b", "1"]


def test_windows_map_back_to_the_best_of_their_passage(corpus_of):
    # Windows of 3 words that share 1: "bank xx yy" and "yy zz loss". The passage scores as the better one, not as the
    # sum, and appears once. Its length is that of its windows, 6; with b's 2 the mean is 4. Both terms: n 2, df 1.
    corpus = corpus_of(("a", "bank xx yy zz loss"), ("b", "fund audit"))
    windowed = BM25(**PLAIN, window=3, overlap=1)
    idf, long = log(1 + 1.5 / 1.5), 0.5 + 0.5 * 6 / 4
    assert search(windowed, corpus, "bank loss") == approximately({"a": idf / (1 + long)})
    # A word in both windows has df 1 all the same: passages are counted.
    assert search(windowed, corpus, "yy") == approximately({"a": idf / (1 + long)})
    assert search(windowed, corpus, "audit") == approximately({"b": idf / (1 + 0.5 + 0.5 * 2 / 4)})


def test_a_long_passage_is_found_by_its_end(corpus_of):
    filler = " ".join(f"filler{n}" for n in range(1000))
    corpus = corpus_of(("long", f"{filler} quarterly attestation"), ("short", "quarterly return"), ("other", filler))
    found = search(BM25(), corpus, "quarterly attestation")
    assert next(iter(found)) == "long"
    assert set(found) == {"long", "short"}


# The edges


@pytest.mark.parametrize("text", ["zebra", "", "?!", "the of and", "漢字"])
def test_a_question_without_a_known_word_finds_nothing(three, text):
    assert search(BM25(), three, text) == {}


def test_passages_that_share_nothing_are_left_out(three):
    assert set(search(BM25(**PLAIN), three, "audit", k=100)) == {"c"}


@pytest.mark.parametrize(("k", "count"), [(0, 0), (1, 1), (2, 2), (3, 2), (1000, 2)])
def test_k(three, k, count):
    assert len(search(BM25(**PLAIN), three, "bank", k=k)) == count


def test_empty_passages_are_not_indexed(corpus_of):
    corpus = corpus_of(("a", "bank report"), ("b", ""), ("c", " \n\t "), ("d", "loss"))
    assert len(corpus) == 4
    # Two passages of lengths 2 and 1: mean 3/2.
    expected = log(1 + 1.5 / 1.5) / (1 + 0.5 + 0.5 * 2 / 1.5)
    assert search(BM25(**PLAIN), corpus, "bank") == approximately({"a": expected})


def test_ties_go_by_id_descending_also_at_the_cut(corpus_of):
    names = [f"p{n}" for n in (1, 10, 2, 9, 30)] + ["Z", "é"]
    corpus = corpus_of(*[(name, "bank report") for name in names], ("best", "bank"))
    expected = ["best", *sorted(names, reverse=True)]
    for k in range(1, len(expected) + 1):
        assert list(search(BM25(**PLAIN), corpus, "bank", k)) == expected[:k]


@pytest.mark.parametrize(
    ("scores", "k", "expected"),
    [
        ([], 3, []),
        ([0, 0], 1, []),
        ([0, 0], 5, []),
        ([1, 2, 3], 2, [2, 1]),
        ([2, 2, 2], 2, [2, 1]),
        ([0, 5, 0, 5, 1], 3, [3, 1, 4]),
        ([0, 5, 0, 0], 3, [1]),
        ([1, 2], 9, [1, 0]),
    ],
)
def test_best(scores, k, expected):
    assert best(np.array(scores, dtype=np.float32), k) == expected


def test_an_empty_corpus(library_of):
    library = library_of({"rules.md": "---\ndocument: R\nvalid_from: 2024-01-01\n---\n1.1 A bank must report.\n"})
    before = library.corpus(date(2020, 1, 1))
    assert len(before) == 0
    assert search(BM25(), before, "bank") == {}
    assert BM25().idf(before)(np.array([1, 2], dtype=np.uint64)).tolist() == pytest.approx([log(2), log(2)])


def test_unicode(corpus_of):
    corpus = corpus_of(
        ("§1", "Der Prüfer muß das Große prüfen."),
        ("§2", "Le contrôleur vérifie l’état."),
        ("漢", "銀行 は 報告 する"),
        ("ο", "Η ΤΡΑΠΕΖΑ αναφέρει"),
    )
    retriever = BM25(stemmer="none", stopwords="none")
    for text, expected in (
        ("PRÜFER", "§1"),
        ("pru\u0308fer", "§1"),
        ("l'état", "§2"),
        ("報告", "漢"),
        ("τραπεζα", "ο"),
    ):
        assert list(search(retriever, corpus, text)) == [expected]


# Batches and artefacts


def test_a_batch_is_its_questions_one_by_one(three):
    queries = [Query("1", "bank loss"), Query("2", "zebra"), Query("3", "report fund")]
    together = BM25()(queries, three, 2).rankings
    assert list(together) == ["1", "2", "3"]
    for query in queries:
        assert BM25()([query], three, 2).rankings[query.id] == together[query.id]


def test_each_date_has_its_own_index(library_of):
    library = library_of(
        {
            "old.md": "---\ndocument: R\nvalid_from: 2020-01-01\nvalid_to: 2022-12-31\n---\n1.1 Report on paper.\n",
            "new.md": "---\ndocument: R\nvalid_from: 2023-01-01\n---\n1.1 Report by portal.\n\n1.2 Paper is refused.\n",
        }
    )
    then, now = library.corpus(date(2021, 1, 1)), library.corpus()
    retriever = BM25()
    assert retriever.prepare(then) != retriever.prepare(now)
    assert retriever.prepare(now) == retriever.prepare(library.corpus(date(2024, 1, 1)))
    assert list(search(retriever, then, "paper")) == ["R/1.1"]
    assert list(search(retriever, now, "paper")) == ["R/1.2"]
    assert list(search(retriever, now, "portal")) == ["R/1.1"]


@pytest.mark.parametrize(
    ("change", "terms_too"),
    [
        ({"k1": 2.0}, False),
        ({"b": 0.1}, False),
        ({"variant": "atire"}, False),
        ({"bigram_weight": 0.1}, False),
        ({"bigram_weight": 0.0}, True),  # other terms: no pairs
        ({"context_weight": 0.5}, True),
        ({"stemmer": "none"}, True),
        ({"stopwords": "small"}, True),
        ({"window": 100}, True),
        ({"overlap": 10}, True),
    ],
)
def test_changed_parameters_build_another_index(corpus_of, change, terms_too):
    corpus = corpus_of(*THREE)
    assert not BM25().ready(corpus)
    folder = BM25().prepare(corpus)
    assert BM25().ready(corpus)
    assert not BM25(**change).ready(corpus)
    before = set(corpus.artefacts.names())
    assert BM25(**change).prepare(corpus) != folder
    new = {name.partition("-")[0] for name in set(corpus.artefacts.names()) - before}
    assert new == ({"bm25", "terms"} if terms_too else {"bm25"})
    assert BM25().prepare(corpus) == folder


def test_a_damaged_index_is_built_again(corpus_of):
    corpus = corpus_of(*THREE)
    expected = search(BM25(), corpus, "bank")
    bm25.load.cache_clear()
    (BM25().prepare(corpus) / "data.npy").write_bytes(b"")
    assert not BM25().ready(corpus)
    assert search(BM25(), corpus, "bank") == expected


def test_rarity_weighs_words_and_takes_unknown_ones_for_the_rarest(three):
    retriever = BM25(**PLAIN)
    terms = retriever.analysis(["bank loss zebra"])[0].words
    # Lucene's idf, whatever the variant: df 2, 1 and 0 of 3.
    expected = pytest.approx([BANK, LOSS, log(1 + 3.5 / 0.5)])
    assert retriever.idf(three)(terms).tolist() == expected
    assert BM25(**PLAIN, variant="atire").idf(three)(terms).tolist() == expected
    assert retriever.idf(three)(terms[:0]).tolist() == []


@pytest.mark.parametrize("upgraded", ["stemmer", "stop words"])
def test_another_release_of_what_makes_the_terms_builds_another_index(corpus_of, monkeypatch, upgraded):
    corpus = corpus_of(*THREE)
    BM25().prepare(corpus)
    names = set(corpus.artefacts.names())
    assert BM25().ready(corpus)
    if upgraded == "stemmer":
        monkeypatch.setattr("Stemmer.version", lambda: "99.0")
    else:
        monkeypatch.setattr(analysis, "_stop_list", lambda name: frozenset({"the"}))
    assert not BM25().ready(corpus)
    BM25().prepare(corpus)
    assert {name.partition("-")[0] for name in set(corpus.artefacts.names()) - names} == {"bm25", "terms"}
