"""Training a reranker: both losses, the published preset, and probabilities that hold."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from learning import TOPICS, marked_material, tiny_base, toy_material
from responsa.errors import InputError
from responsa.learn.calibrate import best_f1, platt
from responsa.learn.mine import Mining
from responsa.learn.reranker import CRR_RANKER, RerankerBatch, RerankerSettings, RerankerTask
from responsa.learn.train import Schedule, fit


def test_the_preset_is_that_of_the_paper():
    """Bank of Italy 2025, section 2.2.1 and footnote 5."""
    assert CRR_RANKER.mining == Mining(low=250, high=300, count=20, ceiling=0.0)
    assert CRR_RANKER.settings.negatives == 20
    assert (CRR_RANKER.settings.loss, CRR_RANKER.settings.select) == ("binary", "f1")
    assert CRR_RANKER.archive.left_out == ("99",)
    assert CRR_RANKER.archive.references
    assert CRR_RANKER.schedule.epochs == 4
    assert CRR_RANKER.schedule.warmup == 0.1
    assert CRR_RANKER.schedule.evaluate_every == 800


@pytest.mark.parametrize(("scale", "shift"), [(1.7, -0.6), (0.02, 3.0), (40.0, -10.0)])
def test_platt_finds_scale_and_shift(scale, shift):
    generator = np.random.default_rng(0)
    scores = (generator.normal(0, 2, 40_000) - shift) / scale
    labels = generator.random(40_000) < 1 / (1 + np.exp(-(scale * scores + shift)))
    assert platt(scores.tolist(), labels.astype(int).tolist()) == pytest.approx((scale, shift), rel=0.06)


def test_platt_with_scores_that_separate_or_say_nothing():
    scale, shift = platt([-3.0, -2.0, 2.0, 3.0], [0, 0, 1, 1])
    assert 0 < scale < math.inf
    # The smoothed targets are 3/4 and 1/4: a perfect split of four is no certainty.
    assert 1 / (1 + math.exp(-(scale * 2.5 + shift))) == pytest.approx(0.75, abs=0.01)
    assert platt([1.0, 2.0], [1, 1]) == ()
    assert platt([], []) == ()
    assert platt([-1.0, 1.0, -2.0, 2.0], [1, 0, 1, 0]) == ()
    assert platt([1.0, 1.0, 1.0], [1, 0, 0]) == ()


def test_platt_minimises_the_cross_entropy():
    optimize = pytest.importorskip("scipy.optimize")
    scores, labels = np.array([-2.0, -1.0, 0.5, 0.3, 1.0, 4.0, -0.2]), np.array([0, 0, 1, 0, 1, 1, 1])
    target = np.where(labels == 1, 5 / 6, 1 / 5)

    def loss(weights):
        logits = weights[0] * scores + weights[1]
        return float(np.sum(np.logaddexp(0, logits) - target * logits))

    found = optimize.minimize(loss, [1.0, 0.0], tol=1e-12).x
    assert platt(scores.tolist(), labels.tolist()) == pytest.approx(found, abs=1e-4)


def test_best_f1_over_thresholds():
    assert best_f1([3.0, 2.0, 1.0], [1, 0, 1]) == pytest.approx(0.8)
    assert best_f1([3.0, 2.0], [0, 0]) == 0.0
    assert best_f1([], []) == 0.0


@pytest.mark.parametrize("settings", [{"negatives": 0}, {"max_length": 4}, {"depth": 0}])
def test_settings_out_of_range(settings):
    with pytest.raises(InputError, match="reranker"):
        RerankerSettings(**settings)


torch = pytest.importorskip("torch", reason="training needs torch: pip install 'responsa[train]'")
pytest.importorskip("transformers", reason="training needs transformers: pip install 'responsa[train]'")

SETTINGS = RerankerSettings(negatives=3, max_length=32, depth=TOPICS)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return tiny_base(tmp_path_factory.mktemp("base"))


@pytest.mark.parametrize("loss", ["listwise", "binary"])
def test_a_toy_task_is_learned(base, tmp_path, loss):
    material = marked_material()
    settings = replace(SETTINGS, loss=loss, negatives=6, select="f1" if loss == "binary" else "ranking")
    task = RerankerTask(base, material, settings)
    task.model.eval()
    before = task.metrics()
    losses = []
    rate, batch = (1e-3, 2) if loss == "listwise" else (3e-3, 7)
    schedule = Schedule(epochs=30, batch=batch, learning_rate=rate)
    fit(task, schedule, tmp_path, lambda _done, _all, label: losses.append(float(label.split()[1][:-1])))
    task.model.eval()
    after = task.metrics()
    assert np.mean(losses[-5:]) < np.mean(losses[:5]) / 2
    assert after["MAP@10"] > max(0.8, before["MAP@10"])
    assert after["best F1"] > 0.8
    scale, shift = task.calibration()
    pairs = [("what about case3", material.texts[passage]) for passage in ("p3", "p7")]
    right, wrong = (1 / (1 + math.exp(-(scale * score + shift))) for score in task.scores(pairs))
    assert right > wrong


def test_a_seed_gives_the_same_weights_and_a_stopped_run_goes_on(base, tmp_path):
    schedule = Schedule(epochs=2, batch=8, learning_rate=1e-3, checkpoint_every=1)
    made = []
    for name in ("one", "two"):
        task = RerankerTask(base, toy_material(), SETTINGS, seed=3)
        fit(task, schedule, tmp_path / name)
        made.append(task.model.state_dict())

    def stop(done, _total, _label):
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(RerankerTask(base, toy_material(), SETTINGS, seed=3), schedule, tmp_path / "parts", stop)
    resumed = RerankerTask(base, toy_material(), SETTINGS, seed=3)
    fit(resumed, schedule, tmp_path / "parts")
    made.append(resumed.model.state_dict())
    for name, value in made[0].items():
        assert torch.equal(value, made[1][name])
        assert torch.equal(value, made[2][name])


def test_lists_hold_gold_first_and_no_other_gold(base):
    material = toy_material(negatives=1)
    task = RerankerTask(base, material, SETTINGS)
    for batch in task.batches(0, 5, 0):
        for query, passages, golds in batch.lists:
            assert golds == 1
            assert len(passages) == 4  # one mined, the others from other questions
            assert [material.is_gold(query, passage) for passage in passages] == [True, False, False, False]
            assert len(set(passages)) == 4


def test_gold_passages_of_a_list_do_not_compete(base):
    material = toy_material()
    example = replace(material.examples[0], passages=("p0", "p7", "p8"))
    material = replace(material, examples=(example, *material.examples[1:]))
    task = RerankerTask(base, material, replace(SETTINGS, golds=2, negatives=2))
    task.model.eval()
    lists = [each for epoch in range(8) for batch in task.batches(epoch, 5, 0) for each in batch.lists]
    drawn = [passages for query, passages, golds in lists if query == example.query and golds == 2]
    assert len(drawn) == 8  # a list an epoch
    assert {passage for passages in drawn for passage in passages[:2]} == {"p0", "p7", "p8"}
    assert all(set(passages[2:]) <= {"p1", "p2", "p3"} for passages in drawn)
    one, two, other, last = task.scores([(example.query.text, material.texts[p]) for p in drawn[0]])
    against = math.exp(other) + math.exp(last)
    expected = np.mean([math.log(math.exp(gold) + against) - gold for gold in (one, two)])
    batch = RerankerBatch(((example.query, drawn[0], 2),))
    assert float(task.loss(batch).detach()) == pytest.approx(expected, rel=1e-4)


def test_pairs_of_the_binary_loss(base):
    material = toy_material(negatives=3)
    task = RerankerTask(base, material, replace(SETTINGS, loss="binary", negatives=2))
    batches = task.batches(0, 10, 0)
    labels = [label for batch in batches for label in batch.labels]
    assert (len(labels), sum(labels)) == (24 * 3, 24)
    for batch in batches:
        for (query, (passage,), _), label in zip(batch.lists, batch.labels, strict=True):
            assert material.is_gold(query, passage) == bool(label)
    assert sorted(map(repr, (pair for batch in batches for pair in batch.lists))) == sorted(
        map(repr, (pair for batch in task.batches(1, 10, 0) for pair in batch.lists))
    )


def test_the_losses_by_hand(base):
    material = toy_material()
    for loss in ("listwise", "binary"):
        task = RerankerTask(base, material, replace(SETTINGS, loss=loss))
        task.model.eval()
        batch = task.batches(0, 3, 0)[0]
        rows = [task.scores([(query.text, material.texts[p]) for p in passages]) for query, passages, _ in batch.lists]
        if loss == "listwise":
            expected = np.mean([math.log(sum(map(math.exp, row))) - row[0] for row in rows])
        else:
            expected = np.mean(
                [math.log1p(math.exp(-r[0] if y else r[0])) for r, y in zip(rows, batch.labels, strict=True)]
            )
        assert float(task.loss(batch).detach()) == pytest.approx(expected, rel=1e-4)


def test_metrics_count_gold_that_was_not_retrieved_and_calibration_does_not(base):
    material = toy_material()
    first = material.validation[0]
    ranking = material.candidates.rankings[first.query.id]
    fewer = replace(ranking, hits=tuple(hit for hit in ranking.hits if hit.passage_id != first.passages[0]))
    run = replace(material.candidates, rankings={**material.candidates.rankings, first.query.id: fewer})
    task = RerankerTask(base, replace(material, candidates=run), SETTINGS)
    task.model.eval()
    with_gold, without = (next(iter(task._scored(with_gold=chosen)))[1] for chosen in (True, False))
    assert set(with_gold) - set(without) == {first.passages[0]}
