"""Experiments run: what is computed, kept and computed again, what is compared, and the same bytes every time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from responsa import recipe, sample
from responsa.corpus.library import Library
from responsa.engine import Engine
from responsa.errors import ModelError, NotFound, StorageError
from responsa.evaluate import trec
from responsa.evaluate.ranking import Measure, score_run, summarise
from responsa.experiment import data, plots, report
from responsa.experiment import run as experiment
from responsa.experiment import runs as kept
from responsa.experiment.runs import Runs
from responsa.experiment.table import Row, Table, parse
from responsa.retrieval.bm25 import BM25

MEASURES = (Measure("recall", 10), Measure("MAP", 10))


@pytest.fixture(scope="module")
def asked(sample_library):
    return data.read([sample.questions()], (), None, sample_library.corpus(), lambda _: None)


class Tried:
    """An experiment in a folder: its results, what was said, and which questions were searched for."""

    def __init__(self, out: Path, library: Library, asked: data.Data, monkeypatch: pytest.MonkeyPatch) -> None:
        self.out, self.library, self.asked = out, library, asked
        self.said: list[str] = []
        self.searched: list[tuple[str, int]] = []
        real = Engine.run

        def spied(engine, queries, *args, **kwargs):
            self.searched.append((engine.recipe.name, len(queries)))
            return real(engine, queries, *args, **kwargs)

        monkeypatch.setattr(Engine, "run", spied)

    def __call__(self, table, out="out", fresh=False, data=None, k=100):
        self.said.clear()
        self.searched.clear()
        found = {} if table.sweep else None
        corpus = self.library.corpus()
        runs = Runs(self.out / out / "runs", self.library, corpus, data or self.asked, k, fresh, found=found)
        return experiment.run(table, runs, 0, self.said.append)

    def bytes(self, out: str = "out") -> Mapping[str, bytes]:
        folder = self.out / out
        return {
            str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
        }


@pytest.fixture
def tried(tmp_path, sample_library, asked, monkeypatch):
    return Tried(tmp_path, sample_library, asked, monkeypatch)


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def plain(tmp_path, name="plain", **settings) -> str:
    """A recipe of BM25 with these settings."""
    return write(
        tmp_path / f"{name}.toml",
        '[retrieve]\nkind = "bm25"\n' + "".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items()),
    )


def table(*rows: str | Row, **fields) -> Table:
    made = tuple(row if isinstance(row, Row) else Row(row, Path(row).stem) for row in rows)
    return Table("toy", "Toy", made, MEASURES, **fields)


# ------------------------------------------------------------------------------------------------ scores


def test_the_figures_are_those_of_scoring_each_run(tried, tmp_path, sample_library, asked):
    found = tried(table("bm25", plain(tmp_path, bigram_weight=0)))
    first, second = found["rows"]
    run = trec.read_run(tmp_path / "out" / "runs" / "bm25.run")
    assert run == replace(Engine(sample_library, recipe.load("bm25")).run(asked.queries), name="bm25")
    expected = {
        (each.group, each.measure): each.estimate for each in summarise(score_run(run, asked.judgements, MEASURES))
    }
    for group in ("all", "2+"):
        for measure in ("recall@10", "MAP@10"):
            estimate = expected[group, measure]
            assert first["means"][group][measure] == {
                "mean": estimate.mean,
                "low": estimate.low,
                "high": estimate.high,
                "n": estimate.n,
            }
    assert set(first["means"]["all"]) == {"recall@10", "MAP@10", *(f"recall@{k}" for k in (1, 3, 5, 20, 50, 100))}
    assert "differences" not in first
    assert found["against"] == "bm25"
    for group in ("all", "2+"):
        difference = second["differences"][group]["MAP@10"]
        assert difference["mean"] == pytest.approx(
            second["means"][group]["MAP@10"]["mean"] - first["means"][group]["MAP@10"]["mean"]
        )
        assert difference["wins"] + difference["losses"] + difference["ties"] == found["questions"][group]


def test_groups_of_questions(tried):
    found = tried(table("bm25"))
    counts = {}
    for judgement in tried.asked.judgements:
        counts[judgement.query_id] = counts.get(judgement.query_id, 0) + 1
    several = sum(count > 1 for count in counts.values())
    assert found["questions"]["all"] == 40
    assert found["questions"]["2+"] == several
    assert sum(found["questions"].get(group, 0) for group in ("1", "2", "3", "4+")) == 40
    assert set(found["rows"][0]["means"]["1"]) == {"recall@10"}


def test_nothing_is_measured_beyond_the_passages_asked_for(tried, tmp_path):
    toy = replace(table("bm25"), measures=(Measure("recall", 5), Measure("recall", 20), Measure("MRR")))
    found = tried(toy, k=7)
    assert found["table"]["measures"] == ["recall@5", "MRR"]
    means = found["rows"][0]["means"]
    assert set(means["all"]) == {"recall@1", "recall@3", "recall@5", "MRR"}
    assert set(found["questions"]) == set(means) == {"all", "2+"}
    assert [path.name for path in (tmp_path / "out" / "toy").glob("*.svg")] == ["recall-by-k.svg"]
    assert "recall@20" not in (tmp_path / "out" / "toy" / "table.md").read_text()


def test_strata_are_groups_too(tried):
    ids = [query.id for query in tried.asked.queries]
    found = tried(table("bm25"), data=replace(tried.asked, strata={"rare": frozenset(ids[:5])}))
    assert found["questions"]["rare"] == 5
    assert found["rows"][0]["means"]["rare"]["MAP@10"]["n"] == 5
    assert report.heading(found, "rare") == "Questions whose gold is not Article 99, 100 or 430 (5)"


# ------------------------------------------------------------------------------------------------ kept and resumed


def test_a_second_time_nothing_is_computed_and_the_bytes_are_the_same(tried, tmp_path):
    made = table("bm25", plain(tmp_path, b=0.5))
    first = tried(made)
    assert tried.searched == [("bm25", 40), ("plain", 40)]
    before = tried.bytes()
    assert tried(made) == first
    assert tried.searched == []
    assert tried.bytes() == before
    assert tried(made, fresh=True) == first
    assert tried.searched == [("bm25", 40), ("plain", 40)]
    assert tried.bytes() == before


def test_the_same_bytes_in_another_folder(tried, tmp_path):
    made = table("bm25", plain(tmp_path, b=0.5), Row("aueb-vl2", "VL2", {"recall@10": 0.77}))
    tried(made, "one")
    tried(made, "two")
    one = tried.bytes("one")
    assert one == tried.bytes("two")
    assert sorted(one) == [
        "runs/bm25.json",
        "runs/bm25.run",
        "runs/plain.json",
        "runs/plain.run",
        "toy/manifest.json",
        "toy/recall-by-gold.svg",
        "toy/recall-by-k.svg",
        "toy/results.json",
        "toy/table.md",
    ]
    everything = b"".join(one.values()).decode()
    assert str(tmp_path) not in everything


def test_what_is_changed_is_computed_again(tried, tmp_path, asked, monkeypatch):
    path = plain(tmp_path, b=0.5)
    tried(table("bm25", path))
    plain(tmp_path, b=0.6)
    tried(table("bm25", path))
    assert tried.searched == [("plain", 40)]
    tried(table("bm25", path), k=50)
    assert tried.searched == [("bm25", 40), ("plain", 40)]
    other = replace(asked, queries=(replace(asked.queries[0], background="in 2024"), *asked.queries[1:]))
    tried(table("bm25"), data=other, k=50)
    assert tried.searched == [("bm25", 40)]
    with monkeypatch.context() as patch:
        patch.setattr(kept, "code", lambda: "other")
        tried(table("bm25"), data=other, k=50)
    assert tried.searched == [("bm25", 40)]
    tried(table("bm25"), data=other, k=50)
    # Another gold is another score, but the same run.
    tried(table("bm25"), data=replace(other, judgements=asked.judgements[1:]), k=50)
    assert tried.searched == []


@pytest.mark.parametrize("damage", ["cut", "gone", "json"])
def test_a_damaged_run_is_computed_again(tried, tmp_path, damage):
    first = tried(table("bm25"))
    before = tried.bytes()
    path = tmp_path / "out" / "runs" / "bm25.run"
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:1000])
    elif damage == "gone":
        path.unlink()
    else:
        path.with_suffix(".json").write_text("[1")
    assert tried(table("bm25")) == first
    assert tried.searched == [("bm25", 40)]
    assert tried.bytes() == before


def test_after_a_crash_it_goes_on(tried, tmp_path, monkeypatch):
    made = table("bm25", plain(tmp_path, b=0.5), plain(tmp_path, "third", b=0.6))
    real = BM25.__call__

    def broken(self, *args):
        if self.b == 0.5:
            raise RuntimeError("out of memory")
        return real(self, *args)

    with monkeypatch.context() as patch:
        patch.setattr(BM25, "__call__", broken)
        with pytest.raises(RuntimeError, match="out of memory"):
            tried(made)
    assert not (tmp_path / "out" / "toy" / "results.json").exists()
    tried(made)
    assert tried.searched == [("plain", 40), ("third", 40)]
    crashed = tried.bytes()
    tried(made, "whole")
    assert tried.bytes("whole") == crashed


# ------------------------------------------------------------------------------------------------ rows that do not run


def test_a_row_that_lacks_something_is_not_run_and_prints_no_figure_of_ours(tried, tmp_path, monkeypatch):
    monkeypatch.delenv("VOYAGE_API_KEY", raising=False)
    dense = write(tmp_path / "own.toml", '[retrieve]\nkind = "dense"\nencoder = "onnx:no/model"\n')
    known = write(tmp_path / "known.toml", '[retrieve]\nkind = "known-questions"\npath = "no.jsonl"\n')
    found = tried(table(Row("aueb-vl2", "VL2", {"recall@10": 0.7705}), "bm25", dense, known))
    assert [row["state"] for row in found["rows"]] == ["not run here", "done", "not run here", "not run here"]
    assert found["against"] == "bm25"
    assert tried.said == []
    assert [row["reason"] for row in found["rows"]] == [
        "needs a paid API: VOYAGE_API_KEY is not set",
        "",
        "there is no model folder 'no/model'",
        "there is no file 'no.jsonl'",
    ]
    header, *lines = report.cells(found, "all")
    assert header == ["row", "recall@10, published", "recall@10, here", "MAP@10, here"]
    assert lines[0] == ["VL2", "0.770", "not run here", "not run here"]
    assert lines[1][:2] == ["bm25", ""]
    assert "- VL2: not run here: needs a paid API: VOYAGE_API_KEY is not set." in report.markdown(found, [])
    assert "means" not in found["rows"][0]


def test_a_row_that_fails_does_not_stop_the_others(tried, tmp_path, monkeypatch):
    real = BM25.__call__

    def broken(self, *args):
        if self.b == 0.5:
            raise ModelError("the server answered 500")
        return real(self, *args)

    monkeypatch.setattr(BM25, "__call__", broken)
    wrong = write(tmp_path / "wrong.toml", '[retrieve]\nkind = "bm52"\n')
    found = tried(table(plain(tmp_path, b=0.5), wrong, "bm25"))
    assert [row["state"] for row in found["rows"]] == ["failed", "failed", "done"]
    assert tried.said[0] == "plain: failed: the server answered 500"
    assert "unknown kind 'bm52'; did you mean 'bm25'" in tried.said[1]
    assert not (tmp_path / "out" / "runs" / "plain.json").exists()


@pytest.mark.parametrize("settings", [[1], {"kind": "encoder", "name": "odd", "max_length": -5, "dimension": 2}])
def test_a_model_folder_that_cannot_be_used_fails_its_row_alone(tried, tmp_path, settings):
    if isinstance(settings, dict):
        settings = settings | {"sha256_model": "", "sha256_tokenizer": ""}
    (tmp_path / "odd").mkdir()
    write(tmp_path / "odd" / "model.json", json.dumps(settings))
    dense = write(tmp_path / "dense.toml", f'[[retrieve]]\nkind = "dense"\nencoder = "onnx:{tmp_path / "odd"}"\n')
    found = tried(table(dense, "bm25"))
    assert [row["state"] for row in found["rows"]] == ["failed", "done"]
    assert tried.said[0].startswith(f"dense: failed: {tmp_path / 'odd' / 'model.json'}")


def test_a_run_without_a_hit_has_failed(tried, asked):
    silent = replace(
        asked, queries=tuple(replace(query, text="Xylophonquark?", background="") for query in asked.queries)
    )
    found = tried(table("bm25"), data=silent)
    assert found["rows"][0]["state"] == "failed"
    assert tried.said == [
        "bm25: failed: no passage was found for any of 40 questions; does the library hold the documents that they ask about?"
    ]
    assert found["against"] == ""
    assert report.remarks(found)[0].startswith("bm25: failed: no passage")
    assert plots.plots(found) == {}
    # The empty run is kept too: a second time nothing is searched.
    tried(table("bm25"), data=silent)
    assert tried.searched == []


def test_questions_without_a_hit_count_zero_and_are_told(tried, asked):
    half = tuple(replace(query, text="Xylophonquark?") if n % 2 else query for n, query in enumerate(asked.queries))
    found = tried(table("bm25"), data=replace(asked, queries=half))
    assert found["rows"][0]["missing"] == 20
    assert found["questions"]["all"] == 40
    assert "bm25: nothing was found for 20 questions, which count 0." in report.remarks(found)


# ------------------------------------------------------------------------------------------------ folds


@pytest.fixture
def folded(tried, tmp_path, asked):
    """Two folds, and a recipe that knows in each fold one passage for every question."""
    first, second = asked.queries[:10], asked.queries[10:25]
    lent = [judgement.passage_id for judgement in asked.judgements[:2]]
    for fold, queries in enumerate((first, second)):
        rows = [{"question": f"{query.text} Indeed?", "passages": [lent[fold]]} for query in queries]
        write(tmp_path / f"known{fold}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    path = write(
        tmp_path / "lending.toml",
        f'[retrieve]\nkind = "known-questions"\npath = "{tmp_path}/known{{fold}}.jsonl"\nleast = 0.9\n',
    )
    ids = {query.id for query in (*first, *second)}
    judgements = tuple(judgement for judgement in asked.judgements if judgement.query_id in ids)
    parts = data.Data((*first, *second), judgements, (first, second))
    return path, parts, lent


def test_each_fold_is_tested_with_its_own_files(tried, tmp_path, folded):
    path, parts, lent = folded
    found = tried(table("bm25", path), data=parts)
    assert tried.searched == [("bm25", 25), ("lending", 10), ("lending", 15)]
    for fold, queries in enumerate(parts.folds):
        run = trec.read_run(tmp_path / "out" / "runs" / f"lending.fold{fold}.run")
        assert list(run.rankings) == [query.id for query in queries]
        assert {hit.passage_id for ranking in run.rankings.values() for hit in ranking.hits} == {lent[fold]}
    # All questions are pooled: those of the second fold too.
    assert found["folds"] == 2
    assert found["questions"]["all"] == 25
    row = found["rows"][1]
    assert row["means"]["all"]["recall@10"]["n"] == 25
    expected = score_run(
        trec.Run("", {query.id: trec.Ranking.of(query.id, [(lent[fold], 1.0)]) for fold, queries in enumerate(parts.folds) for query in queries}),
        parts.judgements,
        MEASURES,
    )  # fmt: skip
    values = expected.values(Measure("recall", 10))
    assert row["means"]["all"]["recall@10"]["mean"] == pytest.approx(sum(values) / 25)
    assert set(row["differences"]) == {"all", "2+"}
    assert "2 folds: each question is tested once, and all are pooled." in report.remarks(found)


def test_of_folds_only_what_changed_is_computed_again(tried, tmp_path, folded):
    path, parts, _ = folded
    good = (tmp_path / "known1.jsonl").read_text()
    (tmp_path / "known1.jsonl").write_text("{")
    assert tried(table(path), data=parts)["rows"][0]["state"] == "failed"
    assert tried.searched == [("lending", 10), ("lending", 15)]
    (tmp_path / "known1.jsonl").write_text(good)
    assert tried(table(path), data=parts)["rows"][0]["state"] == "done"
    assert tried.searched == [("lending", 15)]


def test_a_recipe_with_folds_wants_folds(tried, folded):
    path, _, _ = folded
    assert tried(table(path))["rows"][0]["state"] == "failed"
    assert "names {fold}; give the folds with --folds FILE" in tried.said[0]


# ------------------------------------------------------------------------------------------------ sweeps, plots, pages


def test_a_sweep_searches_once_and_differs_by_its_values(tried, tmp_path):
    two = write(
        tmp_path / "two.toml",
        '[[retrieve]]\nkind = "bm25"\n[[retrieve]]\nkind = "bm25"\nbigram_weight = 0\n[fuse]\nkind = "linear"\n',
    )
    calls = []
    real = BM25.__call__

    def spied(self, *args):
        calls.append(self.bigram_weight)
        return real(self, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BM25, "__call__", spied)
        sweep = {
            "recipe": two,
            "parameter": "fuse.weights",
            "values": [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]],
            "published": {"0.5, 0.5": {"MAP@10": 0.7}},
        }
        swept = parse({"table": {"title": "Weights", "measures": ["MAP@10"]}, "sweep": sweep}, "weights", "w")
        found = tried(swept)
    assert sorted(calls) == [0, 0.6]
    assert [row["label"] for row in found["rows"]] == ["1, 0", "0.5, 0.5", "0, 1"]
    alone = tried(table("bm25", plain(tmp_path, bigram_weight=0)))
    assert [found["rows"][place]["means"]["all"]["recall@10"]["mean"] for place in (0, 2)] == [
        row["means"]["all"]["recall@10"]["mean"] for row in alone["rows"]
    ]
    names = sorted(path.name for path in (tmp_path / "out" / "weights").iterdir())
    assert names == ["manifest.json", "results.json", "sweep-MAP@10.svg", "table.md"]
    svg = (tmp_path / "out" / "weights" / "sweep-MAP@10.svg").read_text()
    assert ">published<" in svg
    assert ">0.5, 0.5<" in svg


def test_plots_show_every_row_that_ran_and_have_no_date(tried, tmp_path):
    found = tried(table("bm25", plain(tmp_path, b=0.5), "aueb-vl2"))
    drawn = plots.plots(found)
    assert sorted(drawn) == ["recall-by-gold.svg", "recall-by-k.svg"]
    for svg in drawn.values():
        assert "<svg" in svg
        assert ">plain<" in svg
        assert ">aueb-vl2<" not in svg
        assert "dc:date" not in svg
    assert [f">{k}<" in drawn["recall-by-k.svg"] for k in (1, 3, 5, 10, 20, 50, 100)] == [True] * 7
    assert drawn == plots.plots(found)


def test_without_matplotlib_there_are_no_plots_and_it_is_said(tried, tmp_path, monkeypatch):
    tried(table("bm25"))
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    tried(table("bm25"))
    assert tried.said == [
        "no plots: drawing plots needs an optional library; install it with: pip install 'responsa[plots]'"
    ]
    assert list((tmp_path / "out" / "toy").glob("*.svg")) == []


def test_the_page(tried, tmp_path):
    rows = (Row("bm25", "a|b", {"recall@10": 0.5}, "differs"), Row(plain(tmp_path, b=0.5), "own", note="differs"))
    found = tried(Table("toy", "Toy", rows, MEASURES, "Paper, table 1", "Set", decimals=2, note="Read this."))
    page = (tmp_path / "out" / "toy" / "table.md").read_text()
    assert page.startswith(
        "# Toy\n\nSource of the published figures: Paper, table 1. Set.\n\n## All questions (40)\n\n"
    )
    assert (
        "| row | recall@10, published | recall@10, here | recall@10, difference | MAP@10, here | MAP@10, difference |"
        in page
    )
    assert "| a\\|b | 0.50 | " in page
    several = page.index("## Questions with several gold passages (")
    assert "published" not in page[several:].split("\n\n")[1]
    assert (
        "- Read this.\n- Intervals are 95 % bootstrap over questions; differences are paired, from 'a|b'.\n- a|b; own: differs\n"
        in page
    )
    assert "![recall-by-k](recall-by-k.svg)" in page
    del found


def test_the_manifest_names_what_a_run_was_made_of(tried, tmp_path, sample_library):
    tried(table("bm25", "aueb-vl2"))
    manifest = json.loads((tmp_path / "out" / "toy" / "manifest.json").read_text())
    assert manifest["library"] == sample_library.corpus().digest
    assert {"responsa", "numpy", "scipy"} <= manifest["versions"].keys()
    assert {name: manifest[name] for name in tried.asked.digests} == tried.asked.digests
    ran, not_run = manifest["rows"]
    (run,) = ran["runs"]
    assert run["file"] == "bm25.run"
    assert run["models"] == []
    assert set(run["versions"]) == {"responsa", "numpy", "bm25s", "PyStemmer"}
    assert len(run["sha256"]) == len(run["recipe"]) == len(run["inputs"]) == 64
    assert (not_run["state"], not_run["runs"]) == ("not run here", [])


def test_models_and_files_are_named_by_content(tried, tmp_path, folded):
    path, parts, _ = folded
    tried(table(path), data=parts)
    written = json.loads((tmp_path / "out" / "runs" / "lending.fold0.json").read_text())
    (name,) = written["models"]
    assert name.startswith("known0.jsonl@")
    assert len(name) == len("known0.jsonl@") + 12


# ------------------------------------------------------------------------------------------------ check, read


def test_check_tells_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.delenv("VOYAGE_API_KEY", raising=False)
    folds = write(tmp_path / "folds.toml", '[retrieve]\nkind = "dense"\nencoder = "onnx:m/fold{fold}"\n')
    wrong = write(tmp_path / "wrong.toml", '[retrieve]\nkind = "dense"\nencoder = "onx:m"\n')
    rows = {row["name"]: row for row in experiment.check(table("bm25", "aueb-bm25-vl2", folds, wrong))}
    assert rows["bm25"] == {"name": "bm25", "label": "bm25", "runs": True, "needs": [], "reason": ""}
    assert rows["aueb-bm25-vl2"]["needs"] == ["voyage:voyage-law-2"]
    assert rows["aueb-bm25-vl2"]["reason"] == "needs a paid API: VOYAGE_API_KEY is not set"
    assert rows["folds"]["reason"] == "there is no model folder 'm/fold0'"
    assert "unknown scheme 'onx'" in rows["wrong"]["reason"]
    monkeypatch.setenv("VOYAGE_API_KEY", "k")
    assert experiment.check(table("aueb-vl2"))[0]["runs"]


def test_reading_what_was_run(tried, tmp_path):
    found = tried(table("bm25"))
    assert experiment.read("toy", tmp_path / "out") == json.loads(json.dumps(found))
    with pytest.raises(NotFound, match=r"other: no results in .*; make them with: responsa experiment run other"):
        experiment.read("other", tmp_path / "out")
    (tmp_path / "out" / "toy" / "results.json").write_text("{}")
    with pytest.raises(Exception, match="holds no results; run the experiment again"):
        experiment.read("toy", tmp_path / "out")


def test_a_file_where_the_folder_should_be(tried, tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(StorageError, match=r"cannot be made: .*; name another folder with --out"):
        tried(table("bm25"))
