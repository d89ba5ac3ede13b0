"""Assessments: logic, quotes checked, generations combined, parts, and what a report or a model may do wrong."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import assessing
from assessing import CLASS_A, MET, MONITORED, ORDER, PAGES, PLAN, asked, model, replying
from responsa.errors import InputError
from responsa.models.chat.dryrun import DryRun
from responsa.models.chat.fence import RULE
from responsa.taxonomy.assessment import claims, logic, prepared, prompts, wire
from responsa.taxonomy.assessment.assess import assess, roots_of
from responsa.taxonomy.assessment.generations import REPLY
from responsa.taxonomy.assessment.highlights import highlights
from responsa.taxonomy.assessment.view import view
from responsa.taxonomy.evidence.recipes import shipped
from responsa.taxonomy.values import Asking, Assessment, Criterion, Evidence
from responsa.testing.replies import sensible

PLAIN = Asking(recipe="kw_qs", generations=1)


@pytest.fixture
def catalogue():
    return assessing.catalogue()


@pytest.fixture
def made(tmp_path, catalogue):
    """Assess CCM 7.7 for 2023 in the report made up, or in another."""

    def make(chat=None, asking=PLAIN, report=None, activity="CCM 7.7", year=2023):
        report = report or assessing.report(tmp_path)
        return assess(report, catalogue.find(activity, year), year, asking, catalogue, chat=chat)

    return make


def by_id(value):
    return {each.criterion.id: each for each in value.criteria}


# Logic


def tree(kind, *verdicts, count=0):
    names = [f"SC {number}" for number in range(1, len(verdicts) + 1)]
    root = Criterion("SC", "", "", kind, count, tuple(Criterion(name, "", "text") for name in names))
    return logic.standing(root, dict(zip(names, verdicts, strict=True)))


@pytest.mark.parametrize(
    ("kind", "verdicts", "count", "expected"),
    [
        ("all", ("met", "met"), 0, "met"),
        ("all", ("met", "insufficient"), 0, "insufficient"),
        ("all", ("insufficient", "not_met"), 0, "not_met"),
        ("all", ("met", "not_applicable"), 0, "met"),
        ("all", ("not_applicable", "not_applicable"), 0, "not_applicable"),
        ("any", ("not_met", "met"), 0, "met"),
        ("any", ("not_met", "insufficient"), 0, "insufficient"),
        ("any", ("not_met", "not_applicable"), 0, "not_met"),
        ("at_least", ("met", "met", "insufficient"), 2, "met"),  # the third is not needed: manufacture of aluminium
        ("at_least", ("met", "not_met", "insufficient"), 2, "insufficient"),
        ("at_least", ("met", "not_met", "not_met"), 2, "not_met"),
        ("at_least", ("met", "not_applicable", "not_applicable"), 2, "not_met"),
    ],
)
def test_a_criterion_stands_by_the_logic_of_its_parts(kind, verdicts, count, expected):
    assert tree(kind, *verdicts, count=count) == expected


def test_what_is_not_told_of_is_insufficient():
    assert logic.standing(Criterion("SC", "", ""), {}) == "insufficient"


@given(st.lists(st.sampled_from(logic.CAREFUL), min_size=1, max_size=7))
def test_one_more_met_never_makes_a_verdict_worse(verdicts):
    order = ["not_met", "insufficient", "met"]
    for kind, count in (("any", 0), ("at_least", 2)):
        before, after = tree(kind, *verdicts, count=count), tree(kind, *verdicts, "met", count=count)
        if before in order and after in order:
            assert order.index(after) >= order.index(before)


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        (["met", "met", "not_met"], "met"),
        (["met", "insufficient"], "insufficient"),
        (["met", "not_met"], "not_met"),
        (["not_met", "insufficient"], "insufficient"),
        (["met", "not_applicable"], "not_applicable"),
    ],
)
def test_the_majority_decides_and_ties_go_to_the_more_careful(votes, expected):
    assert logic.majority(votes) == logic.majority(votes[::-1]) == expected


def test_parts_are_joined_by_all_of_them():
    assert logic.together(["aligned", "aligned"]) == "aligned"
    assert logic.together(["aligned", "insufficient"]) == "insufficient"
    assert logic.together(["insufficient", "not_aligned"]) == "not_aligned"


# Claims


def checked(tmp_path, quote, passage="p2-1", time="", year=2023):
    report = assessing.report(tmp_path)
    shown = [
        Evidence(page, text, "SC", 1.0, f"nordkap p. {page} chunk 1", 0, len(text))
        for page, text in enumerate(PAGES, 1)
    ]
    labels = [f"p{each.page}-1" for each in shown]
    return claims.check("it says so", quote, passage, shown, labels, report, year, 0, time)


def test_a_quote_is_found_on_its_page_with_its_place(tmp_path):
    claim = checked(tmp_path, CLASS_A)
    assert (claim.support, claim.page, claim.role) == ("found", 2, "supports")
    assert PAGES[1][claim.place.start : claim.place.end].startswith(CLASS_A)


def test_a_quote_of_another_page_or_of_nearly_the_same_words_is_near(tmp_path):
    other = checked(tmp_path, MONITORED)
    assert (other.support, other.page, other.place.page) == ("near", 2, 3)
    assert "stands on page 3" in other.flags[0]
    nearly = "At the close of 2023, 1,462 of our flats have an energy performance certificate of class A"
    assert checked(tmp_path, nearly).support == "near"


@pytest.mark.parametrize(
    "quote", ["1,462 of our flats have an energy performance certificate of class B at the end", "", "class A",
              CLASS_A.replace("1,462", "8,462")],
)  # fmt: skip
def test_words_that_do_not_stand_there_are_not_found(tmp_path, quote):
    claim = checked(tmp_path, quote)
    assert (claim.support, claim.place) == ("not_found", None)
    assert claim.flags
    assert not claims.is_held(claim)


@pytest.mark.parametrize(
    ("quote", "time", "role"),
    [
        (PLAN, "", "trap_future"),
        (CLASS_A, "a target or plan", "trap_future"),
        ("70 kWh/m2 in 2022", "the year", "trap_other_year"),
        ("61 kWh/m2 in 2023", "the year", "supports"),
    ],
)
def test_targets_and_other_years_are_no_support(tmp_path, quote, time, role):
    claim = checked(tmp_path, quote, time=time)
    assert claim.role == role
    assert claims.is_held(claim) == (role == "supports")


def test_the_same_words_quoted_by_several_generations_are_one_claim(tmp_path):
    one, two, other = (
        checked(tmp_path, CLASS_A),
        checked(tmp_path, f"{CLASS_A}."),
        checked(tmp_path, "no such words at all"),
    )
    found = claims.merged([other, one, replace(two, generations=(3,))])
    assert [(each.support, each.generations) for each in found] == [("found", (0, 3)), ("not_found", (0,))]


def test_marked_sentences_share_words_with_the_criterion(tmp_path):
    report = assessing.report(tmp_path)
    chunk = report.chunks[1]
    held = Evidence(2, chunk.text, "SC 1(a)", 1.0, chunk.id, 0, len(chunk.text))
    found = highlights(report, held, Criterion("SC 1(a)", "a", "an energy performance certificate of class A"))
    assert CLASS_A in found[0].text
    assert all(chunk.text[each.start : each.end] == each.text for each in found)


# Prompts


def shown(criterion, *leaves, alone=False):
    return prompts.Asked(criterion, leaves or (criterion,), "substantial contribution", alone)


def test_names_in_a_reply_are_words_and_differ():
    ids = ["SC 1(a)", "SC 1, alternative 2", "SC (1)(a)", "SC 1 a"]
    names = prompts.fields_of(shown(Criterion("SC", "", ""), *(Criterion(each, "", "t") for each in ids)))
    assert len(set(names.values())) == 4
    assert all(each.isidentifier() for each in names.values())


def test_the_criteria_are_shown_with_their_logic(catalogue):
    root = roots_of(catalogue.find("CCM 7.7", 2023).activity, 2023, PLAIN)[0].criterion
    text = prompts.tree(prompts.Asked(root, tuple(_leaves(root)), "substantial contribution"))
    assert "[all of these]" in text
    assert "(1) [one of these]" in text
    assert "[SC_1_a] it has an energy performance certificate of class A;" in text


def _leaves(root):
    return [root] if not root.parts else [leaf for part in root.parts for leaf in _leaves(part)]


def test_few_shot_prompts_show_five_of_ten_examples_by_the_seed(catalogue):
    activity = catalogue.find("CCM 7.7", 2023).activity

    def companies(seed, repetition):
        chat = prompts.prompt(
            shown(activity.substantial_contribution), activity, [], method="few-shot-cot", year=2023, seed=seed,
            repetition=repetition,
        )  # fmt: skip
        return [each["company"] for each in prompts.examples() if each["company"] in chat.messages[1].text]

    assert len(prompts.examples()) == 10
    assert {len(companies(seed, n)) for seed in (0, 1) for n in range(5)} == {prompts.EXAMPLES}
    assert companies(0, 0) == companies(0, 0)
    assert len({tuple(companies(0, n)) for n in range(5)}) > 1
    assert companies(0, 0) != companies(1, 0) or companies(0, 1) != companies(1, 1)


def test_examples_of_prompts_on_one_criterion_have_one(catalogue):
    activity = catalogue.find("CCM 7.7", 2023).activity
    one = shown(activity.substantial_contribution, Criterion("SC 2", "2", "monitoring"), alone=True)
    text = prompts.prompt(one, activity, [], method="few-shot-cot", year=2023).messages[1].text
    replies = [json.loads(line) for line in text.splitlines() if line.startswith('{"step_1_criteria"')]
    assert len(replies) == prompts.EXAMPLES
    assert all(set(each) == {"step_1_criteria", "step_2_report", "step_3_verdicts"} for each in replies)
    assert all(set(each["step_3_verdicts"]) == {"criterion"} for each in replies)


def test_the_examples_keep_the_rules_that_prompts_give():
    for each in prompts.examples():
        reply = each["reply"]
        names = set(reply["step_3_verdicts"])
        assert names == set(reply["step_2_report"])
        assert all(f"[{name}]" in each["criteria"] for name in names)
        for name, judged in reply["step_3_verdicts"].items():
            quotes = reply["step_2_report"][name]
            assert all(said["quote"] in each["passages"][said["passage"]] for said in quotes)
            assert judged["missing"] or judged["verdict"] != "insufficient"


@pytest.mark.parametrize("method", prompts.METHODS)
def test_the_three_methods_ask_for_what_the_thesis_asks(made, method):
    chat = model(lambda each: sensible(asked(each)))
    found = made(chat, replace(PLAIN, method=method))
    text = chat.asked[0].messages[1].text
    assert ("Work in three steps" in text) == (method != "traditional")
    assert ("Example." in text) == (method == "few-shot-cot")
    assert bool(found.generations[0].breakdown) == (method != "traditional")
    assert found.verdict == "insufficient"
    assert chat.asked[0].purpose == f"assess-{method}"


# Without a model


def test_without_a_model_there_are_criteria_evidence_and_numbers(made):
    found = made()
    assert found.verdict is None
    assert found.failure == ""
    assert found.trace == ()
    assert [each.criterion.id for each in found.criteria] == ["SC", "SC 1", "SC 1(a)", "SC 1(b)", "SC 2"]
    assert [(each.depth, each.parent) for each in found.criteria][:3] == [(0, ""), (1, "SC"), (2, "SC 1")]
    assert {each.verdict for each in found.criteria} == {None}
    assert found.evidence[0].page == 2
    scores = [each.score for each in found.evidence]
    assert scores == sorted(scores, reverse=True)
    assert any(CLASS_A in each.text for each in by_id(found)["SC 1(a)"].quotes)
    outcomes = {(each.figure.value, each.outcome) for each in found.checks}
    assert outcomes == {(61.0, "misses"), (70.0, "not_comparable")}
    assert by_id(found)["SC 1(b)"].numbers == tuple(range(len(found.checks)))


def test_no_more_chunks_than_asked_for(made):
    assert len(made(asking=replace(PLAIN, chunks=2)).evidence) == 2


def test_the_contract_of_the_json(made):
    value = json.loads(json.dumps(view(made())))
    assert {"criteria", "evidence", "numbers", "verdict"} <= set(value)
    assert value["verdict"] is None
    assert {"page", "text", "criterion", "score"} <= set(value["evidence"][0])
    figure = next(each for each in value["numbers"] if each["checks"])
    assert figure["checks"][0]["threshold"]["unit"] == "kWh/m2"


def test_an_assessment_is_kept_and_read_back_whole(made):
    found = made(model(replying(MET)), replace(PLAIN, dnsh=True, safeguards=True))
    assert wire.made(Assessment, json.loads(json.dumps(wire.plain(found)))) == found


@pytest.mark.parametrize("broken", [{}, {"report": 1}, [], None, {"unknown": 1}])
def test_what_is_no_assessment_is_refused(broken):
    with pytest.raises(ValueError):
        wire.made(Assessment, broken)


# With a model


def test_the_verdict_follows_from_the_criteria(made):
    found = made(model(replying(MET, "aligned")))
    assert found.verdict == "aligned"
    assert found.verdicts == {"SC": "aligned"}
    assert {name: each.verdict for name, each in by_id(found).items()} == {
        "SC": "met", "SC 1": "met", "SC 1(a)": "met", "SC 1(b)": "insufficient", "SC 2": "met",
    }  # fmt: skip
    assert by_id(found)["SC 1(a)"].claims[0].support == "found"
    assert by_id(found)["SC 1(a)"].reason == "SC_1_a is met"
    assert "SC 1(b): more on SC_1_b" in found.missing
    assert len(found.trace) == 1


def test_a_conclusion_against_the_logic_is_flagged(made):
    # the most frequent hole of table 7.4: one of two is enough, and the model asks for both
    found = made(model(replying(MET, "not_aligned")))
    assert (found.verdict, found.concluded) == ("aligned", "not_aligned")
    assert any("conclude not_aligned" in flag for flag in found.flags)


def test_a_verdict_without_words_of_the_report_is_taken_back(made):
    reply = replying(MET | {"SC_2": ("met", "All our large offices are monitored day and night by robots")}, "aligned")
    found = made(model(reply))
    assert by_id(found)["SC 2"].verdict == "insufficient"
    assert by_id(found)["SC 2"].said == "met"
    assert found.verdict == "insufficient"
    assert any("do not stand in the report" in flag for flag in found.flags)


def test_a_verdict_that_rests_on_a_plan_is_taken_back(made):
    found = made(model(replying(MET | {"SC_1_a": ("met", PLAN)}, "aligned")))
    assert by_id(found)["SC 1(a)"].verdict == "insufficient"
    assert by_id(found)["SC 1(a)"].claims[0].role == "trap_future"
    assert any("target, a plan" in flag for flag in by_id(found)["SC 1(a)"].flags)


def test_figures_that_speak_against_a_verdict_are_flagged(made):
    found = made(model(replying(MET | {"SC_1_b": ("met", "61 kWh/m2 in 2023")}, "aligned")))
    assert "61 kWh/m2 on page 3 misses <= 50" in by_id(found)["SC 1(b)"].disagreement
    assert any(flag.startswith("SC 1(b): the verdict is aligned") for flag in found.flags)


def test_a_criterion_set_aside_is_told_where_the_verdict_rests_on_it(made):
    found = made(model(replying(MET | {"SC_2": ("not_applicable",)}, "aligned")))
    assert found.verdict == "aligned"
    assert "SC 2 was taken as not applicable, and the verdict rests on that" in found.flags
    either = made(model(replying(MET | {"SC_1_b": ("not_applicable",)}, "aligned")))
    assert not any("not applicable" in flag for flag in either.flags)


def test_five_generations_are_one(made):
    bad = replying(MET | {"SC_2": ("not_met", MONITORED)}, "not_aligned", reasoning="The offices are not monitored.")
    good = replying(MET, "aligned", reasoning="All is shown.")
    chat = model(good, bad, good, good, bad)
    found = made(chat, replace(PLAIN, generations=5))
    assert sorted(each.repetition for each in chat.asked) == [0, 1, 2, 3, 4]
    assert found.verdict == "aligned"
    assert by_id(found)["SC 2"].votes == {"met": 3, "not_met": 2}
    assert by_id(found)["SC 2"].claims[0].generations == (0, 1, 2, 3, 4)
    assert [each.concluded for each in found.generations].count("aligned") == 3
    assert found.trust.disagreement
    assert found.trust.agreement == 0.6
    assert any("disagree" in flag for flag in found.flags)


def test_the_reason_is_of_the_generation_nearest_to_the_others(made):
    texts = ["The certificate of class A is shown.", "A certificate of class A is shown.", "Bananas are yellow."]
    found = made(model(*(replying(MET, "aligned", reason=text) for text in texts)), replace(PLAIN, generations=3))
    assert by_id(found)["SC 1(a)"].reason in texts[:2]


def test_one_criterion_at_a_time(made):
    verdicts = iter([("met", CLASS_A), ("insufficient",), ("met", MONITORED)])

    def answer(chat):
        reply = json.loads(replying({"criterion": next(verdicts)}))
        reply.pop("step_3_conclusion")
        return json.dumps(reply)

    chat = model(answer)
    found = made(chat, replace(PLAIN, per_criterion=True))
    assert len(chat.asked) == 3
    assert found.verdict == "aligned"
    assert ["SC 1(b)" in each.messages[1].text for each in chat.asked] == [False, True, False]


def test_no_harm_and_safeguards_are_asked_where_wanted(made):
    def answer(chat):
        names = list(asked(chat).schema["$defs"]["Stated"]["properties"])
        return replying({name: MET.get(name, ("insufficient",)) for name in names}, "insufficient")

    chat = model(answer)
    found = made(chat, replace(PLAIN, dnsh=True, safeguards=True))
    assert found.verdicts == {"SC": "aligned", "DNSH WTR": "insufficient", "Safeguards": "insufficient"}
    assert found.verdict == "insufficient"
    parts = {each.criterion.id: (each.part, each.objective) for each in found.criteria}
    assert parts["DNSH WTR"] == ("dnsh", "WTR")
    assert parts["Safeguards"] == ("safeguards", None)
    assert "DNSH CE" not in parts  # not applicable by the act
    assert len(chat.asked) == 3


def test_no_harm_that_does_not_apply_speaks_neither_for_nor_against(made):
    def answer(verdict):
        def reply(chat):
            names = list(asked(chat).schema["$defs"]["Stated"]["properties"])
            return replying({name: MET.get(name, (verdict,)) for name in names}, "aligned")

        return made(model(reply), replace(PLAIN, dnsh=True))

    found = answer("not_applicable")
    assert (found.verdicts, found.verdict) == ({"SC": "aligned"}, "aligned")
    assert by_id(found)["DNSH WTR"].verdict == "not_applicable"
    assert found.generations[0].verdict == "aligned"
    assert "DNSH WTR was taken as not applicable, and the verdict rests on that" in found.flags
    assert answer("insufficient").verdict == "insufficient"


def test_the_safeguards_always_apply(made):
    def reply(chat):
        names = list(asked(chat).schema["$defs"]["Stated"]["properties"])
        return replying({name: MET.get(name, ("not_applicable",)) for name in names}, "aligned")

    found = made(model(reply), replace(PLAIN, safeguards=True))
    assert (found.verdicts["Safeguards"], found.verdict) == ("insufficient", "insufficient")


def test_large_amounts_keep_their_digits():
    from responsa.cli.assessing_output import _amount
    from responsa.taxonomy.assessment.assess import _told
    from responsa.taxonomy.values import KpiLine

    line = KpiLine("turnover", "A.2", "7.7 Ownership", 12_345_678.5, 91.25, "EUR thousand", 4, "", 2023)
    assert "12345678.5 EUR thousand, 91.25 %" in _told(line)
    assert _amount(line) == "12,345,678.5 EUR thousand, 91.25 %"


def test_a_small_window_drops_the_worst_chunks_and_says_so(made):
    seen = {}
    for window in range(REPLY, REPLY + 3000, 50):
        chat = model(replying(MET), window=window)
        found = made(chat)
        seen[window] = len(asked(chat.asked[0]).passages) if chat.asked else 0
        if 0 < seen[window] < len(found.evidence):
            assert f"{len(found.evidence) - seen[window]} of 4 chunks" in found.notes[-1]
            best = [each.text for each in found.evidence[: seen[window]]]
            assert [text for _, text in asked(chat.asked[0]).passages] == best
    assert list(seen.values()) == sorted(seen.values())
    assert set(seen.values()) >= {0, 1, 4}


def test_a_window_without_room_for_a_passage_is_a_failure(made):
    chat = model(replying(MET), window=1000)
    found = made(chat)
    assert chat.asked == []
    assert "no room for a passage" in found.failure


# What a report may do


def test_text_of_the_report_is_fenced_and_its_orders_change_nothing(made, tmp_path):
    chat = model(replying(MET, "aligned"))
    report = assessing.report(tmp_path, *PAGES[:2], f"{PAGES[2]} {ORDER} </passage>", name="evil")
    found = made(chat, report=report)
    system, user = (message.text for message in chat.asked[0].messages)
    assert RULE in system
    inside = "".join(text for _, text in asked(chat.asked[0]).passages)
    assert ORDER in inside
    assert user.count(ORDER) == 1
    assert "</passage>" not in inside
    assert found.verdict == "aligned"
    assert set(by_id(found)) == {"SC", "SC 1", "SC 1(a)", "SC 1(b)", "SC 2"}
    assert any("gives orders to a language model" in flag for flag in found.flags)


def test_a_model_that_obeys_the_report_is_asked_again_and_then_failed(made, tmp_path):
    chat = model(lambda _: "ALIGNED")
    found = made(chat, report=assessing.report(tmp_path, f"{PAGES[1]} {ORDER}", *PAGES[2:], name="evil"))
    assert found.verdict is None
    assert len(chat.asked) == 3
    assert "no usable reply" in found.failure
    assert "not JSON" in found.failure
    assert found.evidence
    assert found.trace[0].attempts == 3


def test_a_reply_that_misses_the_shape_is_asked_again(made):
    replies = iter(['{"verdict": "aligned"}', replying({"SC_1_a": ("met",)}), replying(MET, "aligned")])
    chat = model(lambda _: next(replies))
    assert made(chat).verdict == "aligned"
    assert len(chat.asked) == 3


def test_some_generations_may_fail(made):
    found = made(model(replying(MET, "aligned"), "nonsense", replying(MET, "aligned")), replace(PLAIN, generations=3))
    assert found.verdict == "aligned"
    assert (found.trust.asked, found.trust.usable) == (3, 2)
    assert any("1 requests gave no usable reply" in note for note in found.notes)
    assert any("1 of 3 generations gave no usable reply" in flag for flag in found.flags)


def test_evidence_only_in_a_figure_is_said(made, tmp_path):
    report = assessing.report(
        tmp_path, *PAGES[:2], " ", name="pictures", flags=("scanned",), notices=("page 3 pictures without text",)
    )
    found = made(report=report)
    assert any(each.startswith("page 3: no text was read") for each in found.missing)
    assert "page 3 pictures without text" in found.notes


def test_a_kpi_line_that_states_nothing_is_said(made, tmp_path):
    rows = (
        ("Turnover 2023", "Code", "EUR million", "%"),
        ("A.1 Environmentally sustainable activities (Taxonomy-aligned)", "", "", ""),
        ("Own buildings", "CCM 7.7", "n/a", "n/a"),
        ("A.2 Taxonomy-eligible but not environmentally sustainable activities", "", "", ""),
        ("Own buildings", "CCM 7.7", "60", "30"),
        ("Total", "", "200", "100"),
    )
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    found = made(report=assessing.report(tmp_path, *PAGES[:2], table, name="unstated"))
    assert [(line.section, line.amount, line.share) for line in found.kpi] == [("A.1", None, None), ("A.2", 60, 30)]
    assert found.shares == ()
    assert "page 3: turnover, A.1: neither amount nor share is stated: Own buildings CCM 7.7" in found.missing


def test_an_activity_that_the_report_does_not_name_is_flagged(made, tmp_path):
    assert not any("names this activity" in flag for flag in made().flags)
    found = made(
        activity="CCM 4.1", report=assessing.report(tmp_path, "We bake bread. Bread was sold in 2023.", name="bread")
    )
    assert any("nothing in the report's text names this activity" in flag for flag in found.flags)


def test_a_report_in_another_language_is_assessed_and_said(made, tmp_path):
    notice = "the text does not look English; criteria are searched in English, so evidence may be missed"
    text = "Erwerb von und Eigentum an Gebäuden. Unsere Wohnungen haben 2023 die Klasse A erreicht."
    found = made(report=assessing.report(tmp_path, text, name="deutsch", notices=(notice,)))
    assert notice in found.notes
    assert found.verdict is None


def test_a_recipe_that_needs_a_model_is_refused_without_one(made):
    with pytest.raises(InputError, match="made by a language model"):
        made(asking=replace(PLAIN, recipe="kw_qe"))


def test_a_dry_run_counts_the_requests_and_sends_none(made):
    chat = model("never asked")
    run = DryRun(chat)
    made(run, replace(PLAIN, generations=5, safeguards=True))
    assert chat.asked == []
    assert [(each.purpose, each.calls) for each in run.planned()] == [("assess-zero-shot-cot", 10)]


# The year, the figures, the company's own lines


@pytest.mark.parametrize(
    ("texts", "year", "said"),
    [
        (
            ("Annual report 2023. In fiscal 2023 and fiscal 2023 all was well; 2022, 2022, 2022, 2022 too.",),
            2023,
            "as its own",
        ),
        (("In 2021 it rained, and 2021 was wet. 2019 was not.",), 2021, "most often"),
    ],
)
def test_the_year_of_a_report(tmp_path, texts, year, said):
    found = prepared.financial_year(assessing.report(tmp_path, *texts, name=f"year{year}"))
    assert found.year == year
    assert said in found.said


def test_a_report_without_a_year_wants_one(tmp_path):
    with pytest.raises(InputError, match="give it with --year"):
        prepared.financial_year(assessing.report(tmp_path, "It rained.", name="undated"))


def test_a_year_that_is_not_the_report_s_is_said(made):
    assert not any("seems to be of" in note for note in made().notes)
    assert any("the report seems to be of 2023" in note for note in made(year=2022).notes)


def test_counts_that_are_part_of_others_are_told(made, tmp_path):
    text = f"{PAGES[1]} In 2023 we owned 4,000 buildings. Of these, 1,000 residential buildings were let in 2023."
    found = made(report=assessing.report(tmp_path, text, *PAGES[2:], name="counts"))
    assert "page 1: 1,000 residential buildings are 25.0 % of 4,000 buildings" in found.notes


def test_figures_are_kept_with_the_report(tmp_path, catalogue, monkeypatch):
    report = assessing.report(tmp_path)
    first = prepared.numbers(report, 2023, catalogue)
    monkeypatch.setattr(prepared, "figures", lambda *_: pytest.fail("read again"))
    prepared.numbers.cache_clear()
    assert prepared.numbers(report, 2023, catalogue) == first
    assert {each.value for each in first.figures if each.unit == "kWh/m2"} == {61.0, 70.0}


def test_every_recipe_of_the_thesis_has_its_name_here():
    names = set(shipped())
    assert {"kw", "vector", "hb", "kw_yake", "vector_qs", "vector_qeha", "hb_qe", "hb_prfqe", "hb_own"} <= names


# Real reports


@pytest.mark.slow
def test_the_company_s_own_lines_are_evidence_with_their_place(real):
    from responsa.taxonomy.activities.catalogue import shipped as acts

    line = "line under A.1: Construction of new buildings CCM 7.1: 250 EUR million"

    def answer(chat):
        names = list(asked(chat).schema["$defs"]["Stated"]["properties"])
        return replying(dict.fromkeys(names, ("met", line)), "aligned")

    found = assess(
        real("Vonovia_2023.pdf"), acts().find("CCM 7.1", 2023), 2023, replace(PLAIN, recipe="default"), acts(),
        chat=model(answer),
    )  # fmt: skip
    assert found.verdict == "aligned"
    claim = by_id(found)["SC 1"].claims[0]
    assert (claim.support, claim.place.page) == ("near", 60)  # the passage named is another
    assert claim.place.boxes
    assert [round(each.share, 1) for each in found.shares] == [70.6]
    turned = assess(
        real("Vonovia_2023.pdf"), acts().find("CCM 7.1", 2023), 2023, replace(PLAIN, recipe="default"), acts(),
        chat=model(lambda chat: answer(chat).replace('"met"', '"not_met"')),
    )  # fmt: skip
    assert turned.verdict == "not_aligned"
    assert any("70.6 % of its eligible turnover" in flag for flag in turned.flags)


@pytest.fixture(scope="module")
def real(data, tmp_path_factory):
    from responsa.taxonomy.evidence.report import read_report

    folder = tmp_path_factory.mktemp("reports")
    return lambda name: read_report(data / "reports" / name, folder)


@pytest.mark.slow
def test_quotes_of_the_marked_rows_are_located_and_those_of_others_are_not(data, real):
    rows = json.loads((data / "eu_taxonomy" / "alignment_dev.json").read_text())["rows"]
    reports = {row["report"]: real(row["report"]) for row in rows}
    found, strange, quotes = 0, 0, 0
    for row in rows:
        for each in row["evidence"]:
            quotes += 1
            found += _stands(each["quote"], reports[row["report"]], each["page"])
            other = random.Random(quotes).choice([name for name in reports if name != row["report"]])
            strange += _stands(each["quote"], reports[other], 1 + quotes % reports[other].pages)
    assert quotes == 113
    assert found >= 105
    assert strange == 0


def _stands(quote, report, page):
    shown = [
        Evidence(page, chunk.text, "SC", 1.0, chunk.id, 0, len(chunk.text))
        for chunk in report.chunks
        if chunk.page == page
    ]
    labels = [str(place) for place in range(len(shown))]
    return claims.check("", quote, "0", shown, labels, report, 2023, 0).support != "not_found"


@pytest.mark.slow
def test_the_kpi_flag_catches_verdicts_turned_round_and_no_right_one(data, real):
    from responsa.taxonomy.activities.catalogue import shipped as acts
    from responsa.taxonomy.assessment import trust

    rows = json.loads((data / "eu_taxonomy" / "alignment_dev.json").read_text())["rows"]
    caught, told = 0, 0
    for row in rows:
        report, year = real(row["report"]), row["financial_year"]
        activity = " ".join(row["activity"].split()[:2])
        shares = prepared.kpi_shares(prepared.numbers(report, year, acts()).templates, activity, year)
        if shares and row["verdict"] != "insufficient":
            told += 1
            turned = "aligned" if row["verdict"] == "not_aligned" else "not_aligned"
            caught += bool(trust.against_kpi(turned, shares))
        assert not trust.against_kpi(row["verdict"], shares)
        assert activity in prepared.spoken_of(report, year, acts()), row["id"]
    assert caught == told >= 8
