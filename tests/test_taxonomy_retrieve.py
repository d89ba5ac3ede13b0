"""Evidence for criteria: BM25 by hand, our score, the thesis's recipes, filters, and how it is measured."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.corpus.artefacts import Artefacts
from responsa.errors import InputError, NotFound, RecipeError
from responsa.models.chat.scripted import ScriptedChat
from responsa.taxonomy.evidence import recipes, retrieve, vectors
from responsa.taxonomy.evidence.lexical import lexical, merged, okapi
from responsa.taxonomy.evidence.recipes import EvidenceRecipe, load, shipped
from responsa.taxonomy.evidence.report import Report
from responsa.taxonomy.evidence.retrieve import evidence, find
from responsa.taxonomy.evidence.scoring import beside, code_pattern, index, scaled
from responsa.taxonomy.values import Activity, Criterion
from responsa.types import Passage

WORDS_ONLY = EvidenceRecipe("weighted", queries="qs", vector=0.0, meaning=0.0)
PAGES = (
    "Letter of the chairman to the shareholders of the company.",
    "Rental income of 7.7 % more. Flats and houses are let to tenants.",
    "Acquisition and ownership of buildings CCM 7.7 turnover taxonomy-aligned 931 15.3 Y N/EL",
    "The flats have an energy performance certificate of class A. Heat pumps were installed.",
    "By 2030 we aim to have an energy performance certificate of class A for all flats: our goal, our target.",
    "Risk report. Interest rates rose in the year and so did the cost of debt.",
)
CRITERIA = Criterion(
    "SC", "", "", "all",
    parts=(
        Criterion("SC 1", "1", "The building has at least an Energy Performance Certificate class A."),
        Criterion("SC 2", "2", "The building is operated efficiently through energy performance monitoring."),
    ),
)  # fmt: skip
ACTIVITY = Activity(
    "CCM 7.7", "CCM", "7.7", "Acquisition and ownership of buildings", "Real estate", "Buying real estate and flats.",
    (), CRITERIA,
)  # fmt: skip


@pytest.fixture
def report_of(tmp_path):
    def make(*texts, name="R"):
        passages = tuple(
            Passage(f"{name} p. {page} (1)", name, f"p. {page} (1)", text, page=page)
            for page, text in enumerate(texts, 1)
        )
        return Report(name, "ACME", f"{abs(hash(texts)):064x}", passages, (), Artefacts(tmp_path / "cache"))

    return make


class Bag:
    """Vectors of hashed words: what shares words is near."""

    name, dimension = "bag", 64

    def encode(self, texts, role):
        rows = np.zeros((len(texts), 64), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().replace(".", " ").split():
                row[sum(word.encode()) % 64] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)


class Judge:
    """A cross-encoder that likes what both texts say."""

    name, labels, calibration = "judge", ("relevance",), ()

    def score(self, pairs):
        shared = [len(set(one.lower().split()) & set(other.lower().split())) for one, other in pairs]
        return np.array([[number - 3.0] for number in shared], np.float32)


@pytest.fixture
def models(monkeypatch):
    monkeypatch.setattr(vectors, "load_encoder", lambda _: Bag())
    monkeypatch.setattr(retrieve, "load_encoder", lambda _: Bag())
    monkeypatch.setattr(retrieve, "load_reranker", lambda _: Judge())


# BM25 over tokens


def test_bm25_by_hand():
    # n = 2, mean length 1.5; "a": df 1, idf ln(1 + 1.5/1.5) = .693147; text 0 has it twice in 2 tokens:
    # 2 / (2 + .9 (1 - .4 + .4 * 2 / 1.5)) = 2 / 3.02 = .662252; asked twice.
    found = lexical([["a", "a"], ["b"]]).scores(["a", "a", "unknown"])
    assert found.tolist() == pytest.approx([2 * 0.693147 * 0.662252, 0], abs=1e-5)


def test_okapi_scores_as_the_library_of_the_thesis():
    rank_bm25 = pytest.importorskip("rank_bm25")
    texts = [text.split() for text in PAGES]
    query = ["of", "the", "class", "A", "flats", "of", "energy"]
    assert okapi(texts).scores(query).tolist() == pytest.approx(rank_bm25.BM25Okapi(texts).get_scores(query).tolist())


def test_two_indexes_in_one_add_up():
    one, other = lexical([["a"], ["b"]]), lexical([[1], [1]], weight=2)
    both = merged(one, other).scores(["a", 1])
    assert both.tolist() == (one.scores(["a"]) + other.scores([1])).tolist()


def test_no_texts_have_no_scores():
    assert lexical([]).scores(["a"]).tolist() == []


# Parts of our score


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ownership of buildings CCM 7.7 931", True),
        ("CCM7.7", True),
        ("capital expenditure on flats (7.7) was", True),
        ("activities “7.7 Acquisition and ownership", True),
        ("7.7. Acquisition and ownership of buildings", True),
        ("under activity 7.7 we", True),
        ("grew by 7.7 percent", False),
        ("activity 7.7%", False),
        ("CCM 7.71", False),
        ("EUR 17.7 Acquisition", False),
        ("category 7.7.1", False),
        ("(7.75)", False),
    ],
)
def test_the_number_of_an_activity_is_told_from_other_numbers(text, found):
    assert bool(code_pattern(ACTIVITY).search(text)) is found


def test_other_years_are_those_more_than_one_away(report_of):
    report = report_of("Rent 2023 and 2022.", "By 2030, not 2023.", "no year, EUR 2,030 and 2030%", "Fiscal 2019/20")
    assert index(report).other_years(2023).tolist() == [0, 0.5, 0, 1]


def test_plans_are_counted_by_the_hundred_words(report_of):
    report = report_of("We will do so by 2030.", " ".join(["word"] * 199 + ["target"]), "Done.")
    # 2 of at least 60 words: .0333 / .03, at most 1; 1 of 200: .005 / .03
    assert index(report).plans.tolist() == pytest.approx([1, 1 / 6, 0])


def test_scaling_and_neighbours_by_hand():
    assert scaled(np.array([[1.0, 3.0, 2.0], [5.0, 5.0, 5.0]])).tolist() == [[0, 1, 0.5], [0, 0, 0]]
    assert beside(np.array([0.0, 1.0, 0.2, 0.9]), 0.5).tolist() == pytest.approx([0.5, 1.0, 0.6, 0.9])
    assert beside(np.array([1.0]), 0.5).tolist() == [1.0]


@given(st.lists(st.floats(0, 3), min_size=1, max_size=20), st.floats(0, 0.9))
def test_neighbours_never_lower_a_score_nor_raise_the_best(values, share):
    raised = beside(np.array(values), share)
    assert (raised >= np.array(values)).all()
    assert raised.max() == pytest.approx(max(values))


# Our recipe


def test_the_table_and_the_certificate_come_first_and_the_target_behind_them(report_of):
    found = find(report_of(*PAGES), ACTIVITY, WORDS_ONLY, 4, year=2023)
    pages = [each.page for each in found.evidence]
    assert pages[:2] == [3, 4]
    assert pages.index(5) > pages.index(4)
    assert [each.criterion for each in found.evidence][:2] == ["SC", "SC 1"]
    assert [each.score for each in found.evidence] == sorted((each.score for each in found.evidence), reverse=True)
    first = found.evidence[0]
    assert first.text == PAGES[2]
    assert (first.start, first.end, first.passage_id) == (0, len(PAGES[2]), "R p. 3 chunk 1")


def test_every_criterion_has_its_own_best_chunks(report_of):
    found = find(report_of(*PAGES), ACTIVITY, WORDS_ONLY, 3)
    assert list(found.by_criterion) == ["SC", "SC 1", "SC 2"]
    assert found.by_criterion["SC 1"][0].page == 4
    assert found.by_criterion["SC"][0].page == 3
    assert all(each.criterion == "SC 1" for each in found.by_criterion["SC 1"])


def test_chunks_that_say_the_same_are_given_once(report_of):
    found = evidence(report_of(PAGES[3], PAGES[3] + " Yes.", PAGES[5]), ACTIVITY, WORDS_ONLY, 3)
    assert [each.page for each in found] == [1, 3]


def test_vectors_find_what_words_do_not_weigh(report_of, models):
    recipe = replace(WORDS_ONLY, activity=0.0, criteria=0.0, code=0.0, tables=0.0, vector=1.0)
    assert evidence(report_of(*PAGES), ACTIVITY, recipe, 1)[0].page == 3


def test_the_number_asked_for_is_given_and_0_gives_all(report_of):
    report = report_of(*PAGES)
    assert len(evidence(report, ACTIVITY, WORDS_ONLY, 2)) == 2
    assert len(evidence(report, ACTIVITY, WORDS_ONLY, 0)) == 6
    with pytest.raises(InputError, match="chunks is -1"):
        evidence(report, ACTIVITY, WORDS_ONLY, -1)


def test_dnsh_criteria_can_be_searched_for(report_of):
    root = Criterion("DNSH CCA", "", "Interest rates and cost of debt are assessed.")
    found = find(report_of(*PAGES), ACTIVITY, WORDS_ONLY, 2, roots=[root])
    assert found.by_criterion["DNSH CCA"][0].page == 6


# The thesis's recipes


@pytest.mark.parametrize("name", sorted(name for name, each in shipped().items() if not each.needs_chat))
def test_every_recipe_without_a_language_model_runs(name, report_of, models):
    if "yake" in name:
        pytest.importorskip("yake")
    found = find(report_of(*PAGES), ACTIVITY, name)
    # Of single keywords or chunks reduced to keywords nothing may be left to find.
    assert found.evidence or "*" in name
    assert all(each.page in range(1, 7) for each in found.evidence)


@pytest.mark.parametrize("name", sorted(name for name, each in shipped().items() if each.needs_chat))
def test_every_recipe_with_a_language_model_runs(name, report_of, models):
    pytest.importorskip("pydantic")
    if "yake" in name:
        pytest.importorskip("yake")
    reply = json.dumps({"queries": ["flats with an energy performance certificate of class A"]})
    chat = ScriptedChat(lambda _: reply)
    found = find(report_of(*PAGES), ACTIVITY, name, chat=chat)
    assert found.evidence
    assert found.calls
    assert found.notices == ()
    with pytest.raises(InputError, match="language model"):
        find(report_of(*PAGES), ACTIVITY, name)


def test_criteria_that_a_model_leaves_out_are_searched_for_all_the_same(report_of, models):
    pytest.importorskip("pydantic")
    chat = ScriptedChat(lambda _: json.dumps({"queries": ["energy performance certificate of class A"]}))
    found = find(report_of(*PAGES), ACTIVITY, "default_qe", chat=chat)
    assert [question.criterion for question in found.questions] == ["SC 1", "SC 2"]
    assert list(found.by_criterion) == ["SC", "SC 1", "SC 2"]


def test_each_query_gives_its_top_and_ranks_are_fused(report_of):
    # Two keyword queries, each with its two best chunks: the description finds page 3, then 2; the criteria 4, then 5.
    recipe = EvidenceRecipe("kw", top=2, constant=0)
    activity = replace(ACTIVITY, name="ownership", description="let to tenants")
    report = report_of("ownership let to tenants", "let to", "x " * 9, "class A. The building", "class A.", "y")
    found = evidence(report, activity, recipe, 0)
    # Half of 1/1 for the first of each query, half of 1/2 for the second.
    assert [(each.page, each.score) for each in found] == [(1, 0.5), (4, 0.5), (2, 0.25), (5, 0.25)]
    assert [each.criterion for each in found] == ["SC"] * 4


def test_a_hybrid_gives_each_side_half(report_of, models):
    report = report_of(*PAGES)
    words = {each.page: each.score for each in evidence(report, ACTIVITY, EvidenceRecipe("kw"), 0)}
    near = {each.page: each.score for each in evidence(report, ACTIVITY, EvidenceRecipe("vector"), 0)}
    both = {each.page: each.score for each in evidence(report, ACTIVITY, EvidenceRecipe("hb"), 0)}
    assert both == pytest.approx({page: (words.get(page, 0) + near.get(page, 0)) / 2 for page in both}, abs=1e-5)
    assert set(both) == set(words) | set(near)


def test_each_keyword_as_a_query_finds_more(report_of, models):
    report = report_of("buildings flats", "ownership ownership", "Energy Performance Certificate", "monitoring.")
    joined = evidence(report, ACTIVITY, EvidenceRecipe("kw", words="sw", top=1), 0)
    each = evidence(report, ACTIVITY, EvidenceRecipe("kw", words="sw", setting="each", top=1), 0)
    assert [one.page for one in joined] == [2, 3]
    assert sorted(one.page for one in each) == [2, 3, 4]


def test_a_filter_scores_anew_and_drops(report_of, models):
    report = report_of(*PAGES)
    all_found = evidence(report, ACTIVITY, EvidenceRecipe("hb", filter="own"), 0)
    assert all(0 < each.score < 1 for each in all_found)
    assert [each.score for each in all_found] == sorted((each.score for each in all_found), reverse=True)
    least = all_found[1].score
    kept = evidence(report, ACTIVITY, EvidenceRecipe("hb", filter="own", threshold=least), 0)
    assert [each.page for each in kept] == [each.page for each in all_found if each.score >= least]


def test_one_common_question_ranks_otherwise_than_the_queries(report_of, models):
    report = report_of("Acquisition and ownership of buildings contribute to ACME", PAGES[3], PAGES[5])
    common = evidence(report, ACTIVITY, EvidenceRecipe("vector", filter="common"), 0)
    assert common[0].page == 1


def test_a_calibrated_model_gives_its_probabilities(report_of, models, monkeypatch):
    judge = Judge()
    judge.calibration = (0.0, 0.0)  # all are one half
    monkeypatch.setattr(retrieve, "load_reranker", lambda _: judge)
    found = evidence(report_of(*PAGES), ACTIVITY, EvidenceRecipe("kw", filter="own"), 0)
    assert {each.score for each in found} == {0.5}
    assert [each.page for each in found] == sorted(each.page for each in found)


# Recipes


def test_recipes_are_named_as_in_the_thesis():
    names = set(shipped())
    assert {
        "kw",
        "kw_yake",
        "kw_yake*",
        "kw_bert**",
        "vector_qeha",
        "vector_prfqe",
        "hb_qe",
        "hb_qs",
        "default",
    } <= names
    assert shipped()["kw_yake**"].setting == "each"
    assert shipped()["kw_tfidf*"].setting == "both"
    assert recipes.THRESHOLDS[:4] == (0.01, 0.025, 0.05, 0.1)
    assert recipes.THRESHOLDS[-1] == 0.9


def test_an_unknown_recipe_is_refused_with_the_nearest():
    with pytest.raises(NotFound, match="hb_qs"):
        load("hb-qs")
    with pytest.raises(NotFound, match="no recipe file"):
        load("missing.toml")


def test_a_recipe_of_ones_own(tmp_path):
    (tmp_path / "mine.toml").write_text('retriever = "hb"\nqueries = "qs"\nfilter = "common"\nthreshold = 0.3\n')
    assert load(str(tmp_path / "mine.toml")) == EvidenceRecipe("hb", queries="qs", filter="common", threshold=0.3)
    (tmp_path / "bad.toml").write_text('retriever = "hb"\ntreshold = 0.3\n')
    with pytest.raises(RecipeError, match="threshold"):
        load(str(tmp_path / "bad.toml"))


@pytest.mark.parametrize(
    "settings",
    [{"threshold": 1.1}, {"top": 0}, {"neighbours": 1.0}, {"keyword": 2.0}, {"setting": "each"}, {"years": -0.1}],
)
def test_values_out_of_range_are_refused(settings):
    with pytest.raises(RecipeError, match="evidence"):
        EvidenceRecipe("hb", **settings)
