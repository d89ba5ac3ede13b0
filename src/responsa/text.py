"""Text without meaning: clean-up for matching, canonical digests. Pure functions."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata

# Zero-width characters, bidirectional marks, soft hyphen and byte-order mark: invisible, and in the
# middle of rule numbers in published rulebooks.
_INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_PUNCTUATION = str.maketrans({
    "‘": "'", "’": "'", "‚": "'", "‛": "'", "“": '"', "”": '"', "„": '"', "‟": '"', "«": '"', "»": '"',
    "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "―": "-", "−": "-", "•": " ", "…": "...",
})  # fmt: skip
_SPACE = re.compile(r"\s+")


def normalise(text: str) -> str:
    """Text for matching: NFKC, no invisible characters, plain quotes and dashes, single spaces, trimmed.

    Case is kept. Offsets are not: what is shown and cited is always the stored text.
    """
    if not text.isascii():
        text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).translate(_PUNCTUATION)
    return _SPACE.sub(" ", text).strip()


def digest(value: object) -> str:
    """sha256 (hex) of the value's canonical JSON: keys sorted, no spaces, UTF-8, no NaN."""
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()
