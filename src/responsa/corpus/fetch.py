"""Downloads from one server, one after the other: politely, within limits, resumed after a cut, and checked.

A download is a file ``NAME`` with what is known of it in ``NAME.http.json``: addresses, headers, sha256. While it
comes, it is ``NAME.part``. A file whose bytes do not have the sha256 on record counts as not there.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urljoin, urlsplit, urlunsplit

from responsa.errors import FetchError, InputError, MissingDependency
from responsa.pacing import Clock, pause, retry_after
from responsa.storage import write_json

if TYPE_CHECKING:
    import httpx

Progress = Callable[[int, int, str], None]
Check = Callable[[Path], str]
"""What is wrong with a file that has come; empty where nothing is."""

CLOCK = Clock()
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_HOPS = 5
_ABSENT = frozenset({400, 404, 406, 410, 415})  # Cellar says 400 of a form that it does not know
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PASSING = frozenset({408, 425, 429})  # and everything from 500 on
_KEPT = ("content-type", "content-length", "content-language", "etag", "last-modified", "date", "content-location")
_SHORT = 1 << 20  # bytes of a list of choices
_SUM = re.compile(r"sha-256=:?([A-Za-z0-9+/]{43}=):?", re.IGNORECASE)
_SPAN = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


class Absent(FetchError):
    """The server has no such thing, or not in that form. ``choices`` are addresses that it offers instead."""

    def __init__(self, message: str, choices: str = "") -> None:
        super().__init__(message)
        self.choices = choices


class _Passing(Exception):
    """It may go better next time. ``wait`` is what the server asked for, in seconds."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


@dataclass(frozen=True)
class Request:
    """What to ask for: ``url``, in one of the media ``types``, into the file ``target``.

    ``most`` is how many bytes it may have, where that is less than any download may have. Where a file that is
    there says the ``same`` as the one that has come, though in other bytes, it stays.
    """

    url: str
    target: Path
    types: Sequence[str]
    check: Check
    headers: Mapping[str, str] = field(default_factory=dict)
    label: str = ""
    most: int | None = None
    same: Callable[[Path, Path], bool] = field(default=lambda _old, _new: False)

    @property
    def shown(self) -> str:
        """The address without the question."""
        return self.url.partition("?")[0]


@dataclass
class Downloads:
    """A client of the server at ``base``, to be closed. Requests begin at least ``delay`` seconds apart.

    What may pass (status 408, 425, 429 and 5xx, time-outs, lost connections, answers that cannot be used) is tried
    ``attempts`` times in all; a server that asks for a pause of more than ``patience`` seconds is not waited for. A
    download may have ``limit`` bytes and take ``seconds``. Redirects are followed on the same host alone.
    """

    base: str
    limit: int
    delay: float = 1.0
    timeout: float = 60.0
    seconds: float = 1800.0
    attempts: int = 5
    patience: float = 120.0
    progress: Progress | None = None
    clock: Clock = field(default_factory=lambda: CLOCK)
    _free_at: float = 0.0
    _client: httpx.Client | None = None

    def __post_init__(self) -> None:
        parts = _split(self.base)
        if parts is None or parts.query or parts.fragment:
            raise InputError(
                f"{self.base!r} is no address of a server; give one such as https://publications.europa.eu"
            )
        self.base = self.base.rstrip("/")

    def close(self) -> None:
        """End the connections."""
        if self._client is not None:
            self._client.close()

    def get(self, request: Request) -> Path:
        """The file, new or as it was kept. `Absent`, or FetchError when no attempt succeeds."""
        attempt = 0
        while True:
            attempt += 1
            try:
                self._attempt(request)
                return request.target
            except _Passing as error:
                if attempt >= self.attempts:
                    raise FetchError(f"{request.shown}: {error} (tried {attempt} times); try again later") from None
                if error.wait is not None and error.wait > self.patience:
                    raise FetchError(f"{request.shown}: {error}; try again in {error.wait:.0f} seconds") from None
                self.clock.sleep(pause(attempt, self.clock) if error.wait is None else error.wait)

    # One attempt

    def _attempt(self, request: Request) -> None:
        client = self._opened()
        import httpx

        try:
            self._follow(client, request)
        except httpx.ConnectError as error:
            raise _Passing(
                f"cannot be reached ({error or type(error).__name__}); check the network and the proxy settings,"
                " or take what is in the cache with --offline"
            ) from None
        except httpx.TimeoutException:
            raise _Passing(f"no answer within {self.timeout:g} seconds") from None
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            raise _Passing(f"the connection broke off ({error or type(error).__name__})") from None

    def _follow(self, client: httpx.Client, request: Request) -> None:
        url = request.url
        for _ in range(_HOPS + 1):
            self._take_turn()
            headers = {**request.headers, **_conditions(request.target, url), "Accept-Encoding": "identity"}
            with client.stream("GET", url, headers=headers) as response:
                if response.status_code not in _REDIRECTS:
                    self._take(response, request, url)
                    return
                url = self.within(url, response.headers.get("Location", ""))
        raise FetchError(f"{request.shown}: sends on and on, more than {_HOPS} times; try again later")

    def _take_turn(self) -> None:
        now = self.clock.monotonic()
        if self._free_at > now:
            self.clock.sleep(self._free_at - now)
        self._free_at = max(now, self._free_at) + self.delay

    def within(self, url: str, location: str) -> str:
        """Where a redirect or a link leads from ``url``: to the same server, or nowhere (FetchError)."""
        parts, home = _split(urljoin(url, location)) if location else None, urlsplit(self.base)
        if parts is None:
            raise FetchError(f"{url.partition('?')[0]}: sends on to {location[:100]!r}, which is no address of the web")
        if parts.scheme == "http" and home.scheme == "https" and parts.port in (None, 80):
            parts = parts._replace(scheme="https", netloc=parts.hostname or "")  # never less safe than it began
        if (parts.hostname, _port(parts)) != (home.hostname, _port(home)):
            where = f"{url.partition('?')[0]}: sends on to another server, {parts.netloc[:100]!r}"
            raise FetchError(f"{where}, which is not followed; set RESPONSA_CELLAR to it if you trust it")
        return urlunsplit(parts._replace(fragment=""))

    def _take(self, response: httpx.Response, request: Request, url: str) -> None:
        status = response.status_code
        if status == 304 and kept(request.target) is not None:
            return
        if status == 416:
            _discard_part(request.target)
            raise _Passing("cannot resume the download")
        if status in _PASSING or status >= 500:
            raise _Passing(f"status {status}", retry_after(response.headers.get("Retry-After"), self.clock))
        if status == 300:
            raise Absent(f"{request.shown}: offers several files", _short(response))
        if status in _ABSENT:
            raise Absent(f"{request.shown}: has no such text (status {status})")
        if status not in (200, 206):
            raise FetchError(f"{request.shown}: refuses the request (status {status}); try again later")
        media = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if media not in request.types:
            raise _Passing(f"answers {media[:60] or 'without a type'!r} where {request.types[0]!r} was due")
        if "X-SQL-State" in response.headers:  # Virtuoso, out of time, answers with the rows found until then
            raise _Passing("answers with a part of the list only")
        self._store(response, request, url)
        self._accept(response, request, url)

    def _store(self, response: httpx.Response, request: Request, url: str) -> None:
        """What comes into the part: after what is there where the server agrees, else from the beginning."""
        part = _part(request.target)
        plain = response.headers.get("Content-Encoding", "identity").lower() == "identity"
        start, total = _place(response, part)
        if start == 0:
            _discard_part(request.target)
            part.parent.mkdir(parents=True, exist_ok=True)
            validator = _validator(response) if plain else ""
            if validator:
                write_json({"url": url, "validator": validator}, _record(part))
        most = min(self.limit, request.most or self.limit)
        if total is not None and total > most:
            self._too_large(request)
        taken, deadline = start, self.clock.monotonic() + self.seconds
        with part.open("ab") as file:
            for piece in response.iter_raw() if plain else response.iter_bytes():
                file.write(piece)
                taken += len(piece)
                if taken > most:
                    self._too_large(request)
                if self.clock.monotonic() > deadline:
                    raise _Passing(f"was not complete within {self.seconds:g} seconds")
                if self.progress:
                    self.progress(taken, total or taken, request.label)
        if plain and total is not None and taken != total:
            raise _Passing(f"was cut off after {taken:,} of {total:,} bytes")

    def _too_large(self, request: Request) -> None:
        _discard_part(request.target)
        if request.most:
            raise FetchError(f"{request.shown}: is larger than {request.most:,} bytes, as no such answer is")
        raise FetchError(f"{request.shown}: is larger than {self.limit >> 20} MiB; allow more with --max-size")

    def _accept(self, response: httpx.Response, request: Request, url: str) -> None:
        """Make the part the file, if it is what it should be."""
        part = _part(request.target)
        found = sha256_of(part)
        promised = [base64.b64decode(each).hex() for name in ("Repr-Digest", "Digest")
                    for each in _SUM.findall(response.headers.get(name, ""))]  # fmt: skip
        problem = "checksum mismatch: what came is not what was sent" if set(promised) - {found} else ""
        problem = problem or request.check(part)
        if problem:
            _discard_part(request.target)
            raise _Passing(problem)
        if kept(request.target) is not None and request.same(request.target, part):
            _discard_part(request.target)
            return
        part.replace(request.target)
        headers = {name: response.headers[name] for name in _KEPT if name in response.headers}
        keep(request.target, {"asked": request.url, "url": url, **request.headers, "headers": headers}, found)
        _discard_part(request.target)

    def _opened(self) -> httpx.Client:
        try:
            import httpx
        except ImportError as error:
            raise MissingDependency("fetching from the network", "fetch") from error
        import ssl
        from importlib.metadata import version

        if self._client is None:
            local = urlsplit(self.base).hostname in _LOOPBACK  # never through a proxy
            plain = local and self.base.startswith("http:")  # no certificates: loading them takes 25 ms
            try:
                self._client = httpx.Client(
                    timeout=self.timeout,
                    trust_env=not local,
                    follow_redirects=False,
                    verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True,
                    headers={"User-Agent": f"Responsa/{version('responsa')} (reads EU law into a local library)"},
                )
            except (ImportError, ValueError, OSError) as error:  # a proxy or certificates that it cannot use
                raise FetchError(
                    f"the proxy or certificate settings of this machine cannot be used ({error}); mend HTTPS_PROXY,"
                    " ALL_PROXY or SSL_CERT_FILE"
                ) from None
        return self._client


def kept(target: Path) -> dict[str, object] | None:
    """What is on record of a file that is there and whole."""
    try:
        record = json.loads(_record(target).read_bytes())
        if isinstance(record, dict) and record.get("sha256") == sha256_of(target):
            return record
    except (OSError, ValueError, RecursionError):
        pass
    return None


def keep(target: Path, about: Mapping[str, object], sha256: str | None = None) -> None:
    """Put a file on record."""
    fetched = datetime.now(UTC).isoformat(timespec="seconds")
    record = {"sha256": sha256 or sha256_of(target), "size": target.stat().st_size, "fetched_at": fetched}
    write_json({**record, **about}, _record(target))


def forget(target: Path) -> None:
    """Delete a file and what is known of it."""
    _discard_part(target)
    for path in (target, _record(target)):
        path.unlink(missing_ok=True)


def records(folder: Path, pattern: str) -> Iterator[tuple[Path, str]]:
    """The files on record whose names match, each with its sha256; their bytes are not looked at."""
    for path in sorted(folder.glob(f"{pattern}.http.json")):
        with contextlib.suppress(OSError, ValueError, RecursionError):
            record = json.loads(path.read_bytes())
            target = path.with_name(path.name.removesuffix(".http.json"))
            if isinstance(record, dict) and target.exists():
                yield target, str(record.get("sha256"))


def sha256_of(path: Path) -> str:
    """The sha256 of a file's bytes in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _record(target: Path) -> Path:
    return target.with_name(f"{target.name}.http.json")


def _part(target: Path) -> Path:
    return target.with_name(f"{target.name}.part")


def _discard_part(target: Path) -> None:
    for path in (_part(target), _record(_part(target))):
        path.unlink(missing_ok=True)


def _conditions(target: Path, url: str) -> dict[str, str]:
    """The headers that ask for what is missing only: nothing where the file is as it was, the rest of a part."""
    part = _part(target)
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        about = json.loads(_record(part).read_bytes())
        if about["url"] == url and part.stat().st_size:
            return {"Range": f"bytes={part.stat().st_size}-", "If-Range": str(about["validator"])}
    record = kept(target)
    headers = record.get("headers") if record and record.get("url") == url else None
    if not isinstance(headers, dict):
        return {}
    asked = {"If-None-Match": headers.get("etag"), "If-Modified-Since": headers.get("last-modified")}
    return {name: str(value) for name, value in asked.items() if value}


def _validator(response: httpx.Response) -> str:
    """What says that the rest of a download is of the same bytes: never a weak tag (RFC 9110, section 13.1.5)."""
    tag = str(response.headers.get("ETag", ""))
    return tag if tag.startswith('"') else "" if tag else str(response.headers.get("Last-Modified", ""))


def _place(response: httpx.Response, part: Path) -> tuple[int, int | None]:
    """Where in the file the answer begins, and the file's length where it is said."""
    length = response.headers.get("Content-Length", "")
    if response.status_code == 200:
        return 0, int(length) if length.isdecimal() else None
    found = _SPAN.fullmatch(response.headers.get("Content-Range", "").strip())
    if found is None or not part.exists() or int(found[1]) != part.stat().st_size:
        part.unlink(missing_ok=True)
        raise _Passing("resumes the download at another place than asked for")
    return int(found[1]), int(found[2]) if found[2].isdecimal() else None


def _short(response: httpx.Response) -> str:
    content = bytearray()
    for piece in response.iter_bytes():
        content += piece
        if len(content) > _SHORT:
            break
    return content.decode("utf-8", "replace")


def _split(url: str) -> SplitResult | None:
    """The parts of an address of the web; None for anything else."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    usable = usable and parts.username is None and parts.password is None and url.isprintable() and " " not in url
    return parts if usable else None


def _port(parts: SplitResult) -> int:
    return int(parts.port or (443 if parts.scheme == "https" else 80))
