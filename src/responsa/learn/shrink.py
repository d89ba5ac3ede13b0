"""A smaller network to start from: the lowest layers of a base, and the word pieces that a body of text holds."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from responsa.errors import InputError, MissingDependency
from responsa.learn.base import Base
from responsa.storage import write_text

_LAYER = re.compile(r"encoder\.layer\.(\d+)\.")
_LATIN = 0x530  # below it: Latin, Greek and Cyrillic characters, with which any word of theirs can be written
_EMBEDDINGS = "word_embeddings.weight"


def shrink(base: Base, layers: int, texts: Iterable[str], folder: Path, least: int = 1) -> int:
    """Write the base to ``folder`` with its lowest ``layers`` and a smaller vocabulary; how many pieces that has.

    Kept are special pieces, single characters below U+0530, and every piece that occurs ``least`` times in ``texts``;
    a word that needs another falls into smaller pieces. InputError where the base has no such layers.
    """
    try:
        from safetensors.numpy import load_file, save_file
    except ImportError as error:
        raise MissingDependency("training", "train") from error

    config = json.loads((base.folder / "config.json").read_text(encoding="utf-8"))
    if not 1 <= layers <= config["num_hidden_layers"]:
        raise InputError(f"--layers: {base.name} has {config['num_hidden_layers']} layers, {layers} cannot be kept")
    tokenizer: dict[str, Any] = json.loads(base.tokenizer.read_text(encoding="utf-8"))
    old: dict[str, int] = tokenizer["model"]["vocab"]
    kept = sorted(_pieces(base.tokenizer, old, texts, least), key=old.__getitem__)
    _renumber(tokenizer, {piece: row for row, piece in enumerate(kept)})
    weights = {
        name: value[[old[piece] for piece in kept]] if name.endswith(_EMBEDDINGS) else value
        for name, value in load_file(base.folder / "model.safetensors").items()
        if (layer := _LAYER.search(name)) is None or int(layer[1]) < layers
    }
    folder.mkdir(parents=True, exist_ok=True)
    config |= {"num_hidden_layers": layers, "vocab_size": len(kept), "terms": base.terms}
    write_text(json.dumps(config, indent=1) + "\n", folder / "config.json")
    write_text(json.dumps(tokenizer, ensure_ascii=False) + "\n", folder / "tokenizer.json")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return len(kept)


def _pieces(path: Path, vocabulary: dict[str, int], texts: Iterable[str], least: int) -> set[str]:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    padding = tokenizer.padding
    tokenizer.no_truncation()
    tokenizer.no_padding()
    special = {token.content for token in tokenizer.get_added_tokens_decoder().values()}
    special.update(tokenizer.encode("").tokens)
    special.update((getattr(tokenizer.model, "unk_token", ""), (padding or {}).get("pad_token", "")))
    kept = {piece for piece in vocabulary if piece in special or _is_character(piece.removeprefix("##"))}
    seen: Counter[str] = Counter()
    for text in texts:
        seen.update(tokenizer.encode(text, add_special_tokens=False).tokens)
    return kept | {piece for piece, count in seen.items() if count >= least}


def _is_character(piece: str) -> bool:
    return len(piece) == 1 and ord(piece) < _LATIN


def _renumber(tokenizer: dict[str, Any], rows: dict[str, int]) -> None:
    """Put new rows in place of the old ones wherever the file names a piece with its row."""
    tokenizer["model"]["vocab"] = rows
    for token in tokenizer.get("added_tokens") or ():
        token["id"] = rows[token["content"]]
    processor = tokenizer.get("post_processor") or {}
    for token in (processor.get("special_tokens") or {}).values():
        token["ids"] = [rows[piece] for piece in token["tokens"]]
    for name in ("sep", "cls"):
        if name in processor:
            processor[name][1] = rows[processor[name][0]]
    if padding := tokenizer.get("padding"):
        padding["pad_id"] = rows[padding["pad_token"]]
