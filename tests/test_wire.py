"""What comes from the process that reads untrusted files is checked before it is believed."""

from __future__ import annotations

import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from responsa.corpus import wire
from responsa.types import Box, Edition, Passage

FULL = Edition(
    "doc",
    "Title",
    (
        Passage("a", "doc", "1", "Text.", "Head"),
        Passage("b", "doc", "1(a)", "| x |", "", "a", ("Head",), "table", 3, (Box(3, 1.5, 2, 3, 4),), ("hidden", "x")),
    ),
    date(2020, 1, 2),
    date(2021, 1, 2),
)


@pytest.mark.parametrize("editions", [(), (FULL,), (Edition("d", "", ()), FULL)])
def test_there_and_back(editions):
    assert wire.loads(wire.dumps(editions)) == editions


@given(st.lists(st.tuples(st.text(), st.lists(st.text(), max_size=3)), max_size=4))
def test_any_text_there_and_back(rows):
    try:
        "".join(text + "".join(flags) for text, flags in rows).encode()
    except UnicodeEncodeError:
        return
    passages = tuple(Passage(str(at), "d", "", text, flags=tuple(flags)) for at, (text, flags) in enumerate(rows))
    assert wire.loads(wire.dumps([Edition("d", "t", passages)])) == (Edition("d", "t", passages),)


def changed(change):
    rows = json.loads(wire.dumps([FULL]))
    change(rows[0])
    return json.dumps(rows).encode()


def put(place, value):
    def change(edition):
        edition["passages"][1][place] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        lambda edition: edition.pop("title"),
        lambda edition: edition.update(document=7),
        lambda edition: edition.update(valid_from="2020-13-01"),
        lambda edition: edition.update(valid_from=20200101),
        lambda edition: edition.update(passages={}),
        lambda edition: edition["passages"].append(edition["passages"][0]),
        lambda edition: edition["passages"][0].append("more"),
        lambda edition: edition["passages"][0].pop(),
        put(0, None), put(1, 1), put(2, ["text"]), put(3, {}), put(4, "secret"), put(4, ["text"]), put(5, "Head"), put(5, [1]),
        put(6, [None]), put(7, "nowhere"), put(7, 1), put(8, "3"), put(8, True), put(8, 3.5), put(9, [[1, 2]]),
        put(9, [["1", 1, 1, 1, 1]]), put(9, [[1, 1, 1, 1, None]]), put(9, [[1, 1, 1, 1, 10**400]]), put(9, {}), put(2, "\ud800"),
    ],
)  # fmt: skip
def test_what_is_no_edition_is_refused(change):
    with pytest.raises(ValueError, match=r"no editions|Invalid isoformat|month|surrogates|unpack"):
        wire.loads(changed(change))


@pytest.mark.parametrize("content", [b"", b"{}", b"null", b"[1]", b"[[]]", b"\xff", b"[" * 100_000, b'{"a":1}'])
def test_what_is_no_list_of_editions_is_refused(content):
    with pytest.raises(ValueError):
        wire.loads(content)
