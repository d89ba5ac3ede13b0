"""PDF."""

from __future__ import annotations

import zlib

HELLO = b"BT /F1 12 Tf 72 720 Td (1.1 A Firm must keep records.) Tj ET"


def pdf(objects: list[bytes], trailer: bytes = b"") -> bytes:
    """A file of objects, numbered from 1, the first being the catalogue."""
    content, places = b"%PDF-1.7\n", []
    for number, each in enumerate(objects, start=1):
        places.append(len(content))
        content += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    start = len(content)
    content += b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table)
    return content + b"trailer\n<< /Size %d /Root 1 0 R %s>>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        trailer,
        start,
    )


def stream(content: bytes, settings: bytes = b"", length: int | None = None) -> bytes:
    return b"<< /Length %d %s>>\nstream\n%s\nendstream" % (
        len(content) if length is None else length,
        settings,
        content,
    )


def pages(content: bytes, kids: bytes = b"3 0 R", count: int = 1) -> list[bytes]:
    return [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, count),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> /XObject << /X 6 0 R >> >> >>",
        content,
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]


def files() -> dict[str, tuple[bytes, str]]:
    """Whether a reader mends a damaged file is its own affair; so most may go in or not ("?")."""
    good = pdf(pages(stream(HELLO)))
    bomb = zlib.compress(b" " * (64 << 20), 9)
    form = stream(b"/X Do", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> >>")
    locked = (
        b"/Encrypt << /Filter /Standard /V 1 /R 2 /O ("
        + b"x" * 32
        + b") /U ("
        + b"y" * 32
        + b") /P -4 >> /ID [<00><00>] "
    )
    return {
        "empty.pdf": (b"", "."),
        "text-inside.pdf": (b"A Firm must keep records.", "."),
        "head-only.pdf": (b"%PDF-1.7\n", "."),
        "cut.pdf": (good[:200], "."),
        "cut-table.pdf": (good[:-60], "?"),
        "no-pages.pdf": (pdf([b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [] /Count 0 >>"]), "."),
        "claims-pages.pdf": (pdf(pages(stream(HELLO), count=10**9)), "?"),
        "page-loop.pdf": (pdf(pages(stream(HELLO), kids=b"2 0 R")), "?"),
        "page-repeated.pdf": (pdf(pages(stream(HELLO), kids=b"3 0 R " * 20_000, count=20_000)), "?"),
        "form-loop.pdf": (pdf([*pages(stream(b"/X Do " + HELLO)), form]), "?"),
        "claims-1-gb.pdf": (pdf(pages(stream(HELLO, length=1 << 30))), "?"),
        "bomb.pdf": (pdf(pages(stream(bomb, b"/Filter /FlateDecode "))), "?"),
        "bomb-twice.pdf": (pdf(pages(stream(zlib.compress(bomb), b"/Filter [/FlateDecode /FlateDecode] "))), "?"),
        "encrypted.pdf": (pdf(pages(stream(HELLO)), locked), "."),
        "deep-arrays.pdf": (pdf([*pages(stream(HELLO)), b"[" * 50_000 + b"]" * 50_000]), "?"),
        "infinite-box.pdf": (pdf(pages(stream(HELLO))).replace(b"[0 0 612 792]", b"[0 0 9e99 1 ]"), "?"),
        "script.pdf": (
            pdf(pages(stream(HELLO))).replace(b"/Pages 2 0 R >>", b"/Pages 2 0 R /OpenAction << /S /JavaScript /JS (app.alert(1)) >> >>"), "?",
        ),
        "zip-inside.pdf": (b"PK\x03\x04" + bytes(range(256)), "."),
    }  # fmt: skip
