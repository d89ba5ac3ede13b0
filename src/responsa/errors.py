"""What can go wrong and is the user's to mend.

    ResponsaError
    ├── InputError            a question, option or file content that cannot be used
    │   ├── ReadError         a source file that cannot be read as what it claims to be
    │   └── RecipeError       a recipe that names an unknown key, kind or value
    ├── LibraryError          the library on disk
    │   ├── NotALibrary       the folder holds no library
    │   ├── LibraryTooNew     written by a later version of Responsa
    │   ├── LibraryBusy       another process is writing
    │   └── StorageError      disk full, folder read-only, file damaged
    ├── NotFound              no such document, passage, version or recipe
    ├── FetchError            a source on the network that cannot be reached, refuses or answers nonsense
    ├── ModelError            a model that cannot be reached, refuses or answers nonsense
    └── MissingDependency     an optional library is not installed

Every message says what was wrong, which value arrived and what to do. The command line prints it
without a traceback and exits with 1.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class ResponsaError(Exception):
    """Base of every error that Responsa raises on purpose."""


class InputError(ResponsaError):
    """A question, an option or the content of a file cannot be used."""


class ReadError(InputError):
    """A source file cannot be read as what it claims to be."""


class RecipeError(InputError):
    """A recipe names an unknown key, kind or value."""


class LibraryError(ResponsaError):
    """The library on disk cannot be used as asked."""


class NotALibrary(LibraryError):
    """The folder holds no library."""


class LibraryTooNew(LibraryError):
    """The library was written by a later version of Responsa."""


class LibraryBusy(LibraryError):
    """Another process is writing to the library."""


class StorageError(LibraryError):
    """The disk is full, the folder is read-only or a file is damaged."""


class NotFound(ResponsaError):
    """No document, passage, version or recipe of that name."""


class FetchError(ResponsaError):
    """A source on the network cannot be reached, refuses the request or answers what cannot be used."""


class ModelError(ResponsaError):
    """A model cannot be reached, refuses the request or answers what cannot be used."""


class MissingDependency(ResponsaError):
    """An optional library is not installed; the message has the command that brings it."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an optional library; install it with: pip install 'responsa[{extra}]'")


def suggestion(given: str, known: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` for the known name closest to the given one, else all the known names."""
    names = sorted(known)
    close = [name for name in names if name.casefold() == given.casefold()]
    close = close or difflib.get_close_matches(given, names, n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; known: {', '.join(names)}" if names else ""
