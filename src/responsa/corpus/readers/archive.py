"""ZIP archives that nobody vouches for, such as Word files: read in memory, with what they claim checked first.

Names within an archive are labels and never paths: nothing is written anywhere.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping

from responsa.corpus.limits import MIB, allowed
from responsa.corpus.readers.content import Fail, shown

_MOST_PARTS = 5000
_RATIO, _FREE = 200, 8 * MIB  # a part may become so many times larger; what ends up this small may be any ratio
_ENCRYPTED = 0x1
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_PIECE = 1 << 18


class Archive:
    """The parts of an archive by name. Reading them all costs no more than the limits say."""

    def __init__(self, content: bytes, fail: Fail) -> None:
        self._fail = fail
        self._left = allowed.get().expanded * MIB
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(content))
            members = self._zip.infolist()
        except (
            zipfile.BadZipFile,
            zlib.error,
            ValueError,
            OverflowError,
            NotImplementedError,
            EOFError,
            OSError,
        ) as error:
            fail(f"is cut off or damaged: no archive can be opened ({error}); save the file again")
        if len(members) > _MOST_PARTS:
            fail(f"holds {len(members):,} parts, more than {_MOST_PARTS:,}: it is no document; leave it out")
        if sum(member.file_size for member in members) > self._left:
            self._too_large()
        for member in members:
            if member.flag_bits & _ENCRYPTED:
                fail("is encrypted; save it without a password")
            if member.compress_type not in _METHODS:
                fail(f"part {shown(member.filename)} is packed in a way that documents do not use; save the file again")
        self._members: Mapping[str, zipfile.ZipInfo] = {member.filename.lstrip("/"): member for member in members}
        if len(self._members) < len(members):
            fail("holds two parts of one name, so that what it says depends on who reads it; save the file again")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parts."""
        return tuple(self._members)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def part(self, name: str) -> bytes:
        """The content of a part; empty where there is none. Refused where it grows beyond the limits."""
        member = self._members.get(name)
        if member is None:
            return b""
        pieces = []
        taken = 0
        try:
            with self._zip.open(member) as file:
                while piece := file.read(_PIECE):
                    taken += len(piece)
                    self._left -= len(piece)
                    if self._left < 0:
                        self._too_large()
                    if taken > _FREE and taken > _RATIO * max(member.compress_size, 1):
                        self._fail(
                            f"part {shown(name)} becomes more than {_RATIO} times larger when it is unpacked, as no"
                            " document does; leave it out"
                        )
                    pieces.append(piece)
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            NotImplementedError,
            ValueError,
            OSError,
            RuntimeError,
        ) as error:
            self._fail(f"part {shown(name)} is cut off or damaged ({error}); save the file again")
        return b"".join(pieces)

    def _too_large(self) -> None:
        self._fail(
            f"becomes larger than {allowed.get().expanded} MiB when it is unpacked; leave it out, or allow more with"
            " --max-expanded"
        )
