"""From passages found to an answer: choose passages, decide whether to answer, write, cite."""

from __future__ import annotations

from responsa.answer.abstain import TermCoverage
from responsa.answer.extractive import Extractive
from responsa.answer.select import ThresholdDrop

SELECTORS = {"threshold-drop": ThresholdDrop}
ABSTAINERS = {"term-coverage": TermCoverage}
ANSWERERS = {"extractive": Extractive}
