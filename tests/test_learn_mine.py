"""Hard negatives: where they come from and what may not be one."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from learning import toy_material
from responsa.errors import InputError
from responsa.learn.examples import Example
from responsa.learn.material import spread
from responsa.learn.mine import Mining, Report, mine
from responsa.types import Query, Ranking, Run

RANKED = [f"p{rank:02}" for rank in range(1, 31)]  # p01 stands first
TEXTS = {name: f"text {name}" for name in RANKED}
RUN = Run("r", {"q": Ranking.of("q", [(name, 100.0 - row) for row, name in enumerate(RANKED)])})
QUESTION = Example(Query("q", "who"), ("p03",), ("p05",))


def test_negatives_come_from_the_ranks_asked_for():
    found = mine([QUESTION], RUN, TEXTS, Mining(low=10, high=19, count=4))
    assert len(found.negatives["q"]) == 4
    assert set(found.negatives["q"]) <= set(RANKED[9:19])
    assert found.report == Report(questions=1, mined=4)


def test_gold_alternatives_and_equal_texts_are_passed_over():
    texts = {**TEXTS, "p01": "TEXT  p03 ", "p02": "\u200etext p05", "p04": "  "}
    found = mine([QUESTION], RUN, texts, Mining(low=1, high=6, count=4))
    assert found.negatives["q"] == ("p06",)
    assert found.report == Report(questions=1, mined=1, gold=2, equal_text=2, blank=1, short=1)


def test_what_scores_nearly_as_gold_does_is_passed_over():
    found = mine([QUESTION], RUN, TEXTS, Mining(low=1, high=10, count=10, ceiling=0.95))
    assert found.negatives["q"] == ("p08", "p09", "p10")  # gold has 98; .95 of it is 93.1, p08 has 93
    assert found.report.too_similar == 5
    unknown = replace(QUESTION, passages=("p99",), also=())
    found = mine([unknown], RUN, {**TEXTS, "p99": "x"}, Mining(low=1, high=10, count=10, ceiling=0.95))
    assert (len(found.negatives["q"]), found.report.unbounded) == (10, 1)


def test_the_draw_depends_on_seed_and_question_alone():
    other = Example(Query("r", "when"), ("p04",))
    run = Run("r", {**RUN.rankings, "r": replace(RUN.rankings["q"], query_id="r")})
    both = mine([QUESTION, other], run, TEXTS, Mining(count=5, high=30))
    alone = mine([QUESTION], run, TEXTS, Mining(count=5, high=30))
    assert both.negatives["q"] == alone.negatives["q"]
    assert both.negatives["q"] != both.negatives["r"]
    assert mine([QUESTION], run, TEXTS, Mining(count=5, high=30, seed=1)).negatives != alone.negatives
    drawn = [mine([QUESTION], run, TEXTS, Mining(count=1, high=30, seed=seed)).negatives["q"][0] for seed in range(200)]
    assert set(drawn) == set(RANKED) - {"p03", "p05"}


def test_a_question_missing_from_the_run_is_reported():
    found = mine([replace(QUESTION, query=Query("x", "who"))], RUN, TEXTS)
    assert (found.negatives, found.report) == ({"x": ()}, Report(questions=1, missing=1))


@pytest.mark.parametrize("settings", [{"low": 0}, {"low": 5, "high": 4}, {"count": 0}, {"ceiling": -1.0}])
def test_settings_out_of_range(settings):
    with pytest.raises(InputError, match="mining needs"):
        Mining(**settings)


def test_batches_share_no_question_or_passage_where_it_can_be():
    examples = [Example(Query(f"q{row}", f"t{row}"), (f"p{row // 3}", f"s{row}")) for row in range(30)]
    pairs = [(example, passage) for example in examples for passage in example.passages]
    batches = spread(pairs, 7, Random(3))
    assert sorted(row for batch in batches for row in batch) == list(range(60))
    assert len(batches) == 9
    assert max(map(len, batches)) <= 7
    for batch in batches:
        named = [passage for row in batch for passage in pairs[row][0].passages]
        assert len(named) == len(set(named))
    assert spread(pairs, 7, Random(3)) == batches
    same = [(example, "p") for example in (Example(Query(str(row), "t"), ("p",)) for row in range(5))]
    assert sorted(map(len, spread(same, 2, Random(0)))) == [1, 2, 2]


def test_negatives_are_never_gold_for_the_question_in_other_spelling():
    material = toy_material()
    example = material.examples[0]
    material = replace(material, texts={**material.texts, "p1": material.texts["p0"].upper()})
    assert material.negatives_of(example, 9, Random(0)) != []
    assert "p1" not in material.negatives_of(example, 9, Random(0))
    assert material.is_gold(example.query, "p1")


def test_material_without_text_or_validation_is_refused():
    material = toy_material()
    with pytest.raises(InputError, match="1 passages have no text in the library, the first 'p3'"):
        replace(material, texts={**material.texts, "p3": " "})
    with pytest.raises(InputError, match="got 24 and 0"):
        replace(material, validation=())
    assert replace(material, negatives={}).fingerprint != material.fingerprint
    assert replace(material).fingerprint == material.fingerprint
