"""Where a hub model's files are, which they are, and how they are opened: first without the network, then with it."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import logging
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from responsa.errors import InputError, MissingDependency, ModelError, NotFound, ResponsaError
from responsa.text import digest

T = TypeVar("T")

_HUB_ID = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")
_WHAT = "a model that runs on PyTorch"
_LIBRARIES = {"hub": "sentence_transformers", "late": "pylate"}
_PATIENCE = 10  # seconds that the hub has to say that it is there
_TELLING = ["config.json", "modules.json", "config_sentence_transformers.json"]
_UNREAD = (".md", ".gitattributes")  # files that change nothing


@dataclass(frozen=True)
class Source:
    """A model: its id on the hub, or the path of a folder on this machine. ``trust_remote_code`` lets it bring and
    run Python of its own."""

    model: str
    trust_remote_code: bool = False
    extra: str = "hub"  # that brings the library which runs it

    def __post_init__(self) -> None:
        if self._local() is None and not _HUB_ID.fullmatch(self.model):
            raise NotFound(f"no model folder {self.model!r}; give a folder that exists or a hub id: organisation/model")

    @property
    def reference(self) -> str:
        """What the libraries are told: the folder, or the id."""
        return str(self._local() or self.model)

    @property
    def short(self) -> str:
        """The id, or the folder's last name."""
        local = self._local()
        return local.resolve().name if local else self.model

    @property
    def fingerprint(self) -> str:
        """Changes with the files: a digest of a folder's content, the commit of a model of the hub."""
        local = self._local()
        if local:
            return _content(local)
        return self._downloaded().name

    def folder(self) -> Path:
        """Where the files lie. A model of the hub may have to be fetched first."""
        return self._local() or self._downloaded()

    def load(self, what: str, make: Callable[[bool], T]) -> T:
        """What ``make`` makes of the files; it is told whether to keep off the network.

        ModelError that names the model and the fix where the files are not to be had or are no ``what``.
        """
        if self._local() is None and self._cached() is None:
            self._reachable()
            return self._attempt(what, lambda: make(False))
        try:
            return self._attempt(what, lambda: make(True))
        except ModelError as error:
            if self._local() or _offline() or (self._brings_code() and not self.trust_remote_code):
                raise
            try:
                self._reachable()
            except ModelError:
                raise error from None
            return self._attempt(what, lambda: make(False))  # a file was missing in the cache

    def needs(self, kind: str, types: Sequence[str], architecture: str) -> None:
        """ModelError where the model is no ``kind``: the libraries would put layers of random weights on it.

        ``types`` are what sentence-transformers calls such models; a folder that is not in its format tells by
        the name of its network, which holds ``architecture``.
        """
        told = self._json("config_sentence_transformers.json").get("model_type")
        if told is None and self.in_modules:
            told = "SentenceTransformer"  # what its folders were before they told
        network = str(self._json("config.json").get("architectures") or "none")
        if told not in types and (told is not None or architecture not in network):
            raise ModelError(
                f"{self.model}: is no {kind}: its config says {told or network}; a model of another kind is needed here"
            )

    @property
    def in_modules(self) -> bool:
        """Whether it is in the format of sentence-transformers, which tells every step from text to vector."""
        return (self.folder() / "modules.json").is_file()

    def _json(self, name: str) -> dict[str, object]:
        try:
            found = json.loads((self.folder() / name).read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _local(self) -> Path | None:
        path = Path(self.model).expanduser()
        return path if path.is_dir() else None

    def _cached(self) -> Path | None:
        """The newest snapshot in the local cache of the hub."""
        hub = _hub()
        try:
            return Path(hub.snapshot_download(self.model, cache_dir=cache_folder(), local_files_only=True))
        except (OSError, ValueError):
            return None

    def _downloaded(self) -> Path:
        found = self._cached()
        if found is None:
            self._reachable()
            # Weights come when the model is opened; these small files tell its commit and kind.
            fetch = partial(_hub().snapshot_download, self.model, cache_dir=cache_folder(), allow_patterns=_TELLING)
            found = Path(self._attempt("model", fetch))
        return found

    def _brings_code(self) -> bool:
        return "auto_map" in self._json("config.json")

    def _reachable(self) -> None:
        """Ask the hub once for the model: the libraries' own retries take a minute without a network."""
        if importlib.util.find_spec(_LIBRARIES[self.extra]) is None:
            raise MissingDependency(_WHAT, self.extra)
        fix = (
            "fetch it once on a machine with a network, or give the path of a folder with its files: "
            f"{'pylate' if self.extra == 'late' else 'hf'}:/path/to/{self.model.rpartition('/')[2]}"
        )
        if _offline():
            raise ModelError(
                f"{self.model}: is not in the local cache, and HF_HUB_OFFLINE forbids to fetch it; unset it, or {fix}"
            )
        try:
            _hub().HfApi().model_info(self.model, timeout=_PATIENCE)
        except Exception as error:
            status = getattr(getattr(error, "response", None), "status_code", None)
            if status in (401, 403, 404):
                raise ModelError(
                    f"{self.model}: the hub has no such model for you (status {status}); check the name, and for a "
                    "gated or private model set HF_TOKEN"
                ) from error
            raise ModelError(
                f"{self.model}: is not in the local cache and the hub cannot be reached ({_line(error)}); {fix}"
            ) from error

    def _attempt(self, what: str, act: Callable[[], T]) -> T:
        try:
            return act()
        except ResponsaError:
            raise
        except Exception as error:  # the libraries raise every kind
            if "trust_remote_code" in str(error):
                raise ModelError(
                    f"{self.model}: brings Python of its own, which is not run unless you trust it; read it, then add "
                    "trust_remote_code=yes to the model's name"
                ) from error
            raise ModelError(f"{self.model}: cannot be opened as a {what}: {_line(error)}") from error


def _line(error: BaseException) -> str:
    """The first line of an error, or its kind."""
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else type(error).__name__


def _offline() -> bool:
    return bool(_hub().constants.HF_HUB_OFFLINE)


def cache_folder() -> str | None:
    """Where models of the hub lie, if not where the hub's own library puts them."""
    return os.environ.get("SENTENCE_TRANSFORMERS_HOME") or None


def _content(folder: Path) -> str:
    """A digest of the files in a folder, but for cards and what is hidden."""
    found = []
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        hidden = any(part.startswith(".") or part == "__pycache__" for part in inside.parts)
        if path.is_file() and not hidden and path.suffix not in _UNREAD:
            told = path.stat()
            found.append([inside.as_posix(), _sha256(path, told.st_size, told.st_mtime_ns)])
    return digest(found)


@lru_cache(maxsize=1024)
def _sha256(path: Path, size: int, changed: int) -> str:
    del size, changed  # with them, a file that was replaced is read anew
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}") from error


def _hub() -> ModuleType:
    return _import("huggingface_hub", "hub")


def library(extra: str, *needed: str) -> ModuleType:
    """sentence-transformers (or PyLate, by its extra), quiet. MissingDependency where it is missing or lacks a name."""
    name = _LIBRARIES[extra]
    module = _import("pylate.models" if extra == "late" else name, extra)
    if any(not hasattr(module, each) for each in needed):
        raise MissingDependency(f"a model of this kind (a later version of {name})", extra)
    logging.getLogger("sentence_transformers").setLevel(logging.ERROR)
    transformers = _import("transformers", extra)
    transformers.utils.logging.set_verbosity_error()
    if not sys.stderr.isatty():
        transformers.utils.logging.disable_progress_bar()
        _hub().utils.disable_progress_bars()
    return module


def _import(name: str, extra: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingDependency(_WHAT, extra) from error


def above_zero(**settings: int | None) -> None:
    """InputError where a setting that is given is not at least 1."""
    for name, value in settings.items():
        if value is not None and value < 1:
            raise InputError(f"{name}: expected a number above 0, got {value}")


def named(source: Source, version: int, settings: Sequence[object]) -> str:
    """``model@digest`` of the files and all settings that change what the model gives."""
    return f"{source.short}@{digest([version, source.fingerprint, source.trust_remote_code, *settings])[:12]}"
