"""Models of a few thousand random weights in the formats of the hub, and what plain transformers and numpy make of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from learning import tiny_base

TEXTS = ("the firm must report law3 within days 4", "what about case2", "", "rule", "the regulator " * 8)


def tiny_bert(folder: Path, seed: int = 0, spread: float = 0.3) -> Path:
    """A plain BERT folder with a tokenizer that transformers opens."""
    from transformers import PreTrainedTokenizerFast

    tiny_base(folder, seed, spread)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "tokenizer.json"),
        pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]",
        model_max_length=64, model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )  # fmt: skip
    tokenizer.save_pretrained(folder)
    return folder


def with_head(bert: Path, folder: Path, head: str, labels: Sequence[str] = ("relevance",)) -> Path:
    """A folder of the transformers class ``head`` with new random weights."""
    import torch
    import transformers

    folder.mkdir()
    torch.manual_seed(1)
    config = transformers.BertConfig.from_pretrained(bert)
    config.id2label = dict(enumerate(labels))
    config.label2id = {label: place for place, label in enumerate(labels)}
    getattr(transformers, head)(config).save_pretrained(folder)
    transformers.PreTrainedTokenizerFast.from_pretrained(bert).save_pretrained(folder)
    return folder


def sentence_transformer(bert: Path, folder: Path, pooling: str, **settings: object) -> Path:
    """A sentence-transformers folder, written without the library: modules, pooling and config."""
    import shutil

    shutil.copytree(bert, folder)
    (folder / "1_Pooling").mkdir()
    kind = "sentence_transformers.models"
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": f"{kind}.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{kind}.Pooling"},
    ]
    modes = {f"pooling_mode_{name}": name == pooling for name in ("cls_token", "mean_tokens", "max_tokens")}
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": 32, **modes}))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 64}))
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings))
    return folder


def in_cache(folder: Path, cache: Path, name: str, commit: str = "0" * 40) -> None:
    """Put a model where the hub's library keeps what it has fetched."""
    import shutil

    place = cache / f"models--{name.replace('/', '--')}"
    shutil.copytree(folder, place / "snapshots" / commit)
    (place / "refs").mkdir()
    (place / "refs" / "main").write_text(commit)


def tokens_of(folder: Path, *texts: str, longest: int = 64) -> dict[str, list[list[int]]]:
    """The inputs of the network for one text, or for two read together."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(longest)
    encoding = tokenizer.encode(*texts)
    return {"input_ids": [encoding.ids], "token_type_ids": [encoding.type_ids]}


def outputs(folder: Path, head: str, inputs: dict[str, list[list[int]]]) -> np.ndarray:
    """What a class of transformers gives for one input: the states or logits of all its tokens, or of the pair."""
    import torch
    import transformers

    net = getattr(transformers, head).from_pretrained(folder).eval()
    with torch.no_grad():
        out = net(**{name: torch.tensor(rows) for name, rows in inputs.items()})
    return (out.last_hidden_state if head == "BertModel" else out.logits)[0].numpy()


def states(folder: Path, text: str, longest: int = 64) -> np.ndarray:
    """The last hidden states of a text's tokens."""
    return outputs(folder, "BertModel", tokens_of(folder, text, longest=longest))


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def poison(folder: Path, name: str = "embeddings.word_embeddings.weight") -> None:
    """Put NaN into a model's weights."""
    from safetensors.numpy import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    (key,) = [key for key in weights if key.endswith(name)]
    weights[key] = np.full_like(weights[key], np.nan)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
