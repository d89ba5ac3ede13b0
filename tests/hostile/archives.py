"""Word files: ZIP archives of XML."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping

from hostile import markup

STORED = zipfile.ZIP_STORED
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
RULE = "<w:p><w:r><w:t>1.1 A Firm must keep records.</w:t></w:r></w:p>"


def part(body: str, prolog: str = "") -> str:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>{prolog}<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>'
    )


def archive(parts: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as packed:
        for name, content in parts.items():
            packed.writestr(name, content)
    return file.getvalue()


def document(body: str = RULE, **others: str | bytes) -> bytes:
    """A Word file; further parts by name without folder and suffix."""
    return archive({"word/document.xml": part(body), **{f"word/{name}.xml": each for name, each in others.items()}})


def styles(*pairs: tuple[str, str]) -> str:
    """Styles that are based on others."""
    each = "".join(
        f'<w:style w:type="paragraph" w:styleId="{a}"><w:name w:val="{a}"/><w:basedOn w:val="{b}"/></w:style>'
        for a, b in pairs
    )
    return f'<w:styles xmlns:w="{W}">{each}</w:styles>'


def lying(size: int) -> bytes:
    """An archive whose headers give a part another size than it has."""
    content = bytearray(document(RULE * 20_000))
    local, central = content.find(b"PK\x03\x04"), content.find(b"PK\x01\x02")
    content[local + 22 : local + 26] = struct.pack("<I", size)
    content[central + 24 : central + 28] = struct.pack("<I", size)
    return bytes(content)


def flagged(bit: int) -> bytes:
    """An archive that says something of its parts in the general flags, such as encrypted."""
    content = bytearray(document())
    content[6] |= bit
    central = content.find(b"PK\x01\x02")
    content[central + 8] |= bit
    return bytes(content)


def overlapping() -> bytes:
    """Many names for the same packed bytes: small, and large when all are unpacked."""
    content = document("<w:p/>" * 3_000_000)
    at = content.find(b"PK\x01\x02")
    end = content.find(b"PK\x05\x06")
    entry = bytearray(content[at:end])
    entries = b""
    for k in range(900):
        entry[46 : 46 + 4] = f"{k:04}".encode()
        entries += bytes(entry)
    tail = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 900, 900, len(entries), at, 0)
    return content[:at] + entries + tail


def files() -> dict[str, tuple[bytes, str]]:
    return {**_word(), **_packages()}


def _packages() -> dict[str, tuple[bytes, str]]:
    """Packages of EU law."""
    laughs = markup.xml('<!DOCTYPE ACT [<!ENTITY a "b">]>', "&a;")
    return {
        "empty.fmx4": (b"", "is empty"),
        "no-act.fmx4": (archive({"readme.txt": "x"}), "no package of one act"),
        "two-acts.fmx4": (archive({"a.xml": markup.ACT, "b.xml": markup.ACT}), "no package of one act"),
        "laughs.fmx4": (archive({"a.xml": laughs}), "defines names of its own"),
        "bomb.fmx4": (archive({"a.xml": b" " * (64 << 20)}), "larger than"),
        "deep.fmx4": (archive({"a.xml": b"<a>" * 10_000 + b"</a>" * 10_000}), "nested too deeply"),
        "parent-name.fmx4": (archive({"../../../evil.xml": markup.ACT}), ""),
    }


def _word() -> dict[str, tuple[bytes, str]]:
    good = document()
    big = b"<a>" + b" " * (64 << 20)
    laughs = '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    secret = '<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
    text = "<w:p><w:r><w:t>{}</w:t></w:r></w:p>"
    numbered = '<w:p><w:pPr><w:numPr><w:ilvl w:val="{}"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>A rule.</w:t></w:r></w:p>'
    loop = (
        f'<w:numbering xmlns:w="{W}"><w:abstractNum w:abstractNumId="0"><w:numStyleLink w:val="x"/><w:styleLink w:val="x"/>'
        '<w:lvl w:ilvl="0"><w:start w:val="999999"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1%1%9"/></w:lvl>'
        '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>'
    )  # fmt: skip
    return {
        "empty.docx": (b"", "is empty"),
        "text-inside.docx": (b"A Firm must keep records.", "damaged"),
        "cut.docx": (good[: len(good) // 2], "damaged"),
        "cut-directory.docx": (good[:-10], "damaged"),
        "old-or-encrypted.docx": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 512, "encrypted"),
        "encrypted.docx": (flagged(1), "encrypted"),
        "no-document.docx": (archive({"readme.txt": "x"}), "no Word document"),
        "no-body.docx": (archive({"word/document.xml": f'<w:document xmlns:w="{W}"/>'}), "no Word document"),
        "no-text.docx": (document("<w:p/>"), "no text"),
        "bomb.docx": (archive({"word/document.xml": part(RULE), "word/media.bin": big}), "larger than"),
        "bomb-document.docx": (archive({"word/document.xml": b"<a>" + b" " * (20 << 20)}), "times larger"),
        "nested-bomb.docx": (archive({"word/document.xml": part(RULE), "word/inner.zip": archive({"a": big})}), ""),
        "lies-small.docx": (lying(100), "damaged"),
        "lies-1-gb.docx": (lying(1 << 30), "larger than"),
        "overlapping.docx": (overlapping(), "larger than"),
        "many-parts.docx": (archive({f"word/{k}.xml": b"" for k in range(6_000)}, zipfile.ZIP_STORED), "holds 6,000 parts"),
        "packed-otherwise.docx": (archive({"word/document.xml": part(RULE)}, zipfile.ZIP_LZMA), "packed in a way"),
        "two-of-a-name.docx": (_twice(), "two parts of one name"),
        "parent-names.docx": (archive({"word/document.xml": part(RULE), "../../evil.txt": "x", "/etc/evil": "x", "C:\\evil": "x"}), ""),
        "parent-target.docx": (archive({"_rels/.rels": _relations("../../../../etc/passwd"), "x": "x"}), "no Word document"),
        "external-target.docx": (
            archive({"_rels/.rels": _relations("http://127.0.0.1:9/x", ' TargetMode="External"'), "word/document.xml": part(RULE)}), "",
        ),
        "laughs.docx": (archive({"word/document.xml": part(text.format("&b;"), laughs)}), "defines names of its own"),
        "external-entity.docx": (archive({"word/document.xml": part(text.format("&a;"), secret)}), "defines names of its own"),
        "laughs-in-styles.docx": (document(RULE, styles=f'{laughs}<w:styles xmlns:w="{W}"/>'), "defines names of its own"),
        "style-loop.docx": (
            document('<w:p><w:pPr><w:pStyle w:val="a"/></w:pPr><w:r><w:t>A rule.</w:t></w:r></w:p>', styles=styles(("a", "b"), ("b", "a"))), "",
        ),
        "numbering-loop.docx": (document(numbered.format(0) + numbered.format(7) + numbered.format(10**9), numbering=loop), ""),
        "deep.docx": (document("<w:sdt>" * 10_000 + RULE + "</w:sdt>" * 10_000), "damaged"),
        "deep-tables.docx": (document("<w:tbl><w:tr><w:tc>" * 70 + RULE + "</w:tc></w:tr></w:tbl>" * 70), ""),
        "wide-spans.docx": (
            document("<w:tbl>" + '<w:tr><w:tc><w:tcPr><w:gridSpan w:val="999999999"/></w:tcPr></w:tc><w:tc>' + RULE + "</w:tc></w:tr></w:tbl>"), "",
        ),
        "not-xml.docx": (archive({"word/document.xml": b"\x00\x01\x02"}), "is damaged"),
        "pdf-inside.docx": (b"%PDF-1.7\n", "damaged"),
    }  # fmt: skip


def _relations(target: str, mode: str = "") -> str:
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    return (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="a" Type="{kind}" Target="{target}"{mode}/></Relationships>'
    )


def _twice() -> bytes:
    """The first part is renamed to the second, so that no warning of the writer is needed."""
    content = archive({"word/document.xmm": part(RULE), "word/document.xml": part(RULE)})
    return content.replace(b"word/document.xmm", b"word/document.xml")
