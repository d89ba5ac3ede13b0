"""Learning the weights of features."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from responsa.cli.app import app
from responsa.corpus import library
from responsa.errors import InputError
from responsa.learn.features import PRODUCTS, Listed, fit, stages_before
from responsa.retrieval import Hybrid
from responsa.retrieval.bm25 import BM25
from responsa.retrieval.evidence import Neighbours
from responsa.retrieval.features import names
from responsa.retrieval.learned import Features

COUNT = len(names(1))


def listed(rows, gold, columns=(0,)):
    """Candidates with values in some columns, 0 in the others; ``gold`` are rows."""
    values = np.zeros((len(rows), COUNT), dtype=np.float32)
    values[:, list(columns)] = rows
    target = np.zeros(len(rows))
    target[list(gold)] = 1 / len(gold)
    return Listed(values, target)


def test_the_minimum_by_hand():
    # One feature of two candidates, +1 the gold and -1: standardised they stay. With weight w the loss is
    # ln(1 + exp(-2w)) + penalty / 2 w^2, least where 2 / (1 + exp(2w)) = penalty w. The square of the feature, a
    # product, is the same for both and weighs nothing.
    learned = fit([listed([[1.0], [-1.0]], [0])], 1, 100, penalty=0.5)
    weight = learned.weights[0]
    assert 2 / (1 + np.exp(2 * weight)) == pytest.approx(0.5 * weight, abs=1e-6)
    assert max(abs(other) for other in learned.weights[1:]) < 1e-9
    assert learned.questions == 1


def test_the_loss_is_at_its_minimum():
    generator = np.random.default_rng(5)
    questions = []
    for _ in range(40):
        rows = generator.normal(size=(6, COUNT))
        questions.append(listed(rows, [int(np.argmax(rows @ np.arange(COUNT)))], range(COUNT)))
    learned = fit(questions, 1, 100, penalty=2.0)
    moved = np.array(learned.weights)

    def loss(weights):
        from responsa.retrieval.learned import expand

        places = [learned.features.index(name) for name in learned.products]
        total = float(weights @ weights)
        for each in questions:
            columns = (expand(each.values.astype(float), places) - learned.mean) / learned.spread
            scores = columns @ weights
            total += float(np.log(np.exp(scores).sum()) - each.target @ scores)
        return total

    best = loss(moved)
    for step in generator.normal(size=(20, len(moved))) * 1e-2:
        assert loss(moved + step) > best


def test_products_are_of_every_run():
    learned = fit([Listed(np.eye(3, len(names(2)), dtype=np.float32), np.array([1.0, 0, 0]))], 2, 100)
    assert set(PRODUCTS) < set(learned.products)
    assert {"run 1 scaled", "run 2 scaled", "run 2 per idf"} < set(learned.products)
    assert "run 1 raw" not in learned.products


def test_features_are_left_out():
    question = listed([[1.0], [-1.0]], [0])
    learned = fit([question], 1, 100, without=("length", "near"))
    assert set(names(1)) - set(learned.features) == {"length", "near"}
    assert set(PRODUCTS) - set(learned.products) == {"length", "near"}
    with pytest.raises(InputError, match="unknown feature 'lenght'; did you mean 'length'"):
        fit([question], 1, 100, without=("lenght",))


def test_nothing_to_learn_from():
    with pytest.raises(InputError, match="no question has a gold passage among its candidates"):
        fit([], 1, 100)
    with pytest.raises(InputError, match="a penalty above 0 is needed, got 0"):
        fit([listed([[1.0]], [0])], 1, 100, penalty=0)


def test_the_stages_before():
    near, learned = Neighbours(), Features("w.json")
    assert stages_before(Hybrid((BM25(),), rerank=(near, learned, near))) == Hybrid((BM25(),), rerank=(near,))
    assert stages_before(Hybrid((BM25(),), rerank=(near,))) == Hybrid((BM25(),), rerank=(near,))
    assert stages_before(BM25()) == BM25()


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Rules that come in two halves, the second without the words of the question; both answer it."""
    folder = tmp_path_factory.mktemp("world")
    rows, asked = [], []
    for topic in range(24):
        parts = [
            f"A firm must report case{topic} to the regulator.",
            f"It does so in {topic + 3} days with form {topic}.",
        ]
        rows += [
            {"id": f"{topic}-{n}", "document": "d", "number": f"{topic}.{n}", "text": t} for n, t in enumerate(parts)
        ]
        rows.append(
            {"id": f"{topic}-x", "document": "x", "number": f"{topic}", "text": f"In days of old, form {topic}."}
        )
        asked.append(
            {
                "id": f"q{topic}",
                "question": f"When is case{topic} reported, in days?",
                "passages": [f"{topic}-0", f"{topic}-1"],
            }
        )
    (folder / "rules.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "asked.jsonl").write_text("\n".join(map(json.dumps, asked)))
    folds = [{"test": [f"q{n}" for n in range(8)], "train": [f"q{n}" for n in range(8, 24)]}]
    (folder / "folds.json").write_text(json.dumps(folds))
    library.add(folder / "library", [folder / "rules.jsonl"], lambda _: None)
    return folder


def command(world, *arguments):
    given = ["--library", str(world / "library"), "train", "features", str(world / "asked.jsonl"), *map(str, arguments)]
    return CliRunner().invoke(app, given, catch_exceptions=False)


def test_the_command_learns_tests_and_the_stage_ranks_alike(world, tmp_path):
    out = tmp_path / "w.json"
    told = json.loads(
        command(world, "--recipe", "bm25", "--out", out, "--folds", world / "folds.json", "--json").stdout
    )
    assert (told["questions"], told["unusable"], told["file"]) == (16, 0, str(out))
    assert told["after"]["MAP@10"] > told["before"]["MAP@10"]
    recipe = tmp_path / "r.toml"
    recipe.write_text(f'[[retrieve]]\nkind = "bm25"\n\n[[rerank]]\nkind = "features"\nweights = "{out}"\n')
    again = tmp_path / "again.json"
    repeated = json.loads(
        command(world, "--recipe", recipe, "--out", again, "--folds", world / "folds.json", "--json").stdout
    )
    assert {**repeated, "file": ""} == {**told, "file": ""}  # its own stage is left out
    assert again.read_bytes() == out.read_bytes()

    from responsa import questions
    from responsa import recipe as recipes
    from responsa.corpus.library import Library
    from responsa.learn import examples
    from responsa.learn.material import measure

    with Library.open(world / "library") as opened:
        tested = examples.load(world / "asked.jsonl")[:8]
        asked = questions.read(world / "asked.jsonl")[:8]
        run = recipes.load(str(recipe)).retrieve(asked, opened.corpus(), 100)
    assert measure(run, tested) == told["after"]


def test_what_the_command_says(world, tmp_path):
    out = tmp_path / "w.json"
    told = command(world, "--recipe", "bm25", "--out", out)
    assert f"{out}: learned from 24 questions" in told.stdout.replace("\n", "")
    with pytest.raises(InputError, match=r"--out: the name of a file that ends in .json is needed, got '.*/w.bin'"):
        command(world, "--recipe", "bm25", "--out", tmp_path / "w.bin")
    with pytest.raises(InputError, match="has folds 0 to 0, not 3"):
        command(world, "--recipe", "bm25", "--out", out, "--folds", world / "folds.json", "--fold", 3)


def invoke(world, *arguments):
    return CliRunner().invoke(app, ["--library", str(world / "library"), *map(str, arguments)], catch_exceptions=False)


def test_the_calibrate_option_prints_a_stage_that_a_recipe_takes(world, tmp_path):
    given = ("tune", "bm25", "--gold", world / "asked.jsonl", "--calibrate")
    told = json.loads(invoke(world, *given, "--json").stdout)
    assert told["gold"] <= 48 < told["passages"]
    table = invoke(world, *given).stdout
    recipe = tmp_path / "r.toml"
    recipe.write_text(f'[[retrieve]]\nkind = "bm25"\n\n{table}')

    from responsa import recipe as recipes
    from responsa.retrieval.scale import Calibrate

    (stage,) = recipes.load(str(recipe)).retrieve.rerank
    assert isinstance(stage, Calibrate)
    assert (stage.scale, stage.shift) == pytest.approx((told["scale"], told["shift"]), rel=1e-5)


def test_the_index_command_builds_what_rerankers_look_up(world, tmp_path):
    from responsa import recipe as recipes
    from responsa.corpus.library import Library

    recipe = tmp_path / "r.toml"
    recipe.write_text('[[retrieve]]\nkind = "bm25"\n\n[[rerank]]\nkind = "documents"\nk1 = 1.234\n')
    with Library.open(world / "library") as opened:
        retrieve = recipes.load(str(recipe)).retrieve
        assert not retrieve.ready(opened.corpus())
        assert invoke(world, "index", "--recipe", recipe).exit_code == 0
        assert retrieve.ready(opened.corpus())


def test_a_recipe_for_each_fold(world, tmp_path):
    folds = [{"test": [f"q{n}" for n in range(24) if n % 3 == k], "train": [f"q{n}" for n in range(24) if n % 3 != k]}
             for k in range(3)]  # fmt: skip
    (tmp_path / "folds.json").write_text(json.dumps(folds))
    for number, weight in enumerate((0.4, 0.5, 0.6)):
        text = f'[[retrieve]]\nkind = "bm25"\nbigram_weight = {weight}\n'
        (tmp_path / f"r-{number}.toml").write_text(text)
    given = ("--recipe", tmp_path / "r-{fold}.toml", "--folds", tmp_path / "folds.json", "--json")
    told = json.loads(command(world, "--out", tmp_path / "w.json", *given).stdout)
    assert (told["questions"], told["unusable"]) == (24, 0)
    assert told["after"]["MAP@10"] > told["before"]["MAP@10"]
    assert [json.loads((tmp_path / f"w-{number}.json").read_text())["questions"] for number in range(3)] == [16] * 3
    # With one recipe for all folds, learning on all questions at once gives the same weights.
    for number in range(3):
        (tmp_path / f"r-{number}.toml").write_text('[[retrieve]]\nkind = "bm25"\n')
    command(world, "--out", tmp_path / "crossed.json", *given)
    command(world, "--out", tmp_path / "plain.json", "--recipe", "bm25")
    crossed, plain = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("crossed", "plain"))
    assert crossed["weights"] == pytest.approx(plain["weights"], abs=1e-5)


def test_folds_that_do_not_fit(world, tmp_path):
    (tmp_path / "folds.json").write_text(json.dumps([{"test": ["q1", "gone"], "train": ["q2"]}]))
    (tmp_path / "r-0.toml").write_text('[[retrieve]]\nkind = "bm25"\n')
    given = ("--out", tmp_path / "w.json", "--recipe", tmp_path / "r-{fold}.toml", "--folds", tmp_path / "folds.json")
    with pytest.raises(InputError, match="1 questions of the folds are in no file given, the first 'gone'"):
        command(world, *given)
