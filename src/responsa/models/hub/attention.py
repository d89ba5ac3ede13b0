"""DeBERTa's attention (He et al. 2021, eq. 4) with the same numbers from less work.

A layer compares each token with each other one and with the distance between them. The code of transformers projects
its whole table of distances anew for every batch, compares every token with all of it, and gathers what each pair of
tokens needs. But no projection depends on the text, two tokens of n are less than n apart, and with distances in a
row what the pairs need stands at even steps in memory, where it is read as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from torch.nn import Module

# Who projects the table: v1, v2, and v2 where the layer's own projections serve for it too.
_OF_KEYS = ("pos_proj", "pos_key_proj", "key_proj")
_OF_QUERIES = ("pos_q_proj", "pos_query_proj", "query_proj")
_BLOCK = 64  # rows at a time
_KEPT = 256  # tokens: what longer texts read of the table is not kept for the next


def attend(net: Module, coarse: bool = False) -> Callable[[], None] | None:
    """Let the attention of every layer be computed so; returns what takes it back, None where a network has no such
    attention. The projections are those of the weights as they are now. ``coarse`` computes its products in brain
    floats of 16 bits: two to three times as fast where the processor has them, and about as exact as weights in 8.
    For inference alone: no gradient goes through, and nothing is dropped out."""
    import torch

    encoder = _encoder(net)
    with torch.inference_mode():
        table = encoder.get_rel_embedding() if encoder is not None else None
        parts = [layer.attention.self for layer in encoder.layer] if table is not None else []
        if not parts or not all(_known(part) for part in parts):
            return None
        made = [_of(part, table, coarse) for part in parts]
    for part, attention in zip(parts, made, strict=True):
        part.forward = attention.forward

    def undo() -> None:
        for part in parts:
            del part.forward

    return undo


@dataclass
class _Attention:
    """The attention of a layer, ``part``. ``keys`` and ``queries`` are the table projected, by head: shape (heads,
    distances, width of a head), from the furthest before to the furthest behind; None where a layer has none.
    ``dtype`` is that of the products."""

    part: Any
    keys: Tensor | None
    queries: Tensor | None
    scale: float
    dtype: torch.dtype
    _rows: tuple[int, Tensor | None, Tensor | None] = field(default=(0, None, None))

    def forward(
        self,
        hidden_states: Tensor,
        attention_mask: Tensor,
        output_attentions: bool = False,
        query_states: Tensor | None = None,
        relative_pos: Tensor | None = None,
        rel_embeddings: Tensor | None = None,
    ) -> tuple[Tensor, Tensor | None]:
        """What the layer's own forward gives, which is asked where more is wanted than the classifiers here ask for."""
        import torch

        if output_attentions or query_states is not None or attention_mask.dim() != 4 or attention_mask.shape[1] != 1:
            plain: tuple[Tensor, Tensor | None] = type(self.part).forward(
                self.part, hidden_states, attention_mask, output_attentions, query_states, relative_pos, rel_embeddings
            )
            return plain
        query, key, value = self._project(hidden_states)
        scores = self._scores(query, key)
        mask = attention_mask[:, 0].bool()
        if not mask.all():
            scores.masked_fill_(~mask, torch.finfo(scores.dtype).min)
        found = torch.matmul(torch.softmax(scores, dim=-1), value)
        return found.permute(1, 2, 0, 3).flatten(2).to(hidden_states.dtype), None

    def _project(self, states: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries (scaled), keys and values, each of the shape (heads, texts, tokens, width)."""
        part, heads = self.part, self.part.num_attention_heads
        if hasattr(part, "in_proj"):
            query, key, value = part.in_proj(states).unflatten(-1, (heads, 3, -1)).permute(3, 2, 0, 1, 4)
            query, value = query + _bias(part.q_bias, heads), value + _bias(part.v_bias, heads)
        else:
            query, key, value = (
                project(states).unflatten(-1, (heads, -1)).permute(2, 0, 1, 3)
                for project in (part.query_proj, part.key_proj, part.value_proj)
            )
        query, key, value = (each.to(self.dtype).contiguous() for each in (query * self.scale, key, value))
        return query, key, value

    def _scores(self, query: Tensor, key: Tensor) -> Tensor:
        """Shape (heads, texts, tokens, tokens): token by token, then by what each says of the distance to the other."""
        import torch

        length = query.shape[2]
        keys, queries = self._reached(length)
        scores = torch.matmul(query, key.transpose(-1, -2))
        if keys is not None:
            _add(scores, query, keys)
        if queries is not None:
            _add(scores.transpose(-1, -2), key, queries)
        return scores

    def _reached(self, length: int) -> tuple[Tensor | None, Tensor | None]:
        """The projections that texts of so many tokens read, of the shape (heads, width, 2 * length - 1): for row i and
        column j that of their distance stands at j - i + length - 1. Those of the last length are kept."""
        known = self._rows
        if known[0] != length:
            keys, queries = self.keys, self.queries
            rows = _rows(self.part, length, keys if keys is not None else queries)
            known = (
                length,
                None if keys is None else self._in_columns(keys[:, rows.flip(0)]),
                None if queries is None else self._in_columns(queries[:, rows] * self.scale),
            )
            if length <= _KEPT:
                self._rows = known
        return known[1:]

    def _in_columns(self, rows: Tensor) -> Tensor:
        return rows.transpose(1, 2).to(self.dtype).contiguous()


def _encoder(net: Module) -> Any:  # noqa: ANN401  # a class of transformers
    found = [part for part in net.modules() if hasattr(part, "get_rel_embedding") and hasattr(part, "layer")]
    return found[0] if len(found) == 1 else None


def _known(part: Any) -> bool:  # noqa: ANN401
    """Whether this is the attention of one of the two families, with nothing that is not computed here."""
    projections = hasattr(part, "in_proj") or all(hasattr(part, f"{name}_proj") for name in ("query", "key", "value"))
    return (
        projections
        and bool(set(getattr(part, "pos_att_type", ())) & {"c2p", "p2c"})
        and not getattr(part, "talking_head", False)
        and hasattr(part, "num_attention_heads")
    )


def _of(part: Any, table: Tensor, coarse: bool) -> _Attention:  # noqa: ANN401
    import torch

    kinds = set(part.pos_att_type)
    keys = _projected(part, _OF_KEYS, table) if "c2p" in kinds else None
    queries = _projected(part, _OF_QUERIES, table) if "p2c" in kinds else None
    width = part.all_head_size // part.num_attention_heads
    scale = 1 / math.sqrt(width * (1 + len(part.pos_att_type)))
    return _Attention(part, keys, queries, scale, torch.bfloat16 if coarse else table.dtype)


def _projected(part: Any, names: Sequence[str], table: Tensor) -> Tensor:  # noqa: ANN401
    project = next(getattr(part, name) for name in names if hasattr(part, name))
    found: Tensor = project(table).unflatten(-1, (part.num_attention_heads, -1)).transpose(0, 1)
    return found.contiguous()


def _bias(bias: Tensor, heads: int) -> Tensor:
    return bias.view(heads, 1, 1, -1)


def _rows(part: Any, length: int, table: Tensor) -> Tensor:  # noqa: ANN401
    """The rows of the table for distances from 1 - length to length - 1; far ones share a row."""
    import torch

    distances = torch.arange(1 - length, length, device=table.device)
    if getattr(part, "position_buckets", 0) > 0:
        from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

        distances = make_log_bucket_position(distances, part.position_buckets, part.max_relative_positions).long()
    middle = table.shape[1] // 2
    return (distances + middle).clamp(0, 2 * middle - 1)


def _add(scores: Tensor, states: Tensor, rows: Tensor) -> None:
    """Add to each score, shape (heads, texts, tokens, tokens), what the state of its row says of the distance to its
    column, ``states`` (heads, texts, tokens, width) by ``rows`` (heads, width, 2 * tokens - 1).

    For row i and column j that stands at j - i + tokens - 1: one further to the left in every row, a view of even
    steps. In blocks of rows, since each row reads only half of the distances.
    """
    heads, texts, length, _ = states.shape
    for start in range(0, length, _BLOCK):
        block = states[:, :, start : start + _BLOCK]
        high = block.shape[2]
        wide = length + high - 1
        reached = rows[..., length - start - high : 2 * length - 1 - start]
        found = block.flatten(1, 2) @ reached
        steps = (texts * high * wide, high * wide, wide - 1, 1)
        scores[:, :, start : start + high] += found.as_strided((heads, texts, high, length), steps, high - 1)
