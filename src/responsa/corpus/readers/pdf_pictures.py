"""Pages of a PDF drawn, and where texts stand on them, to the line."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence

from responsa.corpus.pictures import MOST_FOUND, MOST_PIXELS, Lines, Picture, Sought
from responsa.corpus.readers.content import Fail
from responsa.corpus.readers.pdf import opened
from responsa.corpus.readers.pdf_page import Handle, Word, read_page
from responsa.types import Box

_PIXELS = 0.95 * MOST_PIXELS
_LEAST, _LEAST_CELL = 4, 10  # letters and digits of a text that is looked for, and of a cell
_NOT_PLAIN = re.compile(r"[\W_]+")


def pictures(content: bytes, sought: Sought, fail: Fail) -> Iterator[Picture]:
    """The pages asked for, in their order; those that the file lacks or cannot load are left out."""
    from pypdfium2 import PdfiumError, raw

    with opened(content, fail) as document:
        for number, texts in sorted(sought.items()):
            if not 1 <= number <= len(document):
                continue
            try:
                handle = document[number - 1]
            except PdfiumError:
                continue
            try:
                yield _drawn(raw, handle, number, texts)
            finally:
                handle.close()


def _drawn(raw: Handle, handle: Handle, number: int, texts: Sequence[str]) -> Picture:
    page = read_page(raw, handle.raw, number, "")
    width, height = max(page.width, 1.0), max(page.height, 1.0)
    scale = math.sqrt(_PIXELS / (width * height))
    while math.ceil(width * scale) * math.ceil(height * scale) > MOST_PIXELS:  # a strip
        scale *= 0.9
    bitmap = handle.render(
        scale=scale, force_bitmap_format=raw.FPDFBitmap_BGR, rev_byteorder=True, draw_annots=False, may_draw_forms=False
    )
    across = 3 * bitmap.width
    buffer = memoryview(bitmap.buffer).cast("B")
    rows = (bytes(buffer[row * bitmap.stride : row * bitmap.stride + across]) for row in range(bitmap.height))
    seen = [word for word in page.words if not word.hidden]  # of a scan none is: they lie under the picture
    found = tuple(tuple(places(seen, text, number) or places(page.words, text, number)) for text in texts)
    return Picture(number, width, height, bitmap.width, bitmap.height, b"".join(rows), found)


def places(words: Sequence[Word], text: str, page: int) -> list[Lines]:
    """Where the words stand one after the other as in the text, whatever stands between them; at most `MOST_FOUND`.

    Where they do not stand so as a whole, as in tables that are read by rows, its lines and cells are looked for one by
    one and make one place.
    """
    letters, owners = [], []
    for at, word in enumerate(words):
        plain = _plain(word.text)
        letters.append(plain)
        owners += [at] * len(plain)
    whole = "".join(letters)
    found = [_lines(words, owners, *span, page) for span in _spans(whole, _plain(text))]
    if found:
        return found
    boxes: list[Box] = []
    for line in text.splitlines():
        own = _spans(whole, _plain(line))[:1]
        if not own:
            cells = [_plain(cell) for cell in line.split("\t")]
            own = [span for cell in cells if len(cell) >= _LEAST_CELL for span in _spans(whole, cell)[:1]]
        for span in own:
            boxes += _lines(words, owners, *span, page)
    return [tuple(dict.fromkeys(boxes))] if boxes else []


def _plain(text: str) -> str:
    return _NOT_PLAIN.sub("", unicodedata.normalize("NFKC", text).lower())


def _spans(whole: str, wanted: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    at = whole.find(wanted) if len(wanted) >= _LEAST else -1
    while at >= 0 and len(found) < MOST_FOUND:
        found.append((at, at + len(wanted)))
        at = whole.find(wanted, at + len(wanted))
    return found


def _lines(words: Sequence[Word], owners: Sequence[int], start: int, end: int, page: int) -> Lines:
    """A box for each line: words that follow one another at about the same height, not far apart."""
    boxes: list[list[float]] = []
    last: Word | None = None
    for at in dict.fromkeys(owners[start:end]):
        word = words[at]
        same = (
            last is not None
            and word.turn == last.turn == 0
            and abs(word.base - last.base) < 0.5 * max(word.size, last.size, 1)
            and -word.size < word.x0 - last.x1 < 3 * max(word.size, 1)
        )
        if same:
            box = boxes[-1]
            box[:] = min(box[0], word.x0), min(box[1], word.y0), max(box[2], word.x1), max(box[3], word.y1)
        else:
            boxes.append([word.x0, word.y0, word.x1, word.y1])
        last = word
    return tuple(Box(page, *(round(side, 1) + 0.0 for side in box)) for box in boxes)
