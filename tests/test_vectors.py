"""Dense retrieval: its artefacts in the life of a library."""

from __future__ import annotations

import numpy as np
import pytest

from helpers import add, failures, remove, write_rulebook
from responsa.corpus.library import Library
from responsa.errors import NotFound
from responsa.retrieval import vectors
from responsa.retrieval.vectors import Dense
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

    def open_view(paths):
        if len(gone) < 2:
            gone.append(paths[0].rename(paths[0].with_name(f".discarded-{len(gone)}")))
        return opening(paths)

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
