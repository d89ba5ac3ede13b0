"""What tokens cost, from the price list that comes with pydantic-ai; nothing is looked up on the network."""

from __future__ import annotations

from responsa.errors import MissingDependency

_MILLION = 1_000_000


def cost(vendor: str, model: str, tokens_in: int, tokens_out: int, price: tuple[float, float] | None) -> float | None:
    """US dollars; ``price`` (in and out, for a million tokens) goes before the list. None where none is known."""
    if price is not None:
        return (tokens_in * price[0] + tokens_out * price[1]) / _MILLION
    if vendor not in ("openai", "anthropic", "google"):
        return None
    try:
        from genai_prices import Usage, calc_price
    except ImportError as error:
        raise MissingDependency("a language model", "llm") from error
    try:
        usage = Usage(input_tokens=tokens_in, output_tokens=tokens_out)
        return float(calc_price(usage, model, provider_id=vendor).total_price)
    except (LookupError, ValueError):
        return None


def window(vendor: str, model: str) -> int | None:
    """How many tokens the model's window has by the list; None where it does not say."""
    if vendor not in ("openai", "anthropic", "google"):
        return None
    try:
        from genai_prices.data_snapshot import get_snapshot
    except ImportError as error:
        raise MissingDependency("a language model", "llm") from error
    try:
        _, found = get_snapshot().find_provider_model(model, provider=None, provider_id=vendor, provider_api_url=None)
    except LookupError:
        return None
    return found.context_window
