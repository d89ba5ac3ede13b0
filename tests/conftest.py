from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import struct
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from responsa import recipe, sample
from responsa.corpus import library
from responsa.corpus.library import Library
from responsa.corpus.view import Corpus
from responsa.engine import prepare


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of given data, which is no part of the project: RESPONSA_DATA, else ../shared/data."""
    root = Path(__file__).resolve().parents[1]
    folder = Path(os.environ.get("RESPONSA_DATA") or root.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no data at {folder}; set RESPONSA_DATA")
    return folder


@pytest.fixture(scope="session")
def library_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Library]]:
    """Makes an open library of files, given as names and contents; closed when the session ends."""
    with contextlib.ExitStack() as opened:

        def make(files: Mapping[str, str]) -> Library:
            folder = tmp_path_factory.mktemp("library")
            for name, content in files.items():
                (folder / name).write_text(content, encoding="utf-8")
            report = library.add(folder / "library", [folder / name for name in files], lambda _: None)
            assert not report.refused, report.refused
            return opened.enter_context(Library.open(folder / "library"))

        yield make


@pytest.fixture(scope="session")
def corpus_of(library_of: Callable[..., Library]) -> Callable[..., Corpus]:
    """Makes a corpus of passages: each an (id, text) pair, or a row of a JSONL file of passages."""

    def make(*passages: tuple[str, str] | Mapping[str, object]) -> Corpus:
        rows = [row if isinstance(row, Mapping) else {"id": row[0], "text": row[1]} for row in passages]
        return library_of({"rules.jsonl": "\n".join(json.dumps(row) for row in rows)}).corpus()

    return make


@pytest.fixture(scope="session")
def sample_library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """The sample rulebook, added as ``responsa add --sample`` adds it."""
    folder = tmp_path_factory.mktemp("sample") / "library"
    library.add(folder, [sample.rulebook()], prepare(recipe.load("bm25")))
    with Library.open(folder) as opened:
        yield opened


_ON_LOOPBACK = (
    "test_assessing_cli.py",
    "test_chat_cached.py",
    "test_chat_client.py",
    "test_chat_contract.py",
    "test_chat_docs.py",
    "test_chat_dryrun.py",
    "test_chat_load.py",
    "test_chat_server.py",
    "test_chat_structured.py",
    "test_experiment_answers.py",
    "test_experiment_answers_cli.py",
    "test_fetch.py",
    "test_generators_together.py",
    "test_judged_cli.py",
    "test_listwise.py",
    "test_listwise_cli.py",
    "test_models_http.py",
    "test_models_hub.py",
    "test_models_load.py",
    "test_testing.py",
    "test_verified_injections.py",
    "test_writing_cli.py",
    "contracts/test_models.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In a network namespace of one's own (``unshare -n``) even the loopback interface is down at first."""
    if _loopback():
        return
    skip = pytest.mark.skip(reason="the loopback interface is down and cannot be raised")
    for item in items:
        if item.nodeid.split("::")[0].endswith(_ON_LOOPBACK):
            item.add_marker(skip)


def _loopback() -> bool:
    """Whether 127.0.0.1 can be reached; raised first where it is down and we may."""
    for _ in range(2):
        with socket.socket() as server, socket.socket() as client:
            server.bind(("127.0.0.1", 0))
            server.listen()
            client.settimeout(1)
            try:
                client.connect(server.getsockname())
                return True
            except OSError:
                try:
                    # SIOCSIFFLAGS (0x8914) with IFF_UP | IFF_RUNNING.
                    fcntl.ioctl(client, 0x8914, struct.pack("16sh14x", b"lo", 0x1 | 0x40))
                except OSError:
                    return False
    return False
