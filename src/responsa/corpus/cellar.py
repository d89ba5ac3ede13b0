"""Acts of the EU by their CELEX numbers, from Cellar, the public store of the EU's Publications Office.

``celex:32013R0575`` is the act as published, ``celex:32013R0575@2024-07-09`` the consolidated text in force on that
day: that of the latest consolidation not after it, or the act as published where there is none. Formex is
preferred to HTML. What has come is kept in the user's cache and asked for again with the conditions of HTTP;
it is parsed by nobody but the readers.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from filelock import FileLock, Timeout

from responsa.corpus import fetch
from responsa.corpus.limits import MIB, Limits
from responsa.errors import FetchError, InputError, ReadError, StorageError
from responsa.types import Edition

SERVER = "https://publications.europa.eu"
_PREFIX = "celex:"
_SOURCE = re.compile(r"(3(\d{4})[A-Z]\d{4})(?:@(\d{4}-\d{2}-\d{2}))?|(0(\d{4})[A-Z]\d{4}-\d{8})", re.IGNORECASE)
_LANGUAGE = "eng"  # ISO 639-3, as Cellar wants it
_ZIP = ("application/zip", "application/x-zip-compressed", "application/octet-stream")
_PAGE = ("application/xhtml+xml", "text/html")
_ROWS = ("application/sparql-results+json", "application/json")
_NOTICE = ("application/xml", "text/xml", "application/rdf+xml")
_QUERY = (
    "PREFIX cdm: <http://publications.europa.eu/ontology/cdm#> SELECT DISTINCT ?celex WHERE"
    ' {{ ?work cdm:resource_legal_id_celex ?celex . FILTER(STRSTARTS(STR(?celex), "{}-")) }}'
)
_CHOICE = re.compile(r"https?://[^\s\"'<>]{1,300}/DOC_(\d{1,3})(?=[\s\"'<>])")
_MOST_PARTS = 100  # pages of an act, and 50 times as many files in an archive, as its reader has it
_LIST = 8 * MIB  # a list of versions has about 100 bytes for each
_WAIT = 600.0  # seconds for another process to end its downloads


@dataclass(frozen=True, slots=True)
class Wanted:
    """An act; as of a day, or as published, or the consolidated version itself where ``celex`` names one."""

    celex: str
    day: date | None = None

    @property
    def name(self) -> str:
        """What it is called in the library."""
        return f"{_PREFIX}{self.celex}" + (f"@{self.day}" if self.day else "")

    @property
    def act(self) -> str:
        """The number of the act itself, whatever the version."""
        return f"3{self.celex[1:10]}"


@dataclass(frozen=True, slots=True)
class Fetched:
    """The file that holds what was wanted. ``starts`` is the day on the number of a consolidated version."""

    wanted: Wanted
    path: Path
    starts: date | None


def is_source(text: str) -> bool:
    """Whether it names an act to fetch, well or not."""
    return text[: len(_PREFIX)].lower() == _PREFIX


def parse(text: str) -> Wanted:
    """``celex:32013R0575``, ``celex:32013R0575@2024-07-09`` or ``celex:02013R0575-20240709``; InputError otherwise."""
    found = _SOURCE.fullmatch(text[len(_PREFIX) :].strip())
    if found is None:
        raise InputError(
            "is no CELEX number that can be fetched; write an act as celex:32013R0575 (3, the year, the letter of its"
            " kind, four digits), with @2024-07-09 for the text of a day"
        )
    celex, day = (found[1] or found[4]).upper(), found[3] or _iso(found[4] or "")
    try:
        when = date.fromisoformat(day) if day else None
    except ValueError:
        raise InputError(f"{day!r} is not a date; write it as YYYY-MM-DD") from None
    if when and when.year < int(found[2] or found[5]):
        raise InputError(f"the act is of {found[2] or found[5]}, and {when} is before that; give a later day")
    return Wanted(celex, when if found[1] else None)


def source_name(text: str) -> str:
    """The name under which the catalogue has such a source."""
    try:
        return parse(text).name
    except InputError:
        return text


def copy_of(name: str, sha256: str) -> Path | None:
    """The file in the cache that a source was read from; None where it is gone."""
    with contextlib.suppress(InputError, OSError):
        pattern = f"?{parse(name).act[1:]}*"
        return next((path for path, known in fetch.records(_folder(_server()), pattern) if known == sha256), None)
    return None


@dataclass
class Cellar:
    """Fetches acts, one at a time. ``offline``, what is in the cache is taken without asking."""

    limits: Limits = field(default_factory=Limits)
    offline: bool = False
    progress: fetch.Progress | None = None

    def acts(self, sources: Sequence[str]) -> tuple[list[Fetched], list[tuple[str, str]]]:
        """The files, and the sources that could not be had with the reasons. No failure stops the rest."""
        server = _server()
        self._folder = _folder(server)
        self._downloads = fetch.Downloads(server, self.limits.size * MIB, progress=self.progress)
        got: dict[str, Fetched] = {}
        failed: dict[str, str] = {}
        try:
            with _alone(self._folder):
                for source in dict.fromkeys(map(source_name, sources)):
                    try:
                        wanted = parse(source)
                        got[wanted.name] = self._fetch(wanted)
                    except (InputError, FetchError) as error:
                        failed[source] = str(error)
        finally:
            self._downloads.close()
        return list(got.values()), list(failed.items())

    def _fetch(self, wanted: Wanted) -> Fetched:
        celex = wanted.celex if wanted.day is None else self._in_force(wanted)
        starts = date.fromisoformat(_iso(celex)) if "-" in celex else None
        forms: tuple[Callable[[str], Path], ...] = (self._formex, self._page, self._old_page)
        for form in forms:
            with contextlib.suppress(fetch.Absent):
                return Fetched(wanted, form(celex), starts)
        if self.offline:
            raise FetchError(f"{celex} is not in the cache; leave out --offline, or {_by_hand(celex)}")
        if self._exists(celex):
            raise FetchError(f"there is no English text of {celex} as Formex or HTML; add a PDF of it as a file")
        raise FetchError(f"there is no act {celex} in Cellar; check the number on eur-lex.europa.eu")

    def _in_force(self, wanted: Wanted) -> str:
        """The number of the latest consolidation that is not after the day; else that of the act."""
        prefix = f"0{wanted.celex[1:]}"
        query = urlencode({"query": _QUERY.format(prefix), "format": _ROWS[0]})
        target = self._folder / f"{wanted.celex}.versions.json"
        try:
            path = self._get(f"/webapi/rdf/sparql?{query}", target, _ROWS, _rows_problem, {"Accept": _ROWS[0]})
        except fetch.Absent as error:
            hint = "leave out --offline" if self.offline else f"or name a version itself: celex:{prefix}-YYYYMMDD"
            raise FetchError(f"the versions of {wanted.celex} cannot be listed ({error}); {hint}") from None
        numbers = [number for number in _numbers(path) if re.fullmatch(rf"{prefix}-\d{{8}}", number)]
        dated = {day: number for number in numbers if (day := _iso(number)) and day <= str(wanted.day)}
        return dated[max(dated)] if dated else wanted.celex

    def _formex(self, celex: str) -> Path:
        return self._negotiated(celex, "application/zip;mtype=fmx4", _ZIP, ".fmx4", _archive_problem)

    def _page(self, celex: str) -> Path:
        return self._negotiated(celex, _PAGE[0], _PAGE, ".xhtml", _page_problem)

    def _old_page(self, celex: str) -> Path:
        return self._negotiated(celex, _PAGE[1], _PAGE, ".html", _page_problem)

    def _negotiated(self, celex: str, accept: str, types: Sequence[str], suffix: str, check: fetch.Check) -> Path:
        target = self._folder / f"{celex}.{_LANGUAGE}{suffix}"
        headers = {"Accept": accept, "Accept-Language": _LANGUAGE}
        try:
            return self._get(f"/resource/celex/{celex}", target, types, check, headers)
        except fetch.Absent as error:
            addresses = _choices(error.choices)
            if not addresses or types is not _PAGE:
                raise
        if len(addresses) > _MOST_PARTS:
            raise FetchError(f"{celex} is in {len(addresses)} files as HTML, more than {_MOST_PARTS}; add it by hand")
        parts = []
        for number, address in enumerate(addresses, 1):
            part = target.with_name(f"{target.stem}.{number}{suffix}")
            url = self._downloads.within(self._downloads.base, address)
            parts.append(self._get(url, part, types, check, headers))
            if sum(each.stat().st_size for each in parts) > self.limits.size * MIB:
                raise FetchError(f"{celex} is larger than {self.limits.size} MiB; allow more with --max-size")
        return _joined(parts, target)

    def _exists(self, celex: str) -> bool:
        """Whether Cellar has anything of that number: it then lists its other names."""
        target = self._folder / f"{celex}.names.xml"
        headers = {"Accept": "application/xml;notice=identifiers"}
        try:
            fetch.forget(self._get(f"/resource/celex/{celex}", target, _NOTICE, lambda _: "", headers))
        except fetch.Absent as error:
            return bool(error.choices)
        return True

    def _get(self, path: str, target: Path, types: Sequence[str], check: fetch.Check, headers: dict[str, str]) -> Path:
        if self.offline:
            if fetch.kept(target) is None:
                raise fetch.Absent(f"{target.name} is not in the cache, or not as it was fetched")
            return target
        url = path if path.startswith("http") else f"{self._downloads.base}{path}"
        same = _same_archive if types is _ZIP else _same_bytes
        most = None if types in (_ZIP, _PAGE) else _LIST
        return self._downloads.get(fetch.Request(url, target, types, check, headers, target.name, most, same))


def read(fetched: Fetched, reader: Callable[[Path], tuple[Edition, ...]]) -> tuple[Edition, ...]:
    """The one act in a file that was fetched. `ReadError` where it is another; the file is not kept then."""
    try:
        editions = reader(fetched.path)
        found = [edition.document_id for edition in editions]
        if found != [fetched.wanted.act]:
            raise ReadError(
                f"{fetched.path}: what came is {', '.join(found)[:100]}, not {fetched.wanted.act}; try again"
            )
        starts = editions[0].valid_from
        if fetched.starts and starts and starts != fetched.starts:
            raise ReadError(f"{fetched.path}: what came is the version of {starts}, not of {fetched.starts}; try again")
    except ReadError:
        fetch.forget(fetched.path)
        raise
    if fetched.wanted.day and starts and starts > fetched.wanted.day:
        raise ReadError(
            f"{fetched.path}: was not yet in force on {fetched.wanted.day}, but from {starts}; give a later day"
        )
    return editions


def _server() -> str:
    return os.environ.get("RESPONSA_CELLAR", "").strip() or SERVER


def _folder(server: str) -> Path:
    """Where what comes from a server is kept."""
    from responsa.cache import default_path

    place = re.sub(r"[^\w.-]", "_", urlsplit(server).netloc)[:100]
    return default_path().parent / "cellar" / place


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """While no other process downloads into the folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".lock", timeout=_WAIT):
            yield
    except Timeout:
        raise FetchError(f"another process has been fetching for {_WAIT:.0f} seconds; try again later") from None
    except OSError as error:
        reason = error.strerror or error
        raise StorageError(f"{folder}: what is fetched cannot be kept there: {reason}; set XDG_CACHE_HOME") from error


def _by_hand(celex: str) -> str:
    return (
        "fetch it where there is a network and add the file: curl -L -H 'Accept: application/zip;mtype=fmx4'"
        f" -H 'Accept-Language: {_LANGUAGE}' -o {celex}.fmx4 {SERVER}/resource/celex/{celex}"
    )


def _iso(text: str) -> str:
    """2024-07-09 of a number that ends in -20240709."""
    digits = text[-8:] if "-" in text else ""
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:]}" if digits else ""


def _numbers(path: Path) -> list[str]:
    """The CELEX numbers in an answer of the SPARQL service; ValueError where it is none."""
    try:
        rows = json.loads(path.read_bytes())["results"]["bindings"]
        return [str(row["celex"]["value"]) for row in rows]
    except (TypeError, KeyError, RecursionError) as error:
        raise ValueError(str(error)) from None


def _rows_problem(path: Path) -> str:
    try:
        _numbers(path)
    except ValueError:
        return "the list of versions cannot be read"
    return ""


def _archive_problem(path: Path) -> str:
    """Whether the file is an archive to its end; its content is for the reader to judge."""
    return "" if zipfile.is_zipfile(path) else "what came is no archive, or not all of one"


def _same_archive(old: Path, new: Path) -> bool:
    """Whether two archives hold the same files: Cellar packs them anew for each request, with the time of day."""
    try:
        if new.read_bytes().count(b"PK\1\2") > 50 * _MOST_PARTS:
            return False
        with zipfile.ZipFile(old) as one, zipfile.ZipFile(new) as other:
            return _members(one) == _members(other)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False


def _members(archive: zipfile.ZipFile) -> list[tuple[str, int, int]]:
    return sorted((each.filename, each.CRC, each.file_size) for each in archive.infolist())


def _same_bytes(old: Path, new: Path) -> bool:
    return fetch.sha256_of(old) == fetch.sha256_of(new)


def _page_problem(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 200))
        return "" if b"</html" in file.read().lower() else "what came is no page of HTML, or not all of one"


def _in_body(path: Path) -> tuple[bytes, bytes, bytes]:
    """A page as what comes before the content of its body, the content, and the rest."""
    page = path.read_bytes()
    plain = page.lower()
    start = plain.find(b">", plain.find(b"<body")) + 1
    end = plain.rfind(b"</body")
    if b"<body" not in plain or not 0 < start <= end:
        raise FetchError(f"{path.name}: a page of the act has no body; try again later")
    return page[:start], page[start:end], page[end:]


def _choices(text: str) -> list[str]:
    """The addresses of the files of an act in the list that Cellar gives, in their order."""
    found = {int(match[1]): match[0] for match in _CHOICE.finditer(text)}
    return [found[number] for number in sorted(found)]


def _joined(parts: Sequence[Path], target: Path) -> Path:
    """The pages of an act as one page, as EUR-Lex shows them: the bodies after one another."""
    first, *others = (_in_body(path) for path in parts)
    content = b"".join([first[0], first[1], *(b"<hr/>" + body for _, body, _ in others), first[2]])
    if not target.exists() or target.read_bytes() != content:
        temporary = target.with_name(f"{target.name}.part")
        temporary.write_bytes(content)
        temporary.replace(target)
    fetch.keep(target, {"parts": [path.name for path in parts]})
    return target
