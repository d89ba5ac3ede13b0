"""What readers say of gold passages that retrieval finds, finds late or misses: ``python -m benchmarks.judged``.

Prints the table of docs/evidence.md from ``data/judged_gold.jsonl``: question and passage of ObliQA, the digest of the
passage's text, where it stood (learned fusion with MiniLM as published, each question ranked by weights that have
not seen its gold) and the grades of two readers, who were language models and saw only question and passage, in mixed
order: 3 it answers the question or a good part of it, 2 a careful answer would use it, 1 the same subject, but a
careful answer would not use it, 0 nothing to do with it.
"""

from __future__ import annotations

import json
from collections import defaultdict

from benchmarks import data

JUDGED = data.ROOT / "benchmarks" / "data" / "judged_gold.jsonl"
_USEFUL = 2


def table() -> str:
    """A row for each place, in Markdown: pairs judged, and the share that one and the other reader find useful."""
    grades: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for line in JUDGED.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        grades[row["stands"]].append(tuple(row["grades"]))
    lines = ["| stands | pairs | useful, first reader | second reader | alike |", "|---|---|---|---|---|"]
    for stands, pairs in grades.items():
        useful = [(first >= _USEFUL, second >= _USEFUL) for first, second in pairs]
        shares = [sum(column) for column in zip(*((a, b, a == b) for a, b in useful), strict=True)]
        lines.append(
            f"| {stands} | {len(pairs)} | " + " | ".join(f"{share / len(pairs):.2f}" for share in shares) + " |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
