"""The words of pages that are pictures, by Tesseract, in this process: the sandbox lets no other program start.

Asked for by ``ocr`` of `responsa.corpus.limits`: Tesseract's names of languages, such as ``eng`` or ``deu+eng``.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

from responsa.corpus.readers.content import Fail
from responsa.corpus.readers.pdf_page import Handle, Page, Word

_RESOLUTION = 300  # dots per inch, at which Tesseract reads best
_LARGEST = 60_000_000  # pixels of a page's picture; a larger page is drawn more coarsely
_LEAST = 30  # of 100: what Tesseract is less sure of is a speck or a drawing
_NEAR = 0.2  # of the usual height of a row: within it, a row has the usual size of type
_PLACES = (
    "/usr/share/tesseract-ocr/5/tessdata",
    "/usr/share/tesseract-ocr/4.00/tessdata",
    "/usr/share/tessdata",
    "/usr/share/tesseract/tessdata",
    "/usr/local/share/tessdata",
    "/opt/homebrew/share/tessdata",
)


def folder() -> Path | None:
    """Where Tesseract's languages lie: TESSDATA_PREFIX, else where systems install them; None where nowhere."""
    places = [os.environ.get("TESSDATA_PREFIX", ""), *_PLACES]
    return next((Path(place) for place in places if place and any(Path(place).glob("*.traineddata"))), None)


def languages() -> list[str]:
    """The languages that are installed, sorted."""
    found = folder()
    return sorted(path.name.removesuffix(".traineddata") for path in found.glob("*.traineddata")) if found else []


class Recogniser:
    """Reads pages of one file; to be closed. Refused where the library or a language is missing."""

    def __init__(self, language: str, fail: Fail) -> None:
        try:
            import tesserocr
        except ImportError:
            fail(
                "cannot be read off its pictures: the library is missing; install it with: pip install 'responsa[ocr]'"
            )
        missing = [each for each in language.split("+") if each not in languages()]
        if missing:
            there = ", ".join(languages()) or "none"
            fail(
                f"cannot be read in {missing[0]!r}: Tesseract has no such language (it has: {there}); install it, for"
                f" instance with: apt install tesseract-ocr-{missing[0]}; or name the folder in TESSDATA_PREFIX"
            )
        os.environ.setdefault("OMP_THREAD_LIMIT", "1")  # its own threads cost more than they gain
        self._api: Any = tesserocr.PyTessBaseAPI(path=str(folder()), lang=language)

    def close(self) -> None:
        """Give the model's memory back."""
        self._api.End()

    def read(self, raw: ModuleType, handle: Handle, page: Page) -> list[Word]:
        """The words of a page as it is shown, in Tesseract's order, with their places; none for an empty page."""
        scale = min(_RESOLUTION / 72, (_LARGEST / max(1.0, page.width * page.height)) ** 0.5)
        content, width, height, stride = _drawn(raw, handle, page, scale)
        self._api.SetImageBytes(content, width, height, 1, stride)
        self._api.SetSourceResolution(round(72 * scale))
        return _even(self._words(scale)) if self._api.Recognize() else []

    def _words(self, scale: float) -> list[Word]:
        import tesserocr

        level, found = tesserocr.RIL.WORD, []
        for each in tesserocr.iterate_level(self._api.GetIterator(), level):
            if each.Empty(level) or each.Confidence(level) < _LEAST:
                continue
            text, box = each.GetUTF8Text(level).strip(), each.BoundingBox(level)
            if text and box is not None:
                x0, y0, x1, y1 = (side / scale for side in box)
                base = each.Baseline(level)
                size = each.RowAttributes()["row_height"] / scale
                found.append(Word(text, x0, y0, x1, y1, base[0][1] / scale if base else y1, size, False, ""))
        return found


def _drawn(raw: ModuleType, handle: Handle, page: Page, scale: float) -> tuple[bytes, int, int, int]:
    """The page in shades of grey on white: a byte for each pixel; width, height and bytes in a row."""
    width, height = max(1, round(page.width * scale)), max(1, round(page.height * scale))
    bitmap = raw.FPDFBitmap_CreateEx(width, height, raw.FPDFBitmap_Gray, None, 0)
    if not bitmap:
        raise MemoryError
    try:
        raw.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xFFFFFFFF)
        raw.FPDF_RenderPageBitmap(bitmap, handle, 0, 0, width, height, 0, raw.FPDF_GRAYSCALE)
        stride = raw.FPDFBitmap_GetStride(bitmap)
        return ctypes.string_at(raw.FPDFBitmap_GetBuffer(bitmap), stride * height), width, height, stride
    finally:
        raw.FPDFBitmap_Destroy(bitmap)


def _even(words: Sequence[Word]) -> list[Word]:
    """Rows of one type come out a little higher or lower; what is near the usual size has it."""
    usual = median(word.size for word in words) if words else 0.0
    return [word._replace(size=usual) if abs(word.size - usual) <= _NEAR * usual else word for word in words]
