"""Trust signals: how alike generations are, disagreement, numbers made up, and what the report's numbers say."""

from __future__ import annotations

import builtins
import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.evaluate.bertscore import Overlap
from responsa.taxonomy.assessment import logic, prompts, trust
from responsa.taxonomy.assessment.trust import (
    LIMITS,
    Likeness,
    against_kpi,
    bleu,
    consistency,
    invented,
    likeness,
    nearness,
)
from responsa.taxonomy.values import Criterion, Figure, Generation, KpiShare, NumberCheck, Threshold

WORDS = Likeness(
    "shared words",
    lambda pairs: [len(set(a.split()) & set(b.split())) / len(set(a.split()) | set(b.split())) for a, b in pairs],
)
WORDINGS = [
    json.loads(line) for line in (Path(__file__).parent / "data" / "taxonomy_wordings.jsonl").read_text().splitlines()
]


def generation(number=0, concluded="aligned", verdict=None, breakdown="", reasoning="the limit is kept"):
    return Generation(number, breakdown, "", reasoning, {}, concluded, verdict or concluded)


def test_nearness_by_hand():
    # a-b share 1 of 3 words, a-c 0 of 4, b-c 1 of 3
    assert nearness(["x y", "y z", "z w"], WORDS) == pytest.approx([1 / 6, 1 / 3, 1 / 6])
    assert nearness(["alone"], WORDS) == [1.0]
    assert nearness([], WORDS) == []


def test_consistency_is_the_mean_over_the_generations():
    found = consistency(3, ["a b c d", "a b c d", "e f g h"], WORDS)
    # 5.5: the first two match each other wholly, the third nothing; sacrebleu smooths a text without a match above 0
    assert found.bleu == pytest.approx((1 + 1 + bleu("e f g h", ["a b c d"] * 2)) / 3)
    assert found.similarity == pytest.approx((0.5 + 0.5 + 0) / 3)


def test_one_text_has_nothing_to_be_like():
    assert consistency(1, ["a", " "], WORDS).similarity is None


def test_bleu_is_that_of_the_library():
    sacrebleu = pytest.importorskip("sacrebleu.metrics")
    expected = (
        sacrebleu.BLEU(effective_order=True).sentence_score("the cat sat", ["the cat sat down", "a cat sat"]).score
    )
    assert bleu("the cat sat", ["the cat sat down", "a cat sat"]) == pytest.approx(expected / 100)


def test_without_the_library_bleu_is_left_out(monkeypatch):
    real = builtins.__import__

    def missing(name, *rest, **more):
        if name.startswith("sacrebleu"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    found = consistency(3, ["a b", "a b"], WORDS)
    assert (found.bleu, found.similarity) == (None, 1.0)


def test_disagreement_is_that_of_equation_5_6():
    alike = trust.trust([generation(n) for n in range(5)], 5, "criteria", WORDS)
    assert (alike.disagreement, alike.agreement, alike.entropy) == (False, 1.0, 0.0)
    mixed = trust.trust([generation(n, "aligned" if n else "insufficient") for n in range(5)], 5, "criteria", WORDS)
    assert (mixed.disagreement, mixed.agreement) == (True, 0.8)
    assert mixed.entropy == pytest.approx(-(0.2 * math.log(0.2) + 0.8 * math.log(0.8)) / math.log(3))
    assert any("one generation" in flag for flag in mixed.flags)


@given(st.lists(st.sampled_from(["aligned", "not_aligned", "insufficient"]), min_size=1, max_size=9))
def test_entropy_lies_between_0_and_1_and_forgets_the_order(votes):
    assert 0 <= logic.entropy(votes) <= 1 + 1e-12
    assert logic.entropy(votes) == pytest.approx(logic.entropy(votes[::-1]))
    assert (logic.entropy(votes) == 0) == (len(set(votes)) == 1)


def test_no_usable_generation_is_told():
    found = trust.trust([], 5, "criteria", WORDS)
    assert (found.asked, found.usable) == (5, 0)
    assert "none of 5" in found.flags[0]


@pytest.mark.parametrize(
    ("text", "criteria", "found"),
    [
        ("below 1,484 tCO2e and 15.5 MWh", "do not exceed 1,484 tCO2e; 15,5 MWh/t", []),
        ("hot metal 1.331, sinter 0.163 and coke 0.2", "1,331 tCO2e/t; 0,163 tCO2e/t", ["0.2"]),
        ("three steps, 2 of 3, point 10", "at least two", []),
        ("at most 50 g until 2025", "50 g CO2/km until 31 December 2025", []),
        ("100 g", "50 g", ["100"]),
    ],
)
def test_numbers_that_the_criteria_do_not_name_are_told(text, criteria, found):
    assert invented(text, criteria) == found


def test_a_first_step_with_a_number_made_up_is_flagged():
    said = generation(breakdown="the limit is 75 g of CO2 each km")
    made = trust.trust([said], 1, "the limit is 50 g of CO2 each km", WORDS)
    assert any("numbers that the criteria do not: 75" in flag for flag in made.flags)
    assert made.scc_similarity == pytest.approx(8 / 10)


def test_generations_against_their_own_verdicts_are_flagged():
    made = trust.trust([generation(0, "not_aligned", "aligned"), generation(1, "aligned")], 2, "c", WORDS)
    assert any(flag.startswith("1 of 2 generations conclude otherwise") for flag in made.flags)


def test_what_is_named_is_what_was_measured():
    assert likeness().name == "cosine of sentence vectors (embedded:encoder)"
    assert trust.trust([generation(0), generation(1)], 2, "c", WORDS).method == "shared words"


def test_bertscore_where_a_model_is_named(monkeypatch):
    class Score:
        name = "a model, layer 3"

        def __call__(self, ones, others):
            return [Overlap(0.1, 0.2, 1.0 if one == other else 0.5) for one, other in zip(ones, others, strict=True)]

    monkeypatch.setattr("responsa.evaluate.bertscore.load_bertscore", lambda name, cache: Score())
    like = likeness("hf:model")
    assert like.name == "BERTScore F1 (a model, layer 3)"
    assert like.pairs([("a", "a"), ("a", "b")]) == [1.0, 0.5]
    made = trust.trust([generation(0, reasoning="a"), generation(1, reasoning="b")], 2, "c", like)
    assert any(f"similarity 0.50, below {LIMITS.bertscore}" in flag for flag in made.flags)


def test_the_limits_part_wordings_of_one_finding_from_other_findings():
    like = likeness()
    same = like.pairs([(row["one"], row["other"]) for row in WORDINGS])
    other = like.pairs([(one["one"], two["other"]) for one in WORDINGS for two in WORDINGS if one is not two])
    assert min(same) > LIMITS.similarity > max(other)
    own = [bleu(row["one"], [row["other"]]) for row in WORDINGS]
    strange = [bleu(one["one"], [two["other"]]) for one in WORDINGS for two in WORDINGS if one is not two]
    assert min(own) > LIMITS.bleu
    assert sum(each <= LIMITS.bleu for each in strange) >= 0.9 * len(strange)


def test_the_limit_of_the_first_step_parts_own_criteria_from_others():
    like, examples = likeness(), prompts.examples()
    own = like.pairs([(each["reply"]["step_1_criteria"], each["criteria"]) for each in examples])
    strange = like.pairs(
        [(a["reply"]["step_1_criteria"], b["criteria"]) for a in examples for b in examples if a is not b]
    )
    assert sum(each > LIMITS.scc for each in own) >= 9
    assert sum(each <= LIMITS.scc for each in strange) >= 0.95 * len(strange)


# The report's numbers


def share(percent):
    return (KpiShare("turnover", percent, percent, 100.0, "EUR million", (60,)),)


@pytest.mark.parametrize(
    ("verdict", "percent", "flagged"),
    [
        ("aligned", 16.7, False), ("aligned", 4.9, True), ("aligned", 5.0, False),
        ("not_aligned", 16.7, True), ("not_aligned", 0.0, False), ("insufficient", 70.0, False), (None, 0.0, False),
    ],
)  # fmt: skip
def test_the_company_s_own_share_beside_a_verdict(verdict, percent, flagged):
    assert bool(against_kpi(verdict, share(percent))) == flagged
    assert against_kpi(verdict, ()) == ""


def test_the_best_share_counts():
    both = (*share(0.0), KpiShare("capex", 23.7, 23.7, 100.0, "EUR million", (62,)))
    assert against_kpi("aligned", both) == ""
    assert "23.7 % of its eligible capex" in against_kpi("not_aligned", both)


def test_figures_of_a_criterion_and_its_parts_speak_against_its_verdict():
    limit = Threshold("primary energy demand", "<=", 50.0, "kWh/m2")
    miss = NumberCheck("SC 1(b)", limit, Figure(61.0, "kWh/m2", "61 kWh/m2", 3), "misses")
    part = Criterion("SC 1(b)", "b", "at most 50 kWh/m2", thresholds=(limit,))
    whole = Criterion("SC 1", "1", "", "all", parts=(part,))
    other = Criterion("SC 2", "2", "another")
    assert "61 kWh/m2 on page 3 misses" in trust.against_numbers(whole, [miss], "aligned")
    assert trust.against_numbers(whole, [miss], "not_aligned") == ""
    assert trust.against_numbers(other, [miss], "aligned") == ""
