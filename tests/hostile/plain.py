"""Plain text, Markdown and JSON."""

from __future__ import annotations

import json

TEXT = b"# Rules\n\n1.1 A Firm must keep records.\n"


def files() -> dict[str, tuple[bytes, str]]:
    row = {"id": "a", "text": "A rule."}
    return {
        "empty.txt": (b"", "is empty"),
        "blank.md": (b" \n\t\n", "is empty"),
        "nul.txt": (TEXT + b"\0" * 10, "is binary: NUL"),
        "latin-1.txt": (TEXT + "Gebühr".encode("latin-1"), "is not UTF-8"),
        "utf-16.txt": (TEXT.decode().encode("utf-16"), "is encoded as UTF-16"),
        "utf-32.md": (TEXT.decode().encode("utf-32"), "is encoded as UTF-32"),
        "cut-in-a-character.txt": (TEXT + "é".encode()[:1], "is not UTF-8"),
        "overlong.txt": (TEXT + b"\xc0\xaf..\xc0\xaf", "is not UTF-8"),
        "surrogate.txt": (TEXT + b"\xed\xa0\x80", "is not UTF-8"),
        "word-inside.txt": (b"PK\x03\x04" + bytes(range(256)), "is binary: NUL"),
        "never-closed.md": (b"---\ntitle: x\n", "the front matter is never closed"),
        "dates-reversed.md": (b"---\nvalid_from: 2024-01-02\nvalid_to: 2023-01-01\n---\n# T\n\n1.1 x\n", "lies before"),
        "brackets.md": (b"(" * 200_000, ""),
        "items.txt": (b"(a)" * 100_000, ""),
        "numbers.txt": (b"1." * 300_000 + b"\n", ""),
        "one-line.txt": (b"A Firm must keep records. " * 100_000, ""),
        "hashes.md": (b"#" * 300_000, ""),
        "nested-lists.md": (b"".join(b" " * k + b"(a) item\n" for k in range(2000)), ""),
        "deep.json": (b"[" * 100_000, "nested too deeply"),
        "deep-objects.json": (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested too deeply"),
        "cut.json": (json.dumps([{"ID": "1", "DocumentID": 1, "PassageID": "1", "Passage": "x"}]).encode()[:-9], "JSON"),
        "number.json": (b"[" + b"9" * 1_000_000 + b"]", "4300 digits"),
        "scalar.json": (b"12", "where a list"),
        "nan.jsonl": (b'{"id": "a", "text": NaN}', "NaN"),
        "half-a-character.jsonl": (b'{"id": "a", "text": "\\ud800"}', "half a character"),
        "id-twice.jsonl": (b"\n".join([json.dumps(row).encode()] * 2), "given twice"),
        "parent-loop.jsonl": (
            b"\n".join(json.dumps({"id": k, "parent": v, "text": "x"}).encode() for k, v in ("ab", "ba")),
            "parent",
        ),
        "path-id.jsonl": (json.dumps({"id": "../../../etc/passwd", "text": "A rule."}).encode(), ""),
        "html-inside.json": (b"<html><body>x</body></html>", "JSON"),
    }  # fmt: skip
