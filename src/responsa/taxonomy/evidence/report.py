"""A company's report made ready for an assessment: read in the sandbox, cut into chunks, kept on disk.

What was read and what was computed of it lies in a cache folder under the digest of the file's bytes, so that the
second set of activities costs neither reading nor encoding. Chunks follow the EU Taxonomy thesis (2024), section
6.1 and appendix C: at most 2,800 characters of one page, 300 of them repeated. Tables stand in chunks as lines of cells
parted by tabs, so that their words can be searched and quoted; as HTML they are in the passages.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import unescape
from pathlib import Path

from responsa.cache import default_path
from responsa.corpus import wire
from responsa.corpus.artefacts import Artefacts
from responsa.corpus.chunks import OVERLAP, SIZE, chunks_of
from responsa.corpus.limits import Limits
from responsa.corpus.readers.notices import notices
from responsa.corpus.sandbox import Sandbox
from responsa.errors import ReadError
from responsa.text import digest
from responsa.types import Box, Edition, Passage

FORMAT = 2  # of what is kept; raised when the readers or the chunks change
Progress = Callable[[int, int, str], None]

_EDITIONS = "editions.json"
_TAG = re.compile(r"</?(?:table|caption|tr|th|td)\b[^<>]*>")
_CELL_END, _ROW_END = re.compile(r"</t[dh]>"), re.compile(r"</tr>|</caption>")
_AROUND_LINE = re.compile(r"[ \t]*\n\s*")
_COMMON = frozenset(
    ("the", "of", "and", "to", "in", "is", "for", "are", "that", "by", "with", "on", "as", "be", "from")
)
_WORD = re.compile(r"[^\W\d_]+")
_WORD_OR_DIGIT = re.compile(r"\w+")
_LEAST_COMMON = 0.12  # of the words of English prose about a quarter are in `_COMMON`
_ENOUGH = 200  # words below which nothing is said about the language
_TAXONOMY = re.compile(
    r"\btaxonomy\b|\btaxonomie|\btechnical screening criteria\b|\btechnische Bewertungskriterien\b", re.IGNORECASE
)


@dataclass(frozen=True, eq=False)  # compared by identity: hashing thousands of passages would cost more than a look-up
class Report:
    """``name`` is the file's, ``digest`` the sha256 of its bytes, ``passages`` as its reader made them.

    ``notices`` say what an analyst has to know before trusting the search: pages that are pictures, another language,
    no word about the Taxonomy.
    """

    name: str
    title: str
    digest: str
    passages: tuple[Passage, ...] = field(repr=False)
    notices: tuple[str, ...] = ()
    artefacts: Artefacts = field(default_factory=lambda: Artefacts(default_folder()), repr=False)

    @property
    def pages(self) -> int:
        """How many pages the file has; 1 where it has none."""
        return max((passage.page or 1 for passage in self.passages), default=1)

    @cached_property
    def chunks(self) -> tuple[Passage, ...]:
        """The chunks in reading order, as passages: their number is ``p. 12 chunk 2``, their path the headings above
        their beginning, their boxes and flags those of all the passages that they hold some of."""
        return tuple(chunk for chunk, _ in self._cut)

    @cached_property
    def _cut(self) -> list[tuple[Passage, tuple[Passage, ...]]]:
        by_id = {(passage.document_id, passage.id): passage for passage in self.passages}
        made = []
        plain = [replace(each, text=flat(each.text), page=each.page or 1) for each in self.passages]
        for cut in chunks_of(plain, SIZE, OVERLAP):
            parts = tuple(by_id[cut.document_id, name] for name in cut.passage_ids)
            number = f"p. {cut.page} chunk {cut.number}"
            chunk = Passage(
                f"{cut.document_id} {number}", cut.document_id, number, cut.text,
                path=parts[0].path if parts else (),
                page=cut.page,
                boxes=tuple(box for part in parts for box in part.boxes if box.page == cut.page),
                flags=tuple(dict.fromkeys(flag for part in parts for flag in part.flags)),
            )  # fmt: skip
            made.append((chunk, parts))
        return made

    def parts(self, chunk_id: str) -> tuple[Passage, ...]:
        """The passages that a chunk holds, wholly or some of; none for an id that is no chunk's."""
        return next((parts for chunk, parts in self._cut if chunk.id == chunk_id), ())

    def boxes(self, page: int, quote: str) -> tuple[Box, ...]:
        """Where a quote stands on its page: the boxes of the passages that hold it, or of those that share most with
        it; none where nothing on the page does."""
        own = [each for each in self.passages if (each.page or 1) == page]
        wanted = _squashed(quote)
        holding = [each for each in own if wanted and wanted in _squashed(flat(each.text))]
        if not holding:
            holding = [each for each in own if len(each.text) > 20 and _squashed(flat(each.text)) in wanted]
        return tuple(box for each in holding[:1] or holding for box in each.boxes)


def flat(text: str) -> str:
    """A passage's text with its tables as lines: a row each, cells parted by tabs; other text as it is."""
    if "<t" not in text:
        return text
    rows = _ROW_END.sub("\n", _CELL_END.sub("\t", text))
    return _AROUND_LINE.sub("\n", unescape(_TAG.sub("", rows))).strip()


def default_folder() -> Path:
    """Where reports are kept if nobody says otherwise: beside the cache of model answers."""
    return default_path().parent / "reports"


def read_report(
    path: Path, folder: Path | None = None, limits: Limits | None = None, progress: Progress | None = None
) -> Report:
    """The report in a file, from the cache ``folder`` where the same bytes were read before.

    What is read with ``limits.ocr`` lies in a folder of its own: the same bytes have other words then.
    ReadError where the file cannot be read or has no text: a scan, a locked file, something that is no report.
    """
    held = folder or default_folder()
    artefacts = Artefacts(held / f"ocr-{limits.ocr}" if limits and limits.ocr else held)
    checksum = _checksum(path)
    name = f"report-{digest([FORMAT, path.stem, path.suffix.lower()])[:12]}-{checksum[:24]}"

    def build(target: Path) -> None:
        if progress:
            progress(0, 1, path.name)
        with Sandbox(limits) as sandbox:
            editions = sandbox.read(path)
        (target / _EDITIONS).write_bytes(wire.dumps(editions))

    editions = artefacts.opened(
        lambda: [artefacts.get(name, [checksum], build)],
        lambda folders: wire.loads((folders[0] / _EDITIONS).read_bytes()),
    )
    passages = tuple(passage for edition in editions for passage in edition.passages)
    if not any(passage.text.strip() for passage in passages):
        raise ReadError(f"{path}: holds no text that could be evidence; give the report itself, with its text readable")
    return Report(path.stem, _title(editions, path), checksum, passages, _notices(editions, passages), artefacts)


def _checksum(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or error
        raise ReadError(f"{path}: cannot be read: {reason}; check the path and its permissions") from error


def _title(editions: Sequence[Edition], path: Path) -> str:
    return next((edition.title for edition in editions if edition.title), path.stem)


def _notices(editions: Iterable[Edition], passages: Sequence[Passage]) -> tuple[str, ...]:
    found = list(notices(editions))
    text = [word.lower() for passage in passages for word in _WORD.findall(flat(passage.text))]
    common = sum(word in _COMMON for word in text)
    if len(text) >= _ENOUGH and common < _LEAST_COMMON * len(text):
        found.append("the text does not look English; criteria are searched in English, so evidence may be missed")
    elif not any(_TAXONOMY.search(passage.text) for passage in passages):
        found.append("the EU Taxonomy is not mentioned; the company may report on it in another document")
    return tuple(found)


def _squashed(text: str) -> str:
    return "".join(_WORD_OR_DIGIT.findall(text.lower()))
