"""What stands on a page of a PDF: words with place and style, ruled lines, areas of colour, pictures.

Places are points from the top left corner of the page as it is shown, whatever its crop box and rotation. Words
that run sideways keep their place; ``turn`` says how far (quarter turns clockwise).
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, NamedTuple

MOST_OBJECTS = 20_000  # drawn objects of a page that are looked at
_MOST_AREAS = 2_000  # filled areas of a page that are kept
_MOST_SEGMENTS = 400  # of one path
_DEEPEST = 8  # forms within forms
_THIN = 3.0  # points: a path no thicker is a line
_SHORT = 5.0  # points: a line no longer is none
_TINY = 1.5  # points: type no larger cannot be read
_FAR, _LARGEST = 1e5, 2e3  # points: places and type sizes beyond are no one's that can be read
_WHITE = 250  # of 255, in each colour

_WORD = re.compile("[^\\s\ufffe\x02]+[\ufffe\x02]?|[\ufffe\x02]")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffd-\uffff]")
_BOLD = re.compile(r"bold|black|heavy|demi|semibd|-bd\b", re.IGNORECASE)

HYPHEN = "\u00ad"
"""Ends a word that is broken at the end of a line, where the file says so."""


Handle = Any
"""Something of pdfium's: a page, its text, an object on it."""


class Word(NamedTuple):
    """``base`` is the height of the line it stands on. ``hidden`` says why it cannot be seen; "" where it can."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    base: float
    size: float
    bold: bool
    font: str
    turn: int = 0
    hidden: str = ""


class Rule(NamedTuple):
    """A straight line: at height ``at`` from ``start`` to ``end``, or upright at ``at``."""

    at: float
    start: float
    end: float


class Area(NamedTuple):
    """A filled rectangle or a picture."""

    x0: float
    y0: float
    x1: float
    y1: float
    white: bool = False


@dataclass(slots=True)
class Page:
    """A page's content in the order of the file. ``label`` is the page number that the file gives it; ``recognised``:
    its words were read off its picture."""

    number: int
    width: float
    height: float
    label: str = ""
    words: list[Word] = field(default_factory=list)
    level: list[Rule] = field(default_factory=list)
    upright: list[Rule] = field(default_factory=list)
    areas: list[Area] = field(default_factory=list)
    pictures: list[Area] = field(default_factory=list)
    recognised: bool = False

    @property
    def pictured(self) -> float:
        """The share of the page that its largest picture covers, 0 to 1."""
        size = self.width * self.height
        return max((_shown_part(each, self) for each in self.pictures), default=0.0) / size if size else 0.0


class _Style(NamedTuple):
    size: float
    bold: bool
    font: str
    turn: int
    white: bool
    unseen: bool


Matrix = tuple[float, float, float, float, float, float]
_SAME: Matrix = (1, 0, 0, 1, 0, 0)


def read_page(raw: ModuleType, page: Handle, number: int, label: str) -> Page:
    """The content of a loaded page; ``raw`` is the module of pdfium's own functions, ``page`` its handle."""
    place, width, height = _placed(raw, page)
    found = Page(number, width, height, label)
    for kind, item, matrix in _objects(raw, page):
        if kind == raw.FPDF_PAGEOBJ_PATH:
            _add_path(raw, item, matrix, place, found)
        elif kind in (raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_SHADING):
            bounds = _bounds(raw, item, matrix, place)
            if bounds:
                (found.pictures if kind == raw.FPDF_PAGEOBJ_IMAGE else found.areas).append(Area(*bounds))
    text = raw.FPDFText_LoadPage(page)
    if text:
        try:
            found.words = list(_words(raw, text, place, found))
        finally:
            raw.FPDFText_ClosePage(text)
    return found


Place = Callable[[float, float], tuple[float, float]]


def _placed(raw: ModuleType, page: Handle) -> tuple[Place, float, float]:
    """From the file's coordinates to those of the page as shown, and the size of the page."""
    values = [ctypes.c_float() for _ in range(4)]
    pointers = [ctypes.byref(value) for value in values]
    if not (raw.FPDFPage_GetCropBox(page, *pointers) or raw.FPDFPage_GetMediaBox(page, *pointers)):
        for value, number in zip(
            values, (0, 0, raw.FPDF_GetPageWidthF(page), raw.FPDF_GetPageHeightF(page)), strict=True
        ):
            value.value = number
    left, bottom, right, top = (value.value for value in values)
    turn = raw.FPDFPage_GetRotation(page) % 4
    width, height = float(raw.FPDF_GetPageWidthF(page)), float(raw.FPDF_GetPageHeightF(page))
    if abs(abs(right - left) - (height if turn % 2 else width)) > 1:  # the crop box leaves the media box
        right, top = left + (height if turn % 2 else width), bottom + (width if turn % 2 else height)
    places: tuple[Place, ...] = (
        lambda x, y: (x - left, top - y),
        lambda x, y: (y - bottom, x - left),
        lambda x, y: (right - x, y - bottom),
        lambda x, y: (top - y, right - x),
    )
    return places[turn], width, height


def _objects(raw: ModuleType, page: Handle) -> Iterator[tuple[int, Handle, Matrix]]:
    """Every drawn object but text, those of forms too, with the matrix of the form."""
    count = 0
    for index in range(raw.FPDFPage_CountObjects(page)):
        item = raw.FPDFPage_GetObject(page, index)
        for each in _within(raw, item, _SAME, 0):
            yield each
            count += 1
            if count >= MOST_OBJECTS:
                return


def _within(raw: ModuleType, item: Handle, matrix: Matrix, depth: int) -> Iterator[tuple[int, Handle, Matrix]]:
    kind = raw.FPDFPageObj_GetType(item)
    if kind == raw.FPDF_PAGEOBJ_FORM and depth < _DEEPEST:
        own = raw.FS_MATRIX()
        inner = matrix
        if raw.FPDFPageObj_GetMatrix(item, ctypes.byref(own)):
            inner = _times((own.a, own.b, own.c, own.d, own.e, own.f), matrix)
        for index in range(raw.FPDFFormObj_CountObjects(item)):
            yield from _within(raw, raw.FPDFFormObj_GetObject(item, index), inner, depth + 1)
    elif kind not in (raw.FPDF_PAGEOBJ_TEXT, raw.FPDF_PAGEOBJ_FORM):
        yield kind, item, matrix


def _times(first: Matrix, then: Matrix) -> Matrix:
    a, b, c, d, e, f = first
    k, m, n, p, q, s = then
    return (a * k + b * n, a * m + b * p, c * k + d * n, c * m + d * p, e * k + f * n + q, e * m + f * p + s)


def _by(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def _bounds(raw: ModuleType, item: Handle, matrix: Matrix, place: Place) -> tuple[float, float, float, float] | None:
    values = [ctypes.c_float() for _ in range(4)]
    if not raw.FPDFPageObj_GetBounds(item, *[ctypes.byref(value) for value in values]):
        return None
    left, bottom, right, top = (value.value for value in values)
    return _rectangle(place(*_by(matrix, left, bottom)), place(*_by(matrix, right, top)))


def _rectangle(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float, float, float]:
    return min(one[0], other[0]), min(one[1], other[1]), max(one[0], other[0]), max(one[1], other[1])


def _add_path(raw: ModuleType, item: Handle, matrix: Matrix, place: Place, page: Page) -> None:
    bounds = _bounds(raw, item, matrix, place)
    if bounds is None or not all(map(math.isfinite, bounds)):
        return
    x0, y0, x1, y1 = bounds
    if y1 - y0 <= _THIN or x1 - x0 <= _THIN:
        _add_line(bounds, page)
        return
    count = raw.FPDFPath_CountSegments(item)
    filled, stroked = ctypes.c_int(), ctypes.c_int()
    raw.FPDFPath_GetDrawMode(item, ctypes.byref(filled), ctypes.byref(stroked))
    if filled.value and len(page.areas) < _MOST_AREAS:
        page.areas.append(Area(*bounds, white=_white(raw.FPDFPageObj_GetFillColor, item)))
    if stroked.value and count <= 6:
        for edge in ((x0, y0, x1, y0), (x0, y1, x1, y1), (x0, y0, x0, y1), (x1, y0, x1, y1)):
            _add_line(edge, page)
    elif count <= _MOST_SEGMENTS and (stroked.value or count > 6):
        own = raw.FS_MATRIX()
        raw.FPDFPageObj_GetMatrix(item, ctypes.byref(own))
        _add_segments(raw, item, count, _times((own.a, own.b, own.c, own.d, own.e, own.f), matrix), place, page)


def _add_segments(raw: ModuleType, item: Handle, count: int, matrix: Matrix, place: Place, page: Page) -> None:
    """The straight level and upright pieces of a path of many pieces."""
    x, y = ctypes.c_float(), ctypes.c_float()
    before: tuple[float, float] | None = None
    for index in range(count):
        segment = raw.FPDFPath_GetPathSegment(item, index)
        raw.FPDFPathSegment_GetPoint(segment, ctypes.byref(x), ctypes.byref(y))
        here = place(*_by(matrix, x.value, y.value))
        if before and raw.FPDFPathSegment_GetType(segment) == raw.FPDF_SEGMENT_LINETO:
            edge = _rectangle(before, here)
            if min(edge[2] - edge[0], edge[3] - edge[1]) < 0.5:
                _add_line(edge, page)
        before = here


def _add_line(bounds: tuple[float, float, float, float], page: Page) -> None:
    x0, y0, x1, y1 = bounds
    if y1 - y0 <= _THIN and x1 - x0 > _SHORT:
        page.level.append(Rule((y0 + y1) / 2, x0, x1))
    elif x1 - x0 <= _THIN and y1 - y0 > _SHORT:
        page.upright.append(Rule((x0 + x1) / 2, y0, y1))


def _white(get: Callable[..., int], *where: Handle) -> bool:
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if not get(*where, *[ctypes.byref(value) for value in (red, green, blue, alpha)]):
        return False
    return alpha.value == 0 or min(red.value, green.value, blue.value) >= _WHITE


def _words(raw: ModuleType, text: Handle, place: Place, page: Page) -> Iterator[Word]:
    count = raw.FPDFText_CountChars(text)
    if count <= 0:
        return
    letters = _letters(raw, text, count)
    styles: dict[int | None, _Style] = {}
    box = raw.FS_RECTF()
    pointer = ctypes.byref(box)
    x, y = ctypes.c_double(), ctypes.c_double()
    for match in _WORD.finditer(letters):
        start, end = match.span()
        word = match.group()
        broken = word[-1] in "\ufffe\x02"
        shown = _CONTROL.sub("", word) + (HYPHEN if broken else "")
        if not shown or shown == HYPHEN:
            continue
        end -= broken and end - start > 1
        item = raw.FPDFText_GetTextObject(text, start)
        key = ctypes.cast(item, ctypes.c_void_p).value if item else None
        style = styles.get(key)
        if style is None:
            style = styles[key] = _style(raw, text, start, item)
        raw.FPDFText_GetLooseCharBox(text, start, pointer)
        left, bottom, right, top = box.left, box.bottom, box.right, box.top
        if end - 1 > start:
            raw.FPDFText_GetLooseCharBox(text, end - 1, pointer)
            left, bottom = min(left, box.left), min(bottom, box.bottom)
            right, top = max(right, box.right), max(top, box.top)
        raw.FPDFText_GetCharOrigin(text, start, ctypes.byref(x), ctypes.byref(y))
        x0, y0, x1, y1 = _rectangle(place(left, bottom), place(right, top))
        across, down = place(x.value, y.value)
        if not all(abs(value) < _FAR for value in (x0, y0, x1, y1, across, down)):  # not a number, neither
            x0 = y0 = x1 = y1 = across = down = -_FAR
        turn = _turned(style, place)
        base = down if turn % 2 == 0 else across
        made = Word(shown, x0, y0, x1, y1, base, style.size, style.bold, style.font, turn)
        yield made._replace(hidden=_hidden(made, style, page)) if _suspect(made, style, page) else made


def _letters(raw: ModuleType, text: Handle, count: int) -> str:
    """The text with one character for each of pdfium's, so that places in it are pdfium's indices."""
    buffer = (ctypes.c_ushort * (count + 1))()
    written = raw.FPDFText_GetText(text, 0, count, buffer)
    letters = bytes(buffer).decode("utf-16-le", "replace")[: max(written - 1, 0)]
    if len(letters) == count:
        return letters
    codes = (raw.FPDFText_GetUnicode(text, index) for index in range(count))
    return "".join(chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else " " for code in codes)


def _style(raw: ModuleType, text: Handle, index: int, item: Handle) -> _Style:
    matrix = raw.FS_MATRIX()
    scale = 1.0
    if raw.FPDFText_GetMatrix(text, index, ctypes.byref(matrix)):
        scale = math.hypot(matrix.c, matrix.d) or 1.0
    name = ctypes.create_string_buffer(256)
    flags = ctypes.c_int()
    raw.FPDFText_GetFontInfo(text, index, name, 256, ctypes.byref(flags))
    font = name.value.decode("utf-8", "replace").partition("+")[2] or name.value.decode("utf-8", "replace")
    bold = bool(_BOLD.search(font)) or raw.FPDFText_GetFontWeight(text, index) >= 600
    mode = raw.FPDFTextObj_GetTextRenderMode(item) if item else 0
    angle = math.atan2(matrix.b, matrix.a)
    turn = round(-angle / (math.pi / 2)) % 4 if math.isfinite(angle) else 0
    white = _white(raw.FPDFText_GetFillColor, text, index) and mode not in (1, 5)
    size = raw.FPDFText_GetFontSize(text, index) * scale
    return _Style(round(size, 1) if 0 < size < _LARGEST else 1.0, bold, font, turn, white, mode == 3)


def _turned(style: _Style, place: Place) -> int:
    """Quarter turns as the page is shown."""
    if style.turn == 0 and place(1, 0)[0] - place(0, 0)[0] == 1:
        return 0
    along = ((1, 0), (0, -1), (-1, 0), (0, 1))[style.turn]
    start, end = place(0, 0), place(*along)
    across, down = end[0] - start[0], end[1] - start[1]
    return {(1, 0): 0, (0, 1): 1, (-1, 0): 2, (0, -1): 3}.get((round(across), round(down)), 0)


def _suspect(word: Word, style: _Style, page: Page) -> bool:
    return (
        style.white or style.unseen or style.size < _TINY
        or word.x1 < 0 or word.y1 < 0 or word.x0 > page.width or word.y0 > page.height
    )  # fmt: skip


def _hidden(word: Word, style: _Style, page: Page) -> str:
    if word.x1 < 0 or word.y1 < 0 or word.x0 > page.width or word.y0 > page.height:
        return "off-page"
    if style.size < _TINY and min(word.y1 - word.y0, word.x1 - word.x0) < 2 * _TINY:
        return "tiny"
    x, y = (word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2
    behind = [*page.pictures, *page.areas]
    if style.unseen:  # the words of a scanned page lie unseen over its picture
        return "" if any(_covers(each, x, y) for each in page.pictures) else "invisible"
    if style.white and not any(not each.white and _covers(each, x, y) for each in behind):
        return "white"
    return ""


def _covers(area: Area, x: float, y: float) -> bool:
    return area.x0 <= x <= area.x1 and area.y0 <= y <= area.y1


def _shown_part(area: Area, page: Page) -> float:
    width = min(area.x1, page.width) - max(area.x0, 0)
    height = min(area.y1, page.height) - max(area.y0, 0)
    return max(width, 0) * max(height, 0)
