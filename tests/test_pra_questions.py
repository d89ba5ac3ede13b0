"""The questions on the pages of another regulator, and how the pages become passages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks import pra

from responsa import questions
from responsa.errors import InputError
from responsa.text import words

_RUN = 8  # words in a row

PAGE = """<html><body><h1>Small Vehicles</h1><nav>Home and all other places of this site</nav>
<div class="part-content"><div class="page-utilities"><p>Export this part as a file</p></div>
<div class="chapter-section"><h3 class="chapter-heading"> Money </h3>
<div class="row-block row-block--border"><span class="rule-number">
 1.1 </span><div class="div-row__col-2"><p>A vehicle must hold<sup><a href="#n">1</a></sup> <em>enough</em> money:</p>
<ol><li>(1) each day; and</li><li>(2) each night.<br>[Note: old]</li></ol></div>
<div class="row-block__info"><ul><li>01/01/2020</li></ul></div></div>
<div class="row-block"><span class="rule-number">1.2</span><p>[Deleted]</p></div>
<div class="row-block"><span class="rule-number">1.3</span><p>In this Part:</p>
<p>cash</p><p> means coins and notes.</p><p>night</p><p>has the meaning given in 1.1.</p></div>
<div class="row-block"><p>A paragraph without any number.</p></div>
<div class="row-block"><span class="rule-number">1.1</span><p>The same number once more.</p></div>
</div></div><footer><p>Contact us with any questions you have</p></footer></body></html>"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    (tmp_path / "www.regulator.example_rules_small-vehicles_21-01-2026__0a1b2c.html").write_text(PAGE, encoding="utf-8")
    return tmp_path


def test_a_page_as_passages(page):
    found = pra.rules(page)
    assert [(item.id, item.text) for item in found] == [
        ("small-vehicles:1.1", "A vehicle must hold enough money:\n(1) each day; and\n(2) each night.\n[Note: old]"),
        ("small-vehicles:1.3-1", "cash\nmeans coins and notes."),
        ("small-vehicles:1.3-2", "night\nhas the meaning given in 1.1."),
        ("small-vehicles:p1", "A paragraph without any number."),
        ("small-vehicles:p2", "The same number once more."),
    ]
    assert [item.number for item in found] == ["1.1", "1.3", "1.3", "", "1.1"]
    assert {(item.document, item.page, item.title) for item in found} == {("small-vehicles", "Small Vehicles", "Money")}
    assert pra.rules(page) == found


def test_add_reads_the_passages(page, library_of):
    library = library_of({"pages.jsonl": pra.as_jsonl(pra.rules(page))})
    found = library.corpus()["small-vehicles:1.3-2"]
    assert (found.document_id, found.number, found.text) == (
        "small-vehicles",
        "1.3",
        "night\nhas the meaning given in 1.1.",
    )


def test_no_page_is_an_error(tmp_path):
    with pytest.raises(InputError, match="holds no HTML page"):
        pra.rules(tmp_path)


@pytest.mark.parametrize(
    ("passage", "digest", "said"),
    [("small-vehicles:1.1", "0" * 16, "has the digest"), ("small-vehicles:9", "0" * 16, "is missing")],
)
def test_gold_that_no_longer_fits_is_named(page, tmp_path, passage, digest, said):
    file = tmp_path / "gold.jsonl"
    row = {"id": "q7", "question": "?", "page": "small-vehicles", "passages": [{"id": passage, "digest": digest}]}
    file.write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(InputError, match=f"gold passage '{passage}' of question 'q7' {said}"):
        pra.gold(pra.rules(page), file)


def test_the_questions():
    asked = questions.read(pra.GOLD)
    rows = [json.loads(line) for line in pra.GOLD.read_text(encoding="utf-8").splitlines()]
    assert len(asked) >= 150
    assert len({query.text for query in asked}) == len(asked)
    for row in rows:
        ids = [passage["id"] for passage in row["passages"]]
        assert 1 <= len(set(ids)) == len(ids) <= 4, row["id"]
        assert all(passage.startswith(f"{row['page']}:") for passage in ids), row["id"]
    several = sum(len(row["passages"]) > 1 for row in rows)
    assert 0.35 <= several / len(rows) <= 0.45


def test_the_gold_of_the_pages(data):
    if not (data / "pra_pages").is_dir():
        pytest.skip(f"no pra_pages in {data}; set RESPONSA_DATA")
    passages = pra.rules(data / "pra_pages")
    texts = {item.id: item.text for item in passages}
    assert len(texts) == len(passages)
    judged = pra.gold(passages)  # an error where a passage is missing or is no longer the one marked
    asked = {query.id: query.text for query in questions.read(pra.GOLD)}
    assert {item.query_id for item in judged} == set(asked)
    for item in judged:
        shared = _runs(asked[item.query_id]) & _runs(texts[item.passage_id])
        assert not shared, (item.query_id, shared)


def _runs(text: str) -> set[tuple[str, ...]]:
    found = words(text)
    return {tuple(found[start : start + _RUN]) for start in range(len(found) - _RUN + 1)}
