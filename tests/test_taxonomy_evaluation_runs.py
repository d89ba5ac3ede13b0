"""Gold from quotes, runs of recipes as files, and the form of generations to rate."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest

from responsa.errors import InputError, MissingDependency
from responsa.models.chat.scripted import ScriptedChat
from responsa.taxonomy.activities import catalogue
from responsa.taxonomy.assessment.trust import Likeness, bleu
from responsa.taxonomy.evaluation.evidence import MarkedRow, Quote
from responsa.taxonomy.evaluation.files import template
from responsa.taxonomy.evaluation.retrieval import found_in, score, sweep
from responsa.taxonomy.evaluation.rows import read_judged
from responsa.taxonomy.evaluation.runs import (
    GOLD,
    NEEDS_CHAT,
    asking,
    documents,
    file_name,
    make_runs,
    read_evidence_gold,
    read_runs,
    run_files,
    states_in,
    write_gold,
)
from responsa.taxonomy.evaluation.template import criteria_text, lines
from responsa.taxonomy.evidence import recipes
from responsa.taxonomy.values import Generation
from test_taxonomy_evaluation_rows import ROWS, assessed
from test_taxonomy_retrieve import PAGES, models, report_of  # noqa: F401  # fixtures

ROW = MarkedRow(
    "t1", "R.pdf", "CCM 7.7", "Acquisition and ownership of buildings", 2023,
    (
        Quote(4, "energy performance certificate of class A", "supports"),
        Quote(3, "turnover taxonomy-aligned 931", "supports"),
        Quote(5, "our target", "trap_future"),
    ),
)  # fmt: skip


@pytest.fixture
def report(report_of):  # noqa: F811
    return report_of(*PAGES)


def test_documents_of_a_row(report):
    third, fourth = (report.chunks[at].id for at in (2, 3))
    assert documents(ROW, report) == [[fourth], [third]]


def test_every_chunk_that_holds_a_quote_will_do(report_of):  # noqa: F811
    text = "Heat pumps. " * 400
    long = report_of(text)
    row = MarkedRow("t", "R.pdf", "CCM 7.7", "", 2023, (Quote(1, "Heat pumps.", "supports"),))
    assert documents(row, long) == [[chunk.id for chunk in long.chunks]]
    assert len(long.chunks) > 1


def test_chunks_that_have_most_of_its_words_in_another_order_will_do_too(report_of):  # noqa: F811
    long = report_of("alpha beta " * 500)
    row = MarkedRow("t", "R.pdf", "CCM 7.7", "", 2023, (Quote(1, "beta beta alpha alpha", "supports"),))
    assert documents(row, long) == [[chunk.id for chunk in long.chunks]]
    few = MarkedRow("t", "R.pdf", "CCM 7.7", "", 2023, (Quote(1, "beta gamma", "supports"),))
    assert documents(few, long) == [[long.chunks[0].id]]
    assert len(long.chunks) > 1


def test_a_quote_over_two_chunks_is_the_one_with_most_of_it_and_one_in_none_stands_for_itself(report):
    row = MarkedRow(
        "t", "R.pdf", "CCM 7.7", "", 2023,
        (Quote(4, "The flats have a garden", "supports"), Quote(4, "zebras", "contradicts"), Quote(99, "x", "supports")),
    )  # fmt: skip
    assert documents(row, report) == [[report.chunks[3].id], ["t#1"], ["t#2"]]


def test_gold_there_and_back(tmp_path):
    gold = {"t1": [frozenset({"a b", "c"}), frozenset({"d"})], "t2": []}
    write_gold(gold, tmp_path / "gold.json")
    assert read_evidence_gold(tmp_path / "gold.json") == gold


def test_gold_from_qrels(tmp_path):
    path = tmp_path / "q.txt"
    path.write_text("t1 0 a%20b 1\nt1 0 c 0\nt2 0 d 0\n")
    assert read_evidence_gold(path) == {"t1": [{"a b"}], "t2": []}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"rows": [{"id": "a", "documents": []}]}', "nothing is right"),
        ('{"rows": [{"id": "a", "documents": [["x"]]}, {"id": "a", "documents": []}]}', "'a' comes twice"),
        ('{"rows": [{"id": "a", "documents": [[]]}]}', "without a chunk"),
        ('{"rows": [{"id": "a"}]}', "row 1 is not of the form"),
        ('{"rows": null}', "'rows' is of type NoneType; expected a list"),
        ('{"rows": 5}', "'rows' is of type int; expected a list"),
    ],
)
def test_gold_that_is_none(tmp_path, content, message):
    path = tmp_path / "gold.json"
    path.write_text(content)
    with pytest.raises(InputError) as error:
        read_evidence_gold(path)
    assert message in str(error.value)


def test_runs_are_written_kept_and_made_anew(report, models, tmp_path):  # noqa: F811
    given = ([ROW], {"R.pdf": report})
    names = ["kw", "kw_sw**", "hb_qe", "default"]
    first = make_runs(*given, names, tmp_path, chunks=2)
    assert [(each.recipe, each.state) for each in first] == [
        ("kw", "done"), ("kw_sw**", "done"), ("hb_qe", "not run"), ("default", "done")
    ]  # fmt: skip
    assert first[2].reason == NEEDS_CHAT
    assert states_in(tmp_path / "runs.json")["hb_qe"].reason == NEEDS_CHAT
    runs = read_runs(run_files([tmp_path]))
    assert set(runs) == {"kw", "kw_sw**", "default"}
    assert len(found_in(runs["default"])["t1"]) == 2
    gold = read_evidence_gold(tmp_path / GOLD)
    assert score(found_in(runs["kw"]), gold).recall == 1.0

    before = {path.name: path.read_bytes() for path in tmp_path.glob("*.run")}
    assert [each.state for each in make_runs(*given, names, tmp_path, chunks=2)] == ["kept", "kept", "not run", "kept"]
    assert [each.state for each in make_runs(*given, ["default"], tmp_path, chunks=3)] == ["done"]
    assert [each.state for each in make_runs(*given, ["kw"], tmp_path, fresh=True)] == ["done"]
    assert {path.name for path in tmp_path.glob("*.run")} == set(before)
    assert (tmp_path / "kw.run").read_bytes() == before["kw.run"]


def test_for_which_recipes_a_model_is_asked(report, models, tmp_path):  # noqa: F811
    given = ([ROW], {"R.pdf": report})
    queries = json.dumps({"queries": ["energy class"]})
    chat = ScriptedChat(lambda _: queries)
    names = ["kw", "hb_qe"]
    assert asking(*given, names, tmp_path, "scripted") == ["hb_qe"]
    (_, state) = make_runs(*given, names, tmp_path, chat, "scripted")
    assert state.state == "done", state.reason
    assert asking(*given, names, tmp_path, "scripted") == []
    assert (
        asking(*given, names, tmp_path, "another")
        == asking(*given, names, tmp_path, "scripted", fresh=True)
        == ["hb_qe"]
    )


def test_a_model_that_is_of_no_use_makes_no_run_under_the_recipes_name(report, models, tmp_path):  # noqa: F811
    (state,) = make_runs([ROW], {"R.pdf": report}, ["hb_qe"], tmp_path, ScriptedChat(lambda _: "no JSON"))
    assert state.state == "not run"
    assert state.reason
    assert not (tmp_path / "hb_qe.run").exists()


def test_a_run_of_before_that_cannot_be_made_anew_is_put_aside(report, models, tmp_path, monkeypatch):  # noqa: F811
    def lacking(*_args):
        raise MissingDependency("finding", "none")

    changed = replace(ROW, id="t2")
    given = {"R.pdf": report}
    for chat in (None, ScriptedChat(lambda _: "no JSON")):
        (tmp_path / "hb_qe.run").write_text("t1 Q0 x 1 0.5 hb_qe\n")
        (state,) = make_runs([changed], given, ["hb_qe"], tmp_path, chat)
        assert state.state == "not run"
        assert state.reason.endswith(".run.old")
        assert run_files([tmp_path]) == []
    make_runs([ROW], given, ["kw"], tmp_path)
    monkeypatch.setattr("responsa.taxonomy.evaluation.runs.find", lacking)
    (state,) = make_runs([changed], given, ["kw"], tmp_path)
    assert state.reason.endswith(".run.old")
    assert run_files([tmp_path]) == []
    (state,) = make_runs([changed], given, ["kw"], tmp_path)
    assert ".old" not in state.reason


@pytest.mark.parametrize("name", ["hb_qs_own", "hb_qs_common"])
def test_a_threshold_applied_to_a_run_is_the_recipe_with_that_threshold(report, models, tmp_path, name):  # noqa: F811
    path = tmp_path / "mine.toml"
    make_runs([ROW], {"R.pdf": report}, [name], tmp_path)
    run = read_runs([tmp_path / file_name(name)])[name]
    gold = read_evidence_gold(tmp_path / GOLD)
    scores = sorted({hit.score for hit in run.rankings["t1"].hits})
    assert len(scores) > 2
    for threshold in (0.05, 0.1, 0.5, 0.9):
        base = recipes.load(name)
        path.write_text(
            f'retriever = "hb"\nqueries = "qs"\nfilter = "{base.filter}"\nthreshold = {threshold}\n', encoding="utf-8"
        )
        make_runs([ROW], {"R.pdf": report}, [str(path)], tmp_path)
        own = read_runs([tmp_path / "mine.run"]).get("mine")
        assert own is not None
        assert found_in(own).get("t1", set()) == found_in(run, threshold).get("t1", set())
    assert sweep(run, (0.5,), gold)[1].scores.documents <= len(run.rankings["t1"].hits)


def test_runs_by_name(tmp_path):
    (tmp_path / "a.run").write_text("t1 Q0 x 1 0.5 kw\n")
    (tmp_path / "kw_sw++.run").write_text("")
    runs = read_runs(run_files([tmp_path]))
    assert set(runs) == {"kw", "kw_sw**"}
    (tmp_path / "b.run").write_text("t1 Q0 x 1 0.5 kw\n")
    with pytest.raises(InputError, match="'kw' is in"):
        read_runs(run_files([tmp_path]))


# The form


def generation(number, breakdown, findings, reasoning, concluded="aligned"):
    return Generation(number, breakdown, findings, reasoning, {}, concluded, concluded)


def test_a_line_for_each_generation_with_bleu(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text(json.dumps({"rows": ROWS}))
    texts = ["the building has an energy performance certificate", "the building has a certificate of class A"]
    made = assessed(generations=(generation(0, texts[0], "f", "r"), generation(1, texts[1], "f", "q", "not_aligned")))
    found = lines([made], read_judged(path))
    assert [(each["row"], each["generation"], each["conclusion"]) for each in found] == [
        ("t1", "0", "aligned"), ("t1", "1", "not_aligned")
    ]  # fmt: skip
    assert found[0]["BL_1"] == f"{bleu(texts[0], [texts[1]]):.6f}"
    assert float(found[0]["BL_2"]) == 1.0
    assert "BE_1" not in found[0]
    criteria = criteria_text(catalogue.shipped().find("CCM 7.7", 2023).activity.substantial_contribution)
    assert "primary energy demand" in criteria.lower()
    assert found[0]["BL_SCC"] == f"{bleu(texts[0], [criteria]):.6f}"
    assert found[1]["step_3"] == "q"
    (first, _) = csv.DictReader(io.StringIO(template(found)))
    assert first["step_1"] == texts[0]
    assert first["HE1"] == first["BE_1"] == ""


def test_bertscore_by_the_means_of_pairs(tmp_path):
    like = Likeness("shared letters", lambda pairs: [len(set(a) & set(b)) / 10 for a, b in pairs])
    made = assessed(
        generations=tuple(generation(at, text, text, text) for at, text in enumerate(["abc", "abd", "xyz"]))
    )
    found = lines([made], bertscore=like)
    assert [each["BE_1"] for each in found] == ["0.100000", "0.100000", "0.000000"]
    assert found[0]["row"] == "ACME_2023 CCM 7.7 2023"
    assert float(found[0]["BE_SCC"]) > 0


def test_one_generation_has_no_consistency_and_none_is_refused():
    (only,) = lines([assessed(generations=(generation(0, "a", "b", "c"),))])
    assert "BL_3" not in only
    assert "BL_SCC" in only
    with pytest.raises(InputError, match="no assessment has a generation"):
        lines([assessed()])


def test_the_names_of_files():
    assert file_name("kw_sw**") == "kw_sw++.run"
    assert file_name("folder/mine.toml") == "mine.run"
