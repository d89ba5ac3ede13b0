"""Dense retrieval: its artefacts in the life of a library."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import add, cli, failures, remove, write_rulebook
from responsa.corpus.library import Library
from responsa.errors import ModelError, NotFound
from responsa.retrieval import vectors, windowed
from responsa.retrieval.vectors import Dense
from responsa.testing import LocalServer
from responsa.types import Query

WORDS = ("ferry", "goat", "captain")


class Counting:
    """An encoder whose vectors count a few words."""

    name = "counting"
    dimension = len(WORDS)

    def __init__(self):
        self.encoded = 0

    def encode(self, texts, kind):
        self.encoded += len(texts) if kind == "passage" else 0
        return np.array([[text.lower().count(word) for word in WORDS] for text in texts], dtype=np.float32)


@pytest.fixture
def encoder(monkeypatch):
    encoder = Counting()
    monkeypatch.setattr(vectors, "load_encoder", lambda name: encoder)
    vectors.open_view.cache_clear()
    return encoder


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "library"


@pytest.fixture
def rules(folder, tmp_path):
    rules = tmp_path / "rules"
    for name in (*WORDS, "a", "b", "c"):
        write_rulebook(rules / f"{name}.md", [f"A {name} must act."])
    add(folder, rules)
    return rules


def search(folder, text):
    with Library.open(folder) as opened:
        run = Dense("counting")([Query("q", text)], opened.corpus(), 1)
    return [hit.passage_id for hit in run.rankings["q"].hits]


def test_vectors_of_every_version_are_kept_while_it_is_live(folder, rules, encoder):
    assert search(folder, "goat") == ["goat/1.1"]
    assert encoder.encoded == 6
    write_rulebook(rules / "d.md", ["A d must act."])
    add(folder, rules)  # deletes indexes that are not needed any more
    assert search(folder, "captain") == ["captain/1.1"]
    assert encoder.encoded == 7
    remove(folder, "captain")
    assert len(list((folder / "artefacts").glob("vectors-*"))) == 6
    assert failures(folder) == []


def test_a_document_removed_while_it_is_encoded(folder, rules, encoder):
    with Library.open(folder) as opened:
        corpus = opened.corpus()
        remove(folder, "goat")
        with pytest.raises(NotFound, match="document 'goat' was removed while it was being read; ask again"):
            Dense("counting").prepare(corpus)
    add(folder, rules)
    assert search(folder, "goat") == ["goat/1.1"]


def test_vectors_deleted_while_they_are_being_opened_are_made_again(folder, rules, encoder, monkeypatch):
    opening = vectors.open_view
    gone = []

    def open_view(paths, *settings):
        if len(gone) < 2:
            gone.append(paths[0].rename(paths[0].with_name(f".discarded-{len(gone)}")))
        return opening(paths, *settings)

    monkeypatch.setattr(vectors, "open_view", open_view)
    assert search(folder, "ferry") == ["ferry/1.1"]
    assert len(gone) == 2


def test_altered_vectors_are_made_again(folder, rules, encoder):
    search(folder, "ferry")
    vectors.open_view.cache_clear()
    altered = next((folder / "artefacts").glob("vectors-*")) / "vectors.npy"
    altered.write_bytes(b"\xff" * altered.stat().st_size)
    assert search(folder, "ferry") == ["ferry/1.1"]
    assert failures(folder) == []


# --- a server whose model changes behind its name ------------------------------------------------------------------


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with LocalServer(dimension=16) as server:
        yield server


def state(folder, encoder):
    with Library.open(folder) as opened:
        return Dense(encoder).stored().state(opened.corpus())


def found(folder, encoder, text="goat"):
    with Library.open(folder) as opened:
        run = Dense(encoder)([Query("q", text)], opened.corpus(), 6)
        similar = Dense(encoder).similarities([Query("q", text)], opened.corpus())
    return len(run.rankings["q"].hits), similar.shape


@pytest.mark.parametrize("cache", ["on", "off"])
def test_vectors_of_another_length_are_refused_until_the_index_is_built_anew(folder, rules, server, cache):
    encoder = f"{server.url}#m?threads=1&attempts=1&cache={cache}"
    assert found(folder, encoder) == (6, (1, 6))
    server.dimension = 12
    if cache == "on":
        with pytest.raises(ModelError, match="gave vectors of 12 numbers, before they had 16"):
            found(folder, encoder, "ferry")
    with pytest.raises(ModelError, match=r"^http.*: gives vectors of 12 numbers, the index has vectors of 16.*"
                       "build the index anew with 'responsa index' and the same recipe"):  # fmt: skip
        found(folder, encoder, "ferry")
    assert state(folder, encoder) == (6, 6)
    told = cli(folder, "index", "--encoder", encoder)
    assert told.returncode == 0, told.stderr
    assert "encoded anew: 6 of 6 documents" in told.stderr
    assert state(folder, encoder) == (0, 0)
    assert found(folder, encoder, "ferry") == (6, (1, 6))
    assert failures(folder) == []


def test_a_document_added_after_the_change_is_encoded_with_all_the_others(folder, rules, server):
    encoder = f"{server.url}#m?threads=1&cache=off"
    found(folder, encoder)
    server.dimension = 12
    write_rulebook(rules / "d.md", ["A d must act."])
    add(folder, rules)
    with pytest.raises(ModelError, match="gives vectors of 12 numbers, the index has vectors of 16"):
        found(folder, encoder)
    with Library.open(folder) as opened:
        Dense(encoder).prepare(opened.corpus())
    assert found(folder, encoder) == (6, (1, 7))


def test_vectors_stay_where_new_ones_cannot_be_made(folder, rules, server):
    encoder = f"{server.url}#m?threads=1&attempts=1&cache=off"
    found(folder, encoder)
    server.faults("wrong-dimension")  # of the request for the dimension
    with Library.open(folder) as opened, pytest.raises(ModelError, match="its vectors have 16 numbers instead of 15"):
        Dense(encoder).prepare(opened.corpus())
    asked = len(server.requests)
    assert found(folder, encoder) == (6, (1, 6))
    assert len(server.requests) == asked + 2  # the question, twice


def test_a_model_whose_name_tells_its_content_is_not_asked_for_its_length(folder, rules, encoder, monkeypatch):
    search(folder, "goat")
    monkeypatch.setattr(Counting, "dimension", property(lambda _: pytest.fail("asked")))
    with Library.open(folder) as opened:
        Dense("counting").prepare(opened.corpus())
        assert Dense("counting").stored().state(opened.corpus()) == (0, 0)


def test_a_document_without_text_has_vectors_of_every_length(folder, rules, server, monkeypatch):
    encoder = f"{server.url}#m?threads=1&cache=off"
    present = windowed.present
    monkeypatch.setattr(windowed, "present", lambda corpus, one: present(corpus, one) if one.document_id != "a" else [])
    assert found(folder, encoder) == (5, (1, 5))
    server.dimension = 12
    assert state(folder, encoder) == (5, 5)
    with Library.open(folder) as opened:
        Dense(encoder).prepare(opened.corpus())
    assert state(folder, encoder) == (0, 0)
    assert found(folder, encoder) == (5, (1, 5))


def test_an_index_that_cannot_be_written_anew(folder, rules, server, monkeypatch):
    encoder = f"{server.url}#m?threads=1&cache=off"
    found(folder, encoder)
    server.dimension = 12
    monkeypatch.setattr("responsa.corpus.artefacts._write", read_only(folder))
    with Library.open(folder) as opened:
        stored = Dense(encoder).stored()
        paths = stored.paths(opened.corpus(), renew=True)
        assert {vectors.length_of(path) for path in paths} == {12}
        assert stored.state(opened.corpus()) == (6, 6)


def read_only(folder):
    from responsa.corpus import artefacts

    write = artefacts._write

    def refused(place, *rest, **more):
        if place.is_relative_to(folder):
            raise PermissionError(13, "Permission denied", str(place))
        return write(place, *rest, **more)

    return refused
