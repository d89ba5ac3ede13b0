"""One scoring in a process of its own, timed from inside: models are opened first, then the clock runs.

``published SCRIPT ANSWERS OUT`` runs the published script as it is from the current folder, where it finds its models.
``ours ANSWERS OUT NLI COVERAGE OBLIGATIONS CACHE`` is our ``reference`` protocol; CACHE is a file, or ``-`` for none.
Both write the published columns to OUT and print JSON: seconds to open the models, seconds to score, and for ours how
many texts and pairs the models were given.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import runpy
import shutil
import sys
import time
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from responsa.evaluate.repass_sentences import splitter


def published(script: str, answers: str, out: str) -> dict[str, float]:
    """The published script. NLTK's sentences where library and data are there, else those that ours has then too."""
    _torch()
    _nltk()
    with contextlib.redirect_stdout(sys.stderr):
        start = time.perf_counter()
        made = runpy.run_path(script, run_name="published")
        opened = time.perf_counter()
        made["main"](answers, "run")
        done = time.perf_counter()
    shutil.move("data/run/results.csv", out)
    shutil.rmtree("data/run")
    return {"open": opened - start, "score": done - opened}


def ours(answers: str, out: str, nli: str, coverage: str, obligations: str, cache: str) -> dict[str, float]:
    """Our protocol, by what `responsa score answers` runs."""
    from responsa.cache import Cache
    from responsa.entailment import protocol
    from responsa.evaluate.repass import ScoringModels, score_answers
    from responsa.evaluate.repass_files import read_answers, write_csv
    from responsa.models.classify import Classifier, Entailment, ModelObligationDetector
    from responsa.models.load import load_pairs
    from responsa.models.texts import load_texts

    if any(name.startswith("hf:") for name in (nli, coverage, obligations)):
        _torch()
    kept = None if cache == "-" else Cache(Path(cache))
    scorers = [Counting(load_pairs(nli)), Counting(load_texts(coverage)), Counting(load_texts(obligations))]
    first, second, third = scorers
    start = time.perf_counter()
    if cache == "-":
        first.scorer.score([("a", "b")])
        second.scorer.score(["a"])
        third.scorer.score(["a"])
    opened = time.perf_counter()
    judges = ScoringModels(
        Entailment.of_pairs(first, kept),
        Entailment.of_strings(second, kept),
        ModelObligationDetector(Classifier(third, kept)),
        third.name,
    )
    scored = score_answers(read_answers(Path(answers)), protocol("reference"), judges)
    write_csv(scored.scores, Path(out))
    done = time.perf_counter()
    return {"open": opened - start, "score": done - opened, "asked": sum(each.asked for each in scorers)}


class Counting:
    """A scorer that counts what it is given."""

    def __init__(self, scorer: Any) -> None:
        self.scorer, self.asked = scorer, 0

    @property
    def name(self) -> str:
        """The scorer's."""
        return str(self.scorer.name)

    @property
    def labels(self) -> tuple[str, ...]:
        """The scorer's."""
        return tuple(self.scorer.labels)

    def score(self, items: Sequence[Any]) -> Any:
        """What the scorer gives."""
        self.asked += len(items)
        return self.scorer.score(items)


def _torch() -> None:
    """As many threads as cores that this process may use."""
    import torch

    torch.set_num_threads(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def _nltk() -> None:
    """Without NLTK or its data a stand-in with our sentences; it fetches nothing in either case."""
    found = splitter("punkt")
    if found.name.startswith("punkt-like"):
        library, tokenize = types.ModuleType("nltk"), types.ModuleType("nltk.tokenize")
        vars(tokenize)["sent_tokenize"] = found.split
        vars(library)["tokenize"] = tokenize
        sys.modules.update({"nltk": library, "nltk.tokenize": tokenize})
    vars(importlib.import_module("nltk"))["download"] = lambda *_given, **_named: True


if __name__ == "__main__":
    print(json.dumps({"published": published, "ours": ours}[sys.argv[1]](*sys.argv[2:])))
