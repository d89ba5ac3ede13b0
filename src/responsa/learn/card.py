"""The card of a model: what it is made of, how well it did, and how to make it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from responsa.learn.base import Base
from responsa.models.onnx import Settings

_TEST = "test "  # begins the names of figures on what took no part in training


@dataclass(frozen=True)
class Account:
    """What the maker of a model tells. ``data``: the sets learned from; ``terms``: theirs; ``rebuild``: the command."""

    data: tuple[str, ...]
    terms: str
    settings: Mapping[str, object]
    seed: int
    metrics: Mapping[str, float] = field(default_factory=dict)
    rebuild: str = ""


@dataclass(frozen=True)
class Parity:
    """How far the model is from the network it was made of, over ``probes`` texts: the greatest difference before
    and after quantisation, and the mean cosine after it."""

    probes: int
    exact: float
    quantised: float
    cosine: float


def write_card(settings: Settings, base: Base, account: Account, parity: Parity, quantised: bool) -> str:
    """The card in Markdown."""
    what = {
        "encoder": "Encoder: mean-pooled unit vectors",
        "pairs": "Cross-encoder: scores of text pairs",
        "texts": "Classifier: scores of texts",
    }[settings.kind]
    size = f"{settings.dimension} numbers" if settings.kind == "encoder" else f"labels {', '.join(settings.labels)}"
    lines = [
        f"# {settings.name}",
        "",
        f"{what}, {size}; reads {settings.max_length} tokens, the rest is cut.",
        "",
        "| | |",
        "|---|---|",
        f"| base | {base.name}: {base.terms}; sha256 of its weights `{base.sha256}` |",
        f"| data | {'; '.join(account.data)} |",
        f"| terms of the data | {account.terms} |",
        f"| seed | {account.seed} |",
        f"| weights | ONNX, {'8 bits (matrices and word vectors)' if quantised else '32 bits'},"
        f" sha256 `{settings.sha256_model}` |",
        f"| calibration | {_calibration(settings)} |",
        "",
        "## Settings",
        "",
        *(f"- {name}: {value}" for name, value in account.settings.items()),
        "",
        "## Measured in 32 bits on what was kept apart for choosing the best state",
        "",
        *(f"- {name}: {value:.4f}" for name, value in account.metrics.items() if not name.startswith(_TEST)),
        "",
        *_tested(account.metrics),
        "## Against the trained network",
        "",
        f"Over {parity.probes} texts: greatest difference {parity.exact:.1e} in 32 bits, {parity.quantised:.1e} as"
        f" shipped; mean cosine {parity.cosine:.4f}.",
        "",
        "## To make it again",
        "",
        f"    {account.rebuild or 'not recorded'}",
        "",
    ]
    return "\n".join(lines)


def _tested(metrics: Mapping[str, float]) -> list[str]:
    told = [f"- {name.removeprefix(_TEST)}: {value:.4f}" for name, value in metrics.items() if name.startswith(_TEST)]
    return ["## Measured in 32 bits on the test parts", "", *told, ""] if told else []


def _calibration(settings: Settings) -> str:
    if not settings.calibration:
        return "in the weights: the softmax of the scores is the probability" if len(settings.labels) > 1 else "none"
    scale, shift = settings.calibration
    return f"probability = 1 / (1 + exp(-({scale:.4g} * score + {shift:.4g})))"
