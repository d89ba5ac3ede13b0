"""The page on language models: its example runs, and it names every setting and fault word that it should."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from responsa.models.chat import load

PAGE = Path(__file__).resolve().parents[1] / "docs" / "chat.md"


def test_the_example_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("RESPONSA_API_KEY", raising=False)
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(code, str(PAGE), "exec"), {})


def test_every_setting_is_described():
    text = PAGE.read_text(encoding="utf-8")
    settings = text.split("| setting | meaning |")[1].split("\n\n")[0]
    named = set(re.findall(r"`([a-z_]+)`", "\n".join(line.split("|")[1] for line in settings.splitlines()[2:])))
    assert named == set(load._KNOWN) - {"api_version"}


@pytest.mark.parametrize("name", ["openai:gpt-5.6-luna", "anthropic:claude-haiku-5-5", "google:gemini-3.8-flash"])
def test_the_models_named_are_on_the_price_list(name):
    assert f"`{name}`" in PAGE.read_text(encoding="utf-8")
    model = load.load_chat(f"{name}?cache=off")
    assert model.cost(1000, 1000) > 0
