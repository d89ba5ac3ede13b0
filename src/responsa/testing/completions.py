"""A language model's server without a model: it speaks as OpenAI does and goes wrong on command.

    with ChatServer() as server:
        server.faults("429:1", "cut")
        model = load_chat(f"{server.url}#any-model")

The first two requests go wrong as told; what comes after is answered well. With ``share``, such a share of all
requests goes wrong, chosen by the seed and the content of the request: the same requests meet the same faults.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import cast

from responsa.errors import InputError, suggestion
from responsa.testing.replies import Asked, sensible
from responsa.testing.serving import HIDDEN, SECRET_HEADERS, Reply, Request, Scripted

Json = dict[str, object]

FAULTS = {
    "slow": "answers well after SECONDS (slow:0.5)",
    "drop": "hangs up without an answer",
    "cut": "hangs up in the middle of the answer, streamed or not",
    "cut-clean": "ends the stream without its last events, as if it were complete",
    "no-body": "status 200 and an empty body",
    "garbage": "status 200 and a page of HTML",
    "invalid": "status 200 and JSON that breaks off",
    "null": "status 200 and the JSON value null",
    "shape": "status 200 and JSON of another shape",
    "refusal": "the model refuses",
    "filter": "the provider's filter stops the reply",
    "empty": "a reply without text",
    "over-long": "a reply cut at its greatest length",
    "prose": "text where JSON is asked for",
    "wrong-shape": "JSON of another shape than is asked for",
    "language": "a reply in another language",
    "no-usage": "answers well, without the number of tokens",
    "leak": "a reply that repeats the key",
    "echo": "status 400; the body repeats the headers of the request, the key among them",
    "redirect": "status 307 to another host",
}
_FIELDS = {
    "model", "messages", "temperature", "top_p", "max_tokens", "max_completion_tokens", "seed", "stream",
    "stream_options", "response_format", "user", "stop",
}  # fmt: skip
_ROLES = {"system", "developer", "user", "assistant"}
_ITALIAN = "Gli enti devono conservare i dati per almeno cinque anni."
_PIECE = 20  # characters of a streamed event


class ChatServer(Scripted):
    """Chat completions over HTTP at 127.0.0.1, from entering the ``with`` block to leaving it.

    ``reply`` makes the text of a reply; by default it quotes the passages fenced in the prompt, or gives JSON of them
    where a schema is asked for. ``share`` maps faults to the share of requests that meet them, from 0 to 1, together
    at most 1. With a ``key``, requests without it are refused (401); with ``models``, other models are unknown
    (404); with ``window``, prompts with more tokens are refused (400). A token is four characters. ``most`` is how
    many requests have been answered at a time so far. The last ``kept`` requests are recorded, None for all.
    """

    def __init__(
        self,
        *,
        reply: Callable[[Asked], str] = sensible,
        share: Mapping[str, float] | None = None,
        seed: int = 0,
        key: str | None = None,
        models: tuple[str, ...] = (),
        window: int | None = None,
        port: int = 0,
        kept: int | None = None,
    ) -> None:
        self._share = _checked(share or {})
        super().__init__(FAULTS, port, kept)
        self._reply = reply
        self._seed = seed
        self._key = key
        self._models = models
        self._window = window
        self._seen: Counter[str] = Counter()
        self._running = 0
        self.most = 0

    @property
    def url(self) -> str:
        return f"{self.address}/v1"

    def _answer(self, method: str, path: str, headers: Mapping[str, str], raw: bytes) -> Reply | None:
        with self._lock:
            self._running += 1
            self.most = max(self.most, self._running)
        try:
            return self._answered(method, path, headers, raw)
        finally:
            with self._lock:
                self._running -= 1

    def _answered(self, method: str, path: str, headers: Mapping[str, str], raw: bytes) -> Reply | None:
        """The reply; None to hang up."""
        try:
            body = json.loads(raw) if raw else None
        except ValueError:
            body = None
        shown = {name: HIDDEN if name in SECRET_HEADERS else value for name, value in headers.items()}
        name, argument = self._take(Request(path, shown, body if isinstance(body, dict) else {}))
        if name == "ok":
            name, argument = self._drawn(raw)
        if name == "drop":
            return None
        if name == "slow":
            self._stopping.wait(float(argument or 1))
        early = _early_fault(name, argument, headers) or self._refused(method, path, headers)
        if early is not None:
            return early
        if not isinstance(body, dict):
            return _error(400, "the body is not a JSON object")
        try:
            asked = _read(body)
        except (TypeError, ValueError, KeyError) as error:
            return _error(400, f"bad request: {error}")
        return self._complete(asked, name, headers)

    def _drawn(self, raw: bytes) -> tuple[str, str]:
        """The fault that this request meets by its share: each time the same request comes, it is drawn anew."""
        if not self._share:
            return "ok", ""
        content = hashlib.sha256(raw).hexdigest()
        with self._lock:
            self._seen[content] += 1
            time = self._seen[content]
        drawn = hashlib.sha256(f"{self._seed} {time} {content}".encode()).digest()
        chance = int.from_bytes(drawn[:8], "big") / 2**64
        for word, share in self._share.items():
            chance -= share
            if chance < 0:
                name, _, argument = word.partition(":")
                return name, argument
        return "ok", ""

    def _refused(self, method: str, path: str, headers: Mapping[str, str]) -> Reply | None:
        if self._key is not None and headers.get("authorization") != f"Bearer {self._key}":
            return _error(401, "no valid key", "invalid_api_key")
        if path == "/v1/models" and method == "GET":
            rows = [{"id": name, "object": "model"} for name in self._models or ("any-model",)]
            return Reply(200, json.dumps({"object": "list", "data": rows}).encode())
        if path != "/v1/chat/completions":
            return _error(404, f"no service at {path}; known: /v1/chat/completions, /v1/models")
        return _error(405, "chats are asked by POST") if method != "POST" else None

    def _complete(self, asked: Asked, fault: str, headers: Mapping[str, str]) -> Reply:
        if self._models and asked.model not in self._models:
            return _error(404, f"the model {asked.model!r} does not exist", "model_not_found")
        prompt = sum(len(text) for _, text in asked.messages) // 4
        if self._window is not None and prompt > self._window:
            told = f"this model's maximum context length is {self._window} tokens, the messages have {prompt}"
            return _error(400, told, "context_length_exceeded")
        choice = _choice(self._text(asked, fault, headers), fault, asked)
        usage = {"prompt_tokens": prompt, "completion_tokens": len(str(choice["content"] or "")) // 4}
        usage["total_tokens"] = sum(usage.values())
        counted = None if fault == "no-usage" else usage
        if asked.body.get("stream"):
            return _streamed(asked, choice, counted, fault)
        message = {"role": "assistant", "content": choice["content"], "refusal": choice["refusal"]}
        value: Json = {
            "id": "chat-1", "object": "chat.completion", "created": 1, "model": asked.model,
            "choices": [{"index": 0, "message": message, "finish_reason": choice["finish"]}],
        }  # fmt: skip
        if counted:
            value["usage"] = counted
        if fault == "shape":
            value = {"result": "fine", "choices": "none"}
        body = json.dumps(value).encode()
        return Reply(200, body[: len(body) // 2] if fault == "invalid" else body, cut=fault == "cut")

    def _text(self, asked: Asked, fault: str, headers: Mapping[str, str]) -> str:
        fixed = {
            "empty": "",
            "language": _ITALIAN,
            "prose": "I think that the answer is yes.",
            "wrong-shape": '{"unexpected": [1, 2, 3]}',
            "leak": f"My key is {headers.get('authorization', '').removeprefix('Bearer ')}.",
        }
        return fixed[fault] if fault in fixed else self._reply(asked)


def _checked(share: Mapping[str, float]) -> dict[str, float]:
    for word, value in share.items():
        name = word.partition(":")[0]
        if name not in FAULTS and not (name.isdigit() and len(name) == 3):
            raise InputError(f"share: unknown fault {word!r}{suggestion(name, FAULTS)}")
        if not 0 <= value <= 1:
            raise InputError(f"share: {word!r}: expected a number from 0 to 1, got {value!r}")
    if sum(share.values()) > 1 + 1e-9:
        raise InputError(f"share: the shares are {sum(share.values()):g} together, more than 1")
    return dict(share)


def _read(body: Mapping[str, object]) -> Asked:
    unknown = sorted(set(body) - _FIELDS)
    if unknown:
        raise ValueError(f"unknown field {unknown[0]!r}")
    rows = body["messages"]
    if not isinstance(rows, list) or not rows:
        raise ValueError("expected a list of messages, at least one")
    messages = []
    for row in rows:
        if row["role"] not in _ROLES:
            raise ValueError(f"unknown role {row['role']!r}")
        content = row["content"]
        if isinstance(content, list):
            content = "".join(part["text"] for part in content)
        if not isinstance(content, str):
            raise TypeError("a message's content is not text")
        messages.append((row["role"], content))
    return Asked(str(body["model"]), tuple(messages), body)


def _choice(text: str, fault: str, asked: Asked) -> dict[str, str | None]:
    """Text, refusal and why the reply ends, cut where it is longer than the request allows."""
    if fault == "refusal":
        return {"content": None, "refusal": "I cannot help with that.", "finish": "stop"}
    if fault == "filter":
        return {"content": "", "refusal": None, "finish": "content_filter"}
    limit = asked.body.get("max_completion_tokens") or asked.body.get("max_tokens")
    most = 4 * limit if isinstance(limit, int) else len(text)
    if fault == "over-long":
        most = min(most, max(1, len(text) // 2))
    return {"content": text[:most], "refusal": None, "finish": "length" if most < len(text) else "stop"}


def _streamed(asked: Asked, choice: Mapping[str, str | None], usage: Mapping[str, int] | None, fault: str) -> Reply:
    """The reply as server-sent events."""

    def event(delta: Json, finish: str | None = None) -> Json:
        return {
            "id": "chat-1", "object": "chat.completion.chunk", "created": 1, "model": asked.model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }  # fmt: skip

    text, options = choice["content"] or "", cast("Json", asked.body.get("stream_options") or {})
    events = [event({"role": "assistant", "content": ""})]
    if choice["refusal"]:
        events.append(event({"refusal": choice["refusal"]}))
    events += [event({"content": text[at : at + _PIECE]}) for at in range(0, len(text), _PIECE)]
    if fault == "cut-clean":
        events = events[: max(2, len(events) // 2)]
    elif fault == "shape":
        events = [{"result": "fine", "choices": "none"}]
    else:
        events.append(event({}, choice["finish"]))
        if usage and options.get("include_usage"):
            events.append({**event({}), "choices": [], "usage": usage})
    lines = [f"data: {json.dumps(each)}\n\n" for each in events]
    if fault == "invalid":
        lines[len(lines) // 2] = 'data: {"id": \n\n'
    body = "".join([*lines, "" if fault == "cut-clean" else "data: [DONE]\n\n"]).encode()
    return Reply(200, body, (("Content-Type", "text/event-stream"),), cut=fault == "cut")


def _error(status: int, message: str, code: str = "") -> Reply:
    error = {"message": message, "type": "invalid_request_error", "code": code or None}
    return Reply(status, json.dumps({"error": error}).encode())


def _early_fault(name: str, argument: str, headers: Mapping[str, str]) -> Reply | None:
    """The replies that do not depend on what was asked."""
    if name.isdigit():
        after = (("Retry-After", argument),) if argument else ()
        return Reply(int(name), _error(int(name), f"told to answer {name}").body, after)
    fixed = {
        "no-body": Reply(200, b""),
        "garbage": Reply(200, b"<html><body>It works!</body></html>", (("Content-Type", "text/html"),)),
        "null": Reply(200, b"null"),
        "redirect": Reply(307, b"", (("Location", "http://elsewhere.invalid/v1/chat/completions"),)),
        "echo": _error(400, f"you sent {headers.get('authorization')!r} and {dict(headers)}"),
    }
    return fixed.get(name)
