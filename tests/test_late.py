"""Late interaction: MaxSim worked by hand, against plain loops, and models of PyLate."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from responsa import config
from responsa.errors import ModelError, RecipeError
from responsa.retrieval import RETRIEVERS, late
from responsa.retrieval.late import Late
from responsa.retrieval.postings import write_strings
from responsa.types import Query

WORDS = {"ferry": (1.0, 0.0), "goat": (0.0, 1.0), "kid": (0.25, 0.75), "captain": (0.5, 0.5), "flood": (-1.0, -1.0)}


class Words:
    """A vector for each known word."""

    dimension = 2

    def __init__(self):
        self.name = "words"
        self.encoded = 0
        self.scale = 1.0

    def encode(self, texts, role):
        self.encoded += len(texts) if role == "passage" else 0
        return [
            np.array([WORDS[word] for word in text.split() if word in WORDS], dtype=np.float32).reshape(-1, 2)
            * self.scale
            for text in texts
        ]


@pytest.fixture
def encoder(monkeypatch):
    encoder = Words()
    monkeypatch.setattr(late, "load_late", lambda name: encoder)
    late.open_view.cache_clear()
    return encoder


def scores(stage, corpus, text, k=9):
    return [(hit.passage_id, hit.score) for hit in stage([Query("q", text)], corpus, k).rankings["q"].hits]


def test_maxsim_worked_by_hand(encoder, corpus_of):
    corpus = corpus_of(("a", "ferry kid"), ("b", "goat goat goat"), ("c", "captain"), ("d", "unknown"))
    # ferry: best of a 1, of b 0, of c .5; goat: best of a .75, of b 1, of c .5
    assert scores(Late("x"), corpus, "ferry goat")[:3] == [("a", 1.75), ("c", 1.0), ("b", 1.0)]
    # a question token counts each time
    assert scores(Late("x"), corpus, "goat goat ferry", k=1) == [("a", 2.5)]
    assert [score for _, score in scores(Late("x"), corpus, "nothing")] == [pytest.approx(1e-6)] * 4
    assert scores(Late("x"), corpus, "ferry goat")[3] == ("d", pytest.approx(1e-6))


def test_a_negative_similarity_counts_too(encoder, corpus_of):
    corpus = corpus_of(("a", "ferry flood"), ("b", "flood"))
    assert dict(scores(Late("x"), corpus, "flood ferry goat")) == {"a": 3.0, "b": pytest.approx(1e-6)}  # 2+1+0; 2-1-1


def test_the_best_window_counts(encoder, corpus_of):
    corpus = corpus_of(("a", "ferry x x goat"), ("b", "captain"))
    assert scores(Late("x"), corpus, "ferry goat") == [("a", 2.0), ("b", 1.0)]
    assert scores(Late("x", window=2, overlap=0), corpus, "ferry goat") == [("b", 1.0), ("a", 1.0)]


tokens = st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), max_size=4)


@settings(max_examples=60, deadline=None)
@given(
    stored=st.lists(st.lists(tokens, min_size=1, max_size=4), max_size=3),
    asked=st.lists(tokens, min_size=1, max_size=20),
    at_once=st.integers(1, 40),
)
def test_chunks_give_what_loops_give(tmp_path_factory, stored, asked, at_once):
    folder = tmp_path_factory.mktemp("tokens")
    paths, every = [], {}
    for number, windows in enumerate(stored):
        path = folder / str(number)
        path.mkdir()
        arrays = [np.array(rows, dtype=np.float16).reshape(-1, 2) for rows in windows]
        np.save(path / "tokens.npy", np.concatenate(arrays))
        np.save(path / "indptr.npy", np.cumsum([0, *map(len, arrays)]))
        np.save(path / "owner.npy", np.arange(len(arrays), dtype=np.int32))
        ids = [f"{9 - number}-{9 - place}" for place in range(len(arrays))]
        write_strings(ids, path)
        paths.append(path)
        every |= dict(zip(ids, windows, strict=True))
    view = late.open_view(tuple(paths))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(late, "_AT_ONCE", at_once)
        found = view.scores([np.array(rows, dtype=np.float32).reshape(-1, 2) for rows in asked])
    expected = np.zeros((len(asked), len(every)))
    for row, query in enumerate(asked):
        for column, name in enumerate(sorted(every)):
            if every[name]:
                expected[row, column] = sum(max(np.dot(q, d) for d in every[name]) for q in query)
    assert view.places.ids == sorted(every)
    assert np.array_equal(found, np.maximum(expected, 1e-6).astype(np.float32))


def test_artefacts_hold_sixteen_bits_a_number(encoder, corpus_of):
    corpus = corpus_of(("a", "ferry kid"), ("b", "goat"))
    stage = Late("x")
    assert not stage.ready(corpus)
    (path,) = stage.prepare(corpus)
    assert stage.ready(corpus)
    assert stage.prepare(corpus) == [path]
    assert encoder.encoded == 2
    stored = np.load(path / "tokens.npy")
    assert (stored.dtype, stored.shape) == (np.float16, (3, 2))
    encoder.name = "another"
    assert not stage.ready(corpus)
    encoder.scale = 1e6
    with pytest.raises(ModelError, match="another: gives numbers beyond 65,504"):
        stage.prepare(corpus)


def test_as_a_table_of_a_recipe():
    assert config.build({"kind": "late", "encoder": "hf:org/m"}, RETRIEVERS, "r") == Late("hf:org/m")
    with pytest.raises(RecipeError, match="late: overlap must be from 0 to below window, got 9 and 9"):
        config.build({"kind": "late", "encoder": "hf:org/m", "window": 9, "overlap": 9}, RETRIEVERS, "r")


def expected_maxsim(asked, passages):
    return {name: float((asked @ rows.T).max(axis=1).sum()) for name, rows in passages.items()}


TEXTS = {"a": "the firm must report law3", "b": "rule about days", "c": "when the regulator"}


def test_a_late_interaction_model_over_a_library(corpus_of, tmp_path):
    library = pytest.importorskip("sentence_transformers", reason="responsa[hub] is not installed")
    if not hasattr(library, "MultiVectorEncoder"):
        pytest.skip("sentence-transformers 6 is needed")
    from safetensors.numpy import load_file

    from tinymodels import states, tiny_bert, unit

    bert, folder = tiny_bert(tmp_path / "bert"), tmp_path / "colbert"
    library.MultiVectorEncoder(str(bert), device="cpu").save_pretrained(str(folder))
    (projection,) = (load_file(path)["linear.weight"] for path in folder.glob("*_Dense/model.safetensors"))

    def vectors(text):
        return unit(states(bert, text) @ projection.T)

    run = Late(f"hf:{folder}")([Query("q", "report law3")], corpus_of(*TEXTS.items()), 3)
    expected = expected_maxsim(vectors("report law3"), {name: vectors(text) for name, text in TEXTS.items()})
    assert dict(run.rankings["q"].hits) == pytest.approx(expected, rel=2e-3)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_a_model_of_pylate_over_a_library(corpus_of, tmp_path):
    """Marks before queries and passages, queries filled up with [MASK], which count but are not attended to."""
    pytest.importorskip("pylate", reason="responsa[late] is not installed")
    import torch
    import transformers
    from pylate import models

    from responsa.models.load import load_late
    from tinymodels import tiny_bert, unit

    bert, folder = tiny_bert(tmp_path / "bert"), tmp_path / "colbert"
    torch.manual_seed(3)
    made = models.ColBERT(
        str(bert), embedding_size=8, query_prefix="what", document_prefix="rule", query_length=10, document_length=30,
        skiplist_words=[], device="cpu",
    )  # fmt: skip
    made.save_pretrained(str(folder))
    projection = made[1].linear.weight.detach().numpy()
    tokenizer = transformers.AutoTokenizer.from_pretrained(bert)
    net = transformers.BertModel.from_pretrained(bert).eval()

    def vectors(text, mark, length=0):
        ids = tokenizer(text)["input_ids"]
        ids.insert(1, tokenizer.convert_tokens_to_ids(mark))
        seen = len(ids)
        ids += [tokenizer.mask_token_id] * (length - seen)
        mask = torch.tensor([[1] * seen + [0] * (len(ids) - seen)])
        with torch.no_grad():
            states = net(torch.tensor([ids]), attention_mask=mask).last_hidden_state[0].numpy()
        return unit(states @ projection.T)

    encoder = load_late(f"pylate:{folder}")
    (asked,) = encoder.encode(["report law3"], "query")
    assert np.allclose(asked, vectors("report law3", "what", 10), atol=1e-4)
    assert encoder.dimension == 8
    run = Late(f"pylate:{folder}")([Query("q", "report law3")], corpus_of(*TEXTS.items()), 3)
    expected = expected_maxsim(asked, {name: vectors(text, "rule") for name, text in TEXTS.items()})
    assert dict(run.rankings["q"].hits) == pytest.approx(expected, rel=2e-3)
    with pytest.raises(ModelError, match="is no late-interaction encoder"):
        load_late(f"pylate:{bert}").encode(["a"], "query")
