"""Vectors of tokens in context through transformers, as BERTScore reads them (Zhang et al., 2020, section 3)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from responsa.errors import InputError, MissingDependency
from responsa.models.checks import finite, readable
from responsa.models.contextual import TokenVectors
from responsa.models.hub.alone import alone
from responsa.models.hub.source import Source, above_zero, named
from responsa.models.hub.texts import _limit

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

# The layer that agrees best with human judgements on WMT16, as measured by the authors of BERTScore.
_BEST_LAYER = {
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "distilbert-base-uncased": 5,
    "roberta-base": 10,
    "roberta-large": 17,
    "roberta-large-mnli": 19,
    "deberta-base-mnli": 9,
    "deberta-large-mnli": 18,
    "deberta-xlarge-mnli": 40,
}
_SPACE_BEFORE = ("roberta", "gpt2")  # a first word without a space before it is another token to these


@dataclass(frozen=True)
class HubContextualEncoder:
    """A `ContextualEncoder`: the states of one layer, brought to length one. ``layer`` 0: the known best of the model.

    Texts are cut where the model ends. Texts of similar length are run together.
    """

    model: str
    layer: int = 0
    trust_remote_code: bool = False
    batch: int = 32
    device: str = ""

    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        above_zero(batch=self.batch, layer=self.layer or self._known())

    @property
    def name(self) -> str:
        """The model, its layer, and a digest of its files and of all settings that change its vectors."""
        layer = self.layer or self._known()
        return f"{named(self._source, self.version, ['contextual', layer])}, layer {layer}"

    def encode(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Unit vectors, shape (tokens, dimension) for each text; a blank text has marks alone."""
        tokenizer, model = self._open()
        with alone(model):
            return self._vectors(texts, tokenizer, model)

    def _vectors(
        self, texts: Sequence[str], tokenizer: PreTrainedTokenizerBase, model: PreTrainedModel
    ) -> list[TokenVectors]:
        import torch

        dressed = [self._dressed(text, model) for text in texts]
        limit = _limit(tokenizer, model)
        told: dict[str, Any] = {"truncation": True, "max_length": limit} if limit else {"truncation": False}
        lengths = [len(row) for row in tokenizer(dressed, **told)["input_ids"]] if dressed else []
        order = sorted(range(len(dressed)), key=lambda place: lengths[place])
        found: dict[int, TokenVectors] = {}
        for start in range(0, len(order), self.batch):
            places = order[start : start + self.batch]
            rows = [dressed[place] for place in places]
            padded = tokenizer(rows, padding=True, return_tensors="pt", return_special_tokens_mask=True, **told)
            marks = padded.pop("special_tokens_mask").bool().numpy()
            with torch.inference_mode():
                states = model(**padded.to(model.device)).last_hidden_state.float()
                states = torch.nn.functional.normalize(states, dim=-1).cpu().numpy()
            ids, real = padded["input_ids"].cpu().numpy(), padded["attention_mask"].cpu().numpy().astype(bool)
            for row, place in enumerate(places):
                vectors = finite(np.asarray(states[row][real[row]], dtype=np.float32), self.model, "token")
                found[place] = TokenVectors(ids[row][real[row]], vectors, marks[row][real[row]])
        return [found[place] for place in range(len(texts))]

    @property
    def _source(self) -> Source:
        return Source(self.model, self.trust_remote_code)

    def _known(self) -> int:
        name = self._source.short.rpartition("/")[2]
        if name not in _BEST_LAYER:
            raise InputError(f"{self.model}: its best layer is not known here; name it: hf:{self.model}?layer=9")
        return _BEST_LAYER[name]

    def _dressed(self, text: str, model: PreTrainedModel) -> str:
        text = readable(text).strip()
        return f" {text}" if text and model.config.model_type in _SPACE_BEFORE else text

    def _open(self) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
        return _open(self._source, self._source.fingerprint, self.layer or self._known(), self.device)


@lru_cache(maxsize=2)
def _open(source: Source, fingerprint: str, layer: int, device: str) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
    del fingerprint  # with it, a folder that was replaced is opened anew
    try:
        import torch
        import transformers
    except ImportError as error:
        raise MissingDependency("BERTScore", source.extra) from error
    transformers.utils.logging.set_verbosity_error()
    if not sys.stderr.isatty():
        transformers.utils.logging.disable_progress_bar()
    place = device or ("cuda" if torch.cuda.is_available() else "cpu")

    def make(local: bool) -> tuple[PreTrainedTokenizerBase, PreTrainedModel]:
        told = {"local_files_only": local, "trust_remote_code": source.trust_remote_code}
        config = transformers.AutoConfig.from_pretrained(source.reference, **told)
        if layer > config.num_hidden_layers:
            raise InputError(f"{source.model}: has {config.num_hidden_layers} layers, there is no layer {layer}")
        config.num_hidden_layers = layer  # those above it are not computed
        tokenizer = transformers.AutoTokenizer.from_pretrained(source.reference, **told)
        model = transformers.AutoModel.from_pretrained(source.reference, config=config, **told)
        return tokenizer, model.float().to(place).eval()

    return source.load("model for BERTScore", make)
