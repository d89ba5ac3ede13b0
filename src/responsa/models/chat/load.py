"""Language models by name: ``scheme:model``, with settings after a question mark.

    openai:gpt-5.6-luna?temperature=0          the key is in OPENAI_API_KEY
    anthropic:claude-haiku-5-5               ANTHROPIC_API_KEY
    google:gemini-3.8-flash                   GOOGLE_API_KEY or GEMINI_API_KEY
    https://models.example.org/v1#Qwen/Qwen3-8B?rpm=60&window=40960
    http://localhost:11434/v1#llama3.2        a server of one's own: Ollama, vLLM, llama.cpp
    https://NAME.openai.azure.com#deployment?api_version=2024-10-21

A server of one's own speaks as OpenAI does for chat completions. If it wants a key, that is in RESPONSA_API_KEY; no
name can send another variable's value. Replies are kept in the cache of this machine, unless ``cache=off``.
"""

from __future__ import annotations

import os
from functools import lru_cache

from responsa import cache
from responsa.cache import Cache
from responsa.errors import InputError, suggestion
from responsa.models import keys
from responsa.models.chat import ChatModel, Settings
from responsa.models.chat.cached import CachedChat
from responsa.models.chat.client import ApiChat
from responsa.models.chat.wire import Vendor, Wire
from responsa.models.options import LONGEST, Options, Table, fields, flag, split

VARIABLE = "RESPONSA_CHAT_MODEL"
UNSET = (
    f"no language model is named: set the environment variable {VARIABLE}, or the model in the recipe or option, to "
    "one such as 'openai:gpt-5.6-luna', 'anthropic:claude-haiku-5-5', 'google:gemini-3.8-flash' or "
    "'http://localhost:11434/v1#llama3.2'; to try without a key, run 'python -m responsa.testing.chat' and set what it "
    "prints"
)
UNWRITTEN = (
    f"no language model wrote this: for an answer that one writes and Responsa checks, set {VARIABLE} or --model "
    "to one such as 'openai:gpt-5.6-luna' or 'http://localhost:11434/v1#llama3.2'; --model none leaves out this note"
)
_EXAMPLE = "expected scheme:model, such as 'openai:gpt-5.6-luna' or 'http://localhost:11434/v1#llama3.2'"

_URLS: dict[str, tuple[Vendor, str, tuple[str, ...]]] = {
    "openai": ("openai", "https://api.openai.com/v1", ("OPENAI_API_KEY",)),
    "anthropic": ("anthropic", "https://api.anthropic.com", ("ANTHROPIC_API_KEY",)),
    "google": ("google", "https://generativelanguage.googleapis.com", ("GOOGLE_API_KEY", "GEMINI_API_KEY")),
}
_SETTINGS: Table = {
    "temperature": ("temperature", float),
    "top_p": ("top_p", float),
    "max_tokens": ("max_tokens", int),
    "seed": ("seed", int),
}
_LIMITS: Table = {
    "rpm": ("requests_per_minute", float),
    "tpm": ("tokens_per_minute", float),
    "threads": ("threads", int),
    "attempts": ("attempts", int),
    "window": ("told_window", int),
}
_WIRE: Table = {"timeout": ("timeout", float), "patience": ("patience", float), "api_version": ("api_version", str)}
_PRICE: Table = {"price_in": ("in", float), "price_out": ("out", float)}
_CACHE: Table = {"cache": ("cache", flag)}
_KNOWN = {**_SETTINGS, **_LIMITS, **_WIRE, **_PRICE, **_CACHE}


def load_chat(name: str = "", keep: bool = True) -> ChatModel:
    """The language model of that name; without one, that of RESPONSA_CHAT_MODEL. Nothing is asked before its first use.
    Without ``keep`` its replies are neither read from the cache nor kept in it, whatever the name says.

    The same name gives the same model, so that its limits per minute hold however often it is named. InputError for a
    name that cannot be read, and where there is none, with what to set.
    """
    name = name.strip() or os.environ.get(VARIABLE, "").strip()
    if not name:
        raise InputError(UNSET)
    found = _loaded(name, cache.shared())
    return found if keep or not isinstance(found, CachedChat) else found.inner


@lru_cache(maxsize=16)
def _loaded(name: str, kept: Cache) -> ChatModel:
    scheme, colon, rest = name.partition(":")
    if not colon or not rest:
        shown = f"{name!r} does not name a language model" if len(name) <= LONGEST else "this names no language model"
        raise InputError(f"{shown}; {_EXAMPLE}")
    if scheme in _URLS:
        vendor, url, variables = _URLS[scheme]
        model, options = split(rest)
        shown = f"{scheme}:{model}"
    elif scheme in ("http", "https"):
        address, _, named = rest.partition("#")
        model, options = split(named)
        url, variables = f"{scheme}:{address}".rstrip("/"), ("RESPONSA_API_KEY",)
        keys.check_url(url)
        vendor = "azure" if "api_version" in options else "server"
        shown = f"{url}#{model}"
    else:
        near = suggestion(scheme, [*_URLS, "http", "https"])
        shown = f"unknown scheme {scheme!r}" if len(scheme) <= LONGEST else "unknown scheme"
        raise InputError(f"{shown} of a language model{near}")
    if not model:
        raise InputError(f"{shown!r} names no model; {_EXAMPLE}")
    if "api_version" in options and vendor != "azure":
        raise InputError(f"setting 'api_version': only for addresses of Azure, not for {scheme}:")
    wire = _wire(vendor, model, url, variables, options)
    chat = _client(wire, shown, options)
    cached = fields({"cache": options.get("cache", "on")}, _CACHE)["cache"]
    return CachedChat(chat, kept) if cached else chat


def _wire(vendor: Vendor, model: str, url: str, variables: tuple[str, ...], options: Options) -> Wire:
    told = fields({name: value for name, value in options.items() if name in _WIRE}, _WIRE)
    return Wire(vendor, model, url, variables, key_required=vendor != "server", **told)  # type: ignore[arg-type]


def _client(wire: Wire, shown: str, options: Options) -> ApiChat:
    """The model; the settings that change replies are part of its name."""
    fields(options, _KNOWN)  # refuses what is unknown
    settings = _some(options, _SETTINGS)
    limits = _some(options, _LIMITS)
    prices = _some(options, _PRICE)
    if len(prices) == 1:
        raise InputError("settings 'price_in' and 'price_out': give both, in US dollars for a million tokens")
    told = "&".join(f"{name}={_shown(settings[name])}" for name in _SETTINGS if name in settings)
    return ApiChat(
        wire,
        shown + (f"?{told}" if told else ""),
        Settings(**settings),  # type: ignore[arg-type]
        price=(float(str(prices["in"])), float(str(prices["out"]))) if prices else None,
        **limits,  # type: ignore[arg-type]
    )


def _shown(value: object) -> str:
    """A number as it stands in a name: whole ones in full, since seeds may be long."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _some(options: Options, table: Table) -> dict[str, object]:
    return fields({name: value for name, value in options.items() if name in table}, table)
