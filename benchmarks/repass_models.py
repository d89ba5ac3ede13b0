"""Answers, and models of the architectures of the published script, to score them by.

The real weights cannot be had everywhere and a speed does not depend on them: weights are drawn at random. The last
layer reads the directions in which these texts differ most, scaled so that all classes occur and about half of the
obligations are covered. A folder with the real models may be given instead.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import data
from responsa.evaluate.repass_sentences import splitter
from responsa.models.embedded import find
from responsa.models.texts import load_texts

NLI = "cross-encoder/nli-deberta-v3-xsmall"
COVERAGE = "microsoft/deberta-large-mnli"
OBLIGATIONS = "models/obligation-classifier-legalbert"
NAMES = (NLI, COVERAGE, OBLIGATIONS)  # where the published script looks for them from its working folder

# Width, layers, heads and width of the inner layer, by the papers' configurations; "tiny" is for trying this out.
SHAPES = {
    "real": {NLI: (384, 12, 6, 1536), COVERAGE: (1024, 24, 16, 4096), OBLIGATIONS: (768, 12, 12, 3072)},
    "tiny": {NLI: (96, 2, 2, 192), COVERAGE: (128, 2, 4, 256), OBLIGATIONS: (96, 2, 2, 192)},
}
_LABELS = {
    NLI: ("contradiction", "entailment", "neutral"),
    COVERAGE: ("CONTRADICTION", "NEUTRAL", "ENTAILMENT"),
    OBLIGATIONS: ("LABEL_0", "LABEL_1"),
}
_SPREAD = {NLI: 2.0, COVERAGE: 2.0, OBLIGATIONS: 1.5}  # standard deviation of the logits
_COVERED = 0.7
_PROBES = 60
_MARK = re.compile(r"\s*\[#ID:[^\]]*\]")


def answers(count: int, passages: int) -> list[dict[str, object]]:
    """Answers that a language model gave to ADGM questions, in the RIRAG submission format, with the first
    ``passages`` of the passages that it was given, spread over the file."""
    folder = data.folder() / "obliqa"
    texts = {
        row["ID"]: row["Passage"]
        for path in sorted((folder / "documents").glob("*.json"))
        for row in json.loads(path.read_text(encoding="utf-8"))
    }
    rows = list(json.loads((folder / "generated_answers" / "adgm_bm25.json").read_text(encoding="utf-8")).values())
    rows = rows[:: max(1, len(rows) // count)][:count]
    return [
        {
            "QuestionID": row["item_id"],
            "Question": row["question"],
            "RetrievedPassages": [texts[name] for name in row["retrieved_docids"] if texts.get(name, "").strip()][
                :passages
            ],
            "Answer": _MARK.sub("", row["generated_answer"]),
        }
        for row in rows
    ]


def make(folder: Path, size: str, rows: Sequence[dict[str, Any]]) -> None:
    """Write the three models under their names. The tokenizer is that of the embedded encoder."""
    split, chance = splitter("punkt").split, random.Random(1)
    sentences = [(split(" ".join(row["RetrievedPassages"])), split(row["Answer"])) for row in rows]
    pairs = [(chance.choice(sources), chance.choice(own)) for sources, own in chance.choices(sentences, k=_PROBES)]
    _make(OBLIGATIONS, folder, size, [text for pair in pairs for text in pair])
    _make(NLI, folder, size, pairs)
    groups = _groups(f"hf:{folder / OBLIGATIONS}", sentences, chance)
    probes = [f"{answer} [SEP] {source}" for source, answers in groups for answer in answers]
    _make(COVERAGE, folder, size, probes, [len(answers) for _, answers in groups])


def _groups(
    model: str, sentences: Sequence[tuple[list[str], list[str]]], chance: random.Random
) -> list[tuple[str, list[str]]]:
    """Some obligations of the sources, each with those of its answer, about `_PROBES` pairs in all."""
    found = []
    scorer = load_texts(model)
    for sources, own in sentences:
        binding = [
            [text for text, row in zip(texts, scorer.score(texts), strict=True) if row.argmax() == 1]
            for texts in (sources, own)
        ]
        found += [(source, binding[1]) for source in binding[0] if binding[1]]
    chance.shuffle(found)
    mean = sum(len(answers) for _, answers in found) / max(1, len(found))
    return found[: max(8, round(_PROBES / max(mean, 1)))]


def _make(name: str, folder: Path, size: str, probes: Sequence[Any], sizes: Sequence[int] = ()) -> None:
    import torch
    import transformers

    data.progress(f"making a model of the shape of {name.partition('/')[2]}")
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    torch.manual_seed(NAMES.index(name))
    network = transformers.AutoModelForSequenceClassification.from_config(_config(name, SHAPES[size][name])).eval()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(find("encoder") / "tokenizer.json"),
        **{f"{mark}_token": f"[{mark.upper()}]" for mark in ("pad", "unk", "cls", "sep", "mask")},
        model_max_length=512,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    states = _states(network, tokenizer, probes)
    middle = states.mean(axis=0)
    weight = np.linalg.svd(states - middle, full_matrices=False)[2][: len(_LABELS[name])]
    weight *= _SPREAD[name] / ((states - middle) @ weight.T).std(axis=0)[:, None]
    bias = -weight @ middle
    logits = states @ weight.T + bias
    if sizes:
        bias[2] += _lift(logits, sizes)
    elif name == OBLIGATIONS:
        bias[1] -= _between(logits[:, 1] - logits[:, 0])
    with torch.no_grad():
        network.classifier.weight.copy_(torch.tensor(weight))
        network.classifier.bias.copy_(torch.tensor(bias))
    network.save_pretrained(folder / name)
    tokenizer.save_pretrained(folder / name)


def _config(name: str, shape: tuple[int, int, int, int]) -> Any:
    import transformers

    width, layers, heads, inner = shape
    labels = dict(enumerate(_LABELS[name]))
    shared = {
        "vocab_size": 30522,
        "hidden_size": width,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "intermediate_size": inner,
        "initializer_range": 0.04,  # of .02, .04, .08 the one at which 8 bits disturb random networks least
        "id2label": labels,
        "label2id": {label: place for place, label in labels.items()},
    }
    deberta = {
        "relative_attention": True,
        "max_relative_positions": -1,
        "position_biased_input": False,
        "type_vocab_size": 0,
        "pooler_hidden_size": width,
        "pad_token_id": 0,
    }
    if name == NLI:
        more = {"position_buckets": 256, "norm_rel_ebd": "layer_norm", "share_att_key": True, "pos_att_type": "p2c|c2p"}
        return transformers.DebertaV2Config(**shared, **deberta, **more)
    if name == COVERAGE:
        return transformers.DebertaConfig(**shared, **deberta, pos_att_type="c2p|p2c")
    return transformers.BertConfig(**shared)


def _states(network: Any, tokenizer: Any, probes: Sequence[Any]) -> np.ndarray:
    """What the last layer is given for each probe."""
    import torch

    rows: list[Any] = []
    hook = network.classifier.register_forward_pre_hook(lambda _layer, given: rows.append(given[0][0]))
    for probe in probes:
        texts = probe if isinstance(probe, tuple) else (probe,)
        with torch.inference_mode():
            network(**tokenizer(*texts, truncation=True, max_length=512, return_tensors="pt"))
    hook.remove()
    return torch.stack(rows).numpy()


def _lift(logits: np.ndarray, sizes: Sequence[int]) -> float:
    """What the logit of entailment, the last, needs so that in about half of the groups of rows one is above
    `_COVERED`."""
    margin = logits[:, 2] - np.log(np.exp(logits[:, :2]).sum(axis=1))
    highest = [part.max() for part in np.split(margin, np.cumsum(sizes)[:-1])]
    return float(math.log(_COVERED / (1 - _COVERED)) - _between(highest))


def _between(values: Sequence[float]) -> float:
    """The middle of the widest gap among the middle third of the values: trained networks are sure of most texts, and
    what stands at a threshold is decided by rounding alone."""
    ordered = sorted(values)
    first, last = len(ordered) // 3, max(len(ordered) // 3 + 1, 2 * len(ordered) // 3)
    low, high = max(pairwise(ordered[first : last + 1]), key=lambda pair: pair[1] - pair[0], default=(ordered[0],) * 2)
    return (low + high) / 2
