"""Models and connections of pydantic-ai, made without a key: that goes into the header of each request as it leaves."""

from __future__ import annotations

import os
import ssl
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from responsa.errors import MissingDependency

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model

    from responsa.models.chat.wire import Wire

PLACEHOLDER = "set-in-the-header-of-each-request"
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_HEADERS = {"anthropic": ("x-api-key", ""), "google": ("x-goog-api-key", ""), "azure": ("api-key", "")}
_PRIVATE = ("authorization", "x-api-key", "api-key", "x-goog-api-key")
_OPENAI = ("openai-organization", "openai-project")  # the SDK reads them from the environment
_LARGEST = 64 << 20  # bytes of a reply
CONNECT = 10.0  # seconds


def client(wire: Wire) -> httpx2.AsyncClient:
    """Connections of the wire's own: no redirects, the key read at each request, replies of a bounded size."""
    try:
        import httpx2
        import pydantic_ai.models.openai  # noqa: F401
    except ImportError as error:
        raise MissingDependency("a language model", "llm") from error

    header, prefix = _HEADERS.get(wire.vendor, ("Authorization", "Bearer "))
    variables, unwanted = wire.variables, _PRIVATE if wire.vendor == "openai" else (*_PRIVATE, *_OPENAI)

    async def add_key(request: httpx2.Request) -> None:
        for name in unwanted:
            if name in request.headers:
                del request.headers[name]
        if secret := os.environ.get(variable(variables), "").strip():
            request.headers[header] = prefix + secret

    async def limit(response: httpx2.Response) -> None:
        response.stream = _limited(response.stream)

    local = urlsplit(wire.url).hostname in _LOOPBACK  # never through a proxy
    plain = local and wire.url.startswith("http:")  # no certificates: loading them takes time
    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(wire.timeout, connect=min(CONNECT, wire.timeout)),
        trust_env=not local,
        follow_redirects=False,  # they would carry the texts to an address nobody chose
        verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True,
        event_hooks={"request": [add_key], "response": [limit]},
    )


def _limited(stream: httpx2.SyncByteStream | httpx2.AsyncByteStream) -> httpx2.AsyncByteStream:
    """The stream, broken off where it is longer than any reply."""
    import httpx2

    class Limited(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            count = 0
            async for piece in cast("httpx2.AsyncByteStream", stream):
                count += len(piece)
                if count > _LARGEST:
                    raise httpx2.ReadError(f"the reply is larger than {_LARGEST >> 20} MB")
                yield piece

        async def aclose(self) -> None:
            await cast("httpx2.AsyncByteStream", stream).aclose()

    return Limited()


def variable(variables: tuple[str, ...]) -> str:
    """The first that is set, else the first."""
    return next((name for name in variables if os.environ.get(name, "").strip()), variables[0])


def make(wire: Wire, http: httpx2.AsyncClient) -> Model[Any]:
    """The library's model for the vendor."""
    if wire.vendor == "anthropic":
        try:
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider
        except ImportError as error:
            raise MissingDependency("a model of Anthropic", "llm-anthropic") from error
        provider = AnthropicProvider(api_key=PLACEHOLDER, base_url=wire.url, http_client=http)
        return AnthropicModel(wire.model, provider=provider)
    if wire.vendor == "google":
        try:
            from pydantic_ai.models.google import GoogleModel
            from pydantic_ai.providers.google import GoogleProvider
        except ImportError as error:
            raise MissingDependency("a model of Google", "llm-google") from error
        return GoogleModel(
            wire.model, provider=GoogleProvider(api_key=PLACEHOLDER, base_url=wire.url, http_client=http)
        )
    return _openai(wire, http)


def _openai(wire: Wire, http: httpx2.AsyncClient) -> Model[Any]:
    """The same for OpenAI, Azure and servers that speak as OpenAI does."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.azure import AzureProvider
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    # A stream without its end was cut, however politely.
    profile = OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True)
    provider: OpenAIProvider | AzureProvider | OpenAICompatibleProvider
    if wire.vendor == "azure":
        provider = AzureProvider(
            azure_endpoint=wire.url, api_version=wire.api_version, api_key=PLACEHOLDER, http_client=http
        )
    elif wire.vendor == "openai":
        provider = OpenAIProvider(base_url=wire.url, api_key=PLACEHOLDER, http_client=http)
    else:
        provider = OpenAICompatibleProvider("server", base_url=wire.url, api_key=PLACEHOLDER, http_client=http)
    return OpenAIChatModel(wire.model, provider=provider, profile=profile)
