"""Makers of files that are broken or made to do harm, by name; each with what must become of it.

``files()`` are contents for plain names; ``place(folder)`` writes them, and what only a file system can hold (sparse
files, links, pipes, odd names), and returns for each what the reason of its refusal says, "" where it is harmless and
goes in.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from hostile import archives, markup, pdfs, plain

GOOD = "# Harbour Rules\n\n1.1 A Master must report the arrival of the vessel.\n"


def files() -> dict[str, tuple[bytes, str]]:
    """The content of each file and what its refusal says."""
    return {**plain.files(), **markup.files(), **archives.files(), **pdfs.files()}


def place(folder: Path) -> Mapping[Path, str]:
    """Write every file into the folder, which is made."""
    folder.mkdir()
    placed: dict[Path, str] = {}
    for name, (content, reason) in files().items():
        (folder / name).write_bytes(content)
        placed[folder / name] = reason
    for name in ("claims-1-gb.txt", "claims-1-gb.json", "claims-1-gb.docx", "claims-1-gb.html", "claims-1-tb.pdf"):
        with (folder / name).open("wb") as file:
            file.truncate(1 << (40 if "tb" in name else 30))
        placed[folder / name] = "is larger than"
    os.mkfifo(folder / "pipe.docx")
    placed[folder / "pipe.docx"] = "no regular file"
    (folder / "loop.html").symlink_to("loop.html")
    placed[folder / "loop.html"] = "symbolic links"
    (folder / "outside.html").symlink_to("/dev/zero")
    placed[folder / "outside.html"] = "no regular file"
    odd = Path(os.fsdecode(os.fsencode(folder) + b"/not-utf8-\xff.docx"))
    odd.write_bytes(archives.document())
    placed[odd] = "not valid Unicode"
    for name in ("new\nline.docx", "--help.html", "spaces and ‮bidi.docx", "..%2f..%2fpercent.docx"):
        (folder / name).write_bytes(archives.document() if name.endswith("docx") else markup.page("<p>A rule.</p>"))
        placed[folder / name] = ""
    return placed
