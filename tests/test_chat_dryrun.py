"""A dry run: what would be sent, and nothing sent."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from chats import chat, model_at
from responsa.cache import Cache
from responsa.cli.planned import print_planned
from responsa.models.chat import ChatFailed, Settings
from responsa.models.chat.cached import CachedChat
from responsa.models.chat.dryrun import REPLY, DryRun, Foreseen, Planned
from responsa.models.chat.structured import Parsed, ask
from responsa.testing import ChatServer


@dataclass
class Rated:
    rating: int


@pytest.fixture
def server():
    with ChatServer() as made:
        yield made


def test_calls_tokens_and_cost_are_counted_and_nothing_is_sent(server, tmp_path, capsys):
    model = CachedChat(model_at(server, price=(1.0, 2.0), told_window=2000), Cache(tmp_path / "c.sqlite"))
    model.reply(chat("known", purpose="answer"))
    server.reset()
    dry = DryRun(model)
    long, limited = (
        chat("x " * 3000, purpose="answer"),
        chat("two words", purpose="answer", settings=Settings(max_tokens=50)),
    )
    replies = dry.replies([chat("known", purpose="answer"), long, limited])
    assert isinstance(replies[1], ChatFailed)
    assert replies[0].call.cached
    dry.reply(chat("why", purpose="judge"))
    assert server.requests == []
    assert dry.planned() == [
        Planned("answer", 1, 1, 1, 6, 50, pytest.approx((6 + 2 * 50) / 1e6)),
        Planned("judge", 1, 0, 0, 5, REPLY, pytest.approx((5 + 2 * REPLY) / 1e6)),
    ]
    print_planned(dry)
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split() == ["all", "2", "1", "1", "11", "550", "0.0011"] for line in lines)


def test_what_is_asked_twice_would_be_sent_once(server, tmp_path):
    dry = DryRun(CachedChat(model_at(server), Cache(tmp_path / "c.sqlite")))
    dry.replies([chat("same", purpose="a"), chat("same", purpose="b"), chat("same", repetition=1)])
    assert [(row.purpose, row.calls, row.known) for row in dry.planned()] == [("a", 1, 0), ("b", 0, 1), ("", 1, 0)]
    uncached = DryRun(model_at(server))
    uncached.replies([chat("same"), chat("same")])
    assert uncached.planned()[0].calls == 2


def test_what_another_dry_run_would_send_is_known_where_they_share_it(server, tmp_path):
    model, foreseen = CachedChat(model_at(server), Cache(tmp_path / "c.sqlite")), Foreseen()
    first, second, alone = DryRun(model, foreseen), DryRun(model, foreseen), DryRun(model)
    for dry in (first, second, alone):
        dry.reply(chat("same"))
    second.reply(chat("own"))
    plans = [dry.planned()[0] for dry in (first, second, alone)]
    assert [(row.calls, row.known) for row in plans] == [(1, 0), (1, 1), (1, 0)]


def test_a_key_is_not_needed(server):
    assert DryRun(model_at(server, required=True)).reply(chat()).text


def test_no_price_is_no_cost(server, capsys):
    dry = DryRun(model_at(server))
    dry.reply(chat())
    assert dry.planned()[0].cost is None
    print_planned(dry)
    assert capsys.readouterr().out.splitlines()[-1 if "all" in capsys.readouterr().out else -2].split()[-1:] != [
        "0.0000"
    ]


def test_structured_questions_go_through_at_once(server):
    dry = DryRun(model_at(server))
    (made,) = ask(dry, [chat(purpose="judge")], Rated)
    assert isinstance(made, Parsed)
    assert dry.planned()[0].calls == 1
    assert list(dry.stream(chat()))
    assert server.requests == []
