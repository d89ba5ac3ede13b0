"""From a trained network to a model folder that ONNX Runtime runs: graph, 8-bit weights, card, checksums."""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from responsa.errors import InputError, MissingDependency, ModelError, StorageError
from responsa.learn.base import Base, embed, is_marked, open_tokenizer, pair_logits
from responsa.learn.card import Account, Parity, write_card
from responsa.learn.evening import Feed, even
from responsa.learn.graph import HEAD, SEGMENT, Shape, encoder_graph, pair_graph
from responsa.learn.train import import_torch
from responsa.models import Vectors
from responsa.models.marks import segments
from responsa.models.onnx import GRAPH, SETTINGS, OnnxEncoder, OnnxPairScorer, Settings
from responsa.models.texts import OnnxTextScorer
from responsa.storage import write_json, write_text

if TYPE_CHECKING:
    import onnx
    import torch

LIMIT = 25_000_000  # bytes of a model folder
_EXACT = 1e-3  # by how much the unquantised graph may differ from the network


@dataclass(frozen=True)
class Plan:
    """What becomes of a network. ``probes`` are texts of an encoder, pairs of texts of a pair scorer, on which the
    model is compared with the network; those of a scorer of texts are pairs whose second text is empty."""

    kind: Literal["encoder", "pairs", "texts"]
    name: str
    base: Base
    max_length: int
    probes: Sequence[str] | Sequence[tuple[str, str]] = field(repr=False)
    labels: tuple[str, ...] = ()
    calibration: tuple[float, ...] = ()
    quantise: bool = True
    limit: int = LIMIT

    def __post_init__(self) -> None:
        if not self.name or self.name.split() != [self.name] or not self.probes:
            raise InputError(f"a model needs a name without white space and texts to compare on, got {self.name!r}")


@dataclass(frozen=True)
class Exported:
    """A model folder, its size in bytes, and how near it comes to the network."""

    folder: Path
    size: int
    parity: Parity


def export(net: torch.nn.Module, plan: Plan, account: Account, folder: Path) -> Exported:
    """Write the model folder, whole or not at all; a model that was there is replaced.

    InputError where ``folder`` holds something else or the model is larger than ``plan.limit``; ModelError where the
    graph does not give what the network gives.
    """
    check(plan, folder)
    net.eval()
    graph, marked = _graph(net, plan), plan.kind != "encoder" and is_marked(net)
    expected = _expected(net, plan)
    with _staged(folder) as stage:
        exact = stage / "exact"
        exact.mkdir()
        _write_model(graph, plan, exact, False, marked)
        difference = float(np.abs(_computed(exact, plan) - expected).max())
        if not difference <= _EXACT:
            raise ModelError(f"the graph of {plan.name!r} differs from the network by {difference:.2g}")
        settings = _write_model(graph, plan, stage, plan.quantise, marked)
        shutil.rmtree(exact)
        found = _computed(stage, plan)
        parity = Parity(len(plan.probes), difference, float(np.abs(found - expected).max()), _cosine(found, expected))
        write_json(_entry(settings, plan, account, stage), stage / "manifest.json")
        write_text(write_card(settings, plan.base, account, parity, plan.quantise), stage / "CARD.md")
        size = sum(path.stat().st_size for path in stage.iterdir())
        if size > plan.limit:
            raise InputError(
                f"the model {plan.name!r} has {size / 1e6:.1f} MB, more than {plan.limit / 1e6:.1f}; choose a smaller"
                " base, quantise it, or allow the size"
            )
    return Exported(folder, size, parity)


def manifest(folder: Path) -> list[dict[str, object]]:
    """The entries (name, kind, sha256, bytes, base, data, terms) of the model folders in a folder, by name."""
    entries = [json.loads(path.read_bytes()) for path in folder.glob("*/manifest.json")]
    return sorted(entries, key=lambda entry: str(entry["name"]))


def _graph(net: torch.nn.Module, plan: Plan) -> onnx.ModelProto:
    try:
        import onnx  # noqa: F401
    except ImportError as error:
        raise MissingDependency("exporting a model", "train") from error
    config = net.config if plan.kind == "encoder" else net["bert"].config  # type: ignore[index,union-attr,unused-ignore]
    weights = {name: value.detach().float().cpu().numpy() for name, value in net.state_dict().items()}
    for name in [name for name in weights if name.endswith("position_embeddings.weight")]:
        weights[name] = weights[name][: plan.max_length]  # the others are never read
    shape = Shape(config.num_hidden_layers, config.num_attention_heads, config.layer_norm_eps)
    return (encoder_graph if plan.kind == "encoder" else pair_graph)(weights, shape)


def _write_model(graph: onnx.ModelProto, plan: Plan, folder: Path, quantise: bool, marked: bool) -> Settings:
    import onnx

    target = folder / GRAPH
    if quantise:
        if plan.kind != "encoder":  # whose mean over a text evens out most of it
            even(graph, _feeds(plan, marked))
        _quantised(graph, target)
    else:
        onnx.save(graph, target)
    shutil.copyfile(plan.base.tokenizer, folder / "tokenizer.json")
    settings = Settings(
        kind=plan.kind,
        name=plan.name,
        max_length=plan.max_length,
        sha256_model=_sha256(target),
        sha256_tokenizer=_sha256(folder / "tokenizer.json"),
        dimension=graph.graph.output[0].type.tensor_type.shape.dim[-1].dim_value if plan.kind == "encoder" else 0,
        labels=plan.labels,
        calibration=plan.calibration,
        marked=marked,
    )
    write_json(asdict(settings), folder / SETTINGS)
    return settings


def _feeds(plan: Plan, marked: bool) -> Iterator[Feed]:
    """The probes of a cross-encoder or of a classifier of texts as its graph reads them."""
    tokenizer = open_tokenizer(plan.base.tokenizer, plan.max_length)
    for probe in plan.probes:
        first, second = probe if isinstance(probe, tuple) else (probe, "")
        encoding = tokenizer.encode(first, second) if second else tokenizer.encode(first)
        rows = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": segments(encoding) if marked else encoding.type_ids,
        }
        yield {name: np.array([row], dtype=np.int64) for name, row in rows.items()}


def _quantised(graph: onnx.ModelProto, target: Path) -> None:
    """Weights of matrices (a scale for each column) and word vectors in 8 bits; the head stays as it is."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.ERROR)  # it advises a pre-processing that this graph does not need
    try:
        quantize_dynamic(
            graph,
            target,
            op_types_to_quantize=["MatMul", "Gather"],
            per_channel=True,
            weight_type=QuantType.QInt8,
            nodes_to_exclude=[node.name for node in graph.graph.node if node.name.startswith((HEAD, SEGMENT))],
        )
    finally:
        root.setLevel(level)


def _expected(net: torch.nn.Module, plan: Plan) -> Vectors:
    """What the network gives for the probes, in 32 bits, each by itself."""
    torch = import_torch()
    tokenizer = open_tokenizer(plan.base.tokenizer, plan.max_length)
    run = embed if plan.kind == "encoder" else pair_logits
    with torch.no_grad():
        rows = [run(net, tokenizer, [probe]).cpu() for probe in plan.probes]  # type: ignore[list-item]
    found: Vectors = torch.cat(rows).numpy()
    return found


def _computed(folder: Path, plan: Plan) -> Vectors:
    if plan.kind == "encoder":
        return OnnxEncoder(folder, batch=1).encode([str(probe) for probe in plan.probes], "passage")
    if plan.kind == "texts":
        return OnnxTextScorer(folder, batch=1).score([probe[0] for probe in plan.probes])
    return OnnxPairScorer(folder, batch=1).score([(probe[0], probe[1]) for probe in plan.probes])


def _cosine(found: Vectors, expected: Vectors) -> float:
    """The mean cosine of rows; of scores, which have one or a few numbers in a row, that of the columns."""
    if found.shape[1] < 8:
        found, expected = found.T, expected.T
    norms = np.linalg.norm(found, axis=1) * np.linalg.norm(expected, axis=1)
    return float(((found * expected).sum(axis=1) / np.maximum(norms, 1e-12)).mean())


def _entry(settings: Settings, plan: Plan, account: Account, stage: Path) -> dict[str, object]:
    return {
        "name": settings.name,
        "kind": settings.kind,
        "sha256": settings.sha256_model,
        "bytes": (stage / GRAPH).stat().st_size,
        "base": {"name": plan.base.name, "sha256": plan.base.sha256, "terms": plan.base.terms},
        "data": list(account.data),
        "terms": account.terms,
        "seed": account.seed,
        "metrics": dict(account.metrics),
    }


def check(plan: Plan, folder: Path) -> None:
    """InputError where the model could not be written or would not be whole; called before training too."""
    if not 3 <= plan.max_length <= plan.base.longest:
        raise InputError(f"the base {plan.base.name!r} reads 3 to {plan.base.longest} tokens, not {plan.max_length}")
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not (folder / SETTINGS).is_file())):
        raise InputError(f"{folder}: holds something that is no model; choose another folder")


@contextmanager
def _staged(folder: Path) -> Iterator[Path]:
    """A new folder that takes the place of ``folder`` at the end, and is deleted where anything fails."""
    mark = secrets.token_hex(4)
    stage, old = folder.parent / f".{folder.name}.{mark}", folder.parent / f".{folder.name}.{mark}.old"
    try:
        stage.mkdir(parents=True)
        yield stage
        if folder.exists():
            folder.rename(old)
        stage.rename(folder)
    except OSError as error:
        raise StorageError(f"{folder}: cannot be written: {error.strerror or error}") from error
    finally:
        if old.exists() and not folder.exists():
            old.rename(folder)
        shutil.rmtree(stage, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
