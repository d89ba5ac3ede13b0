"""The CRR and the LCR delegated act as they are published, against the same law by article, derived by others."""

from __future__ import annotations

import json
import re
from datetime import date
from functools import cache

import pytest
from benchmarks import eu_law
from tests import helpers

from responsa.corpus.library import Library
from responsa.corpus.readers import read_bytes
from responsa.corpus.readers.clauses import printed

CRR_2013, CRR_2024, LCR = "32013r0575_2013-06-28", "32013r0575_2024-07-09", "32015r0061_2022-07-08"


@pytest.fixture(scope="module")
def folder(data):
    if not (data / "eu_law" / "originals").is_dir():
        pytest.skip(f"no folder eu_law in {data}")
    return data / "eu_law"


@cache
def edition(path):
    (found,) = read_bytes(path.read_bytes(), path.name)
    return found


@pytest.mark.parametrize(
    ("original", "articles", "least", "strictly"),
    [
        (f"{CRR_2013}.fmx4.xml", "32013r0575/2013-06-28.json", 0.99, 0.98),
        (f"{CRR_2024}.fmx4.xml", "32013r0575/2024-07-09.json", 0.99, 0.88),
        (f"{LCR}.fmx4.xml", "32015r0061/2022-07-08.json", 0.99, 0.99),
        (f"{CRR_2013}.html", "32013r0575/2013-06-28.json", 0.98, 0.98),
        (f"{LCR}.html", "32015r0061/2022-07-08.json", 0.98, 0.98),
    ],
)
def test_articles_headings_paths_and_texts(folder, original, articles, least, strictly):
    found = eu_law.compare(folder, original, articles)
    assert found.missing == found.invented == ()
    assert found.headings == found.paths == ()
    assert found.equal >= least
    assert found.strictly >= strictly


def test_the_comparison_sees_a_wrong_word(folder, tmp_path):
    for name in ("originals", "articles/32015r0061"):
        (tmp_path / name).mkdir(parents=True)
    text = (folder / "originals" / f"{LCR}.html").read_text(encoding="utf-8")
    changed = text.replace("stress periods", "stress-free periods", 1).replace(">Article 5<", ">Article 5a<")
    (tmp_path / "originals" / f"{LCR}.html").write_text(changed, encoding="utf-8")
    name = "articles/32015r0061/2022-07-08.json"
    (tmp_path / name).write_bytes((folder / name).read_bytes())
    found = eu_law.compare(tmp_path, f"{LCR}.html", "32015r0061/2022-07-08.json")
    assert (found.missing, found.invented, len(found.different)) == (("Article 5",), ("Article 5a",), 1)


@pytest.mark.parametrize(("name", "least"), [(CRR_2013, 0.99), (LCR, 1.0)])
def test_both_sources_of_one_version_name_its_provisions_alike(folder, name, least):
    formex, page = (edition(folder / "originals" / f"{name}.{kind}") for kind in ("fmx4.xml", "html"))
    names = [{passage.id for passage in each.passages} for each in (formex, page)]
    assert len(names[0] & names[1]) >= least * max(len(each) for each in names)
    common = names[0] & names[1]
    order = [[p.id for p in each.passages if p.id in common] for each in (formex, page)]
    assert order[0] == order[1]
    assert (formex.document_id, formex.title, formex.valid_from) == (page.document_id, page.title, page.valid_from)


def test_most_names_stay_from_version_to_version(folder):
    old, new = (edition(folder / "originals" / f"{name}.fmx4.xml") for name in (CRR_2013, CRR_2024))
    kept = {passage.id for passage in old.passages} & {passage.id for passage in new.passages}
    assert {"CRR Art. 425(2)(a)", "CRR Art. 92(1)(a)", "CRR Art. 4(1)(2)", "CRR Annex I(1)(a)"} <= kept
    assert "CRR Recital 12" in {passage.id for passage in old.passages}
    assert sum("#" in passage.id for each in (old, new) for passage in each.passages) < 20


def test_articles_of_another_act_are_not_of_the_crr_and_deleted_ones_have_no_text(folder):
    new = edition(folder / "originals" / f"{CRR_2024}.fmx4.xml")
    by_id = {passage.id: passage for passage in new.passages}
    assert "CRR Art. 50a" not in by_id
    assert "quoted" in by_id["CRR Art. 520(1), quoted Article 50a"].flags
    assert by_id["CRR Art. 12"].flags[0] == "deleted"
    assert not any(name.startswith("CRR Art. 12(") for name in by_id)
    assert {"CRR Art. 92a(1)", "CRR Art. 429g"} <= set(by_id)


@pytest.mark.parametrize("name", [f"{CRR_2024}.fmx4.xml", f"{CRR_2013}.html"])
def test_the_tree_holds_together(folder, name):
    found = edition(folder / "originals" / name)
    seen: set[str] = set()
    for passage in found.passages:
        assert passage.id not in seen
        assert passage.parent_id is None or passage.parent_id in seen
        assert passage.text == passage.text.strip()
        assert not re.search("[►◄▼\ue000]|\n\n", passage.text)
        assert passage.kind == "table" or "  " not in passage.text
        assert (passage.kind == "heading") == (passage.text == "")
        seen.add(passage.id)
    assert len(printed(found.passages)) > 1_000_000


def test_two_versions_are_one_document_and_a_date_chooses(folder, tmp_path):
    sources = [folder / "originals" / f"{name}.fmx4.xml" for name in (CRR_2013, CRR_2024)]
    assert not helpers.add(tmp_path / "library", *sources).refused
    found = helpers.versions(tmp_path / "library", "32013R0575")
    assert [(each.valid_from, each.valid_to) for each in found] == [
        (date(2013, 6, 28), None),
        (date(2024, 7, 9), date(2024, 12, 31)),
    ]
    with Library.open(tmp_path / "library") as library:
        for day, has in ((date(2014, 1, 1), False), (date(2024, 8, 1), True), (None, True)):
            assert ("CRR Art. 92(1)(d)" in library.corpus(day)) is has
    shown = helpers.cli(tmp_path / "library", "passage", "CRR Art. 92(1)(a)", "--json")
    assert json.loads(shown.stdout)["id"] == "CRR Art. 92(1)(a)"
    best = helpers.search(tmp_path / "library", "leverage ratio buffer requirement of a G-SII")
    assert best[0].startswith("CRR Art. 92(1a)")


def test_acts_of_the_taxonomy(data):
    (regulation,) = read_bytes(next((data / "eu_taxonomy").glob("*.xhtml")).read_bytes(), "taxonomy.xhtml")
    by_id = {passage.id for passage in regulation.passages}
    assert regulation.document_id == "32020R0852"
    assert regulation.valid_from == date(2020, 7, 12)  # the twentieth day following its publication on 22 June
    assert {
        "Regulation 2020/852 Art. 3(d)",
        "Regulation 2020/852 Art. 17(1)(a)",
        "Regulation 2020/852 Recital 60",
    } <= by_id
    assert "Regulation 2020/852 Art. 2a" not in by_id
    (climate,) = read_bytes(next((data / "eu_taxonomy").glob("climate*.xml")).read_bytes(), "climate.xml")
    assert {"Regulation 2021/2139 Annex I, 1.1", "Regulation 2021/2139 Annex I, Appendix A"} <= {
        p.id for p in climate.passages
    }
    assert sum(passage.kind == "table" for passage in climate.passages) == 212
