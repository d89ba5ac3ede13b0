"""The page of explanations, read back by a parser of HTML: complete, harmless, and all in one file."""

from __future__ import annotations

import base64
import hashlib
from html.parser import HTMLParser

import numpy as np
import pytest

from responsa.render import explanations
from responsa.render.explanations import Explained, asked, chosen, heat_map, page, pieces
from responsa.render.html import shown
from test_explain import FACT, KEEP, NAMES, TELL, explained

EVIL = "<script>alert(1)</script>"
VOID = {"meta", "br", "link", "img", "input", "hr", "col"}


class Page(HTMLParser):
    """A page's elements as (tag, attributes, text with that of the elements inside). AssertionError for one that is not
    closed."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self._open = [], []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attributes):
        element = [tag, dict(attributes), ""]
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag):
        assert self._open.pop()[0] == tag

    def handle_data(self, data):
        for element in self._open:
            element[2] += data

    def of(self, tag, **attributes):
        wanted = {name.rstrip("_"): value for name, value in attributes.items()}
        return [each for each in self.elements if each[0] == tag and wanted.items() <= each[1].items()]

    def texts(self, tag, **attributes):
        return [" ".join(each[2].split()) for each in self.of(tag, **attributes)]


def one(found, name="answers.json", unanswered=None):
    text = page([Explained(name, {"protocol": "strict", "nli": "table@1"}, [found], unanswered or {})])
    return Page(text), text


TOLD = {
    (KEEP, "Firms keep records."): (0.9, 0.05),
    (TELL, "A bank may tell everybody."): (0.1, 0.8),
    (TELL, "Firms keep records."): (0.7, 0.6),
    ("Firms keep records.", KEEP): (0.8, 0),
}


@pytest.mark.parametrize("name", NAMES)
def test_what_the_page_says(name):
    answer = f"Firms keep records.\nA bank may tell everybody. {FACT}"
    found, _ = explained(name, answer, f"{KEEP} {TELL}", told=TOLD, ids=("R/1",))
    read, _ = one(found, unanswered={"q9": "no answer"})
    headings = read.texts("h4")
    count = len(found.uncovered)
    assert headings == [f"Obligations not covered ({count})", "The answer", "What each sentence rests on", "Sentence matrix"]  # fmt: skip
    duty = next(text for text in read.texts("li") if TELL in text)
    assert "R/1, characters 26-50" in duty
    if name == "reference":
        assert "No sentence of the answer may cover it." in duty
    else:
        assert "Nearest is A1 with 0.10; all sentences that may cover it were asked." in duty
        (covered,) = read.texts("ul", class_="covered")
        assert covered.startswith(
            f"S1 {KEEP} R/1, characters 0-25 Covered by A1 with 0.80; asked: A1; the other 2 were not"
        )
    marks = [(each[1]["class"], each[2]) for each in read.of("mark") if "title" in each[1]]
    assert marks == [
        ("both", "A1 ±Firms keep records."),
        ("contradicted", "A2 ✗A bank may tell everybody."),
        ("neither", f"A3 ○{FACT}"),
    ]
    (table,) = read.texts("table", class_="evidence")
    assert f"A1 ± supported and contradicted Firms keep records. characters 0-19 0.90 entailed by S1 {KEEP} R/1, characters 0-25 0.60 contradicted by S2 {TELL} R/1, characters 26-50" in table  # fmt: skip
    cells = [(each[1]["class"], each[2], each[1]["title"]) for each in read.of("td") if "title" in each[1]]
    assert cells[0] == ("e4", "85", "A1 by S1: entailed 0.90, contradicted 0.05")
    assert cells[1] == ("z", "", "A1 by S2: entailed 0.70, contradicted 0.60")
    assert cells[3] == ("c4", "−70", "A2 by S2: entailed 0.10, contradicted 0.80")
    assert len(cells) == 6
    assert "Without an answer: q9 (no answer)." in read.texts("p")


def test_what_comes_from_outside_is_text():
    told = {(f"{EVIL} must go.", f"{EVIL} &amp; stay."): (0.9, 0.9)}
    found, _ = explained("strict", f"{EVIL} &amp; stay.", f"{EVIL} must go.", told=told, ids=(f'"><img src=x>{EVIL}',))
    read, text = one(found, name=f"{EVIL}.json", unanswered={EVIL: EVIL})
    assert read.of("script") == read.of("img") == []
    assert "<script" not in text.lower()
    assert read.texts("h2") == [f"{EVIL}.json"]
    assert f"{EVIL} &amp; stay." in read.texts("p", class_="answer")[0]
    assert not [name for each in read.elements for name in each[1] if name == "style" or name.startswith("on")]


@pytest.mark.parametrize("name", NAMES)
def test_the_page_stands_alone_and_its_links_lead_somewhere(name):
    found = [explained(name, f"{KEEP} {KEEP} {FACT}", f"{KEEP} {TELL}", FACT)[0] for _ in range(2)]
    text = page([Explained("a", {}, found, {}), Explained("b", {}, found[:1], {})])
    read = Page(text)
    ids = [each[1]["id"] for each in read.elements if "id" in each[1]]
    assert len(ids) == len(set(ids))
    targets = [each[1]["href"] for each in read.of("a")]
    assert targets
    assert {target.removeprefix("#") for target in targets} <= set(ids)
    assert not [each for each in read.elements if "src" in each[1] or each[0] in ("link", "iframe", "object", "form")]
    assert "http://" not in text
    assert "https://" not in text
    assert "url(" not in text


def test_the_policy_allows_the_one_style_and_nothing_else():
    read, _ = one(explained("strict", KEEP, KEEP)[0])
    (style,) = read.of("style")
    digest = base64.b64encode(hashlib.sha256(style[2].encode()).digest()).decode()
    (policy,) = read.of("meta", **{"http-equiv": "Content-Security-Policy"})
    assert (
        policy[1]["content"] == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


def test_characters_that_a_page_may_not_hold():
    assert (
        shown("a\x00b\x1b[1m\ud800\u202ec\td\ne\u2028 é 漢 😀") == "a\ufffdb\ufffd[1m\ufffd\ufffdc\td\ne\u2028 é 漢 😀"
    )
    found, _ = explained("paper", "A\x00 bank\ud800 lends.", "A \u202ebank.", ids=("\ud83d",))
    _, text = one(found)
    assert "A\ufffd bank\ufffd lends." in text
    assert not {"\x00", "\u202e"} & set(text)
    text.encode("utf-8")


def test_the_pieces_of_an_answer_make_it_whole():
    answer = f"  {KEEP}\n\n1.\n{FACT}  {KEEP} "
    found, _ = explained("strict", answer, KEEP)
    told = pieces(found)
    assert "".join(piece.text for piece in told) == answer
    assert [piece.sentence for piece in told if piece.sentence is not None] == [0, 1, 0]


def test_a_large_matrix_shows_the_strongest_and_says_so(monkeypatch):
    monkeypatch.setattr(explanations, "COLUMNS", 3)
    monkeypatch.setattr(explanations, "ROWS", 2)
    sources = [f"Rule {word} is here." for word in ("one", "two", "three", "four", "five")]
    said = ["Banks lend.", "Banks hold.", "Banks wait."]
    told = {(sources[3], said[0]): (0.9, 0), (sources[1], said[2]): (0, 0.8), (sources[4], said[1]): (0.5, 0)}
    found, _ = explained("strict", " ".join(said), " ".join(sources), told=told)
    drawn = heat_map(found)
    assert (drawn.columns, list(drawn.rows)) == ([1, 3, 4], [0, 1])
    assert [[cell.percent for cell in row] for row in drawn.cells] == [["−10", "90", "−10"], ["−10", "−10", "50"]]
    read, _ = one(found)
    (note,) = [text for text in read.texts("p", class_="small") if "Each cell" in text]
    assert "Shown are the 3 of 5 source sentences" in note
    assert "Shown are the first 2 of 3 sentences of the answer" in note
    assert read.texts("th", scope="col")[-3:] == ["S2", "S4", "S5"]


def test_of_many_answers_the_lowest_are_explained_and_all_listed(monkeypatch):
    monkeypatch.setattr(explanations, "MOST", 2)
    found = [explained("strict", text, KEEP, told={(KEEP, text): (chance, 0)})[0] for text, chance in ((KEEP, 0.9), (FACT, 0.1), (TELL, 0.2))]  # fmt: skip
    assert chosen(found) == [1, 2]
    read = Page(page([Explained("a", {}, found, {})]))
    assert len(read.of("section")) == 2
    (table,) = read.of("table", class_="list")
    assert table[2].count("q") >= 3
    assert "3 answers are listed; the 2 with the lowest composites are explained. The JSON form explains all." in read.texts("p")  # fmt: skip


def test_answers_without_sources_or_sentences_have_a_page():
    read, _ = one(explained("strict", FACT)[0])
    assert "There is no pair of sentences to show." in read.texts("p")
    assert "The sources hold no obligation." in read.texts("p")
    assert "no source sentence" in read.texts("p", class_="flag")
    read, _ = one(explained("strict", "1. --", KEEP)[0])
    assert "The answer has no sentence." in read.texts("p")
    (duty,) = read.texts("ul", class_="open")
    assert "No sentence of the answer may cover it." in duty


def test_which_sentences_were_asked():
    found, _ = explained("paper", f"{KEEP} {FACT} {TELL}", KEEP, told={(KEEP, KEEP): (1, 0)})
    assert asked(found.obligations[0], found) == "asked: A1; the other 2 were not"
    assert np.isclose(found.obligations[0].probability, 1)
