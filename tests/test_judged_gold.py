"""Gold passages as readers judged them: the file, the table made of it, and the texts that were read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks import data as bench
from benchmarks import judged

from responsa.text import digest


def _rows():
    return [json.loads(line) for line in judged.JUDGED.read_text(encoding="utf-8").splitlines()]


def test_the_docs_have_the_table():
    assert judged.table() in (Path(bench.ROOT) / "docs" / "evidence.md").read_text(encoding="utf-8")


def test_the_table_worked_by_hand(tmp_path, monkeypatch):
    rows = [("above", [3, 2]), ("above", [2, 1]), ("below", [0, 1])]
    file = tmp_path / "judged.jsonl"
    file.write_text("\n".join(json.dumps({"stands": stands, "grades": grades}) for stands, grades in rows))
    monkeypatch.setattr(judged, "JUDGED", file)
    assert judged.table().splitlines()[2:] == [
        "| above | 2 | 1.00 | 0.50 | 0.50 |",
        "| below | 1 | 0.00 | 0.00 | 1.00 |",
    ]


def test_the_file_holds_no_text():
    rows = _rows()
    assert len(rows) == len({(row["question"], row["passage"]) for row in rows}) == 219
    assert {key for row in rows for key in row} == {"question", "passage", "digest", "stands", "grades"}
    assert {grade for row in rows for grade in row["grades"]} == {0, 1, 2, 3}


def test_the_passages_are_those_that_were_read_and_gold_where_it_says_so(data):
    if not (data / "obliqa" / "dev.json").is_file():
        pytest.skip(f"no questions in {data / 'obliqa'}")
    passages, gold = {}, set()
    for file in (data / "obliqa" / "documents").glob("*.json"):
        for row in json.loads(file.read_text(encoding="utf-8")):
            passages[row["ID"]] = (row["DocumentID"], row["PassageID"]), row["Passage"]
    for name in ("dev.json", "train_extra.json"):
        for row in json.loads((data / "obliqa" / name).read_text(encoding="utf-8")):
            gold |= {(row["QuestionID"], each["DocumentID"], each["PassageID"]) for each in row["Passages"]}
    for row in _rows():
        place, text = passages[row["passage"]]
        assert digest(text)[:16] == row["digest"]
        assert ((row["question"], *place) in gold) == row["stands"].startswith("gold")
