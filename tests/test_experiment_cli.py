"""The experiment commands as they are typed: what they print, their JSON, their exit status."""

from __future__ import annotations

import json
import math
import subprocess

import pytest

from helpers import cli
from responsa import sample

PLAIN = '[retrieve]\nkind = "bm25"\nbigram_weight = 0\n'


@pytest.fixture
def run(sample_library, tmp_path, monkeypatch):
    """Runs a command on the sample library, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VOYAGE_API_KEY", raising=False)
    (tmp_path / "plain.toml").write_text(PLAIN)

    def command(*arguments: object) -> subprocess.CompletedProcess[str]:
        return cli(sample_library.folder.resolve(), "experiment", *map(str, arguments))

    return command


def ok(done):
    assert done.returncode == 0, done.stderr
    return done


def test_run_then_table(run, tmp_path):
    asked = ("run", "bm25", "plain.toml", "--questions", sample.questions())
    first = ok(run(*asked))
    assert "All questions (40)" in first.stdout
    assert "Questions with several gold passages (" in first.stdout
    assert "recall@10, here" in first.stdout
    assert "2 rows of 2 run here." in first.stdout
    assert first.stderr == "written to experiments/recipes\n"
    assert ok(run("table", "recipes")).stdout == first.stdout
    found = json.loads(ok(run("table", "recipes", "--json")).stdout)
    assert found == json.loads(ok(run(*asked, "--json")).stdout)
    assert [row["name"] for row in found["tables"][0]["rows"]] == ["bm25", "plain"]
    assert (tmp_path / "experiments" / "recipes" / "table.md").is_file()


def test_published_figures_stand_beside_ours(run):
    done = ok(run("run", "aueb-1", "--questions", sample.questions(), "--out", "here"))
    lines = [line.split() for line in done.stdout.splitlines()]
    (ours,) = [line for line in lines if line[:2] == ["BM25", "0.6994"]]
    assert ours[2] not in ("0.6994", "not")
    (other,) = [line for line in lines if line[:2] == ["VL2", "0.7705"]]
    assert other[2:] == ["not", "run", "here", "0.6275", "not", "run", "here"]
    assert "- VL2; VF2: not run here: needs a paid API: VOYAGE_API_KEY is not set." in done.stdout
    assert "1 row of 4 run here." in done.stdout


def test_measures_and_k(run, tmp_path):
    found = json.loads(
        ok(
            run("run", "bm25", "--questions", sample.questions(), "--measures", "MRR,recall@5", "-k", 7, "--json")
        ).stdout
    )
    assert found["tables"][0]["table"]["measures"] == ["MRR", "recall@5"]
    lines = (tmp_path / "experiments" / "runs" / "bm25.run").read_text().splitlines()
    assert max(int(line.split()[3]) for line in lines) == 7


def test_what_reaches_beyond_k_is_not_measured(run, tmp_path):
    asked = ("run", "bm25", "--questions", sample.questions())
    done = ok(run(*asked, "-k", 10))
    assert done.stderr.splitlines()[0] == "recipes: recall@100 is left out: 10 passages are looked for (-k)"
    assert done.stderr.count("left out") == 1
    assert "recall@100" not in done.stdout
    assert "recall@10, here" in done.stdout
    found = json.loads((tmp_path / "experiments" / "recipes" / "results.json").read_text())
    assert found["table"]["measures"] == ["recall@10", "MAP@10", "nDCG@10"]
    assert json.loads((tmp_path / "experiments" / "recipes" / "manifest.json").read_text())["measures"] == [
        "recall@10", "MAP@10", "nDCG@10"
    ]  # fmt: skip
    refused = run(*asked, "-k", 7, "--measures", "MRR,recall@5,recall@8")
    assert refused.returncode == 1
    assert "recall@8 reaches beyond the 7 passages that are looked for in recipes; give -k 8" in refused.stderr
    refused = run("run", "aueb-1", "--questions", sample.questions(), "-k", 5)
    assert refused.returncode == 1
    assert "every measure of aueb-1 reaches beyond the 5 passages" in refused.stderr


def test_check_lists_every_row_of_every_table(run):
    done = ok(run("check"))
    for name in ("rirag-4", "aueb-1", "aueb-2", "aueb-figure-1", "crr-3"):
        assert f"\n{name}: " in f"\n{done.stdout}"
    rows = {
        row["name"]: row for each in json.loads(ok(run("check", "--json")).stdout)["tables"] for row in each["rows"]
    }
    assert rows["rirag-bm25"]["runs"]
    assert rows["aueb-vl2"]["reason"] == "needs a paid API: VOYAGE_API_KEY is not set"
    assert not rows["crr-ranker"]["runs"]


def test_folds(run, tmp_path):
    ids = [json.loads(line)["id"] for line in sample.questions().read_text().splitlines()]
    (tmp_path / "folds.json").write_text(json.dumps([{"test": ids[:5], "train": []}, {"test": ids[5:9], "train": []}]))
    for fold in (0, 1):
        (tmp_path / f"stem{fold}.jsonl").write_text(
            json.dumps({"question": "When?", "passages": ["AML/2.2.1(3)"]}) + "\n"
        )
    (tmp_path / "folded.toml").write_text(
        '[[retrieve]]\nkind = "bm25"\n[[retrieve]]\nkind = "known-questions"\npath = "stem{fold}.jsonl"\n'
    )
    found = json.loads(
        ok(
            run("run", "bm25", "folded.toml", "--questions", sample.questions(), "--folds", "folds.json", "--json")
        ).stdout
    )
    (table,) = found["tables"]
    assert (table["folds"], table["questions"]["all"]) == (2, 9)
    assert table["rows"][1]["differences"]["all"]["recall@10"]["n"] == 9
    assert sorted(path.name for path in (tmp_path / "experiments" / "runs").glob("*.run")) == [
        "bm25.run",
        "folded.fold0.run",
        "folded.fold1.run",
    ]


def test_graded(run, tmp_path):
    rows = [
        {"QuestionID": "q", "Question": "What must a firm do when it suspects money laundering?", "Passages": [
            {"DocumentID": "AML", "PassageID": "x", "ID": "AML/5.1.1(1)", "Relation": 2},
            {"DocumentID": "AML", "PassageID": "y", "ID": "AML/5.2.1(2)", "Relation": 1},
        ]}
    ]  # fmt: skip
    (tmp_path / "rated.json").write_text(json.dumps(rows))

    def ndcg(*more):
        done = ok(run("run", "bm25", "--questions", "rated.json", "--measures", "nDCG@10,recall@10", "--json", *more))
        means = json.loads(done.stdout)["tables"][0]["rows"][0]["means"]["all"]
        return means["nDCG@10"]["mean"], means["recall@10"]["mean"]

    flat, graded = ndcg(), ndcg("--graded")
    assert flat[1] == graded[1]
    assert flat[0] != graded[0]
    run_file = (tmp_path / "experiments" / "runs" / "bm25.run").read_text().splitlines()
    ranked = [line.split()[2] for line in run_file]
    gains = {"AML/5.1.1(1)": 1, "AML/5.2.1(2)": 2}
    dcg = sum(gains.get(name, 0) / math.log2(rank + 1) for rank, name in enumerate(ranked[:10], 1))
    assert graded[0] == pytest.approx(dcg / (2 + 1 / math.log2(3)))
    scored = cli(tmp_path, "score", "run", "experiments/runs/bm25.run", "--gold", "rated.json", "--graded", "--json")
    means = json.loads(ok(scored).stdout)["runs"][0]["result"]["means"]
    assert [m["mean"] for m in means if (m["measure"], m["group"]) == ("nDCG@10", "all")] == [graded[0]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "rirag-44", "--questions", "QUESTIONS"], "responsa: no table or recipe 'rirag-44'; did you mean 'rirag-4'?"),
        (["run", "bm25", "--questions", "none.jsonl"], "responsa: none.jsonl: cannot be read: No such file"),
        (["run", "bm25", "--questions", "strange.jsonl"], "gold passages are not in the library, such as 'ZZZ/1'"),
        (["run", "bm25", "--questions", "QUESTIONS", "--folds", "none.json"], "responsa: none.json: cannot be read"),
        (["run", "bm25", "--questions", "QUESTIONS", "--measures", "recal@5"], "unknown measure 'recal@5'"),
        (["run", "bm25", "--questions", "silent.jsonl"], "bm25: failed: no passage was found for any of 1 questions"),
        (["run", "folds.toml", "--questions", "QUESTIONS"], "names {fold}; give the folds with --folds FILE"),
        (["table", "rirag-4"], "responsa: rirag-4: no results in 'experiments'"),
        (["check", "bm26"], "responsa: no table or recipe 'bm26'; did you mean 'bm25'?"),
    ],
)  # fmt: skip
def test_what_the_user_can_mend(run, tmp_path, arguments, message):
    strange = {"id": "q", "question": "What?", "passages": ["ZZZ/1"]}
    (tmp_path / "strange.jsonl").write_text(json.dumps(strange) + "\n")
    silent = {"id": "q", "question": "Xylophonquark?", "passages": ["AML/5.1.1(1)"]}
    (tmp_path / "silent.jsonl").write_text(json.dumps(silent) + "\n")
    (tmp_path / "folds.toml").write_text('[retrieve]\nkind = "dense"\nencoder = "onnx:m/fold{fold}"\n')
    done = run(*(sample.questions() if argument == "QUESTIONS" else argument for argument in arguments))
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
