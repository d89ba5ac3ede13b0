"""Replies read as dataclasses: the model is told the shape, and told what was wrong where it misses it.

What counts is one JSON value that fits, in a code fence or not, with words round it or not. Nothing is guessed: no
repair of broken JSON, no number made of text, no unknown field.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, TypeVar

from responsa.errors import MissingDependency
from responsa.models.chat import Chat, ChatFailed, ChatModel, Message, Progress, Reply, forget
from responsa.types import Call

if TYPE_CHECKING:
    from pydantic import TypeAdapter

S = TypeVar("S")

_FORMAT = "Reply with one JSON value and nothing else. It must fit this JSON schema:"
_AGAIN = "That reply cannot be used: {problem}. Reply again, with one JSON value that fits the schema and nothing else."
_FENCE = re.compile(
    r"^[ \t]*```[ \t]*(?:json)?[ \t]*\n(.*?)^[ \t]*```[ \t]*$", re.DOTALL | re.MULTILINE | re.IGNORECASE
)
_SHOWN = 3  # errors of one reply


class Unfit(ValueError):
    """A reply is no value of the shape; the message says what is wrong, for the model and for people."""


@dataclass(frozen=True, slots=True)
class Parsed(Generic[S]):
    """The value of a reply, and all calls made for it, those asked again included."""

    value: S
    calls: tuple[Call, ...]


@dataclass
class _Question(Generic[S]):
    """A chat on its way to a value."""

    chat: Chat
    calls: list[Call] = field(default_factory=list)
    unfit: list[Chat] = field(default_factory=list)
    outcome: Parsed[S] | ChatFailed | None = None

    @property
    def sent(self) -> int:
        return sum(call.attempts for call in self.calls)


def ask(
    model: ChatModel, chats: Sequence[Chat], shape: type[S], tries: int = 3, progress: Progress | None = None
) -> list[Parsed[S] | ChatFailed]:
    """The replies as values of ``shape``, a dataclass, in order; a failure stands in its place.

    A reply that does not fit is shown to the model with what is wrong, and asked again. For each chat at most ``tries``
    replies are read and at most ``tries`` requests sent, those that failed on their way included. The call of a
    failure is the sum of all that were made. Where none of its replies fits, a cache forgets them, so that another run
    asks anew.
    """
    reader = Reader(shape)
    questions = [_Question[S](reader.dressed(chat)) for chat in chats]
    for turn in range(1, tries + 1):
        waiting = [question for question in questions if question.outcome is None]
        settled = len(questions) - len(waiting)

        def counted(done: int, _: int, settled: int = settled) -> None:
            if progress:
                progress(settled + done, len(questions))

        batch = [replace(question.chat, attempts=tries - question.sent) for question in waiting]
        for question, reply in zip(waiting, model.replies(batch, counted) if batch else [], strict=True):
            _settle(reader, question, reply, last=turn == tries, tries=tries, name=model.name)
    forget(model, [chat for each in questions if isinstance(each.outcome, ChatFailed) for chat in each.unfit])
    return [question.outcome for question in questions if question.outcome is not None]


def _settle(
    reader: Reader[S], question: _Question[S], reply: Reply | ChatFailed, *, last: bool, tries: int, name: str
) -> None:
    """Read the reply: the question's outcome, or what is asked next."""
    question.calls.append(reply.call)
    if isinstance(reply, ChatFailed):
        question.outcome = ChatFailed(str(reply), together(question.calls, reply.call.error))
        return
    try:
        value = reader.read(reply.text)
    except Unfit as unfit:
        question.unfit.append(question.chat)
        if last or question.sent >= tries:
            told = f"the reply cannot be used: {unfit}"
            asked = f" (asked {len(question.calls)} times)" if len(question.calls) > 1 else ""
            question.outcome = ChatFailed(f"{name}: {told}{asked}", together(question.calls, told))
            return
        more = (Message("assistant", reply.text), Message("user", _AGAIN.format(problem=unfit)))
        question.chat = replace(question.chat, messages=(*question.chat.messages, *more))
    else:
        question.outcome = Parsed(value, tuple(question.calls))


def together(calls: Sequence[Call], error: str = "") -> Call:
    """One call for all: the first, with the sums of tokens, cost, time and attempts; no cost where none is known."""
    costs = [call.cost for call in calls if call.cost is not None]
    return replace(
        calls[0],
        tokens_in=sum(call.tokens_in for call in calls),
        tokens_out=sum(call.tokens_out for call in calls),
        cost=sum(costs) if costs else None,
        seconds=sum(call.seconds for call in calls),
        attempts=sum(call.attempts for call in calls),
        cached=all(call.cached for call in calls),
        error=error,
    )


class Reader(Generic[S]):
    """Reads replies as values of a shape: types as they are, no unknown fields, no value twice."""

    def __init__(self, shape: type[S]) -> None:
        try:
            from pydantic import TypeAdapter
        except ImportError as error:
            raise MissingDependency("reading a language model's replies", "llm") from error
        self._adapter: TypeAdapter[S] = TypeAdapter(shape)
        self.schema = json.dumps(_plain(self._adapter.json_schema()), ensure_ascii=False, separators=(",", ":"))

    def dressed(self, chat: Chat) -> Chat:
        """The chat with the shape at the end of its last message."""
        *before, last = chat.messages
        return replace(chat, messages=(*before, Message(last.role, f"{last.text}\n\n{_FORMAT}\n{self.schema}")))

    def read(self, text: str) -> S:
        """The value in the reply. Unfit where there is none, or one of another shape."""
        from pydantic import ValidationError

        given = json_in(text)
        try:
            value = self._adapter.validate_json(json.dumps(given), strict=True, extra="forbid")
        except ValidationError as error:
            errors = error.errors(include_url=False, include_input=False, include_context=False)
        else:
            if place := _truth_for_number(given, self._adapter.dump_python(value, mode="json")):
                raise Unfit(f"its JSON does not fit the schema: {place}: a number is due, not true or false")
            return value
        lines = []
        for each in errors[:_SHOWN]:
            place = ".".join(str(part) for part in each["loc"])
            lines.append(f"{place}: {each['msg']}" if place else each["msg"])
        more = f"; and {len(errors) - _SHOWN} more" if len(errors) > _SHOWN else ""
        raise Unfit(f"its JSON does not fit the schema: {'; '.join(lines)}{more}")


def _truth_for_number(given: object, made: object, place: str = "its value") -> str:
    """Where true or false was taken for the number 1 or 0 of a literal; empty where it was not."""
    pairs: list[tuple[str, object, object]] = []
    if isinstance(given, dict) and isinstance(made, dict):
        pairs = [(name, given[name], made[name]) for name in given if name in made]
    elif isinstance(given, list) and isinstance(made, list):
        pairs = [(f"{place}.{number}", *both) for number, both in enumerate(zip(given, made, strict=False))]
    elif isinstance(given, bool) and isinstance(made, int) and not isinstance(made, bool):
        return place
    return next(filter(None, (_truth_for_number(one, other, name) for name, one, other in pairs)), "")


def json_in(text: str) -> object:
    """The one JSON value in the text: the whole, what a code fence holds, or the one object among words.

    Unfit where there is none, or several.
    """
    stripped = text.strip().removeprefix("\ufeff")
    try:
        return _loaded(stripped)
    except ValueError as error:
        problem = str(error)
    fenced = [match[1] for match in _FENCE.finditer(stripped)]
    if len(fenced) == 1:
        try:
            return _loaded(fenced[0].strip())
        except ValueError as error:
            raise Unfit(f"its JSON cannot be read ({error})") from None
    if len(fenced) > 1:
        raise Unfit(f"it has {len(fenced)} code fences where one JSON value is due")
    found = _objects(stripped)
    if len(found) == 1:
        return found[0]
    if found:
        raise Unfit(f"it has {len(found)} JSON values where one is due")
    raise Unfit(f"it is not JSON ({problem})" if "{" in stripped or "[" in stripped else "it is not JSON")


def _objects(text: str) -> list[object]:
    """The JSON objects that stand in the text one after the other; broken ones are passed over."""
    found, at = [], text.find("{")
    while at >= 0:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            # What stands inside a broken object is no reply by itself.
            return []
        found.append(value)
        at = text.find("{", end)
    return found


def _loaded(text: str) -> object:
    try:
        return _DECODER.decode(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a field is given twice")
    return made


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no number in JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant)


def _plain(schema: object) -> object:
    """The schema without titles, which only repeat the names."""
    if isinstance(schema, dict):
        named = schema.get("properties") is not None or "type" in schema or "$ref" in schema or "anyOf" in schema
        return {
            name: {key: _plain(each) for key, each in value.items()}
            if name in ("properties", "$defs")
            else _plain(value)
            for name, value in schema.items()
            if not (name == "title" and named and isinstance(value, str))
        }
    if isinstance(schema, list):
        return [_plain(each) for each in schema]
    return schema
