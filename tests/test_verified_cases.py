"""How many unsupported sentences are withheld and supported ones kept: `benchmarks.verified` on cases of our own."""

from __future__ import annotations

import pytest
from benchmarks import verified

from responsa.models.embedded import shipped

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("nli" not in shipped(), reason="this copy ships no model of entailment"),
]


@pytest.fixture(scope="module")
def measured():
    with verified.opened() as (said, corpus):
        return said, verified.judged(said, corpus)


def test_there_are_enough_cases_of_every_kind(measured):
    said, _ = measured
    assert len({each.case for each in said}) >= 100
    for odd in (0, 1):
        kinds = {each.kind for each in said if each.case % 2 == odd and not each.supported}
        assert {
            "wrong number", "wrong deadline", "changed modality", "dropped exception", "wrong addressee",
            "other provision", "outside knowledge", "negation", "over-generalisation", "merged rules",
            "fabricated quote", "unknown id",
        } <= kinds  # fmt: skip


@pytest.mark.parametrize(("odd", "withheld", "kept"), [(0, 0.95, 0.94), (1, 0.89, 0.85)])
def test_unsupported_sentences_are_withheld_and_supported_ones_kept(measured, odd, withheld, kept):
    found = verified.shares(*measured, odd)
    assert found[0] >= withheld
    assert found[1] >= kept
