"""What the tests of experiments with answers share: a small library, questions with official answers, one run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from responsa.experiment import answer_data, answer_run
from responsa.experiment.answer_scores import Scorer
from responsa.experiment.answer_table import FIRST, AnswerRow, AnswerTable
from responsa.experiment.answers import Answering

RECIPE = """\
[retrieve]
kind = "bm25"

[abstain]
kind = "term-coverage"
least = 0

[answer]
"""


def recipe(folder: Path, name: str, **answer: object) -> str:
    """The path of a recipe whose answers are made with these settings."""
    path = folder / f"{name}.toml"
    path.write_text(RECIPE + "".join(f"{key} = {json.dumps(value)}\n" for key, value in answer.items()))
    return str(path)


def inquiries(path: Path, count: int) -> Path:
    """Questions in the form of the EBA's Q&A, with official answers, days and topics."""
    rows = [
        {
            "qa_id": f"q{n:03}", "question": f"Must firm {n} keep records of item {n}?", "background": "",
            "answer": f"Yes, firm {n} must keep them.", "topic": "Liquidity risk" if n % 2 else "Own funds",
            "article": "412", "date_submission_date_iso": f"20{10 + n % 10}-01-01",
            "date_final_publishing_date_iso": f"20{11 + n % 10}-01-01",
        }
        for n in range(count)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def table(*rows: str | AnswerRow, scores="ratings", **more) -> AnswerTable:
    """A table of recipes by their paths, or of rows."""
    made = tuple(row if isinstance(row, AnswerRow) else AnswerRow(row, Path(row).stem) for row in rows)
    return AnswerTable("tried", "Tried", made, scores, FIRST[scores], **more)


class Tried:
    """An experiment in a folder. What was said is kept."""

    def __init__(self, out: Path, library: Any, asked: answer_data.Asked, scorer: Scorer) -> None:
        self.out, self.library, self.asked, self.scorer = out, library, asked, scorer
        self.said: list[str] = []

    def answering(self, out: str = "out", **more: Any) -> Answering:
        return Answering(self.out / out / "journals", self.library, self.library.corpus(), self.asked, **more)

    def __call__(self, made: AnswerTable, out: str = "out", **more: Any) -> Any:
        self.said.clear()
        return answer_run.run(made, self.answering(out, **more), self.scorer, 0, self.said.append)

    def bytes(self, out: str = "out") -> dict[str, bytes]:
        """All that was written, the journals left out."""
        folder = self.out / out / "tried"
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
