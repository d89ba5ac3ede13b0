"""Sentences labelled by the rules of `responsa.obligations`, to learn from before real labels.

    python training/silver.py DATA OUT

Real sentences of ADGM and the CRR, drawn at random, none of a document or article that the labelled test part is of,
and none that is labelled. Written as a CSV for `responsa train obligations`.
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from random import Random

from responsa.learn import labels
from responsa.obligations import RuleObligationDetector
from responsa.text import sentences, words

LABELS = Path(__file__).with_name("obligation_labels.jsonl")
DRAWN = {("adgm", "modal"): 2000, ("adgm", "plain"): 2000, ("crr", "modal"): 1500, ("crr", "plain"): 700}
LONGEST = 600  # characters


def main(data: Path, out: Path) -> None:
    texts = labels.texts_of(data, {})
    document = {
        ("adgm", row["ID"]): path.stem
        for path in (data / "obliqa" / "documents").glob("*.json")
        for row in json.loads(path.read_text(encoding="utf-8"))
    }
    rows = [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]
    places = {(row["source"], row["passage"]): row["part"] for row in rows}
    tested = {document.get(place, place[1]) for place, part in places.items() if part == "test"}
    known = {
        " ".join(words(texts[row["source"], row["passage"]][row["start"] : row["end"]]))
        for row in rows
        if row["source"] != "pra"
    }
    pool: dict[tuple[str, str], list[str]] = {stratum: [] for stratum in DRAWN}
    for place in sorted(texts):
        if document.get(place, place[1]) in tested:
            continue
        for text in _fit(texts, place):
            pool[place[0], labels.stratum_of(text)].append(text)
    chance = Random("silver 2026")  # noqa: S311
    drawn: dict[str, str] = {}
    for stratum, count in DRAWN.items():
        chance.shuffle(pool[stratum])
        fresh = (text for text in pool[stratum] if " ".join(words(text)) not in known | drawn.keys())
        for text, _ in zip(fresh, range(count), strict=False):
            drawn[" ".join(words(text))] = text
    found = RuleObligationDetector()(list(drawn.values()))
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("Text", "Obligation"))
        writer.writerows((text, each.label == "obligation") for text, each in zip(drawn.values(), found, strict=True))


def _fit(texts: Mapping[tuple[str, str], str], place: tuple[str, str]) -> list[str]:
    cut = (texts[place][start:end] for start, end in sentences(texts[place]) if end - start <= LONGEST)
    return [" ".join(text.split()) for text in cut if len(words(text)) >= labels.LEAST_WORDS]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
