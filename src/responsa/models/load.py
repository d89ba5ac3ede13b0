"""Models by name: ``scheme:model``, with settings after a question mark.

    embedded:encoder                            a model that ships in the package
    onnx:models/encoder                         a model folder on this machine
    hf:BAAI/bge-small-en-v1.5?batch=64          a model of the Hugging Face hub, or a folder in its format
    hf:dragon-plus                              the two encoders of DRAGON+
    pylate:colbert-ir/colbertv2.0               a late-interaction model, run by PyLate
    voyage:voyage-law-2                         the key is in VOYAGE_API_KEY
    openai:text-embedding-3-large?dimensions=1024
    https://models.example.org/v1#BAAI/bge-m3?max_tokens=512&rpm=60

A server of one's own speaks as OpenAI does for embeddings and as Jina and Cohere do for reranking, unless
``dialect=voyage``; ``prompt=nv-embed-v2`` or ``prompt=bge-en-icl`` gives queries the words of the RIRAG paper.
If it wants a key, that is in RESPONSA_API_KEY; no name can send another variable's value. What models behind APIs
answer is kept in the cache of this machine, unless ``cache=off``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from responsa import cache
from responsa.errors import InputError, suggestion
from responsa.models import Encoder, LateEncoder, PairScorer, SparseEncoder
from responsa.models.options import HUB, Options, Table, fields, flag, named, split

if TYPE_CHECKING:
    from responsa.models.http import Service

M = TypeVar("M")

# The length of the vectors of the models that were looked up; others find out with their first request.
_DIMENSIONS = {
    "voyage": {"voyage-law-2": 1024, "voyage-finance-2": 1024},
    "openai": {"text-embedding-3-large": 3072, "text-embedding-3-small": 1536},
}
_VOYAGE_RERANKERS = ("rerank-2", "rerank-2-lite", "rerank-2.5", "rerank-2.5-lite")

# Settings in a name: the field it sets and how it is read. Those of the service do not change the answers.
_SERVICE: Table = {
    "rpm": ("requests_per_minute", float),
    "tpm": ("tokens_per_minute", float),
    "batch": ("batch_texts", int),
    "threads": ("threads", int),
    "timeout": ("timeout", float),
    "attempts": ("attempts", int),
}
_PROMPT = ("prompt", "shots", "examples", "seed")
_DRESS: Table = {
    "query_prefix": ("query_prefix", str),
    "query_suffix": ("query_suffix", str),
    "passage_prefix": ("passage_prefix", str),
    "max_tokens": ("max_tokens", int),
}
_ENCODER: Table = {**_DRESS, "dialect": ("dialect", str), "dimensions": ("output_dimension", int)}
_RERANKER: Table = {"dialect": ("dialect", str), "max_tokens": ("max_tokens", int)}
_HUB_ENCODER: Table = {
    **HUB,
    **_DRESS,
    "passage_model": ("passage_model", str),
    "pooling": ("pooling", str),
    "similarity": ("similarity", str),
}
_HUB_PAIRS: Table = {**HUB, "max_tokens": ("max_tokens", int), "label": ("label", str), "int8": ("int8", flag)}
_HUB_SPARSE: Table = {**HUB, "max_tokens": ("max_tokens", int)}


def load_encoder(name: str) -> Encoder:
    """The encoder of that name. No model is loaded and nothing is asked before its first use."""
    return by_scheme(name, "an encoder", ENCODERS)


def load_reranker(name: str) -> PairScorer:
    """The reranker of that name: a scorer with one label. Nothing is loaded or asked before its first use."""
    return by_scheme(name, "a reranker", RERANKERS)


def load_pairs(name: str) -> PairScorer:
    """The scorer of pairs of that name, with all its labels, such as those of entailment. Loaded at its first use."""
    return by_scheme(name, "a scorer of pairs", PAIRS)


def load_sparse(name: str) -> SparseEncoder:
    """The sparse encoder of that name. Loaded at its first use."""
    return by_scheme(name, "a sparse encoder", SPARSE)


def load_late(name: str) -> LateEncoder:
    """The late-interaction encoder of that name. Loaded at its first use."""
    return by_scheme(name, "a late-interaction encoder", LATE)


def by_scheme(name: str, what: str, schemes: Mapping[str, Callable[[str], M]]) -> M:
    """What the name's scheme makes of the rest. InputError for a name without a scheme, or with one that is unknown."""
    scheme, colon, rest = name.partition(":")
    if not colon or not rest:
        raise InputError(f"{name!r} does not name {what}; expected scheme:model, such as {_EXAMPLES[what]!r}")
    if scheme not in schemes:
        raise InputError(f"unknown scheme {scheme!r} of {what}{suggestion(scheme, schemes)}")
    return schemes[scheme](rest)


def _hub_encoder(rest: str) -> Encoder:
    from responsa.models.hub import HubEncoder
    from responsa.models.hub.dense import DRAGON_PLUS
    from responsa.models.prompts import NV_EMBED_END

    model, options = named(rest)
    prompt: dict[str, object] = {**_prompt(options)}
    if options.get("prompt") == "nv-embed-v2":
        prompt |= {"query_suffix": NV_EMBED_END, "passage_suffix": NV_EMBED_END}
    preset: dict[str, object] = {**(DRAGON_PLUS if model == "dragon-plus" else {"model": model})}
    return HubEncoder(**(preset | prompt | fields(options, _HUB_ENCODER, _PROMPT)))  # type: ignore[arg-type]


def _hub_pairs(rest: str, single: bool) -> PairScorer:
    from responsa.models.hub import HubPairScorer

    model, options = named(rest)
    return HubPairScorer(model, single=single, **fields(options, _HUB_PAIRS))  # type: ignore[arg-type]


def _hub_sparse(rest: str) -> SparseEncoder:
    from responsa.models.hub import HubSparseEncoder

    model, options = named(rest)
    return HubSparseEncoder(model, **fields(options, _HUB_SPARSE))  # type: ignore[arg-type]


def _hub_late(rest: str) -> LateEncoder:
    from responsa.models.hub import HubLateEncoder

    model, options = named(rest)
    return HubLateEncoder(model, **fields(options, HUB))  # type: ignore[arg-type]


def _pylate(rest: str) -> LateEncoder:
    from responsa.models.hub import PylateEncoder

    model, options = named(rest)
    return PylateEncoder(model, **fields(options, HUB))  # type: ignore[arg-type]


def _onnx_encoder(folder: Path) -> Encoder:
    from responsa.models.onnx import OnnxEncoder

    return OnnxEncoder(folder)


def _onnx_pairs(folder: Path) -> PairScorer:
    from responsa.models.onnx import OnnxPairScorer

    return OnnxPairScorer(folder)


def _embedded(name: str) -> Path:
    from responsa.models.embedded import find

    return find(name)


def _voyage_encoder(rest: str) -> Encoder:
    model, options = named(rest)
    if model.startswith("rerank"):
        raise InputError(f"voyage:{model} is a reranker, not an encoder{suggestion(model, _DIMENSIONS['voyage'])}")
    return _http_encoder(_voyage_service(options), model, options, dialect="voyage")


def _voyage_reranker(rest: str) -> PairScorer:
    model, options = named(rest)
    if model.startswith("voyage-"):
        raise InputError(f"voyage:{model} is an encoder, not a reranker{suggestion(model, _VOYAGE_RERANKERS)}")
    return _http_reranker(_voyage_service(options), model, options, dialect="voyage")


def _openai_encoder(rest: str) -> Encoder:
    model, options = named(rest)
    # At most 2,048 texts and 300,000 tokens in a request. A text of more than 8,191 tokens is refused: the
    # margin is for our count of them, which is no more than near.
    limits: dict[str, object] = {"batch_texts": 256, "batch_tokens": 150_000}
    service = _service("https://api.openai.com/v1", options, limits, key="OPENAI_API_KEY")
    return _http_encoder(service, model, {"max_tokens": "7000", **options}, dialect="openai")


def _url_encoder(scheme: str, rest: str) -> Encoder:
    url, model, options = _address(scheme, rest)
    return _http_encoder(_service(url, options, {}), model, options)


def _url_reranker(scheme: str, rest: str) -> PairScorer:
    url, model, options = _address(scheme, rest)
    return _http_reranker(_service(url, options, {}), model, options)


def _http_encoder(service: Service, model: str, options: Options, dialect: str = "") -> Encoder:
    """An encoder behind an API; a ``dialect`` given here cannot be set in the name, nor can a prompt."""
    from responsa.models.http import CachedEncoder, HttpEncoder

    table = {name: field for name, field in _ENCODER.items() if not (dialect and name == "dialect")}
    prompt: Mapping[str, object] = {} if dialect else _prompt(options)
    known = _DIMENSIONS.get(dialect, {}).get(model)
    named: dict[str, object] = fields(options, table, (*_SERVICE, "cache", *(() if dialect else _PROMPT)))
    told = {"dialect": dialect, "known_dimension": known} if dialect else {}
    encoder = HttpEncoder(service, model, **{**told, **prompt, **named})  # type: ignore[arg-type]
    return CachedEncoder(encoder, cache.shared()) if _cached(options) else encoder


def _http_reranker(service: Service, model: str, options: Options, dialect: str = "") -> PairScorer:
    from responsa.models.http import CachedScorer, HttpReranker

    table = {name: field for name, field in _RERANKER.items() if not (dialect and name == "dialect")}
    named = fields(options, table, (*_SERVICE, "cache"))
    told = {"dialect": dialect} if dialect else {}
    scorer = HttpReranker(service, model, **{**told, **named})  # type: ignore[arg-type]
    return CachedScorer(scorer, cache.shared()) if _cached(options) else scorer


def _cached(options: Options) -> bool:
    return bool(fields({"cache": options.get("cache", "on")}, {"cache": ("cache", flag)})["cache"])


def _voyage_service(options: Options) -> Service:
    # At most 1,000 texts and 120,000 tokens in a request (rerank-2: 600,000), by the documents of the API.
    limits: dict[str, object] = {"batch_texts": 128, "batch_tokens": 60_000}
    return _service("https://api.voyageai.com/v1", options, limits, key="VOYAGE_API_KEY")


def _service(url: str, options: Options, limits: dict[str, object], key: str = "") -> Service:
    told = {"key": key, "key_required": True} if key else {}
    named = fields({name: value for name, value in options.items() if name in _SERVICE}, _SERVICE)
    return _service_at(url, tuple(sorted({**limits, **told, **named}.items())))


@lru_cache(maxsize=8)
def _service_at(url: str, settings: tuple[tuple[str, object], ...]) -> Service:
    """One for each address and settings, so that its limits per minute hold however often a model is named."""
    from responsa.models.http import Service

    return Service(url, **dict(settings))  # type: ignore[arg-type]


def _address(scheme: str, rest: str) -> tuple[str, str, Options]:
    url, _, model = rest.partition("#")
    if not model:
        raise InputError(f"the address names no model; expected {_EXAMPLES['an encoder']!r}")
    return f"{scheme}:{url}", *split(model)


def _prompt(options: Options) -> dict[str, str]:
    """The fields that ``prompt``, ``shots``, ``examples`` and ``seed`` set."""
    from responsa.models.prompts import prompt

    given = {name: options[name] for name in _PROMPT if name in options}
    if not given:
        return {}
    if "prompt" not in given:
        raise InputError(f"setting {next(iter(given))!r}: needs a prompt, such as prompt=bge-en-icl")
    read = {"name": str, "shots": int, "examples": Path, "seed": int}
    return prompt(**fields(given, {name: (field, read[field]) for name, field in _PROMPT_FIELDS.items()}))  # type: ignore[arg-type]


_PROMPT_FIELDS = {"prompt": "name", "shots": "shots", "examples": "examples", "seed": "seed"}
_EXAMPLES = {
    "an encoder": "https://models.example.org/v1#model-name",
    "a reranker": "voyage:rerank-2",
    "a scorer of pairs": "onnx:models/nli",
    "a sparse encoder": "hf:naver/splade-v3",
    "a late-interaction encoder": "hf:lightonai/GTE-ModernColBERT-v1",
    "a classifier of texts": "onnx:FOLDER",
    "a model for BERTScore": "hf:roberta-large",
}

# One line for each scheme. What comes after the colon is the scheme's own business.
ENCODERS: dict[str, Callable[[str], Encoder]] = {
    "embedded": lambda rest: _onnx_encoder(_embedded(rest)),
    "onnx": lambda rest: _onnx_encoder(Path(rest)),
    "hf": _hub_encoder,
    "voyage": _voyage_encoder,
    "openai": _openai_encoder,
    "http": lambda rest: _url_encoder("http", rest),
    "https": lambda rest: _url_encoder("https", rest),
}
RERANKERS: dict[str, Callable[[str], PairScorer]] = {
    "embedded": lambda rest: _onnx_pairs(_embedded(rest)),
    "onnx": lambda rest: _onnx_pairs(Path(rest)),
    "hf": lambda rest: _hub_pairs(rest, single=True),
    "voyage": _voyage_reranker,
    "http": lambda rest: _url_reranker("http", rest),
    "https": lambda rest: _url_reranker("https", rest),
}
PAIRS: dict[str, Callable[[str], PairScorer]] = {
    "embedded": RERANKERS["embedded"],
    "onnx": RERANKERS["onnx"],
    "hf": lambda rest: _hub_pairs(rest, single=False),
}
SPARSE: dict[str, Callable[[str], SparseEncoder]] = {"hf": _hub_sparse}
LATE: dict[str, Callable[[str], LateEncoder]] = {"hf": _hub_late, "pylate": _pylate}
