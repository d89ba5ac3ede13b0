from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import bounded
from responsa.obligations import OBLIGATION_DETECTORS, RuleObligationDetector
from responsa.types import Detection

# 300 sentences of the given data as `responsa.text.sentences` cut them, drawn at random (seed 20261120): 60 %
# ADGM rulebooks, 25 % CRR, 15 % PRA pages; a fifth from all, two fifths each from those with any modal word
# and from those with a word of duty, so that obligations are many. Up to 650 characters. Labelled by one
# reader by the labelling guide before the rules were written; the rules were tuned on the "dev" part alone.
LABELS = Path(__file__).parent / "data" / "obligation_labels.jsonl"

CASES = {
    "obligation": [
        "A firm must notify the Regulator.",
        "An Authorised Person must:",
        "Firms shall not lend.",
        "A Fund Manager may not borrow.",
        "A firm may only lend in cash.",
        "The Regulator may withdraw it only if the firm agrees.",
        "The bank is required to keep records.",
        "A firm has to report.",
        "Institutions need to comply.",
        "No person may carry on a Regulated Activity.",
        "Any change is subject to approval by the Regulator.",
        "A person commits a contravention if he does that.",
        "Rule 5.1 requires an Authorised Person to keep records.",
        "Section 5 provides that a firm must report.",
        "The outflow rate shall be 25 %.",
        "The application is to include a fee.",
        "EBA shall draft standards.",
        "A firm must report if it may be insolvent.",
        "A Person who must register and who is in default must tell us.",
        "If a firm breaches the limit it must tell the Regulator.",
        "Where, having heard the firm, it decides— (a) to act; or (b) not to act; it must give notice.",
        "The firm may lend, and it must report.",
        "The following risk weights shall apply:",
    ],
    "permission": [
        "A firm may lend.",
        "An Authorised Person that is required to report may do so by post.",
        "Where a firm must notify the PRA, it may do so by post.",
        "A firm is not required to report.",
        "Paragraph 1 shall not apply to banks.",
        "A firm need not report.",
        "The Customer is entitled to redress.",
        "The Regulator may require a firm to report.",
    ],
    "definition": [
        '"Fund" means a collective scheme.',
        "Client Means a person to whom services are provided.",
        "In this Part, references to a firm include a branch.",
        "The total shall be equal to the sum of its parts.",
        "This Rule must be construed accordingly.",
        "Credit refers to any loan.",
    ],
    "other": [
        "",
        "Introduction",
        "Documents that must be kept",
        "This may result in loss.",
        "There may be other risks.",
        "The PRA will consider each case.",
        "The instrument shall be deemed to be met.",
        "Liabilities shall qualify as own funds.",
        "This Regulation shall enter into force on the day after publication.",
        "Firms should keep records.",
        "The PRA expects firms to keep records.",
        "The aim of this Part is to protect clients.",
        "This Chapter sets out requirements that all firms must comply with.",
        "For example, a firm must report a loss.",
        "| Article 5 | must |",
        "Must a firm report?",
        "A person is not liable for anything done in good faith.",
    ],
}


@pytest.mark.parametrize(("label", "sentence"), [(label, case) for label, cases in CASES.items() for case in cases])
def test_the_main_clause_decides(label, sentence):
    assert RuleObligationDetector()([sentence])[0].label == label


@pytest.mark.parametrize(
    "sentence", ["Firms should act.", "The PRA expects firms to act.", "It is important that firms act."]
)
def test_guidance_is_soft(sentence):
    assert RuleObligationDetector()([sentence])[0].soft


def test_numbering_and_case_do_not_matter():
    detect = RuleObligationDetector()
    plain, *others = detect(
        ["A firm must act.", "(1) A firm MUST act.", "**2.** A firm must act.", "1.2.\tA firm must act."]
    )
    assert others == [plain] * 3


@given(st.lists(st.text() | st.text("amust shlicn.,;:()-", max_size=200), max_size=5))
def test_every_sentence_has_one_detection(sentences):
    detections = OBLIGATION_DETECTORS["rules"]()(sentences)
    assert len(detections) == len(sentences)
    for detection in detections:
        assert 0 <= detection.obligation <= 1
        assert (detection.label == "obligation") == (detection.obligation > 0.5)
        assert not detection.soft or detection.label == "other"


class Labelled(NamedTuple):
    text: str
    label: str
    soft: bool
    close: bool
    part: str


def page_text(page: str) -> str:
    """The lines of a PRA page: blocks of its <main>, tags and entities resolved, spaces collapsed.

    The offsets of the labels count characters of this text: do not change it.
    """
    main = re.search(r"<main\b.*?</main>", page, re.DOTALL)
    body = re.sub(r"<!--.*?-->|<(script|style)\b.*?</\1\s*>", " ", main[0] if main else page, flags=re.DOTALL)
    body = re.sub(r"\s+", " ", body)
    block = r"</?(?:p|li|ul|ol|div|h[1-6]|tr|td|th|table|br|section|dl|dt|dd)\b[^>]*>"
    body = html.unescape(re.sub(r"<[^>]+>", "", re.sub(block, "\n", body)))
    lines = (" ".join(line.split()) for line in body.split("\n"))
    return "\n".join(line for line in lines if line)


def stored_texts(path: Path) -> dict[str, str]:
    """Passage texts of a file of the data folder by id: ObliQA UUID, article anchor, or "" for a page."""
    content = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        return {"": page_text(content)}
    value = json.loads(content)
    if isinstance(value, list):
        return {row["ID"]: row["Passage"] for row in value}
    return {row["anchor"]: row["text_md"] for row in value["provisions"]}


@pytest.fixture(scope="module")
def labelled(data: Path) -> list[Labelled]:
    """The labelled sentences with their text attached, each checked against its digest."""
    texts: dict[str, dict[str, str]] = {}
    found = []
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        source = row["source"]
        if source not in texts:
            texts[source] = stored_texts(data / source)
        text = texts[source][row["id"]][row["start"] : row["end"]]
        assert hashlib.sha256(text.encode()).hexdigest()[:16] == row["sha256"], row
        found.append(Labelled(text, row["label"], row["soft"], row["close"], row["part"]))
    return found


def prf(gold: list[bool], found: list[bool]) -> tuple[float, float, float]:
    right = sum(g and f for g, f in zip(gold, found, strict=True))
    precision, recall = right / sum(found), right / sum(gold)
    return precision, recall, 2 * precision * recall / (precision + recall)


def must_or_shall(sentences: list[str]) -> list[bool]:
    return [re.search(r"\b(?:must|shall)\b", sentence, re.IGNORECASE) is not None for sentence in sentences]


# Measured on the test part (149 sentences, 11 of them close calls), first scored when the rules were done
# and not tuned on, though the reader who labelled it also wrote the rules: P .988, R .976, F1 .982, four
# classes .953; without close calls 1.000, 1.000, 1.000, .978.
# must|shall: F1 .841 and .896.
@pytest.mark.parametrize(
    ("part", "close", "floor", "four"),
    [
        ("dev", True, (0.97, 0.98, 0.98), 0.97),
        ("test", True, (0.96, 0.95, 0.96), 0.93),
        ("test", False, (0.98, 0.98, 0.98), 0.96),
    ],
)
def test_labelled_sentences(labelled, part, close, floor, four):
    rows = [row for row in labelled if row.part == part and (close or not row.close)]
    texts = [row.text for row in rows]
    gold = [row.label == "obligation" for row in rows]
    detections: list[Detection] = RuleObligationDetector()(texts)
    scores = prf(gold, [detection.label == "obligation" for detection in detections])
    assert all(score >= least for score, least in zip(scores, floor, strict=True)), scores
    assert scores[2] > prf(gold, must_or_shall(texts))[2] + 0.05
    right = sum(detection.label == row.label for detection, row in zip(detections, rows, strict=True))
    assert right / len(rows) >= four
    soft = sum(detection.soft == row.soft for detection, row in zip(detections, rows, strict=True))
    assert soft / len(rows) >= 0.98


def test_labels_hold_no_text():
    keys = {"source", "id", "start", "end", "sha256", "label", "soft", "close", "part"}
    rows = [json.loads(line) for line in LABELS.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 300
    assert all(set(row) == keys for row in rows)


HOSTILE: list[Callable[[int], str]] = [
    lambda n: "(" * n,
    lambda n: "1." * n + "!",
    lambda n: "must, " * n,
    lambda n: "that if " * n,
    lambda n: '"' * n,
    lambda n: "requires may only " * n,
    *(
        lambda n, head=head, unit=unit: head + unit * n
        for head in ("A firm shall", "A firm may", "A firm is", "A firm")
        for unit in (
            " only",
            " quickly",
            " not",
            " only not",
            " may",
            ", only,",
            " (a",
            " [",
            '"a',
            " and",
            " by",
            "ly",
            " \ufdfa",
        )
    ),
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_sentences_are_read_in_bounded_time(hostile):
    with bounded():
        RuleObligationDetector()([hostile(50_000)])
