"""Citations inside the CRR and the LCR delegated act, against those labelled by hand."""

from __future__ import annotations

import hashlib

import pytest
from benchmarks import citations

from responsa.corpus.acts import OTHER
from responsa.corpus.graph import CrossReference, Graph


@pytest.fixture(scope="module")
def counts(data):
    if not all((data / "eu_law" / "originals" / name).is_file() for name in citations.ORIGINALS):
        pytest.skip(f"no originals in {data / 'eu_law'}")
    return {split: citations.measure(data / "eu_law", split) for split in ("dev", "test")}


@pytest.mark.parametrize("split", ["dev", "test"])
def test_precision_and_recall(counts, split):
    inside = counts[split]["inside"]
    assert inside.marked >= 100
    assert inside.precision >= 0.97
    assert inside.recall >= 0.95


def test_the_gold_holds_no_text():
    rows = citations.rows()
    assert len(rows) == 140
    assert {key for row in rows for key in row} == {"id", "digest", "split", "citations"}
    assert {key for row in rows for each in row["citations"] for key in each} == {"start", "end", "target"}
    assert sum(len(row["citations"]) for row in rows) == 328


def test_counting_worked_by_hand(corpus_of):
    corpus = corpus_of({"id": "a", "document": "d", "number": "1", "text": "See 2 and 3."}, {"id": "b", "text": "B."})
    references = (
        CrossReference("a", 4, 5, None, "2", "d", ("b",)),
        CrossReference("a", 10, 11, None, "3", "d", ("a",)),
        CrossReference("a", 10, 11, OTHER, "3", reason="the act is not named by a name that is known"),
        CrossReference("a", 10, 11, "32013R0001", "Article 3", reason="X is not in the library"),
    )
    marks = [(4, 5, "b"), (6, 7, "b"), (10, 11, "gone"), (0, 3, "32013R0001#Article 3")]
    row = {
        "id": "a",
        "digest": "0d1ec2a3",
        "citations": [dict(zip(("start", "end", "target"), m, strict=True)) for m in marks],
    }
    with pytest.raises(SystemExit, match="not the text that was labelled"):
        citations.compare([row], corpus, Graph(references, ("d",)))
    row["digest"] = hashlib.sha256(b"See 2 and 3.").hexdigest()[:16]
    found = citations.compare([row], corpus, Graph(references, ("d",)))
    assert (found["inside"].marked, found["inside"].found, found["inside"].agreed) == (2, 2, 1)
    assert found["inside"].errors == ["+ a: '3' -> a", "- a: 'a' -> b"]
    assert (found["outside"].marked, found["outside"].found, found["outside"].agreed) == (1, 2, 0)
