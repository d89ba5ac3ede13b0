"""What a reader has to tell about a file that it could read: pages without text, words that cannot be seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from responsa.corpus.readers.pdf_passages import HIDDEN, NO_TEXT, RECOGNISED, SCANNED
from responsa.types import Edition

_SAID = (
    (SCANNED, "pictures without text (scans?), not searchable until their words are recognised: --ocr eng"),
    (RECOGNISED, "read off pictures; check the words before you rely on them"),
    (NO_TEXT, "without text"),
    (HIDDEN, "with words that cannot be seen; kept and flagged hidden"),
)


def notices(editions: Iterable[Edition]) -> tuple[str, ...]:
    """One line for each kind of thing, with the pages from 1: ``pages 3, 7-9 without text``."""
    found = []
    for edition in editions:
        for flag, said in _SAID:
            pages = {each.page for each in edition.passages if flag in each.flags and each.page is not None}
            if pages:
                found.append(f"page{'s' * (len(pages) > 1)} {_ranges(sorted(pages))} {said}")
    return tuple(found)


def _ranges(pages: Sequence[int]) -> str:
    """``3, 7-9``."""
    runs = [[page for _, page in run] for _, run in groupby(enumerate(pages), key=lambda each: each[1] - each[0])]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
