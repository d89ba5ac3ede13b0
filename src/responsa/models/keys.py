"""Addresses and keys of APIs. Keys are read from the environment when they are needed, and never shown."""

from __future__ import annotations

import json
import os
import re
from urllib.parse import urlsplit

from responsa.errors import InputError, ModelError

_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")
_SHOWN = 200  # characters of a server's message
_LEAK = 8  # this many characters of the key in a message, and the message is not shown
_REAL, _PART = 16, 12  # characters of a key that is a secret for sure, and of a part that no text has by chance


def check_variable(name: str) -> None:
    """InputError for what cannot be the name of an environment variable, such as a key itself."""
    if not _VARIABLE.fullmatch(name):
        raise InputError("key: give the name of an environment variable such as VOYAGE_API_KEY, not the key itself")


def check_url(url: str) -> None:
    """InputError for what is no address, or an address that holds a key or password."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        usable = usable and url.isprintable() and " " not in url
    except ValueError:
        raise InputError("url: not an address such as https://api.voyageai.com/v1") from None
    if parts.username or parts.password or parts.query or parts.fragment:
        raise InputError(
            "url: give the bare address; a key or password belongs in the environment variable `key` names"
        )
    if not usable:
        raise InputError(f"url: expected an address such as https://api.voyageai.com/v1, got {url!r}")


def secret(variable: str, url: str, required: bool) -> str:
    """The key that the variable holds; empty where there is none and none is needed. ModelError otherwise."""
    value = os.environ.get(variable, "").strip()
    if not value and required:
        raise ModelError(f"{url} needs a key; set the environment variable {variable} to yours")
    if not value.isascii() or not value.isprintable() or " " in value:
        raise ModelError(f"the environment variable {variable} holds no key: keys have no spaces or odd characters")
    return value


def message(content: bytes) -> str:
    """What the server says went wrong, wherever it puts it."""
    text = content.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    for name in ("error", "detail", "message"):
        if isinstance(value, dict) and name in value:
            value = value[name]
    return value if isinstance(value, str) else text


def shown(text: str, secret: str) -> str:
    """The text as it may be shown: in one line, short, and not at all where it repeats the key or a part."""
    if repeats(text, secret):
        return "(its message repeats the key and is left out)"
    line = " ".join("".join(character if character.isprintable() else " " for character in text).split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


def leaks(reply: str, secret: str) -> bool:
    """Whether a model's reply has the key. Short keys are left alone: those that any server takes are words, too."""
    return len(secret) >= _REAL and repeats(reply, secret, _PART)


def repeats(text: str, secret: str, length: int = _LEAK) -> bool:
    """Whether the text has the key or so many characters of it."""
    if not secret:
        return False
    lowered, key = text.lower(), secret.lower()
    parts = {key[start : start + length] for start in range(max(1, len(key) - length + 1))}
    return any(part in lowered for part in parts)
