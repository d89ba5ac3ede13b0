"""Training an encoder: the loss, its masks, and that a toy task is learned, reproducibly and resumably."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learning import TOPICS, tiny_base, toy_material
from responsa.errors import InputError
from responsa.learn.encoder import EncoderSettings, EncoderTask, contrastive, masked, teach
from responsa.learn.examples import Example
from responsa.learn.material import near
from responsa.learn.train import Schedule, fit
from responsa.types import Query

torch = pytest.importorskip("torch", reason="training needs torch: pip install 'responsa[train]'")
pytest.importorskip("transformers", reason="training needs transformers: pip install 'responsa[train]'")

SCHEDULE = Schedule(epochs=12, batch=8, learning_rate=3e-3, checkpoint_every=7)
SETTINGS = EncoderSettings(query_length=16, passage_length=24, negatives=2, fused=0.0)


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return tiny_base(tmp_path_factory.mktemp("base"))


def weights(task):
    return {name: value.clone() for name, value in task.model.state_dict().items()}


def test_a_toy_task_is_learned(base, tmp_path):
    task = EncoderTask(base, toy_material(), SETTINGS)
    task.model.eval()
    before = task.evaluate()
    losses = []
    outcome = fit(task, SCHEDULE, tmp_path, lambda _done, _all, label: losses.append(float(label.split()[1][:-1])))
    assert before < 0.6
    assert outcome.best > 0.9
    assert outcome.steps == 12 * 3
    assert np.mean(losses[-6:]) < np.mean(losses[:6]) / 2
    task.model.eval()
    assert task.evaluate() == outcome.best  # the best weights are back
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == list(range(3, 37, 3))


@pytest.mark.parametrize(("last", "kept"), [(False, 3), (True, 6)])
def test_the_best_state_is_kept_or_the_last(base, tmp_path, monkeypatch, last, kept):
    evaluations = iter([0.9, 0.1])
    monkeypatch.setattr(EncoderTask, "evaluate", lambda _self: next(evaluations))
    task, seen = EncoderTask(base, toy_material(), SETTINGS), {}
    outcome = fit(
        task,
        replace(SCHEDULE, epochs=2, last=last),
        tmp_path,
        lambda done, _all, _label: seen.update({done: weights(task)}),
    )
    assert (outcome.steps, outcome.best_step, outcome.best) == (6, kept, 0.1 if last else 0.9)
    for found in (weights(task), torch.load(tmp_path / "best.pt", weights_only=True)):
        assert all(torch.equal(found[name], value) for name, value in seen[kept].items())


def test_a_seed_gives_the_same_weights_and_another_others(base, tmp_path):
    schedule = replace(SCHEDULE, epochs=2)
    made = []
    for number, seed in enumerate((5, 5, 6)):
        task = EncoderTask(base, toy_material(), SETTINGS, seed=seed)
        fit(task, replace(schedule, seed=seed), tmp_path / str(number))
        made.append(weights(task))
    assert all(torch.equal(made[0][name], made[1][name]) for name in made[0])
    assert not all(torch.equal(made[0][name], made[2][name]) for name in made[0])


class Stop(Exception):
    pass


@pytest.mark.parametrize("at", [1, 7, 9, 16])
def test_a_stopped_run_ends_as_one_never_stopped(base, tmp_path, at):
    schedule = replace(SCHEDULE, epochs=6, checkpoint_every=1)
    whole = EncoderTask(base, toy_material(), SETTINGS)
    fit(whole, schedule, tmp_path / "whole")

    def stop(done, _total, _label):
        if done == at:
            raise Stop

    with pytest.raises(Stop):
        fit(EncoderTask(base, toy_material(), SETTINGS), schedule, tmp_path / "parts", stop)
    resumed = EncoderTask(base, toy_material(), SETTINGS)
    steps = []
    outcome = fit(resumed, schedule, tmp_path / "parts", lambda done, _total, _label: steps.append(done))
    assert steps == list(range(at, 19))  # the step that was cut short is taken again, no other
    assert all(torch.equal(weights(whole)[name], value) for name, value in weights(resumed).items())
    assert outcome.best_step > 0


def test_a_run_with_other_data_or_schedule_is_not_continued(base, tmp_path):
    task, schedule = EncoderTask(base, toy_material(), SETTINGS), replace(SCHEDULE, epochs=1)
    fit(task, schedule, tmp_path, fingerprint="a")
    fit(task, schedule, tmp_path, fingerprint="a")
    with pytest.raises(InputError, match="other data or settings"):
        fit(task, schedule, tmp_path, fingerprint="b")
    with pytest.raises(InputError, match="another schedule"):
        fit(task, replace(schedule, batch=4), tmp_path, fingerprint="a")


def test_batches_depend_on_epoch_and_seed_alone(base):
    task = EncoderTask(base, toy_material(), SETTINGS)
    assert task.batches(1, 8, 0) == EncoderTask(base, toy_material(), SETTINGS).batches(1, 8, 0)
    assert task.batches(1, 8, 0) != task.batches(2, 8, 0)
    assert task.batches(1, 8, 0) != task.batches(1, 8, 1)
    for batch in task.batches(0, 8, 0):
        assert len(set(batch.candidates)) == len(batch.candidates)
        gold = [batch.candidates[target] for target in batch.targets]
        assert len(set(gold)) == len(gold)  # no two questions share a passage


@given(size=st.integers(1, 30), cluster=st.integers(2, 6), seed=st.integers(0, 5))
def test_clusters_hold_every_pair_once_in_batches_of_nearly_equal_size(size, cluster, seed):
    material = toy_material()
    batches = near(material, size, cluster, Random(seed))
    assert sorted(row for batch in batches for row in batch) == list(range(len(material.pairs)))
    assert len(batches) == -(-len(material.pairs) // size)
    assert max(map(len, batches)) - min(map(len, batches)) <= 1


def test_in_a_cluster_the_others_are_mined_negatives_of_the_first():
    material = toy_material(negatives=3)
    (rows,) = near(material, 1000, 4, Random(0))
    groups = [rows[start : start + 4] for start in range(len(rows) - 3)]
    named = [set(material.negatives[material.pairs[group[0]][0].query.id]) for group in groups]
    gold = [{material.pairs[row][1] for row in group[1:]} for group in groups]
    assert sum(found == wanted for found, wanted in zip(gold, named, strict=True)) >= 2


def test_a_batch_may_be_made_of_clusters(base):
    task = EncoderTask(base, toy_material(), replace(SETTINGS, cluster=3, negatives=0))
    assert task.batches(1, 8, 0) == task.batches(1, 8, 0) != task.batches(2, 8, 0)
    assert len(task.batches(0, 8, 0)) == 3


def test_false_negatives_are_masked():
    """Gold for the question, another of equal text, or gold for the same question asked elsewhere: no negatives."""
    material = toy_material()
    several = Example(Query("many", "what about all"), ("p0", "p1"), ("p2",))
    again = Example(Query("again", "What  about all"), ("p3",))
    texts = {**material.texts, "copy": material.texts["p1"].replace(" ", "  ").upper()}
    negatives = {"many": ("copy", "p2", "p3", "p7"), "again": ("p8",)}
    material = replace(material, examples=(several, again), texts=texts, negatives=negatives)
    task = EncoderTask(None, material, replace(SETTINGS, negatives=9))
    (batch,) = task.batches(0, 8, 0)
    hidden = dict(zip([query.id for query in batch.queries], masked(batch, material), strict=True))
    target = {query.id: batch.candidates[place] for query, place in zip(batch.queries, batch.targets, strict=True)}
    gold = {"p0", "p1", "p2", "p3", "copy"}
    for name, row in hidden.items():
        seen = {candidate for candidate, masked_out in zip(batch.candidates, row, strict=True) if not masked_out}
        assert seen == (set(batch.candidates) - gold) | {target[name]}
    assert "p7" in batch.candidates


def test_the_loss_by_hand():
    logits = torch.tensor([[2.0, 1.0, 0.5], [0.0, 3.0, 9.0]])
    hidden = torch.tensor([[False, False, False], [False, False, True]])
    loss = contrastive(logits, hidden, torch.tensor([0, 1]))
    rows = [-2 + math.log(math.exp(2) + math.exp(1) + math.exp(0.5)), -3 + math.log(math.exp(0) + math.exp(3))]
    assert float(loss) == pytest.approx(sum(rows) / 2)
    both = contrastive(logits, hidden, torch.tensor([0, 1]), symmetric=True)
    columns = [-2 + math.log(math.exp(2) + math.exp(0)), -3 + math.log(math.exp(1) + math.exp(3))]
    assert float(both) == pytest.approx((sum(rows) / 2 + sum(columns) / 2) / 2)
    one = contrastive(torch.tensor([[2.0, 1.0], [5.0, 1.0]]), torch.zeros(2, 2, dtype=bool), torch.tensor([0, 0]), True)
    assert float(one) == pytest.approx(((math.log1p(math.exp(-1)) + math.log1p(math.exp(-4))) / 2 + 0) / 2)


class Words:
    """A reranker that knows the answer: case<n> belongs to law<n>."""

    name, labels = "words", ("relevant",)

    def score(self, pairs):
        rows = [
            [4.0 if f"{q} ".split("case")[1].split()[0] == p.split("law")[1].split()[0] else -4.0] for q, p in pairs
        ]
        return np.array(rows, dtype=np.float32)


def test_distillation_learns_from_the_teacher_alone(base, tmp_path):
    material = toy_material()
    told = teach(Words(), material)
    assert told["q3-0"] == {"p3": 4.0, "p4": -4.0, "p5": -4.0, "p6": -4.0}
    task = EncoderTask(base, material, replace(SETTINGS, distil=1.0, negatives=3, symmetric=True), told)
    outcome = fit(task, replace(SCHEDULE, epochs=20), tmp_path)
    assert outcome.best > 0.7
    silent = EncoderTask(base, material, replace(SETTINGS, distil=1.0), {})
    assert float(silent.loss(silent.batches(0, 8, 0)[0]).detach()) == 0.0


def test_distillation_by_hand(base):
    material = toy_material()
    task = EncoderTask(base, material, replace(SETTINGS, distil=1.0, teacher_temperature=2.0), teach(Words(), material))
    batch = task.batches(0, 8, 0)[0]
    logits = torch.randn(len(batch.queries), len(batch.candidates), dtype=torch.float64)
    rows = []
    for row, query in enumerate(batch.queries):
        known = [place for place, passage in enumerate(batch.candidates) if passage in task.teacher[query.id]]
        target = np.exp([task.teacher[query.id][batch.candidates[place]] / 2.0 for place in known])
        own = np.exp(logits[row, known].numpy())
        target, own = target / target.sum(), own / own.sum()
        rows.append((target * np.log(target / own)).sum())
    assert float(task._distillation(batch, logits)) == pytest.approx(np.mean(rows), rel=1e-5)


def test_fused_validation_counts_the_first_stage(base):
    alone = EncoderTask(base, toy_material(), SETTINGS)
    alone.model.eval()
    fused = EncoderTask(base, toy_material(), replace(SETTINGS, fused=0.99))
    fused.model.eval()
    assert set(alone.metrics()) == {"MAP@10", "recall@10"}
    assert alone.metrics() != fused.metrics()


def test_every_candidate_counts_as_negative(base):
    task = EncoderTask(base, toy_material(), SETTINGS)
    task.model.eval()
    batch = task.batches(0, 4, 0)[0]
    fewer = replace(batch, candidates=batch.candidates[:-1])
    assert len(batch.candidates) > 4
    assert float(task.loss(fewer).detach()) < float(task.loss(batch).detach())
    assert TOPICS == 12


@pytest.mark.parametrize(
    "settings", [{"temperature": 0.0}, {"negatives": -1}, {"distil": 2.0}, {"passage_length": 2}, {"fused": 1.0}]
)
def test_settings_out_of_range(settings):
    with pytest.raises(InputError, match="encoder"):
        EncoderSettings(**settings)
