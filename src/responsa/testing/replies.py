"""Replies without a model: sentences of the passages given that share words with the question, or JSON of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from responsa.text import sentences, words

Schema = Mapping[str, Any]

_PASSAGE = re.compile(r'<passage id="([^"]*)" mark="([0-9a-f]+)">\n(.*?)\n</passage mark="\2">', re.DOTALL)
_SCHEMA = re.compile(r"JSON schema[^{]{0,80}(?=\{)")
_SOURCES = ("id", "ids", "citation", "citations", "passage", "passages", "source", "sources", "cites")
_MOST = 3  # sentences of a reply


@dataclass(frozen=True, slots=True)
class Asked:
    """A request for a reply, as the server read it. ``messages`` are (role, text); ``body`` is all that arrived."""

    model: str
    messages: tuple[tuple[str, str], ...]
    body: Mapping[str, object] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All messages."""
        return "\n\n".join(text for _, text in self.messages)

    @property
    def prompt(self) -> str:
        """The last message of the user."""
        return next((text for role, text in reversed(self.messages) if role == "user"), "")

    @property
    def passages(self) -> tuple[tuple[str, str], ...]:
        """(id, text) of each passage that is fenced in the messages."""
        return tuple((match[1], match[3]) for match in _PASSAGE.finditer(self.text))

    @property
    def question(self) -> str:
        """What the user says beside the passages, of the first message."""
        first = next((text for role, text in self.messages if role == "user"), "")
        return _SCHEMA.split(_PASSAGE.sub(" ", first))[0].strip()

    @property
    def schema(self) -> Schema | None:
        """The schema that the reply has to fit, where one is asked for."""
        for role, text in reversed(self.messages):
            for match in reversed(list(_SCHEMA.finditer(text)) if role != "assistant" else []):
                try:
                    value, _ = json.JSONDecoder().raw_decode(text, match.end())
                except ValueError:
                    continue
                if isinstance(value, dict):
                    return cast("Schema", value)
        return None


def sensible(asked: Asked) -> str:
    """JSON that fits the schema where one is asked for, else the best sentences of the passages with their ids."""
    found = best(asked)
    if asked.schema is not None:
        return json.dumps(instance(asked.schema, found), ensure_ascii=False)
    if found:
        return " ".join(f"{sentence} [{name}]" for name, sentence in found)
    return f"No passages were given for: {asked.question[:200]}"


def best(asked: Asked) -> list[tuple[str, str]]:
    """(id, sentence) of up to three sentences of the passages: those that share most words with the question."""
    wanted = set(words(asked.question))
    ranked = []
    for name, text in asked.passages:
        for start, end in sentences(text):
            sentence = " ".join(text[start:end].split())
            if sentence:
                ranked.append((len(wanted & set(words(sentence))), name, sentence))
    ranked.sort(key=lambda row: -row[0])
    return [(name, sentence) for _, name, sentence in ranked[:_MOST]]


def instance(schema: Schema, found: list[tuple[str, str]] | None = None) -> object:
    """A value that fits the schema. Texts are the sentences ``found``, ids theirs; numbers the least allowed."""
    turn = iter(found or [])
    return _made(schema, schema, "", next(turn, ("", "")), turn)


def _made(schema: Schema, root: Schema, name: str, here: tuple[str, str], turn: Iterator[tuple[str, str]]) -> object:
    schema = _resolved(schema, root)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next(each for each in kind if each != "null")
    if kind == "object":
        inner = cast("Mapping[str, Schema]", schema.get("properties", {}))
        return {key: _made(each, root, key, here, turn) for key, each in inner.items()}
    if kind == "array":
        return _list(schema, root, name, here, turn)
    if kind in ("integer", "number"):
        return _number(schema, whole=kind == "integer")
    if kind == "boolean":
        return True
    if kind == "null":
        return None
    text = here[0] if name in _SOURCES or name.endswith(("_id", "_ids")) else here[1]
    return text or "nothing was found"


def _list(
    schema: Schema, root: Schema, name: str, here: tuple[str, str], turn: Iterator[tuple[str, str]]
) -> list[object]:
    """One item for each sentence left where the items are objects, else one; at least as many as the schema wants."""
    if "prefixItems" in schema:
        return [_made(each, root, name, here, turn) for each in schema["prefixItems"]]
    items = cast("Schema", schema.get("items", {}))
    rows = [here, *turn] if _resolved(items, root).get("type") == "object" else [here]
    rows += [here] * (int(schema.get("minItems", 0)) - len(rows))
    return [_made(items, root, name, row, iter(())) for row in rows[: schema.get("maxItems", len(rows))]]


def _number(schema: Schema, *, whole: bool) -> float:
    low = schema.get("minimum")
    if low is None and "exclusiveMinimum" in schema:
        low = schema["exclusiveMinimum"] + 1
    if low is None:
        low = min(1, schema.get("maximum", 1))
    return int(low) if whole else float(low)


def _resolved(schema: Schema, root: Schema) -> Schema:
    """The schema behind a reference, or the first choice that is not null."""
    while "$ref" in schema or "anyOf" in schema:
        if "$ref" in schema:
            schema = root["$defs"][schema["$ref"].rsplit("/", 1)[-1]]
        else:
            schema = next((each for each in schema["anyOf"] if each.get("type") != "null"), {"type": "null"})
    return schema
