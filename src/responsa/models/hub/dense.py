"""Dense encoders through sentence-transformers (Reimers and Gurevych, 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from responsa.errors import InputError, ModelError
from responsa.models import Role, Vectors
from responsa.models.checks import finite, readable
from responsa.models.hub.alone import alone
from responsa.models.hub.source import Source, above_zero, cache_folder, library, named

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

POOLINGS = ("cls", "lasttoken", "max", "mean", "mean_sqrt_len_tokens", "weightedmean")
SIMILARITIES = ("cosine", "dot")

# Lin et al., 2023: two BERTs, the vector of [CLS], dot product.
DRAGON_PLUS: dict[str, str] = {
    "model": "facebook/dragon-plus-query-encoder",
    "passage_model": "facebook/dragon-plus-context-encoder",
    "pooling": "cls",
    "similarity": "dot",
}


@dataclass(frozen=True)
class HubEncoder:
    """An `Encoder` run by sentence-transformers. ``passage_model`` encodes the passages of an asymmetric pair.

    A prefix that is None is the model's own prompt; ``""`` is none. Of a text, the first ``max_tokens`` tokens are
    read (None: as many as the model reads beside prefix and suffix): the text is cut, never what is put round it.
    Vectors are brought to length one where the model's own config says cosine, which is also what
    sentence-transformers takes for one that says nothing; ``similarity`` overrides it. ``pooling`` is for a model that
    is no sentence-transformers folder and does not say how its token vectors become one.
    """

    model: str
    passage_model: str = ""
    query_prefix: str | None = None
    query_suffix: str = ""
    passage_prefix: str | None = None
    passage_suffix: str = ""
    max_tokens: int | None = None
    pooling: str = ""
    similarity: str = ""
    trust_remote_code: bool = False
    batch: int = 32
    device: str = ""

    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        above_zero(max_tokens=self.max_tokens, batch=self.batch)
        for name, value, known in (("pooling", self.pooling, POOLINGS), ("similarity", self.similarity, SIMILARITIES)):
            if value and value not in known:
                raise InputError(f"{name}: {value!r} is not one of {', '.join(known)}")

    @property
    def name(self) -> str:
        """The model, and a digest of its files and of all settings that change its vectors."""
        passages = self._source("passage")
        settings = [
            passages.fingerprint if self.passage_model else "", self.query_prefix, self.query_suffix,
            self.passage_prefix, self.passage_suffix, self.max_tokens, self.pooling, self.similarity,
        ]  # fmt: skip
        return named(self._source("query"), self.version, settings)

    @property
    def dimension(self) -> int:
        """Length of a vector. The model is loaded for it."""
        lengths = [_dimension(self._open(role)) for role in ("query", "passage")]
        if lengths[0] != lengths[1]:
            raise ModelError(
                f"{self.model} and {self.passage_model} do not belong together: their vectors have {lengths[0]} and "
                f"{lengths[1]} numbers"
            )
        return lengths[0]

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Shape (texts, dimension), in order; a batch holds texts of similar length."""
        if role not in ("query", "passage"):
            raise InputError(f"role: {role!r} is not one of 'query', 'passage'")
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        model = self._open(role)
        query = role == "query"
        prefix, suffix = (self.query_prefix, self.query_suffix) if query else (self.passage_prefix, self.passage_suffix)
        if prefix is None:
            prefix = _own_prompt(model, ("query",) if query else ("document", "passage", "corpus"))
        encode = model.encode_query if query else model.encode_document
        with alone(model):
            dressed = [text + suffix for text in self._cut(model, [readable(text) for text in texts], prefix, suffix)]
            found = encode(
                dressed,
                prompt=prefix,
                batch_size=self.batch,
                show_progress_bar=False,
                convert_to_numpy=True,
                normalize_embeddings=(self.similarity or _similarity(model, self.model)) == "cosine",
            )
        return finite(np.asarray(found, dtype=np.float32), self._source(role).model)

    def _source(self, role: Role) -> Source:
        other = self.passage_model if role == "passage" else ""
        return Source(other or self.model, self.trust_remote_code)

    def _open(self, role: Role) -> SentenceTransformer:
        source = self._source(role)
        return _open(source, source.fingerprint, self.pooling, self.device, self.max_tokens)

    def _cut(self, model: SentenceTransformer, texts: list[str], prefix: str, suffix: str) -> list[str]:
        """The beginning of each text that leaves room for what is put round it."""
        longest = model.max_seq_length
        if self.max_tokens is None and (longest is None or not suffix):
            return texts  # the model cuts at its end
        tokenizer: Any = model.tokenizer
        around = _count(tokenizer, prefix) + _count(tokenizer, suffix) + len(tokenizer("")["input_ids"])
        positions = _positions(model)
        limit = self.max_tokens or (longest or positions) - around
        if limit < 1 or limit + around > positions:
            raise InputError(
                f"{self.model} reads at most {positions} tokens, of which {around} go to prefix, suffix and marks; "
                f"max_tokens must be from 1 to {positions - around}, got {limit}"
            )
        model.max_seq_length = max(longest or 0, limit + around)
        return [_beginning(tokenizer, text, limit) for text in texts]


def _count(tokenizer: Any, text: str) -> int:  # noqa: ANN401
    return len(tokenizer(text, add_special_tokens=False)["input_ids"]) if text else 0


def _beginning(tokenizer: Any, text: str, limit: int) -> str:  # noqa: ANN401
    """The text up to the end of its token number ``limit``."""
    if len(text) <= limit:  # a token has at least one character
        return text
    if not tokenizer.is_fast:
        ids = tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]
        return text if len(ids) <= limit else str(tokenizer.decode(ids[:limit]))
    spans = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)["offset_mapping"]
    return text if len(spans) <= limit else text[: spans[limit - 1][1]]


def _positions(model: SentenceTransformer) -> int:
    """How many tokens the network has places for."""
    first: Any = model[0]
    config = getattr(first, "config", None)
    known = [
        value
        for value in (getattr(config, "max_position_embeddings", None), model.tokenizer.model_max_length)
        if isinstance(value, int) and 0 < value < 10**7
    ]
    return min(known) if known else (model.max_seq_length or 10**7)


def _own_prompt(model: SentenceTransformer, names: Sequence[str]) -> str:
    prompts = model.prompts or {}
    found = next((prompts[name] for name in names if prompts.get(name)), None)
    return found or prompts.get(model.default_prompt_name or "") or ""


def _similarity(model: SentenceTransformer, name: str) -> str:
    found = str(model.similarity_fn_name)
    if found not in SIMILARITIES:
        raise ModelError(f"{name}: compares vectors by {found!r}; only cosine and dot product can be searched")
    return found


def _dimension(model: SentenceTransformer) -> int:
    return int(model.get_embedding_dimension() or 0)


@lru_cache(maxsize=4)
def _open(source: Source, fingerprint: str, pooling: str, device: str, max_tokens: int | None) -> SentenceTransformer:
    del fingerprint, max_tokens  # a folder that was replaced is opened anew; `_cut` sets the length
    package = library("hub", "SentenceTransformer", "MultiVectorEncoder")
    source.needs("dense encoder", ["SentenceTransformer"], "")
    shared = {"trust_remote_code": source.trust_remote_code}

    def make(local: bool) -> SentenceTransformer:
        if not pooling:
            model: SentenceTransformer = package.SentenceTransformer(
                source.reference, device=device or None, local_files_only=local, **shared
            )
            return model
        from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

        if source.in_modules:
            raise InputError(f"{source.model}: says itself how its vectors are pooled; leave out pooling={pooling}")
        options = {"local_files_only": local, "cache_dir": cache_folder(), **shared}
        body = Transformer(
            source.reference,
            model_kwargs=dict(options),
            processor_kwargs=dict(options),
            config_kwargs=dict(options),
        )
        pooled: SentenceTransformer = package.SentenceTransformer(
            modules=[body, Pooling(body.get_embedding_dimension(), pooling)], device=device or None
        )
        return pooled

    return source.load("dense encoder", make)
