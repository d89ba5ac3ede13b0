"""Models by name: ``scheme:model``, with settings after a question mark.

    voyage:voyage-law-2                         the key is in VOYAGE_API_KEY
    openai:text-embedding-3-large?dimensions=1024
    https://models.example.org/v1#BAAI/bge-m3?max_tokens=512&rpm=60
    onnx:models/encoder                         a model folder on this machine

A server of one's own speaks as OpenAI does for embeddings and as Jina and Cohere do for reranking, unless
``dialect=voyage``; ``prompt=nv-embed-v2`` or ``prompt=bge-en-icl`` gives queries the words of the RIRAG paper.
If it wants a key, that is in RESPONSA_API_KEY; no name can send another variable's value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import parse_qsl

from responsa.errors import InputError, suggestion
from responsa.models import Encoder, PairScorer

if TYPE_CHECKING:
    from responsa.models.http import HttpEncoder, HttpReranker, Service
    from responsa.models.onnx import OnnxEncoder, OnnxPairScorer

Options = dict[str, str]
M = TypeVar("M")

# The length of the vectors of the models that were looked up; others find out with their first request.
_DIMENSIONS = {
    "voyage": {"voyage-law-2": 1024, "voyage-finance-2": 1024},
    "openai": {"text-embedding-3-large": 3072, "text-embedding-3-small": 1536},
}
_VOYAGE_RERANKERS = ("rerank-2", "rerank-2-lite", "rerank-2.5", "rerank-2.5-lite")

# Settings in a name: the field it sets and how it is read. Those of the service do not change the answers.
_SERVICE: dict[str, tuple[str, Callable[[str], object]]] = {
    "rpm": ("requests_per_minute", float),
    "tpm": ("tokens_per_minute", float),
    "batch": ("batch_texts", int),
    "threads": ("threads", int),
    "timeout": ("timeout", float),
    "attempts": ("attempts", int),
}
_ENCODER: dict[str, tuple[str, Callable[[str], object]]] = {
    "dialect": ("dialect", str),
    "dimensions": ("output_dimension", int),
    "max_tokens": ("max_tokens", int),
    "query_prefix": ("query_prefix", str),
    "query_suffix": ("query_suffix", str),
    "passage_prefix": ("passage_prefix", str),
}
_RERANKER: dict[str, tuple[str, Callable[[str], object]]] = {
    "dialect": ("dialect", str),
    "max_tokens": ("max_tokens", int),
}


def load_encoder(name: str) -> Encoder:
    """The encoder of that name. No model is loaded and nothing is asked before its first use."""
    return _load(name, ENCODERS, "an encoder")


def load_reranker(name: str) -> PairScorer:
    """The reranker of that name. No model is loaded and nothing is asked before its first use."""
    return _load(name, RERANKERS, "a reranker")


def _load(name: str, schemes: Mapping[str, Callable[[str], M]], what: str) -> M:
    scheme, colon, rest = name.partition(":")
    if not colon or not rest:
        raise InputError(f"{name!r} does not name {what}; expected scheme:model, such as {_EXAMPLES[what]!r}")
    if scheme not in schemes:
        raise InputError(f"unknown scheme {scheme!r} of {what}{suggestion(scheme, schemes)}")
    return schemes[scheme](rest)


def _voyage_encoder(rest: str) -> HttpEncoder:
    from responsa.models.http import HttpEncoder

    model, options = _options(rest)
    if model.startswith("rerank"):
        raise InputError(f"voyage:{model} is a reranker, not an encoder{suggestion(model, _DIMENSIONS['voyage'])}")
    service, fields = _voyage_service(options), _fields(options, _ENCODER, "dialect")
    known = _DIMENSIONS["voyage"].get(model)
    return HttpEncoder(service, model, "voyage", known_dimension=known, **fields)  # type: ignore[arg-type]


def _voyage_reranker(rest: str) -> HttpReranker:
    from responsa.models.http import HttpReranker

    model, options = _options(rest)
    if model.startswith("voyage-"):
        raise InputError(f"voyage:{model} is an encoder, not a reranker{suggestion(model, _VOYAGE_RERANKERS)}")
    service, fields = _voyage_service(options), _fields(options, _RERANKER, "dialect")
    return HttpReranker(service, model, "voyage", **fields)  # type: ignore[arg-type]


def _openai_encoder(rest: str) -> HttpEncoder:
    from responsa.models.http import HttpEncoder

    model, options = _options(rest)
    # At most 2,048 texts and 300,000 tokens in a request. A text of more than 8,191 tokens is refused: the
    # margin is for our count of them, which is no more than near.
    limits: dict[str, object] = {"batch_texts": 256, "batch_tokens": 150_000}
    service = _service("https://api.openai.com/v1", options, limits, key="OPENAI_API_KEY")
    fields = {"max_tokens": 7000, **_fields(options, _ENCODER, "dialect")}
    known = _DIMENSIONS["openai"].get(model)
    return HttpEncoder(service, model, "openai", known_dimension=known, **fields)  # type: ignore[arg-type]


def _url_encoder(scheme: str, rest: str) -> HttpEncoder:
    from responsa.models.http import HttpEncoder

    url, model, options = _address(scheme, rest)
    prompt = _prompt(options.pop("prompt", None))
    fields = {**prompt, **_fields(options, _ENCODER)}
    return HttpEncoder(_service(url, options, {}), model, **fields)  # type: ignore[arg-type]


def _url_reranker(scheme: str, rest: str) -> HttpReranker:
    from responsa.models.http import HttpReranker

    url, model, options = _address(scheme, rest)
    return HttpReranker(_service(url, options, {}), model, **_fields(options, _RERANKER))  # type: ignore[arg-type]


def _voyage_service(options: Options) -> Service:
    # At most 1,000 texts and 120,000 tokens in a request (rerank-2: 600,000), by the documents of the API.
    limits: dict[str, object] = {"batch_texts": 128, "batch_tokens": 60_000}
    return _service("https://api.voyageai.com/v1", options, limits, key="VOYAGE_API_KEY")


def _service(url: str, options: Options, limits: dict[str, object], key: str | None = None) -> Service:
    from responsa.models.http import Service

    fields = {**limits, **_fields(options, _SERVICE, others=True)}
    if key is not None:
        fields |= {"key": key, "key_required": True}
    return Service(url, **fields)  # type: ignore[arg-type]


def _address(scheme: str, rest: str) -> tuple[str, str, Options]:
    url, _, model = rest.partition("#")
    if not model:
        raise InputError(f"the address names no model; expected {_EXAMPLES['an encoder']!r}")
    return f"{scheme}:{url}", *_options(model)


def _prompt(name: str | None) -> dict[str, object]:
    """The fields of a known way to ask: the paper's, without examples (for those, see `icl_prefix`)."""
    from responsa.models.http import BGE_ICL_SUFFIX, NV_EMBED_PREFIX, icl_prefix

    prompts: dict[str, dict[str, object]] = {
        "nv-embed-v2": {"query_prefix": NV_EMBED_PREFIX},
        "bge-en-icl": {"query_prefix": icl_prefix(), "query_suffix": BGE_ICL_SUFFIX},
    }
    if name is not None and name not in prompts:
        raise InputError(f"unknown prompt {name!r}{suggestion(name, prompts)}")
    return prompts[name] if name else {}


def _options(rest: str) -> tuple[str, Options]:
    model, _, query = rest.partition("?")
    pairs = parse_qsl(query, keep_blank_values=True)
    options = dict(pairs)
    if len(options) < len(pairs):
        raise InputError(f"{model}: a setting is given twice in {query!r}")
    return model, options


def _fields(
    options: Options, table: Mapping[str, tuple[str, Callable[[str], object]]], *fixed: str, others: bool = False
) -> dict[str, object]:
    """The fields that the settings of ``table`` set. Other settings are refused, but for those of a service
    and, where ``others``, all; ``fixed`` ones cannot be set here."""
    fields: dict[str, object] = {}
    for name, value in options.items():
        if name in table and name not in fixed:
            field, read = table[name]
            try:
                fields[field] = read(value)
            except ValueError:
                raise InputError(f"setting {name!r}: expected a number, got {value!r}") from None
        elif not others and name not in _SERVICE:
            raise InputError(f"unknown setting {name!r}{suggestion(name, ({*table} - {*fixed}) | {*_SERVICE})}")
    return fields


def _onnx_encoder(rest: str) -> OnnxEncoder:
    from responsa.models.onnx import OnnxEncoder

    return OnnxEncoder(Path(rest))


def _onnx_reranker(rest: str) -> OnnxPairScorer:
    from responsa.models.onnx import OnnxPairScorer

    return OnnxPairScorer(Path(rest))


_EXAMPLES = {"an encoder": "https://models.example.org/v1#model-name", "a reranker": "voyage:rerank-2"}

# One line for each scheme. What comes after the colon is the scheme's own business.
ENCODERS: dict[str, Callable[[str], Encoder]] = {
    "onnx": _onnx_encoder,
    "voyage": _voyage_encoder,
    "openai": _openai_encoder,
    "http": lambda rest: _url_encoder("http", rest),
    "https": lambda rest: _url_encoder("https", rest),
}
RERANKERS: dict[str, Callable[[str], PairScorer]] = {
    "onnx": _onnx_reranker,
    "voyage": _voyage_reranker,
    "http": lambda rest: _url_reranker("http", rest),
    "https": lambda rest: _url_reranker("https", rest),
}
