"""TOML tables to dataclasses: what is taken and what is refused, with the message."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import pytest

from responsa import config
from responsa.errors import RecipeError


@dataclass(frozen=True)
class Lid:
    tight: bool = True


@dataclass(frozen=True)
class Kettle:
    litres: float
    cups: int = 1
    name: str = "kettle"
    on: bool = False
    colour: Literal["red", "blue"] = "red"
    tags: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    lid: Lid = Lid()
    made: str = field(default="here", init=False)

    def __post_init__(self) -> None:
        if self.cups < 0:
            raise ValueError(f"cups must not be negative, got {self.cups}")
        if self.cups > 99:
            raise RecipeError(f"too many cups: {self.cups}")


FAMILY = {"kettle": Kettle, "pot": Kettle}


def build(text: str) -> Kettle:
    return config.build(config.parse(text, "r"), FAMILY, "r: [stage]")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("litres = 1.5", Kettle(1.5)),
        ("litres = 2", Kettle(2.0)),  # an integer passes for a float
        ("litres = 1e0\ncups = 3\non = true", Kettle(1.0, 3, on=True)),
        ('litres = 1.0\ncolour = "blue"\nname = ""', Kettle(1.0, colour="blue", name="")),
        ('litres = 1.0\ntags = ["a", "b"]\nweights = [1, 2.5]', Kettle(1.0, tags=("a", "b"), weights=(1.0, 2.5))),
        ("litres = 1.0\ntags = []", Kettle(1.0)),
    ],
)
def test_taken(text, expected):
    made = build(f'kind = "kettle"\n{text}')
    assert made == expected
    assert type(made.litres) is float
    assert all(type(weight) is float for weight in made.weights)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("litres = 1.0", "r: [stage]: 'kind' is missing; known: kettle, pot"),
        ("kind = 3", "r: [stage]: expected the name of a kind, got 3; known: kettle, pot"),
        ('kind = "ketle"', "r: [stage]: unknown kind 'ketle'; did you mean 'kettle'?"),
        ('kind = "zzz"', "r: [stage]: unknown kind 'zzz'; known: kettle, pot"),
        ('kind = "kettle"\nlitre = 1.0', "r: [stage]: unknown key 'litre'; did you mean 'litres'?"),
        ('kind = "kettle"\nlitres = 1.0\nmade = "x"', "r: [stage]: unknown key 'made'"),
        ('kind = "kettle"', "r: [stage]: the key 'litres' is missing"),
        ('kind = "kettle"\nlitres = 1.0\nlid = "x"', "r: [stage]: unknown key 'lid'"),  # TOML gives no dataclass
        ('kind = "kettle"\nlitres = "much"', "r: [stage].litres: expected float, got 'much'"),
        ('kind = "kettle"\nlitres = true', "r: [stage].litres: expected float, got True"),
        ('kind = "kettle"\nlitres = nan', "r: [stage].litres: expected a finite number, got nan"),
        ('kind = "kettle"\nlitres = -inf', "r: [stage].litres: expected a finite number, got -inf"),
        (f'kind = "kettle"\nlitres = {10**400}', "r: [stage].litres: expected a finite number, got 1000"),
        ('kind = "kettle"\nlitres = 1.0\ncups = 1.0', "r: [stage].cups: expected int, got 1.0"),
        ('kind = "kettle"\nlitres = 1.0\ncups = true', "r: [stage].cups: expected int, got True"),
        ('kind = "kettle"\nlitres = 1.0\non = 1', "r: [stage].on: expected bool, got 1"),
        ('kind = "kettle"\nlitres = 1.0\nname = ["a"]', "r: [stage].name: expected str, got ['a']"),
        ('kind = "kettle"\nlitres = 1.0\ncolour = "rad"', "r: [stage].colour: 'rad' is not one of 'red', 'blue'"),
        ('kind = "kettle"\nlitres = 1.0\ncolour = ["red"]', "r: [stage].colour: ['red'] is not one of 'red', 'blue'"),
        ('kind = "kettle"\nlitres = 1.0\ntags = "a"', "r: [stage].tags: expected a list, got 'a'"),
        ('kind = "kettle"\nlitres = 1.0\ntags = ["a", 2]', "r: [stage].tags[1]: expected str, got 2"),
        ('kind = "kettle"\nlitres = 1.0\ncups = -1', "r: [stage]: cups must not be negative, got -1"),
        ('kind = "kettle"\nlitres = 1.0\ncups = 100', "r: [stage]: too many cups: 100"),
        ('kind = "kettle"\nlitres = 1979-05-27', "r: [stage].litres: expected float, got datetime.date(1979, 5, 27)"),
    ],
)
def test_refused(text, message):
    with pytest.raises(RecipeError) as caught:
        build(text)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("table", ["bm25", 3, None, ["kettle"]])
def test_a_stage_is_a_table(table):
    with pytest.raises(RecipeError, match=r"r: \[stage\]: expected a table with a 'kind', got "):
        config.build(table, FAMILY, "r: [stage]")


@pytest.mark.parametrize(
    "text", ["kind = ", "[a", "a = 1\na = 2", "[t]\nx=1\n[t]", "a = 1" + "0" * 5000, "a = " + "[" * 100_000, "\x00"]
)
def test_toml_that_is_none(text):
    with pytest.raises(RecipeError, match=r"^mine: not valid TOML: "):
        config.parse(text, "mine")


def test_files(tmp_path):
    path = tmp_path / "r.toml"
    with pytest.raises(RecipeError, match=r"r\.toml: cannot be read: No such file"):
        config.read(path)
    with pytest.raises(RecipeError, match="cannot be read: Is a directory"):
        config.read(tmp_path)
    path.write_bytes(b'a = "\xff"')
    with pytest.raises(RecipeError, match=r"not UTF-8 text \(byte 5\)"):
        config.read(path)
    path.write_bytes(b"\xef\xbb\xbfa = 1\r\n")  # as Windows writes it
    assert config.read(path) == {"a": 1}
