"""One training loop for every model: seeded, resumable, checkpointed, the best state (or the last) kept.

A task says what to learn; the loop says how. What is written: ``checkpoint.pt`` (everything needed to go on as if never
stopped), ``best.pt`` (the weights that are kept) and ``log.jsonl`` (a line for each evaluation).
"""

from __future__ import annotations

import importlib
import json
import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import numpy as np

from responsa.errors import InputError, MissingDependency

if TYPE_CHECKING:
    import torch

BEST = "best.pt"

Batch = TypeVar("Batch")
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Schedule:
    """How long and how fast to learn; 0 epochs measure what training would begin with. ``warmup`` is the share of the
    steps over which the rate rises to ``learning_rate``; after it the rate falls to 0 on a line. ``evaluate_every``
    steps; 0: once an epoch. ``last``: the state after the last step is kept, not the one with the best evaluation."""

    epochs: int = 2
    batch: int = 24
    learning_rate: float = 5e-5
    warmup: float = 0.1
    weight_decay: float = 0.01
    clip: float = 1.0
    evaluate_every: int = 0
    checkpoint_every: int = 200
    seed: int = 0
    last: bool = False

    def __post_init__(self) -> None:
        if self.epochs < 0 or self.batch < 1 or self.learning_rate <= 0 or not 0 <= self.warmup < 1:
            raise InputError(
                "training needs 0 epochs or more, a batch of at least 1, a learning rate above 0 and a warmup from 0 to"
                " below 1, got"
                f" {self.epochs}, {self.batch}, {self.learning_rate} and {self.warmup}"
            )
        if self.evaluate_every < 0 or self.checkpoint_every < 1:
            raise InputError(
                "training is evaluated after every 1 or more steps, or with 0 once an epoch, and kept after every 1 or"
                f" more, got evaluate_every {self.evaluate_every} and checkpoint_every {self.checkpoint_every}"
            )


class Task(Protocol, Generic[Batch]):
    """What is learned. Batches of an epoch depend on the seed alone, so that a stopped run goes on where it was."""

    @property
    def model(self) -> torch.nn.Module: ...

    def batches(self, epoch: int, size: int, seed: int) -> Sequence[Batch]: ...

    def loss(self, batch: Batch) -> torch.Tensor: ...

    def evaluate(self) -> float:
        """A figure of merit on questions kept apart; higher is better."""
        ...


@dataclass(frozen=True)
class Outcome:
    """How training ended: the steps taken, the evaluation of the state that is kept and the step it was made at."""

    steps: int
    best: float
    best_step: int


@dataclass
class _Run(Generic[Batch]):
    """The mutable state of one training run."""

    task: Task[Batch]
    schedule: Schedule
    folder: Path
    fingerprint: str
    optimizer: torch.optim.Optimizer
    step: int = 0
    best: float = -math.inf
    best_step: int = 0


def fit(
    task: Task[Batch],
    schedule: Schedule,
    folder: Path,
    progress: Progress | None = None,
    fingerprint: str = "",
    patience: int = 0,
) -> Outcome:
    """Train, or go on training, into ``folder``; the task's model ends with the best weights.

    ``patience``: stop after so many evaluations without a better one; 0 never stops early.

    ``fingerprint`` names what is learned from (data, base, settings). InputError where the folder holds a run with
    another schedule or fingerprint, and where there is nothing to learn from.
    """
    torch = import_torch()
    folder.mkdir(parents=True, exist_ok=True)
    seed_everything(schedule.seed)
    optimizer = torch.optim.AdamW(
        task.model.parameters(), lr=schedule.learning_rate, weight_decay=schedule.weight_decay
    )
    run = _Run(task, schedule, folder, fingerprint, optimizer)
    _resume(run)
    steps = len(task.batches(0, schedule.batch, schedule.seed))
    if not steps:
        raise InputError("there is nothing to learn from; give questions with gold passages")
    total, every = schedule.epochs * steps, schedule.evaluate_every or steps
    if not total:
        _evaluate(run, 0.0)
    while run.step < total and not _tired(run, patience * every):
        epoch, offset = divmod(run.step, steps)
        for batch in task.batches(epoch, schedule.batch, schedule.seed)[offset:]:
            loss = _learn(run, batch, total)
            if progress:
                progress(run.step, total, f"loss {loss:.3f}, best {run.best:.4f}")
            if run.step % every == 0 or run.step == total:
                _evaluate(run, loss)
            if run.step % schedule.checkpoint_every == 0:
                _save(run)
            if _tired(run, patience * every):
                break
    if run.best_step:
        task.model.load_state_dict(torch.load(folder / BEST, map_location="cpu", weights_only=True))
    return Outcome(run.step, run.best, run.best_step)


def _tired(run: _Run[Batch], steps: int) -> bool:
    """Whether the best state is that many steps old; never for 0. It is told by what a checkpoint holds."""
    return bool(steps) and run.step - run.best_step >= steps and run.best_step > 0


def _learn(run: _Run[Batch], batch: Batch, total: int) -> float:
    torch = import_torch()
    warm = max(1, int(total * run.schedule.warmup))
    share = run.step / warm if run.step < warm else (total - run.step) / max(1, total - warm)
    for group in run.optimizer.param_groups:
        group["lr"] = run.schedule.learning_rate * share
    run.task.model.train()
    run.optimizer.zero_grad()
    loss = run.task.loss(batch)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(run.task.model.parameters(), run.schedule.clip)
    run.optimizer.step()
    run.step += 1
    return float(loss.detach())


def _evaluate(run: _Run[Batch], loss: float) -> None:
    torch = import_torch()
    run.task.model.eval()
    with torch.no_grad():
        value = run.task.evaluate()
    if run.schedule.last or value > run.best:
        run.best, run.best_step = value, run.step
        _write(run.task.model.state_dict(), run.folder / BEST)
    line = {"step": run.step, "loss": loss, "evaluation": value, "best": run.best, "time": time.time()}
    with (run.folder / "log.jsonl").open("a", encoding="utf-8") as log:
        log.write(json.dumps(line) + "\n")
    _save(run)


def _save(run: _Run[Batch]) -> None:
    torch = import_torch()
    state = {
        "schedule": asdict(run.schedule),
        "fingerprint": run.fingerprint,
        "model": run.task.model.state_dict(),
        "optimizer": run.optimizer.state_dict(),
        "step": run.step,
        "best": run.best,
        "best_step": run.best_step,
        "torch_rng": torch.get_rng_state(),
        "cuda_rng": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
    }
    _write(state, run.folder / "checkpoint.pt")


def _resume(run: _Run[Batch]) -> None:
    path = run.folder / "checkpoint.pt"
    if not path.exists():
        return
    torch = import_torch()
    state = torch.load(path, map_location="cpu", weights_only=True)  # it may come from a machine with a GPU
    for what in ("schedule", "fingerprint"):
        if state[what] != (asdict(run.schedule) if what == "schedule" else run.fingerprint):
            found = "another schedule" if what == "schedule" else "other data or settings"
            raise InputError(f"{run.folder}: holds a run with {found}; name another folder or delete it")
    run.task.model.load_state_dict(state["model"])
    run.optimizer.load_state_dict(state["optimizer"])
    run.step, run.best, run.best_step = state["step"], state["best"], state["best_step"]
    torch.set_rng_state(state["torch_rng"])
    if torch.cuda.is_available() and len(state["cuda_rng"]) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all(state["cuda_rng"])


def _write(state: object, path: Path) -> None:
    torch = import_torch()
    temporary = path.with_suffix(".new")
    torch.save(state, temporary)
    temporary.replace(path)


def seed_everything(seed: int) -> None:
    """Seed Python, numpy and torch."""
    random.seed(seed)
    np.random.seed(seed)
    import_torch().manual_seed(seed)


def import_torch() -> ModuleType:
    """The torch module; MissingDependency with the fix where it is not installed."""
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise MissingDependency("training", "train") from error


def device() -> str:
    """``cuda`` where there is a GPU, else ``cpu``."""
    return "cuda" if import_torch().cuda.is_available() else "cpu"
