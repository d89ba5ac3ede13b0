"""EU law by article as derived JSON, on a file written for the test."""

from __future__ import annotations

import json
from datetime import date

import pytest

from responsa.corpus.readers import read_bytes
from responsa.errors import ReadError


def row(number: str, text: str, path: list[str], kind: str = "article") -> dict[str, object]:
    return {"type": kind, "num": f"Article {number}", "heading": "Bread", "path": path, "text_md": text}


def file(*rows: object, **changes: object) -> bytes:
    given = {
        "schema": "lex-articles/1",
        "lex_id": "eu-eurlex:32013r0575:2018-01-01",
        "title": "CRR — Regulation (EU) No 575/2013",
        "valid_from": "2018-01-01",
        "valid_to": None,
        "provisions": list(rows),
    }
    return json.dumps(given | changes).encode()


def test_paragraphs_points_and_divisions_worked_by_hand():
    text = (
        "**1.** A baker shall:\n\n(a) weigh:\n\n(i) the *flour*;\n\n(ii) the salt;\n\n(h) do;\n\n(i) rest.\n\n"
        "The guild may check.\n\n1a. Where:\n\n| F | = | flour |\n| --- | --- | --- |\n\n| x | y |\n| --- | --- |\n\n— so."
    )
    path = ["PART ONE — GENERAL", "TITLE I — LOAVES"]
    content = file(
        row("3a", text, path),
        row("4", "Bake.", [*path[:1], "TITLE II — CAKES"]),
        row("", "1. Rye.", [], "annex") | {"heading": "ANNEX II"},
    )
    (edition,) = read_bytes(content, "x.json")
    assert (edition.document_id, edition.title) == ("32013R0575", "CRR — Regulation (EU) No 575/2013")
    assert (edition.valid_from, edition.valid_to) == (date(2018, 1, 1), None)
    assert [(passage.id.removeprefix("CRR "), passage.text) for passage in edition.passages] == [
        ("Part One", ""),
        ("Part One, Title I", ""),
        ("Art. 3a", ""),
        ("Art. 3a(1)", "A baker shall:"),
        ("Art. 3a(1)(a)", "weigh:"),
        ("Art. 3a(1)(a)(i)", "the flour;"),
        ("Art. 3a(1)(a)(ii)", "the salt;"),
        ("Art. 3a(1)(h)", "do;"),
        ("Art. 3a(1)(i)", "rest."),
        ("Art. 3a(1), second subparagraph", "The guild may check."),
        ("Art. 3a(1a)", "Where:\nF = flour"),
        ("Art. 3a(1a), table", "| x | y |\n| --- | --- |"),
        ("Art. 3a(1a), first indent", "so."),
        ("Part One, Title II", ""),
        ("Art. 4", "Bake."),
        ("Annex II", ""),
        ("Annex II(1)", "Rye."),
    ]
    assert edition.passages[2].path == ("PART ONE — GENERAL", "TITLE I — LOAVES")


def test_a_path_of_the_innermost_division_alone():
    (edition,) = read_bytes(file(row("1", "Bake.", ["TITLE I", "LOAVES"])), "x.json")
    assert edition.passages[1].path == ("TITLE I — LOAVES",)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (file(row("1", "x", []), lex_id="uk:x"), "lex_id is 'uk:x', which names no act"),
        (file(), "provisions is no list of articles"),
        (file("x"), "provisions[0] is no object with text_md"),
        (file(row("1", "x", []), valid_from="soon"), "valid_from is 'soon', not a date"),
        (file(row("1", "x", []), schema="other"), "an object where a list of passages should be"),
    ],
)
def test_what_is_refused(content, says):
    with pytest.raises(ReadError) as caught:
        read_bytes(content, "x.json")
    assert says in str(caught.value)
