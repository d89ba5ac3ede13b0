"""Language models by name."""

from __future__ import annotations

import pytest

from chats import KEY, chat
from responsa.errors import InputError
from responsa.models.chat import Settings
from responsa.models.chat.cached import CachedChat
from responsa.models.chat.client import ApiChat
from responsa.models.chat.load import load_chat
from responsa.testing import ChatServer


@pytest.fixture(autouse=True)
def surroundings(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("RESPONSA_CHAT_MODEL", "RESPONSA_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def api(name):
    model = load_chat(name + ("&" if "?" in name else "?") + "cache=off")
    assert isinstance(model, ApiChat)
    return model


@pytest.mark.parametrize(
    ("name", "vendor", "model", "url", "variables"),
    [
        ("openai:gpt-5.6-luna", "openai", "gpt-5.6-luna", "https://api.openai.com/v1", ("OPENAI_API_KEY",)),
        ("anthropic:claude-x", "anthropic", "claude-x", "https://api.anthropic.com", ("ANTHROPIC_API_KEY",)),
        ("google:gemini-x", "google", "gemini-x", "https://generativelanguage.googleapis.com", ("GOOGLE_API_KEY", "GEMINI_API_KEY")),
        ("http://localhost:11434/v1#llama3.2:3b", "server", "llama3.2:3b", "http://localhost:11434/v1", ("RESPONSA_API_KEY",)),
        ("https://m.example.org/v1/#Qwen/Qwen3-8B", "server", "Qwen/Qwen3-8B", "https://m.example.org/v1", ("RESPONSA_API_KEY",)),
        ("https://n.openai.azure.com#d?api_version=2024-10-21", "azure", "d", "https://n.openai.azure.com", ("RESPONSA_API_KEY",)),
    ],
)  # fmt: skip
def test_names(name, vendor, model, url, variables):
    wire = api(name).wire
    assert (wire.vendor, wire.model, wire.url, wire.variables) == (vendor, model, url, variables)
    assert wire.key_required == (vendor != "server")


def test_settings():
    model = api(
        "https://h.example/v1#m?rpm=60&tpm=1e5&threads=2&timeout=9&patience=5&attempts=1&window=4096&price_in=1.5&price_out=6"
        "&temperature=0&top_p=0.5&max_tokens=100&seed=3"
    )
    assert (model.requests_per_minute, model.tokens_per_minute, model.threads, model.attempts) == (60, 1e5, 2, 1)
    assert (model.window, model.price, model.wire.timeout, model.wire.patience) == (4096, (1.5, 6.0), 9.0, 5.0)
    assert model.settings == Settings(0.0, 0.5, 100, 3)
    assert model.cost(1_000_000, 500_000) == 4.5


def test_the_name_has_what_changes_replies_and_only_that():
    assert api("openai:m").name == "openai:m"
    assert api("openai:m?rpm=5&threads=1&window=9&timeout=1&price_in=1&price_out=1").name == "openai:m"
    assert api("openai:m?seed=7&temperature=0.70").name == "openai:m?temperature=0.7&seed=7"
    assert api("http://h.example/v1#m").name == "http://h.example/v1#m"
    assert api("openai:m?seed=20261121&max_tokens=1048576").name == "openai:m?max_tokens=1048576&seed=20261121"


def test_prices_and_windows_come_with_the_library():
    model = api("openai:gpt-4o-mini")
    assert model.cost(1_000_000, 1_000_000) == pytest.approx(0.75)
    assert model.window == 128_000
    assert api("openai:a-model-that-is-not-listed").cost(1, 1) is None
    assert api("openai:a-model-that-is-not-listed").window == 128_000
    local = api("http://localhost:1/v1#gpt-4o-mini")
    assert (local.cost(5, 5), local.window) == (None, 32_768)


def test_the_same_name_is_the_same_model_so_that_limits_hold():
    assert load_chat("openai:m?rpm=5") is load_chat(" openai:m?rpm=5 ")
    assert isinstance(load_chat("openai:m?rpm=5"), CachedChat)


def test_the_environment_names_a_model(monkeypatch):
    with ChatServer(reply=lambda asked: "hello") as server:
        monkeypatch.setenv("RESPONSA_CHAT_MODEL", f"{server.url}#tiny")
        model = load_chat()
        assert model.name == f"{server.url}#tiny"
        assert model.reply(chat()).text == "hello"
        assert load_chat("openai:m").name == "openai:m"


@pytest.mark.parametrize("value", [None, "", "  "])
def test_without_a_model_the_error_says_what_to_set(monkeypatch, value):
    if value is not None:
        monkeypatch.setenv("RESPONSA_CHAT_MODEL", value)
    with pytest.raises(InputError) as error:
        load_chat()
    for due in (
        "RESPONSA_CHAT_MODEL",
        "recipe",
        "openai:",
        "anthropic:",
        "google:",
        "http://",
        "python -m responsa.testing.chat",
    ):
        assert due in str(error.value)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("gpt-4", "'gpt-4' does not name"), ("openai:", "does not name"), ("opnai:m", "did you mean 'openai'"),
        ("openai:?rpm=5", "names no model"), ("http://h.example/v1", "names no model"), ("http://#m", "expected an address"),
        ("openai:m?rmp=5", "did you mean 'rpm'"), ("openai:m?rpm=fast", "expected a finite number"), ("openai:m?rpm=0", "above 0"),
        ("openai:m?timeout=0", "above 0"), ("openai:m?cache=maybe", "yes or no"), ("openai:m?price_in=1", "give both"),
        ("openai:m?rpm=5&rpm=6", "twice"), ("openai:m?api_version=1", "only for addresses of Azure"),
        ("openai:m?threads=1.5", "expected a whole number"), ("openai:m?timeout=inf", "expected a finite number, got 'inf'"),
        ("openai:m?timeout=1e300", "timeout: expected a finite number above 0 and up to 1,000,000, got 1e"),
        ("openai:m?patience=-1", "patience: expected a finite number above 0"), ("openai:m?rpm=inf", "expected a finite"),
        ("openai:m?temperature=nan", "expected a finite number, got 'nan'"), ("openai:m?top_p=inf", "expected a finite"),
        ("openai:m?price_in=nan&price_out=1", "'price_in': expected a finite number"),
    ],
)  # fmt: skip
def test_names_that_cannot_be_read(name, problem):
    with pytest.raises(InputError, match=problem):
        load_chat(name)


@pytest.mark.parametrize(
    "name",
    [
        f"{KEY}-and-much-more-of-it",
        f"http://user:{KEY}@h.example/v1#m",
        f"openai:m?key={KEY}",
        f"http://h.example/v1?key={KEY}#m",
        f"{KEY}-and-much-more-of-it:m",
        f"openai:m?rpm={KEY}-and-much-more-of-it",
        f"openai:m?cache={KEY}-and-much-more-of-it",
        f"openai:m?{KEY}-and-much-more-of-it",
        f"openai:m?key={KEY}-and-much-more-of-it&key=",
    ],
)
def test_a_key_in_the_wrong_place_is_not_repeated(name):
    with pytest.raises(InputError) as error:
        load_chat(name)
    assert KEY not in str(error.value)
