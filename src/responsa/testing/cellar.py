"""Cellar, the EU's public store of its law, played back on this machine: negotiation, redirects, lists of versions.

    with CellarServer({"32013R0575": {"fmx4": archive}}) as server:
        server.faults("429:2", "cut:1000")

It answers as the public descriptions of Cellar say and as its users have reported; no answer was recorded from it.
A work has one content for each form: ``fmx4`` the bytes of an archive, ``xhtml`` or ``html`` one page or several.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qs, urlsplit

from responsa.testing.serving import Reply, Request, Scripted

FAULTS = {
    "slow": "answers well after SECONDS (slow:0.5)",
    "drop": "hangs up without an answer",
    "cut": "hangs up in the middle of the answer, or after so many bytes of it (cut:1000)",
    "page": "status 200 and a page of HTML that says that something went wrong",
    "empty": "status 200 and an empty body",
    "mislabelled": "status 200 and the type text/plain",
    "flipped": "changes a byte and sends the checksum of what it should have been",
    "moved": "redirects to another host (moved:ADDRESS)",
    "loop": "redirects to the same address",
}
_DATE = "Tue, 09 Jul 2024 10:00:00 GMT"
_TYPES = {
    "application/zip;mtype=fmx4": ("fmx4", "application/zip;mtype=fmx4"),
    "application/xhtml+xml": ("xhtml", "application/xhtml+xml;charset=UTF-8"),
    "text/html": ("html", "text/html;charset=UTF-8"),
}
_ERROR = b"<html><body><h1>Error</h1><p>We are sorry, something went wrong.</p></body></html>"

Work = Mapping[str, bytes | Sequence[bytes]]


class CellarServer(Scripted):
    """Works by their CELEX numbers, in English. ``validators``: "etag", "date", or "" for neither."""

    def __init__(self, works: Mapping[str, Work], *, validators: str = "etag") -> None:
        super().__init__(FAULTS)
        self.works = dict(works)
        self.validators = validators

    def _answer(self, method: str, path: str, headers: Mapping[str, str], raw: bytes) -> Reply | None:
        del raw
        name, argument = self._take(Request(path, headers, {"method": method}))
        if name == "drop":
            return None
        if name == "slow":
            self._stopping.wait(float(argument or 1))
        if name.isdigit():
            return _reply(int(name), b"", *([("Retry-After", argument)] if argument else []))
        fixed = {
            "page": _reply(200, _ERROR, ("Content-Type", "text/html")),
            "empty": _reply(200, b"", ("Content-Type", "application/zip")),
            "moved": _reply(303, b"", ("Location", argument)),
            "loop": _reply(303, b"", ("Location", path)),
        }
        reply = fixed.get(name) or self._resource(path, headers)
        if name == "cut":
            return Reply(reply.status, reply.body, reply.headers, int(argument or 0) or True)
        if name == "mislabelled":
            kept = [each for each in reply.headers if each[0] != "Content-Type"]
            return _reply(reply.status, reply.body, ("Content-Type", "text/plain"), *kept)
        if name == "flipped":
            promised = ("Repr-Digest", f"sha-256=:{_base64(hashlib.sha256(reply.body).digest())}:")
            return _reply(reply.status, b"\0" + reply.body[1:], promised, *reply.headers)
        return reply

    def _resource(self, path: str, headers: Mapping[str, str]) -> Reply:
        parts = urlsplit(path)
        if parts.path == "/webapi/rdf/sparql":
            return self._sparql(parse_qs(parts.query).get("query", [""])[0])
        if found := re.fullmatch(r"/resource/celex/([\w-]+)", parts.path):
            return self._negotiate(found[1], headers)
        if found := re.fullmatch(r"/resource/cellar/([\w-]+)\.(fmx4|xhtml|html)/(zip|DOC_(\d+))", parts.path):
            content = self.works.get(found[1], {}).get(found[2])
            pages = [content] if isinstance(content, bytes) else list(content or ())
            place = int(found[4] or 1) - 1
            if place < len(pages):
                media = next(kind for form, kind in _TYPES.values() if form == found[2])
                return self._content(pages[place], media, headers)
        return _missing()

    def _negotiate(self, celex: str, headers: Mapping[str, str]) -> Reply:
        """303 to the form asked for, 300 where it is in several files, 404 without it, 400 for what is no form."""
        work, accept = self.works.get(celex), headers.get("accept", "")
        if work is None:
            return _missing()
        if accept == "application/xml;notice=identifiers":
            return _reply(200, b"<NOTICE type='identifier'/>", ("Content-Type", "application/xml"))
        if accept not in _TYPES:
            return _reply(400, b"", ("Content-Type", "text/plain"))
        form, _ = _TYPES[accept]
        if form not in work or headers.get("accept-language") != "eng":
            return _missing()
        at = f"{self.address}/resource/cellar/{celex}.{form}"
        content = work[form]
        if isinstance(content, bytes):
            return _reply(303, b"", ("Location", f"{at}/zip" if form == "fmx4" else f"{at}/DOC_1"))
        items = "".join(f'<li><a href="{at}/DOC_{number}">item</a></li>' for number in range(1, len(content) + 1))
        return _reply(300, f"<html><body><ul>{items}</ul></body></html>".encode(), ("Content-Type", "text/html"))

    def _content(self, body: bytes, media: str, headers: Mapping[str, str]) -> Reply:
        """200 with its validators; 304 where the client has it, 206 where it asks for the rest of the same bytes."""
        tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        validator = {"etag": ("ETag", tag), "date": ("Last-Modified", _DATE)}.get(self.validators)
        shown = [("Content-Type", media), ("Content-Language", "en"), *([validator] if validator else [])]
        known = headers.get("if-none-match" if self.validators == "etag" else "if-modified-since")
        if validator and known == validator[1]:
            return _reply(304, b"", *shown)
        asked = re.fullmatch(r"bytes=(\d+)-", headers.get("range", ""))
        if asked and validator and headers.get("if-range") == validator[1]:
            start = int(asked[1])
            if start >= len(body):
                return _reply(416, b"", ("Content-Range", f"bytes */{len(body)}"))
            return _reply(206, body[start:], ("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}"), *shown)
        return _reply(200, body, *shown)

    def _sparql(self, query: str) -> Reply:
        """The numbers that begin as the query says; 400 for a query that asks for something else."""
        found = re.search(r'SELECT DISTINCT \?celex WHERE .*STRSTARTS\(STR\(\?celex\), "([\w-]+)"\)', query)
        if found is None or "PREFIX cdm: <http://publications.europa.eu/ontology/cdm#>" not in query:
            return _reply(400, b"Virtuoso 37000 Error", ("Content-Type", "text/plain"))
        rows = [
            {"celex": {"type": "typed-literal", "value": celex}}
            for celex in self.works
            if celex.startswith(found[1])
        ]  # fmt: skip
        body = {"head": {"vars": ["celex"]}, "results": {"distinct": False, "ordered": True, "bindings": rows}}
        return _reply(200, json.dumps(body).encode(), ("Content-Type", "application/sparql-results+json"))


def _reply(status: int, body: bytes, *headers: tuple[str, str]) -> Reply:
    return Reply(status, body, headers)


def _missing() -> Reply:
    return _reply(404, b"", ("Content-Type", "text/plain"))


def _base64(raw: bytes) -> str:
    from base64 import b64encode

    return b64encode(raw).decode()
