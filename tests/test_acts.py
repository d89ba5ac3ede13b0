"""The names that citations of acts begin with."""

from __future__ import annotations

import pytest

from responsa.corpus import acts


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("32013R0575", "CRR"),
        ("32015R0061", "LCR"),
        ("32012R0648", "EMIR"),
        ("32010R1093", "Regulation 1093/2010"),
        ("32020R0852", "Regulation 2020/852"),
        ("32002L0087", "Directive 2002/87"),
        ("32011D0833", "Decision 2011/833"),
        ("COBS", "COBS"),
    ],
)
def test_names_of_acts(key, name):
    assert acts.name_of(key) == name


@pytest.mark.parametrize("key", ["32010R1093", "32020R0852", "32002L0087"])
def test_a_name_is_understood_where_it_is_cited(key):
    (token,) = acts.tokens(acts.name_of(key))
    assert (token.kind, token.value) == ("act", key)
